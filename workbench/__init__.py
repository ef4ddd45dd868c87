"""The workbench as a library: the one import a user needs.

>>> import workbench
>>> model = workbench.load("platoon")  # doctest: +SKIP
>>> [p.name for p in model.automaton.properties]  # doctest: +SKIP

Names are loaded on first use, so that importing this package costs nothing.
"""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False  # as in `typing`, which takes longer to import than all of this
if TYPE_CHECKING:
    from typing import Any

    from workbench.models.automaton import Automaton, HybridAutomaton
    from workbench.models.load import load
    from workbench.models.model import Model
    from workbench.models.source import Diagnostic, ModelError, Span

__version__ = "0.1.0"

__all__ = [
    "Automaton",
    "Diagnostic",
    "HybridAutomaton",
    "Model",
    "ModelError",
    "Span",
    "__version__",
    "load",
]

_HOMES = {
    "Automaton": "workbench.models.automaton",
    "Diagnostic": "workbench.models.source",
    "HybridAutomaton": "workbench.models.automaton",
    "Model": "workbench.models.model",
    "ModelError": "workbench.models.source",
    "Span": "workbench.models.source",
    "load": "workbench.models.load",
}


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
