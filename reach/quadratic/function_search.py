"""Quadratic functions that stay at or below zero, found by semidefinite programming.

The unknowns are the coefficients of V in every location and the multipliers of every
situation (`models.evidence.quadratic_function`). For fixed factors of V, alpha for the flow and
beta for jumps, everything wanted is linear in them; factors are tried from a short list. Bad
states are excluded with factor 1, so their gap sets the scale of V. One function excludes all
bad cases if possible, else there is one for each case. Untrusted: the result is rounded to
rationals and proved by the trusted checker.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations_with_replacement
from math import comb

from workbench.models.evidence.bounds import implied_bounds
from workbench.models.evidence.quadratic_function import (
    Function,
    Polynomial,
    QuadraticFunctions,
    Situation,
    Witness,
    added,
    bad_situations,
    of_form,
    product,
    proves,
    situations,
)
from workbench.models.linear import Form, Rows
from workbench.models.lowering.problem import LinearProblem
from workbench.reach.combinations import refutation
from workbench.reach.programs.polynomial_program import PolynomialProgram

MAX_NAMES = 24
MAX_UNKNOWNS = 500
MAX_SITUATIONS = 200
MAX_PRODUCT_ROWS = 10
"""Products are formed of the first so many rows of a situation."""
FACTORS: tuple[tuple[Fraction, Fraction], ...] = tuple(
    (Fraction(alpha), Fraction(beta))
    for alpha, beta in (("0", "1"), ("-1/10", "1"), ("-1", "1"), ("0", "0"), ("-1", "1/2"))
)
"""Pairs alpha, beta; alpha in units of the fastest rate of the dynamics."""
_ONE = Fraction(1)


@dataclass(frozen=True)
class NoFunction:
    """Why there is no quadratic function."""

    reason: str


@dataclass(frozen=True)
class _Found:
    """A function with witnesses for its situations and for the bad ones it excludes."""

    function: Function
    witnesses: tuple[Witness, ...]
    excluded: tuple[Witness, ...]


@dataclass(frozen=True)
class _System:
    variables: tuple[str, ...]
    locations: tuple[str, ...]
    common: tuple[Situation, ...]
    bad: tuple[Situation, ...]
    scales: dict[str, Fraction]
    tempo: Fraction

    @property
    def monomials(self) -> list[tuple[str, ...]]:
        """The terms of a function."""
        return [
            m for degree in range(3) for m in combinations_with_replacement(self.variables, degree)
        ]


def search_functions(
    problem: LinearProblem,
    locations: tuple[str, ...],
    stop: Callable[[], bool],
    progress: Callable[[str], None] = lambda text: None,
) -> QuadraticFunctions | NoFunction:
    """Functions over the locations that exclude every bad case, or why none were found."""
    if len(problem.names) > MAX_NAMES:
        return NoFunction(f"there are more than {MAX_NAMES} variables for quadratic functions")
    system = _system(problem, locations)
    if isinstance(system, NoFunction):
        return system
    refuted = [_impossible(situation.rows) for situation in system.bad]
    open_bad = [s for s, witness in zip(system.bad, refuted, strict=True) if witness is None]
    progress("a quadratic function that excludes all bad states")
    one = _function(system, open_bad, stop)
    found = [] if one is None else [(open_bad, one)]
    for situation in open_bad if one is None and len(open_bad) > 1 else []:
        progress(f"a quadratic function for {situation.title}")
        one = _function(system, [situation], stop)
        if one is None:
            break
        found.append(([situation], one))
    if one is not None:
        return _assembled(system, refuted, found)
    if stop():
        return NoFunction("its work was used up in the search for quadratic functions")
    missing = open_bad[len(found)].title if open_bad else "starts and flows"
    return NoFunction(
        f"no quadratic function was found that no behaviour makes positive and that excludes "
        f"the bad states: {missing}"
    )


def _assembled(
    system: _System,
    refuted: list[Witness | None],
    found: list[tuple[list[Situation], _Found]],
) -> QuadraticFunctions:
    evidence = [
        _numbered(witness, index)
        for index, (_, one) in enumerate(found)
        for witness in one.witnesses
    ]
    for situation, witness in zip(system.bad, refuted, strict=True):
        excluded = (
            _numbered(proof, index)
            for index, (group, one) in enumerate(found)
            for other, proof in zip(group, one.excluded, strict=True)
            if other is situation
        )
        evidence.append(next(excluded) if witness is None else witness)
    return QuadraticFunctions(tuple(one.function for _, one in found), tuple(evidence))


def _numbered(witness: Witness, index: int) -> Witness:
    factors = tuple((index, a) for _, a in witness.factors)
    return Witness(factors, witness.linear, witness.products, witness.gap)


def _system(problem: LinearProblem, locations: tuple[str, ...]) -> _System | NoFunction:
    common = tuple(_limited(situations(problem, locations)))
    bad = tuple(_limited(bad_situations(problem, locations)))
    if len(common) + len(bad) > MAX_SITUATIONS:
        return NoFunction(f"there are more than {MAX_SITUATIONS} cases of flows and jumps")
    variables = _relevant(problem, common, bad)
    unknowns = len(locations) * comb(len(variables) + 2, 2) + sum(
        len(s.rows) + comb(min(len(s.rows), MAX_PRODUCT_ROWS) + 1, 2) for s in (*common, *bad)
    )
    if unknowns > MAX_UNKNOWNS:
        return NoFunction(f"quadratic functions would need {unknowns} unknowns, which is too many")
    rates = [
        abs(a)
        for situation in common
        for name, form in (situation.rates or {}).items()
        if name in variables
        for a in form.coefficients.values()
    ]
    scales: dict[str, Fraction] = {}
    for situation in (*common, *bad):
        for name, bounds in implied_bounds(situation.rows).items():
            if sizes := [abs(b) for b in bounds if b]:
                plain = name.rstrip("'")
                scales[plain] = max(scales.get(plain, Fraction(0)), *sizes)
    usual = max(scales.values(), default=_ONE)
    scales = {v: _power_of_two(scales.get(v, usual)) for v in (*scales, *variables)}
    scales |= {f"{name}'": size for name, size in scales.items()}
    tempo = max(rates, default=_ONE)
    return _System(variables, locations, common, bad, scales, tempo)


def _limited(found: Iterator[Situation]) -> Iterator[Situation]:
    for _, situation in zip(range(MAX_SITUATIONS + 1), found, strict=False):
        yield situation


def _power_of_two(size: Fraction) -> Fraction:
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    return Fraction(2) ** max(-20, min(20, exponent))


def _relevant(
    problem: LinearProblem, common: tuple[Situation, ...], bad: tuple[Situation, ...]
) -> tuple[str, ...]:
    """The variables of the bad states and those that their flows and resets depend on."""
    known = {v.name for v in problem.automaton.variables}
    needed = {n for s in bad for row in s.rows for n in row.form.coefficients} & known
    needed |= {
        name for s in bad for name, form in s.before.items() if form != Form({name: _ONE})
    } & known
    grown = True
    while grown:
        reached = {
            name
            for situation in common
            for v in needed
            for forms in (situation.rates or {}, situation.after)
            for name in forms.get(v, Form({})).coefficients
        } & known
        grown = not reached <= needed
        needed |= reached
    return tuple(sorted(needed))


def _impossible(rows: Rows) -> Witness | None:
    """A witness that the rows have no common solution."""
    multipliers = refutation(rows)
    if multipliers is None:
        return None
    gap = sum((a * rows[j].form.constant for j, a in multipliers), Fraction(0))
    return Witness((), multipliers, (), gap)


# One function


def _function(system: _System, group: list[Situation], stop: Callable[[], bool]) -> _Found | None:
    """A function that excludes the bad situations of a group."""
    refuted = {id(s): w for s in system.common if (w := _impossible(s.rows)) is not None}
    for alpha, beta in FACTORS:
        if stop():
            return None
        draft = _Draft.of(system, group, refuted, alpha * system.tempo, beta)
        for sparse in (True, False):
            solution = None if stop() else draft.program.solve(sparse=sparse)
            if solution is None:
                break
            for values in draft.program.rounded(solution):
                found = draft.read(values)
                if found is not None:
                    return found
    return None


@dataclass(frozen=True)
class _Unknowns:
    """The unknowns of one situation: the fixed factor of V, and numbers of unknowns."""

    situation: Situation
    factor: Fraction
    linear: tuple[tuple[int, int], ...]
    products: tuple[tuple[int, int, int], ...]
    gap: int | None

    def witness(self, values: list[Fraction]) -> Witness:
        """The witness with the values of the unknowns."""
        return Witness(
            ((0, self.factor),) if self.factor else (),
            tuple((j, values[y]) for j, y in self.linear if values[y]),
            tuple((j, k, values[y]) for j, k, y in self.products if values[y]),
            None if self.gap is None else values[self.gap],
        )


@dataclass(frozen=True)
class _Draft:
    """A program for one function, and how its solutions are read."""

    program: PolynomialProgram
    coefficients: dict[tuple[str, tuple[str, ...]], int]
    parts: tuple[_Unknowns | Witness, ...]
    count: int
    situations: tuple[Situation, ...]

    @classmethod
    def of(
        cls,
        system: _System,
        group: list[Situation],
        refuted: dict[int, Witness],
        alpha: Fraction,
        beta: Fraction,
    ) -> _Draft:
        """The program for given factors."""
        program = PolynomialProgram(system.scales)
        unknowns = {
            (location, monomial): program.unknown(signed=True)
            for location in system.locations
            for monomial in system.monomials
        }
        parts: list[_Unknowns | Witness] = []
        for situation in system.common:
            factor = alpha if situation.rates is not None else beta
            factor = Fraction(0) if situation.source is None else factor
            known = refuted.get(id(situation))
            parts.append(known or _add(program, unknowns, situation, factor))
        parts += [_add(program, unknowns, situation, _ONE) for situation in group]
        everything = (*system.common, *group)
        return cls(program, unknowns, tuple(parts), len(system.common), everything)

    def read(self, values: list[Fraction]) -> _Found | None:
        """The function and its witnesses, if every situation is proved."""
        function: dict[str, dict[tuple[str, ...], Fraction]] = {}
        for (location, monomial), y in self.coefficients.items():
            terms = function.setdefault(location, {})
            if values[y]:
                terms[monomial] = values[y]
        witnesses = tuple(p if isinstance(p, Witness) else p.witness(values) for p in self.parts)
        for number, (situation, witness) in enumerate(zip(self.situations, witnesses, strict=True)):
            index = 0 if number < self.count else None
            if not proves(situation, (function,), index, witness):
                return None
        return _Found(function, witnesses[: self.count], witnesses[self.count :])


def _add(
    program: PolynomialProgram,
    unknowns: dict[tuple[str, tuple[str, ...]], int],
    situation: Situation,
    factor: Fraction,
) -> _Unknowns:
    """The block factor * V - goal - sum l s - sum m s s of a situation."""
    block: dict[int, Polynomial] = {}
    for (location, monomial), y in unknowns.items():
        function: Function = {
            name: {monomial: _ONE} if name == location else {}
            for name in (situation.source, situation.target)
            if name is not None
        }
        parts = [(factor, situation.known(function)), (-_ONE, situation.goal(function))]
        if polynomial := added(parts):
            block[y] = polynomial
    rows = situation.rows
    linear = [(j, program.unknown()) for j in range(len(rows))]
    block |= {y: of_form(rows[j].form) for j, y in linear}
    chosen = range(min(len(rows), MAX_PRODUCT_ROWS))
    products = [(j, k, program.unknown()) for j, k in combinations_with_replacement(chosen, 2)]
    for j, k, y in products:
        block[y] = added([(-_ONE, product(rows[j].form, rows[k].form))])
    gap = None
    if situation.target is None:
        gap = program.unknown()
        block[gap] = {(): -_ONE}
        program.at_least_one.append([gap, *(y for j, y in linear if rows[j].strict)])
    program.blocks.append(block)
    return _Unknowns(situation, factor, tuple(linear), tuple(products), gap)
