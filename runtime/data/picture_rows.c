/* Rows of pictures: the loops for every processor, and the choice between all. */
#include "data/picture_rows.h"

#define PICTURE_ROW_WORK row_work_any
#include "data/picture_rows_body.h"

#if defined __x86_64__ && !defined DATA_PLAIN_ROWS /* which tests define */
const PictureRowWork *data_picture_row_work(void) {
  return __builtin_cpu_supports("avx2") ? data_picture_row_work_avx2() : &row_work_any;
}
#else
const PictureRowWork *data_picture_row_work(void) { return &row_work_any; }
#endif
