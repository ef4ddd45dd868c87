"""Quadratic functions and ellipsoids as evidence for the kernel.

The kernel takes identities of polynomials that are written out: what is to be shown is a sum of
squares, of products of rows and of multiples of equations. A certificate leaves away what can be
worked out: here equations are used up one after the other, and what remains is written as squares.
An ellipsoid V <= 1 is the function V - 1; its witnesses are factors of functions, and the kernel
looks at the corners of what its flow depends on one bound after the other. Nothing that is done
here needs trust: the kernel checks what comes out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from workbench.models.automaton import primed
from workbench.models.evidence.bounds import Derived, derived_bounds
from workbench.models.evidence.quadratic import (
    Ellipsoid,
    QuadraticInvariant,
    clearance,
    corners,
    dependencies,
)
from workbench.models.evidence.quadratic_function import (
    Equation,
    Polynomial,
    QuadraticFunctions,
    Witness,
    added,
    derivative,
    of_form,
    product,
    replaced,
    solved,
    substituted,
)
from workbench.models.linear import Form, Rows, of_variable
from workbench.models.lowering.normal_form import Data, NormalForm, NotLoweredError, dense, number
from workbench.models.lowering.problem import Dynamics, LinearProblem

_ONE = Form({}, Fraction(1))


def evidence(form: NormalForm, proof: QuadraticFunctions | QuadraticInvariant) -> Data:
    """The evidence of a proof, which is not malformed, about a problem in normal form. If it does
    not prove it, `NotLoweredError` may say why."""
    if isinstance(proof, QuadraticFunctions):
        return _Functions(form, proof).certificate()
    return _Ellipsoids(form, proof).certificate()


def _certificate(form: NormalForm, starts: Data, evidence: Mapping[str, Data]) -> Data:
    """Evidence for the locations that are spoken about, none for the others."""
    return [starts, [[evidence[name]] if name in evidence else [] for name in form.locations]]


# Identities of polynomials


def squares(polynomial: Polynomial) -> Iterator[tuple[Fraction, Form]]:
    """Numbers that are not negative and forms: the polynomial is the sum of the numbers times the
    squares of the forms. `NotLoweredError` if it is no such sum."""
    rest = dict(polynomial)
    while rest:
        name = next((m[0] for m in rest if m), None)
        factor = rest.get((), Fraction(0)) if name is None else rest.get((name, name), Fraction(0))
        if factor <= 0:
            raise NotLoweredError("what is to be shown is no sum of squares")
        root = _ONE if name is None else _slope(rest, name).scaled(1 / (2 * factor))
        yield factor, root
        rest = dict(added(((Fraction(1), rest), (-factor, product(root, root)))))


def _slope(polynomial: Polynomial, name: str) -> Form:
    """The partial derivative of a polynomial."""
    coefficients: dict[str, Fraction] = {}
    constant = Fraction(0)
    for monomial, a in polynomial.items():
        if name in monomial:
            others = [n for n in monomial if n != name]
            if not others and len(monomial) == 1:
                constant = a
            else:
                (other,) = others or [name]
                coefficients[other] = a * (2 if other == name else 1)
    return Form(coefficients, constant)


@dataclass(frozen=True, slots=True)
class _Known:
    """Why an equation holds: multipliers of rows for name - value <= 0, and for the opposite."""

    below: Mapping[int, Fraction]
    above: Mapping[int, Fraction]

    def times(self, factor: Fraction) -> tuple[Fraction, Mapping[int, Fraction]]:
        """Multipliers, with a factor, that show that a multiple of the equation is at most 0."""
        return abs(factor), self.below if factor > 0 else self.above


def _mixed(parts: Iterable[tuple[Fraction, Mapping[int, Fraction]]]) -> dict[int, Fraction]:
    """The sum of multiples of multipliers."""
    total: dict[int, Fraction] = {}
    for factor, multipliers in parts:
        for row, a in multipliers.items():
            total[row] = total.get(row, Fraction(0)) + factor * a
    return total


def _reasons(rows: Rows, equations: Sequence[Equation]) -> Iterator[tuple[Equation, _Known]]:
    """Why each equation holds, where those before it are used."""
    forms = [row.form for row in rows]
    shown: list[dict[int, Fraction]] = [{i: Fraction(1)} for i in range(len(rows))]
    for equation in equations:
        a = forms[equation.row].coefficients[equation.name]
        b = forms[equation.opposite].coefficients[equation.name]
        one, other = (
            _mixed([(1 / abs(factor), shown[i])])
            for factor, i in ((a, equation.row), (b, equation.opposite))
        )
        known = _Known(one, other) if a > 0 else _Known(other, one)
        yield equation, known
        for i, form in enumerate(forms):
            factor = form.coefficients.get(equation.name)
            if factor:
                shown[i] = _mixed([(Fraction(1), shown[i]), known.times(-factor)])
                forms[i] = replaced(form, equation)


class _Written:
    """Witnesses for polynomials that are not negative where some rows hold."""

    def __init__(self, form: NormalForm, rows: Rows, equations: Sequence[Equation] = ()):
        self.form, self.rows = form, rows
        self.known = list(_reasons(rows, equations))

    def witness(
        self,
        polynomial: Polynomial,
        factors: Mapping[int, Fraction],
        linear: Mapping[int, Fraction] | None = None,
        products: Sequence[tuple[int, int, Fraction]] = (),
    ) -> Data:
        """A witness with these factors of functions, and multipliers of rows and of products of
        rows; the polynomial is the difference of functions and goal."""
        linear = linear or {}
        forms = [row.form for row in self.rows]
        rest = added(
            [
                (Fraction(1), polynomial),
                *((a, of_form(forms[j])) for j, a in linear.items()),
                *((-a, product(forms[j], forms[k])) for j, k, a in products),
            ]
        )
        equations = []
        for equation, known in self.known:
            rest, cofactor = _without(rest, equation)
            if cofactor.coefficients or cofactor.constant:
                difference = of_variable(equation.name) - equation.value
                below: Data = [self.form.form(difference), dense(known.below)]
                equations.append([[below, dense(known.above)], self.form.form(cofactor)])
        return [
            dense(factors),
            dense(linear),
            [[[str(j), str(k)], number(a)] for j, k, a in products],
            [[number(a), self.form.form(root)] for a, root in squares(rest)],
            equations,
        ]


def _without(polynomial: Polynomial, equation: Equation) -> tuple[Polynomial, Form]:
    """The polynomial with the value of an equation for its name, and the form l such that the
    polynomial changes by (name - value) * l."""
    name = equation.name
    difference = of_variable(name) - equation.value
    square = polynomial.get((name, name), Fraction(0))
    cofactor = _slope(polynomial, name) - difference.scaled(square)
    change = product(difference, cofactor)
    return added(((Fraction(1), polynomial), (Fraction(-1), change))), cofactor


def _quadratic(parts: Iterable[tuple[Fraction, Form, Form]], form: NormalForm) -> Data:
    """A function of the state as a sum of products."""
    return [[number(a), form.affine(f), form.affine(g)] for a, f, g in parts]


def _after(polynomial: Polynomial) -> Polynomial:
    """A function of the state after a jump."""
    return {tuple(sorted(map(primed, monomial))): a for monomial, a in polynomial.items()}


def _rate(polynomial: Polynomial, dynamics: Dynamics) -> Polynomial:
    """The derivative of a function."""
    names = {name for monomial in polynomial for name in monomial}
    values = {name: of_variable(name) for name in names}
    zero = Form({})
    return derivative(polynomial, values, {n: dynamics.derivative.get(n, zero) for n in names})


# Quadratic functions


class _Functions:
    """Lowers quadratic functions with their witnesses."""

    def __init__(self, form: NormalForm, proof: QuadraticFunctions):
        self.form, self.problem, self.functions = form, form.problem, proof.functions
        self.locations = proof.locations
        self.witnesses = _by_situation(form.problem, proof)

    def certificate(self) -> Data:
        starts = [
            [self._goal(rows, None, location) for rows in cases]
            for location, cases in self.problem.starts()
        ]
        found = {name: self._evidence(name) for name in self.locations}
        bad = {
            name: [self._excluded(rows, name) for rows in self.problem.bad(name)] for name in found
        }
        return _certificate(self.form, starts, {name: [*found[name], bad[name]] for name in found})

    def _evidence(self, location: str) -> list[Data]:
        """Functions, flow and jumps of a location."""
        dynamics = self.problem.dynamics(location)
        flow = [
            [self._rates(case + d.rows, location, d) for d in dynamics]
            for case in self.problem.flowing(location)
        ]
        jumps = [
            [self._goal(rows, location, jump.target) for rows in jump.cases]
            for jump in self.problem.jumps(location)
        ]
        functions = [
            _quadratic(((a, *_factors(m)) for m, a in f[location].items()), self.form)
            for f in self.functions
        ]
        by_function = [[[r[i] for r in row] for row in flow] for i in range(len(functions))]
        return [functions, by_function, jumps]

    def _goal(self, rows: Rows, source: str | None, target: str) -> Data:
        """Why the functions of a target are at most 0."""
        witnesses = next(self.witnesses)
        for witness in witnesses:
            if witness.gap is not None:
                return ["Never", number(witness.gap), self._shown(rows, source, witness, {})]
        if target not in self.locations:
            raise NotLoweredError(f"no function speaks about {target}")
        goals = [_after(function[target]) for function in self.functions]
        shown = [
            self._shown(rows, source, witness, goal)
            for witness, goal in zip(witnesses, goals, strict=True)
        ]
        return ["Below", shown]

    def _rates(self, rows: Rows, location: str, dynamics: Dynamics) -> list[Data]:
        """For each function why it does not rise above 0."""
        found: list[Data] = []
        for i, witness in enumerate(next(self.witnesses)):
            if witness.gap is not None:
                excluded = self._shown(rows, location, witness, {})
                found.append(["NoTime", number(witness.gap), excluded])
            else:
                own = sum((a for j, a in witness.factors if j == i), Fraction(0))
                goal = _rate(self.functions[i][location], dynamics)
                found.append(["Rate", number(own), self._shown(rows, location, witness, goal, i)])
        return found

    def _excluded(self, rows: Rows, location: str) -> Data:
        """Why a bad state does not occur."""
        (witness,) = next(self.witnesses)
        if witness.gap is None:
            raise NotLoweredError("a bad state is not excluded")
        return [number(witness.gap), self._shown(rows, location, witness, {})]

    def _shown(
        self,
        rows: Rows,
        source: str | None,
        witness: Witness,
        goal: Polynomial,
        own: int | None = None,
    ) -> Data:
        """The witness with the numbers that rows have before equations are used; the factor of a
        function's own value has another place."""
        solution = solved(rows)
        named = {j for j, _ in witness.linear} | {i for j, k, _ in witness.products for i in (j, k)}
        functions = range(0 if source is None else len(self.functions))
        if not named <= set(range(len(solution.kept))) or any(
            i not in functions for i, _ in witness.factors
        ):
            raise NotLoweredError("a multiplier is of a row or a function that is not there")
        goal = goal if witness.gap is None else {(): witness.gap}
        parts = [(Fraction(-1), goal)]
        if source is not None:
            parts += [(a, self.functions[i][source]) for i, a in witness.factors]
        places = solution.kept
        return _Written(self.form, rows, solution.equations).witness(
            added(parts),
            _summed((i, a) for i, a in witness.factors if i != own),
            _summed((places[j], a) for j, a in witness.linear),
            [(places[j], places[k], a) for j, k, a in witness.products],
        )


