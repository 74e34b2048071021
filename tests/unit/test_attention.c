/* Attention as an operator: where it is recognized and where not; that values and gradients are
 * those of the written-out form, in Programs for a target that has its kernels as well; that it
 * is written out again for one that has none; that dumps hold it. */
#include "run_program.h"
#include "scan_programs.h"

/* ---- a target that has every kind of kernel, of which it only says so ---- */

static const TargetKernel some_kernel;
static Target target_of_all, target_of_none, target_at_once;

static int make_target(void **state) {
  (void)state;
  target_at_once = target_c;
  target_at_once.attention_gains = NULL;
  target_at_once.attention_has_units = NULL;
  target_of_all = target_of_none = target_at_once;
  for (int kind = 0; kind < KERNEL_KIND_COUNT; kind++)
    if (!target_of_all.kernels[kind]) target_of_all.kernels[kind] = &some_kernel;
  target_of_none.kernels[KERNEL_ATTENTION_ROWS] = NULL;
  target_of_none.kernels[KERNEL_ATTENTION_GRADS] = NULL;
  return 0;
}

/* ---- programs ---- */

/* Of sequences [n, time, width] like x; z: longer ones, of the width of w. */
#define SEQUENCES                                                                                  \
  "const batch = 2\n"                                                                              \
  "data train { x = csv(\"a.csv\") }\n"                                                            \
  "input x : f32[batch, 5, 6]\n"                                                                   \
  "param w : f32[6, 6] = 0.4 * randn([6, 6])\n"                                                    \
  "param u : f32[6, 12] = 0.4 * randn([6, 12])\n"                                                  \
  "param bias : f32[5, 5] = randn([5, 5])\n"                                                       \
  "z = concat(x, sin(x[:, 1:3]), axis = 1)\n"
#define ENDING_OF(precision)                                                                       \
  "loss = mean(y * y) + mean(y)\n"                                                                 \
  "train { minimize = loss, optimizer = sgd(lr = 0.5), steps = 3" precision " }\n"

static const char *program_of(Arena *arena, const char *lines) {
  return arena_printf(arena, SEQUENCES "%s\n" ENDING_OF(", precision = f64"), lines);
}

/* After the passes, of which `stop_after` is the last one. */
static Module *compile(Arena *arena, const char *text, const Target *target,
                       const char *stop_after) {
  Diagnostics *diagnostics = diagnostics_create(arena);
  const SourceFile *file = source_from_text(arena, "a.net", text, strlen(text));
  Module *module = elaborate(arena, diagnostics, parse_program(arena, diagnostics, file), NULL);
  PipelineOptions options = {.level = 1, .stop_after = stop_after};
  bool stopped = false;
  if (module) module->target = target;
  if (!module || (!passes_run(module, diagnostics, &options, &stopped) && !stopped))
    fail_msg("%s", print_diagnostics(arena, diagnostics));
  return module;
}

static int count_op(const Graph *graph, Op op) {
  int count = 0;
  for (int i = 0; i < graph->nodes.count; i++) count += graph->nodes.items[i]->op == op;
  return count;
}

static void assert_same_training(Arena *arena, const Module *a, const Module *b, double tolerance) {
  const Graph *before = a->entries[ENTRY_TRAIN], *after = b->entries[ENTRY_TRAIN];
  const Evaluation *x = evaluate(arena, before), *y = evaluate(arena, after);
  assert_int_equal(before->outputs.count, after->outputs.count);
  for (int i = 0; i < before->outputs.count; i++) {
    const Tensor *p = evaluation_output(x, i), *q = evaluation_output(y, i);
    for (int64_t k = 0; k < shape_elements(p->type.shape); k++)
      if (!(fabs(p->data[k] - q->data[k]) <= tolerance * fmax(1, fabs(p->data[k]))))
        fail_msg("%s, element %lld: %.17g and %.17g", before->outputs.items[i].name, (long long)k,
                 p->data[k], q->data[k]);
  }
}

