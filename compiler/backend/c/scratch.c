/* Temporary files: see scratch.h. */
#include "backend/c/scratch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "backend/c/process.h"
#include "support/panic.h"

/* ---- the folder ---- */

enum { MOST_FILES = 16384 };

struct Scratch {
  Arena *arena;
  const char *path;
  const char *files[MOST_FILES];
  int count;
};

/* What a signal removes. Only calls that a handler may make are made there. */
static Scratch *volatile live;

static void remove_files(const Scratch *scratch) {
  for (int i = 0; i < scratch->count; i++) unlink(scratch->files[i]); /* some were never made */
  rmdir(scratch->path);
}

static void on_signal(int number) {
  jobs_stop(); /* they would still write */
  if (live != NULL) remove_files(live);
  raise(number); /* SA_RESETHAND: the default action */
}

static void catch_signals(void) {
  static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
    struct sigaction old, action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};
    sigemptyset(&action.sa_mask);
    bool known = sigaction(numbers[i], NULL, &old) == 0;
    if (known && old.sa_handler == SIG_IGN) continue; /* as nohup wants it */
    if (!known || sigaction(numbers[i], &action, NULL) != 0)
      panic("sigaction of signal %d: %s", numbers[i], strerror(errno));
  }
}

Scratch *scratch_create(Arena *arena) {
  const char *parent = getenv("TMPDIR");
  Scratch *scratch = ARENA_NEW(arena, Scratch);
  char *path = arena_printf(arena, "%s/nnc-XXXXXX", parent && *parent ? parent : "/tmp");
  scratch->arena = arena;
  scratch->path = path;
  if (mkdtemp(path) == NULL) {
    fprintf(stderr, "nnc: error: cannot make the temporary folder %s: %s\n", path, strerror(errno));
    return NULL;
  }
  live = scratch;
  catch_signals();
  return scratch;
}

const char *scratch_file(Scratch *scratch, const char *name) {
  CHECK(scratch->count < MOST_FILES);
  const char *path = arena_printf(scratch->arena, "%s/%s", scratch->path, name);
  scratch->files[scratch->count++] = path;
  return path;
}

void scratch_remove(Scratch *scratch) {
  remove_files(scratch);
  live = NULL;
}

/* ---- files ---- */

bool file_read(const char *path, Text *text) {
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  char piece[32768];
  ssize_t got;
  while ((got = read(file, piece, sizeof piece)) != 0) {
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) break;
    text_add_bytes(text, piece, (size_t)got);
  }
  int error = errno;
  close(file);
  errno = error;
  return got == 0;
}

static bool write_all(int file, const char *bytes, size_t count) {
  for (ssize_t put; count > 0; bytes += put, count -= (size_t)put) {
    put = write(file, bytes, count);
    if (put < 0 && errno != EINTR) return false;
    if (put < 0) put = 0;
  }
  return true;
}

bool file_write(const char *path, const char *bytes, size_t count) {
  int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
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
