"""The normal form of a model allows all that the model does, and not much more.

Its lemma: starts, derivatives, jumps and bad states of the model satisfy the rows of the normal
form. Here thousands of them, made from the meaning of random models alone, are put into the rows;
moved elsewhere, most of them do not satisfy them any more.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from random import Random
from typing import Any

import pytest

from tests.support.kernel_documents import proof
from tests.support.linear_models import (
    MODE,
    State,
    Step,
    defined,
    jumps,
    linear_model,
    model_by_cases,
    moments,
    numbers,
    some_state,
    starts,
)
from workbench.models.agents.composition import Product
from workbench.models.automaton import (
    Constraint,
    Edge,
    HybridAutomaton,
    Initial,
    Location,
    Property,
    Range,
    Variable,
)
from workbench.models.certificates.certificate import Certificate
from workbench.models.certificates.check import check
from workbench.models.certificates.judgement import Accepted
from workbench.models.evidence.polyhedral import PolyhedralProof
from workbench.models.expressions.evaluation import evaluate
from workbench.models.expressions.expression import constant, equal, variable
from workbench.models.kernel.decode import MAX_DIGITS, decoded
from workbench.models.lowering.normal_form import NormalForm, NotLoweredError, number
from workbench.models.lowering.problem import linear_problem
from workbench.models.unfolding import case_of

Values = Mapping[str, Fraction]
Maker = Callable[[int], HybridAutomaton]
MODELS = pytest.mark.parametrize(
    ("made", "seed"),
    [
        *((linear_model, seed) for seed in range(6)),
        *((model_by_cases, seed) for seed in range(2)),
        *(pytest.param(linear_model, seed, marks=pytest.mark.slow) for seed in range(6, 60)),
        *(pytest.param(model_by_cases, seed, marks=pytest.mark.slow) for seed in range(2, 30)),
    ],
)
TRIES = 150


class Numbered:
    """A model's normal form, and values by name in the order in which it has them."""

    def __init__(self, model: HybridAutomaton):
        self.problem = linear_problem(model, model.properties[0])
        values = [{"on": on, "at": at} for on in (False, True) for at in MODE.values]
        self.form = NormalForm(
            self.problem,
            [self.name(place.name, some) for place in model.locations for some in values],
        )
        self.locations, self.starts = self.form.data

    def holds(self, cases: Any, state: Values, after: Values, others: Values) -> bool:
        return any(self.row_hold(rows, state, after, others) for rows in cases)

    def row_hold(self, rows: Any, state: Values, after: Values, others: Values) -> bool:
        for form, strict in rows:
            value = self.value(form, state, after, others)
            if value > 0 or (strict and value == 0):
                return False
        return True

    def value(self, form: Any, state: Values, after: Values, others: Values) -> Fraction:
        constant, xs, ys, us = form
        found = Fraction(constant)
        found += sum(Fraction(a) * state[n] for a, n in zip(xs, self.form.states, strict=False))
        found += sum(Fraction(a) * after[n] for a, n in zip(ys, self.form.states, strict=False))
        for name, value in others.items():
            place = self.place(name)
            if place is not None and place < len(us):
                found += Fraction(us[place]) * value
        return found

    def place(self, name: str) -> int | None:
        """The number of an input, or of what stands for one."""
        try:
            kind, place = self.form.variable(name)
        except KeyError:
            return None
        assert kind == "Input"
        return int(place)

    def name(self, location: str, state: State) -> str:
        """What a location of the model is called, as it is in a state."""
        return case_of(self.problem.automaton, location, state)

    def number(self, location: str, state: State) -> int:
        return self.form.locations.index(self.name(location, state))

    def over(self, edge: str, step: Step) -> Any:
        """The rows of the jumps over an edge that lead where the step leads."""
        source, target = (
            self.name(*end) for end in ((step.source, step.before), (step.target, step.after))
        )
        made = self.locations[self.form.locations.index(source)][2]
        return [
            rows
            for jump, (_, cases) in zip(self.problem.jumps(source), made, strict=True)
            if jump.name == edge and jump.target == target
            for rows in cases
        ]


def moved(state: Values, random: Random) -> dict[str, Fraction]:
    """The same with x or y somewhere else, farther than any range is wide."""
    name = random.choice("xy")
    return {**state, name: state[name] + random.choice((-1, 1)) * Fraction(9, 4)}


@MODELS
def test_starts(made: Maker, seed: int) -> None:
    model, random = made(seed), Random(seed)
    numbered = Numbered(model)
    cases_of = {int(target): cases for target, cases in numbered.starts}
    elsewhere = count = 0
    for step in starts(model, random, 8 * TRIES):
        before, after = numbers(step.before), numbers(step.after)
        others = {"u": before["u"], "u'": after["u"]}
        cases = cases_of[numbered.number(step.target, step.after)]
        assert numbered.holds(cases, before, after, others), step
        elsewhere += not numbered.holds(cases, before, moved(after, random), others)
        count += 1
    assert count and elsewhere > count // 3


