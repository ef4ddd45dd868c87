"""Certificates that stand alone: accepted for their model, and for nothing else."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.kernel_documents import PROOFS, proof
from workbench.abstraction.strategies.strategy import Task
from workbench.abstraction.verification import verify
from workbench.models.automaton import (
    BOOL,
    INT,
    NEVER_BLOCKS,
    UNCONSTRAINED,
    Constraint,
    Edge,
    HybridAutomaton,
    Initial,
    Location,
    Property,
    Range,
    ValueType,
    Variable,
    never_blocks,
)
from workbench.models.certificates.certificate import Certificate, MalformedCertificateError, encode
from workbench.models.certificates.check import check, check_alone, check_standalone
from workbench.models.certificates.judgement import Accepted, Judgement, Rejected
from workbench.models.certificates.standalone import (
    SCHEMA,
    Legend,
    StandaloneCertificate,
    certificate_text,
    names_json,
    read_certificate,
    standalone,
    written,
)
from workbench.models.checker.progress import FirstState
from workbench.models.evidence.polyhedral import PolyhedralProof
from workbench.models.evidence.progress import ProgressProof
from workbench.models.expressions.expression import ONE, TRUE, ZERO, equal, negation, variable
from workbench.models.kernel.document import refusal
from workbench.models.lowering.narrow import reaching, system
from workbench.models.lowering.normal_form import NormalForm
from workbench.models.lowering.problem import linear_problem
from workbench.models.lowering.quantities import fault_of_equations
from workbench.models.verdict import Verified
from workbench.reach.going_on import going_on

Data = dict[str, Any]


def certificate(name: str) -> tuple[HybridAutomaton, Certificate]:
    """A small model, and a certificate of its property."""
    model, found = proof(name)
    return model, Certificate(model.name, model.sha256, model.properties[0].name, found)


def plain(name: str) -> tuple[HybridAutomaton, Data]:
    """The same that stands alone, as plain data."""
    model, found = certificate(name)
    return model, json.loads(certificate_text(model, found))


def read(data: Any) -> StandaloneCertificate:
    found = read_certificate(json.dumps(data))
    assert isinstance(found, StandaloneCertificate)
    return found


def judged(model: HybridAutomaton, data: Data) -> Judgement:
    return check_standalone(model, data["property"], read(data))


def place(data: Data, number: int = 0) -> Any:
    return data["document"]["problem"][0][number]


@pytest.mark.parametrize("name", PROOFS)
def test_it_is_accepted_with_its_model_and_alone(name: str) -> None:
    model, found = certificate(name)
    text = certificate_text(model, found)
    again = read_certificate(text)
    assert isinstance(again, StandaloneCertificate)
    assert written(again) == text
    assert again == standalone(model, found)
    judgement = check_standalone(model, "safe", again)
    assert isinstance(judgement, Accepted) and judgement.basis.name == "kernel"
    assert judgement == check_alone(again)
    assert judgement.obligations > 0


def test_as_many_obligations_are_counted_as_the_checker_counts() -> None:
    model, found = certificate("locations")
    judgement, alone = check(model, "safe", found), check_alone(standalone(model, found))
    assert isinstance(judgement, Accepted) and isinstance(alone, Accepted)
    assert judgement.obligations == alone.obligations


def test_a_problem_is_lowered_the_same_way_in_every_process() -> None:
    """What is compared must not depend on the order of sets."""
    ask = (
        "import hashlib; from tests.certificates.test_standalone import *;"
        "texts = [json.dumps(plain(n)[1]) for n in PROOFS];"
        "print(hashlib.sha256(''.join(texts).encode()).hexdigest())"
    )
    found = set()
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        command = [sys.executable, "-c", ask]
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        found.add(done.stdout)
    assert len(found) == 1


# The first half: the problem is the model's


def weaker_invariant(data: Data) -> None:
    place(data)[0][0].pop()


def other_rates(data: Data) -> None:
    place(data)[1][0][0][0][0] = "1/7"


def no_jumps(data: Data) -> None:
    place(data)[2].pop()


def other_target(data: Data) -> None:
    place(data)[2][0][0] = "0"


def nothing_is_bad(data: Data) -> None:
    place(data)[3].clear()


def no_starts(data: Data) -> None:
    data["document"]["problem"][1].clear()


def a_number_for_a_truth_value(data: Data) -> None:
    place(data)[0][0][0][1] = 0


def no_location(data: Data) -> None:
    data["document"]["problem"][0][0] = "fill"


def swapped_locations(data: Data) -> None:
    names = data["names"]["locations"]
    names[0], names[1] = names[1], names[0]


def other_names(data: Data) -> None:
    data["names"]["states"][0] = "level"


def another_type(data: Data) -> None:
    data["names"]["types"]["x"] = "int"


def unknown_location(data: Data) -> None:
    data["names"]["locations"][0] = "nowhere"


def a_clock(data: Data) -> None:
    data["names"]["states"].append("time")


OTHER: Mapping[str, tuple[Callable[[Data], None], str]] = {
    f.__name__: (f, words)
    for f, words in {
        weaker_invariant: "invariant of fill",
        other_rates: "flow of fill",
        no_jumps: "jumps of fill",
        other_target: "jumps of fill",
        nothing_is_bad: "bad states of fill",
        no_starts: "starts",
        a_number_for_a_truth_value: "are not the model's",
        no_location: "of fill",
        swapped_locations: "of drain",
        other_names: "the names",
        another_type: "the names",
        unknown_location: "no location 'nowhere'",
        a_clock: "the names",
    }.items()
}


@pytest.mark.parametrize("name", OTHER)
def test_a_problem_that_is_not_the_models_is_refused(name: str) -> None:
    model, data = plain("locations")
    change, words = OTHER[name]
    change(data)
    judgement = judged(model, data)
    assert isinstance(judgement, Rejected)
    assert judgement.obligation == "problem" and words in judgement.why


def test_it_is_for_its_model_and_property_only() -> None:
    model, data = plain("locations")
    wider = replace(model, properties=(*model.properties, Property("more", TRUE)))
    assert judged(wider, data) == Rejected("model", "the certificate was made for another model")
    assert isinstance(check_standalone(model, "more", read(data)), Rejected)
    for claim in ("more", "never blocks"):
        judgement = judged(wider, data | {"model_sha256": wider.sha256, "property": claim})
        assert isinstance(judgement, Rejected)


def test_the_head_alone_does_not_make_it_one_of_a_twin() -> None:
    """The twin has the same starts, flow and jumps; all states are bad."""
    model, data = plain("locations")
    claim = Property("safe", negation(TRUE))
    twin = replace(model, properties=(claim,))
    data["model_sha256"] = twin.sha256
    judgement = judged(twin, data)
    assert isinstance(judgement, Rejected) and judgement.obligation == "problem"
    data["document"]["problem"] = standalone_problem(twin, data)
    judgement = judged(twin, data)
    assert isinstance(judgement, Rejected) and judgement.obligation == "evidence"
    assert isinstance(check_alone(read(data)), Rejected)


def standalone_problem(model: HybridAutomaton, data: Data) -> Any:
    """The model's own problem over the locations of a certificate."""
    from workbench.models.lowering.normal_form import NormalForm
    from workbench.models.lowering.problem import linear_problem

    problem = linear_problem(model, model.properties[0])
    return NormalForm(problem, data["names"]["locations"]).data


