/* The adjoints of max pooling as C where an operand has its channels last: fills
 * codegen_templates/max_pool_grad_last.c and max_unpool_last.c. */
#include "backend/c/kernels.h"
#include "backend/common/c.h"

#include "backend/c/tiles.h"
#include "support/integers.h"
#include "support/panic.h"

/* Some vectors of channels at a time, and the places of their sums. */
typedef struct ChannelGrid {
  int64_t block, blocks, tasks, places;
  int64_t lines; /* of a task, by lines */
  int64_t bands; /* of an image */
  int64_t parts; /* of a task, each some channels of a band */
} ChannelGrid;

/* As many channels as have room for their sums, but no more than `most`. */
static ChannelGrid channels_of(const Kernel *kernel, int64_t places, int64_t bytes, int64_t most) {
  enum { LEAST = 16 };
  const ConvSlots *slots = &kernel->conv;
  int64_t fitting = bytes / greatest(places * dtype_size(pool_value_type(kernel)), 1);
  int64_t block = greatest(least(fitting / LEAST * LEAST, most), LEAST);
  ChannelGrid grid = {.places = places, .block = greatest(least(block, slots->c), 1)};
  grid.blocks = greatest(divide_up(slots->c, grid.block), 1);
  return grid;
}

/* Whether windows that follow each other along the first axis share no place: each, with the others beside it, is a band of
 * the image that no other window adds to. */
static bool has_bands(const ConvSlots *slots) {
  return (slots->kernel[0] - 1) * slots->dilation[0] < slots->stride[0];
}

/* Places along the first axis, of the longest band: the first one has those before it, too, the last one those after it. */
static int64_t longest_band(const ConvSlots *slots) {
  int64_t stride = slots->stride[0], last = slots->out[0] - 1;
  if (!has_bands(slots) || last <= 0) return slots->in[0];
  return greatest(stride, slots->in[0] - (last * stride - slots->low[0]));
}

/* Some channels of bands for a task, whose sums stay in the second-level cache. */
static ChannelGrid band_grid(const Kernel *kernel) {
  enum { SUMS_BYTES = 128 << 10, MOST = 64 };
  const ConvSlots *slots = &kernel->conv;
  int64_t places = longest_band(slots) * extent_product(slots->in + 1, slots->spatial - 1);
  ChannelGrid grid = channels_of(kernel, places, SUMS_BYTES, MOST);
  grid.bands = has_bands(slots) ? greatest(slots->out[0], 1) : 1;
  int64_t all = slots->n * grid.bands * grid.blocks;
  if (grid.bands == 1) {
    grid.parts = 1;
    grid.tasks = all;
    return grid;
  }
  LoopGrid rows = rows_grid(kernel, all, places * grid.block);
  grid.parts = rows.row_chunk;
  grid.tasks = rows.tasks;
  return grid;
}

/* Some lines of images for a task: where places are known, each element's sum is of its own. */
static ChannelGrid line_grid(const Kernel *kernel) {
  enum { LINE_BYTES = 32 << 10 };
  const ConvSlots *slots = &kernel->conv;
  int64_t length = slots->in[slots->spatial - 1];
  LoopGrid rows = rows_grid(kernel, slots->n * extent_product(slots->in, slots->spatial - 1),
                            length * slots->c);
  ChannelGrid grid = channels_of(kernel, length, LINE_BYTES, slots->c);
  grid.lines = rows.row_chunk;
  grid.tasks = rows.tasks;
  return grid;
}

static ChannelGrid channel_grid(const Kernel *kernel) {
  return kernel->kind == KERNEL_MAX_UNPOOL ? line_grid(kernel) : band_grid(kernel);
}

int64_t pool_last_tasks(const Kernel *kernel) { return channel_grid(kernel).tasks; }

int64_t pool_last_worker_bytes(const Kernel *kernel) {
  ChannelGrid grid = channel_grid(kernel);
  return grid.places * grid.block * dtype_size(pool_value_type(kernel));
}

/* Opens the loop over a line, whose number in the image is `line`; where its sums are. */
static const char *open_line(Code *code, KernelFunction *function) {
  const ConvSlots *slots = &function->kernel->conv;
  int last = 1 + slots->spatial;
  int64_t below = 1;
  for (int i = last - 1; i >= 2; i--) {
    long long extent = (long long)slots->in[i - 2];
    const char *number =
        below == 1 ? "line" : arena_printf(code->arena, "line / %lld", (long long)below);
    if (i > 2) number = arena_printf(code->arena, "%s %% %lld", number, extent);
    function_declare_axis(code, function, i, number);
    below *= extent;
  }
  code_open(code, "for (int64_t i%d = 0; i%d < X2; i%d++)", last, last, last);
  return arena_printf(code->arena, "i%d", last);
}

