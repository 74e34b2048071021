/* Movement: shapes, axes, joining and parting tensors. */
#include <string.h>
#include "elaborate/builtins/builtins.h"
#include "elaborate/core/emit.h"
#include "elaborate/core/report.h"
#include "elaborate/eval/convert.h"
#include "support/integers.h"
#include "support/names.h"

/* ---- reshaping ---------------------------------------------------------------------------- */

static Value apply_reshape(Elaborator *e, const Bound *bound) {
  Node *x = builtins_tensor(e, bound, 0);
  Shape shape;
  if (!x || !convert_shape(e, bound->values[1], bound->spans[1], "the shape", true, &shape))
    return value_error();
  int64_t known = 1, elements = shape_elements(x->type.shape);
  int open = -1;
  bool fits = true;
  for (int i = 0; i < shape.rank; i++) {
    if (shape.dim[i] >= 0) {
      fits = fits && !__builtin_mul_overflow(known, shape.dim[i], &known);
    } else if (open >= 0) {
      return report_error_value(e, bound->spans[1], "only one extent of a shape may be -1");
    } else {
      open = i;
    }
  }
  if (fits && open >= 0) fits = known > 0 && elements % known == 0;
  else fits = fits && known == elements;
  if (!fits) {
    Diagnostic *d = report_error(e, bound->call, "%lld elements cannot take the shape %s",
                                 (long long)elements, shape_text(e->arena, shape));
    report_note_tensor(e, d, "the tensor", x);
    return value_error();
  }
  if (open >= 0) shape.dim[open] = elements / known;
  return value_tensor(e, emit_reshape(e, x, shape));
}

/* Axes from `start` on become one; axis 0, the batch, stays. */
static Value apply_flatten(Elaborator *e, const Bound *bound) {
  Node *x = builtins_tensor(e, bound, 0);
  int64_t start = bound->values[1].integer;
  if (!x) return value_error();
  Shape from = x->type.shape, shape = {0};
  if (start < 0) start += from.rank;
  if (start < 0 || start > from.rank)
    return report_error_value(e, bound->spans[1], "start %lld of a tensor with %d axes",
                              (long long)bound->values[1].integer, from.rank);
  int64_t rest = 1;
  for (int i = 0; i < from.rank; i++) {
    if (i < start) shape.dim[shape.rank++] = from.dim[i];
    else rest *= from.dim[i];
  }
  if (shape.rank < MAX_RANK) shape.dim[shape.rank++] = rest;
  return value_tensor(e, emit_reshape(e, x, shape));
}

static Value apply_transpose(Elaborator *e, const Bound *bound) {
  Node *x = builtins_tensor(e, bound, 0);
  if (!x) return value_error();
  int rank = x->type.shape.rank, permutation[MAX_RANK];
  Value axes = bound->values[1];
  bool seen[MAX_RANK] = {false};
  if (axes.kind == VALUE_NONE) {
    for (int i = 0; i < rank; i++) permutation[i] = rank - 1 - i;
    return value_tensor(e, emit_transpose(e, x, permutation));
  }
  if (!value_is_sequence(axes) || value_sequence_length(axes) != rank)
    return report_error_value(e, bound->spans[1],
                              "'%s' of a tensor with %d axes needs a list of all %d",
                              bound->builtin->name, rank, rank);
  for (int i = 0; i < rank; i++) {
    if (!convert_axis(e, value_sequence_item(axes, i), bound->spans[1], rank, &permutation[i]))
      return value_error();
    if (seen[permutation[i]])
      return report_error_value(e, bound->spans[1], "axis %d is given twice", permutation[i]);
    seen[permutation[i]] = true;
  }
  return value_tensor(e, emit_transpose(e, x, permutation));
}

static Value apply_broadcast(Elaborator *e, const Bound *bound) {
  Node *x = builtins_tensor(e, bound, 0);
  Shape shape, joined;
  if (!x || !convert_shape(e, bound->values[1], bound->spans[1], "the shape", false, &shape))
    return value_error();
  if (!shape_broadcast(x->type.shape, shape, &joined) || !shape_equal(joined, shape)) {
    Diagnostic *d = report_error(e, bound->call, "shape %s does not broadcast to %s",
                                 shape_text(e->arena, x->type.shape), shape_text(e->arena, shape));
    report_note_tensor(e, d, "the tensor", x);
    return value_error();
  }
  return value_tensor(e, emit_broadcast(e, x, shape));
}

