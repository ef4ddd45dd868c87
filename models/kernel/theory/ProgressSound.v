(* Soundness of the checker of progress. *)

From Coq Require Import QArith Qreals Qreduction Reals Lra Lia List Bool Arith.
From Kernel Require Import
  Semantics Farkas Polyhedral Quadratic Progress Comparison AbsoluteContinuity FarkasSound Motion
  Facets Covers PolyhedralSound QuadraticSound Existence.
Import ListNotations.
Open Scope R_scope.

(** * Forms in place of variables *)

(* The point whose coordinates are given forms over x and u. *)
Definition image (fs : list form) (x u : point) : point := fun i => value (nth i fs zero_form) x origin u.

Lemma dot_origin c : dot c origin = 0.
Proof.
  induction c as [|a c IH]; simpl; [reflexivity|].
  change (fun i => origin (S i)) with origin. rewrite IH. unfold origin. ring.
Qed.

Lemma filled_value next inputs f x u :
  value (filled next inputs f) x origin u = value f x (image next x u) (image inputs x u).
Proof.
  unfold filled. rewrite !value_sum.
  rewrite (along_dot _ _ _ _ (image next x u)) by (intros i; reflexivity).
  rewrite (along_dot _ _ _ _ (image inputs x u)) by (intros i; reflexivity).
  unfold value; simpl. ring.
Qed.

Lemma image_nothing x u i : image [] x u i = origin i.
Proof. unfold image. destruct i; apply nothing_value. Qed.

Lemma filled_value_inputs inputs f x u :
  value (filled [] inputs f) x origin u = value f x origin (image inputs x u).
Proof.
  rewrite filled_value. unfold value.
  now rewrite (dot_same _ (image [] x u) origin (image_nothing x u)).
Qed.

Lemma filled_rates inputs ds x u i :
  value (nth i (map (filled [] inputs) ds) zero_form) x origin u =
  value (nth i ds zero_form) x origin (image inputs x u).
