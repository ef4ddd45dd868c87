"""Some forty small models, half of which block: what is said of them, and what is decided."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction

import pytest

from workbench.abstraction.blocking import look
from workbench.abstraction.strategies.strategy import Task
from workbench.abstraction.unreached import unreached
from workbench.abstraction.verification import deadline, verify
from workbench.models.automaton import Automaton, never_blocks
from workbench.models.certificates.certificate import decode, encode
from workbench.models.certificates.check import check
from workbench.models.certificates.json_reader import MalformedCertificateError
from workbench.models.certificates.judgement import Accepted, Rejected
from workbench.models.load import load, load_text
from workbench.models.lowering.problem import linear_problem
from workbench.models.source import ModelError
from workbench.models.trace import Ending
from workbench.models.verdict import Falsified, Unknown, Verified
from workbench.reach.going_on import going_on
from workbench.simulate.recipe import read_recorded, repeat


def text(
    init: str,
    first: str,
    second: str = "diff { d(x) == 0; d(c) == 1; }",
    trans: str = "",
    discrete: str = "",
) -> str:
    """A model of two modes over x and a clock c; `trans` are its transitions."""
    own = f"write analog real x; write analog real c; {discrete.replace('private', 'write')}"
    return f"""
mode A() {{ {own} {first} }}
mode B() {{ {own} {second} }}
mode Top() {{ {own}
  mode a = A(); mode b = B();
  trans from init to a;
  {trans} }}
