/* Tables: what a source fills and stages change; private to this folder.
 *
 * A DataTable is one pipeline's rows: for each field an array with one row an example, in the
 * number type of the file.  All changes happen in place, so only one copy of the data exists at
 * any time.
 *
 *   source->load       fields in the files' types; text columns as codes into a dictionary; or a
 *                      state from which rows are made when they are read (pictures, tasks)
 *   stage->rows        split, shuffle: choose and order the rows (DataTable.order)
 *   stage->fit, apply  standardize, impute, categories: change values
 *   open.c        converts to the input's type what would not widen exactly in a batch */
#ifndef NNC_DATA_TABLE_H
#define NNC_DATA_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "data/words.h"
#include "nnc_data.h"

/* Number types of files that no input has; core/convert.c continues enum nnc_dtype with them. */
enum { DATA_I8 = NNC_BOOL + 1, DATA_I16, DATA_U16, DATA_U32, DATA_DTYPES };

#define DATA_PRINTF(at, first) __attribute__((format(printf, at, first)))

typedef struct DataDictionary {
  int32_t count, capacity;
  char **words;       /* in the order of their first appearance */
  int64_t *lines;     /* of that appearance in the file */
  int32_t *slots;     /* open addressing: index + 1, 0 when free */
  int32_t slot_count; /* a power of two, over twice `count` */
} DataDictionary;

typedef struct DataField {
  const char *name;
  char *file;              /* as opened, for messages */
  const nnc_tensor *input; /* what it feeds; NULL: it is not loaded */
  bool batched;            /* the first axis counts examples; else it is the whole input */
  bool wants_text;         /* a categories stage follows */
  bool wants_missing;      /* an impute stage follows: missing values become NaN */
  bool changes;            /* a standardize or impute stage follows: do not check values early */
  int dtype;
  int rank;
  int64_t dim[NNC_MAX_RANK]; /* dim[0]: rows, when batched */
  int64_t width;             /* values in a row; all values when not batched */
  int64_t step; /* values from a row to the next: width, less where rows overlap, 0 where all are
                 * the same */
  char *values;
  bool is_view;  /* the values belong to the table's stream */
  bool is_made;  /* no values: the source makes rows (u8) when they are read */
  int made_most; /* the largest value that it makes */
  DataDictionary
      *dictionaries; /* text: `width` of them; values are i32 codes, -1 missing; else NULL */
} DataField;

/* One long row of class numbers. */
typedef struct DataStream {
  char *values;
  int dtype;
  int64_t count;
  double most; /* the largest of them */
} DataStream;

typedef struct DataTable {
  const struct nnc_source_class *source;
  int field_count;
  DataField *fields;
  int64_t rows;    /* of the arrays */
  bool keeps_rows; /* chosen rows are not moved together, and values not changed: rows overlap or
                    * are made */
  int64_t count;   /* of examples: rows, or the length of `order` */
  uint32_t *order; /* row of each example; NULL: as in the file */
  int64_t loaded;  /* rows before any was chosen */
  const uint32_t *reads; /* the order in which examples are read, its own or that of the table whose
                          * rows it has; NULL: as in the file */
  DataStream stream;     /* of which the rows are windows */
  void *state;           /* of a source that makes rows */
} DataTable;

/* The reading of a row that is made: what is random in it depends on this alone. */
typedef struct DataVisit {
  uint64_t seed;
  int64_t epoch; /* DATA_NO_EPOCH: in evaluation, always the same */
  bool draws;    /* stages that draw do; else each is what it stands for outside of training */
  int64_t row;
  int worker; /* whose memory the source may use */
} DataVisit;
enum { DATA_NO_EPOCH = -1 };

/* Where a call stands, for messages and for finding files. */
typedef struct DataContext {
  const nnc_model *model;
  const char *set; /* "train" */
  const char *directory;
  const nnc_call *call; /* the one at work */
  int file_count;       /* files that replace those of the source's arguments; 0: none */
  const char *const *files;
  const nnc_fitted *fitted; /* what the training set taught, so far */
  nnc_fitted *learns;       /* where more may be added; NULL: nothing may be fitted */
  bool is_prediction;       /* columns of fields that are not needed may be missing */
  char *message;            /* NNC_MESSAGE */
} DataContext;

