"""What a model consists of: its size, its tree and diagram, and its flat locations."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.api.asked import RequestError, claims_named, count
from workbench.api.notebook import block
from workbench.api.saving import save
from workbench.models.counting import counted

if TYPE_CHECKING:
    from workbench.models.automaton import Automaton, Edge, Location
    from workbench.models.certificates.standalone import Legend
    from workbench.models.model import Model as Loaded
    from workbench.models.source import Diagnostic
    from workbench.reports.words.outline import Branch


@dataclass(frozen=True)
class Check:
    """What `check` says of a model: its size, by kind, and warnings."""

    model: str
    facts: Mapping[str, Any] = field(repr=False)
    warnings: tuple[Diagnostic, ...] = ()

    @property
    def size(self) -> str:
        """How large the model is, as a phrase."""
        return in_words(self.facts)

    def __str__(self) -> str:
        lines = [f"{self.model}: ok ({self.size})"]
        return "\n".join([*lines, *(warning.render() for warning in self.warnings)])

    def __repr__(self) -> str:
        strange = f"; {counted(len(self.warnings), 'warning')}" if self.warnings else ""
        return f"<Check {self.model}: {self.size}{strange}>"

    def _repr_html_(self) -> str:
        return block(str(self))


def summary(automaton: Automaton) -> dict[str, Any]:
    """The size of a model, read off its components without building their product."""
    return {
        "components": [
            {"name": c.name, "locations": len(c.locations), "edges": len(c.edges)}
            for c in automaton.components
        ],
        "variables": [v.name for v in automaton.variables],
        "inputs": [i.name for i in automaton.inputs],
        "parameters": [p.name for p in automaton.parameters],
        "properties": [p.name for p in automaton.properties],
        "horizon": None if automaton.horizon is None else str(automaton.horizon),
    }


def in_words(facts: Mapping[str, Any]) -> str:
    """The summary as a phrase."""
    locations = [c["locations"] for c in facts["components"]]
    parts = [counted(len(locations), "component")]
    parts.append(counted(sum(locations), "location"))
    parts += [
        counted(len(facts[plural]), singular)
        for plural, singular in (
            ("variables", "variable"),
            ("inputs", "input"),
            ("parameters", "uncertain parameter"),
            ("properties", "property"),
        )
        if facts[plural] or plural in ("variables", "properties")
    ]
    return ", ".join(parts)


@dataclass(frozen=True)
class Picture:
    """The structure of a model: `print` writes the tree, a notebook draws the diagram."""

    loaded: Loaded = field(repr=False)
    everything: bool = False

    @cached_property
    def svg(self) -> str:
        """The diagram as an SVG document."""
        from workbench.reports.pictures.diagram import draw_agent, draw_automaton

        if self.loaded.agent is None:
            return draw_automaton(self.loaded.automaton)
        return draw_agent(self.loaded.agent, title=self.loaded.name)

    @property
    def tree(self) -> Branch:
        """The tree, each branch with its text and children."""
        from workbench.reports.words.outline import agent_outline, automaton_outline

        if self.loaded.agent is None:
            return automaton_outline(self.loaded.automaton)
        return agent_outline(self.loaded.agent, everything=self.everything)

    @property
    def data(self) -> dict[str, Any]:
        """The tree as plain data: each branch an object with `text` and `children`."""
        from workbench.reports.words.outline import as_data

        return as_data(self.tree)

    def locations(self, limit: int = 100) -> tuple[list[FlatLocation], bool]:
        """The flat locations, nearest to the initial ones first, and whether these are all."""
        count("limit", limit, least=1)
        return flat_locations(self.loaded.automaton, limit)

    def problem(self, claim: str | None = None, limit: int = 100) -> ProblemText:
        """What a proof of a property has to be about, exactly: the model in normal form, its
        locations nearest to the initial ones first. The property may be left out if there is one
        alone."""
        count("limit", limit, least=1)
        return problem_text(self.loaded.automaton, claim, limit)

    def save(self, path: str | Path) -> Path:
        """Write the diagram (`.svg`)."""
        return save(path, self.svg)

    def __str__(self) -> str:
        from workbench.reports.words.outline import render

        return "\n".join(render(self.tree))

    def __repr__(self) -> str:
        return f"<Picture of {self.loaded.name}>"

    def _repr_html_(self) -> str:
        return f'<div style="overflow-x:auto">{self.svg}</div>'


@dataclass(frozen=True)
class ProblemText:
    """A model and a property in normal form: `print` writes it in words, `data` are the names and
    the numbers as certificates have them."""

    claim: str
    complete: bool
    """Whether no location was left out."""
    names: Legend = field(repr=False)
    content: Any = field(repr=False)

    @property
    def lines(self) -> list[str]:
        """The words, one statement on a line."""
        from workbench.models.certificates.words import problem_lines

        return list(problem_lines(self.names, self.content))

    @property
    def data(self) -> dict[str, Any]:
        """Names and numbers as plain data."""
        from workbench.models.certificates.standalone import names_json

        return {"names": names_json(self.names), "problem": self.content}

    def __str__(self) -> str:
        return "\n".join(self.lines)

    def __repr__(self) -> str:
        part = "" if self.complete else ", in part"
        return (
            f"<ProblemText {self.claim!r}: {counted(len(self.names.locations), 'location')}{part}>"
        )

    def _repr_html_(self) -> str:
        return block(str(self))


def problem_text(automaton: Automaton, claim: str | None, limit: int) -> ProblemText:
    """The normal form with at most so many locations. Raises RequestError."""
    from workbench.models.automaton import PropertyKind
    from workbench.models.certificates.standalone import Legend
    from workbench.models.lowering.alternatives import TooManyCasesError
    from workbench.models.lowering.narrow import reaching, system
    from workbench.models.lowering.normal_form import NormalForm, NotLoweredError
    from workbench.models.lowering.problem import linear_problem
    from workbench.models.well_formed import fault_of

    asked = claims_named(automaton, () if claim is None else (claim,))
    if len(asked) > 1:
        known = ", ".join(repr(one.name) for one in asked)
        raise RequestError(f"the model has the properties {known}; name one", "claim")
    if why := fault_of(automaton):
        raise RequestError(f"nothing is proved about this model: {why}")
    problem = linear_problem(automaton, asked[0])
    is_progress = asked[0].kind is PropertyKind.PROGRESS
    if is_progress:
        problem = reaching(problem)
    try:
        queue = list(dict.fromkeys(location for location, _ in problem.starts()))
        for place in queue:
            if len(queue) > limit:
                break
            found = (jump.target for jump in problem.jumps(place))
            queue += [name for name in dict.fromkeys(found) if name not in queue]
        form = NormalForm(problem, queue[:limit])
        content = system(form) if is_progress else form.data
    except (TooManyCasesError, NotLoweredError) as error:
        raise RequestError(f"the problem cannot be written out: {error}") from None
    complete = form.taken == len(form.locations)
    return ProblemText(asked[0].name, complete, Legend.of(form), content)


@dataclass(frozen=True)
class FlatLocation:
    """A location of the product of all components, with the edges that leave it."""

    location: Location = field(repr=False)
    edges: tuple[Edge, ...] = field(repr=False)

    @property
    def name(self) -> str:
        """The places of all components."""
        return self.location.name

    @property
    def lines(self) -> list[str]:
        """Flows, equations, invariant and edges, one on a line."""
        from workbench.reports.words import wording

        return list(chain(wording.inside(self.location), map(wording.edge, self.edges)))

    @property
    def data(self) -> dict[str, Any]:
        """The same as plain data."""
        from workbench.reports.words import wording

        return {
            "name": self.name,
            "flows": list(map(wording.flow, self.location.flows)),
            "algebraic": list(map(wording.equation, self.location.algebraic)),
            "invariant": list(wording.conditions(self.location.invariant)),
            "edges": [
                {
                    "target": edge.target,
                    "label": edge.label,
                    "guard": str(edge.guard),
                    "resets": list(map(wording.assignment, edge.resets)),
                    "urgent": edge.urgent,
                }
                for edge in self.edges
            ],
        }


def flat_locations(automaton: Automaton, limit: int) -> tuple[list[FlatLocation], bool]:
    """The locations that edges lead to from the initial ones, nearest first, and whether these
    are all; guards are not evaluated."""
    starts = dict.fromkeys(start.location for start in automaton.initial_sets())
    queue = deque(islice(starts, limit))
    seen, complete = set(queue), len(starts) <= limit
    found: list[FlatLocation] = []
    while queue:
        name = queue.popleft()
        edges = tuple(automaton.edges_from(name))
        found.append(FlatLocation(automaton.location(name), edges))
        for edge in edges:
            if edge.target in seen:
                continue
            if len(seen) == limit:
                complete = False
                continue
            seen.add(edge.target)
            queue.append(edge.target)
    return found, complete
