/* The runs of a sweep: every combination of the values that the command line lists. */
#ifndef NNC_SWEEP_PLAN_H
#define NNC_SWEEP_PLAN_H

#include "core/options.h"

/* What one flag lists. */
typedef struct nnc_sweep_axis {
  int option; /* of the program; -1: --seed */
  int count;
  double *values;
  uint64_t *seeds;
} nnc_sweep_axis;

typedef struct nnc_sweep_plan {
  const nnc_options *options;
  char *folder; /* of the run folders */
  int axis_count;
  nnc_sweep_axis axes[NNC_MAX_OPTIONS + 1]; /* in the program's order, --seed last */
  int run_count;
  int over; /* the axis of --over; -1: none */
} nnc_sweep_plan;

/* False after a message: *usage, whether that is for the command line. */
bool nnc_sweep_plan_open(nnc_sweep_plan *plan, const nnc_options *options, bool *usage);
void nnc_sweep_plan_close(nnc_sweep_plan *plan);

/* "lr": the flag of an axis. */
const char *nnc_sweep_axis_name(const nnc_sweep_axis *axis, char buffer[64]);
/* The value of an axis in a run, "0.001"; the last axis changes fastest. */
const char *nnc_sweep_value(const nnc_sweep_plan *plan, int axis, int run, char buffer[40]);
/* "lr=0.001,seed=2", with that between, without the axis `but`, if it is one; malloc'ed, NULL after a message. */
char *nnc_sweep_name(const nnc_sweep_plan *plan, int run, const char *between, int but);
/* Runs that differ in the axis of --over alone are a group: run `member` of a group. */
int nnc_sweep_member(const nnc_sweep_plan *plan, int group, int member);
/* What the command line of the single run would say, but for its folder. */
nnc_options nnc_sweep_options(const nnc_sweep_plan *plan, int run);

#endif
