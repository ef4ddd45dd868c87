"""Records are what frozen data classes with slots are, and are made faster."""

from __future__ import annotations

from copy import copy, deepcopy
from dataclasses import FrozenInstanceError, asdict, dataclass, field, fields, replace
from functools import cached_property

import pytest

from workbench.models.record import record


@record
class Point:
    """A place."""

    x: int
    y: int = 2
    notes: list[str] = field(default_factory=list, compare=False, repr=False)

    @property
    def total(self) -> int:
        return self.x + self.y


@record
class Named(Point):
    name: str = ""

    def __post_init__(self) -> None:
        if self.name == "bad":
            raise ValueError(self.name)


@record
class Square:
    side: int

    @cached_property
    def area(self) -> int:
        return self.side**2


@dataclass(frozen=True, slots=True)
class Twin:
    x: int
    y: int = 2


def test_arguments_by_place_by_name_and_by_default() -> None:
    assert Point(1) == Point(1, 2) == Point(y=2, x=1) == Point(1, notes=["other"])
    assert Point(1).notes is not Point(1).notes
    assert Named(1, 2, [], "a") == Named(1, name="a") != Named(1)
    assert Point(1) != Named(1)
    assert Point(1).total == 3


def test_wrong_arguments_are_refused() -> None:
    for args, named in (((), {}), ((1, 2, [], 4), {}), ((1,), {"z": 3}), ((1,), {"x": 3})):
        with pytest.raises(TypeError):
            Point(*args, **named)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="bad"):
        Named(1, name="bad")


def test_instances_do_not_change() -> None:
    point = Point(1)
    with pytest.raises(FrozenInstanceError):
        point.x = 2  # type: ignore[misc]
    with pytest.raises(AttributeError):
        point.other = 2  # type: ignore[attr-defined]
    with pytest.raises(FrozenInstanceError):
        del point.x
    assert not hasattr(point, "__dict__")


def test_what_knows_data_classes_knows_records() -> None:
    assert replace(Point(1), y=5) == Point(1, 5)
    assert [f.name for f in fields(Named(1))] == ["x", "y", "notes", "name"]
    assert asdict(Point(1)) == {"x": 1, "y": 2, "notes": []}
    match Point(3, 4):
        case Point(x, y):
            assert (x, y) == (3, 4)
    assert copy(Point(1)) == deepcopy(Point(1)) == Point(1)


def test_equal_records_hash_alike_as_those_of_a_data_class() -> None:
    assert len({Point(1), Point(1, 2), Point(1, 3)}) == 2
    assert hash(Point(1)) == hash(Twin(1))
    assert repr(Point(1)) == repr(Twin(1)).replace("Twin", "Point") == "Point(x=1, y=2)"


def test_records_may_cache() -> None:
    square = Square(3)
    assert square.area == square.area == 9 and square == Square(3)
