/* How the rest of this folder sees a source or a stage: a record of functions; private to this folder. */
#ifndef NNC_DATA_CLASS_H
#define NNC_DATA_CLASS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/fitted.h"
#include "data/visit.h"
#include "data/words.h"
#include "os/message.h"
#include "nnc_data.h"

typedef struct DataContext DataContext; /* call.h */
typedef struct DataField DataField;     /* table.h */
typedef struct DataTable DataTable;
typedef struct DataLine DataLine;
typedef struct nnc_data nnc_data;
struct PictureFile; /* picture.h */

struct nnc_source_class {
  const char *name;
  int gives;                  /* enum DataKind, of words.h */
  const char *const *formals; /* NULL-terminated */
  bool has_file_each;         /* one file a field, else one for all: an unnamed argument each */
  bool has_files;             /* any number of files for all, the unnamed arguments */
  /* Fills the fields that have an input, and table->rows. */
  int (*load)(const DataContext *context, DataTable *table);
  DataMake *make; /* for rows that are made when they are read */
  /* What a row that is made is called in messages: its file; NULL: rows have no names. */
  const char *(*row_name)(const DataTable *table, int64_t row);
  /* Rows `chosen`, which rise, become the only ones of what the table's state holds; NULL: it keeps them all. */
  void (*choose)(DataTable *table, const uint32_t *chosen, int64_t count);
  /* After all stages: the last chance to compare what they make with the input. */
  int (*ready)(const DataContext *context, DataTable *table);
  /* Threads that make rows; NULL: as many as there are processors. */
  int (*workers)(const DataTable *table);
  /* Whether a row that cannot be made is left out; NULL: it never is. */
  bool (*skips)(const DataTable *table);
  void (*close)(DataTable *table); /* frees table->state */
  /* What the file of the row's picture says of it, in the thread's buffer; NULL: pictures are rows of numbers. */
  int (*look)(const DataContext *context, const DataTable *table, const DataVisit *visit,
              struct PictureFile *file);
  /* The tables whose examples follow each other as this table's; NULL: its own. */
  DataLine (*parts)(const DataTable *table);
  /* What --cache says, for a source that decodes files; NULL: it does not. */
  int (*open_cache)(const char *text, char message[NNC_MESSAGE]);
  void (*advise)(const nnc_data *data, double wait, double seconds); /* advice.h; NULL: nothing */
  /* Instead of load, for a source without rows of its own: fills its field for as many examples as
   * `rows` has, in their order; NULL: a single one.  Called after the stages of all other tables. */
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
  /* its unnamed arguments are fields; the compiler has named those that are meant */
  bool names_fields;
  bool reads_text; /* works on text columns */
  bool fills_missing;
  bool
      needs_fields; /* where one of the fields that it names is wanted, all are, and the first of the line */
  int (*rows)(const DataContext *context, const DataLine *line);
  /* Tells the source what to do with the pictures that it makes. */
  int (*picture)(const DataContext *context, DataTable *table);
  /* Learns from field number `field` of the line's examples, under the name nnc_fitted_name. */
  int (*fit)(const DataContext *context, const DataLine *line, int field, nnc_fitted *fitted);
  /* Changes all rows of the field by what was learnt. */
  int (*apply)(const DataContext *context, DataTable *table, DataField *field,
               const nnc_fitted *fitted);
  int (*option)(const DataContext *context, nnc_data *data);
  /* Makes examples of other rows than those that are loaded: says so before (DataField.window, .is_picture),
   * and makes them when values are what they stay. */
  int (*expect)(const DataContext *context, DataTable *table);
  int (*finish)(const DataContext *context, DataTable *table);
  /* Makes one table of table number `first` and of those behind it that are its parts; `pipelines` are the
   * tables'. */
  int (*combine)(const DataContext *context, const nnc_pipeline **pipelines, nnc_data *data,
                 int first);
  /* When all tables are there: says how often training reads each example. */
  int (*sample)(const DataContext *context, nnc_data *data, DataTable *table);
  const struct DataDiskClass *disk;    /* the table's rows stay on disk */
  const struct DataMatching *matching; /* the source's names of files may be patterns */
};

#endif
