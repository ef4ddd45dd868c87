/* Checked arithmetic on vectors of integers; see vectors.h. */
#include "vectors.h"

#include <stdlib.h>
#include <string.h>

typedef unsigned __int128 Magnitude;

int list_open(List *list, int size, int words)
{
    list->size = size;
    list->words = words;
    list->count = 0;
    list->room = 16;
    list->entries = malloc(list->room * (size_t)(size + 1) * sizeof(int64_t));
    list->masks = malloc(list->room * (size_t)(words + 1) * sizeof(uint64_t));
    return list->entries == NULL || list->masks == NULL ? NO_MEMORY : FITS;
}

void list_close(List *list)
{
    free(list->entries);
    free(list->masks);
    list->entries = NULL;
    list->masks = NULL;
}

int list_add(List *list, const int64_t *vector, const uint64_t *mask)
{
    if (list->count == list->room) {
        size_t room = 2 * list->room;
        int64_t *entries = realloc(list->entries, room * (size_t)(list->size + 1) * sizeof(int64_t));
        uint64_t *masks;
        if (entries == NULL)
            return NO_MEMORY;
        list->entries = entries;
        masks = realloc(list->masks, room * (size_t)(list->words + 1) * sizeof(uint64_t));
        if (masks == NULL)
            return NO_MEMORY;
        list->masks = masks;
        list->room = room;
    }
    if (list->size > 0)
        memcpy(vector_at(list, list->count), vector, (size_t)list->size * sizeof(int64_t));
    if (mask != NULL)
        memcpy(mask_at(list, list->count), mask, (size_t)list->words * sizeof(uint64_t));
    else
        memset(mask_at(list, list->count), 0, (size_t)list->words * sizeof(uint64_t));
    list->count++;
    return FITS;
}

static Magnitude magnitude(Wide a) { return a < 0 ? -(Magnitude)a : (Magnitude)a; }

static Magnitude divisor(Magnitude a, Magnitude b)
{
    while (b != 0) {
        if ((a >> 64) == 0 && (b >> 64) == 0) {
            uint64_t x = (uint64_t)a, y = (uint64_t)b;
            while (y != 0) {
                uint64_t rest = x % y;
                x = y;
                y = rest;
            }
            return x;
        }
        {
            Magnitude rest = a % b;
            a = b;
            b = rest;
        }
    }
    return a;
}

int combined(Wide a, const int64_t *u, Wide b, const int64_t *v, int size, int64_t *result)
{
    const Magnitude limit = (Magnitude)1 << 62;
    Wide sums[MAX_SIZE];
    Magnitude common = divisor(magnitude(a), magnitude(b));
    int k;
    if (common > 1) {
        a /= (Wide)common;
        b /= (Wide)common;
    }
    if (magnitude(a) >= limit || magnitude(b) >= limit)
        return TOO_LARGE;
    common = 0;
    for (k = 0; k < size; k++) {
        sums[k] = a * u[k] + b * v[k];
        if (common != 1)
            common = divisor(magnitude(sums[k]), common);
    }
    for (k = 0; k < size; k++) {
        Wide entry = common > 1 ? sums[k] / (Wide)common : sums[k];
        if (magnitude(entry) > (Magnitude)LARGEST)
            return TOO_LARGE;
        result[k] = (int64_t)entry;
    }
    return FITS;
}
