/* Convolutions of CUDA in their three directions, as products (product.h) whose one side is read
 * through the windows. The batches of the product are the groups of channels.
 *
 *                result      rows          columns             depth
 *   conv         y           channels k    images, positions   channels c, taps
 *   conv_input   dx          channels c    images, positions   channels k, taps
 *   conv_weight  dw          channels k    channels c, taps    images, positions
 *
 * Where the result has its channels last, its rows and columns change places, so that neighbouring
 * lanes store neighbours. In pieces of the images conv_weight has such batches for each piece.
 *
 * Channels and taps are counted as they lie in what is read through the windows: channels last, the
 * channels of a tap follow each other, and come 16 bytes at a time. */
#include "backend/common/c.h"
#include "backend/cuda/tensor.h"
#include "support/integers.h"
#include "support/panic.h"

/* How an operand lies in memory: planes of channels, first or last, of rows. */
typedef struct Planes {
  int operand;
  int64_t channels, plane;
  bool is_last;
} Planes;

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

/* A side of the product, see ProductText. */
typedef struct ConvSide {
  const char *lines, *run, *matrix;
  bool depth_is_inner;
} ConvSide;

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

static Planes planes_of(const ConvWriter *writer, int operand, int64_t channels, int64_t plane) {
  return (Planes){operand, channels, plane, writer->slots->last >> operand & 1};
}

/* Whether so many neighbours of an operand are whole chunks. */
static bool has_chunks(const ConvWriter *writer, int operand, int64_t run) {
  int64_t each = TENSOR_CHUNK / dtype_size(writer->function->kernel->operands[operand].dtype);
  return run % each == 0 && writer->function->alignments[operand] >= TENSOR_CHUNK;
}

/* ---- places -------------------------------------------------------------------------------- */

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

/* `channel` and `tap` of what is counted by `flat`: taps of `own` channels, or channels of taps. */
static void declare_tap(const ConvWriter *writer, Text *text, const char *flat, int64_t own,
                        bool is_last) {
  long long below = (long long)(is_last ? own : writer->taps);
  text_printf(text, "const %s %s = %s / %lld, %s = %s %% %lld;\n", writer->index_type,
              is_last ? "tap" : "channel", flat, below, is_last ? "channel" : "tap", flat, below);
}

/* The place in a plane of these extents of the axes `name`. */
static const char *flat_place(const ConvWriter *writer, const char *name, const int64_t *extent) {
  const char *text = arena_printf(writer->arena, "%s0", name);
  for (int i = 1; i < writer->slots->spatial; i++)
    text = arena_printf(writer->arena, "(%s) * %lld + %s%d", text, (long long)extent[i], name, i);
  return text;
}

/* Where the element at a row, channel and place of an operand lies. */
static const char *element_at(const ConvWriter *writer, const Planes *planes, const char *row,
                              const char *channel, const char *place) {
  long long channels = (long long)planes->channels, plane = (long long)planes->plane;
  if (planes->is_last)
    return arena_printf(writer->arena, "((%s) * %lld + %s) * %lld + %s", row, plane, place,
                        channels, channel);
  return arena_printf(writer->arena, "((%s) * %lld + %s) * %lld + %s", row, channels, channel,
                      plane, place);
}

/* The number of a group's channel `name` among all. */
static const char *whole_channel(const ConvWriter *writer, const char *name, int64_t own) {
  if (writer->slots->groups == 1) return name;
  return arena_printf(writer->arena, "%s * %lld + %s", writer->group, (long long)own, name);
}

/* ---- sides --------------------------------------------------------------------------------- */

/* What comes of an element that is there: the element, or the chunk that begins with it. */
static const char *taken(const ConvWriter *writer, int operand, const char *at, bool is_run) {
  if (is_run)
    return arena_printf(writer->arena, "from = &%s[%s], bytes = %d;\n",
                        writer->function->operands[operand], at, TENSOR_CHUNK);
  return arena_printf(
      writer->arena, "value = %s;\n",
      product_loaded(writer->arena, writer->function, writer->extents, operand, at));
}

/* A side whose elements all are there, which is a matrix where `run` neighbours follow each other. */
static ConvSide plain_side(const ConvWriter *writer, int operand, const char *at, int64_t run,
                           bool depth_is_inner) {
  ConvSide side = {.lines = taken(writer, operand, at, false), .depth_is_inner = depth_is_inner};
  if (has_chunks(writer, operand, run))
    side.matrix = arena_printf(writer->arena, "%s[%s]", writer->function->operands[operand], at);
  return side;
}

