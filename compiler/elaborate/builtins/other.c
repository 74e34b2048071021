/* Making tensors, random ones too, indexing, products, and what is known at compile time; the table of tables. */
#include <math.h>
#include <string.h>
#include "elaborate/builtins/builtins.h"
#include "elaborate/core/emit.h"
#include "elaborate/core/path.h"
#include "elaborate/core/report.h"
#include "elaborate/eval/convert.h"
#include "elaborate/eval/evaluate.h"
#include "elaborate/eval/operate.h"
#include "support/names.h"

/* ---- making tensors ----------------------------------------------------------------------- */

static Value make_full(Elaborator *e, const Bound *bound, Value shape, Value number, Value type) {
  Type result = type_scalar(e->default_float);
  if (type.kind == VALUE_DTYPE) result.dtype = type.dtype;
  if (!convert_shape(e, shape, bound->spans[0], "the shape", false, &result.shape))
    return value_error();
  if (number.kind == VALUE_BOOL) number = value_int(number.boolean);
  else if (!convert_fits(e, number, result.dtype, bound->call)) return value_error();
  return value_tensor(e, emit_constant(e, value_number(number), result));
}

static Value apply_fill(Elaborator *e, const Bound *bound) {
  return make_full(e, bound, bound->values[0], value_int(bound->builtin->data), bound->values[1]);
}

static Value apply_full(Elaborator *e, const Bound *bound) {
  return make_full(e, bound, bound->values[0], bound->values[1], bound->values[2]);
}

/* arange(n) or arange(from, to), of i32 unless a type is given. */
static Value apply_arange(Elaborator *e, const Bound *bound) {
  int64_t from = 0, to = bound->values[0].integer;
  if (bound->values[1].kind == VALUE_INT) {
    from = to;
    to = bound->values[1].integer;
  }
  DType dtype = bound->values[2].kind == VALUE_DTYPE ? bound->values[2].dtype : DTYPE_I32;
  Type type = {.dtype = dtype, .shape = {.rank = 1, .dim = {to > from ? to - from : 0}}};
  if (dtype == DTYPE_U8 || dtype == DTYPE_BOOL)
    return report_error_value(e, bound->call, "a range of %s: %lld to %lld", dtype_name(dtype),
                              (long long)from, (long long)to);
  if (dtype == DTYPE_I32 &&
      !convert_fits(e, value_int(to > from ? to - 1 : from), dtype, bound->call))
    return value_error();
  Value iota = value_tensor(e, emit_iota(e, type, 0));
  if (from == 0) return iota;
  return operate_binary(e, AST_ADD, iota, value_int(from), bound->call, bound->spans[0]);
}

/* x [...] -> [..., classes]: 1 where the class is x. */
static Value apply_one_hot(Elaborator *e, const Bound *bound) {
  Node *x = builtins_tensor(e, bound, 0);
  int64_t classes = bound->values[1].integer;
  if (!x) return value_error();
  if (!emit_check_rank(e, bound->call, x->type.shape.rank + 1)) return value_error();
  if (!dtype_is_int(x->type.dtype) || classes < 1) {
    Diagnostic *d = report_error(e, bound->call,
                                 "'one_hot' needs integers and a number of "
                                 "classes, found %s and %lld",
                                 type_text(e->arena, x->type), (long long)classes);
    report_note_tensor(e, d, "the operand", x);
    return value_error();
  }
  Shape shape = x->type.shape;
  int axis = shape.rank;
  shape.dim[shape.rank++] = classes;
  if (!emit_check_shape(e, bound->call, shape)) return value_error();
  int64_t axes[MAX_RANK];
  for (int i = 0; i < axis; i++) axes[i] = i;
  bool is_wide = x->type.dtype == DTYPE_I64 || classes > INT32_MAX;
  DType index = is_wide ? DTYPE_I64 : DTYPE_I32;
  x = emit_check_index(e, x, "one_hot", axis, classes);
  Node *iota = x ? emit_iota(e, type_make(index, shape), axis) : NULL;
  Node *wide = iota ? emit_broadcast_axes(e, emit_cast(e, x, index), shape, axes) : NULL;
  return value_tensor(e, emit_cast(e, emit_binary(e, OP_EQ, wide, iota), e->default_float));
}

