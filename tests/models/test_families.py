"""Events of many alike pairs, kept as one pattern."""

from __future__ import annotations

from itertools import combinations

from charon_texts import automaton_of

from workbench.models.agents.composition import Interaction, Product
from workbench.models.agents.families import Family, Partner, Unrolled, parts_of
from workbench.models.automaton import Constraint, Range, primed
from workbench.models.expressions.expression import variable
from workbench.models.expressions.text import parse_expression
from workbench.models.expressions.traversal import conjuncts
from workbench.models.interchange.json_model import from_json, to_json
from workbench.models.load import load

PATTERN = Interaction(
    "meet",
    ("a", "b"),
    parse_expression("a.x >= b.x"),
    (
        Constraint("a.v", Range.exactly(variable(primed("b.v")) + 1)),
        Constraint("b.v", Range.exactly(variable("a.v"))),
    ),
)
SLOTS = (("a.v", "a.x"), ("b.v", "b.x"))


def partners(*names):
    return tuple(Partner(n, (f"{n}.v", f"{n}.x")) for n in names)


def family(*names):
    return Family(PATTERN, SLOTS, partners(*names))


def test_every_unordered_pair_gets_its_event():
    found = list(family("p", "q", "r"))
    assert [e.participants for e in found] == list(combinations("pqr", 2))
    assert found[1].guard == parse_expression("p.x >= r.x")
    assert [(c.variable, str(c.range.exact)) for c in found[1].resets] == [
        ("p.v", "r.v' + 1"),
        ("r.v", "p.v"),
    ]


def test_two_sides_meet_each_with_each():
    found = Family(PATTERN, SLOTS, partners("p", "q"), partners("s", "t", "u"))
    assert len(found) == 6
    assert [e.participants for e in found][:2] == [("p", "s"), ("p", "t")]


def test_a_sequence_of_families_is_that_of_their_events():
    (single,) = family("y", "z")
    events = Unrolled([family("p", "q", "r"), single])
    listed = tuple(events)
    assert len(events) == len(listed) == 4
    assert events[0] == listed[0]
    assert events[-1] == events[3] == single
    assert events[1:3] == listed[1:3]
    assert events[::-1] == listed[::-1]
    assert events == listed == Unrolled(listed)
    assert hash(events) == hash(listed)
    assert events != listed[:3]
    assert parts_of(events)[1] is single
    assert parts_of(listed) is listed


def test_what_events_have_in_common_stays_in_common():
    """Sharing keeps an unrolled interaction as small as its pattern."""
    (event,) = Family(
        Interaction("meet", ("a", "b"), PATTERN.guard & (PATTERN.guard.args[0] > 0)),
        SLOTS,
        partners("p", "q"),
    )
    first, second = conjuncts(event.guard)
    assert first.args[0] is second.args[0]
    assert event.guard == parse_expression("p.x >= q.x && p.x > 0")


def test_no_pairs_no_events():
    assert list(family("p")) == []
    assert len(Unrolled([family()])) == 0


def test_partners_with_a_common_variable_make_no_proper_family():
    one, other = Partner("p", ("p.v", "s")), Partner("q", ("q.v", "s"))
    assert family("p", "q").is_proper
    assert not Family(PATTERN, SLOTS, (one, other)).is_proper


def test_a_model_keeps_its_families_and_reads_back_as_the_unrolled_one():
    product = load("bumper_cars").automaton
    assert isinstance(product, Product)
    (only,) = parts_of(product.interactions)
    assert isinstance(only, Family)
    assert len(product.interactions) == 190
    again = from_json(to_json(product))
    assert again.interactions == product.interactions
    assert again == product
    assert again.sha256 == product.sha256


SHARED = """
mode T() { write analog real x; readwrite discrete real k; mode a = L(); trans from init to a }
mode L() { write analog real x; diff { d(x) == 1; } }
agent Car() { private analog real x = 0; readwrite discrete real k; mode top = T(); }
agent Main() {
  private discrete real k = 0;
  agent car[i in 1..3] = Car();
  interaction count between a, b in car when a.x > b.x do { a.k = a.k + 1; b.k = b.k + 1; }
}
"""


def test_assignments_to_a_variable_that_partners_share_follow_one_another():
    product = automaton_of(SHARED)
    assert len(product.interactions) == 3
    for event in product.interactions:
        (change,) = event.resets
        assert change.variable == "k"
        assert change.range.exact == parse_expression("k + 2")
