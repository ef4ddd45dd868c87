"""From an expression as written to one over the model's variables, with its type.

Names are looked up, constants and parameters replaced by their values, indices computed,
`forall` and `sum` unrolled, calls checked, and every operation typed on the way. The walk
is iterative; only the nesting of quantifiers recurses, and that is capped.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Protocol, cast

from workbench.models.agents.hierarchy import Declaration
from workbench.models.automaton import BOOL, INT, REAL, TIME, ValueType
from workbench.models.expressions.expression import (
    ZERO,
    Expression,
    add,
    boolean,
    conjunction,
    external,
    lookup,
    symbol,
    variable,
)
from workbench.models.expressions.literals import ExpressionTooLargeError
from workbench.models.expressions.operators import COMPARISONS, FUNCTIONS_OF_ONE, Op
from workbench.models.expressions.pairwise import Pairwise
from workbench.models.expressions.traversal import free_variables, with_arguments
from workbench.models.language.findings import DiagnosticLog, did_you_mean, listed
from workbench.models.language.members import find_member, member_names
from workbench.models.language.scope import CONSTANT_ROLES, Binding, NameRole, Scope
from workbench.models.language.syntax import ExternDeclaration, TypeName
from workbench.models.language.typecheck import (
    has_value,
    is_symbolic,
    require,
    result_type,
    symbol_type,
)
from workbench.models.language.unrolling import (
    FEW,
    Resolve,
    Selected,
    Typed,
    cases,
    indexed,
    slot,
    slotted,
)
from workbench.models.source import Span

POISON: Typed = (ZERO, None)
MAX_QUANTIFIER_DEPTH = 8
MAX_UNROLLED = 200_000
"""How many times the bodies of all `forall` and `sum` together are unrolled."""

_QUANTIFIERS = frozenset({Op.FORALL, Op.SUM})
_BUILT_IN = {str(op): 1 for op in FUNCTIONS_OF_ONE} | {"atan2": 2}
_FUNCTION_NAMES = (*_BUILT_IN, "min", "max")


def value_type(name: TypeName) -> ValueType:
    """The type a type name stands for."""
    return ValueType(name.name, name.values)


@dataclass(slots=True)
class Resolver:
    """Resolves the expressions of one model, collecting findings."""

    findings: DiagnosticLog
    unrolled: int = 0
    quantifier_depth: int = 0
    selected_before: Selected = field(default_factory=dict)

    def resolve(self, root: Expression, scope: Scope) -> Typed:
        """The expression over variables and its type."""
        try:
            return self._resolve(root, scope)
        except ExpressionTooLargeError as problem:
            self.findings.error(
                "constant-too-large", f"this computes {problem}", root.span, "use smaller numbers"
            )
            return POISON

    def _resolve(self, root: Expression, scope: Scope) -> Typed:
        done: dict[int, Typed] = {}
        stack = [root]
        while stack:
            node = stack[-1]
            if id(node) in done:
                stack.pop()
                continue
            children = () if node.op in _QUANTIFIERS else node.args
            pending = [child for child in children if id(child) not in done]
            if pending:
                stack.extend(reversed(pending))
                continue
            stack.pop()
            done[id(node)] = self._node(node, [done[id(child)] for child in children], scope)
        return done[id(root)]

    def _node(self, node: Expression, parts: list[Typed], scope: Scope) -> Typed:
        match node.op:
            case Op.CONSTANT:
                return node, INT if node.constant.denominator == 1 else REAL
            case Op.BOOLEAN:
                return node, BOOL
            case Op.VARIABLE:
                return self._name(node, scope)
            case Op.SELECT:
                return self._selection(node, parts, scope)
            case Op.FORALL | Op.SUM:
                return self._quantifier(node, scope)
            case Op.EXTERNAL:
                return self._call(node, parts, scope)
            case _:
                return self._operation(node, parts)

    def _operation(self, node: Expression, parts: list[Typed]) -> Typed:
        args = tuple(part for part, _ in parts)
        types = tuple(kind for _, kind in parts)
        kind = result_type(self.findings, node, node.args, types)
        if None in types and kind != BOOL:
            return POISON
        result = with_arguments(node, args)
        if (
            node.op in (Op.EQUAL, Op.NOT_EQUAL)
            and types[0] is not None
            and (is_symbolic(types[0]) or types[0] == BOOL)
            and {args[0].op, args[1].op} in ({Op.SYMBOL}, {Op.BOOLEAN})
        ):
            result = boolean((args[0] == args[1]) is (node.op is Op.EQUAL), node.span)
        return (result, kind) if has_value(self.findings, result, node.span) else POISON

    # Names

    def _name(self, node: Expression, scope: Scope) -> Typed:
        name = node.name
        binding = scope.find(name)
        if binding is not None:
            return self._bound(binding, node.span)
        if name == TIME:
            return node, REAL
        if scope.is_symbol(name):
            return symbol(name, node.span), symbol_type(name)
        extent = scope.extent(name)
        if extent is not None:
            low, _ = extent
            self.findings.error(
                "array-without-index",
                f"`{name}` is an array; an element is written `{name}[{low}]`",
                node.span,
            )
        elif scope.function(name) is not None or name in _FUNCTION_NAMES:
            self.findings.error(
                "function-without-arguments",
                f"`{name}` is a function; it needs arguments in parentheses",
                node.span,
            )
        else:
            self.unknown(name, scope, node.span)
        return POISON

    def _bound(self, binding: Binding, span: Span | None) -> Typed:
        return binding.expression.at(span), binding.type

    def unknown(self, name: str, scope: Scope, span: Span | None) -> None:
        """Report a name that means nothing here, with the closest one that does."""
        self.findings.error(
            "unknown-name",
            f"`{name}` is not declared here",
            span,
            did_you_mean(name, scope.visible()) or "declare it, or correct its spelling",
        )

    def _selection(self, node: Expression, indices: list[Typed], scope: Scope) -> Typed:
        found = self.selected(node, indices, scope)
        if found is None:
            return POISON
        if isinstance(found, Binding):
            return self._bound(found, node.span)
        return variable(found.name, node.span), found.type

    def selected(
        self, node: Expression, indices: list[Typed], scope: Scope
    ) -> Binding | Declaration | None:
        """What `vel[2]` or `car[3].x` stands for: a binding of this scope, or a variable of
        a sub-agent, declared under its name here."""
        path = self._path(node, indices)
        if path is None:
            return None
        if len(path) == 1:
            return self._element(node, path[0], scope)
        instance = scope.instance(path[0])
        if instance is None:
            self._unknown_instance(path[0], scope, node.span)
            return None
        found = find_member(instance, tuple(path[1:]))
        if found is None:
            known = member_names(instance, tuple(path[1:]))
            self.findings.error(
                "unknown-name",
                f"`{path[0]}` has no variable `{'.'.join(path[1:])}`",
                node.span,
                did_you_mean(path[-1], known) or (f"it has {listed(known)}" if known else None),
            )
        elif scope.is_alias(path[0]):
            return replace(found, name=".".join(path))
        return found

    def _path(self, node: Expression, indices: list[Typed]) -> list[str] | None:
        """The written path with its indices as numbers: `car[i-1].x` to `car[2]`, `x`."""
        numbers = iter(zip(indices, node.args, strict=True))
        path: list[str] = []
        for name, is_indexed in cast(tuple[tuple[str, bool], ...], node.value):
            if not is_indexed:
                path.append(name)
                continue
            typed, written = next(numbers)
            number = self._integer(typed, written.span or node.span, "an index")
            if number is None:
                return None
            path.append(f"{name}[{number}]")
        return path

    def _element(self, node: Expression, name: str, scope: Scope) -> Binding | None:
        binding = scope.find(name)
        if binding is not None:
            return binding
        base = name.partition("[")[0]
        extent = scope.extent(base)
        if scope.is_unmeasured(base):
            pass
        elif extent is not None:
            self._out_of_range(name, extent, node.span)
        elif scope.find(base) is not None:
            self.findings.error(
                "not-an-array",
                f"`{base}` is a single variable, not an array",
                node.span,
                f"declare it as an array: `{base}[1..3]`, or leave out the index",
            )
        elif scope.group(base) is not None:
            self.findings.error(
                "agent-as-value",
                f"`{base}` are agents; name one of their variables, e.g. `{name}.x`",
                node.span,
            )
        else:
            self.unknown(base, scope, node.span)
        return None

    def _unknown_instance(self, name: str, scope: Scope, span: Span | None) -> None:
        base = name.partition("[")[0]
        group = scope.group(base)
        if scope.is_unmeasured(base):
            return
        if group is not None and name != base:
            self._out_of_range(name, group, span)
            return
        if group is not None:
            hint: str | None = f"there are several: write `{base}[{group[0]}]`"
        else:
            known = {n.partition("[")[0] for s in scope.outwards() for n in s.instances}
            aliases = {n for s in scope.outwards() for n in s.aliases}
            hint = did_you_mean(base, sorted(known | aliases)) or (
                f"the parts here are {listed(sorted(known))}" if known else None
            )
        self.findings.error("unknown-name", f"`{base}` is no part of this agent", span, hint)

    def _out_of_range(self, name: str, extent: tuple[int, int], span: Span | None) -> None:
        low, high = extent
        base = name.partition("[")[0]
        says = f"`{base}` goes from {low} to {high}" if low <= high else f"`{base}` is empty"
        self.findings.error(
            "index-out-of-range",
            f"`{name}` does not exist: {says}",
            span,
            "widen the range where it is declared, or change the index",
        )

    # Calls

    def _call(self, node: Expression, parts: list[Typed], scope: Scope) -> Typed:
        name = node.name
        function = scope.function(name)
        args = tuple(part for part, _ in parts)
        if function is None:
            self._unknown_function(node, scope)
            return POISON
        if isinstance(function, ExternDeclaration):
            wanted = tuple(value_type(kind) for kind in function.arguments)
            result = value_type(function.type)
        else:
            wanted = (REAL,) * function.dimension
            result = REAL
        if len(args) != len(wanted):
            self._wrong_count(name, len(wanted), len(args), node.span)
            return POISON
        for number, ((_, given), want) in enumerate(zip(parts, wanted, strict=True)):
            place = node.args[number].span or node.span
            if not require(self.findings, given, want, place, f"argument {number + 1} of `{name}`"):
                return POISON
        if isinstance(function, ExternDeclaration):
            return external(name, *args, span=node.span), result
        return lookup(function, *args, span=node.span), result

    def _wrong_count(self, name: str, wanted: int, given: int, span: Span | None) -> None:
        plural = "" if wanted == 1 else "s"
        self.findings.error(
            "argument-count", f"`{name}` takes {wanted} argument{plural}, not {given}", span
        )

    def _unknown_function(self, node: Expression, scope: Scope) -> None:
        name = node.name
        if name in _BUILT_IN:
            self._wrong_count(name, _BUILT_IN[name], len(node.args), node.span)
            return
        if scope.find(name) is not None:
            hint: str | None = f"to multiply, write `{name} * (...)`"
        else:
            functions = {f for s in scope.outwards() for f in s.functions}
            hint = did_you_mean(name, sorted(functions | set(_FUNCTION_NAMES))) or (
                f"declare it: `extern real {name}(real);`"
            )
        self.findings.error("unknown-function", f"`{name}` is not a function", node.span, hint)

    # Quantifiers and constants

    def _quantifier(self, node: Expression, scope: Scope) -> Typed:
        low_written, high_written, body = node.args
        low = self.integer(low_written, scope, "the first index")
        high = self.integer(high_written, scope, "the last index")
        is_sum = node.op is Op.SUM
        if low is None or high is None:
            return POISON
        if self.quantifier_depth >= MAX_QUANTIFIER_DEPTH:
            self.findings.error(
                "too-deep", f"more than {MAX_QUANTIFIER_DEPTH} nested `forall` or `sum`", node.span
            )
            return POISON
        self.unrolled += max(0, high - low + 1)
        if self.unrolled > MAX_UNROLLED:
            self.findings.error(
                "too-large",
                f"the `forall` and `sum` of this model have more than {MAX_UNROLLED} cases",
                node.span,
                "use a smaller range",
            )
            return POISON
        if self.quantifier_depth == 0:
            self.selected_before.clear()
        self.quantifier_depth += 1
        parts: list[Typed] = []
        numbers = range(low, high + 1)
        try:
            pairs = all_pairs(self, node, scope, numbers, MAX_UNROLLED - self.unrolled)
            if pairs is not None:
                self.unrolled += 0 if pairs[1] is None else len(numbers) * (len(numbers) + 1) // 2
                return pairs
            for typed in cases(self._resolve, node, scope, numbers, self.selected_before):
                parts.append(typed)
                if typed[1] is None:
                    return POISON
        finally:
            self.quantifier_depth -= 1
        context = f"the body of `{node.op}`"
        wanted = REAL if is_sum else BOOL
        for _, kind in parts:
            if is_sum and kind == BOOL and body.op in COMPARISONS:
                self._sum_of_comparison(node)
                return POISON
            if not require(self.findings, kind, wanted, body.span or node.span, context):
                return POISON
        if is_sum:
            whole = all(kind == INT for _, kind in parts)
            return add(*(part for part, _ in parts), span=node.span), INT if whole else REAL
        return conjunction(*(part for part, _ in parts), span=node.span), BOOL

    def _sum_of_comparison(self, node: Expression) -> None:
        self.findings.error(
            "type-mismatch",
            "this adds up truth values: a `sum` reaches to the end of the comparison",
            node.args[2].span or node.span,
            f"put the sum in parentheses: `(sum {node.value} in ... : ...) <= ...`",
        )

    def integer(self, written: Expression, scope: Scope, what: str) -> int | None:
        """The value of an expression that must be a constant integer."""
        return self._integer(self.resolve(written, scope), written.span, what)

    def _integer(self, typed: Typed, span: Span | None, what: str) -> int | None:
        expression, kind = typed
        if kind is None:
            return None
        if not expression.is_constant:
            names = sorted(free_variables(expression))
            because = f"; {listed(names)} can change" if names else ""
            self.findings.error(
                "not-constant",
                f"{what} must be a constant integer{because}",
                span,
                "use a constant, a parameter, or the index of a replication",
            )
            return None
        if expression.constant.denominator != 1:
            self.findings.error("type-mismatch", f"{what} must be an integer", span)
            return None
        return expression.constant.numerator

    def constant_of(
        self, written: Expression, scope: Scope, wanted: ValueType, what: str
    ) -> Expression | None:
        """The value of an expression of constants (uncertain ones included)."""
        expression, kind = self.resolve(written, scope)
        if kind is None or not require(self.findings, kind, wanted, written.span, what):
            return None
        for name in sorted(free_variables(expression)):
            binding = scope.find(name)
            if binding is None or binding.role not in CONSTANT_ROLES:
                self.findings.error(
                    "not-constant",
                    f"{what} must be a constant, but `{name}` can change",
                    written.span,
                    "parameters and constants are fixed for the whole run; to share a variable,"
                    " declare it in both and rename it in brackets",
                )
                return None
        return expression


# `forall i : forall j in i + 1.. : p`: what is said of all pairs, kept as one pattern.

WRONG: Typed = (ZERO, None)
"""What has no meaning, which has been reported."""


class Resolving(Protocol):
    """Gives expressions their meaning."""

    selected_before: Selected

    def resolve(self, root: Expression, scope: Scope) -> Typed:
        """The expression over variables and its type."""

    def integer(self, written: Expression, scope: Scope, what: str) -> int | None:
        """The value of an expression that must be a constant integer."""


def all_pairs(
    resolver: Resolving, node: Expression, scope: Scope, numbers: range, limit: int
) -> Typed | None:
    """`forall i in a..b : forall j in i + 1..c : p` with b = c or b = c - 1 as one pattern, for
    at most `limit` pairs; None if it is not of this form or has to be unrolled."""
    index, inner = str(node.value), node.args[2]
    if node.op is not Op.FORALL or inner.op is not Op.FORALL or len(numbers) <= FEW:
        return None
    if inner.args[0] != add(variable(index), 1):
        return None
    first, last = indexed(scope, index, numbers[0]), indexed(scope, index, numbers[-1])
    ends = [resolver.integer(inner.args[1], at, "the last index") for at in (first, last)]
    high = ends[0]
    if high is None or ends[1] is None:
        return WRONG
    if ends[1] != high or high - numbers[-1] not in (0, 1):
        return None
    every = range(numbers[0], high + 1)
    if len(every) * (len(every) - 1) // 2 > limit:
        return None
    second = indexed(first, str(inner.value), numbers[1])
    if resolver.resolve(inner.args[2], second)[1] is None:
        return WRONG
    return _pairwise(resolver.resolve, node, scope, every, resolver.selected_before)


def _pairwise(
    resolve: Resolve, quantifier: Expression, scope: Scope, numbers: range, known: Selected
) -> Typed | None:
    """`forall i : forall j : p` over all pairs i < j of these numbers, kept as one pattern; None
    where it must be unrolled: an index does more than select, what i selects at a number is
    not what j selects there, or the parts do not differ in names alone.

    The body means something for the first pair: what is wrong with it is already reported.
    """
    inner = quantifier.args[2]
    indices, body = (str(quantifier.value), str(inner.value)), inner.args[2]
    ones = slotted(body, indices[0]) if indices[0] != indices[1] else None
    others = slotted(ones.body, indices[1], len(ones.selections)) if ones is not None else None
    if ones is None or others is None or not (ones.cached and others.cached):
        return None
    partners: list[list[Typed]] = []
    for number in numbers:
        mine, theirs = (
            part.selected(resolve, indexed(scope, index, number), known, number)
            for part, index in zip((ones, others), indices, strict=True)
        )
        if mine != theirs or any(e.op is not Op.VARIABLE for e, _ in mine):
            return None
        partners.append(mine)
    kinds = [kind for _, kind in partners[0]]
    if None in kinds or any([kind for _, kind in p] != kinds for p in partners):
        return None
    count = len(kinds)
    slots = [slot(i) for i in range(2 * count)]
    bound = {
        name: Binding(variable(name), kind, NameRole.VARIABLE)
        for name, kind in zip(slots, kinds + kinds, strict=True)
    }
    pattern, kind = resolve(others.body, Scope(scope, bound))
    mentioned = free_variables(pattern)
    names = [e.name for partner in partners for e, _ in partner]
    if kind != BOOL or not mentioned.issuperset(slots):
        return None
    if len(set(names)) < len(names) or not mentioned.isdisjoint(names):
        return None
    return Pairwise(
        pattern,
        (tuple(slots[:count]), tuple(slots[count:])),
        tuple(tuple(e.name for e, _ in partner) for partner in partners),
        quantifier.span,
    ), BOOL
