/* Fuzzing target: text tables, with and without a header, as numbers and as categories. */
#include "fuzz_data.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  if (size < 2) return 0;
  char path[64];
  int file = fuzz_file(bytes + 2, size - 2, path);
  nnc_value columns[] = {{.kind = NNC_NUMBER, .number = -1}, {.kind = NNC_STRING, .string = "a"}};
  nnc_value column = {.kind = NNC_LIST, .count = 1, .items = &columns[bytes[1] >> 2 & 1]};
  /* without its last arguments the call keeps the defaults */
  nnc_argument arguments[] = {
      {"file", {.kind = NNC_STRING, .string = path}},
      {"separator", {.kind = NNC_STRING, .string = bytes[1] & 2 ? ";" : ","}},
      {"columns", {.kind = NNC_LIST, .count = 1, .items = &column}},
      {"header", {.kind = NNC_BOOLEAN, .number = bytes[1] & 1}}};
  nnc_argument named = {"", {.kind = NNC_FIELD, .string = "x"}};
  nnc_call calls[] = {{.function = "csv",
                       .source = &nnc_source_csv,
                       .argument_count = bytes[1] & 128 ? 2
                                         : bytes[1] & 8 ? 4
                                                        : 3,
                       .arguments = arguments},
                      {.function = "categories",
                       .stage = &nnc_stage_categories,
                       .argument_count = 1,
                       .arguments = &named},
                      {.function = "split", .stage = &nnc_stage_split},
                      {.function = "shuffle", .stage = &nnc_stage_shuffle},
                      {.function = "standardize", .stage = &nnc_stage_standardize}};
  if (bytes[1] & 16) {
    calls[1].function = "impute";
    calls[1].stage = &nnc_stage_impute;
  }
  int count = bytes[1] & 64 ? 5 : bytes[1] & 32 ? 4 : 1;
  const char *field = "x";
  nnc_tensor input = fuzz_input(bytes[0]);
  fuzz_open(&(nnc_pipeline){1, &field, count, calls}, &input);
  close(file);
  return 0;
}
