"""The workbench as a library: the one import a user needs.

>>> import workbench
>>> model = workbench.load("platoon")  # doctest: +SKIP
>>> model.verify().outcome  # doctest: +SKIP
'verified'

Names are loaded on first use, so that importing this package costs nothing. Models are also made
in Python: `workbench.build`.
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False  # as in `typing`, which takes longer to import than all of this
if TYPE_CHECKING:
    from typing import Any

    from workbench.api.abstraction import Abstraction
    from workbench.api.asked import RequestError
    from workbench.api.comparison import Comparison
    from workbench.api.document import Document
    from workbench.api.loading import load
    from workbench.api.model import Model
    from workbench.api.reaching import Reaching
    from workbench.api.rechecking import Rechecked, recheck
    from workbench.api.refinement import Refinement
    from workbench.api.reports import Report, Reports
    from workbench.api.runs import Run, Runs
    from workbench.api.search import Interrupted, Search
    from workbench.api.simulation import Simulation, Validated
    from workbench.api.structure import Check, Picture
    from workbench.api.texts import formatted, library
    from workbench.api.verdicts import Counterexample, Invariant, Verdict, Verdicts
    from workbench.api.work import Cancellation, Cancelled
    from workbench.models.automaton import Automaton, HybridAutomaton
    from workbench.models.source import Diagnostic, Edit, ModelError, Span
    from workbench.simulate.stepping.program import Lipschitz

__version__ = "0.1.0"

_NAMES = {
    "workbench.api.abstraction": ("Abstraction",),
    "workbench.api.asked": ("RequestError",),
    "workbench.api.comparison": ("Comparison",),
    "workbench.api.document": ("Document",),
    "workbench.api.loading": ("load",),
    "workbench.api.model": ("Model",),
    "workbench.api.reaching": ("Reaching",),
    "workbench.api.rechecking": ("Rechecked", "recheck"),
    "workbench.api.refinement": ("Refinement",),
    "workbench.api.reports": ("Report", "Reports"),
    "workbench.api.runs": ("Run", "Runs"),
    "workbench.api.search": ("Interrupted", "Search"),
    "workbench.api.simulation": ("Simulation", "Validated"),
    "workbench.api.structure": ("Check", "Picture"),
    "workbench.api.texts": ("formatted", "library"),
    "workbench.api.verdicts": ("Counterexample", "Invariant", "Verdict", "Verdicts"),
    "workbench.api.work": ("Cancellation", "Cancelled"),
    "workbench.models.automaton": ("Automaton", "HybridAutomaton"),
    "workbench.models.source": ("Diagnostic", "Edit", "ModelError", "Span"),
    "workbench.simulate.stepping.program": ("Lipschitz",),
}
"""What users may import from here, by the module that defines it."""

_PARTS = ("api", "build")
"""Packages of which users know."""

_HOMES = {name: module for module, names in _NAMES.items() for name in names}

__all__ = [
    "Abstraction",
    "Automaton",
    "Cancellation",
    "Cancelled",
    "Check",
    "Comparison",
    "Counterexample",
    "Diagnostic",
    "Document",
    "Edit",
    "HybridAutomaton",
    "Interrupted",
    "Invariant",
    "Lipschitz",
    "Model",
    "ModelError",
    "Picture",
    "Reaching",
    "Rechecked",
    "Refinement",
    "Report",
    "Reports",
    "RequestError",
    "Run",
    "Runs",
    "Search",
    "Simulation",
    "Span",
    "Validated",
    "Verdict",
    "Verdicts",
    "__version__",
    "formatted",
    "library",
    "load",
    "recheck",
]


def __getattr__(name: str) -> Any:
    if name in _PARTS:
        return import_module(f"{__name__}.{name}")
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
