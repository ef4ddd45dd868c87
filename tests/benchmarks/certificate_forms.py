"""What certificates that stand alone cost, against those that need their model.

    python -m tests.benchmarks.certificate_forms platoon leaky_tank

For every property that is verified, a row of the table in docs/certificates.md: sizes, and processor
time for reading and checking, the best of three.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import workbench
from workbench.models.certificates.certificate import Certificate, decode, encode
from workbench.models.certificates.check import check, check_standalone
from workbench.models.certificates.judgement import Accepted
from workbench.models.certificates.standalone import (
    StandaloneCertificate,
    certificate_text,
    read_certificate,
)
from workbench.models.verdict import Verified


def best(work: Callable[[], object]) -> float:
    """Milliseconds of processor time."""
    found = []
    for _ in range(3):
        begun = time.process_time()
        work()
        found.append(time.process_time() - begun)
    return 1000 * min(found)


def row(name: str, certificate: Certificate) -> str | None:
    """A row, if the kernel knows the kind. Models are loaded anew, since they keep what is worked
    out of them."""
    first, claim = encode(certificate), certificate.claim
    second = certificate_text(workbench.load(name).automaton, certificate)
    if not isinstance(read_certificate(second), StandaloneCertificate):
        return None
    fresh = [workbench.load(name).automaton for _ in range(6)]

    def as_before() -> None:
        assert isinstance(check(fresh.pop(), claim, decode(first)), Accepted)

    def standing_alone() -> None:
        found = read_certificate(second)
        assert isinstance(found, StandaloneCertificate)
        assert isinstance(check_standalone(fresh.pop(), claim, found), Accepted)

    sizes = f"{len(first) / 1000:.1f} | {len(second) / 1000:.1f}"
    times = f"{best(as_before):.0f} | {best(standing_alone):.0f}"
    return f"| {name}: {claim} | {certificate.kind} | {sizes} | {times} |"


def main(models: list[str]) -> None:
    """Print the table."""
    for name in models:
        for verdict in workbench.load(name).verify(time_limit=60):
            decision = verdict.decision
            if isinstance(decision, Verified) and (line := row(name, decision.certificate)):
                print(line, flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
