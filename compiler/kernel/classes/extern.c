/* Functions of the user's: whole operands in, a whole result out, nothing fused. */
#include "kernel/class.h"
#include "support/panic.h"

static const Field operand_types[] = {FIELD("", TYPE, Kernel, external.operands[0])};

static const Field extern_slots[] = {
    FIELD("  ", NAME, Kernel, external.function),
    FIELD("(", ROWS, Kernel, external.count, .most = 16, .between = ", ",
          .columns = RECORD(operand_types)),
    FIELD(") : ", TYPE, Kernel, external.result),
    FIELD_LITERAL("\n"),
};

static int64_t extern_reads(const Kernel *kernel, int operand) {
  const ExternSlots *slots = &kernel->external;
  return operand < slots->count ? shape_elements(slots->operands[operand].shape) : -1;
}

static int64_t extern_results(const Kernel *kernel) {
  return shape_elements(kernel->external.result.shape);
}

static const char *extern_verify(Arena *arena, const Kernel *kernel) {
  for (int i = 0; i < kernel_template_operands(kernel); i++)
    if (kernel->external.operands[i].dtype != kernel->operands[i].dtype)
      return arena_printf(arena, "operand %d has another dtype than the function is given", i);
  if (kernel->epilogue_count != 1 || kernel->epilogue[0].value->kind != EXPR_RESULT)
    return "something was fused into a function of the user's";
  return NULL;
}

static void extern_evaluate(const Kernel *kernel, const KernelReader *reader, double *result) {
  (void)reader, (void)result;
  panic("only an executable computes %s", kernel->external.function);
}

const KernelClass kernel_class_extern = {
    .slots = RECORD(extern_slots),
    .reads = extern_reads,
    .results = extern_results,
    .verify = extern_verify,
    .evaluate = extern_evaluate,
};
