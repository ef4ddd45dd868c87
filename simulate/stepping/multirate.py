"""Two rates inside one agent: slow variables take large steps, fast ones many small ones.

A stretch begins at one rate. After some windows of small steps it is *measured* which
variables are slow: those whose change over a window is foretold, within the tolerance, by
their derivatives at the ends of the windows before (the Adams formula that would carry them
at the large step). If enough of them are, the program is split. The coupling graph (which
derivative or guard reads which variable) says what the two parts must know of each other: the
slow variables that the fast part reads are handed to it as polynomials of time, the fast
values at the ends of large steps are handed to the slow part. Events are those of the fast
part, found as always, in every small step. A large step whose slow error is too large is
repeated with a smaller one, and where two rates do not pay the stretch goes on at one.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from workbench.models.record import record
from workbench.simulate.stepping.engine import Stepper
from workbench.simulate.stepping.methods import Multirate
from workbench.simulate.stepping.program import Program
from workbench.simulate.stepping.reference.tape import execute
from workbench.simulate.stepping.split_program import Split, split_program
from workbench.simulate.stepping.stretch import NO_WORK, Stop, Stretch, together

_multirate: Any
try:
    from workbench.simulate import _multirate  # type: ignore[attr-defined,no-redef]
except ImportError:  # not built: everything goes at one rate
    _multirate = None

WINDOW = 32
"""So many small steps are looked at as one large one."""

WINDOWS = 5
"""So many windows are measured: the derivatives before the last foretell its change."""

SAFE = 0.3
"""The part of the tolerance that the error of a slow variable may have taken up."""

WORTH = 1.5
"""Two rates are tried if they promise to be so many times cheaper."""

UNPROFITABLE = 5
"""The core's word for a stretch in which two rates do not pay."""


def advance_multirate(
    program: Program,
    method: Multirate,
    t: float,
    x: Sequence[float],
    held: Sequence[float],
    until: float,
    active: Sequence[int],
    dense: bool,
) -> Stretch:
    """As `simulate.stepping.engine.advance`, at two rates where that pays."""
    run = _Stretch(program, method, held, until, active, dense)
    state, patience = list(x), 1
    while True:
        sample = run.measure(t, state, patience)
        if run.last.stop is not Stop.STEP_LIMIT or run.steps >= method.max_steps:
            return run.whole()
        t, state = run.last.t, list(run.last.x)
        split = run.split(sample)
        if split is not None and run.apart(split, sample):
            return run.whole()
        t, state = run.last.t, list(run.last.x)
        patience = min(4 * patience, 1024)


@record
class _Sample:
    """Times and states at the ends of windows of small steps, the newest last."""

    times: list[float]
    states: list[Sequence[float]]


