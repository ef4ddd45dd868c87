"""No time passes while an urgent edge is enabled: what proofs make of it, and what they do not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from workbench.abstraction.strategies.strategy import Task
from workbench.abstraction.verification import deadline, verify
from workbench.models.automaton import Automaton
from workbench.models.certificates.check import check
from workbench.models.certificates.judgement import Accepted, Rejected
from workbench.models.load import load
from workbench.models.lowering.problem import linear_problem
from workbench.models.verdict import Falsified, Verdict, Verified
from workbench.simulate.monitoring.run_check import RunCheck
from workbench.simulate.policy import Policy, Switching
from workbench.simulate.run import prepare, simulate

ALARM = """
mode Quiet() {{ write analog real clock; diff {{ d(clock) == 1; }} inv {{ clock <= 3 }} }}
mode AlarmTop() {{
  write analog real clock;
  write discrete int alarm;
  mode quiet = Quiet();
  trans from init to quiet;
  trans #ring from quiet to quiet when clock >= 2 do {{ alarm = 1 - alarm; clock = 0; }}
}}
agent Alarm() {{
  private analog real clock = 0;
  write discrete int alarm;
  init {{ alarm = 0; }}
  mode top = AlarmTop();
}}
mode Rate(real slope) {{ write analog real heat; diff {{ d(heat) == slope; }} }}
mode Cooling(real slope) {{
  write analog real heat;
  diff {{ d(heat) == slope; }}
  inv {{ heat >= 0 }}
}}
mode LightTop() {{
  write analog real heat;
  read discrete int alarm;
  mode on = Rate(1);
  mode off = Cooling({cooling});
  mode rest = Rate(0);
  trans from init to on;
  {urgent} trans from on to off when alarm == 1;
  trans from off to rest when heat <= 0;
  urgent trans from off to on when alarm == 0;
  urgent trans from rest to on when alarm == 0;
}}
agent Light() {{
  private analog real heat = 0;
  read discrete int alarm;
  mode top = LightTop();
  assert "cool" {{ heat <= 4 }}
}}
agent House() {{ private discrete int alarm; agent a = Alarm(); agent l = Light(); }}
"""

THERMOSTAT = """
mode Heating() {{ write analog real temp; diff {{ d(temp) == 5 - temp/10; }} }}
mode Cooling() {{ write analog real temp; diff {{ d(temp) == -temp/10; }} }}
mode Top() {{
  write analog real temp;
  mode on = Heating();
  mode off = Cooling();
  trans from init to on;
  {urgent} trans from on to off when temp >= 22;
  urgent trans from off to on when temp <= 18;
}}
agent Room() {{
  private analog real temp in [19, 20];
  mode top = Top();
  assert "comfortable" {{ temp <= {most} && temp >= 17 }}
}}
"""


def model(folder: Path, text: str) -> Automaton:
    path = folder / "model.charon"
    path.write_text(text)
    return load(path).automaton


def decide(folder: Path, text: str, method: str) -> Verdict:
    automaton = model(folder, text)
    return verify(Task(automaton, automaton.properties[0], deadline(20)), method)


def test_a_shared_integer_stops_a_light_at_once(tmp_path: Path) -> None:
    text = ALARM.format(cooling=-2, urgent="urgent")
    assert isinstance(decide(tmp_path, text, "rectangular"), Verified)


def test_without_urgency_or_with_too_little_cooling_it_gets_hot(tmp_path: Path) -> None:
    for cooling, urgent in ((-2, ""), ("-1/4", "urgent")):
        text = ALARM.format(cooling=cooling, urgent=urgent)
        assert isinstance(decide(tmp_path, text, "auto"), Falsified)


def test_urgent_guards_over_flowing_variables_bound_the_stay(tmp_path: Path) -> None:
    proved = decide(tmp_path, THERMOSTAT.format(urgent="urgent", most=22), "template")
    assert isinstance(proved, Verified)
    lazy = model(tmp_path, THERMOSTAT.format(urgent="", most=22))
    stolen = replace(proved.certificate, model_sha256=lazy.sha256)
    assert isinstance(check(lazy, "comfortable", stolen), Rejected)
    tight = decide(tmp_path, THERMOSTAT.format(urgent="urgent", most="21.9"), "auto")
    assert isinstance(tight, Falsified)


def test_a_state_that_enters_an_enabled_urgent_guard_counts(tmp_path: Path) -> None:
    """The first states satisfy the guard: no time passes there, yet they are reached."""
    text = THERMOSTAT.format(urgent="urgent", most=22).replace("[19, 20]", "[19, 23]")
    verdict = decide(tmp_path, text, "auto")
    assert isinstance(verdict, Falsified)
    wide = THERMOSTAT.format(urgent="urgent", most=24).replace("[19, 20]", "[19, 23]")
    found = decide(tmp_path, wide, "template")
    if isinstance(found, Verified):
        automaton = model(tmp_path, wide)
        assert isinstance(check(automaton, "comfortable", found.certificate), Accepted)


def test_runs_that_ignore_urgency_do_not_pass_the_check(tmp_path: Path) -> None:
    lazy = prepare(model(tmp_path, ALARM.format(cooling=-2, urgent="")))
    strict = prepare(model(tmp_path, ALARM.format(cooling=-2, urgent="urgent")))
    late = simulate(lazy, until=3.5, policy=Policy(Switching.LATEST), stop_on_violation=False)
    assert RunCheck(lazy).problems(late, {}) == []
    assert any("urgent" in problem for problem in RunCheck(strict).problems(late, {}))
    prompt = simulate(strict, until=9.0)
    assert len(prompt.jumps) > 3 and RunCheck(strict).problems(prompt, {}) == []


STRICT = """
mode Rising() {{ write analog real x; diff {{ d(x) == 1; }} }}
mode Resting() {{ write analog real x; diff {{ d(x) == 0; }} }}
mode Top() {{
  write analog real x;
  mode rising = Rising();
  mode resting = Resting();
  trans from init to rising;
  urgent trans from rising to resting when x {above} 1 do {{ x = 5; }}
}}
agent Main() {{ private analog real x = 0; mode top = Top(); assert "low" {{ x <= {most} }} }}
"""


@pytest.mark.parametrize("method", ["abstraction", "template", "quadratic", "flowpipe", "auto"])
def test_a_strict_urgent_guard_is_taken_as_soon_as_it_is_exceeded(
    method: str, tmp_path: Path
) -> None:
    """A stay ends at x = 1, where x > 1 does not hold; yet the edge is taken, and x is 5."""
    verdict = decide(tmp_path, STRICT.format(above=">", most=4), method)
    assert not isinstance(verdict, Verified)
    if method in ("flowpipe", "auto"):
        assert isinstance(verdict, Falsified)


def test_proofs_treat_strict_urgent_guards_as_others(tmp_path: Path) -> None:
    for above in (">", ">="):
        text = STRICT.format(above=above, most=5)
        assert isinstance(decide(tmp_path, text, "template"), Verified)


def test_no_evidence_refutes_a_strict_urgent_guard_at_its_boundary(tmp_path: Path) -> None:
    """The rows of an urgent jump are never strict, whatever kind of certificate reads them."""
    automaton = model(tmp_path, STRICT.format(above=">", most=4))
    problem = linear_problem(automaton, automaton.properties[0])
    jumps = [jump for v in ("rising", "resting") for jump in problem.jumps(v)]
    assert jumps and not any(row.strict for j in jumps for case in j.cases for row in case)
