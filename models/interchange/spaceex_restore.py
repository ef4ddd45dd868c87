"""Reading back what `spaceex_export` wrote: the very same automaton.

The visible file is read like any other; the note says which conjuncts are bounds of inputs,
definitions, or parts of a property, and what things are really called.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TypeVar

from workbench.models.automaton import (
    INT,
    REAL,
    TIME,
    Constraint,
    Edge,
    EventKind,
    HybridAutomaton,
    Initial,
    Input,
    Kind,
    Location,
    Parameter,
    Property,
    PropertyKind,
    Range,
    Variable,
    primed,
)
from workbench.models.expressions.expression import (
    FALSE,
    TRUE,
    Expression,
    compare,
    conjunction,
    disjunction,
    maximum,
    minimum,
    negation,
    variable,
)
from workbench.models.expressions.operators import Op
from workbench.models.expressions.text import parse_expression
from workbench.models.expressions.traversal import conjuncts
from workbench.models.interchange.spaceex_behaviour import (
    Behaviour,
    LocationFormulas,
    TransitionFormulas,
)
from workbench.models.interchange.spaceex_config import Configuration
from workbench.models.interchange.spaceex_network import Network
from workbench.models.interchange.spaceex_notes import Counts, EdgeNote, Notes, bad_note, find_note
from workbench.models.interchange.spaceex_states import (
    InputBounds,
    disjuncts,
    plain_bound,
    read_states,
)
from workbench.models.interchange.spaceex_text import opposite

Bounded = TypeVar("Bounded", Input, Parameter)


def restore(
    network: Network,
    behaviour: Behaviour,
    options: Configuration,
    notes: Notes,
    horizon: Fraction | None,
) -> HybridAutomaton:
    """The automaton that was exported; raises `ModelError` if the note does not fit."""
    try:
        return _Restored(network, behaviour, options, notes).automaton(horizon)
    except (ValueError, IndexError, KeyError, AssertionError) as error:
        note = find_note(network.system)
        assert note is not None, "notes come from a note"
        raise bad_note(note) from error


class _Restored:
    """One restoration."""

    def __init__(
        self, network: Network, behaviour: Behaviour, options: Configuration, notes: Notes
    ):
        self.network = network
        self.behaviour = behaviour
        self.options = options
        self.notes = notes
        self.name = behaviour.instance.path

    def automaton(self, horizon: Fraction | None) -> HybridAutomaton:
        variables, inputs, parameters = self._names()
        locations = tuple(self._location(i, s) for i, s in enumerate(self.behaviour.stays, 1))
        outside, assumption = self._outside()
        starts, ranges = self._initial(frozenset(p.name for p in parameters))
        labels = frozenset(self.behaviour.instance.labels.values())
        return HybridAutomaton(
            self.name,
            variables,
            locations,
            tuple(self._edges()),
            starts,
            tuple(_bounded(i, outside) for i in inputs),
            tuple(_bounded(p, ranges) for p in parameters),
            assumption,
            tuple(self._properties()),
            tuple(parse_expression(text) for text in self.notes.predicates),
            labels - frozenset(self.notes.silent),
            horizon,
        )

    def _names(self) -> tuple[tuple[Variable, ...], tuple[Input, ...], tuple[Parameter, ...]]:
        variables, inputs, parameters = [], [], []
        for param in self.behaviour.instance.component.params:
            if param.is_label:
                continue
            name = self.network.original[param.name]
            kind = INT if param.type == "int" else REAL
            if param.constant:
                parameters.append(Parameter(name, kind, span=param.span))
            elif param.controlled:
                still = kind == INT or name in self.notes.discrete
                change = Kind.DISCRETE if still else Kind.ANALOG
                variables.append(Variable(name, kind, change, param.span))
            else:
                inputs.append(Input(name, kind, span=param.span))
        self.still = {v.name for v in variables if v.kind is Kind.DISCRETE}
        if self.notes.implicit_time:
            self.still.add(TIME)
        return tuple(variables), tuple(inputs), tuple(parameters)

    def _location(self, number: int, stay: LocationFormulas) -> Location:
        _require(not stay.flow.others)
        parts = list(stay.invariant)
        algebraic, parts = _taken(parts, self.notes.algebraic.get(str(number), []))
        tail = self.notes.input_bounds + self.notes.assumption
        _require(len(parts) >= tail)
        flows = tuple(f for f in stay.flow.ranges if f.variable not in self.still)
        invariant = conjunction(*parts[: len(parts) - tail])
        return Location(stay.name, flows, algebraic, invariant, stay.span)

    def _outside(self) -> tuple[dict[str, InputBounds], Expression]:
        if not self.behaviour.stays:
            return {}, TRUE
        parts = self.behaviour.stays[0].invariant
        after = len(parts) - self.notes.assumption
        before = after - self.notes.input_bounds
        return _bounds(parts[before:after]), conjunction(*parts[after:])

    def _edges(self) -> Iterator[Edge]:
        jumps: Sequence[TransitionFormulas] = self.behaviour.jumps
        position, index = 0, 0
        while position < len(jumps):
            note = self.notes.edges.get(str(index), EdgeNote())
            _require(note.alternatives > 0)
            group = jumps[position : position + note.alternatives]
            first = group[0]
            yield Edge(
                first.source,
                first.target,
                _guard([j.guard for j in group], note.unequal),
                first.resets,
                first.label,
                first.urgent,
                EventKind(note.event) if note.event else EventKind.UNILATERAL,
                note.name,
                first.span,
            )
            position += note.alternatives
            index += 1

    def _initial(
        self, parameters: frozenset[str]
    ) -> tuple[tuple[Initial, ...], dict[str, InputBounds]]:
        _require(self.options.initially is not None)
        assert self.options.initially is not None
        whole = read_states(self.network, [self.behaviour], self.options.initially)
        if whole == FALSE:
            return (), {}
        parts = conjuncts(whole)
        ranges = _bounds(parts[: self.notes.initial_bounds])
        _require(all(n in parameters or n == TIME for n in ranges))
        options = disjuncts(conjunction(*parts[self.notes.initial_bounds :]))
        _require(set(self.notes.starts) == set(range(len(options))))
        chosen = [options[i] for i in self.notes.starts]
        starts = (self._start(o, c) for o, c in zip(chosen, self.notes.initial, strict=True))
        return tuple(starts), ranges

    def _start(self, option: Expression, counts: Counts) -> Initial:
        place, *parts = conjuncts(option)
        _require(place.op is Op.AT)
        tail = sum(count for _, count in counts)
        after = {name: variable(primed(name)) for name, _ in counts}
        resets, _ = _taken(parts[len(parts) - tail :], counts)
        changed = tuple(Constraint(r.variable, r.range.substitute(after), r.span) for r in resets)
        return Initial(place.place[1], conjunction(*parts[: len(parts) - tail]), changed)

    def _properties(self) -> Iterator[Property]:
        parts: tuple[Expression, ...] = ()
        if self.options.forbidden is not None:
            parts = disjuncts(read_states(self.network, [self.behaviour], self.options.forbidden))
        for note in self.notes.properties:
            states = disjunction(*(parts[i] for i in note.parts))
            split = conjuncts(states)
            _require(len(split) >= note.where)
            where = conjunction(*split[: note.where])
            bad = conjunction(*split[note.where :])
            kind = PropertyKind(note.kind)
            forbidden = kind is PropertyKind.FORBIDDEN
            shown = bad if forbidden != note.negated else opposite(bad)
            yield Property(note.name, negation(shown) if note.negated else shown, kind, where)


def _guard(alternatives: list[Expression], unequal: list[int]) -> Expression:
    """The guard that several transitions spell out."""
    if not unequal:
        return disjunction(*alternatives) if len(alternatives) > 1 else alternatives[0]
    parts = list(conjuncts(alternatives[0]))
    for index in unequal:
        _require(parts[index].op is Op.LESS)
        left, right = parts[index].args
        parts[index] = compare(Op.NOT_EQUAL, left, right)
    return conjunction(*parts)


def _require(condition: bool) -> None:
    if not condition:
        raise ValueError("the note does not fit the file")


def _bounded(given: Bounded, bounds: Mapping[str, InputBounds]) -> Bounded:
    known = bounds.get(given.name, InputBounds())
    return replace(given, low=known.low, high=known.high)


def _bounds(parts: Sequence[Expression]) -> dict[str, InputBounds]:
    found: dict[str, InputBounds] = {}
    for part in parts:
        bound = plain_bound(part)
        _require(bound is not None)
        assert bound is not None
        found.setdefault(bound[0], InputBounds()).meet(bound[1], bound[2])
    return found


def _taken(
    parts: list[Expression], counts: Counts
) -> tuple[tuple[Constraint, ...], list[Expression]]:
    """The leading conjuncts as ranges of the variables counted, and the rest."""
    found: list[Constraint] = []
    for name, count in counts:
        here, parts = parts[:count], parts[count:]
        _require(len(here) == count)
        lows: dict[Expression, None] = {}
        highs: dict[Expression, None] = {}
        for part in here:
            _require(part.op in (Op.EQUAL, Op.LESS_EQUAL, Op.GREATER_EQUAL))
            left, right = part.args
            own = left.op is Op.VARIABLE and left.name == name
            _require(own or (right.op is Op.VARIABLE and right.name == name))
            value = right if own else left
            if part.op is Op.EQUAL or (part.op is Op.GREATER_EQUAL) == own:
                lows[value] = None
            if part.op is Op.EQUAL or (part.op is Op.LESS_EQUAL) == own:
                highs[value] = None
        low = maximum(*lows) if lows else None
        high = minimum(*highs) if highs else None
        found.append(Constraint(name, Range(low, high)))
    return tuple(found), parts
