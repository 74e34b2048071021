/* What the files of attention share. */
#ifndef NNC_OPS_ATTENTION_H
#define NNC_OPS_ATTENTION_H

#include "ops/make.h"
#include "ops/op.h"

/* What an attention is told besides its operands. */
typedef struct AttentionForm {
  double scale;
  bool is_causal;
} AttentionForm;

/* attention of q [b, h, nq, d], k [b, h, nk, d], v [b, h, nk, e] and, unless it is NULL, a mask. */
Node *make_attention(const Maker *maker, Node *const *operands, Node *mask, AttentionForm form);
/* Any operator of attention, of its first `count` operands and the mask. */
Node *make_attention_of(const Maker *maker, Op op, int count, Node *const *operands, Node *mask,
                        AttentionForm form);
/* The mask among the operands, or NULL: it comes last. */
Node *attention_mask(const Node *node, Node *const *operands);
/* Whether query i sees keys up to the i-th only. */
bool attention_is_causal(const Node *node);
/* The type in which scores and sums are computed. */
DType attention_wide(DType dtype);
/* Attributes and mask of `node`, for another operator of attention on `operands`. */
Node *attention_like(const Maker *maker, Op op, const Node *node, int count, Node *const *operands);

/* attention_expand.c: OpClass.expand of the four. */
Node *attention_expand(const Maker *maker, const Node *node, Node *const *operands);
Node *attention_lse_expand(const Maker *maker, const Node *node, Node *const *operands);
Node *attention_grad_q_expand(const Maker *maker, const Node *node, Node *const *operands);
Node *attention_grad_kv_expand(const Maker *maker, const Node *node, Node *const *operands);
Node *attention_rows_expand(const Maker *maker, const Node *node, Node *const *operands);
Node *attention_grads_expand(const Maker *maker, const Node *node, Node *const *operands);
/* The values of attention and its two adjoints as parts of those two: OpClass.part. */
Node *attention_part(const Maker *maker, const Node *node, Node *const *operands);
Node *attention_grad_q_part(const Maker *maker, const Node *node, Node *const *operands);
Node *attention_grad_kv_part(const Maker *maker, const Node *node, Node *const *operands);
/* What the scores receive, in the type of sums; operands as those of the adjoints. */
Node *attention_score_adjoint(const Maker *maker, const Node *node, Node *const *operands);

#endif
