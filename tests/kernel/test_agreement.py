"""Generated Python, generated JavaScript and Coq itself say the same.

They are asked about documents of every kind, spoiled in a few places or not, and about random calls
of the functions that the checkers are made of. Everything is asked in a few large batches.
"""

from __future__ import annotations

import json
import random
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.support.kernel_documents import DOCUMENTS, document
from tests.support.kernel_values import Kind, plain, random_value, value_of
from tests.support.spoiled_documents import spoiled
from workbench.models.kernel import generated
from workbench.models.kernel.coq_text import literal
from workbench.models.kernel.decode import TYPES, DecodeError, decoded
from workbench.models.kernel.document import CHECKERS, refusal
from workbench.models.kernel.translation import regenerate

ROWS, NUMBERS, FORMS = ["list", "row"], ["list", "rational"], ["list", "form"]
FUNCTION, FUNCTIONS = ["list", "monomial"], ["list", ["list", "monomial"]]
TERMS = ["list", ["pair", ["pair", "rational", "form"], "form"]]
BOX = ["list", ["option", TYPES["goal_evidence"][2][1][1][1][1]]]

CALLS: Mapping[str, tuple[tuple[Kind, ...], Kind]] = {
    "form_sum": (("form", "form"), "form"),
    "combination": ((NUMBERS, FORMS), "form"),
    "along": ((NUMBERS, FORMS), "form"),
    "refutes": ((ROWS, NUMBERS), "boolean"),
    "implies": ((ROWS, "form", NUMBERS), "boolean"),
    "uses_strict": ((NUMBERS, ROWS), "boolean"),
    "signed": ((["list", "boolean"], ["list", "affine"]), ["list", "affine"]),
    "rate": ((FUNCTION, FORMS), TERMS),
    "surplus": ((ROWS, "witness"), TERMS),
    "weighted_sum": ((NUMBERS, FUNCTIONS), TERMS),
    "vanishes": ((TERMS,), "boolean"),
    "fix_variable": (("variable", "rational", "form"), "form"),
    "is_convex": ((FUNCTION,), "boolean"),
    "constant_value": ((FUNCTION,), "rational"),
    "quadratic_fixed": (("rational", FUNCTION), FUNCTION),
    "below_at_corners": ((BOX, FUNCTION), "boolean"),
    "same_vector": ((NUMBERS, NUMBERS), "boolean"),
    "check_goal": ((FUNCTIONS, ["option", FUNCTIONS], ROWS, "goal_evidence"), "boolean"),
    "check_rate": ((FUNCTIONS, FUNCTION, ROWS, FORMS, "rate_evidence"), "boolean"),
    "filled": ((FORMS, FORMS, "form"), "form"),
    "with_given": ((["list", "natural"], FORMS), FORMS),
    "value_at": (("form", NUMBERS, NUMBERS, NUMBERS), "rational"),
    "check_soon": ((ROWS, ROWS, FORMS, "boolean", "form", "soon"), "boolean"),
    "whole_function": ((["list", "natural"], "affine"), "boolean"),
    "check_way": (("system", "natural", "location", ROWS, "way"), "boolean"),
    **{name: (tuple(TYPES[name][1:]), "boolean") for name in CHECKERS},
}
"""Functions of the kernel's, with the types of their arguments and of their values."""
FILES = ["Semantics", "Farkas", *regenerate.CHECKERS.values()]
INNER = [name for name in CALLS if name not in CHECKERS]


class Call(NamedTuple):
    name: str
    given: Sequence[Any]


# Who is asked


def by_python(call: Call) -> Any:
    kinds, result = CALLS[call.name]
    values = [value_of(kind, raw) for kind, raw in zip(kinds, call.given, strict=True)]
    return plain(result, getattr(generated, call.name)(*values))


