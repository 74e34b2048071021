/* Interned strings: equal text is one pointer, so names compare with ==.  They live for the whole
 * run. */
#ifndef NNC_SUPPORT_NAMES_H
#define NNC_SUPPORT_NAMES_H

#include <stddef.h>

const char *name_intern(const char *text);
const char *name_intern_bytes(const char *bytes, size_t count);
const char *name_printf(const char *format, ...) __attribute__((format(printf, 1, 2)));
const char *name_join(const char *parent, const char *element); /* "parent.element" */

/* Damerau-Levenshtein distance, for "did you mean".  */
int name_distance(const char *a, const char *b);
/* The candidate nearest to `name`, or NULL when none is near enough to be a likely misspelling (distance
 * at most a third of the length, at least 1). One that begins with `name` of 4 letters or more is nearer than those of a
 * distance above 1. */
const char *name_nearest(const char *name, const char *const *candidates, int count);

#endif
