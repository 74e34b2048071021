/* Gradients in the weights of convolutions of few channels: see narrow.h. */
#include "backend/c/narrow.h"

#include "backend/c/tiles.h"
#include "backend/c/window.h"
#include "backend/common/c.h"
#include "support/integers.h"

enum {
  VECTOR = 16,       /* channels of the result come in whole vectors of any instruction set */
  MOST_CHANNELS = 15 /* of more, panels of columns are copied fast enough (window.c) */
};

bool kernel_is_narrow(const Kernel *kernel) {
  enum { LEAST_POSITIONS = 64 };
  const ConvSlots *conv = &kernel->conv;
  int last = conv->spatial - 1;
  /* Lines of taps that fill a panel of columns are copied fast enough, too, where windows do not overlap. */
  if (conv->c * conv->kernel[last] >= TILE_COLUMNS && conv->stride[last] >= conv->kernel[last])
    return false;
  DType sum = kernel_sum_type(kernel);
  if (kernel->kind != KERNEL_CONV_WEIGHT || kernel->is_x3 || conv->groups != 1) return false;
  if (sum != DTYPE_F32 && sum != DTYPE_F64) return false;
  return kernel->operands[0].dtype == sum && kernel->operands[1].dtype == sum &&
         conv_has_last(kernel, 1) && conv->k % VECTOR == 0 && conv->c <= MOST_CHANNELS &&
         conv->dilation[conv->spatial - 1] == 1 &&
         extent_product(conv->out, conv->spatial) >= LEAST_POSITIONS;
}

/* Three axes, the first of which a convolution may not have; widths of lines in elements. */
typedef struct NarrowGrid {
  int64_t in[3], out[3], kernel[3], stride[3], dilation[3], low[3];
  int64_t
      place; /* elements from a place of x to the next: its channels, or 1 where they are planes */
  int64_t run;            /* weights of a line of taps, which follow each other in x */
  int64_t line;           /* of x, with its padding */
  int64_t lines;          /* of the result at a time */
  int64_t k_block, parts; /* channels of the result and parts of the weights, of a task */
  int64_t tile_rows;      /* weights of a tile at most */
  int64_t pieces, images; /* of a piece */
  int64_t tasks, seen_bytes, bytes;
} NarrowGrid;

/* ---- tasks ----
 *
 * Costs are in the time of a vector multiply-add for each position. */

/* Tiles of at most `most` weights, as the template cuts them: lines of taps in pieces, or several together. */
typedef struct Tiles {
  int64_t cuts, rows, runs, of_plane, count;
} Tiles;

static Tiles tiles_of(const NarrowGrid *grid, int64_t planes, int64_t most) {
  Tiles tiles = {.cuts = divide_up(grid->run, most), .runs = 1};
  tiles.rows = divide_up(grid->run, tiles.cuts);
  int64_t stacks = divide_up(grid->kernel[1], most / tiles.rows);
  if (tiles.cuts == 1) tiles.runs = divide_up(grid->kernel[1], stacks);
  tiles.of_plane = divide_up(grid->kernel[1], tiles.runs);
  tiles.count = planes * grid->kernel[0] * tiles.of_plane * tiles.cuts;
  return tiles;
}

/* The weights before a tile. */
static int64_t weights_before(const NarrowGrid *grid, const Tiles *tiles, int64_t tile) {
  int64_t stack = tile / tiles->cuts % tiles->of_plane;
  int64_t plane = tile / (tiles->cuts * tiles->of_plane);
  return (plane * grid->kernel[1] + stack * tiles->runs) * grid->run +
         tile % tiles->cuts * tiles->rows;
}

