/* The Python face of the core: `load` a program once, `advance` it many times. */
#include "advance.h"

#include <string.h>

static const char CAPSULE[] = "simulate._core.Program";

static void free_program(Program *p)
{
    if (p == NULL)
        return;
    PyMem_Free(p->initial);
    PyMem_Free(p->degrees);
    PyMem_Free(p->flow);
    PyMem_Free(p->guard);
    PyMem_Free(p->derivatives);
    PyMem_Free(p->atoms);
    PyMem_Free(p->watches);
    PyMem_Free(p->tokens);
    PyMem_Free(p->tables);
    PyMem_Free(p->table_data);
    PyMem_Free(p->lipschitz);
    Py_XDECREF(p->externals);
    PyMem_Free(p);
}

static void destroy(PyObject *capsule) { free_program(PyCapsule_GetPointer(capsule, CAPSULE)); }

/* A copy of a buffer as an array of items of `size` bytes. */
static void *copy(const Py_buffer *buffer, size_t size, int *count)
{
    void *data = PyMem_Malloc(buffer->len + size);
    if (data == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    memcpy(data, buffer->buf, buffer->len);
    if (count != NULL)
        *count = (int)(buffer->len / (Py_ssize_t)size);
    return data;
}

/* Whether every register, table and function that a tape names exists. */
static int sound(const Program *p, const Instruction *code, int count)
{
    int i, n = p->registers;
    for (i = 0; i < count; i++) {
        const Instruction *s = &code[i];
        int good = s->code >= 0 && s->code < CODE_COUNT && s->d >= 0 && s->d < n && s->a >= 0 &&
                   s->a < n && s->b < n && s->c < n;
        if (s->code == LOOKUP1)
            good = good && s->b >= 0 && s->b < p->table_count;
        else if (s->code == LOOKUP2)
            good = good && s->b >= 0 && s->c >= 0 && s->c < p->table_count;
        else if (s->code == EXTERNAL)
            good = good && s->b >= 0 && s->b < PyTuple_GET_SIZE(p->externals) && s->c >= 0 &&
                   s->a + s->c <= n;
        else if (s->code >= SIN && s->code <= ATAN2)
            good = good && s->c >= 0;
        else if (s->code == SELECT)
            good = good && s->b >= 0 && s->c >= 0;
        if (!good)
            return 0;
    }
    return 1;
}

static int sound_program(const Program *p)
{
    int i;
    if (1 + p->n + p->held > p->registers || !sound(p, p->flow, p->flow_count) ||
        !sound(p, p->guard, p->guard_count))
        return 0;
    for (i = 0; i < p->n; i++)
        if (p->derivatives[i] < 0 || p->derivatives[i] >= p->registers)
            return 0;
    for (i = 0; i < p->atom_count; i++)
        if (p->atoms[i].reg < 0 || p->atoms[i].reg >= p->registers)
            return 0;
    for (i = 0; i < p->token_count; i++)
        if (p->tokens[i] >= p->atom_count || p->tokens[i] < TOKEN_FALSE)
            return 0;
    for (i = 0; i < p->watch_count; i++)
        if (p->watches[i].first < 0 || p->watches[i].count < 1 ||
            p->watches[i].first + p->watches[i].count > p->token_count)
            return 0;
    return 1;
}

/* Tables arrive as triples (rows, columns, linear) and one block: x axis, y axis, values. */
static int read_tables(Program *p, const int *shapes, int count)
{
    const double *data = p->table_data;
    int i;
    p->table_count = count / 3;
    p->tables = PyMem_Calloc(p->table_count + 1, sizeof(Table));
    if (p->tables == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (i = 0; i < p->table_count; i++) {
        Table *t = &p->tables[i];
        t->rows = shapes[3 * i];
        t->columns = shapes[3 * i + 1];
        t->linear = shapes[3 * i + 2];
        t->x = data;
        t->y = t->x + t->rows;
        t->values = t->y + t->columns;
        data = t->values + (size_t)t->rows * (t->columns ? t->columns : 1);
    }
    return 0;
}

static PyObject *load(PyObject *self, PyObject *args)
{
    Py_buffer b[11];
    Program *p = PyMem_Calloc(1, sizeof(Program));
    PyObject *externals, *capsule = NULL;
    int n, held, differentiable, edged, i, shapes_count = 0, promises = 0;
    int *shapes = NULL;
    (void)self;
    if (p == NULL)
        return PyErr_NoMemory();
    if (!PyArg_ParseTuple(args, "iippy*y*y*y*y*y*y*y*y*y*y*O!", &n, &held, &differentiable, &edged,
                          &b[0], &b[1], &b[2], &b[3], &b[4], &b[5], &b[6], &b[7], &b[8], &b[9],
                          &b[10], &PyTuple_Type, &externals)) {
        PyMem_Free(p);
        return NULL;
    }
    p->n = n;
    p->held = held;
    p->differentiable = differentiable;
    p->edged = edged;
    Py_INCREF(externals);
    p->externals = externals;
    p->initial = copy(&b[0], sizeof(double), &p->registers);
    p->degrees = copy(&b[1], sizeof(int), NULL);
    p->flow = copy(&b[2], sizeof(Instruction), &p->flow_count);
    p->derivatives = copy(&b[3], sizeof(int), NULL);
    p->guard = copy(&b[4], sizeof(Instruction), &p->guard_count);
    p->atoms = copy(&b[5], sizeof(Atom), &p->atom_count);
    p->watches = copy(&b[6], sizeof(Watch), &p->watch_count);
    p->tokens = copy(&b[7], sizeof(int), &p->token_count);
    shapes = copy(&b[8], sizeof(int), &shapes_count);
    p->table_data = copy(&b[9], sizeof(double), NULL);
    p->lipschitz = copy(&b[10], sizeof(double), &promises);
    for (i = 0; i < 11; i++)
        PyBuffer_Release(&b[i]);
    if (!PyErr_Occurred() && read_tables(p, shapes, shapes_count) == 0) {
        if (promises == PyTuple_GET_SIZE(externals) && sound_program(p))
            capsule = PyCapsule_New(p, CAPSULE, destroy);
        else
            PyErr_SetString(PyExc_ValueError, "not a program");
    }
    PyMem_Free(shapes);
    if (capsule == NULL)
        free_program(p);
    return capsule;
}

/* A state that advances in several calls; it keeps its program alive. */
typedef struct {
    Core core;
    Method method;
    PyObject *program;
    int *active;
} Stepper;

static const char STEPPER[] = "simulate._core.Stepper";

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
    Program *p = PyCapsule_GetPointer(capsule, CAPSULE);
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
    p = PyCapsule_GetPointer(capsule, CAPSULE);
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

/* The time and the values of the given names; the caller frees what `PyMem_Malloc` gave. */
static double *by_name(const Program *p, PyObject *names, PyObject *values, double *t)
{
    Py_ssize_t count = PyTuple_GET_SIZE(names), i;
    double *given;
    if (count != p->n + p->held + 1) {
        PyErr_SetString(PyExc_ValueError, "the names do not fit the program");
        return NULL;
    }
    given = PyMem_Malloc(count * sizeof(double));
    if (given == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    *t = 0.0;
    for (i = 0; i < count; i++) {
        PyObject *name = PyTuple_GET_ITEM(names, i);
        PyObject *value = PyDict_GetItemWithError(values, name);
        double number = value == NULL ? 0.0 : PyFloat_AsDouble(value);
        if (value == NULL && i > 0 && !PyErr_Occurred())
            PyErr_SetObject(PyExc_KeyError, name);
        if (PyErr_Occurred()) {
            PyMem_Free(given);
            return NULL;
        }
        *(i == 0 ? t : given + i - 1) = number;
    }
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
    if (!PyArg_ParseTuple(args, "O" OPTIONS "O!O!dy*p", &capsule, INTO(&s->method), &PyTuple_Type,
                          &names, &PyDict_Type, &values, &until, &active, &dense)) {
        PyMem_Free(s);
        return NULL;
    }
    p = PyCapsule_GetPointer(capsule, CAPSULE);
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
    if (!PyArg_ParseTuple(args, "OO!O!", &capsule, &PyTuple_Type, &names, &PyDict_Type, &values))
        return NULL;
    p = PyCapsule_GetPointer(capsule, CAPSULE);
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
    if (!PyArg_ParseTuple(args, "OO!O!dd", &capsule, &PyTuple_Type, &names, &PyDict_Type, &values,
                          &rtol, &atol))
        return NULL;
    p = PyCapsule_GetPointer(capsule, CAPSULE);
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
    {"values", values_at, METH_VARARGS, "Expressions at one point; see simulate.stepping.engine."},
    {"holds", holds_at, METH_VARARGS, "A condition at one point; see simulate.stepping.engine."},
    {"load", load, METH_VARARGS, "Copy a program into the core's memory."},
    {"open", open_stepper, METH_VARARGS, "A stepper for a state of a program."},
    {"stretch", stretch, METH_VARARGS, "One stretch of a state; see simulate.stepping.engine."},
    {"advance", advance, METH_VARARGS, "Carry a stepper through time; see simulate.stepping.engine."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "simulate._core", "The compiled stepping core.", -1, methods,
    NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__core(void) { return PyModule_Create(&module); }
