"""What a worker process does for a page: requests as plain data in, results as plain data out.

Every task works through the facade. Models and runs that were made last are kept, so that a page
that drags a slider waits for the simulation only.
"""

from __future__ import annotations

import contextlib
import json
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar

import workbench
from workbench.api.data import model_data, refinement_data, run_data, verdict_data
from workbench.api.simulation import RecordedModel, Simulation, read_text, recorded_model
from workbench.workers.process import Refused, Request, Tell

Value = TypeVar("Value")

KEPT_MODELS = 16
KEPT_RUNS = 8
POINTS = 1200
"""About so many points are told of all runs of a request together."""

FEWEST_POINTS = 80

PROGRESS_EVERY = 0.1
"""Seconds between two events of progress, unless the method changes."""

_CHOOSING = (
    *("model", "text", "agent", "parameters", "digest"),
    *("initial", "inputs", "until", "runs", "seed", "own_clocks", "stop_on_violation"),
)
"""What determines the runs of a request."""

_SMALL = """
mode Still() { write analog real x; diff { d(x) == 1; } inv { x <= 2 } }
mode Top() { write analog real x; mode still = Still(); trans from init to still; }
agent Small() { private analog real x; init { x = 0; } mode top = Top(); assert "a" { x <= 3 } }
"""


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


class _Made:
    """The runs of a simulation, each made when it is wanted."""

    def __init__(self, how: Simulation):
        self._how = how
        self._runs: dict[int, workbench.Run] = {}

    def __len__(self) -> int:
        return len(self._how.seeds)

    def run(self, place: int) -> workbench.Run:
        """The run at a place."""
        if place not in self._runs:
            self._runs[place] = self._how.run(self._how.seeds[place])
        return self._runs[place]


