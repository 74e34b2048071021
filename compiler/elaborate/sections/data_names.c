/* Whether names of files, as sources have them, stand for files in common: as far as the program tells, since files are
 * looked at when it runs. A name may be a pattern (runtime/data/match.c) or hold a range (runtime/data/patterns.c). A
 * pattern that no file matches is an error, so what one pattern has of another is there. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "elaborate/sections/data.h"

/* ---- patterns ----------------------------------------------------------------------------- */

static bool is_wild(char c) { return c == '*' || c == '?'; }

static bool is_inner(char c) { return ((unsigned char)c & 0xc0) == 0x80; /* of UTF-8 */ }

/* Whether each name that one part of a path fits (`inner`) fits the other. A star of the other takes any characters, and
 * alone takes a star; that the last star takes more is all that need be tried again. */
static bool part_holds(const char *outer, size_t outer_length, const char *inner, size_t length) {
  const char *outer_end = outer + outer_length, *end = inner + length, *star = NULL, *resume = NULL;
  while (inner < end) {
    if (outer < outer_end && *outer == '*') {
      star = ++outer;
      resume = inner;
    } else if (outer < outer_end && *inner != '*' && (*outer == '?' || *outer == *inner)) {
      bool is_any = *outer++ == '?';
      do inner++;
      while (is_any && inner < end && is_inner(*inner));
    } else if (star) {
      outer = star;
      inner = ++resume;
    } else {
      return false;
    }
  }
  while (outer < outer_end && *outer == '*') outer++;
  return outer == outer_end;
}

/* What is left of a path, but for what changes nothing: "./" and slashes in a row. */
static const char *skip_nothing(const char *path) {
  while (*path == '/' || (path[0] == '.' && (path[1] == '/' || !path[1]))) path++;
  return path;
}

static bool is_deep(const char *part) {
  return strncmp(part, "**", 2) == 0 && (!part[2] || part[2] == '/');
}

/* Wild characters take no dot in front. */
static bool folder_holds(const char *outer, const char *inner) {
  if (is_deep(inner) || (*inner == '.' && is_wild(*outer))) return false;
  return part_holds(outer, strcspn(outer, "/"), inner, strcspn(inner, "/"));
}

/* The same of whole paths, folder by folder; `**` takes any folders, also none. */
static bool path_holds(const char *outer, const char *inner) {
  const char *deep = NULL, *resume = NULL;
  outer = skip_nothing(outer);
  inner = skip_nothing(inner);
  while (*inner) {
    bool is_any = is_deep(outer), fits = *outer && !is_any && folder_holds(outer, inner);
    if (is_any || fits) outer = skip_nothing(outer + strcspn(outer, "/"));
    if (is_any) {
      deep = outer;
      resume = inner;
    } else if (fits) {
      inner = skip_nothing(inner + strcspn(inner, "/"));
    } else if (deep && *resume != '.') {
      outer = deep;
      inner = resume = skip_nothing(resume + strcspn(resume, "/"));
    } else {
      return false;
    }
  }
  return !*outer;
}

static bool is_absolute(const char *path) { return path[0] == '/'; }

static bool holds(const char *outer, const char *inner) {
  return is_absolute(outer) == is_absolute(inner) && path_holds(outer, inner);
}

/* ---- ranges ------------------------------------------------------------------------------- */

/* "train-{000..127}.tar" */
typedef struct Range {
  const char *text;
  int before, digits; /* in front of the brace; of the first number */
  long first, last;
  const char *after;
} Range;

/* False where there is no range, or none that can be read: the runtime says so. */
static bool read_range(const char *text, Range *range) {
  const char *brace = strchr(text, '{');
  int digits = 0, length = 0;
  if (!brace ||
      sscanf(brace, "{%9ld%n..%9ld}%n", &range->first, &digits, &range->last, &length) < 2)
    return false;
  range->text = text;
  range->before = (int)(brace - text);
  range->digits = digits - 1;
  range->after = brace + length;
  return length > 0 && range->first >= 0 && range->first <= range->last;
}

static const char *range_name(Arena *arena, const Range *range, long number) {
  return arena_printf(arena, "%.*s%0*ld%s", range->before, range->text, range->digits, number,
                      range->after);
}

static bool same_frame(const Range *a, const Range *b) {
  return a->before == b->before && a->digits == b->digits && !strcmp(a->after, b->after) &&
         !strncmp(a->text, b->text, (size_t)a->before);
}

/* A name of the range that the other stands for; NULL. */
static const char *range_shares(Arena *arena, const Range *range, const char *other) {
  enum { MOST = 4096 }; /* names that are looked at */
  Range its;
  if (read_range(other, &its)) {
    long first = range->first > its.first ? range->first : its.first;
    bool meets = first <= range->last && first <= its.last && same_frame(range, &its);
    return meets ? range_name(arena, range, first) : NULL;
  }
  for (long n = range->first; n <= range->last && n - range->first < MOST; n++) {
    const char *name = range_name(arena, range, n);
    if (holds(other, name) || holds(name, other)) return name;
  }
  return NULL;
}

/* ---- names -------------------------------------------------------------------------------- */

bool data_same_name(const char *a, const char *b) { return holds(a, b) && holds(b, a); }

const char *data_shared_name(Arena *arena, const char *a, const char *b, bool has_ranges) {
  Range range;
  if (has_ranges && read_range(a, &range)) return range_shares(arena, &range, b);
  if (has_ranges && read_range(b, &range)) return range_shares(arena, &range, a);
  return holds(a, b) ? b : holds(b, a) ? a : NULL;
}
