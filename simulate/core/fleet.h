/* Agents with clocks of their own; see `simulate/agents/fleet.py`. */
#ifndef CHARON_FLEET_H
#define CHARON_FLEET_H

#include "advance.h"

/* |a[first] - b[second]| <= radius is necessary for the condition */
typedef struct { int first, second; double radius; } Near;

/* A condition on two agents. */
typedef struct {
    PyObject *program; /* keeps the program alive */
    Core core;
    int moving_a, moving_b, held_a, held_b; /* how many variables are read */
    int *reads; /* their numbers in the agents: in this order */
    int near_count;
    Near *near;
    int *active;
} Shape;

/* Polynomials of all variables of an agent, in powers of the time since `base`. */
typedef struct {
    int n, degree;
    double base, start, end; /* valid in this window */
    double *c;               /* n rows of STRIDE coefficients */
    double *low, *high;      /* the box in the window */
} Path;

/* Cells in space and slices of time: which agents may be where, and when. */
typedef struct { long slice, x, y; int agent, ahead, next, before, sibling; } Cell;
typedef struct {
    int variables[2], dimensions; /* the coordinates */
    double size[2], duration;     /* of a cell and of a slice; not yet tuned: size is 0 */
    int *buckets, mask;
    Cell *cells;
    int room, free, wide_count;
    int *mine;                    /* for every agent its first cell, or none */
    char *member, *wide;          /* wide: everywhere, as far as the grid knows */
    long puts;                    /* since it was tuned */
} Grid;

/* A condition and the pairs on which it is watched. */
typedef struct {
    int shape, rank, member_count;
    unsigned char *pairs; /* a bit for every ordered pair of agents, the smaller first */
    int *members;
    int grid[2]; /* where first and second agents are found; none: -1 */
} Layer;

typedef struct {
    PyObject *program;
    Core core;
    Method method;
    int open, ended, stop, active_count, finished;
    int *active, *flowing; /* flowing: for every variable its number in the core, or -1 */
    Path past, ahead;      /* the last step, and the extrapolation from the clock */
    double clock, booked, longest, known; /* the longest step; how far the next one reaches */
    int partner, agreed;   /* with whom the next step was agreed; how many were in a row */
    long version, stamp;
    int *layers, layer_count;
} Agent;

typedef struct { double clock; int agent; long stamp; } Turn;
typedef struct { double time; int rank, first, second, layer; long versions[2]; } Meeting;
typedef struct { int agent, together; double start, end, spread; } Record;

typedef struct {
    int count, shape_count, layer_count, grid_count;
    Agent *agents;
    Shape *shapes;
    Layer *layers;
    Grid *grids;
    Method method;
    int foresee, record;
    Turn *turns;
    int turn_count, turn_room;
    Meeting *meetings;
    int meeting_count, meeting_room;
    Record *records;
    int record_count, record_room;
    int *candidates, candidate_count; /* of the last search */
    long *seen, search, *tested, test;
    long looks;
} Fleet;

/* Paths */
int path_open(Path *p, int n);
void path_shifted(const double *c, int degree, double s, double *out, int stride);
void path_bounds(Path *p);
void path_range(const Path *p, int variable, double from, double to, double *low, double *high);

/* Conditions on two paths */
int far_apart(const Shape *s, const Path *a, const Path *b);
int maybe_near(const Shape *s, const Path *a, const Path *b, double m, double w);
int narrow(const Shape *s, const Path *a, const Path *b, double *t, double *end);
void pair_place(Shape *s, const Path *a, const Path *b, double at, double bt);
int pair_meet(Shape *s, const Path *a, const Path *b, double t, double end, double *when);

/* The grid */
int grid_open(Grid *g, int agents);
void grid_close(Grid *g);
void grid_clear(Grid *g, int agents);
int grid_put(Grid *g, Fleet *f, int agent);
void grid_search(Fleet *f, const Layer *layer, int agent, const Path *p, int ahead);

/* Turns and steps */
int meeting_before(const Meeting *a, const Meeting *b);
int fleet_enqueue(Fleet *f, int agent);
int fleet_laggard(Fleet *f);
const Meeting *fleet_next_meeting(Fleet *f);
void fleet_pop_meeting(Fleet *f);
int fleet_depart(Fleet *f, int agent);
int fleet_step(Fleet *f, int agent);
int fleet_foresee(Fleet *f, int agent, double *cap);
int fleet_meetings(Fleet *f, int agent);
int layer_has(const Fleet *f, const Layer *layer, int a, int b);
int more_room(void **data, int *room, int count, size_t size);

/* Setting up, as Python calls it */
Fleet *fleet_of(PyObject *capsule);
void fleet_close_agent(Agent *agent);
int all_below(const int *values, int count, int limit); /* and none negative */
PyObject *fleet_py_fleet(PyObject *self, PyObject *args);
PyObject *fleet_py_shape(PyObject *self, PyObject *args);
PyObject *fleet_py_layer(PyObject *self, PyObject *args);
PyObject *fleet_py_pairs(PyObject *self, PyObject *args);
#endif
