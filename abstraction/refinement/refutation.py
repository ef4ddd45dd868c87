"""Looking for a run of the detailed automaton that the abstract one cannot match.

Runs are simulated under extreme and random choices, also from the states at which obligations
fail; each is matched against the abstract automaton. A mismatch counts only if it is found
again on a repetition of the run by another method of integration, and if nothing speaks against
the repetition being a run of the detailed automaton (`simulate.monitoring.run_check`). And the run
must be clear up to the mismatch (`simulate.monitoring.clear_runs`): a simulator takes guards and
invariants within its tolerance, so that it may take an edge that the automaton cannot take.
What is not clear is followed by enclosures (`simulate.validated`), which prove every stay and
jump of a run, up to the mismatch. A run that is neither counts for nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random

from workbench.abstraction.refinement.membership import Matcher
from workbench.abstraction.refinement.outcome import Refuted
from workbench.abstraction.refinement.time_left import is_over
from workbench.models.automaton import INT, Automaton, names_of
from workbench.models.smt.solver import Scalar
from workbench.models.source import ModelError
from workbench.models.trace import Trace
from workbench.reach.time_limit import current_deadline
from workbench.simulate.inputs.signals import Signal, constant_signal
from workbench.simulate.monitoring.clear_runs import ClearRuns
from workbench.simulate.place import Prepared
from workbench.simulate.policy import Level, Policy, Switching
from workbench.simulate.run import prepare, simulate
from workbench.simulate.stepping.methods import Adams, Method, Taylor
from workbench.simulate.validated.allowance import Allowance
from workbench.simulate.validated.validated_run import validate

RANDOM_RUNS = 5

FIRST = Adams(rtol=1e-9, atol=1e-12, max_steps=5_000)
SECOND = Taylor(rtol=1e-10, atol=1e-12, max_steps=5_000)
"""The methods of integration; a run that rests on a boundary might take steps without end."""

SHORTLY = 1e-3
"""So long after a mismatch, relative to 1 + t, a run must still be clear."""

FEW_JUMPS, FEW_VARIABLES, STEPS = 4, 8, 2000
"""A run within these limits is enclosed in seconds."""

SHARES = {Level.LOW: 0.0, Level.MID: 0.5, Level.HIGH: 1.0}


@dataclass(frozen=True)
class FailingState:
    """Values of variables and inputs at which an obligation fails; whether they are initial."""

    location: str
    values: Mapping[str, Scalar]
    initial: bool


def find_unmatched_run(
    detailed: Automaton,
    abstract: Automaton,
    observed: Sequence[str],
    states: Sequence[FailingState],
    seed: int = 0,
    thorough: bool = True,
    horizon: float = 10.0,
) -> Refuted | None:
    """A run that no abstract run matches, confirmed by a second integration; or None.

    A few extreme runs are tried first, and more of them if the search is `thorough`; none after
    the end of the time that is given (`reach.time_limit`).
    """
    matcher = Matcher(detailed, abstract, observed)
    common = set(names_of(detailed)) & set(names_of(abstract))
    strict = Matcher(detailed, abstract, tuple(common | set(observed)))
    try:
        prepared = prepare(detailed)
    except ModelError:
        return None
    check = ClearRuns(prepared)
    allowance = Allowance(STEPS, current_deadline())
    for number, attempt in enumerate(_attempts(detailed, states, thorough)):
        if is_over():
            return None
        random_seed = seed * 1_000 + number
        try:
            trace = attempt.run(prepared, horizon, FIRST, random_seed)
            if strict.mismatch(trace) is None:
                continue  # all that both have is matched: a question that is soon answered
            mismatch = matcher.mismatch(trace)
            if mismatch is None:
                continue
            again = attempt.run(prepared, horizon, SECOND, random_seed, trace)
        except (ModelError, ValueError):
            continue
        repeated = matcher.mismatch(again)
        if repeated is None or check.problems(again, attempt.signals):
            continue
        until = max(mismatch.time, repeated.time)
        until += SHORTLY * (1.0 + until)
        if check.unclear(again, attempt.signals, until) is None:
            return Refuted(trace, mismatch, "the run repeated by a Taylor method")
        if _is_enclosed(detailed, again, attempt.signals, until, allowance):
            return Refuted(trace, mismatch, "the run enclosed by ball arithmetic")
    return None


def _is_enclosed(
    detailed: Automaton,
    trace: Trace,
    inputs: Mapping[str, Signal],
    until: float,
    allowance: Allowance,
) -> bool:
    """Whether all stays and jumps of a run are proved, up to a time or its end."""
    events = sum(1 for jump in trace.jumps if jump.time <= until)
    if events > FEW_JUMPS or len(trace.variables) > FEW_VARIABLES:
        return False
    found = validate(detailed, trace, inputs=inputs, allowance=allowance)
    return found.complete or found.reached[0] > until


@dataclass(frozen=True)
class _Attempt:
    """A policy, and what it does not decide: the inputs, and, as far as they are given, initial
    values and the initial location."""

    policy: Policy
    inputs: Mapping[str, float]
    initial: Mapping[str, float] = field(default_factory=dict)
    location: str | None = None

    @property
    def signals(self) -> dict[str, Signal]:
        """The inputs, constant in time."""
        return {name: constant_signal(value) for name, value in self.inputs.items()}

    def run(
        self,
        prepared: Prepared,
        horizon: float,
        method: Method,
        seed: int,
        repeated: Trace | None = None,
    ) -> Trace:
        """The run, by the choices of another one if that is to be repeated."""
        policy = self.policy
        if repeated is not None:
            policy = Policy(policy.switching, policy.level, script=repeated.decisions)
        return simulate(
            prepared,
            until=horizon,
            policy=policy,
            initial=self.initial,
            location=self.location,
            inputs=self.signals,
            generator=Random(seed),
            method=method,
            stop_on_violation=False,
            max_jumps=40,
            sliding=False,
        )


def _attempts(
    detailed: Automaton, states: Sequence[FailingState], thorough: bool
) -> Iterator[_Attempt]:
    """Choices for runs: first those at which obligations fail."""
    numeric = {v.name for v in detailed.variables if v.type.is_numeric}
    read = {i.name for i in detailed.inputs}
    middle = Policy(Switching.LATEST if thorough else Switching.EARLIEST, Level.MID)
    for state in states:
        inputs = _levels(detailed, 0.5) | _numbers(state.values, read)
        if state.initial and not thorough:
            yield _Attempt(middle, inputs, _numbers(state.values, numeric), state.location)
        elif read:
            yield _Attempt(middle, inputs)
    early, late = Switching.EARLIEST, Switching.LATEST
    first = ((early, Level.HIGH), (late, Level.MID), (late, Level.LOW))
    later = ((early, Level.LOW), (early, Level.MID), (late, Level.HIGH))
    for switching, level in later if thorough else first:
        yield _Attempt(Policy(switching, level), _levels(detailed, SHARES[level]))
    for number in range(RANDOM_RUNS if thorough else 0):
        share = Random(number).random()
        yield _Attempt(Policy.random(), _levels(detailed, share))


def _levels(detailed: Automaton, share: float) -> dict[str, float]:
    """A value for every numeric input, at this share of its range; an open side ends 1 from
    the other, or from 0."""
    found = {}
    for given in detailed.inputs:
        if not given.type.is_numeric:
            continue
        low = given.low if given.low is not None else (given.high or 0) - 1
        high = given.high if given.high is not None else low + 1
        value = float(low) + share * float(high - low)
        found[given.name] = float(round(value)) if given.type == INT else value
    return found


def _numbers(values: Mapping[str, Scalar], names: set[str]) -> dict[str, float]:
    """The values of some numeric variables."""
    return {n: float(v) for n, v in values.items() if n in names and not isinstance(v, bool | str)}