def by_javascript(calls: Sequence[Call], folder: Path) -> list[Any]:
    if shutil.which("node") is None:
        pytest.skip("no node: the kernel in JavaScript is not run")
    kernel = regenerate.PLACES["javascript"].read_text(encoding="utf-8")
    driver = Path(__file__).with_name("plain_calls.js").read_text(encoding="utf-8")
    (folder / "calls.js").write_text(
        f"{kernel}\nconst CALLED = {{ {', '.join(CALLS)} }};\n{driver}"
    )
    lines = [json.dumps([c.name, *CALLS[c.name], list(c.given)]) for c in calls]
    done = subprocess.run(
        ["node", "calls.js"], cwd=folder, input="\n".join(lines), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def coq_agrees(calls: Sequence[Call], answers: Sequence[Any], folder: Path) -> None:
    """Coq computes the same values: each function's, side by side, equal those given."""
    text = [
        "From Coq Require Import QArith List.",
        f"From Kernel Require Import {' '.join(FILES)}.",
        "Import ListNotations. Open Scope Q_scope.",
    ]
    for call, answer in zip(calls, answers, strict=True):
        kinds, result = CALLS[call.name]
        given = " ".join(literal(k, raw) for k, raw in zip(kinds, call.given, strict=True))
        text.append(f"Goal {call.name} {given} = {literal(result, answer)}.")
        text.append("vm_compute. reflexivity. Qed.")
    (folder / "Calls.v").write_text("\n".join(text), encoding="utf-8")
    regenerate.coq(folder, "Calls.v")


@pytest.fixture(scope="module")
def theory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the compiled functions."""
    if shutil.which("coqc") is None:
        pytest.skip("no Coq: the functions themselves are not run")
    folder = tmp_path_factory.mktemp("theory")
    regenerate.compiled(FILES, folder)
    return folder


# What they are asked


def of_document(content: Mapping[str, Any]) -> Call:
    return Call(content["checker"], (content["problem"], content["evidence"]))


def spoiled_documents(count: int, seed: int) -> Iterator[dict[str, Any]]:
    """Each document as it is, and so many spoiled ones that are of the right types still."""
    draw = random.Random(seed)
    for name in DOCUMENTS:
        yield document(name)
        left = count
        while left:
            parts = (("problem", "evidence"), ("evidence",), ("problem",))[left % 3]
            found = spoiled(document(name), draw, parts)
            if is_typed(found):
                left -= 1
                yield found


def is_typed(content: Mapping[str, Any]) -> bool:
    kinds = TYPES[content["checker"]][1:]
    try:
        for kind, part in zip(kinds, ("problem", "evidence"), strict=True):
            decoded(kind, content[part])
    except DecodeError:
        return False
    return True


def random_calls(count: int, seed: int) -> list[Call]:
    draw = random.Random(seed)
    return [
        Call(name, [random_value(kind, draw) for kind in CALLS[name][0]])
        for _ in range(count)
        for name in INNER
    ]


# The tests


def agreed(calls: Sequence[Call], folder: Path) -> list[Any]:
    """What Python and JavaScript both say."""
    answers = [by_python(call) for call in calls]
    for call, mine, other in zip(calls, answers, by_javascript(calls, folder), strict=True):
        assert mine == other, call
    return answers


def test_the_documents_prove_what_they_claim_and_have_every_kind_of_evidence() -> None:
    assert [refusal(document(name)) for name in DOCUMENTS] == [None] * len(DOCUMENTS)
    said = json.dumps([document(name) for name in DOCUMENTS])
    choices = {c[0] for made in TYPES.values() if len(made) > 2 for c in made[1:] if c[0].istitle()}
    assert {name for name in choices if f'"{name}"' not in said} <= {"Empty", "Never", "Nowhere"}


def test_spoiled_documents(tmp_path: Path) -> None:
    contents = list(spoiled_documents(120, 1))
    answers = agreed([of_document(content) for content in contents], tmp_path)
    assert len(contents) > 1000
    assert answers == [refusal(content) is None for content in contents]
    assert len(DOCUMENTS) <= answers.count(True) < len(contents) // 2


def test_random_calls(tmp_path: Path) -> None:
    calls = random_calls(100, 1)
    answers = agreed(calls, tmp_path)
    said: dict[str, set[str]] = {name: set() for name in INNER}
    for call, answer in zip(calls, answers, strict=True):
        said[call.name].add(json.dumps(answer))
    rarely_true = {"refutes", "implies", "check_goal", "check_rate", "check_soon", "check_way"}
    assert {name for name, found in said.items() if len(found) < 2} <= rarely_true


def test_coq_says_the_same(tmp_path: Path, theory: Path) -> None:
    documents = [of_document(content) for content in spoiled_documents(2, 2)]
    calls = [*documents, *random_calls(3, 2)]
    coq_agrees(calls, agreed(calls, tmp_path), theory)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3, 7))
def test_coq_says_the_same_thousands_of_times(tmp_path: Path, theory: Path, seed: int) -> None:
    documents = [of_document(content) for content in spoiled_documents(60, seed)]
    calls = [*documents, *random_calls(60, seed)]
    coq_agrees(calls, agreed(calls, tmp_path), theory)


def test_a_difference_is_seen(theory: Path) -> None:
    """Coq refuses an answer that is not its own."""
    call = of_document(document("inputs"))
    with pytest.raises(RuntimeError, match="Calls"):
        coq_agrees([call], [False], theory)
