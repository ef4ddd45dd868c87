"""The page: complete, self-contained, and closed to whatever a model's author writes."""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import replace
from hashlib import sha256
from html.parser import HTMLParser
from importlib.resources import files
from typing import Any

import pytest

from tests.support.report_models import EVIL, evil, heater, report_settings
from workbench.models.certificates.judgement import Accepted, Basis
from workbench.models.kernel.document import refusal
from workbench.models.load import load, load_text
from workbench.models.model import Model
from workbench.models.trace_files import from_json
from workbench.models.verdict import Falsified
from workbench.reports.analysis import Findings, analyse
from workbench.reports.data.report import SCHEMA, overall, report_data
from workbench.reports.pages.index import index_page
from workbench.reports.pages.markup import Markup, data_block, markup, tag
from workbench.reports.pages.report import NAVIGATION, diagram, render
from workbench.simulate.recipe import read_recorded, repeat


def findings(model: Model, **options: Any) -> Findings:
    settings = report_settings(**{"runs": 6, "until": 8.0, "time_limit": 20.0} | options)
    return analyse(model, model.name, model.automaton.properties, settings, command="workbench")


def page(found: Findings) -> str:
    texts = {name: checked.text for name, checked in found.certificates.items()}
    return render(report_data(found), diagram(found), texts, found.documents, found.recordings)


@pytest.fixture(scope="module")
def verified() -> Findings:
    return findings(heater(), method="template")


@pytest.fixture(scope="module")
def hostile() -> Findings:
    return findings(evil())


class Reader(HTMLParser):
    """Collects elements, attributes and the text of scripts."""

    def __init__(self) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[tuple[dict[str, str | None], str]] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag == "script":
            self.scripts.append((dict(attrs), ""))

    def handle_data(self, data: str) -> None:
        if self.elements and self.elements[-1][0] == "script" and self.cdata_elem == "script":
            attributes, text = self.scripts[-1]
            self.scripts[-1] = (attributes, text + data)
        else:
            self.text.append(data)


def read(text: str) -> Reader:
    reader = Reader()
    reader.feed(text)
    reader.close()
    return reader


def test_every_part_is_there(verified: Findings) -> None:
    reader = read(page(verified))
    found = {attributes.get("id") for name, attributes in reader.elements if name == "section"}
    assert found == {anchor for anchor, _ in NAVIGATION}
    words = " ".join(reader.text)
    assert "Verified" in words and "for all time" in words
    assert "accepted" in words and "workbench recheck" in words
    assert verified.automaton.sha256 in words


def test_truth_values_among_the_settings_are_those_of_the_language(verified: Findings) -> None:
    text = page(verified)
    assert "<dt>refine</dt><dd><code>true</code></dd>" in text
    assert "<code>True</code>" not in text and "<code>False</code>" not in text


def test_the_abstract_states_are_those_of_the_proof(verified: Findings) -> None:
    graph = report_data(verified)["properties"][0]["graph"]
    places = [node["location"] for node in graph["nodes"]]
    assert sorted(set(places)) == ["off", "on"]
    arrows = {
        (places[a["from"]] if a["from"] >= 0 else "start", places[a["to"]], a["label"])
        for a in graph["arrows"]
    }
    assert {("start", "on", ""), ("on", "off", "off!"), ("off", "on", "on!")} <= arrows


def test_nothing_is_asked_from_outside(verified: Findings) -> None:
    text = page(verified)
    reader = read(text)
    for name, attributes in reader.elements:
        assert name not in {"link", "iframe", "object", "embed", "img", "base"}
        assert not any(key in attributes for key in ("src", "srcset", "style", "onclick", "onload"))
        assert not (attributes.get("href") or "#").startswith(("http", "//"))
    policy = next(a["content"] for n, a in reader.elements if a.get("http-equiv"))
    assert policy is not None and policy.startswith("default-src 'none'")
    assert "unsafe" not in policy and "http" not in policy
    assert re.search(r"@import|url\((?!#)", text) is None


def test_the_data_is_embedded_and_versioned(verified: Findings) -> None:
    scripts = read(page(verified)).scripts
    data = next(json.loads(text) for a, text in scripts if a.get("id") == "report-data")
    assert data == json.loads(json.dumps(report_data_without_times(verified, data)))
    assert data["schema"] == SCHEMA == "charon-workbench/report/2"
    certificates = next(json.loads(text) for a, text in scripts if a.get("id") == "certificates")
    assert certificates["warm"] == verified.certificates["warm"].text


