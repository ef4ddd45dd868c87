"""Certificates that stand alone: a problem in normal form with the evidence that proves it.

    {"schema": "charon-workbench/certificate/2",
     "model": "tank", "model_sha256": "9f...", "property": "in range",
     "names": {"states": ["level"], "types": {}, "inputs": ["d(level)"],
               "locations": ["fill", "drain"], "forbidden": []},
     "document": {"schema": "charon-workbench/kernel/1", "checker": "check_polyhedral",
                  "problem": [...], "evidence": [...]}}

The document is what the kernel takes (`models.kernel.document`): whoever has a checker of such
documents can say, without this program and without the model, that its problem is safe. The names
tell what its numbers stand for. The problem of a certificate of progress is a system of two
automata (`models.lowering.narrow`), its evidence that for `check_progress`.

Reading is strict; a document is read by the kernel's own decoder. Proofs that the kernel does not
know, and those that it cannot take, are written in the first form
(`models.certificates.certificate`): their evidence is for the checker, and says nothing without the
model.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from workbench.models.automaton import Automaton
from workbench.models.certificates.certificate import Certificate, decode, encode
from workbench.models.certificates.json_reader import (
    MalformedCertificateError,
    Reader,
    parsed,
    read_text,
)
from workbench.models.certificates.judgement import Rejected
from workbench.models.certificates.kernel_form import (
    CHECK_POLYHEDRAL,
    CHECK_PROGRESS,
    CHECK_QUADRATIC,
    lowered,
)
from workbench.models.certificates.question import problem_of
from workbench.models.evidence.progress import ProgressProof
from workbench.models.kernel.document import SCHEMA as KERNEL_SCHEMA
from workbench.models.lowering.normal_form import NormalForm, NotLoweredError

SCHEMA = "charon-workbench/certificate/2"
CHECKERS = (CHECK_POLYHEDRAL, CHECK_QUADRATIC, CHECK_PROGRESS)
"""The kernel's checkers: the word of the last is that a problem never blocks, that of the others
that it is safe."""
_SYSTEM_FIELDS = 6
_LINES = 5
"""Lists of lists of so many levels have a line for each element."""


@dataclass(frozen=True, slots=True)
class Legend:
    """What the numbers of a problem stand for: the variables of states (and of states after a
    jump), the types of those whose values are whole numbers, what else conditions mention, and
    the locations: those that were taken in, then the forbidden ones, which no run may enter."""

    states: tuple[str, ...]
    types: Mapping[str, str]
    inputs: tuple[str, ...]
    locations: tuple[str, ...]
    forbidden: tuple[str, ...]

    @classmethod
    def of(cls, form: NormalForm) -> Legend:
        """The names of a problem in normal form."""
        types = {n: str(kind) for n, kind in form.problem.types.items() if n in form.problem.names}
        taken, forbidden = form.locations[: form.taken], form.locations[form.taken :]
        return cls(tuple(form.states), types, form.inputs, tuple(taken), tuple(forbidden))


@dataclass(frozen=True)
class StandaloneCertificate:
    """Evidence for a problem, and the model and property that the problem is said to be of."""

    model: str
    model_sha256: str
    claim: str
    names: Legend
    document: Mapping[str, Any] = field(repr=False)

    @property
    def is_progress(self) -> bool:
        """Whether it is about progress, not safety."""
        return bool(self.document["checker"] == CHECK_PROGRESS)

    @property
    def problem(self) -> Any:
        """The problem in normal form, as plain data that nobody has looked at."""
        return self.document["problem"]


def is_system(problem: Any) -> bool:
    """Whether a problem is a system of two automata, the last two of its fields."""
    return isinstance(problem, list) and len(problem) == _SYSTEM_FIELDS


AnyCertificate: TypeAlias = Certificate | StandaloneCertificate


def standalone(automaton: Automaton, certificate: Certificate) -> StandaloneCertificate:
    """The certificate with the problem that it is about. `NotLoweredError` if the kernel cannot
    take it."""
    proof = certificate.proof
    head = certificate.model_sha256, certificate.claim
    is_progress = isinstance(proof, ProgressProof)
    problem = problem_of(automaton, certificate.claim, *head, is_progress)
    if isinstance(problem, Rejected):
        raise NotLoweredError(problem.why)
    form, content = lowered(problem, proof)
    return StandaloneCertificate(certificate.model, *head, Legend.of(form), content)


def certificate_text(automaton: Automaton, certificate: Certificate) -> str:
    """The text of a certificate that the checker accepts: one that stands alone, if the kernel
    takes its kind."""
    try:
        return written(standalone(automaton, certificate))
    except NotLoweredError:
        return encode(certificate)


def written(certificate: StandaloneCertificate) -> str:
    """The certificate as JSON text."""
    data: dict[str, Any] = {
        "schema": SCHEMA,
        "model": certificate.model,
        "model_sha256": certificate.model_sha256,
        "property": certificate.claim,
        "names": names_json(certificate.names),
    }
    head = "".join(f"{json.dumps(key)}: {json.dumps(data[key])},\n" for key in data)
    document = certificate.document
    parts = ",\n".join(f"{json.dumps(key)}: {_laid_out(document[key])}" for key in document)
    return f'{{{head}"document": {{\n{parts}}}}}\n'


def names_json(names: Legend) -> dict[str, Any]:
    """The names as JSON."""
    return {
        "states": list(names.states),
        "types": dict(names.types),
        "inputs": list(names.inputs),
        "locations": list(names.locations),
        "forbidden": list(names.forbidden),
    }


def _laid_out(value: Any, levels: int = _LINES) -> str:
    if levels and isinstance(value, list) and any(isinstance(item, list) for item in value):
        lines = ",\n".join(_laid_out(item, levels - 1) for item in value)
        return f"[{lines}]"
    return json.dumps(value, separators=(",", ":"))


def read_certificate(text: str | bytes) -> AnyCertificate:
    """The certificate in a JSON text, of either form."""
    raw = parsed(text)
    if not isinstance(raw, dict) or raw.get("schema") != SCHEMA:
        return decode(text)
    top = Reader(raw, "certificate")
    top.field("schema")
    head = top.text("model"), top.text("model_sha256"), top.text("property")
    names = _names(Reader(top.field("names"), "names"))
    document = _document(top.field("document"), names)
    top.finish()
    return StandaloneCertificate(*head, names, document)


def _names(reader: Reader) -> Legend:
    names = Legend(
        reader.each("states", read_text),
        reader.mapped("types", read_text),
        reader.each("inputs", read_text),
        reader.each("locations", read_text),
        reader.each("forbidden", read_text),
    )
    reader.finish()
    for what in (names.states, names.inputs, names.locations + names.forbidden):
        if len(set(what)) < len(what):
            raise MalformedCertificateError("names: a name is there twice")
    return names


def _document(raw: Any, names: Legend) -> dict[str, Any]:
    """What the kernel is to read, with as many locations as have names."""
    reader = Reader(raw, "document")
    if (schema := reader.text("schema")) != KERNEL_SCHEMA:
        raise MalformedCertificateError(f"document: schema {schema[:80]!r} is not {KERNEL_SCHEMA}")
    if (checker := reader.text("checker")) not in CHECKERS:
        known = ", ".join(CHECKERS)
        raise MalformedCertificateError(f"document: {checker[:80]!r} is none of {known}")
    problem = reader.field("problem")
    reader.field("evidence")
    reader.finish()
    automata = [problem]
    if checker == CHECK_PROGRESS:
        if not is_system(problem):
            raise MalformedCertificateError("document: the problem is no system of two automata")
        automata = problem[-2:]
    count = len(names.locations) + len(names.forbidden)
    for automaton in automata:
        if not isinstance(automaton, list) or not automaton or not isinstance(automaton[0], list):
            raise MalformedCertificateError(
                "document: the problem is no list of locations and starts"
            )
        if len(automaton[0]) != count:
            raise MalformedCertificateError(
                f"document: {len(automaton[0])} locations in the problem, and names for {count}"
            )
    return dict(raw)
