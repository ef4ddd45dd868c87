"""The validated simulator, an oracle independent of `reach`.

How it is built, from the bottom up (each file's docstring is its specification):

- `tape`, `condition`, `program`: expressions become a flat register tape; guards become
  Boolean formulas over smooth sign tests (atoms); a location becomes one `Program`.
- `core/*.c` runs a program: `tape.c` (values, Taylor series, sensitivities), `roots.c` (where
  a polynomial is non-negative), `interval.c` (enclosures), `plan.c` (looking ahead), `adams.c`,
  `advance.c` and `memory.c` (steps).
  `reference` is the same algorithm in Python, bit for bit: the oracle of the tests, and the
  fallback where no compiler was. `engine` is the only door to either; `methods` holds options.
- `place`, `locking`, `calculator`: locations of an automaton made ready, on demand, with
  their watches; `initial`, `signals`, `policy`: where a run starts and what steers it.
- `loop`: the hybrid semantics of one run, from one instant to the next; `run` is the
  interface: `simulate(automaton, until=...) -> Trace`, `prepare` for many runs.

The method. At each step the state is extrapolated by a polynomial made from data at or before
the present time, guards are composed with it, and the step ends where a formula first can
become true. Unilateral guards are approached from one side and the right-hand side is never
evaluated beyond them. Adams steps start from a Taylor series, so that already the first step
after an event looks ahead at high order. Nothing between two steps is skipped: a polynomial's
roots are isolated, not sampled. What the tolerance cannot resolve (a guard missed by less than
the integration error) is not decided either way.
"""
