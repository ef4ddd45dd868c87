(* The one rule of inference of linear arithmetic, as functions over rationals: rows that hold may
   be multiplied with numbers that are not negative, and added. *)

From Coq Require Import QArith Qreduction List Bool.
From Kernel Require Import Semantics.
Import ListNotations.
Open Scope Q_scope.

(** * Arithmetic of forms; fractions are kept in lowest terms *)

Fixpoint vector_sum (a b : list Q) : list Q :=
  match a, b with
  | [], _ => b
  | _, [] => a
  | p :: a', q :: b' => Qplus' p q :: vector_sum a' b'
  end.

Definition vector_scaled (m : Q) (a : list Q) : list Q := map (Qmult' m) a.

Definition form_sum (f g : form) : form :=
  Form (Qplus' (constant f) (constant g))
    (vector_sum (state_part f) (state_part g))
    (vector_sum (next_part f) (next_part g))
    (vector_sum (input_part f) (input_part g)).

Definition form_scaled (m : Q) (f : form) : form :=
  Form (Qmult' m (constant f)) (vector_scaled m (state_part f))
    (vector_scaled m (next_part f)) (vector_scaled m (input_part f)).

Definition is_zero (q : Q) : bool := Qeq_bool q 0.
Definition is_nonneg (q : Q) : bool := Qle_bool 0 q.
Definition is_positive (q : Q) : bool := negb (Qle_bool q 0).

Definition is_constant (f : form) : bool :=
  forallb is_zero (state_part f) && forallb is_zero (next_part f) && forallb is_zero (input_part f).

(** * Combinations *)

(* One multiplier for each form, in order; those left out at the end are 0. *)
Definition multipliers := list Q.

Definition all_nonneg (ms : multipliers) : bool := forallb is_nonneg ms.

Fixpoint combination (ms : multipliers) (fs : list form) : form :=
  match ms, fs with
  | m :: ms', f :: fs' =>
      if is_zero m then combination ms' fs'
      else form_sum (form_scaled m f) (combination ms' fs')
  | _, _ => zero_form
  end.

Definition forms (rows : list row) : list form := map row_form rows.

(* Whether a strict row has a positive multiplier. *)
Fixpoint uses_strict (ms : multipliers) (rows : list row) : bool :=
  match ms, rows with
  | m :: ms', r :: rows' => (is_positive m && strict r) || uses_strict ms' rows'
  | _, _ => false
  end.

(* The rows have no common solution: a combination of them says 1 <= 0, or 0 < 0. *)
Definition refutes (rows : list row) (ms : multipliers) : bool :=
  let f := combination ms (forms rows) in
  all_nonneg ms && is_constant f &&
  (is_positive (constant f) || (is_nonneg (constant f) && uses_strict ms rows)).

(* The rows imply goal <= 0: a combination of them is the goal and a constant >= 0. *)
Definition implies (rows : list row) (goal : form) (ms : multipliers) : bool :=
  let f := form_sum (combination ms (forms rows)) (form_scaled (-1) goal) in
  all_nonneg ms && is_constant f && is_nonneg (constant f).

(* Every element of one list fits the element of the other at the same place. *)
Fixpoint all2 {A B} (fits : A -> B -> bool) (l : list A) (m : list B) : bool :=
  match l, m with
  | [], [] => true
  | a :: l', b :: m' => fits a b && all2 fits l' m'
  | _, _ => false
  end.
