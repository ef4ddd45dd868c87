(* Covers: what they say of states that satisfy rows, and of limits of such states. *)

From Coq Require Import QArith Qreals Reals Lra List Bool.
From Kernel Require Import Semantics Farkas Polyhedral FarkasSound Motion.
Import ListNotations.
Open Scope R_scope.

(* All functions that bound a cell are at most 0. *)
Definition within (goals : region -> cell -> list affine) (Gs : list region) (x : point) : Prop :=
  exists G c, In G Gs /\ In c (cells G) /\ forall h, In h (goals G c) -> level h x <= 0.

(** * After a jump *)

Lemma check_cover_sound goals Gs rows e x y u :
  check_cover after goals Gs rows e = true -> rows_hold rows x y u -> within goals Gs y.
Proof.
  revert rows. induction e as [ms|g n proofs|h sb b IHb a IHa]; intros rows H Hs; simpl in H.
  - now apply (refutes_sound _ _ x y u) in H.
  - destruct (nth_error Gs g) as [G|] eqn:HG; [|discriminate].
    destruct (nth_error (cells G) n) as [c|] eqn:Hc; [|discriminate].
    exists G, c. split; [now apply nth_error_In in HG|]. split; [now apply nth_error_In in Hc|].
    intros h Hh. destruct (all2_in _ _ _ _ H Hh) as [ms [_ Hi]].
    apply (implies_sound _ _ _ x y u) in Hi; [|exact Hs]. now rewrite value_after in Hi.
  - halve H [Hb Ha].
    assert (Hcase : row_holds x y u (Row (after h) sb) \/
                    row_holds x y u (Row (form_scaled (-1) (after h)) (negb sb))).
    { unfold row_holds; cbn [row_form strict]. rewrite value_scaled, Q2R_m1.
      destruct sb; simpl negb; cbv iota.
      - destruct (Rlt_dec (value (after h) x y u) 0); [now left|right; lra].
      - destruct (Rle_dec (value (after h) x y u) 0); [now left|right; lra]. }
    destruct Hcase as [Hc|Hc]; [apply (IHb _ Hb)|apply (IHa _ Ha)];
      apply rows_hold_app; try exact Hs; intros r [<-|[]]; exact Hc.
Qed.

(** * In the limit *)

(* Rows with their limits: there are states as near to x as one likes that satisfy each row but
   for its number and as little more as one likes. *)
