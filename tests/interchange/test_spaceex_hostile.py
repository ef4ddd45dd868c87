"""Whatever the file says, reading it gives an automaton or a `ModelError`, and soon."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from spaceex_files import (
    bind,
    component,
    const,
    labels,
    location,
    real,
    spaceex,
    transition,
)

from tests.support.slow import slow_but
from workbench.models.interchange.spaceex_export import write_spaceex
from workbench.models.interchange.spaceex_import import read_spaceex
from workbench.models.source import ModelError

XML = spaceex(
    component(
        "ball",
        real("x", "v"),
        const("g"),
        labels("hop"),
        location(1, "air", "x' == v & -g - 0.1 <= v' & v' <= -g", "x >= 0"),
        location(2, "ground", "x' == 0 & v' == 0"),
        transition(1, 1, "x <= 0 & v < 0", "v := -0.75*v", "hop"),
        transition(1, 2, "v^2 <= 0.1", "x := 0 & v := 0", more='asap="true"'),
    ),
    component(
        "clock",
        real("t"),
        labels("hop"),
        location(1, "tick", "t' == 1", "t <= 20"),
        transition(1, 1, label="hop", assignment="t := 0"),
    ),
    component(
        "system",
        real("x", "v", "t"),
        labels("hop"),
        bind("ball", "b", x="x", v="v", g="9.81", hop="hop"),
        bind("clock", "c", t="t", hop="hop"),
    ),
)
CONFIG = """# options
system = system
initially = "loc(b)==air & 10 <= x <= 10.2 & v == 0 & t == 0"
forbidden = "x >= 12 | loc(b)==ground & x > 1"
time-horizon = 40
"""
EXPORTED, EXPORTED_CONFIG = write_spaceex(read_spaceex(XML, CONFIG, "ball.xml"))

PIECES = re.compile(rb"[\w.]+|&\w+;|\s+|.", re.DOTALL)
FRAGMENTS = [
    b"",
    b"<flow>",
    b"</location>",
    b"&amp;",
    b"&lt;",
    b"'",
    b"((((",
    b"))))",
    b"1e99999999",
    b"0/0",
    b"x^x^x^9999999",
    b"9^9^9^9",
    b"loc(b)",
    b"false",
    b"\x00",
    b"\xff",
    b"-",
    b"!",
    b"|",
    b"==",
    b":=",
    b"component",
    b"system",
    b'controlled="false"',
    b'dynamics="const"',
    b'local="true"',
    b"sum",
    b"time",
    b"[1]",
    b'"',
    b"#",
    b"1",
    b"2",
]


def mutated(data: bytes) -> st.SearchStrategy[bytes]:
    """A few pieces of the text replaced, doubled, or swapped."""
    pieces = PIECES.findall(data)
    place = st.integers(0, len(pieces) - 1)
    edit = st.tuples(place, place, st.sampled_from(["put", "double", "swap", "drop"]))

    def apply(edits: list[tuple[tuple[int, int, str], bytes]]) -> bytes:
        text = list(pieces)
        for (one, other, how), fragment in edits:
            if how == "put":
                text[one] = fragment
            elif how == "double":
                text[one] += text[other]
            elif how == "swap":
                text[one], text[other] = text[other], text[one]
            else:
                text[one] = b""
        return b"".join(text)

    edits = st.lists(st.tuples(edit, st.sampled_from(FRAGMENTS)), min_size=1, max_size=4)
    return edits.map(apply)


def harmless(xml: bytes, config: str | None) -> None:
    try:
        automaton = read_spaceex(xml, config, "mutant.xml")
    except ModelError as error:
        if not error.diagnostics or not error.render():
            raise
        return
    for start in automaton.initial_sets():
        automaton.location(start.location)
        automaton.edges_from(start.location)


@settings(max_examples=400)
@given(mutated(XML))
def test_mutated_models_are_read_or_refused(xml: bytes) -> None:
    harmless(xml, CONFIG)


@settings(max_examples=200)
@given(mutated(CONFIG.encode()))
def test_mutated_configurations_are_read_or_refused(config: bytes) -> None:
    harmless(XML, config.decode("latin-1"))


@settings(max_examples=200)
@given(mutated(EXPORTED.encode()))
def test_mutated_exports_are_read_or_refused(xml: bytes) -> None:
    harmless(xml, EXPORTED_CONFIG)


@settings(max_examples=200)
@given(st.binary(max_size=200))
def test_random_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(ModelError):
        read_spaceex(data, None, "noise.xml")
    harmless(spaceex(component("c", location(1, "a"))), data.decode("latin-1"))


def nested(depth: int) -> str:
    return "(" * depth + "x" + ")" * depth


HUGE: dict[str, Callable[[], tuple[bytes, str | None]]] = {
    "brackets": lambda: (spaceex(component("c", real("x"), location(1, "a", nested(10**6)))), None),
    "minus signs": lambda: (
        spaceex(component("c", real("x"), location(1, "a", "x' == " + "-" * 10**6 + "x"))),
        None,
    ),
    "long sum": lambda: (
        spaceex(component("c", real("x"), location(1, "a", "x' == " + "x + " * 10**5 + "1"))),
        None,
    ),
    "many conjuncts": lambda: (
        spaceex(
            component(
                "c",
                real("x"),
                location(1, "a", "x' == 1", " & ".join(f"x <= {i}" for i in range(20_000))),
            )
        ),
        None,
    ),
    "many bounds": lambda: (
        spaceex(
            component(
                "c",
                real("x"),
                location(1, "a", " & ".join(f"x' <= {i}*x" for i in range(1, 20_000))),
            )
        ),
        None,
    ),
    "chain of resets": lambda: (
        spaceex(
            component(
                "c",
                real(*(f"x{i}" for i in range(3000))),
                location(1, "a"),
                transition(1, 1, assignment=" & ".join(f"x{i}' == x{i + 1}'" for i in range(2999))),
            )
        ),
        None,
    ),
    "many locations": lambda: (
        spaceex(component("c", real("x"), *(location(i, f"l{i}", "x' == 1") for i in range(5000)))),
        'initially = "x == 1"',
    ),
    "long configuration": lambda: (
        spaceex(component("c", real("x"), location(1, "a"))),
        'initially = "' + "x == 1 & \n" * 100_000 + 'x == 1"',
    ),
    "endless quote": lambda: (
        spaceex(component("c", real("x"), location(1, "a"))),
        'initially = "' + "\n" * 500_000,
    ),
    "deep binds": lambda: (
        spaceex(
            component("n0", real("x"), location(1, "a")),
            *(component(f"n{i}", bind(f"n{i - 1}", "b")) for i in range(1, 5000)),
        ),
        "system = n4999",
    ),
}


@pytest.mark.parametrize("case", slow_but(["brackets", "deep binds"], HUGE))
def test_huge_files_are_read_or_refused(case: str) -> None:
    xml, config = HUGE[case]()
    harmless(xml, config)
