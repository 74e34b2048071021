/* Kernels as text, for dumps, and the key under which equal kernels are shared: the same text
 * without names. Expressions are numbered in the order of kernel_expressions, so sharing shows. */
#include "kernel/builder.h"
#include "kernel/class.h"

static void print_index(Text *text, const Index *index) {
  switch (index->kind) {
  case INDEX_CONST: text_printf(text, "%lld", (long long)index->value); return;
  case INDEX_AXIS: text_printf(text, "i%lld", (long long)index->value); return;
  case INDEX_LOAD:
    text_printf(text, "@%d[", index->operand);
    print_index(text, index->left);
    text_printf(text, "]<%lld", (long long)index->value);
    return;
  default: break;
  }
  text_add_char(text, '(');
  print_index(text, index->left);
  if (index->kind == INDEX_DIV || index->kind == INDEX_MOD) {
    text_printf(text, " %c %lld)", index->kind == INDEX_DIV ? '/' : '%', (long long)index->value);
    return;
  }
  text_add(text, index->kind == INDEX_ADD ? " + " : " * ");
  print_index(text, index->right);
  text_add_char(text, ')');
}

static int expr_number(const ExprList *list, const Expr *expr) {
  int i = list->count - 1;
  while (i > 0 && list->items[i] != expr) i--;
  return i;
}

static void print_guards(Text *text, const Expr *expr) {
  for (int i = 0; i < expr->guard_count; i++) {
    text_add(text, i == 0 ? " if 0 <= " : " and 0 <= ");
    print_index(text, expr->guards[i].index);
    text_printf(text, " < %lld", (long long)expr->guards[i].bound);
  }
  if (expr->guard_count == 0) return;
  text_add(text, " else ");
  text_add_double(text, expr->value);
}

static void print_expr(Text *text, const ExprList *list, const Expr *expr) {
  switch (expr->kind) {
  case EXPR_CONST: text_add_double(text, expr->value); break;
  case EXPR_LOAD:
    text_printf(text, "@%d[", expr->operand);
    print_index(text, expr->index);
    text_add_char(text, ']');
    print_guards(text, expr);
    break;
  case EXPR_SCALAR: text_printf(text, "scalar %d", expr->operand); break;
  case EXPR_INDEX: print_index(text, expr->index); break;
  case EXPR_OP:
    text_add(text, op_name(expr->op));
    for (int i = 0; i < expr->arg_count; i++)
      text_printf(text, "%s t%d", i > 0 ? "," : "", expr_number(list, expr->args[i]));
    break;
  case EXPR_STAGE: text_printf(text, "stage %d", expr->operand); break;
  case EXPR_RESULT: text_add(text, "result"); break;
  case EXPR_RANDOM:
    text_printf(text, "%s key %d stream %lld per %.0f at ", op_name(expr->op), expr->operand,
                (long long)expr->stream, expr->value);
    print_index(text, expr->index);
    break;
  }
  text_printf(text, " : %s\n", dtype_name(expr->dtype));
}

static void print_extents(Text *text, int first, int count, const int64_t *extent) {
  for (int i = 0; i < count; i++)
    text_printf(text, "%s i%d < %lld", i > 0 ? "," : "", first + i, (long long)extent[i]);
}

static void print_stage(Text *text, const Kernel *kernel, int number) {
  Arena *arena = arena_create();
  Stage stage = kernel_stage(kernel, number);
  ExprList list = kernel_expressions(arena, kernel, number);
  if (stage.kind == STAGE_REDUCE)
    text_printf(text, "  stage %d: %s over", number, op_name(stage.reduce));
  else text_printf(text, "  stage %d: store", number);
  print_extents(text, kernel->axis_count, stage.axis_count, stage.extent);
  text_add_char(text, '\n');
  for (int i = 0; i < list.count; i++) {
    text_printf(text, "    t%d = ", i);
    print_expr(text, &list, list.items[i]);
  }
  if (stage.kind == STAGE_REDUCE)
    text_printf(text, "    value t%d\n", expr_number(&list, stage.value));
  for (int i = 0; i < stage.store_count; i++) {
    text_printf(text, "    @%d[", stage.stores[i].operand);
    print_index(text, stage.stores[i].index);
    text_printf(text, "] = t%d\n", expr_number(&list, stage.stores[i].value));
  }
  arena_destroy(arena);
}

static const char *const kind_name[KERNEL_KIND_COUNT] = {
#define KERNEL(identifier, name) [KERNEL_##identifier] = #name,
#include "kernel/kernels.def"
};

static void kernel_describe(Text *text, const Kernel *kernel, bool with_names) {
  text_printf(text, "%s, in %s", kind_name[kernel->kind], dtype_name(kernel->accumulate));
  text_printf(text, ", %d scalars, %d keys%s\n", kernel->scalar_count, kernel->key_count,
              kernel->is_serial ? ", serial" : "");
  for (int i = 0; i < kernel->operand_count; i++) {
    const KernelOperand *operand = &kernel->operands[i];
    text_printf(text, "  @%d: %s[%lld]%s", i, dtype_name(operand->dtype),
                (long long)operand->elements, operand->is_output ? " out" : "");
    if (with_names && operand->name) text_printf(text, "  %s", operand->name);
    text_add_char(text, '\n');
  }
  if (kernel_class(kernel)->print) kernel_class(kernel)->print(text, kernel);
  text_add(text, "  domain");
  print_extents(text, 0, kernel->axis_count, kernel->extent);
  text_add_char(text, '\n');
  for (int i = 0; i < kernel_stage_count(kernel); i++) print_stage(text, kernel, i);
}

void kernel_print(Text *text, const Kernel *kernel) {
  text_printf(text, "kernel %s: ", kernel->name ? kernel->name : "?");
  kernel_describe(text, kernel, true);
  if (kernel->comment) text_printf(text, "  # %s\n", kernel->comment);
}

const char *kernel_key(Arena *arena, const Kernel *kernel) {
  Text text = {0};
  kernel_describe(&text, kernel, false);
  const char *key = arena_strndup(arena, text.data, text.length);
  text_free(&text);
  return key;
}
