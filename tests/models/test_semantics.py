"""The executable semantics: the paper's own examples, and what every closed mode can do."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from math import prod

import pytest
from hierarchies import atomic, constraints, declare, expr, parts, subs, trans
from hypothesis import given
from hypothesis import strategies as st

from workbench.models.agents.closure import INACTIVE
from workbench.models.agents.executions import AgentSemantics, Discrete, Flow, NotAStepError
from workbench.models.agents.hierarchy import Agent, ControlPoint, Mode
from workbench.models.agents.semantics import ModeSemantics, State
from workbench.models.automaton import INT, Kind
from workbench.models.expressions.evaluation import holds
from workbench.models.expressions.polynomial_flow import (
    NotPolynomialInTimeError,
    always,
    polynomial,
)

TRACK = atomic("Track")


def controller() -> ModeSemantics:
    """The paper's Fig. 3; g1 and g2 are the guards of the two switches."""
    return ModeSemantics(
        Mode(
            "Controller",
            declare("read", "g1 g2", Kind.DISCRETE),
            subs(TrackOptimal=TRACK, TrackPrevious=TRACK),
            transitions=(
                trans("de", "TrackOptimal.de"),
                trans("TrackOptimal.dx", "TrackPrevious.de", "g1 > 0"),
                trans("TrackPrevious.dx", "TrackOptimal.de", "g2 > 0"),
            ),
        )
    )


def values(**given: int | str) -> dict[str, Fraction | str]:
    return {n: v if isinstance(v, str) else Fraction(v) for n, v in given.items()}


def points(states: tuple[State, ...]) -> list[str]:
    return [str(s.point) for s in states]


def test_micro_execution_of_controller_while_g1_is_false() -> None:
    found = controller().macro_steps("de", values(g1=0, g2=0, h="TrackOptimal"))
    assert found.livelock is None
    assert [points(s.states) for s in found.found] == [
        ["de", "TrackOptimal.de", "TrackOptimal.dx", "dx"]
    ]
    assert found.found[0].values["h"] == "TrackOptimal"


def test_micro_execution_of_controller_when_g1_is_true() -> None:
    found = controller().macro_steps("de", values(g1=1, g2=0, h="TrackOptimal"))
    assert {s.values["h"]: points(s.states) for s in found.found} == {
        "TrackOptimal": ["de", "TrackOptimal.de", "TrackOptimal.dx", "dx"],
        "TrackPrevious": [
            "de",
            "TrackOptimal.de",
            "TrackOptimal.dx",
            "TrackPrevious.de",
            "TrackPrevious.dx",
            "dx",
        ],
    }


def test_the_first_entry_takes_the_authors_transition() -> None:
    found = controller().macro_steps("de", values(g1=0, g2=0, h=INACTIVE))
    assert [s.values["h"] for s in found.found] == ["TrackOptimal"]


@given(st.integers(-1, 1), st.integers(-1, 1), st.sampled_from(["TrackOptimal", "TrackPrevious"]))
def test_an_active_mode_can_always_stutter(g1: int, g2: int, active: str) -> None:
    start = values(g1=g1, g2=g2, h=active)
    outcomes = [(s.exit, s.values) for s in controller().macro_steps("de", start).found]
    assert ("dx", start) in outcomes


def supervisor() -> ModeSemantics:
    """A composite `job` that a group transition interrupts, resumes, and that can exit."""
    job = Mode(
        "Job",
        (*declare("read", "x"), *declare("private", "n", Kind.DISCRETE, "0", INT)),
        subs(one=TRACK, two=TRACK),
        ("start",),
        ("done",),
        (
            trans("start", "one.de"),
            trans("de", "one.de"),
            trans("one.dx", "two.de", "x == 1", ("n", "n + 1")),
            trans("two.dx", "done", "x == 2"),
        ),
    )
    return ModeSemantics(
        Mode(
            "Top",
            declare("read", "x"),
            subs(job=job, alarm=TRACK, rest=TRACK),
            transitions=(
                trans("init", "job.start"),
                trans("job.dx", "alarm.de", "x == 3"),
                trans("alarm.dx", "job.de", "x == 4"),
                trans("job.done", "rest.de"),
                trans("rest.dx", "job.de", "x == 5"),
            ),
        )
    )


def after(mode: ModeSemantics, entry: str, start: dict) -> list[tuple[str, str, Fraction]]:  # type: ignore[type-arg]
    steps = mode.macro_steps(entry, start).found
    return sorted((s.values["h"], s.values["job.h"], s.values["job.n"]) for s in steps)  # type: ignore[type-var]


