/* What a stream or a graph does: one operation of the device, with all that it needs. */
#ifndef WORK_H
#define WORK_H

#include "module.h"

#include <stdbool.h>
#include <stdint.h>

typedef enum WorkKind {
  WORK_NOTHING,
  WORK_LAUNCH,
  WORK_COPY,
  WORK_FILL,
  WORK_CALL,
  WORK_RECORD,
  WORK_WAIT,
  WORK_GRAPH
} WorkKind;

typedef struct Stream Stream;
typedef struct Event Event;
typedef struct GraphRun GraphRun; /* a graph that can be launched */

typedef struct Work {
  WorkKind kind;
  Function *function; /* of a launch */
  int64_t blocks;
  int threads;
  int shared;
  void **arguments; /* one allocation with the values after the pointers */
  char *to;         /* of a copy; of a fill */
  const char *from;
  void *kept; /* bytes of pageable memory as they were at the call, freed with the work */
  size_t bytes;
  uint32_t value; /* of a fill, as `width` bytes */
  int width;
  Event *event;   /* of a record */
  Stream *stream; /* of a wait: until it has done `sequence` operations; of a record, its own */
  uint64_t sequence;
  GraphRun *graph;
  void (*call)(void *); /* a function of the host's, with `data` */
  void *data;
} Work;

/* Copies a launch's arguments. */
void **work_copy_arguments(const Function *function, void **arguments);
/* A copy that owns what it points to. */
Work work_copy(const Work *work);
/* Does a launch, copy, fill, call or nothing; 0 or the driver's error. */
int work_run(const Work *work);
void work_free(Work *work);

/* What was done, for NNC_EMULATOR_STATISTICS. */
typedef struct WorkCounts {
  uint64_t launches, copies, fills, graphs, allocations;
  size_t most_memory;
} WorkCounts;
extern WorkCounts work_counts;

#endif
