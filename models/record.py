"""Immutable values with named fields, cheap to define.

`@record` makes what `@dataclass(frozen=True, slots=True)` makes, and all that knows data classes
(`replace`, `fields`, `asdict`, `match`, type checkers) works with it. But `dataclass` writes the
text of five functions and compiles it, for every class, whenever its module is imported: a
millisecond each, and a command imports a hundred of them. Here the functions are made of closures.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import MISSING, Field, FrozenInstanceError, field
from functools import cached_property
from itertools import repeat
from operator import attrgetter
from reprlib import recursive_repr
from typing import Any, TypeVar, dataclass_transform

T = TypeVar("T")

_set = object.__setattr__
_ORDINARY = dataclasses._FIELD  # type: ignore[attr-defined]  # no ClassVar and no InitVar


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def record(cls: type[T]) -> type[T]:
    """The class with a constructor, comparison, hash and text made from its annotations; its
    instances cannot be changed, and have no other attributes except what they cache."""
    inherited: dict[str, Field[Any]] = {}
    for base in reversed(cls.__mro__[1:]):
        inherited |= getattr(base, "__dataclass_fields__", {})
    own = {name: _field(cls, name, kind) for name, kind in _annotations(cls).items()}
    known = inherited | own
    made = {n: v for n, v in vars(cls).items() if n not in own}
    made.pop("__dict__", None)
    made.pop("__weakref__", None)
    made |= _functions(cls, list(known.values()))
    made["__dataclass_fields__"] = known
    if not any(isinstance(value, cached_property) for value in made.values()):
        made["__slots__"] = tuple(n for n in own if n not in inherited)
    made["__match_args__"] = tuple(f.name for f in known.values() if f.init)
    made["__qualname__"] = cls.__qualname__
    result: type[T] = type(cls).__call__(type(cls), cls.__name__, cls.__bases__, made)
    return result


def _annotations(cls: type) -> dict[str, Any]:
    found = vars(cls).get("__annotations__", {})
    return {name: kind for name, kind in found.items() if not str(kind).startswith("ClassVar")}


def _field(cls: type, name: str, kind: Any) -> Field[Any]:
    """What is known of a field: its default is what the class has under its name."""
    given = vars(cls).get(name, MISSING)
    made: Field[Any] = given if isinstance(given, Field) else field(default=given)
    made.name, made.type = name, kind
    made._field_type = _ORDINARY  # type: ignore[attr-defined]
    return made


def _functions(cls: type, known: list[Field[Any]]) -> dict[str, Any]:
    """The methods; those that the class defines itself stay."""
    names = tuple(f.name for f in known)
    compared = _reader(tuple(f.name for f in known if f.compare))

    def equal(self: object, other: object) -> Any:
        if other.__class__ is not self.__class__:
            return NotImplemented
        return compared(self) == compared(other)

    def hashed(self: object) -> int:
        return hash(compared(self))

    @recursive_repr()
    def text(self: object) -> str:
        parts = (f"{f.name}={getattr(self, f.name)!r}" for f in known if f.repr)
        return f"{self.__class__.__qualname__}({', '.join(parts)})"

    def state(self: object) -> list[Any]:
        return [getattr(self, name) for name in names]

    def set_state(self: object, state: list[Any]) -> None:
        for name, value in zip(names, state, strict=True):
            _set(self, name, value)

    functions = {
        "__init__": _constructor(cls, known),
        "__eq__": equal,
        "__hash__": hashed,
        "__repr__": text,
        "__getstate__": state,
        "__setstate__": set_state,
        "__setattr__": _refuse,
        "__delattr__": _refuse,
    }
    return {name: made for name, made in functions.items() if name not in vars(cls)}


def _reader(names: tuple[str, ...]) -> Callable[[object], Any]:
    """The values of some fields, as a tuple."""
    if len(names) > 1:
        return attrgetter(*names)
    return lambda self: tuple(getattr(self, name) for name in names)


def _refuse(self: object, name: str, *_: object) -> None:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _constructor(cls: type, known: list[Field[Any]]) -> Callable[..., None]:
    """`__init__`, for positional and named arguments."""
    ordered = sorted(known, key=lambda f: not f.init)
    taken = tuple(f.name for f in known if f.init)
    others = [(f.name, f.default, f.default_factory) for f in ordered]
    count, finish = len(others), hasattr(cls, "__post_init__")

    def construct(self: Any, *args: Any, **named: Any) -> None:
        given = len(args)
        if given > len(taken) or (named and not named.keys() <= {*taken[given:]}):
            unexpected = sorted(named.keys() - {*taken[given:]}) or args[len(taken) :]
            raise TypeError(f"{cls.__name__}() got unexpected arguments: {unexpected}")
        any(map(_set, repeat(self), taken, args))  # a loop, but faster: each call is None
        for name, default, make in others[given:] if given < count else ():
            if named and name in named:
                default = named[name]
            elif make is not MISSING:
                default = make()
            elif default is MISSING:
                raise TypeError(f"{cls.__name__}() needs `{name}`")
            _set(self, name, default)
        if finish:
            self.__post_init__()

    return construct
