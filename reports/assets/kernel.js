// The kernel: check_polyhedral; generated from models/kernel/theory, do not edit.
// 
// Made by models/kernel/translation from what Coq 8.16 extracts. Whole numbers are integers, a list
// is nothing or a pair (head, tail), a rational a pair (numerator, denominator > 0). What is given to
// these functions must be of their types: models/kernel/decode.py sees to it.
"use strict";

// The greatest common divisor, and both numbers divided by it.
function ggcd(a, b) {
    let g = a < 0n ? -a : a;
    let h = b < 0n ? -b : b;
    while (h) [g, h] = [h, g % h];
    return g ? [g, [a / g, b / g]] : [0n, [0n, 0n]];
}

// A positive number: 1 in place of those that are not.
function to_pos(a) {
    return a > 0n ? a : 1n;
}

// option: value : A
function Some(value) {
    return { is: "Some", value };
}

// form: constant : q; state_part : list q; next_part : list q; input_part : list q
function Form(constant, state_part, next_part, input_part) {
    return { is: "Form", constant, state_part, next_part, input_part };
}

// row: row_form : form; strict : bool
function Row(row_form, strict) {
    return { is: "Row", row_form, strict };
}

// dynamics: rates : list form; rate_rows : list row
function Dynamics(rates, rate_rows) {
    return { is: "Dynamics", rates, rate_rows };
}

// edge: target : nat; relation : cases
function Edge(target, relation) {
    return { is: "Edge", target, relation };
}

// location: invariant : cases; flows : list dynamics; edges : list edge; bad : cases
function Location(invariant, flows, edges, bad) {
    return { is: "Location", invariant, flows, edges, bad };
}

// automaton: locations : list location; starts : list (prod nat cases)
function Automaton(locations, starts) {
    return { is: "Automaton", locations, starts };
}

// affine: intercept : q; gradient : list q
function Affine(intercept, gradient) {
    return { is: "Affine", intercept, gradient };
}

// cell: signs : list bool; part : list affine
function Cell(signs, part) {
    return { is: "Cell", signs, part };
}

// region: predicates : list affine; cells : list cell; exits : list affine; margin : q
function Region(predicates, cells, exits, margin) {
    return { is: "Region", predicates, cells, exits, margin };
}

// facet: mu : q; ms : multipliers; ns : multipliers
function Inward(mu, ms, ns) {
    return { is: "Inward", mu, ms, ns };
}

// facet: mu : q; ms : multipliers; ns : multipliers
function Empty(mu, ms, ns) {
    return { is: "Empty", mu, ms, ns };
}

// facet: ns : multipliers
function Implied(ns) {
    return { is: "Implied", ns };
}

// facet: n : nat; proofs : list (prod (prod q multipliers) multipliers)
function HandedOver(n, proofs) {
    return { is: "HandedOver", n, proofs };
}

// cover: ms : multipliers
function Impossible(ms) {
    return { is: "Impossible", ms };
}

// cover: g : nat; n : nat; proofs : list multipliers
function InCell(g, n, proofs) {
    return { is: "InCell", g, n, proofs };
}

// cover: h : affine; strict_below : bool; below : cover; above : cover
function Split(h, strict_below, below, above) {
    return { is: "Split", h, strict_below, below, above };
}

// region_evidence: region_of : region; facets : list (list (list (list facet))); exit_covers : list (list (list (list cover))); jump_covers : list (list (list cover)); safety : list (list multipliers)
function RegionEvidence(region_of, facets, exit_covers, jump_covers, safety) {
    return { is: "RegionEvidence", region_of, facets, exit_covers, jump_covers, safety };
}

// polyhedral_certificate: start_covers : list (list cover); region_evidences : list (list region_evidence)
function PolyhedralCertificate(start_covers, region_evidences) {
    return { is: "PolyhedralCertificate", start_covers, region_evidences };
}

function negb(b) {
    // bool -> bool
    return !b;
}

function length(l) {
    // list A -> nat
    const waiting = [];
    let result;
    while (true) {
        if (l === null) {
            result = 0n;
            break;
        }
        const l1 = l[1];
        waiting.push(true);
        l = l1;
    }
    while (waiting.length) {
        waiting.pop();
        result = result + 1n;
    }
    return result;
}

function app(l, m) {
    // list A -> list A -> list A
    const waiting = [];
    let result;
    while (true) {
        if (l === null) {
            result = m;
            break;
        }
        const [a, l1] = l;
        waiting.push(a);
        l = l1;
    }
    while (waiting.length) {
        const a = waiting.pop();
        result = [a, result];
    }
    return result;
}