/* Windows of one element: a position of the output meets the same one of the input. */
static bool is_pointwise(const ConvSlots *slots) {
  bool is_one = true;
  for (int i = 0; i < slots->spatial; i++)
    is_one = is_one && slots->kernel[i] == 1 && slots->stride[i] == 1 && slots->low[i] == 0 &&
             slots->high[i] == 0;
  return is_one;
}

/* The matrix that operand 0 of a pointwise convolution is: `place`, a name, counts the positions of all
 * images, and `channel` one of the group's `own` channels. */
static const char *pointwise(const ConvWriter *writer, const Planes *planes, const char *place,
                             const char *channel, int64_t own) {
  if (!is_pointwise(writer->slots)) return NULL;
  if (!has_chunks(writer, planes->operand, planes->is_last ? own : planes->plane)) return NULL;
  Arena *arena = writer->arena;
  const char *name = writer->function->operands[planes->operand];
  const char *whole = whole_channel(writer, channel, own);
  long long plane = (long long)planes->plane;
  if (planes->is_last)
    return arena_printf(arena, "%s[%s * %lld + %s]", name, place, (long long)planes->channels,
                        whole);
  const char *image = arena_printf(arena, "%s / %lld", place, plane);
  return arena_printf(
      arena, "%s[%s]", name,
      element_at(writer, planes, image, whole, arena_printf(arena, "%s %% %lld", place, plane)));
}

/* From the axes y of an output's position and t of a tap: those, x, of what it meets in the input, and
 * whether they lie inside. */
static const char *meet_input(const ConvWriter *writer, Text *text) {
  const ConvSlots *slots = writer->slots;
  const char *inside = NULL;
  for (int i = 0; i < slots->spatial; i++) {
    text_printf(text, "const %s x%d = y%d * %lld + t%d * %lld - %lld;\n", writer->index_type, i, i,
                (long long)slots->stride[i], i, (long long)slots->dilation[i],
                (long long)slots->low[i]);
    inside = arena_printf(writer->arena, "%s%snnc_within(x%d, (%s)%lld)", inside ? inside : "",
                          inside ? " && " : "", i, writer->index_type, (long long)slots->in[i]);
  }
  return inside;
}

/* The other way round: from x and t the axes y. */
static const char *meet_output(const ConvWriter *writer, Text *text) {
  const ConvSlots *slots = writer->slots;
  Arena *arena = writer->arena;
  const char *meets = NULL;
  for (int i = 0; i < slots->spatial; i++) {
    long long stride = (long long)slots->stride[i];
    text_printf(text, "const %s y%d = (x%d + %lld - t%d * %lld)%s;\n", writer->index_type, i, i,
                (long long)slots->low[i], i, (long long)slots->dilation[i],
                stride > 1 ? arena_printf(arena, " / %lld", stride) : "");
    if (stride > 1)
      meets = arena_printf(arena, "%s%sy%d * %lld == x%d + %lld - t%d * %lld", meets ? meets : "",
                           meets ? " && " : "", i, stride, i, (long long)slots->low[i], i,
                           (long long)slots->dilation[i]);
    meets = arena_printf(arena, "%s%snnc_within(y%d, (%s)%lld)", meets ? meets : "",
                         meets ? " && " : "", i, writer->index_type, (long long)slots->out[i]);
  }
  return meets;
}

/* What is read through a window: `places` counts images and positions, `taps` channels and taps. The
 * positions are of the output, but of the input where `is_input`. */
typedef struct Through {
  Planes planes;
  const char *places, *taps;
  int64_t own;
  bool is_input, is_run;
} Through;

static const char *through_window(const ConvWriter *writer, const Through *through) {
  const ConvSlots *slots = writer->slots;
  Arena *arena = writer->arena;
  Text text = {0};
  bool is_input = through->is_input;
  long long counted = (long long)(is_input ? writer->in : writer->out);
  text_printf(&text, "const %s image = %s / %lld;\n", writer->index_type, through->places, counted);
  declare_tap(writer, &text, through->taps, through->own, through->planes.is_last);
  declare_place(writer, &text, is_input ? "x" : "y",
                arena_printf(arena, "%s %% %lld", through->places, counted),
                is_input ? slots->in : slots->out);
  declare_place(writer, &text, "t", "tap", slots->kernel);
  const char *meets = is_input ? meet_output(writer, &text) : meet_input(writer, &text);
  const char *place =
      is_input ? flat_place(writer, "y", slots->out) : flat_place(writer, "x", slots->in);
  const char *at = element_at(writer, &through->planes, "image",
                              whole_channel(writer, "channel", through->own), place);
  text_printf(&text, "if (%s) {\n  %s}\n", meets,
              taken(writer, through->planes.operand, at, through->is_run));
  return text_take(&text, arena);
}