def _by_situation(
    problem: LinearProblem, proof: QuadraticFunctions
) -> Iterator[tuple[Witness, ...]]:
    """The witnesses of each situation, those for all functions together; then those of bad
    states."""
    rounds = len(proof.functions)
    bad = sum(len(problem.bad(name)) for name in proof.locations)
    size = sum(len(cases) for _, cases in problem.starts()) + sum(
        len(problem.flowing(name)) * len(problem.dynamics(name))
        + sum(len(jump.cases) for jump in problem.jumps(name))
        for name in proof.locations
    )
    if len(proof.evidence) != rounds * size + bad:
        raise NotLoweredError("evidence and obligations differ in number")
    for place in range(size):
        yield tuple(proof.evidence[i * size + place] for i in range(rounds))
    for witness in proof.evidence[rounds * size :]:
        yield (witness,)


def _factors(monomial: tuple[str, ...]) -> tuple[Form, Form]:
    """A product of at most two names as one of two forms."""
    first, second = [*map(of_variable, monomial), _ONE, _ONE][:2]
    return first, second


# Ellipsoids


class _Ellipsoids:
    """Lowers ellipsoids: each is a function that is at most 0."""

    def __init__(self, form: NormalForm, proof: QuadraticInvariant):
        self.form, self.problem, self.proof = form, form.problem, proof
        distances = [_distance(proof.variables, ellipsoid) for ellipsoid in proof.ellipsoids]
        self.functions = [
            added(((Fraction(1), distance), (Fraction(-1), {(): Fraction(1)})))
            for distance in distances
        ]
        parts = (
            [*((a, root, root) for a, root in squares(distance)), (Fraction(-1), _ONE, _ONE)]
            for distance in distances
        )
        self.data = [_quadratic(part, form) for part in parts]

    def certificate(self) -> Data:
        starts = [[self._start(rows) for rows in cases] for _, cases in self.problem.starts()]
        return _certificate(
            self.form, starts, {name: self._evidence(name) for name in self.proof.locations}
        )

    def _evidence(self, location: str) -> Data:
        numbers = range(len(self.functions))
        flow = [
            [
                [self._flow(i, location, case, d) for d in self.problem.dynamics(location)]
                for case in self.problem.flowing(location)
            ]
            for i in numbers
        ]
        jumps = [[self._jump(rows) for rows in jump.cases] for jump in self.problem.jumps(location)]
        bad = [self._excluded(rows) for rows in self.problem.bad(location)]
        return [self.data, flow, jumps, bad]

    def _start(self, rows: Rows) -> Data:
        """Why initial states lie in the ellipsoids: the corners of a box around them do."""
        if corners(rows, [primed(name) for name in self.proof.variables]) is None:
            raise NotLoweredError("starts have no bounds, or too many corners")
        bounds = derived_bounds(rows)
        box: dict[int, Data] = {}
        for name in self.proof.variables:
            low, high = _both(bounds.get(primed(name)))
            if low.value > high.value:
                gap, written = self._contradiction(rows, low, high)
                return ["Never", gap, written]
            box[self.form.states.index(name)] = [_bound(low, high)]
        return ["AtCorners", [box.get(i, []) for i in range(max(box, default=-1) + 1)]]

    def _flow(self, function: int, location: str, case: Rows, dynamics: Dynamics) -> Data:
        """Why flow does not leave an ellipsoid: shown at the ends of all that it depends on."""
        rows = case + dynamics.rows
        bounds = derived_bounds(rows)
        ellipsoid = self.proof.ellipsoids[function]
        witness = ellipsoid.witnesses[location]
        outside = dependencies(dynamics, self.proof.variables)
        if corners(rows, outside) is None:
            raise NotLoweredError("what the flow depends on has no bounds, or too many corners")
        written = _Written(self.form, rows)
        earlier = dict(enumerate(witness.earlier))
        known = added(
            [
                (-witness.alpha, self.functions[function]),
                *((t, self.functions[i]) for i, t in earlier.items()),
            ]
        )
        goal = _rate(self.functions[function], dynamics)

        def at_ends(names: Sequence[str], goal: Polynomial) -> Data:
            if not names:
                rest = added(((Fraction(1), known), (Fraction(-1), goal)))
                return ["Rate", number(-witness.alpha), written.witness(rest, earlier)]
            name, *others = names
            low, high = _both(bounds.get(name))
            if low.value > high.value:
                gap, contradiction = self._contradiction(rows, low, high)
                return ["NoTime", gap, contradiction]
            values = (Form({}, low.value), Form({}, high.value))
            ends = [at_ends(others, _with_value(goal, name, value)) for value in values]
            return ["Ends", self.form.variable(name), _bound(low, high), *ends]

        return at_ends(outside, goal)

    def _jump(self, rows: Rows) -> Data:
        """Why a jump stays in the ellipsoids: it changes none of their variables."""
        written = _Written(self.form, rows, solved(rows).equations)
        found = []
        for i, function in enumerate(self.functions):
            change = added(((Fraction(1), function), (Fraction(-1), _after(function))))
            found.append(written.witness(change, {i: Fraction(1)}))
        return ["Below", found]

    def _excluded(self, rows: Rows) -> Data:
        """Why bad states are in none of the ellipsoids: some row f <= 0 holds nowhere in one of
        them, as f and a multiple of the function are together above 0."""
        for i, ellipsoid in enumerate(self.proof.ellipsoids):
            for j, row in enumerate(rows):
                found = clearance(ellipsoid, self.proof.variables, row)
                if found is not None:
                    at_center, gap = found
                    factor = at_center / 2
                    rest = added(((factor, self.functions[i]), (Fraction(-1), {(): gap})))
                    written = _Written(self.form, rows)
                    return [number(gap), written.witness(rest, {i: factor}, {j: Fraction(1)})]
        raise NotLoweredError("a bad state is not excluded")

    def _contradiction(self, rows: Rows, low: Derived, high: Derived) -> tuple[Data, Data]:
        """Why rows have no solution: a lower bound of theirs is above an upper one."""
        gap = low.value - high.value
        linear = _mixed([(Fraction(1), low.multipliers), (Fraction(1), high.multipliers)])
        return number(gap), _Written(self.form, rows).witness({(): -gap}, {}, linear)


