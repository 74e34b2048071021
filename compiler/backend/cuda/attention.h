/* What the two ways of attention (attention.c, attention_tensor.c) share: the names of operands,
 * and texts of CUDA in which `batch` and `head` are those of the block. */
#ifndef NNC_BACKEND_CUDA_ATTENTION_H
#define NNC_BACKEND_CUDA_ATTENTION_H

#include "backend/cuda/cuda.h"
#include "kernel/attention.h"

/* Operands; those of the forward kinds are the first of them. */
enum { Q, K, V, DY, LSE, DELTA };

/* Those of the queries, or of the keys where their gradients are made; the blocks that have so
 * many of them each. */
int64_t attention_rows(const Kernel *kernel);
int64_t attention_blocks(const Kernel *kernel, int64_t rows);
/* Of a row of the operand. */
int64_t attention_depth(const Kernel *kernel, int operand);
/* The operand of the mask, or -1. */
int attention_mask_of(const Kernel *kernel);

typedef struct AttentionText {
  Arena *arena;
  KernelFunction *function;
  const Kernel *kernel;
  const AttentionSlots *slots;
  const char *index_type;
  TemplateHoles holes; /* that all parts share */
} AttentionText;

/* With the type of indices, the hole INDEX. */
AttentionText attention_text(const Code *code, KernelFunction *function);
/* A part (a file of codegen_templates/cuda) with holes of its own, which come first. */
const char *attention_render(const AttentionText *text, const char *name, int count,
                             const char *const own[][2]);
/* The number of an operand's element in its memory; `row` and `column` are names, of axes that it
 * has. */
const char *attention_place(const AttentionText *text, int operand, const char *row,
                            const char *column);
/* The element itself, as a value. */
const char *attention_element(const AttentionText *text, int operand, const char *row,
                              const char *column);
/* The epilogue for the element `result` at batch, head, row and, where there is one, column. */
const char *attention_epilogue(const AttentionText *text);
/* Whether a block's memory holds tiles of heads of these depths, in all kinds of kernels. */
bool attention_fits(DType dtype, int64_t depth, int64_t value_depth);
/* In which scores and sums are made. */
DType attention_value_type(const Kernel *kernel);

#define RENDER_ATTENTION(text, name, ...)                                                          \
  attention_render(text, name,                                                                     \
                   (int)(sizeof(const char *[][2]){__VA_ARGS__} / (2 * sizeof(char *))),           \
                   (const char *const[][2]){__VA_ARGS__})

/* On tensor cores: where operands have 16 bits, or f32 that may be rounded to tf32, and heads a
 * depth that fits (attention_tensor_fits). */
bool attention_tensor_takes(const Kernel *kernel);
bool attention_tensor_fits(DType dtype, int64_t depth, int64_t value_depth);
CudaGrid attention_tensor_grid(const Kernel *kernel);
void attention_tensor_write(Code *code, KernelFunction *function);

#endif
