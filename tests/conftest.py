"""Hypothesis profiles (`ci` is reproducible, `thorough` looks further), a browser, and a word at the
end about tests that did not run for want of a program."""

from __future__ import annotations

import os
import re
from collections import Counter

import pytest
from hypothesis import HealthCheck, settings

from tests.support.chromium import WITHOUT, browser

__all__ = ["browser"]

NO_PAGE = "the studio is not bundled"
NO_COQ = "no proof was compiled"
IS_LOUD = re.compile(f"{WITHOUT}|{NO_PAGE}|{NO_COQ}").match
"""Whether so much was skipped that nobody may overlook it."""

settings.register_profile(
    "ci", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("local", deadline=None)
settings.register_profile("thorough", deadline=None, max_examples=2000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "local"))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say what was skipped, and why."""
    reasons: Counter[str] = Counter()
    for report in terminalreporter.stats.get("skipped", []):
        if isinstance(report.longrepr, tuple):
            reasons[report.longrepr[2].removeprefix("Skipped: ")] += 1
    if reasons:
        terminalreporter.section("skipped", yellow=True, bold=True)
        for reason, count in reasons.most_common():
            terminalreporter.line(f"{count} x {reason}", yellow=True)
        for reason in filter(IS_LOUD, reasons):
            terminalreporter.section("NOT TESTED", sep="!", red=True, bold=True)
            terminalreporter.line(reason, red=True, bold=True)
            terminalreporter.section(f"{reasons[reason]} tests", sep="!", red=True, bold=True)
