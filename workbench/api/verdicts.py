"""Verdicts as values: the outcome, what it rests on, and ways to check that again.

A verdict here wraps the decision of the engines (`models.verdict`), which is verified only with
a certificate that the trusted checker accepted and falsified only with a run that replays.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from fractions import Fraction
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NoReturn, TypeAlias, overload

from workbench.api.asked import RequestError, by_name, number
from workbench.api.notebook import card
from workbench.api.numbers import Number
from workbench.api.rechecking import Rechecked, rechecked
from workbench.api.runs import Run
from workbench.api.work import Cancel, working
from workbench.models.counting import counted
from workbench.models.verdict import Confirmation, Falsified, Unknown, Verified

if TYPE_CHECKING:
    import networkx

    from workbench.abstraction.unreached import Unreached
    from workbench.api.search import Search
    from workbench.models.automaton import Automaton
    from workbench.models.expressions.expression import Expression
    from workbench.models.model import Model as Loaded
    from workbench.simulate.monitoring.stl import Formula
    from workbench.simulate.stepping.externs import Externs

Outcome: TypeAlias = Literal["verified", "falsified", "unknown"]
Cell: TypeAlias = "tuple[Expression, ...]"


@dataclass(frozen=True)
class Invariant(Mapping[str, tuple[Cell, ...]]):
    """What every reachable state satisfies: for each location some cells, each of which is a
    tuple of conditions over the model's variables; a state lies in one of the cells. The numbers
    are exact; only the text rounds them."""

    cells: Mapping[str, tuple[Cell, ...]]

    def __getitem__(self, location: str) -> tuple[Cell, ...]:
        return self.cells[location]

    def __iter__(self) -> Iterator[str]:
        return iter(self.cells)

    def __len__(self) -> int:
        return len(self.cells)

    def contains(self, location: str, values: Mapping[str, Number]) -> bool:
        """Whether a state lies in the invariant, decided in exact arithmetic. Raises ValueError
        where a variable that matters has no value."""
        from workbench.models.expressions.evaluation import evaluate
        from workbench.models.expressions.traversal import free_variables

        point = {name: number(name, value) for name, value in by_name("values", values).items()}
        wanted = free_variables(*(c for cell in self.cells.get(location, ()) for c in cell))
        if missing := sorted(wanted - point.keys()):
            raise RequestError(f"values are needed for {', '.join(missing)}", "values")
        return any(
            all(evaluate(condition, point) is True for condition in cell)
            for cell in self.cells.get(location, ())
        )

    def lines(self) -> Iterator[tuple[str, list[str]]]:
        """Each cell as the words for its place and its inequalities, numbers rounded."""
        from workbench.reports.words.inequalities import readable

        for location, cells in self.cells.items():
            for place, cell in enumerate(cells, start=1):
                part = f", part {place} of {len(cells)}" if len(cells) > 1 else ""
                yield f"{location}{part}", [readable(condition) for condition in cell]

    def __str__(self) -> str:
        lines: list[str] = []
        for place, inequalities in self.lines():
            lines.append(f"{place}:")
            lines += [f"  {inequality}" for inequality in inequalities] or ["  every state"]
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<Invariant: {counted(len(self), 'location')}>"

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr style='vertical-align:top'><th style='text-align:left'>{escape(place)}</th>"
            f"<td style='text-align:left;font-family:monospace;white-space:pre'>"
            f"{escape(chr(10).join(inequalities) or 'every state')}</td></tr>"
            for place, inequalities in self.lines()
        )
        return f"<table>{rows}</table>"


@dataclass(frozen=True)
class Counterexample:
    """A run that violates a claim, and the independent repetitions that confirm it."""

    run: Run
    confirmations: tuple[Confirmation, ...]
    automaton: Automaton = field(repr=False)
    claim: str | Formula = field(repr=False)
    recording: str = field(repr=False)
    externs: Externs = field(repr=False, default_factory=dict)

    @property
    def time(self) -> float:
        """When the run violates the claim."""
        return self.run.trace.outcome.time

    def replay(self, method: str | None = None, rtol: float = 1e-9, atol: float = 1e-11) -> Run:
        """The run made again, decision by decision; by another method, if one is named."""
        from workbench.api.choices import stepping_method
        from workbench.api.simulation import recorded_run

        other = None if method is None else stepping_method(method, rtol, atol)
        how = recorded_run(self.automaton, self.recording, self.externs, method=other)
        return how.run(how.recipe.seed)

    def plot(self, *names: str, axes: Any = None, **style: Any) -> Any:
        """Draw the run with matplotlib."""
        return self.run.plot(*names, axes=axes, **style)

    def save(self, path: str | Path) -> Path:
        """Write a file that `Model.replay` and `workbench simulate --replay` repeat."""
        from workbench.api.saving import save

        return save(path, self.recording)

    def __repr__(self) -> str:
        sure = "proved" if any(c.rigorous for c in self.confirmations) else "confirmed"
        return f"<Counterexample at time {self.time:.6g}, {sure}>"

    def _repr_html_(self) -> str:
        return self.run._repr_html_()


GRAPHS = (".json", ".dot", ".svg")
"""Files that hold abstract states."""


@dataclass(frozen=True, eq=False)
class AbstractStates:
    """The states and steps that predicate abstraction looked at, as a graph."""

    graph: networkx.MultiDiGraph = field(repr=False)

    def text(self, form: str) -> str:
        """A picture (`.svg`), for Graphviz (`.dot`), or plain data (`.json`)."""
        from workbench.reports.pictures.abstract_graph import WRITERS

        if form.lower() not in WRITERS:
            raise ValueError(f"a graph is saved as {', '.join(GRAPHS)}, not as {form!r}")
        return WRITERS[form.lower()](self.graph)

    def save(self, path: str | Path) -> Path:
        """Write the graph, in the form of the file's ending."""
        from workbench.api.saving import save

        return save(path, self.text(Path(path).suffix))

    def __repr__(self) -> str:
        return f"<AbstractStates: {counted(len(self.graph), 'state')}>"

    def _repr_html_(self) -> str:
        return self.text(".svg")


