/* Right kernels: kernels/right.cu. */
#include "check.h"

#include <math.h>

static void case_scale(void) {
  float factor = 3;
  int64_t count = 1000;
  Address x = device_copy(numbers, sizeof numbers), y = device(4000);
  LAUNCH("scale", 8, 128, &y, &x, &factor, &count);
  const float *result = fetch(y, 4000);
  for (int i = 0; i < 1000; i++) SAME(result[i], fmaf(numbers[i], 3, sqrtf(fabsf(numbers[i]))));
}

static void sums(const char *kernel) {
  Address x = device_copy(numbers, sizeof numbers), y = device(16);
  LAUNCH(kernel, 4, 256, &y, &x);
  const float *result = fetch(y, 16);
  for (int row = 0; row < 4; row++) {
    float sum = 0; /* of small integers: exact in any order */
    for (int i = 0; i < 256; i++) sum += numbers[row * 256 + i];
    SAME(result[row], sum);
  }
}

static void case_row_sums(void) { sums("row_sums"); }
static void case_row_sums_tree(void) { sums("row_sums_tree"); }

static void case_turn_rows(void) {
  int64_t values[3 * 256], rows = 3;
  for (int i = 0; i < 3 * 256; i++) values[i] = i * 7;
  Address x = device_copy(values, sizeof values), y = device(sizeof values);
  LAUNCH("turn_rows", 2, 256, &y, &x, &rows);
  const int64_t *result = fetch(y, sizeof values);
  for (int i = 0; i < 3 * 256; i++) SAME(result[i], values[i / 256 * 256 + 255 - i % 256]);
}

static void case_places(void) {
  double values[128];
  for (int i = 0; i < 128; i++) values[i] = numbers[i];
  Address x = device_copy(values, sizeof values), y = device(512);
  LAUNCH("places", 2, 64, &y, &x);
  const int *result = fetch(y, 512);
  for (int i = 0, place = 0; i < 128; i++) {
    if (i % 32 == 0) place = 0;
    SAME(result[i], values[i] > 0 ? place : -1);
    place += values[i] > 0;
  }
}

static void case_least(void) {
  uint64_t values[100], none = UINT64_MAX, open = 0;
  int64_t count = 100;
  for (int i = 0; i < 100; i++) values[i] = 1000 + (uint64_t)(i * 37 % 100);
  Address x = device_copy(values, sizeof values), y = device_copy(&none, 8);
  Address lock = device_copy(&open, 8);
  LAUNCH("least", 2, 64, &y, &lock, &x, &count);
  SAME(*(const uint64_t *)fetch(y, 8), 1000);
}

static void case_neighbours(void) {
  double values[64];
  for (int i = 0; i < 64; i++) values[i] = i * i;
  Address x = device_copy(values, sizeof values), y = device(sizeof values);
  LAUNCH("neighbours", 1, 64, &y, &x);
  const double *result = fetch(y, sizeof values);
  for (int i = 0; i < 64; i++) SAME(result[i], values[i ^ 1] + values[i / 32 * 32 + 5]);
}

static void case_halves(void) {
  Address y = device(256);
  LAUNCH("halves", 1, 128, &y);
  const uint16_t *result = fetch(y, 256);
  for (int i = 0; i < 128; i++) SAME(result[i], 3 * (i ^ 1));
}

const Case right_cases[] = {CASE(scale),      CASE(row_sums), CASE(row_sums_tree),
                            CASE(turn_rows),  CASE(places),   CASE(least),
                            CASE(neighbours), CASE(halves),   {NULL, NULL}};
