"""The kernel in Python and in JavaScript is what Coq's extraction of the theory gives."""

from __future__ import annotations

import pytest

from workbench.models.kernel.coq_text import THEOREMS
from workbench.models.kernel.decode import TYPES
from workbench.models.kernel.document import CHECKERS
from workbench.models.kernel.translation import regenerate


def test_what_is_committed_is_what_is_generated() -> None:
    if regenerate.version() != regenerate.COQ:
        pytest.skip(f"no Coq {regenerate.COQ}: the kernel is not generated anew")
    for language, text in regenerate.generated().items():
        place = regenerate.PLACES[language]
        assert place.read_text(encoding="utf-8") == text, f"{place} is not what Coq extracts"


def test_every_checker_has_a_theorem_and_types() -> None:
    assert set(CHECKERS) == set(regenerate.CHECKERS) == set(THEOREMS)
    for name in CHECKERS:
        what, problem, evidence = TYPES[name]
        assert what == "arguments" and problem in TYPES and evidence in TYPES