def test_a_verdict_of_the_kernel_brings_the_kernel_and_what_it_took(verified: Findings) -> None:
    reader = read(page(verified))
    blocks = {a["id"]: text for a, text in reader.scripts if "id" in a}
    (text,) = json.loads(blocks["documents"]).values()
    assert refusal(json.loads(text)) is None
    folder = files("workbench.models.kernel")
    for name in ("generated.js", "decode.js"):
        assert (folder / name).read_text("utf-8") in blocks["kernel"]
    (button,) = [a for n, a in reader.elements if n == "button" and a.get("class") == "recheck"]
    assert "hidden" in button, "until the script shows it"
    words = " ".join(reader.text)
    assert "not for the kernel to say: the command above" in words
    assert sha256(text.encode()).hexdigest() in words


def test_without_a_verdict_of_the_kernel_there_is_none(verified: Findings) -> None:
    checked = verified.certificates["warm"]
    assert isinstance(checked.judgement, Accepted)
    basis = Basis(False, "the kernel does not know such proofs")
    other = replace(checked, judgement=replace(checked.judgement, basis=basis), document=None)
    text = page(replace(verified, certificates={"warm": other}))
    reader = read(text)
    assert "A browser cannot repeat this check: the kernel does not know such proofs." in text
    assert not any(a.get("id") == "kernel" for a, _ in reader.scripts)
    assert not any(a.get("class") == "recheck" for _, a in reader.elements)
    policy = next(a["content"] for n, a in reader.elements if a.get("http-equiv"))
    assert policy is not None and "worker-src 'none'" in policy


def report_data_without_times(found: Findings, shown: dict[str, Any]) -> dict[str, Any]:
    """The document again; pictures may depend on the time they were given."""
    again = report_data(found)
    for one, other in zip(again["properties"], shown["properties"], strict=True):
        one["set"] = other["set"]
    return again


def test_names_cannot_become_markup(hostile: Findings) -> None:
    text = page(hostile)
    reader = read(text)
    assert len(reader.scripts) == 6, "four blocks of data, the kernel and our own script"
    assert "<img" not in text
    assert not any("onerror" in key for _, a in reader.elements for key in a)
    data = next(json.loads(t) for a, t in reader.scripts if a.get("id") == "report-data")
    assert data["properties"][0]["name"] == EVIL[0]
    assert EVIL[0] in " ".join(reader.text)
    for attributes, block in reader.scripts:
        if attributes.get("type") == "application/json":
            assert not set("<>&\u2028\u2029") & set(block)


TURNED = """
mode Rise() { write analog real x; diff { d(x) == 1; } inv { x <= 5 } }  // \u2066a comment
mode Top() { write analog real x; mode rise = Rise(); trans from init to rise; }
agent Main() {
  private analog real x = 0;
  mode top = Top();
  assert "stays \u202ewol" { x <= 3 }
}
"""


def test_what_turns_the_direction_of_writing_is_written_out() -> None:
    text = page(findings(load_text(TURNED, "turned.charon"), method="simulation"))
    assert not {"\u202e", "\u2066"} & set(text)
    assert "stays \\u202ewol" in text
    blocks = {a["id"]: json.loads(data) for a, data in read(text).scripts if "id" in a}
    (claim,) = blocks["report-data"]["properties"]
    assert claim["name"] in blocks["recordings"]


def test_the_index_escapes_too(hostile: Findings) -> None:
    reader = read(index_page([("a.html", report_data(hostile))]))
    assert not reader.scripts
    assert EVIL[0] in " ".join(reader.text)


def test_unknown_verdicts_are_reported_honestly() -> None:
    found = findings(heater(bound=21), method="template")  # false, so no method can prove it
    assert overall(report_data(found)) == "unknown"
    reader = read(page(found))
    assert "Nothing is claimed" in " ".join(reader.text)
    assert "there is no certificate" in " ".join(reader.text)


def test_what_methods_said_of_an_unknown_property_is_folded() -> None:
    found = findings(heater(bound=21), method="template")
    claim = report_data(found)["properties"][0]
    assert [t["method"] for t in claim["tried"]] == ["template"]
    why = claim["tried"][0]["why"]
    assert why and not any(why in line for line in (*claim["claimed"], *claim["not_claimed"]))
    assert any(n == "details" and a.get("class") == "tried" for n, a in read(page(found)).elements)


@pytest.fixture(scope="module")
def broken() -> Findings:
    return findings(heater(bound=21))


def test_a_counterexample_can_be_saved_and_replayed(broken: Findings) -> None:
    reader = read(page(broken))
    assert any(n == "button" and a.get("data-trace") == "0" for n, a in reader.elements)
    label = shlex.quote(broken.label)
    command = f"workbench simulate {label} --replay counterexample.json"
    assert command in " ".join(reader.text)
    files = next(json.loads(text) for a, text in reader.scripts if a.get("id") == "recordings")
    trace, recipe, sha256 = read_recorded(files["warm"])
    assert recipe is not None and sha256 == broken.automaton.sha256
    again = repeat(broken.automaton, recipe)
    assert again.outcome.time == pytest.approx(trace.outcome.time, abs=1e-9)


