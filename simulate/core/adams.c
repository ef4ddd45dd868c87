/* The extrapolation polynomial: Taylor series, and Adams formulas from divided differences. */
#include "advance.h"

#include <math.h>
#include <string.h>

static double weight(const Core *core, int i, double other)
{
    double a = fabs(core->x[i]), b = fabs(other);
    return core->method->atol + core->method->rtol * (b > a ? b : a);
}

/* Taylor coefficients of the state into `poly`; *reached is the order that is finite. */
static int taylor_series(Core *core, int order, int *reached)
{
    const Program *p = core->p;
    double *s = core->series;
    int i, k, n = core->n;
    s[0] = core->t;
    s[1] = 1.0;
    for (k = 2; k <= MAX_DEGREE; k++)
        s[k] = 0.0;
    core->filled[0] = 1;
    memset(core->poly, 0, (size_t)n * STRIDE * sizeof(double));
    memcpy(core->poly, core->x, n * sizeof(double));
    for (i = 0; i < n; i++) {
        s[(size_t)(1 + i) * STRIDE] = core->x[i];
        core->filled[1 + i] = MAX_DEGREE;
    }
    for (k = 0; k < order; k++) {
        for (i = 0; i < p->flow_count; i++)
            if (tape_coefficient(p, &p->flow[i], s, k) < 0)
                return -1;
        core->evaluations++;
        for (i = 0; i < n; i++) {
            double value = s[(size_t)p->derivatives[i] * STRIDE + k] / (k + 1);
            if (!(fabs(value) < INFINITY)) {
                core->singular += k == 0;
                *reached = k;
                return 0;
            }
            s[(size_t)(1 + i) * STRIDE + k + 1] = value;
        }
        for (i = 0; i < n; i++)
            core->poly[(size_t)(k + 1) * n + i] = s[(size_t)(1 + i) * STRIDE + k + 1];
    }
    *reached = order;
    return 0;
}

/* The step at which the last two Taylor terms are within the tolerance. */
static double series_step(const Core *core, int order)
{
    double h = INFINITY;
    int i, k;
    for (k = order - 1; k <= order; k++) {
        double worst = 0.0, step;
        if (k < 1)
            continue;
        for (i = 0; i < core->n; i++) {
            double size = fabs(core->poly[(size_t)k * core->n + i]) / weight(core, i, core->x[i]);
            if (size > worst)
                worst = size;
        }
        if (worst > 0.0) {
            step = pow(worst, -1.0 / k);
            if (step < h)
                h = step;
        }
    }
    return h;
}

/* Whether the last two Taylor terms of some variable are nothing although terms beyond its second
 * derivative are not: then they tell nothing of those to come (x' = 2 - x^3 at 0 has only every
 * third). A slower motion is taken for the polynomial that it nearly always is. */
static int gap_at_the_end(const Core *core, int order)
{
    const double *poly = core->poly;
    size_t n = (size_t)core->n, i;
    int k;
    for (i = 0; i < n; i++) {
        if (poly[(size_t)(order - 1) * n + i] != 0.0 || poly[(size_t)order * n + i] != 0.0)
            continue;
        for (k = 3; k < order - 1; k++)
            if (poly[(size_t)k * n + i] != 0.0)
                return 1;
    }
    return 0;
}

/* Divided differences of the derivative at equally spaced past points, taken from the
 * Taylor polynomial of the derivative. */
static void virtual_history(Core *core)
{
    int q = core->order, n = core->n, i, j, k, m;
    double *table = core->rows;
    for (j = 0; j < q; j++) {
        double s = -(j * core->h);
        for (i = 0; i < n; i++) {
            double value = 0.0;
            for (k = q; k > 0; k--)
                value = value * s + k * core->poly[(size_t)k * n + i];
            table[(size_t)j * n + i] = value;
        }
    }
    for (j = 1; j < q; j++) {
        for (m = 0; m < q - j; m++) {
            double gap = core->times[m] - core->times[m + j];
            for (i = 0; i < n; i++)
                table[(size_t)m * n + i] =
                    (table[(size_t)m * n + i] - table[(size_t)(m + 1) * n + i]) / gap;
        }
        memcpy(core->differences + (size_t)j * n, table, n * sizeof(double));
    }
    for (i = 0; i < n; i++)
        core->differences[i] = core->poly[n + i];
}