agent Model() {{
  private analog real x; private analog real c; {discrete}
  init {{ {init} c = 0; }}
  mode top = Top();
  assert "safe" {{ x <= 1000000 }}
}}
"""


UP = "diff { d(x) == 1; d(c) == 1; }"
GO = "trans #go from a to b when "
BOTH = "trans #go from a to b when x >= 5; trans #back from b to a when "

BLOCKING = {
    "no edge": text("x = 0;", UP + " inv { x <= 5 }", trans=GO + "x >= 100;"),
    "guard too late": text("x = 0;", UP + " inv { x <= 5 }", trans=GO + "c >= 6;"),
    "guard too early": text("x = 4;", UP + " inv { x <= 5 }", trans=GO + "x <= 3;"),
    "target's invariant": text(
        "x = 0;", UP + " inv { x <= 5 }", UP + " inv { x <= 4 }", GO + "x >= 5;"
    ),
    "reset outside": text(
        "x = 0;", UP + " inv { x <= 5 }", UP + " inv { x >= 0 }", GO + "x >= 5 do { x = -1; };"
    ),
    "ends in the second": text(
        "x = 0;", UP + " inv { x <= 5 }", UP + " inv { x <= 7 }", GO + "x >= 5;"
    ),
    "second clock": text(
        "x = 0;",
        UP + " inv { x <= 5 }",
        "diff { d(x) == -1; d(c) == 1; } inv { x >= 0 }",
        BOTH + "c <= 9;",
    ),
    "from a range": text("x in [0, 2];", UP + " inv { x <= 5 }", trans=GO + "c >= 6;"),
    "some of a range": text("x in [0, 2];", UP + " inv { x <= 5 }", trans=GO + "c >= 4;"),
    "slope of a range": text(
        "x = 0;", "diff { d(x) in [1, 2]; d(c) == 1; } inv { x <= 5 }", trans=GO + "c >= 6;"
    ),
    "falls": text(
        "x = 3;", "diff { d(x) == -1; d(c) == 1; } inv { x >= 0 }", trans=GO + "x <= -1;"
    ),
    "decays": text(
        "x = 4;", "diff { d(x) == -x; d(c) == 1; } inv { x >= 1 }", trans=GO + "x <= 0;"
    ),
    "grows": text("x = 1;", "diff { d(x) == x; d(c) == 1; } inv { x <= 8 }", trans=GO + "c >= 6;"),
    "nonlinear": text(
        "x = 1;", "diff { d(x) == x^2/4; d(c) == 1; } inv { x <= 2 }", trans=GO + "c >= 6;"
    ),
    "clock's invariant": text("x = 0;", UP + " inv { c <= 2 }", trans=GO + "x >= 5;"),
    "starts stuck": text("x = 5;", UP + " inv { x <= 5 }", trans=GO + "x >= 6;"),
    "urgent": text(
        "x = 0;", UP, UP + " inv { x <= 2 }", "urgent trans #go from a to b when x >= 3;"
    ),
    "flag never set": text(
        "x = 0; f = false;",
        UP + " inv { x <= 5 }",
        trans=GO + "x >= 5 && f;",
        discrete="private discrete bool f;",
    ),
    "counter ends": text(
        "x = 0; k = 0;",
        UP + " inv { x <= 1 }",
        trans="trans #again from a to a when x >= 1 && k < 3 do { x = 0; k = k + 1; };",
        discrete="private discrete int k;",
    ),
    "clamped": text("x = 0;", "diff { d(x) == min(1, 7 - x); d(c) == 1; } inv { x <= 5 }"),
    "both in turn": text(
        "x = 0; k = 0;",
        UP + " inv { x <= 5 }",
        "diff { d(x) == -1; d(c) == 1; } inv { x >= 0 }",
        "trans #go from a to b when x >= 5; "
        "trans #back from b to a when x <= 0 && k < 2 do { k = k + 1; };",
        discrete="private discrete int k;",
    ),
}

GOING_ON = {
    "no invariant": text("x = 0;", UP),
    "one jump": text("x = 0;", UP + " inv { x <= 5 }", trans=GO + "x >= 5;"),
    "in time": text("x = 0;", UP + " inv { x <= 5 }", trans=GO + "c >= 4;"),
    "a window that stays": text("x = 0;", UP + " inv { x <= 5 }", trans=GO + "x >= 3;"),
    "to and fro": text(
        "x = 0;",
        UP + " inv { x <= 5 }",
        "diff { d(x) == -1; d(c) == 1; } inv { x >= 0 }",
        BOTH + "x <= 0;",
    ),
    "from a range": text("x in [0, 2];", UP + " inv { x <= 5 }", trans=GO + "c >= 3;"),
    "slope of a range": text(
        "x = 0;", "diff { d(x) in [1, 2]; d(c) == 1; } inv { x <= 5 }", trans=GO + "x >= 4;"
    ),
    "may rest": text("x = 0;", "diff { d(x) in [0, 1]; d(c) == 1; } inv { x <= 5 }"),
    "rests": text("x = 5;", "diff { d(x) == 0; d(c) == 1; } inv { x <= 5 }"),
    "decays": text("x = 4;", "diff { d(x) == -x; d(c) == 1; } inv { x >= 0 }"),
    "decays to": text("x = 4;", "diff { d(x) == 1 - x; d(c) == 1; } inv { x >= 1 }"),
    "leaves the boundary": text("x = 0;", UP + " inv { x >= 0 }"),
    "reset inside": text(
        "x = 0;",
        UP + " inv { x <= 5 }",
        UP + " inv { x <= 3 }",
        "trans #go from a to b when x >= 5 do { x = 0; }; trans #back from b to a when x >= 3;",
    ),
    "loop": text(
        "x = 0;",
        UP + " inv { x <= 1 }",
        trans="trans #again from a to a when x >= 1 do { x = 0; };",
    ),
    "urgent": text("x = 0;", UP, trans="urgent trans #go from a to b when x >= 3;"),
    "urgent, strict": text("x = 0;", UP, trans="urgent trans #go from a to b when x > 3;"),
    "flag": text(
        "x = 0; f = true;",
        UP + " inv { x <= 5 }",
        trans=GO + "x >= 5 && f;",
        discrete="private discrete bool f;",
    ),
    "counter": text(
        "x = 0; k = 0;",
        UP + " inv { x <= 1 }",
        trans="trans #again from a to a when x >= 1 do { x = 0; k = k + 1; };",
        discrete="private discrete int k;",
    ),
    "two ways": text(
        "x = 0;",
        UP + " inv { x <= 5 }",
        trans="trans #low from a to b when c <= 5; trans #high from a to b when c >= 5;",
    ),
    "clamped": text("x = 0;", "diff { d(x) == min(1, 5 - x); d(c) == 1; } inv { x <= 5 }"),
    "equality": text("x = 2;", "diff { d(x) == 0; d(c) == 1; } inv { x == 2 }"),
}
GOING_ON |= {
    "either side": text("x = 0;", UP + " inv { x <= 5 || x >= 7 }", trans=GO + "x >= 5;"),
    "turns back": text(
        "x = 0;", "diff { d(x) == 1 - c; d(c) == 1; } inv { x <= 1/2 }", trans=GO + "x >= 1/2;"
    ),
    "counts to an end": text(
        "x = 0; k = 0;",
        UP + " inv { x <= 1 }",
        trans="trans #again from a to a when x >= 1 && k < 3 do { x = 0; k = k + 1; };"
        "trans #done from a to b when x >= 1 && k >= 3;",
        discrete="private discrete int k;",
    ),
}


def with_input(written: str) -> str:
    """The same with an input u between -1 and 1 that its modes read."""
    for mode in ("A", "B", "Top"):
        written = written.replace(f"mode {mode}() {{", f"mode {mode}() {{ read analog real u; ")
    return written.replace("agent Model() {", "agent Model() { read analog real u in [-1, 1];")


GOING_ON |= {
    "pressed": with_input(
        text("x = 0;", "diff { d(x) == u - x; d(c) == 1; } inv { x <= 1 && x >= -1 }")
    ),
    "pushed out": with_input(
        text("x = 0;", "diff { d(x) == 3 + u; d(c) == 1; } inv { x <= 5 }", trans=GO + "x >= 5;")
    ),
    "back to an input": with_input(
        text("x = 0;", UP + " inv { x <= 2 }", trans="trans from a to a when x >= 2 do { x = u; };")
    ),
}
GOING_ON |= {
    "back by pieces": text(
        "x = 0;",
        UP + " inv { x <= 2 }",
        trans="trans from a to a when x >= 2 do { x = abs(x - 3); };",
    ),
    "back to a range by pieces": text(
        "x = 0;",
        UP + " inv { x <= 2 }",
        trans="trans from a to a when x >= 2 do { x in [min(x, 1), max(x - 3, 1)]; };",
    ),
}
GOING_ON["an input without bounds"] = with_input(
    text(
        "x = 0;",
        "diff { d(x) == u; d(c) == 1; } inv { x <= 1 }",
        trans="trans from a to a when x >= 1 do { x = 0; };",
    )
).replace(" in [-1, 1]", "")
BLOCKING["back to where it was, by pieces"] = text(
    "x = 0;", UP + " inv { x <= 2 }", trans="trans from a to a when x >= 2 do { x = abs(x); };"
)
BLOCKING["pushed where no edge is"] = with_input(
    text(
        "x = 0;",
        "diff { d(x) == 3 + u; d(c) == 1; } inv { x <= 5 }",
        trans=GO + "x >= 5 && u >= 2;",
    )
)
BY_CHECKER = {"urgent, strict"}
"""Where rows do not say that the edge is taken; all others rest on the kernel's word alone."""


