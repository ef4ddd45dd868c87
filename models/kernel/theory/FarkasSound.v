(* What the functions of Farkas.v say about real numbers. *)

From Coq Require Import QArith Qreals Qreduction Reals Lra List Bool.
From Kernel Require Import Semantics Farkas.
Import ListNotations.
Open Scope R_scope.

(* Takes an "and" of booleans apart. *)
Tactic Notation "halve" hyp(H) simple_intropattern(p) := apply andb_prop in H; destruct H as p.

(** * Rationals *)

Lemma Q2R_plus' p q : Q2R (Qplus' p q) = Q2R p + Q2R q.
Proof. rewrite <- Q2R_plus. apply Qeq_eqR, Qplus'_correct. Qed.

Lemma Q2R_mult' p q : Q2R (Qmult' p q) = Q2R p * Q2R q.
Proof. rewrite <- Q2R_mult. apply Qeq_eqR, Qmult'_correct. Qed.

Lemma Q2R_0 : Q2R 0 = 0.
Proof. unfold Q2R. simpl. lra. Qed.

Lemma Q2R_m1 : Q2R (-1) = -1.
Proof. unfold Q2R. simpl. lra. Qed.

Lemma is_zero_R q : is_zero q = true -> Q2R q = 0.
Proof. intros H. rewrite <- Q2R_0. apply Qeq_eqR, Qeq_bool_eq, H. Qed.

Lemma is_nonneg_R q : is_nonneg q = true -> 0 <= Q2R q.
Proof. intros H. rewrite <- Q2R_0. apply Qle_Rle, Qle_bool_iff, H. Qed.

Lemma is_positive_R q : is_positive q = true -> 0 < Q2R q.
Proof.
  intros H. rewrite <- Q2R_0. apply Qlt_Rlt. apply Qnot_le_lt. intros Hle.
  apply Qle_bool_iff in Hle. unfold is_positive in H. rewrite Hle in H. discriminate.
Qed.

Lemma mu_le mu r M : 0 <= r <= M -> Q2R mu * r <= Rabs (Q2R mu) * M.
Proof.
  intros H. apply Rle_trans with (Rabs (Q2R mu) * r).
  - apply Rmult_le_compat_r; [lra|apply Rle_abs].
  - apply Rmult_le_compat_l; [apply Rabs_pos|lra].
Qed.

(** * Forms *)

Lemma dot_sum a b v : dot (vector_sum a b) v = dot a v + dot b v.
Proof.
  revert b v. induction a as [|p a IH]; intros [|q b] v; simpl; try lra.
  rewrite Q2R_plus', IH. lra.
Qed.

Lemma dot_scaled m a v : dot (vector_scaled m a) v = Q2R m * dot a v.
Proof.
  revert v. induction a as [|p a IH]; intros v; simpl; [lra|].
  fold (vector_scaled m a). rewrite Q2R_mult', IH. lra.
Qed.

Lemma dot_zero a v : forallb is_zero a = true -> dot a v = 0.
Proof.
  revert v. induction a as [|p a IH]; intros v H; simpl in *; [reflexivity|].
  halve H [H1 H2]. rewrite (is_zero_R _ H1), (IH _ H2). lra.
Qed.

Lemma value_sum f g x y u : value (form_sum f g) x y u = value f x y u + value g x y u.
Proof. unfold value, form_sum; simpl. rewrite !dot_sum, Q2R_plus'. lra. Qed.

Lemma value_scaled m f x y u : value (form_scaled m f) x y u = Q2R m * value f x y u.
Proof. unfold value, form_scaled; simpl. rewrite !dot_scaled, Q2R_mult'. lra. Qed.

Lemma value_zero x y u : value zero_form x y u = 0.
Proof. unfold value, zero_form; simpl. rewrite Q2R_0. lra. Qed.

Lemma value_constant f x y u : is_constant f = true -> value f x y u = Q2R (constant f).
Proof.
  unfold is_constant, value. intros H. halve H [H H3].
  halve H [H1 H2].
  rewrite (dot_zero _ _ H1), (dot_zero _ _ H2), (dot_zero _ _ H3). lra.
Qed.

(** * Combinations *)

Definition total (ms : list Q) : R := fold_right (fun q s => Q2R q + s) 0 ms.

Lemma total_nonneg ms : all_nonneg ms = true -> 0 <= total ms.
Proof.
  induction ms as [|m ms IH]; simpl; [lra|]. intros H. halve H [H1 H2]. apply is_nonneg_R in H1. specialize (IH H2). lra.
Qed.

Lemma combination_le ms fs x y u M :
  all_nonneg ms = true -> 0 <= M -> (forall f, In f fs -> value f x y u <= M) ->
  value (combination ms fs) x y u <= total ms * M.
