"""Control points as written, resolved to points of the mode or of its submodes.

A name alone is a submode (its default exit as a source, its default entry as a target) or
an entry or exit point of the mode itself. `default` is the mode's own default entry; in a
composed top-level mode it is the point where the agent starts, the same as `init`.
"""

from __future__ import annotations

from workbench.models.agents.hierarchy import DEFAULT_ENTRY, DEFAULT_EXIT, INIT, ControlPoint, Mode
from workbench.models.language.findings import DiagnosticLog, did_you_mean, listed
from workbench.models.language.syntax import PointReference
from workbench.models.record import record
from workbench.models.source import Span


@record
class PointTable:
    """The control points that a mode's transitions can name."""

    mode: str
    entries: tuple[str, ...]
    exits: tuple[str, ...]
    submodes: dict[str, Mode | None]
    is_top: bool

    def source(self, point: PointReference, findings: DiagnosticLog) -> ControlPoint | None:
        """Where a transition starts."""
        name = point.first
        if point.second is not None:
            return self._of_submode(point, findings, is_source=True)
        if name == "init":
            return ControlPoint(None, INIT if self.is_top else DEFAULT_ENTRY)
        if name == "default":
            starts = self.is_top and bool(self.submodes)
            return ControlPoint(None, INIT if starts else DEFAULT_ENTRY)
        if name in self.submodes:
            return ControlPoint(name, DEFAULT_EXIT)
        if name in self.entries:
            return ControlPoint(None, name)
        if name in self.exits:
            findings.error(
                "wrong-point",
                f"`{name}` is an exit of this mode: transitions lead to it, not from it",
                point.span,
                "turn the transition round, or use an entry",
            )
            return None
        self._unknown(name, point.span, findings)
        return None

    def target(self, point: PointReference, findings: DiagnosticLog) -> ControlPoint | None:
        """Where a transition leads."""
        name = point.first
        if point.second is not None:
            return self._of_submode(point, findings, is_source=False)
        if name == "default" and not self.submodes:
            return ControlPoint(None, DEFAULT_EXIT)
        if name in ("default", "init"):
            findings.error(
                "wrong-point",
                f"a transition cannot lead to `{name}`",
                point.span,
                "name the submode to enter"
                + (f" ({listed(self.submodes)})" if self.submodes else ""),
            )
            return None
        if name in self.submodes:
            return ControlPoint(name, DEFAULT_ENTRY)
        if name in self.exits:
            return ControlPoint(None, name)
        if name in self.entries:
            findings.error(
                "wrong-point",
                f"`{name}` is an entry of this mode: transitions start there, they do not"
                " lead to it",
                point.span,
                "name a submode or an exit as the target",
            )
            return None
        self._unknown(name, point.span, findings)
        return None

    def _of_submode(
        self, point: PointReference, findings: DiagnosticLog, *, is_source: bool
    ) -> ControlPoint | None:
        name, inner = point.first, point.second
        assert inner is not None
        if name not in self.submodes:
            self._unknown(name, point.span, findings)
            return None
        if inner == "default":
            return ControlPoint(name, DEFAULT_EXIT if is_source else DEFAULT_ENTRY)
        mode = self.submodes[name]
        if mode is None:
            return None
        wanted, others = (mode.exits, mode.entries) if is_source else (mode.entries, mode.exits)
        if inner in wanted:
            return ControlPoint(name, inner)
        word = "exit" if is_source else "entry"
        other = "entry" if is_source else "exit"
        if inner in others:
            findings.error(
                "wrong-point",
                f"`{inner}` is an {other} of `{name}`: a transition"
                f" {'leaves by an exit' if is_source else 'enters by an entry'}",
                point.span,
                f"the {word} points of `{name}` are {listed(wanted)}"
                if wanted
                else f"declare one in `{mode.definition}`: `{word} name;`",
            )
        else:
            hint = did_you_mean(inner, wanted) or (
                f"declare it in `{mode.definition}`: `{word} {inner};`"
            )
            findings.error("unknown-point", f"`{name}` has no {word} `{inner}`", point.span, hint)
        return None

    def _unknown(self, name: str, span: Span, findings: DiagnosticLog) -> None:
        known = [*self.submodes, *self.entries, *self.exits]
        hint = did_you_mean(name, known) or (
            f"this mode has {listed(known)}" if known else f"add a submode: `mode {name} = ...;`"
        )
        findings.error(
            "unknown-point",
            f"`{name}` is no submode, entry or exit of `{self.mode}`",
            span,
            hint,
        )
