"""A `forall` is the conjunction that its cases make, however they are made."""

from __future__ import annotations

from fractions import Fraction

import pytest

from tests.support.charon_texts import agent_of, codes
from workbench.models.expressions.expression import Expression
from workbench.models.language import unrolling
from workbench.models.load import load

TEXT = """
const real bound = 7;
mode L() {{ write analog real x, y; diff {{ d(x) == 1; d(y) == -1; }} }}
mode T() {{ write analog real x, y; mode a = L(); trans from init to a }}
agent Car(int i) {{ private analog real x = i; private analog real y = 0; mode top = T(); }}
agent Main() {{
  agent car[i in 1..6] = Car(i);
  assert "all" {{ {condition} }}
}}
"""
CONDITIONS = [
    "forall i in 1..6 : car[i].x <= bound",
    "forall i in 1..5 : forall j in i + 1..6 : (car[i].x - car[j].x)^2 + car[i].y >= 1",
    "forall i in 1..6 : forall j in 1..6 : car[i].x - car[j].x <= 9",  # a pair of one with itself
    "forall i in 1..6 : car[i].x >= car[3].x && car[3].x <= car[i].x",  # one that is always there
    "forall i in 1..6 : car[i].x <= 3 || car[i].x <= car[3].x || car[3].x <= 3",
    "forall i in 1..6 : car[i].x <= 2*i",  # the index is also a number
    "forall i in 1..5 : car[i + 1].x - car[i].x <= i + bound",
    "forall i in 1..5 : car[i].x <= car[i + 1].x && car[i].x <= car[i + 1].x",
    "(sum i in 1..6 : car[i].x*car[i].y + 1) <= bound",
    "forall i in 1..5 : (sum j in i..6 : car[j].x) >= car[i].y",
    "forall i in 1..5 : forall i in 2..6 : car[i].x >= 0",  # the inner index hides the outer
    "forall i in 1..6 : forall j in 1..6 : car[(i + j) - i].y + car[i].x >= 0",
]


def condition_of(text: str) -> Expression:
    return agent_of(TEXT.format(condition=text)).claims[0].condition


@pytest.mark.parametrize("condition", CONDITIONS)
def test_patterns_give_what_resolving_every_case_gives(
    condition: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    by_pattern = condition_of(condition)
    monkeypatch.setattr(unrolling, "FEW", 10**9)
    assert by_pattern == condition_of(condition)


@pytest.mark.parametrize(
    ("condition", "code"),
    [
        ("forall i in 1..7 : car[i].x <= 3", "index-out-of-range"),
        ("forall i in 1..6 : car[i].z <= 3", "unknown-name"),
        ("forall i in 1..6 : car[i].x", "type-mismatch"),
        pytest.param(
            "forall i in 1..300 : forall j in 1..1000 : car[1].x <= j",
            "too-large",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_mistakes_are_found_in_every_case(condition: str, code: str) -> None:
    assert code in codes(TEXT.format(condition=condition))


@pytest.mark.slow
def test_all_pairs_of_three_hundred_cars() -> None:
    model = load("bumper_cars", parameters={"n": Fraction(300), "size": Fraction(40)})
    (claim, *_) = model.automaton.properties
    assert len(claim.condition.args) == 300 * 299 // 2
    assert model.automaton.sha256
