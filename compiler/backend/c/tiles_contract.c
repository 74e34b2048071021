/* Task grids of contractions: see tiles.h. The grid is the one of the least estimated time. */
#include <math.h>

#include "backend/c/contract_sides.h"
#include "backend/c/contract_wish.h"
#include "backend/c/epilogue_stream.h"
#include "backend/c/window.h"
#include "support/integers.h"

enum {
  MATRIX_SIDE = 32, /* rows, columns and depth of the tiles of a matrix unit (nnc_matrix.h) */
  MATRIX_SPEED = 10 /* its multiply-adds in the time of one of vectors, with the operands near */
};

/* Of an element of one side that a block of the other side reads again, where it is near. */
static const double STREAM_CLOCKS = .12;
/* Of an element of the result to which another piece of the depth is added. */
static const double PIECE_CLOCKS = .5;

/* ---- the grid ---- */

enum {
  MOST_ROWS = 480,
  MOST_COLUMNS = 576,
  ROW_STEP = 24, /* whole tiles at any width of vectors */
  COLUMN_STEP = 16,
  /* The depth of a piece, of products of vectors whose sides are matrices: each piece goes over the result once more. */
  MOST_DEPTH = 1024,
  /* Other products are not cut up to ... */
  IN_PLACE_DEPTH = 1024, /* ... this, where both sides are read in place ... */
  WHOLE_DEPTH = 512,     /* ... or this, where one is packed; else into pieces of about ... */
  DEPTH_PIECE = 384,
  TASK_CLOCKS = 1000,
  MOST_KEPT_BYTES = 4608 << 10,   /* of a worker's copy of b for the tasks that follow, ... */
  MOST_OF_UNIT_BYTES = 2 << 20,   /* ... and for a matrix unit */
  MOST_A_BYTES = 576 << 10,       /* of a copy of a, which stays in the second-level cache, ... */
  MOST_FETCHED_BYTES = 320 << 10, /* ... with the next one, which tiles ask for meanwhile */
};

typedef struct Costs {
  SideCosts side;
  double stream_a; /* clocks of an element of a that another block of columns reads */
  bool is_kept;    /* b, in panels */
  const Wish *wish;
  int64_t most_a_bytes;
} Costs;

/* Columns of a block in whole groups, as wide as a tile of any vectors. */
static int64_t packed_columns(const ContractGrid *grid) {
  if (grid->on_unit) return align_up(grid->n_block, TILE_MAX_COLUMNS) + TILE_MAX_COLUMNS;
  return align_up(grid->n_block, TILE_COLUMNS);
}

static int64_t kept_bytes(const ContractGrid *grid, int64_t size) {
  return packed_columns(grid) * align_up(grid->k, 8) * size;
}

/* Whether it is a product of vectors whose sides are matrices. */
static bool is_of_matrices(const ContractGrid *grid) { return !grid->on_unit && !grid->is_window; }

/* Fills in what follows from m_block and n_block. */
static void cut(ContractGrid *grid, int64_t size) {
  grid->m_blocks = greatest(divide_up(grid->m, grid->m_block), 1);
  grid->n_blocks = greatest(divide_up(grid->n, grid->n_block), 1);
  grid->tasks = grid->batch * grid->m_blocks * grid->n_blocks;
  int64_t most_kept = grid->on_unit ? MOST_OF_UNIT_BYTES : MOST_KEPT_BYTES;
  grid->keeps_b = grid->m_blocks > 1 && kept_bytes(grid, size) <= most_kept;
}

static int64_t tile_rows(const ContractGrid *grid) {
  return grid->on_unit ? MATRIX_SIDE : grid->height;
}

int64_t even_tile_height(int64_t rows) {
  enum { LONE_ROWS = 2 };
  bool is_even = rows <= TILE_ROWS || rows % TILE_ROWS == 0 || rows % TILE_ROWS > LONE_ROWS;
  return is_even ? TILE_ROWS : divide_up(rows, divide_up(rows, TILE_ROWS));
}

const char *tile_height_text(Arena *arena, int64_t height) {
  if (height == TILE_ROWS) return "NNC_TILE_ROWS";
  return arena_printf(arena, "NNC_ROWS_UP_TO(%lld)", (long long)height);
}

