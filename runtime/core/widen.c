/* Conversions to a type that has all values of the other, batch by batch: plain loops that the compiler
 * vectorizes. */
#include "core/convert.h"

#include "core/number.h"
#include "os/assert.h"

/* Every pair of a shorter type and a longer one that has all its values. */
#define NARROW_INTEGER(PAIR, from, From)                                                           \
  PAIR(from, From, NNC_I32, int32_t)                                                               \
  PAIR(from, From, NNC_I64, int64_t)                                                               \
  PAIR(from, From, NNC_F32, float)                                                                 \
  PAIR(from, From, NNC_F64, double)
#define WIDENINGS(PAIR)                                                                            \
  NARROW_INTEGER(PAIR, NNC_U8, uint8_t)                                                            \
  NARROW_INTEGER(PAIR, NNC_BOOL, uint8_t)                                                          \
  NARROW_INTEGER(PAIR, NNC_I8, int8_t)                                                             \
  NARROW_INTEGER(PAIR, NNC_I16, int16_t)                                                           \
  NARROW_INTEGER(PAIR, NNC_U16, uint16_t)                                                          \
  PAIR(NNC_U32, uint32_t, NNC_I64, int64_t)                                                        \
  PAIR(NNC_U32, uint32_t, NNC_F64, double)                                                         \
  PAIR(NNC_I32, int32_t, NNC_I64, int64_t)                                                         \
  PAIR(NNC_I32, int32_t, NNC_F64, double)                                                          \
  PAIR(NNC_F32, float, NNC_F64, double)

#define WIDEN(from, From, to, To)                                                                  \
  static void widen_##from##_##to(const void *restrict source, void *restrict target,              \
                                  int64_t count) {                                                 \
    const From *values = source;                                                                   \
    To *results = target;                                                                          \
    for (int64_t i = 0; i < count; i++) results[i] = (To)values[i];                                \
  }
WIDENINGS(WIDEN)

static void (*const widen_table[NNC_ALL_DTYPE_COUNT][NNC_ALL_DTYPE_COUNT])(
    const void *restrict source, void *restrict target, int64_t count) = {
#define ENTRY(from, From, to, To) [from][to] = widen_##from##_##to,
    WIDENINGS(ENTRY)
#undef ENTRY
};

bool nnc_is_widening(int from, int to) { return widen_table[from][to] != NULL; }

void nnc_widen(int from, const void *source, int to, void *target, int64_t count) {
  NNC_ASSERT(count >= 0 && nnc_is_widening(from, to));
  widen_table[from][to](source, target, count);
}
