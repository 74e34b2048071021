/* Depthwise convolutions as C: fills codegen_templates/depthwise.c. What windows see is described by the
 * product that the convolution would be (window.h). */
#include "backend/c/depthwise.h"

#include "backend/c/tiles.h"
#include "backend/c/window.h"
#include "backend/common/c.h"
#include "support/integers.h"

bool kernel_is_depthwise(const Kernel *kernel) {
  const ConvSlots *conv = &kernel->conv;
  return kernel->kind != KERNEL_CONV_WEIGHT && conv_has_last(kernel, 0) &&
         conv->c == conv->groups && conv->k == conv->groups;
}

typedef struct DepthwiseGrid {
  WindowProduct window;
  DType sum;
  int64_t channels, block, blocks; /* of channels */
  int64_t lines, line_blocks;      /* along the second axis of positions */
  int64_t width, parts;            /* along the last */
  int64_t begin[3], length[3];     /* of the raster: its first place, for the first line; places */
  int64_t most_taps, bytes, tasks;
} DepthwiseGrid;

/* Places from the first to the last that taps see from one position. */
static int64_t reach(DepthwiseGrid *grid, int axis) {
  int64_t low = INT64_MAX, high = INT64_MIN;
  for (int i = 0; i < grid->window.taps.count; i++) {
    int64_t at = grid->window.taps.items[i].at[axis];
    low = least(low, at);
    high = greatest(high, at);
  }
  grid->begin[axis] = low <= high ? low : 0;
  return low <= high ? high - low : 0;
}

static void measure(DepthwiseGrid *grid) {
  const WindowProduct *window = &grid->window;
  int64_t places = 1;
  for (int i = 0; i < 3; i++) {
    int64_t positions = i == 1 ? grid->lines : i == 2 ? grid->width : window->grid[i];
    int64_t beyond = reach(grid, i);
    grid->length[i] = greatest((positions - 1) * window->step[i] + beyond + 1, 0);
    places *= grid->length[i];
  }
  int64_t rows = places + greatest(window->taps.count, 1) + grid->width;
  grid->bytes = align_64(rows * grid->block * dtype_size(grid->sum));
}

/* Halves the lines of a task, then their length, until the raster stays in the second-level cache and there
 * are enough tasks. */
static void cut(DepthwiseGrid *grid, int64_t others, int64_t wanted) {
  enum { RASTER_BYTES = 96 << 10, LEAST_LINES = 4, LEAST_WIDTH = 64 };
  const int64_t *positions = grid->window.grid;
  for (measure(grid);; measure(grid)) {
    grid->line_blocks = greatest(divide_up(positions[1], grid->lines), 1);
    grid->parts = greatest(divide_up(positions[2], grid->width), 1);
    grid->tasks = others * grid->line_blocks * grid->parts;
    if (grid->bytes <= RASTER_BYTES && grid->tasks >= wanted) return;
    if (grid->lines > LEAST_LINES) grid->lines = divide_up(grid->lines, 2);
    else if (grid->width > LEAST_WIDTH) grid->width = divide_up(grid->width, 2);
    else return;
  }
}

/* Blocks of channels are of whole vectors. */
static DepthwiseGrid depthwise_grid(Arena *arena, const Kernel *kernel) {
  enum { VECTOR = 16, MOST_CHANNELS = 64, TASKS = 16 };
  const ConvSlots *conv = &kernel->conv;
  DepthwiseGrid grid = {
      .window = window_product(arena, kernel), .sum = kernel_sum_type(kernel), .channels = conv->c};
  grid.block = align_up(greatest(conv->c, 1), VECTOR);
  if (grid.block > MOST_CHANNELS) grid.block = conv->c % 48 == 0 && conv->c % 64 != 0 ? 48 : 64;
  grid.blocks = divide_up(conv->c, grid.block);
  grid.lines = greatest(grid.window.grid[1], 1);
  grid.width = greatest(grid.window.grid[2], 1);
  cut(&grid, conv->n * grid.blocks, kernel->is_serial ? 1 : TASKS);
  for (int i = 0; i < grid.window.phases; i++)
    grid.most_taps =
        greatest(grid.most_taps, grid.window.first_tap[i + 1] - grid.window.first_tap[i]);
  return grid;
}

int64_t depthwise_tasks(const Kernel *kernel) {
  Arena *arena = arena_create();
  int64_t tasks = depthwise_grid(arena, kernel).tasks;
  arena_destroy(arena);
  return tasks;
}

int64_t depthwise_worker_bytes(const Kernel *kernel) {
  Arena *arena = arena_create();
  int64_t bytes = depthwise_grid(arena, kernel).bytes;
  arena_destroy(arena);
  return bytes;
}

/* Declares the axis of the result's places along `axis` of three, at position `position`; whether it must
 * be tested: a phase may have positions beyond the result. */
