"""Functions from outside that are given for a while.

A model only names the functions that it calls; whoever uses it gives them, to one run or, with
`provided`, to everything that is done meanwhile: searches and monitors make many runs on the way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType
from typing import TypeAlias

Externs: TypeAlias = Mapping[str, Callable[..., float]]

_NONE: Externs = MappingProxyType({})
_PROVIDED: ContextVar[Externs] = ContextVar("externs", default=_NONE)


@contextmanager
def provided(functions: Externs) -> Iterator[None]:
    """Within it, models may call these functions; worker processes do not know them."""
    token = _PROVIDED.set({**_PROVIDED.get(), **functions})
    try:
        yield
    finally:
        _PROVIDED.reset(token)


def are_provided() -> bool:
    """Whether there are such functions, so that work has to stay in this process."""
    return bool(_PROVIDED.get())


def known(given: Externs | None) -> Externs:
    """The functions that are given, and those that are provided besides."""
    return {**_PROVIDED.get(), **(given or _NONE)}
