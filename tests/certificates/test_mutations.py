"""Thousands of spoiled certificates of every kind, and what must not happen to them.

Each model has a property that holds and one that is broken. A certificate of the first is
spoiled again and again, and offered as a proof of the second: there is none, so the checker
must refuse whatever comes. Offered for the property that holds, a spoiled certificate may
prove it in another way; then the states of runs, worked out here, must lie in its cells.

Certificates that stand alone are spoiled in their problem, too. Those offered for the broken property
have its problem in place of their own, so that only their evidence is not for it.
"""

from __future__ import annotations

import copy
import json
import random
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any

import pytest

from workbench.abstraction.strategies.strategy import Task
from workbench.abstraction.verification import verify
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
from workbench.models.certificates.certificate import (
    Certificate,
    MalformedCertificateError,
    decode,
    encode,
)
from workbench.models.certificates.check import check, check_alone, check_standalone
from workbench.models.certificates.judgement import Accepted, Rejected
from workbench.models.certificates.standalone import (
    StandaloneCertificate,
    certificate_text,
    read_certificate,
)
from workbench.models.evidence.polyhedral import PolyhedralProof
from workbench.models.expressions.expression import (
    Expression,
    conjunction,
    constant,
    equal,
    negation,
    variable,
)
from workbench.models.lowering.normal_form import NormalForm
from workbench.models.lowering.problem import linear_problem
from workbench.models.verdict import Verified

X, Y = variable("x"), variable("y")


def exactly(name: str, value: Expression | int) -> Constraint:
    value = value if isinstance(value, Expression) else constant(value)
    return Constraint(name, Range.exactly(value))


def basin() -> HybridAutomaton:
    """Filled by 1 to 2 up to 10 and drained by 1 to 2 down to 2: 10 is reached, 11 is not."""
    low, high = constant(-2), constant(-1)
    return HybridAutomaton(
        "basin",
        (Variable("x"),),
        (
            Location(
                "fill", (Constraint("x", Range(constant(1), constant(2))),), invariant=X <= 10
            ),
            Location("drain", (Constraint("x", Range(low, high)),), invariant=X >= 2),
        ),
        (Edge("fill", "drain", X >= 8, name="full"), Edge("drain", "fill", X <= 4, name="empty")),
        (Initial("fill", conjunction(X >= 4, X <= 5)),),
        properties=(
            Property("holds", conjunction(X >= 1, X <= 11)),
            Property("broken", conjunction(X >= 1, X <= 9)),
        ),
    )


def spiral() -> HybridAutomaton:
    """x' = -x + y/2, y' = -x/2 - y from x in [0, 1/10], y = 1: x(t) = e^-t (x0 cos(t/2) +
    sin(t/2)), which at t = 1 is at least e^-1 sin(1/2) > 0.17, and always below 1."""
    half = Fraction(1, 2)
    return HybridAutomaton(
        "spiral",
        (Variable("x"), Variable("y")),
        (Location("run", (exactly("x", half * Y - X), exactly("y", -half * X - Y))),),
        (),
        (Initial("run", conjunction(X >= 0, X <= Fraction(1, 10), equal(Y, 1))),),
        properties=(Property("holds", X <= 2), Property("broken", X <= Fraction(17, 100))),
    )


def circle() -> HybridAutomaton:
    """x' = y, y' = -x from x = 1, y in [0, 1/2], and y is halved where x <= 0: x(t) = cos t
    from y = 0 falls to -1, and never is above sqrt(5/4) < 1.12."""
    half = Fraction(1, 2)
    return HybridAutomaton(
        "circle",
        (Variable("x"), Variable("y")),
        (Location("run", (exactly("x", Y), exactly("y", -X))),),
        (Edge("run", "run", X <= 0, (exactly("y", half * Y),), name="halve"),),
        (Initial("run", conjunction(equal(X, 1), Y >= 0, Y <= half)),),
        properties=(Property("holds", X <= 2), Property("broken", X >= -half)),
    )


