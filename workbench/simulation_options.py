"""The options of `workbench simulate` turned into a recipe for runs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from fractions import Fraction
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from workbench.arguments import Chosen, exact_number
from workbench.console import Console
from workbench.formulas import read_formula as read_formula
from workbench.formulas import unknown as unknown

if TYPE_CHECKING:
    from workbench.models.automaton import Automaton
    from workbench.models.trace import Trace
    from workbench.simulate.inputs.signals import Signal
    from workbench.simulate.policy import Policy
    from workbench.simulate.recipe import Recipe
    from workbench.simulate.run import Given
    from workbench.simulate.stepping.methods import Method

DEFAULT_UNTIL = 20.0
SHOWN_NAMES = 8
"""So many names of a list are shown."""

_ASSIGNMENT = re.compile(r"\s*(?P<name>[^=]+?)\s*=\s*(?P<value>[^=]+?)\s*")


def default_until(automaton: Automaton) -> float:
    """The author's horizon, or a customary one."""
    return DEFAULT_UNTIL if automaton.horizon is None else float(automaton.horizon)


def read_recipe(
    automaton: Automaton, parameters: Mapping[str, Fraction], options: Mapping[str, Any]
) -> Recipe:
    """What the options ask for; raises `click.UsageError` for what makes no sense."""
    from workbench.simulate.recipe import Recipe

    until = options["until"]
    if until is None:
        until = max(default_until(automaton), _needed(automaton, options["formula"]))
    policy = _policy(options)
    return Recipe(
        until=until,
        initial=initial_values(automaton, options["initial"]),
        location=_location(automaton, options["location"]),
        inputs=_signals(automaton, options["inputs"]),
        policy=policy,
        seed=options["seed"],
        method=chosen_method(options["method"], options["rtol"], options["atol"]),
        model_parameters=parameters,
        formula=options["formula"],
        sliding=options["sliding"],
        own_clocks=_agent_clocks(options, "own_clocks", "--own-clocks")
        or _gain_by_own_clocks(automaton, policy, options),
        synchronous=_agent_clocks(options, "synchronous", "--synchronous"),
    )


def _needed(automaton: Automaton, formula: str | None) -> float:
    """How long runs must be to decide a formula; 0 if no length is sure to."""
    horizon = 0.0 if formula is None else read_formula(automaton, formula).horizon
    return horizon if isfinite(horizon) else 0.0


def replayed_recipe(chosen: Chosen, automaton: Automaton, options: Mapping[str, Any]) -> Recipe:
    """The recipe of a saved run; options of method and tolerance given besides it win."""
    from dataclasses import replace

    from workbench.models.source import Diagnostic, ModelError
    from workbench.simulate.recipe import read_recorded

    path: Path = options["replay"]
    with placed_in(path):
        trace, recipe, sha256 = read_recorded(read_text(path))
    if recipe is None:
        message = f"{str(path)!r} has no recipe: it was not written by `workbench`"
        raise ModelError(Diagnostic("trace-recipe", message))
    if sha256 != automaton.sha256:
        given = " ".join(f"-P {n}={v}" for n, v in recipe.model_parameters.items())
        raise click.UsageError(
            f"{str(path)!r} is no run of {chosen.label}: it was made from "
            f"{trace.model}{' with ' + given if given else ''}, and another model, another version "
            "of it or other parameters have other runs"
        )
    for name in ("runs", "seed", "initial", "location", "inputs", "policy", "level", "script"):
        if _given(name):
            shown = {"initial": "init", "inputs": "input"}.get(name, name)
            raise click.UsageError(f"--{shown} and --replay: the file says how the run is made")
    if any(map(_given, ("method", "rtol", "atol"))):
        method = chosen_method(options["method"], options["rtol"], options["atol"])
        recipe = replace(recipe, method=method)
    if options["until"] is not None:
        recipe = replace(recipe, until=options["until"])
    if options["sliding"] is not None:
        recipe = replace(recipe, sliding=options["sliding"])
    return recipe


def _given(name: str) -> bool:
    """Whether an option stands on the command line."""
    context = click.get_current_context(silent=True)
    default = click.core.ParameterSource.DEFAULT
    return context is not None and context.get_parameter_source(name) is not default


def chosen_method(name: str, rtol: float, atol: float) -> Method:
    """The stepping method of that name."""
    from workbench.simulate.stepping.methods import Adams, Detection, Multirate, Taylor

    if name == "taylor":
        return Taylor(rtol=rtol, atol=atol)
    if name == "multirate":
        return Multirate(rtol=rtol, atol=atol)
    detection = {"endpoint": Detection.ENDPOINT, "interpolation": Detection.INTERPOLATION}
    return Adams(rtol=rtol, atol=atol, detection=detection.get(name, Detection.EXTRAPOLATION))