/* Of the longest share of so many workers, each of which takes as many tasks. */
static int64_t longest_share(const NarrowGrid *grid, const Tiles *tiles, int64_t workers) {
  enum {
    TASK = 6,
    TILE = 2
  }; /* of a task: dy, and lines with their padding; of a tile: what it reads */
  int64_t vectors = grid->k_block / VECTOR, longest = 0;
  for (int64_t i = 0; i < workers; i++) {
    int64_t share = 0;
    for (int64_t task = grid->tasks * i / workers; task < grid->tasks * (i + 1) / workers; task++) {
      int64_t part = task % grid->parts;
      int64_t begin = part * tiles->count / grid->parts,
              end = (part + 1) * tiles->count / grid->parts;
      int64_t weights = weights_before(grid, tiles, end) - weights_before(grid, tiles, begin);
      share += weights * vectors + (end - begin) * TILE + TASK * vectors;
    }
    longest = greatest(longest, share);
  }
  return longest;
}

/* Whole vectors of the result's channels, at least two where there are: a broadcast weight is for all of them. */
static int64_t channels_of_task(int64_t k) {
  int64_t vectors = k / VECTOR, own = least(vectors, 2);
  while (vectors % own != 0) own++;
  return own * VECTOR;
}

/* Parts of the weights, and the size of tiles, that suit two workers, and more. */
static void cut_tasks(NarrowGrid *grid, const ConvSlots *conv, bool is_serial) {
  enum { MOST_TASKS = 8, SUMS = 24, MOST_ROWS = 12, LEAST_ROWS = 4 };
  grid->k_block = is_serial ? conv->k : channels_of_task(conv->k);
  int64_t others = grid->pieces * (conv->k / grid->k_block), best = INT64_MAX;
  int64_t most = is_serial ? 1 : greatest(MOST_TASKS / others, 1);
  NarrowGrid tried = *grid;
  for (tried.parts = 1; tried.parts <= most; tried.parts++)
    for (tried.tile_rows = LEAST_ROWS; tried.tile_rows <= MOST_ROWS; tried.tile_rows++) {
      int64_t fitting = SUMS / least(grid->k_block / VECTOR, 3);
      Tiles tiles = tiles_of(&tried, conv->c / grid->place, least(tried.tile_rows, fitting));
      tried.tasks = others * tried.parts;
      int64_t cost = is_serial
                         ? longest_share(&tried, &tiles, 1)
                         : 3 * longest_share(&tried, &tiles, 2) + longest_share(&tried, &tiles, 8);
      if (cost > best) continue;
      best = cost;
      *grid = tried;
    }
}

static NarrowGrid narrow_grid(const Kernel *kernel) {
  enum { POSITIONS = 96 }; /* of a block, about: both of its sides stay in the first-level cache */
  const ConvSlots *conv = &kernel->conv;
  NarrowGrid grid = {.pieces = greatest(conv->pieces, 1)};
  int absent = 3 - conv->spatial;
  for (int i = 0; i < 3; i++) {
    bool is_there = i >= absent;
    grid.in[i] = is_there ? conv->in[i - absent] : 1;
    grid.out[i] = is_there ? conv->out[i - absent] : 1;
    grid.kernel[i] = is_there ? conv->kernel[i - absent] : 1;
    grid.stride[i] = is_there ? conv->stride[i - absent] : 1;
    grid.dilation[i] = is_there ? conv->dilation[i - absent] : 1;
    grid.low[i] = is_there ? conv->low[i - absent] : 0;
  }
  int64_t size = dtype_size(kernel_sum_type(kernel));
  int64_t weights = conv->c * extent_product(grid.kernel, 3);
  grid.images = conv->n / grid.pieces;
  grid.place = conv_has_last(kernel, 0) ? conv->c : 1;
  grid.run = grid.kernel[2] * grid.place;
  grid.line = ((grid.out[2] - 1) * grid.stride[2] + grid.kernel[2]) * grid.place;
  grid.lines = greatest(least(grid.out[1], POSITIONS / greatest(grid.out[2], 1)), 1);
  cut_tasks(&grid, conv, kernel->is_serial);
  int64_t seen = (grid.lines - 1) * grid.stride[1] + (grid.kernel[1] - 1) * grid.dilation[1] + 1;
  int64_t planes = conv->c / grid.place;
  grid.seen_bytes = align_64(grid.kernel[0] * seen * planes * grid.line * size);
  grid.bytes = grid.seen_bytes + align_64(weights * grid.k_block * size);
  return grid;
}

