"""The geometry of abstract states: cells of predicates, decided by linear programs and z3.

A cell of a location is a sign vector s over the location's predicates, the set of states with
s_p h_p <= 0 for all p within the invariant. `Cells` answers, untrusted: which cells meet a set
(walking a binary space partition: a predicate that the set does not cross is not branched on),
which facets the flow crosses outwards, and where switches lead. Linear programs in floating
point decide what is clear; where their answer is within their tolerance, as it is for sets that
only touch, the exact rows decide (`zone_solver`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from workbench.abstraction.predicates.predicates import Predicate
from workbench.abstraction.predicates.zone_solver import ZoneSolver, closed, sides
from workbench.abstraction.templates.sampled_runs import SampledRuns
from workbench.abstraction.templates.system import Array, Flow, Polyhedron, Switch, TemplateSystem
from workbench.models.automaton import primed
from workbench.models.linear import Form, Row, combination
from workbench.models.smt.rows import RowSession
from workbench.reach.sets.support import SupportOracle

Signs = tuple[int, ...]

CLOSE = 1e-7
"""What a linear program says about a hyperplane is clear if it is further from it than this, in
the hyperplane's units; otherwise exact arithmetic decides."""


@dataclass(frozen=True)
class AbstractState:
    """A location and one sign for each of its predicates."""

    location: str
    signs: Signs


@dataclass(frozen=True)
class Effort:
    """How many linear programs were solved, and how many exact questions z3 answered."""

    programs: int = 0
    exact: int = 0

    def __add__(self, other: Effort) -> Effort:
        return Effort(self.programs + other.programs, self.exact + other.exact)


@dataclass
class _Zone:
    """A polyhedron over (x, ...) that can be restricted to cells of the x part at
    `offsets[k]`: rows for both sides of every predicate, switched on by their bounds."""

    oracle: SupportOracle
    bound: Array
    normals: Array
    levels: Array
    columns: int
    exact: ZoneSolver


