"""Types: which expressions fit where, and what is said of those that do not."""

from __future__ import annotations

import pytest
from charon_texts import atomic, codes, diagnostics

from workbench.models.automaton import BOOL, INT, REAL, ValueType, enumeration
from workbench.models.language.findings import DiagnosticLog
from workbench.models.language.parse import parse_source
from workbench.models.language.resolve import Resolver
from workbench.models.language.scope import Binding, NameRole, Scope
from workbench.models.language.syntax import ConstantDeclaration
from workbench.models.language.typecheck import fits, symbol_type

TRAFFIC = enumeration("red", "green")
NAMES = {"r": REAL, "i": INT, "j": INT, "b": BOOL, "light": TRAFFIC, "other": enumeration("up")}


def type_of(text: str) -> tuple[ValueType | None, list[str]]:
    """The type of an expression over `NAMES`, and the codes of what was reported."""
    from workbench.models.expressions.expression import variable

    (declaration,) = parse_source(f"const real q = {text};", "t").definitions
    assert isinstance(declaration, ConstantDeclaration)
    findings = DiagnosticLog()
    scope = Scope(symbols={"red", "green", "up"})
    for name, kind in NAMES.items():
        scope.names[name] = Binding(variable(name), kind, NameRole.VARIABLE)
    _, kind_found = Resolver(findings).resolve(declaration.value, scope)  # type: ignore[arg-type]
    return kind_found, [d.code for d in findings._sorted()]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1", INT),
        ("0.5", REAL),
        ("i + j*2", INT),
        ("i + r", REAL),
        ("i / 2", REAL),
        ("i / j", REAL),
        ("i^2", INT),
        ("i^j", REAL),
        ("2^-1", REAL),
        ("-i", INT),
        ("min(i, j)", INT),
        ("max(i, r)", REAL),
        ("abs(i)", INT),
        ("floor(r)", INT),
        ("sign(r)", INT),
        ("sqrt(i)", REAL),
        ("sin(r)", REAL),
        ("r < i", BOOL),
        ("b && !b || r > 1", BOOL),
        ("b == true", BOOL),
        ("light == red", BOOL),
        ("red != light", BOOL),
        ("b ? i : r", REAL),
        ("b ? i : j", INT),
        ("b ? light : red", TRAFFIC),
        ("(sum k in 1..3 : k*i)", INT),
        ("(forall k in 1..3 : r > k)", BOOL),
        ("time", REAL),
    ],
)
def test_types_of_sound_expressions(text: str, expected: ValueType) -> None:
    assert type_of(text) == (expected, [])


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("b + 1", "type-mismatch"),
        ("r && b", "type-mismatch"),
        ("!i", "type-mismatch"),
        ("b < 1", "type-mismatch"),
        ("light < 1", "type-mismatch"),
        ("light == up", "type-mismatch"),
        ("light == b", "type-mismatch"),
        ("light == other", "type-mismatch"),
        ("b ? 1 : true", "type-mismatch"),
        ("r ? 1 : 2", "type-mismatch"),
        ("sin(b)", "type-mismatch"),
        ("min(b, 1)", "type-mismatch"),
        ("(sum k in 1..2 : b)", "type-mismatch"),
        ("(forall k in 1..2 : r)", "type-mismatch"),
        ("r / 0", "undefined-value"),
        ("r / (1 - 1)", "undefined-value"),
        ("0^-1", "undefined-value"),
        ("sqrt(-2)", "undefined-value"),
        ("log(0)", "undefined-value"),
        ("10^100000", "constant-too-large"),
        ("r(2)", "unknown-function"),
        ("sin", "function-without-arguments"),
        ("r[1]", "not-an-array"),
        ("(sum k in 1..r : k)", "not-constant"),
        ("(sum k in 1..1/2 : k)", "type-mismatch"),
        ("(forall k in 1..999999999 : r > k)", "too-large"),
    ],
)
def test_unsound_expressions_are_reported_once(text: str, code: str) -> None:
    _, found = type_of(text)
    assert found == [code]


