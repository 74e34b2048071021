/* x[i, a:b:s, ..., none, positions, positions]: NumPy's basic indexing, and tensors of positions of
 * neighbouring axes.
 *
 * The work goes axis by axis into one slice; then axes of single positions vanish and new ones
 * appear in one reshape; a tensor of positions is a gather of the axis moved to the front. Several
 * become one first: their axes are joined, and the position in [a, b] is i b + j. */
#include <stdint.h>
#include "elaborate/core/elaborator.h"
#include "elaborate/core/emit.h"
#include "elaborate/core/report.h"
#include "elaborate/eval/convert.h"
#include "elaborate/eval/evaluate.h"
#include "support/integers.h"

typedef struct Selection {
  Node *x;
  int axis; /* the next of x to be indexed */
  int64_t start[MAX_RANK], stop[MAX_RANK], step[MAX_RANK];
  Shape result; /* after the reshape */
  int positions_count;
  Node *positions[MAX_RANK];
  Span positions_at[MAX_RANK];
  int positions_axis; /* of the result: that of the first */
} Selection;

/* What each of the following selects; false after a diagnostic. */
static bool select_extent(Elaborator *e, Selection *s, Span at, int64_t extent) {
  if (s->result.rank == MAX_RANK)
    return report_failure(e, at, "the result has more than %d axes", MAX_RANK);
  s->result.dim[s->result.rank++] = extent;
  return true;
}

/* Of the next axis. */
static void select_range(Selection *s, int64_t start, int64_t stop, int64_t step) {
  s->start[s->axis] = start;
  s->stop[s->axis] = stop;
  s->step[s->axis++] = step;
}

static bool select_all(Elaborator *e, Selection *s, Span at) {
  int64_t extent = s->x->type.shape.dim[s->axis];
  select_range(s, 0, extent, 1);
  return select_extent(e, s, at, extent);
}

/* From 0 on; a negative one counts from the end. */
static bool settle_position(Elaborator *e, const Selection *s, int64_t *position, Span at) {
  int64_t extent = s->x->type.shape.dim[s->axis], given = *position;
  *position = given < 0 ? given + extent : given;
  if (given >= -extent && given < extent) return true;
  Diagnostic *d = report_error(e, at, "index %lld is outside axis %d of extent %lld",
                               (long long)given, s->axis, (long long)extent);
  return report_note_tensor(e, d, "the tensor", s->x);
}

static bool select_position(Elaborator *e, Selection *s, int64_t position, Span at) {
  if (!settle_position(e, s, &position, at)) return false;
  select_range(s, position, position + 1, 1);
  return true;
}

/* Those known at compile time. */
static Value settle_positions(Elaborator *e, const Selection *s, Value value, Span at) {
  if (value_is_sequence(value)) {
    int count = (int)value_sequence_length(value);
    Value *items = ARENA_ARRAY(e->arena, Value, count);
    for (int i = 0; i < count; i++) {
      items[i] = settle_positions(e, s, value_sequence_item(value, i), at);
      if (value_is_error(items[i])) return value_error();
    }
    return value_list(e->arena, count, items);
  }
  if (value.kind != VALUE_INT) return value;
  return settle_position(e, s, &value.integer, at) ? value : value_error();
}

static bool select_positions(Elaborator *e, Selection *s, Value value, Span at) {
  value = settle_positions(e, s, value, at);
  Node *positions = value_is_error(value) ? NULL : convert_any_tensor(e, value, at);
  if (!positions) return false;
  if (!dtype_is_int(positions->type.dtype)) {
    Diagnostic *d = report_error(e, at, "an index must be an integer, found %s",
                                 type_text(e->arena, positions->type));
    if (positions->type.dtype == DTYPE_BOOL)
      diag_help(d, "the size of a selection by truth values is not known at compile time; "
                   "where(...) keeps the shape");
    return false;
  }
  if (s->positions_count == 0) s->positions_axis = s->result.rank;
  if (s->result.rank != s->positions_axis + s->positions_count) {
    Diagnostic *d = report_error(e, at, "tensors of positions must stand side by side in an index");
    diag_note(d, s->positions_at[0], "the first");
    return diag_help(d, "transpose(...) or move_axis(...) brings their axes together");
  }
  s->positions_at[s->positions_count] = at;
  s->positions[s->positions_count++] = positions;
  return select_all(e, s, at);
}

