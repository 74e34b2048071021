/* Convolution and pooling over the trailing spatial axes of [n, c, spatial...]; the prelude makes
 * layers of them. */
#include <string.h>
#include "elaborate/builtins/builtins.h"
#include "elaborate/core/emit.h"
#include "elaborate/core/report.h"
#include "elaborate/eval/convert.h"

/* What slides: numbers for each spatial axis. */
typedef struct Slide {
  int rank;
  int64_t kernel[MAX_RANK], stride[MAX_RANK], dilation[MAX_RANK], low[MAX_RANK], high[MAX_RANK];
} Slide;

/* Numbers, one an axis. */
typedef struct Wanted {
  const char *what;
  int rank;
  int64_t least;
} Wanted;

/* One number for all axes or a list with one for each. */
static bool read_each(Elaborator *e, Value value, Span at, Wanted wanted, int64_t *result) {
  const char *what = wanted.what;
  int rank = wanted.rank;
  if (value_is_sequence(value) && value_sequence_length(value) != rank)
    return report_failure(e, at, "%s has %lld numbers for %d spatial ax%cs", what,
                          (long long)value_sequence_length(value), rank, rank == 1 ? 'i' : 'e');
  for (int i = 0; i < rank; i++) {
    Value item = value_is_sequence(value) ? value_sequence_item(value, i) : value;
    if (!convert_int(e, item, at, what, &result[i])) return false;
    if (result[i] >= wanted.least && result[i] <= INT32_MAX) continue;
    return report_failure(e, at, "%s cannot be %lld", what, (long long)result[i]);
  }
  return true;
}

/* "same": so that out = in / stride, rounded up; the odd one goes to the end. */
static void pad_same(Slide *slide, const int64_t *in) {
  for (int i = 0; i < slide->rank; i++) {
    int64_t out = (in[i] + slide->stride[i] - 1) / slide->stride[i];
    int64_t reach = slide->dilation[i] * (slide->kernel[i] - 1) + 1;
    int64_t total = (out - 1) * slide->stride[i] + reach - in[i];
    if (total < 0) total = 0;
    slide->low[i] = total / 2;
    slide->high[i] = total - total / 2;
  }
}

/* A number, a list of numbers or of (low, high), "same" or "valid". */
static bool read_padding(Elaborator *e, Value value, Span at, Slide *slide, const int64_t *in) {
  if (value.kind == VALUE_STRING) {
    if (!strcmp(value.string, "same")) pad_same(slide, in);
    else if (strcmp(value.string, "valid") != 0)
      return report_failure(e, at, "padding is a number, a list, \"same\" or \"valid\", not \"%s\"",
                            value.string);
    return true;
  }
  bool pairs = value_is_sequence(value) && value_sequence_length(value) == slide->rank &&
               slide->rank > 0 && value_is_sequence(value_sequence_item(value, 0));
  if (!pairs) {
    bool fits = read_each(e, value, at, (Wanted){"padding", slide->rank, 0}, slide->low);
    memcpy(slide->high, slide->low, sizeof slide->high);
    return fits;
  }
  for (int i = 0; i < slide->rank; i++) {
    Value pair = value_sequence_item(value, i);
    if (!value_is_sequence(pair) || value_sequence_length(pair) != 2)
      return report_failure(e, at, "padding of an axis is a number or (low, high)");
    const Wanted one = {"padding", 1, 0};
    if (!read_each(e, value_sequence_item(pair, 0), at, one, &slide->low[i]) ||
        !read_each(e, value_sequence_item(pair, 1), at, one, &slide->high[i]))
      return false;
  }
  return true;
}

static Node *float_operand(Elaborator *e, const Bound *bound, int i) {
  Node *x = builtins_tensor(e, bound, i);
  return !x || dtype_is_float(x->type.dtype) ? x : builtins_refuse_type(e, bound, i, x);
}

static bool check_spatial(Elaborator *e, const Bound *bound, const Node *x) {
  if (x->type.shape.rank >= 3) return true;
  return report_note_tensor(e,
                            report_error(e, bound->call,
                                         "'%s' needs [batch, channels, spatial...], found %s",
                                         bound->builtin->name, type_text(e->arena, x->type)),
                            "the operand", x);
}

/* A window larger than the padded input. */
static bool check_window(Elaborator *e, const Bound *bound, const Slide *slide, const Node *x) {
  for (int i = 0; i < slide->rank; i++) {
    int64_t reach = slide->dilation[i] * (slide->kernel[i] - 1) + 1;
    int64_t region = x->type.shape.dim[i + 2] + slide->low[i] + slide->high[i];
    if (reach <= region) continue;
    Diagnostic *d = report_error(e, bound->call,
                                 "a window of %lld does not fit %lld elements of spatial axis %d",
                                 (long long)reach, (long long)region, i);
    report_note_tensor(e, d, "the operand", x);
    return diag_help(d, "padding makes room, a smaller kernel fits");
  }
  return true;
}

