"""One door per foreign library, and a checker that imports next to nothing.

Import-linter knows the layers; these rules are about single modules, so they are read off
the syntax trees of the files.
"""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("workbench", "reports", "abstraction", "reach", "simulate", "models")

DOORS = {
    "cdd": ("workbench.reach.sets.convex_hull",),
    "z3": (
        "workbench.models.smt.solver",
        "workbench.models.smt.rows",
        "workbench.models.smt.terms",
    ),
    "highspy": ("workbench.reach",),
    "lark": ("workbench.models.language",),
    "xml": ("workbench.models.interchange.xml_door",),
    "pyexpat": ("workbench.models.interchange.xml_door",),
}
SINGLE_DOOR = ("clarabel",)
"""Libraries whose one door may be any module, but only one."""

PLAIN_VALUES = {
    "workbench.models",
    "workbench.models.source",
    "workbench.models.expressions.operators",
    "workbench.models.expressions.literals",
    "workbench.models.expressions.expression",
    "workbench.models.expressions.traversal",
    "workbench.models.expressions.pairwise",
    "workbench.models.expressions.pattern",
    "workbench.models.expressions.table",
    "workbench.models.automaton",
    "workbench.models.expressions.ranges",
    "workbench.models.automaton_view",
    "workbench.models.dynamics",
    "workbench.models.interruption",
    "workbench.models.linear",
    "workbench.models.unfolding",
    "workbench.models.work",
    "workbench.models.well_formed",
}
"""What the checker trusts besides itself; these import nothing but each other."""

BY_HAND = ("workbench.models.lowering", "workbench.models.checker")
"""What is trusted beside the kernel, and was written by hand."""

CHECKER = (
    *BY_HAND,
    "workbench.models.kernel",
    "workbench.models.evidence",
    "workbench.models.certificates",
)
"""All that takes part in deciding about certificates."""

TRANSLATION = "workbench.models.kernel.translation"

ON_REQUEST = {
    ("workbench.models.automaton", "workbench.models.interchange.json_model"),
    ("workbench.models.expressions.expression", "workbench.models.expressions.printing"),
}
"""Conveniences of plain values (a fingerprint, a text), imported when they are called."""


@cache
def modules() -> dict[str, Path]:
    """Every module by its dotted name; the links in `workbench` are not followed."""
    found = {}
    for folder, _, files in (entry for package in PACKAGES for entry in os.walk(ROOT / package)):
        for path in sorted(Path(folder) / file for file in files if file.endswith(".py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            parts = parts[:-1] if parts[-1] == "__init__" else parts
            found[".".join(parts if parts[0] == "workbench" else ("workbench", *parts))] = path
    return found


@dataclass(frozen=True)
class Source:
    """What these rules ask of a file: the absolute names it imports, and the names it calls."""

    imports: frozenset[str]
    calls: frozenset[str]


@cache
def source(name: str) -> Source:
    path = modules()[name]
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"), str(path))))
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    functions = [node.func for node in nodes if isinstance(node, ast.Call)]
    called = frozenset(f.id for f in functions if isinstance(f, ast.Name))
    return Source(frozenset(imported(nodes, package)), called)


def imported(nodes: list[ast.AST], package: str) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package.split(".")[: len(package.split(".")) - node.level + 1]
            prefix = ".".join(base) if node.level else ""
            module = ".".join(part for part in (prefix, node.module or "") if part)
            yield module
            yield from (f"{module}.{alias.name}" for alias in node.names)


def importers(library: str) -> list[str]:
    return [
        name
        for name in modules()
        if any(i == library or i.startswith(library + ".") for i in source(name).imports)
    ]


def inside(name: str, packages: tuple[str, ...]) -> bool:
    return any(name == p or name.startswith(p + ".") for p in packages)


@pytest.mark.parametrize("library", sorted(DOORS))
def test_only_the_door_imports_the_library(library: str) -> None:
    assert [m for m in importers(library) if not inside(m, DOORS[library])] == []


@pytest.mark.parametrize("library", SINGLE_DOOR)
def test_at_most_one_module_imports_the_library(library: str) -> None:
    assert len(importers(library)) <= 1, importers(library)


def test_the_trusted_checker_imports_only_itself_and_plain_values() -> None:
    known = modules()
    trusted = {name for name in known if inside(name, CHECKER)}
    for name in sorted(trusted | PLAIN_VALUES):
        for wanted in source(name).imports:
            if wanted.split(".")[0] in sys.stdlib_module_names:
                continue
            module = wanted if wanted in known else wanted.rpartition(".")[0]
            allowed = module in PLAIN_VALUES or (name in trusted and module in trusted)
            assert allowed or (name, module) in ON_REQUEST, f"{name} imports {wanted}"


def test_nothing_is_trusted_that_only_engines_use() -> None:
    """What a search needs beyond what the checker needs itself belongs to the search."""
    deciding = [*BY_HAND, "workbench.models.certificates"]
    trees = {
        name: ast.parse(path.read_text(encoding="utf-8"))
        for name, path in modules().items()
        if inside(name, tuple(deciding))
    }
    nodes = [node for tree in trees.values() for node in ast.walk(tree)]
    used = {node.id for node in nodes if isinstance(node, ast.Name)}
    used |= {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    defined = {
        (name, node.name)
        for name, tree in trees.items()
        if inside(name, BY_HAND)
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("__")
    }
    assert len(defined) > 300
    assert {one for one in defined if one[1] not in used} == set()


def test_the_kernel_imports_only_itself() -> None:
    known = modules()
    for name in (name for name in known if inside(name, ("workbench.models.kernel",))):
        for wanted in source(name).imports:
            if wanted.split(".")[0] not in sys.stdlib_module_names:
                module = wanted if wanted in known else wanted.rpartition(".")[0]
                assert inside(module, ("workbench.models.kernel",)), f"{name} imports {wanted}"


def test_nothing_that_users_need_imports_the_translator() -> None:
    assert [m for m in importers(TRANSLATION) if not inside(m, (TRANSLATION,))] == []


def test_nothing_executes_text() -> None:
    """No `eval`, `exec`, `pickle` or `marshal` on anything a user may supply."""
    for name in modules():
        assert not {"pickle", "marshal", "shelve"} & source(name).imports, name
        assert not {"eval", "exec"} & source(name).calls, name


def test_every_package_is_marked_as_typed() -> None:
    assert all((ROOT / package / "py.typed").exists() for package in PACKAGES)


def test_every_folder_is_imported_as_a_part_of_workbench() -> None:
    """No module is imported by two names, and a user's `models.py` never stands in the way."""
    for name in modules():
        assert not set(PACKAGES[1:]) & {i.split(".")[0] for i in source(name).imports}, name
