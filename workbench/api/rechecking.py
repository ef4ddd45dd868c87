"""Evidence looked at again: certificates by the trusted checker alone, runs by making them anew."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from workbench.api.asked import RequestError, path_of
from workbench.api.notebook import card
from workbench.models.counting import counted

if TYPE_CHECKING:
    from workbench.models.certificates.judgement import Accepted, Basis, Rejected
    from workbench.models.certificates.standalone import StandaloneCertificate
    from workbench.models.model import Model as Loaded

Judged: TypeAlias = Literal["accepted", "accepted in part", "not covered", "rejected"]

HOLDS = "every obligation holds"


@dataclass(frozen=True)
class Rechecked:
    """What a second look at the evidence said; true if it confirms all that is asked.

    `accepted in part` leaves obligations that only solvers decided, `not covered` is a proof of
    less than what is asked, and `rejected` is no proof. `facts` is the same as plain data.
    """

    outcome: Judged
    why: str
    obligations: int = 0
    seconds: float = 0.0
    failed: str = ""
    """The obligation that does not hold."""
    about: str = field(default="", repr=False)
    """What is claimed, to follow the name of the model."""
    notes: tuple[str, ...] = field(default=(), repr=False)
    facts: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @property
    def accepted(self) -> bool:
        """Whether it confirms all that is asked."""
        return self.outcome == "accepted"

    def __bool__(self) -> bool:
        return self.accepted

    @property
    def data(self) -> dict[str, Any]:
        """Everything as plain data."""
        said = {"why": self.why, "obligations": self.obligations, "failed": self.failed or None}
        return {"outcome": self.outcome, **said, "seconds": round(self.seconds, 4), **self.facts}

    def in_words(self, label: str) -> str:
        """The outcome, with this name for what it is about."""
        if self.outcome == "rejected":
            return f"{label}: REJECTED{f' at {self.failed}' if self.failed else ''}: {self.why}"
        spent = f"({counted(self.obligations, 'obligation')}, {self.seconds:.2f} s)"
        line = {
            "accepted": f"ACCEPTED {spent}",
            "accepted in part": f"checked {spent}; {self.why}: UNKNOWN",
            "not covered": f"UNKNOWN: {self.why} {spent}",
        }[self.outcome]
        return "\n  ".join([f"{label}{self.about}: {line}", *self.notes])

    def __str__(self) -> str:
        return self.in_words("the evidence")

    def __repr__(self) -> str:
        return f"<Rechecked {self.outcome}: {self.why}>"

    def _repr_html_(self) -> str:
        proved = f"{counted(self.obligations, 'obligation')}, {self.seconds:.2f} s"
        where = [f"at {self.failed}"] if self.failed else []
        title = self.about.lstrip(":, ")
        return card(self.outcome, title, [self.why, *where, proved, *self.notes])


def rejected(found: Rejected, seconds: float, facts: Mapping[str, Any] | None = None) -> Rechecked:
    """What the checker refuses."""
    return Rechecked("rejected", found.why, 0, seconds, found.obligation, facts=facts or {})


def content_of(certificate: str | Path | bytes) -> bytes:
    """The content of a file, as far as certificates go, or what is given as such: bytes, or a text
    in braces."""
    from workbench.models.certificates.certificate import MAX_BYTES

    if isinstance(certificate, bytes):
        return certificate
    if isinstance(certificate, str) and certificate.lstrip().startswith("{"):
        return certificate.encode()
    with path_of("certificate", certificate).open("rb") as file:
        return file.read(MAX_BYTES + 1)


def rechecked(
    loaded: Loaded, text: str | bytes, horizon: Fraction | None, claim: str | None = None
) -> Rechecked:
    """What the trusted checker says of a certificate, for the property that it names or for the
    one that is asked for, and up to the horizon that is asked for, by default the model's."""
    from workbench.models.certificates.certificate import MalformedCertificateError
    from workbench.models.certificates.check import check, check_standalone
    from workbench.models.certificates.judgement import Rejected
    from workbench.models.certificates.standalone import StandaloneCertificate, read_certificate

    automaton = loaded.automaton
    begun = time.perf_counter()
    name = claim
    compared = False
    judgement: Accepted | Rejected
    try:
        found = read_certificate(text)
        name = claim or found.claim
        compared = isinstance(found, StandaloneCertificate)
        if isinstance(found, StandaloneCertificate):
            judgement = check_standalone(automaton, name, found)
        else:
            judgement = check(automaton, name, found)
    except MalformedCertificateError as error:
        judgement = Rejected("format", str(error))
    seconds = time.perf_counter() - begun
    asked = automaton.horizon if horizon is None else horizon
    facts = {
        "model_sha256": automaton.sha256,
        "property": name,
        "horizon": None,
        "asked_horizon": None if asked is None else str(asked),
        "assumptions": list(loaded.closed_by),
    }
    if isinstance(judgement, Rejected):
        return rejected(judgement, seconds, facts)
    facts["problem"] = "compared" if compared else "derived"
    return _accepted(judgement, str(name), asked, seconds, loaded.closed_by, facts)


