/* Places in a document: see positions.h. */
#include "server/positions.h"

#include <stdbool.h>
#include <string.h>

const char *const encoding_names[ENCODING_COUNT] = {
    [ENCODING_UTF16] = "utf-16", [ENCODING_UTF8] = "utf-8", [ENCODING_UTF32] = "utf-32"};

Lines *lines_create(Arena *arena, Encoding encoding, const char *text, size_t length) {
  Lines *lines = ARENA_NEW(arena, Lines);
  *lines = (Lines){.text = text, .length = length, .encoding = encoding};
  bool has_mark = length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0; /* left out of sources */
  vec_push(arena, &lines->starts, (size_t)0);
  vec_push(arena, &lines->source_starts, (size_t)(has_mark ? 3 : 0));
  for (size_t i = 0; i < length; i++) {
    bool ends = text[i] == '\n' || (text[i] == '\r' && (i + 1 == length || text[i + 1] != '\n'));
    if (ends) vec_push(arena, &lines->starts, i + 1);
    if (text[i] == '\n') vec_push(arena, &lines->source_starts, i + 1);
  }
  return lines;
}

/* Where the line ends, without the mark of its end. */
static size_t end_of_line(const Lines *lines, int line) {
  if (line + 1 == lines->starts.count) return lines->length;
  size_t end = lines->starts.items[line + 1] - 1;
  bool is_pair =
      lines->text[end] == '\n' && end > lines->starts.items[line] && lines->text[end - 1] == '\r';
  return is_pair ? end - 1 : end;
}

/* How many units of the encoding the character of `bytes` bytes has. */
static int units(const Lines *lines, size_t bytes) {
  if (lines->encoding == ENCODING_UTF8) return (int)bytes;
  return lines->encoding == ENCODING_UTF16 && bytes == 4 ? 2 : 1;
}

size_t lines_offset(const Lines *lines, Place place) {
  if (place.line < 0) return 0;
  if (place.line >= lines->starts.count) return lines->length;
  size_t at = lines->starts.items[place.line], end = end_of_line(lines, place.line);
  for (int left = place.character; left > 0 && at < end;) {
    size_t bytes = source_char_length(lines->text + at, lines->text + end);
    left -= units(lines, bytes);
    at += bytes;
  }
  return at;
}

/* The number of the last line that begins at or before the offset. */
static int find_line(const Lines *lines, size_t offset) {
  int low = 0, high = lines->starts.count - 1;
  while (low < high) {
    int middle = (low + high + 1) / 2;
    if (lines->starts.items[middle] <= offset) low = middle;
    else high = middle - 1;
  }
  return low;
}

Place lines_place(const Lines *lines, size_t offset) {
  if (offset > lines->length) offset = lines->length;
  Place place = {.line = find_line(lines, offset)};
  const char *end = lines->text + lines->length;
  for (size_t at = lines->starts.items[place.line]; at < offset;) {
    size_t bytes = source_char_length(lines->text + at, end);
    place.character += units(lines, bytes);
    at += bytes;
  }
  return place;
}

size_t lines_source_offset(const Lines *lines, int line, int column) {
  if (line < 1) return 0;
  if (line > lines->source_starts.count) return lines->length;
  size_t at = lines->source_starts.items[line - 1];
  const char *end = lines->text + lines->length;
  for (int i = 1; i < column && at < lines->length && lines->text[at] != '\n'; i++)
    at += source_char_length(lines->text + at, end);
  return at;
}

Range lines_range(const Lines *lines, Span span) {
  size_t from = lines_source_offset(lines, span.line, span.column);
  size_t to = lines_source_offset(lines, span.end_line, span.end_column);
  return (Range){lines_place(lines, from), lines_place(lines, to > from ? to : from)};
}
