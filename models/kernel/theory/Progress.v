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

(* Why an affine function h is at most 0 for a while from now on (not counting now), or less. *)
Inductive soon :=
  (* h < 0 now *)
| Inside (ms : multipliers)
  (* h <= 0 now, and its derivative is at most 0, or less, for a while *)
| Falling (ms : multipliers) (slope : soon)
  (* functions of a family are at most 0 now and ever after, since flow does not leave a cell of
     which they are the rows; and together they imply h <= 0 *)
| Kept (family : list affine) (now : list multipliers) (ever : list facet) (ms : multipliers).

(* What happens in the states where some rows hold. *)
Inductive way :=
  (* there are no such states *)
| Nowhere (ms : multipliers)
  (* time passes: a case of the invariant holds now; and with one of the dynamics, with inputs that
     are affine functions of the state, its rows and those of a case of the invariant hold for a
     while *)
| Wait (now : nat) (proofs : list multipliers) (case_number flow_number : nat)
    (inputs : list affine) (es : list soon)
  (* an edge is taken, in a case of its relation, to a state that is an affine function of this one:
     the rows hold; the change is a variable that is not the same after the jump, and why, needed
     if the edge leads to its own location *)
| Take (edge_number case_number : nat) (next inputs : list affine) (proofs : list multipliers)
    (change : option (nat * multipliers))
  (* cases h <= 0 and h > 0; with strict_below h < 0 and h >= 0 *)
| Choose (h : affine) (strict_below : bool) (below above : way)
  (* cases h <= 0 and h >= 1 of what is a whole number *)
| Round (h : affine) (below above : way).

(* ways: by location, region, cell of what is reachable. *)
Record progress_certificate := ProgressCertificate
  { reachable : polyhedral_certificate; first_of : first_state; ways : list (list (list way)) }.

(** * Affine functions in place of variables *)

(* A form as a function of the state, where next state and inputs are 0. *)
Definition of_state (f : form) : affine := Affine (constant f) (state_part f).

(* A form where the next state and the inputs are affine functions of the state. *)
Definition filled (next inputs : list affine) (f : form) : affine :=
  of_state
    (form_sum (Form (constant f) (state_part f) [] [])
      (form_sum (along (next_part f) (map before next)) (along (input_part f) (map before inputs)))).

(* The derivative of h where fs are those of the state. *)
Definition slope_along (fs : list affine) (h : affine) : affine :=
  of_state (along (gradient h) (map before fs)).

(* not (h < 0) *)
Definition not_below (h : affine) : row := Row (form_scaled (-1) (before h)) false.

(* 1 - h *)
Definition from_one (h : affine) : form :=
  form_sum (Form 1 [] [] []) (form_scaled (-1) (before h)).

(** * Time *)

(* The location in which nothing happens but that flow, and the region that is to be kept. *)
Definition bare (fs : list affine) : location :=
  Location [[]] [Dynamics (map before fs) []] [] [].

Definition one_cell (family : list affine) : region := Region [] [Cell [] family] [] 0.

Definition keeps (fs family : list affine) (ever : list facet) : bool :=
  check_facets (bare fs) (one_cell family)
    (RegionEvidence (one_cell family) [map (fun e => [[e]]) ever] [] [] []).

Fixpoint check_soon (rows : list row) (fs : list affine) (less : bool) (h : affine) (e : soon)
    : bool :=
  match e with
  | Inside ms => refutes (rows ++ [not_below h]) ms
  | Falling ms slope =>
      implies rows (before h) ms && check_soon rows fs less (slope_along fs h) slope
  | Kept family now ever ms =>
      negb less && all2 (fun k ns => implies rows (before k) ns) family now &&
      keeps fs family ever && implies (rows_before family) (before h) ms
  end.

(* A row holds now, with functions in place of the next state and the inputs. *)
Definition check_row (rows : list row) (next inputs : list affine) (r : row) (ms : multipliers)
    : bool :=
  let h := filled next inputs (row_form r) in
  if strict r then refutes (rows ++ [not_below h]) ms else implies rows (before h) ms.

Definition check_wait (L : location) (rows : list row) (now : nat) (proofs : list multipliers)
    (case_number flow_number : nat) (inputs : list affine) (es : list soon) : bool :=
  match nth_error (invariant L) now, nth_error (invariant L) case_number,
    nth_error (flows L) flow_number
  with
  | Some here, Some case, Some d =>
      let fs := map (filled [] inputs) (rates d) in
      all2 (check_row rows [] inputs) here proofs &&
      all2 (fun r e => check_soon rows fs (strict r) (filled [] inputs (row_form r)) e)
        (case ++ rate_rows d) es
  | _, _, _ => false
  end.

(** * Jumps *)

(* Variable i changes. *)
Definition check_change (rows : list row) (next : list affine) (i : nat) (ms : multipliers) : bool :=
  let d := form_sum (before (nth i next (Affine 0 []))) (form_scaled (-1) (Form 0 (unit i) [] [])) in
  refutes (rows ++ [Row d false; Row (form_scaled (-1) d) false]) ms.

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
Definition check_whole (whole : list nat) (next : list affine) : bool :=
  forallb (fun i => whole_function whole (nth i next (Affine 0 []))) whole.

Definition check_take (s : system) (l : nat) (L : location) (rows : list row)
    (edge_number case_number : nat) (next inputs : list affine) (proofs : list multipliers)
    (change : option (nat * multipliers)) : bool :=
  match nth_error (edges L) edge_number with
  | Some j =>
      match nth_error (relation j) case_number with
      | Some case =>
          all2 (check_row rows next inputs) case proofs && check_whole (whole s) next &&
          match change with
          | None => negb (target j =? l)%nat
          | Some (i, ms) => (i <? dimension s)%nat && check_change rows next i ms
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
      check_wait L rows now proofs case_number flow_number inputs es
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
