"""The packs of dimensions, and rows, resets and derivatives as each pack sees them.

Components of a product have few rows, resets and modes; what a pack makes of them is kept by
what they say, so that all locations share it, and with it what was worked out about it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import lcm
from typing import TypeAlias

from workbench.models.automaton import primed
from workbench.models.lowering.problem import Dynamics
from workbench.reach.rectangular.moves import Bounds, Entries, Number, PackMove, Values
from workbench.reach.rectangular.rows import Packs
from workbench.reach.rectangular.split import NotRectangularError, Split
from workbench.reach.sets.double_description import TooManyRaysError, Vector, coprime
from workbench.reach.sets.polyhedron import Generators, integer_row

MAX_DIRECTIONS = 1 << 14
"""A pack whose derivatives have more extreme values than this is given up."""


@dataclass(frozen=True, slots=True)
class Placed:
    """Rows in the packs that know all their names, and their numbers in the linear view."""

    bounds: tuple[Bounds, ...]
    numbers: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class Seen:
    """A jump as each pack sees it, and the numbers of the rows of its bounds."""

    packs: tuple[PackMove, ...]
    numbers: tuple[tuple[int, ...], ...]


Images: TypeAlias = Mapping[str, tuple[Number, Split]]
"""New values: the part that discrete values determine, and the form."""

Rate: TypeAlias = tuple[Fraction | None, Fraction | None]
"""The least and the greatest derivative."""


class Layout:
    """The packs, and what was placed in them."""

    def __init__(self, packs: Packs):
        self.packs = packs
        self._positions = [{n: i for i, n in enumerate(pack)} for pack in packs]
        self._homes: dict[tuple[str, ...], tuple[int, ...]] = {}
        self._rows: dict[tuple[int, Number, tuple[tuple[str, int], ...]], Vector] = {}
        self._bounds: dict[tuple[tuple[Vector, ...], tuple[int, ...]], Bounds] = {}
        self._moves: dict[tuple[Bounds, tuple[Vector, ...] | None, tuple[str, ...]], PackMove] = {}
        self._flows: dict[tuple[int, tuple[Rate, ...]], Generators] = {}

    def placed(self, rows: Sequence[Split], constants: Values) -> Placed:
        """Rows c + a*x >= 0 with given constants."""
        found: list[_Collected] = [_Collected() for _ in self.packs]
        for row, constant in zip(rows, constants, strict=True):
            for pack in self._knowing(row):
                found[pack].add(self._row(pack, constant, row), row)
        return Placed(
            tuple([self._bounds_of(one) for one in found]),
            tuple([tuple(one.numbers) for one in found]),
        )

    def seen(self, rows: Sequence[Split], constants: Values, images: Images) -> Seen:
        """A jump with these rows that gives names the images and leaves the others."""
        placed = self.placed(rows, constants)
        packs: list[PackMove] = []
        numbers = list(placed.numbers)
        for k, bounds in enumerate(placed.bounds):
            if images.keys().isdisjoint(self.packs[k]):
                packs.append(self._move(bounds, None, ()))
                continue
            position = dict(self._positions[k])
            image = _image(self.packs[k], position, images)
            extra = tuple(position)[len(self.packs[k]) :]
            if extra:
                more = _fitting(rows, constants, position)
                bounds, numbers[k] = self._bounds_of(more), tuple(more.numbers)
            packs.append(self._move(bounds, image, extra))
        return Seen(tuple(packs), tuple(numbers))

    def flow(self, location: str, dynamics: Dynamics) -> Entries:
        """The directions and lines in which time moves each pack."""
        rates = _rates(location, dynamics, {n for pack in self.packs for n in pack})
        found: list[Generators] = []
        for k, pack in enumerate(self.packs):
            key = k, tuple([rates[name] for name in pack])
            if key not in self._flows:
                self._flows[key] = _directions(key[1])
            found.append(self._flows[key])
        return tuple(found)

    def _knowing(self, row: Split) -> tuple[int, ...]:
        """The packs with all names of a row."""
        names = tuple([name for name, _ in row.free])
        found = self._homes.get(names)
        if found is None:
            wanted = set(names)
            found = tuple(k for k, known in enumerate(self._positions) if wanted <= known.keys())
            self._homes[names] = found
        return found

    def _row(self, pack: int, constant: Number, row: Split) -> Vector:
        key = pack, constant, row.free
        found = self._rows.get(key)
        if found is None:
            found = self._rows[key] = _vector(constant, row.free, self._positions[pack])
        return found

    def _bounds_of(self, rows: _Collected) -> Bounds:
        key = tuple(rows.rows), tuple(rows.strict)
        found = self._bounds.get(key)
        if found is None:
            found = self._bounds[key] = Bounds(*key)
        return found

    def _move(
        self, bounds: Bounds, image: tuple[Vector, ...] | None, extra: tuple[str, ...]
    ) -> PackMove:
        key = bounds, image, extra
        found = self._moves.get(key)
        if found is None:
            found = self._moves[key] = PackMove(bounds, image, extra)
        return found


class _Collected:
    """Rows, the places among them of strict ones, and their numbers in the linear view."""

    def __init__(self) -> None:
        self.rows: list[Vector] = []
        self.strict: list[int] = []
        self.numbers: list[int] = []

    def add(self, vector: Vector, row: Split) -> None:
        if row.strict:
            self.strict.append(len(self.rows))
        self.rows.append(vector)
        self.numbers.append(row.number)


def bounds_in(rows: Sequence[Split], position: Mapping[str, int]) -> Bounds:
    """The rows, all of whose names have a position and none is explicit."""
    found = _fitting(rows, [row.constant for row in rows], position)
    return Bounds(tuple(found.rows), tuple(found.strict))


def _fitting(
    rows: Iterable[Split], constants: Iterable[Number], position: Mapping[str, int]
) -> _Collected:
    found = _Collected()
    for row, constant in zip(rows, constants, strict=True):
        if all(name in position for name, _ in row.free):
            found.add(_vector(constant, row.free, position), row)
    return found


def _vector(
    constant: Number, free: tuple[tuple[str, int], ...], position: Mapping[str, int]
) -> Vector:
    scale = constant.denominator
    row = [0] * (len(position) + 1)
    row[0] = constant.numerator
    for name, a in free:
        row[position[name] + 1] = a * scale
    return coprime(row)


def _image(pack: tuple[str, ...], position: dict[str, int], images: Images) -> tuple[Vector, ...]:
    """The new values of a pack over (1, old values, extra ones). New values that depend on
    other packs may be anything: they get positions of their own."""
    forms: list[tuple[Number, int, tuple[tuple[str, int], ...]]] = []
    known = frozenset(pack)
    for n in pack:
        if n not in images:
            forms.append((0, 1, ((n, 1),)))
            continue
        shift, image = images[n]
        if all(name in known for name, _ in image.free):
            forms.append((shift, image.denominator, image.free))
        else:
            position.setdefault(primed(n), len(position))
            forms.append((0, 1, ((primed(n), 1),)))
    common = lcm(*(d * shift.denominator for shift, d, _ in forms))
    size = len(position) + 1
    rows: list[Vector] = [(common, *([0] * (size - 1)))]
    for shift, denominator, free in forms:
        row = [0] * size
        row[0] = int(shift * common)
        for name, a in free:
            row[position[name] + 1] = a * (common // denominator)
        rows.append(tuple(row))
    return tuple(rows)


def _rates(location: str, dynamics: Dynamics, names: set[str]) -> dict[str, Rate]:
    """The range of each derivative."""
    found: dict[str, Rate] = {}
    ranged: dict[str, str] = {}
    for name in names:
        form = dynamics.derivative.get(name)
        if form is None:
            found[name] = Fraction(0), Fraction(0)
        elif not form.coefficients:
            found[name] = form.constant, form.constant
        elif form.coefficients.keys() == {f"d({name})"}:
            found[name] = None, None
            ranged[f"d({name})"] = name
        else:
            raise NotRectangularError(f"the derivative of {name} in {location} is not constant")
    for row in dynamics.rows:
        mentioned = row.form.coefficients
        if mentioned.keys().isdisjoint(ranged):
            continue
        if len(mentioned) != 1:
            raise NotRectangularError(f"a range of derivatives in {location} is not constant")
        ((rate, a),) = mentioned.items()
        low, high = found[ranged[rate]]
        limit = -row.form.constant / a
        if a > 0:
            high = limit if high is None else min(high, limit)
        else:
            low = limit if low is None else max(low, limit)
        found[ranged[rate]] = low, high
    return found


def _directions(rates: tuple[Rate, ...]) -> Generators:
    """The cone of the derivatives: it is generated by the corners of their box, and by the
    directions in which that is unbounded."""
    size = len(rates)
    unit = [tuple(int(i == k + 1) for i in range(size + 1)) for k in range(size)]
    choices: list[list[Fraction]] = []
    rays: list[Vector] = []
    lines: list[Vector] = []
    count = 1
    for k, (low, high) in enumerate(rates):
        if low is not None and high is not None:
            ends = sorted({low, high}) if low <= high else []
        else:
            ends = [next((end for end in (low, high) if end is not None), Fraction(0))]
            if low is None and high is None:
                lines.append(unit[k])
            else:
                rays.append(unit[k] if high is None else tuple([-a for a in unit[k]]))
        choices.append(ends)
        count *= len(ends)
    if count > MAX_DIRECTIONS:
        raise TooManyRaysError(f"derivatives have more than {MAX_DIRECTIONS} extreme values")
    if not count:
        return Generators(())
    corners = dict.fromkeys(
        integer_row(0, dict(enumerate(corner)), size) for corner in product(*choices)
    )
    return Generators((*(c for c in corners if any(c)), *rays), tuple(lines))
