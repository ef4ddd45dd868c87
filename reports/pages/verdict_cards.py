"""The first parts of a report: its head, and one card for each verdict."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from typing import Any

from workbench.models.counting import counted
from workbench.reports.pages.markup import Content, Markup, tag
from workbench.reports.pages.sections import badge, section

Data = Mapping[str, Any]

LONG_FORMULA = 400
"""Letters of a formula that are shown at once."""


def header(data: Data, worst: str) -> Markup:
    """The head of the page: model, worst verdict, contradictions."""
    model = data["model"]
    left_out = ", ".join(data["left_out"])
    missing = "; ".join(part for part in (data["blocking"], data["unreached"]) if part)
    return tag(
        "header",
        tag("p", "charon-workbench · verification report", class_="brand"),
        tag("div", tag("h1", model["label"]), badge(worst), class_="headline"),
        tag("p", model["title"], class_="subtitle") if model["title"] else None,
        tag("p", f"But {missing}.", class_="subtitle") if missing else None,
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
    """One card for each property."""
    cards = [_card(p, i, data) for i, p in enumerate(data["properties"])]
    return section("verdict", "Verdict", tag("div", cards, class_="cards"))


def _card(claim: Data, index: int, data: Data) -> Markup:
    outcome = claim["verdict"]["outcome"]
    scope = _scope(claim["verdict"])
    runs = claim["suspicious"]
    return tag(
        "article",
        tag("div", badge(outcome), tag("span", scope, class_="scope"), class_="row"),
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
            _points("What this says", [*claim["claimed"], *_closest(claim, data)]),
            _points(
                "What to do" if outcome == "unknown" else "What this does not say",
                claim["not_claimed"],
            ),
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


def _closest(claim: Data, data: Data) -> list[str]:
    """How close the simulated runs came to breaking a property that none breaks."""
    margins = [run["properties"].get(claim["name"]) for run in data["crosscheck"]["runs"]]
    measured = [(m["value"], i, m) for i, m in enumerate(margins) if m and m["value"] is not None]
    if not measured or claim["verdict"]["outcome"] == "falsified":
        return []
    value, number, margin = min(measured, key=lambda one: one[:2])
    if value <= 0 or margin["broken"] or margin["text"] == "holds":
        return []
    place = margin["place"]
    when = (
        "" if place is None else f" (run {number} at t = {place['t']:.5g}, in {place['location']})"
    )
    return [
        f"Of {counted(len(measured), 'simulated run')} the closest comes within {value:.4g} of "
        f"breaking it{when}."
    ]


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


def _scope(found: Data) -> str:
    scope = found["scope"]
    if scope is None:
        return "not decided"
    if scope["kind"] == "unbounded":
        return "for all time"
    if found["outcome"] == "falsified":
        return f"broken at time {float(scope['horizon']):.6g}"
    return f"up to time {scope['horizon']}"
