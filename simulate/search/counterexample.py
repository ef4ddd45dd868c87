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
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace

from workbench.models.automaton import Automaton, Property
from workbench.models.interruption import CheckInterruptedError
from workbench.models.trace import Ending, Trace
from workbench.models.verdict import Confirmation
from workbench.simulate.nudged_run import NUDGE
from workbench.simulate.recipe import Recipe
from workbench.simulate.search.doubt import Cause, Doubt
from workbench.simulate.search.objective import SAFETY, Objective, magnitude
from workbench.simulate.search.shrinking import Shrinker
from workbench.simulate.stepping.methods import Adams, Method, Taylor
from workbench.simulate.validated.allowance import Allowance

TOLERANCES = ((1e-10, 1e-12), (1e-9, 1e-11), (1e-8, 1e-10))
"""Relative and absolute tolerances of repetitions, the tightest first. A run that rests on
a boundary may need a wider one: below the rounding of its guards no event can be placed."""

MAX_STEPS, STEPS_PER_JUMP = 20_000, 50
"""Of a repetition; beyond that it takes longer than it is worth, if the run has few jumps."""

SHORTLY = 1e-3
"""So long after a violation, relative to 1 + t, a run must still be clear: it may begin where a
boundary is touched."""

FEW_JUMPS, FEW_VARIABLES = 2, 8
"""A run within these limits is enclosed in seconds."""

STEPS = 6000
"""So many steps of enclosures may be made for the runs of a search, unless proofs at length are
asked for."""

GRACE = 0.25
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
class Suspect:
    """A run that violates the claim in simulation and is not confirmed: when, and by which
    margin (negative)."""

    trace: Trace
    recipe: Recipe
    time: float
    margin: float


@dataclass(frozen=True)
class Attempt:
    """How much work a confirmation may be, and who is told of a doubt. A hasty one does not look
    for simpler forms of a run that is doubtful itself. `beside` gives violating runs near a
    doubtful one: they may be clear, and that is seen sooner than a proof is found."""

    deadline: float = math.inf
    allowance: Allowance = field(default_factory=lambda: Allowance(STEPS))
    hasty: bool = False
    tell: Callable[[Doubt], None] = lambda _: None
    beside: Callable[[], Iterable[Recipe]] = lambda: ()


def suspected(objective: Objective, recipe: Recipe, margin: float) -> Suspect:
    """A violating run, to be shown as long as it is not confirmed."""
    final, trace = _final(objective, recipe)
    time = objective.violation_time(final, trace)
    return Suspect(trace, final, trace.end if time is None else time, margin)


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
    steps = MAX_STEPS + STEPS_PER_JUMP * len(objective.run(recipe).jumps)
    for rtol, atol in TOLERANCES:
        methods: tuple[Method, ...] = (
            Taylor(rtol, atol, max_steps=steps),
            Adams(rtol, atol, max_steps=steps),
        )
        found = _repeated(objective, recipe, methods)
        if not isinstance(found, Doubt):
            return found
        doubts.append(found)
    return doubts[0]


def _repeated(
    objective: Objective, recipe: Recipe, methods: tuple[Method, ...]
) -> tuple[Confirmation, ...] | Doubt:
    margins, followed, scale = [], [], 0.0
    for method in methods:
        again = replace(recipe, method=method)
        trace = objective.run(again)
        followed.append(objective.method_of(again, trace))
        margin = objective.score(recipe, trace).margin
        if not margin < 0.0:
            return _not_violated(trace, followed[-1], margin)
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
        for method, m in zip(followed, margins, strict=True)
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
    from workbench.simulate.validated.validated_run import describe, validated_run

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
    """Confirm a violating run and shrink it; less simple runs are the second choices, then runs
    beside it, then proofs that take long. Before these, the doubt about the last form of the run
    itself is told, also if the work is called off."""
    attempt = attempt or Attempt()
    inquiry = _Inquiry(objective, rigorous, attempt)
    try:
        found = inquiry.clear_form(recipe, attempt.hasty)
    except CheckInterruptedError:
        if inquiry.doubt is not None:
            attempt.tell(inquiry.doubt)
        raise
    if found is not None:
        return found
    doubt, unclear = inquiry.doubt, tuple(inquiry.unclear)
    assert doubt is not None  # else the run were a counterexample
    attempt.tell(doubt)
    if doubt.cause is not Cause.EXACT:
        for near in attempt.beside():
            found = inquiry.clear_form(near, hasty=True)
            if found is not None:
                return found
    for candidate in unclear:
        found = inquiry.proved(candidate)
        if found is not None:
            return found
    return None


