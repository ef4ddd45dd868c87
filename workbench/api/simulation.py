"""How runs are made: one by one or many, here or in worker processes, proved, and made again."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.api.asked import RequestError, path_of, read_formula
from workbench.api.notebook import block
from workbench.models.counting import counted

if TYPE_CHECKING:
    from fractions import Fraction

    from workbench.api.runs import Run
    from workbench.models.automaton import Automaton
    from workbench.models.trace import Trace as Trace
    from workbench.models.trace_boxes import Box
    from workbench.simulate.many_runs import RunMaker
    from workbench.simulate.many_runs import Summary as Summary
    from workbench.simulate.monitoring.stl import Formula
    from workbench.simulate.recipe import Recipe
    from workbench.simulate.run import Preparation
    from workbench.simulate.stepping.externs import Externs
    from workbench.simulate.stepping.methods import Method
    from workbench.simulate.validated.validated_run import ValidatedRun


@dataclass(frozen=True, eq=False)
class Simulation:
    """A way to make runs of a model, which a seed completes: nothing is made yet.

    `run(seed)` is a run. Where many are wanted and little of each, `summaries` makes them, in
    worker processes if several are asked for.
    """

    automaton: Automaton = field(repr=False)
    recipe: Recipe = field(repr=False)
    runs: int = 1
    externs: Externs = field(default_factory=dict, repr=False)
    preparation: Preparation | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        self._formula  # noqa: B018 (what is no formula is refused at once)

    def __getstate__(self) -> dict[str, object]:
        """What travels to other processes: without what is prepared for this one."""
        own = {field.name: getattr(self, field.name) for field in fields(self)}
        return {**own, "preparation": None}

    @property
    def seeds(self) -> range:
        """The seeds of the runs."""
        return range(self.recipe.seed, self.recipe.seed + self.runs)

    @property
    def until(self) -> float:
        """The end of the runs."""
        return self.recipe.until

    @property
    def claim(self) -> str | None:
        """The property that a recorded run violates."""
        return self.recipe.claim

    @cached_property
    def looks_ahead(self) -> float:
        """How long runs must be to decide the formula; infinite if no length is sure to, and 0
        without a formula."""
        return 0.0 if self._formula is None else self._formula.horizon

    @property
    def notes(self) -> tuple[str, ...]:
        """What may surprise: inputs that have no range to choose from and are fed nothing, and a
        formula that looks beyond the runs."""
        found = list(self._unfed())
        if self.until < self.looks_ahead < math.inf:
            found.append(
                f"the formula looks up to t = {self.looks_ahead:g}, the runs end at"
                f" t = {self.until:g}: what comes later counts as satisfied"
                f" (--until {self.looks_ahead:g} decides it)"
            )
        return tuple(found)

    def trace(self, seed: int) -> Trace:
        """What happens in the run of a seed."""
        with self._provided():
            return self._maker.trace(seed)

    def run(self, seed: int) -> Run:
        """The run of a seed."""
        from workbench.api.runs import Run

        trace = self.trace(seed)
        judged = None if self._formula is None else self.summary(seed, trace).formula
        return Run(
            trace,
            seed,
            formula=judged,
            recipe=replace(self.recipe, seed=seed),
            model_sha256=self.automaton.sha256,
            automaton=self.automaton,
            externs=self.externs,
            clocks=self._maker.clocks(seed),
        )

    def summary(self, seed: int, trace: Trace | None = None) -> Summary:
        """The run of a seed in a few numbers; its trace may be given."""
        with self._provided():
            return self._maker.summary(seed, trace)

    def summaries(self, seeds: range, workers: int = 1) -> Iterator[Summary]:
        """The runs of these seeds, in their order, each in a few numbers."""
        from workbench.simulate.many_runs import in_workers

        if workers == 1 or self.externs:  # worker processes do not know functions from outside
            yield from map(self.summary, seeds)
        else:
            yield from in_workers(self._asked, self.recipe, self._formula, seeds, workers)

    def validated(self, seed: int, trace: Trace | None = None) -> Validated:
        """The run of a seed followed by rigorous enclosures, as far as that goes."""
        from workbench.simulate.validated.validated_run import validated_run

        recipe = replace(self.recipe, seed=seed)
        with self._provided():
            decisions = (trace or self._maker.trace(seed)).decisions
            return Validated(validated_run(self._asked, recipe.with_decisions(decisions)))

    def recording(self, seed: int, trace: Trace) -> str:
        """A run as the text of a file that is made again by `Model.replay`."""
        from workbench.simulate.recipe import recorded

        return recorded(trace, replace(self.recipe, seed=seed), self.automaton.sha256)

    def __repr__(self) -> str:
        return (
            f"<Simulation of {self.automaton.name}: {counted(self.runs, 'run')}"
            f" until {self.until:g}>"
        )

    # How it is done

    @contextmanager
    def _provided(self) -> Iterator[None]:
        if not self.externs:
            yield
            return
        from workbench.simulate.stepping.externs import provided

        with provided(self.externs):
            yield

    @cached_property
    def _formula(self) -> Formula | None:
        text = self.recipe.formula
        return None if text is None else read_formula(self.automaton, text)

    @cached_property
    def _asked(self) -> Automaton:
        """The model; a counterexample ends where the property fails that it was found for."""
        claim = next((p for p in self.automaton.properties if p.name == self.claim), None)
        if claim is None:
            return self.automaton
        from workbench.simulate.search.objective import focused

        return focused(self.automaton, claim)

    @cached_property
    def _maker(self) -> RunMaker:
        from workbench.simulate.many_runs import RunMaker

        at_hand = self.preparation if self._asked is self.automaton else None
        return RunMaker(self._asked, self.recipe, self._formula, at_hand)

    def _unfed(self) -> Iterator[str]:
        for given in self.automaton.inputs:
            bounds = [b for b in (given.low, given.high) if b is not None]
            if given.name in self.recipe.inputs or len(bounds) == 2 or not given.type.is_numeric:
                continue
            value = f"its bound {float(bounds[0]):g}" if bounds else "0"
            known = "has no other bound" if bounds else "has no bounds"
            yield (
                f"the input `{given.name}` {known} and no signal, so it is {value} throughout"
                f" (--input {given.name}=SIGNAL feeds it)"
            )


@dataclass(frozen=True)
class Validated:
    """How far a run was followed by enclosures in exact arithmetic of balls: they hold the run
    with all its jumps, whatever the rounding of simulation."""

    found: ValidatedRun | None = field(repr=False)

    @property
    def is_complete(self) -> bool:
        """Whether the run was followed to its end; where there is no run, there is no more."""
        return self.found is None or self.found.complete

    @property
    def is_bad(self) -> bool:
        """Whether it is proved that the run violates a property."""
        return self.found is not None and self.found.violation is not None

    @property
    def boxes(self) -> Sequence[Box]:
        """The enclosures, rounded outwards: from when to when, and the bounds of variables."""
        from workbench.simulate.validated.validated_run import boxes

        return () if self.found is None else boxes(self.found)

    @property
    def data(self) -> dict[str, Any] | None:
        """Everything as plain data; None where there is no run."""
        from workbench.simulate.validated.validated_run import as_data

        return None if self.found is None else as_data(self.found)

    def __str__(self) -> str:
        from workbench.simulate.validated.validated_run import describe

        return "there is no run to validate." if self.found is None else describe(self.found)

    def __repr__(self) -> str:
        return f"<Validated: {self}>"

    def _repr_html_(self) -> str:
        return block(str(self))


def recorded_run(
    automaton: Automaton,
    text: str,
    externs: Externs,
    *,
    method: Method | None = None,
    until: float | None = None,
    sliding: bool | None = None,
) -> Simulation:
    """What makes the run of a recording again, decision by decision; by another method, for
    another time or with other sliding, where these are given. Raises ModelError where the text is
    no recording, and RequestError where it is one of another model."""
    from workbench.simulate.recipe import read_recorded

    trace, recipe, sha256 = read_recorded(text)
    if recipe is None:
        raise RequestError("the run says what happened, but not how to make it again", "replay")
    if sha256 != automaton.sha256:
        given = " ".join(f"-P {name}={value}" for name, value in recipe.model_parameters.items())
        raise RequestError(
            f"it is no run of {automaton.name}: it was made from"
            f" {trace.model}{' with ' + given if given else ''}, and another model, another version"
            " of it or other parameters have other runs",
            "replay",
        )
    changes = {"method": method, "until": until, "sliding": sliding}
    recipe = replace(recipe, **{n: v for n, v in changes.items() if v is not None})  # type: ignore[arg-type]
    return Simulation(automaton, recipe, externs=externs)


@dataclass(frozen=True)
class RecordedModel:
    """The model of a recording: what it is called, the values of parameters that it was loaded
    with, and its fingerprint."""

    name: str
    parameters: Mapping[str, Fraction]
    sha256: str


def recorded_model(text: str) -> RecordedModel:
    """Which model a recording is of. Raises ModelError where the text is no recording."""
    from workbench.simulate.recipe import read_recorded

    trace, recipe, sha256 = read_recorded(text)
    return RecordedModel(trace.model, {} if recipe is None else recipe.model_parameters, sha256)


def read_text(path: str | Path, argument: str) -> str:
    """The content of a file that is given as this argument. Raises RequestError."""
    file = path_of(argument, path)
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is not text"
        raise RequestError(f"cannot read {str(path)[:200]!r}: {reason}", argument) from error
