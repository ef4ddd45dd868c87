"""A problem in normal form in words, with the user's names: what exactly was proved.

What is printed is read off the numbers that the kernel is given, not off the model. A row says
that a sum is at most 0, or below it; here variables stand on the left and the number on the right,
and two opposite rows of a case are one equation. x' is the value of x after a jump.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

from workbench.models.automaton import primed
from workbench.models.certificates.standalone import Legend, is_system

Term: TypeAlias = tuple[Fraction, str]
_INDENT = "  "


def problem_lines(names: Legend, problem: Any) -> Iterator[str]:
    """The problem, which is one that was lowered, line by line."""
    words = _Words(names)
    yield f"variables: {', '.join(words.state(n) for n in names.states) or 'none'}"
    if names.inputs:
        yield f"any values of: {', '.join(names.inputs)}"
    if is_system(problem):
        *_, given, bounds, wide, narrow = problem
        yield "where runs may come"
        yield from _indented(words.automaton(wide, has_bad=False))
        if given:
            yield f"given from outside: {', '.join(names.inputs[int(i)] for i in given)}"
            yield from _indented(words.rows(bounds))
        yield "what runs can certainly do there: some time passes, or a jump changes something"
        yield from _indented(words.automaton(narrow, has_bad=False))
    else:
        yield from words.automaton(problem, has_bad=True)
    if names.forbidden:
        yield f"not taken in, so no run may enter: {', '.join(names.forbidden)}"


def _indented(lines: Iterable[str]) -> Iterator[str]:
    return (_INDENT + line for line in lines)


class _Words:
    def __init__(self, names: Legend):
        self.names = names
        self.places = names.locations + names.forbidden
        after = tuple(map(primed, names.states))
        self.sides = names.states, after, names.inputs

    def state(self, name: str) -> str:
        """A variable with its type, where that is not the real numbers."""
        kind = self.names.types.get(name)
        return name if kind is None else f"{name} ({_type_words(kind)})"

    def automaton(self, automaton: Any, has_bad: bool) -> Iterator[str]:
        """Starts and locations, with or without the states that are bad."""
        locations, starts = automaton
        for number, cases in starts:
            yield f"runs start in {self.places[int(number)]}"
            yield from _indented(self.cases(cases, "where"))
        for name, location in zip(self.names.locations, locations, strict=False):
            yield f"location {name}"
            yield from _indented(self.location(location, has_bad))

    def location(self, location: Any, has_bad: bool) -> Iterator[str]:
        invariant, flows, edges, bad = location
        yield from self.cases(invariant, "time may pass where")
        for rates, rows in flows:
            yield "with the derivatives"
            yield from _indented(
                f"{name}: {self.sum(rate)}"
                for name, rate in zip(self.names.states, rates, strict=True)
            )
            if rows:
                yield from _indented(["for any of these values:"])
                yield from _indented(_indented(self.rows(rows)))
        for target, cases in edges:
            yield f"jump to {self.places[int(target)]}"
            yield from _indented(self.cases(cases, "where"))
        if has_bad:
            yield from self.cases(bad, "bad where")

    def cases(self, cases: Any, intro: str) -> Iterator[str]:
        """Cases of rows, one after the other."""
        if not cases:
            yield f"{intro.removesuffix(' where')}: nowhere"
        for number, rows in enumerate(cases):
            yield intro if number == 0 else "or where"
            yield from _indented(self.rows(rows) if rows else ["nothing is asked"])

    def rows(self, rows: Any) -> Iterator[str]:
        """A row, or an equation for two of them, on each line."""
        used: set[int] = set()
        for i, (form, strict) in enumerate(rows):
            if i in used:
                continue
            terms, constant = self.terms(form)
            opposite = [(-a, name) for a, name in terms], -constant
            other = next(
                (
                    j
                    for j in range(i + 1, len(rows))
                    if j not in used and self.terms(rows[j][0]) == opposite
                ),
                None,
            )
            if other is not None and terms and not strict and not rows[other][1]:
                used.add(other)
                yield _equation(terms, -constant)
            else:
                yield _comparison(terms, "<" if strict else "<=", -constant)

    def terms(self, form: Any) -> tuple[list[Term], Fraction]:
        """The terms of a form, and its constant."""
        constant, *parts = form
        terms = [
            (Fraction(a), names[i])
            for names, numbers in zip(self.sides, parts, strict=True)
            for i, a in enumerate(numbers)
            if Fraction(a)
        ]
        return terms, Fraction(constant)

    def sum(self, form: Any) -> str:
        """A form as a sum."""
        terms, constant = self.terms(form)
        return _sum([*terms, *([(constant, "")] if constant or not terms else [])])


def _type_words(kind: str) -> str:
    if kind == "int":
        return "a whole number"
    if kind == "bool":
        return "false is 0, true is 1"
    values = kind.removeprefix("enum {").removesuffix("}").split(",")
    return ", ".join(f"{value.strip()} is {i}" for i, value in enumerate(values))


def _equation(terms: Sequence[Term], value: Fraction) -> str:
    """The sum of the terms is a number; where two of them are the same, just that."""
    if len(terms) == 2 and value == 0 and terms[0][0] == -terms[1][0]:
        return f"{terms[1][1]} = {terms[0][1]}"
    return _comparison(terms, "=", value)


_MIRRORED = {"<=": ">=", "<": ">", "=": "="}


def _comparison(terms: Sequence[Term], sign: str, bound: Fraction) -> str:
    """The sum of the terms compared with a bound; what comes first is positive."""
    if terms and terms[0][0] < 0:
        terms, bound, sign = [(-a, name) for a, name in terms], -bound, _MIRRORED[sign]
    if len(terms) == 1:
        bound, terms = bound / terms[0][0], [(Fraction(1), terms[0][1])]
    return f"{_sum(terms) if terms else '0'} {sign} {bound}"


def _sum(terms: Iterable[Term]) -> str:
    text = ""
    for a, name in terms:
        size = str(abs(a)) if not name else name if abs(a) == 1 else f"{abs(a)} {name}"
        if text:
            text += f" {'-' if a < 0 else '+'} {size}"
        else:
            text = f"-{size}" if a < 0 else size
    return text
