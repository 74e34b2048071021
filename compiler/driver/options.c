/* Options by argp: one table, from which --help is made. */
#include "driver/options.h"

#include <argp.h>
#include <ctype.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backend/c/kernels.h"
#include "backend/common/command.h"
#include "backend/cuda/cuda.h"
#include "backend/cuda/images.h"
#include "core/flags.h"
#include "driver/machine.h"
#include "driver/option_names.h"
#include "program/stages.h"
#include "support/names.h"

enum {
  KEY_EMIT = 256,
  KEY_REPORT,
  KEY_CHECK_GRADIENTS,
  KEY_CHECK_INDICES,
  KEY_DUMP_AFTER,
  KEY_STOP_AFTER,
  KEY_RESUME_AFTER,
  KEY_TIME_PASSES,
  KEY_HELP_PASSES,
  KEY_HELP_STAGES,
  KEY_TARGET,
  KEY_GEMM,
  KEY_CONV,
  KEY_FLOAT,
  KEY_SCANS,
  KEY_CC,
  KEY_ARCH,
  KEY_SAVE_TEMPS,
  KEY_COLOUR,
  KEY_CHECK,
  KEY_PARAMETERS,
  KEY_INTERNAL,
  KEY_MEMORY_LIMIT,
  KEY_THREADS,
  KEY_TUNE,
  KEY_CFLAGS,
  KEY_STATIC,
  KEY_REPORT_PAGE,
  KEY_UNITS,
  KEY_CACHE_DIR,
  KEY_CACHE_SIZE,
  KEY_NO_CACHE
};

