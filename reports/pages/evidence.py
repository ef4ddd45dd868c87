"""The parts of a report about evidence: abstract states, refinement history, certificates."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from workbench.models.counting import counted
from workbench.reports.data.proof_graph import draw_proof_graph
from workbench.reports.pages.markup import Content, Markup, tag
from workbench.reports.pages.sections import heads, section, without_style
from workbench.reports.pictures import abstract_graph

Data = Mapping[str, Any]

OPEN_LINES = 120
"""The inequalities of a certificate are folded away if they would take more lines."""


def graph(data: Data) -> Markup:
    """The abstract states of proofs, where they are made of cells."""
    blocks = [_graph(alike, data["locations"]) for alike in _alike(data["properties"])]
    blocks += [_given(p) for p in data["properties"] if p["given"]]
    blocks += [_rounds(p) for p in data["properties"] if p["rounds"]]
    empty = tag(
        "p", "No property of this report is verified, so no verdict rests on abstract states."
    )
    return section(
        "graph",
        "Abstract states",
        blocks or empty,
        note="Each node is a cell of the proved invariant with its predicates; an arrow leads to "
        "every cell that the proof needs for the initial states, for a jump, or (without a "
        "label) for the passing of time.",
    )


def _alike(claims: Iterable[Data]) -> list[list[Data]]:
    """Proved properties, those together whose proofs rest on the same abstract states."""
    groups: list[list[Data]] = []
    for claim in claims:
        if not claim["certificate_check"]:
            continue
        same = (g for g in groups if claim["graph"] and g[0]["graph"] == claim["graph"])
        group = next(same, None)
        if group is None:
            groups.append([claim])
        else:
            group.append(claim)
    return groups


def _graph(claims: Sequence[Data], locations: Data) -> Markup:
    """The abstract states on which the proofs of some properties rest."""
    claim, names = claims[0], " and ".join(claim["name"] for claim in claims)
    title = tag("h3", names)
    found = claim["graph"]
    if found is None:
        return tag(
            "article",
            title,
            tag(
                "p",
                "The invariant has too many cells to be drawn; they are listed below."
                if claim["invariant"]["kind"] == "polyhedral"
                else f"A {claim['invariant']['kind']} proof has no abstract states.",
            ),
            class_="certificate",
        )
    tags = {name: quote(f"state:{name}", errors="replace") for name in locations}
    drawn = without_style(draw_proof_graph(found, tags, f"Abstract states of {names}"))
    count = len(found["nodes"])
    words = f"{counted(count, 'abstract state')}, {counted(len(found['arrows']), 'arrow')}."
    return tag(
        "article",
        title,
        tag("p", words, class_="small"),
        tag("div", drawn, class_="diagram graph", tabindex=0),
        class_="certificate",
    )


def _given(claim: Data) -> Markup:
    """The abstract states that refinement begins with."""
    states = claim["given"]["states"]
    bad = sum(state["bad"] for state in states)
    words = (
        "With the given predicates, and those of guards, invariants and the property, "
        f"{counted(len(states), 'abstract state')} can be reached"
        + (", a bad one among them: the path there need not be one of a run." if bad else ".")
    )
    drawn = without_style(abstract_graph.to_svg(abstract_graph.from_data(claim["given"])))
    return tag(
        "article",
        tag("h3", f"{claim['name']}: before refinement"),
        tag("p", words, class_="small"),
        tag("div", drawn, class_="diagram graph", tabindex=0),
        class_="certificate",
    )


def _rounds(claim: Data) -> Markup:
    """How the predicates came about, round by round."""
    rows = [
        tag(
            "tr",
            tag("td", str(r["number"]), class_="number"),
            tag("td", str(r["states"]), class_="number"),
            tag("td", _path(r) if r["path"] else "no bad state"),
            tag("td", [tag("div", tag("code", p)) for p in r["learned"]] or "nothing"),
        )
        for r in claim["rounds"]
    ]
    table = tag(
        "table",
        tag("thead", heads("Round", "Abstract states", "Path to a bad state", "Learned")),
        tag("tbody", rows),
    )
    return tag(
        "article",
        tag("h3", f"{claim['name']}: refinement history"),
        tag(
            "p",
            f"Predicate abstraction took {counted(len(rows), 'round')}. Each explores the abstract "
            "states of its predicates; a path to a bad state teaches it further ones. ",
            tag("strong", _relation(claim["verdict"], is_open=bool(claim["rounds"][-1]["path"]))),
            class_="small",
        ),
        tag("div", table, class_="scroll"),
        class_="certificate",
    )


def _relation(verdict: Data, is_open: bool) -> str:
    """How the rounds of predicate abstraction and the verdict relate; `is_open` tells that a bad
    state was reached in the last round, too."""
    if verdict["method"] == "abstraction" and verdict["outcome"] != "unknown":
        return "The verdict rests on the last of them."
    ended = (
        "They did not decide the property"
        if is_open
        else "The last reached no bad state, but that became no certificate"
    )
    if verdict["outcome"] == "unknown":
        return f"{ended}."
    evidence = "certificate" if verdict["outcome"] == "verified" else "counterexample"
    return (
        f"{ended}, and the verdict does not rest on them: its {evidence} was found by the method "
        f"“{verdict['method']}”."
    )


def _path(made: Data) -> Markup:
    """An abstract path, folded: where it goes, and inside every cell."""
    steps = made["path"]
    total = len(steps) + made["left_out"]
    return tag(
        "details",
        tag("summary", f"{counted(total, 'state')}, from {steps[0]['location']}"),
        tag(
            "ol",
            (
                tag("li", f"{s['entered']}: {s['location']} ", tag("code", ", ".join(s["cell"])))
                for s in steps
            ),
        ),
        tag("p", f"and {made['left_out']} more", class_="small") if made["left_out"] else None,
        class_="path",
    )


def certificate(data: Data) -> Markup:
    """The invariants in readable inequalities, and the checker's word."""
    blocks = [
        _certificate(p, i, data["model"]["label"])
        for i, p in enumerate(data["properties"])
        if p["certificate_check"]
    ]
    empty = tag("p", "No property of this report is verified, so there is no certificate.")
    return section(
        "certificate",
        "Certificate",
        blocks or empty,
        note="A set that contains every initial state, that no behaviour leaves, and that "
        "contains no bad state. Numbers are rounded here and exact in the file.",
    )


