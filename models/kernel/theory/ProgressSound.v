(* Soundness of the checker of progress. *)

From Coq Require Import QArith Qreals Qreduction Reals Lra Lia List Bool Arith.
From Kernel Require Import
  Semantics Farkas Polyhedral Quadratic Progress Comparison AbsoluteContinuity FarkasSound Motion
  Facets Covers PolyhedralSound QuadraticSound Existence.
Import ListNotations.
Open Scope R_scope.

(** * Affine functions in place of variables *)

Definition nothing : affine := Affine 0 [].

(* The point whose coordinates are given functions of x. *)
Definition image (fs : list affine) (x : point) : point := fun i => level (nth i fs nothing) x.

Lemma dot_origin c : dot c origin = 0.
Proof.
  induction c as [|a c IH]; simpl; [reflexivity|].
  change (fun i => origin (S i)) with origin. rewrite IH. unfold origin. ring.
Qed.

Lemma of_state_level f x : level (of_state f) x = value f x origin origin.
Proof. unfold level, of_state, value; simpl. rewrite !dot_origin. ring. Qed.

Lemma image_value fs x i : image fs x i = value (nth i (map before fs) zero_form) x origin origin.
Proof.
  unfold image. change zero_form with (before nothing). rewrite map_nth. now rewrite value_before.
Qed.

Lemma filled_level next inputs f x :
  level (filled next inputs f) x = value f x (image next x) (image inputs x).
Proof.
  unfold filled. rewrite of_state_level, !value_sum.
  rewrite (along_dot _ _ _ _ (image next x)) by (intros i; apply image_value).
  rewrite (along_dot _ _ _ _ (image inputs x)) by (intros i; apply image_value).
  unfold value; simpl. ring.
Qed.

Lemma image_nothing x i : image [] x i = origin i.
Proof. unfold image, level, nothing, origin. destruct i; simpl; rewrite Q2R_0; ring. Qed.

Lemma filled_level_inputs inputs f x :
  level (filled [] inputs f) x = value f x origin (image inputs x).
Proof.
  rewrite filled_level. unfold value. now rewrite (dot_same _ (image [] x) origin (image_nothing x)).
Qed.

Lemma filled_rates inputs ds x i :
  level (nth i (map (filled [] inputs) ds) nothing) x =
  value (nth i ds zero_form) x origin (image inputs x).
Proof.
  change nothing with (filled [] inputs zero_form). rewrite map_nth. apply filled_level_inputs.
Qed.

Lemma slope_along_level fs h x : level (slope_along fs h) x = dot (gradient h) (image fs x).
Proof.
  unfold slope_along. rewrite of_state_level. apply along_dot. intros i. apply image_value.
Qed.

(** * Time *)

