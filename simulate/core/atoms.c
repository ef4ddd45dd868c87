/* Where one atom becomes true along the extrapolation polynomial. */
#include "advance.h"

#include <math.h>

#define CLOSE 64.0
#define NOTHING_GAINED 0.01
#define SOON 0x1p-20
#define LEFT 16.0 /* a guard has been left after so many tolerances: then it can be enclosed */

/* How many powers of the composition are kept. */
int core_span(const Core *core, int degree)
{
    int exact = degree * core->degree;
    if (degree < OPAQUE_DEGREE && exact <= MAX_DEGREE)
        return exact;
    return core->degree + 6 < MAX_DEGREE ? core->degree + 6 : MAX_DEGREE;
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

/* Whether the guard, or its negative, gets beyond eps. */
static int exceeds(const double *c, int degree, double h, double eps, double sign)
{
    double shifted[STRIDE];
    Intervals found;
    int j;
    for (j = 0; j <= degree; j++)
        shifted[j] = sign * c[j];
    shifted[0] -= eps;
    nonnegative(shifted, degree, h, &found);
    return found.count > 0;
}

/* Whether the guard stays in the band |g| <= eps. */
static int stays(const double *c, int degree, double h, double eps)
{
    return direction(c, degree, h, eps) == 0 ||
           !(exceeds(c, degree, h, eps, 1.0) || exceeds(c, degree, h, eps, -1.0));
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
        if (!(inside && stays(c, degree, h, eps)))
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

/* Where an atom is true that is reached just beyond its guard. On the boundary itself it counts
 * as it is written, at the start, where it jumps there, and while it rests there. */
static void crossing(const Core *core, int k, double *c, int degree, double h, double rest,
                     Intervals *found)
{
    int flags = core->p->atoms[k].flags;
    int settled = core->first || flags & FLAG_STEPWISE || rest == 0.0;
    double v = c[0];
    if (v > 0.0 || (v == 0.0 && settled && !(flags & FLAG_STRICT))) {
        nonnegative(c, degree, h, found);
        return;
    }
    found->count = 0;
    if (rest == 0.0)
        return;
    c[0] = v - wanted(core, k, c, degree, 2.0 * core->eps[k]);
    nonnegative(c, degree, h, found);
    if (found->count && found->at[0].low == 0.0)
        found->at[0].low = 0x1p-1074; /* not yet crossed, however near */
}

/* Where an atom is (about to be) true within [0, h]; returns the trusted step. */
double core_intervals(Core *core, int k, double h, Intervals *found)
{
    const Program *p = core->p;
    const Atom *atom = &p->atoms[k];
    const double *row = core_row(core, atom->reg);
    double c[STRIDE], v = core->values[k], flip, rest = 0.0, power = 1.0, last = 0.0;
    double before = 0.0, tail, eps = core->eps[k];
    double scale = core->scale[k] > eps ? core->scale[k] : eps; /* time alone has no spread */
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
    degree = core_span(core, p->degrees[atom->reg]);
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
    if (cut && !(atom->flags & FLAG_EQUALITY) && v > (atom->kind == CROSSING ? 0.0 : eps)) {
        core->departing[k] = 0;
        set_one(found, 0.0, h); /* what it does later, its series need not tell */
        return h;
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
        crossing(core, k, c, degree, h, rest, found);
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
        if (way && c[way] > 0.0 && !(cut || exceeds(c, degree, h, eps, 1.0)))
            way = 0;
        if (way == 0) { /* it rests on the boundary; a strict one is looked at again */
            core->departing[k] = (atom->flags & FLAG_STRICT) != 0;
            if (!(atom->flags & FLAG_STRICT))
                set_one(found, 0.0, h);
            return h;
        }
        if (c[way] < 0.0) {
            double gone = cut ? pow(LEFT * scale / fabs(c[way]), 1.0 / way) : h;
            core->departing[k] = 1;
            gone = gone < SOON * h ? SOON * h : gone;
            if (gone < h)
                return gone;
            returning(c, degree, way, h, found);
            return h;
        }
        core->departing[k] = 0;
    }
    c[0] = 2.0 * eps;
    if (cut)
        set_one(found, 0.0, h);
    else
        nonnegative(c, degree, h, found);
    return h;
}

static double value_at(const double *c, int degree, double s)
{
    double value = c[degree];
    int j;
    for (j = degree - 1; j >= 0; j--)
        value = value * s + c[j];
    return value;
}

/* When an atom that stays false comes nearest to its guard, if that is (or may turn out to be)
 * a touch: it comes from further away than TOUCH tolerances, and is gone again before h.
 * Infinite if not. */
double core_nearest(Core *core, int k, double h)
{
    const Atom *atom = &core->p->atoms[k];
    double v = core->values[k], band = TOUCH * core->scale[k], rest = 0.0, power = 1.0;
    double c[STRIDE], slope[STRIDE], close = CLOSE * core->scale[k];
    int degree, j;
    Intervals falling;
    if (atom->flags & (FLAG_FROZEN | FLAG_EQUALITY | FLAG_STEPWISE) || atom->kind == CROSSING ||
        !(v < -core->eps[k]))
        return INFINITY;
    if (v < -band)
        core->outside[k] = 1;
    if (!core->outside[k])
        return INFINITY;
    degree = core_span(core, core->p->degrees[atom->reg]);
    c[0] = v;
    for (j = 1; j <= degree; j++) {
        c[j] = atom->sign * core_row(core, atom->reg)[j];
        slope[j - 1] = -(j * c[j]);
        power *= h;
        rest += fabs(c[j]) * power;
    }
    if (degree < 1 || !(v + rest >= -close) || !(value_at(c, degree, h) < -band))
        return INFINITY;
    nonnegative(slope, degree - 1, h, &falling);
    for (j = 0; j < falling.count; j++) {
        double value = value_at(c, degree, falling.at[j].low);
        if (value - v <= NOTHING_GAINED * band) {
            if (v >= -band)
                return 0.0;
        } else if (value >= -close) {
            return falling.at[j].low;
        }
    }
    return INFINITY;
}
