"""Temporal formulas: their text, and monitoring against a brute-force discrete monitor."""

from __future__ import annotations

import math
from array import array
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.models.automaton import HybridAutomaton, Location
from workbench.models.expressions.evaluation import evaluate
from workbench.models.source import ModelError
from workbench.models.trace import Ending, Outcome, Segment, Trace
from workbench.simulate.monitoring.monitor import Monitor
from workbench.simulate.monitoring.stl import Formula, Temporal, parse_formula
from workbench.simulate.monitoring.unit_polynomial import value

MODEL = HybridAutomaton("made", locations=(Location("a"), Location("b")))
STEP, END = 1 / 64, 2.0


def trace(*parts: tuple[str, float, float, list[float], list[float]]) -> Trace:
    """Segments (location, start, end, x, y) with polynomials in time since their start."""
    segments = []
    for location, start, end, x, y in parts:
        degree = max(len(x), len(y)) - 1
        rows = [*x, *[0.0] * (degree + 1 - len(x)), *y, *[0.0] * (degree + 1 - len(y))]
        final = array("d", [value(x, end - start), value(y, end - start)])
        segments.append(
            Segment(
                location,
                ("x", "y"),
                array("d", [start, end]),
                array("i", [degree]),
                array("d", rows),
                {},
                final,
            )
        )
    outcome = Outcome(Ending.HORIZON, parts[-1][2], "done")
    return Trace("made", ("x", "y"), tuple(segments), (), outcome)


def optimistic(text: str, run: Trace) -> float:
    return Monitor(MODEL, parse_formula(text), {}).optimistic(run)


def pessimistic(text: str, run: Trace) -> float:
    return Monitor(MODEL, parse_formula(text), {}).pessimistic(run)


# A discrete monitor, straight from the definitions


def brute(formula: Formula, run: Trace, future: float) -> float:
    count = round(run.end / STEP)
    rows = [run.at(i * STEP) for i in range(count + 1)]
    stack: list[tuple[list[float], list[float]]] = []
    for node in formula.nodes:
        if node.kind is Temporal.CONDITION:
            assert node.condition is not None
            left, right = node.condition.args
            margins = [float(evaluate(left, r)) - float(evaluate(right, r)) for r in rows]  # type: ignore[arg-type]
            if node.condition.op in ("<", "<="):
                margins = [-m for m in margins]
            stack.append((margins, [-m for m in margins]))
        elif node.kind is Temporal.NOT:
            stack.append(stack.pop()[::-1])
        elif node.kind in (Temporal.AND, Temporal.OR, Temporal.IMPLIES):
            second, first = stack.pop(), stack.pop()
            if node.kind is Temporal.IMPLIES:
                first = first[::-1]
            yes, no = (min, max) if node.kind is Temporal.AND else (max, min)
            stack.append(
                (
                    [yes(a, b) for a, b in zip(first[0], second[0], strict=True)],
                    [no(a, b) for a, b in zip(first[1], second[1], strict=True)],
                )
            )
        elif node.kind is Temporal.UNTIL:
            second, first = stack.pop(), stack.pop()
            stack.append(until(first, second, node.low, node.high, future))
        else:
            yes_part, no_part = stack.pop()
            always = node.kind is Temporal.ALWAYS
            stack.append(
                (
                    window(yes_part, node.low, node.high, always, future),
                    window(no_part, node.low, node.high, not always, future),
                )
            )
    return stack[-1][0][0]


def window(values: list[float], low: float, high: float, all_: bool, future: float) -> list[float]:
    result = []
    for i in range(len(values)):
        last = i + (10**6 if math.isinf(high) else round(high / STEP))
        part = values[i + round(low / STEP) : last + 1]
        if last >= len(values):
            part = [*part, future]
        result.append(min(part) if all_ else max(part))
    return result


def until(
    first: tuple[list[float], list[float]],
    second: tuple[list[float], list[float]],
    low: float,
    high: float,
    future: float,
) -> tuple[list[float], list[float]]:
    n = len(first[0])
    yes, no = [], []
    for i in range(n):
        last = min(i + (n if math.isinf(high) else round(high / STEP)), n)
        best, worst = -math.inf, math.inf
        for j in range(i + round(low / STEP), last + 1):
            ends_yes = second[0][j] if j < n else future
            ends_no = second[1][j] if j < n else future
            best = max(best, min([ends_yes, *first[0][i : min(j, n)]]))
            worst = min(worst, max([ends_no, *first[1][i : min(j, n)]]))
        yes.append(best)
        no.append(worst)
    return yes, no


bound = st.integers(0, 60).map(lambda k: k * STEP)
interval = st.tuples(bound, bound).map(lambda p: f"[{min(p)},{max(p)}]")
condition = st.sampled_from(["x >= 1/2", "y <= 0.3", "x - y > 0", "x*y < 1/4", "y >= -1"])


