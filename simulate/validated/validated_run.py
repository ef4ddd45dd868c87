"""Validated runs: a simulated run followed by rigorous enclosures.

`validate` follows a run. Its first state is made exact (rationals) and must lie in an initial
set; then the state is enclosed step by step, under the location's equations, with what the
model leaves open (inputs, places in inclusions, values of resets, delays of edges that are not
urgent) chosen as in the simulated run. Proved on the way:

- the invariant holds, inputs keep their ranges and the assumption, inclusions are not empty,
  and no urgent edge is enabled while time passes;
- an edge that is taken where a guard becomes true: the guard's function g passes zero
  transversally at exactly one time, which interval Newton encloses, or reaches it in finite
  time where it comes to rest (`simulate.validated.arrival`); g is then exactly zero;
- an edge taken at another time: its guard certainly holds;
- after the resets the target's invariant holds.

So the enclosure contains a run of the model. Where one of these cannot be proved (a tangency, a
singular equation, an enclosure that grows too wide) it says so; what was proved before stays.
`confirm_violation` proves a counterexample: at some time the enclosure lies in the bad states.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal, localcontext
from fractions import Fraction
from math import inf, nextafter
from typing import TYPE_CHECKING, Any

from workbench.models.automaton import Automaton, Property
from workbench.models.counting import counted
from workbench.models.record import record
from workbench.models.source import ModelError
from workbench.models.trace import Ending, Trace
from workbench.models.trace_boxes import Box
from workbench.models.verdict import Confirmation
from workbench.simulate.inputs.signals import Signal
from workbench.simulate.policy import Level, Policy, Switching
from workbench.simulate.recipe import Recipe
from workbench.simulate.stepping.methods import Adams, Method, Taylor

if TYPE_CHECKING:
    from workbench.simulate.validated.allowance import Allowance
    from workbench.simulate.validated.follower import Follower
    from workbench.simulate.validated.observed_run import ObservedRun

Interval = tuple[Fraction, Fraction]

TIGHT = Taylor(rtol=1e-11, atol=1e-13)
"""How the run that is followed is simulated."""

SHORT = 12
"""The digits of the enclosures in plain data."""


@record
class Enclosed:
    """All states of the run in a stretch of time; for a point of time both ends are its
    bounds."""

    start: Fraction
    end: Fraction
    location: str
    bounds: Mapping[str, Interval]


@record
class ProvedJump:
    """An edge that was taken, and bounds of the time."""

    time: Interval
    name: str
    target: str


@record
class ValidatedRun:
    """What was proved: enclosures that cover the time from 0 to `reached`, the jumps, the
    final state, and the reason if it ended before the trace did.

    `violation` tells when and where the run certainly is in the bad states, if asked for, and
    `depth` is a lower bound of how far inside them it is. `location` is where the proof ended,
    `policy` how what the model leaves open was chosen.
    """

    enclosures: tuple[Enclosed, ...]
    jumps: tuple[ProvedJump, ...]
    reached: Interval
    gave_up: str | None = None
    violation: Enclosed | None = None
    final: Mapping[str, Interval] = field(default_factory=dict)
    depth: float = 0.0
    location: str = ""
    policy: str = ""

    @property
    def widths(self) -> Mapping[str, Fraction]:
        """How wide the bounds of the final state are."""
        return {name: high - low for name, (low, high) in self.final.items()}

    @property
    def complete(self) -> bool:
        """Whether the whole trace could be followed."""
        return self.gave_up is None


def validate(
    automaton: Automaton,
    run: Trace | ObservedRun,
    *,
    inputs: Mapping[str, Signal] | None = None,
    claim: Property | None = None,
    allowance: Allowance | None = None,
) -> ValidatedRun:
    """Follow a run by enclosures; with a claim, until it is certainly violated (a little
    beyond the trace's end if necessary); with an allowance, no longer than that."""
    import flint

    from workbench.simulate.validated.balls import GaveUp
    from workbench.simulate.validated.enclosure import PRECISION
    from workbench.simulate.validated.follower import Follower
    from workbench.simulate.validated.observed_run import ObservedRun

    with flint.ctx.workprec(PRECISION):
        follower: Follower | None = None
        try:
            seen = ObservedRun(run) if isinstance(run, Trace) else run
            follower = Follower(automaton, seen, inputs or {}, claim, allowance)
            follower.follow()
            reason = None
        except GaveUp as stopped:
            reason = stopped.reason
        if follower is None:
            return ValidatedRun((), (), (Fraction(0), Fraction(0)), reason)
        return follower.result(reason)


def validated_run(
    automaton: Automaton,
    recipe: Recipe,
    claim: Property | None = None,
    method: Method = TIGHT,
    allowance: Allowance | None = None,
) -> ValidatedRun | None:
    """Simulate a recipe at a tight tolerance and follow that run; None if there is no run.
    Without a claim, the one that the simulation sees violated is looked for. A run that cannot
    be followed to its end in short steps is made again by the other method: where a surface
    is met with slope 0, series stop short of it as soon as numbers do not tell them apart."""
    from workbench.simulate.search.objective import focused
    from workbench.simulate.validated.observed_run import observe

    claimed = automaton if claim is None else focused(automaton, claim)
    try:
        run = observe(claimed, recipe, method)
        if run.trace.outcome.ending is Ending.STEP_LIMIT:
            run = observe(claimed, recipe, Adams(rtol=method.rtol, atol=method.atol))
    except (ModelError, ArithmeticError):
        return None
    if not run.trace.segments:
        return None
    outcome = run.trace.outcome
    if claim is None and outcome.ending is Ending.VIOLATION:
        claim = next((p for p in automaton.properties if p.name == outcome.name), None)
    found = validate(automaton, run, inputs=recipe.inputs, claim=claim, allowance=allowance)
    return replace(found, policy=_chosen(recipe.policy))


def _chosen(policy: Policy) -> str:
    """How what the model leaves open was chosen, in words."""
    when = {
        Switching.EARLIEST: "as early as possible",
        Switching.LATEST: "as late as possible",
        Switching.RANDOM: "at the times drawn",
    }
    where = {
        Level.LOW: "the lowest",
        Level.MID: "the middle ones",
        Level.HIGH: "the highest",
        Level.RANDOM: "those drawn",
    }
    return f"edges taken {when[policy.switching]}, values of ranges {where[policy.level]}"


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
    jumps = f"{counted(len(run.jumps), 'jump')} proved"
    done = f"validated until t = {float(low):.10g}: {jumps}, final width {width:.2g}"
    if run.violation is not None:
        done += f", certainly bad at t = {float(run.violation.end):.10g}"
    if run.policy:
        done += f" ({run.policy})"
    if run.gave_up is None:
        return f"{done}."
    where = f" in `{run.location}`" if run.location else ""
    return f"{done}; gave up{where}: {run.gave_up}."


def as_data(run: ValidatedRun) -> dict[str, Any]:
    """The result as plain data: bounds as decimal numbers, rounded outwards."""
    return {
        "complete": run.complete,
        "reached": _written(run.reached),
        "location": run.location,
        "gave_up": run.gave_up,
        "policy": run.policy,
        "jumps": [
            {"time": _written(j.time), "name": j.name, "target": j.target} for j in run.jumps
        ],
        "violation": None
        if run.violation is None
        else {**_enclosed_data(run.violation), "depth": run.depth},
        "final": _all_written(run.final),
        "enclosures": [_enclosed_data(e, SHORT) for e in run.enclosures],
    }


def boxes(run: ValidatedRun) -> tuple[Box, ...]:
    """The enclosures in floating-point numbers, rounded outwards."""
    return tuple(
        Box(
            *_outwards((part.start, part.end)),
            part.location,
            {name: _outwards(interval) for name, interval in part.bounds.items()},
        )
        for part in run.enclosures
    )


def _outwards(interval: Interval) -> tuple[float, float]:
    low, high = map(float, interval)
    return (
        low if Fraction(low) <= interval[0] else nextafter(low, -inf),
        high if Fraction(high) >= interval[1] else nextafter(high, inf),
    )


def _enclosed_data(part: Enclosed, digits: int = 30) -> dict[str, Any]:
    return {
        "time": _written((part.start, part.end), digits),
        "location": part.location,
        "bounds": _all_written(part.bounds, digits),
    }


def _all_written(bounds: Mapping[str, Interval], digits: int = 30) -> dict[str, list[str]]:
    return {name: _written(interval, digits) for name, interval in bounds.items()}


def _written(interval: Interval, digits: int = 30) -> list[str]:
    """Decimal numbers around an interval."""
    found = []
    for bound, rounding in zip(interval, (ROUND_FLOOR, ROUND_CEILING), strict=True):
        with localcontext(prec=digits, rounding=rounding):
            value = Decimal(bound.numerator) / Decimal(bound.denominator)
        found.append(str(value))
    return found


def bounds_of(box: Mapping[str, Any]) -> dict[str, Interval]:
    """Rational bounds of every ball in a valuation."""
    import flint

    from workbench.simulate.validated.balls import ends

    return {n: ends(x) for n, x in box.items() if isinstance(x, flint.arb)}