/* The key of random numbers is the path of the call, so every call has numbers of its own, the same in
 * every run with the same seed; initialization, training and evaluation have streams of their own. */
static Value apply_random(Elaborator *e, const Bound *bound) {
  Op op = (Op)bound->builtin->data;
  Type type = type_scalar(op == OP_RANDOM_BITS ? DTYPE_I64 : e->default_float);
  if (e->region->is_host_only)
    return report_error_value(e, bound->call, "a schedule cannot draw random numbers");
  if (!convert_shape(e, bound->values[0], bound->spans[0], "the shape", false, &type.shape))
    return value_error();
  if (op != OP_RANDOM_BITS && bound->values[1].kind == VALUE_DTYPE)
    type.dtype = bound->values[1].dtype;
  if (op != OP_RANDOM_BITS && !dtype_is_float(type.dtype))
    return report_error_value(e, bound->spans[1], "random numbers of type %s",
                              dtype_name(type.dtype));
  Attribute attributes[] = {attr_make_int(ATTR_STREAM, e->region->stream),
                            attr_make_string(ATTR_KEY, path_unique_key(e))};
  return value_tensor(e, evaluate_random(e, op, type, 2, attributes));
}

/* ---- indexing, products ------------------------------------------------------------------- */

static Value apply_pick(Elaborator *e, const Bound *bound) {
  Node *x = builtins_tensor(e, bound, 0), *index = builtins_tensor(e, bound, 1);
  int axis;
  if (!x || !index || !builtins_axis(e, bound, 2, x->type.shape.rank, &axis)) return value_error();
  Shape wanted = x->type.shape;
  for (int i = axis; i + 1 < wanted.rank; i++) wanted.dim[i] = wanted.dim[i + 1];
  wanted.dim[--wanted.rank] = 0;
  bool is_index = dtype_is_int(index->type.dtype);
  if (!is_index || !shape_equal(index->type.shape, wanted)) {
    Diagnostic *d =
        report_error(e, bound->call, "'pick' of %s along axis %d needs indices %s, found %s",
                     type_text(e->arena, x->type), axis, shape_text(e->arena, wanted),
                     type_text(e->arena, index->type));
    report_note_tensor(e, d, "the tensor", x);
    report_note_tensor(e, d, "the index tensor", index);
    if (!is_index) diag_help(d, "indices are integers: i32(x) converts");
    return value_error();
  }
  index = emit_check_index(e, index, "pick", axis, x->type.shape.dim[axis]);
  if (!index) return value_error();
  Attribute attribute = attr_make_int(ATTR_AXIS, axis);
  return value_tensor(e, emit_node(e, OP_PICK, 2, (Node *[]){x, index}, 1, &attribute));
}

/* x [v, rest...], index [i...], values [i..., rest...]: x with each row of the values added. */
static Value apply_scatter_add(Elaborator *e, const Bound *bound) {
  Node *x = builtins_tensor(e, bound, 0), *index = builtins_tensor(e, bound, 1);
  Node *values = x ? convert_tensor(e, bound->values[2], x->type.dtype, bound->spans[2]) : NULL;
  if (!x || !index || !values) return value_error();
  Shape rows = index->type.shape;
  bool fits = x->type.shape.rank > 0 && rows.rank + x->type.shape.rank - 1 <= MAX_RANK;
  for (int i = 1; fits && i < x->type.shape.rank; i++) rows.dim[rows.rank++] = x->type.shape.dim[i];
  fits = fits && dtype_is_int(index->type.dtype) && values->type.dtype == x->type.dtype &&
         shape_equal(values->type.shape, rows);
  if (!fits) {
    Diagnostic *d = report_error(e, bound->call, "'scatter_add' into %s at %s of %s",
                                 type_text(e->arena, x->type), type_text(e->arena, index->type),
                                 type_text(e->arena, values->type));
    report_note_tensor(e, d, "the tensor", x);
    report_note_tensor(e, d, "the index tensor", index);
    diag_help(d, "into [v, rest...] at integers [i...] go values [i..., rest...] of its type");
    return value_error();
  }
  index = emit_check_index(e, index, "scatter_add", 0, x->type.shape.dim[0]);
  if (!index) return value_error();
  Attribute shape = attr_make_ints(ATTR_SHAPE, x->type.shape.rank, x->type.shape.dim);
  Node *sums = emit_node(e, OP_SCATTER_ADD, 2, (Node *[]){values, index}, 1, &shape);
  return value_tensor(e, sums ? emit_binary(e, OP_ADD, x, sums) : NULL);
}

