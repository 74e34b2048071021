/* The contract between a generated CUDA program and its runtime, beside that of nnc_model.h.
 *
 * The generated host code of an entry calls nnc_cuda_launch for each kernel in the order of its steps;
 * the runtime records these calls once as a CUDA graph and then launches the graph. So an entry's
 * function must launch the same kernels with the same arguments whenever it is called: what changes
 * from run to run lies in device memory (nnc_cuda_state and the scalars after it), never in an
 * argument. In this host code nnc_worker.arena and nnc_worker.scalars are addresses of the device. */
#ifndef NNC_CUDA_PROGRAM_H
#define NNC_CUDA_PROGRAM_H

#include "nnc_model.h"
#include "nnc_parallel.h"

/* Machine code of a unit of kernels: a cubin for one architecture, or PTX, which the driver compiles for
 * newer ones. */
#define NNC_IMAGE(symbol)                                                                          \
  extern const unsigned char symbol[] __attribute__((visibility("hidden"))),                       \
      symbol##_end[] __attribute__((visibility("hidden")))
/* The same, and the image is the contents of a file; text has a 0 after it. */
#define NNC_EMBED(symbol, file)                                                                    \
  NNC_IMAGE(symbol);                                                                               \
  __asm__(".pushsection .rodata.nnc_images,\"a\",%progbits\n.balign 64\n"                          \
          ".globl " #symbol "\n.hidden " #symbol "\n" #symbol ":\n.incbin \"" file "\"\n"          \
          ".globl " #symbol "_end\n.hidden " #symbol "_end\n" #symbol "_end:\n.byte 0\n"           \
          ".popsection")
typedef struct nnc_cuda_image {
  const char *name; /* "sm_80", "sm_90a"; of PTX "compute_90" */
  int unit;
  const unsigned char *begin, *end;
} nnc_cuda_image;

/* A matrix of a product: `line` elements from one column to the next; transposed, its rows lie in one
 * piece each, that far apart. From one product of a batch to the next, `batch` elements. */
typedef struct nnc_cuda_matrix {
  int argument; /* its number among the kernel's */
  bool is_transposed;
  int alignment; /* bytes: of its address */
  int64_t line, batch;
} nnc_cuda_matrix;

/* What a library may compute in place of a kernel: result = first second, `rows` by `columns`, of `depth`
 * products each, added up in f32; one element of a column after the other. */
typedef struct nnc_cuda_product {
  enum nnc_dtype type, result_type;
  bool is_tf32; /* of f32: they may be rounded to tf32 */
  int64_t rows, columns, depth, batches;
  nnc_cuda_matrix first, second, result;
} nnc_cuda_product;

/* A library that is opened when the program starts: --gemm (cuda/library.h). */
struct nnc_cuda_library;
extern const struct nnc_cuda_library nnc_cublaslt;

/* A tensor that a kernel copies boxes of by the machine's own means (TMA): a parameter of it, which the
 * runtime makes of the operand's address (cuTensorMapEncodeTiled). The elements of the first axis lie
 * together; strides, in bytes, are those of the others. Rows of a box have 128 bytes. */
enum { NNC_CUDA_MAP_AXES = 5 };
typedef struct nnc_cuda_map {
  int argument; /* the operand, by its number among the arguments */
  int type;     /* as the driver numbers them */
  int rank;
  uint64_t extents[NNC_CUDA_MAP_AXES], strides[NNC_CUDA_MAP_AXES - 1];
  uint32_t box[NNC_CUDA_MAP_AXES];
} nnc_cuda_map;

/* What a kernel is in images for sm_90a, where it is something else there. */
typedef struct nnc_cuda_form {
  int64_t tiles; /* so many blocks are launched, but no more than the device has multiprocessors */
  int threads, shared;
  int first_map; /* the maps are arguments from this one on, for which there are places */
  nnc_cuda_map maps[2];
} nnc_cuda_form;

