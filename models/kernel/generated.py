"""The kernel: check_polyhedral; generated from models/kernel/theory, do not edit.

Made by models/kernel/translation from what Coq 8.16 extracts. Whole numbers are integers, a list
is nothing or a pair (head, tail), a rational a pair (numerator, denominator > 0). What is given to
these functions must be of their types: models/kernel/decode.py sees to it.
"""

from collections import namedtuple
from math import gcd


def ggcd(a, b):
    """The greatest common divisor, and both numbers divided by it."""
    g = gcd(a, b)
    return (g, (a // g, b // g)) if g else (0, (0, 0))


def to_pos(a):
    """A positive number: 1 in place of those that are not."""
    return a if a > 0 else 1


# option: value : A
Some = namedtuple("Some", "value")


# form: constant : q; state_part : list q; next_part : list q; input_part : list q
Form = namedtuple("Form", "constant state_part next_part input_part")


# row: row_form : form; strict : bool
Row = namedtuple("Row", "row_form strict")


# dynamics: rates : list form; rate_rows : list row
Dynamics = namedtuple("Dynamics", "rates rate_rows")


# edge: target : nat; relation : cases
Edge = namedtuple("Edge", "target relation")


# location: invariant : cases; flows : list dynamics; edges : list edge; bad : cases
Location = namedtuple("Location", "invariant flows edges bad")


# automaton: locations : list location; starts : list (prod nat cases)
Automaton = namedtuple("Automaton", "locations starts")


# affine: intercept : q; gradient : list q
Affine = namedtuple("Affine", "intercept gradient")


# cell: signs : list bool; part : list affine
Cell = namedtuple("Cell", "signs part")


# region: predicates : list affine; cells : list cell; exits : list affine; margin : q
Region = namedtuple("Region", "predicates cells exits margin")


# facet: mu : q; ms : multipliers; ns : multipliers
Inward = namedtuple("Inward", "mu ms ns")


# facet: mu : q; ms : multipliers; ns : multipliers
Empty = namedtuple("Empty", "mu ms ns")


# facet: ns : multipliers
Implied = namedtuple("Implied", "ns")


# facet: n : nat; proofs : list (prod (prod q multipliers) multipliers)
HandedOver = namedtuple("HandedOver", "n proofs")


# cover: ms : multipliers
Impossible = namedtuple("Impossible", "ms")


# cover: g : nat; n : nat; proofs : list multipliers
InCell = namedtuple("InCell", "g n proofs")


# cover: h : affine; strict_below : bool; below : cover; above : cover
Split = namedtuple("Split", "h strict_below below above")


# region_evidence: region_of : region; facets : list (list (list (list facet))); exit_covers : list (list (list (list cover))); jump_covers : list (list (list cover)); safety : list (list multipliers)
RegionEvidence = namedtuple("RegionEvidence", "region_of facets exit_covers jump_covers safety")


# polyhedral_certificate: start_covers : list (list cover); region_evidences : list (list region_evidence)
PolyhedralCertificate = namedtuple("PolyhedralCertificate", "start_covers region_evidences")


def negb(b):
    """bool -> bool"""
    return not b


def length(l):
    """list A -> nat"""
    waiting = []
    while True:
        if l is None:
            result = 0
            break
        l1 = l[1]
        waiting.append(True)
        l = l1
    while waiting:
        waiting.pop()
        result = result + 1
    return result


def app(l, m):
    """list A -> list A -> list A"""
    waiting = []
    while True:
        if l is None:
            result = m
            break
        a, l1 = l
        waiting.append(a)
        l = l1
    while waiting:
        a = waiting.pop()
        result = (a, result)
    return result


def eqb(b1, b2):
    """bool -> bool -> bool"""
    if b1:
        return b2
    return not b2


def nth(n, l, default):
    """nat -> list A -> A -> A"""
    while True:
        if n == 0:
            if l is None:
                return default
            x = l[0]
            return x
        m = n - 1
        if l is None:
            return default
        t = l[1]
        n, l = m, t


def nth_error(l, n):
    """list A -> nat -> option A"""
    while True:
        if n == 0:
            if l is None:
                return None
            x = l[0]
            return Some(x)
        n0 = n - 1
        if l is None:
            return None
        l0 = l[1]
        l, n = l0, n0


def map_(f, l):
    """(A -> B) -> list A -> list B"""
    waiting = []
    while True:
        if l is None:
            result = None
            break
        a, t = l
        waiting.append(a)
        l = t
    while waiting:
        a = waiting.pop()
        result = (f(a), result)
    return result


def fold_right(f, a0, l):
    """(B -> A -> A) -> A -> list B -> A"""
    waiting = []
    while True:
        if l is None:
            result = a0
            break
        b, t = l
        waiting.append(b)
        l = t
    while waiting:
        b = waiting.pop()
        result = f(b)(result)
    return result


def forallb(f, l):
    """(A -> bool) -> list A -> bool"""
    while True:
        if l is None:
            return True
        a, l0 = l
        if not f(a):
            return False
        l = l0


def qeq_bool(x, y):
    """q -> q -> bool"""
    return x[0] * y[1] == y[0] * x[1]


def qle_bool(x, y):
    """q -> q -> bool"""
    return x[0] * y[1] <= y[0] * x[1]


def qplus(x, y):
    """q -> q -> q"""
    return (x[0] * y[1] + y[0] * x[1], x[1] * y[1])


def qmult(x, y):
    """q -> q -> q"""
    return (x[0] * y[0], x[1] * y[1])


def qopp(x):
    """q -> q"""
    return (-x[0], x[1])


def qred(q0):
    """q -> q"""
    q1, q2 = q0
    r1, r2 = ggcd(q1, q2)[1]
    return (r1, to_pos(r2))


def qplus_(p, q0):
    """q -> q -> q"""
    return qred(qplus(p, q0))


def qmult_(p, q0):
    """q -> q -> q"""
    return qred(qmult(p, q0))


zero_form = Form((0, 1), None, None, None)


def vector_sum(a, b):
    """list q -> list q -> list q"""
    waiting = []
    while True:
        if a is None:
            result = b
            break
        p, a1 = a
        if b is None:
            result = a
            break
        q0, b1 = b
        waiting.append((p, q0))
        a, b = a1, b1
    while waiting:
        p, q0 = waiting.pop()
        result = (qplus_(p, q0), result)
    return result


def vector_scaled(m, a):
    """q -> list q -> list q"""
    return map_(lambda x: qmult_(m, x), a)


def form_sum(f, g):
    """form -> form -> form"""
    return Form(
        qplus_(f.constant, g.constant),
        vector_sum(f.state_part, g.state_part),
        vector_sum(f.next_part, g.next_part),
        vector_sum(f.input_part, g.input_part),
    )


def form_scaled(m, f):
    """q -> form -> form"""
    return Form(
        qmult_(m, f.constant),
        vector_scaled(m, f.state_part),
        vector_scaled(m, f.next_part),
        vector_scaled(m, f.input_part),
    )


def is_zero(q0):
    """q -> bool"""
    return qeq_bool(q0, (0, 1))


def is_nonneg(q0):
    """q -> bool"""
    return qle_bool((0, 1), q0)


def is_positive(q0):
    """q -> bool"""
    return negb(qle_bool(q0, (0, 1)))


def is_constant(f):
    """form -> bool"""
    return (
        forallb(is_zero, f.state_part)
        and forallb(is_zero, f.next_part)
        and forallb(is_zero, f.input_part)
    )


def all_nonneg(ms):
    """multipliers -> bool"""
    return forallb(is_nonneg, ms)


def combination(ms, fs):
    """multipliers -> list form -> form"""
    waiting = []
    while True:
        if ms is None:
            result = zero_form
            break
        m, ms1 = ms
        if fs is None:
            result = zero_form
            break
        f, fs1 = fs
        if is_zero(m):
            ms, fs = ms1, fs1
            continue
        waiting.append((f, m))
        ms, fs = ms1, fs1
    while waiting:
        f, m = waiting.pop()
        result = form_sum(form_scaled(m, f), result)
    return result


def forms(rows):
    """list row -> list form"""
    return map_(lambda r: r.row_form, rows)


def uses_strict(ms, rows):
    """multipliers -> list row -> bool"""
    while True:
        if ms is None:
            return False
        m, ms1 = ms
        if rows is None:
            return False
        r, rows1 = rows
        if is_positive(m) and r.strict:
            return True
        ms, rows = ms1, rows1


def refutes(rows, ms):
    """list row -> multipliers -> bool"""
    f = combination(ms, forms(rows))
    return (
        all_nonneg(ms)
        and is_constant(f)
        and (is_positive(f.constant) or is_nonneg(f.constant) and uses_strict(ms, rows))
    )


def implies(rows, goal, ms):
    """list row -> form -> multipliers -> bool"""
    f = form_sum(combination(ms, forms(rows)), form_scaled((-1, 1), goal))
    return all_nonneg(ms) and is_constant(f) and is_nonneg(f.constant)


def all2(fits, l, m):
    """(A -> B -> bool) -> list A -> list B -> bool"""
    while True:
        if l is None:
            if m is None:
                return True
            return False
        a, l1 = l
        if m is None:
            return False
        b, m1 = m
        if not fits(a)(b):
            return False
        l, m = l1, m1


def before(h):
    """affine -> form"""
    return Form(h.intercept, h.gradient, None, None)


def after(h):
    """affine -> form"""
    return Form(h.intercept, None, h.gradient, None)


def rows_before(hs):
    """list affine -> list row"""
    return map_(lambda h: Row(before(h), False), hs)


def opposite(h):
    """affine -> affine"""
    return Affine(qopp(h.intercept), map_(qopp, h.gradient))


def signed(s, hs):
    """list bool -> list affine -> list affine"""
    waiting = []
    while True:
        if s is None:
            result = None
            break
        b, s1 = s
        if hs is None:
            result = None
            break
        h, hs1 = hs
        waiting.append((b, h))
        s, hs = s1, hs1
    while waiting:
        b, h = waiting.pop()
        if b:
            value = h
        else:
            value = opposite(h)
        result = (value, result)
    return result


def walls(g, c):
    """region -> cell -> list affine"""
    return app(signed(c.signs, g.predicates), c.part)


def borders(g, c):
    """region -> cell -> list affine"""
    return app(walls(g, c), g.exits)


def moved_in(g, h):
    """region -> affine -> affine"""
    return Affine(qplus(h.intercept, g.margin), h.gradient)


def inner_borders(g, c):
    """region -> cell -> list affine"""
    return app(walls(g, c), map_(lambda x: moved_in(g, x), g.exits))


def check_cover(place, goals, gs, rows, e):
    """(affine -> form) -> (region -> cell -> list affine) -> list region -> list row -> cover -> bool"""
    while True:
        match e:
            case Impossible(ms):
                return refutes(rows, ms)
            case InCell(g, n, proofs):
                found = nth_error(gs, g)
                if found is not None:
                    g0 = found.value
                    found1 = nth_error(g0.cells, n)
                    if found1 is not None:
                        c = found1.value
                        return all2(
                            lambda h, rows=rows: lambda ms1: implies(rows, place(h), ms1),
                            goals(g0)(c),
                            proofs,
                        )
                    return False
                return False
            case Split(h1, strict_below, below, above):
                if not check_cover(
                    place,
                    goals,
                    gs,
                    app(rows, (Row(place(h1), strict_below), None)),
                    below,
                ):
                    return False
                rows, e = (
                    app(rows, (Row(form_scaled((-1, 1), place(h1)), negb(strict_below)), None)),
                    above,
                )
                continue


def along(c, ds):
    """list q -> list form -> form"""
    waiting = []
    while True:
        if c is None:
            result = zero_form
            break
        a, c1 = c
        if ds is None:
            result = zero_form
            break
        d, ds1 = ds
        waiting.append((a, d))
        c, ds = c1, ds1
    while waiting:
        a, d = waiting.pop()
        result = form_sum(form_scaled(a, d), result)
    return result


def facet_bound(own, r, known, mu, ms, ns):
    """list affine -> affine -> list row -> q -> multipliers -> multipliers -> form"""
    return form_sum(
        form_sum(form_scaled(mu, before(r)), combination(ms, forms(rows_before(own)))),
        combination(ns, forms(known)),
    )


def sum_(l):
    """list q -> q"""
    return fold_right(lambda x: lambda x1: qplus_(x, x1), (0, 1), l)


def check_beyond(own, r, known, k, proof):
    """list affine -> affine -> list row -> affine -> prod (prod q multipliers) multipliers -> bool"""
    p, ns = proof
    mu, ms = p
    f = form_sum(facet_bound(own, r, known, mu, ms, ns), form_scaled((-1, 1), before(k)))
    return (
        all_nonneg(ms)
        and all_nonneg(ns)
        and is_constant(f)
        and (
            is_positive(f.constant)
            or is_nonneg(f.constant) and qle_bool(qplus(mu, sum_(ms)), (1, 1))
        )
    )


def flip(p, s):
    """nat -> list bool -> list bool"""
    waiting = []
    while True:
        if p == 0:
            if s is None:
                result = None
                break
            b, s1 = s
            result = (negb(b), s1)
            break
        p1 = p - 1
        if s is None:
            result = None
            break
        b1, s2 = s
        waiting.append(b1)
        p, s = p1, s2
    while waiting:
        b1 = waiting.pop()
        result = (b1, result)
    return result


def same_signs(s, t):
    """list bool -> list bool -> bool"""
    while True:
        if s is None:
            if t is None:
                return True
            return False
        b, s1 = s
        if t is None:
            return False
        c, t1 = t
        if not eqb(b, c):
            return False
        s, t = s1, t1


def check_facet(g, c, p, r, rows, d, e):
    """region -> cell -> nat -> affine -> list row -> dynamics -> facet -> bool"""
    own = walls(g, c)
    known = app(app(rows, rows_before(g.exits)), d.rate_rows)
    match e:
        case Inward(mu, ms, ns):
            f = form_sum(
                facet_bound(own, r, known, mu, ms, ns),
                form_scaled((-1, 1), along(r.gradient, d.rates)),
            )
            return (
                all_nonneg(ms)
                and all_nonneg(ns)
                and is_constant(f)
                and is_nonneg(f.constant)
            )
        case Empty(mu1, ms1, ns1):
            f1 = facet_bound(own, r, known, mu1, ms1, ns1)
            return (
                all_nonneg(ms1)
                and all_nonneg(ns1)
                and is_constant(f1)
                and is_positive(f1.constant)
            )
        case Implied(ns2):
            return implies(known, before(r), ns2)
        case HandedOver(n, proofs):
            found = nth_error(g.cells, n)
            if found is not None:
                d0 = found.value
                return (
                    same_signs(d0.signs, flip(p, c.signs))
                    and p < length(signed(c.signs, g.predicates))
                    and all2(
                        lambda x: lambda x1: check_beyond(own, r, rows, x, x1),
                        d0.part,
                        proofs,
                    )
                )
            return False


def not_strict(r):
    """row -> row"""
    return Row(r.row_form, False)


def exit_rows(g, c, h, rows, d):
    """region -> cell -> affine -> list row -> dynamics -> list row"""
    return app(
        rows_before(borders(g, c)),
        app(
            map_(not_strict, app(rows, d.rate_rows)),
            (
                Row(form_scaled((-1, 1), before(h)), False),
                (Row(form_scaled((-1, 1), along(h.gradient, d.rates)), False), None),
            ),
        ),
    )


def numbered(n, l):
    """nat -> list A -> list (prod nat A)"""
    waiting = []
    while True:
        if l is None:
            result = None
            break
        a, l1 = l
        waiting.append((a, n))
        n, l = n + 1, l1
    while waiting:
        a, n = waiting.pop()
        result = ((n, a), result)
    return result


def regions_of(cert, l):
    """polyhedral_certificate -> nat -> list region"""
    return map_(lambda r: r.region_of, nth(l, cert.region_evidences, None))


def check_facets(l, g, e):
    """location -> region -> region_evidence -> bool"""
    return all2(
        lambda c: lambda x2: all2(
            lambda pr: lambda x1: all2(
                lambda rows: lambda x: all2(
                    lambda x3: lambda x4: check_facet(g, c, pr[0], pr[1], rows, x3, x4),
                    l.flows,
                    x,
                ),
                l.invariant,
                x1,
            ),
            numbered(0, walls(g, c)),
            x2,
        ),
        g.cells,
        e.facets,
    )


def check_exits(gs, l, g, e):
    """list region -> location -> region -> region_evidence -> bool"""
    given = g.exits
    if given is None:
        value = True
    else:
        value = is_positive(g.margin)
    return (
        value
        and all2(
            lambda c: lambda x3: all2(
                lambda h: lambda x2: all2(
                    lambda rows: lambda x1: all2(
                        lambda d: lambda x: check_cover(
                            before,
                            lambda x4: lambda x5: inner_borders(x4, x5),
                            gs,
                            exit_rows(g, c, h, rows, d),
                            x,
                        ),
                        l.flows,
                        x1,
                    ),
                    l.invariant,
                    x2,
                ),
                g.exits,
                x3,
            ),
            g.cells,
            e.exit_covers,
        )
    )


def check_jumps(cert, l, g, e):
    """polyhedral_certificate -> location -> region -> region_evidence -> bool"""
    return all2(
        lambda c: lambda x2: all2(
            lambda j: lambda x1: all2(
                lambda rows: lambda x: check_cover(
                    after,
                    lambda x3: lambda x4: borders(x3, x4),
                    regions_of(cert, j.target),
                    app(rows_before(borders(g, c)), rows),
                    x,
                ),
                j.relation,
                x1,
            ),
            l.edges,
            x2,
        ),
        g.cells,
        e.jump_covers,
    )


def check_safety(l, g, e):
    """location -> region -> region_evidence -> bool"""
    return all2(
        lambda c: lambda x1: all2(
            lambda rows: lambda x: refutes(app(rows_before(borders(g, c)), rows), x),
            l.bad,
            x1,
        ),
        g.cells,
        e.safety,
    )


def check_region(cert, gs, l, e):
    """polyhedral_certificate -> list region -> location -> region_evidence -> bool"""
    g = e.region_of
    return (
        check_facets(l, g, e)
        and check_exits(gs, l, g, e)
        and check_jumps(cert, l, g, e)
        and check_safety(l, g, e)
    )


def check_starts(a, cert):
    """automaton -> polyhedral_certificate -> bool"""
    def inner1(s):
        def inner(x):
            given1 = regions_of(cert, s[0])
            return all2(
                lambda x5: lambda x6: check_cover(
                    after,
                    lambda x7: lambda x8: borders(x7, x8),
                    given1,
                    x5,
                    x6,
                ),
                s[1],
                x,
            )
        return inner
    return all2(inner1, a.starts, cert.start_covers)


def check_polyhedral(a, cert):
    """automaton -> polyhedral_certificate -> bool"""
    if not check_starts(a, cert):
        return False
    def inner1(l):
        def inner(es):
            given1 = map_(lambda r: r.region_of, es)
            return forallb(lambda x1: check_region(cert, given1, l, x1), es)
        return inner
    return all2(inner1, a.locations, cert.region_evidences)


# Functions that recurse on the depth of trees: check_cover.


TYPES = {
    "automaton": [
        "one of",
        [
            "Automaton",
            ["locations", ["list", "location"]],
            ["starts", ["list", ["pair", "natural", ["list", ["list", "row"]]]]],
        ],
    ],
    "location": [
        "one of",
        [
            "Location",
            ["invariant", ["list", ["list", "row"]]],
            ["flows", ["list", "dynamics"]],
            ["edges", ["list", "edge"]],
            ["bad", ["list", ["list", "row"]]],
        ],
    ],
    "row": ["one of", ["Row", ["row_form", "form"], ["strict", "boolean"]]],
    "form": [
        "one of",
        [
            "Form",
            ["constant", "rational"],
            ["state_part", ["list", "rational"]],
            ["next_part", ["list", "rational"]],
            ["input_part", ["list", "rational"]],
        ],
    ],
    "dynamics": [
        "one of",
        ["Dynamics", ["rates", ["list", "form"]], ["rate_rows", ["list", "row"]]],
    ],
    "edge": [
        "one of",
        ["Edge", ["target", "natural"], ["relation", ["list", ["list", "row"]]]],
    ],
    "polyhedral_certificate": [
        "one of",
        [
            "PolyhedralCertificate",
            ["start_covers", ["list", ["list", "cover"]]],
            ["region_evidences", ["list", ["list", "region_evidence"]]],
        ],
    ],
    "cover": [
        "one of",
        ["Impossible", ["ms", ["list", "rational"]]],
        [
            "InCell",
            ["g", "natural"],
            ["n", "natural"],
            ["proofs", ["list", ["list", "rational"]]],
        ],
        [
            "Split",
            ["h", "affine"],
            ["strict_below", "boolean"],
            ["below", "cover"],
            ["above", "cover"],
        ],
    ],
    "affine": [
        "one of",
        ["Affine", ["intercept", "rational"], ["gradient", ["list", "rational"]]],
    ],
    "region_evidence": [
        "one of",
        [
            "RegionEvidence",
            ["region_of", "region"],
            ["facets", ["list", ["list", ["list", ["list", "facet"]]]]],
            ["exit_covers", ["list", ["list", ["list", ["list", "cover"]]]]],
            ["jump_covers", ["list", ["list", ["list", "cover"]]]],
            ["safety", ["list", ["list", ["list", "rational"]]]],
        ],
    ],
    "region": [
        "one of",
        [
            "Region",
            ["predicates", ["list", "affine"]],
            ["cells", ["list", "cell"]],
            ["exits", ["list", "affine"]],
            ["margin", "rational"],
        ],
    ],
    "cell": ["one of", ["Cell", ["signs", ["list", "boolean"]], ["part", ["list", "affine"]]]],
    "facet": [
        "one of",
        [
            "Inward",
            ["mu", "rational"],
            ["ms", ["list", "rational"]],
            ["ns", ["list", "rational"]],
        ],
        [
            "Empty",
            ["mu", "rational"],
            ["ms", ["list", "rational"]],
            ["ns", ["list", "rational"]],
        ],
        ["Implied", ["ns", ["list", "rational"]]],
        [
            "HandedOver",
            ["n", "natural"],
            [
                "proofs",
                [
                    "list",
                    ["pair", ["pair", "rational", ["list", "rational"]], ["list", "rational"]],
                ],
            ],
        ],
    ],
    "check_polyhedral": ["arguments", "automaton", "polyhedral_certificate"],
}


CONSTRUCTORS = {
    "Form": Form,
    "Row": Row,
    "Dynamics": Dynamics,
    "Edge": Edge,
    "Location": Location,
    "Automaton": Automaton,
    "Affine": Affine,
    "Cell": Cell,
    "Region": Region,
    "Inward": Inward,
    "Empty": Empty,
    "Implied": Implied,
    "HandedOver": HandedOver,
    "Impossible": Impossible,
    "InCell": InCell,
    "Split": Split,
    "RegionEvidence": RegionEvidence,
    "PolyhedralCertificate": PolyhedralCertificate,
}