static Value apply_matmul(Elaborator *e, const Bound *bound) {
  return operate_matmul(e, bound->values[0], bound->values[1], bound->spans[0], bound->spans[1]);
}

/* ---- compile time ------------------------------------------------------------------------- */

/* rank, size, shape, dtype: the members of these names. */
static Value apply_property(Elaborator *e, const Bound *bound) {
  const Node *x = builtins_tensor(e, bound, 0);
  return x ? evaluate_property(e, x->type, bound->builtin->name) : value_error();
}

static Value apply_len(Elaborator *e, const Bound *bound) {
  Value x = bound->values[0];
  if (value_is_sequence(x)) return value_int(value_sequence_length(x));
  if (value_is_tensor(x) && x.tensor.node->type.shape.rank > 0)
    return value_int(x.tensor.node->type.shape.dim[0]);
  return report_kind(e, bound->spans[0], "the operand of 'len'", "a list or a tensor", x);
}

/* A number as a list of `count` equal ones; a list must have that many. */
static Value apply_as_list(Elaborator *e, const Bound *bound) {
  Value x = bound->values[0];
  int64_t count = bound->values[1].integer;
  if (value_is_sequence(x) && value_sequence_length(x) == count) return x;
  if (value_is_sequence(x))
    return report_error_value(e, bound->spans[0],
                              "one number or a list of %lld is needed here, not a list of %lld",
                              (long long)count, (long long)value_sequence_length(x));
  if (count < 0 || count > MAX_RANK)
    return report_error_value(e, bound->spans[1], "a list of %lld numbers cannot be made of one",
                              (long long)count);
  Value items[MAX_RANK];
  for (int i = 0; i < count; i++) items[i] = x;
  return value_list(e->arena, (int)count, items);
}

/* Of the kind that is the builtin's data; VALUE_LIST stands for all sequences, VALUE_INT for all numbers. */
static Value apply_is(Elaborator *e, const Bound *bound) {
  (void)e;
  Value x = bound->values[0];
  switch (bound->builtin->data) {
  case VALUE_LIST: return value_bool(value_is_sequence(x));
  case VALUE_INT: return value_bool(value_is_number(x));
  default: return value_bool(x.kind == VALUE_NONE);
  }
}

/* An argument of the def that runs, of which the condition computes, and which is a tensor: the
 * shapes and types of tensors may be checked, their elements not. */
static const Symbol *find_running(const Elaborator *e, const AstExpr *expr) {
  const Symbol *found = NULL;
  switch (expr->kind) {
  case AST_NAME:
    found = scope_find_own(e->frame->scope, expr->name);
    if (!found || found->kind != SYMBOL_FORMAL) return NULL;
    return value_is_tensor(found->value) || found->value.kind == VALUE_QUANTITY ||
                   found->value.kind == VALUE_DEFERRED
               ? found
               : NULL;
  case AST_UNARY: return find_running(e, expr->unary.operand);
  case AST_BINARY:
    found = find_running(e, expr->binary.left);
    return found ? found : find_running(e, expr->binary.right);
  default: return NULL;
  }
}

/* The condition is a tensor: within a def it is an argument that should be a number. */
static Diagnostic *report_running(Elaborator *e, const Bound *bound, Span at) {
  const char *found = value_describe(e->arena, bound->values[0]);
  const Symbol *symbol = e->frame->parent && bound->expr
                             ? find_running(e, bound->expr->call.arguments.items[0].value)
                             : NULL;
  Diagnostic *d =
      symbol
          ? report_error(e, at,
                         "the argument '%s' of '%s' must be a number known at compile "
                         "time, found %s",
                         symbol->name, e->frame->function, value_describe(e->arena, symbol->value))
          : report_error(e, at, "the condition of 'assert' must be known at compile time, found %s",
                         found);
  diag_help(d, symbol ? "%s" : "it is for \"%s\"", bound->values[1].string);
  report_option(e, d, symbol ? symbol->value : bound->values[0]);
  return d;
}