/* Opens the loops over the places of a band, whose first axis is from `begin` to `end`; where its sums are. */
static const char *open_band(Code *code, KernelFunction *function) {
  const ConvSlots *slots = &function->kernel->conv;
  Arena *arena = code->arena;
  const char *place = "i2 - begin";
  code_open(code, "NNC_AROUND for (int64_t i2 = begin; i2 < end; i2++)");
  for (int i = 1; i < slots->spatial; i++) {
    const char *axis = arena_printf(arena, "i%d", 2 + i);
    long long extent = (long long)slots->in[i];
    bool is_around = i + 1 < slots->spatial;
    code_open(code, "%sfor (int64_t %s = 0; %s < %lld; %s++)", is_around ? "NNC_AROUND " : "", axis,
              axis, extent, axis);
    place = arena_printf(arena, "(%s) * %lld + %s", place, extent, axis);
  }
  return place;
}

static const char *channels_epilogue(Arena *arena, KernelFunction *function) {
  const Kernel *kernel = function->kernel;
  Text text = {0};
  Code code = {.arena = arena, .out = &text};
  function_declare_axis(&code, function, 0, "image");
  const char *place =
      kernel->kind == KERNEL_MAX_UNPOOL ? open_line(&code, function) : open_band(&code, function);
  code_open(&code, "NNC_ROLLED for (int64_t c = 0; c < channels; c++)");
  function_declare_axis(&code, function, 1, "channel + c");
  return function_end_epilogue(&code, function,
                               arena_printf(arena, "sums[%s * CB + c]", code_atom(arena, place)),
                               pool_value_type(kernel));
}

void pool_add_axes(TemplateHoles *holes, const ConvSlots *slots) {
  const int64_t *of[] = {slots->in,     slots->out,      slots->kernel,
                         slots->stride, slots->dilation, slots->low};
  static const char *const letters[] = {"X", "Y", "K", "S", "D", "P"};
  for (int k = 0; k < 6; k++) {
    int64_t values[3];
    for (int i = 0; i < 3; i++) {
      int own = i - (3 - slots->spatial);
      values[i] = own < 0 ? of[k] != slots->low : of[k][own];
    }
    template_add_axes(holes, letters[k], values);
  }
}

/* Elements from a place to the next, and from a channel to the next. */
static void add_strides(TemplateHoles *holes, const ConvSlots *slots, int operand,
                        const char *name) {
  const int64_t *extent = name[0] == 'X' ? slots->in : slots->out;
  bool is_last = slots->last >> operand & 1;
  template_add_integer(holes, arena_printf(holes->arena, "%s_PLACE", name), is_last ? slots->c : 1);
  template_add_integer(holes, arena_printf(holes->arena, "%s_CHANNEL", name),
                       is_last ? 1 : extent_product(extent, slots->spatial));
}

static void add_operand(TemplateHoles *holes, const KernelFunction *function, int operand,
                        const char *name) {
  Arena *arena = holes->arena;
  DType dtype = function->kernel->operands[operand].dtype;
  template_add(holes, name, function->operands[operand]);
  template_add(holes, arena_printf(arena, "LOAD_%s", name), c_loader(arena, dtype));
  template_add(holes, arena_printf(arena, "%s_TYPE", name), c_storage_type(dtype));
  add_strides(holes, &function->kernel->conv, operand, name);
}

void pool_last_write(Code *code, KernelFunction *function) {
  const Kernel *kernel = function->kernel;
  const ConvSlots *slots = &kernel->conv;
  ChannelGrid grid = channel_grid(kernel);
  CHECK(kernel->axis_count == 2 + slots->spatial);
  if (function_write_empty(code, function)) return;
  TemplateHoles holes = function_holes(code->arena, function, grid.tasks);
  template_add(&holes, "TYPE", c_value_type(pool_value_type(kernel)));
  template_add(&holes, "PLACE", grid.places > INT32_MAX ? "int64_t" : "int32_t");
  /* As wide as the values, so that vectors have as many of either. */
  template_add(&holes, "TAP", pool_value_type(kernel) == DTYPE_F64 ? "int64_t" : "int32_t");
  template_add(&holes, "COUNT",
               slots->c % grid.block == 0 ? "CB" : "nnc_least(CB, CHANNELS - channel)");
  function_add_epilogue(&holes, function, channels_epilogue(code->arena, function));
  template_add_integer(&holes, "CHANNELS", slots->c);
  template_add_integer(&holes, "CB", grid.block);
  template_add_integer(&holes, "BLOCKS", grid.blocks);
  template_add_integer(&holes, "LINES", grid.lines);
  template_add_integer(&holes, "BANDS", greatest(grid.bands, 1));
  template_add_integer(&holes, "PARTS", grid.parts);
  template_add_integer(&holes, "FIRST", 3 - slots->spatial);
  template_add_integer(&holes, "IMAGES", slots->n);
  bool has_places = kernel->kind == KERNEL_MAX_UNPOOL;
  add_operand(&holes, function, 0, has_places ? "PLACES" : "X");
  add_operand(&holes, function, 1, "DY");
  pool_add_axes(&holes, slots);
  template_render(code->out,
                  has_places ? "codegen_templates/max_unpool_last.c"
                             : "codegen_templates/max_pool_grad_last.c",
                  &holes);
}
