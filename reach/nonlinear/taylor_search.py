"""Following a nonlinear flow: the choice of steps, radii and frames for a Taylor node.

Nothing here is trusted. The trusted part (`models.checker.taylor_flow`) computes what is reached
on a step from the choices made here, and says whether they are good enough.

The length of steps is chosen so that what the degree of the polynomials cuts off is small against
the set itself, as far as shorter steps can achieve that. Frames come from a QR decomposition of
what the step does to the coordinates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import log2

import numpy as np
from numpy.typing import NDArray

from workbench.models.automaton import TIME
from workbench.models.checker.intervals import UndefinedError
from workbench.models.checker.taylor_flow import NonlinearFlow, TaylorSteps
from workbench.models.checker.taylor_frame import Frame, Reached
from workbench.models.checker.taylor_node import TaylorStep
from workbench.models.expressions.expression import ZERO
from workbench.models.expressions.traversal import free_variables
from workbench.reach.affine.step_choice import dyadic_below
from workbench.reach.nonlinear.fidelity import Fidelity

Array = NDArray[np.float64]
Matrix = Sequence[Sequence[Fraction]]
Polynomial = dict[int, int]
"""Numbers, in units, by monomial."""

FRAME_DIGITS = 24
"""Significant bits of the entries of frames."""
ROUNDS = 8
"""How often radii are enlarged before a step is taken shorter."""
SHORTEST = 1e-5
"""The shortest step, relative to the longest stay."""

SHORT = 1e-3
"""Steps this short, relative to the longest stay, are not made shorter to miss bad states."""


@dataclass(frozen=True)
class Followed:
    """One step that was taken, without the frame that follows it."""

    length: Fraction
    radii: tuple[Fraction, ...]
    reached: Reached


class LostError(Exception):
    """The flow cannot be followed any farther; the message says why, `name` which variable's
    enclosure is to blame (if one is)."""

    def __init__(self, message: str, name: str | None = None):
        super().__init__(message)
        self.name = name


class Follower:
    """Follows one flow from one entry set, step by step."""

    def __init__(
        self,
        flow: NonlinearFlow,
        rows: Matrix,
        spans: Sequence[tuple[Fraction, Fraction]],
        longest: Fraction,
        fidelity: Fidelity,
        first: Fraction | None = None,
    ):
        self.flow, self.fidelity, self.longest = flow, fidelity, longest
        self.machine = TaylorSteps(flow, fidelity.order, fidelity.memory, fidelity.bits)
        self.frame: Frame = self.machine.begin(rows, spans)
        self._unit = 1 << fidelity.bits
        self._length = dyadic_below(first or longest / 64)
        self._moving = self._coupled()
        self._scale = self._widths(self.frame) + 1e-9
        self._sizes = np.zeros(len(spans))
        self._least = 0.0
        self._grown: tuple[Fraction, list[int]] | None = None
        self._first_width = self._scale.max(initial=1e-9)

    def _coupled(self) -> list[int]:
        """The names that change and that some derivative reads."""
        read = free_variables(*self.flow.roots)
        return [
            i
            for i, (name, rates) in enumerate(zip(self.flow.names, self.flow.rates, strict=True))
            if name in read and rates != (ZERO, ZERO) and name != TIME
        ]

    def advance(self) -> Followed:
        """The next step; `LostError` if there is none. Then `turn` must be called.

        A step whose growth is too large is taken shorter, unless that does not help: where the
        growth is nearly in proportion to the length, it comes from inputs or the size of the
        set. What even short steps grow by is then the measure for the steps that follow.
        """
        shortest = float(self.longest) * SHORTEST
        why = "the enclosure grows too fast"
        best: tuple[Followed, Array] | None = None
        while float(self._length) >= shortest or best is not None:
            try:
                found = self._tried(self._length)
            except UndefinedError as error:
                why, found = str(error), None
            except OverflowError:
                found = None
            if found is None:
                if best is not None:
                    return self._accept(*best)
                self._length = self._length / 2
                continue
            excess = self._excess(found)
            if best is not None and excess.sum() > self.fidelity.gain * best[1].sum():
                self._least = float(excess.sum())
                return self._accept(*best)
            best = found, excess
            if self._is_tolerable(excess) or float(self._length) < 4 * shortest:
                return self._accept(*best)
            shrink = max(0.2, min(0.5, float(excess.max()) ** (-1 / self.fidelity.order)))
            self._length = dyadic_below(self._length * Fraction(shrink))
        raise LostError(why, self._widest())

    def _tried(self, length: Fraction) -> Followed | None:
        """A step of that length; None if no radii hold."""
        polynomials = self.machine.approximated(self.frame, length)
        found = self._radii(polynomials, length)
        if found is None:
            return None
        radii, growth = found
        exact = tuple(Fraction(r, 1 << self.fidelity.bits) for r in radii)
        return Followed(length, exact, Reached(self.frame, polynomials, growth))

    def _is_tolerable(self, excess: Array) -> bool:
        """Whether a step grows by little, or by little more than shorter ones."""
        least = float(excess.sum()) * self.fidelity.gain
        return float(excess.max(initial=0.0)) <= 1 or least <= self._least

    def _accept(self, followed: Followed, excess: Array) -> Followed:
        """Take the step, and choose the length of the next one."""
        self._grown = followed.length, followed.reached.growth
        largest = max(float(excess.max(initial=0.0)), 1e-9)
        if largest > 1:
            factor = self._lengthened(float(excess.sum()))
        else:
            self._least = 0.0
            factor = min(2.0, max(0.5, 0.9 * largest ** (-1 / self.fidelity.order)))
        self._length = dyadic_below(min(followed.length * Fraction(factor), self.longest))
        return followed

    def _lengthened(self, total: float) -> float:
        """By which factor to change the length where steps of any length grow too much: what
        longer ones grow by beyond that is about in proportion to their length."""
        self._least = min(self._least, total) if self._least else total * self.fidelity.gain
        wanted, beyond = 1 / self.fidelity.gain - 1, total / self._least - 1
        return min(1.5, max(0.75, 0.9 * wanted / max(beyond, 1e-9)))

    def _excess(self, followed: Followed) -> Array:
        """The growth of the names on a step relative to what is tolerated for its length."""
        reached = followed.reached
        sizes = [sum(map(abs, p.values())) / self._unit for p in reached.polynomials]
        self._sizes = np.maximum(self._sizes, sizes)
        share = float(followed.length) / float(self.longest)
        allowed = self.fidelity.tolerance * share * (self._scale + 1e-2 * self._sizes + 1e-12)
        growth = np.array([g / self._unit for g in reached.growth])
        return np.asarray(growth / allowed)

    def shorten(self, followed: Followed) -> bool:
        """Take a step again, with half its length; False if it is short already."""
        if float(followed.length) < SHORT * float(self.longest):
            return False
        self._length = followed.length / 2
        return True

    def turn(self, followed: Followed) -> TaylorStep:
        """Go on from the end of a step in a new frame."""
        frame = self._choose_frame(followed.reached.polynomials)
        turned = self.machine.turned(followed.reached, frame)
        if turned is None:
            raise LostError("the enclosure degenerates", self._widest())
        self.frame = turned
        widths = self._widths(turned)
        self._scale = np.maximum(self._scale, widths)
        if not np.all(np.isfinite(widths)) or widths.max(initial=0.0) > 1e9 * self._first_width:
            raise LostError("the enclosure explodes", self._widest())
        return TaylorStep(followed.length, followed.radii, frame)

    def influence(self) -> int | None:
        """The coordinate of the entry set on which the states depend most, the nonlinear part
        counted with its degree; None if they do not depend on any."""
        arithmetic = self.machine.arithmetics[-1]
        sizes = self._widths(self.frame) / self._scale
        weights = np.zeros(len(self.flow.names))
        columns = np.array([[abs(a) / self._unit for a in row] for row in self.frame.shape])
        largest = columns.max(axis=0, initial=0.0)
        for j, memory in enumerate(self.frame.memory):
            share = (sizes * (columns[:, j] > 0)).max(initial=0.0) if largest[j] else 0.0
            for monomial, value in memory.items():
                size = abs(value) / self._unit * arithmetic.degree(monomial) * share
                for axis, power in enumerate(arithmetic.exponents(monomial)):
                    weights[axis] += size * power
        return int(np.argmax(weights)) if weights.max(initial=0.0) > 0 else None

    # Details

    def _widths(self, frame: Frame) -> Array:
        return np.array([sum(map(abs, row)) / self._unit for row in frame.shape])

    def _widest(self) -> str | None:
        """The name whose enclosure is widest against its size at first."""
        widths = self._widths(self.frame)
        moving = self._moving or range(len(widths))
        return self.flow.names[max(moving, key=lambda i: widths[i])]

    def _radii(
        self, polynomials: list[Polynomial], length: Fraction
    ) -> tuple[list[int], list[int]] | None:
        """Radii that hold, and the growth they lead to."""
        slack = self.frame.slack
        ratio = 1.2 * (float(length) / float(self._grown[0])) ** 2 if self._grown else 0.0
        guess = self._grown[1] if self._grown else [0] * len(slack)
        radii = [s + int(g * Fraction(ratio)) + 4 for s, g in zip(slack, guess, strict=True)]
        for _ in range(ROUNDS):
            try:
                growth = self.machine.grown(self.frame, length, polynomials, radii)
            except UndefinedError:
                return None
            strayed = [s + g for s, g in zip(slack, growth, strict=True)]
            if all(s < r for s, r in zip(strayed, radii, strict=True)):
                return radii, growth
            if max(s.bit_length() for s in strayed) > 2 * self.fidelity.bits + 64:
                return None
            radii = [max(s + s // 8 + 4, r) for s, r in zip(strayed, radii, strict=True)]
        return None

    def _choose_frame(self, polynomials: list[Polynomial]) -> tuple[tuple[Fraction, ...], ...]:
        """Orthogonal rows for the names that depend on each other, the longest image first;
        the unit vector for every other name."""
        size = len(polynomials)
        frame = np.eye(size)
        moving = self._moving
        if moving:
            linear = self._linear_part(polynomials)[np.ix_(moving, moving)]
            weights = np.abs(linear).sum(axis=1)
            weights = np.where(weights > 1e-30 * max(1e-300, weights.max()), weights, 1.0)
            scaled = linear / weights[:, None]
            order = np.argsort(-np.linalg.norm(scaled, axis=0), kind="stable")
            orthogonal, _ = np.linalg.qr(scaled[:, order] + 1e-12 * np.eye(len(moving)))
            frame[np.ix_(moving, moving)] = orthogonal.T / weights
        frame /= np.abs(frame).max(axis=1)[:, None]
        return tuple(tuple(_short(a) for a in row) for row in frame)

    def _linear_part(self, polynomials: list[Polynomial]) -> Array:
        top = self.machine.arithmetics[-1]
        symbols = [top.symbol(j) for j in range(len(polynomials))]
        ends = [top.at_end(p) for p in polynomials]
        return np.array([[p.get(s, 0) / self._unit for s in symbols] for p in ends])


def _short(value: float) -> Fraction:
    """A number of few bits."""
    if value == 0 or abs(value) < 2.0**-50:
        return Fraction(0)
    grid = Fraction(2) ** (int(log2(abs(value))) - FRAME_DIGITS)
    return round(Fraction(value) / max(grid, Fraction(1, 1 << 58))) * max(
        grid, Fraction(1, 1 << 58)
    )
