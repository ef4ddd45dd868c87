"""Modes, transitions and agents as objects, and the text that says the same.

Everything in a part is given to it as an item: equations, modes inside it, transitions, claims.
Which variables it reads and writes follows from the items.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TypeAlias

from workbench.api.notebook import block
from workbench.api.numbers import Number, exact
from workbench.api.saving import save
from workbench.build import given
from workbench.build.given import Setting
from workbench.build.places import Place, checked_name, place
from workbench.build.terms import (
    Constant,
    Equation,
    Flow,
    Function,
    Named,
    Table,
    Term,
    Variable,
    named_in,
    term,
)
from workbench.models.source import Diagnostic, ModelError, Span

Conditions: TypeAlias = Term | Sequence[Term]
Line: TypeAlias = tuple[str, Place]

SHOWN = 100
"""So many characters of a line are shown."""

_LINE = re.compile(r"\bline (\d+)\b")


@dataclass(frozen=True, eq=False)
class ControlPoint:
    """Where transitions begin or end: a mode as a whole, `default` of one (what was active in
    it is left, or resumed), a named entry or exit of one, or an exit of the mode around."""

    mode: Mode | None
    name: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.mode, Mode | None):
            raise TypeError(f"a control point is of a mode, not of {self.mode!r:.60}")
        if self.name != "" or self.mode is None:
            checked_name(self.name)

    @property
    def text(self) -> str:
        """The point as the mode around calls it."""
        return ".".join(p for p in (self.mode.name if self.mode else "", self.name) if p)

    def __repr__(self) -> str:
        return f"<ControlPoint {self.text}>"


@dataclass(frozen=True, eq=False)
class Transition:
    """How control moves from one point to another: where `when` holds it may be taken, and
    then assigns what `do` says, in that order. `how` are the words of the language before
    `trans`: urgent, bilateral, crossing, sliding."""

    source: ControlPoint
    target: ControlPoint
    when: Term | None = None
    do: Mapping[Variable, Setting] = field(default_factory=dict)
    name: str = ""
    how: tuple[str, ...] = ()
    place: Place = field(default_factory=place)

    def __post_init__(self) -> None:
        if not (isinstance(self.source, ControlPoint) and isinstance(self.target, ControlPoint)):
            raise TypeError("a transition is between control points: a.to(b), enter(a)")
        if self.when is not None:
            given.condition(self.when, "`when`")
        if self.name != "":
            checked_name(self.name)
        object.__setattr__(self, "do", given.settings(self.do, "`do`"))
        object.__setattr__(self, "how", given.names(self.how, "`how`"))

    @property
    def terms(self) -> tuple[Term, ...]:
        """Every expression in it."""
        guard = () if self.when is None else (self.when,)
        return guard + tuple(t for s in self.do.values() for t in _bounds(s))

    @property
    def line(self) -> Line:
        """The transition as text."""
        words = [*self.how, "trans"]
        words += [f"#{checked_name(self.name)}"] if self.name else []
        words += ["from", self.source.text, "to", self.target.text]
        words += [] if self.when is None else ["when", self.when.text]
        words += ["do", _block(self.do)] if self.do else []
        return " ".join(words) + ("" if self.do else ";"), self.place

    def __repr__(self) -> str:
        return f"<Transition {self.line[0]:.80}>"


def enter(
    target: Mode | ControlPoint,
    when: Term | None = None,
    do: Mapping[Variable, Setting] | None = None,
) -> Transition:
    """The transition by which the mode around is entered first."""
    return Transition(ControlPoint(None, "init"), _point(target), when, {} if do is None else do)


def leave(name: str) -> ControlPoint:
    """A named exit of the mode around, as the target of a transition."""
    return ControlPoint(None, checked_name(name))


@dataclass(frozen=True, eq=False)
class Claim:
    """A property: what holds in every reachable state, or in none."""

    name: str
    condition: Term
    word: str = "assert"
    place: Place = field(default_factory=place)

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise TypeError(f"a property has a name first, a text, not {self.name!r:.60}")
        if '"' in self.name or not self.name.isprintable():
            raise ValueError(f"a property has a plain name, without quotes, not {self.name!r}")
        given.condition(self.condition, f"the property {self.name!r}")

    @property
    def line(self) -> Line:
        """The property as text."""
        return f'{self.word} "{self.name}" {{ {self.condition.text} }}', self.place

    def __repr__(self) -> str:
        return f"<Claim {self.line[0]:.80}>"


def always(name: str, condition: Term) -> Claim:
    """The property that a condition holds in every reachable state."""
    return Claim(name, condition)


def never(name: str, condition: Term) -> Claim:
    """The property that a condition holds in no reachable state."""
    return Claim(name, condition, "forbid")


class Mode:
    """How variables evolve, and when control moves on.

    `items` are flows (`x.d == -x`), equations (`y.follows(2*x)`), modes inside this one,
    transitions between them, and claims. The mode may be active only while its `invariant` (one
    condition, or several) holds. `private` variables are seen by nobody outside; `entries` and
    `exits` are the names of further control points.
    """

    def __init__(
        self,
        name: str,
        *items: Flow | Equation | Mode | Transition | Claim,
        invariant: Conditions = (),
        private: Mapping[Variable, Setting | None] | Sequence[Variable] = (),
        entries: Sequence[str] = (),
        exits: Sequence[str] = (),
    ):
        self.name, self.place = checked_name(name), place()
        for item in items:
            given.part(item, (Flow, Equation, Mode, Transition, Claim), "a mode")
        self.flows = tuple(i for i in items if isinstance(i, Flow))
        self.equations = tuple(i for i in items if isinstance(i, Equation))
        self.modes = tuple(i for i in items if isinstance(i, Mode))
        self.transitions = tuple(i for i in items if isinstance(i, Transition))
        self.claims = tuple(i for i in items if isinstance(i, Claim))
        self.invariant = given.conditions(invariant, "the invariant")
        self.private = given.first_values(private, "`private`")
        self.points = {
            "entry": given.names(entries, "`entries`"),
            "exit": given.names(exits, "`exits`"),
        }

    @property
    def default(self) -> ControlPoint:
        """The mode with what is active inside it: to leave it as a group, to resume it."""
        return ControlPoint(self, "default")

    def point(self, name: str) -> ControlPoint:
        """A named entry or exit of the mode."""
        return ControlPoint(self, checked_name(name))

    def to(
        self,
        target: Mode | ControlPoint,
        when: Term | None = None,
        do: Mapping[Variable, Setting] | None = None,
        *,
        name: str = "",
        how: Sequence[str] = (),
    ) -> Transition:
        """The transition from this mode to another one."""
        return Transition(
            ControlPoint(self), _point(target), when, {} if do is None else do, name, tuple(how)
        )

    @cached_property
    def terms(self) -> tuple[Term, ...]:
        """Every expression in it, and every variable it changes, without the modes inside."""
        found: list[Term] = [*self.invariant, *(c.condition for c in self.claims)]
        found += [t for flow in self.flows for t in (flow.variable, *flow.terms)]
        found += [t for equation in self.equations for t in (equation.variable, equation.value)]
        for transition in self.transitions:
            found += [*transition.do, *transition.terms]
        found += [t for first in self.private.values() for t in _bounds(first)]
        return (*found, *self.private)

    @cached_property
    def used(self) -> Mapping[str, Named]:
        """What it mentions and does not own, by name."""
        inside = (Term(t.expression, t.parts) for t in self.terms)
        parts = Term(term(0).expression, _merged(*(mode.used for mode in self.modes)))
        own = {variable.name for variable in self.private}
        return {n: p for n, p in named_in(*inside, parts).items() if n not in own}

    @cached_property
    def written(self) -> frozenset[str]:
        """The names of the variables that it changes and does not own."""
        changed = {f.variable.name for f in self.flows} | {e.variable.name for e in self.equations}
        changed |= {v.name for transition in self.transitions for v in transition.do}
        changed |= {name for mode in self.modes for name in mode.written}
        return frozenset(changed - {variable.name for variable in self.private})

    def lines(self, title: str, titles: _Titles) -> Iterator[Line]:
        """The definition as text."""
        yield f"mode {title}() {{", self.place
        yield from _declared(self.used, self.written, self.place)
        for variable, first in self.private.items():
            value = "" if first is None else f" {_set(first)}"
            yield f"  private {variable.kind} {variable.name}{value};", variable.place
        for word, names in self.points.items():
            if names:
                yield f"  {word} {', '.join(names)};", self.place
        for flow in self.flows:
            yield f"  diff {{ d({flow.variable.name}) {flow.text}; }}", flow.place
        for equation in self.equations:
            text = f"{equation.variable.name} == {equation.value.text}"
            yield f"  alge {{ {text}; }}", equation.place
        for condition in self.invariant:
            yield f"  inv {{ {condition.text} }}", self.place
        for mode in self.modes:
            yield f"  mode {mode.name} = {titles(mode)}();", mode.place
        for text, where in [*(t.line for t in self.transitions), *(c.line for c in self.claims)]:
            yield f"  {text}", where
        yield "}", self.place

    def __repr__(self) -> str:
        return f"<Mode {self.name}>"


@dataclass(frozen=True, eq=False)
class Instance:
    """An agent inside another one, under a name; `renaming` says which of the variables around
    its own variables are."""

    agent: Agent
    name: str
    renaming: Mapping[Variable, Variable] = field(default_factory=dict)
    place: Place = field(default_factory=place)

    def __post_init__(self) -> None:
        if not isinstance(self.agent, Agent):
            raise TypeError(f"an instance is of an agent, not of {self.agent!r:.60}")
        checked_name(self.name)
        object.__setattr__(self, "renaming", given.renaming(self.renaming))

    def outside(self, names: Mapping[str, Named]) -> dict[str, Named]:
        """What the agent uses, as it is called around it."""
        new = {mine.name: theirs for mine, theirs in self.renaming.items()}
        found = (new.get(name, part) for name, part in names.items())
        return {part.name: part for part in found}

    def __repr__(self) -> str:
        return f"<Instance {self.name} of {self.agent.name}>"


class Agent:
    """A part of a system that runs beside others; the whole is an agent, too.

    `items` are a mode (the behaviour of an atomic agent) or the agents that it is composed of,
    and claims. `initial` gives first values (a pair of bounds: any value between them), `where`
    further conditions on them; `assume` is what the surroundings guarantee of the variables that
    are only read. `private` variables are seen by nobody outside, and all others by everybody.
    `until` bounds the time for which the claims are made, if this is the whole.
    """

    def __init__(
        self,
        name: str,
        *items: Mode | Agent | Instance | Claim,
        initial: Mapping[Variable, Setting] | None = None,
        where: Conditions = (),
        assume: Conditions = (),
        private: Sequence[Variable] = (),
        predicates: Sequence[Term] = (),
        until: Number | None = None,
    ):
        self.name, self.place = checked_name(name), place()
        for item in items:
            given.part(item, (Mode, Agent, Instance, Claim), "an agent")
        self.modes = tuple(i for i in items if isinstance(i, Mode))
        self.agents = tuple(
            Instance(i, i.name[:1].lower() + i.name[1:], place=i.place)
            if isinstance(i, Agent)
            else i
            for i in items
            if isinstance(i, Agent | Instance)
        )
        self.claims = tuple(i for i in items if isinstance(i, Claim))
        self.initial = given.settings(initial, "`initial`")
        self.where = given.conditions(where, "`where`")
        self.assume = given.conditions(assume, "`assume`")
        listed = given.several(private, "`private` of an agent")
        self.private = tuple(given.variable(one, "`private`") for one in listed)
        self.predicates = given.conditions(predicates, "a predicate")
        self.until = None if until is None else exact(until)

    def named(self, name: str, renaming: Mapping[Variable, Variable] | None = None) -> Instance:
        """The agent under another name, so that one definition serves several times."""
        return Instance(self, name, {} if renaming is None else renaming)

    # What `workbench.load` reads

    def charon(self) -> str:
        """The model as a text of the language, with this agent as the whole."""
        return "".join(f"{text}\n" for text, _ in self._text)

    def save(self, path: str | Path) -> Path:
        """Write that text, modes and all; `Model.export` writes the flat automaton."""
        return save(path, self.charon())

    def externs(self) -> dict[str, Callable[..., float]]:
        """The Python functions that the model calls."""
        return {f.name: f.function for f in _everything(self) if isinstance(f, Function)}

    def placed(self, found: Sequence[Diagnostic]) -> tuple[Diagnostic, ...]:
        """What is wrong with the text, at the places of the Python file that it comes from."""
        return tuple(self._placed(one) for one in found)

    def failure(self, error: ModelError) -> ModelError:
        """What is wrong with the model, shown in the Python files that it comes from."""
        from linecache import getlines

        found = self.placed(error.diagnostics)
        files = {d.span.file for d in found if d.span is not None}
        sources = {file: "".join(getlines(file)) for file in files}
        return ModelError(*found, sources={**error.sources, **sources})

    def _placed(self, found: Diagnostic) -> Diagnostic:
        from dataclasses import replace
        from linecache import getline

        if found.span is None or not 1 <= found.span.line <= len(self._text):
            return found
        text, where = self._text[found.span.line - 1]
        source = getline(where.file, where.line).rstrip()
        first = len(source) - len(source.lstrip()) + 1
        span = Span(where.file, where.line, first, where.line, max(len(source) + 1, first + 1))
        message, hint = (_LINE.sub(self._line, said) for said in (found.message, found.hint or ""))
        message = f"{message} in `{_shown(text.strip())}`"
        return replace(found, message=message, hint=hint or found.hint, span=span)

    def _line(self, mentioned: re.Match[str]) -> str:
        """A line of the text that a message mentions, as the line of the Python file."""
        number = int(mentioned[1])
        where = self._text[number - 1][1].line if 1 <= number <= len(self._text) else number
        return f"line {where}"

    @cached_property
    def _text(self) -> list[Line]:
        titles = _Titles()
        lines: list[Line] = []
        declared = [p for p in _everything(self) if isinstance(p, Constant | Function | Table)]
        lines += [(part.declared, part.place) for part in declared]
        lines += [("", self.place)] if declared else []
        for part in _definitions(self):
            lines += [*part.lines(titles(part), titles), ("", part.place)]
        if self.until is None:
            return lines[:-1]
        end = term(self.until).text
        return [*lines, (f"system {titles(self)}() until {end};", self.place)]

    # What it consists of

    @cached_property
    def used(self) -> Mapping[str, Named]:
        """What it mentions and does not own, by name."""
        terms = [*self.where, *self.assume, *self.predicates, *self.initial]
        terms += [claim.condition for claim in self.claims]
        terms += [t for first in self.initial.values() for t in _bounds(first)]
        below = [mode.used for mode in self.modes] + [i.outside(i.agent.used) for i in self.agents]
        found = _merged(named_in(*terms), *below)
        own = {variable.name for variable in self.private}
        return {n: p for n, p in found.items() if n not in own}

    @cached_property
    def written(self) -> frozenset[str]:
        """The names of the variables that it changes and does not own."""
        changed = {name for mode in self.modes for name in mode.written}
        changed |= {variable.name for variable in self.initial}
        for one in self.agents:
            inner = {n: p for n, p in one.agent.used.items() if n in one.agent.written}
            changed |= one.outside(inner).keys()
        return frozenset(changed - {variable.name for variable in self.private})

    def lines(self, title: str, titles: _Titles) -> Iterator[Line]:
        """The definition as text."""
        yield f"agent {title}() {{", self.place
        for variable in self.private:
            yield f"  private {variable.kind} {variable.name};", variable.place
        yield from _declared(self.used, self.written, self.place)
        if self.initial:
            yield f"  init {_block(self.initial)}", self.place
        for condition in self.where:
            yield f"  init {{ where {condition.text}; }}", self.place
        for condition in self.assume:
            yield f"  assume {{ {condition.text} }}", self.place
        for condition in self.predicates:
            yield f"  predicate {{ {condition.text} }}", self.place
        for mode in self.modes:
            yield f"  mode {mode.name} = {titles(mode)}();", mode.place
        for one in self.agents:
            renamed = "".join(f" [ {a.name} := {b.name} ]" for a, b in one.renaming.items())
            yield f"  agent {one.name} = {titles(one.agent)}(){renamed};", one.place
        for claim in self.claims:
            text, where = claim.line
            yield f"  {text}", where
        yield "}", self.place

    def __repr__(self) -> str:
        return f"<Agent {self.name}>"

    def _repr_html_(self) -> str:
        return block(self.charon())


class _Titles:
    """Names of definitions, each of its own."""

    def __init__(self) -> None:
        self._given: dict[int, str] = {}

    def __call__(self, part: Mode | Agent) -> str:
        """The name of a part's definition."""
        if id(part) not in self._given:
            stem = part.name[:1].upper() + part.name[1:]
            name, number = stem, 2
            while name in self._given.values():
                name, number = f"{stem}{number}", number + 1
            self._given[id(part)] = name
        return self._given[id(part)]


