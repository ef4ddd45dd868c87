"""The report as one HTML file that opens from disk and asks the network for nothing.

What can be read without a script is written here (verdicts, assumptions, certificate, tables,
provenance), so that it prints and survives; plots, replay and the shared selection are drawn
by the scripts in `reports/assets` from the embedded data.
"""

from __future__ import annotations

import gzip
from base64 import b64encode
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

from workbench.reports.analysis import Findings
from workbench.reports.claims.property_bounds import property_bounds
from workbench.reports.data.report import overall
from workbench.reports.pages import crosscheck_table, evidence, sections, verdict_cards
from workbench.reports.pages.markup import (
    Markup,
    data_block,
    script,
    source_hash,
    style,
    tag,
    visible,
    visible_data,
)
from workbench.reports.pictures import trace_plot
from workbench.reports.pictures.diagram import draw_agent, draw_automaton
from workbench.reports.pictures.svg import STYLE

SCRIPTS = (
    "geometry.js",
    "quadratics.js",
    "runs.js",
    "plot.js",
    "plots.js",
    "panels.js",
    "player.js",
    "rechecking.js",
    "start.js",
)
KERNEL = ("generated.js", "decode.js")
"""The kernel in JavaScript, and what stands before it."""

PLAIN = 5_000
"""Longer files are embedded in compressed form."""

NOTHING = "'none'"
"""What a policy allows that allows nothing."""

STYLES = ("report.css", "parts.css", "print.css")

NAVIGATION = (
    ("verdict", "Verdict"),
    ("plots", "Plots"),
    ("details", "In detail"),
    ("model", "Model"),
    ("assumptions", "Assumptions"),
    ("crosscheck", "Cross-check"),
    ("graph", "Abstract states"),
    ("certificate", "Certificate"),
    ("replay", "Replay"),
    ("coverage", "Coverage"),
    ("provenance", "Provenance"),
)


def diagram(findings: Findings) -> Markup:
    """The model's picture without its own style, which the page has."""
    model = findings.model
    drawn = (
        draw_automaton(model.automaton)
        if model.agent is None
        else draw_agent(model.agent, title=model.name)
    )
    return sections.without_style(drawn)


def course(findings: Findings, data: Mapping[str, Any], panels: Sequence[str]) -> Markup | None:
    """The run that is shown first over time, a panel for each of `panels` (as `trace_plot` reads
    them), without its own style, which the page has; None if there is nothing to draw."""
    if not findings.runs or not panels:
        return None
    number = data["first_run"]
    run = findings.runs[number]
    title = "the counterexample" if run.claim else f"run {number} ({run.how})"
    try:
        drawn = trace_plot.plot([run.trace], panels, title, (), property_bounds(findings.automaton))
    except ValueError:  # no number of it is finite
        return None
    return Markup(drawn.replace(f"<style>{trace_plot.STYLE}</style>\n", ""))


def render(
    data: Mapping[str, Any],
    picture: Markup,
    certificates: Mapping[str, str],
    documents: Mapping[str, str],
    recordings: Mapping[str, str],
    run: Markup | None = None,
) -> str:
    """The page of one model; `certificates`, `documents` (for the kernel) and `recordings` (of
    counterexamples) are the texts of files that it can save, by property; `run` is the picture of
    the run that is shown first."""
    worst, data = overall(data), visible_data(data)
    programs = [kernel(), scripts()] if documents else [scripts()]
    body = tag(
        "body",
        verdict_cards.header(data, worst),
        tag(
            "nav",
            (tag("a", text, href=f"#{anchor}") for anchor, text in NAVIGATION),
            aria_label="Parts of the report",
        ),
        tag(
            "main",
            verdict_cards.verdict(data),
            sections.plots(run),
            verdict_cards.details(data),
            sections.model(data, picture),
            sections.assumptions(data),
            crosscheck_table.crosscheck(data),
            evidence.graph(data),
            evidence.certificate(data),
            sections.replay(data),
            sections.coverage(data),
            sections.provenance(data),
        ),
        sections.player(data),
        data_block("report-data", data),
        _files("certificates", certificates),
        _files("documents", documents),
        _files("recordings", recordings),
        script(kernel(), "kernel") if documents else None,
        script(scripts()),
        data_overall=worst,
    )
    return page(f"{data['model']['label']}: {worst}", body, programs, workers=bool(documents))


def _files(identifier: str, texts: Mapping[str, str]) -> Markup:
    return data_block(identifier, {visible(name): packed(text) for name, text in texts.items()})


def page(title: str, body: Markup, programs: Sequence[str] = (), *, workers: bool = False) -> str:
    """A complete document with a policy that allows our own scripts and style, workers that these
    make where there are to be some, and nothing else, from nowhere."""
    sheet = stylesheet()
    policy = (
        "default-src 'none'; img-src data:; "
        f"style-src {source_hash(sheet)}; "
        f"script-src {' '.join(map(source_hash, programs)) or NOTHING}; "
        f"worker-src {'blob:' if workers else NOTHING}; "
        "base-uri 'none'; form-action 'none'"
    )
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        Markup(f'<meta http-equiv="Content-Security-Policy" content="{policy}">'),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", title),
        style(sheet),
    )
    return f"<!doctype html>\n{tag('html', head, body, lang='en')}\n"


def packed(text: str) -> str | dict[str, str]:
    """A file as it is embedded: a long one as compressed text in base 64."""
    if len(text) <= PLAIN:
        return text
    return {"gzip": b64encode(gzip.compress(text.encode(), mtime=0)).decode()}


def asset(name: str) -> str:
    """A file of the package's own scripts and styles."""
    return (files("workbench.reports") / "assets" / name).read_text(encoding="utf-8")


def kernel() -> str:
    """The kernel and its decoder as one constant, for the page and for its workers."""
    folder = files("workbench.models.kernel")
    parts = "\n".join((folder / name).read_text(encoding="utf-8") for name in KERNEL)
    return f"const KERNEL = (() => {{\n{parts}\nreturn {{ judged }};\n}})();"


def scripts() -> str:
    """All scripts as one, in a scope of its own."""
    return "(() => {\n'use strict';\n" + "\n".join(map(asset, SCRIPTS)) + "\n})();"


def stylesheet() -> str:
    """All style sheets as one."""
    return "\n".join((STYLE, trace_plot.STYLE, *map(asset, STYLES)))