/* Columns that are computed together if there is one. */
static int64_t column_unit(const ContractGrid *grid) {
  return grid->on_unit ? MATRIX_SIDE : VECTOR;
}

static double unit_speed(const ContractGrid *grid) {
  return grid->is_bf16 ? MATRIX_SPEED : grid->is_x3 ? MATRIX_SPEED / 3.0 : 1;
}

/* The sum of the blocks' extents, each rounded up to tiles. */
static int64_t padded(int64_t extent, int64_t block, int64_t blocks, int64_t tile) {
  return (blocks - 1) * align_up(block, tile) + align_up(extent - (blocks - 1) * block, tile);
}

/* Work of tasks, in padded elements of the result. */
typedef struct Work {
  double high, wide;             /* of a batch element */
  double block_high, block_wide; /* of a block that is not the last */
  double last_wide;
} Work;

static Work work_of_blocks(const ContractGrid *grid) {
  int64_t tile = tile_rows(grid), unit = column_unit(grid);
  int64_t last = grid->n - (grid->n_blocks - 1) * grid->n_block;
  return (Work){.high = (double)padded(grid->m, grid->m_block, grid->m_blocks, tile),
                .wide = (double)padded(grid->n, grid->n_block, grid->n_blocks, unit),
                .block_high = (double)align_up(grid->m_block, tile),
                .block_wide = (double)align_up(grid->n_block, unit),
                .last_wide = (double)align_up(last, unit)};
}

/* Of the first `count` tasks: the last blocks are smaller. */
static double work_before(const ContractGrid *grid, const Work *work, int64_t count) {
  int64_t column = count / grid->m_blocks, row = count % grid->m_blocks;
  int64_t batches = column / grid->n_blocks, block = column % grid->n_blocks;
  double width = block == grid->n_blocks - 1 ? work->last_wide : work->block_wide;
  return (double)batches * work->high * work->wide + (double)block * work->block_wide * work->high +
         width * ((double)row * work->block_high);
}

/* How even the tasks are on the usual numbers of threads: lost share, summed; what exceeds `limit` is not
 * summed to its end. */
static double imbalance(const ContractGrid *grid, double limit) {
  Work work = work_of_blocks(grid);
  double lost = 0, all = work_before(grid, &work, grid->tasks);
  for (int threads = 2; threads <= 16 && lost <= limit; threads *= 2) {
    double most = 0, done = 0;
    for (int i = 0; i < threads; i++) {
      double end = work_before(grid, &work, grid->tasks * (i + 1) / threads);
      if (end - done > most) most = end - done;
      done = end;
    }
    lost += all > 0 ? (most * threads / all - 1) / threads : 0;
  }
  return lost;
}

/* Columns of a last panel without whole vectors, which each task packs. */
static double ragged_columns(const ContractGrid *grid) {
  return grid->n % VECTOR ? (double)least(grid->n, TILE_COLUMNS) : 0;
}

static bool wished(int wish, bool model) { return wish == 0 ? model : wish > 0; }

/* Clocks of all tasks on one thread, in the better of both ways to read each side. */
static double clocks(ContractGrid *grid, const Costs *costs) {
  double m = (double)grid->m, n = (double)grid->n, k = (double)grid->k;
  double row_blocks = (double)grid->m_blocks, column_blocks = (double)grid->n_blocks;
  double high = (double)padded(grid->m, grid->m_block, grid->m_blocks, tile_rows(grid));
  double wide = (double)padded(grid->n, grid->n_block, grid->n_blocks, column_unit(grid));
  double ragged = !grid->on_unit && grid->n_block % TILE_COLUMNS ? .03 : 0;
  double products = high * wide * k / VECTOR * (1 + ragged) / unit_speed(grid);
  double pack_a = m * k * costs->side.pack_a * column_blocks;
  double pack_b =
      n * k * costs->side.pack_b * (grid->keeps_b ? least(2, grid->m_blocks) : row_blocks);
  double in_place_a = products * costs->side.a_share;
  double in_place_b =
      costs->is_kept ? 0 : products * costs->side.b_share + ragged_columns(grid) * k * row_blocks;
  grid->pack_a = costs->side.must_pack_a || wished(costs->wish->packs_a, pack_a < in_place_a);
  grid->pack_b = !costs->is_kept &&
                 (costs->side.must_pack_b || wished(costs->wish->packs_b, pack_b < in_place_b));
  double streams = n * k * row_blocks * STREAM_CLOCKS + m * k * column_blocks * costs->stream_a;
  double pieces = (double)divide_up(grid->k, grid->k_block) - 1;
  double sums = is_of_matrices(grid) ? pieces * m * n * PIECE_CLOCKS : 0;
  return (double)grid->batch * (products + streams + sums + (grid->pack_a ? pack_a : in_place_a) +
                                (grid->pack_b ? pack_b : in_place_b)) +
         TASK_CLOCKS * (double)grid->tasks;
}

