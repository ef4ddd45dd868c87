"""What holds of every two alike parts: one pattern, unrolled only for those who look.

`forall i in 1..n - 1 : forall j in i + 1..n : p` says p of 124,750 pairs of five hundred agents.
A `Pairwise` is that conjunction: equal to it, with the same arguments, which are made when
they are first looked at. Who can do with the pattern does not look.
"""

from __future__ import annotations

from itertools import combinations

from workbench.models.expressions.expression import Expression, conjunction, variable
from workbench.models.expressions.operators import Op
from workbench.models.source import Span


class Pairwise(Expression):
    """The conjunction of a pattern over all unordered pairs of partners, in their order.

    `slots` are the variables of the pattern that stand for those of the one partner and of
    the other; `partners` are the variables of each, in the order of the slots. All of them
    differ from each other and from what else the pattern mentions, so that each part is the
    pattern with names changed one to one. There are at least three partners, and the pattern
    mentions all slots.
    """

    __slots__ = ("partners", "pattern", "slots")

    pattern: Expression
    slots: tuple[tuple[str, ...], tuple[str, ...]]
    partners: tuple[tuple[str, ...], ...]

    def __init__(
        self,
        pattern: Expression,
        slots: tuple[tuple[str, ...], tuple[str, ...]],
        partners: tuple[tuple[str, ...], ...],
        span: Span | None = None,
    ):
        given = {
            "op": Op.AND,
            "value": None,
            "span": span,
            "depth": pattern.depth + (pattern.op is not Op.AND),
            "pattern": pattern,
            "slots": slots,
            "partners": partners,
        }
        for name, value in given.items():
            object.__setattr__(self, name, value)

    def __getattr__(self, name: str) -> object:
        """What is not there yet: the arguments, and the hash that needs them."""
        if name not in ("args", "_hash"):
            raise AttributeError(name)
        whole = conjunction(*self._parts(), span=self.span)
        object.__setattr__(self, "args", whole.args)
        object.__setattr__(self, "_hash", hash(whole))
        return object.__getattribute__(self, name)

    def _parts(self) -> list[Expression]:
        from workbench.models.expressions.pattern import Pattern

        pattern = Pattern([self.pattern], self.slots[0] + self.slots[1])
        named = [[variable(name) for name in partner] for partner in self.partners]
        pairs = combinations(named, 2)
        return [pattern.filled([*one, *other])(self.pattern) for one, other in pairs]

    def names(self) -> frozenset[str]:
        """The names of all variables that occur."""
        from workbench.models.expressions.traversal import free_variables

        fixed = free_variables(self.pattern).difference(*self.slots)
        return fixed.union(*self.partners)