@dataclass(frozen=True)
class Verdict:
    """What is known about one property of a model, and why.

    A verdict has no truth value, for `unknown` is neither: ask `is_verified` or `outcome`.
    """

    decision: Verified | Falsified | Unknown = field(repr=False)
    model: Loaded = field(repr=False)
    externs: Externs = field(repr=False, default_factory=dict)
    formula: Formula | None = field(repr=False, default=None)
    blocking: str = field(repr=False, default="")
    """What keeps runs from going on, in words: claims hold of runs that block for want of
    behaviour. Empty where nothing was seen."""
    seed: int = field(repr=False, default=0)
    abstract_states: AbstractStates | None = field(repr=False, default=None)
    """What predicate abstraction looked at, if it took part."""
    search: Search | None = field(repr=False, default=None)
    """What a search for a violating run saw, where there was no more than that (`falsify`)."""

    @property
    def name(self) -> str:
        """The property, or the text of the formula."""
        return self.decision.claim

    @property
    def outcome(self) -> Outcome:
        """`verified`, `falsified` or `unknown`."""
        if isinstance(self.decision, Verified):
            return "verified"
        return "falsified" if isinstance(self.decision, Falsified) else "unknown"

    @property
    def is_verified(self) -> bool:
        """Whether the property is proved, as far as `scope` says."""
        return self.outcome == "verified"

    @property
    def is_falsified(self) -> bool:
        """Whether a run violates the property."""
        return self.outcome == "falsified"

    @property
    def scope(self) -> str:
        """For how long the verdict speaks, in words."""
        from workbench.reports.data.claim_words import scope

        return scope(self.decision)

    @property
    def horizon(self) -> Fraction | None:
        """The time up to which a verified property is proved; None for all time."""
        return self.decision.horizon if isinstance(self.decision, Verified) else None

    @property
    def method(self) -> str:
        """The method that decided."""
        return self.decision.method

    @property
    def seconds(self) -> float:
        """How long it took."""
        return self.decision.effort.total

    @property
    def reason(self) -> str:
        """Why the property is unknown; empty if it is not."""
        return self.decision.reason if isinstance(self.decision, Unknown) else ""

    @property
    def advice(self) -> str:
        """What to try where it is unknown."""
        return self.decision.advice if isinstance(self.decision, Unknown) else ""

    @property
    def known(self) -> tuple[str, ...]:
        """What is known where it is unknown: weaker results, each a sentence."""
        return self.decision.known if isinstance(self.decision, Unknown) else ()

    @property
    def headline(self) -> str:
        """The verdict in one line."""
        return f"{self.in_brief} ({self.method}, {self.seconds:.1f} s)"

    @property
    def assumptions(self) -> tuple[str, ...]:
        """What the verdict rests on, in words."""
        from workbench.reports.data.verdict import assumptions

        return tuple(assumptions(self.model))

    @cached_property
    def certificate(self) -> str | None:
        """The proof as the text of a file that `recheck` reads, if there is one."""
        from workbench.models.certificates.standalone import certificate_text

        if not isinstance(self.decision, Verified):
            return None
        return certificate_text(self.model.automaton, self.decision.certificate)

    @property
    def counterexample(self) -> Counterexample | None:
        """The run that violates the property, if there is one."""
        if not isinstance(self.decision, Falsified):
            return None
        from workbench.models.trace_files import to_json
        from workbench.simulate.recipe import read_recorded

        found = self.decision
        recording = found.recording or to_json(found.trace)
        _, recipe, sha256 = read_recorded(recording)
        seed = 0 if recipe is None else recipe.seed
        return Counterexample(
            Run(
                found.trace,
                seed,
                recipe=recipe,
                model_sha256=sha256,
                automaton=self.model.automaton,
                externs=self.externs,
            ),
            found.confirmations,
            self.model.automaton,
            self.formula or found.claim,
            recording,
            self.externs,
        )

    @property
    def evidence(self) -> str | Counterexample | None:
        """The certificate or the counterexample."""
        return self.certificate or self.counterexample

    @property
    def invariant(self) -> Invariant | None:
        """The invariant of a proof for all time, as inequalities over the model's variables;
        None where the proof is of another form (a flowpipe up to a horizon)."""
        if not isinstance(self.decision, Verified):
            return None
        from workbench.models.evidence.polyhedral import PolyhedralProof
        from workbench.models.evidence.quadratic import QuadraticInvariant
        from workbench.models.evidence.quadratic_function import QuadraticFunctions
        from workbench.reports.claims import claimed_set

        proof = self.decision.certificate.safety
        if isinstance(proof, PolyhedralProof):
            places: Sequence[str] = [region.location for region in proof.regions]
            found = claimed_set.polyhedral_set(proof)
        elif isinstance(proof, QuadraticInvariant):
            places, found = proof.locations, claimed_set.ellipsoid_set(proof)
        elif isinstance(proof, QuadraticFunctions):
            places, found = proof.locations, claimed_set.function_set(proof)
        else:
            return None
        return Invariant({place: found.cells(place) for place in dict.fromkeys(places)})

    def recheck(self, *, cancel: Cancel | None = None) -> Rechecked:
        """Look at the evidence again: the trusted checker reads the certificate as a file, or
        the counterexample is made anew. Raises ValueError where there is no evidence."""
        if self.certificate is not None:
            with working(None, cancel):
                return rechecked(self.model, self.certificate, self.horizon, self.name)
        found = self.counterexample
        if found is None:
            raise ValueError(f"{self.name!r} is unknown: there is no evidence to check")
        begun = time.perf_counter()
        with working(None, cancel):
            broken = self._breaks(found.replay())
        why = "the run violates it again" if broken else "the run does not violate it again"
        seconds = time.perf_counter() - begun
        return Rechecked("accepted" if broken else "rejected", why, 0, seconds)

    def _breaks(self, run: Run) -> bool:
        if self.formula is None:
            return self.name in run.violated
        from workbench.simulate.monitoring.monitor import Monitor
        from workbench.simulate.run import prepare
        from workbench.simulate.stepping.externs import provided

        automaton = self.model.automaton
        inputs = {} if run.recipe is None else run.recipe.inputs
        with provided(self.externs):
            symbols = prepare(automaton).symbols
            monitor = Monitor(automaton, self.formula, symbols, inputs)
            return monitor.optimistic(run.trace) < 0.0

    def save(self, path: str | Path) -> Path:
        """Write the certificate or the counterexample."""
        from workbench.api.saving import save

        if self.certificate is not None:
            return save(path, self.certificate)
        found = self.counterexample
        if found is None:
            raise ValueError(f"{self.name!r} is unknown: there is no evidence to save")
        return found.save(path)

    @property
    def suspect(self) -> str | None:
        """A run that violates the property in simulation and could not be confirmed, as the text
        of a file that `Model.replay` repeats; where the property is unknown."""
        return self.decision.suspect if isinstance(self.decision, Unknown) else None

    @property
    def data(self) -> dict[str, Any]:
        """Everything as plain data."""
        from workbench.reports.data.verdict import Provenance, verdict_data

        found = verdict_data(self.model, self.model.name, self.decision, Provenance("", self.seed))
        found |= {"blocking": self.blocking} if self.blocking else {}
        return found | ({"unreached": asdict(self.unreached)} if self.unreached.sentence else {})

    @cached_property
    def unreached(self) -> Unreached:
        """The locations that no run reaches, and the transitions between others that no run
        takes, provably: `locations`, `transitions`, and both in a `sentence`."""
        from workbench.abstraction.unreached import unreached

        proof = self.decision.certificate if isinstance(self.decision, Verified) else None
        return unreached(self.model.automaton, proof)

    @property
    def missing(self) -> str:
        """The behaviour for want of which a claim may hold, in words: what keeps runs from going
        on, and what no run reaches."""
        return "; ".join(part for part in (self.blocking, self.unreached.sentence) if part)

    @property
    def in_brief(self) -> str:
        """The outcome, and for how long it speaks: `VERIFIED for all time`."""
        from workbench.reports.words.verdict_text import outcome_text

        return outcome_text(self.decision)

    def in_words(self, label: str, brief: bool = False, details: bool = False) -> str:
        """The outcome with its evidence, or with what is missing, and with this name for the
        model; a brief text leaves out the invariant, `details` say what every method came to."""
        from workbench.reports.words.verdict_text import verdict_text

        if self.search is not None:
            return self.search.in_words(label)
        return verdict_text(label, self.model, self.decision, self.missing, brief, details)

    def __str__(self) -> str:
        return self.in_words(self.model.name)

    def __bool__(self) -> NoReturn:
        raise TypeError("a verdict has no truth value: ask .is_verified or .outcome")

    def __repr__(self) -> str:
        scope = f" {self.scope}" if self.outcome == "verified" else ""
        when = f", {self.scope}" if self.outcome == "falsified" else ""
        return f"<Verdict {self.name!r}: {self.outcome}{scope}{when} ({self.method})>"

    def _repr_html_(self) -> str:
        decision = self.decision
        lines = [self.scope, f"{self.method}, {self.seconds:.2f} s"]
        if isinstance(decision, Verified):
            proved = counted(decision.judgement.obligations, "obligation")
            lines.append(f"{decision.certificate.kind} certificate: {proved} checked")
        elif isinstance(decision, Falsified):
            lines += [f"confirmed: {c.how}" for c in decision.confirmations]
            lines += [decision.last_chance.sentence] if decision.last_chance else []
        else:
            lines += [*decision.reason.split("\n"), *(f"known: {line}" for line in decision.known)]
            lines += [f"hint: {decision.advice}"]
        lines += [f"but {self.missing}"] if self.missing else []
        return card(self.outcome, self.name, lines)


