"""Small models of which the answer is known by reasoning, in pairs that differ by a hair.

Each pair is one thing that the language means: what touches, what is strict, what happens at one
instant, what blocks, what an urgent edge does, what is remembered. In the safe one the claim holds in
every reachable state, often with no room at all; in the other one some run breaks it.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Pair:
    """Two models with one claim each; with a horizon the claim is about the time up to it."""

    safe: str
    unsafe: str
    horizon: str | None = None


def flat(
    claim: str,
    start: str = "x = 0;",
    trans: str = "",
    variables: str = "x",
    declared: str = "",
    **modes: str,
) -> str:
    """An agent with one level of modes, the first of them where runs start."""
    own = f"write analog real {variables}; {declared}"
    bodies = "\n".join(f"mode M_{name}() {{ {own} {body} }}" for name, body in modes.items())
    parts = " ".join(f"mode {name} = M_{name}();" for name in modes)
    private = own.replace("write", "private")
    return f"""{bodies}
mode Top() {{ {own} {parts} trans from init to {next(iter(modes))}; {trans} }}
agent Main() {{ {private} init {{ {start} }} mode top = Top(); assert "claim" {{ {claim} }} }}
"""


def rising(claim: str, inv: str = "x <= 1", edge: str = "", target: str = "true") -> str:
    """x rises from 0; an edge may lead to where it rests."""
    return flat(
        claim,
        trans=edge,
        a=f"diff {{ d(x) == 1; }} inv {{ {inv} }}",
        b=f"diff {{ d(x) == 0; }} inv {{ {target} }}",
    )


def leave(guard: str, do: str = "x = 5;", urgent: str = "") -> str:
    return f"{urgent} trans from a to b when {guard} do {{ {do} }}"


def parabola(claim: str, inv: str) -> str:
    """x touches 0 from below at time 1."""
    flow = f"diff {{ d(x) == v; d(v) == -0.6; }} inv {{ {inv} }}"
    return flat(claim, "x = -0.3; v = 0.6;", variables="x, v", a=flow)


def rotation(claim: str) -> str:
    return flat(claim, "x = 0.6; y = 0.8;", variables="x, y", a="diff { d(x) == y; d(y) == -x; }")


def counting(claim: str, guard: str) -> str:
    return flat(
        claim,
        "x = 0; n = 0;",
        f"trans from a to a when {guard} do {{ n = n + 1; x = 0; }}",
        declared="write discrete int n;",
        a="diff { d(x) == 1; } inv { x <= 1 }",
    )


def fed(claim: str, flow: str, high: str = "1", inv: str = "true") -> str:
    """One variable with an input in [-1, high]."""
    own = "write analog real x; read analog real u;"
    return f"""mode A() {{ {own} diff {{ d(x) == {flow}; }} inv {{ {inv} }} }}
mode Top() {{ {own} mode a = A(); trans from init to a; }}
agent Main() {{ private analog real x = 0; read analog real u; assume {{ u >= -1 && u <= {high} }}
  mode top = Top(); assert "claim" {{ {claim} }} }}
"""


def uncertain(claim: str, limits: str, flow: str) -> str:
    return f"const real k in [{limits}];\n" + flat(claim, "x = 1;", a=f"diff {{ d(x) == {flow}; }}")


def instant(claim: str) -> str:
    """x is 3 for an instant, between two jumps."""
    return flat(
        claim,
        trans="trans from a to b when x >= 1 do { x = 3; } trans from b to c do { x = 0; }",
        a="diff { d(x) == 1; } inv { x <= 1 }",
        b="diff { d(x) == 1; } inv { x == 3 }",
        c="diff { d(x) == 0; }",
    )


def remembered(claim: str, way_out: str) -> str:
    """Left from `fast` after two seconds: by a group transition it is resumed there."""
    own = "write analog real x, c;"
    return f"""mode Slow() {{ {own} diff {{ d(x) == 1; d(c) == 1; }} inv {{ c <= 1 }} }}
mode Fast() {{ {own} diff {{ d(x) == 5; d(c) == 1; }} inv {{ c <= 2 }} }}
mode Inner() {{ {own} exit out; mode slow = Slow(); mode fast = Fast(); trans from default to slow;
  trans from slow to fast when c >= 1; trans from fast to out when c >= 2; }}
mode Pause() {{ {own} diff {{ d(x) == 0; d(c) == 0; }} }}
mode Top() {{ {own} mode inner = Inner(); mode pause = Pause(); trans from init to inner;
  trans from {way_out} to pause when c >= 2 do {{ c = 0; x = 0; }}
  trans from pause to inner.default; }}
