"""Sliding along a switching surface where the flows on both sides lead onto it (Filippov).

Where g < 0 the state follows f-, where g > 0 it follows f+. If g grows along f- (L- > 0) and
shrinks along f+ (L+ < 0), no solution leaves g = 0. The state moves along it by the convex
combination

    f = f- + a (f+ - f-),   a = L- / (L- - L+),   for which g' = 0,

until L- <= 0, when it leaves to where f- holds, or L+ >= 0, when it leaves to where f+ does.

The two sides are locations joined by a pair of edges that change nothing which flows, or the
two branches of a condition inside one flow; a branch may also change inside a slide. Sliding is
the limit of faster and faster switching; it is no run of the automaton itself. Equations are
exact, the way along the surface is as accurate as the integration.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from workbench.models.automaton import TIME, EventKind, primed
from workbench.models.expressions.differentiate import (
    NotDifferentiableError,
    differentiate,
    lie_derivative,
)
from workbench.models.expressions.expression import (
    FALSE,
    ZERO,
    Expression,
    add,
    conjunction,
    disjunction,
    divide,
    equal,
    multiply,
    negation,
    subtract,
)
from workbench.models.expressions.operators import COMPARISONS, Op
from workbench.models.expressions.printing import to_text
from workbench.models.expressions.simplify import simplify
from workbench.models.expressions.traversal import conjuncts, free_variables, substitute
from workbench.models.record import record
from workbench.simulate.holding import inward
from workbench.simulate.locking import fix, held_branches, lock
from workbench.simulate.place import UNDEFINED_HOLDS, Place, Role
from workbench.simulate.stepping.calculator import Calculator, TolerantCondition
from workbench.simulate.stepping.program import Watched, compile_program

if TYPE_CHECKING:
    from workbench.simulate.place import Prepared

Flows = dict[str, Expression]


@record
class Surface:
    """g = 0 between two sides.

    `below` is the location where g < 0 and `above` that where g > 0; `up` and `down` are the
    numbers of the edges between them. For a branch of a flow both are one location and
    `branch` is the condition, true where g > 0; `base` is the slide inside which it lies.
    """

    g: Expression
    below: str
    above: str
    up: int = -1
    down: int = -1
    branch: Expression | None = None
    base: Surface | None = None

    @property
    def text(self) -> str:
        """The surface as traces name it."""
        texts = (to_text(equal(simplify(g), ZERO)) for g in (self.g, -self.g))
        own = min(texts, key=len)
        return own if self.base is None else f"{self.base.text} && {own}"


class Slides:
    """The surfaces of a prepared model, compiled when first needed."""

    def __init__(self, prepared: Prepared):
        self.prepared = prepared
        self._places: dict[Surface, Place] = {}
        self._on: dict[Surface, TolerantCondition] = {}
        self._rates: dict[Surface, Calculator | None] = {}
        self._returns: dict[Surface, Calculator] = {}
        self._away: dict[Surface, tuple[tuple[str, int], ...]] = {}

    # Which surface

    def at_edge(
        self,
        place: Place,
        up: int,
        values: Mapping[str, float],
        everywhere: bool,
        loose: tuple[float, float],
    ) -> Surface | None:
        """The attractive surface on which an edge is about to be taken, if there is one and
        sliding is asked for: everywhere, or by the edges in both directions. `loose` are the
        tolerances with which the state is known."""
        edge = place.edges[up]
        if place.holds or not (everywhere or edge.event is EventKind.SLIDING):
            return None
        other = self.prepared.place(edge.target)
        for down, back in enumerate(other.edges):
            if back.target != place.name or not (everywhere or back.event is EventKind.SLIDING):
                continue
            if not (self._harmless(place.name, up) and self._harmless(other.name, down)):
                continue
            for g in self._candidates(place, up):
                surface = Surface(g, place.name, other.name, up, down)
                if not self._separates(place, other, down, g):
                    continue
                if self._at(surface, values, loose) and self.attracts(surface, values):
                    return surface
        return None

    def _separates(self, place: Place, other: Place, down: int, g: Expression) -> bool:
        """Whether g = 0 is where the other side ends, too: a state in a corner lies on many
        boundaries, and most of them are not between two given locations."""
        if any(part in other.exits and _lies_on(part, g) for part in place.exits):
            return False
        back = conjuncts(self.prepared.formed(other.edges[down].guard))
        return any(_lies_on(part, g) for part in (*back, *other.exits))

    def at_branch(
        self, place: Place, condition: Expression, values: Mapping[str, float]
    ) -> Surface | None:
        """The attractive surface on which a branch of the flow is about to change."""
        base = place.slide
        for part in _comparisons(condition):
            above = place.name if base is None else base.above
            surface = Surface(inward(part), place.name, above, branch=condition, base=base)
            if not place.holds and self.attracts(surface, values):
                return surface
        return None

    def attracts(self, surface: Surface, values: Mapping[str, float]) -> bool:
        """Whether both sides lead onto the surface."""
        if surface not in self._rates:
            try:
                rates = list(self._lie(surface))
                self._rates[surface] = Calculator(
                    rates, self.prepared.symbols, self.prepared.externals
                )
            except (NotDifferentiableError, ValueError):
                self._rates[surface] = None
        calculate = self._rates[surface]
        if calculate is None:
            return False
        rising, falling = calculate(dict.fromkeys(calculate.names, 0.0) | dict(values))
        return rising > 0.0 > falling

    def _candidates(self, place: Place, up: int) -> Iterator[Expression]:
        """Functions that become positive where an edge becomes enabled or the invariant ends."""
        guard = self.prepared.formed(place.edges[up].guard)
        for part in conjuncts(guard):
            if part.op is Op.EQUAL:
                left, right = part.args
                yield subtract(left, right)
                yield subtract(right, left)
            elif part.op in COMPARISONS and part.op is not Op.NOT_EQUAL:
                yield inward(part)
        for part in place.exits:
            if part.op in COMPARISONS and part.op not in (Op.EQUAL, Op.NOT_EQUAL):
                yield simplify(-inward(part))

    def _at(
        self, surface: Surface, values: Mapping[str, float], loose: tuple[float, float]
    ) -> bool:
        """Whether the state is on the surface, and may go back from the other side there."""
        if not free_variables(surface.g) & {*self.prepared.flows(surface.below, ()), TIME}:
            return False
        if surface not in self._on:
            self._on[surface] = self.prepared.condition(equal(surface.g, ZERO))
        back = self.prepared.guard(surface.above, surface.down)
        return self._on[surface](values, *loose) and back(values, *loose)

    def _harmless(self, location: str, edge: int) -> bool:
        """Whether an edge leaves everything that flows on either side as it is."""
        taken = self.prepared.place(location).edges[edge]
        moving = {*self.prepared.flows(location, ()), *self.prepared.flows(taken.target, ())}
        return all(c.variable not in moving and c.range.exact is not None for c in taken.resets)

    # Fields

    def flows(self, surface: Surface) -> Flows:
        """The convex combination that keeps g constant."""
        below, above = self._sides(surface)
        rising, falling = self._lie(surface)
        share = divide(rising, subtract(rising, falling))
        found = {}
        for name in {**below, **above}:
            a, b = below.get(name, ZERO), above.get(name, ZERO)
            found[name] = a if a == b else add(a, multiply(share, subtract(b, a)))
        return found

    def _sides(self, surface: Surface) -> tuple[Flows, Flows]:
        p = self.prepared
        if surface.branch is not None:
            base = surface.base
            flows = p.flows(surface.below, ()) if base is None else self.flows(base)
            return fix(flows, surface.branch, False), fix(flows, surface.branch, True)
        after: Flows = {}
        for c in p.place(surface.below).edges[surface.up].resets:
            assert c.range.exact is not None  # surfaces have harmless edges only
            value = p.formed(c.range.exact)
            after[c.variable] = substitute(value, {primed(n): e for n, e in after.items()})
        above = {n: substitute(e, after) for n, e in p.flows(surface.above, ()).items()}
        return p.flows(surface.below, ()), above

    def _lie(self, surface: Surface) -> tuple[Expression, Expression]:
        """The rates of g on the two sides."""
        below, above = self._sides(surface)
        g, names = surface.g, free_variables(surface.g)
        drift = differentiate(g, TIME)
        rates = [
            simplify(add(drift, lie_derivative(g, {n: e for n, e in side.items() if n in names})))
            for side in (below, above)
        ]
        return rates[0], rates[1]

    # Places

    def place(self, surface: Surface) -> Place:
        """What is watched, and how the state moves, while it slides."""
        if surface not in self._places:
            self._places[surface] = self._compile(surface)
        return self._places[surface]

    def away(self, surface: Surface) -> tuple[tuple[str, int], ...]:
        """The edges that lead away from either side: location and number."""
        if surface not in self._away:
            pair = {(surface.below, surface.up), (surface.above, surface.down)}
            if surface.base is not None:
                pair |= {(s.below, s.up) for s in _bases(surface)}
                pair |= {(s.above, s.down) for s in _bases(surface)}
            places = dict.fromkeys((surface.below, surface.above))
            self._away[surface] = tuple(
                (name, j)
                for name in places
                for j in range(len(self.prepared.place(name).edges))
                if (name, j) not in pair
            )
        return self._away[surface]

    def _compile(self, surface: Surface) -> Place:
        p = self.prepared
        watches: list[Watched] = []
        roles: list[tuple[Role, int]] = []

        def watch(role: Role, i: int, condition: Expression, kind: EventKind) -> None:
            if condition != FALSE:
                roles.append((role, i))
                watches.append(Watched(condition, kind, role in UNDEFINED_HOLDS))

        sides = list(dict.fromkeys((surface.below, surface.above)))
        for i, claim in enumerate(p.view.properties):
            bad = {p.formed(claim.bad_states(p.view.occupied(name))) for name in sides}
            watch(Role.BAD, i, disjunction(*sorted(bad, key=to_text)), EventKind.CROSSING)
        watch(Role.OUTSIDE, 0, p.formed(negation(p.view.assumption)), EventKind.CROSSING)
        for i, (name, j) in enumerate(self.away(surface)):
            guard = p.formed(p.place(name).edges[j].guard)
            watch(Role.AWAY, i, guard, EventKind.UNILATERAL)
        parts = {
            part: written
            for place in map(p.place, sides)
            for part, written in zip(place.exits, place.written, strict=True)
        }
        exits = tuple(parts)
        for i, part in enumerate(exits):
            if not any(_lies_on(part, s.g) for s in (surface, *_bases(surface))):
                watch(Role.EXIT, i, negation(part), EventKind.UNILATERAL)
        for k, condition in enumerate(self._ends(surface)):
            watch(Role.LEAVE, k, condition, EventKind.CROSSING)
        flows = self.flows(surface)
        moving = tuple(n for n in p.names if flows.get(n, ZERO) != ZERO)
        locked = lock({n: flows[n] for n in moving}, moving)
        flows.update(locked.flows)
        for k, condition in enumerate(locked.conditions):
            watch(Role.SWITCH, 2 * k, condition, EventKind.CROSSING)
            watch(Role.SWITCH, 2 * k + 1, negation(condition), EventKind.CROSSING)
        used = free_variables(*(flows[n] for n in moving), *(w.condition for w in watches))
        program = compile_program(
            flowing=moving,
            held=tuple(sorted(used - set(moving) - {TIME})),
            flows=[flows[n] for n in moving],
            watches=watches,
            symbols=p.symbols,
            externals=p.externals,
        )
        return Place(
            surface.below,
            program,
            tuple(roles),
            (),
            exits,
            tuple(parts.values()),
            (),
            p.derived(surface.below),
            held_branches(locked, p.symbols, p.externals),
            tuple(n for n in p.names if n not in moving),
            locked.conditions,
            surface,
        )

    def _ends(self, surface: Surface) -> tuple[Expression, Expression, Expression]:
        """When the slide ends: to the side below, above, or because a guard no longer holds."""
        rising, falling = self._lie(surface)
        still = []
        if surface.branch is None:
            for name, j in ((surface.below, surface.up), (surface.above, surface.down)):
                guard = self.prepared.formed(self.prepared.place(name).edges[j].guard)
                still += [part for part in conjuncts(guard) if not _lies_on(part, surface.g)]
        return rising <= 0, falling >= 0, negation(conjunction(*still))

    # States

    def height(self, surface: Surface, values: Mapping[str, float]) -> float:
        """The value of g at a state: on which side of the surface it lies."""
        calculate = Calculator([surface.g], self.prepared.symbols, self.prepared.externals)
        return calculate(values)[0]

    def onto(self, surface: Surface, values: Mapping[str, float]) -> dict[str, float]:
        """The state moved onto the surface: x - g grad g / |grad g|^2, once."""
        names = sorted(free_variables(surface.g) & self.flows(surface).keys())
        if surface not in self._returns:
            parts = [surface.g, *(differentiate(surface.g, n) for n in names)]
            self._returns[surface] = Calculator(parts, self.prepared.symbols, {})
        g, *slopes = self._returns[surface](values)
        square = sum(s * s for s in slopes)
        if not 0.0 < square < float("inf"):
            return dict(values)
        moved = {n: values[n] - g * s / square for n, s in zip(names, slopes, strict=True)}
        return {**values, **moved}


def _bases(surface: Surface) -> Iterator[Surface]:
    """The slides inside which a slide lies."""
    while surface.base is not None:
        surface = surface.base
        yield surface


def _comparisons(condition: Expression) -> Iterator[Expression]:
    """The comparisons that a condition is made of by `and` and `or` alone."""
    if condition.op in (Op.AND, Op.OR):
        for part in condition.args:
            yield from _comparisons(part)
    elif condition.op in COMPARISONS and condition.op not in (Op.EQUAL, Op.NOT_EQUAL):
        yield condition


def _lies_on(part: Expression, g: Expression) -> bool:
    """Whether a comparison has g = 0 as its boundary."""
    if part.op not in COMPARISONS:
        return False
    own = subtract(part.args[0], part.args[1])
    return ZERO in (simplify(subtract(own, g)), simplify(add(own, g)))