function eqb(b1, b2) {
    // bool -> bool -> bool
    if (b1) {
        return b2;
    }
    return !b2;
}

function nth(n, l, default1) {
    // nat -> list A -> A -> A
    while (true) {
        if (n === 0n) {
            if (l === null) {
                return default1;
            }
            const x = l[0];
            return x;
        }
        const m = n - 1n;
        if (l === null) {
            return default1;
        }
        const t = l[1];
        [n, l] = [m, t];
    }
}

function nth_error(l, n) {
    // list A -> nat -> option A
    while (true) {
        if (n === 0n) {
            if (l === null) {
                return null;
            }
            const x = l[0];
            return Some(x);
        }
        const n0 = n - 1n;
        if (l === null) {
            return null;
        }
        const l0 = l[1];
        [l, n] = [l0, n0];
    }
}

function map(f, l) {
    // (A -> B) -> list A -> list B
    const waiting = [];
    let result;
    while (true) {
        if (l === null) {
            result = null;
            break;
        }
        const [a, t] = l;
        waiting.push(a);
        l = t;
    }
    while (waiting.length) {
        const a = waiting.pop();
        result = [f(a), result];
    }
    return result;
}

function fold_right(f, a0, l) {
    // (B -> A -> A) -> A -> list B -> A
    const waiting = [];
    let result;
    while (true) {
        if (l === null) {
            result = a0;
            break;
        }
        const [b, t] = l;
        waiting.push(b);
        l = t;
    }
    while (waiting.length) {
        const b = waiting.pop();
        result = f(b)(result);
    }
    return result;
}

function forallb(f, l) {
    // (A -> bool) -> list A -> bool
    while (true) {
        if (l === null) {
            return true;
        }
        const [a, l0] = l;
        if (!f(a)) {
            return false;
        }
        l = l0;
    }
}

function qeq_bool(x, y) {
    // q -> q -> bool
    return x[0] * y[1] === y[0] * x[1];
}

function qle_bool(x, y) {
    // q -> q -> bool
    return x[0] * y[1] <= y[0] * x[1];
}

function qplus(x, y) {
    // q -> q -> q
    return [x[0] * y[1] + y[0] * x[1], x[1] * y[1]];
}

function qmult(x, y) {
    // q -> q -> q
    return [x[0] * y[0], x[1] * y[1]];
}

function qopp(x) {
    // q -> q
    return [-x[0], x[1]];
}

function qred(q0) {
    // q -> q
    const [q1, q2] = q0;
    const [r1, r2] = ggcd(q1, q2)[1];
    return [r1, to_pos(r2)];
}

function qplus_(p, q0) {
    // q -> q -> q
    return qred(qplus(p, q0));
}

function qmult_(p, q0) {
    // q -> q -> q
    return qred(qmult(p, q0));
}

const zero_form = Form([0n, 1n], null, null, null);

function vector_sum(a, b) {
    // list q -> list q -> list q
    const waiting = [];
    let result;
    while (true) {
        if (a === null) {
            result = b;
            break;
        }
        const [p, a1] = a;
        if (b === null) {
            result = a;
            break;
        }
        const [q0, b1] = b;
        waiting.push([p, q0]);
        [a, b] = [a1, b1];
    }
    while (waiting.length) {
        const [p, q0] = waiting.pop();
        result = [qplus_(p, q0), result];
    }
    return result;
}

function vector_scaled(m, a) {
    // q -> list q -> list q
    return map((x) => qmult_(m, x), a);
}

function form_sum(f, g) {
    // form -> form -> form
    return Form(
        qplus_(f.constant, g.constant),
        vector_sum(f.state_part, g.state_part),
        vector_sum(f.next_part, g.next_part),
        vector_sum(f.input_part, g.input_part),
    );
}

function form_scaled(m, f) {
    // q -> form -> form
    return Form(
        qmult_(m, f.constant),
        vector_scaled(m, f.state_part),
        vector_scaled(m, f.next_part),
        vector_scaled(m, f.input_part),
    );
}

function is_zero(q0) {
    // q -> bool
    return qeq_bool(q0, [0n, 1n]);
}

function is_nonneg(q0) {
    // q -> bool
    return qle_bool([0n, 1n], q0);
}

function is_positive(q0) {
    // q -> bool
    return negb(qle_bool(q0, [0n, 1n]));
}

