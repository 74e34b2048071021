/* Contractions of CUDA: products (product.h) of operands with strides. */
#include "backend/common/c.h"
#include "backend/cuda/tensor.h"
#include "backend/cuda/wgmma.h"
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

static bool strides_divide(const AxisGroup *group, int slot, int first, int end, int64_t each) {
  for (int i = first; i < end; i++)
    if (group->stride[slot][i] % each != 0) return false;
  return true;
}

/* See ProductText.matrices. */
static bool is_matrix(const KernelFunction *function, int side) {
  const ContractSlots *slots = &function->kernel->contract;
  int64_t each = TENSOR_CHUNK / dtype_size(function->kernel->operands[side].dtype);
  const AxisGroup *outer = side == 0 ? &slots->m : &slots->n;
  bool by_rows = depth_is_inner(slots, side);
  const AxisGroup *inner = by_rows ? &slots->k : outer, *other = by_rows ? outer : &slots->k;
  int last = inner->count - 1;
  return last >= 0 && inner->stride[side][last] == 1 &&
         (last == 0 || inner->extent[last] % each == 0) &&
         strides_divide(inner, side, 0, last, each) &&
         strides_divide(other, side, 0, other->count, each) &&
         strides_divide(&slots->batch, side, 0, slots->batch.count, each) &&
         function->alignments[side] >= TENSOR_CHUNK;
}

/* The number in its operand of the element `outer`, `depth` of a side. */
static const char *side_place(Arena *arena, const KernelFunction *function, int side) {
  const ContractSlots *slots = &function->kernel->contract;
  const char *const parts[] = {
      expression_group_offset(arena, &slots->batch, side, "batch"),
      expression_group_offset(arena, side == 0 ? &slots->m : &slots->n, side, "outer"),
      expression_group_offset(arena, &slots->k, side, "depth")};
  const char *at = NULL;
  for (int i = 0; i < 3; i++)
    if (parts[i]) at = at ? arena_printf(arena, "%s + %s", at, parts[i]) : parts[i];
  return at ? at : "0";
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
  cuda_write_epilogue(&code, function, "sum", kernel_sum_type(kernel));
  return text_take(&text, arena);
}

static const char *index_type(const Kernel *kernel, const ProductExtents *extents) {
  int64_t points = extent_product(kernel->extent, kernel->axis_count);
  return cuda_index_type(kernel, greatest(points, extents->depth));
}

static void contract_write(Code *code, KernelFunction *function) {
  const Kernel *kernel = function->kernel;
  Arena *arena = code->arena;
  ProductExtents extents = extents_of(kernel);
  ProductText text = {.index_type = index_type(kernel, &extents), .operands = {0, 1}};
  for (int side = 0; side < 2; side++) {
    const char *at = side_place(arena, function, side);
    const char *value = product_loaded(arena, function, &extents, side, at);
    text.sides[side] = arena_printf(arena, "value = %s;", value);
    text.depth_is_inner[side] = depth_is_inner(&kernel->contract, side);
    if (is_matrix(function, side))
      text.matrices[side] = arena_printf(arena, "%s[%s]", function->operands[side], at);
  }
  text.epilogue = epilogue_text(arena, function, text.index_type);
  product_write(code, function, &extents, &text);
}

static bool contract_find_form(const KernelFunction *function, CudaForm *form) {
  ProductExtents extents = extents_of(function->kernel);
  return wgmma_find_form(function, &extents, form);
}

static void contract_write_form(Code *code, KernelFunction *function) {
  ProductExtents extents = extents_of(function->kernel);
  ProductText text = {.index_type = index_type(function->kernel, &extents)};
  text.epilogue = epilogue_text(code->arena, function, text.index_type);
  wgmma_write(code, function, &extents, &text);
}

const CudaKernel cuda_kernel_contract = {.grid = contract_grid,
                                         .write = contract_write,
                                         .find_form = contract_find_form,
                                         .write_form = contract_write_form};
