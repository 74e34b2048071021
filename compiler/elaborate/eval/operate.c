/* Unary and binary operators: weak compile-time numbers, and tensors with NumPy broadcasting.
 *
 * Types of two tensors (docs/language.md, "Types"): equal types stay; of two integers the wider
 * wins; bool becomes the other's type; an integer with a float is a mistake. Host scalars take the
 * type of the tensor they meet. */
#include <math.h>
#include "elaborate/core/elaborator.h"
#include "elaborate/core/emit.h"
#include "elaborate/core/report.h"
#include "elaborate/eval/convert.h"
#include "elaborate/eval/operate.h"
#include "ops/number.h"
#include "support/names.h"
#include "support/integers.h"

typedef struct OperatorInfo {
  Op op;
  bool compares, is_logic, is_equality;
} OperatorInfo;

static const OperatorInfo operator_info[AST_OPERATORS] = {
    [AST_ADD] = {.op = OP_ADD},
    [AST_SUB] = {.op = OP_SUB},
    [AST_MUL] = {.op = OP_MUL},
    [AST_DIV] = {.op = OP_DIV},
    [AST_FLOORDIV] = {.op = OP_FLOORDIV},
    [AST_MOD] = {.op = OP_MOD},
    [AST_POW] = {.op = OP_POW},
    [AST_EQ] = {OP_EQ, true, false, true},
    [AST_NE] = {OP_NE, true, false, true},
    [AST_LT] = {OP_LT, true, false, false},
    [AST_GT] = {OP_GT, true, false, false},
    [AST_LE] = {OP_LE, true, false, false},
    [AST_GE] = {OP_GE, true, false, false},
    [AST_AND] = {OP_AND, false, true, false},
    [AST_OR] = {OP_OR, false, true, false},
};

/* ---- compile-time numbers ----------------------------------------------------------------- */

static Value overflow(Elaborator *e, AstOperator op) {
  return report_error_value(e, e->at, "integer overflow in '%s'", ast_operator_text(op));
}

static Value power_int(Elaborator *e, int64_t base, int64_t exponent) {
  if (exponent < 0) return value_float(pow((double)base, (double)exponent));
  int64_t result = 1;
  while (exponent > 0) {
    if (exponent & 1 && __builtin_mul_overflow(result, base, &result)) return overflow(e, AST_POW);
    exponent >>= 1;
    if (exponent > 0 && __builtin_mul_overflow(base, base, &base)) return overflow(e, AST_POW);
  }
  return value_int(result);
}

static Value operate_ints(Elaborator *e, AstOperator op, int64_t a, int64_t b) {
  int64_t result = 0;
  switch (op) {
  case AST_ADD: return __builtin_add_overflow(a, b, &result) ? overflow(e, op) : value_int(result);
  case AST_SUB: return __builtin_sub_overflow(a, b, &result) ? overflow(e, op) : value_int(result);
  case AST_MUL: return __builtin_mul_overflow(a, b, &result) ? overflow(e, op) : value_int(result);
  case AST_POW: return power_int(e, a, b);
  case AST_DIV: {
    Diagnostic *d =
        report_error(e, e->at, "'/' of two integers, %lld / %lld", (long long)a, (long long)b);
    diag_help(d, "write // for integer division, or make one a float: %lld.0", (long long)a);
    return value_error();
  }
  case AST_FLOORDIV:
  case AST_MOD:
    if (b == 0) return report_error_value(e, e->at, "division by zero");
    if (b == -1) return op == AST_MOD ? value_int(0) : operate_ints(e, AST_SUB, 0, a);
    return value_int(op == AST_MOD ? floor_mod(a, b) : floor_div(a, b));
  case AST_LT: return value_bool(a < b);
  case AST_GT: return value_bool(a > b);
  case AST_LE: return value_bool(a <= b);
  default: return value_bool(a >= b);
  }
}

