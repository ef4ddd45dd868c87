/* The tape and the three ways to run it: values, Taylor series, sensitivities.
 * `simulate/stepping/reference/tape.py` is the specification: the same operations in the same order. */
#ifndef CHARON_TAPE_H
#define CHARON_TAPE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#define MAX_DEGREE 24
#define STRIDE (MAX_DEGREE + 1)
#define OPAQUE_DEGREE 99
#define MAX_ARGUMENTS 16 /* of an external function whose values are enclosed */

enum code {
    ADD, SUBTRACT, MULTIPLY, DIVIDE, NEGATE, POWER, MINIMUM, MAXIMUM, ABSOLUTE, SIGN, FLOOR,
    SQRT, EXP, LOG, SIN, COS, TAN, ASIN, ACOS, ATAN, ATAN2, LOOKUP1, LOOKUP2, EXTERNAL, COPY,
    LESS, LESS_EQUAL, EQUAL, NOT_EQUAL, AND, OR, NOT, SELECT, CODE_COUNT
};

typedef struct { int code, d, a, b, c; } Instruction;

typedef struct {
    int rows, columns, linear; /* columns is 0 for a table of one coordinate */
    const double *x, *y, *values;
} Table;

enum { FLAG_STRICT = 1, FLAG_FROZEN = 2, FLAG_EQUALITY = 4, FLAG_UNDEFINED_HOLDS = 8,
       FLAG_STEPWISE = 16 };
enum { UNILATERAL, BILATERAL, CROSSING };

typedef struct { int reg, sign, kind, flags; } Atom;
typedef struct { int kind, first, count, touch; } Watch; /* tokens[first .. first + count) */

typedef struct {
    int n, held, registers, differentiable;
    int edged; /* whether the flow has operations that are not smooth everywhere */
    int flow_count, guard_count, atom_count, watch_count, table_count, token_count;
    double *initial;          /* the register file with constants in place */
    int *degrees;
    Instruction *flow, *guard;
    int *derivatives;
    Atom *atoms;
    Watch *watches;
    int *tokens;
    Table *tables;
    double *table_data;
    double *lipschitz;        /* of each external function; infinite where not declared */
    PyObject *externals;      /* tuple of callables */
} Program;

/* Each returns 0, or -1 with a Python exception set by an external function. */
int tape_values(const Program *p, const Instruction *code, int count, double *r);
int tape_coefficient(const Program *p, const Instruction *i, double *series, int k);
int tape_row(const Program *p, const Instruction *i, double *series, int top);
void tape_sensitivity(const Program *p, const Instruction *code, int count, const double *r,
                      double *spread, double *noise);
int tape_enclosure(const Program *p, const Instruction *code, int count, double *low,
                   double *high, char *gaps);
int tape_call(const Program *p, int which, const double *arguments, int count, int stride,
              double *result);
double table_line(const Table *t, double x); /* the value of a table of one coordinate, or of two */
double table_plane(const Table *t, double x, double y);
#endif
