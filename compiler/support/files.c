/* Files as wholes: see files.h. */
#include "support/files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

bool file_read_rest(int file, Text *text, size_t most) {
  char piece[32768];
  for (ssize_t got; (got = read(file, piece, sizeof piece)) != 0;) {
    if (got < 0 && errno == EINTR) continue;
    if (got > 0 && text->length + (size_t)got > most) errno = EFBIG, got = -1;
    if (got < 0) return false;
    text_add_bytes(text, piece, (size_t)got);
  }
  return true;
}

bool file_read(const char *path, Text *text) {
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  bool good = file_read_rest(file, text, SIZE_MAX);
  int error = errno;
  close(file);
  errno = error;
  return good;
}

static bool write_all(int file, const char *bytes, size_t count) {
  for (ssize_t put; count > 0; bytes += put, count -= (size_t)put) {
    put = write(file, bytes, count);
    if (put < 0 && errno != EINTR) return false;
    if (put < 0) put = 0;
  }
  return true;
}

bool file_write(const char *path, unsigned mode, const char *bytes, size_t count) {
  int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
  if (file < 0) return false;
  bool good = write_all(file, bytes, count);
  int error = errno;
  if (close(file) != 0 && good) return false;
  errno = error;
  return good;
}

bool file_replace(Arena *arena, const char *path, unsigned mode, const char *bytes, size_t count) {
  char *name = arena_printf(arena, "%s.XXXXXX", path);
  int file = mkostemp(name, O_CLOEXEC);
  if (file < 0) return false;
  bool good = write_all(file, bytes, count) && fchmod(file, mode) == 0;
  int error = errno;
  if (close(file) != 0 && good) {
    error = errno;
    good = false;
  }
  if (good && rename(name, path) != 0) {
    error = errno;
    good = false;
  }
  if (!good) unlink(name);
  errno = error;
  return good;
}

const char *path_for_program(Arena *arena, const char *path) {
  return *path == '-' || *path == '@' ? arena_printf(arena, "./%s", path) : path;
}

/* Without /proc the kernel's note of the name that was run says it. */
const char *path_of_program(Arena *arena) {
  char path[PATH_MAX];
  const char *name = (const char *)getauxval(AT_EXECFN);
  ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
  bool found = length > 0 && length < (ssize_t)sizeof path - 1;
  if (found) path[length] = 0;
  else found = name != NULL && realpath(name, path) != NULL;
  return found ? arena_strdup(arena, path) : NULL;
}

bool file_begins_executable(const char *bytes, size_t count) {
  static const char mark[] = {0x7f, 'E', 'L', 'F'};
  return count >= sizeof mark && memcmp(bytes, mark, sizeof mark) == 0;
}
