/* The text of a function as tokens, of whose numbers some may differ from one function to the next that are
 * otherwise the same: see share.h. */
#ifndef NNC_BACKEND_COMMON_SHARE_TEXT_H
#define NNC_BACKEND_COMMON_SHARE_TEXT_H

#include "backend/common/function.h"

typedef enum TokenKind {
  TOKEN_WORD,
  TOKEN_SIGN,
  TOKEN_INTEGER,
  TOKEN_FLOAT,
  TOKEN_DOUBLE
} TokenKind;

/* Numbers that are written in another way, as hexadecimal ones, are words. */
typedef struct Token {
  TokenKind kind;
  const char *at;
  int length;
  bool is_fixed; /* of a number: it must be known to the C compiler */
  int function;  /* the number of the function that it is in, of those in the text */
} Token;

/* An enumerator of NNC_EXTENTS, the token `list`: tokens [name, end), of which those from name + 2 on are its
 * value. */
typedef struct Extent {
  int list, name, end;
} Extent;

typedef VEC(Extent) ExtentList;

typedef struct ShareText {
  const KernelFunction *function;
  const char *begin, *end;
  int count;
  Token *tokens;
  ExtentList extents;
} ShareText;

/* Cuts it into tokens, comments left out, and fixes the numbers that the speed of the code depends on. */
ShareText share_text_read(Arena *arena, const KernelFunction *function, const Text *text);
/* What functions have in common that can be one: the text with other names, without the numbers that are not
 * fixed. */
const char *share_text_key(Arena *arena, const ShareText *text);
bool share_text_is(const Token *token, const char *word);
bool share_text_same(const Token *a, const Token *b);
bool share_text_is_number(const Token *token);
/* The enumerator whose name or value a token is in, or NULL. */
const Extent *share_text_extent(const ShareText *text, int token);
/* The token after the bracket that closes the one at `open`. */
int share_text_after(const ShareText *text, int open);

#endif
