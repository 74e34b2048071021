/* How the sides of a contraction are read: see contract_sides.h.
 *
 * What a side costs depends on how it is read. Packed, it is copied once for each block of the other side, and the
 * tile's loop then reads consecutive addresses. In place, the copy is saved, but rows that lie far apart miss the caches
 * and the table of pages. */
#include "backend/c/contract_sides.h"

#include "backend/c/tiles.h"
#include "support/integers.h"

Side contract_left(const Kernel *kernel) {
  return (Side){&kernel->contract.m, 0, kernel->operands[0].dtype};
}

Side contract_right(const Kernel *kernel) {
  return (Side){&kernel->contract.n, 1, kernel->operands[1].dtype};
}

static bool is_flat(const AxisGroup *group) { return group->count <= 1; }

static int64_t only_stride(const AxisGroup *group, int slot) {
  return group->count == 0 ? 1 : group->stride[slot][0];
}

int64_t side_inner_stride(const AxisGroup *group, int slot) {
  return group->count == 0 ? 1 : group->stride[slot][group->count - 1];
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

bool side_is_in_place(const Kernel *kernel, Side side) {
  return side.dtype == kernel_sum_type(kernel) && is_flat(side.outer) &&
         is_flat(&kernel->contract.k);
}

bool side_has_vectors(const Kernel *kernel, Side side) {
  return side_is_in_place(kernel, side) &&
         (axis_group_extent(side.outer) == 1 || only_stride(side.outer, side.slot) == 1);
}

bool side_has_lines(const Kernel *kernel, Side side) {
  return side_is_in_place(kernel, side) && only_stride(&kernel->contract.k, side.slot) == 1;
}

/* ---- what reading costs, in clocks of an element ----
 *
 * Shares and limits are those of a Zen 4 core (1 MiB of second-level cache), on which products of
 * many sizes were timed with each side packed and in place; see docs/architecture.md. With 16 registers a tile has
 * half the rows and half the columns, and fetches nothing early (nnc_gemm.h): the shares of `a` in columns and of `b` are
 * those of a Zen 3 core then. */

enum {
  CONFLICTING_BYTES = 1024, /* rows a multiple of this apart lie in few sets of a cache */
  CONFLICTING_ROWS = 64,    /* of them to drive each other out */
  FEW_ROWS = 64             /* of a: fewer are so few tiles that no copy of b pays */
};

/* Twice as many from memory or the last cache, whose rows arrive too late. */
double side_distance(const Kernel *kernel, Side side) {
  const KernelOperand *operand = &kernel->operands[side.slot];
  return operand->elements * dtype_size(operand->dtype) > FAR_SIDE_BYTES ? FAR_TIMES : 1;
}

static double pack_clocks(const Kernel *kernel, Side side) {
  double far = side_distance(kernel, side);
  bool is_half = dtype_is_half(side.dtype) && kernel_sum_type(kernel) == DTYPE_F32;
  if (side.dtype != kernel_sum_type(kernel) && !is_half) return 1.5 * far;
  if (side_inner_stride(side.outer, side.slot) == 1) return COPY_CLOCKS * far;
  bool has_lines = side_inner_stride(&kernel->contract.k, side.slot) == 1;
  return has_lines ? .9 : 1.5 * far; /* many lines of the depth go on side by side */
}

/* Many rows this far apart drive each other out of a cache. */
static bool is_conflicting(Side side, int64_t stride) {
  return stride * dtype_size(side.dtype) % CONFLICTING_BYTES == 0;
}

static bool has_conflicts(Side side, int64_t stride, int64_t rows) {
  return rows >= CONFLICTING_ROWS && is_conflicting(side, stride);
}

/* Of each of the multiply-adds, as a share of one clock: its element of `a` in place. */
static double a_share(const Kernel *kernel, Side a) {
  const AxisGroup *k = &kernel->contract.k;
  int64_t depth = axis_group_extent(k), stride = only_stride(k, a.slot);
  if (has_conflicts(a, stride, depth)) return 1;
  if (stride != 1) return kernel->has_few_registers ? .1 : .02;
  bool has_rows = axis_group_extent(a.outer) > 1;
  return has_rows && is_conflicting(a, only_stride(a.outer, a.slot)) ? .03 : .01;
}

/* The same of b, whose panels are read once for each tile of rows: few tiles gain nothing. */
static double b_share(const Kernel *kernel, Side b, int64_t rows) {
  const AxisGroup *k = &kernel->contract.k;
  int64_t depth = axis_group_extent(k), stride = only_stride(k, b.slot);
  if (rows < FEW_ROWS) return 0;
  if (axis_group_extent(b.outer) <= TILE_COLUMNS && stride <= TILE_COLUMNS) return 0;
  if (has_conflicts(b, stride, depth)) return .6;
  return kernel->has_few_registers ? .35 : .15;
}

SideCosts contract_side_costs(const Kernel *kernel, Side a, Side b) {
  SideCosts costs = {.pack_a = pack_clocks(kernel, a),
                     .pack_b = pack_clocks(kernel, b),
                     .must_pack_a = !side_is_in_place(kernel, a),
                     .must_pack_b = !side_has_vectors(kernel, b)};
  if (!costs.must_pack_a) costs.a_share = a_share(kernel, a);
  if (!costs.must_pack_b) costs.b_share = b_share(kernel, b, axis_group_extent(a.outer));
  return costs;
}

/* Estimated clocks of everything but the multiply-adds, with `b` as vectors. */
static double side_cost(const Kernel *kernel, Side a, Side b, bool result_transposed) {
  double m = (double)axis_group_extent(a.outer), n = (double)axis_group_extent(b.outer);
  double k = (double)axis_group_extent(&kernel->contract.k);
  double cost = 0;
  if (!side_has_vectors(kernel, b)) cost += 1.5 * n * k;
  if (!side_is_in_place(kernel, a)) cost += 1.5 * m * k;
  if (result_transposed) cost += 1.5 * m * n;
  double columns = (double)align_up((int64_t)n, VECTOR);
  return cost + (columns - n) * m * k / VECTOR;
}

bool contract_swaps(const Kernel *kernel) {
  Side left = contract_left(kernel), right = contract_right(kernel);
  const ContractSlots *slots = &kernel->contract;
  bool row_result = axis_group_extent(&slots->n) == 1 || is_contiguous(&slots->n, 2);
  bool column_result =
      is_flat(&slots->m) && axis_group_extent(&slots->m) > 1 && only_stride(&slots->m, 2) == 1;
  if (is_flat(&slots->m) && contract_is_turned(kernel)) {
    row_result = false;
    column_result = true;
  }
  return side_cost(kernel, right, left, !column_result) <
         side_cost(kernel, left, right, !row_result && column_result);
}