static Value operate_floats(Elaborator *e, AstOperator op, double a, double b) {
  bool divides = op == AST_DIV || op == AST_FLOORDIV || op == AST_MOD;
  if (divides && b == 0) return report_error_value(e, e->at, "division by zero");
  switch (op) {
  case AST_ADD: return value_float(a + b);
  case AST_SUB: return value_float(a - b);
  case AST_MUL: return value_float(a * b);
  case AST_DIV: return value_float(a / b);
  case AST_FLOORDIV: return value_float(number_floordiv(a, b));
  case AST_MOD: return value_float(number_mod(a, b));
  case AST_POW: return value_float(pow(a, b));
  case AST_LT: return value_bool(a < b);
  case AST_GT: return value_bool(a > b);
  case AST_LE: return value_bool(a <= b);
  default: return value_bool(a >= b);
  }
}

static Value wrong_operands(Elaborator *e, AstOperator op, Value a, Value b) {
  if (convert_refuse_results(e, a, e->at) || convert_refuse_results(e, b, e->at))
    return value_error();
  return report_error_value(e, e->at, "'%s' cannot be applied to %s and %s", ast_operator_text(op),
                            value_describe(e->arena, a), value_describe(e->arena, b));
}

static Value join_lists(Elaborator *e, Value a, Value b) {
  int64_t first = value_sequence_length(a), second = value_sequence_length(b);
  if (first > MAX_ITERATIONS || second > MAX_ITERATIONS - first)
    return report_error_value(e, e->at, "a list of more than %d elements", MAX_ITERATIONS);
  if (!emit_allow_elements(e, first + second)) return value_error();
  Value *items = ARENA_ARRAY(e->arena, Value, first + second);
  for (int64_t i = 0; i < first; i++) items[i] = value_sequence_item(a, i);
  for (int64_t i = 0; i < second; i++) items[first + i] = value_sequence_item(b, i);
  Value list = {.kind = a.kind == VALUE_TUPLE && b.kind == VALUE_TUPLE ? VALUE_TUPLE : VALUE_LIST};
  list.list.items = items;
  list.list.count = (int)(first + second);
  return list;
}

enum { LONGEST_TEXT = 4096 };

static bool is_text_part(Value value) {
  return value.kind == VALUE_STRING || value.kind == VALUE_INT;
}

/* Two texts, or a text and a whole number, as one text. */
static Value join_texts(Elaborator *e, Value a, Value b) {
  const char *first = a.kind == VALUE_INT ? name_printf("%lld", (long long)a.integer) : a.string;
  const char *second = b.kind == VALUE_INT ? name_printf("%lld", (long long)b.integer) : b.string;
  if (strlen(first) + strlen(second) > LONGEST_TEXT)
    return report_error_value(e, e->at, "a text of more than %d bytes", LONGEST_TEXT);
  return value_string(name_printf("%s%s", first, second));
}

static Value operate_constants(Elaborator *e, AstOperator op, Value a, Value b) {
  if (op == AST_EQ) return value_bool(value_equal(a, b));
  if (op == AST_NE) return value_bool(!value_equal(a, b));
  if (operator_info[op].is_logic) {
    if (a.kind != VALUE_BOOL || b.kind != VALUE_BOOL) return wrong_operands(e, op, a, b);
    return value_bool(op == AST_AND ? a.boolean && b.boolean : a.boolean || b.boolean);
  }
  if (a.kind == VALUE_INT && b.kind == VALUE_INT) return operate_ints(e, op, a.integer, b.integer);
  if (value_is_number(a) && value_is_number(b))
    return operate_floats(e, op, value_number(a), value_number(b));
  bool has_text = a.kind == VALUE_STRING || b.kind == VALUE_STRING;
  if (op == AST_ADD && has_text && is_text_part(a) && is_text_part(b)) return join_texts(e, a, b);
  if (op == AST_ADD && value_is_sequence(a) && value_is_sequence(b)) return join_lists(e, a, b);
  return wrong_operands(e, op, a, b);
}

/* ---- tensors ------------------------------------------------------------------------------ */

