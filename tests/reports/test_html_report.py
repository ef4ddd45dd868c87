"""The page: complete, self-contained, and closed to whatever a model's author writes."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from typing import Any

import pytest

from models.model import Model
from reports.analysis import Findings, Settings, analyse
from reports.data.report import SCHEMA, overall, report_data
from reports.pages.index import index_page
from reports.pages.markup import Markup, data_block, markup, tag
from reports.pages.report import NAVIGATION, diagram, render
from tests.support.report_models import EVIL, evil, heater


def findings(model: Model, **options: Any) -> Findings:
    settings = Settings(**{"runs": 6, "until": 8.0, "time_limit": 20.0} | options)
    return analyse(model, model.name, model.automaton.properties, settings, command="workbench")


def page(found: Findings) -> str:
    texts = {name: checked.text for name, checked in found.certificates.items()}
    return render(report_data(found), diagram(found), texts)


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


def report_data_without_times(found: Findings, shown: dict[str, Any]) -> dict[str, Any]:
    """The document again; pictures may depend on the time they were given."""
    again = report_data(found)
    for one, other in zip(again["properties"], shown["properties"], strict=True):
        one["set"] = other["set"]
    return again


def test_names_cannot_become_markup(hostile: Findings) -> None:
    text = page(hostile)
    reader = read(text)
    assert len(reader.scripts) == 3, "two blocks of data and our own script"
    assert "<img" not in text
    assert not any("onerror" in key for _, a in reader.elements for key in a)
    data = next(json.loads(t) for a, t in reader.scripts if a.get("id") == "report-data")
    assert data["properties"][0]["name"] == EVIL[0]
    assert EVIL[0] in " ".join(reader.text)
    for attributes, block in reader.scripts:
        if attributes.get("type") == "application/json":
            assert not set("<>&\u2028\u2029") & set(block)


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


def test_falsified_properties_come_with_a_replay() -> None:
    found = findings(heater(bound=21))
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
    reader = read(render(data, diagram(verified), {}))
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
