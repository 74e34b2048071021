/* Kernels as C: each case is emitted, compiled as a shared object by one of four compilers in turn (warnings are errors;
 * -Og by gcc, -O0 by clang, for another machine -O1; where NNC_TEST_LONG is set, by all four with -O3), run with one to
 * four workers, and compared with the plain meaning of the kernel (kernel_reference.h). The bits must not depend on the
 * number of workers, and operands end where unreadable memory begins, so an access past an end is fatal. $NNC_TEST_SEED
 * draws other operands than 0 does; $NNC_TEST_COUNT: of so many seeds from it on. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dlfcn.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "backend/c/depthwise.h"
#include "backend/c/kernels.h"
#include "backend/c/narrow.h"
#include "backend/common/naming.h"
#include "backend/c/tiles.h"
#include "kernel/classes/window.h"
#include "emit_operands.h"
#include "kernel_cases.h"
#include "kernel_reference.h"
#include "lib/storage.h"
#include "backend/c/taps.h"
#include "backend/c/window.h"
#include "backend/c/winograd.h"
#include "template_cases.h"
#include "nnc_parallel.h"
#include "os/matrix.h"

typedef void (*CaseRunner)(nnc_worker *worker, void **operands, const double *scalars,
                           const uint64_t *keys, void *kept);

static const double test_scalars[4] = {0.37, -1.25, 2, 0.9};
static const uint64_t test_keys[2] = {0x1234567890abcdefu, 0xfedcba0987654321u};

/* ---- one case ---- */

static void run_each(CaseRunner runner, const Kernel *kernel, Operands *operands, int workers,
                     bool fills, void *kept) {
  size_t bytes = (size_t)target_worker_bytes(&target_c, kernel);
  for (int i = 0; i < workers; i++) {
    char *end, *scratch = poisoned_alloc(bytes, &end);
    nnc_worker worker = {.index = i, .count = workers, .scratch = scratch, .seed = 42, .step = 7};
    worker.scalars = test_scalars;
    worker.fills = fills;
    runner(&worker, operands->data, test_scalars, test_keys, kept);
    poisoned_free(end, bytes);
  }
}

/* What a kernel keeps is packed first, by all workers. */
static void run_workers(CaseRunner runner, const Kernel *kernel, Operands *operands, int workers) {
  size_t bytes = kernel->keeps_weights ? (size_t)target_kept_bytes(&target_c, kernel) : 0;
  char *end, *kept = poisoned_alloc(bytes, &end);
  if (kernel->keeps_weights) {
    assert_true(bytes > 0);
    run_each(runner, kernel, operands, workers, true, kept);
  }
  run_each(runner, kernel, operands, workers, false, kept);
  poisoned_free(end, bytes);
}

static double **operands_as_numbers(Arena *arena, const Kernel *kernel, const Operands *operands) {
  double **numbers = ARENA_ARRAY(arena, double *, kernel->operand_count);
  for (int i = 0; i < kernel->operand_count; i++) {
    numbers[i] = ARENA_ARRAY(arena, double, kernel->operands[i].elements);
    for (int64_t e = 0; e < kernel->operands[i].elements; e++)
      numbers[i][e] = element_get(kernel->operands[i].dtype, operands->data[i], e);
  }
  return numbers;
}

static double type_tolerance(DType dtype) {
  return dtype == DTYPE_F64    ? 1e-12
         : dtype == DTYPE_F32  ? 2e-5
         : dtype == DTYPE_BF16 ? 2e-2
         : dtype == DTYPE_F16  ? 2e-3
                               : 0;
}

static bool is_near(DType dtype, double wanted, double found, double scale, double off) {
  if (wanted != wanted || found != found) return (wanted != wanted) == (found != found);
  if (wanted == found) return true;
  return fabs(wanted - found) <= type_tolerance(dtype) * (fabs(wanted) + scale) + off;
}

typedef struct Errors {
  double square, most; /* their root mean square, and the greatest */
} Errors;

