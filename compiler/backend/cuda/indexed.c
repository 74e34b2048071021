/* Kernels of CUDA that add at computed places, without atomic additions: the adjoints of max pooling
 * and scatter_add; and argsort. */
#include "backend/common/c.h"
#include "backend/cuda/cuda.h"
#include "support/integers.h"

static DType value_type(const Kernel *kernel) {
  DType dtype = kernel->operands[kernel->kind == KERNEL_MAX_UNPOOL].dtype;
  return dtype_is_half(dtype) ? DTYPE_F32 : dtype;
}

static int64_t points_of(const Kernel *kernel) {
  return extent_product(kernel->extent, kernel->axis_count);
}

/* The epilogue for the element `result` at the place `point` of the domain. */
static const char *point_epilogue(Arena *arena, KernelFunction *function, const char *index_type,
                                  const char *result, DType dtype) {
  Text text = {0};
  Code code = {.arena = arena, .out = &text};
  cuda_declare_axes(&code, function, index_type, 0, function->kernel->axis_count, "point");
  cuda_write_epilogue(&code, function, result, dtype);
  return text_take(&text, arena);
}

static TemplateHoles holes_of(Arena *arena, const KernelFunction *function,
                              const char *index_type) {
  TemplateHoles holes = {.arena = arena};
  template_add(&holes, "INDEX", index_type);
  template_add(&holes, "TYPE", c_value_type(value_type(function->kernel)));
  template_add_integer(&holes, "POINTS", points_of(function->kernel));
  template_add_integer(&holes, "THREADS", USUAL_THREADS);
  return holes;
}

/* ---- max pooling ---- */

static CudaGrid points_grid(const Kernel *kernel) {
  return cuda_grid_of_points(points_of(kernel), 1);
}

/* Where `place` of the plane number `plane` of an operand lies. */
static const char *plane_place(const ConvSlots *slots, int operand, const char *elements,
                               const char *place, Arena *arena) {
  if (slots->last >> operand & 1)
    return arena_printf(arena, "(plane / C * %s + %s) * C + plane %% C", elements, place);
  return arena_printf(arena, "plane * %s + %s", elements, place);
}

static void pool_write(Code *code, KernelFunction *function) {
  Arena *arena = code->arena;
  const Kernel *kernel = function->kernel;
  const ConvSlots *slots = &kernel->conv;
  const char *index_type = cuda_index_type(kernel, points_of(kernel));
  const int64_t *const values[] = {slots->in,     slots->out,      slots->kernel,
                                   slots->stride, slots->dilation, slots->low};
  static const char *const names[] = {"X", "Y", "K", "S", "D", "P"};
  const char *out = "(Y0 * Y1 * Y2)", *window = "((y0 * Y1 + y1) * Y2 + y2)";
  bool has_places = kernel->kind == KERNEL_MAX_UNPOOL;
  TemplateHoles holes = holes_of(arena, function, index_type);
  for (int k = 0; k < 6; k++) {
    int64_t axes[3];
    for (int i = 0; i < 3; i++) {
      int own = i - (3 - slots->spatial);
      axes[i] = own >= 0 ? values[k][own] : k == 5 ? 0 : 1;
    }
    template_add_axes(&holes, names[k], axes);
  }
  template_add(&holes, "COMPARED", c_type_name(cuda_sum_type(value_type(kernel))));
  template_add_integer(&holes, "C", greatest(slots->c, 1));
  template_add(&holes, "POINT",
               slots->last & 1 ? "(nth / C / PLANE * C + nth % C) * PLANE + nth / C % PLANE"
                               : "nth");
  const char *seen = has_places ? plane_place(slots, 0, out, window, arena)
                                : plane_place(slots, 0, "PLANE", "seen", arena);
  template_add(&holes, has_places ? "PLACE" : "LOAD_X", cuda_loaded(arena, function, 0, seen));
  template_add(&holes, "LOAD_DY",
               cuda_loaded(arena, function, 1, plane_place(slots, 1, out, window, arena)));
  template_add(&holes, "EPILOGUE",
               point_epilogue(arena, function, index_type, "sum", value_type(kernel)));
  template_render(code->out,
                  has_places ? "codegen_templates/cuda/max_unpool.cu"
                             : "codegen_templates/cuda/max_pool_grad.cu",
                  &holes);
}

const CudaKernel cuda_kernel_max_pool_grad = {.grid = points_grid, .write = pool_write};
const CudaKernel cuda_kernel_max_unpool = {.grid = points_grid, .write = pool_write};

/* ---- scatter_add ---- */

enum { MOST_EACH = 8 }; /* elements of a row that a thread adds up */

/* A block has a piece of a row of the result. */
static int64_t scatter_pieces(const Kernel *kernel) {
  return divide_up(greatest(kernel->scatter.row_elements, 1), MOST_EACH * USUAL_THREADS);
}

