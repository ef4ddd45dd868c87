/* Two rates inside one system: many small steps of the fast variables for each large step of
 * the slow ones; see `simulate/stepping/multirate.py`.
 *
 * One large step: the slow variables are extrapolated over it (Adams predictor); the fast
 * ones are integrated along this polynomial, with all events; then the slow step is corrected
 * with the fast values at its end, and repeated from the start with a smaller step if its
 * error is too large. The slow variables that the fast part reads are variables of the fast
 * program too, with the derivative of the polynomial as their flow. */
#include "multirate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define UNPROFITABLE 4 /* fewer small steps than this for a large one are not worth it ... */
#define PATIENCE 8     /* ... if it happens so often in a row */

int pair_room_for(void **data, size_t *room, size_t count, size_t size)
{
    void *new;
    if (count <= *room)
        return 0;
    new = realloc(*data, 2 * count * size);
    if (new == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    *data = new;
    *room = 2 * count;
    return 0;
}

void pair_hold(Core *core, int i, double value)
{
    int at = 1 + core->n + i;
    core->r[at] = core->series[(size_t)at * STRIDE] = value;
}

/* The fast values as they are now, for the slow program. */
void pair_show_fast(Pair *p)
{
    int i;
    for (i = 0; i < p->fast_count; i++)
        pair_hold(&p->slow, p->held_count + i, p->fast.x[i]);
}

/* A history of the slow derivatives from states (newest first) of the whole. */
int pair_remember(Pair *p, const double *times, const double *states, int count)
{
    Core *slow = &p->slow;
    int n = slow->n, whole = p->fast_count + p->slow_count, i, j, k;
    double *table = slow->rows;
    for (k = 0; k < count; k++) {
        const double *state = states + (size_t)k * whole;
        for (i = 0; i < p->fast_count; i++)
            pair_hold(slow, p->held_count + i, state[p->fast_at[i]]);
        for (i = 0; i < n; i++)
            slow->trial_x[i] = state[p->slow_at[i]];
        if (core_flow(slow, times[k], slow->trial_x, table + (size_t)k * n) < 0)
            return -1;
        slow->times[k] = times[k];
    }
    memcpy(slow->differences, table, n * sizeof(double));
    for (j = 1; j < count; j++) {
        for (k = 0; k < count - j; k++)
            for (i = 0; i < n; i++)
                table[(size_t)k * n + i] =
                    (table[(size_t)k * n + i] - table[(size_t)(k + 1) * n + i]) /
                    (times[k] - times[k + j]);
        memcpy(slow->differences + (size_t)j * n, table, n * sizeof(double));
    }
    slow->order = slow->points = count;
    slow->h = slow->h_before = times[0] - times[1];
    slow->started = 1;
    return 0;
}

/* Let the fast program see the slow predictor from the present time on. */
static void prepare_fast(Pair *p, double t)
{
    Core *fast = &p->fast, *slow = &p->slow;
    int n = slow->n, j, m;
    fast->t = t;
    fast->started = fast->stale = 0;
    pair_hold(fast, p->held_count, t);
    for (j = 0; j < p->shared_count; j++) {
        fast->x[p->fast_count + j] = slow->x[p->shared[j]];
        for (m = 1; m <= p->degree; m++)
            pair_hold(fast, p->held_count + 1 + j * p->degree + m - 1,
                 m <= slow->degree ? m * slow->poly[(size_t)m * n + p->shared[j]] : 0.0);
    }
}

/* Keep, and bring back, all of the slow core that a step changes for good. */
static void save(Pair *p)
{
    int n = p->slow_count;
    p->saved_core = p->slow;
    memcpy(p->saved, p->slow.x, n * sizeof(double));
    memcpy(p->saved + n, p->slow.differences, (size_t)n * HISTORY * sizeof(double));
}

static void restore(Pair *p)
{
    Doubles times = p->slow.out_times, coefficients = p->slow.out_coefficients;
    Ints degrees = p->slow.out_degrees;
    int n = p->slow_count;
    p->slow = p->saved_core;
    memcpy(p->slow.x, p->saved, n * sizeof(double));
    memcpy(p->slow.differences, p->saved + n, (size_t)n * HISTORY * sizeof(double));
    p->slow.out_times = times;
    p->slow.out_coefficients = coefficients;
    p->slow.out_degrees = degrees;
    core_predictor(&p->slow);
}

/* The shifted polynomial of the slow variable i of the last large step. */
static void slow_piece(const Pair *p, int i, double s, int degree, double *out)
{
    int width = p->slow.out_degrees.data[0] + 1, j, k;
    memset(out, 0, (degree + 1) * sizeof(double));
    memcpy(out, p->slow.out_coefficients.data + (size_t)i * width, width * sizeof(double));
    for (j = 0; j < width - 1; j++)
        for (k = width - 2; k >= j; k--)
            out[k] += s * out[k + 1];
}

/* Dense output of a large step: a piece of the whole for every small step. */
static int record(Pair *p, double begun)
{
    const Core *fast = &p->fast;
    int whole = p->fast_count + p->slow_count, i;
    const double *c = fast->out_coefficients.data;
    size_t k;
    for (k = 0; k < fast->out_degrees.count; k++) {
        int own = fast->out_degrees.data[k], degree = own;
        double *out;
        if (p->slow.out_degrees.data[0] > degree)
            degree = p->slow.out_degrees.data[0];
        if (pair_room_for((void **)&p->times.data, &p->times.room, p->times.count + 2,
                     sizeof(double)) < 0 ||
            pair_room_for((void **)&p->degrees.data, &p->degrees.room, p->degrees.count + 1,
                     sizeof(int)) < 0 ||
            pair_room_for((void **)&p->coefficients.data, &p->coefficients.room,
                     p->coefficients.count + (size_t)whole * (degree + 1), sizeof(double)) < 0)
            return -1;
        p->times.data[p->times.count++] = fast->out_times.data[k];
        p->degrees.data[p->degrees.count++] = degree;
        out = p->coefficients.data + p->coefficients.count;
        p->coefficients.count += (size_t)whole * (degree + 1);
        for (i = 0; i < p->fast_count; i++) {
            double *row = out + (size_t)p->fast_at[i] * (degree + 1);
            memset(row, 0, (degree + 1) * sizeof(double));
            memcpy(row, c + (size_t)i * (own + 1), (own + 1) * sizeof(double));
        }
        for (i = 0; i < p->slow_count; i++)
            slow_piece(p, i, fast->out_times.data[k] - begun, degree,
                       out + (size_t)p->slow_at[i] * (degree + 1));
        c += (size_t)fast->n * (own + 1);
    }
    return 0;
}

/* One step of the slow core to `end`, with the fast values there; 1 done, 0 too large, -1. */
static int correct_slow(Pair *p, double end)
{
    Core *slow = &p->slow;
    int stop;
    pair_show_fast(p);
    slow->out_times.count = slow->out_degrees.count = slow->out_coefficients.count = 0;
    slow->until = end;
    if (slow->h < end - slow->t)
        slow->h = end - slow->t; /* by rounding */
    p->large.max_steps = slow->steps + 1;
    stop = core_run(slow);
    if (stop < 0)
        return -1;
    return (stop == STOP_END || stop == STOP_STEP_LIMIT) && slow->t == end;
}

/* Bring the predictor of the slow core up to date; a stop code. */
static int peek(Pair *p)
{
    p->slow.until = p->until;
    p->large.max_steps = p->slow.steps;
    p->slow.out_times.count = p->slow.out_degrees.count;
    return core_run(&p->slow);
}

/* The small steps of a large one; a stop code or -1. */
static int run_fast(Pair *p, double end, int count)
{
    Core *fast = &p->fast;
    int stop;
    memcpy(p->start, fast->x, p->fast_count * sizeof(double));
    prepare_fast(p, p->slow.t);
    core_watch(fast, end, p->active, count);
    p->small.max_steps = p->limit - p->tally[0];
    stop = core_run(fast);
    p->tally[0] += fast->steps;
    p->tally[1] += fast->rejected;
    p->tally[2] += fast->evaluations;
    p->tally[3] += fast->guard_evaluations;
    p->tally[4] += fast->beyond;
    p->tally[5] += fast->singular;
    return stop;
}

/* Undo a large step that was too large; the step to try instead. */
static double undo(Pair *p, double t)
{
    double shorter = p->slow.t - t, tried = p->fast.t - t;
    restore(p);
    memcpy(p->fast.x, p->start, p->fast_count * sizeof(double));
    p->fast.t = t;
    p->tally[1]++;
    return shorter > 0.0 && shorter < 0.9 * tried ? shorter : 0.5 * tried;
}

/* Large steps until something happens; a stop code or -1. */
int pair_run(Pair *p, int count, int dense)
{
    Core *fast = &p->fast, *slow = &p->slow;
    int poor = 0, good, stop = peek(p);
    double h = INFINITY;
    p->large.dense = p->small.dense = dense;
    while (stop == STOP_STEP_LIMIT) { /* the slow core waits for its next step */
        double t = slow->t;
        h = h < slow->h ? h : slow->h;
        save(p);
        stop = run_fast(p, h >= p->until - t ? p->until : t + h, count);
        if (stop < 0)
            return -1;
        good = fast->t > t ? correct_slow(p, fast->t) : 1;
        if (good < 0)
            return -1;
        if (!good) {
            h = undo(p, t);
            stop = h > 1e-14 * (fabs(t) + h) ? STOP_STEP_LIMIT : STOP_STEP_TOO_SMALL;
            continue;
        }
        if (dense && fast->t > t && record(p, t) < 0)
            return -1;
        p->large_steps += fast->t > t;
        if (stop != STOP_END || fast->t >= p->until)
            return stop;
        poor = fast->steps < UNPROFITABLE ? poor + 1 : 0;
        h = INFINITY;
        stop = peek(p);
        if (stop == STOP_STEP_LIMIT && poor >= PATIENCE)
            return STOP_UNPROFITABLE;
    }
    return stop;
}

/* The work of both cores, as that of the fast one. */
void pair_note_work(Pair *p, int stop)
{
    Core *fast = &p->fast;
    fast->steps = p->tally[0];
    fast->rejected = p->tally[1];
    fast->evaluations = p->tally[2] + p->slow.evaluations;
    fast->guard_evaluations = p->tally[3];
    fast->beyond = p->tally[4];
    fast->singular = p->tally[5];
    if (stop != STOP_EVENT)
        fast->fired_count = fast->grazing_count = 0;
}
