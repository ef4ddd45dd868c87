"""The kernel: generated from models/kernel/theory, do not edit.

Its functions are check_polyhedral, check_quadratic, check_progress and what they use.
Made by models/kernel/translation from what Coq 8.16 extracts. Whole numbers are integers, a list
is nothing or a pair (head, tail), a rational a pair (numerator, denominator > 0). What is given to
these functions must be of their types: models/kernel/decode.py, or decode.js, sees to it.
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


# system: dimension : nat; whole : list nat; given : list nat; bounds : list row; wide : automaton; narrow : automaton
System = namedtuple("System", "dimension whole given bounds wide narrow")


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


# monomial: weight : q; first : affine; second : affine
Monomial = namedtuple("Monomial", "weight first second")


# witness: factors : multipliers; linear : multipliers; products : list (prod (prod nat nat) q); squares : list (prod q form); equations : list (prod (prod (prod form multipliers) multipliers) form)
Witness = namedtuple("Witness", "factors linear products squares equations")


# goal_evidence: ws : list witness
Below = namedtuple("Below", "ws")


# goal_evidence: b : box
AtCorners = namedtuple("AtCorners", "b")


# goal_evidence: gap : q; w : witness
Never = namedtuple("Never", "gap w")


# variable: i : nat
State = namedtuple("State", "i")


# variable: i : nat
Input = namedtuple("Input", "i")


# rate_evidence: mu : q; w : witness
Rate = namedtuple("Rate", "mu w")


# rate_evidence: gap : q; w : witness
NoTime = namedtuple("NoTime", "gap w")


# rate_evidence: v : variable; b : bound; at_low : rate_evidence; at_high : rate_evidence
Ends = namedtuple("Ends", "v b at_low at_high")


# quadratic_evidence: functions : list quadratic; function_flow : list (list (list rate_evidence)); function_jumps : list (list goal_evidence); function_safety : list (prod q witness)
QuadraticEvidence = namedtuple("QuadraticEvidence", "functions function_flow function_jumps function_safety")


# quadratic_certificate: function_starts : list (list goal_evidence); function_evidences : list (option quadratic_evidence)
QuadraticCertificate = namedtuple("QuadraticCertificate", "function_starts function_evidences")


# matrix: one_row : form; state_rows : list form; next_rows : list form; input_rows : list form
Matrix = namedtuple("Matrix", "one_row state_rows next_rows input_rows")


# first_state: start_number : nat; start_case : nat; value_before_start : list q; value_at_start : list q; value_of_inputs : list q
FirstState = namedtuple("FirstState", "start_number start_case value_before_start value_at_start value_of_inputs")


# soon: ms : multipliers
Inside = namedtuple("Inside", "ms")


# soon: ms : multipliers; slope : soon
Falling = namedtuple("Falling", "ms slope")


# soon: top : affine; ms : multipliers; e : soon
Under = namedtuple("Under", "top ms e")


# soon: family : list affine; now : list multipliers; ever : list facet; ms : multipliers
Kept = namedtuple("Kept", "family now ever ms")


# way: ms : multipliers
Nowhere = namedtuple("Nowhere", "ms")


# way: now : nat; proofs : list multipliers; case_number : nat; flow_number : nat; inputs : list form; es : list soon
Wait = namedtuple("Wait", "now proofs case_number flow_number inputs es")


# way: edge_number : nat; case_number : nat; next : list form; inputs : list form; proofs : list multipliers; change : option (prod nat multipliers)
Take = namedtuple("Take", "edge_number case_number next inputs proofs change")


# way: h : affine; strict_below : bool; below : way; above : way
Choose = namedtuple("Choose", "h strict_below below above")


# way: h : affine; below : way; above : way
Round = namedtuple("Round", "h below above")


# progress_certificate: reachable : polyhedral_certificate; first_of : first_state; ways : list (list (list way))
ProgressCertificate = namedtuple("ProgressCertificate", "reachable first_of ways")


def negb(b):
    """bool -> bool"""
    return not b


def option_map(f, o):
    """(A -> B) -> option A -> option B"""
    if o is not None:
        a = o.value
        return Some(f(a))
    return None


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


def add(n, m):
    """nat -> nat -> nat"""
    waiting = []
    while True:
        if n == 0:
            result = m
            break
        p = n - 1
        waiting.append(True)
        n = p
    while waiting:
        waiting.pop()
        result = result + 1
    return result


def max_(n, m):
    """nat -> nat -> nat"""
    waiting = []
    while True:
        if n == 0:
            result = m
            break
        n1 = n - 1
        if m == 0:
            result = n
            break
        m1 = m - 1
        waiting.append(True)
        n, m = n1, m1
    while waiting:
        waiting.pop()
        result = result + 1
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


def flat_map(f, l):
    """(A -> list B) -> list A -> list B"""
    waiting = []
    while True:
        if l is None:
            result = None
            break
        x, t = l
        waiting.append(x)
        l = t
    while waiting:
        x = waiting.pop()
        result = app(f(x), result)
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


def existsb(f, l):
    """(A -> bool) -> list A -> bool"""
    while True:
        if l is None:
            return False
        a, l0 = l
        if f(a):
            return True
        l = l0


def forallb(f, l):
    """(A -> bool) -> list A -> bool"""
    while True:
        if l is None:
            return True
        a, l0 = l
        if not f(a):
            return False
        l = l0


def seq(start, len1):
    """nat -> nat -> list nat"""
    waiting = []
    while True:
        if len1 == 0:
            result = None
            break
        len0 = len1 - 1
        waiting.append(start)
        start, len1 = start + 1, len0
    while waiting:
        start = waiting.pop()
        result = (start, result)
    return result


def list_max(l):
    """list nat -> nat"""
    return fold_right(lambda x: lambda x1: max_(x, x1), 0, l)


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


one = Form((1, 1), None, None, None)


def at_place(place, v):
    """(affine -> form) -> quadratic -> list term"""
    return map_(lambda m: ((m.weight, place(m.first)), place(m.second)), v)


def rate(v, ds):
    """quadratic -> list form -> list term"""
    return flat_map(
        lambda m: (
            ((m.weight, along(m.first.gradient, ds)), before(m.second)),
            (((m.weight, before(m.first)), along(m.second.gradient, ds)), None),
        ),
        v,
    )


def terms_scaled(m, ts):
    """q -> list term -> list term"""
    def inner(t):
        y, g = t
        q0, f = y
        return ((qmult_(m, q0), f), g)
    return map_(inner, ts)


def multiples(c, g):
    """list q -> form -> list form"""
    return map_(lambda a: form_scaled(a, g), c)


def outer(f, g):
    """form -> form -> matrix"""
    return Matrix(
        form_scaled(f.constant, g),
        multiples(f.state_part, g),
        multiples(f.next_part, g),
        multiples(f.input_part, g),
    )


def forms_sum(a, b):
    """list form -> list form -> list form"""
    waiting = []
    while True:
        if a is None:
            result = b
            break
        f, a1 = a
        if b is None:
            result = a
            break
        g, b1 = b
        waiting.append((f, g))
        a, b = a1, b1
    while waiting:
        f, g = waiting.pop()
        result = (form_sum(f, g), result)
    return result


def matrix_sum(m, n):
    """matrix -> matrix -> matrix"""
    return Matrix(
        form_sum(m.one_row, n.one_row),
        forms_sum(m.state_rows, n.state_rows),
        forms_sum(m.next_rows, n.next_rows),
        forms_sum(m.input_rows, n.input_rows),
    )


def matrix_of_term(t):
    """term -> matrix"""
    p, g = t
    q0, f = p
    half = qmult_(q0, (1, 2))
    return matrix_sum(outer(form_scaled(half, f), g), outer(form_scaled(half, g), f))


def matrix_of(ts):
    """list term -> matrix"""
    return fold_right(
        lambda t: lambda m: matrix_sum(matrix_of_term(t), m),
        Matrix(zero_form, None, None, None),
        ts,
    )


def is_zero_form(f):
    """form -> bool"""
    return is_constant(f) and is_zero(f.constant)


def vanishes(ts):
    """list term -> bool"""
    m = matrix_of(ts)
    return (
        is_zero_form(m.one_row)
        and forallb(is_zero_form, m.state_rows)
        and forallb(is_zero_form, m.next_rows)
        and forallb(is_zero_form, m.input_rows)
    )


def row_number(rows, i):
    """list row -> nat -> form"""
    return nth(i, forms(rows), zero_form)


def surplus(rows, w):
    """list row -> witness -> list term"""
    def inner(p):
        y, m = p
        i, j = y
        return ((m, row_number(rows, i)), row_number(rows, j))
    def inner1(p1):
        d, l = p1
        return ((d, l), l)
    def inner2(p2):
        y1, l1 = p2
        y0 = y1[0]
        e = y0[0]
        return (((1, 1), e), l1)
    return (
        (((-1, 1), combination(w.linear, forms(rows))), one),
        app(map_(inner, w.products), app(map_(inner1, w.squares), map_(inner2, w.equations))),
    )


def admissible(rows, w):
    """list row -> witness -> bool"""
    if not (
        all_nonneg(w.factors)
        and all_nonneg(w.linear)
        and forallb(lambda p: is_nonneg(p[1]), w.products)
        and forallb(lambda p1: is_nonneg(p1[0]), w.squares)
    ):
        return False
    def inner(p2):
        y = p2[0]
        y1, ns = y
        e, ms = y1
        return implies(rows, e, ms) and implies(rows, form_scaled((-1, 1), e), ns)
    return forallb(inner, w.equations)


def shows(rows, known, goal, w):
    """list row -> list term -> list term -> witness -> bool"""
    return (
        admissible(rows, w)
        and vanishes(
            app(
                known,
                app(terms_scaled((-1, 1), goal), terms_scaled((-1, 1), surplus(rows, w))),
            )
        )
    )


def excludes(rows, known, gap, w):
    """list row -> list term -> q -> witness -> bool"""
    return (
        shows(rows, known, (((gap, one), one), None), w)
        and (is_positive(gap) or is_nonneg(gap) and uses_strict(w.linear, rows))
    )


def weighted_sum(ms, vs):
    """multipliers -> list quadratic -> list term"""
    waiting = []
    while True:
        if ms is None:
            result = None
            break
        m, ms1 = ms
        if vs is None:
            result = None
            break
        v, vs1 = vs
        waiting.append((m, v))
        ms, vs = ms1, vs1
    while waiting:
        m, v = waiting.pop()
        result = app(terms_scaled(m, at_place(before, v)), result)
    return result


def fix_first(y, h):
    """q -> affine -> affine"""
    given = h.gradient
    if given is None:
        return h
    a, c = given
    return Affine(qplus_(h.intercept, qmult_(a, y)), c)


def quadratic_fixed(y, v):
    """q -> quadratic -> quadratic"""
    return map_(lambda m: Monomial(m.weight, fix_first(y, m.first), fix_first(y, m.second)), v)


def without_first(h):
    """affine -> bool"""
    given = h.gradient
    if given is None:
        return True
    a = given[0]
    return is_zero(a)


def same_vector(a, b):
    """list q -> list q -> bool"""
    while True:
        if a is None:
            return forallb(is_zero, b)
        p, a1 = a
        if b is None:
            return forallb(is_zero, a)
        q0, b1 = b
        if not qeq_bool(p, q0):
            return False
        a, b = a1, b1


def is_convex(v):
    """quadratic -> bool"""
    return forallb(
        lambda m: (
            (
                is_nonneg(m.weight)
                and qeq_bool(m.first.intercept, m.second.intercept)
                and same_vector(m.first.gradient, m.second.gradient)
            )
            or forallb(is_zero, m.first.gradient)
            or forallb(is_zero, m.second.gradient)
        ),
        v,
    )


def constant_value(v):
    """quadratic -> q"""
    return fold_right(
        lambda m: lambda s: qplus_(
            qmult_(m.weight, qmult_(m.first.intercept, m.second.intercept)),
            s,
        ),
        (0, 1),
        v,
    )


def below_at_corners(b, v):
    """box -> quadratic -> bool"""
    while True:
        if b is None:
            return (
                forallb(
                    lambda m: (
                        forallb(is_zero, m.first.gradient)
                        and forallb(is_zero, m.second.gradient)
                    ),
                    v,
                )
                and qle_bool(constant_value(v), (0, 1))
            )
        o, b1 = b
        if o is not None:
            b0 = o.value
            p = b0[0]
            p0 = p[0]
            low, high = p0
            if not below_at_corners(b1, quadratic_fixed(low, v)):
                return False
            b, v = b1, quadratic_fixed(high, v)
            continue
        if not forallb(lambda m1: without_first(m1.first) and without_first(m1.second), v):
            return False
        b, v = b1, quadratic_fixed((0, 1), v)


def check_bound(rows, v, b):
    """list row -> form -> bound -> bool"""
    p, ns = b
    p0, ms = p
    low, high = p0
    return (
        implies(rows, form_sum(Form(low, None, None, None), form_scaled((-1, 1), v)), ms)
        and implies(rows, form_sum(v, Form(qopp(high), None, None, None)), ns)
    )


def unit(i):
    """nat -> list q"""
    waiting = []
    while True:
        if i == 0:
            result = ((1, 1), None)
            break
        i1 = i - 1
        waiting.append(True)
        i = i1
    while waiting:
        waiting.pop()
        result = ((0, 1), result)
    return result


def check_box(rows, i, b):
    """list row -> nat -> box -> bool"""
    while True:
        if b is None:
            return True
        o, b1 = b
        if o is not None:
            bd = o.value
            if not check_bound(rows, Form((0, 1), None, unit(i), None), bd):
                return False
            i, b = i + 1, b1
            continue
        i, b = i + 1, b1


def put_zero(k, c):
    """nat -> list q -> list q"""
    waiting = []
    while True:
        if k == 0:
            if c is None:
                result = None
                break
            c1 = c[1]
            result = ((0, 1), c1)
            break
        k1 = k - 1
        if c is None:
            result = None
            break
        a, c2 = c
        waiting.append(a)
        k, c = k1, c2
    while waiting:
        a = waiting.pop()
        result = (a, result)
    return result


def with_parts(f, q0, xs, us):
    """form -> q -> list q -> list q -> form"""
    return Form(qplus_(f.constant, q0), xs, f.next_part, us)


def fix_variable(v, q0, f):
    """variable -> q -> form -> form"""
    match v:
        case State(i):
            return with_parts(
                f,
                qmult_(nth(i, f.state_part, (0, 1)), q0),
                put_zero(i, f.state_part),
                f.input_part,
            )
        case Input(i1):
            return with_parts(
                f,
                qmult_(nth(i1, f.input_part, (0, 1)), q0),
                f.state_part,
                put_zero(i1, f.input_part),
            )


def form_of(v):
    """variable -> form"""
    match v:
        case State(i):
            return Form((0, 1), unit(i), None, None)
        case Input(i1):
            return Form((0, 1), None, None, unit(i1))


def check_goal(source, aim, rows, e):
    """list quadratic -> option (list quadratic) -> list row -> goal_evidence -> bool"""
    match e:
        case Below(ws):
            if aim is not None:
                vs = aim.value
                return all2(
                    lambda v: lambda w: shows(
                        rows,
                        weighted_sum(w.factors, source),
                        at_place(after, v),
                        w,
                    ),
                    vs,
                    ws,
                )
            return False
        case AtCorners(b):
            if aim is not None:
                vs1 = aim.value
                return (
                    check_box(rows, 0, b)
                    and forallb(lambda v1: is_convex(v1) and below_at_corners(b, v1), vs1)
                )
            return False
        case Never(gap, w1):
            return excludes(rows, weighted_sum(w1.factors, source), gap, w1)


def check_rate(earlier, v, rows, ds, e):
    """list quadratic -> quadratic -> list row -> list form -> rate_evidence -> bool"""
    while True:
        match e:
            case Rate(mu, w):
                return shows(
                    rows,
                    app(
                        terms_scaled(mu, at_place(before, v)),
                        weighted_sum(w.factors, earlier),
                    ),
                    rate(v, ds),
                    w,
                )
            case NoTime(gap, w1):
                return excludes(rows, weighted_sum(w1.factors, earlier), gap, w1)
            case Ends(v0, b, at_low, at_high):
                p = b[0]
                p0 = p[0]
                low, high = p0
                if not check_bound(rows, form_of(v0), b):
                    return False
                if not check_rate(
                    earlier,
                    v,
                    rows,
                    map_(lambda x, low=low, v0=v0: fix_variable(v0, low, x), ds),
                    at_low,
                ):
                    return False
                ds, e = (
                    map_(lambda x1, high=high, v0=v0: fix_variable(v0, high, x1), ds),
                    at_high,
                )
                continue


def check_rates(l, earlier, vs, es):
    """location -> list quadratic -> list quadratic -> list (list (list rate_evidence)) -> bool"""
    while True:
        if vs is None:
            if es is None:
                return True
            return False
        v, vs1 = vs
        if es is None:
            return False
        e, es1 = es
        if not all2(
            lambda rows, earlier=earlier, v=v: lambda x1: all2(
                lambda d: lambda x: check_rate(earlier, v, app(rows, d.rate_rows), d.rates, x),
                l.flows,
                x1,
            ),
            l.invariant,
            e,
        ):
            return False
        earlier, vs, es = app(earlier, (v, None)), vs1, es1


def functions_of(cert, l):
    """quadratic_certificate -> nat -> option (list quadratic)"""
    return option_map(lambda q0: q0.functions, nth(l, cert.function_evidences, None))


def check_functions(cert, l, o):
    """quadratic_certificate -> location -> option quadratic_evidence -> bool"""
    if o is not None:
        e = o.value
        if not check_rates(l, None, e.functions, e.function_flow):
            return False
        def inner1(j):
            def inner(x):
                given1 = functions_of(cert, j.target)
                return all2(
                    lambda x3: lambda x4: check_goal(e.functions, given1, x3, x4),
                    j.relation,
                    x,
                )
            return inner
        return (
            all2(inner1, l.edges, e.function_jumps)
            and all2(
                lambda rows: lambda p: excludes(
                    rows,
                    weighted_sum(p[1].factors, e.functions),
                    p[0],
                    p[1],
                ),
                l.bad,
                e.function_safety,
            )
        )
    return True


def check_quadratic(a, cert):
    """automaton -> quadratic_certificate -> bool"""
    def inner1(s):
        def inner(x):
            given1 = functions_of(cert, s[0])
            return all2(lambda x3: lambda x4: check_goal(None, given1, x3, x4), s[1], x)
        return inner
    return (
        all2(inner1, a.starts, cert.function_starts)
        and all2(
            lambda x5: lambda x6: check_functions(cert, x5, x6),
            a.locations,
            cert.function_evidences,
        )
    )


def filled(next1, inputs, f):
    """list form -> list form -> form -> form"""
    return form_sum(
        Form(f.constant, f.state_part, None, None),
        form_sum(along(f.next_part, next1), along(f.input_part, inputs)),
    )


def with_given(given, inputs):
    """list nat -> list form -> list form"""
    def inner(i):
        if existsb(lambda x: i == x, given):
            return Form((0, 1), None, None, unit(i))
        return nth(i, inputs, zero_form)
    return map_(inner, seq(0, add(length(inputs), list_max(given) + 1)))


def not_below(h):
    """form -> row"""
    return Row(form_scaled((-1, 1), h), False)


def input_free(h):
    """form -> bool"""
    return forallb(lambda a: qeq_bool(a, (0, 1)), h.input_part)


def from_one(h):
    """affine -> form"""
    return form_sum(Form((1, 1), None, None, None), form_scaled((-1, 1), before(h)))


def bare(fs, bounds):
    """list form -> list row -> location"""
    return Location((None, None), (Dynamics(fs, bounds), None), None, None)


def one_cell(family):
    """list affine -> region"""
    return Region(None, (Cell(None, family), None), None, (0, 1))


def keeps(fs, bounds, family, ever):
    """list form -> list row -> list affine -> list facet -> bool"""
    return check_facets(
        bare(fs, bounds),
        one_cell(family),
        RegionEvidence(
            one_cell(family),
            (map_(lambda e: ((e, None), None), ever), None),
            None,
            None,
            None,
        ),
    )


def check_soon(rows, bounds, fs, less, h, e):
    """list row -> list row -> list form -> bool -> form -> soon -> bool"""
    while True:
        match e:
            case Inside(ms):
                return refutes(app(rows, app(bounds, (not_below(h), None))), ms)
            case Falling(ms1, slope):
                if not (input_free(h) and implies(app(rows, bounds), h, ms1)):
                    return False
                h, e = along(h.state_part, fs), slope
                continue
            case Under(top, ms2, e1):
                if not implies(bounds, form_sum(h, form_scaled((-1, 1), before(top))), ms2):
                    return False
                h, e = before(top), e1
                continue
            case Kept(family, now, ever, ms3):
                return (
                    negb(less)
                    and all2(lambda k: lambda ns: implies(rows, before(k), ns), family, now)
                    and keeps(fs, bounds, family, ever)
                    and implies(app(rows_before(family), bounds), h, ms3)
                )


def check_row(rows, bounds, next1, inputs, r, ms):
    """list row -> list row -> list form -> list form -> row -> multipliers -> bool"""
    h = filled(next1, inputs, r.row_form)
    if r.strict:
        return refutes(app(rows, app(bounds, (not_below(h), None))), ms)
    return implies(app(rows, bounds), h, ms)


def check_wait(s, l, rows, now, proofs, case_number, flow_number, inputs, es):
    """system -> location -> list row -> nat -> list multipliers -> nat -> nat -> list form -> list soon -> bool"""
    found = nth_error(l.invariant, now)
    if found is not None:
        here = found.value
        found1 = nth_error(l.invariant, case_number)
        if found1 is not None:
            case1 = found1.value
            found2 = nth_error(l.flows, flow_number)
            if found2 is not None:
                d = found2.value
                us = with_given(s.given, inputs)
                fs = map_(lambda x: filled(None, us, x), d.rates)
                return (
                    all2(
                        lambda x1: lambda x2: check_row(rows, s.bounds, None, us, x1, x2),
                        here,
                        proofs,
                    )
                    and all2(
                        lambda r: lambda e: check_soon(
                            rows,
                            s.bounds,
                            fs,
                            r.strict,
                            filled(None, us, r.row_form),
                            e,
                        ),
                        app(case1, d.rate_rows),
                        es,
                    )
                )
            return False
        return False
    return False


def check_change(rows, bounds, next1, i, ms):
    """list row -> list row -> list form -> nat -> multipliers -> bool"""
    d = form_sum(
        nth(i, next1, zero_form),
        form_scaled((-1, 1), Form((0, 1), unit(i), None, None)),
    )
    return refutes(
        app(rows, app(bounds, (Row(d, False), (Row(form_scaled((-1, 1), d), False), None)))),
        ms,
    )


def is_whole(q0):
    """q -> bool"""
    return qred(q0)[1] == 1


def whole_sum(whole, i, c):
    """list nat -> nat -> list q -> bool"""
    while True:
        if c is None:
            return True
        a, c1 = c
        if existsb(lambda x, i=i: i == x, whole):
            value = is_whole(a)
        else:
            value = qeq_bool(a, (0, 1))
        if not value:
            return False
        i, c = i + 1, c1


def whole_function(whole, h):
    """list nat -> affine -> bool"""
    return is_whole(h.intercept) and whole_sum(whole, 0, h.gradient)


def check_whole(whole, next1):
    """list nat -> list form -> bool"""
    def inner(i):
        f = nth(i, next1, zero_form)
        return input_free(f) and whole_function(whole, Affine(f.constant, f.state_part))
    return forallb(inner, whole)


def check_take(s, l, l0, rows, edge_number, case_number, next1, inputs, proofs, change):
    """system -> nat -> location -> list row -> nat -> nat -> list form -> list form -> list multipliers -> option (prod nat multipliers) -> bool"""
    found = nth_error(l0.edges, edge_number)
    if found is not None:
        j = found.value
        found1 = nth_error(j.relation, case_number)
        if found1 is not None:
            case1 = found1.value
            given = with_given(s.given, inputs)
            if not (
                all2(
                    lambda x: lambda x1: check_row(rows, s.bounds, next1, given, x, x1),
                    case1,
                    proofs,
                )
                and check_whole(s.whole, next1)
            ):
                return False
            if change is not None:
                p = change.value
                i, ms = p
                return i < s.dimension and check_change(rows, s.bounds, next1, i, ms)
            return negb(j.target == l)
        return False
    return False


def check_way(s, l, l0, rows, w):
    """system -> nat -> location -> list row -> way -> bool"""
    while True:
        match w:
            case Nowhere(ms):
                return refutes(rows, ms)
            case Wait(now, proofs, case_number, flow_number, inputs, es):
                return check_wait(
                    s,
                    l0,
                    rows,
                    now,
                    proofs,
                    case_number,
                    flow_number,
                    inputs,
                    es,
                )
            case Take(edge_number, case_number1, next1, inputs1, proofs1, change):
                return check_take(
                    s,
                    l,
                    l0,
                    rows,
                    edge_number,
                    case_number1,
                    next1,
                    inputs1,
                    proofs1,
                    change,
                )
            case Choose(h, strict_below, below, above):
                if not check_way(
                    s,
                    l,
                    l0,
                    app(rows, (Row(before(h), strict_below), None)),
                    below,
                ):
                    return False
                rows, w = (
                    app(rows, (Row(form_scaled((-1, 1), before(h)), negb(strict_below)), None)),
                    above,
                )
                continue
            case Round(h1, below1, above1):
                if not whole_function(s.whole, h1):
                    return False
                if not check_way(s, l, l0, app(rows, (Row(before(h1), False), None)), below1):
                    return False
                rows, w = (app(rows, (Row(from_one(h1), False), None)), above1)
                continue


def check_ways(s, cert):
    """system -> progress_certificate -> bool"""
    return all2(
        lambda lL: lambda x2: all2(
            lambda g: lambda x1: all2(
                lambda c: lambda x: check_way(s, lL[0], lL[1], rows_before(borders(g, c)), x),
                g.cells,
                x1,
            ),
            regions_of(cert.reachable, lL[0]),
            x2,
        ),
        numbered(0, s.narrow.locations),
        cert.ways,
    )


def dot_at(c, v):
    """list q -> list q -> q"""
    waiting = []
    while True:
        if c is None:
            result = (0, 1)
            break
        a, c1 = c
        if v is None:
            result = (0, 1)
            break
        b, v1 = v
        waiting.append((a, b))
        c, v = c1, v1
    while waiting:
        a, b = waiting.pop()
        result = qplus_(qmult_(a, b), result)
    return result


def value_at(f, x, y, u):
    """form -> list q -> list q -> list q -> q"""
    return qplus_(
        f.constant,
        qplus_(
            dot_at(f.state_part, x),
            qplus_(dot_at(f.next_part, y), dot_at(f.input_part, u)),
        ),
    )


def whole_at(whole, v):
    """list nat -> list q -> bool"""
    return forallb(lambda i: is_whole(nth(i, v, (0, 1))), whole)


def check_first(s, f):
    """system -> first_state -> bool"""
    found = nth_error(s.narrow.starts, f.start_number)
    if found is not None:
        start = found.value
        found1 = nth_error(start[1], f.start_case)
        if found1 is not None:
            rows = found1.value
            def inner(r):
                v = value_at(
                    r.row_form,
                    f.value_before_start,
                    f.value_at_start,
                    f.value_of_inputs,
                )
                if r.strict:
                    return negb(qle_bool((0, 1), v))
                return qle_bool(v, (0, 1))
            return (
                forallb(inner, rows)
                and whole_at(s.whole, f.value_before_start)
                and whole_at(s.whole, f.value_at_start)
            )
        return False
    return False


def check_progress(s, cert):
    """system -> progress_certificate -> bool"""
    return (
        check_polyhedral(s.wide, cert.reachable)
        and length(s.wide.locations) == length(s.narrow.locations)
        and check_first(s, cert.first_of)
        and check_ways(s, cert)
    )


# Functions that recurse on the depth of trees: below_at_corners, check_cover, check_rate, check_way.


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
    "quadratic_certificate": [
        "one of",
        [
            "QuadraticCertificate",
            ["function_starts", ["list", ["list", "goal_evidence"]]],
            ["function_evidences", ["list", ["option", "quadratic_evidence"]]],
        ],
    ],
    "goal_evidence": [
        "one of",
        ["Below", ["ws", ["list", "witness"]]],
        [
            "AtCorners",
            [
                "b",
                [
                    "list",
                    [
                        "option",
                        [
                            "pair",
                            ["pair", ["pair", "rational", "rational"], ["list", "rational"]],
                            ["list", "rational"],
                        ],
                    ],
                ],
            ],
        ],
        ["Never", ["gap", "rational"], ["w", "witness"]],
    ],
    "witness": [
        "one of",
        [
            "Witness",
            ["factors", ["list", "rational"]],
            ["linear", ["list", "rational"]],
            ["products", ["list", ["pair", ["pair", "natural", "natural"], "rational"]]],
            ["squares", ["list", ["pair", "rational", "form"]]],
            [
                "equations",
                [
                    "list",
                    [
                        "pair",
                        ["pair", ["pair", "form", ["list", "rational"]], ["list", "rational"]],
                        "form",
                    ],
                ],
            ],
        ],
    ],
    "quadratic_evidence": [
        "one of",
        [
            "QuadraticEvidence",
            ["functions", ["list", ["list", "monomial"]]],
            ["function_flow", ["list", ["list", ["list", "rate_evidence"]]]],
            ["function_jumps", ["list", ["list", "goal_evidence"]]],
            ["function_safety", ["list", ["pair", "rational", "witness"]]],
        ],
    ],
    "monomial": [
        "one of",
        ["Monomial", ["weight", "rational"], ["first", "affine"], ["second", "affine"]],
    ],
    "rate_evidence": [
        "one of",
        ["Rate", ["mu", "rational"], ["w", "witness"]],
        ["NoTime", ["gap", "rational"], ["w", "witness"]],
        [
            "Ends",
            ["v", "variable"],
            [
                "b",
                [
                    "pair",
                    ["pair", ["pair", "rational", "rational"], ["list", "rational"]],
                    ["list", "rational"],
                ],
            ],
            ["at_low", "rate_evidence"],
            ["at_high", "rate_evidence"],
        ],
    ],
    "variable": ["one of", ["State", ["i", "natural"]], ["Input", ["i", "natural"]]],
    "check_quadratic": ["arguments", "automaton", "quadratic_certificate"],
    "system": [
        "one of",
        [
            "System",
            ["dimension", "natural"],
            ["whole", ["list", "natural"]],
            ["given", ["list", "natural"]],
            ["bounds", ["list", "row"]],
            ["wide", "automaton"],
            ["narrow", "automaton"],
        ],
    ],
    "progress_certificate": [
        "one of",
        [
            "ProgressCertificate",
            ["reachable", "polyhedral_certificate"],
            ["first_of", "first_state"],
            ["ways", ["list", ["list", ["list", "way"]]]],
        ],
    ],
    "first_state": [
        "one of",
        [
            "FirstState",
            ["start_number", "natural"],
            ["start_case", "natural"],
            ["value_before_start", ["list", "rational"]],
            ["value_at_start", ["list", "rational"]],
            ["value_of_inputs", ["list", "rational"]],
        ],
    ],
    "way": [
        "one of",
        ["Nowhere", ["ms", ["list", "rational"]]],
        [
            "Wait",
            ["now", "natural"],
            ["proofs", ["list", ["list", "rational"]]],
            ["case_number", "natural"],
            ["flow_number", "natural"],
            ["inputs", ["list", "form"]],
            ["es", ["list", "soon"]],
        ],
        [
            "Take",
            ["edge_number", "natural"],
            ["case_number", "natural"],
            ["next", ["list", "form"]],
            ["inputs", ["list", "form"]],
            ["proofs", ["list", ["list", "rational"]]],
            ["change", ["option", ["pair", "natural", ["list", "rational"]]]],
        ],
        [
            "Choose",
            ["h", "affine"],
            ["strict_below", "boolean"],
            ["below", "way"],
            ["above", "way"],
        ],
        ["Round", ["h", "affine"], ["below", "way"], ["above", "way"]],
    ],
    "soon": [
        "one of",
        ["Inside", ["ms", ["list", "rational"]]],
        ["Falling", ["ms", ["list", "rational"]], ["slope", "soon"]],
        ["Under", ["top", "affine"], ["ms", ["list", "rational"]], ["e", "soon"]],
        [
            "Kept",
            ["family", ["list", "affine"]],
            ["now", ["list", ["list", "rational"]]],
            ["ever", ["list", "facet"]],
            ["ms", ["list", "rational"]],
        ],
    ],
    "check_progress": ["arguments", "system", "progress_certificate"],
}


CONSTRUCTORS = {
    "Form": Form,
    "Row": Row,
    "Dynamics": Dynamics,
    "Edge": Edge,
    "Location": Location,
    "Automaton": Automaton,
    "System": System,
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
    "Monomial": Monomial,
    "Witness": Witness,
    "Below": Below,
    "AtCorners": AtCorners,
    "Never": Never,
    "State": State,
    "Input": Input,
    "Rate": Rate,
    "NoTime": NoTime,
    "Ends": Ends,
    "QuadraticEvidence": QuadraticEvidence,
    "QuadraticCertificate": QuadraticCertificate,
    "FirstState": FirstState,
    "Inside": Inside,
    "Falling": Falling,
    "Under": Under,
    "Kept": Kept,
    "Nowhere": Nowhere,
    "Wait": Wait,
    "Take": Take,
    "Choose": Choose,
    "Round": Round,
    "ProgressCertificate": ProgressCertificate,
}
