/* The C back end, and what its functions of all kinds share. */
#include "backend/c/kernels.h"
#include "backend/c/common.h"
#include "backend/common/c.h"

#include <string.h>
#include "support/integers.h"
#include "support/panic.h"

static void write_kernel(Code *code, KernelFunction *function) {
  target_c.kernels[function->kernel->kind]->write(code, function);
}

static const char *head_text(Arena *arena, const KernelFunction *function) {
  return arena_printf(arena, "NNC_KERNEL void %s(nnc_worker *worker%s)", function->name,
                      function_parameters(arena, function));
}

static void write_declaration(Code *code, const KernelFunction *function) {
  code_line(code, "%s;", head_text(code->arena, function));
}

/* Variables of the templates and loops; axes, temporaries and such have names like i0 (naming.c). */
static const char *const words[] = {"result",      "packed_a",
                                    "packed_b",    "first",
                                    "last",        "row",
                                    "rows",        "tile",
                                    "cols",        "acc",
                                    "packed",      "left",
                                    "right",       "depth",
                                    "batch",       "panel",
                                    "sums",        "begin",
                                    "end",         "count",
                                    "best",        "better",
                                    "image",       "images",
                                    "chunk",       "group",
                                    "channel",     "channels",
                                    "taps",        "phases",
                                    "phase",       "shift",
                                    "length",      "raster",
                                    "rasters",     "from",
                                    "to",          "value",
                                    "given",       "planes",
                                    "plane",       "patches",
                                    "seen",        "tiles",
                                    "part",        "slot",
                                    "done",        "weights",
                                    "window",      "where",
                                    "distance",    "inside",
                                    "shape",       "tap_count",
                                    "sort_keys",   "spare_keys",
                                    "places",      "spare_places",
                                    "sorted",      "e",
                                    "f",           "p",
                                    "line",        "is_first",
                                    "is_last",     "m_first",
                                    "m_end",       "n_first",
                                    "n_end",       "vectors",
                                    "width",       "g",
                                    "g0",          "g1",
                                    "g2",          "begin_0",
                                    "begin_1",     "begin_2",
                                    "end_0",       "end_1",
                                    "end_2",       "beyond",
                                    "y0",          "y1",
                                    "y2",          "p0",
                                    "p1",          "lines",
                                    "first_tap",   "offset",
                                    "weight",      "sum",
                                    "w",           "adds",
                                    "place",       "met",
                                    "whole",       "tap",
                                    "steps",       "columns",
                                    "panels",      "own",
                                    "held",        "band",
                                    "runs",        "wide",
                                    "order",       "flat",
                                    "source",      "line",
                                    "y",           "m",
                                    "products",    "packed_part",
                                    "r",           "height",
                                    "gradient",    "heads",
                                    "nexts",       "keeps",
                                    "see",         "zeros",
                                    "chain",       "fours",
                                    "near",        "chain_end",
                                    "blank",       "results",
                                    "row_at",      "tap_of",
                                    "first_row",   "first_at",
                                    "row_weights", "row_sums",
                                    "line_of_x",   "line_of_y",
                                    "first_y",     "to_row",
                                    "is_whole",    "copies",
                                    "copied",      "edge",
                                    "positions",   "piece",
                                    "again",       "s",
                                    "q",           "keys",
                                    "queries",     "turned",
                                    "turned_keys", "turned_values",
                                    "scores",      "received",
                                    "tops",        "totals",
                                    "logs",        "deltas",
                                    "adjoints",    "key_sums",
                                    "value_sums",  "query_sums",
                                    "k_first",     "k_end",
                                    "q_first",     "q_count",
                                    "top",         "before",
                                    "now",         "base",
                                    "factor",      "tile_end",
                                    "both",        "is_new",
                                    "shown",       "head",
                                    "c",           "j",
                                    "values",      "kept",
                                    "cut",         "is_short",
                                    "of",          "stack",
                                    "block",       "of_part",
                                    "wide_seen",   "wide_given",
                                    "l0",          "l1",
                                    "at",          "ahead",
                                    "panel_row",   "fed",
                                    "feed_sums",   "ring",
                                    "begun",       "made",
                                    "from_line",   "to_line",
                                    NULL};

const BackEnd back_end_c = {
    .dialect = &dialect_c,
    .words = words,
    .shares_functions = true,
    .common_functions = common_functions,
    .write_common = common_write,
    .write_kernel = write_kernel,
    .write_declaration = write_declaration,
    .launch_text = function_call_text,
};

/* Whether the function's text mentions the parameter; without a text, all are there. */
static bool is_mentioned(const char *text, const char *parameter) {
  return text == NULL || code_mentions(text, parameter);
}

