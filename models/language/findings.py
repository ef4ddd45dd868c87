"""Collecting what is wrong with a model, so that one run reports several mistakes."""

from __future__ import annotations

from collections.abc import Iterable

from workbench.models.source import Diagnostic, ModelError, Severity, Span

MAX_ERRORS = 100
"""After this many errors the run stops: the rest are most likely consequences."""

MAX_PER_PLACE = 5
"""How often one kind of mistake is told at one place: copies of an agent repeat it."""

TOLD_ONCE = frozenset({"index-out-of-range"})
"""Mistakes that many copies of one text repeat with other numbers."""


def _most(code: str) -> int:
    """How often a mistake is told at one place."""
    return 1 if code in TOLD_ONCE else MAX_PER_PLACE


MAX_CANDIDATES = 2_000
"""How many names are compared with a misspelt one."""


class TooManyErrorsError(Exception):
    """Raised inside a run to end it; never leaves `models.language`."""


class DiagnosticLog:
    """The diagnostics of one run, each said once, however many instances share the text."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str, Span | None], Diagnostic] = {}
        self._at_place: dict[tuple[str, Span | None], int] = {}
        self._errors = 0
        self.ignore_warnings = False

    def error(
        self, code: str, message: str, span: Span | None = None, hint: str | None = None
    ) -> None:
        """Reject the model for this reason, and go on looking."""
        if self._add(Diagnostic(code, message, span, hint)):
            self._errors += 1
            if self._errors >= MAX_ERRORS:
                raise TooManyErrorsError

    def warn(
        self, code: str, message: str, span: Span | None = None, hint: str | None = None
    ) -> None:
        """Tell the author, and accept the model."""
        if not self.ignore_warnings:
            self._add(Diagnostic(code, message, span, hint, Severity.WARNING))

    def extend(self, diagnostics: Iterable[Diagnostic]) -> None:
        """Take over diagnostics found elsewhere."""
        for diagnostic in diagnostics:
            if self._add(diagnostic) and diagnostic.severity is Severity.ERROR:
                self._errors += 1

    def _add(self, diagnostic: Diagnostic) -> bool:
        place = (diagnostic.code, diagnostic.span)
        key = (diagnostic.code, diagnostic.message, diagnostic.span)
        if key in self._found or self._at_place.get(place, 0) >= _most(diagnostic.code):
            return False
        if diagnostic.span is not None:
            self._at_place[place] = self._at_place.get(place, 0) + 1
        self._found[key] = diagnostic
        return True

    @property
    def has_errors(self) -> bool:
        """Whether the model is rejected."""
        return self._errors > 0

    @property
    def warnings(self) -> tuple[Diagnostic, ...]:
        """The warnings, in source order."""
        return tuple(d for d in self._sorted() if d.severity is Severity.WARNING)

    def raise_errors(self, sources: dict[str, str] | None = None) -> None:
        """End with a `ModelError` that holds every finding, if one of them is an error."""
        if self.has_errors:
            raise ModelError(*self._sorted(), sources=sources)

    def _sorted(self) -> list[Diagnostic]:
        def place(diagnostic: Diagnostic) -> tuple[str, int, int, str]:
            span = diagnostic.span
            if span is None:
                return "", 0, 0, diagnostic.message
            return span.file, span.line, span.column, diagnostic.message

        return sorted(self._found.values(), key=place)


def closest(name: str, candidates: Iterable[str]) -> str | None:
    """The candidate that `name` is most likely a misspelling of, if any is near."""
    pool = []
    for candidate in candidates:
        if candidate.lower() == name.lower():
            return candidate
        pool.append(candidate)
        if len(pool) >= MAX_CANDIDATES:
            break
    from difflib import get_close_matches  # slow to import, and only mistakes need it

    found = get_close_matches(name, pool, n=1, cutoff=0.6)
    return found[0] if found else None


def did_you_mean(name: str, candidates: Iterable[str]) -> str | None:
    """A hint that names the closest candidate, or nothing."""
    near = closest(name, candidates)
    return f"did you mean `{near}`?" if near is not None else None


def listed(names: Iterable[str], most: int = 6) -> str:
    """Names as `a`, `b` and `c`, shortened when there are many."""
    quoted = [f"`{name}`" for name in names]
    if len(quoted) > most:
        quoted = [*quoted[:most], f"{len(quoted) - most} more"]
    return " and ".join(part for part in (", ".join(quoted[:-1]), quoted[-1]) if part)
