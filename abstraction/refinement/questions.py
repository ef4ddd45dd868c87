"""Deciding one obligation: has its condition a solution?

Linear conditions are refuted case by case with exact multipliers, which the trusted checker
repeats. What is not linear is decided by z3 and must be confirmed by another method (interval
subdivision in rationals, or enumeration of symbols with exact multipliers); otherwise the
obligation stays open.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import TypeAlias

from workbench.abstraction.refinement.subdivision import has_no_solution
from workbench.abstraction.refinement.time_left import within_time
from workbench.models.automaton import BOOL, REAL, Automaton, ValueType, primed
from workbench.models.certificates.refinement import Assumed, Refuted
from workbench.models.checker.obligation import Obligation
from workbench.models.expressions.expression import Expression, boolean, symbol
from workbench.models.expressions.operators import Op
from workbench.models.expressions.traversal import rebuild, substitute, with_arguments
from workbench.models.linear import Alternatives, Multipliers
from workbench.models.lowering.alternatives import TooManyCasesError, alternatives
from workbench.models.smt.solver import Limits, Scalar, Unsatisfiable, Witness, satisfiable
from workbench.reach.combinations import refutation
from workbench.reach.time_limit import check_time

MAX_ENUMERATED = 512
LIMITS = Limits(resources=5_000_000, milliseconds=4_000)


@dataclass(frozen=True, slots=True)
class Proved:
    """The condition has no solution; `support` goes into the certificate."""

    support: Refuted | Assumed


@dataclass(frozen=True, slots=True)
class Fails:
    """A solution of the condition: values before (`x`), after (`x'`), derivatives (`d(x)`)."""

    values: Mapping[str, Scalar]


@dataclass(frozen=True, slots=True)
class Open:
    """The question was not decided, and why."""

    reason: str


Answer: TypeAlias = Proved | Fails | Open


def decide(obligation: Obligation, types: Mapping[str, ValueType]) -> Answer:
    """Whether the obligation's condition has a solution.

    Raises `OutOfTimeError` soon after the end of the time that is given (`reach.time_limit`).
    """
    try:
        found = refuted_cases(obligation.cases())
    except TooManyCasesError:
        found = None
    if found is not None:
        return Proved(Refuted(found))
    answer = satisfiable(obligation.condition, types, within_time(LIMITS))
    if isinstance(answer, Witness):
        return Fails(answer.values)
    if not isinstance(answer, Unsatisfiable):
        return Open(answer.reason)
    if _refuted_by_enumeration(obligation.condition, types):
        return Proved(Assumed("z3 and enumeration of symbols"))
    if has_no_solution(obligation.condition):
        return Proved(Assumed("z3 and interval subdivision"))
    return Open("z3 says that it holds, but no second method confirms it")


def refuted_cases(cases: Alternatives) -> tuple[Multipliers, ...] | None:
    """Multipliers for every case, or None if one of them was not refuted."""
    found: list[Multipliers] = []
    for rows in cases:
        check_time()
        multipliers = refutation(rows)
        if multipliers is None:
            return None
        found.append(multipliers)
    return tuple(found)


def types_of(*automata: Automaton) -> dict[str, ValueType]:
    """The types of all names that are not real, before and after a jump."""
    found: dict[str, ValueType] = {}
    for automaton in automata:
        declared = {v.name: v.type for v in automaton.variables}
        declared |= {i.name: i.type for i in automaton.inputs}
        declared |= {p.name: p.type for p in automaton.parameters}
        for name, kind in declared.items():
            if kind != REAL:
                found[name] = found[primed(name)] = kind
    return found


def _refuted_by_enumeration(condition: Expression, types: Mapping[str, ValueType]) -> bool:
    finite = {n: list(_values(t)) for n, t in types.items() if t == BOOL or t.values}
    size = 1
    for values in finite.values():
        size *= len(values)
    if not finite or size > MAX_ENUMERATED:
        return False
    for choice in product(*finite.values()):
        chosen = substitute(condition, dict(zip(finite, choice, strict=True)))
        try:
            if refuted_cases(alternatives(rebuild(chosen, _decided))) is None:
                return False
        except TooManyCasesError:
            return False
    return True


def _values(kind: ValueType) -> Iterator[Expression]:
    if kind == BOOL:
        yield from (boolean(False), boolean(True))
    else:
        yield from map(symbol, kind.values)


def _decided(node: Expression, args: tuple[Expression, ...]) -> Expression:
    """Comparisons of symbols and of truth values, decided."""
    literals = (Op.SYMBOL, Op.BOOLEAN)
    if node.op in (Op.EQUAL, Op.NOT_EQUAL) and all(a.op in literals for a in args):
        return boolean((args[0] == args[1]) is (node.op is Op.EQUAL))
    return with_arguments(node, args)
