"""Control points: which ones a transition may start from and lead to, and what is said else."""

from __future__ import annotations

import pytest
from charon_texts import agent_of, codes, diagnostics

TEXT = """
mode Leaf() {{ }}
mode Box() {{
  entry in1, in2; exit out1, out2;
  mode a = Leaf(); mode b = Leaf();
  trans from in1 to a
  trans from in2 to b
  trans from a to out1
  trans from b to out2
}}
mode Top() {{
  mode box = Box(); mode rest = Leaf();
  trans from init to box.in1
  trans from box.out1 to rest
  trans from box.out2 to box.in2
  {extra}
}}
agent Main() {{ mode top = Top(); }}
"""


@pytest.mark.parametrize(
    ("extra", "source", "target"),
    [
        ("trans from box to rest", "box.dx", "rest.de"),
        ("trans from box.default to rest", "box.dx", "rest.de"),
        ("trans from rest to box.default", "rest.dx", "box.de"),
        ("trans from rest to box", "rest.dx", "box.de"),
        ("trans from rest to box.in2", "rest.dx", "box.in2"),
        ("trans from box.out1 to box.in1", "box.out1", "box.in1"),
        ("trans from default to rest", "init", "rest.de"),
    ],
)
def test_points_that_exist(extra: str, source: str, target: str) -> None:
    top = agent_of(TEXT.format(extra=extra)).top
    assert top is not None
    last = top.transitions[-1]
    assert (str(last.source), str(last.target)) == (source, target)


@pytest.mark.parametrize(
    ("extra", "code", "hint"),
    [
        ("trans from box.in1 to rest", "wrong-point", "`out1` and `out2`"),
        ("trans from rest to box.out1", "wrong-point", "`in1` and `in2`"),
        ("trans from rest to box.in3", "unknown-point", "`in2`"),
        ("trans from box.uot1 to rest", "unknown-point", "`out1`"),
        ("trans from rest to bxo", "unknown-point", "`box`"),
        ("trans from rest to init", "wrong-point", "`box` and `rest`"),
        ("trans from rest to default", "wrong-point", "`box` and `rest`"),
        ("trans from rest.out1 to box", "unknown-point", "exit out1;"),
        ("trans from a to rest", "unknown-point", "`box` and `rest`"),
    ],
)
def test_points_that_do_not(extra: str, code: str, hint: str) -> None:
    (found,) = diagnostics(TEXT.format(extra=extra))
    assert found.code == code
    assert found.hint is not None
    assert hint in found.hint


@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ("trans from a to out1", "trans from out1 to a", "wrong-point"),
        ("trans from a to out1", "trans from a to in1", "wrong-point"),
        ("entry in1, in2;", "entry in1, in1;", "duplicate-name"),
        ("exit out1, out2;", "exit out1, in2;", "duplicate-name"),
        ("mode a = Leaf();", "mode in1 = Leaf();", "duplicate-name"),
        ("mode a = Leaf();", "mode b = Leaf();", "duplicate-name"),
    ],
)
def test_mistakes_at_a_modes_own_points(old: str, new: str, code: str) -> None:
    text = TEXT.format(extra="")
    assert codes(text) == []
    assert old in text
    assert code in codes(text.replace(old, new))


def test_an_atomic_mode_may_act_at_its_default_entry() -> None:
    """A jump inside an atomic mode, and one that leaves it."""
    text = """
    mode Bounce() { write analog real x, v; exit low;
      diff { d(x) == v; d(v) == -10; } inv { x >= 0 }
      trans from default to default when x <= 0 && v < 0 do { v = -v/2; }
      trans from default to low when v <= 0.1 }
    mode Rest() { write analog real x, v; diff { d(x) == 0; d(v) == 0; } }
    mode Top() { write analog real x, v; mode fly = Bounce(); mode lie = Rest();
      trans from init to fly trans from fly.low to lie }
    agent Ball() { write analog real x = 1, v = 0; mode top = Top(); }
    """
    top = agent_of(text).top
    assert top is not None
    fly = top.submode("fly").mode
    assert [(str(t.source), str(t.target)) for t in fly.transitions] == [
        ("de", "dx"),
        ("de", "low"),
    ]
    assert codes(text) == []
