"""Parametric backward reachability: from which states, for which parameters, does a run meet a
target? The answer is a formula without quantifiers, exact, and checked by the solver.

Pre(B) = { (x, p) : exists t >= 0 . B(phi(x, p, t)) }, with t <= T where a time is given. The
invariant of the location is not taken into account: time may pass without end.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from models.automaton import TIME
from models.evaluation import Scalar, evaluate
from models.expression import (
    Expression,
    Op,
    add,
    compare,
    conjunction,
    disjunction,
    function,
    multiply,
    negation,
    substitute,
    variable,
)
from models.solver import Limits, Unsatisfiable, satisfiable
from reach.exact.polynomial_in_time import InTime, collected, spread
from reach.exact.virtual_substitution import Atom, Case, NotEliminableError, eliminate

ELAPSED = "t"
LIMITS = Limits(60_000_000, 20_000)

_OPPOSITE = {
    Op.LESS: Op.GREATER_EQUAL,
    Op.LESS_EQUAL: Op.GREATER,
    Op.GREATER: Op.LESS_EQUAL,
    Op.GREATER_EQUAL: Op.LESS,
    Op.EQUAL: Op.NOT_EQUAL,
    Op.NOT_EQUAL: Op.EQUAL,
}


@dataclass(frozen=True, slots=True)
class BackwardReach:
    """The formula; `is_necessary` and `is_sufficient` say that the solver has proved that
    every state that reaches the target satisfies it, and the converse."""

    formula: Expression
    cases: tuple[Case, ...]
    is_necessary: bool
    is_sufficient: bool

    @property
    def is_verified(self) -> bool:
        """Whether both directions are proved."""
        return self.is_necessary and self.is_sufficient

    def evaluate(self, values: Mapping[str, Scalar | int]) -> bool:
        """Whether a state with parameters reaches the target; exact for exact numbers."""
        return evaluate(self.formula, values) is True


def backward_reach(
    flow: Mapping[str, InTime], target: Expression, bound: Expression | None = None
) -> BackwardReach:
    """The states and parameters from which the flow meets the target within `bound`."""
    elapsed = variable(_fresh(target, flow))
    moved = {name: spread(polynomial, elapsed) for name, polynomial in flow.items()}
    moved[TIME] = elapsed
    goal = substitute(target, moved)
    parts: list[tuple[tuple[Atom, ...], Case]] = []
    for disjunct in _disjuncts(goal):
        atoms = tuple(_atom(op, difference, elapsed.name) for op, difference in disjunct)
        parts += [(atoms, case) for case in eliminate(atoms, bound)]
    parts = _needed(parts)
    cases = [case for _, case in parts]
    formula = disjunction(*dict.fromkeys(case.condition for case in cases))
    window = [compare(Op.GREATER_EQUAL, elapsed, 0)]
    if bound is not None:
        window.append(compare(Op.LESS_EQUAL, elapsed, bound))
    reached = conjunction(goal, *window)
    necessary = _is_impossible(conjunction(reached, negation(formula)))
    sufficient = all(_is_sufficient(atoms, case, reached, elapsed) for atoms, case in parts)
    return BackwardReach(formula, tuple(cases), necessary, sufficient)


def _needed(parts: list[tuple[tuple[Atom, ...], Case]]) -> list[tuple[tuple[Atom, ...], Case]]:
    """Without the cases "just after a point" that other cases cover already."""
    firm = [part for part in parts if part[1].point is None or not part[1].point.beyond]
    known = disjunction(*(case.condition for _, case in firm))
    later = [part for part in parts if part not in firm]
    return firm + [
        part
        for part in later
        if not _is_impossible(conjunction(part[1].condition, negation(known)))
    ]


def _fresh(target: Expression, flow: Mapping[str, InTime]) -> str:
    name = ELAPSED
    while name in flow:
        name += "_"
    return name


def _is_impossible(condition: Expression) -> bool:
    return isinstance(satisfiable(condition, limits=LIMITS), Unsatisfiable)


def _is_sufficient(
    atoms: tuple[Atom, ...], case: Case, reached: Expression, elapsed: Expression
) -> bool:
    """Whether the case's condition implies that the target is met at its point."""
    point = case.point
    if point is None:
        # Beyond 2 + sum |c_i| / |leading coefficient| a polynomial has its final sign.
        return all(
            _is_impossible(conjunction(case.condition, place, negation(reached)))
            for place in _far_points(atoms[0].polynomial, elapsed)
        )
    if point.beyond:
        return False
    root = variable("root")
    place = conjunction(
        compare(Op.EQUAL, root * root, point.root),
        compare(Op.GREATER_EQUAL, root, 0),
        compare(Op.EQUAL, elapsed * point.r, point.p + point.q * root),
    )
    return _is_impossible(conjunction(case.condition, place, negation(reached)))


def _far_points(polynomial: InTime, elapsed: Expression) -> list[Expression]:
    """For each possible leading coefficient: a time after which the sign is final."""
    found: list[Expression] = []
    for order in range(1, len(polynomial)):
        leading = polynomial[order]
        higher = [compare(Op.EQUAL, c, 0) for c in polynomial[order + 1 :]]
        sizes = [function(Op.ABSOLUTE, c) for c in polynomial[:order]]
        found.append(
            conjunction(
                *higher,
                compare(Op.NOT_EQUAL, leading, 0),
                compare(
                    Op.EQUAL,
                    multiply(function(Op.ABSOLUTE, leading), elapsed),
                    add(multiply(Fraction(2), function(Op.ABSOLUTE, leading)), *sizes),
                ),
            )
        )
    return found


def _atom(op: Op, difference: Expression, name: str) -> Atom:
    if op in (Op.GREATER, Op.GREATER_EQUAL):
        op = Op.LESS if op is Op.GREATER else Op.LESS_EQUAL
        difference = -difference
    return Atom(collected(difference, name), op)


def _disjuncts(goal: Expression) -> list[list[tuple[Op, Expression]]]:
    """The goal as a disjunction of conjunctions of comparisons with zero."""
    found = _normal(goal, is_positive=True)
    if len(found) > 64:
        raise NotEliminableError("the target has more than 64 cases")
    return found


def _normal(goal: Expression, *, is_positive: bool) -> list[list[tuple[Op, Expression]]]:
    work: list[tuple[list[tuple[Op, Expression]], list[tuple[Expression, bool]]]] = [
        ([], [(goal, is_positive)])
    ]
    done: list[list[tuple[Op, Expression]]] = []
    while work and len(done) <= 64:
        atoms, left = work.pop()
        if not left:
            done.append(atoms)
            continue
        (node, positive), rest = left[0], left[1:]
        if node.op is Op.NOT:
            work.append((atoms, [(node.args[0], not positive), *rest]))
        elif node.op is Op.BOOLEAN:
            if bool(node.value) == positive:
                work.append((atoms, rest))
        elif node.op in (Op.AND, Op.OR):
            if (node.op is Op.AND) == positive:
                work.append((atoms, [*((arg, positive) for arg in node.args), *rest]))
            else:
                work.extend((atoms, [(arg, positive), *rest]) for arg in reversed(node.args))
        elif node.op in _OPPOSITE:
            op = node.op if positive else _OPPOSITE[node.op]
            difference = node.args[0] - node.args[1]
            if op is Op.NOT_EQUAL:
                work.append(([*atoms, (Op.GREATER, difference)], rest))
                work.append(([*atoms, (Op.LESS, difference)], rest))
            else:
                work.append(([*atoms, (op, difference)], rest))
        else:
            raise NotEliminableError(f"{node!r} is no comparison of polynomials")
    return done
