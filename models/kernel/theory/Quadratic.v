(* Quadratic functions that stay at or below zero: their certificates, and the function that checks
   them. Ellipsoids and energies are such functions.

   Interface
     automaton, location, edge, dynamics, row, form   the problem            (Semantics.v)
     affine, monomial, quadratic                      the functions
     witness, goal_evidence, rate_evidence            evidence for one obligation
     quadratic_evidence, quadratic_certificate        evidence for all of them
     check_quadratic : automaton -> quadratic_certificate -> bool          the entry point
     quadratic_sound : check_quadratic a cert = true -> safe a         (QuadraticSound.v) *)

From Coq Require Import QArith Qreduction List Bool.
From Kernel Require Import Semantics Farkas Polyhedral.
Import ListNotations.
Open Scope Q_scope.

(** * The invariant *)

(* weight * first * second *)
Record monomial := Monomial { weight : Q; first : affine; second : affine }.

(* The sum of its monomials. *)
Definition quadratic := list monomial.

(** * Evidence *)

(* Why the sum of given functions V_i, with factors, is at least a goal, where rows g_j <= 0 hold:
     sum factors_i V_i - goal = - sum linear_j g_j + sum m g_j g_k + sum d l l + sum e l
   with factors, linear_j, m and d not negative; e is 0, as the rows imply by the two lists of
   multipliers, for e <= 0 and for - e <= 0. *)
Record witness := Witness
  { factors : multipliers;
    linear : multipliers;
    products : list (nat * nat * Q);                              (* j, k, m *)
    squares : list (Q * form);                                    (* d, l *)
    equations : list (form * multipliers * multipliers * form) }. (* e, e <= 0, - e <= 0, l *)

(* Bounds of the variables of a box, one for each in order, with the multipliers that show low <= y
   and y <= high; None for a variable that does not matter. *)
Definition bound := (Q * Q * multipliers * multipliers)%type.
Definition box := list (option bound).

(* Why the functions of the target are at most 0 after a jump, or at a start. *)
Inductive goal_evidence :=
  (* a witness for each function *)
| Below (ws : list witness)
  (* the state after lies in a box, and the functions are convex and at most 0 at its corners *)
| AtCorners (b : box)
  (* there are no such states: the known functions are at least the gap, and more if it is 0 *)
| Never (gap : Q) (w : witness).

(* A variable of the state, or an input, by its number. *)
Inductive variable := State (i : nat) | Input (i : nat).

(* Why a function V does not rise above 0 while time passes. *)
Inductive rate_evidence :=
  (* V' <= mu V + sum factors_i V_i for the functions before V *)
| Rate (mu : Q) (w : witness)
  (* no time passes here *)
| NoTime (gap : Q) (w : witness)
  (* a variable lies between two numbers; evidence for the derivatives with each of them for it *)
| Ends (v : variable) (b : bound) (at_low at_high : rate_evidence).

(* The functions of a location, each using those before it, with evidence
   - function_flow: by function, case of the invariant, dynamics;
   - function_jumps: by edge, case of its relation;
   - function_safety: by case of the bad states, a gap and a witness. *)
Record quadratic_evidence := QuadraticEvidence
  { functions : list quadratic;
    function_flow : list (list (list rate_evidence));
    function_jumps : list (list goal_evidence);
    function_safety : list (Q * witness) }.

(* function_starts: by start, case; function_evidences: by location, None where no run comes. *)
Record quadratic_certificate := QuadraticCertificate
  { function_starts : list (list goal_evidence);
    function_evidences : list (option quadratic_evidence) }.

(** * Polynomials of degree two *)

(* q * f * g, and sums of such terms. *)
Definition term := (Q * form * form)%type.

Definition one : form := Form 1 [] [] [].

Definition at_place (place : affine -> form) (V : quadratic) : list term :=
  map (fun m => (weight m, place (first m), place (second m))) V.

(* The derivative of V, where ds are those of the state. *)
Definition rate (V : quadratic) (ds : list form) : list term :=
  flat_map (fun m =>
    [(weight m, along (gradient (first m)) ds, before (second m));
     (weight m, before (first m), along (gradient (second m)) ds)]) V.

Definition terms_scaled (m : Q) (ts : list term) : list term :=
  map (fun t => let '(q, f, g) := t in (Qmult' m q, f, g)) ts.

(* A matrix over (1, x, y, u), row by row: the sum of 1, x_i, y_i, u_i times its rows. *)
Record matrix := Matrix
  { one_row : form; state_rows : list form; next_rows : list form; input_rows : list form }.

Definition multiples (c : list Q) (g : form) : list form := map (fun a => form_scaled a g) c.

Definition outer (f g : form) : matrix :=
  Matrix (form_scaled (constant f) g) (multiples (state_part f) g)
    (multiples (next_part f) g) (multiples (input_part f) g).

