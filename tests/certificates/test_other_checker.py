"""A checker that was written from the page about the format says the same as the kernel."""

from __future__ import annotations

import random

import pytest

from tests.support.kernel_documents import PROOFS, document
from tests.support.other_checker import proves
from tests.support.spoiled_documents import spoiled
from workbench.models.kernel.decode import DecodeError, decoded
from workbench.models.kernel.document import refusal

POLYHEDRAL = [name for name in PROOFS if name not in ("ellipsoids", "quadratic functions")]


def is_read(content: dict[str, object]) -> bool:
    try:
        decoded("automaton", content["problem"])
        decoded("polyhedral_certificate", content["evidence"])
    except DecodeError:
        return False
    return True


def same_on_spoiled(name: str, count: int, seed: int) -> None:
    good = document(name)
    assert proves(good)
    draw = random.Random(seed)
    seen = set()
    for number in range(count):
        content = spoiled(
            good, draw, (("problem",), ("evidence",), ("problem", "evidence"))[number % 3]
        )
        if is_read(content):
            accepted = refusal(content) is None
            assert proves(content) == accepted, content
            seen.add(accepted)
    assert seen == {True, False}


@pytest.mark.parametrize("name", POLYHEDRAL)
def test_both_say_the_same(name: str) -> None:
    same_on_spoiled(name, 60, 1)


@pytest.mark.slow
@pytest.mark.parametrize("name", POLYHEDRAL)
@pytest.mark.parametrize("seed", [2, 3])
def test_both_say_the_same_of_thousands(name: str, seed: int) -> None:
    same_on_spoiled(name, 3000, seed)
