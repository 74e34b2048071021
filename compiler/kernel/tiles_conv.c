/* Task grids of convolutions: see tiles.h. */
#include "kernel/tiles.h"

#include "support/panic.h"

enum {
  SOURCE_BYTES = 256 << 10, /* of the padded planes of a block, for the second-level cache */
  RASTER_BYTES = 16 << 10,  /* of a tile's row */
  SUMS_BYTES = 192 << 10,   /* of the vector sums of a weight gradient */
  LEAST_TASKS = 16,
  SLACK = 2 * TILE_MAX_COLUMNS, /* elements that vectors read or write beyond a raster */
  VECTOR_BYTES = 64             /* the widest */
};

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t greatest(int64_t a, int64_t b) { return a > b ? a : b; }
static int64_t divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }
static int64_t floor_divide(int64_t a, int64_t b) { return a / b - (a % b < 0); }
static int64_t align_64(int64_t bytes) { return divide_up(bytes, 64) * 64; }

/* Residues of t * dilation modulo the stride, in order of their first tap. */
static void find_source_phases(ConvGrid *grid, int axis) {
  for (int64_t tap = 0; tap < grid->kernel[axis]; tap++) {
    int64_t residue = tap * grid->dilation[axis] % grid->stride[axis];
    int64_t found = 0;
    while (found < grid->source_phases[axis] && grid->phase_residue[axis][found] != residue)
      found++;
    if (found < grid->source_phases[axis]) continue;
    CHECK(found < 512);
    grid->phase_residue[axis][grid->source_phases[axis]++] = residue;
  }
  if (grid->source_phases[axis] == 0) grid->source_phases[axis] = 1;
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
    find_source_phases(grid, axis);
    return;
  }
  int64_t last = floor_divide(grid->low[axis] + grid->extent_in[axis] - 1, stride);
  grid->least[axis] = floor_divide(grid->low[axis], stride);
  grid->grid[axis] = grid->extent_in[axis] == 0 ? 0 : last - grid->least[axis] + 1;
  grid->output_phases[axis] = stride;
  grid->source_phases[axis] = 1;
}

/* Raster sizes for the present block. */
static void measure(ConvGrid *grid) {
  int64_t phases = 1;
  grid->plane = 1;
  for (int i = 0; i < 3; i++) {
    int64_t positions = i == grid->block_axis ? grid->block : grid->grid[i];
    grid->length[i] = positions + grid->extra[i];
    grid->plane *= grid->length[i];
    phases *= grid->source_phases[i];
  }
  grid->plane *= phases;
  int64_t first = grid->block_axis == 0 ? grid->block : grid->grid[0];
  int64_t second = grid->block_axis == 1 ? grid->block : grid->grid[1];
  int64_t third = grid->block_axis == 2 ? grid->block : grid->grid[2];
  grid->raster =
      greatest(((first - 1) * grid->length[1] + second - 1) * grid->length[2] + third, 0);
}

/* The largest block that fits the caches and leaves enough tasks. */
static void cut_grid(ConvGrid *grid, int64_t others, int64_t size, int64_t channels) {
  grid->block_axis = grid->grid[0] > 1 ? 0 : grid->grid[1] > 1 ? 1 : 2;
  int64_t whole = greatest(grid->grid[grid->block_axis], 1);
  for (grid->blocks = 1;; grid->blocks++) {
    grid->block = divide_up(whole, grid->blocks);
    measure(grid);
    bool fits =
        channels * grid->plane * size <= SOURCE_BYTES && grid->raster * size <= RASTER_BYTES;
    bool busy = others * grid->blocks >= LEAST_TASKS;
    if ((fits && busy) || grid->block == 1) break;
    if (fits && grid->block <= 4 * (grid->extra[grid->block_axis] + 1))
      break; /* copies would dominate */
  }
  grid->blocks = divide_up(whole, grid->block);
}

static void cut_weight(ConvGrid *grid, int64_t size) {
  int64_t taps = grid->kernel[0] * grid->kernel[1] * grid->kernel[2];
  grid->row_block = least(grid->rows, 16);
  grid->channel_block = least(grid->channels, 16);
  for (;;) {
    int64_t tasks = grid->groups * divide_up(grid->rows, greatest(grid->row_block, 1)) *
                    divide_up(grid->channels, greatest(grid->channel_block, 1));
    int64_t sums = grid->row_block * grid->channel_block * taps * VECTOR_BYTES;
    if (tasks >= LEAST_TASKS && sums <= SUMS_BYTES) break;
    if (grid->channel_block > 2 && grid->channel_block >= grid->row_block / 2)
      grid->channel_block = divide_up(grid->channel_block, 2);
    else if (grid->row_block > 4) grid->row_block = divide_up(grid->row_block, 2);
    else if (grid->channel_block > 1) grid->channel_block = divide_up(grid->channel_block, 2);
    else break;
  }
  grid->row_block = greatest(grid->row_block, 1);
  grid->channel_block = greatest(grid->channel_block, 1);
  cut_grid(grid, LEAST_TASKS, size, grid->channel_block);
  grid->other_bytes = align_64((grid->row_block * (grid->raster + SLACK) + SLACK) * size);
  grid->tile_bytes =
      align_64(grid->row_block * grid->channel_block * greatest(taps, 1) * VECTOR_BYTES);
  grid->source_bytes = align_64((grid->channel_block * grid->plane + SLACK) * size);
  int64_t tasks =
      divide_up(grid->rows, grid->row_block) * divide_up(grid->channels, grid->channel_block);
  grid->group_chunk = tasks > 1 ? 1 : greatest(divide_up(grid->groups, 64), 1);
  grid->chunks = divide_up(grid->groups, grid->group_chunk);
  grid->tasks = grid->chunks * tasks;
}

ConvGrid kernel_conv_grid(const Kernel *kernel) {
  const ConvSlots *slots = &kernel->conv;
  ConvGrid grid = {.images = slots->n, .groups = slots->groups};
  bool is_input = kernel->kind == KERNEL_CONV_INPUT;
  for (int axis = 0; axis < 3; axis++)
    set_axis(&grid, slots, axis, axis - (3 - slots->spatial), is_input);
  int64_t size = dtype_size(kernel_sum_type(kernel));
  int64_t k = slots->k / slots->groups, c = slots->c / slots->groups;
  grid.rows = is_input ? c : k;
  grid.channels = is_input ? k : c;
  if (kernel->kind == KERNEL_CONV_WEIGHT) {
    cut_weight(&grid, size);
    return grid;
  }
  int64_t work = grid.rows * grid.channels * grid.kernel[0] * grid.kernel[1] * grid.kernel[2] *
                 grid.grid[0] * grid.grid[1] * grid.grid[2];
  grid.group_chunk = least(grid.groups, greatest(65536 / greatest(work, 1), 1));
  grid.chunks = divide_up(grid.groups, grid.group_chunk);
  cut_grid(&grid, grid.images * grid.chunks, size, grid.channels);
  grid.source_bytes = align_64((grid.channels * grid.plane + SLACK) * size);
  grid.tile_bytes = align_64(TILE_MAX_ROWS * (grid.raster + SLACK) * size);
  bool converts = kernel->operands[1].dtype != kernel_sum_type(kernel);
  int64_t taps = grid.kernel[0] * grid.kernel[1] * grid.kernel[2];
  grid.other_bytes = converts ? align_64(TILE_MAX_ROWS * grid.channels * taps * size) : 0;
  grid.tasks = grid.images * grid.chunks * grid.blocks;
  return grid;
}
