/* The dialect of CUDA's kernels: C++ as dialect_c spells it, with the runtime's functions for the device
 * (runtime/cuda_abi). */
#include "backend/common/c.h"
#include "backend/common/code.h"
#include "backend/cuda/cuda.h"
#include "ops/op.h"

/* Functions have one form: lanes that take another way than the rest of their warp are no reason to ask
 * first. */
static const char *far_name(Op op, DType dtype) {
  (void)op, (void)dtype;
  return NULL;
}

static const char *random_number(Arena *arena, const Expr *expr, const char *key,
                                 const char *index) {
  return arena_printf(arena,
                      "nnc_%s_%s(%s, state->step, %lld, state->example * %lld + (uint64_t)%s)",
                      op_info(expr->op)->name, c_type_name(expr->dtype), key,
                      (long long)expr->stream, (long long)expr->value, code_atom(arena, index));
}

const Dialect dialect_cuda = {
    C_SPELLING,
    .far_name = far_name,
    .random = random_number,
};
