/* The Python face of the core: `load` a program once, `advance` it many times. */
#include "program.h"

/* A state that advances in several calls; it keeps its program alive. */
typedef struct {
    Core core;
    Method method;
    PyObject *program;
    int *active;
} Stepper;

static const char STEPPER[] = "workbench.simulate._core.Stepper";

static void free_stepper(Stepper *s)
{
    core_close(&s->core);
    PyMem_Free(s->active);
    Py_XDECREF(s->program);
    PyMem_Free(s);
}

static void destroy_stepper(PyObject *capsule)
{
    free_stepper(PyCapsule_GetPointer(capsule, STEPPER));
}

#define OPTIONS "(iiilddd)"
#define INTO(m)                                                                                  \
    &(m)->taylor, &(m)->max_order, &(m)->detection, &(m)->max_steps, &(m)->rtol, &(m)->atol,     \
        &(m)->max_step

/* Open the core of a stepper whose method is known; -1 with a Python exception set on failure. */
static int set_up(Stepper *s, PyObject *capsule, double t, const double *x, const double *held)
{
    const Method *m = &s->method;
    Program *p = program_of(capsule);
    if (p == NULL)
        return -1;
    if (m->max_order < 1 || m->max_order > (m->taylor ? MAX_DEGREE : MAX_ORDER)) {
        PyErr_SetString(PyExc_ValueError, "there is no method of this order");
        return -1;
    }
    s->active = PyMem_Calloc(p->watch_count + 1, sizeof(int));
    if (s->active == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    if (core_open(&s->core, p, m, t, x, held) < 0)
        return -1;
    Py_INCREF(capsule);
    s->program = capsule;
    return 0;
}

static PyObject *open_stepper(PyObject *self, PyObject *args)
{
    PyObject *capsule, *result = NULL;
    Stepper *s = PyMem_Calloc(1, sizeof(Stepper));
    const Program *p;
    Py_buffer x, held;
    double t;
    (void)self;
    if (s == NULL)
        return PyErr_NoMemory();
    if (!PyArg_ParseTuple(args, "O" OPTIONS "dy*y*", &capsule, INTO(&s->method), &t, &x, &held)) {
        PyMem_Free(s);
        return NULL;
    }
    p = program_of(capsule);
    if (p != NULL && (x.len != p->n * (Py_ssize_t)sizeof(double) ||
                      held.len != p->held * (Py_ssize_t)sizeof(double)))
        PyErr_SetString(PyExc_ValueError, "the state does not fit the program");
    else if (p != NULL && set_up(s, capsule, t, x.buf, held.buf) == 0)
        result = PyCapsule_New(s, STEPPER, destroy_stepper);
    PyBuffer_Release(&x);
    PyBuffer_Release(&held);
    if (result == NULL)
        free_stepper(s);
    return result;
}

/* Go on until an active watch is true: a stretch as Python sees it. */
static PyObject *go_on(Stepper *s, double until, const Py_buffer *active, int dense)
{
    const int *list = active->buf;
    int i, stop, count = (int)(active->len / (Py_ssize_t)sizeof(int));
    if (count > s->core.p->watch_count) {
        PyErr_SetString(PyExc_ValueError, "a watch is listed twice");
        return NULL;
    }
    for (i = 0; i < count; i++) {
        if (list[i] < 0 || list[i] >= s->core.p->watch_count) {
            PyErr_SetString(PyExc_ValueError, "no such watch");
            return NULL;
        }
        s->active[i] = list[i];
    }
    s->method.dense = dense;
    core_watch(&s->core, until, s->active, count);
    stop = core_run(&s->core);
    return stop < 0 ? NULL : core_result(&s->core, stop);
}

static PyObject *advance(PyObject *self, PyObject *args)
{
    PyObject *capsule, *result = NULL;
    Stepper *s;
    Py_buffer active;
    double until;
    int dense;
    (void)self;
    if (!PyArg_ParseTuple(args, "Ody*p", &capsule, &until, &active, &dense))
        return NULL;
    s = PyCapsule_GetPointer(capsule, STEPPER);
    if (s != NULL)
        result = go_on(s, until, &active, dense);
    PyBuffer_Release(&active);
    return result;
}

/* Values by name */

/* The time and the values of the given names, out of any mapping; the caller frees what
 * `PyMem_Malloc` gave. */
static double *by_name(const Program *p, PyObject *names, PyObject *mapping, double *t)
{
    Py_ssize_t count = PyTuple_GET_SIZE(names), i;
    PyObject *values = mapping;
    double *given;
    if (count != p->n + p->held + 1) {
        PyErr_SetString(PyExc_ValueError, "the names do not fit the program");
        return NULL;
    }
    if (PyDict_Check(mapping))
        Py_INCREF(values);
    else if ((values = PyObject_CallOneArg((PyObject *)&PyDict_Type, mapping)) == NULL)
        return NULL;
    given = PyMem_Malloc(count * sizeof(double));
    if (given == NULL)
        PyErr_NoMemory();
    *t = 0.0;
    for (i = 0; given != NULL && i < count; i++) {
        PyObject *name = PyTuple_GET_ITEM(names, i);
        PyObject *value = PyDict_GetItemWithError(values, name);
        double number = value == NULL ? 0.0 : PyFloat_AsDouble(value);
        if (value == NULL && i > 0 && !PyErr_Occurred())
            PyErr_SetObject(PyExc_KeyError, name);
        if ((value == NULL || number == -1.0) && PyErr_Occurred()) {
            PyMem_Free(given);
            given = NULL;
            break;
        }
        *(i == 0 ? t : given + i - 1) = number;
    }
    Py_DECREF(values);
    return given;
}

/* One stretch from a state that is given by name, as a stepper makes it that is used once. */
static PyObject *stretch(PyObject *self, PyObject *args)
{
    PyObject *capsule, *names, *values, *result = NULL;
    Stepper *s = PyMem_Calloc(1, sizeof(Stepper));
    const Program *p;
    Py_buffer active;
    double *given, t, until;
    int dense;
    (void)self;
    if (s == NULL)
        return PyErr_NoMemory();
    if (!PyArg_ParseTuple(args, "O" OPTIONS "O!Ody*p", &capsule, INTO(&s->method), &PyTuple_Type,
                          &names, &values, &until, &active, &dense)) {
        PyMem_Free(s);
        return NULL;
    }
    p = program_of(capsule);
    given = p == NULL ? NULL : by_name(p, names, values, &t);
    if (given != NULL && set_up(s, capsule, t, given, given + p->n) == 0)
        result = go_on(s, until, &active, dense);
    PyMem_Free(given);
    PyBuffer_Release(&active);
    free_stepper(s);
    return result;
}

static PyObject *values_at(PyObject *self, PyObject *args)
{
    PyObject *capsule, *names, *values, *result = NULL;
    const Program *p;
    double *given, *found, t;
    int i;
    (void)self;
    if (!PyArg_ParseTuple(args, "OO!O", &capsule, &PyTuple_Type, &names, &values))
        return NULL;
    p = program_of(capsule);
    given = p == NULL ? NULL : by_name(p, names, values, &t);
    if (given == NULL)
        return NULL;
    found = PyMem_Malloc((p->atom_count + 1) * sizeof(double));
    if (found == NULL)
        PyErr_NoMemory();
    else if (point_values(p, t, given, found) == 0)
        result = PyList_New(p->atom_count);
    for (i = 0; result != NULL && i < p->atom_count; i++) {
        PyObject *number = PyFloat_FromDouble(found[i]);
        if (number == NULL)
            Py_CLEAR(result);
        else
            PyList_SET_ITEM(result, i, number);
    }
    PyMem_Free(found);
    PyMem_Free(given);
    return result;
}

static PyObject *holds_at(PyObject *self, PyObject *args)
{
    PyObject *capsule, *names, *values;
    const Program *p;
    double *given, t, rtol, atol;
    int truth;
    (void)self;
    if (!PyArg_ParseTuple(args, "OO!Odd", &capsule, &PyTuple_Type, &names, &values, &rtol, &atol))
        return NULL;
    p = program_of(capsule);
    if (p != NULL && p->watch_count != 1) {
        PyErr_SetString(PyExc_ValueError, "not a program of one condition");
        return NULL;
    }
    given = p == NULL ? NULL : by_name(p, names, values, &t);
    if (given == NULL)
        return NULL;
    truth = point_holds(p, t, given, rtol, atol);
    PyMem_Free(given);
    return truth < 0 ? NULL : PyBool_FromLong(truth);
}

static PyMethodDef methods[] = {
    {"values", values_at, METH_VARARGS, "Expressions at one point; see workbench.simulate.stepping.engine."},
    {"holds", holds_at, METH_VARARGS, "A condition at one point; see workbench.simulate.stepping.engine."},
    {"load", program_load, METH_VARARGS, "Copy a program into the core's memory."},
    {"open", open_stepper, METH_VARARGS, "A stepper for a state of a program."},
    {"stretch", stretch, METH_VARARGS, "One stretch of a state; see workbench.simulate.stepping.engine."},
    {"advance", advance, METH_VARARGS, "Carry a stepper through time; see workbench.simulate.stepping.engine."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "workbench.simulate._core", "The compiled stepping core.", -1, methods,
    NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__core(void) { return PyModule_Create(&module); }
