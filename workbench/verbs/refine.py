"""`workbench refine`: may a detailed system replace a simple one?"""

from __future__ import annotations

import shlex
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from workbench.arguments import Chosen, model_argument, output_options, split_reference
from workbench.console import Console
from workbench.exit_codes import ExitCode
from workbench.files import write_whole
from workbench.models.counting import counted
from workbench.option_types import Number, OutputFile
from workbench.progress import Progress

if TYPE_CHECKING:
    from collections.abc import Mapping

    from workbench.abstraction.refinement.flat import Settings
    from workbench.abstraction.refinement.outcome import Step
    from workbench.abstraction.refinement.proof_tree import Proof
    from workbench.models.automaton import Automaton
    from workbench.models.model import Model
    from workbench.models.proof.linear import Form


@click.command("refine")
@model_argument
@click.option("--against", required=True, metavar="ABSTRACT[:AGENT]", help="The simple system.")
@click.option(
    "--map",
    "places",
    multiple=True,
    metavar="HERE=THERE",
    help="An abstract location for a detailed one; the others follow by name or are searched.",
)
@click.option(
    "--witness",
    multiple=True,
    metavar='"Y = EXPRESSION"',
    help="The value of an abstract variable that the detailed system does not have.",
)
@click.option(
    "--observe", multiple=True, metavar="NAME", help="Compare these variables only; repeatable."
)
@click.option(
    "--inductive",
    is_flag=True,
    help="A part of MODEL is ABSTRACT itself: conclude for any number of such steps.",
)
@click.option("--flat", is_flag=True, help="Compare the systems as wholes, not part by part.")
@click.option("--no-reach", is_flag=True, help="Do not strengthen with reachable sets.")
@click.option(
    "--time-limit",
    type=Number(0, 1e6, min_open=True),
    default=30.0,
    show_default=True,
    metavar="SECONDS",
    help="For the proof and the search of a refutation.",
)
@click.option(
    "--horizon",
    type=Number(0, 1e6, min_open=True),
    default=10.0,
    show_default=True,
    metavar="TIME",
    help="How far the runs go that might refute.",
)
@click.option("--seed", type=click.IntRange(0, 2**32 - 1), default=0, show_default=True)
@click.option(
    "--certificate",
    type=OutputFile(),
    metavar="FILE",
    help="Where to write the certificate of a refinement.",
)
@click.option(
    "--html",
    type=OutputFile(),
    metavar="FILE",
    help="Also write a page with the proof tree and the evidence.",
)
@output_options
@click.pass_obj
def command(
    console: Console,
    chosen: Chosen,
    against: str,
    places: tuple[str, ...],
    witness: tuple[str, ...],
    observe: tuple[str, ...],
    inductive: bool,
    flat: bool,
    no_reach: bool,
    time_limit: float,
    horizon: float,
    seed: int,
    certificate: Path | None,
    html: Path | None,
) -> ExitCode:
    """Show that a detailed system refines a simple one.

    REFINES comes with a certificate that the trusted checker has accepted; REFUTED with a
    run of the detailed system that the simple one cannot match; NOT PROVED with every
    obligation that is left, each at a state.

    \b
    Example:
      workbench refine heater.charon:Controlled --against heater.charon:Bounded
      workbench refine heater.charon:Controlled --against heater.charon:Any --map on=ON
      workbench refine platoon_any_length:Step --against platoon_any_length:Vehicle --inductive
    """
    from workbench.abstraction.refinement.flat import Settings
    from workbench.abstraction.refinement.proof_file import encode_proof
    from workbench.abstraction.refinement.proof_tree import prove_refinement
    from workbench.abstraction.refinement.surroundings import assumed_of
    from workbench.abstraction.verification import deadline

    other = Chosen(*split_reference(against), {})
    detailed, abstract = chosen.load(), other.load()
    given = _witnesses(witness, detailed.automaton)
    _check_names(observe, given, detailed, abstract)
    with Progress(console.quiet or console.as_json) as progress:
        settings = Settings(
            _pairs(places),
            given,
            not no_reach,
            True,
            deadline(time_limit),
            seed,
            progress,
            horizon=horizon,
        )
        if inductive:
            pair = _Pair(chosen.label, other.label, detailed, abstract)
            return _induction(console, pair, settings, certificate, html)
        proof = prove_refinement(
            detailed, abstract, settings, observe, compositional=not flat and not observe
        )
    if certificate is not None and proof.holds:
        write_whole(certificate, encode_proof(proof))
    if html is not None:
        pair = _Pair(chosen.label, other.label, detailed, abstract)
        _write_page(html, pair, proof, proof.step, proof.holds)
    if console.as_json:
        from workbench.reports.data.refinement import proof_data

        assumed = assumed_of(detailed)
        names = {"detailed": chosen.label, "abstract": other.label, "assuming": assumed}
        console.data(**names, **proof_data(proof))
    else:
        sources = {**detailed.sources, **abstract.sources}
        console.result(_in_words(chosen.label, other.label, proof, sources))
        if proof.holds and (assumed := assumed_of(detailed)):
            console.result(f"  in surroundings that keep what it assumes: {assumed}")
        if certificate is not None and proof.holds:
            console.result(f"  certificate written to {certificate}")
    return _exit_code(proof)


@dataclass(frozen=True)
class _Pair:
    """The two systems, with the names that the user gave them."""

    label: str
    other: str
    detailed: Model
    abstract: Model