static void note_operands(Elaborator *e, Diagnostic *d, Value a, Value b) {
  if (value_is_tensor(a)) report_note_tensor(e, d, "the left operand", a.tensor.node);
  if (value_is_tensor(b)) report_note_tensor(e, d, "the right operand", b.tensor.node);
}

/* An error, with where the operands came from; `help` may be NULL. */
static void *refuse(Elaborator *e, Value a, Value b, const char *message, const char *help) {
  Diagnostic *d = report_error(e, e->at, "%s", message);
  note_operands(e, d, a, b);
  return help ? diag_help(d, "%s", help) : NULL;
}

/* The dtype two tensors meet in; DTYPE_COUNT when there is none. */
static DType common_dtype(DType x, DType y) {
  if (x == y) return x;
  if (x == DTYPE_BOOL) return y;
  if (y == DTYPE_BOOL) return x;
  if (!dtype_is_int(x) || !dtype_is_int(y)) return DTYPE_COUNT;
  return x == DTYPE_I64 || y == DTYPE_I64 ? DTYPE_I64 : DTYPE_I32;
}

/* The dtype of an operation on two operands of which one at least is a tensor. */
static DType operand_dtype(Elaborator *e, Value a, Value b) {
  if (value_is_tensor(a) && value_is_tensor(b)) {
    DType x = a.tensor.node->type.dtype, y = b.tensor.node->type.dtype;
    if (a.tensor.is_host && !b.tensor.is_host) return dtype_is_float(y) || x == DTYPE_BOOL ? y : x;
    if (b.tensor.is_host && !a.tensor.is_host) return dtype_is_float(x) || y == DTYPE_BOOL ? x : y;
    return common_dtype(x, y);
  }
  Value tensor = value_is_tensor(a) ? a : b, other = value_is_tensor(a) ? b : a;
  DType dtype = tensor.tensor.node->type.dtype;
  if (tensor.tensor.is_host && dtype_is_float(dtype) && value_is_sequence(other)) {
    DType own = convert_own_dtype(e, other);
    return dtype_is_float(own) ? own : e->default_float;
  }
  if (dtype != DTYPE_BOOL || other.kind == VALUE_BOOL) return dtype;
  return other.kind == VALUE_INT ? DTYPE_I32 : e->default_float;
}

/* `i * 2.0`: as an integer it would surprise, as a float the tensor would change its type. In a
 * comparison 2.0 is 2. */
static bool refuse_float(Elaborator *e, const char *what, Value number, DType dtype, Value a,
                         Value b) {
  if (value_is_tensor(number) || !dtype_is_int(dtype) ||
      !dtype_is_float(convert_own_dtype(e, number)))
    return false;
  Text text = {0};
  value_add_text(&text, number);
  refuse(e, a, b,
         arena_printf(e->arena, "%s of %s and %s, which is not written as an integer", what,
                      dtype_name(dtype), text_take(&text, e->arena)),
         "write an integer, or convert the tensor: f32(x)");
  return true;
}

bool operate_unify(Elaborator *e, const char *what, Operands operands, Node **x, Node **y) {
  Value a = convert_plain(e, operands.a, operands.a_at);
  Value b = convert_plain(e, operands.b, operands.b_at);
  if (value_is_error(a) || value_is_error(b)) return false;
  if (!value_is_tensor(a) && !value_is_tensor(b)) {
    *x = convert_any_tensor(e, a, operands.a_at);
    a = value_tensor(e, *x);
    if (!*x) return false;
  }
  DType dtype = operand_dtype(e, a, b);
  if (dtype == DTYPE_COUNT) {
    DType left = a.tensor.node->type.dtype, right = b.tensor.node->type.dtype;
    DType integer = dtype_is_float(left) ? left : right;
    return refuse(
        e, a, b,
        arena_printf(e->arena, "%s of %s and %s", what, dtype_name(left), dtype_name(right)),
        arena_printf(e->arena, "convert one of them: %s(...)", dtype_name(integer)));
  }
  if (!operands.compares &&
      (refuse_float(e, what, a, dtype, a, b) || refuse_float(e, what, b, dtype, a, b)))
    return false;
  *x = emit_cast(e, convert_tensor(e, a, dtype, operands.a_at), dtype);
  *y = emit_cast(e, convert_tensor(e, b, dtype, operands.b_at), dtype);
  if (!*x || !*y) return false;
  Shape shape;
  if (!shape_broadcast((*x)->type.shape, (*y)->type.shape, &shape))
    return refuse(e, a, b,
                  arena_printf(e->arena, "%s of shapes %s and %s, which do not broadcast", what,
                               shape_text(e->arena, (*x)->type.shape),
                               shape_text(e->arena, (*y)->type.shape)),
                  NULL);
  *x = emit_broadcast(e, *x, shape);
  *y = emit_broadcast(e, *y, shape);
  return *x && *y;
}

