"""Parametrised tests of which a part is quick."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def slow_but(quick: Iterable[object], cases: Iterable[object]) -> list[Any]:
    """Cases of a test that are slow, but for the quick ones."""
    some, all_of_them = list(quick), list(cases)
    assert all(case in all_of_them for case in some), "a quick case is not among the cases"
    return [
        pytest.param(case, marks=() if case in some else pytest.mark.slow) for case in all_of_them
    ]
