"""Quadratic functions that stay at or below zero, for unbounded time.

A function gives every listed location a polynomial V_l of degree two over variables and
parameters, of any signature; the claim is V_l(x) <= 0 whenever the location is l. Several
functions are proved one after the other, and hold together.

Every fact is an identity of polynomials. Where rows g_j <= 0 hold, s_j = -g_j >= 0, and

    sum_i f_i V_i - goal = [1; z]' M [1; z] + sum l_j s_j + sum m_jk s_j s_k,
    M positive semidefinite, l_j >= 0, m_jk >= 0,

shows goal <= sum_i f_i V_i. Only f, l and m are given; M is what remains, and is judged exactly.

- Initial states: goal V_l(x'), no f.
- Flow of function i: goal V_i', the derivative along the flow; f_i of any sign, f_k >= 0 for
  earlier functions k, none for later ones. So V_i' <= a V_i for almost all times, with a among
  finitely many numbers (cases, corners; inside the corners' hull a is between theirs). Say
  V_i > 0 at some time, and V_i = 0 last before it: in between V_i' <= max(a) V_i, so V_i = 0
  there by Gronwall, a contradiction.
- Jumps: goal V_l(x') in the target, f >= 0 on all functions of the source, which hold there
  before the jump. With the flow: induction over the jumps proves each function in every state.
- Bad states, and jumps or starts into locations that are not listed, are impossible; any other
  situation may be, too. The goal is then a number `gap` >= 0, f >= 0, on earlier functions only
  where time passes. So sum f_i V_i >= gap while V_i <= 0: a contradiction if the gap is
  positive, or if some l_j > 0 belongs to a strict row (then the sum is > 0).

Rows that say f <= 0 and -f <= 0 are an equation. It is solved for a name, which is replaced
everywhere: exact, and all that is claimed is claimed on the solutions of the rows only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from workbench.models.automaton import primed
from workbench.models.evidence.definite import is_positive_semidefinite
from workbench.models.linear import Form, Multipliers, Row, Rows, combination, of_variable
from workbench.models.lowering.problem import LinearProblem

Polynomial: TypeAlias = Mapping[tuple[str, ...], Fraction]
"""Coefficients by monomial: at most two names, in alphabetical order; () is the constant."""
Function: TypeAlias = Mapping[str, Polynomial]
"""A polynomial for every listed location."""

_ZERO = Form({})


@dataclass(frozen=True, slots=True)
class Witness:
    """Factors of functions, multipliers of rows and of products of rows; a gap where the
    situation is shown to be impossible."""

    factors: Multipliers
    linear: Multipliers
    products: tuple[tuple[int, int, Fraction], ...]
    gap: Fraction | None = None


@dataclass(frozen=True, slots=True)
class QuadraticFunctions:
    """Functions over the same locations, and a witness for every obligation in order."""

    functions: tuple[Function, ...]
    evidence: tuple[Witness, ...]

    @property
    def locations(self) -> tuple[str, ...]:
        """The locations that may be entered."""
        return tuple(self.functions[0]) if self.functions else ()


@dataclass(frozen=True, slots=True)
class Equation:
    """A name and its value, as the rows of two numbers say once earlier equations are used."""

    name: str
    value: Form
    row: int
    opposite: int


@dataclass(frozen=True, slots=True)
class Solution:
    """Rows after every equation among those `given` is solved and used, in order; trivial and
    repeated ones are left out, `kept` are the numbers of the others."""

    given: Rows
    rows: Rows
    kept: tuple[int, ...]
    equations: tuple[Equation, ...]

    def replaced(self, form: Form) -> Form:
        """The form after every equation is used."""
        for equation in self.equations:
            form = replaced(form, equation)
        return form


@dataclass(frozen=True, slots=True)
class Situation:
    """Where something is to be shown: rows without equations; the source's names and the
    target's as forms over what is left; `rates` where time passes. Without a target it is to
    be shown that the situation does not occur."""

    title: str
    solution: Solution
    source: str | None
    target: str | None
    before: Mapping[str, Form]
    after: Mapping[str, Form]
    rates: Mapping[str, Form] | None = None

    @property
    def rows(self) -> Rows:
        """What is known, without equations."""
        return self.solution.rows

    def known(self, function: Function) -> Polynomial:
        """The function's value in the source; linear in the function."""
        return {} if self.source is None else substituted(function[self.source], self.before)

    def goal(self, function: Function) -> Polynomial:
        """What is to be at most zero, or its derivative; linear in the function."""
        if self.target is None:
            return {}
        if self.rates is None:
            return substituted(function[self.target], self.after)
        return derivative(function[self.target], self.before, self.rates)