static ConvSide window_side(const ConvWriter *writer, Through through, bool taps_are_depth) {
  bool is_last = through.planes.is_last;
  ConvSide side = {
      .lines = through_window(writer, &through),
      .matrix = pointwise(writer, &through.planes, through.places, through.taps, through.own),
      .depth_is_inner = is_last == taps_are_depth};
  through.is_run = true;
  if (is_last && has_chunks(writer, through.planes.operand, through.own))
    side.run = through_window(writer, &through);
  return side;
}

/* ---- the three directions: the side of rows k or c, and the other one ------------------------ */

/* w[outer, depth], whose rows lie in one piece if the depth is counted as they are. */
static ConvSide conv_weights(const ConvWriter *writer, const Planes *w, bool counts_last) {
  Arena *arena = writer->arena;
  const char *row = whole_channel(writer, "outer", writer->own_k);
  int64_t elements = writer->own_c * writer->taps;
  if (w->is_last == counts_last)
    return plain_side(writer, 1,
                      arena_printf(arena, "(%s) * %lld + depth", row, (long long)elements),
                      elements, true);
  Text text = {0};
  declare_tap(writer, &text, "depth", writer->own_c, counts_last);
  text_add(&text, taken(writer, 1, element_at(writer, w, row, "channel", "tap"), false));
  return (ConvSide){.lines = text_take(&text, arena), .depth_is_inner = true};
}

static void conv_sides(const ConvWriter *writer, ConvSide *sides) {
  Planes x = planes_of(writer, 0, writer->slots->c, writer->in);
  Planes w = planes_of(writer, 1, writer->own_c, writer->taps);
  sides[0] = conv_weights(writer, &w, x.is_last);
  sides[1] = window_side(writer, (Through){x, "outer", "depth", writer->own_c, false, false}, true);
}

/* w[depth, outer]: neighbours are those along c, or the taps. */
static ConvSide conv_input_weights(const ConvWriter *writer, const Planes *w, bool counts_last) {
  Arena *arena = writer->arena;
  Text text = {0};
  declare_tap(writer, &text, "depth", writer->own_k, counts_last);
  const char *row = whole_channel(writer, "channel", writer->own_k);
  const char *at = element_at(writer, w, row, "outer", "tap"), *head = text_take(&text, arena);
  bool taps_follow = !w->is_last && !counts_last;
  ConvSide side = {.lines = arena_printf(arena, "%s%s", head, taken(writer, 1, at, false)),
                   .depth_is_inner = taps_follow};
  if ((w->is_last || taps_follow) && has_chunks(writer, 1, taps_follow ? w->plane : w->channels))
    side.run = arena_printf(arena, "%s%s", head, taken(writer, 1, at, true));
  return side;
}

static void conv_input_sides(const ConvWriter *writer, ConvSide *sides) {
  Planes dy = planes_of(writer, 0, writer->slots->k, writer->out);
  Planes w = planes_of(writer, 1, writer->own_c, writer->taps);
  sides[0] = conv_input_weights(writer, &w, dy.is_last);
  sides[1] = window_side(writer, (Through){dy, "outer", "depth", writer->own_k, true, false}, true);
}

static void conv_weight_sides(const ConvWriter *writer, ConvSide *sides) {
  Arena *arena = writer->arena;
  Planes x = planes_of(writer, 0, writer->slots->c, writer->in);
  Planes dy = planes_of(writer, 1, writer->slots->k, writer->out);
  const char *channel = whole_channel(writer, "outer", writer->own_k);
  const char *depth = writer->depth;
  const char *at =
      arena_printf(arena, "%s * %lld + %s", depth, (long long)writer->slots->k, channel);
  if (!dy.is_last) {
    const char *image = arena_printf(arena, "%s / %lld", depth, (long long)writer->out);
    const char *place = arena_printf(arena, "%s %% %lld", depth, (long long)writer->out);
    at = element_at(writer, &dy, image, channel, place);
  }
  int64_t run = dy.is_last ? writer->own_k : writer->out;
  sides[0] = plain_side(writer, 1, at, run, !dy.is_last);
  sides[1] = window_side(writer, (Through){x, depth, "outer", writer->own_c, false, false}, false);
}

/* ---- what they share ---- */

typedef struct Direction {
  void (*sides)(const ConvWriter *writer, ConvSide *sides);
  bool is_weight, is_input;
  bool is_turned; /* rows and columns have changed places */
} Direction;

