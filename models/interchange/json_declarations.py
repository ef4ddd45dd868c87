"""Declarations in a JSON document: variables, signals, types, tables and single words."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TypeVar

from workbench.models.agents.families import Partner
from workbench.models.automaton import (
    BOOL,
    INT,
    REAL,
    EventKind,
    Input,
    Kind,
    Parameter,
    PropertyKind,
    ValueType,
    Variable,
    enumeration,
)
from workbench.models.expressions.table import Interpolation, Table
from workbench.models.interchange.json_door import Cursor, shortened

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
