"""What can be said of a property that no method decided: up to which time it holds, and which
weaker one holds. Every line rests on a certificate that the checker accepted."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import cast

from workbench.abstraction.strategies.strategy import Strategy, Task
from workbench.abstraction.verification import attempt, strategy
from workbench.models.automaton import HybridAutomaton, Property, PropertyKind
from workbench.models.expressions.expression import Expression, compare, conjunction, constant
from workbench.models.expressions.operators import COMPARISONS, Op
from workbench.models.expressions.printing import to_text
from workbench.models.expressions.traversal import conjuncts, postorder
from workbench.models.verdict import Verified

WORK = 1_500.0
"""For each attempt."""
ATTEMPTS = 4
FIRST, FACTOR = Fraction(10), 4
"""The time that is tried first where the model bounds none, and by how much further ones differ."""


def partial_results(task: Task) -> Iterator[str]:
    """Sentences about what is proved, one after the other."""
    if task.claim.kind is not PropertyKind.PROGRESS:
        yield from _proved_until(task)
        yield from _weaker(task)


def _proved_until(task: Task) -> Iterator[str]:
    """Up to which time flowpipes prove the property."""
    follower = strategy("nonlinear")
    if follower.suits(replace(task, options={**task.options, "horizon": FIRST})) is None:
        follower = strategy("flowpipe")
    best: Fraction | None = None
    horizon = task.horizon / 2 if task.horizon is not None else FIRST
    for _ in range(ATTEMPTS):
        if task.is_late:
            break
        holds = _holds(replace(task, options={**task.options, "horizon": horizon}), follower)
        if holds:
            best = horizon
        if task.horizon is not None:
            if holds:
                break
            horizon /= 2
        elif holds:
            horizon *= FACTOR
        elif best is not None:
            break
        else:
            horizon /= FACTOR
    if best is not None:
        yield f"proved up to time {_number(best)} (--horizon {_number(best)})"


def _weaker(task: Task) -> Iterator[str]:
    """The weaker bound, if there is one, that is proved."""
    sizes = [abs(n.constant) for n in postorder(task.claim.condition) if n.is_constant]
    size = max([Fraction(1), *sizes])
    for share in (Fraction(1, 10), Fraction(1), Fraction(10)):
        condition = _relaxed(task.claim, share * size)
        if condition is None or task.is_late:
            return
        claim = replace(task.claim, condition=condition)
        others = (claim if p.name == claim.name else p for p in task.automaton.properties)
        automaton = replace(cast("HybridAutomaton", task.automaton), properties=tuple(others))
        weaker = replace(task, automaton=automaton, claim=claim)
        if _holds(weaker, strategy("template")):
            yield f"the weaker `{to_text(condition)}` is proved for all time"
            return


def _relaxed(claim: Property, by: Fraction) -> Expression | None:
    """The condition of an assertion with room in every comparison; None where one has none."""
    if claim.kind is not PropertyKind.ASSERTION:
        return None
    parts = []
    for part in conjuncts(claim.condition):
        if part.op not in COMPARISONS or part.op in (Op.EQUAL, Op.NOT_EQUAL):
            return None
        left, right = part.args
        upper = part.op in (Op.LESS, Op.LESS_EQUAL)
        parts.append(compare(part.op, left, right + constant(by if upper else -by)))
    return conjunction(*parts)


def _holds(task: Task, method: Strategy) -> bool:
    return isinstance(attempt(method, task.within(WORK * task.generosity)), Verified)


def _number(value: Fraction) -> str:
    return f"{float(value):g}"
