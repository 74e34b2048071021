/* Fuzzing target: sounds, named by a table.  The first byte chooses the input, the second what is done with sounds of
 * another length. */
#include "fuzz_data.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  if (size < 2) return 0;
  static const char *const fits[] = {"exact", "start", "middle", "random"};
  char path[64], table[64], line[80];
  int file = fuzz_file(bytes + 2, size - 2, path);
  int length = snprintf(line, sizeof line, "%s\n", path);
  int names = fuzz_file((const uint8_t *)line, (size_t)length, table);
  nnc_argument arguments[] = {{"file", {.kind = NNC_STRING, .string = table}},
                              {"header", {.kind = NNC_BOOLEAN, .number = 0}},
                              {"rate", {.kind = NNC_NUMBER, .number = 8}},
                              {"fit", {.kind = NNC_STRING, .string = fits[bytes[1] & 3]}},
                              {"workers", {.kind = NNC_NUMBER, .number = 1}}};
  nnc_call call = {.function = "wav_list",
                   .source = &nnc_source_wav_list,
                   .argument_count = 5,
                   .arguments = arguments};
  nnc_tensor input = fuzz_sound(bytes[0]);
  const char *field = "x";
  fuzz_open(&(nnc_pipeline){1, &field, 1, &call}, &input);
  close(names);
  close(file);
  return 0;
}
