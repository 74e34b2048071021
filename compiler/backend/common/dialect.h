/* How a language like C spells what expressions are made of.
 *
 * What all such languages share with C is not asked for: names, infix arithmetic on integers,
 * comparisons, parentheses, subscripts, calls and assignments. The rest is in this record, so that
 * one more language is one more record. expression.c decides what is computed, and in which order;
 * it knows no spelling.
 *
 * Texts are made in the arena. An argument is a text as it stands; code_atom sets it in
 * parentheses where it is put beside an operator. */
#ifndef NNC_BACKEND_COMMON_DIALECT_H
#define NNC_BACKEND_COMMON_DIALECT_H

#include "kernel/kernel.h"

typedef struct Dialect {
  /* Of an element in memory: "uint16_t" for bf16; of its value in an expression: "float". */
  const char *(*storage_type)(DType dtype);
  const char *(*value_type)(DType dtype);
  const char *(*literal)(Arena *arena, DType dtype, double value);
  /* The statement that names a value: "const float t0 = a * b;". */
  const char *(*constant)(Arena *arena, DType dtype, const char *name, const char *value);

  /* The value of an element in memory; what is stored there of a value. */
  const char *(*loaded)(Arena *arena, DType dtype, const char *element);
  const char *(*stored)(Arena *arena, DType dtype, const char *value);
  /* A value of the type after an operator, which is more exact where the type has 16 bits. */
  const char *(*rounded)(Arena *arena, DType dtype, const char *value);
  /* Of two different types; the result is rounded. */
  const char *(*converted)(Arena *arena, DType from, DType to, const char *value);
  /* An index, which is an i64, as a value of type `to`; not yet rounded. */
  const char *(*index_value)(Arena *arena, DType to, const char *index);
  const char *(*choice)(Arena *arena, const char *condition, const char *yes, const char *no);
  /* A float, or the bound where it lies beyond, below (`is_least`) or above; NULL: it is a choice. */
  const char *(*limited)(Arena *arena, DType dtype, bool is_least, const char *value,
                         const char *bound);

  /* The sign of an operator on operands of the type, in front of one or between two; NULL: it is
   * the function of this name. `is_near`: the quick form, for arguments that are not far. Truth
   * values are added (whether any is true), and their least and greatest taken, in reductions. */
  const char *(*sign)(Op op, DType dtype);
  const char *(*function)(Arena *arena, Op op, DType dtype, bool is_near);
  /* How arguments that are too far for an operator's quick form are asked for ("turn" of
   * nnc_far_turn_f32, which sin and cos share), or NULL: there is one form. */
  const char *(*far_name)(Op op, DType dtype);
  const char *(*is_far)(Arena *arena, const char *far_name, DType dtype, const char *arguments);
  /* A random number from the text of its key and of its element's index. */
  const char *(*random)(Arena *arena, const Expr *expr, const char *key, const char *index);

  /* What a reduction begins with. */
  const char *(*reduction_start)(Op reduce, DType dtype);

  /* Division (INDEX_DIV) or the rest (INDEX_MOD), rounded down, of what may be negative. */
  const char *(*index_division)(Arena *arena, IndexKind kind, const char *index, int64_t divisor);
  /* A loaded index, moved into [0, bound); the test whether an index lies there. */
  const char *(*clamped)(Arena *arena, const char *index, int64_t bound);
  const char *(*within)(Arena *arena, const char *index, int64_t bound);
} Dialect;

/* C with the runtime's inline functions nnc_<operator>_<type> (nnc_ops.h, nnc_math.h): the language
 * of entries and of the host's arithmetic, whatever that of the kernels. */
extern const Dialect dialect_c;

#endif
