(* The comparison lemma: a union of cells is kept if none of the functions that bound them grows
   faster than exponentially from 0. *)

From Coq Require Import Reals Lra List Classical.
Import ListNotations.
Open Scope R_scope.

(** * Real induction *)

Lemma real_induction (P : R -> Prop) (T : R) :
  0 <= T -> P 0 ->
  (forall s, 0 < s <= T -> (forall t, 0 <= t < s -> P t) -> P s) ->
  (forall s, 0 <= s < T -> (forall t, 0 <= t <= s -> P t) ->
     exists d, 0 < d /\ forall t, s < t < s + d -> P t) ->
  forall t, 0 <= t <= T -> P t.
Proof.
  intros HT P0 Hclosed Hstep.
  set (E := fun t => 0 <= t <= T /\ forall r, 0 <= r <= t -> P r).
  assert (E0 : E 0).
  { split; [lra|]. intros r Hr. replace r with 0 by lra. exact P0. }
  destruct (completeness E) as [s [Hub Hlub]].
  { exists T. intros t [Ht _]. lra. }
  { exists 0. exact E0. }
  assert (Hs0 : 0 <= s) by (apply Hub; exact E0).
  assert (HsT : s <= T) by (apply Hlub; intros t [Ht _]; lra).
  assert (Hbefore : forall t, 0 <= t < s -> P t).
  { intros t Ht. apply NNPP. intros Hn.
    assert (s <= t); [|lra].
    apply Hlub. intros r [Hr Hall]. destruct (Rle_dec r t) as [|Hgt]; [assumption|].
    exfalso. apply Hn. apply Hall. lra. }
  assert (Hs : forall t, 0 <= t <= s -> P t).
  { intros t Ht. destruct (Req_dec t s) as [->|]; [|apply Hbefore; lra].
    destruct (Req_dec s 0) as [->|]; [exact P0|]. apply Hclosed; [lra|exact Hbefore]. }
  destruct (Rlt_dec s T) as [Hlt|Hge].
  - exfalso. destruct (Hstep s (conj Hs0 Hlt) Hs) as [d [Hd Hafter]].
    set (m := Rmin (d / 2) (T - s)).
    assert (0 < m) by (apply Rmin_pos; lra).
    assert (m <= d / 2) by apply Rmin_l. assert (m <= T - s) by apply Rmin_r.
    assert (E (s + m)).
    { split; [lra|]. intros r Hr. destruct (Rle_dec r s); [apply Hs; lra|apply Hafter; lra]. }
    specialize (Hub _ H2). lra.
  - intros t Ht. apply Hs. lra.
Qed.

(** * Continuous functions near a point *)

Lemma continuity_near (g : R -> R) s eps :
  continuity_pt g s -> 0 < eps ->
  exists d, 0 < d /\ forall t, Rabs (t - s) < d -> Rabs (g t - g s) < eps.
Proof.
  intros H He. destruct (H eps He) as [d [Hd Hn]]. exists d. split; [exact Hd|].
  intros t Ht. destruct (Req_dec t s) as [->|Hne].
  - rewrite Rminus_diag_eq by reflexivity. rewrite Rabs_R0. exact He.
  - apply (Hn t). split; [split; [exact I|intros ->; now apply Hne]|exact Ht].
Qed.

Lemma stays_negative (g : R -> R) s :
  continuity_pt g s -> g s < 0 -> exists d, 0 < d /\ forall t, s < t < s + d -> g t <= 0.
Proof.
  intros Hc Hs. destruct (continuity_near g s (- g s) Hc) as [d [Hd Hnear]]; [lra|].
  exists d. split; [exact Hd|]. intros t Ht.
  assert (Hx : Rabs (t - s) < d) by (rewrite Rabs_right; lra).
  specialize (Hnear _ Hx). apply Rabs_def2 in Hnear. lra.
Qed.

Lemma constant_continuous (c t : R) : continuity_pt (fun _ => c) t.
Proof. apply continuity_pt_const. intros p q. reflexivity. Qed.

(** * Finitely many conditions *)

(* What holds for a while for each of finitely many holds for a while for all. *)
Lemma soon_for_all {A} (l : list A) (Q : A -> R -> Prop) s :
  (forall a, In a l -> exists d, 0 < d /\ forall t, s < t < s + d -> Q a t) ->
  exists d, 0 < d /\ forall t, s < t < s + d -> forall a, In a l -> Q a t.
