"""From the plain values of a JSON document to an automaton, everything checked.

Names must be declared, expressions must yield the sort of value that their place asks for,
locations must exist. Fields that have a usual value may be left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import NoReturn, TypeVar

from workbench.models.agents.composition import Interaction, Product
from workbench.models.agents.families import MAX_PAIRS, Family, Partner, Unrolled
from workbench.models.automaton import (
    BOOL,
    INT,
    REAL,
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
    Property,
    PropertyKind,
    Range,
    ValueType,
    Variable,
    enumeration,
    primed,
)
from workbench.models.expressions.dialect import FUNCTIONS
from workbench.models.expressions.expression import FALSE, TRUE, ZERO, Expression
from workbench.models.expressions.operators import Op
from workbench.models.expressions.printing import number_text
from workbench.models.expressions.table import Interpolation, Table
from workbench.models.expressions.text import parse_expression
from workbench.models.expressions.traversal import postorder
from workbench.models.interchange.json_door import Cursor, Members, shortened
from workbench.models.sorts import Sort, require_sort, sort_of, sort_of_type
from workbench.models.source import ModelError
from workbench.models.well_formed import fault_of, reset_fault

SCHEMA = "charon-workbench/automaton/1"

_CLAIMS = ("assumption", "properties", "predicates", "horizon")
_AUTOMATON = (
    "variables",
    "inputs",
    "parameters",
    "locations",
    "edges",
    "initial",
    "alphabet",
    *_CLAIMS,
)
_PRODUCT = ("interactions", "initialCondition", "parameters", *_CLAIMS)
_DOCUMENT = ("tables", "externals")

Named = TypeVar("Named", Variable, Input, Parameter, Location, HybridAutomaton)


def read_document(cursor: Cursor) -> Automaton:
    """The automaton or product of a whole document."""
    made = _read_whole(cursor)
    if why := fault_of(made):
        cursor.fail(why)
    return made


def _read_whole(cursor: Cursor) -> Automaton:
    if not isinstance(cursor.value, Mapping):
        cursor.fail(f"expected an object with schema, kind, ..., not {cursor.described()}")
    schema = cursor.value.get("schema")
    if schema != SCHEMA:
        known = f"this program reads {SCHEMA!r}"
        cursor.fail(f"the schema is {shortened(schema)}", "json-schema", known)
    kind = cursor.value.get("kind")
    if kind == "automaton":
        fields = cursor.members(("schema", "kind", "name"), (*_DOCUMENT, *_AUTOMATON))
        reader = _Reader(cursor, fields)
        reader.declare(fields)
        reader.places[fields["name"].name()] = _location_names(fields)
        return reader.automaton(fields)
    if kind != "product":
        cursor.fail(f"the kind must be 'automaton' or 'product', not {shortened(kind)}")
    fields = cursor.members(("schema", "kind", "name", "components"), (*_DOCUMENT, *_PRODUCT))
    return _Reader(cursor, fields).product(fields)


class _Reader:
    """What is declared, and how to read the parts that refer to it."""

    def __init__(self, cursor: Cursor, fields: Members) -> None:
        self.file = cursor.file
        self.tables: dict[str, Table] = fields.get("tables", read_tables, dict[str, Table]())
        self.externals = frozenset(fields.items("externals", Cursor.name))
        for name in (*self.tables, *self.externals):
            if name in FUNCTIONS or (name in self.tables and name in self.externals):
                cursor.fail(f"two different functions are called {shortened(name)}")
        self.sorts: dict[str, Sort] = {TIME: Sort.NUMBER}
        self.types: dict[str, ValueType] = {}
        self.places: dict[str, frozenset[str]] = {}

    # Declarations

    def declare(self, fields: Members) -> None:
        """Note the names of an automaton's variables, inputs and parameters."""
        for key in ("variables", "inputs", "parameters"):
            for signal in fields.items(key, read_declared):
                self.sorts[signal[0]] = sort_of_type(signal[1])

    def sort_of_name(self, name: str) -> Sort | None:
        """The sort of a declared name."""
        return self.sorts.get(name)

    # Wholes

    def product(self, fields: Members) -> Product:
        """A composition: the names of all components are known everywhere."""
        parts = fields["components"].items(lambda c: c.members(("name",), _AUTOMATON))
        if not parts:
            fields["components"].fail("a product needs a component")
        self.declare(fields)
        for part in parts:
            self.declare(part)
            name = part["name"].name()
            if name in self.places:
                part["name"].fail(f"two components are called {shortened(name)}")
            self.places[name] = _location_names(part)
        return Product(
            name=fields["name"].name(),
            components=tuple(self.automaton(part) for part in parts),
            interactions=_as_written(fields.items("interactions", self.event)),
            properties=fields.items("properties", self.property),
            predicates=fields.items("predicates", self.truth),
            initial_condition=fields.get("initialCondition", self.truth, TRUE),
            assumption=fields.get("assumption", self.truth, TRUE),
            parameters=_distinct(fields, "parameters", read_parameter),
            horizon=fields.optional("horizon", read_horizon),
        )

    def automaton(self, fields: Members) -> HybridAutomaton:
        """An automaton whose names are declared."""
        variables = _distinct(fields, "variables", read_variable)
        inputs = _distinct(fields, "inputs", read_input)
        parameters = _distinct(fields, "parameters", read_parameter)
        _unlike(fields, variables, inputs, parameters)
        own = {v.name: v for v in variables}
        places = _location_names(fields)
        return HybridAutomaton(
            name=fields["name"].name(),
            variables=variables,
            inputs=inputs,
            parameters=parameters,
            locations=_distinct(fields, "locations", lambda c: self.location(c, own)),
            edges=fields.items("edges", lambda c: self.edge(c, places)),
            initial=fields.items("initial", lambda c: self.initial(c, places)),
            assumption=fields.get("assumption", self.truth, TRUE),
            properties=fields.items("properties", self.property),
            predicates=fields.items("predicates", self.truth),
            alphabet=frozenset(fields.items("alphabet", Cursor.name)),
            horizon=fields.optional("horizon", read_horizon),
        )

    # Parts

    def location(self, cursor: Cursor, own: Mapping[str, Variable]) -> Location:
        fields = cursor.members(("name",), ("flows", "algebraic", "invariant"))
        return Location(
            name=fields["name"].name(),
            flows=fields.items("flows", lambda c: self.flow(c, own)),
            algebraic=fields.items("algebraic", lambda c: self.algebraic(c, own)),
            invariant=fields.get("invariant", self.truth, TRUE),
        )

    def flow(self, cursor: Cursor, own: Mapping[str, Variable]) -> Constraint:
        constraint = self.constraint(cursor, Sort.NUMBER, self.sort_of_name)
        declared = own.get(constraint.variable)
        kind = REAL if constraint.range.exact != ZERO or declared is None else declared.type
        if declared is None or declared.kind is not Kind.ANALOG or declared.type != kind:
            cursor.fail(f"{shortened(constraint.variable)} is no analog real variable")
        return constraint

    def algebraic(self, cursor: Cursor, own: Mapping[str, Variable]) -> Constraint:
        name = self.constrained(cursor)
        if name not in own:
            cursor.fail(f"{shortened(name)} is no variable of the automaton")
        if own[name].kind is not Kind.ANALOG:
            cursor.fail(f"{shortened(name)} is discrete: an equation would change it in time")
        return self.constraint(cursor, self.sorts[name], self.sort_of_name)

    def edge(self, cursor: Cursor, places: frozenset[str]) -> Edge:
        fields = cursor.members(
            ("source", "target"), ("guard", "resets", "label", "urgent", "event", "name")
        )
        return Edge(
            source=_known_place(fields["source"], places),
            target=_known_place(fields["target"], places),
            guard=fields.get("guard", self.truth, TRUE),
            resets=self.resets(fields),
            label=fields.optional("label", Cursor.name),
            urgent=fields.get("urgent", Cursor.flag, False),
            event=fields.get("event", read_event, EventKind.UNILATERAL),
            name=fields.get("name", Cursor.text, ""),
        )

    def event(self, cursor: Cursor) -> Interaction | Family[Interaction]:
        """An interaction, or a pattern with all the pairs that it is for."""
        if isinstance(cursor.value, Mapping) and "pattern" in cursor.value:
            return self.family(cursor)
        return self.interaction(cursor)

    def family(self, cursor: Cursor) -> Family[Interaction]:
        fields = cursor.members(("pattern", "slots", "first"), ("second",))
        slots = fields.items("slots", lambda c: c.items(Cursor.name))
        first = fields.items("first", read_partner)
        second = fields.optional("second", lambda c: c.items(read_partner))
        if len(slots) != 2 or len({*slots[0], *slots[1]}) < len(slots[0]) + len(slots[1]):
            fields["slots"].fail("two lists of distinct names are needed")
        sorts: dict[str, Sort] = {}
        for side, partners in ((0, first), (1, first if second is None else second)):
            for partner in partners:
                self._fill(cursor, slots[side], partner, sorts)
        outside, self.sorts = self.sorts, self.sorts | sorts
        pattern = self.interaction(fields["pattern"])
        self.sorts = outside
        family = Family(pattern, (slots[0], slots[1]), first, second)
        if not family.is_proper:
            cursor.fail("two partners have a variable in common")
        if len(family) > MAX_PAIRS:
            cursor.fail(f"{len(family)} pairs; the limit is {MAX_PAIRS}")
        return family

    def _fill(
        self, cursor: Cursor, slots: tuple[str, ...], partner: Partner, sorts: dict[str, Sort]
    ) -> None:
        """Note the sorts of the slots; all partners must agree about them."""
        if len(partner.variables) != len(slots):
            cursor.fail(f"{shortened(partner.path)} does not fit the slots")
        for slot, name in zip(slots, partner.variables, strict=True):
            sort = self.sorts.get(name)
            if sort is None or sorts.setdefault(slot, sort) is not sort:
                cursor.fail(f"{shortened(name)} cannot stand for {shortened(slot)}")

    def interaction(self, cursor: Cursor) -> Interaction:
        fields = cursor.members(("name", "participants", "guard"), ("resets", "urgent", "event"))
        return Interaction(
            name=fields["name"].text(),
            participants=fields.items("participants", Cursor.name),
            guard=self.truth(fields["guard"]),
            resets=self.resets(fields),
            urgent=fields.get("urgent", Cursor.flag, False),
            event=fields.get("event", read_event, EventKind.UNILATERAL),
        )

    def initial(self, cursor: Cursor, places: frozenset[str]) -> Initial:
        fields = cursor.members(("location",), ("condition", "resets"))
        return Initial(
            location=_known_place(fields["location"], places),
            condition=fields.get("condition", self.truth, TRUE),
            resets=self.resets(fields),
        )

    def property(self, cursor: Cursor) -> Property:
        fields = cursor.members(("name", "condition"), ("kind", "where", "rescue"))
        return Property(
            name=fields["name"].text(),
            condition=self.truth(fields["condition"]),
            kind=fields.get("kind", read_property_kind, PropertyKind.ASSERTION),
            where=fields.get("where", self.truth, TRUE),
            rescue=fields.items("rescue", self.rescue),
        )

    def rescue(self, cursor: Cursor) -> Constraint:
        """A derivative that might still have helped against a violation."""
        found = self.constraint(cursor, Sort.NUMBER, self.sorts.get)
        if found.range.exact is None:
            cursor.fail("the derivative of a rescue has one value")
        return found

    def resets(self, fields: Members) -> tuple[Constraint, ...]:
        """Simultaneous resets; each may read, primed, what those before it set."""
        after: dict[str, Sort] = {}

        def known(name: str) -> Sort | None:
            return after.get(name) or self.sorts.get(name)

        def read(cursor: Cursor) -> Constraint:
            name = self.constrained(cursor)
            wanted = self.sorts.get(name)
            constraint = self.constraint(cursor, wanted, known)
            exact = constraint.range.exact
            if wanted is None:
                wanted = Sort.NUMBER if exact is None else sort_of(exact, known)
            after[primed(name)] = wanted
            return constraint

        found = fields.items("resets", read)
        if why := reset_fault(found):
            fields["resets"].fail(why)
        return found

    def constrained(self, cursor: Cursor) -> str:
        """The name of the variable that a constraint is about."""
        return cursor.members(("variable",), ("value", "low", "high"))["variable"].name()

    def constraint(
        self, cursor: Cursor, wanted: Sort | None, known: Callable[[str], Sort | None]
    ) -> Constraint:
        """A value or a range; without a wanted sort any value will do."""
        fields = cursor.members(("variable",), ("value", "low", "high"))
        name = fields["variable"].name()
        if "value" in fields:
            if "low" in fields or "high" in fields:
                cursor.fail("give either a value or low and high")
            value = self.expression(fields["value"], wanted, known)
            return Constraint(name, Range.exactly(value))

        def bound(c: Cursor) -> Expression:
            return self.expression(c, Sort.NUMBER, known)

        low, high = fields.optional("low", bound), fields.optional("high", bound)
        free = low is None and high is None
        return Constraint(name, UNCONSTRAINED if free else Range(low, high))

    # Expressions

    def truth(self, cursor: Cursor) -> Expression:
        """A condition over the declared names."""
        return self.expression(cursor, Sort.TRUTH, self.sort_of_name)

    def expression(
        self, cursor: Cursor, wanted: Sort | None, known: Callable[[str], Sort | None]
    ) -> Expression:
        """An expression of the wanted sort; plain numbers and truth values are taken too."""
        place = f"{cursor.file}: {cursor.path}"
        value = cursor.value
        if isinstance(value, bool):
            text = "true" if value else "false"
        elif isinstance(value, int | Fraction):
            text = number_text(cursor.rational())
        else:
            text = cursor.text()
        if text == "true" and wanted is Sort.TRUTH:
            return TRUE
        if text == "false" and wanted is Sort.TRUTH:
            return FALSE
        try:
            made = parse_expression(text, tables=self.tables, externals=self.externals, file=place)
            require_sort(made, wanted or Sort.ANY, "this expression", known)
            self.check_places(cursor, made)
        except ModelError as error:
            raise ModelError(*error.diagnostics, sources={place: text}) from None
        return made

    def check_places(self, cursor: Cursor, made: Expression) -> None:
        """Every `at(...)` must name a component and a location that exist."""
        for node in postorder(made):
            if node.op is Op.AT:
                component, location = node.place
                if component not in self.places:
                    cursor.fail(f"there is no component {shortened(component)}")
                if location not in self.places[component]:
                    cursor.fail(
                        f"component {shortened(component)} has no location {shortened(location)}"
                    )


