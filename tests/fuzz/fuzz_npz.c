/* Fuzzing target: archives of NumPy files, loaded or left on disk. */
#include "fuzz_data.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  if (size < 1) return 0;
  char path[64];
  int file = fuzz_file(bytes + 1, size - 1, path);
  nnc_argument name = {"", {.kind = NNC_STRING, .string = path}};
  nnc_call calls[] = {
      {.function = "npz", .source = &nnc_source_npz, .argument_count = 1, .arguments = &name},
      {.function = "on_disk", .stage = &nnc_stage_on_disk}};
  const char *field = "x";
  nnc_tensor input = fuzz_input(bytes[0]);
  fuzz_open(&(nnc_pipeline){1, &field, bytes[0] & 128 ? 2 : 1, calls}, &input);
  close(file);
  return 0;
}
