/* Two rates inside one system: many small steps of the fast variables for each large step of
 * the slow ones; see `simulate/multirate.py`.
 *
 * One large step: the slow variables are extrapolated over it (Adams predictor); the fast
 * ones are integrated along this polynomial, with all events; then the slow step is corrected
 * with the fast values at its end, and repeated from the start with a smaller step if its
 * error is too large. The slow variables that the fast part reads are variables of the fast
 * program too, with the derivative of the polynomial as their flow. */
#include "advance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char PROGRAM[] = "simulate._core.Program";
static const char NAME[] = "simulate._multirate.Pair";

#define UNPROFITABLE 4 /* fewer small steps than this for a large one are not worth it ... */
#define PATIENCE 8     /* ... if it happens so often in a row */
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

static void free_pair(Pair *p)
{
    core_close(&p->fast);
    core_close(&p->slow);
    free(p->times.data);
    free(p->coefficients.data);
    free(p->degrees.data);
    PyMem_Free(p->fast_at);
    PyMem_Free(p->slow_at);
    PyMem_Free(p->shared);
    PyMem_Free(p->start);
    PyMem_Free(p->saved);
    PyMem_Free(p->active);
    Py_XDECREF(p->programs[0]);
    Py_XDECREF(p->programs[1]);
    PyMem_Free(p);
}

static void destroy(PyObject *capsule) { free_pair(PyCapsule_GetPointer(capsule, NAME)); }

static int room_for(void **data, size_t *room, size_t count, size_t size)
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

static void hold(Core *core, int i, double value)
{
    int at = 1 + core->n + i;
    core->r[at] = core->series[(size_t)at * STRIDE] = value;
}

/* The fast values as they are now, for the slow program. */
static void show_fast(Pair *p)
{
    int i;
    for (i = 0; i < p->fast_count; i++)
        hold(&p->slow, p->held_count + i, p->fast.x[i]);
}