static const char *parameters_in(Arena *arena, const KernelFunction *function, const char *body) {
  const Kernel *kernel = function->kernel;
  const char *text = "";
  for (int i = 0; i < kernel->operand_count; i++) {
    const KernelOperand *operand = &kernel->operands[i];
    if (is_mentioned(body, function->operands[i]))
      text = arena_printf(arena, "%s, %s%s *restrict %s", text, operand->is_output ? "" : "const ",
                          c_storage_type(operand->dtype), function->operands[i]);
  }
  for (int i = 0; i < kernel->scalar_count; i++)
    if (is_mentioned(body, function->scalars[i]))
      text = arena_printf(arena, "%s, double %s", text, function->scalars[i]);
  for (int i = 0; i < kernel->key_count; i++)
    if (is_mentioned(body, function->keys[i]))
      text = arena_printf(arena, "%s, uint64_t %s", text, function->keys[i]);
  if (kernel->keeps_weights && !body)
    text = arena_printf(arena, "%s, %s *restrict kept", text,
                        c_storage_type(kernel->operands[1].dtype));
  for (int i = 0; i < function->number_count && !body; i++)
    text = arena_printf(arena, "%s, const %s %s", text, function->number_types[i],
                        function->number_names[i]);
  return text;
}

const char *function_parameters(Arena *arena, const KernelFunction *function) {
  return parameters_in(arena, function, NULL);
}

const char *function_epilogue_arguments(Arena *arena, const KernelFunction *function,
                                        const char *epilogue) {
  const Kernel *kernel = function->kernel;
  const int counts[] = {kernel->operand_count, kernel->scalar_count, kernel->key_count};
  const char **const names[] = {function->operands, function->scalars, function->keys};
  const char *text = "";
  for (int kind = 0; kind < 3; kind++)
    for (int i = 0; i < counts[kind]; i++)
      if (is_mentioned(epilogue, names[kind][i]))
        text = arena_printf(arena, "%s, %s", text, names[kind][i]);
  return text;
}

void function_add_epilogue(TemplateHoles *holes, const KernelFunction *function,
                           const char *epilogue) {
  template_add(holes, "EPILOGUE", epilogue);
  template_add(holes, "EPILOGUE_PARAMETERS", parameters_in(holes->arena, function, epilogue));
  template_add(holes, "EPILOGUE_ARGUMENTS",
               function_epilogue_arguments(holes->arena, function, epilogue));
}

void function_write_head(Code *code, const KernelFunction *function) {
  code_line(code, "%s", head_text(code->arena, function));
  code_block(code);
}

bool function_write_empty(Code *code, const KernelFunction *function) {
  const Kernel *kernel = function->kernel;
  if (extent_product(kernel->extent, kernel->axis_count) > 0) return false;
  function_write_head(code, function);
  code_close(code);
  return true;
}

void function_keys(Code *code, const KernelFunction *function) {
  for (int i = 0; i < function->kernel->key_count; i++)
    code_line(code, "%s = nnc_philox_key(worker->seed, %s);", function->keys[i], function->keys[i]);
}

TemplateHoles function_holes(Arena *arena, const KernelFunction *function, int64_t tasks) {
  TemplateHoles holes = {.arena = arena};
  Text keys = {0};
  function_keys(&(Code){.arena = arena, .out = &keys}, function);
  template_add(&holes, "NAME", function->name);
  template_add(&holes, "PARAMETERS", function_parameters(arena, function));
  template_add(&holes, "KEYS", text_take(&keys, arena));
  template_add_integer(&holes, "TASKS", tasks);
  return holes;
}

void function_declare_axis(Code *code, const KernelFunction *function, int axis,
                           const char *value) {
  if (expression_uses_axis(code->arena, function->kernel, axis))
    code_line(code, "const int64_t i%d = %s;", axis, value);
}

const char *function_open_plane(Code *code, int first, int spatial, const int64_t *extent) {
  enum { LEAST_LINE = 8 }; /* shorter ones are better vectorized across */
  const char *place = "0";
  for (int i = 0; i < spatial; i++) {
    const char *axis = arena_printf(code->arena, "i%d", first + i);
    long long length = (long long)extent[i];
    bool is_around = i + 1 < spatial && extent[spatial - 1] >= LEAST_LINE;
    code_open(code, "%sfor (int64_t %s = 0; %s < %lld; %s++)", is_around ? "NNC_AROUND " : "", axis,
              axis, length, axis);
    place = i == 0 ? axis : arena_printf(code->arena, "(%s) * %lld + %s", place, length, axis);
  }
  return place;
}

const char *function_end_epilogue(Code *code, KernelFunction *function, const char *result,
                                  DType dtype) {
  ExprScope scope = function_scope(code->arena, function);
  scope.result = result;
  scope.result_dtype = dtype;
  expression_write_stores(code, &scope, 0);
  while (code->indent > 0) code_close(code);
  return text_take(code->out, code->arena);
}

bool window_stays_inside(const ConvSlots *slots, int i) {
  int64_t reach =
      (slots->out[i] - 1) * slots->stride[i] + (slots->kernel[i] - 1) * slots->dilation[i];
  return slots->low[i] <= 0 && reach - slots->low[i] < slots->in[i];
}

const char *window_inside_text(Arena *arena, const ConvSlots *slots) {
  const char *text = NULL;
  for (int i = 0; i < slots->spatial - 1; i++) {
    if (window_stays_inside(slots, i)) continue;
    int axis = i + 3 - slots->spatial;
    const char *test = arena_printf(arena, "nnc_within(x%d, X%d)", axis, axis);
    text = text ? arena_printf(arena, "%s && %s", text, test) : test;
  }
  return text ? arena_printf(arena, "(%s)", text) : "true";
}
