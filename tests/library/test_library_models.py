"""The library's models: all load, and what their comments state is true of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from functools import cache
from itertools import islice

import numpy as np
import pytest
from scipy.linalg import expm

from workbench.models.automaton import Automaton
from workbench.models.catalogue import Entry, entries
from workbench.models.expressions.evaluation import evaluate
from workbench.models.language.format import format_source
from workbench.models.load import load
from workbench.models.model import Model

Values = Mapping[str, Fraction | int]

every_model = pytest.mark.parametrize("entry", entries(), ids=lambda entry: entry.name)


@cache
def loaded(name: str) -> Model:
    return load(name)


def automaton(name: str) -> Automaton:
    return loaded(name).automaton


def derivatives(of: Automaton, location: str, values: Values) -> dict[str, object]:
    """The derivatives in a location with equations, algebraic variables computed first."""
    place = of.location(location)
    known = dict(values)
    for equation in place.algebraic:
        assert equation.range.exact is not None
        known[equation.variable] = evaluate(equation.range.exact, known)  # type: ignore[assignment]
    return {
        flow.variable: evaluate(flow.range.exact, known)
        for flow in place.flows
        if flow.range.exact is not None
    }


def matrix(of: Automaton, location: str, states: tuple[str, ...], others: Values) -> np.ndarray:
    """The matrix A of x' = A x + b, from derivatives at 0 and at the unit vectors."""
    zero: dict[str, Fraction | int] = {**others, **dict.fromkeys(states, 0)}
    base = derivatives(of, location, zero)
    columns = [derivatives(of, location, {**zero, state: 1}) for state in states]
    return np.array([[float(c[row]) - float(base[row]) for c in columns] for row in states])  # type: ignore[arg-type]


def reachable_locations(of: Automaton) -> Iterator[str]:
    """Locations reachable along edges, breadth first, made on demand."""
    found = dict.fromkeys(start.location for start in of.initial_sets())
    waiting = list(found)
    while waiting:
        here = waiting.pop(0)
        yield here
        for edge in of.edges_from(here):
            if edge.target not in found:
                found[edge.target] = None
                waiting.append(edge.target)


@every_model
def test_loads_without_a_warning(entry: Entry) -> None:
    assert loaded(entry.name).warnings == ()


@every_model
def test_every_property_has_an_expectation(entry: Entry) -> None:
    properties = [claim.name for claim in automaton(entry.name).properties]
    assert sorted(properties) == sorted(expected.name for expected in entry.expectations)


@every_model
def test_bounded_expectations_have_the_models_horizon(entry: Entry) -> None:
    horizon = automaton(entry.name).horizon
    assert {expected.horizon for expected in entry.expectations} == {horizon}


@every_model
def test_first_locations_can_be_explored(entry: Entry) -> None:
    """Every variable flows, is defined or is discrete in each of the first 30 locations."""
    model = automaton(entry.name)
    for name in islice(reachable_locations(model), 30):
        place = model.location(name)
        moving = {c.variable for c in place.flows} | {c.variable for c in place.algebraic}
        free = {v.name for v in model.variables if v.kind == "analog"} - moving - {"time"}
        assert not free, name


@every_model
def test_file_is_formatted(entry: Entry) -> None:
    text = entry.path.read_text(encoding="utf-8")
    assert format_source(text, entry.path.name) == text


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("platoon_paper", 2),
        ("platoon_saturated", 4),
        ("leaky_tank", 2),
        ("thermostat_timer", 3),
        ("navigation", 9),
        ("simplex_pendulum", 5),
        ("arch_plan01", 2),
        ("fischer", 64),
        ("adaptive_cruise", 27),
        ("bumper_cars", 1),
    ],
)
def test_number_of_locations(name: str, count: int) -> None:
    assert len(list(reachable_locations(automaton(name)))) == count


def test_platoon_laws_are_those_of_the_paper() -> None:
    """Equations (11) and (12) at d = 40, vp = 16, v = 21, a = -2, worked out by hand."""
    model = automaton("platoon_paper")
    state = {"dist": 40, "velFirst": 16, "velOther": 21, "follower.acc": -2}
    # u1 = 40/8 + 3/4*16 - 7/8*21 + 3/2*2 - 10/8; u2 = 40 + 3*16 - 4*21 + 3*2 - 10
    assert derivatives(model, "optimal", state) == {
        "dist": -5,
        "velOther": -2,
        "follower.acc": Fraction(3, 8),
    }
    assert derivatives(model, "previous", state)["follower.acc"] == 0
    front = model.location("optimal").flow_of("velFirst")
    assert (evaluate(front.low, {}), evaluate(front.high, {})) == (-5, 3)  # type: ignore[arg-type]


