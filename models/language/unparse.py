"""A flat automaton as `.charon` text: one agent, one top mode, a submode per location.

The text loads again to the same automaton, up to the spelling of names (`follower.acc`
becomes `follower_acc`) and up to these differences of form, all exact in meaning: a product
is written with its reachable locations; a property about certain locations becomes one
claim in each of them; an uncertain constant without bounds becomes a discrete variable; a
variable that nothing ever determines is read from outside.
What the language cannot say is refused by name.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from workbench.models.automaton import (
    NEVER_BLOCKS,
    TIME,
    UNCONSTRAINED,
    Automaton,
    Constraint,
    Edge,
    EventKind,
    HybridAutomaton,
    Initial,
    Input,
    Kind,
    Location,
    Parameter,
    PropertyKind,
    Variable,
    primed,
    specialise,
)
from workbench.models.expressions.dialect import FUNCTIONS
from workbench.models.expressions.expression import (
    FALSE,
    ONE,
    TRUE,
    ZERO,
    Expression,
    conjunction,
    equal,
    variable,
)
from workbench.models.expressions.operators import Op
from workbench.models.expressions.printing import number_text, to_text
from workbench.models.expressions.ranges import bounds
from workbench.models.expressions.table import Table
from workbench.models.expressions.traversal import conjuncts, free_variables, postorder, substitute
from workbench.models.source import Diagnostic, ModelError


def unparse(automaton: Automaton, access: Mapping[str, str] | None = None) -> str:
    """The automaton as source text; raises ModelError where that is impossible.

    `access` says of variables that are not private whether others `read` them too (`write`), or
    change them as well (`readwrite`).
    """
    try:
        locations, edges = explicit(automaton)
        return "\n".join(_Writer(automaton, locations, edges, access or {}).lines()) + "\n"
    except NotExpressible as refused:
        raise ModelError(
            Diagnostic("not-representable", str(refused), hint="export as JSON instead")
        ) from None


@dataclass(frozen=True)
class _Claim:
    """A property as it holds in one place: the whole agent or one location."""

    name: str
    kind: PropertyKind
    condition: Expression
    rescue: tuple[Constraint, ...] = ()


class _Writer:
    """The text of one automaton."""

    def __init__(
        self,
        automaton: Automaton,
        locations: tuple[Location, ...],
        edges: tuple[Edge, ...],
        access: Mapping[str, str],
    ):
        self.automaton = automaton
        self.access = access
        self.locations = locations
        self.edges = edges
        self.starts = tuple(automaton.initial_sets())
        self.clock = self._is_clock()
        self.variables, self.free = self._split_variables()
        self.written = {v.name for v in self.variables}
        self.loose = tuple(p for p in automaton.parameters if p.low is None or p.high is None)
        self.tables, self.externals = self._functions()
        self.names = self._choose_names()
        self.agent = IdentifierChoice(taken=(TIME,)).choose(automaton.name or "Model")
        places = IdentifierChoice()
        self.places = {location.name: places.choose(location.name) for location in locations}
        definitions = IdentifierChoice(taken=(self.agent,))
        self.definitions = {
            name: definitions.choose(place[:1].upper() + place[1:])
            for name, place in self.places.items()
        }
        used = IdentifierChoice(taken=(self.agent, *self.definitions.values()))
        self.top = used.choose(f"{self.agent}Top")
        self.everywhere, self.local = self._claims()

    # What there is to write

    def _is_clock(self) -> bool:
        """Whether `time` is the language's own clock: slope 1, from 0, never reset."""
        if all(v.name != TIME for v in self.automaton.variables):
            return False
        zero = equal(variable(TIME), ZERO)
        return (
            all(location.flow_of(TIME).exact == ONE for location in self.locations)
            and all(reset.variable != TIME for edge in self.edges for reset in edge.resets)
            and all(zero in conjuncts(start.condition) for start in self.starts)
        )

    def _split_variables(self) -> tuple[tuple[Variable, ...], tuple[Variable, ...]]:
        """The variables to be written, and those that nothing determines anywhere: they are
        read, since what comes from outside may do whatever it likes."""
        resets = [*(e.resets for e in self.edges), *(s.resets for s in self.starts)]
        reset = {constraint.variable for group in resets for constraint in group}
        written, free = [], []
        for declared in self.automaton.variables:
            if self.clock and declared.name == TIME:
                continue
            where = [location for location in self.locations if is_free(declared, location)]
            if not where:
                written.append(declared)
            elif len(where) == len(self.locations) and declared.name not in reset:
                free.append(declared)
            else:
                place = where[0].name
                raise NotExpressible(f"nothing determines {declared.name!r} in location {place!r}")
        return tuple(written), tuple(free)

    def _choose_names(self) -> dict[str, str]:
        functions = (*(table.name for table in self.tables), *self.externals)
        names = IdentifierChoice(taken=(*functions, *self._symbols()))
        if self.clock:
            names.keep(TIME)
        declared: tuple[Variable | Input | Parameter, ...] = (
            *self.automaton.variables,
            *self.automaton.inputs,
            *self.automaton.parameters,
        )
        for given in declared:
            names.choose(given.name)
        return names.chosen

    def _symbols(self) -> Iterator[str]:
        for kind in (
            *(v.type for v in self.automaton.variables),
            *(i.type for i in self.automaton.inputs),
        ):
            yield from kind.values

    def _expressions(self) -> Iterator[Expression]:
        for location in self.locations:
            yield from bounds(*location.flows, *location.algebraic)
            yield location.invariant
        for edge in self.edges:
            yield from bounds(*edge.resets)
            yield edge.guard
        for start in self.starts:
            yield from bounds(*start.resets)
            yield start.condition
        yield from (p.condition for p in self.automaton.properties)
        yield from self.automaton.predicates
        yield self.automaton.assumption

    def _functions(self) -> tuple[tuple[Table, ...], dict[str, int]]:
        tables: dict[Table, None] = {}
        externals: dict[str, int] = {}
        for node in postorder(*self._expressions()):
            if node.op is Op.LOOKUP:
                tables[node.table] = None
            elif node.op is Op.EXTERNAL:
                externals[node.name] = len(node.args)
        return tuple(tables), externals

    def _claims(self) -> tuple[list[_Claim], dict[str, list[_Claim]]]:
        """The properties, everywhere or by location, with `at` decided."""
        everywhere: list[_Claim] = []
        local: dict[str, list[_Claim]] = {}
        for claimed in self.automaton.properties:
            placed = any(n.op is Op.AT for n in postorder(claimed.condition))
            if claimed.where == TRUE and not placed:
                everywhere.append(
                    _Claim(claimed.name, claimed.kind, claimed.condition, claimed.rescue)
                )
                continue
            trivial = FALSE if claimed.kind is PropertyKind.FORBIDDEN else TRUE
            for location in self.locations:
                occupied = self.automaton.occupied(location.name)
                if specialise(claimed.where, occupied) == FALSE:
                    continue
                condition = specialise(claimed.condition, occupied)
                if condition != trivial:
                    claim = _Claim(claimed.name, claimed.kind, condition, claimed.rescue)
                    local.setdefault(location.name, []).append(claim)
        return everywhere, local

    # The text

    def text(self, expression: Expression) -> str:
        """An expression with the names of the text."""
        renaming = {
            name: variable(self.names[name])
            for name in free_variables(expression)
            if self.names.get(name, name) != name
        }
        return to_text(substitute(expression, renaming))

    def lines(self) -> Iterator[str]:
        """The whole file."""
        yield from self._constants()
        for location in self.locations:
            yield from self._location(location)
            yield ""
        yield from self._top()
        yield ""
        yield from self._agent()
        if self.automaton.horizon is not None:
            yield ""
            yield f"system {self.agent}() until {number_text(self.automaton.horizon)};"

    def _constants(self) -> Iterator[str]:
        count = 0
        for parameter in self.automaton.parameters:
            if parameter in self.loose:
                continue
            assert parameter.low is not None and parameter.high is not None
            low, high = number_text(parameter.low), number_text(parameter.high)
            yield f"const {parameter.type} {self.names[parameter.name]} in [{low}, {high}];"
            count += 1
        for name, arity in self.externals.items():
            yield f"extern real {name}({', '.join(['real'] * arity)});"
            count += 1
        for table in self.tables:
            yield from table_text(table)
            count += 1
        if count:
            yield ""

    def _declarations(self, access: str, indent: str, *, loose: bool) -> Iterator[str]:
        """The variables under an access word, and the inputs as `read`."""
        groups: dict[str, list[str]] = {}
        for declared in self.variables:
            word = self.access.get(declared.name, access) if loose else access
            words = f"{word} {declared.kind} {declared.type}"
            groups.setdefault(words, []).append(self.names[declared.name])
        for parameter in self.loose:
            word = "private" if loose else "read"
            groups.setdefault(f"{word} discrete {parameter.type}", []).append(
                self.names[parameter.name]
            )
        outside: tuple[Input | Variable, ...] = (*self.automaton.inputs, *self.free)
        for given in outside:
            kind = Kind.ANALOG if given.type.name == "real" else Kind.DISCRETE
            groups.setdefault(f"read {kind} {given.type}", []).append(self.names[given.name])
        for words, names in groups.items():
            yield f"{indent}{words} {', '.join(names)};"

    def _location(self, location: Location) -> Iterator[str]:
        yield f"mode {self.definitions[location.name]}() {{"
        yield from self._declarations("write", "  ", loose=False)
        flows = [f for f in location.flows if f.variable in self.written]
        yield from block("diff", [self._relation(f, derivative=True) for f in flows])
        algebraic = [a for a in location.algebraic if a.variable in self.written]
        yield from block("alge", [self._relation(a, derivative=False) for a in algebraic])
        yield from block("inv", [self.text(c) for c in conjuncts(location.invariant)])
        yield from self._written_claims(self.local.get(location.name, []))
        yield "}"

    def _relation(self, constraint: Constraint, *, derivative: bool) -> str:
        name = self.names[constraint.variable]
        subject = f"d({name})" if derivative else name
        chosen = constraint.range
        if chosen.exact is not None:
            return f"{subject} == {self.text(chosen.exact)}"
        if chosen.low is not None and chosen.high is not None:
            if derivative and _is_empty(chosen.low, chosen.high):  # as of SpaceEx's flow `false`
                low, high = self.text(chosen.low), self.text(chosen.high)
                return f"{subject} >= {low}; {subject} <= {high}"
            return f"{subject} in [{self.text(chosen.low)}, {self.text(chosen.high)}]"
        if derivative and chosen.low is not None:
            return f"{subject} >= {self.text(chosen.low)}"
        if derivative and chosen.high is not None:
            return f"{subject} <= {self.text(chosen.high)}"
        raise NotExpressible(f"the constraint on {constraint.variable!r} has no bounds")

    def _written_claims(self, claims: Iterable[_Claim]) -> Iterator[str]:
        for claim in claims:
            word = "forbid" if claim.kind is PropertyKind.FORBIDDEN else "assert"
            name = claim.name.replace('"', "'").replace("\n", " ")
            progress = claim.kind is PropertyKind.PROGRESS
            said = NEVER_BLOCKS if progress else self.text(claim.condition)
            rescue = "".join(
                f" d({self.names.get(c.variable, c.variable)}) == {self.text(c.range.exact)};"
                for c in claim.rescue
                if c.range.exact is not None
            )
            yield f'  {word} "{name}" {{ {said} }}' + (f" rescue {{{rescue} }}" if rescue else "")

    def _top(self) -> Iterator[str]:
        yield f"mode {self.top}() {{"
        yield from self._declarations("write", "  ", loose=False)
        for location in self.locations:
            yield f"  mode {self.places[location.name]} = {self.definitions[location.name]}();"
        common = self._common_start()
        for start in self.starts:
            guard = TRUE if start.condition == common else self._plain_start(start)
            head = f"trans from init to {self.places[start.location]}"
            yield from self._event(head, guard, start.resets)
        for edge in self.edges:
            words = ["urgent"] if edge.urgent else []
            words += [str(edge.event)] if edge.event is not EventKind.UNILATERAL else []
            words.append("trans")
            words += label(edge)
            words += ["from", self.places[edge.source], "to", self.places[edge.target]]
            yield from self._event(" ".join(words), edge.guard, edge.resets)
        yield "}"

    def _event(self, head: str, guard: Expression, resets: tuple[Constraint, ...]) -> Iterator[str]:
        when = "" if guard == TRUE else f" when {self.text(guard)}"
        actions = sequential(resets, self.automaton.variables, self.names)
        do = f" do {{ {' '.join(actions)} }}" if actions else ""
        yield f"  {head}{when}{do or ';'}"

    def _common_start(self) -> Expression:
        """The initial condition, if there is only one."""
        conditions = {start.condition for start in self.starts}
        return conditions.pop() if len(conditions) == 1 else TRUE

    def _plain_start(self, start: Initial) -> Expression:
        return self._without_clock(start.condition)

    def _without_clock(self, condition: Expression) -> Expression:
        if not self.clock:
            return condition
        zero = equal(variable(TIME), ZERO)
        return conjunction(*(c for c in conjuncts(condition) if c != zero))

    def _agent(self) -> Iterator[str]:
        yield f"agent {self.agent}() {{"
        yield from self._declarations("private", "  ", loose=True)
        start = conjuncts(self._without_clock(self._common_start()))
        yield from block("init", list(self._first_values(start)))
        assumed = [*map(self.text, self._input_bounds())]
        assumed += [self.text(c) for c in conjuncts(self.automaton.assumption)]
        if assumed:
            yield f"  assume {{ {' && '.join(assumed)} }}"
        yield f"  mode top = {self.top}();"
        yield from self._written_claims(self.everywhere)
        yield from block("predicate", [self.text(p) for p in self.automaton.predicates])
        yield "}"

    def _first_values(self, conditions: tuple[Expression, ...]) -> Iterator[str]:
        """`x = 1` and `x in [0, 1]` where the conditions say just that, `where` otherwise."""
        limits: dict[tuple[str, str], Expression] = {}
        rest = []
        for condition in conditions:
            found = limit(condition)
            if found is None or found[0] not in self.written or found in limits:
                rest.append(condition)
            else:
                limits[found] = condition
        for declared in self.variables:
            sides = ("value", "low", "high")
            known = {s: limits[declared.name, s] for s in sides if (declared.name, s) in limits}
            name = self.names[declared.name]
            if set(known) == {"value"}:
                yield f"{name} = {self._bound(known['value'], declared)}"
            elif set(known) == {"low", "high"}:
                low, high = (self._bound(known[side], declared) for side in ("low", "high"))
                yield f"{name} in [{low}, {high}]"
            else:
                rest += known.values()
        yield from (f"where {self.text(condition)}" for condition in rest)

    def _bound(self, condition: Expression, declared: Variable) -> str:
        """The other side of a comparison with a variable."""
        left, right = condition.args
        return self.text(right if left == declared.expression else left)

    def _input_bounds(self) -> Iterator[Expression]:
        outside: tuple[Input | Parameter, ...] = (*self.automaton.inputs, *self.loose)
        for given in outside:
            value = variable(given.name)
            if given.low is not None:
                yield value >= given.low
            if given.high is not None:
                yield value <= given.high


