/* Looking ahead: the watched guards along the extrapolation polynomial. */
#include "advance.h"

#include <math.h>
#include <string.h>

#define RESIDUAL 1e-6
#define FINEST 0x1p-6
#define SHORTEST 0x1p-30
#define MAX_ROUNDS 256

/* How many powers of the composition are kept. */
static int span(const Core *core, int degree)
{
    int exact = degree * core->degree;
    if (degree < OPAQUE_DEGREE && exact <= MAX_DEGREE)
        return exact;
    return core->degree + 6 < MAX_DEGREE ? core->degree + 6 : MAX_DEGREE;
}

static double *row_of(Core *core, int reg) { return core->series + (size_t)reg * STRIDE; }

static void clear_above(Core *core, int reg, int top)
{
    double *row = row_of(core, reg);
    int k;
    for (k = top + 1; k <= core->filled[reg]; k++)
        row[k] = 0.0;
    core->filled[reg] = top;
}

static int compose(Core *core)
{
    const Program *p = core->p;
    int i, k, q = core->degree;
    row_of(core, 0)[0] = core->t;
    row_of(core, 0)[1] = 1.0;
    clear_above(core, 0, 1);
    for (i = 0; i < core->n; i++) {
        double *row = row_of(core, 1 + i);
        for (k = 0; k <= q; k++)
            row[k] = core->poly[(size_t)k * core->n + i];
        clear_above(core, 1 + i, q);
    }
    for (i = 0; i < p->guard_count; i++) {
        const Instruction *step = &p->guard[i];
        int top = span(core, p->degrees[step->d]);
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
            double clock = 4.0 * least * fabs(row_of(core, p->atoms[i].reg)[1]);
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
        degree = span(core, p->degrees[atom->reg]);
        row = row_of(core, atom->reg);
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

static void set_one(Intervals *found, double low, double high)
{
    found->count = 1;
    found->at[0].low = low;
    found->at[0].high = high;
}

/* The guard's tolerance times the expected error of a step as short as the way to it. */
static double wanted(const Core *core, int k, const double *c, int degree, double least)
{
    double reach = INFINITY, ratio, part = 1.0, distance;
    int j;
    if (degree >= 1 && fabs(c[1]) > 0.0)
        reach = fabs(c[0]) / fabs(c[1]);
    ratio = reach / core->h_before;
    if (ratio < 1.0)
        for (j = 0; j < core->order + 1; j++)
            part *= ratio;
    distance = core->scale[k] * part;
    return distance < least ? least : distance;
}

/* The distance kept from the guard: at most half the present one. */
static double keep_away(const Core *core, int k, const double *c, int degree, double least)
{
    double distance = wanted(core, k, c, degree, least), half = 0.5 * fabs(c[0]);
    return distance < half ? distance : half;
}

static int direction(const double *c, int degree, double h, double eps)
{
    double power = 1.0;
    int j;
    for (j = 1; j <= degree; j++) {
        power *= h;
        if (fabs(c[j]) * power > eps)
            return j;
    }
    return 0;
}

static void returning(const double *c, int degree, int way, double h, Intervals *found)
{
    double low;
    nonnegative(c + way, degree - way, h, found);
    if (found->count) {
        low = 0.5 * found->at[0].low;
        set_one(found, low, h);
    }
}

static void negate(double *c, int degree)
{
    int j;
    for (j = 0; j <= degree; j++)
        c[j] = -c[j];
}

static void equality(Core *core, int k, double *c, int degree, double h, double rest,
                     Intervals *found)
{
    double v = c[0], eps = core->eps[k];
    int inside = fabs(v) <= eps, way;
    found->count = 0;
    if (core->p->atoms[k].sign < 0) {
        if (!(inside && direction(c, degree, h, eps) == 0))
            set_one(found, 0.0, h);
        return;
    }
    if (!inside) {
        core->departing[k] = 0;
        if (rest < 0.5 * fabs(v))
            return;
        if (v > 0.0)
            negate(c, degree);
        c[0] = c[0] + keep_away(core, k, c, degree, 0.5 * eps);
        nonnegative(c, degree, h, found);
        return;
    }
    if (core->first || core->departing[k]) {
        way = direction(c, degree, h, eps);
        if (way) {
            core->departing[k] = 1;
            if (c[way] > 0.0)
                negate(c, degree);
            returning(c, degree, way, h, found);
            return;
        }
    }
    set_one(found, 0.0, 0.0);
}

/* Where an atom is (about to be) true within [0, h]; returns the trusted step. */
static double intervals(Core *core, int k, double h, Intervals *found)
{
    const Program *p = core->p;
    const Atom *atom = &p->atoms[k];
    const double *row = row_of(core, atom->reg);
    double c[STRIDE], v = core->values[k], flip, rest = 0.0, power = 1.0, last = 0.0;
    double before = 0.0, tail, eps = core->eps[k], scale = core->scale[k];
    int degree, cut, j, way;
    found->count = 0;
    if (atom->flags & FLAG_FROZEN) {
        if ((v != 0.0) == (atom->sign > 0))
            set_one(found, 0.0, h);
        return h;
    }
    if (v != v) {
        if (atom->flags & FLAG_UNDEFINED_HOLDS)
            set_one(found, 0.0, h);
        return h;
    }
    degree = span(core, p->degrees[atom->reg]);
    cut = p->degrees[atom->reg] * core->degree > MAX_DEGREE;
    flip = atom->sign < 0 && !(atom->flags & FLAG_EQUALITY) ? -1.0 : 1.0;
    for (j = 0; j <= degree; j++)
        c[j] = flip * row[j];
    c[0] = v;
    for (j = 1; j <= degree; j++) {
        power *= h;
        before = last;
        last = fabs(c[j]) * power;
        rest += last;
    }
    if (!(rest < INFINITY)) {
        if (v > 0.0)
            set_one(found, 0.0, h);
        return h;
    }
    tail = cut ? last + before : 0.0;
    if (tail > scale && rest + 4.0 * tail >= 0.5 * fabs(v)) {
        double part = 0.9 * pow(scale / tail, 1.0 / (degree - 1)), shorter;
        shorter = h * (part > 0.1 ? part : 0.1);
        if (shorter < h)
            return shorter;
    }
    if (atom->flags & FLAG_EQUALITY) {
        equality(core, k, c, degree, h, rest, found);
        return h;
    }
    if (atom->kind == CROSSING) {
        if (v == 0.0 && core->first && !(atom->flags & FLAG_STRICT)) {
            set_one(found, 0.0, 0.0);
            return h;
        }
        if (v <= 0.0)
            c[0] = v - wanted(core, k, c, degree, 2.0 * eps);
        nonnegative(c, degree, h, found);
        if (v <= 0.0 && found->count && found->at[0].low == 0.0)
            found->at[0].low = 0x1p-1074; /* not yet crossed, however near */
        return h;
    }
    if (fabs(v) > eps) {
        core->departing[k] = 0;
        if (v < 0.0 && rest < 0.5 * -v)
            return h;
        if (atom->kind == UNILATERAL || v > 0.0)
            c[0] = v + keep_away(core, k, c, degree, 0.5 * eps);
        nonnegative(c, degree, h, found);
        return h;
    }
    if (core->first || core->departing[k] || (atom->flags & FLAG_STEPWISE && v == 0.0)) {
        way = direction(c, degree, h, eps);
        if (way == 0) { /* it rests on the boundary; a strict one is looked at again */
            core->departing[k] = (atom->flags & FLAG_STRICT) != 0;
            if (!(atom->flags & FLAG_STRICT))
                set_one(found, 0.0, h);
            return h;
        }
        if (c[way] < 0.0) {
            core->departing[k] = 1;
            returning(c, degree, way, h, found);
            return h;
        }
        core->departing[k] = 0;
    }
    c[0] = 2.0 * eps;
    nonnegative(c, degree, h, found);
    return h;
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
            if (tokens[i] >= 0) {
                const Intervals *part = &core->found[tokens[i]];
                char inside = 0;
                for (j = 0; j < part->count; j++)
                    inside |= part->at[j].low <= time && time <= part->at[j].high;
                core->truth[tokens[i]] = inside;
            }
        if (core_holds(core, watch, core->truth))
            return time;
    }
    return INFINITY;
}

static int grazes(Core *core, int watch, double h)
{
    const Program *p = core->p;
    const Watch *w = &p->watches[watch];
    int touching = 0, i, j;
    for (i = 0; i < w->count; i++) {
        int token = p->tokens[w->first + i], degree;
        const Atom *atom;
        double c[STRIDE], v, eps, end = 0.0;
        Intervals found;
        if (token < 0 || p->atoms[token].flags & (FLAG_FROZEN | FLAG_EQUALITY))
            continue;
        atom = &p->atoms[token];
        v = core->values[token];
        eps = core->eps[token];
        if (!(fabs(v) <= eps))
            continue;
        degree = span(core, p->degrees[atom->reg]);
        for (j = 0; j <= degree; j++)
            c[j] = atom->sign * row_of(core, atom->reg)[j];
        c[0] = v - core->scale[token];
        nonnegative(c, degree, h, &found);
        if (found.count)
            return 0;
        for (j = degree; j > 0; j--)
            end = (end + c[j]) * h;
        touching = touching || v + end < -eps;
    }
    return touching;
}

/* The ranges of time and state between the times a and b of the extrapolation. */
static int ranges(Core *core, double a, double b)
{
    const Program *p = core->p;
    double middle = 0.5 * (a + b), half = 0.5 * (b - a);
    int i, j;
    for (i = 0; i < p->registers; i++)
        core->low[i] = core->high[i] = core->r[i];
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
    return tape_enclosure(p, p->guard, p->guard_count, core->low, core->high);
}

/* Whether an atom that is false now is false over the whole range just enclosed. */
static int stays_false(const Core *core, int k)
{
    const Atom *atom = &core->p->atoms[k];
    double low = core->low[atom->reg], high = core->high[atom->reg];
    if (atom->flags & FLAG_EQUALITY)
        return high < 0.0 || low > 0.0;
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
        int equality = atom->flags & FLAG_EQUALITY;
        core->open[k] = core->used[k] && !(atom->flags & FLAG_FROZEN) &&
                        p->degrees[atom->reg] * core->degree > MAX_DEGREE &&
                        !(equality && atom->sign < 0) &&
                        (equality ? fabs(v) > core->eps[k] : v < -core->eps[k]);
        count += core->open[k];
    }
    return count;
}

