"""Resets in primed form as the language's sequential actions.

Simultaneous resets read values before the jump under their plain names. In a sequence, the
old value of a variable that is overwritten too early is kept with `let`; a choice under an
auxiliary name is drawn in a variable that is given its right value afterwards.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from workbench.models.automaton import Constraint, Variable, primed
from workbench.models.expressions.expression import Expression, variable
from workbench.models.expressions.printing import to_text
from workbench.models.expressions.ranges import bounds
from workbench.models.expressions.traversal import free_variables, substitute
from workbench.models.language.unparse_names import IdentifierChoice


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
