"""Random visual edits, one after another: the text always says what the diagram should show."""

from __future__ import annotations

from pathlib import Path

import pytest
from charon_texts import HIGHWAY, LEAKY_TANK, PENDULUM
from hypothesis import given, note, settings
from hypothesis import strategies as st
from shown_models import Model, RefusedError, expected, plain, project_of, shown

from tests.support.slow import slow_but
from workbench.models.language.drawing import visual_edits as visual
from workbench.models.language.drawing.editing import edits
from workbench.models.language.editor.places import edited, line_starts
from workbench.models.language.format import format_source
from workbench.models.language.lexical import Token, tokens
from workbench.models.source import Edit, ModelError

LIBRARY = Path(__file__).resolve().parents[2] / "models" / "library"
ONE_LINERS = """\
// all on few lines
mode A() { write analog real x; diff { d(x) == 1; } inv { x <= 3 } } // a
mode B() {} /* nothing */ mode C() { mode a = A(); write analog real x; trans from init, a to a /* loop */ when x >= 1 }
agent P() { private analog real x; init { x = 0; /* here */ }; mode top = C(); }
"""
TEXTS = {
    "highway": HIGHWAY,
    "leaky tank": LEAKY_TANK,
    "pendulum": PENDULUM,
    "one-liners": ONE_LINERS,
    "nothing": "",
    "windows": LEAKY_TANK.replace("\n", "\r\n"),
    **{
        name: (LIBRARY / f"{name}.charon").read_text(encoding="utf-8")
        for name in ("platoon", "fischer", "thermostat_timer", "simplex_pendulum")
    },
}
NAMES = st.sampled_from(["alpha", "beta", "gamma2", "Delta", "x_1"])


def reverse(text: str, made: tuple[Edit, ...]) -> list[Edit]:
    """The edits that undo edits of a text."""
    begins = line_starts(text)

    def offset(line: int, column: int) -> int:
        return begins[line - 1] + column - 1

    after = edited(text, made)
    back, shift = [], 0
    for edit in sorted(made, key=lambda e: (e.span.line, e.span.column)):
        start = offset(edit.span.line, edit.span.column)
        end = offset(edit.span.end_line, edit.span.end_column)
        first, last = start + shift, start + shift + len(edit.text)
        shift += len(edit.text) - (end - start)
        lines = line_starts(after)

        def place(at: int, lines: list[int] = lines) -> tuple[int, int]:
            line = max(i for i, begin in enumerate(lines) if begin <= at)
            return line + 1, at - lines[line] + 1

        span = type(edit.span)(edit.span.file, *place(first), *place(last))
        back.append(Edit(span, text[start:end]))
    return back


def comments(text: str) -> list[str]:
    found: list[Token] = []
    list(tokens(text, found))
    return [token.text.rstrip() for token in found]


