/* The toy target's templates: at each point of the domain, the result's element by its definition. */
#include "backend/common/code.h"
#include "support/integers.h"
#include "support/panic.h"
#include "toy.h"

/* The type in which a template adds up: max_unpool's first operand are places. */
static DType sum_type(const Kernel *kernel) {
  DType dtype = kernel->operands[kernel->kind == KERNEL_MAX_UNPOOL].dtype;
  return dtype_is_float(dtype) ? DTYPE_F64 : dtype;
}

static void write_sum(Code *code, const Kernel *kernel, const char *value) {
  const char *both = arena_printf(code->arena, "sums, %s", value);
  code_line(code, "sums = %s;", toy_call(code->arena, OP_ADD, sum_type(kernel), both));
}

/* Adds the product of elements of the first two operands. */
static void write_product(Code *code, const KernelFunction *function, const char *left,
                          const char *right) {
  Arena *arena = code->arena;
  const char *both = arena_printf(arena, "%s, %s", toy_loaded(arena, function, 0, left),
                                  toy_loaded(arena, function, 1, right));
  write_sum(code, function->kernel, toy_call(arena, OP_MUL, sum_type(function->kernel), both));
}

/* ---- contractions ---- */

/* The offset in an operand of element `flat`, a name, of a group. */
static const char *group_offset(Arena *arena, const AxisGroup *group, int slot, const char *flat) {
  const char *text = "0";
  int64_t below = 1;
  for (int i = group->count - 1; i >= 0; i--) {
    text = arena_printf(arena, "%s + %s / %lld %% %lld * %lld", text, flat, (long long)below,
                        (long long)group->extent[i], (long long)group->stride[slot][i]);
    below *= group->extent[i];
  }
  return text;
}

static void write_contract(Code *code, const KernelFunction *function) {
  const Kernel *kernel = function->kernel;
  const ContractSlots *slots = &kernel->contract;
  Arena *arena = code->arena;
  int m_axis = slots->batch.count, n_axis = m_axis + slots->m.count;
  code_line(code, "const int64_t batch = %s;", toy_flat(arena, kernel, 0, m_axis));
  code_line(code, "const int64_t row = %s;", toy_flat(arena, kernel, m_axis, n_axis));
  code_line(code, "const int64_t cols = %s;", toy_flat(arena, kernel, n_axis, kernel->axis_count));
  toy_open_loop(code, "depth", extent_product(slots->k.extent, slots->k.count));
  const char *sides[2];
  for (int side = 0; side < 2; side++)
    sides[side] = arena_printf(
        arena, "%s + %s + %s", group_offset(arena, &slots->batch, side, "batch"),
        group_offset(arena, side == 0 ? &slots->m : &slots->n, side, side == 0 ? "row" : "cols"),
        group_offset(arena, &slots->k, side, "depth"));
  write_product(code, function, sides[0], sides[1]);
  code_close(code);
}

/* ---- windows ---- */

static int64_t elements(const ConvSlots *slots, const int64_t *extent) {
  return extent_product(extent, slots->spatial);
}

static const char *list_text(Arena *arena, const ConvSlots *slots, const int64_t *values) {
  const char *text = "{";
  for (int i = 0; i < slots->spatial; i++)
    text = arena_printf(arena, "%s%s%lld", text, i ? ", " : "", (long long)values[i]);
  return arena_printf(arena, "%s}", text);
}

/* The record that toy_position wants. */
static void write_window(Code *code, const ConvSlots *slots) {
  Arena *arena = code->arena;
  code_line(code, "static const toy_window window = {%d, %s, %s, %s, %s, %s, %s};", slots->spatial,
            list_text(arena, slots, slots->in), list_text(arena, slots, slots->out),
            list_text(arena, slots, slots->kernel), list_text(arena, slots, slots->stride),
            list_text(arena, slots, slots->low), list_text(arena, slots, slots->dilation));
}

