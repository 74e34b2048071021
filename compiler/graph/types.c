/* Element types and shapes: a table of dtypes and overflow-safe arithmetic on extents.
 *
 * Shapes come from a user's file or from a dump, so every product that could overflow is checked
 * once, by shape_is_representable(); whatever passed it may be multiplied freely afterwards. */
#include "graph/types.h"

#include <string.h>
#include "support/panic.h"

typedef enum DTypeFamily { DTYPE_FAMILY_FLOAT, DTYPE_FAMILY_INT, DTYPE_FAMILY_BOOL } DTypeFamily;

typedef struct DTypeInfo {
  const char *name;
  int size; /* bytes */
  DTypeFamily family;
} DTypeInfo;

static const DTypeInfo dtype_info[DTYPE_COUNT] = {
    [DTYPE_F64] = {"f64", 8, DTYPE_FAMILY_FLOAT},   [DTYPE_F32] = {"f32", 4, DTYPE_FAMILY_FLOAT},
    [DTYPE_BF16] = {"bf16", 2, DTYPE_FAMILY_FLOAT}, [DTYPE_F16] = {"f16", 2, DTYPE_FAMILY_FLOAT},
    [DTYPE_I64] = {"i64", 8, DTYPE_FAMILY_INT},     [DTYPE_I32] = {"i32", 4, DTYPE_FAMILY_INT},
    [DTYPE_U8] = {"u8", 1, DTYPE_FAMILY_INT},       [DTYPE_BOOL] = {"bool", 1, DTYPE_FAMILY_BOOL},
};

static const DTypeInfo *dtype_find(DType dtype) {
  if ((unsigned)dtype >= DTYPE_COUNT) panic("dtype %d does not exist", (int)dtype);
  return &dtype_info[dtype];
}

const char *dtype_name(DType dtype) { return dtype_find(dtype)->name; }

int dtype_size(DType dtype) { return dtype_find(dtype)->size; }

bool dtype_is_float(DType dtype) { return dtype_find(dtype)->family == DTYPE_FAMILY_FLOAT; }

bool dtype_is_half(DType dtype) { return dtype == DTYPE_BF16 || dtype == DTYPE_F16; }

bool dtype_is_int(DType dtype) { return dtype_find(dtype)->family == DTYPE_FAMILY_INT; }

bool dtype_parse(const char *name, DType *result) {
  for (int i = 0; i < DTYPE_COUNT; i++) {
    if (strcmp(dtype_info[i].name, name) != 0) continue;
    *result = (DType)i;
    return true;
  }
  return false;
}

Shape shape_scalar(void) { return (Shape){.rank = 0}; }

Shape shape_make(int rank, const int64_t *dim) {
  if (rank < 0 || rank > MAX_RANK) panic("a shape of rank %d", rank);
  Shape shape = {.rank = rank};
  for (int i = 0; i < rank; i++) shape.dim[i] = dim[i];
  return shape;
}

bool shape_equal(Shape a, Shape b) {
  if (a.rank != b.rank) return false;
  for (int i = 0; i < a.rank; i++)
    if (a.dim[i] != b.dim[i]) return false;
  return true;
}

int64_t shape_elements(Shape shape) {
  int64_t product = 1;
  for (int i = 0; i < shape.rank; i++)
    if (__builtin_mul_overflow(product, shape.dim[i], &product))
      panic("the number of elements of a shape overflows");
  return product;
}

/* Extents of 0 count as 1, so that strides and the bytes of parts cannot overflow either. */
bool shape_is_representable(Shape shape) {
  if (shape.rank < 0 || shape.rank > MAX_RANK) return false;
  int64_t product = 1;
  for (int i = 0; i < shape.rank; i++) {
    int64_t extent = shape.dim[i];
    if (extent < 0 || extent > MAX_ELEMENTS) return false;
    if (extent > 1 && product > MAX_ELEMENTS / extent) return false;
    if (extent > 1) product *= extent;
  }
  return true;
}

void shape_strides(Shape shape, int64_t stride[MAX_RANK]) {
  for (int i = 0; i < MAX_RANK; i++) stride[i] = 0;
  int64_t step = 1;
  for (int i = shape.rank - 1; i >= 0; i--) {
    stride[i] = step;
    step *= shape.dim[i];
  }
}

bool shape_broadcast(Shape a, Shape b, Shape *result) {
  Shape joined = {.rank = a.rank > b.rank ? a.rank : b.rank};
  for (int i = 0; i < joined.rank; i++) {
    int from_a = i - (joined.rank - a.rank), from_b = i - (joined.rank - b.rank);
    int64_t x = from_a < 0 ? 1 : a.dim[from_a];
    int64_t y = from_b < 0 ? 1 : b.dim[from_b];
    if (x != y && x != 1 && y != 1) return false;
    joined.dim[i] = x == 1 ? y : x;
  }
  *result = joined;
  return true;
}

Type type_make(DType dtype, Shape shape) { return (Type){dtype, shape}; }

Type type_scalar(DType dtype) { return (Type){dtype, shape_scalar()}; }

Type type_widened(Type type) {
  if (dtype_is_half(type.dtype)) type.dtype = DTYPE_F32;
  return type;
}

bool type_equal(Type a, Type b) { return a.dtype == b.dtype && shape_equal(a.shape, b.shape); }

int64_t type_bytes(Type type) { return shape_elements(type.shape) * dtype_size(type.dtype); }

void text_add_shape(Text *text, Shape shape) {
  text_add_char(text, '[');
  for (int i = 0; i < shape.rank; i++)
    text_printf(text, "%s%lld", i > 0 ? ", " : "", (long long)shape.dim[i]);
  text_add_char(text, ']');
}

void text_add_type(Text *text, Type type) {
  text_add(text, dtype_name(type.dtype));
  text_add_shape(text, type.shape);
}

const char *type_text(Arena *arena, Type type) {
  Text text = {0};
  text_add_type(&text, type);
  return text_take(&text, arena);
}

const char *shape_text(Arena *arena, Shape shape) {
  Text text = {0};
  text_add_shape(&text, shape);
  return text_take(&text, arena);
}
