/* Emitted C without its comments: see code_runs.h. */
#include "backend/common/code_runs.h"

bool code_runs_next(const char **at, const char *end, CodeRun *run) {
  const char *c = *at;
  char quote = 0; /* what ends the string or character that c is in */
  if (c == end) return false;
  run->data = c;
  for (; c < end; c++) {
    if (quote != 0 && *c == '\\' && c + 1 < end) c++;
    else if (quote != 0) quote = *c == quote ? 0 : quote;
    else if (*c == '"' || *c == '\'') quote = *c;
    else if (*c == '/' && c + 1 < end && c[1] == '*') break;
  }
  run->length = (size_t)(c - run->data);
  for (c += c < end ? 2 : 0; c < end; c++)
    if (c[0] == '*' && c + 1 < end && c[1] == '/') break;
  *at = c < end ? c + 2 : end;
  return true;
}

size_t code_runs_length(const char *text, size_t length) {
  size_t sum = 0;
  CodeRun run;
  for (const char *at = text; code_runs_next(&at, text + length, &run);) sum += run.length;
  return sum;
}

void code_runs_add(Sha256 *hash, const char *text, size_t length, bool has_lines) {
  if (has_lines) {
    sha256_add(hash, text, length);
    return;
  }
  CodeRun run;
  for (const char *at = text; code_runs_next(&at, text + length, &run);) {
    sha256_add(hash, run.data, run.length);
    sha256_add(hash, " ", 1); /* as which a comment counts */
  }
}
