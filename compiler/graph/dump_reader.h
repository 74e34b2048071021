/* Reading tokens of the textual form: what parse_module.c and parse_graph.c are written in.
 *
 * Every function that reads returns false after an error, which it has reported with its place in
 * the dump; callers return false in turn, so the first error ends the reading. */
#ifndef NNC_GRAPH_DUMP_READER_H
#define NNC_GRAPH_DUMP_READER_H

#include "graph/module.h"
#include "support/diagnostics.h"

typedef enum TokenKind {
  TOKEN_END,
  TOKEN_WORD,
  TOKEN_NUMBER,
  TOKEN_STRING,
  TOKEN_NODE,
  TOKEN_MARK
} TokenKind;

typedef struct Token {
  TokenKind kind;
  const char *start; /* in the dump; of a string, after the quote */
  size_t length;
  Span span;
} Token;

typedef VEC(Span) Spans;

typedef struct Reader {
  Arena *arena;
  Diagnostics *diagnostics;
  const SourceFile *dump;
  const char *at, *end; /* what is not yet a token */
  int line, column;     /* of `at` */
  Token token;          /* the next one, not yet consumed */
  bool failed;
  Module *module;
  VEC(const SourceFile *) files;  /* items[0] is the source, NULL if there is none */
  Spans node_places[ENTRY_COUNT]; /* in the dump, parallel to the nodes of each entry */
} Reader;

void reader_start(Reader *reader, Arena *arena, Diagnostics *diagnostics, const SourceFile *dump);
/* Reports an error at the next token; returns false. */
bool reader_fail(Reader *reader, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool reader_fail_at(Reader *reader, Span span, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
bool reader_advance(Reader *reader);

bool reader_sees_mark(const Reader *reader, char mark);
bool reader_sees_word(const Reader *reader, const char *word);
/* Consumes it when it is next. */
bool reader_accept_mark(Reader *reader, char mark);
bool reader_accept_word(Reader *reader, const char *word);

bool reader_expect_mark(Reader *reader, char mark);
bool reader_expect_word(Reader *reader, const char *word);
bool reader_word(Reader *reader, const char **word);     /* interned */
bool reader_string(Reader *reader, const char **string); /* interned */
bool reader_string_text(Reader *reader, Text *text);     /* appended */
bool reader_integer(Reader *reader, int64_t least, int64_t most, int64_t *value);
bool reader_double(Reader *reader, double *value);
bool reader_node_id(Reader *reader, int *id);
bool reader_dtype(Reader *reader, DType *dtype);
bool reader_type(Reader *reader, Type *type);
bool reader_optional_place(Reader *reader, Span *span); /* a zero span when none is written */
/* The index of the next word in the list; `what` names the list in the message. */
bool reader_choice(Reader *reader, const char *const *words, int count, const char *what,
                   int *choice);

/* entry NAME { ... }, after the keyword (parse_graph.c). */
bool reader_entry(Reader *reader);

#endif
