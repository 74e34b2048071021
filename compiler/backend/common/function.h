/* A kernel as a function: its names, and how a back end and the entries that launch it meet. */
#ifndef NNC_BACKEND_COMMON_FUNCTION_H
#define NNC_BACKEND_COMMON_FUNCTION_H

#include "backend/common/expression.h"

struct CompileOptions;

/* A kernel with the names of its function and its parameters. */
typedef struct KernelFunction {
  const Kernel *kernel;
  const Dialect *dialect;
  const char *name;
  const char **operands, **scalars, **keys;
  int64_t *alignments; /* by operand: of its address at all launches, in bytes */
  /* Of one that serves several kernels (share.h): the parameters after all others, and what this
   * kernel's launches hand over. `shared`: whose function is launched; NULL: its own. */
  const struct KernelFunction *shared;
  int number_count;
  const char **number_types, **number_names, **numbers;
  int number; /* of the kernel in its program */
  int unit;   /* of those that hold kernels, where they are a unit's of their own */
  int temporaries;
  const struct CompileOptions *options;
} KernelFunction;

/* The one whose function launches of this kernel call. */
static inline const KernelFunction *function_launched(const KernelFunction *function) {
  return function->shared ? function->shared : function;
}

/* What the names stand for in the function, outside of a stage's own axes. */
ExprScope function_scope(Arena *arena, KernelFunction *function);

/* A launch in the function of an entry. */
typedef struct KernelCall {
  const KernelFunction *function;
  const char *worker; /* the nnc_worker that runs it */
  int count;
  const char **arguments; /* addresses of operands, scalars, keys */
} KernelCall;

/* What makes a back end: how it writes kernels, and how entries launch them. All else of a program
 * (entries, the host's arithmetic, tables, units) is C and the same for all.
 *
 * The kernels of a device are not C: they stand in the one file under `guard`, which the device's
 * compiler defines, and the host's C in the other branch; units hold one or the other. */
struct DeviceFile;
struct MergedKernel;
struct MergePlan;
struct Program;

/* What the tables of a device's kernels are made of. */
typedef struct TableSource {
  const KernelFunction *functions;
  int count, units;
  const struct CompileOptions *options;
  const struct MergePlan *merges;
  int own_unit; /* of the kernel of the back end's own; -1: the program has none */
} TableSource;

typedef struct BackEnd {
  const Dialect *dialect;  /* of the kernels */
  const char *header;      /* what its kernels include besides nnc_kernel.h, or NULL */
  const char *guard;       /* of a device: "NNC_KERNELS"; NULL: kernels are C */
  bool has_matrix_units;   /* faster for products of 16 bits and tf32 than what computes all else */
  const char *host_header; /* of a device: what the host's C includes besides */
  /* Of a device: fills options->images with what compiles the kernels, before compile_prepare;
   * `compiles` is false where only text is wanted. False after a message. */
  bool (*prepare)(Arena *arena, struct CompileOptions *options, bool compiles);
  const char *const *words; /* what its kernels' functions call their own, before a NULL */
  /* Of a device: writes a file of the user's, the number'th, as kernels need it that call functions of
   * it (extern). It is after these, so that its macros do not change them. */
  void (*write_extern)(Code *code, const struct DeviceFile *file, int number,
                       const struct CompileOptions *options);
  bool shares_functions; /* kernels whose functions differ in numbers alone have one (share.h) */
  /* A kernel's function calls such as all units of kernels can have in common, of which types: a set of numbers; of
   * such a set, the line that defines them in a unit of its own. NULL: there are none. */
  unsigned (*common_functions)(const char *kernel);
  void (*write_common)(Text *text, unsigned types);
  /* Writes the function (with what it needs before it), without its comment; the declaration of it
   * for the unit of the entries; the statement that launches it, without its semicolon. */
  void (*write_kernel)(Code *code, KernelFunction *function);
  void (*write_declaration)(Code *code, const KernelFunction *function);
  const char *(*launch_text)(Arena *arena, const KernelCall *call);
  /* Of a device: what copies within its memory; the tables of the kernels. The host's
   * scalars are arguments by their addresses. */
  const char *copy_function;
  void (*write_tables)(Code *code, const TableSource *source);
  /* Of a device: which launches are made one (merge.h), the function of a merged kernel, and what goes
   * before the launch of a step that is a part of one. NULL: none are. */
  struct MergePlan *(*plan_merges)(Arena *arena, const struct Program *program);
  void (*write_merged)(Code *code, const struct MergedKernel *merged,
                       const KernelFunction *functions);
  void (*write_part)(Code *code, int launch, int place);
  /* Of a device: a kernel that programs which train have after all others, and which the runtime launches
   * by itself. NULL: there is none. */
  void (*write_own)(Code *code);
} BackEnd;

/* "name(worker, arguments)": C that launches a kernel. */
const char *function_call_text(Arena *arena, const KernelCall *call);

/* Declares what a kernel hands to a function of the user's (extern): the array `inputs` and the
 * `result`. */
void function_write_tensors(Code *code, const KernelFunction *function);

#endif
