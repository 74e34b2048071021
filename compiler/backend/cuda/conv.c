/* Convolutions of CUDA in their three directions, as products (product.h) whose one side is read
 * through the windows. The batches of the product are the groups of channels.
 *
 *                result      rows          columns             depth
 *   conv         y           channels k    images, positions   channels c, taps
 *   conv_input   dx          channels c    images, positions   channels k, taps
 *   conv_weight  dw          channels k    channels c, taps    images, positions
 *
 * In pieces of the images conv_weight has such batches for each piece. */
#include "backend/common/c.h"
#include "backend/cuda/tensor.h"
#include "support/integers.h"
#include "support/panic.h"

typedef struct ConvWriter {
  Arena *arena;
  KernelFunction *function;
  const ConvSlots *slots;
  const ProductExtents *extents;
  const char *index_type;
  int64_t in, out, taps; /* elements of a plane; of a window; 1 where there are none */
  int64_t own_c, own_k;  /* channels of a group */
  const char *group;     /* that the batch is of */
  const char *depth;     /* of conv_weight: the place among the positions of all images */
} ConvWriter;

static ConvWriter writer_create(Arena *arena, KernelFunction *function,
                                const ProductExtents *extents) {
  const Kernel *kernel = function->kernel;
  const ConvSlots *slots = &kernel->conv;
  int64_t points = extent_product(kernel->extent, kernel->axis_count);
  ConvWriter writer = {.arena = arena,
                       .function = function,
                       .slots = slots,
                       .extents = extents,
                       .in = greatest(extent_product(slots->in, slots->spatial), 1),
                       .out = greatest(extent_product(slots->out, slots->spatial), 1),
                       .taps = greatest(extent_product(slots->kernel, slots->spatial), 1),
                       .own_c = slots->c / slots->groups,
                       .own_k = slots->k / slots->groups,
                       .group = "batch",
                       .depth = "depth"};
  if (slots->pieces > 0) {
    long long groups = (long long)slots->groups;
    writer.group = arena_printf(arena, "batch %% %lld", groups);
    writer.depth =
        arena_printf(arena, "(batch / %lld * %lld + depth)", groups, (long long)extents->depth);
  }
  int64_t depth = slots->n * greatest(writer.in, writer.out);
  writer.index_type = cuda_index_type(kernel, greatest(points, depth));
  return writer;
}

/* "const int32_t y0 = place / 28 % 28": the axes of a place in extents that are `name` and a
 * number. */
static void declare_place(const ConvWriter *writer, Text *text, const char *name, const char *place,
                          const int64_t *extent) {
  int64_t below = 1;
  for (int i = writer->slots->spatial - 1; i >= 0; i--) {
    text_printf(text, "const %s %s%d = %s", writer->index_type, name, i, place);
    if (below > 1) text_printf(text, " / %lld", (long long)below);
    if (i > 0) text_printf(text, " %% %lld", (long long)extent[i]);
    text_add(text, ";\n");
    below *= extent[i];
  }
}

static const char *loaded(const ConvWriter *writer, int operand, const char *at) {
  return product_loaded(writer->arena, writer->function, writer->extents, operand, at);
}

/* The element of an operand for ProductText.matrices, if its runs of neighbours are whole chunks.
 * */
static const char *matrix(const ConvWriter *writer, int operand, int64_t run, const char *at) {
  int64_t each = TENSOR_CHUNK / dtype_size(writer->function->kernel->operands[operand].dtype);
  if (run % each != 0 || writer->function->alignments[operand] < TENSOR_CHUNK) return NULL;
  return arena_printf(writer->arena, "%s[%s]", writer->function->operands[operand], at);
}

/* Windows of one element: a position of the output meets the same one of the input. */
static bool is_pointwise(const ConvSlots *slots) {
  bool is_one = true;
  for (int i = 0; i < slots->spatial; i++)
    is_one = is_one && slots->kernel[i] == 1 && slots->stride[i] == 1 && slots->low[i] == 0 &&
             slots->high[i] == 0;
  return is_one;
}

/* Of a pointwise convolution, the element of operand 0 at a position `place`, a name, which counts
 * those of all images, and one of `channels` channels. */
static const char *pointwise(const ConvWriter *writer, const char *place, const char *channel,
                             int64_t channels, int64_t own) {
  if (!is_pointwise(writer->slots)) return NULL;
  long long plane = (long long)writer->in;
  return matrix(writer, 0, writer->in,
                arena_printf(writer->arena,
                             "(%s / %lld * %lld + %s * %lld + %s) * %lld + %s %% %lld", place,
                             plane, (long long)channels, writer->group, (long long)own, channel,
                             plane, place, plane));
}

/* The place in a plane of these extents of the axes `name`. */
static const char *flat_place(const ConvWriter *writer, const char *name, const int64_t *extent) {
  const char *text = arena_printf(writer->arena, "%s0", name);
  for (int i = 1; i < writer->slots->spatial; i++)
    text = arena_printf(writer->arena, "(%s) * %lld + %s%d", text, (long long)extent[i], name, i);
  return text;
}

