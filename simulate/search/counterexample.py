"""From a run that seems to violate a claim to a counterexample that can be shown.

`confirm` repeats the run, decision by decision, with two methods at tight tolerance: both
must violate the claim, by more than ten times what they differ and than what rounding does (seen
by runs from states beside it, `simulate.nudged_run`), and both traces must be runs of the
automaton (`simulate.monitoring.run_check`). Then the run is made simple
(`simulate.search.shrinking`). Where an enclosure of the run can be computed, the violation is
proved as well. What speaks against a run is told as a `Doubt`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from models.automaton import Automaton, Property
from models.trace import Ending, Trace
from models.verdict import Confirmation
from simulate.nudged_run import NUDGE
from simulate.recipe import Recipe
from simulate.search.doubt import Cause, Doubt
from simulate.search.objective import SAFETY, Objective, magnitude
from simulate.search.shrinking import Shrinker
from simulate.stepping.methods import Adams, Method, Taylor
from simulate.validated.allowance import Allowance

TOLERANCES = ((1e-10, 1e-12), (1e-9, 1e-11), (1e-8, 1e-10))
"""Relative and absolute tolerances of repetitions, the tightest first. A run that rests on
a boundary may need a wider one: below the rounding of its guards no event can be placed."""

MAX_STEPS = 20_000
"""Of a repetition; beyond that it takes longer than it is worth."""

SHORTLY = 1e-3
"""So long after a violation, relative to 1 + t, a run must still be clear: it may begin where a
boundary is touched."""

FEW_JUMPS, FEW_VARIABLES = 2, 8
"""A run within these limits is enclosed in seconds."""

STEPS = 6000
"""So many steps of enclosures may be made for the runs of a search, unless proofs at length are
asked for."""

GRACE = 1.0
"""So many seconds enclosures have even if a violation is found when the time is over."""

Rigorous = Callable[[Automaton, Property, Recipe, Trace, Allowance | None], Confirmation | None]
"""An enclosure of the run that proves the violation, if it can."""


@dataclass(frozen=True)
class Counterexample:
    """A confirmed run, and when it violates the claim: there its trace ends, or (for a formula)
    soon after."""

    trace: Trace
    recipe: Recipe
    time: float
    violation: float
    confirmations: tuple[Confirmation, ...]


@dataclass(frozen=True)
class Attempt:
    """How much work a confirmation may be, and who is told of a doubt. A hasty one does not look
    for simpler forms of a run that is doubtful itself."""

    deadline: float = math.inf
    allowance: Allowance = field(default_factory=lambda: Allowance(STEPS))
    hasty: bool = False
    tell: Callable[[Doubt], None] = lambda _: None


def confirm(objective: Objective, recipe: Recipe) -> tuple[Confirmation, ...]:
    """The repetitions of a run that violate the claim beyond doubt; none if there is any."""
    found = examined(objective, recipe)
    return () if isinstance(found, Doubt) else found


def examined(objective: Objective, recipe: Recipe) -> tuple[Confirmation, ...] | Doubt:
    """The repetitions of a run that violate the claim beyond doubt, or the doubt.

    The error is estimated by the difference of the two methods and by that to a run beside
    it, and is at least the tolerance times the size of the numbers in the run.
    """
    doubts = []
    for rtol, atol in TOLERANCES:
        methods: tuple[Method, ...] = (
            Taylor(rtol, atol, max_steps=MAX_STEPS),
            Adams(rtol, atol, max_steps=MAX_STEPS),
        )
        found = _repeated(objective, recipe, methods)
        if not isinstance(found, Doubt):
            return found
        doubts.append(found)
    return doubts[0]


def _repeated(
    objective: Objective, recipe: Recipe, methods: tuple[Method, ...]
) -> tuple[Confirmation, ...] | Doubt:
    margins, scale = [], 0.0
    for method in methods:
        trace = objective.run(replace(recipe, method=method))
        margin = objective.score(recipe, trace).margin
        if not margin < 0.0:
            return _not_violated(trace, method, margin)
        if problems := objective.problems(recipe, trace):
            return Doubt(Cause.NO_RUN, problems[0])
        margins.append(margin)
        scale = max(scale, magnitude(trace))
    least = -max(margins)
    finite = all(map(math.isfinite, margins))
    error = max(margins) - min(margins) if finite else 0.0
    error = max(error, methods[0].rtol * scale)
    if least <= SAFETY * error:
        return _within(least, error)
    error = max(error, _rounding(objective, replace(recipe, method=methods[0]), margins[0]))
    if least <= SAFETY * error:
        return _within(least, error)
    return tuple(
        Confirmation(f"{_name(method)}: {_by(-m, error)}", -m)
        for method, m in zip(methods, margins, strict=True)
    )


def _within(violation: float, error: float) -> Doubt:
    if math.isinf(violation):
        return Doubt(Cause.EXACT, "the smallest change of the start undoes it")
    return Doubt(Cause.MARGIN, f"violated by {violation:.3g}, error about {error:.1g}")


def _not_violated(trace: Trace, method: Method, margin: float) -> Doubt:
    if trace.outcome.ending is Ending.HORIZON:
        detail = f"with the {_kind(method)} method it keeps it by {margin:.3g}"
    else:
        detail = f"with the {_kind(method)} method: {trace.outcome.sentence.rstrip('.')}"
    return Doubt(Cause.OTHER_METHOD, detail)


def _rounding(objective: Objective, recipe: Recipe, margin: float) -> float:
    """What rounding may do to the margin: both methods round alike in resets, so this is how much
    it changes from a start that is moved by a few units in the last place. Of both directions the
    better counts, for one of them may leave a border that the run begins on."""
    changes = []
    for share in (NUDGE, -NUDGE):
        beside = objective.score(recipe, objective.run_beside(recipe, share)).margin
        changes.append(0.0 if beside == margin else abs(beside - margin))
    return min(changes)


def _kind(method: Method) -> str:
    return "Adams" if isinstance(method, Adams) else "Taylor series"


def _name(method: Method) -> str:
    return f"repeated with the {_kind(method)} method at rtol {method.rtol:g}"


def _by(violation: float, error: float) -> str:
    if math.isinf(violation):
        return "violated"
    return f"violated by {violation:.6g}, error about {error:.1g}"


def enclosed(
    automaton: Automaton,
    claim: Property,
    recipe: Recipe,
    trace: Trace,
    allowance: Allowance | None = None,
) -> Confirmation | None:
    """A proof of the violation by enclosures, if it can be given in little time."""
    if not _is_short(trace):
        return None
    return enclosed_at_length(automaton, claim, recipe, trace, allowance)


def _is_short(trace: Trace) -> bool:
    return len(trace.jumps) <= FEW_JUMPS and len(trace.variables) <= FEW_VARIABLES


def enclosed_at_length(
    automaton: Automaton,
    claim: Property,
    recipe: Recipe,
    trace: Trace,
    allowance: Allowance | None = None,
) -> Confirmation | None:
    """A proof of the violation by enclosures, if it can be given with what is allowed."""
    from simulate.validated.validated_run import describe, validated_run

    for rtol, atol in TOLERANCES[:2]:
        if allowance is not None and allowance.is_spent:
            return None
        run = validated_run(automaton, recipe, claim, Taylor(rtol, atol), allowance)
        if run is not None and run.violation is not None and run.depth > 0.0:
            how = f"enclosed by ball arithmetic: {describe(run).rstrip('.')}"
            return Confirmation(how, run.depth, rigorous=True)
    return None


def counterexample(
    objective: Objective,
    recipe: Recipe,
    rigorous: tuple[Rigorous, ...] = (enclosed,),
    attempt: Attempt | None = None,
) -> Counterexample | None:
    """Confirm a violating run and shrink it; less simple runs are the second choices. If there
    is doubt about all of them, that about the last is told."""
    attempt = attempt or Attempt()
    recipe = Shrinker(objective, recipe, deadline=attempt.deadline).recipe
    sound, doubt = _first_sound(objective, recipe)
    if sound is None:
        attempt.tell(doubt)
        return None
    allowance = attempt.allowance
    if attempt.hasty:
        found = _judged(objective, sound, rigorous, allowance)
        if isinstance(found, Doubt):
            attempt.tell(found)
            return None
    for candidate in _simplified(objective, sound, attempt.deadline):
        found = _judged(objective, candidate, rigorous, allowance)
        if isinstance(found, Counterexample):
            return found
        doubt = found
    attempt.tell(doubt)
    return None


def _judged(
    objective: Objective,
    recipe: Recipe,
    rigorous: tuple[Rigorous, ...],
    allowance: Allowance,
) -> Counterexample | Doubt:
    """The counterexample that a run is, or what speaks against it."""
    confirmations = examined(objective, recipe)
    if isinstance(confirmations, Doubt):
        return confirmations
    found = _shown(objective, recipe, confirmations, rigorous, allowance)
    return _doubted(objective, found, rigorous, allowance) or found


def _first_sound(objective: Objective, recipe: Recipe) -> tuple[Recipe | None, Doubt]:
    """The run, ended where it can be confirmed; else what speaks against it."""
    doubts = []
    for ended in _ended(objective, recipe):
        found = examined(objective, ended)
        if not isinstance(found, Doubt):
            return ended, Doubt(Cause.NO_RUN, "")
        doubts.append(found)
    return None, doubts[0]


def _doubted(
    objective: Objective,
    found: Counterexample,
    rigorous: tuple[Rigorous, ...],
    allowance: Allowance,
) -> Doubt | None:
    """What speaks against a violation that is not proved: its way may not be clear."""
    if objective.violation_time(found.recipe, found.trace) is None:
        return Doubt(Cause.OTHER_METHOD, "the run that would be shown does not violate it")
    if any(c.rigorous for c in found.confirmations):
        return None
    shortly_after = found.time + SHORTLY * (1.0 + found.time)
    unclear = objective.unclear(found.recipe, shortly_after)
    if unclear is None:
        return None
    claim = objective.claim
    tried = enclosed_at_length in rigorous or (enclosed in rigorous and _is_short(found.trace))
    if isinstance(claim, Property) and not tried:
        automaton, recipe = objective.automaton, found.recipe
        if enclosed_at_length(automaton, claim, recipe, found.trace, allowance) is not None:
            return None
    return Doubt(Cause.UNCLEAR, unclear)


def _ended(objective: Objective, recipe: Recipe) -> Iterator[Recipe]:
    """The run; and where it does not reach its horizon (a pole, a singular end, which two
    methods may not agree on), the run ended sooner and sooner after the violation."""
    yield recipe
    trace = objective.run(recipe)
    time = objective.violation_time(recipe, trace)
    if trace.outcome.ending is not Ending.HORIZON and time is not None:
        for share in (0.1, 0.01, 0.001):
            yield replace(recipe, until=time + share * (recipe.until - time))


def _simplified(objective: Objective, recipe: Recipe, deadline: float) -> Iterator[Recipe]:
    """The run in simpler forms, and as it is; each form once."""
    simplest = Shrinker(objective, recipe, deadline=deadline).shrink()
    yield simplest
    simple = Shrinker(objective, recipe, keep_policy=True, deadline=deadline).shrink()
    if simple != simplest:
        yield simple
    if recipe not in (simplest, simple):
        yield recipe


def _shown(
    objective: Objective,
    recipe: Recipe,
    confirmations: tuple[Confirmation, ...],
    rigorous: tuple[Rigorous, ...],
    allowance: Allowance,
) -> Counterexample:
    claim = objective.claim
    stops = isinstance(claim, Property)
    final = replace(
        recipe,
        method=Adams(rtol=1e-9, atol=1e-12),
        stop_on_violation=stops,
        claim=claim.name if isinstance(claim, Property) else None,
        formula=None if isinstance(claim, Property) else claim.text,
    )
    trace = objective.run(final, stop=stops)
    if stops and trace.outcome.ending is not Ending.VIOLATION:
        stops = False
        final = replace(final, stop_on_violation=False)
        trace = objective.run(final)
    final = final.with_decisions(trace.decisions)
    if isinstance(claim, Property):
        for prove in rigorous:
            proved = prove(objective.automaton, claim, final, trace, allowance)
            if proved is not None:
                confirmations = (*confirmations, proved)
    violation = min(c.violation for c in confirmations if not c.rigorous)
    time = objective.violation_time(final, trace)
    return Counterexample(
        trace, final, trace.end if time is None else time, violation, confirmations
    )
