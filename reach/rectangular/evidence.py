"""From explored places to a certificate: one region for each node, evidence by construction.

A region states no more than the proof needs. Safety, and jumps that are not possible, need
some statements of their nodes; a statement that is needed must hold after every jump that
leads to its node, which needs statements of the nodes before, and so on (`_Prover`). What is
not needed is left out: the invariant is larger than the set that was explored, and still one.

The `elapsed` set of a node is closed under time, so its constraints are kept by the flow with
the bounds of the derivatives as the only reason. Successors of a jump lie in a node of the
target; the factors that show it come from the polyhedra of single packs (`reach.sets.conic`). An
obligation for which this fails gets all statements of its node and is left to the general
search (`reach.evidence`). All of it is checked again by the trusted checker.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction

from workbench.models.automaton import primed
from workbench.models.checker.covers import Impossible, InCell, Region
from workbench.models.evidence.polyhedral import (
    Evidence,
    FacetReason,
    Kept,
    PolyhedralProof,
    obligations,
)
from workbench.models.linear import Multipliers
from workbench.reach.evidence import Unproved, evidence_for
from workbench.reach.rectangular.cases import Case, Condition
from workbench.reach.rectangular.exploration import Node
from workbench.reach.rectangular.flow import FlowReasons
from workbench.reach.rectangular.goals import Others, PartRows, Terms
from workbench.reach.rectangular.moves import Entries, Move, PackMove, Place
from workbench.reach.rectangular.rows import NOTHING_DEFINED, Resolved
from workbench.reach.rectangular.start_goals import StartRows
from workbench.reach.rectangular.statements import Part, Statements
from workbench.reach.rectangular.system import RectangularSystem

_ZERO = Fraction(0)


def prove_nodes(
    system: RectangularSystem, nodes: list[Node], stop: Callable[[], bool] = lambda: False
) -> PolyhedralProof | Unproved | None:
    """A proof with one region for each node, the first obligation without evidence, or None
    if it was told to stop."""
    prover = _Prover(system, nodes)
    if not prover.work(stop):
        return None
    regions = tuple(map(prover.region, range(len(nodes))))
    evidence = list(prover.evidence())
    if None in evidence:
        for number, obligation in enumerate(obligations(system.problem, regions)):
            if stop():
                return None
            if evidence[number] is None:
                evidence[number] = evidence_for(obligation)
            if evidence[number] is None:
                return Unproved(obligation)
    return PolyhedralProof(regions, tuple([piece for piece in evidence if piece is not None]))


@dataclass(eq=False)
class _Start:
    """A case of the initial states, all of which enter one node (None: that is not known)."""

    rows: StartRows
    target: int | None = None
    proofs: dict[int, Terms] = field(default_factory=dict)


@dataclass(eq=False)
class _Jump:
    """A case of a jump from a node: its successors lie in one node (None: that is not known)."""

    source: int
    move: Move
    others: Others
    target: int | None
    proofs: dict[int, Terms] = field(default_factory=dict)


_Leaving = _Jump | Terms | None
"""A jump that is possible, why it is not, or nothing that was found."""


class _Prover:
    """Which statements the regions need, and why they hold."""

    def __init__(self, system: RectangularSystem, nodes: list[Node]):
        self.system = system
        self.nodes = nodes
        self.statements = Statements(system.number_of)
        self.described = [self.statements.described(node, system.packs) for node in nodes]
        self.needed: list[set[int]] = [set() for _ in nodes]
        self.pending: list[tuple[int, int]] = []
        self.flow = FlowReasons(system, self.statements)
        self.kept: list[dict[int, list[tuple[FacetReason, Terms] | None]]] = [{} for _ in nodes]
        self.starts: list[_Start] = []
        self.leaving: list[list[_Leaving]] = []
        self.bad: list[list[Terms | None]] = []
        self.entering: list[list[_Start | _Jump]] = [[] for _ in nodes]
        self._order: list[dict[int, int]] = []
        self._others: dict[Condition, Others] = {}
        self._part_rows: dict[tuple[Others, Part, PackMove], PartRows] = {}
        self._at: dict[Place, list[int]] = {}
        for number, node in enumerate(nodes):
            self._at.setdefault(node.place, []).append(number)

    def work(self, stop: Callable[[], bool]) -> bool:
        """Find what is needed; False if it was told to stop."""
        self._begin()
        for number in range(len(self.nodes)):
            if stop():
                return False
            self.leaving.append([self._leave(number, c) for c in self._cases(number)])
            self.bad.append(list(self._safe(number)))
        count = 0
        while self.pending:
            count += 1
            if count % 64 == 0 and stop():
                return False
            self._hold(*self.pending.pop())
        self._order = [{s: i for i, s in enumerate(sorted(found))} for found in self.needed]
        return True

    # What needs what

    def _need(self, node: int, terms: Terms | None) -> None:
        """The statements of a node among the terms, or all it has if there are no terms."""
        here = self.needed[node]
        if terms is None:
            described = self.described[node]
            values = [number for pair in described.values for number in pair]
            wanted = {*described.homes, *values}
        else:
            wanted = {row for row, _ in terms if row >= 0}
        for number in wanted - here:
            here.add(number)
            self.pending.append((node, number))

    def _hold(self, node: int, number: int) -> None:
        """Why a statement that is needed holds: after all jumps, and while time passes."""
        reasons = self.kept[node][number] = list(self.flow.reasons(self.nodes[node].place, number))
        for reason in reasons:
            self._need(node, () if reason is None else reason[1])
        for entry in self.entering[node]:
            if entry.target is None:
                continue
            if isinstance(entry, _Start):
                proof = entry.rows.derived(self.statements.after(number))
            else:
                proof = self._after(entry, number)
                self._need(entry.source, proof)
            if proof is None:
                entry.target = None  # left to the general search
            else:
                entry.proofs[number] = proof

    # Initial states

    def _begin(self) -> None:
        found: dict[int, list[tuple[Place, Entries]]] = {}
        for number, place, entries in self.system.starts():
            found.setdefault(number, []).append((place, entries))
        cases = [rows for _, cases in self.system.problem.starts() for rows in cases]
        for number, rows in enumerate(cases):
            start = _Start(StartRows(rows))
            self.starts.append(start)
            entered = found.get(number, [])
            if len(entered) == 1:
                start.target = self._containing(*entered[0])
                if start.target is not None:
                    self.entering[start.target].append(start)

    def _containing(self, place: Place, entries: Entries) -> int | None:
        """The first node of a place that contains entries."""
        for number in self._at.get(place, ()):
            elapsed = self.nodes[number].elapsed
            if all(p.including(e) is p for p, e in zip(elapsed, entries, strict=True)):
                return number
        return None

    # Jumps and bad states

    def _cases(self, node: int) -> tuple[Case, ...]:
        return self.system.cases(self.nodes[node].place.location)

    def _leave(self, node: int, case: Case) -> _Leaving:
        here = self.nodes[node]
        others = self._others_of(case.condition, case.resolved)
        failing = case.condition.failing(here.place.values)
        if failing is not None:
            return self._used(node, others.refuted(failing, here.place.values))
        key = case.edge, case.case
        move = next(m for m in self.system.moves(here.place) if (m.edge, m.case) == key)
        entries = move.successors(here.states)
        if entries is None:
            return self._used(node, self._impossible(node, others, move.packs, move.numbers))
        jump = _Jump(node, move, others, self._containing(move.target, entries))
        if jump.target is None:
            self._need(node, None)
        else:
            self.entering[jump.target].append(jump)
        return jump

    def _safe(self, node: int) -> Iterator[Terms | None]:
        """Why no case of the bad set meets a node."""
        place = self.nodes[node].place
        possible = dict(self.system.bad(place))
        for number, condition in enumerate(self.system.bad_conditions(place.location)):
            others = self._others_of(condition)
            failing = condition.failing(place.values)
            if failing is not None:
                yield self._used(node, others.refuted(failing, place.values))
            else:
                placed = possible[number]
                moves = tuple(map(PackMove, placed.bounds))
                yield self._used(node, self._impossible(node, others, moves, placed.numbers))

    def _others_of(self, condition: Condition, known: Resolved | None = None) -> Others:
        """The other rows of an obligation."""
        found = self._others.get(condition)
        if found is None:
            further = known or Resolved(NOTHING_DEFINED, tuple(enumerate(condition.rows)))
            found = Others(condition.rows, further, self.statements)
            self._others[condition] = found
        return found

    def _used(self, node: int, terms: Terms | None) -> Terms | None:
        self._need(node, terms)
        return terms

    def _impossible(
        self,
        node: int,
        others: Others,
        packs: tuple[PackMove, ...],
        numbers: tuple[tuple[int, ...], ...],
    ) -> Terms | None:
        """Why the rows of a node and others have no common solution."""
        here = self.described[node]
        for part, pack, rows, states in zip(
            here.parts, packs, numbers, here.node.states, strict=True
        ):
            if pack.successors(states) is None:
                known = self._known(others, part, pack, rows)
                terms = known.contradiction(pack.bounds.strict, here.node.place.values)
                if terms is not None:
                    return terms
        return None

    def _known(
        self, others: Others, part: Part, pack: PackMove, numbers: tuple[int, ...]
    ) -> PartRows:
        key = others, part, pack
        found = self._part_rows.get(key)
        if found is None:
            found = PartRows.of(others, part, pack.extra, pack.bounds.rows, numbers)
            self._part_rows[key] = found
        return found

    def _after(self, jump: _Jump, number: int) -> Terms | None:
        """Why a statement of the target holds after a jump."""
        assert jump.target is not None
        values = self.nodes[jump.source].place.values
        bounded = self.statements.bounded.get(number)
        if bounded is not None:
            name, is_upper = bounded
            return jump.others.new_value(primed(name), is_upper, values)
        target = self.described[jump.target]
        k = target.homes[number]
        pack = jump.move.packs[k]
        source = self.described[jump.source].parts[k]
        known = self._known(jump.others, source, pack, jump.move.numbers[k])
        goal = self.statements.after(number)
        vector = pack.before(target.parts[k].vectors[number])
        return known.derived(vector, goal, values, pack.denominator)

    # What the checker is given, in its order

    def region(self, node: int) -> Region:
        """The statements that are needed of a node."""
        forms = tuple([self.statements.form(number) for number in self._order[node]])
        return Region(self.nodes[node].place.location, forms, ((1,) * len(forms),))

    def evidence(self) -> Iterator[Evidence | None]:
        """A piece for each obligation; None where there is none yet."""
        place_of = self._places()
        for start in self.starts:
            yield self._arrived(start, {}, place_of)
        for node, order in enumerate(self._order):
            for number in order:
                for reason in self.kept[node][number]:
                    if reason is None:
                        yield None
                    else:
                        yield Kept(reason[0], _ZERO, _placed(reason[1], order))
            for leaving in self.leaving[node]:
                if isinstance(leaving, _Jump):
                    yield self._arrived(leaving, order, place_of)
                else:
                    yield None if leaving is None else Impossible(_placed(leaving, order))
            for terms in self.bad[node]:
                yield None if terms is None else Impossible(_placed(terms, order))

    def _places(self) -> list[int]:
        """The numbers of the regions among those of their locations."""
        count: dict[str, int] = {}
        found: list[int] = []
        for node in self.nodes:
            found.append(count.get(node.place.location, 0))
            count[node.place.location] = found[-1] + 1
        return found

    def _arrived(
        self, entry: _Start | _Jump, order: dict[int, int], place_of: list[int]
    ) -> InCell | None:
        if entry.target is None:
            return None
        proofs = [_placed(entry.proofs[number], order) for number in self._order[entry.target]]
        return InCell(place_of[entry.target], 0, tuple(proofs))


def _placed(terms: Terms, order: dict[int, int]) -> Multipliers:
    """The terms by the numbers of an obligation's rows: statements first, then the others."""
    size = len(order)
    return tuple([(order[row] if row >= 0 else size + ~row, factor) for row, factor in terms])