/* v [c] along one axis of x: v's values where x has them, in x's shape. */
static Value apply_along(Elaborator *e, const Bound *bound) {
  Node *x = builtins_tensor(e, bound, 2);
  Node *v = x && value_is_sequence(bound->values[0])
                ? convert_tensor(e, bound->values[0], x->type.dtype, bound->spans[0])
                : builtins_tensor(e, bound, 0);
  int axis;
  if (!v || !x || !builtins_axis(e, bound, 1, x->type.shape.rank, &axis)) return value_error();
  if (v->type.shape.rank != 1 || v->type.shape.dim[0] != x->type.shape.dim[axis]) {
    Diagnostic *d =
        report_error(e, bound->call, "'along' needs a vector of %lld for axis %d, found %s",
                     (long long)x->type.shape.dim[axis], axis, type_text(e->arena, v->type));
    report_note_tensor(e, d, "the vector", v);
    report_note_tensor(e, d, "the tensor", x);
    return value_error();
  }
  int64_t axes[] = {axis};
  return value_tensor(e, emit_broadcast_axes(e, v, x->type.shape, axes));
}

/* ---- joining ------------------------------------------------------------------------------ */

/* The tensors given one by one or as one list, of one type. */
static int collect_parts(Elaborator *e, const Bound *bound, Node ***parts) {
  bool as_list = bound->rest_count == 1 && value_is_sequence(bound->rest[0]);
  int count = as_list ? (int)value_sequence_length(bound->rest[0]) : bound->rest_count;
  DType dtype = DTYPE_COUNT;
  *parts = ARENA_ARRAY(e->arena, Node *, count);
  for (int i = 0; i < count && dtype == DTYPE_COUNT; i++) {
    Value item = as_list ? value_sequence_item(bound->rest[0], i) : bound->rest[i];
    if (value_is_tensor(item) && !item.tensor.is_host) dtype = item.tensor.node->type.dtype;
  }
  if (dtype == DTYPE_COUNT && as_list) dtype = convert_own_dtype(e, bound->rest[0]);
  for (int i = 0; i < count; i++) {
    Value item = as_list ? value_sequence_item(bound->rest[0], i) : bound->rest[i];
    Span at = as_list ? bound->rest_spans[0] : bound->rest_spans[i];
    (*parts)[i] = dtype == DTYPE_COUNT ? convert_any_tensor(e, item, at)
                                       : convert_element(e, item, dtype, at);
    if (!(*parts)[i]) return 0;
  }
  if (count == 0) report_error(e, bound->call, "'%s' of nothing", bound->builtin->name);
  return count;
}

static bool check_parts(Elaborator *e, const Bound *bound, int count, Node **parts, int axis) {
  for (int i = 1; i < count; i++) {
    Type a = parts[0]->type, b = parts[i]->type;
    bool fits = a.dtype == b.dtype && a.shape.rank == b.shape.rank;
    for (int k = 0; fits && k < a.shape.rank; k++)
      fits = k == axis || a.shape.dim[k] == b.shape.dim[k];
    if (fits) continue;
    Diagnostic *d = report_error(e, bound->call, "'%s' of %s and %s", bound->builtin->name,
                                 type_text(e->arena, a), type_text(e->arena, b));
    report_note_tensor(e, d, "the first", parts[0]);
    report_note_tensor(e, d, arena_printf(e->arena, "part %d", i + 1), parts[i]);
    diag_help(d,
              axis >= 0 ? "types must be equal, and extents but along axis %d"
                        : "types and shapes must be equal",
              axis);
    return false;
  }
  return true;
}

static Value apply_concat(Elaborator *e, const Bound *bound) {
  Node **parts;
  int count = collect_parts(e, bound, &parts), axis;
  if (count == 0 || !builtins_axis(e, bound, 1, parts[0]->type.shape.rank, &axis))
    return value_error();
  if (!check_parts(e, bound, count, parts, axis)) return value_error();
  return value_tensor(e, emit_concat(e, count, parts, axis));
}

