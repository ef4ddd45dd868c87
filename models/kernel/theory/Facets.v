(* Flow inside a region: what the evidence for facets says, and that the cells are kept while the
   exits hold. *)

From Coq Require Import QArith Qreals Reals Lra Lia List Bool Classical Arith.
From Kernel Require Import Semantics Farkas Polyhedral Comparison FarkasSound Motion.
Import ListNotations.
Open Scope R_scope.

(** * Facets that keep *)

(* Near the cell the function h grows at most exponentially: near its facet, where no function of
   the cell is above a small M, and h is positive. *)
Definition slow (own : list affine) (h : affine) (known : list row) (d : dynamics)
    (K M0 : R) : Prop :=
  forall x u v M,
    rows_hold known x origin u -> derivative d x u v ->
    0 < level h x <= M -> M <= M0 -> (forall q, In q own -> level q x <= M) ->
    dot (gradient h) v <= K * M.

Lemma slow_weaker own h known d K M0 K' M0' :
  slow own h known d K M0 -> K <= K' -> M0' <= M0 -> slow own h known d K' M0'.
Proof.
  intros H HK HM x u v M H1 H2 H3 H4 H5.
  apply Rle_trans with (K * M); [apply (H x u v M); auto; lra|].
  apply Rmult_le_compat_r; lra.
Qed.

(* The bound of a facet, where the functions of the cell are at most M. *)
Lemma facet_bound_le own h known mu ms ns x u M :
  all_nonneg ms = true -> all_nonneg ns = true -> rows_hold known x origin u ->
  0 <= level h x <= M -> (forall q, In q own -> level q x <= M) ->
  value (facet_bound own h known mu ms ns) x origin u <= (Rabs (Q2R mu) + total ms) * M.
Proof.
  intros H1 H2 Hk Hh Hown. unfold facet_bound.
  rewrite !value_sum, value_scaled, value_before, Rmult_plus_distr_r.
  assert (Ho := combination_holds ns known x origin u H2 Hk).
  assert (Hw := combination_le ms (forms (rows_before own)) x origin u M H1 ltac:(lra)
                  (forms_before_le _ _ _ _ _ Hown)).
  assert (Hm := mu_le mu (level h x) M Hh). lra.
Qed.

Lemma inward_sound own h known d mu ms ns :
  (let f := form_sum (facet_bound own h known mu ms ns)
              (form_scaled (-1) (along (gradient h) (rates d))) in
   all_nonneg ms && all_nonneg ns && is_constant f && is_nonneg (constant f)) = true ->
  exists K M0, 0 <= K /\ 0 < M0 /\ slow own h known d K M0.
Proof.
  cbv zeta. intros H. halve H [H H4]. halve H [H H3]. halve H [H1 H2]. apply is_nonneg_R in H4.
  assert (Hl := total_nonneg _ H1). assert (Ha := Rabs_pos (Q2R mu)).
  exists (Rabs (Q2R mu) + total ms), 1. split; [lra|]. split; [lra|].
  intros x u v M Hk Hv Hh HM Hown.
  assert (He := value_constant _ x origin u H3).
  rewrite value_sum, value_scaled, Q2R_m1, (along_dot _ _ _ _ _ Hv) in He.
  assert (Hb := facet_bound_le own h known mu ms ns x u M H1 H2 Hk ltac:(lra) Hown). lra.
Qed.

Lemma empty_sound own h known d mu ms ns :
  (let f := facet_bound own h known mu ms ns in
   all_nonneg ms && all_nonneg ns && is_constant f && is_positive (constant f)) = true ->
  exists K M0, 0 <= K /\ 0 < M0 /\ slow own h known d K M0.
Proof.
  cbv zeta. intros H. halve H [H H4]. halve H [H H3]. halve H [H1 H2]. apply is_positive_R in H4.
  set (f := facet_bound _ _ _ _ _ _) in *.
  assert (Hl := total_nonneg _ H1). assert (Ha := Rabs_pos (Q2R mu)).
  set (w := Rabs (Q2R mu) + total ms + 1). assert (Hw : 0 < w) by (unfold w; lra).
  exists 0, (Q2R (constant f) / w). split; [lra|]. split; [now apply Rdiv_lt_0_compat|].
  intros x u v M Hk Hv Hh HM Hown. exfalso.
  assert (He := value_constant _ x origin u H3).
  assert (Hb := facet_bound_le own h known mu ms ns x u M H1 H2 Hk ltac:(lra) Hown). fold f in Hb.
  assert (Hle : w * M <= Q2R (constant f)).
  { replace (Q2R (constant f)) with (w * (Q2R (constant f) / w)) by (field; lra).
    apply Rmult_le_compat_l; lra. }
  unfold w in Hle. rewrite Rmult_plus_distr_r in Hle. lra.
