/* Visiting a kernel's expressions.  They form a DAG, so each is visited once, found again by
 * its address in a small table; the order is that of the first visit and never depends on
 * addresses. */
#include "kernel/builder.h"
#include "support/table.h"

#include <string.h>

int kernel_stage_count(const Kernel *kernel) {
  return kernel_is_template(kernel) ? 1 : kernel->stage_count;
}

Stage kernel_stage(const Kernel *kernel, int stage) {
  if (!kernel_is_template(kernel)) return kernel->stages[stage];
  return (Stage){
      .kind = STAGE_STORE, .store_count = kernel->epilogue_count, .stores = kernel->epilogue};
}

typedef struct Visit {
  Arena *arena;
  PointerTable seen;
  ExprList list;
} Visit;

static void visit_expr(Visit *visit, Expr *expr) {
  if (!table_add(visit->arena, &visit->seen, expr, 0)) return;
  for (int i = 0; i < expr->arg_count; i++) visit_expr(visit, expr->args[i]);
  vec_push(visit->arena, &visit->list, expr);
}

ExprList kernel_expressions(Arena *arena, const Kernel *kernel, int number) {
  Visit visit = {.arena = arena};
  Stage stage = kernel_stage(kernel, number);
  if (stage.kind == STAGE_REDUCE) visit_expr(&visit, stage.value);
  for (int i = 0; i < stage.store_count; i++) visit_expr(&visit, stage.stores[i].value);
  return visit.list;
}
