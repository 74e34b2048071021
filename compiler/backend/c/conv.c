/* Convolutions as C: fills codegen_templates/conv.c (forward and the adjoint in the input) and
 * conv_weight.c from the grid of kernel/tiles.h. */
#include "backend/c/kernels.h"

#include "backend/c/template.h"
#include "kernel/tiles.h"
#include "support/panic.h"

enum { RASTER_SLACK = 2 * TILE_MAX_COLUMNS }; /* as in kernel/tiles_conv.c */

typedef struct ConvWriter {
  Arena *arena;
  KernelFunction *function;
  const Kernel *kernel;
  ConvGrid grid;
  DType sum;
  bool is_input, is_weight;
  int absent; /* leading axes that the kernel does not have */
} ConvWriter;

/* ---- tables ---- */

/* For each source phase: source element of raster place 0 along each axis, block beginning at 0. */
static const char *begin_table(const ConvWriter *writer) {
  const ConvGrid *grid = &writer->grid;
  Text text = {0};
  text_add(&text, "{");
  for (int64_t f0 = 0; f0 < grid->source_phases[0]; f0++)
    for (int64_t f1 = 0; f1 < grid->source_phases[1]; f1++)
      for (int64_t f2 = 0; f2 < grid->source_phases[2]; f2++) {
        int64_t phase[3] = {f0, f1, f2};
        text_add(&text, text.length > 1 ? ", {" : "{");
        for (int i = 0; i < 3; i++) {
          int64_t begin = writer->is_input ? grid->least[i] - grid->extra[i]
                                           : grid->phase_residue[i][phase[i]] - grid->low[i];
          text_printf(&text, "%s%lld", i ? ", " : "", (long long)begin);
        }
        text_add(&text, "}");
      }
  text_add(&text, "}");
  const char *table = arena_strdup(writer->arena, text.data);
  text_free(&text);
  return table;
}

static int64_t source_phase(const ConvGrid *grid, int axis, int64_t residue) {
  for (int64_t i = 0; i < grid->source_phases[axis]; i++)
    if (grid->phase_residue[axis][i] == residue) return i;
  panic("a tap without a source phase");
}

/* Where the element under a tap lies in the channel's rasters, from the output's place. */
static int64_t tap_offset(const ConvWriter *writer, const int64_t *tap) {
  const ConvGrid *grid = &writer->grid;
  int64_t place = 0, phase = 0;
  for (int i = 0; i < 3; i++) {
    int64_t reach = tap[i] * grid->dilation[i], steps = reach / grid->stride[i];
    place = place * grid->length[i] + (writer->is_input ? grid->extra[i] - steps : steps);
    if (!writer->is_input)
      phase = phase * grid->source_phases[i] + source_phase(grid, i, reach % grid->stride[i]);
  }
  return phase * grid->length[0] * grid->length[1] * grid->length[2] + place;
}

static bool tap_is_of_phase(const ConvWriter *writer, const int64_t *tap, const int64_t *residue) {
  const ConvGrid *grid = &writer->grid;
  for (int i = 0; i < 3; i++)
    if (writer->is_input && tap[i] * grid->dilation[i] % grid->stride[i] != residue[i])
      return false;
  return true;
}

/* Adds the taps of an output phase; returns how many. */
static int add_taps(const ConvWriter *writer, Text *table, const int64_t *residue) {
  const int64_t *kernel = writer->grid.kernel;
  int count = 0;
  for (int64_t t0 = 0; t0 < kernel[0]; t0++)
    for (int64_t t1 = 0; t1 < kernel[1]; t1++)
      for (int64_t t2 = 0; t2 < kernel[2]; t2++) {
        int64_t tap[3] = {t0, t1, t2};
        if (!tap_is_of_phase(writer, tap, residue)) continue;
        text_printf(table, "%s{%lld, %lld}", table->length > 1 ? ", " : "",
                    (long long)((t0 * kernel[1] + t1) * kernel[2] + t2),
                    (long long)tap_offset(writer, tap));
        count++;
      }
  return count;
}