static const struct argp_option option_table[] = {
    {0, 0, 0, 0, "Compiling:", 1},
    {"output", 'o', "FILE", 0, "Write the result to FILE", 1},
    {"define", 'D', "NAME=VALUE", 0,
     "Give a constant, or with train.KEY a key of the train block, another value", 1},
    {"optimize", 'O', "LEVEL", 0,
     "0: one kernel an operator, for debugging; 1 (default): everything", 1},
    {"target", KEY_TARGET, "MACHINE", 0,
     "c (default): this machine's processors; cuda: an NVIDIA GPU, which OUT needs the driver of",
     1},
    {"gemm", KEY_GEMM, "WHOSE", 0,
     "With --target=cuda, who computes matrix products: own (default): kernels of nnc's; cublaslt: "
     "NVIDIA's library where OUT finds it",
     1},
    {"conv", KEY_CONV, "HOW", 0,
     "With --target=c, convolutions of 3 and 5 taps in f32 and bf16: auto (default): by "
     "Winograd's minimal filtering where that is faster; direct: none",
     1},
    {"float", KEY_FLOAT, "TYPE", 0, "Compute all floating-point tensors in TYPE: f32 or f64", 1},
    {"scans", KEY_SCANS, "HOW", 0,
     "unroll: the steps of scans are written out, loop: they stay loops, auto (default): by their "
     "size",
     1},
    {"memory-limit", KEY_MEMORY_LIMIT, "SIZE", 0,
     "Recompute values or take the batch in parts until a run needs at most SIZE (64M, 1.5G) "
     "besides its data; or until activations and workspaces need at most such a share (60%) of "
     "what they take without a limit",
     1},
    {"threads", KEY_THREADS, "N", 0,
     "The threads that OUT is for (default: all of this machine): --memory-limit counts their "
     "workspaces, and recurrent layers are divided among them. OUT may be started with other "
     "numbers, for the same results",
     1},
    {"tune", KEY_TUNE, 0, 0,
     "Measure several ways to compute the training step on this machine, for --threads=N, and take "
     "the fastest; what was measured is kept in the cache",
     1},
    {"cc", KEY_CC, "PROGRAM", 0, "The C compiler (default: the newest clang found, else gcc)", 1},
    {"arch", KEY_ARCH, "ARCH", 0,
     "What the code is for, a -march of the C compiler (default: native) or a list: "
     "x86-64-v2,x86-64-v3,x86-64-v4. OUT then takes the best that its machine has, or the one of "
     "OUT --isa. With --target=cuda a list of architectures (default: sm_80,sm_90a)",
     1},
    {"cflags", KEY_CFLAGS, "FLAGS", 0, "More flags for the C compiler, separated by blanks", 1},
    {"debug", 'g', 0, 0,
     "Keep debugging information and symbols, and the emitted C that debuggers show", 1},
    {"static", KEY_STATIC, 0, 0, "Link no shared library, not even the C library", 1},
    {"report-page", KEY_REPORT_PAGE, 0, 0,
     "Let the executable write a page about a run, with its command report (some 35 KB)", 1},
    {"jobs", 'j', "N", 0, "How many C compilers run at a time (default: one a core)", 1},
    {"units", KEY_UNITS, "N", 0,
     "Cut the kernels into at most N units to compile (default: by how long they take). Few need "
     "less time of a processor, many use more processors and are found in the cache after an edit",
     1},
    {"cache-dir", KEY_CACHE_DIR, "DIR", 0,
     "Where compiled code is kept (default: $XDG_CACHE_HOME/nnc or ~/.cache/nnc)", 1},
    {"cache-size", KEY_CACHE_SIZE, "SIZE", 0,
     "The most that is kept; the files used longest ago go first (default: 512M)", 1},
    {"no-cache", KEY_NO_CACHE, 0, 0, "Compile everything, keep nothing", 1},
    {"save-temps", KEY_SAVE_TEMPS, 0, 0, "Keep the emitted C beside the executable", 1},
    {"verbose", 'v', 0, 0, "Show the commands that are run", 1},
    {0, 0, 0, 0, "Looking inside:", 2},
    {"emit", KEY_EMIT, "KIND", 0,
     "Instead of an executable: c, cuda, ir (the graphs as text), dot, program", 2},
    {"report", KEY_REPORT, "json", OPTION_ARG_OPTIONAL,
     "Print layers, cost and exact memory; compiles nothing", 2},
    {"check-gradients", KEY_CHECK_GRADIENTS, 0, 0,
     "Compare every parameter's gradient with central differences", 2},
    {"check-indices", KEY_CHECK_INDICES, 0, 0,
     "the executable stops with a message at an index outside of its axis; always with -O0", 0},
    {"dump-after", KEY_DUMP_AFTER, "PASS", 0,
     "Print the module after PASS, or after each with \"all\"; or what a stage of lowering leaves",
     2},
    {"stop-after", KEY_STOP_AFTER, "PASS", 0, "Run no pass after PASS", 2},
    {"resume-after", KEY_RESUME_AFTER, "PASS", 0,
     "FILE is a dump that was taken after PASS, or after plan, the last stage of lowering", 2},
    {"time-passes", KEY_TIME_PASSES, 0, 0, "Print how long each pass and each stage took", 2},
    {"help-passes", KEY_HELP_PASSES, 0, 0, "List the passes in their order", 2},
    {"help-stages", KEY_HELP_STAGES, 0, 0, "List the stages of lowering, which follow them", 2},
    {"parameters", KEY_PARAMETERS, 0, 0,
     "nnc check: print the paths, kinds and shapes of parameters and states", 2},
    {"internal", KEY_INTERNAL, 0, 0,
     "nnc doc: list the parts as well that the library's functions are made of", 2},
    {"color", KEY_COLOUR, "WHEN", 0, "Colour messages: auto, always, never", 2},
    {0, 0, 0, 0, "Formatting:", 3},
    {"in-place", 'i', 0, 0, "nnc fmt: rewrite the files instead of printing", 3},
    {"check", KEY_CHECK, 0, 0, "nnc fmt: only say which files would change", 3},
    {0, 0, 0, 0, "Help:", -1},
    {0, 0, 0, 0, 0, 0},
};

