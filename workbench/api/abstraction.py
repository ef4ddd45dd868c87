"""Simpler systems that a model refines, made from it and proved."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from workbench.api.asked import RequestError, number
from workbench.api.numbers import Number
from workbench.api.saving import save
from workbench.models.counting import counted

if TYPE_CHECKING:
    from workbench.abstraction.refinement.outcome import Outcome
    from workbench.models.automaton import HybridAutomaton
    from workbench.models.model import Model as Loaded


@dataclass(frozen=True)
class Abstraction:
    """A system that is simpler than a model, and the proof that the model refines it.

    `workbench.load(found.to_charon())` is the new system as a model.
    """

    detailed: Loaded = field(repr=False)
    automaton: HybridAutomaton = field(repr=False)
    """The new system."""
    observed: tuple[str, ...]
    """The variables that both systems have."""
    outcome: Outcome = field(repr=False)
    timed: str | None = None

    @property
    def holds(self) -> bool:
        """Whether it is proved that the model refines the new system."""
        from workbench.abstraction.refinement.outcome import Refines

        return isinstance(self.outcome, Refines)

    @property
    def obligations(self) -> int:
        """How many obligations were proved."""
        judgement = getattr(self.outcome, "judgement", None)
        if judgement is None:
            return 0
        return int(judgement.obligations + judgement.assumed + judgement.reach)

    @property
    def why(self) -> str:
        """What is not proved; empty if all is."""
        if self.holds:
            return ""
        failures = getattr(self.outcome, "failures", ())
        return "; ".join(f"{f.title}: {f.why}" for f in failures)

    @property
    def variables(self) -> tuple[str, ...]:
        """The variables of the new system."""
        return tuple(v.name for v in self.automaton.variables)

    @property
    def locations(self) -> tuple[str, ...]:
        """The locations of the new system."""
        return tuple(x.name for x in self.automaton.locations)

    def to_charon(self) -> str:
        """The new system as a CHARON text of one agent."""
        from workbench.models.language.unparse import unparse

        agent = self.detailed.agent
        access = {} if agent is None else {d.name: d.access.value for d in agent.variables}
        return unparse(self.automaton, access)

    def to_json(self) -> str:
        """The new system as JSON."""
        from workbench.models.interchange.json_model import to_json

        return json.dumps(to_json(self.automaton), indent=1) + "\n"

    def save(self, path: str | Path) -> Path:
        """Write the new system: `.json`, or else a CHARON text. Raises ValueError where it is
        not proved that the model refines it."""
        if not self.holds:
            raise ValueError(f"it is not proved that the model refines it: {self.why}")
        return save(path, self.to_json() if Path(path).suffix == ".json" else self.to_charon())

    def advice(self, as_json: bool = False) -> tuple[str, ...]:
        """What to tell `refine` so that it compares the model with the text of the new system,
        or its JSON, where it would not do so by itself."""
        from workbench.abstraction.refinement.interface import compare_interfaces
        from workbench.models.automaton import names_of
        from workbench.models.load import load_text

        text = self.to_json() if as_json else self.to_charon()
        model, made = self.detailed, load_text(text, "<abstraction>")
        found: list[str] = []
        if compare_interfaces(model.automaton, made.automaton, model.agent, made.agent).failures:
            known = set(names_of(made.automaton)) & set(names_of(model.automaton))
            rest = " ".join(f"--observe {n}" for n in self.observed if n in known)
            found.append(
                f"it does not show the same variables: compare with {rest}"
                if rest
                else "its variables have other names: `refine` cannot compare them"
            )
        if self.timed is not None:
            found.append(
                "proved beside a clock that the model itself does not have: `refine` has none"
            )
        return tuple(found)

    @property
    def data(self) -> dict[str, Any]:
        """Everything as plain data."""
        return {
            "outcome": "refines" if self.holds else "not proved",
            "obligations": self.obligations,
            "variables": list(self.variables),
            "locations": list(self.locations),
            **({} if self.holds else {"why": self.why}),
        }

    def in_words(self, detailed: str, abstract: str) -> str:
        """The outcome, with these names for the systems."""
        if not self.holds:
            return f"{detailed}: NOT PROVED to refine what was made: {self.why}"
        proved = f"{counted(self.obligations, 'obligation')} proved"
        return f"{detailed} REFINES {abstract}: {proved}"

    def __str__(self) -> str:
        return self.in_words(self.detailed.name, "the new system")

    def __bool__(self) -> NoReturn:
        raise TypeError("an abstraction has no truth value: ask .holds")

    def __repr__(self) -> str:
        word = "refined by" if self.holds else "not proved to be refined by"
        size = f"{counted(len(self.variables), 'variable')}, "
        size += counted(len(self.locations), "location")
        return f"<Abstraction {word} {self.detailed.name}: {size}>"

    def _repr_html_(self) -> str:
        from workbench.reports.pictures.diagram import draw_automaton

        return f"<p>{escape(str(self))}</p>{draw_automaton(self.automaton)}"


def made_simpler(
    loaded: Loaded,
    interval: Sequence[str],
    drop: Sequence[str],
    merge: Sequence[str],
    widen: Number | None,
    timed: str | None,
) -> Abstraction:
    """What is asked for, in the order timed, interval, drop, widen, merge, and its proof."""
    from workbench.abstraction.refinement.flat import Settings, refine
    from workbench.abstraction.refinement.surroundings import among_others, changed_by_others
    from workbench.abstraction.refinement.timed import durations
    from workbench.models.agents.composition import explicit
    from workbench.models.automaton import names_of

    if not (interval or drop or merge or widen is not None or timed):
        raise RequestError("say what to leave out: timed, interval, drop, widen or merge")
    margin = None if widen is None else _margin(widen)
    original, made, places = _made(explicit(loaded.automaton), interval, drop, merge, margin, timed)
    observed = tuple(n for n in names_of(made) if n in names_of(original))
    regions = () if timed is None else durations(original, timed)
    alone = not changed_by_others(loaded.agent)
    settings = Settings(places, reach=alone, refute=False, regions=regions)
    outcome = among_others(refine(original, made, observed, settings), loaded.agent)
    return Abstraction(loaded, made, observed, outcome, timed)


def _made(
    original: HybridAutomaton,
    interval: Sequence[str],
    drop: Sequence[str],
    merge: Sequence[str],
    margin: Fraction | None,
    timed: str | None,
) -> tuple[HybridAutomaton, HybridAutomaton, Mapping[str, str]]:
    """The system that is refined (with a clock, for `timed`), the simpler one, and which
    locations of the latter stand for those of the former."""
    from workbench.abstraction.refinement import makers
    from workbench.abstraction.refinement.timed import timed as with_durations
    from workbench.abstraction.refinement.timed import with_clock

    made = original
    if timed is not None:
        original = with_clock(original)
        made = with_durations(original, timed)
    if interval:
        made = makers.with_interval_flows(made, interval)
    if drop:
        made = makers.without_variables(made, drop)
    if margin is not None:
        made = makers.with_wider_guards(made, margin)
    places: Mapping[str, str] = {x.name: x.name for x in made.locations}
    if merge:
        made, places = makers.merged(made, list(merge), "_".join(merge))
    return original, made, places


def _margin(value: Number) -> Fraction:
    margin = number("widen", value)
    if margin < 0:
        raise RequestError("a margin is not negative", "widen")
    return margin
