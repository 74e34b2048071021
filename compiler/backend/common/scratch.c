/* Temporary files: see scratch.h. */
#include "backend/common/scratch.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "backend/common/process.h"
#include "support/files.h"
#include "support/panic.h"

/* ---- the folder ---- */

enum { MOST_FILES = 16384 };

struct Scratch {
  Scratch *outer; /* that was there before */
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
  process_stop_jobs(); /* they would still write */
  for (const Scratch *scratch = live; scratch != NULL; scratch = scratch->outer)
    remove_files(scratch);
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
  char *path = arena_printf(arena, "%s/nnc-XXXXXX",
                            parent && *parent ? path_for_program(arena, parent) : "/tmp");
  scratch->arena = arena;
  scratch->path = path;
  if (mkdtemp(path) == NULL) {
    fprintf(stderr, "nnc: error: cannot make the temporary folder %s: %s\n", path, strerror(errno));
    return NULL;
  }
  scratch->outer = live;
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
  live = scratch->outer;
}
