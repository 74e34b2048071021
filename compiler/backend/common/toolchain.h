/* Which C compiler is called, and what decides what it makes: see compile.h for the rest. */
#ifndef NNC_BACKEND_COMMON_TOOLCHAIN_H
#define NNC_BACKEND_COMMON_TOOLCHAIN_H

#include "backend/common/cache.h"

/* What the runtime needs, in the order of linking. */
typedef enum Library { LIBRARY_JPEG, LIBRARY_PNG, LIBRARY_ZLIB, LIBRARY_COUNT } Library;
extern const char *const library_names[LIBRARY_COUNT]; /* "z": for -lz, -l:libz.a */

typedef struct Toolchain {
  const char *cc;                       /* as it is called */
  const char *version;                  /* first line of `cc --version` */
  const char *linker;                   /* path of what it links with; "" when it does not say */
  const char *static_pie;               /* path of what static executables start with that lie at
                                           any address, or "" */
  const char *libraries[LIBRARY_COUNT]; /* paths of the static ones, or "" */
} Toolchain;

/* `asked`: --cc, or NULL for the newest clang, else gcc, else cc.  A compiler that was met before
 * is not run: its path, size and time say that it is the same.  False after a message. */
bool toolchain_find(Arena *arena, Toolchain *toolchain, const char *asked, Cache *cache);

/* Adds path, size and time of a file; of the program that a called name stands for. */
void toolchain_add_file(Sha256 *hash, const char *path);
void toolchain_add_program(Arena *arena, Sha256 *hash, const char *name);
/* Compiler and linker, the variables of the environment that they heed, and with `native` the
 * processor. */
void toolchain_add_identity(Arena *arena, Sha256 *hash, const Toolchain *toolchain, bool native);

#endif
