/* Polynomial paths: shifts, boxes, and whether two of them can come near each other. */
#include "fleet.h"

#include <math.h>
#include <string.h>

#define HALVINGS 5

int path_open(Path *p, int n)
{
    memset(p, 0, sizeof *p);
    p->n = n;
    p->c = PyMem_Calloc((size_t)n * (STRIDE + 2) + 1, sizeof(double));
    if (p->c == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    p->low = p->c + (size_t)n * STRIDE;
    p->high = p->low + n;
    return 0;
}

/* The polynomial of one variable in powers of the time since base + s. */
void path_shifted(const double *c, int degree, double s, double *out, int stride)
{
    double a[STRIDE];
    int i, j;
    memcpy(a, c, (degree + 1) * sizeof(double));
    if (s != 0.0)
        for (i = 0; i < degree; i++)
            for (j = degree - 1; j >= i; j--)
                a[j] += s * a[j + 1];
    for (i = 0; i <= degree; i++)
        out[(size_t)i * stride] = a[i];
}

void path_bounds(Path *p)
{
    double a[STRIDE], span = p->end - p->start;
    int i, k;
    for (i = 0; i < p->n; i++) {
        double least = 0.0, most = 0.0, power = 1.0;
        path_shifted(p->c + (size_t)i * STRIDE, p->degree, p->start - p->base, a, 1);
        for (k = 1; k <= p->degree; k++) {
            power *= span;
            if (a[k] > 0.0)
                most += a[k] * power;
            else
                least += a[k] * power;
        }
        p->low[i] = a[0] + least;
        p->high[i] = a[0] + most;
    }
}

/* Bounds of one variable between two times. Over-approximation. */
void path_range(const Path *p, int variable, double from, double to, double *low, double *high)
{
    double a[STRIDE], w = 0.5 * (to - from) * (1.0 + 1e-9), power = 1.0, spread = 0.0;
    int k;
    path_shifted(p->c + (size_t)variable * STRIDE, p->degree, 0.5 * (from + to) - p->base, a, 1);
    for (k = 1; k <= p->degree; k++) {
        power *= w;
        spread += fabs(a[k]) * power;
    }
    *low = a[0] - spread;
    *high = a[0] + spread;
}

int far_apart(const Shape *s, const Path *a, const Path *b)
{
    int i;
    for (i = 0; i < s->near_count; i++) {
        const Near *near = &s->near[i];
        if (a->low[near->first] - b->high[near->second] > near->radius ||
            b->low[near->second] - a->high[near->first] > near->radius)
            return 1;
    }
    return 0;
}

/* Whether the agents can be near each other within w of time m. */
int maybe_near(const Shape *s, const Path *a, const Path *b, double m, double w)
{
    double p[STRIDE], q[STRIDE];
    int i, k, degree = a->degree > b->degree ? a->degree : b->degree;
    for (i = 0; i < s->near_count; i++) {
        const Near *near = &s->near[i];
        double distance, spread = 0.0, power = 1.0;
        memset(p, 0, (degree + 1) * sizeof(double));
        memset(q, 0, (degree + 1) * sizeof(double));
        path_shifted(a->c + (size_t)near->first * STRIDE, a->degree, m - a->base, p, 1);
        path_shifted(b->c + (size_t)near->second * STRIDE, b->degree, m - b->base, q, 1);
        distance = fabs(p[0] - q[0]);
        for (k = 1; k <= degree; k++) {
            power *= w;
            spread += fabs(p[k] - q[k]) * power;
        }
        if (distance - spread > near->radius)
            return 0;
    }
    return 1;
}

/* Find the first (or, from behind, the last) part of [t, end] in which the agents can be near
 * each other, by halving; 0 if there is none, else *edge is where that part begins (ends). */
static int edge_of(const Shape *s, const Path *a, const Path *b, double t, double end, int depth,
                   int behind, double *edge)
{
    double middle = 0.5 * (t + end);
    if (!maybe_near(s, a, b, middle, 0.5 * (end - t) * (1.0 + 1e-9)))
        return 0;
    *edge = behind ? end : t;
    if (depth == 0)
        return 1;
    if (behind)
        return edge_of(s, a, b, middle, end, depth - 1, 1, edge) ||
               edge_of(s, a, b, t, middle, depth - 1, 1, edge);
    return edge_of(s, a, b, t, middle, depth - 1, 0, edge) ||
           edge_of(s, a, b, middle, end, depth - 1, 0, edge);
}

/* Narrow [*t, *end] to the parts in which the agents can be near each other; 0 if nowhere. */
int narrow(const Shape *s, const Path *a, const Path *b, double *t, double *end)
{
    double from, to;
    if (s->near_count == 0)
        return 1;
    if (!edge_of(s, a, b, *t, *end, HALVINGS, 0, &from) ||
        !edge_of(s, a, b, *t, *end, HALVINGS, 1, &to))
        return 0;
    *t = from;
    *end = to;
    return 1;
}