def _is_empty(low: Expression, high: Expression) -> bool:
    """Whether two bounds are plainly the wrong way round; the language refuses `in` for them."""
    return low.is_constant and high.is_constant and low.constant > high.constant


# Flat names as identifiers of the language: readable, distinct, never a keyword.

_FOREIGN = re.compile(r"[^A-Za-z0-9_]+")

KEYWORDS = frozenset(
    """
    agent alge analog assert assume between bilateral bool const crossing d default diff
    discrete do entry enum exit extern false forall forbid from hide import in init input int
    interaction inv let linear local mode output predicate previous private read readwrite
    real sliding sum system table time to top trans true unilateral until urgent when where write
    """.split()
)
"""Words with a meaning somewhere in the language; as names they would only confuse."""


class IdentifierChoice:
    """Chooses identifiers; `chosen` maps every name to its identifier."""

    def __init__(self, taken: Iterable[str] = ()):
        self.chosen: dict[str, str] = {}
        self._used = {*taken, *KEYWORDS, *FUNCTIONS}

    def keep(self, name: str) -> None:
        """Use a name as it is."""
        self.chosen[name] = name
        self._used.add(name)

    def choose(self, name: str) -> str:
        """The identifier of a name: `car[3].x` is `car_3_x`."""
        if name in self.chosen:
            return self.chosen[name]
        plain = _FOREIGN.sub("_", name.replace("'", "_next")).strip("_") or "unnamed"
        if plain[0].isdigit():
            plain = f"n{plain}"
        found, count = plain, 1
        while found in self._used:
            count += 1
            found = f"{plain}_{count}"
        self.chosen[name] = found
        self._used.add(found)
        return found


