/* The adjoints of max pooling as C: by the values that were pooled, and by the places of their maxima. Where an
 * operand has its channels last, pool_last.c. */
#include "backend/c/kernels.h"
#include "backend/c/loop.h"
#include "backend/common/c.h"

#include "backend/c/tiles.h"
#include "support/integers.h"
#include "support/panic.h"

DType pool_value_type(const Kernel *kernel) {
  DType dtype = kernel->operands[1].dtype;
  return dtype_is_half(dtype) ? DTYPE_F32 : dtype;
}

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

/* Whether the kernel stores a plane's sums as they are, where they lie as in the result: they are computed there. */
static bool stores_planes(const Kernel *kernel) {
  const Store *store = &kernel->epilogue[0];
  int64_t base, below = 1, coefficient[KERNEL_MAX_AXES];
  if (kernel->epilogue_count != 1 || store->value->kind != EXPR_RESULT ||
      kernel->operands[store->operand].dtype != pool_value_type(kernel) ||
      !index_is_affine(store->index, kernel->axis_count, &base, coefficient) || base != 0)
    return false;
  for (int i = kernel->axis_count - 1; i >= 0; i--) {
    if (kernel->extent[i] > 1 && coefficient[i] != below) return false;
    below *= kernel->extent[i];
  }
  return true;
}

static int64_t planes_worker_bytes(const Kernel *kernel) {
  if (kernel->conv.last != 0) return pool_last_worker_bytes(kernel);
  if (stores_planes(kernel)) return 0;
  return extent_product(kernel->conv.in, kernel->conv.spatial) *
         dtype_size(pool_value_type(kernel));
}

