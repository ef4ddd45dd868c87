"""The parts of a report that are readable without a script."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from workbench.reports.pages.markup import Content, Markup, tag
from workbench.reports.pictures.svg import STYLE

Data = Mapping[str, Any]

NARROW, FITTING, WIDE = 760, 1500, 1800
"""A drawing at most so wide, in pixels, has its text beside it, or is made smaller to fit a window
that is wide, or very wide; others scroll."""

WORDS = {
    "verified": ("✓", "Verified"),
    "falsified": ("✗", "Falsified"),
    "unknown": ("?", "Unknown"),
    "contradiction": ("⚠", "Engines contradict each other"),
    "error": ("!", "No report"),
}


def without_style(drawn: str) -> Markup:
    """A drawing without its own style, which the page has."""
    return Markup(drawn.replace(f"<style>{STYLE}</style>\n", ""))


def badge(outcome: str) -> Markup:
    """The verdict's symbol and word in its colour."""
    symbol, word = WORDS[outcome]
    return tag(
        "span",
        tag("span", symbol, class_="symbol", aria_hidden="true"),
        word,
        class_=f"badge {outcome}",
    )


def section(anchor: str, title: str, *content: Content, note: Content = None) -> Markup:
    """A part with its heading; the note says what it is for."""
    heading = tag("h2", tag("a", title, href=f"#{anchor}"))
    intro = tag("p", note, class_="note") if note else None
    return tag("section", heading, intro, content, id=anchor)


def _width(picture: Markup) -> float:
    """The natural width of a drawing."""
    found = re.search(r' width="([0-9.]+)"', picture)
    return float(found[1]) if found else 0.0


def _arrangement(width: float) -> str:
    if width <= NARROW:
        return "beside"
    if width <= FITTING:
        return "stacked fitting"
    return "stacked fitting wide" if width <= WIDE else "stacked"


def model(data: Data, picture: Markup) -> Markup:
    """Picture and source, side by side if the picture is narrow; the script marks what is
    active."""
    sources = data["model"]["sources"]
    tabs = tag(
        "div",
        (
            tag(
                "button",
                s["file"],
                type="button",
                class_="tab",
                data_source=i,
                aria_pressed="true" if i == 0 else "false",
            )
            for i, s in enumerate(sources)
        ),
        class_="tabs",
        hidden=len(sources) < 2,
    )
    return section(
        "model",
        "Model",
        _warnings(data["model"]["warnings"]),
        tag(
            "div",
            tag("div", picture, class_="diagram panel", tabindex=0, id="diagram"),
            tag(
                "div",
                tabs,
                tag("pre", (s["text"] for s in sources[:1]), id="source", tabindex=0),
                class_="panel source",
            ),
            class_=_arrangement(_width(picture)),
        ),
        note="Agents and modes, and their text. The active mode and its lines are lit while a "
        "run is replayed.",
    )


def _warnings(lines: Iterable[str]) -> Content:
    return [tag("p", line, class_="warning") for line in lines]


def assumptions(data: Data) -> Markup:
    """What the verdicts rest on."""
    rows = [
        tag(
            "tr",
            tag("td", a["what"]),
            tag("td", tag("code", a["text"])),
            tag("td", tag("span", a["kind"], class_=f"basis {a['kind']}")),
        )
        for a in data["assumptions"]
    ]
    table = tag("table", tag("thead", heads("What", "Statement", "Basis")), tag("tbody", rows))
    return section(
        "assumptions",
        "Assumptions",
        tag("div", table, class_="scroll"),
        note="Every verdict is about this model under these assumptions.",
    )


def heads(*names: str) -> Markup:
    """The row of column names."""
    return tag("tr", (tag("th", name, scope="col") for name in names))


def plots(run: Markup | None) -> Markup:
    """Places for the script's plots, and the picture of the run that is shown first."""
    return section(
        "plots",
        "Plots",
        tag("noscript", tag("p", "Plots need scripts, which this browser does not run.")),
        tag("div", id="legend", class_="legend"),
        tag(
            "div",
            tag("div", id="time-plot", class_="plot panel"),
            tag("div", id="phase-plot", class_="plot panel"),
            class_="beside even",
        ),
        tag(
            "details",
            tag("summary", "The run that is shown first: its variables over time"),
            tag("div", run, class_="panel"),
            class_="course",
        )
        if run is not None
        else None,
        note="Runs coloured by mode over what the certificate claims (tinted) and the bad states "
        "(hatched). Click a run to select it; drag to move, + and − to zoom, 0 to fit.",
    )


def replay(data: Data) -> Markup:
    """Places for the state and the log of the selected run."""
    return section(
        "replay",
        "Replay",
        tag("p", id="replay-head", class_="row"),
        tag(
            "div",
            tag("div", tag("h3", "State"), tag("div", id="state", class_="scroll"), class_="panel"),
            tag(
                "div",
                tag("h3", "What happened"),
                tag("div", id="happening", aria_live="polite"),
                tag("ol", id="log", class_="log"),
                class_="panel",
            ),
            class_="beside even",
        ),
        note="Step through the selected run with the bar at the bottom of the window, or with "
        "the keys j and k; p plays.",
    )