int64_t narrow_tasks(const Kernel *kernel) { return narrow_grid(kernel).tasks; }
int64_t narrow_worker_bytes(const Kernel *kernel) { return narrow_grid(kernel).bytes; }

/* Declares an axis that goes on after `below` weights. */
static int64_t declare_weight(Code *code, KernelFunction *function, int axis, int64_t below) {
  int64_t extent = function->kernel->extent[axis];
  const char *rest = below == 1 ? "m" : arena_printf(code->arena, "m / %lld", (long long)below);
  const char *text = arena_printf(code->arena, "%s %% %lld", rest, (long long)extent);
  function_declare_axis(code, function, axis, text);
  return below * extent;
}

/* A weight's number is ((t0 T1 + t1) T2 + t2) C + c, or of planes ((c T0 + t0) T1 + t1) T2 + t2. */
static const char *weights_epilogue(Arena *arena, KernelFunction *function,
                                    const NarrowGrid *grid) {
  const ConvSlots *conv = &function->kernel->conv;
  Text text = {0};
  Code code = {.arena = arena, .out = &text};
  int first = conv->pieces > 0;
  if (first) function_declare_axis(&code, function, 0, "piece");
  code_open(&code, "for (int64_t k = 0; k < %lld; k++)", (long long)grid->k_block);
  function_declare_axis(&code, function, first, "channel + k");
  code_open(&code, "NNC_ROLLED for (int64_t m = first; m < end; m++)");
  int64_t below = 1;
  if (grid->place > 1) below = declare_weight(&code, function, first + 1, below);
  for (int i = conv->spatial - 1; i >= 0; i--)
    below = declare_weight(&code, function, first + 2 + i, below);
  if (grid->place == 1) declare_weight(&code, function, first + 1, below);
  const char *result =
      arena_printf(arena, "sums[(m - first) * %lld + k]", (long long)grid->k_block);
  return function_end_epilogue(&code, function, result, kernel_sum_type(function->kernel));
}

void narrow_write(Code *code, KernelFunction *function) {
  const Kernel *kernel = function->kernel;
  const ConvSlots *conv = &kernel->conv;
  NarrowGrid grid = narrow_grid(kernel);
  if (function_write_empty(code, function)) return;
  TemplateHoles holes = function_holes(code->arena, function, grid.tasks);
  template_add(&holes, "TYPE", c_value_type(kernel_sum_type(kernel)));
  template_add(&holes, "T", c_type_name(kernel_sum_type(kernel)));
  template_add(&holes, "SOURCE", function->operands[0]);
  template_add(&holes, "DY", function->operands[1]);
  template_add_integer(&holes, "IMAGES", grid.images);
  template_add_integer(&holes, "C", conv->c);
  template_add_integer(&holes, "K", conv->k);
  template_add_integer(&holes, "KB", grid.k_block);
  template_add_integer(&holes, "PARTS", grid.parts);
  template_add_integer(&holes, "TILE_WEIGHTS", grid.tile_rows);
  template_add_axes(&holes, "X", grid.in);
  template_add_axes(&holes, "P", grid.out);
  template_add_axes(&holes, "S", grid.stride);
  template_add_axes(&holes, "D", grid.dilation);
  template_add_axes(&holes, "T", grid.kernel);
  template_add_axes(&holes, "LOW_", grid.low);
  template_add_integer(&holes, "PLACE", grid.place);
  template_add_integer(&holes, "IMAGE", conv->c * extent_product(grid.in, 3));
  template_add_integer(&holes, "PLANE", extent_product(grid.in, 3) * grid.place);
  template_add_integer(&holes, "RUN", grid.run);
  template_add_integer(&holes, "LINES", grid.lines);
  template_add_integer(&holes, "LINE", grid.line);
  template_add_integer(&holes, "STEP", grid.stride[2] * grid.place);
  template_add_integer(&holes, "SEEN_BYTES", grid.seen_bytes);
  function_add_epilogue(&holes, function, weights_epilogue(code->arena, function, &grid));
  template_render(code->out, "codegen_templates/conv_weight_narrow.c", &holes);
}
