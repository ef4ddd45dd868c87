"""Two rates inside one agent: the same solutions and events as at one rate, with less work."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbench.models.automaton import EventKind
from workbench.models.expressions.expression import external, variable
from workbench.models.expressions.text import parse_expression
from workbench.models.load import load
from workbench.models.trace import Ending
from workbench.simulate.run import simulate
from workbench.simulate.stepping import multirate
from workbench.simulate.stepping.engine import advance, is_compiled
from workbench.simulate.stepping.methods import Adams, Multirate
from workbench.simulate.stepping.program import ExternalError, compile_program
from workbench.simulate.stepping.reference.tape import execute
from workbench.simulate.stepping.split_program import split_program
from workbench.simulate.stepping.stretch import Stop

pytestmark = pytest.mark.skipif(not is_compiled(), reason="needs the compiled core")

EXACT = Adams(1e-11, 1e-13, max_order=12)


def system(flows, start, watches=()):
    program = compile_program(
        flowing=list(flows),
        held=(),
        flows=[parse_expression(text) for text in flows.values()],
        watches=[(parse_expression(w), EventKind.UNILATERAL) for w in watches],
    )
    return program, [start(i) if callable(start) else start[i] for i in range(len(flows))]


def chain(fast, count, feed=""):
    """A chain of slow variables beside a few fast ones."""
    flows = dict(fast)
    for i in range(count):
        left, right = f"s{(i - 1) % count}", f"s{(i + 1) % count}"
        flows[f"s{i}"] = f"0.5*({left} + {right} - 2*s{i}) - 0.1*s{i}^3"
    flows["s0"] += feed
    return flows


OSCILLATOR = {"u": "100*v", "v": "-100*u + 10*s0"}


def first_state(i):
    return 1.0 if i == 0 else math.sin(1.0 + 0.4 * i)


def run(program, x, method, until, dense=True):
    watches = list(range(len(program.watches)))
    return advance(program, method, 0.0, x, [], until, watches, dense)


class TestSplitting:
    @pytest.mark.parametrize("fast", [{0, 1}, {0}, {1, 3, 4}, {2, 5}])
    def test_the_parts_compute_what_the_whole_does(self, fast):
        flows = chain(OSCILLATOR, 6, " + atan(u)*min(v, s3)")
        program, x = system(flows, first_state, ["u*s2 + sin(s4) >= 3"])
        split = split_program(program, frozenset(fast), 3)
        t = 0.7
        whole = [t, *x, *program.registers[1 + len(x) :]]
        execute(program.flow, whole, program.tables, program.externals)
        expected = [whole[i] for i in program.derivatives]
        slow = [x[i] for i in split.slow_at]
        base, line = 0.5, (2.0, -1.0, 4.0)  # derivative 2 - s + 4 s^2 of the shared ones
        held = [base, *(c for _ in split.shared for c in line)]
        state = [*(x[i] for i in split.fast_at), *(slow[k] for k in split.shared)]
        r = [t, *state, *held, *split.fast.registers[1 + len(state) + len(held) :]]
        execute(split.fast.flow, r, program.tables, program.externals)
        found = [r[i] for i in split.fast.derivatives]
        count = len(split.fast_at)
        assert found[:count] == [expected[i] for i in split.fast_at]
        assert found[count:] == pytest.approx([2 - 0.2 + 4 * 0.04] * len(split.shared))
        r = [t, *slow, *(x[i] for i in split.fast_at)]
        r += split.slow.registers[len(r) :]
        execute(split.slow.flow, r, program.tables, program.externals)
        assert [r[i] for i in split.slow.derivatives] == [expected[i] for i in split.slow_at]

    def test_the_fast_part_is_told_only_what_it_reads(self):
        program, _ = system(chain(OSCILLATOR, 8), first_state, ["s3 >= 9"])
        split = split_program(program, frozenset({0, 1}), 4)
        assert split.fast.flowing == ("u", "v", "s0", "s3")
        assert len(split.fast.flow) < len(program.flow)
        assert split.slow.watches == ()


class TestSolutions:
    @pytest.mark.parametrize("feed", ["", " + 0.1*u", " + 0.02*(u - s1*s2)"])
    def test_error_of_the_same_size_and_fewer_evaluations_of_the_whole(self, feed):
        program, x = system(chain(OSCILLATOR, 40, feed), first_state)
        exact = run(program, x, EXACT, 5.0, False)
        plain = run(program, x, Adams(), 5.0, False)
        two = run(program, x, Multirate(), 5.0, False)
        errors = [
            max(abs(a - b) / (1e-9 + 1e-6 * abs(b)) for a, b in zip(r.x, exact.x, strict=True))
            for r in (plain, two)
        ]
        assert errors[1] <= 2 * errors[0] + 10
        assert two.stop is Stop.END

    def test_large_steps_are_made(self, monkeypatch):
        made = []
        opened = multirate._multirate

        class Watched:
            open = staticmethod(opened.open)

            @staticmethod
            def advance(*args):
                found = opened.advance(*args)
                made.append((found[-1], found[0][7][0]))
                return found

        monkeypatch.setattr(multirate, "_multirate", Watched)
        program, x = system(chain(OSCILLATOR, 40), first_state)
        run(program, x, Multirate(), 5.0, False)
        ((large, small),) = made
        assert large >= 5
        assert small > 20 * large

    def test_dense_output_is_the_solution_everywhere(self):
        program, x = system(chain(OSCILLATOR, 20), first_state)
        exact, two = (run(program, x, m, 3.0) for m in (EXACT, Multirate()))
        assert list(two.times) == sorted(two.times)
        assert len(two.coefficients) == sum(len(x) * (d + 1) for d in two.degrees)
        for t in (0.0, 0.5, 1.234, 2.9, 3.0):
            assert value(two, len(x), t) == pytest.approx(value(exact, len(x), t), abs=2e-3)
            assert value(two, len(x), t)[2:] == pytest.approx(value(exact, len(x), t)[2:], abs=5e-6)

    @settings(max_examples=12, deadline=None)
    @given(
        st.floats(20, 300),
        st.lists(st.floats(-1, 1), min_size=12, max_size=12),
        st.floats(-1, 1),
        st.integers(0, 9),
    )
    def test_random_systems(self, speed, start, coupling, place):
        flows = {"u": f"{speed}*v", "v": f"-{speed}*u - v + {coupling}*s{place}"}
        flows = chain(flows, 10, f" + {0.1 * coupling}*u*s3")
        program, x = system(flows, start)
        exact, two = (run(program, x, m, 2.0, False) for m in (EXACT, Multirate(1e-8, 1e-10)))
        assert list(two.x) == pytest.approx(list(exact.x), abs=2e-4)
        assert list(two.x[2:]) == pytest.approx(list(exact.x[2:]), abs=1e-6)

    def test_a_system_without_slow_variables_goes_on_at_one_rate(self):
        flows = {}
        for i in range(6):
            flows[f"u{i}"], flows[f"v{i}"] = f"{50 + i}*v{i}", f"-{50 + i}*u{i}"
        program, x = system(flows, first_state)
        exact, two = (run(program, x, m, 3.0, False) for m in (EXACT, Multirate(1e-9, 1e-12)))
        assert list(two.x) == pytest.approx(list(exact.x), abs=1e-5)


def value(stretch, n, t):
    place = 0
    for k, degree in enumerate(stretch.degrees):
        if t <= stretch.times[k + 1]:
            s = t - stretch.times[k]
            rows = stretch.coefficients[place : place + n * (degree + 1)]
            return [
                sum(rows[i * (degree + 1) + m] * s**m for m in range(degree + 1)) for i in range(n)
            ]
        place += n * (degree + 1)
    raise AssertionError(t)


class TestEvents:
    @pytest.mark.parametrize(
        "guard",
        ["s3 <= 0.05", "s0 - 0.3*s5 <= 0.2 && s2 >= -2", "v + s0 >= 1.4 && s3 <= 0.6",
         "exp(s1)*u >= 3 && s0 <= 0.8", "time + s2 >= 2.5"],
    )  # fmt: skip
    def test_events_are_those_of_the_exact_solution(self, guard):
        program, x = system(chain(OSCILLATOR, 24), first_state, [guard])
        exact = run(program, x, EXACT, 8.0)
        two = run(program, x, Multirate(1e-8, 1e-11), 8.0)
        assert two.stop is exact.stop
        assert two.fired == exact.fired
        assert two.t == pytest.approx(exact.t, abs=1e-5)

    def test_no_event_of_the_fast_part_is_missed_inside_a_large_step(self):
        """The guard is true for a thousandth of the fast period, once in each."""
        program, x = system(chain(OSCILLATOR, 24), first_state, ["u >= 1.05 && time >= 2"])
        exact = run(program, x, EXACT, 8.0)
        two = run(program, x, Multirate(1e-8, 1e-11), 8.0)
        assert exact.stop is two.stop is Stop.EVENT
        assert two.t == pytest.approx(exact.t, abs=1e-4)

    def test_a_singularity_ends_the_stretch(self):
        flows = {**chain(OSCILLATOR, 12), "bad": "-1 - sqrt(bad)"}
        program, x = system(flows, lambda i: 1.0 if i in (0, 14) else 0.1)
        found = run(program, x, Multirate(), 8.0)
        assert found.stop in (Stop.NOT_FINITE, Stop.STEP_TOO_SMALL)
        assert found.t == pytest.approx(2 - 2 * math.log(2), abs=1e-3)

    def test_the_limit_of_steps_ends_the_stretch(self):
        program, x = system(chain(OSCILLATOR, 12), first_state)
        found = run(program, x, Multirate(max_steps=1000), 500.0)
        assert found.stop is Stop.STEP_LIMIT
        assert 1000 <= found.counts.steps <= 1040

    def test_a_failing_function_is_reported(self):
        def pull(x):
            if x < 0.2:
                raise RuntimeError("no more")
            return -0.1 * x

        flows = chain(OSCILLATOR, 12)
        program = compile_program(
            flowing=[*flows, "e"],
            held=(),
            flows=[*map(parse_expression, flows.values()), external("pull", variable("e"))],
            watches=(),
            externals={"pull": pull},
        )
        with pytest.raises(ExternalError):
            run(program, [0.5] * 15, Multirate(), 100.0)


MODEL = """
mode Ring() {
  write analog real u, v, NAMES;
  diff { d(u) == 60*v; d(v) == -60*u + 6*s1; FLOWS }
}
mode Top() {
  write analog real u, v, NAMES;
  mode ring = Ring(); trans from init to ring;
  trans #full from ring to ring when s2 >= 0.4 do { s2 = 0; }
}
agent Main() {
  private analog real u = 1; private analog real v = 0; private analog real NAMES;
  init { s1 = 1; STARTS }
  mode top = Top();
}
"""


def test_runs_of_a_model(tmp_path):
    path = tmp_path / "ring.charon"
    names = [f"s{i}" for i in range(1, 21)]
    flows = [f"d(s{i}) == s{(i - 2) % 20 + 1} - s{i};" for i in range(1, 21)]
    text = MODEL.replace("NAMES", ", ".join(names)).replace("FLOWS", " ".join(flows))
    path.write_text(text.replace("STARTS", " ".join(f"{n} = 0.1;" for n in names[1:])))
    automaton = load(path).automaton
    plain = simulate(automaton, until=6.0, method=Adams(1e-9, 1e-12))
    two = simulate(automaton, until=6.0, method=Multirate(1e-8, 1e-11))
    assert two.outcome.ending is Ending.HORIZON
    assert [e.name for e in two.jumps] == [e.name for e in plain.jumps]
    assert len(two.jumps) >= 1
    assert [e.time for e in two.jumps] == pytest.approx([e.time for e in plain.jumps], abs=1e-5)
    assert two.at(6.0)["s5"] == pytest.approx(plain.at(6.0)["s5"], abs=1e-6)
