"""From a run that seems to violate a claim to a counterexample that can be shown.

`confirm` repeats the run, decision by decision, with two methods at tight tolerance: both
must violate the claim, by more than ten times what they differ and than what rounding does (seen
by runs from states beside it, `simulate.nudged_run`), and both traces must be runs of the
automaton (`simulate.monitoring.run_check`). `Shrinker` makes the run simple: fewest switches,
constant signals, round numbers, short. Where an enclosure of the run can be computed, the
violation is proved as well.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from models.automaton import Automaton, Property
from models.trace import Ending, Trace
from models.verdict import Confirmation
from simulate.inputs.signals import Formula, Lines, Signal, Steps
from simulate.nudged_run import NUDGE
from simulate.policy import Policy, Switching
from simulate.recipe import Recipe
from simulate.run import Given
from simulate.search.objective import SAFETY, Objective, magnitude
from simulate.stepping.methods import Adams, Method, Taylor

TOLERANCES = ((1e-10, 1e-12), (1e-9, 1e-11), (1e-8, 1e-10))
"""Relative and absolute tolerances of repetitions, the tightest first. A run that rests on
a boundary may need a wider one: below the rounding of its guards no event can be placed."""

CLEAR = 1e-3
MAX_STEPS = 20_000
"""Of a repetition; beyond that it takes longer than it is worth."""

SHORTLY = 1e-3
"""So long after a violation, relative to 1 + t, a run must still be clear: it may begin where a
boundary is touched."""

FEW_JUMPS, FEW_VARIABLES = 2, 8
"""A run within these limits is enclosed in seconds."""

Rigorous = Callable[[Automaton, Property, Recipe, Trace], Confirmation | None]
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


def confirm(objective: Objective, recipe: Recipe) -> tuple[Confirmation, ...]:
    """The repetitions of a run that violate the claim beyond doubt; none if there is any.

    The error is estimated by the difference of the two methods and by that to a run beside
    it, and is at least the tolerance times the size of the numbers in the run.
    """
    for rtol, atol in TOLERANCES:
        methods: tuple[Method, ...] = (
            Taylor(rtol, atol, max_steps=MAX_STEPS),
            Adams(rtol, atol, max_steps=MAX_STEPS),
        )
        found = _repeated(objective, recipe, methods)
        if found:
            return found
    return ()


def _repeated(
    objective: Objective, recipe: Recipe, methods: tuple[Method, ...]
) -> tuple[Confirmation, ...]:
    margins, scale = [], 0.0
    for method in methods:
        trace = objective.run(replace(recipe, method=method))
        margin = objective.score(recipe, trace).margin
        if not margin < 0.0 or objective.problems(recipe, trace):
            return ()
        margins.append(margin)
        scale = max(scale, magnitude(trace))
    finite = all(map(math.isfinite, margins))
    error = max(margins) - min(margins) if finite else 0.0
    error = max(error, methods[0].rtol * scale)
    if -max(margins) <= SAFETY * error:
        return ()
    error = max(error, _rounding(objective, replace(recipe, method=methods[0]), margins[0]))
    if -max(margins) <= SAFETY * error:
        return ()
    return tuple(
        Confirmation(f"{_name(method)}: {_by(-m, error)}", -m)
        for method, m in zip(methods, margins, strict=True)
    )


def _rounding(objective: Objective, recipe: Recipe, margin: float) -> float:
    """What rounding may do to the margin: both methods round alike in resets, so this is how much
    it changes from a start that is moved by a few units in the last place. Of both directions the
    better counts, for one of them may leave a border that the run begins on."""
    changes = []
    for share in (NUDGE, -NUDGE):
        beside = objective.score(recipe, objective.run_beside(recipe, share)).margin
        changes.append(0.0 if beside == margin else abs(beside - margin))
    return min(changes)


def _name(method: Method) -> str:
    kind = "Adams" if isinstance(method, Adams) else "Taylor series"
    return f"repeated with the {kind} method at rtol {method.rtol:g}"


def _by(violation: float, error: float) -> str:
    if math.isinf(violation):
        return "violated"
    return f"violated by {violation:.6g}, error about {error:.1g}"


def _magnitude_at(trace: Trace, t: float) -> float:
    values = trace.segment_at(t).state(t)
    return max((abs(v) for v in values if math.isfinite(v)), default=1.0)


class Shrinker:
    """Simplifies a violating run step by step; every step is a simulation.

    A simplification is kept if the violation stays clear: a quarter of the first one, or
    `CLEAR` of the numbers in the run.
    """

    def __init__(
        self, objective: Objective, recipe: Recipe, budget: int = 250, keep_policy: bool = False
    ):
        self.objective, self.recipe = objective, recipe
        self.left, self.keep_policy = budget, keep_policy
        trace = objective.run(recipe)
        self.first = objective.violation_time(recipe, trace) or trace.end
        clear = CLEAR * max(1.0, _magnitude_at(trace, self.first))
        self.needed = -clear
        if not self._cut():
            margin = objective.score(recipe, trace).margin
            self.needed = -min(-0.25 * margin, clear) if math.isfinite(margin) else -math.inf

    def accepts(self, candidate: Recipe) -> bool:
        """Whether the candidate still violates clearly; it is then taken."""
        if self.left <= 0 or candidate == self.recipe:
            return False
        self.left -= 1
        try:
            margin = self.objective.evaluate(candidate).margin
        except (OverflowError, ZeroDivisionError):
            return False
        if margin <= self.needed and margin < 0.0:
            self.recipe = candidate
            return True
        return False

    def shrink(self) -> Recipe:
        """The simplest run found."""
        for candidate in self._policies() if not self.keep_policy else ():
            if self.accepts(candidate):
                break
        for name in self.recipe.inputs:
            self._simplify_signal(name)
        self._round("initial")
        self._round("parameters")
        self._round_script()
        self._cut_again()
        return self.recipe

    def _cut(self) -> bool:
        """End the run soon after the violation; whether that was possible."""
        for extra in (0.02, 0.1, 0.5):
            until = _rounded_up(self.first * (1 + extra) + 1e-3 * self.recipe.until)
            if until < self.recipe.until and self.accepts(replace(self.recipe, until=until)):
                return True
        return False

    def _cut_again(self) -> None:
        trace = self.objective.run(self.recipe)
        self.first = self.objective.violation_time(self.recipe, trace) or trace.end
        self._cut()

    def _policies(self) -> Iterator[Recipe]:
        """The same run with simpler rules for switching."""
        policy = self.recipe.policy
        for switching in (Switching.EARLIEST, Switching.LATEST):
            if policy.switching is switching:
                return
            simple: Policy = replace(policy, switching=switching, script=())
            yield replace(self.recipe, policy=simple)

    def _with_signal(self, name: str, signal: Signal) -> Recipe:
        return replace(self.recipe, inputs={**self.recipe.inputs, name: signal})

    def _simplify_signal(self, name: str) -> None:
        signal = self.recipe.inputs[name]
        if isinstance(signal, Formula):
            return
        low, high = self._ranges().get(name, (min(signal.values), max(signal.values)))
        levels = (low, high, 0.5 * (low + high), *map(_short, signal.values[:3]))
        for level in dict.fromkeys(v for v in levels if low <= v <= high):
            if self.accepts(self._with_signal(name, Steps((0.0,), (level,)))):
                return
        self._drop_pieces(name)
        for i in range(len(self.recipe.inputs[name].values)):  # type: ignore[union-attr]
            current = self.recipe.inputs[name]
            assert not isinstance(current, Formula)
            for value in _simpler(current.values[i], low, high):
                values = (*current.values[:i], value, *current.values[i + 1 :])
                if self.accepts(self._with_signal(name, type(current)(current.times, values))):
                    break

    def _drop_pieces(self, name: str) -> None:
        """Leave out control points that are not needed, the last ones first."""
        i = len(self.recipe.inputs[name].values) - 1  # type: ignore[union-attr]
        while i >= 1:
            current = self.recipe.inputs[name]
            assert isinstance(current, Steps | Lines)
            times = (*current.times[:i], *current.times[i + 1 :])
            values = (*current.values[:i], *current.values[i + 1 :])
            self.accepts(self._with_signal(name, type(current)(times, values)))
            i -= 1

    def _round(self, field: str) -> None:
        """Initial values or parameters with few digits, or at the ends of their ranges."""
        given: Mapping[str, Given] = getattr(self.recipe, field)
        coordinates = self._ranges()
        for name, value in given.items():
            if isinstance(value, str | bool) or float(value) == _short(float(value), 2):
                continue
            low, high = coordinates.get(name, (-math.inf, math.inf))
            for simple in _simpler(float(value), low, high):
                current: Mapping[str, Given] = getattr(self.recipe, field)
                changed = {**current, name: simple}
                if field == "initial":
                    candidate = replace(self.recipe, initial=changed)
                else:
                    candidate = replace(
                        self.recipe, parameters={n: float(v) for n, v in changed.items()}
                    )
                if self.accepts(candidate):
                    break

    def _ranges(self) -> dict[str, tuple[float, float]]:
        from simulate.search.search_space import SearchSpace, Shape

        prepared = self.objective.prepared()
        found: dict[str, tuple[float, float]] = {}
        for index, start in enumerate(prepared.starts()):
            if start.location == self.recipe.location:
                space = SearchSpace(prepared, Shape(1.0, start=index))
                values = (*space.initial.coordinates, *space.parameters)
                for c in (*values, *space.inputs, *space.inclusions):
                    found.setdefault(c.name, (c.low, c.high))
                break
        return found

    def _round_script(self) -> None:
        policy = self.recipe.policy
        if not policy.script:
            return
        for digits in (1, 2, 3):
            script = tuple(min(round(v, digits), 0.999) for v in policy.script)
            simple = replace(policy, script=script)
            if self.accepts(replace(self.recipe, policy=simple)):
                return


def _short(value: float, digits: int = 3) -> float:
    return float(f"{value:.{digits}g}")


def _rounded_up(t: float) -> float:
    """A time with three digits that is not earlier."""
    size = 10.0 ** (math.floor(math.log10(t)) - 2) if t > 0 else 1e-3
    return float(f"{math.ceil(t / size * (1 - 1e-12)) * size:.3g}")


def _simpler(value: float, low: float, high: float) -> Iterator[float]:
    """Simpler numbers near a value, the simplest first; within its range."""
    seen = {value}
    ends = sorted((low, high), key=lambda end: abs(end - value))
    for candidate in (*ends, *(_short(value, digits) for digits in (1, 2, 3, 4))):
        if math.isfinite(candidate) and low <= candidate <= high and candidate not in seen:
            seen.add(candidate)
            yield candidate


def enclosed(
    automaton: Automaton, claim: Property, recipe: Recipe, trace: Trace
) -> Confirmation | None:
    """A proof of the violation by enclosures, if it can be given in little time."""
    few = len(trace.jumps) <= FEW_JUMPS and len(trace.variables) <= FEW_VARIABLES
    return enclosed_at_length(automaton, claim, recipe, trace) if few else None


def enclosed_at_length(
    automaton: Automaton, claim: Property, recipe: Recipe, trace: Trace
) -> Confirmation | None:
    """A proof of the violation by enclosures, if it can be given."""
    from simulate.validated.validated_run import describe, validated_run

    for rtol, atol in TOLERANCES[:2]:
        run = validated_run(automaton, recipe, claim, Taylor(rtol, atol))
        if run is not None and run.violation is not None and run.depth > 0.0:
            how = f"enclosed by ball arithmetic: {describe(run).rstrip('.')}"
            return Confirmation(how, run.depth, rigorous=True)
    return None


def counterexample(
    objective: Objective, recipe: Recipe, rigorous: tuple[Rigorous, ...] = (enclosed,)
) -> Counterexample | None:
    """Confirm a violating run and shrink it; less simple runs are the second choices."""
    recipe = Shrinker(objective, recipe).recipe
    sound = next((r for r in _ended(objective, recipe) if confirm(objective, r)), None)
    if sound is None:
        return None
    for candidate in _simplified(objective, sound):
        confirmations = confirm(objective, candidate)
        if confirmations:
            found = _shown(objective, candidate, confirmations, rigorous)
            if _stands(objective, found):
                return found
    return None


def _stands(objective: Objective, found: Counterexample) -> bool:
    """Whether the violation is proved, or the way to it is clear."""
    if objective.violation_time(found.recipe, found.trace) is None:
        return False
    if any(c.rigorous for c in found.confirmations):
        return True
    shortly_after = found.time + SHORTLY * (1.0 + found.time)
    if objective.unclear(found.recipe, shortly_after) is None:
        return True
    claim = objective.claim
    return isinstance(claim, Property) and (
        enclosed_at_length(objective.automaton, claim, found.recipe, found.trace) is not None
    )


def _ended(objective: Objective, recipe: Recipe) -> Iterator[Recipe]:
    """The run; and where it does not reach its horizon (a pole, a singular end, which two
    methods may not agree on), the run ended sooner and sooner after the violation."""
    yield recipe
    trace = objective.run(recipe)
    time = objective.violation_time(recipe, trace)
    if trace.outcome.ending is not Ending.HORIZON and time is not None:
        for share in (0.1, 0.01, 0.001):
            yield replace(recipe, until=time + share * (recipe.until - time))


def _simplified(objective: Objective, recipe: Recipe) -> Iterator[Recipe]:
    """The run in simpler forms, and as it is."""
    yield Shrinker(objective, recipe).shrink()
    yield Shrinker(objective, recipe, keep_policy=True).shrink()
    yield recipe


def _shown(
    objective: Objective,
    recipe: Recipe,
    confirmations: tuple[Confirmation, ...],
    rigorous: tuple[Rigorous, ...],
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
            proved = prove(objective.automaton, claim, final, trace)
            if proved is not None:
                confirmations = (*confirmations, proved)
    violation = min(c.violation for c in confirmations if not c.rigorous)
    time = objective.violation_time(final, trace)
    return Counterexample(
        trace, final, trace.end if time is None else time, violation, confirmations
    )