/* A history of the slow derivatives from states (newest first) of the whole. */
static int remember(Pair *p, const double *times, const double *states, int count)
{
    Core *slow = &p->slow;
    int n = slow->n, whole = p->fast_count + p->slow_count, i, j, k;
    double *table = slow->rows;
    for (k = 0; k < count; k++) {
        const double *state = states + (size_t)k * whole;
        for (i = 0; i < p->fast_count; i++)
            hold(slow, p->held_count + i, state[p->fast_at[i]]);
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
    hold(fast, p->held_count, t);
    for (j = 0; j < p->shared_count; j++) {
        fast->x[p->fast_count + j] = slow->x[p->shared[j]];
        for (m = 1; m <= p->degree; m++)
            hold(fast, p->held_count + 1 + j * p->degree + m - 1,
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
        if (room_for((void **)&p->times.data, &p->times.room, p->times.count + 2,
                     sizeof(double)) < 0 ||
            room_for((void **)&p->degrees.data, &p->degrees.room, p->degrees.count + 1,
                     sizeof(int)) < 0 ||
            room_for((void **)&p->coefficients.data, &p->coefficients.room,
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
    show_fast(p);
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
static int run_pair(Pair *p, int count, int dense)
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
static void note_work(Pair *p, int stop)
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

static int *numbers(const Py_buffer *b, int *count)
{
    int *copy = PyMem_Malloc(b->len + sizeof(int));
    *count = (int)(b->len / (Py_ssize_t)sizeof(int));
    if (copy == NULL)
        PyErr_NoMemory();
    else
        memcpy(copy, b->buf, b->len);
    return copy;
}

static int all_below(const int *values, int count, int limit)
{
    int i;
    for (i = 0; i < count; i++)
        if (values[i] < 0 || values[i] >= limit)
            return 0;
    return 1;
}

/* Cores for both programs, from the newest of some states of the whole. */
static int start_pair(Pair *p, const Program *fp, const Program *sp, const Py_buffer *held,
                      const Py_buffer *times, const Py_buffer *states)
{
    int count = (int)(times->len / (Py_ssize_t)sizeof(double)), i;
    int whole = p->fast_count + p->slow_count;
    const double *first = states->buf, *given = held->buf;
    double *zero, *x;
    p->held_count = (int)(held->len / (Py_ssize_t)sizeof(double));
    if (count < 2 || count > MAX_ORDER || p->large.max_order < count ||
        states->len != (Py_ssize_t)(sizeof(double) * count * whole) ||
        fp->n != p->fast_count + p->shared_count || sp->n != p->slow_count ||
        fp->held != p->held_count + 1 + p->shared_count * p->degree ||
        sp->held != p->held_count + p->fast_count ||
        !all_below(p->fast_at, p->fast_count, whole) ||
        !all_below(p->slow_at, p->slow_count, whole) ||
        !all_below(p->shared, p->shared_count, p->slow_count)) {
        PyErr_SetString(PyExc_ValueError, "the programs do not fit together");
        return -1;
    }
    zero = PyMem_Calloc(2 * (size_t)(fp->held + sp->held + whole + p->shared_count) + 2,
                        sizeof(double));
    p->start = PyMem_Calloc(p->fast_count + 1, sizeof(double));
    p->active = PyMem_Calloc(fp->watch_count + 1, sizeof(int));
    if (zero == NULL || p->start == NULL || p->active == NULL) {
        PyMem_Free(zero);
        PyErr_NoMemory();
        return -1;
    }
    x = zero + fp->held + sp->held + 1;
    for (i = 0; i < p->fast_count; i++)
        x[i] = first[p->fast_at[i]];
    for (i = 0; i < p->shared_count; i++)
        x[p->fast_count + i] = first[p->slow_at[p->shared[i]]];
    i = core_open(&p->fast, fp, &p->small, ((const double *)times->buf)[0], x, zero);
    memset(x, 0, p->fast_count * sizeof(double));
    for (count = 0; count < p->slow_count; count++)
        x[count] = first[p->slow_at[count]];
    i = i < 0 ? i : core_open(&p->slow, sp, &p->large, ((const double *)times->buf)[0], x, zero);
    PyMem_Free(zero);
    if (i < 0)
        return -1;
    for (i = 0; i < p->held_count; i++) {
        hold(&p->fast, i, given[i]);
        hold(&p->slow, i, given[i]);
    }
    p->saved = PyMem_Calloc((size_t)p->slow_count * (1 + HISTORY) + 1, sizeof(double));
    if (p->saved == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    core_watch(&p->slow, INFINITY, p->active, 0);
    count = (int)(times->len / (Py_ssize_t)sizeof(double));
    if (remember(p, times->buf, first, count) < 0)
        return -1;
    show_fast(p);
    return 0;
}

/* Fast and slow program; options; degree; numbers of the fast and slow variables in the
 * whole, and of the shared ones among the slow; held values; times and states. */
static PyObject *open_pair(PyObject *self, PyObject *args)
{
    Pair *p = PyMem_Calloc(1, sizeof(Pair));
    PyObject *fast, *slow, *result = NULL;
    const Program *fp, *sp;
    Py_buffer b[6];
    Method *m;
    int i;
    (void)self;
    if (p == NULL)
        return PyErr_NoMemory();
    m = &p->small;
    if (!PyArg_ParseTuple(args, "OO(iiilddd)iy*y*y*y*y*y*", &fast, &slow, &m->taylor,
                          &m->max_order, &m->detection, &m->max_steps, &m->rtol, &m->atol,
                          &m->max_step, &p->degree, &b[0], &b[1], &b[2], &b[3], &b[4], &b[5])) {
        PyMem_Free(p);
        return NULL;
    }
    p->large = *m;
    p->limit = m->max_steps;
    fp = PyCapsule_GetPointer(fast, PROGRAM);
    sp = fp == NULL ? NULL : PyCapsule_GetPointer(slow, PROGRAM);
    p->fast_at = numbers(&b[0], &p->fast_count);
    p->slow_at = numbers(&b[1], &p->slow_count);
    p->shared = numbers(&b[2], &p->shared_count);
    if (sp != NULL && p->fast_at && p->slow_at && p->shared &&
        start_pair(p, fp, sp, &b[3], &b[4], &b[5]) == 0) {
        Py_INCREF(fast);
        Py_INCREF(slow);
        p->programs[0] = fast;
        p->programs[1] = slow;
        result = PyCapsule_New(p, NAME, destroy);
    }
    for (i = 0; i < 6; i++)
        PyBuffer_Release(&b[i]);
    if (result == NULL)
        free_pair(p);
    return result;
}

/* The state of the whole. */
static void gather(const Pair *p, double *x)
{
    int i;
    for (i = 0; i < p->fast_count; i++)
        x[p->fast_at[i]] = p->fast.x[i];
    for (i = 0; i < p->slow_count; i++)
        x[p->slow_at[i]] = p->slow.x[i];
}

/* As `simulate._core.advance`, and the number of large steps; stop 5: two rates do not pay. */
static PyObject *advance(PyObject *self, PyObject *args)
{
    PyObject *capsule, *part, *result = NULL;
    Pair *p;
    Py_buffer active;
    double until, *x = NULL;
    int dense, stop, count;
    (void)self;
    if (!PyArg_ParseTuple(args, "Ody*p", &capsule, &until, &active, &dense))
        return NULL;
    p = PyCapsule_GetPointer(capsule, NAME);
    count = (int)(active.len / (Py_ssize_t)sizeof(int));
    if (p != NULL && (count > p->fast.p->watch_count ||
                      !all_below(active.buf, count, p->fast.p->watch_count))) {
        PyErr_SetString(PyExc_ValueError, "no such watch");
        p = NULL;
    }
    if (p != NULL)
        memcpy(p->active, active.buf, active.len);
    PyBuffer_Release(&active);
    if (p == NULL)
        return NULL;
    p->until = until;
    p->times.count = p->degrees.count = p->coefficients.count = 0;
    p->large_steps = 0;
    memset(p->tally, 0, sizeof p->tally);
    stop = run_pair(p, count, dense);
    note_work(p, stop);
    if (stop < 0 || room_for((void **)&p->times.data, &p->times.room, p->times.count + 1,
                             sizeof(double)) < 0)
        return NULL;
    p->times.data[p->times.count++] = p->fast.t;
    x = PyMem_Malloc((p->fast_count + p->slow_count + 1) * sizeof(double));
    part = x == NULL ? PyErr_NoMemory() : core_result(&p->fast, stop);
    if (part != NULL) {
        gather(p, x);
        result = Py_BuildValue(
            "(Ny#y#y#y#l)", part, (const char *)x,
            (Py_ssize_t)((p->fast_count + p->slow_count) * sizeof(double)),
            (const char *)p->times.data, (Py_ssize_t)(p->times.count * sizeof(double)),
            (const char *)(p->degrees.data ? p->degrees.data : (int *)""),
            (Py_ssize_t)(p->degrees.count * sizeof(int)),
            (const char *)(p->coefficients.data ? p->coefficients.data : (double *)""),
            (Py_ssize_t)(p->coefficients.count * sizeof(double)), p->large_steps);
    }
    PyMem_Free(x);
    return result;
}

static PyMethodDef methods[] = {
    {"open", open_pair, METH_VARARGS, "A fast and a slow program that go on together."},
    {"advance", advance, METH_VARARGS, "Carry them through time."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "simulate._multirate", "Two rates in one system.", -1, methods,
    NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__multirate(void) { return PyModule_Create(&module); }
