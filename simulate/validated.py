"""Validated runs: a simulated run followed by rigorous enclosures.

`validate` follows a trace. Its first state is made exact (rationals) and must lie in an initial
set; then the state is enclosed step by step, under the location's equations, with what the
model leaves open (inputs, places in inclusions, delays of edges that are not urgent) chosen
as in the trace. Proved on the way:

- the invariant holds and no urgent edge is enabled while time passes;
- an edge that is taken where a guard becomes true: the guard's function g passes zero
  transversally at exactly one time, which interval Newton encloses; g is then exactly zero;
- an edge taken later: its guard certainly holds;
- after the resets the target's invariant holds.

So the enclosure contains a run of the model. Where one of these cannot be proved (a tangency,
an equation that is not smooth, an enclosure that grows too wide) it says so and stops there.
`confirm_violation` proves a counterexample: at some time the enclosure lies in the bad states.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from models.automaton import Automaton, Property
from models.counting import counted
from models.source import ModelError
from models.trace import Ending, Trace
from models.verdict import Confirmation
from simulate.methods import Taylor
from simulate.recipe import Recipe, repeat
from simulate.signals import Signal

if TYPE_CHECKING:
    from simulate.follower import Follower

Interval = tuple[Fraction, Fraction]

TIGHT = Taylor(rtol=1e-11, atol=1e-13)
"""How the run that is followed is simulated."""


@dataclass(frozen=True, slots=True)
class Enclosed:
    """All states of the run in a stretch of time; for a point of time both ends are its
    bounds."""

    start: Fraction
    end: Fraction
    location: str
    bounds: Mapping[str, Interval]


@dataclass(frozen=True, slots=True)
class ProvedJump:
    """An edge that was taken, and bounds of the time."""

    time: Interval
    name: str
    target: str


@dataclass(frozen=True, slots=True)
class ValidatedRun:
    """What was proved: enclosures that cover the time from 0 to `reached`, the jumps, the
    final state, and the reason if it ended before the trace did.

    `violation` tells when and where the run certainly is in the bad states, if asked for, and
    `depth` is a lower bound of how far inside them it is.
    """

    enclosures: tuple[Enclosed, ...]
    jumps: tuple[ProvedJump, ...]
    reached: Interval
    gave_up: str | None = None
    violation: Enclosed | None = None
    widths: Mapping[str, Fraction] = field(default_factory=dict)
    depth: float = 0.0

    @property
    def complete(self) -> bool:
        """Whether the whole trace could be followed."""
        return self.gave_up is None


def validate(
    automaton: Automaton,
    trace: Trace,
    *,
    inputs: Mapping[str, Signal] | None = None,
    claim: Property | None = None,
) -> ValidatedRun:
    """Follow a trace by enclosures; with a claim, until it is certainly violated (a little
    beyond the trace's end if necessary)."""
    import flint

    from simulate.balls import GaveUp
    from simulate.enclosure import PRECISION
    from simulate.follower import Follower

    with flint.ctx.workprec(PRECISION):
        follower: Follower | None = None
        try:
            follower = Follower(automaton, trace, inputs or {}, claim)
            follower.follow()
            reason = None
        except GaveUp as stopped:
            reason = stopped.reason
        if follower is None:
            return ValidatedRun((), (), (Fraction(0), Fraction(0)), reason)
        return follower.result(reason)


def validated_run(
    automaton: Automaton, recipe: Recipe, claim: Property | None = None
) -> ValidatedRun | None:
    """Simulate a recipe at a tight tolerance and follow that run; None if there is no run.
    Without a claim, the one that the simulation sees violated is looked for."""
    from simulate.objective import focused

    claimed = automaton if claim is None else focused(automaton, claim)
    try:
        trace = repeat(claimed, recipe, method=TIGHT, stop_on_violation=True)
    except (ModelError, ArithmeticError):
        return None
    if not trace.segments:
        return None
    if claim is None:
        named = (p for p in automaton.properties if p.name == trace.outcome.name)
        claim = next(named, None) if trace.outcome.ending is Ending.VIOLATION else None
    return validate(automaton, trace, inputs=recipe.inputs, claim=claim)


def confirm_violation(automaton: Automaton, claim: Property, recipe: Recipe) -> Confirmation | None:
    """A proof that the run of a recipe violates a claim: an enclosure that lies in the bad
    states. None if it cannot be given; the proof is of the run that starts at the recipe's
    state rounded to simple rationals, and decides as the simulation did."""
    run = validated_run(automaton, recipe, claim)
    if run is None or run.violation is None or run.depth <= 0.0:
        return None
    return Confirmation(_how(run), run.depth, rigorous=True)


def _how(run: ValidatedRun) -> str:
    assert run.violation is not None
    t = float(run.violation.end)
    width = max((float(h - low) for low, h in run.violation.bounds.values()), default=0.0)
    jumps = counted(len(run.jumps), "proved jump")
    return (
        f"enclosed by ball arithmetic ({jumps}): at t = {t:.10g} every state of the enclosure"
        f" (width {width:.1g}) is bad"
    )


def describe(run: ValidatedRun) -> str:
    """The result as one sentence."""
    low, _ = run.reached
    width = float(max(run.widths.values(), default=Fraction(0)))
    done = (
        f"validated until t = {float(low):.10g}: {counted(len(run.jumps), 'jump')} proved,"
        f" final width {width:.2g}"
    )
    if run.violation is not None:
        done += f", certainly bad at t = {float(run.violation.end):.10g}"
    return f"{done}." if run.gave_up is None else f"{done}; gave up: {run.gave_up}."


def as_data(run: ValidatedRun) -> dict[str, Any]:
    """The result as plain data, bounds as fractions in text."""

    def bounds(given: Mapping[str, Interval]) -> dict[str, list[str]]:
        return {n: [str(low), str(high)] for n, (low, high) in given.items()}

    final = run.enclosures[-1] if run.enclosures else None
    return {
        "reached": [str(t) for t in run.reached],
        "gave_up": run.gave_up,
        "jumps": [
            {"time": [str(t) for t in j.time], "name": j.name, "target": j.target}
            for j in run.jumps
        ],
        "violation": None
        if run.violation is None
        else {
            "time": [str(run.violation.start), str(run.violation.end)],
            "location": run.violation.location,
            "bounds": bounds(run.violation.bounds),
            "depth": run.depth,
        },
        "last": None if final is None else bounds(final.bounds),
    }


def bounds_of(box: Mapping[str, Any]) -> dict[str, Interval]:
    """Rational bounds of every ball in a valuation."""
    import flint

    from simulate.balls import ends

    return {n: ends(x) for n, x in box.items() if isinstance(x, flint.arb)}
