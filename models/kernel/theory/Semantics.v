(* What is claimed: hybrid automata in normal form, their runs, and safety.

   This file is what a reader has to believe; everything else is checked by Coq. An automaton in
   normal form has numbered locations and numbered variables. All its conditions are linear, and
   all its numbers rational: in each location rows say where time may pass (the invariant), how
   fast (the dynamics, a choice of several), which jumps lead where, and which states are bad. *)

From Coq Require Import QArith Qreals Reals List.
Import ListNotations.
Open Scope R_scope.

(** * Points and linear conditions *)

(* Values of numbered variables. Lists of coefficients are finite, so only finitely many matter. *)
Definition point := nat -> R.
Definition origin : point := fun _ => 0.

(* constant + state.x + next.y + input.u, where x is a state, y the state after a jump, and u
   stands for inputs, parameters and unknown derivatives. *)
Record form := Form
  { constant : Q; state_part : list Q; next_part : list Q; input_part : list Q }.

Fixpoint dot (c : list Q) (v : point) : R :=
  match c with
  | [] => 0
  | a :: c' => Q2R a * v 0%nat + dot c' (fun i => v (S i))
  end.

Definition value (f : form) (x y u : point) : R :=
  Q2R (constant f) + dot (state_part f) x + dot (next_part f) y + dot (input_part f) u.

Definition zero_form : form := Form 0 [] [] [].

(* A row says form <= 0, a strict one form < 0. *)
Record row := Row { row_form : form; strict : bool }.

Definition row_holds (x y u : point) (r : row) : Prop :=
  if strict r then value (row_form r) x y u < 0 else value (row_form r) x y u <= 0.

(* A list of rows is their conjunction, a list of such lists a disjunction. *)
Definition rows_hold (rows : list row) (x y u : point) : Prop :=
  forall r, In r rows -> row_holds x y u r.

Definition cases := list (list row).

Definition holds (cs : cases) (x y u : point) : Prop :=
  exists rows, In rows cs /\ rows_hold rows x y u.

(** * Automata *)

(* The derivative of variable i is the form number i over x and u, and 0 if there is none; the
   rows, over x and u too, say for which u. *)
Record dynamics := Dynamics { rates : list form; rate_rows : list row }.

(* Over x, y and u: the jump leads from x to y if the relation holds for some u. *)
Record edge := Edge { target : nat; relation : cases }.

(* The invariant and the bad states are over x and u. *)
Record location := Location
  { invariant : cases; flows : list dynamics; edges : list edge; bad : cases }.

(* Runs may start in location l at y if a start (l, cs) has cs over x, y and u for some x and u. *)
Record automaton := Automaton
  { locations : list location; starts : list (nat * cases) }.

(** * Runs *)

(* The vector v is a possible derivative at x. *)
Definition velocity (L : location) (x v : point) : Prop :=
  exists u rows d,
    In rows (invariant L) /\ rows_hold rows x origin u /\
    In d (flows L) /\ rows_hold (rate_rows d) x origin u /\
    forall i, v i = value (nth i (rates d) zero_form) x origin u.

(* x is continuous, and no linear function of it rises faster on average than the velocities on
   the way allow. So it is with every absolutely continuous x whose derivative is, at almost all
   times, a velocity or a mean of velocities. *)
Definition trajectory (L : location) (T : R) (x : R -> point) : Prop :=
  0 <= T /\
  (forall i t, 0 <= t <= T -> continuity_pt (fun s => x s i) t) /\
  (forall c B s t, 0 <= s < t -> t <= T ->
     (forall r v, s < r < t -> velocity L (x r) v -> dot c v <= B) ->
     dot c (x t) - dot c (x s) <= B * (t - s)).

(* Where runs may be. A stay may end in any state that it comes to. *)
Inductive reach (a : automaton) : nat -> point -> Prop :=
| reach_start l cs x y u :
    In (l, cs) (starts a) -> holds cs x y u -> reach a l y
| reach_flow l L T x :
    reach a l (x 0) -> nth_error (locations a) l = Some L -> trajectory L T x ->
    forall t, 0 <= t <= T -> reach a l (x t)
| reach_jump l L e x y u :
    reach a l x -> nth_error (locations a) l = Some L ->
    In e (edges L) -> holds (relation e) x y u -> reach a (target e) y.

(** * The claim *)

Definition safe (a : automaton) : Prop :=
  forall l L x u,
    reach a l x -> nth_error (locations a) l = Some L -> ~ holds (bad L) x origin u.
