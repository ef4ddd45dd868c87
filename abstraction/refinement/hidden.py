"""Witnesses for abstract variables that the detailed automaton does not have.

Given ones come first; for the rest simple candidates are tried: the abstract variable's
initial value as a constant, and every detailed variable that the abstract automaton lacks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from itertools import islice, product

from models.automaton import Automaton
from models.expressions.expression import variable
from models.expressions.operators import Op
from models.expressions.traversal import conjuncts
from models.proof.conditions import names_of
from models.proof.linear import Form, affine, of_variable
from models.proof.simulation_relation import Relation

MAX_CANDIDATES = 24


def witness_candidates(relation: Relation) -> Iterator[Mapping[str, Form]]:
    """Complete assignments of witnesses, the likeliest first; just the given ones if nothing
    is missing."""
    missing = relation.missing
    if not missing:
        yield relation.witness
        return
    own = set(names_of(relation.abstract))
    spare = [v.name for v in relation.detailed.variables if v.name not in own]
    choices = [
        [*_first_values(relation.abstract, name), *map(of_variable, spare), Form({}, Fraction(0))]
        for name in missing
    ]
    for chosen in islice(product(*choices), MAX_CANDIDATES):
        yield {**relation.witness, **dict(zip(missing, chosen, strict=True))}


def _first_values(automaton: Automaton, name: str) -> Iterator[Form]:
    """Constants that the initial states, or the bounds of a parameter, allow."""
    for parameter in automaton.parameters:
        if parameter.name == name:
            known = [b for b in (parameter.low, parameter.high) if b is not None]
            yield Form({}, sum(known, Fraction(0)) / max(len(known), 1))
    for start in automaton.initial_sets():
        for part in conjuncts(start.condition):
            if part.op in (Op.EQUAL, Op.LESS_EQUAL, Op.GREATER_EQUAL) and part.args[0] == variable(
                name
            ):
                value = affine(part.args[1])
                if value is not None and not value.coefficients:
                    yield value
