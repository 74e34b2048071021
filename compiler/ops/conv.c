/* Convolution (cross-correlation, as the field has it) and its two adjoints.
 *
 *   x [n, c, in...]   w [k, c / groups, kernel...]   y [n, k, out...]   (1 to 6 spatial axes)
 *   y[n, k, o] = sum over c, t of w[k, c, t] * x[n, c + group(k), o * stride - low + t * dilation]
 *   out = (in + low + high - dilation * (kernel - 1) - 1) / stride + 1, rounded down
 *
 * Outside x there are zeros; `low` and `high` may be negative, which crops. Channels fall into
 * `groups` of equal size, and outputs of a group see its inputs only; groups == c is depthwise.
 *
 * With ATTR_PIECES p conv_weight is [p, k, c / groups, kernel...]: the sums over p equal parts of
 * the images. The program makes it so for its task loops; it has no gradient then.
 *
 * The three are one trilinear form in x, w and y, so the gradient of each is the other two:
 *   conv_input(dy, w) = d/dx     conv_weight(x, dy) = d/dw     (`shape` is that of the result) */
#include "ops/elementwise.h"
#include "ops/lower.h"
#include "ops/window.h"
#include "support/panic.h"

static bool common_infer(Inference *in) {
  if (!infer_same(in, false) || !infer_dtype(in, 0, DTYPES_FLOAT)) return false;
  const Attribute *groups = infer_attribute(in, ATTR_GROUPS);
  if (!groups) return false;
  if (groups->integer >= 1) return true;
  return infer_fail(in, "there cannot be %lld groups", (long long)groups->integer);
}

/* The result shape of convolving x with w under the node's attributes. */
static bool conv_shape(Inference *in, Shape x, Shape w, Shape *y) {
  int64_t groups = node_int(in->node, ATTR_GROUPS);
  if (x.rank < 3 || x.rank != w.rank)
    return infer_fail(in,
                      "x %s and w %s must be [n, c, spatial...] and [k, c / groups, spatial...]",
                      shape_text(in->arena, x), shape_text(in->arena, w));
  if (x.dim[1] % groups != 0 || w.dim[0] % groups != 0)
    return infer_fail(in,
                      "%lld input and %lld output channels do not fall into %lld "
                      "groups",
                      (long long)x.dim[1], (long long)w.dim[0], (long long)groups);
  if (w.dim[1] != x.dim[1] / groups)
    return infer_fail(in, "w %s has %lld input channels where x %s gives %lld a group",
                      shape_text(in->arena, w), (long long)w.dim[1], shape_text(in->arena, x),
                      (long long)(x.dim[1] / groups));
  Window window;
  if (!window_infer(in, (Sliding){x.rank - 2, x.dim + 2, w.dim + 2, INT32_MIN}, &window))
    return false;
  *y = (Shape){.rank = x.rank, .dim = {x.dim[0], w.dim[0]}};
  for (int i = 0; i < window.rank; i++) y->dim[2 + i] = window.out[i];
  if (shape_is_representable(*y)) return true;
  return infer_fail(in, "the result has too many elements");
}

static bool conv_infer(Inference *in) {
  if (!common_infer(in)) return false;
  in->type.dtype = in->node->operands[0]->type.dtype;
  return conv_shape(in, in->node->operands[0]->type.shape, in->node->operands[1]->type.shape,
                    &in->type.shape);
}

/* The forward shape of an adjoint's x and w must be that of its dy. */
static bool adjoint_fits(Inference *in, ConvShapes shapes) {
  Shape y;
  if (!conv_shape(in, shapes.x, shapes.w, &y)) return false;
  if (shape_equal(y, shapes.y)) return true;
  return infer_fail(in, "dy has shape %s but x %s and w %s give %s",
                    shape_text(in->arena, shapes.y), shape_text(in->arena, shapes.x),
                    shape_text(in->arena, shapes.w), shape_text(in->arena, y));
}

static bool conv_input_infer(Inference *in) {
  ConvShapes shapes = {.y = in->node->operands[0]->type.shape,
                       .w = in->node->operands[1]->type.shape};
  if (!common_infer(in) || !infer_shape(in, &shapes.x)) return false;
  in->type = type_make(in->node->operands[0]->type.dtype, shapes.x);
  return adjoint_fits(in, shapes);
}

