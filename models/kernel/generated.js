// The kernel: generated from models/kernel/theory, do not edit.
//
// Its functions are check_polyhedral, check_quadratic, check_progress and what they use.
// Made by models/kernel/translation from what Coq 8.16 extracts. Whole numbers are integers, a list
// is nothing or a pair (head, tail), a rational a pair (numerator, denominator > 0). What is given to
// these functions must be of their types: models/kernel/decode.py, or decode.js, sees to it.
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

// system: dimension : nat; whole : list nat; given : list nat; bounds : list row; wide : automaton; narrow : automaton
function System(dimension, whole, given, bounds, wide, narrow) {
    return { is: "System", dimension, whole, given, bounds, wide, narrow };
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

// monomial: weight : q; first : affine; second : affine
function Monomial(weight, first, second) {
    return { is: "Monomial", weight, first, second };
}

// witness: factors : multipliers; linear : multipliers; products : list (prod (prod nat nat) q); squares : list (prod q form); equations : list (prod (prod (prod form multipliers) multipliers) form)
function Witness(factors, linear, products, squares, equations) {
    return { is: "Witness", factors, linear, products, squares, equations };
}

// goal_evidence: ws : list witness
function Below(ws) {
    return { is: "Below", ws };
}

// goal_evidence: b : box
function AtCorners(b) {
    return { is: "AtCorners", b };
}

// goal_evidence: gap : q; w : witness
function Never(gap, w) {
    return { is: "Never", gap, w };
}

// variable: i : nat
function State(i) {
    return { is: "State", i };
}

// variable: i : nat
function Input(i) {
    return { is: "Input", i };
}

// rate_evidence: mu : q; w : witness
function Rate(mu, w) {
    return { is: "Rate", mu, w };
}

// rate_evidence: gap : q; w : witness
function NoTime(gap, w) {
    return { is: "NoTime", gap, w };
}

// rate_evidence: v : variable; b : bound; at_low : rate_evidence; at_high : rate_evidence
function Ends(v, b, at_low, at_high) {
    return { is: "Ends", v, b, at_low, at_high };
}

// quadratic_evidence: functions : list quadratic; function_flow : list (list (list rate_evidence)); function_jumps : list (list goal_evidence); function_safety : list (prod q witness)
function QuadraticEvidence(functions, function_flow, function_jumps, function_safety) {
    return { is: "QuadraticEvidence", functions, function_flow, function_jumps, function_safety };
}

// quadratic_certificate: function_starts : list (list goal_evidence); function_evidences : list (option quadratic_evidence)
function QuadraticCertificate(function_starts, function_evidences) {
    return { is: "QuadraticCertificate", function_starts, function_evidences };
}

// matrix: one_row : form; state_rows : list form; next_rows : list form; input_rows : list form
function Matrix(one_row, state_rows, next_rows, input_rows) {
    return { is: "Matrix", one_row, state_rows, next_rows, input_rows };
}

// first_state: start_number : nat; start_case : nat; value_before_start : list q; value_at_start : list q; value_of_inputs : list q
function FirstState(start_number, start_case, value_before_start, value_at_start, value_of_inputs) {
    return { is: "FirstState", start_number, start_case, value_before_start, value_at_start, value_of_inputs };
}

// soon: ms : multipliers
function Inside(ms) {
    return { is: "Inside", ms };
}

// soon: ms : multipliers; slope : soon
function Falling(ms, slope) {
    return { is: "Falling", ms, slope };
}

// soon: top : affine; ms : multipliers; e : soon
function Under(top, ms, e) {
    return { is: "Under", top, ms, e };
}

// soon: family : list affine; now : list multipliers; ever : list facet; ms : multipliers
function Kept(family, now, ever, ms) {
    return { is: "Kept", family, now, ever, ms };
}

// way: ms : multipliers
function Nowhere(ms) {
    return { is: "Nowhere", ms };
}

// way: now : nat; proofs : list multipliers; case_number : nat; flow_number : nat; inputs : list form; es : list soon
function Wait(now, proofs, case_number, flow_number, inputs, es) {
    return { is: "Wait", now, proofs, case_number, flow_number, inputs, es };
}

// way: edge_number : nat; case_number : nat; next : list form; inputs : list form; proofs : list multipliers; change : option (prod nat multipliers)
function Take(edge_number, case_number, next, inputs, proofs, change) {
    return { is: "Take", edge_number, case_number, next, inputs, proofs, change };
}

// way: h : affine; strict_below : bool; below : way; above : way
function Choose(h, strict_below, below, above) {
    return { is: "Choose", h, strict_below, below, above };
}

// way: h : affine; below : way; above : way
function Round(h, below, above) {
    return { is: "Round", h, below, above };
}

// progress_certificate: reachable : polyhedral_certificate; first_of : first_state; ways : list (list (list way))
function ProgressCertificate(reachable, first_of, ways) {
    return { is: "ProgressCertificate", reachable, first_of, ways };
}

function negb(b) {
    // bool -> bool
    return !b;
}

function option_map(f, o) {
    // (A -> B) -> option A -> option B
    if (o !== null) {
        const a = o.value;
        return Some(f(a));
    }
    return null;
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

function add(n, m) {
    // nat -> nat -> nat
    const waiting = [];
    let result;
    while (true) {
        if (n === 0n) {
            result = m;
            break;
        }
        const p = n - 1n;
        waiting.push(true);
        n = p;
    }
    while (waiting.length) {
        waiting.pop();
        result = result + 1n;
    }
    return result;
}

function max(n, m) {
    // nat -> nat -> nat
    const waiting = [];
    let result;
    while (true) {
        if (n === 0n) {
            result = m;
            break;
        }
        const n1 = n - 1n;
        if (m === 0n) {
            result = n;
            break;
        }
        const m1 = m - 1n;
        waiting.push(true);
        [n, m] = [n1, m1];
    }
    while (waiting.length) {
        waiting.pop();
        result = result + 1n;
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

function flat_map(f, l) {
    // (A -> list B) -> list A -> list B
    const waiting = [];
    let result;
    while (true) {
        if (l === null) {
            result = null;
            break;
        }
        const [x, t] = l;
        waiting.push(x);
        l = t;
    }
    while (waiting.length) {
        const x = waiting.pop();
        result = app(f(x), result);
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

function existsb(f, l) {
    // (A -> bool) -> list A -> bool
    while (true) {
        if (l === null) {
            return false;
        }
        const [a, l0] = l;
        if (f(a)) {
            return true;
        }
        l = l0;
    }
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

function seq(start, len) {
    // nat -> nat -> list nat
    const waiting = [];
    let result;
    while (true) {
        if (len === 0n) {
            result = null;
            break;
        }
        const len0 = len - 1n;
        waiting.push(start);
        [start, len] = [start + 1n, len0];
    }
    while (waiting.length) {
        const start = waiting.pop();
        result = [start, result];
    }
    return result;
}

function list_max(l) {
    // list nat -> nat
    return fold_right((x) => (x1) => max(x, x1), 0n, l);
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

const one = Form([1n, 1n], null, null, null);

function at_place(place, v) {
    // (affine -> form) -> quadratic -> list term
    return map((m) => [[m.weight, place(m.first)], place(m.second)], v);
}

function rate(v, ds) {
    // quadratic -> list form -> list term
    return flat_map(
        (m) => [
            [[m.weight, along(m.first.gradient, ds)], before(m.second)],
            [[[m.weight, before(m.first)], along(m.second.gradient, ds)], null],
        ],
        v,
    );
}

function terms_scaled(m, ts) {
    // q -> list term -> list term
    function inner(t) {
        const [y, g] = t;
        const [q0, f] = y;
        return [[qmult_(m, q0), f], g];
    }
    return map(inner, ts);
}

function multiples(c, g) {
    // list q -> form -> list form
    return map((a) => form_scaled(a, g), c);
}

function outer(f, g) {
    // form -> form -> matrix
    return Matrix(
        form_scaled(f.constant, g),
        multiples(f.state_part, g),
        multiples(f.next_part, g),
        multiples(f.input_part, g),
    );
}

function forms_sum(a, b) {
    // list form -> list form -> list form
    const waiting = [];
    let result;
    while (true) {
        if (a === null) {
            result = b;
            break;
        }
        const [f, a1] = a;
        if (b === null) {
            result = a;
            break;
        }
        const [g, b1] = b;
        waiting.push([f, g]);
        [a, b] = [a1, b1];
    }
    while (waiting.length) {
        const [f, g] = waiting.pop();
        result = [form_sum(f, g), result];
    }
    return result;
}

function matrix_sum(m, n) {
    // matrix -> matrix -> matrix
    return Matrix(
        form_sum(m.one_row, n.one_row),
        forms_sum(m.state_rows, n.state_rows),
        forms_sum(m.next_rows, n.next_rows),
        forms_sum(m.input_rows, n.input_rows),
    );
}

function matrix_of_term(t) {
    // term -> matrix
    const [p, g] = t;
    const [q0, f] = p;
    const half = qmult_(q0, [1n, 2n]);
    return matrix_sum(outer(form_scaled(half, f), g), outer(form_scaled(half, g), f));
}

function matrix_of(ts) {
    // list term -> matrix
    return fold_right(
        (t) => (m) => matrix_sum(matrix_of_term(t), m),
        Matrix(zero_form, null, null, null),
        ts,
    );
}

function is_zero_form(f) {
    // form -> bool
    return is_constant(f) && is_zero(f.constant);
}

function vanishes(ts) {
    // list term -> bool
    const m = matrix_of(ts);
    return (
        is_zero_form(m.one_row)
        && forallb(is_zero_form, m.state_rows)
        && forallb(is_zero_form, m.next_rows)
        && forallb(is_zero_form, m.input_rows)
    );
}

function row_number(rows, i) {
    // list row -> nat -> form
    return nth(i, forms(rows), zero_form);
}

function surplus(rows, w) {
    // list row -> witness -> list term
    function inner(p) {
        const [y, m] = p;
        const [i, j] = y;
        return [[m, row_number(rows, i)], row_number(rows, j)];
    }
    function inner1(p1) {
        const [d, l] = p1;
        return [[d, l], l];
    }
    function inner2(p2) {
        const [y1, l1] = p2;
        const y0 = y1[0];
        const e = y0[0];
        return [[[1n, 1n], e], l1];
    }
    return [
        [[[-1n, 1n], combination(w.linear, forms(rows))], one],
        app(map(inner, w.products), app(map(inner1, w.squares), map(inner2, w.equations))),
    ];
}

function admissible(rows, w) {
    // list row -> witness -> bool
    if (!(
        all_nonneg(w.factors)
        && all_nonneg(w.linear)
        && forallb((p) => is_nonneg(p[1]), w.products)
        && forallb((p1) => is_nonneg(p1[0]), w.squares)
    )) {
        return false;
    }
    function inner(p2) {
        const y = p2[0];
        const [y1, ns] = y;
        const [e, ms] = y1;
        return implies(rows, e, ms) && implies(rows, form_scaled([-1n, 1n], e), ns);
    }
    return forallb(inner, w.equations);
}

function shows(rows, known, goal, w) {
    // list row -> list term -> list term -> witness -> bool
    return (
        admissible(rows, w)
        && vanishes(
            app(
                known,
                app(terms_scaled([-1n, 1n], goal), terms_scaled([-1n, 1n], surplus(rows, w))),
            )
        )
    );
}

function excludes(rows, known, gap, w) {
    // list row -> list term -> q -> witness -> bool
    return (
        shows(rows, known, [[[gap, one], one], null], w)
        && (is_positive(gap) || is_nonneg(gap) && uses_strict(w.linear, rows))
    );
}

function weighted_sum(ms, vs) {
    // multipliers -> list quadratic -> list term
    const waiting = [];
    let result;
    while (true) {
        if (ms === null) {
            result = null;
            break;
        }
        const [m, ms1] = ms;
        if (vs === null) {
            result = null;
            break;
        }
        const [v, vs1] = vs;
        waiting.push([m, v]);
        [ms, vs] = [ms1, vs1];
    }
    while (waiting.length) {
        const [m, v] = waiting.pop();
        result = app(terms_scaled(m, at_place(before, v)), result);
    }
    return result;
}

function fix_first(y, h) {
    // q -> affine -> affine
    const given = h.gradient;
    if (given === null) {
        return h;
    }
    const [a, c] = given;
    return Affine(qplus_(h.intercept, qmult_(a, y)), c);
}

function quadratic_fixed(y, v) {
    // q -> quadratic -> quadratic
    return map((m) => Monomial(m.weight, fix_first(y, m.first), fix_first(y, m.second)), v);
}

function without_first(h) {
    // affine -> bool
    const given = h.gradient;
    if (given === null) {
        return true;
    }
    const a = given[0];
    return is_zero(a);
}

function same_vector(a, b) {
    // list q -> list q -> bool
    while (true) {
        if (a === null) {
            return forallb(is_zero, b);
        }
        const [p, a1] = a;
        if (b === null) {
            return forallb(is_zero, a);
        }
        const [q0, b1] = b;
        if (!qeq_bool(p, q0)) {
            return false;
        }
        [a, b] = [a1, b1];
    }
}

function is_convex(v) {
    // quadratic -> bool
    return forallb(
        (m) => (
            (
                is_nonneg(m.weight)
                && qeq_bool(m.first.intercept, m.second.intercept)
                && same_vector(m.first.gradient, m.second.gradient)
            )
            || forallb(is_zero, m.first.gradient)
            || forallb(is_zero, m.second.gradient)
        ),
        v,
    );
}

function constant_value(v) {
    // quadratic -> q
    return fold_right(
        (m) => (s) => qplus_(
            qmult_(m.weight, qmult_(m.first.intercept, m.second.intercept)),
            s,
        ),
        [0n, 1n],
        v,
    );
}

function below_at_corners(b, v) {
    // box -> quadratic -> bool
    while (true) {
        if (b === null) {
            return (
                forallb(
                    (m) => (
                        forallb(is_zero, m.first.gradient)
                        && forallb(is_zero, m.second.gradient)
                    ),
                    v,
                )
                && qle_bool(constant_value(v), [0n, 1n])
            );
        }
        const [o, b1] = b;
        if (o !== null) {
            const b0 = o.value;
            const p = b0[0];
            const p0 = p[0];
            const [low, high] = p0;
            if (!below_at_corners(b1, quadratic_fixed(low, v))) {
                return false;
            }
            [b, v] = [b1, quadratic_fixed(high, v)];
            continue;
        }
        if (!forallb((m1) => without_first(m1.first) && without_first(m1.second), v)) {
            return false;
        }
        [b, v] = [b1, quadratic_fixed([0n, 1n], v)];
    }
}

function check_bound(rows, v, b) {
    // list row -> form -> bound -> bool
    const [p, ns] = b;
    const [p0, ms] = p;
    const [low, high] = p0;
    return (
        implies(rows, form_sum(Form(low, null, null, null), form_scaled([-1n, 1n], v)), ms)
        && implies(rows, form_sum(v, Form(qopp(high), null, null, null)), ns)
    );
}

function unit(i) {
    // nat -> list q
    const waiting = [];
    let result;
    while (true) {
        if (i === 0n) {
            result = [[1n, 1n], null];
            break;
        }
        const i1 = i - 1n;
        waiting.push(true);
        i = i1;
    }
    while (waiting.length) {
        waiting.pop();
        result = [[0n, 1n], result];
    }
    return result;
}

function check_box(rows, i, b) {
    // list row -> nat -> box -> bool
    while (true) {
        if (b === null) {
            return true;
        }
        const [o, b1] = b;
        if (o !== null) {
            const bd = o.value;
            if (!check_bound(rows, Form([0n, 1n], null, unit(i), null), bd)) {
                return false;
            }
            [i, b] = [i + 1n, b1];
            continue;
        }
        [i, b] = [i + 1n, b1];
    }
}

function put_zero(k, c) {
    // nat -> list q -> list q
    const waiting = [];
    let result;
    while (true) {
        if (k === 0n) {
            if (c === null) {
                result = null;
                break;
            }
            const c1 = c[1];
            result = [[0n, 1n], c1];
            break;
        }
        const k1 = k - 1n;
        if (c === null) {
            result = null;
            break;
        }
        const [a, c2] = c;
        waiting.push(a);
        [k, c] = [k1, c2];
    }
    while (waiting.length) {
        const a = waiting.pop();
        result = [a, result];
    }
    return result;
}

function with_parts(f, q0, xs, us) {
    // form -> q -> list q -> list q -> form
    return Form(qplus_(f.constant, q0), xs, f.next_part, us);
}

function fix_variable(v, q0, f) {
    // variable -> q -> form -> form
    if (v.is === "State") {
        const { i } = v;
        return with_parts(
            f,
            qmult_(nth(i, f.state_part, [0n, 1n]), q0),
            put_zero(i, f.state_part),
            f.input_part,
        );
    }
    else {
        const { i: i1 } = v;
        return with_parts(
            f,
            qmult_(nth(i1, f.input_part, [0n, 1n]), q0),
            f.state_part,
            put_zero(i1, f.input_part),
        );
    }
}

function form_of(v) {
    // variable -> form
    if (v.is === "State") {
        const { i } = v;
        return Form([0n, 1n], unit(i), null, null);
    }
    else {
        const { i: i1 } = v;
        return Form([0n, 1n], null, null, unit(i1));
    }
}

function check_goal(source, aim, rows, e) {
    // list quadratic -> option (list quadratic) -> list row -> goal_evidence -> bool
    if (e.is === "Below") {
        const { ws } = e;
        if (aim !== null) {
            const vs = aim.value;
            return all2(
                (v) => (w) => shows(
                    rows,
                    weighted_sum(w.factors, source),
                    at_place(after, v),
                    w,
                ),
                vs,
                ws,
            );
        }
        return false;
    }
    else if (e.is === "AtCorners") {
        const { b } = e;
        if (aim !== null) {
            const vs1 = aim.value;
            return (
                check_box(rows, 0n, b)
                && forallb((v1) => is_convex(v1) && below_at_corners(b, v1), vs1)
            );
        }
        return false;
    }
    else {
        const { gap, w: w1 } = e;
        return excludes(rows, weighted_sum(w1.factors, source), gap, w1);
    }
}

function check_rate(earlier, v, rows, ds, e) {
    // list quadratic -> quadratic -> list row -> list form -> rate_evidence -> bool
    while (true) {
        if (e.is === "Rate") {
            const { mu, w } = e;
            return shows(
                rows,
                app(terms_scaled(mu, at_place(before, v)), weighted_sum(w.factors, earlier)),
                rate(v, ds),
                w,
            );
        }
        else if (e.is === "NoTime") {
            const { gap, w: w1 } = e;
            return excludes(rows, weighted_sum(w1.factors, earlier), gap, w1);
        }
        else {
            const { v: v0, b, at_low, at_high } = e;
            const p = b[0];
            const p0 = p[0];
            const [low, high] = p0;
            if (!check_bound(rows, form_of(v0), b)) {
                return false;
            }
            if (!check_rate(
                earlier,
                v,
                rows,
                map((x) => fix_variable(v0, low, x), ds),
                at_low,
            )) {
                return false;
            }
            [ds, e] = [map((x1) => fix_variable(v0, high, x1), ds), at_high];
            continue;
        }
    }
}

function check_rates(l, earlier, vs, es) {
    // location -> list quadratic -> list quadratic -> list (list (list rate_evidence)) -> bool
    while (true) {
        const earlier1 = earlier;
        if (vs === null) {
            if (es === null) {
                return true;
            }
            return false;
        }
        const [v, vs1] = vs;
        if (es === null) {
            return false;
        }
        const [e, es1] = es;
        if (!all2(
            (rows) => (x1) => all2(
                (d) => (x) => check_rate(earlier1, v, app(rows, d.rate_rows), d.rates, x),
                l.flows,
                x1,
            ),
            l.invariant,
            e,
        )) {
            return false;
        }
        [earlier, vs, es] = [app(earlier1, [v, null]), vs1, es1];
    }
}

function functions_of(cert, l) {
    // quadratic_certificate -> nat -> option (list quadratic)
    return option_map((q0) => q0.functions, nth(l, cert.function_evidences, null));
}

function check_functions(cert, l, o) {
    // quadratic_certificate -> location -> option quadratic_evidence -> bool
    if (o !== null) {
        const e = o.value;
        if (!check_rates(l, null, e.functions, e.function_flow)) {
            return false;
        }
        function inner1(j) {
            function inner(x) {
                const given1 = functions_of(cert, j.target);
                return all2(
                    (x3) => (x4) => check_goal(e.functions, given1, x3, x4),
                    j.relation,
                    x,
                );
            }
            return inner;
        }
        return (
            all2(inner1, l.edges, e.function_jumps)
            && all2(
                (rows) => (p) => excludes(
                    rows,
                    weighted_sum(p[1].factors, e.functions),
                    p[0],
                    p[1],
                ),
                l.bad,
                e.function_safety,
            )
        );
    }
    return true;
}

function check_quadratic(a, cert) {
    // automaton -> quadratic_certificate -> bool
    function inner1(s) {
        function inner(x) {
            const given1 = functions_of(cert, s[0]);
            return all2((x3) => (x4) => check_goal(null, given1, x3, x4), s[1], x);
        }
        return inner;
    }
    return (
        all2(inner1, a.starts, cert.function_starts)
        && all2(
            (x5) => (x6) => check_functions(cert, x5, x6),
            a.locations,
            cert.function_evidences,
        )
    );
}

function filled(next, inputs, f) {
    // list form -> list form -> form -> form
    return form_sum(
        Form(f.constant, f.state_part, null, null),
        form_sum(along(f.next_part, next), along(f.input_part, inputs)),
    );
}

function with_given(given, inputs) {
    // list nat -> list form -> list form
    function inner(i) {
        if (existsb((x) => i === x, given)) {
            return Form([0n, 1n], null, null, unit(i));
        }
        return nth(i, inputs, zero_form);
    }
    return map(inner, seq(0n, add(length(inputs), list_max(given) + 1n)));
}

function not_below(h) {
    // form -> row
    return Row(form_scaled([-1n, 1n], h), false);
}

function input_free(h) {
    // form -> bool
    return forallb((a) => qeq_bool(a, [0n, 1n]), h.input_part);
}

function from_one(h) {
    // affine -> form
    return form_sum(Form([1n, 1n], null, null, null), form_scaled([-1n, 1n], before(h)));
}

function bare(fs, bounds) {
    // list form -> list row -> location
    return Location([null, null], [Dynamics(fs, bounds), null], null, null);
}

function one_cell(family) {
    // list affine -> region
    return Region(null, [Cell(null, family), null], null, [0n, 1n]);
}

function keeps(fs, bounds, family, ever) {
    // list form -> list row -> list affine -> list facet -> bool
    return check_facets(
        bare(fs, bounds),
        one_cell(family),
        RegionEvidence(
            one_cell(family),
            [map((e) => [[e, null], null], ever), null],
            null,
            null,
            null,
        ),
    );
}

function check_soon(rows, bounds, fs, less, h, e) {
    // list row -> list row -> list form -> bool -> form -> soon -> bool
    while (true) {
        if (e.is === "Inside") {
            const { ms } = e;
            return refutes(app(rows, app(bounds, [not_below(h), null])), ms);
        }
        else if (e.is === "Falling") {
            const { ms: ms1, slope } = e;
            if (!(input_free(h) && implies(app(rows, bounds), h, ms1))) {
                return false;
            }
            [h, e] = [along(h.state_part, fs), slope];
            continue;
        }
        else if (e.is === "Under") {
            const { top, ms: ms2, e: e1 } = e;
            if (!implies(bounds, form_sum(h, form_scaled([-1n, 1n], before(top))), ms2)) {
                return false;
            }
            [h, e] = [before(top), e1];
            continue;
        }
        else {
            const { family, now, ever, ms: ms3 } = e;
            return (
                negb(less)
                && all2((k) => (ns) => implies(rows, before(k), ns), family, now)
                && keeps(fs, bounds, family, ever)
                && implies(app(rows_before(family), bounds), h, ms3)
            );
        }
    }
}

function check_row(rows, bounds, next, inputs, r, ms) {
    // list row -> list row -> list form -> list form -> row -> multipliers -> bool
    const h = filled(next, inputs, r.row_form);
    if (r.strict) {
        return refutes(app(rows, app(bounds, [not_below(h), null])), ms);
    }
    return implies(app(rows, bounds), h, ms);
}

function check_wait(s, l, rows, now, proofs, case_number, flow_number, inputs, es) {
    // system -> location -> list row -> nat -> list multipliers -> nat -> nat -> list form -> list soon -> bool
    const found = nth_error(l.invariant, now);
    if (found !== null) {
        const here = found.value;
        const found1 = nth_error(l.invariant, case_number);
        if (found1 !== null) {
            const case1 = found1.value;
            const found2 = nth_error(l.flows, flow_number);
            if (found2 !== null) {
                const d = found2.value;
                const us = with_given(s.given, inputs);
                const fs = map((x) => filled(null, us, x), d.rates);
                return (
                    all2(
                        (x1) => (x2) => check_row(rows, s.bounds, null, us, x1, x2),
                        here,
                        proofs,
                    )
                    && all2(
                        (r) => (e) => check_soon(
                            rows,
                            s.bounds,
                            fs,
                            r.strict,
                            filled(null, us, r.row_form),
                            e,
                        ),
                        app(case1, d.rate_rows),
                        es,
                    )
                );
            }
            return false;
        }
        return false;
    }
    return false;
}

function check_change(rows, bounds, next, i, ms) {
    // list row -> list row -> list form -> nat -> multipliers -> bool
    const d = form_sum(
        nth(i, next, zero_form),
        form_scaled([-1n, 1n], Form([0n, 1n], unit(i), null, null)),
    );
    return refutes(
        app(rows, app(bounds, [Row(d, false), [Row(form_scaled([-1n, 1n], d), false), null]])),
        ms,
    );
}

function is_whole(q0) {
    // q -> bool
    return qred(q0)[1] === 1n;
}

function whole_sum(whole, i, c) {
    // list nat -> nat -> list q -> bool
    while (true) {
        const i1 = i;
        if (c === null) {
            return true;
        }
        const [a, c1] = c;
        let value;
        if (existsb((x) => i1 === x, whole)) {
            value = is_whole(a);
        }
        else {
            value = qeq_bool(a, [0n, 1n]);
        }
        if (!value) {
            return false;
        }
        [i, c] = [i1 + 1n, c1];
    }
}

function whole_function(whole, h) {
    // list nat -> affine -> bool
    return is_whole(h.intercept) && whole_sum(whole, 0n, h.gradient);
}

function check_whole(whole, next) {
    // list nat -> list form -> bool
    function inner(i) {
        const f = nth(i, next, zero_form);
        return input_free(f) && whole_function(whole, Affine(f.constant, f.state_part));
    }
    return forallb(inner, whole);
}

function check_take(s, l, l0, rows, edge_number, case_number, next, inputs, proofs, change) {
    // system -> nat -> location -> list row -> nat -> nat -> list form -> list form -> list multipliers -> option (prod nat multipliers) -> bool
    const found = nth_error(l0.edges, edge_number);
    if (found !== null) {
        const j = found.value;
        const found1 = nth_error(j.relation, case_number);
        if (found1 !== null) {
            const case1 = found1.value;
            const given = with_given(s.given, inputs);
            if (!(
                all2(
                    (x) => (x1) => check_row(rows, s.bounds, next, given, x, x1),
                    case1,
                    proofs,
                )
                && check_whole(s.whole, next)
            )) {
                return false;
            }
            if (change !== null) {
                const p = change.value;
                const [i, ms] = p;
                return i < s.dimension && check_change(rows, s.bounds, next, i, ms);
            }
            return negb(j.target === l);
        }
        return false;
    }
    return false;
}

function check_way(s, l, l0, rows, w) {
    // system -> nat -> location -> list row -> way -> bool
    while (true) {
        if (w.is === "Nowhere") {
            const { ms } = w;
            return refutes(rows, ms);
        }
        else if (w.is === "Wait") {
            const { now, proofs, case_number, flow_number, inputs, es } = w;
            return check_wait(s, l0, rows, now, proofs, case_number, flow_number, inputs, es);
        }
        else if (w.is === "Take") {
            const { edge_number, case_number: case_number1, next, inputs: inputs1, proofs: proofs1, change } = w;
            return check_take(
                s,
                l,
                l0,
                rows,
                edge_number,
                case_number1,
                next,
                inputs1,
                proofs1,
                change,
            );
        }
        else if (w.is === "Choose") {
            const { h, strict_below, below, above } = w;
            if (!check_way(s, l, l0, app(rows, [Row(before(h), strict_below), null]), below)) {
                return false;
            }
            [rows, w] = [
                app(rows, [Row(form_scaled([-1n, 1n], before(h)), negb(strict_below)), null]),
                above,
            ];
            continue;
        }
        else {
            const { h: h1, below: below1, above: above1 } = w;
            if (!whole_function(s.whole, h1)) {
                return false;
            }
            if (!check_way(s, l, l0, app(rows, [Row(before(h1), false), null]), below1)) {
                return false;
            }
            [rows, w] = [app(rows, [Row(from_one(h1), false), null]), above1];
            continue;
        }
    }
}

function check_ways(s, cert) {
    // system -> progress_certificate -> bool
    return all2(
        (lL) => (x2) => all2(
            (g) => (x1) => all2(
                (c) => (x) => check_way(s, lL[0], lL[1], rows_before(borders(g, c)), x),
                g.cells,
                x1,
            ),
            regions_of(cert.reachable, lL[0]),
            x2,
        ),
        numbered(0n, s.narrow.locations),
        cert.ways,
    );
}

function dot_at(c, v) {
    // list q -> list q -> q
    const waiting = [];
    let result;
    while (true) {
        if (c === null) {
            result = [0n, 1n];
            break;
        }
        const [a, c1] = c;
        if (v === null) {
            result = [0n, 1n];
            break;
        }
        const [b, v1] = v;
        waiting.push([a, b]);
        [c, v] = [c1, v1];
    }
    while (waiting.length) {
        const [a, b] = waiting.pop();
        result = qplus_(qmult_(a, b), result);
    }
    return result;
}

function value_at(f, x, y, u) {
    // form -> list q -> list q -> list q -> q
    return qplus_(
        f.constant,
        qplus_(
            dot_at(f.state_part, x),
            qplus_(dot_at(f.next_part, y), dot_at(f.input_part, u)),
        ),
    );
}

function whole_at(whole, v) {
    // list nat -> list q -> bool
    return forallb((i) => is_whole(nth(i, v, [0n, 1n])), whole);
}

function check_first(s, f) {
    // system -> first_state -> bool
    const found = nth_error(s.narrow.starts, f.start_number);
    if (found !== null) {
        const start = found.value;
        const found1 = nth_error(start[1], f.start_case);
        if (found1 !== null) {
            const rows = found1.value;
            function inner(r) {
                const v = value_at(
                    r.row_form,
                    f.value_before_start,
                    f.value_at_start,
                    f.value_of_inputs,
                );
                if (r.strict) {
                    return negb(qle_bool([0n, 1n], v));
                }
                return qle_bool(v, [0n, 1n]);
            }
            return (
                forallb(inner, rows)
                && whole_at(s.whole, f.value_before_start)
                && whole_at(s.whole, f.value_at_start)
            );
        }
        return false;
    }
    return false;
}

function check_progress(s, cert) {
    // system -> progress_certificate -> bool
    return (
        check_polyhedral(s.wide, cert.reachable)
        && length(s.wide.locations) === length(s.narrow.locations)
        && check_first(s, cert.first_of)
        && check_ways(s, cert)
    );
}

// Functions that recurse on the depth of trees: below_at_corners, check_cover, check_rate, check_way.

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
};

const CONSTRUCTORS = {
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
};
