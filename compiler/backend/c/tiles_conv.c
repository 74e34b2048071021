/* Task grids of convolutions: see tiles.h. */
#include "backend/c/tiles.h"

enum {
  SOURCE_BYTES = 256 << 10, /* of the padded planes of a block, for the second-level cache */
  RASTER_BYTES = 16 << 10,  /* of a tile's row */
  SUMS_BYTES = 192 << 10,   /* of the vector sums of a weight gradient */
  SPAN_BYTES = 64 << 10,    /* of what a tile of a weight gradient sums, for the first-level cache
                             * and what it gets from the second in time */
  LEAST_TASKS = 16,
  LEAST_WEIGHT_TASKS = 8, /* fewer, as each copies what it sums */
  VECTOR_BYTES = 64       /* the widest */
};

int64_t conv_tap_period(const ConvGrid *grid, int axis) {
  int64_t a = grid->stride[axis], b = grid->dilation[axis];
  while (b != 0) {
    int64_t rest = a % b;
    a = b;
    b = rest;
  }
  return grid->stride[axis] / a;
}

int64_t conv_phase_begin(const ConvGrid *grid, int axis, int64_t phase) {
  int64_t place = phase * grid->dilation[axis];
  return grid->shifted && axis == 2 ? place : place % grid->stride[axis];
}

static void set_axis(ConvGrid *grid, const ConvSlots *slots, int axis, int spatial, bool is_input) {
  bool absent = spatial < 0;
  grid->extent_in[axis] = absent ? 1 : slots->in[spatial];
  grid->extent_out[axis] = absent ? 1 : slots->out[spatial];
  grid->kernel[axis] = absent ? 1 : slots->kernel[spatial];
  grid->stride[axis] = absent ? 1 : slots->stride[spatial];
  grid->low[axis] = absent ? 0 : slots->low[spatial];
  grid->dilation[axis] = absent ? 1 : slots->dilation[spatial];
  int64_t stride = grid->stride[axis];
  grid->extra[axis] = greatest(grid->kernel[axis] - 1, 0) * grid->dilation[axis] / stride;
  if (!is_input) {
    grid->grid[axis] = grid->extent_out[axis];
    grid->output_phases[axis] = 1;
    grid->source_phases[axis] = greatest(least(grid->kernel[axis], conv_tap_period(grid, axis)), 1);
    return;
  }
  int64_t last = floor_div(grid->low[axis] + grid->extent_in[axis] - 1, stride);
  grid->least[axis] = floor_div(grid->low[axis], stride);
  grid->grid[axis] = grid->extent_in[axis] == 0 ? 0 : last - grid->least[axis] + 1;
  grid->output_phases[axis] = stride;
  grid->source_phases[axis] = 1;
}

/* Zeros on both sides of a row of the source, with which the raster's rows begin and end. */
static int64_t row_margin(const ConvGrid *grid, bool is_input) {
  int64_t left = is_input ? grid->extra[2] - grid->least[2] : grid->low[2];
  int64_t extent = is_input ? grid->extent_out[2] : grid->extent_in[2];
  int64_t right = grid->grid[2] + grid->extra[2] - left - extent;
  return grid->stride[2] == 1 ? greatest(least(left, right), 0) : 0;
}

enum { LANES = 16 }; /* what `padded` and `phase` are multiples of, and costs are counted in */

static int64_t vectors(int64_t elements) { return divide_up(elements, LANES); }

/* Raster sizes for the present block. */
static void measure(ConvGrid *grid) {
  int64_t phases = 1;
  grid->phase = 1;
  for (int i = 0; i < 3; i++) {
    int64_t positions = i == grid->block_axis ? grid->block : grid->grid[i];
    grid->length[i] = positions + grid->extra[i] - (i == 2 ? grid->gap : 0);
    grid->phase *= grid->length[i];
    phases *= grid->source_phases[i];
  }
  if (grid->moved) grid->phase = vectors(grid->phase) * LANES;
  grid->plane = grid->phase * phases;
  int64_t first = grid->block_axis == 0 ? grid->block : grid->grid[0];
  int64_t second = grid->block_axis == 1 ? grid->block : grid->grid[1];
  int64_t third = grid->block_axis == 2 ? grid->block : grid->grid[2];
  grid->raster =
      greatest(((first - 1) * grid->length[1] + second - 1) * grid->length[2] + third, 0);
}

/* How many tasks there should be. */
static int64_t wanted(const ConvGrid *grid, int64_t tasks) { return grid->is_serial ? 1 : tasks; }

