"""Certificates of rectangular systems: small, by construction, and worthless when touched."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import workbench.reach.rectangular.evidence as module
from workbench.abstraction.strategies.rectangular import RectangularStrategy
from workbench.abstraction.strategies.strategy import Task
from workbench.abstraction.verification import deadline, verify
from workbench.models.automaton import (
    INT,
    Automaton,
    Constraint,
    Edge,
    HybridAutomaton,
    Initial,
    Kind,
    Location,
    Property,
    Range,
    Variable,
    primed,
)
from workbench.models.certificates.certificate import Certificate, decode, encode
from workbench.models.certificates.check import check
from workbench.models.certificates.judgement import Accepted, Rejected
from workbench.models.checker.covers import Impossible, InCell
from workbench.models.evidence.polyhedral import Evidence, Kept, PolyhedralProof
from workbench.models.expressions.expression import TRUE, conjunction, constant, equal, variable
from workbench.models.linear import Form, Row
from workbench.models.load import load
from workbench.models.lowering.problem import linear_problem
from workbench.models.verdict import Falsified, Unknown, Verified
from workbench.reach.rectangular.evidence import prove_nodes
from workbench.reach.rectangular.exploration import Node, explore_hulls
from workbench.reach.rectangular.starts import start_entries
from workbench.reach.rectangular.system import Packing, RectangularSystem
from workbench.reach.sets.double_description import Vector, coprime
from workbench.reach.sets.polyhedron import Polyhedron


def explored(model: Automaton, packing: Packing) -> tuple[RectangularSystem, list[Node]]:
    system = RectangularSystem(linear_problem(model, model.properties[0]), packing)
    found = explore_hulls(system)
    assert found.complete and found.path is None
    return system, found.nodes


def proved(model: Automaton, packing: Packing = Packing.PAIRED) -> PolyhedralProof:
    proof = prove_nodes(*explored(model, packing))
    assert isinstance(proof, PolyhedralProof)
    return proof


def judged(model: Automaton, proof: PolyhedralProof) -> Accepted | Rejected:
    claim = model.properties[0].name
    return check(model, claim, Certificate(model.name, model.sha256, claim, proof))


def library(name: str, **parameters: int) -> Automaton:
    return load(name, parameters={k: Fraction(v) for k, v in parameters.items()}).automaton


# Regions


def test_regions_contain_the_sets_and_say_only_what_is_needed() -> None:
    model = library("fischer", n=3)
    system, nodes = explored(model, Packing.PAIRED)
    proof = prove_nodes(system, nodes)
    assert isinstance(proof, PolyhedralProof)
    assert isinstance(judged(model, proof), Accepted)
    said = 0
    for node, region in zip(nodes, proof.regions, strict=True):
        assert region.location == node.place.location
        known = dict(zip(system.explicit, node.place.values, strict=True))
        for form in region.predicates:
            said += 1
            assert largest(form, known, system, node) <= 0
    possible = 2 * len(system.explicit) * len(nodes) + sum(
        len(p.inequalities) + 2 * len(p.equations) for node in nodes for p in node.elapsed
    )
    assert said < possible / 2


def largest(
    form: Form, known: dict[str, int | Fraction], system: RectangularSystem, node: Node
) -> Fraction:
    """The greatest value of a form over the vertices of a pack that has its other names."""
    fixed = form.constant + sum(
        (a * known[n] for n, a in form.coefficients.items() if n in known), Fraction(0)
    )
    names = [n for n in form.coefficients if n not in known]
    if not names:
        return fixed
    pack, states = next(
        (pack, p)
        for pack, p in zip(system.packs, node.states, strict=True)
        if set(names) <= set(pack)
    )
    return fixed + max(
        sum(
            (form.coefficients[n] * Fraction(g[pack.index(n) + 1], g[0]) for n in names),
            Fraction(0),
        )
        for g in states.generators
        if g[0]
    )


def test_certificates_survive_being_written_and_read() -> None:
    model = library("fischer", n=2)
    certificate = Certificate(model.name, model.sha256, "mutual exclusion", proved(model))
    again = decode(encode(certificate))
    assert isinstance(check(model, "mutual exclusion", again), Accepted)


# Tampering


def without_one_factor(piece: Evidence) -> Iterator[Evidence]:
    """The piece with one factor left out, negated or given to another row."""
    if isinstance(piece, InCell):
        for number, multipliers in enumerate(piece.proofs):
            for changed in changes(multipliers):
                proofs = (*piece.proofs[:number], changed, *piece.proofs[number + 1 :])
                yield replace(piece, proofs=proofs)
    elif isinstance(piece, Impossible | Kept):
        for changed in changes(piece.multipliers):
            yield replace(piece, multipliers=changed)


def changes(
    multipliers: tuple[tuple[int, Fraction], ...],
) -> Iterator[tuple[tuple[int, Fraction], ...]]:
    for k, (row, factor) in enumerate(multipliers):
        before, rest = multipliers[:k], multipliers[k + 1 :]
        yield before + rest
        yield (*before, (row, -factor), *rest)
        yield (*before, (row + 10**6, factor), *rest)


def test_evidence_that_is_touched_proves_nothing() -> None:
    model = library("fischer", n=2)
    proof = proved(model)
    tried = 0
    for number, piece in enumerate(proof.evidence):
        for changed in without_one_factor(piece):
            if tried % 7 == 0:  # every seventh: all of them take a minute
                evidence = (*proof.evidence[:number], changed, *proof.evidence[number + 1 :])
                assert isinstance(judged(model, replace(proof, evidence=evidence)), Rejected)
            tried += 1
    assert tried > 500


def test_every_statement_of_a_region_is_used() -> None:
    """Without a predicate the evidence does not fit any more."""
    model = library("fischer", n=2)
    proof = proved(model)
    for number, region in enumerate(proof.regions):
        for p in range(len(region.predicates)):
            predicates = region.predicates[:p] + region.predicates[p + 1 :]
            smaller = replace(region, predicates=predicates, cells=((1,) * len(predicates),))
            regions = (*proof.regions[:number], smaller, *proof.regions[number + 1 :])
            assert isinstance(judged(model, replace(proof, regions=regions)), Rejected)


@pytest.mark.parametrize(
    ("safe", "unsafe", "parameters"),
    [
        ("fischer", "fischer_hasty", {"n": 2}),
        ("fischer", "fischer_hasty", {"n": 3}),
        ("adaptive_cruise", "adaptive_cruise_slow", {"n": 3}),
    ],
)
def test_a_proof_is_none_of_the_unsafe_twin(
    safe: str, unsafe: str, parameters: dict[str, int]
) -> None:
    proof = proved(library(safe, **parameters))
    twin = library(unsafe, **parameters)
    assert isinstance(judged(twin, proof), Rejected)
    assert isinstance(RectangularStrategy().attempt(Task(twin, twin.properties[0])), Falsified)


# Resets and initial states


def chosen_values(limit: str) -> HybridAutomaton:
    """x in [0, 1], then any value between x + 1 and x + 2 times 3/2 is chosen."""
    x = variable("x")
    still = Constraint("x", Range(constant(0), constant(0)))
    sinking = Constraint("x", Range(constant(-1), constant(0)))
    return HybridAutomaton(
        "chooser",
        (Variable("x"),),
        (Location("a", (still,)), Location("b", (sinking,))),
        (
            Edge(
                "a",
                "b",
                TRUE,
                (Constraint("x", Range(x + 1, (x + 2) * constant(Fraction(3, 2)))),),
                name="choose",
            ),
        ),
        (Initial("a", conjunction(x >= 0, x <= 1)),),
        properties=(Property("low", x <= constant(Fraction(limit))),),
    )


def test_values_that_a_jump_chooses_need_no_general_search(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(obligation: object) -> None:
        raise AssertionError(f"searched for {obligation}")

    monkeypatch.setattr(module, "evidence_for", refuse)
    model = chosen_values("9/2")
    verdict = RectangularStrategy().attempt(Task(model, model.properties[0]))
    assert isinstance(verdict, Verified)
    twin = chosen_values("22/5")
    assert isinstance(RectangularStrategy().attempt(Task(twin, twin.properties[0])), Falsified)


def counter() -> HybridAutomaton:
    """A discrete count of 0 or 1 at the start, which a step raises."""
    x, k = variable("x"), variable("k")
    return HybridAutomaton(
        "counter",
        (Variable("x"), Variable("k", INT, Kind.DISCRETE)),
        (Location("a", (Constraint("x", Range.exactly(constant(1))),), invariant=x <= 2),),
        (
            Edge(
                "a",
                "a",
                conjunction(x >= 1, k <= 3),
                (
                    Constraint("x", Range.exactly(constant(0))),
                    Constraint("k", Range.exactly(k + 1)),
                ),
                name="step",
            ),
        ),
        (Initial("a", conjunction(equal(x, 0), equal(k, 1))),),
        properties=(Property("few", k <= 4),),
    )


def test_values_of_counters_are_carried_over() -> None:
    model = counter()
    proof = proved(model, Packing.WHOLE)
    assert isinstance(judged(model, proof), Accepted)
    assert len(proof.regions) == 4


names = ("a", "b", "c", "d")


@st.composite
def start_rows(draw: st.DrawFn) -> tuple[Row, ...]:
    """Rows over values before and after entry, few of which are connected."""
    found: list[Row] = []
    for name in names:
        low = draw(st.integers(-3, 3))
        high = low + draw(st.integers(0, 3))
        found.append(Row(Form({name: Fraction(1)}, Fraction(-high))))
        found.append(Row(Form({name: Fraction(-1)}, Fraction(low))))
        same = Form({primed(name): Fraction(1), name: Fraction(-1)})
        found += [Row(same), Row(-same)]
    for _ in range(draw(st.integers(0, 2))):
        pair = draw(st.lists(st.sampled_from(names), min_size=2, max_size=2, unique=True))
        form = Form({n: Fraction(draw(st.sampled_from([1, -1]))) for n in pair}, Fraction(-1))
        found.append(Row(form, draw(st.booleans())))
    return tuple(found)


@settings(max_examples=80, deadline=None)
@given(start_rows())
def test_initial_states_are_projections_of_all_rows(rows: tuple[Row, ...]) -> None:
    packs = (("a", "b"), ("c",), ("b", "d", "a"))
    found = list(start_entries(rows, (), packs, {}))
    order = [*names, *map(primed, names)]
    vectors: list[Vector] = [
        (-int(row.form.constant), *(-int(row.form.coefficients.get(n, 0)) for n in order))
        for row in rows
    ]
    whole = Polyhedron.universe(len(order)).restricted(vectors)
    at_edge = any(
        row.strict and all(sum(map(int.__mul__, v, g)) == 0 for g in whole.generators)
        for row, v in zip(rows, vectors, strict=True)
    )
    assert bool(found) == (not whole.is_empty and not at_edge)
    for _, entries in found:
        for pack, entry in zip(packs, entries, strict=True):
            kept = [order.index(primed(n)) + 1 for n in pack]
            points = [coprime([g[0], *(g[i] for i in kept)]) for g in whole.generators]
            expected = Polyhedron.generated(len(pack), points)
            seen = Polyhedron.generated(len(pack), entry.points, entry.lines)
            assert expected.contains(seen) and seen.contains(expected)


# Time


def many_directions(count: int) -> HybridAutomaton:
    """Rates in ranges and an invariant that mixes all variables: sets with many corners."""
    x = [variable(f"x{i}") for i in range(count)]
    rates = tuple(
        Constraint(f"x{i}", Range(constant(i % 5 - 2), constant(i % 5 - 1))) for i in range(count)
    )
    mixed = [
        x[i] + x[(i + 1) % count] - constant(i % 3 + 1) * x[(i + 3) % count] <= 20 + i
        for i in range(count)
    ]
    starts = [conjunction(x[i] >= i, x[i] <= i + 1) for i in range(count)]
    total = x[0]
    for one in x[1:]:
        total = total + one
    return HybridAutomaton(
        "corners",
        tuple(Variable(f"x{i}") for i in range(count)),
        (Location("a", rates, invariant=conjunction(*mixed)),),
        (Edge("a", "a", x[0] + x[1] - x[2] >= 0, name="again"),),
        (Initial("a", conjunction(*starts)),),
        properties=(Property("low", total <= 300),),
    )


def test_an_operation_that_takes_too_long_ends_with_a_reason(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("workbench.reach.sets.double_description.MAX_PAIRS", 10**9)
    model = many_directions(11)
    task = Task(model, model.properties[0], deadline(0.3))
    verdict = verify(task, "rectangular")
    assert isinstance(verdict, Unknown)
    assert "time limit" in verdict.reason