static CudaGrid scatter_grid(const Kernel *kernel) {
  return (CudaGrid){kernel->scatter.rows * scatter_pieces(kernel), USUAL_THREADS};
}

static void scatter_write(Code *code, KernelFunction *function) {
  Arena *arena = code->arena;
  const Kernel *kernel = function->kernel;
  const ScatterSlots *slots = &kernel->scatter;
  const char *index_type = cuda_index_type(kernel, greatest(points_of(kernel), slots->indices));
  TemplateHoles holes = holes_of(arena, function, index_type);
  template_add_integer(&holes, "INDICES", slots->indices);
  template_add_integer(&holes, "ELEMENTS", slots->row_elements);
  template_add_integer(&holes, "PIECES", scatter_pieces(kernel));
  template_add_integer(&holes, "EACH",
                       least(MOST_EACH, divide_up(slots->row_elements, USUAL_THREADS)));
  template_add(&holes, "INDEX_AT", cuda_loaded(arena, function, 1, "number"));
  template_add(&holes, "LOAD",
               cuda_loaded(arena, function, 0,
                           arena_printf(arena, "(%s)seen[s] * ELEMENTS + e", index_type)));
  template_add(&holes, "EPILOGUE",
               point_epilogue(arena, function, index_type, "sums[k]", value_type(kernel)));
  template_render(code->out, "codegen_templates/cuda/scatter_add.cu", &holes);
}

const CudaKernel cuda_kernel_scatter_add = {.grid = scatter_grid, .write = scatter_write};

/* ---- argsort ---- */

enum { LEAST_SORTED = 64, MOST_SORTED = 4096 }; /* elements of a row that a block sorts */

/* Longer and shorter rows, and values of 8 bytes, are ordered by counting. */
static bool is_sorted_by_block(const Kernel *kernel) {
  int64_t elements = kernel->sort.elements;
  return elements >= LEAST_SORTED && elements <= MOST_SORTED &&
         dtype_size(cuda_sum_type(value_type(kernel))) == 4;
}

static CudaGrid argsort_grid(const Kernel *kernel) {
  if (!is_sorted_by_block(kernel)) return points_grid(kernel);
  return (CudaGrid){kernel->sort.rows, USUAL_THREADS};
}

/* Fills codegen_templates/cuda/argsort_block.cu. */
static void sort_by_block(Code *code, KernelFunction *function, TemplateHoles *holes) {
  const Kernel *kernel = function->kernel;
  int width = 2;
  while (width < kernel->sort.elements) width *= 2;
  const char *key =
      arena_printf(code->arena, "%snnc_key_%s(%s)", kernel->sort.descending ? "~" : "",
                   c_type_name(cuda_sum_type(value_type(kernel))),
                   cuda_loaded(code->arena, function, 0, "number"));
  template_add_integer(holes, "WIDTH", width);
  template_add(holes, "KEY", key);
  template_add(holes, "EPILOGUE",
               point_epilogue(code->arena, function, cuda_index_type(kernel, points_of(kernel)),
                              "own", DTYPE_I32));
  template_render(code->out, "codegen_templates/cuda/argsort_block.cu", holes);
}

/* Fills codegen_templates/cuda/argsort.cu. */
static void sort_by_counting(Code *code, KernelFunction *function, TemplateHoles *holes) {
  Arena *arena = code->arena;
  const Kernel *kernel = function->kernel;
  DType compared = cuda_sum_type(value_type(kernel));
  template_add(holes, "COMPARED", c_value_type(compared));
  template_add(holes, "COMPARED_NAME", c_type_name(compared));
  template_add(holes, "IS_DESCENDING", kernel->sort.descending ? "true" : "false");
  template_add(holes, "OWN", cuda_loaded(arena, function, 0, "number"));
  template_add(holes, "OTHER", cuda_loaded(arena, function, 0, "number - own + i"));
  template_add(holes, "EPILOGUE",
               point_epilogue(arena, function, cuda_index_type(kernel, points_of(kernel)),
                              "(int32_t)own", DTYPE_I32));
  template_render(code->out, "codegen_templates/cuda/argsort.cu", holes);
}

static void argsort_write(Code *code, KernelFunction *function) {
  const Kernel *kernel = function->kernel;
  TemplateHoles holes = holes_of(code->arena, function, cuda_index_type(kernel, points_of(kernel)));
  template_add_integer(&holes, "ELEMENTS", kernel->sort.elements);
  if (is_sorted_by_block(kernel)) sort_by_block(code, function, &holes);
  else sort_by_counting(code, function, &holes);
}

const CudaKernel cuda_kernel_argsort = {.grid = argsort_grid, .write = argsort_write};
