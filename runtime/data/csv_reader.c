/* Records of a text table (RFC 4180; lines may end in LF, CR LF or CR; a byte order mark is
 * skipped).
 *
 * The text passes through one buffer.  A record is split in place; when the buffer ends inside it,
 * the record moves to the front, more text is read after it, and it is split again.  The buffer
 * doubles when a record fills it.  Doubled quotes are undone last, when the record is known to be
 * whole. */

#include "data/csv_reader.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/call.h"
#include "data/file.h"
#include "data/open.h"
#include "os/assert.h"
#include "os/buffer.h"

enum {
  FIRST_BUFFER = NNC_BUFFER(1 << 17, 1),
  LARGEST_BUFFER = 1 << 28,
  FIRST_CELLS = NNC_BUFFER(32, 1)
};

int csv_fail(const CsvReader *reader, int64_t line, int64_t column, const char *format, ...) {
  char text[NNC_MESSAGE];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  return data_fail(reader->context, "%s:%lld:%lld: %s", data_file_name(reader->file),
                   (long long)line, (long long)column, text);
}

CsvHint csv_hint_separator(const CsvReader *reader, char found) {
  CsvHint hint = {""};
  if (found == 0 || found == reader->separator || !strchr(",;\t|", found)) return hint;
  const char *one = found == '\t' ? "\\t" : (const char[]){found, 0};
  snprintf(hint.text, sizeof hint.text, "; is '%s' the separator? (separator = \"%s\" in %s)", one,
           one, reader->context->call->function);
  return hint;
}

/* Moves the unread text to the front and reads after it. */
static int refill(CsvReader *reader) {
  int64_t kept = reader->end - reader->start;
  NNC_ASSERT(kept >= 0 && reader->end <= reader->capacity && !reader->at_end);
  memmove(reader->buffer, reader->buffer + reader->start, (size_t)kept);
  reader->start = 0;
  reader->end = kept;
  if (kept == reader->capacity) {
    if (reader->capacity >= LARGEST_BUFFER)
      return csv_fail(reader, reader->line, 1,
                      "a record of more than %d bytes; is a quote not closed?", LARGEST_BUFFER);
    char *grown = realloc(reader->buffer, (size_t)reader->capacity * 2);
    if (!grown)
      return data_fail_memory(reader->context, data_file_name(reader->file), reader->capacity * 2);
    reader->buffer = grown;
    reader->capacity *= 2;
  }
  char *free_space = reader->buffer + kept;
  int64_t got = data_file_read(reader->context, reader->file, free_space, reader->capacity - kept);
  if (got < 0) return -1;
  if (memchr(free_space, 0, (size_t)got))
    return data_fail(reader->context, "%s: has a zero byte; a csv file is text in UTF-8 or ASCII",
                     data_file_name(reader->file));
  reader->end += got;
  reader->at_end = reader->end < reader->capacity;
  return 0;
}

enum { BYTE_ORDER_MARK = 3 }; /* its bytes, which some programs put at the front */

int csv_reader_open(CsvReader *reader, const DataContext *context, DataFile *file, char separator) {
  *reader = (CsvReader){.context = context, .file = file, .separator = separator, .line = 1};
  const nnc_data_part *part = data_file_part(file);
  if (part && part->head_lines == 0) reader->line = part->line;
  reader->capacity = FIRST_BUFFER;
  reader->buffer = malloc(FIRST_BUFFER);
  if (!reader->buffer) return data_fail_memory(context, data_file_name(file), FIRST_BUFFER);
  do {
    if (refill(reader) < 0) return -1;
  } while (reader->end < BYTE_ORDER_MARK && !reader->at_end);
  if (reader->end >= BYTE_ORDER_MARK &&
      memcmp(reader->buffer, "\xef\xbb\xbf", BYTE_ORDER_MARK) == 0)
    reader->start = BYTE_ORDER_MARK;
  return 0;
}

static CsvCell *add_cell(CsvReader *reader) {
  if (reader->count == reader->cell_capacity) {
    int64_t capacity = reader->cell_capacity ? reader->cell_capacity * 2 : FIRST_CELLS;
    CsvCell *cells = realloc(reader->cells, (size_t)capacity * sizeof *cells);
    if (!cells) return NULL;
    reader->cells = cells;
    reader->cell_capacity = capacity;
  }
  reader->cells[reader->count] = (CsvCell){0};
  return &reader->cells[reader->count++];
}

/* A place in the text while a record is split. */
typedef struct Cursor {
  int64_t at;
  int64_t line, line_start; /* line_start: where column 1 is */
} Cursor;

enum { NEEDS_MORE = -2 };

static bool is_blank(const CsvReader *reader, char c) {
  return (c == ' ' || c == '\t') && c != reader->separator;
}

