/* Visiting a kernel's expressions.  They form a DAG, so each is visited once, found again by
 * its address in a small table; the order is that of the first visit and never depends on
 * addresses. */
#include "kernel/builder.h"
#include "support/table.h"

#include <string.h>
#include "backend/c/tiles.h"

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

/* Stride of a load along an axis; 0 when it is no affine one. */
static int64_t load_stride(const Expr *load, int axis_count, int axis) {
  int64_t base, coefficient[2 * KERNEL_MAX_AXES];
  if (!index_is_affine(load->index, axis_count, &base, coefficient)) return 0;
  return coefficient[axis] < 0 ? -coefficient[axis] : coefficient[axis];
}

bool kernel_runs_along_rows(const Kernel *kernel) {
  if (kernel->axis_count == 0) return true;
  Arena *scratch = arena_create();
  bool rows = true;
  for (int s = 0; s < kernel_stage_count(kernel); s++) {
    Stage stage = kernel_stage(kernel, s);
    int axes = kernel->axis_count + stage.axis_count;
    if (stage.axis_count == 0) continue;
    ExprList list = kernel_expressions(scratch, kernel, s);
    for (int i = 0; i < list.count; i++) {
      if (list.items[i]->kind != EXPR_LOAD) continue;
      int64_t column = load_stride(list.items[i], axes, kernel->axis_count - 1);
      int64_t row = load_stride(list.items[i], axes, axes - 1);
      /* A load that is the same in the whole inner loop says nothing. */
      if (column != 0 && row != 0 && column < row) rows = false;
    }
  }
  arena_destroy(scratch);
  return rows;
}
