"""What pages may ask for: plain data from outside, looked at before anybody works with it.

Everything that is not understood is refused with a sentence; limits keep one page from taking the
whole machine.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from workbench.server.folder import MAX_BYTES, Folder, FolderError

MAX_RUNS = 200
MAX_UNTIL = 1e6
MAX_SECONDS = 3600.0
MAX_NAMES = 1000
"""So many values, properties or predicates are given at once."""

MODELS = (".charon", ".xml", ".json")


class BadRequestError(FolderError):
    """A request that is not understood."""


Check = Callable[[Any], Any]


def _number(low: float, high: float) -> Check:
    def check(value: Any) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise BadRequestError(f"{value!r:.80} is not a number")
        if not low <= value <= high:
            raise BadRequestError(f"{value!r:.80} is not between {low:g} and {high:g}")
        return value

    return check


def _whole(low: int, high: int) -> Check:
    within = _number(low, high)

    def check(value: Any) -> int:
        if not isinstance(value, int):
            raise BadRequestError(f"{value!r:.80} is not a whole number")
        within(value)
        return value

    return check


def _text(most: int = 1000) -> Check:
    def check(value: Any) -> str:
        if not isinstance(value, str) or len(value) > most:
            raise BadRequestError(f"{value!r:.80} is not a text of at most {most} characters")
        return value

    return check


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise BadRequestError(f"{value!r:.80} is neither true nor false")
    return value


def _list_of(check: Check) -> Check:
    def checked(value: Any) -> list[Any]:
        if not isinstance(value, list) or len(value) > MAX_NAMES:
            raise BadRequestError(f"{value!r:.80} is not a list of at most {MAX_NAMES} entries")
        return [check(one) for one in value]

    return checked


def _map_of(check: Check) -> Check:
    name = _text(200)

    def checked(value: Any) -> dict[str, Any]:
        if not isinstance(value, dict) or len(value) > MAX_NAMES:
            raise BadRequestError(f"{value!r:.80} does not give values to names")
        return {name(key): check(one) for key, one in value.items()}

    return checked


def _quantity(value: Any) -> float | str:
    """A number, or a text such as `3/8`, which is exact."""
    if isinstance(value, str):
        return str(_text(200)(value))
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise BadRequestError(f"{value!r:.80} is not a number")
    return value


def _first_value(value: Any) -> float | str | bool:
    return value if isinstance(value, bool) else _quantity(value)


def _course(value: Any) -> Any:
    """What an input is fed; nothing is read from files."""
    if isinstance(value, list):
        return [tuple(_list_of(_number(-1e300, 1e300))(pair)) for pair in _list_of(list)(value)]
    if isinstance(value, str) and value.lstrip().startswith("@"):
        raise BadRequestError("inputs are not read from files here")
    return _quantity(value) if not isinstance(value, str) else _text(10_000)(value)


_SECONDS = _number(0.001, MAX_SECONDS)
_SEED = _whole(0, 2**32 - 1)
_DECIDING: Mapping[str, Check] = {
    "method": _text(),
    "time_limit": _SECONDS,
    "horizon": _quantity,
    "step": _quantity,
    "predicates": _list_of(_text()),
    "slices": _quantity,
    "refine": _flag,
    "seed": _SEED,
}
_OPTIONS: Mapping[str, Mapping[str, Check]] = {
    "verify": _DECIDING,
    "falsify": {
        "budget": _whole(1, 1_000_000),
        "time_limit": _SECONDS,
        "until": _number(0.0, MAX_UNTIL),
        "seed": _SEED,
        "control_points": _whole(1, 100),
        "linear": _flag,
        "enclose": _flag,
    },
    "refine": {
        "against": _text(),
        "places": _map_of(_text()),
        "witness": _map_of(_text()),
        "observe": _list_of(_text()),
        "inductive": _flag,
        "flat": _flag,
        "reach": _flag,
        "time_limit": _SECONDS,
        "horizon": _number(0.0, MAX_UNTIL),
        "seed": _SEED,
    },
    "report": {
        **_DECIDING,
        "runs": _whole(0, MAX_RUNS),
        "until": _number(0.0, MAX_UNTIL),
        "output": _text(),
    },
}
KINDS = tuple(_OPTIONS)


@dataclass(frozen=True)
class JobRequest:
    """A job that is wanted."""

    kind: str
    model: str
    text: str | None = None
    agent: str | None = None
    properties: tuple[str, ...] = ()
    parameters: Mapping[str, float | str] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    again: bool = False


_MODEL: Mapping[str, Check] = {
    "model": _text(),
    "text": _text(MAX_BYTES),
    "agent": _text(200),
    "parameters": _map_of(_quantity),
}
_JOB: Mapping[str, Check] = {
    **_MODEL,
    "kind": _text(),
    "properties": _list_of(_text()),
    "property": _text(),
    "options": _map_of(lambda value: value),
    "again": _flag,
}
_SIMULATION: Mapping[str, Check] = {
    **_MODEL,
    "initial": _map_of(_first_value),
    "inputs": _map_of(_course),
    "until": _number(0.0, MAX_UNTIL),
    "runs": _whole(1, MAX_RUNS),
    "seed": _SEED,
    "own_clocks": _flag,
    "stop_on_violation": _flag,
}
_PARTS: Mapping[str, Check] = {**_SIMULATION, "first": _whole(0, MAX_RUNS - 1)}
_REPLAY: Mapping[str, Check] = {
    "text": _text(MAX_BYTES),
    "models": _list_of(_text()),
    "trace": _text(),
}
_RECORD: Mapping[str, Check] = {**_SIMULATION, "run": _whole(0, MAX_RUNS - 1)}
_WHY: Mapping[str, Check] = {
    **_RECORD,
    "trace": _text(),
    "time": _number(0.0, MAX_UNTIL),
    "before": _flag,
}


def _checked(data: Any, known: Mapping[str, Check], what: str) -> dict[str, Any]:
    """The entries that are given, each as it is understood; null counts as not given."""
    if not isinstance(data, dict):
        raise BadRequestError(f"{what} is an object")
    found = {}
    for name, value in data.items():
        if name not in known:
            raise BadRequestError(f"{what} has no {name[:80]!r}", hint=f"it has {', '.join(known)}")
        if value is not None:
            try:
                found[name] = known[name](value)
            except BadRequestError as error:
                raise BadRequestError(f"{name}: {error.message}") from None
    return found


def _model_path(folder: Folder, path: str) -> str:
    """A model of the project."""
    folder.locate(path)
    if not path.endswith(MODELS):
        raise BadRequestError(f"{path!r} is no model", hint=f"models end in {', '.join(MODELS)}")
    return path


def read_job(folder: Folder, data: Any) -> JobRequest:
    """The job that is wanted. Raises `FolderError`."""
    found = _checked(data, _JOB, "a job")
    kind = found.get("kind")
    if kind not in KINDS:
        raise BadRequestError(f"a job's kind is one of {', '.join(KINDS)}")
    if "model" not in found:
        raise BadRequestError("a job has a model: its path in the project")
    named = {name.replace("-", "_"): value for name, value in found.get("options", {}).items()}
    options = _checked(named, _OPTIONS[kind], f"what {kind} is asked with")
    if kind == "refine":
        _check_against(folder, options)
    if kind == "report" and "output" in options:
        folder.locate(options["output"])
        if not options["output"].endswith(".html"):
            raise BadRequestError("output: a report is an .html file")
    one = [found["property"]] if "property" in found else []
    return JobRequest(
        kind,
        _model_path(folder, found["model"]),
        found.get("text"),
        found.get("agent"),
        tuple(dict.fromkeys([*found.get("properties", ()), *one])),
        found.get("parameters", {}),
        options,
        found.get("again", False),
    )


def _check_against(folder: Folder, options: Mapping[str, Any]) -> None:
    if "against" not in options:
        raise BadRequestError("refine is asked with `against`: the path or library name of a model")
    if options["against"].endswith(MODELS) or "/" in options["against"]:
        _model_path(folder, options["against"])


def read_simulation(folder: Folder, data: Any, channel: str = "simulate") -> dict[str, Any]:
    """A simulation, in parts if it says which run is told `first`; a run of one to `record`, a
    recorded run to `replay`, or what is asked of a moment of a run (`why`). Raises
    `FolderError`."""
    known = {"simulate": _PARTS, "record": _RECORD, "replay": _REPLAY, "why": _WHY}[channel]
    found = _checked(data, known, "a simulation")
    if channel == "replay":
        if "trace" not in found or not found.get("models"):
            raise BadRequestError(
                "a recorded run is named (`trace`), and `models` that it may be of"
            )
        for model in found["models"]:
            _model_path(folder, model)
    elif "model" in found:
        _model_path(folder, found["model"])
    elif "text" not in found:
        raise BadRequestError("a simulation has a model (its path in the project) or a text")
    if channel == "why" and "time" not in found:
        raise BadRequestError("a time of the run is asked about")
    if "trace" in found:
        folder.shown(found["trace"])
    return found
