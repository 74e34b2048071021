/* What the compiler asks of a kind of kernel: one KernelClass record each, in a file of
 * kernel/classes/; kernels.def lists them.
 *
 * A template is known by what its slots say: the rules here read the slots and the operands, never
 * the epilogue, which all templates share with the stages of loops (kernel_stage). A rule that is
 * NULL does nothing or says no. */
#ifndef NNC_KERNEL_CLASS_H
#define NNC_KERNEL_CLASS_H

#include "graph/record.h"
#include "kernel/kernel.h"

/* Elements of the operands, to evaluate with. */
typedef struct KernelReader {
  double (*load)(const void *context, int operand, int64_t index);
  const void *context;
} KernelReader;

static inline double reader_load(const KernelReader *reader, int operand, int64_t index) {
  return reader->load(reader->context, operand, index);
}

typedef struct KernelClass {
  /* The slots as text, a line or some, each with two spaces in front: members of a Kernel. It is in
   * the key too, so what is left out may not change the code. */
  const Field *slots;
  int slot_count;
  /* How many elements of operand `operand` the template reads, counted from its first; -1: it does
   * not read that operand. The template's operands are the first ones. */
  int64_t (*reads)(const Kernel *kernel, int operand);
  /* How many elements the template computes. */
  int64_t (*results)(const Kernel *kernel);
  /* What else is wrong with the slots, or NULL; asked first, so that the others rely on it. */
  const char *(*verify)(Arena *arena, const Kernel *kernel);
  /* The template's result over the domain, densely, by direct loops; it is zero before. */
  void (*evaluate)(const Kernel *kernel, const KernelReader *reader, double *result);
  /* Joins axes of the slots, and those of the domain with them (kernel_collapse). */
  void (*collapse)(Arena *arena, Kernel *kernel);
  /* Whether `blocks` equal parts of the first axis can be computed one by one (kernel/block.h), and
   * of which of the template's operands each touches a part; the others it touches as a whole. */
  bool (*can_block)(const Kernel *kernel, int64_t blocks, bool *parts);
  /* Makes the slots those of one part. */
  void (*block)(Kernel *kernel, int64_t blocks);
  /* The first axis is of pieces of a sum: a block is one piece, and there is no other way. */
  bool (*is_in_pieces)(const Kernel *kernel);
  bool trims_operands; /* what lies after the last element that is read is no part of an operand */
} KernelClass;

/* A slot that is a number of things. */
#define SLOT(words, member, least) FIELD(words, INT64, Kernel, member, least, MAX_ELEMENTS)

const KernelClass *kernel_class(const Kernel *kernel);
bool kernel_is_in_pieces(const Kernel *kernel);

/* The records. */
#define KERNEL(identifier, name) extern const KernelClass kernel_class_##name;
#include "kernel/kernels.def"

#endif
