/* Two rates inside one system; see `simulate/stepping/multirate.py`. */
#ifndef CHARON_MULTIRATE_H
#define CHARON_MULTIRATE_H

#include "advance.h"

#define STOP_UNPROFITABLE 5

typedef struct {
    PyObject *programs[2];
    Core fast, slow;
    Method small, large;
    int fast_count, slow_count, shared_count, held_count, degree; /* degree: of shared flows */
    int *fast_at, *slow_at, *shared; /* numbers in the whole; shared: numbers among the slow */
    double *start, *saved; /* the fast state before a large step; the slow core before it */
    Core saved_core;
    long large_steps, limit, tally[6];
    double until;
    Doubles times, coefficients;
    Ints degrees;
    int *active;
} Pair;

int pair_room_for(void **data, size_t *room, size_t count, size_t size);
void pair_hold(Core *core, int i, double value); /* the value of a held variable */
void pair_show_fast(Pair *p);
int pair_remember(Pair *p, const double *times, const double *states, int count);
int pair_run(Pair *p, int count, int dense); /* a stop code or -1 */
void pair_note_work(Pair *p, int stop);
#endif
