/* Chernikova's algorithm in 64-bit integers; see cone.h. */
#define _POSIX_C_SOURCE 200809L
#include "cone.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

int cone_open(Cone *cone, int size, int words)
{
    memset(cone, 0, sizeof *cone);
    cone->size = size;
    return list_open(&cone->equations, size, 0) || list_open(&cone->inequalities, size, 0) ||
                   list_open(&cone->lines, size, 0) || list_open(&cone->rays, size, words)
               ? NO_MEMORY
               : FITS;
}

void cone_close(Cone *cone)
{
    list_close(&cone->equations);
    list_close(&cone->inequalities);
    list_close(&cone->lines);
    list_close(&cone->rays);
}

static int is_late(const Cone *cone)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec >= cone->deadline;
}

static int bits(const uint64_t *mask, int words)
{
    int k, found = 0;
    for (k = 0; k < words; k++)
        found += __builtin_popcountll(mask[k]);
    return found;
}

static int has_all(const uint64_t *mask, const uint64_t *wanted, int words)
{
    int k;
    for (k = 0; k < words; k++)
        if ((mask[k] & wanted[k]) != wanted[k])
            return 0;
    return 1;
}

static void set_bit(uint64_t *mask, size_t bit) { mask[bit / 64] |= (uint64_t)1 << (bit % 64); }

/* A line crosses the hyperplane: everything else is pushed along it onto the plane. */
static int cut_line(Cone *cone, const int64_t *row, const Wide *values, size_t chosen,
                    int is_equation)
{
    int64_t line[MAX_SIZE];
    uint64_t *mask;
    Wide height = values[chosen];
    size_t i, kept = 0, bit = cone->inequalities.count;
    int k, error;
    cone->changed = 1;
    for (k = 0; k < cone->size; k++)
        line[k] = height < 0 ? -vector_at(&cone->lines, chosen)[k]
                             : vector_at(&cone->lines, chosen)[k];
    if (height < 0)
        height = -height;
    for (i = 0; i < cone->lines.count; i++) {
        int64_t *other = vector_at(&cone->lines, i);
        if (i == chosen)
            continue;
        if (values[i] != 0 && (error = combined(height, other, -values[i], line, cone->size, other)))
            return error;
        memmove(vector_at(&cone->lines, kept++), other, (size_t)cone->size * sizeof *other);
    }
    cone->lines.count = kept;
    for (i = 0; i < cone->rays.count; i++) {
        int64_t *ray = vector_at(&cone->rays, i);
        Wide value = inner(row, ray, cone->size);
        if (value != 0 && (error = combined(height, ray, -value, line, cone->size, ray)))
            return error;
    }
    if (is_equation)
        return list_add(&cone->equations, row, NULL);
    for (i = 0; i < cone->rays.count; i++)
        set_bit(mask_at(&cone->rays, i), bit);
    if ((error = list_add(&cone->inequalities, row, NULL)) ||
        (error = list_add(&cone->rays, line, NULL)))
        return error;
    mask = mask_at(&cone->rays, cone->rays.count - 1);
    for (i = 0; i < bit; i++)
        set_bit(mask, i);
    return FITS;
}

/* Whether exactly two rays saturate all that a pair has in common. */
static int adjacent(const List *rays, const uint64_t *common)
{
    size_t i;
    int seen = 0;
    for (i = 0; i < rays->count; i++)
        if (has_all(mask_at(rays, i), common, rays->words) && ++seen > 2)
            return 0;
    return seen == 2;
}

/* The new rays, on the edges between adjacent rays of either side. */
static int between(const Cone *cone, const Wide *values, int is_equation, uint64_t *common,
                   List *found)
{
    const List *rays = &cone->rays;
    int needed = cone->size - (int)cone->lines.count - (int)cone->equations.count - 2;
    int64_t vector[MAX_SIZE];
    size_t i, j, tested = 0;
    int k, error;
    for (i = 0; i < rays->count; i++) {
        if (values[i] <= 0)
            continue;
        for (j = 0; j < rays->count; j++) {
            if (values[j] >= 0)
                continue;
            if (++tested % 1024 == 0 && is_late(cone))
                return NO_TIME;
            for (k = 0; k < rays->words; k++)
                common[k] = mask_at(rays, i)[k] & mask_at(rays, j)[k];
            if (bits(common, rays->words) < needed || !adjacent(rays, common))
                continue;
            if ((error = combined(values[i], vector_at(rays, j), -values[j], vector_at(rays, i),
                                  cone->size, vector)))
                return error;
            if (!is_equation)
                set_bit(common, cone->inequalities.count);
            if ((error = list_add(found, vector, common)))
                return error;
        }
    }
    return FITS;
}

