"""The event loop of a run: from one instant to the next, until the run ends.

An `Instant` is all that a run is at a moment, as one value that is never changed. Everything here
is a function from an instant to a later one, or raises `RunEnded`.

- `instant`: what a run is at a moment, and the scenario, which is the same throughout; `past`: what
  it did so far, of which its trace is made
- `begin`: the first instant; `advance`: the loop, and what follows from any instant
- `flow`: time passes until something happens; then the run reacts:
- `event`: watches fired: a violation, an urgent edge, one that may be taken, a boundary
- `jump`: which edge is taken, and where it leads
- `boundary`: inclusions that give way, parts of the invariant that are touched or landed on
- `input_jump`: what is fed in changes
- `sliding`: onto a surface, and from it again
- `accumulation`: jumps that pile up; `ending`: all other ends, in sentences
"""
