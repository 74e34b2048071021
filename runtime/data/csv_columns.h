/* Which columns of a text table feed which field; private to csv*.c. */
#ifndef NNC_DATA_CSV_COLUMNS_H
#define NNC_DATA_CSV_COLUMNS_H
#include "core/dictionary.h"
#include "data/csv_reader.h"
#include "data/table.h"

typedef struct CsvField {
  int64_t count;   /* columns */
  int64_t *column; /* their numbers, from 0 */
  bool is_vector;  /* a list: one more axis, even for one column */
} CsvField;

typedef struct CsvColumns {
  int64_t count;        /* columns of the file */
  char **names;         /* of the header; NULL without one */
  nnc_dictionary known; /* the names; its lines are the numbers of their first columns */
  int64_t *second;      /* of each name known: the number of its second column, 0: there is none */
  CsvField *fields;     /* of the table; those of fields that are not needed are empty */
} CsvColumns;

extern const char *const csv_formals[];

/* The reader stands on the first record, which is the header when `has_header`: its names. */
int csv_columns_open(CsvColumns *columns, const CsvReader *reader, const DataTable *table,
                     bool has_header);
/* The fields' columns, as the call says, or by their position. */
int csv_columns_choose(CsvColumns *columns, const CsvReader *reader, const DataTable *table);
/* How many columns an entry of `columns` is. */
int64_t csv_columns_stated(const nnc_value *entry);
/* An input takes any shape that has as many values as the field has columns. */
int csv_columns_check(const CsvColumns *columns, const CsvReader *reader, const DataTable *table);
/* Room for `count` columns, none yet. */
int csv_field_allocate(const CsvReader *reader, CsvField *field, int64_t count);
/* The number of the column of that name, of which there is one; -1 with a message. */
int csv_column_find(const CsvReader *reader, const CsvColumns *columns, const char *name,
                    int64_t *found);
void csv_columns_free(CsvColumns *columns, const DataTable *table);
/* " (total_rooms)" for messages, or "" without a header. */
void csv_column_text(char *text, size_t size, const CsvColumns *columns, int64_t column);

#endif
