"""Slips of the pen: each gives the message that helps, where it helps, and no others."""

from __future__ import annotations

import pytest
from syntax_texts import EVERYTHING

from workbench.models.language.parse import MAX_ERRORS, parse_leniently, parse_source
from workbench.models.language.syntax import AgentDefinition, ModeDefinition
from workbench.models.source import ModelError

CASES: dict[str, tuple[str, list[tuple[str, str, str | None]]]] = {
    "= in diff": (
        "mode M() {\n  write real x;\n  diff { d(x) = 1; }\n}",
        [
            ("3:15", "an equation in `diff` is written with `==`", "write `==` instead of `=`"),
        ],
    ),
    "= in alge": (
        "mode M() {\n  write real x;\n  alge { x = 1; }\n}",
        [
            ("3:12", "an equation in `alge` is written with `==`", "write `==` instead of `=`"),
        ],
    ),
    "no ; after a declaration": (
        "mode M() {\n  write real x\n  diff { d(x) == 1; }\n}",
        [
            ("2:15", "`;` is missing after `x`", "statements and declarations end with `;`"),
        ],
    ),
    "no ; in diff": (
        "mode M() {\n  diff { d(x) == 1\n d(y) == 2; }\n}",
        [
            ("2:19", "`;` is missing after `1`", "statements and declarations end with `;`"),
        ],
    ),
    "guard without when": (
        "mode M() {\n  trans from a to b x > 1 do { x = 0; }\n trans from b to a when y = 2 do {}\n}",
        [
            ("2:21", "a guard begins with `when`", "write `when` before the condition"),
            ("3:27", "two values are compared with `==`", "write `==` instead of `=`"),
        ],
    ),
    "foreign access word": (
        "mode M() {\n  var real x;\n  inv { x > 0 }\n}",
        [
            (
                "2:3",
                "unexpected `var`; expected `}` or an item of the mode (`write`, `diff`, `inv`, `trans`, ...)",
                "did you mean `private`?",
            ),
        ],
    ),
    "misspelt access word": (
        "mode M() {\n  wirte real x;\n  inv { x > 0 }\n}",
        [
            (
                "2:3",
                "unexpected `wirte`; expected `}` or an item of the mode (`write`, `diff`, `inv`, `trans`, ...)",
                "did you mean `write`?",
            ),
        ],
    ),
    "no access word": (
        "mode M() {\n  real x;\n  inv { x > 0 }\n}",
        [
            (
                "2:3",
                "how is this real used? `read`, `write` or `private` is missing before it",
                "write for example `private real x;`",
            ),
        ],
    ),
    "comma instead of :=": (
        "agent A() {\n  agent f = Front(1) [ vel, velFirst ];\n}",
        [
            (
                "2:38",
                "the names after `:=` are missing",
                "write `[ own1, own2 := outer1, outer2 ]`",
            ),
        ],
    ),
    "= instead of :=": (
        "agent A() {\n  agent f = Front(1) [ vel = velFirst ];\n}",
        [
            ("2:28", "names are renamed with `:=`", "write `[ own := outer ]`"),
        ],
    ),
    "== in init": (
        "agent A() {\n  init { x == 1; }\n  mode top = M();\n}",
        [
            ("2:12", "a value is set with `=`, not with `==`", "write `=` instead of `==`"),
        ],
    ),
    "== in do": (
        "mode A() {\n  trans from a to b do { x == 1; }\n}",
        [
            ("2:28", "a value is set with `=`, not with `==`", "write `=` instead of `==`"),
        ],
    ),
    "single &": (
        "mode M() {\n  inv { x > 1 & y < 2 }\n}",
        [
            ("2:15", "`&` has no meaning in a model", "write `&&`"),
        ],
    ),
    "words for operators": (
        "mode M() {\n  inv { x > 1 and y < 2 or not z }\n}",
        [
            ("2:15", "`and` is written `&&`", "write `a && b`"),
            ("2:25", "`or` is written `||`", "write `a || b`"),
            ("2:28", "`not` is written `!`", "write `!(a > b)`"),
        ],
    ),
    "brace missing before a definition": (
        "mode M() {\n  diff { d(x) == 1; }\n\nmode N() {\n  inv { x > 0 }\n}\n",
        [
            (
                "4:1",
                "`mode N` begins before the block opened at line 1, column 10 is closed",
                "add the missing `}` of `mode M` before it; definitions stand side by side, not inside one another",
            ),
        ],
    ),
    "brace missing before an item": (
        "mode M() {\n  diff { d(x) == 1;\n  inv { x > 0 }\n}\nmode N() { }\n",
        [
            (
                "3:3",
                "`inv` begins before the block opened at line 2, column 8 is closed",
                "add the missing `}` of `diff` before it",
            ),
        ],
    ),
    "brace of init missing": (
        "agent M() {\n  init { x = 1;\n  mode top = T();\n}\nmode T() { }\n",
        [
            (
                "3:3",
                "`mode` begins before the block opened at line 2, column 8 is closed",
                "add the missing `}` of `init` before it",
            ),
        ],
    ),
    "brace missing at the end": (
        "mode M() {\n  diff { d(x) == 1; }\n",
        [
            (
                "1:10",
                "the `{` of `mode M` is never closed",
                "the file ends where a `}` is still missing",
            ),
        ],
    ),
    "brace too many": (
        "mode M() {\n  inv { x > 1 }}\n}\nmode N() { inv { y > } }",
        [
            (
                "3:1",
                "this `}` closes no `{`",
                "remove it, or look for a bracket that was closed too early above",
            ),
            ("4:22", "unexpected `}`; expected a number, a name or `(`", None),
        ],
    ),
    "misspelt keywords": (
        "mode M() {\n  dif { d(x) == 1; }\n invariant { x > 0 }\n}\nagnet A() { }",
        [
            (
                "2:3",
                "unexpected `dif`; expected `}` or an item of the mode (`write`, `diff`, `inv`, `trans`, ...)",
                "did you mean `diff`?",
            ),
            (
                "3:2",
                "unexpected `invariant`; expected `}` or an item of the mode (`write`, `diff`, `inv`, `trans`, ...)",
                "did you mean `inv`?",
            ),
            (
                "5:1",
                "unexpected `agnet`; expected a definition (`agent`, `mode`, `const`, `system`, ...) or the end of the file",
                "did you mean `agent`?",
            ),
        ],
    ),
    "primes": (
        "mode M() {\n  diff { x' = 1; y' == 2; }\n}",
        [
            (
                "2:10",
                "a line of `diff` begins with a derivative, not with `x`",
                "write `d(x) == ...;`",
            ),
            (
                "2:18",
                "a line of `diff` begins with a derivative, not with `y`",
                "write `d(y) == ...;`",
            ),
        ],
    ),
    "loops": (
        "mode M() {\n  diff { for i in 1..3 { d(x[i]) == 1; } }\n}",
        [
            (
                "2:10",
                "a line of `diff` begins with a derivative, not with `for`",
                "give each index an agent of its own: `agent part[i in 1..n] = Part() [...];`",
            ),
        ],
    ),
    "open comment": (
        "mode M() {\n  diff { d(x) == 1; } /* never\n}",
        [
            ("2:23", "this comment is never closed", "add `*/`"),
        ],
    ),
    "open text": (
        'mode M() {\n  assert "no collision { x > 0 }\n}',
        [
            ("2:10", "this text in quotes is not closed on its line", 'add a closing `"`'),
        ],
    ),
    "chained comparison": (
        "mode M() { inv { 0 <= x <= 1 } }",
        [
            (
                "1:25",
                "a comparison has two sides",
                "write `a <= b && b <= c` instead of `a <= b <= c`",
            ),
        ],
    ),
    "implicit product": (
        "mode M() { inv { 2x > 1; 2(x+1) > 3 } }",
        [
            ("1:19", "an operator is missing between `2` and `x`", "write `2*x`"),
            ("1:27", "an operator is missing between `2` and `(`", "write `2*(...)`"),
        ],
    ),
    "** for a power": (
        "mode M() { inv { x**2 > 1 } }",
        [
            ("1:19", "`**` is no operator", "write `^`"),
        ],
    ),
    "no parentheses": (
        "agent A {\n  mode top = M;\n}\nmode M() { inv { x > } }",
        [
            (
                "1:7",
                "`A` needs a list of parameters in parentheses, even if it is empty",
                "write `A()`",
            ),
            (
                "2:14",
                "`M` needs a list of parameters in parentheses, even if it is empty",
                "write `M()`",
            ),
            ("4:22", "unexpected `}`; expected a number, a name or `(`", None),
        ],
    ),
    "open parenthesis": (
        "mode M() { diff { d(x) == (a + b; d(y) == 2; } }",
        [
            ("1:33", "`)` is missing before `;`", "the `(` at line 1, column 27 is not closed"),
        ],
    ),
    "sum inside a product": (
        "mode M() { diff { d(x) == 2 * sum i in 1..n : a[i]; } }",
        [
            (
                "1:31",
                "a `sum` inside an operation needs parentheses",
                "write `(sum i in 1..n : ...)`",
            ),
        ],
    ),
    "strange characters": (
        "mode M() { inv { x ≤ 1 } inv { é > 2 } inv { x @ 2 } }",
        [
            ("1:20", "`≤` has no meaning in a model", "write `<=`"),
            (
                "1:32",
                "the letter 'é' cannot be part of a name",
                "names consist of the letters a to z and A to Z, digits and `_`",
            ),
            ("1:48", "the character `@` has no meaning in a model", None),
        ],
    ),
    "no from": (
        "mode M() { trans a to b when true do { } }",
        [
            ("1:18", "`from` is missing before `a`", None),
        ],
    ),
    "slips in constants": (
        "const k = 3;\nconst real j := 4;\nconst real i 5;",
        [
            (
                "1:7",
                "the type of `k` is missing",
                "write `real k`, or `int`, `bool` or `enum { a, b }` instead of `real`",
            ),
            ("2:14", "a value is set with `=`, not with `:=`", "write `=` instead of `:=`"),
            ("3:14", "unexpected number 5; expected `=` or `in`", None),
        ],
    ),
    "wrong number of arguments": (
        "mode M() { inv { sin(x, y) > 0; min() > 1 } }",
        [
            ("1:18", "`sin` takes one argument, not 2", None),
            ("1:33", "`min` takes at least one argument, not 0", None),
        ],
    ),
    "if in an expression": (
        "mode M() { diff { d(x) == if x > 0 then 1 else 2; } }",
        [
            ("1:27", "there is no `if` in expressions", "write `condition ? a : b`"),
        ],
    ),
    "signs of other languages": (
        "mode M() { diff { d(x) == +1; } trans from a to b do { x += 1; } }",
        [
            ("1:27", "there is no sign `+`", "leave it out"),
            ("1:58", "`+=` is no operator", "write for example `x = x + 1`"),
        ],
    ),
    "no ; at the end": (
        "system A",
        [
            ("1:9", "`;` is missing after `A`", "statements and declarations end with `;`"),
        ],
    ),
    "no type": (
        "mode M(k) { } mode N(double k) { private analog x; }",
        [
            (
                "1:8",
                "the type of `k` is missing",
                "write `real k`, or `int`, `bool` or `enum { a, b }` instead of `real`",
            ),
            (
                "1:22",
                "unexpected `double`; expected `)` or a type (`real`, `int`, `bool` or `enum`)",
                "did you mean `real`?",
            ),
            (
                "1:49",
                "the type of `x` is missing",
                "write `real x`, or `int`, `bool` or `enum { a, b }` instead of `real`",
            ),
        ],
    ),
    "wrong brackets of an interval": (
        "agent A() { init { x in (0, 1); y in [0; 1]; } mode top = M(); }",
        [
            ("1:25", "an interval stands in square brackets", "write `in [low, high]`"),
            ("1:40", "the bounds of an interval are separated by `,`", "write `[low, high]`"),
        ],
    ),
    "misspelt until": (
        "system A() untill 3;",
        [
            ("1:12", "unexpected `untill`; expected `;` or `until`", "did you mean `until`?"),
        ],
    ),
    "nested definitions": (
        "agent A() {\n  agent B() {\n    private real x;\n  }\n}",
        [
            (
                "2:3",
                "`agent B` begins before the block opened at line 1, column 11 is closed",
                "add the missing `}` of `agent A` before it; definitions stand side by side, not inside one another",
            ),
        ],
    ),
    "init in a mode": (
        "mode M() {\n  init { x = 1; }\n}",
        [
            (
                "2:3",
                "`init` cannot stand in `mode M`; it belongs in an agent",
                "in a mode, give the first value in the declaration: `private real x = 1;`",
            ),
        ],
    ),
    "diff in an agent": (
        "agent A() {\n  diff { d(x) = 1; }\n inv { x > 0 }\n}",
        [
            (
                "2:3",
                "`diff` cannot stand in `agent A`; it belongs in a mode",
                "write it in a `mode Name() { ... }` and use that by `mode top = Name();`",
            ),
        ],
    ),
    "capital letters": (
        "Mode M() { Write real x; }",
        [
            (
                "1:1",
                "unexpected `Mode`; expected a definition (`agent`, `mode`, `const`, `system`, ...) or the end of the file",
                "did you mean `mode`?",
            ),
            (
                "1:12",
                "unexpected `Write`; expected `}` or an item of the mode (`write`, `diff`, `inv`, `trans`, ...)",
                "did you mean `write`?",
            ),
        ],
    ),
    "no } before an agent": (
        "mode M() {\n  diff { d(x) == 1; }\n\nagent A() {\n  mode top = M();\n}",
        [
            (
                "4:1",
                "`agent A` begins before the block opened at line 1, column 10 is closed",
                "add the missing `}` of `mode M` before it; "
                "definitions stand side by side, not inside one another",
            ),
        ],
    ),
    ", between conditions": (
        "mode M() {\n  inv { x > 0, y > 0 }\n  diff { d(x) == 1, d(y) = 1; }\n}",
        [
            (
                "2:14",
                "the parts of `inv` are separated by `;`, not by `,`",
                "write `;` instead of `,`",
            ),
            (
                "3:19",
                "the parts of `diff` are separated by `;`, not by `,`",
                "write `;` instead of `,`",
            ),
            ("3:26", "an equation in `diff` is written with `==`", "write `==` instead of `=`"),
        ],
    ),
    "property without quotes": (
        "agent A() {\n  assert no collision { x > 0 }\n}",
        [
            (
                "2:10",
                "the name of a property stands in quotes",
                'write `assert "no ..." { ... }`',
            ),
        ],
    ),
}


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_messages(case: str) -> None:
    text, wanted = CASES[case]
    with pytest.raises(ModelError) as caught:
        parse_source(text, "m")
    found = [(str(d.span).removeprefix("m:"), d.message, d.hint) for d in caught.value.diagnostics]
    assert found == wanted


