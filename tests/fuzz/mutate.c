/* A plain driver for the fuzzing targets, for compilers without libFuzzer and for the regular
 * tests:
 *
 *     mutate ROUNDS FILE...
 *
 * runs the target on each file and on ROUNDS random mutations of them, the same ones every time.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LARGEST = 1 << 16, MOST_FILES = 4096 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static uint64_t state = 1;

static uint32_t draw(uint32_t limit) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)((state >> 32) * limit >> 32);
}

static size_t mutate(uint8_t *bytes, size_t size) {
  static const uint8_t telling[] = "\0\1\177\200\377\"',;\n\r .-e0123456789?{}()[]'<>=|";
  switch (draw(6)) {
  case 0: return size ? draw((uint32_t)size) : 0; /* cut */
  case 1:
    if (size) bytes[draw((uint32_t)size)] ^= (uint8_t)(1 << draw(8));
    return size;
  case 2:
    if (size) bytes[draw((uint32_t)size)] = telling[draw(sizeof telling - 1)];
    return size;
  case 3:
    if (size) bytes[draw(size < 40 ? (uint32_t)size : 40)] = (uint8_t)draw(256);
    return size;
  default: break;
  }
  size_t from = draw((uint32_t)size + 1), length = draw(16), at = draw((uint32_t)size + 1);
  if (from + length > size) length = size - from;
  if (size + length > LARGEST) return size;
  if (draw(2)) { /* remove a piece */
    memmove(bytes + from, bytes + from + length, size - from - length);
    return size - length;
  }
  uint8_t piece[16]; /* insert a copy of a piece */
  memcpy(piece, bytes + from, length);
  memmove(bytes + at + length, bytes + at, size - at);
  memcpy(bytes + at, piece, length);
  return size + length;
}

int main(int argc, char **argv) {
  static uint8_t seeds[MOST_FILES][LARGEST], bytes[LARGEST];
  static size_t sizes[MOST_FILES];
  long rounds = argc > 2 ? atol(argv[1]) : 0;
  if (rounds < 1 || argc - 2 > MOST_FILES) {
    fprintf(stderr, "usage: mutate ROUNDS FILE... (at most %d)\n", MOST_FILES);
    return 2;
  }
  int files = argc - 2;
  for (int i = 0; i < files; i++) {
    FILE *file = fopen(argv[2 + i], "rb");
    if (!file) {
      perror(argv[2 + i]);
      return 2;
    }
    sizes[i] = fread(seeds[i], 1, LARGEST, file);
    fclose(file);
    LLVMFuzzerTestOneInput(seeds[i], sizes[i]);
  }
  for (long round = 0; round < rounds; round++) {
    int i = (int)draw((uint32_t)files);
    size_t size = sizes[i];
    memcpy(bytes, seeds[i], size);
    for (uint32_t k = 1 + draw(4); k > 0; k--) size = mutate(bytes, size);
    uint8_t *exact = malloc(size ? size : 1); /* so that the sanitizer sees its end */
    if (!exact) return 2;
    memcpy(exact, bytes, size);
    LLVMFuzzerTestOneInput(exact, size);
    free(exact);
  }
  printf("%d files, %ld mutations\n", files, rounds);
  return 0;
}
