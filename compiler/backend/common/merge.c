/* Questions to a plan of merged launches: merge.h. */
#include "backend/common/merge.h"

int merge_of_step(const MergePlan *plan, EntryKind entry, int step, int *place) {
  for (int i = 0; plan && i < plan->launches.count; i++) {
    const LaunchMerge *launch = &plan->launches.items[i];
    for (int k = 0; launch->entry == entry && k < launch->steps.count; k++)
      if (launch->steps.items[k] == step) {
        *place = k;
        return i;
      }
  }
  return -1;
}

int merge_words(const Kernel *kernel) {
  return kernel->operand_count + kernel->scalar_count + kernel->key_count;
}