def automaton(written: str) -> Automaton:
    return load_text(written, "small.charon").automaton


def decided(written: str, method: str = "template") -> object:
    model = automaton(written)
    return verify(Task(model, never_blocks(model), deadline(60)), method)


@pytest.mark.parametrize("name", BLOCKING)
def test_what_blocks_is_named_and_falsified(name: str) -> None:
    seen = look(automaton(BLOCKING[name]))
    assert "blocked" in seen.sentence and "is stuck" in seen.sentence
    verdict = decided(BLOCKING[name])
    assert isinstance(verdict, Falsified)
    assert verdict.trace.outcome.ending is Ending.BLOCKED
    _, recipe, _ = read_recorded(verdict.recording)
    assert recipe is not None
    again = repeat(automaton(BLOCKING[name]), recipe)
    assert again.outcome.ending is Ending.BLOCKED
    assert again.outcome.time == verdict.trace.outcome.time


@pytest.mark.parametrize("name", GOING_ON)
def test_what_goes_on_is_not_mentioned_and_verified(name: str) -> None:
    assert look(automaton(GOING_ON[name])).sentence == ""
    verdict = decided(GOING_ON[name])
    assert isinstance(verdict, Verified), verdict
    assert verdict.certificate.kind == "progress"
    assert (verdict.judgement.basis.name == "kernel") is (name not in BY_CHECKER)


@pytest.mark.parametrize("name", BLOCKING)
def test_of_what_blocks_the_kernel_sees_no_way_on(name: str) -> None:
    """There is evidence for all that goes on and rows can say, within its invariants or not; so
    if the rows allowed more than the model does, some would be found here."""
    model = automaton(BLOCKING[name])
    assert going_on(linear_problem(model, never_blocks(model))) is None


