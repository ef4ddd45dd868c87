(* The definitions say something: an automaton that is not safe, provably so. *)

From Coq Require Import QArith Qreals Reals Lra List.
From Kernel Require Import Semantics Comparison AbsoluteContinuity.
Import ListNotations.
Open Scope R_scope.

(** * Solutions exist: straight lines *)

Theorem line_trajectory L T (x v : point) :
  0 <= T -> (forall t, 0 < t < T -> velocity L (fun i => x i + t * v i) v) ->
  trajectory L T (fun t i => x i + t * v i).
Proof.
  intros HT Hv. split; [exact HT|]. split; [intros i; apply line_absolutely_continuous|].
  exists (fun _ => False). split; [apply nothing_negligible|].
  intros t Ht _. exists v. split; [now apply mean_one, Hv|]. intros i.
  assert (H : derivable_pt_lim (fun t => x i + t * v i) t (0 + (1 * v i + t * 0))).
  { apply (derivable_pt_lim_plus (fun _ => x i) (fun t => t * v i)).
    - apply derivable_pt_lim_const.
    - apply (derivable_pt_lim_mult id (fun _ => v i));
        [apply derivable_pt_lim_id|apply derivable_pt_lim_const]. }
  now replace (0 + (1 * v i + t * 0)) with (v i) in H by ring.
Qed.

(** * x' = 1 from x = 0 reaches x >= 1 *)

Definition only : location :=
  Location [[]] [Dynamics [Form 1 [] [] []] []] [] [[Row (Form 1 [(-1)%Q] [] []) false]].

Definition rises : automaton :=
  Automaton [only]
    [(0%nat, [[Row (Form 0 [] [1%Q] []) false; Row (Form 0 [] [(-1)%Q] []) false]])].

Theorem rises_unsafe : ~ safe rises.
Proof.
  intros H. set (v := fun i => match i with O => 1 | _ => 0 end : R).
  set (x := fun (t : R) (i : nat) => origin i + t * v i).
  assert (Hnum : Q2R 1 = 1 /\ Q2R 0 = 0 /\ Q2R (-1) = -1) by (unfold Q2R; simpl; lra).
  destruct Hnum as [H1 [H0 Hm]].
  apply (H 0%nat only (x 1) origin); [|reflexivity|].
  - apply (reach_flow rises 0 only 1 x); [|reflexivity| |lra].
    + apply (reach_start rises 0 [[Row (Form 0 [] [1%Q] []) false; Row (Form 0 [] [(-1)%Q] []) false]]
               origin (x 0) origin); [now left|].
      eexists. split; [now left|].
      intros r [<-|[<-|[]]]; unfold row_holds, value, x, origin; simpl; rewrite ?H1, ?H0, ?Hm; lra.
    + apply line_trajectory; [lra|]. intros t Ht.
      exists origin, [], (Dynamics [Form 1 [] [] []] []).
      split; [now left|]. split; [intros r []|]. split; [now left|]. split; [intros r []|].
      intros [|[|i]]; unfold value; simpl; rewrite ?H1, ?H0; lra.
  - exists [Row (Form 1 [(-1)%Q] [] []) false]. split; [now left|].
    intros r [<-|[]]. unfold row_holds, value, x, origin; simpl. rewrite H1, ?H0, Hm. lra.
Qed.