static Errors errors_of(const Kernel *kernel, double **wanted, double **found) {
  Errors errors = {0};
  int64_t count = 0;
  for (int i = 0; i < kernel->operand_count; i++) {
    if (!kernel->operands[i].is_output) continue;
    for (int64_t e = 0; e < kernel->operands[i].elements; e++, count++) {
      double error = fabs(found[i][e] - wanted[i][e]);
      errors.square += error * error;
      errors.most = fmax(errors.most, error);
    }
  }
  errors.square = count > 0 ? sqrt(errors.square / (double)count) : 0;
  return errors;
}

/* What is drawn for a case, and what it must give, whoever compiles it. */
typedef struct Trial {
  const KernelCase *test;
  int number, seed; /* in its family */
  Operands before;
  double **wanted, **off; /* operands after it, and how far those may be off: Reference */
} Trial;

static Trial trial_create(Arena *arena, const KernelCase *test, const char *family, int number,
                          int seed) {
  const Kernel *kernel = test->kernel;
  random_begin(family, seed, number);
  Trial trial = {.test = test, .number = number, .seed = seed, .before = operands_create(kernel)};
  if (kernel->kind == KERNEL_MAX_UNPOOL) draw_places(kernel, &trial.before);
  if (test->is_sparse) draw_sparse(kernel, &trial.before);
  if (strcmp(test->name, "first_places") == 0) draw_few(kernel, &trial.before);
  Reference reference = {.kernel = kernel,
                         .scalars = test_scalars,
                         .keys = test_keys,
                         .seed = 42,
                         .step = 7,
                         .before = operands_as_numbers(arena, kernel, &trial.before),
                         .after = operands_as_numbers(arena, kernel, &trial.before),
                         .off = ARENA_ARRAY(arena, double *, kernel->operand_count)};
  for (int i = 0; i < kernel->operand_count; i++)
    reference.off[i] = ARENA_ARRAY(arena, double, kernel->operands[i].elements);
  reference_run(&reference);
  trial.wanted = reference.after;
  trial.off = reference.off;
  return trial;
}

/* The cases of a family as one of the compilers made them. */
typedef struct Compiled {
  const char *cc;
  void *library;
  Errors before; /* of the case before */
} Compiled;

/* Compares the case's errors with those of the case before. */
static void check_errors(const KernelCase *test, Compiled *compiled, Errors own) {
  Errors before = compiled->before;
  if (test->times > 0 && (own.square == 0 || own.square > test->times * before.square ||
                          own.most > 2 * test->times * before.most))
    fail_msg("%s by %s: errors of %.3g, at most %.3g, where the case before has %.3g and %.3g",
             test->name, compiled->cc, own.square, own.most, before.square, before.most);
  compiled->before = own;
}

static bool is_product_of_bf16(const KernelCase *test) {
  return test->kernel->is_x3 || kernel_multiplies_bf16(test->kernel);
}

enum { COMPILERS = 6 };
/* In the order of compile_cases; the last three compute products of bf16 in other ways, and the last two have no other
 * cases. */
enum { CLANG, GCC, OLDER_CLANG, PAIRS, MATRIX_UNIT, MATRIX_UNIT_HERE };

/* Whether operands are packed for a matrix unit by instructions of this processor. */
static bool packs_by_instructions(void) {
#ifdef __x86_64__
  return __builtin_cpu_supports("avx512bf16");
#else
  return false;
#endif
}

/* The compilers of a case, a bit each. A case that is compared with the one before has the same. Turns are odd in number,
 * so that where every second case is of another type, each compiler gets both. */
static unsigned takers(const CaseList *list, const char *family, int number) {
  static const unsigned turns[] = {CLANG, GCC, CLANG, OLDER_CLANG, CLANG, PAIRS, CLANG};
  const int count = sizeof turns / sizeof *turns;
  int turn = (int)(strlen(family) % (size_t)count); /* small families begin elsewhere */
  for (int i = 1; i <= number; i++) turn += !(list->cases.items[i].times > 0);
  unsigned all = (1u << MATRIX_UNIT) - 1, of_bf16 = 1u << PAIRS | 1u << MATRIX_UNIT;
  if (list->cases.items[number].kernel->is_x3 && packs_by_instructions())
    of_bf16 |= 1u << MATRIX_UNIT_HERE;
  unsigned taken = getenv("NNC_TEST_LONG") ? all : 1u << turns[turn % count];
  return is_product_of_bf16(&list->cases.items[number]) ? taken | of_bf16 : taken;
}

