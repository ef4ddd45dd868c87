"""The decoder takes values of the kernel's types, and nothing that is not one."""

from __future__ import annotations

import copy
import json
import random
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.kernel_documents import DOCUMENTS, document
from tests.support.kernel_values import Kind, plain, random_value
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


@pytest.mark.parametrize("name", DOCUMENTS)
def test_what_is_decoded_is_what_was_said(name: str) -> None:
    found = document(name)
    for kind, part in zip(TYPES[found["checker"]][1:], ("problem", "evidence"), strict=True):
        assert plain(kind, decoded(kind, found[part])) == found[part]
    assert refusal(json.loads(json.dumps(found))) is None


@given(st.lists(NUMBERS), st.lists(NUMBERS), st.booleans())
def test_rows(state: list[str], inputs: list[str], strict: bool) -> None:
    data = [["-7/3", state, [], inputs], strict]
    assert plain("row", decoded("row", data)) == data


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
        assert plain(kind, decoded(kind, certificate)) == certificate


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
    found = copy.deepcopy(document(draw.choice(DOCUMENTS)))
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


# Data that somebody made up


WHOLE = re.compile(r"(0|-?[1-9][0-9]*)\Z", re.ASCII)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-3, 3)
    | st.floats()
    | st.text(max_size=4)
    | st.sampled_from(["0", "-1", "1/2", "-3/4", "1/0", "Split", "InCell", "State", "Below"]),
    lambda parts: st.lists(parts, max_size=4) | st.dictionaries(st.text(max_size=3), parts),
    max_leaves=12,
)


def is_of(kind: Kind, data: Any) -> bool:
    """Whether plain data are of a type: said anew, as the opposite of what the decoder does."""
    if kind == "boolean":
        return data is True or data is False
    if kind in ("integer", "natural", "positive", "rational"):
        if type(data) is not str:
            return False
        above, line, below = data.partition("/")
        if line and (kind != "rational" or not WHOLE.match(below) or int(below) <= 0):
            return False
        least = {"natural": 0, "positive": 1}.get(kind)
        return bool(WHOLE.match(above)) and (least is None or int(above) >= least)
    if type(data) is not list:
        return False
    if isinstance(kind, str):
        made = TYPES[kind][1:]
        if len(made) > 1:
            if not data or type(data[0]) is not str:
                return False
            made, data = [one for one in made if one[0] == data[0]], data[1:]
        fields = made[0][1:] if made else []
        parts = zip(fields, data, strict=False)
        return bool(made) and len(fields) == len(data) and all(is_of(k, d) for (_, k), d in parts)
    if kind[0] == "pair":
        return len(data) == 2 and all(map(is_of, kind[1:], data))
    return (kind[0] == "list" or len(data) < 2) and all(is_of(kind[1], item) for item in data)


@st.composite
def nearly_typed(draw: st.DrawFn) -> tuple[str, Any]:
    """A value of some type, in some places of which may be anything."""
    kind = draw(st.sampled_from(sorted(k for k, made in TYPES.items() if made[0] == "one of")))
    data = [random_value(kind, random.Random(draw(st.integers(0, 10_000))))]
    for _ in range(draw(st.integers(0, 2))):
        holder, at = draw(st.sampled_from(list(places(data))))
        holder[at] = draw(JSON)
    return kind, data[0]


@given(nearly_typed())
def test_all_that_is_of_its_type_is_taken_and_nothing_else(given: tuple[str, Any]) -> None:
    kind, data = given
    if is_of(kind, data):
        value = decoded(kind, data)
        assert decoded(kind, plain(kind, value)) == value
    else:
        with pytest.raises(DecodeError, match=f"^{kind}"):
            decoded(kind, data)
