/* Feeds damaged copies of a good file to the safetensors reader, and reads every tensor and the
 * fitted values of those that it accepts.  Meant for the address and undefined-behaviour
 * sanitizers.
 *
 *     fuzz_safetensors GOOD SCRATCH COUNT */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/fitted_text.h"
#include "core/number.h"
#include "core/safetensors.h"

static uint64_t state = 88172645463325252u;

static uint64_t next_random(uint64_t below) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state % below;
}

static size_t damage(unsigned char *bytes, size_t size) {
  static const char *const tokens[] = {"[",
                                       "]",
                                       "{",
                                       "}",
                                       "\"",
                                       ",",
                                       ":",
                                       "\\u0000",
                                       "-1",
                                       "1e5",
                                       "\\",
                                       "18446744073709551615",
                                       "9223372036854775807",
                                       "[[[[[[",
                                       "\xff"};
  size_t header = size < 2000 ? size : 2000;
  for (uint64_t i = 0, edits = 1 + next_random(4); i < edits; i++) {
    size_t at = (size_t)next_random(next_random(4) ? header : 8);
    const char *token = tokens[next_random(sizeof tokens / sizeof *tokens)];
    switch (next_random(4)) {
    case 0: bytes[at] = (unsigned char)next_random(256); break;
    case 1: bytes[at] ^= (unsigned char)(1 << next_random(8)); break;
    case 2:
      if (at + strlen(token) < size) memcpy(bytes + at, token, strlen(token));
      break;
    default:
      if (at >= 8 && bytes[at] >= '0' && bytes[at] <= '9')
        bytes[at] = (unsigned char)('0' + next_random(10));
      break;
    }
  }
  return next_random(8) ? size : (size_t)next_random(size + 1);
}

static bool read_all(const char *path) {
  nnc_safetensors *file = nnc_safetensors_open(path);
  if (!file) return false;
  for (int i = 0; i < file->count; i++) {
    const nnc_stored *stored = &file->tensors[i];
    size_t bytes = (size_t)(stored->end - stored->begin);
    char *into = malloc(bytes + 1);
    if (!into || !nnc_safetensors_read(file, stored, into)) abort();
    free(into);
  }
  const char *text = nnc_safetensors_metadata(file, "fitted");
  nnc_fitted fitted = {0};
  char message[256];
  if (text) nnc_fitted_parse(&fitted, text, message, sizeof message);
  nnc_fitted_free(&fitted);
  nnc_safetensors_close(file);
  return true;
}

int main(int argc, char **argv) {
  static unsigned char good[1 << 20], bad[1 << 20];
  if (argc != 4) return 2;
  FILE *file = fopen(argv[1], "rb");
  size_t size = file ? fread(good, 1, sizeof good, file) : 0;
  if (size == 0 || fclose(file) != 0 || !read_all(argv[1])) return 2;
  int count = atoi(argv[3]), accepted = 0;
  for (int i = 0; i < count; i++) {
    memcpy(bad, good, size);
    size_t length = damage(bad, size);
    file = fopen(argv[2], "wb");
    if (!file || fwrite(bad, 1, length, file) != length || fclose(file) != 0) return 2;
    accepted += read_all(argv[2]);
  }
  printf("%d of %d accepted\n", accepted, count);
  return 0;
}