/* The entry as Programs, plain and optimized. */
static void check_programs(Arena *arena, const Module *module, double tolerance) {
  for (int level = 0; level <= 1; level++) {
    ProgramOptions options = {.level = level, .target = module->target};
    const Program *program = program_create(arena, module, &options);
    const char *wrong = compare_outputs(arena, program, ENTRY_TRAIN, tolerance);
    if (wrong) fail_msg("level %d: %s", level, wrong);
  }
}

static void check_recognized(const char *lines) {
  Arena *arena = arena_create();
  const char *text = program_of(arena, lines);
  Module *module = compile(arena, text, &target_of_all, NULL);
  const Graph *train = module->entries[ENTRY_TRAIN];
  if (count_op(train, OP_ATTENTION) != 1) fail_msg("not recognized: %s", lines);
  assert_int_equal(count_op(train, OP_ATTENTION_LSE), 1);
  assert_int_equal(count_op(train, OP_ATTENTION_GRAD_Q), 1);
  assert_true(count_op(train, OP_ATTENTION_GRAD_KV) <= 1); /* none where no parameter is behind */
  assert_same_training(arena, compile(arena, text, NULL, NULL), module, 1e-10);
  check_programs(arena, module, 1e-10);
  Module *at_once = compile(arena, text, &target_at_once, NULL);
  train = at_once->entries[ENTRY_TRAIN];
  assert_int_equal(count_op(train, OP_ATTENTION_ROWS), 1);
  assert_int_equal(count_op(train, OP_ATTENTION_GRADS), 1);
  assert_int_equal(count_family(train, FAMILY_ATTENTION), 2);
  assert_same_training(arena, compile(arena, text, NULL, NULL), at_once, 1e-10);
  check_programs(arena, at_once, 1e-10);
  arena_destroy(arena);
}

/* ---- what is recognized ---- */

static void test_attention_of_the_library_is_recognized(void **state) {
  (void)state;
  static const char *const lines[] = {
      "y = attention(x @ w, x, x)",
      "y = attention(x @ w, x, x, heads = 3)",
      "y = attention(x @ w, x, x, heads = 2, causal = true)",
      "y = attention(x @ w, z, z, heads = 2, scale = 0.3)",
      "y = attention(x @ w, z, z @ u, heads = 3, causal = true)",
      "y = attention(z @ w, x, x, causal = true)",
      "y = attention(x @ w, x, x, heads = 3, mask = bias > 0.5)",
      "y = attention(x @ w, x, x, heads = 3, mask = bias > 100)",
      "y = attention(x @ w, x, x, heads = 2, mask = bias)",
      "y = attention(x @ w, x, x, causal = true, mask = bias)",
      "y = attention(x @ w, x, x, heads = 2, causal = true, mask = x[:, none, none, :, 0] > 0)",
      "y = attention(x @ u, x, x @ w, heads = 4)", /* two heads of keys and values */
      "y = attention(x[:, 1:2] @ w, x[:, 2:], x[:, 2:])",
      "y = multi_head_attention(x @ w, 2, causal = true)",
  };
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) check_recognized(lines[i]);
}

#define OWN_SOFTMAX(rule)                                                                          \
  "def own(s) {\n  e = exp(s - max(s, axis = -1, keep = true))\n"                                  \
  "  p = e / sum(e, axis = -1, keep = true)\n  return p\n} gradient (dy) { return " rule " }\n"    \
  "y = own((x @ w) @ transpose(x, [0, 2, 1])) @ x"

static void test_attention_by_hand_is_recognized(void **state) {
  (void)state;
  static const char *const lines[] = {
      "y = softmax((x @ w) @ transpose(x, [0, 2, 1]) / 2.5) @ z[:, :5]",
      "y = einsum(\"nts,nsc->ntc\", softmax(einsum(\"ntc,nsc->nts\", x @ w, z)), z)",
      "y = softmax(x[0] @ w @ x[0].T) @ x[0]",
      "seen = arange(5)[:, none] >= arange(5)\n"
      "y = softmax(where(seen, (x @ w) @ transpose(x, [0, 2, 1]), -inf)) @ x",
      "later = arange(5) > arange(5)[:, none]\n"
      "y = softmax(where(later, -inf, (x @ w) @ transpose(x, [0, 2, 1]) * 0.5)) @ x",
      "y = masked_softmax(where(bias > 0, -inf, (x @ w) @ transpose(x, [0, 2, 1]))) @ x",
      OWN_SOFTMAX("p * (dy - sum(p * dy, axis = -1, keep = true))"),
  };
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) check_recognized(lines[i]);
}

