/* Looking ahead: the watched guards along the extrapolation polynomial. */
#include "advance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RESIDUAL 1e-6
#define FORESIGHT 0.1

static void clear_above(Core *core, int reg, int top)
{
    double *row = core_row(core, reg);
    int k;
    for (k = top + 1; k <= core->filled[reg]; k++)
        row[k] = 0.0;
    core->filled[reg] = top;
}

static int compose(Core *core)
{
    const Program *p = core->p;
    int i, k, q = core->degree;
    core_row(core, 0)[0] = core->t;
    core_row(core, 0)[1] = 1.0;
    clear_above(core, 0, 1);
    for (i = 0; i < core->n; i++) {
        double *row = core_row(core, 1 + i);
        for (k = 0; k <= q; k++)
            row[k] = core->poly[(size_t)k * core->n + i];
        clear_above(core, 1 + i, q);
    }
    for (i = 0; i < p->guard_count; i++) {
        const Instruction *step = &p->guard[i];
        int top = core_span(core, p->degrees[step->d]);
        if (!core->needed[i])
            continue;
        if (tape_row(p, step, core->series, top) < 0)
            return -1;
        clear_above(core, step->d, top);
        if (step->code >= SIN && step->code <= ATAN2)
            clear_above(core, step->c, top);
    }
    return 0;
}

/* The tolerances of the atoms. At the start, and until a guard has been left, what the clock
 * cannot tell apart is tolerated, too: a state lies up to the shortest step from its event. */
static int tolerances(Core *core)
{
    const Program *p = core->p;
    double least = core_least(core);
    int i;
    if (core_guards(core, core->t, core->x, core->trial) < 0)
        return -1;
    for (i = 0; i < core->n; i++) {
        double size = fabs(core->x[i]);
        core->spread[1 + i] = core->method->atol + core->method->rtol * size;
        core->noise[1 + i] = 0x1p-53 * size;
    }
    core->noise[0] = 0x1p-53 * fabs(core->t);
    tape_sensitivity(p, p->guard, p->guard_count, core->r, core->spread, core->noise);
    for (i = 0; i < p->atom_count; i++) {
        double scale, noise;
        if (p->atoms[i].flags & FLAG_FROZEN)
            continue;
        scale = core->spread[p->atoms[i].reg];
        noise = core->noise[p->atoms[i].reg];
        if (!(scale < INFINITY))
            scale = core->method->atol;
        if (!(noise < INFINITY))
            noise = 0.0;
        core->scale[i] = scale;
        core->eps[i] = RESIDUAL * scale + 4.0 * noise;
        if (core->used[i] && (core->first || core->departing[i])) {
            double clock = 4.0 * least * fabs(core_row(core, p->atoms[i].reg)[1]);
            if (clock < INFINITY)
                core->eps[i] += clock;
        }
    }
    return 0;
}

static int near(Core *core, double h)
{
    const Program *p = core->p;
    int k, j;
    if (core->first)
        return 1;
    for (k = 0; k < p->atom_count; k++) {
        const Atom *atom = &p->atoms[k];
        const double *row;
        double rest = 0.0, power = 1.0, last = 0.0, before = 0.0, v;
        int degree;
        if (!core->used[k] || atom->flags & FLAG_FROZEN)
            continue;
        degree = core_span(core, p->degrees[atom->reg]);
        row = core_row(core, atom->reg);
        for (j = 1; j <= degree; j++) {
            power *= h;
            before = last;
            last = fabs(row[j]) * power;
            rest += last;
        }
        if (p->degrees[atom->reg] * core->degree > MAX_DEGREE)
            rest += 4.0 * (last + before);
        v = fabs(core->values[k]);
        if (!(rest < 0.5 * v) || v <= 4.0 * core->eps[k])
            return 1;
    }
    return 0;
}

