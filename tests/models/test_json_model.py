from __future__ import annotations

import copy
import json
import os
import random
import subprocess
import sys
from fractions import Fraction
from typing import Any

import pytest
from expression_strategies import GRID, LINE, SYMBOLS, condition, number
from hypothesis import given
from hypothesis import strategies as st

from workbench.models import catalogue
from workbench.models.agents.composition import Interaction, Product
from workbench.models.automaton import (
    BOOL,
    INT,
    REAL,
    UNCONSTRAINED,
    Constraint,
    Edge,
    EventKind,
    HybridAutomaton,
    Initial,
    Input,
    Kind,
    Location,
    Parameter,
    Property,
    PropertyKind,
    Range,
    Variable,
    enumeration,
)
from workbench.models.expressions.expression import (
    TRUE,
    Expression,
    at_location,
    boolean,
    conjunction,
    constant,
    equal,
    external,
    function,
    lookup,
    negation,
    symbol,
    variable,
)
from workbench.models.expressions.operators import Op
from workbench.models.expressions.table import Table
from workbench.models.interchange.json_model import (
    SCHEMA,
    canonical_bytes,
    fingerprint,
    from_json,
    to_json,
)
from workbench.models.load import load
from workbench.models.source import ModelError, Span

F = Fraction
x, v = variable("x"), variable("v")


def ball(name: str = "ball") -> HybridAutomaton:
    """An automaton that uses every feature."""
    begun = equal(variable("time"), 0)
    return HybridAutomaton(
        name,
        variables=(
            Variable("x", span=Span("f", 1, 1, 1, 2)),
            Variable("v"),
            Variable("n", INT, Kind.DISCRETE),
            Variable("m", enumeration("x", "red"), Kind.DISCRETE),  # a value called like a variable
            Variable("b", BOOL, Kind.DISCRETE),
            Variable("time"),
            Variable("odd-name", REAL),
        ),
        inputs=(Input("u", REAL, F(-1, 10), F(1)), Input("w")),
        parameters=(Parameter("g", REAL, F(98, 10), None),),
        locations=(
            Location(
                "fall",
                flows=(
                    Constraint("x", Range.exactly(v)),
                    Constraint("v", Range(-variable("g") + lookup(LINE, x), None)),
                    Constraint("time", Range.exactly(constant(1))),
                ),
                algebraic=(Constraint("odd-name", Range.exactly(lookup(GRID, x, v) / 3)),),
                invariant=(x >= 0) & negation(variable("b")),
            ),
            Location(
                "rest|still",
                flows=(Constraint("time", Range.exactly(constant(1))),),
                algebraic=(Constraint("v", UNCONSTRAINED),),
            ),
        ),
        edges=(
            Edge(
                "fall",
                "rest|still",
                conjunction(x <= 0, equal(variable("m"), symbol("x")), external("f", v) > 0),
                (
                    Constraint("v", Range(v * F(-4, 5), v * F(-1, 2))),
                    Constraint("q.chosen1", Range(constant(0), None)),
                    Constraint(
                        "n",
                        Range.exactly(function(Op.FLOOR, variable("q.chosen1'") + variable("v'"))),
                    ),
                    Constraint("m", Range.exactly(symbol("red"))),
                    Constraint("b", Range.exactly(boolean(True))),
                ),
                label="hit",
                urgent=True,
                event=EventKind.CROSSING,
                name="bounce",
            ),
        ),
        initial=(
            Initial("fall", equal(x, 10) & begun, (Constraint("v", Range.exactly(constant(0))),)),
            Initial("rest|still", begun),
        ),
        assumption=variable("u") <= variable("w"),
        properties=(
            Property("low", x <= 11, where=at_location(name, "rest|still")),
            Property("never", x > 99, PropertyKind.FORBIDDEN),
        ),
        predicates=(x - 5 >= 0,),
        alphabet=frozenset({"hit", "unused"}),
        horizon=F(7, 3),
    )


