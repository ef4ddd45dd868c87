"""The parser: from text to the syntax tree, quickly, with every place right."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from fractions import Fraction
from importlib import resources

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from syntax_texts import EVERYTHING

from workbench.models.agents.hierarchy import Access
from workbench.models.automaton import EventKind, Kind, PropertyKind
from workbench.models.expressions.expression import Expression, constant, variable
from workbench.models.expressions.operators import Op
from workbench.models.expressions.printing import to_text
from workbench.models.expressions.table import Interpolation
from workbench.models.expressions.text import parse_expression
from workbench.models.expressions.traversal import postorder
from workbench.models.language import syntax
from workbench.models.language.grammar import digest, grammar, make_table
from workbench.models.language.parse import parse_source


def parse(text: str) -> syntax.SourceFile:
    return parse_source(text, "m.charon")


def only_item(text: str) -> object:
    (definition,) = parse(text).definitions
    assert isinstance(definition, syntax.ModeDefinition | syntax.AgentDefinition)
    return definition.items[0]


def expression(text: str) -> Expression:
    item = only_item("mode M() { inv { " + text + " } }")
    assert isinstance(item, syntax.InvariantBlock)
    return item.conditions[0]


def test_the_stored_table_belongs_to_the_grammar() -> None:
    folder = resources.files("workbench.models.language")
    text = folder.joinpath("grammar.lark").read_text()
    stored = json.loads(folder.joinpath("grammar.json").read_text())
    assert stored["digest"] == digest(text), "run `python -m workbench.models.language.grammar`"
    made = make_table(text)
    assert sorted(map(str, stored["rules"])) == sorted(map(str, made["rules"]))
    assert len(stored["actions"]) == len(made["actions"])


def test_the_grammar_has_no_conflicts(caplog: pytest.LogCaptureFixture) -> None:
    from lark import Lark, logger

    text = resources.files("workbench.models.language").joinpath("grammar.lark").read_text()
    with caplog.at_level(logging.DEBUG):
        logger.addHandler(caplog.handler)
        try:
            Lark(text, parser="lalr", debug=True)
        finally:
            logger.removeHandler(caplog.handler)
    assert "onflict" not in caplog.text


def test_every_construct_has_its_node() -> None:
    source = parse(EVERYTHING)
    kinds = {type(d).__name__ for d in source.definitions}
    for definition in source.definitions:
        if isinstance(definition, syntax.ModeDefinition | syntax.AgentDefinition):
            kinds |= {type(item).__name__ for item in definition.items}
    assert kinds == {
        "ImportDeclaration", "ExternDeclaration", "ConstantDeclaration", "TableDeclaration",
        "SystemDeclaration", "ModeDefinition", "AgentDefinition", "Points", "VariableDeclaration",
        "InstanceDeclaration", "Flows", "Algebra", "InvariantBlock", "TransitionBlock", "ClaimBlock", "InitBlock",
        "Hide", "Assume", "Predicates", "InteractionBlock",
    }  # fmt: skip
    assert [(c.line, c.end_line) for c in source.comments] == [(1, 2), (12, 12), (23, 23)]


def test_declarations() -> None:
    item = only_item("mode M() { write analog real x = 1, y in [0, 2]; }")
    assert isinstance(item, syntax.VariableDeclaration)
    assert (item.access, item.kind, item.type.name) == (Access.WRITE, Kind.ANALOG, "real")
    x, y = item.names
    assert x.initial == constant(1)
    assert isinstance(y.initial, syntax.WrittenInterval)
    assert y.initial.high == constant(2)
    item = only_item("agent A() { local enum { on, off } s; }")
    assert isinstance(item, syntax.VariableDeclaration)
    assert (item.access, item.kind, item.type.values) == (Access.PRIVATE, None, ("on", "off"))


def test_a_transition_and_its_actions() -> None:
    item = only_item(
        "mode M() { urgent bilateral trans #go from a, b.out, c.default to init "
        "when x > 1 do { let h = x; x := h/2; y in [0, h] } }"
    )
    assert isinstance(item, syntax.TransitionBlock)
    assert (item.label, item.urgent, item.event) == ("go", True, EventKind.BILATERAL)
    assert [(p.first, p.second) for p in item.sources] == [
        ("a", None), ("b", "out"), ("c", "default")
    ]  # fmt: skip
    assert (item.target.first, item.target.second) == ("init", None)
    let, setting, ranged = item.actions
    assert isinstance(let, syntax.LetStatement)
    assert isinstance(setting, syntax.SettingStatement)
    assert isinstance(ranged, syntax.SettingStatement)
    assert setting.value == variable("h") / 2
    assert isinstance(ranged.value, syntax.WrittenInterval)


def test_tables_in_one_and_two_dimensions() -> None:
    one, two = parse(
        "table f(real x) linear { 0: 1, 2: 5 } "
        "table g(real x, real y) previous { : 0, 10; 1: 3, 4; 2: 5, 6; }"
    ).definitions
    assert isinstance(one, syntax.TableDeclaration)
    assert isinstance(two, syntax.TableDeclaration)
    c = constant
    assert (one.axis, one.rows) == ((), ((c(0), (c(1),)), (c(2), (c(5),))))
    assert two.axis == (c(0), c(10))
    assert two.rows == ((c(1), (c(3), c(4))), (c(2), (c(5), c(6))))
    assert two.interpolation is Interpolation.PREVIOUS


def test_replicated_agents_and_interactions() -> None:
    text = (
        "agent R() { agent car[i in 1..n] = Car(i) [ v, f := v[i], v[i-1] ]; "
        "interaction bump between a, b in car when a.x > b.x do { a.v = 0; } }"
    )
    (definition,) = parse(text).definitions
    assert isinstance(definition, syntax.AgentDefinition)
    (car,) = definition.agents
    assert car.replicated is not None
    assert car.replicated.index == "i"
    assert [own.name for own, _ in car.renaming] == ["v", "f"]
    place = car.renaming[1][1]
    assert (place.op, place.value, place.args) == (
        Op.SELECT, (("v", True),), (variable("i") - 1,)
    )  # fmt: skip
    bump = definition.items[-1]
    assert isinstance(bump, syntax.InteractionBlock)
    assert (bump.first_group.name, bump.second_group.name) == ("car", "car")


def test_claims_and_systems() -> None:
    item = only_item('agent A() { forbid "wet" { level > 3 } }')
    assert isinstance(item, syntax.ClaimBlock)
    assert (item.kind, item.name) == (PropertyKind.FORBIDDEN, "wet")
    (system,) = parse("system Highway(-5, 3) until 20;").definitions
    assert isinstance(system, syntax.SystemDeclaration)
    assert system.arguments == (constant(-5), constant(3))
    assert system.horizon == constant(20)


@pytest.mark.parametrize(
    "word", "d in from to init default do until time when trans agent linear entry sum_".split()
)
def test_keywords_are_names_where_no_keyword_can_stand(word: str) -> None:
    source = parse(
        f"mode M(real {word}) {{ private real {word}2; mode {word} = N({word}); "
        f"diff {{ d({word}) == {word} + 1; }} inv {{ {word}[1] > {word}.x }} }}"
    )
    definition = source.definitions[0]
    assert isinstance(definition, syntax.ModeDefinition)
    assert definition.parameters[0].name.name == word


def test_numbers_are_exact_and_operators_bind_as_usual() -> None:
    x, y = variable("x"), variable("y")
    assert expression("0.1") == constant(Fraction(1, 10))
    assert expression("1.5e-3") == constant(Fraction(3, 2000))
    assert expression("x - y - 1") == x - y - 1
    assert expression("-x^2") == -(x**2)
    assert expression("x/y/2") == x / y / 2
    assert expression("2*x + y*x > 1 && !(x < y) || y == 1") == (
        ((2 * x + y * x) > 1) & ~(x < y)
    ) | Expression(Op.EQUAL, (y, constant(1)))
    assert expression("forall i in 1..3 : x[i] > 0 && y > 0").op is Op.FORALL
    assert expression("y > 0 && forall i in 1..3 : x[i] > 0").op is Op.AND


def test_spans_cover_exactly_what_was_written() -> None:
    text = "mode M() {\n  diff { d(x) == (a + b)*c - sin(d)^2; }\n}\n"
    (mode,) = parse(text).definitions
    assert isinstance(mode, syntax.ModeDefinition)
    (flows,) = mode.items
    assert isinstance(flows, syntax.Flows)
    lines = text.split("\n")

    def written(span: object) -> str:
        assert hasattr(span, "line")
        assert span.line == span.end_line  # type: ignore[attr-defined]
        return lines[span.line - 1][span.column - 1 : span.end_column - 1]  # type: ignore

    (relation,) = flows.relations
    assert written(flows.span) == "diff { d(x) == (a + b)*c - sin(d)^2; }"
    assert written(relation.span) == "d(x) == (a + b)*c - sin(d)^2"
    assert isinstance(relation.value, Expression)
    places = {to_text(e): written(e.span) for e in postorder(relation.value) if e.span}
    assert places["a + b"] == "(a + b)"
    assert places["sin(d)"] == "sin(d)"
    assert places["(a + b)*c - sin(d)^2"] == "(a + b)*c - sin(d)^2"


def test_every_expression_has_a_place() -> None:
    for definition in parse(EVERYTHING).definitions:
        if not isinstance(definition, syntax.ModeDefinition | syntax.AgentDefinition):
            continue
        for item in definition.items:
            for e in [getattr(item, "condition", None), *getattr(item, "conditions", ())]:
                if e is not None:
                    assert e.span is not None


@st.composite
def flat_texts(draw: st.DrawFn, depth: int = 4) -> str:
    """Texts of numeric expressions that both parsers can read."""
    if depth == 0 or draw(st.integers(0, 3)) == 0:
        return draw(st.sampled_from(["x", "y", "velFront", "0", "1", "2.5", ".5", "1e-3", "7"]))
    a, b = draw(flat_texts(depth - 1)), draw(flat_texts(depth - 1))
    return draw(
        st.sampled_from(
            [
                f"{a} + {b}",
                f"{a} - {b}",
                f"{a}*{b}",
                f"{a}/{b}",
                f"({a})",
                f"-{a}",
                f"({a})^2",
                f"{a}^{b}",
                f"sin({a})",
                f"min({a}, {b})",
                f"f({a}, {b})",
                f"abs({a} - {b})",
                f"({a} <= {b} && !({b} > 1) ? {a} : {b})",
            ]
        )
    )


@settings(max_examples=150)
@given(flat_texts())
def test_both_parsers_of_expressions_agree(text: str) -> None:
    assert expression(text) == parse_expression(text, externals=frozenset({"f"}))


def test_a_long_sum_is_flat() -> None:
    n = 20_000
    e = expression(" + ".join(f"x{i}" for i in range(n)))
    assert len(e.args) == n
    assert e.depth == 2


def test_ten_thousand_lines_are_parsed() -> None:
    part = EVERYTHING.split("\n", 11)[-1]
    count = 10_000 // part.count("\n") + 1
    source = parse(part * count)
    assert len(source.definitions) == 4 * count


def test_reading_a_small_model_needs_no_lark() -> None:
    code = (
        "import sys; from workbench.models.language.parse import parse_source;"
        "parse_source('mode M() { }', 'm'); sys.exit('lark' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
    assert grammar() is grammar()