def _induction(
    console: Console, pair: _Pair, settings: Settings, certificate: Path | None, html: Path | None
) -> ExitCode:
    from workbench.abstraction.refinement.induction import prove_by_induction
    from workbench.abstraction.refinement.induction_file import encode_induction
    from workbench.models.verdict import Verified
    from workbench.reports.data.refinement import proof_data, tree_lines

    found = prove_by_induction(pair.detailed, pair.abstract, settings, progress=settings.progress)
    verdicts = [(v.claim, isinstance(v, Verified)) for v in found.verdicts]
    time = "for all time" if found.horizon is None else f"up to time {found.horizon}"
    words = [f"{claim!r}: {f'VERIFIED {time}' if yes else 'UNKNOWN'}" for claim, yes in verdicts]
    if certificate is not None and found.holds:
        write_whole(certificate, encode_induction(found))
    if html is not None:
        _write_page(html, pair, found.proof, found.step, found.holds, tuple(words))
    if console.as_json:
        properties = [{"property": claim, "verified": yes} for claim, yes in verdicts]
        data = proof_data(found.proof)
        if not found.holds and found.proof.holds:
            data |= {"outcome": "not proved"}
        console.data(
            step=pair.label, holds=found.holds, place=found.place, properties=properties, **data
        )
    elif not found.holds:
        sources = {**pair.detailed.sources, **pair.abstract.sources}
        console.result(_in_words(pair.label, pair.other, found.proof, sources))
        if found.proof.holds:
            console.result("  but not every property of the step is verified: NOT PROVED")
        for line in words:
            console.result(f"  {line}")
    else:
        console.result(f"{pair.label}: any number of steps REFINES {pair.other}")
        console.result("\n".join(f"  {line}" for line in (*tree_lines(found.step), *words)))
        if certificate is not None:
            console.result(f"  certificate written to {certificate}")
    if found.holds:
        return ExitCode.OK
    return _exit_code(found.proof) if not found.proof.holds else ExitCode.UNKNOWN


def _write_page(
    path: Path,
    pair: _Pair,
    proof: Proof,
    tree: Step,
    holds: bool,
    consequences: tuple[str, ...] = (),
) -> None:
    from workbench.reports.pages.refinement import Comparison, refinement_page

    command_line = shlex.join(["workbench", *sys.argv[1:]])
    compared = Comparison(
        pair.label,
        pair.other,
        pair.detailed,
        pair.abstract,
        proof,
        tree,
        holds,
        consequences,
        command_line,
    )
    write_whole(path, refinement_page(compared))


def _exit_code(proof: Proof) -> ExitCode:
    from workbench.abstraction.refinement.outcome import Refuted

    if proof.holds:
        return ExitCode.OK
    return ExitCode.FALSIFIED if isinstance(proof.outcome, Refuted) else ExitCode.UNKNOWN


def _pairs(given: tuple[str, ...]) -> dict[str, str]:
    found: dict[str, str] = {}
    for item in given:
        here, separator, there = item.partition("=")
        if not separator or not here.strip() or not there.strip():
            raise click.UsageError(f"--map {item[:80]!r} should read here=there")
        found[here.strip()] = there.strip()
    return found


def _witnesses(given: tuple[str, ...], detailed: Automaton) -> Mapping[str, Form]:
    from workbench.models.expressions.text import parse_expression
    from workbench.models.proof.conditions import names_of
    from workbench.models.proof.linear import affine

    found: dict[str, Form] = {}
    for item in given:
        name, separator, text = item.partition("=")
        if not separator or not name.strip():
            raise click.UsageError(f'--witness {item[:80]!r} should read "y = x + 1"')
        form = affine(parse_expression(text.strip(), file="<witness>"))
        if form is None:
            raise click.UsageError(f"--witness {name.strip()}: {text.strip()} is not affine")
        if unknown := sorted(form.coefficients.keys() - set(names_of(detailed))):
            raise click.UsageError(
                f"--witness {name.strip()}: the detailed system has no variable {unknown[0]}"
            )
        found[name.strip()] = form
    return found


def _check_names(
    observe: tuple[str, ...], witness: Mapping[str, Form], detailed: Model, abstract: Model
) -> None:
    """Refuse names that the systems do not have, and witnesses of what is observed."""
    from workbench.abstraction.refinement.interface import compare_interfaces
    from workbench.models.proof.conditions import names_of

    own, other = detailed.automaton, abstract.automaton
    for name in observe:
        for side, automaton in (("detailed", own), ("abstract", other)):
            if name not in names_of(automaton):
                raise click.UsageError(f"--observe {name}: the {side} system has no such variable")
    seen = compare_interfaces(own, other, detailed.agent, abstract.agent, observe).observed
    for name in witness:
        if name not in names_of(other):
            raise click.UsageError(f"--witness {name}: the abstract system has no such variable")
        if name in seen:
            raise click.UsageError(f"--witness {name}: it is observed, so it stands for itself")


def _in_words(label: str, other: str, proof: Proof, sources: Mapping[str, str]) -> str:
    from workbench.abstraction.refinement.outcome import NotProved, Refuted
    from workbench.reports.data.refinement import (
        failure_lines,
        outcome_word,
        state_text,
        tree_lines,
    )

    lines = [f"{label} against {other}: {outcome_word(proof).upper()}"]
    outcome = proof.outcome
    if proof.holds:
        lines += [f"  {line}" for line in tree_lines(proof.step)]
    if isinstance(outcome, Refuted):
        miss = outcome.mismatch
        lines += [
            f"  a run of {counted(miss.jumps, 'jump')} cannot be matched after time {miss.time:g}, "
            f"in {miss.location}: {state_text(miss.values)}",
            f"  {miss.why}; confirmed: {outcome.confirmed_by}",
        ]
    if isinstance(outcome, Refuted | NotProved):
        for failure in outcome.failures:
            lines += [f"  {line}" for line in failure_lines(failure, sources)]
    return "\n".join(lines)
