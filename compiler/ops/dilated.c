/* Dilated convolutions by phases: "a trous" (Holschneider et al., "A real-time algorithm for signal analysis with the help of
 * the wavelet transform", 1989; Chen et al., "DeepLab", TPAMI 40 (2018), section 3.1).
 *
 * With a stride of 1, place o of the result sees the places o + d t - low: all of them have the same remainder by d, which is
 * o's where d divides low. So each of the d x d remainders, or phases, is a picture of its own, with a convolution without
 * dilation and with a padding of low / d. Pictures are then d times as small and d x d times as many; zeros make them equally
 * large, and what they give beyond the result is left out. */
#include "ops/dilated.h"

#include "ops/lower.h"
#include "ops/op.h"
#include "ops/window.h"
#include "support/integers.h"

enum { SPATIAL = 2, FIRST = 2 /* axis of places, after examples and channels */ };

typedef struct Convolution {
  const Node *node;
  ConvShapes of;
  const int64_t *dilation;
  int64_t low[SPATIAL], high[SPATIAL]; /* zeros around a phase */
} Convolution;

/* Fills in what is around the phases; false: it has none that are convolutions of their own. */
static bool find_phases(Convolution *conv) {
  const Node *node = conv->node;
  const Attribute *dilation = node_ints(node, ATTR_DILATION), *low = node_ints(node, ATTR_LOW);
  if (dilation->count != SPATIAL || node_attribute(node, ATTR_PIECES)) return false;
  bool is_dilated = false;
  conv->dilation = dilation->ints;
  for (int i = 0; i < SPATIAL; i++) {
    int64_t d = dilation->ints[i], seen = d * (conv->of.w.dim[FIRST + i] - 1);
    int64_t x = align_up(conv->of.x.dim[FIRST + i], d), y = align_up(conv->of.y.dim[FIRST + i], d);
    int64_t high = y + seen - x - low->ints[i];
    if (node_ints(node, ATTR_STRIDE)->ints[i] != 1 || low->ints[i] < 0 || low->ints[i] % d ||
        high < 0)
      return false;
    conv->low[i] = low->ints[i] / d;
    conv->high[i] = high / d;
    is_dilated = is_dilated || d > 1;
  }
  return is_dilated;
}

/* The same of one phase: of d x d times as many pictures. */
static ConvSlots slots_of_phases(const Convolution *conv) {
  ConvSlots slots = conv_slots(conv->node, conv->of.x, conv->of.w, conv->of.y);
  for (int i = 0; i < SPATIAL; i++) {
    int64_t d = slots.dilation[i];
    slots.n *= d;
    slots.in[i] = divide_up(slots.in[i], d);
    slots.out[i] = divide_up(slots.out[i], d);
    slots.low[i] = conv->low[i];
    slots.high[i] = conv->high[i];
    slots.dilation[i] = 1;
  }
  return slots;
}

/* [n, c, h, w] -> [n d d, c, h / d, w / d], rounded up */
static Node *split(const Maker *maker, Node *pictures, const int64_t *d) {
  Shape s = pictures->type.shape;
  int64_t none[4] = {0}, more[4] = {0}, one[4] = {1, 1, 1, 1}, extent[SPATIAL];
  for (int i = 0; i < SPATIAL; i++) {
    extent[i] = divide_up(s.dim[FIRST + i], d[i]);
    more[FIRST + i] = extent[i] * d[i] - s.dim[FIRST + i];
  }
  if (more[FIRST] + more[FIRST + 1] > 0) pictures = make_pad(maker, pictures, none, more, one, 0);
  Shape apart = {.rank = 6, .dim = {s.dim[0], s.dim[1], extent[0], d[0], extent[1], d[1]}};
  Node *turned = make_transpose(maker, make_reshape(maker, pictures, apart),
                                (const int64_t[]){0, 3, 5, 1, 2, 4});
  Shape phases = {.rank = 4, .dim = {s.dim[0] * d[0] * d[1], s.dim[1], extent[0], extent[1]}};
  return make_reshape(maker, turned, phases);
}

