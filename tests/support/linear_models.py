"""Random models whose conditions the linear view keeps as they are, and steps that they can take.

Flows, guards and resets are affine or piecewise so, with ranges, inputs and a parameter; there are
whole numbers, truth values and symbols. Steps are made from the meaning of the model alone: values
are drawn, and conditions evaluated exactly.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
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
    conditional,
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
X, Y, Z, U, P, N, ON, AT = map(variable, ("x", "y", "z", "u", "p", "n", "on", "at"))
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


def model_by_cases(seed: int) -> HybridAutomaton:
    """The same with a flow that depends on a truth value or a symbol, and with an equation whose
    variable a flow, the guards and the claim read. What is proved is proved of its locations by
    cases, and of what the equation says."""
    random = Random(seed)
    model = linear_model(seed)
    test = random.choice((ON, equal(AT, symbol("busy"))))

    def flows(place: Location) -> tuple[Constraint, ...]:
        of_x, of_y = place.flows
        end = _affine(random, U)
        by_cases = Range.exactly(conditional(test, _affine(random, U, P), end))
        rate = of_y.range.exact
        same = of_y if rate is None else replace(of_y, range=Range.exactly(rate - Z))
        return replace(of_x, range=by_cases), same

    places = tuple(
        replace(
            place, flows=flows(place), algebraic=(Constraint("z", Range.exactly(_affine(random))),)
        )
        for place in model.locations
    )
    edges = tuple(
        edge
        if edge.urgent
        else replace(edge, guard=disjunction(edge.guard, Z >= number(random, 0)))
        for edge in model.edges
    )
    (claim,) = model.properties
    return replace(
        model,
        variables=(*model.variables, Variable("z")),
        locations=places,
        edges=edges,
        properties=(replace(claim, condition=disjunction(claim.condition, Z <= number(random))),),
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


def defined(place: Location, state: State) -> dict[str, Scalar]:
    """The state with what the equations of a location say."""
    found = dict(state)
    for equation in place.algebraic:
        assert equation.range.exact is not None
        found[equation.variable] = evaluate(equation.range.exact, found)
    return found


def starts(model: HybridAutomaton, random: Random, tries: int) -> Iterator[Step]:
    for _ in range(tries):
        (start,) = model.initial
        place = model.location(start.location)
        state = some_state(random) | {"n": Fraction(0), "on": True, "at": "idle"}
        if evaluate(start.condition, state):
            after = defined(place, changed(start.resets, state, random))
            if evaluate(model.location(start.location).invariant, after):
                yield Step(start.location, start.location, state, after)


def jumps(model: HybridAutomaton, random: Random, tries: int) -> Iterator[tuple[str, Step]]:
    """With the name of the edge."""
    for _ in range(tries):
        place = random.choice(model.locations)
        state = defined(place, some_state(random))
        edges = list(model.edges_from(place.name))
        if not edges or not evaluate(place.invariant, state):
            continue
        at = random.randrange(len(edges))
        if evaluate(edges[at].guard, state):
            target = model.location(edges[at].target)
            after = defined(target, changed(edges[at].resets, state, random))
            if evaluate(model.location(edges[at].target).invariant, after):
                yield edges[at].name, Step(place.name, edges[at].target, state, after)


def moments(
    model: HybridAutomaton, random: Random, tries: int
) -> Iterator[tuple[str, State, dict[str, Fraction]]]:
    """States in which time passes, with derivatives."""
    for _ in range(tries):
        place = random.choice(model.locations)
        state = defined(place, some_state(random))
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