def growth() -> HybridAutomaton:
    """x' = x - x^3 from [1/10, 1/5]: x(t) = (1 + (1/x0^2 - 1) e^-2t)^(-1/2) is below 1, and
    from 1/5 it is (1 + 24 e^-4)^(-1/2) > 0.8 at t = 2."""
    return HybridAutomaton(
        "growth",
        (Variable("x"),),
        (Location("run", (exactly("x", X - X * X * X),)),),
        (),
        (Initial("run", conjunction(X >= Fraction(1, 10), X <= Fraction(1, 5))),),
        properties=(Property("holds", X <= 2), Property("broken", X <= Fraction(4, 5))),
    )


def fading() -> HybridAutomaton:
    """x' = 1, y' = -y from x = -2, y in [-2, 2]: y = 2 e^-2 is about 0.27 where x = 0. No convex
    set has the starts and what comes later without a state such as (0, 1.1)."""
    falls = negation(conjunction(X >= 0, Y >= 1))
    sooner = negation(conjunction(X >= 0, Y >= Fraction(1, 5)))
    return HybridAutomaton(
        "fading",
        (Variable("x"), Variable("y")),
        (Location("run", (exactly("x", 1), exactly("y", -Y)), invariant=X <= 50),),
        (),
        (Initial("run", conjunction(equal(X, -2), Y >= -2, Y <= 2)),),
        properties=(Property("holds", falls), Property("broken", sooner)),
    )


def saddle() -> HybridAutomaton:
    """x' = y, y' = 2 x - y on its stable line y = -2 x, from x in [9/10, 1]: x(t) = x(0) e^-2t. From
    the box of these starts x would grow like e^t."""
    on_line = equal(Y, -2 * X)
    return HybridAutomaton(
        "saddle",
        (Variable("x"), Variable("y")),
        (Location("run", (exactly("x", Y), exactly("y", 2 * X - Y))),),
        (),
        (Initial("run", conjunction(X >= Fraction(9, 10), X <= 1, on_line)),),
        properties=(
            Property("holds", conjunction(X >= -Fraction(1, 10), X <= Fraction(11, 10))),
            Property("broken", conjunction(X >= Fraction(1, 2), X <= Fraction(11, 10))),
        ),
    )


def certificate(model: HybridAutomaton, method: str, horizon: Fraction | None) -> Certificate:
    options = {} if horizon is None else {"horizon": horizon}
    verdict = verify(Task(model, model.properties[0], options=options), method)
    assert isinstance(verdict, Verified), verdict
    return verdict.certificate


KINDS: dict[str, tuple[Callable[[], HybridAutomaton], str, Fraction | None]] = {
    "rectangular": (basin, "rectangular", None),
    "template": (spiral, "template", None),
    "transient": (fading, "transient", None),
    "quadratic": (spiral, "quadratic", None),
    "quadratic function": (circle, "quadratic", None),
    "flowpipe": (spiral, "flowpipe", Fraction(2)),
    "flowpipe from a zonotope": (saddle, "flowpipe", Fraction(3)),
    "recurrence": (spiral, "recurrence", None),
    "nonlinear": (growth, "nonlinear", Fraction(2)),
}


BY_THE_CHECKER = {"flowpipe", "flowpipe from a zonotope", "recurrence", "nonlinear"}
"""The kinds that the kernel does not know."""


# Spoiling


def spoiled(data: Any, draw: random.Random) -> None:
    """Change one to three places of a certificate."""
    for _ in range(draw.randint(1, 3)):
        holder, key = draw.choice(_places(data))
        holder[key] = _other(holder[key], draw)


