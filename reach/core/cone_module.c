/* The Python face of cones in 64-bit integers; see `reach/sets/double_description.py`. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include "cone.h"

/* A vector of Python integers; FITS, TOO_LARGE, or -1 with an exception. */
static int read_vector(PyObject *tuple, int size, int64_t *entries)
{
    int k;
    if (!PyTuple_Check(tuple) || PyTuple_GET_SIZE(tuple) != size) {
        PyErr_SetString(PyExc_ValueError, "a vector is not a tuple of the cone's size");
        return -1;
    }
    for (k = 0; k < size; k++) {
        int overflow = 0;
        long long entry = PyLong_AsLongLongAndOverflow(PyTuple_GET_ITEM(tuple, k), &overflow);
        if (entry == -1 && PyErr_Occurred())
            return -1;
        if (overflow || entry > LARGEST || entry < -LARGEST)
            return TOO_LARGE;
        entries[k] = entry;
    }
    return FITS;
}

static int read_vectors(PyObject *vectors, List *list)
{
    int64_t entries[MAX_SIZE];
    Py_ssize_t i;
    for (i = 0; i < PyTuple_GET_SIZE(vectors); i++) {
        int error = read_vector(PyTuple_GET_ITEM(vectors, i), list->size, entries);
        if (error || (error = list_add(list, entries, NULL)))
            return error;
    }
    return FITS;
}

static int read_masks(PyObject *masks, List *rays)
{
    Py_ssize_t i;
    if (PyTuple_GET_SIZE(masks) != (Py_ssize_t)rays->count) {
        PyErr_SetString(PyExc_ValueError, "there is not one mask for each ray");
        return -1;
    }
    for (i = 0; i < PyTuple_GET_SIZE(masks); i++) {
        PyObject *mask = PyTuple_GET_ITEM(masks, i);
        PyObject *bytes = PyObject_CallMethod(mask, "to_bytes", "ns", (Py_ssize_t)rays->words * 8,
                                              "little");
        if (bytes == NULL)
            return -1;
        memcpy(mask_at(rays, (size_t)i), PyBytes_AS_STRING(bytes), (size_t)rays->words * 8);
        Py_DECREF(bytes);
    }
    return FITS;
}

static PyObject *vector_tuple(const int64_t *entries, int size)
{
    PyObject *tuple = PyTuple_New(size);
    int k;
    for (k = 0; tuple != NULL && k < size; k++) {
        PyObject *entry = PyLong_FromLongLong(entries[k]);
        if (entry == NULL) {
            Py_CLEAR(tuple);
            break;
        }
        PyTuple_SET_ITEM(tuple, k, entry);
    }
    return tuple;
}

static PyObject *vectors_tuple(const List *list)
{
    PyObject *tuple = PyTuple_New((Py_ssize_t)list->count);
    size_t i;
    for (i = 0; tuple != NULL && i < list->count; i++) {
        PyObject *vector = vector_tuple(vector_at(list, i), list->size);
        if (vector == NULL) {
            Py_CLEAR(tuple);
            break;
        }
        PyTuple_SET_ITEM(tuple, (Py_ssize_t)i, vector);
    }
    return tuple;
}

static PyObject *mask_number(const uint64_t *mask, int words)
{
    int k;
    for (k = 1; k < words && mask[k] == 0; k++)
        ;
    if (k >= words)
        return PyLong_FromUnsignedLongLong(mask[0]);
    return PyObject_CallMethod((PyObject *)&PyLong_Type, "from_bytes", "y#s", (const char *)mask,
                               (Py_ssize_t)words * 8, "little");
}

static PyObject *masks_tuple(const List *rays)
{
    PyObject *tuple = PyTuple_New((Py_ssize_t)rays->count);
    size_t i;
    for (i = 0; tuple != NULL && i < rays->count; i++) {
        PyObject *mask = mask_number(mask_at(rays, i), rays->words);
        if (mask == NULL) {
            Py_CLEAR(tuple);
            break;
        }
        PyTuple_SET_ITEM(tuple, (Py_ssize_t)i, mask);
    }
    return tuple;
}

