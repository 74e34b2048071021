/* An inspector looks at every number that the steps of an entry compute, step by step, and finds where one that is not
 * finite came from: `train` asks it when a loss is none, with --check-numerics always.
 *
 * nnc_device_watch has the device run entries by one worker, so that after each mark what the step has written
 * can be looked at. The memory that holds such numbers is known by ranges, each with its origin: the step that made
 * the first of them from finite operands. A step that makes a NaN of infinities is an origin, too, and
 * knows that of the infinities. */
#ifndef NNC_INSPECT_H
#define NNC_INSPECT_H

#include "core/device.h"

/* The numbers of an operand. Whole numbers are finite. */
typedef struct nnc_extremes {
  double least, most; /* of those that are finite */
  int64_t elements, finite, infinite, nan;
} nnc_extremes;

typedef struct nnc_operand {
  char *name; /* of the value: a node's path, a variable's */
  int dtype;
  bool is_read, is_written;
  int64_t offset, bytes; /* in the arena, or in the worker's block, there and then */
  bool is_in_block;
  nnc_extremes before; /* of what is read */
  nnc_extremes after;  /* of what is written */
} nnc_operand;

/* Where a number first was not finite. */
typedef struct nnc_origin {
  const nnc_entry *entry;
  int step;   /* -1: the value was so before the entry ran */
  int parent; /* where the infinities came from that it made a NaN of; -1: it has none */
  bool is_nan;
  int count;
  nnc_operand *operands; /* of the step, or the value */
} nnc_origin;

typedef struct nnc_tainted {
  bool is_in_block;
  int64_t from, to; /* bytes of the arena, or of the worker's block */
  int origin;
} nnc_tainted;

typedef struct nnc_inspector nnc_inspector;
struct nnc_inspector {
  nnc_onlooker onlooker; /* for nnc_device_watch */
  const nnc_device *device;
  const nnc_model *model;
  const nnc_entry *entry; /* that runs */
  int64_t *turns;         /* of its repeats: rounds and blocks that are done */
  int accumulated;        /* origin of the first accumulator that is not finite; -1: none */
  int next;               /* step */
  nnc_operand **prepared; /* by step: its operands, before it ran */
  int *prepared_counts;
  int origin_count;
  nnc_origin *origins;
  int tainted_count, tainted_room;
  nnc_tainted *tainted;
  bool has_failed; /* there was no memory: nothing more is noted */
};

void nnc_inspector_open(nnc_inspector *inspector, const nnc_device *device, const nnc_model *model);
void nnc_inspector_close(nnc_inspector *inspector);
/* A training step begins: what was found so far is forgotten. */
void nnc_inspector_reset(nnc_inspector *inspector);

/* The origin of what a tensor holds that is not finite; NULL: none is known. */
const nnc_origin *nnc_inspector_find(const nnc_inspector *inspector, const nnc_tensor *tensor);
/* That of the first accumulator; NULL likewise. */
const nnc_origin *nnc_inspector_accumulated(const nnc_inspector *inspector);
const nnc_origin *nnc_inspector_parent(const nnc_inspector *inspector, const nnc_origin *origin);

/* Adds the numbers of a tensor's memory that the extremes do not have yet. */
void nnc_extremes_add(nnc_extremes *extremes, int dtype, const void *values, int64_t count);

#endif
