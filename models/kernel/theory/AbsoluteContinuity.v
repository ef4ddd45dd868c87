(* An absolutely continuous function whose derivative is at most B at almost all times rises by at
   most B times the time. *)

From Coq Require Import Reals Lra Lia List Classical.
From Kernel Require Import Semantics Comparison.
Import ListNotations.
Open Scope R_scope.

(** * Intervals *)

Lemma intervals_le s t l : intervals s t l -> s <= t.
Proof.
  revert s. induction l as [|[a b] l IH]; simpl; intros s H; [exact H|].
  destruct H as [H1 H2]. specialize (IH b H2). lra.
Qed.

Lemma intervals_in s t l : intervals s t l -> forall i, In i l -> s <= fst i <= snd i /\ snd i <= t.
Proof.
  revert s. induction l as [|[a b] l IH]; simpl; intros s H i Hi; [easy|].
  destruct H as [H1 H2]. destruct Hi as [<-|Hi]; simpl.
  - assert (H3 := intervals_le _ _ _ H2). lra.
  - specialize (IH b H2 i Hi). lra.
Qed.

Lemma intervals_from s s' t l : intervals s t l -> s' <= s -> intervals s' t l.
Proof. destruct l as [|[a b] l]; simpl; intros H Hs; [lra|]. destruct H. split; [lra|assumption]. Qed.

Lemma intervals_to s t t' l : intervals s t l -> t <= t' -> intervals s t' l.
Proof.
  revert s. induction l as [|[a b] l IH]; simpl; intros s H Ht; [lra|].
  destruct H. split; [assumption|]. now apply IH.
Qed.

Lemma intervals_add s t l a b :
  intervals s t l -> t <= a <= b -> intervals s b (l ++ [(a, b)]).
Proof.
  revert s. induction l as [|[p q] l IH]; simpl; intros s H Hab; [lra|].
  destruct H. split; [assumption|]. now apply IH.
Qed.

Lemma intervals_filter s t l p : intervals s t l -> intervals s t (filter p l).
Proof.
  revert s. induction l as [|[a b] l IH]; simpl; intros s H; [exact H|]. destruct H as [H1 H2].
  destruct (p (a, b)); simpl.
  - split; [exact H1|]. now apply IH.
  - apply (intervals_from b); [now apply IH|lra].
Qed.

Lemma lengths_nonneg s t l : intervals s t l -> 0 <= lengths l.
Proof.
  revert s. induction l as [|[a b] l IH]; simpl; intros s H; [lra|].
  destruct H as [H1 H2]. specialize (IH b H2). fold (lengths l). lra.
Qed.

Lemma lengths_app l m : lengths (l ++ m) = lengths l + lengths m.
Proof. induction l as [|i l IH]; simpl; [lra|]. fold (lengths (l ++ m)) (lengths l). lra. Qed.

Lemma variation_app f l m : variation f (l ++ m) = variation f l + variation f m.
Proof. induction l as [|i l IH]; simpl; [lra|]. fold (variation f (l ++ m)) (variation f l). lra. Qed.

Lemma lengths_filter p l :
  lengths l = lengths (filter p l) + lengths (filter (fun i => negb (p i)) l).
Proof.
  induction l as [|i l IH]; simpl; [lra|]. fold (lengths l).
  destruct (p i); simpl; fold (lengths (filter p l));
    fold (lengths (filter (fun i => negb (p i)) l)); lra.
Qed.

Lemma lengths_in_one s t l a b :
  intervals s t l -> (forall i, In i l -> a <= fst i /\ snd i <= b) -> a <= b -> lengths l <= b - a.
Proof.
  revert s a. induction l as [|[p q] l IH]; simpl; intros s a H Hin Hab; [lra|].
  destruct H as [H1 H2]. destruct (Hin (p, q) (or_introl eq_refl)) as [Hp Hq]. simpl in Hp, Hq.
  assert (Hrest : lengths l <= b - q).
  { apply (IH q); [exact H2| |exact Hq]. intros i Hi.
    destruct (intervals_in _ _ _ H2 i Hi) as [H3 _]. destruct (Hin i (or_intror Hi)). lra. }
  fold (lengths l). lra.