/* A kernel with the extents of its launch, which are known when the program is compiled. */
typedef struct nnc_cuda_kernel {
  const char *name; /* of the function in its unit; NULL: it is a part of others alone */
  int unit;
  int64_t blocks; /* of the grid, which has one axis */
  int threads;    /* of a block, which has one axis; a multiple of 32 */
  int shared; /* bytes of shared memory that are asked for at the launch; may be more than 48 KB */
  const nnc_cuda_product *product; /* that the library computes; NULL: none */
  const nnc_cuda_form *form;       /* NULL: it is the same in all images */
} nnc_cuda_kernel;

/* Several launches as one: the kernel takes a table of the parts' arguments, 8 bytes each. They come one
 * by one, in any order, while an entry is recorded; the last one launches. */
typedef struct nnc_cuda_merge {
  int kernel, parts;
  const int *places; /* of the parts' arguments in the table, and its end */
  uint64_t *words;   /* the table */
  int arrived;       /* parts */
} nnc_cuda_merge;

typedef struct nnc_cuda_program {
  int unit_count;
  int image_count;
  const nnc_cuda_image *images; /* those of a unit have the same names as those of all others */
  int kernel_count;
  const nnc_cuda_kernel *kernels;
  const struct nnc_cuda_library *library; /* or NULL */
  nnc_cuda_merge *merges;
  const nnc_cuda_kernel *gather; /* of the kernels; NULL: there is none */
  int64_t memory_limit;          /* --memory-limit, bytes; 0: none */
} nnc_cuda_program;

extern const nnc_cuda_program nnc_the_cuda_program;

/* Rows of data in device memory, and the input that those of a batch go to: one of the table of the kernel
 * `gather`, which begins with their number. Kernels see it as nnc_gather_rows of nnc_cuda_gather.h. */
typedef struct nnc_cuda_rows {
  uint64_t values, to;         /* addresses: of row 0; of the input */
  uint64_t order;              /* of the row of each example, 32 bits; 0: they follow each other */
  int64_t width, step;         /* values of a row; from a row to the next */
  int64_t rows;                /* of a batch */
  int64_t first_block, blocks; /* that fetch them */
  int32_t from, type;          /* enum nnc_cuda_value: of the values, and of the input */
  int32_t is_batched;          /* else it is row 0 for every batch */
  int32_t unused;
} nnc_cuda_rows;

/* Values that are copied, by their bytes, or widened. */
enum nnc_cuda_value {
  NNC_COPY_1,
  NNC_COPY_2,
  NNC_COPY_4,
  NNC_COPY_8,
  NNC_COPY_16,
  NNC_FROM_U8,
  NNC_FROM_I8,
  NNC_FROM_U16,
  NNC_FROM_I16,
  NNC_FROM_U32,
  NNC_FROM_I32,
  NNC_FROM_F32,
  NNC_TO_I32,
  NNC_TO_I64,
  NNC_TO_F32,
  NNC_TO_F64
};
enum { NNC_GATHER_THREADS = 256, NNC_GATHER_EACH = 4 }; /* a block; values of a thread */

/* In device memory, before the host's scalars: what the kernels of one run are told. Kernels see it
 * as nnc_state of nnc_cuda.h. */
typedef struct nnc_cuda_state {
  uint64_t seed, step, example;
  /* --check-indices: of the first place (nnc_model.index_places) with an index outside its axis, the
   * first element; place << 40 | element, all bits set where there is none. Then that index. */
  uint64_t outside;
  int64_t outside_index;
  uint64_t lock, unused[2]; /* of kernels that note it; 0 */
} nnc_cuda_state;

static inline __attribute__((unused)) nnc_cuda_state *nnc_cuda_state_of(const nnc_worker *worker) {
  return (nnc_cuda_state *)worker->scalars - 1;
}

/* Launches kernel number `kernel` of the program; `arguments` are the addresses of its parameters' values,
 * which are copied. A kernel of no blocks is not launched. */
void nnc_cuda_launch(nnc_worker *worker, int kernel, void **arguments);
/* What is launched next is part `place` of a merged launch. */
void nnc_cuda_part(nnc_worker *worker, int merge, int place);
/* Copies within the device's memory. */
void nnc_cuda_copy(nnc_worker *worker, void *to, const void *from, int64_t bytes);

#endif