/* Into as few pieces of about the same depth as may be, of whole chains of a tile: so the bits are those of the depth as a
 * whole, as it is where weights are kept. */
static void cut_depth_of_matrices(ContractGrid *grid, int64_t most) {
  int64_t pieces = greatest(divide_up(grid->k, most), 1), unit = pieces > 1 ? TILE_CHAIN : 8;
  grid->k_block = greatest(align_up(divide_up(grid->k, pieces), unit), unit);
}

/* Elements of 16 bits are half as long, and pieces are whole steps of a matrix unit. */
static void cut_depth(ContractGrid *grid, int64_t whole) {
  if (is_of_matrices(grid)) {
    cut_depth_of_matrices(grid, MOST_DEPTH);
    return;
  }
  int64_t times = grid->is_bf16 ? 2 : 1, unit = grid->on_unit ? MATRIX_SIDE : 8;
  int64_t pieces = grid->k <= whole * times ? 1 : divide_up(grid->k, DEPTH_PIECE * times);
  grid->k_block = greatest(align_up(divide_up(grid->k, pieces), unit), unit);
}

/* The width of blocks to try after `n`: panels that are kept are whole, or all in one block. */
static int64_t next_width(int64_t n, int64_t step, int64_t columns, bool is_kept) {
  return is_kept && n < columns && n + step > columns ? columns : n + step;
}

/* Returns the clocks. */
static double choose_blocks(ContractGrid *grid, const Costs *costs, bool is_serial, int64_t size) {
  ContractGrid best = *grid;
  double least_clocks = INFINITY;
  bool is_high = grid->height == TILE_ROWS && grid->m > 2 * ROW_STEP;
  int64_t row_step = grid->on_unit ? MATRIX_SIDE : is_high ? ROW_STEP : grid->height;
  int64_t column_step = grid->on_unit ? MATRIX_SIDE : costs->is_kept ? TILE_COLUMNS : COLUMN_STEP;
  int64_t narrowest = grid->on_unit ? MATRIX_SIDE : TILE_COLUMNS;
  int64_t rows = align_up(greatest(grid->m, 1), row_step);
  int64_t columns = align_up(greatest(grid->n, 1), grid->on_unit ? MATRIX_SIDE : COLUMN_STEP);
  const Wish *wish = costs->wish;
  int64_t most_rows = wish->most_rows > 0 ? wish->most_rows : MOST_ROWS;
  int64_t most_columns = wish->most_columns > 0 ? wish->most_columns : MOST_COLUMNS;
  for (int64_t m = greatest(row_step, align_up(wish->least_rows, row_step));
       m <= least(rows, most_rows); m += row_step)
    for (int64_t n =
             greatest(least(columns, narrowest), align_up(wish->least_columns, column_step));
         n <= least(columns, most_columns);
         n = next_width(n, column_step, columns, costs->is_kept)) {
      ContractGrid tried = *grid;
      tried.m_block = greatest(least(m, grid->m), 1);
      tried.n_block = n;
      cut(&tried, size);
      double time = clocks(&tried, costs);
      int64_t a_size = grid->is_bf16 ? size / 2 : size;
      if (tried.pack_a &&
          (tried.m_block + TILE_MAX_ROWS) * grid->k_block * a_size > costs->most_a_bytes)
        continue;
      if (time >= least_clocks) continue; /* uneven tasks only add to it */
      if (!is_serial) time *= 1 + imbalance(&tried, least_clocks / time - 1 + 1e-6);
      if (time >= least_clocks) continue;
      least_clocks = time;
      best = tried;
    }
  *grid = best;
  return least_clocks;
}