static int slide_attributes(const Slide *slide, Attribute *attributes) {
  attributes[0] = attr_make_ints(ATTR_STRIDE, slide->rank, slide->stride);
  attributes[1] = attr_make_ints(ATTR_DILATION, slide->rank, slide->dilation);
  attributes[2] = attr_make_ints(ATTR_LOW, slide->rank, slide->low);
  attributes[3] = attr_make_ints(ATTR_HIGH, slide->rank, slide->high);
  return 4;
}

static void note_both(Elaborator *e, Diagnostic *d, const Node *x, const Node *w) {
  report_note_tensor(e, d, "the operand", x);
  report_note_tensor(e, d, "the weights", w);
}

/* x [n, c, in...], w [k, c / groups, kernel...] */
static bool check_conv(Elaborator *e, const Bound *bound, const Node *x, const Node *w,
                       int64_t groups, bool is_transposed) {
  int64_t channels = is_transposed ? w->type.shape.dim[0] : x->type.shape.dim[1];
  int64_t expected = is_transposed ? w->type.shape.dim[1] : channels / groups;
  bool fits = x->type.dtype == w->type.dtype && x->type.shape.rank == w->type.shape.rank;
  const char *why = "must have one type and as many axes";
  if (fits && (channels % groups != 0 || w->type.shape.dim[0] % groups != 0)) {
    fits = false;
    why = "are not evenly divisible by the number of groups";
  } else if (fits && expected != w->type.shape.dim[1]) {
    fits = false;
    why = "do not agree in their channels";
  }
  if (fits) return true;
  Diagnostic *d =
      report_error(e, bound->call, "'%s': operand %s and weights %s %s", bound->builtin->name,
                   type_text(e->arena, x->type), type_text(e->arena, w->type), why);
  note_both(e, d, x, w);
  return false;
}

static bool read_conv(Elaborator *e, const Bound *bound, const Node *x, const Node *w, Slide *slide,
                      int64_t *groups) {
  *slide = (Slide){.rank = x->type.shape.rank - 2};
  for (int i = 0; i < slide->rank && i + 2 < w->type.shape.rank; i++)
    slide->kernel[i] = w->type.shape.dim[i + 2];
  return read_each(e, bound->values[2], bound->spans[2], (Wanted){"stride", slide->rank, 1},
                   slide->stride) &&
         read_each(e, bound->values[4], bound->spans[4], (Wanted){"dilation", slide->rank, 1},
                   slide->dilation) &&
         read_each(e, bound->values[5], bound->spans[5], (Wanted){"groups", 1, 1}, groups) &&
         read_padding(e, bound->values[3], bound->spans[3], slide, x->type.shape.dim + 2);
}

static Value apply_conv(Elaborator *e, const Bound *bound) {
  Node *x = float_operand(e, bound, 0), *w = float_operand(e, bound, 1);
  Slide slide;
  int64_t groups;
  if (!x || !w || !check_spatial(e, bound, x) || !read_conv(e, bound, x, w, &slide, &groups))
    return value_error();
  if (!check_conv(e, bound, x, w, groups, false) || !check_window(e, bound, &slide, x))
    return value_error();
  Attribute attributes[5];
  int count = slide_attributes(&slide, attributes);
  attributes[count++] = attr_make_int(ATTR_GROUPS, groups);
  return value_tensor(e, emit_node(e, OP_CONV, 2, (Node *[]){x, w}, count, attributes));
}

/* Padding "same" of conv_transpose is that of the conv whose adjoint it is: out = in * stride. Where
 * a window is smaller than the stride, zeros follow the last one. */
static bool pad_same_transposed(Elaborator *e, const Bound *bound, Slide *slide, int64_t *extra) {
  Value padding = bound->values[3];
  if (padding.kind != VALUE_STRING || strcmp(padding.string, "same") != 0) return true;
  for (int i = 0; i < slide->rank; i++) {
    if (extra[i] != 0)
      return report_failure(e, bound->spans[6],
                            "padding \"same\" leaves no choice of output_padding");
    int64_t total = slide->dilation[i] * (slide->kernel[i] - 1) + 1 - slide->stride[i];
    extra[i] = total < 0 ? -total : 0;
    if (total < 0) total = 0;
    slide->low[i] = total / 2;
    slide->high[i] = total - total / 2;
  }
  return true;
}

/* The adjoint of conv: x [n, k, in...], w [k, c / groups, kernel...] -> [n, c, out...] with
 * out = (in - 1) * stride - low - high + dilation * (kernel - 1) + 1 + output_padding. */
