(* Soundness of the checker of quadratic functions. *)

From Coq Require Import QArith Qreals Qreduction Reals Lra List Bool.
From Kernel Require Import Semantics Farkas Polyhedral Quadratic Comparison FarkasSound Motion.
Import ListNotations.
Open Scope R_scope.

(** * Polynomials *)

Section Values.
  Variables x y u : point.

  Fixpoint dot_forms (fs : list form) (v : point) : R :=
    match fs with
    | [] => 0
    | f :: fs' => v 0%nat * value f x y u + dot_forms fs' (fun i => v (S i))
    end.

  Definition matrix_value (M : matrix) : R :=
    value (one_row M) x y u + dot_forms (state_rows M) x + dot_forms (next_rows M) y +
    dot_forms (input_rows M) u.

  Definition term_value (t : term) : R :=
    let '(q, f, g) := t in Q2R q * value f x y u * value g x y u.

  Definition terms_value (ts : list term) : R := sum_over term_value ts.

  Lemma dot_multiples c g v : dot_forms (multiples c g) v = dot c v * value g x y u.
  Proof.
    revert v. induction c as [|a c IH]; intros v; simpl; [lra|].
    fold (multiples c g). rewrite value_scaled, IH. lra.
  Qed.

  Lemma value_outer f g : matrix_value (outer f g) = value f x y u * value g x y u.
  Proof.
    unfold matrix_value, outer; cbn [one_row state_rows next_rows input_rows].
    rewrite !dot_multiples, value_scaled. unfold value at 5. lra.
  Qed.

  Lemma dot_forms_sum a b v : dot_forms (forms_sum a b) v = dot_forms a v + dot_forms b v.
  Proof.
    revert b v. induction a as [|f a IH]; intros [|g b] v; simpl; try lra.
    rewrite value_sum, IH. lra.
  Qed.

  Lemma value_matrix_sum M N : matrix_value (matrix_sum M N) = matrix_value M + matrix_value N.
  Proof.
    unfold matrix_value, matrix_sum; cbn [one_row state_rows next_rows input_rows].
    rewrite !dot_forms_sum, value_sum. lra.
  Qed.

  Lemma Q2R_half : Q2R (1 # 2) = / 2.
  Proof. unfold Q2R. simpl. lra. Qed.

  Lemma value_matrix_of ts : matrix_value (matrix_of ts) = terms_value ts.
  Proof.
    induction ts as [|[[q f] g] ts IH].
    - unfold matrix_value; simpl. rewrite value_zero. lra.
    - change (matrix_of ((q, f, g) :: ts)) with
        (matrix_sum (matrix_of_term (q, f, g)) (matrix_of ts)).
      change (terms_value ((q, f, g) :: ts)) with (term_value (q, f, g) + terms_value ts).
      rewrite value_matrix_sum, IH. unfold matrix_of_term, term_value. cbv zeta.
      rewrite value_matrix_sum, !value_outer, !value_scaled, !Q2R_mult', Q2R_half. lra.
  Qed.

  Lemma is_zero_form_value f : is_zero_form f = true -> value f x y u = 0.
  Proof.
    unfold is_zero_form. intros H. halve H [H1 H2].
    rewrite (value_constant _ _ _ _ H1). now apply is_zero_R.
  Qed.

  Lemma dot_forms_zero fs v : forallb is_zero_form fs = true -> dot_forms fs v = 0.
  Proof.
    revert v. induction fs as [|f fs IH]; intros v H; simpl in *; [reflexivity|].
    halve H [H1 H2]. rewrite (is_zero_form_value _ H1), (IH _ H2). lra.
  Qed.

  Lemma vanishes_sound ts : vanishes ts = true -> terms_value ts = 0.
  Proof.
    intros H. rewrite <- value_matrix_of. unfold vanishes in H. cbv zeta in H. unfold matrix_value.
    halve H [H H4]. halve H [H H3]. halve H [H1 H2].
    rewrite (is_zero_form_value _ H1), (dot_forms_zero _ _ H2), (dot_forms_zero _ _ H3),
      (dot_forms_zero _ _ H4). lra.
  Qed.

  Lemma terms_value_app a b : terms_value (a ++ b) = terms_value a + terms_value b.
  Proof. unfold terms_value. induction a as [|t a IH]; simpl; [lra|]. rewrite IH. lra. Qed.

  Lemma terms_value_scaled m ts : terms_value (terms_scaled m ts) = Q2R m * terms_value ts.
  Proof.
    unfold terms_value. induction ts as [|[[q f] g] ts IH]; simpl; [lra|].
    rewrite IH, Q2R_mult'. lra.
  Qed.

  Lemma value_one : value one x y u = 1.
  Proof. unfold value, one; simpl. rewrite Q2R_1. lra. Qed.

  Lemma terms_value_nonneg ts : (forall t, In t ts -> 0 <= term_value t) -> 0 <= terms_value ts.
  Proof.
    unfold terms_value. induction ts as [|t ts IH]; intros H; simpl; [lra|].
    assert (0 <= term_value t) by (apply H; now left).
    assert (0 <= sum_over term_value ts) by (apply IH; intros s Hs; apply H; now right). lra.
  Qed.

  (** * Witnesses *)

  Variable rows : list row.
  Hypothesis Hrows : rows_hold rows x y u.

  Lemma row_number_le i : value (row_number rows i) x y u <= 0.
  Proof.
    unfold row_number. destruct (nth_in_or_default i (forms rows) zero_form) as [H|H].
    - now apply (rows_le rows).
    - rewrite H, value_zero. lra.
  Qed.

  Lemma products_nonneg w t :
    forallb (fun p => is_nonneg (snd p)) (products w) = true ->
    In t (map (fun p => let '(i, j, m) := p in (m, row_number rows i, row_number rows j))
            (products w)) -> 0 <= term_value t.
  Proof.
    intros H Ht. rewrite forallb_forall in H. apply in_map_iff in Ht.
    destruct Ht as [[[i j] m] [<- Hp]]. specialize (H _ Hp). simpl in H. apply is_nonneg_R in H.
    unfold term_value. assert (Hi := row_number_le i). assert (Hj := row_number_le j).
    replace (Q2R m * value (row_number rows i) x y u * value (row_number rows j) x y u)
      with (Q2R m * ((- value (row_number rows i) x y u) * (- value (row_number rows j) x y u)))
      by ring.
    apply Rmult_le_pos; [exact H|]. apply Rmult_le_pos; lra.
  Qed.

  Lemma squares_nonneg w t :
    forallb (fun p => is_nonneg (fst p)) (squares w) = true ->
    In t (map (fun p : Q * form => let '(d, l) := p in (d, l, l)) (squares w)) -> 0 <= term_value t.
  Proof.
    intros H Ht. rewrite forallb_forall in H. apply in_map_iff in Ht.
    destruct Ht as [[d l] [<- Hp]]. specialize (H _ Hp). simpl in H. apply is_nonneg_R in H.
    unfold term_value. rewrite Rmult_assoc. apply Rmult_le_pos; [exact H|]. apply Rle_0_sqr.
  Qed.

  Lemma equations_nonneg w t :
    forallb (fun p => let '(e, ms, ns, _) := p in
      implies rows e ms && implies rows (form_scaled (-1) e) ns) (equations w) = true ->
    In t (map (fun p : form * multipliers * multipliers * form =>
                 let '(e, _, _, l) := p in (1%Q, e, l)) (equations w)) -> 0 <= term_value t.
  Proof.
    intros H Ht. rewrite forallb_forall in H. apply in_map_iff in Ht.
    destruct Ht as [[[[e ms] ns] l] [<- Hp]]. specialize (H _ Hp). simpl in H. halve H [Hm Hn].
    apply (implies_sound _ _ _ x y u) in Hm; [|exact Hrows].
    apply (implies_sound _ _ _ x y u) in Hn; [|exact Hrows].
    rewrite value_scaled, Q2R_m1 in Hn.
    assert (Hz : value e x y u = 0) by lra. unfold term_value. rewrite Hz. lra.
  Qed.

  Lemma surplus_nonneg w :
    admissible rows w = true ->
    0 <= terms_value (surplus rows w) /\
    (uses_strict (linear w) rows = true -> 0 < terms_value (surplus rows w)).
  Proof.
    unfold admissible. intros H. halve H [H H5]. halve H [H H4]. halve H [H H3]. halve H [H1 H2].
    unfold surplus. set (others := _ ++ _).
    assert (Ho : 0 <= terms_value others).
    { apply terms_value_nonneg. intros t Ht. unfold others in Ht. apply in_app_or in Ht.
      destruct Ht as [Ht|Ht]; [|apply in_app_or in Ht; destruct Ht as [Ht|Ht]].
      - now apply (products_nonneg w).
      - now apply (squares_nonneg w).
      - now apply (equations_nonneg w). }
    change (terms_value (((-1)%Q, combination (linear w) (forms rows), one) :: others))
      with (term_value ((-1)%Q, combination (linear w) (forms rows), one) + terms_value others).
    unfold term_value. rewrite Q2R_m1, value_one.
    assert (Hc := combination_holds (linear w) rows x y u H2 Hrows).
    split; [lra|]. intros Hu. assert (Hlt := combination_strict (linear w) rows x y u H2 Hrows Hu).
    lra.
  Qed.

  Lemma shows_sound known goal w :
    shows rows known goal w = true ->
    terms_value goal <= terms_value known /\
    (uses_strict (linear w) rows = true -> terms_value goal < terms_value known).
  Proof.
    unfold shows. intros H. halve H [H1 H2]. apply vanishes_sound in H2.
    rewrite !terms_value_app, !terms_value_scaled, Q2R_m1 in H2.
    destruct (surplus_nonneg w H1) as [Hn Hp]. split; [lra|]. intros Hu. specialize (Hp Hu). lra.
  Qed.

  Lemma excludes_sound known gap w : excludes rows known gap w = true -> 0 < terms_value known.
  Proof.
    unfold excludes. intros H. halve H [H1 H2]. apply shows_sound in H1. destruct H1 as [Hle Hlt].
    assert (Hgap : terms_value [(gap, one, one)] = Q2R gap).
    { unfold terms_value; simpl. rewrite value_one. lra. }
    rewrite Hgap in Hle, Hlt.
    apply orb_prop in H2. destruct H2 as [H2|H2].
    - apply is_positive_R in H2. lra.
    - halve H2 [H2 H3]. apply is_nonneg_R in H2. specialize (Hlt H3). lra.
  Qed.
End Values.

Lemma shows_factors rows known goal w :
  shows rows known goal w = true -> all_nonneg (factors w) = true.
Proof.
  unfold shows, admissible. intros H. repeat (apply andb_prop in H; destruct H as [H _]). exact H.
Qed.

Lemma excludes_factors rows known gap w :
  excludes rows known gap w = true -> all_nonneg (factors w) = true.
Proof. unfold excludes. intros H. halve H [H _]. now apply shows_factors in H. Qed.

(** * Functions *)

Lemma terms_value_before V x y u : terms_value x y u (at_place before V) = energy V x.
Proof.
  unfold terms_value, energy. induction V as [|m V IH]; simpl; [reflexivity|].
  rewrite IH, !value_before. lra.
Qed.

Lemma terms_value_after V x y u : terms_value x y u (at_place after V) = energy V y.
Proof.
  unfold terms_value, energy. induction V as [|m V IH]; simpl; [reflexivity|].
  rewrite IH, !value_after. lra.
Qed.

Lemma terms_value_rate V ds x u v :
  (forall i, v i = value (nth i ds zero_form) x origin u) ->
  terms_value x origin u (rate V ds) = power V x v.
Proof.
  intros Hv. unfold terms_value, power. induction V as [|m V IH]; simpl; [reflexivity|].
  rewrite IH, !value_before, !(along_dot _ _ _ _ _ Hv). lra.
Qed.

Definition all_below (Vs : list quadratic) (x : point) : Prop :=
  forall V, In V Vs -> energy V x <= 0.

Lemma weighted_sum_le ms Vs x y u :
  all_nonneg ms = true -> all_below Vs x -> terms_value x y u (weighted_sum ms Vs) <= 0.
Proof.
  revert Vs. induction ms as [|m ms IH]; intros [|V Vs] Hn HV; unfold terms_value; simpl; try lra.
  fold (terms_value x y u (terms_scaled m (at_place before V) ++ weighted_sum ms Vs)).
  simpl in Hn. halve Hn [H1 H2]. apply is_nonneg_R in H1.
  rewrite terms_value_app, terms_value_scaled, terms_value_before.
  assert (terms_value x y u (weighted_sum ms Vs) <= 0).
  { apply IH; auto. intros W HW. apply HV. now right. }
  assert (Q2R m * energy V x <= Q2R m * 0).
  { apply Rmult_le_compat_l; [exact H1|apply HV; now left]. }
  lra.
Qed.

(** * Corners of a box *)

Definition shifted (y : point) : point := fun i => y (S i).

Lemma same_vector_dot a b v : same_vector a b = true -> dot a v = dot b v.
Proof.
  revert b v. induction a as [|p a IH]; intros b v H.
  - simpl in H. now rewrite (dot_zero _ _ H).
  - destruct b as [|q b]; simpl in H.
    + now rewrite (dot_zero (p :: a) v H).
    + halve H [H1 H2]. simpl. apply Qeq_bool_eq, Qeq_eqR in H1. now rewrite H1, (IH b _ H2).
Qed.

(* On each line the product is a square with a weight that is not negative, or linear. *)
Definition convex (m : monomial) : Prop :=
  (0 <= Q2R (weight m) /\ forall x, level (first m) x = level (second m) x) \/
  (exists k, forall x, level (first m) x = k) \/ (exists k, forall x, level (second m) x = k).

Lemma is_convex_sound V : is_convex V = true -> forall m, In m V -> convex m.
Proof.
  intros H m Hm. unfold is_convex in H. rewrite forallb_forall in H. specialize (H m Hm).
  apply orb_prop in H. destruct H as [H|H]; [apply orb_prop in H; destruct H as [H|H]|].
  - left. halve H [H H3]. halve H [H1 H2]. split; [now apply is_nonneg_R|]. intros x. unfold level.
    apply Qeq_bool_eq, Qeq_eqR in H2. now rewrite H2, (same_vector_dot _ _ x H3).
  - right. left. exists (Q2R (intercept (first m))). intros x. unfold level.
    rewrite (dot_zero _ _ H). lra.
  - right. right. exists (Q2R (intercept (second m))). intros x. unfold level.
    rewrite (dot_zero _ _ H). lra.
Qed.

(* The value of the first variable, then those of the others. *)
Definition after_value (q : R) (z : point) : point :=
  fun i => match i with O => q | S i' => z i' end.

Lemma fix_first_level q h z : level (fix_first q h) z = level h (after_value (Q2R q) z).
Proof.
  unfold level, fix_first. destruct (gradient h) as [|a c] eqn:Hg; simpl.
  - now rewrite Hg.
  - rewrite Q2R_plus', Q2R_mult'. change (fun i => z i) with z. lra.
Qed.

Lemma energy_fixed q V z : energy (quadratic_fixed q V) z = energy V (after_value (Q2R q) z).
Proof.
  unfold energy. induction V as [|m V IH]; simpl; [reflexivity|].
  rewrite IH. cbn [weight first second]. now rewrite !fix_first_level.
Qed.

Lemma convex_fixed q V :
  (forall m, In m V -> convex m) -> forall m, In m (quadratic_fixed q V) -> convex m.
Proof.
  intros H m Hm. apply in_map_iff in Hm. destruct Hm as [n [<- Hn]].
  destruct (H n Hn) as [[H1 H2]|[[k H1]|[k H1]]]; unfold convex; cbn [weight first second].
  - left. split; [exact H1|]. intros x. now rewrite !fix_first_level.
  - right. left. exists k. intros x. now rewrite fix_first_level.
  - right. right. exists k. intros x. now rewrite fix_first_level.
Qed.

Lemma level_between h p q a z :
  level h (after_value (a * p + (1 - a) * q) z) =
  a * level h (after_value p z) + (1 - a) * level h (after_value q z).
Proof.
  unfold level. destruct (gradient h) as [|b c]; simpl; [ring|].
  change (fun i => z i) with z. ring.
Qed.

Lemma energy_between V p q a z :
  (forall m, In m V -> convex m) -> 0 <= a <= 1 ->
  energy V (after_value (a * p + (1 - a) * q) z) <=
  a * energy V (after_value p z) + (1 - a) * energy V (after_value q z).
Proof.
  intros HV Ha. unfold energy. induction V as [|m V IH]; simpl; [lra|].
  assert (Hrest := IH ltac:(intros n Hn; apply HV; now right)).
  assert (Hm := HV m (or_introl eq_refl)). rewrite !level_between.
  set (f := level (first m) (after_value p z)) in *.
  set (f' := level (first m) (after_value q z)) in *.
  set (g := level (second m) (after_value p z)) in *.
  set (g' := level (second m) (after_value q z)) in *.
  assert (Hone : Q2R (weight m) * ((a * f + (1 - a) * f') * (a * g + (1 - a) * g')) <=
                 a * (Q2R (weight m) * (f * g)) + (1 - a) * (Q2R (weight m) * (f' * g'))).
  { destruct Hm as [[Hw Hsame]|[[k Hk]|[k Hk]]].
    - assert (E : f = g) by apply Hsame. assert (E' : f' = g') by apply Hsame.
      rewrite <- E, <- E'.
      assert (0 <= Q2R (weight m) * (a * (1 - a) * ((f - f') * (f - f')))); [|lra].
      apply Rmult_le_pos; [exact Hw|]. apply Rmult_le_pos; [|apply Rle_0_sqr].
      apply Rmult_le_pos; lra.
    - assert (E : f = k) by apply Hk. assert (E' : f' = k) by apply Hk. rewrite E, E'.
      right. ring.
    - assert (E : g = k) by apply Hk. assert (E' : g' = k) by apply Hk. rewrite E, E'.
      right. ring. }
  lra.
Qed.

Fixpoint in_box (b : box) (y : point) : Prop :=
  match b with
  | [] => True
  | None :: b' => in_box b' (shifted y)
  | Some (low, high, _, _) :: b' => Q2R low <= y 0%nat <= Q2R high /\ in_box b' (shifted y)
  end.

Lemma level_same h y z : (forall i, y i = z i) -> level h y = level h z.
Proof.
  intros H. unfold level. f_equal. revert y z H.
  induction (gradient h) as [|a c IH]; intros y z H; simpl; [reflexivity|].
  rewrite H. f_equal. apply IH. intros i. apply H.
Qed.

Lemma energy_same V y z : (forall i, y i = z i) -> energy V y = energy V z.
Proof.
  intros H. unfold energy. induction V as [|m V IH]; simpl; [reflexivity|].
  now rewrite IH, (level_same _ y z H), (level_same _ y z H).
Qed.

Lemma in_box_same b y z : (forall i, y i = z i) -> in_box b y -> in_box b z.
Proof.
  revert y z. induction b as [|[[[[low high] ms] ns]|] b IH]; intros y z H Hb; simpl in *; [exact I| |].
  - destruct Hb as [H1 H2]. rewrite <- H. split; [exact H1|].
    apply (IH (shifted y)); [intros i; apply H|exact H2].
  - apply (IH (shifted y)); [intros i; apply H|exact Hb].
Qed.

Lemma without_first_level h p y : without_first h = true -> level h (after_value p (shifted y)) = level h y.
Proof.
  unfold without_first, level. intros H. destruct (gradient h) as [|a c]; [reflexivity|].
  simpl. rewrite (is_zero_R _ H). change (fun i => shifted y i) with (fun i => y (S i)). lra.
Qed.

Lemma constant_value_energy V y :
  forallb (fun m => forallb is_zero (gradient (first m)) && forallb is_zero (gradient (second m))) V
    = true -> energy V y = Q2R (constant_value V).
Proof.
  unfold energy. induction V as [|m V IH]; intros H; simpl in *; [now rewrite Q2R_0|].
  halve H [H H2]. halve H [H0 H1]. rewrite Q2R_plus', !Q2R_mult', (IH H2). unfold level.
  rewrite (dot_zero _ _ H0), (dot_zero _ _ H1). ring.
Qed.

(* A convex function is at most 0 in a box if it is so at the corners. *)
Lemma below_at_corners_sound b V y :
  below_at_corners b V = true -> (forall m, In m V -> convex m) -> in_box b y -> energy V y <= 0.
Proof.
  revert V y. induction b as [|[[[[low high] ms] ns]|] b IH]; intros V y H HV Hy; simpl in H.
  - halve H [H1 H2]. rewrite (constant_value_energy V y H1). rewrite <- Q2R_0.
    apply Qle_Rle, Qle_bool_iff, H2.
  - halve H [H1 H2]. destruct Hy as [Hb Hy].
    assert (Hlow := IH _ _ H1 (convex_fixed low V HV) Hy). rewrite energy_fixed in Hlow.
    assert (Hhigh := IH _ _ H2 (convex_fixed high V HV) Hy). rewrite energy_fixed in Hhigh.
    assert (Ha : exists a, 0 <= a <= 1 /\ y 0%nat = a * Q2R low + (1 - a) * Q2R high).
    { destruct (Req_dec (Q2R low) (Q2R high)) as [E|Hne].
      - exists 0. lra.
      - exists ((Q2R high - y 0%nat) / (Q2R high - Q2R low)). split; [|field; lra].
        split; [apply Rmult_le_pos; [lra|left; apply Rinv_0_lt_compat; lra]|].
        apply Rmult_le_reg_r with (Q2R high - Q2R low); [lra|].
        unfold Rdiv. rewrite Rmult_assoc, Rinv_l by lra. lra. }
    destruct Ha as [a [Ha Hy0]].
    rewrite (energy_same V y (after_value (a * Q2R low + (1 - a) * Q2R high) (shifted y))).
    2: { intros [|i]; [exact Hy0|reflexivity]. }
    assert (Hle := energy_between V (Q2R low) (Q2R high) a (shifted y) HV Ha).
    assert (a * energy V (after_value (Q2R low) (shifted y)) <= a * 0)
      by (apply Rmult_le_compat_l; lra).
    assert ((1 - a) * energy V (after_value (Q2R high) (shifted y)) <= (1 - a) * 0)
      by (apply Rmult_le_compat_l; lra). lra.
  - halve H [H1 H2]. simpl in Hy. assert (Hle := IH _ _ H2 (convex_fixed 0 V HV) Hy).
    rewrite energy_fixed in Hle. rewrite forallb_forall in H1.
    assert (E : energy V (after_value (Q2R 0) (shifted y)) = energy V y); [|lra].
    clear - H1. unfold energy. induction V as [|m V IH]; simpl; [reflexivity|].
    rewrite IH by (intros n Hn; apply H1; now right).
    specialize (H1 m (or_introl eq_refl)). halve H1 [H0 H1].
    now rewrite (without_first_level _ _ _ H0), (without_first_level _ _ _ H1).
Qed.

Lemma check_bound_sound rows v low high ms ns x y u :
  check_bound rows v (low, high, ms, ns) = true -> rows_hold rows x y u ->
  Q2R low <= value v x y u <= Q2R high.
Proof.
  unfold check_bound. intros H Hs. halve H [H1 H2].
  apply (implies_sound _ _ _ x y u) in H1; [|exact Hs].
  apply (implies_sound _ _ _ x y u) in H2; [|exact Hs].
  rewrite value_sum, ?value_scaled, ?Q2R_m1 in *. unfold value at 1 in H1. unfold value at 2 in H2.
  simpl in H1, H2. rewrite Q2R_opp in H2. lra.
Qed.

Lemma dot_unit i v : dot (unit i) v = v i.
Proof.
  revert v. induction i as [|i IH]; intros v; simpl; [rewrite Q2R_1; lra|].
  rewrite Q2R_0, IH. lra.
Qed.

Lemma check_box_sound rows b i x y u :
  check_box rows i b = true -> rows_hold rows x y u -> in_box b (fun j => y (i + j)%nat).
Proof.
  revert i. induction b as [|[[[[low high] ms] ns]|] b IH]; intros i H Hs; simpl in *; [exact I| |].
  - halve H [H1 H2]. split.
    + apply (check_bound_sound _ _ _ _ _ _ x y u) in H1; [|exact Hs].
      unfold value in H1; simpl in H1. rewrite dot_unit, Q2R_0 in H1.
      rewrite Nat.add_0_r. lra.
    + apply (in_box_same _ (fun j => y (S i + j)%nat)); [|now apply IH].
      intros j. unfold shifted. now rewrite Nat.add_succ_r.
  - apply (in_box_same _ (fun j => y (S i + j)%nat)); [|now apply IH].
    intros j. unfold shifted. now rewrite Nat.add_succ_r.
Qed.

(** * Jumps *)

Lemma check_goal_sound source aim rows e x y u :
  check_goal source aim rows e = true -> rows_hold rows x y u -> all_below source x ->
  exists Vs, aim = Some Vs /\ all_below Vs y.
Proof.
  intros H Hs HV.
  assert (Hnever : forall gap w,
    excludes rows (weighted_sum (factors w) source) gap w = true -> False).
  { intros gap w E. assert (Hn := excludes_factors _ _ _ _ E).
    apply (excludes_sound x y u rows Hs) in E.
    assert (Hk := weighted_sum_le (factors w) source x y u Hn HV). lra. }
  destruct e as [ws|b|gap w], aim as [Vs|]; simpl in H; try discriminate;
    try (exfalso; now apply (Hnever gap w)); exists Vs; (split; [reflexivity|]); intros V Hin.
  - destruct (all2_in _ _ _ _ H Hin) as [w [_ Hw]].
    assert (Hn := shows_factors _ _ _ _ Hw).
    apply (shows_sound x y u rows Hs) in Hw. destruct Hw as [Hle _]. rewrite terms_value_after in Hle.
    assert (Hk := weighted_sum_le (factors w) source x y u Hn HV). lra.
  - halve H [H1 H2]. rewrite forallb_forall in H2. specialize (H2 V Hin). halve H2 [H2 H3].
    apply (below_at_corners_sound b V y H3 (is_convex_sound V H2)).
    exact (check_box_sound rows b 0 x y u H1 Hs).
Qed.

(** * Flow *)

Lemma dot_put_zero k c v : dot (put_zero k c) v = dot c v - Q2R (nth k c 0%Q) * v k.
Proof.
  revert k v. induction c as [|a c IH]; intros [|k] v; simpl; rewrite ?Q2R_0; try lra.
  rewrite IH. lra.
Qed.

Definition value_of (v : variable) (x u : point) : R :=
  match v with State i => x i | Input i => u i end.

Definition coefficient (v : variable) (f : form) : Q :=
  match v with State i => nth i (state_part f) 0%Q | Input i => nth i (input_part f) 0%Q end.

Lemma form_of_value v x y u : value (form_of v) x y u = value_of v x u.
Proof. destruct v as [i|i]; unfold value; simpl; rewrite dot_unit, Q2R_0; lra. Qed.

Lemma fix_variable_value v q f x y u :
  value (fix_variable v q f) x y u =
  value f x y u + Q2R (coefficient v f) * (Q2R q - value_of v x u).
Proof.
  destruct v as [i|i]; unfold value; simpl; rewrite Q2R_plus', Q2R_mult', dot_put_zero; ring.
Qed.

Lemma fix_variables_value v q ds i x y u :
  value (nth i (map (fix_variable v q) ds) zero_form) x y u =
  value (nth i ds zero_form) x y u +
  Q2R (coefficient v (nth i ds zero_form)) * (Q2R q - value_of v x u).
Proof.
  assert (E : coefficient v zero_form = 0%Q) by (destruct v as [[|k]|[|k]]; reflexivity).
  revert i. induction ds as [|d ds IH]; intros [|i]; simpl.
  - rewrite E, Q2R_0. lra.
  - rewrite E, Q2R_0. lra.
  - apply fix_variable_value.
  - apply IH.
Qed.

(* Where the earlier functions are at most 0 and V is not, V grows at most exponentially. *)
Definition tame (earlier : list quadratic) (V : quadratic) (rows : list row) (ds : list form)
    (K : R) : Prop :=
  forall x u v, rows_hold rows x origin u ->
    (forall i, v i = value (nth i ds zero_form) x origin u) ->
    all_below earlier x -> 0 < energy V x -> power V x v <= K * energy V x.

Lemma tame_weaker earlier V rows ds K K' :
  tame earlier V rows ds K -> K <= K' -> tame earlier V rows ds K'.
Proof.
  intros H HK x u v H1 H2 H3 H4.
  apply Rle_trans with (K * energy V x); [now apply (H x u v)|apply Rmult_le_compat_r; lra].
Qed.

Lemma check_rate_sound earlier V rows ds e :
  check_rate earlier V rows ds e = true -> exists K, 0 <= K /\ tame earlier V rows ds K.
Proof.
  revert ds. induction e as [mu w|gap w|v b elow IHlow ehigh IHhigh]; intros ds H; simpl in H.
  - exists (Rabs (Q2R mu)). split; [apply Rabs_pos|].
    intros x u v Hr Hv HW Hpos. assert (Hn := shows_factors _ _ _ _ H).
    apply (shows_sound x origin u rows Hr) in H. destruct H as [H _].
    rewrite (terms_value_rate _ _ _ _ _ Hv), terms_value_app, terms_value_scaled,
      terms_value_before in H.
    assert (Hk := weighted_sum_le (factors w) earlier x origin u Hn HW).
    assert (Hm := mu_le mu (energy V x) (energy V x) ltac:(lra)). lra.
  - exists 0. split; [lra|]. intros x u v Hr Hv HW Hpos. exfalso.
    assert (Hn := excludes_factors _ _ _ _ H). apply (excludes_sound x origin u rows Hr) in H.
    assert (Hk := weighted_sum_le (factors w) earlier x origin u Hn HW). lra.
  - destruct b as [[[low high] ms] ns]. halve H [H H3]. halve H [H1 H2].
    destruct (IHlow _ H2) as [K1 [HK1 T1]]. destruct (IHhigh _ H3) as [K2 [HK2 T2]].
    exists (Rmax K1 K2). assert (K1 <= Rmax K1 K2) by apply Rmax_l.
    assert (K2 <= Rmax K1 K2) by apply Rmax_r. split; [lra|].
    intros x u d Hr Hd HW Hpos.
    apply (check_bound_sound _ _ _ _ _ _ x origin u) in H1; [|exact Hr].
    rewrite form_of_value in H1.
    set (v1 := fun i => value (nth i (map (fix_variable v low) ds) zero_form) x origin u).
    set (v2 := fun i => value (nth i (map (fix_variable v high) ds) zero_form) x origin u).
    assert (P1 : power V x v1 <= Rmax K1 K2 * energy V x).
    { apply (tame_weaker _ _ _ _ _ (Rmax K1 K2) T1 ltac:(assumption) x u v1); auto. }
    assert (P2 : power V x v2 <= Rmax K1 K2 * energy V x).
    { apply (tame_weaker _ _ _ _ _ (Rmax K1 K2) T2 ltac:(assumption) x u v2); auto. }
    destruct (Req_dec (Q2R low) (Q2R high)) as [E|Hne].
    + assert (Hmean : forall i, d i = 0 * v1 i + (1 - 0) * v1 i).
      { intros i. unfold v1. rewrite fix_variables_value, Hd.
        replace (Q2R low - value_of v x u) with 0 by lra. ring. }
      rewrite (power_mean V x v1 v1 d 0 Hmean). lra.
    + set (a := (Q2R high - value_of v x u) / (Q2R high - Q2R low)).
      assert (Ha : a * (Q2R high - Q2R low) = Q2R high - value_of v x u) by (unfold a; field; lra).
      assert (Ha0 : 0 <= a).
      { apply Rmult_le_pos; [lra|left; apply Rinv_0_lt_compat; lra]. }
      assert (Ha1 : a <= 1).
      { apply Rmult_le_reg_r with (Q2R high - Q2R low); [lra|]. rewrite Ha. lra. }
      assert (Hmean : forall i, d i = a * v1 i + (1 - a) * v2 i).
      { intros i. unfold v1, v2. rewrite !fix_variables_value, Hd.
        set (c := Q2R (coefficient v (nth i ds zero_form))).
        set (f := value (nth i ds zero_form) x origin u).
        assert (Hz : a * (Q2R low - value_of v x u) + (1 - a) * (Q2R high - value_of v x u) = 0) by lra.
        replace (a * (f + c * (Q2R low - value_of v x u)) + (1 - a) * (f + c * (Q2R high - value_of v x u)))
          with (f + c * (a * (Q2R low - value_of v x u) + (1 - a) * (Q2R high - value_of v x u))) by ring.
        rewrite Hz. ring. }
      rewrite (power_mean V x v1 v2 d a Hmean).
      assert (a * power V x v1 <= a * (Rmax K1 K2 * energy V x)) by (apply Rmult_le_compat_l; lra).
      assert ((1 - a) * power V x v2 <= (1 - a) * (Rmax K1 K2 * energy V x))
        by (apply Rmult_le_compat_l; lra). lra.
Qed.

Section Flow.
  Variables (L : location) (T : R) (x : R -> point).
  Hypothesis Hmotion : motion L T x.

  Lemma function_kept earlier V K :
    0 <= K ->
    (forall rows d, In rows (invariant L) -> In d (flows L) ->
       tame earlier V (rows ++ rate_rows d) (rates d) K) ->
    (forall t, 0 <= t <= T -> all_below earlier (x t)) ->
    energy V (x 0) <= 0 -> forall t, 0 <= t <= T -> energy V (x t) <= 0.
  Proof.
    intros HK Htame Hearlier Hstart t Ht. destruct Hmotion as [HT [Hcont Hrise]].
    destruct (cells_kept [tt] (fun _ => [tt]) (fun _ s => energy V (x s)) T K 1) with (t := t)
      as [c [_ Hc]]; auto; try lra.
    - intros _ _ s _ _ Hs. apply energy_continuous. intros i. now apply Hcont.
    - intros s e c Hs He _ Hle. exists c. split; [destruct c; now left|].
      intros a Ha. split; [exact (Hle a Ha)|]. intros Heq.
      set (eps := e / (2 * (K + 1))).
      assert (Heps : 0 < eps) by (unfold eps; apply Rdiv_lt_0_compat; lra).
      assert (Hke : (K + 1) * eps = e / 2) by (unfold eps; field; lra).
      assert (Hke' : 0 <= K * eps) by (apply Rmult_le_pos; lra).
      destruct (continuity_near (fun s => energy V (x s)) s eps) as [d [Hd Hnear]];
        [apply energy_continuous; intros i; apply Hcont; lra|exact Heps|].
      exists (Rmin d (T - s)). assert (Rmin d (T - s) <= d) by apply Rmin_l.
      assert (Rmin d (T - s) <= T - s) by apply Rmin_r.
      split; [apply Rmin_pos; lra|]. intros r Hr.
      assert (Hinc : energy V (x r) - energy V (x s) <= (K + / 2) * e * (r - s)); [|lra].
      apply Hrise; [lra|lra|]. intros p v Hp [u [rows [dyn [H1 [H2 [H3 [H4 H5]]]]]]].
      assert (Hn := Hnear p ltac:(rewrite Rabs_right; lra)). apply Rabs_def2 in Hn.
      assert (Hpow : power V (x p) v <= K * energy V (x p)).
      { apply (Htame rows dyn H1 H3 (x p) u v); [now apply rows_hold_app|exact H5| |lra].
        apply Hearlier. lra. }
      assert (K * energy V (x p) <= K * (e + eps)) by (apply Rmult_le_compat_l; lra). lra.
    - exists tt. split; [now left|]. now intros a _.
    - apply (Hc tt). now left.
  Qed.

  Lemma check_rates_sound Vs : forall earlier es,
    check_rates L earlier Vs es = true ->
    (forall t, 0 <= t <= T -> all_below earlier (x t)) -> all_below Vs (x 0) ->
    forall t, 0 <= t <= T -> all_below Vs (x t).
  Proof.
    induction Vs as [|V Vs IH]; intros earlier es H Hearlier Hstart; [easy|].
    destruct es as [|e es]; [discriminate|]. simpl in H. halve H [H1 H2].
    assert (Hk : exists K M0, 0 <= K /\ 0 < M0 /\ forall rows, In rows (invariant L) ->
      forall d, In d (flows L) -> tame earlier V (rows ++ rate_rows d) (rates d) K).
    { apply (bounds_for_all (invariant L) (fun rows K _ => forall d, In d (flows L) ->
        tame earlier V (rows ++ rate_rows d) (rates d) K)).
      { intros rows K M K' M' Hq HK _ d Hd. apply (tame_weaker _ _ _ _ K); auto. }
      intros rows Hr. destruct (all2_in _ _ _ _ H1 Hr) as [e1 [_ E1]].
      apply (bounds_for_all (flows L) (fun d K _ => tame earlier V (rows ++ rate_rows d) (rates d) K)).
      { intros d K M K' M' Hq HK _. apply (tame_weaker _ _ _ _ K); auto. }
      intros d Hd. destruct (all2_in _ _ _ _ E1 Hd) as [e2 [_ E2]].
      apply check_rate_sound in E2. destruct E2 as [K [HK Hq]]. exists K, 1. repeat split; auto. lra. }
    destruct Hk as [K [M0 [HK [_ Htame]]]].
    assert (HV : forall t, 0 <= t <= T -> energy V (x t) <= 0).
    { apply (function_kept earlier V K); auto. apply Hstart. now left. }
    intros t Ht W [<-|HW]; [now apply HV|].
    apply (IH (earlier ++ [V]) es H2); auto.
    - intros s Hs Z HZ. apply in_app_or in HZ. destruct HZ as [HZ|[<-|[]]]; [|now apply HV].
      now apply (Hearlier s Hs).
    - intros Z HZ. apply Hstart. now right.
  Qed.
End Flow.

(** * Runs *)

Section Sound.
  Variables (a : automaton) (cert : quadratic_certificate).
  Hypothesis Hcheck : check_quadratic a cert = true.

  Lemma functions_checked l L Vs :
    nth_error (locations a) l = Some L -> functions_of cert l = Some Vs ->
    exists e, functions e = Vs /\ check_functions cert L (Some e) = true.
  Proof.
    intros HL HV. assert (H := Hcheck). halve H [_ H].
    destruct (all2_nth _ _ _ _ _ H HL) as [o [Ho Hok]].
    unfold functions_of in HV. rewrite (nth_error_nth _ _ _ Ho) in HV.
    destruct o as [e|]; [|discriminate]. injection HV as <-. now exists e.
  Qed.

  Lemma reach_below l x :
    reach a l x -> exists Vs, functions_of cert l = Some Vs /\ all_below Vs x.
  Proof.
    intros H. induction H as [l cs x y u Hin [rows [Hr Hs]]
                             |l L T x _ [Vs [HVs Hx]] HL Htr t Ht
                             |l L e x y u _ [Vs [HVs Hx]] HL He [rows [Hr Hs]]].
    - assert (H := Hcheck). halve H [H _].
      destruct (all2_in _ _ _ _ H Hin) as [e1 [_ E1]]. simpl in E1.
      destruct (all2_in _ _ _ _ E1 Hr) as [e2 [_ E2]].
      apply (check_goal_sound _ _ _ _ x y u) in E2; auto. intros V [].
    - destruct (functions_checked l L Vs HL HVs) as [e [<- Hok]]. simpl in Hok.
      halve Hok [Hok _]. halve Hok [Hok _]. exists (functions e). split; [exact HVs|].
      destruct (trajectory_motion L T x Htr) as [z [Hz Hzx]].
      rewrite <- (Hzx t Ht). rewrite <- (Hzx 0) in Hx by (destruct Hz; lra).
      apply (check_rates_sound L T z Hz (functions e) [] _ Hok); auto. intros s _ W [].
    - destruct (functions_checked l L Vs HL HVs) as [f [<- Hok]]. simpl in Hok.
      halve Hok [Hok _]. halve Hok [_ Hok]. destruct (all2_in _ _ _ _ Hok He) as [e1 [_ E1]].
      destruct (all2_in _ _ _ _ E1 Hr) as [e2 [_ E2]].
      apply (check_goal_sound _ _ _ _ x y u) in E2; auto.
  Qed.

  Theorem quadratic_sound : safe a.
  Proof.
    intros l L x u Hreach HL [rows [Hr Hs]]. destruct (reach_below l x Hreach) as [Vs [HVs Hx]].
    destruct (functions_checked l L Vs HL HVs) as [e [<- Hok]]. simpl in Hok.
    halve Hok [_ Hok]. destruct (all2_in _ _ _ _ Hok Hr) as [[gap w] [_ E]]. simpl in E.
    assert (Hn := excludes_factors _ _ _ _ E). apply (excludes_sound x origin u rows Hs) in E.
    assert (Hk := weighted_sum_le (factors w) (functions e) x origin u Hn Hx). lra.
  Qed.
End Sound.
