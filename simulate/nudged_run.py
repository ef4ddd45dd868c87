"""A run from a state beside its own: what becomes of a small error."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random

from models.automaton import Kind
from models.trace import Trace
from simulate.execution import Execution, Given
from simulate.place import Prepared
from simulate.policy import Decisions, Policy
from simulate.stepping.methods import Method


GOLDEN = 0.6180339887498949
"""The multiples of this number, without what is before the point, are all different."""


class NudgedRun(Execution):
    """A run that takes the same decisions, from a start moved by a share of its size."""

    share = 0.0

    def start(
        self, initial: Mapping[str, Given], location: str | None, parameters: Mapping[str, float]
    ) -> None:
        """Start as the run does, a little aside; each variable by another part of the share, for
        what is moved alike may stay on a line that matters."""
        super().start(initial, location, parameters)
        for k, v in enumerate(self.prepared.view.variables):
            if v.kind is Kind.ANALOG and v.type.name == "real" and v.name in self.env:
                value, part = self.env[v.name], 0.5 + GOLDEN * k % 1.0
                self.env[v.name] = value + self.share * part * max(1.0, abs(value))


def nudged_run(
    prepared: Prepared,
    until: float,
    method: Method,
    policy: Policy,
    seed: int,
    share: float,
    max_jumps: int,
) -> Trace:
    """The run of a policy with all its flowing numbers moved at the start; it neither slides nor
    ends at a violation."""
    decisions = Decisions(policy, Random(seed))
    run = NudgedRun(prepared, until, method, decisions, {}, False, max_jumps, True, False)
    run.share = share
    return run.make({}, None, {})
