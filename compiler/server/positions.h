/* Places in a document as the protocol counts them, and as the compiler does.
 *
 * The protocol counts lines from 0, ends them at "\n", "\r\n" and "\r", and counts the units of an encoding
 * that client and server agree on. The compiler counts lines and characters from 1 and knows "\n" alone. Both meet
 * in byte offsets. */
#ifndef NNC_SERVER_POSITIONS_H
#define NNC_SERVER_POSITIONS_H

#include "support/source.h"
#include "support/vec.h"

typedef enum Encoding { ENCODING_UTF16, ENCODING_UTF8, ENCODING_UTF32, ENCODING_COUNT } Encoding;

extern const char *const encoding_names[ENCODING_COUNT]; /* "utf-16" */

typedef struct Place {
  int line, character;
} Place;

/* From the first to the place after the last. */
typedef struct Range {
  Place from, to;
} Range;

typedef struct Lines {
  const char *text;
  size_t length;
  Encoding encoding;
  VEC(size_t) starts;        /* of the protocol's lines */
  VEC(size_t) source_starts; /* of the compiler's */
} Lines;

/* `text` must outlive the result. */
Lines *lines_create(Arena *arena, Encoding encoding, const char *text, size_t length);
/* What lies outside is moved to the nearest place in the text. */
size_t lines_offset(const Lines *lines, Place place);
Place lines_place(const Lines *lines, size_t offset);
/* The offset of a line and column of a Span. */
size_t lines_source_offset(const Lines *lines, int line, int column);
Range lines_range(const Lines *lines, Span span);

#endif
