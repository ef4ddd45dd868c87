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

PyObject *core_result(const Core *core, int stop)
{
    const Program *p = core->p;
    PyObject *fired = indices(core->fired, core->fired_count), *grazing, *result;
    if (fired == NULL)
        return NULL;
    grazing = indices(core->grazing, core->grazing_count);
    if (grazing == NULL) {
        Py_DECREF(fired);
        return NULL;
    }
#define BYTES(data, count, type) (const char *)(data), (Py_ssize_t)((count) * sizeof(type))
    result = Py_BuildValue(
        "(idy#NNy#y#(llllll)y#y#y#)", stop, core->t, BYTES(core->x, core->n, double), fired,
        grazing, BYTES(core->values, p->atom_count, double),
        BYTES(core->eps, p->atom_count, double), core->steps, core->rejected,
        core->evaluations, core->guard_evaluations, core->beyond, core->singular,
        BYTES(core->out_times.data, core->out_times.count, double),
        BYTES(core->out_degrees.data ? core->out_degrees.data : (int *)"",
              core->out_degrees.count, int),
        BYTES(core->out_coefficients.data ? core->out_coefficients.data : (double *)"",
              core->out_coefficients.count, double));
#undef BYTES
    return result;
}
