/* The end of a sweep: a table of its runs, or a JSON object for each. */
#ifndef NNC_SWEEP_TABLE_H
#define NNC_SWEEP_TABLE_H

#include "train/sweep_plan.h"
#include "train/sweep_result.h"

typedef struct nnc_sweep_row {
  const char *folder;
  const char *state; /* "done", "failed", "interrupted", "not started" */
  nnc_sweep_result result;
} nnc_sweep_row;

enum { NNC_SWEEP_CELL = 128 };

/* A table of texts; row -1 is its head. */
typedef struct nnc_sweep_grid {
  const void *context;
  int row_count, column_count;
  void (*write)(const void *context, int row, int column, char cell[NNC_SWEEP_CELL]);
  const char *(*end)(const void *context, int row); /* of a line; NULL: nothing */
} nnc_sweep_grid;
void nnc_sweep_print_grid(const nnc_sweep_grid *grid);

void nnc_sweep_print(const nnc_sweep_plan *plan, const nnc_sweep_row *rows, bool as_json);

#endif
