/* The reading of a row that is made when it is read; private to this folder. */
#ifndef NNC_DATA_VISIT_H
#define NNC_DATA_VISIT_H

#include <stdbool.h>
#include <stdint.h>

/* The reading of a row that is made: what is random in it depends on this alone. */
typedef struct DataVisit {
  uint64_t seed;
  int64_t epoch; /* DATA_NO_EPOCH: in evaluation, always the same */
  bool draws;    /* stages that draw do; else each is what it stands for outside of training */
  int64_t row;
  int64_t
      number; /* of the row in its source, which stays when rows are chosen and moved together */
  struct DataScratch *scratch; /* of the thread that makes the row */
  bool is_index;               /* values are no measures: they are not to be mixed */
} DataVisit;
enum { DATA_NO_EPOCH = -1 };

struct DataContext;
struct DataTable;
struct DataField;
/* Fills a row of the field: field->width values of field->dtype, or -1 with a message. Several threads
 * call it at a time, with different scratch. */
typedef int DataMake(const struct DataContext *context, const struct DataTable *table,
                     const struct DataField *field, const DataVisit *visit, unsigned char *row);

#endif
