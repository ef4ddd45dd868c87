"""Whatever the automaton, a run ends in time, with an outcome, and tells the truth.

Random automata with poles, roots of negative numbers, contradictory invariants, instant loops
and nonsensical resets: no exception, no hang, no invariant violated beyond the tolerance,
and the same run again from the same decisions, or from any of its instants.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import islice, pairwise
from random import Random

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from workbench.models.automaton import (
    Constraint,
    Edge,
    EventKind,
    HybridAutomaton,
    Initial,
    Kind,
    Location,
    Property,
    Range,
    Variable,
)
from workbench.models.expressions.expression import (
    TRUE,
    Expression,
    conditional,
    conjunction,
    constant,
    disjunction,
    divide,
    equal,
    function,
    maximum,
    negation,
    variable,
)
from workbench.models.expressions.operators import Op
from workbench.models.trace import Ending, Trace
from workbench.simulate.loop.advance import follow, instants
from workbench.simulate.loop.begin import begin
from workbench.simulate.loop.instant import RunEnded, Scenario
from workbench.simulate.place import Prepared
from workbench.simulate.policy import Level, Policy, Switching
from workbench.simulate.run import simulate
from workbench.simulate.stepping.calculator import Calculator
from workbench.simulate.stepping.methods import Adams, Method, Taylor

X, Y, N, T = map(variable, ("x", "y", "n", "time"))
SMALL = st.fractions(-2, 2, max_denominator=3)
PLACES = ("a", "b", "c")


@st.composite
def terms(draw: st.DrawFn) -> Expression:
    a, b, k = draw(st.sampled_from([X, Y, N, T])), draw(st.sampled_from([X, Y])), draw(SMALL)
    choices = [
        lambda: constant(k),
        lambda: a * k,
        lambda: a * b,
        lambda: divide(k, b),
        lambda: function(Op.SQRT, b),
        lambda: function(Op.LOG, a),
        lambda: function(Op.SIN, a + b),
        lambda: function(Op.SIGN, b) * k,
        lambda: function(Op.FLOOR, b),
        lambda: function(Op.ACOS, b * Fraction(1, 2)),
        lambda: function(Op.EXP, a * b * 3),
        lambda: maximum(a, b),
        lambda: conditional(a <= b, b, constant(k)),
    ]
    return draw(st.sampled_from(choices))()


@st.composite
def conditions(draw: st.DrawFn) -> Expression:
    parts = []
    for _ in range(draw(st.integers(1, 2))):
        e, k = draw(terms()), draw(SMALL)
        parts.append(draw(st.sampled_from([e <= k, e >= k, e < k, equal(e, k), TRUE])))
    whole = draw(st.sampled_from([conjunction, disjunction]))(*parts)
    return negation(whole) if draw(st.booleans()) else whole


@st.composite
def automata(draw: st.DrawFn) -> HybridAutomaton:
    locations = []
    for name in PLACES:
        flows = []
        for v in ("x", "y"):
            low = draw(terms())
            bounds = Range(low, low + draw(st.integers(0, 2)))
            flows.append(Constraint(v, draw(st.sampled_from([Range.exactly(low), bounds]))))
        invariant = draw(conditions()) if draw(st.booleans()) else TRUE
        locations.append(Location(name, tuple(flows), (), invariant))
    edges = []
    for i in range(draw(st.integers(0, 5))):
        resets = tuple(
            Constraint(v, Range.exactly(draw(terms())))
            for v in ("x", "y", "n")
            if draw(st.booleans())
        )
        ends = draw(st.tuples(st.sampled_from(PLACES), st.sampled_from(PLACES)))
        edges.append(
            Edge(
                *ends,
                draw(conditions()),
                resets,
                urgent=draw(st.booleans()),
                event=draw(st.sampled_from(list(EventKind))),
                name=f"e{i}",
            )
        )
    start = conjunction(X >= -1, X <= 1, equal(Y, draw(SMALL)), equal(N, 0))
    claims = (Property("claim", draw(conditions())),) if draw(st.booleans()) else ()
    return HybridAutomaton(
        "any",
        (Variable("x"), Variable("y"), Variable("n", kind=Kind.DISCRETE)),
        tuple(locations),
        tuple(edges),
        (Initial("a", start),),
        properties=claims,
    )


METHODS: list[Method] = [
    Adams(max_steps=400),
    Adams(rtol=1e-3, atol=1e-4, max_steps=400),
    Taylor(max_steps=400),
]
POLICIES = [
    Policy(),
    Policy(Switching.LATEST, Level.HIGH),
    Policy(Switching.RANDOM, Level.RANDOM),
]


def check(model: HybridAutomaton, trace: Trace, method: Method) -> None:
    outcome = trace.outcome
    assert outcome.sentence and 0.0 <= outcome.time <= 3.0
    assert all(a.time <= b.time for a, b in pairwise(trace.events))
    assert all(a.end <= b.start for a, b in pairwise(trace.segments))
    assert trace.counts.beyond == 0
    if outcome.ending is Ending.HORIZON:
        assert trace.end == 3.0
    prepared = Prepared(model)
    exact = {x.name: Calculator([x.invariant], {}, {}) for x in model.locations}
    for segment in trace.segments:
        if segment.end == segment.start:
            continue
        for k in range(9):
            t = segment.start + (segment.end - segment.start) * k / 8
            values = {n: float(v) for n, v in segment.valuation(t).items()}
            if all(map(math.isfinite, values.values())):
                loose = (100 * method.rtol, 100 * method.atol)
                within = prepared.invariant(segment.location)(values, *loose)
                exactly = exact[segment.location](values)[0] != 0.0  # for x != 1 next to 1
                assert within or exactly, (segment.location, t)


@settings(max_examples=max(80, settings.default.max_examples))
@given(
    automata(),
    st.sampled_from(METHODS),
    st.sampled_from(POLICIES),
    st.integers(0, 5),
    st.sampled_from([None, True]),
)
def test_a_run_ends_with_an_outcome(
    model: HybridAutomaton, method: Method, policy: Policy, seed: int, sliding: bool | None
) -> None:
    def run(policy: Policy) -> Trace:
        return simulate(
            model,
            until=3.0,
            method=method,
            policy=policy,
            seed=seed,
            max_jumps=300,
            sliding=sliding,
        )

    trace = run(policy)
    check(model, trace, method)
    repeated = run(Policy(policy.switching, policy.level, script=trace.decisions))
    assert repeated.events == trace.events and repeated.outcome == trace.outcome


@settings(max_examples=max(30, settings.default.max_examples // 4))
@given(
    automata(),
    st.sampled_from(METHODS),
    st.sampled_from(POLICIES),
    st.integers(0, 5),
    st.sampled_from([None, True]),
)
def test_a_run_goes_on_from_any_instant_as_it_did(
    model: HybridAutomaton, method: Method, policy: Policy, seed: int, sliding: bool | None
) -> None:
    scenario = Scenario.of(
        Prepared(model), 3.0, method, policy, {}, Random(seed), max_jumps=300, sliding=sliding
    )
    try:
        first = begin(scenario, {}, None, {}, scenario.first_decisions())
    except RunEnded:
        assume(False)
    saved = list(islice(instants(first), 40))
    ahead = [repr(follow(now)) for now in reversed(Random(seed).sample(saved, min(3, len(saved))))]
    assert ahead == [repr(follow(first))] * len(ahead)
