/* How far a flow has values along the extrapolation; specified by
 * `simulate/stepping/reference/regular.py`. */
#include "advance.h"

#include <math.h>

#define FINEST 0x1p-6

/* Whether every derivative is a finite number all over the range just enclosed. */
static int has_values(const Core *core)
{
    const Program *p = core->p;
    int i;
    for (i = 0; i < p->n; i++) {
        int reg = p->derivatives[i];
        if (core->gaps[reg] || !(core->low[reg] > -INFINITY) || !(core->high[reg] < INFINITY))
            return 0;
    }
    return 1;
}

double core_regular(Core *core, double h)
{
    double least = core_least(core), start = core->steps ? 0.0 : least, a = start, width = h;
    double finest = h * FINEST;
    while (a < h) {
        double b = a + width < h ? a + width : h;
        if (core_ranges(core, core->p->flow, core->p->flow_count, a, b) < 0)
            return -1.0;
        if (has_values(core)) {
            a = b;
            width = 2.0 * width;
        } else if (width > finest) {
            width *= 0.5;
        } else if (a > start) {
            return a;
        } else if (b - start <= least) {
            return 0.0;
        } else {
            h = b;
            width = b - start;
            finest = width * FINEST;
        }
    }
    return h;
}