def plotted(automaton: Automaton, text: str | None) -> list[str]:
    """The panels of a plot: variables and inputs, pairs `x:y`, and for two also the pair."""
    known = [*(v.name for v in automaton.variables), *(i.name for i in automaton.inputs)]
    if text is None:
        real = (v.name for v in automaton.variables if v.type.name == "real")
        return [name for name in real if name != "time"][:8]
    panels = [":".join(n.strip() for n in item.split(":")) for item in _items(text)]
    for panel in panels:
        names = panel.split(":")
        if len(names) > 2:
            raise click.UsageError(f"--plot-vars: {panel[:80]!r} should be a name or a pair x:y")
        for name in names:
            if name not in known:
                raise click.UsageError(f"--plot-vars: {unknown('variable', name, known)}")
    if not panels:
        raise click.UsageError("--plot-vars: there is no name")
    if len(panels) == 2 and not any(":" in p for p in panels):
        panels.append(":".join(panels))
    return panels


def note_unfed(console: Console, automaton: Automaton, recipe: Recipe) -> None:
    """Say which value inputs have that are fed nothing and have no range to choose from."""
    for given in automaton.inputs:
        bounds = [b for b in (given.low, given.high) if b is not None]
        if given.name in recipe.inputs or len(bounds) == 2 or not given.type.is_numeric:
            continue
        value = f"its bound {float(bounds[0]):g}" if bounds else "0"
        known = "has no other bound" if bounds else "has no bounds"
        console.note(
            f"note: the input `{given.name}` {known} and no signal, so it is {value} throughout"
            f" (--input {given.name}=SIGNAL feeds it)"
        )


def read_other(console: Console, path: Path | None, automaton: Automaton) -> Trace | None:
    """The trace of a JSON file or a table, to compare a run with; it must have a variable of the
    model, and those that it lacks are named."""
    if path is None:
        return None
    from workbench.models.trace_files import TIME_COLUMN, from_csv, from_json

    text = read_text(path)
    numeric = {v.name for v in automaton.variables if not v.type.values}
    with placed_in(path):
        trace = from_csv(text, numeric=numeric) if path.suffix == ".csv" else from_json(text)
    names = [v.name for v in automaton.variables if v.name != TIME_COLUMN]
    missing = [n for n in names if n not in trace.variables]
    if missing == names:
        raise click.UsageError(
            f"--compare: nothing can be compared: the model has {_named(names)}, and {path} has"
            f" {_named(trace.variables)}"
        )
    if missing:
        console.note(f"note: {path} has no {_named(missing)}: not compared")
    return trace


def _named(names: Sequence[str]) -> str:
    """A few of the names, in words."""
    shown = ", ".join(f"`{n}`" for n in names[:SHOWN_NAMES]) or "no variable"
    more = len(names) - SHOWN_NAMES
    return f"{shown} and {more} more" if more > 0 else shown


@contextmanager
def placed_in(path: Path) -> Iterator[None]:
    """Say of everything that is wrong within that it is in this file."""
    from dataclasses import replace

    from workbench.models.source import ModelError, Span

    try:
        yield
    except ModelError as error:
        start = Span(str(path), 1, 1, 1, 1)
        found = (d if d.span else replace(d, span=start) for d in error.diagnostics)
        raise ModelError(*found, sources=error.sources) from error


def read_text(path: Path | str) -> str:
    """The content of a file; raises `click.UsageError`."""
    try:
        return Path(path).read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is not text"
        raise click.UsageError(f"cannot read {str(path)[:200]!r}: {reason}") from error


def initial_values(automaton: Automaton, text: str | None) -> dict[str, Given]:
    """`dist=20, mode=safe` as values by name."""
    given: dict[str, Given] = {}
    known = [v.name for v in automaton.variables]
    for item in _items(text):
        match = _ASSIGNMENT.fullmatch(item)
        if match is None:
            raise click.UsageError(f"--init: {item.strip()[:80]!r} should read name=value")
        name, value = match["name"], match["value"]
        if name not in known:
            raise click.UsageError(f"--init: {unknown('variable', name, known)}")
        if name in given:
            raise click.UsageError(f"--init: {name!r} is given twice")
        given[name] = _value(automaton, name, value)
    return given


def _value(automaton: Automaton, name: str, text: str) -> Given:
    declared = next(v.type for v in automaton.variables if v.name == name)
    if text in ("true", "false") and declared.name == "bool":
        return text == "true"
    if declared.values:
        if text not in declared.values:
            raise click.UsageError(f"--init: {unknown('value', text, declared.values)}")
        return text
    try:
        return float(exact_number(text[:200]))
    except OverflowError as error:
        raise click.UsageError(f"--init: {name}: {text[:40]} is too large") from error
    except ValueError as error:
        raise click.UsageError(f"--init: {name}: {error}") from error


