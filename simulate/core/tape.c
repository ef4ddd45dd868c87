#include "tape.h"

#include <math.h>

#define NEAR_POLE 16.0 /* a pole is near within so many tolerances */

/* Lookup tables */

static void cell(const double *axis, int count, double x, int *low, int *high, double *along)
{
    int last = count - 1, a = 0, b = count;
    *low = *high = 0;
    *along = 0.0;
    if (!(x > axis[0]))
        return;
    while (a < b) { /* bisect_right */
        int middle = (a + b) / 2;
        if (x < axis[middle])
            b = middle;
        else
            a = middle + 1;
    }
    a -= 1;
    if (a >= last) {
        *low = *high = last;
        return;
    }
    *low = a;
    *high = a + 1;
    *along = (x - axis[a]) / (axis[a + 1] - axis[a]);
}

double table_line(const Table *t, double x)
{
    int i, j;
    double s, low;
    if (x != x)
        return x;
    cell(t->x, t->rows, x, &i, &j, &s);
    low = t->values[i];
    return t->linear ? low + s * (t->values[j] - low) : low;
}

double table_plane(const Table *t, double x, double y)
{
    int i, j, k, m, w = t->columns;
    double s, u, low, high;
    if (x != x || y != y)
        return NAN;
    cell(t->x, t->rows, x, &i, &j, &s);
    cell(t->y, w, y, &k, &m, &u);
    low = t->values[i * w + k];
    if (!t->linear)
        return low;
    low = low + u * (t->values[i * w + m] - low);
    high = t->values[j * w + k];
    high = high + u * (t->values[j * w + m] - high);
    return low + s * (high - low);
}

static double slope1(const Table *t, double x)
{
    int i, j;
    double s;
    cell(t->x, t->rows, x, &i, &j, &s);
    if (i == j || !t->linear)
        return 0.0;
    return (t->values[j] - t->values[i]) / (t->x[j] - t->x[i]);
}

static void slopes2(const Table *t, double x, double y, double *along, double *across,
                    double *mixed)
{
    int i, j, k, m, w = t->columns;
    double s, u, a, b, c, d, dx, dy;
    *along = *across = *mixed = 0.0;
    cell(t->x, t->rows, x, &i, &j, &s);
    cell(t->y, w, y, &k, &m, &u);
    if (!t->linear)
        return;
    a = t->values[i * w + k];
    b = t->values[i * w + m];
    c = t->values[j * w + k];
    d = t->values[j * w + m];
    dx = t->x[j] - t->x[i];
    dy = t->y[m] - t->y[k];
    if (i != j)
        *along = ((c + u * (d - c)) - (a + u * (b - a))) / dx;
    if (k != m)
        *across = ((b + s * (d - b)) - (a + s * (c - a))) / dy;
    if (i != j && k != m)
        *mixed = ((d - c) - (b - a)) / (dx * dy);
}

/* Values */

static double operate(int code, double x, double y)
{
    switch (code) {
    case DIVIDE: return x / y;
    case NEGATE: return -x;
    case POWER: return pow(x, y);
    case MINIMUM: return x < y ? x : y;
    case MAXIMUM: return x > y ? x : y;
    case ABSOLUTE: return fabs(x);
    case SIGN: return x > 0.0 ? 1.0 : (x < 0.0 ? -1.0 : x);
    case FLOOR: return floor(x);
    case SQRT: return sqrt(x);
    case EXP: return exp(x);
    case LOG: return log(x);
    case SIN: return sin(x);
    case COS: return cos(x);
    case TAN: return tan(x);
    case ASIN: return asin(x);
    case ACOS: return acos(x);
    case ATAN: return atan(x);
    case ATAN2: return atan2(x, y);
    case COPY: return x;
    case LESS: return x < y ? 1.0 : 0.0;
    case LESS_EQUAL: return x <= y ? 1.0 : 0.0;
    case EQUAL: return x == y ? 1.0 : 0.0;
    case NOT_EQUAL: return x != y ? 1.0 : 0.0;
    case AND: return x != 0.0 && y != 0.0 ? 1.0 : 0.0;
    case OR: return x != 0.0 || y != 0.0 ? 1.0 : 0.0;
    case NOT: return x == 0.0 ? 1.0 : 0.0;
    default: return NAN;
    }
}

