/* Walking from corner to corner of a polyhedron { z : row_i z <= bound_i } in search of the
   largest value of a linear function; see `reach/sets/support.py`.

   A corner is given by as many independent rows as there are unknowns, its *basis*. Floating
   point: a walk that loses its way says so (LOST), and a slower solver takes over. */
#ifndef CHARON_VERTEX_H
#define CHARON_VERTEX_H

enum { ATTAINED, UNBOUNDED, EMPTY, LOST };

typedef struct {
    int rows, size;
    double *matrix;  /* rows x size, each row of length 1 */
    double *length;  /* what the rows were divided by; 0 for a row without entries */
    double *bound;   /* of the rows of length 1; infinite where a row is switched off */
    int *basis;      /* the rows of the corner */
    char *in_basis;  /* for every row */
    double *inverse; /* of the basis: size x size; column k moves away from basis row k */
    double *corner;
    double *weights; /* of the basis rows: their combination is the direction */
    double *work;    /* 2 * size */
    int has_basis, is_feasible, updates;
} Walk;

int walk_open(Walk *walk, int rows, int size, const double *matrix);
void walk_close(Walk *walk);

/* New bounds; infinite ones switch rows off. */
void walk_rebound(Walk *walk, const double *bound);

/* Start at the corner of these rows; 0 if they have none. */
int walk_start(Walk *walk, const int *basis);

/* The largest value of direction * z, and where it is attained (`corner`, `weights`). */
int walk_climb(Walk *walk, const double *direction, double *value);
#endif