static const char documentation[] =
    "Compiles a network with its data, loss, optimizer and schedule to one executable that "
    "trains.\v"
    "Commands:\n"
    "  nnc FILE [-o OUT]    compile FILE; OUT train|eval|predict|info|bench|export\n"
    "  nnc check FILE...    report every mistake, compile nothing\n"
    "  nnc fmt FILE...      the canonical form, on standard output\n"
    "  nnc doc [NAME]       what the language offers; one entry with its source\n"
    "  nnc diff-parameters OLD NEW\n"
    "                       compare a checkpoint, or that of OLD.net, with NEW.net\n"
    "  nnc lsp              the language server, which editors start\n"
    "\n"
    "Exit status: 0 success, 1 mistakes in FILE or a failed check, 2 wrong usage, 3 the machine "
    "refused.";

static const Word command_words[] = {{"check", COMMAND_CHECK},
                                     {"fmt", COMMAND_FORMAT},
                                     {"doc", COMMAND_DOC},
                                     {"lsp", COMMAND_LSP},
                                     {"diff-parameters", COMMAND_DIFF_PARAMETERS},
                                     {"compile", COMMAND_COMPILE},
                                     {0, 0}};
static const Target *const targets[] = {&target_c, &target_cuda};
static const Word target_words[] = {{"c", 0}, {"cuda", 1}, {0, 0}};
static const Word conv_words[] = {{"auto", CONV_AUTO}, {"direct", CONV_DIRECT}, {0, 0}};
static const Word gemm_words[] = {{"own", GEMM_OWN}, {"cublaslt", GEMM_CUBLASLT}, {0, 0}};
static const Word emit_words[] = {{"c", EMIT_C},
                                  {"cuda", EMIT_CUDA},
                                  {"ir", EMIT_IR},
                                  {"dot", EMIT_DOT},
                                  {"program", EMIT_PROGRAM},
                                  {"exe", EMIT_EXECUTABLE},
                                  {0, 0}};
static const Word colour_words[] = {{"auto", -1}, {"always", 1}, {"never", 0}, {0, 0}};
static const Word report_words[] = {{"json", REPORT_JSON}, {"text", REPORT_TEXT}, {0, 0}};
static const Word float_words[] = {{"f32", DTYPE_F32}, {"f64", DTYPE_F64}, {0, 0}};
static const Word scan_words[] = {
    {"auto", SCANS_AUTO}, {"unroll", SCANS_UNROLL}, {"loop", SCANS_LOOP}, {0, 0}};
static const Word level_words[] = {{"0", 0}, {"1", 1}, {"2", 1}, {"3", 1}, {0, 0}};

/* Bytes: a number with K, M, G or T for powers of 1024, fractions allowed, "iB" or "B" after it or
 * not. */
static int64_t parse_size(struct argp_state *state, const char *option, const char *text,
                          const char *other_form) {
  static const char units[] = "KMGT";
  char *end;
  double value = strtod(text, &end);
  bool is_number = end > text && value > 0 && strspn(text, "0123456789.") == (size_t)(end - text);
  const char *unit = *end ? strchr(units, toupper((unsigned char)*end)) : NULL;
  for (int i = 0; unit && i <= unit - units; i++) value *= 1024;
  if (unit) end++;
  if (unit && *end == 'i') end++;
  if (*end == 'B') end++;
  if (!is_number || *end || value >= 0x1p60 || value < 1)
    argp_error(state, "%s takes a size such as 64M, 1.5G or a number of bytes%s, not \"%s\"",
               option, other_form, text);
  return (int64_t)value;
}

/* 64M, or 60%. */
static void parse_memory_limit(struct argp_state *state, Options *options, const char *text) {
  char *end;
  double percent = strtod(text, &end);
  options->memory_limit = 0, options->memory_share = 0;
  if (end == text || strcmp(end, "%") != 0) {
    options->memory_limit = parse_size(state, "--memory-limit", text, ", or a share such as 60%");
    return;
  }
  if (strspn(text, "0123456789.") != (size_t)(end - text) || !(percent > 0 && percent <= 100))
    argp_error(state, "--memory-limit takes a share above 0%% and up to 100%%, not \"%s\"", text);
  options->memory_share = percent / 100;
}

