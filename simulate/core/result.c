/* A stretch as Python sees it; see `simulate/stepping/stretch.py`. */
#include "advance.h"

static PyObject *indices(const int *values, int count)
{
    PyObject *result = PyTuple_New(count);
    int i;
    for (i = 0; result != NULL && i < count; i++) {
        PyObject *number = PyLong_FromLong(values[i]);
        if (number == NULL)
            Py_CLEAR(result);
        else
            PyTuple_SET_ITEM(result, i, number);
    }
    return result;
}

static PyObject *numbers(const double *values, int count)
{
    PyObject *result = PyTuple_New(count);
    int i;
    for (i = 0; result != NULL && i < count; i++) {
        PyObject *number = PyFloat_FromDouble(values[i]);
        if (number == NULL)
            Py_CLEAR(result);
        else
            PyTuple_SET_ITEM(result, i, number);
    }
    return result;
}

PyObject *core_result(const Core *core, int stop)
{
    int atoms = core->p->atom_count;
#define BYTES(list, type)                                                                        \
    (const char *)((list).data ? (list).data : (type *)""),                                      \
        (Py_ssize_t)((list).count * sizeof(type))
    /* N takes over what is made here; where one of them is NULL, so is the result */
    return Py_BuildValue(
        "(idNNNNN(llllll)(y#y#y#))", stop, core->t, numbers(core->x, core->n),
        indices(core->fired, core->fired_count), indices(core->grazing, core->grazing_count),
        numbers(core->values, atoms), numbers(core->eps, atoms), core->steps, core->rejected,
        core->evaluations, core->guard_evaluations, core->beyond, core->singular,
        BYTES(core->out_times, double), BYTES(core->out_degrees, int),
        BYTES(core->out_coefficients, double));
#undef BYTES
}