Section Soon.
  Variables (rows : list row) (fs : list affine) (x : point) (T : R) (y : R -> point).
  Hypothesis HT : 0 < T.
  Hypothesis Hy : solves fs x T y.
  Hypothesis Hrows : rows_hold rows x origin origin.

  Definition soon_below (less : bool) (h : affine) : Prop :=
    exists d, 0 < d /\ forall t, 0 < t < d ->
      if less then level h (y t) < 0 else level h (y t) <= 0.

  Lemma start_level h : level h (y 0) = level h x.
  Proof. apply level_same, Hy. Qed.

  Lemma not_below_refuted h ms : refutes (rows ++ [not_below h]) ms = true -> level h x < 0.
  Proof.
    intros H. apply Rnot_le_lt. intros Hle.
    apply (refutes_sound _ _ x origin origin) in H. apply H. apply rows_hold_app; [exact Hrows|].
    intros r [<-|[]]. unfold row_holds, not_below; simpl.
    rewrite value_scaled, value_before, Q2R_m1. lra.
  Qed.

  Lemma implied_level h ms : implies rows (before h) ms = true -> level h x <= 0.
  Proof.
    intros H. apply (implies_sound _ _ _ x origin origin) in H; [|exact Hrows].
    now rewrite value_before in H.
  Qed.

  Lemma inside_soon less h ms :
    refutes (rows ++ [not_below h]) ms = true -> soon_below less h.
  Proof.
    intros H. apply not_below_refuted in H. rewrite <- start_level in H.
    destruct (continuity_near (fun t => level h (y t)) 0 (- level h (y 0))) as [d [Hd Hnear]].
    - apply (solution_level_continuous fs x T y Hy). lra.
    - lra.
    - exists d. split; [exact Hd|]. intros t Ht.
      assert (Hn := Hnear t ltac:(rewrite Rminus_0_r, Rabs_right; lra)). apply Rabs_def2 in Hn.
      destruct less; lra.
  Qed.

  Lemma falling_soon less h ms :
    implies rows (before h) ms = true -> soon_below less (slope_along fs h) -> soon_below less h.
  Proof.
    intros H [d [Hd Hslope]]. apply implied_level in H. rewrite <- start_level in H.
    exists (Rmin d T). assert (Rmin d T <= d) by apply Rmin_l. assert (Rmin d T <= T) by apply Rmin_r.
    split; [now apply Rmin_pos|]. intros t Ht.
    destruct (MVT_cor2 (fun t => level h (y t)) (fun t => level (slope_along fs h) (y t)) 0 t)
      as [c [Hc Hct]]; [lra| |].
    - intros c Hc. rewrite slope_along_level.
      apply (solution_level_derivable fs x T y Hy h). lra.
    - specialize (Hslope c ltac:(lra)). rewrite Rminus_0_r in Hc. destruct less.
      + assert (level (slope_along fs h) (y c) * t < 0 * t) by (apply Rmult_lt_compat_r; lra). lra.
      + assert (level (slope_along fs h) (y c) * t <= 0 * t) by (apply Rmult_le_compat_r; lra). lra.
  Qed.

  Lemma bare_trajectory : trajectory (bare fs) T y.
  Proof.
    apply (solution_trajectory fs x T y HT Hy); [lra|]. intros t Ht.
    exists origin, [], (Dynamics (map before fs) []). split; [now left|]. split; [intros r []|].
    split; [now left|]. split; [intros r []|]. intros i. cbn [rates].
    now rewrite <- image_value.
  Qed.

  Lemma kept_soon h family now ever ms :
    all2 (fun k ns => implies rows (before k) ns) family now = true ->
    keeps fs family ever = true -> implies (rows_before family) (before h) ms = true ->
    soon_below false h.
  Proof.
    intros Hnow Hkeeps Himp. exists T. split; [exact HT|]. intros t Ht.
    destruct (trajectory_motion _ _ _ bare_trajectory) as [z [Hz Hzy]].
    destruct (check_facets_sound _ _ _ Hkeeps) as [K [M0 [HK [HM Hg]]]].
    destruct (region_kept (bare fs) T z (one_cell family) K M0 Hz HK HM Hg) with (t := t)
      as [c [Hc Hall]].
    - intros s k _ [].
    - exists (Cell [] family). split; [now left|]. intros k Hk. simpl in Hk.
      rewrite Hzy, start_level by lra. destruct (all2_in _ _ _ _ Hnow Hk) as [ns [_ E]].
      now apply implied_level in E.
    - lra.
    - destruct Hc as [<-|[]]. simpl in Hall. rewrite Hzy in Hall by lra.
      apply (implies_sound _ _ _ (y t) origin origin) in Himp; [now rewrite value_before in Himp|].
      now apply rows_before_hold.
  Qed.

  Lemma check_soon_sound less h e : check_soon rows fs less h e = true -> soon_below less h.
  Proof.
    revert h. induction e as [ms|ms e IH|family now ever ms]; intros h H; simpl in H.
    - now apply (inside_soon less h ms).
    - halve H [H1 H2]. apply (falling_soon less h ms H1). now apply IH.
    - halve H [H H4]. halve H [H H3]. halve H [H1 H2]. destruct less; [discriminate|].
      now apply (kept_soon h family now ever ms).
  Qed.
End Soon.

Lemma check_row_sound rows next inputs r ms x :
  check_row rows next inputs r ms = true -> rows_hold rows x origin origin ->
  row_holds x (image next x) (image inputs x) r.
