/* Convolutions as C, from the grid of backend/c/tiles.h: fills codegen_templates/conv.c (forward and
 * the adjoint in the input) and conv_weight.c, or where planes are small conv_patches.c (forward),
 * conv_columns.c (the adjoint in the input) and conv_weight_patches.c (in the weights). */
#include "backend/c/contract.h"
#include "backend/c/conv.h"
#include "backend/c/depthwise.h"
#include "backend/c/narrow.h"
#include "backend/c/taps.h"
#include "backend/c/winograd.h"
#include "backend/common/c.h"

#include "support/integers.h"
#include "support/panic.h"

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

/* The line `l0` or `l1` of the present block as one of the whole plane. */
static const char *blocked_line(const ConvWriter *writer, int axis) {
  return arena_printf(writer->arena, axis == writer->grid.block_axis ? "(l%d + first)" : "l%d",
                      axis);
}

/* Positions of the present block along an axis. */
static const char *blocked_count(const ConvWriter *writer, int axis) {
  const ConvGrid *grid = &writer->grid;
  bool is_cut = axis == grid->block_axis && grid->blocks > 1;
  return is_cut ? "count" : code_integer(writer->arena, grid->grid[axis]);
}

/* Elements of the present block's raster up to its last position. */
static const char *raster_length(const ConvWriter *writer) {
  const ConvGrid *grid = &writer->grid;
  Arena *arena = writer->arena;
  if (grid->blocks <= 1) return code_integer(arena, grid->raster);
  if (grid->block_axis == 2) return "count";
  const char *lines = grid->block_axis == 1 ? "count * L2" : "count * L1 * L2";
  int64_t beyond = grid->length[2] - grid->grid[2];
  if (grid->block_axis == 0) beyond += (grid->length[1] - grid->grid[1]) * grid->length[2];
  return beyond == 0 ? lines : arena_printf(arena, "%s - %lld", lines, (long long)beyond);
}

/* Zeros between a moved raster and the next one. */
static const char *gap_text(const ConvWriter *writer) {
  const ConvGrid *grid = &writer->grid;
  if (extent_product(grid->length, 3) == grid->phase) return "";
  return arena_printf(writer->arena, "  for (int64_t i = L0 * L1 * L2; i < %lld; i++) *to++ = 0;\n",
                      (long long)grid->phase);
}

/* Fills a channel's rasters, at `to`, from its plane, at `from`. */
static const char *rasters_text(const ConvWriter *writer) {
  const ConvGrid *grid = &writer->grid;
  const char *types = arena_printf(writer->arena, "%s_%s", c_type_name(writer->sum),
                                   dtype_name(writer->kernel->operands[0].dtype));
  if (grid->moved)
    return arena_printf(
        writer->arena,
        "NNC_UNROLL for (int64_t f = 0; f < SOURCE_PHASES; f++) {\n"
        "  for (int64_t l0 = 0; l0 < L0; l0++, to += L1 * L2) {\n"
        "    const int64_t x0 = %s + begin[f][0];\n"
        "    nnc_move_plane_%s(to, L1, L2, nnc_within(x0, X0) ? from + x0 * (X1 * X2) : NULL, X1,\n"
        "      %sbegin[f][1], begin[f][2]);\n"
        "  }\n"
        "%s"
        "}\n",
        blocked_line(writer, 0), types, grid->block_axis == 1 ? "first + " : "", gap_text(writer));
  return arena_printf(
      writer->arena,
      "for (int64_t f = 0; f < SOURCE_PHASES; f++)\n"
      "  for (int64_t l0 = 0; l0 < L0; l0++)\n"
      "    for (int64_t l1 = 0; l1 < L1; l1++, to += L2) {\n"
      "      const int64_t x0 = S0 * %s + begin[f][0], x1 = S1 * %s + begin[f][1];\n"
      "      const bool inside = nnc_within(x0, X0) && nnc_within(x1, X1);\n"
      "      nnc_spread_%s(to, L2, inside ? from + (x0 * X1 + x1) * X2 : NULL, S2, %s, X2);\n"
      "    }\n",
      blocked_line(writer, 0), blocked_line(writer, 1), types,
      grid->block_axis == 2 ? "begin[f][2] + S2 * first" : "begin[f][2]");
}

