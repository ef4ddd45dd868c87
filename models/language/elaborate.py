"""From the files of a model to its hierarchy: names resolved, parameters replaced,
replication unrolled, every mistake reported at its place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction

from workbench.models.agents.hierarchy import Agent
from workbench.models.automaton import BOOL, INT, REAL, Parameter, ValueType
from workbench.models.expressions.expression import (
    FALSE,
    TRUE,
    Expression,
    boolean,
    constant,
    variable,
)
from workbench.models.expressions.table import Table
from workbench.models.expressions.traversal import free_variables
from workbench.models.language.context import Context, argument_values
from workbench.models.language.definitions import Definitions, collect
from workbench.models.language.findings import (
    DiagnosticLog,
    TooManyErrorsError,
    did_you_mean,
    listed,
)
from workbench.models.language.instantiate_agents import instantiate_agent
from workbench.models.language.instantiate_modes import instantiate_mode
from workbench.models.language.resolve import Resolver, value_type
from workbench.models.language.scope import Binding, NameRole, Scope
from workbench.models.language.syntax import (
    AgentDefinition,
    ConstantDeclaration,
    ExternDeclaration,
    SourceFile,
    TableDeclaration,
    WrittenInterval,
)
from workbench.models.language.wellposed import check_structure
from workbench.models.model import Setting
from workbench.models.record import record
from workbench.models.source import Diagnostic, Span


@record
class Elaborated:
    """The hierarchical model of a text, the time bound of its claims, if it sets one, and what can
    be given other values."""

    agent: Agent
    horizon: Fraction | None
    settings: tuple[Setting, ...]
    warnings: tuple[Diagnostic, ...]


def elaborate(
    files: Sequence[SourceFile],
    *,
    agent: str | None = None,
    parameters: Mapping[str, Fraction] | None = None,
    sources: dict[str, str] | None = None,
) -> Elaborated:
    """The model that the first file describes; the others are what it imports.

    `agent` names the agent that is the whole model, instead of the file's `system`;
    `parameters` replaces values of top-level constants and of that agent's parameters.
    Raises `ModelError` with every mistake found.
    """
    findings = DiagnosticLog()
    made: tuple[Agent, Fraction | None, tuple[Setting, ...]] | None = None
    with suppress(TooManyErrorsError):
        made = _elaborate(files, agent, dict(parameters or {}), findings)
        if made is not None and not findings.has_errors:
            check_structure(made[0], findings)
    findings.raise_errors(sources)
    assert made is not None, "a model without errors has an agent"
    return Elaborated(*made, findings.warnings)


def _elaborate(
    files: Sequence[SourceFile],
    agent: str | None,
    overrides: dict[str, Fraction],
    findings: DiagnosticLog,
) -> tuple[Agent, Fraction | None, tuple[Setting, ...]] | None:
    definitions = collect(files, findings)
    resolver = Resolver(findings)
    main = _main_agent(files[0], definitions, agent, findings)
    own = {p.name.name for p in main.parameters} if main is not None else set()
    outer = {name: value for name, value in overrides.items() if name not in own}
    scope, uncertain = global_scope(definitions, resolver, outer)
    context = Context(definitions, scope, resolver)
    _check_overrides(overrides, definitions, main, findings)
    if main is None:
        _check_unused(context)
        return None
    values = _main_values(context, main, overrides)
    whole = instantiate_agent(context, main, values)
    _check_unused(context)
    settings = tuple(_settings(context, main, values, uncertain))
    return replace(whole, parameters=uncertain), _horizon(context, agent), settings


def _main_agent(
    file: SourceFile, definitions: Definitions, wanted: str | None, findings: DiagnosticLog
) -> AgentDefinition | None:
    """The agent that is the whole model: as asked, as `system` says, or the only one that
    no other agent contains."""
    if wanted is not None:
        if wanted not in definitions.agents:
            findings.error(
                "unknown-agent",
                f"`{file.name}` has no agent `{wanted}`",
                None,
                did_you_mean(wanted, definitions.agents) or f"it has {listed(definitions.agents)}",
            )
        return definitions.agents.get(wanted)
    system = definitions.system
    if system is not None:
        found = definitions.agents.get(system.agent.name)
        if found is None:
            findings.error(
                "unknown-agent",
                f"there is no agent `{system.agent.name}`",
                system.agent.span,
                did_you_mean(system.agent.name, definitions.agents),
            )
        return found
    used = {part.definition.name for a in definitions.agents.values() for part in a.agents}
    here = [d for d in file.definitions if isinstance(d, AgentDefinition)]
    roots = [a for a in here if a.name.name not in used]
    if len(roots) == 1:
        return roots[0]
    if not definitions.agents:
        message, hint = "the model has no agent", "add one: `agent Main() { mode top = ...; }`"
    elif not roots and here:
        message = "every agent is part of another, so none is the whole model"
        hint = "say which one is: `system Name();`"
    elif not roots:
        message = "the file defines no agent of its own"
        hint = "say which imported agent is the model: `system Name();`"
    else:
        message = f"several agents could be the whole model: {listed(a.name.name for a in roots)}"
        hint = f"say which one is, e.g. `system {roots[-1].name.name}();`"
    place = roots[1].name.span if len(roots) > 1 else Span(file.name, 1, 1, 1, 1)
    findings.error("no-system", message, place, hint)
    return None


def _main_values(
    context: Context, main: AgentDefinition, overrides: Mapping[str, Fraction]
) -> tuple[Expression, ...] | None:
    """The parameters of the whole model: overridden, as `system` gives them, or by default."""
    system = context.definitions.system
    given: Sequence[Expression] = ()
    span = main.name.span
    if system is not None and system.agent.name == main.name.name:
        given, span = system.arguments, system.span
    values: dict[str, Expression] = {}
    for parameter in main.parameters:
        name = parameter.name.name
        if name in overrides:
            kind, place = value_type(parameter.type), parameter.name.span
            value = override_value(name, overrides[name], kind, place, context.resolver)
            if value is None:
                return None
            values[name] = value
    return argument_values(context, main, given, context.scope, span, values)


def _settings(
    context: Context,
    main: AgentDefinition,
    values: Sequence[Expression] | None,
    uncertain: Sequence[Parameter],
) -> Iterator[Setting]:
    """The constants that are not computed from others, and the parameters of the whole model."""
    ranges = {parameter.name: (parameter.low, parameter.high) for parameter in uncertain}
    for name, declaration in context.definitions.constants.items():
        if name not in context.scope.names:
            continue  # refused: it cannot be called so
        kind, span = value_type(declaration.type), declaration.name.span
        written = declaration.value
        if name in ranges:
            yield Setting(name, kind, None, *ranges[name], span)
        elif isinstance(written, WrittenInterval) or not free_variables(written):
            yield Setting(name, kind, _plain(context.scope.names[name].expression), span=span)
    for parameter, value in zip(main.parameters, values or (), strict=False):
        kind, span = value_type(parameter.type), parameter.name.span
        yield Setting(parameter.name.name, kind, _plain(value), span=span)


def _plain(value: Expression) -> Fraction | bool | None:
    """A constant as a number or a truth value."""
    if value.is_constant:
        return value.constant
    return value == TRUE if value in (TRUE, FALSE) else None


def _horizon(context: Context, wanted: str | None) -> Fraction | None:
    system = context.definitions.system
    if system is None or system.horizon is None:
        return None
    if wanted is not None and wanted != system.agent.name:
        return None
    value = context.resolver.constant_of(system.horizon, context.scope, REAL, "the time limit")
    if value is None:
        return None
    if not value.is_constant or value.constant <= 0:
        context.findings.error(
            "bad-horizon", "the time after `until` must be a positive number", system.horizon.span
        )
        return None
    return value.constant


def _check_overrides(
    overrides: Mapping[str, Fraction],
    definitions: Definitions,
    main: AgentDefinition | None,
    findings: DiagnosticLog,
) -> None:
    own = [p.name.name for p in main.parameters] if main is not None else []
    known = [*own, *definitions.constants]
    for name in overrides:
        if name not in known:
            findings.error(
                "unknown-parameter",
                f"the model has no parameter or constant `{name}` to set",
                None,
                did_you_mean(name, known)
                or (f"it has {listed(known)}" if known else "it has none"),
            )


def _check_unused(context: Context) -> None:
    """Look for mistakes in definitions that nothing uses, as far as that is possible
    without values for their parameters."""
    if context.too_large:
        return
    context.findings.ignore_warnings = True
    for name, mode in context.definitions.modes.items():
        if f"mode {name}" not in context.used:
            values = None if mode.parameters else ()
            instantiate_mode(context, mode, values, (), is_top=False)
    for name, agent in context.definitions.agents.items():
        if f"agent {name}" not in context.used:
            instantiate_agent(context, agent, None if agent.parameters else ())
    context.findings.ignore_warnings = False


# Constants, tables and external functions: what every definition of a file can see.

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
