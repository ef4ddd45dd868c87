"""Evidence that runs go on (`models.evidence.progress`) in the kernel's form; it needs no trust."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from workbench.models.automaton import TIME
from workbench.models.checker.progress import FirstState, Value
from workbench.models.evidence import kernel_polyhedral
from workbench.models.evidence.polyhedral import PolyhedralProof, mentions_time
from workbench.models.evidence.progress import (
    Falling,
    Inside,
    Nowhere,
    ProgressProof,
    Round,
    Soon,
    Take,
    Under,
    Wait,
    Way,
)
from workbench.models.linear import Form, Multipliers, Row
from workbench.models.lowering.narrow import NarrowView, reaching, system
from workbench.models.lowering.normal_form import Data, NormalForm, NotLoweredError, dense, number
from workbench.models.lowering.problem import LinearProblem


def lowered(problem: LinearProblem, proof: ProgressProof[Any]) -> tuple[NormalForm, Data, Data]:
    """The normal form, the problem of progress, and the kernel's evidence for it."""
    going = proof.going_on
    if going is None:
        raise NotLoweredError("no evidence was found from which the kernel sees that runs go on")
    view = reaching(problem)
    found = PolyhedralProof(going.regions, going.evidence)
    form = NormalForm(
        view.with_clock if mentions_time(going.regions) else view,
        (region.location for region in going.regions),
    )
    reachable = kernel_polyhedral.evidence(form, found)
    content = system(form)
    ways: dict[str, list[Data]] = {name: [] for name in form.locations}
    for region, chosen in zip(going.regions, going.ways, strict=True):
        writer = _Ways(form, region.location)
        ways[region.location].append([writer.way(way) for way in chosen])
    first = _first(form, NarrowView(form.problem), proof.start)
    return form, content, [reachable, first, list(ways.values())]


class _Ways:
    """Writes the ways of a location."""

    def __init__(self, form: NormalForm, location: str):
        self.form = form
        view = NarrowView(form.problem)
        self.dynamics = list(view.dynamics(location))

    def way(self, way: Way) -> Data:
        """A way as the kernel takes it."""
        if isinstance(way, Nowhere):
            return ["Nowhere", _multipliers(way.multipliers)]
        if isinstance(way, Wait):
            names = {name: i for i, name in enumerate(self.form.inputs)}
            chosen = {names[name]: form for name, form in way.chosen.items() if name in names}
            inputs = [chosen.get(i, Form({})) for i in range(max(chosen, default=-1) + 1)]
            return [
                "Wait",
                str(way.now),
                [_multipliers(m) for m in way.proofs],
                str(way.case),
                str(way.flow),
                [self.form.form(form) for form in inputs],
                [self._soon(soon) for soon in way.rows],
            ]
        if isinstance(way, Take):
            after = [self.form.form(way.after[name]) for name in self.form.states]
            proofs = [_multipliers(m) for m in way.proofs]
            change: Data = []
            if way.change is not None:
                name, why = way.change
                change = [[str(self.form.states.index(name)), _multipliers(why)]]
            return ["Take", str(way.jump), str(way.case), after, [], proofs, change]
        below, above = self.way(way.below), self.way(way.above)
        if isinstance(way, Round):
            return ["Round", self.form.affine(way.form), below, above]
        return ["Choose", self.form.affine(way.form), way.strict_below, below, above]

    def _soon(self, soon: Soon) -> Data:
        if isinstance(soon, Inside):
            return ["Inside", _multipliers(soon.multipliers)]
        if isinstance(soon, Falling):
            return ["Falling", _multipliers(soon.multipliers), self._soon(soon.slope)]
        if isinstance(soon, Under):
            why = _multipliers(soon.multipliers)
            return ["Under", self.form.affine(soon.top), why, self._soon(soon.reason)]
        return [
            "Kept",
            [self.form.affine(form) for form in soon.family],
            [_multipliers(m) for m in soon.now],
            [["Inward", number(mu), *map(_multipliers, given)] for mu, *given in soon.ever],
            _multipliers(soon.multipliers),
        ]


def _multipliers(given: Multipliers) -> Data:
    return dense(dict(given))


def _first(form: NormalForm, view: NarrowView, start: FirstState) -> Data:
    """The first state, with the start and the case that it satisfies."""
    types = form.problem.types
    before, after = (
        {name: _as_number(value, types.get(name)) for name, value in values.items()} | {TIME: 0}
        for values in (start.before, start.after)
    )
    named = before | {f"{name}'": value for name, value in after.items()}
    known = {name: Fraction(value) for name, value in named.items()}
    for place, (location, cases) in enumerate(view.starts()):
        for case, rows in enumerate(cases):
            if location == start.location and all(_holds(row, known) for row in rows):
                values = [
                    [number(Fraction(given.get(name, 0))) for name in names]
                    for given, names in (
                        (before, form.states),
                        (after, form.states),
                        (after, form.inputs),
                    )
                ]
                return [str(place), str(case), *values]
    raise NotLoweredError("that a run starts in the first state cannot be said in rows")


def _holds(row: Row, values: Mapping[str, Fraction]) -> bool:
    form = row.form
    value = form.constant + sum(a * values[name] for name, a in form.coefficients.items())
    return value < 0 if row.strict else value <= 0


def _as_number(value: Value, kind: Any) -> Fraction | int:
    """A value as rows have it."""
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, str):
        return kind.values.index(value) if kind is not None and value in kind.values else 0
    return value


def leaves(ways: Sequence[Any]) -> int:
    """How many cases there are in ways as the kernel takes them."""
    pending, found = list(ways), 0
    while pending:
        way = pending.pop()
        if way[0] in ("Choose", "Round"):
            pending += way[-2:]
        else:
            found += 1
    return found