/* conv_weight: dy as the sums read it: `given`, copied to the rasters of dy where their lines have gaps. */
static const char *given_text(const ConvWriter *writer) {
  const ConvGrid *grid = &writer->grid;
  Arena *arena = writer->arena;
  const char *dy = writer->function->operands[1], *type = c_value_type(writer->sum);
  const char *storage = c_storage_type(writer->kernel->operands[1].dtype);
  if (grid->dy_in_place)
    return arena_printf(
        arena, "const %s *const given = %s + ((image * GROUPS + group) * ROWS + row) * DY_ROW;\n",
        type, dy);
  const char *spread = arena_printf(arena, "nnc_spread_%s_%s", c_type_name(writer->sum),
                                    dtype_name(writer->kernel->operands[1].dtype));
  bool is_row = grid->block_axis == 2;
  const char *begin = is_row ? "first" : "0";
  const char *end = is_row ? "first + count" : code_integer(arena, grid->grid[2]);
  return arena_printf(arena,
                      "const %s *const given = rasters;\n"
                      "for (int64_t r = 0; r < rows; r++) {\n"
                      "  const %s *const from = %s + ((image * GROUPS + group) * ROWS + row + r) * "
                      "((int64_t)Y0 * Y1 * Y2);\n"
                      "  %s *const to = rasters + r * DY_ROW;\n"
                      "  for (int64_t l0 = 0, at = 0; at < length; l0++)\n"
                      "    for (int64_t l1 = 0; l1 < L1 && at < length; l1++, at += L2) {\n"
                      "      const bool inside = l0 < %s && l1 < %s;\n"
                      "      const %s *const line = inside ? from + (%s * Y1 + %s) * Y2 : NULL;\n"
                      "      /* Whole lines have a length that the C compiler knows. */\n"
                      "      if (at + L2 <= length)\n"
                      "        %s(to + at, L2, line, 1, %s, %s);\n"
                      "      else\n"
                      "        %s(to + at, length - at, line, 1, %s, %s);\n"
                      "    }\n"
                      "}\n",
                      type, storage, dy, type, blocked_count(writer, 0), blocked_count(writer, 1),
                      storage, blocked_line(writer, 0), blocked_line(writer, 1), spread, begin, end,
                      spread, begin, end);
}

/* ---- small planes ---- */

/* Declares `seen`, from which patches are cut: the plane itself where it has no padding and is
 * read step by step, else a raster of it. */
static const char *raster_text(const ConvWriter *writer) {
  const ConvGrid *grid = &writer->grid;
  const char *type = c_value_type(writer->sum);
  bool as_it_is = writer->kernel->operands[0].dtype == writer->sum;
  for (int i = 0; i < 3; i++)
    as_it_is = as_it_is && grid->low[i] == 0 && grid->stride[i] == 1 &&
               grid->length[i] == grid->extent_in[i];
  if (as_it_is) return arena_printf(writer->arena, "const %s *const seen = from;\n", type);
  return arena_printf(
      writer->arena,
      "const %s *const seen = raster;\n"
      "for (int64_t f = 0; f < SOURCE_PHASES; f++)\n"
      "  for (int64_t line = 0; line < (int64_t)L0 * L1; line++) {\n"
      "    const int64_t x0 = S0 * (line / L1) + begin[f][0], x1 = S1 * (line %% L1) + "
      "begin[f][1];\n"
      "    const bool inside = nnc_within(x0, X0) && nnc_within(x1, X1);\n"
      "    nnc_spread_%s_%s(raster + (f * (L0 * L1) + line) * L2, L2,\n"
      "                     inside ? from + (x0 * X1 + x1) * X2 : NULL, S2, begin[f][2], X2);\n"
      "  }\n",
      type, c_type_name(writer->sum), dtype_name(writer->kernel->operands[0].dtype));
}