/* [n, 1] beside [n], as a layer of one unit and its target: which of the two has the axis too many. */
static void help_extra_axis(Diagnostic *d, Value a, Value b) {
  if (!value_is_tensor(a) || !value_is_tensor(b)) return;
  const Shape *first = &a.tensor.node->type.shape, *second = &b.tensor.node->type.shape;
  const Shape *longer = first->rank > second->rank ? first : second;
  Shape shortened = *longer;
  if (first->rank + second->rank != 2 * longer->rank - 1 || longer->dim[longer->rank - 1] != 1)
    return;
  shortened.dim[--shortened.rank] = 0;
  if (shape_equal(shortened, longer == first ? *second : *first))
    diag_help(d, "[..., 0] behind the %s takes its last axis away, which has one element",
              longer == first ? "first" : "second");
}

/* linear(4, 8): a number where the def that checks has a tensor. */
static void help_number(Elaborator *e, Diagnostic *d, const Bound *bound, int argument) {
  Value value = bound->values[argument];
  const AstArguments *arguments = bound->expr ? &bound->expr->call.arguments : NULL;
  if (!value_is_number(value) || !e->frame->parent || !arguments || argument >= arguments->count)
    return;
  const AstExpr *expr = arguments->items[argument].value;
  if (expr->kind == AST_NAME)
    diag_help(d, "'%s' is %s, but must be a tensor: %s(%s, ...)", expr->name,
              value_describe(e->arena, value), e->frame->function, expr->name);
}

/* A check of a def on its arguments: fails with the message, and the tensor's place. */
static Value apply_assert(Elaborator *e, const Bound *bound) {
  Value condition = convert_plain(e, bound->values[0], bound->spans[0]);
  if (condition.kind == VALUE_BOOL && condition.boolean) return value_none();
  Frame *frame = e->frame;
  Span at = frame->parent ? frame->user_call : bound->call;
  Diagnostic *d = condition.kind == VALUE_BOOL ? report_error(e, at, "%s", bound->values[1].string)
                                               : report_running(e, bound, at);
  if (frame->parent && !frame->has_returned) { /* the rest of the def would complain again */
    frame->has_returned = true;
    vec_push(e->arena, &frame->returned, value_error());
  }
  for (int i = 2; i <= 3; i++) help_number(e, d, bound, i);
  for (int i = 2; i <= 3; i++)
    if (value_is_tensor(bound->values[i]))
      report_note_tensor(e, d,
                         i == 2 && bound->values[3].kind != VALUE_NONE ? "the first"
                         : i == 3                                      ? "the second"
                                                                       : "the tensor",
                         bound->values[i].tensor.node);
  help_extra_axis(d, bound->values[2], bound->values[3]);
  return value_error();
}

static const Builtin builtins_random[] = {
    BUILTIN("random", apply_random, OP_RANDOM_UNIFORM, "rand", "shape: shape, type: type = none",
            "Uniform random numbers of [0, 1), fresh each step."
            " Example: y = x + rand(x.shape)"),
    BUILTIN("random", apply_random, OP_RANDOM_NORMAL, "randn", "shape: shape, type: type = none",
            "Normal random numbers of mean 0 and variance 1, fresh each step."
            " Example: y = x + 0.1 * randn(x.shape)"),
    BUILTIN("random", apply_random, OP_RANDOM_BITS, "random_bits", "shape: shape",
            "Random integers of [0, 2^32) as i64."
            " Example: keep = random_bits(x.shape) % 2 == 0"),
    {0},
};

