/* Indices that are checked as they are computed: --check-indices. */
#ifndef NNC_CHECK_INDEX_H
#define NNC_CHECK_INDEX_H

#include <stdint.h>

/* Notes that index `index`, element `number` of the indices of place `place`, lies outside. Of all that
 * are found before the run of an entry ends the first place's first element is told. */
void nnc_index_outside(int64_t place, int64_t number, int64_t index);

/* The index as it is. */
#define NNC_CHECK_INDEX(name, type)                                                                \
  static inline __attribute__((unused))                                                            \
  type nnc_check_index_##name(type index, int64_t number, int64_t extent, int64_t place) {         \
    if (__builtin_expect((uint64_t)(int64_t)index >= (uint64_t)extent, 0))                         \
      nnc_index_outside(place, number, index);                                                     \
    return index;                                                                                  \
  }

NNC_CHECK_INDEX(i64, int64_t)
NNC_CHECK_INDEX(i32, int32_t)
NNC_CHECK_INDEX(u8, uint8_t)

#undef NNC_CHECK_INDEX

#endif
