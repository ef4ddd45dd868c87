"""A comparison of two systems as one HTML file: verdict, proof tree, evidence, what is left."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from workbench.abstraction.refinement.outcome import Failure, NotProved, Refines, Refuted, Step
from workbench.abstraction.refinement.proof_tree import Proof
from workbench.models.certificates.refinement import RefinementCertificate
from workbench.models.counting import counted
from workbench.models.model import Model
from workbench.models.trace import scalar_text
from workbench.reports.data.refinement import failure_lines, outcome_word, proof_data
from workbench.reports.pages.markup import Content, Markup, data_block, tag, visible_data
from workbench.reports.pages.report import page
from workbench.reports.pages.sections import section
from workbench.reports.words.inequalities import bounds, rounded

SCHEMA = "charon-workbench/refinement-report/1"
MAX_ROWS = 60

LOOKS = {
    "refines": ("✓", "Refines", "verified"),
    "refuted": ("✗", "Refuted", "falsified"),
    "not proved": ("?", "Not proved", "unknown"),
}
"""Symbol, word and colour of each outcome."""


@dataclass(frozen=True)
class Comparison:
    """What a page tells: two models by label, the proof, the whole tree if it is larger than
    the proof's own (an induction), sentences that follow, and the command that made it."""

    detailed_label: str
    abstract_label: str
    detailed: Model
    abstract: Model
    proof: Proof
    tree: Step
    holds: bool
    consequences: tuple[str, ...] = ()
    command: str = ""

    @property
    def word(self) -> str:
        """`refines`, `refuted` or `not proved`."""
        found = outcome_word(self.proof)
        return found if self.holds or found != "refines" else "not proved"


def refinement_page(compared: Comparison) -> str:
    """The page; it needs no script."""
    label = f"{compared.detailed_label} against {compared.abstract_label}"
    body = tag(
        "body",
        tag(
            "header",
            tag("p", "charon-workbench · refinement", class_="brand"),
            tag("div", tag("h1", label), _badge(compared.word), class_="headline"),
            tag("p", _meaning(compared), class_="subtitle"),
            class_="top",
        ),
        tag(
            "main",
            _tree_section(compared),
            _run_section(compared),
            _left_section(compared),
            _evidence_section(compared),
            _sources_section(compared),
            _provenance_section(compared),
        ),
        data_block("refinement-data", visible_data(_data(compared))),
        data_overall="",
    )
    return page(f"{label}: {compared.word}", body)


def _badge(word: str) -> Markup:
    symbol, text, colour = LOOKS[word]
    mark = tag("span", symbol, class_="symbol", aria_hidden="true")
    return tag("span", mark, text, class_=f"badge {colour}")


def _meaning(compared: Comparison) -> str:
    return {
        "refines": "Every run of the detailed system shows what some run of the simple one shows; "
        "what holds of the simple system, and of everything it is a part of, holds with the "
        "detailed one in its place.",
        "refuted": "The detailed system has a run that no run of the simple one matches.",
        "not proved": "Some obligations are left: neither a proof nor a run that cannot be "
        "matched was found.",
    }[compared.word]


def _tree_section(compared: Comparison) -> Markup:
    consequences = tag("ul", (tag("li", text) for text in compared.consequences))
    return section(
        "tree",
        "Proof tree",
        tag("div", tag("ul", _node(compared.tree), class_="tree"), class_="panel scroll"),
        consequences if compared.consequences else None,
        note="Each statement follows from those below it by the rule that it names; the leaves are "
        "simulations, each with a certificate that the trusted checker accepted.",
    )


def _node(step: Step) -> Markup:
    """The tree as nested lists, built from the leaves upwards."""
    done: dict[int, Markup] = {}
    for node in reversed(list(step.walk())):
        good = node.outcome is None or isinstance(node.outcome, Refines)
        rule = tag("span", str(node.rule), class_="basis proved" if good else "basis unproved")
        spent = f" · {node.seconds:.2f} s" if node.seconds else ""
        below = tag("ul", (done[id(b)] for b in node.below)) if node.below else None
        note = tag("span", f" {node.note}{spent}", class_="small") if node.note or spent else None
        claim = tag("strong", node.claim or "the parts")
        done[id(node)] = tag("li", claim, " ", rule, note, below)
    return done[id(step)]


