(* Affine and quadratic functions of the state along trajectories. *)

From Coq Require Import QArith Qreals Reals Lra List Classical.
From Kernel Require Import
  Semantics Farkas Polyhedral Quadratic Comparison AbsoluteContinuity FarkasSound.
Import ListNotations.
Open Scope R_scope.

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

(** * Quadratic functions *)

Definition sum_over {A} (f : A -> R) (l : list A) : R := fold_right (fun a s => f a + s) 0 l.

Definition energy (V : quadratic) (x : point) : R :=
  sum_over (fun m => Q2R (weight m) * (level (first m) x * level (second m) x)) V.

(* Its derivative at x in the direction v. *)
Definition power (V : quadratic) (x v : point) : R :=
  sum_over (fun m => Q2R (weight m) * (dot (gradient (first m)) v * level (second m) x +
                                       level (first m) x * dot (gradient (second m)) v)) V.

(* An affine function is a quadratic one. *)
Definition product_with_one (c : list Q) : quadratic := [Monomial 1 (Affine 0 c) (Affine 1 [])].

Lemma Q2R_1 : Q2R 1 = 1.
Proof. unfold Q2R. simpl. lra. Qed.

Lemma energy_with_one c x : energy (product_with_one c) x = dot c x.
Proof. unfold energy, sum_over, level; simpl. rewrite Q2R_0, Q2R_1. lra. Qed.

Lemma power_with_one c x v : power (product_with_one c) x v = dot c v.
Proof. unfold power, sum_over, level; simpl. rewrite Q2R_0, Q2R_1. lra. Qed.

Lemma dot_mean c v w z a :
  (forall i, z i = a * v i + (1 - a) * w i) -> dot c z = a * dot c v + (1 - a) * dot c w.
Proof.
  revert v w z. induction c as [|q c IH]; intros v w z Hz; simpl; [lra|].
  rewrite (IH (fun i => v (S i)) (fun i => w (S i))), Hz; [lra|]. intros i. apply Hz.
Qed.

Lemma power_mean V x v w z a :
  (forall i, z i = a * v i + (1 - a) * w i) -> power V x z = a * power V x v + (1 - a) * power V x w.
Proof.
  intros Hz. unfold power. induction V as [|m V IH]; simpl; [lra|].
  rewrite IH, !(dot_mean _ v w z a Hz). ring.
Qed.

(* A mean is no larger than what it is made of. *)
Lemma power_mean_le V x (S : point -> Prop) B :
  (forall v, S v -> power V x v <= B) -> forall v, mean S v -> power V x v <= B.
Proof.
  intros H v Hv. induction Hv as [v Hv|v w z a _ IHv _ IHw Ha Hz]; [now apply H|].
  rewrite (power_mean V x v w z a Hz).
  assert (a * power V x v <= a * B) by (apply Rmult_le_compat_l; lra).
  assert ((1 - a) * power V x w <= (1 - a) * B) by (apply Rmult_le_compat_l; lra). lra.
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

Lemma energy_continuous V (x : R -> point) t :
  (forall i, continuity_pt (fun s => x s i) t) -> continuity_pt (fun s => energy V (x s)) t.
Proof.
  intros H. unfold energy. induction V as [|m V IH]; simpl; [apply constant_continuous|].
  apply (continuity_pt_plus
    (fun s => Q2R (weight m) * (level (first m) (x s) * level (second m) (x s)))); [|exact IH].
  apply (continuity_pt_scal (fun s => level (first m) (x s) * level (second m) (x s))).
  apply (continuity_pt_mult (fun s => level (first m) (x s))); now apply level_continuous.
Qed.

(** * Derivatives along a trajectory *)

Section Derivatives.
  Variables (x : R -> point) (t : R) (v : point).
  Hypothesis Hx : forall i, derivable_pt_lim (fun s => x s i) t (v i).

  Lemma dot_derivable c : derivable_pt_lim (fun s => dot c (x s)) t (dot c v).
  Proof.
    revert x v Hx. induction c as [|a c IH]; intros y w Hy; simpl; [apply derivable_pt_lim_const|].
    apply (derivable_pt_lim_plus (fun s => Q2R a * y s 0%nat)
             (fun s => dot c (fun i => y s (S i)))).
    - apply (derivable_pt_lim_scal (fun s => y s 0%nat)). apply Hy.
    - apply (IH (fun s i => y s (S i)) (fun i => w (S i))). intros i. apply Hy.
  Qed.

  Lemma level_derivable h : derivable_pt_lim (fun s => level h (x s)) t (dot (gradient h) v).
  Proof.
    unfold level. rewrite <- (Rplus_0_l (dot (gradient h) v)).
    apply (derivable_pt_lim_plus (fun _ => Q2R (intercept h)) (fun s => dot (gradient h) (x s))).
    - apply derivable_pt_lim_const.
    - apply dot_derivable.
  Qed.

  Lemma energy_derivable V : derivable_pt_lim (fun s => energy V (x s)) t (power V (x t) v).
  Proof.
    unfold energy, power. induction V as [|m V IH]; simpl; [apply derivable_pt_lim_const|].
    apply (derivable_pt_lim_plus
      (fun s => Q2R (weight m) * (level (first m) (x s) * level (second m) (x s)))); [|exact IH].
    apply (derivable_pt_lim_scal (fun s => level (first m) (x s) * level (second m) (x s))).
    apply (derivable_pt_lim_mult (fun s => level (first m) (x s))); apply level_derivable.
  Qed.
