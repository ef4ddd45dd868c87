"""Questions to the solver about a model, within a budget for the whole model.

Most questions are trivial and never reach z3; for the others equal questions are asked
once. What is not decided, because it is too hard or the budget is used up, is counted, so
that the author learns that a check was incomplete.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from workbench.models.automaton import ValueType
from workbench.models.expressions.expression import FALSE, TRUE, Expression, conjunction
from workbench.models.expressions.traversal import conjuncts, free_variables
from workbench.models.language.linear_conjunctions import decide
from workbench.models.smt.solver import Answer, Limits, Session, Unknown, Unsatisfiable, Witness

MAX_QUESTIONS = 250
PER_QUESTION = Limits(resources=400_000, milliseconds=1_000)


class Questions:
    """Satisfiability questions about variables of known types."""

    def __init__(self, types: Mapping[str, ValueType]):
        self._types = types
        self._session: Session | None = None
        self._answers: dict[Expression, Answer] = {}
        self.undecided: list[str] = []

    def ask(self, condition: Expression) -> Answer:
        """A state that satisfies the condition, if the solver knows."""
        if condition == FALSE:
            return Unsatisfiable()
        if condition == TRUE:
            return Witness({}, True)
        known = self._answers.get(condition) or decide(condition, self._types)
        if known is not None:
            return known
        if len(self._answers) >= MAX_QUESTIONS:
            return Unknown(f"more than {MAX_QUESTIONS} questions to the solver")
        if self._session is None:
            self._session = Session(self._types, PER_QUESTION)
        answer = self._session.satisfiable(condition)
        self._answers[condition] = answer
        return answer

    def conflict(self, conditions: list[Expression]) -> list[Expression]:
        """Some of the conditions that contradict each other."""
        if self._session is None:
            self._session = Session(self._types, PER_QUESTION)
        found = self._session.conflict(conditions)
        return [conditions[n] for n in found] if found is not None else conditions


class Facts:
    """Conditions that are known to hold, found again by the variables they mention."""

    def __init__(self, known: Iterable[Expression]):
        self._parts: list[tuple[Expression, frozenset[str]]] = []
        self._by_name: dict[str, list[int]] = {}
        for part in dict.fromkeys(part for whole in known for part in conjuncts(whole)):
            names = free_variables(part)
            for name in names:
                self._by_name.setdefault(name, []).append(len(self._parts))
            self._parts.append((part, names))

    def with_relevant(self, condition: Expression) -> Expression:
        """The condition and those facts that share variables with it, directly or through
        each other."""
        names = set(free_variables(condition))
        frontier = list(names)
        taken: dict[int, Expression] = {}
        while frontier:
            for number in self._by_name.get(frontier.pop(), ()):
                if number not in taken:
                    part, mentioned = self._parts[number]
                    taken[number] = part
                    frontier.extend(mentioned - names)
                    names |= mentioned
        return conjunction(condition, *(taken[number] for number in sorted(taken)))
