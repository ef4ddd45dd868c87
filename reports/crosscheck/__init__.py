"""One engine against another: runs against claimed sets and properties, margins and coverage."""
