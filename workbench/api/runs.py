"""Runs as values: what variables did over time, as arrays, tables and pictures.

A `Run` is a view of a trace, whole or a stretch of it. Between the ends of integration steps
values come from the trace's dense output, so asking at any time is as exact as the run itself;
where jumps happen, a time has the value after them. Nothing is copied but what is asked for.
"""

from __future__ import annotations

import math
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, overload

import numpy as np
import numpy.typing as npt

from workbench.api.asked import RequestError, double, one_text, path_of
from workbench.api.notebook import framed, needed
from workbench.api.numbers import Number
from workbench.api.run_pictures import PICTURES, picture, plotted, shown_panels
from workbench.api.run_words import table
from workbench.models.automaton import TIME
from workbench.models.counting import counted
from workbench.models.expressions.operators import BOOLEAN_OPERATORS, COMPARISONS, Op
from workbench.models.expressions.traversal import free_variables
from workbench.models.trace import Ending, Event, EventType, Scalar, Segment, Trace

if TYPE_CHECKING:
    import pandas
    import xarray

    from workbench.api.comparison import Comparison
    from workbench.api.simulation import Validated
    from workbench.models.automaton import Automaton
    from workbench.models.expressions.expression import Expression
    from workbench.simulate.many_runs import Judgement
    from workbench.simulate.recipe import Recipe
    from workbench.simulate.stepping.calculator import Calculator
    from workbench.simulate.stepping.externs import Externs
    from workbench.simulate.why import Moment as Moment