static void test_other_things_stay(void **state) {
  (void)state;
  static const char *const lines[] = {
      "p = arange(5)[:, none] > arange(5) ; y = softmax(where(p, x[0] @ w @ x[0].T, -inf)) @ x[0]",
      "y = dropout(softmax((x @ w) @ transpose(x, [0, 2, 1])), 0.5) @ x",
      "p = softmax((x @ w) @ transpose(x, [0, 2, 1])) ; y = p @ x + mean(p)",
      "y = softmax((x @ w) @ transpose(x, [0, 2, 1]), axis = 1) @ x",
      "y = softmax((x @ w) @ transpose(x, [0, 2, 1]) * mean(w)) @ x",
      "y = softmax((x @ w) @ transpose(x, [0, 2, 1]) * -2.0) @ x",
      "y = softmax(((x @ w) @ transpose(x, [0, 2, 1]) + bias) * 2) @ x",
      "y = softmax(where(bias > 0, (x @ w) @ transpose(x, [0, 2, 1]), -inf)) @ x",
      "y = softmax(x[:, :, :5] @ w[:5, :5]) @ x",
      /* a program that states another gradient means it */
      OWN_SOFTMAX("2 * p * (dy - sum(p * dy, axis = -1, keep = true))"),
      OWN_SOFTMAX("dy * p"),
      OWN_SOFTMAX("(dy - sum(dy * p, axis = -2, keep = true)) * p"),
      OWN_SOFTMAX("(dy - sum(dy * e, axis = -1, keep = true)) * p"),
  };
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
    Arena *arena = arena_create();
    Module *module = compile(arena, program_of(arena, lines[i]), &target_of_all, NULL);
    if (count_family(module->entries[ENTRY_TRAIN], FAMILY_ATTENTION) > 0)
      fail_msg("recognized: %s", lines[i]);
    arena_destroy(arena);
  }
}

/* ---- types ---- */

static void test_types(void **state) {
  (void)state;
  static const char *const lines[] = {
      "q = cast(x @ w, bf16) ; y = cast(attention(q, q, q, heads = 2, causal = true), f32)",
      "q = cast(x @ w, f16) ; y = cast(attention(q, q, q, heads = 3), f32)",
  };
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
    Arena *arena = arena_create();
    const char *text = arena_printf(arena, SEQUENCES "%s\n" ENDING_OF(""), lines[i]);
    Module *module = compile(arena, text, &target_of_all, NULL);
    assert_int_equal(count_op(module->entries[ENTRY_TRAIN], OP_ATTENTION), 1);
    assert_same_training(arena, compile(arena, text, NULL, NULL), module, 2e-2);
    check_programs(arena, module, 1e-12);
    arena_destroy(arena);
  }
  Arena *arena = arena_create();
  const char *mixed =
      SEQUENCES "y = attention(x @ w, x @ w, x @ w, heads = 2, causal = true)\n" ENDING_OF(
          ", precision = bf16");
  Module *module = compile(arena, mixed, &target_of_all, NULL);
  assert_int_equal(count_op(module->entries[ENTRY_TRAIN], OP_ATTENTION), 1);
  assert_same_training(arena, compile(arena, mixed, NULL, NULL), module, 2e-2);
  arena_destroy(arena);
}

/* ---- written out again ---- */

