"""The closure of modes; the Controller of the paper's Fig. 3 must close to its Fig. 4."""

from __future__ import annotations

from dataclasses import replace

from hierarchies import atomic, declare, expr, subs, trans

from workbench.models.agents.closure import INACTIVE, close, history_of
from workbench.models.agents.hierarchy import Access, Declaration, Mode, Transition
from workbench.models.automaton import Kind, Range, enumeration
from workbench.models.expressions.expression import equal, symbol, variable

IDLE = trans("de", "dx")
H = variable("h")


def controller() -> Mode:
    """Fig. 3: two tracking submodes, g1 switches to TrackPrevious and g2 back."""
    track = atomic("Track")
    return Mode(
        "Controller",
        declare("read", "g1 g2"),
        subs(TrackOptimal=track, TrackPrevious=track),
        transitions=(
            trans("de", "TrackOptimal.de", "g1 <= 0"),
            trans("de", "TrackPrevious.de", "g1 > 0"),
            trans("TrackOptimal.dx", "TrackPrevious.de", "g1 > 0"),
            trans("TrackPrevious.dx", "TrackOptimal.de", "g2 > 0"),
        ),
    )


def entering(given: Transition, submode: str) -> Transition:
    remember = replace(
        given.actions[0] if given.actions else trans("de", "dx", "true", ("h", "0")).actions[0],
        variable="h",
        range=Range.exactly(symbol(submode)),
    )
    return replace(given, actions=(*given.actions, remember))


def test_closure_of_controller_is_figure_4() -> None:
    inactive = equal(H, symbol(INACTIVE))
    track = Mode("Track", transitions=(IDLE,))
    history = Declaration(
        "h",
        enumeration(INACTIVE, "TrackOptimal", "TrackPrevious"),
        Kind.DISCRETE,
        Access.PRIVATE,
        Range.exactly(symbol(INACTIVE)),
    )
    first, second, third, fourth = controller().transitions
    expected = Mode(
        "Controller",
        (*declare("read", "g1 g2"), history),
        subs(TrackOptimal=track, TrackPrevious=track),
        transitions=(
            entering(replace(first, guard=inactive & expr("g1 <= 0")), "TrackOptimal"),
            entering(replace(second, guard=inactive & expr("g1 > 0")), "TrackPrevious"),
            entering(third, "TrackPrevious"),
            entering(fourth, "TrackOptimal"),
            trans("TrackOptimal.dx", "dx"),
            trans("TrackPrevious.dx", "dx"),
            replace(trans("de", "TrackOptimal.de"), guard=equal(H, symbol("TrackOptimal"))),
            replace(trans("de", "TrackPrevious.de"), guard=equal(H, symbol("TrackPrevious"))),
        ),
    )
    assert close(controller()) == expected


def test_closing_twice_changes_nothing() -> None:
    nested = Mode(
        "Top", (), subs(a=controller(), b=atomic("B")), transitions=(trans("init", "a.de"),)
    )
    once = close(nested)
    assert once != nested
    assert close(once) == once


def test_exit_transitions_forget() -> None:
    mode = Mode(
        "M", (), subs(a=atomic("A")), exits=("done",), transitions=(trans("a.dx", "done", "true"),)
    )
    leaving = close(mode).transitions[0]
    assert leaving.actions[-1].range == Range.exactly(symbol(INACTIVE))


def test_the_history_avoids_names_in_use() -> None:
    mode = Mode("M", declare("private", "h"), subs(a=atomic("A")))
    assert history_of(close(mode)) == "h_"


def test_an_atomic_mode_can_be_entered_at_its_entry_points() -> None:
    closed = close(atomic("A", entries=("soft",)))
    assert closed.transitions == (IDLE, trans("soft", "dx"))


def test_deep_nesting_does_not_recurse() -> None:
    mode = atomic("A")
    for _ in range(5000):
        mode = Mode("M", (), subs(a=mode))
    depth, closed = 0, close(mode)
    while closed.submodes:
        depth, closed = depth + 1, closed.submodes[0].mode
    assert depth == 5000 and closed.transitions == (IDLE,)
