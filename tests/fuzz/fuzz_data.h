/* What the targets of the data readers share: the bytes become a file that a data set of one field
 * opens.  The first byte chooses the input's type and shape, so that all ways after the header
 * are met. scripts/fuzz.sh builds and runs them. */
#ifndef TESTS_FUZZ_DATA_H
#define TESTS_FUZZ_DATA_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* memfd_create */
#endif

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/fitted.h"
#include "data/open.h"
#include "data/read.h"
#include "nnc_data.h"

static const struct {
  int rank;
  int64_t dim[3];
} fuzz_shapes[] = {{1, {4}}, {2, {4, 2}}, {3, {4, 2, 2}}, {2, {4, 1}}};

static inline nnc_tensor fuzz_input(uint8_t choice) {
  nnc_tensor input = {.name = "x", .dtype = choice % 8, .rank = fuzz_shapes[choice / 8 % 4].rank};
  memcpy(input.dim, fuzz_shapes[choice / 8 % 4].dim, sizeof fuzz_shapes[0].dim);
  return input;
}

/* Of sounds, by two bits for the type and one for the channel's axis. */
static inline nnc_tensor fuzz_sound(uint8_t choice) {
  static const int dtypes[] = {NNC_F32, NNC_F64, NNC_BF16, NNC_F16};
  return (nnc_tensor){.name = "x",
                      .dtype = dtypes[choice & 3],
                      .rank = choice & 4 ? 3 : 2,
                      .dim = {4, choice & 4 ? 1 : 6, 6}};
}

/* A file in memory with these bytes; its path is written. */
static inline int fuzz_file(const uint8_t *bytes, size_t size, char path[64]) {
  int file = memfd_create("fuzz", MFD_CLOEXEC);
  if (file < 0 || write(file, bytes, size) != (ssize_t)size) abort();
  snprintf(path, 64, "/proc/self/fd/%d", file);
  return file;
}

/* Opens the set and reads all of it for the input; stages may look at another. */
static inline void fuzz_open_looked_at(const nnc_pipeline *pipeline, const nnc_tensor *input,
                                       const nnc_tensor *looked_at) {
  nnc_data_set set = {.name = "train", .pipeline_count = 1, .pipelines = pipeline};
  nnc_model model = {.file = "fuzz.net",
                     .batch = 4,
                     .data_set_count = 1,
                     .data_sets = &set,
                     .looked_at_count = looked_at != NULL,
                     .looked_at = looked_at};
  nnc_entry entry = {.batch = 4,
                     .input_count = 1,
                     .inputs = input,
                     .input_is_batched = (const unsigned char *)"\1"};
  char message[NNC_MESSAGE] = "";
  nnc_fitted fitted = {0};
  nnc_data *data = nnc_data_open(&model, "train", &entry, ".", &fitted, message);
  if (!data) {
    if (!*message || strchr(message, '\n')) abort();
    nnc_fitted_free(&fitted);
    return;
  }
  int64_t width = 8, least_width = 1;
  for (int i = 1; i < input->rank; i++) least_width *= input->dim[i];
  void *values = malloc((size_t)(width * least_width));
  if (!values) abort();
  for (int64_t i = 0; i < nnc_data_examples(data); i++)
    if (nnc_data_read(data, i, 1, &values, message) < 0 && !*message)
      abort(); /* values that stay on disk may not fit, and no others */
  double least, most;
  nnc_data_range(data, 0, INT64_MIN, &least, &most);
  free(values);
  nnc_data_close(data);
  nnc_fitted_free(&fitted);
}

static inline void fuzz_open(const nnc_pipeline *pipeline, const nnc_tensor *input) {
  fuzz_open_looked_at(pipeline, input, NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

#endif
