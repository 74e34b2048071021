/* Reading an open data set. Nothing is allocated, but for pictures, which are decoded when they are
 * read: they take memory for it, and they alone can fail. */
#ifndef NNC_DATA_READ_H
#define NNC_DATA_READ_H

#include <stdbool.h>
#include <stdint.h>

#include "core/device.h"
#include "data/spent.h"
#include "os/message.h"

typedef struct nnc_data nnc_data;
struct DataExamples;
struct DataVisit;

int64_t nnc_data_examples(const nnc_data *data);
int64_t nnc_data_bytes(const nnc_data *data); /* memory held */

/* Smallest and largest value of the entry's input `input` over the whole set, but for those equal
 * to `except` (INT64_MIN: none): lets the caller check labels against the number of classes.  False
 * for rows that are made when they are read (pictures), whose values nobody knows before: reading
 * holds each of these against the entry's limit, and fails with the row's name. */
bool nnc_data_range(const nnc_data *data, int input, int64_t except, double *smallest,
                    double *largest);

/* Copies the examples [first, first + count) in the set's order to inputs[i], in the order of
 * entry->inputs, in the inputs' number types, densely.  first + count <= nnc_data_examples.
 * Threads may read one data set at the same time.  -1 with a message when an example cannot be
 * made (a damaged picture). */
int nnc_data_read(const nnc_data *data, int64_t first, int64_t count, void *const *inputs,
                  char message[NNC_MESSAGE]);

/* The rows of all inputs, in the order of entry->inputs, for a device that keeps them. False where
 * rows are made when they are read. */
bool nnc_data_rows(const nnc_data *data, nnc_rows *rows);

/* The file that example number `example` was made of; NULL where it has none of its own. */
const char *nnc_data_row_name(const nnc_data *data, int64_t example);

/* The file of that input's field, and the number there of the first of the set's examples that is not finite, or how many are not. False: all
 * are, or rows are made when they are read. */
bool nnc_data_tell_not_finite(const nnc_data *data, const char *input, char text[NNC_MESSAGE]);

/* What rows took that are made when they are read, since the set is open. */
nnc_data_spent nnc_data_spend(const nnc_data *data);

/* Training has waited for this part of the seconds: where that is much of them, says so once, and what would help. */
void nnc_data_advise(const nnc_data *data, double wait, double seconds);

/* Rows that were left out; NULL: none may be. */
struct nnc_skipped *nnc_data_skipped(const nnc_data *data);

void nnc_data_close(nnc_data *data); /* NULL is fine */

/* Whether data_gather does no more than to copy rows that lie in memory. */
bool data_only_copies(const nnc_data *data);

/* Copies the examples to the inputs; 0, or -1 with a message.  Of the visit, seed and epoch count. */
int data_gather(const nnc_data *data, const struct DataExamples *examples,
                const struct DataVisit *visit, void *const *inputs, char *message);

#endif
