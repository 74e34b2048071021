/* Kernels that add at computed places, as C: the adjoint of max pooling and scatter_add; and
 * argsort. */
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

/* ---- max pooling ---- */

enum {
  MOST_SPAN = 128, /* windows whose maxima are found at once */
  MOST_TAPS = 16   /* of which each is code of its own */
};

/* Whole planes [n, c]. */
static LoopGrid planes_grid(const Kernel *kernel) {
  const ConvSlots *slots = &kernel->conv;
  int64_t windows = extent_product(slots->out, slots->spatial);
  return rows_grid(kernel, slots->n * slots->c,
                   windows * extent_product(slots->kernel, slots->spatial));
}

static int64_t planes_tasks(const Kernel *kernel) {
  return kernel->conv.last != 0 ? pool_last_tasks(kernel) : planes_grid(kernel).tasks;
}

static int64_t planes_worker_bytes(const Kernel *kernel) {
  if (kernel->conv.last != 0) return pool_last_worker_bytes(kernel);
  return extent_product(kernel->conv.in, kernel->conv.spatial) * sum_size(kernel);
}

static const char *plane_epilogue(Arena *arena, KernelFunction *function) {
  const Kernel *kernel = function->kernel;
  Text text = {0};
  Code code = {.arena = arena, .out = &text};
  long long channels = (long long)kernel->conv.c;
  function_declare_axis(&code, function, 0, arena_printf(arena, "plane / %lld", channels));
  function_declare_axis(&code, function, 1, arena_printf(arena, "plane %% %lld", channels));
  const char *place = function_open_plane(&code, kernel->conv.spatial, kernel->conv.in);
  return function_end_epilogue(&code, function, arena_printf(arena, "sums[%s]", place),
                               value_type(kernel));
}

/* Whether the windows are two wide and lie side by side without padding, enough of them in a row for a span
 * (nnc_pool.h). */
static bool has_pairs(const ConvSlots *slots) {
  for (int i = 0; i < slots->spatial; i++)
    if (slots->stride[i] != slots->kernel[i] || slots->low[i] != 0 ||
        (slots->dilation[i] != 1 && slots->kernel[i] > 1) || !window_stays_inside(slots, i))
      return false;
  int last = slots->spatial - 1;
  return slots->kernel[last] == 2 && slots->out[last] >= LEAST_SPAN &&
         extent_product(slots->kernel, slots->spatial) <= MOST_TAPS;
}

/* `name` as a vector from `from` on; of halves, which are loaded one by one, by way of an array. */
static const char *span_text(Arena *arena, DType dtype, const char *call, const char *name,
                             const char *from, int lanes) {
  if (!dtype_is_half(dtype)) return arena_printf(arena, call, from);
  return arena_printf(arena,
                      "float wide_%s[%d] NNC_ALIGNED;\n"
                      "NNC_ROLLED for (int l = 0; l < %d; l++) wide_%s[l] = %s((%s)[l]);\n%s",
                      name, lanes, lanes, name, c_loader(arena, dtype), from,
                      arena_printf(arena, call, arena_printf(arena, "wide_%s", name)));
}

static void add_pairs(TemplateHoles *holes, const Kernel *kernel) {
  Arena *arena = holes->arena;
  const ConvSlots *slots = &kernel->conv;
  int last = slots->spatial - 1, lanes = loop_span(slots->out[last]);
  const char *span = arena_printf(arena, "%s_%d", c_type_name(value_type(kernel)), lanes);
  const char *apart = arena_printf(arena, "nnc_span_apart_%s(seen, %%s);", span);
  const char *load = arena_printf(arena, "nnc_span_load_%s(&given, %%s);", span);
  template_add(holes, "SUFFIX", span);
  template_add_integer(holes, "LANES", lanes);
  template_add(holes, "SEEN",
               span_text(arena, kernel->operands[0].dtype, apart, "seen", "left + row", 2 * lanes));
  template_add(holes, "GIVEN",
               span_text(arena, kernel->operands[1].dtype, load, "given", "right + first", lanes));
  bool covers = true;
  for (int i = 0; i < slots->spatial; i++)
    covers = covers && slots->out[i] * slots->kernel[i] == slots->in[i];
  template_add(holes, "CLEAR",
               covers ? "" : "memset(sums, 0, sizeof *sums * ((int64_t)X0 * X1 * X2));");
}

