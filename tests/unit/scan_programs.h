/* Programs with scans: elaborated, passed, trained by the interpreter and compared. */
#ifndef NNC_TESTS_UNIT_SCAN_PROGRAMS_H
#define NNC_TESTS_UNIT_SCAN_PROGRAMS_H

#include <math.h>

#include "elaborate/elaborate.h"
#include "evaluate_graphs.h"
#include "interpret/interpret.h"
#include "ops/scan.h"
#include "passes/pass.h"
#include "syntax/parse.h"

static inline const Node *first_scan(const Graph *graph) {
  for (int i = 0; i < graph->nodes.count; i++)
    if (graph->nodes.items[i]->body) return graph->nodes.items[i];
  return NULL;
}

static inline Module *elaborate_with(Arena *arena, const char *text, const char *stop_after,
                                     int level, ScanChoice scans) {
  Diagnostics *diagnostics = diagnostics_create(arena);
  const SourceFile *file = source_from_text(arena, "a.net", text, strlen(text));
  AstProgram *program = parse_program(arena, diagnostics, file);
  Module *module = elaborate(arena, diagnostics, program, NULL);
  PipelineOptions options = {.level = level, .stop_after = stop_after};
  bool stopped = false;
  if (module) module->run.scans = scans;
  if (!module || (!passes_run(module, diagnostics, &options, &stopped) && !stopped))
    fail_msg("%s", print_diagnostics(arena, diagnostics));
  return module;
}

static inline Module *elaborate_text(Arena *arena, const char *text, const char *stop_after,
                                     int level) {
  return elaborate_with(arena, text, stop_after, level, SCANS_UNROLL);
}

#define HEADING                                                                                    \
  "const batch = 2\n"                                                                              \
  "data train { x, y = csv(\"a.csv\") }\n"                                                         \
  "input x : f32[batch, 3]\ninput y : f32[batch, 3]\n"                                             \
  "param w : f32[3, 3] = 0.3 * randn([3, 3])\nparam b : f32[3] = 0.1\n"                            \
  "param k : f32[3, 3] = 0.2 * randn([3, 3])\n"
#define ENDING "train { minimize = loss, optimizer = sgd(lr = 0.5), steps = 3, precision = f64 }\n"

static inline void set_input(Tensor *tensor, double start) {
  for (int64_t i = 0; i < shape_elements(tensor->type.shape); i++)
    tensor->data[i] = sin(start + 1.7 * (double)i);
}

/* The weights after two steps. */
static inline Interpreter *train_twice(Arena *arena, const char *text, const char *stop_after,
                                       int level, ScanChoice scans) {
  Module *module = elaborate_with(arena, text, stop_after, level, scans);
  Interpreter *interpreter = interpreter_create(arena, module, 5);
  Type type = type_make(DTYPE_F64, SHAPE(2, 3));
  Binding inputs[2] = {{OP_INPUT, name_intern("x"), NULL}, {OP_INPUT, name_intern("y"), NULL}};
  for (int step = 1; step <= 2; step++) {
    for (int i = 0; i < 2; i++) {
      Tensor *tensor = tensor_create(arena, type);
      set_input(tensor, step + 10 * i);
      inputs[i].value = tensor;
    }
    interpreter_run(interpreter, ENTRY_TRAIN, 2, inputs, (RunTime){step, 0, 3, 3});
  }
  return interpreter;
}

static inline void expect_weights(const char *scan, const char *loop, const char *stop_after,
                                  int level, ScanChoice scans) {
  Arena *arena = arena_create();
  Interpreter *a = train_twice(arena, scan, stop_after, level, scans);
  Interpreter *b = train_twice(arena, loop, stop_after, 0, SCANS_UNROLL);
  static const char *const names[] = {"w", "b", "k"};
  for (int n = 0; n < 3; n++) {
    const Tensor *x = interpreter_variable(a, names[n]), *y = interpreter_variable(b, names[n]);
    for (int64_t i = 0; i < shape_elements(x->type.shape); i++)
      if (!(fabs(x->data[i] - y->data[i]) < 1e-14 * fmax(1, fabs(x->data[i]))))
        fail_msg("%s[%lld]: %.17g and %.17g", names[n], (long long)i, x->data[i], y->data[i]);
  }
  arena_destroy(arena);
}

/* The gradients' scans themselves, then what all passes leave of them. */
static inline void expect_same_weights(const char *scan, const char *loop) {
  expect_weights(scan, loop, "differentiate", 0, SCANS_AUTO);
  for (int level = 0; level <= 1; level++) {
    expect_weights(scan, loop, "dce", level, SCANS_UNROLL);
    expect_weights(scan, loop, "dce", level, SCANS_LOOP);
  }
}

static inline int count_family(const Graph *graph, OpFamily family) {
  int count = 0;
  for (int i = 0; i < graph->nodes.count; i++)
    count += op_info(graph->nodes.items[i]->op)->class->family == family;
  return count;
}

static inline const Node *reverse_scan(const Graph *graph) {
  const Node *found = NULL;
  for (int i = 0; i < graph->nodes.count; i++) {
    const Node *node = graph->nodes.items[i];
    if (!node->body || !scan_shape(node).reverse) continue;
    assert_null(found);
    found = node;
  }
  assert_non_null(found);
  return found;
}

#endif
