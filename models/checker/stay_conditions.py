"""What a location's conditions say about the moments of a stay: its jumps, bad states, end.

No time passes while the guard of an urgent edge holds. So in a stay that has lasted for some
time no such guard held before, and what follows from that helps to prove the obligations of a
flowpipe (`models.checker.flowpipe`).

Theorem. At every moment t > 0 of a stay the state satisfies one of the cases of
`LinearProblem.idle`. Proof. Time passed up to t, so at (almost) every moment before t no urgent
edge was enabled, and one of the finitely many cases held. Some case held at moments arbitrarily
close to t. Its rows are not strict, and their forms are continuous in time during a stay, so
they hold at t as well.

At the moment of entry nothing like that is known: an urgent edge may be enabled there, and the
stay then has no duration. Every moment of a stay is therefore one of two kinds: the entry, where
the state lies in the entry set and elapsed = 0, or a later one, where the rows of a case of
`idle` hold besides those of the step. Obligations about jumps and bad states are made for both
kinds; `idle` may be a union that is not convex, since each of its cases makes an obligation of
its own. Where no edge is urgent, or nothing is known of the guards, one obligation for all
moments will do.

Where a derivative would have to lie in an empty range no time passes: `idle` has no cases then,
and only the entry counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from workbench.models.automaton import TIME, primed
from workbench.models.linear import Alternatives, Form, Row, Rows
from workbench.models.lowering.alternatives import both
from workbench.models.lowering.problem import Jump, LinearProblem

ELAPSED = "elapsed()"
"""The time since the entry, in rows (no variable has this name)."""


@dataclass(frozen=True)
class JumpRows:
    """One case of an edge: what holds before and after it; whether this is about the entry."""

    name: str
    target: str
    rows: Rows
    at_entry: bool = False


@dataclass(frozen=True)
class BadRows:
    """One case of the bad states; whether this is about the entry."""

    rows: Rows
    at_entry: bool = False


@dataclass(frozen=True)
class Conditions:
    """Jumps and bad states, those at the entry last, and what holds while a stay goes on."""

    jumps: tuple[JumpRows, ...]
    bad: tuple[BadRows, ...]
    staying: Alternatives

    def jumps_on(self, begin: Fraction) -> tuple[JumpRows, ...]:
        """The jumps on a step that begins after that time."""
        return tuple(jump for jump in self.jumps if not begin or not jump.at_entry)

    def bad_on(self, begin: Fraction) -> tuple[BadRows, ...]:
        """The bad states on a step that begins after that time."""
        return tuple(bad for bad in self.bad if not begin or not bad.at_entry)


def conditions_in(problem: LinearProblem, location: str) -> Conditions:
    """The conditions of a location."""
    jumps = tuple(case for jump in problem.jumps(location) for case in _cases(jump))
    bad, invariant = problem.bad(location), problem.invariant(location)
    idle = problem.idle(location)
    later = tuple(
        JumpRows(_numbered(jump.name, number, idle), jump.target, jump.rows + rows)
        for jump in jumps
        for number, rows in enumerate(idle)
    )
    bad_later = tuple(map(BadRows, both(bad, idle)))
    if idle == ((),):
        return Conditions(later, bad_later, invariant)
    return Conditions(
        later + tuple(replace(jump, at_entry=True) for jump in jumps),
        bad_later + tuple(BadRows(rows, at_entry=True) for rows in bad),
        both(invariant, idle),
    )


def _numbered(name: str, number: int, idle: Alternatives) -> str:
    return name if len(idle) == 1 else f"{name}, idle case {number + 1}"


def _cases(jump: Jump) -> Iterator[JumpRows]:
    for number, rows in enumerate(jump.cases):
        name = f"{jump.name}, case {number + 1}"
        yield JumpRows(name, jump.target, rows + same_time())


def before(horizon: Fraction | None, *, strict: bool) -> Rows:
    """time <= horizon, or < horizon."""
    return () if horizon is None else (Row(Form({TIME: Fraction(1)}, -horizon), strict),)


def start_time() -> Rows:
    """Runs start at time 0."""
    after = Form({primed(TIME): Fraction(1)})
    return (Row(after), Row(after.scaled(Fraction(-1))))


def same_time() -> Rows:
    """Jumps take no time."""
    difference = Form({primed(TIME): Fraction(1), TIME: Fraction(-1)})
    return (Row(difference), Row(difference.scaled(Fraction(-1))))
