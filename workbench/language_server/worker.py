"""The process behind `workers.Worker`: what takes long, done through the public API.

It ends when nobody can ask any more.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from workbench import Diagnostic, Document, Edit, ModelError, Span
from workbench.api.model import Model

Tell = Callable[[str], None]

SIMULATED_RUNS = 8
"""How many runs are made of a model that leaves something open."""


def main() -> None:
    """Answer requests until there are no more."""
    questions, answers = os.dup(0), os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)  # nothing else may write among the answers
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    requests: SimpleQueue[bytes] = SimpleQueue()
    threading.Thread(target=_listen, args=(questions, requests), daemon=True).start()

    def say(**answer: Any) -> None:
        answers.write(json.dumps(answer) + "\n")
        answers.flush()

    while True:
        request = json.loads(requests.get())
        try:
            say(result=TASKS[request["task"]](request, lambda words: say(progress=words)))
        except ModelError as error:
            say(refused=error.render())
        except ValueError as error:
            say(refused=str(error))
        except MemoryError:
            say(refused="this needs more memory than there is")
        except Exception as error:
            traceback.print_exc(file=sys.stderr)
            say(refused=f"a defect of this program: {type(error).__name__}: {error}")


def _listen(questions: int, requests: SimpleQueue[bytes]) -> None:
    """Take lines as they come, so that the end of the server is noticed during work, too. They are
    read without a lock: engines start processes of their own, which would inherit it."""
    begun = b""
    while data := os.read(questions, 1 << 20):
        *lines, begun = (begun + data).split(b"\n")
        for line in lines:
            requests.put(line)
    os.killpg(0, signal.SIGKILL)


# Texts


def _document(request: Mapping[str, Any]) -> Document:
    """The document of a request, which brings its texts with it."""
    texts: Mapping[str, str] = request["texts"]

    def find(name: str) -> Document | None:
        return Document(name, texts[name], find) if name in texts else None

    return Document(request["name"], texts[request["name"]], find)


def _check(request: Mapping[str, Any], _: Tell) -> Any:
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


def _claimed(request: Mapping[str, Any]) -> tuple[Model, tuple[str, ...]]:
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
    raise ValueError("this claim is no part of the model: no agent that is used makes it")


def _decide(request: Mapping[str, Any], tell: Tell) -> Any:
    """The verdict on a claim; of several properties that it stands for, the worst."""
    model, names = _claimed(request)
    decide = model.verify if request["task"] == "verify" else model.falsify
    verdicts = decide(*names, progress=tell)
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


def _simulate(request: Mapping[str, Any], tell: Tell) -> Any:
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


def _report(request: Mapping[str, Any], tell: Tell) -> Any:
    page = Path(request["page"])
    page.parent.mkdir(parents=True, exist_ok=True)
    found = _document(request).model(request.get("agent")).report(page, progress=tell)
    return {
        "page": str(page),
        "verdicts": [{"property": v.name, "outcome": v.outcome} for v in found.verdicts],
    }


TASKS: Mapping[str, Callable[[Mapping[str, Any], Tell], Any]] = {
    "check": _check,
    "verify": _decide,
    "falsify": _decide,
    "simulate": _simulate,
    "report": _report,
}
"""What can be asked of a worker."""


if __name__ == "__main__":
    main()