/* What is made of zeros alone is 0. In a gradient of weights a sum is known for one by its terms, each of which is a sum
 * over tiles: in one case of some hundreds those that are not 0 nearly cancel in all terms. */
static void check_zeros(const Trial *trial, const Compiled *compiled, double **found) {
  const Kernel *kernel = trial->test->kernel;
  int64_t zeros = 0, wrong = 0;
  for (int i = 0; i < kernel->operand_count; i++)
    for (int64_t e = 0; e < kernel->operands[i].elements && kernel->operands[i].is_output; e++) {
      zeros += trial->wanted[i][e] == 0;
      wrong += trial->wanted[i][e] == 0 && found[i][e] != 0;
    }
  if (wrong > (kernel->kind == KERNEL_CONV_WEIGHT ? zeros / 200 : 0))
    fail_msg("%s by %s, seed %d: %lld of %lld sums of zeros are not 0", trial->test->name,
             compiled->cc, trial->seed, (long long)wrong, (long long)zeros);
}

static void check_trial(const Trial *trial, Compiled *compiled) {
  const KernelCase *test = trial->test;
  const Kernel *kernel = test->kernel;
  Arena *arena = arena_create();
  CaseRunner runner;
  void *symbol = dlsym(compiled->library, arena_printf(arena, "run_%d", trial->number));
  assert_non_null(symbol);
  memcpy(&runner, &symbol, sizeof runner);
  Operands one = operands_copy(&trial->before);
  run_workers(runner, kernel, &one, 1);
  double **found = operands_as_numbers(arena, kernel, &one);
  for (int i = 0; i < kernel->operand_count; i++)
    for (int64_t e = 0; e < kernel->operands[i].elements; e++)
      if (!is_near(kernel->operands[i].dtype, trial->wanted[i][e], found[i][e], test->scale,
                   trial->off[i][e]))
        fail_msg("%s by %s, seed %d: element %lld of operand %d is %.9g, should be %.9g",
                 test->name, compiled->cc, trial->seed, (long long)e, i, found[i][e],
                 trial->wanted[i][e]);
  if (test->is_sparse) check_zeros(trial, compiled, found);
  check_errors(test, compiled, errors_of(kernel, trial->wanted, found));
  for (int workers = 2; workers <= 4; workers++) {
    Operands many = operands_copy(&trial->before);
    run_workers(runner, kernel, &many, workers);
    for (int i = 0; i < kernel->operand_count; i++)
      if (memcmp(many.data[i], one.data[i], one.bytes[i]) != 0)
        fail_msg("%s by %s, seed %d: %d workers give other bits than one", test->name, compiled->cc,
                 trial->seed, workers);
    operands_free(&many);
  }
  operands_free(&one);
  arena_destroy(arena);
}

/* ---- emitting and compiling ---- */

