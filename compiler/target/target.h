/* What the middle of the compiler asks about the machine that a Program is made for.
 *
 * A Target is a constant record in the folder of its back end: backend/c/target.c is the CPU's. ops/,
 * program/ and memory/ read it and know no number of a machine themselves. What depends on the machine
 * depends on this record and on the graph alone, never on the machine that compiles nor on the number
 * of threads, so that the same program gives the same bits. */
#ifndef NNC_TARGET_TARGET_H
#define NNC_TARGET_TARGET_H

#include "kernel/kernel.h"

struct BackEnd;        /* backend/common/function.h */
struct Code;           /* backend/common/code.h */
struct KernelFunction; /* backend/common/function.h */

/* How a target has a kind of kernel. */
typedef struct TargetKernel {
  /* How many independent tasks a launch is cut into; NULL: it is one task. */
  int64_t (*tasks)(const Kernel *kernel);
  /* Bytes that a task needs in the block of memory of the worker that runs it; NULL: none. */
  int64_t (*worker_bytes)(const Kernel *kernel);
  /* In how many variants it has the kernel, which differ in speed, and perhaps in rounding; NULL: in one. */
  int64_t (*variants)(const Kernel *kernel);
  /* What the kernel's variant is, in a few words; NULL where `variants` is. */
  const char *(*variant_text)(Arena *arena, const Kernel *kernel);
  /* Writes the kernel's function. */
  void (*write)(struct Code *code, struct KernelFunction *function);
  /* About the microseconds that the target's compiler needs for a byte of the function; 0: as for a
   * loop. */
  int weight;
  /* What the function needs of the runtime beside what all have (nnc_kernel.h); NULL: nothing. */
  const char *header;
} TargetKernel;

/* Task loops (program/loops.c): launches that go through the batch block by block. */
typedef struct TaskLoopLimits {
  int64_t least_blocks, good_blocks, most_blocks; /* of a batch; most 0: there are no task loops */
  int64_t scan_rows;                              /* at least, of a block in the rounds of a scan */
  int64_t cache_bytes;   /* that the values and weights of a block may take */
  int64_t panel_bytes;   /* of the other side of a contraction few of whose rows are in a block */
  int64_t small_weights; /* bytes; larger gradients are not summed for each block ... */
  int64_t
      few_weights; /* ... nor those that are no smaller a part than this of what they are made of */
} TaskLoopLimits;

/* When a reduction to few elements is made in two steps (program/prepare.c). */
typedef struct ReductionLimits {
  int64_t large;        /* elements that are worth a second kernel */
  int64_t few_columns;  /* fewer results than this are no parallel work ... */
  int64_t few_rows;     /* ... nor these, each of a row that lies in one piece ... */
  int64_t few_channels; /* ... nor these, which lie last where the target keeps channels so */
  int64_t huge;         /* elements, 0: none is; of so many fewer results than ... */
  int64_t many_columns; /* ... this are summed from whole rows of memory, by pieces of them */
  int64_t least_pieces, most_pieces;
  int64_t
      twice_bytes; /* of a piece of values that are read twice, from a cache; 0: pieces are not (ops/moments.h) */
} ReductionLimits;

/* A product of matrices. */
typedef struct ProductShape {
  int64_t batches, rows, columns, depth;
  DType dtype;  /* of the sides */
  bool is_tf32; /* which may be rounded */
} ProductShape;

/* When the depth of a product is cut (ops/depth.c). */
typedef struct DepthLimits {
  int64_t least_depth; /* of a piece */
  int64_t most_pieces;
  double worth; /* pieces take at most this part of the time of the whole */
  /* About the time for the product in so many pieces (1: as a whole), with joining them, in any
   * unit; NULL: no depth is cut. */
  double (*time)(const ProductShape *product, int64_t pieces);
  /* Whether gradients of this convolution's weights are made in pieces, too; NULL: none. */
  bool (*cuts_convolution)(const ConvSlots *slots);
  /* Pieces of those that go by Winograd's filtering (conv_gains_by_winograd), if they may be so many at all. */
  int64_t (*winograd_pieces)(const ConvSlots *slots);
  bool cuts_weights; /* products whose side is a parameter, too, which might be kept packed */
} DepthLimits;

/* An attention, when a target is asked whether its kernels gain. */
typedef struct AttentionUse {
  int64_t queries, keys;
  bool is_causal;
  bool splits_products; /* products of f32 are three of bf16 */
} AttentionUse;

/* What one kernel may compute (program/inline.c, program/fuse.c). */
typedef struct FusionLimits {
  int most_operands, most_stages; /* of a kernel */
  double cheap_repeats; /* how often one cheap operation may be done again instead of a load */
  int free_operations; /* of an expression that loads nothing and is computed wherever it is needed */
  int64_t few_rows;    /* fewer rows than this are no parallel work for ... */
  int64_t large_rows;  /* ... more elements than this in all */
  double small_kernel; /* elements read; smaller kernels merge without a common operand */
} FusionLimits;

/* What a step's time depends on besides its flops, in flops. */
typedef struct TargetCosts {
  double byte, barrier;
  double shared; /* launches of at least so much let their tasks move; 0: none does */
} TargetCosts;