def _places(data: dict[str, Any]) -> list[tuple[Any, Any]]:
    """Every value below the head, with the object or list that holds it."""
    found: list[tuple[Any, Any]] = []
    pending: list[Any] = [data]
    while pending:
        holder = pending.pop()
        keys = holder if isinstance(holder, dict) else range(len(holder))
        for key in list(keys):
            if holder is data and key in ("schema", "kind", "model", "model_sha256", "property"):
                continue
            found.append((holder, key))
            if isinstance(holder[key], dict | list):
                pending.append(holder[key])
    return found


def _other(value: Any, draw: random.Random) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + draw.choice((-1, 1, 7))
    if isinstance(value, dict):
        return _without_or_renamed(value, draw)
    if isinstance(value, list):
        return _rearranged(value, draw)
    return _other_text(str(value), draw)


def _other_text(text: str, draw: random.Random) -> str:
    try:
        number = Fraction(text)
    except (ValueError, ZeroDivisionError):
        if text and set(text) <= {"+", "-"}:
            at = draw.randrange(len(text))
            return text[:at] + ("+" if text[at] == "-" else "-") + text[at + 1 :]
        return draw.choice(("fill", "drain", "run", "x", "time", "inward", "empty", "invariant"))
    step = draw.choice((Fraction(1), Fraction(1, 16), -Fraction(1, 16), -Fraction(1)))
    return str(draw.choice((-number, number + step, 2 * number, number / 2, Fraction(0))))


def _rearranged(value: list[Any], draw: random.Random) -> list[Any]:
    after = list(value)
    if not after:
        return [*after, "1"]
    i, j = draw.randrange(len(after)), draw.randrange(len(after))
    what = draw.randrange(3)
    if what == 0:
        del after[i]
    elif what == 1:
        after.insert(j, after[i])
    else:
        after[i], after[j] = after[j], after[i]
    return after


def _without_or_renamed(value: dict[str, Any], draw: random.Random) -> dict[str, Any]:
    if not value:
        return {"0": "1"}
    key = draw.choice(sorted(value))
    left = {k: v for k, v in value.items() if k != key}
    if draw.random() < 0.5:
        left[draw.choice(("0", "1", "2", "x", "y"))] = value[key]
    return left


# Runs of the models, for the cells of a certificate


def reachable_states(draw: random.Random) -> list[tuple[str, Fraction]]:
    """States of a run of the basin, its rates and switching points chosen at random."""
    place, level = "fill", Fraction(draw.randint(16, 20), 4)
    found = [(place, level)]
    for _ in range(12):
        if place == "fill":
            level = Fraction(draw.randint(32, 40), 4)
            found += [(place, level), ("drain", level)]
            place = "drain"
        else:
            level = Fraction(draw.randint(8, 16), 4)
            found += [(place, level), ("fill", level)]
            place = "fill"
    return found


def lies_in_cells(proof: PolyhedralProof, place: str, state: dict[str, Fraction]) -> bool:
    def value(form: Any) -> Fraction:
        terms = (a * state[n] for n, a in form.coefficients.items())
        return form.constant + sum(terms, Fraction(0))

    return any(
        all(value(row.form) <= 0 for row in region.rows(number))
        for region in proof.regions
        if region.location == place
        for number in range(len(region.cells))
    )


# The tests


def offered(model: HybridAutomaton, data: dict[str, Any]) -> Accepted | Rejected:
    given = decode(json.dumps(data))
    return check(model, data["property"], given)


@cache
def proved(kind: str) -> tuple[HybridAutomaton, Certificate]:
    """A model, and a certificate of this kind of the property that holds."""
    build, method, horizon = KINDS[kind]
    model = build()
    return model, certificate(model, method, horizon)


