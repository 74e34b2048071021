/* Processors: the affinity mask, their cores (hardware threads of one core share its
 * vector units, so a second worker there gains nothing), and the control groups' quota (workers
 * beyond it would be stopped in turn while the others wait for them). */
#include "os/cpus.h"

#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "os/assert.h"
#include "os/cgroup.h"

/* The number of the first processor on the same core; the processor itself when that is
 * unknown. */
static int first_sibling(int cpu) {
  char path[96];
  snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu);
  FILE *file = fopen(path, "r");
  if (!file) return cpu;
  int first;
  if (fscanf(file, "%d", &first) != 1 || first < 0 || first >= NNC_MAX_CPUS) first = cpu;
  fclose(file);
  return first;
}

static void use_online_count(nnc_cpus *cpus) {
  long online = sysconf(_SC_NPROCESSORS_ONLN);
  cpus->count = online < 1 ? 1 : online > NNC_MAX_CPUS ? NNC_MAX_CPUS : (int)online;
  cpus->cores = cpus->count;
  for (int i = 0; i < cpus->count; i++) cpus->order[i] = i;
}

void nnc_cpus_find(nnc_cpus *cpus) {
  *cpus = (nnc_cpus){0};
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) {
    use_online_count(cpus);
  } else {
    bool core_is_taken[NNC_MAX_CPUS] = {false};
    int siblings[NNC_MAX_CPUS], sibling_count = 0;
    for (int cpu = 0; cpu < NNC_MAX_CPUS && cpu < CPU_SETSIZE; cpu++) {
      if (!CPU_ISSET(cpu, &allowed)) continue;
      int core = first_sibling(cpu);
      if (core_is_taken[core]) siblings[sibling_count++] = cpu;
      else cpus->order[cpus->cores++] = cpu;
      core_is_taken[core] = true;
    }
    cpus->count = cpus->cores;
    for (int i = 0; i < sibling_count; i++) cpus->order[cpus->count++] = siblings[i];
  }
  cpus->quota = nnc_cgroup_processors("", cpus->count);
  NNC_ASSERT(cpus->cores >= 1 && cpus->cores <= cpus->count && cpus->count <= NNC_MAX_CPUS);
  NNC_ASSERT(cpus->quota >= 1 && cpus->quota <= cpus->count);
}

int nnc_cpus_default_threads(const nnc_cpus *cpus) {
  return cpus->cores < cpus->quota ? cpus->cores : cpus->quota;
}
