"""Documents for the kernel with a few places changed, of the right types still."""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

Holder = list[Any]


def places(data: Any) -> Iterator[tuple[Holder, int]]:
    """Every value inside plain data, with the list that holds it."""
    pending = [data]
    while pending:
        holder = pending.pop()
        for at, value in enumerate(holder):
            yield holder, at
            if isinstance(value, list):
                pending.append(value)


def spoiled(
    document: dict[str, Any], draw: random.Random, parts: tuple[str, ...]
) -> dict[str, Any]:
    """A copy with one to three numbers or truth values changed in one of its parts, or with
    something left out of a list, twice in it, or elsewhere."""
    found = copy.deepcopy(document)
    for _ in range(draw.randint(1, 3)):
        every = list(places(found[draw.choice(parts)]))
        plain = [(h, i) for h, i in every if not isinstance(h[i], list)]
        lists = [h[i] for h, i in every if isinstance(h[i], list) and h[i]]
        if lists and draw.random() < 0.2:
            _rearrange(draw.choice(lists), draw)
        elif plain:
            holder, at = draw.choice(plain)
            holder[at] = _other(holder[at], draw)
    return found


def _other(value: Any, draw: random.Random) -> Any:
    if isinstance(value, bool):
        return not value
    try:
        number = Fraction(value)
    except ValueError:
        return value  # the name of a constructor
    step = draw.choice((Fraction(1), Fraction(1, 16), -Fraction(1, 16), -Fraction(1)))
    return str(draw.choice((-number, number + step, 2 * number, number / 2, Fraction(0))))


def _rearrange(value: list[Any], draw: random.Random) -> None:
    i, j = draw.randrange(len(value)), draw.randrange(len(value))
    what = draw.randrange(3)
    if what == 0:
        del value[i]
    elif what == 1:
        value.insert(j, copy.deepcopy(value[i]))
    else:
        value[i], value[j] = value[j], value[i]
