/* Enclosures: the tape on intervals; specified by `simulate/stepping/reference/interval.py`. */
#include "tape.h"

#include <math.h>

#define PI 3.141592653589793

typedef struct { double low, high; } Span;

static const Span EVERYTHING = {-INFINITY, INFINITY}, NOWHERE = {NAN, NAN};

static Span span(double low, double high)
{
    Span s;
    s.low = low;
    s.high = high;
    return s;
}

static Span corners(double a, double b, double c, double d)
{
    double v[4];
    Span s;
    int i;
    v[0] = a;
    v[1] = b;
    v[2] = c;
    v[3] = d;
    s.low = s.high = a;
    for (i = 0; i < 4; i++) {
        if (v[i] != v[i])
            return EVERYTHING;
        s.low = v[i] < s.low ? v[i] : s.low;
        s.high = v[i] > s.high ? v[i] : s.high;
    }
    return s;
}

static double least(double a, double b) { return a < b ? a : b; }
static double most(double a, double b) { return a > b ? a : b; }

static int is_whole(double x) { return x == floor(x); }

/* x / y, where y does not contain zero. */
static Span quotients(Span x, Span y)
{
    return corners(x.low / y.low, x.low / y.high, x.high / y.low, x.high / y.high);
}

/* x ** e: of what is not negative, unless the exponent is a whole number. */
static Span power_span(Span x, double e)
{
    int whole = is_whole(e);
    double low = whole || x.low > 0.0 ? x.low : 0.0, a, b;
    if (whole && !(x.low > 0.0) && !(e > 0.0))
        return EVERYTHING;
    a = pow(low, e);
    b = pow(x.high, e);
    if (whole && low < 0.0 && 0.0 < x.high && is_whole(0.5 * e))
        return span(0.0, a > b ? a : b);
    return corners(a, b, a, b);
}

/* The angle of (x, y): all angles where the range has points on both sides of the cut. */
static Span angles(Span y, Span x)
{
    Span s;
    if (x.low == x.high && y.low == y.high)
        return span(atan2(y.low, x.low), atan2(y.low, x.low));
    if (x.low > 0.0) {
        s = quotients(y, x);
        return span(atan(s.low), atan(s.high));
    }
    if (y.low > 0.0 || y.high < 0.0) {
        double quarter = y.low > 0.0 ? 0.5 * PI : -0.5 * PI;
        s = quotients(x, y);
        return span(quarter - atan(s.high), quarter - atan(s.low));
    }
    return span(-PI, PI);
}

static Span binary(int code, Span x, Span y)
{
    int apart = x.high < y.low || y.high < x.low;
    switch (code) {
    case ADD: return span(x.low + y.low, x.high + y.high);
    case SUBTRACT: return span(x.low - y.high, x.high - y.low);
    case MULTIPLY:
        return corners(x.low * y.low, x.low * y.high, x.high * y.low, x.high * y.high);
    case DIVIDE:
        if (y.low <= 0.0 && 0.0 <= y.high)
            return EVERYTHING;
        return quotients(x, y);
    case POWER: return power_span(x, y.low);
    case MINIMUM: return span(least(x.low, y.low), least(x.high, y.high));
    case MAXIMUM: return span(most(x.low, y.low), most(x.high, y.high));
    case ATAN2: return angles(x, y);
    case LESS:
        return x.high < y.low ? span(1.0, 1.0) : (x.low >= y.high ? span(0.0, 0.0) : span(0.0, 1.0));
    case LESS_EQUAL:
        return x.high <= y.low ? span(1.0, 1.0) : (x.low > y.high ? span(0.0, 0.0) : span(0.0, 1.0));
    case EQUAL: return apart ? span(0.0, 0.0) : span(0.0, 1.0);
    case NOT_EQUAL: return apart ? span(1.0, 1.0) : span(0.0, 1.0);
    case AND:
        return span(x.low != 0.0 && y.low != 0.0 ? 1.0 : 0.0,
                    x.high != 0.0 && y.high != 0.0 ? 1.0 : 0.0);
    case OR:
        return span(x.low != 0.0 || y.low != 0.0 ? 1.0 : 0.0,
                    x.high != 0.0 || y.high != 0.0 ? 1.0 : 0.0);
    default: return EVERYTHING;
    }
}

