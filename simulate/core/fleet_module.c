/* The Python face of fleets, once they are set up; see `simulate/agents/fleet.py`. */
#include "fleet.h"

#include <math.h>
#include <string.h>

static const char PROGRAM[] = "workbench.simulate._core.Program";

#define SIGNALS_EVERY 4096

static Agent *agent_of(Fleet *f, int number)
{
    if (f != NULL && number >= 0 && number < f->count)
        return &f->agents[number];
    if (!PyErr_Occurred())
        PyErr_SetString(PyExc_ValueError, "no such agent");
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
        fleet_close_agent(&f->agents[i]);
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
    fleet_close_agent(agent);
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

/* How many pairs were looked at closely. */
static PyObject *looks(PyObject *self, PyObject *args)
{
    PyObject *capsule;
    Fleet *f;
    (void)self;
    if (!PyArg_ParseTuple(args, "O", &capsule) || (f = fleet_of(capsule)) == NULL)
        return NULL;
    return PyLong_FromLong(f->looks);
}

static PyMethodDef methods[] = {
    {"fleet", fleet_py_fleet, METH_VARARGS, "Room for agents with so many variables."},
    {"shape", fleet_py_shape, METH_VARARGS, "A condition on two agents; returns its number."},
    {"layer", fleet_py_layer, METH_VARARGS, "A condition to be watched on pairs; returns its number."},
    {"pairs", fleet_py_pairs, METH_VARARGS, "Watch a layer on pairs of two lists of agents."},
    {"begin", begin, METH_VARARGS, "Begin a new run."},
    {"depart", depart, METH_VARARGS, "Begin a stretch of an agent."},
    {"retire", retire, METH_VARARGS, "An agent makes no more steps."},
    {"run", run, METH_VARARGS, "Make steps until a meeting or the end of a stretch is due."},
    {"stretch", stretch, METH_VARARGS, "The stretch of an agent that has ended."},
    {"cut", cut, METH_VARARGS, "End the stretch of an agent at an earlier time."},
    {"records", records, METH_VARARGS, "The steps of the run."},
    {"looks", looks, METH_VARARGS, "How many pairs were looked at closely."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "workbench.simulate._fleet", "Agents with clocks of their own.", -1, methods,
    NULL, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__fleet(void) { return PyModule_Create(&module); }
