/* One trial step: predict, evaluate, correct, estimate the error. */
#include "advance.h"

#include <math.h>
#include <string.h>

#define DEFECT_PLACE 0.75
#define UNCORRECTED 0.2
#define SLOW_DECAY 0.5
#define WORTH_MEASURING 0.1

const double INVERSE[STRIDE] = {
    0.0,      1.0 / 1,  1.0 / 2,  1.0 / 3,  1.0 / 4,  1.0 / 5,  1.0 / 6,  1.0 / 7,  1.0 / 8,
    1.0 / 9,  1.0 / 10, 1.0 / 11, 1.0 / 12, 1.0 / 13, 1.0 / 14, 1.0 / 15, 1.0 / 16, 1.0 / 17,
    1.0 / 18, 1.0 / 19, 1.0 / 20, 1.0 / 21, 1.0 / 22, 1.0 / 23, 1.0 / 24,
};

/* The integrals over [0, h] of w_j(s) and of w_{j-1}(s) (s - h). */
static void integrals(const Core *core, int j, double h, double *whole, double *milne)
{
    double power = h;
    int m;
    *whole = *milne = 0.0;
    for (m = 0; m <= j; m++) {
        *whole += core->basis[j][m] * power * INVERSE[m + 1];
        if (m < j)
            *milne -= core->basis[j - 1][m] * power * h * INVERSE[m + 1] * INVERSE[m + 2];
        power *= h;
    }
}

/* Divided differences with a new derivative at t; row 0 of `rows` is given. */
void core_differences(Core *core, double t, int top)
{
    int n = core->n, i, j;
    for (j = 1; j <= top; j++) {
        double inverse = 1.0 / (t - core->times[j - 1]);
        const double *last = core->rows + (size_t)(j - 1) * n;
        const double *old = core->differences + (size_t)(j - 1) * n;
        double *row = core->rows + (size_t)j * n;
        for (i = 0; i < n; i++)
            row[i] = (last[i] - old[i]) * inverse;
    }
}

/* The tolerance of a step to x, inverted, for every variable. */
static void weigh(Core *core, const double *x)
{
    int i;
    for (i = 0; i < core->n; i++) {
        double a = fabs(core->x[i]), b = fabs(x[i]);
        core->inverse_weight[i] =
            1.0 / (core->method->atol + core->method->rtol * (b > a ? b : a));
    }
}

static double error_of(const Core *core, int j, double factor)
{
    const double *row = core->rows + (size_t)j * core->n;
    double worst = 0.0;
    int i;
    for (i = 0; i < core->n; i++) {
        double size = fabs(row[i] * factor) * core->inverse_weight[i];
        if (!(size <= worst))
            worst = size;
    }
    return worst;
}

static double growth(double error, int order)
{
    double factor;
    if (error <= 0.0)
        return 4.0;
    factor = 0.8 * pow(error, -1.0 / (order + 1));
    return factor < 4.0 ? factor : 4.0;
}

/* The order and step that promise most, from the errors at orders q-1, q, q+1 (all of them
 * larger than estimated, if that was measured). */
void core_choose(Core *core, double error, double h)
{
    int q = core->order, order = q;
    double best = growth(error, q), whole, milne, other;
    if (q > 1) {
        integrals(core, q - 1, h, &whole, &milne);
        other = growth(error_of(core, q - 1, milne) * core->excess, q - 1);
        if (other > best) {
            best = other;
            order = q - 1;
        }
    }
    if (q < core->method->max_order && core->points > q) {
        integrals(core, q + 1, h, &whole, &milne);
        other = growth(error_of(core, q + 1, milne) * core->excess, q + 1);
        if (other > best) {
            best = other;
            order = q + 1;
        }
    }
    core->order = order;
    if (best > 2.5)
        best = 2.5;
    core->h = h * (best > 0.2 ? best : 0.2);
}

void core_at(const Core *core, double h, double *x)
{
    int n = core->n, i, j;
    memcpy(x, core->poly + (size_t)core->degree * n, n * sizeof(double));
    for (j = core->degree - 1; j >= 0; j--) {
        const double *row = core->poly + (size_t)j * n;
        for (i = 0; i < n; i++)
            x[i] = x[i] * h + row[i];
    }
}

/* Whether the estimate may miss a singular derivative close by, which past values do not
 * show: on the way onto a guard, or where higher differences do not get smaller. */
static int is_doubtful(const Core *core, double error, double h)
{
    int above = core->order + 1;
    double whole, milne;
    if (!core->p->edged || h <= core_least(core))
        return 0;
    if (core->landing)
        return 1;
    if (core->points < above || !(error > WORTH_MEASURING))
        return 0;
    integrals(core, above, h, &whole, &milne);
    return error_of(core, above, milne) > SLOW_DECAY * error;
}