static void max_pool_grad_write(Code *code, KernelFunction *function) {
  Arena *arena = code->arena;
  const Kernel *kernel = function->kernel;
  const ConvSlots *slots = &kernel->conv;
  LoopGrid grid = planes_grid(kernel);
  CHECK(kernel->axis_count == 2 + slots->spatial);
  if (slots->last != 0) {
    pool_last_write(code, function);
    return;
  }
  if (function_write_empty(code, function)) return;
  int64_t x[3], y[3], k[3], s[3], d[3], p[3];
  for (int i = 0; i < 3; i++) {
    int own = i - (3 - slots->spatial);
    x[i] = own < 0 ? 1 : slots->in[own];
    y[i] = own < 0 ? 1 : slots->out[own];
    k[i] = own < 0 ? 1 : slots->kernel[own];
    s[i] = own < 0 ? 1 : slots->stride[own];
    d[i] = own < 0 ? 1 : slots->dilation[own];
    p[i] = own < 0 ? 0 : slots->low[own];
  }
  bool is_inner = window_stays_inside(slots, slots->spatial - 1);
  TemplateHoles holes = function_holes(arena, function, grid.tasks);
  template_add(&holes, "TYPE", c_value_type(value_type(kernel)));
  template_add(&holes, "X", function->operands[0]);
  template_add(&holes, "DY", function->operands[1]);
  template_add(&holes, "LOAD_X", c_loader(arena, kernel->operands[0].dtype));
  template_add(&holes, "LOAD_DY", c_loader(arena, kernel->operands[1].dtype));
  template_add(&holes, "INSIDE", window_inside_text(arena, slots));
  /* windows, from `first`, whose tap t2 lies inside along the last axis */
  template_add(&holes, "FROM",
               is_inner ? "0" : "nnc_greatest((P2 - t2 * D2 + S2 - 1) / S2 - first, 0)");
  template_add(&holes, "TO",
               is_inner ? "count" : "nnc_least((X2 - 1 + P2 - t2 * D2 + S2) / S2 - first, count)");
  template_add(&holes, "PLACE",
               extent_product(slots->in, slots->spatial) > INT32_MAX ? "int64_t" : "int32_t");
  template_add(&holes, "X_TYPE", c_storage_type(kernel->operands[0].dtype));
  template_add(&holes, "DY_TYPE", c_storage_type(kernel->operands[1].dtype));
  function_add_epilogue(&holes, function, plane_epilogue(arena, function));
  template_add_integer(&holes, "SPAN", y[2] < MOST_SPAN ? y[2] : MOST_SPAN);
  template_add(&holes, "UNROLL",
               extent_product(slots->kernel, slots->spatial) <= MOST_TAPS ? "NNC_UNROLL" : "");
  template_add_integer(&holes, "PLANES", grid.rows);
  template_add_integer(&holes, "CHUNK", grid.row_chunk);
  template_add_axes(&holes, "X", x);
  template_add_axes(&holes, "Y", y);
  template_add_axes(&holes, "K", k);
  template_add_axes(&holes, "S", s);
  template_add_axes(&holes, "D", d);
  template_add_axes(&holes, "P", p);
  if (has_pairs(slots)) add_pairs(&holes, kernel);
  template_render(code->out,
                  has_pairs(slots) ? "codegen_templates/max_pool_grad_pairs.c"
                                   : "codegen_templates/max_pool_grad.c",
                  &holes);
}

const TargetKernel c_kernel_max_pool_grad = {
    .tasks = planes_tasks, .worker_bytes = planes_worker_bytes, .write = max_pool_grad_write};

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
