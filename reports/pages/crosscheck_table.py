"""The cross-check as a table: every run, its end, and the margins that it keeps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from workbench.models.counting import counted
from workbench.reports.pages.markup import Content, Markup, tag
from workbench.reports.pages.sections import badge, section

Data = Mapping[str, Any]


def crosscheck(data: Data) -> Markup:
    """The table of runs and margins."""
    check = data["crosscheck"]
    claims = [p["name"] for p in data["properties"]]
    columns = ["Run", "Choices", "Ended", *claims, *(f"inside: {n}" for n in check["sets"])]
    rows = [_run_row(data, i, claims) for i in range(len(check["runs"]))]
    points = f"{check['points']:,}".replace(",", "\u202f")
    if check["contradictions"]:
        text = f"{counted(len(check['contradictions']), 'contradiction')}. See the top of the page."
        verdict_line = tag("p", badge("contradiction"), f" {text}", class_="row")
    else:
        tested = f" and {counted(len(check['sets']), 'claimed set')}" if check["sets"] else ""
        verdict_line = tag(
            "p",
            f"{counted(len(check['runs']), 'run')} with {points} points, and every moment between "
            f"them, tested against {counted(len(claims), 'property')}{tested}: no contradiction.",
        )
    unsure = sum(run["outcome"]["ending"] == "uncertain" for run in data["runs"])
    table = tag("table", tag("thead", _heads(columns)), tag("tbody", rows), class_="runs")
    return section(
        "crosscheck",
        "Cross-check",
        verdict_line,
        tag(
            "p",
            f"{counted(unsure, 'run')} {'ends' if unsure == 1 else 'end'} early (uncertain), "
            "where two computations of the same run part: beyond, rounding decides.",
            class_="warning",
        )
        if unsure
        else None,
        tag("div", table, class_="scroll tall"),
        note="Two independent engines look at the same model: a run that leaves a proved set, or "
        "breaks a proved property, convicts one of them. Margins are the least distance kept; "
        "choose one to see where. Runs may touch faces of a proved set where they start on them "
        "or the model clamps a variable: such faces are named, and the margin is that from all "
        "others.",
    )


def _heads(columns: Sequence[str]) -> Markup:
    """The names of columns; of very long ones the beginning is shown."""
    return tag("tr", (tag("th", tag("span", c), scope="col", title=c) for c in columns))


def _run_row(data: Data, index: int, claims: list[str]) -> Markup:
    run, check = data["runs"][index], data["crosscheck"]["runs"][index]
    cells = [_margin_cell(index, check["properties"].get(name)) for name in claims]
    cells += [_margin_cell(index, margin) for margin in check["sets"].values()]
    ending = run["outcome"]["ending"]
    return tag(
        "tr",
        tag("td", tag("button", f"{index}", type="button", class_="pick", data_run=index)),
        tag("td", ("counterexample, " if run["kind"] == "counterexample" else "") + run["how"]),
        tag(
            "td",
            f"{ending} at {run['outcome']['time']:.5g}",
            title=run["outcome"]["sentence"],
            class_=f"ending {ending}",
        ),
        cells,
        data_run=index,
    )


def _margin_cell(run: int, margin: Data | None) -> Markup:
    if margin is None:
        return tag("td", "")
    place = margin["place"]
    button = tag(
        "button",
        margin["text"],
        type="button",
        class_="pick",
        data_run=run,
        data_time=None if place is None else repr(place["t"]),
        title=None
        if place is None
        else f"t = {place['t']:.6g} in {place['location']}: {place['predicate']}",
    )
    touched = margin.get("touched") or ()
    return tag(
        "td", button, _touched(touched), class_="number broken" if margin["broken"] else "number"
    )


def _touched(faces: Sequence[Data]) -> Content:
    """The faces of a set that a run touches, each with the reason; they count for nothing."""
    if not faces:
        return None
    parts: list[Content] = ["touches "]
    for number, (why, group) in enumerate(groupby(sorted(faces, key=_why), _why)):
        parts.append("; " if number else None)
        parts += [[", " if i else None, tag("code", f["predicate"])] for i, f in enumerate(group)]
        parts.append(f" ({why})")
    return tag("div", parts, class_="small touched")


def _why(face: Data) -> str:
    return str(face["why"])