/* Where both sides of matrices are copied, pieces of half the depth leave room for more rows in a copy of a, so that fewer
 * blocks copy b; a piece more of the depth goes over the result once more. */
static double choose_depth(ContractGrid *grid, const Costs *costs, bool is_serial, int64_t size) {
  ContractGrid lower = *grid;
  double time = choose_blocks(grid, costs, is_serial, size);
  if (!is_of_matrices(grid) || !grid->pack_a || !grid->pack_b) return time;
  cut_depth_of_matrices(&lower, MOST_DEPTH / 2);
  if (lower.k_block == grid->k_block) return time;
  double lower_time = choose_blocks(&lower, costs, is_serial, size);
  if (lower_time >= time) return time;
  *grid = lower;
  return lower_time;
}

/* ---- products in pieces ---- */

double contract_pieces_clocks(const ProductShape *product, int64_t pieces) {
  static const Wish none = {0};
  static const double LAUNCH_CLOCKS = 20000, /* to join, and of the wait for all pieces */
      JOIN_CLOCKS = 1.5;                     /* to write an element of a piece, and to add it */
  ContractGrid grid = {.batch = product->batches * pieces,
                       .m = product->rows,
                       .n = product->columns,
                       .k = product->depth / pieces};
  if (dtype_is_half(product->dtype) || least(grid.m, grid.n) < VECTOR ||
      greatest(grid.m, grid.n) < TILE_COLUMNS)
    return pieces == 1 ? 0 : INFINITY; /* such products need not be copied */
  Costs costs = {.side = {.pack_a = COPY_CLOCKS * FAR_TIMES,
                          .pack_b = COPY_CLOCKS * FAR_TIMES,
                          .must_pack_a = true,
                          .must_pack_b = true},
                 .stream_a = STREAM_CLOCKS,
                 .wish = &none,
                 .most_a_bytes = MOST_A_BYTES};
  grid.height = even_tile_height(grid.m);
  cut_depth_of_matrices(&grid, MOST_DEPTH);
  double clocks = choose_depth(&grid, &costs, false, dtype_size(product->dtype));
  if (pieces == 1) return clocks;
  return clocks + LAUNCH_CLOCKS + JOIN_CLOCKS * (double)(pieces * product_results(product));
}

/* ---- tiles that are the result ---- */

int64_t kernel_flat_stride(const Kernel *kernel, const int64_t *coefficient, int first, int end) {
  int64_t stride = end > first ? coefficient[end - 1] : 0, below = stride;
  for (int i = end - 1; i >= first; i--) {
    if (coefficient[i] != below) return 0;
    below *= kernel->extent[i];
  }
  return stride;
}

/* A plain product whose vectors are whole and lie in the result as in the tile is computed there. */
static void store_tiles(const Kernel *kernel, ContractGrid *grid) {
  int64_t base, coefficient[KERNEL_MAX_AXES];
  const ContractSlots *slots = &kernel->contract;
  const Store *store = &kernel->epilogue[0];
  int m = slots->batch.count, n = m + slots->m.count, end = n + slots->n.count;
  if (grid->way == CONTRACT_AXPY || kernel->epilogue_count != 1 ||
      store->value->kind != EXPR_RESULT || grid->k == 0 ||
      kernel->operands[store->operand].dtype != kernel_sum_type(kernel) ||
      kernel->axis_count != end ||
      !index_is_affine(store->index, kernel->axis_count, &base, coefficient) ||
      (grid->k <= grid->k_block && grid->way == CONTRACT_TILES &&
       epilogue_streams(kernel, store, grid->swap ? m : n, grid->swap ? n : end)))
    return;
  int64_t row = kernel_flat_stride(kernel, coefficient, m, n);
  int64_t column = kernel_flat_stride(kernel, coefficient, n, end);
  if (grid->swap) {
    int64_t other = row;
    row = column;
    column = other;
  }
  if (row == 0 && grid->m == 1 && grid->way == CONTRACT_DOTS) row = grid->n; /* there is no next */
  if (column != 1 || row == 0 || (grid->n % VECTOR != 0 && grid->way == CONTRACT_TILES)) return;
  grid->stores_tiles = true;
  grid->result_row = row;
}

