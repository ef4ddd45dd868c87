"""A condition split into bounds of single variables, definitions and the rest."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from workbench.models.expressions.expression import (
    Expression,
    boolean,
    conjunction,
    equal,
    variable,
)
from workbench.models.expressions.operators import Op
from workbench.models.expressions.traversal import conjuncts, free_variables
from workbench.models.record import record


@record
class Box:
    """Bounds of single variables, definitions `x == e`, and the rest of a condition."""

    low: Mapping[str, Fraction]
    high: Mapping[str, Fraction]
    defined: tuple[tuple[str, Expression], ...]
    rest: Expression


MIRRORED = {
    Op.LESS: Op.GREATER,
    Op.LESS_EQUAL: Op.GREATER_EQUAL,
    Op.GREATER: Op.LESS,
    Op.GREATER_EQUAL: Op.LESS_EQUAL,
    Op.EQUAL: Op.EQUAL,
}


def box_of(condition: Expression) -> Box:
    """The condition split into bounds, definitions and the rest; equivalent together
    except that strict bounds are closed (the whole condition is tested afterwards)."""
    low: dict[str, Fraction] = {}
    high: dict[str, Fraction] = {}
    defined: dict[str, Expression] = {}
    rest: list[Expression] = []
    for part in conjuncts(condition):
        truth = part.args[0] if part.op is Op.NOT else part
        if truth.op is Op.VARIABLE:
            defined[truth.name] = boolean(truth is part)
            continue
        if part.op not in MIRRORED:
            rest.append(part)
            continue
        op, (left, right) = part.op, part.args
        if right.op is Op.VARIABLE and left.op is not Op.VARIABLE:
            op, left, right = MIRRORED[op], right, left
        if left.op is not Op.VARIABLE:
            rest.append(part)
        elif right.is_constant and op is not Op.EQUAL:
            bound, better = (low, max) if op in (Op.GREATER, Op.GREATER_EQUAL) else (high, min)
            known = bound.get(left.name, right.constant)
            bound[left.name] = better(known, right.constant)
        elif op is Op.EQUAL and left.name not in defined and right != left:
            defined[left.name] = right
        else:
            rest.append(part)
    return Box(low, high, _ordered(defined, rest), conjunction(*rest))


def _ordered(
    defined: dict[str, Expression], rest: list[Expression]
) -> tuple[tuple[str, Expression], ...]:
    """Definitions in an order in which each uses earlier ones only; loops go to the rest."""
    order: list[tuple[str, Expression]] = []
    pending = dict(defined)
    while pending:
        ready = [n for n, e in pending.items() if not free_variables(e) & pending.keys()]
        if not ready:
            rest.extend(equal(variable(n), e) for n, e in pending.items())
            break
        order.extend((n, pending.pop(n)) for n in ready)
    return tuple(order)
