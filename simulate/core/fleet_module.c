/* The Python face of fleets; see `simulate/fleet.py`. */
#include "fleet.h"

#include <math.h>
#include <string.h>

static const char PROGRAM[] = "simulate._core.Program";
static const char FLEET[] = "simulate._fleet.Fleet";

#define SIGNALS_EVERY 4096

static Fleet *fleet_of(PyObject *capsule) { return PyCapsule_GetPointer(capsule, FLEET); }

static Agent *agent_of(Fleet *f, int number)
{
    if (f != NULL && number >= 0 && number < f->count)
        return &f->agents[number];
    if (!PyErr_Occurred())
        PyErr_SetString(PyExc_ValueError, "no such agent");
    return NULL;
}

static void free_shape(Shape *s)
{
    core_close(&s->core);
    Py_XDECREF(s->program);
    PyMem_Free(s->reads);
    PyMem_Free(s->near);
    PyMem_Free(s->active);
}

static void close_agent(Agent *agent)
{
    if (agent->open)
        core_close(&agent->core);
    agent->open = 0;
    Py_CLEAR(agent->program);
    PyMem_Free(agent->active);
    agent->active = NULL;
}

static void free_agent(Agent *agent)
{
    close_agent(agent);
    PyMem_Free(agent->flowing);
    PyMem_Free(agent->past.c);
    PyMem_Free(agent->ahead.c);
    PyMem_Free(agent->layers);
}

static void free_fleet(Fleet *f)
{
    int i;
    for (i = 0; i < f->shape_count; i++)
        free_shape(&f->shapes[i]);
    for (i = 0; i < f->count && f->agents != NULL; i++)
        free_agent(&f->agents[i]);
    for (i = 0; i < f->layer_count; i++) {
        PyMem_Free(f->layers[i].pairs);
        PyMem_Free(f->layers[i].members);
    }
    for (i = 0; i < f->grid_count; i++)
        grid_close(&f->grids[i]);
    PyMem_Free(f->agents);
    PyMem_Free(f->shapes);
    PyMem_Free(f->layers);
    PyMem_Free(f->grids);
    PyMem_Free(f->turns);
    PyMem_Free(f->meetings);
    PyMem_Free(f->records);
    PyMem_Free(f->candidates);
    PyMem_Free(f->seen);
    PyMem_Free(f->tested);
    PyMem_Free(f);
}

static void destroy(PyObject *capsule) { free_fleet(PyCapsule_GetPointer(capsule, FLEET)); }

static int open_agents(Fleet *f, const int *sizes)
{
    int i;
    f->agents = PyMem_Calloc(f->count + 1, sizeof(Agent));
    f->candidates = PyMem_Calloc(f->count + 1, sizeof(int));
    f->seen = PyMem_Calloc(f->count + 1, sizeof(long));
    f->tested = PyMem_Calloc(2 * f->count + 1, sizeof(long));
    if (!f->agents || !f->candidates || !f->seen || !f->tested) {
        PyErr_NoMemory();
        return -1;
    }
    for (i = 0; i < f->count; i++) {
        Agent *agent = &f->agents[i];
        if (sizes[i] < 0) {
            PyErr_SetString(PyExc_ValueError, "not a number of variables");
            return -1;
        }
        agent->flowing = PyMem_Calloc(sizes[i] + 1, sizeof(int));
        if (agent->flowing == NULL)
            PyErr_NoMemory();
        if (agent->flowing == NULL || path_open(&agent->past, sizes[i]) < 0 ||
            path_open(&agent->ahead, sizes[i]) < 0)
            return -1;
    }
    return 0;
}