def _run_section(compared: Comparison) -> Content:
    outcome = compared.proof.outcome
    if not isinstance(outcome, Refuted):
        return None
    miss = outcome.mismatch
    rows = [(name, scalar_text(v)) for name, v in miss.values.items()]
    jumps = [(f"{e.time:.6g}", e.name) for e in outcome.trace.jumps[:MAX_ROWS]]
    return section(
        "run",
        "The run that cannot be matched",
        tag(
            "p",
            f"It is matched for {counted(miss.jumps, 'jump')}, up to time {miss.time:.6g}, where "
            f"the detailed system is in {miss.location}: {miss.why}.",
        ),
        _table(("What is seen", "Value"), rows),
        tag("h3", "Its jumps") if jumps else None,
        _table(("Time", "Jump"), jumps) if jumps else None,
        note=f"Confirmed: {outcome.confirmed_by}.",
    )


def _left_section(compared: Comparison) -> Content:
    outcome = compared.proof.outcome
    if not isinstance(outcome, Refuted | NotProved):
        return None
    sources = {**compared.detailed.sources, **compared.abstract.sources}
    return section(
        "left",
        "Obligations that are left",
        [_failure(failure, sources) for failure in outcome.failures],
        note="Each at a state, in the variables of the models: x is a value, x' the one after a "
        "jump, d(x) a derivative.",
    )


def _failure(failure: Failure, sources: Mapping[str, str]) -> Markup:
    head, *rest = failure_lines(failure, sources)
    return tag(
        "article",
        tag("h3", head),
        tag("ul", (tag("li", tag("code", line.strip())) for line in rest)),
        class_="certificate",
    )


def _evidence_section(compared: Comparison) -> Content:
    leaves = [step for step in compared.tree.walk() if isinstance(step.outcome, Refines)]
    if not leaves:
        return None
    return section(
        "evidence",
        "Evidence",
        [_leaf(step) for step in leaves],
        note="For every pair of parts that was compared: which locations stand for which, what "
        "hidden variables are, and the reachable states that were used.",
    )


def _leaf(step: Step) -> Markup:
    assert isinstance(step.outcome, Refines)
    certificate, judgement = step.outcome.certificate, step.outcome.judgement
    rows = [("location", f"{here} → {there}") for here, there in certificate.places.items()]
    rows += [("witness", f"{name} = {form}") for name, form in certificate.witness.items()]
    rows += [("reachable", text) for text in _reachable(certificate)]
    left = len(rows) - MAX_ROWS
    solved = (
        tag(
            "p", f"{counted(judgement.assumed, 'obligation')} resting on solvers.", class_="warning"
        )
        if judgement.assumed
        else None
    )
    return tag(
        "article",
        tag("h3", step.claim or "the whole"),
        tag(
            "p",
            tag("span", "✓ accepted", class_="basis proved"),
            f" by the trusted checker: {counted(judgement.obligations, 'obligation')} multiplied "
            f"out, {judgement.reach} of reachable sets.",
        ),
        solved,
        _table(("Part of the relation", "Is"), rows[:MAX_ROWS]),
        tag("p", f"{left} more are in the certificate.", class_="small") if left > 0 else None,
        class_="certificate",
    )


def _reachable(certificate: RefinementCertificate) -> Iterable[str]:
    if certificate.reach is None:
        return
    for region in certificate.reach.regions:
        for number in range(len(region.cells)):
            lines = ", ".join(str(b) for b in bounds(row.form for row in region.rows(number)))
            yield f"{region.location}: {lines}"


def _sources_section(compared: Comparison) -> Content:
    texts = {**compared.detailed.sources, **compared.abstract.sources}
    shown = [
        tag(
            "details",
            tag("summary", name.rpartition("/")[2]),
            tag("pre", text, class_="inside"),
            class_="mode-card",
        )
        for name, text in texts.items()
    ]
    return section("sources", "Sources", tag("div", shown, class_="modes")) if shown else None


def _provenance_section(compared: Comparison) -> Markup:
    facts = [
        ("command", compared.command),
        ("SHA-256 of the detailed model", compared.detailed.automaton.sha256),
        ("SHA-256 of the simple model", compared.abstract.automaton.sha256),
        ("time", f"{rounded(sum(s.seconds for s in compared.tree.walk()))} s"),
        ("schema of the embedded data", SCHEMA),
    ]
    return section(
        "provenance",
        "Provenance",
        tag("dl", ((tag("dt", k), tag("dd", tag("code", v))) for k, v in facts)),
    )


def _table(heads: Iterable[str], rows: Iterable[tuple[str, str]]) -> Markup:
    head = tag("tr", (tag("th", h, scope="col") for h in heads))
    body = [tag("tr", (tag("td", tag("code", cell)) for cell in row)) for row in rows]
    return tag("div", tag("table", tag("thead", head), tag("tbody", body)), class_="scroll")


def _data(compared: Comparison) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "detailed": compared.detailed_label,
        "abstract": compared.abstract_label,
        "command": compared.command,
        **proof_data(compared.proof),
        "outcome": compared.word,
    }