static bool check_arithmetic(Elaborator *e, AstOperator op, Value a, Value b, DType dtype) {
  const char *sign = ast_operator_text(op);
  if (dtype == DTYPE_U8)
    return refuse(e, a, b,
                  arena_printf(e->arena,
                               "'%s' of u8: bytes have casts, comparisons, movement and "
                               "indexing only",
                               sign),
                  "convert first: f32(x) or i32(x)");
  if (dtype == DTYPE_BOOL)
    return refuse(e, a, b, arena_printf(e->arena, "'%s' of truth values", sign),
                  "use && and ||, or convert: f32(x)");
  if (op == AST_DIV && !dtype_is_float(dtype))
    return refuse(e, a, b, "'/' of integers", "write // for integer division, or convert: f32(x)");
  return true;
}

static Value operate_tensors(Elaborator *e, AstOperator op, Value a, Value b, Span a_at,
                             Span b_at) {
  const OperatorInfo *info = &operator_info[op];
  const char *what = arena_printf(e->arena, "'%s'", ast_operator_text(op));
  bool square = op == AST_POW && b.kind == VALUE_INT && b.integer == 2;
  Node *x, *y;
  if (!operate_unify(e, what, (Operands){a, b, a_at, b_at, info->compares}, &x, &y))
    return value_error();
  DType dtype = x->type.dtype;
  if (info->is_logic && dtype != DTYPE_BOOL) {
    refuse(e, a, b, arena_printf(e->arena, "%s of %s, not truth values", what, dtype_name(dtype)),
           NULL);
    return value_error();
  }
  bool is_order = info->compares && !info->is_equality;
  if (is_order && dtype == DTYPE_BOOL)
    return report_error_value(e, e->at, "%s of truth values", what);
  if (!info->compares && !info->is_logic && !check_arithmetic(e, op, a, b, dtype))
    return value_error();
  if (op == AST_POW && !dtype_is_float(dtype) && b.kind == VALUE_INT && b.integer < 0) {
    refuse(e, a, b,
           arena_printf(e->arena, "%s to the power %lld is no integer", dtype_name(dtype),
                        (long long)b.integer),
           "convert the tensor first: f32(x)");
    return value_error();
  }
  return value_tensor(e, square ? emit_binary(e, OP_MUL, x, x) : emit_binary(e, info->op, x, y));
}

/* 5 epochs > 0 is known although the length of an epoch is not. */
static bool compare_quantity(Elaborator *e, AstOperator op, Value a, Value b, Value *result) {
  bool left = a.kind == VALUE_QUANTITY, right = b.kind == VALUE_QUANTITY;
  if (!operator_info[op].compares || (!left && !right)) return false;
  double x, y;
  if (left && right && a.quantity.is_epochs == b.quantity.is_epochs) {
    x = a.quantity.number;
    y = b.quantity.number;
  } else {
    Value zero = left ? b : a;
    if (!value_is_number(zero) || value_number(zero) != 0) return false;
    x = left ? a.quantity.number : 0;
    y = right ? b.quantity.number : 0;
  }
  if (op == AST_EQ || op == AST_NE) *result = value_bool((x == y) == (op == AST_EQ));
  else *result = operate_floats(e, op, x, y);
  return true;
}

