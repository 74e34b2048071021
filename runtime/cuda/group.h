/* Steps that go to the device together: their runs are one graph, which begins each of them by the kernel
 * nnc_gather (kept.h) and puts its accumulators aside before the next one. There is a graph for each power
 * of 2 up to the group's steps, so that a rest of some steps takes few launches. */
#ifndef NNC_CUDA_GROUP_H
#define NNC_CUDA_GROUP_H

#include "cuda/kept.h"
#include "cuda/numbers.h"
#include "cuda/play.h"
#include "cuda/slots.h"

enum { NNC_GROUP_GRAPHS = 7, NNC_GROUP_MOST = 1 << (NNC_GROUP_GRAPHS - 1) };

/* The parts of a device that have to do with it. */
typedef struct nnc_group {
  const nnc_model *model;
  nnc_play *play;
  const nnc_kept *kept;
  const nnc_slots *slots;
  const nnc_numbers *numbers; /* by entry */
  CuAddress arena;
  CuGraphExec graphs[NNC_GROUP_GRAPHS]; /* of 1 << i steps */
} nnc_group;

/* How many runs go together: those of a power of 2 of steps, of `wanted` at most, or, with 0, of as many as
 * take about two milliseconds, up to 32. 1: each goes by itself. */
int nnc_group_choose(const nnc_model *model, int64_t wanted);
int nnc_group_runs(const nnc_model *model); /* in a step */

/* The entry of run `number` of a step, or of several that follow each other. */
enum nnc_entry_number nnc_group_entry(const nnc_model *model, int number);

/* Puts the slot's runs from number `first` on into the stream, `count` of them, with what they are told and
 * what they answer. */
void nnc_group_put(nnc_group *group, const nnc_slot *slot, int first, int count);
void nnc_group_close(nnc_group *group);

/* Puts the accumulators of a run of entry `number` into the stream, to memory of the host. */
void nnc_group_fetch(const nnc_group *group, enum nnc_entry_number number, char *to);

#endif
