/* Fuzzing target: binary files of rows without a header of their own: cifar, raw and token_stream, in memory or on
 * disk.  The second byte chooses. */
#include "fuzz_data.h"

#define NUMBER(x)                                                                                  \
  { .kind = NNC_NUMBER, .number = (x) }
#define STRING(s)                                                                                  \
  { .kind = NNC_STRING, .string = (s) }
#define SOURCE(name, count, list)                                                                  \
  { .function = #name, .source = &nnc_source_##name, .argument_count = count, .arguments = list }

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  if (size < 2) return 0;
  static const char *const types[] = {"u8", "i16", "u32", "i64", "bf16", "f16", "f64", "bool"};
  char path[64];
  int file = fuzz_file(bytes + 2, size - 2, path), choice = bytes[1];
  nnc_tensor input = fuzz_input(bytes[0]);
  nnc_argument of_cifar[] = {{"", STRING(path)}, {"classes", NUMBER(choice & 4 ? 100 : 10)}};
  nnc_argument of_raw[] = {{"", STRING(path)},
                           {"type", STRING(types[choice >> 4 & 7])},
                           {"offset", NUMBER(choice & 8 ? 3 : 0)},
                           {"big_endian", {.kind = NNC_BOOLEAN, .number = choice & 4}}};
  nnc_argument of_tokens[] = {{"file", STRING(path)},
                              {"length", NUMBER(2)},
                              {"stride", NUMBER(1 + (choice >> 5 & 3))},
                              {"from", NUMBER(choice & 8 ? 0.25 : 0)},
                              {"type", STRING(choice & 4 ? "u32" : "u16")}};
  const nnc_call sources[] = {SOURCE(cifar, 2, of_cifar), SOURCE(raw, 4, of_raw),
                              SOURCE(token_stream, 5, of_tokens)};
  nnc_call calls[] = {sources[(choice & 3) % 3],
                      {.function = "on_disk", .stage = &nnc_stage_on_disk}};
  if (calls[0].source == &nnc_source_cifar)
    input = (nnc_tensor){.name = "x", .dtype = input.dtype, .rank = 4, .dim = {4, 3, 32, 32}};
  const char *field = "x";
  fuzz_open(&(nnc_pipeline){1, &field, choice & 128 ? 2 : 1, calls}, &input);
  close(file);
  return 0;
}
