/* Task grids: see tiles.h. */
#include "backend/c/tiles.h"
#include "kernel/builder.h"

enum {
  TASK_LEAST_WORK = 4096, /* element operations worth a task of their own */
  LOOP_MOST_TASKS = 64,
  ROW_WORK = 256,      /* element operations of a row that may be a task of its own */
  BLOCK_ALIGNMENT = 64 /* elements: no two tasks write one cache line */
};

/* Element operations at one point of the domain. */
static int64_t point_work(const Kernel *kernel) {
  int64_t work = 0;
  for (int i = 0; i < kernel->stage_count; i++) {
    int64_t inner = 1;
    for (int axis = 0; axis < kernel->stages[i].axis_count; axis++)
      inner *= kernel->stages[i].extent[axis];
    work += inner;
  }
  return greatest(work, 1);
}

/* Stride of a load along an axis; 0 when it is no affine one. */
static int64_t load_stride(const Expr *load, int axis_count, int axis) {
  int64_t base, coefficient[2 * KERNEL_MAX_AXES];
  if (!index_is_affine(load->index, axis_count, &base, coefficient)) return 0;
  return coefficient[axis] < 0 ? -coefficient[axis] : coefficient[axis];
}

bool runs_along_rows(const Kernel *kernel) {
  if (kernel->axis_count == 0) return true;
  Arena *scratch = arena_create();
  bool rows = true;
  for (int s = 0; s < kernel_stage_count(kernel); s++) {
    Stage stage = kernel_stage(kernel, s);
    int axes = kernel->axis_count + stage.axis_count;
    if (stage.axis_count == 0) continue;
    ExprList list = kernel_expressions(scratch, kernel, s);
    for (int i = 0; i < list.count; i++) {
      if (list.items[i]->kind != EXPR_LOAD) continue;
      int64_t column = load_stride(list.items[i], axes, kernel->axis_count - 1);
      int64_t row = load_stride(list.items[i], axes, axes - 1);
      /* A load that is the same in the whole inner loop says nothing. */
      if (column != 0 && row != 0 && column < row) rows = false;
    }
  }
  arena_destroy(scratch);
  return rows;
}

LoopGrid loop_grid(const Kernel *kernel) {
  LoopGrid grid = {.rows = 1, .last = 1};
  for (int i = 0; i + 1 < kernel->axis_count; i++) grid.rows *= kernel->extent[i];
  if (kernel->axis_count > 0) grid.last = kernel->extent[kernel->axis_count - 1];
  int64_t work = point_work(kernel);
  int64_t points = grid.rows * grid.last;
  int64_t most = kernel->is_serial ? 1 : LOOP_MOST_TASKS;
  int64_t wanted = least(most, greatest(1, points * work / TASK_LEAST_WORK));
  grid.block = greatest(grid.last, 1);
  grid.row_chunk = greatest(divide_up(grid.rows, wanted), 1);
  /* Rows of much work each may be tasks of their own, in whatever cache line their results lie. */
  bool are_rows = work >= ROW_WORK && runs_along_rows(kernel);
  int64_t alignment = are_rows ? 1 : BLOCK_ALIGNMENT;
  if (grid.rows < wanted && grid.last > alignment) {
    grid.row_chunk = 1;
    int64_t pieces = divide_up(wanted, greatest(grid.rows, 1));
    grid.block = align_up(divide_up(grid.last, pieces), alignment);
  }
  grid.blocks = greatest(divide_up(grid.last, grid.block), 1);
  /* Without rows, one task that finds nothing to do. */
  grid.tasks = greatest(divide_up(grid.rows, grid.row_chunk), 1) * grid.blocks;
  return grid;
}

/* ---- contractions ---- */

typedef struct Side { /* of a contraction, seen as a matrix [outer, k] */
  const AxisGroup *outer;
  int slot;
  DType dtype;
} Side;

static bool is_flat(const AxisGroup *group) { return group->count <= 1; }

static int64_t only_stride(const AxisGroup *group, int slot) {
  return group->count == 0 ? 1 : group->stride[slot][0];
}

/* Elements follow each other in memory. */
static bool is_contiguous(const AxisGroup *group, int slot) {
  int64_t stride = 1;
  for (int i = group->count - 1; i >= 0; i--) {
    if (group->stride[slot][i] != stride) return false;
    stride *= group->extent[i];
  }
  return true;
}

static bool reads_in_place(const Kernel *kernel, Side side) {
  return side.dtype == kernel_sum_type(kernel) && is_flat(side.outer) &&
         is_flat(&kernel->contract.k);
}

/* b is read in place when its vectors lie in memory as they are. */
static bool loads_vectors(const Kernel *kernel, Side side) {
  return reads_in_place(kernel, side) &&
         (axis_group_extent(side.outer) == 1 || only_stride(side.outer, side.slot) == 1);
}

/* A column of a row-major matrix whose rows are a multiple of this apart lies in few sets of a
 * cache. */
enum { CONFLICTING_BYTES = 1024, CONFLICTING_DEPTH = 64 };

/* Elements of `a` along k that would drive each other out of the cache. */
static bool has_conflicts(const Kernel *kernel, Side a) {
  const AxisGroup *k = &kernel->contract.k;
  int64_t bytes = only_stride(k, a.slot) * dtype_size(a.dtype);
  return reads_in_place(kernel, a) && k->count > 0 && bytes % CONFLICTING_BYTES == 0 &&
         axis_group_extent(k) >= CONFLICTING_DEPTH;
}