def _accepted(
    judgement: Accepted,
    claim: str,
    asked: Fraction | None,
    seconds: float,
    closed_by: Sequence[str],
    facts: Mapping[str, Any],
) -> Rechecked:
    """What is proved, beside what is asked."""
    proved = judgement.horizon
    basis = judgement.basis
    facts = {
        **facts,
        "horizon": None if proved is None else str(proved),
        "checked_by": basis.name,
        "not_by_the_kernel": basis.missing or None,
    }
    halves = _halves(basis, facts["problem"] == "compared")
    assuming = (*halves, *(f"assuming that {text}" for text in closed_by))
    scope = "for all time" if proved is None else f"up to {proved}"
    found = Rechecked(
        "accepted",
        HOLDS,
        judgement.obligations,
        seconds,
        about=f": {claim!r} {scope}",
        notes=assuming,
        facts=facts,
    )
    if proved is None or (asked is not None and asked <= proved):
        return found
    whole = "all time is asked for" if asked is None else f"the time up to {asked} is asked for"
    return replace(
        found,
        outcome="not covered",
        why=f"the certificate is valid, but only up to {proved}; {whole}",
        about=f": {claim!r}",
        notes=(*assuming, f"hint: --horizon {proved} asks for no more than it proves"),
    )


def _halves(basis: Basis, compared: bool) -> tuple[str, ...]:
    """Who looked at which half: that the problem is the model's, and that it is proved."""
    if compared:
        return (
            "the problem is the model's: it was lowered again, and is the same",
            f"the evidence proves it: {basis.words}",
        )
    if basis.kernel:
        return (f"the problem is the model's, lowered here; the evidence proves it: {basis.words}",)
    return (f"the problem is the model's, and the evidence proves it: {basis.words}",)


def recheck(certificate: str | Path | bytes) -> Rechecked:
    """Have the kernel look at a certificate that stands alone, a file or its content,
    without its model: whether the evidence proves the problem in it. Of which model that is the
    problem, nobody looks at, so this accepts in part only.
    """
    from workbench.models.certificates.certificate import MalformedCertificateError
    from workbench.models.certificates.check import check_alone
    from workbench.models.certificates.judgement import Rejected

    text = content_of(certificate)
    refuse_other_files(text)
    begun = time.perf_counter()
    try:
        found = _standing_alone(text)
        judgement = check_alone(found)
    except MalformedCertificateError as error:
        return rejected(Rejected("format", str(error)), time.perf_counter() - begun)
    seconds = time.perf_counter() - begun
    facts = {"model_sha256": found.model_sha256, "property": found.claim}
    if isinstance(judgement, Rejected):
        return rejected(judgement, seconds, facts)
    basis = judgement.basis
    return Rechecked(
        "accepted in part",
        "the evidence proves the problem, and of which model it is was not checked",
        judgement.obligations,
        seconds,
        notes=(
            f"the problem is said to be that of {found.model!r} and {found.claim!r}: not checked;"
            " workbench recheck MODEL CERTIFICATE compares it with the model's",
            f"the evidence proves it: {basis.words}",
        ),
        facts={**facts, "problem": "not checked", "checked_by": basis.name},
    )


def _standing_alone(text: bytes) -> StandaloneCertificate:
    from workbench.models.certificates.standalone import StandaloneCertificate, read_certificate

    found = read_certificate(text)
    if isinstance(found, StandaloneCertificate):
        return found
    raise RequestError(
        f"the evidence of a {found.kind} certificate of this form says nothing without the model;"
        " name the model, too: workbench recheck MODEL CERTIFICATE"
    )


def coq_proof(loaded: Loaded, text: bytes) -> str:
    """A Coq file that proves that the problem of a certificate, which is this model's, is safe, or
    that it never blocks."""
    from workbench.models.certificates.standalone import (
        StandaloneCertificate,
        read_certificate,
        standalone,
    )
    from workbench.models.kernel.coq_text import proof_file
    from workbench.models.lowering.normal_form import NotLoweredError

    judged = rechecked(loaded, text, None)
    if judged.outcome == "rejected":
        raise RequestError(f"the certificate is rejected at {judged.failed}: {judged.why}")
    given = read_certificate(text)
    if isinstance(given, StandaloneCertificate):
        return proof_file(given.document, _notes(given))
    try:
        found = standalone(loaded.automaton, given)
    except NotLoweredError as error:
        raise RequestError(
            f"{error}: a {given.kind} certificate cannot be written as a proof in Coq"
        ) from None
    return proof_file(found.document, _notes(found))


