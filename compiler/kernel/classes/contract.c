/* Contractions: result[b,m,n] = sum_k left[b,m,k] * right[b,k,n], each side a strided view. */
#include <string.h>

#include "kernel/builder.h"
#include "kernel/class.h"
#include "support/integers.h"

#define AXES(group)                                                                                \
  static const Field group##_axes[] = {                                                            \
      SLOT(" ", contract.group.extent[0], 0),                                                      \
      SLOT(" strides ", contract.group.stride[0][0], 0),                                           \
      SLOT(" ", contract.group.stride[1][0], 0),                                                   \
      SLOT(" ", contract.group.stride[2][0], 0),                                                   \
  };
AXES(batch)
AXES(m)
AXES(n)
AXES(k)
#define GROUP(words, group)                                                                        \
  FIELD(words, ROWS, Kernel, contract.group.count, .most = MAX_RANK, .between = ",",               \
        .columns = RECORD(group##_axes))

static const Field contract_slots[] = {
    GROUP("  batch:", batch), GROUP("\n  m:", m),  GROUP("\n  n:", n),
    GROUP("\n  k:", k),       FIELD_LITERAL("\n"),
};

int64_t axis_group_extent(const AxisGroup *group) {
  return extent_product(group->extent, group->count);
}

bool axis_group_is_linear(const AxisGroup *group, int slot) {
  const int64_t *stride = group->stride[slot];
  for (int i = 0; i + 1 < group->count; i++)
    if (stride[i] != stride[i + 1] * group->extent[i + 1]) return false;
  return true;
}

/* Up to the last element of a side. */
static int64_t contract_reads(const Kernel *kernel, int operand) {
  const ContractSlots *slots = &kernel->contract;
  const AxisGroup *groups[] = {&slots->batch, &slots->m, &slots->n, &slots->k};
  int64_t reach = 1;
  if (operand >= 2) return -1;
  for (int g = 0; g < 4; g++)
    for (int i = 0; i < groups[g]->count; i++) {
      if (groups[g]->extent[i] == 0) return 0;
      int64_t way[] = {groups[g]->extent[i] - 1, groups[g]->stride[operand][i]};
      if (__builtin_add_overflow(reach, extent_product(way, 2), &reach)) return INT64_MAX;
    }
  return reach;
}

static int64_t contract_results(const Kernel *kernel) {
  const ContractSlots *slots = &kernel->contract;
  return extent_product((int64_t[]){axis_group_extent(&slots->batch), axis_group_extent(&slots->m),
                                    axis_group_extent(&slots->n)},
                        3);
}

/* ---- evaluation ---------------------------------------------------------------------------- */

/* Offset in slot `slot` of element `number` of the group. */
static int64_t group_offset(const AxisGroup *group, int slot, int64_t number) {
  int64_t offset = 0;
  for (int i = group->count - 1; i >= 0; i--) {
    offset += number % group->extent[i] * group->stride[slot][i];
    number /= group->extent[i];
  }
  return offset;
}

static void contract_evaluate(const Kernel *kernel, const KernelReader *reader, double *result) {
  const ContractSlots *slots = &kernel->contract;
  int64_t at = 0, depth = axis_group_extent(&slots->k);
  for (int64_t b = 0; b < axis_group_extent(&slots->batch); b++)
    for (int64_t m = 0; m < axis_group_extent(&slots->m); m++)
      for (int64_t n = 0; n < axis_group_extent(&slots->n); n++, at++) {
        int64_t left = group_offset(&slots->batch, 0, b) + group_offset(&slots->m, 0, m);
        int64_t right = group_offset(&slots->batch, 1, b) + group_offset(&slots->n, 1, n);
        for (int64_t k = 0; k < depth; k++)
          result[at] += reader_load(reader, 0, left + group_offset(&slots->k, 0, k)) *
                        reader_load(reader, 1, right + group_offset(&slots->k, 1, k));
      }
}

/* ---- joined axes --------------------------------------------------------------------------- */

static bool group_can_collapse(const AxisGroup *group, int axis) {
  for (int slot = 0; slot < 3; slot++)
    if (group->stride[slot][axis] != group->stride[slot][axis + 1] * group->extent[axis + 1])
      return false;
  return true;
}

static void group_collapse(AxisGroup *group, int axis) {
  for (int slot = 0; slot < 3; slot++) {
    group->stride[slot][axis] = group->stride[slot][axis + 1];
    for (int i = axis + 1; i + 1 < group->count; i++)
      group->stride[slot][i] = group->stride[slot][i + 1];
  }
  group->extent[axis] *= group->extent[axis + 1];
  for (int i = axis + 1; i + 1 < group->count; i++) group->extent[i] = group->extent[i + 1];
  group->count--;
}

static void contract_collapse(Arena *arena, Kernel *kernel) {
  AxisGroup *groups[3] = {&kernel->contract.batch, &kernel->contract.m, &kernel->contract.n};
  int first = 0;
  for (int g = 0; g < 3; g++) {
    for (int i = 0; i + 1 < groups[g]->count;) {
      if (group_can_collapse(groups[g], i) && kernel_collapse_pair(arena, kernel, first + i))
        group_collapse(groups[g], i);
      else i++;
    }
    first += groups[g]->count;
  }
  AxisGroup *k = &kernel->contract.k;
  for (int i = 0; i + 1 < k->count;)
    if (group_can_collapse(k, i)) group_collapse(k, i);
    else i++;
  /* What is left of n may be one axis to the epilogue all the same. */
  for (int axis = kernel->contract.batch.count + kernel->contract.m.count;
       axis > 0 && axis + 1 < kernel->axis_count;)
    if (!kernel_collapse_pair(arena, kernel, axis)) axis++;
}

/* ---- turned results ------------------------------------------------------------------------ */

bool contract_is_turned(const Kernel *kernel) {
  int64_t base, coefficient[KERNEL_MAX_AXES];
  int columns = kernel->contract.batch.count + kernel->contract.m.count;
  if (kernel->contract.m.count == 0 || kernel->epilogue_count == 0 ||
      !index_is_affine(kernel->epilogue[0].index, kernel->axis_count, &base, coefficient))
    return false;
  for (int i = columns; i < kernel->axis_count; i++)
    if (coefficient[i] == 1) return false;
  return coefficient[columns - 1] == 1;
}

static void move_first_axis(AxisGroup *from, AxisGroup *to) {
  int at = to->count++, left = --from->count;
  to->extent[at] = from->extent[0];
  memmove(from->extent, from->extent + 1, sizeof *from->extent * (size_t)left);
  for (int slot = 0; slot < 3; slot++) {
    to->stride[slot][at] = from->stride[slot][0];
    memmove(from->stride[slot], from->stride[slot] + 1, sizeof *from->stride[slot] * (size_t)left);
  }
}

void kernel_part_turned_rows(Kernel *kernel) {
  enum { LEAST_ROWS = 64 };
  AxisGroup *rows = &kernel->contract.m;
  if (kernel->kind != KERNEL_CONTRACT || rows->count < 2 ||
      rows->extent[rows->count - 1] < LEAST_ROWS || !contract_is_turned(kernel))
    return;
  while (rows->count > 1) move_first_axis(rows, &kernel->contract.batch);
}

/* ---- blocks -------------------------------------------------------------------------------- */

/* The group to which the domain's first axis belongs. */
static AxisGroup *first_group(ContractSlots *slots) {
  return slots->batch.count > 0 ? &slots->batch : slots->m.count > 0 ? &slots->m : &slots->n;
}

static int64_t reach(const AxisGroup *group, int slot, int from) {
  int64_t reach = 0;
  for (int i = from; i < group->count; i++)
    reach += (group->extent[i] - 1) * group->stride[slot][i];
  return reach;
}

/* Side 0 or 1: rows of its own for each element of the first axis, or all of it. */
static bool can_block_side(const Kernel *kernel, int side, bool *is_part) {
  ContractSlots slots = kernel->contract;
  const AxisGroup *groups[] = {&slots.batch, &slots.m, &slots.n, &slots.k};
  const AxisGroup *first = first_group(&slots);
  int64_t row = first->stride[side][0], others = 0;
  *is_part = row != 0;
  for (int i = 0; i < 4; i++) others += reach(groups[i], side, groups[i] == first);
  return row == 0 || (row * first->extent[0] == kernel->operands[side].elements && others < row);
}

static bool contract_can_block(const Kernel *kernel, int64_t blocks, bool *parts) {
  ContractSlots slots = kernel->contract;
  const AxisGroup *first = first_group(&slots);
  return first->count > 0 && first->extent[0] % blocks == 0 &&
         can_block_side(kernel, 0, &parts[0]) && can_block_side(kernel, 1, &parts[1]);
}

static void contract_block(Kernel *kernel, int64_t blocks) {
  first_group(&kernel->contract)->extent[0] /= blocks;
}

const KernelClass kernel_class_contract = {
    .slots = RECORD(contract_slots),
    .reads = contract_reads,
    .results = contract_results,
    .evaluate = contract_evaluate,
    .collapse = contract_collapse,
    .can_block = contract_can_block,
    .block = contract_block,
    .trims_operands = true,
};