Qed.

Lemma implied_sound own h known d ns :
  implies known (before h) ns = true ->
  exists K M0, 0 <= K /\ 0 < M0 /\ slow own h known d K M0.
Proof.
  intros H. exists 0, 1. split; [lra|]. split; [lra|]. intros x u v M Hk Hv Hh HM Hown. exfalso.
  apply (implies_sound _ _ _ x origin u) in H; [|exact Hk]. rewrite value_before in H. lra.
Qed.

(** * Facets that hand over *)

(* Near a facet of the cell that is moved out by e, k is not much more than e. *)
Definition follows (own : list affine) (h : affine) (rows : list row) (k : affine)
    (M0 : R) : Prop :=
  forall e, 0 < e <= M0 -> forall eta, 0 < eta -> exists eps, 0 < eps /\
    forall x u, rows_hold rows x origin u -> Rabs (level h x - e) < eps ->
    (forall q, In q own -> level q x <= e + eps) -> level k x <= e + eta.

Lemma mu_near mu r e eps : Rabs (r - e) < eps -> Q2R mu * r <= Q2R mu * e + Rabs (Q2R mu) * eps.
Proof.
  intros H. assert (Hm : Q2R mu * (r - e) <= Rabs (Q2R mu) * eps).
  { apply Rle_trans with (Rabs (Q2R mu * (r - e))); [apply Rle_abs|].
    rewrite Rabs_mult. apply Rmult_le_compat_l; [apply Rabs_pos|lra]. }
  lra.
Qed.

