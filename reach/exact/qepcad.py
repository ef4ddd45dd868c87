"""The one door to QEPCAD B, a program for quantifier elimination that users may have installed.

It is looked for in the wheel `passagemath-qepcad` (the extra `exact`) and on the search path,
run as a program of its own with a limit on memory and time, and asked: exists t . goal? Its
answer is text; it counts as a proposal until the solver has proved it (`reach.exact.backward`).
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from fractions import Fraction
from importlib.metadata import PackageNotFoundError, distribution
from math import lcm
from pathlib import Path

from workbench.models.expressions.expression import Expression, variable
from workbench.models.expressions.operators import Op
from workbench.models.expressions.polynomial import polynomial_form
from workbench.models.expressions.text import parse_expression
from workbench.models.expressions.traversal import free_variables, substitute
from workbench.reach.exact.polynomial_in_time import NotPolynomialError

MEMORY_CELLS = 40_000_000
SECONDS = 20.0
_ANSWER = re.compile(r"An equivalent quantifier-free formula:(.*?)={5,}", re.DOTALL)
_DOUBT = re.compile(r"Error![^\n]*|[^\n]*(?:may be invalid|may not be valid)[^\n]*")
_TOKEN = re.compile(r"\\/|/\\|/=|<=|>=|[<>=~\[\]()+^-]|[0-9]+|[A-Za-z][A-Za-z0-9]*")
_WORDS = {"\\/": "||", "/\\": "&&", "/=": "!=", "=": "==", "[": "(", "]": ")", "~": "!"}
_SYMBOLS = {
    Op.LESS: "<",
    Op.LESS_EQUAL: "<=",
    Op.GREATER: ">",
    Op.GREATER_EQUAL: ">=",
    Op.EQUAL: "=",
    Op.NOT_EQUAL: "/=",
    Op.AND: " /\\ ",
    Op.OR: " \\/ ",
}


class QepcadError(Exception):
    """The program is not there or gave no formula; the message says which."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """A formula without the quantifier; `doubt` is the program's warning that its projection
    may not be valid, if it gave one."""

    formula: Expression
    doubt: str | None


@dataclass(frozen=True, slots=True)
class Installation:
    """The program and the folder that it wants to be told about."""

    program: Path
    root: Path


def find_installation() -> Installation | None:
    """Where the program is, if anywhere."""
    try:
        folder = Path(str(distribution("passagemath-qepcad").locate_file("sage_wheels")))
        if (folder / "bin" / "qepcad").is_file():
            return Installation(folder / "bin" / "qepcad", folder)
    except PackageNotFoundError:
        pass
    found = shutil.which("qepcad")
    if found is None:
        return None
    root = os.environ.get("qe", str(Path(found).parent.parent))  # noqa: SIM112 (its own name)
    return Installation(Path(found), Path(root))


def eliminated(
    goal: Expression, name: str, order: tuple[str, ...] = (), seconds: float = SECONDS
) -> Proposal:
    """exists `name` . goal, as the program proposes it with the other names in that order
    (default: sorted)."""
    installed = find_installation()
    if installed is None:
        raise QepcadError("QEPCAD would be needed: pip install 'charon-workbench[exact]'")
    free = order or tuple(sorted(free_variables(goal) - {name}))
    codes = {n: f"x{i}" for i, n in enumerate(free)} | {name: "t"}
    question = (
        f"[ exists ]\n({','.join([*(codes[n] for n in free), 't'])})\n{len(free)}\n"
        f"(E t)[ {_written(goal, codes)} ].\nfinish\n"
    )
    text = _asked(installed, question, seconds)
    answer = _ANSWER.search(text)
    if answer is None or "_root_" in answer.group(1):
        raise QepcadError("QEPCAD gave no formula")
    formula = parse_expression(_translated(answer.group(1)), file="<QEPCAD>")
    names = {code: variable(n) for n, code in codes.items()}
    doubt = _DOUBT.search(text)
    return Proposal(substitute(formula, names), None if doubt is None else doubt.group().strip())


def _asked(installed: Installation, question: str, seconds: float) -> str:
    try:
        done = subprocess.run(
            [str(installed.program), f"+N{MEMORY_CELLS}"],
            input=question,
            capture_output=True,
            text=True,
            timeout=seconds,
            check=False,
            env={**os.environ, "qe": str(installed.root)},
        )
    except subprocess.TimeoutExpired:
        raise QepcadError(f"QEPCAD found no formula within {seconds:g} s") from None
    except OSError as error:
        raise QepcadError(f"QEPCAD could not be started: {error.strerror}") from None
    return done.stdout


def _written(goal: Expression, codes: dict[str, str]) -> str:
    """A condition in the program's notation."""
    if goal.op is Op.BOOLEAN:
        return "0 = 0" if goal.value else "0 = 1"
    if goal.op is Op.NOT:
        return f"[ ~ {_written(goal.args[0], codes)} ]"
    if goal.op in (Op.AND, Op.OR):
        return f"[ {_SYMBOLS[goal.op].join(_written(a, codes) for a in goal.args)} ]"
    if goal.op not in _SYMBOLS:
        raise NotPolynomialError(f"{goal!r} is no comparison of polynomials")
    form = polynomial_form(goal.args[0] - goal.args[1])
    if form is None:
        raise NotPolynomialError(f"{goal!r} is no comparison of polynomials")
    denominator = lcm(*(a.denominator for a in form.values()))
    terms = [_term(a * denominator, monomial, codes) for monomial, a in sorted(form.items())]
    return f"[ {' + '.join(terms) or '0'} {_SYMBOLS[goal.op]} 0 ]"


def _term(a: Fraction, monomial: tuple[tuple[str, int], ...], codes: dict[str, str]) -> str:
    return " ".join([f"({a})", *(f"{codes[n]}^{e}" for n, e in monomial)])


def _translated(answer: str) -> str:
    """The program's notation in ours: factors stand side by side there."""
    found: list[str] = []
    previous = ""
    for token in _TOKEN.findall(answer):
        if token[0].isalnum() and previous and previous[-1].isalnum():
            found.append("*")
        found.append({"TRUE": "true", "FALSE": "false"}.get(token, _WORDS.get(token, token)))
        previous = token
    return " ".join(found)