def test_platoon_variants_differ_in_their_front_and_start() -> None:
    def front(name: str) -> tuple[object, object]:
        flow = automaton(name).location("optimal").flow_of("velFirst")
        assert flow.low is not None and flow.high is not None
        return evaluate(flow.low, {}), evaluate(flow.high, {})

    assert front("platoon_gentle") == (-1, 1)
    assert front("platoon_mild") == (-2, 2)
    assert front("platoon_hard") == (-10, 3)
    start = {"dist": 30, "velFirst": 16, "velOther": 21, "follower.controller.error": -1}
    for acceleration, allowed in ((3, True), (Fraction(31, 10), False)):
        state = {**start, "follower.acc": acceleration}
        conditions = [s.condition for s in automaton("platoon_accelerating").initial_sets()]
        assert all(evaluate(c, state) is allowed for c in conditions)


def test_poles_of_the_simplex_pendulum() -> None:
    """The closed loops have the poles that the file's comment states."""
    stated = {
        "untrusted.base": [-12.53, -4.44 - 0.29j, -4.44 + 0.29j, -0.17],
        "untrusted.experiment": [-3.88, -1.35, 1.39 - 12.77j, 1.39 + 12.77j],
        "safety": [-18.85, -3.50 - 0.94j, -3.50 + 0.94j, -0.35],
    }
    counters = {"supervisor.rescues": 0, "supervisor.untrusted.tries": 0}
    for location, poles in stated.items():
        a = matrix(automaton("simplex_pendulum"), location, ("x", "v", "th", "w"), counters)
        found = np.sort_complex(np.linalg.eigvals(a))
        assert found == pytest.approx(np.array(poles, dtype=complex), abs=0.006)


def test_feeble_safety_controller_is_unstable() -> None:
    counters = {"supervisor.rescues": 0, "supervisor.untrusted.tries": 0}
    a = matrix(automaton("simplex_pendulum_feeble"), "safety", ("x", "v", "th", "w"), counters)
    assert np.linalg.eigvals(a).real.max() == pytest.approx(2.91, abs=0.006)


FOLLOWERS = ("e1", "f1", "a1", "e2", "f2", "a2", "e3", "f3", "a3")


def worst_error(matrices: list[np.ndarray], row: int, step: float) -> float:
    """The lowest value of one state at the end, over all leaders in [-9, 1], from 0.

    The adjoint p solves p' = -A^T p backwards from the unit vector; the leader enters the
    second equation, so the worst one contributes min(-9 p_2, p_2) at each time.
    """
    adjoint = np.eye(9)[row]
    total = 0.0
    exponentials = {id(a): expm(a * step / 2) for a in matrices}
    for a in reversed(matrices):
        middle = adjoint @ exponentials[id(a)]
        total += step * min(-9 * middle[1], middle[1])
        adjoint = middle @ exponentials[id(a)]
    return float(total)


@pytest.mark.slow
def test_worst_errors_of_the_periodic_radio() -> None:
    """PLAD01: e1 can reach -26.8 after 14 s, so BND30 holds there and BND25 does not."""
    model = automaton("arch_plad01")
    inputs = {"leader": 0, "clock": 0}
    connected, alone = (matrix(model, m, FOLLOWERS, inputs) for m in ("connected", "alone"))
    step = 0.02
    course = [connected if (k * step) % 10 < 5 else alone for k in range(int(20 / step))]
    assert worst_error(course[: int(14 / step)], 0, step) == pytest.approx(-26.82, abs=0.02)
    for seconds in (5, 10, 14, 15, 20):
        lowest = [worst_error(course[: int(seconds / step)], row, step) for row in (0, 3, 6)]
        assert min(lowest) > -30


def test_worst_errors_of_the_uncertain_radio() -> None:
    model = automaton("arch_plaa01")
    for quality, low, high in ((0, -25.3, -20.0), (Fraction(1, 2), -24.5, -15.8), (1, -25.6, -8.5)):
        a = matrix(model, "Followers", FOLLOWERS, {"leader": 0, "quality": quality})
        e1, e2 = (worst_error([a] * 1000, row, 0.02) for row in (0, 3))
        assert low <= min(e1, e2) and max(e1, e2) <= high


