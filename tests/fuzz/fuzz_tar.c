/* Fuzzing target: tar archives of pictures, sounds, classes and arrays. The first byte chooses the input and the members. */
#include "fuzz_data.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  if (size < 1) return 0;
  char path[64];
  int file = fuzz_file(bytes + 1, size - 1, path);
  static const char *const members[] = {"npy", "jpg;png", "cls", "w.npy;npy", "wav"};
  static const char *const fits[] = {"exact", "start", "middle", "random"};
  bool is_sound = bytes[0] >> 6 == 3 && (bytes[0] & 16);
  nnc_value member = {.kind = NNC_STRING, .string = members[is_sound ? 4 : bytes[0] >> 6]};
  nnc_argument arguments[] = {
      {"files", {.kind = NNC_STRING, .string = path}},
      {"members", {.kind = NNC_LIST, .count = 1, .items = &member}},
      {"rate", {.kind = NNC_NUMBER, .number = 8}},
      {"fit", {.kind = NNC_STRING, .string = fits[bytes[0] >> 2 & 3]}},
  };
  nnc_call call = {.function = "shards",
                   .source = &nnc_source_shards,
                   .argument_count = 4,
                   .arguments = arguments};
  const char *field = "x";
  nnc_tensor input = fuzz_input(bytes[0]);
  if (bytes[0] >> 6 == 1)
    input = (nnc_tensor){.name = "x", .dtype = NNC_U8, .rank = 4, .dim = {4, 3, 4, 4}};
  if (is_sound) input = fuzz_sound(bytes[0]);
  fuzz_open(&(nnc_pipeline){1, &field, 1, &call}, &input);
  close(file);
  return 0;
}