/* The range of the sine between two angles. */
static Span wave(double low, double high)
{
    double a, b, turn;
    Span s;
    if (!(high - low < 2.0 * PI) || !(fabs(low) < 1e9))
        return span(-1.0, 1.0);
    a = sin(low);
    b = sin(high);
    s = a < b ? span(a, b) : span(b, a);
    turn = floor((low - 0.5 * PI) / (2.0 * PI)) + 1.0;
    if (turn * (2.0 * PI) + 0.5 * PI <= high)
        s.high = 1.0;
    turn = floor((low + 0.5 * PI) / (2.0 * PI)) + 1.0;
    if (turn * (2.0 * PI) - 0.5 * PI <= high)
        s.low = -1.0;
    return s;
}

static double sign_of(double x) { return x > 0.0 ? 1.0 : (x < 0.0 ? -1.0 : x); }

static Span unary(int code, Span x)
{
    switch (code) {
    case NEGATE: return span(-x.high, -x.low);
    case ABSOLUTE:
        if (x.low >= 0.0)
            return x;
        if (x.high <= 0.0)
            return span(-x.high, -x.low);
        return span(0.0, most(x.high, -x.low));
    case NOT: return span(1.0 - x.high, 1.0 - x.low);
    case SQRT:
    case LOG: {
        double low = x.low > 0.0 ? x.low : 0.0;
        return code == SQRT ? span(sqrt(low), sqrt(x.high)) : span(log(low), log(x.high));
    }
    case ASIN:
    case ACOS: {
        double low = x.low > -1.0 ? x.low : -1.0, high = x.high < 1.0 ? x.high : 1.0;
        return code == ASIN ? span(asin(low), asin(high)) : span(acos(high), acos(low));
    }
    case SIN: return wave(x.low, x.high);
    case COS: return wave(x.low + 0.5 * PI, x.high + 0.5 * PI);
    case TAN:
        if (!(x.high - x.low < PI) || !(fabs(x.low) < 1e9) ||
            x.high + 0.5 * PI >= (floor((x.low + 0.5 * PI) / PI) + 1.0) * PI)
            return EVERYTHING;
        return span(tan(x.low), tan(x.high));
    case SIGN: return span(sign_of(x.low), sign_of(x.high));
    case FLOOR: return span(floor(x.low), floor(x.high));
    case EXP: return span(exp(x.low), exp(x.high));
    case ATAN: return span(atan(x.low), atan(x.high));
    case COPY: return x;
    default: return EVERYTHING;
    }
}

static void include(Span *s, double value)
{
    s->low = value < s->low ? value : s->low;
    s->high = value > s->high ? value : s->high;
}

/* The values at both ends of the range and at the grid points between them. */
static Span lookup_span(const Table *t, Span x)
{
    Span s = {INFINITY, -INFINITY};
    int i;
    include(&s, table_line(t, x.low));
    include(&s, table_line(t, x.high));
    for (i = 0; i < t->rows; i++)
        if (x.low < t->x[i] && t->x[i] < x.high)
            include(&s, t->values[i]);
    return s;
}

/* The place i of a range with the grid points of an axis: its ends first. */
static double place(Span x, const double *axis, int i)
{
    return i == 0 ? x.low : (i == 1 ? x.high : axis[i - 2]);
}

static Span plane_span(const Table *t, Span x, Span y)
{
    Span s = {INFINITY, -INFINITY};
    int i, j;
    for (i = 0; i < t->rows + 2; i++)
        for (j = 0; j < t->columns + 2; j++) {
            double u = place(x, t->x, i), v = place(y, t->y, j);
            if (x.low <= u && u <= x.high && y.low <= v && v <= y.high)
                include(&s, table_plane(t, u, v));
        }
    return s;
}

