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

(** * Values along curves *)

Lemma value_continuous f (y w : R -> point) t :
  (forall i, continuity_pt (fun s => y s i) t) -> (forall i, continuity_pt (fun s => w s i) t) ->
  continuity_pt (fun s => value f (y s) origin (w s)) t.
Proof.
  intros Hy Hw. unfold value.
  apply (continuity_pt_plus
    (fun s => Q2R (constant f) + dot (state_part f) (y s) + dot (next_part f) origin)
    (fun s => dot (input_part f) (w s))); [|now apply dot_continuous].
  apply (continuity_pt_plus (fun s => Q2R (constant f) + dot (state_part f) (y s))
    (fun _ => dot (next_part f) origin)); [|apply constant_continuous].
  apply (continuity_pt_plus (fun _ => Q2R (constant f)) (fun s => dot (state_part f) (y s)));
    [apply constant_continuous|now apply dot_continuous].
Qed.

Lemma value_difference f x y u :
  value f x origin u - value f y origin u = dot (state_part f) (fun i => x i + - (1) * y i).
Proof. unfold value. rewrite dot_linear. ring. Qed.

Lemma nothing_value x y u : value zero_form x y u = 0.
Proof. unfold value, zero_form; simpl. rewrite Q2R_0. ring. Qed.

Lemma mean_value_le (f g : R -> R) B t :
  (forall s, Rabs s <= Rabs t -> derivable_pt_lim f s (g s)) ->
  (forall s, Rabs s <= Rabs t -> Rabs (g s) <= B) -> Rabs (f t - f 0) <= B * Rabs t.
Proof.
  intros Hf Hg. destruct (Rtotal_order t 0) as [Ht|[->|Ht]].
  - destruct (MVT_cor2 f g t 0 Ht) as [c [Hc Hct]].
    + intros c Hc. apply Hf. rewrite !Rabs_left1 by lra. lra.
    + rewrite Rabs_minus_sym, Hc, Rabs_mult. replace (0 - t) with (- t) by ring.
      rewrite Rabs_Ropp. apply Rmult_le_compat_r; [apply Rabs_pos|]. apply Hg.
      rewrite !Rabs_left1 by lra. lra.
  - rewrite Rminus_diag_eq, Rabs_R0 by reflexivity. lra.
  - destruct (MVT_cor2 f g 0 t Ht) as [c [Hc Hct]].
    + intros c Hc. apply Hf. rewrite !Rabs_right by lra. lra.
    + rewrite Hc, Rabs_mult, Rminus_0_r. apply Rmult_le_compat_r; [apply Rabs_pos|]. apply Hg.
      rewrite !Rabs_right by lra. lra.
Qed.