/* The taps of each line are one run, and positions follow each other closer than it is long, so that the lines take less
 * memory than a copy for the taps. Tiles are whole, so their sums have a place of their own. */
static bool reads_runs(const Kernel *kernel, const WindowProduct *window,
                       const ContractGrid *grid) {
  if (window->side != WINDOW_ROWS || window->taps.count == 0) return false;
  DType sum = kernel_sum_type(kernel);
  bool has_runs = window->channel == 1 && window->taps.items[0].span > 1 &&
                  window->step[2] <= window->taps.items[0].span;
  bool is_whole = grid->batch == 1 && window->phases == 1 && grid->k_block >= grid->k &&
                  kernel->contract.batch.count == 0;
  return (sum == DTYPE_F32 || sum == DTYPE_F64) && !grid->on_unit &&
         kernel->operands[0].dtype == sum && has_runs && is_whole && grid->height == TILE_ROWS;
}

/* Rows of sums and groups of packed columns are no power of 2 apart: GROUP_SLACK is what the latter
 * take for it, by column, where groups are narrowest. */
static void take_memory(ContractGrid *grid, int64_t size) {
  enum { GROUP_SLACK = 4, LINES = 4 /* that are written side by side, at most */ };
  bool keeps_sums = contract_keeps_sums(grid);
  grid->keeps_b = grid->keeps_b && grid->pack_b;
  int64_t columns = packed_columns(grid);
  int64_t rows = grid->m_block + TILE_MAX_ROWS, depth = grid->k_block + GROUP_SLACK;
  if (grid->way == CONTRACT_LINES) rows = LINES;
  if (grid->on_unit) { /* whole tiles, or pairs, or widened */
    rows = align_up(grid->m_block, MATRIX_SIDE) + TILE_MAX_ROWS;
    depth = align_up(grid->k_block, MATRIX_SIDE) + MATRIX_SIDE;
  }
  int64_t pieces = grid->keeps_b ? greatest(divide_up(grid->k, grid->k_block), 1) : 1;
  if (pieces > 1) grid->b_piece = columns * depth;
  grid->sums_row = keeps_sums || grid->way == CONTRACT_LINES || grid->way == CONTRACT_AXPY
                       ? align_up(grid->n_block, TILE_MAX_COLUMNS) + VECTOR
                       : TILE_MAX_COLUMNS;
  if (grid->pack_a) grid->a_bytes = align_64(rows * depth * size);
  grid->b_bytes = align_64((grid->pack_b ? columns * pieces : TILE_MAX_COLUMNS) * depth * size);
  grid->kept_bytes = align_64((grid->n + TILE_MAX_COLUMNS) * (grid->k + GROUP_SLACK) * size);
  if (grid->is_kept || grid->way != CONTRACT_TILES) grid->b_bytes = 0;
  if (!grid->stores_tiles) grid->tile_bytes = align_64(rows * grid->sums_row * size);
}

/* Whether panels hold pairs along k, which must not be cut by where its axes end. */
static bool has_pairs(const Kernel *kernel, const WindowProduct *window) {
  const AxisGroup *k = &kernel->contract.k;
  WindowSide side = window ? window->side : WINDOW_NONE;
  if (!kernel_multiplies_bf16(kernel)) return false;
  if (side == WINDOW_ROWS)
    return window->place_channels % 2 == 0 ||
           (window->channel == 1 && window_weights_follow(window));
  bool is_linear = side == WINDOW_COLUMNS
                       ? axis_group_is_linear(k, window->swap ? 1 : 0)
                       : axis_group_is_linear(k, 0) && axis_group_is_linear(k, 1);
  return is_linear || k->extent[k->count - 1] % 2 == 0;
}

/* Whether rows of `a` are lines of pairs where they lie, and steps of a matrix unit are whole. */
static bool has_lines(const Kernel *kernel, const ContractGrid *grid, Side a) {
  const AxisGroup *k = &kernel->contract.k;
  return grid->is_bf16 && grid->k % MATRIX_SIDE == 0 && grid->k > 0 &&
         axis_group_is_linear(k, a.slot) && side_inner_stride(k, a.slot) == 1 &&
         a.outer->count > 0 && axis_group_is_linear(a.outer, a.slot) &&
         side_inner_stride(a.outer, a.slot) % 2 == 0;
}

