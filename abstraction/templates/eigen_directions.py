"""Template directions from the dynamics: left eigenvectors.

For a left eigenvector c of A with a real eigenvalue, d/dt(c x) depends on c x and the inputs
alone, so a bound on it needs no other. For a complex pair the polygons {c_k x <= h} of
directions in equal angles of its plane do the same if it decays.

Where systems drive one another in a cascade, as vehicles in a convoy do, each has left
eigenvectors of its own: d/dt (c x) depends on c x and what drives the system. A bound of the first
is then handed on from one to the next.
"""

from __future__ import annotations

import numpy as np

from workbench.abstraction.templates.system import Array, TemplateSystem

POLYGON = 8
REAL = 1e-9
NEARLY_REAL = 1e-6
"""Rounding parts an eigenvalue that counts twice, by as much as this."""


def eigen_directions(system: TemplateSystem) -> list[Array]:
    """Both senses of real left eigenvectors, polygons for complex pairs, of every flow."""
    found: list[Array] = []
    seen: list[Array] = []
    for flow in system.flows:
        if any(np.array_equal(flow.state, other) for other in seen):
            continue
        seen.append(flow.state)
        values, vectors = np.linalg.eig(flow.state.T)
        for value, vector in zip(values, vectors.T, strict=True):
            if abs(value.imag) < REAL:
                found += [vector.real, -vector.real]
            elif value.imag > 0:
                angles = 2 * np.pi * np.arange(POLYGON) / POLYGON
                found += [(vector * np.exp(1j * angle)).real for angle in angles]
    return found


def cascade_directions(system: TemplateSystem) -> list[Array]:
    """Both senses of the real left eigenvectors of every system of a cascade, of every flow; none
    where no flow is a cascade of several that have any."""
    found: list[Array] = []
    seen: list[Array] = []
    for flow in system.flows:
        if any(np.array_equal(flow.state, other) for other in seen):
            continue
        seen.append(flow.state)
        driven = [
            block for block in _blocks(flow.state) if np.any(flow.state[np.ix_(block, block)])
        ]
        if len(driven) < 2:
            continue
        for block in driven:
            values, vectors = np.linalg.eig(flow.state[np.ix_(block, block)].T)
            for value, vector in zip(values, vectors.T, strict=True):
                if abs(value.imag) < NEARLY_REAL:
                    row = np.zeros(len(flow.state))
                    row[block] = vector.real
                    found += [row, -row]
    return found


def _blocks(matrix: Array) -> list[list[int]]:
    """The variables that depend on each other in circles, block by block."""
    import networkx

    graph = networkx.DiGraph()
    graph.add_nodes_from(range(len(matrix)))
    graph.add_edges_from((int(i), int(j)) for i, j in zip(*np.nonzero(matrix), strict=True))
    return [sorted(block) for block in networkx.strongly_connected_components(graph)]
