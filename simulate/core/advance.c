/* The stepping loop. */
#include "advance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const double INVERSE[STRIDE] = {
    0.0,      1.0 / 1,  1.0 / 2,  1.0 / 3,  1.0 / 4,  1.0 / 5,  1.0 / 6,  1.0 / 7,  1.0 / 8,
    1.0 / 9,  1.0 / 10, 1.0 / 11, 1.0 / 12, 1.0 / 13, 1.0 / 14, 1.0 / 15, 1.0 / 16, 1.0 / 17,
    1.0 / 18, 1.0 / 19, 1.0 / 20, 1.0 / 21, 1.0 / 22, 1.0 / 23, 1.0 / 24,
};

enum { GOOD, BEYOND, SINGULAR, INACCURATE };

int all_finite(const double *values, int count)
{
    int i;
    for (i = 0; i < count; i++)
        if (!(fabs(values[i]) < INFINITY))
            return 0;
    return 1;
}

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

static int append_doubles(Doubles *list, const double *values, size_t count)
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

/* Evaluation */

int core_flow(Core *core, double t, const double *x, double *f)
{
    const Program *p = core->p;
    int i;
    core->r[0] = t;
    memcpy(core->r + 1, x, core->n * sizeof(double));
    if (tape_values(p, p->flow, p->flow_count, core->r) < 0)
        return -1;
    core->evaluations++;
    for (i = 0; i < core->n; i++)
        f[i] = core->r[p->derivatives[i]];
    core->singular += !all_finite(f, core->n);
    return 0;
}

int core_guards(Core *core, double t, const double *x, double *values)
{
    const Program *p = core->p;
    int i;
    core->r[0] = t;
    memcpy(core->r + 1, x, core->n * sizeof(double));
    if (tape_values(p, p->guard, p->guard_count, core->r) < 0)
        return -1;
    core->guard_evaluations++;
    for (i = 0; i < p->atom_count; i++) {
        double value = core->r[p->atoms[i].reg];
        if (!(p->atoms[i].flags & (FLAG_FROZEN | FLAG_EQUALITY)))
            value = p->atoms[i].sign * value;
        values[i] = value;
    }
    return 0;
}

/* The active unilateral watches that are true strictly beyond their guards. */
static int beyond(Core *core, const double *values)
{
    const Program *p = core->p;
    int k, i;
    core->fired_count = 0;
    for (k = 0; k < p->atom_count; k++) {
        double v = values[k], old = core->values[k];
        int flags = p->atoms[k].flags, sign = p->atoms[k].sign;
        if (flags & FLAG_FROZEN)
            core->truth[k] = (v != 0.0) == (sign > 0);
        else if (v != v)
            core->truth[k] = (flags & FLAG_UNDEFINED_HOLDS) != 0;
        else if (flags & FLAG_STEPWISE && !(flags & FLAG_EQUALITY) && v == 0.0)
            core->truth[k] = !(flags & FLAG_STRICT);
        else if (!(flags & FLAG_EQUALITY))
            core->truth[k] = !(v <= (0.0 < old && old <= core->eps[k] ? core->eps[k] : 0.0));
        else if (sign > 0)
            core->truth[k] = !(core->departing[k] || fabs(old) <= core->eps[k] || v * old > 0.0);
        else
            core->truth[k] = v != 0.0;
    }
    for (i = 0; i < core->active_count; i++)
        if (p->watches[core->active[i]].kind == UNILATERAL &&
            core_holds(core, core->active[i], core->truth))
            core->fired[core->fired_count++] = core->active[i];
    return core->fired_count;
}

/* Adams: errors, orders, differences */

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
static void new_differences(Core *core, double t, int top)
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