End Derivatives.

Section Continuity.
  Variables (T : R) (x : R -> point).
  Hypothesis HT : 0 <= T.
  Hypothesis Hx : forall i, absolutely_continuous T (fun t => x t i).

  Lemma dot_absolutely_continuous c : absolutely_continuous T (fun t => dot c (x t)).
  Proof.
    revert x Hx. induction c as [|a c IH]; intros y Hy; simpl;
      [apply absolutely_continuous_constant|].
    apply (absolutely_continuous_sum T (fun t => Q2R a * y t 0%nat)).
    - apply (absolutely_continuous_scaled T _ (fun t => y t 0%nat)). apply Hy.
    - apply (IH (fun t i => y t (S i))). intros i. apply Hy.
  Qed.

  Lemma level_absolutely_continuous h : absolutely_continuous T (fun t => level h (x t)).
  Proof.
    unfold level. apply (absolutely_continuous_sum T (fun _ => Q2R (intercept h))).
    - apply absolutely_continuous_constant.
    - apply dot_absolutely_continuous.
  Qed.

  Lemma energy_absolutely_continuous V : absolutely_continuous T (fun t => energy V (x t)).
  Proof.
    unfold energy. induction V as [|m V IH]; simpl; [apply absolutely_continuous_constant|].
    apply (absolutely_continuous_sum T
      (fun t => Q2R (weight m) * (level (first m) (x t) * level (second m) (x t)))); [|exact IH].
    apply (absolutely_continuous_scaled T _
      (fun t => level (first m) (x t) * level (second m) (x t))).
    apply (absolutely_continuous_product T (fun t => level (first m) (x t))); try exact HT;
      apply level_absolutely_continuous.
  Qed.
End Continuity.

(** * Motions *)

(* What is used of trajectories: they are continuous, and no quadratic function rises faster on
   average than the velocities on the way allow. *)
Definition motion (L : location) (T : R) (x : R -> point) : Prop :=
  0 <= T /\
  (forall i t, 0 <= t <= T -> continuity_pt (fun s => x s i) t) /\
  (forall V B s t, 0 <= s < t -> t <= T ->
     (forall r v, s < r < t -> velocity L (x r) v -> power V (x r) v <= B) ->
     energy V (x t) - energy V (x s) <= B * (t - s)).

Theorem trajectory_motion L T x :
  trajectory L T x -> exists y, motion L T y /\ forall t, 0 <= t <= T -> y t = x t.
Proof.
  intros [HT [Hac [N [HN Hv]]]]. exists (fun t => x (clamp T t)).
  split; [|intros t Ht; now rewrite clamp_inside].
  split; [exact HT|]. split.
  - intros i t _. apply (clamped_continuous T (fun t => x t i) t HT). apply Hac.
  - intros V B s t Hs Ht Hle. rewrite !clamp_inside by lra.
    apply (rise T (fun t => energy V (x t)) N); [|exact HN|lra|exact Ht|].
    + now apply energy_absolutely_continuous.
    + intros r Hr Hn. destruct (Hv r ltac:(lra) Hn) as [v [Hm Hd]].
      exists (power V (x r) v). split; [now apply energy_derivable|].
      apply (power_mean_le V (x r) (velocity L (x r))); [|exact Hm].
      intros w Hw. specialize (Hle r w Hr). rewrite clamp_inside in Hle by lra. now apply Hle.
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
  - intros V B p t Hp Ht Hv. replace (t - p) with (s + t - (s + p)) by ring.
    apply Hrise; [lra|lra|]. intros r v Hr Hvel. specialize (Hv (r - s) v).
    replace (s + (r - s)) with r in Hv by ring. apply Hv; [lra|exact Hvel].
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
    intros Hs Hd Hv t Ht HtT. destruct Hmotion as [_ [_ Hrise]].
    specialize (Hrise (product_with_one (gradient h)) B s t). rewrite !energy_with_one in Hrise.
    unfold level.
    assert (dot (gradient h) (x t) - dot (gradient h) (x s) <= B * (t - s)); [|lra].
    apply Hrise; [lra|exact HtT|].
    intros r v Hr Hvel. rewrite power_with_one. apply (Hv r); [lra|exact Hvel].
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
