(* Affine functions of the state along trajectories. *)

From Coq Require Import QArith Qreals Reals Lra List Classical.
From Kernel Require Import Semantics Farkas Polyhedral Comparison FarkasSound.
Import ListNotations.
Open Scope R_scope.

Notation motion := trajectory (only parsing).

(** * Affine functions *)

Definition level (h : affine) (x : point) : R := Q2R (intercept h) + dot (gradient h) x.

Lemma value_before h x y u : value (before h) x y u = level h x.
Proof. unfold value, before, level; simpl. lra. Qed.

Lemma value_after h x y u : value (after h) x y u = level h y.
Proof. unfold value, after, level; simpl. lra. Qed.

Lemma level_opposite h x : level (opposite h) x = - level h x.
Proof.
  unfold level, opposite; simpl. rewrite Q2R_opp.
  assert (H : forall c v, dot (map Qopp c) v = - dot c v).
  { induction c as [|a c IH]; intros v; simpl; [lra|]. rewrite Q2R_opp, IH. lra. }
  rewrite H. lra.
Qed.

Lemma rows_before_hold hs x y u :
  (forall h, In h hs -> level h x <= 0) -> rows_hold (rows_before hs) x y u.
Proof.
  intros H r Hr. apply in_map_iff in Hr. destruct Hr as [h [<- Hh]].
  unfold row_holds; simpl. rewrite value_before. now apply H.
Qed.

Lemma forms_before_le hs x y u M :
  (forall h, In h hs -> level h x <= M) ->
  forall f, In f (forms (rows_before hs)) -> value f x y u <= M.
Proof.
  intros H f Hf. unfold forms, rows_before in Hf. rewrite map_map in Hf.
  apply in_map_iff in Hf. destruct Hf as [h [<- Hh]]. simpl. rewrite value_before. now apply H.
Qed.

(** * Derivatives *)

(* v is the derivative at x that the dynamics say, for u. *)
Definition derivative (d : dynamics) (x u v : point) : Prop :=
  forall i, v i = value (nth i (rates d) zero_form) x origin u.

Lemma along_dot c ds x u v :
  (forall i, v i = value (nth i ds zero_form) x origin u) ->
  value (along c ds) x origin u = dot c v.
Proof.
  revert ds v. induction c as [|a c IH]; intros ds v Hv; simpl; [apply value_zero|].
  destruct ds as [|d ds].
  - rewrite value_zero.
    assert (Hz : forall b w, (forall i, w i = 0) -> dot b w = 0).
    { induction b as [|q b IHb]; intros w Hw; simpl; [reflexivity|].
      rewrite Hw, IHb by (intros; apply Hw). lra. }
    rewrite Hz, (Hv 0%nat).
    + simpl. rewrite value_zero. lra.
    + intros i. rewrite (Hv (S i)). simpl. apply value_zero.
  - rewrite value_sum, value_scaled, (Hv 0%nat). simpl. f_equal.
    apply IH. intros i. apply (Hv (S i)).
Qed.

(** * Continuity *)

Lemma dot_continuous c (x : R -> point) t :
  (forall i, continuity_pt (fun s => x s i) t) -> continuity_pt (fun s => dot c (x s)) t.
Proof.
  revert x. induction c as [|a c IH]; intros x Hx; simpl; [apply constant_continuous|].
  apply (continuity_pt_plus (fun s => Q2R a * x s 0%nat) (fun s => dot c (fun i => x s (S i)))).
  - apply (continuity_pt_scal (fun s => x s 0%nat)). apply Hx.
  - apply (IH (fun s i => x s (S i))). intros i. apply Hx.
Qed.

Lemma level_continuous (x : R -> point) h t :
  (forall i, continuity_pt (fun s => x s i) t) -> continuity_pt (fun s => level h (x s)) t.
Proof.
  intros H. unfold level.
  apply (continuity_pt_plus (fun _ => Q2R (intercept h)) (fun s => dot (gradient h) (x s))).
  - apply constant_continuous.
  - now apply dot_continuous.
Qed.

Lemma motion_shift L T x s d :
  motion L T x -> 0 <= s -> 0 <= d -> s + d <= T -> motion L d (fun t => x (s + t)).