Value operate_binary(Elaborator *e, AstOperator op, Value a, Value b, Span a_at, Span b_at) {
  if (value_is_error(a) || value_is_error(b)) return value_error();
  Value result;
  if (compare_quantity(e, op, a, b, &result)) return result;
  if (op == AST_MATMUL) return operate_matmul(e, a, b, a_at, b_at);
  a = convert_plain(e, a, a_at);
  b = convert_plain(e, b, b_at);
  if (value_is_error(a) || value_is_error(b)) return value_error();
  if (!value_is_tensor(a) && !value_is_tensor(b)) return operate_constants(e, op, a, b);
  bool equality = operator_info[op].is_equality;
  bool usable = value_is_tensor_like(a) && value_is_tensor_like(b);
  if (!usable && equality && (a.kind == VALUE_NONE || b.kind == VALUE_NONE))
    return value_bool(op == AST_NE); /* a tensor is not none */
  if (!usable) return wrong_operands(e, op, a, b);
  return operate_tensors(e, op, a, b, a_at, b_at);
}

Value operate_unary(Elaborator *e, AstOperator op, Value a, Span a_at) {
  if (op != AST_NOT && a.kind == VALUE_QUANTITY) { /* the sign of -1 epochs is known */
    a.quantity.number = -a.quantity.number;
    return a;
  }
  a = convert_plain(e, a, a_at);
  if (value_is_error(a)) return a;
  if (op == AST_NOT) {
    if (a.kind == VALUE_BOOL) return value_bool(!a.boolean);
    if (value_is_tensor(a) && a.tensor.node->type.dtype == DTYPE_BOOL)
      return value_tensor(e, emit_unary(e, OP_NOT, convert_any_tensor(e, a, a_at)));
    return report_kind(e, a_at, "the operand of '!'", "a truth value", a);
  }
  if (a.kind == VALUE_INT) return operate_ints(e, AST_SUB, 0, a.integer);
  if (a.kind == VALUE_FLOAT) return value_float(-a.real);
  if (!value_is_tensor(a)) return report_kind(e, a_at, "the operand of '-'", "a number", a);
  if (!check_arithmetic(e, AST_SUB, a, value_none(), a.tensor.node->type.dtype))
    return value_error();
  return value_tensor(e, emit_unary(e, OP_NEG, convert_any_tensor(e, a, a_at)));
}

/* ---- matrix product ----------------------------------------------------------------------- */

static Value refuse_matmul(Elaborator *e, const char *why, Node *x, Node *y) {
  Diagnostic *d = report_error(e, e->at, "%s", why);
  report_note_tensor(e, d, "the left operand", x);
  report_note_tensor(e, d, "the right operand", y);
  return value_error();
}

/* The axis of the right operand that is summed. */
static int matmul_axis(Shape right) { return right.rank == 1 ? 0 : right.rank - 2; }

bool operate_has_product(DType dtype) {
  return dtype_is_float(dtype) || dtype == DTYPE_I32 || dtype == DTYPE_I64;
}

void operate_widen(Elaborator *e, Node **x, Node **y) {
  bool mixed = ((*x)->type.dtype == DTYPE_I32 && (*y)->type.dtype == DTYPE_I64) ||
               ((*x)->type.dtype == DTYPE_I64 && (*y)->type.dtype == DTYPE_I32);
  if (!mixed) return;
  *x = emit_cast(e, *x, DTYPE_I64);
  *y = emit_cast(e, *y, DTYPE_I64);
}

/* Types and summed extents; NULL or what is wrong. */
static const char *check_matmul(Elaborator *e, const Node *x, const Node *y) {
  Shape p = x->type.shape, q = y->type.shape;
  if (p.rank == 0 || q.rank == 0) return "'@' needs at least one axis on each side";
  if (x->type.dtype != y->type.dtype || !operate_has_product(x->type.dtype))
    return arena_printf(e->arena, "'@' of %s and %s; both must be floats of one type or i32 or i64",
                        dtype_name(x->type.dtype), dtype_name(y->type.dtype));
  if (p.dim[p.rank - 1] == q.dim[matmul_axis(q)]) return NULL;
  return arena_printf(e->arena, "'@' of shapes %s and %s: %lld against %lld",
                      shape_text(e->arena, p), shape_text(e->arena, q),
                      (long long)p.dim[p.rank - 1], (long long)q.dim[matmul_axis(q)]);
}