@pytest.mark.parametrize("method", ["template", "rectangular", "auto"])
def test_methods_for_safety_decide_it(method: str) -> None:
    assert isinstance(decided(GOING_ON["to and fro"], method), Verified)
    assert isinstance(decided(BLOCKING["guard too late"], method), Falsified)


def test_up_to_a_horizon() -> None:
    model = automaton(GOING_ON["urgent, strict"])
    task = Task(model, never_blocks(model), deadline(60))
    verdict = verify(replace(task, options={"horizon": Fraction(2)}), "flowpipe")
    assert isinstance(verdict, Verified)
    assert verdict.horizon == 2


def certificate_of(name: str) -> tuple[Automaton, str]:
    model = automaton(GOING_ON[name])
    verdict = verify(Task(model, never_blocks(model), deadline(60)), "template")
    assert isinstance(verdict, Verified)
    return model, encode(verdict.certificate)


def test_a_certificate_is_for_its_model_only() -> None:
    model, written = certificate_of("in time")
    assert isinstance(check(model, "never blocks", decode(written)), Accepted)
    twin = automaton(BLOCKING["guard too late"])
    document = json.loads(written) | {"model_sha256": twin.sha256, "model": twin.name}
    assert isinstance(check(twin, "never blocks", decode(json.dumps(document))), Rejected)
    assert isinstance(check(model, "safe", decode(written)), Rejected)


def test_a_first_state_must_be_one() -> None:
    model, written = certificate_of("in time")
    for change in ({"x": "7"}, {"c": "1"}, {"x": ":red"}, {"x": True}, {}):
        document = json.loads(written)
        start = document["start"]
        start["after"] = start["after"] | change if change else {}
        start["before"] = dict(start["after"])
        assert isinstance(check(model, "never blocks", decode(json.dumps(document))), Rejected)


def test_a_proof_of_safety_is_none_of_progress() -> None:
    model, written = certificate_of("in time")
    document = json.loads(written)
    inner = document.pop("safety")
    document.pop("start")
    plain = document | inner
    assert isinstance(check(model, "never blocks", decode(json.dumps(plain))), Rejected)
    document = json.loads(written) | {"property": "safe"}
    assert isinstance(check(model, "safe", decode(json.dumps(document))), Rejected)


def test_no_evidence_is_rejected() -> None:
    model, written = certificate_of("in time")
    document = json.loads(written)
    document["safety"]["evidence"] = []
    try:
        changed = decode(json.dumps(document))
    except MalformedCertificateError:
        return
    assert isinstance(check(model, "never blocks", changed), Rejected)


def test_no_run_starts() -> None:
    empty = text("x = 7;", UP + " inv { x <= 5 }")
    try:
        model = automaton(empty)
    except ModelError:
        return
    assert look(model).sentence.startswith("no run starts")
    assert isinstance(decided(empty), Unknown)


def test_written_claims_are_read() -> None:
    written = GOING_ON["in time"].replace(
        'assert "safe"', 'assert "goes on" { never blocks }\n  assert "safe"'
    )
    model = automaton(written)
    assert never_blocks(model).name == "goes on"
    assert isinstance(decided(written), Verified)


def test_places_without_states_are_unreachable() -> None:
    model = automaton(BLOCKING["guard too late"])
    claim = next(p for p in model.properties if p.name == "safe")
    verdict = verify(Task(model, claim, deadline(60)), "rectangular")
    assert isinstance(verdict, Verified)
    assert unreached(model, verdict.certificate).locations == ("b",)
    assert unreached(model).sentence == ""


def test_the_exact_method_where_nothing_jumps() -> None:
    assert isinstance(decided(GOING_ON["leaves the boundary"], "exact"), Verified)


@pytest.mark.slow
def test_the_whole_platoon_goes_on() -> None:
    """Six locations with clamped flows, a first vehicle that brakes at will, standstill."""
    model = load("platoon").automaton
    verdict = verify(Task(model, never_blocks(model), deadline(300)), "template")
    assert isinstance(verdict, Verified)
    assert verdict.certificate.kind == "progress"


def test_bounces_without_end_are_told_and_their_limit_is_no_end() -> None:
    model = load("bouncing_ball").automaton
    assert "(Zeno)" in look(model).sentence
    verdict = verify(Task(model, never_blocks(model), deadline(60)), "simulation")
    assert isinstance(verdict, Unknown)
