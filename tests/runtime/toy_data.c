/* Writes train_x, train_y, test_x, test_y (.npy, f32) of a linear function into the current
 * folder. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double next_uniform(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (double)(*state >> 33) * 0x1p-31;
}

/* A .npy file of version 1.0. */
static void write_npy(const char *path, const char *shape, const float *values, size_t count) {
  char header[128];
  memset(header, ' ', sizeof header);
  memcpy(header, "\x93NUMPY\x01\x00\x76\x00", 10);
  int length = snprintf(header + 10, sizeof header - 10,
                        "{'descr': '<f4', 'fortran_order': False, 'shape': (%s), }", shape);
  header[10 + length] = ' ';
  header[127] = '\n';
  FILE *file = fopen(path, "wb");
  if (!file || fwrite(header, 1, sizeof header, file) != sizeof header ||
      fwrite(values, sizeof *values, count, file) != count || fclose(file) != 0) {
    perror(path);
    exit(1);
  }
}

static void write_set(const char *name, int examples, int width, uint64_t seed) {
  float x[400 * 8], y[400];
  char path[64], shape[64];
  for (int i = 0; i < examples; i++) {
    double sum = 1;
    for (int k = 0; k < width; k++) {
      x[i * width + k] = (float)(next_uniform(&seed) * 4 - 1);
      sum += x[i * width + k] * (k % 2 ? -1.0 : 2.0) / (k + 1);
    }
    y[i] = (float)(sum + 0.1 * next_uniform(&seed));
  }
  snprintf(path, sizeof path, "%s_x.npy", name);
  snprintf(shape, sizeof shape, "%d, %d", examples, width);
  write_npy(path, shape, x, (size_t)examples * (size_t)width);
  snprintf(path, sizeof path, "%s_y.npy", name);
  snprintf(shape, sizeof shape, "%d,", examples);
  write_npy(path, shape, y, (size_t)examples);
}

int main(int argc, char **argv) {
  int width = argc > 1 ? atoi(argv[1]) : 3;
  write_set("train", 105, width, 1);
  write_set("test", 34, width, 2);
  return 0;
}
