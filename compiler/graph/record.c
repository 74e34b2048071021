/* Printing and reading records by their tables: see record.h. */
#include "graph/record.h"

#include <string.h>

/* ---- printing ------------------------------------------------------------------------------ */

static void print_list(Text *text, const Field *field, const void *record) {
  const void *items = *(void *const *)((const char *)record + field->offset);
  int count = items ? *(const int *)((const char *)record + field->count) : 0;
  text_add_char(text, '[');
  for (int i = 0; i < count; i++)
    text_printf(text, "%s%lld", i > 0 ? ", " : "",
                field->kind == FIELD_INTS ? (long long)((const int *)items)[i]
                                          : (long long)((const int64_t *)items)[i]);
  text_add_char(text, ']');
}

static size_t column_bytes(const Field *column) {
  return column->kind == FIELD_TYPE ? sizeof(Type) : sizeof(int64_t);
}

static void print_field(Text *text, const Field *field, const void *record, const FileList *files);

static void print_rows(Text *text, const Field *field, const void *record, int count) {
  for (int row = 0; row < count; row++) {
    if (row > 0) text_add(text, field->between);
    for (int i = 0; i < field->column_count; i++) {
      const Field *column = &field->columns[i];
      print_field(text, column, (const char *)record + (size_t)row * column_bytes(column), NULL);
    }
  }
}

static void print_field(Text *text, const Field *field, const void *record, const FileList *files) {
  const void *at = (const char *)record + field->offset;
  bool is_there = field->kind == FIELD_FLAG     ? *(const bool *)at
                  : field->kind == FIELD_OPTION ? *(const int64_t *)at != 0
                  : field->kind == FIELD_GIVEN  ? *(const char *const *)at != NULL
                                                : true;
  if (!is_there) return;
  text_add(text, field->words);
  switch (field->kind) {
  case FIELD_WORDS:
  case FIELD_FLAG: break;
  case FIELD_WORD: text_add(text, field->choices[*(const unsigned *)at]); break;
  case FIELD_NAME: text_add(text, *(const char *const *)at); break;
  case FIELD_STRING:
  case FIELD_GIVEN:
  case FIELD_MAYBE:
    if (*(const char *const *)at) text_add_quoted(text, *(const char *const *)at);
    else text_add_char(text, '-');
    break;
  case FIELD_INT: text_printf(text, "%d", *(const int *)at); break;
  case FIELD_INT64:
  case FIELD_OPTION: text_printf(text, "%lld", (long long)*(const int64_t *)at); break;
  case FIELD_DOUBLE: text_add_double(text, *(const double *)at); break;
  case FIELD_DTYPE: text_add(text, dtype_name(*(const DType *)at)); break;
  case FIELD_TYPE: text_add_type(text, *(const Type *)at); break;
  case FIELD_PLACE: text_add_place(text, *(const Span *)at, files); break;
  case FIELD_INTS:
  case FIELD_INT64S:
  case FIELD_EACH: print_list(text, field, record); break;
  case FIELD_ROWS: print_rows(text, field, record, *(const int *)at); break;
  }
}

void record_print(Text *text, const Field *fields, int count, const void *record,
                  const FileList *files) {
  for (int i = 0; i < count; i++) print_field(text, &fields[i], record, files);
}

/* ---- reading ------------------------------------------------------------------------------- */

/* The words and marks, or the first of them alone: whether it is next. */
static bool read_words(Reader *reader, const char *words, bool is_peek) {
  for (size_t length; *words; words += length) {
    length = strspn(words, "abcdefghijklmnopqrstuvwxyz_");
    const char *word = length > 0 ? arena_strndup(reader->arena, words, length) : NULL;
    if (length == 0) length = 1;
    if (strchr(" \n", *words)) continue;
    if (is_peek) return word ? reader_sees_word(reader, word) : reader_sees_mark(reader, *words);
    if (!(word ? reader_expect_word(reader, word) : reader_expect_mark(reader, *words)))
      return false;
  }
  return !is_peek && !reader->failed;
}

