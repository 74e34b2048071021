/* The flags that the C compiler is called with. */
#include "backend/common/command.h"
#include "backend/common/code.h"
#include "backend/common/externs.h"
#include "backend/common/images.h"

#include <ctype.h>
#include <string.h>
#if defined(__x86_64__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif
#include "data/words.h"
#include "support/panic.h"

/* gcc 12.2 at -O3 makes masked loads of conditional ones, and some masks are wrong where it has
 * unrolled the inner of two loops: for (j < 12) y[i * 12 + j] = mask[i * 12 + j] ? 0 : x[i * 12 + j].
 * So it unrolls no loop whole but those that ask for it (NNC_UNROLL). Without this unrolling steps
 * are not slower; -fno-tree-loop-if-convert, which helps as well, makes recurrent models take 1.7
 * times as long. Which later versions are right is not known, so all have the flag. */
static const char gcc_flag[] = "--param=max-completely-peel-times=0";

/* clang unrolls the loops that ask for it (NNC_UNROLL) and short ones. What else it would write out by itself
 * takes a third to a half of the time of a compile and a fourth of an executable; steps are not faster by it.
 * Nor does it load what the next round of a loop reads: a loop whose first element is known from the one before would
 * carry the others from round to round, and no longer be made vectors (softmax of rows of bf16 took 3.5 times as
 * long). */
static const char *const clang_flags[] = {
    "-mllvm", "-unroll-runtime=false", "-mllvm", "-unroll-allow-partial=false",
    "-mllvm", "-unroll-threshold=80",  "-mllvm", "-enable-load-in-loop-pre=false",
    NULL};

/* Intel's processors of today compute with whole 512-bit vectors as fast as with halves, but compilers still cut
 * them in two there, even vectors that a program declares: half the multiply-adds. Other processors are not
 * cut, and those without AVX-512 do not heed it. */
#if defined(__x86_64__)
static const char width_flag[] = "-mprefer-vector-width=512";
#else
static const char width_flag[] = "";
#endif

static bool is_gcc(const Toolchain *toolchain) {
  return strstr(toolchain->version, "clang") == NULL;
}

/* Whether this processor has a matrix unit that the system does not let processes use: see
 * runtime/abi/nnc_matrix.h. */
static bool is_matrix_refused(void) {
#if defined(__x86_64__)
  enum { TILES = 1 << 24 /* AMX-TILE, in EDX of leaf 7 */, ASK = 0x1023, TILE_DATA = 18 };
  unsigned eax, ebx, ecx, edx;
  bool has_unit = __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) && (edx & TILES) != 0;
  return has_unit && syscall(SYS_arch_prctl, ASK, TILE_DATA) != 0;
#else
  return false;
#endif
}

static bool has_matrix_unit(void) {
#if defined(__x86_64__)
  enum { TILES = 1 << 22 /* AMX-BF16, in EDX of leaf 7 */ };
  unsigned eax, ebx, ecx, edx;
  return __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) && (edx & TILES) != 0 &&
         !is_matrix_refused();
#else
  return false;
#endif
}

/* Whether this processor is Intel's, whose units of vectors multiply pairs of bf16 at half the speed of f32: see
 * runtime/abi/nnc_gemm_bf16.h. */
static bool are_pairs_slow(void) {
#if defined(__x86_64__)
  unsigned eax, vendor[3];
  return __get_cpuid(0, &eax, &vendor[0], &vendor[2], &vendor[1]) != 0 &&
         memcmp(vendor, "GenuineIntel", sizeof vendor) == 0;
#else
  return false;
#endif
}

/* Whether this processor multiplies numbers of bf16 at least as fast as f32. */
static bool multiplies_bf16(void) {
#if defined(__x86_64__)
  enum { PAIRS = 1 << 5 /* AVX512-BF16, in EAX of leaf 7.1 */ };
  unsigned eax, ebx, ecx, edx;
  if (has_matrix_unit()) return true;
  return __get_cpuid_count(7, 1, &eax, &ebx, &ecx, &edx) && (eax & PAIRS) != 0 && !are_pairs_slow();
#else
  return false;
#endif
}

