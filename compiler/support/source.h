/* Source files and places in them. */
#ifndef NNC_SUPPORT_SOURCE_H
#define NNC_SUPPORT_SOURCE_H

#include "support/arena.h"

typedef struct SourceFile {
  const char *name; /* as the user wrote it; "<prelude>/layers.net" for the library */
  const char *text; /* all of it, NUL-terminated; NULL when only the name is known (a read dump) */
  size_t length;
  int is_prelude;
} SourceFile;

/* Columns count Unicode code points from 1; lines count from 1; line 0 means "no place".
 * The end is exclusive: the column after the last character. */
typedef struct Span {
  const SourceFile *file;
  int line, column;
  int end_line, end_column;
} Span;

/* Reads a file ("-" is standard input).  On failure returns NULL and sets *reason to a phrase such
 * as "No such file or directory" or "is a directory". */
SourceFile *source_read(Arena *arena, const char *path, const char **reason);
/* A byte order mark at the beginning is left out, here and there. */
SourceFile *source_from_text(Arena *arena, const char *name, const char *text, size_t length);
/* The text of line `line` without its newline. */
const char *source_line(const SourceFile *file, int line, size_t *length);
/* Bytes of the character at `at` < `end`: 1 to 4, or 1 for a byte that is not UTF-8.  What this
 * returns is what a column counts. */
size_t source_char_length(const char *at, const char *end);
/* From the beginning of `first` to the end of `last`. */
Span span_join(Span first, Span last);

#endif
