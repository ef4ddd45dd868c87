"""The first screen of a report: what was decided, under which assumptions, how close runs came, and
whether they go on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any

from workbench.models.counting import counted
from workbench.reports.pages.markup import Content, Markup, tag
from workbench.reports.pages.sections import badge

Data = Mapping[str, Any]

TOLD = ("parameter", "input", "assumption", "left open", "surroundings")
"""The assumptions that are told at once; the table of assumptions has them all."""

MOST = 6
"""So many of one kind."""

LONG = 90
"""Letters of a formula that are shown."""


def summary(data: Data) -> Markup:
    """Two panels: the verdicts, and what they rest on."""
    return tag(
        "div",
        tag(
            "div",
            tag("h3", "What was decided"),
            tag("table", tag("tbody", [_decided(p) for p in data["properties"]])),
            _evidence(data["properties"]),
            class_="panel decided",
        ),
        tag(
            "div",
            tag("h3", "Under which assumptions"),
            tag("dl", _assumed(data)),
            class_="panel assumed",
        ),
        class_="summary",
    )


def said_by_none(claims: Sequence[Data]) -> list[str]:
    """Of several verdicts, none of which is open, what all of them leave unsaid."""
    if len(claims) < 2 or any(p["verdict"]["outcome"] == "unknown" for p in claims):
        return []
    first, *others = (p["not_claimed"] for p in claims)
    return [line for line in first if all(line in other for other in others)]


def scope(found: Data) -> str:
    """For how long a verdict speaks."""
    told = found["scope"]
    if told is None:
        return "not decided"
    if told["kind"] == "unbounded":
        return "for all time"
    if found["outcome"] == "falsified":
        return f"broken at time {float(told['horizon']):.6g}"
    return f"up to time {told['horizon']}"


def safety_lost(found: Data) -> str:
    """When safety was lost in a counterexample, if that is known."""
    lost = (found.get("counterexample") or {}).get("safety_lost")
    if lost is None or lost["unknown"]:
        return ""
    when = "from the start" if lost["time"] is None else f"at t = {lost['time']:.5g}"
    return f"safety was lost {when}"


def _decided(claim: Data) -> Markup:
    """A property: its verdict, its formula, and how close runs came to breaking it."""
    formula = claim["formula"] if len(claim["formula"]) <= LONG else f"{claim['formula'][:LONG]} …"
    return tag(
        "tr",
        tag("td", badge(claim["verdict"]["outcome"])),
        tag(
            "td",
            tag("strong", claim["name"]),
            tag("div", tag("code", formula)) if formula else None,
        ),
        tag("td", tag("div", scope(claim["verdict"]), class_="scope"), _how_close(claim)),
    )


def _how_close(claim: Data) -> Content:
    """The closest run, to be chosen by a click; of a broken property, when it was too late."""
    if lost := safety_lost(claim["verdict"]):
        return tag("div", lost, class_="small")
    near = claim["approach"]
    if near is None:
        return None
    if near["touches"]:
        return tag("div", "simulated runs touch the border", class_="small")
    place = near["place"]
    at = "" if place is None else f" at t = {place['t']:.4g}"
    button = tag(
        "button",
        f"run {near['run']}{at}",
        type="button",
        class_="pick",
        data_run=near["run"],
        data_time=None if place is None else repr(place["t"]),
    )
    return tag("div", "closest: ", tag("strong", near["text"]), " in ", button, class_="small")


def _evidence(claims: Iterable[Data]) -> Content:
    """What the proofs of the page amount to."""
    checked = [p["certificate_check"] for p in claims if p["certificate_check"]]
    obligations = sum(c["obligations"] or 0 for c in checked if c["accepted"])
    if not obligations:
        return None
    return tag(
        "p",
        f"Proved: {counted(len(checked), 'certificate')} with "
        f"{counted(obligations, 'obligation')}, each checked in exact arithmetic by a program that "
        "shares no code with the search. How close runs come is seen in simulation.",
        class_="small",
    )


def _assumed(data: Data) -> list[Content]:
    """First states, what is left open, and whether runs go on."""
    rows: list[Content] = []
    if data["first_states"]:
        rows += _row("first states", [tag("code", text) for text in data["first_states"]])
    told = [a for a in data["assumptions"] if a["what"] in TOLD]
    for what, group in groupby(sorted(told, key=_place), _what):
        lines = [a["text"] for a in group]
        more = f"and {len(lines) - MOST} more" if len(lines) > MOST else ""
        rows += _row(what, [*(tag("code", text) for text in lines[:MOST]), more])
    going = data["going_on"]
    mark = tag("span", going["kind"], class_=f"basis {going['kind']}")
    rows += _row("runs go on?", [tag("span", going["text"], " ", mark)])
    unsaid = said_by_none(data["properties"])
    return rows + (_row("bear in mind", [tag("div", line) for line in unsaid]) if unsaid else [])


def _row(name: str, parts: Iterable[Content]) -> list[Content]:
    return [tag("dt", name), tag("dd", ([part, " "] for part in parts))]


def _what(assumption: Data) -> str:
    return str(assumption["what"])


def _place(assumption: Data) -> int:
    return TOLD.index(assumption["what"])