Qed.

(* Intervals that do not overlap are no longer than what contains each of them. *)
Lemma lengths_covered (a b : nat -> R) n s t l :
  (forall k, a k <= b k) -> intervals s t l ->
  (forall i, In i l -> exists k, (k <= n)%nat /\ a k <= fst i /\ snd i <= b k) ->
  lengths l <= sum_f_R0 (fun k => b k - a k) n.
Proof.
  intros Hab. revert l. induction n as [|n IH]; intros l Hl Hin; simpl.
  - apply (lengths_in_one s t); auto. intros i Hi. destruct (Hin i Hi) as [k [Hk H]].
    now replace k with 0%nat in H by lia.
  - set (p := fun i : R * R => if Rle_dec (a (S n)) (fst i) then
                if Rle_dec (snd i) (b (S n)) then true else false else false).
    rewrite (lengths_filter p).
    assert (Hone : lengths (filter p l) <= b (S n) - a (S n)).
    { apply (lengths_in_one s t); auto; [now apply intervals_filter|].
      intros i Hi. apply filter_In in Hi. destruct Hi as [_ Hi]. unfold p in Hi.
      destruct (Rle_dec (a (S n)) (fst i)); [|easy]. destruct (Rle_dec (snd i) (b (S n))); easy. }
    assert (Hrest : lengths (filter (fun i => negb (p i)) l) <= sum_f_R0 (fun k => b k - a k) n).
    { apply IH; [now apply intervals_filter|].
      intros i Hi. apply filter_In in Hi. destruct Hi as [Hi Hp].
      destruct (Hin i Hi) as [k [Hk [H1 H2]]]. exists k. split; [|auto].
      destruct (Nat.eq_dec k (S n)) as [->|Hne]; [|lia]. exfalso. unfold p in Hp.
      destruct (Rle_dec (a (S n)) (fst i)); [|easy].
      destruct (Rle_dec (snd i) (b (S n))); [discriminate|easy]. }
    lra.
Qed.

Lemma common_number {A} (l : list A) (P : A -> nat -> Prop) :
  (forall i, In i l -> exists k, P i k) ->
  exists n, forall i, In i l -> exists k, (k <= n)%nat /\ P i k.
