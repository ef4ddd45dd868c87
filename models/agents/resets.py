"""Assignments: from the language's sequential actions to simultaneous resets, and back.

An action list runs in order, each assignment reading what those before it left
(`x = y; y = x` leaves both at the old y). The automaton's resets happen at once, in primed
form: a plain name is the value before the jump, a primed name the value after it of
something reset earlier in the list. `simultaneous` translates the first into the second,
`compose` joins the resets of two jumps taken one directly after the other, and `after`
gives the weakest precondition of a condition. All of it is exact, by symbolic execution.

Deterministic assignments are substituted into what reads them. A non-deterministic choice
(`x in [l, u]`) is read as `x'`; if x is overwritten before the jump is complete, the choice
lives on under an auxiliary name (`x@chosen1`; no variable can have such a name), also where
nobody reads it, because an empty range means that the jump cannot happen. Auxiliary names are
real: a whole number in [l, u] is floor(c) for an auxiliary c in [-floor(-l), floor(u)].
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import TypeAlias

from workbench.models.automaton import Constraint, Range, primed
from workbench.models.expressions.evaluation import Scalar, evaluate
from workbench.models.expressions.expression import Expression, function, variable
from workbench.models.expressions.operators import Op
from workbench.models.expressions.ranges import bounds, merge_constraints
from workbench.models.expressions.traversal import free_variables, postorder, substitute
from workbench.models.record import record
from workbench.models.source import Diagnostic, ModelError, Span

MAX_TERMS = 1_000_000
"""Repeated substitution can double an expression at every assignment; this many nodes
(counted as a tree) are taken to be a mistake."""

Bound: TypeAlias = Fraction | float | None

Chooser: TypeAlias = Callable[[str, Bound, Bound], Scalar]
"""Picks a value for a name between two bounds, either of which may be missing."""


class ReadsChoiceError(ValueError):
    """A condition was asked to be evaluated before a choice that it depends on is made."""

    def __init__(self, names: tuple[str, ...]):
        super().__init__(f"depends on the value chosen for {', '.join(names)}")
        self.names = names


@record
class _Choice:
    """A non-deterministic value: drawn for `variable`, known to later reads as `token`."""

    token: str
    variable: str
    range: Range
    span: Span | None

    def as_real(self) -> _Choice:
        """The choice of a real number whose floor is the whole number to be chosen."""
        low, high = self.range.low, self.range.high
        least = None if low is None else -function(Op.FLOOR, -low)
        most = None if high is None else function(Op.FLOOR, high)
        return _Choice(self.token, self.variable, Range(least, most), self.span)


class Execution:
    """What a sequence of assignments leaves in each variable, in terms of the values at
    its start and of the choices made on the way; variables in `whole` are chosen as whole numbers.
    `copy` before branching."""

    __slots__ = ("_choices", "_spans", "_values", "_whole")

    def __init__(self, whole: Collection[str] = ()) -> None:
        self._whole = whole
        self._values: dict[str, Expression] = {}
        self._choices: list[_Choice] = []
        self._spans: dict[str, Span | None] = {}

    def copy(self) -> Execution:
        """An independent execution at the same point."""
        other = Execution(self._whole)
        other._values = dict(self._values)
        other._choices = list(self._choices)
        other._spans = dict(self._spans)
        return other

    def run(self, actions: Iterable[Constraint]) -> Execution:
        """Carry out sequential assignments."""
        for action in actions:
            self._assign(action, self._values)
        return self

    def jump(self, resets: Iterable[Constraint]) -> Execution:
        """Carry out resets in primed form, all at once."""
        reading = dict(self._values)
        for reset in resets:
            self._assign(reset, reading)
            reading[primed(reset.variable)] = self._values[reset.variable]
        return self

    def _assign(self, action: Constraint, reading: Mapping[str, Expression]) -> None:
        chosen = _substituted(action.range, reading, action.span)
        value = chosen.exact
        if value is None:
            token = f"{action.variable}\0{len(self._choices)}"
            self._choices.append(_Choice(token, action.variable, chosen, action.span))
            value = variable(primed(token))
        self._values[action.variable] = value
        self._spans[action.variable] = action.span

    def read(self, condition: Expression) -> Expression:
        """The condition at this point as one on the values at the start; exact.

        Raises `ReadsChoiceError` if it depends on a non-deterministic choice.
        """
        _limit_size((condition,), self._values, condition.span)
        found = substitute(condition, self._values)
        tokens = {primed(c.token): c.variable for c in self._choices}
        chosen = sorted({tokens[n] for n in free_variables(found) if n in tokens})
        if chosen:
            raise ReadsChoiceError(tuple(chosen))
        return found

    def resets(self, variables: Collection[str] | None = None) -> tuple[Constraint, ...]:
        """The whole as resets in primed form. Names outside `variables`, where given, are
        auxiliary: they are kept only if a choice needs them."""
        kept = {n: v for n, v in self._values.items() if variables is None or n in variables}
        public = self._public_names(kept)
        rename: dict[str, Expression] = {}
        found: list[Constraint] = []
        for choice in self._choices:
            if choice.token not in public:
                continue
            name = public[choice.token]
            value = variable(primed(name))
            if choice.variable in self._whole and name not in self._whole:
                choice, value = choice.as_real(), function(Op.FLOOR, value)
            rename[primed(choice.token)] = value
            found.append(Constraint(name, choice.range.substitute(rename), choice.span))
        drawn = {c.variable for c in found}
        for name, value in kept.items():
            if name not in drawn and value != variable(name):
                exact = Range.exactly(substitute(value, rename))
                found.append(Constraint(name, exact, self._spans[name]))
        return tuple(found)

    def _public_names(self, kept: Mapping[str, Expression]) -> dict[str, str]:
        """A name for every choice that must appear: the variable that ends with it, or an
        auxiliary one."""
        holders: dict[str, list[str]] = {}
        for name, value in kept.items():
            if value.op is Op.VARIABLE:
                holders.setdefault(value.name, []).append(name)
        ranges = [e for c in self._choices for e in (c.range.low, c.range.high) if e is not None]
        read = free_variables(*kept.values(), *ranges)
        taken = set(self._values) | set(kept) | read
        public: dict[str, str] = {}
        for choice in self._choices:
            whole = choice.variable in self._whole
            holding = [
                name
                for name in holders.get(primed(choice.token), ())
                if name in self._whole or not whole
            ]
            span = choice.as_real().range if whole else choice.range
            if holding:
                public[choice.token] = choice.variable if choice.variable in holding else holding[0]
            elif primed(choice.token) in read or not _surely_inhabited(span):
                count = 1
                while (name := f"{choice.variable}@chosen{count}") in taken:
                    count += 1
                taken.add(name)
                public[choice.token] = name
        return public


def simultaneous(
    actions: Iterable[Constraint],
    variables: Collection[str] | None = None,
    whole: Collection[str] = (),
) -> tuple[Constraint, ...]:
    """Sequential assignments as resets in primed form; exact.

    `variables` are the names that matter afterwards (all, where not given): an assignment to
    another name, a `let`, disappears into what reads it. Those in `whole` are whole numbers.
    """
    return Execution(whole).run(actions).resets(variables)


def compose(
    first: Iterable[Constraint],
    second: Iterable[Constraint],
    variables: Collection[str] | None = None,
) -> tuple[Constraint, ...]:
    """The resets of two jumps, the second taken directly after the first; exact."""
    return Execution().jump(first).jump(second).resets(variables)


def after(condition: Expression, resets: Iterable[Constraint]) -> Expression:
    """The weakest precondition: what must hold before for `condition` to hold after; exact.

    Raises `ReadsChoiceError` if the condition depends on a non-deterministic reset.
    """
    return Execution().jump(resets).read(condition)


def updates(resets: Sequence[Constraint]) -> dict[str, Range]:
    """The new value of every name reset, in order; a primed name remains only where it
    stands for a non-deterministic choice made earlier in the list. Exact."""
    exact: dict[str, Expression] = {}
    found: dict[str, Range] = {}
    for reset in resets:
        new = reset.range.substitute(exact)
        found[reset.variable] = new
        if new.exact is not None:
            exact[primed(reset.variable)] = new.exact
    return found


def merge(
    parts: Sequence[tuple[Constraint, ...]], variables: frozenset[str]
) -> tuple[Constraint, ...]:
    """Several components' resets carried out at once; exact.

    Ranges for one variable are intersected; auxiliary names of different components are
    kept apart; the order respects which primed names are read.
    """
    given = [part for part in parts if part]
    if len(given) <= 1:
        return given[0] if given else ()
    taken = set(variables)
    apart: list[Constraint] = []
    for part in given:
        fresh: dict[str, str] = {}
        for name in dict.fromkeys(r.variable for r in part if r.variable not in variables):
            unused, count = name, 1
            while unused in taken:
                count += 1
                unused = f"{name}_{count}"
            taken.add(unused)
            fresh[name] = unused
        renaming = {primed(old): variable(primed(new)) for old, new in fresh.items()}
        apart.extend(
            Constraint(fresh.get(r.variable, r.variable), r.range.substitute(renaming), r.span)
            for r in part
        )
    return _in_reading_order(merge_constraints(apart))


def _in_reading_order(resets: tuple[Constraint, ...]) -> tuple[Constraint, ...]:
    """The resets so that each reads only primed names reset before it."""
    after_jump = {primed(r.variable) for r in resets}
    waiting = {r: free_variables(*bounds(r)) & after_jump for r in resets}
    found: list[Constraint] = []
    known: set[str] = set()
    while waiting:
        ready = [r for r, reads in waiting.items() if reads <= known]
        if not ready:
            stuck = sorted(r.variable for r in waiting)
            raise ModelError(
                Diagnostic(
                    "circular-resets",
                    f"synchronised edges reset {', '.join(stuck)} in terms of each other",
                    next(iter(waiting)).span,
                    "let one of the components reset these variables alone",
                )
            )
        for reset in ready:
            found.append(reset)
            known.add(primed(reset.variable))
            del waiting[reset]
    return tuple(found)


def apply(
    resets: Iterable[Constraint], values: Mapping[str, Scalar], choose: Chooser
) -> dict[str, Scalar] | None:
    """The valuation after the resets, with `choose` picking in every non-empty range;
    exact as far as `evaluate` is. None if some range is empty, so that the jump cannot
    happen."""
    reading = dict(values)
    changed: dict[str, Scalar] = {}
    for reset in resets:
        exact = reset.range.exact
        if exact is not None:
            new = evaluate(exact, reading)
        else:
            low, high = (
                None if bound is None else _number(evaluate(bound, reading))
                for bound in (reset.range.low, reset.range.high)
            )
            if low is not None and high is not None and low > high:
                return None
            new = choose(reset.variable, low, high)
        changed[reset.variable] = new
        reading[primed(reset.variable)] = new
    return {**values, **{name: value for name, value in changed.items() if name in values}}


def _number(value: Scalar) -> Fraction | float:
    assert isinstance(value, Fraction | float), f"{value!r} is no number"
    return value


def _surely_inhabited(chosen: Range) -> bool:
    """Whether the range is plainly not empty, whatever the variables are."""
    low, high = chosen.low, chosen.high
    if low is None or high is None:
        return True
    return low.is_constant and high.is_constant and low.constant <= high.constant


def _substituted(chosen: Range, reading: Mapping[str, Expression], span: Span | None) -> Range:
    _limit_size(tuple(e for e in (chosen.low, chosen.high) if e is not None), reading, span)
    return chosen.substitute(reading)


def _limit_size(
    roots: tuple[Expression, ...], values: Mapping[str, Expression], span: Span | None
) -> None:
    """Refuse a substitution whose result would be absurdly large, before making it."""
    sizes: dict[int, int] = {}
    replaced = {name: _tree_size(values[name]) for name in free_variables(*roots) & values.keys()}
    for node in postorder(*roots):
        if node.op is Op.VARIABLE and node.name in replaced:
            sizes[id(node)] = replaced[node.name]
        else:
            sizes[id(node)] = 1 + sum(sizes[id(a)] for a in node.args)
    if any(sizes[id(root)] > MAX_TERMS for root in roots):
        raise ModelError(
            Diagnostic(
                "expression-too-large",
                f"these assignments compute a term of more than {MAX_TERMS} operations",
                span,
                "each assignment is substituted into the next: shorten the sequence",
            )
        )


def _tree_size(root: Expression) -> int:
    sizes: dict[int, int] = {}
    for node in postorder(root):
        sizes[id(node)] = 1 + sum(sizes[id(a)] for a in node.args)
    return sizes[id(root)]
