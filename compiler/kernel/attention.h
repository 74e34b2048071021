/* What the kinds of kernels of attention share: which operands they have, and the axes of these. */
#ifndef NNC_KERNEL_ATTENTION_H
#define NNC_KERNEL_ATTENTION_H

#include "kernel/kernel.h"

/* The axes of operand `operand` of the kind, a letter each: b batch, h heads, q queries, k keys,
 * d the depth of queries and keys, v that of values, p the two numbers of attention_lse, r these
 * after v in attention_rows; NULL where there is none. The last operand, a mask, may be missing. */
const char *attention_axes(KernelKind kind, int operand);
/* The same of the result, with w for the depths of keys and values side by side, g for all
 * adjoints of a head: q d elements, then k w. */
const char *attention_result_axes(KernelKind kind);
/* With the mask. */
int attention_operands(KernelKind kind);
/* Keys that query `query` sees, from the first on. */
static inline int64_t attention_seen(const AttentionSlots *slots, int64_t query) {
  return slots->causal && query + 1 < slots->keys ? query + 1 : slots->keys;
}

#endif