Proof.
  destruct (Nat.lt_ge_cases i (length ds)) as [Hi|Hi].
  - rewrite nth_indep with (d' := filled [] inputs zero_form) by now rewrite map_length.
    rewrite map_nth. apply filled_value_inputs.
  - rewrite !nth_overflow by (rewrite ?map_length; exact Hi). now rewrite !nothing_value.
Qed.

Lemma with_given_agrees s inputs x w : agrees s w (image (with_given (given s) inputs) x w).
Proof.
  intros i Hi. unfold image, with_given.
  assert (Hmax : (i <= list_max (given s))%nat).
  { assert (H := proj1 (list_max_le (given s) (list_max (given s))) (Nat.le_refl _)).
    rewrite Forall_forall in H. now apply H. }
  set (f := fun i => if existsb (Nat.eqb i) (given s) then Form 0 [] [] (unit i)
                     else nth i inputs zero_form).
  set (n := (length inputs + S (list_max (given s)))%nat).
  rewrite nth_indep with (d' := f 0%nat) by (rewrite map_length, seq_length; unfold n; lia).
  rewrite map_nth, seq_nth by (unfold n; lia). simpl. unfold f.
  replace (existsb (Nat.eqb i) (given s)) with true.
  2: { symmetry. apply existsb_exists. exists i. split; [exact Hi|apply Nat.eqb_refl]. }
  unfold value; simpl. rewrite dot_unit, Q2R_0. ring.
Qed.

Lemma input_free_value h x u v :
  input_free h = true -> value h x origin u = value h x origin v.
Proof.
  unfold input_free, value. intros H. f_equal.
  assert (Hz : forall c (p : point), forallb (fun a => Qeq_bool a 0) c = true -> dot c p = 0).
  { induction c as [|a c IH]; intros p Hc; simpl in *; [reflexivity|]. halve Hc [Ha Hc].
    apply Qeq_bool_eq, Qeq_eqR in Ha. rewrite Ha, Q2R_0, IH by exact Hc. ring. }
  now rewrite !Hz.
Qed.

(** * Time *)

Section Soon.
  Variables (s : system) (rows : list row) (fs : list form) (x : point) (w : R -> point).
  Variables (T : R) (y : R -> point).
  Hypothesis HT : 0 < T.
  Hypothesis Hsignal : signal s w.
  Hypothesis Hy : solves fs w x T y.
  Hypothesis Hrows : forall u, rows_hold rows x origin u.

  Let Hw : forall i t, continuity_pt (fun r => w r i) t := proj1 Hsignal.

  Definition soon_below (less : bool) (h : form) : Prop :=
    exists d, 0 < d /\ forall t, 0 < t < d ->
      if less then value h (y t) origin (w t) < 0 else value h (y t) origin (w t) <= 0.

  Lemma start_value h u : value h (y 0) origin u = value h x origin u.
  Proof. unfold value. now rewrite (dot_same _ (y 0) x (proj1 Hy)). Qed.

  Lemma known_now : rows_hold (rows ++ bounds s) x origin (w 0).
  Proof. apply rows_hold_app; [apply Hrows|apply Hsignal]. Qed.

  Lemma not_below_refuted h ms :
    refutes (rows ++ bounds s ++ [not_below h]) ms = true -> value h x origin (w 0) < 0.
  Proof.
    intros H. apply Rnot_le_lt. intros Hle.
    apply (refutes_sound _ _ x origin (w 0)) in H. apply H. rewrite app_assoc.
    apply rows_hold_app; [exact known_now|].
    intros r [<-|[]]. unfold row_holds, not_below; cbn [row_form strict].
    rewrite value_scaled, Q2R_m1. lra.
  Qed.

  Lemma implied_value h ms :
    implies (rows ++ bounds s) h ms = true -> value h x origin (w 0) <= 0.
  Proof. intros H. exact (implies_sound _ _ _ x origin (w 0) H known_now). Qed.

  Lemma inside_soon less h ms :
    refutes (rows ++ bounds s ++ [not_below h]) ms = true -> soon_below less h.
  Proof.
    intros H. apply not_below_refuted in H. rewrite <- start_value in H.
    destruct (continuity_near (fun t => value h (y t) origin (w t)) 0
                (- value h (y 0) origin (w 0))) as [d [Hd Hnear]].
    - apply (solution_value_continuous fs w x T y Hw Hy). lra.
    - lra.
    - exists d. split; [exact Hd|]. intros t Ht.
      assert (Hn := Hnear t ltac:(rewrite Rminus_0_r, Rabs_right; lra)). apply Rabs_def2 in Hn.
      destruct less; lra.
  Qed.

  Lemma value_derivable h t :
    0 <= t <= T ->
    derivable_pt_lim (fun t => value h (y t) origin origin) t
      (value (along (state_part h) fs) (y t) origin (w t)).
  Proof.
    intros Ht. rewrite (along_dot _ _ _ _ (image fs (y t) (w t))) by (intros i; reflexivity).
    assert (Hd := level_derivable y t (image fs (y t) (w t))
      (fun i => proj2 Hy i t Ht) (Affine (constant h) (state_part h))).
    simpl in Hd. intros eps Heps. destruct (Hd eps Heps) as [delta Hdelta]. exists delta.
    intros k Hk Hkd. specialize (Hdelta k Hk Hkd). unfold level in Hdelta. simpl in Hdelta.
    unfold value. rewrite !dot_origin.
    replace (Q2R (constant h) + dot (state_part h) (y (t + k)) + 0 + 0 -
             (Q2R (constant h) + dot (state_part h) (y t) + 0 + 0))
      with (Q2R (constant h) + dot (state_part h) (y (t + k)) -
            (Q2R (constant h) + dot (state_part h) (y t))) by ring.
    exact Hdelta.
  Qed.

  Lemma falling_soon less h ms :
    input_free h = true -> implies (rows ++ bounds s) h ms = true ->
    soon_below less (along (state_part h) fs) -> soon_below less h.
  Proof.
    intros Hfree H [d [Hd Hslope]]. apply implied_value in H.
    rewrite (input_free_value h x (w 0) origin Hfree), <- start_value in H.
    exists (Rmin d T). assert (Rmin d T <= d) by apply Rmin_l. assert (Rmin d T <= T) by apply Rmin_r.
    split; [now apply Rmin_pos|]. intros t Ht.
    rewrite (input_free_value h (y t) (w t) origin Hfree).
    destruct (MVT_cor2 (fun t => value h (y t) origin origin)
      (fun t => value (along (state_part h) fs) (y t) origin (w t)) 0 t)
      as [c [Hc Hct]]; [lra| |].
    - intros c Hc. apply value_derivable. lra.
    - specialize (Hslope c ltac:(lra)). rewrite Rminus_0_r in Hc. destruct less.
      + assert (value (along (state_part h) fs) (y c) origin (w c) * t < 0 * t)
          by (apply Rmult_lt_compat_r; lra). lra.
      + assert (value (along (state_part h) fs) (y c) origin (w c) * t <= 0 * t)
          by (apply Rmult_le_compat_r; lra). lra.
  Qed.

  Lemma below_soon less h top ms :
    implies (bounds s) (form_sum h (form_scaled (-1) (before top))) ms = true ->
    soon_below less (before top) -> soon_below less h.
  Proof.
    intros H [d [Hd Htop]]. exists d. split; [exact Hd|]. intros t Ht. specialize (Htop t Ht).
    apply (implies_sound _ _ _ (y t) origin (w t)) in H; [|apply Hsignal].
    rewrite value_sum, value_scaled, Q2R_m1 in H. destruct less; lra.
  Qed.

  Lemma bare_trajectory : trajectory (bare fs (bounds s)) T y.
  Proof.
    apply (driven_trajectory s w).
    apply (solution_driven fs w x T y Hw HT Hy s _ T); [lra|].
    intros t Ht. exists (w t). split; [now intros i Hi|].
    exists [], (Dynamics fs (bounds s)). split; [now left|]. split; [intros r []|].
    split; [now left|]. split; [apply Hsignal|]. intros i. reflexivity.
  Qed.

  Lemma kept_soon h family now ever ms :
    all2 (fun k ns => implies rows (before k) ns) family now = true ->
    keeps fs (bounds s) family ever = true ->
    implies (rows_before family ++ bounds s) h ms = true -> soon_below false h.
  Proof.
    intros Hnow Hkeeps Himp. exists T. split; [exact HT|]. intros t Ht.
    destruct (trajectory_motion _ _ _ bare_trajectory) as [z [Hz Hzy]].
    destruct (check_facets_sound _ _ _ Hkeeps) as [K [M0 [HK [HM Hg]]]].
    destruct (region_kept (bare fs (bounds s)) T z (one_cell family) K M0 Hz HK HM Hg) with (t := t)
      as [c [Hc Hall]].
    - intros r k _ [].
    - exists (Cell [] family). split; [now left|]. intros k Hk. simpl in Hk.
      destruct (all2_in _ _ _ _ Hnow Hk) as [ns [_ E]].
      apply (implies_sound _ _ _ x origin origin) in E; [|apply Hrows].
      rewrite Hzy by lra. rewrite <- (value_before k (y 0) origin origin), start_value. exact E.
    - lra.
    - destruct Hc as [<-|[]]. simpl in Hall. rewrite Hzy in Hall by lra.
      apply (implies_sound _ _ _ (y t) origin (w t)) in Himp; [exact Himp|].
      apply rows_hold_app; [now apply rows_before_hold|apply Hsignal].
  Qed.

  Lemma check_soon_sound less h e :
    check_soon rows (bounds s) fs less h e = true -> soon_below less h.
  Proof.
    revert h. induction e as [ms|ms e IH|top ms e IH|family now ever ms]; intros h H; simpl in H.
    - now apply (inside_soon less h ms).
    - halve H [H H3]. halve H [H1 H2]. apply (falling_soon less h ms H1 H2). now apply IH.
    - halve H [H1 H2]. apply (below_soon less h top ms H1). now apply IH.
    - halve H [H H4]. halve H [H H3]. halve H [H1 H2]. destruct less; [discriminate|].
      now apply (kept_soon h family now ever ms).
  Qed.
End Soon.

Lemma check_row_sound s rows next inputs r ms x w :
  check_row rows (bounds s) next inputs r ms = true -> signal s w ->
  (forall u, rows_hold rows x origin u) ->
  row_holds x (image next x (w 0)) (image inputs x (w 0)) r.
Proof.
  unfold check_row, row_holds. cbv zeta. intros H Hs Hrows. rewrite <- filled_value.
  destruct (strict r).
  - now apply (not_below_refuted s rows x w Hs Hrows) in H.
  - now apply (implied_value s rows x w Hs Hrows) in H.
Qed.

Lemma check_wait_sound s L rows n proofs c d inputs es x w :
  check_wait s L rows n proofs c d inputs es = true -> signal s w ->
  (forall u, rows_hold rows x origin u) ->
  exists T y u, 0 < T /\ driven s w L T y /\ (forall i, y 0 i = x i) /\
    agrees s (w 0) u /\ holds (invariant L) x origin u.
Proof.
  unfold check_wait. intros H Hs Hrows.
  destruct (nth_error (invariant L) n) as [here|] eqn:Hhere; [|discriminate].
  destruct (nth_error (invariant L) c) as [case|] eqn:Hcase; [|discriminate].
  destruct (nth_error (flows L) d) as [dyn|] eqn:Hd; [|discriminate].
  set (us := with_given (given s) inputs) in *.
  set (fs := map (filled [] us) (rates dyn)) in *. cbv zeta in H. halve H [Hnow H].
  assert (Hw := proj1 Hs).
  destruct (solution_exists fs w x Hw) as [T [y [HT Hy]]].
  destruct (soon_for_all (case ++ rate_rows dyn)
    (fun r t => row_holds (y t) origin (image us (y t) (w t)) r) 0) as [e [He Hall]].
  { intros r Hr. destruct (all2_in _ _ _ _ H Hr) as [q [_ Hq]].
    destruct (check_soon_sound s rows fs x w T y HT Hs Hy Hrows _ _ _ Hq) as [e [He Hsoon]].
    exists e. split; [exact He|]. intros t Ht. specialize (Hsoon t ltac:(lra)).
    rewrite filled_value_inputs in Hsoon. unfold row_holds. destruct (strict r); exact Hsoon. }
  set (S := Rmin (e / 2) T). assert (HS : 0 < S) by (apply Rmin_pos; lra).
  assert (S <= e / 2) by apply Rmin_l. assert (S <= T) by apply Rmin_r.
  exists S, y, (image us x (w 0)). split; [exact HS|].
  split; [|split; [apply Hy|split; [apply with_given_agrees|]]].
  - apply (solution_driven fs w x T y Hw HT Hy s); [lra|]. intros t Ht.
    exists (image us (y t) (w t)). split; [apply with_given_agrees|].
    exists case, dyn.
    split; [now apply nth_error_In in Hcase|].
    split; [intros r Hr; apply Hall; [lra|apply in_or_app; now left]|].
    split; [now apply nth_error_In in Hd|].
    split; [intros r Hr; apply Hall; [lra|apply in_or_app; now right]|].
    intros i. apply filled_rates.
  - exists here. split; [now apply nth_error_In in Hhere|]. intros r Hr.
    destruct (all2_in _ _ _ _ Hnow Hr) as [ms [_ Hms]].
    apply (check_row_sound s rows [] us r ms x w Hms Hs) in Hrows.
    unfold row_holds, value in *.
    now rewrite (dot_same _ (image [] x (w 0)) origin (image_nothing x (w 0))) in Hrows.
Qed.

(** * Jumps *)

Lemma check_change_sound s rows next i ms x w :
  check_change rows (bounds s) next i ms = true -> signal s w ->
  (forall u, rows_hold rows x origin u) -> image next x (w 0) i <> x i.
Proof.
  unfold check_change. cbv zeta. intros H Hs Hrows E.
  apply (refutes_sound _ _ x origin (w 0)) in H. apply H.
  assert (Hd : value (form_sum (nth i next zero_form)
                 (form_scaled (-1) (Form 0 (unit i) [] []))) x origin (w 0) = 0).
  { rewrite value_sum, value_scaled, Q2R_m1. unfold image in E. rewrite E. unfold value; simpl.
    rewrite dot_unit, Q2R_0. ring. }
  rewrite app_assoc. apply rows_hold_app; [now apply known_now|].
  intros r [<-|[<-|[]]]; unfold row_holds; cbn [row_form strict];
    rewrite ?value_scaled, Hd; lra.
Qed.

Lemma is_whole_R q : is_whole q = true -> exists k, Q2R q = IZR k.
Proof.
  unfold is_whole. intros H. apply Pos.eqb_eq in H. exists (Qnum (Qred q)).
  rewrite <- (Qeq_eqR _ _ (Qred_correct q)). unfold Q2R. rewrite H. simpl. field.
Qed.

Lemma whole_sum_R ws c (x : point) i :
  whole_sum ws i c = true -> (forall j, In j ws -> exists k, x j = IZR k) ->
  exists k, dot c (fun j => x (i + j)%nat) = IZR k.
Proof.
  intros H Hx. revert i H. induction c as [|a c IH]; intros i H; simpl in *; [now exists 0%Z|].
  halve H [Ha Hc]. destruct (IH (S i) Hc) as [k Hk].
  replace (dot c (fun j => x (i + S j)%nat)) with (IZR k).
  2: { rewrite <- Hk. apply dot_same. intros j. f_equal. lia. }
  rewrite Nat.add_0_r. destruct (existsb (Nat.eqb i) ws) eqn:Hi.
  - apply existsb_exists in Hi. destruct Hi as [j [Hj E]]. apply Nat.eqb_eq in E. subst j.
    destruct (is_whole_R a Ha) as [m Hm]. destruct (Hx i Hj) as [n Hn].
    exists (m * n + k)%Z. now rewrite Hm, Hn, plus_IZR, mult_IZR.
  - apply Qeq_bool_eq, Qeq_eqR in Ha. exists k. rewrite Ha, Q2R_0. ring.
Qed.

Lemma whole_function_R s h x :
  whole_function (whole s) h = true -> values_whole s x -> exists k, level h x = IZR k.
Proof.
  unfold whole_function, level. intros H Hx. halve H [H1 H2].
  destruct (is_whole_R _ H1) as [m Hm]. destruct (whole_sum_R _ _ x 0 H2 Hx) as [k Hk].
  exists (m + k)%Z. now rewrite Hm, plus_IZR, <- Hk.
Qed.

Lemma check_whole_sound s next x u :
  check_whole (whole s) next = true -> values_whole s x -> values_whole s (image next x u).
Proof.
  unfold check_whole. intros H Hx i Hi. rewrite forallb_forall in H. specialize (H i Hi).
  cbv zeta in H. halve H [H1 H2]. unfold image.
  destruct (whole_function_R s _ x H2 Hx) as [k Hk]. exists k. rewrite <- Hk.
  rewrite (input_free_value _ x u origin H1). unfold value, level; simpl. rewrite !dot_origin. ring.
Qed.

Lemma check_take_sound s l L rows j c next inputs proofs change x w :
  check_take s l L rows j c next inputs proofs change = true -> signal s w ->
  (forall u, rows_hold rows x origin u) -> values_whole s x ->
  exists e y u, In e (edges L) /\ agrees s (w 0) u /\ holds (relation e) x y u /\
    values_whole s y /\ (target e <> l \/ exists i, (i < dimension s)%nat /\ y i <> x i).
Proof.
  unfold check_take. intros H Hs Hrows Hx.
  destruct (nth_error (edges L) j) as [e|] eqn:He; [|discriminate].
  destruct (nth_error (relation e) c) as [case|] eqn:Hcase; [|discriminate].
  halve H [H H3]. halve H [H1 H2].
  exists e, (image next x (w 0)), (image (with_given (given s) inputs) x (w 0)).
  split; [now apply nth_error_In in He|]. split; [apply with_given_agrees|].
  split; [|split; [now apply check_whole_sound|]].
  - exists case. split; [now apply nth_error_In in Hcase|]. intros r Hr.
    destruct (all2_in _ _ _ _ H1 Hr) as [ms [_ Hms]].
    now apply (check_row_sound s rows next _ r ms x w).
  - destruct change as [[i ms]|].
    + right. halve H3 [Hi Hc]. apply Nat.ltb_lt in Hi. exists i. split; [exact Hi|].
      now apply (check_change_sound s rows next i ms x w).
    + left. apply negb_true_iff, Nat.eqb_neq in H3. exact H3.
Qed.

(** * Runs *)

Lemma check_way_sound s l L rows way x w :
  nth_error (locations (narrow s)) l = Some L -> check_way s l L rows way = true -> signal s w ->
  (forall u, rows_hold rows x origin u) -> values_whole s x -> goes_on s w l x.
Proof.
  intros HL H Hs Hrows Hx. revert rows H Hrows.
  induction way as [ms|n proofs c d inputs es|j c next inputs proofs change|h sb b IHb ab IHa
                   |h b IHb ab IHa]; intros rows H Hrows; simpl in H.
  - exfalso. apply (refutes_sound _ _ x origin origin) in H. apply H, Hrows.
  - exists L. split; [exact HL|]. left.
    now apply (check_wait_sound s L rows n proofs c d inputs es x w).
  - exists L. split; [exact HL|]. right.
    now apply (check_take_sound s l L rows j c next inputs proofs change x w).
  - halve H [Hb Ha].
    assert (Hcase : level h x < 0 \/ level h x = 0 \/ 0 < level h x) by lra.
    assert (Hbelow : row_holds x origin origin (Row (before h) sb) ->
                     goes_on s w l x).
    { intros Hc. apply (IHb _ Hb). intros u. apply rows_hold_app; [apply Hrows|].
      intros r [<-|[]]. unfold row_holds in *; cbn [row_form strict] in *.
      rewrite value_before in *. exact Hc. }
    assert (Habove : row_holds x origin origin (Row (form_scaled (-1) (before h)) (negb sb)) ->
                     goes_on s w l x).
    { intros Hc. apply (IHa _ Ha). intros u. apply rows_hold_app; [apply Hrows|].
      intros r [<-|[]]. unfold row_holds in *; cbn [row_form strict] in *.
      rewrite value_scaled, value_before in *. exact Hc. }
    unfold row_holds in *; cbn [row_form strict] in *.
    rewrite value_scaled, value_before, Q2R_m1 in *.
    destruct sb; simpl negb in *; cbv iota in *; destruct Hcase as [Hc|[Hc|Hc]];
      try (apply Hbelow; lra); apply Habove; lra.
  - halve H [H Ha]. halve H [Hw Hb]. destruct (whole_function_R s h x Hw Hx) as [k Hk].
    destruct (Z_le_gt_dec k 0) as [Hle|Hgt]; [apply (IHb _ Hb)|apply (IHa _ Ha)];
      intros u; apply rows_hold_app; try apply Hrows; intros r [<-|[]];
      unfold row_holds; cbn [row_form strict].
    + rewrite value_before, Hk. now apply IZR_le.
    + unfold from_one. rewrite value_sum, value_scaled, value_before, Q2R_m1, Hk.
      unfold value; simpl. rewrite Q2R_1. assert (1 <= IZR k) by (apply IZR_le; lia). lra.
Qed.

Definition rational_point (v : list Q) : point := fun i => Q2R (nth i v 0%Q).

Lemma dot_at_R c v : Q2R (dot_at c v) = dot c (rational_point v).
Proof.
  revert v. induction c as [|a c IH]; intros v; simpl; [apply Q2R_0|].
  destruct v as [|b v].
  - rewrite Q2R_0. unfold rational_point at 1. simpl. rewrite Q2R_0.
    rewrite (dot_same c _ origin); [rewrite dot_origin; ring|].
    intros i. unfold rational_point. simpl. apply Q2R_0.
  - rewrite Q2R_plus', Q2R_mult', IH. reflexivity.
Qed.

Lemma value_at_R f x y u :
  Q2R (value_at f x y u) = value f (rational_point x) (rational_point y) (rational_point u).
Proof. unfold value_at, value. rewrite !Q2R_plus', !dot_at_R. ring. Qed.

Lemma whole_at_sound s v : whole_at (whole s) v = true -> values_whole s (rational_point v).
Proof.
  unfold whole_at. intros H i Hi. rewrite forallb_forall in H. now apply is_whole_R, H.
Qed.

Lemma check_first_sound s f :
  check_first s f = true ->
  exists l cs x y u, In (l, cs) (starts (narrow s)) /\ holds cs x y u /\
    values_whole s x /\ values_whole s y.
Proof.
  unfold check_first. intros H.
  destruct (nth_error (starts (narrow s)) (start_number f)) as [[l cs]|] eqn:Hl; [|discriminate].
  simpl in H. destruct (nth_error cs (start_case f)) as [rows|] eqn:Hr; [|discriminate].
  halve H [H H2]. halve H [H H1].
  exists l, cs, (rational_point (value_before_start f)), (rational_point (value_at_start f)),
    (rational_point (value_of_inputs f)).
  split; [now apply nth_error_In in Hl|].
  split; [|split; now apply whole_at_sound].
  exists rows. split; [now apply nth_error_In in Hr|]. intros r Hin.
  rewrite forallb_forall in H. specialize (H r Hin). cbv zeta in H.
  unfold row_holds. rewrite <- value_at_R, <- Q2R_0. destruct (strict r).
  - apply Qlt_Rlt, Qnot_le_lt. intros Hle. apply Qle_bool_iff in Hle. now rewrite Hle in H.
  - apply Qle_Rle, Qle_bool_iff, H.
Qed.

Section Sound.
  Variables (s : system) (cert : progress_certificate).
  Hypothesis Hcheck : check_progress s cert = true.

  Lemma location_exists l G :
    check_polyhedral (wide s) (reachable cert) = true ->
    length (locations (wide s)) = length (locations (narrow s)) ->
    In G (regions_of (reachable cert) l) ->
    exists L, nth_error (locations (narrow s)) l = Some L.
  Proof.
    intros H Hsame HG. halve H [_ H]. unfold regions_of in HG.
    assert (Hlen : forall A B (f : A -> B -> bool) ls ms,
      all2 f ls ms = true -> length ls = length ms).
    { intros A B f ls. induction ls as [|b ls IH]; intros [|m ms] E; simpl in *; try easy.
      halve E [_ E]. f_equal. now apply IH. }
    destruct (nth_error (locations (narrow s)) l) as [L|] eqn:HL; [now exists L|exfalso].
    apply nth_error_None in HL. rewrite <- Hsame, (Hlen _ _ _ _ _ H) in HL.
    now rewrite nth_overflow in HG.
  Qed.

  Lemma numbered_nth {A} (l : list A) k i b :
    nth_error l i = Some b -> nth_error (numbered k l) i = Some ((k + i)%nat, b).
  Proof.
    revert k i. induction l as [|c l IH]; intros k [|i] H; simpl in *; try easy.
    - injection H as ->. now rewrite Nat.add_0_r.
    - rewrite (IH (S k) i H). f_equal. f_equal. lia.
  Qed.

  Theorem progress_sound : never_blocks s.
  Proof.
    assert (H := Hcheck). unfold check_progress in H. halve H [H H4]. halve H [H H3].
    halve H [H1 H2]. apply Nat.eqb_eq in H2.
    split; [now apply check_first_sound in H3|].
    intros l x w Hx Hwhole Hs.
    destruct (reach_within (wide s) (reachable cert) H1 l x Hx) as [G [c [HG [Hc Hin]]]].
    destruct (location_exists l G H1 H2 HG) as [L HL].
    assert (Hl := numbered_nth (locations (narrow s)) 0 l L HL).
    destruct (all2_nth _ _ _ _ _ H4 Hl) as [ws [_ Hws]]. simpl in Hws.
    destruct (all2_in _ _ _ _ Hws HG) as [cs [_ Hcs]].
    destruct (all2_in _ _ _ _ Hcs Hc) as [way [_ Hway]].
    apply (check_way_sound s l L (rows_before (borders G c)) way x w HL Hway Hs); [|exact Hwhole].
    intros u. now apply rows_before_hold.
  Qed.
End Sound.
