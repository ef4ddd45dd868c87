"""Numbers with their nouns, for messages."""

from __future__ import annotations


def counted(number: int, noun: str) -> str:
    """`1 jump`, `2 jumps`, `3 properties`; the plural is the regular one."""
    if number == 1:
        return f"1 {noun}"
    is_y = noun.endswith("y") and noun[-2:-1] not in tuple("aeiou")
    return f"{number} {noun[:-1] + 'ies' if is_y else noun + 's'}"
