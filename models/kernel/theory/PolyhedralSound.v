(* Soundness of the checker of polyhedral invariants. *)

From Coq Require Import QArith Qreals Reals Lra Lia List Bool Classical Arith.
From Kernel Require Import
  Semantics Farkas Polyhedral Comparison FarkasSound Motion Facets Covers.
Import ListNotations.
Open Scope R_scope.

(** * A stay in one location *)

Section Stay.
  Variables (L : location) (Gs : list region).
  Hypothesis Hfacets :
    forall G, In G Gs -> exists K M0, 0 <= K /\ 0 < M0 /\ all_guarded G L K M0.
  Hypothesis Hmargin : forall G h, In G Gs -> In h (exits G) -> 0 < Q2R (margin G).
  Hypothesis Hexits : forall G c h rows d,
    In G Gs -> In c (cells G) -> In h (exits G) -> In rows (invariant L) -> In d (flows L) ->
    exists e, check_cover before inner_borders Gs (exit_rows G c h rows d) e = true.
  Variables (T : R) (x : R -> point).
  Hypothesis Hmotion : motion L T x.

  Let inside_some t := within borders Gs (x t).

  (* While the exits of a region hold, flow stays in it. *)
  Lemma go_on G s d :
    In G Gs -> 0 <= s < T ->
    (exists c, In c (cells G) /\ forall a, In a (walls G c) -> level a (x s) <= 0) ->
    (forall h, In h (exits G) -> level h (x s) <= 0) -> 0 < d ->
    (forall t, s < t < s + d -> forall h, In h (exits G) -> level h (x t) <= 0) ->
    exists d', 0 < d' /\ forall t, s < t < s + d' -> inside_some t.
  Proof.
    intros HG Hs Hstart Hnow Hd Hsoon. set (m := Rmin (d / 2) (T - s)).
    assert (0 < m) by (apply Rmin_pos; lra).
    assert (m <= d / 2) by apply Rmin_l. assert (m <= T - s) by apply Rmin_r.
    exists m. split; [assumption|]. intros t Ht.
    destruct (Hfacets G HG) as [K [M0 [HK [HM Hg]]]].
    assert (Hex : forall r h, 0 <= r <= m -> In h (exits G) -> level h (x (s + r)) <= 0).
    { intros r h Hr Hh. destruct (Req_dec r 0) as [->|Hne].
      - rewrite Rplus_0_r. now apply Hnow.
      - apply Hsoon; [lra|exact Hh]. }
    assert (Hshift := motion_shift L T x s m Hmotion ltac:(lra) ltac:(lra) ltac:(lra)).
    destruct (region_kept L m (fun t => x (s + t)) G K M0 Hshift HK HM Hg Hex) with (t := t - s)
      as [c [Hc Hall]].
    - rewrite Rplus_0_r. exact Hstart.
    - lra.
    - replace (s + (t - s)) with t in Hall by ring.
      exists G, c. split; [exact HG|]. split; [exact Hc|].
      intros a Ha. apply in_app_or in Ha. destruct Ha as [Ha|Ha]; [now apply Hall|].
      apply Hsoon; [lra|exact Ha].
  Qed.

  (* If h rises above 0 at once, then one of the dynamics lets it rise, in one case of the
     invariant, at times arbitrarily soon. *)
  Lemma rising h s :
    0 <= s < T -> level h (x s) <= 0 ->
    (forall d, 0 < d -> exists t, s < t < s + d /\ 0 < level h (x t)) ->
    exists rows d, In rows (invariant L) /\ In d (flows L) /\
      forall e, 0 < e -> exists t u, s < t < s + e /\ rows_hold rows (x t) origin u /\
        rows_hold (rate_rows d) (x t) origin u /\
        0 < value (along (gradient h) (rates d)) (x t) origin u.
  Proof.
    intros Hs Hnow Hsoon.
    destruct (pick L x (gradient h) 0 s) as [rows [d [Hr [Hd Htimes]]]].
    - intros [d [Hd Hv]]. set (m := Rmin d (T - s)).
      assert (0 < m) by (apply Rmin_pos; lra).
      assert (m <= d) by apply Rmin_l. assert (m <= T - s) by apply Rmin_r.
      destruct (Hsoon m) as [t [Ht Hpos]]; [assumption|].
      assert (Hle := slowly L T x Hmotion h 0 s d Hs Hd Hv t ltac:(lra) ltac:(lra)). lra.
    - exists rows, d. split; [exact Hr|]. split; [exact Hd|]. intros e He.
      destruct (Htimes e He) as [t [u [v [Ht [H1 [H2 [H3 H4]]]]]]].
      exists t, u. rewrite (along_dot _ _ _ _ _ H3). auto.
  Qed.

  (* Where flow leaves a region through an exit, it is well inside another. *)
  Lemma exit_lands G c h s :
    In G Gs -> In c (cells G) -> In h (exits G) -> 0 <= s < T ->
    (forall a, In a (borders G c) -> level a (x s) <= 0) ->
    (forall d, 0 < d -> exists t, s < t < s + d /\ 0 < level h (x t)) ->
    within inner_borders Gs (x s).
  Proof.
    intros HG Hc Hh Hs Hin Hsoon.
    assert (Hle : level h (x s) <= 0).
    { apply Hin. apply in_or_app. now right. }
    assert (Hge : 0 <= level h (x s)).
    { apply Rnot_lt_le. intros Hlt.
      destruct (stays_negative (fun s => level h (x s)) s) as [d [Hd Hneg]];
        [apply (continuous L T x Hmotion); lra|exact Hlt|].
      destruct (Hsoon d Hd) as [t [Ht Hpos]]. specialize (Hneg t Ht). lra. }
    destruct (rising h s Hs Hle Hsoon) as [rows [d [Hr [Hd Htimes]]]].
    destruct (Hexits G c h rows d HG Hc Hh Hr Hd) as [e Hcheck].
    set (limits := map (fun r => (r, 0)) (exit_rows G c h rows d)).
    apply (check_cover_limit inner_borders Gs e limits).
    - unfold limits. rewrite map_map. simpl. rewrite map_id. exact Hcheck.
    - intros hs eps Heps.
      destruct (near L T x Hmotion (borders G c ++ h :: hs) s eps) as [e1 [He1 Hnear]];
        [lra|exact Heps|].
      destruct (Htimes e1 He1) as [t [u [Ht [Hsr [Hsd Hgrow]]]]].
      exists (x t), u. split.
      + intros q Hq. apply (Hnear t Ht). apply in_or_app. right. now right.
      + intros r b Hrb. unfold limits in Hrb. apply in_map_iff in Hrb.
        destruct Hrb as [r' [Heq Hr']]. injection Heq as -> <-.
        apply in_app_or in Hr'. destruct Hr' as [Hr'|Hr'];
          [|apply in_app_or in Hr'; destruct Hr' as [Hr'|[<-|[<-|[]]]]].
        * apply in_map_iff in Hr'. destruct Hr' as [a [<- Ha]]. simpl. rewrite value_before.
          assert (Hn := Hnear t Ht a ltac:(apply in_or_app; now left)).
          apply Rabs_def2 in Hn. specialize (Hin a Ha). lra.
        * apply in_map_iff in Hr'. destruct Hr' as [r0 [<- Hr0]]. simpl.
          assert (Hsat : row_holds (x t) origin u r0).
          { apply in_app_or in Hr0. destruct Hr0; [now apply Hsr|now apply Hsd]. }
          unfold row_holds in Hsat. destruct (strict r0); lra.
        * simpl. rewrite value_scaled, Q2R_m1, value_before.
          assert (Hn := Hnear t Ht h ltac:(apply in_or_app; right; now left)).
          apply Rabs_def2 in Hn. lra.
        * simpl. rewrite value_scaled, Q2R_m1. lra.
    - intros r b Hrb. unfold limits in Hrb. apply in_map_iff in Hrb.
      destruct Hrb as [r' [Heq Hr']]. injection Heq as -> <-. split; [lra|]. intros Hst. exfalso.
      apply in_app_or in Hr'. destruct Hr' as [Hr'|Hr'];
        [|apply in_app_or in Hr'; destruct Hr' as [Hr'|[<-|[<-|[]]]]]; try discriminate;
        apply in_map_iff in Hr'; destruct Hr' as [a [<- _]]; discriminate.
  Qed.

  Lemma within_inside t :
    inside_some t <->
    inside (flat_map (fun G => map (pair G) (cells G)) Gs) (fun p => borders (fst p) (snd p))
      (fun h s => level h (x s)) 0 t.
  Proof.
    split.
    - intros [G [c [HG [Hc Hall]]]]. exists (G, c). split; [|exact Hall].
      apply in_flat_map. exists G. split; [exact HG|]. now apply in_map.
    - intros [[G c] [Hp Hall]]. apply in_flat_map in Hp. destruct Hp as [G' [HG' Hp]].
      apply in_map_iff in Hp. destruct Hp as [c' [Heq Hc']]. injection Heq as -> ->.
      exists G, c. split; [exact HG'|]. split; [exact Hc'|exact Hall].
  Qed.

  Theorem stay : inside_some 0 -> forall t, 0 <= t <= T -> inside_some t.
  Proof.
    intros Hstart. apply real_induction; [apply Hmotion|exact Hstart| |].
    - intros s Hs Hbefore. apply within_inside.
      apply (union_closed _ _ _ (fun _ => 0)).
      + lra.
      + intros p a _ _. apply (continuous L T x Hmotion). lra.
      + apply constant_continuous.
      + intros t Ht. apply within_inside. now apply Hbefore.
    - intros s Hs Hup. destruct (Hup s) as [G [c [HG [Hc Hall]]]]; [lra|].
      destruct (classic (exists d, 0 < d /\ forall t, s < t < s + d ->
                  forall h, In h (exits G) -> level h (x t) <= 0)) as [[d [Hd Hok]]|Hnot].
      + apply (go_on G s d); auto.
        * exists c. split; [exact Hc|]. intros a Ha. apply Hall. apply in_or_app. now left.
        * intros h Hh. apply Hall. apply in_or_app. now right.
      + assert (Hex : exists h, In h (exits G) /\
          forall d, 0 < d -> exists t, s < t < s + d /\ 0 < level h (x t)).
        { apply NNPP. intros Hn. apply Hnot. apply soon_for_all. intros h Hh.
          apply NNPP. intros Hn2. apply Hn. exists h. split; [exact Hh|]. intros d Hd.
          apply NNPP. intros Hn3. apply Hn2. exists d. split; [exact Hd|]. intros t Ht.
          apply Rnot_lt_le. intros Hlt. apply Hn3. now exists t. }
        destruct Hex as [h [Hh Hsoon]].
        destruct (exit_lands G c h s HG Hc Hh Hs Hall Hsoon) as [G' [c' [HG' [Hc' Hin]]]].
        assert (Hneg : forall q, In q (exits G') -> level q (x s) < 0).
        { intros q Hq. assert (Hm := Hmargin G' q HG' Hq).
          assert (Hi : level (moved_in G' q) (x s) <= 0).
          { apply Hin. apply in_or_app. right. now apply in_map. }
          unfold level, moved_in in Hi. simpl in Hi. rewrite Q2R_plus in Hi. unfold level. lra. }
        destruct (soon_for_all (exits G') (fun q t => level q (x t) <= 0) s) as [d [Hd Hok]].
        { intros q Hq. apply (stays_negative (fun t => level q (x t))).
          - apply (continuous L T x Hmotion). lra.
          - now apply Hneg. }
        apply (go_on G' s d); auto.
        * exists c'. split; [exact Hc'|]. intros a Ha. apply Hin. apply in_or_app. now left.
        * intros q Hq. specialize (Hneg q Hq). lra.
  Qed.
End Stay.

(** * Runs *)

Section Sound.
  Variables (a : automaton) (cert : polyhedral_certificate).
  Hypothesis Hcheck : check_polyhedral a cert = true.

  Lemma region_checked l L G :
    nth_error (locations a) l = Some L -> In G (regions_of cert l) ->
    exists e, check_facets L G e = true /\ check_exits (regions_of cert l) L G e = true /\
      check_jumps cert L G e = true /\ check_safety L G e = true.
  Proof.
    intros HL HG. assert (H := Hcheck). halve H [_ H].
    destruct (all2_nth _ _ _ _ _ H HL) as [es [Hes Hall]].
    unfold regions_of in *. rewrite (nth_error_nth _ _ _ Hes) in *.
    apply in_map_iff in HG. destruct HG as [e [<- Hin]]. exists e.
    rewrite forallb_forall in Hall. specialize (Hall e Hin). unfold check_region in Hall.
    cbv zeta in Hall. halve Hall [Hall H4]. halve Hall [Hall H3]. halve Hall [H1 H2]. auto.
  Qed.

  (* Every state that runs reach lies in a region of its location. *)
  Lemma reach_within l x : reach a l x -> within borders (regions_of cert l) x.
  Proof.
    intros H. induction H as [l cs x y u Hin [rows [Hr Hs]]
                             |l L T x _ IH HL Htr t Ht
                             |l L e x y u _ [G [c [HG [Hc Hx]]]] HL He [rows [Hr Hs]]].
    - assert (H := Hcheck). halve H [H _].
      destruct (all2_in _ _ _ _ H Hin) as [e1 [_ H1]]. simpl in H1.
      destruct (all2_in _ _ _ _ H1 Hr) as [e2 [_ H2]].
      now apply (check_cover_sound _ _ _ _ x y u) in H2.
    - destruct (trajectory_motion L T x Htr) as [z [Hz Hzx]].
      rewrite <- (Hzx t Ht). rewrite <- (Hzx 0) in IH by lra.
      apply (stay L (regions_of cert l)) with (T := T); auto.
      + intros G HG. destruct (region_checked l L G HL HG) as [e [H1 _]].
        now apply check_facets_sound in H1.
      + intros G h HG Hh. destruct (region_checked l L G HL HG) as [e [_ [H2 _]]].
        halve H2 [H2 _]. destruct (exits G); [easy|]. now apply is_positive_R.
      + intros G c h rows d HG Hc Hh Hr Hd.
        destruct (region_checked l L G HL HG) as [e [_ [H2 _]]]. halve H2 [_ H2].
        destruct (all2_in _ _ _ _ H2 Hc) as [e1 [_ E1]].
        destruct (all2_in _ _ _ _ E1 Hh) as [e2 [_ E2]].
        destruct (all2_in _ _ _ _ E2 Hr) as [e3 [_ E3]].
        destruct (all2_in _ _ _ _ E3 Hd) as [e4 [_ E4]]. now exists e4.
    - destruct (region_checked l L G HL HG) as [ce [_ [_ [H3 _]]]].
      destruct (all2_in _ _ _ _ H3 Hc) as [e1 [_ E1]].
      destruct (all2_in _ _ _ _ E1 He) as [e2 [_ E2]].
      destruct (all2_in _ _ _ _ E2 Hr) as [e3 [_ E3]].
      apply (check_cover_sound _ _ _ _ x y u) in E3; [exact E3|].
      apply rows_hold_app; [now apply rows_before_hold|exact Hs].
  Qed.

  Theorem polyhedral_sound : safe a.
  Proof.
    intros l L x u Hreach HL [rows [Hr Hs]].
    destruct (reach_within l x Hreach) as [G [c [HG [Hc Hx]]]].
    destruct (region_checked l L G HL HG) as [e [_ [_ [_ H4]]]].
    destruct (all2_in _ _ _ _ H4 Hc) as [e1 [_ E1]].
    destruct (all2_in _ _ _ _ E1 Hr) as [ms [_ Hms]].
    apply (refutes_sound _ _ x origin u) in Hms. apply Hms.
    apply rows_hold_app; [now apply rows_before_hold|exact Hs].
  Qed.
End Sound.