def _distance(variables: Sequence[str], ellipsoid: Ellipsoid) -> Polynomial:
    """(x - c)' P (x - c)."""
    away = [
        of_variable(name) - Form({}, c) for name, c in zip(variables, ellipsoid.center, strict=True)
    ]
    return added(
        (a, product(one, other))
        for one, line in zip(away, ellipsoid.shape, strict=True)
        for other, a in zip(away, line, strict=True)
    )


def _with_value(polynomial: Polynomial, name: str, value: Form) -> Polynomial:
    """The polynomial with a number for a name."""
    names = {n for monomial in polynomial for n in monomial}
    return substituted(polynomial, {n: value if n == name else of_variable(n) for n in names})


def _both(sides: tuple[Derived | None, Derived | None] | None) -> tuple[Derived, Derived]:
    low, high = sides or (None, None)
    if low is None or high is None:
        raise NotLoweredError("no bounds are known of what an ellipsoid depends on")
    return low, high


def _bound(low: Derived, high: Derived) -> Data:
    """Bounds with the multipliers of rows that show them."""
    return [
        [[number(low.value), number(high.value)], dense(low.multipliers)],
        dense(high.multipliers),
    ]


def _summed(parts: Iterable[tuple[int, Fraction]]) -> dict[int, Fraction]:
    return _mixed((a, {i: Fraction(1)}) for i, a in parts)
