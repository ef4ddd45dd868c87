/* Programs: copied into the core's memory once, and checked; the caller holds a capsule. */
#include "program.h"

#include <string.h>

static const char CAPSULE[] = "workbench.simulate._core.Program";

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

PyObject *program_load(PyObject *self, PyObject *args)
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

Program *program_of(PyObject *capsule) { return PyCapsule_GetPointer(capsule, CAPSULE); }
