/* Messages on stderr.  The progress line is the only state: while one stands on a terminal, any
 * other message first clears it, so that lines never run into each other. */
#include "os/message.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "os/printable.h"

static const char *program = "train";
static bool is_quiet;
static bool line_is_open;

void nnc_message_program(const char *argv0) {
  const char *slash = strrchr(argv0, '/');
  program = nnc_printable(slash ? slash + 1 : argv0);
}

void nnc_message_quiet(bool quiet) { is_quiet = quiet; }
bool nnc_message_is_quiet(void) { return is_quiet; }

static void say(const char *kind, const char *format, va_list arguments) {
  fflush(stdout);
  if (line_is_open) fputs("\r\033[K", stderr);
  line_is_open = false;
  fprintf(stderr, "%s: %s", program, kind);
  char *text = NULL;
  int length = vasprintf(&text, format, arguments);
  if (length >= 0) nnc_put_printable(stderr, text, (size_t)length);
  else fputs("a message that no memory was left for", stderr);
  if (length >= 0) free(text);
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

int nnc_progress_columns(void) {
  enum { USUAL = 80 };
  struct winsize size;
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  const char *told = getenv("COLUMNS");
  int columns = told ? atoi(told) : 0;
  return columns > 0 ? columns : USUAL;
}

/* Places of a character: two for East Asian wide ones, which begin at U+1100 for the most part. */
static int character_width(const char *at, int length) {
  return length > 0 && nnc_utf8_decode(at, length) >= 0x1100 ? 2 : 1;
}

int nnc_progress_width(const char *line) {
  const char *end = line + strlen(line);
  int width = 0;
  while (line < end) {
    int length = nnc_utf8_length(line, end);
    width += character_width(line, length);
    line += length > 0 ? length : 1;
  }
  return width;
}

/* Bytes of the line that fit into so many columns. */
static size_t fitting_bytes(const char *line, int columns) {
  const char *at = line, *end = line + strlen(line);
  while (at < end) {
    int length = nnc_utf8_length(at, end);
    columns -= character_width(at, length);
    if (columns < 0) break;
    at += length > 0 ? length : 1;
  }
  return (size_t)(at - line);
}

static void put_line(const char *line, size_t length) {
  if (nnc_progress_is_live()) fputs("\r\033[K", stderr);
  nnc_put_printable(stderr, line, length);
}

/* In the last column some terminals have already gone on to the next row: it stays free. */
void nnc_progress_show(const char *line) {
  if (is_quiet) return;
  bool is_live = nnc_progress_is_live();
  put_line(line, is_live ? fitting_bytes(line, nnc_progress_columns() - 1) : strlen(line));
  if (!is_live) fputc('\n', stderr);
  else fflush(stderr);
  line_is_open = is_live;
}

void nnc_progress_report(const char *line) {
  if (is_quiet) return;
  put_line(line, strlen(line));
  fputc('\n', stderr);
  line_is_open = false;
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