def _notes(certificate: StandaloneCertificate) -> list[str]:
    """What the numbers in a Coq file stand for."""
    names = certificate.names
    said = "runs never block" if certificate.is_progress else "no run comes to a bad state"
    return [
        f"Model {certificate.model} (SHA-256 {certificate.model_sha256}),",
        f"property {certificate.claim!r}: {said}.",
        "",
        "What the numbers below stand for, each counted from 0",
        *_numbered("state", names.states),
        *_numbered("input", names.inputs),
        *_numbered("location", names.locations + names.forbidden),
    ]


def _numbered(what: str, names: Sequence[str]) -> list[str]:
    return [f"  {what} {number}: {name}" for number, name in enumerate(names)]


# Certificates about two models

_REFINEMENTS = tuple(
    f"charon-workbench/{kind}/".encode() for kind in ("refinement", "refinement-proof", "induction")
)
"""The schemas of certificates about two models."""


def refuse_other_files(text: bytes) -> None:
    """Ask for the other model where a certificate is about two, and send runs to be replayed."""
    from workbench.models.trace_files import SCHEMA

    if SCHEMA.encode() in text[:100]:
        raise RequestError(
            "this is a run, not a certificate; replay it: `workbench simulate MODEL --replay FILE`"
            " (model.replay(file))"
        )
    if any(schema in text[:100] for schema in _REFINEMENTS):
        raise RequestError(
            "the certificate is of a refinement, which is about two models; name the simple"
            " system: --against ABSTRACT[:AGENT] (against=...)"
        )


def rechecked_refinement(
    detailed: Loaded, abstract: Loaded, text: bytes, observed: tuple[str, ...]
) -> Rechecked:
    """Apply the composition rules again and give every certificate to the trusted checker."""
    from workbench.abstraction.refinement.induction_file import is_induction
    from workbench.abstraction.refinement.proof_file import check_proof
    from workbench.abstraction.refinement.surroundings import assumed_of
    from workbench.models.certificates.judgement import Rejected

    if is_induction(text):
        return _rechecked_induction(detailed, abstract, text)
    begun = time.perf_counter()
    judgement = check_proof(detailed, abstract, text, observed)
    seconds = time.perf_counter() - begun
    if isinstance(judgement, Rejected):
        return rejected(judgement, seconds)
    assuming = assumed_of(detailed)
    facts = {
        "assumed": judgement.assumed,
        "reach": judgement.reach,
        "observed": list(judgement.observed),
        "assuming": assuming,
    }
    kept = (f"in surroundings that keep what it assumes: {assuming}",) if assuming else ()
    about = f", observing {', '.join(judgement.observed) or 'nothing'}"
    total = judgement.obligations + judgement.reach
    return _with_solvers(judgement.assumed, total, seconds, about, kept, facts)


def _rechecked_induction(step: Loaded, contract: Loaded, text: bytes) -> Rechecked:
    """The theorem's side conditions and every certificate of a proof by induction."""
    from workbench.abstraction.refinement.induction_file import check_induction
    from workbench.models.certificates.judgement import Rejected

    begun = time.perf_counter()
    judgement = check_induction(step, contract, text)
    seconds = time.perf_counter() - begun
    if isinstance(judgement, Rejected):
        return rejected(judgement, seconds)
    horizon, assumed = judgement.horizon, judgement.refinement.assumed
    facts = {
        "place": judgement.place,
        "properties": list(judgement.properties),
        "horizon": None if horizon is None else str(horizon),
        "assumed": assumed,
    }
    scope = "for all time" if horizon is None else f"up to time {horizon}"
    named = ", ".join(map(repr, judgement.properties)) or "no property"
    about = f", for any number of steps, with {named} {scope}"
    return _with_solvers(assumed, judgement.obligations, seconds, about, (), facts)


def _with_solvers(
    assumed: int,
    total: int,
    seconds: float,
    about: str,
    notes: tuple[str, ...],
    facts: Mapping[str, Any],
) -> Rechecked:
    """What was checked, some of which only solvers decided."""
    outcome: Judged = "accepted in part" if assumed else "accepted"
    why = f"{counted(assumed, 'obligation')} more rest{'s' * (assumed == 1)} on solvers alone"
    return Rechecked(
        outcome,
        why if assumed else HOLDS,
        total,
        seconds,
        about=about,
        notes=notes,
        facts=facts,
    )