static int parse_count(struct argp_state *state, const char *option, const char *text, int most) {
  char *end;
  long value = strtol(text, &end, 10);
  if (end == text || *end || value < 1 || value > most)
    argp_error(state, "%s takes a number from 1 to %d, not \"%s\"", option, most, text);
  return (int)value;
}

static const char *pass_name(struct argp_state *state, const char *name, bool all) {
  enum { MOST = 64 };
  const char *names[MOST];
  int count = 0;
  if ((all && !strcmp(name, "all")) || pass_find(name)) return name;
  for (int i = 0; i < pass_count && count < MOST; i++) names[count++] = pass_table[i].name;
  for (int i = 0; i < stage_count && count < MOST; i++) names[count++] = stage_table[i].name;
  const char *nearest = name_nearest(name, names, count);
  const char *meant = nearest ? name_printf("; did you mean \"%s\"?", nearest) : ";";
  argp_error(state,
             "there is no pass or stage \"%s\"%s nnc --help-passes and --help-stages list them",
             name, meant);
  return NULL;
}

/* --resume-after: of the stages, the dump after the last one alone holds everything. */
static void set_resume(struct argp_state *state, Options *options, const char *name) {
  const char *last = stage_table[stage_count - 1].name;
  if (!stage_find(name)) options->passes.start_after = pass_name(state, name, false);
  else if (strcmp(name, last) == 0) options->stages.start_after = name;
  else
    argp_error(state,
               "the dump after the stage \"%s\" does not read back; the one after \"%s\" does",
               name, last);
}

static void list_passes(void) {
  for (int i = 0; i < pass_count; i++)
    printf("%-16s -O%d  %s\n", pass_table[i].name, pass_table[i].level, pass_table[i].summary);
  exit(0);
}

static void list_stages(void) {
  for (int i = 0; i < stage_count; i++)
    printf("%-16s -O%d  %s\n", stage_table[i].name, stage_table[i].level, stage_table[i].summary);
  exit(0);
}

typedef struct ParseState {
  Arena *arena;
  Options *options;
  bool command_seen;
} ParseState;

static void parse_positional(ParseState *parse, struct argp_state *state, char *argument) {
  Options *options = parse->options;
  if (!parse->command_seen && options->files.count == 0) {
    parse->command_seen = true;
    for (const Word *word = command_words; word->text; word++)
      if (!strcmp(word->text, argument)) {
        options->command = (Command)word->value;
        return;
      }
  }
  vec_push(parse->arena, &options->files, argument);
}

/* A dump has been through what these options are about. */
static void check_dumps(const Options *options, struct argp_state *state) {
  if (options->stages.start_after &&
      (options->has_level || options->has_float || options->has_scans ||
       options_limit_memory(options) || options->definitions.count > 0 ||
       options->check_gradients || options->check_indices || options->passes.dump_after ||
       options->passes.stop_after || options->stages.dump_after || options->tunes))
    argp_error(state,
               "after %s nothing is left to choose but what is emitted and how C is compiled",
               options->stages.start_after);
  if (options->passes.start_after && (options->has_float || options->definitions.count > 0))
    argp_error(state, "a dump has its types and constants: --float and -D are for .net files");
}