def test_first_states_of_the_bumper_cars() -> None:
    """Cars start apart, inside, with the energy that the claim allows: by other arithmetic."""
    places = [(1 + 2 * (k % 5), Fraction(5, 4) + Fraction(5, 2) * (k // 5)) for k in range(20)]
    speeds = [
        (Fraction(618 * i % 1000, 500) - 1, Fraction(414 * i % 1000, 500) - 1) for i in range(1, 21)
    ]
    state: dict[str, Fraction | int] = {}
    for i, ((x, y), (vx, vy)) in enumerate(zip(places, speeds, strict=True), 1):
        state |= {f"car[{i}].x": x, f"car[{i}].y": y, f"car[{i}].vx": vx, f"car[{i}].vy": vy}
    model = automaton("bumper_cars")
    (start,) = model.initial_sets()
    assert evaluate(start.condition, state) is True
    assert all(evaluate(claim.condition, state) is True for claim in model.properties)
    assert sum(vx**2 + vy**2 for vx, vy in speeds) == pytest.approx(12.4016)


def test_a_bump_keeps_momentum_and_nine_tenths_of_the_approach() -> None:
    """A head-on bump of cars 1 and 2: speeds 1 and -1 become -0.9 and 0.9."""
    model = automaton("bumper_cars")
    state: dict[str, Fraction | int] = {}
    for i in range(1, 21):
        state |= {f"car[{i}].x": i, f"car[{i}].y": 5, f"car[{i}].vx": 0, f"car[{i}].vy": 0}
    state |= {"car[2].x": Fraction(6, 5), "car[1].vx": 1, "car[2].vx": -1}
    (place,) = reachable_locations(model)
    enabled = [e for e in model.edges_from(place) if evaluate(e.guard, state) is True]
    (bump,) = enabled
    assert bump.urgent
    after: dict[str, object] = {}
    for reset in bump.resets:
        assert reset.range.exact is not None
        after[f"{reset.variable}'"] = evaluate(reset.range.exact, {**state, **after})  # type: ignore[dict-item]
    assert after["car[1].vx'"] == Fraction(-9, 10)
    assert after["car[2].vx'"] == Fraction(9, 10)


def test_fifty_vehicles_load() -> None:
    model = load("platoon_convoy", parameters={"n": Fraction(50)})
    assert len(model.automaton.components) == 151


def digitised_violation(of: Automaton, highest: int) -> bool:
    """Whether a timed automaton breaks its claims, exploring whole-numbered times only.

    Exact where all clock constraints are closed and whole (Henzinger, Manna, Pnueli 1992);
    clocks are not told apart above `highest`, the largest constant.
    """
    (start,) = of.initial_sets()
    first = {v.name: Fraction(0) for v in of.variables}
    assert evaluate(start.condition, first) is True
    seen = {(start.location, tuple(first.values()))}
    waiting = [(start.location, first)]
    while waiting:
        location, state = waiting.pop()
        occupied = of.occupied(location)
        if any(evaluate(p.bad_states(occupied), state) is True for p in of.properties):
            return True
        place = of.location(location)
        later = dict(state)
        for flow in place.flows:
            assert flow.range.exact is not None
            later[flow.variable] = min(
                state[flow.variable] + evaluate(flow.range.exact, {}),  # type: ignore[operator]
                Fraction(highest + 1),
            )
        following = [(location, later)]
        for edge in of.edges_from(location):
            if evaluate(edge.guard, state) is True:
                after = dict(state)
                for reset in edge.resets:
                    assert reset.range.exact is not None
                    after[reset.variable] = evaluate(reset.range.exact, state)  # type: ignore[assignment]
                following.append((edge.target, after))
        for target, after in following:
            key = (target, tuple(after.values()))
            if key not in seen and evaluate(of.location(target).invariant, after) is True:
                seen.add(key)
                waiting.append((target, after))
    return False


@pytest.mark.parametrize("n", [2, 3])
@pytest.mark.parametrize(("name", "violated"), [("fischer", False), ("fischer_hasty", True)])
def test_fischer_by_digitisation(name: str, violated: bool, n: int) -> None:
    model = load(name, parameters={"n": Fraction(n)}).automaton
    assert digitised_violation(model, highest=3) is violated


def test_fischer_needs_a_wait_longer_than_the_slowest_claim() -> None:
    for slowest, wait, violated in ((1, 2, False), (2, 3, False), (2, 2, True), (3, 1, True)):
        values = {"n": Fraction(2), "slowest": Fraction(slowest), "wait": Fraction(wait)}
        model = load("fischer", parameters=values).automaton
        assert digitised_violation(model, highest=3) is violated


def test_voltages_of_the_battery() -> None:
    """3.5 V, 4 V and 3.45 V are the charges that the files' comments state."""
    (voltage,) = automaton("battery_charger").location("charging").algebraic
    assert voltage.range.exact is not None
    for charge, volts in (("7/30", "3.5"), ("0.9", "4"), ("1/6", "3.45")):
        assert evaluate(voltage.range.exact, {"charge": Fraction(charge)}) == Fraction(volts)
