/* Walking over a kernel's expressions.  They form a DAG, so each is visited once, found again by its
 * address in a small table; the order is that of the first visit and never depends on addresses. */
#include "kernel/builder.h"

#include <string.h>

int kernel_stage_count(const Kernel *kernel) {
  return kernel->kind == KERNEL_LOOP ? kernel->stage_count : 1;
}

Stage kernel_stage(const Kernel *kernel, int stage) {
  if (kernel->kind == KERNEL_LOOP) return kernel->stages[stage];
  return (Stage){.kind = STAGE_STORE, .store_count = kernel->epilogue_count,
                 .stores = kernel->epilogue};
}

typedef struct Walk {
  Arena *arena;
  const Expr **seen; /* open addressing */
  int capacity, count;
  ExprList list;
} Walk;

static const Expr **walk_slot(const Walk *walk, const Expr *expr) {
  uint64_t hash = (uint64_t)(uintptr_t)expr * 0x9E3779B97F4A7C15u;
  for (int i = (int)(hash >> 40) & (walk->capacity - 1);; i = (i + 1) & (walk->capacity - 1))
    if (walk->seen[i] == NULL || walk->seen[i] == expr) return &walk->seen[i];
}

static void walk_grow(Walk *walk) {
  const Expr **old = walk->seen;
  int old_capacity = walk->capacity;
  walk->capacity = old_capacity == 0 ? 64 : 2 * old_capacity;
  walk->seen = ARENA_ARRAY(walk->arena, const Expr *, walk->capacity);
  for (int i = 0; i < old_capacity; i++)
    if (old[i] != NULL) *walk_slot(walk, old[i]) = old[i];
}

static void walk_visit(Walk *walk, Expr *expr) {
  if (2 * walk->count >= walk->capacity) walk_grow(walk);
  const Expr **slot = walk_slot(walk, expr);
  if (*slot != NULL) return;
  *slot = expr;
  walk->count++;
  for (int i = 0; i < expr->arg_count; i++) walk_visit(walk, expr->args[i]);
  vec_push(walk->arena, &walk->list, expr);
}

ExprList kernel_expressions(Arena *arena, const Kernel *kernel, int number) {
  Walk walk = {.arena = arena};
  Stage stage = kernel_stage(kernel, number);
  if (stage.kind == STAGE_REDUCE) walk_visit(&walk, stage.value);
  for (int i = 0; i < stage.store_count; i++) walk_visit(&walk, stage.stores[i].value);
  return walk.list;
}