/* How far the truth of guards that are no polynomials is excluded, or predicted by their
 * series, when the way is enclosed piece by piece; where neither is the case, and not even
 * close by, the step is shortened and enclosed more finely. */
static int verified(Core *core, double h, double *limit)
{
    double a = 0.0, width = h, finest = h * FINEST, shortest = h * SHORTEST;
    int k, rounds = 0, pending = mark_unproved(core);
    if (pending) { /* what is not even excluded here and now cannot be enclosed at all */
        if (ranges(core, 0.0, 0.0) < 0)
            return -1;
        for (k = 0; k < core->p->atom_count; k++)
            if (core->open[k] && !stays_false(core, k)) {
                core->open[k] = 0;
                pending--;
            }
    }
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
                core->open[k] = 0; /* the series tells where, or it is too close */
                pending--;
            }
        a = b;
        width = 2.0 * width;
    }
    *limit = pending && a > 0.0 ? (a < h ? a : h) : h;
    return 0;
}

/* The step allowed by the watches; fills the lists of watches that are true now. */
int core_plan(Core *core, double h, double *limit)
{
    int round, k, i;
    core->fired_count = core->grazing_count = 0;
    *limit = h;
    if (core->active_count == 0)
        return 0;
    if (compose(core) < 0)
        return -1;
    if (near(core, h) && tolerances(core) < 0)
        return -1;
    for (round = 0; round < 8; round++) {
        double shortest = h;
        for (k = 0; k < core->p->atom_count; k++)
            if (core->used[k]) {
                double trusted = intervals(core, k, h, &core->found[k]);
                if (trusted < shortest)
                    shortest = trusted;
            }
        if (shortest >= h)
            break;
        h = shortest;
    }
    if (verified(core, h, limit) < 0)
        return -1;
    for (i = 0; i < core->active_count; i++) {
        double time = earliest(core, core->active[i]);
        if (time == 0.0)
            core->fired[core->fired_count++] = core->active[i];
        else if (time < *limit)
            *limit = time;
    }
    for (i = 0; i < core->fired_count; i++)
        if (grazes(core, core->fired[i], h))
            core->grazing[core->grazing_count++] = core->fired[i];
    return 0;
}
