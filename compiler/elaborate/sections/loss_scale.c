/* The scale of the loss: small gradients do not vanish in f16 between the loss and the parameters.
 *
 * A number is fixed. "dynamic" is two states (Micikevicius et al. 2018, "Mixed Precision Training",
 * section 3.2): a step whose gradients are not all finite changes neither parameters nor optimizers and halves
 * the scale; after so many good steps without such a one it doubles. */
#include <math.h>
#include <string.h>
#include "elaborate/core/emit.h"
#include "elaborate/core/report.h"
#include "elaborate/core/slot.h"
#include "elaborate/eval/convert.h"
#include "elaborate/sections/loss_scale.h"
#include "elaborate/variables/variable.h"
#include "support/names.h"

static const double first_scale = 65536, greatest_scale = 0x1p24;
enum { GOOD_STEPS = 2000 }; /* after which the scale doubles */

static bool is_dynamic(const Value value) {
  return value.kind == VALUE_STRING && strcmp(value.string, "dynamic") == 0;
}

/* By a power of two nothing is rounded. */
void loss_scale_configure(Elaborator *e, const KeyValue *key) {
  enum { OF_F16 = 1024 };
  double scale;
  int exponent;
  e->loss_scale = e->module->run.precision == DTYPE_F16 ? OF_F16 : 1;
  e->has_dynamic_scale = false;
  if (!key->expr || value_is_error(key->value)) return;
  if (is_dynamic(key->value)) {
    e->has_dynamic_scale = true;
    return;
  }
  if (key->value.kind == VALUE_STRING) {
    report_error(e, key->expr->span, "loss_scale is a power of two or \"dynamic\"");
    return;
  }
  if (!convert_number(e, key->value, key->expr->span, "loss_scale", &scale)) return;
  if (scale >= 0x1p-24 && scale <= 0x1p24 && frexp(scale, &exponent) == 0.5) {
    e->loss_scale = scale;
    return;
  }
  Diagnostic *d =
      report_error(e, key->expr->span, "loss_scale must be a power of two from 2 ^ -24 to 2 ^ 24");
  diag_help(d, "loss_scale = 1024: the loss is multiplied by it, its gradients are divided by it; "
               "loss_scale = \"dynamic\" finds one itself");
}

/* ---- states ---- */

static Slot *state_slot(Elaborator *e, const char *name) {
  const char *path = name_intern(name);
  Slot *slot = slot_find(e->trace, path);
  Type type = {.dtype = DTYPE_F32};
  return slot ? slot : variable_create(e, VARIABLE_OPTIMIZER, path, type, e->at);
}

static Slot *scale_slot(Elaborator *e) { return state_slot(e, "loss_scale:value"); }

static void begin_state(Elaborator *e, const Slot *slot, double first) {
  variable_initialize(e, slot->path, slot->type, NULL, value_float(first), slot->span);
}

/* ---- gradients ---- */

static Node *times_scalar(Elaborator *e, Node *node, Node *factor) {
  if (!node || !factor) return NULL;
  Node *wide = emit_broadcast(e, emit_cast(e, factor, node->type.dtype), node->type.shape);
  return wide ? emit_binary(e, OP_MUL, node, wide) : NULL;
}

static Node *times_number(Elaborator *e, Node *node, double factor) {
  if (!node || factor == 1) return node;
  Node *constant = emit_constant(e, factor, node->type);
  return constant ? emit_binary(e, OP_MUL, node, constant) : NULL;
}

bool loss_scale_is_one(const Elaborator *e) { return !e->has_dynamic_scale && e->loss_scale == 1; }

Node *loss_scale_loss(Elaborator *e, Node *loss) {
  if (!e->has_dynamic_scale) return times_number(e, loss, e->loss_scale);
  Slot *scale = scale_slot(e);
  return scale ? times_scalar(e, loss, scale->leaf) : NULL;
}

Node *loss_scale_gradient(Elaborator *e, Node *gradient) {
  if (!e->has_dynamic_scale) return times_number(e, gradient, 1 / e->loss_scale);
  Slot *scale = scale_slot(e);
  if (!gradient || !scale) return NULL;
  Node *one = emit_constant(e, 1, scale->type);
  return times_scalar(e, gradient, emit_binary(e, OP_DIV, one, scale->leaf));
}

/* ---- steps that are left out ---- */

/* The greatest size of an element, NaN if one is; in f64 where a gradient is. */
static Node *greatest_size(Elaborator *e, Node *gradient) {
  int64_t axes[MAX_RANK];
  for (int i = 0; i < gradient->type.shape.rank; i++) axes[i] = i;
  Node *size = emit_unary(e, OP_ABS, gradient);
  if (size && gradient->type.shape.rank > 0)
    size = emit_reduce(e, OP_REDUCE_MAX, size, gradient->type.shape.rank, axes);
  return size ? emit_cast(e, size, DTYPE_F64) : NULL;
}

static Node *choose(Elaborator *e, Node *condition, Node *yes, Node *no) {
  Node *wide = condition ? emit_broadcast(e, condition, no->type.shape) : NULL;
  Node *operands[] = {wide, yes, no};
  return wide && yes ? emit_node(e, OP_WHERE, 3, operands, 0, NULL) : NULL;
}

/* Halves or doubles it, after a good step or after enough of them. */
static void move_scale(Elaborator *e, Node *is_finite) {
  Slot *scale = scale_slot(e);
  Slot *steps = state_slot(e, "loss_scale:good_steps");
  if (!scale || !steps || !is_finite) return;
  begin_state(e, scale, first_scale);
  begin_state(e, steps, 0);
  Node *one = emit_constant(e, 1, steps->type), *none = emit_constant(e, 0, steps->type);
  Node *next = emit_binary(e, OP_ADD, steps->leaf, one);
  Node *is_enough = emit_binary(e, OP_GE, next, emit_constant(e, GOOD_STEPS, steps->type));
  Node *twice = emit_binary(e, OP_MIN, times_number(e, scale->leaf, 2),
                            emit_constant(e, greatest_scale, scale->type));
  Node *half = emit_binary(e, OP_MAX, times_number(e, scale->leaf, 0.5),
                           emit_constant(e, 1 / greatest_scale, scale->type));
  slot_store(scale, choose(e, is_finite, choose(e, is_enough, twice, scale->leaf), half));
  slot_store(steps, choose(e, is_finite, choose(e, is_enough, none, next), none));
}

Node *loss_scale_judge(Elaborator *e, int count, Node *const *gradients) {
  if (!e->has_dynamic_scale) return NULL;
  Node *greatest = NULL;
  e->frame->label = "loss_scale";
  for (int i = 0; i < count; i++) {
    if (!gradients[i] || shape_elements(gradients[i]->type.shape) == 0) continue;
    Node *size = greatest_size(e, gradients[i]);
    greatest = greatest ? emit_binary(e, OP_MAX, greatest, size) : size;
    if (!greatest) return NULL;
  }
  if (!greatest) return NULL;
  Node *infinite = emit_constant(e, INFINITY, greatest->type);
  Node *is_finite = emit_binary(e, OP_LT, greatest, infinite);
  move_scale(e, is_finite);
  return is_finite;
}

Node *loss_scale_or_zero(Elaborator *e, Node *number, Node *is_finite) {
  return choose(e, is_finite, number, emit_constant(e, 0, number->type));
}

void loss_scale_guard(Elaborator *e, Slot *slot, Node *is_finite) {
  if (!is_finite || !slot->stored || !slot->current) return;
  e->frame->label = slot->path;
  slot_store(slot, choose(e, is_finite, slot->current, slot->leaf));
}
