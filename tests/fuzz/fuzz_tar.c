/* Fuzzing target: tar archives of pictures, classes and arrays. */
#include "fuzz_data.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  if (size < 1) return 0;
  char path[64];
  int file = fuzz_file(bytes + 1, size - 1, path);
  static const char *const members[] = {"npy", "jpg;png", "cls", "w.npy;npy"};
  nnc_value member = {.kind = NNC_STRING, .string = members[bytes[0] >> 6]};
  nnc_argument arguments[] = {
      {"files", {.kind = NNC_STRING, .string = path}},
      {"members", {.kind = NNC_LIST, .count = 1, .items = &member}},
  };
  nnc_call call = {.function = "shards",
                   .source = &nnc_source_shards,
                   .argument_count = 2,
                   .arguments = arguments};
  const char *field = "x";
  nnc_tensor input = fuzz_input(bytes[0]);
  if (bytes[0] >> 6 == 1)
    input = (nnc_tensor){.name = "x", .dtype = NNC_U8, .rank = 4, .dim = {4, 3, 4, 4}};
  fuzz_open(&(nnc_pipeline){1, &field, 1, &call}, &input);
  close(file);
  return 0;
}
