(* Polyhedral invariants: their certificates, and the function that checks them.

   Interface
     automaton, location, edge, dynamics, row, form   the problem            (Semantics.v)
     affine, cell, region                             the invariant
     multipliers, facet, cover                        evidence for one obligation
     region_evidence, polyhedral_certificate          evidence for all of them
     check_polyhedral : automaton -> polyhedral_certificate -> bool        the entry point
     polyhedral_sound : check_polyhedral a cert = true -> safe a      (PolyhedralSound.v)

   Numbers are rationals with positive denominators, not necessarily in lowest terms. Lists go by
   position: evidence lists are as long as what they speak about, only lists of coefficients and
   of multipliers may end early (what is left out is 0). Booleans in signs: true for h <= 0. *)

From Coq Require Import QArith Qreduction List Bool Arith.
From Kernel Require Import Semantics Farkas.
Import ListNotations.
Open Scope Q_scope.

(** * The invariant *)

(* intercept + gradient.x *)
Record affine := Affine { intercept : Q; gradient : list Q }.

(* The states where each predicate h of the region has the sign that is said, h <= 0 for true and
   h >= 0 for false, and k <= 0 for all k of the part. *)
Record cell := Cell { signs : list bool; part : list affine }.

(* The union of its cells, where e <= 0 for all exits e. Flow stays in the union until an exit
   ceases to hold; then another region takes over whose own exits e hold by its margin,
   e <= - margin. The invariant of a location is the union of its regions. *)
Record region := Region
  { predicates : list affine; cells : list cell; exits : list affine; margin : Q }.

(** * Evidence *)

(* Why flow does not leave a cell through the facet where its row r is 0. Below, r_j are the rows
   of the cell that flow must keep, g_j those of invariant, exits and dynamics. *)
Inductive facet :=
  (* r' <= mu r + sum own_j r_j + sum others_j g_j, so r' is at most 0 on the facet *)
| Inward (mu : Q) (own others : multipliers)
  (* 0 < mu r + sum own_j r_j + sum others_j g_j, so the facet is empty *)
| Empty (mu : Q) (own others : multipliers)
  (* r <= sum others_j g_j, so r is never positive *)
| Implied (others : multipliers)
  (* flow goes on in the cell beyond, of that number: for each k of its part (mu, own, others) such
     that k <= mu r + sum own_j r_j + sum others_j g_j, without rows of dynamics *)
| HandedOver (beyond : nat) (proofs : list (Q * multipliers * multipliers)).

(* Why all states that satisfy some rows lie in cells of certain regions. *)
Inductive cover :=
  (* there are no such states *)
| Impossible (ms : multipliers)
  (* they lie in that cell: multipliers for each of its rows *)
| InCell (region_number cell_number : nat) (proofs : list multipliers)
  (* cases h <= 0 and h > 0; with strict_below h < 0 and h >= 0 *)
| Split (h : affine) (strict_below : bool) (below above : cover).

(* The lists of evidence are by cell of the region; then
   - facets: by row of the cell (signs, part), case of the invariant, dynamics;
   - exit_covers: by exit, case of the invariant, dynamics;
   - jump_covers: by edge, case of its relation;
   - safety: by case of the bad states. *)
Record region_evidence := RegionEvidence
  { region_of : region;
    facets : list (list (list (list facet)));
    exit_covers : list (list (list (list cover)));
    jump_covers : list (list (list cover));
    safety : list (list multipliers) }.

(* start_covers: by start, case; region_evidences: by location. *)
Record polyhedral_certificate := PolyhedralCertificate
  { start_covers : list (list cover); region_evidences : list (list region_evidence) }.

(** * Rows of cells *)

(* An affine function of the state before a jump, or after it, as a form. *)
Definition before (h : affine) : form := Form (intercept h) (gradient h) [] [].
Definition after (h : affine) : form := Form (intercept h) [] (gradient h) [].

Definition rows_before (hs : list affine) : list row := map (fun h => Row (before h) false) hs.