static int64_t weight_pieces(const Node *node) {
  const Attribute *pieces = node_attribute(node, ATTR_PIECES);
  return pieces ? pieces->integer : 0;
}

/* The shape of w in a node of its gradient. */
static Shape weight_shape(const Node *node, Shape shape) {
  if (weight_pieces(node) == 0) return shape;
  Shape w = {.rank = shape.rank - 1};
  for (int i = 0; i < w.rank; i++) w.dim[i] = shape.dim[i + 1];
  return w;
}

static bool pieces_fit(Inference *in, Shape shape) {
  int64_t pieces = weight_pieces(in->node), images = in->node->operands[0]->type.shape.dim[0];
  if (pieces == 0) return true;
  if (pieces > 0 && shape.rank > 1 && shape.dim[0] == pieces && images % pieces == 0) return true;
  return infer_fail(in, "%lld images cannot be summed in %lld pieces to %s", (long long)images,
                    (long long)pieces, shape_text(in->arena, shape));
}

static bool conv_weight_infer(Inference *in) {
  ConvShapes shapes = {.x = in->node->operands[0]->type.shape,
                       .y = in->node->operands[1]->type.shape};
  Shape shape;
  if (!common_infer(in) || !infer_shape(in, &shape) || !pieces_fit(in, shape)) return false;
  shapes.w = weight_shape(in->node, shape);
  in->type = type_make(in->node->operands[0]->type.dtype, shape);
  return infer_wide_sum(in) && adjoint_fits(in, shapes);
}

/* ---- evaluation ---- */

/* One tap of one channel pair in one image; the tap's weight is *w. */
typedef void (*TapRule)(const WindowTap *tap, int64_t step, double *x, double *w, double *y);

static void forward_tap(const WindowTap *tap, int64_t step, double *x, double *w, double *y) {
  double weight = *w;
  for (int r = 0; r < tap->run_count; r++) {
    WindowRun run = tap->runs[r];
    double *to = y + run.out;
    const double *from = x + run.in;
    if (step == 1)
      for (int64_t i = 0; i < run.length; i++) to[i] += weight * from[i];
    else
      for (int64_t i = 0; i < run.length; i++) to[i] += weight * from[i * step];
  }
}

static void input_tap(const WindowTap *tap, int64_t step, double *x, double *w, double *y) {
  double weight = *w;
  for (int r = 0; r < tap->run_count; r++) {
    WindowRun run = tap->runs[r];
    const double *from = y + run.out;
    double *to = x + run.in;
    if (step == 1)
      for (int64_t i = 0; i < run.length; i++) to[i] += weight * from[i];
    else
      for (int64_t i = 0; i < run.length; i++) to[i * step] += weight * from[i];
  }
}

static void weight_tap(const WindowTap *tap, int64_t step, double *x, double *w, double *y) {
  double sum = 0;
  for (int r = 0; r < tap->run_count; r++) {
    WindowRun run = tap->runs[r];
    const double *a = y + run.out, *b = x + run.in;
    for (int64_t i = 0; i < run.length; i++) sum += a[i] * b[i * step];
  }
  *w += sum;
}

/* Applies the rule to every image, pair of channels and tap. */
static void convolve(const Node *node, const ConvShapes *shapes, double *x, double *w, double *y,
                     TapRule rule) {
  Arena *scratch = arena_create();
  Window window = window_read(node, shapes->x.rank - 2, shapes->x.dim + 2, shapes->w.dim + 2);
  WindowTaps taps = window_taps(scratch, &window);
  int64_t channels = shapes->x.dim[1], outputs = shapes->w.dim[0], inner = shapes->w.dim[1];
  int64_t outputs_of_group = outputs / node_int(node, ATTR_GROUPS);
  for (int64_t n = 0; n < shapes->x.dim[0]; n++)
    for (int64_t k = 0; k < outputs; k++)
      for (int64_t c = 0; c < inner; c++) {
        int64_t channel = k / outputs_of_group * inner + c;
        double *plane = x + (n * channels + channel) * taps.in_size;
        double *result = y + (n * outputs + k) * taps.out_size;
        double *weights = w + (k * inner + c) * taps.count;
        for (int64_t t = 0; t < taps.count; t++)
          rule(&taps.taps[t], taps.step, plane, weights + t, result);
      }
  arena_destroy(scratch);
}