static Value apply_conv_transpose(Elaborator *e, const Bound *bound) {
  Node *x = float_operand(e, bound, 0), *w = float_operand(e, bound, 1);
  Slide slide;
  int64_t groups, extra[MAX_RANK];
  if (!x || !w || !check_spatial(e, bound, x) || !read_conv(e, bound, x, w, &slide, &groups) ||
      !read_each(e, bound->values[6], bound->spans[6], (Wanted){"output_padding", slide.rank, 0},
                 extra) ||
      !pad_same_transposed(e, bound, &slide, extra))
    return value_error();
  if (!check_conv(e, bound, x, w, groups, true)) return value_error();
  if (x->type.shape.dim[1] != w->type.shape.dim[0]) {
    Diagnostic *d = report_error(e, bound->call,
                                 "'conv_transpose': the operand has %lld channels, "
                                 "the weights take %lld",
                                 (long long)x->type.shape.dim[1], (long long)w->type.shape.dim[0]);
    note_both(e, d, x, w);
    return value_error();
  }
  Shape shape = x->type.shape;
  shape.dim[1] = w->type.shape.dim[1] * groups;
  for (int i = 0; i < slide.rank; i++) {
    shape.dim[i + 2] = (shape.dim[i + 2] - 1) * slide.stride[i] - slide.low[i] - slide.high[i] +
                       slide.dilation[i] * (slide.kernel[i] - 1) + 1 + extra[i];
    if (shape.dim[i + 2] > 0 && extra[i] < slide.stride[i]) continue;
    return report_error_value(
        e, bound->call,
        extra[i] < slide.stride[i]
            ? "'conv_transpose' leaves %lld elements of spatial axis %d"
            : "output_padding must be less than the stride (%lld elements, spatial axis %d)",
        (long long)shape.dim[i + 2], i);
  }
  if (!emit_check_shape(e, bound->call, shape)) return value_error();
  Attribute attributes[6];
  int count = slide_attributes(&slide, attributes);
  attributes[count++] = attr_make_int(ATTR_GROUPS, groups);
  attributes[count++] = attr_make_ints(ATTR_SHAPE, shape.rank, shape.dim);
  return value_tensor(e, emit_node(e, OP_CONV_INPUT, 2, (Node *[]){x, w}, count, attributes));
}

static Value apply_pool(Elaborator *e, const Bound *bound) {
  Node *x = float_operand(e, bound, 0);
  if (!x || !check_spatial(e, bound, x)) return value_error();
  Slide slide = {.rank = x->type.shape.rank - 2};
  Value stride = bound->values[2].kind == VALUE_NONE ? bound->values[1] : bound->values[2];
  if (!read_each(e, bound->values[1], bound->spans[1], (Wanted){"the kernel", slide.rank, 1},
                 slide.kernel) ||
      !read_each(e, stride, bound->spans[2], (Wanted){"stride", slide.rank, 1}, slide.stride) ||
      !read_each(e, bound->values[4], bound->spans[4], (Wanted){"dilation", slide.rank, 1},
                 slide.dilation) ||
      !read_padding(e, bound->values[3], bound->spans[3], &slide, x->type.shape.dim + 2) ||
      !check_window(e, bound, &slide, x))
    return value_error();
  Attribute attributes[5];
  int count = slide_attributes(&slide, attributes);
  attributes[count++] = attr_make_ints(ATTR_KERNEL, slide.rank, slide.kernel);
  return value_tensor(e, emit_node(e, (Op)bound->builtin->data, 1, &x, count, attributes));
}

const Builtin builtins_window[] = {
    BUILTIN("windows", apply_conv, OP_CONV, "conv",
            "x: tensor, w: tensor, stride: ints = 1, padding: any = 0, dilation: ints = 1, "
            "groups: int = 1",
            "Convolution over any number of spatial axes: x [n, c, in...], w [k, c / groups, "
            "kernel...] -> [n, k, out...]. padding: a number, one an axis, (low, high) pairs, "
            "\"same\" or \"valid\"."
            " Example: y = conv(image, randn([8, 3, 3, 3]), padding = 1)"),
    BUILTIN("windows", apply_conv_transpose, OP_CONV_INPUT, "conv_transpose",
            "x: tensor, w: tensor, stride: ints = 1, padding: any = 0, dilation: ints = 1, "
            "groups: int = 1, output_padding: ints = 0",
            "The adjoint of conv: x [n, k, in...], w [k, c / groups, kernel...] -> [n, c, "
            "out...]. padding: as of conv; with \"same\" each axis of the result is stride times "
            "as long."
            " Example: y = conv_transpose(image, randn([3, 8, 2, 2]), stride = 2)"),
    BUILTIN("windows", apply_pool, OP_MAX_POOL, "max_pool",
            "x: tensor, kernel: ints, stride: axes = none, padding: any = 0, dilation: ints = 1",
            "The greatest element of each window of [n, c, spatial...]; stride is the kernel by "
            "default."
            " Example: y = max_pool(image, 2)"),
    BUILTIN("windows", apply_pool, OP_SUM_POOL, "sum_pool",
            "x: tensor, kernel: ints, stride: axes = none, padding: any = 0, dilation: ints = 1",
            "The sum of each window of [n, c, spatial...]; stride is the kernel by default."
            " Example: y = sum_pool(image, 2)"),
    {0},
};