function is_constant(f) {
    // form -> bool
    return (
        forallb(is_zero, f.state_part)
        && forallb(is_zero, f.next_part)
        && forallb(is_zero, f.input_part)
    );
}

function all_nonneg(ms) {
    // multipliers -> bool
    return forallb(is_nonneg, ms);
}

function combination(ms, fs) {
    // multipliers -> list form -> form
    const waiting = [];
    let result;
    while (true) {
        if (ms === null) {
            result = zero_form;
            break;
        }
        const [m, ms1] = ms;
        if (fs === null) {
            result = zero_form;
            break;
        }
        const [f, fs1] = fs;
        if (is_zero(m)) {
            [ms, fs] = [ms1, fs1];
            continue;
        }
        waiting.push([f, m]);
        [ms, fs] = [ms1, fs1];
    }
    while (waiting.length) {
        const [f, m] = waiting.pop();
        result = form_sum(form_scaled(m, f), result);
    }
    return result;
}

function forms(rows) {
    // list row -> list form
    return map((r) => r.row_form, rows);
}

function uses_strict(ms, rows) {
    // multipliers -> list row -> bool
    while (true) {
        if (ms === null) {
            return false;
        }
        const [m, ms1] = ms;
        if (rows === null) {
            return false;
        }
        const [r, rows1] = rows;
        if (is_positive(m) && r.strict) {
            return true;
        }
        [ms, rows] = [ms1, rows1];
    }
}

function refutes(rows, ms) {
    // list row -> multipliers -> bool
    const f = combination(ms, forms(rows));
    return (
        all_nonneg(ms)
        && is_constant(f)
        && (is_positive(f.constant) || is_nonneg(f.constant) && uses_strict(ms, rows))
    );
}

function implies(rows, goal, ms) {
    // list row -> form -> multipliers -> bool
    const f = form_sum(combination(ms, forms(rows)), form_scaled([-1n, 1n], goal));
    return all_nonneg(ms) && is_constant(f) && is_nonneg(f.constant);
}

function all2(fits, l, m) {
    // (A -> B -> bool) -> list A -> list B -> bool
    while (true) {
        if (l === null) {
            if (m === null) {
                return true;
            }
            return false;
        }
        const [a, l1] = l;
        if (m === null) {
            return false;
        }
        const [b, m1] = m;
        if (!fits(a)(b)) {
            return false;
        }
        [l, m] = [l1, m1];
    }
}

function before(h) {
    // affine -> form
    return Form(h.intercept, h.gradient, null, null);
}

function after(h) {
    // affine -> form
    return Form(h.intercept, null, h.gradient, null);
}

function rows_before(hs) {
    // list affine -> list row
    return map((h) => Row(before(h), false), hs);
}

function opposite(h) {
    // affine -> affine
    return Affine(qopp(h.intercept), map(qopp, h.gradient));
}

function signed(s, hs) {
    // list bool -> list affine -> list affine
    const waiting = [];
    let result;
    while (true) {
        if (s === null) {
            result = null;
            break;
        }
        const [b, s1] = s;
        if (hs === null) {
            result = null;
            break;
        }
        const [h, hs1] = hs;
        waiting.push([b, h]);
        [s, hs] = [s1, hs1];
    }
    while (waiting.length) {
        const [b, h] = waiting.pop();
        let value;
        if (b) {
            value = h;
        }
        else {
            value = opposite(h);
        }
        result = [value, result];
    }
    return result;
}

function walls(g, c) {
    // region -> cell -> list affine
    return app(signed(c.signs, g.predicates), c.part);
}

function borders(g, c) {
    // region -> cell -> list affine
    return app(walls(g, c), g.exits);
}

function moved_in(g, h) {
    // region -> affine -> affine
    return Affine(qplus(h.intercept, g.margin), h.gradient);
}

function inner_borders(g, c) {
    // region -> cell -> list affine
    return app(walls(g, c), map((x) => moved_in(g, x), g.exits));
}

