(* Affine differential equations have solutions, for a while. *)

From Coq Require Import QArith Qreals Reals Lra Lia List PSeries_reg MVT.
From Kernel Require Import
  Semantics Farkas Polyhedral Quadratic Comparison AbsoluteContinuity FarkasSound Motion.
Import ListNotations.
Open Scope R_scope.

(** * Sequences whose steps are halved each time *)

Lemma half_small C eps : 0 <= C -> 0 < eps -> exists N, forall n, (N <= n)%nat -> C * (/ 2) ^ n < eps.
Proof.
  intros HC He. destruct (pow_lt_1_zero (/ 2)) with (y := eps / (C + 1)) as [N HN].
  { rewrite Rabs_right; lra. }
  { apply Rdiv_lt_0_compat; lra. }
  exists N. intros n Hn. specialize (HN n Hn). assert (Hp : 0 < (/ 2) ^ n) by (apply pow_lt; lra).
  rewrite Rabs_right in HN by lra.
  apply Rle_lt_trans with ((C + 1) * (/ 2) ^ n); [lra|].
  replace eps with ((C + 1) * (eps / (C + 1))) by (field; lra). apply Rmult_lt_compat_l; lra.
Qed.

Section Halved.
  Variables (s : nat -> R) (C : R).
  Hypothesis Hstep : forall n, Rabs (s (S n) - s n) <= C * (/ 2) ^ S n.

  Lemma halved_positive : 0 <= C.
  Proof.
    assert (H := Hstep 0). assert (H1 := Rabs_pos (s 1%nat - s 0%nat)). simpl in H. lra.
  Qed.

  Lemma halved_steps n p : Rabs (s (n + p)%nat - s n) <= C * (/ 2) ^ n * (1 - (/ 2) ^ p).
  Proof.
    induction p as [|p IH].
    - rewrite Nat.add_0_r, Rminus_diag_eq, Rabs_R0 by reflexivity. simpl. lra.
    - rewrite Nat.add_succ_r. replace (s (S (n + p)) - s n)
        with ((s (S (n + p)) - s (n + p)%nat) + (s (n + p)%nat - s n)) by ring.
      eapply Rle_trans; [apply Rabs_triang|]. specialize (Hstep (n + p)%nat).
      simpl in Hstep |- *. rewrite pow_add in Hstep. lra.
  Qed.

  Lemma halved_near n p : Rabs (s (n + p)%nat - s n) <= C * (/ 2) ^ n.
  Proof.
    eapply Rle_trans; [apply halved_steps|]. assert (HC := halved_positive).
    assert (H1 : 0 < (/ 2) ^ n) by (apply pow_lt; lra).
    assert (H2 : 0 < (/ 2) ^ p) by (apply pow_lt; lra).
    assert (0 <= C * (/ 2) ^ n) by (apply Rmult_le_pos; lra).
    assert (0 <= C * (/ 2) ^ n * (/ 2) ^ p) by (apply Rmult_le_pos; lra). lra.
  Qed.

  Lemma halved_cauchy : Cauchy_crit s.
  Proof.
    intros eps He. destruct (half_small (2 * C) eps) as [N HN].
    { assert (H := halved_positive). lra. }
    { exact He. }
    exists N. intros n m Hn Hm. unfold R_dist.
    replace n with (N + (n - N))%nat by lia. replace m with (N + (m - N))%nat by lia.
    assert (H1 := halved_near N (n - N)). assert (H2 := halved_near N (m - N)).
    specialize (HN N (Nat.le_refl N)).
    replace (s (N + (n - N))%nat - s (N + (m - N))%nat)
      with ((s (N + (n - N))%nat - s N) + - (s (N + (m - N))%nat - s N)) by ring.
    eapply Rle_lt_trans; [apply Rabs_triang|]. rewrite Rabs_Ropp. lra.
  Qed.

  Lemma halved_limit l n : Un_cv s l -> Rabs (l - s n) <= C * (/ 2) ^ n.
  Proof.
    intros Hl. apply Rnot_lt_le. intros Hlt.
    destruct (Hl (Rabs (l - s n) - C * (/ 2) ^ n)) as [N HN]; [lra|].
    specialize (HN (n + N)%nat ltac:(lia)). unfold R_dist in HN.
    assert (H := halved_near n N).
    assert (Ht := Rabs_triang (l - s (n + N)%nat) (s (n + N)%nat - s n)).
    replace (l - s (n + N)%nat + (s (n + N)%nat - s n)) with (l - s n) in Ht by ring.
    rewrite (Rabs_minus_sym l (s (n + N)%nat)) in Ht. lra.
  Qed.