Lemma sum_R l : Q2R (sum l) = total l.
Proof.
  induction l as [|q l IH]; [apply Q2R_0|].
  change (sum (q :: l)) with (Qplus' q (sum l)). rewrite Q2R_plus', IH. reflexivity.
Qed.

Lemma check_beyond_sound own h rows k proof :
  check_beyond own h rows k proof = true -> exists M0, 0 < M0 /\ follows own h rows k M0.
Proof.
  destruct proof as [[mu ms] ns]. unfold check_beyond. cbv zeta. intros H.
  halve H [H H4]. halve H [H H3]. halve H [H1 H2].
  set (f := form_sum _ _) in *.
  assert (Hl := total_nonneg _ H1). assert (Ha := Rabs_pos (Q2R mu)).
  set (w := Rabs (Q2R mu) + total ms + 1). assert (Hw : 0 < w) by (unfold w; lra).
  assert (Hid : forall e eta, 0 < e -> 0 < eta -> (Q2R mu + total ms) * e - Q2R (constant f) <= e ->
    exists eps, 0 < eps /\ forall x u, rows_hold rows x origin u -> Rabs (level h x - e) < eps ->
    (forall q, In q own -> level q x <= e + eps) -> level k x <= e + eta).
  { intros e eta He Heta Hlim. exists (eta / w). split; [now apply Rdiv_lt_0_compat|].
    set (eps := eta / w). assert (Heps : 0 < eps) by (unfold eps; now apply Rdiv_lt_0_compat).
    assert (Hwe : w * eps = eta) by (unfold eps; field; lra).
    intros x u Hr Hhe Hown.
    assert (Hc := value_constant _ x origin u H3). unfold f at 1 in Hc. unfold facet_bound in Hc.
    rewrite !value_sum, !value_scaled, Q2R_m1, !value_before in Hc.
    assert (Ho := combination_holds ns rows x origin u H2 Hr).
    assert (Hwl := combination_le ms (forms (rows_before own)) x origin u (e + eps) H1 ltac:(lra)
                    (forms_before_le _ _ _ _ _ Hown)).
    assert (Hm := mu_near mu (level h x) e eps Hhe).
    unfold w in Hwe. rewrite !Rmult_plus_distr_r in Hwe. lra. }
  apply orb_prop in H4. destruct H4 as [H4|H4].
  - apply is_positive_R in H4.
    exists (Q2R (constant f) / w). split; [now apply Rdiv_lt_0_compat|].
    intros e He eta Heta. apply Hid; [lra|exact Heta|].
    assert (Hb : w * e <= Q2R (constant f)).
    { replace (Q2R (constant f)) with (w * (Q2R (constant f) / w)) by (field; lra).
      apply Rmult_le_compat_l; lra. }
    assert (Hm := mu_le mu e e ltac:(lra)).
    unfold w in Hb. rewrite !Rmult_plus_distr_r in *. lra.
  - halve H4 [H4 H5]. apply is_nonneg_R in H4.
    apply Qle_bool_iff, Qle_Rle in H5. rewrite Q2R_plus, sum_R in H5.
    replace (Q2R 1) with 1 in H5 by (unfold Q2R; simpl; lra).
    exists 1. split; [lra|]. intros e He eta Heta. apply Hid; [lra|exact Heta|].
    assert ((Q2R mu + total ms) * e <= 1 * e) by (apply Rmult_le_compat_r; lra). lra.
Qed.

(** * Signs *)

Lemma same_signs_equal s t : same_signs s t = true -> s = t.
Proof.
  revert t. induction s as [|b s IH]; intros [|c t] H; simpl in H; try easy.
  halve H [H1 H2]. apply eqb_prop in H1. subst. f_equal. now apply IH.
Qed.

Lemma numbered_in {A} (l : list A) n p a :
  In (p, a) (numbered n l) -> (n <= p)%nat /\ nth_error l (p - n) = Some a.
Proof.
  revert n. induction l as [|b l IH]; intros n H; simpl in H; [easy|].
  destruct H as [H|H].
  - injection H as <- <-. rewrite Nat.sub_diag. auto.
  - apply IH in H. destruct H as [Hle H]. split; [lia|].
    replace (p - n)%nat with (S (p - S n)) by lia. exact H.
Qed.

Lemma numbered_has {A} (l : list A) n a : In a l -> exists p, In (p, a) (numbered n l).
Proof.
  revert n. induction l as [|b l IH]; intros n H; [easy|]. destruct H as [->|H].
  - exists n. now left.
  - destruct (IH (S n) H) as [p Hp]. exists p. now right.
Qed.

Lemma signed_flip s hs p a b :
  nth_error (signed s hs) p = Some a -> In b (signed (flip p s) hs) ->
  In b (signed s hs) \/ forall x, level b x = - level a x.
Proof.
  revert s hs. induction p as [|p IH]; intros [|c s] [|h hs] Ha Hb; simpl in *; try easy.
  - injection Ha as <-. destruct Hb as [<-|Hb]; [right|left; now right].
    intros x. destruct c; simpl; rewrite level_opposite; lra.
  - destruct Hb as [<-|Hb]; [left; now left|].
    destruct (IH s hs Ha Hb) as [H|H]; [left; now right|now right].
Qed.

(* How many functions are e at x. *)
Fixpoint count (hs : list affine) (x : point) (e : R) : nat :=
  match hs with
  | [] => O
  | h :: hs' => ((if Req_EM_T (level h x) e then 1 else 0) + count hs' x e)%nat
  end.

Lemma count_flip s hs p a x e :
  nth_error (signed s hs) p = Some a -> level a x = e -> 0 < e ->
  S (count (signed (flip p s) hs) x e) = count (signed s hs) x e.
Proof.
  revert s hs. induction p as [|p IH]; intros [|c s] [|h hs] Ha He Hpos; simpl in *; try easy.
  - injection Ha as <-. destruct c; simpl in *.
    + destruct (Req_EM_T (level (opposite h) x) e) as [E|_]; [rewrite level_opposite in E; lra|].
      destruct (Req_EM_T (level h x) e); [reflexivity|contradiction].
    + destruct (Req_EM_T (level h x) e) as [E|_]; [rewrite level_opposite in He; lra|].
      destruct (Req_EM_T (level (opposite h) x) e); [reflexivity|contradiction].
  - rewrite <- (IH s hs Ha He Hpos). lia.
Qed.

(** * All facets of a region *)

(* What is known of the row number p of cell c, which is h, in one case and one of the dynamics. *)
Definition guarded (G : region) (c : cell) (p : nat) (h : affine) (rows : list row) (d : dynamics)
    (K M0 : R) : Prop :=
  slow (walls G c) h ((rows ++ rows_before (exits G)) ++ rate_rows d) d K M0 \/
  exists D, In D (cells G) /\ signs D = flip p (signs c) /\
    (p < length (signed (signs c) (predicates G)))%nat /\
    forall k, In k (part D) -> follows (walls G c) h rows k M0.

