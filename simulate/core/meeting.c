/* Conditions on two agents along their paths.
 *
 * The condition is composed with both polynomials; `core_plan` looks for the first time in
 * the overlap of the windows at which it is true. */
#include "fleet.h"

#include <math.h>
#include <string.h>

#define MOST_ROUNDS 1000

/* The state of the pair: a at time `at`, b at time `bt`, and their polynomials from there. */
void pair_place(Shape *s, const Path *a, const Path *b, double at, double bt)
{
    Core *core = &s->core;
    int n = core->n, i, degree = a->degree > b->degree ? a->degree : b->degree;
    const int *reads = s->reads;
    core->t = at < bt ? at : bt;
    core->degree = degree;
    memset(core->poly, 0, (size_t)n * (degree + 1) * sizeof(double));
    for (i = 0; i < n; i++) {
        const Path *p = i < s->moving_a ? a : b;
        double t = i < s->moving_a ? at : bt;
        path_shifted(p->c + (size_t)*reads++ * STRIDE, p->degree, t - p->base, core->poly + i, n);
        core->x[i] = core->poly[i];
    }
    for (i = 0; i < s->held_a + s->held_b; i++) {
        const Path *p = i < s->held_a ? a : b;
        double value = p->c[(size_t)*reads++ * STRIDE];
        core->r[1 + n + i] = core->series[(size_t)(1 + n + i) * STRIDE] = value;
    }
}

/* The first time in [t, end] at which the condition is true; 1 found, 0 none, -1 failure. */
int pair_meet(Shape *s, const Path *a, const Path *b, double t, double end, double *when)
{
    Core *core = &s->core;
    double limit, least = 1.8e-15 * (fabs(end) > fabs(t) ? fabs(end) : fabs(t));
    int round;
    for (round = 0; round < MOST_ROUNDS && end - t > least; round++) {
        pair_place(s, a, b, t, t);
        core_watch(core, end, s->active, core->p->watch_count);
        core->order = 1;
        core->h_before = INFINITY; /* the paths are known: land on the guard itself */
        memset(core->departing, 0, core->p->atom_count);
        if (core_guards(core, t, core->x, core->values) < 0 ||
            core_plan(core, end - t, &limit) < 0)
            return -1;
        if (core->fired_count) {
            *when = t;
            return 1;
        }
        if (limit >= end - t)
            return 0;
        t += limit > least ? limit : least;
    }
    return 0;
}

int layer_has(const Fleet *f, const Layer *layer, int a, int b)
{
    size_t bit = (size_t)a * f->count + b;
    return layer->pairs[bit >> 3] >> (bit & 7) & 1;
}

static int note_meeting(Fleet *f, const Meeting *new)
{
    Meeting *heap;
    int at = f->meeting_count;
    if (more_room((void **)&f->meetings, &f->meeting_room, at + 1, sizeof(Meeting)) < 0)
        return -1;
    heap = f->meetings;
    f->meeting_count++;
    while (at > 0 && meeting_before(new, &heap[(at - 1) / 2])) {
        heap[at] = heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    heap[at] = *new;
    return 0;
}

/* Note the first meeting of an agent with each other in the overlap of their last steps. */
int fleet_meetings(Fleet *f, int agent)
{
    Agent *own = &f->agents[agent];
    int l, k;
    for (l = 0; l < own->layer_count; l++) {
        const Layer *layer = &f->layers[own->layers[l]];
        Shape *s = &f->shapes[layer->shape];
        grid_search(f, layer, agent, &own->past, 0);
        for (k = 0; k < f->candidate_count; k++) {
            int other = f->candidates[k], first = agent < other ? agent : other;
            int second = agent < other ? other : agent, found;
            const Path *a = &f->agents[first].past, *b = &f->agents[second].past;
            double start = a->start > b->start ? a->start : b->start;
            double end = a->end < b->end ? a->end : b->end, when;
            if (!(start < end) || !layer_has(f, layer, first, second) ||
                far_apart(s, a, b) || !narrow(s, a, b, &start, &end))
                continue;
            f->looks++;
            found = pair_meet(s, a, b, start, end, &when);
            if (found < 0)
                return -1;
            if (found) {
                Meeting new = {when, layer->rank, first, second, own->layers[l],
                               {f->agents[first].version, f->agents[second].version}};
                if (note_meeting(f, &new) < 0)
                    return -1;
            }
        }
    }
    return 0;
}