class _Stretch:
    """A stretch that is put together from parts at one rate and at two."""

    def __init__(
        self,
        program: Program,
        method: Multirate,
        held: Sequence[float],
        until: float,
        active: Sequence[int],
        dense: bool,
    ):
        self.program, self.method, self.held = program, method, held
        self.until, self.active, self.dense = until, active, dense
        self.work = NO_WORK
        self.last: Stretch
        self.times, self.degrees, self.coefficients = array("d"), array("i"), array("d")
        self.splits: dict[frozenset[int], Split] = {}

    def measure(self, t: float, x: Sequence[float], patience: int) -> _Sample:
        """Go on at one rate for some windows; `patience` times as many before they count."""
        method = replace(self.method, max_steps=WINDOW)
        stepper = Stepper(self.program, method, t, x, self.held)
        sample = _Sample([t], [array("d", x)])
        for _ in range(WINDOWS * patience):
            self.add(stepper.advance(self.until, self.active, self.dense))
            if self.last.stop is not Stop.STEP_LIMIT:
                break
            if self.steps >= self.method.max_steps:
                break
            sample.times.append(self.last.t)
            sample.states.append(self.last.x)
        return _Sample(sample.times[-WINDOWS - 1 :], sample.states[-WINDOWS - 1 :])

    @property
    def steps(self) -> int:
        """The accepted steps so far."""
        return self.work[0]

    def add(self, part: Stretch) -> None:
        """Append what was done."""
        self.last = part
        self.work = together(self.work, part.work)
        self.times.extend(part.times[:-1])
        self.degrees.extend(part.degrees)
        self.coefficients.extend(part.coefficients)

    def whole(self) -> Stretch:
        """Everything that was done as one stretch."""
        last = self.last
        self.times.append(last.t)
        dense = self.times.tobytes(), self.degrees.tobytes(), self.coefficients.tobytes()
        return last._replace(work=self.work, pieces=dense)

    # What is slow

    def split(self, sample: _Sample) -> Split | None:
        """The program apart, if the measured rates promise that two of them pay."""
        n = len(self.program.flowing)
        if _multirate is None or len(sample.times) < WINDOWS + 1:
            return None
        slow = self.slow(sample)
        fast = frozenset(range(n)) - slow
        if not slow or not fast or n < WORTH * (len(fast) + 2.0):
            return None
        if fast not in self.splits:
            self.splits[fast] = split_program(self.program, fast, self.order)
        return self.splits[fast]

    @property
    def order(self) -> int:
        """The highest degree of the polynomials that stand for slow variables."""
        return self.method.max_order

    def slow(self, sample: _Sample) -> frozenset[int]:
        """The variables whose last change is foretold by the derivatives before it."""
        derivatives = [
            self._derivative(t, x) for t, x in zip(sample.times, sample.states, strict=True)
        ]
        weights = _foretelling(sample.times[-2::-1], sample.times[-1])
        before, after = sample.states[-2], sample.states[-1]
        found = []
        for i, (a, b) in enumerate(zip(before, after, strict=True)):
            told = a + sum(w * f[i] for w, f in zip(weights, derivatives[-2::-1], strict=True))
            if abs(told - b) <= SAFE * (self.method.atol + self.method.rtol * max(abs(a), abs(b))):
                found.append(i)
        return frozenset(found)

    def _derivative(self, t: float, x: Sequence[float]) -> list[float]:
        p = self.program
        r = [t, *x, *self.held, *p.registers[1 + len(x) + len(self.held) :]]
        execute(p.flow, r, p.tables, p.externals)
        return [r[i] for i in p.derivatives]

    # Two rates

    def apart(self, split: Split, sample: _Sample) -> bool:
        """Go on at two rates; False where that does not pay (any more)."""
        times = array("d", sample.times[:0:-1])
        states = array("d")
        for state in sample.states[:0:-1]:
            states.extend(state)
        left = self.method.max_steps - self.steps
        pair = _multirate.open(
            split.fast.compiled, split.slow.compiled,
            replace(self.method, max_steps=max(left, 1)).options, split.degree,
            array("i", split.fast_at), array("i", split.slow_at), array("i", split.shared),
            array("d", self.held), times, states,
        )  # fmt: skip
        found, x, times, degrees, coefficients, _ = _multirate.advance(
            pair, self.until, array("i", self.active), self.dense
        )
        pays: bool = found[0] != UNPROFITABLE
        part = Stretch.of((found[0] if pays else Stop.STEP_LIMIT, *found[1:]))
        self.add(part._replace(x=tuple(array("d", x)), pieces=(times, degrees, coefficients)))
        return pays


def _foretelling(times: Sequence[float], end: float) -> list[float]:
    """The weights w of sum w_k f(times[k]), the integral from times[0] to `end` of the
    polynomial through the derivatives f at these times."""
    weights = []
    h, base = end - times[0], times[0]
    for k, own in enumerate(times):
        c = [1.0]  # the Lagrange polynomial in powers of the time since times[0]
        for j, other in enumerate(times):
            if j != k:
                root, scale = other - base, own - other
                c = [
                    ((c[m - 1] if m else 0.0) - (root * c[m] if m < len(c) else 0.0)) / scale
                    for m in range(len(c) + 1)
                ]
        weights.append(sum(value * h ** (m + 1) / (m + 1) for m, value in enumerate(c)))
    return weights