class Cells:
    """Cells of every location of a system for a given set of predicates."""

    def __init__(
        self,
        system: TemplateSystem,
        predicates: tuple[Predicate, ...],
        runs: SampledRuns | None = None,
    ):
        self.system = system
        self.predicates = {
            location: tuple(
                p.form for p in predicates if p.location is None or p.location == location
            )
            for location in system.locations
        }
        self._programs = 0
        self._session = RowSession()
        self._planes = {
            location: _planes(system.names, forms) for location, forms in self.predicates.items()
        }
        self._runs = runs
        self._usual: dict[str, Signs] = {}
        self._implied: dict[str, Signs] = {}
        self._zones: dict[tuple[str, int], _Zone] = {}
        self._bad_sets = [ZoneSolver(self._session, bad.rows) for _, bad in system.bad]
        self._crossings: dict[AbstractState, frozenset[int]] = {}
        self._leaps: dict[AbstractState, tuple[tuple[AbstractState, int], ...]] = {}

    @property
    def effort(self) -> Effort:
        """What was computed so far."""
        return Effort(self._programs, self._session.calls)

    # Which cells meet a set

    def initial(self) -> Iterator[AbstractState]:
        """The cells that meet the initial states."""
        for k, start in enumerate(self.system.starts):
            zone = self._relation_zone(("start", k), start.relation, None, start.location)
            yield from self._meeting(zone, start.location, 0, zone.bound.copy())

    def switched(self, state: AbstractState) -> tuple[tuple[AbstractState, int], ...]:
        """The cells that switches lead to, with the number of the switch."""
        if state not in self._leaps:
            self._leaps[state] = tuple(self._switched(state))
        return self._leaps[state]

    def _switched(self, state: AbstractState) -> Iterator[tuple[AbstractState, int]]:
        for k, switch in enumerate(self.system.switches):
            if switch.source != state.location:
                continue
            zone = self._switch_zone(k, switch)
            before = 2 * len(state.signs)
            bound = zone.bound.copy()
            _restrict(bound, 0, self._planes[state.location][1], state.signs)
            cell = sides(self.predicates[state.location], state.signs)
            for found in self._meeting(zone, switch.target, before, bound, cell):
                yield found, k

    def meeting(self, relation: Polyhedron, location: str) -> Iterator[AbstractState]:
        """The cells that meet the states x' of a relation over (x, x', rest)."""
        zone = self._new_relation_zone(relation, None, location)
        yield from self._meeting(zone, location, 0, zone.bound.copy())

    def _meeting(
        self, zone: _Zone, location: str, first: int, bound: Array, source: Sequence[Row] = ()
    ) -> Iterator[AbstractState]:
        """Depth first over the predicates; `first` is where the zone's rows of the target's
        predicates begin, `source` the exact rows of the cell that is left."""
        after = {name: primed(name) for name in self.system.names}
        forms = [form.renamed(after) for form in self.predicates[location]]
        pending: list[tuple[Signs, Array]] = [((), bound)]
        while pending:
            signs, rows = pending.pop()
            zone.oracle.rebound(rows)
            nothing = not signs and self._support(zone, np.zeros(zone.columns)) is None
            if nothing or (not signs and not zone.exact.meets(source)):
                continue
            p = len(signs)
            if p == len(zone.levels):
                yield AbstractState(location, signs)
                continue
            cell = [*source, *sides(forms, signs)]
            for sign in self._sides_met(zone, location, p, forms[p], cell):
                following = rows.copy()
                following[first + 2 * p + (0 if sign > 0 else 1)] = sign * zone.levels[p]
                pending.append(((*signs, sign), following))

    def _sides_met(
        self, zone: _Zone, location: str, p: int, form: Form, cell: list[Row]
    ) -> list[int]:
        """On which sides of a predicate the zone has states of the cell. What lies in the
        hyperplane belongs to both sides, and is counted where runs usually are."""
        normal, level = zone.normals[p], float(zone.levels[p])
        high, low = self._support(zone, normal), self._support(zone, -normal)
        if high is None or low is None:
            if not zone.exact.meets(cell):
                return []
            high, low = level, -level
        if known := self._implied_side(location)[p]:
            return [known]
        found: list[int] = []
        for sign, excess in ((-1, high - level), (1, level + low)):
            inside = [Row(form.scaled(Fraction(sign)), strict=True)]
            room = CLOSE * max(1.0, abs(level))
            if excess > room or (
                excess >= -room and zone.exact.meets_within((p, sign), inside, cell)
            ):
                found.append(sign)
        return found or [1 if self._usual_side(location)[p] > 0 else -1]

    # Flow

    def crossed(self, state: AbstractState) -> frozenset[int]:
        """The predicates over whose hyperplane the flow can leave the cell: somewhere on the
        facet, within the invariant, d/dt(s_p h_p) > 0."""
        if state not in self._crossings:
            self._crossings[state] = frozenset(self._crossed(state))
        return self._crossings[state]

    def _crossed(self, state: AbstractState) -> Iterator[int]:
        normals, levels = self._planes[state.location]
        for k, flow in enumerate(self.system.flows):
            if flow.location != state.location:
                continue
            zone = self._flow_zone(k, flow)
            bound = zone.bound.copy()
            _restrict(bound, 0, levels, state.signs)
            cell = sides(self.predicates[state.location], state.signs)
            for p, sign in enumerate(state.signs):
                if sign == self._implied_side(state.location)[p]:
                    continue
                on_facet = bound.copy()
                on_facet[2 * p], on_facet[2 * p + 1] = levels[p], -levels[p]
                zone.oracle.rebound(on_facet)
                growth = sign * normals[p]
                objective = np.concatenate([growth @ flow.state, growth @ flow.rest])
                value = self._support(zone, objective)
                if value is None:
                    continue
                excess = value + float(growth @ flow.constant)
                if excess > CLOSE or (excess >= -CLOSE and self._leaves(zone, flow, p, sign, cell)):
                    yield p

    def _leaves(self, zone: _Zone, flow: Flow, p: int, sign: int, cell: list[Row]) -> bool:
        """Whether exactly d/dt(s_p h_p) > 0 somewhere on the facet."""
        form = self.predicates[flow.location][p]
        derivative = dict(zip(self.system.names, flow.derivative, strict=True))
        slope = combination((-sign * a, derivative[v]) for v, a in form.coefficients.items())
        rows = [Row(form), Row(-form), Row(slope, strict=True)]
        return zone.exact.meets_within((p, sign), rows, cell)

    def bad(self, state: AbstractState) -> bool:
        """Whether the cell has a bad state."""
        normals, levels = self._planes[state.location]
        cell = sides(self.predicates[state.location], state.signs)
        for (location, polyhedron), exact in zip(self.system.bad, self._bad_sets, strict=True):
            if location != state.location:
                continue
            rest = np.zeros((len(normals), len(polyhedron.names) - len(self.system.names)))
            signs = np.array(state.signs, dtype=float)
            matrix = np.vstack([np.hstack([normals * signs[:, None], rest]), polyhedron.matrix])
            oracle = SupportOracle(matrix, np.concatenate([signs * levels, polyhedron.bound]))
            margin = np.zeros(len(polyhedron.names))
            margin[-1] = 1.0
            self._programs += 1
            supported = oracle(margin)
            if supported is not None and supported.value > -CLOSE and exact.meets(cell):
                return True
        return False

    def half_spaces(self, state: AbstractState) -> tuple[Array, Array]:
        """The cell as rows a x <= b, one for each predicate, in order."""
        normals, levels = self._planes[state.location]
        signs = np.array(state.signs, dtype=float)
        return normals * signs[:, None], levels * signs

    def inside(
        self, state: AbstractState, points: Array, slack: float = CLOSE
    ) -> NDArray[np.bool_]:
        """Which points lie in the closed cell, or no further from it than the slack."""
        normals, levels = self._planes[state.location]
        signs = np.array(state.signs, dtype=float)
        room = slack * np.maximum(1.0, np.abs(levels))
        inside: NDArray[np.bool_] = np.all((points @ normals.T - levels) * signs <= room, axis=1)
        return inside

    def containing(self, location: str, point: Array) -> Signs:
        """The signs of a point; on a hyperplane the side below is taken."""
        normals, levels = self._planes[location]
        return tuple(1 if v <= 0 else -1 for v in normals @ point - levels)

    def _usual_side(self, location: str) -> Signs:
        """On which side of each predicate runs usually are: a set that lies in a hyperplane
        belongs to both sides, and is counted there."""
        if location not in self._usual:
            normals, levels = self._planes[location]
            points = None if self._runs is None else self._runs.points([location])
            means = -levels if points is None else (points @ normals.T - levels).mean(axis=0)
            usual = (1 if points is None or mean <= 0 else -1 for mean in means)
            self._usual[location] = tuple(usual)
        return self._usual[location]

    def _implied_side(self, location: str) -> Signs:
        """On which side of each predicate the invariant lies, 0 where on both: such a
        predicate is never crossed, and the cells beyond it have no interior."""
        if location not in self._implied:
            found: list[int] = []
            for p in range(len(self.predicates[location])):
                implied = [s for s in (1, -1) if self._all_beyond(location, p, s)]
                found.append(implied[0] if len(implied) == 1 else 0)
            self._implied[location] = tuple(found)
        return self._implied[location]

    def _all_beyond(self, location: str, p: int, sign: int) -> bool:
        """Whether s h_p <= 0 wherever time can pass, and it can somewhere."""
        normals, levels = self._planes[location]
        beyond = [Row(self.predicates[location][p].scaled(Fraction(-sign)), strict=True)]
        flows = [(k, f) for k, f in enumerate(self.system.flows) if f.location == location]
        for k, flow in flows:
            zone = self._flow_zone(k, flow)
            zone.oracle.rebound(zone.bound)
            objective = np.zeros(zone.columns)
            objective[: normals.shape[1]] = sign * normals[p]
            value = self._support(zone, objective)
            if value is None:
                continue
            excess = value - sign * float(levels[p])
            room = CLOSE * max(1.0, abs(float(levels[p])))
            if excess > room or (excess >= -room and zone.exact.meets(beyond)):
                return False
        return bool(flows)

    # Zones

    def _support(self, zone: _Zone, objective: Array) -> float | None:
        self._programs += 1
        supported = zone.oracle(objective)
        return None if supported is None else supported.value

    def _flow_zone(self, k: int, flow: Flow) -> _Zone:
        key = ("flow", k)
        if key not in self._zones:
            normals, levels = self._planes[flow.location]
            exact = ZoneSolver(self._session, closed(flow.domain.rows))
            self._zones[key] = _zone(flow.domain, [(0, normals)], normals, levels, exact)
        return self._zones[key]

    def _switch_zone(self, k: int, switch: Switch) -> _Zone:
        return self._relation_zone(("switch", k), switch.relation, switch.source, switch.target)

    def _relation_zone(
        self, key: tuple[str, int], relation: Polyhedron, source: str | None, target: str
    ) -> _Zone:
        if key not in self._zones:
            self._zones[key] = self._new_relation_zone(relation, source, target)
        return self._zones[key]

    def _new_relation_zone(self, relation: Polyhedron, source: str | None, target: str) -> _Zone:
        n = len(self.system.names)
        normals, levels = self._planes[target]
        parts = [] if source is None else [(0, self._planes[source][0])]
        after = np.zeros((len(normals), len(relation.names)))
        after[:, n : 2 * n] = normals
        exact = ZoneSolver(self._session, relation.rows)
        return _zone(relation, [*parts, (n, normals)], after, levels, exact)


