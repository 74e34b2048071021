/* The order of the elements of a row: generated kernels of argsort.
 *
 * Elements become keys, unsigned numbers of the same order: of a float the bits, with those of
 * negative numbers complemented and the sign of the others set; NaN is the greatest key, both
 * zeros are one. Keys are sorted by their bytes from the lowest on, each pass keeping the order of
 * equal bytes (radix sort: Knuth, The Art of Computer Programming, volume 3, section 5.2.5), so
 * equal elements keep their order. A byte that all keys have in common needs no pass; few elements
 * are inserted one by one. */
#ifndef NNC_SORT_H
#define NNC_SORT_H

#include <stdint.h>
#include <string.h>

enum { NNC_SORT_INSERTS = 48, NNC_SORT_BYTES = 256 };

static inline uint32_t nnc_key_f32(float x) {
  uint32_t bits;
  x = x == 0 ? 0.0f : x;
  memcpy(&bits, &x, sizeof bits);
  bits ^= bits >> 31 ? UINT32_MAX : (uint32_t)1 << 31;
  return x != x ? UINT32_MAX : bits;
}

static inline uint64_t nnc_key_f64(double x) {
  uint64_t bits;
  x = x == 0 ? 0.0 : x;
  memcpy(&bits, &x, sizeof bits);
  bits ^= bits >> 63 ? UINT64_MAX : (uint64_t)1 << 63;
  return x != x ? UINT64_MAX : bits;
}

static inline uint64_t nnc_key_i64(int64_t x) { return (uint64_t)x ^ (uint64_t)1 << 63; }
static inline uint32_t nnc_key_i32(int32_t x) { return (uint32_t)x ^ (uint32_t)1 << 31; }
static inline uint32_t nnc_key_u8(uint8_t x) { return x; }
static inline uint32_t nnc_key_bool(uint8_t x) { return x; }

/* keys[count] become unspecified; the order is in `order` or `spare`, which is returned. */
#define NNC_DEFINE_ARGSORT(bits)                                                                   \
  static inline void nnc_insert_##bits(int64_t count, uint##bits##_t *keys, int32_t *order) {      \
    for (int64_t i = 0; i < count; i++) {                                                          \
      const uint##bits##_t key = keys[i];                                                          \
      int64_t at = i;                                                                              \
      for (; at > 0 && keys[at - 1] > key; at--) {                                                 \
        keys[at] = keys[at - 1];                                                                   \
        order[at] = order[at - 1];                                                                 \
      }                                                                                            \
      keys[at] = key;                                                                              \
      order[at] = (int32_t)i;                                                                      \
    }                                                                                              \
  }                                                                                                \
                                                                                                   \
  static inline int32_t *nnc_argsort_##bits(int64_t count, uint##bits##_t *keys,                   \
                                            uint##bits##_t *spare_keys, int32_t *order,            \
                                            int32_t *spare) {                                      \
    enum { PASSES = bits / 8 };                                                                    \
    static const int32_t nothing[NNC_SORT_BYTES];                                                  \
    int32_t counts[PASSES][NNC_SORT_BYTES];                                                        \
    if (count <= NNC_SORT_INSERTS) {                                                               \
      nnc_insert_##bits(count, keys, order);                                                       \
      return order;                                                                                \
    }                                                                                              \
    for (int pass = 0; pass < PASSES; pass++) memcpy(counts[pass], nothing, sizeof nothing);       \
    for (int64_t i = 0; i < count; i++) {                                                          \
      order[i] = (int32_t)i;                                                                       \
      for (int pass = 0; pass < PASSES; pass++) counts[pass][keys[i] >> 8 * pass & 255]++;         \
    }                                                                                              \
    for (int pass = 0; pass < PASSES; pass++) {                                                    \
      int32_t *const next = counts[pass];                                                          \
      if (next[keys[0] >> 8 * pass & 255] == count) continue;                                      \
      for (int32_t byte = 0, before = 0; byte < NNC_SORT_BYTES; byte++) {                          \
        const int32_t own = next[byte];                                                            \
        next[byte] = before;                                                                       \
        before += own;                                                                             \
      }                                                                                            \
      for (int64_t i = 0; i < count; i++) {                                                        \
        const int32_t to = next[keys[i] >> 8 * pass & 255]++;                                      \
        spare_keys[to] = keys[i];                                                                  \
        spare[to] = order[i];                                                                      \
      }                                                                                            \
      uint##bits##_t *const sorted_keys = spare_keys;                                              \
      int32_t *const sorted = spare;                                                               \
      spare_keys = keys, keys = sorted_keys;                                                       \
      spare = order, order = sorted;                                                               \
    }                                                                                              \
    return order;                                                                                  \
  }
NNC_DEFINE_ARGSORT(32)
NNC_DEFINE_ARGSORT(64)

#endif