/* ---- convolutions: window.h ---- */

enum { WINDOW_ROW_SLACK = 16 }; /* elements: rows of what a window sees are no power of 2 apart */

/* Clocks to copy an element that is read through windows: neighbours together, from near or far, or one by one. */
static double window_clocks(const WindowProduct *window, bool is_far) {
  if (window->channel != 1) return 2;
  return (is_far ? .5 : .15) + 4.0 / (double)greatest(window->tap_channels, 1);
}

/* Units ask for nothing early. */
static void add_window_costs(const ContractGrid *grid, const Kernel *kernel,
                             const WindowProduct *window, const Side sides[2], Costs *costs) {
  bool is_rows = window->side == WINDOW_ROWS;
  bool is_far = !grid->on_unit && side_distance(kernel, sides[is_rows ? 0 : 1]) > 1;
  if (is_rows) {
    costs->side.pack_a = window_clocks(window, is_far);
    if (is_far) costs->most_a_bytes = MOST_FETCHED_BYTES;
    costs->side.must_pack_a = costs->side.must_pack_b = true;
  } else if (window->side == WINDOW_COLUMNS) {
    costs->side.pack_b = window_clocks(window, is_far);
    costs->side.must_pack_b = true;
  }
}

/* Pieces of the depth end where taps do, if these are no longer; a pair is not cut. */
static void cut_by_taps(ContractGrid *grid, const WindowProduct *window) {
  int64_t channels = greatest(window->tap_channels, 1);
  if (window->side != WINDOW_ROWS || grid->k_block >= grid->k || channels > grid->k_block) return;
  if (grid->is_bf16 && channels % 2 != 0) return;
  grid->k_block = grid->k_block / channels * channels;
}

/* ---- products that go through a large side once: nnc_thin.h ---- */

enum {
  /* At most those of a group, which are worth it however tiles are filled, or so many that would fill tiles badly, with
   * columns ... */
  MOST_DOT_ROWS = 24,
  LEAST_DOT_COLUMNS = 256, /* ... enough for tasks, ... */
  LEAST_LONG_DOTS = 128,   /* ... and of such a depth, */
  LEAST_DOTS = 64,         /* where else one that pays for adding the lanes is enough */
  LINE_DEPTH = 8,          /* at most: elements of a for each line that stay in registers */
  LEAST_LINE = 64,         /* columns */
  LEAST_BYTES = 64 << 10   /* of the large side: else tiles are as fast */
};

/* Whether dots take less time than tiles, in which the rows are columns, up to whole vectors. */
static bool dots_gain(const Kernel *kernel, int64_t rows, int64_t columns, int64_t depth) {
  int64_t size = dtype_size(kernel_sum_type(kernel));
  /* A multiply-add takes so many times as long as in tiles; bytes of a vector. */
  double times = kernel->has_few_registers || size > 4 ? 1.35 : 1.1;
  int64_t vector = kernel->has_few_registers ? 32 : 64;
  if (depth < LEAST_DOTS || columns * depth * size < LEAST_BYTES) return false;
  if (rows <= DOT_GROUP_ROWS) return true;
  return rows <= MOST_DOT_ROWS && columns >= LEAST_DOT_COLUMNS && depth >= LEAST_LONG_DOTS &&
         times * (double)rows < (double)align_up(rows, vector / size);
}

/* Whether few rows and the lines of the other side, which is read once, take less time than tiles, whose panels are pieces
 * of lines: the more rows, the farther it must be that these wait for it. */
static bool axpy_gains(const Kernel *kernel, const Side *few, const Side *lines, int64_t depth) {
  static const struct {
    int64_t rows, bytes;
  } most[] = {{4, FAR_MATRIX_BYTES + 1}, {8, LAST_CACHE_BYTES}, {24, 4 * LAST_CACHE_BYTES}};
  int64_t rows = axis_group_extent(few->outer), columns = axis_group_extent(lines->outer);
  int64_t bytes = columns * depth * dtype_size(kernel_sum_type(kernel));
  if (depth <= LINE_DEPTH || columns < LEAST_AXPY_COLUMNS || !side_is_in_place(kernel, *few) ||
      !side_has_vectors(kernel, *lines))
    return false;
  for (size_t i = 0; i < sizeof most / sizeof *most; i++)
    if (rows <= most[i].rows) return bytes >= most[i].bytes;
  return false;
}

