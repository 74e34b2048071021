/* Clipping: `clip = c` limits the norm of all gradients of an objective together (Pascanu et al. 2013),
 * clip_norm(c) the norm of each, clip_value(c) each element.
 *
 * Parameters whose clip is the same expression share one global norm: a group may have its own. */
#include "elaborate/core/emit.h"
#include "elaborate/core/report.h"
#include "elaborate/eval/convert.h"
#include "elaborate/eval/evaluate.h"
#include "elaborate/eval/operate.h"
#include "elaborate/sections/update.h"
#include "support/names.h"

typedef enum ClipKind { CLIP_GLOBAL, CLIP_VALUE, CLIP_NORM } ClipKind;

/* clip = 1.0 | clip_value(0.5) | clip_norm(1.0) */
static bool read_clip(Elaborator *e, const AstExpr *expr, ClipKind *kind, Value *limit) {
  static const char *const names[] = {[CLIP_VALUE] = "clip_value", [CLIP_NORM] = "clip_norm"};
  *kind = CLIP_GLOBAL;
  if (expr->kind == AST_CALL && expr->call.callee->kind == AST_NAME &&
      expr->call.arguments.count == 1)
    for (int k = CLIP_VALUE; k <= CLIP_NORM; k++)
      if (expr->call.callee->name == name_intern(names[k])) *kind = (ClipKind)k;
  const AstExpr *number = *kind == CLIP_GLOBAL ? expr : expr->call.arguments.items[0].value;
  *limit = convert_plain(e, evaluate_expr(e, number), number->span);
  if (value_is_tensor(*limit) && limit->tensor.is_host) return true;
  double known;
  if (!convert_number(e, *limit, number->span, "clip", &known)) return false;
  if (known > 0) return true;
  return report_failure(e, number->span, "clip must be greater than 0");
}

/* g * min(1, limit / (norm + 1e-6)) */
static Node *clip_factor(Elaborator *e, Node *squares, Value limit) {
  Value norm = value_tensor(e, emit_unary(e, OP_SQRT, squares));
  Value shifted = operate_binary(e, AST_ADD, norm, value_float(1e-6), e->at, e->at);
  Value ratio = operate_binary(e, AST_DIV, limit, shifted, e->at, e->at);
  if (!value_is_tensor(ratio)) return NULL;
  Node *one = emit_constant(e, 1, ratio.tensor.node->type);
  return emit_binary(e, OP_MIN, one, ratio.tensor.node);
}

Node *update_sum_squares(Elaborator *e, Node *g) {
  int64_t axes[MAX_RANK];
  for (int i = 0; i < g->type.shape.rank; i++) axes[i] = i;
  Node *square = emit_binary(e, OP_MUL, g, g);
  return emit_reduce(e, OP_REDUCE_SUM, square, g->type.shape.rank, axes);
}

Node *update_add_squares(Elaborator *e, Node *total, Node *squares) {
  if (!total || !squares) return NULL;
  bool is_double = total->type.dtype == DTYPE_F64 || squares->type.dtype == DTYPE_F64;
  DType dtype = is_double ? DTYPE_F64 : DTYPE_F32;
  return emit_binary(e, OP_ADD, emit_cast(e, total, dtype), emit_cast(e, squares, dtype));
}

static Node *scale_gradient(Elaborator *e, Node *g, Node *factor) {
  Node *wide = emit_broadcast(e, emit_cast(e, factor, g->type.dtype), g->type.shape);
  return emit_binary(e, OP_MUL, g, wide);
}

static Node *clip_values(Elaborator *e, Node *g, Value limit) {
  Value negative = operate_unary(e, AST_NEG, limit, e->at);
  Node *low = convert_to_type(e, negative, g->type, e->at, "clip");
  Node *high = convert_to_type(e, limit, g->type, e->at, "clip");
  if (!low || !high) return NULL;
  return emit_binary(e, OP_MIN, emit_binary(e, OP_MAX, g, low), high);
}

static bool shares_clip(const UpdateTarget *target, int objective, const AstExpr *clip) {
  return target->objective == objective && target->gradient && target->keys[KEY_CLIP]->expr == clip;
}

static void clip_globally(Update *update, int objective, const AstExpr *clip, Value limit) {
  Elaborator *e = update->e;
  Node *total = NULL;
  e->frame->label = "clip";
  for (int i = 0; i < update->targets.count; i++) {
    UpdateTarget *target = &update->targets.items[i];
    if (!shares_clip(target, objective, clip)) continue;
    Node *squares = update_sum_squares(e, target->gradient);
    total = total ? update_add_squares(e, total, squares) : squares;
    if (!total) return;
  }
  Node *factor = clip_factor(e, total, limit);
  for (int i = 0; i < update->targets.count && factor; i++) {
    UpdateTarget *target = &update->targets.items[i];
    if (!shares_clip(target, objective, clip)) continue;
    e->frame->label = target->slot->path;
    target->gradient = scale_gradient(e, target->gradient, factor);
  }
}

static void clip_one(Elaborator *e, UpdateTarget *target, ClipKind kind, Value limit) {
  e->frame->label = target->slot->path;
  if (kind == CLIP_VALUE) {
    target->gradient = clip_values(e, target->gradient, limit);
    return;
  }
  Node *factor = clip_factor(e, update_sum_squares(e, target->gradient), limit);
  target->gradient = factor ? scale_gradient(e, target->gradient, factor) : NULL;
}

static bool clipped_before(const Update *update, int objective, const AstExpr *clip, int end) {
  for (int i = 0; i < end; i++)
    if (shares_clip(&update->targets.items[i], objective, clip)) return true;
  return false;
}

void update_clip(Update *update, int objective) {
  Elaborator *e = update->e;
  for (int i = 0; i < update->targets.count; i++) {
    UpdateTarget *target = &update->targets.items[i];
    const AstExpr *clip = target->keys[KEY_CLIP]->expr;
    if (target->objective != objective || !clip || !target->gradient) continue;
    ClipKind kind;
    Value limit;
    e->at = clip->span;
    bool first = !clipped_before(update, objective, clip, i);
    if (!read_clip(e, clip, &kind, &limit)) continue;
    if (kind != CLIP_GLOBAL) clip_one(e, target, kind, limit);
    else if (first) clip_globally(update, objective, clip, limit);
  }
}
