/* The formatter of `nnc fmt`. */
#ifndef NNC_SYNTAX_FORMAT_H
#define NNC_SYNTAX_FORMAT_H

#include "support/diagnostics.h"

enum { FORMAT_COLUMNS = 100 };

/* The file in its canonical form, or NULL after a syntax error, which is recorded.
 *
 * Only blanks, line breaks and idle separators change, so the result parses to the same tree, and
 * formatting it again changes nothing.  Comments stay; line breaks inside lists, calls and long
 * expressions stay where the user put them, with canonical indentation; lines that are too long
 * are broken; columns that the user aligned in neighbouring lines stay aligned, and so do the
 * '=' of neighbouring declarations and of neighbouring entries of a block. */
char *format_program(Arena *arena, Diagnostics *diagnostics, const SourceFile *file);

#endif
