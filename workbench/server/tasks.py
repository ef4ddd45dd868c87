"""What a worker process does for a page: requests as plain data in, results as plain data out.

Every task works through the facade. Models and runs that were made last are kept, so that a page
that drags a slider waits for the simulation only.
"""

from __future__ import annotations

import json
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import workbench
from workbench.api.data import (
    diagnostic_data,
    model_data,
    refinement_data,
    run_data,
    verdict_data,
)

Tell = Callable[[str], None]
Value = TypeVar("Value")

KEPT_MODELS = 16
KEPT_RUNS = 8
POINTS = 1200
"""About so many points are told of all runs of a request together."""

FEWEST_POINTS = 80

_SMALL = """
mode Still() { write analog real x; diff { d(x) == 1; } inv { x <= 2 } }
mode Top() { write analog real x; mode still = Still(); trans from init to still; }
agent Small() { private analog real x; init { x = 0; } mode top = Top(); assert "a" { x <= 3 } }
"""


class Refused(Exception):  # noqa: N818 (an answer, not a defect)
    """A request that has no result, with what the page is told instead."""

    def __init__(self, data: dict[str, Any]):
        super().__init__(data)
        self.data = data


class _Unsaved:
    """A text as it stands in an editor, under the name of its file."""

    def __init__(self, text: str, name: str):
        self._text, self.name = text, name

    def read(self) -> str:
        return self._text


class _Latest(OrderedDict[str, Value]):
    """The values that were used last, by their keys."""

    def __init__(self, most: int):
        super().__init__()
        self._most = most

    def get_or_make(self, key: str, make: Callable[[], Value]) -> Value:
        """The kept value, or a new one."""
        if key in self:
            self.move_to_end(key)
            return self[key]
        value = self[key] = make()
        while len(self) > self._most:
            self.popitem(last=False)
        return value


