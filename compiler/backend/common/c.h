/* C, as a dialect: what tables and the templates in C use of it. */
#ifndef NNC_BACKEND_COMMON_C_H
#define NNC_BACKEND_COMMON_C_H

#include "backend/common/dialect.h"

const char *c_storage_type(DType dtype);
const char *c_value_type(DType dtype);
const char *c_type_name(DType dtype); /* of the values, in names of functions: "f32" for bf16 */
const char *c_dtype(DType dtype);     /* the runtime's enumerator: "NNC_BF16" */
const char *c_literal(Arena *arena, DType dtype, double value);

#endif