class Tasks:
    """The tasks of one worker, by name."""

    def __init__(self) -> None:
        self._models: _Latest[workbench.Model] = _Latest(KEPT_MODELS)
        self._runs: _Latest[_Made] = _Latest(KEPT_RUNS)
        self._recordings: _Latest[RecordedModel] = _Latest(KEPT_RUNS)
        self._tasks: Mapping[str, Callable[[Request, Tell], Any]] = {
            "describe": self._describe,
            "simulate": self._simulate,
            "record": self._record,
            "replay": self._replay,
            "why": self._why,
            "verify": self._verify,
            "falsify": self._falsify,
            "refine": self._refine,
            "confirm": self._confirm,
            "report": self._report,
        }
        # What the first request would wait for: load what runs are made with.
        self.do("simulate", {"text": _SMALL, "until": 1.0}, lambda _: True)

    def do(self, task: str, request: Request, tell: Tell) -> Any:
        """The result of a task. Raises Refused, ModelError or ValueError."""
        return self._tasks[task](request, tell)

    # Models

    def _model(self, request: Request) -> workbench.Model:
        """The model of a request, `digest` being the fingerprint of all texts that it has."""
        given = {k: request.get(k) for k in ("model", "text", "agent", "parameters", "digest")}
        return self._models.get_or_make(json.dumps(given), lambda: _loaded(request))

    def _describe(self, request: Request, _: Tell) -> Any:
        return model_data(self._model(request))

    # Runs

    def _made(self, request: Request) -> _Made:
        chosen = {k: v for k, v in request.items() if k in _CHOOSING}
        return self._runs.get_or_make(json.dumps(chosen), lambda: self._simulation(request))

    def _simulation(self, request: Request) -> _Made:
        options = {n: request[n] for n in ("until", "seed", "own_clocks") if n in request}
        if options.get("own_clocks"):  # what is chosen at random is chosen for all at once
            options["switching"] = "earliest"
        how = self._model(request).simulation(
            request.get("runs", 1),
            initial=request.get("initial", {}),
            inputs=request.get("inputs", {}),
            stop_on_violation=request.get("stop_on_violation", False),
            **options,
        )
        return _Made(how)

    def _simulate(self, request: Request, tell: Tell) -> Any:
        """All runs at once; or, where they are wanted in parts, each as soon as it is made, the
        one that is looked at first, until the rest is not wanted any more."""
        model, made = self._model(request), self._made(request)
        points = max(FEWEST_POINTS, min(400, POINTS // max(len(made), 1)))
        if "first" not in request:
            runs = [run_data(made.run(place), points) for place in range(len(made))]
            return {"runs": runs, **model_data(model)}
        first = min(request["first"], len(made) - 1)
        places = [first, *(place for place in range(len(made)) if place != first)]
        described = model_data(model)
        for count, place in enumerate(places, 1):
            part = {"place": place, "run": run_data(made.run(place), points)}
            if not tell(part if count > 1 else {**part, **described}):
                return {"made": count}
        return {"made": len(made)}

    def _replay(self, request: Request, _: Tell) -> Any:
        """A recorded run with what is known of its model: the one among several that it is of."""
        name = ""
        recorded = self._recording(request["trace"])[1]
        for path, digest in request["models"].items():
            text = request.get("text") if not name else None  # the first is open in an editor
            name, asked = path, {"trace": request["trace"], "model": path, "digest": digest}
            for agent in (None, recorded.name):
                with contextlib.suppress(workbench.ModelError, workbench.RequestError):
                    model, run = self._recorded({**asked, "text": text, "agent": agent})
                    found = {"model": path, "agent": agent, "run": run_data(run)}
                    return {**found, **model_data(model)}
        given = ", ".join(f"{n} = {v}" for n, v in recorded.parameters.items())
        told = f"it is a run of {recorded.name}{f' with {given}' if given else ''}"
        raise Refused({"message": f"{told}, and the project has no such model, as it was then"})

    def _why(self, request: Request, _: Tell) -> Any:
        run = self._recorded(request)[1] if "trace" in request else self._run(request)
        moment = run.why(request["time"], before=request.get("before", False))
        return {**moment.data, "text": str(moment)}

    def _run(self, request: Request) -> workbench.Run:
        """One run of a simulation."""
        made, number = self._made(request), request.get("run", 0)
        if number >= len(made):
            told = f"there is no run {number}: they are counted from 0, {len(made)} in all"
            raise Refused({"message": told})
        return made.run(number)

    def _record(self, request: Request, _: Tell) -> Any:
        """Keep a run in a file of the project from which it is made again."""
        path = Path(request["file"])
        path.parent.mkdir(parents=True, exist_ok=True)
        self._run(request).save(path)
        return {"path": request["file"]}

    def _recorded(self, request: Request) -> tuple[workbench.Model, workbench.Run]:
        """A recorded run, made again, for what it says is not taken for granted; and its model
        with the parameters that it was made with."""
        known, recorded = self._recording(request["trace"])
        given = {name: str(value) for name, value in recorded.parameters.items()}
        model = self._model({**request, "parameters": given})
        key = json.dumps([known, model.sha256])
        made = self._runs.get_or_make(key, lambda: _Made(model.recorded(request["trace"])))
        return model, made.run(0)

    def _recording(self, trace: str) -> tuple[str, RecordedModel]:
        """The fingerprint of a file with a recorded run, and which model that is of."""
        text = read_text(trace, "trace")
        known = sha256(text.encode()).hexdigest()
        return known, self._recordings.get_or_make(known, lambda: recorded_model(text))

    # Properties

    def _verify(self, request: Request, tell: Tell) -> Any:
        model = self._model(request)
        verdict = model.verify(request["property"], **request["options"], progress=timed(tell))[0]
        return _with_evidence(verdict, request, model)

    def _falsify(self, request: Request, tell: Tell) -> Any:
        model = self._model(request)
        verdict = model.falsify(request["property"], **request["options"], progress=timed(tell))[0]
        return _with_evidence(verdict, request, model)

    def _refine(self, request: Request, tell: Tell) -> Any:
        options = dict(request["options"])
        other = _other(options.pop("against"))
        found = self._model(request).refine(other, **options, progress=timed(tell))
        data = refinement_data(found)
        if found.certificate is not None:
            data["certificate"] = request["evidence"] + ".certificate.json"
            found.save(data["certificate"])
        return data

    def _report(self, request: Request, tell: Tell) -> Any:
        model = self._model(request)
        path = request["page"]
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        given = {**request["options"], "progress": timed(tell)}
        found = model.report(path, *request["properties"], **given)
        return {
            "path": path,
            "verdicts": [verdict_data(verdict) for verdict in found.verdicts],
            "contradictions": list(found.contradictions),
        }

    def _confirm(self, request: Request, _: Tell) -> bool:
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


def _loaded(request: Request) -> workbench.Model:
    text, name = request.get("text"), request.get("model")
    source = Path(str(name)) if text is None else _Unsaved(text, name or "<text>")
    return workbench.load(
        source, agent=request.get("agent"), parameters=request.get("parameters") or {}
    )


def _with_evidence(
    verdict: workbench.Verdict, request: Request, model: workbench.Model
) -> dict[str, Any]:
    """The verdict, its evidence written into files of the project; `claims` are the names of all
    that the model claims, so that it is known what was not asked."""
    claims = [known.name for known in model.automaton.properties]
    data = {**verdict_data(verdict), "claims": claims}
    if verdict.is_verified:
        data["certificate"] = request["evidence"] + ".certificate.json"
        verdict.save(data["certificate"])
    elif verdict.is_falsified:
        data["trace"] = request["evidence"] + ".trace.json"
        verdict.save(data["trace"])
    return data


def timed(tell: Tell) -> Callable[[str], None]:
    """Progress in words becomes events, not too many: which method, what it does, and when."""
    begun = time.monotonic()
    last, last_method = -PROGRESS_EVERY, ""

    def say(text: str) -> None:
        nonlocal last, last_method
        head, colon, rest = text.partition(": ")
        known = colon and head.isidentifier()
        method, seconds = head if known else "", time.monotonic() - begun
        if seconds - last < PROGRESS_EVERY and method == last_method:
            return
        last, last_method = seconds, method
        tell({"method": method, "text": rest if known else text, "seconds": round(seconds, 2)})

    return say
