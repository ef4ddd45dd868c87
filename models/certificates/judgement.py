"""What is said about a certificate: accepted, and on whose word, or rejected, and where."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Basis:
    """Who accepted a certificate: the kernel, but for what is `missing`, or the checker that was
    written by hand, and then `missing` says why."""

    kernel: bool
    missing: str = ""

    @property
    def name(self) -> str:
        """For machines: `kernel`, `kernel and checker`, or `checker`."""
        if self.kernel:
            return "kernel and checker" if self.missing else "kernel"
        return "checker"

    @property
    def words(self) -> str:
        """For people, to follow "accepted by"."""
        if self.kernel:
            kernel = "the kernel, whose soundness is proved in Coq"
            return f"{kernel}; {self.missing}" if self.missing else kernel
        return f"the trusted checker; {self.missing}" if self.missing else "the trusted checker"


BY_KERNEL = Basis(True)
BY_KERNEL_WHERE_RUNS_COME = Basis(
    True, "that runs go on in all states but those that it excludes: the trusted checker"
)
"""The kernel says that no run comes to a state of the problem's that is bad; that runs can go on in
all others is the theorem of `models.lowering.stuck`, which is proved on paper only."""
BY_CHECKER = Basis(False, "the kernel does not know such proofs yet")


@dataclass(frozen=True, slots=True)
class Accepted:
    """The property holds in every reachable state, for all time or up to a horizon."""

    obligations: int
    basis: Basis
    horizon: Fraction | None = None


@dataclass(frozen=True, slots=True)
class Rejected:
    """The certificate proves nothing: the first obligation that fails, and why."""

    obligation: str
    why: str


Judgement: TypeAlias = Accepted | Rejected
