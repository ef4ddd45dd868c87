(* Small automata with certificates of each kind, checked where they are right, and refused where
   they are not. *)

From Coq Require Import QArith List.
From Kernel Require Import
  Semantics Farkas Polyhedral PolyhedralSound Quadratic QuadraticSound Progress
  ProgressSound.
Import ListNotations.
Open Scope Q_scope.

Definition ge (f : form) : row := Row (form_scaled (-1) f) false.

(* A tank: x' in [-1, 1] between 0 and 10, from 5; bad beyond 12. *)
Definition tank (low : Q) : automaton :=
  Automaton
    [Location [[ge (Form 0 [1] [] []); Row (Form (-10) [1] [] []) false]]
       [Dynamics [Form 0 [] [] [1]] [ge (Form 1 [] [] [1]); Row (Form (-1) [] [] [1]) false]]
       [] [[ge (Form (-12) [1] [] [])]; [Row (Form low [1] [] []) false]]]
    [(0%nat, [[ge (Form (-5) [] [1] []); Row (Form (-5) [] [1] []) false]])].

Definition between : region :=
  Region [Affine (-10) [1]] [Cell [true] [Affine 0 [-1]]] [] 0.

Definition tank_proof (m : Q) : polyhedral_certificate :=
  PolyhedralCertificate
    [[InCell 0 0 [[0; 1]; [m]]]]
    [[RegionEvidence between
        [[[[Implied [0; 1]]]; [[Implied [1]]]]]
        [[]] [[]] [[[1; 0; 1]; [0; 1; 1]]]]].

Theorem tank_safe : safe (tank 1).
Proof. apply (polyhedral_sound _ (tank_proof 1)). vm_compute. reflexivity. Qed.

Example bad_state_not_excluded : check_polyhedral (tank 0) (tank_proof 1) = false.
Proof. reflexivity. Qed.
Example multiplier_wrong : check_polyhedral (tank 1) (tank_proof 2) = false.
Proof. reflexivity. Qed.
Example multiplier_negative : check_polyhedral (tank 1) (tank_proof (-1)) = false.
Proof. reflexivity. Qed.

(* A damped oscillator that is pushed: x' = y, y' = - x - 3 y + u, |u| <= 1/10, from the square
   [-1/2, 1/2]^2; the ellipse 2 x x + 2 x y + y y <= 2 is kept, so x < 3/2. *)
Definition oscillator (push : Q) : automaton :=
  Automaton
    [Location [[]]
       [Dynamics [Form 0 [0; 1] [] []; Form 0 [-1; -3] [] [1]]
          [ge (Form push [] [] [1]); Row (Form (- push) [] [] [1]) false]]
       [] [[ge (Form (-3 # 2) [1] [] [])]]]
    [(0%nat, [[ge (Form (1 # 2) [] [1] []); Row (Form (-1 # 2) [] [1] []) false;
               ge (Form (1 # 2) [] [0; 1] []); Row (Form (-1 # 2) [] [0; 1] []) false]])].

(* (x + y)^2 + x^2 - 2 *)
Definition ellipse (size : Q) : quadratic :=
  let s := Affine 0 [1; 1] in let x := Affine 0 [1] in let c := Affine (- size) [] in
  [Monomial 1 s s; Monomial 1 x x; Monomial 1 c (Affine 1 [])].

(* V' = 2 (x + y) (- x - 2 y + u) + 2 x y <= - V / 10 at u = 1/10 and u = - 1/10; with s = x + y
   that is 3.9 s s + 1.9 x x - 4 x s - 2 s u + 1/5 >= 0, here as a sum of squares. *)
Definition squeeze (u : Q) : witness :=
  let s := Form 0 [1; 1] [] [] in
  Witness [] [] []
    [((19 # 10), form_sum (Form 0 [1] [] []) (form_scaled (-20 # 19) s));
     ((341 # 190), form_sum s (Form (- (u * (190 # 341))) [] [] []));
     ((1 # 5) - u * u * (190 # 341), one)] [].

Definition oscillator_proof (push size : Q) : quadratic_certificate :=
  let side := fun i : bool => Some (-1 # 2, 1 # 2, (if i then [1] else [0; 0; 1]),
                                            (if i then [0; 1] else [0; 0; 0; 1])) in
  QuadraticCertificate
    [[AtCorners [side true; side false]]]
    [Some (QuadraticEvidence [ellipse size]
       [[[Ends (Input 0) (- push, push, [1], [0; 1]) (Rate (-1 # 10) (squeeze (- push)))
            (Rate (-1 # 10) (squeeze push))]]]
       []
       [(1 # 4, Witness [1] [3] [] [(1, Form 0 [1; 1] [] []); (1, Form (-3 # 2) [1] [] [])] [])])].

Theorem oscillator_safe : safe (oscillator (1 # 10)).
Proof. apply (quadratic_sound _ (oscillator_proof (1 # 10) 2)). vm_compute. reflexivity. Qed.

Example pushed_more : check_quadratic (oscillator (1 # 5)) (oscillator_proof (1 # 10) 2) = false.
Proof. reflexivity. Qed.
Example starts_outside : check_quadratic (oscillator (1 # 10)) (oscillator_proof (1 # 10) 1) = false.
Proof. reflexivity. Qed.

(* What is said in rows alone allows just that. *)
Definition alone (n : nat) (a : automaton) : system := System n [] [] [] a a.

(* The tank can always wait, with x' = 0; a tank whose flow must be 1 is stuck at 10. *)
Definition tank_waits (m : Q) : progress_certificate :=
  let constant := Inside [0; 0; 1] in
  ProgressCertificate (tank_proof 1) (FirstState 0 0 [] [5] [])
    [[[Wait 0 [[0; 1]; [1]] 0 0 [zero_form]
         [Kept [Affine 0 [-1]] [[0; m]] [Inward 0 [] []] [1]; Falling [1] (Kept [] [] [] []);
          constant; constant]]]].

Theorem tank_goes_on : never_blocks (alone 1 (tank 1)).
Proof. apply (progress_sound (alone 1 (tank 1)) (tank_waits 1)). vm_compute. reflexivity. Qed.

Example not_implied_now : check_progress (alone 1 (tank 1)) (tank_waits 2) = false.
Proof. reflexivity. Qed.
Example no_first_state :
  check_progress (alone 1 (tank 1))
    (ProgressCertificate (tank_proof 1) (FirstState 0 0 [] [6] []) (ways (tank_waits 1))) = false.
Proof. reflexivity. Qed.
Example narrower_tank : check_progress (System 1 [] [] [] (tank 1) (tank (1 # 2))) (tank_waits 1) = true.
Proof. reflexivity. Qed.
Example nothing_allowed :
  check_progress (System 1 [] [] [] (tank 1) (Automaton [Location [] [] [] []] (starts (tank 1))))
    (tank_waits 1) = false.
Proof. reflexivity. Qed.
Example no_whole_first_state :
  let first := FirstState 0 0 [1 # 2] [5] [] in
  let cert := ProgressCertificate (tank_proof 1) first (ways (tank_waits 1)) in
  check_progress (alone 1 (tank 1)) cert = true /\
  check_progress (System 1 [0%nat] [] [] (tank 1) (tank 1)) cert = false.
Proof. split; reflexivity. Qed.

(* x' = u - x, where u is given within [-1, 1], between -1 and 1; if u may be 2, it is stuck at 1. *)
Definition pressed : automaton :=
  let inside := [Row (Form (-1) [1] [] []) false; Row (Form (-1) [-1] [] []) false] in
  Automaton [Location [inside] [Dynamics [Form 0 [-1] [] [1]] []] [] []]
    [(0%nat, [[Row (Form 0 [] [1] []) false; Row (Form 0 [] [-1] []) false]])].

Definition given_to (top : Q) : list row :=
  [Row (Form (- top) [] [] [1]) false; Row (Form (-1) [] [] [-1]) false].

Definition pressed_proof : progress_certificate :=
  let G := Region [] [Cell [] [Affine (-1) [1]; Affine (-1) [-1]]] [] 0 in
  let stays := [[[[Implied [1]]]; [[Implied [0; 1]]]]] in
  let kept h n m := Kept [h] [n] [Inward (-1) [] m] [1] in
  ProgressCertificate
    (PolyhedralCertificate [[InCell 0 0 [[1]; [0; 1]]]] [[RegionEvidence G stays [[]] [[]] [[]]]])
    (FirstState 0 0 [] [0] [])
    [[[Wait 0 [[1]; [0; 1]] 0 0 []
         [kept (Affine (-1) [1]) [1] [1]; kept (Affine (-1) [-1]) [0; 1] [0; 1]]]]].

Theorem pressed_goes_on : never_blocks (System 1 [] [0%nat] (given_to 1) pressed pressed).
Proof. apply (progress_sound _ pressed_proof). vm_compute. reflexivity. Qed.

Example pressed_harder :
  check_progress (System 1 [] [0%nat] (given_to 2) pressed pressed) pressed_proof = false.
Proof. reflexivity. Qed.

(* Between 0 and 1 there is no whole number but these: x rests at both, and nowhere else. *)
Definition rests : automaton :=
  let between := [[Row (Form 0 [] [-1] []) false; Row (Form (-1) [] [1] []) false]] in
  let at_end a := [Row (Form a [-1] [] []) false; Row (Form (-a) [1] [] []) false] in
  Automaton [Location [at_end 0; at_end 1] [Dynamics [] []] [] []] [(0%nat, between)].

Definition rests_proof : progress_certificate :=
  let G := Region [] [Cell [] [Affine 0 [-1]; Affine (-1) [1]]] [] 0 in
  let still := let one := [Inward 0 [] []] in [one; one] in
  let first := Wait 0 [[1]; [0; 0; 1]] 0 0 []
    [Falling [1] (Kept [] [] [] []); Falling [0; 0; 1] (Kept [] [] [] [])] in
  let last := Wait 1 [[0; 0; 1]; [0; 1]] 1 0 []
    [Falling [0; 0; 1] (Kept [] [] [] []); Falling [0; 1] (Kept [] [] [] [])] in
  ProgressCertificate
    (PolyhedralCertificate [[InCell 0 0 [[1]; [0; 1]]]] [[RegionEvidence G [[still; still]] [[]] [[]] [[]]]])
    (FirstState 0 0 [] [1] []) [[[Round (Affine 0 [1]) first last]]].

Example whole_numbers :
  check_progress (System 1 [0%nat] [] [] rests rests) rests_proof = true /\
  check_progress (System 1 [] [] [] rests rests) rests_proof = false.
Proof. split; reflexivity. Qed.

(* x' = 1 up to 2, x' = - x down to 1, in turn; without the edge from cooling runs block. *)
Definition thermostat (cools : list edge) : automaton :=
  let stays := [Row (Form 0 [-1] [1] []) false; Row (Form 0 [1] [-1] []) false] in
  Automaton
    [Location [[Row (Form (-2) [1] [] []) false]] [Dynamics [Form 1 [] [] []] []]
       [Edge 1 [Row (Form 2 [-1] [] []) false :: stays]] [];
     Location [[Row (Form 1 [-1] [] []) false]] [Dynamics [Form 0 [-1] [] []] []] cools []]
    [(0%nat, [[Row (Form (-1) [] [1] []) false; Row (Form 1 [] [-1] []) false]])].

Definition heats : list edge :=
  [Edge 0 [[Row (Form (-1) [1] [] []) false;
            Row (Form 0 [-1] [1] []) false; Row (Form 0 [1] [-1] []) false]]].

Definition thermostat_proof (jumps : list (list cover)) : polyhedral_certificate :=
  let G := Region [] [Cell [] [Affine (-2) [1]; Affine 1 [-1]]] [] 0 in
  let jump := InCell 0 0 [[1; 0; 0; 1]; [0; 1; 0; 0; 1]] in
  PolyhedralCertificate [[InCell 0 0 [[1]; [0; 1]]]]
    [[RegionEvidence G [[[[Implied [1]]]; [[Inward 0 [] []]]]] [[]] [[[jump]]] [[]]];
     [RegionEvidence G [[[[Inward (-1) [] []]]; [[Implied [1]]]]] [[]] [jumps] [[]]]].

Definition thermostat_ways (jumps : list (list cover)) : progress_certificate :=
  let wait := Wait 0 [[0; 0; 1]] 0 0 [] [Inside [0; 0; 1; 1]] in
  let jump := Take 0 0 [Form 0 [1] [] []] [] [[0; 0; 1]; []; []] None in
  ProgressCertificate (thermostat_proof jumps) (FirstState 0 0 [] [1] [])
    [[[Choose (Affine (-2) [1]) true wait jump]]; [[Choose (Affine 1 [-1]) true wait jump]]].

Theorem thermostat_goes_on : never_blocks (alone 1 (thermostat heats)).
Proof.
  apply (progress_sound (alone 1 (thermostat heats))
           (thermostat_ways [[InCell 0 0 [[1; 0; 0; 1]; [0; 1; 0; 0; 1]]]])).
  vm_compute. reflexivity.
Qed.

Example stuck_at_one :
  check_polyhedral (thermostat []) (thermostat_proof []) = true /\
  check_progress (alone 1 (thermostat [])) (thermostat_ways []) = false.
Proof. split; reflexivity. Qed.
