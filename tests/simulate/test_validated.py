"""Enclosures against closed forms at higher precision, and what they refuse to prove."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import flint
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.models.automaton import (
    Constraint,
    Edge,
    HybridAutomaton,
    Initial,
    Location,
    Property,
    Range,
    Variable,
)
from workbench.models.expressions.expression import conjunction, equal, variable
from workbench.models.expressions.text import parse_expression as parse
from workbench.models.load import load
from workbench.simulate.recipe import Recipe
from workbench.simulate.run import simulate
from workbench.simulate.validated.balls import GaveUp, ball, truth
from workbench.simulate.validated.enclosure import PRECISION, Flow, StateSet
from workbench.simulate.validated.validated_run import (
    TIGHT,
    confirm_violation,
    describe,
    validate,
    validated_run,
)

FINE = 400


@pytest.fixture(autouse=True)
def precision():
    with flint.ctx.workprec(PRECISION):
        yield


def carried(flows, start, until, h=0.25, held=None):
    """The set when the steps sum up to about `until`, and `elapsed`, their exact sum."""
    flow = Flow({n: parse(e) for n, e in flows.items()}, held or {})
    state = StateSet.of_box(dict(zip(flow.names, start, strict=True)))
    elapsed, until, h = Fraction(0), Fraction(until), Fraction(h)
    while elapsed < until:
        step = flow.step(state, min(h, until - elapsed))
        state = step.image(ball(step.h))
        elapsed = elapsed + step.h
    return {**dict(zip(flow.names, state.box, strict=True)), "elapsed": ball(elapsed)}


def contains(box, exact):
    """Whether a ball contains what a finer ball encloses."""
    return box.overlaps(exact) and box.contains(exact.mid())


small = st.fractions(-2, 2, max_denominator=16)
times = st.integers(1, 64).map(lambda k: k / 16)


class TestLinear:
    @settings(max_examples=25, deadline=None)
    @given(small, small, small, small, times)
    def test_spiral_in_closed_form(self, a, b, x, y, t):
        flows = {"x": f"({a})*x - ({b})*y", "y": f"({b})*x + ({a})*y"}
        with flint.ctx.workprec(PRECISION):
            found = carried(flows, [ball(x), ball(y)], t)
        with flint.ctx.workprec(FINE):
            growth = (ball(a) * found["elapsed"]).exp()
            angle = ball(b) * found["elapsed"]
            exact_x = growth * (ball(x) * angle.cos() - ball(y) * angle.sin())
            exact_y = growth * (ball(x) * angle.sin() + ball(y) * angle.cos())
            assert contains(found["x"], exact_x)
            assert contains(found["y"], exact_y)
        assert float(found["x"].rad()) < 1e-30

    @settings(max_examples=15, deadline=None)
    @given(st.lists(small, min_size=12, max_size=12), times)
    def test_random_matrix_against_its_exponential(self, entries, t):
        """Ours is preconditioned step by step; the reference is one exponential."""
        names = ("x", "y", "z")
        flows = {
            names[i]: " + ".join(f"({entries[3 * i + j]})*{names[j]}" for j in range(3))
            for i in range(3)
        }
        start = [ball(e) for e in entries[9:]]
        with flint.ctx.workprec(PRECISION):
            found = carried(flows, start, t)
        with flint.ctx.workprec(FINE):
            matrix = flint.arb_mat(3, 3, [ball(e) for e in entries[:9]]) * found["elapsed"]
            exact = matrix.exp() * flint.arb_mat(3, 1, [ball(e) for e in entries[9:]])
            for i, name in enumerate(names):
                assert contains(found[name], exact[i, 0])


class TestNonlinear:
    def test_logistic_growth(self):
        found = carried({"x": "x*(1 - x)"}, [ball(Fraction(1, 10))], 5.0)
        with flint.ctx.workprec(FINE):
            exact = 1 / (1 + 9 * (-found["elapsed"]).exp())
            assert contains(found["x"], exact)
        assert float(found["x"].rad()) < 1e-9

    def test_functions_of_every_kind(self):
        """x = sin t, y = exp t, z = sqrt(1 + t), from right-hand sides that use them."""
        flows = {"x": "cos(time)", "y": "exp(log(y))", "z": "1/(2*sqrt(z^2))", "time": "1"}
        start = [ball(0), ball(1), ball(1), ball(0)]
        found = carried(flows, start, 1.0, 0.125)
        with flint.ctx.workprec(FINE):
            assert contains(found["x"], found["elapsed"].sin())
            assert contains(found["y"], found["elapsed"].exp())
            assert contains(found["z"], (1 + found["elapsed"]).sqrt())

    @settings(max_examples=4, deadline=None)
    @given(st.fractions(0, 1, max_denominator=64), st.fractions(0, 1, max_denominator=64))
    def test_a_box_contains_the_images_of_its_points(self, p, q):
        """Predator and prey: every start in the box stays in the enclosure."""
        flows = {"x": "x*(1 - y)", "y": "y*(x - 1)"}
        width = Fraction(1, 1000)
        with flint.ctx.workprec(PRECISION):
            low, high = Fraction(6, 5), Fraction(6, 5) + width
            box = [ball(low).union(ball(high)), ball(low).union(ball(high))]
            whole = carried(flows, box, 2.0, 0.125)
            point = carried(flows, [ball(low + p * width), ball(low + q * width)], 2.0, 0.125)
        assert float(whole["elapsed"]) == float(point["elapsed"]) == 2.0
        for name in flows:
            assert whole[name].contains(point[name].mid())
            assert float(whole[name].rad()) < 0.02  # not blown up by wrapping

    def test_rotation_does_not_wrap(self):
        box = [ball(1).union(ball(Fraction(1001, 1000))), flint.arb(0)]
        found = carried({"x": "y + 0*x^2", "y": "-x"}, box, 50.0, 0.5)
        assert float(found["x"].rad()) < 0.002

    @pytest.mark.slow
    def test_explosion_gives_up(self):
        with pytest.raises(GaveUp):
            carried({"x": "x^2"}, [ball(1)], 1.5)

    def test_a_kink_is_passed(self):
        """x = e^t/2 - 1 until it is 0 at t = log 2, then 1 - 2 e^-t."""
        found = carried({"x": "1 - abs(x)"}, [ball(Fraction(-1, 2))], 3.0)
        with flint.ctx.workprec(FINE):
            assert contains(found["x"], 1 - 2 * (-found["elapsed"]).exp())
        assert float(found["x"].rad()) < 1e-18

    def test_a_branch_that_is_certain_is_taken(self):
        found = carried({"x": "-abs(x)"}, [ball(1)], 1.0)
        assert contains(found["x"], (-found["elapsed"]).exp())


class TestTruth:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("x > 0", True), ("x < 0", False), ("x > 1", None), ("x >= 1/4", True),
            ("x > 1 || y < 0", None), ("x > 1 && y > 5", False), ("!(x < 0)", True),
            ("min(x, y) <= 2", True), ("sqrt(x) > 0", True), ("1/(x - 1) > 0", None),
        ],
    )  # fmt: skip
    def test_three_values(self, text, expected):
        values = {"x": ball(Fraction(1, 2)).union(ball(2)), "y": ball(1)}
        assert truth(parse(text), values) is expected


def automaton(flows, guard, resets, invariant, start, *, claim=None, urgent=False, target="on"):
    def flow(name, text):
        return Constraint(name, Range.exactly(parse(text)))

    names = tuple(flows)
    return HybridAutomaton(
        "thing",
        tuple(Variable(n) for n in names),
        (
            Location("on", tuple(flow(n, e) for n, e in flows.items()), (), parse(invariant)),
            Location("off", tuple(flow(n, "0*" + n) for n in names)),
        ),
        (
            Edge(
                "on", target, parse(guard),
                tuple(Constraint(n, Range.exactly(parse(e))) for n, e in resets.items()),
                name="hit", urgent=urgent,
            ),
        ),
        (
            Initial(
                "on",
                conjunction(*(equal(variable(n), parse(str(v))) for n, v in start.items())),
            ),
        ),
        properties=() if claim is None else (Property("fine", parse(claim)),),
    )  # fmt: skip


BALL = {
    "flows": {"h": "v", "v": "-10"},
    "guard": "h <= 0 && v < 0",
    "resets": {"v": "-1/2*v"},
    "invariant": "h >= 0",
    "start": {"h": Fraction(5), "v": Fraction(0)},
}


class TestEvents:
    def test_times_of_bounces_are_enclosed(self):
        """From height 5 the first bounce is at 1; flights halve, so they are rational."""
        model = automaton(**BALL)
        run = validate(model, simulate(model, until=2.9, method=TIGHT))
        assert run.complete, run.gave_up
        expected = [Fraction(1), Fraction(2), Fraction(5, 2), Fraction(11, 4), Fraction(23, 8)]
        assert len(run.jumps) == len(expected)
        for jump, t in zip(run.jumps, expected, strict=True):
            assert jump.time[0] <= t <= jump.time[1]
            assert jump.time[1] - jump.time[0] < Fraction(1, 10**20)

    def test_irrational_time_of_a_bounce(self):
        model = automaton(**{**BALL, "start": {"h": Fraction(3), "v": Fraction(1)}})
        run = validate(model, simulate(model, until=1.2, method=TIGHT))
        low, high = run.jumps[0].time  # 5 t^2 - t - 3 = 0
        assert 5 * low**2 - low - 3 <= 0 <= 5 * high**2 - high - 3
        assert high - low < Fraction(1, 10**20)

    def test_enclosures_cover_the_time_and_contain_the_trace(self):
        model = automaton(**BALL)
        trace = simulate(model, until=1.9, method=TIGHT)
        run = validate(model, trace)
        assert run.enclosures[0].start == 0
        for a, b in zip(run.enclosures, run.enclosures[1:], strict=False):
            assert b.start <= a.end
        assert run.enclosures[-1].end >= Fraction(19, 10) - Fraction(1, 10**9)
        for part in run.enclosures:
            t = float((part.start + part.end) / 2)
            if part.end - part.start > Fraction(1, 1000):
                low, high = part.bounds["h"]
                assert float(low) - 1e-9 <= trace.at(t)["h"] <= float(high) + 1e-9

    def test_tangency_gives_up(self):
        model = automaton(
            flows={"x": "1"}, guard="(x - 1)^2 <= 0", resets={}, invariant="x <= 5",
            start={"x": Fraction(0)}, target="off", urgent=True,
        )  # fmt: skip
        trace = simulate(model, until=2.0, method=TIGHT)
        run = validate(model, trace)
        assert not run.complete
        assert not run.jumps

    def test_a_trace_of_another_model_is_refused(self):
        trace = simulate(automaton(**BALL), until=1.5, method=TIGHT)
        harder = automaton(**{**BALL, "guard": "h <= 0 && v < -20"})
        assert not validate(harder, trace).complete
        elsewhere = automaton(**{**BALL, "start": {"h": Fraction(4), "v": Fraction(0)}})
        assert not validate(elsewhere, trace).complete

    def test_an_urgent_edge_that_was_overlooked_is_refused(self):
        lazy = automaton(**{**BALL, "invariant": "h >= -100"})
        trace = simulate(lazy, until=0.5, method=TIGHT)
        eager = automaton(**{**BALL, "guard": "h <= 4", "invariant": "h >= -100", "urgent": True})
        run = validate(eager, trace)
        assert not run.complete
        assert run.reached[1] <= Fraction(45, 100)

    def test_invariant_that_the_run_leaves_is_refused(self):
        free = automaton(**{**BALL, "invariant": "h >= -100", "guard": "h <= -50"})
        trace = simulate(free, until=2.0, method=TIGHT)
        bounded = automaton(**{**BALL, "guard": "h <= -50"})
        run = validate(bounded, trace)
        assert not run.complete
        assert run.reached[1] <= 1


class TestConfirmation:
    @pytest.mark.parametrize("name", ["leaky_tank_low", "spiral_cars", "van_der_pol_tight"])
    def test_library_counterexamples_are_proved(self, name):
        model = load(name).automaton
        recipe = Recipe(float(model.horizon or 20))
        trace = simulate(model, until=recipe.until)
        claim = next(p for p in model.properties if p.name == trace.outcome.name)
        found = confirm_violation(model, claim, recipe)
        assert found is not None
        assert found.rigorous
        assert found.violation > 0.0

    def test_a_claim_that_holds_is_not_refuted(self):
        model = automaton(**BALL, claim="h <= 5")
        assert confirm_violation(model, model.properties[0], Recipe(2.0)) is None

    def test_a_claim_that_only_rounding_violates_is_not_refuted(self):
        model = automaton(**BALL, claim="h >= 0")
        assert confirm_violation(model, model.properties[0], Recipe(2.0)) is None

    def test_a_violation_beyond_the_horizon_does_not_count(self):
        model = automaton(**BALL, claim="h >= 1/4")
        bounded = replace(model, horizon=Fraction(1, 2))
        assert confirm_violation(bounded, bounded.properties[0], Recipe(1.5)) is None
        assert confirm_violation(model, model.properties[0], Recipe(1.5)) is not None

    def test_description_says_how_far_it_went(self):
        run = validated_run(load("leaky_tank_low").automaton, Recipe(20.0))
        assert run is not None
        assert "certainly bad" in describe(run)

    @pytest.mark.parametrize("rtol", [1e-6, 1e-10, 1e-11])
    def test_a_bounce_touches_the_floor_at_any_tolerance(self, rtol):
        """A state on the boundary is not beyond it, however little time the crossing takes."""
        model = load("bouncing_ball").automaton
        trace = simulate(model, until=5.0, method=replace(TIGHT, rtol=rtol, atol=1e-2 * rtol))
        assert trace.outcome.name != "never below the floor"