/* Errors of the core as exceptions, or None for what is left to Python's integers. */
static PyObject *refusal(int error, const Cone *cone)
{
    if (error == TOO_LARGE)
        Py_RETURN_NONE;
    if (error == NO_MEMORY)
        return PyErr_NoMemory();
    if (error == NO_TIME)
        PyErr_SetNone(PyExc_TimeoutError);
    else if (error == TOO_MANY)
        PyErr_Format(PyExc_OverflowError, "%zu", cone->rays.count);
    return NULL;
}

static int cut_all(Cone *cone, PyObject *rows, int is_equation)
{
    int64_t row[MAX_SIZE];
    Py_ssize_t i;
    for (i = 0; i < PyTuple_GET_SIZE(rows); i++) {
        int error = read_vector(PyTuple_GET_ITEM(rows, i), cone->size, row);
        if (error || (error = cone_cut(cone, row, is_equation)))
            return error;
        if (PyErr_CheckSignals())
            return -1;
    }
    return FITS;
}

static PyObject *narrow(PyObject *module, PyObject *args)
{
    PyObject *equations, *inequalities, *lines, *rays, *masks, *more, *more_equations;
    PyObject *result = NULL;
    Cone cone;
    int size, error;
    double max_pairs, deadline;
    (void)module;
    if (!PyArg_ParseTuple(args, "iO!O!O!O!O!O!O!dd", &size, &PyTuple_Type, &equations,
                          &PyTuple_Type, &inequalities, &PyTuple_Type, &lines, &PyTuple_Type, &rays,
                          &PyTuple_Type, &masks, &PyTuple_Type, &more, &PyTuple_Type,
                          &more_equations, &max_pairs, &deadline))
        return NULL;
    if (size < 0 || size > MAX_SIZE)
        Py_RETURN_NONE;
    error = cone_open(&cone, size,
                      (int)((PyTuple_GET_SIZE(inequalities) + PyTuple_GET_SIZE(more)) / 64) + 1);
    cone.max_pairs = max_pairs;
    cone.deadline = deadline;
    if (error || (error = read_vectors(equations, &cone.equations)) ||
        (error = read_vectors(inequalities, &cone.inequalities)) ||
        (error = read_vectors(lines, &cone.lines)) || (error = read_vectors(rays, &cone.rays)) ||
        (error = read_masks(masks, &cone.rays)) || (error = cut_all(&cone, more_equations, 1)) ||
        (error = cut_all(&cone, more, 0)) || (cone.changed && (error = cone_finish(&cone)))) {
        result = refusal(error, &cone);
    } else if (!cone.changed) {
        result = PyTuple_New(0);
    } else {
        PyObject *found[5];
        int k, complete = 1;
        found[0] = vectors_tuple(&cone.equations);
        found[1] = vectors_tuple(&cone.inequalities);
        found[2] = vectors_tuple(&cone.lines);
        found[3] = vectors_tuple(&cone.rays);
        found[4] = masks_tuple(&cone.rays);
        for (k = 0; k < 5; k++)
            complete = complete && found[k] != NULL;
        if (complete)
            result = PyTuple_Pack(5, found[0], found[1], found[2], found[3], found[4]);
        for (k = 0; k < 5; k++)
            Py_XDECREF(found[k]);
    }
    cone_close(&cone);
    return result;
}

/* Whether a vector (or, both ways, a line) satisfies the constraints. */
static int satisfies(const List *inequalities, const List *equations, const int64_t *vector,
                     int is_line)
{
    size_t i;
    for (i = 0; i < inequalities->count; i++) {
        Wide value = inner(vector_at(inequalities, i), vector, inequalities->size);
        if (value < 0 || (is_line && value != 0))
            return 0;
    }
    for (i = 0; i < equations->count; i++)
        if (inner(vector_at(equations, i), vector, equations->size) != 0)
            return 0;
    return 1;
}