/* Whether neighbours among the channels of the result, axis 1, are stored side by side. */
static bool stores_channels_last(const Kernel *kernel) {
  int64_t base, coefficient[2 * KERNEL_MAX_AXES];
  return kernel->epilogue_count > 0 &&
         index_is_affine(kernel->epilogue[0].index, kernel->axis_count, &base, coefficient) &&
         coefficient[1] == 1;
}

static Direction direction_of(const Kernel *kernel) {
  bool is_turned = stores_channels_last(kernel);
  switch (kernel->kind) {
  case KERNEL_CONV: return (Direction){conv_sides, false, false, is_turned};
  case KERNEL_CONV_INPUT: return (Direction){conv_input_sides, false, true, is_turned};
  default: return (Direction){conv_weight_sides, true, false, false};
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
  int64_t channels = direction.is_input ? own_c : own_k;
  int64_t places = slots->n * (direction.is_input ? in : out);
  return (ProductExtents){slots->groups, direction.is_turned ? places : channels,
                          direction.is_turned ? channels : places,
                          (direction.is_input ? own_k : own_c) * taps};
}

static CudaGrid conv_grid(const Kernel *kernel) {
  ProductExtents extents = extents_of(kernel);
  return product_grid(kernel, &extents);
}

/* The names of the result's first two axes and of its place in a plane, out of row and column. */
static void result_axes(const ConvWriter *writer, const Direction *direction, const char **axes) {
  Arena *arena = writer->arena;
  long long plane = (long long)(direction->is_input ? writer->in : writer->out);
  const char *places = direction->is_turned ? "row" : "column";
  const char *channels = direction->is_turned ? "column" : "row";
  if (direction->is_weight) {
    bool is_last = writer->slots->last & 1;
    long long below = (long long)(is_last ? writer->own_c : writer->taps);
    const char *high = arena_printf(arena, "column / %lld", below);
    const char *low = arena_printf(arena, "column %% %lld", below);
    axes[0] = whole_channel(writer, "row", writer->own_k);
    axes[1] = is_last ? low : high;
    axes[2] = is_last ? high : low;
    return;
  }
  axes[0] = arena_printf(arena, "%s / %lld", places, plane);
  axes[1] = whole_channel(writer, channels, direction->is_input ? writer->own_c : writer->own_k);
  axes[2] = arena_printf(arena, "%s %% %lld", places, plane);
}

static const char *epilogue_text(const ConvWriter *writer, const Direction *direction) {
  const Kernel *kernel = writer->function->kernel;
  Arena *arena = writer->arena;
  const char *type = writer->index_type, *axes[3];
  Text text = {0};
  Code code = {.arena = arena, .out = &text};
  int before = writer->slots->pieces > 0; /* the axis of the pieces */
  result_axes(writer, direction, axes);
  if (before > 0 && expression_uses_axis(arena, kernel, 0))
    code_line(&code, "const %s i0 = batch / %lld;", type, (long long)writer->slots->groups);
  for (int i = 0; i < 2; i++)
    if (expression_uses_axis(arena, kernel, before + i))
      code_line(&code, "const %s i%d = %s;", type, before + i, axes[i]);
  cuda_declare_axes(&code, writer->function, type, before + 2, kernel->axis_count,
                    arena_printf(arena, "(%s)", axes[2]));
  cuda_write_epilogue(&code, writer->function, "sum", kernel_sum_type(kernel));
  return text_take(&text, arena);
}

static void conv_write(Code *code, KernelFunction *function) {
  ProductExtents extents = extents_of(function->kernel);
  ConvWriter writer = writer_create(code->arena, function, &extents);
  Direction direction = direction_of(function->kernel);
  ProductText text = {.index_type = writer.index_type,
                      .epilogue = epilogue_text(&writer, &direction)};
  ConvSide sides[2];
  direction.sides(&writer, sides);
  for (int i = 0; i < 2; i++) {
    int from = direction.is_turned ? 1 - i : i;
    text.sides[i] = sides[from].lines;
    text.runs[i] = sides[from].run;
    text.matrices[i] = sides[from].matrix;
    text.depth_is_inner[i] = sides[from].depth_is_inner;
    text.operands[i] = 1 - from;
  }
  product_write(code, function, &extents, &text);
}

const CudaKernel cuda_kernel_conv = {.grid = conv_grid, .write = conv_write};
const CudaKernel cuda_kernel_conv_input = {.grid = conv_grid, .write = conv_write};
const CudaKernel cuda_kernel_conv_weight = {.grid = conv_grid, .write = conv_write};