static bool read_list(Reader *reader, const Field *field, void *record) {
  VEC(int) ints = {0};
  VEC(int64_t) wide = {0};
  int *count = (int *)((char *)record + field->count);
  if (!reader_expect_mark(reader, '[')) return false;
  while (!reader_sees_mark(reader, ']')) {
    int64_t value;
    if (wide.count > 0 && !reader_expect_mark(reader, ',')) return false;
    if (!reader_integer(reader, field->least, field->most, &value)) return false;
    vec_push(reader->arena, &wide, value);
    vec_push(reader->arena, &ints, (int)value);
  }
  if (field->kind == FIELD_EACH && wide.count > 0 && wide.count != *count)
    return reader_fail(reader, "these are %d numbers instead of %d", wide.count, *count);
  if (field->kind != FIELD_EACH) *count = wide.count;
  *(void **)((char *)record + field->offset) =
      field->kind == FIELD_INTS ? (void *)ints.items : (void *)wide.items;
  return reader_expect_mark(reader, ']');
}

static bool read_field(Reader *reader, const Field *field, void *record);

/* A row begins with the words of its first column or, where there are none, with a number or a
 * type; after the first one with what is between two. */
static bool sees_row(Reader *reader, const Field *field, int row) {
  bool has_words = read_words(reader, field->columns->words, true);
  if (row > 0 && *field->between) return reader_accept_mark(reader, *field->between);
  TokenKind first = field->columns->kind == FIELD_TYPE ? TOKEN_WORD : TOKEN_NUMBER;
  return has_words || (!field->columns->words[strspn(field->columns->words, " ")] &&
                       reader->token.kind == first);
}

static bool read_rows(Reader *reader, const Field *field, void *record, int *count) {
  for (*count = 0; sees_row(reader, field, *count); ++*count) {
    if (*count == field->most)
      return reader_fail(reader, "there are more than %d of these", (int)field->most);
    for (int i = 0; i < field->column_count; i++) {
      const Field *column = &field->columns[i];
      char *at = (char *)record + (size_t)*count * column_bytes(column);
      if (!read_field(reader, column, at)) return false;
    }
  }
  return !reader->failed;
}

static bool read_int(Reader *reader, const Field *field, int *value) {
  int64_t wide;
  if (!reader_integer(reader, field->least, field->most, &wide)) return false;
  *value = (int)wide;
  return true;
}

static bool read_word(Reader *reader, const Field *field, unsigned *value) {
  int choice;
  if (!reader_choice(reader, field->choices, (int)field->most, "another word", &choice))
    return false;
  *value = (unsigned)choice;
  return true;
}

static bool read_field(Reader *reader, const Field *field, void *record) {
  void *at = (char *)record + field->offset;
  bool is_optional =
      field->kind == FIELD_FLAG || field->kind == FIELD_OPTION || field->kind == FIELD_GIVEN;
  if (is_optional && !read_words(reader, field->words, true)) return !reader->failed;
  if (!read_words(reader, field->words, false)) return false;
  switch (field->kind) {
  case FIELD_WORDS: return true;
  case FIELD_FLAG: return *(bool *)at = true;
  case FIELD_WORD: return read_word(reader, field, at);
  case FIELD_NAME: return reader_word(reader, at);
  case FIELD_STRING:
  case FIELD_GIVEN: return reader_string(reader, at);
  case FIELD_MAYBE: return reader_accept_mark(reader, '-') || reader_string(reader, at);
  case FIELD_INT: return read_int(reader, field, at);
  case FIELD_INT64:
  case FIELD_OPTION: return reader_integer(reader, field->least, field->most, at);
  case FIELD_DOUBLE: return reader_double(reader, at);
  case FIELD_DTYPE: return reader_dtype(reader, at);
  case FIELD_TYPE: return reader_type(reader, at);
  case FIELD_PLACE: return reader_optional_place(reader, at);
  case FIELD_INTS:
  case FIELD_INT64S:
  case FIELD_EACH: return read_list(reader, field, record);
  case FIELD_ROWS: return read_rows(reader, field, record, at);
  }
  return false;
}

/* The field depends on the one before it, whose string is not there. */
static bool is_left_out(const Field *field, const void *record) {
  return field->kind == FIELD_GIVEN && field[-1].kind == FIELD_GIVEN &&
         !*(const char *const *)((const char *)record + field[-1].offset);
}

bool record_read(Reader *reader, const Field *fields, int count, void *record) {
  for (int i = 0; i < count; i++)
    if (!(i > 0 && is_left_out(&fields[i], record)) && !read_field(reader, &fields[i], record))
      return false;
  return true;
}
