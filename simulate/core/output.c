/* Dense output: lists that grow, and the pieces of a stretch. */
#include "advance.h"

#include <stdlib.h>
#include <string.h>

/* Room for more numbers at the end of a list. */
static double *more_doubles(Doubles *list, size_t count)
{
    if (list->data == NULL || list->count + count > list->room) {
        size_t room = 2 * (list->count + count) + 64;
        double *data = realloc(list->data, room * sizeof(double));
        if (data == NULL) {
            PyErr_NoMemory();
            return NULL;
        }
        list->data = data;
        list->room = room;
    }
    list->count += count;
    return list->data + list->count - count;
}

int append_doubles(Doubles *list, const double *values, size_t count)
{
    double *place = more_doubles(list, count);
    if (place == NULL)
        return -1;
    memcpy(place, values, count * sizeof(double));
    return 0;
}

static int append_int(Ints *list, int value)
{
    if (list->count == list->room) {
        size_t room = 2 * list->room + 64;
        int *data = realloc(list->data, room * sizeof(int));
        if (data == NULL) {
            PyErr_NoMemory();
            return -1;
        }
        list->data = data;
        list->room = room;
    }
    list->data[list->count++] = value;
    return 0;
}

/* The corrected polynomial, in place of the predicted one, on a step h. */
static void correct(Core *core, double h)
{
    int q = core->degree, n = core->n, i, m;
    const double *top = core->rows + (size_t)q * n, *basis = core->basis[q];
    double *row;
    for (m = 0; m <= q; m++) {
        double w = basis[m] * INVERSE[m + 1];
        row = core->poly + (size_t)(m + 1) * n;
        for (i = 0; i < n; i++)
            row[i] = (m < q ? row[i] : 0.0) + top[i] * w;
    }
    core->degree = q + 1;
    if (!core->measured)
        return;
    for (m = 0; m <= q + 1; m++) { /* the integral of w_q(s) (s - h) */
        double w = ((m ? basis[m - 1] : 0.0) - (m <= q ? h * basis[m] : 0.0)) * INVERSE[m + 1];
        row = core->poly + (size_t)(m + 1) * n;
        for (i = 0; i < n; i++)
            row[i] = (m <= q ? row[i] : 0.0) + core->extra[i] * w;
    }
    core->degree = q + 2;
}

/* Dense output: the Taylor polynomial, or the corrected Adams polynomial. */
int core_record(Core *core, double h)
{
    int n = core->n, i, m, width;
    double *out;
    if (!core->method->taylor && (core->method->dense || core->method->detection != EXTRAPOLATION))
        correct(core, h);
    if (!core->method->dense)
        return 0;
    width = core->degree + 1;
    if (append_doubles(&core->out_times, &core->t, 1) < 0 ||
        append_int(&core->out_degrees, core->degree) < 0)
        return -1;
    out = more_doubles(&core->out_coefficients, (size_t)n * width);
    if (out == NULL)
        return -1;
    for (m = 0; m < width; m++) {
        const double *row = core->poly + (size_t)m * n;
        for (i = 0; i < n; i++)
            out[(size_t)i * width + m] = row[i];
    }
    return 0;
}
