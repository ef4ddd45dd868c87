"""Symbolic computation with expressions: one place to import it from.

All of it is exact, iterative and bounded; see the modules for what each function promises.
"""

from workbench.models.expressions.affine import (
    AffineForm,
    LinearConstraint,
    affine_form,
    from_affine,
    is_affine,
    linear_constraint,
)
from workbench.models.expressions.differentiate import (
    NotDifferentiableError,
    differentiate,
    lie_derivative,
)
from workbench.models.expressions.normal_form import (
    NormalFormTooLargeError,
    disjunctive_normal_form,
    linear_cases,
    negation_normal_form,
    opposite,
    without_piecewise,
)
from workbench.models.expressions.polynomial import (
    Monomial,
    Polynomial,
    PolynomialTooLargeError,
    degree,
    from_polynomial,
    polynomial_degree,
    polynomial_form,
)
from workbench.models.expressions.simplify import is_total, simplify

__all__ = [
    "AffineForm",
    "LinearConstraint",
    "Monomial",
    "NormalFormTooLargeError",
    "NotDifferentiableError",
    "Polynomial",
    "PolynomialTooLargeError",
    "affine_form",
    "degree",
    "differentiate",
    "disjunctive_normal_form",
    "from_affine",
    "from_polynomial",
    "is_affine",
    "is_total",
    "lie_derivative",
    "linear_cases",
    "linear_constraint",
    "negation_normal_form",
    "opposite",
    "polynomial_degree",
    "polynomial_form",
    "simplify",
    "without_piecewise",
]
