/* Conditions on two agents along their paths; see `simulate/fleet.py`.
 *
 * A path is a polynomial of every variable of an agent, valid in a window of time. The
 * windows of two agents overlap; `core_plan` looks for the first time in the overlap at which
 * a watched condition on both is true. Pairs whose bounding boxes keep further apart than the
 * condition allows are skipped, and so are the parts of the overlap in which they do. */
#include "advance.h"

#include <math.h>
#include <string.h>

static const char PROGRAM[] = "simulate._core.Program";
static const char FLEET[] = "simulate._meeting.Fleet";

#define MOST_ROUNDS 1000
#define PARTS 16

/* |a[first] - b[second]| <= radius is necessary for the condition */
typedef struct { int first, second; double radius; } Near;

typedef struct {
    PyObject *program; /* keeps the program alive */
    Core core;
    int moving_a, moving_b, held_a, held_b; /* how many variables are read */
    int *reads; /* their numbers in the agents: in this order */
    int near_count;
    Near *near;
    int *active;
} Shape;

typedef struct {
    int n, degree;
    double base, start, end;
    double *c; /* n rows of STRIDE coefficients, in powers of the time since base */
    double *low, *high; /* the box in the window */
} Path;

typedef struct { int other, shape; } Link;
typedef struct { int count, room; Link *at; } Links;

typedef struct {
    int count, shape_count;
    Path *paths;
    Links *links; /* for every agent the others; agent < other is the first of the shape */
    Shape *shapes;
    Method method;
    long tests, meetings;
} Fleet;

static void free_shape(Shape *s)
{
    core_close(&s->core);
    Py_XDECREF(s->program);
    PyMem_Free(s->reads);
    PyMem_Free(s->near);
    PyMem_Free(s->active);
}

static void free_fleet(Fleet *f)
{
    int i;
    for (i = 0; i < f->shape_count; i++)
        free_shape(&f->shapes[i]);
    for (i = 0; i < f->count && f->links != NULL; i++)
        PyMem_Free(f->links[i].at);
    for (i = 0; i < f->count && f->paths != NULL; i++)
        PyMem_Free(f->paths[i].c);
    PyMem_Free(f->paths);
    PyMem_Free(f->links);
    PyMem_Free(f->shapes);
    PyMem_Free(f);
}

static void destroy(PyObject *capsule) { free_fleet(PyCapsule_GetPointer(capsule, FLEET)); }

static Fleet *fleet_of(PyObject *capsule) { return PyCapsule_GetPointer(capsule, FLEET); }

