"""Where initial values may lie, in an order in which each range follows from what is chosen
before: `v in [-b, b]` has ends that depend on a parameter, or on another initial value.

Ends are read off the comparisons of a condition: `v <= e` is an end of v; a linear comparison of
which no side is a variable gives an end to a variable that has none. An end that would make a
loop is left out. So the ranges contain the set, and the condition must be tested afterwards.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence

from workbench.models.expressions.affine import linear_constraint
from workbench.models.expressions.expression import Expression, add, constant, multiply, variable
from workbench.models.expressions.operators import Op
from workbench.models.expressions.traversal import conjuncts, free_variables
from workbench.models.record import record
from workbench.simulate.place import Prepared
from workbench.simulate.start.box import MIRRORED, Box
from workbench.simulate.stepping.calculator import Calculator
from workbench.simulate.stepping.tape import number

UPPER = (Op.LESS, Op.LESS_EQUAL)
LOWER = (Op.GREATER, Op.GREATER_EQUAL)


@record
class Ends:
    """The ends of a range: of each side the innermost, or None if it is open. `low` lies above
    `high` where the range is empty."""

    low: float | None
    high: float | None

    def at(self, share: float, whole: bool = False) -> float:
        """The value at a share of the range; of a half-open one its end, of an open one 0."""
        low, high = self.low, self.high
        if low is None or high is None:
            one = low if low is not None else high
            return 0.0 if one is None else one
        if whole:
            low, high = float(math.ceil(low)), float(math.floor(high))
        value = high if share == 1.0 else low + share * (high - low)
        return float(round(value)) if whole else value


Choice = Callable[[str, Ends], float]


class Ranges:
    """The ranges of the variables of a model in a box, and how its definitions follow."""

    def __init__(self, prepared: Prepared, box: Box):
        self._box, self._names = box, prepared.names
        self._low = {n: number(end) for n, end in box.low.items()}
        self._high = {n: number(end) for n, end in box.high.items()}
        self._defined = dict(box.defined)
        self._free = [n for n in prepared.names if n not in self._defined]
        numeric = {n for n in self._free if prepared.types[n].is_numeric}
        self._moving: dict[str, list[tuple[bool, Expression]]] = {}
        for part in conjuncts(box.rest):
            for name, upper, end in self._ends_of(part, numeric):
                if not self._reaches(end, name):
                    self._moving.setdefault(name, []).append((upper, end))
                    break
        self._layers = [
            _Layer(
                layer, Calculator(found, prepared.symbols, prepared.externals) if found else None
            )
            for layer in self._sorted()
            for found in [[e for name in layer for e in self._expressions(name)]]
        ]

    @property
    def moving(self) -> frozenset[str]:
        """The variables with an end that depends on other values."""
        return frozenset(self._moving)

    def is_open(self, name: str) -> bool:
        """Whether a variable has no end at all."""
        fixed = name in self._box.low or name in self._box.high
        return not fixed and name not in self._moving

    def filled(
        self, given: Mapping[str, float], environment: Mapping[str, float], choose: Choice
    ) -> dict[str, float]:
        """Values of all variables: those given, those defined, and chosen ones."""
        known = dict(environment)
        for layer in self._layers:
            values = layer.values(known)
            for name in layer.names:
                own = [next(values) for _ in self._expressions(name)]
                if name in given:
                    known[name] = given[name]
                elif name in self._defined:
                    known[name] = own[0]
                else:
                    known[name] = choose(name, self._ends(name, own))
        return {name: known[name] for name in self._names}

    def _ends(self, name: str, moving: Sequence[float]) -> Ends:
        lows = [self._low[name]] if name in self._low else []
        highs = [self._high[name]] if name in self._high else []
        for (upper, _), value in zip(self._moving.get(name, ()), moving, strict=True):
            if math.isfinite(value):
                (highs if upper else lows).append(value)
        return Ends(max(lows, default=None), min(highs, default=None))

    def _expressions(self, name: str) -> list[Expression]:
        """What the value or the range of a variable is calculated from."""
        if name in self._defined:
            return [self._defined[name]]
        return [end for _, end in self._moving.get(name, ())]

    def _ends_of(self, part: Expression, free: set[str]) -> Iterator[tuple[str, bool, Expression]]:
        """Of which variables a comparison may be an end, whether it is the upper one, and which."""
        if part.op not in (*UPPER, *LOWER):
            return
        left, right = part.args
        sides = ((part.op, left, right), (MIRRORED[part.op], right, left))
        for op, one, other in sides:
            if one.op is Op.VARIABLE and one.name in free:
                yield one.name, op in UPPER, other
        linear = linear_constraint(part)
        for name, factor in reversed(linear.coefficients if linear is not None else ()):
            fixed = self._box.high if factor > 0 else self._box.low
            if linear is not None and name in free and name not in fixed:
                others = [multiply(-c, variable(n)) for n, c in linear.coefficients if n != name]
                end = multiply(1 / factor, add(constant(linear.bound), *others))
                yield name, factor > 0, end

    def _reaches(self, expression: Expression, name: str) -> bool:
        """Whether an expression depends on a variable, by way of definitions and ranges."""
        seen, waiting = set[str](), [*free_variables(expression)]
        while waiting:
            one = waiting.pop()
            if one not in seen:
                seen.add(one)
                waiting += free_variables(*self._expressions(one))
        return name in seen

    def _sorted(self) -> Iterator[list[str]]:
        """All variables in layers, each after what its variables depend on; within a layer in the
        order of the model."""
        pending = dict.fromkeys([*self._free, *self._defined])
        while pending:
            read = {name: free_variables(*self._expressions(name)) for name in pending}
            layer = [name for name in pending if pending.keys().isdisjoint(read[name])]
            yield layer
            for name in layer:
                del pending[name]


@record
class _Layer:
    """Variables whose definitions and ends are calculated together."""

    names: Sequence[str]
    calculate: Calculator | None

    def values(self, known: Mapping[str, float]) -> Iterator[float]:
        """The values of their expressions, in order."""
        if self.calculate is None:
            return iter(())
        return iter(self.calculate({**dict.fromkeys(self.calculate.names, 0.0), **known}))