/* The corrected polynomial into `inside` and its derivative into `slope`, inside the step. */
static void defect_point(const Core *core, double s, double *inside, double *slope)
{
    int q = core->order, n = core->n, i, e;
    const double *top = core->rows + (size_t)q * n;
    for (i = 0; i < n; i++) {
        double value = 0.0, rate = 0.0;
        for (e = q + 1; e >= 0; e--) {
            double c = e <= q ? core->poly[(size_t)e * n + i] : 0.0;
            if (e)
                c = c + top[i] * (core->basis[q][e - 1] * INVERSE[e]);
            rate = rate * s + value;
            value = value * s + c;
        }
        inside[i] = value;
        slope[i] = rate;
    }
}

/* Measure the error of the step by the defect f - P' = d w(s) at one place inside it, where
 * w(s) = w_q(s) (s - h), and correct the state by it; *error becomes what is left, if that is
 * larger. Where a guard forbids to look, the estimate stays. */
static int measure(Core *core, double h, double *error)
{
    int q = core->order, n = core->n, i, e;
    double s = DEFECT_PLACE * h, w = 0.0, whole, milne, worst = 0.0;
    double *inside = core->inside, *slope = core->extra;
    defect_point(core, s, inside, slope);
    if (core_guards(core, core->t + s, inside, core->trial) < 0)
        return -1;
    if (core_beyond(core, core->trial))
        return 0;
    if (core_flow(core, core->t + s, inside, core->f) < 0)
        return -1;
    if (!all_finite(core->f, n)) {
        *error = INFINITY;
        return 0;
    }
    for (e = q; e >= 0; e--)
        w = w * s + core->basis[q][e];
    w = w * (s - h);
    integrals(core, q + 1, h, &whole, &milne);
    for (i = 0; i < n; i++) {
        double size;
        core->extra[i] = (core->f[i] - slope[i]) / w;
        size = fabs(core->extra[i] * milne) * core->inverse_weight[i];
        if (!(size <= worst))
            worst = size;
    }
    for (i = 0; i < n; i++)
        core->trial_x[i] = core->trial_x[i] + core->extra[i] * milne;
    weigh(core, core->trial_x);
    core->measured = 1;
    worst = UNCORRECTED * worst;
    if (worst > *error) {
        core->excess = *error > 0.0 ? worst / *error : 1.0;
        *error = worst;
    }
    return 0;
}

/* A step along a series. Where not even the shortest step is proved to be regular, or its last
 * terms are not known to be small, the error is the defect at its end: so a flow that is
 * undefined at one point is passed, but no second such step in a row. */
static int judge_series(Core *core, double t, double h, double *error)
{
    const double *x = core->trial_x;
    int n = core->n, regular = h <= core->regular, i, j;
    if (!all_finite(x, n) || !(regular || core->proved))
        return SINGULAR;
    if (regular && h <= core->trusted)
        return GOOD;
    if (core_flow(core, t, x, core->f) < 0)
        return -1;
    if (!all_finite(core->f, n))
        return SINGULAR;
    for (i = 0; i < n; i++) {
        double slope = 0.0, a = fabs(core->x[i]), b = fabs(x[i]), size;
        for (j = core->degree; j > 0; j--)
            slope = slope * h + j * core->poly[(size_t)j * n + i];
        size = fabs(core->f[i] - slope) * h /
               (core->method->atol + core->method->rtol * (b > a ? b : a));
        if (!(size <= *error))
            *error = size;
    }
    return *error <= 1.0 ? GOOD : INACCURATE;
}

/* One trial step into `trial_x` and `trial`; returns a verdict or -1. */
int core_try(Core *core, double t, double h, double *error)
{
    int looking = core->method->detection == EXTRAPOLATION, q = core->order, n = core->n, i;
    double *x = core->trial_x, whole, milne;
    *error = 0.0;
    core->excess = 1.0;
    core->measured = 0;
    core_at(core, h, x);
    if (core_guards(core, t, x, core->trial) < 0)
        return -1;
    if (core_beyond(core, core->trial) && looking)
        return BEYOND;
    if (core->method->taylor)
        return judge_series(core, t, h, error);
    core->beyond += core->fired_count > 0;
    if (core_flow(core, t, x, core->rows) < 0)
        return -1;
    if (!all_finite(core->rows, n))
        return SINGULAR;
    core_differences(core, t, core->points < q + 1 ? core->points : q + 1);
    integrals(core, q, h, &whole, &milne);
    for (i = 0; i < n; i++)
        x[i] = x[i] + core->rows[(size_t)q * n + i] * whole;
    if (!all_finite(x, n))
        return SINGULAR;
    weigh(core, x);
    *error = error_of(core, q, milne);
    if (!(*error <= 1.0))
        return INACCURATE;
    if (is_doubtful(core, *error, h)) {
        if (measure(core, h, error) < 0)
            return -1;
        if (!(*error <= 1.0))
            return INACCURATE;
    }
    if (core_guards(core, t, x, core->trial) < 0)
        return -1;
    if (core_beyond(core, core->trial) && looking)
        return BEYOND;
    return GOOD;
}
