/* Questions to a target's record: see target.h. */
#include "target/target.h"

#include "support/integers.h"
#include "support/panic.h"

static const TargetKernel *target_kernel(const Target *target, const Kernel *kernel) {
  const TargetKernel *own = target->kernels[kernel->kind];
  if (own == NULL) panic("target %s has no kernel of the kind of %s", target->name, kernel->name);
  return own;
}

int64_t target_task_count(const Target *target, const Kernel *kernel) {
  const TargetKernel *own = target_kernel(target, kernel);
  return own->tasks ? own->tasks(kernel) : 1;
}

int64_t target_worker_bytes(const Target *target, const Kernel *kernel) {
  const TargetKernel *own = target_kernel(target, kernel);
  return own->worker_bytes ? target_align(target, own->worker_bytes(kernel)) : 0;
}

int64_t target_variant_count(const Target *target, const Kernel *kernel) {
  const TargetKernel *own = target_kernel(target, kernel);
  return own->variants && !kernel->keeps_weights ? own->variants(kernel) : 1;
}

const char *target_variant_text(Arena *arena, const Target *target, const Kernel *kernel) {
  return target_kernel(target, kernel)->variant_text(arena, kernel);
}

int64_t target_kept_bytes(const Target *target, const Kernel *kernel) {
  return target->kept_bytes ? target_align(target, target->kept_bytes(kernel)) : 0;
}

bool target_packs_weights(const Target *target, const Kernel *kernel) {
  return target->packs_weights && target->packs_weights(kernel);
}

bool target_takes_pieces(const Target *target, const Kernel *kernel) {
  return target->takes_pieces && target->takes_pieces(kernel);
}

bool target_gains_by_winograd(const Target *target, const ConvSlots *slots, DType dtype,
                              bool is_weight) {
  return target->conv_gains_by_winograd && target->conv_gains_by_winograd(slots, dtype, is_weight);
}

int64_t reduction_pieces(const ReductionLimits *limits, int64_t extent) {
  for (int64_t pieces = limits->most_pieces; pieces >= limits->least_pieces; pieces--)
    if (extent % pieces == 0) return pieces;
  return 1;
}

int64_t product_results(const ProductShape *product) {
  return extent_product((int64_t[]){product->batches, product->rows, product->columns}, 3);
}

int64_t target_align(const Target *target, int64_t bytes) {
  return align_up(bytes, target->alignment);
}
