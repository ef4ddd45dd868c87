"""An inductive polyhedron for each location and way of entering it, from node to node.

What holds in a location often depends on where a run came from: a robot that enters a cell from
the west is elsewhere, and moves otherwise, than one that enters it from the south, and no convex
set holds both. So there is one node for runs that start in a location, and one for each location
that switches come from; nodes are regions of the certificate that overlap and have no exits.

First the bounds of single variables that hold in every location are found (`_scenes`). Then
nodes are settled one after the other, beginning with those in which runs start: a node's
polyhedron follows from its entry set, and what switches make of it is added to the entry sets of
other nodes, which are settled again if they have grown, unless some polyhedron of that location
holds it already. What only passes through a location without taking time (a *transit*) is
followed at once, with the directions of the node that it comes from: so a run that switches to
and fro on a border is found to be where it was. Entry sets that keep growing are taken to where
geometric growth would end. If a polyhedron reaches bad states, the initial states are cut in two,
and both halves are followed by themselves. All of this is floating point and untrusted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from workbench.abstraction.history.directions import node_directions
from workbench.abstraction.history.places import Node, Place, Scene, node_of, transit
from workbench.abstraction.templates.directions import Template, axes, fastest_rate, template
from workbench.abstraction.templates.image_bounds import size_of
from workbench.abstraction.templates.invariant import (
    SETTLED,
    SLACK,
    TOUCHING,
    Missed,
    TemplateSearch,
    least_invariant,
    search_setting,
)
from workbench.abstraction.templates.system import Array, Polyhedron, Start, Switch, TemplateSystem
from workbench.models.checker.covers import Region
from workbench.reach.sets.support import SupportOracle

PATIENCE, MOST_VISITS = 4, 14
"""After so many visits entry sets of a node are extrapolated; after more the search ends."""
ROUNDING = 1e-9
"""How far, relative to its size, a bound may be exceeded by rounding."""
MOST_NODES = 80
MOST_CUTS = 6
"""So often initial states are cut in two before the search is given up."""
STEADY = 0.9
"""Rows that grow by more than this part of what they grew by before are given up."""

Key = tuple[str, str]
"""A location and the one before it ("" at the start)."""


@dataclass(frozen=True)
class NoRegions:
    """No invariant: why, in a sentence."""

    reason: str


class _FailedError(Exception):
    """The search has come to an end; the message says why."""


class HistorySearch:
    """The search on one system; each part of the initial states has nodes of its own, and
    `places` are those of parts that are done with."""

    def __init__(
        self,
        system: TemplateSystem,
        stop: Callable[[], bool],
        progress: Callable[[str], None] = lambda text: None,
    ):
        self.system, self.stop, self.progress = system, stop, progress
        self.places: list[Place] = []
        self.nodes: dict[Key, Node] = {}
        self.transits: dict[tuple[Key, str], Place] = {}
        self.pending: list[Key] = []
        self.solved = self.parts = 0
        self._growth: dict[Key, Array] = {}

    def search(self) -> tuple[Region, ...] | NoRegions:
        """Regions that are inductive and miss the bad states, as far as one can tell."""
        try:
            self._prepare()
            starts = [(start, 0) for start in self.system.starts]
            while starts:
                start, cuts = starts.pop(0)
                failure = self._follow(start)
                if failure is None:
                    self.places += [node for node in self.nodes.values() if node.settled]
                    self.places += self.transits.values()
                    self.parts += 1
                elif cuts == MOST_CUTS:
                    return NoRegions(failure)
                else:
                    self._stop(failure)
                    starts = [(half, cuts + 1) for half in self._halves(start)] + starts
        except _FailedError as error:
            return NoRegions(str(error))
        return tuple(place.region() for place in self.places)

    def _follow(self, start: Start) -> str | None:
        """Settle all nodes that are reached from a part of the initial states, or say why not
        all could be."""
        self.nodes, self.transits, self.pending, self._growth = {}, {}, [], {}
        try:
            oracle = SupportOracle(start.relation.matrix, start.relation.bound)
            self._enter((start.location, ""), start.relation, oracle, None)
            while self.pending:
                self._settle(self.pending.pop(0))
        except _FailedError as error:
            if self.stop():
                raise
            return str(error)
        return None

    def _halves(self, start: Start) -> list[Start]:
        """The initial states cut in two, across the axis along which they are widest by what
        values their location is known to have."""
        n = len(self.system.names)
        relation = start.relation
        oracle = SupportOracle(relation.matrix, relation.bound)
        widest, at, share = 0, 0.0, -1.0
        for k, axis in enumerate(np.eye(n)):
            high, low = oracle(_after(axis, relation)), oracle(_after(-axis, relation))
            if high is None or low is None:
                return []
            width = high.value + low.value
            part = width / max(self.spread[k], width, 1e-9)
            if part > share + ROUNDING:
                widest, at, share = k, (high.value - low.value) / 2, part
        axis = _after(np.eye(n)[widest], relation)
        return [_cut(start, sign * axis, sign * at) for sign in (1.0, -1.0)]

    # Preparation

    def _prepare(self) -> None:
        """The directions of every location."""
        system = self.system
        self.scenes = self._scenes()
        self.own = {
            name: node_directions(system, scene.flows) for name, scene in self.scenes.items()
        }
        self.step = 0.5 / fastest_rate(system)

    def _node(self, key: Key) -> Node:
        """The node of a location and way of entering it, with the directions of both."""
        if key not in self.nodes:
            if len(self.nodes) >= MOST_NODES:
                raise _FailedError(f"locations are entered in more than {MOST_NODES} ways")
            location, before = key
            rows = tuple(dict.fromkeys([*self.own[location], *self.own.get(before, [])]))
            matrix = np.array([[float(v) for v in row] for row in rows])
            made = Template(rows, matrix, self.step)
            self.nodes[key] = node_of(self.scenes[location], made, SLACK * self.size)
        return self.nodes[key]

    def _scenes(self) -> dict[str, Scene]:
        """Every location with the bounds of single variables that hold in it."""
        system, search = self.system, TemplateSearch(shared=False)
        boxes = template(axes(system), 0.0, 0.5 / fastest_rate(system))
        setting = search_setting(system, boxes, search)
        setting.slack = SLACK * setting.size
        found = least_invariant(setting, setting.start, search, self.stop, {}, avoid_bad=False)
        if isinstance(found, Missed):
            raise _FailedError(f"bounds of single variables: {found.reason}")
        self.size = size_of(found)
        width = found[:, ::2] + found[:, 1::2]
        self.spread = np.where(np.isfinite(width), width, 0.0).max(axis=0)
        scenes: dict[str, Scene] = {}
        for name in system.locations:
            offsets = found[setting.group[name]]
            used = np.isfinite(offsets)
            flows = tuple(flow for flow in system.flows if flow.location == name)
            known = boxes.matrix[used], offsets[used]
            scenes[name] = Scene(name, system.names, flows, known)
        return scenes

    def _stop(self, before: str = "") -> None:
        if self.stop():
            told = f"; before, {before}" if before else ""
            raise _FailedError(f"its work was used up in the search{told}")

    # From node to node

    def _settle(self, key: Key) -> None:
        """Compute a node's polyhedron, and follow what leaves it."""
        self._stop()
        node = self.nodes[key]
        name = _named(key)
        self.progress(f"history: {name}, {len(self.pending)} more to settle")
        if node.visits >= MOST_VISITS:
            raise _FailedError(f"what enters {name} keeps growing")
        self.solved += 1
        if not node.settle(self.size, self.stop):
            self._stop()
            raise _FailedError(f"no inductive polyhedron was found for {name}")
        self._check(node, name)
        for other in [other for other in self.transits if other[0] == key]:
            del self.transits[other]
        self._leave(key, node)

    def _leave(self, key: Key, place: Place) -> None:
        """Follow the switches from a node, or from a transit of what comes from it."""
        for switch in self.system.switches:
            if switch.source != place.scene.location:
                continue
            self._stop()
            oracle = place.within(switch.relation)
            if self._held(switch, oracle):
                continue
            passing = self._transit(key, place, switch, oracle)
            if passing is None:
                entered = switch.target, switch.source
                self._enter(entered, switch.relation, oracle, place if switch.keeps_state else None)
            elif passing is not self.transits.get((key, switch.target)):
                self._check(passing, f"{_named(key)}, passing through {switch.target},")
                self.transits[key, switch.target] = passing
                self._leave(key, passing)

    def _transit(
        self, key: Key, place: Place, switch: Switch, oracle: SupportOracle
    ) -> Place | None:
        """The transit of a node's states in the target of a switch, as it is or grown; None if
        there is no such transit."""
        if not switch.keeps_state:
            return None
        values = _supports(place.template.matrix, switch.relation, oracle)
        if values is None:
            return None
        values = np.minimum(values + SLACK * self.size, place.offsets)
        known = self.transits.get((key, switch.target))
        if known is not None:
            if not np.any(values > known.offsets + SETTLED * self.size):
                return known
            values = np.maximum(values, known.offsets)
        return transit(self.scenes[switch.target], place.template, values, self.size)

    def _held(self, switch: Switch, oracle: SupportOracle) -> bool:
        """Whether the polyhedron of some node of the target holds what a switch brings."""
        known = [*self.places, *(node for node in self.nodes.values() if node.settled)]
        return any(
            _inside(place, oracle, switch.relation)
            for place in known
            if place.scene.location == switch.target
        )

    def _enter(
        self, key: Key, relation: Polyhedron, oracle: SupportOracle, source: Place | None
    ) -> None:
        """Add what a start or a switch brings to a node's entry set; rows that a `source`
        hands on need no slack, and in circles they have room for none."""
        node = self._node(key)
        values = _supports(node.template.matrix, relation, oracle)
        if values is None:
            return
        if source is not None:
            given = dict(zip(source.template.rows, source.offsets, strict=True))
            same = np.array([given.get(row, np.inf) for row in node.template.rows])
            values = np.minimum(values + SLACK * self.size, same)
        elif key[1]:
            values = values + SLACK * self.size
        grown = np.maximum(node.entry, np.minimum(values, node.caps))
        if node.entered:
            growth = _difference(grown, node.entry)
            if not np.any(growth > SETTLED * self.size):
                return
            if node.visits > PATIENCE:
                grown = np.minimum(
                    _extrapolated(grown, growth, self._growth.get(key, growth)), node.caps
                )
            self._growth[key] = growth
        node.entry = grown
        if key not in self.pending:
            self.pending.append(key)

    def _check(self, place: Place, name: str) -> None:
        for location, bad in self.system.bad:
            if location == place.scene.location and place.meets(bad, TOUCHING * self.size):
                raise _FailedError(f"the least inductive polyhedron of {name} reaches bad states")


