/* The stepping loop. */
#include "advance.h"

#include <math.h>
#include <string.h>

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
    core->beyond += core_beyond(core, core->values) > 0;
    if (core_flow(core, core->t, core->x, core->rows) < 0)
        return -1;
    if (!all_finite(core->rows, n))
        return 0;
    core_differences(core, core->t, core->points);
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
    if (core_record(core, h) < 0)
        return -1;
    core->steps++;
    if (core->method->detection != EXTRAPOLATION) {
        core_newly_true(core, core->trial);
        if (core->fired_count) {
            if (core_locate(core, core->t, &t, core->trial_x) < 0 || settle(core, t) < 0)
                return -1;
            *stop = STOP_EVENT;
            core->started = 0;
            return 1;
        }
    }
    if (!core->method->taylor)
        core_choose(core, error, h);
    core->t = t;
    memcpy(core->x, core->trial_x, core->n * sizeof(double));
    memcpy(core->values, core->trial, core->p->atom_count * sizeof(double));
    core->h_before = h;
    core->proved = h <= core->regular;
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

/* Whether all that is true one shortest step ahead are guards of edges that jump there: the
 * state may go to where they hold. */
static int is_entered(const Core *core)
{
    int i, j;
    for (i = 0; i < core->fired_count; i++) {
        const Watch *w = &core->p->watches[core->fired[i]];
        int any = 0;
        for (j = w->first; j < w->first + w->count; j++)
            any |= core->p->tokens[j] >= 0 && core_jumps(core, core->p->tokens[j], core->trial);
        if (!w->touch || !any)
            return 0;
    }
    return 1;
}

/* Go to the trial state without evaluating the flow there; the last piece leads to it. */
static void land(Core *core, double t)
{
    core->t = t;
    memcpy(core->x, core->trial_x, core->n * sizeof(double));
    memcpy(core->values, core->trial, core->p->atom_count * sizeof(double));
    core->started = 0;
}

/* Make one step of at most h; 0 to go on, 1 with *stop set, -1 on failure. */
static int attempt(Core *core, double h, double least, int *stop)
{
    int failures = 0, good;
    double error, factor;
    for (;;) {
        double t = h >= core->until - core->t ? core->until : core->t + h;
        core->shortest = h <= least;
        switch (core_try(core, t, h, &error)) {
        case GOOD: return accept(core, t, h, error, stop);
        case BEYOND:
            if (h <= least) {
                if (is_entered(core))
                    land(core, t);
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
            core->landing = planned < h;
            if (planned < h)
                h = planned;
        } else if (core->first) {
            core_newly_true(core, core->values);
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
        if (core->method->taylor && core->p->edged) {
            core->regular = core_regular(core, h);
            if (core->regular < 0.0)
                return -1;
            if (core->regular < h)
                h = core->regular > least ? core->regular : least;
        }
        core->grazing_count = 0;
        done = attempt(core, h, least, &stop);
        if (done < 0)
            return -1;
        if (core->t >= core->until && !core->method->taylor && core->h < wanted &&
            h > 0.01 * wanted)
            core->h = wanted; /* cut short by the end of the stretch, not by the error */
        if (done)
            return finish(core, stop);
    }
}
