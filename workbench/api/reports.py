"""Reports as values: a page that needs no network, its data, and its verdicts."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, overload

from workbench.api.asked import RequestError, each
from workbench.api.saving import save

if TYPE_CHECKING:
    from collections.abc import Callable

    from workbench.abstraction.verification_settings import VerificationSettings
    from workbench.api.verdicts import Verdicts
    from workbench.models.automaton import Property
    from workbench.models.model import Model as Loaded
    from workbench.models.verdict import Verdict as Decision
    from workbench.simulate.stepping.externs import Externs

Failing: TypeAlias = Literal["rejected", "unusable", "internal"]
"""Why there is no report: the model is not sound, it has not what was asked for, or a defect."""

_PLAIN = re.compile(r"[^A-Za-z0-9_.-]+")


@dataclass(frozen=True)
class Report:
    """A page that ties proof and simulation together, its data, and its verdicts."""

    model: str
    html: str = field(repr=False)
    data: Mapping[str, Any] = field(repr=False)
    verdicts: Verdicts

    def save(self, path: str | Path) -> Path:
        """Write the page."""
        return save(path, self.html)

    @property
    def outcome(self) -> str:
        """The worst of the verdicts; `contradiction` where engines disagree, `error` where there
        is no report."""
        from workbench.reports.data.report import overall

        return overall(self.data)

    @property
    def contradictions(self) -> tuple[str, ...]:
        """Where engines disagree, in words: then no verdict can be trusted."""
        return tuple(c["sentence"] for c in self.data["crosscheck"]["contradictions"])

    @property
    def failing(self) -> Failing | None:
        """Why there is no report, if there is none."""
        error = self.data.get("error")
        return None if error is None else error["kind"]

    def __repr__(self) -> str:
        return f"<Report {self.model}: {self.outcome}>"

    def _repr_html_(self) -> str:
        return (
            f'<iframe srcdoc="{escape(self.html)}" width="100%" height="800"'
            ' style="border:1px solid #ccc"></iframe>'
        )


def failed(model: str, why: Failing, message: str) -> Report:
    """What stands in the place of a report that could not be made."""
    from workbench.api.verdicts import Verdicts
    from workbench.reports.pages.failed_report import Failing as Kind
    from workbench.reports.pages.failed_report import failed_data

    return Report(model, "", failed_data(model, Kind(why), message), Verdicts(()))


def made_report(
    loaded: Loaded,
    label: str,
    claims: Sequence[Property],
    deciding: VerificationSettings,
    runs: int,
    until: float | None,
    command: str,
    panels: Sequence[str],
    externs: Externs,
    tell: Callable[[str], None],
    begun: float | None = None,
    decided: Callable[[str, str], None] = lambda name, outcome: None,
) -> Report:
    """The report of a model, under this name; the command that makes it may be told, and who wants
    to know each verdict at once."""
    from workbench.api.verdicts import Verdict, Verdicts
    from workbench.reports.analysis import Settings, analyse
    from workbench.reports.data.report import report_data
    from workbench.reports.pages.report import course, diagram, render

    def hear(found: Decision) -> None:
        decided(found.claim, Verdict(found, loaded, externs).in_brief)

    settings = Settings(deciding, runs, until)
    findings = analyse(loaded, label, claims, settings, tell, command, begun, hear)
    tell("drawing")
    data = report_data(findings)
    texts = {name: checked.text for name, checked in findings.certificates.items()}
    run = course(findings, data, panels)
    html = render(data, diagram(findings), texts, findings.documents, findings.recordings, run)
    claimed = {claim.name: claim for claim in claims}
    verdicts = (
        Verdict(
            found,
            loaded,
            externs,
            blocking=findings.blocking.beside(claimed[found.claim]),
            seed=deciding.seed,
        )
        for found in findings.verdicts
    )
    return Report(label, html, data, Verdicts(tuple(verdicts)))


@dataclass(frozen=True)
class Reports(Sequence[Report]):
    """Reports of several models: a folder of pages with an index, and the formats of other
    tools."""

    reports: tuple[Report, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "reports", tuple(each("reports", self.reports)))
        for one in self.reports:
            if not isinstance(one, Report):
                raise RequestError(f"a report is expected, not {one!r:.40}", "reports")

    @overload
    def __getitem__(self, index: int) -> Report: ...
    @overload
    def __getitem__(self, index: slice) -> Reports: ...
    def __getitem__(self, index: int | slice) -> Report | Reports:
        found = self.reports[index]
        return found if isinstance(found, Report) else Reports(found)

    def __len__(self) -> int:
        return len(self.reports)

    @property
    def index_page(self) -> str:
        """The page that leads to the others, which are called as `page_names` says."""
        from workbench.reports.pages import index

        names = page_names([report.model for report in self.reports])
        return index.index_page(
            [(n, dict(r.data)) for n, r in zip(names, self.reports, strict=True)]
        )

    def junit(self) -> str:
        """The verdicts as JUnit XML."""
        from workbench.reports import result_formats

        return result_formats.junit([report.data for report in self.reports])

    def sarif(self) -> str:
        """The verdicts as SARIF 2.1.0."""
        from workbench.reports import result_formats

        found = result_formats.sarif([report.data for report in self.reports])
        return json.dumps(found, indent=2) + "\n"

    def arch_csv(self) -> str:
        """The verdicts as a table of the ARCH competitions."""
        from workbench.reports import result_formats

        return result_formats.arch_csv([report.data for report in self.reports])

    def save(self, folder: str | Path) -> tuple[Path, ...]:
        """Write all pages and the index into a folder, which is made if there is none."""
        into = Path(folder)
        into.mkdir(parents=True, exist_ok=True)
        names = page_names([report.model for report in self.reports])
        written = [
            report.save(into / name)
            for name, report in zip(names, self.reports, strict=True)
            if report.failing is None
        ]
        return (*written, save(into / "index.html", self.index_page))

    def __repr__(self) -> str:
        each = ", ".join(f"{report.model} {report.outcome}" for report in self.reports)
        return f"<Reports: {each or 'none'}>"

    def _repr_html_(self) -> str:
        return "".join(
            f"<h4>{escape(report.model)}: {report.outcome}</h4>{report.verdicts._repr_html_()}"
            for report in self.reports
        )


def page_names(models: Sequence[str]) -> list[str]:
    """A name of a file for each model, all different, and none that of the index."""
    found: list[str] = []
    for model in models:
        path, given, values = model.partition(" (")
        whole = Path(path).name.replace(".charon:", ":").removesuffix(".charon")
        stem = _PLAIN.sub("-", whole + given + values).strip("-.") or "model"
        name, number = f"{stem}.html", 2
        while name == "index.html" or name in found:
            name, number = f"{stem}-{number}.html", number + 1
        found.append(name)
    return found
