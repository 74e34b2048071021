/* Whether a scatter_add leaves rows as they are that no index names.
 *
 * Their sum is +0. The epilogue is evaluated with it as far as that goes without looking at memory:
 * `w - 0.1 * 0` is w, bit for bit, and so is `where(0 != 0, new, w)`, whatever is new; `0.9 * m + 0.1 * 0` is
 * not m. A factor that is known only when the program runs, such as a learning rate, gives 0 if it is finite
 * and not negative; the kernel asks that once. */
#include "backend/c/sparse.h"
#include "kernel/builder.h"
#include "ops/number.h"
#include "ops/op.h"

#include <math.h>

typedef enum KnownKind { KNOWN_NOTHING, KNOWN_NUMBER, KNOWN_OLD, KNOWN_SCALAR } KnownKind;

/* What is known of a value: nothing, its number, that it is what is stored in the element, or that it is
 * a host scalar. */
typedef struct Known {
  KnownKind kind;
  double number;
} Known;

typedef struct Idle {
  const Kernel *kernel;
  const Store *store;
  uint64_t scalars; /* bit i: host scalar i must be finite and not negative */
} Idle;

static const Known nothing = {KNOWN_NOTHING, 0};

static bool is_zero(Known x, bool negative) {
  return x.kind == KNOWN_NUMBER && x.number == 0 && !signbit(x.number) == !negative;
}

static bool is_old(const Idle *idle, const Expr *load) {
  return load->guard_count == 0 && load->operand == idle->store->operand &&
         index_equal(load->index, idle->store->index);
}

/* Of a conversion: an element is the same in a wider type, and back in its own. */
static bool keeps_digits(const Idle *idle, DType to) {
  DType own = idle->kernel->operands[idle->store->operand].dtype;
  return to == own || (dtype_is_float(to) && dtype_size(to) > dtype_size(own));
}

static Known combine(const Idle *idle, const Expr *expr, const Known *args) {
  double numbers[EXPR_MOST_ARGS];
  bool all_numbers = true;
  for (int i = 0; i < expr->arg_count; i++) {
    all_numbers = all_numbers && args[i].kind == KNOWN_NUMBER;
    numbers[i] = args[i].number;
  }
  if (all_numbers && expr->op == OP_CAST)
    return (Known){KNOWN_NUMBER, number_convert(numbers[0], expr->args[0]->dtype, expr->dtype)};
  const OpClass *class = op_info(expr->op)->class;
  if (all_numbers && class->scalar)
    return (Known){KNOWN_NUMBER, number_round(class->scalar(numbers, expr->dtype), expr->dtype)};
  switch (expr->op) {
  case OP_CAST:
    if (args[0].kind == KNOWN_SCALAR) return dtype_is_float(expr->dtype) ? args[0] : nothing;
    return args[0].kind == KNOWN_OLD && keeps_digits(idle, expr->dtype) ? args[0] : nothing;
  case OP_SUB: return is_zero(args[1], false) ? args[0] : nothing;
  case OP_ADD: return is_zero(args[1], true) ? args[0] : is_zero(args[0], true) ? args[1] : nothing;
  case OP_MUL: /* by a scalar that is not negative: the sign stays */
    for (int i = 0; i < 2; i++)
      if (args[i].kind == KNOWN_SCALAR && args[1 - i].kind == KNOWN_NUMBER &&
          args[1 - i].number == 0)
        return args[1 - i];
    return nothing;
  default: return nothing;
  }
}

static Known know(Idle *idle, const Expr *expr) {
  switch (expr->kind) {
  case EXPR_CONST: return (Known){KNOWN_NUMBER, expr->value};
  case EXPR_RESULT: return (Known){KNOWN_NUMBER, 0};
  case EXPR_LOAD: return is_old(idle, expr) ? (Known){KNOWN_OLD, 0} : nothing;
  case EXPR_SCALAR:
    if (expr->operand >= 64) return nothing;
    idle->scalars |= (uint64_t)1 << expr->operand;
    return (Known){KNOWN_SCALAR, 0};
  case EXPR_OP: break;
  default: return nothing;
  }
  if (expr->op == OP_WHERE) {
    Known condition = know(idle, expr->args[0]);
    if (condition.kind != KNOWN_NUMBER) return nothing;
    return know(idle, expr->args[condition.number != 0 ? 1 : 2]);
  }
  if (expr->arg_count > 2) return nothing;
  Known args[EXPR_MOST_ARGS] = {0};
  for (int i = 0; i < expr->arg_count; i++) {
    args[i] = know(idle, expr->args[i]);
    if (args[i].kind == KNOWN_NOTHING) return nothing;
  }
  return combine(idle, expr, args);
}

/* Whether all stores keep what is there; the scalars that it depends on. */
static bool keeps_all(const Kernel *kernel, uint64_t *scalars) {
  *scalars = 0;
  for (int i = 0; i < kernel->epilogue_count; i++) {
    Idle idle = {.kernel = kernel, .store = &kernel->epilogue[i]};
    if (know(&idle, idle.store->value).kind != KNOWN_OLD) return false;
    *scalars |= idle.scalars;
  }
  return kernel->key_count == 0;
}

bool scatter_is_sparse(const Kernel *kernel) {
  uint64_t scalars;
  return kernel->scatter.indices < kernel->scatter.rows && kernel->scatter.indices <= INT32_MAX &&
         keeps_all(kernel, &scalars);
}

const char *scatter_keeps(Arena *arena, const KernelFunction *function) {
  uint64_t scalars;
  const char *text = "";
  if (!keeps_all(function->kernel, &scalars)) return "0";
  for (int i = 0; i < function->kernel->scalar_count; i++)
    if (i < 64 && scalars >> i & 1)
      text = arena_printf(arena, "%s%s%s >= 0 && %s < 1e30", text, *text ? " && " : "",
                          function->scalars[i], function->scalars[i]);
  return *text ? text : "1";
}
