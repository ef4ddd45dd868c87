#include "vertex.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TINY 1e-11       /* rows of length 1: an angle that counts as none */
#define FEASIBLE 1e-9    /* by how much a row may be exceeded, relative to the bounds at hand */
#define REINVERT 40      /* updates after which the inverse is computed anew */

int walk_open(Walk *walk, int rows, int size, const double *matrix)
{
    int i, j;
    memset(walk, 0, sizeof *walk);
    walk->rows = rows;
    walk->size = size;
    walk->matrix = malloc(sizeof(double) * (size_t)(rows * size + 1));
    walk->length = malloc(sizeof(double) * (size_t)(rows + 1));
    walk->bound = malloc(sizeof(double) * (size_t)(rows + 1));
    walk->basis = malloc(sizeof(int) * (size_t)(size + 1));
    walk->in_basis = calloc((size_t)rows + 1, 1);
    walk->inverse = malloc(sizeof(double) * (size_t)(size * size + 1));
    walk->corner = malloc(sizeof(double) * (size_t)(size + 1));
    walk->weights = malloc(sizeof(double) * (size_t)(size + 1));
    walk->work = malloc(sizeof(double) * (size_t)(2 * size * size + 2));
    if (!walk->matrix || !walk->length || !walk->bound || !walk->basis || !walk->in_basis ||
        !walk->inverse || !walk->corner || !walk->weights || !walk->work)
        return 0;
    for (i = 0; i < rows; i++) {
        double square = 0.0;
        for (j = 0; j < size; j++)
            square += matrix[i * size + j] * matrix[i * size + j];
        walk->length[i] = sqrt(square);
        walk->bound[i] = INFINITY;
        for (j = 0; j < size; j++)
            walk->matrix[i * size + j] =
                square > 0.0 ? matrix[i * size + j] / walk->length[i] : 0.0;
    }
    return 1;
}

void walk_close(Walk *walk)
{
    free(walk->matrix);
    free(walk->length);
    free(walk->bound);
    free(walk->basis);
    free(walk->in_basis);
    free(walk->inverse);
    free(walk->corner);
    free(walk->weights);
    free(walk->work);
}

static double dot(const double *a, const double *b, int size)
{
    double sum = 0.0;
    int j;
    for (j = 0; j < size; j++)
        sum += a[j] * b[j];
    return sum;
}

static const double *row_at(const Walk *walk, int i) { return walk->matrix + i * walk->size; }

/* The inverse of the basis by elimination with the largest pivots; 0 if it has none. */
static int invert(Walk *walk)
{
    int n = walk->size, i, j, k;
    double *a = walk->work, *b = walk->inverse;
    for (k = 0; k < n; k++)
        for (j = 0; j < n; j++) {
            a[k * n + j] = row_at(walk, walk->basis[k])[j];
            b[k * n + j] = k == j;
        }
    /* Rows of a are basis rows. Eliminating a to the identity turns b into its inverse. */
    for (k = 0; k < n; k++) {
        int best = k;
        for (i = k + 1; i < n; i++)
            if (fabs(a[i * n + k]) > fabs(a[best * n + k]))
                best = i;
        if (fabs(a[best * n + k]) < TINY)
            return 0;
        for (j = 0; j < n && best != k; j++) {
            double t = a[k * n + j];
            a[k * n + j] = a[best * n + j];
            a[best * n + j] = t;
            t = b[k * n + j];
            b[k * n + j] = b[best * n + j];
            b[best * n + j] = t;
        }
        for (j = n - 1; j >= 0; j--) {
            b[k * n + j] /= a[k * n + k];
            if (j != k)
                a[k * n + j] /= a[k * n + k];
        }
        a[k * n + k] = 1.0;
        for (i = 0; i < n; i++) {
            double factor = a[i * n + k];
            if (i == k || factor == 0.0)
                continue;
            for (j = 0; j < n; j++) {
                a[i * n + j] -= factor * a[k * n + j];
                b[i * n + j] -= factor * b[k * n + j];
            }
        }
    }
    walk->updates = 0;
    return 1;
}

/* The corner where all rows of the basis hold with equality. */
static void place(Walk *walk)
{
    int n = walk->size, j, k;
    for (j = 0; j < n; j++) {
        walk->corner[j] = 0.0;
        for (k = 0; k < n; k++)
            walk->corner[j] += walk->inverse[j * n + k] * walk->bound[walk->basis[k]];
    }
}

static double slack_of(const Walk *walk, int i)
{
    return walk->bound[i] - dot(row_at(walk, i), walk->corner, walk->size);
}

static double tolerance(const Walk *walk, int i)
{
    double size = fabs(walk->bound[i]);
    int j;
    for (j = 0; j < walk->size; j++)
        size = fmax(size, fabs(walk->corner[j]));
    return FEASIBLE * (1.0 + size);
}

/* Exchange the basis row in place k for row i; 0 if the new rows are not independent. */
static int exchange(Walk *walk, int k, int i)
{
    int n = walk->size, j, m;
    double *share = walk->work; /* row i as a combination of the basis rows */
    for (m = 0; m < n; m++) {
        share[m] = 0.0;
        for (j = 0; j < n; j++)
            share[m] += row_at(walk, i)[j] * walk->inverse[j * n + m];
    }
    if (fabs(share[k]) < TINY)
        return 0;
    walk->in_basis[walk->basis[k]] = 0;
    walk->in_basis[i] = 1;
    walk->basis[k] = i;
    if (++walk->updates >= REINVERT)
        return invert(walk);
    for (j = 0; j < n; j++) {
        double pivot = walk->inverse[j * n + k] / share[k];
        for (m = 0; m < n; m++)
            if (m != k)
                walk->inverse[j * n + m] -= pivot * share[m];
        walk->inverse[j * n + k] = pivot;
    }
    return 1;
}

