"""What a user chooses about runs, turned into the recipe that the simulator follows."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Literal, TypeAlias, TypedDict

from workbench.api.asked import (
    RequestError,
    by_name,
    count,
    double,
    each,
    flag,
    one_text,
    read_formula,
    unknown,
)
from workbench.api.numbers import Number, exact
from workbench.models.source import ModelError

if TYPE_CHECKING:
    from workbench.models.automaton import Automaton, ValueType
    from workbench.simulate.inputs.signals import Signal
    from workbench.simulate.policy import Policy
    from workbench.simulate.recipe import Recipe
    from workbench.simulate.stepping.methods import Method

DEFAULT_UNTIL = 20.0
"""How long runs are where the model has no horizon."""

MANY_AGENTS = 10
"""From so many agents on that meet in pairs, clocks of their own are worth it."""

WITHOUT_LOOKING_AHEAD = ("endpoint", "interpolation")
"""Stepping methods that see an event only when they are beyond it."""

Stepping: TypeAlias = Literal["adams", "taylor", "multirate", "endpoint", "interpolation"]
Switching: TypeAlias = Literal["earliest", "latest", "random"]
Level: TypeAlias = Literal["low", "mid", "high", "random"]
Given: TypeAlias = Number | bool
Course: TypeAlias = "Number | Signal | Sequence[tuple[float, float]]"
"""An input: a number, a text as of `--input` (`"sine(2, 0.5)"`), steps (time, value), a signal."""


def stepping_method(name: str, rtol: float, atol: float) -> Method:
    """The stepping method of that name."""
    from workbench.simulate.stepping.methods import Adams, Detection, Multirate, Taylor

    rtol, atol = _tolerance("rtol", rtol), _tolerance("atol", atol)
    if one_text("method", name) == "taylor":
        return Taylor(rtol=rtol, atol=atol)
    if name == "multirate":
        return Multirate(rtol=rtol, atol=atol)
    detection = {"endpoint": Detection.ENDPOINT, "interpolation": Detection.INTERPOLATION}
    if name not in ("adams", *detection):
        known = ", ".join(("adams", "taylor", "multirate", *detection))
        raise RequestError(f"{name!r:.40} is none of {known}", "method")
    return Adams(rtol=rtol, atol=atol, detection=detection.get(name, Detection.EXTRAPOLATION))


def _tolerance(argument: str, value: Number) -> float:
    found = double(argument, value)
    if not 0.0 < found < 1.0:
        raise RequestError(f"{value!s:.40} is not between 0 and 1", argument)
    return found


def default_until(automaton: Automaton) -> float:
    """The author's horizon, or a customary one."""
    return DEFAULT_UNTIL if automaton.horizon is None else float(automaton.horizon)


def long_enough(automaton: Automaton, formula: str | None) -> float:
    """How long runs are by default: as long as the author says, and as a formula needs."""
    looks = 0.0 if formula is None else read_formula(automaton, formula).horizon
    return max(default_until(automaton), looks if math.isfinite(looks) else 0.0)


class Choices(TypedDict, total=False):
    """What `Model.simulate` explains."""

    until: Number | None
    seed: int
    initial: Mapping[str, Given]
    location: str | None
    inputs: Mapping[str, Course]
    switching: Switching | None
    level: Level | None
    script: Sequence[float]
    method: Stepping
    rtol: float
    atol: float
    formula: str | None
    sliding: bool | None
    own_clocks: bool | None
    synchronous: bool
    stop_on_violation: bool


def recipe_of(
    automaton: Automaton, parameters: Mapping[str, Fraction], runs: int, choices: Choices
) -> Recipe:
    """How so many runs are made. Raises RequestError for what makes no sense, and ModelError for
    what is no formula."""
    from workbench.simulate.recipe import Recipe

    formula, method = choices.get("formula"), choices.get("method", "adams")
    policy = policy_of(
        choices.get("switching"), choices.get("level"), choices.get("script", ()), runs
    )
    return Recipe(
        until=_until(automaton, choices.get("until"), formula),
        initial=initial_values(automaton, choices.get("initial", {})),
        location=initial_location(automaton, choices.get("location")),
        inputs=signals_of(automaton, choices.get("inputs", {})),
        policy=policy,
        seed=count("seed", choices.get("seed", 0)),
        method=stepping_method(method, choices.get("rtol", 1e-6), choices.get("atol", 1e-9)),
        stop_on_violation=flag("stop_on_violation", choices.get("stop_on_violation", True)),
        model_parameters=parameters,
        formula=formula,
        sliding=_wish("sliding", choices.get("sliding")),
        own_clocks=_own_clocks(automaton, policy, choices),
        synchronous=flag("synchronous", choices.get("synchronous", False)),
    )


def _until(automaton: Automaton, until: Number | None, formula: str | None) -> float:
    if until is None:
        return long_enough(automaton, formula)
    found = double("until", until)
    if found < 0:
        raise RequestError(f"a run cannot end at {until!s:.40}", "until")
    return found


def policy_of(
    switching: str | None, level: str | None, script: Sequence[float], runs: int
) -> Policy:
    """How choices are made that the model leaves open: at random for many runs."""
    from workbench.simulate import policy

    decisions = tuple(double("script", one) for one in each("script", script))
    if not all(0.0 <= one < 1.0 for one in decisions):
        raise RequestError("decisions are numbers in [0, 1)", "script")
    chance = "random" if runs > 1 or decisions else ""
    for argument, value, known in (
        ("switching", switching, policy.Switching),
        ("level", level, policy.Level),
    ):
        if value is not None and one_text(argument, value) not in [str(one) for one in known]:
            raise RequestError(
                f"{value!r:.40} is none of {', '.join(str(one) for one in known)}", argument
            )
    return policy.Policy(
        policy.Switching(switching or chance or "earliest"),
        policy.Level(level or chance or "mid"),
        script=decisions,
    )