/* Two stacks of matrices get the same leading axes. */
static bool broadcast_stacks(Elaborator *e, Node **x, Node **y) {
  Shape p = (*x)->type.shape, q = (*y)->type.shape, lead;
  Shape before[] = {p, q};
  before[0].rank -= 2;
  before[1].rank -= 2;
  if (!shape_broadcast(before[0], before[1], &lead)) {
    refuse_matmul(e,
                  arena_printf(e->arena,
                               "'@' of shapes %s and %s, whose leading axes do not broadcast",
                               shape_text(e->arena, p), shape_text(e->arena, q)),
                  *x, *y);
    return false;
  }
  Shape wide[] = {lead, lead};
  for (int i = 2; i > 0; i--) {
    wide[0].dim[wide[0].rank++] = p.dim[p.rank - i];
    wide[1].dim[wide[1].rank++] = q.dim[q.rank - i];
  }
  *x = emit_broadcast(e, *x, wide[0]);
  *y = emit_broadcast(e, *y, wide[1]);
  return *x && *y;
}

static Node *contract_matrices(Elaborator *e, Node *x, Node *y, int batch) {
  int64_t axes[MAX_RANK];
  int64_t left = x->type.shape.rank - 1, right = matmul_axis(y->type.shape);
  for (int i = 0; i < batch; i++) axes[i] = i;
  Attribute attributes[] = {
      attr_make_ints(ATTR_BATCH_LEFT, batch, axes), attr_make_ints(ATTR_BATCH_RIGHT, batch, axes),
      attr_make_ints(ATTR_SUM_LEFT, 1, &left), attr_make_ints(ATTR_SUM_RIGHT, 1, &right)};
  return emit_node(e, OP_CONTRACT, 2, (Node *[]){x, y}, 4, attributes);
}

/* [.., k] @ [b.., k, n] contracts to [.., b.., n]; NumPy puts b.. first. */
static Node *lead_with_stack(Elaborator *e, Node *product, int left, int right) {
  int permutation[MAX_RANK], at = 0;
  for (int i = 0; i < right - 1; i++) permutation[at++] = left + i;
  for (int i = 0; i < left; i++) permutation[at++] = i;
  permutation[at++] = left + right - 1;
  return emit_transpose(e, product, permutation);
}

/* NumPy's @: the last axis of the left with the last but one of the right (or its only one); axes
 * before them broadcast. */
Value operate_matmul(Elaborator *e, Value a, Value b, Span a_at, Span b_at) {
  Node *x = value_is_sequence(a) && value_is_tensor(b)
                ? convert_tensor(e, a, b.tensor.node->type.dtype, a_at)
                : convert_any_tensor(e, a, a_at);
  Node *y = value_is_sequence(b) && x ? convert_tensor(e, b, x->type.dtype, b_at)
                                      : convert_any_tensor(e, b, b_at);
  if (!x || !y) return value_error();
  operate_widen(e, &x, &y);
  if (!x || !y) return value_error();
  const char *why = check_matmul(e, x, y);
  if (why) return refuse_matmul(e, why, x, y);
  bool stacks = x->type.shape.rank > 2 && y->type.shape.rank > 2;
  if (stacks && !broadcast_stacks(e, &x, &y)) return value_error();
  int left = x->type.shape.rank, right = y->type.shape.rank;
  if (!stacks && !emit_check_rank(e, e->at, left + right - 2)) return value_error();
  Node *product = contract_matrices(e, x, y, stacks ? left - 2 : 0);
  if (product && right > 2 && !stacks) product = lead_with_stack(e, product, left - 1, right - 1);
  return value_tensor(e, product);
}
