/* fuzz_graphs: random graphs against the reference interpreter.
 *
 *     fuzz_graphs [--from A] [--count N]    judges seeds A ... A + N - 1
 *     fuzz_graphs --seed N                  judges one; if it fails, prints a small module that does
 *     fuzz_graphs --module FILE...          judges dumps, on values made up for them
 *
 *     --stage program|c         without or with the C compiler (c needs --build)
 *     --build BUILD, --work DIR the build directory, and one for files
 *     --batch K                 seeds that share an executable (16); where it fails, each of them is
 *                               judged alone
 *     --looks f64|types|all     what is compiled: all floats in f64 at -O1; also in the graph's own
 *                               types; both at -O0 too. Unless given, f64, and types in every eighth
 *                               batch
 *     --scans unroll|loop|auto  what becomes of scans; unless given, loops in every other batch
 *     --half bf16|f16           all floats of the seeds' graphs in 16 bits
 *     --far f32|f64             values from 1e-30 to 1e30, in every fourth graph zeros, infinities and
 *                               NaNs among them; most floats, or all, of that type (f32: needs --stage c)
  *     --target cpu|toy|cuda|last     what executables are for (cpu): toy is tests/toy_target, cuda needs
 *                               tests/cuda_emulator, or an NVIDIA GPU
 *     --cflags FLAGS            for the C compiler (-O1)
 *     --jobs N                  so many at the same time (1)
 *     --kept DIR                a small module of each failure goes there
 *     --progress                how far it is, on standard error
 *     --dump                    prints the module as generated
 *     --save-c                  leaves the C file in the working directory
 *     --faults                  puts a small mistake into each graph (faults.c), prints which are not
 *                               noticed, and how many are
 *     --coverage                prints how often each operator was generated and differentiated; one
 *                               that never was is a failure
 *
 * Prints a line for each case that fails, then "N passed, N failed". */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/cuda/nvrtc.h"

#include "fuzz.h"

enum { MOST_BATCH = 64, MOST_JOBS = 256 };

static void refuse(const char *what, const char *text) {
  fprintf(stderr, "fuzz_graphs: %s '%s'\n", what, text ? text : "");
  exit(2);
}

static uint64_t number(const char *text) {
  char *end;
  uint64_t value = text ? strtoull(text, &end, 10) : 0;
  if (!text || !*text || *end) refuse("no number:", text);
  return value;
}

/* The number of a word among three. */
static int choice(const char *text, const char *const *names, const char *complaint) {
  for (int i = 0; i < 3; i++)
    if (text && strcmp(text, names[i]) == 0) return i;
  refuse(complaint, text);
  return 0;
}

static int looks(const char *text) {
  static const char *const names[] = {
      [LOOKS_F64] = "f64", [LOOKS_TYPES] = "types", [LOOKS_ALL] = "all"};
  return choice(text, names, "--looks is f64, types or all, not");
}

static int scans(const char *text) {
  static const char *const names[] = {
      [SCANS_AUTO] = "auto", [SCANS_UNROLL] = "unroll", [SCANS_LOOP] = "loop"};
  return choice(text, names, "--scans is unroll, loop or auto, not");
}

static DType half(const char *text) {
  if (text && strcmp(text, "bf16") == 0) return DTYPE_BF16;
  if (!text || strcmp(text, "f16") != 0) refuse("--half is bf16 or f16, not", text);
  return DTYPE_F16;
}

static Far far(const char *text) {
  if (text && strcmp(text, "f32") == 0) return FAR_F32;
  if (!text || strcmp(text, "f64") != 0) refuse("--far is f32 or f64, not", text);
  return FAR_F64;
}

typedef enum OptionKind {
  OPTION_FLAG,
  OPTION_NUMBER,
  OPTION_INT,
  OPTION_TEXT,
  OPTION_LOOKS,
  OPTION_SCANS,
  OPTION_HALF,
  OPTION_FAR,
  OPTION_STAGE,
  OPTION_TARGET,
  OPTION_SEED
} OptionKind;

/* Where the value of an option goes. */
typedef struct OptionRow {
  const char *name;
  OptionKind kind;
  void *to;
} OptionRow;