/* Copies what a tap sees of `seen` to `to`, which then points after it. */
static const char *cut_text(const ConvWriter *writer) {
  const ConvGrid *grid = &writer->grid;
  bool is_whole = true;
  for (int i = 0; i < 3; i++)
    is_whole = is_whole && grid->kernel[i] == 1 && grid->stride[i] == 1 && grid->low[i] == 0 &&
               grid->length[i] == grid->extent_in[i] && grid->extent_out[i] == grid->extent_in[i];
  if (is_whole)
    return "memcpy(to, seen + taps[t].offset, sizeof *to * POSITIONS);\n"
           "to += POSITIONS;\n";
  return "for (int64_t line = 0; line < (int64_t)Y0 * Y1; line++, to += Y2)\n"
         "  memcpy(to, seen + taps[t].offset + (line / Y1 * L1 + line % Y1) * L2, sizeof *to * "
         "Y2);\n";
}

/* Rows of the smallest block of conv_columns.c. */
static int64_t least_rows(const ConvGrid *grid) {
  int64_t last = grid->rows - (grid->rows - 1) / grid->row_block * grid->row_block;
  return last * grid->kernel[0] * grid->kernel[1] * grid->kernel[2];
}

static const char *template_name(const ConvWriter *writer) {
  bool by_patches = writer->grid.by_patches;
  if (writer->grid.by_columns) return "codegen_templates/conv_columns.c";
  if (writer->is_weight)
    return by_patches ? "codegen_templates/conv_weight_patches.c"
                      : "codegen_templates/conv_weight.c";
  return by_patches ? "codegen_templates/conv_patches.c" : "codegen_templates/conv.c";
}

/* ---- what fills the template ---- */

static void add_operands(const ConvWriter *writer, TemplateHoles *holes) {
  const KernelFunction *function = writer->function;
  const KernelOperand *operands = writer->kernel->operands;
  template_add(holes, "TYPE", c_value_type(writer->sum));
  template_add(holes, "T", c_type_name(writer->sum));
  template_add(holes, "SOURCE", function->operands[0]);
  template_add(holes, "SOURCE_TYPE", c_storage_type(operands[0].dtype));
  template_add(holes, "SOURCE_T", dtype_name(operands[0].dtype));
  template_add(holes, "DY", function->operands[1]);
  template_add(holes, "DY_TYPE", c_storage_type(operands[1].dtype));
  template_add(holes, "DY_T", dtype_name(operands[1].dtype));
  template_add(holes, "W", writer->is_weight ? "" : function->operands[1]);
  template_add(holes, "WEIGHTS", writer->is_weight ? "" : weights_text(writer));
}

/* conv_weight: sums of vectors that go on from part to part, or of all at once. */
static void add_sums(const ConvWriter *writer, TemplateHoles *holes) {
  const char *name = c_type_name(writer->sum);
  bool is_one = writer->grid.is_one_sum;
  template_add_integer(holes, "IS_ONE_SUM", is_one);
  template_add(holes, "SUMS_ARE", is_one ? "at" : "the lanes of");
  template_add(holes, "SUMS_TYPE",
               is_one ? c_value_type(writer->sum)
                      : arena_printf(writer->arena, "nnc_mem_%s", name));
  template_add(holes, "SUMS_TO",
               is_one ? "NULL, COLUMNS, sums + r * COLUMNS + t"
                      : "sums + r * COLUMNS + t, COLUMNS, NULL");
}

/* How the work is cut, and pieces of the worker's block. */
static void add_grid(const ConvWriter *writer, TemplateHoles *holes) {
  const ConvGrid *grid = &writer->grid;
  bool blocks_rows = writer->is_weight || writer->is_small;
  int64_t last_block = writer->is_weight ? grid->channels % grid->channel_block : 0;
  template_add_integer(holes, "IMAGES", grid->images);
  template_add_integer(holes, "GROUPS", grid->groups);
  template_add_integer(holes, "ROWS", grid->rows);
  template_add_integer(holes, "CHANNELS", grid->channels);
  template_add_integer(holes, "RB", grid->row_block);
  template_add_integer(holes, "CB", grid->channel_block);
  /* Planes that every task fills. Sums multiply what lies after the last one by 0. */
  template_add(holes, "FILLED", last_block > 0 ? code_integer(holes->arena, last_block) : "CB");
  template_add_integer(holes, "ROW_BLOCKS",
                       blocks_rows ? divide_up(grid->rows, grid->row_block) : 1);
  template_add_integer(holes, "CHANNEL_BLOCKS",
                       writer->is_weight ? divide_up(grid->channels, grid->channel_block) : 1);
  template_add_integer(holes, "CHUNK", grid->group_chunk);
  template_add_integer(holes, "CHUNKS", grid->chunks);
  template_add_integer(holes, "BLOCK", grid->block);
  template_add_integer(holes, "BLOCKS", grid->blocks);
  template_add_integer(holes, "STACK", grid->stack);
  template_add_integer(holes, "LEAST_ROWS", grid->by_columns ? least_rows(grid) : 1);
  template_add_integer(holes, "SPAN", grid->span);
  add_sums(writer, holes);
  template_add_integer(holes, "SOURCE_BYTES", grid->source_bytes);
  template_add_integer(holes, "TILE_AT", grid->source_bytes + grid->other_bytes);
}