bool command_multiplies_bf16(const char *arch) {
  if (arch == NULL || strcmp(arch, "native") == 0) return multiplies_bf16();
  bool is_level =
      strncmp(arch, "x86-64", strlen("x86-64")) == 0 || (arch[0] == 'v' && isdigit(arch[1]));
  return !is_level;
}

bool command_has_matrix_unit(const CompileOptions *options) {
  static const char *const names[] = {"sapphirerapids", "emeraldrapids", "graniterapids",
                                      "diamondrapids"};
  const char *arch = options->arch;
  if (options->cflags && strstr(options->cflags, "-DNNC_MATRIX_")) return true;
  if (arch == NULL || strcmp(arch, "native") == 0) return has_matrix_unit();
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strncmp(arch, names[i], strlen(names[i])) == 0) return true;
  return false;
}

static bool has_few_registers(void) {
#if defined(__x86_64__)
  enum { VECTORS_OF_64_BYTES = 1 << 16 /* AVX-512F, in EBX of leaf 7 */ };
  unsigned eax, ebx, ecx, edx;
  return !__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) || !(ebx & VECTORS_OF_64_BYTES);
#else
  return false;
#endif
}

bool command_has_few_registers(const char *arch) {
  static const char *const levels[] = {"x86-64", "x86-64-v2", "x86-64-v3", "v2", "v3"};
  if (arch == NULL || strcmp(arch, "native") == 0) return has_few_registers();
  for (size_t i = 0; i < sizeof levels / sizeof *levels; i++)
    if (strcmp(arch, levels[i]) == 0) return true;
  return false;
}

void command_flags(Arena *arena, Arguments *arguments, const CompileOptions *options,
                   const char *level) {
  /* Neither errno nor traps are observed: no result changes by these two. Of an axis of one element
   * `i == i` is no mistake. */
  process_add(arena, arguments, options->toolchain.cc, "-std=gnu11", "-O3", "-ffunction-sections",
              "-fdata-sections", "-fno-math-errno", "-fno-trapping-math", "-fPIE",
              "-Wno-tautological-compare", NULL);
  if (is_gcc(&options->toolchain)) vec_push(arena, arguments, gcc_flag);
  for (int i = 0; clang_flags[i] != NULL && !is_gcc(&options->toolchain); i++)
    vec_push(arena, arguments, clang_flags[i]);
  vec_push(arena, arguments, options->debug ? "-g" : "-fno-asynchronous-unwind-tables");
  const char *lowest = options->level_count > 0 ? options->levels[0] : NULL;
  const char *march =
      lowest ? arena_printf(arena, "x86-64-%s", level ? level : lowest) : options->arch;
  vec_push(arena, arguments, arena_printf(arena, "-march=%s", march));
  if (*width_flag) vec_push(arena, arguments, width_flag);
  bool is_native = strcmp(march, "native") == 0;
  if (is_native && is_matrix_refused()) vec_push(arena, arguments, "-DNNC_NO_MATRIX=1");
  if (is_native && are_pairs_slow()) vec_push(arena, arguments, "-DNNC_SLOW_PAIRS=1");
  if (level != NULL) vec_push(arena, arguments, arena_printf(arena, "-DNNC_LEVEL=%s", level));
  process_add_words(arena, arguments, options->cflags);
}

const char *command_headers(Arena *arena, const CompileOptions *options) {
  return arena_printf(arena, "%s/include/nnc", options->prefix);
}

void command_include(Arena *arena, Arguments *arguments, const CompileOptions *options) {
  process_add(arena, arguments, "-I", command_headers(arena, options), NULL);
}

const char *command_library(Arena *arena, const CompileOptions *options) {
  return arena_printf(arena, "%s/lib/nnc/libnncrt.a", options->prefix);
}

