"""The normal form of a problem: the linear view of a model in numbers instead of names.

The kernel's theorem is about automata with numbered locations and variables whose conditions are
rows over states x, states after a jump y, and anything else u (`models/kernel/theory/Semantics.v`).
The linear view has all of this under names: variables, parameters and perhaps a clock are x, their
primed names y; inputs, their values after a jump and derivatives that are only known to lie in a
range are u.

Lemma. If the normal form is safe, no run of the view comes to a bad state, whatever locations were
taken in. Proof. The normal form is the view, row by row, where locations are taken in:

- the invariant is `LinearProblem.flowing`, the rows that hold at almost every moment of a stay;
- the dynamics are those at every corner and on every branch; what does not change has no rate;
- the cases of starts, jumps and bad states are those of the view.

Any other location to which a start or a jump leads is *forbidden*: all its states are bad, and none
of them goes anywhere. So a run of the view is one of the normal form up to where it leaves the
locations that were taken in, and there it would be in a bad state.

A name means one thing in rows: a variable, a parameter or the clock, an input, one of these after a
jump, or a derivative. `LinearProblem.types` says which of them are whole numbers, as truth values
and symbols are, too; all others are real. That is so of every model that is not refused
(`models.well_formed`), and is looked at here again, since a name with two meanings would tie
together what has nothing to do with each other.

Locations are taken in where somebody speaks about them, so of a product few are ever made.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any, TypeAlias

from workbench.models.automaton import primed
from workbench.models.kernel.decode import MAX_DIGITS
from workbench.models.linear import Alternatives, Form, Rows
from workbench.models.lowering.problem import Dynamics, LinearProblem, derivative_of

Data: TypeAlias = Any
"""Plain data as the kernel's decoder takes it."""


class NotLoweredError(Exception):
    """The kernel takes no such certificate; the message says why."""


class NormalForm:
    """A problem in numbers: the locations that somebody speaks about, then the forbidden ones."""

    def __init__(self, problem: LinearProblem, locations: Iterable[str]):
        self.problem = problem
        self.states = sorted(problem.names)
        if twice := _with_two_meanings(problem):
            raise NotLoweredError(f"{twice!r} has two meanings")
        self.locations = list(dict.fromkeys(locations))
        self.taken = len(self.locations)
        """How many locations were taken in; the others are forbidden."""
        self._x = {name: i for i, name in enumerate(self.states)}
        self._y = {primed(name): i for i, name in enumerate(self.states)}
        self._u: dict[str, int] = {}
        self._numbers = {name: i for i, name in enumerate(self.locations)}
        self._forms: dict[int, tuple[Form, Data]] = {}
        places = [self._location(name) for name in tuple(self.locations)]
        starts = [[str(self._number(name)), self._cases(cases)] for name, cases in problem.starts()]
        forbidden: Data = [[], [], [], [[]]]
        places += [forbidden] * (len(self.locations) - self.taken)
        self.data: Data = [places, starts]
        """The automaton."""
        self.inputs = tuple(self._u)
        """What u stands for; evidence may have further names, of which nothing is known."""

    def settle(self) -> None:
        """What has been named since is part of the problem, too."""
        self.inputs = tuple(self._u)

    def affine(self, form: Form) -> Data:
        """A form over states alone."""
        return [number(form.constant), _dense(form.coefficients, self._x)]

    def variable(self, name: str) -> Data:
        """A name that dynamics mention, as a variable of the state or an input."""
        if name in self._x:
            return ["State", str(self._x[name])]
        return ["Input", str(self._u[name])]

    def _number(self, location: str) -> int:
        if location not in self._numbers:
            self._numbers[location] = len(self.locations)
            self.locations.append(location)
        return self._numbers[location]

    def _location(self, name: str) -> Data:
        problem = self.problem
        return [
            self._cases(problem.flowing(name)),
            [self._dynamics(dynamics) for dynamics in problem.dynamics(name)],
            [
                [str(self._number(jump.target)), self._cases(jump.cases)]
                for jump in problem.jumps(name)
            ],
            self._cases(problem.bad(name)),
        ]

    def _dynamics(self, dynamics: Dynamics) -> Data:
        zero = Form({})
        rates = [self.form(dynamics.derivative.get(name, zero)) for name in self.states]
        return [rates, self._rows(dynamics.rows)]

    def _cases(self, cases: Alternatives) -> Data:
        return [self._rows(rows) for rows in cases]

    def _rows(self, rows: Rows) -> Data:
        return [[self.form(row.form), row.strict] for row in rows]

    def form(self, form: Form) -> Data:
        """A form over anything; the same one is worked out once."""
        known = self._forms.get(id(form))
        if known is None:
            x: dict[int, Fraction] = {}
            y: dict[int, Fraction] = {}
            u: dict[int, Fraction] = {}
            for name, a in form.coefficients.items():
                if name in self._x:
                    x[self._x[name]] = a
                elif name in self._y:
                    y[self._y[name]] = a
                else:
                    u[self._u.setdefault(name, len(self._u))] = a
            data = [number(form.constant), *map(dense, (x, y, u))]
            known = self._forms[id(form)] = form, data
        return known[1]


def _with_two_meanings(problem: LinearProblem) -> str | None:
    """A name that rows use for two things, or None."""
    inputs = [signal.name for signal in problem.automaton.inputs]
    used = [*problem.names, *inputs]
    names = [*used, *map(primed, used), *map(derivative_of, problem.names)]
    counted = Counter(names)
    return next((name for name in names if counted[name] > 1), None)


def dense(numbers: Mapping[int, Fraction]) -> Data:
    """Numbers by place, as a list that ends with the last that is not 0."""
    found = ["0"] * (max((i for i, a in numbers.items() if a), default=-1) + 1)
    for place, value in numbers.items():
        if value:
            found[place] = number(value)
    return found


def _dense(coefficients: Mapping[str, Fraction], places: Mapping[str, int]) -> Data:
    return dense({places[name]: a for name, a in coefficients.items()})


def number(value: Fraction) -> str:
    """A number as the kernel's decoder takes it; one of too many digits is a `NotLoweredError`."""
    if value.numerator.bit_length() + value.denominator.bit_length() > 3 * MAX_DIGITS:
        raise NotLoweredError(f"it would need numbers of about {MAX_DIGITS} digits")
    return str(value)