/* The rays that stay, then the new ones. */
static int replace_rays(Cone *cone, const Wide *values, int is_equation, const List *found)
{
    List *rays = &cone->rays;
    size_t i, kept = 0;
    int error;
    for (i = 0; i < rays->count; i++) {
        if (values[i] < 0 || (values[i] > 0 && is_equation))
            continue;
        if (values[i] == 0 && !is_equation)
            set_bit(mask_at(rays, i), cone->inequalities.count);
        memmove(vector_at(rays, kept), vector_at(rays, i), (size_t)rays->size * sizeof(int64_t));
        memmove(mask_at(rays, kept), mask_at(rays, i), (size_t)rays->words * sizeof(uint64_t));
        kept++;
    }
    rays->count = kept;
    for (i = 0; i < found->count; i++)
        if ((error = list_add(rays, vector_at(found, i), mask_at(found, i))))
            return error;
    return FITS;
}

static int cut_rays(Cone *cone, const int64_t *row, Wide *values, int is_equation)
{
    List found = {0};
    uint64_t *common;
    size_t i, above = 0, below = 0;
    int error;
    for (i = 0; i < cone->rays.count; i++) {
        values[i] = inner(row, vector_at(&cone->rays, i), cone->size);
        above += values[i] > 0;
        below += values[i] < 0;
    }
    if (below == 0 && (!is_equation || above == 0))
        return FITS; /* implied already */
    if ((double)above * (double)below > cone->max_pairs)
        return TOO_MANY;
    cone->changed = 1;
    common = calloc((size_t)cone->rays.words + 1, sizeof *common);
    error = list_open(&found, cone->size, cone->rays.words) || common == NULL ? NO_MEMORY : FITS;
    if (!error)
        error = between(cone, values, is_equation, common, &found);
    if (!error)
        error = replace_rays(cone, values, is_equation, &found);
    if (!error)
        error = list_add(is_equation ? &cone->equations : &cone->inequalities, row, NULL);
    free(common);
    list_close(&found);
    return error;
}

int cone_cut(Cone *cone, const int64_t *row, int is_equation)
{
    size_t most = cone->lines.count > cone->rays.count ? cone->lines.count : cone->rays.count;
    Wide *values = malloc((most + 1) * sizeof *values);
    size_t i, chosen = SIZE_MAX;
    int error;
    if (values == NULL)
        return NO_MEMORY;
    for (i = 0; i < cone->lines.count; i++) {
        Wide size;
        values[i] = inner(row, vector_at(&cone->lines, i), cone->size);
        size = values[i] < 0 ? -values[i] : values[i];
        if (size != 0 && (chosen == SIZE_MAX ||
                          size < (values[chosen] < 0 ? -values[chosen] : values[chosen])))
            chosen = i;
    }
    error = chosen != SIZE_MAX ? cut_line(cone, row, values, chosen, is_equation)
                               : cut_rays(cone, row, values, is_equation);
    free(values);
    return error;
}

