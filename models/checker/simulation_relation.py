"""What it takes for one automaton to do only what another one allows: unsatisfiable conditions.

A relation between a detailed and an abstract automaton maps every location l to a location
m(l), and gives every abstract variable a value W(v) in terms of the detailed ones: the
variable of the same name where there is one, else an affine witness. In the conditions here a
plain name is a detailed value, `x'` the one after a jump, `d(x)` a derivative. `Inv` includes
algebraic constraints, bounds of inputs and parameters, and the assumption, and that time is not
negative; `Reach(l)` is any set that contains the reachable states of l. Each of these must have
no solution in which every name has a value of its type:

- initial:   Init_C(l) and Inv_C(l)' and not Init_A(m l) at W'
- invariant: Inv_C(l) and Reach(l) and not Inv_A(m l) at W
- flow:      Inv_C(l) and Reach(l) and F_C(l) and not F_A(m l) at W and dW/dt
- jump:      Inv_C(l) and Reach(l) and G and R and Inv_C(k)' and no edge m(l) -> m(k) of the
             abstract automaton has its guard at W and its resets between W and W'; an edge
             without a label may also be matched by doing nothing, if m(l) = m(k) and W' = W
- urgency:   Inv_C(l) and Reach(l) and no urgent guard of C and some urgent guard of A at W

An urgent edge may be taken in the limit of states in which its guard holds (`models.automaton`).
So G is `limit_of` the guard where the detailed edge is urgent. An abstract guard is read in its
limit only where that is one: both edges are urgent, every conjunct of the abstract guard at W is
one of the detailed guard (as written, or with affine comparisons in one form), and no equation
defines what it reads, on either side; such a guard asks for nothing more. Time passes where no
guard holds as written, on both sides.

Theorem (forward simulation). If no condition has a solution, every run of the detailed
automaton is, seen through W, a run of the abstract one; so both show the same values of every
variable that W maps to itself, at the same times, with the same interruptions.
Proof. Related states are (l, x) and (m l, W(x)) with x in Inv_C(l) and Reach(l). Initial
states are related to initial ones. Along a flow of C, W(x(t)) satisfies the abstract invariant
at every moment, its derivative the abstract flow wherever it exists, and no urgent guard stops
it earlier than C is stopped; so it is a flow of A of the same length. A jump of C is matched
by an edge of A, or by none at all, between related states: if C takes an urgent edge at x, there
are states x_n with limit x in which its guard holds. Where the abstract guard is part of it, it
holds at W(x_n); these are near W(x) in all that the guard reads, since W is affine, and whatever
equations say of the rest of a state (x_n need not satisfy an invariant of C) the guard does not
read; so A may take its edge at W(x), if that is urgent too. Induction over the steps.

A condition is refuted case by case (`models.lowering.alternatives`, which only enlarges);
`sin` and `cos` count as unknown numbers in [-1, 1], and piecewise linear values are taken apart
(`models.lowering.pieces`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from types import MappingProxyType

from workbench.models.automaton import (
    TIME,
    Automaton,
    Constraint,
    Edge,
    Initial,
    Kind,
    Location,
    Range,
    names_of,
    primed,
)
from workbench.models.checker.conditions import (
    changing,
    failing,
    in_one_form,
    labels_of,
    limit_of,
    state_condition,
    typed_names,
    within,
)
from workbench.models.checker.covers import Region
from workbench.models.checker.obligation import Obligation, ObligationKind
from workbench.models.expressions.expression import (
    FALSE,
    TRUE,
    Expression,
    add,
    conjunction,
    disjunction,
    equal,
    negation,
    variable,
)
from workbench.models.expressions.operators import Op
from workbench.models.expressions.traversal import conjuncts, free_variables, substitute
from workbench.models.linear import Form, affine, expression_of
from workbench.models.lowering.alternatives import Types
from workbench.models.lowering.problem import derivative_of
from workbench.models.source import Span


@dataclass(frozen=True)
class Relation:
    """A candidate for a forward simulation; see the module's docstring.

    `places` maps detailed locations to abstract ones, `witness` gives abstract variables that
    the detailed automaton does not have, `reach` the regions that contain all reachable states
    (none: nothing is known).
    """

    detailed: Automaton
    abstract: Automaton
    places: Mapping[str, str]
    witness: Mapping[str, Form] = field(default_factory=lambda: MappingProxyType({}))
    reach: tuple[Region, ...] = ()

    @cached_property
    def known(self) -> frozenset[str]:
        """The names whose values the detailed automaton determines."""
        return frozenset(names_of(self.detailed)) | {TIME}

    @cached_property
    def _clocked(self) -> bool:
        """Whether one of the automata, or a witness, reads the time."""
        read = {n for form in self.witness.values() for n in form.coefficients}
        return TIME in {*names_of(self.detailed), *names_of(self.abstract), *read}

    @cached_property
    def _types(self) -> Types:
        """The types of the names in conditions, before and after a jump."""
        found = typed_names(self.detailed)
        return found | {primed(name): kind for name, kind in found.items()}

    @cached_property
    def missing(self) -> tuple[str, ...]:
        """Abstract names that have no counterpart and no witness."""
        return tuple(
            n for n in names_of(self.abstract) if n not in self.known and n not in self.witness
        )

    @cached_property
    def shared(self) -> tuple[str, ...]:
        """The names that mean the same on both sides."""
        return tuple(
            n for n in names_of(self.abstract) if n in self.known and n not in self.witness
        )

    def obligations(self) -> Iterator[Obligation]:
        """Every condition that must have no solution, in a fixed order."""
        yield from self.starts()
        for name in self.places:
            yield from self.stays(name)
            yield from self.jumps(name)

    def starts(self) -> Iterator[Obligation]:
        """The obligations of the initial states."""
        assert not self.missing, self.missing
        for start in self.detailed.initial_sets():
            yield self._initial(start)

    def stays(self, name: str) -> Iterator[Obligation]:
        """The obligations of staying in one detailed location."""
        here = self.detailed.location(name)
        there = self.abstract.location(self.places[name])
        yield self._invariant(here, there)
        yield from self._flows(here, there)
        yield from self._urgency(here, there)

    def jumps(self, name: str) -> Iterator[Obligation]:
        """The obligations of the edges that leave one detailed location."""
        for edge in self.detailed.edges_from(name):
            if edge.guard != FALSE:
                yield self._jump(edge)

    # The obligations

    def _obligation(
        self,
        kind: ObligationKind,
        title: str,
        location: str,
        condition: Expression,
        spans: tuple[Span | None, Span | None],
        edge: Edge | None = None,
    ) -> Obligation:
        if TIME in free_variables(condition):
            condition = conjunction(condition, variable(TIME) >= 0)
        return Obligation(kind, title, location, condition, *spans, edge, self._types)

    def _initial(self, start: Initial) -> Obligation:
        place = self.detailed.location(start.location)
        post, rows = self._jump_of(start.resets, place)
        algebra = (within(variable(c.variable), c.range) for c in place.algebraic)
        here = conjunction(
            start.condition,
            *algebra,
            *rows,
            equal(variable(TIME), 0) if self._clocked else TRUE,
            self._state(place, post),
        )
        target = self.places.get(start.location)
        matches = [
            self._matching_start(other, self.abstract.location(target), post)
            for other in self.abstract.initial_sets()
            if target is not None and other.location == target
        ]
        span = place.span
        title = f"initial states of {start.location}"
        there = None if target is None else self.abstract.location(target).span
        condition = failing(here, matches)
        return self._obligation(
            ObligationKind.INITIAL, title, start.location, condition, (span, there)
        )

    def _matching_start(
        self, other: Initial, place: Location, post: Mapping[str, Expression]
    ) -> Expression:
        """That the values after the entry are an initial state of the abstract automaton: what
        its entry does not assign was there before."""
        defined = {c.variable for c in place.algebraic}
        if other.resets and defined & free_variables(other.condition):
            return FALSE
        changed = {r.variable for r in other.resets}
        after = self._after(post)
        before = {n: value if n in changed else after[n] for n, value in self._values.items()}
        resets = self._abstract_resets(other.resets, place, before, after)
        if resets is None:
            return FALSE
        clock = (equal(before[TIME], 0),) if TIME in before else ()
        return conjunction(substitute(other.condition, before), *resets, *clock)

    def _invariant(self, here: Location, there: Location) -> Obligation:
        values = self._values
        wanted = substitute(state_condition(self.abstract, there), values)
        condition = failing(self._related(here), [wanted])
        title = f"invariant of {here.name} inside that of {there.name}"
        spans = here.span, there.span
        return self._obligation(ObligationKind.INVARIANT, title, here.name, condition, spans)

    def _flows(self, here: Location, there: Location) -> Iterator[Obligation]:
        values = self._values
        moving = tuple(self._derivatives(here))
        spans = {c.variable: c.span for c in here.flows}
        wanted: list[tuple[str, Range, Span | None]] = [
            (c.variable, c.range.substitute(values), c.span) for c in there.flows
        ]
        still = [v.name for v in self.abstract.variables if v.kind is Kind.DISCRETE]
        still += [p.name for p in self.abstract.parameters]
        wanted += [(name, Range.exactly(add()), there.span) for name in still if name != TIME]
        if TIME in self.witness:
            wanted.append((TIME, Range.exactly(add(1)), there.span))
        for name, allowed, span in wanted:
            goal = within(self._rate(name), allowed)
            condition = failing(conjunction(self._related(here), *moving), [goal])
            title = f"flow of {name} in {here.name} allowed by {there.name}"
            both = spans.get(name) or here.span, span
            yield self._obligation(ObligationKind.FLOW, title, here.name, condition, both)

    def _urgency(self, here: Location, there: Location) -> Iterator[Obligation]:
        values = self._values
        edges = self.abstract.edges_from(there.name)
        stopping = [substitute(e.guard, values) for e in edges if e.urgent]
        if stopping:
            own = [e.guard for e in self.detailed.edges_from(here.name) if e.urgent]
            condition = conjunction(
                self._related(here), *map(negation, own), disjunction(*stopping)
            )
            spans = here.span, next(e.span for e in edges if e.urgent)
            title = f"time passes in {here.name} only where {there.name} lets it"
            yield self._obligation(ObligationKind.URGENCY, title, here.name, condition, spans)

    def _jump(self, edge: Edge) -> Obligation:
        options = list(self.matching(edge))
        matches = [conjunction(guard, change) for _, guard, change in options]
        condition = failing(self.jump_condition(edge), matches)
        title = f"jump {edge.name or f'{edge.source} -> {edge.target}'}"
        abstract = next((e.span for e, _, _ in options if e is not None), None)
        if abstract is None:
            abstract = self.abstract.location(self.places[edge.source]).span
        spans = edge.span, abstract
        return self._obligation(ObligationKind.JUMP, title, edge.source, condition, spans, edge)

    def jump_condition(self, edge: Edge) -> Expression:
        """The states in which the detailed automaton takes an edge, and those after it."""
        source, target = self.detailed.location(edge.source), self.detailed.location(edge.target)
        post, rows = self._jump_of(edge.resets, target)
        guard = limit_of(edge.guard, self.detailed, source) if edge.urgent else edge.guard
        return conjunction(self._related(source), guard, *rows, self._state(target, post))

    def after(self, edge: Edge) -> Mapping[str, Expression]:
        """The detailed values after a jump (by primed name) that it determines."""
        return self._jump_of(edge.resets, self.detailed.location(edge.target))[0]

    def matching(self, edge: Edge) -> Iterator[tuple[Edge | None, Expression, Expression]]:
        """The abstract edges that can match a detailed one, each with its guard and with the
        condition that its resets make; None stands for doing nothing."""
        source, target = self.places[edge.source], self.places.get(edge.target)
        if target is None:
            return
        post, _ = self._jump_of(edge.resets, self.detailed.location(edge.target))
        values, after = self._values, self._after(post)
        place = self.abstract.location(target)
        label = edge.label if edge.label in labels_of(self.abstract) else None
        for other in self.abstract.edges_from(source):
            if other.target == target and other.label == label:
                resets = self._abstract_resets(other.resets, place, values, after)
                if resets is not None:
                    guard = substitute(other.guard, values)
                    if self._shares_limits(edge, other, guard):
                        guard = TRUE
                    yield other, guard, conjunction(*resets)
        if source == target and label is None:
            resets = self._abstract_resets((), place, values, after)
            assert resets is not None
            yield None, TRUE, conjunction(*resets)

    def _shares_limits(self, edge: Edge, other: Edge, guard: Expression) -> bool:
        """Whether a limit of states in which the guard of a detailed edge holds is one for an
        abstract edge, whose guard is given at W."""
        here, there = self.detailed.location(edge.source), self.abstract.location(other.source)
        defined = {c.variable for c in here.algebraic} & free_variables(guard)
        defined |= {c.variable for c in there.algebraic} & free_variables(other.guard)
        both = edge.urgent and other.urgent and not defined
        return both and set(conjuncts(in_one_form(guard))) <= set(
            conjuncts(in_one_form(edge.guard))
        )

    # The values of names

    def _value(self, name: str) -> Expression:
        form = self.witness.get(name)
        return variable(name) if form is None else expression_of(form)

    @cached_property
    def _values(self) -> dict[str, Expression]:
        return {n: self._value(n) for n in names_of(self.abstract)}

    def _after(self, post: Mapping[str, Expression]) -> dict[str, Expression]:
        """The abstract values after a jump with these detailed values after it."""
        later = {n: variable(primed(n)) for n in changing(self.detailed)}
        later = {n: post.get(primed(n), e) for n, e in later.items()}
        return {n: substitute(value, later) for n, value in self._values.items()}

    def _rate(self, name: str) -> Expression:
        form = self.witness.get(name, Form({name: Fraction(1)}))
        return expression_of(Form({derivative_of(n): a for n, a in form.coefficients.items()}))

    def _state(self, place: Location, post: Mapping[str, Expression]) -> Expression:
        """The state condition of a location on the values after a jump."""
        names: dict[str, Expression] = {
            n: variable(primed(n)) for n in changing(self.detailed) | {TIME}
        }
        after = substitute(state_condition(self.detailed, place), names)
        reach = substitute(self._reach(place.name), names)
        return substitute(conjunction(after, reach), post)

    def _related(self, place: Location) -> Expression:
        return conjunction(state_condition(self.detailed, place), self._reach(place.name))

    def _reach(self, location: str) -> Expression:
        if not self.reach:
            return TRUE
        cells = [
            conjunction(*(expression_of(row.form) <= 0 for row in region.rows(number)))
            for region in self.reach
            if region.location == location
            for number in range(len(region.cells))
        ]
        return disjunction(*cells)

    def _derivatives(self, place: Location) -> Iterator[Expression]:
        """What is known of `d(x)` in a detailed location."""
        if self._clocked:
            yield equal(variable(derivative_of(TIME)), 1)
        moving = {c.variable for c in (*place.flows, *place.algebraic)}
        for flow in place.flows:
            yield within(variable(derivative_of(flow.variable)), flow.range)
        for v in self.detailed.variables:
            if v.kind is Kind.DISCRETE and v.name != TIME and v.name not in moving:
                yield equal(variable(derivative_of(v.name)), 0)
        for p in self.detailed.parameters:
            yield equal(variable(derivative_of(p.name)), 0)
        for given in place.algebraic:
            form = None if given.range.exact is None else affine(given.range.exact)
            if form is not None:
                rate = Form({derivative_of(n): a for n, a in form.coefficients.items()})
                yield equal(variable(derivative_of(given.variable)), expression_of(rate))

    # Jumps

    def _jump_of(
        self, resets: tuple[Constraint, ...], target: Location
    ) -> tuple[dict[str, Expression], list[Expression]]:
        """The detailed values after a jump: exactly, where that is possible, else by
        conditions. A variable with an equation in the target gets its value from there; what
        was assigned to it can only be read by later resets."""
        defined = {c.variable for c in target.algebraic}
        read: dict[str, Expression] = {}
        post: dict[str, Expression] = {}
        rows: list[Expression] = []
        for reset in resets:
            new = primed(reset.variable)
            chosen = reset.range.substitute(read)
            if chosen.exact is not None and chosen.exact.op is not Op.BOOLEAN:
                read[new] = chosen.exact
            else:
                name = f"assigned {new}" if reset.variable in defined else new
                read[new] = variable(name)
                rows.append(within(read[new], chosen))
            if reset.variable not in defined:
                post[new] = read[new]
        changed = {r.variable for r in resets} | defined
        for name in (*(v.name for v in self.detailed.variables), TIME):
            if name not in changed:
                post[primed(name)] = variable(name)
        return post, rows

    def _abstract_resets(
        self,
        resets: tuple[Constraint, ...],
        target: Location,
        values: Mapping[str, Expression],
        after: Mapping[str, Expression],
    ) -> list[Expression] | None:
        """The conditions between W and W' of an abstract jump; None where it involves a choice
        that no variable shows."""
        defined = {c.variable for c in target.algebraic}
        own = {v.name for v in self.abstract.variables}
        names = {**values, **{primed(n): value for n, value in after.items()}}
        conditions: list[Expression] = []
        for reset in resets:
            chosen = reset.range.substitute(names)
            if reset.variable not in own or reset.variable in defined:
                if chosen.exact is None:
                    return None
                names[primed(reset.variable)] = chosen.exact
            else:
                conditions.append(within(after[reset.variable], chosen))
        changed = {r.variable for r in resets} | defined
        kept = {n for n in own if n not in changed} | {p.name for p in self.abstract.parameters}
        conditions.extend(equal(after[n], values[n]) for n in sorted(kept) if after[n] != values[n])
        return conditions
