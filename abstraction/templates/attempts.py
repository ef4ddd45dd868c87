"""In which order templates are tried: cheap and promising ones first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice, product

from workbench.abstraction.templates.closest_chains import closest_templates
from workbench.abstraction.templates.cut_choice import Cuts, candidate_cuts
from workbench.abstraction.templates.directions import (
    Template,
    bad_normals,
    both_senses,
    chain_templates,
    eigen_templates,
    fastest_rate,
    longer_templates,
    outline_templates,
    piece_templates,
    steady_templates,
    tilted_template,
)
from workbench.abstraction.templates.phase_chains import established, phase_chains
from workbench.abstraction.templates.pieces import cut_runs, cut_system
from workbench.abstraction.templates.sampled_runs import SampledRuns
from workbench.abstraction.templates.system import Array, TemplateSystem

PIECES_FIRST = 4
"""So many attempts with pieces come before one of another kind."""
TURNED_TEMPLATES = 3
"""So many of the templates for pieces are also tried with turned directions."""
TURNED_PATIENCE = 2.0
"""How much longer to wait for a template whose directions are turned."""
LONG_PATIENCE = 3.0
"""How much longer to wait for the long chains of the dynamics that matter most."""


@dataclass(frozen=True)
class Attempt:
    """A template for a system, with one polyhedron for all its locations or one for each, its
    directions as they are or turned round by round."""

    system: TemplateSystem
    template: Template
    shared: bool
    runs: SampledRuns | None
    turned: bool = False
    patience: float = 1.0
    """How much longer than others it may take before it has to wait."""

    @property
    def title(self) -> str:
        """What is tried, in a phrase."""
        count = len(self.system.locations)
        kind = "one polyhedron for each location"
        if self.shared:
            kind = "one polyhedron for all locations"
        elif self.system.pieces:
            kind = f"one polyhedron for each of {count} pieces of locations"
        return f"{len(self.template.rows)} {'turned ' if self.turned else ''}directions, {kind}"


def attempts(system: TemplateSystem, runs: SampledRuns | None) -> Iterator[Attempt]:
    """Every template, with one polyhedron for all locations and with one for each; where
    switches change the state, the latter is more likely to help and comes first. In a single
    location the few directions of eigenvectors come before the many of chains. Then, in turns,
    longer templates and locations cut into pieces."""
    several = len(system.locations) > 1
    first = not several or all(switch.keeps_state for switch in system.switches)
    fresh = _Fresh()
    if not several:
        yield from (Attempt(system, t, True, runs) for t in fresh.of(eigen_templates(system)))
    chains = list(fresh.of(chain_templates(system)))
    yield from (Attempt(system, template, first, runs) for template in chains)
    if several and runs is not None:
        for template in fresh.of(closest_templates(system, runs)):
            yield Attempt(system, template, False, runs, patience=LONG_PATIENCE)
    steady = [*fresh.of(steady_templates(system)), *fresh.of(eigen_templates(system))]
    yield from (Attempt(system, template, first, runs) for template in steady)
    chains += steady
    outlines = [] if runs is None else list(fresh.of(outline_templates(system, runs)))
    yield from (Attempt(system, template, not several, runs) for template in outlines)
    if several:
        yield from (Attempt(system, template, not first, runs) for template in chains)
    whole = (
        Attempt(system, template, not several, runs, True, TURNED_PATIENCE) for template in outlines
    )
    phases: Mapping[str, list[Array]] = {}
    if runs is not None:
        starts = [*both_senses(bad_normals(system)), *established(system)]
        phases = phase_chains(system, runs, starts)
        step = 0.5 / fastest_rate(system)
        yield Attempt(system, tilted_template(system, runs, step, phases), not several, runs)
    pieces = [] if runs is None else _in_pieces(system, runs, phases)
    longer = _longer(system, runs, fresh, first)
    yield from _in_turns((pieces, PIECES_FIRST), (longer, 1), (whole, 1))


def _longer(
    system: TemplateSystem, runs: SampledRuns | None, fresh: _Fresh, first: bool
) -> Iterator[Attempt]:
    for template in fresh.of(longer_templates(system)):
        yield Attempt(system, template, first, runs)
        if len(system.locations) > 1:
            yield Attempt(system, template, not first, runs)


def _in_pieces(
    system: TemplateSystem, runs: SampledRuns, phases: Mapping[str, list[Array]]
) -> Iterator[Attempt]:
    """Locations in ever more pieces, most templates first as they are, then turned."""
    tried: list[Cuts] = []
    for cuts in candidate_cuts(system, runs):
        if not cuts or cuts in tried:
            continue
        tried.append(cuts)
        pieces = cut_system(system, cuts)
        inside = cut_runs(system, runs, cuts)
        templates = list(piece_templates(pieces, inside, phases))
        for template, turned in product(templates[:TURNED_TEMPLATES], (False, True)):
            patience = TURNED_PATIENCE if turned else 1.0
            yield Attempt(pieces, template, False, inside, turned, patience)
        for template in templates[TURNED_TEMPLATES:]:
            yield Attempt(pieces, template, False, inside)


class _Fresh:
    """Templates that have not been seen before."""

    def __init__(self) -> None:
        self._seen: set[tuple[tuple[Fraction, ...], ...]] = set()

    def of(self, templates: Iterator[Template]) -> Iterator[Template]:
        """Those of the templates that have directions and are new."""
        for template in templates:
            if template.rows and template.rows not in self._seen:
                self._seen.add(template.rows)
                yield template


def _in_turns(*streams: tuple[Iterable[Attempt], int]) -> Iterator[Attempt]:
    """So many of each in turn, as long as there are any."""
    pending = [(iter(stream), count) for stream, count in streams]
    while pending:
        for stream, count in list(pending):
            some = list(islice(stream, count))
            yield from some
            if len(some) < count:
                pending.remove((stream, count))
