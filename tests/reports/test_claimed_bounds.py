"""What the page says a certificate claims of single variables is what its rows say."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from tests.support.report_models import heater
from workbench.models.certificates.certificate import Certificate
from workbench.models.checker.covers import Region
from workbench.models.evidence.polyhedral import PolyhedralProof
from workbench.models.linear import Form
from workbench.reports.claims.claimed_set import polyhedral_set
from workbench.reports.data.sets import set_data

MODEL = heater()
X = Form({"x": Fraction(1)})
NARROW = {"x": (19.0, 21.0)}
"""Where the runs are: far less than what is claimed."""


def between(location: str, low: str, high: str) -> Region:
    rows = (X - Form({}, Fraction(high)), Form({}, Fraction(low)) - X)
    return Region(location, rows, ((1, 1),))


def data(*regions: Region) -> dict[str, Any]:
    automaton = MODEL.automaton
    proof = PolyhedralProof(regions, ())
    claim = automaton.properties[0]
    certificate = Certificate(MODEL.name, automaton.sha256, claim.name, proof)
    found = set_data(automaton, certificate, claim, polyhedral_set(proof), [], NARROW, ["x"])
    assert found is not None
    return found["intervals"]["x"]


def test_bounds_far_from_the_runs_are_told() -> None:
    found = data(between("on", "-119.5", "20"), between("off", "18", "500"))
    assert found["on"] == [[pytest.approx(-119.5), pytest.approx(20)]]
    assert found["off"][0][0] == pytest.approx(18)


def test_cells_apart_stay_apart() -> None:
    found = data(between("on", "10", "11"), between("on", "12", "13"))
    assert found["on"] == [[10, 11], [12, 13]]
