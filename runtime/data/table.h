/* Tables: what a source fills and stages change; private to this folder.
 *
 * A DataTable is one pipeline's rows: for each field an array with one row an example, in the
 * number type of the file.  All changes happen in place, so only one copy of the data exists at
 * any time.
 *
 *   source->load       fields in the files' types; text columns as codes into a dictionary; or a
 *                      state from which rows are made when they are read (pictures, tasks)
 *   stage->rows        split, shuffle: choose and order the rows (DataTable.order)
 *   stage->fit, apply  standardize, impute, categories: change values; fitted to all sources of a line
 *   open.c        converts to the input's type what would not widen exactly in a batch */
#ifndef NNC_DATA_TABLE_H
#define NNC_DATA_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "core/dictionary.h"
#include "data/call.h"
#include "data/visit.h"
#include "nnc_model.h"

/* What a file's palette is: its colours, as where nothing is said, or numbers for which the colours only stand. */
enum DataPalette { PALETTE_UNSAID, PALETTE_COLOR, PALETTE_INDEX };

typedef struct DataField {
  const char *name;
  char *file;              /* as opened, for messages */
  const nnc_tensor *input; /* what it feeds; NULL: it is not loaded */
  bool batched;            /* the first axis counts examples; else it is the whole input */
  bool wants_text;         /* a categories stage follows */
  bool is_name;            /* a column of text names the pictures of which rows are made */
  bool wants_missing;      /* an impute stage follows: missing values become NaN */
  bool changes;            /* a standardize or impute stage follows: do not check values early */
  int dtype;
  int rank;
  int64_t dim[NNC_MAX_RANK]; /* dim[0]: rows, when batched */
  int64_t width;             /* values in a row; all values when not batched */
  int64_t step; /* values from a row to the next: width, less where rows overlap, 0 where all are
                 * the same; where rows are made of rows of values, what one of these has */
  char *values;
  char *owned;     /* where the memory of the values begins, if they do not begin there */
  int64_t window;  /* rows of the file in one of an example; 0: a row is an example */
  bool is_view;    /* the values belong to the table's stream */
  bool is_picture; /* stages of pictures follow: height and width may be others than the input's */
  enum DataPalette palette; /* of pictures in files */
  bool is_class;            /* a number of a class in place of the input's last axis */
  bool is_made;             /* rows are made when they are read, of u8 or of the input's type */
  int made_most;            /* the largest value that it makes */
  int boxes;                /* of classes of boxes: the number of the field that has these */
  double least;             /* of boxes: the share of the area of one that must be seen */
  DataMake *make;           /* makes them; NULL: the table's does */
  int stored;               /* of what type are the values that it reads */
  struct DataDisk *disk;    /* where rows are that stay on disk; NULL: they do not */
  /* text: `width` of them; values are i32 codes, -1 missing; else NULL */
  nnc_dictionary *dictionaries;
} DataField;

/* One long row of class numbers. */
typedef struct DataStream {
  char *values;
  int dtype;
  int64_t count;
  double most;           /* the largest of them */
  struct DataFile *file; /* where they stay on disk (`values` is NULL), from byte `start` on */
  int64_t start;
} DataStream;

typedef struct DataTable {
  const struct nnc_source_class *source;
  int field_count;
  DataField *fields;
  int64_t rows;      /* of the arrays */
  bool keeps_rows;   /* chosen rows are not moved together, and values not changed: rows overlap or
                    * are made */
  int64_t count;     /* of examples: rows, or the length of `order` */
  uint32_t *order;   /* row of each example; NULL: as in the file */
  int64_t loaded;    /* rows before any was chosen */
  uint32_t *numbers; /* of rows that were moved together: each one's before; NULL: as they stand */
  const uint32_t *reads; /* the order in which examples are read, its own or that of the table whose
                          * rows it has; NULL: as in the file */
  DataNames files;       /* of a text table in several: see data_table_file */
  DataStream stream;     /* of which the rows are windows */
  void *state;           /* of a source that makes rows */
  DataMake *make;        /* makes them; NULL: nobody does */
  struct PictureRows *pictures; /* what happens to the first field's pictures; NULL: nothing */
  struct PictureBeside *beside; /* of masks: the pictures that they go with; NULL */
} DataTable;

/* A row of example i, so that each of the examples has one: those that are not chosen may still lie between. */
static inline int64_t data_example_row(const DataTable *table, int64_t i) {
  return table->keeps_rows && table->order ? table->order[i] : i;
}

/* The number of a row in its source, from which stages draw: lines side by side have the same for an example, whether
 * their rows were moved together or not. */
static inline int64_t data_row_number(const DataTable *table, int64_t row) {
  return table->numbers ? table->numbers[row] : row;
}

/* The tables of one line of a set: one for each of its sources, with the same fields. */
typedef struct DataLine {
  int count;
  DataTable *tables;
} DataLine;

int64_t data_line_examples(const DataLine *line);

/* The type of the values in memory. */
static inline int data_value_type(const DataField *field) {
  return field->make ? field->stored : field->dtype;
}

void data_field_free_text(DataField *field);

enum { DATA_LINE_BITS = 40 }; /* a line of the nth of several files is n << DATA_LINE_BITS | line */
/* The file of a line that the field's dictionary notes, which becomes its number there. */
const char *data_table_file(const DataTable *table, const DataField *field, int64_t *line);

void data_names_free(DataNames *names);

void data_table_free(DataTable *table);

/* Sets rank, dims and width of `field` and checks them against the input: `rank` extents including
 * the examples' axis.  With `is_flat` only the number of values in a row must agree. */
int data_field_shape(const DataContext *context, DataField *field, int dtype, int rank,
                     const int64_t *dim, bool is_flat);

/* The values that the rows cover, from the first to the last. */
int64_t data_field_held(const DataField *field);

/* Bytes of all values of a shape; -1 when they overflow. */
int64_t data_shape_bytes(int dtype, int rank, const int64_t *dim);

/* Converts the values of one row, of type `dtype`, to those of the field; `name` is the file's, for a message
 * about a value that does not fit. */
int data_field_store_row(const DataContext *context, const DataField *field, const char *name,
                         int dtype, const void *values, void *row);

/* Allocates field->values for its shape. */
int data_field_allocate(const DataContext *context, DataField *field);

#endif
