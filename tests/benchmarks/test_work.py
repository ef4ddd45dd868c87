"""How many units of work methods count in a millisecond of one core: prints a table, to see where
work is done that is not counted. Run it with `-s` on an idle machine."""

from __future__ import annotations

import math
import time
from collections import defaultdict

import pytest

from workbench.abstraction.blocking import look
from workbench.abstraction.strategies.strategy import Task
from workbench.abstraction.verification import STRATEGIES, attempt, strategy
from workbench.models.catalogue import entries
from workbench.models.load import load
from workbench.models.work import counting

WORK = 2_000.0
LEAST = 0.05
"""Seconds that are worth a line."""


@pytest.mark.slow
@pytest.mark.timeout(7200)
def test_units_in_a_millisecond() -> None:
    done: dict[str, list[tuple[float, float, str]]] = defaultdict(list)
    for entry in entries():
        automaton = load(entry.name).automaton
        begun = time.process_time()
        with counting() as meter:
            look(automaton)
        done["blocking"].append((meter.spent, time.process_time() - begun, entry.name))
        for claim in automaton.properties:
            for method in STRATEGIES:
                task, chosen = Task(automaton, claim), strategy(method)
                if chosen.suits(task) is None:
                    continue
                begun = time.process_time()
                with counting() as meter:
                    attempt(chosen, task.within(WORK))
                done[method].append((meter.spent, time.process_time() - begun, entry.name))
    for method, found in done.items():
        units, seconds = (math.fsum(one[i] for one in found) for i in (0, 1))
        print(
            f"\n{method:12} {units / seconds / 1000:5.2f} units in a millisecond, {seconds:.0f} s"
        )
        costly = sorted((one for one in found if one[1] > LEAST), key=lambda o: o[0] / o[1])
        for spent, taken, model in costly[:4]:
            print(f"  {spent / taken / 1000:5.2f} in {taken:5.1f} s of {model}")
        assert units > 0.0
