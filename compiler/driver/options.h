/* The command line of nnc. */
#ifndef NNC_DRIVER_OPTIONS_H
#define NNC_DRIVER_OPTIONS_H

#include <stdbool.h>
#include "backend/common/compile.h"
#include "graph/module.h"
#include "target/target.h"
#include "passes/pass.h"
#include "support/vec.h"

typedef enum Command {
  COMMAND_COMPILE,
  COMMAND_CHECK,
  COMMAND_FORMAT,
  COMMAND_DOC,
  COMMAND_LSP,
  COMMAND_DIFF_PARAMETERS,
  COMMAND_COUNT
} Command;

typedef enum EmitKind {
  EMIT_EXECUTABLE,
  EMIT_C,
  EMIT_CUDA,
  EMIT_IR,
  EMIT_DOT,
  EMIT_PROGRAM,
  EMIT_COUNT
} EmitKind;

typedef enum ReportKind { REPORT_NONE, REPORT_TEXT, REPORT_JSON } ReportKind;

typedef enum ConvChoice { CONV_NONE, CONV_AUTO, CONV_DIRECT } ConvChoice;
typedef enum GemmChoice { GEMM_NONE, GEMM_OWN, GEMM_CUBLASLT } GemmChoice;

typedef struct Options {
  Command command;
  const Target *target;    /* what the executable is for */
  VEC(const char *) files; /* .net files; for `doc` the names asked for */
  const char *output;      /* -o; NULL: the file's base name (executable) or stdout (text) */
  EmitKind emit;
  ReportKind report;
  ConvChoice conv; /* --conv; CONV_NONE: not given */
  GemmChoice gemm; /* --gemm; GEMM_NONE: not given */
  bool check_gradients;
  bool check_indices; /* always with -O0 */
  PipelineOptions passes;
  PipelineOptions stages; /* of lowering */
  bool has_level;         /* -O */
  bool has_float;         /* --float */
  DType float_type;
  bool has_scans; /* --scans; for a dump, else what it says */
  ScanChoice scans;
  VEC(const char *) definitions; /* -D name=value */
  int64_t memory_limit;          /* --memory-limit in bytes; 0: none, or a share */
  double memory_share;           /* --memory-limit=60%: .6; 0: none, or bytes */
  bool tunes;                    /* --tune */
  int threads;                   /* --threads that the limit is for; 0: as many as there are */
  CompileOptions toolchain;      /* --cc, --arch, --cflags, -g, -v, --jobs, --cache-dir, ... */
  bool no_cache;                 /* --no-cache */
  bool format_in_place, format_check;
  bool parameters; /* check: what there are */
  bool internal;   /* doc: parts of the library, too */
  int colour;      /* -1: where standard error is a terminal */
} Options;

/* Is --memory-limit given? */
static inline bool options_limit_memory(const Options *options) {
  return options->memory_limit > 0 || options->memory_share > 0;
}

/* Exit status of nnc: 0 success, 1 the program has mistakes (or a check failed), 2 wrong usage,
 * 3 the machine refused (a file, memory, the C compiler). */
enum { EXIT_MISTAKES = 1, EXIT_USAGE = 2, EXIT_MACHINE = 3 };

/* Exits with a message on wrong usage, and after --help and --version. */
Options options_parse(Arena *arena, int argc, char **argv);

#endif