# Names


def _location_names(fields: Members) -> frozenset[str]:
    names = fields.items("locations", _location_name)
    return frozenset(names)


def _location_name(cursor: Cursor) -> str:
    return cursor.members(("name",), ("flows", "algebraic", "invariant"))["name"].name()


def _known_place(cursor: Cursor, places: frozenset[str]) -> str:
    name = cursor.name()
    if name not in places:
        cursor.fail(f"there is no location {shortened(name)}")
    return name


def _distinct(fields: Members, key: str, read: Callable[[Cursor], Named]) -> tuple[Named, ...]:
    """The elements of a list, whose names must differ."""
    seen: set[str] = set()

    def once(cursor: Cursor) -> Named:
        made = read(cursor)
        if made.name in seen:
            cursor.fail(f"the name {shortened(made.name)} is given twice")
        seen.add(made.name)
        return made

    return fields.items(key, once)


def _unlike(
    fields: Members,
    variables: Iterable[Variable],
    inputs: Iterable[Input],
    parameters: Iterable[Parameter],
) -> None:
    """Variables, inputs and parameters of one automaton have different names."""
    seen: set[str] = set()
    for key, group in (("variables", variables), ("inputs", inputs), ("parameters", parameters)):
        for signal in group:
            if signal.name in seen:
                _clash(fields[key], signal.name)
            seen.add(signal.name)


