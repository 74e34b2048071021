/* A second back end, for the tests alone: what a target must say, and no more.
 *
 * Its kernels are plain loop nests in a dialect of its own (every value of an expression is a
 * double, every operator a function of toy_kernel.h), of one task each, without task loops. It is
 * slow and easily seen to be right; that random graphs agree with the interpreter through it proves
 * that nothing outside of backend/c/ and target/ takes the C back end for granted.
 *
 *   toy.c           the records
 *   dialect.c       expressions
 *   kernels.c       loop kernels, and what the templates share
 *   templates.c     contraction, convolutions, pooling's adjoint, scatter, sort
 *   toy_kernel.h    what its kernels include */
#ifndef NNC_TESTS_TOY_TARGET_TOY_H
#define NNC_TESTS_TOY_TARGET_TOY_H

#include "backend/common/function.h"
#include "target/target.h"

extern const BackEnd back_end_toy;
extern const Target target_toy;
extern const Dialect dialect_toy;

/* ---- kernels.c ---- */

void toy_write_kernel(Code *code, KernelFunction *function);
/* An element of an operand as a value. */
const char *toy_loaded(Arena *arena, const KernelFunction *function, int operand, const char *at);
/* A call of the operator's function for the type. */
const char *toy_call(Arena *arena, Op op, DType dtype, const char *arguments);
/* The number of a point within the axes of the domain from `first` to before `end`. */
const char *toy_flat(Arena *arena, const Kernel *kernel, int first, int end);
/* "for (int64_t NAME = 0; NAME < extent; NAME++) {" */
void toy_open_loop(Code *code, const char *name, int64_t extent);

/* ---- templates.c ---- */

/* Writes loops that leave the result's element at a point of the domain in `sums`; returns its
 * type. */
DType toy_write_template(Code *code, const KernelFunction *function);

#endif