/* The largest block that fits the caches and leaves enough tasks. */
static void cut_grid(ConvGrid *grid, int64_t others, int64_t size, int64_t channels) {
  grid->block_axis = grid->grid[0] > 1 ? 0 : grid->grid[1] > 1 ? 1 : 2;
  grid->gap = grid->block_axis == 2 ? 0 : grid->margin;
  int64_t whole = greatest(grid->grid[grid->block_axis], 1);
  for (grid->blocks = 1;; grid->blocks++) {
    grid->block = divide_up(whole, grid->blocks);
    measure(grid);
    bool fits =
        channels * grid->plane * size <= SOURCE_BYTES && grid->raster * size <= RASTER_BYTES;
    bool busy = others * grid->blocks >= wanted(grid, LEAST_TASKS);
    if ((fits && busy) || grid->block == 1) break;
    if (fits && grid->block <= 4 * (grid->extra[grid->block_axis] + 1))
      break; /* copies would dominate */
  }
  grid->blocks = divide_up(whole, grid->block);
}

/* ---- small planes: without padding, several images side by side ----
 *
 * Costs are half the time of a vector multiply-add. */

/* Elements of a raster of the whole grid, up to the last position. */
static int64_t whole_raster(const ConvGrid *grid) {
  int64_t raster = 0;
  for (int i = 0; i < 3; i++) {
    int64_t length = grid->grid[i] + grid->extra[i] - (i == 2 ? grid->margin : 0);
    raster = raster * length + grid->grid[i] - 1;
  }
  return raster + 1;
}

/* Of moving the rows of a plane of the output, as a tap sees it, one by one; the only tap of all
 * positions sees the plane in one piece. */
static int64_t cost_of_rows(const ConvGrid *grid, bool strided) {
  const int64_t *out = grid->extent_out;
  if (extent_product(grid->kernel, 3) == 1 &&
      extent_product(out, 3) == extent_product(grid->extent_in, 3))
    return 3 + extent_product(out, 3) / 8;
  return out[0] * out[1] * (3 + (strided ? 3 * out[2] / 2 : out[2] / 8));
}

static bool has_work(const ConvGrid *grid) {
  return grid->rows > 0 && grid->channels > 0 && extent_product(grid->kernel, 3) > 0 &&
         extent_product(grid->extent_out, 3) > 0 && extent_product(grid->extent_in, 3) > 0;
}

/* Halves the blocks of rows, at least `least_rows` long, until there are enough tasks. */
static void cut_rows(ConvGrid *grid, int64_t others, int64_t least_rows, int64_t tasks) {
  while (grid->row_block > least_rows && others * divide_up(grid->rows, grid->row_block) < tasks)
    grid->row_block = divide_up(grid->row_block, 2);
  grid->tasks = others * divide_up(grid->rows, grid->row_block);
}

/* The weights are not in the second-level cache all the time. */
static bool is_far(const ConvGrid *grid, int64_t size) {
  enum { NEAR_BYTES = 256 << 10 };
  return grid->rows * grid->channels * extent_product(grid->kernel, 3) * size > NEAR_BYTES;
}

/* Of multiplying one weight with so many vectors. Tiles of one and two vectors wait for their
 * weights, all the more where these come from afar. */
static int64_t cost_of_weight(const ConvGrid *grid, int64_t count, int64_t size) {
  static const int64_t rest[] = {0, 3, 5};
  return count / 3 * 6 + rest[count % 3] + is_far(grid, size);
}

enum { MOST_STACKED = 32 /* images */, LEAST_STACKED_TASKS = 8 };

/* Columns for conv_input: less to multiply, but the products are added in memory. False when the
 * worker's block would be too large. */
static bool stack_columns(ConvGrid *grid, int64_t stack, int64_t size, int64_t *cost) {
  int64_t plane = extent_product(grid->extent_in, 3), taps = extent_product(grid->kernel, 3);
  int64_t stacks = divide_up(grid->images, stack), positions = extent_product(grid->extent_out, 3);
  grid->stack = stack;
  grid->padded = vectors(stack * positions) * LANES;
  int64_t given = grid->channels * grid->padded * size;
  if (given > SOURCE_BYTES || stack * plane * size > SUMS_BYTES) return false;
  grid->by_columns = true;
  grid->row_block = least(grid->rows, SUMS_BYTES / (stack * plane * size));
  cut_rows(grid, stacks * grid->groups, divide_up(2 * TILE_MAX_ROWS, taps),
           wanted(grid, LEAST_TASKS));
  grid->source_bytes = align_64(given);
  grid->other_bytes = align_64(stack * grid->row_block * plane * size);
  grid->tile_bytes = align_64(TILE_MAX_ROWS * grid->padded * size);
  int64_t count = grid->padded / LANES, weight = cost_of_weight(grid, count, size);
  if (is_far(grid, size)) weight += 2 * divide_up(count, 3); /* columns of w, for each tile */
  int64_t products = grid->channels * weight;
  int64_t sums = 2 * stack * cost_of_rows(grid, grid->stride[2] > 1);
  int64_t copies = 2 * grid->channels * stack * (2 + positions / 8);
  *cost = grid->tasks * (grid->row_block * taps * (products + sums) + copies);
  return true;
}