static void tap_tables(const ConvWriter *writer, const char **taps, const char **phases) {
  const ConvGrid *grid = &writer->grid;
  Text tap_table = {0}, phase_table = {0};
  text_add(&tap_table, "{");
  text_add(&phase_table, "{");
  int total = 0;
  for (int64_t f0 = 0; f0 < grid->output_phases[0]; f0++)
    for (int64_t f1 = 0; f1 < grid->output_phases[1]; f1++)
      for (int64_t f2 = 0; f2 < grid->output_phases[2]; f2++) {
        int64_t residue[3] = {f0, f1, f2};
        int count = add_taps(writer, &tap_table, residue);
        text_printf(&phase_table, "%s{%d, %d", phase_table.length > 1 ? ", " : "", total, count);
        for (int i = 0; i < 3; i++)
          text_printf(&phase_table, ", %lld",
                      (long long)(grid->stride[i] * grid->least[i] + residue[i] - grid->low[i]));
        text_add(&phase_table, "}");
        total += count;
      }
  text_add(&tap_table, total ? "}" : "{0, 0}}");
  text_add(&phase_table, "}");
  *taps = arena_strdup(writer->arena, tap_table.data);
  *phases = arena_strdup(writer->arena, phase_table.data);
  text_free(&tap_table);
  text_free(&phase_table);
}

/* ---- epilogues ---- */

/* Opens the loop over the positions of axis `i` and declares the kernel's axis. */
static void open_position(const ConvWriter *writer, Code *code, int i) {
  const ConvGrid *grid = &writer->grid;
  bool blocked = i == grid->block_axis;
  const char *begin = blocked ? "first" : "0";
  const char *end = blocked ? "first + count" : c_integer(code->arena, grid->grid[i]);
  const char *axis = arena_printf(code->arena, "i%d", 2 + i - writer->absent);
  bool used = kernel_uses_axis(code->arena, writer->kernel, 2 + i - writer->absent);
  if (grid->output_phases[i] == 1) {
    code_open(code, "for (int64_t g%d = %s; g%d < %s; g%d++)", i, begin, i, end, i);
    if (used) code_line(code, "const int64_t %s = g%d;", axis, i);
    return;
  }
  long long stride = (long long)grid->stride[i];
  code_line(code, "const int64_t begin_%d = nnc_greatest(%s, shift[%d] < 0);", i, begin, i);
  code_line(code, "const int64_t end_%d = nnc_least(%s, (%lld - shift[%d]) / %lld);", i, end,
            (long long)grid->extent_in[i] + stride - 1, i, stride);
  code_open(code, "for (int64_t g%d = begin_%d; g%d < end_%d; g%d++)", i, i, i, i, i);
  if (used) code_line(code, "const int64_t %s = %lld * g%d + shift[%d];", axis, stride, i, i);
}

static void write_epilogue_stores(const ConvWriter *writer, Code *code, const char *result) {
  ExprScope scope = function_scope(writer->arena, writer->function);
  scope.result = result;
  scope.result_dtype = writer->sum;
  const char **values = expression_render(code, &scope, 0);
  for (int i = 0; i < writer->kernel->epilogue_count; i++)
    expression_store(code, &scope, &writer->kernel->epilogue[i], values[i]);
}

static const char *code_text(Arena *arena, Text *text) {
  const char *result = text->data ? arena_strdup(arena, text->data) : "";
  text_free(text);
  return result;
}

static const char *map_epilogue(const ConvWriter *writer) {
  const ConvGrid *grid = &writer->grid;
  Text text = {0};
  Code code = {.arena = writer->arena, .out = &text};
  if (kernel_uses_axis(code.arena, writer->kernel, 0))
    code_line(&code, "const int64_t i0 = image;");
  code_open(&code, "for (int64_t r = 0; r < rows; r++)");
  if (kernel_uses_axis(code.arena, writer->kernel, 1))
    code_line(&code, "const int64_t i1 = channel + r;");
  const char *place = "0";
  for (int i = writer->absent; i < 3; i++) {
    open_position(writer, &code, i);
    const char *own = arena_printf(code.arena, i == grid->block_axis ? "(g%d - first)" : "g%d", i);
    place = i == writer->absent ? own
                                : arena_printf(code.arena, "(%s) * %lld + %s", place,
                                               (long long)grid->length[i], own);
  }
  write_epilogue_stores(writer, &code,
                        arena_printf(code.arena, "tile[r * %lld + %s]",
                                     (long long)(grid->raster + RASTER_SLACK), place));
  for (int i = writer->absent; i < 3; i++) code_close(&code);
  code_close(&code);
  return code_text(writer->arena, &text);
}

