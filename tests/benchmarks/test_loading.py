"""How long loading takes; `make bench` prints the numbers.

The limits are promises to users with a margin for slow machines, not measurements.
"""

from __future__ import annotations

import time
from fractions import Fraction
from pathlib import Path

import pytest

from workbench.models.load import load

pytestmark = pytest.mark.slow


def seconds(reference: str | Path, **parameters: int) -> float:
    """The time to load a model, the libraries being imported already."""
    load("bouncing_ball")
    begun = time.process_time()
    load(reference, parameters={name: Fraction(value) for name, value in parameters.items()})
    return time.process_time() - begun


@pytest.mark.parametrize(("name", "limit"), [("platoon_paper", 1), ("navigation", 2)])
def test_a_library_model(name: str, limit: float) -> None:
    took = seconds(name)
    print(f"\n{name:<40} {took:8.3f} s")
    assert took < limit


def test_a_convoy_of_fifty_vehicles() -> None:
    took = seconds("platoon_convoy", n=50)
    print(f"\n{'convoy of 50 vehicles':<40} {took:8.3f} s")
    assert took < 3


def test_a_long_file(tmp_path: Path) -> None:
    """Ten thousand lines: a thousand modes with a thousand transitions between them."""
    count = 1000
    lines = []
    for i in range(count):
        lines += [
            f"mode M{i}() {{",
            "  write analog real x;",
            "  diff {",
            f"    d(x) == {i + 1} - x;",
            "  }",
            f"  inv {{ x <= {i + 1} }}",
            "}",
            "",
        ]
    lines += ["mode Top() {", "  write analog real x;"]
    lines += [f"  mode m{i} = M{i}();" for i in range(count)]
    lines += ["  trans from init to m0"]
    lines += [f"  trans from m{i} to m{(i + 1) % count} when x >= {i}" for i in range(count)]
    lines += ["}", "agent A() {", "  private analog real x = 0;", "  mode top = Top();", "}"]
    path = tmp_path / "long.charon"
    path.write_text("\n".join(lines))
    took = seconds(path)
    print(f"\n{f'{len(lines)} lines':<40} {took:8.3f} s")
    assert took < 15
