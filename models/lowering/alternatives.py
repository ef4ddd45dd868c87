"""How conditions of a model become rows.

Lemma. `alternatives(condition)` is a list of row lists of which each state that satisfies the
condition satisfies one. Proof: comparisons of linear values become rows that hold in the same
states; atoms of another kind become no row at all, which admits more states, wherever they stand
(each node is turned into the cases in which it is true and those in which it is false, so there is
no negation left). Left out are only cases without states, where two rows set limits to one sum that
exclude each other, and rows that say no more than another of their case. Start sets, guards,
invariants and bad sets are all lowered with it, and for all of them more states are safe.

Truth values and symbols are numbers in rows: false is 0, true is 1, a symbol is its place in
its enumeration, counted from 0. A state and its numbers determine each other, so a condition
and its translation hold in the same states; only variables whose type is given (`Types`) are
translated. These numbers are whole, as integers are. Rows know nothing of that, so it is used up
here: a row that speaks of nothing else is rounded to the whole numbers that it allows, 2 k < 5 to
k <= 2, and it is this row that is in the problem for everyone to see.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import islice
from math import ceil, floor, gcd, lcm
from types import MappingProxyType
from typing import TypeAlias

from workbench.models.automaton import BOOL, ValueType
from workbench.models.expressions.expression import Expression
from workbench.models.expressions.operators import Op
from workbench.models.expressions.traversal import postorder
from workbench.models.interruption import go_on
from workbench.models.linear import Alternatives, Form, Row, Rows, affine, of_variable

MAX_ALTERNATIVES = 10_000
"""A condition that splits into more disjuncts is refused (`TooManyCasesError`)."""


_MINUS_ONE = Fraction(-1)

Types: TypeAlias = Mapping[str, ValueType]
"""The types of variables whose values are whole numbers in rows (truth values, symbols and
integers), by plain and primed name."""

_NO_TYPES: Types = MappingProxyType({})


class TooManyCasesError(Exception):
    """A condition has too many disjuncts to check one by one."""


def alternatives(
    condition: Expression, types: Types = _NO_TYPES, most: int = MAX_ALTERNATIVES
) -> Alternatives:
    """Row lists whose union contains every state that satisfies the condition.

    An over-approximation; exact where every atom is a linear comparison, a Boolean variable
    or a comparison of symbols. `()` means that no state satisfies it, `((),)` that nothing is
    known. More than `most` of them are refused (`TooManyCasesError`).
    """
    cases: dict[int, tuple[_Cases, _Cases]] = {}
    for node in postorder(condition):
        cases[id(node)] = _cases(node, [cases[id(a)] for a in node.args], types, most)
    result = cases[id(condition)][0]
    if result is None:
        raise TooManyCasesError(f"a condition has more than {most} cases")
    return tuple(case.rows for case in result)


@dataclass(frozen=True, slots=True)
class _Limit:
    """What a row says: sum <= bound, or sum < bound. Of a sum and its negative, which have the
    same `names`, one is `upward`."""

    names: tuple[tuple[str, int], ...]
    upward: bool
    bound: Fraction
    strict: bool

    def implies(self, other: _Limit) -> bool:
        """Whether it says no less than another one of the same sum."""
        return (self.bound, not self.strict) <= (other.bound, not other.strict)

    def excludes(self, opposite: _Limit) -> bool:
        """Whether no value is within this limit and one of the negative of its sum."""
        least = -opposite.bound
        return self.bound < least or (self.bound == least and (self.strict or opposite.strict))


def _limit(row: Row) -> _Limit:
    _, coefficients, constant = row.form.integral
    if not coefficients:
        return _Limit((), True, Fraction(-constant), row.strict)
    factor = gcd(*coefficients.values())
    upward = coefficients[min(coefficients)] > 0
    scale = factor if upward else -factor
    names = tuple((name, coefficients[name] // scale) for name in sorted(coefficients))
    return _Limit(names, upward, Fraction(-constant, factor), row.strict)


@dataclass(frozen=True, slots=True)
class _Case:
    """Rows with what they say, and of each sum and sense the last limit."""

    said: tuple[tuple[Row, _Limit], ...] = ()
    limits: Mapping[tuple[tuple[tuple[str, int], ...], bool], _Limit] = field(default_factory=dict)

    @property
    def rows(self) -> Rows:
        return tuple(row for row, _ in self.said)

    def joined(self, other: _Case) -> _Case | None:
        """The rows of both; None if they contradict each other."""
        limits = dict(self.limits)
        more = []
        for row, limit in other.said:
            known = limits.get((limit.names, limit.upward))
            opposite = limits.get((limit.names, not limit.upward))
            if known is not None and known.implies(limit):
                continue
            if opposite is not None and limit.excludes(opposite):
                return None
            limits[limit.names, limit.upward] = limit
            more.append((row, limit))
        return _Case((*self.said, *more), limits)


def _case(rows: Rows) -> _Case:
    """The rows of a comparison."""
    said = tuple((row, _limit(row)) for row in rows)
    return _Case(said, {(limit.names, limit.upward): limit for _, limit in said})


_Cases: TypeAlias = list[_Case] | None  # None: too many


def _cases(
    node: Expression, args: list[tuple[_Cases, _Cases]], types: Types, most: int
) -> tuple[_Cases, _Cases]:
    """The cases in which a node is true, and those in which it is false."""
    if node.op is Op.BOOLEAN:
        return ([_Case()], []) if node.value else ([], [_Case()])
    if node.op is Op.NOT:
        return args[0][1], args[0][0]
    if node.op is Op.AND:
        return _all([a[0] for a in args], most), _any([a[1] for a in args], most)
    if node.op is Op.OR:
        return _any([a[0] for a in args], most), _all([a[1] for a in args], most)
    if node.op is Op.IF:
        (yes, no), then, other = args
        return (
            _any([_all([yes, then[0]], most), _all([no, other[0]], most)], most),
            _any([_all([yes, then[1]], most), _all([no, other[1]], most)], most),
        )
    if node.op is Op.VARIABLE and types.get(node.name) == BOOL:
        value = of_variable(node.name)
        above = Form(value.coefficients, _MINUS_ONE)
        return [_case((Row(above), Row(-above)))], [_case((Row(value), Row(-value)))]
    if node.op in _DIFFERENCE_SIGNS:
        return _compared(node, args, types, most)
    return [_Case()], [_Case()]


def _compared(
    node: Expression, args: list[tuple[_Cases, _Cases]], types: Types, most: int
) -> tuple[_Cases, _Cases]:
    """The cases of a comparison between numbers, symbols or truth values, and of its opposite."""
    sides = _values(node.args[0], node.args[1], types)
    if sides is not None:
        difference = sides[0] - sides[1]
        holds, fails = _DIFFERENCE_SIGNS[node.op](difference, -difference)
        if difference.coefficients and all(name in types for name in difference.coefficients):
            holds, fails = list(map(_rounded, holds)), list(map(_rounded, fails))
        return list(map(_case, holds)), list(map(_case, fails))
    if node.op not in (Op.EQUAL, Op.NOT_EQUAL):
        return [_Case()], [_Case()]
    (a, not_a), (b, not_b) = args
    same = _any([_all([a, b], most), _all([not_a, not_b], most)], most)
    other = _any([_all([a, not_b], most), _all([not_a, b], most)], most)
    return (same, other) if node.op is Op.EQUAL else (other, same)


def _values(left: Expression, right: Expression, types: Types) -> tuple[Form, Form] | None:
    """Both sides of a comparison as forms; None where they are not affine, or may be of different
    types, whose numbers mean different things: of a variable without a type, what else its symbols
    are compared with is not known."""
    kinds = [types.get(e.name) for e in (left, right) if e.op is Op.VARIABLE]
    coded = [kind for kind in kinds if kind is not None and not kind.is_numeric]
    if not coded:
        forms = affine(left), affine(right)
    elif any(kind != coded[0] for kind in (coded if coded[0] == BOOL else kinds)):
        return None
    else:
        forms = _coded(left, coded[0]), _coded(right, coded[0])
    return None if forms[0] is None or forms[1] is None else (forms[0], forms[1])


def _coded(value: Expression, kind: ValueType) -> Form | None:
    """A variable of the type, or the number of one of its values."""
    if value.op is Op.VARIABLE:
        return of_variable(value.name)
    if value.op is Op.BOOLEAN and kind == BOOL:
        return Form({}, Fraction(int(bool(value.value))))
    if value.op is Op.SYMBOL and value.value in kind.values:
        return Form({}, Fraction(kind.values.index(str(value.value))))
    return None


def _rounded(rows: Rows) -> Rows:
    """Rows over whole numbers k with the same whole solutions: with coprime whole
    coefficients a, a k <= b says a k <= floor(b), and a k < b says a k <= ceil(b) - 1."""
    found = []
    for row in rows:
        values = row.form.coefficients.values()
        whole = lcm(*(a.denominator for a in values))
        factor = Fraction(whole, gcd(*(a.numerator for a in values)))
        bound = -row.form.constant * factor
        limit = ceil(bound) - 1 if row.strict else floor(bound)
        found.append(Row(Form(row.form.scaled(factor).coefficients, Fraction(-limit))))
    return tuple(found)


def _any(parts: list[_Cases], most: int) -> _Cases:
    union: list[_Case] = []
    for part in parts:
        if part is not None and any(not case.said for case in part):
            return [_Case()]
    for part in parts:
        if part is None or len(union) + len(part) > most:
            return None
        union.extend(part)
    return union


def _all(parts: list[_Cases], most: int) -> _Cases:
    product = [_Case()]
    for part in sorted(parts, key=lambda p: most + 1 if p is None else len(p)):
        if part is None:
            return None if product else []
        product = list(islice(_pairs(product, part), most + 1))
        if len(product) > most:
            return None
    return product


def _pairs(lefts: Iterable[_Case], rights: Iterable[_Case]) -> Iterator[_Case]:
    """Every case of one with every case of the other, if they do not contradict each other."""
    for left in lefts:
        go_on()
        for right in rights:
            both = left.joined(right)
            if both is not None:
                yield both


_DIFFERENCE_SIGNS: Mapping[Op, Callable[[Form, Form], tuple[list[Rows], list[Rows]]]] = {
    Op.LESS_EQUAL: lambda d, e: ([(Row(d),)], [(Row(e, True),)]),
    Op.LESS: lambda d, e: ([(Row(d, True),)], [(Row(e),)]),
    Op.GREATER_EQUAL: lambda d, e: ([(Row(e),)], [(Row(d, True),)]),
    Op.GREATER: lambda d, e: ([(Row(e, True),)], [(Row(d),)]),
    Op.EQUAL: lambda d, e: ([(Row(d), Row(e))], [(Row(d, True),), (Row(e, True),)]),
    Op.NOT_EQUAL: lambda d, e: ([(Row(d, True),), (Row(e, True),)], [(Row(d), Row(e))]),
}
"""For d = left - right and e = -d: the cases of the comparison, and of its negation."""


def at_most(value: Form, bound: Expression) -> Rows:
    """Rows implied by value <= bound; min() gives one row for each argument."""
    parts = bound.args if bound.op is Op.MINIMUM else (bound,)
    forms = [affine(part) for part in parts]
    return tuple(Row(value - form) for form in forms if form is not None)


def at_least(value: Form, bound: Expression) -> Rows:
    """Rows implied by value >= bound; max() gives one row for each argument."""
    parts = bound.args if bound.op is Op.MAXIMUM else (bound,)
    forms = [affine(part) for part in parts]
    return tuple(Row(form - value) for form in forms if form is not None)


def closed(rows: Rows) -> Rows:
    """The rows, none of them strict."""
    return tuple(Row(row.form) for row in rows)


def both(left: Alternatives, right: Alternatives, rows: Rows = ()) -> Alternatives:
    """Every disjunct of one with every disjunct of the other, and the rows besides."""
    if len(left) * len(right) > MAX_ALTERNATIVES:
        raise TooManyCasesError(f"there are more than {MAX_ALTERNATIVES} cases")
    return tuple(a + b + rows for a in left for b in right)
