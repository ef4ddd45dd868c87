"""Where a search for violations may begin: concrete starts of abstract counterexamples.

An abstract path to a bad state that no refinement removed is the best suspicion there is. Its
first cell, cut with the initial set, holds the starts from which a real run could follow it;
one state of that intersection, found by the solver, becomes a seed. Seeds only guide: what a
search makes of them must be confirmed like everything else.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from workbench.abstraction.predicates.refinement_history import PathStep, RefinementRound
from workbench.models.automaton import REAL, TIME, Automaton
from workbench.models.expressions.expression import conjunction
from workbench.models.linear import expression_of
from workbench.models.lowering.problem import proved_view
from workbench.models.smt.solver import Limits, Witness, satisfiable
from workbench.models.unfolding import folded
from workbench.simulate.recipe import Recipe

MAX_SEEDS = 6
LIMITS = Limits(resources=2_000_000, milliseconds=500)


def seeds_of(automaton: Automaton, rounds: Iterable[RefinementRound]) -> tuple[Recipe, ...]:
    """Runs from the starts of abstract paths, those of the last rounds first."""
    found: list[Recipe] = []
    for made in reversed([r for r in rounds if r.path]):
        for recipe in _starts(automaton, made.path[0]):
            if recipe not in found:
                found.append(recipe)
        if len(found) >= MAX_SEEDS:
            break
    return tuple(found[:MAX_SEEDS])


def _starts(automaton: Automaton, first: PathStep) -> Iterator[Recipe]:
    types = {v.name: v.type for v in automaton.variables if v.type != REAL}
    types |= {p.name: p.type for p in automaton.parameters if p.type != REAL}
    numeric = {v.name for v in automaton.variables if v.type.is_numeric and v.name != TIME}
    free = {p.name for p in automaton.parameters}
    cell = conjunction(*(expression_of(form) <= 0 for form in first.cell))
    place = folded(proved_view(automaton), first.location)
    for start in automaton.initial_sets():
        if start.location != place:
            continue
        answer = satisfiable(conjunction(start.condition, cell), types, LIMITS)
        if isinstance(answer, Witness):
            values = {
                n: float(v) for n, v in answer.values.items() if not isinstance(v, bool | str)
            }
            yield Recipe(
                until=0.0,
                initial={n: v for n, v in values.items() if n in numeric},
                location=start.location,
                parameters={n: v for n, v in values.items() if n in free},
            )