def _definitions(root: Agent) -> list[Mode | Agent]:
    """Every agent and mode of a system once, inner ones first."""
    found: dict[int, Mode | Agent] = {}
    pending: list[tuple[Mode | Agent, bool]] = [(root, False)]
    while pending:
        part, done = pending.pop()
        if done:
            found.setdefault(id(part), part)
            continue
        pending.append((part, True))
        below: list[Mode | Agent] = list(part.modes)
        if isinstance(part, Agent):
            below += [one.agent for one in part.agents]
        pending += [(one, False) for one in reversed(below)]
    return list(found.values())


def _everything(root: Agent) -> list[Named]:
    """Every variable, constant and function of a system."""
    found: dict[int, Named] = {}
    for part in _definitions(root):
        found.update((id(named), named) for named in part.used.values())
    return list(found.values())


def _merged(*parts: Mapping[str, Named]) -> dict[str, Named]:
    return named_in(*(Term(term(0).expression, part) for part in parts))


def _declared(used: Mapping[str, Named], written: frozenset[str], where: Place) -> Iterator[Line]:
    """The variables that a part shares with what is around it."""
    for name, part in used.items():
        if isinstance(part, Variable):
            access = "write" if name in written else "read"
            yield f"  {access} {part.kind} {name};", where


def _shown(text: str) -> str:
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 3]}..."


def _point(target: Mode | ControlPoint) -> ControlPoint:
    if not isinstance(target, Mode | ControlPoint):
        raise TypeError(f"a transition leads to a mode or one of its points, not to {target!r:.60}")
    return target if isinstance(target, ControlPoint) else ControlPoint(target)


def _bounds(setting: Setting | None) -> tuple[Term, ...]:
    if setting is None:
        return ()
    return tuple(map(term, setting)) if isinstance(setting, tuple) else (term(setting),)


def _set(setting: Setting) -> str:
    low, *high = _bounds(setting)
    return f"in [{low.text}, {high[0].text}]" if high else f"= {low.text}"


def _block(settings: Mapping[Variable, Setting]) -> str:
    inner = " ".join(f"{variable.name} {_set(value)};" for variable, value in settings.items())
    return f"{{ {inner} }}"