function check_cover(place, goals, gs, rows, e) {
    // (affine -> form) -> (region -> cell -> list affine) -> list region -> list row -> cover -> bool
    while (true) {
        const rows1 = rows;
        if (e.is === "Impossible") {
            const { ms } = e;
            return refutes(rows1, ms);
        }
        else if (e.is === "InCell") {
            const { g, n, proofs } = e;
            const found = nth_error(gs, g);
            if (found !== null) {
                const g0 = found.value;
                const found1 = nth_error(g0.cells, n);
                if (found1 !== null) {
                    const c = found1.value;
                    return all2(
                        (h) => (ms1) => implies(rows1, place(h), ms1),
                        goals(g0)(c),
                        proofs,
                    );
                }
                return false;
            }
            return false;
        }
        else {
            const { h: h1, strict_below, below, above } = e;
            if (!check_cover(
                place,
                goals,
                gs,
                app(rows1, [Row(place(h1), strict_below), null]),
                below,
            )) {
                return false;
            }
            [rows, e] = [
                app(rows1, [Row(form_scaled([-1n, 1n], place(h1)), negb(strict_below)), null]),
                above,
            ];
            continue;
        }
    }
}

function along(c, ds) {
    // list q -> list form -> form
    const waiting = [];
    let result;
    while (true) {
        if (c === null) {
            result = zero_form;
            break;
        }
        const [a, c1] = c;
        if (ds === null) {
            result = zero_form;
            break;
        }
        const [d, ds1] = ds;
        waiting.push([a, d]);
        [c, ds] = [c1, ds1];
    }
    while (waiting.length) {
        const [a, d] = waiting.pop();
        result = form_sum(form_scaled(a, d), result);
    }
    return result;
}

function facet_bound(own, r, known, mu, ms, ns) {
    // list affine -> affine -> list row -> q -> multipliers -> multipliers -> form
    return form_sum(
        form_sum(form_scaled(mu, before(r)), combination(ms, forms(rows_before(own)))),
        combination(ns, forms(known)),
    );
}

function sum(l) {
    // list q -> q
    return fold_right((x) => (x1) => qplus_(x, x1), [0n, 1n], l);
}

function check_beyond(own, r, known, k, proof) {
    // list affine -> affine -> list row -> affine -> prod (prod q multipliers) multipliers -> bool
    const [p, ns] = proof;
    const [mu, ms] = p;
    const f = form_sum(
        facet_bound(own, r, known, mu, ms, ns),
        form_scaled([-1n, 1n], before(k)),
    );
    return (
        all_nonneg(ms)
        && all_nonneg(ns)
        && is_constant(f)
        && (
            is_positive(f.constant)
            || is_nonneg(f.constant) && qle_bool(qplus(mu, sum(ms)), [1n, 1n])
        )
    );
}

function flip(p, s) {
    // nat -> list bool -> list bool
    const waiting = [];
    let result;
    while (true) {
        if (p === 0n) {
            if (s === null) {
                result = null;
                break;
            }
            const [b, s1] = s;
            result = [negb(b), s1];
            break;
        }
        const p1 = p - 1n;
        if (s === null) {
            result = null;
            break;
        }
        const [b1, s2] = s;
        waiting.push(b1);
        [p, s] = [p1, s2];
    }
    while (waiting.length) {
        const b1 = waiting.pop();
        result = [b1, result];
    }
    return result;
}

function same_signs(s, t) {
    // list bool -> list bool -> bool
    while (true) {
        if (s === null) {
            if (t === null) {
                return true;
            }
            return false;
        }
        const [b, s1] = s;
        if (t === null) {
            return false;
        }
        const [c, t1] = t;
        if (!eqb(b, c)) {
            return false;
        }
        [s, t] = [s1, t1];
    }
}

function check_facet(g, c, p, r, rows, d, e) {
    // region -> cell -> nat -> affine -> list row -> dynamics -> facet -> bool
    const own = walls(g, c);
    const known = app(app(rows, rows_before(g.exits)), d.rate_rows);
    if (e.is === "Inward") {
        const { mu, ms, ns } = e;
        const f = form_sum(
            facet_bound(own, r, known, mu, ms, ns),
            form_scaled([-1n, 1n], along(r.gradient, d.rates)),
        );
        return all_nonneg(ms) && all_nonneg(ns) && is_constant(f) && is_nonneg(f.constant);
    }
    else if (e.is === "Empty") {
        const { mu: mu1, ms: ms1, ns: ns1 } = e;
        const f1 = facet_bound(own, r, known, mu1, ms1, ns1);
        return (
            all_nonneg(ms1)
            && all_nonneg(ns1)
            && is_constant(f1)
            && is_positive(f1.constant)
        );
    }
    else if (e.is === "Implied") {
        const { ns: ns2 } = e;
        return implies(known, before(r), ns2);
    }
    else {
        const { n, proofs } = e;
        const found = nth_error(g.cells, n);
        if (found !== null) {
            const d0 = found.value;
            return (
                same_signs(d0.signs, flip(p, c.signs))
                && p < length(signed(c.signs, g.predicates))
                && all2((x) => (x1) => check_beyond(own, r, rows, x, x1), d0.part, proofs)
            );
        }
        return false;
    }
}