def test_a_location_that_is_left_out_is_forbidden_and_must_not_be_entered() -> None:
    model, data = plain("locations")
    assert data["names"]["locations"] == ["fill", "drain"]
    assert data["names"]["forbidden"] == ["flood"]
    data["names"] |= {"locations": ["fill"], "forbidden": ["drain", "flood"]}
    data["document"]["problem"] = standalone_problem(model, data)
    judgement = judged(model, data)
    assert isinstance(judgement, Rejected) and judgement.obligation == "evidence"


# The second half: the evidence proves the problem


def test_evidence_that_proves_nothing_is_refused() -> None:
    model, data = plain("locations")
    data["document"]["evidence"] = [[], []]
    for judgement in (judged(model, data), check_alone(read(data))):
        assert isinstance(judgement, Rejected) and judgement.obligation == "evidence"


def test_the_problem_that_the_kernel_is_given_is_not_that_of_the_file() -> None:
    """Of a problem in which nothing is bad anything is proved; it is not asked about."""
    model, data = plain("locations")
    twin = replace(model, properties=(Property("safe", negation(TRUE)),))
    data["model_sha256"] = twin.sha256
    for location in data["document"]["problem"][0]:
        location[3] = []
    assert isinstance(judged(twin, data), Rejected)


# Progress


@cache
def progress() -> tuple[HybridAutomaton, str]:
    """The basin, and a certificate that it never blocks."""
    model = PROOFS["locations"][0]()
    verdict = verify(Task(model, never_blocks(model), options={}), "template")
    assert isinstance(verdict, Verified)
    return model, certificate_text(model, verdict.certificate)


