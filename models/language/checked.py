"""From parsed files to a model that passed every check, or to all that is wrong with it."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path

from workbench.models.agents.flatten import flatten
from workbench.models.expressions.literals import ExpressionTooLargeError
from workbench.models.language.elaborate import elaborate
from workbench.models.language.findings import DiagnosticLog
from workbench.models.language.project import ModelFiles, read_project
from workbench.models.language.syntax import ExternDeclaration
from workbench.models.language.wellposed import check_automaton
from workbench.models.model import Model
from workbench.models.source import Diagnostic, ModelError


def checked_model(
    project: ModelFiles,
    name: str,
    *,
    agent: str | None = None,
    parameters: Mapping[str, Fraction] | None = None,
) -> Model:
    """The model of a project, elaborated, flattened and checked; see `elaborate` for `agent`
    and `parameters`. Raises `ModelError`."""
    sources = project.sources
    made = elaborate(project.files, agent=agent, parameters=parameters, sources=sources)
    findings = DiagnosticLog()
    findings.extend(made.warnings)
    try:
        automaton = flatten(made.agent, name, made.horizon)
        check_automaton(automaton, findings)
    except ModelError as problem:
        raise ModelError(*problem.diagnostics, sources=sources) from None
    except ExpressionTooLargeError as problem:
        reason = f"putting the parts of the model together leads to {problem}"
        raise ModelError(Diagnostic("constant-too-large", reason), sources=sources) from None
    findings.raise_errors(sources)
    origins = {
        d.name.name: d.origin or ""
        for file in project.files
        for d in file.definitions
        if isinstance(d, ExternDeclaration)
    }
    return Model(name, automaton, made.agent, findings.warnings, sources, origins, made.settings)


def diagnose(
    text: str, path: Path, texts: Mapping[Path, str] | None = None
) -> tuple[Diagnostic, ...]:
    """Every error and warning of a text that stands, or will stand, in the file `path`; `texts`
    are unsaved changes of files that it imports."""
    try:
        return checked_model(read_project(path, text, texts), path.stem).warnings
    except ModelError as problem:
        return problem.diagnostics
