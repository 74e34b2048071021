/* The target of the CUDA back end: a GPU of compute capability 8.0 or later. All that the compiler knows of
 * it besides how kernels are cut and written. */
#include "backend/cuda/attention.h"
#include "backend/cuda/library.h"
#include "backend/cuda/product.h"

static int64_t blocks_of(const Kernel *kernel) { return cuda_grid(kernel).blocks; }

/* It is written by its back end (function.c). */
static const TargetKernel every_kernel = {.tasks = blocks_of, .weight = 30};

/* A product reads both operands through the same memory of the block as a convolution does. */
static bool never(const ConvSlots *slots) {
  (void)slots;
  return false;
}

static bool takes_pieces(const Kernel *kernel) {
  (void)kernel;
  return true;
}

static bool cuts_convolution(const ConvSlots *slots) {
  (void)slots;
  return true;
}

enum { CHUNK = 4 }; /* elements of f32 in 16 bytes */

static bool keeps_channels_last(const ConvSlots *slots) {
  (void)slots;
  return true;
}

const Target target_cuda = {
    .name = "cuda",
    .back_end = &back_end_cuda,
    .kernels =
        {
#define CUDA_KERNEL(identifier, name) [KERNEL_##identifier] = &every_kernel,
#include "backend/cuda/kernels.def"
#undef CUDA_KERNEL
        },
    .alignment = 256, /* of what the driver allocates; copies by TMA want 128 */
    .reductions = {.large = 32768,
                   .few_columns = 2048,
                   .few_rows = 64,
                   .few_channels = 2048,
                   .least_pieces = 8,
                   .most_pieces = 256},
    .depth = {.least_depth = 64,
              .most_pieces = 256,
              .worth = .75,
              .time = product_time,
              .cuts_convolution = cuts_convolution,
              .cuts_weights = true},
    .fusion = {.most_operands = 40,
               .most_stages = 16,
               .cheap_repeats = 8,
               .free_operations = 12,
               .few_rows = 64,
               .large_rows = 65536,
               .small_kernel = 65536},
    .costs = {.byte = 12, .barrier = 1e8}, /* 50 TFLOP/s, 4 TB/s, 2 us a launch */
    .conv_weight_is_product = never,
    .least_product_rows = 1,
    .keeps_channels_last = keeps_channels_last,
    .most_plane_channels = INT64_MAX,
    .channels_together = CHUNK,
    .multiplies_halves = true,
    .depthwise_is_loop = true,
    .takes_pieces = takes_pieces,
    .attention_fits = attention_fits,
    .attention_has_units = attention_tensor_fits,
    .waiting_bytes = 16384,
};

const Target *target_cuda_cublaslt(void) {
  static Target target;
  target = target_cuda;
  target.back_end = &back_end_cuda_cublaslt;
  target.product_stands_alone = library_wants;
  return &target;
}
