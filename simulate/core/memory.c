/* The working memory of a core, and what it looks at. */
#include "advance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int core_open(Core *core, const Program *p, const Method *method, double t, const double *x,
              const double *held)
{
    size_t n = p->n, regs = p->registers, atoms = p->atom_count + 1, doubles, bytes;
    size_t tokens = p->token_count + 1;
    double *d;
    int i;
    memset(core, 0, sizeof *core);
    core->p = p;
    core->method = method;
    core->n = p->n;
    core->t = t;
    core->order = 1;
    core->h_before = core->trusted = core->regular = INFINITY;
    core->excess = 1.0;
    core->proved = 1;
    doubles = regs * 5 + regs * STRIDE + 6 * n + n * STRIDE + 2 * n * HISTORY + 4 * atoms +
              1 + MAX_INTERVALS * tokens;
    bytes = doubles * sizeof(double) + atoms * sizeof(Intervals) +
            (regs + 2 * (size_t)p->watch_count + 2) * sizeof(int) + 6 * atoms + p->watch_count +
            tokens + p->guard_count + 2 * regs + 16;
    core->block = calloc(bytes, 1);
    if (core->block == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    d = core->block;
#define TAKE(field, count) core->field = d, d += (count)
    TAKE(r, regs);
    TAKE(spread, regs);
    TAKE(noise, regs);
    TAKE(low, regs);
    TAKE(high, regs);
    TAKE(series, regs * STRIDE);
    TAKE(x, n);
    TAKE(trial_x, n);
    TAKE(f, n);
    TAKE(inverse_weight, n);
    TAKE(inside, n);
    TAKE(extra, n);
    TAKE(poly, n * STRIDE);
    TAKE(differences, n * HISTORY);
    TAKE(rows, n * HISTORY);
    TAKE(values, atoms);
    TAKE(trial, atoms);
    TAKE(scale, atoms);
    TAKE(eps, atoms);
    TAKE(candidates, 1 + MAX_INTERVALS * tokens);
#undef TAKE
    core->found = (Intervals *)d;
    core->filled = (int *)(core->found + atoms);
    core->fired = core->filled + regs;
    core->grazing = core->fired + p->watch_count + 1;
    core->used = (char *)(core->grazing + p->watch_count + 1);
    core->departing = core->used + atoms;
    core->outside = core->departing + atoms;
    core->truth = core->outside + atoms;
    core->open = core->truth + atoms;
    core->at_end = core->open + atoms;
    core->was_true = core->at_end + atoms;
    core->stack = core->was_true + p->watch_count;
    core->needed = core->stack + tokens;
    core->wanted = core->needed + p->guard_count;
    core->gaps = core->wanted + regs;
    memcpy(core->r, p->initial, regs * sizeof(double));
    memcpy(core->r + 1 + n, held, p->held * sizeof(double));
    for (i = 1 + p->n; i < p->registers; i++)
        core->series[(size_t)i * STRIDE] = core->r[i];
    for (i = 0; i < p->registers; i++)
        core->filled[i] = MAX_DEGREE;
    memcpy(core->x, x, n * sizeof(double));
    return 0;
}

/* Mark the guard instructions on which the used atoms depend. */
static void mark_needed(Core *core)
{
    const Program *p = core->p;
    int i, j;
    memset(core->wanted, 0, p->registers);
    for (i = 0; i < p->atom_count; i++)
        if (core->used[i])
            core->wanted[p->atoms[i].reg] = 1;
    for (i = p->guard_count - 1; i >= 0; i--) {
        const Instruction *s = &p->guard[i];
        core->needed[i] = core->wanted[s->d];
        if (!core->needed[i])
            continue;
        core->wanted[s->a] = 1;
        if (s->code == EXTERNAL) {
            for (j = 0; j < s->c; j++)
                core->wanted[s->a + j] = 1;
            continue;
        }
        if (s->b >= 0 && s->code != LOOKUP1)
            core->wanted[s->b] = 1;
        if (s->code == SELECT)
            core->wanted[s->c] = 1;
    }
}

void core_watch(Core *core, double until, const int *active, int active_count)
{
    const Program *p = core->p;
    int i, j;
    core->until = until;
    core->active = active;
    core->active_count = active_count;
    core->first = 1;
    core->fired_count = core->grazing_count = 0;
    core->steps = core->rejected = core->evaluations = 0;
    core->guard_evaluations = core->beyond = core->singular = 0;
    core->out_times.count = core->out_degrees.count = core->out_coefficients.count = 0;
    memset(core->used, 0, p->atom_count);
    for (i = 0; i < active_count; i++) {
        const Watch *w = &p->watches[active[i]];
        for (j = 0; j < w->count; j++)
            if (p->tokens[w->first + j] >= 0)
                core->used[p->tokens[w->first + j]] = 1;
    }
    mark_needed(core);
}

void core_close(Core *core)
{
    free(core->block);
    free(core->out_times.data);
    free(core->out_coefficients.data);
    free(core->out_degrees.data);
}