static Value apply_stack(Elaborator *e, const Bound *bound) {
  Node **parts;
  int count = collect_parts(e, bound, &parts), axis;
  if (count == 0 || !check_parts(e, bound, count, parts, -1)) return value_error();
  Shape shape = parts[0]->type.shape;
  if (!emit_check_rank(e, bound->call, shape.rank + 1) ||
      !builtins_axis(e, bound, 1, shape.rank + 1, &axis))
    return value_error();
  for (int i = shape.rank++; i > axis; i--) shape.dim[i] = shape.dim[i - 1];
  shape.dim[axis] = 1;
  for (int i = 0; i < count; i++) parts[i] = emit_reshape(e, parts[i], shape);
  return value_tensor(e, emit_concat(e, count, parts, axis));
}

/* ---- parting ------------------------------------------------------------------------------ */

static Node *slice_axis(Elaborator *e, Node *x, int axis, int64_t from, int64_t to, int64_t by) {
  int64_t start[MAX_RANK], stop[MAX_RANK], step[MAX_RANK];
  for (int i = 0; i < x->type.shape.rank; i++) {
    start[i] = 0;
    stop[i] = x->type.shape.dim[i];
    step[i] = 1;
  }
  start[axis] = from;
  stop[axis] = to;
  step[axis] = by;
  return emit_slice(e, x, start, stop, step);
}

/* parts: how many equal ones, or a list of their extents. */
static Value apply_split(Elaborator *e, const Bound *bound) {
  Node *x = builtins_tensor(e, bound, 0);
  int axis;
  if (!x || !builtins_axis(e, bound, 2, x->type.shape.rank, &axis)) return value_error();
  int64_t extent = x->type.shape.dim[axis], sum = 0;
  Value parts = bound->values[1];
  bool equal = parts.kind == VALUE_INT;
  int64_t count = equal ? parts.integer : value_sequence_length(parts);
  bool fits = count > 0 && count <= MAX_ITERATIONS && (!equal || extent % count == 0) &&
              emit_allow_elements(e, count);
  Value *items = ARENA_ARRAY(e->arena, Value, fits ? count : 0);
  for (int64_t i = 0; i < count && fits; i++) {
    int64_t size = equal ? extent / count : 0;
    if (!equal &&
        !convert_int(e, value_sequence_item(parts, i), bound->spans[1], "an extent", &size))
      return value_error();
    fits = size >= 0 && size <= extent - sum;
    if (!fits) break;
    items[i] = value_tensor(e, slice_axis(e, x, axis, sum, sum + size, 1));
    if (value_is_error(items[i])) return value_error();
    sum += size;
  }
  if (fits && sum == extent) return value_tuple(e->arena, (int)count, items);
  Text text = {0};
  value_add_text(&text, parts);
  Diagnostic *d = report_error(e, bound->call, "axis %d of extent %lld cannot be split into %s%s",
                               axis, (long long)extent, text.data, equal ? " equal parts" : "");
  text_free(&text);
  report_note_tensor(e, d, "the tensor", x);
  return value_error();
}

/* ---- padding, repeating ------------------------------------------------------------------- */

/* widths: one number for all axes, or a (low, high) pair for each axis. */
static bool read_widths(Elaborator *e, const Bound *bound, int rank, int64_t *low, int64_t *high) {
  Value widths = bound->values[1];
  Span at = bound->spans[1];
  if (value_is_sequence(widths) && value_sequence_length(widths) != rank)
    return report_failure(e, at, "pad of a tensor with %d axes needs as many widths, found %lld",
                          rank, (long long)value_sequence_length(widths));
  for (int i = 0; i < rank; i++) {
    Value width = value_is_sequence(widths) ? value_sequence_item(widths, i) : widths;
    bool is_pair = value_is_sequence(width) && value_sequence_length(width) == 2;
    Value first = is_pair ? value_sequence_item(width, 0) : width;
    Value second = is_pair ? value_sequence_item(width, 1) : width;
    if (!convert_int(e, first, at, "a width", &low[i]) ||
        !convert_int(e, second, at, "a width", &high[i]))
      return false;
    if (low[i] >= 0 && high[i] >= 0 && low[i] < MAX_ELEMENTS && high[i] < MAX_ELEMENTS) continue;
    return report_failure(e, at, "a width of padding cannot be %lld",
                          (long long)(low[i] < 0 || low[i] >= MAX_ELEMENTS ? low[i] : high[i]));
  }
  return true;
}