def pair() -> Product:
    other = HybridAutomaton("other", (Variable("y"),), (Location("only"),), (), (Initial("only"),))
    return Product(
        "both",
        (ball(), other),
        interactions=(
            Interaction(
                "meet",
                ("ball", "other"),
                variable("x") <= variable("y"),
                (Constraint("y", Range.exactly(x)),),
                True,
                EventKind.BILATERAL,
            ),
        ),
        properties=(Property("apart", negation(at_location("other", "only")) | (x > 0)),),
        initial_condition=x > variable("y"),
        parameters=(Parameter("g", REAL, F(9), F(10)),),
        horizon=F(2),
    )


@pytest.mark.parametrize("model", [ball(), pair(), HybridAutomaton("empty")])
def test_round_trip(model: HybridAutomaton | Product) -> None:
    document = to_json(model)
    text = json.dumps(document)
    assert from_json(text) == model
    assert from_json(text.encode()) == model
    assert from_json(document) == model
    assert to_json(from_json(text)) == document
    assert canonical_bytes(from_json(canonical_bytes(model))) == canonical_bytes(model)


@given(st.data())
def test_any_expression_survives(data: st.DataObject) -> None:
    names = ("x", "a-b", "true", "min", "car[3].x", "red")
    leaves = st.sampled_from(names).map(variable) | st.fractions(-9, 9).map(constant)
    flow = data.draw(number(leaves=leaves))
    others = (variable("ready"), equal(variable("colour"), symbol("red")), at_location("a", "l"))
    invariant = data.draw(condition(leaves=leaves, others=others, depth=3))
    automaton = HybridAutomaton(
        "a",
        (
            *map(Variable, names),
            Variable("ready", BOOL, Kind.DISCRETE),
            Variable("colour", enumeration(*sorted(SYMBOLS)), Kind.DISCRETE),
        ),
        (Location("l", (Constraint("x", Range.exactly(flow)),), (), invariant),),
    )
    assert from_json(canonical_bytes(automaton)) == automaton


def test_fields_with_usual_values_may_be_left_out() -> None:
    text = f"""{{"schema": "{SCHEMA}", "kind": "automaton", "name": "clock",
      "variables": [{{"name": "t"}}],
      "locations": [{{"name": "run", "flows": [{{"variable": "t", "value": 1}}]}}],
      "initial": [{{"location": "run", "condition": "t == 0.1"}}], "horizon": 2.5}}"""
    automaton = from_json(text)
    assert automaton.location("run").flow_of("t").exact == constant(1)
    assert automaton.horizon == F(5, 2)
    (start,) = automaton.initial_sets()
    assert start.condition == equal(variable("t"), F(1, 10))


# The fingerprint


def test_fingerprint_ignores_spans_and_is_stable_across_processes() -> None:
    moved = from_json(to_json(ball()))
    assert fingerprint(moved) == fingerprint(ball()) == ball().sha256
    script = (
        "import sys, json; from workbench.models.interchange.json_model import from_json, fingerprint;"
        "print(fingerprint(from_json(sys.stdin.read())))"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", script],
            input=json.dumps(to_json(pair())),
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout.strip()
        for seed in ("1", "2")
    }
    assert found == {pair().sha256}


def test_fingerprint_of_a_known_automaton() -> None:
    """Fingerprints are stored in certificates: a change of the form needs a new schema."""
    clock = HybridAutomaton(
        "clock",
        (Variable("t"),),
        (Location("run", (Constraint("t", Range.exactly(constant(F(1, 10)))),)),),
        initial=(Initial("run", equal(variable("t"), 0)),),
    )
    assert canonical_bytes(clock) == (
        b'{"alphabet":[],"assumption":"true","edges":[],"externals":[],"horizon":null,'
        b'"initial":[{"condition":"t == 0","location":"run","resets":[]}],"inputs":[],'
        b'"kind":"automaton","locations":[{"algebraic":[],"flows":[{"value":"0.1",'
        b'"variable":"t"}],"invariant":"true","name":"run"}],"name":"clock","parameters":[],'
        b'"predicates":[],"properties":[],"schema":"charon-workbench/automaton/1","tables":{},'
        b'"variables":[{"kind":"analog","name":"t","type":"real"}]}'
    )


