/* The operators of expressions. */
#ifndef NNC_ELABORATE_OPERATE_H
#define NNC_ELABORATE_OPERATE_H

#include "elaborate/core/value.h"

/* Of an operator or a builtin, with their places. */
typedef struct Operands {
  Value a, b;
  Span a_at, b_at;
  bool compares; /* a comparison, in which 2.0 is the integer 2 */
} Operands;

Value operate_binary(Elaborator *e, AstOperator op, Value a, Value b, Span a_at, Span b_at);
Value operate_unary(Elaborator *e, AstOperator op, Value a, Span a_at);
Value operate_matmul(Elaborator *e, Value a, Value b, Span a_at, Span b_at);
/* Whether products are summed in the type: floats, i32 and i64. */
bool operate_has_product(DType dtype);
/* Of i32 and i64, the operands of a product, both become i64. */
void operate_widen(Elaborator *e, Node **x, Node **y);
/* Common type of two tensor operands, broadcast; false after an error. */
bool operate_unify(Elaborator *e, const char *what, Operands operands, Node **x, Node **y);

#endif
