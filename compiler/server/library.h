/* The library of the language as the server knows it: parsed once, and as files that an editor can open. */
#ifndef NNC_SERVER_LIBRARY_H
#define NNC_SERVER_LIBRARY_H

#include <stdbool.h>
#include "elaborate/elaborate.h"
#include "support/table.h"

typedef struct Library {
  const Prelude *prelude;
  PointerTable table; /* by the interned name: indices in `functions` */
  VEC(const AstStmt *) functions;
  const char
      *folder; /* where its files are, for the editor alone; NULL: they could not be written */
} Library;

/* Lives as long as the arena. */
Library *library_create(Arena *arena);
/* The definition of a function; NULL. */
const AstStmt *library_find(const Library *library, const char *name);
/* The address of the file of that name, "<prelude>/layers.net"; NULL where there is none. */
const char *library_uri(Arena *arena, const Library *library, const char *file);
/* Whether an address is that of a file of the library. */
bool library_has(const Library *library, const char *path);

/* "file:///a%20b" of a path, and back; NULL where an address is not that of a file. */
const char *uri_of_path(Arena *arena, const char *path);
const char *path_of_uri(Arena *arena, const char *uri);

#endif