(** * Picard's iteration *)

Section Equation.
  (* x_i' = value (nth i fs 0), with w for the inputs *)
  Variables (fs : list form) (w : R -> point) (x0 : point) (r : R).
  Hypothesis Hw : forall i t, continuity_pt (fun s => w s i) t.
  Hypothesis Hr : 0 < r.

  Definition speed (i : nat) : form := nth i fs zero_form.
  Definition rate_at (i : nat) (x : point) (t : R) : R := value (speed i) x origin (w t).

  Definition curve :=
    {y : R -> point | forall i t, - r <= t <= r -> continuity_pt (fun s => y s i) t}.

  Lemma rate_continuous (y : curve) i t :
    - r <= t <= r -> continuity_pt (fun s => rate_at i (proj1_sig y s) s) t.
  Proof.
    intros Ht. destruct y as [y Hy]. simpl. apply value_continuous; [|intros j; apply Hw].
    intros j. now apply Hy.
  Qed.

  Lemma around : - r <= r.
  Proof. lra. Qed.

  Definition integral (y : curve) (i : nat) : R -> R :=
    primitive around (FTC_P1 around (rate_continuous y i)).

  Lemma integral_derivable y i t :
    - r <= t <= r -> derivable_pt_lim (integral y i) t (rate_at i (proj1_sig y t) t).
  Proof. intros Ht. apply (RiemannInt_P28 around (rate_continuous y i) Ht). Qed.

  Lemma step_derivable y i t :
    - r <= t <= r ->
    derivable_pt_lim (fun t => x0 i + (integral y i t - integral y i 0)) t
      (rate_at i (proj1_sig y t) t).
  Proof.
    intros Ht. replace (rate_at i (proj1_sig y t) t)
      with (0 + (rate_at i (proj1_sig y t) t - 0)) by ring.
    apply (derivable_pt_lim_plus (fun _ => x0 i) (fun t => integral y i t - integral y i 0)).
    - apply derivable_pt_lim_const.
    - apply (derivable_pt_lim_minus (integral y i) (fun _ => integral y i 0)).
      + now apply integral_derivable.
      + apply derivable_pt_lim_const.
  Qed.

  Lemma step_continuous y i t :
    - r <= t <= r -> continuity_pt (fun t => x0 i + (integral y i t - integral y i 0)) t.
  Proof.
    intros Ht. apply derivable_continuous_pt. eexists. now apply step_derivable.
  Qed.

  Fixpoint approach (n : nat) : curve :=
    match n with
    | O => exist (fun y : R -> point => forall i t, - r <= t <= r -> continuity_pt (fun s => y s i) t)
             (fun _ => x0) (fun i t _ => constant_continuous (x0 i) t)
    | S n' => exist (fun y : R -> point => forall i t, - r <= t <= r -> continuity_pt (fun s => y s i) t)
                (fun t i => x0 i + (integral (approach n') i t - integral (approach n') i 0))
                (step_continuous (approach n'))
    end.

  Definition partial (n : nat) (t : R) : point := proj1_sig (approach n) t.

  Lemma partial_derivable n i t :
    - r <= t <= r ->
    derivable_pt_lim (fun t => partial (S n) t i) t (rate_at i (partial n t) t).
  Proof. intros Ht. exact (step_derivable (approach n) i t Ht). Qed.

  Lemma partial_starts n i : partial n 0 i = x0 i.
  Proof. destruct n; unfold partial; simpl; ring. Qed.

  (* Only finitely many variables matter. *)
  Lemma rates_bounded : exists K, 0 <= K /\ forall i t, Rabs t <= r -> Rabs (rate_at i x0 t) <= K.
  Proof.
    unfold rate_at, speed. induction fs as [|f l [K [HK H]]].
    - exists 0. split; [lra|]. intros [|i] t _; simpl; rewrite nothing_value, Rabs_R0; lra.
    - assert (Hc : forall t, - r <= t <= r ->
        continuity_pt (fun s => Rabs (value f x0 origin (w s))) t).
      { intros t _. apply (continuity_pt_comp (fun s => value f x0 origin (w s)) Rabs).
        - apply (value_continuous f (fun _ => x0) w); [|intros i; apply Hw].
          intros i. apply constant_continuous.
        - apply Rcontinuity_abs. }
      destruct (continuity_ab_maj _ (- r) r around Hc) as [p [Hp _]].
      exists (Rmax K (Rabs (value f x0 origin (w p)))).
      assert (H1 := Rmax_l K (Rabs (value f x0 origin (w p)))).
      assert (H2 := Rmax_r K (Rabs (value f x0 origin (w p)))).
      split; [lra|]. intros [|i] t Ht; simpl.
      + eapply Rle_trans; [|exact H2]. apply Hp. revert Ht. unfold Rabs. destruct (Rcase_abs t); lra.
      + eapply Rle_trans; [|exact H1]. now apply H.
  Qed.

  Section Bounded.
    Variables (M K : R).
    Hypothesis HM : 0 < M.
    Hypothesis HMr : r = / (2 * M).
    Hypothesis HK : 0 <= K.
    Hypothesis Hsize : forall i, size (state_part (speed i)) <= M.
    Hypothesis Hrate : forall i t, Rabs t <= r -> Rabs (rate_at i x0 t) <= K.

    Let C := 2 * K * r.

    Lemma C_pos : 0 <= C.
    Proof. unfold C. apply Rmult_le_pos; lra. Qed.

    Lemma inside t : Rabs t <= r -> - r <= t <= r.
    Proof. unfold Rabs. destruct (Rcase_abs t); lra. Qed.

    Lemma partial_step n t i :
      Rabs t <= r -> Rabs (partial (S n) t i - partial n t i) <= C * (/ 2) ^ S n.
    Proof.
      revert t i. induction n as [|n IH]; intros t i Ht.
      - replace (partial 0 t i) with (partial 1 0 i) by (rewrite partial_starts; reflexivity).
        eapply Rle_trans.
        + apply (mean_value_le (fun t => partial 1 t i) (fun t => rate_at i (partial 0 t) t) K t).
          * intros s Hs. apply partial_derivable, inside. lra.
          * intros s Hs. apply Hrate. lra.
        + unfold C. simpl. rewrite Rmult_1_r.
          replace (2 * K * r * / 2) with (K * r) by field. now apply Rmult_le_compat_l.
      - set (f := fun t => partial (S (S n)) t i - partial (S n) t i).
        change (Rabs (f t) <= C * (/ 2) ^ S (S n)).
        replace (f t) with (f t - f 0).
        2: { unfold f. rewrite !partial_starts. ring. }
        assert (HC := C_pos). assert (Hp : 0 < (/ 2) ^ S n) by (apply pow_lt; lra).
        assert (HB : 0 <= C * (/ 2) ^ S n) by (apply Rmult_le_pos; lra).
        eapply Rle_trans.
        + apply (mean_value_le f
            (fun t => rate_at i (partial (S n) t) t - rate_at i (partial n t) t)
            (M * (C * (/ 2) ^ S n)) t).
          * intros s Hs.
            apply (derivable_pt_lim_minus (fun t => partial (S (S n)) t i)
                     (fun t => partial (S n) t i)); apply partial_derivable, inside; lra.
          * intros s Hs. unfold rate_at. rewrite value_difference.
            eapply Rle_trans; [apply (dot_le _ _ (C * (/ 2) ^ S n) HB)|].
            -- intros j _. replace (partial (S n) s j + - (1) * partial n s j)
                 with (partial (S n) s j - partial n s j) by ring. apply IH. lra.
            -- apply Rmult_le_compat_r; [exact HB|apply Hsize].
        + apply Rle_trans with (M * (C * (/ 2) ^ S n) * r).
          * apply Rmult_le_compat_l; [|exact Ht]. apply Rmult_le_pos; lra.
          * right. rewrite HMr. change ((/ 2) ^ S (S n)) with (/ 2 * (/ 2) ^ S n). field. lra.
    Qed.

    (* The nearest number between - r and r. *)
    Definition limited (t : R) : R := Rmax (- r) (Rmin r t).

    Lemma limited_le t : Rabs (limited t) <= r.
    Proof.
      unfold limited. apply Rabs_le. split; [apply Rmax_l|]. apply Rmax_lub; [lra|apply Rmin_l].
    Qed.

    Lemma limited_inside t : Rabs t <= r -> limited t = t.
    Proof. intros H. apply inside in H. unfold limited. rewrite Rmin_right, Rmax_right; lra. Qed.

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

    Lemma solution_rate_near n t i :
      Rabs t <= r ->
      Rabs (rate_at i (solution t) t - rate_at i (partial n t) t) <= M * C * (/ 2) ^ n.
    Proof.
      intros Ht. unfold rate_at. rewrite value_difference. rewrite Rmult_assoc.
      assert (HC := C_pos). assert (Hp : 0 < (/ 2) ^ n) by (apply pow_lt; lra).
      assert (HB : 0 <= C * (/ 2) ^ n) by (apply Rmult_le_pos; lra).
      eapply Rle_trans; [apply (dot_le _ _ (C * (/ 2) ^ n) HB)|].
      - intros j _. replace (solution t j + - (1) * partial n t j)
          with (solution t j - partial n t j) by ring. now apply solution_near.
      - apply Rmult_le_compat_r; [exact HB|apply Hsize].
    Qed.

    Lemma solution_derivable t i :
      Rabs t < r -> derivable_pt_lim (fun t => solution t i) t (rate_at i (solution t) t).
    Proof.
      intros Ht. set (rho := mkposreal r Hr).
      assert (Hin : forall s, Boule 0 rho s -> Rabs s < r).
      { intros s Hs. unfold Boule in Hs. rewrite Rminus_0_r in Hs. exact Hs. }
      apply (CVU_derivable (fun n t => partial (S n) t i) (fun n t => rate_at i (partial n t) t)
               (fun t => solution t i) (fun t => rate_at i (solution t) t) 0 rho).
      - intros eps He. assert (HC := C_pos).
        destruct (half_small (M * C) eps) as [N HN]; [|exact He|].
        { apply Rmult_le_pos; lra. }
        exists N. intros n s Hn Hs. eapply Rle_lt_trans; [|apply (HN n Hn)].
        apply solution_rate_near. left. now apply Hin.
      - intros s Hs eps He. destruct (half_small C eps C_pos He) as [N HN].
        exists N. intros n Hn. unfold R_dist. rewrite Rabs_minus_sym.
        eapply Rle_lt_trans; [|apply (HN (S n)); lia]. apply solution_near. left. now apply Hin.
      - intros n s Hs. apply partial_derivable, inside. left. now apply Hin.
      - unfold Boule. now rewrite Rminus_0_r.
    Qed.

    Lemma solution_starts i : solution 0 i = x0 i.
    Proof.
      assert (H0 : Rabs 0 <= r) by (rewrite Rabs_R0; lra).
      apply Rminus_diag_uniq.
      destruct (Req_dec (solution 0 i - x0 i) 0) as [E|Hne]; [exact E|exfalso].
      destruct (half_small C (Rabs (solution 0 i - x0 i)) C_pos) as [N HN]; [now apply Rabs_pos_lt|].
      specialize (HN N (Nat.le_refl N)). assert (H := solution_near N 0 i H0).
      rewrite partial_starts in H. lra.
    Qed.
  End Bounded.
End Equation.

Lemma sizes_bounded (fs : list form) :
  exists M, 0 < M /\ forall i, size (state_part (nth i fs zero_form)) <= M.
Proof.
  induction fs as [|f l [M [HM H]]].
  - exists 1. split; [lra|]. intros [|i]; unfold size; simpl; lra.
  - exists (Rmax M (size (state_part f))). assert (H1 := Rmax_l M (size (state_part f))).
    assert (H2 := Rmax_r M (size (state_part f))). split; [lra|].
    intros [|i]; simpl; [exact H2|]. specialize (H i). lra.
Qed.

(** * Solutions of affine equations *)

(* y solves the equation from x0, a bit longer than up to T. *)
Definition solves (fs : list form) (w : R -> point) (x0 : point) (T : R) (y : R -> point) : Prop :=
  (forall i, y 0 i = x0 i) /\
  forall i t, 0 <= t <= T ->
    derivable_pt_lim (fun s => y s i) t (value (nth i fs zero_form) (y t) origin (w t)).

Theorem solution_exists fs w x0 :
  (forall i t, continuity_pt (fun s => w s i) t) -> exists T y, 0 < T /\ solves fs w x0 T y.
Proof.
  intros Hw. destruct (sizes_bounded fs) as [M [HM Hsize]].
  set (r := / (2 * M)). assert (Hr : 0 < r) by (apply Rinv_0_lt_compat; lra).
  destruct (rates_bounded fs w x0 r Hw Hr) as [K [HK Hrate]].
  exists (r / 2), (solution fs w x0 r Hw Hr M K HM eq_refl HK Hsize Hrate). split; [lra|]. split.
  - intros i. apply solution_starts.
  - intros i t Ht. apply solution_derivable. rewrite Rabs_right; lra.
Qed.

Section Solution.
  Variables (fs : list form) (w : R -> point) (x0 : point) (T : R) (y : R -> point).
  Hypothesis Hw : forall i t, continuity_pt (fun s => w s i) t.
  Hypothesis HT : 0 < T.
  Hypothesis Hy : solves fs w x0 T y.

  Lemma solution_continuous i t : 0 <= t <= T -> continuity_pt (fun s => y s i) t.
  Proof. intros Ht. apply derivable_continuous_pt. eexists. now apply Hy. Qed.

  Lemma solution_value_continuous f t :
    0 <= t <= T -> continuity_pt (fun s => value f (y s) origin (w s)) t.
  Proof.
    intros Ht. apply value_continuous; intros i; [now apply solution_continuous|apply Hw].
  Qed.

  Lemma solution_absolutely_continuous i : absolutely_continuous T (fun t => y t i).
  Proof.
    set (h := fun t => value (nth i fs zero_form) (y t) origin (w t)).
    assert (Hc : forall t, 0 <= t <= T -> continuity_pt h t)
      by (intros t Ht; now apply solution_value_continuous).
    destruct (continuity_ab_maj _ 0 T ltac:(lra) Hc) as [p [Hp Hpi]].
    destruct (continuity_ab_min _ 0 T ltac:(lra) Hc) as [q [Hq Hqi]].
    set (k := Rabs (h p) + Rabs (h q) + 1).
    assert (H1 := Rabs_pos (h p)). assert (H2 := Rabs_pos (h q)).
    assert (Hk : forall t, 0 <= t <= T -> Rabs (h t) <= k).
    { intros t Ht. specialize (Hp t Ht). specialize (Hq t Ht).
      assert (H3 := Rle_abs (h p)). assert (H4 := Rle_abs (- h q)).
      rewrite Rabs_Ropp in H4. apply Rabs_le. unfold k. lra. }
    apply (absolutely_continuous_by T (fun t => 0 + t * 1) (fun t => 0 + t * 1) _ k);
      try apply line_absolutely_continuous; [unfold k; lra|].
    intros s t Hs Ht.
    assert (Hst : Rabs (y t i - y s i) <= k * (t - s)).
    { destruct (Req_dec s t) as [->|Hne].
      - rewrite !Rminus_diag_eq, Rabs_R0 by reflexivity. lra.
      - destruct (MVT_cor2 (fun t => y t i) h s t) as [c [Hcv Hci]]; [lra| |].
        + intros c Hci. apply Hy. lra.
        + simpl in Hcv. rewrite Hcv, Rabs_mult, (Rabs_right (t - s)) by lra.
          apply Rmult_le_compat_r; [lra|]. apply Hk. lra. }
    replace (0 + t * 1 - (0 + s * 1)) with (t - s) by ring. rewrite (Rabs_right (t - s)) by lra.
    assert (0 <= k * (t - s)) by (apply Rmult_le_pos; unfold k; lra). lra.
  Qed.

  (* A solution is a trajectory where its derivative is a velocity. *)
  Theorem solution_driven s L S :
    0 <= S <= T ->
    (forall t, 0 < t < S -> exists u, agrees s (w t) u /\
       velocity_for L (y t) u (fun i => value (nth i fs zero_form) (y t) origin (w t))) ->
    driven s w L S y.
  Proof.
    intros HS Hv. split; [lra|]. split.
    - intros i eps Heps. destruct (solution_absolutely_continuous i eps Heps) as [d [Hd H]].
      exists d. split; [exact Hd|]. intros l Hl. apply H. now apply (intervals_to 0 S T); [|lra].
    - exists (fun _ => False). split; [apply nothing_negligible|]. intros t Ht _.
      destruct (Hv t Ht) as [u [Hu Hvel]]. exists u. eexists. split; [exact Hu|].
      split; [exact Hvel|]. intros i. apply Hy. lra.
  Qed.
End Solution.

Lemma driven_trajectory s w L T y : driven s w L T y -> trajectory L T y.
Proof.
  intros [HT [Hac [N [HN Hv]]]]. split; [exact HT|]. split; [exact Hac|].
  exists N. split; [exact HN|]. intros t Ht Hn. destruct (Hv t Ht Hn) as [u [v [_ [Hvel Hd]]]].
  exists v. split; [|exact Hd]. apply mean_one. now exists u.
Qed.