void walk_rebound(Walk *walk, const double *bound)
{
    int i, k;
    for (i = 0; i < walk->rows; i++)
        walk->bound[i] = walk->length[i] > 0.0 ? bound[i] / walk->length[i] : bound[i];
    walk->is_feasible = 0;
    for (k = 0; k < walk->size; k++)
        if (walk->has_basis && !isfinite(walk->bound[walk->basis[k]]))
            walk->has_basis = 0;
}

int walk_start(Walk *walk, const int *basis)
{
    int k;
    memset(walk->in_basis, 0, (size_t)walk->rows);
    walk->has_basis = walk->is_feasible = 0;
    for (k = 0; k < walk->size; k++) {
        int i = basis[k];
        if (i < 0 || i >= walk->rows || walk->in_basis[i] || !isfinite(walk->bound[i]))
            return 0;
        walk->basis[k] = i;
        walk->in_basis[i] = 1;
    }
    walk->has_basis = invert(walk);
    return walk->has_basis;
}

/* Go to a corner that satisfies all rows. The combination of the basis rows with weights 1 is
   largest at the corner, and stays so: each step takes in the row that is exceeded most, in
   place of the one whose weight falls to 0 first. */
static int repair(Walk *walk)
{
    int n = walk->size, i, j, k, steps, most = 50 + 10 * (walk->rows + n);
    double *weights = walk->weights;
    for (k = 0; k < n; k++)
        weights[k] = 1.0;
    for (steps = 0; steps < most; steps++) {
        int enter = -1, leave = -1;
        double worst = 0.0, ratio = INFINITY, *share = walk->work + n;
        place(walk);
        for (i = 0; i < walk->rows; i++) {
            double slack;
            if (walk->in_basis[i] || !isfinite(walk->bound[i]))
                continue;
            slack = slack_of(walk, i) + tolerance(walk, i);
            if (slack < worst) {
                worst = slack;
                enter = i;
            }
        }
        if (enter < 0) {
            walk->is_feasible = 1;
            return ATTAINED;
        }
        for (k = 0; k < n; k++) {
            share[k] = 0.0;
            for (j = 0; j < n; j++)
                share[k] += row_at(walk, enter)[j] * walk->inverse[j * n + k];
            if (share[k] > 1e-9 && weights[k] / share[k] < ratio) {
                ratio = weights[k] / share[k];
                leave = k;
            }
        }
        if (leave < 0)
            return walk->length[enter] > 0.0 && worst < -1e-6 ? EMPTY : LOST;
        for (k = 0; k < n; k++)
            weights[k] = k == leave ? ratio : fmax(0.0, weights[k] - ratio * share[k]);
        if (!exchange(walk, leave, enter))
            return LOST;
    }
    return LOST;
}

int walk_climb(Walk *walk, const double *direction, double *value)
{
    int n = walk->size, i, j, k, steps, most = 50 + 10 * (walk->rows + n);
    double size = sqrt(dot(direction, direction, n));
    if (!walk->has_basis)
        return LOST;
    for (i = 0; i < walk->rows; i++)
        if (walk->length[i] == 0.0 && walk->bound[i] < 0.0)
            return walk->bound[i] < -1e-6 ? EMPTY : LOST;
    if (!walk->is_feasible) {
        int outcome = repair(walk);
        if (outcome != ATTAINED) {
            walk->has_basis = 0;
            return outcome;
        }
    }
    for (steps = 0; steps < most; steps++) {
        int enter = -1, leave = -1;
        double least = -1e-10 * size, length = INFINITY, fastest = 0.0, *way = walk->work + n;
        for (k = 0; k < n; k++) {
            walk->weights[k] = 0.0;
            for (j = 0; j < n; j++)
                walk->weights[k] += direction[j] * walk->inverse[j * n + k];
            if (walk->weights[k] < least) {
                least = walk->weights[k];
                leave = k;
            }
        }
        if (leave < 0) {
            for (k = 0; k < n; k++)
                walk->weights[k] = fmax(0.0, walk->weights[k]);
            *value = dot(direction, walk->corner, n);
            return ATTAINED;
        }
        for (j = 0; j < n; j++)
            way[j] = -walk->inverse[j * n + leave];
        for (i = 0; i < walk->rows; i++) {
            double speed, room;
            if (walk->in_basis[i] || !isfinite(walk->bound[i]))
                continue;
            speed = dot(row_at(walk, i), way, n);
            if (speed <= 1e-9)
                continue;
            room = fmax(0.0, slack_of(walk, i)) / speed;
            if (room < length || (room == length && speed > fastest)) {
                length = room;
                fastest = speed;
                enter = i;
            }
        }
        if (enter < 0)
            return UNBOUNDED;
        if (!exchange(walk, leave, enter))
            break;
        place(walk);
    }
    walk->has_basis = 0;
    return LOST;
}