static void open_place(const DepthwiseGrid *grid, Code *code, KernelFunction *function, int axis,
                       const char *position) {
  const WindowProduct *window = &grid->window;
  const ConvSlots *conv = &function->kernel->conv;
  int own = axis - (3 - conv->spatial);
  if (own < 0) return;
  if (window->phases == 1) {
    function_declare_axis(code, function, 2 + own, position);
    return;
  }
  int64_t below = 1;
  for (int i = axis + 1; i < 3; i++) below *= window->stride[i];
  code_line(code, "const int64_t i%d = %s * %lld + phase / %lld %% %lld - %lld;", 2 + own, position,
            (long long)window->stride[axis], (long long)below, (long long)window->stride[axis],
            (long long)-window->base[axis]);
  code_line(code, "if (!nnc_within(i%d, %lld)) %s;", 2 + own, (long long)conv->in[own],
            axis == 2 ? "continue" : "return");
}

static const char *line_epilogue(const DepthwiseGrid *grid, Arena *arena,
                                 KernelFunction *function) {
  Text text = {0};
  Code code = {.arena = arena, .out = &text};
  function_declare_axis(&code, function, 0, "image");
  open_place(grid, &code, function, 0, "p0");
  open_place(grid, &code, function, 1, "p1");
  code_open(&code, "for (int64_t p = begin; p < end; p++)");
  open_place(grid, &code, function, 2, "p");
  code_open(&code, "NNC_ROLLED for (int64_t c = 0; c < channels; c++)");
  function_declare_axis(&code, function, 1, "channel + c");
  return function_end_epilogue(
      &code, function, arena_printf(arena, "tile[(p - begin) * %lld + c]", (long long)grid->block),
      grid->sum);
}

static void add_taps(const DepthwiseGrid *grid, TemplateHoles *holes) {
  const WindowProduct *window = &grid->window;
  int count = window->taps.count;
  int64_t *offsets = ARENA_ARRAY(holes->arena, int64_t, count + 1);
  int64_t *weights = ARENA_ARRAY(holes->arena, int64_t, count + 1);
  for (int i = 0; i < count; i++) {
    const ProductTap *tap = &window->taps.items[i];
    for (int k = 0; k < 3; k++)
      offsets[i] = offsets[i] * grid->length[k] + tap->at[k] - grid->begin[k];
    weights[i] = tap->weight;
  }
  count = (int)greatest(count, 1);
  template_add(holes, "OFFSETS", code_integers(holes->arena, count, offsets));
  template_add(holes, "WEIGHTS", code_integers(holes->arena, count, weights));
  template_add(holes, "FIRST_TAPS",
               code_integers(holes->arena, window->phases + 1, window->first_tap));
  template_add_integer(holes, "ALL_TAPS", count);
  template_add_integer(holes, "MOST", greatest(grid->most_taps, 1));
  template_add_integer(holes, "PHASES", window->phases);
}

void depthwise_write(Code *code, KernelFunction *function) {
  Arena *arena = code->arena;
  const Kernel *kernel = function->kernel;
  DepthwiseGrid grid = depthwise_grid(arena, kernel);
  if (function_write_empty(code, function)) return;
  TemplateHoles holes = function_holes(arena, function, grid.tasks);
  template_add(&holes, "TYPE", c_value_type(grid.sum));
  template_add(&holes, "T", c_type_name(grid.sum));
  template_add(&holes, "SOURCE", function->operands[0]);
  template_add(&holes, "SOURCE_TYPE", c_storage_type(kernel->operands[0].dtype));
  template_add(&holes, "LOAD_SOURCE", c_loader(arena, kernel->operands[0].dtype));
  template_add(&holes, "W", function->operands[1]);
  template_add(&holes, "LOAD_W", c_loader(arena, kernel->operands[1].dtype));
  function_add_epilogue(&holes, function, line_epilogue(&grid, arena, function));
  template_add_integer(&holes, "CHANNELS", grid.channels);
  template_add_integer(&holes, "CB", grid.block);
  template_add_integer(&holes, "BLOCKS", grid.blocks);
  template_add_integer(&holes, "LINES", grid.lines);
  template_add_integer(&holes, "LINE_BLOCKS", grid.line_blocks);
  template_add_integer(&holes, "WIDTH", grid.width);
  template_add_integer(&holes, "PARTS", grid.parts);
  template_add_integer(&holes, "TAPS", extent_product(kernel->conv.kernel, kernel->conv.spatial));
  add_taps(&grid, &holes);
  template_add_axes(&holes, "P", grid.window.grid);
  template_add_axes(&holes, "X", grid.window.extent);
  template_add_axes(&holes, "S", grid.window.step);
  template_add_axes(&holes, "L", grid.length);
  for (int i = 0; i < 3; i++)
    template_add_integer(&holes, arena_printf(arena, "BEGIN_%d", i), grid.begin[i]);
  template_render(code->out, "codegen_templates/depthwise.c", &holes);
}
