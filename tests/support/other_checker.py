"""A second checker of polyhedral certificates, written from docs/certificate_format.md alone.

It shares no code with the kernel, and is written for reading: numbers are fractions, forms are
mappings from what they mention to coefficients, with the constant under the name of 1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

ONE = ("1", 0)
Key: TypeAlias = tuple[str, int]
Form: TypeAlias = dict[Key, Fraction]
Row: TypeAlias = tuple[Form, bool]


def proves(document: dict[str, Any]) -> bool:
    """Whether the document, which fits the schema, proves that its problem is safe."""
    (locations, starts), (start_covers, evidence) = document["problem"], document["evidence"]
    return fit(
        lambda start, covers: fit(
            lambda case, cover: covered(
                rows_of(case), cover, regions_of(evidence, start[0]), "y", Fraction(0)
            ),
            start[1],
            covers,
        ),
        starts,
        start_covers,
    ) and fit(
        lambda location, found: all(kept(location, one, found, evidence) for one in found),
        locations,
        evidence,
    )


def fit(check: Callable[[Any, Any], bool], left: Sequence[Any], right: Sequence[Any]) -> bool:
    """Whether two lists are equally long, and belong together element by element."""
    return len(left) == len(right) and all(map(check, left, right))


def kept(location: Any, one: Any, beside: Any, evidence: Any) -> bool:
    """Facets, exits, jumps and safety of a region."""
    invariant, flows, edges, bad = location
    region, facets, exit_covers, jump_covers, safety = one
    _, cells, exits, margin = region
    own = [found[0] for found in beside]

    def flow(cell: Any, found: Any) -> bool:
        rows = walls(region, cell)
        return fit(
            lambda number, by_case: fit(
                lambda case, by_flow: fit(
                    lambda dynamics, facet: stays(region, cell, number, case, dynamics, facet),
                    flows,
                    by_flow,
                ),
                invariant,
                by_case,
            ),
            range(len(rows)),
            found,
        )

    def leaves(cell: Any, found: Any) -> bool:
        return fit(
            lambda exit_, by_case: fit(
                lambda case, by_flow: fit(
                    lambda dynamics, cover: covered(
                        at_exit(region, cell, exit_, case, dynamics),
                        cover,
                        own,
                        "x",
                        None,
                    ),
                    flows,
                    by_flow,
                ),
                invariant,
                by_case,
            ),
            exits,
            found,
        )

    def jumps(cell: Any, found: Any) -> bool:
        here = [(h, False) for h in borders(region, cell, "x", Fraction(0))]
        return fit(
            lambda edge, covers: fit(
                lambda case, cover: covered(
                    here + rows_of(case), cover, regions_of(evidence, edge[0]), "y", Fraction(0)
                ),
                edge[1],
                covers,
            ),
            edges,
            found,
        )

    def safe(cell: Any, found: Any) -> bool:
        here = [(h, False) for h in borders(region, cell, "x", Fraction(0))]
        return fit(lambda case, m: refute(here + rows_of(case), numbers(m)), bad, found)

    return (
        (not exits or Fraction(margin) > 0)
        and fit(flow, cells, facets)
        and fit(leaves, cells, exit_covers)
        and fit(jumps, cells, jump_covers)
        and fit(safe, cells, safety)
    )


# Facets and exits


def stays(region: Any, cell: Any, number: int, case: Any, dynamics: Any, facet: Any) -> bool:
    """Whether flow does not leave through a wall."""
    own = walls(region, cell)
    wall = own[number]
    rates, rate_rows = dynamics
    known = [f for f, _ in rows_of(case)] + [affine(e, "x") for e in region[2]]
    known += [f for f, _ in rows_of(rate_rows)]
    kind, *found = facet
    if kind == "Implied":
        return show([(f, False) for f in known], wall, numbers(found[0]))
    if kind in ("Inward", "Empty"):
        mu, first, second = Fraction(found[0]), numbers(found[1]), numbers(found[2])
        total = bound(mu, wall, own, first, known, second)
        if total is None:
            return False
        if kind == "Empty":
            return is_number(total) and total.get(ONE, 0) > 0
        rest = added(total, scaled(Fraction(-1), derivative(wall, rates)))
        return is_number(rest) and rest.get(ONE, 0) >= 0
    beyond, proofs = int(found[0]), found[1]
    if beyond >= len(region[1]) or number >= min(len(cell[0]), len(region[0])):
        return False
    signs, part = region[1][beyond]
    if signs != [sign is not (i == number) for i, sign in enumerate(cell[0])]:
        return False

    def goes_on(form: Any, proof: Any) -> bool:
        mu, first, second = Fraction(proof[0][0]), numbers(proof[0][1]), numbers(proof[1])
        total = bound(mu, wall, own, first, [f for f, _ in rows_of(case)], second)
        if total is None:
            return False
        rest = added(total, scaled(Fraction(-1), affine(form, "x")))
        c = rest.get(ONE, Fraction(0))
        return is_number(rest) and (c > 0 or (c == 0 and mu + sum(first) <= 1))

    return fit(goes_on, part, proofs)


def bound(
    mu: Fraction,
    wall: Form,
    own: list[Form],
    first: list[Fraction],
    known: list[Form],
    second: list[Fraction],
) -> Form | None:
    if any(m < 0 for m in (*first, *second)):
        return None
    return added(scaled(mu, wall), added(weighted(first, own), weighted(second, known)))


def at_exit(region: Any, cell: Any, exit_: Any, case: Any, dynamics: Any) -> list[Row]:
    rates, rate_rows = dynamics
    h = affine(exit_, "x")
    out = [scaled(Fraction(-1), h), scaled(Fraction(-1), derivative(h, rates))]
    here = borders(region, cell, "x", Fraction(0))
    known = [f for f, _ in rows_of(case)] + [f for f, _ in rows_of(rate_rows)]
    return [(f, False) for f in (*here, *known, *out)]


def derivative(wall: Form, rates: Any) -> Form:
    found: Form = {}
    for (side, i), a in wall.items():
        if side == "x" and i < len(rates):
            found = added(found, scaled(a, form_of(rates[i])))
    return found


# Covers


def covered(rows: list[Row], cover: Any, regions: Any, side: str, moved: Fraction | None) -> bool:
    """Whether the rows lie in the regions; without `moved` each has its exits moved by its
    margin."""
    kind, *found = cover
    if kind == "Impossible":
        return refute(rows, numbers(found[0]))
    if kind == "Split":
        h, strict, below, above = affine(found[0], side), found[1], found[2], found[3]
        less, more = (h, strict), (scaled(Fraction(-1), h), not strict)
        return covered([*rows, less], below, regions, side, moved) and covered(
            [*rows, more], above, regions, side, moved
        )
    number, cell, proofs = int(found[0]), int(found[1]), found[2]
    if number >= len(regions) or cell >= len(regions[number][1]):
        return False
    region = regions[number]
    inside = Fraction(region[3]) if moved is None else moved
    goals = borders(region, region[1][cell], side, inside)
    return fit(lambda goal, m: show(rows, goal, numbers(m)), goals, proofs)


def regions_of(evidence: Any, location: str) -> list[Any]:
    number = int(location)
    return [found[0] for found in evidence[number]] if number < len(evidence) else []


def walls(region: Any, cell: Any, side: str = "x") -> list[Form]:
    signs, part = cell
    signed = (
        scaled(Fraction(1 if sign else -1), affine(h, side))
        for sign, h in zip(signs, region[0], strict=False)
    )
    return [*signed, *(affine(k, side) for k in part)]


def borders(region: Any, cell: Any, side: str, inside: Fraction) -> list[Form]:
    exits = (added(affine(e, side), {ONE: inside}) for e in region[2])
    return [*walls(region, cell, side), *exits]


# Multipliers


def refute(rows: list[Row], factors: list[Fraction]) -> bool:
    total = weighted(factors, [f for f, _ in rows])
    strict = any(m > 0 and s for m, (_, s) in zip(factors, rows, strict=False))
    c = total.get(ONE, Fraction(0))
    return min(factors, default=0) >= 0 and is_number(total) and (c > 0 or (c == 0 and strict))


def show(rows: list[Row], goal: Form, factors: list[Fraction]) -> bool:
    total = added(weighted(factors, [f for f, _ in rows]), scaled(Fraction(-1), goal))
    return min(factors, default=0) >= 0 and is_number(total) and total.get(ONE, 0) >= 0


def weighted(factors: list[Fraction], forms: list[Form]) -> Form:
    total: Form = {}
    for m, f in zip(factors, forms, strict=False):
        total = added(total, scaled(m, f))
    return total


# Forms


def form_of(form: Any) -> Form:
    constant, *parts = form
    found: Form = {ONE: Fraction(constant)}
    for side, coefficients in zip("xyu", parts, strict=True):
        found |= {(side, i): Fraction(a) for i, a in enumerate(coefficients)}
    return found


def affine(h: Any, side: str) -> Form:
    intercept, gradient = h
    return {ONE: Fraction(intercept)} | {(side, i): Fraction(a) for i, a in enumerate(gradient)}


def rows_of(case: Any) -> list[Row]:
    return [(form_of(form), strict) for form, strict in case]


def numbers(texts: Any) -> list[Fraction]:
    return [Fraction(text) for text in texts]


def added(one: Form, other: Form) -> Form:
    zero = Fraction(0)
    return {key: one.get(key, zero) + other.get(key, zero) for key in one.keys() | other.keys()}


def scaled(factor: Fraction, form: Form) -> Form:
    return {key: factor * a for key, a in form.items()}


def is_number(form: Form) -> bool:
    return not any(a for key, a in form.items() if key != ONE)
