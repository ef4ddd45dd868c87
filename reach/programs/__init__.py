"""Linear and semidefinite programs: the doors to their solvers, and exact answers through them."""