# Small parts of writing an automaton as text, and what there is to be written.

MAX_LOCATIONS = 20_000
"""A product with more reachable locations than this is not written out."""


def explicit(automaton: Automaton) -> tuple[tuple[Location, ...], tuple[Edge, ...]]:
    """All locations and edges; those of a product are the ones that edges lead to."""
    if isinstance(automaton, HybridAutomaton):
        return automaton.locations, automaton.edges
    names = list(dict.fromkeys(start.location for start in automaton.initial_sets()))
    known = set(names)
    edges: list[Edge] = []
    for name in names:  # grows while it is read
        for edge in automaton.edges_from(name):
            edges.append(edge)
            if edge.target not in known:
                known.add(edge.target)
                names.append(edge.target)
        if len(names) > MAX_LOCATIONS:
            message = f"the product has more than {MAX_LOCATIONS} locations"
            raise ModelError(Diagnostic("too-many-locations", message, hint="export as JSON"))
    return tuple(map(automaton.location, names)), tuple(edges)


_SIDES = {
    Op.EQUAL: ("value", "value"),
    Op.LESS_EQUAL: ("high", "low"),
    Op.GREATER_EQUAL: ("low", "high"),
}


def limit(condition: Expression) -> tuple[str, str] | None:
    """The variable that a condition bounds by a constant, and the side: value, low, high."""
    if condition.op not in _SIDES:
        return None
    for index, (one, other) in enumerate((condition.args, condition.args[::-1])):
        if one.op is Op.VARIABLE and other.is_constant:
            return one.name, _SIDES[condition.op][index]
    return None


