"""Directions for nodes: what flow conserves, and chains through the bounds of a location.

With c_{j+1} = (I + h A')c_j a bound of c_j follows from one of c_{j+1}, so a chain

    ... c_-2, c_-1, c_0 = n, c_1, c_2, ...

holds its own next step. *Forwards* from a normal n of the location's invariant it says where the
state will be with respect to that bound, and it ends near a conserved direction or has decayed.
*Backwards* it says where the state has been; it ends at n itself, which the invariant bounds:
so speeds at which a run arrives at the bound are known from where it set out.

Directions that flow conserves (A'w = 0), and combinations of them on which the constant drift
has no effect, are computed in rationals: a rounded one would drift away in unbounded time.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

import numpy as np

from workbench.abstraction.templates.directions import axes, bad_normals, fastest_rate, template
from workbench.abstraction.templates.system import Array, Flow, TemplateSystem

Vector = tuple[Fraction, ...]

STEP, FORWARDS = 0.5, 6
SHORT_STEP, BACKWARDS = 0.2, 8
"""Steps of chains in units of the fastest time constant, and their numbers."""
MERGE = 0.01


def node_directions(system: TemplateSystem, flows: Sequence[Flow]) -> list[Vector]:
    """The directions for the nodes of one location, which has these flows."""
    rate = fastest_rate(system)
    common = template([*axes(system), *bad_normals(system)], MERGE, 1.0).rows
    exact = [w for flow in flows for w in conserved(flow)]
    chains = [c for flow in flows for c in _chains(flow, rate)]
    found = [*common, *both(exact), *template(chains, MERGE, 1.0).rows]
    return list(dict.fromkeys(found))


def both(vectors: Iterable[Vector]) -> list[Vector]:
    """The vectors and their opposites, with a largest entry of 1."""
    found: list[Vector] = []
    for vector in vectors:
        size = max(map(abs, vector))
        scaled = tuple(v / size for v in vector)
        found += [scaled, tuple(-v for v in scaled)]
    return found


def _chains(flow: Flow, rate: float) -> list[Array]:
    n = len(flow.constant)
    bounds = {tuple(row): row for row in flow.domain.matrix[:, :n] if np.any(row)}
    forwards = np.eye(n) + STEP / rate * flow.state.T
    backwards: Array = np.linalg.inv(np.eye(n) + SHORT_STEP / rate * flow.state.T).astype(float)
    found: list[Array] = []
    for normal in bounds.values():
        found += _chain(normal, forwards, FORWARDS)
        found += _chain(-normal, forwards, FORWARDS)
        found += _chain(normal, backwards, BACKWARDS)
    return found


def _chain(start: Array, step: Array, count: int) -> list[Array]:
    found = [start / np.abs(start).max()]
    for _ in range(count):
        following = step @ found[-1]
        size = float(np.abs(following).max())
        if not 1e-9 < size < 1e9:
            break
        found.append(following / size)
    return found


def conserved(flow: Flow) -> list[Vector]:
    """A basis of {w : A'w = 0}, and combinations of it that the constant drift keeps too."""
    names = flow.domain.names[: len(flow.constant)]
    if len(flow.derivative) != len(names):
        return []
    rows = [[form.coefficients.get(v, Fraction(0)) for form in flow.derivative] for v in names]
    basis = null_space(rows)
    drift = [form.constant for form in flow.derivative]
    drifts = [sum((a * b for a, b in zip(w, drift, strict=True)), Fraction(0)) for w in basis]
    moving = [(w, d) for w, d in zip(basis, drifts, strict=True) if d]
    still = [
        tuple(d * a - moving[0][1] * b for a, b in zip(moving[0][0], w, strict=True))
        for w, d in moving[1:]
    ]
    return [*basis, *still]


def null_space(rows: list[list[Fraction]]) -> list[Vector]:
    """A basis of the vectors that every row takes to zero, by elimination."""
    width = len(rows[0]) if rows else 0
    reduced = [list(row) for row in rows]
    pivots: list[int] = []
    for column in range(width):
        done = len(pivots)
        pivot = next((k for k in range(done, len(reduced)) if reduced[k][column]), None)
        if pivot is None:
            continue
        reduced[done], reduced[pivot] = reduced[pivot], reduced[done]
        factor = reduced[done][column]
        reduced[done] = [v / factor for v in reduced[done]]
        for k, row in enumerate(reduced):
            if k != done and row[column]:
                share = row[column]
                reduced[k] = [a - share * b for a, b in zip(row, reduced[done], strict=True)]
        pivots.append(column)
    basis: list[Vector] = []
    for free in (column for column in range(width) if column not in pivots):
        vector = [Fraction(int(j == free)) for j in range(width)]
        for k, column in enumerate(pivots):
            vector[column] = -reduced[k][free]
        basis.append(tuple(vector))
    return basis
