/* The Python face of two rates; see `simulate/stepping/multirate.py`. */
#include "multirate.h"

#include <stdlib.h>
#include <string.h>

static const char PROGRAM[] = "workbench.simulate._core.Program";
static const char NAME[] = "workbench.simulate._multirate.Pair";

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
        pair_hold(&p->fast, i, given[i]);
        pair_hold(&p->slow, i, given[i]);
    }
    p->saved = PyMem_Calloc((size_t)p->slow_count * (1 + HISTORY) + 1, sizeof(double));
    if (p->saved == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    core_watch(&p->slow, INFINITY, p->active, 0);
    count = (int)(times->len / (Py_ssize_t)sizeof(double));
    if (pair_remember(p, times->buf, first, count) < 0)
        return -1;
    pair_show_fast(p);
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

/* As `workbench.simulate._core.advance`, and the number of large steps; stop 5: two rates do not pay. */
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
    stop = pair_run(p, count, dense);
    pair_note_work(p, stop);
    if (stop < 0 || pair_room_for((void **)&p->times.data, &p->times.room, p->times.count + 1,
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
    PyModuleDef_HEAD_INIT, "workbench.simulate._multirate", "Two rates in one system.", -1, methods,
    NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__multirate(void) { return PyModule_Create(&module); }
