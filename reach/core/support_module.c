/* The Python face of walks over the corners of a polyhedron; see `reach/sets/support.py`. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "vertex.h"

typedef struct {
    PyObject_HEAD
    Walk walk;
    int is_open;
} Oracle;

/* A contiguous array of doubles of the given length; NULL with an exception otherwise. */
static double *doubles(PyObject *object, Py_buffer *view, Py_ssize_t count, int flags)
{
    if (PyObject_GetBuffer(object, view, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT | flags) < 0)
        return NULL;
    if (view->itemsize != (Py_ssize_t)sizeof(double) || view->format == NULL ||
        view->format[0] != 'd' || view->len != count * (Py_ssize_t)sizeof(double)) {
        PyBuffer_Release(view);
        PyErr_SetString(PyExc_ValueError, "an array of doubles of another length was expected");
        return NULL;
    }
    return view->buf;
}

static int oracle_init(Oracle *self, PyObject *args, PyObject *keywords)
{
    PyObject *matrix;
    Py_buffer view;
    double *entries;
    int rows, size, opened;
    (void)keywords;
    if (!PyArg_ParseTuple(args, "Oii", &matrix, &rows, &size))
        return -1;
    if (rows < 0 || size < 0 || self->is_open) {
        PyErr_SetString(PyExc_ValueError, "a matrix has a shape, once");
        return -1;
    }
    entries = doubles(matrix, &view, (Py_ssize_t)rows * size, 0);
    if (entries == NULL)
        return -1;
    opened = walk_open(&self->walk, rows, size, entries);
    self->is_open = 1;
    PyBuffer_Release(&view);
    if (!opened)
        PyErr_NoMemory();
    return opened ? 0 : -1;
}

static void oracle_dealloc(Oracle *self)
{
    PyTypeObject *type = Py_TYPE(self);
    if (self->is_open)
        walk_close(&self->walk);
    type->tp_free(self);
    Py_DECREF(type);
}

static PyObject *oracle_rebound(Oracle *self, PyObject *bound)
{
    Py_buffer view;
    double *entries = doubles(bound, &view, self->walk.rows, 0);
    if (entries == NULL)
        return NULL;
    walk_rebound(&self->walk, entries);
    PyBuffer_Release(&view);
    Py_RETURN_NONE;
}

static PyObject *oracle_start(Oracle *self, PyObject *basis)
{
    int rows[64], k, n = self->walk.size;
    if (!PyTuple_Check(basis) || PyTuple_GET_SIZE(basis) != n || n > 64)
        Py_RETURN_FALSE;
    for (k = 0; k < n; k++) {
        rows[k] = (int)PyLong_AsLong(PyTuple_GET_ITEM(basis, k));
        if (rows[k] == -1 && PyErr_Occurred())
            return NULL;
    }
    return PyBool_FromLong(walk_start(&self->walk, rows));
}

static PyObject *oracle_climb(Oracle *self, PyObject *args)
{
    PyObject *direction, *multipliers, *point;
    Py_buffer given, factors, place;
    double *d, *y, *z, value = 0.0;
    int outcome, k;
    Walk *walk = &self->walk;
    if (!PyArg_ParseTuple(args, "OOO", &direction, &multipliers, &point))
        return NULL;
    if ((d = doubles(direction, &given, walk->size, 0)) == NULL)
        return NULL;
    if ((y = doubles(multipliers, &factors, walk->rows, PyBUF_WRITABLE)) == NULL) {
        PyBuffer_Release(&given);
        return NULL;
    }
    if ((z = doubles(point, &place, walk->size, PyBUF_WRITABLE)) == NULL) {
        PyBuffer_Release(&given);
        PyBuffer_Release(&factors);
        return NULL;
    }
    outcome = walk_climb(walk, d, &value);
    if (outcome == ATTAINED)
        for (k = 0; k < walk->size; k++) {
            y[walk->basis[k]] = walk->weights[k] / walk->length[walk->basis[k]];
            z[k] = walk->corner[k];
        }
    PyBuffer_Release(&given);
    PyBuffer_Release(&factors);
    PyBuffer_Release(&place);
    return Py_BuildValue("id", outcome, value);
}

static PyMethodDef ORACLE_METHODS[] = {
    {"rebound", (PyCFunction)oracle_rebound, METH_O, "rebound(bound): new bounds of all rows."},
    {"start", (PyCFunction)oracle_start, METH_O,
     "start(basis): begin at the corner of these rows; whether there is one."},
    {"climb", (PyCFunction)oracle_climb, METH_VARARGS,
     "climb(direction, multipliers, point): the outcome and the largest value; multipliers (which "
     "must be zeros) and point are filled in where it is attained."},
    {NULL, NULL, 0, NULL}};

static PyType_Slot ORACLE_SLOTS[] = {{Py_tp_init, oracle_init},
                                     {Py_tp_new, PyType_GenericNew},
                                     {Py_tp_dealloc, oracle_dealloc},
                                     {Py_tp_methods, ORACLE_METHODS},
                                     {Py_tp_doc, "Oracle(matrix, rows, size)"},
                                     {0, NULL}};

static PyType_Spec ORACLE_SPEC = {"workbench.reach._support.Oracle", sizeof(Oracle), 0, Py_TPFLAGS_DEFAULT,
                                  ORACLE_SLOTS};

static struct PyModuleDef MODULE = {PyModuleDef_HEAD_INIT,
                                    "workbench.reach._support",
                                    "Largest values of linear functions over polyhedra.",
                                    -1,
                                    NULL,
                                    0,
                                    0,
                                    0,
                                    0};

PyMODINIT_FUNC PyInit__support(void)
{
    PyObject *module = PyModule_Create(&MODULE);
    PyObject *type = module == NULL ? NULL : PyType_FromSpec(&ORACLE_SPEC);
    if (type == NULL || PyModule_AddObject(module, "Oracle", type) < 0 ||
        PyModule_AddIntMacro(module, ATTAINED) < 0 || PyModule_AddIntMacro(module, UNBOUNDED) < 0 ||
        PyModule_AddIntMacro(module, EMPTY) < 0 || PyModule_AddIntMacro(module, LOST) < 0) {
        Py_XDECREF(module);
        return NULL;
    }
    return module;
}