def test_integers_widen_and_nothing_else_does() -> None:
    kinds = [REAL, INT, BOOL, TRAFFIC]
    allowed = {(a, b) for a in kinds for b in kinds if fits(a, b)}
    assert allowed == {(k, k) for k in kinds} | {(INT, REAL)}
    assert fits(symbol_type("red"), TRAFFIC)
    assert not fits(symbol_type("up"), TRAFFIC)


ASSIGNING = """
mode Leaf() {{ }}
mode Top(real k) {{
  write discrete int n; write discrete real r; write discrete bool b;
  write discrete enum {{ red, green }} light; read discrete real u;
  mode a = Leaf();
  trans from init to a
  trans from a to a do {{ {action} }}
}}
agent Main() {{
  write discrete int n = 0; write discrete real r = 0; write discrete bool b = true;
  write discrete enum {{ red, green }} light = red; read discrete real u;
  mode top = Top(2);
}}
"""


@pytest.mark.parametrize(
    ("action", "expected"),
    [
        ("n = n + 1; r = n; b = r > 1; light = green; n in [0, 3]; r in [n, n + 1];", []),
        ("n = r;", ["type-mismatch"]),
        ("n = floor(r);", []),
        ("n in [0.5, 2];", ["type-mismatch"]),
        ("r = b;", ["type-mismatch"]),
        ("b = 1;", ["type-mismatch"]),
        ("light = blue;", ["unknown-name"]),
        ("light in [red, green];", ["type-mismatch"]),
        ("u = 1;", ["read-only"]),
        ("k = 1;", ["not-assignable"]),
        ("time = 0;", ["not-assignable"]),
        ("q = 1;", ["unknown-name"]),
        ("let r = 2; r = 3;", ["not-assignable"]),
        ("r in [2, 1];", ["empty-interval"]),
        ("r = q; n = w;", ["unknown-name", "unknown-name"]),
    ],
)
def test_assignments(action: str, expected: list[str]) -> None:
    assert codes(ASSIGNING.format(action=action)) == expected


def test_assigning_a_real_to_an_int_says_how_to_round() -> None:
    (found,) = diagnostics(ASSIGNING.format(action="n = r/2;"))
    assert found.hint is not None
    assert "floor" in found.hint


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        ("private discrete real n = 0; diff { d(n) == 1; }", ["discrete-flow"]),
        ("private int n = 0; diff { d(n) == 1; }", ["discrete-flow"]),
        ("private discrete real n = 0; alge { n == x; }", ["discrete-flow"]),
        ("read analog real u; diff { d(u) == 1; }", ["undeclared-variable", "read-only"]),
        ("diff { d(k) == 1; }", ["not-assignable"]),
        ("diff { d(time) == 2; }", ["not-assignable"]),
        ("inv { x }", ["type-mismatch"]),
        ("inv { x <= true }", ["type-mismatch"]),
        ("private analog real time; diff { d(time) == 1; }", ["reserved-name", "not-assignable"]),
        ("private real x;", ["duplicate-name"]),
        ("private enum { a, a } e;", ["duplicate-name"]),
    ],
)
def test_declarations_and_constraints(items: str, expected: list[str]) -> None:
    found = codes(atomic("", mode_items=items, definitions="const real k = 1;"))
    assert sorted(found) == sorted(expected)


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("Top(1, 2)", []),
        ("Top(1)", []),
        ("Top()", ["argument-count"]),
        ("Top(1, 2, 3)", ["argument-count"]),
        ("Top(true, 2)", ["type-mismatch"]),
        ("Top(1, 2.5)", ["type-mismatch"]),
        ("Top(x, 2)", ["not-constant"]),
        ("Topp(1, 2)", ["unknown-mode"]),
        ("Main(1, 2)", ["unknown-mode"]),
    ],
)
def test_arguments_match_in_number_and_type(call: str, expected: list[str]) -> None:
    text = f"""
    mode Top(real k, int n = 3) {{ write analog real x; diff {{ d(x) == k*n; }} }}
    agent Main() {{ write analog real x = 0; mode top = {call}; }}
    """
    assert codes(text) == expected