int core_holds(Core *core, int watch, const char *truth)
{
    const Watch *w = &core->p->watches[watch];
    const int *token = core->p->tokens + w->first, *end = token + w->count;
    char *top = core->stack;
    for (; token < end; token++) {
        if (*token >= 0)
            *top++ = truth[*token];
        else if (*token == TOKEN_TRUE || *token == TOKEN_FALSE)
            *top++ = *token == TOKEN_TRUE;
        else {
            top--;
            top[-1] = *token == TOKEN_AND ? (top[-1] && top[0]) : (top[-1] || top[0]);
        }
    }
    return top[-1];
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static char is_inside(const Intervals *part, double time)
{
    char inside = 0;
    int j;
    for (j = 0; j < part->count; j++)
        inside |= part->at[j].low <= time && time <= part->at[j].high;
    return inside;
}

/* The first time at which a watch's formula is true; infinite for never. */
static double earliest(Core *core, int watch)
{
    const Watch *w = &core->p->watches[watch];
    const int *tokens = core->p->tokens + w->first;
    int count = 1, i, j, c;
    core->candidates[0] = 0.0;
    for (i = 0; i < w->count; i++)
        if (tokens[i] >= 0)
            for (j = 0; j < core->found[tokens[i]].count; j++)
                core->candidates[count++] = core->found[tokens[i]].at[j].low;
    if (count > 1)
        qsort(core->candidates, count, sizeof(double), compare_doubles);
    for (c = 0; c < count; c++) {
        double time = core->candidates[c];
        if (c > 0 && time == core->candidates[c - 1])
            continue;
        for (i = 0; i < w->count; i++)
            if (tokens[i] >= 0)
                core->truth[tokens[i]] = is_inside(&core->found[tokens[i]], time);
        if (core_holds(core, watch, core->truth))
            return time;
    }
    return INFINITY;
}

/* When a watch's formula, which stays false, first is true but for atoms that touch. */
static double touch_time(Core *core, int watch, double h)
{
    const Watch *w = &core->p->watches[watch];
    const int *tokens = core->p->tokens + w->first;
    double first = INFINITY, *times = core->candidates;
    int i, j;
    for (i = 0; i < w->count; i++)
        times[i] = tokens[i] >= 0 ? core_nearest(core, tokens[i], h) : INFINITY;
    for (i = 0; i < w->count; i++) {
        double time = times[i];
        if (!(time < first))
            continue;
        for (j = 0; j < w->count; j++)
            if (tokens[j] >= 0)
                core->truth[tokens[j]] =
                    is_inside(&core->found[tokens[j]], time) || times[j] == time;
        if (core_holds(core, watch, core->truth))
            first = time;
    }
    return first;
}

/* By how much a polynomial changes until h. */
static double change(const double *c, int degree, double h)
{
    double end = 0.0;
    int j;
    for (j = degree; j > 0; j--)
        end = (end + c[j]) * h;
    return end;
}

/* Whether a true formula only touches: some atom is within its band, and none that is gets
 * beyond its tolerance before it has left again. */
static int grazes(Core *core, int watch, double h)
{
    const Program *p = core->p;
    const Watch *w = &p->watches[watch];
    int touching = 0, i, j;
    for (i = 0; i < w->count; i++) {
        int token = p->tokens[w->first + i], degree;
        const Atom *atom;
        double c[STRIDE], v, eps;
        Intervals found;
        if (token < 0 || p->atoms[token].flags & (FLAG_FROZEN | FLAG_EQUALITY))
            continue;
        atom = &p->atoms[token];
        v = core->values[token];
        eps = core->eps[token];
        if (!(fabs(v) <= eps))
            continue;
        degree = core_span(core, p->degrees[atom->reg]);
        for (j = 0; j <= degree; j++)
            c[j] = atom->sign * core_row(core, atom->reg)[j];
        c[0] = v - TOUCH * core->scale[token];
        nonnegative(c, degree, h, &found);
        if (found.count)
            return 0;
        touching = touching || v + change(c, degree, h) < -eps;
    }
    return touching;
}

/* Whether a formula is true only because several of its atoms are within their bands at once:
 * it is not on all their boundaries, nowhere on the way if these must get beyond their
 * tolerances, and not at h. (What was found about the atoms is overwritten.) */
static int passes_corner(Core *core, int watch, double h)
{
    const Program *p = core->p;
    const Watch *w = &p->watches[watch];
    const int *tokens = p->tokens + w->first;
    int close = 0, i, j;
    for (i = 0; i < w->count; i++) {
        int k = tokens[i], degree, inside;
        double c[STRIDE], v, eps;
        const Atom *atom;
        if (k < 0)
            continue;
        atom = &p->atoms[k];
        v = core->values[k];
        eps = core->eps[k];
        core->found[k].count = 0;
        if (atom->flags & FLAG_FROZEN) {
            core->truth[k] = core->at_end[k] = (v != 0.0) == (atom->sign > 0);
            if (core->at_end[k]) {
                core->found[k].count = 1;
                core->found[k].at[0].low = 0.0;
                core->found[k].at[0].high = h;
            }
            continue;
        }
        if (atom->flags & FLAG_EQUALITY || v != v)
            return 0;
        degree = core_span(core, p->degrees[atom->reg]);
        for (j = 0; j <= degree; j++)
            c[j] = atom->sign * core_row(core, atom->reg)[j];
        inside = fabs(v) <= eps;
        close += inside;
        c[0] = inside ? v - TOUCH * core->scale[k] : v;
        nonnegative(c, degree, h, &core->found[k]);
        core->truth[k] = inside ? !(atom->flags & FLAG_STRICT) : v > 0.0;
        core->at_end[k] = v + change(c, degree, h) >= -eps;
    }
    if (close < 2 || core_holds(core, watch, core->truth) ||
        core_holds(core, watch, core->at_end))
        return 0;
    return earliest(core, watch) == INFINITY;
}

/* How far the extrapolation tells whether a guard is left again: the next step, or, where an
 * event made the last ones short, a part of the time from which it is made. */
static double foresight(const Core *core, double h)
{
    double known;
    if (core->method->taylor || core->points == 0)
        return h;
    known = FORESIGHT * (core->t - core->times[core->order - 1]);
    return known > h ? known : h;
}

/* The step allowed by the watches; fills the lists of watches that are true now. */
int core_plan(Core *core, double h, double *limit)
{
    int k, i, known;
    core->fired_count = core->grazing_count = 0;
    *limit = h;
    if (core->active_count == 0)
        return 0;
    if (compose(core) < 0)
        return -1;
    if (near(core, h) && tolerances(core) < 0)
        return -1;
    for (;;) {
        double shortest = h;
        for (k = 0; k < core->p->atom_count; k++)
            if (core->used[k]) {
                double trusted = core_intervals(core, k, h, &core->found[k]);
                if (trusted < shortest)
                    shortest = trusted;
            }
        if (shortest >= h || h <= core_least(core))
            break;
        h = shortest;
    }
    if (core_verified(core, h, limit) < 0)
        return -1;
    for (i = 0; i < core->active_count; i++) {
        double time = earliest(core, core->active[i]), touch = INFINITY;
        if (time > 0.0 && core->p->watches[core->active[i]].touch)
            touch = touch_time(core, core->active[i], h);
        if (touch < time)
            time = touch;
        if (time == 0.0)
            core->fired[core->fired_count++] = core->active[i];
        else if (time < *limit)
            *limit = time;
        if (time == 0.0 && (touch == 0.0 || grazes(core, core->active[i], foresight(core, h))))
            core->grazing[core->grazing_count++] = core->active[i];
    }
    known = core->grazing_count;
    for (i = 0; i < core->fired_count; i++) {
        for (k = 0; k < known && core->grazing[k] != core->fired[i]; k++)
            ;
        if (k == known && passes_corner(core, core->fired[i], foresight(core, h)))
            core->grazing[core->grazing_count++] = core->fired[i];
    }
    return 0;
}