@st.composite
def visual_edit(draw: st.DrawFn, model: Model) -> visual.VisualEdit:
    """Something to do with what is there, or, at times, with what is not."""
    name = draw(NAMES)
    names = sorted(model)
    if not names or draw(st.integers(0, 9)) == 0:
        kinds = [visual.AddAgent((), name), visual.AddMode((), name)]
        for known in names:
            node = f"{model[known].kind}:{known}"
            kinds += [visual.Rename((), node, name), visual.Delete((), node)]
        return draw(st.sampled_from(kinds))
    level = draw(st.sampled_from(names))
    here, path = model[level], (level,)
    variables = sorted(here.variables)
    ends = [*here.parts, *here.entries, *here.exits, "init"]
    values = [*variables, "7"]
    value = st.sampled_from(values)
    guard = st.builds("{} >= {}".format, value, value)
    choices: list[st.SearchStrategy[visual.VisualEdit]] = [
        st.builds(
            visual.AddMode, st.just(path), st.just(name), st.sampled_from(["", "Fresh", *names])
        ),
        st.builds(visual.AddAgent, st.just(path), st.just(name), st.sampled_from(["", *names])),
        st.just(
            visual.AddVariable(path, name, draw(st.sampled_from(["private", "read", "write"])))
        ),
        st.just(visual.AddEntry(path, name)),
        st.just(visual.AddExit(path, name)),
    ]
    nodes = [f"{kind}:{part}" for part, (kind, _, _) in here.parts.items()]
    nodes += [f"entry:{n}" for n in here.entries] + [f"exit:{n}" for n in here.exits]
    if nodes:
        node = st.sampled_from(nodes)
        choices += [
            st.builds(visual.Delete, st.just(path), node, st.booleans()),
            st.builds(visual.Rename, st.just(path), node, st.just(name)),
        ]
    if here.kind == "mode":
        reset = st.sampled_from(
            [
                "",
                *(f"{v} = 2" for v in variables),
                *(f"{v} = 1; {w} = 0" for v in variables for w in variables),
            ]
        )
        choices += [
            st.builds(
                visual.Connect,
                st.just(path),
                st.sampled_from(ends),
                st.sampled_from(ends),
                st.sampled_from(["", name]),
                st.one_of(st.just(""), guard),
                reset,
                st.booleans(),
            ),
        ]
        lines = st.lists(
            st.sampled_from([f"d({v}) == {w}" for v in variables for w in values] or [""]),
            max_size=3,
            unique=True,
        )
        choices += [
            st.builds(visual.SetFlow, st.just(path), lines.map("; ".join)),
            st.builds(
                visual.SetEquation,
                st.just(path),
                lines.map(lambda f: "; ".join(x[2:].replace(")", "") for x in f)),
            ),
            st.builds(
                visual.SetInvariant,
                st.just(path),
                st.lists(guard, max_size=3, unique=True).map("; ".join),
            ),
        ]
    else:
        lines = st.lists(
            st.sampled_from([f"{v} = {w}" for v in variables for w in "123"] or [""]),
            max_size=3,
            unique=True,
        )
        choices.append(st.builds(visual.SetInit, st.just(path), lines.map("; ".join)))
    if here.arrows:
        counts: dict[str, int] = {}
        edges = []
        for arrow in here.arrows:
            counts[arrow.key] = counts.get(arrow.key, 0) + 1
            edges.append(
                arrow.key if counts[arrow.key] == 1 else f"{arrow.key}~{counts[arrow.key]}"
            )
        edge = st.sampled_from(edges)
        choices += [
            st.builds(visual.Disconnect, st.just(path), edge),
            st.builds(visual.SetGuard, st.just(path), edge, st.one_of(st.just(""), guard)),
            st.builds(visual.SetReset, st.just(path), edge, reset),
            st.builds(visual.SetLabel, st.just(path), edge, st.sampled_from(["", name])),
            st.builds(visual.SetUrgent, st.just(path), edge, st.booleans()),
            st.builds(
                visual.Reconnect,
                st.just(path),
                edge,
                st.sampled_from(["", *ends]),
                st.sampled_from(["", *ends]),
            ),
        ]
    return draw(st.one_of(choices))


@pytest.mark.parametrize(
    "name", slow_but(["highway", "leaky tank", "one-liners", "nothing"], TEXTS)
)
@settings(max_examples=12)
@given(data=st.data())
def test_a_session_of_edits(name: str, data: st.DataObject) -> None:
    text = TEXTS[name]
    model = shown(text)
    for _ in range(data.draw(st.integers(1, 8 if text else 30))):
        edit = data.draw(visual_edit(model))
        note(repr(edit))
        try:
            wanted = expected(model, edit)
        except RefusedError:
            with pytest.raises(ModelError):
                edits(project_of(text), edit)
            continue
        try:
            made = edits(project_of(text), edit)
        except ModelError as problem:
            if {d.code for d in problem.diagnostics} <= {"still-used"}:
                continue
            raise
        after = edited(text, made)
        note(after)
        found = shown(after)
        assert plain(found) == plain(wanted)
        assert edited(after, reverse(text, made)) == text
        if not isinstance(edit, visual.Delete | visual.Disconnect):
            kept = comments(after)
            if edit_removes_nothing(edit):
                assert kept == comments(text)
        if format_source(text, "") == text:
            assert format_source(after, "") == after
        text, model = after, found


def edit_removes_nothing(edit: visual.VisualEdit) -> bool:
    kinds = visual.AddAgent | visual.AddMode | visual.AddVariable | visual.AddEntry
    return isinstance(
        edit, kinds | visual.AddExit | visual.Connect | visual.Rename | visual.SetLabel
    )
