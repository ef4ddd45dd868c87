"""Short ways to write hierarchical models by hand in tests."""

from __future__ import annotations

from workbench.models.agents.hierarchy import (
    Access,
    Agent,
    AgentInstance,
    ControlPoint,
    Declaration,
    Mode,
    ModeInstance,
    Transition,
)
from workbench.models.automaton import REAL, Constraint, Kind, Range, ValueType
from workbench.models.expressions.expression import Expression
from workbench.models.expressions.text import parse_expression


def expr(text: str, symbols: frozenset[str] = frozenset()) -> Expression:
    return parse_expression(text, symbols=symbols)


def rng(text: str) -> Range:
    """`e`, or `[l, u]` where a side may be left empty."""
    if not text.startswith("["):
        return Range.exactly(expr(text))
    low, high = text[1:-1].split(",")
    return Range(
        expr(low) if low.strip() else None,
        expr(high) if high.strip() else None,
    )


def constraints(**given: str) -> tuple[Constraint, ...]:
    return tuple(Constraint(name, rng(text)) for name, text in given.items())


def actions(*given: tuple[str, str]) -> tuple[Constraint, ...]:
    return tuple(Constraint(name, rng(text)) for name, text in given)


def declare(
    access: str,
    names: str,
    kind: Kind = Kind.ANALOG,
    initial: str | None = None,
    type_: ValueType = REAL,
) -> tuple[Declaration, ...]:
    first = None if initial is None else rng(initial)
    return tuple(Declaration(n, type_, kind, Access(access), first) for n in names.split())


def point(text: str) -> ControlPoint:
    first, dot, second = text.partition(".")
    return ControlPoint(first, second) if dot else ControlPoint(None, first)


def trans(
    source: str,
    target: str,
    guard: str = "true",
    *steps: tuple[str, str],
    label: str | None = None,
    urgent: bool = False,
) -> Transition:
    return Transition(point(source), point(target), expr(guard), actions(*steps), label, urgent)


def atomic(name: str, **fields: object) -> Mode:
    return Mode(name, **fields)  # type: ignore[arg-type]


def subs(**modes: Mode) -> tuple[ModeInstance, ...]:
    return tuple(ModeInstance(name, mode) for name, mode in modes.items())


def parts(**agents: Agent) -> tuple[AgentInstance, ...]:
    return tuple(AgentInstance(name, agent) for name, agent in agents.items())
