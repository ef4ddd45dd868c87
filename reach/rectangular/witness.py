"""A run along a given path of a rectangular system, exactly, or the knowledge that none exists.

A path fixes the edges; left open are the first state, how long each location is kept, how far
each variable moves meanwhile (between t times the least and the greatest rate: with constant
ranges and a convex invariant a straight line is as good as any run), and values chosen in
resets. All of that is linear: the solver decides it in rationals, strict comparisons included,
and `reach.rectangular.exact_replay` repeats what it finds by the meaning of the model itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction

from workbench.models.automaton import BOOL, Automaton, primed
from workbench.models.expressions.expression import (
    Expression,
    add,
    compare,
    conjunction,
    disjunction,
    multiply,
    variable,
)
from workbench.models.expressions.operators import Op
from workbench.models.linear import Form, Row, Rows
from workbench.models.lowering.problem import LinearProblem
from workbench.models.smt.solver import Limits, Session, Unsatisfiable, Witness

LIMITS = Limits(20_000_000, 20_000)
MARGINS = (Fraction(1), Fraction(1, 16))
"""How far into the bad set a run should go, if it can go there at all."""


@dataclass(frozen=True, slots=True)
class Stay:
    """A location, the state on entering it, how long it is kept, the constant rates of the
    variables meanwhile, and the number of the edge that leaves it (-1: the run ends here)."""

    location: str
    state: dict[str, Fraction]
    duration: Fraction
    rates: dict[str, Fraction]
    edge: int = -1

    def after(self, elapsed: Fraction) -> dict[str, Fraction]:
        """The state after some time here."""
        return {n: v + elapsed * self.rates.get(n, Fraction(0)) for n, v in self.state.items()}


@dataclass(frozen=True, slots=True)
class Run:
    """An exact run that ends in a bad state."""

    stays: tuple[Stay, ...]

    @property
    def duration(self) -> Fraction:
        """How long the run takes."""
        return sum((stay.duration for stay in self.stays), Fraction(0))

    def told(self, automaton: Automaton) -> str:
        """The run in words: which edges are taken, and when."""
        now = Fraction(0)
        parts: list[str] = []
        for stay in self.stays:
            now += stay.duration
            if stay.edge >= 0:
                edge = automaton.edges_from(stay.location)[stay.edge]
                parts.append(f"{edge.name or f'{edge.source} -> {edge.target}'} at {now}")
        return ", ".join([*parts, f"the violation at {now}"])


@dataclass(frozen=True, slots=True)
class Path:
    """Locations and the edges between them (number and case), and the bad case at the end."""

    locations: tuple[str, ...]
    edges: tuple[tuple[int, int], ...]
    bad: int


def run_along(problem: LinearProblem, path: Path, horizon: Fraction | None = None) -> Run | None:
    """A run along the path that ends in its bad case within the horizon; None if there is
    none, or if the solver gave up."""
    for location, cases in problem.starts():
        if location != path.locations[0]:
            continue
        for rows in cases:
            found = _solved(problem, path, rows, horizon)
            if found is not None:
                return found
    return None


def _solved(
    problem: LinearProblem, path: Path, start: Rows, horizon: Fraction | None
) -> Run | None:
    conditions = [*_rows(start, -1, problem), *_moves(problem, path)]
    if horizon is not None:
        delays = [variable(_delay(k)) for k in range(len(path.locations))]
        conditions.append(compare(Op.LESS_EQUAL, add(*delays), horizon))
    last = len(path.locations) - 1
    bad = problem.bad(path.locations[-1])[path.bad]
    session = Session(limits=LIMITS)
    best: Witness | None = None
    for margin in (None, *MARGINS):
        goal = bad if margin is None else tuple(Row(r.form + Form({}, margin)) for r in bad)
        inside = _rows(goal, last, problem)
        answer = session.satisfiable(conjunction(*conditions, *inside))
        if isinstance(answer, Witness) and answer.exact:
            best = answer
            if margin is not None:
                break
        elif margin is None and isinstance(answer, Unsatisfiable):
            return None
    return None if best is None else _run(problem, path, best)


def _moves(problem: LinearProblem, path: Path) -> Iterator[Expression]:
    """What links the states of the path."""
    for k, location in enumerate(path.locations):
        yield compare(Op.GREATER_EQUAL, variable(_delay(k)), 0)
        yield from _flow(problem, location, k)
        cases = problem.invariant(location)
        if len(cases) == 1:
            yield from _rows(cases[0], k, problem)
        if problem.idle(location) != ((),):
            yield _while_flowing(problem, location, k)
        if k < len(path.edges):
            edge, case = path.edges[k]
            jump = list(problem.jumps(location))[edge]
            yield from _rows(jump.cases[case], k, problem)


def _while_flowing(problem: LinearProblem, location: str, k: int) -> Expression:
    """That a stay takes no time, or is within one case of where time passes: a straight line
    whose begin satisfies the rows of a case, and whose end does so up to strictness, satisfies
    them before its end."""
    primes = {name: primed(name) for name in problem.names}
    options = [compare(Op.EQUAL, variable(_delay(k)), 0)]
    for case in problem.flowing(location):
        begin = _rows([row.renamed(primes) for row in case], k - 1, problem)
        end = _rows([Row(row.form) for row in case], k, problem)
        options.append(conjunction(*begin, *end))
    return disjunction(*options)


def _flow(problem: LinearProblem, location: str, k: int) -> Iterator[Expression]:
    """exit = entry + moved, and moved within the rates times the delay; where rates have no
    bound, that nothing moves in no time must be said too."""
    dynamics = problem.dynamics(location)[0]
    delay = variable(_delay(k))
    zero = Form({})
    for name in sorted(problem.names):
        form = dynamics.derivative.get(name, zero)
        moving = bool(form.coefficients)
        moved = variable(_moved(name, k)) if moving else multiply(form.constant, delay)
        yield compare(Op.EQUAL, variable(_exit(name, k)), add(variable(_entry(name, k)), moved))
    for row in dynamics.rows:
        terms = [
            multiply(a, variable(_moved(n[2:-1], k))) for n, a in row.form.coefficients.items()
        ]
        yield compare(Op.LESS_EQUAL, add(*terms, multiply(row.form.constant, delay)), 0)
    signs = _signs(dynamics.rows)
    bounded = {n for n, sign in signs if (n, -sign) in signs}
    for name in sorted(problem.names):
        if dynamics.derivative.get(name, zero).coefficients.keys() - bounded:
            still = compare(Op.EQUAL, variable(_moved(name, k)), 0)
            yield disjunction(compare(Op.GREATER, delay, 0), still)


def _signs(rows: Rows) -> set[tuple[str, int]]:
    """The derivatives that rows bound alone, and whether from above (1) or below (-1)."""
    alone = (row.form.coefficients for row in rows if len(row.form.coefficients) == 1)
    return {(n, 1 if a > 0 else -1) for coefficients in alone for n, a in coefficients.items()}


def _rows(rows: Iterable[Row], k: int, problem: LinearProblem) -> Iterator[Expression]:
    """Rows about the end of stay k (plain names) and the beginning of stay k + 1 (primed)."""
    for row in rows:
        terms: list[Expression | Fraction] = [row.form.constant]
        for name, a in row.form.coefficients.items():
            if name in problem.names:
                place = variable(_exit(name, k))
            elif name.endswith("'") and name[:-1] in problem.names:
                place = variable(_entry(name[:-1], k + 1))
            else:
                place = variable(f"{name}@{k}")
            terms.append(multiply(a, place))
        yield compare(Op.LESS if row.strict else Op.LESS_EQUAL, add(*terms), 0)


def _run(problem: LinearProblem, path: Path, answer: Witness) -> Run:
    stays: list[Stay] = []
    for k, location in enumerate(path.locations):
        duration = _number(answer, _delay(k))
        entry = {n: _number(answer, _entry(n, k)) for n in sorted(problem.names)}
        leave = {n: _number(answer, _exit(n, k)) for n in entry}
        rates = (
            {n: (leave[n] - entry[n]) / duration for n in entry if leave[n] != entry[n]}
            if duration
            else {}
        )
        edge = path.edges[k][0] if k < len(path.edges) else -1
        stays.append(Stay(location, entry, duration, rates, edge))
    return Run(tuple(stays))


def _number(answer: Witness, name: str) -> Fraction:
    value = answer.values.get(name, Fraction(0))
    assert isinstance(value, Fraction)
    return value


def decoded(automaton: Automaton, state: dict[str, Fraction]) -> dict[str, Fraction | bool | str]:
    """A state with truth values and symbols in place of their numbers."""
    found: dict[str, Fraction | bool | str] = dict(state)
    for v in automaton.variables:
        if v.name in state and not v.type.is_numeric:
            number = int(state[v.name])
            found[v.name] = bool(number) if v.type == BOOL else v.type.values[number]
    return found


def _delay(k: int) -> str:
    return f"delay@{k}"


def _entry(name: str, k: int) -> str:
    return f"{name}@{k}.entry"


def _exit(name: str, k: int) -> str:
    return f"{name}@{k}.exit"


def _moved(name: str, k: int) -> str:
    return f"{name}@{k}.moved"
