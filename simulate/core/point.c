/* Expressions and conditions at one point; specified by `simulate/stepping/reference/point.py`. */
#include "advance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Room for registers and two rows beside them: for small tapes on the stack of the caller. */
static double *registers(const Program *p, double t, const double *given, double *here, int room)
{
    size_t regs = p->registers;
    double *r = regs * 3 <= (size_t)room ? here : malloc(3 * regs * sizeof(double));
    if (r == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    memcpy(r, p->initial, regs * sizeof(double));
    r[0] = t;
    memcpy(r + 1, given, (size_t)(p->n + p->held) * sizeof(double));
    return r;
}

int point_values(const Program *p, double t, const double *given, double *values)
{
    double here[384], *r = registers(p, t, given, here, 384);
    int i, status;
    if (r == NULL)
        return -1;
    status = tape_values(p, p->guard, p->guard_count, r);
    for (i = 0; status == 0 && i < p->atom_count; i++)
        values[i] = r[p->atoms[i].reg];
    if (r != here)
        free(r);
    return status;
}

/* The truth of the first watch, given the truth of the atoms. */
static int formula(const Program *p, const char *truth, char *stack)
{
    const int *token = p->tokens + p->watches[0].first, *end = token + p->watches[0].count;
    char *top = stack;
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

static char atom_holds(const Atom *atom, double v, double eps)
{
    if (atom->flags & FLAG_FROZEN)
        return (v != 0.0) == (atom->sign > 0);
    if (atom->flags & FLAG_EQUALITY)
        return atom->sign > 0 ? fabs(v) <= eps : !(fabs(v) <= fabs(eps));
    if (atom->flags & FLAG_STRICT && eps == 0.0)
        return atom->sign * v > eps;
    return atom->sign * v >= -eps;
}

int point_holds(const Program *p, double t, const double *given, double rtol, double atol)
{
    double here[384], *r = registers(p, t, given, here, 384), *spread, *noise;
    char small[256], *truth = small;
    int i, status;
    if (r == NULL)
        return -1;
    if (p->atom_count + p->token_count > 256)
        truth = malloc(p->atom_count + p->token_count);
    spread = r + p->registers;
    noise = spread + p->registers;
    status = truth == NULL ? -1 : tape_values(p, p->guard, p->guard_count, r);
    if (truth == NULL)
        PyErr_NoMemory();
    if (status == 0) {
        memset(spread, 0, 2 * (size_t)p->registers * sizeof(double));
        for (i = 1; i <= p->n; i++)
            spread[i] = atol + rtol * fabs(r[i]);
        tape_sensitivity(p, p->guard, p->guard_count, r, spread, noise);
        for (i = 0; i < p->atom_count; i++) {
            double eps = spread[p->atoms[i].reg];
            truth[i] = atom_holds(&p->atoms[i], r[p->atoms[i].reg], eps < INFINITY ? eps : atol);
        }
        status = formula(p, truth, truth + p->atom_count);
    }
    if (truth != small)
        free(truth);
    if (r != here)
        free(r);
    return status;
}
