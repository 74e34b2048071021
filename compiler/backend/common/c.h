/* C, as a dialect: what tables and the templates in C use of it. */
#ifndef NNC_BACKEND_COMMON_C_H
#define NNC_BACKEND_COMMON_C_H

#include "backend/common/dialect.h"

const char *c_storage_type(DType dtype);
const char *c_value_type(DType dtype);
const char *c_type_name(DType dtype); /* of the values, in names of functions: "f32" for bf16 */
/* The function that makes a stored element a value; nothing for most types. */
const char *c_loader(Arena *arena, DType dtype);
const char *c_dtype(DType dtype); /* the runtime's enumerator: "NNC_BF16" */
const char *c_literal(Arena *arena, DType dtype, double value);

/* What dialects share that are C but for some words. */
const char *c_constant(Arena *arena, DType dtype, const char *name, const char *value);
const char *c_loaded(Arena *arena, DType dtype, const char *element);
const char *c_stored(Arena *arena, DType dtype, const char *value);
const char *c_rounded(Arena *arena, DType dtype, const char *value);
const char *c_converted(Arena *arena, DType from, DType to, const char *value);
const char *c_index_value(Arena *arena, DType to, const char *index);
const char *c_choice(Arena *arena, const char *condition, const char *yes, const char *no);
const char *c_sign(Op op, DType dtype);
const char *c_function(Arena *arena, Op op, DType dtype, bool is_near);
const char *c_reduction_start(Op reduce, DType dtype);
const char *c_index_division(Arena *arena, IndexKind kind, const char *index, int64_t divisor);
const char *c_clamped(Arena *arena, const char *index, int64_t bound);
const char *c_within(Arena *arena, const char *index, int64_t bound);

#define C_SPELLING                                                                                 \
  .storage_type = c_storage_type, .value_type = c_value_type, .literal = c_literal,                \
  .constant = c_constant, .loaded = c_loaded, .stored = c_stored, .rounded = c_rounded,            \
  .converted = c_converted, .index_value = c_index_value, .choice = c_choice, .sign = c_sign,      \
  .function = c_function, .reduction_start = c_reduction_start,                                    \
  .index_division = c_index_division, .clamped = c_clamped, .within = c_within

#endif
