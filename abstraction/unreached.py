"""What no run ever reaches, provably: locations, and transitions that are never taken.

A location is not reached if no edge leads there, or if the certified invariant has no state in it.
A transition is not taken if its guard, and the invariant of where it leads, hold nowhere in the
certified invariant; the solver says so. Claims about such parts hold for want of behaviour, so
verdicts name them. Nothing is said of what was only not seen.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

from workbench.models.automaton import INT, Automaton, ValueType, never_blocks, primed
from workbench.models.certificates.certificate import Certificate
from workbench.models.checker.covers import Region
from workbench.models.evidence.polyhedral import PolyhedralProof
from workbench.models.expressions.expression import (
    Expression,
    compare,
    conjunction,
    disjunction,
)
from workbench.models.expressions.operators import Op
from workbench.models.linear import Rows, expression_of
from workbench.models.lowering.alternatives import TooManyCasesError
from workbench.models.lowering.problem import LinearProblem, linear_problem
from workbench.models.unfolding import folded

SHOWN = 3
"""So many of each kind are named."""
_OPS = {False: Op.LESS_EQUAL, True: Op.LESS}
MOST_ROWS = 20_000
"""So many rows are put to the solver at most, for all transitions together."""


@dataclass(frozen=True)
class Unreached:
    """Names of locations that no run reaches, and of transitions between others that no run
    takes; with the name of their component where there are several."""

    locations: tuple[str, ...] = ()
    transitions: tuple[str, ...] = ()

    @property
    def sentence(self) -> str:
        """All of it in words; empty if there is nothing to say."""
        parts = []
        if self.locations:
            parts.append(f"reaches {_listed(self.locations)}")
        if self.transitions:
            parts.append(f"takes {_listed(self.transitions)}")
        return f"no run {' or '.join(parts)}" if parts else ""

    def __or__(self, other: Unreached) -> Unreached:
        """What is known from two certificates."""
        locations = dict.fromkeys((*self.locations, *other.locations))
        transitions = dict.fromkeys((*self.transitions, *other.transitions))
        return Unreached(tuple(locations), tuple(transitions))


def unreached(
    automaton: Automaton, certificate: Certificate | None = None, deadline: float = float("inf")
) -> Unreached:
    """What no run reaches, by the graph and, if there is one, by a certificate for all time."""
    reached = {part.name: _by_graph(automaton, part.name) for part in automaton.components}
    transitions: tuple[str, ...] = ()
    proof = None if certificate is None else certificate.safety
    if certificate is not None and isinstance(proof, PolyhedralProof):
        problem = linear_problem(automaton, never_blocks(automaton))
        places = {folded(problem.automaton, region.location) for region in proof.regions}
        occupied = [automaton.occupied(place) for place in places]
        for name in reached:
            reached[name] &= {o[name] for o in occupied if name in o}
        transitions = _never_taken(problem, proof.regions, deadline)
    single = len(automaton.components) == 1
    locations = tuple(
        place.name if single else f"{part.name}: {place.name}"
        for part in automaton.components
        for place in part.locations
        if place.name not in reached[part.name]
    )
    return Unreached(locations, transitions)


def _by_graph(automaton: Automaton, component: str) -> set[str]:
    """The locations of a component to which edges lead from where runs start."""
    (part,) = (p for p in automaton.components if p.name == component)
    found: set[str] = set()
    frontier = [start.location for start in part.initial]
    while frontier:
        name = frontier.pop()
        if name not in found:
            found.add(name)
            frontier += [edge.target for edge in part.edges_from(name)]
    return found


# Transitions


def _never_taken(
    problem: LinearProblem, regions: tuple[Region, ...], deadline: float
) -> tuple[str, ...]:
    """Names of transitions whose every edge from a region is impossible."""
    from workbench.models.smt.solver import Session, Unsatisfiable

    session = Session(_types(problem))
    possible: set[str] = set()
    impossible: dict[str, None] = {}
    left = MOST_ROWS
    try:
        for region in regions:
            cells = [region.rows(number) for number in range(len(region.cells))]
            here = disjunction(*map(_written, cells))
            for jump in problem.jumps(region.location):
                left -= sum(map(len, (*cells, *jump.cases)))
                if left < 0 or time.monotonic() > deadline:
                    return ()
                if jump.name in possible:
                    continue
                taken = conjunction(here, disjunction(*map(_written, jump.cases)))
                if isinstance(session.satisfiable(taken), Unsatisfiable):
                    impossible[jump.name] = None
                else:
                    possible.add(jump.name)
    except TooManyCasesError:
        return ()
    return tuple(name for name in impossible if name not in possible)


def _types(problem: LinearProblem) -> dict[str, ValueType]:
    """Whole numbers are told to the solver; what rows write as numbers are numbers to it."""
    whole = {v.name: INT for v in problem.automaton.variables if v.type == INT}
    return whole | {primed(name): INT for name in whole}


def _written(rows: Rows) -> Expression:
    return conjunction(*(compare(_OPS[row.strict], expression_of(row.form), 0) for row in rows))


def _listed(names: tuple[str, ...]) -> str:
    quoted = [f"`{name}`" for name in names[:SHOWN]]
    if len(names) > SHOWN:
        quoted.append(f"{len(names) - SHOWN} more")
    return " and ".join(part for part in (", ".join(quoted[:-1]), quoted[-1]) if part)