Proof.
  unfold check_row, row_holds. cbv zeta. intros H Hrows. rewrite <- filled_level.
  destruct (strict r).
  - now apply (not_below_refuted rows x Hrows) in H.
  - now apply (implied_level rows x Hrows) in H.
Qed.

Lemma check_wait_sound L rows n proofs c d inputs es x :
  check_wait L rows n proofs c d inputs es = true -> rows_hold rows x origin origin ->
  exists T y u, 0 < T /\ trajectory L T y /\ (forall i, y 0 i = x i) /\
    holds (invariant L) x origin u.
Proof.
  unfold check_wait. intros H Hrows.
  destruct (nth_error (invariant L) n) as [here|] eqn:Hhere; [|discriminate].
  destruct (nth_error (invariant L) c) as [case|] eqn:Hcase; [|discriminate].
  destruct (nth_error (flows L) d) as [dyn|] eqn:Hd; [|discriminate].
  set (fs := map (filled [] inputs) (rates dyn)) in *. cbv zeta in H. halve H [Hnow H].
  destruct (solution_exists fs x) as [T [y [HT Hy]]].
  destruct (soon_for_all (case ++ rate_rows dyn)
    (fun r t => row_holds (y t) origin (image inputs (y t)) r) 0) as [e [He Hall]].
  { intros r Hr. destruct (all2_in _ _ _ _ H Hr) as [s [_ Hs]].
    destruct (check_soon_sound rows fs x T y HT Hy Hrows _ _ _ Hs) as [e [He Hsoon]].
    exists e. split; [exact He|]. intros t Ht. specialize (Hsoon t ltac:(lra)).
    rewrite filled_level_inputs in Hsoon. unfold row_holds. destruct (strict r); exact Hsoon. }
  set (S := Rmin (e / 2) T). assert (HS : 0 < S) by (apply Rmin_pos; lra).
  assert (S <= e / 2) by apply Rmin_l. assert (S <= T) by apply Rmin_r.
  exists S, y, (image inputs x). split; [exact HS|]. split; [|split; [apply Hy|]].
  - apply (solution_trajectory fs x T y HT Hy); [lra|]. intros t Ht.
    exists (image inputs (y t)), case, dyn.
    split; [now apply nth_error_In in Hcase|].
    split; [intros r Hr; apply Hall; [lra|apply in_or_app; now left]|].
    split; [now apply nth_error_In in Hd|].
    split; [intros r Hr; apply Hall; [lra|apply in_or_app; now right]|].
    intros i. apply filled_rates.
  - exists here. split; [now apply nth_error_In in Hhere|]. intros r Hr.
    destruct (all2_in _ _ _ _ Hnow Hr) as [ms [_ Hms]].
    apply (check_row_sound rows [] inputs r ms x Hms) in Hrows.
    unfold row_holds, value in *.
    now rewrite (dot_same _ (image [] x) origin (image_nothing x)) in Hrows.
Qed.

(** * Jumps *)

Lemma check_change_sound rows next i ms x :
  check_change rows next i ms = true -> rows_hold rows x origin origin -> image next x i <> x i.
Proof.
  unfold check_change. cbv zeta. intros H Hrows E.
  apply (refutes_sound _ _ x origin origin) in H. apply H.
  assert (Hd : value (form_sum (before (nth i next (Affine 0 [])))
                 (form_scaled (-1) (Form 0 (unit i) [] []))) x origin origin = 0).
  { rewrite value_sum, value_scaled, value_before, Q2R_m1. unfold value; simpl.
    rewrite dot_unit, Q2R_0. unfold image, nothing in E. rewrite E. ring. }
  apply rows_hold_app; [exact Hrows|].
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

Lemma check_whole_sound s next x :
  check_whole (whole s) next = true -> values_whole s x -> values_whole s (image next x).
Proof.
  unfold check_whole. intros H Hx i Hi. rewrite forallb_forall in H.
  apply (whole_function_R s); [now apply H|exact Hx].
Qed.