/* Call an external function on arguments `stride` apart. */
int tape_call(const Program *p, int which, const double *arguments, int count, int stride,
              double *result)
{
    PyObject *function = PyTuple_GET_ITEM(p->externals, which), *given, *value;
    int i;
    given = PyTuple_New(count);
    if (given == NULL)
        return -1;
    for (i = 0; i < count; i++) {
        PyObject *number = PyFloat_FromDouble(arguments[(size_t)i * stride]);
        if (number == NULL) {
            Py_DECREF(given);
            return -1;
        }
        PyTuple_SET_ITEM(given, i, number);
    }
    value = PyObject_CallObject(function, given);
    Py_DECREF(given);
    if (value == NULL)
        return -1;
    *result = PyFloat_AsDouble(value);
    Py_DECREF(value);
    return PyErr_Occurred() ? -1 : 0;
}

int tape_values(const Program *p, const Instruction *code, int count, double *r)
{
    const Instruction *i, *end = code + count;
    for (i = code; i < end; i++) {
        switch (i->code) {
        case ADD: r[i->d] = r[i->a] + r[i->b]; break;
        case SUBTRACT: r[i->d] = r[i->a] - r[i->b]; break;
        case MULTIPLY: r[i->d] = r[i->a] * r[i->b]; break;
        case LOOKUP1: r[i->d] = table_line(&p->tables[i->b], r[i->a]); break;
        case LOOKUP2: r[i->d] = table_plane(&p->tables[i->c], r[i->a], r[i->b]); break;
        case EXTERNAL:
            if (tape_call(p, i->b, &r[i->a], i->c, 1, &r[i->d]) < 0)
                return -1;
            break;
        case SELECT: r[i->d] = r[i->a] != 0.0 ? r[i->b] : r[i->c]; break;
        default: r[i->d] = operate(i->code, r[i->a], i->b >= 0 ? r[i->b] : 0.0);
        }
    }
    return 0;
}

/* Taylor series */

static double convolve(const double *a, const double *b, int k, int low, int high)
{
    double total = 0.0;
    int i;
    for (i = low; i <= high; i++)
        total += a[i] * b[k - i];
    return total;
}

static double weighted(const double *a, const double *b, int k, int high)
{
    double total = 0.0;
    int i;
    for (i = 1; i <= high; i++)
        total += i * a[i] * b[k - i];
    return total;
}

static void companion(int code, const double *z, const double *x, const double *y, double *w,
                      int k)
{
    switch (code) {
    case SIN: w[k] = k == 0 ? cos(x[0]) : -weighted(x, z, k, k) / k; break;
    case COS: w[k] = k == 0 ? sin(x[0]) : weighted(x, z, k, k) / k; break;
    case TAN: w[k] = convolve(z, z, k, 0, k) + (k == 0 ? 1.0 : 0.0); break;
    case ATAN: w[k] = convolve(x, x, k, 0, k) + (k == 0 ? 1.0 : 0.0); break;
    case ASIN: w[k] = k == 0 ? sqrt(1.0 - x[0] * x[0]) : -weighted(z, x, k, k) / k; break;
    case ACOS: w[k] = k == 0 ? sqrt(1.0 - x[0] * x[0]) : weighted(z, x, k, k) / k; break;
    case ATAN2: w[k] = convolve(x, x, k, 0, k) + convolve(y, y, k, 0, k); break;
    default: break;
    }
}

static void function_coefficient(int code, double *z, const double *x, const double *y,
                                 double *w, int k)
{
    double total;
    int i;
    switch (code) {
    case SQRT: z[k] = (x[k] - convolve(z, z, k, 1, k - 1)) / (2.0 * z[0]); break;
    case EXP: z[k] = weighted(x, z, k, k) / k; break;
    case LOG: z[k] = (x[k] - weighted(z, x, k, k - 1) / k) / x[0]; break;
    case POWER:
        total = 0.0;
        for (i = 1; i <= k; i++)
            total += (y[0] * i - (k - i)) * x[i] * z[k - i];
        z[k] = total / (k * x[0]);
        break;
    case SIN:
    case TAN: z[k] = weighted(x, w, k, k) / k; break;
    case COS: z[k] = -weighted(x, w, k, k) / k; break;
    case ASIN:
    case ATAN: z[k] = (x[k] - weighted(z, w, k, k - 1) / k) / w[0]; break;
    case ACOS: z[k] = (-x[k] - weighted(z, w, k, k - 1) / k) / w[0]; break;
    case ATAN2:
        total = weighted(x, y, k, k) - weighted(y, x, k, k) - weighted(z, w, k, k - 1);
        z[k] = total / (k * w[0]);
        break;
    default: z[k] = 0.0;
    }
    companion(code, z, x, y, w, k);
}

