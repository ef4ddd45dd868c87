"""What the stepping core runs: one location compiled to tapes, atoms and watches.

A `Program` is plain data. A *watch* is a formula whose becoming true is an event; which
watches are looked at is chosen for every stretch of time by the caller of `advance`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from functools import cached_property
from typing import Any, NamedTuple

from workbench.models.automaton import TIME, EventKind
from workbench.models.expressions.expression import Expression
from workbench.models.expressions.operators import Op
from workbench.models.expressions.traversal import free_variables, postorder
from workbench.models.outside import PASSING, failure
from workbench.models.record import record
from workbench.models.source import Diagnostic, ModelError
from workbench.simulate.stepping.condition import ConditionBuilder
from workbench.simulate.stepping.externs import known
from workbench.simulate.stepping.tape import Code, FloatTable, Instruction, Tape, TapeBuilder

KINDS: Mapping[EventKind, int] = {
    EventKind.UNILATERAL: 0,
    EventKind.BILATERAL: 1,
    EventKind.CROSSING: 2,
    EventKind.SLIDING: 0,
}
"""The core's numbers for event kinds: a surface to slide on is approached from one side."""

STRICT, FROZEN, EQUALITY, UNDEFINED_HOLDS, STEPWISE = 1, 2, 4, 8, 16
"""Flags of an atom."""


@record
class Watch:
    """A formula whose becoming true is an event: its kind and its tokens over atoms. With
    `touch`, coming within tolerance and leaving again is an event, too."""

    kind: int
    tokens: tuple[int, ...]
    touch: bool = False


class Watched(NamedTuple):
    """A condition to be watched; see `Watch`. Where it has no value it is false, unless
    `undefined_holds`."""

    condition: Expression
    kind: EventKind
    undefined_holds: bool = False
    touch: bool = False


@record
class Program:
    """A compiled location; see `simulate.stepping.tape` for the layout of the registers.

    `atoms` are (register, sign, kind, flags); `registers` is the register file with the
    constants in place; `degrees` is the polynomial degree of each register. `lipschitz` has
    the declared constant of each external function (infinite: none). `sampled` are the atoms
    that call functions of which nothing is known: they are seen at the ends of steps only.
    `edged` flows contain operations that are not smooth at the edge of their domain.
    """

    flowing: tuple[str, ...]
    held: tuple[str, ...]
    registers: tuple[float, ...]
    degrees: tuple[int, ...]
    flow: tuple[Instruction, ...]
    derivatives: tuple[int, ...]
    guard: tuple[Instruction, ...]
    atoms: tuple[tuple[int, int, int, int], ...]
    watches: tuple[Watch, ...]
    tables: tuple[FloatTable, ...] = ()
    externals: tuple[Callable[..., float], ...] = field(default=(), compare=False)
    lipschitz: tuple[float, ...] = ()
    differentiable: bool = True
    edged: bool = True
    sampled: frozenset[int] = frozenset()

    @cached_property
    def names(self) -> tuple[str, ...]:
        """What a state is given by: the time, what flows, what is held."""
        return (TIME, *self.flowing, *self.held)

    @cached_property
    def sizes(self) -> tuple[int, int, int]:
        """How many instructions the flow and the guards have, and how many variables flow."""
        return len(self.flow), len(self.guard), len(self.flowing)

    @cached_property
    def compiled(self) -> Any:
        """The program in the extension's own memory, made once."""
        from workbench.simulate.stepping.engine import load_program

        return load_program(self)


@record
class Lipschitz:
    """An external function that changes by at most `constant * sum |a_i - b_i|` between two
    points a and b: with this promise of the caller guards on it are located exactly."""

    function: Callable[..., float]
    constant: float

    def __post_init__(self) -> None:
        if not 0.0 <= self.constant < math.inf:
            message = f"a Lipschitz constant is a finite number from 0 on, not {self.constant}"
            raise ModelError(Diagnostic("bad-extern", message))

    def __call__(self, *arguments: float) -> float:
        """The value of the function."""
        return self.function(*arguments)


class ExternalError(Exception):
    """A function supplied by the caller raised, or returned what is no number."""

    def __init__(self, name: str, reason: str):
        super().__init__(f"the external function `{name}` failed: {reason}")
        self.name = name


def _guarded(name: str, function: Callable[..., float]) -> Callable[..., float]:
    def call(*arguments: float) -> float:
        try:
            value = function(*arguments)
            if isinstance(value, str | bytes | None):  # float() would read a text
                raise TypeError(f"{value!r:.80} is not a number")
            return float(value)
        except PASSING:
            raise
        except BaseException as error:
            raise ExternalError(name, failure(error, function)) from error

    return call


def _constant_of(function: Callable[..., float]) -> float:
    return function.constant if isinstance(function, Lipschitz) else math.inf