/* A grid for so many images side by side, and its cost; false when they are too many. */
typedef bool (*StackImages)(ConvGrid *grid, int64_t stack, int64_t size, int64_t *cost);

/* The cheapest number of them, if any costs less than `best`. */
static void stack_images(ConvGrid *grid, StackImages stack_on, int64_t size, int64_t best) {
  const ConvGrid plain = *grid;
  for (int64_t stack = 1; stack <= least(plain.images, MOST_STACKED); stack++) {
    ConvGrid trial = plain;
    int64_t cost;
    if (!stack_on(&trial, stack, size, &cost)) break;
    bool is_busy = stack == 1 || trial.tasks >= wanted(&plain, LEAST_STACKED_TASKS);
    if (cost >= best || !is_busy) continue;
    best = cost;
    *grid = trial;
  }
}

static bool cut_columns(ConvGrid *grid, int64_t size) {
  if (!has_work(grid)) return false;
  int64_t taps = extent_product(grid->kernel, 3);
  int64_t direct = grid->channels * cost_of_weight(grid, vectors(whole_raster(grid)), size);
  int64_t best = grid->images * grid->groups * grid->rows * taps * direct;
  stack_images(grid, stack_columns, size, best);
  return grid->by_columns;
}

/* The raster that patches are cut from: of a whole plane, of one channel. */
static void set_whole_block(ConvGrid *grid, int64_t size) {
  grid->block_axis = 0;
  grid->block = grid->grid[0];
  grid->blocks = 1;
  measure(grid);
  grid->source_bytes = align_64(grid->plane * size);
}

/* Patches for conv: less to multiply, but more to copy. False when the worker's block would be too
 * large. */
static bool stack_patches(ConvGrid *grid, int64_t stack, int64_t size, int64_t *cost) {
  enum { PATCH_BYTES = 128 << 10 };
  int64_t taps = extent_product(grid->kernel, 3), stacks = divide_up(grid->images, stack);
  grid->stack = stack;
  grid->padded = vectors(stack * extent_product(grid->extent_out, 3)) * LANES;
  if (TILE_MAX_ROWS * grid->padded * size > SUMS_BYTES || taps * grid->padded * size > PATCH_BYTES)
    return false;
  grid->by_patches = true;
  grid->row_block = least(grid->rows, SUMS_BYTES / (grid->padded * size));
  cut_rows(grid, stacks * grid->groups, TILE_MAX_ROWS, wanted(grid, LEAST_TASKS));
  int64_t fitting = PATCH_BYTES / (taps * grid->padded * size);
  grid->channel_block = divide_up(grid->channels, divide_up(grid->channels, fitting));
  set_whole_block(grid, size);
  grid->other_bytes = align_64(grid->channel_block * taps * grid->padded * size);
  grid->tile_bytes = align_64(grid->row_block * grid->padded * size);
  int64_t depth = grid->channels * taps, count = grid->padded / LANES;
  int64_t products = depth * cost_of_weight(grid, count, size);
  int64_t sums = 4 * count * divide_up(grid->channels, grid->channel_block);
  int64_t copies = 2 * depth * stack * cost_of_rows(grid, false);
  *cost = grid->tasks * (grid->row_block * (products + sums) + copies);
  return true;
}

static bool cut_patches(ConvGrid *grid, int64_t size) {
  if (!has_work(grid)) return false;
  int64_t depth = grid->channels * extent_product(grid->kernel, 3);
  int64_t best = grid->images * grid->groups * grid->rows * depth *
                 cost_of_weight(grid, vectors(whole_raster(grid)), size);
  stack_images(grid, stack_patches, size, best);
  return grid->by_patches;
}

