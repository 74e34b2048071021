/* Fuzzing target: texts as windows of characters, bytes or words. */
#include "fuzz_data.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  if (size < 2) return 0;
  static const char *const units[] = {"character", "byte", "word"};
  char path[64];
  int file = fuzz_file(bytes + 2, size - 2, path), choice = bytes[1];
  nnc_argument arguments[] = {{"file", {.kind = NNC_STRING, .string = path}},
                              {"length", {.kind = NNC_NUMBER, .number = 2}},
                              {"stride", {.kind = NNC_NUMBER, .number = 1 + (choice >> 2 & 3)}},
                              {"to", {.kind = NNC_NUMBER, .number = choice & 16 ? 0.5 : 1}},
                              {"unit", {.kind = NNC_STRING, .string = units[choice % 3]}}};
  nnc_call call = {
      .function = "text", .source = &nnc_source_text, .argument_count = 5, .arguments = arguments};
  const char *field = "x";
  nnc_tensor input = fuzz_input(bytes[0]);
  fuzz_open(&(nnc_pipeline){1, &field, 1, &call}, &input);
  close(file);
  return 0;
}
