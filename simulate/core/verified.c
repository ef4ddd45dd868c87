/* Guards that are no polynomials: enclosed by intervals along the way. */
#include "advance.h"

#include <math.h>
#include <string.h>

#define FINEST 0x1p-6
#define SHORTEST 0x1p-30
#define MAX_ROUNDS 256

enum { AT_EDGE = 2 };

/* What a tape computes between the times a and b of the extrapolation, enclosed. */
int core_ranges(Core *core, const Instruction *tape, int count, double a, double b)
{
    const Program *p = core->p;
    double middle = 0.5 * (a + b), half = 0.5 * (b - a);
    int i, j;
    for (i = 0; i < p->registers; i++)
        core->low[i] = core->high[i] = core->r[i];
    memset(core->gaps, 0, p->registers);
    core->low[0] = core->t + a;
    core->high[0] = core->t + b;
    for (i = 0; i < core->n; i++) {
        double value = 0.0, slope = 0.0, power = 1.0, reach;
        for (j = core->degree; j >= 0; j--)
            value = value * middle + core->poly[(size_t)j * core->n + i];
        for (j = 1; j <= core->degree; j++) {
            slope += j * fabs(core->poly[(size_t)j * core->n + i]) * power;
            power *= b;
        }
        reach = half * slope;
        core->low[1 + i] = value - reach;
        core->high[1 + i] = value + reach;
    }
    return tape_enclosure(p, tape, count, core->low, core->high, core->gaps);
}

static int ranges(Core *core, double a, double b)
{
    return core_ranges(core, core->p->guard, core->p->guard_count, a, b);
}

/* Whether an atom that is false now is false over the whole range just enclosed. */
static int stays_false(const Core *core, int k)
{
    const Atom *atom = &core->p->atoms[k];
    double low = core->low[atom->reg], high = core->high[atom->reg];
    if (atom->flags & FLAG_UNDEFINED_HOLDS && core->gaps[atom->reg])
        return 0;
    if (low != low) /* it has no value */
        return 1;
    if (atom->flags & FLAG_EQUALITY)
        return atom->sign > 0 && (high < 0.0 || low > 0.0);
    return atom->sign > 0 ? high < 0.0 : low > 0.0;
}

/* Mark the atoms that are false now and no polynomials; how many there are. */
static int mark_unproved(Core *core)
{
    const Program *p = core->p;
    int k, count = 0;
    for (k = 0; k < p->atom_count; k++) {
        const Atom *atom = &p->atoms[k];
        double v = core->values[k];
        int is_false = v < -core->eps[k];
        if (v != v)
            is_false = !(atom->flags & FLAG_UNDEFINED_HOLDS);
        else if (atom->flags & FLAG_EQUALITY)
            is_false = atom->sign > 0 && fabs(v) > core->eps[k];
        core->open[k] = core->used[k] && !(atom->flags & FLAG_FROZEN) && is_false &&
                        p->degrees[atom->reg] * core->degree > MAX_DEGREE;
        count += core->open[k];
    }
    return count;
}

/* How far to go where guards, those with open[k] = AT_EDGE, have no value here and now (at a
 * pole, say): to where all of them have one again, for what they are there no series made here
 * tells; h if that is not close by. They are not open any more. */
static int past_edge(Core *core, double h, double *limit)
{
    double s = core_least(core);
    int k, known = 0;
    *limit = h;
    for (; !known && s < h * FINEST; s *= 4.0) {
        if (ranges(core, s, s) < 0)
            return -1;
        known = 1;
        for (k = 0; k < core->p->atom_count; k++)
            if (core->open[k] == AT_EDGE) {
                double low = core->low[core->p->atoms[k].reg];
                double high = core->high[core->p->atoms[k].reg];
                known &= low != low || (low > -INFINITY && high < INFINITY);
            }
        if (known)
            *limit = s;
    }
    for (k = 0; k < core->p->atom_count; k++)
        if (core->open[k] == AT_EDGE)
            core->open[k] = 0;
    return 0;
}

/* How far the truth of guards that are no polynomials is excluded, or predicted by their
 * series, when the way is enclosed piece by piece; where neither is the case, and not even
 * close by, the step is shortened and enclosed more finely. */
int core_verified(Core *core, double h, double *limit)
{
    double a = 0.0, width, finest, shortest;
    int k, at_edge = 0, rounds = 0, pending = mark_unproved(core);
    if (pending) { /* what is not even excluded here and now cannot be enclosed at all */
        if (ranges(core, 0.0, 0.0) < 0)
            return -1;
        for (k = 0; k < core->p->atom_count; k++)
            if (core->open[k] && !stays_false(core, k)) {
                core->open[k] = core->gaps[core->p->atoms[k].reg] ? AT_EDGE : 0;
                at_edge |= core->open[k];
                pending--;
            }
        if (at_edge && past_edge(core, h, &h) < 0)
            return -1;
    }
    width = h;
    finest = h * FINEST;
    shortest = h * SHORTEST;
    while (pending && a < h && rounds < MAX_ROUNDS) {
        double b = a + width < h ? a + width : h;
        int failing = 0, unexplained = 0;
        rounds++;
        if (ranges(core, a, b) < 0)
            return -1;
        for (k = 0; k < core->p->atom_count; k++)
            if (core->open[k] && !stays_false(core, k)) {
                failing++;
                unexplained |=
                    !(core->found[k].count && core->found[k].at[0].low <= b + width);
            }
        if (failing && width > finest) {
            width *= 0.5;
            continue;
        }
        if (unexplained && a > 0.0) {
            *limit = a;
            return 0;
        }
        if (unexplained && b > shortest) {
            h = width = b;
            finest = b * FINEST;
            continue;
        }
        for (k = 0; failing && k < core->p->atom_count; k++)
            if (core->open[k] && !stays_false(core, k)) {
                double low = core->found[k].count ? core->found[k].at[0].low : b;
                core->open[k] = 0; /* the series tells where, or it is too close */
                pending--;
                h = low < b ? b : (low < h ? low : h);
            }
        a = b;
        width = 2.0 * width;
    }
    *limit = pending && a > 0.0 ? (a < h ? a : h) : h;
    return 0;
}
