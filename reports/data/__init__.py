"""What reports show, as plain data: one JSON document behind every page."""
