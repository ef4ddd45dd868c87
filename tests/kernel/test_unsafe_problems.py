"""Problems made unsafe, or stuck, with as many cases as before, so that the evidence is of the right
shape; however it is spoiled at random, the kernel accepts none of it."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from tests.support.kernel_documents import DOCUMENTS, PROOFS, document
from tests.support.spoiled_documents import spoiled
from workbench.models.kernel.document import refusal

Problem = list[Any]
SWAYING = ["0", [], [], ["1"]]
"""A rate that may be anything."""
IMPOSSIBLE = [["1", [], [], []], False]
"""The row 1 <= 0."""


def first_location(problem: Problem) -> Any:
    """Where runs start. Bad states are there in each of the problems that are safe."""
    locations, starts = problem
    return locations[int(starts[0][0])]


def starts_are_bad(problem: Problem) -> None:
    first_location(problem)[3][0].clear()


def starts_anywhere(problem: Problem) -> None:
    problem[1][0][1][0].clear()


def jumps_anywhere(problem: Problem) -> None:
    first_location(problem)[2][0][1][0].clear()


def flows_anywhere(problem: Problem) -> None:
    invariant, flows, *_ = first_location(problem)
    invariant[0].clear()
    flows[0][0][0] = SWAYING
    flows[0][0][1:] = [["0", [], [], ["0", "1"]]] * (len(flows[0][0]) - 1)
    flows[0][1].clear()


UNSAFE: Mapping[str, Callable[[Problem], None]] = {
    f.__name__: f for f in (starts_are_bad, starts_anywhere, jumps_anywhere, flows_anywhere)
}


def narrow(problem: Problem) -> Any:
    """What runs can certainly do."""
    return problem[-1]


def nothing_happens(problem: Problem) -> None:
    for invariant, _, edges, _ in narrow(problem)[0]:
        for rows in (*invariant, *(rows for edge in edges for rows in edge[1])):
            rows.append(IMPOSSIBLE)


def nothing_starts(problem: Problem) -> None:
    for _, cases in narrow(problem)[1]:
        for rows in cases:
            rows.append(IMPOSSIBLE)


def starts_outside(problem: Problem) -> None:
    """Runs come where nothing is allowed."""
    *_, wide, _ = problem
    for _, cases in wide[1]:
        for rows in cases:
            rows.clear()


STUCK: Mapping[str, Callable[[Problem], None]] = {
    f.__name__: f for f in (nothing_happens, nothing_starts, starts_outside)
}


CASES = [
    *(
        (name, change)
        for name, (build, _) in PROOFS.items()
        for change in UNSAFE
        if build().edges or change != "jumps_anywhere"
    ),
    *((name, change) for name in DOCUMENTS if name not in PROOFS for change in STUCK),
]


def none_is_accepted(name: str, change: str, count: int, seed: int) -> None:
    broken = copy.deepcopy(document(name))
    (UNSAFE | STUCK)[change](broken["problem"])
    assert refusal(broken) is not None
    draw = random.Random(seed)
    for _ in range(count):
        found = spoiled(broken, draw, ("evidence",))
        assert refusal(found) is not None, found


@pytest.mark.parametrize(("name", "change"), CASES)
def test_no_evidence_for_it_is_accepted(name: str, change: str) -> None:
    none_is_accepted(name, change, 60, 1)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [2, 3])
@pytest.mark.parametrize(("name", "change"), CASES)
def test_no_evidence_for_it_is_accepted_among_thousands(name: str, change: str, seed: int) -> None:
    none_is_accepted(name, change, 2000, seed)
