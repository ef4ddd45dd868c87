/* One stretch of continuous time; specified by `simulate/stepping/reference/core.py`. */
#ifndef CHARON_ADVANCE_H
#define CHARON_ADVANCE_H

#include "roots.h"
#include "tape.h"

#define MAX_ORDER 12
#define START_ORDER 6
#define HISTORY (MAX_ORDER + 3)
#define TOUCH 2.0 /* a guard missed, or passed, by so many tolerances is touched */

enum { TOKEN_AND = -1, TOKEN_OR = -2, TOKEN_TRUE = -3, TOKEN_FALSE = -4 };
enum { EXTRAPOLATION, INTERPOLATION, ENDPOINT };
enum verdict { GOOD, BEYOND, SINGULAR, INACCURATE }; /* of a trial step */
enum stop { STOP_END, STOP_EVENT, STOP_NOT_FINITE, STOP_STEP_TOO_SMALL, STOP_STEP_LIMIT };

typedef struct {
    int taylor, max_order, detection, dense;
    long max_steps;
    double rtol, atol, max_step;
} Method;

typedef struct { double *data; size_t count, room; } Doubles;
typedef struct { int *data; size_t count, room; } Ints;

typedef struct {
    const Program *p;
    const Method *method;
    int n, active_count, first, order, degree, taylor_order, points;
    int started, stale; /* whether there is a history, and whether it lacks the last state */
    const int *active;
    int landing, measured; /* whether the step ends at a guard; whether its error was measured */
    int proved; /* whether the flow has values all along the last step */
    int shortest; /* whether no shorter step can be told by the clock */
    double t, until, h, h_before, next; /* next: the step that is planned */
    double trusted, regular; /* of a series: up to where its terms are small, its flow has values */
    double excess; /* by how much the measured error exceeds the estimated one */
    long steps, rejected, evaluations, guard_evaluations, beyond, singular;
    double times[HISTORY], basis[HISTORY + 1][HISTORY + 1];
    /* one block of memory, cut into: */
    double *block;
    double *r, *spread, *noise, *series, *x, *trial_x, *f, *poly, *differences, *rows, *inside, *extra;
    double *values, *trial, *scale, *eps, *candidates, *inverse_weight, *low, *high;
    Intervals *found;
    int *filled, *fired, *grazing;
    char *used, *departing, *outside, *was_true, *truth, *stack, *open, *at_end;
    char *gaps; /* registers that may have no value somewhere in their range */
    char *needed, *wanted; /* guard instructions and registers that the watches depend on */
    int fired_count, grazing_count;
    Doubles out_times, out_coefficients;
    Ints out_degrees;
} Core;

/* Allocate for a state; look at the given watches until a time (again and again); release.
 * `core_run` returns a stop code; all return -1 with a Python exception set on failure. */
int core_open(Core *core, const Program *p, const Method *method, double t, const double *x,
              const double *held);
void core_watch(Core *core, double until, const int *active, int active_count);
int core_run(Core *core);
void core_close(Core *core);

/* At one point, outside the loop: the values of the atoms' expressions, and whether the first
 * watch holds within tolerance. `given` are the flowing, then the held values. Both return -1
 * with a Python exception set on failure. */
int point_values(const Program *p, double t, const double *given, double *values);
int point_holds(const Program *p, double t, const double *given, double rtol, double atol);

static inline double *core_row(const Core *core, int reg)
{
    return core->series + (size_t)reg * STRIDE;
}

/* Shared between the files of the core. Those that return an int return -1 with a Python
 * exception set on failure. */
int core_guards(Core *core, double t, const double *x, double *values);
int core_flow(Core *core, double t, const double *x, double *f);
int core_beyond(Core *core, const double *values); /* unilateral watches; into `fired` */
/* Whether an atom begins to have a value between the last state and the one with these values,
 * or changes by more than its tolerance. */
int core_jumps(const Core *core, int k, const double *values);
int core_holds(Core *core, int watch, const char *truth);
int core_plan(Core *core, double h, double *limit);
int core_span(const Core *core, int degree);
double core_intervals(Core *core, int k, double h, Intervals *found); /* the trusted step */
double core_nearest(Core *core, int k, double h);
int core_ranges(Core *core, const Instruction *tape, int count, double a, double b);
double core_regular(Core *core, double h); /* negative on failure */
int core_verified(Core *core, double h, double *limit);
double core_least(const Core *core);
int core_begin(Core *core, double shorter, int *good);
void core_predictor(Core *core);
int core_try(Core *core, double t, double h, double *error); /* a verdict */
void core_at(const Core *core, double h, double *x);
void core_choose(Core *core, double error, double h);
void core_differences(Core *core, double t, int top);
int core_record(Core *core, double h); /* the piece of a step */
int append_doubles(Doubles *list, const double *values, size_t count);
void core_newly_true(Core *core, const double *values);
int core_locate(Core *core, double start, double *t, double *x);
extern const double INVERSE[STRIDE]; /* 1/k */
int all_finite(const double *values, int count);
PyObject *core_result(const Core *core, int stop); /* a stretch as Python sees it */
#endif
