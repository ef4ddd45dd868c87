/* Setting up a fleet: agents, the conditions that are watched, and on which pairs. */
#include "fleet.h"

#include <string.h>

static const char PROGRAM[] = "workbench.simulate._core.Program";
static const char FLEET[] = "workbench.simulate._fleet.Fleet";

Fleet *fleet_of(PyObject *capsule) { return PyCapsule_GetPointer(capsule, FLEET); }

int all_below(const int *values, int count, int limit)
{
    int i;
    for (i = 0; i < count; i++)
        if (values[i] < 0 || values[i] >= limit)
            return 0;
    return 1;
}

static void free_shape(Shape *s)
{
    core_close(&s->core);
    Py_XDECREF(s->program);
    PyMem_Free(s->reads);
    PyMem_Free(s->near);
    PyMem_Free(s->active);
}

void fleet_close_agent(Agent *agent)
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
    fleet_close_agent(agent);
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

PyObject *fleet_py_fleet(PyObject *self, PyObject *args)
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
PyObject *fleet_py_shape(PyObject *self, PyObject *args)
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
PyObject *fleet_py_layer(PyObject *self, PyObject *args)
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
PyObject *fleet_py_pairs(PyObject *self, PyObject *args)
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