def mutation_run(kind: str, count: int, seed: int) -> dict[str, int]:
    model, found = proved(kind)
    good = json.loads(encode(found))
    assert isinstance(offered(model, good), Accepted)
    draw = random.Random(seed)
    runs = [s for _ in range(5) for s in reachable_states(draw)]
    tally = {"malformed": 0, "refused": 0, "accepted": 0}
    for number in range(count):
        data = json.loads(json.dumps(good))
        is_for_broken = number % 2 == 0
        data["property"] = "broken" if is_for_broken else "holds"
        spoiled(data, draw)
        try:
            judgement = offered(model, data)
        except MalformedCertificateError:
            tally["malformed"] += 1
            continue
        if isinstance(judgement, Rejected):
            assert judgement.obligation
            tally["refused"] += 1
            continue
        assert not is_for_broken, data
        assert judgement.basis.kernel == (kind not in BY_THE_CHECKER)
        tally["accepted"] += 1
        proof = decode(json.dumps(data)).proof
        if kind == "rectangular":
            assert isinstance(proof, PolyhedralProof)
            assert all(lies_in_cells(proof, place, {"x": level}) for place, level in runs), data
    return tally


@pytest.mark.parametrize("kind", KINDS)
def test_no_spoiled_certificate_proves_what_is_broken(kind: str) -> None:
    count = 200 if kind in ("nonlinear", "recurrence") else 1000  # checking those takes longest
    assert mutation_run(kind, count, 1)["refused"] > count // 4


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(2, 6))
def test_no_spoiled_certificate_among_thousands_proves_what_is_broken(kind: str, seed: int) -> None:
    count = 6000 if kind == "nonlinear" else 20_000
    assert mutation_run(kind, count, seed)["refused"] > count // 4


# Certificates that stand alone

STANDING_ALONE = [kind for kind in KINDS if kind not in BY_THE_CHECKER]


def problem_of(model: HybridAutomaton, claim: int, good: StandaloneCertificate) -> Any:
    """The problem of a property, over the locations and the clock that a certificate speaks of."""
    problem = linear_problem(model, model.properties[claim])
    view = problem.with_clock if "time" in good.names.states else problem
    return NormalForm(view, good.names.locations).data


def standing_run(kind: str, count: int, seed: int) -> Counter[str]:
    """Nothing is accepted with the model but its own problem, and nothing for what is broken; alone,
    no evidence is accepted for the broken property's problem."""
    model, found = proved(kind)
    whole = certificate_text(model, found)
    good = read_certificate(whole)
    assert isinstance(good, StandaloneCertificate)
    problems = [problem_of(model, claim, good) for claim in (0, 1)]
    assert problems[0] == good.problem != problems[1]
    draw = random.Random(seed)
    tally: Counter[str] = Counter()
    for number in range(count):
        data = json.loads(whole)
        is_for_broken = number % 2 == 0
        if is_for_broken:
            data["property"] = "broken"
            data["document"]["problem"] = copy.deepcopy(problems[1])
        spoiled(data, draw)
        try:
            given = read_certificate(json.dumps(data))
        except MalformedCertificateError:
            tally["malformed"] += 1
            continue
        assert isinstance(given, StandaloneCertificate)
        judgement, alone = check_standalone(model, data["property"], given), check_alone(given)
        if isinstance(judgement, Accepted):
            assert not is_for_broken and given.problem == problems[0], data
            assert isinstance(alone, Accepted) and judgement.basis.name == "kernel"
        if isinstance(alone, Accepted):
            assert given.problem != problems[1], data
        tally["accepted" if isinstance(judgement, Accepted) else judgement.obligation] += 1
    return tally


@pytest.mark.parametrize("kind", STANDING_ALONE)
def test_no_spoiled_certificate_that_stands_alone_proves_what_is_broken(kind: str) -> None:
    tally = standing_run(kind, 300, 1)
    assert tally["problem"] > 30 and tally["evidence"] > 30


@pytest.mark.slow
@pytest.mark.parametrize("kind", STANDING_ALONE)
@pytest.mark.parametrize("seed", range(2, 6))
def test_none_among_thousands_that_stand_alone_proves_what_is_broken(kind: str, seed: int) -> None:
    tally = standing_run(kind, 10_000, seed)
    assert tally["problem"] > 1000 and tally["evidence"] > 1000
