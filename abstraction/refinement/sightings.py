"""What is seen of a run: observed values and derivatives at sample times."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass
from fractions import Fraction

from workbench.models.automaton import Constraint, Location, ValueType
from workbench.models.expressions.evaluation import EvaluationError, evaluate
from workbench.models.expressions.expression import Expression, conjunction, equal, negation, symbol
from workbench.models.trace import Segment, Trace

SAMPLES = 9
VALUE_TOLERANCE = Fraction(1, 100_000)


@dataclass(frozen=True)
class Sample:
    """What is seen of a run at one moment; `rates` only where time passes."""

    time: float
    values: Mapping[str, float | bool | str]
    rates: Mapping[str, float]


def samples_of(segment: Segment, place: Location, observed: Set[str]) -> Iterator[Sample]:
    """A segment in a detailed location at sample times, both ends among them."""
    span = segment.end - segment.start
    if span <= 0:
        yield Sample(segment.start, segment.valuation(segment.start), {})
        return
    for i in range(SAMPLES):
        t = segment.start + span * i / (SAMPLES - 1)
        values = segment.valuation(t)
        yield Sample(t, values, _rates(segment, place, observed, t, values))


def jumps_before(trace: Trace) -> list[int]:
    """How many jumps the run makes before each segment. Where segments meet without a jump, the
    abstract automaton is granted one."""
    return [0, *(max(len(jumps), 1) for _, jumps, _ in trace.transitions())]


def near(value: Expression, seen: float | bool | str, kind: ValueType) -> Expression:
    """That a value is the one seen, within the tolerance of the simulator."""
    if isinstance(seen, bool):
        return value if seen else negation(value)
    if isinstance(seen, str):
        return equal(value, symbol(seen))
    exact = Fraction(seen)
    slack = VALUE_TOLERANCE * (1 + abs(exact)) if kind.name == "real" else Fraction(1, 4)
    return conjunction(value >= exact - slack, value <= exact + slack)


def _rates(
    segment: Segment,
    place: Location,
    observed: Set[str],
    t: float,
    values: Mapping[str, float | bool | str],
) -> dict[str, float]:
    """Derivatives: from the equation where there is one, else from the dense output."""
    found: dict[str, float] = {}
    for flow in place.flows:
        if flow.variable not in observed:
            continue
        rate = _from_equation(flow, values)
        if rate is None:
            rate = _slope(segment, flow.variable, t)
        if rate is not None:
            found[flow.variable] = rate
    return found


def _from_equation(flow: Constraint, values: Mapping[str, float | bool | str]) -> float | None:
    """The derivative that an equation gives, unless it speaks of inputs."""
    if flow.range.exact is None:
        return None
    try:
        value = evaluate(flow.range.exact, dict(values))
    except (EvaluationError, KeyError):
        return None
    return None if isinstance(value, bool | str) else float(value)


def _slope(segment: Segment, name: str, t: float) -> float | None:
    """The derivative of the dense output."""
    if name not in segment.flowing:
        return 0.0 if name in segment.held else None
    number = segment.flowing.index(name)
    for start, end, rows in segment.pieces():
        if start <= t <= end:
            s = t - start
            return sum(i * c * s ** (i - 1) for i, c in enumerate(rows[number]) if i > 0)
    return None