Array: TypeAlias = npt.NDArray[Any]
Floats: TypeAlias = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Run:
    """One run, or the stretch of it from `start` to `end`; `run[2:5]` is a stretch.

    `run["x"]` is the course of a variable or an input at `run.times`, which are the ends of all
    integration steps: often enough to draw lines. `run.at(t)` interpolates, at one time or at many.
    `clocks` are the steps of agents that have clocks of their own.
    """

    trace: Trace = field(repr=False)
    seed: int = 0
    start: float = -math.inf
    end: float = math.inf
    formula: Judgement | None = field(default=None, repr=False)
    recipe: Recipe | None = field(default=None, repr=False)
    model_sha256: str = field(default="", repr=False)
    automaton: Automaton | None = field(default=None, repr=False, compare=False)
    externs: Externs = field(default_factory=dict, repr=False, compare=False)
    clocks: Mapping[str, Sequence[float]] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "start", max(float(self.start), self.trace.start))
        object.__setattr__(self, "end", min(float(self.end), self.trace.end))
        if self.start > self.end:
            raise ValueError(
                f"the run has no states there: it is from {self.trace.start:g} to"
                f" {self.trace.end:g}"
            )

    # What happened

    @property
    def variables(self) -> tuple[str, ...]:
        """The names of the variables."""
        return self.trace.variables

    @property
    def inputs(self) -> tuple[str, ...]:
        """The names of the inputs, whose courses are asked for like those of variables."""
        return tuple(dict.fromkeys(name for s in self.trace.segments for name in s.inputs))

    @property
    def ending(self) -> Ending:
        """How the run ended, in one word."""
        return self.trace.outcome.ending

    @property
    def sentence(self) -> str:
        """How the run ended."""
        return self.trace.outcome.sentence

    @property
    def events(self) -> tuple[Event, ...]:
        """Everything that happened in the stretch; `pandas.DataFrame(run.events)` is a table."""
        return tuple(e for e in self.trace.events if self.start <= e.time <= self.end)

    @property
    def jumps(self) -> tuple[Event, ...]:
        """The discrete switches alone."""
        return tuple(e for e in self.events if e.type is EventType.JUMP)

    @property
    def violated(self) -> tuple[str, ...]:
        """The properties that were violated in the stretch, and the formula, if it was."""
        broken = {e.name for e in self.events if e.type is EventType.VIOLATION}
        return tuple(sorted(broken)) + (("formula",) if self._breaks_formula else ())

    @property
    def _breaks_formula(self) -> bool:
        return self.formula is not None and self.formula.robustness < 0.0

    @property
    def final(self) -> dict[str, Scalar]:
        """Every variable at the end of the stretch."""
        return self.at(self.end)

    # Values over time

    @property
    def times(self) -> Floats:
        """The ends of the integration steps; the time of a jump stands there twice."""
        return np.concatenate([times for _, times in self._parts()] or [np.empty(0)])

    @property
    def locations(self) -> Array:
        """The location at each of the `times`."""
        parts = [np.full(len(t), s.location, dtype=object) for s, t in self._parts()]
        return np.concatenate(parts or [np.empty(0, dtype=object)])

    @overload
    def __getitem__(self, key: str) -> Array: ...
    @overload
    def __getitem__(self, key: slice) -> Run: ...
    def __getitem__(self, key: str | slice) -> Array | Run:
        if isinstance(key, str):
            self._check(key)
            return _joined([_Courses(s, [key], t)[key] for s, t in self._parts()])
        if not isinstance(key, slice):
            raise TypeError('a run is asked by name, run["x"], or by time, run[2:5]; see at(t)')
        if key.step is not None:
            raise ValueError("a stretch of a run has no step: ask run.at(times)")
        low, high = _stretch(
            self.start if key.start is None else key.start,
            self.end if key.stop is None else key.stop,
        )
        return replace(self, start=max(low, self.start), end=min(high, self.end))

    def __contains__(self, name: object) -> bool:
        """Whether there is such a variable or input."""
        return name in self.variables or name in self.inputs

    @overload
    def at(self, t: Number) -> dict[str, Scalar]: ...
    @overload
    def at(self, t: Sequence[float] | Array) -> dict[str, Array]: ...
    def at(self, t: Number | Sequence[float] | Array) -> dict[str, Scalar] | dict[str, Array]:
        """Every variable at a time, or at many; after the jumps if some happen then. Raises
        ValueError for a time outside the stretch."""
        if np.ndim(t) == 0:  # type: ignore[arg-type]
            moment = _time(t)  # type: ignore[arg-type]
            self._inside(np.array([moment]))
            return self.trace.at(moment)
        times = np.asarray(t, dtype=np.float64)
        return {name: self.values(name, times) for name in self.variables}

    def why(self, t: Number, *, before: bool = False) -> Moment:
        """Why the run jumps at a time, or does not: what every edge that leaves its location
        lacks there, and how far its invariant is from ending; after the jumps if some happen
        then, or `before` them. `print` tells it in words."""
        from workbench.simulate.place import Prepared
        from workbench.simulate.stepping.externs import provided
        from workbench.simulate.why import explain

        if self.automaton is None:
            raise RequestError("the run does not know its model: simulate or replay it")
        moment = _time(t)
        self._inside(np.array([moment]))
        segments = self.trace.segments
        first = next((s for s in segments if s.end >= moment), segments[-1])
        segment = first if before else self.trace.segment_at(moment)
        values = {**self.trace.parameters, **segment.valuation(moment)}
        method = None if self.recipe is None else self.recipe.method
        tolerance = () if method is None else (method.rtol, method.atol)
        with provided(self.externs):
            return explain(Prepared(self.automaton), segment.location, values, *tolerance)

    def compared(self, other: Run | str | Path) -> Comparison:
        """How far this run is from another one, or from that of a file (`.json`, or a table of
        any tool, `.csv`), on the time that they share."""
        from workbench.api.comparison import compared, read_other

        if isinstance(other, Run):
            return compared(self._stretch(), other._stretch())
        if self.automaton is None:
            raise RequestError("the run does not know its model: simulate or replay it")
        return compared(self._stretch(), read_other(self.automaton, other)[0])

    def validated(self) -> Validated:
        """The whole run followed by rigorous enclosures, as far as that goes."""
        from workbench.api.simulation import Simulation

        if self.automaton is None or self.recipe is None:
            raise RequestError("the run does not know how it was made: simulate or replay it")
        how = Simulation(self.automaton, self.recipe, externs=self.externs)
        return how.validated(self.seed, self.trace)

    def courses(self, gap: float) -> tuple[Floats, dict[str, Array]]:
        """Times, and every variable at them: the `times`, and others between them where they
        are further than `gap` from each other."""
        parts = [(segment, _refined(times, gap)) for segment, times in self._parts()]
        times = np.concatenate([t for _, t in parts] or [np.empty(0)])
        courses = [_Courses(segment, self.variables, t) for segment, t in parts]
        return times, {n: _joined([course[n] for course in courses]) for n in self.variables}

    def before(self, t: Number) -> dict[str, Scalar]:
        """Every variable at a time, before the jumps that happen then."""
        moment = _time(t)
        self._inside(np.array([moment]))
        return self.trace.before(moment)

    def values(self, name: str, times: Sequence[float] | Array) -> Array:
        """A variable or an input at these times, in any order; after the jumps if some happen
        then."""
        self._check(name)
        shape = np.shape(times)
        asked = np.asarray(times, dtype=np.float64).ravel()
        self._inside(asked)
        starts = np.array([s.start for s in self.trace.segments])
        places = np.maximum(np.searchsorted(starts, asked, side="right") - 1, 0)
        parts = [
            (here, _Courses(self.trace.segments[k], [name], asked[here])[name])
            for k in np.unique(places)
            for here in [places == k]
        ]
        kinds = {part.dtype for _, part in parts} or {np.dtype(np.float64)}
        found = np.empty(len(asked), dtype=kinds.pop() if len(kinds) == 1 else object)
        for where, part in parts:
            found[where] = part
        return found.reshape(shape)

    def _inside(self, times: Floats) -> None:
        outside = times[~((times >= self.start) & (times <= self.end))]
        if len(outside) or not self.trace.segments:
            when = f"{outside[0]:g} is not in it" if len(outside) else self.sentence
            raise ValueError(f"the run is from {self.start:g} to {self.end:g}: {when}")

    def _check(self, name: str) -> None:
        if one_text("name", name) not in self.variables and name not in self.inputs:
            from workbench.models.language.findings import closest

            known = [*self.variables, *self.inputs]
            near = closest(name, known)
            hint = f"did you mean {near!r}?" if near else f"there are {', '.join(known)}"
            raise KeyError(f"the run has no variable {name!r}; {hint}")

    def _parts(self) -> Iterator[tuple[Segment, Floats]]:
        """The segments of the stretch, each with the times at which it is sampled."""
        for segment in self.trace.segments:
            if segment.end < self.start or segment.start > self.end:
                continue
            times: Floats = np.frombuffer(segment.times, dtype=np.float64)
            if segment.start < self.start or segment.end > self.end:
                low, high = max(segment.start, self.start), min(segment.end, self.end)
                first, last = bisect_right(segment.times, low), bisect_left(segment.times, high)
                ends = [low, *segment.times[first:last], high]
                times = np.array(ends if high > low else [low])
            yield segment, times if segment.end > segment.start else times[:1]

    # Tables

    def to_pandas(self, times: Sequence[float] | Array | None = None) -> pandas.DataFrame:
        """A table by time with a column for each variable and one for the location; without
        `times` at the ends of the integration steps. Needs pandas."""
        pandas = needed("pandas")
        if times is None:
            index, columns = self.times, {name: self[name] for name in self.variables}
            columns["location"] = self.locations
        else:
            index = np.ravel(np.asarray(times, dtype=np.float64))
            columns = self.at(index)
            columns["location"] = self._locations_at(index)
        columns.pop("time", None)
        return pandas.DataFrame(columns, index=pandas.Index(index, name="time"))

    def to_xarray(self, times: Sequence[float] | Array) -> xarray.Dataset:
        """A data set over `time` at these times. Needs xarray."""
        made = needed("xarray")
        grid = np.ravel(np.asarray(times, dtype=np.float64))
        columns = {n: ("time", v) for n, v in self.at(grid).items() if n != "time"}
        columns["location"] = ("time", self._locations_at(grid))
        found: xarray.Dataset = made.Dataset(columns, {"time": grid}, {"seed": self.seed})
        return found

    def _locations_at(self, times: Floats) -> Array:
        return np.array([self.trace.segment_at(t).location for t in times], dtype=object)

    # Files and pictures

    def save(self, path: str | Path, *names: str) -> Path:
        """Write the run: a `.csv` table, a `.json` file that `Model.replay` and `workbench
        simulate --replay` repeat, or a picture (`.svg`, `.html`, `.png`, `.pdf`) with these
        variables."""
        from workbench.api.saving import save
        from workbench.models.trace_files import to_csv, to_json
        from workbench.simulate.recipe import recorded

        target = path_of("path", path)
        if target.suffix == ".csv":
            return save(path, to_csv(self._stretch()))
        if target.suffix in PICTURES:
            return self._alone.save(path, *names)
        if target.suffix != ".json":
            raise RequestError(
                f"a run is saved as .csv, .json, {', '.join(PICTURES)}, not as {target.name!r}"
            )
        if self.recipe is None:
            return save(path, to_json(self.trace))
        return save(path, recorded(self.trace, self.recipe, self.model_sha256))

    def svg(self, *names: str, title: str = "") -> str:
        """A picture: one panel for each variable, for several `"x+y"`, or a phase plot for a pair
        `"x:y"`; the bounds of properties are drawn."""
        return self._alone.svg(*names, title=title)

    def plot(self, *names: str, axes: Any = None, **style: Any) -> Any:
        """Draw the same picture with matplotlib, in its styles, into `axes` (one for all panels,
        or one for each) or a new figure, and return these."""
        return self._alone.plot(*names, axes=axes, **style)

    @property
    def _alone(self) -> Runs:
        return Runs((self,), self.trace.model)

    def _stretch(self) -> Trace:
        """The stretch as a trace of its own."""
        if self.start <= self.trace.start and self.end >= self.trace.end:
            return self.trace
        inside = [
            _cut(s, max(s.start, self.start), min(s.end, self.end))
            for s in self.trace.segments
            if s.end >= self.start and s.start <= self.end
        ]
        return replace(self.trace, segments=tuple(inside), events=self.events)

    def __repr__(self) -> str:
        broken = f", violates {', '.join(map(repr, self.violated))}" if self.violated else ""
        return (
            f"<Run {self.trace.model} seed {self.seed}: {self.start:g} to {self.end:g},"
            f" {counted(len(self.jumps), 'jump')}, {self.ending}{broken}>"
        )

    def _repr_html_(self) -> str:
        return f"<p>{escape(self.sentence)}</p>{self._alone._framed()}"


