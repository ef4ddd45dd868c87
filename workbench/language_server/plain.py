"""Long answers that are plain data already: walking through them once more would take longer than
making them."""

from __future__ import annotations

from typing import Any


class Plain(list[Any]):
    """A list of what JSON knows, sent as it is."""
