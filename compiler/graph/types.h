/* Element types and shapes. */
#ifndef NNC_GRAPH_TYPES_H
#define NNC_GRAPH_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "support/arena.h"
#include "support/text.h"

/* The order is that of `dtype_info`; nnc_model.h has the same numbers. */
typedef enum DType {
  DTYPE_F64,
  DTYPE_F32,
  DTYPE_BF16,
  DTYPE_F16,
  DTYPE_I64,
  DTYPE_I32,
  DTYPE_U8,
  DTYPE_BOOL,
  DTYPE_COUNT
} DType;

enum { MAX_RANK = 8 };
/* No tensor may have more elements, so that byte offsets never overflow. */
#define MAX_ELEMENTS ((int64_t)1 << 40)

typedef struct Shape {
  int rank;
  int64_t dim[MAX_RANK]; /* each >= 0; unused entries are 0 */
} Shape;

typedef struct Type {
  DType dtype;
  Shape shape;
} Type;

const char *dtype_name(DType dtype); /* "f32" */
int dtype_size(DType dtype);         /* bytes; bool is 1 */
bool dtype_is_float(DType dtype);
bool dtype_is_half(DType dtype); /* bf16 f16: two bytes in memory, computed in f32 */
bool dtype_is_int(DType dtype);  /* i64 i32 u8; not bool */
bool dtype_parse(const char *name, DType *result);

Shape shape_scalar(void);
Shape shape_make(int rank, const int64_t *dim);
bool shape_equal(Shape a, Shape b);
int64_t shape_elements(Shape shape);
/* False when the product overflows MAX_ELEMENTS or the rank MAX_RANK. */
bool shape_is_representable(Shape shape);
/* Row-major strides in elements. */
void shape_strides(Shape shape, int64_t stride[MAX_RANK]);
/* NumPy broadcasting of two shapes; false when they do not fit. */
bool shape_broadcast(Shape a, Shape b, Shape *result);

Type type_make(DType dtype, Shape shape);
Type type_scalar(DType dtype);
bool type_equal(Type a, Type b);
int64_t type_bytes(Type type);
/* f32 for bf16 and f16: the type of what is kept of a variable beside it, states of optimizers and
 * averages. */
Type type_widened(Type type);
void text_add_shape(Text *text, Shape shape); /* "[100, 784]"; "[]" for a scalar */
void text_add_type(Text *text, Type type);    /* "f32[100, 784]"; "f32[]" */
const char *shape_text(Arena *arena, Shape shape);
const char *type_text(Arena *arena, Type type);

#endif
