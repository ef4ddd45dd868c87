"""A problem and its evidence in one document, and the kernel's word on it.

    {"schema": "charon-workbench/kernel/1", "checker": "check_polyhedral",
     "problem": [...], "evidence": [...]}

The problem is an automaton in normal form (`theory/Semantics.v` says what that is and what `safe`
means), the evidence is of the type that the checker takes. If `refusal` gives None, the automaton
is safe: that is the theorem (`theory/PolyhedralSound.v`, `theory/QuadraticSound.v`). For
`check_progress` the problem is the number of variables and an automaton, and it never blocks
(`theory/ProgressSound.v`). Whether the problem is that of a model is not for the kernel to say.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from workbench.models.kernel import generated
from workbench.models.kernel.decode import TYPES, DecodeError, decoded

SCHEMA = "charon-workbench/kernel/1"
CHECKERS: Mapping[str, Callable[[Any, Any], bool]] = {
    "check_polyhedral": generated.check_polyhedral,
    "check_quadratic": generated.check_quadratic,
    "check_progress": generated.check_progress,
}


def document(checker: str, problem: Any, evidence: Any) -> dict[str, Any]:
    """The document of a problem and its evidence, as plain data."""
    return {"schema": SCHEMA, "checker": checker, "problem": problem, "evidence": evidence}


def refusal(content: Any) -> str | None:
    """Why the document proves nothing; None if it proves the claim about its problem."""
    if not isinstance(content, Mapping) or set(content) != set(document("", 0, 0)):
        return "it is no document with a schema, a checker, a problem and its evidence"
    name = content["checker"]
    if content["schema"] != SCHEMA or not isinstance(name, str) or name not in CHECKERS:
        return f"it is not of the schema {SCHEMA} and for one of {', '.join(CHECKERS)}"
    kinds = TYPES[name][1:]
    try:
        values = [
            decoded(kind, content[part])
            for kind, part in zip(kinds, ("problem", "evidence"), strict=True)
        ]
        accepted = CHECKERS[name](*values)
    except DecodeError as error:
        return str(error)
    except RecursionError:
        return "it is nested too deeply"
    return (
        None if accepted is True else "the evidence does not prove what is claimed of the problem"
    )
