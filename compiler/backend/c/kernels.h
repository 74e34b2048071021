/* The C back end: a kernel is one C function, which every worker calls to run its share of the
 * tasks. */
#ifndef NNC_BACKEND_C_KERNELS_H
#define NNC_BACKEND_C_KERNELS_H

#include "backend/common/function.h"
#include "backend/common/template.h"
#include "target/target.h"

extern const BackEnd back_end_c;
extern const Target target_c; /* target.c */
/* The same, perhaps without Winograd's minimal filtering, and for such processors; each call changes the one that it
 * gives. */
const Target *target_c_of(bool is_direct, bool has_few_registers, bool has_matrix_unit);

/* The kinds of kernels, each in a file of this folder: how it is cut, how it is written. */
#define KERNEL(identifier, name) extern const TargetKernel c_kernel_##name;
#define SOME_KERNEL(identifier, name)
#include "kernel/kernels.def"
extern const TargetKernel c_kernel_attention_rows, c_kernel_attention_grads; /* attention.c */

/* Weights of so many bytes come from memory, where panels, which follow each other, are read twice as fast as parts of
 * rows: they are kept even for a single row. */
enum { LEAST_KEPT_BYTES = 1 << 20 };
/* conv.c: Target.kept_bytes, of contractions too. */
int64_t weights_kept_bytes(const Kernel *kernel);
bool weights_are_packed(const Kernel *kernel); /* Target.packs_weights */
/* depthwise.c: Target.can_feed. */
bool kernel_can_feed_lines(const Kernel *kernel, const Kernel *feeder);

/* pool.c: in which the adjoints of max pooling add up. */
DType pool_value_type(const Kernel *kernel);
/* pool_last.c: of the adjoints of max pooling where an operand has its channels last. */
int64_t pool_last_tasks(const Kernel *kernel);
int64_t pool_last_worker_bytes(const Kernel *kernel);
void pool_last_write(Code *code, KernelFunction *function);
/* Extents, strides, dilations and paddings of the windows; 1, and no padding, for axes that are not there. */
void pool_add_axes(TemplateHoles *holes, const ConvSlots *slots);

/* Shared by them. */

/* ", const float *restrict x, double lr, uint64_t k0_hash" */
const char *function_parameters(Arena *arena, const KernelFunction *function);
/* ", x, lr": those of the parameters that the epilogue's text mentions, which the function passes on to
 * it; keys are already mixed with the seed. */
const char *function_epilogue_arguments(Arena *arena, const KernelFunction *function,
                                        const char *epilogue);
/* The holes EPILOGUE, EPILOGUE_PARAMETERS and EPILOGUE_ARGUMENTS. */
void function_add_epilogue(TemplateHoles *holes, const KernelFunction *function,
                           const char *epilogue);
/* The head of the function and its opening brace. */
void function_write_head(Code *code, const KernelFunction *function);
/* The whole function where the domain has no point; false: it has some. */
bool function_write_empty(Code *code, const KernelFunction *function);
/* Lines that mix the random keys with the run's seed. */
void function_keys(Code *code, const KernelFunction *function);
/* What all templates have holes for: NAME, PARAMETERS and KEYS, and the grid's
 * TASKS. */
TemplateHoles function_holes(Arena *arena, const KernelFunction *function, int64_t tasks);
/* "const int64_t i2 = VALUE;", where an access depends on that axis of the domain. */
void function_declare_axis(Code *code, const KernelFunction *function, int axis, const char *value);
/* Opens loops over the axes of the domain from number `first` on; the place in a plane of these extents. */
const char *function_open_plane(Code *code, int first, int spatial, const int64_t *extent);
/* Writes the stores of the epilogue for the template's element of this text and type, closes what is
 * open, and returns all of it. */
const char *function_end_epilogue(Code *code, KernelFunction *function, const char *result,
                                  DType dtype);

/* Whether no window leaves the input along spatial axis `i`; the test that a tap lies inside along
 * all of them but the last. */
bool window_stays_inside(const ConvSlots *slots, int i);
const char *window_inside_text(Arena *arena, const ConvSlots *slots);

#endif