struct nnc_source_class {
  const char *name;
  int gives;                  /* enum DataKind, of words.h */
  const char *const *formals; /* NULL-terminated */
  bool has_file_each;         /* one file a field, else one for all */
  /* Fills the fields that have an input, and table->rows. */
  int (*load)(const DataContext *context, DataTable *table);
  /* For rows that are made when they are read; several threads call it at a time, with different
   * workers.  Fills field->width bytes, or -1 with a message. */
  int (*make)(const DataContext *context, const DataTable *table, const DataField *field,
              const DataVisit *visit, unsigned char *bytes);
  /* What a row that is made is called in messages: its file; NULL: rows have no names. */
  const char *(*row_name)(const DataTable *table, int64_t row);
  /* Behind all stages: the last chance to compare what they make with the input. */
  int (*ready)(const DataContext *context, DataTable *table);
  /* Threads that make rows; NULL: as many as there are processors. */
  int (*workers)(const DataTable *table);
  void (*close)(DataTable *table); /* frees table->state */
  /* Instead of load, for a source without rows of its own: fills its field for as many examples as
   * `rows` has, in their order; NULL: a single one.  Behind the stages of all other tables. */
  int (*follow)(const DataContext *context, DataTable *table, const DataTable *rows);
  bool learns;           /* load may add fitted values */
  bool takes_many_files; /* each file of a prediction is an example */
  bool takes_all_files;  /* and no other table has any of them */
};

/* A stage either chooses rows, or learns from the training set and changes values, or sets an
 * option (neither: open.c looks at its arguments itself through `option`). */
struct nnc_stage_class {
  const char *name;
  int acts_on; /* enum DataKind */
  const char *const *formals;
  bool
      names_fields; /* its unnamed arguments are fields; the compiler has named those that are meant */
  bool reads_text; /* works on text columns */
  bool fills_missing;
  int (*rows)(const DataContext *context, DataTable *table);
  /* Tells the source what to do with the pictures that it makes. */
  int (*picture)(const DataContext *context, DataTable *table);
  /* Learns from the table's examples, under the name data_fitted_name. */
  int (*fit)(const DataContext *context, const DataTable *table, const DataField *field,
             nnc_fitted *fitted);
  /* Changes all rows of the field by what was learnt. */
  int (*apply)(const DataContext *context, DataTable *table, DataField *field,
               const nnc_fitted *fitted);
  int (*option)(const DataContext *context, nnc_data *data);
};

struct nnc_data {
  const nnc_entry *entry;
  const char *name;
  int table_count;
  DataTable *tables;
  DataField **fields; /* of the entry's inputs, in their order */
  int64_t count;      /* examples */
  const nnc_model *model;
  struct DataWorkers *workers; /* NULL: no rows are made */
  bool always_draws; /* outside of training too: the set that is read there has the stages itself */
  int prefetch;      /* -1: no prefetch stage */
};

/* call.c: messages and the arguments of calls.  The fail functions return -1. */
int data_fail(const DataContext *context, const char *format, ...) DATA_PRINTF(2, 3);
/* The same with "mnist.net:3:9: " of the call in front. */
int data_fail_call(const DataContext *context, const char *format, ...) DATA_PRINTF(2, 3);
int data_fail_memory(const DataContext *context, const char *what, int64_t bytes);
/* "u8[60000, 28, 28]" */
void data_shape_text(char *text, size_t size, int dtype, int rank, const int64_t *dim);
/* The formal argument's value or NULL; also where the call gives it by position. */
const nnc_value *data_argument(const nnc_call *call, const char *const *formals, const char *name);
/* Fills *number; the value stays when the argument is absent.  Fails outside [least, most]. */
int data_argument_number(const DataContext *context, const char *const *formals, const char *name,
                         double least, double most, double *number);
/* Every argument has a formal's name or, with `has_list`, none. */
int data_check_arguments(const DataContext *context, const char *const *formals, bool has_list);
/* Does the stage's call name this field?  *names_none: it names no field at all; may be NULL. */
bool data_call_names(const nnc_call *call, const char *field, bool *names_none);
/* Every field that the call names is one of the pipeline's. */
int data_check_fields(const DataContext *context, const nnc_pipeline *pipeline);