/* What a slice a:b:s takes of an axis or a list: elements start, start + step, ... before stop. */
typedef struct SliceRange {
  int64_t start, stop, step, count;
} SliceRange;

/* A bound of a slice, clamped as NumPy clamps.  False after a diagnostic. */
static bool slice_bound(Elaborator *e, const AstExpr *expr, int64_t extent, int64_t least,
                        int64_t most, int64_t *bound) {
  if (!expr) return true;
  if (!convert_int(e, evaluate_expr(e, expr), expr->span, "a bound of a slice", bound))
    return false;
  if (*bound < 0) *bound += extent;
  *bound = *bound < least ? least : *bound > most ? most : *bound;
  return true;
}

static bool slice_range(Elaborator *e, const AstIndex *index, int64_t extent, SliceRange *r) {
  int64_t step = 1;
  if (index->step && !convert_int(e, evaluate_expr(e, index->step), index->step->span,
                                  "the step of a slice", &step))
    return false;
  if (step == 0 || step > MAX_ELEMENTS || step < -MAX_ELEMENTS)
    return report_failure(e, index->span, "the step of a slice cannot be %lld", (long long)step);
  int64_t least = step > 0 ? 0 : -1, most = step > 0 ? extent : extent - 1;
  *r = (SliceRange){step > 0 ? least : most, step > 0 ? most : least, step, 0};
  if (!slice_bound(e, index->from, extent, least, most, &r->start) ||
      !slice_bound(e, index->to, extent, least, most, &r->stop))
    return false;
  if (step > 0 && r->stop > r->start) r->count = (r->stop - r->start + step - 1) / step;
  if (step < 0 && r->start > r->stop) r->count = (r->start - r->stop - step - 1) / -step;
  return true;
}

static bool select_slice(Elaborator *e, Selection *s, const AstIndex *index) {
  SliceRange r;
  if (!slice_range(e, index, s->x->type.shape.dim[s->axis], &r)) return false;
  if (r.count == 0) r = (SliceRange){0, 0, 1, 0};
  select_range(s, r.start, r.stop, r.step);
  return select_extent(e, s, index->span, r.count);
}

static bool select_at(Elaborator *e, Selection *s, const AstIndex *index) {
  Span at = index->at->span;
  Value value = convert_plain(e, evaluate_expr(e, index->at), at);
  if (value.kind == VALUE_NONE) return select_extent(e, s, index->span, 1);
  if (value.kind == VALUE_INT) return select_position(e, s, value.integer, at);
  if (value_is_tensor(value) || value_is_sequence(value)) return select_positions(e, s, value, at);
  return report_wrong_kind(e, at, "an index", "an integer or a tensor of integers", value);
}

/* How many axes of x the index at hand uses; names that are `none` use none. */
static int count_axes(const AstIndices *indices) {
  int count = 0;
  for (int i = 0; i < indices->count; i++)
    count += indices->items[i].kind == AST_AT || indices->items[i].kind == AST_SLICE;
  return count;
}

/* ---- tensors of positions ----------------------------------------------------------------- */

/* Positions as numbers from 0 to extent - 1: rows of a table of these, so that those which come
 * with the data are held against the extent as any index is. `of`: the axis that is taken from. */
static Node *bounded_positions(Elaborator *e, Node *positions, DType dtype, int of,
                               int64_t extent) {
  const Node *range = positions;
  while (range->op == OP_RESHAPE) range = range->operands[0];
  if (range->op == OP_IOTA && range->type.shape.rank == 1 && range->type.shape.dim[0] <= extent)
    return emit_cast(e, positions, dtype);
  Type type = {.dtype = dtype, .shape = {.rank = 1, .dim = {extent}}};
  Node *numbers = emit_iota(e, type, 0);
  positions = emit_check_index(e, positions, "x[i]", of, extent);
  return emit_binary(e, OP_GATHER, numbers, positions);
}

