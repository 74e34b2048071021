/* Whether the operators in a kernel's expressions are used by their rules: each is asked what it makes
 * of scalars of its operands' types. */
#include "kernel/builder.h"
#include "ops/op.h"
#include "ops/verify.h"

/* (index, number, length, place), see check_index.c. */
static bool is_index_check(const Expr *expr) {
  return expr->arg_count == 4 && dtype_is_int(expr->dtype) && expr->args[0]->dtype == expr->dtype &&
         expr->args[1]->dtype == DTYPE_I64 && expr->args[2]->dtype == DTYPE_I64 &&
         expr->args[3]->dtype == DTYPE_I64;
}

/* A stage that finds a place gives an i32, also where it is called by the type of what it looks at. */
static DType operand_dtype(const Kernel *kernel, const Expr *expr) {
  bool is_place = expr->kind == EXPR_STAGE && (kernel->stages[expr->operand].reduce == OP_ARGMAX ||
                                               kernel->stages[expr->operand].reduce == OP_ARGMIN);
  return is_place && dtype_is_float(expr->dtype) ? DTYPE_I32 : expr->dtype;
}

static bool fits(Arena *arena, const Kernel *kernel, const Expr *expr, const char **reason) {
  Node operands[EXPR_MOST_ARGS], *list[EXPR_MOST_ARGS];
  Attribute dtype = attr_make_int(ATTR_DTYPE, expr->dtype);
  const OpInfo *info = op_info(expr->op);
  Node node = {.op = expr->op,
               .operand_count = expr->arg_count,
               .operands = list,
               .attribute_count = expr->op == OP_CAST,
               .attributes = &dtype,
               .path = ""};
  Type type;
  *reason = "it is not elementwise";
  if (expr->op == OP_CHECK_INDEX) return is_index_check(expr);
  if (!op_is_elementwise(expr->op)) return false;
  *reason = "it has another number of operands";
  if (expr->arg_count < info->least_operands || expr->arg_count > info->most_operands) return false;
  for (int i = 0; i < expr->arg_count; i++) {
    operands[i] = (Node){.type = type_scalar(operand_dtype(kernel, expr->args[i])), .path = ""};
    list[i] = &operands[i];
  }
  if (!node_infer(arena, &node, &type, reason)) return false;
  *reason = arena_printf(arena, "its result is %s", dtype_name(type.dtype));
  return type.dtype == expr->dtype;
}

const char *kernel_verify_operators(Arena *arena, const Kernel *kernel) {
  for (int s = 0; s < kernel_stage_count(kernel); s++) {
    ExprList list = kernel_expressions(arena, kernel, s);
    for (int i = 0; i < list.count; i++) {
      const Expr *expr = list.items[i];
      const OpInfo *info = op_info(expr->op);
      const char *reason = "it is not random";
      if (expr->kind == EXPR_OP ? !fits(arena, kernel, expr, &reason)
                                : expr->kind == EXPR_RANDOM && info->class->family != FAMILY_RANDOM)
        return arena_printf(arena, "operator %s in stage %d does not fit: %s", info->name, s,
                            reason);
    }
  }
  return kernel->feeder ? kernel_verify_operators(arena, kernel->feeder) : NULL;
}