@MODELS
def test_derivatives(made: Maker, seed: int) -> None:
    model, random = made(seed), Random(seed)
    numbered = Numbered(model)
    elsewhere = count = 0
    for name, state, derivative in moments(model, random, TRIES):
        invariant, flows, _, _ = numbered.locations[numbered.number(name, state)]
        x = numbers(state)
        assert numbered.holds(invariant, x, x, {"u": x["u"]}), (name, state)
        assert _may_flow(numbered, flows, x, derivative), (name, state, derivative)
        elsewhere += not _may_flow(numbered, flows, x, moved(derivative, random))
        count += 1
    assert count > 10 and elsewhere > count // 2


def _may_flow(numbered: Numbered, flows: Any, x: Values, derivative: Values) -> bool:
    others = {"u": x["u"], **{f"d({name})": value for name, value in derivative.items()}}
    for rates, rows in flows:
        if numbered.row_hold(rows, x, x, others):
            found = [numbered.value(rate, x, x, others) for rate in rates]
            if found == [derivative.get(name, 0) for name in numbered.form.states]:
                return True
    return False


@MODELS
def test_jumps(made: Maker, seed: int) -> None:
    model, random = made(seed), Random(seed)
    numbered = Numbered(model)
    elsewhere = count = 0
    for edge, step in jumps(model, random, 3 * TRIES):
        cases = numbered.over(edge, step)
        x, y = numbers(step.before), numbers(step.after)
        others = {"u": x["u"], "u'": y["u"]}
        assert numbered.holds(cases, x, y, others), step
        elsewhere += not numbered.holds(cases, x, moved(y, random), others)
        count += 1
    assert count > 10 and elsewhere > count // 2


@MODELS
def test_bad_states(made: Maker, seed: int) -> None:
    model, random = made(seed), Random(seed)
    numbered = Numbered(model)
    for _ in range(TRIES):
        place = random.choice(model.locations)
        state = defined(place, some_state(random))
        bad = numbered.locations[numbered.number(place.name, state)][3]
        x = numbers(state)
        is_bad = not evaluate(model.properties[0].condition, state)
        is_inside = bool(evaluate(place.invariant, state))
        assert numbered.holds(bad, x, x, {"u": x["u"]}) is (is_bad and is_inside), state


def test_a_location_that_nobody_speaks_about_is_forbidden() -> None:
    model = linear_model(0)
    problem = linear_problem(model, model.properties[0])
    form = NormalForm(problem, [model.locations[0].name])
    locations, _ = form.data
    assert locations[1:] == [[[], [], [], [[]]]] * (len(form.locations) - 1)
    assert form.locations[0] == model.locations[0].name


def test_of_a_product_only_the_locations_are_made_that_somebody_speaks_about() -> None:
    """A million of them would take hours."""
    heights = [variable(f"h{i}") for i in range(20)]
    switches = tuple(
        HybridAutomaton(
            f"s{i}",
            (Variable(f"h{i}"),),
            (
                Location("low", (Constraint(f"h{i}", Range.exactly(constant(1))),), (), h <= 2),
                Location("high"),
            ),
            (Edge("low", "high", h >= 1),),
            (Initial("low", equal(h, 0)),),
        )
        for i, h in enumerate(heights)
    )
    claim = Property("low", heights[0] <= 2)
    product = Product("many", switches, properties=(claim,))
    here = "|".join(["low"] * 20)
    form = NormalForm(linear_problem(product, claim), [here])
    (places, ((start, _),)) = form.data
    assert start == "0" and form.taken == 1 and len(places) == 1 + len(switches)
    assert {int(target) for target, _ in places[0][2]} == set(range(1, 21))


def test_a_name_with_two_meanings_is_refused() -> None:
    model = linear_model(0)
    for taken in ("x'", "d(y)", "u"):
        twice = replace(model, variables=(*model.variables, Variable(taken)))
        with pytest.raises(NotLoweredError, match=re.escape(f"{taken!r} has two meanings")):
            NormalForm(linear_problem(twice, twice.properties[0]), [])


def test_numbers_that_the_decoder_would_refuse_are_not_given_to_the_kernel() -> None:
    for digits in (1, 50, MAX_DIGITS // 2):
        value = Fraction(7 * 10**digits + 1, 3)
        found = decoded("affine", ["0", [number(value)]])
        assert found.gradient == (value.as_integer_ratio(), None)
    for digits in (MAX_DIGITS, 3 * MAX_DIGITS):
        with pytest.raises(NotLoweredError, match="digits"):
            number(Fraction(7 * 10**digits + 1, 3))


def test_nothing_is_accepted_where_the_kernel_cannot_be_asked() -> None:
    """The certificate is right, with a number in it that is longer than the decoder takes."""
    model, found = proof("locations")
    assert isinstance(found, PolyhedralProof)
    claim = model.properties[0].name
    small = Fraction(1, 10 ** (2 * MAX_DIGITS))
    region, *others = found.regions
    for margin, accepted in ((Fraction(0), True), (small, False)):
        proved = replace(found, regions=(replace(region, margin=margin), *others))
        judged = check(model, claim, Certificate(model.name, model.sha256, claim, proved))
        assert isinstance(judged, Accepted) == accepted
        assert accepted or (judged.obligation == "kernel" and "digits" in judged.why)