/* Patches for conv_weight: less to multiply, and longer sums, but more to copy. */
static bool cut_weight_patches(ConvGrid *grid, int64_t size) {
  enum { COLUMNS = 48, LENGTH = 1024, STACK_BYTES = 384 << 10 };
  if (!has_work(grid)) return false;
  int64_t taps = extent_product(grid->kernel, 3);
  grid->padded = vectors(extent_product(grid->extent_out, 3)) * LANES;
  int64_t columns = least(divide_up(COLUMNS, taps), grid->channels);
  int64_t tasks = wanted(grid, LEAST_WEIGHT_TASKS);
  while (columns > 1 && grid->groups * divide_up(grid->channels, columns) < tasks)
    columns = divide_up(columns, 2);
  int64_t others = grid->groups * divide_up(grid->channels, columns);
  grid->row_block = least(grid->rows, greatest(SUMS_BYTES / (columns * taps * VECTOR_BYTES), 1));
  cut_rows(grid, others, 4, tasks);
  int64_t of_sums = 2; /* loaded and stored for each plane */
  int64_t by_raster = grid->row_block * (vectors(whole_raster(grid)) + of_sums);
  int64_t by_patch = grid->row_block * (grid->padded / LANES) + cost_of_rows(grid, false);
  if (by_patch >= by_raster || grid->padded > LENGTH) return false;
  grid->by_patches = true;
  grid->channel_block = columns;
  int64_t bytes = (grid->row_block + columns * taps) * grid->padded * size;
  grid->stack = least(LENGTH / grid->padded, greatest(STACK_BYTES / bytes, 1));
  grid->stack = greatest(least(grid->stack, grid->images), 1);
  grid->is_one_sum = grid->stack == grid->images;
  set_whole_block(grid, size);
  grid->other_bytes = align_64(bytes * grid->stack);
  grid->tile_bytes = align_64(grid->row_block * columns * taps * VECTOR_BYTES);
  return true;
}

/* Cycles, roughly, that the tasks of conv_weight.c take for an image, on few and on many
 * workers. */
static int64_t weight_cost(const ConvGrid *grid) {
  int64_t planes = extent_product(grid->source_phases, 3) * grid->channel_block, plane_rows = 1,
          given = 1;
  for (int i = 0; i < 2; i++) plane_rows *= grid->grid[i] + grid->extra[i], given *= grid->grid[i];
  int64_t length = grid->grid[2] + grid->extra[2] - grid->margin;
  int64_t row = grid->moved ? 2 + length / 8 : 10 + (grid->stride[2] > 1 ? length : length / 8);
  int64_t products = grid->row_block * grid->channel_block * extent_product(grid->kernel, 3);
  int64_t copies = planes * plane_rows * row +
                   grid->row_block * given * (length / 8 + (grid->dy_in_place ? 0 : 10));
  int64_t tasks = grid->groups * divide_up(grid->rows, grid->row_block) *
                  divide_up(grid->channels, grid->channel_block);
  int64_t rounds = 3 * (2 * divide_up(tasks, 2)) + 8 * divide_up(tasks, 8);
  if (grid->is_serial) rounds = tasks;
  return rounds * (products * (vectors(whole_raster(grid)) + 2) + copies);
}

/* The cheapest blocks of rows and channels whose sums fit. */
static void cut_sums(ConvGrid *grid) {
  enum { MOST_ROWS = 128, MOST_CHANNELS = 64, TILE_ROWS = 4 /* of the widest, NNC_DOT_ROWS */ };
  int64_t taps = extent_product(grid->kernel, 3), best = INT64_MAX;
  ConvGrid trial = *grid;
  grid->row_block = grid->channel_block = 1;
  for (int64_t rows = TILE_ROWS; rows < grid->rows + TILE_ROWS && rows <= MOST_ROWS;
       rows += TILE_ROWS)
    for (int64_t channels = 1; channels <= least(grid->channels, MOST_CHANNELS); channels++) {
      trial.row_block = least(rows, grid->rows);
      trial.channel_block = channels;
      int64_t sums = trial.row_block * channels * taps * VECTOR_BYTES;
      int64_t cost = weight_cost(&trial);
      if (sums > SUMS_BYTES || cost >= best) continue;
      best = cost;
      grid->row_block = trial.row_block;
      grid->channel_block = channels;
    }
}

/* Rows of the source follow each other in a shifted raster as in the source, and blocks are whole rows. */
static bool moves_planes(const ConvGrid *grid) {
  return grid->grid[0] * grid->grid[1] > 1 && grid->stride[0] == 1 && grid->stride[1] == 1 &&
         grid->stride[2] == 1 && grid->extent_out[2] == grid->extent_in[2];
}