@dataclass(frozen=True)
class Runs(Sequence[Run]):
    """Several runs of one model, in the order of their seeds."""

    runs: tuple[Run, ...]
    model: str = ""

    @overload
    def __getitem__(self, index: int) -> Run: ...
    @overload
    def __getitem__(self, index: slice) -> Runs: ...
    def __getitem__(self, index: int | slice) -> Run | Runs:
        if isinstance(index, str):
            raise TypeError(
                f"runs are asked by number: runs[0][{index!r}]; see values(name, times)"
            )
        found = self.runs[index]
        return found if isinstance(found, Run) else replace(self, runs=found)

    def __len__(self) -> int:
        return len(self.runs)

    @property
    def endings(self) -> Mapping[Ending, int]:
        """How many runs ended in which way."""
        found: dict[Ending, int] = {}
        for run in self.runs:
            found[run.ending] = found.get(run.ending, 0) + 1
        return found

    @property
    def violating(self) -> Runs:
        """The runs that violate a property or the formula."""
        return replace(self, runs=tuple(run for run in self.runs if run.violated))

    def between(self, start: Number, end: Number) -> Runs:
        """The same stretch of time of every run that got that far."""
        low, high = _stretch(start, end)
        reached = (r for r in self.runs if r.start <= high and r.end >= low)
        return replace(self, runs=tuple(run[low:high] for run in reached))

    def values(self, name: str, times: Sequence[float] | Array) -> Array:
        """A variable at these times, a row for each run; NaN where a run has no states."""
        asked = np.asarray(times, dtype=np.float64).ravel()
        rows = [run.values(name, _within(run, asked)) for run in self.runs]
        is_wordy = any(row.dtype == object for row in rows)
        found = np.full((len(rows), len(asked)), np.nan, dtype=object if is_wordy else np.float64)
        for whole, row, run in zip(found, rows, self.runs, strict=True):
            whole[(asked >= run.start) & (asked <= run.end)] = row
        return found

    def to_pandas(self, times: Sequence[float] | Array | None = None) -> pandas.DataFrame:
        """One table of all runs, by seed and time; at `times`, as far as a run goes."""
        if not self.runs:
            raise RequestError("there is no run to put into a table")
        pandas = needed("pandas")
        tables = [
            run.to_pandas(None if times is None else _within(run, times)) for run in self.runs
        ]
        return pandas.concat(tables, keys=[run.seed for run in self.runs], names=["seed"])

    def to_xarray(self, times: Sequence[float] | Array) -> xarray.Dataset:
        """A data set over `seed` and `time`; nothing (NaN) where a run had ended."""
        if not self.runs:
            raise RequestError("there is no run to put into a table")
        made = needed("xarray")
        sets = [run.to_xarray(_within(run, times)) for run in self.runs]
        seeds = made.IndexVariable("seed", [run.seed for run in self.runs])
        found: xarray.Dataset = made.concat(sets, seeds, join="outer", combine_attrs="drop")
        return found

    def save(self, path: str | Path, *names: str) -> Path:
        """Write a picture of all runs (`.svg`, `.html`, `.png`, `.pdf`) with these variables, or
        a `.csv` table with a column for the seed."""
        from workbench.api.saving import save

        target = path_of("path", path)
        if target.suffix in PICTURES:
            return save(path, self._picture(names, "", target.suffix))
        if target.suffix != ".csv":
            raise RequestError(
                f"runs are saved as .csv, {', '.join(PICTURES)}, not as {target.name!r}"
            )
        return save(path, table([(run.seed, run._stretch()) for run in self.runs]))

    def svg(self, *names: str, title: str = "") -> str:
        """A picture of all runs."""
        return str(self._picture(names, title, ".svg"))

    def plot(self, *names: str, axes: Any = None, **style: Any) -> Any:
        """Draw all runs with matplotlib; see `Run.plot`."""
        return plotted(self._stretches, names, self._automaton, axes, style)

    @property
    def _stretches(self) -> list[Trace]:
        return [run._stretch() for run in self.runs]

    @property
    def _automaton(self) -> Automaton | None:
        return self.runs[0].automaton if self.runs else None

    def _picture(self, names: Sequence[str], title: str, form: str) -> str | bytes:
        traces, automaton = self._stretches, self._automaton
        shown = shown_panels(traces, names, automaton)
        return picture(traces, shown, title or traces[0].model, form, automaton)

    def _framed(self) -> str:
        """The picture for a notebook, in a frame of its own that tells the values under the
        pointer; nothing where nothing can be drawn."""
        try:
            return framed(str(self._picture((), "", ".html")))
        except ValueError:
            return ""

    def __repr__(self) -> str:
        endings = ", ".join(f"{n} {ending}" for ending, n in sorted(self.endings.items()))
        return f"<Runs {self.model}: {counted(len(self), 'run')}: {endings or 'none'}>"

    def _repr_html_(self) -> str:
        return f"<p>{escape(repr(self)[1:-1])}</p>{self._framed()}"