Fixpoint forms_sum (a b : list form) : list form :=
  match a, b with
  | [], _ => b
  | _, [] => a
  | f :: a', g :: b' => form_sum f g :: forms_sum a' b'
  end.

Definition matrix_sum (M N : matrix) : matrix :=
  Matrix (form_sum (one_row M) (one_row N)) (forms_sum (state_rows M) (state_rows N))
    (forms_sum (next_rows M) (next_rows N)) (forms_sum (input_rows M) (input_rows N)).

(* Symmetric, so that it is 0 if the polynomial is. *)
Definition matrix_of_term (t : term) : matrix :=
  let '(q, f, g) := t in
  let half := Qmult' q (1 # 2) in
  matrix_sum (outer (form_scaled half f) g) (outer (form_scaled half g) f).

Definition matrix_of (ts : list term) : matrix :=
  fold_right (fun t M => matrix_sum (matrix_of_term t) M) (Matrix zero_form [] [] []) ts.

Definition is_zero_form (f : form) : bool := is_constant f && is_zero (constant f).

Definition vanishes (ts : list term) : bool :=
  let M := matrix_of ts in
  is_zero_form (one_row M) && forallb is_zero_form (state_rows M) &&
  forallb is_zero_form (next_rows M) && forallb is_zero_form (input_rows M).

(** * Witnesses *)

Definition row_number (rows : list row) (i : nat) : form := nth i (forms rows) zero_form.

