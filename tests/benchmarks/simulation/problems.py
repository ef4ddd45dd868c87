"""The problems of the comparison, as data that every tool can read.

A problem has equations x' = f(x) and guards g: the event is the first time at which all g of
one alternative are non-negative. Each is written twice, for floats (`rhs`, `guard`) and as text
in our expression language, from which also the symbolic form for Taylor tools is made.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random


@dataclass
class Counter:
    """How often a right-hand side was evaluated, and how often where it has no value."""

    evaluations: int = 0
    singular: int = 0


@dataclass(frozen=True)
class Problem:
    """One initial value problem with an event."""

    name: str
    variables: tuple[str, ...]
    equations: tuple[str, ...]
    guards: tuple[str, ...]
    start: tuple[float, ...]
    until: float
    rhs: Callable[[Sequence[float]], list[float]]
    guard: Callable[[Sequence[float]], float]
    true_time: float | None = None
    counter: Counter = field(default_factory=Counter)

    def counted(self, x: Sequence[float]) -> list[float]:
        """The right-hand side, counted; NaN where it has no value."""
        self.counter.evaluations += 1
        try:
            return self.rhs(x)
        except (ValueError, ZeroDivisionError):
            self.counter.singular += 1
            return [math.nan] * len(self.variables)


def thin_posts(count: int = 100, seed: int = 1) -> list[Problem]:
    """A robot on an arc of radius 5 meets a post of radius 0.05 after a random way."""
    random, found = Random(seed), []
    for _ in range(count):
        way = random.uniform(1.0, 30.0)
        px, py = 5 * math.sin(way / 5), 5 * (1 - math.cos(way / 5))
        found.append(
            Problem(
                "thin post",
                ("x", "y", "heading"),
                ("cos(heading)", "sin(heading)", "1/5"),
                (f"0.0025 - (x - ({px!r}))^2 - (y - ({py!r}))^2",),
                (0.0, 0.0, 0.0),
                31.0,
                lambda x: [math.cos(x[2]), math.sin(x[2]), 0.2],
                lambda x, px=px, py=py: 0.0025 - (x[0] - px) ** 2 - (x[1] - py) ** 2,
                way - 0.05,
            )
        )
    return found


def corridors(seed: int = 2) -> list[Problem]:
    """Five starts with a hundred perturbations each, towards a thin rib; all crash."""
    random, found = Random(seed), []
    for nominal in (0.60, 0.65, 0.70, 0.75, 0.80):
        for _ in range(100):
            angle, radius = random.uniform(0, 2 * math.pi), 0.05 * math.sqrt(random.random())
            found.append(
                Problem(
                    f"corridor {nominal:.2f}",
                    ("x", "y", "heading"),
                    ("cos(heading)", "sin(heading)", "-y - 0.4*heading"),
                    ("x - 2.95", "3.05 - x", "-0.25 - y"),
                    (radius * math.cos(angle), nominal + radius * math.sin(angle), 0.0),
                    10.0,
                    lambda x: [math.cos(x[2]), math.sin(x[2]), -x[1] - 0.4 * x[2]],
                    lambda x: min(x[0] - 2.95, 3.05 - x[0], -0.25 - x[1]),
                )
            )
    return found


def arms(count: int = 100, seed: int = 3) -> list[Problem]:
    """The joint angles of a two-link arm whose hand leaves the workspace; beyond its edge
    the equations have no value."""
    random, found = Random(seed), []
    for _ in range(count):
        speed, side = random.uniform(0.5, 1.5), random.uniform(-0.5, 0.5)
        text = f"({speed!r})*(1 + 0.1*acos((x^2 + y^2 - 2)/2))"

        def rhs(x: Sequence[float], speed: float = speed) -> list[float]:
            elbow = math.acos((x[0] ** 2 + x[1] ** 2 - 2) / 2)
            return [speed * (1 + 0.1 * elbow), 0.2 * math.sqrt(4 - x[0] ** 2 - x[1] ** 2)]

        found.append(
            Problem(
                "two-link arm",
                ("x", "y"),
                (text, "0.2*sqrt(4 - x^2 - y^2)"),
                ("x^2 + y^2 - 4",),
                (0.5, side),
                10.0,
                rhs,
                lambda x: x[0] ** 2 + x[1] ** 2 - 4,
            )
        )
    return found


def tank() -> Problem:
    """Torricelli's tank h' = -sqrt(h) from 1: empty at 2."""
    return Problem(
        "tank", ("h",), ("-sqrt(h)",), ("-h",), (1.0,), 3.0,
        lambda x: [-math.sqrt(x[0])], lambda x: -x[0], 2.0,
    )  # fmt: skip