/* Estimated cost, in multiply-adds, of everything but the multiply-adds, with `b` as vectors. */
static double side_cost(const Kernel *kernel, Side a, Side b, bool result_transposed) {
  double m = (double)axis_group_extent(a.outer), n = (double)axis_group_extent(b.outer);
  double k = (double)axis_group_extent(&kernel->contract.k);
  double cost = 0;
  if (!loads_vectors(kernel, b)) cost += 24 * n * k;
  if (!reads_in_place(kernel, a)) cost += 24 * m * k;
  if (result_transposed) cost += 24 * m * n;
  double lanes = 16, columns = (double)align_up((int64_t)n, (int64_t)lanes);
  return cost + (columns - n) * m * k;
}

/* How even `tasks` equal tasks are on the usual numbers of threads: lost share, summed. */
static double imbalance(int64_t tasks) {
  double lost = 0;
  for (int threads = 2; threads <= 16; threads *= 2) {
    int64_t rounds = divide_up(tasks, threads);
    lost += ((double)(rounds * threads) / (double)tasks - 1) / threads;
  }
  return lost;
}

/* Columns of a task: few enough for balance, a multiple of the widest register tile if it can
 * be. */
static void cut_columns(ContractGrid *grid, bool is_serial) {
  double best = 1e300;
  grid->n_block = greatest(grid->n, 1);
  int64_t other = grid->batch * grid->m_blocks;
  for (int64_t columns = 48; columns <= 384; columns += 16) {
    int64_t blocks = divide_up(grid->n, columns);
    int64_t tasks = other * blocks;
    double waste = (double)(blocks * columns) / (double)greatest(grid->n, 1) - 1;
    double ragged = columns % 48 ? .03 : 0;
    double small = columns < 96 ? .01 : 0;
    double packing = grid->pack_a ? 16. / (double)columns : 0; /* each task packs its rows of a */
    double balance = is_serial ? 0 : imbalance(tasks);
    double score = balance + waste * .25 + ragged + small + packing;
    if (score < best && columns <= align_up(grid->n, 16)) {
      best = score;
      grid->n_block = columns;
    }
  }
  grid->n_blocks = greatest(divide_up(grid->n, grid->n_block), 1);
}

static void cut_rows(ContractGrid *grid) {
  enum { MOST_ROWS = 240 };
  int64_t blocks = greatest(divide_up(grid->m, MOST_ROWS), 1);
  grid->m_block = greatest(align_up(divide_up(grid->m, blocks), 8), 1);
  if (grid->m_block > grid->m) grid->m_block = greatest(grid->m, 1);
  grid->m_blocks = greatest(divide_up(grid->m, grid->m_block), 1);
}

ContractGrid contract_grid(const Kernel *kernel) {
  const ContractSlots *slots = &kernel->contract;
  Side left = {&slots->m, 0, kernel->operands[0].dtype};
  Side right = {&slots->n, 1, kernel->operands[1].dtype};
  bool row_result = axis_group_extent(&slots->n) == 1 || is_contiguous(&slots->n, 2);
  bool column_result =
      is_flat(&slots->m) && axis_group_extent(&slots->m) > 1 && only_stride(&slots->m, 2) == 1;
  ContractGrid grid = {0};
  grid.swap = side_cost(kernel, right, left, !column_result) <
              side_cost(kernel, left, right, !row_result && column_result);
  Side a = grid.swap ? right : left, b = grid.swap ? left : right;
  grid.pack_a = !reads_in_place(kernel, a) || has_conflicts(kernel, a);
  grid.pack_b = !loads_vectors(kernel, b);
  grid.batch = axis_group_extent(&slots->batch);
  grid.m = axis_group_extent(a.outer);
  grid.n = axis_group_extent(b.outer);
  grid.k = axis_group_extent(&slots->k);
  int64_t k_blocks = greatest(divide_up(grid.k, 1024), 1);
  grid.k_block = greatest(align_up(divide_up(grid.k, k_blocks), 8), 8);
  cut_rows(&grid);
  cut_columns(&grid, kernel->is_serial);
  grid.tasks = grid.batch * grid.m_blocks * grid.n_blocks;

  int64_t size = dtype_size(kernel_sum_type(kernel));
  int64_t panel_columns = align_up(grid.n_block, TILE_MAX_COLUMNS) + TILE_MAX_COLUMNS;
  if (grid.pack_a) grid.a_bytes = align_64((grid.m_block + TILE_MAX_ROWS) * grid.k_block * size);
  grid.b_bytes = align_64((grid.pack_b ? panel_columns : TILE_MAX_COLUMNS) * grid.k_block * size);
  grid.tile_bytes = align_64((grid.m_block + TILE_MAX_ROWS) * panel_columns * size);
  return grid;
}

LoopGrid rows_grid(const Kernel *kernel, int64_t rows, int64_t work) {
  LoopGrid grid = {.rows = rows, .blocks = 1};
  int64_t most = kernel->is_serial ? 1 : LOOP_MOST_TASKS;
  int64_t wanted = least(most, greatest(1, rows * work / TASK_LEAST_WORK));
  grid.row_chunk = greatest(divide_up(rows, wanted), 1);
  grid.tasks = divide_up(rows, grid.row_chunk);
  return grid;
}
