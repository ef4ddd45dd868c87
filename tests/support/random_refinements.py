"""Random pairs of automata, the second mostly more generous: two flowing variables, a truth
value, a whole number, urgent edges, resets to values and to ranges, inputs, and abstract
automata that drop a variable or merge locations."""

from __future__ import annotations

from fractions import Fraction
from random import Random

from workbench.models.automaton import (
    BOOL,
    INT,
    UNCONSTRAINED,
    Constraint,
    Edge,
    HybridAutomaton,
    Initial,
    Input,
    Kind,
    Location,
    Range,
    Variable,
)
from workbench.models.expressions.expression import (
    FALSE,
    TRUE,
    Expression,
    boolean,
    conjunction,
    constant,
    negation,
    variable,
)

X, Y, B, K, U = (variable(n) for n in ("x", "y", "b", "k", "u"))


def rich_pair(random: Random) -> tuple[HybridAutomaton, HybridAutomaton, tuple[str, ...]]:
    """A detailed and an abstract automaton, and what is observed."""
    return _Maker(random).pair()


class _Maker:
    def __init__(self, random: Random):
        self.random = random
        self.merged = random.random() < 0.15
        self.dropped = random.random() < 0.25
        self.urgent = random.random() < 0.3
        self.generous = random.choice([0, 1, 1, 2])

    def more(self) -> int:
        """Mostly not negative: how much wider the abstract automaton is."""
        if self.random.random() < 0.06:
            return -1
        return self.random.choice([0, self.generous])

    def pair(self) -> tuple[HybridAutomaton, HybridAutomaton, tuple[str, ...]]:
        names = ("p", "q")
        places = [self._places(name) for name in names]
        edges = [self._edges(a, b) for a, b in (("p", "q"), ("q", "p"), ("p", "p"))]
        start = self._start()
        flowing = (Variable("x"), Variable("y"))
        discrete = (Variable("b", BOOL, Kind.DISCRETE), Variable("k", INT, Kind.DISCRETE))
        inputs = (Input("u", low=Fraction(-1), high=Fraction(1)),)
        detailed = HybridAutomaton(
            "detailed",
            (*flowing, *discrete),
            tuple(own for own, _ in places),
            tuple(own for own, _ in edges),
            (Initial("p", start[0]),),
            inputs,
        )
        simple = HybridAutomaton(
            "simple",
            (flowing[0], *discrete) if self.dropped else (*flowing, *discrete),
            tuple(other for _, other in places),
            tuple(other for _, other in edges),
            (Initial("p", start[1]),),
            () if self.dropped else inputs,
        )
        if self.merged:
            simple = self._merge(simple)
        observed = ("x", "b", "k") if self.dropped else ("x", "y", "b", "k", "u")
        return detailed, simple, observed

    def _places(self, name: str) -> tuple[Location, Location]:
        r = self.random
        low, high = r.randint(-4, -1), r.randint(1, 4)
        rate = r.choice([-1, 0, 1]) * X + r.choice([0, 0, 1, -1]) * Y + r.randint(-2, 2)
        drift = r.choice([0, 0, 1]) * U - r.choice([0, 1]) * Y + r.randint(-1, 1)
        slack = r.choice([0, 0, 1])
        flows = (
            Constraint("x", Range(rate, rate + slack)),
            Constraint("y", Range.exactly(drift)),
        )
        box = conjunction(low <= X, high >= X, Y >= -3, Y <= 3)
        own = Location(name, flows, (), box)
        if self.dropped:
            wide = Range(constant(-9 - self.more()), constant(10 + self.more()))
            kept = conjunction(X >= low - self.more(), X <= high + self.more())
            return own, Location(name, (Constraint("x", wide),), (), kept)
        loose = (
            Constraint("x", Range(rate - self.more(), rate + slack + self.more())),
            Constraint("y", Range(drift - self.more(), drift + self.more())),
        )
        bounds = conjunction(
            X >= low - self.more(), X <= high + self.more(), Y >= -3 - self.more(), Y <= 3
        )
        return own, Location(name, loose, (), bounds)

    def _edges(self, source: str, target: str) -> tuple[Edge, Edge]:
        r = self.random
        level = r.randint(-1, 2)
        guard = X >= level if r.random() < 0.5 else conjunction(X <= level, B)
        wider = X >= level - self.more() if guard == (X >= level) else X <= level + self.more()
        resets: list[Constraint] = []
        loose: list[Constraint] = []
        if r.random() < 0.5:
            shift = r.choice([-1, 0, 1])
            resets.append(Constraint("x", Range.exactly(X + shift)))
            loose.append(Constraint("x", Range(X + shift - self.more(), X + shift + self.more())))
        if r.random() < 0.4:
            value = negation(B) if r.random() < 0.5 else boolean(r.random() < 0.5)
            resets.append(Constraint("b", Range.exactly(value)))
            free = r.random() < 0.3
            loose.append(Constraint("b", UNCONSTRAINED if free else Range.exactly(value)))
        if r.random() < 0.4:
            resets.append(Constraint("k", Range.exactly(K + 1)))
            loose.append(Constraint("k", Range(K - self.more(), K + 1 + self.more())))
        urgent = self.urgent and r.random() < 0.5
        also = urgent and r.random() < 0.5
        return (
            Edge(source, target, guard, tuple(resets), urgent=urgent),
            Edge(source, target, wider, tuple(loose), urgent=also),
        )

    def _start(self) -> tuple[Expression, Expression]:
        r = self.random
        low = r.randint(-1, 1)
        truth = r.choice([B, negation(B), TRUE])
        own = conjunction(X >= low, X <= low + 1, Y >= 0, Y <= 1, K >= 0, K <= 0, truth)
        weaker = TRUE if r.random() < 0.3 else truth
        parts = [X >= low - self.more(), X <= low + 1 + self.more(), K >= 0, K <= 0, weaker]
        if not self.dropped:
            parts += [Y >= 0 - self.more(), Y <= 1]
        if r.random() < 0.03:
            parts.append(FALSE)
        return own, conjunction(*parts)

    def _merge(self, simple: HybridAutomaton) -> HybridAutomaton:
        """One location with the widest constants in the place of both."""
        flows = tuple(
            Constraint(n, Range(constant(-12), constant(12)))
            for n in ("x", "y")
            if n == "x" or not self.dropped
        )
        place = Location("p", flows, (), conjunction(X >= -6, X <= 6))
        edges = tuple(Edge("p", "p", e.guard, e.resets, urgent=e.urgent) for e in simple.edges)
        return HybridAutomaton(
            "simple", simple.variables, (place,), edges, simple.initial, simple.inputs
        )
