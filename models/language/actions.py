"""What changes variables: assignments in actions, and the lines of `diff` and `alge`."""

from __future__ import annotations

from collections.abc import Iterable

from workbench.models.agents.hierarchy import Declaration
from workbench.models.automaton import INT, REAL, TIME, Constraint, Kind, Range
from workbench.models.expressions.expression import Expression, variable
from workbench.models.expressions.operators import Op
from workbench.models.language.context import Context
from workbench.models.language.declarations import value_range
from workbench.models.language.scope import Binding, NameRole, Scope
from workbench.models.language.syntax import (
    DynamicsLine,
    Identifier,
    LetStatement,
    SettingStatement,
    WrittenInterval,
)
from workbench.models.language.typecheck import type_words
from workbench.models.source import Span


def actions(
    context: Context, written: Iterable[SettingStatement | LetStatement], scope: Scope
) -> tuple[Constraint, ...]:
    """The sequential assignments of an action. A `let` assigns to an auxiliary name that is
    no variable (`let 1 tmp`), so that later lines read the value it had there."""
    inner = Scope(scope)
    found: list[Constraint] = []
    for number, step in enumerate(written, start=1):
        if isinstance(step, LetStatement):
            value, kind = context.resolver.resolve(step.value, inner)
            name = f"let {number} {step.name.name}"
            binding = Binding(variable(name), kind, NameRole.LET, step.name.span)
            inner = Scope(inner, {step.name.name: binding})
            found.append(Constraint(name, Range.exactly(value), step.span))
            continue
        declaration = assigned(context, step.target, inner)
        if declaration is None:
            _value_alone(context, step.value, inner)
            continue
        name = declaration.name
        what = f"the new value of `{name}`"
        chosen = value_range(context, step.value, declaration.type, inner, what)
        if chosen is not None:
            found.append(Constraint(name, chosen, step.span))
    return tuple(found)


def _value_alone(context: Context, value: Expression | WrittenInterval, scope: Scope) -> None:
    """Look for mistakes in a value whose target is already wrong."""
    for part in (value.low, value.high) if isinstance(value, WrittenInterval) else (value,):
        context.resolver.resolve(part, scope)


def assigned(context: Context, target: Expression, scope: Scope) -> Declaration | None:
    """The variable that an assignment changes, if it may."""
    findings = context.findings
    if target.op is Op.VARIABLE:
        if target.name == TIME and scope.find(TIME) is None:
            findings.error(
                "not-assignable",
                "`time` passes by itself and cannot be set",
                target.span,
                "for a clock you can reset, declare a variable with `d(clock) == 1`",
            )
            return None
        binding = scope.find(target.name)
        if binding is not None:
            return writable(context, target.name, binding, target.span)
    if target.op is not Op.SELECT:
        context.resolver.resolve(target, scope)
        return None
    indices = [context.resolver.resolve(index, scope) for index in target.args]
    found = context.resolver.selected(target, indices, scope)
    if found is None:
        return None
    if isinstance(found, Declaration):
        found = Binding(variable(found.name), found.type, NameRole.VARIABLE, found.span, found)
    return writable(context, found.expression.name, found, target.span)


def writable(
    context: Context, name: str, binding: Binding, span: Span | None
) -> Declaration | None:
    """The declaration behind a binding, if the variable may be changed here."""
    declaration = binding.declaration
    if declaration is None:
        article = "an" if binding.role in (NameRole.INDEX, NameRole.UNCERTAIN) else "a"
        context.findings.error(
            "not-assignable",
            f"`{name}` is {article} {binding.role}; only variables can change",
            span,
            f"declare a variable: `private analog real {name}2;`"
            if binding.role is not NameRole.LET
            else "assign to a variable, or choose another name for the `let`",
        )
        return None
    if not declaration.access.writes:
        context.findings.error(
            "read-only",
            f"`{name}` is declared `read` here, so it cannot be changed",
            span,
            f"declare it `write` if this part determines it (declared at line {binding.span.line})"
            if binding.span
            else None,
        )
        return None
    return declaration


