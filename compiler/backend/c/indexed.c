/* Kernels that add at computed places, as C: scatter_add; and argsort. */
#include "backend/c/kernels.h"
#include "backend/c/loop.h"
#include "backend/c/sparse.h"
#include "backend/common/c.h"

#include "backend/c/tiles.h"
#include "support/integers.h"
#include "support/panic.h"

static DType value_type(const Kernel *kernel) {
  DType dtype = kernel->operands[0].dtype;
  return dtype_is_half(dtype) ? DTYPE_F32 : dtype;
}

/* Bytes of a value while it is worked on. */
static int64_t sum_size(const Kernel *kernel) {
  return greatest(dtype_size(kernel->operands[0].dtype), 4);
}

/* ---- scatter_add ---- */

/* Of element e of row first + r: the axes that are used, and the stores of `result`. */
static const char *row_epilogue(Arena *arena, KernelFunction *function, int64_t rows,
                                int64_t elements, const char *result, DType dtype) {
  const Kernel *kernel = function->kernel;
  Text text = {0};
  Code code = {.arena = arena, .out = &text};
  bool is_matrix = kernel->axis_count == 2 && kernel->extent[0] == rows;
  int64_t below = 1;
  for (int i = kernel->axis_count - 1; i >= 0; i--) {
    const char *flat = "((first + r) * ELEMENTS + e)";
    const char *value = is_matrix ? (i == 0 ? "first + r" : "e")
                                  : arena_printf(arena, "%s / %lld %% %lld", flat, (long long)below,
                                                 (long long)kernel->extent[i]);
    function_declare_axis(&code, function, i, value);
    below *= kernel->extent[i];
  }
  CHECK(below == rows * elements);
  return function_end_epilogue(&code, function, result, dtype);
}

/* As many rows of the result as stay in the cache. */
static LoopGrid scatter_grid(const Kernel *kernel) {
  enum { SUMS_BYTES = 128 << 10 };
  int64_t work = greatest(kernel->scatter.row_elements, 1);
  LoopGrid grid = rows_grid(kernel, kernel->scatter.rows, work);
  if (scatter_is_sparse(kernel)) {
    grid.row_chunk = divide_up(grid.rows, SPARSE_TASKS);
    grid.tasks = divide_up(grid.rows, grid.row_chunk);
    return grid;
  }
  int64_t fitting = SUMS_BYTES / (work * sum_size(kernel));
  grid.row_chunk = greatest(least(grid.row_chunk, fitting), 1);
  grid.tasks = divide_up(grid.rows, grid.row_chunk);
  return grid;
}

static int64_t scatter_tasks(const Kernel *kernel) { return scatter_grid(kernel).tasks; }

static int64_t scatter_worker_bytes(const Kernel *kernel) {
  int64_t chunk = scatter_grid(kernel).row_chunk;
  int64_t row_bytes = kernel->scatter.row_elements * sum_size(kernel);
  if (!scatter_is_sparse(kernel)) return chunk * row_bytes;
  return row_bytes + (chunk + kernel->scatter.indices) * (int64_t)sizeof(int32_t);
}

static void scatter_write(Code *code, KernelFunction *function) {
  Arena *arena = code->arena;
  const Kernel *kernel = function->kernel;
  LoopGrid grid = scatter_grid(kernel);
  if (function_write_empty(code, function)) return;
  bool is_sparse = scatter_is_sparse(kernel);
  TemplateHoles holes = function_holes(arena, function, grid.tasks);
  template_add(&holes, "TYPE", c_value_type(value_type(kernel)));
  template_add(&holes, "VALUES", function->operands[0]);
  template_add(&holes, "INDEX", function->operands[1]);
  template_add(&holes, "LOAD", c_loader(arena, kernel->operands[0].dtype));
  template_add(&holes, "EPILOGUE",
               row_epilogue(arena, function, kernel->scatter.rows, kernel->scatter.row_elements,
                            is_sparse ? "sums[e]" : "sums[r * ELEMENTS + e]", value_type(kernel)));
  if (is_sparse) template_add(&holes, "KEEPS", scatter_keeps(arena, function));
  template_add_integer(&holes, "INDICES", kernel->scatter.indices);
  template_add_integer(&holes, "ROWS", kernel->scatter.rows);
  template_add_integer(&holes, "ELEMENTS", kernel->scatter.row_elements);
  template_add_integer(&holes, "CHUNK", grid.row_chunk);
  template_render(
      code->out, is_sparse ? "codegen_templates/scatter_rows.c" : "codegen_templates/scatter_add.c",
      &holes);
}

const TargetKernel c_kernel_scatter_add = {
    .tasks = scatter_tasks, .worker_bytes = scatter_worker_bytes, .write = scatter_write};

/* ---- argsort ---- */

static LoopGrid argsort_grid(const Kernel *kernel) {
  enum { SORT_WORK = 16 /* operations on an element */ };
  return rows_grid(kernel, kernel->sort.rows, greatest(kernel->sort.elements, 1) * SORT_WORK);
}

static int64_t argsort_tasks(const Kernel *kernel) { return argsort_grid(kernel).tasks; }

/* Keys and places, twice. */
static int64_t argsort_worker_bytes(const Kernel *kernel) {
  return 2 * kernel->sort.elements * (sum_size(kernel) + 4);
}

static void argsort_write(Code *code, KernelFunction *function) {
  Arena *arena = code->arena;
  const Kernel *kernel = function->kernel;
  const SortSlots *slots = &kernel->sort;
  LoopGrid grid = argsort_grid(kernel);
  if (function_write_empty(code, function)) return;
  DType dtype = value_type(kernel);
  TemplateHoles holes = function_holes(arena, function, grid.tasks);
  template_add(&holes, "X", function->operands[0]);
  template_add(&holes, "LOAD", c_loader(arena, kernel->operands[0].dtype));
  template_add(&holes, "SIGN", slots->descending ? "~" : "");
  template_add(&holes, "KEY", arena_printf(arena, "nnc_key_%s", dtype_name(dtype)));
  template_add(&holes, "BITS", dtype_size(dtype) == 8 ? "64" : "32");
  template_add(&holes, "EPILOGUE",
               row_epilogue(arena, function, slots->rows, slots->elements, "sorted[e]", DTYPE_I32));
  template_add_integer(&holes, "ROWS", slots->rows);
  template_add_integer(&holes, "ELEMENTS", slots->elements);
  template_add_integer(&holes, "CHUNK", grid.row_chunk);
  template_render(code->out, "codegen_templates/argsort.c", &holes);
}

const TargetKernel c_kernel_argsort = {
    .tasks = argsort_tasks, .worker_bytes = argsort_worker_bytes, .write = argsort_write};
