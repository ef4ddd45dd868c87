"""The decoder in JavaScript takes and refuses what the one in Python does, in the same words."""

from __future__ import annotations

import copy
import json
import random
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.kernel.test_decode import WRONG_NUMBERS
from tests.support.kernel_documents import DOCUMENTS, document
from tests.support.spoiled_documents import places, spoiled
from workbench.models.kernel import decode
from workbench.models.kernel.document import CHECKERS, SCHEMA, refusal

KERNEL = Path(decode.__file__).parent
JUDGE = """
for (const text of JSON.parse(require("fs").readFileSync(0, "utf8"))) {
    console.log(JSON.stringify(judged(text)));
}
"""
STRANGE = [None, 1.5, 3, -1, {}, [], "", "one", "01", "1/0", "-0", "1/-2", True, [[]], ["Split"],
    "__proto__", "constructor", ["__proto__"], ["constructor", []], {"length": 2}, "9" * 4001, "\u0661",
    "1\n", "</script>"]  # fmt: skip


def words_of_javascript(texts: list[str]) -> list[dict[str, Any]]:
    """What the kernel in JavaScript says of the texts of documents."""
    if shutil.which("node") is None:
        pytest.skip("no node: the kernel in JavaScript is not run")
    parts = [(KERNEL / name).read_text("utf-8") for name in ("generated.js", "decode.js")]
    command = ["node", "-e", "\n".join([*parts, JUDGE])]
    done = subprocess.run(
        command, input=json.dumps(texts), capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stderr[:2000]
    return [json.loads(line) for line in done.stdout.splitlines()]


def agreed(contents: list[Any]) -> list[str | None]:
    """What both say of documents."""
    found = words_of_javascript([json.dumps(content) for content in contents])
    answers = [refusal(content) for content in contents]
    for content, mine, other in zip(contents, answers, found, strict=True):
        assert other["why"] == mine, content
    return answers


def spoiled_documents(count: int, seed: int) -> Iterator[Any]:
    draw = random.Random(seed)
    for name in DOCUMENTS:
        yield document(name)
        for _ in range(count):
            yield spoiled(document(name), draw, ("problem", "evidence"))


def untyped_documents(count: int, seed: int) -> Iterator[Any]:
    """Each document with something strange in one place, its own parts among them."""
    draw = random.Random(seed)
    for name in DOCUMENTS:
        for _ in range(count):
            found = copy.deepcopy(document(name))
            part = draw.choice(("problem", "evidence"))
            holder, at = draw.choice(list(places([found[part]])))
            holder[at] = draw.choice([*STRANGE, *WRONG_NUMBERS, copy.deepcopy(holder[at - 1])])
            yield found


def test_spoiled_documents() -> None:
    answers = agreed(list(spoiled_documents(40, 11)))
    assert None in answers and len(set(answers)) > 4


def test_values_of_other_types() -> None:
    answers = agreed(list(untyped_documents(60, 12)))
    assert len({why for why in answers if why is not None and "expected" in why}) > 100


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20, 24))
def test_thousands_of_documents(seed: int) -> None:
    agreed([*spoiled_documents(250, seed), *untyped_documents(250, seed)])


def test_documents_of_other_kinds() -> None:
    right = document("inputs")
    changes: list[dict[str, Any]] = [
        *({"checker": name} for name in (*CHECKERS, "__proto__", "constructor", "toString", "", 1)),
        {"checker": ["check_polyhedral"]},
        {"schema": f"{SCHEMA}0"},
        {"schema": [SCHEMA]},
        {"problem": None},
        {"evidence": {}},
        {"more": 1},
        {"__proto__": {"checker": "check_polyhedral"}},
    ]
    contents = [{**right, **change} for change in changes]
    contents += [{k: v for k, v in right.items() if k != part} for part in right]
    agreed([*contents, {}, [], None, 3, "text", list(right), {",".join(right): 1}])


HOSTILE = [
    "",
    "{",
    "nothing",
    "\ufeff{}",
    "[" * 200_000,
    "[" * 200_000 + "]" * 200_000,
    '{"schema": NaN}',
    '{"__proto__": {"why": null, "polluted": true}}',
    json.dumps(document("inputs")).replace('"problem"', '"problem": null, "__proto__"'),
    json.dumps(document("inputs")).replace('"problem"', '"__proto__": {"problem": 1}, "problem"'),
    json.dumps(document("inputs")).replace('"1"', '"</script><script>stolen = 1</script>"'),
    json.dumps(document("inputs")).replace('"1"', "1" + "0" * 5000),
]
"""Texts that are no documents, and would be if they were read carelessly."""


def test_hostile_texts_are_refused() -> None:
    for text, found in zip(HOSTILE, words_of_javascript(HOSTILE), strict=True):
        assert isinstance(found["why"], str) and found["why"], text[:80]
        assert set(found) == {"why", "numbers", "milliseconds"}


def test_of_names_that_are_said_twice_the_last_counts() -> None:
    """As for the decoder in Python: nobody is shown one problem while another is checked."""
    text = json.dumps(document("inputs"))
    first = text.replace('"problem"', '"problem": null, "problem"')
    last = text[:-1] + ', "problem": null}'
    assert refusal(json.loads(first)) is None and refusal(json.loads(last)) is not None
    assert [w["why"] is None for w in words_of_javascript([first, last])] == [True, False]


def test_the_deepest_splits_and_the_longest_numbers() -> None:
    deepest = copy.deepcopy(document("inputs"))
    starts: Any = deepest["evidence"][0]
    leaf = starts[0][0]
    for _ in range(decode.MAX_DEPTH):
        starts[0][0] = ["Split", ["0", ["1"]], False, starts[0][0], leaf]
    deeper = copy.deepcopy(deepest)
    deeper["evidence"][0][0][0] = ["Split", ["0", ["1"]], False, leaf, starts[0][0]]
    longest = copy.deepcopy(document("inputs"))
    longest["problem"][1][0][1][0][0][0][0] = "9" * (decode.MAX_DIGITS - 2) + "/7"
    longer = copy.deepcopy(longest)
    longer["problem"][1][0][1][0][0][0][0] += "1"
    answers = agreed([deepest, deeper, longest, longer])
    assert answers[0] is None and "inside each other" in str(answers[1])
    assert "expected a fraction" in str(answers[3])