def at(x: int, h: str, inner: str, n: int = 0) -> dict[str, Fraction | str]:
    return {"x": Fraction(x), "h": h, "job.h": inner, "job.n": Fraction(n)}


def test_a_group_transition_keeps_the_history_of_what_it_leaves() -> None:
    assert after(supervisor(), "de", at(3, "job", "two", 1)) == [
        ("alarm", "two", 1),
        ("job", "two", 1),
    ]


def test_default_entry_resumes() -> None:
    assert after(supervisor(), "de", at(4, "alarm", "two", 1)) == [
        ("alarm", "two", 1),
        ("job", "two", 1),
    ]


def test_a_named_exit_forgets_and_the_next_entry_starts_anew() -> None:
    mode = supervisor()
    assert ("rest", INACTIVE, 1) in after(mode, "de", at(2, "job", "two", 1))
    assert after(mode, "de", at(5, "rest", INACTIVE, 1)) == [
        ("job", "one", 1),
        ("rest", INACTIVE, 1),
    ]


def test_private_variables_keep_their_values_while_their_mode_is_inactive() -> None:
    mode = supervisor()
    assert mode.private == {"h", "job.h", "job.n"}
    here = State(ControlPoint(None, "dx"), at(1, "alarm", "two", 4))
    assert mode.environment_step(here, State(ControlPoint(None, "de"), at(9, "alarm", "two", 4)))
    assert not mode.environment_step(
        here, State(ControlPoint(None, "de"), at(9, "alarm", "two", 5))
    )
    assert not mode.environment_step(here, State(ControlPoint("job", "de"), here.values))


def test_a_livelock_is_reported() -> None:
    mode = ModeSemantics(
        Mode(
            "M",
            declare("private", "n", Kind.DISCRETE, "0", INT),
            subs(a=TRACK),
            transitions=(
                trans("init", "a.de"),
                trans("a.dx", "a.de", "true", ("n", "n + 1")),
            ),
        )
    )
    found = mode.macro_steps("de", values(n=0, h="a"), bound=50)
    assert found.livelock is not None and len(found.livelock) == 50
    assert {s.values["n"] for s in found.found} >= {0, 1, 2}


def test_flows_are_checked_exactly_on_every_active_level() -> None:
    mode = ModeSemantics(
        Mode(
            "M",
            (*declare("write", "x y"), *declare("private", "z")),
            subs(
                fast=atomic("Fast", variables=declare("write", "x y"), flows=constraints(x="2")),
                slow=atomic("Slow", variables=declare("private", "w"), flows=constraints(w="1")),
            ),
            transitions=(trans("init", "fast.de"),),
            algebraic=constraints(y="x*x"),
            invariant=expr("x <= 4"),
        )
    )
    start = {"x": Fraction(0), "y": Fraction(0), "z": Fraction(0), "slow.w": Fraction(7)}
    start |= {"h": "fast"}  # type: ignore[dict-item]
    good = {"x": polynomial(0, 2), "y": polynomial(0, 0, 4)}
    assert mode.constraints(start).path == ("fast",)
    assert mode.flow_violations(start, good, Fraction(2)) == ()
    assert mode.flow_violations(start, good, Fraction(2001, 1000)) == ("the invariant fails",)
    assert mode.flow_violations(start, {**good, "y": polynomial(0, 1)}, Fraction(2)) == (
        "the algebraic constraint on y fails",
    )
    assert "the differential constraint on x fails" in mode.flow_violations(
        start, {"x": polynomial(0, 1), "y": polynomial(0, 0, 1)}, Fraction(1)
    )
    assert mode.flow_violations(start, {**good, "slow.w": polynomial(7, 1)}, Fraction(1)) == (
        "slow.w changes, but nothing lets it flow",
    )
    assert mode.flow_violations(start, {**good, "x": polynomial(1, 2)}, Fraction(0)) != ()


def test_a_condition_that_fails_at_one_irrational_instant_only() -> None:
    flow = {"x": polynomial(0, 1)}
    assert not always(expr("(x^2 - 2)^2 > 0"), flow, Fraction(2))
    assert always(expr("(x^2 - 2)^2 > 0"), flow, Fraction(7, 5))
    assert always(expr("(x^2 - 2)^2 >= 0"), flow, Fraction(2))
    assert always(expr("x^2 < 2 || x^2 >= 2"), flow, Fraction(2))
    assert not always(expr("x^2 < 2 || x^2 > 2"), flow, Fraction(2))
    assert always(expr("x*x == x^2"), flow, Fraction(100))
    with pytest.raises(NotPolynomialInTimeError):
        always(expr("sin(x) >= 0"), flow, Fraction(1))


instants = st.fractions(-1, 3, max_denominator=3)


