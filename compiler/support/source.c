/* Reading source files, and places in them. */
#include "support/source.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "support/files.h"

enum { LARGEST_FILE = 1 << 30 }; /* whatever a dump may need; /dev/zero ends here */

/* NULL, or why the file cannot be read. */
static const char *read_all(int fd, Text *content) {
  if (file_read_rest(fd, content, LARGEST_FILE)) return NULL;
  if (errno == EFBIG) return "is larger than 1 GiB";
  return errno == EISDIR ? "is a directory" : strerror(errno);
}

SourceFile *source_read(Arena *arena, const char *path, const char **reason) {
  int is_stdin = !strcmp(path, "-");
  int fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) {
    *reason = arena_strdup(arena, strerror(errno));
    return NULL;
  }
  Text content = {0};
  SourceFile *file = NULL;
  const char *failure = read_all(fd, &content);
  if (failure) *reason = arena_strdup(arena, failure);
  else file = source_from_text(arena, is_stdin ? "<stdin>" : path, content.data, content.length);
  text_free(&content);
  if (!is_stdin) close(fd); /* only read from: nothing can be lost */
  return file;
}

SourceFile *source_from_text(Arena *arena, const char *name, const char *text, size_t length) {
  static const char byte_order_mark[] = "\xef\xbb\xbf";
  if (length >= 3 && !memcmp(text, byte_order_mark, 3)) text += 3, length -= 3;
  SourceFile *file = ARENA_NEW(arena, SourceFile);
  file->name = arena_strdup(arena, name);
  file->text = arena_strndup(arena, text, length);
  file->length = length;
  return file;
}

const char *source_line(const SourceFile *file, int line, size_t *length) {
  *length = 0;
  if (!file->text || line < 1) return "";
  const char *at = file->text, *end = file->text + file->length;
  for (int i = 1; i < line; i++) {
    const char *newline = memchr(at, '\n', (size_t)(end - at));
    if (!newline) return "";
    at = newline + 1;
  }
  const char *newline = memchr(at, '\n', (size_t)(end - at));
  *length = (size_t)((newline ? newline : end) - at);
  if (*length && at[*length - 1] == '\r') --*length;
  return at;
}

/* Overlong forms, surrogates and what is above U+10FFFF are told by the second byte (RFC 3629). */
static bool is_second_byte(unsigned char first, unsigned char second) {
  unsigned char least = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
  unsigned char most = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
  return second >= least && second <= most;
}

size_t source_char_length(const char *at, const char *end) {
  unsigned char first = (unsigned char)*at;
  size_t length = first < 0x80   ? 1
                  : first < 0xc2 ? 0
                  : first < 0xe0 ? 2
                  : first < 0xf0 ? 3
                  : first < 0xf5 ? 4
                                 : 0;
  if (length < 2 || (size_t)(end - at) < length) return 1;
  if (!is_second_byte(first, (unsigned char)at[1])) return 1;
  for (size_t i = 2; i < length; i++)
    if (((unsigned char)at[i] & 0xc0) != 0x80) return 1;
  return length;
}

Span span_join(Span first, Span last) {
  if (!first.line) return last;
  if (!last.line || first.file != last.file) return first;
  first.end_line = last.end_line;
  first.end_column = last.end_column;
  return first;
}
