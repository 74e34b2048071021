/* Which kernels are computed in another variant than the target's cost model picks. */
#ifndef NNC_PROGRAM_VARIANTS_H
#define NNC_PROGRAM_VARIANTS_H

#include "target/target.h"

typedef struct Variant {
  const char *key; /* kernel_key, of variant 0 */
  int64_t number;
} Variant;

typedef struct Variants {
  int64_t all; /* of every kernel that has so many and is not listed */
  int count;
  const Variant *items;
} Variants;

/* The variant of the kernel with that key. `variants` may be NULL: 0. */
int64_t variants_find(const Variants *variants, const Target *target, const Kernel *kernel,
                      const char *key);

#endif
