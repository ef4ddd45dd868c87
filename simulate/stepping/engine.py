"""The one door to the stepping core: compiled where it was built, else the reference.

`Stepper` (and `advance`, for a single stretch) carries a state through time; see
`simulate.stepping.reference.core` for the algorithm and `simulate.stepping.stretch` for the
result. `values_of` and `truth_of` evaluate at one point; see `simulate.stepping.reference.point`.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from workbench.simulate.stepping.methods import Method, Multirate
from workbench.simulate.stepping.program import Program
from workbench.simulate.stepping.stretch import Stretch

_core: Any
try:
    from workbench.simulate import _core  # type: ignore[attr-defined,no-redef]
except ImportError:  # not built: everything works, more slowly
    _core = None


def is_compiled() -> bool:
    """Whether the compiled core is in use."""
    return _core is not None


class Stepper:
    """A state of a program that is carried through time in one or several calls.

    Between calls the history of the method is kept, so that a stop at an agreed time costs
    nothing: agents with clocks of their own meet in this way. When a jump changes the state,
    or a held value changes, make a new one.

    `x` are the values of `program.flowing`, `held` those of `program.held`.
    """

    def __init__(
        self,
        program: Program,
        method: Method,
        t: float,
        x: Sequence[float],
        held: Sequence[float],
    ):
        self._core: Any = None
        if _core is None:
            from workbench.simulate.stepping.reference import core as reference

            self._reference = reference.Core(program, method, t, x, held)
            return
        self._core = _core.open(
            program.compiled, method.options, t, array("d", x), array("d", held)
        )

    def advance(self, until: float, active: Sequence[int], dense: bool = True) -> Stretch:
        """Go on until an active watch is true or `until` is reached.

        `active` are watch numbers, in the order in which several that are true at once are
        reported. A watch that is true at the start is reported at once; one whose guard is
        within its tolerance of zero counts by its direction. Without `dense` no pieces are
        kept. An exception raised by an external function passes through.
        """
        if self._core is None:
            return self._reference.advance(until, active)
        return Stretch.of(_core.advance(self._core, until, array("i", active), dense))


def advance(
    program: Program,
    method: Method,
    t: float,
    x: Sequence[float],
    held: Sequence[float],
    until: float,
    active: Sequence[int],
    dense: bool = True,
) -> Stretch:
    """One stretch of a new `Stepper`, or of several where a method has two rates."""
    if isinstance(method, Multirate):
        from workbench.simulate.stepping.multirate import advance_multirate

        return advance_multirate(program, method, t, x, held, until, active, dense)
    return Stepper(program, method, t, x, held).advance(until, active, dense)


def stretch(
    program: Program,
    method: Method,
    values: Mapping[str, float],
    until: float,
    active: array[int],
    dense: bool,
) -> Stretch:
    """As `advance`, from the values of `program.names`: time, and what flows and is held."""
    if _core is None or isinstance(method, Multirate):
        t, *given = (values[name] for name in program.names)
        n = len(program.flowing)
        return advance(program, method, t, given[:n], given[n:], until, active, dense)
    return Stretch.of(
        _core.stretch(program.compiled, method.options, program.names, values, until, active, dense)
    )


def values_of(
    program: Program, names: tuple[str, ...]
) -> Callable[[Mapping[str, float]], list[float]]:
    """The values of the atoms' expressions, from values by name; `names` are `time` and those of
    the program."""
    if _core is None:
        from workbench.simulate.stepping.reference import point as reference_point

        return partial(reference_point.values, program, names)
    return partial(_core.values, program.compiled, names)


def truth_of(
    program: Program, names: tuple[str, ...]
) -> Callable[[Mapping[str, float], float, float], bool]:
    """Whether the program's one watch holds, from values by name, `rtol` and `atol`."""
    if _core is None:
        from workbench.simulate.stepping.reference import point as reference_point

        return partial(reference_point.holds, program, names)
    return partial(_core.holds, program.compiled, names)


def load_program(program: Program) -> Any:
    """The program in the extension's memory."""
    tokens: list[int] = []
    watches: list[int] = []
    for watch in program.watches:
        watches += [watch.kind, len(tokens), len(watch.tokens), watch.touch]
        tokens += watch.tokens
    shapes: list[int] = []
    data: list[float] = []
    for table in program.tables:
        columns = len(table.axes[1]) if len(table.axes) == 2 else 0
        shapes += [len(table.axes[0]), columns, int(table.linear)]
        for axis in table.axes:
            data += axis
        data += table.values
    return _core.load(
        len(program.flowing),
        len(program.held),
        program.differentiable,
        program.edged,
        array("d", program.registers),
        array("i", program.degrees),
        _flat(program.flow),
        array("i", program.derivatives),
        _flat(program.guard),
        _flat(program.atoms),
        array("i", watches),
        array("i", tokens),
        array("i", shapes),
        array("d", data),
        array("d", program.lipschitz),
        program.externals,
    )


def _flat(rows: Sequence[Sequence[int]]) -> array[int]:
    return array("i", [number for row in rows for number in row])