static void take(Options *options, const OptionRow *row, const char *value) {
  switch (row->kind) {
  case OPTION_FLAG: *(bool *)row->to = true; break;
  case OPTION_NUMBER: *(uint64_t *)row->to = number(value); break;
  case OPTION_INT: *(int *)row->to = (int)number(value); break;
  case OPTION_TEXT: *(const char **)row->to = value; break;
  case OPTION_LOOKS: *(int *)row->to = looks(value); break;
  case OPTION_SCANS: *(int *)row->to = scans(value); break;
  case OPTION_HALF: *(DType *)row->to = half(value); break;
  case OPTION_FAR: *(Far *)row->to = far(value); break;
  case OPTION_STAGE:
    if (strcmp(value, "c") != 0 && strcmp(value, "program") != 0) refuse("no stage", value);
    *(bool *)row->to = strcmp(value, "c") == 0;
    break;
  case OPTION_TARGET:
    options->stage.target = find_target(value);
    if (!options->stage.target) refuse("no target", value);
    break;
  case OPTION_SEED:
    options->from = number(value);
    options->count = 1;
    options->shrinks = true;
  }
}

static void check_options(Options *options) {
  if (options->in_c && !options->stage.build) refuse("--stage c needs", "--build BUILD");
  if (options->far && dtype_is_half(options->half)) refuse("--far goes without", "--half");
  /* The references without a C compiler do not round to f32. */
  if (options->far == FAR_F32 && !options->in_c && !options->faults)
    refuse("--far f32 needs", "--stage c");
  if (options->batch < 1 || options->batch > MOST_BATCH) refuse("--batch is 1 to 64, not", "that");
  if (options->jobs < 1 || options->jobs > MOST_JOBS) refuse("--jobs is 1 to 256, not", "that");
  if (!options->in_c || options->files || options->faults) options->batch = 1;
}

static Options read_options(int argc, char **argv) {
  Options options = {
      .from = 1, .count = 100, .batch = 16, .jobs = 1, .looks = -1, .scans = -1, .half = DTYPE_F32};
  options.stage = (CStage){.work = ".", .target = find_target("cpu")};
  const OptionRow rows[] = {{"--dump", OPTION_FLAG, &options.dumps},
                            {"--coverage", OPTION_FLAG, &options.covers},
                            {"--shrink", OPTION_FLAG, &options.shrinks},
                            {"--progress", OPTION_FLAG, &options.progress},
                            {"--faults", OPTION_FLAG, &options.faults},
                            {"--save-c", OPTION_FLAG, &options.stage.keeps_c},
                            {"--from", OPTION_NUMBER, &options.from},
                            {"--count", OPTION_NUMBER, &options.count},
                            {"--batch", OPTION_NUMBER, &options.batch},
                            {"--jobs", OPTION_INT, &options.jobs},
                            {"--build", OPTION_TEXT, &options.stage.build},
                            {"--work", OPTION_TEXT, &options.stage.work},
                            {"--cflags", OPTION_TEXT, &options.stage.optimize},
                            {"--kept", OPTION_TEXT, &options.kept},
                            {"--looks", OPTION_LOOKS, &options.looks},
                            {"--scans", OPTION_SCANS, &options.scans},
                            {"--half", OPTION_HALF, &options.half},
                            {"--far", OPTION_FAR, &options.far},
                            {"--stage", OPTION_STAGE, &options.in_c},
                            {"--target", OPTION_TARGET, NULL},
                            {"--seed", OPTION_SEED, NULL}};
  enum { ROWS = sizeof rows / sizeof *rows };
  for (int i = 1; i < argc; i++) {
    if (!strcmp(argv[i], "--module") && i + 1 < argc) {
      options.files = argv + i + 1;
      options.file_count = argc - i - 1;
      options.count = (uint64_t)options.file_count;
      options.from = 0;
      break;
    }
    int row = 0;
    while (row < ROWS && strcmp(argv[i], rows[row].name) != 0) row++;
    if (row == ROWS) refuse("unknown option", argv[i]);
    bool has_value = rows[row].kind != OPTION_FLAG;
    if (has_value && i + 1 == argc) refuse("no value of", argv[i]);
    take(&options, &rows[row], has_value ? argv[++i] : NULL);
  }
  check_options(&options);
  return options;
}

int main(int argc, char **argv) {
  if (argc > 1 && strcmp(argv[1], nvrtc_worker_word) == 0) return nvrtc_worker(argc - 2, argv + 2);
  Options options = read_options(argc, argv);
  return run_all(&options);
}