Lemma guarded_weaker G c p h rows d K M0 K' M0' :
  guarded G c p h rows d K M0 -> K <= K' -> M0' <= M0 -> guarded G c p h rows d K' M0'.
Proof.
  intros [H|[D [H1 [H2 [H3 H4]]]]] HK HM.
  - left. now apply (slow_weaker _ _ _ _ K M0).
  - right. exists D. repeat split; auto. intros k Hk e He. apply (H4 k Hk e). lra.
Qed.

Lemma check_facet_sound G c p h rows d e :
  check_facet G c p h rows d e = true ->
  exists K M0, 0 <= K /\ 0 < M0 /\ guarded G c p h rows d K M0.
Proof.
  assert (Hslow : (exists K M0, 0 <= K /\ 0 < M0 /\
      slow (walls G c) h ((rows ++ rows_before (exits G)) ++ rate_rows d) d K M0) ->
    exists K M0, 0 <= K /\ 0 < M0 /\ guarded G c p h rows d K M0).
  { intros [K [M0 [HK [HM H]]]]. exists K, M0. repeat split; auto. now left. }
  destruct e as [mu ms ns|mu ms ns|ns|n proofs]; unfold check_facet; intros H.
  - apply Hslow. now apply inward_sound in H.
  - apply Hslow. now apply (empty_sound _ _ _ d) in H.
  - apply Hslow. now apply (implied_sound (walls G c) h _ d) in H.
  - destruct (nth_error (cells G) n) as [D|] eqn:HD; [|discriminate].
    halve H [H H3]. halve H [H1 H2]. apply same_signs_equal in H1. apply Nat.ltb_lt in H2.
    destruct (bounds_for_all (part D) (fun k _ M => follows (walls G c) h rows k M))
      as [K [M0 [HK [HM Hall]]]].
    + intros k K M K' M' Hb _ HM e He. apply (Hb e). lra.
    + intros k Hk. destruct (all2_in _ _ _ _ H3 Hk) as [pf [_ Hpf]].
      apply check_beyond_sound in Hpf. destruct Hpf as [M [HM Hb]].
      exists 0, M. repeat split; auto. lra.
    + exists K, M0. repeat split; auto. right. exists D. repeat split; auto.
      now apply nth_error_In in HD.
Qed.

Definition all_guarded (G : region) (L : location) (K M0 : R) : Prop :=
  forall c, In c (cells G) -> forall p h, In (p, h) (numbered 0 (walls G c)) ->
  forall rows, In rows (invariant L) -> forall d, In d (flows L) ->
  guarded G c p h rows d K M0.

Lemma check_facets_sound L G e :
  check_facets L G e = true -> exists K M0, 0 <= K /\ 0 < M0 /\ all_guarded G L K M0.
Proof.
  intros H. unfold check_facets in H.
  apply (bounds_for_all (cells G) (fun c K M => forall p h, In (p, h) (numbered 0 (walls G c)) ->
    forall rows, In rows (invariant L) -> forall d, In d (flows L) -> guarded G c p h rows d K M)).
  { intros c K M K' M' H0 HK HM p h Hp rows Hr d Hd. apply (guarded_weaker _ _ _ _ _ _ K M); auto. }
  intros c Hc. destruct (all2_in _ _ _ _ H Hc) as [e1 [_ E1]].
  destruct (bounds_for_all (numbered 0 (walls G c)) (fun ph K M =>
    forall rows, In rows (invariant L) -> forall d, In d (flows L) ->
    guarded G c (fst ph) (snd ph) rows d K M)) as [K [M [HK [HM Hall]]]].
  { intros ph K M K' M' H0 HK HM rows Hr d Hd. apply (guarded_weaker _ _ _ _ _ _ K M); auto. }
  2: { exists K, M. repeat split; auto. intros p h Hp. apply (Hall (p, h) Hp). }
  intros ph Hph. destruct (all2_in _ _ _ _ E1 Hph) as [e2 [_ E2]].
  apply (bounds_for_all (invariant L) (fun rows K M => forall d, In d (flows L) ->
    guarded G c (fst ph) (snd ph) rows d K M)).
  { intros rows K M K' M' H0 HK HM d Hd. apply (guarded_weaker _ _ _ _ _ _ K M); auto. }
  intros rows Hr. destruct (all2_in _ _ _ _ E2 Hr) as [e3 [_ E3]].
  apply (bounds_for_all (flows L) (fun d K M => guarded G c (fst ph) (snd ph) rows d K M)).
  { intros d K M K' M' H0 HK HM. apply (guarded_weaker _ _ _ _ _ _ K M); auto. }
  intros d Hd. destruct (all2_in _ _ _ _ E3 Hd) as [e4 [_ E4]].
  now apply check_facet_sound in E4.
