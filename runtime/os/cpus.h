/* The processors that this process may use. */
#ifndef NNC_CPUS_H
#define NNC_CPUS_H

enum { NNC_MAX_CPUS = 1024 };

typedef struct nnc_cpus {
  int count;               /* logical processors in the affinity mask */
  int cores;               /* of them, processors on cores of their own */
  int quota;               /* processors' worth of time a control group grants; >= 1 */
  int order[NNC_MAX_CPUS]; /* the processors: one of each core first, then the siblings */
} nnc_cpus;

void nnc_cpus_find(nnc_cpus *cpus);

/* How many workers to start unless told: a worker a core, within the quota. */
int nnc_cpus_default_threads(const nnc_cpus *cpus);

#endif
