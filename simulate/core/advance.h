/* One stretch of continuous time; specified by `simulate/reference.py`. */
#ifndef CHARON_ADVANCE_H
#define CHARON_ADVANCE_H

#include "roots.h"
#include "tape.h"

#define MAX_ORDER 12
#define START_ORDER 6
#define HISTORY (MAX_ORDER + 3)

enum { TOKEN_AND = -1, TOKEN_OR = -2, TOKEN_TRUE = -3, TOKEN_FALSE = -4 };
enum { EXTRAPOLATION, INTERPOLATION, ENDPOINT };
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
    double t, until, h, h_before, next; /* next: the step that is planned */
    long steps, rejected, evaluations, guard_evaluations, beyond, singular;
    double times[HISTORY], basis[HISTORY + 1][HISTORY + 1];
    /* one block of memory, cut into: */
    double *block;
    double *r, *spread, *noise, *series, *x, *trial_x, *f, *poly, *differences, *rows;
    double *values, *trial, *scale, *eps, *candidates, *inverse_weight, *low, *high;
    Intervals *found;
    int *filled, *fired, *grazing;
    char *used, *departing, *was_true, *truth, *stack, *open;
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

/* Shared between the files of the core. */
int core_guards(Core *core, double t, const double *x, double *values);
int core_flow(Core *core, double t, const double *x, double *f);
int core_holds(Core *core, int watch, const char *truth);
int core_plan(Core *core, double h, double *limit);
double core_least(const Core *core);
int core_begin(Core *core, double shorter, int *good);
void core_predictor(Core *core);
extern const double INVERSE[STRIDE]; /* 1/k */
int all_finite(const double *values, int count);
PyObject *core_result(const Core *core, int stop); /* a stretch as Python sees it */
#endif