def compile_program(
    *,
    flowing: Sequence[str],
    held: Sequence[str],
    flows: Sequence[Expression],
    watches: Sequence[tuple[Expression, EventKind] | Watched],
    symbols: Mapping[str, int] | None = None,
    externals: Mapping[str, Callable[..., float]] | None = None,
) -> Program:
    """Compile the derivatives of the flowing variables and the watched conditions.

    `flows[i]` is the derivative of `flowing[i]`; expressions may use these names, the held
    ones, `time`, and nothing else.
    """
    builder = TapeBuilder(flowing, held, symbols)
    flow = builder.tape(*flows)
    conditions = ConditionBuilder(frozenset(flowing))
    formulas = [_watch(conditions, Watched(*given)) for given in watches]
    guard = builder.tape(*(atom.g for atom in conditions.atoms))
    atoms = tuple(
        (
            register,
            atom.sign,
            KINDS[atom.kind],
            STRICT * atom.strict
            + FROZEN * atom.frozen
            + EQUALITY * atom.equality
            + UNDEFINED_HOLDS * atom.undefined_holds
            + STEPWISE * atom.stepwise,
        )
        for register, atom in zip(guard.outputs, conditions.atoms, strict=True)
    )
    sampled = frozenset(
        k
        for k, atom in enumerate(conditions.atoms)
        if not atom.frozen and _calls_unknown(atom.g, conditions.moving, known(externals))
    )
    made = _program(builder, flowing, held, flow, guard, atoms, tuple(formulas), externals)
    return replace(made, sampled=sampled) if sampled else made


def _watch(conditions: ConditionBuilder, given: Watched) -> Watch:
    """A compiled watch. One with an equality is never stepped over, whatever its kind: it holds
    nowhere beyond."""
    tokens = conditions.tokens(given.condition, given.kind, given.undefined_holds)
    equality = any(k >= 0 and conditions.atoms[k].equality for k in tokens)
    kind = EventKind.UNILATERAL if equality else given.kind
    return Watch(KINDS[kind], tokens, given.touch)


def _calls_unknown(
    g: Expression, moving: frozenset[str], externals: Mapping[str, Callable[..., float]]
) -> bool:
    """Whether an external function without a promise is called with what moves."""
    return any(
        node.op is Op.EXTERNAL
        and not isinstance(externals.get(node.name), Lipschitz)
        and free_variables(node) & moving
        for node in postorder(g)
    )


def compile_values(
    names: Sequence[str],
    expressions: Sequence[Expression],
    symbols: Mapping[str, int],
    externals: Mapping[str, Callable[..., float]],
) -> Program:
    """Expressions over held names, to be evaluated at single points: one atom for each."""
    builder = TapeBuilder((), names, symbols)
    tape = builder.tape(*expressions)
    atoms = tuple((register, 1, 0, EQUALITY) for register in tape.outputs)
    return _program(builder, (), names, Tape((), ()), tape, atoms, (), externals)


def _program(
    builder: TapeBuilder,
    flowing: Sequence[str],
    held: Sequence[str],
    flow: Tape,
    guard: Tape,
    atoms: tuple[tuple[int, int, int, int], ...],
    watches: tuple[Watch, ...],
    externals: Mapping[str, Callable[..., float]] | None,
) -> Program:
    registers = [0.0] * builder.count
    for register, value in builder.constants.items():
        registers[register] = value
    given = known(externals) if builder.externals else {}
    missing = [name for name in builder.externals if name not in given]
    if missing:
        raise ModelError(
            Diagnostic(
                "missing-extern",
                f"the model calls `{missing[0]}`, but no such function was given",
                hint="give it: --extern FILE.py, or externs={...} in Python",
            )
        )
    return Program(
        tuple(flowing),
        tuple(held),
        tuple(registers),
        tuple(builder.degrees),
        flow.instructions,
        flow.outputs,
        guard.instructions,
        atoms,
        watches,
        tuple(builder.tables),
        tuple(_guarded(name, given[name]) for name in builder.externals),
        tuple(_constant_of(given[name]) for name in builder.externals),
        not any(i[0] == Code.EXTERNAL for i in flow.instructions),
        any(_has_edge(i, builder.degrees) for i in flow.instructions),
    )


_EDGED = frozenset({Code.POWER, Code.SQRT, Code.LOG, Code.TAN, Code.ASIN, Code.ACOS, Code.EXTERNAL})


def _has_edge(instruction: Instruction, degrees: Sequence[int]) -> bool:
    """Whether an operation on what moves has points at which it is not smooth."""
    code, _, a, b, _ = instruction
    if code == Code.DIVIDE:
        return degrees[b] > 0
    return code in _EDGED and (code == Code.EXTERNAL or degrees[a] > 0)