@dataclass(frozen=True)
class Verdicts(Sequence[Verdict]):
    """The verdicts about several properties, by number or by name."""

    verdicts: tuple[Verdict, ...]

    @overload
    def __getitem__(self, index: int | str) -> Verdict: ...
    @overload
    def __getitem__(self, index: slice) -> Verdicts: ...
    def __getitem__(self, index: int | str | slice) -> Verdict | Verdicts:
        if isinstance(index, str):
            named = {verdict.name: verdict for verdict in self.verdicts}
            if index not in named:
                raise KeyError(f"no verdict about {index!r}; there are {', '.join(named)}")
            return named[index]
        found = self.verdicts[index]
        return found if isinstance(found, Verdict) else Verdicts(found)

    def __len__(self) -> int:
        return len(self.verdicts)

    @property
    def outcome(self) -> Outcome:
        """The worst: falsified, if any is; verified, if all are."""
        found = {verdict.outcome for verdict in self.verdicts}
        if "falsified" in found:
            return "falsified"
        return "verified" if found == {"verified"} else "unknown"

    @property
    def is_verified(self) -> bool:
        """Whether all properties are proved."""
        return self.outcome == "verified"

    @property
    def is_falsified(self) -> bool:
        """Whether a run violates one of the properties."""
        return self.outcome == "falsified"

    def recheck(self, *, cancel: Cancel | None = None) -> bool:
        """Whether all evidence holds at a second look; what is unknown has none."""
        return all(v.recheck(cancel=cancel) for v in self.verdicts if v.outcome != "unknown")

    def __str__(self) -> str:
        return "\n".join(map(str, self.verdicts))

    def __bool__(self) -> NoReturn:
        raise TypeError("verdicts have no truth value: ask .is_verified or .outcome")

    def __repr__(self) -> str:
        each = ", ".join(f"{v.name!r}: {v.outcome}" for v in self.verdicts)
        return f"<Verdicts {self.outcome}: {each}>"

    def _repr_html_(self) -> str:
        return "".join(verdict._repr_html_() for verdict in self.verdicts)
