/* Who may be near whom: agents are entered into cells of space and slices of time.
 *
 * An entry covers the box of a path within one slice, so a search sees only agents that may
 * be close at the same time. Paths that would need too many cells are `wide` and always
 * found. Nothing is missed; how many are found in vain depends on the size of the cells. */
#include "fleet.h"

#include <math.h>
#include <string.h>

#define MOST_SLICES 64.0
#define MOST_CELLS 256
#define FARTHEST 1e15
#define TUNE_EVERY 8

static unsigned hash(long slice, long x, long y)
{
    unsigned long h = (unsigned long)slice * 0x9E3779B97F4A7C15ul;
    h ^= ((unsigned long)x + 0x7F4A7C15ul) * 0xC2B2AE3D27D4EB4Ful;
    h ^= ((unsigned long)y + 0x165667B1ul) * 0x165667B19E3779F9ul;
    return (unsigned)(h >> 24) ^ (unsigned)h;
}

int grid_open(Grid *g, int agents)
{
    int size = 64, i;
    while (size < 64 * agents && size < 1 << 20)
        size *= 2;
    g->mask = size - 1;
    g->buckets = PyMem_Malloc(size * sizeof(int));
    g->mine = PyMem_Malloc((agents + 1) * sizeof(int));
    g->member = PyMem_Calloc(2 * (agents + 1), 1);
    if (g->buckets == NULL || g->mine == NULL || g->member == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    g->wide = g->member + agents + 1;
    for (i = 0; i < agents; i++)
        g->mine[i] = -1;
    grid_clear(g, agents);
    return 0;
}

void grid_close(Grid *g)
{
    PyMem_Free(g->buckets);
    PyMem_Free(g->mine);
    PyMem_Free(g->member);
    PyMem_Free(g->cells);
}

/* Without entries, and to be tuned anew. */
void grid_clear(Grid *g, int agents)
{
    int i;
    for (i = 0; i <= g->mask; i++)
        g->buckets[i] = -1;
    for (i = 0; i < agents; i++)
        g->mine[i] = -1;
    memset(g->wide, 0, agents);
    g->wide_count = 0;
    for (i = 0; i < g->room; i++)
        g->cells[i].next = i + 1;
    if (g->room)
        g->cells[g->room - 1].next = -1;
    g->free = g->room ? 0 : -1;
    g->size[0] = g->size[1] = g->duration = 0.0;
    g->puts = 0;
}

/* Cells of about one agent each, slices in which an agent crosses about one cell. */
static void tune(Grid *g, const Fleet *f)
{
    double speed = 0.0, low, high;
    int d, i, count = 0;
    for (d = 0; d < g->dimensions; d++) {
        double least = INFINITY, most = -INFINITY;
        count = 0;
        for (i = 0; i < f->count; i++) {
            const Path *p = &f->agents[i].ahead;
            if (!g->member[i] || p->n == 0)
                continue;
            path_range(p, g->variables[d], p->start, p->start, &low, &high);
            least = low < least ? low : least;
            most = high > most ? high : most;
            if (p->degree > 0)
                speed += fabs(p->c[(size_t)g->variables[d] * STRIDE + 1]);
            count++;
        }
        g->size[d] = (most - least) / pow(count + 1.0, 1.0 / g->dimensions);
    }
    low = g->dimensions > 1 && g->size[1] > g->size[0] ? g->size[1] : g->size[0];
    if (!(low > 0.0 && low < INFINITY))
        low = 1.0;
    g->size[0] = g->size[1] = low;
    speed /= count + 1.0;
    g->duration = speed > 0.0 && speed < INFINITY ? low / speed : 1e300;
    g->puts = 0;
}

static void take_out(Grid *g, int agent)
{
    int at = g->mine[agent];
    while (at >= 0) {
        Cell *cell = &g->cells[at];
        int sibling = cell->sibling;
        if (cell->before >= 0)
            g->cells[cell->before].next = cell->next;
        else
            g->buckets[hash(cell->slice, cell->x, cell->y) & g->mask] = cell->next;
        if (cell->next >= 0)
            g->cells[cell->next].before = cell->before;
        cell->next = g->free;
        g->free = at;
        at = sibling;
    }
    g->mine[agent] = -1;
    g->wide_count -= g->wide[agent];
    g->wide[agent] = 0;
}

static int enter(Grid *g, int agent, int ahead, long slice, long x, long y)
{
    unsigned bucket = hash(slice, x, y) & g->mask;
    Cell *cell;
    int at = g->free;
    if (at < 0) {
        int room = g->room, i;
        if (more_room((void **)&g->cells, &g->room, g->room + 1, sizeof(Cell)) < 0)
            return -1;
        for (i = room; i < g->room; i++)
            g->cells[i].next = i + 1 < g->room ? i + 1 : -1;
        at = room;
    }
    cell = &g->cells[at];
    g->free = cell->next;
    cell->slice = slice;
    cell->x = x;
    cell->y = y;
    cell->agent = agent;
    cell->ahead = ahead;
    cell->before = -1;
    cell->next = g->buckets[bucket];
    if (cell->next >= 0)
        g->cells[cell->next].before = at;
    g->buckets[bucket] = at;
    cell->sibling = g->mine[agent];
    g->mine[agent] = at;
    return 0;
}

/* The cells of a path in one slice, grown by radii; 0 if they are out of reach. */
static int block(const Grid *g, const int *variables, const Path *p, double slice,
                 const double *radii, long *from, long *to)
{
    double a = slice * g->duration, b = (slice + 1.0) * g->duration, low, high;
    int d;
    from[1] = to[1] = 0;
    if (!(a > p->start))
        a = p->start;
    if (!(b < p->end))
        b = p->end;
    for (d = 0; d < g->dimensions; d++) {
        path_range(p, variables[d], a, b, &low, &high);
        low = floor((low - radii[d]) / g->size[d]);
        high = floor((high + radii[d]) / g->size[d]);
        if (!(fabs(low) < FARTHEST && fabs(high) < FARTHEST))
            return 0;
        from[d] = (long)low;
        to[d] = (long)high;
    }
    return (to[0] - from[0] + 1) * (double)(to[1] - from[1] + 1) <= MOST_CELLS;
}

static int slices(const Grid *g, const Path *p, double *first, double *last)
{
    *first = floor(p->start / g->duration);
    *last = floor(p->end / g->duration);
    return *last - *first <= MOST_SLICES && fabs(*first) < FARTHEST && fabs(*last) < FARTHEST;
}

/* Enter a path into its cells; 1 if it is wide. */
static int put_path(Grid *g, int agent, int ahead, const Path *p)
{
    static const double none[2] = {0.0, 0.0};
    double slice, last;
    long from[2], to[2], x, y;
    int count = 0;
    if (!slices(g, p, &slice, &last))
        return 1;
    for (; slice <= last; slice++) {
        if (!block(g, g->variables, p, slice, none, from, to))
            return 1;
        for (x = from[0]; x <= to[0]; x++)
            for (y = from[1]; y <= to[1]; y++) {
                if (count++ > MOST_CELLS)
                    return 1;
                if (enter(g, agent, ahead, (long)slice, x, y) < 0)
                    return -1;
            }
    }
    return 0;
}

static int put_one(Grid *g, Agent *agent, int number)
{
    int wide;
    take_out(g, number);
    wide = put_path(g, number, 0, &agent->past);
    if (wide == 0 && agent->ahead.end > agent->ahead.start)
        wide = put_path(g, number, 1, &agent->ahead);
    if (wide < 0)
        return -1;
    if (wide) {
        take_out(g, number);
        g->wide[number] = 1;
        g->wide_count++;
    }
    return 0;
}

/* Enter the present paths of an agent in place of its former ones. */
int grid_put(Grid *g, Fleet *f, int agent)
{
    int i;
    if (!g->member[agent])
        return 0;
    if (g->size[0] == 0.0 || g->puts > TUNE_EVERY * (long)f->count) {
        tune(g, f);
        for (i = 0; i < f->count; i++)
            if (g->member[i] && put_one(g, &f->agents[i], i) < 0)
                return -1;
        return 0;
    }
    g->puts++;
    return put_one(g, &f->agents[agent], agent);
}

/* What is searched: near which path, of the first or second of a pair (role 0 or 1). */
typedef struct { const Grid *grid; const Shape *shape; const Path *path; int role, ahead; } Search;

static void propose(Fleet *f, int other)
{
    if (f->seen[other] != f->search) {
        f->seen[other] = f->search;
        f->candidates[f->candidate_count++] = other;
    }
}

static void everybody(Fleet *f, const Layer *layer)
{
    int i;
    for (i = 0; i < layer->member_count; i++)
        propose(f, layer->members[i]);
}

/* Propose the owner of a cell if it can be near the path within the slice. */
static void test(Fleet *f, const Search *q, const Cell *cell)
{
    const Agent *other = &f->agents[cell->agent];
    const Path *p = q->path, *found = cell->ahead ? &other->ahead : &other->past;
    double duration = q->grid->duration, from, to;
    long *tested = &f->tested[2 * cell->agent + cell->ahead];
    if ((cell->ahead && !q->ahead) || *tested == f->test || f->seen[cell->agent] == f->search)
        return;
    *tested = f->test;
    from = cell->slice * duration;
    to = from + duration;
    from = fmax(fmax(from, p->start), found->start);
    to = fmin(fmin(to, p->end), found->end);
    if (from <= to && maybe_near(q->shape, q->role ? found : p, q->role ? p : found,
                                 0.5 * (from + to), 0.5 * (to - from) * (1.0 + 1e-9)))
        propose(f, cell->agent);
}

/* Those in a grid that may be within the layer's distances of a path. */
static void search_role(Fleet *f, const Layer *layer, Search *q)
{
    const Shape *s = q->shape;
    const Grid *g = q->grid = &f->grids[layer->grid[1 - q->role]];
    int variables[2] = {0, 0}, d, i, at;
    double radii[2] = {0.0, 0.0}, slice, last;
    long from[2], to[2], x, y;
    for (d = 0; d < g->dimensions; d++) {
        variables[d] = q->role == 0 ? s->near[d].first : s->near[d].second;
        radii[d] = s->near[d].radius;
    }
    if (g->size[0] == 0.0 || !slices(g, q->path, &slice, &last)) {
        everybody(f, layer);
        return;
    }
    for (; slice <= last; slice++) {
        f->test++;
        if (!block(g, variables, q->path, slice, radii, from, to)) {
            everybody(f, layer);
            return;
        }
        for (x = from[0]; x <= to[0]; x++)
            for (y = from[1]; y <= to[1]; y++)
                for (at = g->buckets[hash((long)slice, x, y) & g->mask]; at >= 0;
                     at = g->cells[at].next)
                    if (g->cells[at].slice == (long)slice && g->cells[at].x == x &&
                        g->cells[at].y == y)
                        test(f, q, &g->cells[at]);
    }
    for (i = 0; g->wide_count && i < layer->member_count; i++)
        if (g->wide[layer->members[i]])
            propose(f, layer->members[i]);
}

/* Fill `candidates` with agents that may meet the owner of a path in a layer: on their last
 * steps or, with `ahead`, on their extrapolations too. */
void grid_search(Fleet *f, const Layer *layer, int agent, const Path *p, int ahead)
{
    Search q = {NULL, &f->shapes[layer->shape], p, 0, ahead};
    f->candidate_count = 0;
    f->seen[agent] = ++f->search;
    if (layer->grid[0] < 0) {
        everybody(f, layer);
        return;
    }
    search_role(f, layer, &q);
    q.role = 1;
    if (layer->grid[0] != layer->grid[1])
        search_role(f, layer, &q);
}
