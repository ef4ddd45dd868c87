"""Flows whose matrices depend on parameters that are constant but unknown.

The matrices are affine in each parameter alone. So over a box of parameters they are means of
those at its corners, and

    A(p) x + B(p) w = A_c x + B_c w + s,    s_i between the least and the largest value of
    ((A_k - A_c) x + (B_k - B_c) w)_i over all corners k,

c the centre of the box. The *deviation* s is taken as a further signal, free at any time. Its
bounds need bounds of x throughout a stay: those of the invariant, or the following ones.
Let |x| = max |x_j| / w_j over names whose derivatives read no others, and at every corner
A_ii + sum over j /= i of |A_ij| w_j / w_i <= m and |(B w)_i| / w_i <= g for all i. Then the
growth of |x| is at most m |x| + g, at every moment and whatever the parameters: so
|x| <= max(|x(0)|, g / -m) if m < 0, else |x| <= exp(m S) (|x(0)| + S g) up to the time S.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import product

from workbench.models.checker.affine_flow import (
    AffineFlow,
    Entries,
    Signal,
    Span,
    assembled,
    mean_entries,
)

MAX_EXPONENT = 400
"""Bounds that grow by more than three to this power are not used."""


def centred_flow(
    flow: AffineFlow, start: Sequence[Span], stay: Fraction, weights: Sequence[Fraction]
) -> AffineFlow:
    """The flow without corners, for stays that begin within spans: that of the centre of the
    parameters there, with deviations as signals."""
    box = parameter_box(flow, start)
    corners = [at_parameters(flow, values) for values in _ends(box)]
    centre = at_parameters(flow, {j: (low + high) / 2 for j, (low, high) in box.items()})
    signals = {s.name: (s.low, s.high) for s in flow.signals}
    spans = _state_spans(flow, corners, start, stay, weights)
    deviations = [mean_entries([(Fraction(1), c), (Fraction(-1), centre)]) for c in corners]
    found = assembled(flow.names, centre, signals, flow.limits)
    added = []
    for i in sorted({i for entries in deviations for i, _ in entries}):
        lows, highs = zip(
            *(_span_of(i, entries, spans, signals) for entries in deviations), strict=True
        )
        low = None if None in lows else min(v for v in lows if v is not None)
        high = None if None in highs else max(v for v in highs if v is not None)
        added.append(Signal(low, high, {i: Fraction(1)}, f"deviation({flow.names[i]})"))
    return AffineFlow(flow.names, found.columns, (*found.signals, *added), flow.limits)


def parameter_box(flow: AffineFlow, start: Sequence[Span]) -> dict[int, tuple[Fraction, Fraction]]:
    """Bounds of the parameters that multiply variables, where stays begin."""
    box: dict[int, tuple[Fraction, Fraction]] = {}
    for j in flow.corners[0].values:
        ends = [corner.values[j] for corner in flow.corners]
        low, high = min(ends), max(ends)
        given_low, given_high = start[j]
        inner_low = low if given_low is None else max(low, min(given_low, high))
        inner_high = high if given_high is None else min(high, max(given_high, low))
        box[j] = (min(inner_low, inner_high), max(inner_low, inner_high))
    return box


def at_parameters(flow: AffineFlow, values: Mapping[int, Fraction]) -> Entries:
    """The matrices at values of the parameters within their box: the mean of the corners,
    each weighted by the product over the parameters of how near they are to it."""
    whole = {j: [c.values[j] for c in flow.corners] for j in values}
    parts = []
    for corner in flow.corners:
        weight = Fraction(1)
        for j, value in values.items():
            low, high = min(whole[j]), max(whole[j])
            if low < high:
                share = (value - low) / (high - low)
                weight *= share if corner.values[j] == high else 1 - share
        parts.append((weight, corner.entries))
    return mean_entries(parts)


def _ends(box: Mapping[int, tuple[Fraction, Fraction]]) -> Iterator[dict[int, Fraction]]:
    for values in product(*(sorted(set(ends)) for ends in box.values())):
        yield dict(zip(box, values, strict=True))


def _state_spans(
    flow: AffineFlow,
    corners: Sequence[Entries],
    start: Sequence[Span],
    stay: Fraction,
    weights: Sequence[Fraction],
) -> list[Span]:
    """Bounds of every name throughout a stay; see the module's docstring."""
    spans: list[Span] = [flow.limits.get(name, (None, None)) for name in flow.names]
    bound = _norm_bound(flow, corners, start, stay, weights)
    if bound is not None:
        members, norm = bound
        for j in members:
            low, high = spans[j]
            size = norm * weights[j]
            spans[j] = (
                -size if low is None else max(low, -size),
                size if high is None else min(high, size),
            )
    moving = _moving(corners)
    return [start[j] if j not in moving else span for j, span in enumerate(spans)]