def test_every_difference_changes_the_fingerprint() -> None:
    from dataclasses import replace

    base = ball()
    location, edge = base.locations[0], base.edges[0]
    variants = [
        base,
        replace(base, name="b2"),
        replace(base, horizon=F(7, 4)),
        replace(base, horizon=None),
        replace(base, alphabet=frozenset({"hit"})),
        replace(base, predicates=()),
        replace(base, assumption=TRUE),
        replace(base, locations=(replace(location, invariant=x > 0), base.locations[1])),
        replace(base, edges=(replace(edge, urgent=False),)),
        replace(base, edges=(replace(edge, label=None),)),
        replace(base, edges=(replace(edge, event=EventKind.UNILATERAL),)),
        replace(base, edges=(replace(edge, resets=edge.resets[:1]),)),
        replace(base, inputs=(Input("u", REAL, F(-1, 10), F(2)), Input("w"))),
        replace(base, properties=base.properties[:1]),
        replace(base, variables=(*base.variables[:-2], Variable("time", REAL, Kind.DISCRETE))),
    ]
    assert len({fingerprint(variant) for variant in variants}) == len(variants)


def test_what_has_no_unambiguous_form_is_refused() -> None:
    def with_invariant(condition: Expression) -> HybridAutomaton:
        return HybridAutomaton("a", (Variable("x"),), (Location("l", invariant=condition),))

    other = Table(LINE.name, ((F(0),),), ((F(1),),))
    for condition_ in (
        (lookup(LINE, x) > 0) & (lookup(other, x) > 0),
        (lookup(LINE, x) > 0) & (external(LINE.name, x) > 0),
        external("sin", x) > 0,
        Expression(Op.SELECT, (x,), (("car", True),)) > 0,
    ):
        with pytest.raises(ModelError):
            to_json(with_invariant(condition_))


def test_exponential_sharing_is_refused_not_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workbench.models.expressions.printing.MAX_PIECES", 100_000)
    e = x
    for _ in range(64):
        e = function(Op.SIN, e) + function(Op.COS, e)
    with pytest.raises(ModelError, match="too large"):
        to_json(HybridAutomaton("a", (Variable("x"),), (Location("l", invariant=e > 0),)))


# Malformed documents


def changed(path: str, value: object) -> dict[str, Any]:
    """The document of `ball` with one field replaced (or, for `...`, removed)."""
    document: dict[str, Any] = copy.deepcopy(to_json(ball()))  # type: ignore[assignment]
    here: Any = document
    *steps, last = [int(s) if s.isdigit() else s for s in path.split(".")]
    for step in steps:
        here = here[step]
    if value is ...:
        del here[last]
    else:
        here[last] = value
    return document


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        ("schema", "charon-workbench/automaton/2", "schema"),
        ("kind", "car", "kind"),
        ("name", ..., "missing"),
        ("name", "", "empty"),
        ("name", 3, "text in quotes"),
        ("nmae", "typo", "unknown field"),
        ("variables", {}, "expected a list"),
        ("variables.0", "x", "expected an object"),
        ("variables.0.type", "float", "real"),
        ("variables.3.type", {"enum": []}, "enumeration"),
        ("variables.1.name", "x", "twice"),
        ("variables.0.kind", "digital", "analog"),
        ("inputs.0.low", 0.5, '"1/10"'),
        ("inputs.0.low", "2", "above"),
        ("inputs.0.low", "1/0", "divides by zero"),
        ("inputs.0.low", "1e99999", "reasonable"),
        ("inputs.0.low", "one", "number"),
        ("inputs.0.name", "x", "declared twice"),
        ("locations.0.invariant", "x >=", "expected"),
        ("locations.0.invariant", "x", "truth value"),
        ("locations.0.invariant", "zz > 0", "no variable 'zz'"),
        ("locations.0.invariant", "x && b", "operand"),
        ("locations.0.invariant", 'at("car", "l")', "no component"),
        ("locations.0.invariant", 'at("ball", "nowhere")', "no location"),
        ("locations.0.invariant", "nofun(x) > 0", "no function"),
        ("locations.0.invariant", "forall i in 1..3 : x > 0", "flat"),
        ("locations.0.invariant", None, "text in quotes"),
        ("locations.0.flows.0.variable", "n", "analog"),
        ("locations.0.flows.0.value", "b", "a number"),
        ("locations.0.flows.0.low", "1", "either"),
        ("locations.1.name", "fall", "twice"),
        ("edges.0.target", "nowhere", "no location"),
        ("edges.0.urgent", 1, "true or false"),
        ("edges.0.event", "late", "crossing"),
        ("edges.0.resets.0.variable", "q.late", "no variable"),
        ("edges.0.resets.4.value", "3", "truth value"),
        ("initial.0.location", "nowhere", "no location"),
        ("horizon", "-1", "negative"),
        ("horizon", [], "number"),
        ("properties.0.kind", "wish", "assertion"),
        ("tables.ramp.axes", [["1", "0"]], "increase"),
        ("tables.ramp.values", [], "every grid point"),
        ("externals", ["ramp"], "two different functions"),
        ("alphabet", "hit", "list"),
    ],
)
def test_malformed_documents(path: str, value: object, words: str) -> None:
    with pytest.raises(ModelError) as caught:
        from_json(changed(path, value), file="model.json")
    rendered = caught.value.render()
    assert words in rendered and "model.json" in rendered


