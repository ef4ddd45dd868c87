"""Whatever a model is made of, every method ends with a verdict, and so does every verb.

Nothing is known of the answers, but that no two methods may contradict each other, and that what is
over is over: beyond a limit nothing works on for long.
"""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import pytest

from tests.cli.conftest import run_here
from tests.support.every_construct import random_text
from workbench.abstraction.blocking import first_state, look
from workbench.abstraction.strategies.strategy import FIRST_STATE
from workbench.abstraction.verification import STRATEGIES, verify
from workbench.abstraction.verification_settings import VerificationSettings
from workbench.cli.exit_codes import ExitCode
from workbench.models.automaton import Automaton, Property, never_blocks
from workbench.models.load import load_text
from workbench.models.source import ModelError
from workbench.models.verdict import Falsified, Unknown, Verdict, Verified
from workbench.simulate.stepping.externs import provided

METHODS = (*STRATEGIES, "auto")
QUICK, LONG = 0.25, 1.0
"""Seconds for each verdict."""
BATCH = 10
RARE = 100_000
"""From this seed on models have constructs that few have."""
VERBS = (
    ("check",),
    ("show",),
    ("verify", "--time-limit", "1"),
    ("verify", "--time-limit", "1", "--json"),
    ("falsify", "--time-limit", "1"),
    ("simulate", "--until", "4"),
    ("report", "--time-limit", "1", "-o", "report.html"),
    ("export", "--to", "json", "-o", "model.json"),
)
ANSWERS = (ExitCode.OK, ExitCode.UNKNOWN, ExitCode.FALSIFIED)


def text(seed: int) -> str:
    """The text of a seed."""
    return random_text(seed, rare=seed >= RARE)


def model(seed: int) -> Automaton | None:
    """The model of a seed; a few are refused, as they should be."""
    try:
        return load_text(text(seed), "random.charon").automaton
    except ModelError:
        return None


def decided(automaton: Automaton, claim: Property, method: str, seconds: float) -> Verdict:
    """The verdict of a method, which took no more of the processor than it may. (A busy machine
    only makes this less.)"""
    begun = time.process_time()
    settings = VerificationSettings(method=method, time_limit=seconds)
    verdict = verify(settings.task(automaton, claim), method)
    assert time.process_time() - begun <= 1.05 * seconds + 1, f"{method} goes on for too long"
    return verdict


def judge(seed: int, seconds: float) -> bool:
    """Ask every method about a model; whether there is one."""
    automaton = model(seed)
    if automaton is None:
        return False
    with provided({"outside": lambda x: x / 2}):
        _judge(automaton, seed, seconds)
    return True


def _judge(automaton: Automaton, seed: int, seconds: float) -> None:
    by_turns = METHODS[seed % len(METHODS)]
    asked = [(automaton.properties[0], method) for method in METHODS]
    for claim, method in (*asked, (never_blocks(automaton), by_turns)):
        verdict = decided(automaton, claim, method, seconds)
        assert isinstance(verdict, Verified | Falsified | Unknown)
        assert verdict.claim == claim.name
        known = answers.setdefault((seed, claim.name), set())
        known.add(type(verdict))
        assert not {Verified, Falsified} <= known, f"{method} contradicts another method"


answers: dict[tuple[int, str], set[type]] = {}
"""What was answered so far about each claim."""


def ends_stuck(seed: int) -> bool:
    """Whether some run of a model ends stuck; then nothing may prove that none does."""
    automaton = model(seed)
    if automaton is None or not look(automaton).blocked:
        return False
    start = first_state(automaton)
    if start is None:
        return False
    for method in ("rectangular", "template"):
        task = VerificationSettings(time_limit=LONG).task(automaton, never_blocks(automaton))
        proving = replace(task, options={**task.options, FIRST_STATE: start})
        assert not isinstance(verify(proving, method), Verified), f"{method}, seed {seed}"
    return True


def command(seed: int, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One of the verbs, by turns, about a model in a file."""
    monkeypatch.chdir(folder)
    path = folder / "random.charon"
    path.write_text(text(seed), encoding="utf-8")
    verb, *options = VERBS[seed % len(VERBS)]
    done = run_here(verb, path, *options)
    starts = verb != "simulate" or "There is no run" not in done.out
    is_whole = "[missing-extern]" not in done.err
    is_sound = model(seed) is not None and starts and is_whole
    expected = ANSWERS if is_sound else (ExitCode.MODEL_REJECTED,)
    assert done.code in expected, f"{verb}: {done.err[-2000:]}"


@pytest.mark.parametrize("seed", [*range(4), RARE, RARE + 1])
def test_methods_answer(seed: int) -> None:
    assert judge(seed, QUICK)


@pytest.mark.parametrize(
    ("seed", "method"),
    [
        (5019, "simulation"),
        (5047, "rectangular"),
        (5070, "template"),
        (5151, "exact"),
        (5151, "rectangular"),
        (5191, "recurrence"),
        (5371, "quadratic"),
    ],
)
def test_what_once_went_wrong(seed: int, method: str) -> None:
    """Coefficients that cancel out, urgent edges that compute truth values, pieces with unknown
    derivatives of their own, truth values before a start, cuts along normals of another length,
    conditions with very many cases."""
    automaton = model(seed)
    assert automaton is not None
    for claim in (automaton.properties[0], never_blocks(automaton)):
        assert isinstance(decided(automaton, claim, method, LONG), Verified | Falsified | Unknown)


@pytest.mark.parametrize("seed", range(len(VERBS)))
def test_verbs_answer(seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    command(seed, tmp_path, monkeypatch)


@pytest.mark.parametrize(
    "seeds",
    [
        range(14, 17),
        pytest.param(range(250), marks=pytest.mark.slow),
        pytest.param(range(RARE, RARE + 100), marks=pytest.mark.slow),
    ],
)
def test_runs_that_end_stuck_contradict_no_proof(seeds: range) -> None:
    assert sum(ends_stuck(seed) for seed in seeds)


@pytest.mark.slow
@pytest.mark.parametrize("batch", range(26))
@pytest.mark.parametrize("first", [0, RARE])
def test_methods_answer_about_many_models(first: int, batch: int) -> None:
    seeds = range(first + batch * BATCH, first + (batch + 1) * BATCH)
    models = sum(judge(seed, LONG) for seed in seeds)
    assert models >= 0.7 * BATCH


@pytest.mark.slow
@pytest.mark.parametrize("batch", range(5))
@pytest.mark.parametrize("first", [0, RARE])
def test_verbs_answer_about_many_models(
    first: int, batch: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for seed in range(first + batch * BATCH, first + (batch + 1) * BATCH):
        command(seed, tmp_path, monkeypatch)