Qed.

(** * Flow *)

Section Flow.
  Variables (L : location) (T : R) (x : R -> point) (G : region) (K M0 : R).
  Hypothesis Hmotion : motion L T x.
  Hypothesis HK : 0 <= K.
  Hypothesis HM0 : 0 < M0.
  Hypothesis Hguarded : all_guarded G L K M0.
  Hypothesis Hexits : forall t h, 0 <= t <= T -> In h (exits G) -> level h (x t) <= 0.

  (* Where no function of cell c is above e, no function of cell D is, if D is beyond the facet h
     of c, and part of the time soon after s one case of the invariant holds. *)
  Lemma beyond_holds s e c p h rows D :
    0 < s < T -> 0 < e <= M0 -> nth_error (signed (signs c) (predicates G)) p = Some h ->
    level h (x s) = e -> (forall a, In a (walls G c) -> level a (x s) <= e) ->
    signs D = flip p (signs c) ->
    (forall k, In k (part D) -> follows (walls G c) h rows k M0) ->
    (forall d, 0 < d -> exists t u, s < t < s + d /\ rows_hold rows (x t) origin u) ->
    forall b, In b (walls G D) -> level b (x s) <= e.
  Proof.
    intros Hs He Hp Hhe Hle HD Hk Hsoon b Hb.
    assert (Hin : In h (walls G c)).
    { apply in_or_app. left. now apply nth_error_In in Hp. }
    apply in_app_or in Hb. destruct Hb as [Hb|Hb].
    - rewrite HD in Hb. destruct (signed_flip _ _ _ _ _ Hp Hb) as [H|H].
      + apply Hle. apply in_or_app. now left.
      + rewrite H, Hhe. lra.
    - apply Rnot_lt_le. intros Hgt. set (eta := (level b (x s) - e) / 2).
      destruct (Hk b Hb e He eta) as [eps [Heps Hbe]]; [unfold eta; lra|].
      destruct (near L T x Hmotion (b :: walls G c) s (Rmin eps eta)) as [d [Hd Hnear]];
        [lra|apply Rmin_pos; [exact Heps|unfold eta; lra]|].
      assert (Rmin eps eta <= eps) by apply Rmin_l.
      assert (Rmin eps eta <= eta) by apply Rmin_r.
      destruct (Hsoon d Hd) as [t [u [Ht Hr]]].
      assert (Hkt : level b (x t) <= e + eta).
      { apply (Hbe (x t) u Hr).
        - rewrite <- Hhe. apply Rlt_le_trans with (Rmin eps eta); [|assumption].
          apply (Hnear t Ht). now right.
        - intros q Hq. assert (Hn := Hnear t Ht q (or_intror Hq)).
          apply Rabs_def2 in Hn. specialize (Hle q Hq). lra. }
      assert (Hn := Hnear t Ht b (or_introl eq_refl)). apply Rabs_def2 in Hn. unfold eta in *. lra.
  Qed.

  (* A cell whose functions grow slowly: this one, or one to which flow hands over. *)
  Lemma find_cell s e :
    0 < s < T -> 0 < e <= M0 / 2 ->
    forall n c, count (signed (signs c) (predicates G)) (x s) e = n -> In c (cells G) ->
    (forall a, In a (walls G c) -> level a (x s) <= e) ->
    exists c', In c' (cells G) /\ forall a, In a (walls G c') -> level a (x s) <= e /\
      (level a (x s) = e -> exists d, 0 < d /\ forall r, s < r < s + d ->
         level a (x r) <= level a (x s) + (K + / 2) * e * (r - s)).
  Proof.
    intros Hs He n. induction n as [n IH] using lt_wf_ind. intros c Hn Hc Hle.
    set (B := (K + / 2) * e).
    destruct (classic (forall a, In a (walls G c) -> level a (x s) = e ->
      exists d, 0 < d /\ forall r, s < r < s + d -> forall v, velocity L (x r) v ->
        dot (gradient a) v <= B)) as [Hall|Hnot].
    - exists c. split; [exact Hc|]. intros a Ha. split; [now apply Hle|]. intros Heq.
      destruct (Hall a Ha Heq) as [d [Hd Hv]]. exists (Rmin d (T - s)).
      assert (Rmin d (T - s) <= d) by apply Rmin_l.
      assert (Rmin d (T - s) <= T - s) by apply Rmin_r.
      split; [apply Rmin_pos; lra|]. intros r Hr. apply (slowly L T x Hmotion a B s d); auto; lra.
    - apply not_all_ex_not in Hnot. destruct Hnot as [a Hnot].
      apply imply_to_and in Hnot. destruct Hnot as [Ha Hnot].
      apply imply_to_and in Hnot. destruct Hnot as [Hae Hnot].
      destruct (pick L x (gradient a) B s Hnot) as [rows [d [Hr [Hd Hsoon]]]].
      destruct (numbered_has _ 0 _ Ha) as [p Hp].
      destruct (Hguarded c Hc p a Hp rows Hr d Hd) as [Hslow|[D [HD [Hflip [Hlt Hb]]]]].
      + exfalso. set (eps := e / (2 * (K + 1))).
        assert (Heps : 0 < eps) by (unfold eps; apply Rdiv_lt_0_compat; lra).
        assert (Hke : (K + 1) * eps = e / 2) by (unfold eps; field; lra).
        assert (Hke' : 0 <= K * eps) by (apply Rmult_le_pos; lra).
        destruct (near L T x Hmotion (walls G c) s eps) as [e1 [He1 Hnear]]; [lra|exact Heps|].
        set (m := Rmin e1 (T - s)). assert (Hm : 0 < m) by (apply Rmin_pos; lra).
        assert (m <= e1) by apply Rmin_l. assert (m <= T - s) by apply Rmin_r.
        destruct (Hsoon m Hm) as [t [u [v [Ht [Hsr [Hsd [Hv Hgt]]]]]]].
        assert (Ht1 : s < t < s + e1) by lra.
        assert (dot (gradient a) v <= K * (e + eps)); [|unfold B in Hgt; lra].
        apply (Hslow (x t) u v).
        * apply rows_hold_app; [|exact Hsd]. apply rows_hold_app; [exact Hsr|].
          apply rows_before_hold. intros h Hh. apply Hexits; [lra|exact Hh].
        * exact Hv.
        * assert (Hn1 := Hnear t Ht1 a Ha). apply Rabs_def2 in Hn1. lra.
        * lra.
        * intros q Hq. assert (Hn1 := Hnear t Ht1 q Hq). apply Rabs_def2 in Hn1.
          specialize (Hle q Hq). lra.
      + apply numbered_in in Hp. destruct Hp as [_ Hp]. rewrite Nat.sub_0_r in Hp.
        unfold walls in Hp. rewrite nth_error_app1 in Hp by exact Hlt.
        apply (IH (count (signed (signs D) (predicates G)) (x s) e)) with (c := D); auto.
        * rewrite Hflip, <- Hn, <- (count_flip _ _ _ _ (x s) e Hp Hae (proj1 He)). lia.
        * apply (beyond_holds s e c p a rows D); auto; [lra|].
          intros e1 He1. destruct (Hsoon e1 He1) as [t [u [v [Ht [Hsr _]]]]]. now exists t, u.
  Qed.

  Lemma region_kept :
    (exists c, In c (cells G) /\ forall a, In a (walls G c) -> level a (x 0) <= 0) ->
    forall t, 0 <= t <= T ->
    exists c, In c (cells G) /\ forall a, In a (walls G c) -> level a (x t) <= 0.
  Proof.
    intros Hstart t Ht.
    apply (cells_kept (cells G) (walls G) (fun h s => level h (x s)) T K (M0 / 2)); auto.
    - apply Hmotion.
    - lra.
    - intros c a s _ _ Hs. now apply (continuous L T x Hmotion).
    - intros s e c Hs He Hc Hle.
      now apply (find_cell s e Hs He) with
        (n := count (signed (signs c) (predicates G)) (x s) e) (c := c).
  Qed.
End Flow.