/* What the executable is for, and what is only for one of the targets. */
static void check_target(ParseState *parse, struct argp_state *state) {
  Options *options = parse->options;
  const char *arch = options->toolchain.arch, *mistake = NULL;
  if (options->emit == EMIT_CUDA && options->target == &target_c)
    argp_error(state, "--emit=cuda is for --target=cuda; with --target=c --emit=c writes the C");
  if (!options->target) options->target = options->emit == EMIT_CUDA ? &target_cuda : &target_c;
  bool is_cuda = options->target == &target_cuda;
  if (options->emit == EMIT_C && is_cuda)
    argp_error(state,
               "--emit=c is for --target=c; with --target=cuda --emit=cuda writes one file of "
               "the kernels and their host");
  if (options->gemm != GEMM_NONE && !is_cuda) argp_error(state, "--gemm is for --target=cuda");
  if (options->gemm == GEMM_CUBLASLT) options->target = target_cuda_cublaslt();
  if (options->conv != CONV_NONE && is_cuda) argp_error(state, "--conv is for --target=c");
  if (!is_cuda)
    options->target = target_c_of(options->conv == CONV_DIRECT, command_has_few_registers(arch),
                                  command_has_matrix_unit(&options->toolchain));
  if (is_cuda) mistake = cuda_usage_mistake(parse->arena, &options->toolchain);
  if (mistake) argp_error(state, "%s", mistake);
  if (!is_cuda && arch && (!strncmp(arch, "sm_", 3) || !strncmp(arch, "compute_", 8)))
    argp_error(state, "--arch=%s names GPUs, which are for --target=cuda", arch);
}

/* Measuring needs an optimized executable that this machine runs. */
static void check_tuning(const Options *options, struct argp_state *state) {
  if (!options->tunes) return;
  if (options->target->name != target_c.name)
    argp_error(state, "--tune measures on this machine's processors: it is for --target=c");
  if (options->passes.level == 0) argp_error(state, "--tune is for -O1: -O0 is for debugging");
  if (options->emit == EMIT_IR || options->emit == EMIT_DOT || options->check_gradients ||
      options->passes.dump_after || options->passes.stop_after || options->stages.dump_after)
    argp_error(state,
               "--tune chooses how kernels are computed: there are none in graphs and dumps");
  const char *arch = options->toolchain.arch, *lacking = NULL;
  if (arch && strchr(arch, ','))
    argp_error(state, "--tune measures one architecture: --arch takes one with it, not a list");
  if (arch) lacking = machine_lacks(arch);
  if (lacking)
    argp_error(state, "--tune measures on this machine, which cannot run --arch=%s: it has no %s",
               arch, lacking);
}

/* `-o gpt.c` where an executable is written: the C was meant, or a letter was. */
static void check_output(const Options *options, struct argp_state *state) {
  const char *end = options->output ? strrchr(options->output, '.') : NULL;
  bool is_cuda = end && !strcmp(end, ".cu"), is_c = end && !strcmp(end, ".c");
  bool is_compiled = options->command == COMMAND_COMPILE && options->emit == EMIT_EXECUTABLE &&
                     options->report == REPORT_NONE && !options->check_gradients &&
                     !options->passes.dump_after && !options->stages.dump_after;
  if (is_compiled && (is_c || is_cuda))
    argp_error(state,
               "-o %s is the name of a source, but an executable is made: add --emit=%s for the "
               "source, or choose a name without %s",
               options->output, is_c ? "c" : "cuda", end);
}

static void check_names(ParseState *parse, struct argp_state *state) {
  const char *mistake = option_names_mistake(parse->arena, option_table, state->argc, state->argv);
  state->name = "nnc"; /* argp gives it one later */
  if (mistake) argp_error(state, "%s", mistake);
}

static bool is_file(const char *path) {
  struct stat status;
  return stat(path, &status) == 0 && !S_ISDIR(status.st_mode);
}

/* `nnc train gpt.net` or `nnc gpt.net train`: what the executable is told. */
static void check_run_command(Arena *arena, const Options *options, struct argp_state *state) {
  static const char *const commands[] = {NNC_COMMAND_NAMES};
  for (int i = 0; i < options->files.count && i < 2; i++)
    for (size_t k = 0; k < sizeof commands / sizeof *commands; k++) {
      const char *word = options->files.items[i];
      if (strcmp(word, commands[k]) != 0 || is_file(word)) continue;
      const char *file = options->files.count > 1 ? options->files.items[1 - i] : "FILE";
      const char *slash = strrchr(file, '/'), *base = slash ? slash + 1 : file;
      const char *name = arena_strndup(arena, base, strcspn(base, "."));
      if (options->files.count == 1) name = "OUT";
      argp_error(state, "'%s' is a command of the executable: nnc %s -o %s, then ./%s %s", word,
                 file, name, name, word);
    }
}