def player(data: Data) -> Markup:
    """The bar that moves the shared selection."""
    options = [
        tag(
            "option", f"{'counterexample' if r['kind'] == 'counterexample' else 'run'} {i}", value=i
        )
        for i, r in enumerate(data["runs"])
    ]

    def button(name: str, sign: str, label: str) -> Markup:
        return tag("button", sign, type="button", id=name, aria_label=label, title=label)

    return tag(
        "div",
        tag("select", options, id="run", aria_label="Run"),
        button("first", "|◀", "First step"),
        button("previous", "◀", "Previous step (k)"),
        button("play", "▶", "Play (p)"),
        button("next", "▶|", "Next step (j)"),
        tag(
            "input", type="range", id="slider", min=0, max=1000, value=0, step=1, aria_label="Time"
        ),
        tag("output", "", id="clock"),
        tag("span", "", id="where", class_="chip"),
        id="player",
        role="toolbar",
        aria_label="Replay",
        hidden=not data["runs"],
    )


def coverage(data: Data) -> Markup:
    """What the runs reached and what they never did."""
    found = data["coverage"]
    places = [
        tag(
            "tr",
            tag("td", r["component"]),
            tag("td", r["name"]),
            _count(r["count"]),
            data_tag=r["tag"],
        )
        for r in found["locations"]
    ]
    edges = [
        tag(
            "tr",
            tag("td", r["component"]),
            tag("td", r["name"]),
            tag("td", tag("code", r["guard"])),
            _count(r["count"]),
            data_tag=r["tag"],
        )
        for r in found["transitions"]
    ]
    return section(
        "coverage",
        "Coverage",
        _warnings(found["warnings"]),
        tag(
            "div",
            tag(
                "div",
                tag("h3", f"Modes: {_share(found['locations'])}"),
                tag(
                    "table",
                    tag("thead", heads("Component", "Mode", "Visits")),
                    tag("tbody", places),
                ),
                class_="scroll tall",
            ),
            tag(
                "div",
                tag("h3", f"Transitions: {_share(found['transitions'])}"),
                tag(
                    "table",
                    tag("thead", heads("Component", "Transition", "Guard", "Taken")),
                    tag("tbody", edges),
                )
                if edges
                else tag("p", "There are none."),
                class_="scroll tall",
            ),
            class_="beside even",
        ),
        note="A property that no run comes near is proved of nothing. Never reached by a "
        "simulation does not mean unreachable.",
    )


def _share(rows: list[Data]) -> str:
    return f"{sum(1 for r in rows if r['count'])} of {len(rows)} reached"


def _count(count: int) -> Markup:
    return tag("td", str(count) if count else "never", class_="number" if count else "never")


def _setting(value: object) -> str:
    """What was asked for, truth values in the words of the language."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return ", ".join(value) if isinstance(value, list) else str(value)


def provenance(data: Data) -> Markup:
    """Time, counts, versions, fingerprints."""
    total = sum(data["seconds"].values()) or 1.0
    phases = [
        tag(
            "tr",
            tag("td", phase),
            tag("td", f"{s:.2f} s", class_="number"),
            tag("td", tag("meter", "", min=0, max=f"{total:.4f}", value=f"{s:.4f}")),
        )
        for phase, s in data["seconds"].items()
    ]
    counts = [_effort(p, len(data["properties"]) > 1) for p in data["properties"]]
    facts = [("command", data["command"]), ("seed", str(data["settings"]["seed"]))]
    facts += [
        (name.replace("_", " "), _setting(value))
        for name, value in data["settings"].items()
        if name != "seed" and value not in (None, [])
    ]
    facts += [("SHA-256 of the model", data["model"]["sha256"])]
    facts += [
        (f"SHA-256 of the certificate of “{p['name']}”", p["certificate_sha256"])
        for p in data["properties"]
        if p["certificate_sha256"]
    ]
    facts += [
        (
            f"SHA-256 of problem and evidence of “{p['name']}”",
            p["certificate_check"]["document_sha256"],
        )
        for p in data["properties"]
        if p["certificate_check"] and p["certificate_check"]["document_sha256"]
    ]
    versions = data["properties"][0]["verdict"]["versions"] if data["properties"] else {}
    facts += [(f"version of {name}", version) for name, version in versions.items()]
    facts += [("schema of the embedded data", data["schema"])]
    return section(
        "provenance",
        "Provenance",
        tag(
            "div",
            tag("div", tag("h3", "Time"), tag("table", tag("tbody", phases)), class_="scroll"),
            tag("div", tag("h3", "Effort"), tag("table", tag("tbody", counts)), class_="scroll"),
            class_="beside even",
        ),
        tag("dl", ((tag("dt", k), tag("dd", tag("code", v))) for k, v in facts)),
        tag(
            "p", tag("button", "Save the data of this report (JSON)", type="button", id="save-data")
        ),
    )


def _effort(claim: Data, is_one_of_several: bool) -> list[Markup]:
    """What deciding a property took."""
    title = tag("tr", tag("th", claim["name"], colspan=2, scope="rowgroup"))
    rows = [
        tag("tr", tag("td", what), tag("td", str(n), class_="number"))
        for what, n in _flat(claim["verdict"]["statistics"])
    ]
    return [title, *rows] if is_one_of_several else rows


def _flat(statistics: Data) -> list[tuple[str, str]]:
    found = [(f"{phase}, seconds", f"{s:.3f}") for phase, s in statistics["seconds"].items()]
    return found + [(k, str(v)) for k, v in statistics.items() if k != "seconds"]