agent Main() {{ private analog real x = 0, c = 0; mode top = Top(); assert "claim" {{ {claim} }} }}
"""


def assuming(claim: str) -> str:
    """What an inner agent assumes of another is to be shown, not to be used."""
    return f"""mode P() {{ write analog real p; diff {{ d(p) == 1; }} inv {{ p <= 1 }} }}
mode PT() {{ write analog real p; mode a = P(); trans from init to a; }}
agent Maker() {{ write analog real p; init {{ p = 0; }} mode top = PT(); }}
mode Q() {{ read analog real p; write analog real q; diff {{ d(q) == p; }} }}
mode QT() {{ read analog real p; write analog real q; mode a = Q(); trans from init to a; }}
agent User() {{ read analog real p; write analog real q; init {{ q = 0; }} assume {{ p <= 0.5 }}
  mode top = QT(); }}
agent Main() {{ private analog real p, q; agent a = Maker(); agent b = User();
  assert "claim" {{ {claim} }} }}
"""


PAIRS: dict[str, Pair] = {
    "touched": Pair(rising("x <= 1"), rising("x < 1")),
    "by a hair": Pair(rising("x < 1.000001"), rising("x <= 0.999999")),
    "strict invariant": Pair(rising("x < 1", "x < 1"), rising("x < 0.999", "x < 1")),
    "strict guard": Pair(
        rising("x <= 4", edge=leave("x > 1")), rising("x <= 4", edge=leave("x >= 1"))
    ),
    "strict urgent guard": Pair(
        rising("x <= 5", "true", leave("x > 1", urgent="urgent")),
        rising("x <= 4", "true", leave("x > 1", urgent="urgent")),
    ),
    "guard out of a strict invariant": Pair(
        rising("x <= 4", "x < 1", leave("x >= 1")), rising("x <= 4", "x < 1.01", leave("x >= 1"))
    ),
    "strict target": Pair(
        rising("x <= 4", edge=leave("x >= 1", "x = 5*x;"), target="x > 5"),
        rising("x <= 4", edge=leave("x >= 1", "x = 5*x;"), target="x >= 5"),
    ),
    "urgent edge that is blocked": Pair(
        rising("x <= 1", "true", leave("x >= 1", urgent="urgent"), "x >= 7"),
        rising("x <= 1", "true", leave("x >= 1"), "x >= 7"),
    ),
    "touched invariant": Pair(parabola("v >= 0", "x < 0"), parabola("v >= 0", "x < 0.0001")),
    "time that cannot pass": Pair(rising("time <= 1"), rising("time <= 1", "x <= 1.0001")),
    "between two jumps": Pair(instant("x <= 3"), instant("x < 3")),
    "choice of a reset": Pair(
        rising("x <= 3", edge=leave("x >= 1", "x in [2, 3];")),
        rising("x <= 3", edge=leave("x >= 1", "x in [2, 3.00001];")),
    ),
    "time itself": Pair(
        flat("x <= time", a="diff { d(x) == 1; }"), flat("x <= time", a="diff { d(x) == 1.0001; }")
    ),
    "whole numbers": Pair(
        counting("n <= 3", "x >= 1 && 2*n < 5"), counting("n <= 3", "x >= 1 && 2*n < 7")
    ),
    "energy": Pair(rotation("x <= 1.0000001"), rotation("x <= 0.9999999")),
    "input": Pair(fed("x <= 1", "u - x"), fed("x <= 1", "u - x", "1.001")),
    "input in a claim": Pair(fed("x + u <= 1", "-x"), fed("x + u <= 0.999", "-x")),
    "input in an invariant": Pair(
        fed("x <= 1", "1", inv="x <= u"), fed("x <= 0.99", "1", inv="x <= u")
    ),
    "parameter": Pair(
        uncertain("x <= 1 + 2*time", "1, 2", "k"), uncertain("x <= 1 + 2*time", "1, 2.0001", "k")
    ),
    "parameter that multiplies": Pair(
        uncertain("x <= 1", "0, 2", "-k*x"), uncertain("x <= 1", "-0.01, 2", "-k*x"), "5"
    ),
    "history": Pair(
        remembered("x <= 10", "inner.default"), remembered("x <= 9.99", "inner.default")
    ),
    "no history": Pair(remembered("x <= 6", "inner.out"), remembered("x <= 5.999", "inner.out")),
    "assumption of a part": Pair(assuming("p <= 1"), assuming("p <= 0.5")),
    "power": Pair(
        flat("x <= 2.001", "x = 1;", a="diff { d(x) == x^2; }"),
        flat("x <= 1.999", "x = 1;", a="diff { d(x) == x^2; }"),
        "1/2",
    ),
}
