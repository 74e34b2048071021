/* The dialect of the toy target's kernels: every value is a double, as in the interpreter, and every
 * operator is a function toy_<operator>_<type> of toy_kernel.h, where the types are f for all
 * floats and i64, i32, u8 and bool. */
#include "ops/op.h"
#include "toy.h"

#include "backend/common/code.h"
#include "backend/common/c.h"

static const char *value_type(DType dtype) {
  (void)dtype;
  return "double";
}

static const char *type_name(DType dtype) {
  return dtype_is_float(dtype) ? "f" : dtype_name(dtype);
}

static const char *literal(Arena *arena, DType dtype, double value) {
  (void)dtype;
  return c_literal(arena, DTYPE_F64, value);
}

static const char *constant(Arena *arena, DType dtype, const char *name, const char *value) {
  (void)dtype;
  return arena_printf(arena, "const double %s = %s;", name, value);
}

static const char *loaded(Arena *arena, DType dtype, const char *element) {
  return arena_printf(arena, "toy_load_%s(%s)", dtype_name(dtype), element);
}

static const char *stored(Arena *arena, DType dtype, const char *value) {
  return arena_printf(arena, "toy_store_%s(%s)", dtype_name(dtype), value);
}

static const char *rounded(Arena *arena, DType dtype, const char *value) {
  if (!dtype_is_float(dtype) || dtype == DTYPE_F64) return value;
  return arena_printf(arena, "toy_round_%s(%s)", dtype_name(dtype), value);
}

static const char *converted(Arena *arena, DType from, DType to, const char *value) {
  if (dtype_is_float(to)) return rounded(arena, to, value);
  return arena_printf(arena, "toy_%s_to_%s(%s)", type_name(from), type_name(to), value);
}

static const char *index_value(Arena *arena, DType to, const char *index) {
  (void)to;
  return arena_printf(arena, "(double)(%s)", index);
}

static const char *choice(Arena *arena, const char *condition, const char *yes, const char *no) {
  return arena_printf(arena, "(%s ? %s : %s)", code_atom(arena, condition), yes, no);
}

static const char *sign(Op op, DType dtype) {
  (void)op, (void)dtype;
  return NULL;
}

static const char *function(Arena *arena, Op op, DType dtype, bool is_near) {
  (void)is_near;
  return arena_printf(arena, "toy_%s_%s", op_info(op)->name, type_name(dtype));
}

static const char *far_name(Op op, DType dtype) {
  (void)op, (void)dtype;
  return NULL;
}

static const char *random_number(Arena *arena, const Expr *expr, const char *key,
                                 const char *index) {
  return arena_printf(arena, "toy_%s(worker, %s, %lld, worker->example * %lld + (uint64_t)(%s))",
                      op_info(expr->op)->name, key, (long long)expr->stream, (long long)expr->value,
                      index);
}

static const char *reduction_start(Op reduce, DType dtype) {
  (void)dtype;
  if (reduce == OP_REDUCE_SUM) return "0";
  if (reduce == OP_REDUCE_PROD) return "1";
  return reduce == OP_REDUCE_MAX || reduce == OP_ARGMAX ? "-INFINITY" : "INFINITY";
}

static const char *index_division(Arena *arena, IndexKind kind, const char *index,
                                  int64_t divisor) {
  return arena_printf(arena, "toy_index_%s(%s, %lld)", kind == INDEX_DIV ? "quotient" : "rest",
                      index, (long long)divisor);
}

static const char *clamped(Arena *arena, const char *index, int64_t bound) {
  return arena_printf(arena, "toy_clamped((int64_t)%s, %lld)", index, (long long)bound);
}

static const char *within(Arena *arena, const char *index, int64_t bound) {
  return arena_printf(arena, "toy_within(%s, %lld)", index, (long long)bound);
}

const Dialect dialect_toy = {
    .storage_type = c_storage_type, /* entries know it, too */
    .value_type = value_type,
    .literal = literal,
    .constant = constant,
    .loaded = loaded,
    .stored = stored,
    .rounded = rounded,
    .converted = converted,
    .index_value = index_value,
    .choice = choice,
    .sign = sign,
    .function = function,
    .far_name = far_name,
    .random = random_number,
    .reduction_start = reduction_start,
    .index_division = index_division,
    .clamped = clamped,
    .within = within,
};
