/* Reductions by lanes (nnc_lanes.h) of every length, with a NaN or an infinity at every place, and
 * stores past the caches (nnc_stream.h) of every length to every place of a line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>

#include "nnc_lanes.h"
#include "nnc_stream.h"

enum { MOST = 3 * NNC_BLOCK + 21 };

/* As a kernel goes through a row: whole blocks, then the rest. */
#define DEFINE_ROW(operation, name, type)                                                          \
  static type row_##operation##_##name(const type *v, int64_t count) {                             \
    nnc_##operation##_##name##_lanes acc;                                                          \
    nnc_##operation##_##name##_begin(&acc);                                                        \
    const int64_t whole = count / NNC_BLOCK * NNC_BLOCK;                                           \
    for (int64_t i = 0; i < whole; i += NNC_BLOCK)                                                 \
      if (i % (2 * NNC_BLOCK) == 0) nnc_##operation##_##name##_block(&acc, v + i);                 \
      else nnc_##operation##_##name##_far_block(&acc, v + i);                                      \
    if (count % 2) nnc_##operation##_##name##_rest(&acc, v + whole, count - whole);                \
    else nnc_##operation##_##name##_far_rest(&acc, v + whole, count - whole);                      \
    return nnc_##operation##_##name##_end(&acc);                                                   \
  }

/* Whole numbers, so that sums are exact; of products all are 1 but two. */
#define DEFINE_TEST(name, type)                                                                    \
  DEFINE_ROW(sum, name, type)                                                                      \
  DEFINE_ROW(prod, name, type)                                                                     \
  DEFINE_ROW(max, name, type)                                                                      \
  DEFINE_ROW(min, name, type)                                                                      \
  static void test_rows_##name(void **state) {                                                     \
    (void)state;                                                                                   \
    type v[MOST + 1], ones[MOST + 1];                                                              \
    for (int count = 1; count <= MOST; count++) {                                                  \
      type sum = 0, most = -INFINITY, least = INFINITY;                                            \
      for (int i = 0; i <= count; i++) ones[i] = i < count ? 1 : 9;                                \
      for (int i = 0; i <= count; i++) v[i] = (type)((i * 37 + count) % 101 - 50);                 \
      for (int i = 0; i < count; i++) {                                                            \
        sum += v[i];                                                                               \
        most = v[i] > most ? v[i] : most;                                                          \
        least = v[i] < least ? v[i] : least;                                                       \
      }                                                                                            \
      v[count] = 1000; /* beyond the end */                                                        \
      ones[count / 2] = 3, ones[count - 1] *= -5;                                                  \
      assert_true(row_sum_##name(v, count) == sum);                                                \
      assert_true(row_max_##name(v, count) == most && row_min_##name(v, count) == least);          \
      assert_true(row_prod_##name(ones, count) == -15);                                            \
    }                                                                                              \
  }                                                                                                \
  static void test_odd_##name(void **state) {                                                      \
    (void)state;                                                                                   \
    type v[MOST];                                                                                  \
    for (int i = 0; i < MOST; i++) v[i] = (type)(i % 7);                                           \
    for (int i = 0; i < MOST; i++) {                                                               \
      const type old = v[i];                                                                       \
      v[i] = NAN;                                                                                  \
      const type most = row_max_##name(v, MOST), least = row_min_##name(v, MOST);                  \
      assert_true(most != most && least != least);                                                 \
      v[i] = INFINITY;                                                                             \
      assert_true(row_max_##name(v, MOST) == INFINITY && row_min_##name(v, MOST) == 0);            \
      v[i] = -INFINITY;                                                                            \
      assert_true(row_max_##name(v, MOST) == 6 && row_min_##name(v, MOST) == -INFINITY);           \
      v[i] = old;                                                                                  \
    }                                                                                              \
    for (int count = 1; count <= MOST;                                                             \
         count++) { /* an infinity, before it or after, does not win */                            \
      const int other = count * 5 % 13 % count;                                                    \
      for (int i = 0; i < count; i++) v[i] = (type)(i % 7);                                        \
      for (int place = 0; place < count; place += 1 + count / 9) {                                 \
        const type kept = v[place];                                                                \
        v[other] = place % 2 ? INFINITY : -INFINITY;                                               \
        v[place] = -(type)NAN;                                                                     \
        const type most = row_max_##name(v, count), least = row_min_##name(v, count);              \
        assert_true(most != most && least != least);                                               \
        v[place] = kept;                                                                           \
      }                                                                                            \
      for (int i = 0; i < count; i++) v[i] = NAN;                                                  \
      const type most = row_max_##name(v, count), least = row_min_##name(v, count);                \
      assert_true(most != most && least != least);                                                 \
    }                                                                                              \
  }

DEFINE_TEST(f32, float)
DEFINE_TEST(f64, double)

static void test_stream(void **state) {
  (void)state;
  enum { LINE = 64, BYTES = 5 * LINE };
  static char to[BYTES + 2 * LINE] NNC_ALIGNED, from[BYTES] NNC_ALIGNED;
  for (int i = 0; i < BYTES; i++) from[i] = (char)(i % 120 + 1);
  for (int at = 0; at < LINE; at++)
    for (int bytes = 0; bytes <= BYTES - LINE; bytes += 1 + bytes / 9) {
      memset(to, 0, sizeof to);
      nnc_stream(to + at, from + bytes % 8, bytes);
      nnc_stream_end();
      assert_memory_equal(to + at, from + bytes % 8, (size_t)bytes);
      for (int i = 0; i < (int)sizeof to; i++)
        if ((i < at || i >= at + bytes) && to[i] != 0)
          fail_msg("%d bytes to place %d also write to %d", bytes, at, i);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_rows_f32), cmocka_unit_test(test_odd_f32),
      cmocka_unit_test(test_rows_f64), cmocka_unit_test(test_odd_f64),
      cmocka_unit_test(test_stream),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
