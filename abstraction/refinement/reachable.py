"""Reachable sets that make failing obligations hold: invariants found for that purpose.

The states in which the failing obligations fail are forbidden; a template invariant that
excludes them is then a reachable set under which the obligations hold. It is proved again, by
itself, for the certificate.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import product

from workbench.abstraction.templates.invariant_search import (
    Found,
    TemplateInvariant,
    search_invariant,
)
from workbench.models.agents.composition import Product
from workbench.models.automaton import (
    TIME,
    Automaton,
    HybridAutomaton,
    Kind,
    Location,
    Property,
    PropertyKind,
    Range,
    names_of,
    primed,
)
from workbench.models.certificates.refinement import reach_problem
from workbench.models.checker.obligation import Obligation
from workbench.models.evidence.polyhedral import PolyhedralProof
from workbench.models.expressions.expression import (
    ONE,
    ZERO,
    Expression,
    at_location,
    conjunction,
    disjunction,
)
from workbench.models.expressions.simplify import simplify
from workbench.models.expressions.traversal import free_variables, substitute
from workbench.models.lowering.alternatives import TooManyCasesError
from workbench.models.lowering.problem import linear_problem
from workbench.reach.evidence import Unproved, prove

MAX_CORNERS = 64
CLAIM = "the obligations hold"


def reachable_sets(
    detailed: Automaton, failing: Iterable[Obligation], stop: Callable[[], bool]
) -> PolyhedralProof | None:
    """Sets, with exact evidence, that exclude the states where obligations fail; or None."""
    if not isinstance(detailed, HybridAutomaton | Product):
        return None
    bad = [
        conjunction(_at(detailed, o.location), states)
        for o in failing
        for states in [_failing_states(detailed, o)]
        if states is not None
    ]
    if not bad:
        return None
    claim = Property(CLAIM, disjunction(*bad), PropertyKind.FORBIDDEN)
    guarded: Automaton = replace(detailed, properties=(claim,))
    try:
        found = search_invariant(linear_problem(guarded, claim), TemplateInvariant(), stop)
        if not isinstance(found, Found):
            return None
        proof = prove(reach_problem(detailed), found.proof.regions)
    except TooManyCasesError:
        return None
    return None if isinstance(proof, Unproved) else proof


def _at(automaton: Automaton, location: str) -> Expression:
    places = automaton.occupied(location).items()
    return conjunction(*(at_location(component, place) for component, place in places))


def _failing_states(automaton: Automaton, obligation: Obligation) -> Expression | None:
    """The states in which an obligation fails, over the detailed names alone; None if they
    cannot be said without derivatives and later values.

    Derivatives and resets that are only known to lie in a range take the corners: what is
    linear in them and fails somewhere in a box fails at a corner.
    """
    place = automaton.location(obligation.location)
    corners = list(_corners(automaton, place, obligation))
    if not corners or len(corners) > MAX_CORNERS:
        return None
    cases = [simplify(substitute(obligation.condition, corner)) for corner in corners]
    condition = disjunction(*cases)
    return condition if free_variables(condition) <= set(names_of(automaton)) else None


def _corners(
    automaton: Automaton, place: Location, obligation: Obligation
) -> Iterator[dict[str, Expression]]:
    wanted = free_variables(obligation.condition)
    ranges: dict[str, Range] = {}
    for name in names_of(automaton):
        if f"d({name})" in wanted:
            still = any(v.name == name and v.kind is Kind.DISCRETE for v in automaton.variables)
            if still or any(p.name == name for p in automaton.parameters):
                ranges[f"d({name})"] = Range.exactly(ZERO)
    for flow in place.flows:
        if f"d({flow.variable})" in wanted:
            ranges[f"d({flow.variable})"] = flow.range
    if obligation.edge is not None:
        target = automaton.location(obligation.edge.target)
        for given in (*obligation.edge.resets, *target.algebraic):
            if primed(given.variable) in wanted:
                ranges[primed(given.variable)] = given.range
    if f"d({TIME})" in wanted:
        ranges[f"d({TIME})"] = Range.exactly(ONE)
    ends = [[e for e in dict.fromkeys((r.low, r.high)) if e is not None] for r in ranges.values()]
    for chosen in product(*ends):
        yield _resolved(dict(zip(ranges, chosen, strict=True)))


def _resolved(values: dict[str, Expression]) -> dict[str, Expression]:
    """The values with each other substituted, as far as a few rounds go."""
    for _ in range(3):
        values = {name: substitute(value, values) for name, value in values.items()}
    return values