/* A basis of the space that the rows span, in echelon form, in place. */
static int make_independent(List *rows)
{
    int *pivots = malloc((rows->count + 1) * sizeof *pivots);
    size_t i, b, kept = 0;
    int k, error = FITS;
    if (pivots == NULL)
        return NO_MEMORY;
    for (i = 0; i < rows->count && !error; i++) {
        int64_t *row = vector_at(rows, i), *basis;
        for (b = 0; b < kept && !error; b++) {
            basis = vector_at(rows, b);
            if (row[pivots[b]] != 0)
                error = combined(basis[pivots[b]], row, -(Wide)row[pivots[b]], basis, rows->size,
                                 row);
        }
        for (k = 0; k < rows->size && row[k] == 0; k++)
            ;
        if (error || k == rows->size)
            continue;
        basis = vector_at(rows, kept);
        memmove(basis, row, (size_t)rows->size * sizeof *row);
        if (basis[k] < 0) {
            int m;
            for (m = 0; m < rows->size; m++)
                basis[m] = -basis[m];
        }
        pivots[kept++] = k;
    }
    rows->count = kept;
    free(pivots);
    return error;
}

/* For each inequality the rays that saturate it. */
static uint64_t *columns_of(const List *rays, size_t count, int words)
{
    uint64_t *columns = calloc((count + 1) * (size_t)(words + 1), sizeof *columns);
    size_t r;
    int k;
    if (columns == NULL)
        return NULL;
    for (r = 0; r < rays->count; r++)
        for (k = 0; k < rays->words; k++) {
            uint64_t rest = mask_at(rays, r)[k];
            for (; rest != 0; rest &= rest - 1) {
                size_t i = (size_t)k * 64 + (size_t)__builtin_ctzll(rest);
                set_bit(columns + i * (size_t)words, r);
            }
        }
    return columns;
}

/* Inequalities whose faces are maximal: larger faces first, one of each group with the same. */
static void keep_maximal(const uint64_t *columns, int words, size_t count, char *state)
{
    size_t i, j;
    int most = -1, *sizes = malloc((count + 1) * sizeof *sizes);
    if (sizes == NULL)
        return; /* redundant ones stay: the description is larger, and as right */
    for (i = 0; i < count; i++) {
        sizes[i] = bits(columns + i * (size_t)words, words);
        if (state[i] && sizes[i] > most)
            most = sizes[i];
    }
    for (; most >= 0; most--)
        for (i = 0; i < count; i++) {
            if (state[i] != 1 || sizes[i] != most)
                continue;
            state[i] = 2;
            for (j = 0; j < count; j++)
                if (j != i && state[j] == 2 &&
                    has_all(columns + j * (size_t)words, columns + i * (size_t)words, words)) {
                    state[i] = 0;
                    break;
                }
        }
    free(sizes);
}

/* Keep some inequalities, with the bits of rays moved to their new numbers. */
static void keep(Cone *cone, const char *state)
{
    size_t i, r, kept = 0, count = cone->inequalities.count;
    uint64_t *mask;
    for (r = 0; r < cone->rays.count; r++) {
        size_t to = 0;
        mask = mask_at(&cone->rays, r);
        for (i = 0; i < count; i++) {
            uint64_t bit = (mask[i / 64] >> (i % 64)) & 1;
            mask[i / 64] &= ~((uint64_t)1 << (i % 64));
            if (!state[i])
                continue;
            if (bit)
                set_bit(mask, to);
            to++;
        }
    }
    for (i = 0; i < count; i++)
        if (state[i])
            memmove(vector_at(&cone->inequalities, kept++), vector_at(&cone->inequalities, i),
                    (size_t)cone->size * sizeof(int64_t));
    cone->inequalities.count = kept;
}

int cone_finish(Cone *cone)
{
    size_t count = cone->inequalities.count, i, hidden = 0;
    int words = (int)(cone->rays.count / 64) + 1, error = FITS;
    uint64_t *columns = columns_of(&cone->rays, count, words);
    char *state = malloc(count + 1);
    if (columns == NULL || state == NULL)
        error = NO_MEMORY;
    for (i = 0; i < count && !error; i++) {
        state[i] = (size_t)bits(columns + i * (size_t)words, words) != cone->rays.count;
        if (!state[i]) {
            hidden++;
            error = list_add(&cone->equations, vector_at(&cone->inequalities, i), NULL);
        }
    }
    if (!error && (hidden || cone->equations.count + cone->lines.count > (size_t)cone->size))
        error = make_independent(&cone->equations);
    if (!error) {
        keep_maximal(columns, words, count, state);
        keep(cone, state);
    }
    free(columns);
    free(state);
    return error;
}
