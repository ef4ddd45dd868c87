"""Random affine hybrid automata, and whether a state lies in a flowpipe."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from random import Random

from workbench.models.automaton import (
    Constraint,
    Edge,
    HybridAutomaton,
    Initial,
    Input,
    Location,
    Property,
    Range,
    Variable,
)
from workbench.models.checker.flowpipe import AnyNode, FlowpipeProof, Step, steps_in
from workbench.models.checker.stay_conditions import ELAPSED
from workbench.models.expressions.evaluation import evaluate_number
from workbench.models.expressions.expression import (
    TRUE,
    Expression,
    add,
    compare,
    conjunction,
    constant,
    multiply,
    variable,
)
from workbench.models.expressions.operators import Op
from workbench.models.expressions.traversal import free_variables
from workbench.models.lowering.problem import LinearProblem

NAMES = ("x", "y", "z")


def decimal(random: Random, low: float, high: float) -> Fraction:
    return Fraction(round(random.uniform(low, high) * 100), 100)


def random_automaton(seed: int) -> HybridAutomaton:
    """Two or three variables, one to three locations, clocks or thresholds as guards, resets
    and sometimes a bounded input; every location can be left in time or goes on for ever."""
    random = Random(seed)
    names = NAMES[: random.choice((2, 3))]
    count = random.choice((1, 2, 3))
    has_input = random.random() < 0.6
    clock = variable("c")
    locations, edges = [], []
    for i in range(count):
        flows = [_flow(random, name, names, has_input) for name in names]
        flows.append(Constraint("c", Range.exactly(constant(1))))
        invariant: Expression = TRUE
        if count > 1:
            period = decimal(random, 0.3, 1.2)
            slack = random.choice((Fraction(0), Fraction(0), Fraction(1, 5)))
            invariant = compare(Op.LESS_EQUAL, clock, period + slack)
            edges.append(_edge(random, i, count, names, compare(Op.GREATER_EQUAL, clock, period)))
            if random.random() < 0.5:
                threshold = decimal(random, -2, 2)
                guard = compare(Op.GREATER_EQUAL, variable(random.choice(names)), threshold)
                edges.append(_edge(random, i, count, names, guard))
        locations.append(Location(f"l{i}", tuple(flows), (), invariant))
    start = [compare(Op.EQUAL, clock, 0)]
    for name in names:
        low = decimal(random, -2, 2)
        start.append(compare(Op.GREATER_EQUAL, variable(name), low))
        high = low + random.choice((Fraction(0), decimal(random, 0, 0.5)))
        start.append(compare(Op.LESS_EQUAL, variable(name), high))
    inputs = (Input("u", low=Fraction(-1), high=Fraction(1, 2)),) if has_input else ()
    return HybridAutomaton(
        f"random{seed}",
        tuple(Variable(n) for n in (*names, "c")),
        tuple(locations),
        tuple(edges),
        (Initial("l0", conjunction(*start)),),
        inputs,
        properties=(Property("far", compare(Op.LESS_EQUAL, variable("x"), 10**6)),),
    )


def slanted(automaton: HybridAutomaton, seed: int) -> HybridAutomaton:
    """The automaton started in a slab across the box, or on a plane, around its centre."""
    random = Random(seed)
    (start,) = automaton.initial
    names = [v.name for v in automaton.variables if v.name != "c"]
    centre = {name: decimal(random, -1, 1) for name in names}
    factors = {name: decimal(random, 0.5, 2) * random.choice((1, -1)) for name in names}
    level = sum((factors[name] * centre[name] for name in names), Fraction(0))
    sum_of = add(*(multiply(constant(factors[name]), variable(name)) for name in names))
    half = random.choice((Fraction(0), Fraction(1, 50)))
    parts = [compare(Op.EQUAL, variable("c"), 0)]
    for name in names:
        parts.append(compare(Op.GREATER_EQUAL, variable(name), centre[name] - Fraction(1, 2)))
        parts.append(compare(Op.LESS_EQUAL, variable(name), centre[name] + Fraction(1, 2)))
    parts.append(compare(Op.GREATER_EQUAL, sum_of, level - half))
    parts.append(compare(Op.LESS_EQUAL, sum_of, level + half))
    return replace(automaton, initial=(Initial(start.location, conjunction(*parts)),))


def _flow(random: Random, name: str, names: tuple[str, ...], has_input: bool) -> Constraint:
    terms: list[Expression] = [
        multiply(constant(decimal(random, -2, 1)), variable(other))
        for other in names
        if random.random() < 0.7
    ]
    terms.append(constant(decimal(random, -1, 1)))
    if has_input and random.random() < 0.6:
        terms.append(multiply(constant(decimal(random, -1, 1)), variable("u")))
    value = add(*terms)
    if random.random() < 0.15:
        return Constraint(name, Range(value, add(value, constant(Fraction(1, 4)))))
    return Constraint(name, Range.exactly(value))


def _edge(random: Random, i: int, count: int, names: tuple[str, ...], guard: Expression) -> Edge:
    resets = [Constraint("c", Range.exactly(constant(0)))]
    for name in names:
        draw = random.random()
        if draw < 0.25:
            scaled = multiply(constant(decimal(random, -1, 1)), variable(random.choice(names)))
            resets.append(
                Constraint(name, Range.exactly(add(scaled, constant(decimal(random, -1, 1)))))
            )
        elif draw < 0.35:
            resets.append(Constraint(name, Range(constant(0), constant(Fraction(1, 2)))))
    return Edge(f"l{i}", f"l{random.randrange(count)}", guard, tuple(resets), name=f"e{i}")


class Membership:
    """Asks whether states lie in a flowpipe, by arithmetic of its own on the rows."""

    def __init__(self, problem: LinearProblem, proof: FlowpipeProof):
        self._problem = problem
        self._steps: dict[str, list[list[Step]]] = {}
        for node in proof.nodes:
            made = list(steps_in(problem, node, {}))
            self._steps.setdefault(node.location, []).append(made)

    def excess(self, location: str, state: Mapping[str, float]) -> float:
        """How far the state is outside the nearest step of a node (0 or less: inside)."""
        known = dict(state)
        for expression, name in self._problem.quantities(location).items():
            if free_variables(expression) <= state.keys():
                known[name] = float(evaluate_number(expression, state))
        return min(
            (_excess(step, known) for node in self._steps.get(location, ()) for step in node),
            default=float("inf"),
        )


def _excess(step: Step, state: Mapping[str, float]) -> float:
    """The least e >= 0 such that some elapsed time satisfies all rows up to e, found by
    bisection on the interval of elapsed times that every row allows."""

    def allowed(slack: float) -> bool:
        low, high = float(step.begin), float(step.end)
        for row in step.rows:
            if not row.form.coefficients.keys() <= {ELAPSED, *state}:
                continue  # it speaks about inputs
            slope, value = 0.0, float(row.form.constant)
            for name, a in row.form.coefficients.items():
                if name == ELAPSED:
                    slope = float(a)
                else:
                    value += float(a) * state[name]
            if slope > 0:
                high = min(high, (slack - value) / slope)
            elif slope < 0:
                low = max(low, (slack - value) / slope)
            elif value > slack:
                return False
        return low <= high + slack

    for slack in (0.0, 1e-9, 1e-7, 1e-6, 1e-5, 1e-3):
        if allowed(slack):
            return slack
    return float("inf")


def locations_of(nodes: tuple[AnyNode, ...]) -> set[str]:
    return {node.location for node in nodes}
