/* Fuzzing target: NumPy files, with missing values filled and columns standardized. */
#include "fuzz_data.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  if (size < 1) return 0;
  char path[64];
  int file = fuzz_file(bytes + 1, size - 1, path);
  nnc_argument name = {"", {.kind = NNC_STRING, .string = path}};
  nnc_argument filled = {"", {.kind = NNC_FIELD, .string = "x"}};
  nnc_call calls[] = {
      {.function = "npy", .source = &nnc_source_npy, .argument_count = 1, .arguments = &name},
      {.function = "impute", .stage = &nnc_stage_impute, .argument_count = 1, .arguments = &filled},
      {.function = "standardize", .stage = &nnc_stage_standardize}};
  const char *field = "x";
  nnc_tensor input = fuzz_input(bytes[0]);
  fuzz_open(&(nnc_pipeline){1, &field, bytes[0] & 128 ? 3 : 1, calls}, &input);
  close(file);
  return 0;
}
