/* Where in a program a cursor stands, while it is being typed: what may come next, and inside of which call. From the tokens alone,
 * since the text around it is rarely whole. */
#ifndef NNC_SERVER_CURSOR_H
#define NNC_SERVER_CURSOR_H

#include "server/client.h"
#include "server/resolve.h"
#include "syntax/tokens.h"

typedef enum CursorPlace {
  CURSOR_NOWHERE,    /* in a comment or a string */
  CURSOR_STATEMENT,  /* where one begins */
  CURSOR_EXPRESSION, /* a value */
  CURSOR_MEMBER,     /* behind a point */
  CURSOR_TYPE,
  CURSOR_KEY,   /* where a line of a block such as train begins */
  CURSOR_STAGE, /* of data */
  CURSOR_SOURCE
} CursorPlace;

typedef struct Cursor {
  CursorPlace place;
  const char
      *word; /* of the block around: "train", "data", "params", ...; NULL: none, or statements */
  const char *key;         /* of the line of the block: "optimizer"; NULL */
  const char *callee;      /* the call around; NULL */
  const char *argument;    /* the named argument whose value stands here; NULL */
  int arguments;           /* positional ones before */
  VEC(const char *) named; /* arguments of the call that are there already */
  const char *object;      /* before the point: a name; NULL */
  Arena *arena;
  const SourceFile *source;
  int line, column; /* as the compiler counts */
  const Names *names;
  NameScope *scope;
  size_t from; /* the offset in the document of the word that is typed */
} Cursor;

/* False where `params` has no position. Takes from the arena. */
bool cursor_find(Arena *arena, const Server *server, const Document *document, const json_t *params,
                 Cursor *cursor);

/* The signature of what is called, "linear(x, units, bias = true)"; NULL: it is not known. */
const char *cursor_signature(const Cursor *cursor, const Server *server, const char *callee);
/* The text of parameter `i` of a signature; NULL past the last. */
const char *cursor_parameter(Arena *arena, const char *signature, int i);
/* The name of a parameter: "x" of "x: tensor", "bias" of "bias = true". */
const char *cursor_parameter_name(Arena *arena, const char *parameter);

#endif