/* Sets the way, and which side is a, where tiles would do more than the product's own work. */
static void choose_way(const Kernel *kernel, const Wish *wish, ContractGrid *grid) {
  const ContractSlots *slots = &kernel->contract;
  Side left = contract_left(kernel), right = contract_right(kernel);
  int64_t m = axis_group_extent(left.outer), n = axis_group_extent(right.outer);
  int64_t k = axis_group_extent(&slots->k), size = dtype_size(kernel_sum_type(kernel));
  if (grid->on_unit || kernel->keeps_weights || wish->packs_a || wish->packs_b) return;
  if (side_has_lines(kernel, left) && side_has_lines(kernel, right) &&
      dots_gain(kernel, least(m, n), greatest(m, n), k)) {
    grid->way = CONTRACT_DOTS;
    grid->swap = n < m;
    return;
  }
  Side few = n < m ? right : left, lines = n < m ? left : right;
  if (axpy_gains(kernel, &few, &lines, k)) {
    grid->way = CONTRACT_AXPY;
    grid->swap = n < m;
    return;
  }
  Side a = grid->swap ? right : left, b = grid->swap ? left : right;
  if (k > 1 && k <= LINE_DEPTH && axis_group_extent(b.outer) >= LEAST_LINE &&
      m * n * size >= LEAST_BYTES && side_is_in_place(kernel, a) && side_has_vectors(kernel, b))
    grid->way = CONTRACT_LINES;
}

/* Lines are cut only where those of b would leave the first-level cache. */
static void cut_lines(ContractGrid *grid, int64_t size) {
  enum { NEAR_BYTES = 32 << 10, USUAL_TASKS = 16 };
  int64_t most = NEAR_BYTES / (LINE_DEPTH * size);
  int64_t pieces = divide_up(grid->n, most);
  grid->n_block = align_up(divide_up(grid->n, pieces), COLUMN_STEP);
  grid->m_block = least(grid->m, greatest(grid->m / USUAL_TASKS / ROW_STEP, 1) * ROW_STEP);
  cut(grid, size);
}

/* A task has a piece of each line. Long pieces come from memory by themselves; some tasks are enough for its speed. */
static void cut_axpy(ContractGrid *grid, int64_t size) {
  enum { LEAST_PIECE = 256, MOST_PIECE = 1024, USUAL_TASKS = 8 };
  int64_t piece = greatest(least(divide_up(grid->n, USUAL_TASKS), MOST_PIECE), LEAST_PIECE);
  grid->n_block = align_up(divide_up(grid->n, divide_up(grid->n, piece)), COLUMN_STEP);
  grid->m_block = grid->m;
  cut(grid, size);
}

/* Fills in the blocks of a product of which it is known which side is a; returns the clocks. */
static double fill_grid(const Kernel *kernel, const WindowProduct *window, const Wish *wish,
                        ContractGrid *grid) {
  Side left = contract_left(kernel), right = contract_right(kernel);
  Side a = grid->swap ? right : left, b = grid->swap ? left : right;
  grid->batch = axis_group_extent(&kernel->contract.batch);
  grid->m = axis_group_extent(a.outer);
  grid->n = axis_group_extent(b.outer);
  grid->k = axis_group_extent(&kernel->contract.k);
  grid->height = even_tile_height(grid->m);
  int64_t size = dtype_size(kernel_sum_type(kernel));
  Costs costs = {.side = contract_side_costs(kernel, a, b),
                 .stream_a = STREAM_CLOCKS,
                 .wish = wish,
                 .most_a_bytes = MOST_A_BYTES};
  if (is_of_matrices(grid)) costs.stream_a *= side_distance(kernel, a);
  if (grid->way != CONTRACT_TILES) costs = (Costs){.wish = wish, .most_a_bytes = MOST_A_BYTES};
  if (window) add_window_costs(grid, kernel, window, (Side[]){a, b}, &costs);
  if (grid->is_x3) costs.side.must_pack_a = costs.side.must_pack_b = true;
  grid->is_kept = costs.is_kept = kernel->keeps_weights;
  grid->reads_lines = (!window || window->side != WINDOW_ROWS) && has_lines(kernel, grid, a);
  if (grid->reads_lines) costs.side.pack_a = 0;
  cut_depth(grid, IN_PLACE_DEPTH);
  double clocks = 0;
  if (grid->way == CONTRACT_LINES) cut_lines(grid, size);
  else if (grid->way == CONTRACT_AXPY) cut_axpy(grid, size);
  else clocks = choose_blocks(grid, &costs, kernel->is_serial, size);
  if (grid->pack_a || grid->pack_b) {
    cut_depth(grid, WHOLE_DEPTH);
    if (window) cut_by_taps(grid, window);
    clocks = choose_depth(grid, &costs, kernel->is_serial, size);
  }
  if (grid->way != CONTRACT_TILES) grid->k_block = align_up(grid->k, 8);
  return clocks;
}