def _clash(cursor: Cursor, name: str) -> NoReturn:
    cursor.fail(f"the name {shortened(name)} is declared twice")


def _as_written(
    parts: tuple[Interaction | Family[Interaction], ...],
) -> Sequence[Interaction]:
    """Single interactions as they are; with families among them, unrolled on demand."""
    single = tuple(part for part in parts if isinstance(part, Interaction))
    return single if len(single) == len(parts) else Unrolled(parts)


# Declarations in a JSON document: variables, signals, types, tables and single words.

_PLAIN_TYPES = {"real": REAL, "int": INT, "bool": BOOL}
_SIGNAL = ("type", "low", "high")

Signal = TypeVar("Signal", Input, Parameter)


def read_declared(cursor: Cursor) -> tuple[str, ValueType]:
    """The name and type of a variable, input or parameter."""
    fields = cursor.members(("name",), (*_SIGNAL, "kind"))
    return fields["name"].name(), fields.get("type", _type, REAL)


def read_variable(cursor: Cursor) -> Variable:
    """A state variable; real and analog unless said otherwise."""
    fields = cursor.members(("name",), ("type", "kind"))
    kind = fields.get("kind", read_kind, Kind.ANALOG)
    return Variable(fields["name"].name(), fields.get("type", _type, REAL), kind)