def _cut(start: Start, row: Array, bound: float) -> Start:
    """The part of the initial states where row * (x, x', ...) <= bound."""
    relation = start.relation
    matrix = np.vstack([relation.matrix, row])
    return replace(
        start, relation=Polyhedron(relation.names, matrix, np.append(relation.bound, bound))
    )


def _named(key: Key) -> str:
    location, before = key
    return f"{location}, entered from {before}" if before else f"{location} at the start"


def _supports(matrix: Array, relation: Polyhedron, oracle: SupportOracle) -> Array | None:
    """The largest values after a switch or at the start; None if there are no such states."""
    values = np.empty(len(matrix))
    for i, direction in enumerate(matrix):
        supported = oracle(_after(direction, relation))
        if supported is None:
            return None
        values[i] = supported.value
    return values


def _after(direction: Array, relation: Polyhedron) -> Array:
    """A direction of the state after a switch or at the start."""
    n = len(direction)
    objective = np.zeros(len(relation.names))
    objective[n : 2 * n] = direction
    return objective


def _inside(node: Place, oracle: SupportOracle, relation: Polyhedron) -> bool:
    """Whether a switch leads into the node's polyhedron only (or nowhere)."""
    for direction, offset in zip(node.template.matrix, node.offsets.tolist(), strict=True):
        if np.isfinite(offset):
            supported = oracle(_after(direction, relation))
            if supported is None:
                return True
            if supported.value > offset + ROUNDING * max(1.0, abs(offset)):
                return False
    return True


def _difference(grown: Array, offsets: Array) -> Array:
    finite = np.isfinite(grown) & np.isfinite(offsets)
    both = np.where(finite, grown, 0.0) - np.where(finite, offsets, 0.0)
    return np.where(np.isinf(grown) & np.isfinite(offsets), np.inf, both)


def _extrapolated(grown: Array, growth: Array, before: Array) -> Array:
    """Where geometric growth would end, for each row; infinite where it does not end."""
    growing = (growth > 0) & (before > 0) & np.isfinite(growth)
    ratio = np.where(growing, growth / np.where(growing, before, 1.0), 0.0)
    slower = growing & (ratio < STEADY)
    last = np.where(slower, growth, 0.0)
    further = last * ratio / np.where(slower, 1.0 - ratio, 1.0)
    return np.where(growing & ~slower, np.inf, grown + further)