static const char *weight_epilogue(const ConvWriter *writer) {
  const ConvGrid *grid = &writer->grid;
  long long taps = (long long)(grid->kernel[0] * grid->kernel[1] * grid->kernel[2]);
  Text text = {0};
  Code code = {.arena = writer->arena, .out = &text};
  code_open(&code, "for (int64_t r = 0; r < rows; r++)");
  if (kernel_uses_axis(code.arena, writer->kernel, 0))
    code_line(&code, "const int64_t i0 = row + r;");
  code_open(&code, "for (int64_t c = 0; c < channels; c++)");
  if (kernel_uses_axis(code.arena, writer->kernel, 1))
    code_line(&code, "const int64_t i1 = channel + c;");
  const char *tap = "0";
  for (int i = writer->absent; i < 3; i++) {
    const char *axis = arena_printf(code.arena, "i%d", 2 + i - writer->absent);
    code_open(&code, "for (int64_t %s = 0; %s < %lld; %s++)", axis, axis,
              (long long)grid->kernel[i], axis);
    tap = i == writer->absent
              ? axis
              : arena_printf(code.arena, "(%s) * %lld + %s", tap, (long long)grid->kernel[i], axis);
  }
  const char *result =
      arena_printf(code.arena, "nnc_lane_sum_%s(sums + (r * %lld + c) * %lld + %s)",
                   c_type_name(writer->sum), (long long)grid->channel_block, taps, tap);
  write_epilogue_stores(writer, &code, result);
  for (int i = writer->absent; i < 3; i++) code_close(&code);
  code_close(&code);
  code_close(&code);
  return code_text(writer->arena, &text);
}

/* ---- the function ---- */

/* Weights of a strip: `a` with strides of rows and channels. Other types are converted first. */
static const char *weights_text(const ConvWriter *writer) {
  Arena *arena = writer->arena;
  const char *w = writer->function->operands[1], *type = c_value_type(writer->sum);
  const char *place = writer->is_input ? "(group * CHANNELS + c) * ROWS + m + r"
                                       : "(group * ROWS + m + r) * CHANNELS + c";
  if (writer->kernel->operands[1].dtype == writer->sum) {
    const char *first =
        writer->is_input ? "group * CHANNELS * ROWS + m" : "(group * ROWS + m) * CHANNELS";
    return arena_printf(arena, "const %s *const a = %s + (%s) * TAPS;\n", type, w, first);
  }
  const char *names = arena_printf(arena, "%s_%s", c_type_name(writer->sum),
                                   dtype_name(writer->kernel->operands[1].dtype));
  return arena_printf(
      arena,
      "for (int64_t r = 0; r < rows; r++)\n"
      "  for (int64_t c = 0; c < CHANNELS; c++)\n"
      "    nnc_spread_%s(packed + (r * CHANNELS + c) * TAPS, TAPS, %s + (%s) * TAPS, 1, 0, TAPS);\n"
      "const %s *const a = packed;\n",
      names, w, place, type);
}

static const char *keys_text(const ConvWriter *writer) {
  Text text = {0};
  Code code = {.arena = writer->arena, .out = &text};
  function_keys(&code, writer->function);
  return code_text(writer->arena, &text);
}

static int64_t product(const int64_t *extent) { return extent[0] * extent[1] * extent[2]; }

static bool is_empty(const ConvWriter *writer) {
  for (int i = 0; i < writer->kernel->axis_count; i++)
    if (writer->kernel->extent[i] == 0) return true;
  return false;
}