def read_partner(cursor: Cursor) -> Partner:
    """One who takes part in the events of a family."""
    fields = cursor.members(("path", "variables"), ())
    return Partner(fields["path"].name(), fields.items("variables", Cursor.name))


def read_input(cursor: Cursor) -> Input:
    """A signal from outside with its bounds."""
    return _signal(cursor, Input)


def read_parameter(cursor: Cursor) -> Parameter:
    """An uncertain constant with its bounds."""
    return _signal(cursor, Parameter)


def _signal(cursor: Cursor, make: type[Signal]) -> Signal:
    fields = cursor.members(("name",), _SIGNAL)
    kind = fields.get("type", _type, REAL)
    low = fields.optional("low", Cursor.rational)
    high = fields.optional("high", Cursor.rational)
    if not kind.is_numeric and (low is not None or high is not None):
        cursor.fail("only numbers have bounds")
    if low is not None and high is not None and low > high:
        cursor.fail(f"the lower bound {shortened(low)} is above the upper bound {shortened(high)}")
    return make(fields["name"].name(), kind, low, high)


def _type(cursor: Cursor) -> ValueType:
    if isinstance(cursor.value, str):
        if cursor.value not in _PLAIN_TYPES:
            cursor.fail(f'expected "real", "int", "bool" or an enum, not {cursor.described()}')
        return _PLAIN_TYPES[cursor.value]
    values = cursor.members(("enum",))["enum"].items(Cursor.name)
    if not values or len(set(values)) != len(values):
        cursor.fail("an enumeration needs values, all different")
    return enumeration(*values)