Lemma check_take_sound s l L rows j c next inputs proofs change x :
  check_take s l L rows j c next inputs proofs change = true -> rows_hold rows x origin origin ->
  values_whole s x ->
  exists e y u, In e (edges L) /\ holds (relation e) x y u /\ values_whole s y /\
    (target e <> l \/ exists i, (i < dimension s)%nat /\ y i <> x i).
Proof.
  unfold check_take. intros H Hrows Hx.
  destruct (nth_error (edges L) j) as [e|] eqn:He; [|discriminate].
  destruct (nth_error (relation e) c) as [case|] eqn:Hcase; [|discriminate].
  halve H [H H3]. halve H [H1 H2].
  exists e, (image next x), (image inputs x). split; [now apply nth_error_In in He|].
  split; [|split; [now apply check_whole_sound|]].
  - exists case. split; [now apply nth_error_In in Hcase|]. intros r Hr.
    destruct (all2_in _ _ _ _ H1 Hr) as [ms [_ Hms]].
    now apply (check_row_sound rows next inputs r ms x).
  - destruct change as [[i ms]|].
    + right. halve H3 [Hi Hc]. apply Nat.ltb_lt in Hi. exists i. split; [exact Hi|].
      now apply (check_change_sound rows next i ms x).
    + left. apply negb_true_iff, Nat.eqb_neq in H3. exact H3.
Qed.

(** * Runs *)

Lemma check_way_sound s l L rows w x :
  nth_error (locations (narrow s)) l = Some L -> check_way s l L rows w = true ->
  rows_hold rows x origin origin -> values_whole s x -> goes_on s l x.
Proof.
  intros HL H Hrows Hx. revert rows H Hrows.
  induction w as [ms|n proofs c d inputs es|j c next inputs proofs change|h sb b IHb ab IHa
                 |h b IHb ab IHa]; intros rows H Hrows; simpl in H.
  - exfalso. now apply (refutes_sound _ _ x origin origin) in H.
  - exists L. split; [exact HL|]. left.
    now apply (check_wait_sound L rows n proofs c d inputs es x).
  - exists L. split; [exact HL|]. right.
    now apply (check_take_sound s l L rows j c next inputs proofs change x).
  - halve H [Hb Ha].
    assert (Hcase : row_holds x origin origin (Row (before h) sb) \/
                    row_holds x origin origin (Row (form_scaled (-1) (before h)) (negb sb))).
    { unfold row_holds; cbn [row_form strict]. rewrite value_scaled, Q2R_m1.
      destruct sb; simpl negb; cbv iota.
      - destruct (Rlt_dec (value (before h) x origin origin) 0); [now left|right; lra].
      - destruct (Rle_dec (value (before h) x origin origin) 0); [now left|right; lra]. }
    destruct Hcase as [Hc|Hc]; [apply (IHb _ Hb)|apply (IHa _ Ha)];
      apply rows_hold_app; try exact Hrows; intros r [<-|[]]; exact Hc.
  - halve H [H Ha]. halve H [Hw Hb]. destruct (whole_function_R s h x Hw Hx) as [k Hk].
    destruct (Z_le_gt_dec k 0) as [Hle|Hgt]; [apply (IHb _ Hb)|apply (IHa _ Ha)];
      apply rows_hold_app; try exact Hrows; intros r [<-|[]]; unfold row_holds; cbn [row_form strict];
      rewrite ?value_before.
    + rewrite Hk. now apply IZR_le.
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
    intros l x Hx Hwhole.
    destruct (reach_within (wide s) (reachable cert) H1 l x Hx) as [G [c [HG [Hc Hin]]]].
    destruct (location_exists l G H1 H2 HG) as [L HL].
    assert (Hl := numbered_nth (locations (narrow s)) 0 l L HL).
    destruct (all2_nth _ _ _ _ _ H4 Hl) as [ws [_ Hws]]. simpl in Hws.
    destruct (all2_in _ _ _ _ Hws HG) as [cs [_ Hcs]].
    destruct (all2_in _ _ _ _ Hcs Hc) as [w [_ Hw]].
    apply (check_way_sound s l L (rows_before (borders G c)) w x HL Hw); [|exact Hwhole].
    now apply rows_before_hold.
  Qed.
End Sound.