static double lookup2_coefficient(const Table *t, const double *x, const double *y, int k)
{
    double along, across, mixed;
    if (k == 0)
        return table_plane(t, x[0], y[0]);
    slopes2(t, x[0], y[0], &along, &across, &mixed);
    return along * x[k] + across * y[k] + mixed * convolve(x, y, k, 1, k - 1);
}

int tape_coefficient(const Program *p, const Instruction *i, double *series, int k)
{
    double *z = series + (size_t)i->d * STRIDE;
    const double *x = series + (size_t)i->a * STRIDE;
    const double *y = x;
    double *w = NULL;
    if (i->b >= 0 && i->code != LOOKUP1 && i->code != EXTERNAL)
        y = series + (size_t)i->b * STRIDE;
    if (i->code >= SIN && i->code <= ATAN2)
        w = series + (size_t)i->c * STRIDE;
    switch (i->code) {
    case ADD: z[k] = x[k] + y[k]; break;
    case SUBTRACT: z[k] = x[k] - y[k]; break;
    case NEGATE: z[k] = -x[k]; break;
    case COPY: z[k] = x[k]; break;
    case MULTIPLY:
        if (p->degrees[i->a] == 0)
            z[k] = x[0] * y[k];
        else if (p->degrees[i->b] == 0)
            z[k] = x[k] * y[0];
        else
            z[k] = convolve(x, y, k, 0, k);
        break;
    case DIVIDE: z[k] = (x[k] - convolve(y, z, k, 1, k)) / y[0]; break;
    case SELECT: z[k] = x[0] != 0.0 ? y[k] : series[(size_t)i->c * STRIDE + k]; break;
    case MINIMUM: z[k] = x[0] < y[0] ? x[k] : y[k]; break;
    case MAXIMUM: z[k] = x[0] > y[0] ? x[k] : y[k]; break;
    case ABSOLUTE: z[k] = x[0] < 0.0 ? -x[k] : x[k]; break;
    case LOOKUP1:
        z[k] = k == 0 ? table_line(&p->tables[i->b], x[0]) : slope1(&p->tables[i->b], x[0]) * x[k];
        break;
    case LOOKUP2: z[k] = lookup2_coefficient(&p->tables[i->c], x, y, k); break;
    case EXTERNAL:
        z[k] = 0.0;
        if (k == 0)
            return tape_call(p, i->b, x, i->c, STRIDE, &z[0]);
        break;
    default:
        if (k == 0) {
            z[0] = operate(i->code, x[0], y[0]);
            companion(i->code, z, x, y, w, 0);
        } else {
            function_coefficient(i->code, z, x, y, w, k);
        }
    }
    return 0;
}

static int last_term(const double *x, int top)
{
    while (top > 0 && x[top] == 0.0)
        top--;
    return top;
}

/* All coefficients of one instruction up to `top`; the operands are complete. */
int tape_row(const Program *p, const Instruction *i, double *series, int top)
{
    double *z = series + (size_t)i->d * STRIDE;
    const double *x = series + (size_t)i->a * STRIDE;
    const double *y = i->b >= 0 ? series + (size_t)i->b * STRIDE : x;
    int k;
    switch (i->code) {
    case ADD:
        for (k = 0; k <= top; k++)
            z[k] = x[k] + y[k];
        return 0;
    case SUBTRACT:
        for (k = 0; k <= top; k++)
            z[k] = x[k] - y[k];
        return 0;
    case NEGATE:
        for (k = 0; k <= top; k++)
            z[k] = -x[k];
        return 0;
    case MULTIPLY:
        if (p->degrees[i->a] == 0)
            for (k = 0; k <= top; k++)
                z[k] = x[0] * y[k];
        else if (p->degrees[i->b] == 0)
            for (k = 0; k <= top; k++)
                z[k] = x[k] * y[0];
        else {
            int nx = last_term(x, top), ny = last_term(y, top);
            for (k = 0; k <= top; k++)
                z[k] = convolve(x, y, k, k > ny ? k - ny : 0, k < nx ? k : nx);
        }
        return 0;
    default:
        for (k = 0; k <= top; k++)
            if (tape_coefficient(p, i, series, k) < 0)
                return -1;
        return 0;
    }
}

