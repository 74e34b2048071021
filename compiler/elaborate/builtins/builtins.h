/* The functions of the language, as tables by signature, and their binding to names. */
#ifndef NNC_ELABORATE_BUILTINS_H
#define NNC_ELABORATE_BUILTINS_H

#include "elaborate/core/elaborator.h"

extern const Builtin builtins_math[], builtins_shape[], builtins_reduce[], builtins_window[],
    builtins_random[], builtins_other[], builtins_schedule[], builtins_gradient[],
    builtins_follow[];
void builtins_bind(Elaborator *e);
/* The i-th table and its family; NULL at the end. */
const Builtin *builtins_table(int i);
extern const Builtin builtins_words[]; /* no functions: words.c */
/* Operand `i` has a type that the builtin does not take; NULL. */
Node *builtins_refuse_type(Elaborator *e, const Bound *bound, int i, const Node *x);
Value builtins_einsum(Elaborator *e, const Bound *bound);
/* Whether what plateaus follow exists, once all metrics and data sets are known. */
void builtins_check_plateaus(Elaborator *e);

#endif
