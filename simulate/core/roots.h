/* Where a polynomial is non-negative; specified by `simulate/stepping/reference/roots.py`. */
#ifndef CHARON_ROOTS_H
#define CHARON_ROOTS_H

#define MAX_INTERVALS 8

typedef struct { double low, high; } Interval;
typedef struct { int count; Interval at[MAX_INTERVALS]; } Intervals;

void nonnegative(const double *c, int degree, double h, Intervals *found);
#endif