/* `nnc chekc model.net`: a word that is no file, but nearly a command. */
static void check_command(const Options *options, struct argp_state *state) {
  const char *file = options->files.count > 0 ? options->files.items[0] : NULL;
  if (!file || options->command != COMMAND_COMPILE || access(file, F_OK) == 0) return;
  const char *nearest = option_nearest_word(command_words, file);
  if (nearest) argp_error(state, "unknown command '%s'; did you mean '%s'?", file, nearest);
}

static void check_usage(ParseState *parse, struct argp_state *state) {
  Options *options = parse->options;
  bool single = options->command == COMMAND_COMPILE;
  if (options->command == COMMAND_LSP && options->files.count > 0)
    argp_error(state, "nnc lsp takes no files: the editor sends them");
  if (options->files.count == 0 && options->command != COMMAND_DOC &&
      options->command != COMMAND_LSP)
    argp_error(state, "which .net file? (nnc FILE -o OUT)");
  if (options->command == COMMAND_DIFF_PARAMETERS && options->files.count != 2)
    argp_error(state, "diff-parameters wants two files, OLD and NEW");
  if (options->parameters && options->command != COMMAND_CHECK)
    argp_error(state, "--parameters is for nnc check");
  if (options->internal && (options->command != COMMAND_DOC || options->files.count > 0))
    argp_error(state, "--internal is for nnc doc without a name");
  if (options->tunes && !single) argp_error(state, "--tune is for compiling: nnc FILE --tune");
  check_dumps(options, state);
  check_target(parse, state);
  check_tuning(options, state);
  check_output(options, state);
  if (single) check_run_command(parse->arena, options, state);
  check_command(options, state);
  if (single && options->files.count > 1)
    argp_error(state, "one file makes one executable, but there are %d: %s, %s%s",
               options->files.count, options->files.items[0], options->files.items[1],
               options->files.count > 2 ? ", ..." : "");
}

/* Options that only set a bool or a string. */
typedef struct PlainOption {
  int key;
  size_t offset; /* in Options */
} PlainOption;

#define OPTION(key, field)                                                                         \
  { key, offsetof(Options, field) }
static const PlainOption flags[] = {OPTION('g', toolchain.debug),
                                    OPTION('v', toolchain.verbose),
                                    OPTION('i', format_in_place),
                                    OPTION(KEY_CHECK, format_check),
                                    OPTION(KEY_TUNE, tunes),
                                    OPTION(KEY_PARAMETERS, parameters),
                                    OPTION(KEY_INTERNAL, internal),
                                    OPTION(KEY_STATIC, toolchain.is_static),
                                    OPTION(KEY_REPORT_PAGE, toolchain.has_report),
                                    OPTION(KEY_NO_CACHE, no_cache),
                                    OPTION(KEY_SAVE_TEMPS, toolchain.save_temps),
                                    OPTION(KEY_CHECK_GRADIENTS, check_gradients),
                                    OPTION(KEY_CHECK_INDICES, check_indices)};
static const PlainOption strings[] = {
    OPTION('o', output), OPTION(KEY_CC, toolchain.cc), OPTION(KEY_ARCH, toolchain.arch),
    OPTION(KEY_CFLAGS, toolchain.cflags), OPTION(KEY_CACHE_DIR, toolchain.cache_folder)};
#undef OPTION

/* Options that set an int of at least 1. */
static const struct {
  int key;
  size_t offset; /* in Options */
  const char *name;
  int most;
} counts[] = {{KEY_THREADS, offsetof(Options, threads), "--threads", NNC_MAX_THREADS},
              {'j', offsetof(Options, toolchain.jobs), "--jobs", 4096},
              {KEY_UNITS, offsetof(Options, toolchain.units), "--units", 4096}};

static bool set_count(Options *options, int key, const char *argument, struct argp_state *state) {
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
    if (counts[i].key != key) continue;
    *(int *)((char *)options + counts[i].offset) =
        parse_count(state, counts[i].name, argument, counts[i].most);
    return true;
  }
  return false;
}