static void conv_evaluate(const Node *node, const Tensor *const *operands, Tensor *result) {
  tensor_fill(result, 0);
  ConvShapes shapes = {operands[0]->type.shape, operands[1]->type.shape, result->type.shape};
  convolve(node, &shapes, operands[0]->data, operands[1]->data, result->data, forward_tap);
}

static void conv_input_evaluate(const Node *node, const Tensor *const *operands, Tensor *result) {
  tensor_fill(result, 0);
  ConvShapes shapes = {result->type.shape, operands[1]->type.shape, operands[0]->type.shape};
  convolve(node, &shapes, result->data, operands[1]->data, operands[0]->data, input_tap);
}

static void conv_weight_evaluate(const Node *node, const Tensor *const *operands, Tensor *result) {
  tensor_fill(result, 0);
  ConvShapes shapes = {operands[0]->type.shape, weight_shape(node, result->type.shape),
                       operands[1]->type.shape};
  int64_t pieces = weight_pieces(node), parts = pieces > 0 ? pieces : 1;
  shapes.x.dim[0] /= parts;
  shapes.y.dim[0] /= parts;
  for (int64_t i = 0; i < parts; i++)
    convolve(node, &shapes, operands[0]->data + i * shape_elements(shapes.x),
             result->data + i * shape_elements(shapes.w),
             operands[1]->data + i * shape_elements(shapes.y), weight_tap);
}

/* All taps of all outputs, those in the padding included. */
static Cost conv_cost(const Node *node) {
  const Node *a = node->operands[0], *b = node->operands[1];
  Shape y = node->op == OP_CONV         ? node->type.shape
            : node->op == OP_CONV_INPUT ? a->type.shape
                                        : b->type.shape;
  Shape w = node->op == OP_CONV_WEIGHT ? weight_shape(node, node->type.shape) : b->type.shape;
  double taps = w.dim[0] > 0 ? (double)shape_elements(w) / (double)w.dim[0] : 0;
  return (Cost){.flops = 2 * taps * (double)shape_elements(y), .bytes = node_bytes(node)};
}

/* ---- gradients ---- */

GRADIENT(conv, operand == 0 ? make_like(m, OP_CONV_INPUT, dy, b, y, &a->type.shape)
                            : make_like(m, OP_CONV_WEIGHT, a, dy, y, &b->type.shape))
/* a is dy, b is w; the node has the shape of x. */
GRADIENT(conv_input, operand == 0 ? make_like(m, OP_CONV, dy, b, y, NULL)
                                  : make_like(m, OP_CONV_WEIGHT, dy, a, y, &b->type.shape))
/* a is x, b is dy; the node has the shape of w. */
GRADIENT(conv_weight, operand == 0 ? make_like(m, OP_CONV_INPUT, b, dy, y, &a->type.shape)
                                   : make_like(m, OP_CONV, a, dy, y, NULL))

/* ---- pieces: the examples; the gradient of the weights sums over them ---- */

static int conv_cut(const Node *node, int axis, int operand) {
  if (axis != 0) return AXIS_UNCUT;
  return operand == 0 ? 0 : AXIS_WHOLE;
}

#define conv_input_cut conv_cut

static int conv_weight_cut(const Node *node, int axis, int operand) {
  bool is_summed = axis == node->type.shape.rank && weight_pieces(node) == 0;
  return is_summed ? 0 : AXIS_UNCUT;
}

OP_CLASS(conv, FAMILY_CONVOLUTION, .cost = conv_cost, .prepare = conv_copies_prepare,
         .join = OP_ADD, .mix = MIX_NARROW)
OP_CLASS(conv_input, FAMILY_CONVOLUTION, .cost = conv_cost, .prepare = conv_copies_prepare,
         .join = OP_ADD, .mix = MIX_NARROW)
OP_CLASS(conv_weight, FAMILY_CONVOLUTION, .cost = conv_cost, .prepare = conv_weight_prepare,
         .join = OP_ADD, .mix = MIX_NARROW)
