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

    from models.automaton import Automaton, HybridAutomaton
    from models.load import load
    from models.model import Model
    from models.source import Diagnostic, ModelError, Span

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
    "Automaton": "models.automaton",
    "Diagnostic": "models.source",
    "HybridAutomaton": "models.automaton",
    "Model": "models.model",
    "ModelError": "models.source",
    "Span": "models.source",
    "load": "models.load",
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
