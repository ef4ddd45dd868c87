"""The word `sliding` before a transition: read, kept by every format, and understood."""

from __future__ import annotations

from pathlib import Path

from workbench.models.automaton import Automaton, EventKind
from workbench.models.interchange.json_model import from_json, to_json
from workbench.models.language.unparse import unparse
from workbench.models.load import load
from workbench.simulate.run import simulate

TEXT = """\
mode Side(real speed) { write analog real x; diff { d(x) == speed; } }
mode Top() {
  write analog real x;
  mode left = Side(1);
  mode right = Side(-1);
  trans from init to right;
  sliding trans from left to right when x >= 0;
  urgent sliding trans from right to left when x <= 0;
}
agent Relay() { private analog real x; init { x = 1; } mode top = Top(); }
"""


def events(automaton: Automaton) -> list[tuple[bool, EventKind]]:
    return sorted((e.urgent, e.event) for part in automaton.components for e in part.edges)


def test_it_is_read_kept_and_understood(tmp_path: Path) -> None:
    path = tmp_path / "relay.charon"
    path.write_text(TEXT)
    model = load(path).automaton
    assert events(model) == [(False, EventKind.SLIDING), (True, EventKind.SLIDING)]
    assert events(from_json(to_json(model))) == events(model)
    path.write_text(unparse(model))
    again = load(path).automaton
    assert events(again) == events(model)
    trace = simulate(again, until=3.0)
    assert trace.outcome.completed and trace.segments[-1].sliding