Proof.
  intros [HT [Hcont Hrise]] Hs Hd Hsd. split; [exact Hd|]. split.
  - intros i t Ht.
    apply (continuity_pt_comp (fun t => s + t) (fun r => x r i)).
    + apply (continuity_pt_plus (fun _ => s) (fun t => t)); [apply constant_continuous|].
      apply derivable_continuous_pt. apply derivable_pt_id.
    + apply Hcont. lra.
  - intros c B p t Hp Ht Hv. replace (t - p) with (s + t - (s + p)) by ring.
    apply Hrise; [lra|lra|]. intros r v Hr Hvel. apply (Hv (r - s)); [lra|].
    now replace (s + (r - s)) with r by ring.
Qed.

(** * One motion *)

Section Motion.
  Variables (L : location) (T : R) (x : R -> point).
  Hypothesis Hmotion : motion L T x.

  Lemma continuous h t : 0 <= t <= T -> continuity_pt (fun s => level h (x s)) t.
  Proof. intros Ht. apply level_continuous. intros i. now apply Hmotion. Qed.

  Lemma near hs s eps :
    0 <= s <= T -> 0 < eps -> exists e, 0 < e /\ forall t, s < t < s + e ->
      forall h, In h hs -> Rabs (level h (x t) - level h (x s)) < eps.
  Proof.
    intros Hs Heps.
    apply (soon_for_all hs (fun h t => Rabs (level h (x t) - level h (x s)) < eps)).
    intros h _. destruct (continuity_near (fun s => level h (x s)) s eps) as [e [He Hn]];
      [now apply continuous|exact Heps|].
    exists e. split; [exact He|]. intros t Ht. apply Hn. rewrite Rabs_right; lra.
  Qed.

  Lemma slowly h B s d :
    0 <= s < T -> 0 < d ->
    (forall r, s < r < s + d -> forall v, velocity L (x r) v -> dot (gradient h) v <= B) ->
    forall t, s < t < s + d -> t <= T -> level h (x t) <= level h (x s) + B * (t - s).
  Proof.
    intros Hs Hd Hv t Ht HtT. destruct Hmotion as [_ [_ Hrise]]. unfold level.
    assert (dot (gradient h) (x t) - dot (gradient h) (x s) <= B * (t - s)); [|lra].
    apply Hrise; [lra|exact HtT|]. intros r v Hr Hvel. apply (Hv r); [lra|exact Hvel].
  Qed.

  (* Either all velocities satisfy a bound for a while, or some case of the invariant and one of
     the dynamics exceed it at times arbitrarily soon. *)
  Lemma pick c B s :
    ~ (exists d, 0 < d /\
         forall r, s < r < s + d -> forall v, velocity L (x r) v -> dot c v <= B) ->
    exists rows d, In rows (invariant L) /\ In d (flows L) /\ forall e, 0 < e ->
      exists t u v, s < t < s + e /\ rows_hold rows (x t) origin u /\
        rows_hold (rate_rows d) (x t) origin u /\ derivative d (x t) u v /\ B < dot c v.
  Proof.
    intros Hnot. apply NNPP. intros Hn. apply Hnot.
    destruct (soon_for_all (list_prod (invariant L) (flows L)) (fun p t =>
        ~ exists u v, rows_hold (fst p) (x t) origin u /\
            rows_hold (rate_rows (snd p)) (x t) origin u /\
            derivative (snd p) (x t) u v /\ B < dot c v) s) as [e [He Hnone]].
    { intros [rows d] Hp. apply in_prod_iff in Hp. destruct Hp as [Hr Hd]. simpl.
      apply NNPP. intros Hn2. apply Hn. exists rows, d. split; [exact Hr|]. split; [exact Hd|].
      intros e He. apply NNPP. intros Hn3. apply Hn2. exists e. split; [exact He|].
      intros t Ht [u [v Hu]]. apply Hn3. exists t, u, v. tauto. }
    exists e. split; [exact He|]. intros r Hr v [u [rows [d [H1 [H2 [H3 [H4 H5]]]]]]].
    apply Rnot_lt_le. intros Hlt. apply (Hnone r Hr (rows, d)); [now apply in_prod|].
    exists u, v. simpl. auto.
  Qed.
End Motion.