/* Sensitivities */

static void partials(const Program *p, const Instruction *i, const double *r, double *pa,
                     double *pb)
{
    double x = r[i->a], square, mixed;
    *pa = *pb = 0.0;
    switch (i->code) {
    case ADD:
    case SUBTRACT: *pa = *pb = 1.0; break;
    case MULTIPLY: *pa = fabs(r[i->b]); *pb = fabs(x); break;
    case DIVIDE: *pa = 1.0 / fabs(r[i->b]); *pb = fabs(r[i->d]) / fabs(r[i->b]); break;
    case POWER: *pa = fabs(r[i->b] * r[i->d]) / fabs(x); break;
    case MINIMUM: *(x < r[i->b] ? pa : pb) = 1.0; break;
    case MAXIMUM: *(x > r[i->b] ? pa : pb) = 1.0; break;
    case SQRT: *pa = 0.5 / r[i->d]; break;
    case EXP: *pa = r[i->d]; break;
    case LOG: *pa = 1.0 / fabs(x); break;
    case TAN: *pa = 1.0 + r[i->d] * r[i->d]; break;
    case ASIN:
    case ACOS: *pa = 1.0 / sqrt(1.0 - x * x); break;
    case ATAN: *pa = 1.0 / (1.0 + x * x); break;
    case ATAN2:
        square = x * x + r[i->b] * r[i->b];
        *pa = fabs(r[i->b]) / square;
        *pb = fabs(x) / square;
        break;
    case LOOKUP1: *pa = fabs(slope1(&p->tables[i->b], x)); break;
    case LOOKUP2:
        slopes2(&p->tables[i->c], x, r[i->b], pa, pb, &mixed);
        *pa = fabs(*pa);
        *pb = fabs(*pb);
        break;
    case NEGATE:
    case COPY:
    case ABSOLUTE:
    case SIN:
    case COS: *pa = 1.0; break;
    default: break;
    }
}

/* Whether a change of the last operand may lead over a pole. */
static int is_near_pole(const Instruction *i, const double *r, double change)
{
    if (i->code == DIVIDE)
        return !(NEAR_POLE * change < fabs(r[i->b]));
    return i->code == TAN && !(NEAR_POLE * change * fabs(r[i->d]) < 1.0);
}

void tape_sensitivity(const Program *p, const Instruction *code, int count, const double *r,
                      double *spread, double *noise)
{
    const Instruction *i, *end = code + count;
    double pa, pb;
    int j, other;
    for (i = code; i < end; i++) {
        if (i->code == EXTERNAL) {
            double factor = p->lipschitz[i->b] < INFINITY ? p->lipschitz[i->b] : 1.0;
            spread[i->d] = noise[i->d] = 0.0;
            for (j = 0; j < i->c; j++) {
                spread[i->d] += factor * spread[i->a + j];
                noise[i->d] += factor * noise[i->a + j];
            }
        } else if (i->code == SELECT) {
            other = r[i->a] != 0.0 ? i->b : i->c;
            spread[i->d] = spread[other];
            noise[i->d] = noise[other];
        } else {
            partials(p, i, r, &pa, &pb);
            other = i->b >= 0 && i->code != LOOKUP1 ? i->b : i->a;
            spread[i->d] = pa * spread[i->a] + pb * spread[other];
            noise[i->d] = pa * noise[i->a] + pb * noise[other];
            spread[i->d] = is_near_pole(i, r, spread[other]) ? INFINITY : spread[i->d];
            noise[i->d] = is_near_pole(i, r, noise[other]) ? INFINITY : noise[i->d];
        }
        noise[i->d] += 0x1p-53 * fabs(r[i->d]);
    }
}