def block(word: str, items: list[str]) -> Iterator[str]:
    """`word { a; b; }`, on several lines where there is more than one item."""
    if len(items) == 1:
        yield f"  {word} {{ {items[0]}; }}"
    elif items:
        yield f"  {word} {{"
        yield from (f"    {item};" for item in items)
        yield "  }"


def is_free(declared: Variable, location: Location) -> bool:
    """Whether a variable may change as it likes in a location."""
    if declared.kind is Kind.DISCRETE:
        return False
    known = [c for c in (*location.flows, *location.algebraic) if c.variable == declared.name]
    return all(c.range == UNCONSTRAINED for c in known)


def label(edge: Edge) -> list[str]:
    """The name of a transition: labels name edges and do not synchronise anything here."""
    plain = edge.name.rpartition(": ")[2]
    name = plain if plain.isidentifier() else edge.label
    return [f"#{IdentifierChoice().choose(name)}"] if name else []


def table_text(table: Table) -> Iterator[str]:
    """A table's declaration."""
    names = ", ".join(f"real {name}" for name in ("x", "y")[: table.dimension])
    yield f"table {table.name}({names}) {table.interpolation} {{"
    if table.dimension == 2:
        yield f"  : {_numbers(table.axes[1])},"
    for point, row in zip(table.axes[0], table.values, strict=True):
        yield f"  {number_text(point)}: {_numbers(row)},"
    yield "}"


