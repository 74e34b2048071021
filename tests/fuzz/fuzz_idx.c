/* Fuzzing target: IDX files. */
#include "fuzz_data.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  if (size < 1) return 0;
  char path[64];
  int file = fuzz_file(bytes + 1, size - 1, path);
  nnc_argument name = {"", {.kind = NNC_STRING, .string = path}};
  nnc_call call = {
      .function = "idx", .source = &nnc_source_idx, .argument_count = 1, .arguments = &name};
  const char *field = "x";
  nnc_tensor input = fuzz_input(bytes[0]);
  fuzz_open(&(nnc_pipeline){1, &field, 1, &call}, &input);
  close(file);
  return 0;
}