/* From after the opening quote to after the closing one; 0, NEEDS_MORE or -1. */
static int split_quoted(CsvReader *reader, CsvCell *cell, Cursor *cursor) {
  const char *text = reader->buffer;
  cell->is_quoted = true;
  cell->start = ++cursor->at;
  for (;; cursor->at++) {
    if (cursor->at == reader->end) {
      if (!reader->at_end) return NEEDS_MORE;
      return csv_fail(reader, cell->line, cell->column, "this quote is never closed");
    }
    if (text[cursor->at] == '\n') {
      cursor->line++;
      cursor->line_start = cursor->at + 1;
    }
    if (text[cursor->at] != '"') continue;
    if (cursor->at + 1 == reader->end && !reader->at_end) return NEEDS_MORE;
    if (cursor->at + 1 == reader->end || text[cursor->at + 1] != '"') break;
    cell->has_escapes = true;
    cursor->at++;
  }
  cell->length = cursor->at++ - cell->start;
  while (cursor->at < reader->end && is_blank(reader, text[cursor->at])) cursor->at++;
  if (cursor->at == reader->end) return reader->at_end ? 0 : NEEDS_MORE;
  char next = text[cursor->at];
  if (next == reader->separator || next == '\n' || next == '\r') return 0;
  return csv_fail(reader, cursor->line, cursor->at - cursor->line_start + 1,
                  "expected '%c' or the end of the line after the closing quote, found '%c'%s",
                  reader->separator, next, csv_hint_separator(reader, next).text);
}

static int split_plain(CsvReader *reader, CsvCell *cell, Cursor *cursor) {
  const char *text = reader->buffer;
  char separator = reader->separator;
  int64_t at = cursor->at, end = reader->end;
  while (at < end && text[at] != separator && text[at] != '\n' && text[at] != '\r') at++;
  if (at == end && !reader->at_end) return NEEDS_MORE;
  int64_t last = at;
  while (last > cursor->at && is_blank(reader, text[last - 1])) last--;
  cell->start = cursor->at;
  cell->length = last - cursor->at;
  cursor->at = at;
  return 0;
}

/* Splits one record at the buffer's start: 1 and the cursor after its line end, NEEDS_MORE or -1.
 */
static int split_record(CsvReader *reader, Cursor *cursor) {
  const char *text = reader->buffer;
  reader->count = 0;
  for (;;) {
    CsvCell *cell = add_cell(reader);
    if (!cell)
      return data_fail_memory(reader->context, data_file_name(reader->file),
                              reader->count * (int64_t)sizeof *cell);
    while (cursor->at < reader->end && is_blank(reader, text[cursor->at])) cursor->at++;
    if (cursor->at == reader->end && !reader->at_end) return NEEDS_MORE;
    cell->line = cursor->line;
    cell->column = cursor->at - cursor->line_start + 1;
    bool is_quoted = cursor->at < reader->end && text[cursor->at] == '"';
    int result = (is_quoted ? split_quoted : split_plain)(reader, cell, cursor);
    if (result != 0) return result;
    if (cursor->at == reader->end) return 1;
    char ending = text[cursor->at];
    if (ending == '\r' && cursor->at + 1 == reader->end && !reader->at_end) return NEEDS_MORE;
    cursor->at++;
    if (ending == reader->separator) continue;
    if (ending == '\r' && cursor->at < reader->end && text[cursor->at] == '\n') cursor->at++;
    cursor->line++;
    return 1;
  }
}

static void undo_doubled_quotes(CsvReader *reader, CsvCell *cell) {
  char *text = reader->buffer + cell->start;
  int64_t length = 0;
  for (int64_t i = 0; i < cell->length; i++) {
    text[length++] = text[i];
    if (text[i] == '"') i++;
  }
  cell->length = length;
}

int csv_reader_next(CsvReader *reader) {
  for (;;) {
    if (reader->start == reader->end && reader->at_end) return 0;
    Cursor cursor = {reader->start, reader->line, reader->start};
    int result = split_record(reader, &cursor);
    if (result == NEEDS_MORE) {
      if (refill(reader) < 0) return -1;
      continue;
    }
    if (result < 0) return -1;
    NNC_ASSERT(cursor.at > reader->start && cursor.at <= reader->end && reader->count > 0);
    reader->start = cursor.at;
    reader->line = cursor.line;
    const nnc_data_part *part = data_file_part(reader->file);
    if (part && part->head_lines > 0 && cursor.line == part->head_lines + 1)
      reader->line = part->line;
    bool is_empty =
        reader->count == 1 && !reader->cells[0].is_quoted && reader->cells[0].length == 0;
    if (is_empty) continue;
    for (int64_t i = 0; i < reader->count; i++)
      if (reader->cells[i].has_escapes) undo_doubled_quotes(reader, &reader->cells[i]);
    return 1;
  }
}

void csv_reader_close(CsvReader *reader) {
  free(reader->buffer);
  free(reader->cells);
  reader->buffer = NULL;
  reader->cells = NULL;
}
