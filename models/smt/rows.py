"""Whether linear rows have a common real solution: exact, incremental, strict rows strict.

Part of the door to z3. A `RowSession` translates every row once; a `RowSolver` keeps the rows
that its questions share and stays warm: further rows are pushed, checked and popped.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

from workbench.models.linear import Row
from workbench.models.smt.solver import Limits, ask

DEFAULT = Limits(resources=2_000_000, milliseconds=60_000)

_Key: TypeAlias = tuple[bool, int, tuple[tuple[str, int], ...]]


class RowSession:
    """The z3 atoms of rows, each translated once, and how many questions were asked."""

    def __init__(self, limits: Limits = DEFAULT):
        self.calls = 0
        self._limits = limits
        self._atoms: dict[_Key, Any] = {}
        self._variables: dict[str, Any] = {}

    def solver(self, shared: Iterable[Row]) -> RowSolver:
        """A solver whose questions all include the shared rows."""
        import z3

        solver = z3.SimpleSolver()
        solver.set("rlimit", self._limits.resources)
        solver.set("timeout", self._limits.milliseconds)
        solver.add(*(self.atom(row) for row in shared))
        return RowSolver(self, solver)

    def atom(self, row: Row) -> Any:
        """The row in integers: denominators are positive and do not change it."""
        import z3

        _, coefficients, constant = row.form.integral
        key = row.strict, constant, tuple(sorted(coefficients.items()))
        if key not in self._atoms:
            terms = [a * self._variable(name) for name, a in key[2]]
            total = z3.Sum([*terms, z3.RealVal(constant)])
            self._atoms[key] = total < 0 if row.strict else total <= 0
        return self._atoms[key]

    def _variable(self, name: str) -> Any:
        import z3

        if name not in self._variables:
            self._variables[name] = z3.Real(name)
        return self._variables[name]


class RowSolver:
    """Questions that share rows."""

    def __init__(self, session: RowSession, solver: Any):
        self._session = session
        self._solver = solver

    def satisfiable(self, rows: Iterable[Row] = ()) -> bool | None:
        """Whether the shared rows and these have a common solution; None if the limits ended
        the search."""
        import z3

        self._session.calls += 1
        self._solver.push()
        self._solver.add(*(self._session.atom(row) for row in rows))
        outcome = ask(self._solver)
        self._solver.pop()
        return None if outcome == z3.unknown else bool(outcome == z3.sat)
