/* Building an executable: what is known of it, the keys of its parts in the cache, and the lists of
 * files that these keys depend on. */
#ifndef NNC_BACKEND_COMMON_KEYS_H
#define NNC_BACKEND_COMMON_KEYS_H

#include "backend/common/compile.h"
#include "backend/common/scratch.h"

/* A unit compiled for a level, or for an architecture of the device: then it is an image. */
typedef struct Object {
  int unit;
  const char *level; /* "v3", "sm_80"; NULL: the unit is compiled once */
  CacheKey key;
  const char *name, *file;
  bool is_cached; /* it came from the cache */
} Object;

typedef struct Build {
  Arena *arena;
  const CompileOptions *options;
  const CSource *source;
  Scratch *scratch;
  int object_count;
  Object *objects;    /* in the order of linking */
  const char *images; /* the object that holds the images; NULL: there are none */
} Build;

/* Whether anything of this build may be kept: not with flags that name files no key would cover. */
bool keys_are_complete(const CompileOptions *options);
/* Fills the keys of the objects; false while it is not known which headers a unit includes. */
bool keys_of_objects(Build *build);
/* False while it is not known which files are linked. */
bool keys_of_link(const Build *build, CacheKey *key);

/* Remember the lists: the rule that the compiler wrote to the file, the linker's --trace. */
void keys_keep_headers(const Build *build, const char *rule_file);
void keys_keep_linked(const Build *build, const char *trace_file);

#endif
