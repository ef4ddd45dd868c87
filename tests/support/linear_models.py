"""Random models whose conditions the linear view keeps as they are, and steps that they can take.

Flows, guards and resets are affine or piecewise so, with ranges, inputs and a parameter; there are
whole numbers, truth values and symbols. Steps are made from the meaning of the model alone: values
are drawn, and conditions evaluated exactly.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from random import Random

from workbench.models.automaton import (
    BOOL,
    INT,
    Constraint,
    Edge,
    HybridAutomaton,
    Initial,
    Input,
    Kind,
    Location,
    Parameter,
    Property,
    Range,
    ValueType,
    Variable,
    primed,
)
from workbench.models.expressions.evaluation import Scalar, evaluate
from workbench.models.expressions.expression import (
    Expression,
    compare,
    conjunction,
    constant,
    disjunction,
    equal,
    function,
    maximum,
    minimum,
    negation,
    symbol,
    variable,
)
from workbench.models.expressions.operators import Op

MODE = ValueType("mode", ("idle", "busy", "done"))
X, Y, U, P, N, ON, AT = map(variable, ("x", "y", "u", "p", "n", "on", "at"))
State = Mapping[str, Scalar]


def number(random: Random, low: int = -4, high: int = 4) -> Fraction:
    return Fraction(random.randint(low, high), random.choice((1, 2)))


def linear_model(seed: int) -> HybridAutomaton:
    """Two or three locations over x, y, a counter, a truth value and a symbol."""
    random = Random(seed)
    names = [f"l{i}" for i in range(random.choice((2, 3)))]
    places = tuple(_place(random, name) for name in names)
    edges = tuple(
        _edge(random, name, random.choice(names), f"e{i}{k}")
        for i, name in enumerate(names)
        for k in range(random.choice((1, 2)))
    )
    low = number(random)
    box = conjunction(X >= low, X <= low + 1, Y >= -1, equal(Y, 2 * X) | (Y <= 1), equal(N, 0))
    entry = (Constraint("y", Range(Y, Y + 1)),) if random.random() < 0.5 else ()
    start = Initial(names[0], conjunction(box, ON, equal(AT, symbol("idle"))), entry)
    claim = disjunction(X <= number(random), Y >= number(random), equal(AT, symbol("busy")))
    return HybridAutomaton(
        "linear",
        (
            Variable("x"),
            Variable("y"),
            Variable("n", INT, Kind.DISCRETE),
            Variable("on", BOOL, Kind.DISCRETE),
            Variable("at", MODE, Kind.DISCRETE),
        ),
        places,
        edges,
        (start,),
        (Input("u", low=Fraction(-1), high=Fraction(1)),),
        (Parameter("p", low=Fraction(0), high=Fraction(2)),),
        properties=(Property("claim", claim),),
    )


def _affine(random: Random, *more: Expression) -> Expression:
    terms = [number(random, -2, 2) * v for v in (X, Y, *more)]
    return sum(terms, constant(number(random)))


def _value(random: Random, *more: Expression) -> Expression:
    """An affine value, or a piecewise one."""
    what = random.randrange(5)
    if what == 0:
        return minimum(_affine(random, *more), number(random))
    if what == 1:
        return maximum(_affine(random, *more), _affine(random))
    if what == 2:
        return function(Op.ABSOLUTE, _affine(random, *more))
    return _affine(random, *more)


def _range(random: Random, *more: Expression) -> Range:
    if random.random() < 0.6:
        return Range.exactly(_value(random, *more))
    middle = _affine(random, *more)
    return Range(middle, middle + random.randint(1, 2))


def _comparison(random: Random, *more: Expression) -> Expression:
    op = random.choice((Op.LESS_EQUAL, Op.GREATER_EQUAL, Op.LESS, Op.GREATER))
    return compare(op, _value(random, *more), number(random))


def _place(random: Random, name: str) -> Location:
    flows = (Constraint("x", _range(random, U, P)), Constraint("y", _range(random, P)))
    walls = [X <= 4, X >= -4, function(Op.ABSOLUTE, Y) <= 4]
    if random.random() < 0.5:
        walls.append(disjunction(X >= number(random), Y <= number(random)))
    return Location(name, flows, invariant=conjunction(*walls))


def _edge(random: Random, source: str, target: str, name: str) -> Edge:
    urgent = random.random() < 0.3
    parts = [_comparison(random, *(() if urgent else (U,)))]
    parts += random.sample([ON, negation(ON), N <= 2, equal(AT, symbol("busy")), X >= Y], 1)
    resets = [Constraint("n", Range.exactly(minimum(N + 1, 3)))]
    if random.random() < 0.6:
        resets.append(Constraint("x", _range(random, U)))
    if random.random() < 0.5:
        resets.append(Constraint("on", Range.exactly(disjunction(negation(ON), X >= 1))))
    if random.random() < 0.5:
        resets.append(Constraint("at", Range.exactly(symbol(random.choice(MODE.values)))))
    join = random.choice((conjunction, disjunction))
    return Edge(source, target, join(*parts), tuple(resets), urgent=urgent, name=name)


# Steps


@dataclass(frozen=True)
class Step:
    """From `before` to `after` over an edge, or at a start, which has none."""

    source: str
    target: str
    before: State
    after: State


def some_state(random: Random) -> dict[str, Scalar]:
    """Values of everything, within the bounds of inputs and parameters."""
    grid = [Fraction(k, 4) for k in range(-16, 17)]
    return {
        "x": random.choice(grid),
        "y": random.choice(grid),
        "u": Fraction(random.randint(-4, 4), 4),
        "p": Fraction(random.randint(0, 8), 4),
        "n": Fraction(random.randint(0, 3)),
        "on": random.random() < 0.5,
        "at": random.choice(MODE.values),
    }


def starts(model: HybridAutomaton, random: Random, tries: int) -> Iterator[Step]:
    for _ in range(tries):
        (start,) = model.initial
        state = some_state(random) | {"n": Fraction(0), "on": True, "at": "idle"}
        if evaluate(start.condition, state):
            after = changed(start.resets, state, random)
            if evaluate(model.location(start.location).invariant, after):
                yield Step(start.location, start.location, state, after)


def jumps(model: HybridAutomaton, random: Random, tries: int) -> Iterator[tuple[int, Step]]:
    """With the number of the edge among those of its source."""
    for _ in range(tries):
        place = random.choice(model.locations)
        state = some_state(random)
        edges = list(model.edges_from(place.name))
        if not edges or not evaluate(place.invariant, state):
            continue
        at = random.randrange(len(edges))
        if evaluate(edges[at].guard, state):
            after = changed(edges[at].resets, state, random)
            if evaluate(model.location(edges[at].target).invariant, after):
                yield at, Step(place.name, edges[at].target, state, after)


def moments(
    model: HybridAutomaton, random: Random, tries: int
) -> Iterator[tuple[str, State, dict[str, Fraction]]]:
    """States in which time passes, with derivatives."""
    for _ in range(tries):
        place = random.choice(model.locations)
        state = some_state(random)
        urgent = (e.guard for e in model.edges_from(place.name) if e.urgent)
        if evaluate(place.invariant, state) and not any(evaluate(g, state) for g in urgent):
            yield (
                place.name,
                state,
                {f.variable: drawn(f.range, state, random) for f in place.flows},
            )


def changed(resets: tuple[Constraint, ...], state: State, random: Random) -> dict[str, Scalar]:
    """The state after resets."""
    found = dict(state)
    for reset in resets:
        if reset.variable in ("on", "at"):
            assert reset.range.exact is not None
            found[reset.variable] = evaluate(reset.range.exact, state)
        else:
            found[reset.variable] = drawn(reset.range, state, random)
    return found


def drawn(given: Range, state: State, random: Random) -> Fraction:
    """A value of a range."""
    assert given.low is not None and given.high is not None
    low, high = (Fraction(evaluate(end, state)) for end in (given.low, given.high))  # type: ignore[arg-type]
    return low + (high - low) * Fraction(random.randint(0, 4), 4)


def numbers(state: State) -> dict[str, Fraction]:
    """Values as they stand in rows: false is 0, true is 1, a symbol its place."""
    return {
        name: Fraction(MODE.values.index(value) if isinstance(value, str) else value)
        for name, value in state.items()
    }


def after_names(state: Mapping[str, Fraction]) -> dict[str, Fraction]:
    return {primed(name): value for name, value in state.items()}
