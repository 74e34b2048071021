/* C, as a dialect: see c.h.
 *
 * An operator is C's own where there is one for the type; else it is the runtime's inline function
 * nnc_<operator>_<type> (nnc_ops.h, nnc_math.h), so a new operator needs a function there and
 * nothing here. Sixteen-bit floats are computed in f32 and rounded after each operator. */
#include "backend/common/c.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "backend/common/code.h"
#include "ops/op.h"

/* ---- types and literals ---- */

static const struct {
  const char *storage, *value, *name;
} types[DTYPE_COUNT] = {
    [DTYPE_F64] = {"double", "double", "f64"},   [DTYPE_F32] = {"float", "float", "f32"},
    [DTYPE_BF16] = {"uint16_t", "float", "f32"}, [DTYPE_F16] = {"uint16_t", "float", "f32"},
    [DTYPE_I64] = {"int64_t", "int64_t", "i64"}, [DTYPE_I32] = {"int32_t", "int32_t", "i32"},
    [DTYPE_U8] = {"uint8_t", "uint8_t", "u8"},   [DTYPE_BOOL] = {"uint8_t", "bool", "bool"},
};

const char *c_storage_type(DType dtype) { return types[dtype].storage; }
const char *c_value_type(DType dtype) { return types[dtype].value; }
const char *c_type_name(DType dtype) { return types[dtype].name; }

const char *c_dtype(DType dtype) {
  static const char *const enumerators[DTYPE_COUNT] = {
      "NNC_F64", "NNC_F32", "NNC_BF16", "NNC_F16", "NNC_I64", "NNC_I32", "NNC_U8", "NNC_BOOL"};
  return enumerators[dtype];
}

/* The shortest decimal that reads back to the same float. */
static const char *float_literal(Arena *arena, float value) {
  char digits[40];
  for (int precision = 1; precision <= 9; precision++) {
    snprintf(digits, sizeof digits, "%.*g", precision, (double)value);
    if (strtof(digits, NULL) == value) break;
  }
  bool is_whole = strpbrk(digits, ".e") == NULL;
  return arena_printf(arena, "%s%sf", digits, is_whole ? ".0" : "");
}

static const char *double_literal(Arena *arena, double value) {
  Text text = {0};
  text_add_double(&text, value);
  return text_take(&text, arena);
}

const char *c_literal(Arena *arena, DType dtype, double value) {
  if (dtype == DTYPE_BOOL) return value != 0 ? "true" : "false";
  if (!dtype_is_float(dtype)) {
    if (value >= 0x1p63) return "INT64_MAX";
    return dtype == DTYPE_I64 && fabs(value) > INT32_MAX
               ? arena_printf(arena, "INT64_C(%s)", code_integer(arena, (int64_t)value))
               : code_integer(arena, (int64_t)value);
  }
  if (isnan(value)) return dtype == DTYPE_F64 ? "(double)NAN" : "NAN";
  bool is_double = dtype == DTYPE_F64;
  if (isinf(is_double ? value : (float)value)) return value < 0 ? "(-INFINITY)" : "INFINITY";
  const char *literal =
      is_double ? double_literal(arena, value) : float_literal(arena, (float)value);
  return *literal == '-' ? arena_printf(arena, "(%s)", literal) : literal;
}

const char *c_constant(Arena *arena, DType dtype, const char *name, const char *value) {
  return arena_printf(arena, "const %s %s = %s;", c_value_type(dtype), name, value);
}

/* ---- sixteen bits, conversions ---- */

const char *c_loader(Arena *arena, DType dtype) {
  return dtype_is_half(dtype) ? arena_printf(arena, "nnc_from_%s", dtype_name(dtype)) : "";
}

const char *c_loaded(Arena *arena, DType dtype, const char *element) {
  return dtype_is_half(dtype) ? arena_printf(arena, "%s(%s)", c_loader(arena, dtype), element)
                              : element;
}

/* A value of 16 bits has been rounded, and is stored exactly: "nnc_bf16_bits(t0)". Where its text ends with the
 * rounding, that is part of the conversion: "nnc_to_bf16(a + b)". */
const char *c_stored(Arena *arena, DType dtype, const char *value) {
  if (!dtype_is_half(dtype)) return value;
  const char *name = dtype_name(dtype);
  const char *inner = code_argument(arena, value, arena_printf(arena, "nnc_round_%s", name));
  return inner ? arena_printf(arena, "nnc_to_%s(%s)", name, inner)
               : arena_printf(arena, "nnc_%s_bits(%s)", name, value);
}

const char *c_rounded(Arena *arena, DType dtype, const char *value) {
  return dtype_is_half(dtype) ? arena_printf(arena, "nnc_round_%s(%s)", dtype_name(dtype), value)
                              : value;
}

/* A number as a value of type `to`, which is rounded afterwards where it has 16 bits: what does not
 * fit f32 exactly goes there in a way that two roundings are as good as one. */
static const char *number(Arena *arena, DType from, DType to, const char *value) {
  const char *atom = code_atom(arena, value);
  bool is_wide = from == DTYPE_F64 || from == DTYPE_I64 || from == DTYPE_I32;
  if (dtype_is_half(to) && is_wide)
    return arena_printf(arena, "nnc_odd_f32(%s%s)", from == DTYPE_F64 ? "" : "(double)", atom);
  return arena_printf(arena, "(%s)%s", c_value_type(to), atom);
}

