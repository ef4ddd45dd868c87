/* Flows and guards at a point. */
#include "advance.h"

#include <math.h>
#include <string.h>

int all_finite(const double *values, int count)
{
    int i;
    for (i = 0; i < count; i++)
        if (!(fabs(values[i]) < INFINITY))
            return 0;
    return 1;
}

/* Enter a point into the registers, which then hold the values of a tape there. */
static int run_at(Core *core, double t, const double *x, const Instruction *tape, int count)
{
    core->r[0] = t;
    memcpy(core->r + 1, x, core->n * sizeof(double));
    return tape_values(core->p, tape, count, core->r);
}

int core_flow(Core *core, double t, const double *x, double *f)
{
    const Program *p = core->p;
    int i;
    if (run_at(core, t, x, p->flow, p->flow_count) < 0)
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
    if (run_at(core, t, x, p->guard, p->guard_count) < 0)
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

int core_jumps(const Core *core, int k, const double *values)
{
    double old = core->values[k];
    return !(core->p->atoms[k].flags & FLAG_FROZEN) &&
           (old != old || fabs(values[k] - old) > core->scale[k]);
}

/* Whether an equality is passed: zero lies between its values, and it does not jump over it. */
static int is_passed(const Core *core, int k, const double *values)
{
    double v = values[k], old = core->values[k], eps = core->eps[k];
    if (core->departing[k] || fabs(old) <= eps || v * old > 0.0 || old != old)
        return 0;
    return !core->shortest || fabs(v) <= eps || !core_jumps(core, k, values);
}

/* The active unilateral watches that are true strictly beyond their guards. */
int core_beyond(Core *core, const double *values)
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
            core->truth[k] = is_passed(core, k, values);
        else
            core->truth[k] = fabs(v) > (fabs(old) <= core->eps[k] ? core->eps[k] : 0.0);
    }
    for (i = 0; i < core->active_count; i++)
        if (p->watches[core->active[i]].kind == UNILATERAL &&
            core_holds(core, core->active[i], core->truth))
            core->fired[core->fired_count++] = core->active[i];
    return core->fired_count;
}