Proof.
  induction l as [|i l IH]; intros H; [exists 0%nat; easy|].
  destruct (H i (or_introl eq_refl)) as [k Hk].
  destruct IH as [n Hn]; [intros j Hj; apply H; now right|].
  exists (Nat.max k n). intros j [<-|Hj].
  - exists k. split; [lia|exact Hk].
  - destruct (Hn j Hj) as [m [Hm Hj']]. exists m. split; [lia|exact Hj'].
Qed.

(** * Derivatives *)

Lemma derivative_below f r d B :
  derivable_pt_lim f r d -> d < B ->
  exists e, 0 < e /\ (forall p, r - e < p < r -> f r - f p <= B * (r - p)) /\
    (forall p, r < p < r + e -> f p - f r <= B * (p - r)).
Proof.
  intros Hd HB. destruct (Hd (B - d)) as [[e He] Hn]; [lra|]. simpl in Hn.
  assert (Hboth : forall h, h <> 0 -> Rabs h < e -> (f (r + h) - f r) / h < B).
  { intros h Hh Hlt. specialize (Hn h Hh Hlt). apply Rabs_def2 in Hn. lra. }
  exists e. split; [exact He|]. split; intros p Hp.
  - assert (H := Hboth (p - r) ltac:(lra) ltac:(rewrite Rabs_left; lra)).
    replace (r + (p - r)) with p in H by ring.
    apply (Rmult_lt_compat_r (r - p)) in H; [|lra].
    replace ((f p - f r) / (p - r) * (r - p)) with (f r - f p) in H by (field; lra). lra.
  - assert (H := Hboth (p - r) ltac:(lra) ltac:(rewrite Rabs_right; lra)).
    replace (r + (p - r)) with p in H by ring.
    apply (Rmult_lt_compat_r (p - r)) in H; [|lra].
    replace ((f p - f r) / (p - r) * (p - r)) with (f p - f r) in H by (field; lra). lra.
Qed.

Section Rise.
  Variables (f : R -> R) (N : R -> Prop) (B s t : R).
  Hypothesis Hst : s <= t.
  Hypothesis Hslope :
    forall r, s <= r <= t -> ~ N r -> exists d, derivable_pt_lim f r d /\ d <= B.

  Section Cover.
    Variables (eps : R) (a b : nat -> R).
    Hypothesis Heps : 0 < eps.
    Hypothesis Hcover : forall r, N r -> exists n, a n < r < b n.

    (* Up to r the function rises as fast as it may, but for some intervals of the cover. *)
    Definition risen (r : R) : Prop :=
      exists l, intervals s r l /\ (forall i, In i l -> exists n, a n <= fst i /\ snd i <= b n) /\
        f r - f s <= (B + eps) * (r - s - lengths l) + variation f l.

    Lemma risen_on p r :
      risen p -> p <= r -> f r - f p <= (B + eps) * (r - p) -> risen r.
    Proof.
      intros [l [H1 [H2 H3]]] Hpr Hf. exists l. split; [now apply (intervals_to s p)|].
      split; [exact H2|]. lra.
    Qed.

    Lemma risen_across p r n : risen p -> p <= r -> a n <= p -> r <= b n -> risen r.
    Proof.
      intros [l [H1 [H2 H3]]] Hpr Ha Hb. exists (l ++ [(p, r)]).
      split; [apply (intervals_add s p); [exact H1|lra]|]. split.
      - intros i Hi. apply in_app_or in Hi. destruct Hi as [Hi|[<-|[]]]; [now apply H2|].
        now exists n.
      - rewrite lengths_app, variation_app. simpl.
        assert (H4 := Rle_abs (f r - f p)). lra.
    Qed.

    Lemma risen_all : risen t.
    Proof.
      assert (Hall : forall u, 0 <= u <= t - s -> (fun u => risen (s + u)) u).
      { apply real_induction; [lra| | |].
        - rewrite Rplus_0_r. exists []. split; [simpl; lra|]. split; [intros i []|]. simpl. lra.
        - intros u Hu Hbefore. set (r := s + u).
          destruct (classic (N r)) as [Hr|Hr].
          + destruct (Hcover r Hr) as [n Hn]. set (p := Rmax s (a n)).
            assert (s <= p) by apply Rmax_l. assert (a n <= p) by apply Rmax_r.
            assert (p < r) by (apply Rmax_lub_lt; unfold r in *; lra).
            apply (risen_across p r n); try lra.
            replace p with (s + (p - s)) by ring. apply Hbefore. unfold r in *. lra.
          + destruct (Hslope r) as [d [Hd Hle]]; [unfold r; lra|exact Hr|].
            destruct (derivative_below f r d (B + eps) Hd ltac:(lra)) as [e [He [Hleft _]]].
            set (p := Rmax s (r - e / 2)).
            assert (s <= p) by apply Rmax_l. assert (r - e / 2 <= p) by apply Rmax_r.
            assert (p < r) by (apply Rmax_lub_lt; unfold r in *; lra).
            apply (risen_on p r); [|lra|apply Hleft; lra].
            replace p with (s + (p - s)) by ring. apply Hbefore. unfold r in *. lra.
        - intros u Hu Hup. set (r := s + u). assert (Hr0 : risen r) by (apply Hup; lra).
          destruct (classic (N r)) as [Hr|Hr].
          + destruct (Hcover r Hr) as [n Hn]. exists (b n - r). split; [lra|].
            intros p Hp. apply (risen_across r _ n); auto; unfold r in *; lra.
          + destruct (Hslope r) as [d [Hd Hle]]; [unfold r; lra|exact Hr|].
            destruct (derivative_below f r d (B + eps) Hd ltac:(lra)) as [e [He [_ Hright]]].
            exists e. split; [exact He|]. intros p Hp.
            apply (risen_on r); [exact Hr0|unfold r; lra|]. apply Hright. unfold r in *. lra. }
      replace t with (s + (t - s)) by ring. apply Hall. lra.
    Qed.
  End Cover.

  Lemma rise_closed T :
    0 <= s -> t <= T -> absolutely_continuous T f -> negligible N -> f t - f s <= B * (t - s).
  Proof.
    intros Hs HtT Hac Hneg. apply Rnot_lt_le. intros Hlt.
    set (gap := f t - f s - B * (t - s)). set (k := t - s + Rabs B + 2).
    assert (Hk : 0 < k) by (assert (H := Rabs_pos B); unfold k; lra).
    set (eps := Rmin 1 (gap / (2 * k))).
    assert (Hgap : 0 < gap) by (unfold gap; lra).
    assert (Heps : 0 < eps) by (apply Rmin_pos; [lra|apply Rdiv_lt_0_compat; lra]).
    assert (Heps1 : eps <= 1) by apply Rmin_l.
    assert (Hek : eps * k <= gap / 2).
    { replace (gap / 2) with (gap / (2 * k) * k) by (field; lra).
      apply Rmult_le_compat_r; [lra|apply Rmin_r]. }
    destruct (Hac eps Heps) as [delta [Hdelta Hvar]].
    set (small := Rmin eps (delta / 2)).
    assert (Hsmall : 0 < small) by (apply Rmin_pos; lra).
    assert (small <= eps) by apply Rmin_l. assert (small <= delta / 2) by apply Rmin_r.
    destruct (Hneg small Hsmall) as [a [b [Hab [Hsum Hcover]]]].
    destruct (risen_all eps a b Heps Hcover) as [l [H1 [H2 H3]]].
    destruct (common_number l (fun i n => a n <= fst i /\ snd i <= b n) H2) as [n Hn].
    assert (Hlen := lengths_covered a b n s t l Hab H1 Hn). specialize (Hsum n).
    assert (Hlen0 := lengths_nonneg s t l H1).
    assert (Hv : variation f l < eps).
    { apply Hvar; [|lra]. apply (intervals_to 0 t); [|exact HtT]. now apply (intervals_from s). }
    assert (HB : - (B + eps) * lengths l <= (Rabs B + 1) * eps).
    { apply Rle_trans with ((Rabs B + 1) * lengths l).
      - apply Rmult_le_compat_r; [exact Hlen0|].
        assert (Ha := Rle_abs (- B)). rewrite Rabs_Ropp in Ha. lra.
      - apply Rmult_le_compat_l; [assert (Ha := Rabs_pos B); lra|lra]. }
    unfold gap, k in *. lra.
  Qed.
End Rise.

Lemma absolutely_continuous_near T f eps :
  absolutely_continuous T f -> 0 < eps ->
  exists delta, 0 < delta /\
    forall s t, 0 <= s <= t -> t <= T -> t - s < delta -> Rabs (f t - f s) < eps.
Proof.
  intros Hac Heps. destruct (Hac eps Heps) as [delta [Hd Hv]]. exists delta. split; [exact Hd|].
  intros s t Hst HtT Hlt. specialize (Hv [(s, t)]). simpl in Hv.
  specialize (Hv ltac:(lra) ltac:(lra)). lra.
Qed.

Theorem rise T f N B s t :
  absolutely_continuous T f -> negligible N -> 0 <= s <= t -> t <= T ->
  (forall r, s < r < t -> ~ N r -> exists d, derivable_pt_lim f r d /\ d <= B) ->
  f t - f s <= B * (t - s).
Proof.
  intros Hac Hneg Hst HtT Hslope.
  destruct (Req_dec s t) as [->|Hne]; [lra|].
  apply Rnot_lt_le. intros Hlt. set (gap := f t - f s - B * (t - s)).
  assert (Hgap : 0 < gap) by (unfold gap; lra).
  destruct (absolutely_continuous_near T f (gap / 4) Hac ltac:(lra)) as [delta [Hd Hnear]].
  set (k := Rabs B + 1). assert (Hk : 0 < k) by (assert (H := Rabs_pos B); unfold k; lra).
  set (h := Rmin (delta / 2) (Rmin ((t - s) / 4) (gap / (8 * k)))).
  assert (Hh : 0 < h).
  { apply Rmin_pos; [lra|]. apply Rmin_pos; [lra|]. apply Rdiv_lt_0_compat; lra. }
  assert (H1 : h <= delta / 2) by apply Rmin_l.
  assert (H23 : h <= Rmin ((t - s) / 4) (gap / (8 * k))) by apply Rmin_r.
  assert (H2 : h <= (t - s) / 4) by (eapply Rle_trans; [exact H23|apply Rmin_l]).
  assert (H3 : h <= gap / (8 * k)) by (eapply Rle_trans; [exact H23|apply Rmin_r]).
  assert (H4 : h * k <= gap / 8).
  { replace (gap / 8) with (gap / (8 * k) * k) by (field; lra). apply Rmult_le_compat_r; lra. }
  assert (Hmiddle : f (t - h) - f (s + h) <= B * (t - h - (s + h))).
  { apply (rise_closed f N B (s + h) (t - h)) with (T := T); auto; try lra.
    intros r Hr. apply Hslope. lra. }
  assert (Hleft := Hnear s (s + h) ltac:(lra) ltac:(lra) ltac:(lra)).
  assert (Hright := Hnear (t - h) t ltac:(lra) ltac:(lra) ltac:(lra)).
  apply Rabs_def2 in Hleft. apply Rabs_def2 in Hright.
  assert (HB : - B * h <= h * k).
  { rewrite (Rmult_comm h k). apply Rmult_le_compat_r; [lra|].
    assert (Ha := Rle_abs (- B)). rewrite Rabs_Ropp in Ha. unfold k. lra. }
  unfold gap in *. lra.
Qed.

(** * Sums and products *)

Lemma absolutely_continuous_constant T c : absolutely_continuous T (fun _ => c).
Proof.
  intros eps Heps. exists 1. split; [lra|]. intros l _ _.
  assert (H : variation (fun _ => c) l = 0); [|lra].
  induction l as [|i l IH]; [reflexivity|]. simpl. fold (variation (fun _ => c) l).
  rewrite IH, Rminus_diag_eq, Rabs_R0 by reflexivity. lra.
Qed.

(* What varies no more than k times two absolutely continuous functions is one, too. *)
Lemma absolutely_continuous_by T f g h k :
  absolutely_continuous T f -> absolutely_continuous T g -> 0 < k ->
  (forall s t, 0 <= s <= t -> t <= T ->
     Rabs (h t - h s) <= k * (Rabs (f t - f s) + Rabs (g t - g s))) ->
  absolutely_continuous T h.
Proof.
  intros Hf Hg Hk Hle eps Heps. set (e := eps / (2 * k)).
  assert (He : 0 < e) by (apply Rdiv_lt_0_compat; lra).
  destruct (Hf e He) as [d1 [Hd1 H1]]. destruct (Hg e He) as [d2 [Hd2 H2]].
  exists (Rmin d1 d2). split; [now apply Rmin_pos|]. intros l Hl Hlen.
  assert (Rmin d1 d2 <= d1) by apply Rmin_l. assert (Rmin d1 d2 <= d2) by apply Rmin_r.
  specialize (H1 l Hl ltac:(lra)). specialize (H2 l Hl ltac:(lra)).
  assert (Hvar : variation h l <= k * (variation f l + variation g l)).
  { assert (Hin := intervals_in _ _ _ Hl). clear - Hle Hin.
    induction l as [|i l IH]; simpl; [lra|].
    fold (variation f l) (variation g l) (variation h l).
    assert (Hi := Hin i (or_introl eq_refl)).
    specialize (Hle (fst i) (snd i) ltac:(lra) ltac:(lra)).
    specialize (IH ltac:(intros j Hj; apply Hin; now right)). lra. }
  apply Rle_lt_trans with (1 := Hvar).
  replace eps with (k * (e + e)) by (unfold e; field; lra).
  apply Rmult_lt_compat_l; lra.
Qed.

Lemma absolutely_continuous_sum T f g :
  absolutely_continuous T f -> absolutely_continuous T g ->
  absolutely_continuous T (fun t => f t + g t).
Proof.
  intros Hf Hg. apply (absolutely_continuous_by T f g _ 1 Hf Hg); [lra|]. intros s t _ _.
  replace (f t + g t - (f s + g s)) with ((f t - f s) + (g t - g s)) by ring.
  assert (H := Rabs_triang (f t - f s) (g t - g s)). lra.
Qed.

Lemma absolutely_continuous_scaled T c f :
  absolutely_continuous T f -> absolutely_continuous T (fun t => c * f t).
Proof.
  intros Hf. assert (Hc := Rabs_pos c).
  apply (absolutely_continuous_by T f f _ (Rabs c + 1) Hf Hf); [lra|]. intros s t _ _.
  replace (c * f t - c * f s) with (c * (f t - f s)) by ring. rewrite Rabs_mult.
  assert (H := Rabs_pos (f t - f s)).
  assert (0 <= Rabs c * Rabs (f t - f s)) by now apply Rmult_le_pos. lra.
Qed.

(** * Straight lines *)

Lemma nothing_negligible : negligible (fun _ => False).
Proof.
  intros eps Heps. exists (fun _ => 0), (fun _ => 0).
  split; [intros n; lra|]. split; [|easy].
  intros n. induction n as [|n IH]; simpl in *; lra.
Qed.

Lemma line_absolutely_continuous T a b : absolutely_continuous T (fun t => a + t * b).
Proof.
  apply (absolutely_continuous_sum T (fun _ => a) (fun t => t * b)).
  - apply absolutely_continuous_constant.
  - intros eps Heps. assert (Hb := Rabs_pos b). exists (eps / (Rabs b + 1)).
    split; [apply Rdiv_lt_0_compat; lra|]. intros l Hl Hlen.
    assert (Hv : variation (fun t => t * b) l = Rabs b * lengths l).
    { assert (Hin := intervals_in _ _ _ Hl). clear - Hin.
      induction l as [|i l IH]; simpl; [lra|].
      fold (lengths l) (variation (fun t => t * b) l).
      rewrite IH by (intros j Hj; apply Hin; now right).
      assert (Hi := Hin i (or_introl eq_refl)).
      replace (snd i * b - fst i * b) with ((snd i - fst i) * b) by ring.
      rewrite Rabs_mult, (Rabs_right (snd i - fst i)) by lra. ring. }
    rewrite Hv. assert (Hl0 := lengths_nonneg _ _ _ Hl).
    apply Rle_lt_trans with ((Rabs b + 1) * lengths l); [lra|].
    replace eps with ((Rabs b + 1) * (eps / (Rabs b + 1))) by (field; lra).
    apply Rmult_lt_compat_l; lra.
Qed.

(** * Continuity beyond the ends *)

(* The nearest time between 0 and T. *)
Definition clamp (T t : R) : R := Rmax 0 (Rmin T t).

Lemma clamp_inside T t : 0 <= t <= T -> clamp T t = t.
Proof. intros H. unfold clamp. rewrite Rmin_right, Rmax_right; lra. Qed.

Lemma clamp_range T t : 0 <= T -> 0 <= clamp T t <= T.
Proof.
  intros H. unfold clamp. split; [apply Rmax_l|].
  apply Rmax_lub; [exact H|apply Rmin_l].
Qed.

Lemma clamp_near T s t : Rabs (clamp T t - clamp T s) <= Rabs (t - s).
Proof.
  assert (Hone : forall p q, p <= q -> 0 <= clamp T q - clamp T p <= q - p).
  { intros p q Hpq. unfold clamp, Rmax, Rmin.
    destruct (Rle_dec T p), (Rle_dec T q);
      repeat match goal with
             | |- context [Rle_dec ?a ?b] => destruct (Rle_dec a b)
             end; lra. }
  destruct (Rle_or_lt s t) as [Hst|Hst].
  - specialize (Hone s t Hst). rewrite !Rabs_right; lra.
  - specialize (Hone t s ltac:(lra)). rewrite !Rabs_left1; lra.
Qed.

Lemma clamped_continuous T f t :
  0 <= T -> absolutely_continuous T f -> continuity_pt (fun s => f (clamp T s)) t.
Proof.
  intros HT Hac eps Heps.
  destruct (absolutely_continuous_near T f eps Hac Heps) as [delta [Hd Hnear]].
  exists delta. split; [exact Hd|]. intros s [_ Hs]. simpl in *. unfold R_dist in *.
  assert (H1 := clamp_near T t s). assert (H2 := clamp_range T t HT).
  assert (H3 := clamp_range T s HT).
  destruct (Rle_dec (clamp T t) (clamp T s)) as [Hle|Hgt].
  - apply Hnear; [lra|lra|]. rewrite Rabs_right in H1; lra.
  - rewrite <- Rabs_Ropp, Ropp_minus_distr. apply Hnear; [lra|lra|]. rewrite Rabs_left in H1; lra.
Qed.

Lemma absolutely_continuous_bounded T f :
  0 <= T -> absolutely_continuous T f -> exists M, 0 < M /\ forall t, 0 <= t <= T -> Rabs (f t) <= M.
Proof.
  intros HT Hac. set (g := fun s => f (clamp T s)).
  assert (Hc : forall t, 0 <= t <= T -> continuity_pt g t).
  { intros t _. now apply clamped_continuous. }
  destruct (continuity_ab_maj g 0 T HT Hc) as [p [Hp _]].
  destruct (continuity_ab_min g 0 T HT Hc) as [q [Hq _]].
  exists (Rabs (g p) + Rabs (g q) + 1). assert (H1 := Rabs_pos (g p)). assert (H2 := Rabs_pos (g q)).
  split; [lra|]. intros t Ht. specialize (Hp t Ht). specialize (Hq t Ht).
  assert (Hg : g t = f t) by (unfold g; now rewrite clamp_inside). rewrite Hg in *.
  assert (H3 := Rle_abs (g p)). assert (H4 := Rle_abs (- g q)). rewrite Rabs_Ropp in H4.
  apply Rabs_le. lra.
Qed.

Lemma absolutely_continuous_product T f g :
  0 <= T -> absolutely_continuous T f -> absolutely_continuous T g ->
  absolutely_continuous T (fun t => f t * g t).
Proof.
  intros HT Hf Hg.
  destruct (absolutely_continuous_bounded T f HT Hf) as [M [HM HfM]].
  destruct (absolutely_continuous_bounded T g HT Hg) as [K [HK HgK]].
  apply (absolutely_continuous_by T f g _ (M + K) Hf Hg); [lra|]. intros s t Hs Ht.
  replace (f t * g t - f s * g s) with ((f t - f s) * g t + f s * (g t - g s)) by ring.
  eapply Rle_trans; [apply Rabs_triang|]. rewrite !Rabs_mult.
  assert (H1 := Rabs_pos (f t - f s)). assert (H2 := Rabs_pos (g t - g s)).
  assert (Rabs (f t - f s) * Rabs (g t) <= Rabs (f t - f s) * K).
  { apply Rmult_le_compat_l; [exact H1|]. apply HgK. lra. }
  assert (Rabs (f s) * Rabs (g t - g s) <= M * Rabs (g t - g s)).
  { apply Rmult_le_compat_r; [exact H2|]. apply HfM. lra. }
  assert (0 <= M * Rabs (f t - f s)) by (apply Rmult_le_pos; lra).
  assert (0 <= K * Rabs (g t - g s)) by (apply Rmult_le_pos; lra). lra.
Qed.
