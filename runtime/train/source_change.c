/* The change is what remains between the common first and the common last lines. */
#include "train/source_change.h"

#include <string.h>

#include "os/message.h"

enum { SHOWN = 4 };

typedef struct Lines {
  const char *at, *end;
} Lines;

static const char *line_end(const char *at, const char *end) {
  const char *newline = memchr(at, '\n', (size_t)(end - at));
  return newline ? newline + 1 : end;
}

static const char *line_start(const char *start, const char *end) {
  const char *at = end - 1;
  while (at > start && at[-1] != '\n') at--;
  return at;
}

static bool same(const char *a, const char *a_end, const char *b, const char *b_end) {
  return a_end - a == b_end - b && memcmp(a, b, (size_t)(a_end - a)) == 0;
}

/* Narrows both to the lines that differ; the number of common first lines. */
static int skip_common(Lines *a, Lines *b) {
  int count = 0;
  while (a->at < a->end && b->at < b->end) {
    const char *x = line_end(a->at, a->end), *y = line_end(b->at, b->end);
    if (!same(a->at, x, b->at, y)) break;
    a->at = x;
    b->at = y;
    count++;
  }
  while (a->at < a->end && b->at < b->end) {
    const char *x = line_start(a->at, a->end), *y = line_start(b->at, b->end);
    if (!same(x, a->end, y, b->end)) break;
    a->end = x;
    b->end = y;
  }
  return count;
}

static void show(const char *mark, Lines lines) {
  for (int i = 0; i < SHOWN && lines.at < lines.end; i++) {
    const char *next = line_end(lines.at, lines.end);
    int length = (int)(next - lines.at);
    if (length > 0 && next[-1] == '\n') length--;
    nnc_warning("  %s %.*s", mark, length < 200 ? length : 200, lines.at);
    lines.at = next;
  }
  if (lines.at < lines.end) nnc_warning("  %s ...", mark);
}

static void warn_of_lines(const char *path, const char *before, const char *now) {
  Lines a = {before, before + strlen(before)}, b = {now, now + strlen(now)};
  int line = skip_common(&a, &b) + 1;
  if (a.at == a.end && b.at == b.end) return;
  nnc_warning("%s was made by another source; from line %d on (- then, + now):", path, line);
  show("-", a);
  show("+", b);
}

/* NULL: there are none. */
static bool has_other(const char *before, const char *now) {
  return strcmp(before ? before : "", now ? now : "") != 0;
}

void nnc_warn_source_change(const nnc_safetensors *file, const nnc_model *model) {
  const char *source = nnc_safetensors_metadata(file, "source");
  const char *before = nnc_safetensors_metadata(file, "definitions"), *now = model->definitions;
  if (!source) return;
  warn_of_lines(file->path, source, model->source);
  if (has_other(before, now))
    nnc_warning("%s was made by the program compiled with %s; this one has %s", file->path,
                before ? before : "no -D", now ? now : "none");
}

bool nnc_source_differs(const nnc_safetensors *file, const nnc_model *model) {
  const char *source = nnc_safetensors_metadata(file, "source");
  return source && (has_other(source, model->source) ||
                    has_other(nnc_safetensors_metadata(file, "definitions"), model->definitions));
}