def read_kind(cursor: Cursor) -> Kind:
    """`analog` or `discrete`."""
    return cursor.choice(Kind)


def read_event(cursor: Cursor) -> EventKind:
    """How closely a guard must be approached."""
    return cursor.choice(EventKind)


def read_property_kind(cursor: Cursor) -> PropertyKind:
    """`assertion` or `forbidden`."""
    return cursor.choice(PropertyKind)


def read_horizon(cursor: Cursor) -> Fraction:
    """A time that is not negative."""
    value = cursor.rational()
    if value < 0:
        cursor.fail("the horizon must not be negative")
    return value


def read_tables(cursor: Cursor) -> dict[str, Table]:
    """Lookup tables by name."""
    if not isinstance(cursor.value, Mapping):
        cursor.fail(f"expected an object of tables by name, not {cursor.described()}")
    return {str(k): _table(cursor.child(str(k), v), str(k)) for k, v in cursor.value.items()}


def _table(cursor: Cursor, name: str) -> Table:
    fields = cursor.members(("axes", "values"), ("interpolation",))
    how = fields.get("interpolation", lambda c: c.choice(Interpolation), Interpolation.LINEAR)

    def row(c: Cursor) -> tuple[Fraction, ...]:
        return c.items(Cursor.rational)

    try:
        return Table(name, fields["axes"].items(row), fields["values"].items(row), how)
    except ValueError as error:
        cursor.fail(str(error))
