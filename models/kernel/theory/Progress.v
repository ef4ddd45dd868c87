(* Progress, that runs never block: certificates, and the function that checks them.

   Interface
     system, automaton, location, edge, row, form     the problem            (Semantics.v)
     polyhedral_certificate                           what states are reachable (Polyhedral.v)
     first_state, soon, way                           evidence for one obligation
     progress_certificate                             evidence for all of them
     check_progress : system -> progress_certificate -> bool               the entry point
     progress_sound : check_progress s cert = true -> never_blocks s          (ProgressSound.v)

   Runs of an automaton that allows too much may go on where those of a stricter one are stuck. So
   the wide automaton of a system says where runs come, and the narrow one what they can do there. *)

From Coq Require Import QArith Qreduction List Bool Arith.
From Kernel Require Import Semantics Farkas Polyhedral Quadratic.
Import ListNotations.
Open Scope Q_scope.

(** * Evidence *)

(* A state in which runs start: the start and its case, and values of x, y and u. *)
Record first_state := FirstState
  { start_number : nat; start_case : nat;
    value_before_start : list Q; value_at_start : list Q; value_of_inputs : list Q }.

(* Why a form h over x and u is at most 0 for a while from now on (not counting now), or less. *)
Inductive soon :=
  (* h < 0 now *)
| Inside (ms : multipliers)
  (* h, of x alone, is at most 0 now, and its derivative is at most 0, or less, for a while *)
| Falling (ms : multipliers) (slope : soon)
  (* h is at most a function of x alone, within the bounds, of which this is so *)
| Under (top : affine) (ms : multipliers) (e : soon)
  (* functions of a family are at most 0 now and ever after, since flow does not leave a cell of
     which they are the rows; and together they imply h <= 0 *)
| Kept (family : list affine) (now : list multipliers) (ever : list facet) (ms : multipliers).

(* What happens in the states where some rows hold. *)
Inductive way :=
  (* there are no such states *)
| Nowhere (ms : multipliers)
  (* time passes: a case of the invariant holds now; and with one of the dynamics, with inputs that
     are forms over x and what is given, its rows and those of a case of the invariant hold for a
     while *)
| Wait (now : nat) (proofs : list multipliers) (case_number flow_number : nat)
    (inputs : list form) (es : list soon)
  (* an edge is taken, in a case of its relation, to a state that is a form over x and what is given:
     the rows hold; the change is a variable that is not the same after the jump, and why, needed
     if the edge leads to its own location *)
| Take (edge_number case_number : nat) (next inputs : list form) (proofs : list multipliers)
    (change : option (nat * multipliers))
  (* cases h <= 0 and h > 0; with strict_below h < 0 and h >= 0 *)
| Choose (h : affine) (strict_below : bool) (below above : way)
  (* cases h <= 0 and h >= 1 of what is a whole number *)
| Round (h : affine) (below above : way).

(* ways: by location, region, cell of what is reachable. *)
Record progress_certificate := ProgressCertificate
  { reachable : polyhedral_certificate; first_of : first_state; ways : list (list (list way)) }.

(** * Forms in place of variables *)

(* A form with forms over x and u in place of y and u. *)
Definition filled (next inputs : list form) (f : form) : form :=
  form_sum (Form (constant f) (state_part f) [] [])
    (form_sum (along (next_part f) next) (along (input_part f) inputs)).

(* The inputs: what is given stays as it is. *)
Definition with_given (given : list nat) (inputs : list form) : list form :=
  map (fun i => if existsb (Nat.eqb i) given then Form 0 [] [] (unit i) else nth i inputs zero_form)
    (seq 0 (length inputs + S (list_max given))).

(* not (h < 0) *)
Definition not_below (h : form) : row := Row (form_scaled (-1) h) false.

(* A form over x alone. *)
Definition input_free (h : form) : bool := forallb (fun a => Qeq_bool a 0) (input_part h).

(* 1 - h *)
Definition from_one (h : affine) : form :=
  form_sum (Form 1 [] [] []) (form_scaled (-1) (before h)).

(** * Time *)

(* The location in which nothing happens but that flow, and the region that is to be kept. *)
Definition bare (fs : list form) (bounds : list row) : location :=
  Location [[]] [Dynamics fs bounds] [] [].

Definition one_cell (family : list affine) : region := Region [] [Cell [] family] [] 0.

Definition keeps (fs : list form) (bounds : list row) (family : list affine) (ever : list facet)
    : bool :=
  check_facets (bare fs bounds) (one_cell family)
    (RegionEvidence (one_cell family) [map (fun e => [[e]]) ever] [] [] []).

(* The derivatives of the variables are fs, over x and u within bounds. *)
Fixpoint check_soon (rows bounds : list row) (fs : list form) (less : bool) (h : form) (e : soon)
    : bool :=
  match e with
  | Inside ms => refutes (rows ++ bounds ++ [not_below h]) ms
  | Falling ms slope =>
      input_free h && implies (rows ++ bounds) h ms &&
      check_soon rows bounds fs less (along (state_part h) fs) slope
  | Under top ms e' =>
      implies bounds (form_sum h (form_scaled (-1) (before top))) ms &&
      check_soon rows bounds fs less (before top) e'
  | Kept family now ever ms =>
      negb less && all2 (fun k ns => implies rows (before k) ns) family now &&
      keeps fs bounds family ever && implies (rows_before family ++ bounds) h ms
  end.

