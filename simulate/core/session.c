/* Sessions: a stretch of time that is carried on step by step, for agents with own clocks. */
#include "session.h"

#include <math.h>
#include <string.h>

static const char CAPSULE[] = "simulate._core.Session";

typedef struct {
    Core core;
    Method method;
    PyObject *program; /* keeps the program alive */
    int *active;
    int started, stop;
} Session;

static void destroy(PyObject *capsule)
{
    Session *s = PyCapsule_GetPointer(capsule, CAPSULE);
    core_close(&s->core);
    Py_DECREF(s->program);
    PyMem_Free(s->active);
    PyMem_Free(s);
}

PyObject *session_open(PyObject *self, PyObject *args)
{
    PyObject *capsule, *result = NULL;
    Py_buffer x, held, active;
    double t, until;
    int count;
    Session *s = PyMem_Calloc(1, sizeof(Session));
    const Program *p;
    (void)self;
    if (s == NULL)
        return PyErr_NoMemory();
    if (!PyArg_ParseTuple(args, "O(iiildddi)dy*y*dy*", &capsule, &s->method.taylor,
                          &s->method.max_order, &s->method.detection, &s->method.max_steps,
                          &s->method.rtol, &s->method.atol, &s->method.max_step,
                          &s->method.dense, &t, &x, &held, &until, &active)) {
        PyMem_Free(s);
        return NULL;
    }
    p = program_of(capsule);
    count = (int)(active.len / (Py_ssize_t)sizeof(int));
    s->active = PyMem_Malloc(active.len + sizeof(int));
    if (p != NULL && s->active != NULL &&
        fits(p, &s->method, x.len, held.len, active.buf, count)) {
        memcpy(s->active, active.buf, active.len);
        if (core_open(&s->core, p, &s->method, t, x.buf, held.buf, until, s->active, count) == 0) {
            s->stop = STOP_PAUSED;
            s->program = capsule;
            Py_INCREF(capsule);
            result = PyCapsule_New(s, CAPSULE, destroy);
        }
        if (result == NULL)
            core_close(&s->core);
    }
    if (result == NULL) {
        PyMem_Free(s->active);
        PyMem_Free(s);
    }
    PyBuffer_Release(&x);
    PyBuffer_Release(&held);
    PyBuffer_Release(&active);
    return result;
}

/* Steps until the clock reaches `pause`, at least one; the pieces made since the last call. */
PyObject *session_go(PyObject *self, PyObject *args)
{
    PyObject *capsule;
    Session *s;
    double pause;
    (void)self;
    if (!PyArg_ParseTuple(args, "Od", &capsule, &pause))
        return NULL;
    s = PyCapsule_GetPointer(capsule, CAPSULE);
    if (s == NULL)
        return NULL;
    s->core.out_times.count = s->core.out_degrees.count = s->core.out_coefficients.count = 0;
    if (s->stop == STOP_PAUSED) {
        if (!s->started)
            s->stop = core_start(&s->core);
        s->started = 1;
        if (s->stop == STOP_PAUSED)
            s->stop = core_go(&s->core, pause);
        if (s->stop < 0)
            return NULL;
    }
    return core_result(&s->core, s->stop);
}
