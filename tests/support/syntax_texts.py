"""A text with every construct of the language, and syntax trees compared without places."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

from workbench.models.source import Span

EVERYTHING = """\
/* Every construct
   of the language */
import "other.charon";
extern real noise(real, real t) from "lab.noise";
extern int pick();
const real k in [1, 2];
const int n = 3;
table drag(real v) linear { 0: 1, 2: 5 }
table map(real x, real y) previous { : 0, 10; 0: 1, 2; 5: 3, 4 }
system Road(-5, 3) until 20;

mode Still() { }  // nothing happens
mode Move(real a, bool b = true) {
  entry start; exit done, failed;
  write analog real x = 1, y in [0, 1];
  read discrete int count;
  local enum { left, right } side;
  mode s = Still();
  diff { d(x) == -a*x^2 + noise(x, time); d(y) in [-1, 1]; d(z) <= 3 }
  alge { w == x > 0 ? x : -x; v in [0, x]; }
  inv { x >= 0; !(y < 0) || b }

  // leaving
  urgent crossing trans #go from start, s.done, s.default to s when x >= 1 && y != 2
    do { let h = x/2; x = h; y := h + 1; w in [0, h]; }
  trans from default to done
  assert "bound" { x <= 10 }
  forbid { y == 3 };
}
agent Car(int i) { write real vel, front; init { vel = 0; front in [1, 2]; where vel < front; } mode top = Move(1, false); }
agent Road(real low, real high) {
  private analog real vel[0..n] = 0;
  agent car[i in 1..n] = Car(i) [ vel, front := vel[i], vel[i - 1] ];
  agent other = Car(2) [ vel := x ] [ front := y ];
  hide vel;
  assume { low <= high }
  predicate { vel[1] >= 10; vel[1] >= 20 }
  bilateral interaction bump between a, b in car when a.x - b.x <= 1 do { a.vx = b.vx; }
  interaction hit between a in car, b in wall when a.x >= b.x
  forbid "order" { low < 0 && forall i in 1..n : (sum j in 1..i : vel[j]) >= 0 }
}
"""


def plain(value: Any) -> Any:
    """A syntax tree as nested tuples without spans: equal for equal syntax."""
    if isinstance(value, Span):
        return None
    if is_dataclass(value):
        return (type(value).__name__, *(plain(getattr(value, f.name)) for f in fields(value)))
    if isinstance(value, tuple):
        return tuple(plain(v) for v in value if not isinstance(v, Span))
    return value
