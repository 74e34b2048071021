/* How predictions are printed: a JSON line, or a line of a CSV table, for each example. */
#ifndef NNC_PREDICT_PRINT_H
#define NNC_PREDICT_PRINT_H

#include "core/session.h"

/* One result as it is printed: an example's part of the tensor. */
typedef struct nnc_predict_column {
  const char *name;
  char *key; /* "NAME": with its quotes, as JSON has it */
  int dtype, rank;
  const int64_t *dim;
  int64_t elements; /* of one example */
  bool is_batched;
  const nnc_tensor *tensor;
  char *data; /* its values after a run */
  /* names for its values, or, of a vector of which the greatest are printed, for its places; or NULL */
  const nnc_fitted_value *classes;
  int64_t top;    /* how many of the greatest are printed; 0: all, as they lie */
  unsigned files; /* kinds of files that it goes to (predict_files.h); then it is not printed */
} nnc_predict_column;

typedef struct nnc_predict_print {
  bool as_csv, with_names;
  int64_t top; /* of --top; 0: not given */
} nnc_predict_print;

/* Of the results of `entry`; malloc'ed, NULL after a message. */
nnc_predict_column *nnc_predict_columns(const nnc_session *session, const nnc_entry *entry,
                                        const nnc_predict_print *print);
void nnc_predict_columns_free(nnc_predict_column *columns, int count);

/* The name of the class that an element is the number of, and of the class whose value has that place; NULL: none. */
const char *nnc_predict_class_name(const nnc_predict_column *column, int64_t element);
const char *nnc_predict_place_name(const nnc_predict_column *column, int64_t place);
/* The place, within the example that begins at `first`, of the greatest value that comes after (`value`, `place`) in the
 * order from the greatest to the least, equal ones by place; what is no number comes last. -1: there is none. */
int64_t nnc_predict_next_greatest(const nnc_predict_column *column, int64_t first, double value,
                                  int64_t place);

/* Whether there is anything to print of an example. */
bool nnc_predict_prints(const nnc_predict_print *print, int count,
                        const nnc_predict_column *columns);
void nnc_predict_print_head(const nnc_predict_print *print, int count,
                            const nnc_predict_column *columns);
/* Example `row` of the batch; `name`: of the file that it is of, where that is printed. */
void nnc_predict_print_row(const nnc_predict_print *print, int count,
                           const nnc_predict_column *columns, int64_t row, const char *name);
/* In the place of an example that could not be read: lines and examples stay side by side. */
void nnc_predict_print_unread(const nnc_predict_print *print, int count,
                              const nnc_predict_column *columns, const char *name,
                              const char *message);

#endif