static bool broadcast_positions(Elaborator *e, const Selection *s, Shape *shape) {
  *shape = s->positions[0]->type.shape;
  for (int k = 1; k < s->positions_count; k++) {
    Shape next = s->positions[k]->type.shape;
    if (shape_broadcast(*shape, next, shape)) continue;
    return diag_help(report_error(e, s->positions_at[k],
                                  "positions of shapes %s and %s, which do not broadcast",
                                  shape_text(e->arena, *shape), shape_text(e->arena, next)),
                     "x[i, j] takes x[i[k], j[k]] for each k; for all rows with all columns write "
                     "x[i[:, none], j]");
  }
  return true;
}

/* Joins the axes that positions stand for, and the positions: [a, b] at (i, j) is [a b] at
 * i b + j.  *x: the tensor.  False after a diagnostic. */
static bool join_positions(Elaborator *e, Selection *s, Node **x) {
  Shape shape, joined = {.rank = 0}, old = (*x)->type.shape;
  if (!broadcast_positions(e, s, &shape)) return false;
  int first = s->positions_axis, end = first + s->positions_count;
  int64_t extent = extent_product(old.dim + first, end - first);
  for (int i = 0; i < old.rank; i++)
    if (i <= first || i >= end) joined.dim[joined.rank++] = i == first ? extent : old.dim[i];
  DType dtype = extent > INT32_MAX ? DTYPE_I64 : DTYPE_I32;
  Node *sum = NULL;
  for (int k = 0; k < s->positions_count; k++) {
    int64_t row = old.dim[first + k];
    Node *next = bounded_positions(e, s->positions[k], dtype, first + k, row);
    if (!next || !(next = emit_broadcast(e, next, shape))) return false;
    Node *factor = emit_constant(e, (double)row, type_make(dtype, shape));
    if (sum) sum = emit_binary(e, OP_MUL, sum, factor);
    sum = sum ? emit_binary(e, OP_ADD, sum, next) : next;
    if (!sum) return false;
  }
  s->positions[0] = sum;
  *x = emit_reshape(e, *x, joined);
  return *x;
}

/* x[arange(n), i] takes element i[k] of row k, for all rows. */
static bool picks_of_rows(const Selection *s, const Node *x) {
  const Node *rows = s->positions[0], *picked = s->positions[1];
  return s->positions_count == 2 && rows->op == OP_IOTA && rows->type.shape.rank == 1 &&
         rows->type.shape.dim[0] == x->type.shape.dim[s->positions_axis] &&
         shape_equal(rows->type.shape, picked->type.shape);
}

/* A pick, unlike a gather of joined axes, keeps the rows apart (ops/flow.h). */
static Node *select_pick(Elaborator *e, const Selection *s, Node *x) {
  int axis = s->positions_axis;
  Shape rows = s->positions[1]->type.shape, result = x->type.shape;
  for (int i = axis + 1; i + 1 < result.rank; i++) {
    result.dim[i] = result.dim[i + 1];
    rows.dim[rows.rank++] = 1;
  }
  result.dim[--result.rank] = 0;
  Node *index = emit_check_index(e, s->positions[1], "x[i]", axis + 1, x->type.shape.dim[axis + 1]);
  index = emit_broadcast(e, emit_reshape(e, index, rows), result);
  Attribute picked = attr_make_int(ATTR_AXIS, axis + 1);
  return emit_node(e, OP_PICK, 2, (Node *[]){x, index}, 1, &picked);
}

