/* Reductions: see reduction.h. */
#include "backend/common/reduction.h"

#include "support/panic.h"

bool reduction_is_search(Op reduce) { return reduce == OP_ARGMAX || reduce == OP_ARGMIN; }

static Op joining_operator(Op reduce) {
  switch (reduce) {
  case OP_REDUCE_SUM: return OP_ADD;
  case OP_REDUCE_PROD: return OP_MUL;
  case OP_REDUCE_MAX: return OP_MAX;
  case OP_REDUCE_MIN: return OP_MIN;
  default: panic("operator %d is no reduction", (int)reduce);
  }
}

void reduction_write_join(Code *code, const Dialect *dialect, const Stage *stage, DType dtype,
                          const char *accumulator, const char *value) {
  Op op = joining_operator(stage->reduce);
  const char *sign = dialect->sign(op, dtype);
  if (sign) code_line(code, "%s %s= %s;", accumulator, sign, value);
  else
    code_line(code, "%s = %s(%s, %s);", accumulator,
              dialect->function(code->arena, op, dtype, false), accumulator, value);
}

void reduction_write_search(Code *code, const Dialect *dialect, const Search *search,
                            const char *value, const char *axis) {
  Arena *arena = code->arena;
  const char *sign = search->reduce == OP_ARGMAX ? ">" : "<", *best = search->best;
  const char *better = arena_printf(arena, "a %s %s", sign, best);
  if (dtype_is_float(search->dtype))
    better = arena_printf(arena, "(%s) | ((a != a) & (%s == %s))", better, best, best);
  code_line(code, "%s", dialect->constant(arena, search->dtype, "a", value));
  code_line(code, "%s", dialect->constant(arena, DTYPE_BOOL, "better", better));
  code_line(code, "%s = %s;", best, dialect->choice(arena, "better", "a", best));
  code_line(code, "%s = %s;", search->place,
            dialect->choice(arena, "better", dialect->index_value(arena, DTYPE_I32, axis),
                            search->place));
}