static const Builtin builtins_other[] = {
    BUILTIN("creating tensors", apply_fill, 0, "zeros", "shape: shape, type: type = none",
            "A tensor of zeros; without arguments the initializer."
            " Example: y = concat(x, zeros([batch, 2]))"),
    BUILTIN("creating tensors", apply_fill, 1, "ones", "shape: shape, type: type = none",
            "A tensor of ones; without arguments the initializer."
            " Example: y = ones([2, 3])"),
    BUILTIN("creating tensors", apply_full, 0, "full",
            "shape: shape, value: scalar, type: type = none",
            "A tensor of one value, known at compile time; broadcast(x, shape) repeats a tensor."
            " Example: y = full([2, 3], 0.5)"),
    BUILTIN("creating tensors", apply_arange, 0, "arange",
            "from: int, to: int = none, type: type = none",
            "0, 1, ..., n - 1 for arange(n); from, ..., to - 1 for arange(from, to); i32."
            " Example: y = x * f32(arange(16))"),
    BUILTIN("indexing", apply_one_hot, 0, "one_hot", "x: tensor, classes: int",
            "[...] integers -> [..., classes]: 1 where the class is x, else 0; so zeros alone "
            "where x is none of the classes."
            " Example: y = one_hot(label, 10)"),
    BUILTIN("indexing", apply_pick, 0, "pick", "x: tensor, index: tensor, axis: int = -1",
            "One element along an axis: pick(x, i)[a, b] = x[a, b, i[a, b]]; i has x's shape "
            "without the axis. An i outside of it takes the nearest element."
            " Example: y = pick(logits, label)"),
    BUILTIN("indexing", apply_scatter_add, 0, "scatter_add",
            "x: tensor, index: tensor, values: tensor",
            "x with rows of `values` added: x [v, rest...], index [i...] integers, values [i..., "
            "rest...]; row values[k] is added to row x[index[k]], as often as it is named, and "
            "nowhere where index[k] is outside."
            " Example: counts = scatter_add(zeros([10], i32), label, ones([batch], i32))"),
    BUILTIN("products", apply_matmul, 0, "matmul", "a: tensor, b: tensor",
            "The matrix product a @ b."
            " Example: y = matmul(x, x.T)"),
    BUILTIN("products", builtins_einsum, 0, "einsum",
            "formula: string, a: tensor, b: tensor = none, c: tensor = none, d: tensor = none, e: "
            "tensor = none, f: tensor = none",
            "Einstein's sum: einsum(\"bm,bnm->bn\", key, M) sums over the letters that the result "
            "lacks. A letter twice in one tensor takes its diagonal; \"...\" stands for axes that "
            "no letter names."
            " Example: y = einsum(\"bi,bj->bij\", x, x)"),
    BUILTIN("compile time", apply_property, 0, "rank", "x: tensor",
            "The number of axes."
            " Example: _ = assert(rank(x) == 2, \"rank\")"),
    BUILTIN("compile time", apply_property, 0, "size", "x: tensor",
            "The number of elements."
            " Example: _ = assert(size(x) == 16 * batch, \"size\")"),
    BUILTIN("compile time", apply_property, 0, "shape", "x: tensor",
            "The extents as a list: x.shape."
            " Example: _ = assert(shape(x) == [batch, 16], \"shape\")"),
    BUILTIN("compile time", apply_property, 0, "dtype", "x: tensor",
            "The element type: f32, i32, ..."
            " Example: _ = assert(dtype(x) == f32, \"dtype\")"),
    BUILTIN("compile time", apply_len, 0, "len", "x: any",
            "The length of a list, or the first extent of a tensor."
            " Example: _ = assert(len([1, 2]) == 2, \"len\")"),
    BUILTIN("compile time", apply_as_list, 0, "as_list", "x: any, count: int",
            "A number as a list of `count` equal ones; a list of that length as it is."
            " Example: _ = assert(as_list(3, 2) == [3, 3], \"as_list\")"),
    BUILTIN("compile time", apply_is, VALUE_LIST, "is_list", "x: any",
            "Whether x is a list, tuple or range."
            " Example: _ = assert(is_list(0..3), \"is_list\")"),
    BUILTIN("compile time", apply_is, VALUE_INT, "is_number", "x: any",
            "Whether x is a compile-time number, not a tensor or a schedule."
            " Example: _ = assert(!is_number(x), \"is_number\")"),
    BUILTIN("compile time", apply_is, VALUE_NONE, "is_none", "x: any",
            "Whether x is none."
            " Example: _ = assert(is_none(none), \"is_none\")"),
    {0},
};

static bool ends_in(const char *name, const char *ending) {
  size_t length = strlen(name), end = strlen(ending);
  return length > end && strcmp(name + length - end, ending) == 0;
}

