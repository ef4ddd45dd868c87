(* What is claimed: hybrid automata in normal form, their runs, safety and progress.

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

(* The vector v is a possible derivative at x, for u. *)
Definition velocity_for (L : location) (x u v : point) : Prop :=
  exists rows d,
    In rows (invariant L) /\ rows_hold rows x origin u /\
    In d (flows L) /\ rows_hold (rate_rows d) x origin u /\
    forall i, v i = value (nth i (rates d) zero_form) x origin u.

Definition velocity (L : location) (x v : point) : Prop := exists u, velocity_for L x u v.

(* A mean of vectors of a set: the point of the set's convex hull. *)
Inductive mean (S : point -> Prop) : point -> Prop :=
| mean_one v : S v -> mean S v
| mean_two v w z a :
    mean S v -> mean S w -> 0 <= a <= 1 -> (forall i, z i = a * v i + (1 - a) * w i) -> mean S z.

(* A set of times of measure zero: countably many intervals cover it that are together as short
   as one likes. *)
Definition negligible (N : R -> Prop) : Prop :=
  forall eps, 0 < eps -> exists a b : nat -> R,
    (forall n, a n <= b n) /\ (forall n, sum_f_R0 (fun k => b k - a k) n <= eps) /\
    (forall t, N t -> exists n, a n < t < b n).

(* Intervals between s and t that follow each other and do not overlap. *)
Fixpoint intervals (s t : R) (l : list (R * R)) : Prop :=
  match l with
  | [] => s <= t
  | (a, b) :: l' => s <= a <= b /\ intervals b t l'
  end.

Definition lengths (l : list (R * R)) : R := fold_right (fun i s => (snd i - fst i) + s) 0 l.

Definition variation (f : R -> R) (l : list (R * R)) : R :=
  fold_right (fun i s => Rabs (f (snd i) - f (fst i)) + s) 0 l.

Definition absolutely_continuous (T : R) (f : R -> R) : Prop :=
  forall eps, 0 < eps -> exists delta, 0 < delta /\
    forall l, intervals 0 T l -> lengths l < delta -> variation f l < eps.

(* x solves the differential inclusion of the location: it is absolutely continuous, and at almost
   all times its derivative is a velocity or a mean of velocities. *)
Definition trajectory (L : location) (T : R) (x : R -> point) : Prop :=
  0 <= T /\
  (forall i, absolutely_continuous T (fun t => x t i)) /\
  exists N, negligible N /\
    forall t, 0 < t < T -> ~ N t ->
      exists v, mean (velocity L (x t)) v /\ forall i, derivable_pt_lim (fun s => x s i) t (v i).

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

(** * The claims *)

Definition safe (a : automaton) : Prop :=
  forall l L x u,
    reach a l x -> nth_error (locations a) l = Some L -> ~ holds (bad L) x origin u.

(* What runs that never block are asked of. The wide automaton allows at least what a model does: it
   says where runs may come. The narrow one allows at most that: it says what they can certainly do
   there. The locations and the variables of both are the same; so many variables there are. Whole
   numbers are the values of some. Of a model that is written in rows alone, both are the same.

   Some of what u stands for is given from outside, continuous for a while from now on, and within
   bounds, which are rows over u: of piecewise continuous inputs, what they do next. *)
Record system := System
  { dimension : nat; whole : list nat; given : list nat; bounds : list row;
    wide : automaton; narrow : automaton }.

Definition values_whole (s : system) (x : point) : Prop :=
  forall i, In i (whole s) -> exists k, x i = IZR k.

Definition signal (s : system) (w : R -> point) : Prop :=
  (forall i t, continuity_pt (fun r => w r i) t) /\
  forall t x, rows_hold (bounds s) x origin (w t).

Definition agrees (s : system) (w u : point) : Prop := forall i, In i (given s) -> u i = w i.

(* As trajectories, but with what is given. *)
Definition driven (s : system) (w : R -> point) (L : location) (T : R) (x : R -> point) : Prop :=
  0 <= T /\
  (forall i, absolutely_continuous T (fun t => x t i)) /\
  exists N, negligible N /\
    forall t, 0 < t < T -> ~ N t ->
      exists u v, agrees s (w t) u /\ velocity_for L (x t) u v /\
        forall i, derivable_pt_lim (fun r => x r i) t (v i).

(* Something can happen at x: the invariant holds and time can pass, or a jump leads to another
   state. *)
Definition goes_on (s : system) (w : R -> point) (l : nat) (x : point) : Prop :=
  exists L, nth_error (locations (narrow s)) l = Some L /\
    ((exists T y u, 0 < T /\ driven s w L T y /\ (forall i, y 0 i = x i) /\
        agrees s (w 0) u /\ holds (invariant L) x origin u) \/
     (exists e y u, In e (edges L) /\ agrees s (w 0) u /\ holds (relation e) x y u /\
        values_whole s y /\
        (target e <> l \/ exists i, (i < dimension s)%nat /\ y i <> x i))).

(* There are runs, and each can go on from each of its states, whatever is given. *)
Definition never_blocks (s : system) : Prop :=
  (exists l cs x y u, In (l, cs) (starts (narrow s)) /\ holds cs x y u /\
     values_whole s x /\ values_whole s y) /\
  forall l x w, reach (wide s) l x -> values_whole s x -> signal s w -> goes_on s w l x.
