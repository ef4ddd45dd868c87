"""Model texts that several tests share, and short ways from text to model or diagnostics."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path

from workbench.models.agents.flatten import flatten
from workbench.models.agents.hierarchy import Agent
from workbench.models.automaton import Automaton
from workbench.models.language.checked import diagnose
from workbench.models.language.elaborate import Elaborated, elaborate
from workbench.models.language.parse import parse_source
from workbench.models.source import Diagnostic

FILE = "model.charon"

HIGHWAY = """\
const real lambdaP = 10;
const real lambdaV = 1;
const real eps = 1;

mode Track(real k1, real k2, real k3, real lp, real lv) {
  write analog real acc;
  read analog real vel, velFront, dist;
  diff { d(acc) == k1*(dist - lp) + k2*velFront - (k2 + k1*lv)*vel - k3*acc; }
  inv { dist - lv*vel - lp >= -1 - eps }
}
mode TrackNear(real k1, real k2, real k3, real lp, real lv) {
  write analog real acc;
  read analog real vel, velFront, dist;
  diff { d(acc) == k1*(dist - lp) + k2*velFront - (k2 + k1*lv)*vel - k3*acc; }
  inv { dist - lv*vel - lp <= -1 }
  assert "no collision while close" { dist > 0 }
}
mode ControllerTop() {
  write analog real acc;
  read analog real vel, velFront, dist;
  private analog real e;
  mode optimal = Track(1/8, 3/4, 3/2, lambdaP, lambdaV);
  mode previous = TrackNear(1, 3, 3, lambdaP, lambdaV);
  alge { e == dist - lambdaV*vel - lambdaP; }
  inv { 10*velFront <= 9*vel; vel >= 0; velFront >= 0 }
  trans from init to optimal when e >= -1 - eps do { }
  trans from init to previous when e <= -1 do { }
  trans #close from optimal to previous when e <= -1 do { }
  trans #far from previous to optimal when e >= -1 - eps do { }
}
agent Controller() {
  write analog real acc;
  read analog real vel, velFront, dist;
  init { acc in [0, 0]; }
  mode top = ControllerTop();
}
mode VelTop() {
  write analog real vel;
  read analog real acc;
  diff { d(vel) == acc; }
  inv { vel >= 0 }
}
agent Velocity() {
  write analog real vel;
  read analog real acc;
  init { vel in [20, 25]; }
  mode top = VelTop();
}
mode FrontTop(real amin, real amax) {
  write analog real vel;
  diff { d(vel) in [amin, amax]; }
  inv { vel >= 0 }
}
agent Front(real amin, real amax) {
  write analog real vel;
  init { vel in [15, 18]; }
  mode top = FrontTop(amin, amax);
}
mode DistTop() {
  write analog real dist;
  read analog real velFirst, velOther;
  diff { d(dist) == velFirst - velOther; }
}
agent Distance() {
  write analog real dist;
  read analog real velFirst, velOther;
  init { dist in [20, 100]; }
  mode top = DistTop();
}
agent Platoon() {
  write analog real vel;
  read analog real velFront, dist;
  private analog real acc;
  agent velocity = Velocity();
  agent controller = Controller();
}
agent Highway(real amin = -5, real amax = 3) {
  private analog real velFirst, velOther, dist;
  agent front = Front(amin, amax) [ vel := velFirst ];
  agent follower = Platoon() [ vel, velFront := velOther, velFirst ];
  agent distance = Distance();
  assert "no collision" { dist > 0 }
}
"""

LEAKY_TANK = """\
mode TankTop() {
  write analog real level;
  read analog real inflow, leak;
  diff { d(level) == inflow - leak; }
  inv { level >= 0 }
}
agent Tank() {
  write analog real level;
  read analog real inflow, leak;
  init { level = 6; }
  mode top = TankTop();
}
mode HoleTop() { write analog real leak; read analog real level; alge { leak == 0.1*level; } }
agent Hole() {
  write analog real leak;
  read analog real level;
  init { leak = 0; }
  mode top = HoleTop();
}
mode Const(real r) { write analog real flow; alge { flow == r; } }
mode PumpTop(real lo, real hi) {
  write analog real flow;
  read analog real level;
  private discrete int cycles = 0;
  mode on = Const(2);
  mode off = Const(0);
  trans from default to off when level >= lo do { }
  trans from default to on when level < lo do { }
  trans from off to on when level <= lo do { cycles = cycles + 1; }
  trans from on to off when level >= hi do { }
}
agent Pump(real lo, real hi) {
  write analog real flow;
  read analog real level;
  init { flow = 0; }
  mode top = PumpTop(lo, hi);
  assert { flow >= 0 && flow <= 2 }
}
agent LTank() {
  write analog real level;
  read analog real inflow;
  private analog real leak;
  agent tank = Tank();
  agent hole = Hole();
}
agent LeakyTank() {
  private analog real level, flow;
  agent tank = LTank() [ inflow := flow ];
  agent pump = Pump(5, 10);
}
"""

PENDULUM = """\
extern real experimental(real, real, real, real) from "controllers.experimental";
const real volt = 4.95;
mode Law(real k1, real k2, real k3, real k4) {
  write analog real u;
  read analog real x, v, th, w;
  alge { u == k1*x + k2*v + k3*th + k4*w; }
}
mode Experimental() {
  write analog real u;
  read analog real x, v, th, w;
  alge { u == experimental(x, v, th, w); }
}
mode Untrusted() {
  entry start;
  exit fail;
  write analog real u;
  read analog real x, v, th, w;
  private discrete int tries = 0;
  mode exp = Experimental();
  mode base = Law(6, 20, 60, 16);
  trans from start to base when true do { }
  trans from base to exp when th <= 0.05 && th >= -0.05 do { tries = tries + 1; }
  trans from exp to fail when u > volt || u < -volt do { }
  trans from exp to base when tries > 3 do { }
}
mode SupervisorTop() {
  write analog real u;
  read analog real x, v, th, w;
  private discrete real rec = 0;
  mode untrusted = Untrusted();
  mode safety = Law(10, 36, 140, 14);
  trans from init to untrusted.start when true do { }
  trans from untrusted.fail to safety do { }
  trans #envelope from untrusted.default to safety when th*th + 0.2*w*w > 0.04 do { rec = rec + 1; }
  trans #resume from safety to untrusted.default when th*th + 0.2*w*w < 0.001 && rec < 3 do { }
}
mode PlantTop() {
  write analog real x, v, th, w;
  read analog real u;
  diff {
    d(x) == v;
    d(v) == -10.95*v - 2.75*th + 0.0043*w + 1.94*u;
    d(th) == w;
    d(w) == 24.92*v + 28.58*th - 0.044*w - 4.44*u;
  }
}
agent Plant() {
  write analog real x, v, th, w;
  read analog real u;
  init { x in [-0.1, 0.1]; v = 0; th in [-0.05, 0.05]; w = 0; }
  mode top = PlantTop();
}
agent Supervisor() {
  write analog real u;
  read analog real x, v, th, w;
  init { u = 0; }
  mode top = SupervisorTop();
}
agent Pendulum() {
  private analog real x, v, th, w, u;
  agent plant = Plant();
  agent sup = Supervisor();
  assert "rod up" { th <= 0.5 && th >= -0.5 }
}
"""

EXAMPLES = {"highway": HIGHWAY, "leaky tank": LEAKY_TANK, "pendulum": PENDULUM}


def elaborated(text: str, **options: object) -> Elaborated:
    """The hierarchy of a text."""
    file = parse_source(text, FILE)
    return elaborate([file], sources={FILE: text}, **options)  # type: ignore[arg-type]


def agent_of(text: str, **options: object) -> Agent:
    """The whole model's agent."""
    return elaborated(text, **options).agent


def automaton_of(text: str, **parameters: int | Fraction) -> Automaton:
    """The flat automaton of a text."""
    values: Mapping[str, Fraction] = {n: Fraction(v) for n, v in parameters.items()}
    made = elaborated(text, parameters=values)
    return flatten(made.agent, "model", made.horizon)


def diagnostics(text: str) -> tuple[Diagnostic, ...]:
    """Everything that checking a text says, errors and warnings."""
    return diagnose(text, Path(FILE))


def codes(text: str) -> list[str]:
    """The codes of all diagnostics of a text."""
    return [d.code for d in diagnostics(text)]


def atomic(body: str, *, mode_items: str = "", definitions: str = "", parameters: str = "") -> str:
    """A small model: one agent with a top-level mode of the given items, whose variable x
    has slope 1 unless the items say otherwise."""
    slope = "" if "d(x)" in mode_items or "x ==" in mode_items else "diff { d(x) == 1; }"
    return f"""\
{definitions}
mode Top({parameters}) {{
  write analog real x;
  {slope}
  {mode_items}
}}
agent Main({parameters}) {{
  write analog real x;
  {body}
  mode top = Top({", ".join(p.split()[1] for p in parameters.split(",") if p.strip())});
}}
"""
