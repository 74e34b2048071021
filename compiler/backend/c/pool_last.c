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

/* Some channels of an image for a task, whose sums stay in the second-level cache. */
static ChannelGrid image_grid(const Kernel *kernel) {
  enum { SUMS_BYTES = 128 << 10, MOST = 64 };
  const ConvSlots *slots = &kernel->conv;
  ChannelGrid grid =
      channels_of(kernel, extent_product(slots->in, slots->spatial), SUMS_BYTES, MOST);
  grid.tasks = slots->n * grid.blocks;
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
  return kernel->kind == KERNEL_MAX_UNPOOL ? line_grid(kernel) : image_grid(kernel);
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

static const char *channels_epilogue(Arena *arena, KernelFunction *function) {
  const Kernel *kernel = function->kernel;
  Text text = {0};
  Code code = {.arena = arena, .out = &text};
  function_declare_axis(&code, function, 0, "image");
  const char *place = kernel->kind == KERNEL_MAX_UNPOOL
                          ? open_line(&code, function)
                          : function_open_plane(&code, 2, kernel->conv.spatial, kernel->conv.in);
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
  template_add(&holes, "COUNT",
               slots->c % grid.block == 0 ? "CB" : "nnc_least(CB, CHANNELS - channel)");
  function_add_epilogue(&holes, function, channels_epilogue(code->arena, function));
  template_add_integer(&holes, "CHANNELS", slots->c);
  template_add_integer(&holes, "CB", grid.block);
  template_add_integer(&holes, "BLOCKS", grid.blocks);
  template_add_integer(&holes, "LINES", grid.lines);
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