Definition limit_holds (x : point) (limits : list (row * R)) : Prop :=
  forall (hs : list affine) eps, 0 < eps -> exists x' u,
    (forall h, In h hs -> Rabs (level h x' - level h x) < eps) /\
    forall r b, In (r, b) limits -> value (row_form r) x' origin u <= b + eps.

(* The numbers are as the rows say. *)
Definition limits_fit (limits : list (row * R)) : Prop :=
  forall r b, In (r, b) limits -> b <= 0 /\ (strict r = true -> b < 0).

Fixpoint weighted (ms : list Q) (limits : list (row * R)) : R :=
  match ms, limits with
  | m :: ms', (_, b) :: limits' => Q2R m * b + weighted ms' limits'
  | _, _ => 0
  end.

Lemma combination_limit ms limits x y u eps :
  all_nonneg ms = true -> 0 <= eps ->
  (forall r b, In (r, b) limits -> value (row_form r) x y u <= b + eps) ->
  value (combination ms (forms (map fst limits))) x y u <= weighted ms limits + total ms * eps.
Proof.
  revert limits. induction ms as [|m ms IH]; intros limits Hn He Hrb.
  - simpl. rewrite value_zero. lra.
  - assert (Hn' := Hn). simpl in Hn'. halve Hn' [H1 H2].
    apply is_nonneg_R in H1. assert (H3 := total_nonneg _ H2).
    assert (0 <= total ms * eps) by now apply Rmult_le_pos.
    assert (0 <= Q2R m * eps) by now apply Rmult_le_pos.
    destruct limits as [|[r b] limits]; simpl.
    + rewrite value_zero. lra.
    + assert (Hle : value (combination ms (forms (map fst limits))) x y u
                    <= weighted ms limits + total ms * eps).
      { apply IH; auto. intros q c Hq. apply Hrb. now right. }
      destruct (is_zero m) eqn:Hz.
      * apply is_zero_R in Hz. rewrite Hz. lra.
      * rewrite value_sum, value_scaled.
        assert (Q2R m * value (row_form r) x y u <= Q2R m * (b + eps)).
        { apply Rmult_le_compat_l; [exact H1|]. apply Hrb. now left. }
        lra.
Qed.

Lemma weighted_le ms limits :
  all_nonneg ms = true -> limits_fit limits -> weighted ms limits <= 0.
Proof.
  revert limits. induction ms as [|m ms IH]; intros [|[r b] limits] Hn Hf; simpl; try lra.
  simpl in Hn. halve Hn [H1 H2]. apply is_nonneg_R in H1.
  assert (weighted ms limits <= 0) by (apply IH; auto; intros q c Hq; apply Hf; now right).
  destruct (Hf r b (or_introl eq_refl)) as [Hb _].
  assert (Q2R m * b <= Q2R m * 0) by now apply Rmult_le_compat_l. lra.
Qed.

Lemma weighted_lt ms limits :
  all_nonneg ms = true -> limits_fit limits -> uses_strict ms (map fst limits) = true ->
  weighted ms limits < 0.
Proof.
  revert limits. induction ms as [|m ms IH]; intros [|[r b] limits] Hn Hf Hu; simpl in *; try easy.
  assert (Hf' : limits_fit limits) by (intros q c Hq; apply Hf; now right).
  halve Hn [H1 H2]. apply is_nonneg_R in H1.
  assert (Hle := weighted_le ms limits H2 Hf').
  destruct (Hf r b (or_introl eq_refl)) as [Hb Hs].
  assert (Q2R m * b <= Q2R m * 0) by now apply Rmult_le_compat_l.
  apply orb_prop in Hu. destruct Hu as [Hu|Hu].
  - halve Hu [Hp Hst]. apply is_positive_R in Hp. specialize (Hs Hst).
    assert (Q2R m * b < Q2R m * 0) by now apply Rmult_lt_compat_l. lra.
  - specialize (IH limits H2 Hf' Hu). lra.
Qed.

Lemma le_limit a b k : 0 <= k -> (forall eps, 0 < eps -> a <= b + k * eps) -> a <= b.
Proof.
  intros Hk H. apply Rnot_lt_le. intros Hlt. set (e := (a - b) / (2 * (k + 1))).
  assert (Hp : 0 < e) by (apply Rdiv_lt_0_compat; lra). specialize (H e Hp).
  assert (He : (k + 1) * e = (a - b) / 2) by (unfold e; field; lra). lra.
Qed.

Lemma implies_limit limits h ms x :
  implies (map fst limits) (before h) ms = true -> limit_holds x limits -> limits_fit limits ->
  level h x <= 0.
Proof.
  unfold implies. intros H Ha Hf. halve H [H H3]. halve H [H1 H2]. apply is_nonneg_R in H3.
  apply Rle_trans with (weighted ms limits); [|now apply weighted_le].
  apply (le_limit _ _ (total ms + 1)); [assert (Hs := total_nonneg _ H1); lra|].
  intros eps He. destruct (Ha [h] eps He) as [x' [u [Hnear Hrb]]].
  specialize (Hnear h (or_introl eq_refl)). apply Rabs_def2 in Hnear.
  assert (Hle := combination_limit ms limits x' origin u eps H1 ltac:(lra) Hrb).
  assert (Hc := value_constant _ x' origin u H2).
  rewrite value_sum, value_scaled, Q2R_m1, value_before in Hc. lra.
Qed.

Lemma refutes_limit limits ms x :
  refutes (map fst limits) ms = true -> limit_holds x limits -> limits_fit limits -> False.
Proof.
  unfold refutes. intros H Ha Hf. halve H [H H3]. halve H [H1 H2].
  assert (Hle : Q2R (constant (combination ms (forms (map fst limits)))) <= weighted ms limits).
  { apply (le_limit _ _ (total ms)); [now apply total_nonneg|].
    intros eps He. destruct (Ha [] eps He) as [x' [u [_ Hrb]]].
    assert (Hle := combination_limit ms limits x' origin u eps H1 ltac:(lra) Hrb).
    now rewrite (value_constant _ x' origin u H2) in Hle. }
  assert (Hw := weighted_le ms limits H1 Hf).
  apply orb_prop in H3. destruct H3 as [H3|H3].
  - apply is_positive_R in H3. lra.
  - halve H3 [H3 H4]. apply is_nonneg_R in H3.
    assert (Hlt := weighted_lt ms limits H1 Hf H4). lra.
Qed.

(* A row of the state alone may be added with its value. *)
Lemma limit_holds_add x limits h r b :
  limit_holds x limits ->
  (forall x' u eps, Rabs (level h x' - level h x) < eps ->
     value (row_form r) x' origin u <= b + eps) ->
  limit_holds x (limits ++ [(r, b)]).
Proof.
  intros Ha Hr hs eps He. destruct (Ha (h :: hs) eps He) as [x' [u [Hnear Hrb]]].
  exists x', u. split.
  - intros q Hq. apply Hnear. now right.
  - intros q c Hq. apply in_app_or in Hq. destruct Hq as [Hq|[Hq|[]]]; [now apply Hrb|].
    injection Hq as <- <-. apply Hr. apply Hnear. now left.
Qed.

Lemma limits_fit_add limits r b :
  limits_fit limits -> b <= 0 -> (strict r = true -> b < 0) -> limits_fit (limits ++ [(r, b)]).
Proof.
  intros Hf Hb Hs q c Hq. apply in_app_or in Hq. destruct Hq as [Hq|[Hq|[]]]; [now apply Hf|].
  injection Hq as <- <-. auto.
Qed.

Lemma check_cover_limit goals Gs e limits x :
  check_cover before goals Gs (map fst limits) e = true ->
  limit_holds x limits -> limits_fit limits -> within goals Gs x.
Proof.
  revert limits. induction e as [ms|g n proofs|h sb b IHb a IHa]; intros limits H Ha Hf; simpl in H.
  - exfalso. now apply (refutes_limit limits ms x).
  - destruct (nth_error Gs g) as [G|] eqn:HG; [|discriminate].
    destruct (nth_error (cells G) n) as [c|] eqn:Hc; [|discriminate].
    exists G, c. split; [now apply nth_error_In in HG|]. split; [now apply nth_error_In in Hc|].
    intros h Hh. destruct (all2_in _ _ _ _ H Hh) as [ms [_ Hi]].
    now apply (implies_limit limits h ms x).
  - halve H [Hb Hab].
    assert (Hcase : (level h x <= 0 /\ (sb = true -> level h x < 0)) \/
                    (- level h x <= 0 /\ (negb sb = true -> - level h x < 0))).
    { destruct sb; simpl.
      - destruct (Rlt_dec (level h x) 0); [left|right]; split; try easy; lra.
      - destruct (Rle_dec (level h x) 0); [left|right]; split; try easy; lra. }
    destruct Hcase as [[Hle Hs]|[Hle Hs]].
    + apply (IHb (limits ++ [(Row (before h) sb, level h x)])).
      * rewrite map_app. exact Hb.
      * apply (limit_holds_add _ _ h); [exact Ha|]. intros x' u eps Hn. simpl.
        rewrite value_before. apply Rabs_def2 in Hn. lra.
      * now apply limits_fit_add.
    + apply (IHa (limits ++ [(Row (form_scaled (-1) (before h)) (negb sb), - level h x)])).
      * rewrite map_app. exact Hab.
      * apply (limit_holds_add _ _ h); [exact Ha|]. intros x' u eps Hn. simpl.
        rewrite value_scaled, Q2R_m1, value_before. apply Rabs_def2 in Hn. lra.
      * now apply limits_fit_add.
Qed.
