/* Steps agreed by two agents that are about to meet.
 *
 * Near an event of two agents their clocks come together while the guard is approached: with
 * g the guard, tau = t_j - t_i >= 0 the clock difference of the lagging agent i and the
 * leading agent j, the next steps satisfy
 *
 *     g_{k+1} = gamma g_k   and   tau_{k+1} = gamma tau_k.
 *
 * The second gives h_j = h_i - (1 - gamma) tau_k; then the first is one equation for h_i along
 * both extrapolation polynomials. gamma g_k is the distance from the guard that the
 * truncation error of such a step may take up, so that no agent runs past the event; for a
 * condition that must be crossed the sign of gamma is flipped. Where no event is foreseen
 * the clocks drift freely. Only step sizes are chosen here: events are found and decided on
 * the paths themselves, whatever was foreseen. */
#include "fleet.h"

#include <math.h>
#include <string.h>

#define HALVINGS 50
#define MOST_AGREED 64
#define FALLBACK 1e-3

typedef struct { Fleet *f; Shape *s; int i, j, k; double shift; } Equation;

static const Path *path_at(const Agent *agent, double t)
{
    return t <= agent->past.end || agent->ended ? &agent->past : &agent->ahead;
}

/* The guard with agent i at t and agent j at t + shift. */
static int guard_at(const Equation *e, double t, double later, double *value)
{
    const Agent *own = &e->f->agents[e->i], *other = &e->f->agents[e->j];
    const Path *p = path_at(own, t), *q = path_at(other, t + later);
    Core *core = &e->s->core;
    if (e->i < e->j)
        pair_place(e->s, p, q, t, t + later);
    else
        pair_place(e->s, q, p, t + later, t);
    if (core_guards(core, core->t, core->x, core->trial) < 0)
        return -1;
    *value = core->trial[e->k];
    return 0;
}

/* The atom that makes the condition true where it was found; -1 if none stands out. */
static int binding_atom(const Core *core)
{
    double best = INFINITY;
    int k, found = -1;
    for (k = 0; k < core->p->atom_count; k++) {
        double size = fabs(core->values[k]) / (core->eps[k] > 0.0 ? core->eps[k] : 1e-300);
        if (core->used[k] && !(core->p->atoms[k].flags & (FLAG_FROZEN | FLAG_EQUALITY)) &&
            size <= 8.0 && size < best) {
            best = size;
            found = k;
        }
    }
    return found;
}

/* Solve guard = target for the time since the clock of i: just before, or just after it. */
static int solve(const Equation *e, double reach, double target, int after, double *h)
{
    double t = e->f->agents[e->i].clock, low = 0.0, high = reach, value;
    double end = e->f->agents[e->i].known - t;
    int n;
    for (n = 0; n < HALVINGS; n++) {
        if (guard_at(e, t + high, e->shift, &value) < 0)
            return -1;
        if (value >= target || high >= end)
            break;
        low = high;
        high = high + (n + 1) * 1e-6 * reach < end ? high + (n + 1) * 1e-6 * reach : end;
    }
    if (!(value >= target)) {
        *h = reach;
        return 0;
    }
    for (n = 0; n < HALVINGS; n++) {
        double middle = 0.5 * (low + high);
        if (guard_at(e, t + middle, e->shift, &value) < 0)
            return -1;
        if (value >= target)
            high = middle;
        else
            low = middle;
    }
    *h = after ? high : low;
    return 0;
}

/* The agreed steps of i, and of j (none if it must not move), to a meeting foreseen at a
 * time; -1 on failure. */
