"""Parametric backward reachability: from which states, for which parameters, does a run meet a
target? The answer is a formula without quantifiers, exact, and checked by the solver.

Pre(B) = { (x, p) : exists t >= 0 . B(phi(x, p, t)) }, with t <= T where a time is given, and
with the invariant true at all times until t where one is given (`during`; its comparisons must
be linear in time, so that they hold in between if they do at both ends).

The quantifier is eliminated by test points (`reach.exact.virtual_substitution`), or, where
degrees are too high for that, by QEPCAD if it is installed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction

from workbench.models.automaton import TIME
from workbench.models.expressions.evaluation import Scalar, evaluate
from workbench.models.expressions.expression import (
    TRUE,
    ZERO,
    Expression,
    add,
    compare,
    conjunction,
    constant,
    disjunction,
    function,
    multiply,
    negation,
    variable,
)
from workbench.models.expressions.operators import Op
from workbench.models.expressions.traversal import conjuncts, free_variables, substitute
from workbench.models.smt.solver import Limits, Session, Unsatisfiable, Witness, satisfiable
from workbench.reach.exact.polynomial_in_time import InTime, collected, spread
from workbench.reach.exact.qepcad import Proposal, QepcadError, eliminated
from workbench.reach.exact.tidy import tidied
from workbench.reach.exact.virtual_substitution import Atom, Case, NotEliminableError, eliminate

ELAPSED = "t"
LIMITS = Limits(60_000_000, 20_000)
QUICK = Limits(6_000_000, 2_000)
"""For what is only to make a formula shorter."""

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
    every state that reaches the target satisfies it, and the converse. `by` tells how the
    quantifier was eliminated, `doubt` what the program that did so was not sure of."""

    formula: Expression
    is_necessary: bool
    is_sufficient: bool
    by: str = "test points"
    doubt: str | None = None

    @property
    def is_verified(self) -> bool:
        """Whether both directions are proved."""
        return self.is_necessary and self.is_sufficient

    def evaluate(self, values: Mapping[str, Scalar | int]) -> bool:
        """Whether a state with parameters reaches the target; exact for exact numbers."""
        return evaluate(self.formula, values) is True

    def given(self, **values: Fraction | int) -> BackwardReach:
        """The formula with some names replaced by numbers, made short again."""
        known = {name: constant(value) for name, value in values.items()}
        formula = tidied(substitute(self.formula, known), TRUE)
        return replace(self, formula=formula)

    def simplified(self) -> BackwardReach:
        """Without the disjuncts of which the solver proves that the others cover them."""
        parts = list(self.formula.args if self.formula.op is Op.OR else (self.formula,))
        for part in sorted(parts, key=lambda p: -len(free_variables(p))):
            others = [p for p in parts if p is not part]
            beyond = conjunction(part, *map(negation, others))
            if isinstance(satisfiable(beyond, limits=QUICK), Unsatisfiable):
                parts = others
        return replace(self, formula=disjunction(*parts))


def backward_reach(
    flow: Mapping[str, InTime],
    target: Expression,
    bound: Expression | None = None,
    during: Expression = TRUE,
) -> BackwardReach:
    """The states and parameters from which the flow meets the target within `bound`, with
    the condition `during` true until then."""
    elapsed = variable(_fresh(target, flow))
    moved = {name: spread(polynomial, elapsed) for name, polynomial in flow.items()}
    moved[TIME] = elapsed
    at_start = substitute(during, {TIME: ZERO})
    goal = conjunction(substitute(target, moved), _steady(during, moved, elapsed.name), at_start)
    window = [compare(Op.GREATER_EQUAL, elapsed, 0)]
    if bound is not None:
        window.append(compare(Op.LESS_EQUAL, elapsed, bound))
    reached = conjunction(goal, *window)
    try:
        return _by_test_points(goal, reached, elapsed, bound)
    except NotEliminableError as error:
        try:
            return _by_program(reached, elapsed)
        except QepcadError as missing:
            raise NotEliminableError(f"{error}; {missing}") from None


def _by_test_points(
    goal: Expression, reached: Expression, elapsed: Expression, bound: Expression | None
) -> BackwardReach:
    parts: list[tuple[tuple[Atom, ...], Case]] = []
    for disjunct in _disjuncts(goal):
        atoms = tuple(_atom(op, difference, elapsed.name) for op, difference in disjunct)
        parts += [(atoms, case) for case in eliminate(atoms, bound)]
    parts = _needed(parts)
    formula = disjunction(*dict.fromkeys(case.condition for _, case in parts))
    necessary = _is_impossible(conjunction(reached, negation(formula)))
    sufficient = all(_is_sufficient(atoms, case, reached, elapsed) for atoms, case in parts)
    if not sufficient:
        sufficient = Session(limits=LIMITS).always_some(formula, reached, elapsed.name) is True
    return BackwardReach(formula, necessary, sufficient)


def _by_program(reached: Expression, elapsed: Expression) -> BackwardReach:
    """A formula that QEPCAD proposes, with what the solver can prove about it. Its answers
    depend on the order of the names, and some are wrong: those are left out."""
    names = sorted(free_variables(reached) - {elapsed.name})
    best: BackwardReach | None = None
    trouble = "the solver refuted every formula that QEPCAD proposed"
    for order in dict.fromkeys((tuple(names), tuple(names[::-1]), tuple(names[1:] + names[:1]))):
        try:
            proposal = eliminated(reached, elapsed.name, order)
        except QepcadError as error:
            trouble = str(error)
            continue
        found = _judged(proposal, reached, elapsed)
        if found is not None and found.is_verified:
            return found
        best = best or found
    if best is None:
        raise QepcadError(trouble)
    return best


def _judged(proposal: Proposal, reached: Expression, elapsed: Expression) -> BackwardReach | None:
    """The proposal with what is proved about it; None if it is wrong."""
    formula = tidied(proposal.formula, TRUE)
    answer = satisfiable(conjunction(reached, negation(formula)), limits=LIMITS)
    if isinstance(answer, Witness) and answer.exact:
        return None
    sufficient = Session(limits=LIMITS).always_some(formula, reached, elapsed.name)
    if sufficient is False:
        return None
    necessary = isinstance(answer, Unsatisfiable)
    return BackwardReach(formula, necessary, sufficient is True, "QEPCAD", proposal.doubt)


def _steady(during: Expression, moved: Mapping[str, Expression], elapsed: str) -> Expression:
    """The invariant at time t, if that and its truth at time 0 make it true in between."""
    for part in conjuncts(during):
        if part != TRUE and part.op not in _OPPOSITE:
            raise NotEliminableError("the invariant is no conjunction of comparisons")
        later = substitute(part, moved)
        if later != TRUE and len(collected(later.args[0] - later.args[1], elapsed)) > 2:
            raise NotEliminableError("a comparison of the invariant is not linear in time")
        if part.op is Op.NOT_EQUAL:
            raise NotEliminableError("the invariant excludes a single value")
    return substitute(during, moved)


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
