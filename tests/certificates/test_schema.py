"""The schema is that of the kernel's types, and what is accepted fits it."""

from __future__ import annotations

import copy
import random
from pathlib import Path
from typing import Any

import pytest

from tests.certificates.test_standalone import plain
from tests.support.json_schema import faults
from tests.support.spoiled_documents import places
from workbench.models.certificates import schema
from workbench.models.kernel.decode import DecodeError, decoded

PAGE = Path("docs/certificate.schema.json")
SCHEMA = schema.schema()


def test_the_file_is_up_to_date() -> None:
    assert PAGE.read_text(encoding="utf-8") == schema.text()


@pytest.mark.parametrize("name", ["locations", "clock and exits", "ellipsoids"])
def test_certificates_fit(name: str) -> None:
    assert faults(SCHEMA, plain(name)[1]) == []


def decodes(document: dict[str, Any]) -> bool:
    kinds = ("automaton", document["checker"].removeprefix("check_") + "_certificate")
    try:
        for kind, part in zip(kinds, ("problem", "evidence"), strict=True):
            decoded(kind, document[part])
    except DecodeError:
        return False
    return True


def test_what_fits_is_what_the_kernel_reads() -> None:
    """A value anywhere in a document is replaced by another: the schema and the kernel's decoder
    say the same of it."""
    draw = random.Random(1)
    others: list[Any] = ["1/0", "-1", "x", "1/2", "01", "1.5", "", 1, True, None, [], ["1"], {}]
    seen = set()
    _, good = plain("locations")
    for _ in range(400):
        data = copy.deepcopy(good)
        part = draw.choice(("problem", "evidence"))
        holder, at = draw.choice(list(places(data["document"][part])))
        holder[at] = draw.choice(others)
        fits = not faults(SCHEMA, data)
        assert fits == decodes(data["document"]), holder
        seen.add(fits)
    assert seen == {True, False}


def test_fields_are_those_that_the_reader_takes() -> None:
    _, good = plain("locations")
    for change in ({"more": 1}, {"names": {}}, {"schema": "x"}, {"document": {}}, {"model": 1}):
        assert faults(SCHEMA, good | change)
    assert faults(SCHEMA, {k: v for k, v in good.items() if k != "document"})
