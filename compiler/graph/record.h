/* Records as text: a table of fields says how a struct is printed, and the same table reads it
 * back. The words before a field are printed as they stand; reading asks for the same words and
 * marks, whatever blanks lie between them. */
#ifndef NNC_GRAPH_RECORD_H
#define NNC_GRAPH_RECORD_H

#include "graph/dump_reader.h"
#include "graph/textual.h"

/* KIND(name, type of the member) */
#define FIELD_KINDS                                                                                \
  KIND(WORDS, char)          /* the words alone */                                                 \
  KIND(FLAG, bool)           /* the words stand there when it is true */                           \
  KIND(WORD, unsigned)       /* an enumeration: one of `choices` */                                \
  KIND(NAME, const char *)   /* an identifier, as it is */                                         \
  KIND(STRING, const char *) /* in quotes */                                                       \
  KIND(MAYBE, const char *)  /* the same, or '-' for NULL */                                       \
  KIND(GIVEN,                                                                                      \
       const char *) /* the words and the string stand there when it is not NULL; right    \
                                after another one, only if that stands there */       \
  KIND(INT, int)                                                                                   \
  KIND(INT64, int64_t)                                                                             \
  KIND(OPTION, int64_t) /* the words and the number stand there when it is not 0 */                \
  KIND(DOUBLE, double)                                                                             \
  KIND(DTYPE, DType)                                                                               \
  KIND(TYPE, Type)                                                                                 \
  KIND(PLACE, Span)                                                                                \
  KIND(INTS, int *) /* in brackets; `count` is the offset of how many */                           \
  KIND(INT64S, int64_t *)                                                                          \
  KIND(EACH, int64_t *) /* as many as a count that stands before, or none: NULL */                 \
  KIND(ROWS, int)       /* how many rows of `columns` follow, each member an array */

typedef enum FieldKind {
#define KIND(name, type) FIELD_##name,
  FIELD_KINDS
#undef KIND
} FieldKind;
#define KIND(name, type) typedef type FIELD_TYPE_##name;
FIELD_KINDS
#undef KIND

typedef struct Field Field;
struct Field {
  const char *words;
  FieldKind kind;
  size_t offset;
  int64_t least, most; /* of numbers that are read; WORD and ROWS: `most` of them */
  const char *const *choices;
  size_t count;         /* of a list: where its `int` count is */
  const Field *columns; /* ROWS: `column_count` fields */
  int column_count;
  const char *between; /* ROWS: what is printed between two */
};

/* A field whose member is of the kind's type. */
#define FIELD(words_, kind_, record, member, ...)                                                  \
  {                                                                                                \
    .words = words_, .kind = FIELD_##kind_,                                                        \
    .offset =                                                                                      \
        offsetof(record, member) + 0 * sizeof((FIELD_TYPE_##kind_ *)0 == &((record *)0)->member),  \
    __VA_ARGS__                                                                                    \
  }
#define FIELD_LITERAL(words_)                                                                      \
  { .words = words_ }
#define RECORD(fields) fields, (int)(sizeof fields / sizeof *fields)

/* `files`: those that places may lie in; NULL where there are no places. */
void record_print(Text *text, const Field *fields, int count, const void *record,
                  const FileList *files);
bool record_read(Reader *reader, const Field *fields, int count, void *record);

#endif