/* core/convert.c */
typedef struct DataConversion {
  int64_t bad;  /* index of the first value that cannot be represented; -1 */
  double value; /* that value */
} DataConversion;
const char *data_dtype_name(int dtype);
int data_dtype_size(int dtype);
bool data_dtype_is_float(int dtype);
/* Can a batch be converted without checking?  (Every value of `from` is one of `to`.) */
bool data_is_widening(int from, int to);
void data_widen(int from, const void *source, int to, void *target, int64_t count);
/* One double to a value of type `to`, an input's; false when it cannot be represented. */
bool data_store_double(double number, int to, void *value);
/* In place; *values may move when the type grows.  -1 with `bad` < 0: no memory. */
int data_convert(char **values, int from, int to, int64_t count, DataConversion *conversion);
void data_swap_bytes(void *values, int size, int64_t count);
/* Reads `count` (<= 1024) values as doubles. */
void data_load_doubles(int dtype, const void *values, int64_t count, double *doubles);

/* file.c: files, plain or gzip-compressed, and standard input. */
/* What something is that is no file: "a pipe"; NULL for a file. */
const char *data_file_kind(mode_t mode);
typedef struct DataFile DataFile;
/* "DIRECTORY/NAMESUFFIX", allocated; without the directory where the name is absolute or it is
 * ".", NULL or empty.  NULL: no memory. */
char *data_path(const char *directory, const char *name, const char *suffix);
/* "-" is standard input only when `from_command_line`. */
DataFile *data_file_open(const DataContext *context, const char *name);
const char *data_file_name(const DataFile *file); /* lives until data_file_close */
/* Bytes that can still follow: exact for a plain file, a bound for a compressed one, INT64_MAX for
 * a pipe.  Callers refuse larger claims before they allocate. */
int64_t data_file_limit(const DataFile *file);
/* For sources with a file each: opens the file of every field that is needed (the nth unnamed
 * argument, or the next of the files from the command line), sets field->file, and calls `load`.
 */
int data_file_load_each(const DataContext *context, DataTable *table,
                        int (*load)(const DataContext *context, DataFile *file, DataField *field));
/* As many bytes as there are, up to `size`; -1 with a message on a read error or corrupt gzip. */
int64_t data_file_read(const DataContext *context, DataFile *file, void *buffer, int64_t size);
/* Nothing may follow; also checks the sum at the end of a compressed file. */
int data_file_expect_end(const DataContext *context, DataFile *file);
void data_file_close(DataFile *file);
/* Allocates the values of a field whose shape is set, if the file can hold them: their bytes or
 * -1. */
int64_t data_file_claim(const DataContext *context, DataFile *file, DataField *field);
/* Fails because the values, which start at that byte of the file, are not all there. */
int data_file_fail_short(const DataContext *context, const DataFile *file, const DataField *field,
                         int64_t start);
int64_t data_file_consumed(const DataFile *file); /* bytes read so far, uncompressed */
/* The rest of the file, allocated, with a zero byte behind it; NULL with a message. */
char *data_file_read_all(const DataContext *context, DataFile *file, int64_t *size);
/* For sources with one file for all fields: opens it (the argument `file`, or the file from the
 * command line). */
DataFile *data_file_open_argument(const DataContext *context, const char *const *formals);
/* Reads the values of a field with a file of its own, whose shape is set: allocates and reads
 * exactly data_field_bytes, and checks that the file ends there.  `unit` names what dim[0] counts.
 */
int data_file_read_field(const DataContext *context, DataFile *file, DataField *field);

/* join.c: checks that all tables have the same examples in the same order, and gives these to sources without
 * rows of their own.  `pipelines`: of the tables, whose split and shuffle stages were left out where
 * all rows are kept. */
int data_join(DataContext *context, const nnc_pipeline *const *pipelines, bool keeps_all_rows,
              nnc_data *data);

/* npy.c: the array of a file in its own number type, allocated in field->values; 1 when its
 * shape, which field then has, is not the tensor's. */
int data_npy_read(const DataContext *context, DataFile *file, DataField *field,
                  const nnc_tensor *tensor);