static void emit_case(Code *code, NameScope *names, const KernelCase *test, int number) {
  const Kernel *kernel = test->kernel;
  const char *wrong = kernel_verify(code->arena, kernel);
  if (wrong) fail_msg("%s is no sound kernel: %s", test->name, wrong);
  if (test->is_part) enlarge_results((Kernel *)kernel);
  KernelFunction function = {
      .kernel = kernel, .dialect = &dialect_c, .name = naming_function(names, test->name)};
  NameScope inside = {.arena = code->arena, .outer = names};
  function.operands = ARENA_ARRAY(code->arena, const char *, kernel->operand_count + 1);
  function.scalars = ARENA_ARRAY(code->arena, const char *, kernel->scalar_count + 1);
  function.keys = ARENA_ARRAY(code->arena, const char *, kernel->key_count + 1);
  for (int i = 0; i < kernel->operand_count; i++)
    function.operands[i] = naming_make(&inside, kernel->operands[i].name);
  for (int i = 0; i < kernel->scalar_count; i++) function.scalars[i] = naming_make(&inside, "lr");
  for (int i = 0; i < kernel->key_count; i++) function.keys[i] = naming_make(&inside, "key");
  size_t mark = code_mark(code);
  back_end_c.write_kernel(code, &function);
  if (test->mentions && strstr(code->out->data + mark, test->mentions) == NULL)
    fail_msg("the C of %s has no %s", test->name, test->mentions);
  code_line(code, "void run_%d(nnc_worker *worker, void **operands, const double *scalars,",
            number);
  code_open(code, "           const uint64_t *keys, void *kept)");
  code_line(code, "(void)operands, (void)scalars, (void)keys, (void)kept;");
  Text call = {0};
  text_printf(&call, "%s(worker", function.name);
  for (int i = 0; i < kernel->operand_count; i++) text_printf(&call, ", operands[%d]", i);
  for (int i = 0; i < kernel->scalar_count; i++) text_printf(&call, ", scalars[%d]", i);
  for (int i = 0; i < kernel->key_count; i++) text_printf(&call, ", keys[%d]", i);
  if (kernel->keeps_weights) text_add(&call, ", kept");
  code_line(code, "%s);", call.data);
  text_free(&call);
  code_close(code);
}

static void write_file(const char *path, const Text *text) {
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  assert_int_equal(fwrite(text->data, 1, text->length, file), text->length);
  assert_int_equal(fclose(file), 0);
}

/* The C of all cases, each for the compilers that take it: TAKER is the bit of one. */
static void emit_cases(Arena *arena, const CaseList *list, const char *family, const char *path) {
  Text text = {0};
  Code code = {.arena = arena, .out = &text};
  NameScope names = {.arena = arena, .words = back_end_c.words};
  code_line(&code, "#include \"nnc_convolutions.h\"");
  code_line(&code, "nnc_task_range nnc_claim(nnc_worker *worker, int64_t tasks) { (void)worker, "
                   "(void)tasks; __builtin_trap(); }");
  for (int i = 0; i < list->cases.count; i++) {
    code_line(&code, "#if TAKER & %u", takers(list, family, i));
    emit_case(&code, &names, &list->cases.items[i], i);
    code_line(&code, "#endif");
  }
  write_file(path, &text);
  text_free(&text);
}

static Compiled compile_cases(Arena *arena, const char *source, const char *object, int c) {
  static const char *const compilers[COMPILERS] = {"clang -march=native",
                                                   "gcc -march=native",
                                                   "clang -march=x86-64-v3",
                                                   "gcc -march=x86-64 -DNNC_BF16_PAIRS=1",
                                                   "gcc -march=x86-64 -DNNC_MATRIX_PLAIN=1",
                                                   "clang -march=native -DNNC_MATRIX_PLAIN=1"};
  static const char *const quick[COMPILERS] = {"-O0", "-Og", "-O1", "-Og", "-Og", "-O1"};
  const char *no_matrix = nnc_matrix_permit() ? "" : "-DNNC_NO_MATRIX=1";
  const char *command = arena_printf(
      arena,
      "%s %s -DTAKER=%u -std=gnu11 %s -fno-math-errno -fno-trapping-math -Wall -Wextra -Werror "
      "-fPIC -shared "
      "-I %s/runtime/abi %s -o %s -lm",
      compilers[c], no_matrix, 1u << c, getenv("NNC_TEST_LONG") ? "-O3" : quick[c], SOURCE_DIR,
      source, object);
  if (system(command) != 0) fail_msg("this failed, the file is kept: %s", command);
  Compiled compiled = {.cc = compilers[c], .library = dlopen(object, RTLD_NOW | RTLD_LOCAL)};
  if (compiled.library == NULL) fail_msg("%s", dlerror());
  return compiled;
}