static PyObject *fleet(PyObject *self, PyObject *args)
{
    Py_buffer sizes;
    Fleet *f = PyMem_Calloc(1, sizeof(Fleet));
    Method *m;
    PyObject *result = NULL;
    (void)self;
    if (f == NULL)
        return PyErr_NoMemory();
    m = &f->method;
    if (!PyArg_ParseTuple(args, "y*(iiilddd)", &sizes, &m->taylor, &m->max_order, &m->detection,
                          &m->max_steps, &m->rtol, &m->atol, &m->max_step)) {
        PyMem_Free(f);
        return NULL;
    }
    m->dense = 1;
    f->count = (int)(sizes.len / (Py_ssize_t)sizeof(int));
    if (m->max_order < 1 || m->max_order > (m->taylor ? MAX_DEGREE : MAX_ORDER))
        PyErr_SetString(PyExc_ValueError, "not a method");
    else if (open_agents(f, sizes.buf) == 0)
        result = PyCapsule_New(f, FLEET, destroy);
    if (result == NULL)
        free_fleet(f);
    PyBuffer_Release(&sizes);
    return result;
}

/* A new shape: program, (moving_a, moving_b, held_a, held_b), reads, near (indices, radii). */
static PyObject *shape(PyObject *self, PyObject *args)
{
    PyObject *capsule, *program;
    Py_buffer reads, places, radii;
    Fleet *f;
    Program *p;
    Shape made, *shapes;
    double *zero = NULL;
    int i, count, number = -1;
    (void)self;
    memset(&made, 0, sizeof made);
    if (!PyArg_ParseTuple(args, "OO(iiii)y*y*y*", &capsule, &program, &made.moving_a,
                          &made.moving_b, &made.held_a, &made.held_b, &reads, &places, &radii))
        return NULL;
    f = fleet_of(capsule);
    p = PyCapsule_GetPointer(program, PROGRAM);
    count = made.moving_a + made.moving_b + made.held_a + made.held_b;
    made.near_count = (int)(radii.len / (Py_ssize_t)sizeof(double));
    if (f == NULL || p == NULL)
        ;
    else if (p->n != made.moving_a + made.moving_b || p->held != made.held_a + made.held_b ||
             reads.len != count * (Py_ssize_t)sizeof(int) ||
             places.len != 2 * made.near_count * (Py_ssize_t)sizeof(int))
        PyErr_SetString(PyExc_ValueError, "not a shape");
    else {
        made.reads = PyMem_Malloc(reads.len + 1);
        made.near = PyMem_Calloc(made.near_count + 1, sizeof(Near));
        made.active = PyMem_Calloc(p->watch_count + 1, sizeof(int));
        zero = PyMem_Calloc(p->n + p->held + 1, sizeof(double));
        shapes = PyMem_Realloc(f->shapes, (f->shape_count + 1) * sizeof(Shape));
        if (shapes != NULL)
            f->shapes = shapes;
        if (!made.reads || !made.near || !made.active || !zero || !shapes)
            PyErr_NoMemory();
        else if (core_open(&made.core, p, &f->method, 0.0, zero, zero) == 0) {
            memcpy(made.reads, reads.buf, reads.len);
            for (i = 0; i < made.near_count; i++) {
                made.near[i].first = ((const int *)places.buf)[2 * i];
                made.near[i].second = ((const int *)places.buf)[2 * i + 1];
                made.near[i].radius = ((const double *)radii.buf)[i];
            }
            for (i = 0; i < p->watch_count; i++)
                made.active[i] = i;
            Py_INCREF(program);
            made.program = program;
            number = f->shape_count++;
            f->shapes[number] = made;
        }
        PyMem_Free(zero);
    }
    PyBuffer_Release(&reads);
    PyBuffer_Release(&places);
    PyBuffer_Release(&radii);
    if (number >= 0)
        return PyLong_FromLong(number);
    free_shape(&made);
    return NULL;
}

/* The grid over these coordinates, made where there is none yet; -2 on failure. */
static int grid_over(Fleet *f, int dimensions, const int *variables)
{
    Grid *grids, *g;
    int i;
    for (i = 0; i < f->grid_count; i++)
        if (f->grids[i].dimensions == dimensions &&
            memcmp(f->grids[i].variables, variables, 2 * sizeof(int)) == 0)
            return i;
    grids = PyMem_Realloc(f->grids, (f->grid_count + 1) * sizeof(Grid));
    if (grids == NULL) {
        PyErr_NoMemory();
        return -2;
    }
    f->grids = grids;
    g = &grids[f->grid_count];
    memset(g, 0, sizeof *g);
    g->dimensions = dimensions;
    memcpy(g->variables, variables, 2 * sizeof(int));
    if (grid_open(g, f->count) < 0) {
        grid_close(g);
        return -2;
    }
    return f->grid_count++;
}

