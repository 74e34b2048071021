/* Contractions of CUDA: products (product.h) of operands with strides. */
#include "backend/common/c.h"
#include "backend/cuda/product.h"
#include "support/integers.h"

static ProductExtents extents_of(const Kernel *kernel) {
  const ContractSlots *slots = &kernel->contract;
  return (ProductExtents){axis_group_extent(&slots->batch), axis_group_extent(&slots->m),
                          axis_group_extent(&slots->n), axis_group_extent(&slots->k)};
}

static CudaGrid contract_grid(const Kernel *kernel) {
  ProductExtents extents = extents_of(kernel);
  return product_grid(kernel, &extents);
}

/* The offset that element `flat` of a group, a name, has in an operand; NULL: there are no axes. */
static const char *group_offset(Arena *arena, const AxisGroup *group, int slot, const char *flat) {
  const char *text = NULL;
  int64_t below = 1;
  for (int i = group->count - 1; i >= 0; i--) {
    const char *digit = flat;
    if (below > 1) digit = arena_printf(arena, "%s / %lld", digit, (long long)below);
    if (i > 0) digit = arena_printf(arena, "%s %% %lld", digit, (long long)group->extent[i]);
    int64_t stride = group->stride[slot][i];
    const char *term =
        stride == 1 ? digit : arena_printf(arena, "%s * %lld", digit, (long long)stride);
    text = text == NULL ? term : arena_printf(arena, "%s + %s", term, text);
    below *= group->extent[i];
  }
  return text;
}

static int64_t last_stride(const AxisGroup *group, int slot) {
  int64_t stride = group->count ? group->stride[slot][group->count - 1] : 0;
  return stride < 0 ? -stride : stride;
}

/* Whether neighbours along k lie closer together than neighbours along the other axis. */
static bool depth_is_inner(const ContractSlots *slots, int slot) {
  int64_t along_depth = last_stride(&slots->k, slot);
  int64_t along_outer = last_stride(slot == 0 ? &slots->m : &slots->n, slot);
  return along_depth != 0 && (along_outer == 0 || along_depth < along_outer);
}

static const char *side_text(Arena *arena, const KernelFunction *function, int side) {
  const ContractSlots *slots = &function->kernel->contract;
  const char *const parts[] = {
      group_offset(arena, &slots->batch, side, "batch"),
      group_offset(arena, side == 0 ? &slots->m : &slots->n, side, "outer"),
      group_offset(arena, &slots->k, side, "depth")};
  const char *at = NULL;
  for (int i = 0; i < 3; i++)
    if (parts[i]) at = at ? arena_printf(arena, "%s + %s", at, parts[i]) : parts[i];
  return arena_printf(arena, "value = %s;", cuda_loaded(arena, function, side, at ? at : "0"));
}

static const char *epilogue_text(Arena *arena, KernelFunction *function, const char *index_type) {
  const Kernel *kernel = function->kernel;
  const ContractSlots *slots = &kernel->contract;
  Text text = {0};
  Code code = {.arena = arena, .out = &text};
  int m_axis = slots->batch.count, n_axis = m_axis + slots->m.count;
  cuda_declare_axes(&code, function, index_type, 0, m_axis, "batch");
  cuda_declare_axes(&code, function, index_type, m_axis, n_axis, "row");
  cuda_declare_axes(&code, function, index_type, n_axis, kernel->axis_count, "column");
  cuda_write_epilogue(&code, function, "sums[r][c]", kernel_sum_type(kernel));
  return text_take(&text, arena);
}

static void contract_write(Code *code, KernelFunction *function) {
  const Kernel *kernel = function->kernel;
  ProductExtents extents = extents_of(kernel);
  int64_t points = extent_product(kernel->extent, kernel->axis_count);
  ProductText text = {.index_type = cuda_index_type(kernel, greatest(points, extents.depth))};
  for (int side = 0; side < 2; side++) {
    text.sides[side] = side_text(code->arena, function, side);
    text.depth_is_inner[side] = depth_is_inner(&kernel->contract, side);
  }
  text.epilogue = epilogue_text(code->arena, function, text.index_type);
  product_write(code, function, &extents, &text);
}

const CudaKernel cuda_kernel_contract = {.grid = contract_grid, .write = contract_write};
