"""`workbench falsify`: look for a run that violates a property."""

from __future__ import annotations

import shlex
import sys
from typing import TYPE_CHECKING, Any

import click

from workbench.arguments import Chosen, model_argument, output_options
from workbench.claims import chosen_claims, property_option
from workbench.console import Console
from workbench.exit_codes import ExitCode
from workbench.files import write_whole
from workbench.models.counting import counted
from workbench.option_types import Number, OutputFile
from workbench.progress import Progress

if TYPE_CHECKING:
    from workbench.models.automaton import Automaton, Property
    from workbench.simulate.monitoring.stl import Formula
    from workbench.simulate.recipe import Recipe
    from workbench.simulate.search.falsification import Outcome


@click.command("falsify")
@model_argument
@property_option
@click.option(
    "--formula",
    metavar="STL",
    help='A temporal formula in place of a property, e.g. "always[0,20](speed < 120)".',
)
@click.option(
    "--budget",
    type=click.IntRange(1, 10_000_000),
    default=2000,
    show_default=True,
    help="Simulations for each property.",
)
@click.option(
    "--time-limit",
    type=Number(0, 1e6, min_open=True),
    metavar="SECONDS",
    help="For each property.",
)
@click.option(
    "--until",
    type=Number(0, 1e9, min_open=True),
    metavar="T",
    help="Length of the runs.  [default: the model's horizon, or several]",
)
@click.option("--seed", type=click.IntRange(0, 2**32 - 1), default=0, show_default=True)
@click.option(
    "--workers",
    type=click.IntRange(1, 256),
    default=1,
    show_default=True,
    help="Processes; they change how long it takes, not what is found.",
)
@click.option(
    "--control-points",
    type=click.IntRange(1, 100),
    metavar="N",
    help="Of each input signal.  [default: 1, 4 and 10]",
)
@click.option(
    "--abstraction",
    type=Number(0, 1e6),
    default=0.0,
    show_default=True,
    metavar="SECONDS",
    help="Look for abstract counterexamples so long first, and begin where they do.",
)
@click.option("--linear", is_flag=True, help="Piecewise linear inputs, not piecewise constant.")
@click.option(
    "--enclose",
    is_flag=True,
    help="Prove the violation by enclosures also where that takes long.",
)
@click.option(
    "--trace",
    "trace_file",
    type=OutputFile(),
    metavar="FILE",
    help="Where to write the counterexample; `simulate --replay` repeats it.",
)
@output_options
@click.pass_obj
def command(
    console: Console, /, chosen: Chosen, names: tuple[str, ...], **options: Any
) -> ExitCode:
    """Search for a run that violates a property.

    The search varies initial states, parameters, inputs and everything the model leaves open,
    and minimises robustness: the distance from a violation. FALSIFIED is said only after two
    methods have repeated the run at a tight tolerance and violated the property by far more
    than their error. Finding nothing proves nothing.

    \b
    Example:
      workbench falsify platoon_saturated
      workbench falsify platoon_saturated -p "no collision" --budget 2000 --seed 1 --trace bad.json
      workbench simulate platoon_saturated --replay bad.json
      workbench falsify powertrain_revving --formula "always[0,20](speed < 30)"
    """
    from workbench.falsification_words import in_words, label

    model = chosen.load()
    claims = _claims(model.automaton, names, options["formula"])
    if options["trace_file"] is not None and len(claims) != 1:
        raise click.UsageError("--trace needs one property: name it with -p")
    console.warnings(model.warnings, model.sources)
    for claim in claims:
        _say_longer(console, claim, options["until"])
    outcomes: list[tuple[Property | Formula, Outcome]] = []
    for claim in claims:
        outcome = _search(console, chosen, model.automaton, claim, options)
        outcomes.append((claim, outcome))
        if not console.as_json:
            file = options["trace_file"]
            console.result(in_words(chosen.label, model.automaton, claim, outcome, file))
        if outcome.interrupted:
            break
    if console.as_json:
        _print_data(console, chosen.label, model.automaton, outcomes, options)
    if outcomes[-1][1].interrupted:
        if left := ", ".join(repr(label(claim)) for claim in claims[len(outcomes) :]):
            console.note(f"interrupted: nothing is known about {left}")
        return ExitCode.INTERRUPTED
    return ExitCode.FALSIFIED if any(o.found for _, o in outcomes) else ExitCode.UNKNOWN