static void test_a_target_without_kernels_gets_none(void **state) {
  (void)state;
  Arena *arena = arena_create();
  const char *text = program_of(arena, "y = attention(x @ w, x, x, causal = true, mask = bias)");
  const Module *plain = compile(arena, text, NULL, NULL);
  assert_int_equal(count_family(plain->entries[ENTRY_TRAIN], FAMILY_ATTENTION), 0);
  assert_string_equal(print_module(arena, plain),
                      print_module(arena, compile(arena, text, &target_of_none, NULL)));
  PipelineOptions rest = {.level = 1, .start_after = "differentiate"};
  bool stopped;
  Module *module = compile(arena, text, &target_of_all, "differentiate");
  assert_true(count_family(module->entries[ENTRY_TRAIN], FAMILY_ATTENTION) > 0);
  module->target = &target_of_none;
  assert_true(passes_run(module, diagnostics_create(arena), &rest, &stopped));
  assert_int_equal(count_family(module->entries[ENTRY_TRAIN], FAMILY_ATTENTION), 0);
  assert_same_training(arena, plain, module, 1e-12);
  check_program(arena, module, ENTRY_TRAIN, 1e-12, "written out again");
  arena_destroy(arena);
}

/* ---- what gains on a CPU ---- */

static void test_long_or_causal_attention_gains(void **state) {
  (void)state;
  static const struct {
    AttentionUse use;
    bool gains;
  } cases[] = {
      {{.queries = 64, .keys = 64, .is_causal = true}, false},
      {{.queries = 128, .keys = 128, .is_causal = true}, true},
      {{.queries = 1, .keys = 128, .is_causal = true}, false},
      {{.queries = 197, .keys = 197}, false},
      {{.queries = 512, .keys = 512}, true},
      {{.queries = 1, .keys = 512}, true},
      {{.queries = 512, .keys = 512, .is_causal = true, .splits_products = true}, false},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    assert_int_equal(op_attention_gains(&target_c, &cases[i].use), cases[i].gains);
}

/* ---- dumps ---- */

static void test_dumps_hold_it(void **state) {
  (void)state;
  Arena *arena = arena_create();
  const char *text = program_of(arena, "y = attention(x @ w, x, x, heads = 2, causal = true)");
  const char *dump = print_module(arena, compile(arena, text, &target_of_all, NULL));
  char *errors;
  Module *again = parse_text(arena, dump, strlen(dump), &errors);
  if (!again) fail_msg("%s", errors);
  assert_string_equal(print_module(arena, again), dump);

  PipelineOptions nothing = {.start_after = "dce"};
  Diagnostics *diagnostics = diagnostics_create(arena);
  bool stopped;
  again->target = &target_c;
  assert_false(passes_run(again, diagnostics, &nothing, &stopped));
  if (!strstr(print_diagnostics(arena, diagnostics), "made for another target"))
    fail_msg("%s", print_diagnostics(arena, diagnostics));
  again->target = &target_of_all;
  assert_true(passes_run(again, diagnostics_create(arena), &nothing, &stopped));

  Text whole = {0};
  ProgramOptions options = {.level = 1, .target = &target_of_all};
  program_print_whole(&whole, program_create(arena, again, &options));
  const SourceFile *file = source_from_text(arena, "a.dump", whole.data, whole.length);
  diagnostics = diagnostics_create(arena);
  const Program *read =
      program_parse(arena, diagnostics, file, module_find_violation, &target_of_all);
  if (!read) fail_msg("%s", print_diagnostics(arena, diagnostics));
  Text second = {0};
  program_print_whole(&second, read);
  assert_string_equal(second.data, whole.data);
  assert_null(program_parse(arena, diagnostics, file, module_find_violation, &target_c));
  text_free(&whole);
  text_free(&second);
  arena_destroy(arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_attention_of_the_library_is_recognized),
      cmocka_unit_test(test_attention_by_hand_is_recognized),
      cmocka_unit_test(test_other_things_stay),
      cmocka_unit_test(test_types),
      cmocka_unit_test(test_a_target_without_kernels_gets_none),
      cmocka_unit_test(test_long_or_causal_attention_gains),
      cmocka_unit_test(test_dumps_hold_it),
  };
  return cmocka_run_group_tests(tests, make_target, NULL);
}
