/* Building an executable: what is known of it, the keys of its parts in the cache, and the lists of
 * files that these keys depend on. */
#ifndef NNC_BACKEND_C_KEYS_H
#define NNC_BACKEND_C_KEYS_H

#include "backend/c/compile.h"
#include "backend/c/scratch.h"

typedef struct Build {
  Arena *arena;
  const CompileOptions *options;
  const CSource *source;
  Scratch *scratch;
  CacheKey *keys;         /* of the objects, by unit */
  const char **files;     /* the objects */
  bool *is_cached;        /* the object came from the cache */
} Build;

/* Whether anything of this build may be kept: not with flags that name files no key would cover. */
bool keys_are_complete(const CompileOptions *options);
/* Fills build->keys; false while it is not known which headers a unit includes. */
bool keys_of_objects(Build *build);
/* False while it is not known which files are linked. */
bool keys_of_link(const Build *build, CacheKey *key);

/* Remember the lists: the rule that the compiler wrote to the file, the linker's --trace. */
void keys_keep_headers(const Build *build, const char *rule_file);
void keys_keep_linked(const Build *build, const char *trace_file);

#endif