HOSTILE = [
    b"",
    b"\x00",
    b"\xff\xfe",
    b"{",
    b"null",
    b"[]",
    b'"text"',
    b"NaN",
    b'{"schema": NaN}',
    b'{"a": 1, "a": 2}',
    b"[" * 1_000_000,
    b'{"a":' * 500_000,
    b"1" * 100_000,
    b"1e" + b"9" * 1000,
    b'{"schema": "charon-workbench/automaton/1"}',
    b'{"schema": ["charon-workbench/automaton/1"], "kind": {}}',
]


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_texts(text: bytes) -> None:
    with pytest.raises(ModelError) as caught:
        from_json(text)
    assert len(caught.value.render()) < 2_000


def test_hostile_values() -> None:
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    cyclic: list[Any] = []
    cyclic.append(cyclic)
    for value in (deep, cyclic, 10**5000, object(), {1: 2}, float("nan"), "\ud800", b"\x80"):
        for path in ("horizon", "variables", "locations.0.invariant", "name", "tables", "extra"):
            document = changed(path, value)
            if path == "name" and value == "\ud800":
                continue  # odd, but a name
            with pytest.raises(ModelError):
                from_json(document)
    with pytest.raises(ModelError):
        from_json(10**5000)


def test_an_absurdly_nested_expression_is_a_diagnostic() -> None:
    with pytest.raises(ModelError, match="nested"):
        from_json(changed("locations.0.invariant", "(" * 200_000 + "x"))


JUNK = [
    None,
    True,
    0,
    -1,
    "",
    "x",
    "1/0",
    [],
    {},
    [[]],
    {"name": "x"},
    1.5,
    "true",
    "x > 0",
    [None],
]


def mutated(value: Any, source: random.Random) -> Any:
    """The value with something in it replaced, removed, doubled or shuffled."""
    if source.random() < 0.15 or not isinstance(value, dict | list) or not value:
        return source.choice(JUNK)
    copied = copy.copy(value)
    key = source.choice(list(copied) if isinstance(copied, dict) else range(len(copied)))
    if source.random() < 0.2:
        del copied[key]
    elif isinstance(copied, list) and source.random() < 0.3:
        copied.append(copied[key])
    else:
        copied[key] = mutated(copied[key], source)
    return copied


@pytest.mark.parametrize("model", [ball(), pair()])
def test_mutated_documents_give_a_model_or_a_diagnostic(model: HybridAutomaton | Product) -> None:
    document = to_json(model)
    source = random.Random(20030101)
    accepted = refused = 0
    for _ in range(600):
        try:
            again = from_json(mutated(document, source))
        except ModelError as error:
            error.render()
            refused += 1
        else:
            assert from_json(to_json(again)) == again
            accepted += 1
    assert refused > 100 and accepted > 5


def test_externals_are_listed() -> None:
    assert to_json(ball())["externals"] == ["f"]


@pytest.mark.parametrize("entry", catalogue.entries(), ids=lambda entry: entry.name)
def test_library_models_survive(entry: catalogue.Entry) -> None:
    model = load(entry.name).automaton
    again = from_json(canonical_bytes(model))
    assert again == model
    assert again.sha256 == model.sha256
