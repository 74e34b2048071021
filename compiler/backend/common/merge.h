/* Launches of an entry that wait for nothing from each other, as one launch: a merged kernel, whose
 * blocks find their part by their number. What a device gains by it is the time that each launch
 * takes by itself. A back end that wants it plans them (BackEnd.plan_merges); steps, memory and
 * report of the Program stay what they are. */
#ifndef NNC_BACKEND_COMMON_MERGE_H
#define NNC_BACKEND_COMMON_MERGE_H

#include "program/program.h"
#include "support/vec.h"

/* A kernel of a merged one, which runs it for `count` steps. */
typedef struct MergedPart {
  int kernel, count;
} MergedPart;

typedef struct MergedKernel {
  VEC(MergedPart) parts;
  const char *name;
  int unit;
} MergedKernel;

/* A launch of a merged kernel: its steps in the order of its parts. */
typedef struct LaunchMerge {
  EntryKind entry;
  int merged; /* number of the merged kernel */
  VEC(int) steps;
} LaunchMerge;

typedef struct MergePlan {
  VEC(MergedKernel) kernels;
  VEC(LaunchMerge) launches;
  bool *is_inside; /* by kernel: all its steps are in launches of merged kernels */
} MergePlan;

/* The launch that a step is a part of, and the number of the part in it; -1: none. */
int merge_of_step(const MergePlan *plan, EntryKind entry, int step, int *place);
/* Addresses and keys that a kernel is told. */
int merge_words(const Kernel *kernel);

#endif
