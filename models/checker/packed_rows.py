"""Combinations of rows of integers, many products at once.

The entries of a row stand in fields of one long integer, sum of entry_k 2^(8 w k), so that a
combination of n rows is n products of long integers by factors instead of n^2 short ones.
Fields are wide enough for every combination with factors of at most `factor_bits` bits: no
entry of a result reaches half of its field, and results are exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import mul

Vector = list[int]


class PackedRows:
    """Rows of equal length; entries are integers of either sign."""

    def __init__(self, rows: Sequence[Sequence[int]], factor_bits: int):
        length = len(rows[0]) if rows else 0
        largest = max((sum(map(abs, column)) for column in zip(*rows, strict=True)), default=0)
        self._bytes = (largest.bit_length() + factor_bits) // 8 + 1
        width = 8 * self._bytes
        self._size = self._bytes * length
        self._half = 1 << (width - 1)
        self._raised = _pack([self._half] * length, self._bytes)
        self._rows = [
            _pack([entry + self._half for entry in row], self._bytes) - self._raised for row in rows
        ]
        self.factor_bits = factor_bits

    def combination(self, factors: Sequence[int]) -> Vector:
        """The sum of factor * row; no factor may have more than `factor_bits` bits."""
        total = sum(map(mul, self._rows, factors)) + self._raised
        data = total.to_bytes(self._size, "little")
        read, width, half = int.from_bytes, self._bytes, self._half
        return [read(data[i : i + width], "little") - half for i in range(0, self._size, width)]


def _pack(entries: Sequence[int], width: int) -> int:
    """Entries, none of them negative, in fields of that many bytes."""
    return int.from_bytes(b"".join(e.to_bytes(width, "little") for e in entries), "little")


def bits_of(vector: Sequence[int]) -> int:
    """The bits of the largest entry."""
    return max(max(vector), -min(vector)).bit_length() if vector else 0