def grown(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.tuples(interval, inner).map(lambda p: f"always{p[0]} ({p[1]})"),
        st.tuples(interval, inner).map(lambda p: f"eventually{p[0]} ({p[1]})"),
        st.tuples(inner, interval, inner).map(lambda p: f"({p[0]}) until{p[1]} ({p[2]})"),
        st.tuples(inner, st.sampled_from(["&&", "||", "->"]), inner).map(
            lambda p: f"({p[0]}) {p[1]} ({p[2]})"
        ),
        inner.map(lambda p: f"!({p})"),
    )


formulas = st.recursive(condition, grown, max_leaves=4)
polynomials = st.lists(st.floats(-1, 1).map(lambda v: round(v, 2)), min_size=2, max_size=5)


@settings(max_examples=150, deadline=None)
@given(text=formulas, x=polynomials, y=polynomials, sides=st.booleans())
def test_agrees_with_a_discrete_monitor(
    text: str, x: list[float], y: list[float], sides: bool
) -> None:
    run = trace(("a", 0.0, END, x, y))
    formula = parse_formula(text)
    monitor = Monitor(MODEL, formula, {})
    exact = monitor.optimistic(run) if sides else monitor.pessimistic(run)
    discrete = brute(formula, run, math.inf if sides else -math.inf)
    if math.isinf(exact) or math.isinf(discrete):
        # one sample more or less at the end of the run may decide
        assert exact == discrete or _ends_near(formula)
        return
    operators = sum(
        n.kind in (Temporal.ALWAYS, Temporal.EVENTUALLY, Temporal.UNTIL) for n in formula.nodes
    )
    assert abs(exact - discrete) <= 1e-9 + 1.5 * (1 + operators) * largest_step(formula, run)


def largest_step(formula: Formula, run: Trace) -> float:
    """How much a margin changes between two samples."""
    rows = [run.at(i * STEP) for i in range(round(run.end / STEP) + 1)]
    largest = 0.0
    for node in formula.nodes:
        if node.condition is not None:
            left, right = node.condition.args
            margins = [float(evaluate(left, r)) - float(evaluate(right, r)) for r in rows]  # type: ignore[arg-type]
            largest = max(largest, *(abs(b - a) for a, b in pairwise(margins)))
    return largest


def _ends_near(formula: Formula) -> bool:
    return formula.horizon >= END - 2 * STEP


def test_nested_operators_have_the_values_one_computes_by_hand() -> None:
    run = trace(("a", 0.0, 10.0, [0.0, 1.0], [1.0]))  # x = t
    assert optimistic("always[0,4](x <= 7)", run) == pytest.approx(3.0)
    assert optimistic("eventually[2,5](x >= 4)", run) == pytest.approx(1.0)
    assert optimistic("always[0,3] eventually[1,2](x >= 1)", run) == pytest.approx(1.0)
    assert optimistic("eventually[0,3] always[1,2](x <= 2)", run) == pytest.approx(0.0)
    assert optimistic("(x <= 5) until[0,8] (x >= 4)", run) == pytest.approx(0.5, abs=1e-6)
    assert optimistic("x >= -2 -> y >= 3", run) == pytest.approx(-2.0)


def test_a_dip_between_samples_is_seen() -> None:
    run = trace(("a", 0.0, 1.0, [0.4567**2 * 1e6 - 0.01, -2 * 0.4567 * 1e6, 1e6], [0.0]))
    assert optimistic("always[0,1](x >= 0)", run) == pytest.approx(-0.01, rel=1e-5)
    assert pessimistic("eventually[0,1](x <= 0)", run) == pytest.approx(0.01, rel=1e-5)
    assert optimistic("always[0,0.4](x >= 0)", run) > 0


def test_both_values_at_a_jump_count() -> None:
    run = trace(("a", 0.0, 1.0, [0.0, 1.0], [0.0]), ("b", 1.0, 2.0, [5.0, -1.0], [1.0]))
    assert optimistic("eventually[1,1](x >= 5)", run) == pytest.approx(0.0)
    assert optimistic("always[0,1](x <= 4)", run) == pytest.approx(-1.0)
    assert optimistic('always[0,2](at("made", "a") -> x <= 1)', run) == pytest.approx(0.0)
    assert optimistic('eventually[0,2](at("made", "b") && x <= 4.5)', run) == pytest.approx(0.5)
    # the first value at the jump and the second do not hold together
    assert optimistic("eventually[0,1](x >= 4 && y <= 1/4)", run) < 0


