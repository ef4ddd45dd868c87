"""A document for the kernel as a Coq file that ends with the theorem about its problem.

The file stands alone: it holds the theory, one module a file, then the problem and its evidence as
literals. Coq compiles the theory with its proofs, runs the checker and so proves the theorem. What
remains to be believed is what `Semantics` says, and that the problem is the one that is meant.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from workbench.models.kernel.decode import TYPES
from workbench.models.kernel.theory_files import REQUIRE, required, text

THEOREMS: Mapping[str, tuple[str, str, str]] = {
    "check_polyhedral": ("PolyhedralSound", "polyhedral_sound", "safe model"),
    "check_quadratic": ("QuadraticSound", "quadratic_sound", "safe model"),
    "check_progress": ("ProgressSound", "progress_sound", "never_blocks model"),
}
"""For each checker the file of the theory with its soundness, the name of the theorem, and what it
says of the problem."""
_WIDTH = 100


def proof_file(content: Mapping[str, Any], notes: Sequence[str] = ()) -> str:
    """The Coq file for a document that the kernel accepts; `notes` are written at its top."""
    checker = content["checker"]
    module, theorem, claim = THEOREMS[checker]
    names = required(module)
    head = "".join(f"   {_harmless(line)}\n" for line in notes)
    kinds = TYPES[checker][1:]
    problem, evidence = (
        literal(kind, content[part])
        for kind, part in zip(kinds, ("problem", "evidence"), strict=True)
    )
    return (
        f"(* {head.strip()}\n\n   Check it with: coqc FILE.v *)\n\n"
        + f"From Coq Require {' '.join(_libraries(names))}.\n\n"
        + "\n".join(f"Module {name}.\n\n{_as_module(name)}\nEnd {name}.\n" for name in names)
        + f"\nImport QArith List {' '.join(names)}.\nImport ListNotations.\nOpen Scope Q_scope.\n\n"
        + f"Definition model : {kinds[0]} :=\n{problem}.\n\n"
        + f"Definition evidence : {kinds[1]} :=\n{evidence}.\n\n"
        + f"Lemma checked : {checker} model evidence = true.\n"
        + "Proof. vm_cast_no_check (eq_refl true). Qed.\n\n"
        + f"Theorem verified : {claim}. "
        + f"Proof. exact ({theorem} model evidence checked). Qed.\n"
    )


def literal(kind: Any, data: Any) -> str:
    """Plain data of a type of the kernel's, in Coq's words."""
    if isinstance(kind, str):
        decoded_kind = TYPES.get(kind)
        return _constructed(decoded_kind[1:], data) if decoded_kind else _number(kind, data)
    if kind[0] == "list":
        return _bracketed([literal(kind[1], item) for item in data])
    if kind[0] == "option":
        return f"(Some {literal(kind[1], data[0])})" if data else "None"
    return f"({literal(kind[1], data[0])}, {literal(kind[2], data[1])})"


def _constructed(constructors: Sequence[Any], data: Any) -> str:
    single = len(constructors) == 1
    name, *fields = constructors[0] if single else next(c for c in constructors if c[0] == data[0])
    values = data if single else data[1:]
    parts = [literal(kind, value) for (_, kind), value in zip(fields, values, strict=True)]
    return f"({' '.join([name, *parts])})" if parts else str(name)


def _bracketed(parts: Sequence[str]) -> str:
    together = "; ".join(parts)
    if len(together) <= _WIDTH and "\n" not in together:
        return f"[{together}]"
    return "[" + ";\n ".join(parts) + "]"


def _number(kind: str, data: Any) -> str:
    if kind == "boolean":
        return "true" if data else "false"
    if kind == "natural":
        return f"{data}%nat"
    if kind != "rational":
        return f"({data})%{'positive' if kind == 'positive' else 'Z'}"
    above, _, below = str(data).partition("/")
    above = f"({above})" if above.startswith("-") else above
    return f"({above}#{below})" if below else above


def _as_module(name: str) -> str:
    """A file of the theory as the content of a module; what it needs has been loaded."""
    return REQUIRE.sub(lambda match: f"Import {' '.join(match[2].split())}.", text(name))


def _libraries(names: Iterable[str]) -> list[str]:
    """The libraries of Coq's that files of the theory need."""
    found = [REQUIRE.findall(text(name)) for name in names]
    return sorted(
        {one for each in found for who, all_ in each if who == "Coq" for one in all_.split()}
    )


def _harmless(text: str) -> str:
    """A text that neither opens nor closes a comment, nor begins a text of Coq's."""
    return re.sub(r"[*\"]", "'", text)