def _time(value: Number | Array) -> float:
    """A time that is asked for, as any kind of number; it may be infinite."""
    given: Number = value.item() if isinstance(value, np.ndarray) else value
    is_endless = isinstance(given, float) and math.isinf(given)
    return float(given) if is_endless else double("time", given)


def _stretch(start: Number, end: Number) -> tuple[float, float]:
    """Two times in their order."""
    low, high = _time(start), _time(end)
    if low > high:
        raise RequestError(f"a stretch does not end before it begins: {low:g} to {high:g}")
    return low, high


# Values of one segment


def _refined(times: Floats, gap: float) -> Floats:
    """The times, and equally many more in every gap that is too wide."""
    gaps = np.diff(times)
    if not len(gaps) or not gap > 0.0:
        return times
    parts = np.maximum(np.ceil(gaps / gap), 1.0).astype(np.int64)
    first = np.repeat(np.cumsum(parts) - parts, parts)
    share = (np.arange(parts.sum()) - first) / np.repeat(parts, parts)
    return np.append(np.repeat(times[:-1], parts) + share * np.repeat(gaps, parts), times[-1])


class _Courses:
    """Variables at times of one segment, with the same arithmetic as `Segment.state`; what they
    are made of is computed once."""

    def __init__(self, segment: Segment, names: Iterable[str], times: Floats):
        self._segment, self._times = segment, times
        self._known: dict[str, Array] = {"time": times.copy()}
        flowing = sorted(self._all_used(names).intersection(segment.flowing))
        places = np.array([segment.flowing.index(name) for name in flowing], dtype=np.int64)
        self._known.update(zip(flowing, _polynomials(segment, places, times), strict=True))

    def _all_used(self, names: Iterable[str]) -> set[str]:
        """These variables and all that equations make them of."""
        found: set[str] = set()
        waiting = list(names)
        while waiting:
            name = waiting.pop()
            if name not in found:
                found.add(name)
                definition = self._segment.derived.get(name)
                waiting += free_variables(definition) if definition is not None else ()
        return found

    def __getitem__(self, name: str) -> Array:
        if name not in self._known:
            self._known[name] = self._course(name)
        return self._known[name]

    def _course(self, name: str) -> Array:
        segment, times = self._segment, self._times
        if name in segment.held and name not in segment.inputs and name not in segment.derived:
            value = segment.held[name]
            return np.full(len(times), value, dtype=object if isinstance(value, str) else None)
        if name in segment.derived and (course := self._defined(name)) is not None:
            return course
        found = [segment.valuation(t).get(name, math.nan) for t in times.tolist()]
        return np.array(found, dtype=object if any(isinstance(v, str) for v in found) else None)

    def _defined(self, name: str) -> Floats | None:
        """A variable that an equation defines from others, by compiled arithmetic; None where it
        is no number, or what it is made of is none or comes from outside."""
        segment, definition = self._segment, self._segment.derived[name]
        used = free_variables(definition) - {TIME}
        if not used <= {*segment.flowing, *segment.held, *segment.derived} or segment.externals:
            return None
        if not _is_number(definition):
            return None
        columns = {n: self[n] for n in used}
        if any(column.dtype != np.float64 for column in columns.values()):
            return None
        calculator = _calculator(definition)
        names = (TIME, *calculator.names)
        rows = zip(self._times.tolist(), *(columns[n].tolist() for n in names[1:]), strict=True)
        found = np.array([calculator(dict(zip(names, row, strict=True)))[0] for row in rows])
        return np.where(np.isfinite(found), found, np.nan)