static Value apply_load(Elaborator *e, const Bound *bound) {
  Value value = {.kind = VALUE_FILE};
  value.file.name = bound->values[0].string;
  value.file.entry = bound->values[1].kind == VALUE_NONE ? NULL : bound->values[1].string;
  if (ends_in(value.file.name, ".safetensors")) return value;
  if (!ends_in(value.file.name, ".npy")) {
    Diagnostic *d =
        report_error(e, bound->spans[0], "'%s' is no file that load() reads", value.file.name);
    diag_help(d, "it reads NumPy's .npy and .safetensors");
    return value_error();
  }
  if (!value.file.entry) return value;
  return report_error_value(e, bound->spans[1], "a .npy file holds one array and has no entries");
}

static const Builtin builtins_files[] = {
    BUILTIN("creating tensors", apply_load, 0, "load", "file: string, entry: string = none",
            "An initial value from a file in the data folder, read when a run begins: an array of "
            "NumPy's .npy, or a tensor of a .safetensors file, the one called as the parameter is "
            "unless `entry` names it. It has the declared shape; numbers are converted as those "
            "of data are."
            " Example: param w : [16, 8] = load(\"pretrained.safetensors\", \"encoder.weight\")"),
    {0},
};

/* There are no expression statements: `_ = assert(...)`. */
static const Builtin builtins_check[] = {
    BUILTIN("compile time", apply_assert, 0, "assert",
            "condition: truth, message: string, x: any = none, y: any = none",
            "Refuses the program with `message` unless the condition holds, and shows the types "
            "of x, y."
            " Example: _ = assert(rank(x) == 2, \"a matrix is needed\", x)"),
    {0},
};

Node *builtins_tensor(Elaborator *e, const Bound *bound, int i) {
  return convert_any_tensor(e, bound->values[i], bound->spans[i]);
}

bool builtins_axis(Elaborator *e, const Bound *bound, int i, int rank, int *axis) {
  return convert_axis(e, bound->values[i], bound->spans[i], rank, axis);
}

bool builtins_unify(Elaborator *e, const Bound *bound, int i, Node **x, Node **y) {
  Operands operands = {.a = bound->values[i],
                       .b = bound->values[i + 1],
                       .a_at = bound->spans[i],
                       .b_at = bound->spans[i + 1]};
  return operate_unify(e, arena_printf(e->arena, "'%s'", bound->builtin->name), operands, x, y);
}

Node *builtins_refuse_type(Elaborator *e, const Bound *bound, int i, const Node *x) {
  Diagnostic *d = report_error(e, bound->spans[i], "'%s' of %s", bound->builtin->name,
                               dtype_name(x->type.dtype));
  report_note_tensor(e, d, "the operand", x);
  return diag_help(d, "convert first: f32(x)");
}

static const Builtin *const tables[] = {
    builtins_math,   builtins_shape,    builtins_reduce,    builtins_window,
    builtins_random, builtins_other,    builtins_files,     builtins_schedule,
    builtins_check,  builtins_gradient, builtins_follow,    builtins_classified,
    builtins_ranked, builtins_units,    builtins_per_batch, builtins_gradient_norm,
    builtins_ranges};

const Builtin *builtins_table(int i) {
  return i < (int)(sizeof tables / sizeof tables[0]) ? tables[i] : NULL;
}

static void bind_value(Elaborator *e, const char *name, Value value) {
  scope_bind(e->arena, e->root, SYMBOL_BUILTIN, name_intern(name), value, (Span){0});
}

void builtins_bind(Elaborator *e) {
  for (int i = 0; builtins_table(i); i++)
    for (const Builtin *builtin = builtins_table(i); builtin->name; builtin++) {
      Value value = {.kind = VALUE_BUILTIN};
      value.builtin = builtin;
      bind_value(e, builtin->name, value);
    }
  for (int i = 0; i < DTYPE_COUNT; i++) bind_value(e, dtype_name((DType)i), value_dtype((DType)i));
  bind_value(e, "none", value_none());
  bind_value(e, "pi", value_float(3.14159265358979323846));
  bind_value(e, "inf", value_float(INFINITY));
}
