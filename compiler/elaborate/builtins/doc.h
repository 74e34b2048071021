/* `nnc doc`: what the language knows, from where it is defined. */
#ifndef NNC_ELABORATE_DOC_H
#define NNC_ELABORATE_DOC_H

#include "support/arena.h"
#include "support/text.h"

#include <stdbool.h>

/* What `nnc doc NAME` prints: signature, meaning, formula, source. False when there is no such
 * name. */
bool doc_print(Text *out, const char *name);
/* Who has an argument of that name; false when nobody has. */
bool doc_print_argument(Arena *arena, Text *out, const char *name);
/* The same as doc_print() as markdown, without the source; false when there is no such name. */
bool doc_markdown(Text *out, const char *name);
/* What is documented, for lists of names. */
typedef struct DocEntry {
  const char *name, *signature, *summary; /* the summary without an end */
  const char *family;                     /* "layers", "statements", "data stages" */
  bool is_library;                        /* a function of the prelude, whose file is the family */
  bool is_internal;                       /* a part that others are made of: it is not offered */
} DocEntry;
/* Every documented name, in the order of the list. */
void doc_each(Arena *arena, void (*visit)(void *context, const DocEntry *entry), void *context);
/* The documented name that was probably meant, of those that are offered; NULL when none is near. */
const char *doc_nearest(Arena *arena, const char *name);
/* Every documented name with its first line, by family. */
void doc_list(Text *out, bool with_internal);

#endif