def _is_number(definition: Expression) -> bool:
    """Whether an expression is a number by its form, if its variables are."""
    while definition.op is Op.IF:
        definition = definition.args[1]
    other = (Op.BOOLEAN, Op.SYMBOL, Op.AT, *BOOLEAN_OPERATORS, *COMPARISONS)
    return definition.op not in other


@lru_cache(maxsize=256)
def _calculator(definition: Expression) -> Calculator:
    from workbench.simulate.stepping.calculator import Calculator

    return Calculator([definition], {}, {})


def _polynomials(segment: Segment, places: Array, times: Floats) -> Floats:
    """The flowing variables at these places, a row for each, at times of their segment."""
    final = np.array([segment.final[place] for place in places.tolist()])
    found: Floats = np.repeat(final[:, None], len(times), axis=1)
    count = len(segment.degrees)
    if not count or not len(places):
        return found
    ends: Floats = np.frombuffer(segment.times, dtype=np.float64)
    degrees = np.frombuffer(segment.degrees, dtype=segment.degrees.typecode).astype(np.int64)
    coefficients: Floats = np.frombuffer(segment.coefficients, dtype=np.float64)
    sizes = len(segment.flowing) * (degrees + 1)
    beginnings = np.cumsum(sizes) - sizes
    pieces = np.clip(np.searchsorted(ends, times, side="right") - 1, 0, count - 1)
    elapsed, inside = times - ends[pieces], times < segment.end
    for degree in np.unique(degrees[pieces]).tolist():
        here = np.flatnonzero((degrees[pieces] == degree) & inside)
        first = beginnings[pieces[here]] + places[:, None] * (degree + 1)
        value = coefficients[first + degree]
        for power in range(degree - 1, -1, -1):
            value = value * elapsed[here] + coefficients[first + power]
        found[:, here] = value
    return found


