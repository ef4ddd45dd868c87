"""The first parts of a report: its head, the summary, and one card for each verdict."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from workbench.models.counting import counted
from workbench.reports.pages.markup import Content, Markup, tag
from workbench.reports.pages.sections import badge, section
from workbench.reports.pages.summary import said_by_none, scope, summary

Data = Mapping[str, Any]

LONG_FORMULA = 400
"""Letters of a formula that are shown at once."""


def header(data: Data, worst: str) -> Markup:
    """The head of the page: model, worst verdict, contradictions."""
    model = data["model"]
    left_out = ", ".join(data["left_out"])
    return tag(
        "header",
        tag("p", "charon-workbench · verification report", class_="brand"),
        tag("div", tag("h1", model["label"]), badge(worst), class_="headline"),
        tag("p", model["title"], class_="subtitle") if model["title"] else None,
        tag("p", f"But {data['unreached']}.", class_="subtitle") if data["unreached"] else None,
        tag("p", f"The time limit left no room for {left_out}.", class_="subtitle")
        if left_out
        else None,
        _alarm(data),
        class_="top",
    )


def _alarm(data: Data) -> Content:
    found = [c["sentence"] for c in data["crosscheck"]["contradictions"]]
    found += [
        f"The certificate of “{p['name']}” was rejected when it was read back: "
        f"{p['certificate_check']['why']}."
        for p in data["properties"]
        if p["certificate_check"] and not p["certificate_check"]["accepted"]
    ]
    if not found:
        return None
    return tag(
        "div",
        tag("strong", "One of the engines is wrong. No verdict of this report can be trusted."),
        tag("ul", (tag("li", sentence) for sentence in found[:20])),
        tag("p", f"and {len(found) - 20} more") if len(found) > 20 else None,
        class_="alarm",
        role="alert",
    )


def verdict(data: Data) -> Markup:
    """The summary of all verdicts."""
    return section("verdict", "Verdict", summary(data))


def details(data: Data) -> Markup:
    """One card for each property; what no verdict says is told by the summary."""
    unsaid = said_by_none(data["properties"])
    cards = [_card(p, i, data, unsaid) for i, p in enumerate(data["properties"])]
    return section(
        "details",
        "In detail",
        tag("div", cards, class_="cards"),
        note="What each verdict says, and on what grounds.",
    )


def _card(claim: Data, index: int, data: Data, unsaid: Sequence[str]) -> Markup:
    outcome = claim["verdict"]["outcome"]
    runs = claim["suspicious"]
    rest = [line for line in claim["not_claimed"] if line not in unsaid]
    return tag(
        "article",
        tag(
            "div",
            badge(outcome),
            tag("span", scope(claim["verdict"]), class_="scope"),
            class_="row",
        ),
        tag("h3", claim["name"]),
        tag("p", claim["words"], " ", _formula(claim["formula"]), class_="formula")
        if claim["formula"]
        else tag("p", claim["words"]),
        tag(
            "p",
            f"{len(runs)} of the simulated runs break it (run {runs[0]} is the first), but no "
            "method has confirmed this.",
            class_="warning",
        )
        if runs
        else None,
        tag(
            "div",
            _points("What this says", [*claim["claimed"], *_closest(claim)]),
            _points("What to do" if outcome == "unknown" else "What this does not say", rest)
            if rest
            else None,
            class_="says",
        ),
        _tried(claim["tried"]),
        _recipe(claim["recipe"], index, data["model"]["label"]),
        tag(
            "p",
            f"{claim['verdict']['method']} · "
            f"{sum(claim['verdict']['statistics']['seconds'].values()):.2f} s",
            class_="small",
        ),
        class_=f"card {outcome}",
        data_claim=index,
        tabindex=0,
    )


def _closest(claim: Data) -> list[str]:
    """How close runs came to breaking a property that none breaks."""
    near = claim["approach"]
    if near is None:
        return []
    if near["touches"]:
        return [f"Of {near['of']} the closest touches the border: there is no room to spare."]
    place = near["place"]
    when = (
        ""
        if place is None
        else f" (run {near['run']} at t = {place['t']:.5g}, in {place['location']})"
    )
    return [f"Of {near['of']} the closest comes within {near['text']} of breaking it{when}."]


def _tried(methods: list[Data]) -> Content:
    """What each method said, folded away."""
    if not methods:
        return None
    return tag(
        "details",
        tag("summary", f"Why {counted(len(methods), 'method')} did not decide it"),
        tag(
            "dl",
            ((tag("dt", m["method"] or "all"), tag("dd", m["why"])) for m in methods),
        ),
        class_="tried",
    )


def _recipe(recipe: Data | None, index: int, label: str) -> Content:
    """The counterexample in few words, its file, and the command that repeats it."""
    if recipe is None:
        return None
    lines = recipe["lines"]
    button = tag("button", "Save counterexample", type="button", class_="save", data_trace=index)
    command = f"workbench simulate {shlex.quote(label)} --replay counterexample.json"
    again = (
        (" Repeat it from the saved file: ", tag("code", command)) if recipe["replayable"] else None
    )
    return tag(
        "div",
        tag("h4", "The counterexample"),
        tag("dl", ((tag("dt", one["what"]), tag("dd", tag("code", one["how"]))) for one in lines)),
        tag("p", button, again, class_="row"),
        class_="recipe",
    )


def _formula(text: str) -> Markup:
    """A formula; of a very long one the beginning, the whole on demand."""
    if len(text) <= LONG_FORMULA:
        return tag("code", text)
    start = text[: LONG_FORMULA // 2].rsplit(" ", 1)[0]
    return tag("details", tag("summary", tag("code", f"{start} …")), tag("code", text))


def _points(title: str, lines: Iterable[str]) -> Markup:
    return tag("div", tag("h4", title), tag("ul", (tag("li", line) for line in lines)))