/* Compiles and runs all cases of a family. */
static void check_family(void (*make)(CaseList *list), const char *family) {
  Arena *arena = arena_create();
  CaseList list = {.arena = arena};
  make(&list);
  unsigned needed = 0;
  for (int i = 0; i < list.cases.count; i++) needed |= takers(&list, family, i);
  char folder[] = "/tmp/test_emit_XXXXXX";
  assert_non_null(mkdtemp(folder));
  const char *source = arena_printf(arena, "%s/%s.c", folder, family);
  emit_cases(arena, &list, family, source);
  Compiled compiled[COMPILERS] = {0};
  for (int c = 0; c < COMPILERS; c++) {
    if (!(needed & 1u << c)) continue;
    const char *object = arena_printf(arena, "%s/%s_%d.so", folder, family, c);
    compiled[c] = compile_cases(arena, source, object, c);
    unlink(object);
  }
  unlink(source);
  rmdir(folder);
  int first = number_of_environment("NNC_TEST_SEED", 0);
  int end = first + number_of_environment("NNC_TEST_COUNT", 1);
  for (int seed = first; seed < end; seed++)
    for (int i = 0; i < list.cases.count;) {
      Arena *inner = arena_create();
      Trial trial = trial_create(inner, &list.cases.items[i], family, i, seed);
      do {
        trial.test = &list.cases.items[trial.number = i];
        for (int c = 0; c < COMPILERS; c++)
          if (takers(&list, family, i) & 1u << c) check_trial(&trial, &compiled[c]);
      } while (++i < list.cases.count && list.cases.items[i].is_same);
      operands_free(&trial.before);
      arena_destroy(inner);
    }
  for (int c = 0; c < COMPILERS; c++)
    if (compiled[c].library) dlclose(compiled[c].library);
  arena_destroy(arena);
}

static void test_elementwise_loops(void **state) {
  (void)state;
  check_family(make_elementwise, "elementwise");
}
static void test_reductions(void **state) {
  (void)state;
  check_family(make_reductions, "reductions");
}
static void test_contractions(void **state) {
  (void)state;
  check_family(make_contractions, "contractions");
}
static void test_thin_contractions(void **state) {
  (void)state;
  check_family(make_thin_contractions, "thin_contractions");
  check_family(make_axpy_contractions, "axpy_contractions");
}

