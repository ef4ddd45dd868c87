/* Enclosures: the tape on intervals; specified by `simulate/stepping/reference/interval.py`. */
#include "tape.h"

#include <math.h>

#define PI 3.141592653589793

typedef struct { double low, high; } Span;

static const Span EVERYTHING = {-INFINITY, INFINITY};

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

static Span binary(int code, Span x, Span y)
{
    Span s;
    int apart = x.high < y.low || y.high < x.low;
    switch (code) {
    case ADD: return span(x.low + y.low, x.high + y.high);
    case SUBTRACT: return span(x.low - y.high, x.high - y.low);
    case MULTIPLY:
        return corners(x.low * y.low, x.low * y.high, x.high * y.low, x.high * y.high);
    case DIVIDE:
        if (y.low <= 0.0 && 0.0 <= y.high)
            return EVERYTHING;
        return corners(x.low / y.low, x.low / y.high, x.high / y.low, x.high / y.high);
    case POWER: {
        double a, b;
        if (!(x.low > 0.0))
            return EVERYTHING;
        a = pow(x.low, y.low);
        b = pow(x.high, y.low);
        return corners(a, b, a, b);
    }
    case MINIMUM: return span(least(x.low, y.low), least(x.high, y.high));
    case MAXIMUM: return span(most(x.low, y.low), most(x.high, y.high));
    case ATAN2:
        if (!(y.low > 0.0))
            return span(-PI, PI);
        s = corners(x.low / y.low, x.low / y.high, x.high / y.low, x.high / y.high);
        return span(atan(s.low), atan(s.high));
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
        if (!(x.high >= 0.0))
            return EVERYTHING;
        return code == SQRT ? span(sqrt(low), sqrt(x.high)) : span(log(low), log(x.high));
    }
    case ASIN:
    case ACOS: {
        double low = x.low > -1.0 ? x.low : -1.0, high = x.high < 1.0 ? x.high : 1.0;
        if (x.high < -1.0 || x.low > 1.0)
            return EVERYTHING;
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

/* The values of the grid points in the range and next to it. */
static Span lookup_span(const Table *t, Span x)
{
    Span s = {INFINITY, -INFINITY};
    int i;
    for (i = 0; i < t->rows; i++) {
        double after = i < t->rows - 1 ? t->x[i + 1] : INFINITY;
        double before = i > 0 ? t->x[i - 1] : -INFINITY;
        if (after >= x.low && before <= x.high) {
            s.low = t->values[i] < s.low ? t->values[i] : s.low;
            s.high = t->values[i] > s.high ? t->values[i] : s.high;
        }
    }
    return s;
}

static Span all_values(const Table *t)
{
    Span s = {INFINITY, -INFINITY};
    int i, count = t->rows * (t->columns ? t->columns : 1);
    for (i = 0; i < count; i++) {
        s.low = least(t->values[i], s.low);
        s.high = most(t->values[i], s.high);
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

int tape_enclosure(const Program *p, const Instruction *code, int count, double *low,
                   double *high)
{
    const Instruction *i, *end = code + count;
    for (i = code; i < end; i++) {
        Span x = span(low[i->a], high[i->a]), found;
        if (i->code == LOOKUP1)
            found = lookup_span(&p->tables[i->b], x);
        else if (i->code == LOOKUP2)
            found = all_values(&p->tables[i->c]);
        else if (i->code == EXTERNAL) {
            if (external_span(p, i, low, high, &found) < 0)
                return -1;
        } else if (i->code == SELECT) {
            Span yes = span(low[i->b], high[i->b]), no = span(low[i->c], high[i->c]);
            if (x.low > 0.0)
                found = yes;
            else if (x.high <= 0.0)
                found = no;
            else
                found = span(least(yes.low, no.low), most(yes.high, no.high));
        } else if (i->b >= 0)
            found = binary(i->code, x, span(low[i->b], high[i->b]));
        else
            found = unary(i->code, x);
        if (!(found.low <= found.high))
            found = EVERYTHING;
        low[i->d] = found.low;
        high[i->d] = found.high;
    }
    return 0;
}