Proof.
  induction l as [|a l IH]; intros H.
  - exists 1. split; [lra|]. intros t _ a [].
  - destruct (H a (or_introl eq_refl)) as [d1 [Hd1 H1]].
    destruct IH as [d2 [Hd2 H2]]; [intros b Hb; apply H; right; exact Hb|].
    exists (Rmin d1 d2). split; [now apply Rmin_pos|].
    assert (Rmin d1 d2 <= d1) by apply Rmin_l. assert (Rmin d1 d2 <= d2) by apply Rmin_r.
    intros t Ht b [<-|Hb]; [apply H1; lra|apply H2; [lra|exact Hb]].
Qed.

(* What holds of each for small numbers holds of all for some number. *)
Lemma small_for_all {A} (l : list A) (Q : A -> R -> Prop) :
  (forall a d d', Q a d -> 0 < d' <= d -> Q a d') ->
  (forall a, In a l -> exists d, 0 < d /\ Q a d) ->
  exists d, 0 < d /\ forall a, In a l -> Q a d.
Proof.
  intros Hm. induction l as [|a l IH]; intros H.
  - exists 1. split; [lra|]. intros a [].
  - destruct (H a (or_introl eq_refl)) as [d1 [Hd1 H1]].
    destruct IH as [d2 [Hd2 H2]]; [intros b Hb; apply H; now right|].
    assert (Hp : 0 < Rmin d1 d2) by now apply Rmin_pos.
    exists (Rmin d1 d2). split; [exact Hp|].
    intros b [<-|Hb].
    + apply (Hm _ d1); [exact H1|]. split; [exact Hp|apply Rmin_l].
    + apply (Hm _ d2); [now apply H2|]. split; [exact Hp|apply Rmin_r].
Qed.

(* A common large number and a common small one. *)
Lemma bounds_for_all {A} (l : list A) (P : A -> R -> R -> Prop) :
  (forall a K M K' M', P a K M -> K <= K' -> M' <= M -> P a K' M') ->
  (forall a, In a l -> exists K M, 0 <= K /\ 0 < M /\ P a K M) ->
  exists K M, 0 <= K /\ 0 < M /\ forall a, In a l -> P a K M.
Proof.
  intros Hm. induction l as [|a l IH]; intros H.
  - exists 0, 1. split; [lra|]. split; [lra|]. intros a [].
  - destruct (H a (or_introl eq_refl)) as [K1 [M1 [HK1 [HM1 H1]]]].
    destruct IH as [K2 [M2 [HK2 [HM2 H2]]]]; [intros b Hb; apply H; now right|].
    exists (Rmax K1 K2), (Rmin M1 M2).
    assert (K1 <= Rmax K1 K2) by apply Rmax_l. assert (K2 <= Rmax K1 K2) by apply Rmax_r.
    assert (Rmin M1 M2 <= M1) by apply Rmin_l. assert (Rmin M1 M2 <= M2) by apply Rmin_r.
    split; [lra|]. split; [now apply Rmin_pos|].
    intros b [<-|Hb]; [now apply (Hm _ K1 M1)|apply (Hm _ K2 M2); auto].
Qed.

(** * Exponential functions *)

Lemma exponential_continuous e0 k t : continuity_pt (fun t => e0 * exp (k * t)) t.
Proof.
  apply derivable_continuous_pt. exists (e0 * (exp (k * t) * k)).
  apply (derivable_pt_lim_scal (fun t => exp (k * t)) e0).
  apply (derivable_pt_lim_comp (fun t => k * t) exp).
  - assert (H := derivable_pt_lim_scal id k t 1 (derivable_pt_lim_id t)).
    rewrite Rmult_1_r in H. exact H.
  - apply derivable_pt_lim_exp.
Qed.

Lemma exp_monotone a b : a <= b -> exp a <= exp b.
Proof.
  intros H. destruct (Rle_lt_or_eq_dec _ _ H) as [Hl| ->]; [|now right].
  left. now apply exp_increasing.
Qed.

(** * The lemma *)

Section Cells.
  (* Cells are given by functions of time that are at most 0 in them. *)
  Context {C A : Type} (U : list C) (rows : C -> list A) (F : A -> R -> R).

  (* At time t all functions of some cell are at most b. *)
  Definition inside (b t : R) : Prop :=
    exists c, In c U /\ forall a, In a (rows c) -> F a t <= b.

  Lemma union_closed (b : R -> R) s :
    0 < s -> (forall c a, In c U -> In a (rows c) -> continuity_pt (F a) s) ->
    continuity_pt b s -> (forall t, 0 <= t < s -> inside (b t) t) -> inside (b s) s.
  Proof.
    intros Hs Hc Hb Hbefore. apply NNPP. intros Hn.
    assert (Hd : exists d, 0 < d /\ forall c, In c U ->
        (fun c d => forall t, s - d < t < s -> exists a, In a (rows c) /\ b t < F a t) c d).
    { apply small_for_all.
      - intros c d d' H Hd t Ht. apply H. lra.
      - intros c Hin.
        assert (Ha : exists a, In a (rows c) /\ b s < F a s).
        { apply NNPP. intros Hna. apply Hn. exists c. split; [exact Hin|]. intros a Ha.
          apply Rnot_lt_le. intros Hlt. apply Hna. now exists a. }
        destruct Ha as [a [Ha Hlt]].
        assert (Hcont : continuity_pt (F a - b)%F s).
        { apply continuity_pt_minus; [now apply (Hc c)|exact Hb]. }
        destruct (continuity_near _ s (F a s - b s) Hcont) as [d [Hd Hnear]]; [lra|].
        exists d. split; [exact Hd|]. intros t Ht. exists a. split; [exact Ha|].
        assert (Hx : Rabs (t - s) < d) by (rewrite Rabs_left; lra).
        specialize (Hnear t Hx). apply Rabs_def2 in Hnear. unfold minus_fct in Hnear. lra. }
    destruct Hd as [d [Hd Hall]].
    set (m := Rmin (d / 2) (s / 2)).
    assert (0 < m) by (apply Rmin_pos; lra).
    assert (m <= d / 2) by apply Rmin_l. assert (m <= s / 2) by apply Rmin_r.
    destruct (Hbefore (s - m)) as [c [Hin Hle]]; [lra|].
    destruct (Hall c Hin (s - m)) as [a [Ha Hlt]]; [lra|].
    specialize (Hle a Ha). lra.
  Qed.

  Variables (T K M0 : R).
  Hypothesis HT : 0 <= T.
  Hypothesis HK : 0 <= K.
  Hypothesis HM0 : 0 < M0.
  Hypothesis Hcont :
    forall c a t, In c U -> In a (rows c) -> 0 <= t <= T -> continuity_pt (F a) t.
  (* Where some cell has all its functions at most e, one of them is such that those that are e
     there grow no faster than exponentially for a while. *)
  Hypothesis Hgrow : forall t e c, 0 < t < T -> 0 < e <= M0 -> In c U ->
    (forall a, In a (rows c) -> F a t <= e) ->
    exists c', In c' U /\ forall a, In a (rows c') -> F a t <= e /\
      (F a t = e -> exists d, 0 < d /\ forall r, t < r < t + d ->
         F a r <= F a t + (K + / 2) * e * (r - t)).
  Hypothesis Hstart : inside 0 0.

  Let k := K + 1.

  Lemma inside_exponential e0 :
    0 < e0 -> e0 * exp (k * T) <= M0 ->
    forall t, 0 <= t <= T -> inside (e0 * exp (k * t)) t.
  Proof.
    intros He0 Hsmall.
    set (e := fun t => e0 * exp (k * t)).
    assert (Hpos : forall t, 0 < e t).
    { intros t. apply Rmult_lt_0_compat; [exact He0|apply exp_pos]. }
    assert (Hec : forall t, continuity_pt e t) by (intros t; apply exponential_continuous).
    assert (He : forall t, t <= T -> e t <= M0).
    { intros t Ht. apply Rle_trans with (2 := Hsmall).
      apply Rmult_le_compat_l; [lra|]. apply exp_monotone.
      apply Rmult_le_compat_l; unfold k; lra. }
    change (forall t, 0 <= t <= T -> (fun t => inside (e t) t) t).
    apply real_induction; [exact HT| | |].
    - destruct Hstart as [c [Hc Hle]]. exists c. split; [exact Hc|]. intros a Ha.
      specialize (Hle a Ha). specialize (Hpos 0). lra.
    - intros s Hs Hbefore. apply union_closed; [lra| |apply Hec|exact Hbefore].
      intros c a Hc Ha. apply (Hcont c); auto. lra.
    - intros s Hs Hup.
      assert (Hcell : exists c, In c U /\ forall a, In a (rows c) -> F a s <= e s /\
        (F a s = e s -> exists d, 0 < d /\ forall r, s < r < s + d ->
           F a r <= F a s + (K + / 2) * e s * (r - s))).
      { destruct (Req_dec s 0) as [->|Hs0].
        - destruct Hstart as [c [Hc Hle]]. exists c. split; [exact Hc|]. intros a Ha.
          specialize (Hle a Ha). specialize (Hpos 0). split; lra.
        - destruct (Hup s) as [c [Hc Hle]]; [lra|].
          apply (Hgrow s (e s) c); [lra| |exact Hc|exact Hle].
          split; [apply Hpos|apply He; lra]. }
      destruct Hcell as [c [Hc Hall]].
      assert (Hd : exists d, 0 < d /\ forall t, s < t < s + d ->
                     forall a, In a (rows c) -> (F a - e)%F t <= 0).
      { apply soon_for_all. intros a Ha. destruct (Hall a Ha) as [Hle Heq].
        destruct (Rle_lt_or_eq_dec _ _ Hle) as [Hlt|Hsame].
        - apply stays_negative.
          + apply continuity_pt_minus; [apply (Hcont c); auto; lra|apply Hec].
          + unfold minus_fct. lra.
        - destruct (Heq Hsame) as [d [Hd Hg]].
          exists d. split; [exact Hd|]. intros t Ht. unfold minus_fct.
          specialize (Hg t Ht). rewrite Hsame in Hg.
          assert (Het : e t = e s * exp (k * (t - s))).
          { unfold e. rewrite Rmult_assoc, <- exp_plus. f_equal. f_equal. ring. }
          assert (Hkp : 0 < k * (t - s)) by (apply Rmult_lt_0_compat; unfold k; lra).
          assert (Hexp := exp_ineq1 (k * (t - s)) ltac:(lra)).
          assert (Hp := Hpos s).
          assert (e s * (1 + k * (t - s)) <= e t).
          { rewrite Het. apply Rmult_le_compat_l; lra. }
          assert (0 <= e s * (t - s)) by (apply Rmult_le_pos; lra).
          unfold k in *. lra. }
      destruct Hd as [d [Hd Hafter]]. exists d. split; [exact Hd|].
      intros t Ht. exists c. split; [exact Hc|]. intros a Ha.
      specialize (Hafter t Ht a Ha). unfold minus_fct in Hafter. lra.
  Qed.

  Theorem cells_kept : forall t, 0 <= t <= T -> inside 0 t.
  Proof.
    intros t Ht. apply NNPP. intros Hn.
    assert (Hm : exists m, 0 < m /\ forall c, In c U ->
        (fun c m => exists a, In a (rows c) /\ m < F a t) c m).
    { apply small_for_all.
      - intros c d d' [a [Ha Hlt]] Hd. exists a. split; [exact Ha|lra].
      - intros c Hin. apply NNPP. intros Hna. apply Hn. exists c. split; [exact Hin|].
        intros a Ha. apply Rnot_lt_le. intros Hlt. apply Hna. exists (F a t / 2).
        split; [lra|]. exists a. split; [exact Ha|lra]. }
    destruct Hm as [m0 [Hm0 Hall]].
    set (m := Rmin M0 m0).
    assert (0 < m) by (apply Rmin_pos; lra).
    assert (m <= M0) by apply Rmin_l. assert (m <= m0) by apply Rmin_r.
    assert (HmT : m * exp (- (k * T)) * exp (k * T) = m).
    { rewrite Rmult_assoc, <- exp_plus. replace (- (k * T) + k * T) with 0 by ring.
      rewrite exp_0. ring. }
    assert (Hp : 0 < m * exp (- (k * T))).
    { apply Rmult_lt_0_compat; [assumption|apply exp_pos]. }
    destruct (inside_exponential (m * exp (- (k * T))) Hp) with (t := t) as [c [Hc Hle]].
    { rewrite HmT. assumption. }
    { exact Ht. }
    destruct (Hall c Hc) as [a [Ha Hlt]]. specialize (Hle a Ha).
    assert (m * exp (- (k * T)) * exp (k * t) <= m).
    { rewrite <- HmT at 2. apply Rmult_le_compat_l; [lra|]. apply exp_monotone.
      apply Rmult_le_compat_l; unfold k; lra. }
    lra.
  Qed.
End Cells.
