"""Making simpler automata: each maker gives one that the original refines.

By construction; and since construction is no proof, callers let the refinement checker prove
it again. All makers work on listed automata and keep the names of locations, except `merged`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from fractions import Fraction

from workbench.abstraction.refinement.enclosures import bounds_over, constant_range
from workbench.models.automaton import (
    Constraint,
    Edge,
    HybridAutomaton,
    Initial,
    Input,
    Location,
    Parameter,
    Range,
)
from workbench.models.checker.conditions import limit_of
from workbench.models.expressions.expression import (
    TRUE,
    Expression,
    add,
    compare,
    conjunction,
    disjunction,
    maximum,
    minimum,
    multiply,
    variable,
)
from workbench.models.expressions.normal_form import negation_normal_form
from workbench.models.expressions.operators import COMPARISONS, Op
from workbench.models.expressions.ranges import value_in
from workbench.models.expressions.traversal import free_variables, substitute
from workbench.models.linear import affine, expression_of
from workbench.models.source import Diagnostic, ModelError


def with_interval_flows(automaton: HybridAutomaton, names: Iterable[str]) -> HybridAutomaton:
    """The derivative of each named variable anywhere between its least and greatest value in
    the location's invariant: a rectangular differential inclusion. A derivative without any
    bound is refused: nothing would be left of it."""
    wanted = _known(automaton, names)

    def loose(place: Location) -> Location:
        equations = (value_in(c.variable, c.range) for c in place.algebraic)
        inside = conjunction(place.invariant, *equations, *_signals(automaton))
        flows = []
        for given in place.flows:
            flow = given
            if given.variable in wanted:
                flow = replace(given, range=constant_range(given.range, inside))
                if flow.range.low is None and flow.range.high is None:
                    raise _unbounded(given.variable, place)
            flows.append(flow)
        return replace(place, flows=tuple(flows))

    return _bare(automaton, locations=tuple(map(loose, automaton.locations)))


def _unbounded(name: str, place: Location) -> ModelError:
    return ModelError(
        Diagnostic(
            "no-bounds",
            f"d({name}) has no bounds over the invariant of `{place.name}`",
            place.span,
            hint="bound what it depends on in the invariant, or leave the variable out (--drop)",
        )
    )


def without_variables(automaton: HybridAutomaton, names: Iterable[str]) -> HybridAutomaton:
    """The automaton projected: what the named variables decide may go either way, and where a
    flow or a reset reads one, it may take any value that the invariant allows it."""
    for name in _known(automaton, names):
        automaton = _without(automaton, name)
    return automaton


def with_wider_guards(automaton: HybridAutomaton, margin: Fraction) -> HybridAutomaton:
    """Every guard holds also where its comparisons fail by no more than the margin. An edge that
    is urgent need not be taken any more: so much earlier the original lets time pass."""
    calm = (_calm(e, automaton) if margin else e for e in automaton.edges)
    edges = tuple(replace(e, guard=_widened(e.guard, margin)) for e in calm)
    return _bare(automaton, edges=edges)


def merged(
    automaton: HybridAutomaton, places: Iterable[str], name: str
) -> tuple[HybridAutomaton, Mapping[str, str]]:
    """Some locations made one, in which each of them is possible; and the location map."""
    chosen = set(places)
    if unknown := sorted(chosen - {x.name for x in automaton.locations}):
        raise ModelError(
            Diagnostic(
                "unknown-location",
                f"{automaton.name} has no location {unknown[0]}",
                hint=f"it has {', '.join(x.name for x in automaton.locations)}",
            )
        )
    parts = [x for x in automaton.locations if x.name in chosen]
    target = {x.name: name if x.name in chosen else x.name for x in automaton.locations}
    joined = Location(
        name,
        tuple(_hull([p.flows for p in parts])),
        tuple(_hull([p.algebraic for p in parts])),
        disjunction(*(p.invariant for p in parts)),
    )
    rest = tuple(x for x in automaton.locations if x.name not in chosen)
    moved = _bare(
        automaton,
        locations=(joined, *rest),
        edges=tuple(
            replace(e, source=target[e.source], target=target[e.target])
            for e in (_calm(e, automaton) for e in automaton.edges)
        ),
        initial=tuple(replace(i, location=target[i.location]) for i in automaton.initial),
    )
    return moved, target


# Details


def _bare(automaton: HybridAutomaton, **changes: object) -> HybridAutomaton:
    """The automaton with changes; claims belong to the original."""
    plain = replace(automaton, properties=(), predicates=())
    return replace(plain, **changes)  # type: ignore[arg-type]


def _known(automaton: HybridAutomaton, names: Iterable[str]) -> list[str]:
    found = list(dict.fromkeys(names))
    own = {v.name for v in automaton.variables}
    for name in found:
        if name not in own:
            raise ModelError(
                Diagnostic(
                    "unknown-name",
                    f"{automaton.name} has no variable {name}",
                    hint=f"it has {', '.join(sorted(own))}",
                )
            )
    return found


def _signals(automaton: HybridAutomaton) -> list[Expression]:
    signals: tuple[Input | Parameter, ...] = (*automaton.inputs, *automaton.parameters)
    found = []
    for s in signals:
        found += [] if s.low is None else [variable(s.name) >= s.low]
        found += [] if s.high is None else [variable(s.name) <= s.high]
    return found


def _without(automaton: HybridAutomaton, name: str) -> HybridAutomaton:
    def place(x: Location) -> Location:
        known = {c.variable: c.range.exact for c in x.algebraic if c.variable == name}
        exact = known.get(name)
        if exact is not None:
            change = {name: exact}
            return Location(
                x.name,
                tuple(replace(c, range=c.range.substitute(change)) for c in x.flows),
                tuple(
                    replace(c, range=c.range.substitute(change))
                    for c in x.algebraic
                    if c.variable != name
                ),
                substitute(x.invariant, change),
                x.span,
            )
        within = bounds_over(Range.exactly(variable(name)), x.invariant)
        return Location(
            x.name,
            tuple(_projected(x.flows, name, within)),
            tuple(_projected(x.algebraic, name, within)),
            _forgotten(x.invariant, name),
            x.span,
        )

    def edge(e: Edge) -> Edge:
        source = automaton.location(e.source)
        within = bounds_over(Range.exactly(variable(name)), conjunction(source.invariant, e.guard))
        exact = next((c.range.exact for c in source.algebraic if c.variable == name), None)
        guard, resets = e.guard, tuple(_projected(e.resets, name, within))
        if exact is not None:
            guard = substitute(guard, {name: exact})
            resets = tuple(
                replace(r, range=r.range.substitute({name: exact}))
                for r in e.resets
                if r.variable != name
            )
        if name in free_variables(guard):
            e, guard = _calm(e, automaton), _calm(replace(e, guard=guard), automaton).guard
        return replace(e, guard=_forgotten(guard, name), resets=resets)

    def start(i: Initial) -> Initial:
        within = bounds_over(Range.exactly(variable(name)), i.condition)
        resets = tuple(_projected(i.resets, name, within))
        return Initial(i.location, _forgotten(i.condition, name), resets)

    return _bare(
        automaton,
        variables=tuple(v for v in automaton.variables if v.name != name),
        locations=tuple(map(place, automaton.locations)),
        edges=tuple(map(edge, automaton.edges)),
        initial=tuple(map(start, automaton.initial)),
        assumption=_forgotten(automaton.assumption, name),
    )


def _calm(edge: Edge, automaton: HybridAutomaton) -> Edge:
    """The edge that need not be taken, but can be wherever an urgent one can."""
    if not edge.urgent:
        return edge
    guard = limit_of(edge.guard, automaton, automaton.location(edge.source))
    return replace(edge, urgent=False, guard=guard)


def _projected(
    given: Iterable[Constraint], name: str, within: tuple[Fraction | None, Fraction | None]
) -> Iterable[Constraint]:
    """Constraints that no longer read a variable: its bounds stand for it."""
    for c in given:
        if c.variable == name:
            continue
        low = None if c.range.low is None else _extreme(c.range.low, name, within, False)
        high = None if c.range.high is None else _extreme(c.range.high, name, within, True)
        if c.range.exact is not None and low is not None and low == high:
            yield replace(c, range=Range(low, low))
        elif low is not None or high is not None:
            yield replace(c, range=Range(low, high))


def _extreme(
    bound: Expression,
    name: str,
    within: tuple[Fraction | None, Fraction | None],
    greatest: bool,
) -> Expression | None:
    """The least or greatest value of a bound over the values of one variable in it."""
    if name not in free_variables(bound):
        return bound
    form = affine(bound)
    if form is None:
        return None
    factor = form.coefficients.get(name, Fraction(0))
    end = within[1] if (factor > 0) is greatest else within[0]
    if factor == 0:
        end = Fraction(0)
    if end is None:
        return None
    rest = {n: a for n, a in form.coefficients.items() if n != name}
    return expression_of(replace(form, coefficients=rest, constant=form.constant + factor * end))


def _forgotten(condition: Expression, name: str) -> Expression:
    """What a condition says without a variable: atoms that mention it count as true."""

    def drop(atom: Expression) -> Expression:
        return TRUE if name in free_variables(atom) else atom

    return _with_atoms(negation_normal_form(condition), drop)


def _with_atoms(root: Expression, change: Callable[[Expression], Expression]) -> Expression:
    """Apply a change to the atoms of a formula in negation normal form."""
    done: dict[int, Expression] = {}
    pending = [(root, False)]
    while pending:
        node, ready = pending.pop()
        if node.op not in (Op.AND, Op.OR):
            done[id(node)] = change(node)
        elif ready:
            parts = [done[id(a)] for a in node.args]
            done[id(node)] = conjunction(*parts) if node.op is Op.AND else disjunction(*parts)
        else:
            pending.append((node, True))
            pending.extend((a, False) for a in node.args)
    return done[id(root)]


def _widened(guard: Expression, margin: Fraction) -> Expression:
    def loosen(node: Expression) -> Expression:
        if node.op not in COMPARISONS:
            return node
        left, right = node.args
        if node.op in (Op.LESS, Op.LESS_EQUAL):
            return compare(node.op, left, add(right, margin))
        if node.op in (Op.GREATER, Op.GREATER_EQUAL):
            return compare(node.op, add(left, margin), right)
        if node.op is Op.EQUAL and affine(add(left, multiply(-1, right))) is not None:
            both = compare(Op.LESS_EQUAL, left, add(right, margin))
            return conjunction(both, compare(Op.GREATER_EQUAL, add(left, margin), right))
        return node

    return _with_atoms(negation_normal_form(guard), loosen)


def _hull(given: list[tuple[Constraint, ...]]) -> Iterable[Constraint]:
    """Ranges that contain those of every part; what some part leaves open stays open."""
    names = dict.fromkeys(c.variable for part in given for c in part)
    for name in names:
        ranges = [c.range for part in given for c in part if c.variable == name]
        if len(ranges) < len(given):
            continue
        lows = [r.low for r in ranges if r.low is not None]
        highs = [r.high for r in ranges if r.high is not None]
        low = minimum(*dict.fromkeys(lows)) if len(lows) == len(ranges) else None
        high = maximum(*dict.fromkeys(highs)) if len(highs) == len(ranges) else None
        if low is not None or high is not None:
            yield Constraint(name, Range(low, high))
