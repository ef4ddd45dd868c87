"""Constants, tables and external functions: what every definition of a file can see."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from workbench.models.automaton import BOOL, INT, REAL, Parameter, ValueType
from workbench.models.expressions.expression import Expression, boolean, constant, variable
from workbench.models.expressions.table import Table
from workbench.models.expressions.traversal import free_variables
from workbench.models.language.definitions import Definitions
from workbench.models.language.findings import listed
from workbench.models.language.resolve import Resolver, value_type
from workbench.models.language.scope import Binding, NameRole, Scope
from workbench.models.language.syntax import (
    ConstantDeclaration,
    ExternDeclaration,
    TableDeclaration,
    WrittenInterval,
)
from workbench.models.source import Span

MAX_TABLE_CELLS = 1_000_000


def global_scope(
    definitions: Definitions, resolver: Resolver, overrides: Mapping[str, Fraction]
) -> tuple[Scope, tuple[Parameter, ...]]:
    """The scope of the whole model, and its uncertain constants.

    `overrides` replaces the values of constants of the same name.
    """
    scope = Scope(symbols=set(definitions.symbols))
    parameters: list[Parameter] = []
    order, cyclic = _in_order(definitions, resolver)
    for declaration in order:
        name = declaration.name.name
        if name in cyclic:
            _bind(declaration, None, NameRole.CONSTANT, scope, resolver)
        elif name in overrides:
            value = override_value(
                name, overrides[name], value_type(declaration.type), declaration.span, resolver
            )
            _bind(declaration, value, NameRole.CONSTANT, scope, resolver)
        elif isinstance(declaration.value, WrittenInterval):
            parameter = _uncertain(declaration, declaration.value, scope, resolver)
            if parameter is not None:
                parameters.append(parameter)
            _bind(declaration, variable(name), NameRole.UNCERTAIN, scope, resolver)
        else:
            kind = value_type(declaration.type)
            what = f"the constant `{name}`"
            value = resolver.constant_of(declaration.value, scope, kind, what)
            _bind(declaration, value, NameRole.CONSTANT, scope, resolver)
    for name, function in definitions.functions.items():
        if isinstance(function, ExternDeclaration):
            scope.functions[name] = function
        else:
            table = _table(function, scope, resolver)
            if table is not None:
                scope.functions[name] = table
    return scope, tuple(parameters)


def _bind(
    declaration: ConstantDeclaration,
    value: Expression | None,
    role: NameRole,
    scope: Scope,
    resolver: Resolver,
) -> None:
    name = declaration.name
    kind = value_type(declaration.type) if value is not None else None
    binding = Binding(value if value is not None else constant(0), kind, role, name.span)
    scope.bind(resolver.findings, name.name, binding)


def override_value(
    name: str, value: Fraction, kind: ValueType, span: Span | None, resolver: Resolver
) -> Expression | None:
    """A number given from outside as a constant of the declared type."""
    if kind == REAL or (kind == INT and value.denominator == 1):
        return constant(value)
    if kind == BOOL and value in (0, 1):
        return boolean(value == 1)
    resolver.findings.error(
        "type-mismatch", f"`{name}` is {kind}; the given value {value} does not fit", span
    )
    return None


def _in_order(
    definitions: Definitions, resolver: Resolver
) -> tuple[list[ConstantDeclaration], set[str]]:
    """The constants with those they are computed from before them, and those on a cycle,
    which is reported."""
    constants = definitions.constants
    cyclic: set[str] = set()
    order: list[ConstantDeclaration] = []
    state: dict[str, bool] = {}  # False while a constant's needs are being placed
    for start in constants:
        stack = [(start, False)]
        trail: list[str] = []
        while stack:
            name, finished = stack.pop()
            if finished:
                state[name] = True
                trail.pop()
                order.append(constants[name])
            elif name not in state:
                state[name] = False
                trail.append(name)
                stack.append((name, True))
                stack.extend((need, False) for need in _needs(constants[name], definitions))
            elif not state[name]:
                cycle = [*trail[trail.index(name) :], name]
                cyclic.update(cycle)
                resolver.findings.error(
                    "cyclic-constants",
                    f"these constants are defined by each other: {' -> '.join(cycle)}",
                    constants[name].name.span,
                )
    return order, cyclic


def _needs(declaration: ConstantDeclaration, definitions: Definitions) -> list[str]:
    value = declaration.value
    parts = (value.low, value.high) if isinstance(value, WrittenInterval) else (value,)
    return sorted(name for name in free_variables(*parts) if name in definitions.constants)


def _uncertain(
    declaration: ConstantDeclaration, interval: WrittenInterval, scope: Scope, resolver: Resolver
) -> Parameter | None:
    name, kind = declaration.name.name, value_type(declaration.type)
    if not kind.is_numeric:
        resolver.findings.error(
            "type-mismatch", "only a number can be given by an interval", interval.span
        )
        return None
    bounds = []
    for written, word in ((interval.low, "lower"), (interval.high, "upper")):
        what = f"the {word} bound of `{name}`"
        value = resolver.constant_of(written, scope, kind, what)
        if value is not None and not value.is_constant:
            resolver.findings.error(
                "not-constant",
                f"{what} must be a plain number",
                written.span or interval.span,
                f"it depends on {listed(sorted(free_variables(value)))}"
                if free_variables(value)
                else None,
            )
            value = None
        bounds.append(value)
    low, high = bounds
    if low is None or high is None:
        return None
    if low.constant > high.constant:
        resolver.findings.error(
            "empty-interval",
            f"the interval of `{name}` is empty: {low.constant} is above {high.constant}",
            interval.span,
            "swap the bounds",
        )
        return None
    return Parameter(name, kind, low.constant, high.constant, declaration.span)


def _table(declaration: TableDeclaration, scope: Scope, resolver: Resolver) -> Table | None:
    name = declaration.name.name
    size = len(declaration.rows) * max(1, len(declaration.axis))
    if size > MAX_TABLE_CELLS:
        resolver.findings.error(
            "too-large",
            f"the table `{name}` has more than {MAX_TABLE_CELLS} cells",
            declaration.span,
        )
        return None

    def number(written: Expression) -> Fraction | None:
        value = resolver.constant_of(written, scope, REAL, f"a cell of the table `{name}`")
        if value is None or value.is_constant:
            return value.constant if value is not None else None
        resolver.findings.error(
            "not-constant",
            f"a cell of the table `{name}` must be a plain number",
            written.span or declaration.span,
        )
        return None

    across = [number(cell) for cell in declaration.axis]
    down = [number(row) for row, _ in declaration.rows]
    cells = [[number(cell) for cell in row] for _, row in declaration.rows]
    if None in across or None in down or any(None in row for row in cells):
        return None
    axes = (tuple(down), tuple(across)) if declaration.axis else (tuple(down),)
    try:
        return Table(name, axes, tuple(map(tuple, cells)), declaration.interpolation)  # type: ignore[arg-type]
    except ValueError as problem:
        resolver.findings.error("bad-table", f"table `{name}`: {problem}", declaration.span)
        return None