def situations(problem: LinearProblem, locations: tuple[str, ...]) -> Iterator[Situation]:
    """Starts, flow and jumps, over the listed locations."""
    names = sorted(problem.names)
    plain = {name: of_variable(name) for name in names}
    new = {name: of_variable(primed(name)) for name in names}
    for location, cases in problem.starts():
        target = location if location in locations else None
        for rows in cases:
            yield _situation(f"initial states of {location}", rows, None, target, {}, new)
    for location in locations:
        for case in problem.flowing(location):
            for flow in problem.dynamics(location):
                rows, title = case + flow.rows, f"flow in {location}"
                rates = {name: flow.derivative.get(name, _ZERO) for name in names}
                yield _situation(title, rows, location, location, plain, {}, rates)
        for jump in problem.jumps(location):
            target = jump.target if jump.target in locations else None
            for rows in jump.cases:
                yield _situation(f"jump {jump.name}", rows, location, target, plain, new)


def bad_situations(problem: LinearProblem, locations: tuple[str, ...]) -> Iterator[Situation]:
    """The bad states of the listed locations."""
    plain = {name: of_variable(name) for name in problem.names}
    for location in locations:
        for rows in problem.bad(location):
            yield _situation(f"safety in {location}", rows, location, None, plain, {})


def failed(problem: LinearProblem, proof: QuadraticFunctions) -> tuple[str, str] | None:
    """The first obligation of functions, which are not malformed, that fails, and why."""
    evidence = iter(proof.evidence)
    common = list(situations(problem, proof.locations))
    bad = list(bad_situations(problem, proof.locations))
    rounds = [(number, common) for number in range(len(proof.functions))]
    for number, found in (*rounds, (None, bad)):
        for situation in found:
            witness = next(evidence, None)
            if witness is None:
                return situation.title, "there is no evidence for it"
            if not proves(situation, proof.functions, number, witness):
                return situation.title, "the evidence does not prove it"
    if next(evidence, None) is not None:
        return "evidence", "there is more evidence than obligations"
    return None


def proves(
    situation: Situation,
    functions: tuple[Function, ...],
    number: int | None,
    witness: Witness,
) -> bool:
    """Whether the witness shows the goal for the function of that number."""
    if not _admissible(situation, len(functions), number, witness):
        return False
    rows = situation.rows
    parts = [(a, situation.known(functions[i])) for i, a in witness.factors]
    if witness.gap is not None:
        strict = any(rows[j].strict and a > 0 for j, a in witness.linear)
        if witness.gap < 0 or (witness.gap == 0 and not strict):
            return False
        parts.append((Fraction(-1), {(): witness.gap}))
    elif situation.target is not None and number is not None:
        parts.append((Fraction(-1), situation.goal(functions[number])))
    else:
        return False
    parts += [(a, of_form(rows[j].form)) for j, a in witness.linear]
    parts += [(-a, product(rows[j].form, rows[k].form)) for j, k, a in witness.products]
    return is_positive_semidefinite(_matrix(added(parts)))


def _admissible(situation: Situation, count: int, number: int | None, witness: Witness) -> bool:
    """Whether factors and multipliers are of things that may be used, with a right sign."""
    usable, own = (0 if situation.source is None else count), None
    if situation.rates is not None and number is not None:
        own = number if witness.gap is None else None
        usable = number if own is None else number + 1
    if any(not 0 <= i < usable or (a < 0 and i != own) for i, a in witness.factors):
        return False
    indices = [j for j, _ in witness.linear] + [i for j, k, _ in witness.products for i in (j, k)]
    multipliers = [a for _, a in witness.linear] + [a for _, _, a in witness.products]
    return all(0 <= j < len(situation.rows) for j in indices) and min(multipliers, default=0) >= 0


def malformed(problem: LinearProblem, proof: QuadraticFunctions) -> str | None:
    """Why these are no functions of states of the model, or None if they are."""
    if not proof.functions:
        return "there is none"
    for function in proof.functions:
        if tuple(function) != proof.locations:
            return "they do not list the same locations"
        for location, polynomial in function.items():
            if not problem.has_location(location):
                return f"the model has no location {location[:80]!r}"
            for monomial in polynomial:
                if len(monomial) > 2 or list(monomial) != sorted(monomial):
                    return "a term is not a product of at most two names in order"
                if not set(monomial) <= problem.names:
                    return "they speak about a name that the model does not have"
    return None


