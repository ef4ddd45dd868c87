"""The same problem solved by each tool: does it find the event, when, and at what cost."""

from __future__ import annotations

import importlib.util
import math
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass

from problems import Problem

from workbench.models.automaton import (
    Constraint,
    Edge,
    EventKind,
    HybridAutomaton,
    Initial,
    Location,
    Range,
    Variable,
)
from workbench.models.expressions.expression import (
    Expression,
    conjunction,
    constant,
    equal,
    variable,
)
from workbench.models.expressions.operators import Op
from workbench.models.expressions.text import parse_expression
from workbench.models.expressions.traversal import postorder
from workbench.models.trace import EventType
from workbench.simulate.run import prepare, simulate
from workbench.simulate.stepping.methods import Adams, Taylor

RTOL, ATOL = 1e-4, 1e-7


@dataclass(frozen=True)
class Answer:
    """What a tool said; `evaluations` is None where a tool does not evaluate points."""

    found: bool
    time: float
    seconds: float
    evaluations: int | None
    singular: int
    note: str = ""


Tool = Callable[[Problem], Answer]


def is_there(module: str) -> bool:
    return importlib.util.find_spec(module) is not None


def automaton_of(problem: Problem) -> HybridAutomaton:
    """The problem as a model: the event leads to a place where everything rests."""
    from fractions import Fraction

    guard = conjunction(*(parse_expression(g) >= constant(0) for g in problem.guards))
    flows = tuple(
        Constraint(v, Range.exactly(parse_expression(e)))
        for v, e in zip(problem.variables, problem.equations, strict=True)
    )
    start = conjunction(
        *(
            equal(variable(v), constant(Fraction(x)))
            for v, x in zip(problem.variables, problem.start, strict=True)
        )
    )
    rest = tuple(Constraint(v, Range.exactly(constant(0))) for v in problem.variables)
    return HybridAutomaton(
        "problem",
        tuple(Variable(v) for v in problem.variables),
        (Location("run", flows), Location("stop", rest)),
        (Edge("run", "stop", guard, urgent=True, event=EventKind.UNILATERAL, name="event"),),
        (Initial("run", start),),
    )


def ours(method: Adams | Taylor) -> Tool:
    def solve(problem: Problem) -> Answer:
        prepared = prepare(automaton_of(problem))
        simulate(prepared, until=problem.until, method=method)  # compiles the places
        begun = time.perf_counter()
        trace = simulate(prepared, until=problem.until, method=method)
        took = time.perf_counter() - begun
        hits = [e.time for e in trace.events if e.type is EventType.JUMP]
        return Answer(
            bool(hits), hits[0] if hits else math.nan, took, trace.counts.evaluations,
            trace.counts.singular, "" if hits else str(trace.outcome.ending),
        )  # fmt: skip

    return solve


def scipy_tool(method: str, max_step: float = math.inf) -> Tool:
    def solve(problem: Problem) -> Answer:
        from scipy.integrate import solve_ivp

        def event(_: float, x: list[float]) -> float:
            return problem.guard(x)

        event.terminal, event.direction = True, 1  # type: ignore[attr-defined]
        before = (problem.counter.evaluations, problem.counter.singular)
        begun = time.perf_counter()
        note, found, when = "", False, math.nan
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                result = solve_ivp(
                    lambda _, x: problem.counted(x), (0, problem.until), problem.start,
                    method=method, rtol=RTOL, atol=ATOL, events=event, max_step=max_step,
                )  # fmt: skip
                found = len(result.t_events[0]) > 0
                when = float(result.t_events[0][0]) if found else math.nan
                note = "" if result.success else "fails"
            except (ValueError, ArithmeticError) as error:
                note = f"raises {type(error).__name__}"
        took = time.perf_counter() - begun
        counter = problem.counter
        return Answer(
            found, when, took, counter.evaluations - before[0], counter.singular - before[1], note
        )

    return solve


