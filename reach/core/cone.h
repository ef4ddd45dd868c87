/* The double description of a cone while constraints are added; specified by
   `reach/sets/double_description.py`, whose results it repeats entry by entry. */
#ifndef CHARON_CONE_H
#define CHARON_CONE_H

#include "vectors.h"

typedef struct {
    int size;
    List equations, inequalities, lines, rays; /* masks: of rays only */
    int changed;
    double max_pairs;
    double deadline; /* of the monotonic clock, in seconds */
} Cone;

int cone_open(Cone *cone, int size, int words);
void cone_close(Cone *cone);

/* Add one constraint. */
int cone_cut(Cone *cone, const int64_t *row, int is_equation);

/* Make inequalities that hold with equality equations, and leave out redundant ones. */
int cone_finish(Cone *cone);
#endif
