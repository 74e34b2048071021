/* What the stages of data learnt from the training set: a flat list, for the checkpoint. */
#ifndef NNC_FITTED_H
#define NNC_FITTED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct nnc_fitted_value {
  char *name; /* "features.standardize.mean", "species.categories" */
  int64_t count;
  double *numbers; /* NULL for strings */
  char **strings;  /* NULL for numbers */
} nnc_fitted_value;

typedef struct nnc_fitted {
  int count;
  nnc_fitted_value *values;     /* in the order in which they were fitted */
  struct nnc_dictionary *names; /* of the values, to find them */
} nnc_fitted;                   /* all zero: nothing fitted */

/* Add a copy, replacing a value of the same name; -1 when there is no memory. */
int nnc_fitted_add_numbers(nnc_fitted *fitted, const char *name, int64_t count,
                           const double *numbers);
int nnc_fitted_add_strings(nnc_fitted *fitted, const char *name, int64_t count,
                           const char *const *strings);
const nnc_fitted_value *nnc_fitted_find(const nnc_fitted *fitted, const char *name);
void nnc_fitted_free(nnc_fitted *fitted);

/* The class names of a field with a `categories` stage, or the vocabulary of a text, in class order;
 * NULL when there are none. */
const nnc_fitted_value *nnc_fitted_class_names(const nnc_fitted *fitted, const char *field);

/* The stage that the names of a field's columns stand for: "features.columns" (data/csv_names.h). */
#define NNC_FITTED_COLUMNS "columns"
bool nnc_fitted_is_columns(const nnc_fitted_value *value);

/* "species.categories"; with `column` >= 0, "species.categories.2". */
void nnc_fitted_name(char *text, size_t size, const char *field, const char *stage, int64_t column);

#endif