static int collect_outside(const List *inequalities, const List *equations, PyObject *vectors,
                           int are_lines, PyObject *found)
{
    int64_t entries[MAX_SIZE];
    Py_ssize_t i;
    for (i = 0; i < PyTuple_GET_SIZE(vectors); i++) {
        PyObject *vector = PyTuple_GET_ITEM(vectors, i);
        int error = read_vector(vector, inequalities->size, entries);
        if (error)
            return error;
        if (!satisfies(inequalities, equations, entries, are_lines) &&
            PyList_Append(found, vector))
            return -1;
    }
    return FITS;
}

static PyObject *outside(PyObject *module, PyObject *args)
{
    PyObject *inequalities, *equations, *vectors, *result;
    List rows = {0}, zeros = {0};
    int size, are_lines, error;
    (void)module;
    if (!PyArg_ParseTuple(args, "iO!O!O!p", &size, &PyTuple_Type, &inequalities, &PyTuple_Type,
                          &equations, &PyTuple_Type, &vectors, &are_lines))
        return NULL;
    if (size < 0 || size > MAX_SIZE)
        Py_RETURN_NONE;
    result = PyList_New(0);
    error = result == NULL || list_open(&rows, size, 0) || list_open(&zeros, size, 0) ? NO_MEMORY
                                                                                    : FITS;
    if (!error)
        error = read_vectors(inequalities, &rows);
    if (!error)
        error = read_vectors(equations, &zeros);
    if (!error)
        error = collect_outside(&rows, &zeros, vectors, are_lines, result);
    list_close(&rows);
    list_close(&zeros);
    if (error) {
        Py_XDECREF(result);
        return refusal(error, NULL);
    }
    return result;
}

static PyObject *transposed(PyObject *module, PyObject *args)
{
    PyObject *masks, *result = NULL;
    List rows = {0}, columns = {0};
    Py_ssize_t width;
    size_t r;
    int error, k;
    (void)module;
    if (!PyArg_ParseTuple(args, "O!n", &PyTuple_Type, &masks, &width))
        return NULL;
    error = list_open(&rows, 0, (int)(width / 64) + 1) ||
                    list_open(&columns, 0, (int)(PyTuple_GET_SIZE(masks) / 64) + 1)
                ? NO_MEMORY
                : FITS;
    for (r = 0; !error && r < (size_t)PyTuple_GET_SIZE(masks); r++)
        error = list_add(&rows, NULL, NULL);
    for (r = 0; !error && r < (size_t)width; r++)
        error = list_add(&columns, NULL, NULL);
    if (!error)
        error = read_masks(masks, &rows);
    for (r = 0; !error && r < rows.count; r++)
        for (k = 0; k < rows.words; k++) {
            uint64_t rest = mask_at(&rows, r)[k];
            for (; rest != 0; rest &= rest - 1) {
                size_t i = (size_t)k * 64 + (size_t)__builtin_ctzll(rest);
                if (i < columns.count)
                    mask_at(&columns, i)[r / 64] |= (uint64_t)1 << (r % 64);
            }
        }
    result = error ? refusal(error, NULL) : masks_tuple(&columns);
    list_close(&rows);
    list_close(&columns);
    return result;
}

static PyMethodDef METHODS[] = {
    {"outside", outside, METH_VARARGS,
     "outside(size, inequalities, equations, vectors, are_lines): the vectors (or lines) that "
     "violate a constraint; None if the numbers do not fit in 64 bits."},
    {"transposed", transposed, METH_VARARGS,
     "transposed(masks, width): the bit matrix with rows and columns exchanged."},
    {"narrow", narrow, METH_VARARGS,
     "narrow(size, equations, inequalities, lines, rays, masks, more_inequalities, "
     "more_equations, max_pairs, deadline): the new equations, inequalities, lines, rays and "
     "masks; () if nothing changes; None if the numbers do not fit in 64 bits. OverflowError: "
     "too many pairs of rays (how many rays); TimeoutError: the deadline has passed."},
    {NULL, NULL, 0, NULL}};

static struct PyModuleDef MODULE = {
    PyModuleDef_HEAD_INIT, "workbench.reach._cone", "Cones in 64-bit integers.", -1, METHODS, 0, 0, 0, 0};

PyMODINIT_FUNC PyInit__cone(void) { return PyModule_Create(&MODULE); }