static int agree(Fleet *f, Shape *s, int i, int j, double when, double *own, double *other)
{
    const Agent *a = &f->agents[i], *b = &f->agents[j];
    Core *core = &s->core;
    Equation e = {f, s, i, j, binding_atom(core), 0.0};
    /* A meeting on a way that j has gone already is approached by i alone. */
    double tau = b->clock > a->clock && when > b->clock ? b->clock - a->clock : 0.0;
    double reach = when - a->clock;
    double gamma = FALLBACK, g = 0.0, scale = 0.0, eps = 0.0, distance, ratio;
    int crossing = 0, n;
    if (e.k >= 0) {
        scale = core->scale[e.k];
        eps = core->eps[e.k];
        crossing = core->p->atoms[e.k].kind == CROSSING;
        if (guard_at(&e, a->clock, tau, &g) < 0)
            return -1;
    }
    if (e.k < 0 || !(g < -eps)) { /* by time alone */
        *own = crossing ? (1.0 + gamma) * reach : (1.0 - gamma) * reach;
    } else {
        ratio = reach / a->core.h_before;
        distance = scale;
        for (n = 0; ratio < 1.0 && n <= a->core.order; n++)
            distance *= ratio;
        gamma = distance / -g < 0.5 ? distance / -g : 0.5;
        if (distance <= eps && !crossing) { /* as near as an event: together, onto the guard */
            distance = 0.25 * eps;
            gamma = 0.0;
        } else if (!crossing) {
            distance = gamma * -g;
        } else if (distance < 4.0 * eps) {
            distance = 4.0 * eps;
        }
        e.shift = gamma * tau;
        if (solve(&e, reach, crossing ? distance : -distance, crossing, own) < 0)
            return -1;
    }
    *other = when > b->clock ? *own - (1.0 - gamma) * tau : 0.0;
    return 0;
}

/* When the condition is first true along the next step of i; 1 found, 0 none, -1 failure; 2 if
 * it is beyond the next step of j, where the extrapolation is a guess. */
static int expected(Fleet *f, Shape *s, int i, int j, double *when)
{
    const Path *own = &f->agents[i].ahead;
    int part, found;
    for (part = 0; part < 2; part++) {
        const Path *other = part ? &f->agents[j].ahead : &f->agents[j].past;
        const Path *a = i < j ? own : other, *b = i < j ? other : own;
        double start = own->start > other->start ? own->start : other->start;
        double end = f->agents[i].known < other->end ? f->agents[i].known : other->end;
        if (!(start < end) || far_apart(s, a, b) || !narrow(s, a, b, &start, &end))
            continue;
        f->looks++;
        found = pair_meet(s, a, b, start, end, when);
        if (found)
            return found > 0 && part && *when > f->agents[j].known ? 2 : found;
    }
    return 0;
}

/* Limit the next step of an agent (*cap) where it is about to meet another, and book the
 * other's step. The nearest meeting counts. */
int fleet_foresee(Fleet *f, int agent, double *cap)
{
    Agent *own = &f->agents[agent];
    double least = INFINITY, partner_step = 0.0;
    int l, k, partner = -1;
    if (own->agreed >= MOST_AGREED)
        return 0;
    for (l = 0; l < own->layer_count; l++) {
        const Layer *layer = &f->layers[own->layers[l]];
        Shape *s = &f->shapes[layer->shape];
        grid_search(f, layer, agent, &own->ahead, 1);
        for (k = 0; k < f->candidate_count; k++) {
            int other = f->candidates[k], first = agent < other ? agent : other, found;
            double when, mine, theirs;
            if (other == own->partner ||
                !layer_has(f, layer, first, agent + other - first))
                continue;
            found = expected(f, s, agent, other, &when);
            if (found < 0)
                return -1;
            if (!found || when - own->clock >= least)
                continue;
            if (found == 2) { /* let the other come closer before passing what is known */
                mine = f->agents[other].known - own->clock;
                theirs = 0.0;
            } else if (agree(f, s, agent, other, when, &mine, &theirs) < 0) {
                return -1;
            }
            if (mine > 0.0 && mine < least) {
                least = mine;
                partner = other;
                partner_step = theirs;
            }
        }
    }
    if (least < *cap && least > 8e-15 * fabs(own->clock)) {
        Agent *other = &f->agents[partner];
        *cap = least;
        if (partner_step > 0.0 && !other->ended && !other->finished) {
            other->booked = other->clock + partner_step;
            other->partner = agent;
        }
    }
    return 0;
}
