"""Obligations: conditions that must have no solution, and what refutes them case by case."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from types import MappingProxyType

from workbench.models.automaton import Edge
from workbench.models.checker.conditions import without_waves
from workbench.models.expressions.expression import Expression
from workbench.models.expressions.traversal import free_variables
from workbench.models.linear import Alternatives, Form, Row, Rows, of_variable
from workbench.models.lowering.alternatives import TooManyCasesError, Types, alternatives
from workbench.models.lowering.pieces import without_pieces
from workbench.models.source import Span


class ObligationKind(StrEnum):
    """Which of the obligations a condition belongs to."""

    INITIAL = "initial"
    INVARIANT = "invariant"
    FLOW = "flow"
    JUMP = "jump"
    URGENCY = "urgency"


@dataclass(frozen=True, slots=True)
class Obligation:
    """A condition that must have no solution; the spans are places in both sources."""

    kind: ObligationKind
    title: str
    location: str
    condition: Expression
    detailed: Span | None = None
    abstract: Span | None = None
    edge: Edge | None = field(default=None, compare=False)
    types: Types = field(default_factory=lambda: MappingProxyType({}), compare=False, repr=False)

    def cases(self) -> Alternatives:
        """Row lists, one of which holds wherever the condition does. Piecewise linear values are
        taken apart unless that makes too many cases; then nothing is known of them."""
        plain = without_waves(self.condition)
        try:
            found = alternatives(without_pieces(plain, self.types), self.types)
        except TooManyCasesError:
            found = alternatives(plain, self.types)
        domains = self._domains()
        return tuple((*rows, *domains) for rows in found)

    def _domains(self) -> Rows:
        """That truth values and symbols are among the numbers that stand for them."""
        kinds = {n: self.types.get(n) for n in sorted(free_variables(self.condition))}
        most = {n: len(k.values) or 2 for n, k in kinds.items() if k and not k.is_numeric}
        values = {n: of_variable(n) for n in most}
        return tuple(
            row
            for name, count in most.items()
            for row in (Row(-values[name]), Row(values[name] - Form({}, Fraction(count - 1))))
        )