End Halved.

(** * Sizes *)

Definition size (c : list Q) : R := sum_over (fun a => Rabs (Q2R a)) c.

Lemma size_pos c : 0 <= size c.
Proof.
  unfold size. induction c as [|a c IH]; simpl; [lra|]. assert (H := Rabs_pos (Q2R a)). lra.
Qed.

Lemma dot_le c v B :
  0 <= B -> (forall i, (i < length c)%nat -> Rabs (v i) <= B) -> Rabs (dot c v) <= size c * B.
Proof.
  intros HB. unfold size. revert v. induction c as [|a c IH]; intros v H; simpl in *.
  - rewrite Rabs_R0. lra.
  - eapply Rle_trans; [apply Rabs_triang|]. rewrite Rabs_mult.
    assert (H1 := H 0%nat ltac:(lia)). assert (H2 := Rabs_pos (Q2R a)).
    assert (H3 : Rabs (dot c (fun i => v (S i))) <= sum_over (fun a => Rabs (Q2R a)) c * B).
    { apply IH. intros i Hi. apply H. lia. }
    assert (Rabs (Q2R a) * Rabs (v 0%nat) <= Rabs (Q2R a) * B) by (apply Rmult_le_compat_l; lra).
    lra.
Qed.

Lemma dot_linear c v w a :
  dot c (fun i => v i + a * w i) = dot c v + a * dot c w.
Proof.
  revert v w. induction c as [|q c IH]; intros v w; simpl; [lra|].
  rewrite (IH (fun i => v (S i)) (fun i => w (S i))). ring.
Qed.

Lemma dot_same c v w : (forall i, v i = w i) -> dot c v = dot c w.
Proof.
  revert v w. induction c as [|q c IH]; intros v w H; simpl; [reflexivity|].
  rewrite H. f_equal. apply IH. intros i. apply H.
Qed.

(** * The series of the solution *)

