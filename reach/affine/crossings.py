"""Paths along which a flowpipe meets bad states, as questions for `reach.affine.witness`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import product

from workbench.models.automaton import primed
from workbench.models.checker.affine_flow import AffineFlow, assembled
from workbench.models.checker.flowpipe import start_set
from workbench.models.checker.uncertain_flow import at_parameters, parameter_box
from workbench.models.linear import Form, Row, Rows
from workbench.models.unfolding import folded
from workbench.reach.affine.flowpipe import Exploration
from workbench.reach.affine.flowpipe_parts import Explored, Lead, start_of
from workbench.reach.affine.witness import Stretch, Witness, witness

MOMENTS = 6
"""Moments at which a node is asked for bad states."""

SHARES = (0.5, 0.0, 1.0)
"""Where in its window a jump is taken."""

NARROW = Fraction(1, 1000)
"""Windows that are shorter than this part of the time before them are taken for a moment."""

MAX_NODES = 4
"""Nodes whose bad states are looked at, the earliest first."""


def suggested_runs(tried: Exploration) -> Iterator[Witness]:
    """Runs that seem to end in bad states, the deepest of each node."""
    unsafe = [e for e in tried.nodes if e.unsafe]
    for explored in unsafe[:MAX_NODES]:
        found = [w for w in _of_node(tried, explored) if w is not None]
        if found:
            deepest = max(found, key=lambda w: w.depth)
            yield replace(deepest, location=folded(tried.problem.automaton, deepest.location))


def _of_node(tried: Exploration, explored: Explored) -> Iterator[Witness | None]:
    chain = _chain(tried, explored)
    start = _start_rows(tried, explored)
    if chain is None or start is None:
        return
    bad = tried.demands.conditions(explored.node.location).bad
    wide = any(lead.window[1] - lead.window[0] > NARROW * lead.window[0] for _, lead in chain)
    shares = SHARES if wide else SHARES[:1]
    sources = [source for source, _ in chain]
    for values, share in product(_parameter_values(tried, [*sources, explored]), shares):
        fixed = tuple(row for name, value in values.items() for row in _equal(name, value))
        stretches = [
            Stretch(source.node.location, _between(lead.window, share), lead.case.rows)
            for source, lead in chain
        ]
        for number, case, part in _spread(explored.unsafe):
            if tried.expired():
                return
            step = explored.steps[number]
            window = (step.begin, step.begin if bad[case].at_entry else step.end)
            last = Stretch(explored.node.location, _between(window, part))
            path = [*stretches, last]
            flow = partial(_flow_at, tried, values)
            yield witness(tried.problem, flow, start + fixed, path, bad[case].rows)


def _parameter_values(
    tried: Exploration, path: Sequence[Explored]
) -> Iterator[dict[str, Fraction]]:
    """Choices of the parameters that multiply variables anywhere on a path: corners of their box
    where it begins, and its centre."""
    first = tried.demands.flow(path[0].node.location)
    begun = dict(zip(first.names, start_set(first, path[0].node).spans, strict=True))
    box: dict[str, tuple[Fraction, Fraction]] = {}
    for explored in path:
        flow = tried.demands.flow(explored.node.location)
        if flow.corners:
            known = [begun.get(name, (None, None)) for name in flow.names]
            box |= {flow.names[j]: ends for j, ends in parameter_box(flow, known).items()}
    for values in product(*(sorted(set(ends)) for ends in box.values())):
        yield dict(zip(box, values, strict=True))
    if box:
        yield {name: (low + high) / 2 for name, (low, high) in box.items()}


def _flow_at(tried: Exploration, values: Mapping[str, Fraction], location: str) -> AffineFlow:
    flow = tried.demands.flow(location)
    if not flow.corners:
        return flow
    chosen = at_parameters(flow, {j: values[flow.names[j]] for j in flow.corners[0].values})
    signals = {signal.name: (signal.low, signal.high) for signal in flow.signals}
    return assembled(flow.names, chosen, signals, flow.limits)


def _equal(name: str, value: Fraction) -> Rows:
    difference = Form({primed(name): Fraction(1)}, -value)
    return (Row(difference), Row(-difference))


def _chain(tried: Exploration, explored: Explored) -> list[tuple[Explored, Lead]] | None:
    """The nodes before a node, each with the jump that leads on."""
    by_path = {e.path: e for e in tried.nodes}
    numbers = {id(e): number for number, e in enumerate(tried.nodes)}
    found: list[tuple[Explored, Lead]] = []
    here = explored
    while len(here.path) > 1:
        source = by_path.get(here.path[:-1])
        if source is None:
            return None
        lead = next((x for x in source.leads if x.fresh and x.target == numbers[id(here)]), None)
        if lead is None:
            return None
        found.append((source, lead))
        here = source
    return found[::-1]


def _start_rows(tried: Exploration, explored: Explored) -> Rows | None:
    """The rows of the initial set that a path begins in."""
    number, case = start_of(explored.path)
    for k, (_, cases) in enumerate(tried.problem.starts()):
        if k == number:
            return cases[case] if case < len(cases) else None
    return None


def _between(window: tuple[Fraction, Fraction], share: float) -> float:
    return float(window[0]) + share * float(window[1] - window[0])


def _spread(unsafe: Sequence[tuple[int, int]]) -> list[tuple[int, int, float]]:
    """A few moments for every case of the bad states: steps, and which part of them has
    passed."""
    chosen: list[tuple[int, int, float]] = []
    for case in sorted({case for _, case in unsafe}):
        own = [pair for pair in unsafe if pair[1] == case]
        parts = -(-MOMENTS // len(own))
        for number, _ in own[:: -(-len(own) // MOMENTS)]:
            chosen += [(number, case, (k + 0.5) / parts) for k in range(parts)]
    return chosen