/* f(m) +- L r, with the middle m of the arguments and the sum r of their half widths. */
static int external_span(const Program *p, const Instruction *i, const double *low,
                         const double *high, Span *found)
{
    double constant = p->lipschitz[i->b], middle[MAX_ARGUMENTS], reach = 0.0, value;
    int j;
    *found = EVERYTHING;
    if (!(constant < INFINITY) || i->c > MAX_ARGUMENTS)
        return 0;
    for (j = 0; j < i->c; j++) {
        middle[j] = 0.5 * (low[i->a + j] + high[i->a + j]);
        reach += 0.5 * (high[i->a + j] - low[i->a + j]);
    }
    if (!(reach < INFINITY))
        return 0;
    if (tape_call(p, i->b, middle, i->c, 1, &value) < 0)
        return -1;
    *found = span(value - constant * reach, value + constant * reach);
    return 0;
}

/* Whether a function has no value on the whole range. */
static int is_outside(int code, Span x, Span y)
{
    if (code == ASIN || code == ACOS)
        return x.high < -1.0 || x.low > 1.0;
    if (code == POWER)
        return x.high < 0.0 && !is_whole(y.low);
    return (code == SQRT || code == LOG) && x.high < 0.0;
}

/* Whether an operation may have no value somewhere in a range on which its arguments do. */
static int has_gap(int code, Span x, Span y)
{
    if (code == DIVIDE)
        return y.low <= 0.0 && 0.0 <= y.high;
    if (code == ASIN || code == ACOS)
        return x.low < -1.0 || x.high > 1.0;
    if (code == POWER)
        return x.low < 0.0 && !is_whole(y.low);
    return (code == SQRT || code == LOG) && x.low < 0.0;
}

/* One operation on ranges; what has no value anywhere gives none. */
static Span operation(const Program *p, const Instruction *i, Span x, Span y)
{
    Span found;
    if (x.low != x.low || y.low != y.low) {
        if (i->code >= LESS && i->code <= NOT_EQUAL)
            return span(0.0, 1.0);
        return i->code == MINIMUM || i->code == MAXIMUM ? EVERYTHING : NOWHERE;
    }
    if (i->code == LOOKUP1)
        return lookup_span(&p->tables[i->b], x);
    if (i->code == LOOKUP2)
        return plane_span(&p->tables[i->c], x, y);
    if (is_outside(i->code, x, y))
        return NOWHERE;
    found = i->b >= 0 ? binary(i->code, x, y) : unary(i->code, x);
    return found.low <= found.high ? found : EVERYTHING;
}

/* The least range around two; one without values adds nothing. */
static Span hull(Span a, Span b)
{
    if (a.low != a.low || b.low != b.low)
        return a.low != a.low ? b : a;
    return span(least(a.low, b.low), most(a.high, b.high));
}

/* Where an argument may have no value a comparison is decided all the same, and of two numbers
 * the other one may be the least or the largest. */
static Span beside_gap(int code, Span x, Span y, Span found)
{
    if (code >= LESS && code <= NOT_EQUAL)
        return span(0.0, 1.0);
    if (code == MINIMUM || code == MAXIMUM)
        return hull(found, hull(x, y));
    return found;
}

int tape_enclosure(const Program *p, const Instruction *code, int count, double *low,
                   double *high, char *gaps)
{
    const Instruction *i, *end = code + count;
    for (i = code; i < end; i++) {
        Span x = span(low[i->a], high[i->a]), found;
        char gap = gaps[i->a];
        if (i->code == EXTERNAL) {
            int j;
            for (j = 1; j < i->c; j++)
                gap |= gaps[i->a + j];
            if (external_span(p, i, low, high, &found) < 0)
                return -1;
        } else if (i->code == SELECT) {
            Span yes = span(low[i->b], high[i->b]), no = span(low[i->c], high[i->c]);
            int sure = x.low > 0.0, never = !sure && x.high <= 0.0;
            found = sure ? yes : (never ? no : hull(yes, no));
            gap |= (!never && gaps[i->b]) || (!sure && gaps[i->c]);
        } else {
            int second = i->b < 0 || i->code == LOOKUP1 ? i->a : i->b;
            Span y = span(low[second], high[second]);
            found = operation(p, i, x, y);
            gap |= gaps[second];
            if (gap)
                found = beside_gap(i->code, x, y, found);
            gap |= has_gap(i->code, x, y);
        }
        low[i->d] = found.low;
        high[i->d] = found.high;
        gaps[i->d] = gap || found.low != found.low;
    }
    return 0;
}
