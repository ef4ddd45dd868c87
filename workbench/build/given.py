"""What parts are given, looked at where it is given: a message there has the user's line.

Every function returns what it was given, and raises TypeError or ValueError with a hint.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from workbench.build.places import checked_name
from workbench.build.terms import Equation, Flow, Named, Term, Value, Variable, term

Setting: TypeAlias = "Value | tuple[Value, Value]"
"""A value, or two bounds of any value between them."""


def condition(value: object, what: str) -> Term:
    """A condition."""
    if isinstance(value, Flow):
        raise TypeError(f"{what} is a condition, not a flow: a derivative is no part of one")
    if not isinstance(value, Term):
        raise TypeError(f"{what} is a condition over variables, such as x >= 0, not {value!r:.60}")
    return value


def conditions(values: object, what: str) -> tuple[Term, ...]:
    """A condition, or several."""
    if isinstance(values, Term | Flow) or not isinstance(values, Iterable):
        values = (values,)
    return tuple(condition(one, what) for one in several(values, what))


def several(values: object, what: str) -> tuple[Any, ...]:
    """A list of some length."""
    if not isinstance(values, Iterable) or isinstance(values, str | bytes | Mapping):
        raise TypeError(f"{what} is a list, not {values!r:.60}")
    return tuple(values)


def names(values: object, what: str) -> tuple[str, ...]:
    """A list of names; one text alone is one of them."""
    listed = (values,) if isinstance(values, str) else several(values, what)
    return tuple(map(checked_name, listed))


def variable(value: object, what: str) -> Variable:
    """A variable itself, not its name."""
    if not isinstance(value, Variable):
        hint = f': make it by x = Real("{value}")' if isinstance(value, str) else ""
        raise TypeError(f"{what} is of variables, not of {value!r:.60}{hint}")
    return value


def settings(values: object, what: str) -> dict[Variable, Setting]:
    """Values, or pairs of bounds, by variable."""
    given = {} if values is None else values
    if not isinstance(given, Mapping):
        raise TypeError(f"{what} gives values by variable, as in {{x: 0}}, not {values!r:.60}")
    return {variable(one, what): setting(one.name, value) for one, value in given.items()}


def first_values(values: object, what: str) -> dict[Variable, Setting | None]:
    """Variables, each perhaps with its first value."""
    if not isinstance(values, Mapping):
        return dict.fromkeys([variable(one, what) for one in several(values, what)], None)
    given = {variable(one, what): value for one, value in values.items()}
    return {one: None if v is None else setting(one.name, v) for one, v in given.items()}


def setting(name: str, value: object) -> Setting:
    """A value, or a pair of bounds."""
    if isinstance(value, tuple | list):
        if len(value) != 2:
            raise ValueError(f"{name} has a value or two bounds, (low, high), not {value!r:.60}")
        low, high = (term(one) for one in value)
        return low, high
    return term(value)  # type: ignore[arg-type]


def renaming(values: object) -> dict[Variable, Variable]:
    """Variables around by the agent's own."""
    given = {} if values is None else values
    if not isinstance(given, Mapping):
        raise TypeError(f"a renaming is of variables, as in {{x: y}}, not {values!r:.60}")
    what = "a renaming"
    return {variable(mine, what): variable(theirs, what) for mine, theirs in given.items()}


def part(value: object, known: tuple[type, ...], whole: str) -> None:
    """Refuse what cannot be a part of a mode or an agent."""
    if isinstance(value, known):
        return
    if isinstance(value, Named):
        hint = "variables are declared by what uses them"
    elif isinstance(value, Term):
        hint = (
            f"{whole} has conditions as keywords; an equation is made by x.follows(...),"
            " a flow by x.d == ..."
        )
        raise TypeError(f"`{value.text}` is a condition, and {hint}")
    elif isinstance(value, Flow | Equation):
        hint = "flows and equations are parts of a mode"
    elif isinstance(value, type):
        hint = f"it is a class: make one, {value.__name__}(...)"
    elif isinstance(value, list | tuple):
        hint = "give the parts one by one: *parts"
    else:
        hint = f"{whole} consists of {', '.join(sorted(one.__name__ for one in known))}"
    raise TypeError(f"{value!r:.80} cannot be a part of {whole}: {hint}")