def _location(automaton: Automaton, name: str | None) -> str | None:
    if name is None:
        return None
    known = list(dict.fromkeys(start.location for start in automaton.initial_sets()))
    if name not in known:
        raise click.UsageError(f"--location: {unknown('initial location', name, known)}")
    return name


def _signals(automaton: Automaton, given: Iterable[str]) -> dict[str, Signal]:
    from workbench.models.source import ModelError
    from workbench.simulate.inputs.signal_text import parse_signal

    bounds = {i.name: (i.low, i.high) for i in automaton.inputs}
    bounds |= {f"{n}.inclusion": (Fraction(0), Fraction(1)) for n in _inclusions(automaton)}
    known = list(bounds)
    signals: dict[str, Signal] = {}
    for item in given:
        name, separator, text = item.partition("=")
        name = name.strip()
        if not separator:
            raise click.UsageError(f"--input: {item[:80]!r} should read name=signal")
        if name not in known:
            raise click.UsageError(f"--input: {unknown('input', name, known)}")
        if name in signals:
            raise click.UsageError(f"--input: {name!r} is given twice")
        try:
            signals[name] = parse_signal(name, text.strip(), read_text)
        except ModelError as error:
            raise click.UsageError(f"--input {name}: {error.diagnostics[0].message}") from error
        _check_bounds(name, signals[name], *bounds[name])
    return signals


MANY_AGENTS = 10
"""From so many agents on that meet in pairs, clocks of their own are worth it."""


def _gain_by_own_clocks(automaton: Automaton, policy: Policy, options: Mapping[str, Any]) -> bool:
    """Whether to give agents clocks of their own though nobody asked: the events are the same,
    and what N agents do alone or in pairs is not looked at in N^2 places at every step."""
    from workbench.simulate.policy import Switching

    return (
        len(automaton.components) >= MANY_AGENTS
        and policy.switching is Switching.EARLIEST
        and options["method"] not in (*WITHOUT_LOOKING_AHEAD, "multirate")
        and not any(options.get(name) for name in ("synchronous", *_ONE_CLOCK_ONLY))
    )


_ONE_CLOCK_ONLY = ("location", "script", "validated", "sliding")
"""Options that need the product of all agents."""

WITHOUT_LOOKING_AHEAD = ("endpoint", "interpolation")


def _agent_clocks(options: Mapping[str, Any], option: str, spoken: str) -> bool:
    if not options.get(option):
        return False
    if options.get("own_clocks") and options.get("synchronous"):
        raise click.UsageError("--own-clocks and --synchronous: agents have one clock or many")
    for name in _ONE_CLOCK_ONLY:
        if options.get(name):
            raise click.UsageError(f"{spoken} and --{name} do not go together")
    if options["method"] in WITHOUT_LOOKING_AHEAD:
        raise click.UsageError(f"{spoken} needs a method that looks ahead, not {options['method']}")
    return True


def _inclusions(automaton: Automaton) -> list[str]:
    """The variables whose derivative lies in a range somewhere; a signal may choose in it."""
    flows = (c for part in automaton.components for x in part.locations for c in x.flows)
    return list(dict.fromkeys(c.variable for c in flows if c.range.exact is None))


def _check_bounds(name: str, signal: Signal, low: Fraction | None, high: Fraction | None) -> None:
    """Refuse a signal with points outside what the model assumes of its input; a bound is as
    exact as the nearest double to it."""
    for value in getattr(signal, "values", ()):
        below = low is not None and value < float(low)
        if below or (high is not None and value > float(high)):
            least, most = ("" if b is None else f"{float(b):g}" for b in (low, high))
            raise click.UsageError(
                f"--input {name}: {value:g} is outside [{least}, {most}], which the model assumes"
            )


def _policy(options: Mapping[str, Any]) -> Policy:
    from workbench.simulate.policy import Level, Policy, Switching

    many = options["runs"] > 1
    name = options["policy"] or ("random" if many else "earliest")
    script: tuple[float, ...] = ()
    if (name == "script") != (options["script"] is not None):
        raise click.UsageError("--policy script and --script NUMBERS need each other")
    if options["script"] is not None:
        name, script = "random", _script(options["script"])
    level = options["level"] or ("random" if many or script else "mid")
    return Policy(Switching(name), Level(level), script=script)


def _script(text: str) -> tuple[float, ...]:
    try:
        values = tuple(float(item) for item in _items(text))
    except ValueError as error:
        raise click.UsageError(f"--script: {error}") from error
    if not all(0.0 <= v < 1.0 for v in values):
        raise click.UsageError("--script: decisions are numbers in [0, 1)")
    return values


def _items(text: str | None) -> list[str]:
    return [item for item in (text or "").split(",") if item.strip()]
