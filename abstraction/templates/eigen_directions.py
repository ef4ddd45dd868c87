"""Template directions from the dynamics: left eigenvectors.

For a left eigenvector c of A with a real eigenvalue, d/dt(c x) depends on c x and the inputs
alone, so a bound on it needs no other. For a complex pair the polygons {c_k x <= h} of
directions in equal angles of its plane do the same if it decays.
"""

from __future__ import annotations

import numpy as np

from workbench.abstraction.templates.system import Array, TemplateSystem

POLYGON = 8
REAL = 1e-9


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
