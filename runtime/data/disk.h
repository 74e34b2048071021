/* Rows that stay in their files and are read when they are wanted (the stage on_disk).
 *
 * Sources see a context with `disk`: instead of reading a field's values they say where its rows lie. Which
 * code reads them is linked where a program names the stage. */
#ifndef NNC_DATA_DISK_H
#define NNC_DATA_DISK_H

#include <stdbool.h>
#include <stdint.h>

#include "data/visit.h"

struct DataContext;
struct DataField;
struct DataFile;

/* Rows one after the other in a file. */
typedef struct DataRun {
  int64_t start; /* of the first, in bytes from the file's beginning */
  int64_t step;  /* bytes from a row to the next */
  int64_t rows;
  bool swaps; /* numbers are big-endian */
} DataRun;

typedef struct DataDisk {
  void (*close)(struct DataDisk *disk);
} DataDisk;

typedef struct DataDiskClass {
  /* More rows of the field, whose shape is set in the file's type; the file may be closed afterwards. The
   * run lies within the file. */
  int (*add)(const struct DataContext *context, struct DataField *field, struct DataFile *file,
             const DataRun *run);
  DataMake *make;
} DataDiskClass;

#endif