def _certificate(claim: Data, index: int, label: str) -> Markup:
    check = claim["certificate_check"]
    if check["accepted"]:
        result = tag(
            "p",
            tag("span", "✓ accepted", class_="basis proved"),
            f" while this report was made, by {check['basis']}: {check['obligations']} "
            f"obligations in {check['seconds']:.3g} s of exact arithmetic.",
        )
    else:
        result = tag("p", f"Rejected: {check['why']}", class_="alarm")
    kilobytes = f"{check['bytes'] / 1000:.0f} kB"
    invariant = claim["invariant"]
    places = invariant["locations"]
    lines = sum(_height(line) for cells in places.values() for cell in cells for line in cell)
    modes = [_mode_card(name, cells, lines <= OPEN_LINES) for name, cells in places.items()]
    left = invariant["left_out"]
    return tag(
        "article",
        tag("h3", claim["name"]),
        result,
        tag(
            "p",
            tag(
                "button",
                f"Save certificate ({kilobytes})",
                type="button",
                class_="save",
                data_claim=index,
            ),
            " Repeat the check from the saved file: ",
            tag("code", f"workbench recheck {shlex.quote(label)} certificate.json"),
        ),
        _check_here(check, index) if check["accepted"] else None,
        tag("div", modes, class_="modes"),
        tag("p", f"{left} more are in the file.", class_="small") if left else None,
        class_="certificate",
    )


def _check_here(check: Data, index: int) -> Content:
    """What a browser needs to check the proof itself: a button that the script shows, and what it
    does not say; else why it cannot."""
    if check["document_bytes"] is None:
        why = check["missing"] or "there was no time to write it down for the kernel"
        return tag("p", f"A browser cannot repeat this check: {why}.", class_="small")
    kilobytes = f"{check['document_bytes'] / 1000:.0f} kB"
    beyond = "That the problem is that of the model is not for the kernel to say: " + (
        f"the command above checks it. Nor does the kernel say {check['missing']}."
        if check["missing"]
        else "the command above checks it."
    )
    return [
        tag(
            "p",
            tag(
                "button",
                "Check this proof here",
                type="button",
                class_="recheck",
                data_proof=index,
                hidden=True,
            ),
            tag(
                "button",
                f"Save problem and evidence ({kilobytes})",
                type="button",
                class_="save",
                data_proof=index,
            ),
            tag("span", "", class_="told", role="status"),
            class_="row",
        ),
        tag(
            "p",
            "The problem (model and property as rows of numbers) and the evidence are part of "
            "this page, and so is the kernel, in JavaScript: the browser repeats the check. ",
            beyond,
            class_="small",
        ),
    ]


def _height(line: str) -> int:
    """How many lines a text takes, roughly."""
    return 1 + len(line) // 70


def _mode_card(location: str, cells: list[list[str]], is_open: bool) -> Markup:
    shown = []
    for number, lines in enumerate(cells):
        if len(cells) > 1:
            shown.append(tag("p", f"{'or ' if number else ''}cell {number + 1}", class_="small"))
        shown.append(tag("ul", (tag("li", tag("code", line)) for line in lines), class_="rows"))
    return tag(
        "details",
        tag("summary", tag("span", class_="swatch"), tag("span", location, class_="mode-name")),
        shown,
        class_="mode-card",
        data_location=location,
        open=is_open,
    )
