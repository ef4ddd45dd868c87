"""One top-level mode unfolded: its control states as locations, its steps as edges.

Control rests in an atomic mode (the leaf), together with what composite modes that are not
active remember of their last active submode. `Unfolding` explores these places from the
initial transitions; `models.agents.flatten` turns the result into an automaton.

A step starts with a transition that leaves an active mode at any level (a transition from
`a.dx` of a composite `a` pre-empts whatever is inside and leaves its history alone), or
with a transition inside an atomic mode. It continues through named entry and exit points,
where control cannot rest, until it reaches an atomic mode: guards and assignments along
the way are composed into one guard and one reset. Entering a composite mode by its default
entry resumes the remembered submode; leaving one by a named exit forgets it. Only modes
that a default entry can reach while inactive remember anything, so histories that nobody
reads cost no locations.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterator, Mapping
from functools import cached_property
from typing import TypeAlias

from workbench.models.agents.hierarchy import (
    DEFAULT_ENTRY,
    DEFAULT_EXIT,
    INIT,
    ControlPoint,
    Mode,
    Transition,
)
from workbench.models.agents.mode_tree import Node, Path, mode_nodes
from workbench.models.agents.resets import Execution, ReadsChoiceError
from workbench.models.automaton import INT, Constraint, Kind, ValueType
from workbench.models.expressions.expression import FALSE, Expression, conjunction
from workbench.models.record import record
from workbench.models.source import Diagnostic, ModelError, Span

_Remembered: TypeAlias = frozenset[tuple[Path, str]]

MAX_PLACES = 20_000
MAX_STEPS = 200_000


@record
class Place:
    """Where control rests: the active atomic mode, and what inactive modes remember."""

    leaf: Path
    memory: tuple[tuple[Path, str], ...] = ()

    def is_active(self, path: Path) -> bool:
        """Whether the mode of that path is active here."""
        return self.leaf[: len(path)] == path


@record
class Step:
    """A way from a place, or from the start, to a place; `first` is the transition that
    sets out, `labels` are those of all transitions on the way."""

    target: Place
    guard: Expression
    resets: tuple[Constraint, ...]
    first: Transition | None
    labels: tuple[str, ...]


class Unfolding:
    """The places and steps of a top-level mode.

    `names` maps the agent's names to flat ones, of which `whole` are whole numbers; `prefix` goes
    before the names of local variables, which avoid the flat names of the agent.
    """

    def __init__(self, top: Mode, names: Mapping[str, str], whole: Collection[str], prefix: str):
        self.nodes = mode_nodes(top, names, prefix, set(names.values()))
        self.variables = frozenset(names.values()) | frozenset(
            name for node in self.nodes.values() for name, _ in node.local
        )
        self._whole = frozenset(whole) | frozenset(
            name for node in self.nodes.values() for name, d in node.local if d.type == INT
        )
        self.steps: dict[Place, tuple[Step, ...]] = {}
        self.initial = tuple(self._initial_steps())
        self._explore()

    def active(self, place: Place) -> Iterator[Node]:
        """The active modes at a place, from the top down."""
        for depth in range(len(place.leaf) + 1):
            yield self.nodes[place.leaf[:depth]]

    @cached_property
    def analog_locals(self) -> Mapping[str, tuple[Path, ValueType]]:
        """The analog local variables, each with the path of its mode and its type."""
        return {
            flat: (path, declared.type)
            for path, node in self.nodes.items()
            for flat, declared in node.local
            if declared.kind is Kind.ANALOG
        }

    @cached_property
    def _remembers(self) -> frozenset[Path]:
        """The composite modes whose history may be read when they are entered again."""
        found: set[Path] = set()
        for path, node in self.nodes.items():  # parents come before their submodes
            targets = {t.target for group in node.leaving.values() for t in group}
            for sub in node.mode.submodes:
                resumed = path in found or ControlPoint(sub.name, DEFAULT_ENTRY) in targets
                if resumed and not sub.mode.is_atomic:
                    found.add((*path, sub.name))
        return frozenset(found)

    def _initial_steps(self) -> Iterator[Step]:
        top = self.nodes[()]
        point = INIT if ControlPoint(None, INIT) in top.leaving else DEFAULT_ENTRY
        yield from self._completed(_Control((), point, entering=True), self._journey({}))

    def _explore(self) -> None:
        queue = deque(dict.fromkeys(step.target for step in self.initial))
        total = 0
        seen = set(queue)
        while queue:
            place = queue.popleft()
            self.steps[place] = tuple(self._steps_from(place))
            total += len(self.steps[place])
            for step in self.steps[place]:
                if step.target not in seen:
                    seen.add(step.target)
                    queue.append(step.target)
            if len(seen) > MAX_PLACES or total > MAX_STEPS:
                raise ModelError(self._too_many())

    def _too_many(self) -> Diagnostic:
        top = self.nodes[()].mode
        return Diagnostic(
            "too-many-locations",
            f"the mode {top.definition} unfolds to more than {MAX_PLACES} locations or "
            f"{MAX_STEPS} steps",
            top.span,
            "histories of several composite modes multiply: enter modes through named entry "
            "points where they need not resume",
        )

    def _steps_from(self, place: Place) -> Iterator[Step]:
        history = dict(place.memory)
        for depth, name in enumerate(place.leaf):
            history[place.leaf[:depth]] = name
        for depth, name in enumerate(place.leaf):
            yield from self._through(
                place.leaf[:depth], ControlPoint(name, DEFAULT_EXIT), self._journey(history)
            )
        inside = ControlPoint(None, DEFAULT_ENTRY)
        yield from self._through(place.leaf, inside, self._journey(history))

    def _through(self, path: Path, point: ControlPoint, journey: _Journey) -> Iterator[Step]:
        """The steps that begin with a transition of a mode from a point."""
        for transition in self.nodes[path].leaving.get(point, ()):
            reached = self._take(path, transition, journey)
            if reached is not None:
                yield from self._completed(*reached)

    def _completed(self, control: _Control, journey: _Journey) -> Iterator[Step]:
        """Every way on from a transient point to a place, depth first."""
        stack = [(control, journey)]
        count = 0
        while stack:
            control, journey = stack.pop()
            count += 1
            if count > MAX_STEPS:
                raise ModelError(self._too_many())
            path, point = self._follow(control, journey)
            if point is None:
                yield self._arrived(path, journey)
                continue
            transitions = self.nodes[path].leaving.get(point, ())
            reached = [self._take(path, t, journey) for t in transitions]
            stack.extend(r for r in reversed(reached) if r is not None)

    def _follow(self, control: _Control, journey: _Journey) -> tuple[Path, ControlPoint | None]:
        """The mode and point whose transitions continue; no point where control may rest."""
        path, point = control.path, control.point
        if not control.entering:
            return path[:-1], ControlPoint(path[-1], point)
        if point == DEFAULT_ENTRY:
            while path in journey.history:
                path = (*path, journey.history[path])
        node = self.nodes[path]
        here = ControlPoint(None, point)
        if node.mode.is_atomic and (point == DEFAULT_ENTRY or here not in node.leaving):
            return path, None
        return path, here

    def _take(
        self, path: Path, transition: Transition, journey: _Journey
    ) -> tuple[_Control, _Journey] | None:
        """Where a transition of the mode `path` leads; None if it cannot be taken."""
        try:
            guard = journey.run.read(transition.guard)
        except ReadsChoiceError as problem:
            raise ModelError(_reads_choice(transition, problem.names)) from None
        if conjunction(*journey.guards, guard) == FALSE:
            return None
        target = transition.target
        history = dict(journey.history)
        if target.submode is not None:
            history[path] = target.submode
            control = _Control((*path, target.submode), target.point, entering=True)
        elif target.point == DEFAULT_EXIT and self.nodes[path].mode.is_atomic:
            control = _Control(path, DEFAULT_ENTRY, entering=True)
        else:
            history.pop(path, None)
            control = _Control(path, target.point, entering=False)
            _check_exit(self.nodes[path], transition)
        run = journey.run.copy().run(transition.actions)
        if journey.returns_to(control, history, run, transition.span):
            return None
        return control, journey.extended(control, transition, guard, run, history)

    def _journey(self, history: Mapping[Path, str]) -> _Journey:
        return _Journey(history, (), Execution(self._whole), None, (), {})

    def _arrived(self, leaf: Path, journey: _Journey) -> Step:
        place = Place(leaf)
        memory = tuple(
            sorted(
                (path, name)
                for path, name in journey.history.items()
                if path in self._remembers and not (place.is_active(path) and path != leaf)
            )
        )
        return Step(
            Place(leaf, memory),
            conjunction(*journey.guards),
            journey.run.resets(self.variables),
            journey.first,
            journey.labels,
        )


@record
class _Control:
    """A point of a mode where control is on its way in (`entering`) or out."""

    path: Path
    point: str
    entering: bool


@record
class _Journey:
    """A step under way: what was required and done so far, and the points passed."""

    history: Mapping[Path, str]
    guards: tuple[Expression, ...]
    run: Execution
    first: Transition | None
    labels: tuple[str, ...]
    passed: Mapping[tuple[_Control, _Remembered], tuple[Constraint, ...]]

    def extended(
        self,
        control: _Control,
        transition: Transition,
        guard: Expression,
        run: Execution,
        history: Mapping[Path, str],
    ) -> _Journey:
        return _Journey(
            history,
            (*self.guards, guard),
            run,
            self.first or transition,
            self.labels if transition.label is None else (*self.labels, transition.label),
            {**self.passed, (control, frozenset(history.items())): run.resets()},
        )

    def returns_to(
        self, control: _Control, history: Mapping[Path, str], run: Execution, span: Span | None
    ) -> bool:
        """Whether the point was passed before with nothing changed since, so that going
        round again adds no behaviour. A round that changes something is refused: it may
        be repeated any number of times within one step, which no finite set of edges
        describes."""
        before = self.passed.get((control, frozenset(history.items())))
        if before is None:
            return False
        if before == run.resets():
            return True
        names = ".".join((*control.path, control.point))
        raise ModelError(
            Diagnostic(
                "transient-cycle",
                f"control can return to the point {names} within one step, changing "
                "variables on the way, without resting in a mode",
                span,
                "lead one of the transitions to a mode, or count the rounds in the modes",
            )
        )


def _check_exit(node: Node, transition: Transition) -> None:
    if transition.target.point == DEFAULT_EXIT:
        raise ModelError(
            Diagnostic(
                "transition-to-default-exit",
                f"a transition of the mode {node.mode.definition} leads to its default exit",
                transition.span,
                "declare an exit point (`exit done;`) and lead the transition there",
            )
        )
    if not node.path:
        raise ModelError(
            Diagnostic(
                "exit-of-top-mode",
                f"the top-level mode {node.mode.definition} is left through "
                f"{transition.target.point}, where nothing continues",
                transition.span,
                "lead the transition to a submode in which the agent rests",
            )
        )


def _reads_choice(transition: Transition, names: tuple[str, ...]) -> Diagnostic:
    return Diagnostic(
        "guard-reads-choice",
        f"this guard reads {', '.join(names)}, chosen from a range earlier in the same step",
        transition.guard.span or transition.span,
        "let the step end in a mode after the choice, or choose within the guard's limits",
    )
