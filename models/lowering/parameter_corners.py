"""Uncertain parameters and inputs that multiply variables: a flow at the corners of their box.

Lemma. In every state, with any values of these parameters and inputs, a derivative that the flow
allows is a mean of derivatives that it allows at the corners.
Proof. Both are called parameters here: what is said is about one state and the values at one
moment. The flow is affine in each such parameter alone (this is checked), so for every state its
derivative lies in the convex hull of the corners': with the weights w_c of the corners that its
parameters say, low = sum w_c low_c and high = sum w_c high_c, and a value between them is a mean of
values between the ends at the corners, if there are any. At a corner where low_c > high_c there are
none, though there may be some inside the box; so ends that depend on such parameters count only
if their distance at every corner is a number that is not negative (`is_steady`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from typing import TypeAlias

from workbench.models.automaton import Input, Location, Parameter, Range
from workbench.models.expressions.expression import Expression, constant
from workbench.models.expressions.operators import Op
from workbench.models.expressions.traversal import free_variables, postorder
from workbench.models.linear import affine

MAX_CORNER_PARAMETERS = 8

Corner: TypeAlias = Mapping[str, Expression]
"""Values of the parameters, each an end of its range."""


def parameter_corners(place: Location, parameters: Iterable[Input | Parameter]) -> list[Corner]:
    """Values of the parameters that make some flow non-affine; a single empty choice
    where there are none. Parameters without finite bounds are not expanded."""
    bounds = {
        p.name: (p.low, p.high) for p in parameters if p.low is not None and p.high is not None
    }
    chosen: set[str] = set()
    for flow in place.flows:
        for bound in (flow.range.low, flow.range.high):
            if bound is not None and affine(bound) is None:
                named = free_variables(bound) & bounds.keys()
                if _affine_in_each(bound, named):
                    chosen |= named
    if len(chosen) > MAX_CORNER_PARAMETERS:
        return [{}]
    names = sorted(chosen)
    return [
        dict(zip(names, map(constant, values), strict=True))
        for values in product(*(sorted(set(bounds[name])) for name in names))
    ]


def at_corner(bounds: Range, corner: Corner) -> Range:
    """A range at a corner of parameters; as it is where it is not affine in each of them."""
    ends = (bounds.low, bounds.high)
    if all(b is None or _affine_in_each(b, frozenset(corner)) for b in ends):
        return bounds.substitute(corner)
    return bounds


def is_steady(bounds: Range, corners: Sequence[Corner]) -> bool:
    """Whether a range is the same at every corner, has one end only or is a single value, or has
    the same extent in every state, which is not negative at any corner."""
    low, high = bounds.low, bounds.high
    if low is None or high is None or bounds.exact is not None:
        return True
    if not (free_variables(low) | free_variables(high)) & corners[0].keys():
        return True
    for corner in corners:
        at = at_corner(bounds, corner)
        ends = (None if end is None else affine(end) for end in (at.high, at.low))
        above, below = ends
        if above is None or below is None:
            return False
        extent = above - below
        if extent.coefficients or extent.constant < 0:
            return False
    return True


def _affine_in_each(expression: Expression, names: frozenset[str] | set[str]) -> bool:
    """Whether the expression is a polynomial of degree at most one in each name alone.

    Judged from how it is written: sums keep the larger degree, products add degrees, and
    any other operation on a name counts as not affine.
    """
    for name in names:
        degree: dict[int, int] = {}
        for node in postorder(expression):
            below = [degree[id(a)] for a in node.args]
            if node.op is Op.VARIABLE:
                degree[id(node)] = int(node.name == name)
            elif node.op is Op.ADD:
                degree[id(node)] = max(below)
            elif node.op is Op.MULTIPLY:
                degree[id(node)] = sum(below)
            elif node.op is Op.DIVIDE:
                degree[id(node)] = below[0] if below[1] == 0 else 2
            else:
                degree[id(node)] = 2 if any(below) else 0
        if degree[id(expression)] > 1:
            return False
    return True
