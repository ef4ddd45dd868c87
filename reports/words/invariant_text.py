"""A polyhedral invariant in a few lines for a terminal: inequalities, location by location.

Numbers are rounded for reading; the certificate has the exact ones.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection

from workbench.models.certificates.certificate import Proof
from workbench.models.evidence.polyhedral import PolyhedralProof
from workbench.reports.words.inequalities import AT_LEAST, AT_MOST, DOT, MINUS, row_texts

MOST_LINES, MOST_PARTS = 6, 4
"""Inequalities of each part, and parts, that are printed."""
HINT = "the whole is in the certificate (--certificate FILE) and in a report"
_PLAIN = str.maketrans({MINUS: "-", DOT: "*", AT_MOST: "<=", AT_LEAST: ">="})


def invariant_lines(proof: Proof, booleans: Collection[str] = ()) -> list[str]:
    """What every reachable state satisfies, as far as it fits; nothing for other proofs. Where
    a location has several parts, a state lies in one of them."""
    if not isinstance(proof, PolyhedralProof):
        return []
    parts = [(region, number) for region in proof.regions for number in range(len(region.cells))]
    shared = Counter(region.location for region, _ in parts)
    seen: Counter[str] = Counter()
    lines: list[str] = []
    is_cut = len(parts) > MOST_PARTS
    for region, number in parts[:MOST_PARTS]:
        seen[region.location] += 1
        several = shared[region.location] > 1
        which = f", part {seen[region.location]} of {shared[region.location]}" if several else ""
        rows = [_plain(t) for t in row_texts((r.form for r in region.rows(number)), booleans)]
        lines.append(f"{region.location}{which}:")
        lines += [f"  {row}" for row in rows[:MOST_LINES]] or ["  every state"]
        if len(rows) > MOST_LINES:
            is_cut = True
            lines.append(f"  and {len(rows) - MOST_LINES} more")
    if len(parts) > MOST_PARTS:
        lines.append(f"and {len(parts) - MOST_PARTS} more parts")
    return [*lines, *([HINT] if is_cut else ())]


def _plain(text: str) -> str:
    return text.translate(_PLAIN)