class Tasks:
    """The tasks of one worker, by name."""

    def __init__(self) -> None:
        self._models: _Latest[workbench.Model] = _Latest(KEPT_MODELS)
        self._runs: _Latest[workbench.Runs] = _Latest(KEPT_RUNS)
        self._tasks: Mapping[str, Callable[[Mapping[str, Any], Tell], Any]] = {
            "describe": self._describe,
            "simulate": self._simulate,
            "why": self._why,
            "verify": self._verify,
            "falsify": self._falsify,
            "refine": self._refine,
            "confirm": self._confirm,
            "report": self._report,
        }

    def warm_up(self) -> None:
        """Do once what the first request would wait for: load what runs are made with."""
        self.do("simulate", {"text": _SMALL, "until": 1.0}, lambda _: None)

    def do(self, name: str, request: Mapping[str, Any], tell: Tell) -> Any:
        """The result of a task. Raises `Refused`."""
        try:
            return self._tasks[name](request, tell)
        except workbench.ModelError as error:
            diagnostics = [diagnostic_data(d) for d in error.diagnostics]
            raise Refused({"message": error.render(), "diagnostics": diagnostics}) from None
        except ValueError as error:
            raise Refused({"message": str(error)}) from None

    # Models

    def _model(self, request: Mapping[str, Any]) -> workbench.Model:
        """The model of a request, `digest` being the fingerprint of all texts that it has."""
        given = {k: request.get(k) for k in ("model", "text", "agent", "parameters", "digest")}
        return self._models.get_or_make(json.dumps(given), lambda: _loaded(request))

    def _describe(self, request: Mapping[str, Any], _: Tell) -> Any:
        return model_data(self._model(request))

    # Runs

    def _made(self, request: Mapping[str, Any]) -> workbench.Runs:
        chosen = {k: v for k, v in request.items() if k not in ("run", "time", "before")}
        return self._runs.get_or_make(json.dumps(chosen), lambda: self._simulated(request))

    def _simulated(self, request: Mapping[str, Any]) -> workbench.Runs:
        options = {n: request[n] for n in ("until", "seed", "own_clocks") if n in request}
        return self._model(request).simulate(
            runs=request.get("runs", 1),
            initial=request.get("initial", {}),
            inputs=request.get("inputs", {}),
            stop_on_violation=request.get("stop_on_violation", False),
            **options,
        )

    def _simulate(self, request: Mapping[str, Any], _: Tell) -> Any:
        model, runs = self._model(request), self._made(request)
        points = max(FEWEST_POINTS, min(400, POINTS // max(len(runs), 1)))
        told = [run_data(run, points) for run in runs]
        return {"runs": told, **model_data(model)}

    def _why(self, request: Mapping[str, Any], _: Tell) -> Any:
        if "trace" in request:
            run = self._replayed(request)
        else:
            runs, number = self._made(request), request.get("run", 0)
            if number >= len(runs):
                told = f"there is no run {number}: they are counted from 0, {len(runs)} in all"
                raise Refused({"message": told})
            run = runs[number]
        moment = run.why(request["time"], before=request.get("before", False))
        return {**moment.data, "text": str(moment)}

    def _replayed(self, request: Mapping[str, Any]) -> workbench.Run:
        """A recorded run, made again: what it says is not taken for granted."""
        model = self._model(request)
        key = json.dumps([request["trace"], model.sha256])
        return self._runs.get_or_make(
            key, lambda: workbench.Runs((model.replay(request["trace"]),))
        )[0]

    # Properties

    def _verify(self, request: Mapping[str, Any], tell: Tell) -> Any:
        model = self._model(request)
        verdict = model.verify(request["property"], **request["options"], progress=tell)[0]
        return _with_evidence(verdict, request)

    def _falsify(self, request: Mapping[str, Any], tell: Tell) -> Any:
        model = self._model(request)
        verdict = model.falsify(request["property"], **request["options"], progress=tell)[0]
        return _with_evidence(verdict, request)

    def _refine(self, request: Mapping[str, Any], tell: Tell) -> Any:
        options = dict(request["options"])
        other = _other(options.pop("against"))
        found = self._model(request).refine(other, **options, progress=tell)
        data = refinement_data(found)
        if found.certificate is not None:
            data["certificate"] = request["evidence"] + ".certificate.json"
            found.save(data["certificate"])
        return data

    def _report(self, request: Mapping[str, Any], tell: Tell) -> Any:
        model = self._model(request)
        path = request["page"]
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        found = model.report(path, *request["properties"], **request["options"], progress=tell)
        return {
            "path": path,
            "verdicts": [verdict_data(verdict) for verdict in found.verdicts],
            "contradictions": list(found.contradictions),
        }

    def _confirm(self, request: Mapping[str, Any], _: Tell) -> bool:
        """Whether evidence of an earlier session, read from its file, is accepted now."""
        model, answer, claim = self._model(request), request["answer"], request["property"]
        outcome = answer.get("outcome")
        if outcome == "verified":
            found = model.recheck(answer["certificate"], horizon=answer["horizon"])
            said = (found.facts.get("property"), found.facts.get("horizon"))
            return bool(found) and said == (claim, answer["horizon"])
        if outcome == "falsified":
            run = model.replay(answer["trace"])
            return claim in run.violated or (run.ending == "blocked" and _is_progress(model, claim))
        if outcome == "refines":
            options = request["options"]
            other, observed = _other(options["against"]), options.get("observe", ())
            return bool(model.recheck(answer["certificate"], against=other, observe=observed))
        return bool(outcome != "refuted")  # all else claims nothing


def _is_progress(model: workbench.Model, claim: str) -> bool:
    """Whether a claim is that runs never block."""
    kinds = {known.name: str(known.kind) for known in model.automaton.properties}
    return kinds.get(claim, claim) in ("progress", "never blocks")


def _other(against: str) -> workbench.Model:
    """The model of a path in the project or of a library name."""
    is_path = against.endswith((".charon", ".xml", ".json"))
    return workbench.load(Path(against) if is_path else against)


def _loaded(request: Mapping[str, Any]) -> workbench.Model:
    text, name = request.get("text"), request.get("model")
    source = Path(str(name)) if text is None else _Unsaved(text, name or "<text>")
    return workbench.load(
        source, agent=request.get("agent"), parameters=request.get("parameters") or {}
    )


def _with_evidence(verdict: workbench.Verdict, request: Mapping[str, Any]) -> dict[str, Any]:
    """The verdict, its evidence written into files of the project."""
    data = verdict_data(verdict)
    if verdict.is_verified:
        data["certificate"] = request["evidence"] + ".certificate.json"
        verdict.save(data["certificate"])
    elif verdict.is_falsified:
        data["trace"] = request["evidence"] + ".trace.json"
        verdict.save(data["trace"])
    return data


def timed(tell: Callable[[dict[str, Any]], None]) -> Tell:
    """Progress in words becomes events: which method, what it does, and when."""
    begun = time.monotonic()

    def say(text: str) -> None:
        method, colon, rest = text.partition(": ")
        known = colon and method.isidentifier()
        told = {"method": method if known else "", "text": rest if known else text}
        tell({**told, "seconds": round(time.monotonic() - begun, 2)})

    return say