def _norm_bound(
    flow: AffineFlow,
    corners: Sequence[Entries],
    start: Sequence[Span],
    stay: Fraction,
    weights: Sequence[Fraction],
) -> tuple[set[int], Fraction] | None:
    """Names that stay bounded, and how large |x| over them becomes at most."""
    members = _bounded_names(flow, corners, start)
    if not members:
        return None
    tops = {s.name: _size((s.low, s.high)) or Fraction(0) for s in flow.signals}
    own = {i: max(e.get((i, i), Fraction(0)) for e in corners) for i in members}
    largest: dict[tuple[int, int | str], Fraction] = {}
    for entries in corners:
        for (i, source), value in entries.items():
            if i in members and i != source:
                largest[i, source] = max(largest.get((i, source), Fraction(0)), abs(value))
    push = dict.fromkeys(members, Fraction(0))
    for (i, source), value in largest.items():
        if isinstance(source, str):
            push[i] += value * tops[source] / weights[i]
        elif source in members:
            own[i] += value * weights[source] / weights[i]
        else:  # it does not move
            push[i] += value * (_size(start[source]) or Fraction(0)) / weights[i]
    m, g = max(own.values()), max(push.values())
    begin = max((_size(start[j]) or Fraction(0)) / weights[j] for j in members)
    if m < 0:
        return members, max(begin, g / -m)
    exponent = m * stay
    if exponent > MAX_EXPONENT:
        return None
    growth = Fraction(3) ** -(-exponent.numerator // exponent.denominator)
    return members, growth * (begin + stay * g)


def _moving(corners: Sequence[Entries]) -> set[int]:
    return {i for entries in corners for i, _ in entries}


def _bounded_names(flow: AffineFlow, corners: Sequence[Entries], start: Sequence[Span]) -> set[int]:
    """Names that move, start bounded, are pushed by bounded signals only, and read such
    names or bounded ones that do not move; of them those on which deviations depend."""
    unbounded = {s.name for s in flow.signals if _size((s.low, s.high)) is None}
    started = {j for j, span in enumerate(start) if _size(span) is not None}
    moving = _moving(corners)
    places = {place for entries in corners for place in entries}
    known = set(started)
    while True:
        lost = {
            i
            for i, source in places
            if i in known
            and (source in unbounded if isinstance(source, str) else source not in known)
        }
        if not lost:
            break
        known -= lost
    varying = {
        s for i, s in places if isinstance(s, int) and len({e.get((i, s)) for e in corners}) > 1
    }
    needed, pending = set(varying), list(varying)
    while pending:
        j = pending.pop()
        fresh = {s for i, s in places if i == j and isinstance(s, int)} - needed
        needed |= fresh
        pending.extend(fresh)
    return known & moving & needed


def _span_of(i: int, entries: Entries, states: Sequence[Span], signals: Mapping[str, Span]) -> Span:
    """Bounds of a row of entries times states and signals within their spans."""
    low: Fraction | None = Fraction(0)
    high: Fraction | None = Fraction(0)
    for (row, source), value in entries.items():
        if row != i:
            continue
        begin, end = states[source] if isinstance(source, int) else signals[source]
        if value < 0:
            begin, end = end, begin
        low = None if low is None or begin is None else low + value * begin
        high = None if high is None or end is None else high + value * end
    return low, high


def _size(span: Span) -> Fraction | None:
    low, high = span
    return None if low is None or high is None else max(abs(low), abs(high))