/* A new layer: shape, rank among what happens at one time. */
static PyObject *layer(PyObject *self, PyObject *args)
{
    PyObject *capsule;
    Fleet *f;
    Layer *layers, *made;
    const Shape *s;
    int number, rank, d, first[2] = {0, 0}, second[2] = {0, 0};
    (void)self;
    if (!PyArg_ParseTuple(args, "Oii", &capsule, &number, &rank))
        return NULL;
    f = fleet_of(capsule);
    if (f == NULL)
        return NULL;
    if (number < 0 || number >= f->shape_count) {
        PyErr_SetString(PyExc_ValueError, "no such shape");
        return NULL;
    }
    layers = PyMem_Realloc(f->layers, (f->layer_count + 1) * sizeof(Layer));
    if (layers == NULL)
        return PyErr_NoMemory();
    f->layers = layers;
    made = &layers[f->layer_count];
    memset(made, 0, sizeof *made);
    made->shape = number;
    made->rank = rank;
    made->grid[0] = made->grid[1] = -1;
    made->pairs = PyMem_Calloc(((size_t)f->count * f->count >> 3) + 1, 1);
    made->members = PyMem_Calloc(f->count + 1, sizeof(int));
    f->layer_count++;
    if (made->pairs == NULL || made->members == NULL)
        return PyErr_NoMemory();
    s = &f->shapes[number];
    if (s->near_count > 0) {
        int dimensions = s->near_count > 1 ? 2 : 1;
        for (d = 0; d < dimensions; d++) {
            first[d] = s->near[d].first;
            second[d] = s->near[d].second;
        }
        made->grid[0] = grid_over(f, dimensions, first);
        made->grid[1] = grid_over(f, dimensions, second);
        if (made->grid[0] < 0 || made->grid[1] < 0)
            return NULL;
    }
    return PyLong_FromLong(f->layer_count - 1);
}

static int all_below(const int *values, int count, int limit)
{
    int i;
    for (i = 0; i < count; i++)
        if (values[i] < 0 || values[i] >= limit)
            return 0;
    return 1;
}

/* Whether a shape reads variables that both agents have. */
static int suits(const Shape *s, int a, int b)
{
    const int *r = s->reads;
    int i, good = all_below(r, s->moving_a, a) && all_below(r + s->moving_a, s->moving_b, b);
    r += s->moving_a + s->moving_b;
    good = good && all_below(r, s->held_a, a) && all_below(r + s->held_a, s->held_b, b);
    for (i = 0; i < s->near_count; i++)
        good = good && all_below(&s->near[i].first, 1, a) && all_below(&s->near[i].second, 1, b);
    return good;
}