def sundae(problem: Problem) -> Answer:
    from sksundae.cvode import CVODE

    before = (problem.counter.evaluations, problem.counter.singular)

    def rhs(_: float, x: list[float], out: list[float]) -> None:
        out[:] = problem.counted(x)

    def events(_: float, x: list[float], out: list[float]) -> None:
        out[0] = problem.guard(x)

    events.terminal, events.direction = [True], [1]  # type: ignore[attr-defined]
    begun = time.perf_counter()
    note, found, when = "", False, math.nan
    try:
        solver = CVODE(rhs, rtol=RTOL, atol=ATOL, method="Adams", eventsfn=events, num_events=1)
        result = solver.solve([0.0, problem.until], list(problem.start))
        found = result.t_events is not None and len(result.t_events) > 0
        when = float(result.t_events[0]) if found else math.nan
        note = "" if result.success or found else "fails"
    except Exception as error:  # whatever a compiled solver raises is its answer
        note = f"raises {type(error).__name__}"
    took = time.perf_counter() - begun
    counter = problem.counter
    return Answer(
        found, when, took, counter.evaluations - before[0], counter.singular - before[1], note
    )


def heyoka(problem: Problem) -> Answer:
    import heyoka as hy

    names = (
        dict(zip(problem.variables, hy.make_vars(*problem.variables), strict=True))
        if len(problem.variables) > 1
        else {problem.variables[0]: hy.make_vars(problem.variables[0])}
    )
    system = [
        (names[v], _symbolic(hy, parse_expression(e), names))
        for v, e in zip(problem.variables, problem.equations, strict=True)
    ]
    guards = [_symbolic(hy, parse_expression(g), names) for g in problem.guards]

    def crossed(ta: object, d_sgn: int) -> bool:  # true: go on
        return problem.guard(ta.state) < -1e-9  # type: ignore[attr-defined]

    kind = hy.event_direction.positive
    single = len(guards) == 1
    made = [
        hy.t_event(g, direction=kind) if single else hy.t_event(g, direction=kind, callback=crossed)
        for g in guards
    ]
    compiling = time.perf_counter()
    ta = hy.taylor_adaptive(system, list(problem.start), tol=RTOL, t_events=made)
    begun = time.perf_counter()
    outcome = ta.propagate_until(problem.until)[0]
    took = time.perf_counter() - begun
    found = int(outcome.value if hasattr(outcome, "value") else outcome) > -10 and (
        ta.time < problem.until
    )
    finite = all(map(math.isfinite, ta.state))
    return Answer(
        found and finite, ta.time, took, None, 0,
        f"compile {begun - compiling:.2f} s" + ("" if finite else ", state is NaN"),
    )  # fmt: skip


def _symbolic(hy: object, root: Expression, names: dict[str, object]) -> object:
    made: dict[int, object] = {}
    functions = {
        Op.SQRT: hy.sqrt, Op.SIN: hy.sin, Op.COS: hy.cos, Op.ACOS: hy.acos,  # type: ignore[attr-defined]
    }  # fmt: skip
    for node in postorder(root):
        args = [made[id(a)] for a in node.args]
        if node.op is Op.CONSTANT:
            made[id(node)] = hy.expression(float(node.constant))  # type: ignore[attr-defined]
        elif node.op is Op.VARIABLE:
            made[id(node)] = names[node.name]
        elif node.op is Op.ADD:
            made[id(node)] = sum(args[1:], args[0])  # type: ignore[call-overload]
        elif node.op is Op.MULTIPLY:
            total = args[0]
            for a in args[1:]:
                total = total * a  # type: ignore[operator]
            made[id(node)] = total
        elif node.op is Op.DIVIDE:
            made[id(node)] = args[0] / args[1]  # type: ignore[operator]
        elif node.op is Op.POWER:
            made[id(node)] = args[0] ** float(node.args[1].constant)  # type: ignore[operator]
        else:
            made[id(node)] = functions[node.op](args[0])
    return made[id(root)]


def all_tools() -> dict[str, Tool | str]:
    """The tools that can be imported; a sentence for those that cannot."""
    found: dict[str, Tool | str] = {
        "ours (Adams)": ours(Adams(RTOL, ATOL)),
        "ours (Taylor)": ours(Taylor(RTOL, ATOL)),
        "scipy RK45": scipy_tool("RK45"),
        "scipy RK45, max_step 0.05": scipy_tool("RK45", 0.05),
        "scipy LSODA": scipy_tool("LSODA"),
        "scipy Radau": scipy_tool("Radau"),
    }
    found["CVODE (scikit-sundae)"] = sundae if is_there("sksundae") else "not installed"
    found["heyoka"] = heyoka if is_there("heyoka") else "not installed"
    return found