/* A step that ends in time, and is one: past points must lie apart. */
static double first_step(const Core *core, double h)
{
    double span = core->until - core->t, least = core_least(core);
    if (span > 0.0 && !(h < span))
        h = span;
    if (h < least)
        h = least;
    return 0.0 < h && h < INFINITY ? h : 1.0;
}

static int start_adams(Core *core, double shorter, int *good)
{
    int n = core->n, order = 1, i;
    double h = INFINITY;
    *good = 1;
    if (core->p->differentiable) {
        int wanted = core->method->max_order < START_ORDER ? core->method->max_order : START_ORDER;
        if (taylor_series(core, wanted, &order) < 0)
            return -1;
        if (order == 0 && n) {
            *good = 0;
            return 0;
        }
        if (n)
            h = 0.8 * series_step(core, order);
    } else {
        double worst = 0.0;
        if (core_flow(core, core->t, core->x, core->f) < 0)
            return -1;
        if (!all_finite(core->f, n)) {
            *good = 0;
            return 0;
        }
        memset(core->poly, 0, (size_t)n * STRIDE * sizeof(double));
        for (i = 0; i < n; i++) {
            double size = fabs(core->f[i]) / weight(core, i, core->x[i]);
            core->poly[i] = core->x[i];
            core->poly[n + i] = core->f[i];
            if (size > worst)
                worst = size;
        }
        if (worst > 0.0)
            h = 0.5 * sqrt(1.0 / worst);
    }
    if (shorter < h)
        h = shorter;
    if (core->method->max_step < h)
        h = core->method->max_step;
    core->h = first_step(core, h);
    core->order = order > 1 ? order : 1;
    core->points = core->order;
    for (i = 0; i < core->order; i++)
        core->times[i] = core->t - i * core->h;
    virtual_history(core);
    core->h_before = core->h;
    return 0;
}

int core_begin(Core *core, double shorter, int *good)
{
    int order;
    double h = INFINITY;
    if (!core->method->taylor)
        return start_adams(core, shorter, good);
    if (taylor_series(core, core->method->max_order, &order) < 0)
        return -1;
    *good = order > 0 || core->n == 0;
    core->taylor_order = order > 1 ? order : 1;
    if (core->n)
        h = 0.5 * series_step(core, order);
    core->trusted = h;
    if (order < core->method->max_order || gap_at_the_end(core, order))
        core->trusted = 0.0; /* broken off, it tells nothing */
    if (!(h < shorter))
        h = shorter;
    core->h = h < core_least(core) ? core_least(core) : h;
    core->h_before = core->h;
    return 0;
}

/* x + integral of the interpolated derivatives, with the Newton basis in monomials. */
void core_predictor(Core *core)
{
    int q = core->order, n = core->n, i, j, m;
    int top = core->points < q + 1 ? core->points : q + 1;
    core->basis[0][0] = 1.0;
    for (j = 0; j < top; j++) {
        double s = core->times[j] - core->t, *w = core->basis[j + 1], *v = core->basis[j];
        w[j + 1] = v[j];
        for (m = j; m > 0; m--)
            w[m] = v[m - 1] - s * v[m];
        w[0] = -s * v[0];
    }
    memcpy(core->poly, core->x, n * sizeof(double));
    for (m = 0; m < q; m++) {
        double *row = core->poly + (size_t)(m + 1) * n;
        for (i = 0; i < n; i++)
            row[i] = 0.0;
        for (j = m; j < q; j++) {
            const double *difference = core->differences + (size_t)j * n;
            double w = core->basis[j][m] * INVERSE[m + 1];
            for (i = 0; i < n; i++)
                row[i] += difference[i] * w;
        }
    }
    core->degree = q;
}
