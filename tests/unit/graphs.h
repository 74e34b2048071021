/* Building graphs and modules by hand, for the unit tests of graph/ and passes/. */
#ifndef NNC_TESTS_UNIT_GRAPHS_H
#define NNC_TESTS_UNIT_GRAPHS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "graph/module.h"
#include "graph/textual.h"
#include "ops/make.h"
#include "ops/op.h"
#include "ops/verify.h"
#include "support/names.h"

/* SHAPE(2, 3), a scalar is shape_scalar(). */
#define SHAPE(...)                                                                                 \
  shape_make((int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), (int64_t[]){__VA_ARGS__})
#define TYPE(dtype, ...) type_make(DTYPE_##dtype, SHAPE(__VA_ARGS__))

static inline Node *leaf(const Maker *maker, Op op, Type type, const char *name) {
  Attribute attribute = attr_make_string(ATTR_NAME, name);
  return make_leaf(maker, op, type, 1, &attribute);
}

static inline void output(Graph *graph, OutputKind kind, const char *name, Node *node) {
  graph_add_output(graph, (Output){.kind = kind, .name = name, .node = node, .span = node->span});
}

static inline Maker entry_maker(Module *module, EntryKind entry, const char *path) {
  if (!module->entries[entry])
    module->entries[entry] = graph_create(module->arena, entry_name(entry));
  return (Maker){module->entries[entry], {0}, path};
}

static inline void add_variable(Module *module, VariableKind kind, const char *path, Type type) {
  Variable variable = {.kind = kind, .path = name_intern(path), .type = type};
  vec_push(module->arena, &module->variables, variable);
}

static inline void add_input(Module *module, const char *name, Type type, bool is_batched) {
  InputInfo input = {.name = name_intern(name), .type = type, .is_batched = is_batched};
  vec_push(module->arena, &module->inputs, input);
}

static inline char *print_module(Arena *arena, const Module *module) {
  Text text = {0};
  module_print(&text, module);
  char *result = arena_strndup(arena, text.data, text.length);
  text_free(&text);
  return result;
}

static inline char *print_graph(Arena *arena, const Graph *graph) {
  Text text = {0};
  graph_print(&text, graph);
  char *result = arena_strndup(arena, text.data, text.length);
  text_free(&text);
  return result;
}

static inline char *print_diagnostics(Arena *arena, const Diagnostics *diagnostics) {
  char *data = NULL;
  size_t length = 0;
  FILE *stream = open_memstream(&data, &length);
  assert_non_null(stream);
  diagnostics_print(diagnostics, stream, 0);
  assert_int_equal(fclose(stream), 0);
  char *result = arena_strndup(arena, data, length);
  free(data);
  return result;
}

/* The module, or NULL with the diagnostics in *errors. */
static inline Module *parse_text(Arena *arena, const char *dump, size_t length, char **errors) {
  Diagnostics *diagnostics = diagnostics_create(arena);
  const SourceFile *file = source_from_text(arena, "a.dump", dump, length);
  Module *module = module_parse(arena, diagnostics, file, module_find_violation);
  *errors = print_diagnostics(arena, diagnostics);
  if (module) assert_int_equal(diagnostics_error_count(diagnostics), 0);
  else assert_true(diagnostics_error_count(diagnostics) > 0);
  return module;
}

static inline void assert_contains(const char *text, const char *part) {
  if (!strstr(text, part)) fail_msg("'%s' is not in:\n%s", part, text);
}

static inline void assert_verified(Arena *arena, const Module *module) {
  const char *message = module_verify(arena, module);
  if (message) fail_msg("%s", message);
}

#endif
