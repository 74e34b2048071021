/* Rows that cannot be made and are left out (`on_error = "skip"`): which, and why. */
#ifndef NNC_DATA_SKIPPED_H
#define NNC_DATA_SKIPPED_H

#include <stdint.h>
#include <stdio.h>

/* Of one data set.  Any thread may add to it; the rest is for the main thread. */
typedef struct nnc_skipped nnc_skipped;

/* Of so many examples; NULL when there is no memory. */
nnc_skipped *nnc_skipped_open(int64_t examples);
void nnc_skipped_close(nnc_skipped *skipped); /* NULL is fine, here and below */

/* The example is left out for this reason, which names its file; told once. */
void nnc_skipped_add(nnc_skipped *skipped, int64_t example, const char *reason);

/* Warns of those since the last call, a few by their names, all by their number. */
void nnc_skipped_tell(nnc_skipped *skipped);
/* How many there were; those since the last call as JSON: "SET":{"count":3,"files":["..."]}. */
int64_t nnc_skipped_count(nnc_skipped *skipped);
void nnc_skipped_put(nnc_skipped *skipped, const char *set, FILE *file);

#endif
