"""A compiled program taken apart into a fast and a slow one; exact.

Both have the registers of the whole, moved: `time`, their own flowing variables, what they
hold, then everything else as before. The fast program has all watches. The slow variables
that it reads flow in it too, as the polynomials that it is given: it holds the time from
which they count and the coefficients of their derivatives. The slow program holds the values
of all fast variables.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from workbench.models.record import record
from workbench.simulate.stepping.program import Program
from workbench.simulate.stepping.tape import Code, Instruction

_AUXILIARY = range(Code.SIN, Code.ATAN2 + 1)
"""Operations that name a second result in `c`."""


@record
class Split:
    """Two programs; the numbers of their variables in the whole, and of the shared ones (slow
    ones that the fast program reads) among the slow. `degree` is the number of coefficients
    of each shared variable's derivative."""

    fast: Program
    slow: Program
    fast_at: tuple[int, ...]
    slow_at: tuple[int, ...]
    shared: tuple[int, ...]
    degree: int


def split_program(program: Program, fast: frozenset[int], degree: int) -> Split:
    """The program with these variables (numbers in `program.flowing`) as its fast part."""
    n = len(program.flowing)
    fast_at = tuple(sorted(fast))
    slow_at = tuple(i for i in range(n) if i not in fast)
    flow = _needed(program.flow, [program.derivatives[i] for i in fast_at])
    read = {r for step in (*flow, *program.guard) for r in _read(step)}
    read |= {program.derivatives[i] for i in fast_at} | {atom[0] for atom in program.atoms}
    shared = tuple(k for k, i in enumerate(slow_at) if 1 + i in read)
    return Split(
        _fast(program, flow, fast_at, [slow_at[k] for k in shared], degree),
        _slow(program, fast_at, slow_at),
        fast_at,
        slow_at,
        shared,
        degree,
    )


def _fast(
    program: Program,
    flow: list[Instruction],
    fast_at: Sequence[int],
    shared: Sequence[int],
    degree: int,
) -> Program:
    names = program.flowing
    extra = ["polynomials since"]
    extra += [f"{names[i]} {m}" for i in shared for m in range(1, degree + 1)]
    flowing = [*fast_at, *shared]
    move, registers, degrees = _moved(program, flowing, len(extra))
    base = 1 + len(flowing) + len(program.held)
    steps = [_renumbered(step, move) for step in flow]
    derivatives = [move[program.derivatives[i]] for i in fast_at]

    def new(power: int) -> int:
        registers.append(0.0)
        degrees.append(power)
        return len(registers) - 1

    if shared:
        since = new(1)
        steps.append((Code.SUBTRACT, since, 0, base, -1))
    for k in range(len(shared)):
        first = base + 1 + k * degree
        value = first + degree - 1
        for m in range(degree - 2, -1, -1):  # Horner
            product, total = new(degree - 1 - m), new(degree - 1 - m)
            steps.append((Code.MULTIPLY, product, value, since, -1))
            steps.append((Code.ADD, total, product, first + m, -1))
            value = total
        derivatives.append(value)
    return replace(
        program,
        flowing=tuple(names[i] for i in flowing),
        held=(*program.held, *extra),
        registers=tuple(registers),
        degrees=tuple(degrees),
        flow=tuple(steps),
        derivatives=tuple(derivatives),
        guard=tuple(_renumbered(step, move) for step in program.guard),
        atoms=tuple((move[r], sign, kind, flags) for r, sign, kind, flags in program.atoms),
    )


def _slow(program: Program, fast_at: Sequence[int], slow_at: Sequence[int]) -> Program:
    names = program.flowing
    flow = _needed(program.flow, [program.derivatives[i] for i in slow_at])
    move, registers, degrees = _moved(program, slow_at, len(fast_at))
    first = 1 + len(slow_at) + len(program.held)
    move.update({1 + i: first + k for k, i in enumerate(fast_at)})
    return replace(
        program,
        flowing=tuple(names[i] for i in slow_at),
        held=(*program.held, *(names[i] for i in fast_at)),
        registers=tuple(registers),
        degrees=tuple(degrees),
        flow=tuple(_renumbered(step, move) for step in flow),
        derivatives=tuple(move[program.derivatives[i]] for i in slow_at),
        guard=(),
        atoms=(),
        watches=(),
        sampled=frozenset(),
    )


def _moved(
    program: Program, flowing: Sequence[int], extra: int
) -> tuple[dict[int, int], list[float], list[int]]:
    """Where the registers go: time, these flowing variables, held ones and so many more, and
    the rest in its order (arguments of external functions stay neighbours)."""
    n, held = len(program.flowing), len(program.held)
    move = {0: 0}
    move.update({1 + i: 1 + k for k, i in enumerate(flowing)})
    start = 1 + len(flowing)
    move.update({1 + n + k: start + k for k in range(held)})
    rest = start + held + extra
    move.update({r: r - 1 - n - held + rest for r in range(1 + n + held, len(program.registers))})
    registers = [0.0] * rest + list(program.registers[1 + n + held :])
    degrees = [1] * start + [0] * (held + extra) + list(program.degrees[1 + n + held :])
    return move, registers, degrees


def _needed(code: Sequence[Instruction], outputs: Iterable[int]) -> list[Instruction]:
    """The instructions on which these registers depend."""
    wanted, found = set(outputs), []
    for step in reversed(code):
        if step[1] in wanted or (step[0] in _AUXILIARY and step[4] in wanted):
            found.append(step)
            wanted.update(_read(step))
    found.reverse()
    return found


def _read(step: Instruction) -> list[int]:
    """The registers that an instruction reads."""
    code, _, a, b, c = step
    if code == Code.EXTERNAL:
        return list(range(a, a + c))
    found = [a]
    if b >= 0 and code != Code.LOOKUP1:
        found.append(b)
    if code == Code.SELECT:
        found.append(c)
    return found


def _renumbered(step: Instruction, move: Mapping[int, int]) -> Instruction:
    code, d, a, b, c = step
    if b >= 0 and code not in (Code.LOOKUP1, Code.EXTERNAL):
        b = move[b]
    if code == Code.SELECT or (code in _AUXILIARY and c >= 0):
        c = move[c]
    return (code, move[d], move[a] if a >= 0 else a, b, c)
