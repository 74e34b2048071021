/* libFuzzer's mutator for the targets that read text: half of the mutations keep words and lines
 * whole, since hardly any damage to single bytes still parses.
 *
 * Lines are dropped, doubled and moved; a word or a number becomes another one of the same text; a
 * number becomes one that overflows something.  The other half is libFuzzer's own, with its
 * dictionary. */
#include <stdint.h>
#include <string.h>

size_t LLVMFuzzerMutate(uint8_t *bytes, size_t size, size_t most);
size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t most, unsigned int seed);

typedef struct Piece {
  size_t at, size;
} Piece;

static uint64_t state;

static size_t draw(size_t limit) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return limit ? (size_t)(state >> 33) % limit : 0;
}

static int is_word(uint8_t byte) {
  return (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') ||
         (byte >= 'A' && byte <= 'Z') || byte == '_';
}

/* The line around a random byte, with its newline. */
static Piece pick_line(const uint8_t *bytes, size_t size) {
  size_t at = draw(size), end = at;
  while (at > 0 && bytes[at - 1] != '\n') at--;
  while (end < size && bytes[end] != '\n') end++;
  return (Piece){at, end - at + (end < size)};
}

/* The next word after a random byte, or a single byte that is none. */
static Piece pick_word(const uint8_t *bytes, size_t size) {
  size_t at = draw(size);
  while (at > 0 && is_word(bytes[at - 1])) at--;
  if (draw(4)) /* mostly not blanks */
    while (at + 1 < size && (bytes[at] == ' ' || bytes[at] == '\n')) at++;
  size_t end = at;
  while (end < size && is_word(bytes[end])) end++;
  return (Piece){at, end > at ? end - at : 1};
}

/* Puts `count` bytes in the place of a piece; they lie outside of the text. */
static size_t replace(uint8_t *bytes, size_t size, size_t most, Piece piece, const void *by,
                      size_t count) {
  if (size - piece.size + count > most) return size;
  memmove(bytes + piece.at + count, bytes + piece.at + piece.size, size - piece.at - piece.size);
  memcpy(bytes + piece.at, by, count);
  return size - piece.size + count;
}

/* A copy of `from` replaces `to`, or goes before it. */
static size_t copy_piece(uint8_t *bytes, size_t size, size_t most, Piece from, Piece to) {
  uint8_t copy[512];
  if (from.size > sizeof copy) return size;
  memcpy(copy, bytes + from.at, from.size);
  return replace(bytes, size, most, to, copy, from.size);
}

static size_t change_number(uint8_t *bytes, size_t size, size_t most) {
  static const char *const numbers[] = {"0",
                                        "1",
                                        "2",
                                        "3",
                                        "5",
                                        "8",
                                        "-1",
                                        "0.0",
                                        "0.5",
                                        "1e-3",
                                        "1e308",
                                        "1e-320",
                                        "64",
                                        "1000",
                                        "65536",
                                        "2147483647",
                                        "2147483648",
                                        "4294967296",
                                        "9223372036854775807",
                                        "9223372036854775808",
                                        "1e999"};
  const char *number = numbers[draw(sizeof numbers / sizeof *numbers)];
  size_t at = draw(size);
  while (at < size && !(bytes[at] >= '0' && bytes[at] <= '9')) at++;
  if (at == size) return size;
  size_t end = at;
  while (end < size && bytes[end] >= '0' && bytes[end] <= '9') end++;
  return replace(bytes, size, most, (Piece){at, end - at}, number, strlen(number));
}

static size_t mutate(uint8_t *bytes, size_t size, size_t most) {
  Piece line = pick_line(bytes, size), word = pick_word(bytes, size);
  Piece before = pick_line(bytes, size);
  before.size = 0;
  switch (draw(6)) {
  case 0: return replace(bytes, size, most, line, "", 0);
  case 1: return copy_piece(bytes, size, most, line, before);
  case 2: return replace(bytes, size, most, word, "", 0);
  case 3: return change_number(bytes, size, most);
  default: return copy_piece(bytes, size, most, word, pick_word(bytes, size));
  }
}

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t size, size_t most, unsigned int seed) {
  state = seed;
  draw(1);
  if (size == 0 || draw(2)) return LLVMFuzzerMutate(bytes, size, most);
  for (size_t count = 1 + draw(3); count > 0 && size > 0; count--) size = mutate(bytes, size, most);
  return size;
}