/* The order and step that promise most, from the errors at orders q-1, q, q+1. */
static void choose(Core *core, double error, double h)
{
    int q = core->order, order = q;
    double best = growth(error, q), whole, milne, other;
    if (q > 1) {
        integrals(core, q - 1, h, &whole, &milne);
        other = growth(error_of(core, q - 1, milne), q - 1);
        if (other > best) {
            best = other;
            order = q - 1;
        }
    }
    if (q < core->method->max_order && core->points > q) {
        integrals(core, q + 1, h, &whole, &milne);
        other = growth(error_of(core, q + 1, milne), q + 1);
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

static void at_step(const Core *core, double h, double *x)
{
    int n = core->n, i, j;
    memcpy(x, core->poly + (size_t)core->degree * n, n * sizeof(double));
    for (j = core->degree - 1; j >= 0; j--) {
        const double *row = core->poly + (size_t)j * n;
        for (i = 0; i < n; i++)
            x[i] = x[i] * h + row[i];
    }
}

/* One trial step into `trial_x` and `trial`; returns a verdict or -1. */
static int try_step(Core *core, double t, double h, double *error)
{
    int looking = core->method->detection == EXTRAPOLATION, q = core->order, n = core->n, i;
    double *x = core->trial_x, whole, milne;
    *error = 0.0;
    at_step(core, h, x);
    if (core_guards(core, t, x, core->trial) < 0)
        return -1;
    if (beyond(core, core->trial) && looking)
        return BEYOND;
    if (core->method->taylor)
        return all_finite(x, n) ? GOOD : SINGULAR;
    core->beyond += core->fired_count > 0;
    if (core_flow(core, t, x, core->rows) < 0)
        return -1;
    if (!all_finite(core->rows, n))
        return SINGULAR;
    new_differences(core, t, core->points < q + 1 ? core->points : q + 1);
    integrals(core, q, h, &whole, &milne);
    for (i = 0; i < n; i++)
        x[i] = x[i] + core->rows[(size_t)q * n + i] * whole;
    if (!all_finite(x, n))
        return SINGULAR;
    weigh(core, x);
    *error = error_of(core, q, milne);
    if (!(*error <= 1.0))
        return INACCURATE;
    if (core_guards(core, t, x, core->trial) < 0)
        return -1;
    if (beyond(core, core->trial) && looking)
        return BEYOND;
    return GOOD;
}

/* The corrected polynomial, in place of the predicted one. */
static void correct(Core *core)
{
    int q = core->degree, n = core->n, i, m;
    const double *top = core->rows + (size_t)q * n;
    double *row;
    for (m = 0; m <= q; m++) {
        double w = core->basis[q][m] * INVERSE[m + 1];
        row = core->poly + (size_t)(m + 1) * n;
        for (i = 0; i < n; i++)
            row[i] = (m < q ? row[i] : 0.0) + top[i] * w;
    }
    core->degree = q + 1;
}

/* Dense output: the Taylor polynomial, or the corrected Adams polynomial. */
static int record(Core *core)
{
    int n = core->n, i, m, width;
    double *out;
    if (!core->method->taylor && (core->method->dense || core->method->detection != EXTRAPOLATION))
        correct(core);
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

/* Detection for comparison */

static void exact_truth(Core *core, const double *values)
{
    int k;
    for (k = 0; k < core->p->atom_count; k++) {
        int flags = core->p->atoms[k].flags, positive = core->p->atoms[k].sign > 0;
        double v = values[k];
        if (flags & FLAG_FROZEN)
            core->truth[k] = (v != 0.0) == positive;
        else if (flags & FLAG_EQUALITY)
            core->truth[k] = (v == 0.0) == positive;
        else
            core->truth[k] = flags & FLAG_STRICT ? v > 0.0 : v >= 0.0;
    }
}

static void newly_true(Core *core, const double *values)
{
    int i;
    exact_truth(core, values);
    core->fired_count = 0;
    for (i = 0; i < core->active_count; i++) {
        int w = core->active[i];
        char now = (char)core_holds(core, w, core->truth);
        if (now && !core->was_true[w])
            core->fired[core->fired_count++] = w;
        core->was_true[w] = now;
    }
}

/* Bisect the last piece for the first time at which a fired formula is true. */
static int locate(Core *core, double start, double *t, double *x)
{
    int i, step;
    double low = 0.0, high = *t - start;
    if (core->method->detection == ENDPOINT)
        return 0;
    for (step = 0; step < 60; step++) {
        double middle = 0.5 * (low + high);
        int any = 0;
        if (middle <= low || middle >= high)
            break;
        at_step(core, middle, x);
        if (core_guards(core, start + middle, x, core->trial) < 0)
            return -1;
        exact_truth(core, core->trial);
        for (i = 0; i < core->fired_count; i++)
            any |= core_holds(core, core->fired[i], core->truth);
        if (any)
            high = middle;
        else
            low = middle;
    }
    *t = start + high;
    at_step(core, high, x);
    return 0;
}

/* The loop */

static int settle(Core *core, double t)
{
    core->t = t;
    memcpy(core->x, core->trial_x, core->n * sizeof(double));
    return core_guards(core, t, core->x, core->values);
}

/* Evaluate the derivative at the accepted state and store it; 1 to go on, 0 not finite. */
static int renew(Core *core)
{
    int good = 1, room = core->method->max_order + 2, top, n = core->n;
    if (core->method->taylor)
        return core_begin(core, INFINITY, &good) < 0 ? -1 : good;
    core->beyond += beyond(core, core->values) > 0;
    if (core_flow(core, core->t, core->x, core->rows) < 0)
        return -1;
    if (!all_finite(core->rows, n))
        return 0;
    new_differences(core, core->t, core->points);
    top = core->points + 1 < room ? core->points + 1 : room;
    memcpy(core->differences, core->rows, (size_t)top * n * sizeof(double));
    memmove(core->times + 1, core->times, (top - 1) * sizeof(double));
    core->times[0] = core->t;
    core->points = top;
    return 1;
}

static int accept(Core *core, double t, double h, double error, int *stop)
{
    int good;
    if (record(core) < 0)
        return -1;
    core->steps++;
    if (core->method->detection != EXTRAPOLATION) {
        newly_true(core, core->trial);
        if (core->fired_count) {
            if (locate(core, core->t, &t, core->trial_x) < 0 || settle(core, t) < 0)
                return -1;
            *stop = STOP_EVENT;
            core->started = 0;
            return 1;
        }
    }
    if (!core->method->taylor)
        choose(core, error, h);
    core->t = t;
    memcpy(core->x, core->trial_x, core->n * sizeof(double));
    memcpy(core->values, core->trial, core->p->atom_count * sizeof(double));
    core->h_before = h;
    if (core->t >= core->until && core->active_count == 0) {
        core->stale = 1;
        *stop = STOP_END;
        return 1;
    }
    good = renew(core);
    if (good < 0)
        return -1;
    if (!good) {
        core->fired_count = 0;
        *stop = STOP_NOT_FINITE;
        return 1;
    }
    return 0;
}

/* Make one step of at most h; 0 to go on, 1 with *stop set, -1 on failure. */
static int attempt(Core *core, double h, double least, int *stop)
{
    int failures = 0, good;
    double error, factor;
    for (;;) {
        double t = h >= core->until - core->t ? core->until : core->t + h;
        switch (try_step(core, t, h, &error)) {
        case GOOD: return accept(core, t, h, error, stop);
        case BEYOND:
            if (h <= least) {
                *stop = STOP_EVENT;
                return 1;
            }
            h = 0.5 * h;
            break;
        case SINGULAR:
            if (h <= least) {
                core->fired_count = 0;
                *stop = STOP_NOT_FINITE;
                return 1;
            }
            h = 0.25 * h;
            break;
        case INACCURATE:
            if (h <= least) {
                core->fired_count = 0;
                *stop = STOP_STEP_TOO_SMALL;
                return 1;
            }
            factor = 0.8 * pow(error, -1.0 / (core->order + 1));
            h = h * (factor > 0.2 ? factor : 0.2);
            if (h < least)
                h = least;
            failures++;
            if (failures == 3 && core->order > 1) {
                if (core_begin(core, h, &good) < 0)
                    return -1;
                if (!good) {
                    core->fired_count = 0;
                    *stop = STOP_NOT_FINITE;
                    return 1;
                }
                core->rejected++;
                return 0;
            }
            break;
        default: return -1;
        }
        if (h < least)
            h = least;
        core->rejected++;
    }
}

static int finish(Core *core, int stop)
{
    if (stop != STOP_EVENT)
        core->fired_count = core->grazing_count = 0;
    if (stop == STOP_NOT_FINITE || stop == STOP_STEP_TOO_SMALL)
        core->started = 0;
    return append_doubles(&core->out_times, &core->t, 1) < 0 ? -1 : stop;
}

/* Make sure that there is a history at the current state; 1 to go on, 0 not finite. */
static int ready(Core *core)
{
    int good = 1;
    if (!core->started && core_guards(core, core->t, core->x, core->values) < 0)
        return -1;
    if (core->started)
        good = core->stale ? renew(core) : 1;
    else if (!all_finite(core->x, core->n))
        good = 0;
    else if (core_begin(core, INFINITY, &good) < 0)
        good = -1;
    core->started = good == 1;
    core->stale = 0;
    return good;
}

/* The shortest step: eight times what the clock tells apart. */
double core_least(const Core *core)
{
    double a = fabs(core->t), b = fabs(core->until);
    return 1.8e-15 * (b > a ? b : a);
}

int core_run(Core *core)
{
    int stop = STOP_END, done, good = ready(core);
    if (good < 0)
        return -1;
    if (!good)
        return finish(core, STOP_NOT_FINITE);
    for (;;) {
        double remaining = core->until - core->t, least = core_least(core), h, planned;
        double wanted = core->h;
        if (core->method->taylor)
            core->order = core->degree = core->taylor_order;
        else
            core_predictor(core);
        h = core->h;
        if (core->method->max_step < h)
            h = core->method->max_step;
        if (remaining < h)
            h = remaining;
        if (core->method->detection == EXTRAPOLATION) {
            if (core_plan(core, h > 0.0 ? h : least, &planned) < 0)
                return -1;
            if (core->fired_count)
                return finish(core, STOP_EVENT);
            if (planned < h)
                h = planned;
        } else if (core->first) {
            newly_true(core, core->values);
        }
        core->first = 0;
        core->next = h;
        if (remaining <= least) {
            core->t = core->until;
            return finish(core, STOP_END);
        }
        if (core->steps >= core->method->max_steps)
            return finish(core, STOP_STEP_LIMIT);
        if (h < least)
            h = least;
        core->grazing_count = 0;
        done = attempt(core, h, least, &stop);
        if (done < 0)
            return -1;
        if (core->t >= core->until && core->h < wanted && h > 0.01 * wanted)
            core->h = wanted; /* cut short by the end of the stretch, not by the error */
        if (done)
            return finish(core, stop);
    }
}
