/* Variants of kernels: see variants.h. */
#include "program/variants.h"

#include <string.h>

int64_t variants_find(const Variants *variants, const Target *target, const Kernel *kernel,
                      const char *key) {
  if (!variants) return 0;
  int64_t number = variants->all, count = target_variant_count(target, kernel);
  for (int i = 0; i < variants->count; i++)
    if (strcmp(variants->items[i].key, key) == 0) number = variants->items[i].number;
  return number < count ? number : 0;
}
