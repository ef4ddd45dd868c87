#include "roots.h"
#include "tape.h"

#include <math.h>
#include <string.h>

#define NARROWEST 0x1p-40
#define MAX_DEPTH 64

typedef struct { double low, high, b[STRIDE]; } Part;

static double binomial(int n, int k)
{
    static double table[STRIDE][STRIDE];
    static int ready = 0;
    if (!ready) {
        int i, j;
        for (i = 0; i < STRIDE; i++)
            for (j = 0; j <= i; j++)
                table[i][j] = j == 0 || j == i ? 1.0 : table[i - 1][j - 1] + table[i - 1][j];
        ready = 1;
    }
    return table[n][k];
}

static void append(Intervals *found, double low, double high)
{
    if (found->count && low <= found->at[found->count - 1].high)
        found->at[found->count - 1].high = high;
    else if (found->count == MAX_INTERVALS)
        found->at[found->count - 1].high = 1.0;
    else {
        found->at[found->count].low = low;
        found->at[found->count].high = high;
        found->count++;
    }
}

static double bisect(const double *a, int degree, double low, double high, int rising)
{
    int step, j;
    for (step = 0; step < 64; step++) {
        double middle = 0.5 * (low + high), value;
        if (middle <= low || middle >= high)
            break;
        value = a[degree];
        for (j = degree - 1; j >= 0; j--)
            value = value * middle + a[j];
        if ((value < 0.0) == rising)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static void isolate(const double *a, int degree, Intervals *found)
{
    Part stack[MAX_DEPTH], part;
    int depth = 1, i, j;
    stack[0].low = 0.0;
    stack[0].high = 1.0;
    for (i = 0; i <= degree; i++) {
        double total = 0.0;
        for (j = 0; j <= i; j++)
            total += binomial(i, j) / binomial(degree, j) * a[j];
        stack[0].b[i] = total;
    }
    while (depth) {
        int changes = 0, last = 0, sign;
        part = stack[--depth];
        for (i = 0; i <= degree; i++) {
            sign = part.b[i] >= 0.0 ? 1 : -1;
            changes += last != 0 && sign != last;
            last = sign;
        }
        if (changes == 0) {
            if (last > 0)
                append(found, part.low, part.high);
        } else if (changes == 1) {
            int rising = part.b[0] < 0.0;
            double root = bisect(a, degree, part.low, part.high, rising);
            if (rising)
                append(found, root, part.high);
            else
                append(found, part.low, root);
        } else if (part.high - part.low <= NARROWEST) {
            append(found, part.low, part.high);
        } else {
            Part *right = &stack[depth++], *left = &stack[depth++];
            double middle = 0.5 * (part.low + part.high);
            right->low = middle;
            right->high = part.high;
            left->low = part.low;
            left->high = middle;
            for (i = 0; i <= degree; i++) {
                left->b[i] = part.b[0];
                for (j = 0; j < degree - i; j++)
                    part.b[j] = 0.5 * (part.b[j] + part.b[j + 1]);
            }
            memcpy(right->b, part.b, sizeof part.b);
        }
    }
}

void nonnegative(const double *c, int degree, double h, Intervals *found)
{
    double a[STRIDE], power = 1.0, rest = 0.0;
    int j;
    found->count = 0;
    for (j = 0; j <= degree; j++) {
        a[j] = c[j] * power;
        power *= h;
    }
    while (degree > 0 && a[degree] == 0.0)
        degree--;
    for (j = 1; j <= degree; j++)
        rest += fabs(a[j]);
    if (!(rest < INFINITY)) {
        rest = 0.0;
        degree = 0;
    }
    if (a[0] - rest >= 0.0) {
        found->count = 1;
        found->at[0].low = 0.0;
        found->at[0].high = h;
        return;
    }
    if (a[0] + rest < 0.0)
        return;
    isolate(a, degree, found);
    for (j = 0; j < found->count; j++) {
        found->at[j].low *= h;
        found->at[j].high *= h;
    }
}