def _joined(parts: list[Array]) -> Array:
    if any(part.dtype == object for part in parts):
        parts = [part.astype(object) for part in parts]
    return np.concatenate(parts) if parts else np.empty(0)


def _cut(segment: Segment, low: float, high: float) -> Segment:
    """The part of a segment between two of its times; its first polynomial is expanded anew."""
    if low <= segment.start and high >= segment.end:
        return segment
    values = segment.valuation(high)
    final = array("d", segment.state(high))
    if high <= low or not segment.degrees:
        still = {n: values[n] for n in (*segment.held, *segment.inputs) if n in values}
        empty: array[int] = array(segment.degrees.typecode)
        return replace(
            segment,
            times=array("d", [high]),
            degrees=empty,
            coefficients=array("d"),
            held=still,
            inputs={},
            final=final,
        )
    first = min(max(bisect_right(segment.times, low) - 1, 0), len(segment.degrees) - 1)
    last = min(max(bisect_left(segment.times, high), first + 1), len(segment.degrees))
    rows = list(segment.pieces())[first:last]
    coefficients = array("d")
    for k, (begun, _, polynomials) in enumerate(rows):
        for row in polynomials:
            coefficients.extend(_shifted(row, low - begun) if k == 0 and low > begun else row)
    return replace(
        segment,
        times=array("d", [low, *segment.times[first + 1 : last], high]),
        degrees=segment.degrees[first:last],
        coefficients=coefficients,
        final=final,
    )


def _shifted(row: Sequence[float], by: float) -> list[float]:
    """The polynomial of s that the row is of s + `by`, by repeated division."""
    found = list(row)
    for done in range(len(found)):
        for k in range(len(found) - 2, done - 1, -1):
            found[k] += by * found[k + 1]
    return found


def _within(run: Run, times: Sequence[float] | Array) -> Floats:
    """The times at which the run has states."""
    asked = np.asarray(times, dtype=np.float64)
    return asked[(asked >= run.start) & (asked <= run.end)]
