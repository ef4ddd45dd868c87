"""Whatever is typed into a diagram: it becomes what it was typed for, or it is refused."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from shown_models import plain, project_of, shown

from workbench.models.language.drawing import visual_edits as visual
from workbench.models.language.drawing.editing import edits
from workbench.models.language.editor.places import edited
from workbench.models.source import ModelError

TEXT = """\
mode Still(real k) { write analog real x; diff { d(x) == k; } }
mode Top() {
  write analog real x;
  mode a = Still(1);
  trans #go from init to a when x > 1 do { x = 2; }
  trans from a to a;
}
agent Main() { private analog real x; init { x = 0; } mode top = Top(); }
"""
TOP = ("Main", "top")
SIGNS = (
    'x k 1 0.5 == = >= && ( ) [ ] { } }} ; , /* */ " #l d(x) in do when mode M () let := é - ? : .'
)
WORDS = st.lists(
    st.sampled_from(
        [*SIGNS.split(), "\n", "\r", "// c", "forall i in 1..2 :", "trans from a to a", "true"]
    ),
    max_size=7,
).map(" ".join)
TYPED = st.one_of(WORDS, st.text(max_size=12))
EDITS = st.one_of(
    st.builds(visual.SetGuard, st.just(TOP), st.just("init->a#go"), TYPED),
    st.builds(visual.SetGuard, st.just(TOP), st.just("a->a"), TYPED),
    st.builds(visual.SetReset, st.just(TOP), st.just("init->a#go"), TYPED),
    st.builds(visual.SetReset, st.just(TOP), st.just("a->a"), TYPED),
    st.builds(visual.SetLabel, st.just(TOP), st.just("a->a"), TYPED),
    st.builds(visual.SetArguments, st.just(TOP), st.just("mode:a"), TYPED),
    st.builds(visual.SetInvariant, st.just(TOP), TYPED),
    st.builds(visual.SetFlow, st.just((*TOP, "a")), TYPED),
    st.builds(visual.SetEquation, st.just(TOP), TYPED),
    st.builds(visual.SetInit, st.just(("Main",)), TYPED),
    st.builds(visual.AddMode, st.just(TOP), TYPED, TYPED, TYPED),
    st.builds(visual.AddAgent, st.just(()), TYPED),
    st.builds(visual.AddEntry, st.just(TOP), TYPED),
    st.builds(visual.AddVariable, st.just(TOP), TYPED, TYPED, TYPED, TYPED, TYPED),
    st.builds(
        visual.AddVariable,
        st.just(TOP),
        st.just("y"),
        st.just("private"),
        st.just("real"),
        st.just(""),
        TYPED,
    ),
    st.builds(visual.Connect, st.just(TOP), TYPED, TYPED, TYPED, TYPED, TYPED),
    st.builds(visual.Connect, st.just(TOP), st.just("a"), st.just("a"), st.just(""), TYPED, TYPED),
    st.builds(visual.Share, st.just(("Main",)), st.just("mode:top"), TYPED, TYPED, TYPED),
    st.builds(visual.Share, st.just(("Main",)), st.just("mode:top"), TYPED, st.just("x"), TYPED),
    st.builds(visual.Rename, st.just(TOP), TYPED, TYPED),
    st.builds(visual.Delete, st.lists(TYPED, max_size=2).map(tuple), TYPED),
)


@settings(max_examples=300)
@given(EDITS)
def test_what_is_typed_stays_where_it_belongs(edit: visual.VisualEdit) -> None:
    """No text ends the block that it is for, begins another one, or breaks the model."""
    try:
        made = edits(project_of(TEXT), edit)
    except ModelError:
        return
    before, after = plain(shown(TEXT)), plain(shown(edited(TEXT, made)))
    new = after.keys() - before.keys()
    assert len(new) <= 1 and not before.keys() - after.keys()
    assert all(after[name] in (("mode", *EMPTY), ("agent", *EMPTY)) for name in new)
    touched = {name for name in before if before[name] != after[name]}
    assert len(touched) <= 2  # where it is, and what it shares
    for name in touched:
        old, fresh = before[name], after[name]
        assert isinstance(old, tuple) and isinstance(fresh, tuple)
        changed = [i for i, (a, b) in enumerate(zip(old, fresh, strict=True)) if a != b]
        assert len(changed) <= 2  # what is said, and a variable that it mentions
        for part in (1, 5):
            assert len(fresh[part]) <= len(old[part]) + 1


EMPTY: tuple[object, ...] = ({}, [], [], {}, [], {}, [])
