/* What to do about a text table that cannot be read: see csv_hints.h. */
#include "data/csv_hints.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "data/decimal.h"
#include "data/file.h"
#include "data/open.h"

CsvHint csv_hint_record(const CsvReader *reader) {
  const CsvCell *cell = &reader->cells[0];
  if (reader->count == 1 && !cell->is_quoted)
    for (int64_t i = 0; i < cell->length; i++) {
      CsvHint hint = csv_hint_separator(reader, csv_text(reader, 0)[i]);
      if (*hint.text) return hint;
    }
  return (CsvHint){""};
}

/* --- cells ----------------------------------------------------------------------------------- */

/* Whether programs write this for a value that is missing. */
static bool means_missing(const char *text, size_t length) {
  static const char *const words[] = {"nan",  "-nan", "na",  "n/a", "#n/a",
                                      "null", "none", "nil", "-",   "."};
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (strlen(words[i]) == length && strncasecmp(words[i], text, length) == 0) return true;
  return false;
}

/* "1,234.5", "0,5": digits, with commas and points between them. */
static bool has_comma(const char *text, int64_t length) {
  bool has_comma = false;
  int64_t i = length > 0 && (text[0] == '-' || text[0] == '+');
  if (i == length || !isdigit((unsigned char)text[i]) || !isdigit((unsigned char)text[length - 1]))
    return false;
  for (; i < length; i++) {
    if (!isdigit((unsigned char)text[i]) && text[i] != ',' && text[i] != '.') return false;
    has_comma = has_comma || text[i] == ',';
  }
  return has_comma;
}

/* A header has names alone. */
static bool has_numbers(const CsvReader *reader) {
  double number;
  for (int64_t i = 0; i < reader->count; i++)
    if (data_parse_number(csv_text(reader, i), reader->cells[i].length, &number)) return true;
  return false;
}

/* Rows that predict reads as they come are parts, the first of which begins the table. */
static bool begins_table(const CsvReader *reader) {
  const nnc_data_part *part = data_file_part(reader->file);
  return !part || part->line <= 1;
}

CsvHint csv_hint_number(const CsvReader *reader, int64_t column, const char *field,
                        bool may_be_header) {
  CsvHint hint;
  const char *text = csv_text(reader, column);
  int64_t length = reader->cells[column].length;
  int shown = length < 60 ? (int)length : 60;
  if (means_missing(text, (size_t)length))
    snprintf(hint.text, sizeof hint.text,
             "; if the value is missing, say missing = [\"%.*s\"] and impute(%s)", shown, text,
             field);
  else if (has_comma(text, length))
    snprintf(hint.text, sizeof hint.text,
             "; numbers have a decimal point, and no commas between thousands");
  else if (may_be_header && begins_table(reader) && !has_numbers(reader))
    snprintf(hint.text, sizeof hint.text, "; is this line a header? (header = true)");
  else snprintf(hint.text, sizeof hint.text, "; text needs the stage categories(%s)", field);
  return hint;
}

const char *csv_hint_header(const DataContext *context) {
  return context->is_prediction && context->files
             ? "put the line of names of training's file before it"
             : "say header = false, or header = true if it is a header";
}