Proof.
  intros Hn HM. revert fs. induction ms as [|m ms IH]; intros fs Hfs; simpl.
  - rewrite value_zero. lra.
  - assert (Hn' := Hn). simpl in Hn'. halve Hn' [H1 H2].
    apply is_nonneg_R in H1. assert (H3 := total_nonneg _ H2).
    assert (0 <= total ms * M) by now apply Rmult_le_pos.
    assert (0 <= Q2R m * M) by now apply Rmult_le_pos.
    destruct fs as [|f fs].
    + rewrite value_zero. lra.
    + assert (Hle : value (combination ms fs) x y u <= total ms * M).
      { apply IH; [exact H2|]. intros g Hg. apply Hfs. now right. }
      destruct (is_zero m); [lra|].
      rewrite value_sum, value_scaled.
      assert (Q2R m * value f x y u <= Q2R m * M).
      { apply Rmult_le_compat_l; [exact H1|]. apply Hfs. now left. }
      lra.
Qed.

Lemma rows_le rows x y u :
  rows_hold rows x y u -> forall f, In f (forms rows) -> value f x y u <= 0.
Proof.
  intros H f Hf. apply in_map_iff in Hf. destruct Hf as [r [<- Hr]].
  specialize (H r Hr). unfold row_holds in H. destruct (strict r); lra.
Qed.

Lemma combination_holds ms rows x y u :
  all_nonneg ms = true -> rows_hold rows x y u -> value (combination ms (forms rows)) x y u <= 0.
Proof.
  intros Hn Hs.
  assert (H := combination_le ms (forms rows) x y u 0 Hn (Rle_refl 0) (rows_le _ _ _ _ Hs)). lra.
Qed.

Lemma combination_strict ms rows x y u :
  all_nonneg ms = true -> rows_hold rows x y u -> uses_strict ms rows = true ->
  value (combination ms (forms rows)) x y u < 0.
Proof.
  revert rows. induction ms as [|m ms IH]; intros rows Hn Hs Hu; [discriminate|].
  destruct rows as [|r rows]; [discriminate|].
  simpl in Hn, Hu. halve Hn [H1 H2].
  assert (Hs' : rows_hold rows x y u) by (intros q Hq; apply Hs; now right).
  assert (Hr : row_holds x y u r) by (apply Hs; now left).
  assert (Hle := combination_holds ms rows x y u H2 Hs').
  simpl. apply orb_prop in Hu. destruct (is_zero m) eqn:Hz.
  - destruct Hu as [Hu|Hu]; [|now apply IH].
    halve Hu [Hp _]. apply is_positive_R in Hp. apply is_zero_R in Hz. lra.
  - rewrite value_sum, value_scaled. destruct Hu as [Hu|Hu].
    + halve Hu [Hp Hst]. apply is_positive_R in Hp.
      unfold row_holds in Hr. rewrite Hst in Hr.
      assert (Q2R m * value (row_form r) x y u < Q2R m * 0) by now apply Rmult_lt_compat_l. lra.
    + specialize (IH rows H2 Hs' Hu).
      assert (value (row_form r) x y u <= 0) by (unfold row_holds in Hr; destruct (strict r); lra).
      apply is_nonneg_R in H1.
      assert (Q2R m * value (row_form r) x y u <= Q2R m * 0) by now apply Rmult_le_compat_l. lra.
Qed.

(* What is refuted has no solution. *)
Lemma refutes_sound rows ms x y u : refutes rows ms = true -> ~ rows_hold rows x y u.
Proof.
  unfold refutes. intros H Hs. halve H [H H3].
  halve H [H1 H2].
  assert (Hle := combination_holds ms rows x y u H1 Hs).
  rewrite (value_constant _ _ _ _ H2) in Hle. apply orb_prop in H3. destruct H3 as [H3|H3].
  - apply is_positive_R in H3. lra.
  - halve H3 [H3 H4]. apply is_nonneg_R in H3.
    assert (Hlt := combination_strict ms rows x y u H1 Hs H4).
    rewrite (value_constant _ _ _ _ H2) in Hlt. lra.
Qed.

(* What follows from rows holds for their solutions. *)
Lemma implies_sound rows goal ms x y u :
  implies rows goal ms = true -> rows_hold rows x y u -> value goal x y u <= 0.
Proof.
  unfold implies. intros H Hs. halve H [H H3].
  halve H [H1 H2].
  assert (Hle := combination_holds ms rows x y u H1 Hs).
  assert (He := value_constant _ x y u H2). rewrite value_sum, value_scaled, Q2R_m1 in He.
  apply is_nonneg_R in H3. lra.
Qed.

(** * Lists *)

Lemma all2_in {A B} (p : A -> B -> bool) l m a :
  all2 p l m = true -> In a l -> exists b, In b m /\ p a b = true.
Proof.
  revert m. induction l as [|c l IH]; intros [|b m] H Ha; simpl in *; try easy.
  halve H [H1 H2]. destruct Ha as [<-|Ha].
  - exists b. auto.
  - destruct (IH m H2 Ha) as [b' [Hb' Hp]]. exists b'. auto.
Qed.

Lemma all2_nth {A B} (p : A -> B -> bool) l m n a :
  all2 p l m = true -> nth_error l n = Some a ->
  exists b, nth_error m n = Some b /\ p a b = true.
Proof.
  revert m n. induction l as [|c l IH]; intros [|b m] [|n] H Ha; simpl in *; try easy.
  - apply andb_prop in H. injection Ha as <-. exists b. split; [reflexivity|apply H].
  - apply andb_prop in H. apply IH; [apply H|exact Ha].
Qed.

Lemma rows_hold_app r1 r2 x y u :
  rows_hold r1 x y u -> rows_hold r2 x y u -> rows_hold (r1 ++ r2) x y u.
Proof. intros H1 H2 r Hr. apply in_app_or in Hr. destruct Hr; auto. Qed.