/* From the axes y of an output's position and t of a tap: those, x, of what it meets in the input;
 * then `value`, of x at plane `row`, if that lies inside. */
static void load_through_window(const ConvWriter *writer, Text *text, const char *row) {
  const ConvSlots *slots = writer->slots;
  const char *inside = NULL;
  for (int i = 0; i < slots->spatial; i++) {
    text_printf(text, "const %s x%d = y%d * %lld + t%d * %lld - %lld;\n", writer->index_type, i, i,
                (long long)slots->stride[i], i, (long long)slots->dilation[i],
                (long long)slots->low[i]);
    inside = arena_printf(writer->arena, "%s%snnc_within(x%d, (%s)%lld)", inside ? inside : "",
                          inside ? " && " : "", i, writer->index_type, (long long)slots->in[i]);
  }
  text_printf(text, "if (%s) value = ", inside);
  const char *at = arena_printf(writer->arena, "(%s) * %lld + %s", row, (long long)writer->in,
                                flat_place(writer, "x", slots->in));
  text_printf(text, "%s;\n", loaded(writer, 0, at));
}

/* ---- y = x w ---- */

static const char *plain_text(const ConvWriter *writer, int operand, const char *at) {
  return arena_printf(writer->arena, "value = %s;\n", loaded(writer, operand, at));
}

static ProductText conv_text(const ConvWriter *writer) {
  const ConvSlots *slots = writer->slots;
  Arena *arena = writer->arena;
  Text text = {0};
  text_printf(&text, "const %s image = outer / %lld, channel = depth / %lld;\n", writer->index_type,
              (long long)writer->out, (long long)writer->taps);
  declare_place(writer, &text, "y", arena_printf(arena, "outer %% %lld", (long long)writer->out),
                slots->out);
  declare_place(writer, &text, "t", arena_printf(arena, "depth %% %lld", (long long)writer->taps),
                slots->kernel);
  load_through_window(writer, &text,
                      arena_printf(arena, "image * %lld + batch * %lld + channel",
                                   (long long)slots->c, (long long)writer->own_c));
  long long row = (long long)(writer->own_c * writer->taps);
  const char *at =
      arena_printf(arena, "(batch * %lld + outer) * %lld + depth", (long long)writer->own_k, row);
  return (ProductText){.sides = {plain_text(writer, 1, at), text_take(&text, arena)},
                       .depth_is_inner = {true, false},
                       .matrices = {matrix(writer, 1, row, at),
                                    pointwise(writer, "outer", "depth", slots->c, writer->own_c)}};
}

/* ---- dx = dy w ---- */

static ProductText conv_input_text(const ConvWriter *writer) {
  const ConvSlots *slots = writer->slots;
  Arena *arena = writer->arena;
  long long taps = (long long)writer->taps;
  Text text = {0};
  text_printf(&text, "const %s image = outer / %lld, channel = depth / %lld;\n", writer->index_type,
              (long long)writer->in, taps);
  declare_place(writer, &text, "x", arena_printf(arena, "outer %% %lld", (long long)writer->in),
                slots->in);
  declare_place(writer, &text, "t", arena_printf(arena, "depth %% %lld", taps), slots->kernel);
  const char *meets = NULL;
  for (int i = 0; i < slots->spatial; i++) {
    long long stride = (long long)slots->stride[i];
    text_printf(&text, "const %s y%d = (x%d + %lld - t%d * %lld)%s;\n", writer->index_type, i, i,
                (long long)slots->low[i], i, (long long)slots->dilation[i],
                stride > 1 ? arena_printf(arena, " / %lld", stride) : "");
    if (stride > 1)
      meets = arena_printf(arena, "%s%sy%d * %lld == x%d + %lld - t%d * %lld", meets ? meets : "",
                           meets ? " && " : "", i, stride, i, (long long)slots->low[i], i,
                           (long long)slots->dilation[i]);
    meets = arena_printf(arena, "%s%snnc_within(y%d, (%s)%lld)", meets ? meets : "",
                         meets ? " && " : "", i, writer->index_type, (long long)slots->out[i]);
  }
  const char *at = arena_printf(arena, "(image * %lld + batch * %lld + channel) * %lld + %s",
                                (long long)slots->k, (long long)writer->own_k,
                                (long long)writer->out, flat_place(writer, "y", slots->out));
  text_printf(&text, "if (%s) value = %s;\n", meets, loaded(writer, 0, at));
  const char *weight =
      arena_printf(arena, "((batch * %lld + depth / %lld) * %lld + outer) * %lld + depth %% %lld",
                   (long long)writer->own_k, taps, (long long)writer->own_c, taps, taps);
  return (ProductText){.sides = {plain_text(writer, 1, weight), text_take(&text, arena)},
                       .depth_is_inner = {taps > 1, false},
                       .matrices = {matrix(writer, 1, taps > 1 ? taps : writer->own_c, weight),
                                    pointwise(writer, "outer", "depth", slots->k, writer->own_k)}};
}

/* ---- dw = x dy ---- */

