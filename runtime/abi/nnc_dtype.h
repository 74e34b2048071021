/* The types of elements and the greatest number of axes, as all generated code knows them. */
#ifndef NNC_DTYPE_H
#define NNC_DTYPE_H

/* The numbers are those of the compiler's DType. */
enum nnc_dtype { NNC_F64, NNC_F32, NNC_BF16, NNC_F16, NNC_I64, NNC_I32, NNC_U8, NNC_BOOL };

enum { NNC_MAX_RANK = 8 };

#endif
