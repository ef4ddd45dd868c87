"""The public models beside the project: each imports with the expected shape, or is refused
for a stated reason; and what imports survives export and re-import unchanged."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from math import prod

import pytest
from spaceex_files import BENCHMARKS

from workbench.models.agents.composition import explicit
from workbench.models.automaton import Automaton, HybridAutomaton, Kind, Range
from workbench.models.expressions.expression import constant, variable
from workbench.models.interchange.spaceex_export import write_spaceex
from workbench.models.interchange.spaceex_import import import_spaceex, read_spaceex
from workbench.models.source import ModelError

pytestmark = pytest.mark.skipif(
    not BENCHMARKS.is_dir(), reason="the folder ../shared/benchmarks is not beside the project"
)


@dataclass(frozen=True)
class Shape:
    """How many of everything: locations are those of the full product."""

    variables: int
    locations: int
    edges: int
    components: int = 1
    inputs: int = 0
    parameters: int = 0
    starts: int = 1
    properties: int = 0
    horizon: Fraction | None = None
    warnings: int = 0


F = Fraction
EXPECTED = {
    ("bball_cora/bball.xml", None): Shape(2, 1, 1),
    # The configuration calls the variables x and v by number: x1 and x2.
    ("bball_cora/bball.xml", "bball.cfg"): Shape(2, 1, 1, properties=1, horizon=F(40), warnings=2),
    ("bball_nondet/bball_nondet_revised.xml", "bball_nondet_revised.cfg"): Shape(
        2, 1, 1, inputs=2, horizon=F(40)
    ),
    ("bball_timed/bball_timed.xml", "bball_timed.cfg"): Shape(3, 1, 1, 2, horizon=F(10)),
    ("buck/buck_dcm_vs1.xml", "buck_dcm_vs1.cfg"): Shape(4, 6, 8, 2, horizon=F(1, 25)),
    ("buck/buck_dcm_vs2.xml", "buck_dcm_vs2.cfg"): Shape(4, 9, 8, 2, horizon=F(1, 25)),
    ("building_48/build_48.xml", None): Shape(49, 1, 0, inputs=1, parameters=2, warnings=1),
    ("circle/circle.xml", "circle.cfg"): Shape(2, 2, 2, starts=2, horizon=F(4)),
    ("clamped_beam/CB22Cd_100.xml", None): Shape(201, 1, 0),
    ("clamped_beam/CB22Fd_100.xml", None): Shape(200, 1, 0, inputs=1),
    ("controller_heater/controller_heater.xml", "controller_heater.cfg"): Shape(
        1, 4, 4, 2, horizon=F(25)
    ),
    ("drivetrain/drivetrain_theta1_100percent.xml", None): Shape(10, 4, 5, starts=4),
    ("drivetrain/drivetrain_theta1_5percent.xml", None): Shape(10, 4, 5, starts=4),
    ("embrake/embrake.xml", "embrake_deterministic.cfg"): Shape(6, 1, 1, 2, horizon=F(1, 10)),
    ("embrake/embrake.xml", "embrake_nondeterministic.cfg"): Shape(6, 1, 1, 2, horizon=F(1, 10)),
    ("embrake/embrake_periodic.xml", "embrake_deterministic.cfg"): Shape(
        6, 1, 1, 2, horizon=F(1, 10)
    ),
    ("filtered_oscillator/filtered_oscillator.xml", "filtered_oscillator.cfg"): Shape(
        6, 4, 4, 5, starts=4, horizon=F(2)
    ),
    ("filtered_oscillator_16/filtered_oscillator_16.xml", "filtered_oscillator_16.cfg"): Shape(
        18, 4, 4, 17, starts=4, horizon=F(2)
    ),
    ("gearbox/gearbox.xml", "SX_Mesh.cfg"): Shape(6, 2, 6, 2, starts=2, horizon=F(1, 10)),
    ("heat3d/heat_5.xml", "heat_5.cfg"): Shape(126, 1, 0, horizon=F(40)),
    ("heater_lygeros/heaterLygeros.xml", "heaterLygeros.cfg"): Shape(2, 2, 2, horizon=F(25)),
    ("lowpass_parallel/lowpass_parallel.xml", None): Shape(6, 9, 8, 2, inputs=1, starts=9),
    ("motor8d/mcs_8.xml", "mcs_8.cfg"): Shape(9, 1, 0, inputs=2, properties=1, horizon=F(20)),
    ("platoon_hybrid/platoon_continuous.xml", None): Shape(9, 1, 0, inputs=1),
    ("platoon_hybrid/platoon_hybrid.xml", None): Shape(10, 2, 2, inputs=1, starts=2),
    ("rendezvous/rendezvous_noPass_4d.xml", None): Shape(5, 2, 1, starts=2),
    ("rendezvous/rendezvous_noPass_6d.xml", None): Shape(7, 2, 1, starts=2),
    ("rendezvous/rendezvous_nonlin_4d.xml", None): Shape(4, 1, 0, warnings=1),
    ("rendezvous/rendezvous_nonlinear_passive_4d.xml", None): Shape(5, 3, 3, starts=3, warnings=4),
    ("rendezvous/rendezvous_passive_4d.xml", None): Shape(5, 3, 3, starts=3),
    ("rendezvous/rendezvous_passive_6d.xml", None): Shape(7, 3, 3, starts=3),
    ("tank6_hier/tank6.xml", "tank6.cfg"): Shape(6, 1, 0, 6, horizon=F(400)),
    ("toy_safe/toy_safe.xml", "toy_safe.cfg"): Shape(3, 2, 2, properties=1, horizon=F(20)),
    ("toy_unsafe/toy_unsafe.xml", "toy_unsafe.cfg"): Shape(3, 2, 2, properties=1, horizon=F(20)),
    ("vanderpol/vanDerPol.xml", None): Shape(2, 1, 0, inputs=1),
    ("vanderpol/vanDerPol_ARCH22.xml", None): Shape(5, 1, 0),
    ("yaw_damper/yaw_damper.xml", "yaw_damper.cfg"): Shape(6, 1, 0, 2, horizon=F(40)),
}

REFUSED = {
    # The configuration belongs to another model, whose system is called `top`.
    ("tank6_hier/tank6.xml", "three_hier.cfg"): "unknown-component",
}


def texts(path: str, config: str | None) -> tuple[bytes, str | None]:
    file = BENCHMARKS / path
    beside = None if config is None else (file.parent / config).read_text("latin-1")
    return file.read_bytes(), beside


def shape_of(automaton: Automaton, warnings: int) -> Shape:
    return Shape(
        len(automaton.variables),
        prod(len(c.locations) for c in automaton.components),
        sum(len(c.edges) for c in automaton.components),
        len(automaton.components),
        len(automaton.inputs),
        len(automaton.parameters),
        len(list(automaton.initial_sets())),
        len(automaton.properties),
        automaton.horizon,
        warnings,
    )


def test_every_file_is_accounted_for() -> None:
    present = {str(f.relative_to(BENCHMARKS)) for f in BENCHMARKS.glob("*/*.xml")}
    named = {path for path, _ in (*EXPECTED, *REFUSED)}
    assert named <= present
    for path in sorted(present - named):
        read_spaceex((BENCHMARKS / path).read_bytes(), None, path)


@pytest.mark.parametrize(("path", "config"), EXPECTED, ids=str)
def test_imports_with_the_expected_shape(path: str, config: str | None) -> None:
    xml, beside = texts(path, config)
    found = import_spaceex(xml, beside, path)
    assert shape_of(found.automaton, len(found.warnings)) == EXPECTED[path, config]


@pytest.mark.parametrize(("path", "config"), REFUSED, ids=str)
def test_refused_for_a_stated_reason(path: str, config: str) -> None:
    xml, beside = texts(path, config)
    with pytest.raises(ModelError) as caught:
        read_spaceex(xml, beside, path)
    (found,) = caught.value.diagnostics
    assert found.code == REFUSED[path, config]
    assert found.span is not None


@pytest.mark.parametrize(("path", "config"), EXPECTED, ids=str)
def test_survives_export_and_import(path: str, config: str | None) -> None:
    xml, beside = texts(path, config)
    automaton = read_spaceex(xml, beside, path)
    again = read_spaceex(*_encoded(write_spaceex(automaton)), "again.xml")
    whole = automaton if isinstance(automaton, HybridAutomaton) else explicit(automaton)
    assert again == whole
    assert again.sha256 == whole.sha256


def _encoded(written: tuple[str, str]) -> tuple[bytes, str]:
    xml, config = written
    return xml.encode(), config


# Numbers worked out by hand from the files


def test_toy_constants_are_replaced_by_their_values() -> None:
    found = read_spaceex(*texts("toy_safe/toy_safe.xml", "toy_safe.cfg"), "toy.xml")
    assert found.name == "toy_1" and found.parameters == ()
    x, t, clock = (variable(n) for n in ("x", "t", "tglobal"))
    assert found.location("loc1").invariant == (x <= 10) & (t <= 20) & (clock <= 20)
    first = found.edges_from("loc1")[0]
    assert first.guard == (x >= 9) & (t >= F(1, 10))


def test_heater_and_controller_switch_together() -> None:
    name = "controller_heater/controller_heater"
    found = read_spaceex(*texts(f"{name}.xml", "controller_heater.cfg"), "heater.xml")
    (edge,) = found.edges_from("heater_off|controller_off")
    assert (edge.target, edge.label) == ("heater_on|controller_on", "turn_on")
    assert edge.guard == (variable("t") <= 18)
    assert found.edges_from("heater_on|controller_off") == ()
    assert found.location("heater_on|controller_on").flow_of("t") == Range.exactly(constant(2))


def test_filters_in_series_read_their_predecessors() -> None:
    xml, config = texts("filtered_oscillator/filtered_oscillator.xml", "filtered_oscillator.cfg")
    found = read_spaceex(xml, config, "filter.xml")
    place = found.location("np")
    chain = ["x", "f4.x1", "f4.x2", "f4.x3", "z"]
    for before, after in pairwise(chain):
        low = place.flow_of(after).exact
        assert low == -5 * variable(after) - -5 * variable(before)


def test_gearbox_is_stuck_once_meshed() -> None:
    found = read_spaceex(*texts("gearbox/gearbox.xml", "SX_Mesh.cfg"), "gear.xml")
    flow = found.location("meshed").flow_of("px")
    assert flow.low is not None and flow.high is not None
    assert flow.low.constant > flow.high.constant


def test_filter_outputs_are_defined_by_equations() -> None:
    found = read_spaceex(*texts("lowpass_parallel/lowpass_parallel.xml", None), "filter.xml")
    place = found.location("loc1_21|loc2_31")
    assert {c.variable: str(c.range.exact) for c in place.algebraic} == {"y1": "x2", "y2": "x4"}
    assert all(v.kind is Kind.ANALOG for v in found.variables)
