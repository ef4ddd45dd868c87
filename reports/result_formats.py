"""Verdicts in the formats of other tools: JUnit, SARIF 2.1.0, the CSV of ARCH competitions.

All read the document of `reports.data.report`, so they can never disagree with the report.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import PurePath
from typing import Any
from urllib.parse import quote

from workbench.reports.data.report import overall

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
    outcomes = [word for data in reports for word in _outcomes(data)]
    total = sum(seconds(claim) for data in reports for claim in data["properties"])
    attributes = {"name": "charon-workbench", **_counts(outcomes, total)}
    text = _element("testsuites", attributes, *suites)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _outcomes(data: Data) -> list[str]:
    """What the test cases of a model come to: their verdicts, or `error`."""
    if data.get("error"):
        return ["error"]
    return [
        "error" if wrong_about(data, claim) else claim["verdict"]["outcome"]
        for claim in data["properties"]
    ]


def _counts(outcomes: Sequence[str], time: float) -> dict[str, str]:
    return {
        "tests": str(len(outcomes)),
        "failures": str(outcomes.count("falsified")),
        "skipped": str(outcomes.count("unknown")),
        "errors": str(outcomes.count("error")),
        "time": f"{time:.3f}",
    }


def wrong_about(data: Data, claim: Data) -> list[str]:
    """What convicts an engine, in sentences: contradictions, a certificate that was rejected."""
    found = [
        c["sentence"] for c in data["crosscheck"]["contradictions"] if c["claim"] == claim["name"]
    ]
    check = claim["certificate_check"]
    if check and not check["accepted"]:
        found.append(f"The certificate was rejected when it was read back: {check['why']}.")
    return found


def _suite(data: Data) -> str:
    if data.get("error"):
        return _failed_suite(data)
    claims = data["properties"]
    counts = _counts(_outcomes(data), sum(map(seconds, claims)))
    attributes = {"name": data["model"]["label"], **counts}
    return _element("testsuite", attributes, *(_case(data, claim) for claim in claims))


def _failed_suite(data: Data) -> str:
    """A model without a report: one test case, an error."""
    label, message = data["model"]["label"], data["error"]["message"]
    error = _element("error", {"message": message.partition("\n")[0]}, _xml(message))
    case = _element("testcase", {"classname": label, "name": "the model", "time": "0.000"}, error)
    return _element("testsuite", {"name": label, **_counts(["error"], 0.0)}, case)


def _case(data: Data, claim: Data) -> str:
    attributes = {
        "classname": data["model"]["label"],
        "name": claim["name"],
        "time": f"{seconds(claim):.3f}",
    }
    wrong = wrong_about(data, claim)
    outcome = claim["verdict"]["outcome"]
    inside = []
    if wrong:
        message = {"message": "engines contradict each other"}
        inside.append(_element("error", message, _xml("\n".join(wrong))))
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
        yield _result("property-violated", violation(claim), data, claim)
    for sentence in wrong_about(data, claim):
        yield _result("engines-contradict", sentence, data, claim)


def _rejection(data: Data) -> dict[str, Any]:
    text = f"{data['model']['label']}: {data['error']['message']}"
    return {"ruleId": "no-report", "level": "error", "message": {"text": text}}


def _result(rule: str, text: str, data: Data, claim: Data) -> dict[str, Any]:
    found: dict[str, Any] = {"ruleId": rule, "level": "error", "message": {"text": text}}
    if claim["line"] is not None:
        file, line = claim["line"]
        found["locations"] = [
            {
                "physicalLocation": {
                    "artifactLocation": {"uri": _uri(data["model"]["label"], file)},
                    "region": {"startLine": line},
                }
            }
        ]
    return found


def _uri(label: str, file: str) -> str:
    """Where a file of a model is: beside the path that the model was named by, if it was."""
    named = PurePath(label.partition(":")[0])
    path = named.parent / file if named.suffix else PurePath(file)
    address = quote(path.as_posix(), errors="replace")
    return f"file://{address}" if path.is_absolute() else address


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