def test_progress_is_decided_by_the_kernel_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    model, text = progress()
    data = json.loads(text)
    assert data["schema"] == SCHEMA and data["document"]["checker"] == "check_progress"
    found = read(data)
    assert written(found) == text

    def never_asked(*_: object) -> None:
        raise AssertionError("the hand-written checker was asked")

    monkeypatch.setattr("workbench.models.certificates.check.fault_of_start", never_asked)
    monkeypatch.setattr("workbench.models.lowering.problem.stuck", never_asked)
    judgement = judged(model, data)
    assert isinstance(judgement, Accepted) and judgement.basis.name == "kernel"
    assert judgement == check_alone(found)
    _, safe = plain("locations")
    assert isinstance(judged(model, safe | {"property": data["property"]}), Rejected)
    assert isinstance(judged(model, data | {"property": "safe"}), Rejected)


SYSTEM: Mapping[str, tuple[Callable[[Any], Any], str]] = {
    "fewer variables": (lambda p: p.__setitem__(0, "0"), "number of variables"),
    "another whole number": (lambda p: p[1].append("0"), "what is whole"),
    "something is not given": (lambda p: p[2].append("0"), "what is given"),
    "something is bounded": (lambda p: p[3].append([["0", [], [], ["1"]], False]), "is given"),
    "runs come elsewhere": (lambda p: p[4][0][0][0][0].pop(), "^invariant of fill"),
    "runs start elsewhere": (lambda p: p[4][1][0][1][0].pop(), "^starts"),
    "runs can do more": (lambda p: p[5][0][1][0][0].pop(), "runs can do: invariant of drain"),
    "jumps are free": (lambda p: p[5][0][0][2][0][1][0].pop(), "runs can do: jumps of fill"),
    "starts are free": (lambda p: p[5][1][0][1][0].pop(), "runs can do: starts"),
}


@pytest.mark.parametrize("name", SYSTEM)
def test_the_system_of_progress_is_the_models(name: str) -> None:
    model, text = progress()
    data = json.loads(text)
    change, why = SYSTEM[name]
    change(data["document"]["problem"])
    found = judged(model, data)
    assert isinstance(found, Rejected) and found.obligation == "problem"
    assert re.search(why, found.why), found.why


def test_evidence_of_progress_is_looked_at() -> None:
    model, text = progress()
    for part, other in ((0, [[], [[], []]]), (1, ["0", "0", [], ["99"], []]), (2, [[], []])):
        data = json.loads(text)
        data["document"]["evidence"][part] = other
        found = judged(model, data)
        assert isinstance(found, Rejected) and found.obligation == "evidence"


def test_a_proof_of_progress_is_none_of_a_model_that_blocks() -> None:
    """Without its way out of `drain` the basin is stuck at its lower bound."""
    model, text = progress()
    twin = replace(model, edges=tuple(e for e in model.edges if e.name != "empty"))
    data = json.loads(text) | {"model_sha256": twin.sha256}
    assert isinstance(judged(twin, data), Rejected)
    problem = linear_problem(twin, never_blocks(twin))
    form = NormalForm(reaching(problem), data["names"]["locations"])
    data["document"]["problem"] = system(form)
    data["names"] = names_json(Legend.of(form))
    found = judged(twin, data)
    assert isinstance(found, Rejected) and found.obligation == "evidence"


def test_an_equation_without_a_value_is_no_progress() -> None:
    model, _ = progress()
    x = variable("x")
    broken = Constraint("x", Range.exactly(1 / x))
    places = (replace(model.locations[0], algebraic=(broken,)), *model.locations[1:])
    twin = replace(model, locations=places)
    assert fault_of_equations(model) is None
    assert "no value in fill" in str(fault_of_equations(twin))


def test_no_end_of_time_in_an_open_invariant_is_progress() -> None:
    """Where x < 2 no state is the last, but runs end: the certificate of its closure, of which x >= 2
    leads on, is not asked about."""
    x = variable("x")
    flow = (Constraint("x", Range.exactly(ONE)),)
    again = Edge("l", "l", x >= 2, (Constraint("x", Range.exactly(ZERO)),))
    starts = (Initial("l", equal(x, 0)),)
    judgements = []
    for invariant in (x <= 2, x < 2):
        place = Location("l", flow, (), invariant)
        model = HybridAutomaton("m", (Variable("x"),), (place,), (again,), starts)
        problem = linear_problem(model, never_blocks(model))
        values = {"x": Fraction(0)}
        nothing = PolyhedralProof((), ())
        why = ProgressProof(FirstState("l", values, values), nothing, going_on(problem))
        found = Certificate(model.name, model.sha256, NEVER_BLOCKS, why)
        alone = standalone(model, found)
        judgements += [
            check(model, NEVER_BLOCKS, found),
            check_standalone(model, NEVER_BLOCKS, alone),
        ]
    assert [isinstance(found, Accepted) for found in judgements] == [True, True, False, False]
    assert all(
        "is strict: x < 2" in found.why for found in judgements if isinstance(found, Rejected)
    )


