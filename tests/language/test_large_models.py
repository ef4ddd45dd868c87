"""Large models are checked in the time that a person waits for."""

from __future__ import annotations

from pathlib import Path

import pytest

from workbench.models.load import load

CONTROLLED = """\
mode Law{k}(real gain) {{
  write analog real u{k};
  read analog real x{k};
  alge {{ u{k} == gain*x{k} + {k}; }}
}}
mode Top{k}(real gain) {{
  write analog real u{k};
  read analog real x{k};
  mode near = Law{k}(gain);
  mode far = Law{k}(2*gain);
  trans from init to near when x{k} <= 1
  trans from init to far when x{k} >= 1
  trans from near to far when x{k} >= 2
  trans from far to near when x{k} <= 1/2
}}
agent Controller{k}(real gain) {{
  write analog real u{k};
  read analog real x{k};
  mode top = Top{k}(gain);
}}
"""
PLANT = """\
mode P(int i) { write analog real x; read analog real u; diff { d(x) == u - x; } inv { x >= -9 } }
agent Plant(int i) {
  write analog real x;
  read analog real u;
  init { x in [0, i]; }
  mode top = P(i);
}
"""
LINES = 10_000


def large_model() -> str:
    count = LINES // 21
    parts = [CONTROLLED.format(k=k) for k in range(count)]
    whole = [
        f"  private analog real x{k}, u{k};\n"
        f"  agent c{k} = Controller{k}({k}/10);\n"
        f"  agent p{k} = Plant({k}) [ x, u := x{k}, u{k} ];\n"
        for k in range(count)
    ]
    return "".join([*parts, PLANT, "agent Whole() {\n", *whole, "}\n"])


@pytest.mark.slow
def test_ten_thousand_lines_are_checked(tmp_path: Path) -> None:
    path = tmp_path / "large.charon"
    text = large_model()
    assert text.count("\n") >= LINES
    path.write_text(text, encoding="utf-8")
    model = load(path)
    assert model.warnings == ()
    assert len(model.automaton.components) == 2 * (LINES // 21)


def test_an_enumeration_of_many_values_is_checked(tmp_path: Path) -> None:
    values = ", ".join(f"e{i}" for i in range(20_000))
    path = tmp_path / "many.charon"
    path.write_text(
        f"mode M() {{ private discrete enum {{ {values} }} x = e0; inv {{ x != e1 }} }}\n"
        "agent A() { mode top = M(); }\n"
    )
    (x,) = load(path).automaton.variables
    assert len(x.type.values) == 20_000