Definition opposite (h : affine) : affine :=
  Affine (Qopp (intercept h)) (map Qopp (gradient h)).

Fixpoint signed (s : list bool) (hs : list affine) : list affine :=
  match s, hs with
  | b :: s', h :: hs' => (if b then h else opposite h) :: signed s' hs'
  | _, _ => []
  end.

(* The functions that are <= 0 in a cell: those that flow keeps so, and all. *)
Definition walls (G : region) (c : cell) : list affine :=
  signed (signs c) (predicates G) ++ part c.
Definition borders (G : region) (c : cell) : list affine := walls G c ++ exits G.

(* The same, with the exits moved inwards by the margin. *)
Definition moved_in (G : region) (h : affine) : affine :=
  Affine (intercept h + margin G) (gradient h).
Definition inner_borders (G : region) (c : cell) : list affine :=
  walls G c ++ map (moved_in G) (exits G).

(** * Covers *)

Section Cover.
  (* Of which state affine functions are meant, which functions must be <= 0, in which regions. *)
  Variables (place : affine -> form) (goals : region -> cell -> list affine) (Gs : list region).

  Fixpoint check_cover (rows : list row) (e : cover) : bool :=
    match e with
    | Impossible ms => refutes rows ms
    | InCell g n proofs =>
        match nth_error Gs g with
        | Some G =>
            match nth_error (cells G) n with
            | Some c => all2 (fun h ms => implies rows (place h) ms) (goals G c) proofs
            | None => false
            end
        | None => false
        end
    | Split h strict_below below above =>
        check_cover (rows ++ [Row (place h) strict_below]) below &&
        check_cover (rows ++ [Row (form_scaled (-1) (place h)) (negb strict_below)]) above
    end.
End Cover.

(** * Facets *)

(* The derivative of c.x, where ds are the derivatives of x. *)
Fixpoint along (c : list Q) (ds : list form) : form :=
  match c, ds with
  | a :: c', d :: ds' => form_sum (form_scaled a d) (along c' ds')
  | _, _ => zero_form
  end.

(* mu r + sum own_j r_j + sum others_j g_j *)
Definition facet_bound (own : list affine) (r : affine) (known : list row)
    (mu : Q) (ms ns : multipliers) : form :=
  form_sum (form_sum (form_scaled mu (before r)) (combination ms (forms (rows_before own))))
    (combination ns (forms known)).

Definition sum (l : list Q) : Q := fold_right Qplus' 0 l.

(* That k <= 0 on the facet r = 0, and nearly so near to it. *)
Definition check_beyond (own : list affine) (r : affine) (known : list row) (k : affine)
    (proof : Q * multipliers * multipliers) : bool :=
  let '(mu, ms, ns) := proof in
  let f := form_sum (facet_bound own r known mu ms ns) (form_scaled (-1) (before k)) in
  all_nonneg ms && all_nonneg ns && is_constant f &&
  (is_positive (constant f) || (is_nonneg (constant f) && Qle_bool (mu + sum ms) 1)).

(* The signs beyond the facet of predicate p. *)
Fixpoint flip (p : nat) (s : list bool) : list bool :=
  match p, s with
  | O, b :: s' => negb b :: s'
  | S p', b :: s' => b :: flip p' s'
  | _, [] => []
  end.

Fixpoint same_signs (s t : list bool) : bool :=
  match s, t with
  | [], [] => true
  | b :: s', c :: t' => eqb b c && same_signs s' t'
  | _, _ => false
  end.

(* That flow does not leave cell c of G through its row r, the one of number p, at times when the
   rows of a case of the invariant and those of the dynamics d hold. *)