/* `count` elements of one axis, from `from` on, in steps of `by`. */
static Node *border(Elaborator *e, Node *x, int axis, int64_t from, int64_t count, int64_t by) {
  int64_t to = from + by * count;
  return slice_axis(e, x, axis, from, to < 0 ? -1 : to, by);
}

/* Borders made of the tensor's own elements, one axis after the other. */
static Node *pad_axis(Elaborator *e, Node *x, int axis, const char *mode, int64_t low,
                      int64_t high) {
  int64_t n = x->type.shape.dim[axis];
  Node *parts[3];
  int count = 0;
  bool reflects = !strcmp(mode, "reflect"), wraps = !strcmp(mode, "wrap");
  Shape wide = x->type.shape;
  if (low > 0) {
    wide.dim[axis] = low;
    parts[count++] = reflects ? border(e, x, axis, low, low, -1)
                     : wraps  ? border(e, x, axis, n - low, low, 1)
                              : emit_broadcast(e, border(e, x, axis, 0, 1, 1), wide);
  }
  parts[count++] = x;
  if (high > 0) {
    wide.dim[axis] = high;
    parts[count++] = reflects ? border(e, x, axis, n - 2, high, -1)
                     : wraps  ? border(e, x, axis, 0, high, 1)
                              : emit_broadcast(e, border(e, x, axis, n - 1, 1, 1), wide);
  }
  return emit_concat(e, count, parts, axis);
}

/* mode: "reflect" does not repeat the edge, "edge" repeats it alone, "wrap" goes on at the other
 * end. */
static Value pad_by_mode(Elaborator *e, const Bound *bound, Node *x, const int64_t *low,
                         const int64_t *high) {
  const char *mode = bound->values[3].string;
  const char *modes[] = {"constant", "reflect", "edge", "wrap"};
  int which = 0;
  while (which < 4 && strcmp(mode, modes[which]) != 0) which++;
  if (which == 4) {
    Diagnostic *d = report_error(e, bound->spans[3], "unknown mode of padding \"%s\"", mode);
    report_suggest(d, mode, modes, 4);
    diag_help(d, "the modes are \"constant\", \"reflect\", \"edge\" and \"wrap\"");
    return value_error();
  }
  for (int i = 0; i < x->type.shape.rank; i++) {
    int64_t width = low[i] > high[i] ? low[i] : high[i], extent = x->type.shape.dim[i];
    int64_t most = which == 1 ? extent - 1 : which == 3 ? extent : extent > 0 ? width : 0;
    if (width <= most) continue;
    Diagnostic *d = report_error(e, bound->call,
                                 "padding of %lld by \"%s\" needs more than the "
                                 "%lld elements of axis %d",
                                 (long long)width, mode, (long long)extent, i);
    report_note_tensor(e, d, "the tensor", x);
    return value_error();
  }
  for (int i = 0; x && i < x->type.shape.rank; i++)
    if (low[i] + high[i] > 0) x = pad_axis(e, x, i, mode, low[i], high[i]);
  return value_tensor(e, x);
}

static Value apply_pad(Elaborator *e, const Bound *bound) {
  Node *x = builtins_tensor(e, bound, 0);
  int64_t low[MAX_RANK], high[MAX_RANK], step[MAX_RANK];
  double value;
  if (!x || !read_widths(e, bound, x->type.shape.rank, low, high) ||
      !convert_fits(e, bound->values[2], x->type.dtype, bound->spans[2]) ||
      !convert_number(e, bound->values[2], bound->spans[2], "the value", &value))
    return value_error();
  int rank = x->type.shape.rank;
  Shape shape = x->type.shape;
  for (int i = 0; i < rank; i++) {
    step[i] = 1;
    shape.dim[i] += low[i] + high[i];
  }
  if (!emit_check_shape(e, bound->call, shape)) return value_error();
  if (strcmp(bound->values[3].string, "constant") != 0) return pad_by_mode(e, bound, x, low, high);
  Attribute attributes[] = {
      attr_make_ints(ATTR_LOW, rank, low), attr_make_ints(ATTR_HIGH, rank, high),
      attr_make_ints(ATTR_STEP, rank, step), attr_make_float(ATTR_VALUE, value)};
  return value_tensor(e, emit_node(e, OP_PAD, 1, &x, 4, attributes));
}

