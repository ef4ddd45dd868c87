/* Vectors of 64-bit integers with a bound on their entries: no operation overflows silently.

   Entries are at most 2^60 in absolute value and vectors have at most MAX_SIZE of them, so an
   inner product, and a combination with factors below 2^62, fits in 128 bits. What does not fit
   back is reported, and the caller leaves the work to Python's integers. */
#ifndef CHARON_VECTORS_H
#define CHARON_VECTORS_H

#include <stddef.h>
#include <stdint.h>

#define MAX_SIZE 64
#define LARGEST ((int64_t)1 << 60)

typedef __int128 Wide;

/* A growing list of vectors of one size, with bit masks of one width beside them. */
typedef struct {
    int size, words;
    size_t count, room;
    int64_t *entries;
    uint64_t *masks;
} List;

enum { FITS = 0, TOO_LARGE = 1, NO_MEMORY = 2, NO_TIME = 3, TOO_MANY = 4 };

int list_open(List *list, int size, int words);
void list_close(List *list);
int list_add(List *list, const int64_t *vector, const uint64_t *mask);

static inline int64_t *vector_at(const List *list, size_t i)
{
    return list->entries + i * (size_t)list->size;
}

static inline uint64_t *mask_at(const List *list, size_t i)
{
    return list->masks + i * (size_t)list->words;
}

static inline Wide inner(const int64_t *a, const int64_t *b, int size)
{
    Wide total = 0;
    int k;
    for (k = 0; k < size; k++)
        total += (Wide)a[k] * b[k];
    return total;
}

/* a*u + b*v divided by its greatest common divisor; FITS or TOO_LARGE. u may be the result. */
int combined(Wide a, const int64_t *u, Wide b, const int64_t *v, int size, int64_t *result);
#endif
