"""How near a run came to locations in which a property can be violated at all.

Where a property speaks of locations only, its robustness is infinite elsewhere and says
nothing to a search. The distance counts the jumps that are missing, and, for the next one,
how far its guard is from being true: steps + 1 - 1/(1 + gap). It only guides.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Mapping

from workbench.models.automaton import Property
from workbench.models.expressions.expression import FALSE
from workbench.models.trace import Trace
from workbench.simulate.inputs.signals import Signal
from workbench.simulate.monitoring.robustness import Robustness
from workbench.simulate.place import Prepared

MAX_LOCATIONS = 400
"""So many locations are looked at to find a way."""


class Approach:
    """Distances to the locations where a property can be violated."""

    def __init__(self, prepared: Prepared, claim: Property):
        self._prepared, self._view, self._claim = prepared, prepared.view, claim
        self._steps: dict[str, int] | None = None
        self._guards: dict[tuple[str, int], Robustness] = {}

    def distance(self, trace: Trace, inputs: Mapping[str, Signal]) -> float:
        """The least distance on the way of a run; large where no way is known."""
        steps = self._known_steps()
        best = float(MAX_LOCATIONS)
        for index, segment in enumerate(trace.segments):
            here = steps.get(segment.location)
            if here is None or here > best:
                continue
            part = Trace(
                trace.model,
                trace.variables,
                trace.segments[index : index + 1],
                (),
                trace.outcome,
                parameters=trace.parameters,
            )
            gap = self._gap(segment.location, here, part, inputs)
            best = min(best, here - 1.0 / (1.0 + gap))
        return best

    def _gap(self, location: str, here: int, part: Trace, inputs: Mapping[str, Signal]) -> float:
        """How far the guards of edges that lead on stay from being true."""
        steps = self._known_steps()
        gap = math.inf
        for i, edge in enumerate(self._view.edges_from(location)):
            if steps.get(edge.target, here) >= here:
                continue
            engine = self._guards.get((location, i))
            if engine is None:
                opposite = ~edge.guard
                engine = Robustness(lambda _, e=opposite: e, self._prepared.symbols)  # type: ignore[misc]
                self._guards[(location, i)] = engine
            engine.values.inputs = inputs
            gap = min(gap, max(engine.along(part).margin, 0.0))
        return gap if gap < 1e12 else 1e12

    def _known_steps(self) -> dict[str, int]:
        """For locations near the initial ones: how many jumps away a bad one is."""
        if self._steps is None:
            self._steps = self._search()
        return self._steps

    def _search(self) -> dict[str, int]:
        forward: dict[str, list[str]] = {}
        queue = deque(dict.fromkeys(start.location for start in self._prepared.starts()))
        sources: dict[str, list[str]] = {}
        while queue and len(forward) < MAX_LOCATIONS:
            name = queue.popleft()
            if name in forward:
                continue
            forward[name] = [e.target for e in self._view.edges_from(name)]
            for target in forward[name]:
                sources.setdefault(target, []).append(name)
                queue.append(target)
        steps = {name: 0 for name in (*forward, *sources) if self._is_bad(name)}
        queue = deque(steps)
        while queue:
            name = queue.popleft()
            for source in sources.get(name, ()):
                if source not in steps:
                    steps[source] = steps[name] + 1
                    queue.append(source)
        return steps

    def _is_bad(self, name: str) -> bool:
        return self._claim.bad_states(self._view.occupied(name)) != FALSE