@given(
    st.lists(instants, max_size=4),
    st.lists(instants, max_size=4),
    st.sampled_from(["<", "<=", ">", ">=", "!=", "=="]),
    st.sampled_from(["&&", "||"]),
    st.fractions(0, 3, max_denominator=3),
)
def test_always_agrees_with_known_roots(
    p: list[Fraction], q: list[Fraction], comparison: str, connective: str, duration: Fraction
) -> None:
    """Oracle: products of linear factors change sign only at their given roots, so it is
    enough to look at these, at the ends, and halfway between neighbours."""
    condition = expr(f"p {comparison} 0 {connective} q >= 0")
    flow = {"p": _from_roots(p), "q": _from_roots(q)}
    inside = {r for r in (*p, *q) if 0 < r < duration}
    marks = sorted({Fraction(0), duration} | inside)
    marks += [(a + b) / 2 for a, b in pairwise(marks)]
    oracle = [
        holds(condition, {"p": prod(t - r for r in p), "q": prod(t - r for r in q)}) for t in marks
    ]
    assert always(condition, flow, duration) is all(oracle)


def _from_roots(roots: list[Fraction]) -> tuple[Fraction, ...]:
    found = [Fraction(1)]
    for root in roots:
        shifted = [Fraction(0), *found]
        found = [a - root * b for a, b in zip(shifted, [*found, Fraction(0)], strict=True)]
    return polynomial(*found)


def two_agents() -> AgentSemantics:
    """A clock and a counter that moves when the clock says so."""
    clock = Agent(
        "Clock",
        declare("write", "t", initial="0"),
        top=Mode("C", declare("write", "t"), flows=constraints(t="1")),
    )
    counting = Mode(
        "N",
        (*declare("read", "t u"), *declare("private", "n", Kind.DISCRETE, "0", INT)),
        subs(low=TRACK, high=TRACK),
        transitions=(
            trans("init", "low.de"),
            trans("low.dx", "high.de", "t >= 1", ("n", "n + 1")),
        ),
    )
    counter = Agent("Counter", declare("read", "t u"), top=counting)
    return AgentSemantics(
        Agent(
            "Both",
            (*declare("write", "t"), *declare("read", "u")),
            agents=parts(clock=clock, counter=counter),
        )
    )


def test_an_execution_starts_every_mode_before_time_passes() -> None:
    agent = two_agents()
    run = agent.begin({"t": Fraction(0), "u": Fraction(0)})
    with pytest.raises(NotAStepError, match=r"clock, counter must take the initial step"):
        agent.flow(run, {"t": polynomial(0, 1)}, Fraction(1))
    (run,) = agent.initial_steps(run, "counter")
    (run,) = agent.initial_steps(run, "clock")
    run = agent.flow(run, {"t": polynomial(0, 1)}, Fraction(1))
    moved = [r for r in agent.macro_steps(run, "counter") if r.values["counter.n"] == 1]
    assert [r.values["counter.h"] for r in moved] == ["high"]
    with pytest.raises(NotAStepError, match="differential constraint on t"):
        agent.flow(run, {"t": polynomial(1, 2)}, Fraction(1))


def test_the_environment_changes_only_what_the_agent_reads() -> None:
    agent = two_agents()
    run = agent.begin({"t": Fraction(0), "u": Fraction(0)})
    for name in agent.modes:
        (run,) = agent.initial_steps(run, name)
    changed = agent.environment_step(run, {"u": Fraction(5)})
    assert changed.values["u"] == 5 and changed.values["counter.h"] == "low"
    with pytest.raises(NotAStepError, match="cannot change t"):
        agent.environment_step(run, {"t": Fraction(5)})


def test_a_trace_hides_private_variables_but_keeps_the_division_into_flows() -> None:
    agent = two_agents()
    run = agent.begin({"t": Fraction(0), "u": Fraction(0)})
    for name in agent.modes:
        (run,) = agent.initial_steps(run, name)
    run = agent.flow(run, {"t": polynomial(0, 1)}, Fraction(1))
    run = next(r for r in agent.macro_steps(run, "counter") if r.values["counter.n"] == 1)
    run = agent.flow(run, {"t": polynomial(1, 1)}, Fraction(1))
    start, moved = {"t": Fraction(0), "u": Fraction(0)}, {"t": Fraction(1), "u": Fraction(0)}
    assert agent.trace(run) == (
        Discrete(None, start),
        Discrete(None, start),
        Flow(Fraction(1), {"t": polynomial(0, 1)}),
        Discrete(None, moved),
        Flow(Fraction(1), {"t": polynomial(1, 1)}),
    )
