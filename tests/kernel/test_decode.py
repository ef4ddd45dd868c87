"""The decoder takes values of the kernel's types, and nothing that is not one."""

from __future__ import annotations

import copy
import json
import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.polyhedral_proofs import PROOFS, document
from tests.support.spoiled_documents import places
from workbench.models.kernel.decode import (
    MAX_DEPTH,
    MAX_DIGITS,
    MAX_NATURAL,
    TYPES,
    DecodeError,
    decoded,
)
from workbench.models.kernel.document import refusal

ROW = ["1/2", ["1", "-3"], [], ["0"]], True
NUMBERS = st.fractions(max_denominator=50).map(str)


def encoded(kind: Any, value: Any) -> Any:
    """Plain data again: an independent way back."""
    if kind == "rational":
        above, below = value
        return str(above) if below == 1 else f"{above}/{below}"
    if kind in ("natural", "integer", "positive"):
        return str(value)
    if kind == "boolean":
        return value
    if isinstance(kind, list) and kind[0] == "list":
        found = []
        while value is not None:
            head, value = value
            found.append(encoded(kind[1], head))
        return found
    if isinstance(kind, list) and kind[0] == "option":
        return [] if value is None else [encoded(kind[1], value.value)]
    if isinstance(kind, list):
        return [encoded(kind[1], value[0]), encoded(kind[2], value[1])]
    constructors = TYPES[kind][1:]
    chosen = next(c for c in constructors if c[0] == type(value).__name__)
    fields = [encoded(k, v) for (_, k), v in zip(chosen[1:], value, strict=True)]
    return fields if len(constructors) == 1 else [chosen[0], *fields]


@pytest.mark.parametrize("name", PROOFS)
def test_what_is_decoded_is_what_was_said(name: str) -> None:
    found = document(name)
    for kind, part in (("automaton", "problem"), ("polyhedral_certificate", "evidence")):
        assert encoded(kind, decoded(kind, found[part])) == found[part]
    assert refusal(json.loads(json.dumps(found))) is None


@given(st.lists(NUMBERS), st.lists(NUMBERS), st.booleans())
def test_rows(state: list[str], inputs: list[str], strict: bool) -> None:
    data = [["-7/3", state, [], inputs], strict]
    assert encoded("row", decoded("row", data)) == data


WRONG_NUMBERS = [
    1, 1.0, 0, None, True, [], "", " 1", "1 ", "+1", "01", "-0", "1/0", "1/-2", "-1/-2", "1/02",
    "1.5", "1e3", "1_000", "inf", "nan", "\u0661", "\uff11", "1/2/3", "/2", "1/", "0x10", "9" * 5000,
    "1\n", {"n": 1},
]  # fmt: skip


@pytest.mark.parametrize("number", WRONG_NUMBERS, ids=lambda n: repr(n)[:20])
def test_a_number_that_is_none_is_refused_with_its_place(number: Any) -> None:
    with pytest.raises(DecodeError, match=r"^row\.row_form\.state_part\[1\]: expected"):
        decoded("row", [["1/2", ["1", number], [], ["0"]], True])


@pytest.mark.parametrize("number", [1, "-1", "1/2", "", "01", "\u0661", False, None, "9" * 5000])
def test_a_natural_number_that_is_none_is_refused(number: Any) -> None:
    with pytest.raises(DecodeError, match=r"^edge\.target: expected"):
        decoded("edge", [number, []])


def test_natural_numbers_are_not_beyond_what_lists_may_be_long() -> None:
    assert decoded("edge", [str(MAX_NATURAL), []]).target == MAX_NATURAL
    with pytest.raises(DecodeError, match=r"^edge\.target: expected a number of at most"):
        decoded("edge", [str(MAX_NATURAL + 1), []])


def test_what_may_be_missing() -> None:
    for evidences in ([], [[]], [[[[], [], [], []]], []]):
        certificate = [[], evidences]
        kind = "quadratic_certificate"
        assert encoded(kind, decoded(kind, certificate)) == certificate


@pytest.mark.parametrize("evidence", [None, "", {}, 0, False, (), [[[], [], [], []], []], [[], []]])
def test_what_is_neither_there_nor_missing_is_refused(evidence: Any) -> None:
    with pytest.raises(
        DecodeError, match=r"function_evidences\[0\]: expected a list of none or one"
    ):
        decoded("quadratic_certificate", [[], [evidence]])


@pytest.mark.parametrize("strict", [0, 1, "true", None, []])
def test_a_truth_value_that_is_none_is_refused(strict: Any) -> None:
    with pytest.raises(DecodeError, match=r"^row\.strict: expected true or false"):
        decoded("row", [["0", [], [], []], strict])


@pytest.mark.parametrize(
    "row",
    [None, {}, (), "row", [], [ROW[0]], [*ROW, 1], {"row_form": ROW[0], "strict": True}, ROW],
    ids=repr,
)
def test_a_record_that_is_none_is_refused(row: Any) -> None:
    with pytest.raises(DecodeError, match=r"^row: expected a list of Row and its fields"):
        decoded("row", row)


@pytest.mark.parametrize(
    "cover", [[], ["Nothing", []], [[]], ["Impossible"], ["Impossible", [], []], ["impossible", []]]
)
def test_a_constructor_that_is_none_is_refused(cover: Any) -> None:
    with pytest.raises(DecodeError, match=r"^cover: expected"):
        decoded("cover", cover)


def test_splits_are_not_nested_without_end() -> None:
    cover: Any = ["Impossible", []]
    for _ in range(MAX_DEPTH):
        cover = ["Split", ["0", []], False, cover, ["Impossible", []]]
    decoded("cover", cover)
    with pytest.raises(DecodeError, match=r"inside each other"):
        decoded("cover", ["Split", ["0", []], False, ["Impossible", []], cover])


def test_the_kernel_can_follow_the_deepest_splits() -> None:
    """The kernel recurses on the first case of a split, and goes round a loop for the second."""
    for left in (True, False):
        found = copy.deepcopy(document("inputs"))
        starts: Any = found["evidence"][0]  # type: ignore[index]
        leaf = starts[0][0]
        for _ in range(MAX_DEPTH):
            cases = (starts[0][0], leaf) if left else (leaf, starts[0][0])
            starts[0][0] = ["Split", ["0", ["1"]], False, *cases]
        assert refusal(found) is None


def test_the_longest_numbers() -> None:
    digits = "9" * (MAX_DIGITS - 2)
    assert decoded("row", [[f"{digits}/7", [], [], []], False]).row_form.constant[0] == int(digits)


@pytest.mark.parametrize("seed", range(40))
def test_one_value_of_another_type_is_refused_wherever_it_is(seed: int) -> None:
    draw = random.Random(seed)
    found = copy.deepcopy(document(draw.choice(list(PROOFS))))
    holder, at = draw.choice(list(places(found[draw.choice(("problem", "evidence"))])))
    holder[at] = draw.choice([None, 1.5, {}, "one", float("nan"), 3])
    why = refusal(found)
    assert why is not None and "expected" in why


@pytest.mark.parametrize(
    "change",
    [
        {"schema": "charon-workbench/kernel/2"},
        {"checker": "check_all"},
        {"checker": "__class__"},
        {"checker": ["check_polyhedral"]},
        {"more": 1},
        {"problem": None},
    ],
    ids=repr,
)
def test_a_document_of_another_kind_is_refused(change: dict[str, Any]) -> None:
    assert refusal({**document("inputs"), **change}) is not None


def test_no_document_at_all_is_refused() -> None:
    assert refusal([]) is not None and refusal({}) is not None and refusal(None) is not None