def flows(
    context: Context, relations: Iterable[DynamicsLine], scope: Scope
) -> tuple[Constraint, ...]:
    """The lines of `diff`; a lower and an upper bound on one derivative make one range."""
    found: list[Constraint] = []
    for relation in relations:
        declaration = _constrained(context, relation.variable, scope)
        if declaration is None:
            _value_alone(context, relation.value, scope)
            continue
        name = relation.variable.name
        if declaration.type != REAL or declaration.kind is Kind.DISCRETE:
            what = (
                "`discrete`"
                if declaration.type.is_numeric and declaration.type != INT
                else type_words(declaration.type)
            )
            context.findings.error(
                "discrete-flow",
                f"`{name}` is {what}, so it cannot flow",
                relation.variable.span,
                f"declare it `analog real {name}`, or change it in an action",
            )
            continue
        chosen = _relation_range(context, relation, declaration, scope, f"d({name})")
        if chosen is not None:
            _join(found, Constraint(declaration.name, chosen, relation.span))
    return tuple(found)


def algebra(
    context: Context, relations: Iterable[DynamicsLine], scope: Scope
) -> tuple[Constraint, ...]:
    """The lines of `alge`."""
    found: list[Constraint] = []
    for relation in relations:
        declaration = _constrained(context, relation.variable, scope)
        if declaration is None:
            _value_alone(context, relation.value, scope)
            continue
        name = relation.variable.name
        if declaration.kind is Kind.DISCRETE:
            context.findings.error(
                "discrete-flow",
                f"`{name}` is discrete: an equation in `alge` would change it while time passes",
                relation.variable.span,
                f"declare it `analog {declaration.type} {name}`, or set it in an action",
            )
            continue
        chosen = _relation_range(context, relation, declaration, scope, f"`{name}`")
        if chosen is not None and chosen.exact is None and declaration.type == INT:
            context.findings.error(
                "whole-range",
                f"`{name}` is a whole number: an equation gives it one value, not a range",
                relation.span,
                "write `==`, or declare it `analog real`",
            )
        elif chosen is not None:
            _join(found, Constraint(declaration.name, chosen, relation.span))
    return tuple(found)


def _constrained(context: Context, name: Identifier, scope: Scope) -> Declaration | None:
    binding = scope.find(name.name)
    if binding is None:
        if scope.extent(name.name) is not None:
            context.findings.error(
                "array-without-index",
                f"`{name.name}` is an array; let each agent determine its own element",
                name.span,
            )
        elif name.name == TIME:
            context.findings.error(
                "not-assignable", "`time` always has slope 1 and cannot be constrained", name.span
            )
        else:
            context.resolver.unknown(name.name, scope, name.span)
        return None
    return writable(context, name.name, binding, name.span)


def _relation_range(
    context: Context, relation: DynamicsLine, declaration: Declaration, scope: Scope, what: str
) -> Range | None:
    kind = declaration.type
    chosen = value_range(context, relation.value, kind, scope, f"the value of {what}")
    if chosen is None or relation.operator in ("==", "in"):
        return chosen
    if relation.operator == "<=":
        return Range(None, chosen.high)
    return Range(chosen.low, None)


def _join(found: list[Constraint], new: Constraint) -> None:
    """Add a constraint, joining `<=` with the `>=` of the same variable."""
    for number, old in enumerate(found):
        if old.variable != new.variable:
            continue
        low_then_high = old.range.high is None and new.range.low is None
        high_then_low = old.range.low is None and new.range.high is None
        if low_then_high or high_then_low:
            low, high = (old, new) if low_then_high else (new, old)
            joined = Range(low.range.low, high.range.high)
            found[number] = Constraint(old.variable, joined, old.span)
            return
    found.append(new)
