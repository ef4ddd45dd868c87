"""Verdicts in the formats of other tools: JUnit, SARIF 2.1.0, the CSV of ARCH competitions.

All read the document of `reports.data.report`, so they can never disagree with the report.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any
from urllib.parse import quote

from reports.data.report import overall

Data = Mapping[str, Any]

_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def seconds(claim: Data) -> float:
    """How long the decision of a property took."""
    return float(sum(claim["verdict"]["statistics"]["seconds"].values()))


def junit(reports: Sequence[Data]) -> str:
    """One suite for each model, one test case for each property: falsified is a failure,
    unknown is skipped, a contradiction between engines an error."""
    suites = [_suite(data) for data in reports]
    text = _element("testsuites", {"name": "charon-workbench"}, *suites)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _suite(data: Data) -> str:
    if data.get("error"):
        return _failed_suite(data)
    claims = data["properties"]
    outcomes = [p["verdict"]["outcome"] for p in claims]
    attributes = {
        "name": data["model"]["label"],
        "tests": str(len(claims)),
        "failures": str(outcomes.count("falsified")),
        "skipped": str(outcomes.count("unknown")),
        "errors": str(len({c["claim"] for c in data["crosscheck"]["contradictions"]})),
        "time": f"{sum(map(seconds, claims)):.3f}",
    }
    return _element("testsuite", attributes, *(_case(data, claim) for claim in claims))


def _failed_suite(data: Data) -> str:
    """A model without a report: one test case, an error."""
    label, message = data["model"]["label"], data["error"]["message"]
    error = _element("error", {"message": message.splitlines()[0]}, _xml(message))
    case = _element("testcase", {"classname": label, "name": "the model", "time": "0.000"}, error)
    counts = {"tests": "1", "failures": "0", "skipped": "0", "errors": "1", "time": "0.000"}
    return _element("testsuite", {"name": label, **counts}, case)


def _case(data: Data, claim: Data) -> str:
    attributes = {
        "classname": data["model"]["label"],
        "name": claim["name"],
        "time": f"{seconds(claim):.3f}",
    }
    wrong = [c for c in data["crosscheck"]["contradictions"] if c["claim"] == claim["name"]]
    outcome = claim["verdict"]["outcome"]
    inside = []
    if wrong:
        lines = "\n".join(c["sentence"] for c in wrong)
        message = {"message": "engines contradict each other"}
        inside.append(_element("error", message, _xml(lines)))
    elif outcome == "falsified":
        text = _xml(f"{claim['words']} {claim['formula']}")
        inside.append(_element("failure", {"message": violation(claim)}, text))
    elif outcome == "unknown":
        inside.append(_element("skipped", {"message": claim["verdict"]["reason"]}))
    return _element("testcase", attributes, *inside)


def _element(name: str, attributes: Mapping[str, str], *inside: str) -> str:
    """An XML element; what is inside is markup already."""
    pairs = "".join(f' {key}="{_xml(value)}"' for key, value in attributes.items())
    return f"<{name}{pairs}>{''.join(inside)}</{name}>"


def _xml(text: str) -> str:
    """Text as XML, without the characters that XML cannot hold; line breaks survive in
    attributes too."""
    safe = escape(_NOT_XML.sub("\N{REPLACEMENT CHARACTER}", text))
    return safe.replace("\n", "&#10;").replace("\r", "&#13;").replace("\t", "&#9;")


def violation(claim: Data) -> str:
    """A violated property in a sentence."""
    time = float(claim["verdict"]["counterexample"]["time"])
    return f"{claim['name']!r} is broken at time {time:.6g}"


def sarif(reports: Sequence[Data]) -> dict[str, Any]:
    """Violated properties, with the line of the claim, as static-analysis results."""
    results = [
        result
        for data in reports
        for claim in data["properties"]
        for result in _results(data, claim)
    ]
    results += [_rejection(data) for data in reports if data.get("error")]
    versions = [p["verdict"]["versions"] for data in reports for p in data["properties"]]
    driver = {
        "name": "charon-workbench",
        "version": versions[0].get("charon-workbench", "0") if versions else "0",
        "rules": [
            {
                "id": "property-violated",
                "shortDescription": {"text": "A behaviour of the model breaks a property."},
            },
            {
                "id": "engines-contradict",
                "shortDescription": {"text": "Two engines disagree: one of them is wrong."},
            },
            {
                "id": "no-report",
                "shortDescription": {"text": "The model could not be reported on."},
            },
        ],
    }
    return {
        "$schema": SARIF_SCHEMA,
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "results": results}],
    }


def _results(data: Data, claim: Data) -> Iterator[dict[str, Any]]:
    if claim["verdict"]["outcome"] == "falsified":
        yield _result("property-violated", violation(claim), claim)
    for found in data["crosscheck"]["contradictions"]:
        if found["claim"] == claim["name"]:
            yield _result("engines-contradict", found["sentence"], claim)


def _rejection(data: Data) -> dict[str, Any]:
    text = f"{data['model']['label']}: {data['error']['message']}"
    return {"ruleId": "no-report", "level": "error", "message": {"text": text}}


def _result(rule: str, text: str, claim: Data) -> dict[str, Any]:
    found: dict[str, Any] = {"ruleId": rule, "level": "error", "message": {"text": text}}
    if claim["line"] is not None:
        file, line = claim["line"]
        found["locations"] = [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": _uri(file)},
                    "region": {"startLine": line},
                }
            }
        ]
    return found


def _uri(file: str) -> str:
    return quote(file)


def arch_csv(reports: Sequence[Data]) -> str:
    """`benchmark,instance,result,time`: one row for each property."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["benchmark", "instance", "result", "time"])
    for data in reports:
        if data.get("error"):
            writer.writerow([data["model"]["label"], "", "error", "0.000"])
        for claim in data["properties"]:
            result = claim["verdict"]["outcome"]
            if overall(data) == "contradiction":
                result = "error"
            writer.writerow(
                [data["model"]["label"], claim["name"], result, f"{seconds(claim):.3f}"]
            )
    return out.getvalue()
