"""The first page of a folder of reports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from workbench.models.counting import counted
from workbench.reports.data.report import overall
from workbench.reports.pages.markup import Markup, tag
from workbench.reports.pages.report import page
from workbench.reports.pages.sections import badge
from workbench.reports.pages.summary import safety_lost, scope

Data = Mapping[str, Any]


def index_page(reports: Sequence[tuple[str, Data]]) -> str:
    """Every model with its verdicts; the names are those of the pages, relative."""
    count = len(reports)
    contradictory = any(overall(data) == "contradiction" for _, data in reports)
    body = tag(
        "body",
        tag(
            "header",
            tag("p", "charon-workbench · verification reports", class_="brand"),
            tag("h1", counted(count, "model")),
            tag(
                "p",
                "What is decided carries evidence: a certificate that an independent checker "
                "accepted, or a run that replays.",
                class_="subtitle",
            ),
            class_="top",
        ),
        tag("main", tag("div", [_entry(file, data) for file, data in reports], class_="cards")),
        data_overall="contradiction" if contradictory else "",
    )
    return page("Verification reports", body)


def _entry(file: str, data: Data) -> Markup:
    if data.get("error"):
        return _failed(data)
    worst = overall(data)
    model = data["model"]
    claims = [
        tag(
            "li",
            badge(p["verdict"]["outcome"]),
            tag("span", p["name"], " ", tag("span", scope(p["verdict"]), class_="soft")),
            class_="row",
        )
        for p in data["properties"]
    ]
    return tag(
        "article",
        tag("div", badge(worst), class_="row"),
        tag("h3", tag("a", model["label"], href=file)),
        tag("p", model["title"], class_="soft") if model["title"] else None,
        tag("ul", claims, class_="plain"),
        tag("p", _near(data["properties"]), class_="small"),
        tag(
            "p",
            f"{counted(len(data['runs']), 'run')} cross-checked · "
            f"{sum(data['seconds'].values()):.1f} s",
            class_="small",
        ),
        class_=f"card {worst}",
    )


def _near(claims: Sequence[Data]) -> str:
    """How close the runs of the first property came, or when safety was lost."""
    for claim in claims[:1]:
        if lost := safety_lost(claim["verdict"]):
            return f"{claim['name']}: {lost}."
        near = claim["approach"]
        if near is not None and not near["touches"]:
            return f"{claim['name']}: the closest of {near['of']} comes within {near['text']}."
    return ""


def _failed(data: Data) -> Markup:
    """A model without a report, with what was wrong."""
    return tag(
        "article",
        tag("div", badge("error"), class_="row"),
        tag("h3", data["model"]["label"]),
        tag("pre", data["error"]["message"], class_="message"),
        class_="card error",
    )
