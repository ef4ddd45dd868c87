"""Combinations of names that make the entry set of a stay a zonotope instead of a box.

A box forgets how names depend on each other: that a run starts on the line v = -2 x, or that a
sampled controller has just set u := -3 x. Such combinations are known from the conditions
on initial states and from resets. Where one of them has a narrow range it may stand for one of
its names (`models.proof.start_set`): the entry set is then bounded by an affine image of a box.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from models.automaton import primed
from models.proof.flowpipe import Slab
from models.proof.linear import Form
from reach.affine.flowpipe_parts import Normal
from reach.affine.reduced_rows import ReducedRows
from reach.affine.step_evidence import Key, key_of, opposite

WORTHWHILE = Fraction(1, 2)
"""A slab is used if it is that much narrower, at most, than the name that it stands for."""


def combinations_at_start(start: ReducedRows, names: Iterable[str]) -> Iterator[Normal]:
    """What the conditions on initial states say about several names at once."""
    kept, changed = _after(start, names)
    for row in start.rows:
        if len(row.form.coefficients) > 1 and row.form.coefficients.keys() <= kept:
            yield row.form.coefficients
    yield from _equations(kept, changed)


def combinations_after(jump: ReducedRows, names: Iterable[str]) -> Iterator[Normal]:
    """Equations between the values after a jump."""
    yield from _equations(*_after(jump, names))


def _after(jump: ReducedRows, names: Iterable[str]) -> tuple[set[str], dict[str, Normal]]:
    """The names that keep their values, and what others are set to."""
    kept, changed = set(), {}
    for name in names:
        value = jump.value_of(primed(name))
        if value is not None and value == Form({name: Fraction(1)}):
            kept.add(name)
        elif value is not None and value.coefficients:
            changed[name] = value.coefficients
    return kept, changed


def _equations(kept: set[str], changed: Mapping[str, Normal]) -> Iterator[Normal]:
    """A name minus what it was set to, where that reads names that keep their values."""
    for name, reads in sorted(changed.items()):
        if reads.keys() <= kept:
            yield {name: Fraction(1), **{other: -a for other, a in reads.items()}}


@dataclass(frozen=True)
class _Candidate:
    """A slab, how wide it is compared with its name, and the names of its combination."""

    slab: Slab
    ratio: Fraction
    names: frozenset[str]


def frame_of(entry: Sequence[Form], combinations: Iterable[Normal]) -> tuple[Slab, ...]:
    """The slabs among entry rows that bound the entry set best, in the order in which they are
    to be taken: none mentions a name for which an earlier one stands."""
    rows = {key_of(form.coefficients): i for i, form in enumerate(entry)}
    chosen: dict[str, _Candidate] = {}
    for candidate in sorted(_candidates(entry, rows, combinations), key=lambda c: c.ratio):
        if candidate.slab.name not in chosen and all(
            candidate.slab.above != other.slab.above for other in chosen.values()
        ):
            chosen[candidate.slab.name] = candidate
    ordered: list[Slab] = []
    while chosen:
        free = [
            candidate
            for name, candidate in chosen.items()
            if not any(name in other.names for n, other in chosen.items() if n != name)
        ]
        if not free:  # they stand for each other in a circle: do without the widest
            del chosen[max(chosen.values(), key=lambda c: c.ratio).slab.name]
            continue
        ordered += [candidate.slab for candidate in free]
        for candidate in free:
            del chosen[candidate.slab.name]
    return tuple(ordered)


def _candidates(
    entry: Sequence[Form], rows: Mapping[Key, int], combinations: Iterable[Normal]
) -> Iterator[_Candidate]:
    """Slabs between two entry rows, for each name whose range is much wider. (Entry rows of
    one name are in units of it.)"""

    def extent(above: int | None, below: int | None) -> Fraction | None:
        if above is None or below is None:
            return None
        return -entry[above].constant - entry[below].constant

    for normal in combinations:
        key = key_of(normal)
        above, below = rows.get(key), rows.get(opposite(key))
        width = extent(above, below)
        if width is None or above is None or below is None:
            continue
        factors = entry[above].coefficients
        if factors != {name: -a for name, a in entry[below].coefficients.items()}:
            continue
        for name, factor in factors.items():
            axis = ((name, Fraction(1)),)
            own = extent(rows.get(axis), rows.get(opposite(axis)))
            if own is None or width <= WORTHWHILE * own * abs(factor):
                ratio = width / (own * abs(factor)) if own else Fraction(0)
                yield _Candidate(Slab(name, above, below), ratio, frozenset(factors))
