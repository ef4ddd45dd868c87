"""Flattening against the executable semantics, on random hierarchical modes.

The two share no code but the closure's definition of a mode. A random environment drives
both: after every change of the input u, the places and values that the flat automaton
reaches by edges without time in between must be those that macro-steps reach. (Random
modes have no invariants, so the one intended difference does not show.) One observation is
picked and the game goes on from there, so histories that are not visible at first become
visible later.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from itertools import product

from hierarchies import declare, point, rng
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from workbench.models.agents.closure import INACTIVE
from workbench.models.agents.executions import AgentSemantics, Execution
from workbench.models.agents.flatten import flatten
from workbench.models.agents.hierarchy import Agent, AgentInstance, Mode, ModeInstance, Transition
from workbench.models.agents.resets import apply
from workbench.models.agents.semantics import ModeSemantics
from workbench.models.automaton import Automaton, Constraint, HybridAutomaton, Kind
from workbench.models.expressions.evaluation import Scalar, holds
from workbench.models.expressions.expression import TRUE
from workbench.models.expressions.text import parse_expression
from workbench.models.source import ModelError

GUARDS = ("u == 0", "u == 1", "u == 2", "true", "v >= 1", "u > v", "p == 1", "p == 0")
ACTIONS = (("v", "1"), ("v", "w"), ("w", "u"), ("w", "1 - u"), ("p", "1"), ("p", "1 - p"))
CHOICES = (("v", "[0, 1]"), ("w", "[0, v]"))
SHARED = declare("write", "v w", Kind.DISCRETE)
INPUT = declare("read", "u", Kind.DISCRETE)

Values = frozenset[tuple[str, Scalar]]


@st.composite
def modes(draw: st.DrawFn, depth: int = 2, top: bool = True) -> Mode:
    """A mode with up to `depth` levels of submodes; every point has a way on, and every
    submode a way out."""
    names = ("a", "b", "c")[: draw(st.integers(2, 3))] if top or draw(st.booleans()) else ()
    inner = {n: draw(modes(depth=depth - 1, top=False)) for n in names if depth}
    if not inner:
        return draw(atoms())
    entries = () if top else ("e",)
    exits = ("x",) if not top and draw(st.booleans()) else ()
    ways = list(_points(inner, ("init",) if top else ("de", *entries), leaving=True))
    goals = list(_points(inner, exits, leaving=False))
    chosen = [*ways, *draw(st.lists(st.sampled_from(ways), max_size=3))]
    return Mode(
        "M",
        (*SHARED, *INPUT, *declare("private", "p", Kind.DISCRETE, "0")),
        tuple(ModeInstance(n, m) for n, m in inner.items()),
        entries,
        exits,
        tuple(_transition(draw, source, goals) for source in chosen),
    )


@st.composite
def atoms(draw: st.DrawFn) -> Mode:
    """An atomic mode; some change variables, or leave through an exit, by themselves."""
    exits, entries = draw(st.sampled_from([(), ("x",)])), draw(st.sampled_from([(), ("e",)]))
    sources = draw(st.lists(st.sampled_from(["de", *entries]), max_size=2))
    return Mode(
        "M",
        (*SHARED, *INPUT, *declare("private", "p", Kind.DISCRETE, "0")),
        (),
        entries,
        exits,
        tuple(_transition(draw, source, ["dx", *exits]) for source in sources),
    )


@st.composite
def supervisors(draw: st.DrawFn) -> Mode:
    """A composite mode that is interrupted, resumed, left by an exit and entered again,
    under random conditions."""
    atom = Mode("M", transitions=())
    job = Mode(
        "M",
        (*SHARED, *INPUT, *declare("private", "p", Kind.DISCRETE, "0")),
        (ModeInstance("i", atom), ModeInstance("j", atom)),
        ("e",),
        ("x",),
        (
            _transition(draw, "e", ["i.de"]),
            _transition(draw, "de", ["i.de", "j.de"]),
            _transition(draw, "i.dx", ["j.de", "x"]),
            _transition(draw, "j.dx", ["i.de", "x"]),
        ),
    )
    return Mode(
        "M",
        (*SHARED, *INPUT, *declare("private", "p", Kind.DISCRETE, "0")),
        (ModeInstance("a", job), ModeInstance("b", atom)),
        transitions=(
            _transition(draw, "init", ["a.e", "a.de"]),
            _transition(draw, "a.dx", ["b.de"]),
            _transition(draw, "a.x", ["b.de", "a.de"]),
            _transition(draw, "b.dx", ["a.de", "a.e"]),
        ),
    )


def _transition(draw: st.DrawFn, source: str, goals: list[str]) -> Transition:
    waits = source.endswith(".dx")
    guards = GUARDS if waits else ("true", "true", "v == 0", "v >= 1", "u == 1")
    changes = (*ACTIONS, *CHOICES) if source != "e" else ACTIONS[:4]
    steps = draw(st.lists(st.sampled_from(changes), max_size=2 if waits else 1))
    return Transition(
        point(source),
        point(draw(st.sampled_from(goals))),
        parse_expression(draw(st.sampled_from(guards))),
        tuple(Constraint(name, rng(text)) for name, text in steps),
    )


def _points(inner: dict[str, Mode], own: Iterable[str], leaving: bool) -> Iterable[str]:
    yield from own
    for name, mode in inner.items():
        yield f"{name}.{'dx' if leaving else 'de'}"
        yield from (f"{name}.{p}" for p in (mode.exits if leaving else mode.entries))


def _observed(path: str, values: dict[str, Scalar] | Values) -> tuple[str, Values]:
    pairs = values.items() if isinstance(values, dict) else values
    return path, frozenset((n, v) for n, v in pairs if n != "h" and not n.endswith(".h"))


def _semantic_steps(mode: ModeSemantics, entry: str, values: Values) -> set[Values]:
    """What a macro-step from an entry point, and more of them from the default entry,
    without time in between, can reach."""
    seen: set[Values] = set()
    queue = [(entry, values)]
    while queue:
        point_, before = queue.pop()
        found = mode.macro_steps(point_, dict(before), bound=400)
        assume(found.livelock is None and len(seen) < 300)
        for after in {frozenset(s.values.items()) for s in found.found if s.exit == "dx"} - seen:
            seen.add(after)
            queue.append(("de", after))
    return seen


def _flat_steps(automaton: Automaton, starts: set[tuple[str, Values]]) -> set[tuple[str, Values]]:
    """Everything reachable by edges alone, ranges at both their ends."""
    seen, queue = set(starts), list(starts)
    while queue:
        location, values = queue.pop()
        for edge in automaton.edges_from(location):
            if holds(edge.guard, dict(values)):
                for after in _all_resets(edge.resets, values):
                    if (edge.target, after) not in seen:
                        seen.add((edge.target, after))
                        queue.append((edge.target, after))
        assume(len(seen) < 3000)
    return seen


def _all_resets(resets: tuple[Constraint, ...], values: Values) -> Iterable[Values]:
    choices = sum(r.range.exact is None for r in resets)
    for ends in product((0, 1), repeat=choices):
        script = iter(ends)
        after = apply(resets, dict(values), lambda n, low, high, s=script: (low, high)[next(s)])
        if after is not None:
            yield frozenset(after.items())


def _leaf(location: str, definition: str) -> str:
    return "" if location == definition else location.partition("{")[0]


@settings(max_examples=80)
@given(modes() | supervisors(), st.data())
def test_flat_edges_reach_what_macro_steps_reach(top: Mode, data: st.DataObject) -> None:
    agent = Agent("A", (*SHARED, *INPUT), top=top)
    try:
        automaton = flatten(agent, "A")
    except ModelError as problem:
        assume(problem.diagnostics[0].code not in ("transient-cycle", "guard-reads-choice"))
        raise
    assert isinstance(automaton, HybridAutomaton)
    mode = ModeSemantics(top)
    first = {"u": Fraction(data.draw(st.integers(0, 2))), "v": Fraction(0), "w": Fraction(0)}
    histories = {d.name: INACTIVE for d in mode.private_declarations() if d.kind is Kind.DISCRETE}
    private = {n: Fraction(0) for n in histories if n == "p" or n.endswith(".p")}
    start = frozenset({**histories, **private, **first}.items())
    flat_start = frozenset({**private, **first}.items())
    reference = _semantic_steps(mode, mode.start, start)
    flat = {
        (begin.location, after)
        for begin in automaton.initial_sets()
        if holds(begin.condition, dict(flat_start))
        for after in _all_resets(begin.resets, flat_start)
    }
    flat = _flat_steps(automaton, flat)
    for _ in range(7):
        expected = {_observed(".".join(mode.active_path(dict(s))), s) for s in reference}
        found = {_observed(_leaf(location, "M"), s) for location, s in flat}
        assert found == expected
        if not expected:
            return
        chosen = data.draw(st.sampled_from(sorted(expected, key=repr)))
        u = Fraction(data.draw(st.integers(0, 2)))
        reference = {
            _with_input(s, u)
            for s in reference
            if _observed(".".join(mode.active_path(dict(s))), s) == chosen
        }
        reference = set().union(*(_semantic_steps(mode, "de", s) for s in reference))
        flat = {(at, _with_input(s, u)) for at, s in flat if _observed(_leaf(at, "M"), s) == chosen}
        flat = _flat_steps(automaton, flat)


def _with_input(values: Values, u: Fraction) -> Values:
    return frozenset({**dict(values), "u": u}.items())


def _started_plainly(top: Mode) -> Mode:
    """The mode with initial transitions that ask and change nothing: flattening lets all
    agents start at once, so what happens while only some have started does not count."""
    job = top.submodes[0]
    inner = replace(job.mode, transitions=tuple(map(_plain, job.mode.transitions)))
    return replace(
        top,
        submodes=(replace(job, mode=inner), *top.submodes[1:]),
        transitions=tuple(map(_plain, top.transitions)),
    )


def _plain(given: Transition) -> Transition:
    starts = given.source.submode is None
    return replace(given, guard=TRUE, actions=()) if starts else given


def _agents_closed(agent: AgentSemantics, runs: dict[Values, Execution]) -> dict[Values, Execution]:
    """Everything that macro-steps of any mode reach, one after another."""
    queue = list(runs.values())
    while queue:
        run = queue.pop()
        for mode in agent.modes:
            for after in agent.macro_steps(run, mode):
                key = frozenset(after.values.items())
                if key not in runs:
                    runs[key] = after
                    queue.append(after)
        assume(len(runs) < 200)
    return runs


@settings(max_examples=20)
@given(supervisors(), supervisors(), st.lists(st.integers(0, 2), min_size=3, max_size=3))
def test_product_edges_reach_what_interleaved_macro_steps_reach(
    first: Mode, second: Mode, changes: list[int]
) -> None:
    shared = declare("readwrite", "v w", Kind.DISCRETE)
    tops = {"one": _started_plainly(first), "two": _started_plainly(second)}
    both = Agent(
        "Both",
        (*shared, *INPUT),
        agents=tuple(
            AgentInstance(name, Agent(name, (*shared, *INPUT), top=top))
            for name, top in tops.items()
        ),
    )
    try:
        product = flatten(both, "both")
    except ModelError as problem:
        codes = ("transient-cycle", "guard-reads-choice", "initial-order")
        assume(problem.diagnostics[0].code not in codes)
        raise
    agent = AgentSemantics(both)
    zero = {"u": Fraction(0), "v": Fraction(0), "w": Fraction(0)}
    run = agent.begin(zero)
    runs = [run]
    for mode in agent.modes:
        runs = [after for run in runs for after in agent.initial_steps(run, mode)]
    reference = _agents_closed(agent, {frozenset(r.values.items()): r for r in runs})
    start = frozenset((n, v) for n, v in run.values.items() if not n.endswith("h"))
    flat = {
        (begin.location, after)
        for begin in product.initial_sets()
        if holds(begin.condition, dict(start))
        for after in _all_resets(begin.resets, start)
    }
    flat = _flat_steps(product, flat)
    for u in changes:
        assert {_observed("", s) for s in reference} == {_observed("", s) for _, s in flat}
        changed = [agent.environment_step(r, {"u": Fraction(u)}) for r in reference.values()]
        reference = _agents_closed(agent, {frozenset(r.values.items()): r for r in changed})
        flat = _flat_steps(product, {(at, _with_input(s, Fraction(u))) for at, s in flat})