/* y[n, k, o] = sum over channels of the group and taps. */
static void write_conv(Code *code, const KernelFunction *function) {
  const Kernel *kernel = function->kernel;
  const ConvSlots *slots = &kernel->conv;
  Arena *arena = code->arena;
  long long own = (long long)(slots->c / slots->groups), taps = elements(slots, slots->kernel);
  code_line(code, "const int64_t tile = %s;", toy_flat(arena, kernel, 2, kernel->axis_count));
  toy_open_loop(code, "channel", own);
  toy_open_loop(code, "tap", taps);
  code_line(code, "const int64_t where = toy_position(&window, tile, tap);");
  code_line(code, "if (where < 0) continue;");
  write_product(code, function,
                arena_printf(arena, "(i0 * %lld + i1 / %lld * %lld + channel) * %lld + where",
                             (long long)slots->c, (long long)(slots->k / slots->groups), own,
                             (long long)elements(slots, slots->in)),
                arena_printf(arena, "(i1 * %lld + channel) * %lld + tap", own, taps));
  code_close(code);
  code_close(code);
}

/* x[n, c, i] = sum over result channels of the group, positions of the output and taps that meet
 * i. */
static void write_conv_input(Code *code, const KernelFunction *function) {
  const Kernel *kernel = function->kernel;
  const ConvSlots *slots = &kernel->conv;
  Arena *arena = code->arena;
  long long own = (long long)(slots->c / slots->groups), out = elements(slots, slots->out);
  long long results = (long long)(slots->k / slots->groups), taps = elements(slots, slots->kernel);
  code_line(code, "const int64_t where = %s;", toy_flat(arena, kernel, 2, kernel->axis_count));
  toy_open_loop(code, "tile", out);
  toy_open_loop(code, "tap", taps);
  code_line(code, "if (toy_position(&window, tile, tap) != where) continue;");
  toy_open_loop(code, "channel", results);
  code_line(code, "const int64_t row = i1 / %lld * %lld + channel;", own, results);
  write_product(code, function,
                arena_printf(arena, "(i0 * %lld + row) * %lld + tile", (long long)slots->k, out),
                arena_printf(arena, "(row * %lld + i1 %% %lld) * %lld + tap", own, own, taps));
  for (int i = 0; i < 3; i++) code_close(code);
}

/* w[k, c, t] = sum over images and positions of the output. */
static void write_conv_weight(Code *code, const KernelFunction *function) {
  const Kernel *kernel = function->kernel;
  const ConvSlots *slots = &kernel->conv;
  Arena *arena = code->arena;
  long long own = (long long)(slots->c / slots->groups), out = elements(slots, slots->out);
  CHECK(slots->pieces == 0); /* they come with task loops alone */
  code_line(code, "const int64_t tap = %s;", toy_flat(arena, kernel, 2, kernel->axis_count));
  toy_open_loop(code, "image", slots->n);
  toy_open_loop(code, "tile", out);
  code_line(code, "const int64_t where = toy_position(&window, tile, tap);");
  code_line(code, "if (where < 0) continue;");
  write_product(code, function,
                arena_printf(arena, "(image * %lld + i0 / %lld * %lld + i1) * %lld + where",
                             (long long)slots->c, (long long)(slots->k / slots->groups), own,
                             (long long)elements(slots, slots->in)),
                arena_printf(arena, "(image * %lld + i0) * %lld + tile", (long long)slots->k, out));
  code_close(code);
  code_close(code);
}

/* x[n, c, i] = sum of dy over the windows whose first greatest element is i. */
static void write_max_pool_grad(Code *code, const KernelFunction *function) {
  const Kernel *kernel = function->kernel;
  const ConvSlots *slots = &kernel->conv;
  Arena *arena = code->arena;
  long long in = elements(slots, slots->in), out = elements(slots, slots->out);
  code_line(code, "const int64_t plane = i0 * %lld + i1;", (long long)slots->c);
  code_line(code, "const int64_t where = %s;", toy_flat(arena, kernel, 2, kernel->axis_count));
  toy_open_loop(code, "tile", out);
  code_line(code, "int64_t best = -1;");
  code_line(code, "double better = 0;");
  toy_open_loop(code, "tap", elements(slots, slots->kernel));
  code_line(code, "const int64_t seen = toy_position(&window, tile, tap);");
  code_line(code, "if (seen < 0) continue;");
  code_line(code, "const double value = %s;",
            toy_loaded(arena, function, 0, arena_printf(arena, "plane * %lld + seen", in)));
  code_line(code, "if (best >= 0 && !toy_comes_before(value, better, true)) continue;");
  code_line(code, "best = seen;");
  code_line(code, "better = value;");
  code_close(code);
  code_line(code, "if (best != where) continue;");
  write_sum(code, kernel,
            toy_loaded(arena, function, 1, arena_printf(arena, "plane * %lld + tile", out)));
  code_close(code);
}

