"""Witnesses for abstract variables that are not observed.

Given ones come first. For a variable that the detailed automaton does not have, simple candidates
are tried: the abstract variable's initial value as a constant, or growing at the abstract rate, and
every detailed variable that the abstract automaton lacks. A variable of the same name stands for
itself, unless that fails: what is not observed need not be the same on both sides.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from fractions import Fraction
from itertools import islice, product

from workbench.models.automaton import TIME, Automaton, names_of
from workbench.models.checker.simulation_relation import Relation
from workbench.models.expressions.expression import variable
from workbench.models.expressions.operators import Op
from workbench.models.expressions.traversal import conjuncts
from workbench.models.linear import Form, affine, of_variable

MAX_CANDIDATES = 24


def witness_candidates(
    relation: Relation, observed: Collection[str]
) -> Iterator[Mapping[str, Form]]:
    """Complete assignments of witnesses, the likeliest first; `relation` has the given ones."""
    own = set(names_of(relation.abstract))
    spare = [of_variable(v.name) for v in relation.detailed.variables if v.name not in own]

    def choices(name: str) -> list[Form]:
        return [*_first_values(relation.abstract, name), *_clocks(relation.abstract, name), *spare]

    zero = Form({}, Fraction(0))
    missing = relation.missing
    chosen = product(*([*choices(name), zero] for name in missing))
    plain = [dict(zip(missing, c, strict=True)) for c in islice(chosen, MAX_CANDIDATES)]
    for found in plain:
        yield {**relation.witness, **found}
    variables = {v.name for v in relation.abstract.variables}
    hidden = [n for n in relation.shared if n in variables and n not in observed]
    other = [{name: form} for name in hidden for form in choices(name)]
    firsts = {name: forms[0] for name in hidden if (forms := choices(name))}
    if len(firsts) > 1:
        other.insert(0, firsts)
    for changed in other[:MAX_CANDIDATES]:
        yield {**relation.witness, **plain[0], **changed}


def _clocks(automaton: Automaton, name: str) -> Iterator[Form]:
    """What grows from the first value at the rate that a location gives, if it is a number."""
    first = next(_first_values(automaton, name), None)
    for start in automaton.initial_sets():
        rate = automaton.location(start.location).flow_of(name).exact
        if first is not None and rate is not None and rate.is_constant and rate.constant:
            yield Form({TIME: rate.constant}, first.constant)


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
