/* Identifiers of generated code, made from the model's names. */
#ifndef NNC_BACKEND_COMMON_NAMING_H
#define NNC_BACKEND_COMMON_NAMING_H

#include <stdbool.h>
#include "support/table.h"
#include "support/vec.h"

typedef struct TakenName {
  const char *name; /* interned */
  int next;         /* the number to try for one more of this name */
} TakenName;

/* Identifiers that are taken in one scope. */
typedef struct NameScope {
  Arena *arena;
  VEC(TakenName) taken;
  PointerTable places; /* indices in `taken` by name */
  const struct NameScope *outer;
  const char *const *words; /* of an outermost scope: what the kernels' functions call their own
                               (BackEnd.words), or NULL */
} NameScope;

void naming_take(NameScope *scope, const char *name);
/* "h1.w:m" -> "h1_w_m", with a number where that is taken or a word of C or of generated code. */
const char *naming_make(NameScope *scope, const char *wish);
/* The same for a function: "net_exp" is none of the C library's. */
const char *naming_function(NameScope *scope, const char *wish);
/* Whether emitted C may have a function or table of this name: none of the user's can. */
bool naming_is_emitted(const char *name);

#endif