static bool set_plain(Options *options, int key, const char *argument) {
  for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
    if (flags[i].key == key) return *(bool *)((char *)options + flags[i].offset) = true;
  for (size_t i = 0; i < sizeof strings / sizeof *strings; i++) {
    if (strings[i].key != key) continue;
    *(const char **)((char *)options + strings[i].offset) = argument;
    return true;
  }
  return false;
}

static error_t parse_option(int key, char *argument, struct argp_state *state) {
  ParseState *parse = state->input;
  Options *options = parse->options;
  if (set_plain(options, key, argument) || set_count(options, key, argument, state)) return 0;
  switch (key) {
  case 'D':
    if (!strchr(argument, '=')) argp_error(state, "-D takes NAME=VALUE, not \"%s\"", argument);
    vec_push(parse->arena, &options->definitions, argument);
    break;
  case 'O':
    options->has_level = true;
    options->passes.level = option_word(state, level_words, argument, "-O");
    break;
  case KEY_TARGET:
    options->target = targets[option_word(state, target_words, argument, "--target")];
    break;
  case KEY_GEMM:
    options->gemm = (GemmChoice)option_word(state, gemm_words, argument, "--gemm");
    break;
  case KEY_CONV:
    options->conv = (ConvChoice)option_word(state, conv_words, argument, "--conv");
    break;
  case KEY_FLOAT:
    options->has_float = true;
    options->float_type = (DType)option_word(state, float_words, argument, "--float");
    break;
  case KEY_SCANS:
    options->has_scans = true;
    options->scans = (ScanChoice)option_word(state, scan_words, argument, "--scans");
    break;
  case KEY_MEMORY_LIMIT: parse_memory_limit(state, options, argument); break;
  case KEY_CACHE_SIZE:
    options->toolchain.cache_bytes = parse_size(state, "--cache-size", argument, "");
    break;
  case KEY_EMIT:
    options->emit = (EmitKind)option_word(state, emit_words, argument, "--emit");
    break;
  case KEY_REPORT:
    options->report =
        (ReportKind)option_word(state, report_words, argument ? argument : "text", "--report");
    break;
  case KEY_DUMP_AFTER:
    if (stage_find(argument)) options->stages.dump_after = argument;
    else options->passes.dump_after = pass_name(state, argument, true);
    break;
  case KEY_STOP_AFTER: options->passes.stop_after = pass_name(state, argument, false); break;
  case KEY_RESUME_AFTER: set_resume(state, options, argument); break;
  case KEY_TIME_PASSES: options->passes.time = options->stages.time = true; break;
  case KEY_HELP_PASSES: list_passes(); break;
  case KEY_HELP_STAGES: list_stages(); break;
  case KEY_COLOUR: options->colour = option_word(state, colour_words, argument, "--color"); break;
  case ARGP_KEY_INIT: check_names(parse, state); break;
  case ARGP_KEY_ARG: parse_positional(parse, state, argument); break;
  case ARGP_KEY_END: check_usage(parse, state); break;
  default: return ARGP_ERR_UNKNOWN;
  }
  return 0;
}

static void print_version(FILE *stream, struct argp_state *state) {
  fprintf(stream, "nnc %s\n", NNC_VERSION);
}

Options options_parse(Arena *arena, int argc, char **argv) {
  Options options = {.toolchain = {.cache_bytes = 512 << 20}, .colour = -1, .passes = {.level = 1}};
  ParseState parse = {arena, &options, false};
  struct argp parser = {option_table, parse_option, "[COMMAND] FILE...", documentation, 0, 0, 0};
  argp_program_version_hook = print_version;
  argp_err_exit_status = EXIT_USAGE;
  argp_parse(&parser, argc, argv, 0, NULL, &parse);
  if (options.colour < 0) options.colour = isatty(STDERR_FILENO) && !getenv("NO_COLOR");
  return options;
}