function not_strict(r) {
    // row -> row
    return Row(r.row_form, false);
}

function exit_rows(g, c, h, rows, d) {
    // region -> cell -> affine -> list row -> dynamics -> list row
    return app(
        rows_before(borders(g, c)),
        app(
            map(not_strict, app(rows, d.rate_rows)),
            [
                Row(form_scaled([-1n, 1n], before(h)), false),
                [Row(form_scaled([-1n, 1n], along(h.gradient, d.rates)), false), null],
            ],
        ),
    );
}

function numbered(n, l) {
    // nat -> list A -> list (prod nat A)
    const waiting = [];
    let result;
    while (true) {
        if (l === null) {
            result = null;
            break;
        }
        const [a, l1] = l;
        waiting.push([a, n]);
        [n, l] = [n + 1n, l1];
    }
    while (waiting.length) {
        const [a, n] = waiting.pop();
        result = [[n, a], result];
    }
    return result;
}

function regions_of(cert, l) {
    // polyhedral_certificate -> nat -> list region
    return map((r) => r.region_of, nth(l, cert.region_evidences, null));
}

function check_facets(l, g, e) {
    // location -> region -> region_evidence -> bool
    return all2(
        (c) => (x2) => all2(
            (pr) => (x1) => all2(
                (rows) => (x) => all2(
                    (x3) => (x4) => check_facet(g, c, pr[0], pr[1], rows, x3, x4),
                    l.flows,
                    x,
                ),
                l.invariant,
                x1,
            ),
            numbered(0n, walls(g, c)),
            x2,
        ),
        g.cells,
        e.facets,
    );
}

function check_exits(gs, l, g, e) {
    // list region -> location -> region -> region_evidence -> bool
    let value;
    const given = g.exits;
    if (given === null) {
        value = true;
    }
    else {
        value = is_positive(g.margin);
    }
    return (
        value
        && all2(
            (c) => (x3) => all2(
                (h) => (x2) => all2(
                    (rows) => (x1) => all2(
                        (d) => (x) => check_cover(
                            before,
                            (x4) => (x5) => inner_borders(x4, x5),
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
    );
}

function check_jumps(cert, l, g, e) {
    // polyhedral_certificate -> location -> region -> region_evidence -> bool
    return all2(
        (c) => (x2) => all2(
            (j) => (x1) => all2(
                (rows) => (x) => check_cover(
                    after,
                    (x3) => (x4) => borders(x3, x4),
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
    );
}

function check_safety(l, g, e) {
    // location -> region -> region_evidence -> bool
    return all2(
        (c) => (x1) => all2(
            (rows) => (x) => refutes(app(rows_before(borders(g, c)), rows), x),
            l.bad,
            x1,
        ),
        g.cells,
        e.safety,
    );
}

function check_region(cert, gs, l, e) {
    // polyhedral_certificate -> list region -> location -> region_evidence -> bool
    const g = e.region_of;
    return (
        check_facets(l, g, e)
        && check_exits(gs, l, g, e)
        && check_jumps(cert, l, g, e)
        && check_safety(l, g, e)
    );
}

function check_starts(a, cert) {
    // automaton -> polyhedral_certificate -> bool
    function inner1(s) {
        function inner(x) {
            const given1 = regions_of(cert, s[0]);
            return all2(
                (x5) => (x6) => check_cover(
                    after,
                    (x7) => (x8) => borders(x7, x8),
                    given1,
                    x5,
                    x6,
                ),
                s[1],
                x,
            );
        }
        return inner;
    }
    return all2(inner1, a.starts, cert.start_covers);
}

function check_polyhedral(a, cert) {
    // automaton -> polyhedral_certificate -> bool
    if (!check_starts(a, cert)) {
        return false;
    }
    function inner1(l) {
        function inner(es) {
            const given1 = map((r) => r.region_of, es);
            return forallb((x1) => check_region(cert, given1, l, x1), es);
        }
        return inner;
    }
    return all2(inner1, a.locations, cert.region_evidences);
}

// Functions that recurse on the depth of trees: check_cover.

const TYPES = {
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
};

const CONSTRUCTORS = {
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
};
