"""The stepping core in plain Python, bit for bit the same: the oracle that the tests compare
`simulate/core` with, and what runs where that was not compiled (`simulate.stepping.engine`)."""