/* Make an agent a member of a layer; role 0 is the first of a pair. */
static int join(Fleet *f, int number, int agent, int role)
{
    Layer *l = &f->layers[number];
    Agent *a = &f->agents[agent];
    int *list, i;
    if (l->grid[role] >= 0)
        f->grids[l->grid[role]].member[agent] = 1;
    for (i = a->layer_count - 1; i >= 0; i--)
        if (a->layers[i] == number)
            return 0;
    list = PyMem_Realloc(a->layers, (a->layer_count + 1) * sizeof(int));
    if (list == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    a->layers = list;
    list[a->layer_count++] = number;
    l->members[l->member_count++] = agent;
    return 0;
}

static int add_pair(Fleet *f, int number, int a, int b)
{
    size_t bit = (size_t)a * f->count + b;
    f->layers[number].pairs[bit >> 3] |= (unsigned char)(1 << (bit & 7));
    return join(f, number, a, 0) < 0 ? -1 : join(f, number, b, 1);
}

/* Watch a layer on all pairs (i, j), i < j, of one agent of each list. */
static PyObject *pairs(PyObject *self, PyObject *args)
{
    PyObject *capsule;
    Py_buffer firsts, seconds;
    Fleet *f;
    int number, i, j, good = 0;
    (void)self;
    if (!PyArg_ParseTuple(args, "Oiy*y*", &capsule, &number, &firsts, &seconds))
        return NULL;
    f = fleet_of(capsule);
    if (f != NULL && number >= 0 && number < f->layer_count) {
        const Shape *s = &f->shapes[f->layers[number].shape];
        const int *one = firsts.buf, *two = seconds.buf;
        int ones = (int)(firsts.len / (Py_ssize_t)sizeof(int));
        int twos = (int)(seconds.len / (Py_ssize_t)sizeof(int));
        good = all_below(one, ones, f->count) && all_below(two, twos, f->count);
        for (i = 0; good && i < ones; i++)
            for (j = 0; good && j < twos; j++)
                if (one[i] < two[j])
                    good = suits(s, f->agents[one[i]].past.n, f->agents[two[j]].past.n) &&
                           add_pair(f, number, one[i], two[j]) == 0;
    }
    PyBuffer_Release(&firsts);
    PyBuffer_Release(&seconds);
    if (good)
        Py_RETURN_NONE;
    if (!PyErr_Occurred())
        PyErr_SetString(PyExc_ValueError, "no such pairs");
    return NULL;
}

/* Forget a former run; whether to agree on steps, and to keep a record of them. */
static PyObject *begin(PyObject *self, PyObject *args)
{
    PyObject *capsule;
    Fleet *f;
    int foresee, record, i;
    (void)self;
    if (!PyArg_ParseTuple(args, "Opp", &capsule, &foresee, &record) ||
        (f = fleet_of(capsule)) == NULL)
        return NULL;
    f->foresee = foresee;
    f->record = record;
    f->turn_count = f->meeting_count = f->record_count = 0;
    f->looks = 0;
    for (i = 0; i < f->count; i++) {
        close_agent(&f->agents[i]);
        f->agents[i].finished = 1;
    }
    for (i = 0; i < f->grid_count; i++)
        grid_clear(&f->grids[i], f->count);
    Py_RETURN_NONE;
}

/* Copy what an agent starts a stretch with; 0, or -1 with an exception. */
static int set_out(Fleet *f, Agent *agent, PyObject *program, double t, double goal,
                   const Py_buffer *b)
{
    const Program *p = PyCapsule_GetPointer(program, PROGRAM);
    const Py_buffer *x = &b[0], *held = &b[1], *active = &b[2], *flowing = &b[3], *values = &b[4];
    int n = agent->past.n, i, count = (int)(active->len / (Py_ssize_t)sizeof(int));
    if (p == NULL)
        return -1;
    if (x->len != p->n * (Py_ssize_t)sizeof(double) ||
        held->len != p->held * (Py_ssize_t)sizeof(double) ||
        flowing->len != n * (Py_ssize_t)sizeof(int) ||
        values->len != n * (Py_ssize_t)sizeof(double) || count > p->watch_count ||
        !all_below(active->buf, count, p->watch_count)) {
        PyErr_SetString(PyExc_ValueError, "the state does not fit the program");
        return -1;
    }
    for (i = 0; i < n; i++)
        if (((const int *)flowing->buf)[i] >= p->n) {
            PyErr_SetString(PyExc_ValueError, "no such flowing variable");
            return -1;
        }
    close_agent(agent);
    agent->active = PyMem_Malloc(active->len + 1);
    if (agent->active == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    memcpy(agent->active, active->buf, active->len);
    memcpy(agent->flowing, flowing->buf, flowing->len);
    agent->method = f->method;
    if (core_open(&agent->core, p, &agent->method, t, x->buf, held->buf) < 0)
        return -1;
    agent->open = 1;
    Py_INCREF(program);
    agent->program = program;
    for (i = 0; i < n; i++)
        agent->past.c[(size_t)i * STRIDE] = ((const double *)values->buf)[i];
    core_watch(&agent->core, goal, agent->active, count);
    return 0;
}

/* Agent, program, time, goal, longest step; state, held values, watches, flowing numbers, all
 * values. */
static PyObject *depart(PyObject *self, PyObject *args)
{
    PyObject *capsule, *program;
    Py_buffer b[5];
    Fleet *f;
    Agent *agent;
    double t, goal, longest;
    int number, i, good;
    (void)self;
    if (!PyArg_ParseTuple(args, "OiOdddy*y*y*y*y*", &capsule, &number, &program, &t, &goal,
                          &longest, &b[0], &b[1], &b[2], &b[3], &b[4]))
        return NULL;
    f = fleet_of(capsule);
    agent = agent_of(f, number);
    good = agent != NULL && set_out(f, agent, program, t, goal, b) == 0;
    if (good) {
        agent->longest = agent->method.max_step = longest;
        good = fleet_depart(f, number) == 0;
    }
    for (i = 0; i < 5; i++)
        PyBuffer_Release(&b[i]);
    if (!good)
        return NULL;
    Py_RETURN_NONE;
}

/* An agent has reached the end of the run. */
static PyObject *retire(PyObject *self, PyObject *args)
{
    PyObject *capsule;
    Agent *agent;
    int number;
    (void)self;
    if (!PyArg_ParseTuple(args, "Oi", &capsule, &number) ||
        (agent = agent_of(fleet_of(capsule), number)) == NULL)
        return NULL;
    agent->finished = 1;
    agent->stamp++;
    Py_RETURN_NONE;
}

/* Make steps until something is due: (time, first, second, layer) for a meeting, a number
 * for the end of an agent's stretch, None when nothing is left. */
static PyObject *run(PyObject *self, PyObject *args)
{
    PyObject *capsule;
    Fleet *f;
    long count = 0;
    (void)self;
    if (!PyArg_ParseTuple(args, "O", &capsule) || (f = fleet_of(capsule)) == NULL)
        return NULL;
    for (;;) {
        int i = fleet_laggard(f);
        const Meeting *m;
        if (i < 0)
            Py_RETURN_NONE;
        m = fleet_next_meeting(f);
        if (m != NULL && (m->time < f->agents[i].clock ||
                          (m->time <= f->agents[i].clock && !f->agents[i].ended))) {
            Meeting due = *m;
            fleet_pop_meeting(f);
            return Py_BuildValue("(diii)", due.time, due.first, due.second, due.layer);
        }
        if (f->agents[i].ended)
            return PyLong_FromLong(i);
        if (fleet_step(f, i) < 0)
            return NULL;
        if (++count % SIGNALS_EVERY == 0 && PyErr_CheckSignals() < 0)
            return NULL;
    }
}

/* The stretch of an agent that has ended. */
static PyObject *stretch(PyObject *self, PyObject *args)
{
    PyObject *capsule;
    Agent *agent;
    int number;
    (void)self;
    if (!PyArg_ParseTuple(args, "Oi", &capsule, &number) ||
        (agent = agent_of(fleet_of(capsule), number)) == NULL)
        return NULL;
    if (!agent->open || !agent->ended) {
        PyErr_SetString(PyExc_ValueError, "the stretch has not ended");
        return NULL;
    }
    return core_result(&agent->core, agent->stop);
}

/* Take back what a core did after t; how many pieces that were whole steps. */
static int take_back(Core *core, double t)
{
    size_t pieces = core->out_degrees.count, n = core->n, i, j, width;
    const double *c;
    int cancelled = 0;
    while (pieces > 0 && core->out_times.data[pieces - 1] >= t) {
        width = core->out_degrees.data[--pieces] + 1;
        core->out_coefficients.count -= n * width;
        cancelled++;
    }
    if (pieces > 0) {
        double s = t - core->out_times.data[pieces - 1];
        width = core->out_degrees.data[pieces - 1] + 1;
        c = core->out_coefficients.data + core->out_coefficients.count - n * width;
        for (i = 0; i < n; i++) {
            double value = 0.0;
            for (j = width; j-- > 0;)
                value = value * s + c[i * width + j];
            core->x[i] = value;
        }
    } else if (cancelled) { /* the state at the start of the first piece */
        width = core->out_degrees.data[0] + 1;
        for (i = 0; i < n; i++)
            core->x[i] = core->out_coefficients.data[i * width];
    }
    core->out_degrees.count = pieces;
    core->out_times.count = pieces + 1;
    core->out_times.data[pieces] = core->t = t;
    core->fired_count = core->grazing_count = 0;
    return cancelled;
}

/* End the stretch of an agent at an earlier time: (stretch, steps taken back). */
static PyObject *cut(PyObject *self, PyObject *args)
{
    PyObject *capsule;
    Agent *agent;
    double t;
    int number, cancelled;
    (void)self;
    if (!PyArg_ParseTuple(args, "Oid", &capsule, &number, &t) ||
        (agent = agent_of(fleet_of(capsule), number)) == NULL)
        return NULL;
    if (!agent->open || agent->core.out_times.count == 0) {
        PyErr_SetString(PyExc_ValueError, "the agent has no stretch");
        return NULL;
    }
    cancelled = take_back(&agent->core, t);
    return Py_BuildValue("(Ni)", core_result(&agent->core, STOP_END), cancelled);
}

/* (agent, agreed or not, start, end, how far clocks lie apart) for every step. */
static PyObject *records(PyObject *self, PyObject *args)
{
    PyObject *capsule, *result;
    Fleet *f;
    int i;
    (void)self;
    if (!PyArg_ParseTuple(args, "O", &capsule) || (f = fleet_of(capsule)) == NULL)
        return NULL;
    result = PyList_New(f->record_count);
    for (i = 0; result != NULL && i < f->record_count; i++) {
        const Record *r = &f->records[i];
        PyObject *row = Py_BuildValue("(iiddd)", r->agent, r->together, r->start, r->end, r->spread);
        if (row == NULL)
            Py_CLEAR(result);
        else
            PyList_SET_ITEM(result, i, row);
    }
    return result;
}

/* How many pairs were looked at closely, and the clock of the most lagging agent. */
static PyObject *work(PyObject *self, PyObject *args)
{
    PyObject *capsule;
    Fleet *f;
    int i;
    (void)self;
    if (!PyArg_ParseTuple(args, "O", &capsule) || (f = fleet_of(capsule)) == NULL)
        return NULL;
    i = fleet_laggard(f);
    return Py_BuildValue("(ld)", f->looks, i < 0 ? 0.0 : f->agents[i].clock);
}

static PyMethodDef methods[] = {
    {"fleet", fleet, METH_VARARGS, "Room for agents with so many variables."},
    {"shape", shape, METH_VARARGS, "A condition on two agents; returns its number."},
    {"layer", layer, METH_VARARGS, "A condition to be watched on pairs; returns its number."},
    {"pairs", pairs, METH_VARARGS, "Watch a layer on pairs of two lists of agents."},
    {"begin", begin, METH_VARARGS, "Begin a new run."},
    {"depart", depart, METH_VARARGS, "Begin a stretch of an agent."},
    {"retire", retire, METH_VARARGS, "An agent makes no more steps."},
    {"run", run, METH_VARARGS, "Make steps until a meeting or the end of a stretch is due."},
    {"stretch", stretch, METH_VARARGS, "The stretch of an agent that has ended."},
    {"cut", cut, METH_VARARGS, "End the stretch of an agent at an earlier time."},
    {"records", records, METH_VARARGS, "The steps of the run."},
    {"work", work, METH_VARARGS, "Pairs looked at, and the least clock."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "simulate._fleet", "Agents with clocks of their own.", -1, methods,
    NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__fleet(void) { return PyModule_Create(&module); }