/* Extents of the convolution and of its rasters. */
static void add_extents(const ConvWriter *writer, TemplateHoles *holes) {
  static const int64_t ones[3] = {1, 1, 1};
  const ConvGrid *grid = &writer->grid;
  bool from_y = writer->is_input && !grid->by_columns;
  bool converts = writer->kernel->operands[1].dtype != writer->sum;
  int64_t own_channel = writer->is_input ? grid->rows : 1;
  int64_t own_row = writer->is_input ? 1 : grid->channels;
  int64_t taps = extent_product(grid->kernel, 3);
  template_add_axes(holes, "K", grid->kernel);
  template_add_axes(holes, "D", grid->dilation);
  template_add_axes(holes, "P", grid->low);
  template_add_axes(holes, "L", grid->length);
  template_add_axes(holes, "X", from_y ? grid->extent_out : grid->extent_in);
  template_add_axes(holes, "Y", grid->extent_out);
  template_add_axes(holes, "S", from_y ? ones : grid->stride);
  template_add_integer(holes, "TAPS", taps);
  template_add_integer(holes, "A_ROW", (converts ? grid->channels : own_row) * taps);
  template_add_integer(holes, "A_CHANNEL", (converts ? 1 : own_channel) * taps);
  template_add_integer(holes, "POSITIONS",
                       writer->is_small ? extent_product(grid->extent_out, 3)
                                        : grid->grid[grid->block_axis]);
  template_add_integer(holes, "PADDED", grid->padded);
  template_add_integer(holes, "PLANE", grid->plane);
  template_add_integer(holes, "TILE_ROW", grid->raster + (grid->dy_in_place ? 0 : RASTER_SLACK));
  template_add_integer(holes, "SOURCE_PHASES", extent_product(grid->source_phases, 3));
  template_add_integer(holes, "OUTPUT_PHASES", extent_product(grid->output_phases, 3));
  template_add_integer(holes, "ROW_PHASES", grid->output_phases[2]);
}

/* conv_columns.c: adds what a tap has of a line to the line that it has read. */
static const char *add_text(const ConvWriter *writer) {
  bool is_inner = window_stays_inside(&writer->kernel->conv, writer->kernel->conv.spatial - 1);
  const char *name = c_type_name(writer->sum);
  if (writer->grid.stride[2] == 1 && is_inner)
    return arena_printf(writer->arena, "nnc_add_row_%s(to, from + line * Y2, Y2);", name);
  if (writer->grid.stride[2] == 1)
    return arena_printf(
        writer->arena,
        "const int64_t i = nnc_greatest(P2 - t2 * D2, 0), end = nnc_least(X2 + P2 - t2 * D2, Y2);\n"
        "nnc_add_row_%s(to + i, from + line * Y2 + i, end - i);",
        name);
  return arena_printf(writer->arena,
                      "for (int64_t i = %s; i < %s; i++) to[i * S2] += from[line * Y2 + i];",
                      is_inner ? "0" : "nnc_greatest((P2 - t2 * D2 + S2 - 1) / S2, 0)",
                      is_inner ? "Y2" : "nnc_least((X2 - 1 + P2 - t2 * D2 + S2) / S2, Y2)");
}