(* A row holds now, with forms in place of the next state and the inputs. *)
Definition check_row (rows bounds : list row) (next inputs : list form) (r : row)
    (ms : multipliers) : bool :=
  let h := filled next inputs (row_form r) in
  if strict r then refutes (rows ++ bounds ++ [not_below h]) ms else implies (rows ++ bounds) h ms.

Definition check_wait (s : system) (L : location) (rows : list row) (now : nat)
    (proofs : list multipliers) (case_number flow_number : nat) (inputs : list form)
    (es : list soon) : bool :=
  match nth_error (invariant L) now, nth_error (invariant L) case_number,
    nth_error (flows L) flow_number
  with
  | Some here, Some case, Some d =>
      let us := with_given (given s) inputs in
      let fs := map (filled [] us) (rates d) in
      all2 (check_row rows (bounds s) [] us) here proofs &&
      all2 (fun r e => check_soon rows (bounds s) fs (strict r) (filled [] us (row_form r)) e)
        (case ++ rate_rows d) es
  | _, _, _ => false
  end.

(** * Jumps *)

(* Variable i changes. *)
Definition check_change (rows bounds : list row) (next : list form) (i : nat) (ms : multipliers)
    : bool :=
  let d := form_sum (nth i next zero_form) (form_scaled (-1) (Form 0 (unit i) [] [])) in
  refutes (rows ++ bounds ++ [Row d false; Row (form_scaled (-1) d) false]) ms.

Definition is_whole (q : Q) : bool := (Qden (Qred q) =? 1)%positive.

(* Coefficients from variable i on that are whole, and 0 for variables that are not. *)
Fixpoint whole_sum (whole : list nat) (i : nat) (c : list Q) : bool :=
  match c with
  | [] => true
  | a :: c' =>
      (if existsb (Nat.eqb i) whole then is_whole a else Qeq_bool a 0) && whole_sum whole (S i) c'
  end.

Definition whole_function (whole : list nat) (h : affine) : bool :=
  is_whole (intercept h) && whole_sum whole 0 (gradient h).

(* Values that are to be whole are so after the jump. *)
Definition check_whole (whole : list nat) (next : list form) : bool :=
  forallb (fun i =>
    let f := nth i next zero_form in
    input_free f && whole_function whole (Affine (constant f) (state_part f))) whole.

Definition check_take (s : system) (l : nat) (L : location) (rows : list row)
    (edge_number case_number : nat) (next inputs : list form) (proofs : list multipliers)
    (change : option (nat * multipliers)) : bool :=
  match nth_error (edges L) edge_number with
  | Some j =>
      match nth_error (relation j) case_number with
      | Some case =>
          all2 (check_row rows (bounds s) next (with_given (given s) inputs)) case proofs &&
          check_whole (whole s) next &&
          match change with
          | None => negb (target j =? l)%nat
          | Some (i, ms) => (i <? dimension s)%nat && check_change rows (bounds s) next i ms
          end
      | None => false
      end
  | None => false
  end.

(** * The checker *)

Fixpoint check_way (s : system) (l : nat) (L : location) (rows : list row) (w : way) : bool :=
  match w with
  | Nowhere ms => refutes rows ms
  | Wait now proofs case_number flow_number inputs es =>
      check_wait s L rows now proofs case_number flow_number inputs es
  | Take edge_number case_number next inputs proofs change =>
      check_take s l L rows edge_number case_number next inputs proofs change
  | Choose h strict_below below above =>
      check_way s l L (rows ++ [Row (before h) strict_below]) below &&
      check_way s l L (rows ++ [Row (form_scaled (-1) (before h)) (negb strict_below)]) above
  | Round h below above =>
      whole_function (whole s) h && check_way s l L (rows ++ [Row (before h) false]) below &&
      check_way s l L (rows ++ [Row (from_one h) false]) above
  end.

(* Of each location what the narrow automaton allows in the regions that the wide one may reach. *)
Definition check_ways (s : system) (cert : progress_certificate) : bool :=
  all2 (fun lL =>
    all2 (fun G =>
      all2 (fun c => check_way s (fst lL) (snd lL) (rows_before (borders G c)))
        (cells G)) (regions_of (reachable cert) (fst lL)))
    (numbered 0 (locations (narrow s))) (ways cert).

Fixpoint dot_at (c v : list Q) : Q :=
  match c, v with
  | a :: c', b :: v' => Qplus' (Qmult' a b) (dot_at c' v')
  | _, _ => 0
  end.

Definition value_at (f : form) (x y u : list Q) : Q :=
  Qplus' (constant f)
    (Qplus' (dot_at (state_part f) x) (Qplus' (dot_at (next_part f) y) (dot_at (input_part f) u))).

Definition whole_at (whole : list nat) (v : list Q) : bool :=
  forallb (fun i => is_whole (nth i v 0)) whole.

Definition check_first (s : system) (f : first_state) : bool :=
  match nth_error (starts (narrow s)) (start_number f) with
  | Some start =>
      match nth_error (snd start) (start_case f) with
      | Some rows =>
          forallb (fun r =>
            let v := value_at (row_form r) (value_before_start f) (value_at_start f)
                       (value_of_inputs f) in
            if strict r then negb (Qle_bool 0 v) else Qle_bool v 0) rows &&
          whole_at (whole s) (value_before_start f) && whole_at (whole s) (value_at_start f)
      | None => false
      end
  | None => false
  end.

Definition check_progress (s : system) (cert : progress_certificate) : bool :=
  check_polyhedral (wide s) (reachable cert) &&
  (length (locations (wide s)) =? length (locations (narrow s)))%nat &&
  check_first s (first_of cert) && check_ways s cert.
