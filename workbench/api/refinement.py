"""What is known about one system refining another, as a value with its proof."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from workbench.api.notebook import card
from workbench.api.rechecking import Rechecked, rechecked_refinement
from workbench.api.runs import Run
from workbench.api.work import Cancel, working
from workbench.models.counting import counted
from workbench.models.verdict import Verified

if TYPE_CHECKING:
    from workbench.abstraction.refinement.induction import Induction
    from workbench.abstraction.refinement.outcome import Failure, Step
    from workbench.abstraction.refinement.proof_tree import Proof
    from workbench.models.model import Model as Loaded


@dataclass(frozen=True)
class Refinement:
    """What is known about one system refining another: the proof, as a tree of steps."""

    proof: Proof = field(repr=False)
    detailed: Loaded = field(repr=False)
    abstract: Loaded = field(repr=False)
    observed: tuple[str, ...] = ()
    induction: Induction | None = field(repr=False, default=None)

    @property
    def outcome(self) -> str:
        """`refines`, `refuted` or `not proved`."""
        from workbench.reports.data.refinement import outcome_word

        found = outcome_word(self.proof)
        return found if self.holds or found != "refines" else "not proved"

    @property
    def holds(self) -> bool:
        """Whether the refinement is proved."""
        return self.proof.holds if self.induction is None else self.induction.holds

    @property
    def tree(self) -> Step:
        """The steps of the proof: `claim`, `rule`, and the steps `below`."""
        return self.proof.step if self.induction is None else self.induction.step

    @property
    def properties(self) -> dict[str, bool]:
        """Which properties of a step an induction verified for any number of them."""
        verdicts = () if self.induction is None else self.induction.verdicts
        return {verdict.claim: isinstance(verdict, Verified) for verdict in verdicts}

    @property
    def assuming(self) -> str:
        """What the surroundings have to keep, in words."""
        from workbench.abstraction.refinement.surroundings import assumed_of

        return assumed_of(self.detailed)

    @property
    def data(self) -> dict[str, Any]:
        """The proof as plain data."""
        from workbench.reports.data.refinement import proof_data

        if self.induction is None:
            return {"assuming": self.assuming, **proof_data(self.proof)}
        listed = [{"property": claim, "verified": yes} for claim, yes in self.properties.items()]
        found = {"holds": self.holds, "place": self.induction.place, "properties": listed}
        return {**found, **proof_data(self.proof), "outcome": self.outcome}

    @property
    def failures(self) -> tuple[Failure, ...]:
        """The obligations that are left, each at a state if one is known."""
        return getattr(self.proof.outcome, "failures", ())

    @property
    def counterexample(self) -> Run | None:
        """A run of the detailed system that the abstract one cannot match, if one is known."""
        from workbench.abstraction.refinement.outcome import Refuted

        found = self.proof.outcome
        return Run(found.trace) if isinstance(found, Refuted) else None

    @property
    def certificate(self) -> str | None:
        """The proof as the text of a file, if it holds."""
        from workbench.abstraction.refinement.induction_file import encode_induction
        from workbench.abstraction.refinement.proof_file import encode_proof

        if not self.holds:
            return None
        if self.induction is not None:
            return encode_induction(self.induction)
        return encode_proof(self.proof)

    def recheck(self, *, cancel: Cancel | None = None) -> Rechecked:
        """Apply the composition rules again and give every certificate to the checker; what only
        solvers decided is not accepted. Raises ValueError where nothing is proved."""
        if self.certificate is None:
            raise ValueError("the refinement is not proved: there is no certificate to check")
        text = self.certificate.encode()
        with working(None, cancel):
            return rechecked_refinement(self.detailed, self.abstract, text, self.observed)

    def html(self, detailed: str = "", abstract: str = "", command: str = "") -> str:
        """A page with the proof tree and the evidence; it may call the systems by other names,
        and tell the command that made it."""
        from workbench.reports.pages.refinement import Comparison, refinement_page

        compared = Comparison(
            detailed or self.detailed.name,
            abstract or self.abstract.name,
            self.detailed,
            self.abstract,
            self.proof,
            self.tree,
            self.holds,
            tuple(self._consequences),
            command,
        )
        return refinement_page(compared)

    def save(self, path: str | Path) -> Path:
        """Write the page (`.html`) or, of a proof, the certificate."""
        from workbench.api.saving import save

        if Path(path).suffix == ".html":
            return save(path, self.html())
        if self.certificate is None:
            raise ValueError("the refinement is not proved: there is no certificate to save")
        return save(path, self.certificate)

    def __str__(self) -> str:
        return self.in_words(self.detailed.name, self.abstract.name)

    def in_words(self, detailed: str, abstract: str) -> str:
        """The outcome, and the tree of the proof or what is left, with these names."""
        from workbench.reports.data.refinement import tree_lines

        if self.induction is not None and self.holds:
            lines = [f"{detailed}: any number of steps REFINES {abstract}", *tree_lines(self.tree)]
            return "\n  ".join([*lines, *self._consequences])
        lines = [f"{detailed} against {abstract}: {self._word.upper()}"]
        lines += tree_lines(self.proof.step) if self.proof.holds else []
        lines += self._refuted()
        if self.induction is not None and self.proof.holds:
            lines.append("but not every property of the step is verified: NOT PROVED")
        lines += self._consequences
        if self.induction is None and self.holds and self.assuming:
            lines.append(f"in surroundings that keep what it assumes: {self.assuming}")
        return "\n  ".join(lines)

    @property
    def _word(self) -> str:
        from workbench.reports.data.refinement import outcome_word

        return outcome_word(self.proof)

    @property
    def _consequences(self) -> list[str]:
        """What an induction says of the properties of a step."""
        if self.induction is None:
            return []
        horizon = self.induction.horizon
        proved = f"VERIFIED {'for all time' if horizon is None else f'up to time {horizon}'}"
        return [f"{c!r}: {proved if yes else 'UNKNOWN'}" for c, yes in self.properties.items()]

    def _refuted(self) -> list[str]:
        """The run that cannot be matched, and the obligations that are left."""
        from workbench.abstraction.refinement.outcome import Refuted
        from workbench.reports.data.refinement import failure_lines, state_text

        lines: list[str] = []
        outcome = self.proof.outcome
        if isinstance(outcome, Refuted):
            miss = outcome.mismatch
            lines += [
                f"a run of {counted(miss.jumps, 'jump')} cannot be matched after time"
                f" {miss.time:g}, in {miss.location}: {state_text(miss.values)}",
                f"{miss.why}; confirmed: {outcome.confirmed_by}",
            ]
        sources = {**self.detailed.sources, **self.abstract.sources}
        return lines + [line for f in self.failures for line in failure_lines(f, sources)]

    def __bool__(self) -> NoReturn:
        raise TypeError("a refinement has no truth value: ask .holds or .outcome")

    def __repr__(self) -> str:
        return f"<Refinement {self.detailed.name} against {self.abstract.name}: {self.outcome}>"

    def _repr_html_(self) -> str:
        first, *rest = str(self).split("\n")
        return card(self.outcome, first.removesuffix(f": {self._word.upper()}"), rest)
