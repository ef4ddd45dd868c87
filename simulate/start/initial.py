"""Where a run starts: a point of an initial set.

Bounds of single variables make a box; the policy picks a point of it; the other parts of
the condition are met by trying further points. Where that is hopeless (there are equations) or
fails, points are drawn from the polytope of the linear parts; at last the solver is asked, which
also tells when the set is empty. The invariant of the location must hold at the start, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from random import Random

from models.automaton import Initial, ValueType
from models.expressions.expression import Expression, boolean, conjunction, equal, variable
from models.expressions.expression import constant as literal
from models.expressions.operators import Op
from models.expressions.traversal import conjuncts, free_variables, substitute
from simulate.jump import Jump
from simulate.place import Prepared
from simulate.policy import Decisions, Level
from simulate.start.linear_start import LinearStart
from simulate.start.projection import Projection, projection
from simulate.stepping.calculator import Calculator
from simulate.stepping.tape import number

TRIES = 200
"""Points of the box that are tried."""

LINEAR_TRIES = 50
"""Points of the polytope that are tried before the solver is asked."""


@dataclass(frozen=True, slots=True)
class NoStart:
    """Why no state was found."""

    reason: str


@dataclass(frozen=True, slots=True)
class Box:
    """Bounds of single variables, definitions `x == e`, and the rest of a condition."""

    low: Mapping[str, Fraction]
    high: Mapping[str, Fraction]
    defined: tuple[tuple[str, Expression], ...]
    rest: Expression


_MIRRORED = {
    Op.LESS: Op.GREATER,
    Op.LESS_EQUAL: Op.GREATER_EQUAL,
    Op.GREATER: Op.LESS,
    Op.GREATER_EQUAL: Op.LESS_EQUAL,
    Op.EQUAL: Op.EQUAL,
}


_ENDS = {Level.LOW: -1, Level.MID: 0, Level.HIGH: 1}


def box_of(condition: Expression) -> Box:
    """The condition split into bounds, definitions and the rest; equivalent together
    except that strict bounds are closed (the whole condition is tested afterwards)."""
    low: dict[str, Fraction] = {}
    high: dict[str, Fraction] = {}
    defined: dict[str, Expression] = {}
    rest: list[Expression] = []
    for part in conjuncts(condition):
        truth = part.args[0] if part.op is Op.NOT else part
        if truth.op is Op.VARIABLE:
            defined[truth.name] = boolean(truth is part)
            continue
        if part.op not in _MIRRORED:
            rest.append(part)
            continue
        op, (left, right) = part.op, part.args
        if right.op is Op.VARIABLE and left.op is not Op.VARIABLE:
            op, left, right = _MIRRORED[op], right, left
        if left.op is not Op.VARIABLE:
            rest.append(part)
        elif right.is_constant and op is not Op.EQUAL:
            bound, better = (low, max) if op in (Op.GREATER, Op.GREATER_EQUAL) else (high, min)
            known = bound.get(left.name, right.constant)
            bound[left.name] = better(known, right.constant)
        elif op is Op.EQUAL and left.name not in defined and right != left:
            defined[left.name] = right
        else:
            rest.append(part)
    return Box(low, high, _ordered(defined, rest), conjunction(*rest))


def _ordered(
    defined: dict[str, Expression], rest: list[Expression]
) -> tuple[tuple[str, Expression], ...]:
    """Definitions in an order in which each uses earlier ones only; loops go to the rest."""
    order: list[tuple[str, Expression]] = []
    pending = dict(defined)
    while pending:
        ready = [n for n, e in pending.items() if not free_variables(e) & pending.keys()]
        if not ready:
            rest.extend(equal(variable(n), e) for n, e in pending.items())
            break
        order.extend((n, pending.pop(n)) for n in ready)
    return tuple(order)


class StartFinder:
    """Finds start states of one initial set; compiled once, used by many runs."""

    def __init__(self, prepared: Prepared, start: Initial):
        self.prepared, self.start = prepared, start
        self.condition = start.condition
        if not start.resets:  # else the invariant is tested after the resets
            invariant = conjunction(*prepared.place(start.location).exits)
            self.condition = conjunction(start.condition, invariant)
        self._box = box_of(self.condition)
        self._holds = prepared.condition(self.condition)
        self._linear = LinearStart(prepared, self.condition, self._box.defined)
        self._is_thin = self._linear.has_equations
        self._projections: dict[frozenset[str], Projection | None] = {}
        self._definitions = Calculator(
            [e for _, e in self._box.defined], prepared.symbols, prepared.externals
        )
        pairs = [(c.variable, c.range) for c in start.resets]
        self.entry = Jump(pairs, prepared.known, prepared.symbols, prepared.externals)

    def find(
        self, given: Mapping[str, float], environment: Mapping[str, float], decisions: Decisions
    ) -> dict[str, float] | NoStart:
        """Values of all variables, before the entry resets; `given` values are kept."""
        points = self._points(given, environment, decisions)
        for values in points:
            if self._holds({**environment, **values}, 1e-12, 1e-12):
                return values
        return self._ask(given, environment)

    def _points(
        self, given: Mapping[str, float], environment: Mapping[str, float], decisions: Decisions
    ) -> Iterator[dict[str, float]]:
        random = decisions.policy.level is Level.RANDOM
        fixed = Random(0)
        draw = decisions.draw if random else fixed.random
        if not self._is_thin:
            yield self._point(given, environment, decisions.share)
            for _ in range(TRIES):
                yield self._point(given, environment, draw)
        linear = self._linear.polytope({**environment, **given})
        if linear is not None and not random:
            end = linear.end(_ENDS[decisions.policy.level])
            yield self._point({**end, **given}, environment, decisions.share)
        for _ in range(LINEAR_TRIES if linear is not None or self._is_thin else 0):
            drawn = {} if linear is None else linear.sample(Random(draw()))
            values = self._point({**drawn, **given}, environment, draw)
            moved = self._projected(values, given, environment)
            yield values if moved is None else self._point({**moved, **given}, environment, draw)

    def _projected(
        self,
        values: Mapping[str, float],
        given: Mapping[str, float],
        environment: Mapping[str, float],
    ) -> dict[str, float] | None:
        """A point moved onto the equations, if not all of them are linear."""
        key = frozenset(given)
        if key not in self._projections:
            p = self.prepared
            curved = self._linear.curved(key)
            self._projections[key] = projection(*curved, p.symbols, p.externals)
        project = self._projections[key]
        moved = None if project is None else project({**environment, **values})
        return None if moved is None else {**values, **moved}

    def _point(
        self,
        given: Mapping[str, float],
        environment: Mapping[str, float],
        share: Callable[[], float],
    ) -> dict[str, float]:
        box, values = self._box, {}
        defined = dict(box.defined)
        for name in self.prepared.names:
            if name in given:
                values[name] = given[name]
            elif name not in defined:
                values[name] = self._between(name, share)
        if defined:
            known = {**dict.fromkeys(self._definitions.names, 0.0), **environment, **values}
            for i, (name, _) in enumerate(box.defined):
                known[name] = given[name] if name in given else self._definitions(known)[i]
                if name in self.prepared.known:
                    values[name] = known[name]
        return values

    def _between(self, name: str, share: Callable[[], float]) -> float:
        low, high = self._box.low.get(name), self._box.high.get(name)
        if low is None and high is None:
            return 0.0
        if low is None or high is None:
            return number(low if low is not None else high)  # type: ignore[arg-type]
        if low == high:
            return number(low)
        value = number(low) + share() * (number(high) - number(low))
        whole = self.prepared.types[name].name == "int"
        return float(round(value)) if whole else float(value)

    def _ask(
        self, given: Mapping[str, float], environment: Mapping[str, float]
    ) -> dict[str, float] | NoStart:
        """The solver's answer: a state, or the reason why there is none."""
        from models.smt.solver import Unsatisfiable, Witness, satisfiable

        fixed = {
            name: literal(Fraction(value))
            for name, value in {**environment, **given}.items()
            if self._type(name).is_numeric
        }
        answer = satisfiable(substitute(self.condition, fixed), self.prepared.types)
        if isinstance(answer, Unsatisfiable):
            chosen = ", ".join(f"{n} = {v:g}" for n, v in given.items())
            return NoStart(
                f"no initial state of `{self.start.location}` has {chosen}"
                if chosen
                else f"the initial set of `{self.start.location}` is empty"
            )
        if not isinstance(answer, Witness):
            return NoStart(f"no initial state of `{self.start.location}` was found")
        values = dict.fromkeys(self.prepared.names, 0.0)
        for name, value in answer.values.items():
            if name in self.prepared.known:
                values[name] = self._as_number(value)
        values.update(given)
        return values

    def _type(self, name: str) -> ValueType:
        return self.prepared.types.get(name, ValueType("real"))

    def _as_number(self, value: object) -> float:
        if isinstance(value, str):
            return float(self.prepared.symbols[value])
        return float(value)  # type: ignore[arg-type]
