"""What takes long, as the processes of the language server do it: the texts as they are in the
editor in, plain data out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from workbench import Diagnostic, Document, Edit, ModelError, Span, Verdict
from workbench.api.model import Model
from workbench.workers.process import Request, Tell

SIMULATED_RUNS = 8
"""How many runs are made of a model that leaves something open."""


# Texts


def _document(request: Request) -> Document:
    """The document of a request, which brings its texts with it."""
    texts: Mapping[str, str] = request["texts"]

    def find(name: str) -> Document | None:
        return Document(name, texts[name], find) if name in texts else None

    return Document(request["name"], texts[request["name"]], find)


def _check(request: Request, _: Tell) -> Any:
    return [diagnostic_data(d) for d in _document(request).check()]


def diagnostic_data(diagnostic: Diagnostic) -> dict[str, Any]:
    """A finding as plain data."""
    span, fix = diagnostic.span, diagnostic.fix
    return {
        "code": diagnostic.code,
        "message": diagnostic.message,
        "hint": diagnostic.hint,
        "severity": str(diagnostic.severity),
        "span": span and _span_data(span),
        "fix": fix and [_span_data(fix.span), fix.text],
    }


def diagnostic_of(data: Mapping[str, Any]) -> Diagnostic:
    """The finding that plain data tell."""
    span, fix = data["span"], data["fix"]
    plain = Diagnostic(data["code"], data["message"])
    return Diagnostic(
        data["code"],
        data["message"],
        Span(*span) if span else None,
        data["hint"],
        type(plain.severity)(data["severity"]),
        Edit(Span(*fix[0]), fix[1]) if fix else None,
    )


def _span_data(span: Span) -> list[Any]:
    return [span.file, span.line, span.column, span.end_line, span.end_column]


# Models


def _claimed(request: Request) -> tuple[Model, tuple[str, ...]]:
    """The model of a request and its properties that a claim of the text stands for: of the whole
    model or, where the claim is no part of that, of the agent that makes it."""
    document = _document(request)
    place = tuple(request["place"])
    refusal: ModelError | None = None
    for agent in dict.fromkeys((request.get("agent"), request.get("owner"))):
        try:
            model = document.model(agent)
        except ModelError as error:
            refusal = refusal or error
            continue
        spans = ((p.name, p.span) for p in model.automaton.properties)
        names = tuple(n for n, s in spans if s and (s.file, s.line, s.column) == place)
        if names:
            return model, names
    if refusal is not None:
        raise refusal
    raise ValueError("this property is no part of the model: no agent that is used makes it")


def _verify(request: Request, tell: Tell) -> Any:
    model, names = _claimed(request)
    return _worst(model.verify(*names, progress=tell))


def _falsify(request: Request, tell: Tell) -> Any:
    model, names = _claimed(request)
    return _worst(model.falsify(*names, progress=tell))


def _worst(verdicts: Sequence[Verdict]) -> dict[str, Any]:
    """Of several properties that a claim stands for, the worst verdict."""
    order = ("falsified", "unknown", "verified")
    verdict = min(verdicts, key=lambda v: order.index(v.outcome))
    data = {
        "property": verdict.name,
        "outcome": verdict.outcome,
        "scope": verdict.scope,
        "method": verdict.method,
        "seconds": round(verdict.seconds, 2),
        "reason": verdict.reason,
        "advice": verdict.advice,
        "text": str(verdict),
    }
    if verdict.counterexample is not None:
        data["time"] = verdict.counterexample.time
        data["recording"] = verdict.counterexample.recording
    return data


def _simulate(request: Request, tell: Tell) -> Any:
    model = _document(request).model(request.get("agent"))
    runs = model.simulate(runs=request.get("runs", SIMULATED_RUNS), progress=tell)
    picture = Path(request["picture"])
    picture.parent.mkdir(parents=True, exist_ok=True)
    return {
        "runs": len(runs),
        "endings": {str(ending): number for ending, number in runs.endings.items()},
        "violated": sorted({name for run in runs.violating for name in run.violated}),
        "picture": str(runs.save(picture)),
    }


def _report(request: Request, tell: Tell) -> Any:
    page = Path(request["page"])
    page.parent.mkdir(parents=True, exist_ok=True)
    found = _document(request).model(request.get("agent")).report(page, progress=tell)
    return {
        "page": str(page),
        "verdicts": [{"property": v.name, "outcome": v.outcome} for v in found.verdicts],
    }


class Tasks:
    """What can be asked of a worker."""

    def do(self, task: str, request: Request, tell: Tell) -> Any:
        """The result of a task. Raises ModelError or ValueError."""
        return _TASKS[task](request, tell)


_TASKS: Mapping[str, Callable[[Request, Tell], Any]] = {
    "check": _check,
    "verify": _verify,
    "falsify": _falsify,
    "simulate": _simulate,
    "report": _report,
}