def test_the_recipe_of_a_counterexample_is_told(broken: Findings) -> None:
    recipe = report_data(broken)["properties"][0]["recipe"]
    told = {line["what"]: line["how"] for line in recipe["lines"]}
    assert recipe["replayable"]
    assert told["start"].startswith("x = ") and told["start"].endswith("; in on")
    assert told["jumps"] == "none"


def test_an_exact_counterexample_promises_no_replay(broken: Findings) -> None:
    (verdict,) = broken.verdicts
    assert isinstance(verdict, Falsified)
    exact = replace(broken, verdicts=(replace(verdict, recording=""),))
    reader = read(page(exact))
    assert "--replay" not in " ".join(reader.text)
    files = next(json.loads(text) for a, text in reader.scripts if a.get("id") == "recordings")
    assert from_json(files["warm"]).outcome == verdict.trace.outcome


@pytest.mark.slow
def test_a_counterexample_with_several_jumps_is_enclosed() -> None:
    found = findings(load("platoon_saturated"), runs=0, time_limit=60.0)
    claim = report_data(found)["properties"][0]
    confirmations = claim["verdict"]["counterexample"]["confirmations"]
    assert [c["rigorous"] for c in confirmations].count(True) == 1
    assert not any("floating point" in line for line in claim["not_claimed"])
    assert any(
        a["what"] == "evidence" and a["kind"] == "proved" for a in report_data(found)["assumptions"]
    )


@pytest.mark.parametrize(
    ("method", "words"),
    [("template", "does not rest on them"), ("abstraction", "rests on the last of them")],
)
def test_the_refinement_history_says_how_the_verdict_relates(
    verified: Findings, method: str, words: str
) -> None:
    data = report_data(verified)
    data["properties"][0]["rounds"] = [
        {"number": 1, "states": 3, "path": [], "left_out": 0, "learned": []}
    ]
    data["properties"][0]["verdict"]["method"] = method
    assert words in " ".join(read(render(data, diagram(verified), {}, {}, {})).text)


def test_faces_that_runs_touch_are_named_with_the_reason(verified: Findings) -> None:
    data = report_data(verified)
    margins = [run["sets"]["warm"] for run in data["crosscheck"]["runs"]]
    assert all(m["touched"] for m in margins)
    assert {t["why"] for m in margins for t in m["touched"]} == {"the model's own bound"}
    words = " ".join(read(page(verified)).text)
    assert "touches" in words and "the model's own bound" in words


def test_falsified_properties_come_with_a_replay(broken: Findings) -> None:
    found = broken
    data = report_data(found)
    assert overall(data) == "falsified"
    assert data["runs"][0]["kind"] == "counterexample"
    assert data["properties"][0]["bad"]["locations"]["on"] == [{"axes": ["x"], "shape": [21, None]}]


def test_a_contradiction_turns_the_report_red(verified: Findings) -> None:
    data = report_data(verified)
    place = {"t": 1.0, "location": "on", "predicate": "x ≤ 1", "values": {"x": 20.0}}
    data["crosscheck"]["contradictions"] = [
        {
            "run": 0,
            "claim": "warm",
            "sentence": "Run 0: it leaves the set.",
            "margin": -1,
            "place": place,
        }
    ]
    assert overall(data) == "contradiction"
    reader = read(render(data, diagram(verified), {}, {}, {}))
    body = next(a for n, a in reader.elements if n == "body")
    assert body["data-overall"] == "contradiction"
    assert "No verdict of this report can be trusted" in " ".join(reader.text)


def test_the_page_is_small(verified: Findings) -> None:
    assert len(page(verified)) < 500_000


def test_markup_escapes_all_but_itself() -> None:
    assert tag("p", "<b>", Markup("<i></i>"), title='"') == '<p title="&quot;">&lt;b&gt;<i></i></p>'
    assert markup(["a", None, 3]) == "a3"
    assert tag("a", data_x="1", hidden=False, open=True) == '<a data-x="1" open></a>'


@pytest.mark.parametrize("text", [*EVIL, "\ud800", "\x00"])
def test_data_blocks_cannot_close_early(text: str) -> None:
    block = data_block("d", {text: text})
    inside = block[block.index(">") + 1 : -len("</script>")]
    assert "<" not in inside and json.loads(inside) == {text: text}
    block.encode("utf-8")
