"""The one door to z3: is there a state that satisfies a condition?

Conditions are expressions over real, integer, Boolean and enumeration variables. Linear
arithmetic, `min`, `max`, `abs`, `sign`, `floor`, conditionals and one-dimensional tables are
translated exactly; polynomials too, but there z3 may give up. Functions such as `sin` and
external ones are replaced by unknown values within their range: `Unsatisfiable` remains a
proof, while a model that rests on such a value is reported as `Unknown`. So is one that
exists only where some part of the condition has no value (division by zero).

Every witness is checked by evaluating the condition in exact arithmetic, independently of
z3; `Witness.exact` says that this succeeded. (It cannot where z3's value is irrational.)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias

from workbench.models.automaton import BOOL, REAL, ValueType
from workbench.models.expressions.expression import TRUE, Expression, conjunction, variable
from workbench.models.expressions.operators import Op
from workbench.models.expressions.traversal import free_variables, postorder
from workbench.models.record import record
from workbench.models.work import spend

if TYPE_CHECKING:
    from workbench.models.smt.terms import Translation

Scalar: TypeAlias = Fraction | bool | str


@record
class Limits:
    """How hard to try: z3's resource units (deterministic) and wall time (a safety net, which
    must be far beyond what the units take, or answers depend on the machine)."""

    resources: int = 3_000_000
    milliseconds: int = 60_000


@record
class Witness:
    """A state that satisfies the condition; `exact` if checked in exact arithmetic."""

    values: Mapping[str, Scalar]
    exact: bool

    def __str__(self) -> str:
        return ", ".join(f"{name} = {_shown(value)}" for name, value in self.values.items())


@record
class Unsatisfiable:
    """No state satisfies the condition."""


@record
class Unknown:
    """The question was not decided, and why."""

    reason: str


Answer: TypeAlias = Witness | Unsatisfiable | Unknown
_REALS: Mapping[str, ValueType] = MappingProxyType({})
DEFAULT = Limits()


def ask(solver: Any, *marks: Any) -> Any:
    """z3's answer about what a solver holds; its work is counted."""
    outcome = solver.check(*marks)
    spend(0.3 + 4e-4 * _resources(solver))
    return outcome


def _resources(solver: Any) -> float:
    """The resource units that the last question took; z3 counts those of all together."""
    counts = solver.statistics()
    used = counts.get_key_value("rlimit count") if "rlimit count" in list(counts.keys()) else 0
    before, _USED["rlimit"] = _USED.get("rlimit", 0), used
    return float(max(used - before, 0))


_USED: dict[str, int] = {}
"""How many resource units z3 has counted so far."""


def satisfiable(
    condition: Expression,
    types: Mapping[str, ValueType] = _REALS,
    limits: Limits = DEFAULT,
) -> Answer:
    """A state that satisfies the condition, or the knowledge that there is none.

    `types` gives the types of variables that are not real.
    """
    return Session(types, limits).satisfiable(condition)


class Session:
    """Several questions about the same variables; translated parts are kept."""

    def __init__(self, types: Mapping[str, ValueType] = _REALS, limits: Limits = DEFAULT):
        from workbench.models.smt.terms import Translation

        self._types = types
        self._limits = limits
        self._translation: Translation = Translation(types)

    def satisfiable(self, condition: Expression) -> Answer:
        """A state that satisfies the condition, or the knowledge that there is none."""
        import z3

        terms = self._translation
        formula = terms.formula(condition)
        needs = terms.needs(condition)
        solver = self._solver(z3, needs.is_nonlinear)
        solver.add(formula, *needs.side_conditions)
        outcome = ask(solver)
        if outcome == z3.unsat:
            return Unsatisfiable()
        if outcome != z3.sat:
            return Unknown(_reason(solver.reason_unknown()))
        if needs.opaque:
            return Unknown(f"it depends on {', '.join(sorted(needs.opaque))}")
        witness = self._witness(condition, solver.model())
        if witness.exact or not needs.definedness:
            return witness
        solver.add(*needs.definedness)
        if ask(solver) != z3.sat:
            return Unknown("it may hold only where something has no value")
        return self._witness(condition, solver.model())

    def always_some(self, condition: Expression, goal: Expression, name: str) -> bool | None:
        """Whether in every state that satisfies the condition some value of the real variable
        `name` satisfies the goal; None if that was not decided."""
        import z3

        terms = self._translation
        given, wanted = terms.formula(condition), terms.formula(goal)
        needs = terms.needs(conjunction(condition, goal))
        if needs.opaque or needs.side_conditions or needs.definedness:
            return None
        solver = z3.Solver()
        solver.set("rlimit", self._limits.resources)
        solver.set("timeout", self._limits.milliseconds)
        solver.add(given, z3.ForAll([terms.formula(variable(name))], z3.Not(wanted)))
        outcome = ask(solver)
        return None if outcome == z3.unknown else bool(outcome == z3.unsat)

    def conflict(self, conditions: Sequence[Expression]) -> tuple[int, ...] | None:
        """The numbers of some conditions that contradict each other, or None if no
        contradiction was found; the set need not be the smallest."""
        import z3

        terms = self._translation
        solver = self._solver(z3, terms.needs(conjunction(*conditions)).is_nonlinear)
        marks = [z3.Bool(f"condition {number}") for number in range(len(conditions))]
        for mark, condition in zip(marks, conditions, strict=True):
            solver.add(z3.Implies(mark, terms.formula(condition)))
            solver.add(*terms.needs(condition).side_conditions)
        if ask(solver, *marks) != z3.unsat:
            return None
        core = {str(mark) for mark in solver.unsat_core()}
        return tuple(n for n, mark in enumerate(marks) if str(mark) in core)

    def _solver(self, z3: Any, is_nonlinear: bool) -> Any:
        whole = any(kind not in (REAL, BOOL) for kind in self._types.values())
        solver = z3.SolverFor("QF_NRA") if is_nonlinear and not whole else z3.Solver()
        solver.set("rlimit", self._limits.resources)
        solver.set("timeout", self._limits.milliseconds)
        return solver

    def _witness(self, condition: Expression, model: Any) -> Witness:
        values: dict[str, Scalar] = {}
        for name in sorted(free_variables(condition)):
            values[name] = self._translation.value(name, model)
        return Witness(values, _holds(condition, values))


def _holds(condition: Expression, values: Mapping[str, Scalar]) -> bool:
    """Whether exact evaluation confirms the condition."""
    from workbench.models.expressions.evaluation import evaluate

    if condition == TRUE:
        return True
    if any(node.op is Op.SQRT for node in postorder(condition)):
        return False  # roots are evaluated in floating point
    try:
        return evaluate(condition, values) is True
    except (ArithmeticError, ValueError, KeyError):
        return False


def _reason(words: str) -> str:
    if "resource" in words or "canceled" in words or "timeout" in words:
        return "the solver's limit was reached"
    return f"the solver gave up ({words})"


def _shown(value: Scalar) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Fraction) and value.denominator not in (1, 2, 4, 5, 8, 10, 20, 100):
        near = f"{float(value):.6g}"
        return f"{value}" if len(str(value)) <= 9 else f"about {near}"
    if isinstance(value, Fraction) and value.denominator != 1:
        return f"{float(value):g}"
    return str(value)
