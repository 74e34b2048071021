/* What compiled kernels and the emulator know of each other: kernels are host code in a shared
 * object, made by the stand-in for NVRTC (nvrtc.c), and reach the machine through a table of
 * functions, which the stand-in for the driver hands them when it loads the object (module.c). C
 * and C++ include it. */
#ifndef NNC_EMULATED_INTERFACE_H
#define NNC_EMULATED_INTERFACE_H

#include <stddef.h>
#include <stdint.h>

enum { NNC_EMULATED_VERSION = 3 };

/* What a lane asks of its warp. */
enum { NNC_WARP_SYNC, NNC_WARP_SHUFFLE, NNC_WARP_BALLOT, NNC_WARP_TOGETHER };

/* The types of the products of matrices. */
enum { NNC_MMA_BF16, NNC_MMA_F16, NNC_MMA_TF32 };

/* What is done with a barrier that counts bytes, and with groups of products. */
enum { NNC_PHASE_BEGIN, NNC_PHASE_BEGUN, NNC_PHASE_ARRIVE, NNC_PHASE_EXPECT, NNC_PHASE_WAIT };
enum { NNC_GROUP_FENCE, NNC_GROUP_CLOSE, NNC_GROUP_WAIT };

/* A product of a warpgroup. */
typedef struct nnc_emulated_product {
  int type, left_by_depths, right_by_depths, adds;
  float *sums;
  uint64_t left, right;
} nnc_emulated_product;

/* How memory is touched. */
enum { NNC_TOUCH_READ, NNC_TOUCH_WRITE, NNC_TOUCH_ATOMIC, NNC_TOUCH_VOLATILE };

typedef struct nnc_emulated_machine {
  int thread;  /* the place of the thread that runs now */
  int threads; /* of a block */
  int64_t block, blocks;
  void (*sync)(const char *file, int line);
  /* All lanes come with the same `kind` from the same line. A shuffle gives the value of the lane
   * `from`, a ballot a bit for each lane: whether its value is not 0. */
  uint64_t (*warp)(int kind, uint64_t value, int from, const char *file, int line);
  void (*exchanged)(
      void); /* after an atomic operation: whoever waits for another lets others run */
  /* With NNC_EMULATED_RACES, before each access; `code` is the address of the instruction. */
  void (*touch)(const void *at, size_t bytes, int how, const void *code);
  /* nnc_emulated_tensor.h */
  void (*copy_begin)(void *to, const void *from, int bytes, const char *file, int line);
  void (*copy_group)(void);
  void (*copy_wait)(int left);
  void (*load_matrices)(uint32_t *to, const void *row, int is_turned, const char *file, int line);
  void (*mma)(int type, float *sums, const uint32_t *left, const uint32_t *right, const char *file,
              int line);
  /* nnc_emulated_wgmma.h */
  char *dynamic; /* the memory that the launch asks for */
  uint32_t (*block_address)(const void *at);
  void (*registers)(int count, int is_more, const char *file, int line);
  void (*phase)(int what, void *barrier, int64_t value, const char *file, int line);
  void (*box)(void *to, const void *map, void *barrier, const int32_t *at, int rank,
              const char *file, int line);
  void (*group)(int what, int left, const char *file, int line);
  void (*product)(const nnc_emulated_product *product, const char *file, int line);
} nnc_emulated_machine;

typedef struct nnc_emulated_kernel {
  const char *name; /* NULL after the last */
  int threads;      /* the most of a block */
  int parameter_count;
  const int *parameter_sizes;
  void (*call)(void **arguments); /* the addresses of its parameters' values */
} nnc_emulated_kernel;

/* The symbol `nnc_the_unit` of a shared object. */
typedef struct nnc_emulated_unit {
  int version;
  const char *architecture; /* "sm_90a", "compute_80" */
  const nnc_emulated_kernel *kernels;
  nnc_emulated_machine **machine;
} nnc_emulated_unit;

#endif
