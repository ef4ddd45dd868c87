"""Exact formulas for the states from which a target is reached."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass, field
from fractions import Fraction
from html import escape
from typing import TYPE_CHECKING, Any

from workbench.api.asked import RequestError, by_name, condition_over, one_text, unknown
from workbench.api.numbers import Number, exact

if TYPE_CHECKING:
    from workbench.models.automaton import Automaton
    from workbench.models.expressions.expression import Expression
    from workbench.reach.exact.backward import BackwardReach

CUSTOMARY = (-10, 10)
"""What a picture shows of a name where nothing is said."""


@dataclass(frozen=True)
class Reaching:
    """A formula without quantifiers over a model's variables and parameters: a run of one
    location's flow from such a state reaches the target.

    `str(found)` is the formula. `is_verified` says that a solver has proved both directions, that
    it is necessary and that it is sufficient.
    """

    location: str
    target: str
    """What is to be reached."""
    found: BackwardReach = field(repr=False)

    @property
    def formula(self) -> str:
        """The formula as a text."""
        from workbench.models.expressions.printing import to_text

        return to_text(self.found.formula)

    @property
    def names(self) -> tuple[str, ...]:
        """The variables and parameters that the formula speaks of."""
        from workbench.models.expressions.traversal import free_variables

        return tuple(sorted(free_variables(self.found.formula)))

    @property
    def is_necessary(self) -> bool:
        """Whether it is proved that every state that reaches the target satisfies the formula."""
        return self.found.is_necessary

    @property
    def is_sufficient(self) -> bool:
        """Whether it is proved that every state that satisfies the formula reaches the target."""
        return self.found.is_sufficient

    @property
    def is_verified(self) -> bool:
        """Whether both directions are proved."""
        return self.found.is_verified

    @property
    def trust(self) -> str:
        """What is proved of the formula, in words."""
        found = self.found
        by = "" if found.by == "test points" else f" (proposed by {found.by})"
        if found.is_verified:
            return f"verified: the solver proved that the formula is necessary and sufficient{by}"
        missing = [] if found.is_necessary else ["necessary"]
        missing += [] if found.is_sufficient else ["sufficient"]
        text = "unverified: the solver did not prove that the formula is"
        text += f" {' and '.join(missing)}{by}"
        return text if found.doubt is None else f"{text}; {found.by} warns: {found.doubt}"

    def at(self, values: Mapping[str, Number]) -> bool:
        """Whether the target is reached from this state, with these parameters; exact. Raises
        ValueError where a name of the formula has no value."""
        given = _numbers(values)
        self._refuse_missing(given.keys())
        return self.found.evaluate(given)

    def svg(
        self,
        across: str,
        up: str,
        at: Mapping[str, Number] | None = None,
        ranges: Mapping[str, tuple[Number, Number]] | None = None,
    ) -> str:
        """A picture over two names: every cell is decided exactly, at its centre. `ranges` are
        those of the two names, `at` the values of all others."""
        from workbench.reports.pictures.region_plot import region_svg

        given, limits = _numbers(at or {}), ranges or {}
        if across == up:
            raise RequestError("two different names are wanted", "region")
        right, above = (_span(name, limits.get(name, CUSTOMARY)) for name in (across, up))
        self._refuse_missing({across, up, *given})
        fixed = {name: value for name, value in given.items() if name not in (across, up)}
        here = self.found.given(**fixed)
        return region_svg(
            lambda x, y: here.evaluate({across: x, up: y}),
            right,
            above,
            str(here.formula),
        )

    def _refuse_missing(self, known: Set[str]) -> None:
        if missing := [name for name in self.names if name not in known]:
            raise RequestError(f"values are needed for {', '.join(missing)}", "at")

    @property
    def data(self) -> dict[str, Any]:
        """Everything as plain data."""
        return {
            "location": self.location,
            "target": self.target,
            "formula": self.formula,
            "necessary": self.is_necessary,
            "sufficient": self.is_sufficient,
            "eliminated_by": self.found.by,
            "doubt": self.found.doubt,
        }

    def __str__(self) -> str:
        return self.formula

    def __repr__(self) -> str:
        proved = "" if self.is_verified else ", unverified"
        return f"<Reaching {self.target} from {self.location}: {self.formula:.200}{proved}>"

    def _repr_html_(self) -> str:
        return f"<p><code>{escape(self.formula)}</code><br>{escape(self.trust)}</p>"


def reaching(
    automaton: Automaton,
    target: str | None,
    bound: str | None,
    location: str | None,
    during_invariant: bool,
    simplify: bool,
) -> Reaching:
    """The formula for a location, by default the first; the target is by default what breaks
    the first property. Raises ValueError or ModelError."""
    from workbench.models.expressions.expression import TRUE
    from workbench.models.expressions.printing import to_text
    from workbench.reach.exact.backward import backward_reach
    from workbench.reach.exact.flow import NotNilpotentError, location_flow
    from workbench.reach.exact.polynomial_in_time import NotPolynomialError
    from workbench.reach.exact.virtual_substitution import NotEliminableError

    first = next(automaton.initial_sets()).location
    place = first if location is None else one_text("location", location)
    goal = _target(automaton, place, target)
    limit = None if bound is None else _expression(bound, "time")
    during = automaton.location(place).invariant if during_invariant else TRUE
    try:
        found = backward_reach(location_flow(automaton, place), goal, limit, during)
    except (NotNilpotentError, NotPolynomialError, NotEliminableError) as error:
        raise RequestError(str(error)) from None
    return Reaching(place, to_text(goal), found.simplified() if simplify else found)


def _target(automaton: Automaton, location: str, target: str | None) -> Expression:
    try:
        occupied = automaton.occupied(location)
        automaton.location(location)
    except KeyError:
        known = [start.location for start in automaton.initial_sets()]
        raise RequestError(unknown("location", location, known), "location") from None
    if target is not None:
        return condition_over(automaton, target, "target")
    if not automaton.properties:
        raise RequestError("the model has no property: give a target", "target")
    return automaton.properties[0].bad_states(occupied)


def _expression(text: str, argument: str) -> Expression:
    from workbench.models.expressions.text import parse_expression

    return parse_expression(one_text(argument, text), file=f"<{argument}>")


def _numbers(values: Mapping[str, Number]) -> dict[str, Fraction]:
    found: dict[str, Fraction] = {}
    for name, value in by_name("at", values).items():
        try:
            found[name] = exact(value)
        except (ValueError, TypeError) as error:
            raise RequestError(f"{name}: {error}", "at") from None
    return found


def _span(name: str, limits: tuple[Number, Number]) -> Any:
    from workbench.reports.pictures.region_plot import Span

    try:
        low, high = map(exact, limits)
    except (ValueError, TypeError) as error:
        raise RequestError(f"{name}: {error}", "region") from None
    if low >= high:
        raise RequestError(f"{name}: the range is empty", "region")
    return Span(name, low, high)
