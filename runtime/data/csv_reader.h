/* Records of a text table, one at a time; private to csv*.c. */
#ifndef NNC_DATA_CSV_READER_H
#define NNC_DATA_CSV_READER_H
#include "data/call.h"
#include "data/file.h"

typedef struct CsvCell {
  int64_t start,
      length; /* in the buffer; without quotes and, when not quoted, without blanks around */
  int64_t line, column; /* in the file, from 1; of the first character */
  bool is_quoted, has_escapes;
} CsvCell;

typedef struct CsvReader {
  const DataContext *context;
  DataFile *file;
  char separator;
  char *buffer;
  int64_t capacity, start, end; /* the unread text is buffer[start .. end) */
  bool at_end;                  /* of the file */
  int64_t line;                 /* of buffer[start] */
  CsvCell *cells;               /* of the record */
  int64_t count, cell_capacity;
} CsvReader;

int csv_reader_open(CsvReader *reader, const DataContext *context, DataFile *file, char separator);
/* Reads the next record that is not an empty line into `cells`; 0 at the end, 1, or -1 with a
 * message. The cells' text lives until the next call. */
int csv_reader_next(CsvReader *reader);
static inline const char *csv_text(const CsvReader *reader, int64_t cell) {
  return reader->buffer + reader->cells[cell].start;
}
/* The end of a message: what to do. */
typedef struct CsvHint {
  char text[200]; /* "; ...", or nothing */
} CsvHint;
/* For text where a separator belongs. */
CsvHint csv_hint_separator(const CsvReader *reader, char found);
/* Fails with "iris.csv:17:5: " in front. */
int csv_fail(const CsvReader *reader, int64_t line, int64_t column, const char *format, ...)
    DATA_PRINTF(4, 5);
void csv_reader_close(CsvReader *reader); /* not the file */

#endif
