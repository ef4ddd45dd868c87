"""The first page of a folder of reports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from workbench.models.counting import counted
from workbench.reports.data.report import overall
from workbench.reports.pages.markup import Markup, tag
from workbench.reports.pages.report import page
from workbench.reports.pages.sections import badge

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
        tag("li", badge(p["verdict"]["outcome"]), " ", p["name"], class_="row")
        for p in data["properties"]
    ]
    return tag(
        "article",
        tag("div", badge(worst), class_="row"),
        tag("h3", tag("a", model["label"], href=file)),
        tag("p", model["title"], class_="soft") if model["title"] else None,
        tag("ul", claims, class_="plain"),
        tag(
            "p",
            f"{counted(len(data['runs']), 'run')} cross-checked · "
            f"{sum(data['seconds'].values()):.1f} s",
            class_="small",
        ),
        class_=f"card {worst}",
    )


def _failed(data: Data) -> Markup:
    """A model without a report, with what was wrong."""
    return tag(
        "article",
        tag("div", badge("error"), class_="row"),
        tag("h3", data["model"]["label"]),
        tag("pre", data["error"]["message"], class_="message"),
        class_="card error",
    )
