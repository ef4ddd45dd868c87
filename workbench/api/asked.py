"""What users ask about a model by name: its properties, and temporal formulas over its variables.

A name that the model does not have is answered with the nearest one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from operator import index
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from workbench.api.numbers import Number, exact
from workbench.models.source import Diagnostic, ModelError, Span

if TYPE_CHECKING:
    from fractions import Fraction

    from workbench.models.automaton import Automaton, Property
    from workbench.models.expressions.expression import Expression
    from workbench.simulate.monitoring.stl import Formula

Value = TypeVar("Value")

FORMULA = "<formula>"
"""The file that messages about a formula tell."""


class RequestError(ValueError):
    """What is asked makes no sense, in itself or for the model; `argument` is what the message is
    about, where that is one argument."""

    def __init__(self, message: str, argument: str = ""):
        super().__init__(message)
        self.message, self.argument = message, argument

    def __str__(self) -> str:
        return f"{self.argument}: {self.message}" if self.argument else self.message

    def __reduce__(self) -> tuple[object, ...]:
        return (type(self), (self.message, self.argument))


def number(argument: str, value: Number) -> Fraction:
    """The exact number that an argument means. Raises RequestError, which names it."""
    try:
        return exact(value)
    except (ValueError, TypeError) as error:
        raise RequestError(str(error), argument) from error


def double(argument: str, value: Number) -> float:
    """The nearest number that a machine has."""
    try:
        return float(number(argument, value))
    except OverflowError as error:
        raise RequestError(f"{value!s:.40} is too large", argument) from error


def positive(argument: str, value: Number) -> Fraction:
    """The same of a number above zero: a length of time, a number of seconds."""
    found = number(argument, value)
    if found <= 0 or double(argument, found) == 0.0:
        raise RequestError(f"{value!s:.40} is not positive", argument)
    return found


def flag(argument: str, value: bool) -> bool:
    """Whether something is asked for. Raises RequestError."""
    try:
        return bool(value)
    except (ValueError, TypeError) as error:
        raise RequestError(f"True or False is expected, not {value!r:.40}", argument) from error


def count(argument: str, value: int, least: int = 0) -> int:
    """A whole number, of this size at least. Raises RequestError."""
    try:
        found = index(value)
    except TypeError as error:
        raise RequestError(f"a whole number is expected, not {value!r:.40}", argument) from error
    if found < least:
        raise RequestError(f"{found} is not at least {least}", argument)
    return found


def one_text(argument: str, value: str) -> str:
    """A text. Raises RequestError."""
    if not isinstance(value, str):
        raise RequestError(f"a text is expected, not {value!r:.40}", argument)
    return value


def texts(argument: str, value: Sequence[str]) -> tuple[str, ...]:
    """Some texts; one alone is one of them. Raises RequestError."""
    found = (value,) if isinstance(value, str) else tuple(each(argument, value))
    for one in found:
        if isinstance(one, list | tuple):
            raise RequestError(f"texts are expected one by one (*names), not {one!r:.40}", argument)
    return tuple(one_text(argument, one) for one in found)


def each(argument: str, value: Iterable[Value]) -> Iterable[Value]:
    """Several values. Raises RequestError."""
    if not isinstance(value, Iterable) or isinstance(value, str | bytes):
        raise RequestError(f"a list is expected, not {value!r:.40}", argument)
    return value


def path_of(argument: str, value: str | Path) -> Path:
    """The path of a file. Raises RequestError."""
    try:
        return Path(value)
    except TypeError as error:
        raise RequestError(f"a path is expected, not {value!r:.40}", argument) from error


def by_name(argument: str, value: Mapping[str, Value]) -> Mapping[str, Value]:
    """Values by name. Raises RequestError."""
    if not isinstance(value, Mapping):
        raise RequestError(f"values by name are expected, not {value!r:.40}", argument)
    for name in value:
        one_text(argument, name)
    return value


def unknown(sort: str, name: str, known: Iterable[str]) -> str:
    """That there is no such name, with the nearest one."""
    from difflib import get_close_matches

    known = list(known)
    near = get_close_matches(name[:80], known, n=1, cutoff=0.5)
    if near:
        return f"there is no {sort} {name[:80]!r}; did you mean {near[0]!r}?"
    listed = ", ".join(known[:8]) or "none"
    return f"there is no {sort} {name[:80]!r}; the model has {listed}"


def properties_named(automaton: Automaton, names: Sequence[str]) -> tuple[Property, ...]:
    """The properties of those names, all of them if none is named. Raises ValueError for an
    unknown one, or if there is none."""
    names = texts("properties", names)
    known = {claim.name: claim for claim in automaton.properties}
    if not known:
        raise RequestError(
            'the model has no property; add `assert "name" { condition }` to an agent'
        )
    for name in names:
        if name not in known:
            raise RequestError(_no_property(name, list(known)))
    return tuple(known[name] for name in dict.fromkeys(names)) if names else tuple(known.values())


def claims_named(automaton: Automaton, names: Sequence[str]) -> tuple[Property, ...]:
    """As `properties_named`; `never blocks` may be asked of every model, and is then the property
    by which the model itself states it, if it does."""
    from workbench.models.automaton import NEVER_BLOCKS, never_blocks

    names = texts("properties", names)
    stated = {claim.name for claim in automaton.properties}
    if NEVER_BLOCKS not in names or NEVER_BLOCKS in stated:
        return properties_named(automaton, names)
    asked = never_blocks(automaton)
    others = [name for name in names if name not in (NEVER_BLOCKS, asked.name)]
    return (*(properties_named(automaton, others) if others else ()), asked)


def _no_property(name: str, known: list[str]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name[:80], known, n=1, cutoff=0.5)
    if near:
        return f"the model has no property {name[:80]!r}; did you mean {near[0]!r}?"
    return f"the model has no property {name[:80]!r}; it has {', '.join(map(repr, known))}"


def condition_over(automaton: Automaton, text: str, argument: str) -> Expression:
    """A condition over the variables of the model, given as this argument. Raises ModelError or
    RequestError."""
    from workbench.models.condition_check import misfit
    from workbench.models.expressions.text import parse_expression
    from workbench.models.expressions.traversal import free_variables

    condition = parse_expression(one_text(argument, text), file=f"<{argument}>")
    known = {v.name for v in automaton.variables} | {p.name for p in automaton.parameters}
    if missing := sorted(free_variables(condition) - known):
        raise RequestError(
            f"{text[:80]!r}: {unknown('variable', missing[0], sorted(known))}", argument
        )
    if why := misfit(condition, automaton):
        raise RequestError(f"{text[:80]!r}: {why}", argument)
    return condition


def read_formula(automaton: Automaton, text: str) -> Formula:
    """A temporal formula over the model's names; raises ModelError, which knows the place."""
    from workbench.models.condition_check import misfit, types_by_name, with_symbols
    from workbench.models.expressions.traversal import free_variables
    from workbench.simulate.monitoring.stl import parse_formula

    types = types_by_name(automaton)
    try:
        found = parse_formula(one_text("formula", text), FORMULA)
    except ModelError as error:
        raise ModelError(*error.diagnostics, sources={FORMULA: text}) from None
    found = found.over(lambda condition: with_symbols(condition, types))
    for name in sorted(free_variables(*found.conditions) - types.keys()):
        known = [n for n in types if n != "time"]
        raise _wrong(text, unknown("variable", name, known), _place(text, name))
    for condition in found.conditions:
        if wrong := misfit(condition, automaton):
            raise _wrong(text, wrong, condition.span)
    return found


def _wrong(text: str, message: str, span: Span | None) -> ModelError:
    return ModelError(Diagnostic("formula", message, span), sources={FORMULA: text})


def _place(text: str, name: str) -> Span | None:
    """Where a name stands in a text."""
    found = re.search(rf"(?<![\w.]){re.escape(name)}(?![\w.])", text)
    if found is None:
        return None
    line = text.count("\n", 0, found.start()) + 1
    column = found.start() - (text.rfind("\n", 0, found.start()) + 1) + 1
    return Span(FORMULA, line, column, line, column + len(name))