static Node *select_gather(Elaborator *e, Selection *s, Node *x) {
  if (picks_of_rows(s, x)) return select_pick(e, s, x);
  if (s->positions_count > 1 && !join_positions(e, s, &x)) return NULL;
  int rank = x->type.shape.rank, axis = s->positions_axis;
  if (s->positions_count == 1)
    s->positions[0] = emit_check_index(e, s->positions[0], "x[i]", axis, x->type.shape.dim[axis]);
  if (!s->positions[0]) return NULL;
  x = emit_move_axis(e, x, axis, 0);
  Node *index = s->positions[0];
  int index_rank = index->type.shape.rank;
  if (x && index_rank + rank - 1 > MAX_RANK)
    return report_failure(e, e->at, "the result has more than %d axes", MAX_RANK);
  Node *result = emit_binary(e, OP_GATHER, x, index);
  int back[MAX_RANK], at = 0; /* [index.., before.., after..] -> [before.., index.., after..] */
  for (int i = 0; i < axis; i++) back[at++] = index_rank + i;
  for (int i = 0; i < index_rank; i++) back[at++] = i;
  for (int i = axis + 1; i < rank; i++) back[at++] = index_rank + i - 1;
  return emit_transpose(e, result, back);
}

static Value select_tensor(Elaborator *e, const AstExpr *expr, Node *x) {
  Selection s = {.x = x};
  const AstIndices *indices = &expr->index.indices;
  int rank = x->type.shape.rank, used = count_axes(indices);
  if (used > rank) {
    Diagnostic *d = report_error(e, expr->index.brackets, "%d indices for a tensor with %d ax%cs",
                                 used, rank, rank == 1 ? 'i' : 'e');
    report_note_tensor(e, d, "the tensor", x);
    return value_error();
  }
  bool fine = true;
  for (int i = 0; i < indices->count && fine; i++) {
    const AstIndex *index = &indices->items[i];
    switch (index->kind) {
    case AST_AT: fine = select_at(e, &s, index); break;
    case AST_SLICE: fine = select_slice(e, &s, index); break;
    case AST_NEW_AXIS: fine = select_extent(e, &s, index->span, 1); break;
    case AST_ELLIPSIS:
      for (int k = 0; k < rank - used && fine; k++) fine = select_all(e, &s, index->span);
    }
  }
  while (fine && s.axis < rank) fine = select_all(e, &s, expr->span);
  if (!fine) return value_error();
  e->at = expr->span;
  Node *result = emit_reshape(e, emit_slice(e, x, s.start, s.stop, s.step), s.result);
  if (result && s.positions_count > 0) result = select_gather(e, &s, result);
  return value_tensor(e, result);
}

static Value index_sequence(Elaborator *e, const AstExpr *expr, Value sequence) {
  const AstIndices *indices = &expr->index.indices;
  const AstIndex *index = &indices->items[0];
  int64_t length = value_sequence_length(sequence);
  if (indices->count != 1 || index->kind == AST_ELLIPSIS || index->kind == AST_NEW_AXIS)
    return report_error_value(e, expr->index.brackets, "a list has one index");
  if (index->kind == AST_SLICE) {
    SliceRange r;
    if (!slice_range(e, index, length, &r) || !emit_allow_elements(e, r.count))
      return value_error();
    Value *items = ARENA_ARRAY(e->arena, Value, r.count);
    for (int64_t i = 0; i < r.count; i++)
      items[i] = value_sequence_item(sequence, r.start + i * r.step);
    return value_list(e->arena, (int)r.count, items);
  }
  int64_t at;
  if (!convert_int(e, evaluate_expr(e, index->at), index->at->span, "an index of a list", &at))
    return value_error();
  if (at >= -length && at < length) return value_sequence_item(sequence, at < 0 ? at + length : at);
  return report_error_value(e, index->at->span, "index %lld is outside a list of %lld",
                            (long long)at, (long long)length);
}

Value evaluate_index(Elaborator *e, const AstExpr *expr) {
  Value object = convert_plain(e, evaluate_expr(e, expr->index.object), expr->index.object->span);
  if (value_is_error(object)) return object;
  if (value_is_sequence(object)) return index_sequence(e, expr, object);
  if (!value_is_tensor(object))
    return report_kind(e, expr->index.object->span, "what is indexed", "a tensor or a list",
                       object);
  Node *node = convert_any_tensor(e, object, expr->index.object->span);
  return node ? select_tensor(e, expr, node) : value_error();
}