static ProductText conv_weight_text(const ConvWriter *writer) {
  const ConvSlots *slots = writer->slots;
  Arena *arena = writer->arena;
  const char *depth = writer->depth, *group = writer->group;
  long long out = (long long)writer->out, taps = (long long)writer->taps;
  Text text = {0};
  text_printf(&text, "const %s image = %s / %lld, channel = outer / %lld;\n", writer->index_type,
              depth, out, taps);
  declare_place(writer, &text, "y", arena_printf(arena, "%s %% %lld", depth, out), slots->out);
  declare_place(writer, &text, "t", arena_printf(arena, "outer %% %lld", taps), slots->kernel);
  load_through_window(writer, &text,
                      arena_printf(arena, "image * %lld + %s * %lld + channel", (long long)slots->c,
                                   group, (long long)writer->own_c));
  const char *given =
      arena_printf(arena, "(%s / %lld * %lld + %s * %lld + outer) * %lld + %s %% %lld", depth, out,
                   (long long)slots->k, group, (long long)writer->own_k, out, depth, out);
  return (ProductText){.sides = {plain_text(writer, 1, given), text_take(&text, arena)},
                       .depth_is_inner = {true, true},
                       .matrices = {matrix(writer, 1, out, given),
                                    pointwise(writer, depth, "outer", slots->c, writer->own_c)}};
}

/* ---- what they share ---- */

typedef struct Direction {
  ProductText (*text)(const ConvWriter *writer);
  bool is_weight, is_input;
} Direction;

static Direction direction_of(const Kernel *kernel) {
  switch (kernel->kind) {
  case KERNEL_CONV: return (Direction){conv_text, false, false};
  case KERNEL_CONV_INPUT: return (Direction){conv_input_text, false, true};
  default: return (Direction){conv_weight_text, true, false};
  }
}

static ProductExtents extents_of(const Kernel *kernel) {
  const ConvSlots *slots = &kernel->conv;
  int64_t in = extent_product(slots->in, slots->spatial);
  int64_t out = extent_product(slots->out, slots->spatial);
  int64_t taps = extent_product(slots->kernel, slots->spatial);
  int64_t own_c = slots->c / slots->groups, own_k = slots->k / slots->groups;
  Direction direction = direction_of(kernel);
  if (direction.is_weight) {
    int64_t pieces = greatest(slots->pieces, 1);
    return (ProductExtents){pieces * slots->groups, own_k, own_c * taps, slots->n / pieces * out};
  }
  return direction.is_input ? (ProductExtents){slots->groups, own_c, slots->n * in, own_k * taps}
                            : (ProductExtents){slots->groups, own_k, slots->n * out, own_c * taps};
}

static CudaGrid conv_grid(const Kernel *kernel) {
  ProductExtents extents = extents_of(kernel);
  return product_grid(kernel, &extents);
}

/* The axes of the result, out of the product's row and column. */
static const char *epilogue_text(const ConvWriter *writer, const Direction *direction) {
  const Kernel *kernel = writer->function->kernel;
  Arena *arena = writer->arena;
  const char *type = writer->index_type;
  Text text = {0};
  Code code = {.arena = arena, .out = &text};
  int64_t plane = direction->is_weight  ? writer->taps
                  : direction->is_input ? writer->in
                                        : writer->out;
  int64_t own = direction->is_input ? writer->own_c : writer->own_k;
  int pieces_axes = writer->slots->pieces > 0;
  const char *channel = arena_printf(arena, "%s * %lld + row", writer->group, (long long)own);
  const char *outer = arena_printf(arena, "column / %lld", (long long)plane);
  if (pieces_axes > 0 && expression_uses_axis(arena, kernel, 0))
    code_line(&code, "const %s i0 = batch / %lld;", type, (long long)writer->slots->groups);
  for (int i = 0; i < 2; i++)
    if (expression_uses_axis(arena, kernel, pieces_axes + i))
      code_line(&code, "const %s i%d = %s;", type, pieces_axes + i,
                (i == 0) == direction->is_weight ? channel : outer);
  cuda_declare_axes(&code, writer->function, type, pieces_axes + 2, kernel->axis_count,
                    arena_printf(arena, "(column %% %lld)", (long long)plane));
  cuda_write_epilogue(&code, writer->function, "sum", kernel_sum_type(kernel));
  return text_take(&text, arena);
}

static void conv_write(Code *code, KernelFunction *function) {
  ProductExtents extents = extents_of(function->kernel);
  ConvWriter writer = writer_create(code->arena, function, &extents);
  Direction direction = direction_of(function->kernel);
  ProductText text = direction.text(&writer);
  text.index_type = writer.index_type;
  text.operands[0] = 1;
  text.operands[1] = 0;
  text.epilogue = epilogue_text(&writer, &direction);
  product_write(code, function, &extents, &text);
}

const CudaKernel cuda_kernel_conv = {.grid = conv_grid, .write = conv_write};
const CudaKernel cuda_kernel_conv_input = {.grid = conv_grid, .write = conv_write};
const CudaKernel cuda_kernel_conv_weight = {.grid = conv_grid, .write = conv_write};