static void add_externs(Arena *arena, Arguments *arguments, const CompileOptions *options,
                        bool of_c) {
  int count;
  const ExternFile *files = externs_files(arena, options, of_c, &count);
  for (int i = 0; i < count; i++) vec_push(arena, arguments, files[i].name);
}

void command_linked(Arena *arena, Arguments *arguments, const CompileOptions *options) {
  add_externs(arena, arguments, options, false);
}

/* Code and tables lie at addresses of chance, what is known when it starts is read-only, and no
 * stack is code. Flags of the user's that say otherwise have the last word. */
static void add_hardening(Arena *arena, Arguments *arguments, const CompileOptions *options) {
  bool is_fixed = strstr(options->cflags, "-no-pie") != NULL;
  bool has_static_pie = options->toolchain.static_pie[0] != 0;
  process_add(arena, arguments, "-Wl,--gc-sections", "-Wl,-z,relro", "-Wl,-z,now",
              "-Wl,-z,noexecstack", NULL);
  if (options->is_static)
    vec_push(arena, arguments, has_static_pie && !is_fixed ? "-static-pie" : "-static");
  else if (!is_fixed) vec_push(arena, arguments, "-pie");
}

bool command_reads_pictures(const Module *module) {
  for (int i = 0; i < module->data_sets.count; i++)
    for (int p = 0; p < module->data_sets.items[i].pipeline_count; p++) {
      const DataPipeline *pipeline = &module->data_sets.items[i].pipelines[p];
      int gives = pipeline->call_count > 0 ? data_source_gives(pipeline->calls[0].function) : 0;
      CHECK(gives >= 0);
      if (data_decodes_pictures(gives)) return true;
    }
  return false;
}

void command_libraries(Arena *arena, Arguments *arguments, const CompileOptions *options) {
  if (options->images != NULL)
    vec_push(arena, arguments,
             arena_printf(arena, "%s/lib/nnc/%s", options->prefix, options->images->library));
  vec_push(arena, arguments, command_library(arena, options));
  for (int i = options->reads_pictures ? 0 : LIBRARY_ZLIB; i < LIBRARY_COUNT; i++)
    vec_push(arena, arguments,
             arena_printf(arena, *options->toolchain.libraries[i] ? "-l:lib%s.a" : "-l%s",
                          library_names[i]));
  process_add(arena, arguments, "-lm", "-lpthread", NULL);
  if (options->images != NULL) vec_push(arena, arguments, "-ldl"); /* opens the driver */
  add_hardening(arena, arguments, options);
  if (!options->debug) vec_push(arena, arguments, "-Wl,-s");
}

const char *command_whole(Arena *arena, const CompileOptions *options) {
  const char *line = "";
  Arguments last = {0};
  command_flags(arena, &last, options, NULL);
  command_include(arena, &last, options);
  if (options->images != NULL) {
    line = options->images->commands(arena, options);
    const char *images = code_string(arena, options->output);
    process_add(arena, &last, arena_printf(arena, "-DNNC_IMAGES=%s", images), "-x", "c", NULL);
  }
  vec_push(arena, &last, options->source);
  if (options->images != NULL) process_add(arena, &last, "-x", "none", NULL);
  add_externs(arena, &last, options, true);
  for (int i = 0; i < options->level_count; i++) {
    /* The object of a level lies beside the C file. */
    const char *object = arena_printf(arena, "%s.%s.o", options->output, options->levels[i]);
    Arguments one = {0};
    command_flags(arena, &one, options, options->levels[i]);
    command_include(arena, &one, options);
    process_add(arena, &one, "-c", options->source, "-o", object, NULL);
    vec_push(arena, &last, object);
    line = arena_printf(arena, "%s%s && ", line, process_command_line(arena, &one));
  }
  command_linked(arena, &last, options);
  process_add(arena, &last, "-o", options->output, NULL);
  command_libraries(arena, &last, options);
  return arena_printf(arena, "%s%s", line, process_command_line(arena, &last));
}