const char *c_converted(Arena *arena, DType from, DType to, const char *value) {
  if (to == DTYPE_BOOL) return arena_printf(arena, "%s != 0", code_atom(arena, value));
  if (dtype_is_float(from) && dtype_is_int(to))
    return arena_printf(arena, "nnc_cast_%s_%s(%s)", c_type_name(from), c_type_name(to), value);
  if (dtype_is_half(from) && to == DTYPE_F32) return value;
  return c_rounded(arena, to, number(arena, from, to, value));
}

const char *c_index_value(Arena *arena, DType to, const char *index) {
  return number(arena, DTYPE_I64, to, index);
}

const char *c_choice(Arena *arena, const char *condition, const char *yes, const char *no) {
  return arena_printf(arena, "%s ? %s : %s", code_atom(arena, condition), yes, no);
}

/* ---- operators ---- */

const char *c_sign(Op op, DType dtype) {
  static const char *const of_logic[OP_COUNT] = {[OP_NOT] = "!", [OP_AND] = "&", [OP_OR] = "|"};
  bool is_comparison =
      op == OP_EQ || op == OP_NE || op == OP_LT || op == OP_LE || op == OP_GT || op == OP_GE;
  if (of_logic[op]) return of_logic[op];
  if (op == OP_ADD && dtype == DTYPE_BOOL) return "+"; /* of a reduction */
  if (!is_comparison && !dtype_is_float(dtype)) return NULL;
  return op == OP_NEG ? "-" : op_sign(op);
}

const char *c_function(Arena *arena, Op op, DType dtype, bool is_near) {
  bool is_extreme = op == OP_MIN || op == OP_MAX; /* those of truth values are those of numbers */
  if (is_extreme && dtype == DTYPE_BOOL) dtype = DTYPE_U8;
  return arena_printf(arena, "nnc_%s%s_%s", is_near ? "near_" : "", op_info(op)->name,
                      c_type_name(dtype));
}

static const char *far_name(Op op, DType dtype) {
  if (!dtype_is_float(dtype)) return NULL;
  if (op == OP_MOD) return "mod";
  if (op == OP_LOG && !dtype_is_half(dtype)) return "log";
  bool is_turn = op == OP_SIN || op == OP_COS || (op == OP_TAN && dtype != DTYPE_F64);
  return is_turn ? "turn" : NULL;
}

static const char *is_far(Arena *arena, const char *name, DType dtype, const char *arguments) {
  return arena_printf(arena, "nnc_far_%s_%s(%s)", name, c_type_name(dtype), arguments);
}

static const char *random_number(Arena *arena, const Expr *expr, const char *key,
                                 const char *index) {
  return arena_printf(arena,
                      "nnc_%s_%s(%s, worker->step, %lld, worker->example * %lld + (uint64_t)%s)",
                      op_info(expr->op)->name, c_type_name(expr->dtype), key,
                      (long long)expr->stream, (long long)expr->value, code_atom(arena, index));
}

static const char *limited(Arena *arena, DType dtype, bool is_least, const char *value,
                           const char *bound) {
  return arena_printf(arena, "nnc_at_%s_%s(%s, %s)", is_least ? "least" : "most",
                      c_type_name(dtype), value, bound);
}

/* ---- reductions ---- */

const char *c_reduction_start(Op reduce, DType dtype) {
  static const char *const least[DTYPE_COUNT] = {
      [DTYPE_I64] = "INT64_MIN", [DTYPE_I32] = "INT32_MIN", [DTYPE_U8] = "0", [DTYPE_BOOL] = "0"};
  static const char *const greatest[DTYPE_COUNT] = {[DTYPE_I64] = "INT64_MAX",
                                                    [DTYPE_I32] = "INT32_MAX",
                                                    [DTYPE_U8] = "UINT8_MAX",
                                                    [DTYPE_BOOL] = "1"};
  bool is_float = dtype_is_float(dtype);
  if (reduce == OP_REDUCE_SUM) return "0";
  if (reduce == OP_REDUCE_PROD) return "1";
  if (reduce == OP_REDUCE_MAX || reduce == OP_ARGMAX) return is_float ? "-INFINITY" : least[dtype];
  return is_float ? "INFINITY" : greatest[dtype];
}

/* ---- indices ---- */

const char *c_index_division(Arena *arena, IndexKind kind, const char *index, int64_t divisor) {
  return arena_printf(arena, "nnc_%s_i64(%s, %lld)", kind == INDEX_DIV ? "floordiv" : "mod", index,
                      (long long)divisor);
}

const char *c_clamped(Arena *arena, const char *index, int64_t bound) {
  return arena_printf(arena, "nnc_clamp(%s, %lld)", index, (long long)bound);
}

const char *c_within(Arena *arena, const char *index, int64_t bound) {
  return arena_printf(arena, "nnc_within(%s, %lld)", index, (long long)bound);
}

const Dialect dialect_c = {
    C_SPELLING, .far_name = far_name, .is_far = is_far, .limited = limited, .random = random_number,
};