def test_the_source_line_is_shown_with_a_caret() -> None:
    with pytest.raises(ModelError) as caught:
        parse_source("mode M() {\n  diff { d(x) = 1; }\n}", "tank.charon")
    assert caught.value.render() == (
        "tank.charon:2:15: error: an equation in `diff` is written with `==` [single-equals]\n"
        "  2 |   diff { d(x) = 1; }\n"
        "    |               ^\n"
        "  hint: write `==` instead of `=`"
    )


def test_superfluous_semicolons_are_harmless() -> None:
    parse_source("mode M() { ; diff { d(x) == 1; }; inv { x > 0; }; };\nagent A() { ;; };", "m")


def test_errors_are_limited_in_number() -> None:
    text = "\n".join(f"mode M{i}() {{ diff {{ d(x) = 1; }} }}" for i in range(100))
    with pytest.raises(ModelError) as caught:
        parse_source(text, "m")
    assert len(caught.value.diagnostics) == MAX_ERRORS


def test_errors_far_apart_are_all_found_and_the_rest_is_understood() -> None:
    text = EVERYTHING.replace("d(y) in", "d(y) on").replace("private analog", "secret analog")
    text = text.replace("hide vel;", "hide vel")
    parsed = parse_leniently(text, "m")
    assert len(parsed.diagnostics) == 3
    names = [
        d.name.name
        for d in parsed.source.definitions
        if isinstance(d, AgentDefinition | ModeDefinition)
    ]
    assert names == ["Still", "Move", "Car", "Road"]


@pytest.mark.parametrize("cut", range(1, 40))
def test_an_unfinished_text_gives_few_messages_and_an_outline(cut: int) -> None:
    text = EVERYTHING[: len(EVERYTHING) * cut // 40]
    parsed = parse_leniently(text, "m")
    assert len(parsed.diagnostics) <= 2
    complete = text.count("\n}")
    assert len(parsed.source.definitions) >= complete
