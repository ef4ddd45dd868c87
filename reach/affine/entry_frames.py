"""Combinations of names that make the entry set of a stay a zonotope instead of a box.

A box forgets how names depend on each other: that a run starts on the line v = -2 x, or that a
sampled controller has just set u := -3 x. Such combinations are known from the conditions
on initial states and from resets. Where one of them has a narrow range it stands for one of its
names: from a vector a, as much of the combination is taken away as makes the entry of that name
vanish (`models.checker.start_set`). So the entry set is bounded by an affine image of a box.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from workbench.models.automaton import primed
from workbench.models.checker.flowpipe import Slab
from workbench.models.linear import Form
from workbench.reach.affine.flowpipe_parts import MovedFrame, Normal
from workbench.reach.affine.reduced_rows import ReducedRows
from workbench.reach.affine.step_evidence import Key, key_of, opposite

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


def slabs_of(entry: Sequence[Form], moved: MovedFrame) -> tuple[Slab, ...]:
    """The slabs of a frame that moved with the flow; none if the entry set lacks one of them."""
    rows = {key_of(form.coefficients): i for i, form in enumerate(entry)}
    slabs: list[Slab] = []
    for normal, factor in zip(moved.normals, moved.factors, strict=True):
        key = key_of(normal)
        above, below = rows.get(key), rows.get(opposite(key))
        if above is None or below is None:
            return ()
        name = next(iter(normal))
        size = entry[above].coefficients[name] / normal[name]
        slabs.append(Slab(above, below, {n: a / size for n, a in factor.items()}))
    return tuple(slabs)


@dataclass(frozen=True)
class _Candidate:
    """Two entry rows that are the sides of a slab, the name for which their combination may
    stand, and how wide the slab is compared with it."""

    above: int
    below: int
    name: str
    ratio: Fraction
    normal: Normal


def frame_of(entry: Sequence[Form], combinations: Iterable[Normal]) -> tuple[Slab, ...]:
    """The slabs among entry rows that bound the entry set best."""
    rows = {key_of(form.coefficients): i for i, form in enumerate(entry)}
    chosen: dict[str, _Candidate] = {}
    for candidate in sorted(_candidates(entry, rows, combinations), key=lambda c: c.ratio):
        if candidate.name not in chosen and all(
            candidate.above != other.above for other in chosen.values()
        ):
            chosen[candidate.name] = candidate
    return tuple(_with_factors(_ordered(chosen)))


def _ordered(chosen: dict[str, _Candidate]) -> Iterator[_Candidate]:
    """The slabs so that none mentions a name for which an earlier one stands: what was taken
    away would come back."""
    while chosen:
        free = [
            name
            for name in chosen
            if not any(name in other.normal for n, other in chosen.items() if n != name)
        ]
        if not free:  # they stand for each other in a circle: do without the widest
            del chosen[max(chosen.values(), key=lambda c: c.ratio).name]
            continue
        for name in free:
            yield chosen.pop(name)


def _with_factors(ordered: Iterable[_Candidate]) -> Iterator[Slab]:
    """Each slab with the vector that says how much of it is to be taken away."""
    left: dict[str, dict[str, Fraction]] = {}  # what is left of an entry, by the entries of a
    for candidate in ordered:
        name = candidate.name
        entry = left.get(name, {name: Fraction(1)})
        factor = {n: v / candidate.normal[name] for n, v in entry.items()}
        yield Slab(candidate.above, candidate.below, factor)
        for other, value in candidate.normal.items():
            entry = left.setdefault(other, {other: Fraction(1)})
            for n, v in factor.items():
                entry[n] = entry.get(n, Fraction(0)) - value * v


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
                yield _Candidate(above, below, name, ratio, factors)
