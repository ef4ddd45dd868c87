"""Looking for a run of the detailed automaton that the abstract one cannot match.

Runs are simulated under extreme and random choices, also from the states at which obligations
fail; each is matched against the abstract automaton. A mismatch counts only if it is found
again on a repetition of the run by another method of integration.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from random import Random

from abstraction.refinement.membership import Matcher
from abstraction.refinement.outcome import Refuted
from models.automaton import Automaton
from models.proof.simulation_relation import Obligation, ObligationKind
from models.solver import Scalar
from models.source import ModelError
from simulate.methods import Adams, Taylor
from simulate.policy import Level, Policy, Switching
from simulate.run import prepare, simulate

HORIZON = 10.0
RANDOM_RUNS = 5

State = tuple[Obligation, Mapping[str, Scalar]]


def find_unmatched_run(
    detailed: Automaton,
    abstract: Automaton,
    observed: Sequence[str],
    states: Sequence[State],
    seed: int = 0,
    thorough: bool = True,
) -> Refuted | None:
    """A run that no abstract run matches, confirmed by a second integration; or None.

    A few extreme runs are tried first, and more of them if the search is `thorough`.
    """
    matcher = Matcher(detailed, abstract, observed)
    try:
        prepared = prepare(detailed)
    except ModelError:
        return None
    for number, (policy, initial, location) in enumerate(_attempts(detailed, states, thorough)):
        try:
            trace = simulate(
                prepared,
                until=HORIZON,
                policy=policy,
                initial=initial,
                location=location,
                generator=Random(seed * 1_000 + number),
                method=Adams(rtol=1e-9, atol=1e-12),
                stop_on_violation=False,
                max_jumps=40,
                sliding=False,
            )
        except (ModelError, ValueError):
            continue
        mismatch = matcher.mismatch(trace)
        if mismatch is None:
            continue
        again = simulate(
            prepared,
            until=HORIZON,
            policy=Policy(policy.switching, policy.level, script=trace.decisions),
            initial=initial,
            location=location,
            generator=Random(seed * 1_000 + number),
            method=Taylor(rtol=1e-10, atol=1e-12),
            stop_on_violation=False,
            max_jumps=40,
            sliding=False,
        )
        if matcher.mismatch(again) is not None:
            return Refuted(trace, mismatch, "the run repeated by a Taylor method")
    return None


def _attempts(
    detailed: Automaton, states: Sequence[State], thorough: bool
) -> Iterator[tuple[Policy, dict[str, float], str | None]]:
    """Policies with initial values: first those at which obligations fail."""
    numeric = {v.name for v in detailed.variables if v.type.is_numeric}
    for obligation, values in states:
        if obligation.kind is ObligationKind.INITIAL and not thorough:
            start = _start(values, numeric)
            yield Policy(Switching.EARLIEST, Level.MID), start, obligation.location
    early, late = Switching.EARLIEST, Switching.LATEST
    if not thorough:
        for switching, level in ((early, Level.HIGH), (late, Level.MID), (late, Level.LOW)):
            yield Policy(switching, level), {}, None
        return
    for switching, level in ((early, Level.LOW), (early, Level.MID), (late, Level.HIGH)):
        yield Policy(switching, level), {}, None
    for _ in range(RANDOM_RUNS):
        yield Policy.random(), {}, None


def _start(values: Mapping[str, Scalar], numeric: set[str]) -> dict[str, float]:
    """The values before the entry transitions."""
    return {
        n: float(v) for n, v in values.items() if n in numeric and not isinstance(v, bool | str)
    }