/* The other side as a, where tiles could have either, if that takes clearly fewer clocks. A result that is stored across
 * its tiles' rows takes some, too. */
static void fill_better_grid(const Kernel *kernel, const Wish *wish, ContractGrid *grid) {
  static const double TURN_CLOCKS = 2, CLEARLY = .97;
  ContractGrid grids[2] = {*grid, *grid};
  double clocks[2];
  for (int i = 0; i < 2; i++) {
    grids[i].swap = i;
    clocks[i] = fill_grid(kernel, NULL, wish, &grids[i]);
  }
  clocks[!contract_is_turned(kernel)] +=
      TURN_CLOCKS * (double)(grids[0].batch * grids[0].m * grids[0].n);
  bool others = clocks[!grid->swap] < CLEARLY * clocks[grid->swap];
  *grid = grids[grid->swap != others];
}

/* Whether it is a gradient in weights of single places with few channels on a side. Memory is what takes its time, so it
 * matters which side is a, whereas the sums of others had better stay in the result of lower pieces. */
static bool is_thin_gradient(const Kernel *kernel, const WindowProduct *window) {
  int64_t m = axis_group_extent(&kernel->contract.m), n = axis_group_extent(&kernel->contract.n);
  return window->side == WINDOW_NONE && window->swap && least(m, n) < TILE_COLUMNS &&
         greatest(m, n) >= TILE_COLUMNS;
}

ContractGrid contract_wished_grid(const Kernel *kernel, const WindowProduct *window,
                                  const Wish *wish) {
  ContractGrid grid = {.is_bf16 = has_pairs(kernel, window), .is_x3 = kernel->is_x3};
  grid.on_unit = grid.is_bf16 || grid.is_x3;
  grid.is_window = window && !is_thin_gradient(kernel, window);
  grid.swap = window ? window->swap : contract_swaps(kernel);
  if (!window) choose_way(kernel, wish, &grid);
  if (is_of_matrices(&grid) && grid.way == CONTRACT_TILES && !kernel->keeps_weights)
    fill_better_grid(kernel, wish, &grid);
  else fill_grid(kernel, window, wish, &grid);
  int64_t size = dtype_size(kernel_sum_type(kernel));
  grid.reads_runs = window && reads_runs(kernel, window, &grid);
  if (!grid.reads_runs && (!window || window->phases == 1)) store_tiles(kernel, &grid);
  take_memory(&grid, size);
  if (window && window->side == WINDOW_ROWS)
    grid.a_bytes = align_64((align_up(grid.m_block, MATRIX_SIDE) + TILE_MAX_ROWS) *
                            (align_up(grid.k_block, MATRIX_SIDE) + WINDOW_ROW_SLACK) * size);
  return grid;
}

const char *contract_text(Arena *arena, const Kernel *kernel, const WindowProduct *window) {
  ContractGrid grid = contract_grid(kernel, window);
  const char *copied = grid.way != CONTRACT_TILES   ? "read once"
                       : grid.pack_a && grid.pack_b ? "both sides copied"
                       : grid.pack_a                ? "rows copied"
                       : grid.pack_b                ? "columns copied"
                                                    : "read in place";
  return arena_printf(arena, "%lld block%s of %lld x %lld, %s", (long long)grid.tasks,
                      grid.tasks == 1 ? "" : "s", (long long)grid.m_block, (long long)grid.n_block,
                      copied);
}
