"""Runs: the semantics of the automaton over the stepping core.

`simulate` makes one run; `prepare` once and `Prepared` objects make many cheap. A run
alternates stretches of continuous time with jumps:

- A property's bad states, the guards of all edges and the parts of the invariant are
  watched; the first that happens ends the stretch, several at once are resolved in the order
  properties, edges in source order, invariant.
- An urgent edge is taken at once. Another edge may be taken from the moment its guard is
  true: the policy says how long it waits. Where the invariant is about to be violated, an
  inclusion gives way if it can (a derivative in [l, u] takes the value that stays on the
  boundary); else an enabled edge is taken; else the run blocks, and says why.
- Everything undetermined is drawn from one recorded stream of decisions.

Every run ends with an `Outcome`; nothing here raises for what a model does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random

from workbench.models.automaton import Automaton
from workbench.models.source import Diagnostic, ModelError
from workbench.models.trace import Ending, Outcome, Trace
from workbench.simulate.effort import spend_on_start
from workbench.simulate.inputs.signals import Signal, constant_signal, form_of
from workbench.simulate.loop.advance import follow
from workbench.simulate.loop.begin import Adjust, begin, check_names, parameters_of
from workbench.simulate.loop.begin import Given as Given
from workbench.simulate.loop.instant import RunEnded, Scenario
from workbench.simulate.place import Prepared
from workbench.simulate.policy import Policy
from workbench.simulate.stepping.methods import Adams, Method, check_method
from workbench.simulate.stepping.program import ExternalError
from workbench.simulate.stepping.program import Lipschitz as Lipschitz

DEFAULT_METHOD = Adams()
DEFAULT_POLICY = Policy()


def prepare(
    automaton: Automaton,
    *,
    inputs: Mapping[str, Signal | float] | None = None,
    externs: Mapping[str, Callable[..., float]] | None = None,
) -> Prepared:
    """Compile what can be compiled before a run; give it to `simulate` in place of the
    automaton. `inputs` fixes the form of the signals (see `Prepared`)."""
    return Prepared(automaton, _signals(inputs), externs)


class Preparation:
    """A model that is made ready when it is first run, and again where inputs are fed in another
    form: who runs it with one start after the other waits for the runs only."""

    def __init__(self, automaton: Automaton):
        self._automaton = automaton
        self._made: tuple[dict[str, object], Prepared] | None = None

    def prepared(self, inputs: Mapping[str, Signal]) -> Prepared:
        """The model ready for these signals."""
        forms = {name: form_of(signal) for name, signal in inputs.items()}
        if self._made is None or self._made[0] != forms:
            self._made = forms, prepare(self._automaton, inputs=inputs)
        return self._made[1]


def simulate(
    automaton: Automaton | Prepared,
    *,
    until: float,
    method: Method = DEFAULT_METHOD,
    policy: Policy = DEFAULT_POLICY,
    inputs: Mapping[str, Signal | float] | None = None,
    initial: Mapping[str, Given] | None = None,
    location: str | None = None,
    parameters: Mapping[str, float] | None = None,
    generator: Random | None = None,
    seed: int = 0,
    externs: Mapping[str, Callable[..., float]] | None = None,
    stop_on_violation: bool = True,
    max_jumps: int = 100_000,
    dense: bool = True,
    sliding: bool | None = None,
) -> Trace:
    """One run from time 0 to `until`.

    `initial` fixes initial values, `location` the initial location, `parameters` uncertain
    constants, `inputs` signals (a number is a constant signal). Randomness comes from
    `generator`, or from a new one with the given seed. Without `dense` the trace has no more
    than the last state of the run, beside its events.

    Where the flows on both sides of a switching surface lead onto it, the run slides along it
    (`simulate.surfaces`): by default on edges that ask for it, with `sliding` everywhere (also
    where a condition inside a flow changes), without nowhere.

    Guards that call `externs` are looked at a thousand times in a run, and where one changes
    its truth between two looks the place is found by bisection; a `Lipschitz` one is enclosed,
    and no change is overlooked.
    """
    if not 0.0 <= until < float("inf"):
        raise ModelError(
            Diagnostic("bad-horizon", f"a run ends at a finite time from 0 on, not at {until}")
        )
    check_method(method)
    signals = _signals(inputs)
    prepared = (
        automaton if isinstance(automaton, Prepared) else Prepared(automaton, signals, externs)
    )
    scenario = Scenario.of(
        prepared,
        until,
        method,
        policy,
        signals,
        generator or Random(seed),
        whole=dense,
        stop_on_violation=stop_on_violation,
        max_jumps=max_jumps,
        sliding=sliding,
    )
    return run_from(scenario, initial or {}, location, parameters or {})


def run_from(
    scenario: Scenario,
    initial: Mapping[str, Given],
    location: str | None,
    parameters: Mapping[str, float],
    adjust: Adjust | None = None,
) -> Trace:
    """The run of a scenario from a start that is found, and adjusted if that is asked for."""
    spend_on_start()
    check_names(scenario, initial, parameters)
    decisions = scenario.first_decisions()
    chosen = parameters_of(scenario, parameters, decisions)
    try:
        now = begin(scenario, initial, location, chosen, decisions, adjust)
    except RunEnded as ended:
        return no_run(scenario, chosen, ended.outcome)
    except ExternalError as failure:
        return no_run(scenario, chosen, failed_at_start(failure))
    return follow(now)


def failed_at_start(failure: ExternalError) -> Outcome:
    """How a run ends that did not begin since an external function failed."""
    return Outcome(Ending.EXTERNAL_FAILED, 0.0, f"At t = 0 {failure}.", failure.name)


def no_run(scenario: Scenario, parameters: Mapping[str, float], outcome: Outcome) -> Trace:
    """The trace of a run that did not begin."""
    base = scenario.prepared.base
    return Trace(
        base.name,
        tuple(v.name for v in base.variables),
        (),
        (),
        outcome,
        decisions=tuple(scenario.numbers.known),
        parameters=dict(parameters),
        method=repr(scenario.method),
    )


def _signals(inputs: Mapping[str, Signal | float] | None) -> dict[str, Signal]:
    return {
        name: constant_signal(float(s)) if isinstance(s, int | float) else s
        for name, s in (inputs or {}).items()
    }