@dataclass
class _Inquiry:
    """What is found out about violating runs: the last doubt, and those that need a proof."""

    objective: Objective
    rigorous: tuple[Rigorous, ...]
    attempt: Attempt
    doubt: Doubt | None = None
    unclear: list[Counterexample] = field(default_factory=list)

    def clear_form(self, recipe: Recipe, hasty: bool) -> Counterexample | None:
        """The simplest form of a run about which there is no doubt."""
        deadline, until = self.attempt.deadline, recipe.until
        recipe = Shrinker(self.objective, recipe, deadline=deadline).recipe
        sound = self._first_sound(recipe)
        if sound is None:
            return None
        as_it_is = self._clear(sound, until) if hasty else None
        if hasty and as_it_is is None:
            return None
        for candidate in _simplified(self.objective, sound, deadline):
            known = as_it_is if candidate == sound else None
            found = known or self._clear(candidate, until)
            if found is not None:
                return found
        return None

    def _first_sound(self, recipe: Recipe) -> Recipe | None:
        """The run, ended where it can be confirmed."""
        doubts = []
        for ended in _ended(self.objective, recipe):
            found = examined(self.objective, ended)
            if not isinstance(found, Doubt):
                return ended
            doubts.append(found)
        self.doubt = doubts[0]
        return None

    def _clear(self, recipe: Recipe, until: float) -> Counterexample | None:
        """The counterexample that a run is: it is proved, or its way is clear, which is looked at
        shortly after the violation, too, also if the run is ended sooner (up to `until`)."""
        objective = self.objective
        confirmations = examined(objective, recipe)
        if isinstance(confirmations, Doubt):
            self.doubt = confirmations
            return None
        found = _shown(objective, recipe, confirmations)
        if objective.violation_time(found.recipe, found.trace) is None:
            detail = "the run that would be shown does not violate it"
            self.doubt = Doubt(Cause.OTHER_METHOD, detail)
            return None
        shortly_after = found.time + SHORTLY * (1.0 + found.time)
        longer = max(found.recipe.until, min(shortly_after, until))
        unclear = objective.unclear(replace(found.recipe, until=longer), shortly_after)
        if unclear is not None:
            self.doubt = Doubt(Cause.UNCLEAR, unclear)
        try:
            with_proof = self._enclosed(found)
        except CheckInterruptedError:
            if unclear is None:  # two methods agree: that is enough
                return found
            raise
        if with_proof is not None or unclear is None:
            return with_proof or found
        self.unclear.append(found)
        return None

    def _enclosed(self, found: Counterexample) -> Counterexample | None:
        """The counterexample with proofs, if there are any."""
        objective, claim = self.objective, self.objective.claim
        if not isinstance(claim, Property):
            return None
        given = (objective.automaton, claim, found.recipe, found.trace, self.attempt.allowance)
        proofs = [proof for prove in self.rigorous if (proof := prove(*given)) is not None]
        if not proofs:
            return None
        return replace(found, confirmations=(*found.confirmations, *proofs))

    def proved(self, found: Counterexample) -> Counterexample | None:
        """The counterexample with a proof, where its way is not clear and none was tried yet."""
        rigorous, claim = self.rigorous, self.objective.claim
        tried = enclosed_at_length in rigorous or (enclosed in rigorous and _is_short(found.trace))
        if tried or not isinstance(claim, Property):
            return None
        automaton, allowance = self.objective.automaton, self.attempt.allowance
        proof = enclosed_at_length(automaton, claim, found.recipe, found.trace, allowance)
        if proof is None:
            return None
        return replace(found, confirmations=(*found.confirmations, proof))


def _ended(objective: Objective, recipe: Recipe) -> Iterator[Recipe]:
    """The run; and the run ended sooner and sooner after the violation, for what comes later (a
    pole, a jump on which two methods do not agree, errors that grow) says nothing about it."""
    yield recipe
    time = objective.violation_time(recipe, objective.run(recipe))
    if time is not None:
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
    objective: Objective, recipe: Recipe, confirmations: tuple[Confirmation, ...]
) -> Counterexample:
    final, trace = _final(objective, replace(recipe, method=Adams(rtol=1e-9, atol=1e-12)))
    violation = min(c.violation for c in confirmations)
    time = objective.violation_time(final, trace)
    return Counterexample(
        trace, final, trace.end if time is None else time, violation, confirmations
    )


def _final(objective: Objective, recipe: Recipe) -> tuple[Recipe, Trace]:
    """The recipe of a violating run for a file, and the run: it ends at the violation, if that is
    one of a property and of this run."""
    claim = objective.claim
    stops = isinstance(claim, Property)
    final = replace(
        recipe,
        stop_on_violation=stops,
        claim=claim.name if isinstance(claim, Property) else None,
        formula=None if isinstance(claim, Property) else claim.text,
    )
    trace = objective.run(final, stop=stops)
    if stops and trace.outcome.ending is not Ending.VIOLATION:
        final = replace(final, stop_on_violation=False)
        trace = objective.run(final)
    return final.with_decisions(trace.decisions), trace