Definition check_facet (G : region) (c : cell) (p : nat) (r : affine) (rows : list row)
    (d : dynamics) (e : facet) : bool :=
  let own := walls G c in
  let known := (rows ++ rows_before (exits G)) ++ rate_rows d in
  match e with
  | Inward mu ms ns =>
      let f := form_sum (facet_bound own r known mu ms ns)
                 (form_scaled (-1) (along (gradient r) (rates d))) in
      all_nonneg ms && all_nonneg ns && is_constant f && is_nonneg (constant f)
  | Empty mu ms ns =>
      let f := facet_bound own r known mu ms ns in
      all_nonneg ms && all_nonneg ns && is_constant f && is_positive (constant f)
  | Implied ns => implies known (before r) ns
  | HandedOver n proofs =>
      match nth_error (cells G) n with
      | Some D =>
          same_signs (signs D) (flip p (signs c)) &&
          (p <? length (signed (signs c) (predicates G)))%nat &&
          all2 (check_beyond own r rows) (part D) proofs
      | None => false
      end
  end.

(** * Exits *)

Definition not_strict (r : row) : row := Row (row_form r) false.

(* What is known where flow leaves cell c of G through the exit h: h = 0 and h' >= 0. *)
Definition exit_rows (G : region) (c : cell) (h : affine) (rows : list row) (d : dynamics) :=
  rows_before (borders G c) ++ map not_strict (rows ++ rate_rows d) ++
  [Row (form_scaled (-1) (before h)) false;
   Row (form_scaled (-1) (along (gradient h) (rates d))) false].

(** * The checker *)

Fixpoint numbered {A} (n : nat) (l : list A) : list (nat * A) :=
  match l with
  | [] => []
  | a :: l' => (n, a) :: numbered (S n) l'
  end.

Definition regions_of (cert : polyhedral_certificate) (l : nat) : list region :=
  map region_of (nth l (region_evidences cert) []).

(* Flow does not leave the cells of a region but through its exits. *)
Definition check_facets (L : location) (G : region) (e : region_evidence) : bool :=
  all2 (fun c =>
    all2 (fun pr =>
      all2 (fun rows =>
        all2 (check_facet G c (fst pr) (snd pr) rows)
      (flows L)) (invariant L)) (numbered 0 (walls G c))) (cells G) (facets e).

(* Where it leaves through an exit, it is inside one of the regions Gs. *)
Definition check_exits (Gs : list region) (L : location) (G : region) (e : region_evidence) : bool :=
  (match exits G with [] => true | _ => is_positive (margin G) end) &&
  all2 (fun c =>
    all2 (fun h =>
      all2 (fun rows =>
        all2 (fun d => check_cover before inner_borders Gs (exit_rows G c h rows d))
      (flows L)) (invariant L)) (exits G)) (cells G) (exit_covers e).

(* Jumps lead into regions of the target. *)
Definition check_jumps (cert : polyhedral_certificate) (L : location) (G : region) (e : region_evidence) : bool :=
  all2 (fun c =>
    all2 (fun j =>
      all2 (fun rows =>
        check_cover after borders (regions_of cert (target j)) (rows_before (borders G c) ++ rows))
      (relation j)) (edges L)) (cells G) (jump_covers e).

(* No state of a cell is bad. *)
Definition check_safety (L : location) (G : region) (e : region_evidence) : bool :=
  all2 (fun c =>
    all2 (fun rows => refutes (rows_before (borders G c) ++ rows)) (bad L)) (cells G) (safety e).

Definition check_region (cert : polyhedral_certificate) (Gs : list region) (L : location)
    (e : region_evidence) : bool :=
  let G := region_of e in
  check_facets L G e && check_exits Gs L G e && check_jumps cert L G e && check_safety L G e.

(* Every state in which runs may start lies in a region. *)
Definition check_starts (a : automaton) (cert : polyhedral_certificate) : bool :=
  all2 (fun s => all2 (check_cover after borders (regions_of cert (fst s))) (snd s))
    (starts a) (start_covers cert).

Definition check_polyhedral (a : automaton) (cert : polyhedral_certificate) : bool :=
  check_starts a cert &&
  all2 (fun L es => forallb (check_region cert (map region_of es) L) es)
    (locations a) (region_evidences cert).
