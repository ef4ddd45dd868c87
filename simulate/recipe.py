"""Recipes: everything that determines a run, so that any run can be repeated from a file.

A recipe is kept beside the trace that it made, in one JSON document: readers of traces see a
trace, and `repeat` makes the run again, with the same method or with another one.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from fractions import Fraction
from typing import Any

from workbench.models.automaton import Automaton
from workbench.models.record import record
from workbench.models.source import Diagnostic, ModelError
from workbench.models.trace import Trace
from workbench.simulate.inputs.signals import Formula, Lines, Signal, Steps
from workbench.simulate.place import Prepared
from workbench.simulate.policy import Level, Policy, Switching
from workbench.simulate.run import DEFAULT_METHOD, DEFAULT_POLICY, Given, simulate
from workbench.simulate.stepping.methods import Adams, Detection, Method, Multirate, Taylor

RECIPE = "recipe"
"""The key of the recipe in a trace's document."""


@record
class Recipe:
    """What a run is made from; `policy.script` holds the decisions of a recorded run.

    `model_parameters` are the values that the model itself was loaded with (exact); `claim`
    or `formula` is what the run is a counterexample of. With `own_clocks` agents advance on
    clocks of their own; `synchronous` is the same with one clock for all, for comparison.
    """

    until: float
    initial: Mapping[str, Given] = field(default_factory=dict)
    location: str | None = None
    parameters: Mapping[str, float] = field(default_factory=dict)
    inputs: Mapping[str, Signal] = field(default_factory=dict)
    policy: Policy = DEFAULT_POLICY
    seed: int = 0
    method: Method = DEFAULT_METHOD
    stop_on_violation: bool = True
    model_parameters: Mapping[str, Fraction] = field(default_factory=dict)
    claim: str | None = None
    formula: str | None = None
    sliding: bool | None = None
    own_clocks: bool = False
    synchronous: bool = False

    def with_decisions(self, taken: Sequence[float]) -> Recipe:
        """The recipe that repeats a run which took these decisions."""
        return replace(self, policy=replace(self.policy, script=tuple(taken)))


def repeat(
    automaton: Automaton | Prepared,
    recipe: Recipe,
    *,
    method: Method | None = None,
    stop_on_violation: bool | None = None,
    dense: bool = True,
    max_jumps: int = 100_000,
) -> Trace:
    """The run of a recipe; a prepared model must have been prepared for signals of the same
    form."""
    stop = recipe.stop_on_violation if stop_on_violation is None else stop_on_violation
    return simulate(
        automaton,
        until=recipe.until,
        method=method or recipe.method,
        policy=recipe.policy,
        inputs=recipe.inputs,
        initial=recipe.initial,
        location=recipe.location,
        parameters=recipe.parameters,
        seed=recipe.seed,
        stop_on_violation=stop,
        max_jumps=max_jumps,
        dense=dense,
        sliding=recipe.sliding,
    )


def recorded(trace: Trace, recipe: Recipe, sha256: str) -> str:
    """The trace and the recipe that repeats it, as one JSON document."""
    from workbench.models.trace_files import as_document

    document = as_document(trace)
    document[RECIPE] = {
        **recipe_out(recipe.with_decisions(trace.decisions)),
        "model_sha256": sha256,
    }
    return json.dumps(document)


def read_recorded(text: str) -> tuple[Trace, Recipe | None, str]:
    """The trace, its recipe (None if the document has none), and the model's fingerprint.

    Raises ModelError for anything that is not a trace.
    """
    from workbench.models.trace_files import from_json

    trace = from_json(text)
    given = json.loads(text).get(RECIPE)
    if given is None:
        return trace, None, ""
    try:
        return trace, recipe_in(given), str(given.get("model_sha256", ""))
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise ModelError(
            Diagnostic("trace-recipe", f"the trace's recipe is damaged: {error}")
        ) from error