def _planes(names: tuple[str, ...], forms: tuple[Form, ...]) -> tuple[Array, Array]:
    """Normals a and levels b with h = a x - b."""
    normals = np.zeros((len(forms), len(names)))
    for i, form in enumerate(forms):
        for name, value in form.coefficients.items():
            normals[i, names.index(name)] = float(value)
    return normals, np.array([-float(form.constant) for form in forms])


def _zone(
    domain: Polyhedron,
    parts: list[tuple[int, Array]],
    normals: Array,
    levels: Array,
    exact: ZoneSolver,
) -> _Zone:
    """Both sides of every predicate at the given columns, then the domain's rows."""
    columns = len(domain.names)
    blocks: list[Array] = []
    for first, rows in parts:
        n = rows.shape[1]
        block = np.zeros((2 * len(rows), columns))
        block[0::2, first : first + n], block[1::2, first : first + n] = rows, -rows
        blocks.append(block)
    matrix = np.vstack([*blocks, domain.matrix])
    free = np.full(len(matrix) - len(domain.bound), np.inf)
    bound = np.concatenate([free, domain.bound])
    return _Zone(SupportOracle(matrix, bound), bound, normals, levels, columns, exact)


def _restrict(bound: Array, first: int, levels: Array, signs: Signs) -> None:
    for p, sign in enumerate(signs):
        bound[first + 2 * p + (0 if sign > 0 else 1)] = sign * levels[p]