/* x[n, c, i] = sum of dy over the windows in which i has the number that is their place. */
static void write_max_unpool(Code *code, const KernelFunction *function) {
  const Kernel *kernel = function->kernel;
  const ConvSlots *slots = &kernel->conv;
  Arena *arena = code->arena;
  const char *at =
      arena_printf(arena, "plane * %lld + tile", (long long)elements(slots, slots->out));
  code_line(code, "const int64_t plane = i0 * %lld + i1;", (long long)slots->c);
  code_line(code, "const int64_t where = %s;", toy_flat(arena, kernel, 2, kernel->axis_count));
  toy_open_loop(code, "tile", elements(slots, slots->out));
  code_line(code, "const int64_t tap = %s;", toy_loaded(arena, function, 0, at));
  code_line(code, "if (tap >= %lld || toy_position(&window, tile, tap) != where) continue;",
            (long long)elements(slots, slots->kernel));
  write_sum(code, kernel, toy_loaded(arena, function, 1, at));
  code_close(code);
}

/* ---- computed places ---- */

/* The row of a matrix and the element of it at this point. */
static void write_row(Code *code, const Kernel *kernel, int64_t elements_of_row) {
  const char *flat = toy_flat(code->arena, kernel, 0, kernel->axis_count);
  code_line(code, "const int64_t row = (%s) / %lld;", flat, (long long)elements_of_row);
  code_line(code, "const int64_t cols = (%s) %% %lld;", flat, (long long)elements_of_row);
}

static void write_scatter(Code *code, const KernelFunction *function) {
  const ScatterSlots *slots = &function->kernel->scatter;
  write_row(code, function->kernel, slots->row_elements);
  toy_open_loop(code, "slot", slots->indices);
  code_line(code, "if (%s != row) continue;", toy_loaded(code->arena, function, 1, "slot"));
  write_sum(
      code, function->kernel,
      toy_loaded(code->arena, function, 0,
                 arena_printf(code->arena, "slot * %lld + cols", (long long)slots->row_elements)));
  code_close(code);
}

/* The place of the element of a row that `cols` others come before. */
static void write_argsort(Code *code, const KernelFunction *function) {
  const SortSlots *slots = &function->kernel->sort;
  Arena *arena = code->arena;
  const char *at = arena_printf(arena, "row * %lld + ", (long long)slots->elements);
  write_row(code, function->kernel, slots->elements);
  toy_open_loop(code, "slot", slots->elements);
  code_line(code, "const double value = %s;",
            toy_loaded(arena, function, 0, arena_printf(arena, "%sslot", at)));
  code_line(code, "int64_t before = 0;");
  toy_open_loop(code, "part", slots->elements);
  code_line(code, "const double given = %s;",
            toy_loaded(arena, function, 0, arena_printf(arena, "%spart", at)));
  const char *order = slots->descending ? "true" : "false";
  code_line(code, "before += toy_comes_before(given, value, %s) ||", order);
  code_line(code, "          (part < slot && !toy_comes_before(value, given, %s));", order);
  code_close(code);
  code_line(code, "if (before == cols) sums = (double)slot;");
  code_close(code);
}

DType toy_write_template(Code *code, const KernelFunction *function) {
  static void (*const writers[KERNEL_KIND_COUNT])(Code *, const KernelFunction *) = {
      [KERNEL_CONTRACT] = write_contract,           [KERNEL_CONV] = write_conv,
      [KERNEL_CONV_INPUT] = write_conv_input,       [KERNEL_CONV_WEIGHT] = write_conv_weight,
      [KERNEL_MAX_POOL_GRAD] = write_max_pool_grad, [KERNEL_MAX_UNPOOL] = write_max_unpool,
      [KERNEL_SCATTER_ADD] = write_scatter,         [KERNEL_ARGSORT] = write_argsort,
  };
  KernelKind kind = function->kernel->kind;
  if (writers[kind] == NULL) panic("the toy target has no kernels of kind %d", (int)kind);
  bool has_window = kind == KERNEL_CONV || kind == KERNEL_CONV_INPUT ||
                    kind == KERNEL_CONV_WEIGHT || kind == KERNEL_MAX_POOL_GRAD ||
                    kind == KERNEL_MAX_UNPOOL;
  if (has_window) write_window(code, &function->kernel->conv);
  writers[kind](code, function);
  return kind == KERNEL_ARGSORT ? DTYPE_I32 : sum_type(function->kernel);
}
