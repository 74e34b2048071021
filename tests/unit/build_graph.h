/* What the tests of operators share: leaves, losses, and values for them. */
#ifndef NNC_TESTS_BUILD_GRAPH_H
#define NNC_TESTS_BUILD_GRAPH_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "interpret/interpret.h"
#include "ops/make.h"
#include "ops/op.h"
#include "ops/philox.h"
#include "support/hash.h"
#include "support/names.h"

/* Attributes as constant initializers. */
#define INTS(KEY, ...)                                                                             \
  {                                                                                                \
    .key = ATTR_##KEY, .count = sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t),                \
    .ints = (int64_t[]) {                                                                          \
      __VA_ARGS__                                                                                  \
    }                                                                                              \
  }
#define NO_INTS(KEY)                                                                               \
  {                                                                                                \
    .key = ATTR_##KEY, .count = 0, .ints = (int64_t[]) { 0 }                                       \
  }
#define INT(KEY, number)                                                                           \
  { .key = ATTR_##KEY, .integer = number }
#define REAL(KEY, number)                                                                          \
  { .key = ATTR_##KEY, .real = number }

static inline Shape shape_of(int rank, const int64_t *dim) { return shape_make(rank, dim); }
#define SHAPE(...)                                                                                 \
  shape_of(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t), (int64_t[]){__VA_ARGS__})

static inline Maker maker_of(Graph *graph, const char *path) {
  return (Maker){.graph = graph, .path = name_intern(path)};
}

static inline Node *leaf(Graph *graph, Op op, Type type, const char *name) {
  Attribute attribute = attr_make_string(ATTR_NAME, name);
  return make_leaf(&(Maker){graph, (Span){0}, name}, op, type, 1, &attribute);
}

static inline Node *sum_all(const Maker *maker, Node *x) {
  int64_t axes[MAX_RANK];
  for (int i = 0; i < x->type.shape.rank; i++) axes[i] = i;
  return make_reduce(maker, OP_REDUCE_SUM, x, x->type.shape.rank, axes);
}

static inline Node *gradient_of(const Maker *maker, Node *loss, Node *target) {
  return make_binary(maker, OP_GRADIENT, loss, target);
}

static inline void add_output(Graph *graph, OutputKind kind, const char *name, Node *node) {
  graph_add_output(graph, (Output){.kind = kind, .name = name_intern(name), .node = node});
}

/* Values in [low, high), whole for integers, from the name and a number. */
static inline Tensor *random_tensor(Arena *arena, Type type, const char *name, double low,
                                    double high) {
  Tensor *tensor = tensor_create(arena, type);
  uint64_t key = philox_key(7, hash_text(name));
  for (int64_t i = 0; i < shape_elements(type.shape); i++) {
    double u = philox_uniform(philox_block(key, (uint64_t)i, 0, 0).word[i % 4]);
    double value = low + u * (high - low);
    tensor->data[i] = dtype_is_float(type.dtype) ? value : (double)(int64_t)value;
  }
  return tensor;
}

static inline Tensor *tensor_of(Arena *arena, Type type, const double *values) {
  Tensor *tensor = tensor_create(arena, type);
  for (int64_t i = 0; i < shape_elements(type.shape); i++) tensor->data[i] = values[i];
  return tensor;
}

/* A module with one entry, for passes. */
static inline Module *module_of(Arena *arena, Graph *graph) {
  Module *module = module_create(arena, "test", NULL);
  module->entries[ENTRY_TRAIN] = graph;
  return module;
}

#endif
