"""Why a run jumps, or does not: what every edge lacks in a state.

`explain` is asked about one state. For each edge that leaves the location it takes the guard apart
into comparisons and propositions, says the value of each and how much is missing, and where the
guard holds what keeps the edge from being taken all the same: an empty range in a reset, or the
target's invariant. Conditions hold within the tolerance of a run, as they do while it is made.

What a whole guard lacks is the most of what its parts lack where all must hold, and the least where
one is enough; nothing that can be measured (None) where a proposition is false.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from workbench.models.automaton import TIME, specialise
from workbench.models.expressions.evaluation import EvaluationError, evaluate
from workbench.models.expressions.expression import TRUE, Expression
from workbench.models.expressions.normal_form import negation_normal_form
from workbench.models.expressions.operators import COMPARISONS, Op
from workbench.models.expressions.printing import to_text
from workbench.models.expressions.traversal import conjuncts, substitute
from workbench.models.record import record
from workbench.models.trace import Scalar, scalar_text
from workbench.simulate.jump import edge_name
from workbench.simulate.place import Prepared

MAX_PARTS = 200
"""Of one condition so many parts are told."""

Measure = float | None


@record
class Part:
    """A comparison or proposition of a condition, where the state is: its sides (a proposition
    has a value alone), whether it holds, and how much is missing; None where that is not a
    matter of more or less. `room` is how far a comparison that holds is from failing."""

    text: str
    holds: bool
    value: Scalar | None
    bound: Scalar | None = None
    lacking: Measure = None
    room: Measure = None

    @property
    def data(self) -> dict[str, Any]:
        """The part as plain data."""
        return {
            "text": self.text,
            "holds": self.holds,
            "value": self.value,
            "bound": self.bound,
            "lacking": self.lacking,
            "room": self.room,
        }


@record
class Chance:
    """An edge in a state: whether it can be taken, and what it lacks. `blocked` says in words why
    one with a guard that holds cannot be taken, `missed` what its target demands in vain."""

    name: str
    source: str
    target: str
    guard: str
    urgent: bool
    holds: bool
    lacking: Measure
    parts: tuple[Part, ...]
    blocked: str = ""
    missed: tuple[Part, ...] = ()

    @property
    def enabled(self) -> bool:
        """Whether the edge can be taken."""
        return self.holds and not self.blocked

    @property
    def data(self) -> dict[str, Any]:
        """The edge as plain data."""
        return {
            "name": self.name,
            "source": self.source,
            "target": self.target,
            "guard": self.guard,
            "urgent": self.urgent,
            "holds": self.holds,
            "enabled": self.enabled,
            "lacking": self.lacking,
            "atoms": [part.data for part in self.parts],
            "blocked": self.blocked,
            "missed": [part.data for part in self.missed],
        }


@record
class Moment:
    """A state of a run: the edges that leave it, and the parts of the invariant, whose room says
    whether time can pass."""

    time: float
    location: str
    edges: tuple[Chance, ...]
    invariant: tuple[Part, ...]

    @property
    def data(self) -> dict[str, Any]:
        """The same as plain data."""
        return {
            "time": self.time,
            "location": self.location,
            "edges": [edge.data for edge in self.edges],
            "invariant": [part.data for part in self.invariant],
        }

    def __repr__(self) -> str:
        held = ", ".join(edge.name for edge in self.edges if edge.enabled) or "none"
        return f"<Moment t = {self.time:.6g} in {self.location}: enabled edges: {held}>"

    def __str__(self) -> str:
        lines = [f"t = {self.time:.6g}, in {self.location}"]
        for edge in self.edges:
            lines.append(f"  {edge.name}, to {edge.target}: {_verdict(edge)}")
            told = edge.missed if edge.blocked else edge.parts
            lines += [f"    {_line(part)}" for part in told]
        if not self.edges:
            lines.append("  no edge leaves it")
        if self.invariant:
            lines.append("  the invariant:")
            lines += [f"    {_line(part)}" for part in self.invariant]
        return "\n".join(lines)


def explain(
    prepared: Prepared,
    location: str,
    values: Mapping[str, Scalar],
    rtol: float = 1e-6,
    atol: float = 1e-9,
) -> Moment:
    """What the edges of a location lack at the values of variables, inputs, parameters and
    `time`."""
    state = _State(prepared, location, values, rtol, atol)
    edges = tuple(state.chances())
    invariant = tuple(state.parts(prepared.base.location(location).invariant))
    return Moment(float(values[TIME]), location, edges, invariant)


class _State:
    """A state, and conditions in it."""

    def __init__(
        self,
        prepared: Prepared,
        location: str,
        values: Mapping[str, Scalar],
        rtol: float,
        atol: float,
    ):
        self._prepared, self._location = prepared, location
        self._values: dict[str, Scalar | None] = dict(values)
        self._numbers = {name: self._number(value) for name, value in values.items()}
        self._tolerance = (rtol, atol)

    def _number(self, value: Scalar) -> float:
        """A value as compiled conditions know it."""
        return float(self._prepared.symbols[value] if isinstance(value, str) else value)

    def chances(self) -> Iterator[Chance]:
        """The edges, in order."""
        known = self._prepared.derived(self._location)
        for number, edge in enumerate(self._prepared.base.edges_from(self._location)):
            guard = specialise(edge.guard, self._prepared.base.occupied(self._location))
            normal = negation_normal_form(guard)
            found: dict[Expression, Part] = {}
            for atom in _atoms(normal):
                found[atom] = self._part(atom, self._values, self._numbers, known)
            fails = {atom: 0.0 if part.holds else 1.0 for atom, part in found.items()}
            lacks = {atom: part.lacking for atom, part in found.items()}
            holds = not _whole(normal, fails) and self._holds(guard, self._numbers, known)
            lacking = 0.0 if holds else _whole(normal, lacks)
            blocked, missed = self._obstacle(number) if holds else ("", ())
            yield Chance(
                edge_name(edge),
                edge.source,
                edge.target,
                to_text(edge.guard),
                edge.urgent,
                holds,
                lacking,
                tuple(found.values())[:MAX_PARTS],
                blocked,
                missed,
            )

    def parts(self, condition: Expression) -> Iterator[Part]:
        """The parts of a conjunction in this state."""
        known = self._prepared.derived(self._location)
        for atom in conjuncts(negation_normal_form(condition)):
            yield self._part(atom, self._values, self._numbers, known)

    def _obstacle(self, number: int) -> tuple[str, tuple[Part, ...]]:
        """What keeps an edge from being taken whose guard holds (with the middle of ranges)."""
        p = self._prepared
        jump = p.jump(self._location, number)
        shares = [0.5] * jump.choices
        if not jump.has_values(self._numbers, shares, *self._tolerance):
            return "a reset has an empty range", ()
        after = {**self._numbers, **jump(self._numbers, shares)}
        if p.arrival(self._location, number)(after, *self._tolerance):
            return "", ()
        target = p.place(self._location).edges[number].target
        known = p.derived(target)
        values = {**self._values, **{name: p.decode(name, after[name]) for name in jump.names}}
        for name, definition in known.items():
            values[name] = self._value(definition, values)
        asked = conjuncts(negation_normal_form(p.base.location(target).invariant))
        found = (self._part(atom, values, after, known) for atom in asked)
        return "it leads outside the target's invariant", tuple(f for f in found if not f.holds)

    def _holds(
        self,
        condition: Expression,
        numbers: Mapping[str, float],
        known: Mapping[str, Expression],
    ) -> bool:
        return self._prepared.condition(substitute(condition, known))(numbers, *self._tolerance)

    def _part(
        self,
        atom: Expression,
        values: Mapping[str, Scalar | None],
        numbers: Mapping[str, float],
        known: Mapping[str, Expression],
    ) -> Part:
        """An atom, or a whole disjunction where one stands in a conjunction."""
        holds = self._holds(atom, numbers, known)
        text = to_text(atom)
        if atom.op in (Op.AND, Op.OR):
            lacks = {one: self._sides(one, values)[2] for one in _atoms(atom)}
            return Part(text, holds, holds, None, 0.0 if holds else _whole(atom, lacks))
        if atom.op not in COMPARISONS:
            return Part(text, holds, self._value(atom, values))
        left, right, lacking = self._sides(atom, values)
        holds = holds and left is not None and right is not None
        room = _room(atom, left, right) if holds else None
        return Part(text, holds, left, right, 0.0 if holds else lacking, room)

    def _sides(
        self, atom: Expression, values: Mapping[str, Scalar | None]
    ) -> tuple[Scalar | None, Scalar | None, Measure]:
        """The values of both sides of a comparison, and by how much it fails."""
        if atom.op not in COMPARISONS:
            return None, None, 0.0 if self._value(atom, values) is True else None
        left, right = (self._value(side, values) for side in atom.args)
        excess = _difference(left, right)
        if excess is None or atom.op is Op.NOT_EQUAL:
            return left, right, None
        if atom.op in (Op.LESS, Op.LESS_EQUAL):
            return left, right, max(0.0, excess)
        return left, right, abs(excess) if atom.op is Op.EQUAL else max(0.0, -excess)

    def _value(self, expression: Expression, values: Mapping[str, Scalar | None]) -> Scalar | None:
        """The value of an expression; None where it has none."""
        known = {name: value for name, value in values.items() if value is not None}
        try:
            found = evaluate(expression, known, self._prepared.externals)
        except EvaluationError:
            return None
        if isinstance(found, Fraction):
            return float(found)
        return found if not isinstance(found, float) or math.isfinite(found) else None


def _atoms(condition: Expression) -> Iterator[Expression]:
    """The comparisons and propositions of a condition in negation normal form, in order."""
    pending, seen = [condition], set[Expression]()
    while pending:
        node = pending.pop()
        if node.op in (Op.AND, Op.OR):
            pending += reversed(node.args)
        elif node != TRUE and node not in seen:
            seen.add(node)
            yield node


def _whole(condition: Expression, lacking: Mapping[Expression, Measure]) -> Measure:
    """What a condition in negation normal form lacks, from what its atoms do."""
    made: dict[int, float] = {}
    pending = [(condition, False)]
    while pending:
        node, ready = pending.pop()
        if node.op not in (Op.AND, Op.OR):
            found = 0.0 if node == TRUE else lacking.get(node)
            made[id(node)] = math.inf if found is None else found
        elif ready:
            parts = [made[id(part)] for part in node.args]
            made[id(node)] = max(parts) if node.op is Op.AND else min(parts)
        else:
            pending.append((node, True))
            pending += [(part, False) for part in node.args]
    whole = made[id(condition)]
    return whole if math.isfinite(whole) else None


def _room(atom: Expression, left: Scalar | None, right: Scalar | None) -> Measure:
    """How far an inequality that holds is from failing."""
    excess = _difference(left, right)
    if atom.op in (Op.EQUAL, Op.NOT_EQUAL) or excess is None:
        return None
    return max(0.0, -excess if atom.op in (Op.LESS, Op.LESS_EQUAL) else excess)


def _difference(left: Scalar | None, right: Scalar | None) -> float | None:
    """The left number without the right one; None where one is no number."""
    if not isinstance(left, float | int) or not isinstance(right, float | int):
        return None
    return None if isinstance(left, bool) or isinstance(right, bool) else left - right


# Words


def _verdict(edge: Chance) -> str:
    if edge.blocked:
        return f"its guard holds, but {edge.blocked}"
    if edge.enabled:
        return "it must be taken" if edge.urgent else "it may be taken"
    if not edge.lacking:  # nothing to measure, or on the boundary of a strict comparison
        return "not enabled"
    return f"not enabled, lacks {edge.lacking:.6g}"


def _line(part: Part) -> str:
    said = f"{part.text}: {'holds' if part.holds else 'does not hold'}"
    if part.bound is not None and part.value is not None:
        said += f" ({scalar_text(part.value)} against {scalar_text(part.bound)}"
        if not part.holds and part.lacking is not None:
            said += f", lacks {part.lacking:.6g}" if part.lacking else ", on the boundary"
        elif part.room is not None:
            said += f", room {part.room:.6g}"
        said += ")"
    return said