def recipe_out(recipe: Recipe) -> dict[str, Any]:
    """A recipe as plain data."""
    policy = recipe.policy
    return {
        "until": recipe.until,
        "initial": dict(recipe.initial),
        "location": recipe.location,
        "parameters": dict(recipe.parameters),
        "inputs": {name: signal_out(signal) for name, signal in recipe.inputs.items()},
        "policy": {
            "switching": str(policy.switching),
            "level": str(policy.level),
            "wait": policy.wait,
            "dwell": policy.dwell,
            "script": list(policy.script),
        },
        "seed": recipe.seed,
        "method": _method_out(recipe.method),
        "stop_on_violation": recipe.stop_on_violation,
        "model_parameters": {n: str(v) for n, v in recipe.model_parameters.items()},
        "property": recipe.claim,
        "formula": recipe.formula,
        "sliding": recipe.sliding,
        "own_clocks": recipe.own_clocks,
        "synchronous": recipe.synchronous,
    }


def recipe_in(given: Mapping[str, Any]) -> Recipe:
    """The recipe that was written as plain data."""
    policy = given["policy"]
    return Recipe(
        until=float(given["until"]),
        initial={str(k): _given(v) for k, v in given["initial"].items()},
        location=_text(given["location"]),
        parameters={str(k): float(v) for k, v in given["parameters"].items()},
        inputs={str(k): _signal_in(v) for k, v in given["inputs"].items()},
        policy=Policy(
            Switching(policy["switching"]),
            Level(policy["level"]),
            None if policy["wait"] is None else float(policy["wait"]),
            None if policy["dwell"] is None else float(policy["dwell"]),
            tuple(map(float, policy["script"])),
        ),
        seed=int(given["seed"]),
        method=_method_in(given["method"]),
        stop_on_violation=bool(given["stop_on_violation"]),
        model_parameters={
            str(k): Fraction(str(v)[:200]) for k, v in given["model_parameters"].items()
        },
        claim=_text(given["property"]),
        formula=_text(given.get("formula")),
        sliding=_choice(given.get("sliding")),
        own_clocks=bool(given.get("own_clocks", False)),
        synchronous=bool(given.get("synchronous", False)),
    )


def _given(value: object) -> Given:
    if isinstance(value, str | bool | int | float):
        return value
    raise ValueError(f"{value!r} is no initial value")


def _choice(value: object) -> bool | None:
    return None if value is None else bool(value)


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def signal_out(signal: Signal) -> dict[str, Any]:
    """A signal as plain data."""
    if isinstance(signal, Formula):
        from workbench.models.expressions.printing import to_text

        return {"form": "formula", "text": to_text(signal.expression)}
    form = "steps" if isinstance(signal, Steps) else "lines"
    return {"form": form, "times": list(signal.times), "values": list(signal.values)}


def _signal_in(given: Mapping[str, Any]) -> Signal:
    if given["form"] == "formula":
        from workbench.models.expressions.text import parse_expression

        return Formula(parse_expression(str(given["text"])))
    times, values = tuple(map(float, given["times"])), tuple(map(float, given["values"]))
    if given["form"] not in ("steps", "lines"):
        raise ValueError(f"{given['form']!r} is no form of a signal")
    return Steps(times, values) if given["form"] == "steps" else Lines(times, values)


_METHODS: dict[str, type[Adams] | type[Taylor]] = {
    "adams": Adams,
    "taylor": Taylor,
    "multirate": Multirate,
}


def _method_out(method: Method) -> dict[str, Any]:
    order = method.max_order if isinstance(method, Adams) else method.order
    return {
        "name": next(name for name, kind in _METHODS.items() if type(method) is kind),
        "rtol": method.rtol,
        "atol": method.atol,
        "order": order,
        "max_step": None if method.max_step == float("inf") else method.max_step,
        "max_steps": method.max_steps,
        "detection": method.detection.name.lower(),
    }


def _method_in(given: Mapping[str, Any]) -> Method:
    kind = _METHODS.get(given["name"])
    if kind is None:
        raise ValueError(f"{given['name']!r} is no method")
    return kind(
        float(given["rtol"]),
        float(given["atol"]),
        int(given["order"]),
        float("inf") if given["max_step"] is None else float(given["max_step"]),
        int(given["max_steps"]),
        Detection[str(given["detection"]).upper()],
    )