/* The inverse, for pictures of a shape. */
static Node *join(const Maker *maker, Node *phases, Shape s, const int64_t *d) {
  Shape own = phases->type.shape;
  Shape apart = {.rank = 6, .dim = {s.dim[0], d[0], d[1], s.dim[1], own.dim[2], own.dim[3]}};
  Node *joined = make_transpose(maker, make_reshape(maker, phases, apart),
                                (const int64_t[]){0, 3, 4, 1, 5, 2});
  Shape whole = {.rank = 4, .dim = {s.dim[0], s.dim[1], own.dim[2] * d[0], own.dim[3] * d[1]}};
  joined = make_reshape(maker, joined, whole);
  for (int axis = FIRST; axis < FIRST + SPATIAL; axis++)
    if (whole.dim[axis] > s.dim[axis]) joined = make_range(maker, joined, axis, 0, s.dim[axis]);
  return joined;
}

/* The node of the phases, whose operands are these. */
static Node *make_without_dilation(const Maker *maker, const Convolution *conv,
                                   Node *const *operands) {
  const Node *node = conv->node;
  const int64_t *d = conv->dilation, ones[SPATIAL] = {1, 1};
  Shape x = conv->of.x;
  Attribute attributes[ATTR_COUNT];
  x.dim[0] *= d[0] * d[1];
  for (int i = 0; i < SPATIAL; i++) x.dim[FIRST + i] = divide_up(x.dim[FIRST + i], d[i]);
  for (int i = 0; i < node->attribute_count; i++) {
    AttributeKey key = node->attributes[i].key;
    attributes[i] = node->attributes[i];
    if (key == ATTR_LOW) attributes[i] = attr_make_ints(key, SPATIAL, conv->low);
    if (key == ATTR_HIGH) attributes[i] = attr_make_ints(key, SPATIAL, conv->high);
    if (key == ATTR_DILATION) attributes[i] = attr_make_ints(key, SPATIAL, ones);
    if (key == ATTR_SHAPE && node->op == OP_CONV_INPUT)
      attributes[i] = attr_make_ints(key, x.rank, x.dim);
  }
  return make_node(maker, node->op, 2, operands, node->attribute_count, attributes);
}

/* Whether planes grow by more than a part of theirs, so that zeros take what the filtering gains. A gradient in weights copies
 * both sides: with few channels it gains only where planes hardly grow. */
static bool grows_in_vain(const Convolution *conv) {
  enum { FEW_WEIGHTS = 128 * 128, FEW_PART = 16, PART = 2 };
  bool is_of_few =
      conv->node->op == OP_CONV_WEIGHT && conv->of.w.dim[0] * conv->of.w.dim[1] < FEW_WEIGHTS;
  double plane = 1, whole = 1;
  for (int i = 0; i < SPATIAL; i++) {
    int64_t x = conv->of.x.dim[FIRST + i], y = conv->of.y.dim[FIRST + i], d = conv->dilation[i];
    plane *= (double)(x + y);
    whole *= (double)(align_up(x, d) + align_up(y, d));
  }
  return (is_of_few ? FEW_PART : PART) * (whole - plane) > plane;
}

Node *make_of_phases(const Maker *maker, const Target *target, const Node *node,
                     Node *const *operands) {
  Convolution conv = {.node = node};
  if (target->conv_gains_by_winograd == NULL || !conv_shapes(node, &conv.of) ||
      !find_phases(&conv) || grows_in_vain(&conv))
    return NULL;
  ConvSlots slots = slots_of_phases(&conv);
  bool is_weight = node->op == OP_CONV_WEIGHT;
  if (!target_gains_by_winograd(target, &slots, operands[0]->type.dtype, is_weight)) return NULL;
  Node *own[] = {split(maker, operands[0], conv.dilation),
                 is_weight ? split(maker, operands[1], conv.dilation) : operands[1]};
  Node *made = make_without_dilation(maker, &conv, own);
  return is_weight ? made : join(maker, made, node->type.shape, conv.dilation);
}