static const char *plane_epilogue(Arena *arena, KernelFunction *function) {
  const Kernel *kernel = function->kernel;
  Text text = {0};
  Code code = {.arena = arena, .out = &text};
  long long channels = (long long)kernel->conv.c;
  function_declare_axis(&code, function, 0, arena_printf(arena, "plane / %lld", channels));
  function_declare_axis(&code, function, 1, arena_printf(arena, "plane %% %lld", channels));
  const char *place = function_open_plane(&code, 2, kernel->conv.spatial, kernel->conv.in);
  return function_end_epilogue(&code, function, arena_printf(arena, "sums[%s]", place),
                               pool_value_type(kernel));
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

/* A span of dy, and what is cleared before. */
static void add_spans(TemplateHoles *holes, const Kernel *kernel) {
  Arena *arena = holes->arena;
  const ConvSlots *slots = &kernel->conv;
  int last = slots->spatial - 1, lanes = loop_span(slots->out[last]);
  const char *span = arena_printf(arena, "%s_%d", c_type_name(pool_value_type(kernel)), lanes);
  const char *load = arena_printf(arena, "nnc_span_load_%s(&given, %%s);", span);
  template_add(holes, "SUFFIX", span);
  template_add_integer(holes, "LANES", lanes);
  template_add(holes, "GIVEN",
               span_text(arena, kernel->operands[1].dtype, load, "given", "right + first", lanes));
  bool covers = true;
  for (int i = 0; i < slots->spatial; i++)
    covers = covers && slots->out[i] * slots->kernel[i] == slots->in[i];
  template_add(holes, "CLEAR",
               covers ? "" : "memset(sums, 0, sizeof *sums * ((int64_t)X0 * X1 * X2));");
}

/* How a span of windows gets the taps of its maxima. */
static void add_search(TemplateHoles *holes, const KernelFunction *function) {
  Arena *arena = holes->arena;
  const Kernel *kernel = function->kernel;
  const ConvSlots *slots = &kernel->conv;
  int lanes = loop_span(slots->out[slots->spatial - 1]);
  const char *span = arena_printf(arena, "%s_%d", c_type_name(pool_value_type(kernel)), lanes);
  bool has_places = kernel->kind == KERNEL_MAX_UNPOOL;
  if (has_places) {
    template_add(holes, "LEFT", "");
    template_add(holes, "WHERE",
                 arena_printf(arena, "nnc_span_places_%s(&where, %s + flat + first);\n", span,
                              function->operands[0]));
    return;
  }
  TemplateHoles search = {.arena = arena};
  Text text = {0};
  const char *apart = arena_printf(arena, "nnc_span_apart_%s(seen, %%s);", span);
  template_add(&search, "SUFFIX", span);
  template_add(&search, "SEEN",
               span_text(arena, kernel->operands[0].dtype, apart, "seen", "left + row", 2 * lanes));
  template_render(&text, "codegen_templates/max_pool_search.c", &search);
  template_add(holes, "WHERE", text_take(&text, arena));
  template_add(holes, "LEFT",
               arena_printf(arena, "const %s *const left = %s + plane * ((int64_t)X0 * X1 * X2);\n",
                            c_storage_type(kernel->operands[0].dtype), function->operands[0]));
}

/* Where a plane's sums are collected: in the result, or in the worker's block for an epilogue. */
static void add_sums(TemplateHoles *holes, KernelFunction *function) {
  Arena *arena = holes->arena;
  const Kernel *kernel = function->kernel;
  const char *type = c_value_type(pool_value_type(kernel));
  bool is_result = stores_planes(kernel);
  const char *block = arena_printf(arena, "%s *const sums = (%s *)worker->scratch;\n", type, type);
  const char *plane =
      arena_printf(arena, "%s *const sums = %s + plane * ((int64_t)X0 * X1 * X2);\n", type,
                   function->operands[kernel->epilogue[0].operand]);
  template_add(holes, "BLOCK", is_result ? "" : block);
  template_add(holes, "PLANE", is_result ? plane : "");
  function_add_epilogue(holes, function, is_result ? "" : plane_epilogue(arena, function));
}

/* What both adjoints say of planes. */
static TemplateHoles plane_holes(Arena *arena, KernelFunction *function, LoopGrid grid) {
  const Kernel *kernel = function->kernel;
  TemplateHoles holes = function_holes(arena, function, grid.tasks);
  template_add(&holes, "TYPE", c_value_type(pool_value_type(kernel)));
  template_add(&holes, "DY", function->operands[1]);
  template_add(&holes, "LOAD_DY", c_loader(arena, kernel->operands[1].dtype));
  template_add(&holes, "DY_TYPE", c_storage_type(kernel->operands[1].dtype));
  template_add_integer(&holes, "PLANES", grid.rows);
  template_add_integer(&holes, "CHUNK", grid.row_chunk);
  pool_add_axes(&holes, &kernel->conv);
  return holes;
}

/* Leaves a line of taps that lies outside. */
static const char *leave_text(Arena *arena, const ConvSlots *slots) {
  const char *inside = window_inside_text(arena, slots);
  bool has[] = {code_mentions(inside, "x0"), code_mentions(inside, "x1")};
  if (!has[0] && !has[1]) return "";
  const char *first = has[0] ? "const int64_t x0 = y0 * S0 - P0 + t0 * D0;\n" : "";
  const char *second = has[1] ? "const int64_t x1 = y1 * S1 - P1 + t1 * D1;\n" : "";
  return arena_printf(arena, "%s%sif (!%s) continue;\n", first, second, inside);
}

static void add_values(TemplateHoles *holes, const KernelFunction *function) {
  Arena *arena = holes->arena;
  const Kernel *kernel = function->kernel;
  const ConvSlots *slots = &kernel->conv;
  bool is_inner = window_stays_inside(slots, slots->spatial - 1);
  template_add(holes, "X", function->operands[0]);
  template_add(holes, "LOAD_X", c_loader(arena, kernel->operands[0].dtype));
  template_add(holes, "LEAVE", leave_text(arena, slots));
  /* windows, from `first`, whose tap t2 lies inside along the last axis */
  template_add(holes, "FROM",
               is_inner ? "0" : "nnc_greatest((P2 - t2 * D2 + S2 - 1) / S2 - first, 0)");
  template_add(holes, "TO",
               is_inner ? "count" : "nnc_least((X2 - 1 + P2 - t2 * D2 + S2) / S2 - first, count)");
  template_add(holes, "PLACE",
               extent_product(slots->in, slots->spatial) > INT32_MAX ? "int64_t" : "int32_t");
  template_add(holes, "X_TYPE", c_storage_type(kernel->operands[0].dtype));
  template_add_integer(holes, "SPAN", least(slots->out[slots->spatial - 1], MOST_SPAN));
  template_add(holes, "UNROLL",
               extent_product(slots->kernel, slots->spatial) <= MOST_TAPS ? "NNC_UNROLL" : "");
}

/* How far the element under each tap lies from the begin of its window. */
static const char *distances(Arena *arena, const ConvSlots *slots) {
  int64_t taps = extent_product(slots->kernel, slots->spatial);
  Text text = {0};
  for (int64_t t = 0; t < taps; t++) {
    int64_t distance = 0, below = 1, rest = t;
    for (int i = slots->spatial - 1; i >= 0; i--) {
      distance += rest % slots->kernel[i] * slots->dilation[i] * below;
      rest /= slots->kernel[i];
      below *= slots->in[i];
    }
    text_printf(&text, "%s%lld", t == 0 ? "" : ", ", (long long)distance);
  }
  return text_take(&text, arena);
}

static void add_places(TemplateHoles *holes, const KernelFunction *function) {
  const ConvSlots *slots = &function->kernel->conv;
  template_add(holes, "PLACES", function->operands[0]);
  template_add(holes, "DISTANCES", distances(holes->arena, slots));
  template_add(holes, "DISTANCE",
               extent_product(slots->in, slots->spatial) > INT32_MAX ? "int64_t" : "int32_t");
}

/* Both adjoints: where the maxima are is searched in x, or was noted down. */
static void adjoint_write(Code *code, KernelFunction *function) {
  Arena *arena = code->arena;
  const Kernel *kernel = function->kernel;
  const ConvSlots *slots = &kernel->conv;
  bool has_places = kernel->kind == KERNEL_MAX_UNPOOL, is_of_pairs = has_pairs(slots);
  CHECK(kernel->axis_count == 2 + slots->spatial);
  if (slots->last != 0) {
    pool_last_write(code, function);
    return;
  }
  if (function_write_empty(code, function)) return;
  TemplateHoles holes = plane_holes(arena, function, planes_grid(kernel));
  add_sums(&holes, function);
  if (is_of_pairs) {
    add_spans(&holes, kernel);
    add_search(&holes, function);
  } else if (has_places) {
    add_places(&holes, function);
  } else {
    add_values(&holes, function);
  }
  template_render(code->out,
                  is_of_pairs  ? "codegen_templates/max_pool_pairs.c"
                  : has_places ? "codegen_templates/max_unpool.c"
                               : "codegen_templates/max_pool_grad.c",
                  &holes);
}

const TargetKernel c_kernel_max_pool_grad = {
    .tasks = planes_tasks, .worker_bytes = planes_worker_bytes, .write = adjoint_write};
const TargetKernel c_kernel_max_unpool = {
    .tasks = planes_tasks, .worker_bytes = planes_worker_bytes, .write = adjoint_write};
