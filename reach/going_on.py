"""Finding why runs go on, as the kernel wants to know it (`models.evidence.progress`).

Where runs come is known from a polyhedral proof, or is all that invariants allow. In each cell of
it a way is looked for: time that passes with one of the flows, or a jump. Where a condition of a
way holds in a part of the cell only, the cell is split there, and both parts are looked at. That a
form is at most 0 in a cell, or below it, is a small linear program, as in `reach.evidence`. What is
found is checked by the kernel.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import chain, islice, product
from math import ceil, floor, gcd
from typing import TypeAlias

from workbench.models.automaton import BOOL, INT, Constraint
from workbench.models.checker.covers import Region
from workbench.models.evidence.kernel_polyhedral import borders
from workbench.models.evidence.polyhedral import mentions_time
from workbench.models.evidence.progress import (
    Choose,
    Falling,
    GoingOn,
    Held,
    Inside,
    Nowhere,
    Round,
    Soon,
    Take,
    Under,
    Wait,
    Way,
)
from workbench.models.expressions.expression import Expression
from workbench.models.linear import Form, Multipliers, Row, Rows, affine, combination
from workbench.models.lowering.alternatives import TooManyCasesError
from workbench.models.lowering.narrow import NarrowView, reaching, whole_names
from workbench.models.lowering.pieces import branches_of, innermost_piece, with_branch
from workbench.models.lowering.problem import Dynamics, LinearProblem
from workbench.reach.combinations import Combinations
from workbench.reach.evidence import Unproved, prove

MOST_CASES = 400
"""A cell is split into so many parts at most."""
MOST_CHOICES_ON_A_WAY = 100
"""As many as the kernel takes inside each other."""
MOST_LOCATIONS = 200
MOST_CELLS = 64
"""Of a region; invariants may split those that it has."""
MOST_DERIVATIVES = 8
"""So many derivatives of a form are looked at."""
MOST_CHOICES = 12
"""Of derivatives that lie in ranges, and of values after a jump."""

_ZERO, _ONE = Form({}), Form({}, Fraction(1))


def going_on(
    problem: LinearProblem,
    regions: Sequence[Region] = (),
    stop: Callable[[], bool] = lambda: False,
) -> GoingOn | None:
    """Evidence that runs of the view go on, within the regions of a proof or, without any, within
    the invariants; None if none is found."""
    view = reaching(problem)
    if mentions_time(tuple(regions)):
        view = view.with_clock
    for with_types in (False, True):
        try:
            return _going_on(view, regions, with_types, stop)
        except TooManyCasesError:
            return None
        except _NotFoundError:
            if not any(not kind.is_numeric for kind in view.types.values()):
                return None
    return None


def _going_on(
    view: LinearProblem, regions: Sequence[Region], with_types: bool, stop: Callable[[], bool]
) -> GoingOn:
    """The evidence, by what truth values and symbols may be, too, or without that."""
    places = regions or [Region(name, (), ((),)) for name in _reached(view)]
    narrowed = tuple(_within_invariant(view, region, with_types) for region in places)
    proof = prove(view, narrowed, stop)
    if isinstance(proof, Unproved):
        raise _NotFoundError
    ways = []
    for region in narrowed:
        search = _Search(NarrowView(view), region.location, stop)
        cells = range(len(region.cells))
        ways.append(tuple(search.way(borders(region, cell)) for cell in cells))
    return GoingOn(narrowed, proof.evidence, tuple(ways))


class _NotFoundError(Exception):
    """No evidence was found."""


def _reached(view: LinearProblem) -> list[str]:
    """The locations to which edges lead."""
    pending = list(dict.fromkeys(name for name, _ in view.starts()))
    found = dict.fromkeys(pending)
    while pending:
        for jump in view.jumps(pending.pop()):
            if jump.cases and jump.target not in found:
                found[jump.target] = None
                pending.append(jump.target)
        if len(found) > MOST_LOCATIONS:
            raise _NotFoundError
    return list(found)


def _within_invariant(view: LinearProblem, region: Region, with_types: bool) -> Region:
    """The part of a region within the invariant of its location, and within the values that truth
    values and symbols have."""
    cases = [
        [row.form for row in rows if row.form.coefficients.keys() <= view.names]
        for rows in view.invariant(region.location)
    ]
    cases = [[form for form in forms if form.coefficients] for forms in cases]
    always = [form for form in cases[0] if all(form in other for other in cases)] if cases else []
    if with_types:
        for name in sorted(view.types.keys() & view.names):
            kind, form = view.types[name], Form({name: Fraction(1)})
            if not kind.is_numeric:
                last = 1 if kind == BOOL else len(kind.values) - 1
                always += [-form, form - Form({}, Fraction(last))]
    known = region.parts or ((),) * len(region.cells)
    parts = tuple((*part, *(f for f in always if f not in part)) for part in known)
    forms: list[Form] = []
    wanted = []
    for own in cases:
        signs: dict[int, int] = {}
        for form in own:
            if form not in always:
                if form not in forms and -form not in forms:
                    forms.append(form)
                place = forms.index(form if form in forms else -form)
                signs[place] = 1 if form in forms else -1
        wanted.append(signs.items())
    if not forms:
        return replace(region, parts=parts)
    if region.exits or len(region.cells) * 2 ** len(forms) > 16 * MOST_CELLS:
        raise _NotFoundError
    cells, kept = [], []
    for cell, part in zip(region.cells, parts, strict=True):
        for more in product((1, -1), repeat=len(forms)):
            if any(own <= set(enumerate(more)) for own in wanted):
                cells.append((*cell, *more))
                kept.append(part)
    if len(cells) > MOST_CELLS:
        raise _NotFoundError
    return replace(
        region, predicates=(*region.predicates, *forms), cells=tuple(cells), parts=tuple(kept)
    )


@dataclass(frozen=True, slots=True)
class _Where:
    """A condition holds where a form is at most 0, or below it; elsewhere it does not."""

    form: Form
    strict: bool


class _Never:
    """A condition does not hold anywhere in these states."""


_NEVER = _Never()
Missing: TypeAlias = _Where | _Never


class _States:
    """Rows, and what follows from them."""

    def __init__(self, rows: Rows, bounds: Rows, inputs: Set[str]):
        self.rows, self.bounds, self.inputs = rows, bounds, inputs
        self.last = len(rows) + len(bounds)
        self._said = {_direction(row.form): i for i, row in reversed(list(enumerate(rows)))}
        self._known: dict[tuple[object, bool], Multipliers | None] = {}
        self._combinations = Combinations(rows)
        self._bounded = Combinations((*rows, *bounds)) if bounds else self._combinations

    def refuted(self) -> Multipliers | None:
        """Multipliers that show that there are none."""
        return self._combinations.refutation()

    def at_most(self, form: Form) -> Multipliers | None:
        """Multipliers that show that a form is at most 0."""
        if not form.coefficients:
            return () if form.constant <= 0 else None
        return self._looked_up(form, False)

    def below(self, form: Form) -> Multipliers | None:
        """Multipliers, with one for the opposite at the end, that show that it is below 0."""
        if not form.coefficients:
            return ((self.last, Fraction(1)),) if form.constant < 0 else None
        return self._looked_up(form, True)

    def top(self, form: Form) -> tuple[Form, Multipliers] | None:
        """The least form without inputs that is at least the given one within their bounds, with
        the multipliers of the bounds that show it; None if there is none."""
        why: dict[int, Fraction] = {}
        for name, a in form.coefficients.items():
            if name in self.inputs:
                for place, row in enumerate(self.bounds):
                    b = row.form.coefficients.get(name)
                    if b is not None and (b > 0) == (a > 0):
                        why[place] = a / b
        parts = [(-factor, self.bounds[place].form) for place, factor in why.items()]
        found = combination([(Fraction(1), form), *parts])
        if not self.inputs.isdisjoint(found.coefficients):
            return None
        return found, tuple(sorted(why.items()))

    def _looked_up(self, form: Form, strict: bool) -> Multipliers | None:
        key = (tuple(sorted(form.coefficients.items())), form.constant), strict
        if key not in self._known:
            self._known[key] = self._found(form, strict)
        return self._known[key]

    def _found(self, form: Form, strict: bool) -> Multipliers | None:
        place = self._said.get(_direction(form))
        if place is not None:
            row = self.rows[place]
            factor = _size(form) / _size(row.form)
            slack = form.constant - row.form.constant * factor
            if slack < 0 or (slack == 0 and (row.strict or not strict)):
                if not strict:
                    return ((place, factor),)
                return ((place, factor), (self.last, Fraction(1)))
        if strict:
            return Combinations((*self.rows, *self.bounds, Row(-form))).refutation()
        is_free = self.inputs.isdisjoint(form.coefficients)
        return (self._combinations if is_free else self._bounded).implication(form)


def _size(form: Form) -> Fraction:
    return abs(form.coefficients[min(form.coefficients)]) if form.coefficients else Fraction(1)


def _direction(form: Form) -> object:
    size = _size(form)
    return tuple(sorted((name, a / size) for name, a in form.coefficients.items()))


class _Search:
    """Looks for ways in a location."""

    def __init__(self, view: NarrowView, location: str, stop: Callable[[], bool]):
        self.location, self.stop = location, stop
        self.names = view.problem.names
        self.types = view.problem.types
        self.whole = set(whole_names(view.problem))
        self.cases = view.waiting(location)
        self.bounds = view.bounds()
        self.inputs = {u.name for u in view.problem.automaton.inputs}
        self.flows = [
            (number, dynamics, chosen)
            for number, dynamics in enumerate(view.dynamics(location))
            for chosen in islice(_chosen(dynamics), MOST_CHOICES)
        ]
        self.jumps = [
            (number, jump.target, case, rows, after)
            for number, jump in enumerate(view.jumps(location))
            for case, rows in enumerate(jump.cases)
            for after in islice(self._landings(jump.resets), MOST_CHOICES)
        ]
        self.left = MOST_CASES

    def way(self, rows: Rows, depth: int = 0) -> Way:
        """A way for all states where rows hold, after so many choices."""
        self.left -= 1
        if self.left < 0 or depth > MOST_CHOICES_ON_A_WAY or self.stop():
            raise _NotFoundError
        states = _States(rows, self.bounds, self.inputs)
        if (nothing := states.refuted()) is not None:
            return Nowhere(nothing)
        missing: _Where | None = None
        for option in chain(self._waits(states), self._takes(states)):
            if isinstance(option, _Where):
                missing = missing or option
            elif not isinstance(option, _Never):
                return option
        if missing is None:
            raise _NotFoundError
        h, strict = missing.form, missing.strict
        if h.coefficients.keys() <= self.whole:
            h = _rounded(h, strict)
            below = self.way((*rows, Row(h)), depth + 1)
            return Round(h, below, self.way((*rows, Row(_ONE - h)), depth + 1))
        below = self.way((*rows, Row(h, strict)), depth + 1)
        return Choose(h, strict, below, self.way((*rows, Row(-h, not strict)), depth + 1))

    # Time

    def _waits(self, states: _States) -> Iterator[Way | Missing]:
        for case, rows in enumerate(self.cases):
            for flow, dynamics, chosen in self.flows:
                yield self._wait(states, case, rows, flow, dynamics, chosen)

    def _wait(
        self,
        states: _States,
        case: int,
        rows: Rows,
        flow: int,
        dynamics: Dynamics,
        chosen: Mapping[str, Form],
    ) -> Way | Missing:
        speed = {n: _filled(form, chosen) for n, form in dynamics.derivative.items()}
        found = []
        missing: _Where | None = None
        for row in (*rows, *dynamics.rows):
            form = _filled(row.form, chosen)
            soon = self._soon(states, speed, form, row.strict, MOST_DERIVATIVES)
            if isinstance(soon, _Never):
                return soon
            if isinstance(soon, _Where):
                missing = missing or soon
            else:
                found.append(soon)
        if missing is not None:
            return missing
        now = self._now(states, case)
        if isinstance(now, _Where | _Never):
            return now
        return Wait(*now, case, flow, dict(chosen), tuple(found))

    def _now(self, states: _States, first: int) -> tuple[int, tuple[Multipliers, ...]] | Missing:
        """A case of the invariant that holds now."""
        missing: Missing = _NEVER
        for case in (first, *(i for i in range(len(self.cases)) if i != first)):
            proofs = _all_hold(states, self.cases[case])
            if isinstance(proofs, tuple):
                return case, proofs
            if isinstance(missing, _Never):
                missing = proofs
        return missing

    def _soon(
        self, states: _States, speed: Mapping[str, Form], form: Form, strict: bool, depth: int
    ) -> Soon | Missing:
        """Why a form is at most 0 for a while, or below it."""
        if not form.coefficients and form.constant == 0:
            return _NEVER if strict else Held((), (), (), ())
        if (inside := states.below(form)) is not None:
            return Inside(inside)
        if not self.inputs.isdisjoint(form.coefficients):
            top = states.top(form)
            reason = self._soon(states, speed, top[0], strict, depth) if top else _NEVER
            if top is None or isinstance(reason, _Where | _Never):
                return reason
            return Under(*top, reason)
        now = states.at_most(form)
        if now is None:
            return _NEVER if states.below(-form) is not None else _Where(form, strict=False)
        slope = _along(speed, form)
        further = self._soon(states, speed, slope, strict, depth - 1) if depth else _NEVER
        if not isinstance(further, _Where | _Never):
            return Falling(now, further)
        if states.at_most(-form) is None:
            return _Where(form, strict=True)
        return (None if strict else self._held(states, speed, form)) or further

    def _held(self, states: _States, speed: Mapping[str, Form], form: Form) -> Held | None:
        """A family of forms that flow never leaves: a form and its derivatives, or these and their
        opposites."""
        for signs in ((1,), (1, -1)):
            family: list[Form] = []
            now: list[Multipliers] = []
            following = form
            for _ in range(MOST_DERIVATIVES):
                for side in (following.scaled(Fraction(sign)) for sign in signs):
                    if (why := states.at_most(side)) is not None:
                        family.append(side)
                        now.append(why)
                if (ever := self._inward(family, speed)) is not None:
                    rows = [*map(Row, family), *self.bounds]
                    shown = Combinations(rows).implication(form)
                    if shown is not None:
                        return Held(tuple(family), tuple(now), ever, shown)
                following = _along(speed, following)
                if not following.coefficients or not self.inputs.isdisjoint(following.coefficients):
                    break
        return None

    def _inward(
        self, family: Sequence[Form], speed: Mapping[str, Form]
    ) -> tuple[tuple[Fraction, Multipliers, Multipliers], ...] | None:
        """By what multiples of a family, and of the bounds, each derivative points inward."""
        size = len(family)
        combinations = Combinations([*map(Row, family), *self.bounds])
        found = []
        for own, form in enumerate(family):
            why = combinations.identity(_along(speed, form), own)
            if why is None:
                return None
            mu, given = why
            others = tuple((i - size, a) for i, a in given if i >= size)
            found.append((mu, tuple((i, a) for i, a in given if i < size), others))
        return tuple(found)

    # Jumps

    def _takes(self, states: _States) -> Iterator[Way | Missing]:
        for number, target, case, rows, after in self.jumps:
            yield self._take(states, number, target, case, rows, after)

    def _take(
        self,
        states: _States,
        number: int,
        target: str,
        case: int,
        rows: Rows,
        after: Mapping[str, Form],
    ) -> Way | Missing:
        primed = {f"{name}'": form for name, form in after.items()}
        proofs = _all_hold(states, [Row(_filled(r.form, primed), r.strict) for r in rows])
        if not isinstance(proofs, tuple):
            return proofs
        if target != self.location:
            return Take(number, case, dict(after), proofs, None)
        missing: Missing = _NEVER
        for name, form in after.items():
            change = form - Form({name: Fraction(1)})
            if not change.coefficients and not change.constant:
                continue
            same = (*states.rows, *states.bounds, Row(change), Row(-change))
            why = Combinations(same).refutation()
            if why is not None:
                return Take(number, case, dict(after), proofs, (name, why))
            if not self.inputs.isdisjoint(change.coefficients):
                continue
            if states.at_most(-change) is None:
                missing = _Where(change, strict=True)
            elif states.at_most(change) is None:
                missing = _Where(-change, strict=True)
        return missing

    def _landings(self, resets: Sequence[Constraint]) -> Iterator[Mapping[str, Form]]:
        """Values after a jump, for some choices of those that are left open."""
        options = [list(self._values(reset)) for reset in resets]
        for chosen in product(*options):
            after = {name: Form({name: Fraction(1)}) for name in self.names}
            for reset, form in zip(resets, chosen, strict=True):
                primed = {f"{name}'": value for name, value in after.items()}
                after[reset.variable] = _filled(form, primed)
            yield after

    def _values(self, reset: Constraint) -> Iterator[Form]:
        kind = self.types.get(reset.variable)
        if kind is not None and not kind.is_numeric:
            for value in range(2 if kind == BOOL else len(kind.values)):
                yield Form({}, Fraction(value))
            return
        if reset.range.exact is not None:
            yield from self._pieces(reset.range.exact)
            return
        bounds = [b for b in (reset.range.low, reset.range.high) if b is not None]
        found = [form for bound in bounds for form in self._pieces(bound)]
        if kind == INT:
            yield from found[:1]
        else:
            yield from found
            if len(found) == 2:
                yield combination((Fraction(1, 2), form) for form in found)
        if not bounds:
            yield Form({reset.variable: Fraction(1)})
            yield _ZERO

    def _pieces(self, value: Expression) -> Iterator[Form]:
        """The affine values of a piecewise one, or itself."""
        pending = [value]
        while pending:
            value = pending.pop()
            piece = innermost_piece((value,), self.types)
            if piece is not None:
                pending += [with_branch(value, piece, one) for _, one in branches_of(piece)]
            elif (form := affine(value)) is not None:
                yield form


def _all_hold(states: _States, rows: Sequence[Row]) -> tuple[Multipliers, ...] | Missing:
    """Why rows hold."""
    proofs = []
    missing: _Where | None = None
    for row in rows:
        found = states.below(row.form) if row.strict else states.at_most(row.form)
        if found is not None:
            proofs.append(found)
            continue
        top = states.top(row.form)
        if top is None:
            return _NEVER
        form, _ = top
        if (states.at_most(-form) if row.strict else states.below(-form)) is not None:
            return _NEVER
        missing = missing or _Where(form, row.strict)
    return tuple(proofs) if missing is None else missing


def _rounded(form: Form, strict: bool) -> Form:
    """A whole form that is at most 0 where one over whole numbers is so, or below it."""
    _, numerators, _ = form.integral
    scaled = form.scaled(Fraction(1) / gcd(*numerators.values())).scaled(Fraction(form.integral[0]))
    bound = -scaled.constant
    limit = ceil(bound) - 1 if strict else floor(bound)
    return Form(scaled.coefficients, Fraction(-limit))


def _filled(form: Form, values: Mapping[str, Form]) -> Form:
    """A form with forms in place of names."""
    if values.keys().isdisjoint(form.coefficients):
        return form
    parts = [(a, values.get(n, Form({n: Fraction(1)}))) for n, a in form.coefficients.items()]
    return combination([*parts, (form.constant, _ONE)])


def _chosen(dynamics: Dynamics) -> Iterator[Mapping[str, Form]]:
    """Values of the derivatives that lie in ranges: 0, the middle, then the bounds."""
    own = {name for form in dynamics.derivative.values() for name in form.coefficients}
    names = sorted(n for n in own if n.startswith("d("))
    options = []
    for name in names:
        ends: dict[bool, Form] = {}
        for row in dynamics.rows:
            a = row.form.coefficients.get(name)
            if a is not None:
                unknown = Form({name: Fraction(1)})
                ends[a > 0] = unknown - row.form.scaled(1 / a)
        if len(ends) == 2:
            middle = combination((Fraction(1, 2), end) for end in ends.values())
            options.append([_ZERO, middle, *ends.values()])
        elif ends:
            ((above, end),) = ends.items()
            options.append([_ZERO, end, end - _ONE if above else end + _ONE])
        else:
            options.append([_ZERO, _ONE, -_ONE])
    for values in product(*options):
        yield dict(zip(names, values, strict=True))


def _along(speed: Mapping[str, Form], form: Form) -> Form:
    """The derivative of a form."""
    return combination((a, speed.get(n, _ZERO)) for n, a in form.coefficients.items())