def _say_longer(console: Console, claim: Property | Formula, until: float | None) -> None:
    """Say so where runs must be longer than asked for to decide a formula."""
    from workbench.models.automaton import Property

    if until is None or isinstance(claim, Property):
        return
    if until < claim.horizon < float("inf"):
        console.note(
            f"note: the formula looks ahead as far as t = {claim.horizon:g}, so runs are that "
            f"long, not {until:g}; a counterexample ends soon after the formula is broken"
        )


def _claims(
    automaton: Automaton, names: tuple[str, ...], formula: str | None
) -> tuple[Property | Formula, ...]:
    if formula is None:
        return (*chosen_claims(automaton, names),)
    if names:
        raise click.UsageError("give either a property or a --formula")
    from workbench.formulas import read_formula

    return (read_formula(automaton, formula),)


def _search(
    console: Console,
    chosen: Chosen,
    automaton: Automaton,
    claim: Property | Formula,
    options: dict[str, Any],
) -> Outcome:
    import time
    from dataclasses import replace

    from workbench.falsification_words import label
    from workbench.models.automaton import Property
    from workbench.simulate.search.falsification import Budget, Options, falsify
    from workbench.simulate.search.falsification import Progress as Step

    limit = options["time_limit"]
    deadline = float("inf") if limit is None else time.monotonic() + limit
    points = options["control_points"]
    settings = Options(
        seed=options["seed"],
        workers=options["workers"],
        until=options["until"],
        linear=options["linear"],
    )
    looks = 0.0 if isinstance(claim, Property) else claim.horizon
    if options["until"] is not None and options["until"] < looks < float("inf"):
        console.note(
            f"note: the formula looks up to t = {looks:g}, so runs are that long and do not end"
            f" at --until {options['until']:g}"
        )
    if options["abstraction"] and isinstance(claim, Property):
        seeds = _abstract_seeds(automaton, claim, options["abstraction"], options["seed"])
        settings = replace(settings, seeds=seeds)
    if options["enclose"]:
        from workbench.simulate.search.counterexample import enclosed_at_length

        settings = replace(settings, rigorous=(enclosed_at_length,))
    if points is not None:
        settings = replace(settings, control_points=(points,))
    with Progress(console.quiet or console.as_json) as progress:

        def show(step: Step) -> None:
            progress(
                f"{label(claim)!r}: {step.simulations} of "
                f"{counted(options['budget'], 'simulation')}, best robustness {step.robustness:.6g}"
            )

        outcome = falsify(automaton, claim, Budget(options["budget"], deadline), settings, show)
    if outcome.found is not None and options["trace_file"] is not None:
        from workbench.simulate.recipe import recorded

        recipe = replace(outcome.found.recipe, model_parameters=chosen.parameters)
        text = recorded(outcome.found.trace, recipe, automaton.sha256)
        write_whole(options["trace_file"], text)
    return outcome


def _abstract_seeds(
    automaton: Automaton, claim: Property, seconds: float, seed: int
) -> tuple[Recipe, ...]:
    """Starts of the abstract counterexamples that are found in the time given."""
    from workbench.abstraction.predicates.refinement_history import RefinementRound
    from workbench.abstraction.predicates.seeds import seeds_of
    from workbench.abstraction.strategies.strategy import HISTORY_READER, Task
    from workbench.abstraction.verification import deadline, verify

    rounds: list[RefinementRound] = []
    options: dict[str, object] = {HISTORY_READER: rounds.extend}
    verify(Task(automaton, claim, deadline(seconds), seed, options=options), "abstraction")
    return seeds_of(automaton, rounds)


def _print_data(
    console: Console,
    model: str,
    automaton: Automaton,
    outcomes: list[tuple[Property | Formula, Outcome]],
    options: dict[str, Any],
) -> None:
    from workbench.falsification_words import as_data

    file = options["trace_file"]
    results = [as_data(automaton, claim, outcome, file) for claim, outcome in outcomes]
    shared = {
        "model": model,
        "model_sha256": automaton.sha256,
        "seed": options["seed"],
        "workers": options["workers"],
        "command": shlex.join(["workbench", *sys.argv[1:]]),
    }
    if len(results) == 1:
        console.data(**shared, **results[0])
    else:
        console.data(**shared, results=results)
