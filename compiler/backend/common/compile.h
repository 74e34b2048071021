/* The call of the C compiler: emitted source becomes an executable.
 *
 * Units are compiled side by side and linked. What was compiled before is taken from the cache:
 *
 *   an object's key    the unit's text, the flags, the compiler (path, size, time, version), the
 *                      contents of all of nnc's headers and of the others that a unit includes, the environment's
 *                      variables that compilers heed, and with -march=native the processor
 *   an image's key    for units of a device: see images.h
 *   executable's key   the keys of its objects, the flags of linking, the linker, the contents of
 *                      the runtime's library, and path, size and time of every other file that is
 *                      linked
 *
 * Which headers are included and which files are linked the compiler and the linker say when they
 * run; these lists are entries of the cache, too. */
#ifndef NNC_BACKEND_COMMON_COMPILE_H
#define NNC_BACKEND_COMMON_COMPILE_H

#include "backend/common/cache.h"
#include "backend/common/toolchain.h"
#include "graph/module.h"
#include "support/diagnostics.h"
#include "support/outputs.h"
#include "support/text.h"

/* Of x86-64: what one executable may hold side by side. */
enum { MOST_LEVELS = 3 };

typedef struct CompileOptions {
  const char *cc;     /* --cc; NULL: the newest clang found, else gcc, else cc */
  const char *arch;   /* -march, or levels "x86-64-v2,x86-64-v3"; NULL: "native" */
  const char *cflags; /* more flags after those of ours, separated by blanks; NULL: none */
  bool debug;         /* -g: not stripped; the C file is kept, its lines are those of debuggers */
  bool save_temps;    /* the C file is kept beside the executable */
  bool is_static;     /* no shared libraries */
  bool has_report;    /* the executable writes pages about its runs */
  bool verbose;       /* prints commands before they run, and what the cache gave */
  int jobs;           /* C compilers at a time; 0: one a core */
  int units;          /* into which kernels are cut, at most; 0: by how long they take */
  bool has_cache;
  const char *cache_folder; /* NULL: the user's */
  int64_t cache_bytes;      /* bound of the folder */
  bool reads_pictures;      /* links the libraries that decode them */
  int64_t memory_limit;     /* --memory-limit, for the runtime of a device; 0: none */
  int extern_count;         /* functions of the user's: files are compiled and linked, too */
  const ExternInfo *const *externs;
  int device_file_count; /* with images: the user's files, which units of the device hold */
  const struct DeviceFile *device_files; /* externs.h */
  Diagnostics *diagnostics;              /* takes mistakes in these files */
  const char *prefix;                 /* PREFIX/include/nnc and PREFIX/lib/nnc hold the runtime */
  const struct ImageCompiler *images; /* makes those of the device's units; NULL: there are none */
  const char *output;                 /* the executable; a name that ends as the C file's is its */
  const InputFiles *inputs;           /* which neither may be */
  /* filled by compile_prepare */
  const char *source;              /* the C file: OUTPUT.c, or OUTPUT.cu with images */
  int level_count;                 /* 0: `arch` is one, and not a list */
  const char *levels[MOST_LEVELS]; /* "v2", "v3", in ascending order */
  const char *compiler;            /* "clang-19 19.1.7 -O3 -march=native", for the tables */
  const char *command;             /* quoted for a shell; makes the executable of the C file */
  Toolchain toolchain;
  Cache *cache; /* NULL: none */
} CompileOptions;

/* The emitted C, whole and cut into units of the same functions. */
typedef struct SourceUnit {
  Text text;
  int64_t weight;    /* about the microseconds of compiling it */
  bool is_of_level;  /* compiled once for each level */
  bool is_of_device; /* becomes an image for each architecture of options->images */
  const char *file;  /* the user's, whose text it is or holds; NULL: the unit was emitted */
  const ExternInfo *external; /* the first function that is said to be in the file */
} SourceUnit;

typedef struct CSource {
  Text whole;
  int unit_count; /* the first is C and the one that includes every header */
  SourceUnit *units;
} CSource;

/* Finds the C compiler and writes the command. False after a message on standard error. */
bool compile_prepare(Arena *arena, CompileOptions *options);
/* Compiles the units and links them, or finds the result. What the C compiler says is printed once;
 * if it refuses, which is a bug of ours, the C file is kept.  False after a message on standard
 * error, or a diagnostic where a file of the user's is wrong. */
bool compile_c(Arena *arena, const CompileOptions *options, const CSource *source);

#endif
