"""`workbench models`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from workbench.models.catalogue import entries

Run = Callable[..., Any]


def test_every_model_is_listed_with_its_expectations(workbench: Run) -> None:
    out = workbench("models").out
    for entry in entries():
        assert f"\n{entry.name}\n    {entry.title}\n" in f"\n{out}"
        for expected in entry.expectations:
            assert f"expect {expected}" in out


def test_words_narrow_the_list(workbench: Run) -> None:
    names = [m["name"] for m in workbench("models", "Fischer", "--json").data["models"]]
    assert names == ["fischer", "fischer_hasty"]
    nothing = workbench("models", "nosuchword")
    assert (nothing.code, nothing.out) == (0, "")
    assert "nosuchword" in nothing.err


def test_as_json(workbench: Run) -> None:
    data = workbench("models", "--json").data
    assert data["schema"] == "workbench.models/1"
    (platoon,) = [m for m in data["models"] if m["name"] == "platoon_paper"]
    assert platoon["expectations"] == [
        {"property": "no collision", "verdict": "safe", "scope": "for all time"}
    ]