static Value apply_flip(Elaborator *e, const Bound *bound) {
  Node *x = builtins_tensor(e, bound, 0);
  int count;
  int64_t axes[MAX_RANK];
  if (!x || !convert_axes(e, bound->values[1], bound->spans[1], x->type.shape.rank, &count, axes))
    return value_error();
  for (int i = 0; i < count && x; i++) {
    int64_t extent = x->type.shape.dim[axes[i]];
    x = slice_axis(e, x, (int)axes[i], extent - 1, -1, -1);
  }
  return value_tensor(e, x);
}

/* Elements move `shift` places up and come in again at the other end. */
static Value apply_roll(Elaborator *e, const Bound *bound) {
  Node *x = builtins_tensor(e, bound, 0);
  int64_t shift = bound->values[1].integer;
  int axis;
  if (!x || !builtins_axis(e, bound, 2, x->type.shape.rank, &axis)) return value_error();
  int64_t extent = x->type.shape.dim[axis];
  if (extent == 0) return value_tensor(e, x);
  shift = floor_mod(shift, extent);
  if (shift == 0) return value_tensor(e, x);
  Node *parts[] = {slice_axis(e, x, axis, extent - shift, extent, 1),
                   slice_axis(e, x, axis, 0, extent - shift, 1)};
  return value_tensor(e, emit_concat(e, 2, parts, axis));
}

/* The elements of x `count` times along one axis, runs of them: the axis and those that follow as a
 * whole (is_whole), or each element of the axis by itself. */
static Node *repeat_axis(Elaborator *e, Node *x, int axis, int64_t count, bool is_whole) {
  Shape from = x->type.shape, result = from, parts = {.rank = 2, .dim = {1, 1}};
  for (int i = 0; i < from.rank; i++) parts.dim[i > axis - is_whole] *= from.dim[i];
  Shape wide = {.rank = 3, .dim = {parts.dim[0], count, parts.dim[1]}};
  result.dim[axis] *= count;
  Node *pair = emit_reshape(e, x, parts);
  return emit_reshape(e, emit_broadcast_axes(e, pair, wide, (int64_t[]){0, 2}), result);
}

/* The extents of x times `counts` are those of a tensor that may exist. */
static bool check_repeated(Elaborator *e, Span at, Shape from, Shape counts) {
  for (int i = 0; i < from.rank; i++)
    if (__builtin_mul_overflow(from.dim[i], counts.dim[i], &from.dim[i]))
      from.dim[i] = MAX_ELEMENTS + 1;
  return emit_check_shape(e, at, from);
}

/* Each axis repeated as a whole: [a, b] -> [a, b, a, b]. */
static Value apply_tile(Elaborator *e, const Bound *bound) {
  Node *x = builtins_tensor(e, bound, 0);
  Shape counts;
  if (!x || !convert_shape(e, bound->values[1], bound->spans[1], "the counts", false, &counts))
    return value_error();
  int rank = x->type.shape.rank;
  if (counts.rank != rank)
    return report_error_value(e, bound->spans[1],
                              "tile of a tensor with %d axes needs a count for each", rank);
  if (!check_repeated(e, bound->call, x->type.shape, counts)) return value_error();
  for (int i = rank - 1; i >= 0 && x; i--)
    if (counts.dim[i] != 1) x = repeat_axis(e, x, i, counts.dim[i], true);
  return value_tensor(e, x);
}