Section Equation.
  (* x_i' = level (nth i fs 0) x *)
  Variables (fs : list affine) (x0 : point).

  Definition speed (i : nat) : affine := nth i fs (Affine 0 []).

  Fixpoint coefficient (k : nat) : point :=
    match k with
    | O => x0
    | S k' => fun i =>
        (dot (gradient (speed i)) (coefficient k') +
         match k' with O => Q2R (intercept (speed i)) | _ => 0 end) / INR (S k')
    end.

  Definition partial (n : nat) (t : R) : point :=
    fun i => sum_f_R0 (fun k => coefficient k i * t ^ k) n.

  (* Each partial sum is what Picard's iteration makes of the one before. *)
  Lemma partial_derivable n i t :
    derivable_pt_lim (fun t => partial (S n) t i) t (level (speed i) (partial n t)).
  Proof.
    assert (Hterm : forall k a, derivable_pt_lim (fun t => a * t ^ k) t (a * (INR k * t ^ pred k))).
    { intros k a. apply (derivable_pt_lim_scal (fun t => t ^ k)). apply derivable_pt_lim_pow. }
    induction n as [|n IH].
    - unfold partial. cbn [sum_f_R0].
      replace (level (speed i) (fun i => coefficient 0 i * t ^ 0))
        with (0 + coefficient 1 i * (INR 1 * t ^ pred 1)).
      2: { unfold level. rewrite (dot_same _ (fun i => coefficient 0 i * t ^ 0) x0).
           - simpl. field.
           - intros j. simpl. ring. }
      apply (derivable_pt_lim_plus (fun t => coefficient 0 i * t ^ 0)
               (fun t => coefficient 1 i * t ^ 1)); [|apply Hterm].
      replace 0 with (coefficient 0 i * (INR 0 * t ^ pred 0)) by (simpl; ring). apply Hterm.
    - replace (level (speed i) (partial (S n) t))
        with (level (speed i) (partial n t) +
              coefficient (S (S n)) i * (INR (S (S n)) * t ^ pred (S (S n)))).
      2: { unfold level.
           rewrite (dot_same _ (partial (S n) t)
             (fun j => partial n t j + t ^ S n * coefficient (S n) j)).
           - rewrite dot_linear. cbn [pred].
             assert (Hc : coefficient (S (S n)) i * INR (S (S n)) =
                          dot (gradient (speed i)) (coefficient (S n))).
             { change (coefficient (S (S n)) i) with
                 ((dot (gradient (speed i)) (coefficient (S n)) + 0) / INR (S (S n))).
               field. apply not_0_INR. lia. }
             rewrite <- Hc. ring.
           - intros j. unfold partial. cbn [sum_f_R0]. ring. }
      change (fun t => partial (S (S n)) t i) with
        (fun t => partial (S n) t i + coefficient (S (S n)) i * t ^ S (S n)).
      apply (derivable_pt_lim_plus (fun t => partial (S n) t i)); [exact IH|apply Hterm].
  Qed.

  (* Only finitely many variables matter. *)
  Lemma sizes : exists M m C, 0 < M /\ 1 <= C /\
    (forall i, size (gradient (speed i)) + Rabs (Q2R (intercept (speed i))) <= M /\
               (length (gradient (speed i)) <= m)%nat) /\
    (forall i, (i < m)%nat -> Rabs (x0 i) <= C).
  Proof.
    assert (HM : exists M m, 0 < M /\ forall i,
      size (gradient (speed i)) + Rabs (Q2R (intercept (speed i))) <= M /\
      (length (gradient (speed i)) <= m)%nat).
    { unfold speed. induction fs as [|f l [M [m [HM H]]]].
      - exists 1, 0%nat. split; [lra|]. intros i. destruct i; simpl;
          (split; [unfold size; simpl; rewrite Q2R_0, Rabs_R0; lra|lia]).
      - set (B := size (gradient f) + Rabs (Q2R (intercept f))).
        exists (Rmax M B), (Nat.max m (length (gradient f))).
        assert (M <= Rmax M B) by apply Rmax_l. assert (B <= Rmax M B) by apply Rmax_r.
        split; [lra|]. intros [|i]; simpl.
        + split; [unfold B in *; lra|lia].
        + destruct (H i). split; [lra|lia]. }
    destruct HM as [M [m [HM H]]].
    assert (HC : exists C, 1 <= C /\ forall i, (i < m)%nat -> Rabs (x0 i) <= C).
    { clear H. induction m as [|m [C [HC H]]].
      - exists 1. split; [lra|]. intros i Hi. lia.
      - exists (Rmax C (Rabs (x0 m))). assert (C <= Rmax C (Rabs (x0 m))) by apply Rmax_l.
        assert (Rabs (x0 m) <= Rmax C (Rabs (x0 m))) by apply Rmax_r. split; [lra|].
        intros i Hi. destruct (Nat.eq_dec i m) as [->|]; [assumption|].
        specialize (H i ltac:(lia)). lra. }
    destruct HC as [C [HC H']]. exists M, m, C. auto.
  Qed.

  Section Bounded.
    Variables (M C : R) (m : nat).
    Hypothesis HM : 0 < M.
    Hypothesis HC : 1 <= C.
    Hypothesis Hsize : forall i,
      size (gradient (speed i)) + Rabs (Q2R (intercept (speed i))) <= M /\
      (length (gradient (speed i)) <= m)%nat.
    Hypothesis Hx0 : forall i, (i < m)%nat -> Rabs (x0 i) <= C.

    Lemma coefficient_step k :
      (forall i, (i < m)%nat -> Rabs (coefficient k i) <= C * M ^ k) ->
      forall i, Rabs (coefficient (S k) i) <= C * M ^ S k.
    Proof.
      intros IH i. destruct (Hsize i) as [H1 H2].
      assert (Hp : 0 < M ^ k) by now apply pow_lt.
      assert (HCM : 0 <= C * M ^ k) by (apply Rmult_le_pos; lra).
      assert (Hd : Rabs (dot (gradient (speed i)) (coefficient k)) <=
                   size (gradient (speed i)) * (C * M ^ k)).
      { apply dot_le; [exact HCM|]. intros j Hj. apply IH. lia. }
      set (b := Rabs (Q2R (intercept (speed i)))) in *.
      assert (Hb0 : 0 <= b) by apply Rabs_pos.
      assert (Hi : Rabs (match k with O => Q2R (intercept (speed i)) | _ => 0 end) <=
                   b * (C * M ^ k)).
      { destruct k; simpl.
        - fold b. rewrite Rmult_1_r. rewrite <- (Rmult_1_r b) at 1.
          apply Rmult_le_compat_l; lra.
        - rewrite Rabs_R0. now apply Rmult_le_pos. }
      assert (Hn : 1 <= INR (S k)).
      { rewrite S_INR. assert (H := pos_INR k). lra. }
      cbn [coefficient]. unfold Rdiv. rewrite Rabs_mult.
      rewrite (Rabs_right (/ INR (S k))) by (left; apply Rinv_0_lt_compat; lra).
      apply Rle_trans with ((size (gradient (speed i)) + b) * (C * M ^ k) * 1).
      - apply Rmult_le_compat.
        + apply Rabs_pos.
        + left. apply Rinv_0_lt_compat. lra.
        + eapply Rle_trans; [apply Rabs_triang|]. lra.
        + rewrite <- Rinv_1. apply Rinv_le_contravar; lra.
      - rewrite Rmult_1_r. simpl. replace (C * (M * M ^ k)) with (M * (C * M ^ k)) by ring.
        apply Rmult_le_compat_r; lra.
    Qed.

    Lemma coefficient_le k : forall i, (i < m)%nat -> Rabs (coefficient k i) <= C * M ^ k.
    Proof.
      induction k as [|k IH]; intros i Hi; [simpl; rewrite Rmult_1_r; now apply Hx0|].
      now apply coefficient_step.
    Qed.

    Let r := / (2 * M).

    Lemma r_positive : 0 < r.
    Proof. unfold r. apply Rinv_0_lt_compat. lra. Qed.

    Lemma partial_step n t i :
      Rabs t <= r -> Rabs (partial (S n) t i - partial n t i) <= C * (/ 2) ^ S n.
    Proof.
      intros Ht. unfold partial. cbn [sum_f_R0].
      match goal with |- Rabs (?a + ?b - ?a) <= _ => replace (a + b - a) with b by ring end.
      rewrite Rabs_mult, <- RPow_abs.
      apply Rle_trans with (C * M ^ S n * r ^ S n).
      - apply Rmult_le_compat; [apply Rabs_pos|apply pow_le, Rabs_pos| |].
        + apply coefficient_step. apply coefficient_le.
        + apply pow_incr. split; [apply Rabs_pos|exact Ht].
      - right. rewrite Rmult_assoc, <- Rpow_mult_distr. do 2 f_equal. unfold r. field. lra.
    Qed.

    (* The nearest number between - r and r. *)
    Definition limited (t : R) : R := Rmax (- r) (Rmin r t).

    Lemma limited_le t : Rabs (limited t) <= r.
    Proof.
      assert (H := r_positive). unfold limited. apply Rabs_le. split; [apply Rmax_l|].
      apply Rmax_lub; [lra|apply Rmin_l].
    Qed.

    Lemma limited_inside t : Rabs t <= r -> limited t = t.
    Proof.
      intros H. unfold limited. assert (Ht : - r <= t <= r).
      { revert H. unfold Rabs. destruct (Rcase_abs t); lra. }
      rewrite Rmin_right, Rmax_right; lra.
    Qed.

    Definition solution (t : R) : point := fun i =>
      proj1_sig (R_complete _ (halved_cauchy (fun n => partial n (limited t) i) C
                                 (fun n => partial_step n (limited t) i (limited_le t)))).

    Lemma solution_near n t i :
      Rabs t <= r -> Rabs (solution t i - partial n t i) <= C * (/ 2) ^ n.
    Proof.
      intros Ht. unfold solution. destruct R_complete as [l Hl]. simpl.
      rewrite <- (limited_inside t Ht) at 1.
      apply (halved_limit (fun n => partial n (limited t) i) C); [|exact Hl].
      intros k. apply partial_step, limited_le.
    Qed.

    Lemma solution_level_near n t h :
      Rabs t <= r ->
      Rabs (level h (solution t) - level h (partial n t)) <= size (gradient h) * C * (/ 2) ^ n.
    Proof.
      intros Ht. unfold level.
      replace (Q2R (intercept h) + dot (gradient h) (solution t) -
               (Q2R (intercept h) + dot (gradient h) (partial n t)))
        with (dot (gradient h) (fun i => solution t i + - (1) * partial n t i)).
      2: { rewrite dot_linear. ring. }
      rewrite Rmult_assoc. apply dot_le.
      - apply Rmult_le_pos; [lra|]. left. apply pow_lt. lra.
      - intros i _. replace (solution t i + - (1) * partial n t i)
          with (solution t i - partial n t i) by ring. now apply solution_near.
    Qed.

    Lemma solution_derivable t i :
      Rabs t < r -> derivable_pt_lim (fun t => solution t i) t (level (speed i) (solution t)).
    Proof.
      intros Ht. set (rho := mkposreal r r_positive).
      assert (Hin : forall s, Boule 0 rho s -> Rabs s < r).
      { intros s Hs. unfold Boule in Hs. rewrite Rminus_0_r in Hs. exact Hs. }
      apply (CVU_derivable (fun n t => partial (S n) t i) (fun n t => level (speed i) (partial n t))
               (fun t => solution t i) (fun t => level (speed i) (solution t)) 0 rho).
      - intros eps He.
        destruct (half_small (size (gradient (speed i)) * C) eps) as [N HN]; [|exact He|].
        { apply Rmult_le_pos; [apply size_pos|lra]. }
        exists N. intros n s Hn Hs. eapply Rle_lt_trans; [|apply (HN n Hn)].
        apply solution_level_near. left. now apply Hin.
      - intros s Hs eps He. destruct (half_small C eps) as [N HN]; [lra|exact He|].
        exists N. intros n Hn. unfold R_dist. rewrite Rabs_minus_sym.
        eapply Rle_lt_trans; [|apply (HN (S n)); lia]. apply solution_near. left. now apply Hin.
      - intros n s _. apply partial_derivable.
      - unfold Boule. now rewrite Rminus_0_r.
    Qed.

    Lemma solution_starts i : solution 0 i = x0 i.
    Proof.
      assert (H0 : Rabs 0 <= r) by (rewrite Rabs_R0; left; apply r_positive).
      assert (Hall : forall n, partial n 0 i = x0 i).
      { unfold partial. induction n as [|n IH]; cbn [sum_f_R0]; [simpl; ring|].
        rewrite IH. simpl. ring. }
      apply Rminus_diag_uniq.
      destruct (Req_dec (solution 0 i - x0 i) 0) as [E|Hne]; [exact E|exfalso].
      destruct (half_small C (Rabs (solution 0 i - x0 i))) as [N HN]; [lra|now apply Rabs_pos_lt|].
      specialize (HN N (Nat.le_refl N)). assert (H := solution_near N 0 i H0).
      rewrite Hall in H. lra.
    Qed.
  End Bounded.
End Equation.

(** * Solutions of affine equations *)

(* y solves the equation from x0, a bit longer than up to T. *)
Definition solves (fs : list affine) (x0 : point) (T : R) (y : R -> point) : Prop :=
  (forall i, y 0 i = x0 i) /\
  forall i t, 0 <= t <= T ->
    derivable_pt_lim (fun s => y s i) t (level (nth i fs (Affine 0 [])) (y t)).

Theorem solution_exists fs x0 : exists T y, 0 < T /\ solves fs x0 T y.
Proof.
  destruct (sizes fs x0) as [M [m [C [HM [HC [Hsize Hx0]]]]]].
  exists (/ (2 * M) / 2), (solution fs x0 M C m HM HC Hsize Hx0).
  assert (Hr := r_positive M HM). split; [lra|]. split.
  - intros i. apply solution_starts.
  - intros i t Ht. apply solution_derivable. rewrite Rabs_right; lra.
Qed.

Section Solution.
  Variables (fs : list affine) (x0 : point) (T : R) (y : R -> point).
  Hypothesis HT : 0 < T.
  Hypothesis Hy : solves fs x0 T y.

  Lemma solution_level_derivable h t :
    0 <= t <= T ->
    derivable_pt_lim (fun s => level h (y s)) t
      (dot (gradient h) (fun i => level (nth i fs (Affine 0 [])) (y t))).
  Proof. intros Ht. apply level_derivable. intros i. now apply Hy. Qed.

  Lemma solution_level_continuous h t : 0 <= t <= T -> continuity_pt (fun s => level h (y s)) t.
  Proof.
    intros Ht. apply derivable_continuous_pt. eexists. now apply solution_level_derivable.
  Qed.

  Lemma solution_absolutely_continuous i : absolutely_continuous T (fun t => y t i).
  Proof.
    set (h := nth i fs (Affine 0 [])).
    assert (Hc : forall t, 0 <= t <= T -> continuity_pt (fun s => level h (y s)) t)
      by (intros t Ht; now apply solution_level_continuous).
    destruct (continuity_ab_maj _ 0 T ltac:(lra) Hc) as [p [Hp Hpi]].
    destruct (continuity_ab_min _ 0 T ltac:(lra) Hc) as [q [Hq Hqi]].
    set (k := Rabs (level h (y p)) + Rabs (level h (y q)) + 1).
    assert (H1 := Rabs_pos (level h (y p))). assert (H2 := Rabs_pos (level h (y q))).
    assert (Hk : forall t, 0 <= t <= T -> Rabs (level h (y t)) <= k).
    { intros t Ht. specialize (Hp t Ht). specialize (Hq t Ht). simpl in Hp, Hq.
      assert (H3 := Rle_abs (level h (y p))). assert (H4 := Rle_abs (- level h (y q))).
      rewrite Rabs_Ropp in H4. apply Rabs_le. unfold k. lra. }
    apply (absolutely_continuous_by T (fun t => 0 + t * 1) (fun t => 0 + t * 1) _ k);
      try apply line_absolutely_continuous; [unfold k; lra|].
    intros s t Hs Ht.
    assert (Hst : Rabs (y t i - y s i) <= k * (t - s)).
    { destruct (Req_dec s t) as [->|Hne].
      - rewrite !Rminus_diag_eq, Rabs_R0 by reflexivity. lra.
      - destruct (MVT_cor2 (fun t => y t i) (fun t => level h (y t)) s t) as [c [Hcv Hci]]; [lra| |].
        + intros c Hci. apply Hy. lra.
        + simpl in Hcv. rewrite Hcv, Rabs_mult, (Rabs_right (t - s)) by lra.
          apply Rmult_le_compat_r; [lra|]. apply Hk. lra. }
    replace (0 + t * 1 - (0 + s * 1)) with (t - s) by ring. rewrite (Rabs_right (t - s)) by lra.
    assert (0 <= k * (t - s)) by (apply Rmult_le_pos; unfold k; lra). lra.
  Qed.

  (* A solution is a trajectory where its derivative is a velocity. *)
  Theorem solution_trajectory L S :
    0 <= S <= T ->
    (forall t, 0 < t < S ->
       velocity L (y t) (fun i => level (nth i fs (Affine 0 [])) (y t))) ->
    trajectory L S y.
  Proof.
    intros HS Hv. split; [lra|]. split.
    - intros i eps Heps. destruct (solution_absolutely_continuous i eps Heps) as [d [Hd H]].
      exists d. split; [exact Hd|]. intros l Hl. apply H. now apply (intervals_to 0 S T); [|lra].
    - exists (fun _ => False). split; [apply nothing_negligible|]. intros t Ht _. eexists.
      split; [apply mean_one; now apply Hv|]. intros i. apply Hy. lra.
  Qed.
End Solution.
