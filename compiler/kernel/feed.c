/* Kernels that feed others: feed.h. */
#include "kernel/feed.h"

#include "kernel/builder.h"
#include "kernel/class.h"
#include "support/panic.h"

int feeder_result(const Kernel *feeder) { return feeder->epilogue[0].operand; }

bool kernel_feeder_reads(const Kernel *kernel, int operand) {
  for (int i = 0; kernel->feeder && i < kernel->feeder->operand_count; i++)
    if (kernel->feed[i] == operand) return true;
  return false;
}

/* Every load is of an element that the point alone says. */
static bool loads_known_places(const Kernel *kernel) {
  Arena *arena = arena_create();
  ExprList list = kernel_expressions(arena, kernel, 0);
  int64_t base, coefficient[KERNEL_MAX_AXES];
  bool is_known = true;
  for (int i = 0; i < list.count && is_known; i++) {
    const Expr *expr = list.items[i];
    if (expr->kind == EXPR_LOAD)
      is_known = expr->guard_count == 0 &&
                 index_is_affine(expr->index, kernel->axis_count, &base, coefficient);
    else is_known = expr->kind == EXPR_CONST || expr->kind == EXPR_OP || expr->kind == EXPR_RESULT;
  }
  arena_destroy(arena);
  return is_known;
}

static int count_results(const Kernel *kernel) {
  int count = 0;
  for (int i = 0; i < kernel->operand_count; i++) count += kernel->operands[i].is_output;
  return count;
}

bool kernel_can_be_fed(const Kernel *kernel, const Kernel *feeder) {
  if (!kernel_is_template(kernel) || !kernel_is_template(feeder) || kernel->feeder ||
      feeder->feeder)
    return false;
  if (feeder->epilogue_count != 1 || count_results(feeder) != 1 || feeder->scalar_count > 0 ||
      feeder->key_count > 0 || feeder_result(feeder) < kernel_template_operands(feeder))
    return false;
  const KernelOperand *given = &feeder->operands[feeder_result(feeder)];
  const KernelOperand *taken = &kernel->operands[0];
  return !taken->is_output && given->dtype == taken->dtype && given->elements == taken->elements &&
         kernel_class(kernel)->reads(kernel, 0) == taken->elements && loads_known_places(feeder);
}

void kernel_take_feeder(Arena *arena, Kernel *kernel, const Kernel *feeder) {
  CHECK(kernel_can_be_fed(kernel, feeder));
  int own = kernel->operand_count, count = feeder->operand_count;
  KernelOperand *operands = ARENA_ARRAY(arena, KernelOperand, own + count);
  int *feed = ARENA_ARRAY(arena, int, count);
  for (int i = 1; i < own; i++) operands[i] = kernel->operands[i];
  operands[0] = feeder->operands[0];
  for (int i = 1; i < count; i++) {
    feed[i] = i == feeder_result(feeder) ? -1 : own;
    if (feed[i] >= 0) operands[own++] = feeder->operands[i];
  }
  kernel->operands = operands;
  kernel->operand_count = own;
  kernel->feeder = feeder;
  kernel->feed = feed;
}

const char *kernel_verify_feeder(Arena *arena, const Kernel *kernel) {
  const Kernel *feeder = kernel->feeder;
  if (!kernel_is_template(kernel) || !kernel_is_template(feeder))
    return "a feeder is a template, of one";
  if (feeder->feeder) return "a feeder that has a feeder";
  const char *wrong = kernel_verify(arena, feeder);
  if (wrong) return arena_printf(arena, "the feeder: %s", wrong);
  int made = -1;
  for (int i = 0; i < feeder->operand_count; i++) {
    const KernelOperand *own = &feeder->operands[i];
    int place = kernel->feed[i];
    if (place < -1 || place >= kernel->operand_count || (i == 0) != (place == 0))
      return arena_printf(arena, "operand %d of the feeder is none of the kernel's", i);
    if (place < 0) made = made < 0 ? i : feeder->operand_count;
    else if (own->is_output || kernel->operands[place].is_output ||
             own->dtype != kernel->operands[place].dtype ||
             own->elements != kernel->operands[place].elements)
      return arena_printf(arena, "operand %d of the feeder is another than operand %d", i, place);
  }
  if (made < 0 || made == feeder->operand_count || feeder->epilogue_count != 1 ||
      feeder_result(feeder) != made || count_results(feeder) != 1)
    return "a feeder stores one value";
  Kernel fed = *kernel; /* as if its operand 0 were in memory */
  KernelOperand *operands =
      arena_copy(arena, kernel->operands, sizeof *operands * (size_t)kernel->operand_count);
  operands[0] = feeder->operands[made];
  fed.operands = operands;
  fed.feeder = NULL;
  operands[0].is_output = false;
  return kernel_can_be_fed(&fed, feeder) ? NULL
                                         : "what the feeder stores is not what the kernel reads";
}
