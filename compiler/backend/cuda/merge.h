/* Launches that are merged (backend/common/merge.h), for CUDA. */
#ifndef NNC_BACKEND_CUDA_MERGE_H
#define NNC_BACKEND_CUDA_MERGE_H

#include "backend/common/function.h"
#include "backend/common/merge.h"

enum {
  MERGED_BLOCKS = 4096 /* launches of more blocks merge with those of their own kernel alone */
};

MergePlan *cuda_plan_merges(Arena *arena, const Program *program);
int64_t cuda_merged_blocks(const MergedKernel *merged, const KernelFunction *functions);
/* The function of a merged kernel, with those of its parts before it. */
void cuda_write_merged(Code *code, const MergedKernel *merged, const KernelFunction *functions);
/* The table of the launches; merged kernels are numbered after the `kernel_count` others. */
void cuda_write_merges(Code *code, const MergePlan *plan, const KernelFunction *functions,
                       int kernel_count);
/* A kernel's function as a part, which is told its block (function.c). */
void cuda_write_part(Code *code, KernelFunction *function);

#endif
