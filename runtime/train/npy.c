/* The header of NumPy's .npy files: see npy.h. */
#include "train/npy.h"

#include <stdio.h>
#include <string.h>

#include "core/number.h"
#include "os/assert.h"

enum { MAGIC = 10 }; /* bytes before the text */

static const char types[NNC_DTYPE_COUNT][4] = {
    [NNC_F64] = "<f8", [NNC_F32] = "<f4", [NNC_BF16] = "<f4", [NNC_F16] = "<f2",
    [NNC_I64] = "<i8", [NNC_I32] = "<i4", [NNC_U8] = "|u1",   [NNC_BOOL] = "|b1",
};

int64_t nnc_npy_size(int dtype) { return types[dtype][2] - '0'; }

int nnc_npy_header(char header[NNC_NPY_HEADER], int dtype, int rank, const int64_t *dim,
                   int least) {
  char text[NNC_NPY_HEADER - MAGIC];
  int at = snprintf(text, sizeof text, "{'descr': '%s', 'fortran_order': False, 'shape': (",
                    types[dtype]);
  for (int i = 0; i < rank; i++)
    at += snprintf(text + at, sizeof text - (size_t)at, "%lld,%s", (long long)dim[i],
                   i + 1 < rank ? " " : "");
  at += snprintf(text + at, sizeof text - (size_t)at, "), }");
  int length = (MAGIC + at + 1 + 63) / 64 * 64;
  if (length < least) length = least;
  NNC_ASSERT(length <= NNC_NPY_HEADER && length % 64 == 0);
  memset(header, ' ', (size_t)length);
  memcpy(header, "\x93NUMPY\x01\x00", 8);
  header[8] = (char)((length - MAGIC) & 255);
  header[9] = (char)((length - MAGIC) >> 8);
  memcpy(header + MAGIC, text, (size_t)at);
  header[length - 1] = '\n';
  return length;
}