static PyObject *fleet(PyObject *self, PyObject *args)
{
    Py_buffer sizes;
    Fleet *f = PyMem_Calloc(1, sizeof(Fleet));
    PyObject *result = NULL;
    int i, good;
    (void)self;
    if (f == NULL)
        return PyErr_NoMemory();
    if (!PyArg_ParseTuple(args, "y*dd", &sizes, &f->method.rtol, &f->method.atol)) {
        PyMem_Free(f);
        return NULL;
    }
    f->count = (int)(sizes.len / (Py_ssize_t)sizeof(int));
    f->paths = PyMem_Calloc(f->count + 1, sizeof(Path));
    f->links = PyMem_Calloc(f->count + 1, sizeof(Links));
    f->method.max_order = 1;
    f->method.max_step = INFINITY;
    good = f->paths != NULL && f->links != NULL;
    for (i = 0; good && i < f->count; i++) {
        int n = ((const int *)sizes.buf)[i];
        Path *p = &f->paths[i];
        p->n = n;
        p->c = n < 0 ? NULL : PyMem_Calloc((size_t)n * (STRIDE + 2) + 1, sizeof(double));
        good = p->c != NULL;
        p->low = p->c + (size_t)n * STRIDE;
        p->high = p->low + n;
    }
    if (good)
        result = PyCapsule_New(f, FLEET, destroy);
    else
        PyErr_NoMemory();
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

static int all_below(const int *values, int count, int limit)
{
    int i;
    for (i = 0; i < count; i++)
        if (values[i] < 0 || values[i] >= limit)
            return 0;
    return 1;
}

/* Whether a shape reads variables that both agents have. */
static int suits(const Shape *s, const Path *a, const Path *b)
{
    const int *r = s->reads;
    int i, good = all_below(r, s->moving_a, a->n) && all_below(r + s->moving_a, s->moving_b, b->n);
    r += s->moving_a + s->moving_b;
    good = good && all_below(r, s->held_a, a->n) && all_below(r + s->held_a, s->held_b, b->n);
    for (i = 0; i < s->near_count; i++)
        good = good && all_below(&s->near[i].first, 1, a->n) &&
               all_below(&s->near[i].second, 1, b->n);
    return good;
}

static int add_link(Links *links, int other, int shape)
{
    if (links->count == links->room) {
        int room = 2 * links->room + 8;
        Link *at = PyMem_Realloc(links->at, room * sizeof(Link));
        if (at == NULL) {
            PyErr_NoMemory();
            return -1;
        }
        links->at = at;
        links->room = room;
    }
    links->at[links->count].other = other;
    links->at[links->count++].shape = shape;
    return 0;
}

static PyObject *pair(PyObject *self, PyObject *args)
{
    PyObject *capsule;
    Fleet *f;
    int a, b, number;
    (void)self;
    if (!PyArg_ParseTuple(args, "Oiii", &capsule, &a, &b, &number))
        return NULL;
    f = fleet_of(capsule);
    if (f == NULL)
        return NULL;
    if (a < 0 || b <= a || b >= f->count || number < 0 || number >= f->shape_count ||
        !suits(&f->shapes[number], &f->paths[a], &f->paths[b])) {
        PyErr_SetString(PyExc_ValueError, "no such pair");
        return NULL;
    }
    if (add_link(&f->links[a], b, number) < 0 || add_link(&f->links[b], a, number) < 0)
        return NULL;
    Py_RETURN_NONE;
}

/* The polynomial of one variable in powers of the time since base + s. */
static void shifted(const double *c, int degree, double s, double *out, int stride)
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

static void bounds(Path *p)
{
    double a[STRIDE], span = p->end - p->start;
    int i, k;
    for (i = 0; i < p->n; i++) {
        double least = 0.0, most = 0.0, power = 1.0;
        shifted(p->c + (size_t)i * STRIDE, p->degree, p->start - p->base, a, 1);
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

/* Agent, base, start and end of the window, degree, coefficients variable by variable. */
static PyObject *move(PyObject *self, PyObject *args)
{
    PyObject *capsule;
    Py_buffer c;
    Fleet *f;
    Path *p;
    int agent, degree, i;
    double base, start, end;
    (void)self;
    if (!PyArg_ParseTuple(args, "Oidddiy*", &capsule, &agent, &base, &start, &end, &degree, &c))
        return NULL;
    f = fleet_of(capsule);
    if (f == NULL || agent < 0 || agent >= f->count || degree < 0 || degree > MAX_DEGREE ||
        c.len != (Py_ssize_t)((size_t)f->paths[agent].n * (degree + 1) * sizeof(double))) {
        PyBuffer_Release(&c);
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_ValueError, "not a path of this agent");
        return NULL;
    }
    p = &f->paths[agent];
    p->base = base;
    p->start = start;
    p->end = end;
    p->degree = degree;
    for (i = 0; i < p->n; i++)
        memcpy(p->c + (size_t)i * STRIDE, (const double *)c.buf + (size_t)i * (degree + 1),
               (degree + 1) * sizeof(double));
    bounds(p);
    PyBuffer_Release(&c);
    Py_RETURN_NONE;
}

static int far_apart(const Shape *s, const Path *a, const Path *b)
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
static int maybe_near(const Shape *s, const Path *a, const Path *b, double m, double w)
{
    double p[STRIDE], q[STRIDE];
    int i, k, degree = a->degree > b->degree ? a->degree : b->degree;
    for (i = 0; i < s->near_count; i++) {
        const Near *near = &s->near[i];
        double distance, spread = 0.0, power = 1.0;
        memset(p, 0, sizeof p);
        memset(q, 0, sizeof q);
        shifted(a->c + (size_t)near->first * STRIDE, a->degree, m - a->base, p, 1);
        shifted(b->c + (size_t)near->second * STRIDE, b->degree, m - b->base, q, 1);
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

/* Narrow [*t, *end] to the parts in which the agents can be near each other; 0 if nowhere. */
static int narrow(const Shape *s, const Path *a, const Path *b, double *t, double *end)
{
    double start = *t, part = (*end - *t) / PARTS;
    int first, last;
    if (s->near_count == 0)
        return 1;
    for (first = 0; first < PARTS; first++)
        if (maybe_near(s, a, b, start + (first + 0.5) * part, 0.5 * part * (1.0 + 1e-9)))
            break;
    if (first == PARTS)
        return 0;
    for (last = PARTS - 1; last > first; last--)
        if (maybe_near(s, a, b, start + (last + 0.5) * part, 0.5 * part * (1.0 + 1e-9)))
            break;
    if (last < PARTS - 1)
        *end = start + (last + 1) * part;
    if (first > 0)
        *t = start + first * part;
    return 1;
}

static void place(Shape *s, const Path *a, const Path *b, double t)
{
    Core *core = &s->core;
    int n = core->n, i, degree = a->degree > b->degree ? a->degree : b->degree;
    const int *reads = s->reads;
    core->t = t;
    core->degree = degree;
    memset(core->poly, 0, (size_t)n * (degree + 1) * sizeof(double));
    for (i = 0; i < n; i++) {
        const Path *p = i < s->moving_a ? a : b;
        shifted(p->c + (size_t)*reads++ * STRIDE, p->degree, t - p->base, core->poly + i, n);
        core->x[i] = core->poly[i];
    }
    for (i = 0; i < s->held_a + s->held_b; i++) {
        const Path *p = i < s->held_a ? a : b;
        double value = p->c[(size_t)*reads++ * STRIDE];
        core->r[1 + n + i] = core->series[(size_t)(1 + n + i) * STRIDE] = value;
    }
}

/* The first time in [t, end] at which a watch is true; 1 found, 0 none, -1 failure. */
static int meet(Shape *s, const Path *a, const Path *b, double t, double end, double *when)
{
    Core *core = &s->core;
    double limit, least = 1.8e-15 * (fabs(end) > fabs(t) ? fabs(end) : fabs(t));
    int round;
    for (round = 0; round < MOST_ROUNDS && end - t > least; round++) {
        place(s, a, b, t);
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

static PyObject *fired_list(const Core *core)
{
    PyObject *result = PyTuple_New(core->fired_count);
    int i;
    for (i = 0; result != NULL && i < core->fired_count; i++) {
        PyObject *number = PyLong_FromLong(core->fired[i]);
        if (number == NULL)
            Py_CLEAR(result);
        else
            PyTuple_SET_ITEM(result, i, number);
    }
    return result;
}

/* The first meeting with each other agent in the overlap of the windows. */
static PyObject *meetings(PyObject *self, PyObject *args)
{
    PyObject *capsule, *result;
    Fleet *f;
    int agent, k;
    (void)self;
    if (!PyArg_ParseTuple(args, "Oi", &capsule, &agent))
        return NULL;
    f = fleet_of(capsule);
    if (f == NULL || agent < 0 || agent >= f->count) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_ValueError, "no such agent");
        return NULL;
    }
    result = PyList_New(0);
    for (k = 0; result != NULL && k < f->links[agent].count; k++) {
        Link link = f->links[agent].at[k];
        Shape *s = &f->shapes[link.shape];
        const Path *a = &f->paths[agent < link.other ? agent : link.other];
        const Path *b = &f->paths[agent < link.other ? link.other : agent];
        double start = a->start > b->start ? a->start : b->start;
        double end = a->end < b->end ? a->end : b->end, when;
        int found;
        if (!(start < end) || far_apart(s, a, b) || !narrow(s, a, b, &start, &end))
            continue;
        f->tests++;
        found = meet(s, a, b, start, end, &when);
        if (found < 0) {
            Py_CLEAR(result);
        } else if (found) {
            PyObject *fired = fired_list(&s->core), *entry;
            f->meetings++;
            entry = fired == NULL
                        ? NULL
                        : Py_BuildValue("(diiN)", when, link.other, link.shape, fired);
            if (entry == NULL || PyList_Append(result, entry) < 0)
                Py_CLEAR(result);
            Py_XDECREF(entry);
        }
    }
    return result;
}

static PyObject *work(PyObject *self, PyObject *args)
{
    PyObject *capsule;
    Fleet *f;
    (void)self;
    if (!PyArg_ParseTuple(args, "O", &capsule) || (f = fleet_of(capsule)) == NULL)
        return NULL;
    return Py_BuildValue("(ll)", f->tests, f->meetings);
}

static PyMethodDef methods[] = {
    {"fleet", fleet, METH_VARARGS, "Room for the paths of agents with so many variables."},
    {"shape", shape, METH_VARARGS, "A condition on two agents; returns its number."},
    {"pair", pair, METH_VARARGS, "Watch a shape on two agents."},
    {"move", move, METH_VARARGS, "The path of an agent in a window of time."},
    {"meetings", meetings, METH_VARARGS, "The first meetings of an agent with the others."},
    {"work", work, METH_VARARGS, "How many pairs were looked at closely, and met."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "simulate._meeting", "Conditions on two agents.", -1, methods,
    NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__meeting(void) { return PyModule_Create(&module); }
