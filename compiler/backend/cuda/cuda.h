/* The CUDA back end: a kernel is one function of CUDA, which every thread of its launch runs. The
 * grid and its blocks have one axis and are known when the program is compiled. */
#ifndef NNC_BACKEND_CUDA_CUDA_H
#define NNC_BACKEND_CUDA_CUDA_H

#include "backend/common/function.h"
#include "backend/common/template.h"
#include "target/target.h"

extern const Dialect dialect_cuda;
extern const BackEnd back_end_cuda;
extern const Target target_cuda; /* target.c */
/* The same with --gemm=cublaslt. */
extern const BackEnd back_end_cuda_cublaslt;
const Target *target_cuda_cublaslt(void);

enum {
  WARP = 32,           /* lanes */
  USUAL_THREADS = 256, /* of a block */
  MOST_THREADS = 1024,
  PROCESSORS = 132 /* of the machines that grids are cut for: enough blocks keep all of them busy */
};

/* How a kernel's launch is cut. */
typedef struct CudaGrid {
  int64_t blocks; /* 0: the domain is empty, and the kernel is not launched */
  int threads;    /* of a block; a multiple of WARP */
} CudaGrid;

/* A tensor that a kernel of sm_90a copies boxes of (nnc_cuda_map of nnc_cuda_program.h): its axes, the
 * one whose elements lie together first, with strides in elements. */
enum { CUDA_MAP_AXES = 5 };
typedef struct CudaMap {
  int rank;
  int64_t extent[CUDA_MAP_AXES], stride[CUDA_MAP_AXES], box[CUDA_MAP_AXES];
} CudaMap;

/* What a kernel is instead in images for sm_90a: blocks that take one tile after the other, and read
 * the first two operands as boxes. */
typedef struct CudaForm {
  int64_t tiles;
  int threads;
  int64_t shared; /* bytes of a block */
  CudaMap maps[2];
} CudaForm;

/* A kind of kernels, each in a file of this folder. */
typedef struct CudaKernel {
  CudaGrid (*grid)(const Kernel *kernel);
  /* Writes the body of its function, within its braces. */
  void (*write)(Code *code, KernelFunction *function);
  /* Writes what must stand before the function, or NULL. */
  void (*write_before)(Code *code, const KernelFunction *function);
  /* Whether the kernel has another form, which is filled in; writes its body. Or NULL. */
  bool (*find_form)(const KernelFunction *function, CudaForm *form);
  void (*write_form)(Code *code, KernelFunction *function);
} CudaKernel;

#define CUDA_KERNEL(identifier, name) extern const CudaKernel cuda_kernel_##name;
#include "backend/cuda/kernels.def"
#undef CUDA_KERNEL

/* Writes a file of the user's (extern). */
void cuda_write_extern(Code *code, const struct DeviceFile *file, int number,
                       const struct CompileOptions *options);

CudaGrid cuda_grid(const Kernel *kernel);
/* Whether the kernel has another form for sm_90a, which is filled in. */
bool cuda_find_form(const KernelFunction *function, CudaForm *form);
/* Blocks of one thread a point, or of `each` points a thread. */
CudaGrid cuda_grid_of_points(int64_t points, int64_t each);

/* Shared by the kinds. */

/* "int32_t" where every index of the kernel and the number of each point fit it, else "int64_t". */
const char *cuda_index_type(const Kernel *kernel, int64_t points);
/* The type in which values of a type are added up or compared: that of an operator's result, but i32 for
 * what is narrower. */
DType cuda_sum_type(DType dtype);
/* The axes of the domain from `first` to before `end`, out of the flat number of the point in these. Only
 * those that an access mentions. */
void cuda_declare_axes(Code *code, const KernelFunction *function, const char *index_type,
                       int first, int end, const char *flat);
/* "nnc_from_bf16(x[at])" */
const char *cuda_loaded(Arena *arena, const KernelFunction *function, int operand, const char *at);
/* The stores of the epilogue of a template, whose element is `result` of this type. */
void cuda_write_epilogue(Code *code, KernelFunction *function, const char *result, DType dtype);
/* The declarations of scalars and keys. */
void cuda_write_values(Code *code, const KernelFunction *function);

#endif