/* rows.c: random orders. */
void data_permutation(uint64_t seed, uint64_t stream, int64_t count, uint32_t *order);
/* 64 random bits, a function of the visit, the stream and the index. */
uint64_t data_random_bits(const DataVisit *visit, uint64_t stream, uint64_t index);
/* A whole number from 0 to bound - 1. */
int64_t data_random_below(const DataVisit *visit, uint64_t stream, uint64_t index, int64_t bound);
/* Makes the chosen rows the only ones, in file order. */
int data_table_compact(const DataContext *context, DataTable *table);
/* Orders the examples for minibatches of `lanes`: row b of a minibatch continues row b of the one
 * before, so each lane walks through a part of the set of its own, in order. */
int data_table_order_lanes(const DataContext *context, DataTable *table, int64_t lanes);
int data_table_need_order(const DataContext *context, DataTable *table);
enum { DATA_STREAM_SPLIT = 1, DATA_STREAM_SHUFFLE = 2, DATA_STREAM_EPOCH = 16 };

/* columns.c: what stages do with numbers. */
enum { DATA_BLOCK = 1024 }; /* values in a block of data_load_doubles */
/* Calls `each` for blocks of up to DATA_BLOCK values of one row, left to right, row by row. */
void data_each_block(const DataField *field, int64_t rows, void *state,
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

/* "species.categories"; with `column` >= 0, "species.categories.2". */
void data_fitted_name(char *text, size_t size, const char *field, const char *stage,
                      int64_t column);

/* Copies the examples `examples[i]`, or first + i without a list, to the inputs; 0, or -1 with a
 * message.  Of the visit, seed and epoch count. */
int data_gather(const nnc_data *data, const uint32_t *examples, int64_t first, int64_t count,
                const DataVisit *visit, void *const *inputs, char *message);

/* workers.c: threads that make the rows of a batch side by side. */
typedef struct DataWorkers DataWorkers;
/* `count` with the caller, who is one of them. */
DataWorkers *data_workers_open(const DataContext *context, int count);
/* Calls run(state, index, worker) for each index below `count`, in any order. */
void data_workers_run(DataWorkers *workers, int64_t count, void *state,
                      void (*run)(void *state, int64_t index, int worker));
void data_workers_close(DataWorkers *workers); /* NULL is fine */

/* core/dictionary.c */
int32_t data_dictionary_add(DataDictionary *dictionary, const char *word, int64_t length,
                            int64_t line); /* -1: no memory */
int32_t data_dictionary_find(const DataDictionary *dictionary, const char *word,
                             int64_t length); /* -1: it is not there */
void data_dictionary_free(DataDictionary *dictionary);

/* decimal.c: a decimal number, whatever the locale; nothing may follow. false: it is none. */
bool data_parse_number(const char *text, int64_t length, double *number);

void data_field_free_text(DataField *field);
void data_table_free(DataTable *table);
/* Sets rank, dims and width of `field` and checks them against the input: `rank` extents including
 * the examples' axis.  With `is_flat` only the number of values in a row must agree. */
int data_field_shape(const DataContext *context, DataField *field, int dtype, int rank,
                     const int64_t *dim, bool is_flat);
/* The values that the rows cover, from the first to the last. */
int64_t data_field_held(const DataField *field);
/* Bytes of all values of a shape; -1 when they overflow. */
int64_t data_shape_bytes(int dtype, int rank, const int64_t *dim);
/* windows.c: the arguments that text and token_stream share: windows of `length` values,
 * `stride` apart, of the part from ... to (fractions) of a stream. */
typedef struct DataWindows {
  double length, stride, from, to;
} DataWindows;
int data_window_arguments(const DataContext *context, const char *const *formals,
                          DataWindows *windows);
/* Makes the table's rows: the fields share the stream, the second begins one value later.  The
 * stream belongs to the table from then on, also when this fails. */
int data_window_stream(const DataContext *context, DataTable *table, const char *file,
                       DataStream stream, const DataWindows *windows);
/* Allocates field->values for its shape. */
int data_field_allocate(const DataContext *context, DataField *field);
/* a * b into *product, false on overflow of int64_t; both >= 0. */
bool data_multiply(int64_t a, int64_t b, int64_t *product);

#endif
