/* Rows of pictures: the loops for processors with AVX2, 8 floats at a time. */
#if defined __x86_64__
#include "data/picture_rows.h"

#ifdef __clang__
#pragma clang attribute push(__attribute__((target("avx2"))), apply_to = function)
#else
#pragma GCC target("avx2")
#endif
#define PICTURE_ROWS_AVX2
#define PICTURE_ROW_WORK row_work_avx2
#include "data/picture_rows_body.h"

const PictureRowWork *data_picture_row_work_avx2(void) { return &row_work_avx2; }
#ifdef __clang__
#pragma clang attribute pop
#endif
#endif
