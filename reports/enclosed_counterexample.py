"""Proofs of counterexamples for reports: who reads one later cannot ask for the proof.

A search encloses only what takes it no time (see `simulate.search.counterexample`); a report is
made once, so its counterexamples are enclosed wherever that takes seconds.
"""

from __future__ import annotations

import math
import time
from dataclasses import replace

from workbench.models.automaton import Automaton, Property
from workbench.models.interruption import CheckInterruptedError, interruptible
from workbench.models.verdict import Falsified, Verdict
from workbench.simulate.recipe import Recipe, read_recorded
from workbench.simulate.search.counterexample import enclosed_at_length

MOST_JUMPS, MOST_VARIABLES = 24, 24
"""A run within these limits is enclosed in some seconds."""


def recipe_of(verdict: Falsified) -> Recipe | None:
    """What the counterexample is made from; None where an exact method gives a trace only."""
    return read_recorded(verdict.recording)[1] if verdict.recording else None


def with_enclosure(
    automaton: Automaton, claim: Property, verdict: Verdict, latest: float = math.inf
) -> Verdict:
    """The verdict, with a rigorous confirmation of its counterexample if there is none yet and
    one can be computed, up to a moment (`time.monotonic`)."""
    if not isinstance(verdict, Falsified) or any(c.rigorous for c in verdict.confirmations):
        return verdict
    recipe, trace = recipe_of(verdict), verdict.trace
    if recipe is None or len(trace.jumps) > MOST_JUMPS or len(trace.variables) > MOST_VARIABLES:
        return verdict
    try:
        with interruptible(lambda: time.monotonic() > latest):
            proved = enclosed_at_length(automaton, claim, recipe, trace)
    except CheckInterruptedError:
        return verdict
    if proved is None:
        return verdict
    return replace(verdict, confirmations=(*verdict.confirmations, proved))
