"""What a certificate has to prove: the linear view of the model and the property that it names."""

from __future__ import annotations

from workbench.models.automaton import NEVER_BLOCKS, Automaton, Property, PropertyKind
from workbench.models.certificates.judgement import Rejected
from workbench.models.expressions.expression import TRUE
from workbench.models.lowering.problem import LinearProblem, linear_problem
from workbench.models.well_formed import fault_of


def problem_of(
    automaton: Automaton,
    property_name: str,
    model_sha256: str,
    claim: str,
    is_progress: bool,
) -> LinearProblem | Rejected:
    """The linear view of what is to be proved, if a certificate with such a head is about it: it
    names this model and this property, which is progress if the certificate is of that kind."""
    if model_sha256 != automaton.sha256:
        return Rejected("model", "the certificate was made for another model")
    if claim != property_name:
        return Rejected("property", f"the certificate is for {claim!r}")
    asked = next((p for p in automaton.properties if p.name == property_name), None)
    if asked is None and property_name == NEVER_BLOCKS:
        asked = Property(NEVER_BLOCKS, TRUE, PropertyKind.PROGRESS)
    if asked is None:
        return Rejected("property", f"the model has no property {property_name!r}")
    if why := fault_of(automaton):
        return Rejected("model", why)
    if is_progress != (asked.kind is PropertyKind.PROGRESS):
        return Rejected("kind", "the certificate is for another kind of property")
    return linear_problem(automaton, asked)
