"""Flattening, by hand: names, locations, edges, initial sets, properties, mistakes."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hierarchies import actions, atomic, constraints, declare, expr, parts, subs, trans

from workbench.models.agents.composition import Product, explicit
from workbench.models.agents.flatten import flatten
from workbench.models.agents.hierarchy import (
    Agent,
    AgentInstance,
    Claim,
    Interaction,
    Mode,
    ModeInstance,
)
from workbench.models.automaton import INT, Constraint, HybridAutomaton, Input, Kind, Range
from workbench.models.dynamics import eliminate_algebraic
from workbench.models.expressions.expression import FALSE, TRUE, at_location, constant
from workbench.models.load import load
from workbench.models.source import ModelError


def job() -> Mode:
    """A composite with a named entry and exit and a counter of its own."""
    return Mode(
        "Job",
        (*declare("read", "x"), *declare("private", "n", Kind.DISCRETE, "0", INT)),
        subs(one=atomic("One", invariant=expr("true")), two=atomic("Two")),
        ("start",),
        ("done",),
        (
            trans("start", "one.de", "true", ("n", "0")),
            trans("de", "two.de"),
            trans("one.dx", "two.de", "x >= 1", ("n", "n + 1"), label="next"),
            trans("two.dx", "done", "x >= 2"),
        ),
        claims=(Claim("counted", expr("n <= 9")),),
    )


def supervisor(**fields: object) -> Agent:
    top = Mode(
        "Top",
        declare("read", "x"),
        subs(job=job(), alarm=atomic("Alarm"), rest=atomic("Rest")),
        transitions=(
            trans("init", "job.start"),
            trans("job.dx", "alarm.de", "x < 0", label="interrupt"),
            trans("alarm.dx", "job.de", "x >= 0", label="resume"),
            trans("job.done", "rest.de", "x <= 5"),
            trans("rest.dx", "job.start", "x == 0"),
        ),
    )
    return Agent("Supervisor", declare("read", "x"), top=top, **fields)  # type: ignore[arg-type]


def edges(automaton: HybridAutomaton) -> set[tuple[str, str, str]]:
    return {(e.source, e.target, str(e.guard)) for e in automaton.edges}


def flat(agent: Agent) -> HybridAutomaton:
    automaton = flatten(agent, "model")
    assert isinstance(automaton, HybridAutomaton)
    return automaton


def test_steps_through_points_are_single_edges_and_histories_distinguish_places() -> None:
    automaton = flat(supervisor())
    assert automaton.name == "Supervisor"
    assert {x.name for x in automaton.locations} == {
        "job.one",
        "job.two",
        "alarm{job=one}",
        "alarm{job=two}",
        "rest",
    }
    assert edges(automaton) == {
        ("job.one", "job.two", "x >= 1"),
        ("job.two", "rest", "x >= 2 && x <= 5"),
        ("job.one", "alarm{job=one}", "x < 0"),
        ("job.two", "alarm{job=two}", "x < 0"),
        ("alarm{job=one}", "job.one", "x >= 0"),
        ("alarm{job=two}", "job.two", "x >= 0"),
        ("rest", "job.one", "x == 0"),
    }
    by_pair = {(e.source, e.target): e for e in automaton.edges}
    assert by_pair["rest", "job.one"].resets == actions(("job.n", "0"))
    assert by_pair["job.one", "job.two"].name == "next"
    assert by_pair["job.two", "rest"].name == "job.two -> rest"
    assert by_pair["rest", "job.one"].label is None


def test_a_history_that_nobody_reads_costs_nothing() -> None:
    inner = Mode("In", (), subs(a=atomic("A"), b=atomic("B")), ("go",), (), (
        trans("go", "a.de"), trans("a.dx", "b.de"),
    ))  # fmt: skip
    names = [f"m{i}" for i in range(6)]
    ring = tuple(
        trans(f"{a}.dx", f"{b}.go") for a, b in zip(names, [*names[1:], names[0]], strict=True)
    )
    top = Mode(
        "Top", (), tuple(ModeInstance(n, inner) for n in names),
        transitions=(trans("init", "m0.go"), *ring),
    )  # fmt: skip
    assert len(flat(Agent("A", top=top)).locations) == 12


def test_claims_of_a_mode_hold_where_it_is_active() -> None:
    automaton = flat(supervisor(claims=(Claim("bounded", expr("x <= 99")),)))
    claims = {p.name: p for p in automaton.properties}
    assert claims["bounded"].where == TRUE
    assert claims["counted"].condition == expr("job.n <= 9")
    assert claims["counted"].where == at_location("Supervisor", "job.one") | at_location(
        "Supervisor", "job.two"
    )
    assert claims["counted"].bad_states({"Supervisor": "rest"}) == FALSE


def test_initial_values_and_entry_actions() -> None:
    (start,) = flat(supervisor()).initial
    assert start.location == "job.one"
    assert start.condition == expr("job.n == 0") and start.resets == actions(("job.n", "0"))
    top = Mode(
        "T",
        declare("write", "x"),
        subs(a=atomic("A"), b=atomic("B")),
        transitions=(
            trans("init", "a.de", "x <= 1", ("x", "[x, 2*x]")),
            trans("init", "b.de", "x > 1"),
        ),
    )
    agent = Agent("A", declare("write", "x", initial="[0, 3]"), initial=expr("x != 2"), top=top)
    first, second = flat(agent).initial
    assert first.condition == expr("x >= 0 && x <= 3 && x != 2 && x <= 1")
    assert first.resets == (Constraint("x", Range(expr("x"), expr("2*x"))),)
    assert second.location == "b" and second.condition == expr(
        "x >= 0 && x <= 3 && x != 2 && x > 1"
    )


def test_constraints_of_every_level_hold_together() -> None:
    inner = atomic(
        "In",
        variables=declare("write", "x"),
        flows=constraints(x="[0, 5]"),
        invariant=expr("x <= 9"),
    )
    top = Mode(
        "T", declare("write", "x"), subs(a=inner), transitions=(trans("init", "a.de"),),
        flows=constraints(x="[x, 7]"), invariant=expr("x >= 0"),
    )  # fmt: skip
    location = flat(Agent("A", declare("write", "x"), top=top)).location("a")
    assert location.flow_of("x") == Range(expr("max(x, 0)"), constant(5))
    assert location.invariant == expr("x >= 0 && x <= 9")


def test_locals_rest_while_their_mode_is_inactive() -> None:
    inner = atomic(
        "In",
        variables=(*declare("write", "x"), *declare("private", "clock e")),
        flows=constraints(clock="1", x="e"),
        algebraic=constraints(e="x + clock"),
    )
    idle = atomic("Idle", variables=declare("write", "x"), flows=constraints(x="0"))
    top = Mode(
        "T", declare("write", "x"), subs(a=inner, b=idle),
        transitions=(trans("init", "b.de"), trans("b.dx", "a.de", "x > 1"), trans("a.dx", "b.de")),
    )  # fmt: skip
    automaton = flat(Agent("A", declare("write", "x"), top=top))
    assert automaton.location("b").flow_of("a.clock") == Range.exactly(constant(0))
    assert automaton.location("b").algebraic == constraints(**{"a.e": "0"})
    view = eliminate_algebraic(automaton)
    assert [v.name for v in view.variables] == ["x", "a.clock"]


def test_a_local_whose_kept_value_is_read_is_not_forgotten() -> None:
    inner = Mode(
        "In",
        (*declare("write", "x"), *declare("private", "e")),
        subs(s=atomic("S")),
        ("go",),
        (),
        (trans("go", "s.de", "e > 1"),),
        algebraic=constraints(e="x"),
    )
    top = Mode(
        "T", declare("write", "x"), subs(a=inner, b=atomic("B")),
        transitions=(trans("init", "b.de"), trans("b.dx", "a.go"), trans("a.dx", "b.de")),
    )  # fmt: skip
    location = flat(Agent("A", declare("write", "x"), top=top)).location("b")
    assert location.flow_of("a.e") == Range.exactly(constant(0)) and location.algebraic == ()


def test_a_first_value_of_an_equations_variable_counts_only_without_the_equation() -> None:
    on = atomic("On", variables=declare("write", "y"), algebraic=constraints(y="2"))
    off = atomic("Off", variables=declare("write", "y"), flows=constraints(y="0"))
    top = Mode(
        "T", declare("write", "y"), subs(on=on, off=off),
        transitions=(trans("init", "on.de"), trans("init", "off.de")),
    )  # fmt: skip
    first, second = flat(Agent("A", declare("write", "y", initial="0"), top=top)).initial
    assert first.condition == TRUE and second.condition == expr("y == 0")


# Agents


def cell(**fields: object) -> Agent:
    mode = Mode(
        "CellTop",
        (*declare("write", "out"), *declare("read", "before"), *declare("private", "mem")),
        flows=constraints(out="before - out", mem="out"),
        claims=(Claim("small", expr("mem <= 1")),),
    )
    variables = (*declare("write", "out", initial="[0, 1]"), *declare("read", "before"))
    return Agent("Cell", (*variables, *declare("private", "secret")), top=mode, **fields)  # type: ignore[arg-type]


def chain(**fields: object) -> Agent:
    instances = tuple(
        AgentInstance(f"cell[{i}]", cell(), (("out", f"v[{i}]"), ("before", f"v[{i - 1}]")))
        for i in (1, 2)
    )
    return Agent(
        "Chain",
        (*declare("read", "v[0]"), *declare("private", "v[1] v[2]")),
        agents=instances,
        **fields,  # type: ignore[arg-type]
    )


def test_names_of_components_and_variables() -> None:
    product = flatten(Agent("Root", agents=parts(chain=chain())), "model")
    assert isinstance(product, Product) and product.name == "model"
    assert [c.name for c in product.components] == ["chain.cell[1]", "chain.cell[2]"]
    assert [v.name for v in product.variables] == [
        "chain.v[1]",
        "chain.cell[1].secret",
        "chain.cell[1].mem",
        "chain.v[2]",
        "chain.cell[2].secret",
        "chain.cell[2].mem",
    ]
    location = product.location("chain.cell[1]")
    assert location.flow_of("chain.v[2]") == Range.exactly(expr("chain.v[1] - chain.v[2]"))
    assert [p.name for p in product.properties] == ["chain.cell[1]: small", "chain.cell[2]: small"]


def test_assumptions_bound_inputs_and_the_rest_is_kept() -> None:
    product = flatten(chain(assumption=expr("v[0] >= -1 && 2 >= v[0] && v[0] != 0")), "m")
    assert product.inputs == (Input("v[0]", low=Fraction(-1), high=Fraction(2)),)
    assert product.assumption == expr("v[0] != 0")


def test_an_inner_assumption_on_what_others_write_must_be_shown() -> None:
    picky = cell(assumption=expr("before <= 4"))
    agent = Agent(
        "Pair", declare("private", "a b"),
        agents=(
            AgentInstance("p", picky, (("out", "a"), ("before", "b"))),
            AgentInstance("q", cell(), (("out", "b"), ("before", "a"))),
        ),
    )  # fmt: skip
    product = flatten(agent, "m")
    assert product.assumption == TRUE
    assert [(p.name, str(p.condition)) for p in product.properties][-1] == (
        "assumption of p",
        "b <= 4",
    )


def test_interactions_see_private_and_renamed_variables() -> None:
    event = Interaction(
        "bump",
        ("cell[1]", "cell[2]"),
        expr("cell[1].out >= cell[2].out"),
        actions(("cell[1].secret", "cell[2].out"), ("cell[2].out", "cell[1].secret + 1")),
    )
    product = flatten(Agent("R", agents=parts(c=chain(interactions=(event,)))), "m")
    assert isinstance(product, Product)
    (found,) = product.interactions
    assert found.participants == ("c.cell[1]", "c.cell[2]")
    assert found.guard == expr("c.v[1] >= c.v[2]")
    assert found.resets == actions(("c.cell[1].secret", "c.v[2]"), ("c.v[2]", "c.v[2] + 1"))


def test_time_is_listed_where_it_is_read() -> None:
    product = flatten(chain(claims=(Claim("soon", expr("time <= 9")),)), "m")
    assert [c.name for c in product.components if "time" in {v.name for v in c.variables}] == [
        "cell[1]"
    ]
    (start,) = product.initial_sets()
    assert product.location(start.location).flow_of("time") == Range.exactly(constant(1))
    assert "time == 0" in str(start.condition)


def test_a_variable_that_nobody_writes_keeps_its_value() -> None:
    reader = Agent(
        "R", declare("read", "k", Kind.DISCRETE), top=Mode("M", declare("read", "k", Kind.DISCRETE))
    )
    agent = Agent("A", declare("private", "k", Kind.DISCRETE, "3"), agents=parts(r=reader))
    product = flatten(agent, "m")
    assert [(v.name, v.kind) for v in product.variables] == [("k", Kind.DISCRETE)]
    assert product.inputs == ()
    assert next(product.initial_sets()).condition == expr("k == 3")


# Mistakes


def refused(top: Mode) -> str:
    with pytest.raises(ModelError) as problem:
        flatten(Agent("A", declare("write", "x"), top=top), "m")
    (diagnostic,) = problem.value.diagnostics
    assert diagnostic.hint
    return diagnostic.code


def loop(action: tuple[tuple[str, str], ...]) -> Mode:
    ping = Mode("P", declare("write", "x"), subs(s=atomic("S")), ("i",), ("o",), (
        trans("i", "o", "x > 0", *action), trans("i", "s.de"),
    ))  # fmt: skip
    return Mode(
        "T", declare("write", "x"), subs(p=ping),
        transitions=(trans("init", "p.i"), trans("p.o", "p.i")),
    )  # fmt: skip


def test_a_cycle_of_points_that_changes_something_is_refused() -> None:
    assert refused(loop((("x", "x - 1"),))) == "transient-cycle"


def test_a_cycle_of_points_that_changes_nothing_is_cut() -> None:
    automaton = flat(Agent("A", declare("write", "x"), top=loop(())))
    assert [i.condition for i in automaton.initial] == [TRUE]
    assert {x.name for x in automaton.locations} == {"p.s"}


def test_a_guard_that_reads_a_choice_of_the_same_step_is_refused() -> None:
    inner = Mode("I", declare("write", "x"), subs(s=atomic("S")), ("go",), (), (
        trans("go", "s.de", "x > 0"),
    ))  # fmt: skip
    top = Mode(
        "T", declare("write", "x"), subs(a=inner),
        transitions=(trans("init", "a.go", "true", ("x", "[0, 1]")),),
    )  # fmt: skip
    assert refused(top) == "guard-reads-choice"


def test_leaving_the_top_level_mode_is_refused() -> None:
    top = Mode(
        "T", declare("write", "x"), subs(a=atomic("A")), (), ("out",),
        (trans("init", "a.de"), trans("a.dx", "out")),
    )  # fmt: skip
    assert refused(top) == "exit-of-top-mode"


def test_initial_steps_that_depend_on_each_other_are_refused() -> None:
    writer = Agent("W", declare("write", "x"), top=Mode(
        "T", declare("write", "x"), subs(a=atomic("A")),
        transitions=(trans("init", "a.de", "true", ("x", "1")),),
    ))  # fmt: skip
    reader = Agent("R", declare("read", "x"), top=Mode(
        "T", declare("read", "x"), subs(a=atomic("A")),
        transitions=(trans("init", "a.de", "x > 0"),),
    ))  # fmt: skip
    agent = Agent("A", declare("private", "x"), agents=parts(w=writer, r=reader))
    with pytest.raises(ModelError, match="the initial transition of r reads or assigns x"):
        flatten(agent, "m")


# Models of the library


def test_the_platoon() -> None:
    automaton = load("platoon_paper").automaton
    assert isinstance(automaton, Product)
    assert [c.name for c in automaton.components] == [
        "front",
        "follower.velocity",
        "follower.controller",
        "distance",
    ]
    assert {"dist", "follower.acc"} <= {v.name for v in automaton.variables}
    assert all(e.name.startswith("follower.controller: ") for e in explicit(automaton).edges)


def test_the_simplex_pendulum_resumes() -> None:
    listed = explicit(load("simplex_pendulum").automaton)
    assert any("{untrusted=" in x.name for x in listed.locations)


def test_fifty_vehicles_flatten() -> None:
    instances = tuple(
        AgentInstance(f"car[{i}]", cell(), (("out", f"v[{i}]"), ("before", f"v[{i - 1}]")))
        for i in range(1, 51)
    )
    private = " ".join(f"v[{i}]" for i in range(51))
    product = flatten(Agent("Convoy", declare("private", private), agents=instances), "m")
    first = next(product.initial_sets())
    assert len(product.components) == 50
    assert len({v.name for v in product.variables} & {f"v[{i}]" for i in range(51)}) == 51
    assert product.location(first.location).name == first.location


def test_absurd_nesting_is_a_message() -> None:
    mode = atomic("A")
    for _ in range(3000):
        mode = Mode("M", (), subs(a=mode), transitions=(trans("de", "a.de"),))
    with pytest.raises(ModelError, match="nested"):
        flatten(Agent("A", top=mode), "m")
    agent = Agent("A", top=atomic("A"))
    for _ in range(3000):
        agent = Agent("B", agents=parts(a=agent))
    with pytest.raises(ModelError, match="nested"):
        flatten(agent, "m")