def _situation(
    title: str,
    rows: Rows,
    source: str | None,
    target: str | None,
    before: Mapping[str, Form],
    after: Mapping[str, Form],
    rates: Mapping[str, Form] | None = None,
) -> Situation:
    solution = solved(rows)

    def everywhere(forms: Mapping[str, Form]) -> dict[str, Form]:
        return {name: solution.replaced(form) for name, form in forms.items()}

    moving = None if rates is None else everywhere(rates)
    return Situation(title, solution, source, target, everywhere(before), everywhere(after), moving)


def solved(given: Rows) -> Solution:
    """The rows with every equation among them solved and used."""
    equations: list[Equation] = []
    rows = given
    while (found := _equation(rows)) is not None:
        equations.append(found)
        rows = tuple(Row(replaced(row.form, found), row.strict) for row in rows)
    kept: dict[tuple[object, bool], int] = {}
    for number, row in enumerate(rows):
        if _says_something(row):
            kept.setdefault((_key(row.form), row.strict), number)
    places = tuple(kept.values())
    return Solution(given, tuple(rows[i] for i in places), places, tuple(equations))


def _says_something(row: Row) -> bool:
    constant = row.form.constant
    return bool(row.form.coefficients) or constant > 0 or (row.strict and constant == 0)


def _equation(rows: Rows) -> Equation | None:
    """A name and its value by the first row whose opposite is a row too."""
    known = {_key(row.form): number for number, row in enumerate(rows)}
    for number, row in enumerate(rows):
        form = row.form
        opposite = known.get(_key(-form)) if form.coefficients else None
        if opposite is not None:
            name = max(form.coefficients, key=lambda n: (n.endswith("'"), n))
            value = of_variable(name) - form.scaled(1 / form.coefficients[name])
            return Equation(name, value, number, opposite)
    return None


def _key(form: Form) -> tuple[tuple[tuple[str, Fraction], ...], Fraction]:
    """The form up to a positive factor."""
    entries = sorted(form.coefficients.items())
    size = abs(entries[0][1]) if entries else Fraction(1)
    return tuple((name, a / size) for name, a in entries), form.constant / size


def replaced(form: Form, equation: Equation) -> Form:
    """The form with the value of an equation for its name."""
    a = form.coefficients.get(equation.name)
    if a is None:
        return form
    rest = {name: b for name, b in form.coefficients.items() if name != equation.name}
    return combination(((Fraction(1), Form(rest, form.constant)), (a, equation.value)))


# Polynomials of degree two


def added(parts: Iterable[tuple[Fraction, Polynomial]]) -> Polynomial:
    """The sum of factor * polynomial."""
    total: dict[tuple[str, ...], Fraction] = {}
    for factor, polynomial in parts:
        for monomial, a in polynomial.items():
            total[monomial] = total.get(monomial, Fraction(0)) + factor * a
    return {monomial: a for monomial, a in total.items() if a}


def of_form(form: Form) -> Polynomial:
    """A form as a polynomial."""
    return {(): form.constant} | {(name,): a for name, a in form.coefficients.items()}


def product(left: Form, right: Form) -> Polynomial:
    """The product of two forms."""
    return added(
        (a * b, {tuple(sorted(m + n)): Fraction(1)})
        for m, a in of_form(left).items()
        for n, b in of_form(right).items()
    )


def substituted(polynomial: Polynomial, values: Mapping[str, Form]) -> Polynomial:
    """The polynomial with a form in place of every name."""
    one = Form({}, Fraction(1))
    padded = (((*(values[n] for n in m), one, one)[:2], a) for m, a in polynomial.items())
    return added((a, product(*pair)) for pair, a in padded)


def derivative(
    polynomial: Polynomial, values: Mapping[str, Form], rates: Mapping[str, Form]
) -> Polynomial:
    """By the product rule."""
    one = Form({}, Fraction(1))
    parts: list[tuple[Fraction, Polynomial]] = []
    for monomial, a in polynomial.items():
        for place, name in enumerate(monomial):
            other = [values[n] for k, n in enumerate(monomial) if k != place]
            parts.append((a, product(rates[name], other[0] if other else one)))
    return added(parts)


def _matrix(polynomial: Polynomial) -> list[list[Fraction]]:
    """The symmetric matrix M of the polynomial [1; z]' M [1; z]."""
    names = sorted({name for monomial in polynomial for name in monomial})
    place = {name: i + 1 for i, name in enumerate(names)}
    matrix = [[Fraction(0)] * (len(names) + 1) for _ in range(len(names) + 1)]
    for monomial, a in polynomial.items():
        i, j = [*(place[name] for name in monomial), 0, 0][:2]
        matrix[i][j] += a / 2
        matrix[j][i] += a / 2
    return matrix
