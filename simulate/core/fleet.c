/* The steps of a fleet: whose turn it is, and what comes of it. */
#include "fleet.h"

#include <math.h>
#include <string.h>

int more_room(void **data, int *room, int count, size_t size)
{
    int wanted = 2 * count + 16;
    void *new;
    if (count <= *room)
        return 0;
    new = PyMem_Realloc(*data, (size_t)wanted * size);
    if (new == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    *data = new;
    *room = wanted;
    return 0;
}

int meeting_before(const Meeting *a, const Meeting *b)
{
    if (a->time != b->time)
        return a->time < b->time;
    if (a->rank != b->rank)
        return a->rank < b->rank;
    return a->first != b->first ? a->first < b->first : a->second < b->second;
}

static int turn_before(const Turn *a, const Turn *b)
{
    return a->clock != b->clock ? a->clock < b->clock : a->agent < b->agent;
}

/* An agent waits for its turn, in the order of clocks. */
int fleet_enqueue(Fleet *f, int agent)
{
    Turn new = {f->agents[agent].clock, agent, ++f->agents[agent].stamp}, *heap;
    int at = f->turn_count;
    if (more_room((void **)&f->turns, &f->turn_room, at + 1, sizeof(Turn)) < 0)
        return -1;
    heap = f->turns;
    f->turn_count++;
    while (at > 0 && turn_before(&new, &heap[(at - 1) / 2])) {
        heap[at] = heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    heap[at] = new;
    return 0;
}

static void pop_turn(Fleet *f)
{
    Turn *heap = f->turns, last = heap[--f->turn_count];
    int at = 0, child;
    while ((child = 2 * at + 1) < f->turn_count) {
        if (child + 1 < f->turn_count && turn_before(&heap[child + 1], &heap[child]))
            child++;
        if (!turn_before(&heap[child], &last))
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = last;
}

void fleet_pop_meeting(Fleet *f)
{
    Meeting *heap = f->meetings, last = heap[--f->meeting_count];
    int at = 0, child;
    while ((child = 2 * at + 1) < f->meeting_count) {
        if (child + 1 < f->meeting_count && meeting_before(&heap[child + 1], &heap[child]))
            child++;
        if (!meeting_before(&heap[child], &last))
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = last;
}

/* The agent whose clock is behind all others; -1 if there is none. */
int fleet_laggard(Fleet *f)
{
    while (f->turn_count) {
        const Turn *first = &f->turns[0];
        if (first->stamp == f->agents[first->agent].stamp)
            return first->agent;
        pop_turn(f);
    }
    return -1;
}

/* The earliest meeting of agents that have not changed since it was found. */
const Meeting *fleet_next_meeting(Fleet *f)
{
    while (f->meeting_count) {
        const Meeting *m = &f->meetings[0];
        if (f->agents[m->first].version == m->versions[0] &&
            f->agents[m->second].version == m->versions[1])
            return m;
        fleet_pop_meeting(f);
    }
    return NULL;
}

/* Copy polynomials of the core (flowing variable `i`, power `m` at i*row + m*column). */
static void set_path(Agent *agent, Path *p, const double *c, int degree, size_t row, size_t column)
{
    int i, m, top = 0;
    for (i = 0; i < p->n; i++) {
        double *to = p->c + (size_t)i * STRIDE;
        if (agent->flowing[i] < 0) {
            to[0] = agent->past.c[(size_t)i * STRIDE];
            memset(to + 1, 0, degree * sizeof(double));
            continue;
        }
        for (m = 0; m <= degree; m++) {
            to[m] = c[(size_t)agent->flowing[i] * row + m * column];
            if (to[m] != 0.0 && m > top)
                top = m;
        }
    }
    p->degree = top; /* straight ways are common */
    path_bounds(p);
}

static void look_ahead(Agent *agent)
{
    const Core *core = &agent->core;
    Path *p = &agent->ahead;
    p->base = p->start = p->end = agent->known = core->t;
    if (!agent->ended) {
        p->end = agent->known = core->t + core->next;
        if (core->next >= core->h && p->end + core->next <= core->until)
            p->end += core->next; /* limited by the error alone: a rough guess of what follows */
    }
    set_path(agent, p, core->poly, agent->ended ? 0 : core->degree, 1, (size_t)core->n);
}

static int enter_grids(Fleet *f, int agent)
{
    int i;
    for (i = 0; i < f->grid_count; i++)
        if (grid_put(&f->grids[i], f, agent) < 0)
            return -1;
    return 0;
}

/* Run the core for so many more steps, and see what has become of the agent. */
static int carry(Fleet *f, int number, long steps)
{
    Agent *agent = &f->agents[number];
    Core *core = &agent->core;
    size_t pieces = core->out_degrees.count;
    int stop;
    core->out_times.count = pieces; /* the end noted so far was none */
    agent->method.max_steps = core->steps + steps;
    stop = core_run(core);
    if (stop < 0)
        return -1;
    agent->clock = core->t;
    if (stop != STOP_STEP_LIMIT || core->steps >= f->method.max_steps) {
        agent->ended = 1;
        agent->stop = stop;
    }
    if (core->out_degrees.count > pieces) {
        int degree = core->out_degrees.data[pieces];
        size_t width = degree + 1;
        agent->past.base = agent->past.start = core->out_times.data[pieces];
        agent->past.end = core->t;
        set_path(agent, &agent->past,
                 core->out_coefficients.data + core->out_coefficients.count - core->n * width,
                 degree, width, 1);
    }
    look_ahead(agent);
    return fleet_enqueue(f, number) < 0 ? -1 : enter_grids(f, number);
}

/* A new stretch of an agent whose core, active watches and resting values are set. */
int fleet_depart(Fleet *f, int number)
{
    Agent *agent = &f->agents[number];
    agent->ended = agent->finished = agent->agreed = 0;
    agent->booked = INFINITY;
    agent->partner = -1;
    agent->version++;
    agent->past.start = agent->past.end = agent->past.base = agent->core.t;
    agent->past.degree = 0;
    path_bounds(&agent->past);
    return carry(f, number, 0);
}

static int keep_record(Fleet *f, int number, double start, int together)
{
    double least = INFINITY, most = -INFINITY;
    int i;
    if (more_room((void **)&f->records, &f->record_room, f->record_count + 1, sizeof(Record)) < 0)
        return -1;
    for (i = 0; i < f->count; i++)
        if (!f->agents[i].finished) {
            least = f->agents[i].clock < least ? f->agents[i].clock : least;
            most = f->agents[i].clock > most ? f->agents[i].clock : most;
        }
    f->records[f->record_count++] =
        (Record){number, together, start, f->agents[number].clock, most - least};
    return 0;
}

/* One step of an agent, and the meetings that it brings about. */
int fleet_step(Fleet *f, int number)
{
    Agent *agent = &f->agents[number];
    Core *core = &agent->core;
    double start = agent->clock, cap = agent->booked - start, wanted = core->h;
    long steps = core->steps;
    if (!(cap > 8e-15 * fabs(start)))
        cap = INFINITY;
    if (f->foresee && fleet_foresee(f, number, &cap) < 0)
        return -1;
    agent->booked = INFINITY;
    agent->partner = -1;
    agent->agreed = cap < core->next ? agent->agreed + 1 : 0;
    agent->method.max_step = cap < agent->longest ? cap : agent->longest;
    if (carry(f, number, 1) < 0)
        return -1;
    agent->method.max_step = agent->longest;
    if (agent->agreed && !agent->ended) {
        if (core->h < wanted && cap > 0.01 * wanted)
            core->h = wanted; /* cut short by the agreement, not by the error */
        if (carry(f, number, 0) < 0)
            return -1;
    }
    if (core->steps == steps)
        return 0;
    if (f->record && keep_record(f, number, start, agent->agreed > 0) < 0)
        return -1;
    return fleet_meetings(f, number);
}