def _numbers(values: Iterable[Fraction]) -> str:
    return ", ".join(map(number_text, values))


# Resets in primed form as the language's sequential actions.
#
# Simultaneous resets read values before the jump under their plain names. In a sequence, the
# old value of a variable that is overwritten too early is kept with `let`; a choice under an
# auxiliary name is drawn in a variable that is given its right value afterwards.


class NotExpressible(Exception):  # noqa: N818 - it is no error of ours
    """The language has no words for this."""


def sequential(
    resets: Sequence[Constraint], variables: Sequence[Variable], names: Mapping[str, str]
) -> list[str]:
    """The resets as statements that have the same effect in sequence; exact."""
    return _Sequence(resets, variables, names).statements() if resets else []


class _Sequence:
    def __init__(
        self, resets: Sequence[Constraint], variables: Sequence[Variable], names: Mapping[str, str]
    ):
        self.resets = resets
        self.variables = {v.name: v for v in variables}
        self.names = names
        self.fresh = IdentifierChoice(taken=names.values())
        self.reading = {old: variable(new) for old, new in names.items()}
        self.done: list[str] = []
        self.kept: set[str] = set()

    def statements(self) -> list[str]:
        """All statements in order."""
        for position, reset in enumerate(self.resets):
            if reset.variable in self.variables:
                self._keep_old(reset.variable, position + 1)
                self._set(self.names[reset.variable], reset)
                self._now_reads(reset.variable, self.names[reset.variable])
            else:
                self._auxiliary(reset, position)
        return self.done

    def _auxiliary(self, reset: Constraint, position: int) -> None:
        """Bind a name that is no variable; a choice needs a variable to be drawn in."""
        name = self.fresh.choose(reset.variable)
        if reset.range.exact is not None:
            self.done.append(f"let {name} = {self._text(reset.range.exact)};")
        else:
            scratch = self._scratch(reset, position)
            self._keep_old(scratch, position)
            self._set(self.names[scratch], reset)
            self.done.append(f"let {name} = {self.names[scratch]};")
            if all(later.variable != scratch for later in self.resets[position:]):
                restored = self._text(variable(scratch))
                self.done.append(f"{self.names[scratch]} = {restored};")
        self._now_reads(reset.variable, name)

    def _scratch(self, reset: Constraint, position: int) -> str:
        """A real variable that is not yet set, preferably the one that the choice was for."""
        earlier = {r.variable for r in self.resets[:position]}
        free = [
            v.name
            for v in self.variables.values()
            if v.type.name == "real" and v.name not in earlier
        ]
        stem = reset.variable.partition("@chosen")[0]
        if stem in free:
            return stem
        if not free:
            raise NotExpressible(f"the choice of {reset.variable!r} needs a variable of its own")
        return free[0]

    def _keep_old(self, name: str, position: int) -> None:
        """Keep the value of a variable that a later reset still reads."""
        if name in self.kept:
            return
        later = self.resets[position:]
        again = all(r.variable != name for r in later) and self._is_drawn_in(name)
        if again or name in free_variables(*bounds(*later)):
            old = self.fresh.choose(f"{name}.before")
            self.done.append(f"let {old} = {self.names[name]};")
            self.reading[name] = variable(old)
            self.kept.add(name)

    def _is_drawn_in(self, name: str) -> bool:
        """Whether a variable only lends its place to a choice and must be restored."""
        return all(r.variable != name for r in self.resets)

    def _now_reads(self, name: str, written: str) -> None:
        self.reading[primed(name)] = variable(written)

    def _set(self, target: str, reset: Constraint) -> None:
        low, high = reset.range.low, reset.range.high
        if reset.range.exact is not None:
            self.done.append(f"{target} = {self._text(reset.range.exact)};")
        elif low is None or high is None:
            raise NotExpressible(
                f"a jump leaves the new value of {reset.variable!r} without a bound"
            )
        else:
            self.done.append(f"{target} in [{self._text(low)}, {self._text(high)}];")

    def _text(self, expression: Expression) -> str:
        return to_text(substitute(expression, self.reading))
