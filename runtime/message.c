/* Messages on stderr.  The progress line is the only state: while one stands on a terminal, any
 * other message first clears it, so that lines never run into each other. */
#include "message.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *program = "train";
static bool is_quiet;
static bool line_is_open;

void nnc_message_program(const char *argv0) {
  const char *slash = strrchr(argv0, '/');
  program = slash ? slash + 1 : argv0;
}

void nnc_message_quiet(bool quiet) { is_quiet = quiet; }
bool nnc_message_is_quiet(void) { return is_quiet; }

static void say(const char *kind, const char *format, va_list arguments) {
  fflush(stdout);
  if (line_is_open) fputs("\r\033[K", stderr);
  line_is_open = false;
  fprintf(stderr, "%s: %s", program, kind);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
}

void nnc_error(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  say("error: ", format, arguments);
  va_end(arguments);
}

void nnc_warning(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  say("warning: ", format, arguments);
  va_end(arguments);
}

void nnc_note(const char *format, ...) {
  if (is_quiet) return;
  va_list arguments;
  va_start(arguments, format);
  say("", format, arguments);
  va_end(arguments);
}

void nnc_error_system(const char *doing, const char *what) {
  nnc_error("cannot %s %s: %s", doing, what, strerror(errno));
}

bool nnc_progress_is_live(void) {
  static int live = -1;
  if (live < 0) live = isatty(STDERR_FILENO);
  return live;
}

void nnc_progress_show(const char *line) {
  if (is_quiet) return;
  if (!nnc_progress_is_live()) {
    fprintf(stderr, "%s\n", line);
    return;
  }
  fprintf(stderr, "\r\033[K%s", line);
  fflush(stderr);
  line_is_open = true;
}

void nnc_progress_end(void) {
  if (line_is_open) fputc('\n', stderr);
  line_is_open = false;
}

enum { LONGEST_WORD = 63 };

/* Edit distance: insertions, deletions, replacements and swaps of neighbours cost 1 each. */
static int distance(const char *a, const char *b) {
  int n = (int)strlen(a), m = (int)strlen(b);
  if (n > LONGEST_WORD || m > LONGEST_WORD) return LONGEST_WORD;
  int table[LONGEST_WORD + 1][LONGEST_WORD + 1];
  for (int i = 0; i <= n; i++) table[i][0] = i;
  for (int j = 0; j <= m; j++) table[0][j] = j;
  for (int i = 1; i <= n; i++) {
    for (int j = 1; j <= m; j++) {
      int best = table[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
      if (table[i - 1][j] + 1 < best) best = table[i - 1][j] + 1;
      if (table[i][j - 1] + 1 < best) best = table[i][j - 1] + 1;
      bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped && table[i - 2][j - 2] + 1 < best) best = table[i - 2][j - 2] + 1;
      table[i][j] = best;
    }
  }
  return table[n][m];
}

const char *nnc_nearest(const char *word, int count, const char *const *candidates) {
  int least = (int)strlen(word) / 3 + 2;
  const char *nearest = NULL;
  for (int i = 0; i < count; i++) {
    int d = distance(word, candidates[i]);
    if (d >= least) continue;
    least = d;
    nearest = candidates[i];
  }
  return nearest;
}
