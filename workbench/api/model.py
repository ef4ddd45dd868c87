"""Models, which are asked for everything that the workbench can do.

>>> import workbench
>>> model = workbench.load("leaky_tank")
>>> model
<Model leaky_tank: 3 components, 4 locations, 3 variables, 2 properties>
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from html import escape
from itertools import product
from pathlib import Path
from typing import (
    TYPE_CHECKING,
    Literal,
    TypeAlias,
    Unpack,
)

from workbench.api.asked import (
    RequestError,
    by_name,
    claims_named,
    condition_over,
    count,
    double,
    each,
    flag,
    number,
    one_text,
    path_of,
    positive,
    properties_named,
    read_formula,
    texts,
)
from workbench.api.numbers import Number
from workbench.api.saving import check_writable, save
from workbench.api.work import Cancel, Progress, working
from workbench.models.counting import counted
from workbench.models.source import Diagnostic, ModelError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from workbench.abstraction.blocking import Blocking
    from workbench.abstraction.verification_settings import VerificationSettings
    from workbench.api.abstraction import Abstraction
    from workbench.api.choices import Choices, Course, Given, Level, Stepping, Switching
    from workbench.api.loading import Origin, Source
    from workbench.api.reaching import Reaching
    from workbench.api.rechecking import Rechecked
    from workbench.api.refinement import Refinement
    from workbench.api.reports import Report
    from workbench.api.runs import Run, Runs
    from workbench.api.simulation import Simulation
    from workbench.api.structure import Check, Picture
    from workbench.api.verdicts import Verdict, Verdicts
    from workbench.models.automaton import Automaton, Property
    from workbench.models.linear import Form
    from workbench.models.model import Model as Loaded
    from workbench.simulate.monitoring.stl import Formula
    from workbench.simulate.run import Preparation
    from workbench.simulate.stepping.externs import Externs

Deciding: TypeAlias = Literal[
    "auto",
    "rectangular",
    "simulation",
    "quadratic",
    "recurrence",
    "flowpipe",
    "nonlinear",
    "template",
    "history",
    "transient",
    "abstraction",
    "exact",
]
"""How a property is decided; `auto` tries what suits the model."""

LOOKING = 0.3
"""The part of a time limit within which it is looked how runs end."""


MOST_RUNS = 500
"""So many runs are looked at for a report."""


@dataclass(frozen=True, eq=False)
class Model:
    """A model that passed every check, and what can be asked of it.

    Work that takes long has `progress`, which is called with a few words, and `cancel`, which
    is asked whether to end (`workbench.Cancellation`); it then raises `workbench.Cancelled`.
    Arguments that make no sense raise ValueError; `loaded` is what the engines read.
    """

    loaded: Loaded = field(repr=False)
    parameters: Mapping[str, Fraction] = field(default_factory=dict)
    externs: Externs = field(default_factory=dict, repr=False)
    _origin: Origin | None = field(default=None, repr=False)
    _agent: str | None = field(default=None, repr=False)
    _seen_blocking: dict[float | None, Blocking] = field(
        default_factory=dict, repr=False, init=False
    )

    @cached_property
    def _preparation(self) -> Preparation:
        from workbench.simulate.run import Preparation

        return Preparation(self.automaton)

    def __getstate__(self) -> dict[str, object]:
        """What travels to other processes: without what is prepared for this one."""
        return {name: value for name, value in vars(self).items() if name != "_preparation"}

    # What it is

    @property
    def name(self) -> str:
        """The name of the file, and of the agent if one was chosen."""
        return self.loaded.name

    @property
    def automaton(self) -> Automaton:
        """The flat automaton that every engine reads."""
        return self.loaded.automaton

    @property
    def variables(self) -> tuple[str, ...]:
        """The names of the variables."""
        return tuple(v.name for v in self.automaton.variables)

    @property
    def properties(self) -> tuple[str, ...]:
        """The names of the properties."""
        return tuple(p.name for p in self.automaton.properties)

    @property
    def settings(self) -> Mapping[str, Fraction | bool | tuple[Fraction | None, Fraction | None]]:
        """What `load` and `with_parameters` can give another value, constants and parameters, by
        name: its value, or the two bounds of one of which only a range is known."""
        return {
            one.name: (one.low, one.high) if one.value is None else one.value
            for one in self.loaded.settings
        }

    @property
    def sources(self) -> Mapping[str, str]:
        """The texts that it was read from, by the names that messages tell."""
        return self.loaded.sources

    @property
    def sha256(self) -> str:
        """What certificates and runs know the model by."""
        return self.automaton.sha256

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        """What is strange about the model."""
        return self.loaded.warnings

    def with_parameters(self, /, **values: Number) -> Model:
        """The same model with other values of parameters and constants; those that are not
        named keep theirs."""
        if self._origin is None:
            raise RequestError("the model was not loaded from anywhere: it cannot be loaded again")
        chosen_values = {**self.parameters, **{n: number(n, v) for n, v in values.items()}}
        return replace(
            self, loaded=self._origin(self._agent, chosen_values), parameters=chosen_values
        )

    def variants(self, /, **values: Iterable[Number]) -> tuple[Model, ...]:
        """The same model with each combination of these values of parameters and constants, those
        of the last name changing fastest: `model.variants(gain=[1, 2], delay=[0, "0.1"])` are four
        models. `parameters` tells which values one has."""
        lists = [[number(n, one) for one in each(n, given)] for n, given in values.items()]
        chosen = (dict(zip(values, one, strict=True)) for one in product(*lists))
        return tuple(self.with_parameters(**one) for one in chosen)

    # What can be asked

    def check(self) -> Check:
        """The size of the model, and what is strange about it; a model with errors is never
        loaded."""
        from workbench.api.structure import Check, summary

        return Check(self.name, summary(self.automaton), self.warnings)

    def simulate(
        self,
        until: Number | None = None,
        runs: int = 1,
        *,
        seed: int = 0,
        initial: Mapping[str, Given] | None = None,
        location: str | None = None,
        inputs: Mapping[str, Course] | None = None,
        switching: Switching | None = None,
        level: Level | None = None,
        script: Sequence[float] = (),
        method: Stepping = "adams",
        rtol: float = 1e-6,
        atol: float = 1e-9,
        formula: str | None = None,
        sliding: bool | None = None,
        own_clocks: bool | None = None,
        synchronous: bool = False,
        stop_on_violation: bool = True,
        progress: Progress | None = None,
        cancel: Cancel | None = None,
    ) -> Runs:
        """Runs of the model, one for each seed from `seed` on; every event is found.

        `until` is the model's horizon by default, else 20. What the model leaves open is chosen
        by `switching` (when transitions are taken) and `level` (which value of a range), for many
        runs at random, or by the decisions of a `script`. `formula` is a temporal formula to
        monitor. With `own_clocks` every group of coupled agents advances on a clock of its own,
        by default where it gains something; `synchronous` is the same on one clock, to compare
        the numbers of steps. It is asked between runs whether to go on.
        """
        from workbench.api.runs import Runs

        how = self.simulation(
            runs,
            until=until,
            seed=seed,
            initial={} if initial is None else initial,
            location=location,
            inputs={} if inputs is None else inputs,
            switching=switching,
            level=level,
            script=script,
            method=method,
            rtol=rtol,
            atol=atol,
            formula=formula,
            sliding=sliding,
            own_clocks=own_clocks,
            synchronous=synchronous,
            stop_on_violation=stop_on_violation,
        )
        with self._working(progress, cancel) as tell:
            found: list[Run] = []
            for one in how.seeds:
                found.append(how.run(one))
                tell(f"{len(found)} of {counted(runs, 'run')}")
        return Runs(tuple(found), self.name)

    def simulation(self, runs: int = 1, **choices: Unpack[Choices]) -> Simulation:
        """How `simulate` makes so many runs, with the same choices, before any is made: for those
        who want them one by one, only a summary of each, or enclosures."""
        from workbench.api.choices import recipe_of
        from workbench.api.simulation import Simulation

        count("runs", runs)
        recipe = recipe_of(self.automaton, self.parameters, runs, choices)
        return Simulation(self.automaton, recipe, runs, self.externs, self._preparation)

    def looks_ahead(self, formula: str) -> float:
        """How long a run must be to decide a temporal formula; infinite if no length is sure
        to. Raises ModelError where it is no formula over the model's variables."""
        return read_formula(self.automaton, formula).horizon

    def replay(self, source: str | Path | Run, method: Stepping | None = None) -> Run:
        """A saved run, or one at hand, made again; by another method, if one is named."""
        how = self.recorded(source, method=method)
        return how.run(how.recipe.seed)

    def recorded(
        self,
        source: str | Path | Run,
        *,
        method: Stepping | None = None,
        rtol: float = 1e-9,
        atol: float = 1e-11,
        until: Number | None = None,
        sliding: bool | None = None,
    ) -> Simulation:
        """How a saved run, or one at hand, was made; with another method, end or sliding, if
        these are given."""
        from workbench.api.choices import stepping_method
        from workbench.api.comparison import placed_in
        from workbench.api.runs import Run
        from workbench.api.simulation import read_text, recorded_run
        from workbench.simulate.recipe import recorded

        text = None
        if not isinstance(source, Run):
            text = read_text(source, "replay")
        elif source.recipe is not None:
            text = recorded(source.trace, source.recipe, source.model_sha256)
        if text is None:
            raise RequestError("the run says what happened, but not how to make it again")
        other = None if method is None else stepping_method(method, rtol, atol)
        last = None if until is None else double("until", until)
        try:
            return recorded_run(
                self.automaton, text, self.externs, method=other, until=last, sliding=sliding
            )
        except ModelError as error:
            raise error if isinstance(source, Run) else placed_in(source, error) from error

    def falsify(
        self,
        *properties: str,
        formula: str | None = None,
        budget: int = 2000,
        time_limit: Number | None = None,
        until: Number | None = None,
        seed: int = 0,
        workers: int = 1,
        control_points: int | None = None,
        linear: bool = False,
        enclose: bool = False,
        abstraction: Number = 0,
        progress: Progress | None = None,
        cancel: Cancel | None = None,
    ) -> Verdicts:
        """Search for runs that violate the properties (all, if none is named), or a temporal
        formula; verdicts are `falsified` or `unknown`, for finding nothing proves nothing.
        `verdict.search` tells how close runs came.

        `budget` counts simulations and `time_limit` seconds, for each property; `until` is the
        length of the runs, by default the model's horizon or several. `workers` are processes:
        they change how long it takes, not what is found. `control_points` are those of each input
        signal, by default 1, 4 and 10, with values in between if `linear`. `enclose` proves a
        violation by enclosures also where that takes long. `abstraction` looks for abstract
        counterexamples for so many seconds first, and begins where they do. Who ends the search
        by an interrupt finds what is known so far in the exception (`workbench.Interrupted`).
        """
        from workbench.abstraction.strategies.falsification import as_verdict
        from workbench.api.search import Effort, Interrupted, searched
        from workbench.api.verdicts import Verdict, Verdicts
        from workbench.models.automaton import Property

        if formula is not None and properties:
            raise RequestError("give either properties or a formula", "formula")
        claims: Sequence[Property | Formula]
        if formula is None:
            claims = properties_named(self.automaton, properties)
        else:
            claims = (read_formula(self.automaton, formula),)
        effort = Effort(
            budget=budget,
            time_limit=time_limit,
            until=until,
            seed=seed,
            workers=workers,
            control_points=control_points,
            linear=flag("linear", linear),
            enclose=flag("enclose", enclose),
            abstraction=abstraction,
        )
        found: list[Verdict] = []
        with self._working(progress, cancel) as tell:
            for claim in claims:
                search = searched(
                    self.automaton, claim, effort, self.parameters, self.externs, tell
                )
                asked = None if isinstance(claim, Property) else claim
                name = claim.name if isinstance(claim, Property) else claim.text
                decision = as_verdict(search.outcome, name, self.sha256)
                verdict = Verdict(
                    decision, self.loaded, self.externs, asked, seed=seed, search=search
                )
                if search.is_interrupted:
                    raise Interrupted(verdict)
                found.append(verdict)
        return Verdicts(tuple(found))

    def verify(
        self,
        *properties: str,
        method: Deciding = "auto",
        time_limit: Number = 300,
        horizon: Number | None = None,
        step: Number | None = None,
        predicates: Sequence[str] = (),
        slices: Number | None = None,
        refine: bool = True,
        seed: int = 0,
        jobs: int | None = None,
        begun: float | None = None,
        progress: Progress | None = None,
        cancel: Cancel | None = None,
    ) -> Verdicts:
        """Prove or refute the properties (all, if none is named). `"never blocks"` asks of every
        model whether runs can always go on.

        `time_limit` is in seconds, for each property; it runs from now, or from the moment
        `begun` (`time.monotonic`). `jobs` processes work at once, by default as many as there are
        processors. `horizon` decides for the time up to it only; by default the model says.
        `step` is the length of a flowpipe's first steps, `predicates` are hints for predicate
        abstraction, `slices` the length by which it follows whole cells; without `refine` it
        learns no others.
        """
        from workbench.api.verdicts import Verdicts

        settings = self._settings(
            method, time_limit, horizon, step, predicates, slices, refine, seed, jobs
        )
        claims = claims_named(self.automaton, properties)
        with self._working(progress, cancel) as tell:
            found: list[Verdict] = []
            for claim in claims:
                latest = (begun or time.monotonic()) + settings.time_limit
                blocking = self._blocking(settings, latest)
                found.append(self._decided(claim, settings, blocking, tell, latest))
                begun = None
            return Verdicts(tuple(found))

    def claims(self, *properties: str) -> tuple[str, ...]:
        """The names of the properties that `verify` decides when it is called with these."""
        return tuple(claim.name for claim in claims_named(self.automaton, properties))

    def recheck(
        self,
        certificate: str | Path | bytes,
        *,
        horizon: Number | None = None,
        against: Model | Source | None = None,
        observe: Sequence[str] = (),
        cancel: Cancel | None = None,
    ) -> Rechecked:
        """Have the trusted checker alone look at a certificate for this model: a file, or its
        content (bytes, or a text such as `verdict.certificate`). What is no certificate is not
        accepted.

        A proof must reach as far as the model's horizon, unless `horizon` asks for less. A
        certificate of a refinement needs `against`, the simple system, and tells by `observe` in
        which variables alone the refinement is claimed.
        """
        from workbench.api import rechecking
        from workbench.api.loading import load

        asked = None if horizon is None else positive("horizon", horizon)
        text = rechecking.content_of(certificate)
        with self._working(None, cancel):
            if against is None:
                rechecking.refuse_other_files(text)
                return rechecking.rechecked(self.loaded, text, asked)
            other = against if isinstance(against, Model) else load(against)
            return rechecking.rechecked_refinement(
                self.loaded, other.loaded, text, texts("observe", observe)
            )

    def coq_proof(self, certificate: str | Path | bytes) -> str:
        """The text of a Coq file that ends with the theorem that this model's problem is safe, from
        a certificate that is accepted: `coqc` compiles it with nothing but Coq installed. Kinds of
        certificates of which the kernel knows nothing are refused (RequestError)."""
        from workbench.api import rechecking

        text = rechecking.content_of(certificate)
        rechecking.refuse_other_files(text)
        return rechecking.coq_proof(self.loaded, text)

    def refine(
        self,
        against: Model | Source,
        *,
        places: Mapping[str, str] | None = None,
        witness: Mapping[str, str] | None = None,
        observe: Sequence[str] = (),
        inductive: bool = False,
        flat: bool = False,
        reach: bool = True,
        time_limit: Number = 30.0,
        horizon: Number = 10,
        seed: int = 0,
        progress: Progress | None = None,
        cancel: Cancel | None = None,
    ) -> Refinement:
        """Whether this system may replace a simpler one.

        `places` maps locations of this system to those of the other; `witness` gives values of
        variables that only the other has (`{"y": "x + 1"}`); `observe` compares these variables
        only; `inductive` concludes for any number of such steps, where a part of this system is
        the other one itself; `flat` compares the systems as wholes; without `reach` nothing is
        strengthened by reachable sets. Runs that might refute go up to `horizon`.
        """
        from workbench.abstraction.refinement.flat import Settings
        from workbench.abstraction.refinement.proof_tree import prove_refinement
        from workbench.abstraction.refinement.time_left import Allotment
        from workbench.api.loading import load
        from workbench.api.refinement import Refinement

        other = against if isinstance(against, Model) else load(against)
        mapped = {} if places is None else by_name("places", places)
        wanted = {} if witness is None else by_name("witness", witness)
        given = {name: self._affine(name, text) for name, text in wanted.items()}
        observed = texts("observe", observe)
        _check_observed(observed, given, self.loaded, other.loaded)
        with self._working(progress, cancel) as tell:
            settings = Settings(
                {here: one_text("places", there) for here, there in mapped.items()},
                given,
                flag("reach", reach),
                True,
                Allotment.of_seconds(double("time_limit", positive("time_limit", time_limit))),
                count("seed", seed),
                tell,
                horizon=double("horizon", positive("horizon", horizon)),
            )
            if flag("inductive", inductive):
                from workbench.abstraction.refinement.induction import prove_by_induction

                found = prove_by_induction(self.loaded, other.loaded, settings, progress=tell)
                return Refinement(found.proof, self.loaded, other.loaded, induction=found)
            in_parts = not flag("flat", flat) and not observed
            proof = prove_refinement(
                self.loaded, other.loaded, settings, observed, compositional=in_parts
            )
        return Refinement(proof, self.loaded, other.loaded, observed)

    def abstract(
        self,
        *,
        interval: Sequence[str] = (),
        drop: Sequence[str] = (),
        merge: Sequence[str] = (),
        widen: Number | None = None,
        timed: str | None = None,
        cancel: Cancel | None = None,
    ) -> Abstraction:
        """A simpler system that this one refines, with the proof.

        What is asked for is done in this order: `timed` replaces a variable by a clock, `interval`
        bounds the derivatives of these variables only, `drop` leaves variables out, `widen` lets
        guards hold this much earlier, `merge` makes these locations one.
        """
        from workbench.api.abstraction import made_simpler

        with self._working(None, cancel):
            return made_simpler(
                self.loaded,
                texts("interval", interval),
                texts("drop", drop),
                texts("merge", merge),
                widen,
                None if timed is None else one_text("timed", timed),
            )

    def exact(
        self,
        target: str | None = None,
        *,
        time: Number | None = None,
        location: str | None = None,
        invariant: bool = False,
        simplify: bool = False,
        cancel: Cancel | None = None,
    ) -> Reaching:
        """An exact formula for the states from which the flow of a location (by default the
        first) reaches the `target`, a condition; by default the states that break the first
        property. The flow must be a polynomial in time.

        `time` is a number, or a name in the formula, by which the target is reached; with
        `invariant` only runs inside the location's invariant count; `simplify` leaves out parts
        that others cover.
        """
        from workbench.api.reaching import reaching

        bound = time if time is None or isinstance(time, str) else str(number("time", time))
        with self._working(None, cancel):
            return reaching(
                self.automaton,
                target,
                bound,
                location,
                flag("invariant", invariant),
                flag("simplify", simplify),
            )

    def report(
        self,
        path: str | Path | None = None,
        *properties: str,
        runs: int = 24,
        until: Number | None = None,
        plot_vars: Sequence[str] = (),
        method: Deciding = "auto",
        time_limit: Number = 300,
        horizon: Number | None = None,
        step: Number | None = None,
        predicates: Sequence[str] = (),
        slices: Number | None = None,
        refine: bool = True,
        seed: int = 0,
        label: str = "",
        command: str = "",
        jobs: int | None = None,
        begun: float | None = None,
        decided: Callable[[str, str], None] = lambda name, outcome: None,
        progress: Progress | None = None,
        cancel: Cancel | None = None,
    ) -> Report:
        """Verify, simulate, cross-check: one page that needs no network, written to `path` if
        one is given. The options are those of `verify`, how many `runs` to look at and `until`
        when, what the picture of a run shows (`plot_vars`, panels such as `x`, `x+y` or `x:y`; by
        default its real variables), and what the page calls the model (`label`) and what made it
        (`command`). `decided` is told the name of each property and its verdict in words, as soon
        as it is decided; what the time limit has no room for is left out of the page."""
        from workbench.api.reports import made_report
        from workbench.api.run_pictures import known_to, panels, shown_of

        deciding = self._settings(
            method, time_limit, horizon, step, predicates, slices, refine, seed, jobs
        )
        claims = claims_named(self.automaton, properties)
        if path is not None:
            check_writable(path_of("path", path))
        if count("runs", runs) > MOST_RUNS:
            raise RequestError(f"a page has at most {MOST_RUNS}, not {runs}", "runs")
        last = None if until is None else double("until", positive("until", until))
        shown = shown_of(self.automaton)
        if plot_vars:
            shown = panels(plot_vars, known_to(self.automaton))
        with self._working(progress, cancel) as tell:
            found = made_report(
                self.loaded,
                one_text("label", label) or self.name,
                claims,
                deciding,
                runs,
                last,
                one_text("command", command),
                shown,
                self.externs,
                tell,
                begun,
                decided,
            )
        if path is not None:
            found.save(path)
        return found

    def show(self, *, everything: bool = False) -> Picture:
        """The structure of the model: a tree as text, a diagram in notebooks; replicated agents
        once, unless `everything`."""
        from workbench.api.structure import Picture

        return Picture(self.loaded, everything)

    def to_charon(self) -> str:
        """The flat automaton as a CHARON text of one agent."""
        from workbench.models.language.unparse import unparse

        return unparse(self.automaton)

    def to_json(self) -> str:
        """The flat automaton as JSON."""
        import json

        from workbench.models.interchange.json_model import to_json

        return json.dumps(to_json(self.automaton), indent=1) + "\n"

    def to_spaceex(self) -> tuple[str, str]:
        """The model as SpaceEx XML, and its configuration."""
        from workbench.models.interchange.spaceex_export import write_spaceex

        return write_spaceex(self.automaton)

    def export(self, path: str | Path) -> tuple[Path, ...]:
        """Write the model as its ending says: `.charon`, `.json`, or SpaceEx `.xml` with its
        `.cfg` beside it. What the format cannot say is refused by name (`ModelError`)."""
        target = path_of("path", path)
        if target.suffix == ".xml":
            xml, configuration = self.to_spaceex()
            return save(target, xml), save(target.with_suffix(".cfg"), configuration)
        if target.suffix not in (".charon", ".json"):
            raise RequestError(f"models are .charon, .json and .xml files, not {target.name!r}")
        return (save(target, self.to_json() if target.suffix == ".json" else self.to_charon()),)

    def __repr__(self) -> str:
        return f"<Model {self.name}: {self.check().size}>"

    def _repr_html_(self) -> str:
        return f"<p>{escape(repr(self)[1:-1])}</p>{self.show()._repr_html_()}"

    # How it is done

    @contextmanager
    def _working(
        self, progress: Progress | None, cancel: Cancel | None
    ) -> Iterator[Callable[[str], None]]:
        """Work that may be called off, with the functions that the model calls."""
        from workbench.simulate.stepping.externs import provided

        with ExitStack() as stack:
            stack.enter_context(provided(self.externs))
            yield stack.enter_context(working(progress, cancel))

    def _settings(
        self,
        method: str,
        time_limit: Number,
        horizon: Number | None,
        step: Number | None,
        predicates: Sequence[str],
        slices: Number | None,
        refine: bool,
        seed: int,
        jobs: int | None,
    ) -> VerificationSettings:
        """How properties are decided; raises ValueError for what makes no sense."""
        from workbench.abstraction.verification import STRATEGIES
        from workbench.abstraction.verification_settings import VerificationSettings

        if method is None or one_text("method", method) not in ("auto", *STRATEGIES):
            raise RequestError(
                f"{method!r:.40} is not auto or one of {', '.join(STRATEGIES)}", "method"
            )
        is_learning = flag("refine", refine)
        if slices is not None and method != "abstraction":
            raise RequestError("this needs the method abstraction", "slices")
        if not is_learning and method != "abstraction":
            raise RequestError("this needs the method abstraction", "refine")
        lengths = {"horizon": horizon, "step": step, "slices": slices}
        return VerificationSettings(
            method=method,
            time_limit=double("time_limit", positive("time_limit", time_limit)),
            predicates=tuple(
                condition_over(self.automaton, p, "predicates")
                for p in texts("predicates", predicates)
            ),
            refine=is_learning,
            seed=count("seed", seed),
            jobs=0 if jobs is None else count("jobs", jobs),
            **{name: None if t is None else positive(name, t) for name, t in lengths.items()},
        )

    def _decided(
        self,
        claim: Property,
        settings: VerificationSettings,
        blocking: Blocking,
        tell: Callable[[str], None],
        latest: float,
    ) -> Verdict:
        from workbench.abstraction.strategies.strategy import ENDS_OF_RUNS, GRAPH_READER
        from workbench.abstraction.verification import verify
        from workbench.api.verdicts import AbstractStates, Verdict

        graphs: list[AbstractStates] = []
        keep = {
            GRAPH_READER: lambda graph: graphs.append(AbstractStates(graph)),
            ENDS_OF_RUNS: blocking,
        }
        task = settings.task(self.automaton, claim, tell, keep, latest)
        return Verdict(
            verify(task, settings.method),
            self.loaded,
            self.externs,
            blocking=blocking.beside(claim),
            seed=settings.seed,
            abstract_states=graphs[-1] if graphs else None,
        )

    def _blocking(self, settings: VerificationSettings, latest: float) -> Blocking:
        """How runs end; looked at once."""
        from workbench.abstraction.blocking import look

        until = None if settings.horizon is None else float(settings.horizon)
        known = self._seen_blocking.get(until)
        if known is None or known.cut:
            known = look(self.automaton, until, latest - (1.0 - LOOKING) * settings.time_limit)
            self._seen_blocking[until] = known
        return known

    def _affine(self, name: str, text: str) -> Form:
        from workbench.models.automaton import names_of
        from workbench.models.expressions.text import parse_expression
        from workbench.models.linear import affine

        form = affine(parse_expression(one_text("witness", text), file="<witness>"))
        if form is None:
            raise RequestError(f"{name}: {text} is not affine", "witness")
        if missing := sorted(form.coefficients.keys() - set(names_of(self.automaton))):
            raise RequestError(
                f"{name}: the detailed system has no variable {missing[0]}", "witness"
            )
        return form


def _check_observed(
    observed: tuple[str, ...], witness: Mapping[str, Form], detailed: Loaded, abstract: Loaded
) -> None:
    """Refuse names that the systems do not have, and witnesses of what is observed."""
    from workbench.abstraction.refinement.interface import compare_interfaces
    from workbench.models.automaton import names_of

    own, other = detailed.automaton, abstract.automaton
    for name in observed:
        for side, automaton in (("detailed", own), ("abstract", other)):
            if name not in names_of(automaton):
                raise RequestError(f"{name}: the {side} system has no such variable", "observe")
    seen = compare_interfaces(own, other, detailed.agent, abstract.agent, observed).observed
    for name in witness:
        if name not in names_of(other):
            raise RequestError(f"{name}: the abstract system has no such variable", "witness")
        if name in seen:
            raise RequestError(f"{name}: it is observed, so it stands for itself", "witness")