def _own_clocks(automaton: Automaton, policy: Policy, choices: Choices) -> bool:
    """Whether agents have clocks of their own: as is asked, or where it gains something, for the
    events are the same, and what N agents do alone or in pairs is not looked at in N^2 places at
    every step."""
    from workbench.simulate.policy import Switching

    wish = _wish("own_clocks", choices.get("own_clocks"))
    wishes = {
        "own_clocks": wish,
        "synchronous": flag("synchronous", choices.get("synchronous", False)),
    }
    asked = [name for name, value in wishes.items() if value]
    single = [name for name in ("location", "script", "sliding") if choices.get(name)]
    method = choices.get("method", "adams")
    if len(asked) > 1:
        raise RequestError("agents have one clock or many, not both", asked[0])
    if asked and single:
        raise RequestError(f"this does not go together with {single[0]}", asked[0])
    if asked and method in WITHOUT_LOOKING_AHEAD:
        raise RequestError(f"this needs a method that looks ahead, not {method}", asked[0])
    if wish is not None or asked:
        return bool(wish)
    return (
        not single
        and len(automaton.components) >= MANY_AGENTS
        and policy.switching is Switching.EARLIEST
        and method not in (*WITHOUT_LOOKING_AHEAD, "multirate")
    )


def _wish(argument: str, value: bool | None) -> bool | None:
    """Yes, no, or nothing said."""
    return None if value is None else flag(argument, value)


def initial_values(
    automaton: Automaton, given: Mapping[str, Given]
) -> dict[str, float | bool | str]:
    """First values by name, as the variables' types want them. Raises RequestError."""
    types = {v.name: v.type for v in automaton.variables}
    found: dict[str, float | bool | str] = {}
    for name, value in by_name("initial", given).items():
        if name not in types:
            raise RequestError(unknown("variable", name, types), "initial")
        found[name] = _first_value(name, value, types[name])
    return found


def _first_value(name: str, value: Given, sort: ValueType) -> float | bool | str:
    if sort.name == "bool":
        if isinstance(value, bool):
            return value
        if value not in ("true", "false"):
            raise RequestError(f"{name} is true or false, not {value!r:.40}", "initial")
        return value == "true"
    if sort.values:
        if value not in sort.values:
            raise RequestError(unknown("value", str(value), sort.values), "initial")
        return str(value)
    try:
        return float(exact(value))
    except OverflowError as error:
        raise RequestError(f"{name}: {value!s:.40} is too large", "initial") from error
    except (ValueError, TypeError) as error:
        raise RequestError(f"{name}: {error}", "initial") from error


def initial_location(automaton: Automaton, name: str | None) -> str | None:
    """A location in which runs may begin. Raises RequestError."""
    if name is None:
        return None
    known = list(dict.fromkeys(start.location for start in automaton.initial_sets()))
    if one_text("location", name) not in known:
        raise RequestError(unknown("initial location", name, known), "location")
    return name


def signals_of(automaton: Automaton, given: Mapping[str, Course]) -> dict[str, Signal]:
    """What inputs are fed, by name; within what the model assumes of them. Raises
    RequestError."""
    bounds = {i.name: (i.low, i.high) for i in automaton.inputs}
    bounds |= {f"{n}.inclusion": (Fraction(0), Fraction(1)) for n in inclusions(automaton)}
    found: dict[str, Signal] = {}
    for name, course in by_name("inputs", given).items():
        if name not in bounds:
            raise RequestError(unknown("input", name, bounds), "inputs")
        try:
            found[name] = _signal(name, course)
        except ModelError as error:
            raise RequestError(f"{name}: {error.diagnostics[0].message}", "inputs") from error
        except (ValueError, TypeError, OverflowError, OSError) as error:
            raise RequestError(f"{name}: {error}", "inputs") from error
        check_bounds(name, found[name], *bounds[name])
    return found


def _signal(name: str, course: Course) -> Signal:
    from pathlib import Path

    from workbench.simulate.inputs.signal_text import parse_signal
    from workbench.simulate.inputs.signals import Formula, Lines, Steps, constant_signal

    if isinstance(course, Formula | Lines | Steps):
        return course
    if isinstance(course, str):
        return parse_signal(name, course.strip(), lambda file: Path(file).read_text("utf-8"))
    if isinstance(course, Sequence):
        times, values = zip(*course, strict=True)
        return Steps(tuple(map(float, times)), tuple(map(float, values)))
    return constant_signal(float(exact(course)))


def inclusions(automaton: Automaton) -> list[str]:
    """The variables whose derivative lies in a range somewhere; a signal may choose in it."""
    flows = (c for part in automaton.components for x in part.locations for c in x.flows)
    return list(dict.fromkeys(c.variable for c in flows if c.range.exact is None))


def check_bounds(name: str, signal: Signal, low: Fraction | None, high: Fraction | None) -> None:
    """Refuse a signal with points outside what the model assumes of its input; a bound is as
    exact as the nearest double to it. Raises RequestError."""
    for value in getattr(signal, "values", ()):
        below = low is not None and value < float(low)
        if below or (high is not None and value > float(high)):
            least, most = ("" if b is None else f"{float(b):g}" for b in (low, high))
            raise RequestError(
                f"{name}: {value:g} is outside [{least}, {most}], which the model assumes", "inputs"
            )