(* What the witness says is not negative. *)
Definition surplus (rows : list row) (w : witness) : list term :=
  ((-1)%Q, combination (linear w) (forms rows), one) ::
  map (fun p => let '(i, j, m) := p in (m, row_number rows i, row_number rows j)) (products w) ++
  map (fun p => let '(d, l) := p in (d, l, l)) (squares w) ++
  map (fun p => let '(e, _, _, l) := p in (1%Q, e, l)) (equations w).

Definition admissible (rows : list row) (w : witness) : bool :=
  all_nonneg (factors w) && all_nonneg (linear w) &&
  forallb (fun p => is_nonneg (snd p)) (products w) &&
  forallb (fun p => is_nonneg (fst p)) (squares w) &&
  forallb (fun p => let '(e, ms, ns, _) := p in
             implies rows e ms && implies rows (form_scaled (-1) e) ns) (equations w).

(* goal <= known *)
Definition shows (rows : list row) (known goal : list term) (w : witness) : bool :=
  admissible rows w &&
  vanishes (known ++ terms_scaled (-1) goal ++ terms_scaled (-1) (surplus rows w)).

(* 0 < known *)
Definition excludes (rows : list row) (known : list term) (gap : Q) (w : witness) : bool :=
  shows rows known [(gap, one, one)] w &&
  (is_positive gap || (is_nonneg gap && uses_strict (linear w) rows)).

Fixpoint weighted_sum (ms : multipliers) (Vs : list quadratic) : list term :=
  match ms, Vs with
  | m :: ms', V :: Vs' => terms_scaled m (at_place before V) ++ weighted_sum ms' Vs'
  | _, _ => []
  end.

(** * Boxes *)

(* The first variable of the state is y. *)
Definition fix_first (y : Q) (h : affine) : affine :=
  match gradient h with
  | [] => h
  | a :: c => Affine (Qplus' (intercept h) (Qmult' a y)) c
  end.

Definition quadratic_fixed (y : Q) (V : quadratic) : quadratic :=
  map (fun m => Monomial (weight m) (fix_first y (first m)) (fix_first y (second m))) V.

Definition without_first (h : affine) : bool :=
  match gradient h with [] => true | a :: _ => is_zero a end.

Fixpoint same_vector (a b : list Q) : bool :=
  match a, b with
  | [], _ => forallb is_zero b
  | _, [] => forallb is_zero a
  | p :: a', q :: b' => Qeq_bool p q && same_vector a' b'
  end.

(* Each monomial is a square with a positive weight, or linear. *)
Definition is_convex (V : quadratic) : bool :=
  forallb (fun m =>
    (is_nonneg (weight m) && Qeq_bool (intercept (first m)) (intercept (second m)) &&
     same_vector (gradient (first m)) (gradient (second m))) ||
    forallb is_zero (gradient (first m)) || forallb is_zero (gradient (second m))) V.

Definition constant_value (V : quadratic) : Q :=
  fold_right (fun m s => Qplus' (Qmult' (weight m) (Qmult' (intercept (first m))
                                                     (intercept (second m)))) s) 0 V.

(* V is at most 0 at all corners of the box. *)
Fixpoint below_at_corners (b : box) (V : quadratic) : bool :=
  match b with
  | [] =>
      forallb (fun m => forallb is_zero (gradient (first m)) &&
                        forallb is_zero (gradient (second m))) V &&
      Qle_bool (constant_value V) 0
  | None :: b' =>
      forallb (fun m => without_first (first m) && without_first (second m)) V &&
      below_at_corners b' (quadratic_fixed 0 V)
  | Some (low, high, _, _) :: b' =>
      below_at_corners b' (quadratic_fixed low V) && below_at_corners b' (quadratic_fixed high V)
  end.

(* low <= v <= high, where v is a form *)
Definition check_bound (rows : list row) (v : form) (b : bound) : bool :=
  let '(low, high, ms, ns) := b in
  implies rows (form_sum (Form low [] [] []) (form_scaled (-1) v)) ms &&
  implies rows (form_sum v (Form (Qopp high) [] [] [])) ns.

(* The i-th coefficient is 1. *)
Fixpoint unit (i : nat) : list Q := match i with O => [1] | S i' => 0 :: unit i' end.

Fixpoint check_box (rows : list row) (i : nat) (b : box) : bool :=
  match b with
  | [] => true
  | None :: b' => check_box rows (S i) b'
  | Some bd :: b' => check_bound rows (Form 0 [] (unit i) []) bd && check_box rows (S i) b'
  end.

(** * Variables at their ends *)

Fixpoint put_zero (k : nat) (c : list Q) : list Q :=
  match k, c with
  | _, [] => []
  | O, _ :: c' => 0 :: c'
  | S k', a :: c' => a :: put_zero k' c'
  end.

Definition with_parts (f : form) (q : Q) (xs us : list Q) : form :=
  Form (Qplus' (constant f) q) xs (next_part f) us.

(* The variable is q. *)
Definition fix_variable (v : variable) (q : Q) (f : form) : form :=
  match v with
  | State i => with_parts f (Qmult' (nth i (state_part f) 0) q) (put_zero i (state_part f)) (input_part f)
  | Input i => with_parts f (Qmult' (nth i (input_part f) 0) q) (state_part f) (put_zero i (input_part f))
  end.

Definition form_of (v : variable) : form :=
  match v with
  | State i => Form 0 (unit i) [] []
  | Input i => Form 0 [] [] (unit i)
  end.

(** * The checker *)

Definition check_goal (source : list quadratic) (aim : option (list quadratic)) (rows : list row)
    (e : goal_evidence) : bool :=
  match e, aim with
  | Never gap w, _ => excludes rows (weighted_sum (factors w) source) gap w
  | Below ws, Some Vs =>
      all2 (fun V w => shows rows (weighted_sum (factors w) source) (at_place after V) w) Vs ws
  | AtCorners b, Some Vs =>
      check_box rows 0 b && forallb (fun V => is_convex V && below_at_corners b V) Vs
  | _, None => false
  end.

Fixpoint check_rate (earlier : list quadratic) (V : quadratic) (rows : list row) (ds : list form)
    (e : rate_evidence) : bool :=
  match e with
  | Rate mu w =>
      shows rows (terms_scaled mu (at_place before V) ++ weighted_sum (factors w) earlier)
        (rate V ds) w
  | NoTime gap w => excludes rows (weighted_sum (factors w) earlier) gap w
  | Ends v b at_low at_high =>
      let '(low, high, _, _) := b in
      check_bound rows (form_of v) b &&
      check_rate earlier V rows (map (fix_variable v low) ds) at_low &&
      check_rate earlier V rows (map (fix_variable v high) ds) at_high
  end.

Fixpoint check_rates (L : location) (earlier Vs : list quadratic)
    (es : list (list (list rate_evidence))) : bool :=
  match Vs, es with
  | [], [] => true
  | V :: Vs', e :: es' =>
      all2 (fun rows =>
        all2 (fun d => check_rate earlier V (rows ++ rate_rows d) (rates d)) (flows L))
        (invariant L) e &&
      check_rates L (earlier ++ [V]) Vs' es'
  | _, _ => false
  end.

Definition functions_of (cert : quadratic_certificate) (l : nat) : option (list quadratic) :=
  option_map functions (nth l (function_evidences cert) None).

Definition check_functions (cert : quadratic_certificate) (L : location)
    (o : option quadratic_evidence) : bool :=
  match o with
  | None => true
  | Some e =>
      check_rates L [] (functions e) (function_flow e) &&
      all2 (fun j => all2 (check_goal (functions e) (functions_of cert (target j))) (relation j))
        (edges L) (function_jumps e) &&
      all2 (fun rows p => excludes rows (weighted_sum (factors (snd p)) (functions e)) (fst p) (snd p))
        (bad L) (function_safety e)
  end.

Definition check_quadratic (a : automaton) (cert : quadratic_certificate) : bool :=
  all2 (fun s => all2 (check_goal [] (functions_of cert (fst s))) (snd s))
    (starts a) (function_starts cert) &&
  all2 (check_functions cert) (locations a) (function_evidences cert).
