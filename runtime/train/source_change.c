/* The changed lines are those outside of a longest common subsequence of the lines of both texts, which a table of
 * lengths gives, a number for each pair of lines. It is made for what remains between the common first and the common
 * last lines alone; where that is too much, all of it counts as changed. */
#include "train/source_change.h"

#include <stdlib.h>
#include <string.h>

#include "os/message.h"

enum { MOST_SHOWN = 10, MOST_PAIRS = 1 << 22, LONGEST = 200 };

/* Lines of a text, without their ends. */
typedef struct Line {
  const char *at;
  int length;
} Line;

typedef struct Text {
  Line *lines;
  int count;
} Text;

static bool text_open(Text *text, const char *source) {
  int lines = 1;
  for (const char *c = source; *c; c++) lines += *c == '\n';
  *text = (Text){.lines = calloc((size_t)lines, sizeof *text->lines)};
  for (const char *at = source; text->lines && *at;) {
    size_t length = strcspn(at, "\n");
    text->lines[text->count++] = (Line){at, (int)length};
    at += length + (at[length] == '\n');
  }
  return text->lines != NULL;
}

static bool same(const Text *a, int i, const Text *b, int j) {
  const Line *x = &a->lines[i], *y = &b->lines[j];
  return x->length == y->length && memcmp(x->at, y->at, (size_t)x->length) == 0;
}

/* What is compared: lines first.. of both, up to the ends; `lengths` [a_end - first + 1][b_end - first + 1] are those of the
 * longest common subsequences of what begins there, NULL: there is no table. */
typedef struct Change {
  Text a, b;
  int first, a_end, b_end, shown, hidden;
  uint16_t *lengths;
} Change;

static uint16_t *length_at(const Change *change, int i, int j) {
  size_t width = (size_t)(change->b_end - change->first) + 1;
  return &change->lengths[(size_t)(i - change->first) * width + (size_t)(j - change->first)];
}

static void skip_common(Change *change) {
  const Text *a = &change->a, *b = &change->b;
  change->a_end = a->count;
  change->b_end = b->count;
  while (change->first < a->count && change->first < b->count &&
         same(a, change->first, b, change->first))
    change->first++;
  while (change->a_end > change->first && change->b_end > change->first &&
         same(a, change->a_end - 1, b, change->b_end - 1)) {
    change->a_end--;
    change->b_end--;
  }
}

static void fill_lengths(Change *change) {
  int64_t rows = change->a_end - change->first + 1, columns = change->b_end - change->first + 1;
  if (rows > UINT16_MAX || columns > UINT16_MAX || rows * columns > MOST_PAIRS) return;
  change->lengths = calloc((size_t)(rows * columns), sizeof *change->lengths);
  for (int i = change->a_end - 1; change->lengths && i >= change->first; i--) {
    for (int j = change->b_end - 1; j >= change->first; j--) {
      uint16_t down = *length_at(change, i + 1, j), right = *length_at(change, i, j + 1);
      bool is_same = same(&change->a, i, &change->b, j);
      *length_at(change, i, j) = is_same        ? (uint16_t)(*length_at(change, i + 1, j + 1) + 1)
                                 : down > right ? down
                                                : right;
    }
  }
}

static void show(Change *change, char mark, const Text *text, int line) {
  const Line *own = &text->lines[line];
  if (change->shown++ >= MOST_SHOWN) change->hidden++;
  else
    nnc_warning("  %c line %d: %.*s", mark, line + 1, own->length < LONGEST ? own->length : LONGEST,
                own->at);
}

/* Of a changed place the lines that were there come first. */
static void show_changes(Change *change) {
  int i = change->first, j = change->first;
  while (i < change->a_end || j < change->b_end) {
    bool both = change->lengths && i < change->a_end && j < change->b_end;
    if (both && same(&change->a, i, &change->b, j)) {
      i++;
      j++;
      continue;
    }
    bool goes =
        both ? *length_at(change, i + 1, j) >= *length_at(change, i, j + 1) : i < change->a_end;
    if (goes) show(change, '-', &change->a, i++);
    else show(change, '+', &change->b, j++);
  }
}

static void warn_of_lines(const char *path, const char *before, const char *now) {
  Change change = {0};
  if (text_open(&change.a, before) && text_open(&change.b, now)) {
    skip_common(&change);
    bool differs = change.first < change.a_end || change.first < change.b_end;
    fill_lengths(&change);
    if (differs) nnc_warning("%s was made by another source (- then, + now):", path);
    show_changes(&change);
    if (change.hidden > 0) nnc_warning("  ... and %d more lines", change.hidden);
  }
  free(change.a.lines);
  free(change.b.lines);
  free(change.lengths);
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