/* Rasters for each tap of the last axis where that is less work. */
static void shift_rasters(ConvGrid *grid, bool converts) {
  ConvGrid other = *grid;
  if (!has_work(grid) || grid->kernel[2] > 16) return;
  other.shifted = true;
  other.moved = moves_planes(&other);
  other.extra[2] = other.margin = 0;
  other.source_phases[2] = grid->kernel[2];
  int64_t plane = extent_product(other.extent_out, 3);
  other.dy_in_place = !converts && plane % LANES == 0 && whole_raster(&other) == plane;
  cut_sums(&other);
  if (weight_cost(&other) < weight_cost(grid)) *grid = other;
}

static void cut_weight(ConvGrid *grid, int64_t size, bool converts) {
  if (cut_weight_patches(grid, size)) return;
  int64_t taps = extent_product(grid->kernel, 3);
  cut_sums(grid);
  shift_rasters(grid, converts);
  cut_grid(grid, LEAST_TASKS, size, grid->channel_block);
  grid->dy_in_place = grid->dy_in_place && grid->blocks == 1;
  int64_t tile_rows =
      4 + least(divide_up(6 * extent_product(grid->source_phases, 3), greatest(taps, 1)), 6);
  int64_t parts = greatest(divide_up(grid->raster * size * tile_rows, SPAN_BYTES), 1);
  grid->span = greatest(vectors(divide_up(grid->raster, parts)), 1) * LANES;
  grid->is_one_sum = has_work(grid) && parts == 1 && grid->images == 1 && grid->blocks == 1;
  grid->other_bytes =
      align_64((grid->row_block * (grid->raster + RASTER_SLACK) + RASTER_SLACK) * size);
  grid->tile_bytes =
      align_64(grid->row_block * grid->channel_block * greatest(taps, 1) * VECTOR_BYTES);
  grid->source_bytes = align_64((grid->channel_block * grid->plane + RASTER_SLACK) * size);
  int64_t tasks =
      divide_up(grid->rows, grid->row_block) * divide_up(grid->channels, grid->channel_block);
  grid->group_chunk = tasks > 1 ? 1 : greatest(divide_up(grid->groups, 64), 1);
  grid->chunks = divide_up(grid->groups, grid->group_chunk);
  grid->tasks = grid->chunks * tasks;
}

ConvGrid conv_grid(const Kernel *kernel) {
  const ConvSlots *slots = &kernel->conv;
  ConvGrid grid = {.is_serial = kernel->is_serial, .images = slots->n, .groups = slots->groups};
  bool is_input = kernel->kind == KERNEL_CONV_INPUT;
  for (int axis = 0; axis < 3; axis++)
    set_axis(&grid, slots, axis, axis - (3 - slots->spatial), is_input);
  grid.margin = row_margin(&grid, is_input);
  int64_t size = dtype_size(kernel_sum_type(kernel));
  bool converts = kernel->operands[1].dtype != kernel_sum_type(kernel);
  int64_t k = slots->k / slots->groups, c = slots->c / slots->groups;
  grid.rows = is_input ? c : k;
  grid.channels = is_input ? k : c;
  if (kernel->kind == KERNEL_CONV_WEIGHT) {
    cut_weight(&grid, size, converts);
    return grid;
  }
  bool is_small = !converts && (is_input ? cut_columns(&grid, size) : cut_patches(&grid, size));
  if (is_small) return grid;
  int64_t work = grid.rows * grid.channels * grid.kernel[0] * grid.kernel[1] * grid.kernel[2] *
                 grid.grid[0] * grid.grid[1] * grid.grid[2];
  grid.group_chunk = least(grid.groups, greatest(65536 / greatest(work, 1), 1));
  grid.chunks = divide_up(grid.groups, grid.group_chunk);
  cut_grid(&grid, grid.images * grid.chunks, size, grid.channels);
  grid.source_bytes = align_64((grid.channels * grid.plane + RASTER_SLACK) * size);
  grid.tile_bytes = align_64((TILE_MAX_ROWS * (grid.raster + RASTER_SLACK) + grid.length[2]) *
                             grid.output_phases[2] * size);
  int64_t taps = grid.kernel[0] * grid.kernel[1] * grid.kernel[2];
  grid.other_bytes = converts ? align_64(TILE_MAX_ROWS * grid.channels * taps * size) : 0;
  grid.tasks = grid.images * grid.chunks * grid.blocks;
  return grid;
}