def first_violation(text: str, run: Trace) -> float | None:
    return Monitor(MODEL, parse_formula(text), {}).first_violation(run)


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("always[0,10](x <= 3)", 3.0),
        ("always[5,10](x <= 3)", 5.0),
        ("eventually[0,6](x >= 9)", 6.0),
        ("eventually[0,20](x >= 9)", None),
        ("always[0,10](x >= 2 -> eventually[0,3](x <= 1))", 5.0),
        ("always[2,4] eventually[0,1](x <= 4)", 5.0),
        ("(x <= 1) until[0,8] (x >= 4)", 1.0),
        ("(x <= 7) until[0,8] (x >= 9)", 7.0),
        ("(x <= 7) until[0,6] (x >= 9)", 6.0),
        ("x >= 1", 0.0),
        ("!eventually[4,6](x >= 5 && x <= 7)", 5.0),
    ],
)
def test_a_formula_is_decided_by_the_shortest_beginning(text: str, time: float | None) -> None:
    run = trace(("a", 0.0, 10.0, [0.0, 1.0], [1.0]))  # x = t
    assert first_violation(text, run) == (None if time is None else pytest.approx(time, abs=1e-9))


def beginning(run: Trace, until: float) -> Trace:
    """The run up to a time, as a trace of its own."""
    parts = []
    for s in run.segments:
        if s.start <= until:
            width = s.degrees[0] + 1
            rows = list(s.coefficients[:width]), list(s.coefficients[width:])
            parts.append((s.location, s.start, min(s.end, until), *rows))
    return trace(*parts)


@settings(max_examples=100, deadline=None)
@given(text=formulas, x=polynomials, y=polynomials, later=polynomials)
def test_the_time_of_violation_against_shortened_runs(
    text: str, x: list[float], y: list[float], later: list[float]
) -> None:
    """Any shorter beginning leaves the formula open, any longer one does not."""
    run = trace(("a", 0.0, 1.0, x, y), ("b", 1.0, END, later, y))
    monitor = Monitor(MODEL, parse_formula(text), {})
    time = monitor.first_violation(run)
    assert (time is None) == monitor.holds(run, True)
    if time is None:
        return
    for shorter in (0.5 * time, time - 1e-6):
        if shorter > 0.0:
            assert monitor.holds(beginning(run, shorter), True)
    for longer in (time + 1e-6, 0.5 * (time + END)):
        if longer < END:
            assert not monitor.holds(beginning(run, longer), True)


def test_nothing_is_claimed_beyond_the_end() -> None:
    run = trace(("a", 0.0, 2.0, [1.0], [1.0]))
    assert optimistic("eventually[0,5](x >= 9)", run) == math.inf
    assert pessimistic("eventually[0,5](x >= 9)", run) == pytest.approx(-8.0)
    assert optimistic("always(x >= 0)", run) == pytest.approx(1.0)
    assert pessimistic("always(x >= 0)", run) == -math.inf
    assert pessimistic("always[0,2](x >= 0)", run) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("x < 3", "condition"),
        ("always[0,20](speed < 120)", "condition always"),
        ("a < 1 -> b < 2 -> c < 3", "condition condition condition -> ->"),
        ("a < 1 && b < 2 || c < 3", "condition condition && condition ||"),
        ("!always a < 1 until[0,3] b < 2", "condition always ! condition until"),
        ("(x + 1)*2 < 3 && (y < 2)", "condition condition &&"),
        ("((a < 1 ? 2 : 3)) < x", "condition"),
        ("until_x < 2 && max(a, b) >= (2)", "condition condition &&"),
        ("eventually (always[1, inf] (x != 2))", "condition always eventually"),
    ],
)
def test_text_is_read_as_documented(text: str, kinds: str) -> None:
    assert " ".join(n.kind for n in parse_formula(text).nodes) == kinds


def test_horizon_adds_up() -> None:
    assert parse_formula("always[0,3] eventually[1,4] x < 1").horizon == 7.0
    assert parse_formula("x < 1 && always[0,2] y < 1").horizon == 2.0
    assert parse_formula("always x < 1").horizon == math.inf


@pytest.mark.parametrize(
    "text",
    [
        "",
        "always",
        "always[0,20] (",
        "x < 3 &&",
        "x <",
        "x < 2)",
        "(x < 2",
        "always[3,1] x < 2",
        "always[-1,2] x < 2",
        "always[1 2] x < 2",
        "always[a,b] x < 2",
        'at("made, x',
        "x < 2 y",
        "&& x < 2",
    ],
)
def test_mistakes_are_reported(text: str) -> None:
    with pytest.raises(ModelError):
        parse_formula(text)


def test_deep_nesting_is_no_trouble() -> None:
    depth = 3000
    formula = parse_formula("!" * depth + "(" * depth + "x < 2" + ")" * depth)
    assert len(formula.nodes) == depth + 1
    run = trace(("a", 0.0, 1.0, [1.0], [0.0]))
    assert Monitor(MODEL, formula, {}).optimistic(run) == pytest.approx(1.0)