@pytest.mark.parametrize("kind", [BOOL, INT], ids=str)
def test_an_equation_that_leaves_a_truth_value_open_is_no_progress(kind: ValueType) -> None:
    free = (Constraint("p", UNCONSTRAINED),)
    model = HybridAutomaton("m", (Variable("p", kind),), (Location("l", (), free),))
    assert "p may have no value in l" in str(fault_of_equations(model))


# Reading


def test_what_the_kernel_does_not_know_is_written_as_before() -> None:
    model = PROOFS["inputs"][0]()
    asked = Task(model, model.properties[0], options={"horizon": Fraction(1)})
    verdict = verify(asked, "flowpipe")
    assert isinstance(verdict, Verified)
    found = read_certificate(certificate_text(model, verdict.certificate))
    assert found == verdict.certificate


MALFORMED: Mapping[str, Callable[[Data], Any]] = {
    "no names": lambda d: d.pop("names"),
    "no document": lambda d: d.pop("document"),
    "no evidence": lambda d: d["document"].pop("evidence"),
    "no forbidden": lambda d: d["names"].pop("forbidden"),
    "one more field": lambda d: d.update(kind="polyhedral"),
    "one more field in the document": lambda d: d["document"].update(sound=True),
    "another checker": lambda d: d["document"].update(checker="check_all"),
    "no system": lambda d: d["document"].update(checker="check_progress"),
    "another kernel": lambda d: d["document"].update(schema="charon-workbench/kernel/2"),
    "too few names": lambda d: d["names"]["locations"].pop(),
    "a name twice": lambda d: d["names"].update(locations=["fill", "fill"]),
    "names that are none": lambda d: d["names"].update(states=[1]),
    "no problem": lambda d: d["document"].update(problem=None),
    "an empty problem": lambda d: d["document"].update(problem=[]),
    "a problem of another form": lambda d: d["document"].update(problem={"locations": []}),
    "a first state": lambda d: d.update(start={}),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_what_is_malformed_is_refused_where_it_is(name: str) -> None:
    _, data = plain("locations")
    MALFORMED[name](data)
    with pytest.raises(MalformedCertificateError) as found:
        read(data)
    assert ":" in str(found.value)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 10**9) | st.text(max_size=5) | st.just("1/2"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=12,
)
NAMES = sorted(PROOFS)


@given(st.sampled_from(NAMES), st.data())
def test_whatever_stands_anywhere_is_refused_or_proved(name: str, draw: st.DataObject) -> None:
    """A value anywhere is replaced by any other. With the model, nothing is accepted but its own
    problem; without it, what is accepted is what the kernel accepts. Nothing else happens."""
    model, data = plain(name)
    holder: Any = data
    key: Any = draw.draw(st.sampled_from(sorted(data)))
    while draw.draw(st.integers(0, 5)) and isinstance(holder[key], dict | list) and holder[key]:
        holder = holder[key]
        keys = sorted(holder) if isinstance(holder, dict) else range(len(holder))
        key = draw.draw(st.sampled_from(keys))
    holder[key] = draw.draw(JSON)
    try:
        found = read_certificate(json.dumps(data))
    except MalformedCertificateError:
        return
    assert isinstance(found, StandaloneCertificate)
    if isinstance(check_standalone(model, "safe", found), Accepted):
        assert found.problem == plain(name)[1]["document"]["problem"]
    assert isinstance(check_alone(found), Accepted) is (refusal(found.document) is None)


# Size


@pytest.mark.parametrize("name", PROOFS)
def test_it_is_not_much_longer(name: str) -> None:
    """At most three times as long as before; of ellipsoids the evidence is written out that the
    checker works out, at each corner of what their flow depends on."""
    model, found = certificate(name)
    most = 15 if name == "ellipsoids" else 3
    assert len(certificate_text(model, found)) <= most * len(encode(found))