/* Each element repeated along one axis: [a, b] -> [a, a, b, b]. */
static Value apply_repeat(Elaborator *e, const Bound *bound) {
  Node *x = builtins_tensor(e, bound, 0);
  int64_t count = bound->values[1].integer;
  int axis;
  if (!x || !builtins_axis(e, bound, 2, x->type.shape.rank, &axis)) return value_error();
  if (count < 0) return report_error_value(e, bound->spans[1], "a count of %lld", (long long)count);
  Shape counts = {.rank = x->type.shape.rank};
  for (int i = 0; i < counts.rank; i++) counts.dim[i] = i == axis ? count : 1;
  if (!check_repeated(e, bound->call, x->type.shape, counts)) return value_error();
  return value_tensor(e, count == 1 ? x : repeat_axis(e, x, axis, count, false));
}

const Builtin builtins_shape[] = {
    BUILTIN("movement", apply_reshape, 0, "reshape", "x: tensor, shape: shape",
            "x with another shape, row by row; one extent may be -1 and is then computed."
            " Example: y = reshape(x, [batch, 4, -1])"),
    BUILTIN("movement", apply_flatten, 0, "flatten", "x: tensor, start: int = 1",
            "Axes from `start` on become one: [n, a, b] -> [n, a*b]. Axis 0, the batch, stays."
            " Example: y = flatten(image)"),
    BUILTIN("movement", apply_transpose, 0, "transpose", "x: tensor, axes: axes = none",
            "Axes in a new order: result axis i is axis axes[i] of x; reversed by default. x.T is "
            "short."
            " Example: y = transpose(image, [0, 2, 3, 1])"),
    BUILTIN("movement", apply_transpose, 0, "permute", "x: tensor, axes: list",
            "Axes in a new order: result axis i is axis axes[i] of x."
            " Example: y = permute(image, [0, 2, 3, 1])"),
    BUILTIN("movement", apply_broadcast, 0, "broadcast", "x: tensor, shape: shape",
            "x repeated to a shape by NumPy's rules: missing axes in front, extents of 1 grow."
            " Example: y = broadcast(x[0], [3, 16])"),
    BUILTIN("movement", apply_along, 0, "along", "v: tensor, axis: int, x: tensor",
            "The vector v laid along one axis of x and repeated over the others: the shape of x."
            " Example: y = along([1.0, 2.0, 3.0], 1, image) * image"),
    BUILTIN("movement", apply_concat, 0, "concat", "...parts: tensor, axis: int = -1",
            "Tensors joined along an axis; given one by one or as a list."
            " Example: y = concat(x, 2 * x)"),
    BUILTIN("movement", apply_stack, 0, "stack", "...parts: tensor, axis: int = 0",
            "Tensors of one shape joined along a new axis."
            " Example: y = stack(x, 2 * x)"),
    BUILTIN("movement", apply_split, 0, "split", "x: tensor, parts: ints, axis: int = -1",
            "A tuple of pieces along an axis: `parts` equal ones, or of the extents in a list."
            " Example: a, b = split(x, 2)"),
    BUILTIN("movement", apply_pad, 0, "pad",
            "x: tensor, widths: ints, value: number = 0, mode: string = \"constant\"",
            "x with borders: one width for all sides, or for each axis a width or (low, high). "
            "mode: \"constant\" is `value`, \"edge\" the outermost element, \"reflect\" the "
            "elements in front of it backwards, \"wrap\" those of the other end."
            " Example: y = pad(image, [0, 0, 2, (1, 0)], mode = \"reflect\")"),
    BUILTIN("movement", apply_flip, 0, "flip", "x: tensor, axis: axes",
            "x backwards along axes."
            " Example: y = flip(image, -1)"),
    BUILTIN("movement", apply_roll, 0, "roll", "x: tensor, shift: int, axis: int = -1",
            "Elements moved `shift` places along an axis; those that leave come in at the other "
            "end."
            " Example: y = roll(x, 1)"),
    BUILTIN("movement", apply_tile, 0, "tile", "x: tensor, counts: ints",
            "Each axis repeated as a whole: a count for each axis."
            " Example: y = tile(x, [1, 2])"),
    BUILTIN("movement", apply_repeat, 0, "repeat", "x: tensor, count: int, axis: int = -1",
            "Each element repeated along an axis."
            " Example: y = repeat(x, 2, axis = 0)"),
    {0},
};