void conv_write(Code *code, KernelFunction *function) {
  Arena *arena = code->arena;
  const Kernel *kernel = function->kernel;
  ConvWriter writer = {.arena = arena,
                       .function = function,
                       .kernel = kernel,
                       .grid = kernel_conv_grid(kernel),
                       .sum = kernel_sum_type(kernel),
                       .is_input = kernel->kind == KERNEL_CONV_INPUT,
                       .is_weight = kernel->kind == KERNEL_CONV_WEIGHT,
                       .absent = 3 - kernel->conv.spatial};
  const ConvGrid *grid = &writer.grid;
  CHECK(kernel->axis_count == 2 + kernel->conv.spatial);
  if (is_empty(&writer)) {
    function_write_empty(code, function);
    return;
  }
  const char *taps, *phases;
  tap_tables(&writer, &taps, &phases);
  const int64_t *source = writer.is_input ? grid->extent_out : grid->extent_in;
  bool converts = kernel->operands[1].dtype != writer.sum;
  const char *first[3], *count[3];
  for (int i = 0; i < 3; i++) {
    first[i] = i == grid->block_axis ? "first" : "0";
    count[i] = i == grid->block_axis ? "count" : c_integer(arena, grid->grid[i]);
  }
  int64_t own_channel = writer.is_input ? grid->rows : 1,
          own_row = writer.is_input ? 1 : grid->channels;
  int64_t tap_count = product(grid->kernel);
#define INTEGER(name, value)                                                                       \
  { name, c_integer(arena, value) }
  const TemplateHole holes[] = {
      {"NAME", function->name},
      {"PARAMETERS", function_parameters(arena, function)},
      {"ARGUMENTS", function_arguments(arena, function)},
      {"UNUSED", function_unused(arena, function)},
      {"EPILOGUE", writer.is_weight ? weight_epilogue(&writer) : map_epilogue(&writer)},
      {"KEYS", keys_text(&writer)},
      {"TYPE", c_value_type(writer.sum)},
      {"T", c_type_name(writer.sum)},
      {"SOURCE", function->operands[0]},
      {"SOURCE_TYPE", c_storage_type(kernel->operands[0].dtype)},
      {"SOURCE_T", dtype_name(kernel->operands[0].dtype)},
      {"DY", function->operands[1]},
      {"DY_TYPE", c_storage_type(kernel->operands[1].dtype)},
      {"DY_T", dtype_name(kernel->operands[1].dtype)},
      {"WEIGHTS", writer.is_weight ? "" : weights_text(&writer)},
      INTEGER("A_ROW", (converts ? grid->channels : own_row) * tap_count),
      INTEGER("A_CHANNEL", (converts ? 1 : own_channel) * tap_count),
      INTEGER("IMAGES", grid->images),
      INTEGER("GROUPS", grid->groups),
      INTEGER("ROWS", grid->rows),
      INTEGER("CHANNELS", grid->channels),
      INTEGER("RB", grid->row_block),
      INTEGER("CB", grid->channel_block),
      INTEGER("ROW_BLOCKS",
              writer.is_weight ? (grid->rows + grid->row_block - 1) / grid->row_block : 1),
      INTEGER("CHANNEL_BLOCKS",
              writer.is_weight ? (grid->channels + grid->channel_block - 1) / grid->channel_block
                               : 1),
      INTEGER("TASKS", grid->tasks),
      INTEGER("CHUNK", grid->group_chunk),
      INTEGER("CHUNKS", grid->chunks),
      INTEGER("BLOCK", grid->block),
      INTEGER("BLOCKS", grid->blocks),
      INTEGER("POSITIONS", grid->grid[grid->block_axis]),
      INTEGER("L0", grid->length[0]),
      INTEGER("L1", grid->length[1]),
      INTEGER("L2", grid->length[2]),
      INTEGER("PLANE", grid->plane),
      INTEGER("TILE_ROW", grid->raster + RASTER_SLACK),
      INTEGER("X0", source[0]),
      INTEGER("X1", source[1]),
      INTEGER("X2", source[2]),
      INTEGER("Y0", grid->extent_out[0]),
      INTEGER("Y1", grid->extent_out[1]),
      INTEGER("Y2", grid->extent_out[2]),
      INTEGER("S0", writer.is_input ? 1 : grid->stride[0]),
      INTEGER("S1", writer.is_input ? 1 : grid->stride[1]),
      INTEGER("S2", writer.is_input ? 1 : grid->stride[2]),
      INTEGER("SOURCE_PHASES", product(grid->source_phases)),
      INTEGER("OUTPUT_PHASES", product(grid->output_phases)),
      INTEGER("TAPS", tap_count),
      {"BEGINS", begin_table(&writer)},
      {"TAP_TABLE", taps},
      {"PHASE_TABLE", phases},
      INTEGER("SOURCE_BYTES", grid->source_bytes),
      INTEGER("OTHER_BYTES", grid->other_bytes),
      {"FIRST_0", first[0]},
      {"FIRST_1", first[1]},
      {"FIRST_2", first[2]},
      {"COUNT_0", count[0]},
      {"COUNT_1", count[1]},
      {"COUNT_2", count[2]},
  };
#undef INTEGER
  template_render(code->out,
                  writer.is_weight ? "codegen_templates/conv_weight.c" : "codegen_templates/conv.c",
                  (int)(sizeof holes / sizeof *holes), holes);
}
