/* Detection for comparison: by the ends of steps, or by bisection between them. */
#include "advance.h"

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

void core_newly_true(Core *core, const double *values)
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
int core_locate(Core *core, double start, double *t, double *x)
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
        core_at(core, middle, x);
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
    core_at(core, high, x);
    return 0;
}
