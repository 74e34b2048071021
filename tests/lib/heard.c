/* What is printed to standard error: see heard.h. */
#include "lib/heard.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "support/files.h"

static int kept = -1;
static char path[4096];
static const char *heard = "";

void heard_begin(const char *folder) {
  assert_int_equal(kept, -1);
  snprintf(path, sizeof path, "%s/heard", folder);
  int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);
  fflush(stderr);
  kept = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
  assert_true(file >= 0 && kept >= 0 && dup2(file, STDERR_FILENO) >= 0);
  close(file);
}

const char *heard_end(Arena *arena) {
  Text text = {0};
  fflush(stderr);
  assert_true(dup2(kept, STDERR_FILENO) >= 0);
  close(kept);
  kept = -1;
  assert_true(file_read(path, &text));
  return heard = text.data ? text_take(&text, arena) : "";
}

const char *heard_text(void) { return heard; }

void heard_assert(const char *part) {
  if (strstr(heard, part) == NULL) fail_msg("no '%s' in what was said:\n%s", part, heard);
}

static int remove_one(const char *name, const struct stat *status, int kind, struct FTW *place) {
  return remove(name);
}

void heard_remove(const char *folder) { nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS); }