static void test_turned_rows(void **state) {
  (void)state;
  check_family(make_turned_rows, "turned_rows");
}
static void test_far_contractions(void **state) {
  (void)state;
  check_family(make_far_contractions, "far_contractions");
}
static void test_even_panels(void **state) {
  (void)state;
  check_family(make_even_panels, "even_panels");
}
static void test_split_contractions(void **state) {
  (void)state;
  check_family(make_split_contractions, "split_contractions");
}
static void test_convolutions(void **state) {
  (void)state;
  check_family(make_convolutions, "convolutions");
}
static void test_convolutions_last(void **state) {
  (void)state;
  check_family(make_convolutions_last, "convolutions_last");
}
static void test_winograd_convolutions(void **state) {
  (void)state;
  check_family(make_winograd_convolutions, "winograd_convolutions");
}
static void test_tight_winograd_convolutions(void **state) {
  (void)state;
  check_family(make_tight_winograd_convolutions, "tight_winograd_convolutions");
}
static void test_sparse_winograd_convolutions(void **state) {
  (void)state;
  check_family(make_sparse_winograd_convolutions, "sparse_winograd_convolutions");
}
static void test_winograd_convolutions_of_halves(void **state) {
  (void)state;
  check_family(make_winograd_convolutions_of_halves, "winograd_convolutions_of_halves");
}
static void test_chains(void **state) {
  (void)state;
  check_family(make_chains, "chains");
}
static void test_taps(void **state) {
  (void)state;
  check_family(make_taps, "taps");
}
static void test_pieces_by_winograd(void **state) {
  (void)state;
  check_family(make_pieces_by_winograd, "pieces_by_winograd");
}
static void test_far_winograd_convolutions(void **state) {
  (void)state;
  check_family(make_far_winograd_convolutions, "far_winograd_convolutions");
}
static void test_far_windows(void **state) {
  (void)state;
  check_family(make_far_windows, "far_windows");
}
static void test_streamed(void **state) {
  (void)state;
  check_family(make_streamed, "streamed");
}
static void test_blocks_by_winograd(void **state) {
  (void)state;
  check_family(make_blocks_by_winograd, "blocks_by_winograd");
}
static void test_exact_convolutions(void **state) {
  (void)state;
  check_family(make_exact_convolutions, "exact_convolutions");
}
static void test_keeping_products(void **state) {
  (void)state;
  check_family(make_keeping_products, "keeping_products");
}
static void test_seen_convolutions(void **state) {
  (void)state;
  check_family(make_seen_convolutions, "seen_convolutions");
}
static void test_keeping_depthwise(void **state) {
  (void)state;
  check_family(make_keeping_depthwise, "keeping_depthwise");
}
static void test_keeping_winograd_convolutions(void **state) {
  (void)state;
  check_family(make_keeping_winograd_convolutions, "keeping_winograd_convolutions");
}
static void test_moved_convolutions(void **state) {
  (void)state;
  check_family(make_moved_convolutions, "moved_convolutions");
}
static void test_narrow_convolutions(void **state) {
  (void)state;
  check_family(make_narrow_convolutions, "narrow_convolutions");
}
/* The other variants of the cases. */
static void make_variants(CaseList *list, void (*make)(CaseList *list)) {
  CaseList models = {.arena = list->arena};
  make(&models);
  for (int i = 0; i < models.cases.count; i++) {
    KernelCase model = models.cases.items[i];
    int64_t count = target_variant_count(&target_c, model.kernel);
    for (int64_t number = 1; number < count; number++) {
      Kernel *kernel = arena_copy(list->arena, model.kernel, sizeof *kernel);
      kernel->variant = number;
      KernelCase variant = model;
      variant.kernel = kernel;
      variant.name = arena_printf(list->arena, "%s, variant %lld", model.name, (long long)number);
      variant.times = 0;
      variant.is_same = number > 1;
      vec_push(list->arena, &list->cases, variant);
    }
  }
  assert_true(list->cases.count > 10);
}
static void make_contraction_variants(CaseList *list) { make_variants(list, make_contractions); }
static void make_convolution_variants(CaseList *list) {
  make_variants(list, make_convolutions_last);
}
static void make_winograd_variants(CaseList *list) {
  make_variants(list, make_winograd_convolutions);
}
static void test_variants(void **state) {
  (void)state;
  check_family(make_contraction_variants, "contraction_variants");
  check_family(make_convolution_variants, "convolution_variants");
  check_family(make_winograd_variants, "winograd_variants");
}
static void test_indexed(void **state) {
  (void)state;
  check_family(make_indexed, "indexed");
}

/* test_emit [PATTERN]: the tests whose name matches, as test_conv*. */
int main(int count, char **arguments) {
  if (count > 1) cmocka_set_test_filter(arguments[1]);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_elementwise_loops),
      cmocka_unit_test(test_reductions),
      cmocka_unit_test(test_contractions),
      cmocka_unit_test(test_thin_contractions),
      cmocka_unit_test(test_far_contractions),
      cmocka_unit_test(test_turned_rows),
      cmocka_unit_test(test_even_panels),
      cmocka_unit_test(test_split_contractions),
      cmocka_unit_test(test_convolutions),
      cmocka_unit_test(test_convolutions_last),
      cmocka_unit_test(test_winograd_convolutions),
      cmocka_unit_test(test_tight_winograd_convolutions),
      cmocka_unit_test(test_sparse_winograd_convolutions),
      cmocka_unit_test(test_winograd_convolutions_of_halves),
      cmocka_unit_test(test_chains),
      cmocka_unit_test(test_taps),
      cmocka_unit_test(test_pieces_by_winograd),
      cmocka_unit_test(test_far_winograd_convolutions),
      cmocka_unit_test(test_far_windows),
      cmocka_unit_test(test_streamed),
      cmocka_unit_test(test_blocks_by_winograd),
      cmocka_unit_test(test_exact_convolutions),
      cmocka_unit_test(test_keeping_products),
      cmocka_unit_test(test_seen_convolutions),
      cmocka_unit_test(test_keeping_depthwise),
      cmocka_unit_test(test_keeping_winograd_convolutions),
      cmocka_unit_test(test_moved_convolutions),
      cmocka_unit_test(test_narrow_convolutions),
      cmocka_unit_test(test_variants),
      cmocka_unit_test(test_indexed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
