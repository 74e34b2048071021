/* Columns of numbers: what stages do with them. */
#ifndef NNC_DATA_COLUMNS_H
#define NNC_DATA_COLUMNS_H

#include <stdint.h>

#include "data/table.h"
#include "os/buffer.h"

enum { DATA_BLOCK = NNC_BUFFER(1024, 3) }; /* values in a block */
/* Calls `each` for blocks of up to DATA_BLOCK values of one row, left to right, row by row. */
void data_each_block(const DataField *field, int64_t rows, void *state,
                     void (*each)(void *state, int64_t column, int64_t count,
                                  const double *values));
/* The same of field number `field` of all examples of the line. */
void data_each_block_of_line(const DataLine *line, int field, void *state,
                             void (*each)(void *state, int64_t column, int64_t count,
                                          const double *values));
/* Makes the field f32 or f64, whichever holds its values; -1 with a message. */
int data_field_to_float(const DataContext *context, DataField *field);
/* x = a function of x and its column, for f32 and f64 fields. */
void data_map_columns(DataField *field, int64_t rows, const double *numbers,
                      double (*map)(double x, const double *numbers, int64_t column,
                                    int64_t width));
/* The numbers that a stage learnt about the field, `count` of them, or NULL with a message. */
const double *data_fitted_numbers(const DataContext *context, const DataField *field,
                                  const char *stage, int64_t count, const nnc_fitted *fitted);
/* Stores them. */
int data_fit_numbers(const DataContext *context, const DataField *field, const char *stage,
                     int64_t count, const double *numbers, nnc_fitted *fitted);

#endif