/* Where rasters begin, and which elements taps meet. */
static void add_places(const ConvWriter *writer, TemplateHoles *holes) {
  const ConvGrid *grid = &writer->grid;
  const char *taps, *phases;
  conv_tap_tables(writer, &taps, &phases);
  template_add(holes, "TAP_TABLE", taps);
  template_add(holes, "PHASE_TABLE", phases);
  template_add(holes, "BEGINS", conv_begin_table(writer));
  const char *cut_from = grid->by_patches ? raster_text(writer) : "";
  template_add(holes, "RASTER", cut_from);
  template_add(holes, "RASTERS", writer->is_small ? "" : rasters_text(writer));
  const char *type = c_value_type(writer->sum);
  const char *other = arena_printf(holes->arena, "(%s *)(worker->scratch + %lld);\n", type,
                                   (long long)grid->source_bytes);
  bool converts = writer->kernel->operands[1].dtype != writer->sum;
  template_add(holes, "PACKED",
               converts ? arena_printf(holes->arena, "%s *const packed = %s", type, other) : "");
  template_add(
      holes, "DY_RASTERS",
      grid->dy_in_place ? "" : arena_printf(holes->arena, "%s *const rasters = %s", type, other));
  const char *raster = raster_length(writer);
  const char *given = writer->is_weight ? given_text(writer) : "";
  bool has_count = code_mentions(raster, "count") || code_mentions(given, "count");
  template_add(holes, "RASTER_LENGTH", raster);
  template_add(holes, "GIVEN", given);
  template_add(holes, "COUNT",
               has_count ? "const int64_t count = nnc_least(BLOCK, POSITIONS - first);\n" : "");
  bool has_raster = code_mentions(cut_from, "raster");
  template_add(holes, "PHASES",
               has_raster ? arena_printf(holes->arena,
                                         "static const int32_t begin[SOURCE_PHASES][3] = %s;\n",
                                         conv_begin_table(writer))
                          : "");
  template_add(holes, "RASTER_OF",
               has_raster
                   ? arena_printf(holes->arena, "%s *const raster = (%s *)worker->scratch;\n",
                                  c_value_type(writer->sum), c_value_type(writer->sum))
                   : "");
  template_add(holes, "CUT", grid->by_patches ? cut_text(writer) : "");
  template_add(holes, "INSIDE", window_inside_text(holes->arena, &writer->kernel->conv));
  template_add(holes, "ADD", add_text(writer));
}

/* The kernel as one of the product, whose axes the function's epilogue declares. */
static void write_product(Code *code, const KernelFunction *function) {
  WindowProduct product = window_product(code->arena, function->kernel);
  KernelFunction own = *function;
  own.kernel = product.kernel;
  contract_write_product(code, &own, &product);
}

static void conv_write(Code *code, KernelFunction *function) {
  const Kernel *kernel = function->kernel;
  if (kernel_is_depthwise(kernel)) {
    depthwise_write(code, function);
    return;
  }
  if (kernel_is_winograd(kernel)) {
    winograd_write(code, function);
    return;
  }
  if (kernel_is_narrow(kernel)) {
    narrow_write(code, function);
    return;
  }
  if (kernel_goes_by_taps(kernel)) {
    taps_write(code, function);
    return;
  }
  if (conv_is_product(kernel)) {
    if (!function_write_empty(code, function)) write_product(code, function);
    return;
  }
  ConvWriter writer = {.arena = code->arena,
                       .function = function,
                       .kernel = kernel,
                       .grid = conv_grid(kernel),
                       .sum = kernel_sum_type(kernel),
                       .is_input = kernel->kind == KERNEL_CONV_INPUT,
                       .is_weight = kernel->kind == KERNEL_CONV_WEIGHT,
                       .absent = 3 - kernel->conv.spatial};
  CHECK(kernel->axis_count == 2 + kernel->conv.spatial);
  if (function_write_empty(code, function)) return;
  writer.is_small = writer.grid.by_columns || writer.grid.by_patches;
  TemplateHoles holes = function_holes(code->arena, function, writer.grid.tasks);
  add_operands(&writer, &holes);
  add_grid(&writer, &holes);
  add_extents(&writer, &holes);
  add_places(&writer, &holes);
  function_add_epilogue(&holes, function, conv_epilogue(&writer));
  template_render(code->out, template_name(&writer), &holes);
}