typedef struct Target {
  const char *name;
  const struct BackEnd *back_end;                 /* how it writes programs */
  const TargetKernel *kernels[KERNEL_KIND_COUNT]; /* NULL: it has no kernels of this kind */
  int64_t alignment; /* of buffers, in bytes: as long as the widest vector and a cache line */
  TaskLoopLimits loops;
  ReductionLimits reductions;
  DepthLimits depth;
  FusionLimits fusion;
  TargetCosts costs;
  /* Whether workers have their blocks where a phase leaves memory free (program/workspace.c), not behind the arena. */
  bool blocks_move;
  /* Whether cheap values that gradients need are computed again (passes/rematerialize.c). */
  bool computes_again;
  /* Whether contractions that are written turned have their outer rows in the batch (kernel_part_turned_rows). */
  bool parts_turned_rows;
  /* Whether a convolution's gradient in its weights is faster as one contraction over all images. */
  bool (*conv_weight_is_product)(const ConvSlots *slots);
  int64_t least_product_rows; /* of a contraction that stands for a convolution to one position */
  /* Whether what a convolution reads and writes is kept with its channels last (program/layout.c); of its
   * slots channels and groups are set. NULL: none does so. */
  bool (*keeps_channels_last)(const ConvSlots *slots);
  /* Whether a convolution to so few channels, from so many others, is better a product of all taps at once
   * (ops/few_channels.h); NULL: none is. */
  bool (*are_few_channels)(int64_t few, int64_t others, int64_t taps);
  /* Whether others had better be so where one of their sides is; NULL: none. */
  bool (*follows_channels_last)(const ConvSlots *slots);
  /* Whether a convolution whose operands have this type, or the gradient in its weights, had better be computed by
   * Winograd's minimal filtering; NULL: none. */
  bool (*conv_gains_by_winograd)(const ConvSlots *slots, DType dtype, bool is_weight);
  bool (*is_winograd)(const Kernel *kernel); /* whether a kernel is; NULL: none */
  /* Bytes of the copy of operand 1 that a kernel with `keeps_weights` reads instead of it; 0: it had better have
   * none. NULL: none has. */
  int64_t (*kept_bytes)(const Kernel *kernel);
  /* Of weights that may be kept: of so many a product of one row is a template, which keeps them, and no
   * reduction. 0: it is always a reduction. */
  int64_t least_kept_bytes;
  /* Of a matrix whose product with a vector is a template, and no reduction, where both are summed along lines, or where
   * there is more of it and its lines, of at least `least_line` elements, are added up. 0: it is always a reduction. */
  int64_t least_lines_bytes, least_line;
  /* Whether a kernel that keeps nothing packs operand 1 in each run, for so few rows that it takes a share of the
   * time worth a kernel of its own. NULL: none does. */
  bool (*packs_weights)(const Kernel *kernel);
  /* Whether the kernel may have a feeder (kernel/feed.h), and this one: both keep their weights. NULL: none has. */
  bool (*can_feed)(const Kernel *kernel, const Kernel *feeder);
  int64_t
      least_fed_bytes; /* of a value that is larger than a near cache: it gains not to be in memory */
  bool multiplies_halves; /* its code multiplies numbers of 16 bits on any device */
  bool
      has_few_registers; /* of vectors: tiles of contractions are small, and use an element of a side less often */
  bool depthwise_is_loop; /* convolutions of single channels are loops then, not templates */
  /* Whether a kernel that sums over pieces of the images (ATTR_PIECES) is as good outside of a task loop; NULL: it is
   * in one, where it can be. */
  bool (*takes_pieces)(const Kernel *kernel);
  /* of an input that such a convolution reads: its channels lie first, and are read one by one */
  int64_t most_plane_channels;
  /* From so many channels on, convolutions see a copy of an input with its channels last; 0: none does. */
  int64_t least_turned_channels;
  int64_t channels_together; /* a multiple of which a value must have to be kept so */
  /* Whether its kernels of attention take heads of this type and these depths; NULL: of all. */
  bool (*attention_fits)(DType dtype, int64_t depth, int64_t value_depth);
  /* Whether its kernels of attention have tensor cores for heads of this type, where f32 may be
   * rounded to tf32, and these depths, as its products do. NULL: neither have. */
  bool (*attention_has_units)(DType dtype, int64_t depth, int64_t value_depth);
  /* Whether attention is better computed by its kernels than written out; NULL: always. */
  bool (*attention_gains)(const AttentionUse *use);
  /* Where launches that do not need each other become one: how little memory a launch needs and frees
   * that may wait for others (program/schedule.c). 0: none waits. */
  int64_t waiting_bytes;
  /* Whether a kernel writes an output past the caches; NULL: none does. */
  bool (*streams)(const Kernel *kernel, int operand);
  /* Whether nothing is fused into the kernel of a product, since a library may compute it; NULL: there
   * is none. */
  bool (*product_stands_alone)(const Node *node);
} Target;

/* The kernel must be of a kind that the target has. */
int64_t target_task_count(const Target *target, const Kernel *kernel);
int64_t target_worker_bytes(const Target *target, const Kernel *kernel);
int64_t target_variant_count(const Target *target, const Kernel *kernel);
const char *target_variant_text(Arena *arena, const Target *target, const Kernel *kernel);
int64_t target_kept_bytes(const Target *target, const Kernel *kernel);
bool target_packs_weights(const Target *target, const Kernel *kernel);
bool target_takes_pieces(const Target *target, const Kernel *kernel);
bool target_gains_by_winograd(const Target *target, const ConvSlots *slots, DType dtype,
                              bool is_weight);
/* The greatest divisor of `extent` that is a good number of pieces; 1 where there is none. */
int64_t reduction_pieces(const ReductionLimits *limits, int64_t extent);
/* The elements of the result. */
int64_t product_results(const ProductShape *product);
/* The bytes, up to a multiple of the alignment. */
int64_t target_align(const Target *target, int64_t bytes);

#endif