static ContractGrid product_grid(const Kernel *kernel) {
  Arena *arena = arena_create();
  WindowProduct product = window_product(arena, kernel);
  ContractGrid grid = contract_grid(product.kernel, &product);
  arena_destroy(arena);
  return grid;
}

static int64_t conv_tasks(const Kernel *kernel) {
  if (kernel_is_depthwise(kernel)) return depthwise_tasks(kernel);
  if (kernel_is_winograd(kernel)) return winograd_tasks(kernel);
  if (kernel_is_narrow(kernel)) return narrow_tasks(kernel);
  if (kernel_goes_by_taps(kernel)) return taps_tasks(kernel);
  return conv_is_product(kernel) ? product_grid(kernel).tasks : conv_grid(kernel).tasks;
}

static int64_t conv_worker_bytes(const Kernel *kernel) {
  if (kernel_is_depthwise(kernel)) return depthwise_worker_bytes(kernel);
  if (kernel_is_winograd(kernel)) return winograd_worker_bytes(kernel);
  if (kernel_is_narrow(kernel)) return narrow_worker_bytes(kernel);
  if (kernel_goes_by_taps(kernel)) return taps_worker_bytes(kernel);
  if (conv_is_product(kernel)) {
    ContractGrid grid = product_grid(kernel);
    return grid.a_bytes + grid.b_bytes + grid.tile_bytes;
  }
  ConvGrid grid = conv_grid(kernel);
  return grid.source_bytes + grid.other_bytes + grid.tile_bytes;
}

int64_t weights_kept_bytes(const Kernel *kernel) {
  if (kernel->is_x3 || kernel_multiplies_bf16(kernel)) return 0;
  if (kernel->kind == KERNEL_CONTRACT) return contract_kept_bytes(kernel, NULL);
  if (kernel->kind != KERNEL_CONV) return 0;
  if (kernel_is_depthwise(kernel)) return depthwise_kept_bytes(kernel);
  if (kernel_is_winograd(kernel)) return winograd_kept_bytes(kernel);
  if (kernel_goes_by_taps(kernel)) return taps_kept_bytes(kernel);
  if (!conv_is_product(kernel)) return 0;
  Arena *arena = arena_create();
  WindowProduct product = window_product(arena, kernel);
  int64_t bytes = contract_kept_bytes(product.kernel, &product);
  arena_destroy(arena);
  return bytes;
}

bool weights_are_packed(const Kernel *kernel) {
  if (kernel->kind == KERNEL_CONTRACT) return contract_packs_weights(kernel, NULL);
  if (kernel->kind != KERNEL_CONV || kernel_is_depthwise(kernel)) return false;
  if (kernel_is_winograd(kernel)) return kernel->is_serial; /* each block of a task loop would */
  if (!conv_is_product(kernel) || kernel_goes_by_taps(kernel)) return false;
  Arena *arena = arena_create();
  WindowProduct product = window_product(arena, kernel);
  bool packs = contract_packs_weights(product.kernel, &product);
  arena_destroy(arena);
  return packs;
}

/* By minimal filtering, where that is variant 0, then those of the product. */
static int64_t conv_variants(const Kernel *kernel) {
  bool has_one = kernel_is_depthwise(kernel) || kernel_is_narrow(kernel) ||
                 kernel_goes_by_taps(kernel) || !conv_is_product(kernel);
  if (has_one) return 1;
  Arena *arena = arena_create();
  WindowProduct product = window_product(arena, kernel);
  int64_t count = contract_variants(product.kernel, &product);
  arena_destroy(arena);
  return count + kernel_gains_by_winograd(kernel);
}

static const char *conv_text(Arena *arena, const Kernel *kernel) {
  if (kernel_is_winograd(kernel)) return "Winograd's minimal filtering";
  WindowProduct product = window_product(arena, kernel);
  return contract_text(arena, product.kernel, &product);
}

#define CONVOLUTION                                                                                \
  {                                                                                                \
    .tasks = conv_tasks, .worker_bytes = conv_worker_bytes, .variants = conv_variants,             \
    .variant_text = conv_text, .write = conv_write, .weight = 15, .header = "nnc_convolutions.h"   \
  }
const TargetKernel c_kernel_conv = CONVOLUTION, c_kernel_conv_input = CONVOLUTION,
                   c_kernel_conv_weight = CONVOLUTION;
