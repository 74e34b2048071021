/* Contractions as C: fills codegen_templates/contract.c.
 *
 * Roles: the grid (backend/c/tiles.h) may swap the operands, so that the side whose elements are
 * broadcast (`a`, rows of the tile) is the kernel's right one. */
#include "backend/c/contract.h"
#include "backend/common/c.h"

#include <string.h>

#include "kernel/builder.h"
#include "support/integers.h"
#include "support/panic.h"

const char *contract_rows_in_place(const ContractWriter *writer) {
  return contract_from(
      writer, writer->left,
      contract_place(writer->arena, "m", contract_stride(writer->a, writer->a_slot)),
      contract_stride(&writer->kernel->contract.k, writer->a_slot));
}

/* ---- the function ---- */

static const char *side_pointer(const ContractWriter *writer, int slot) {
  const char *name = writer->function->operands[slot];
  const char *offset =
      expression_group_offset(writer->arena, &writer->kernel->contract.batch, slot, "batch");
  return offset ? arena_printf(writer->arena, "%s + %s", name, offset) : name;
}

const char *contract_tile_place(const ContractWriter *writer) {
  if (writer->grid.stores_tiles)
    return arena_printf(writer->arena, "result + m * %lld + n", (long long)writer->grid.result_row);
  if (writer->whole_block)
    return arena_printf(writer->arena, "sums + (m - m_first) * %s + (n - n_first)",
                        contract_tile_row(writer));
  return writer->rows_inner
             ? arena_printf(writer->arena, "sums + (m - m_first) * %s", contract_tile_row(writer))
             : "sums";
}

/* What the tile is called: `tile`, which is declared then, or `sums`. */
static const char *tile_name(const ContractWriter *writer) {
  return strcmp(contract_tile_place(writer), "sums") == 0 ? "sums" : "tile";
}

static const char *tile_text(const ContractWriter *writer) {
  if (strcmp(tile_name(writer), "sums") == 0) return "";
  return arena_printf(writer->arena, "%s *const tile = %s;\n", c_value_type(writer->sum),
                      contract_tile_place(writer));
}

static bool has_phases(const ContractWriter *writer) {
  return writer->window && writer->window->phases > 1;
}

const char *contract_whole_depth(const ContractWriter *writer) {
  return has_phases(writer) ? "whole" : "K";
}

/* A statement when the tile is the sum of the whole depth. */
static const char *after_last_piece(const ContractWriter *writer, const char *statement) {
  if (writer->is_one_piece) return arena_printf(writer->arena, "%s\n", statement);
  return arena_printf(writer->arena, "if (k + KB >= %s) {\n%s}\n", contract_whole_depth(writer),
                      contract_indented(writer->arena, statement));
}

/* Whether whole tiles have a copy of the epilogue that knows their size: it takes a good part of a tile's time where the
 * depth is short, and is cheap. */
static bool knows_whole_tiles(const ContractWriter *writer) {
  enum { SHORT_DEPTH = 512, MOST_EXPRESSIONS = 24 };
  ExprList list = kernel_expressions(writer->arena, writer->kernel, 0);
  ExprScope scope = function_scope(writer->arena, writer->function);
  return !writer->unit && writer->grid.k <= SHORT_DEPTH && list.count <= MOST_EXPRESSIONS &&
         !expression_is_costly(&scope, 0);
}

enum { WIDEST_PANEL = 48 };

/* Whether whole tiles go to the epilogue in registers, by code of a tile in the kernel itself: with sums in memory a tile
 * 16 deep takes a tenth longer. Predictions alone have it, since it is more code for compilers. */
static bool holds_whole_tiles(const ContractWriter *writer) {
  enum { SHORT_DEPTH = 192 };
  return writer->grid.is_kept && writer->is_one_piece && writer->grid.k <= SHORT_DEPTH &&
         writer->grid.n >= WIDEST_PANEL && !writer->rows_inner && !writer->grid.stores_tiles &&
         knows_whole_tiles(writer);
}

static const char *tile_done(const ContractWriter *writer) {
  if (writer->rows_inner || writer->grid.stores_tiles) return "";
  const char *tile = tile_name(writer);
  const char *call = contract_epilogue_call(writer, tile, "m", "rows", "cols");
  const char *columns = writer->grid.n < WIDEST_PANEL ? "NNC_WHOLE_COLUMNS" : "NR";
  if (knows_whole_tiles(writer) && !holds_whole_tiles(writer))
    call = arena_printf(writer->arena, "if (rows == MR && cols == %s)\n  %s\nelse\n  %s", columns,
                        contract_epilogue_call(writer, tile, "m", "MR", columns), call);
  return after_last_piece(writer, call);
}

static const char *panel_done(const ContractWriter *writer) {
  if (!writer->rows_inner || writer->grid.stores_tiles) return "";
  const char *tile = writer->whole_block ? "sums + (n - n_first)" : "sums";
  return after_last_piece(
      writer, contract_epilogue_call(writer, tile, "m_first", "m_end - m_first", "cols"));
}

/* Where the result of the task's batch element begins. */
static const char *result_pointer(const ContractWriter *writer) {
  if (!writer->grid.stores_tiles) return "";
  Arena *arena = writer->arena;
  const Kernel *kernel = writer->kernel;
  const Store *store = &kernel->epilogue[0];
  int64_t base, coefficient[KERNEL_MAX_AXES];
  CHECK(index_is_affine(store->index, kernel->axis_count, &base, coefficient));
  const char *place = writer->function->operands[store->operand];
  if (base != 0) place = arena_printf(arena, "%s + %lld", place, (long long)base);
  int64_t below = 1;
  for (int i = writer->m_axis - 1; i >= 0; below *= kernel->extent[i--]) {
    if (coefficient[i] == 0) continue;
    const char *axis = below > 1 ? arena_printf(arena, "batch / %lld", (long long)below) : "batch";
    if (i > 0) axis = arena_printf(arena, "%s %% %lld", axis, (long long)kernel->extent[i]);
    place = arena_printf(arena, "%s + %s * %lld", place, axis, (long long)coefficient[i]);
  }
  return arena_printf(arena, "%s *const result = %s;\n", c_value_type(writer->sum), place);
}

/* A pointer into the worker's block. */
static const char *scratch_pointer(const ContractWriter *writer, const char *type, const char *name,
                                   int64_t offset) {
  const char *place =
      offset == 0 ? "worker->scratch"
                  : arena_printf(writer->arena, "(worker->scratch + %lld)", (long long)offset);
  return arena_printf(writer->arena, "%s *const %s = (%s *)%s;\n", type, name, type, place);
}

static const char *sums_text(const ContractWriter *writer) {
  return scratch_pointer(writer, c_value_type(writer->sum), "sums",
                         writer->grid.a_bytes + writer->grid.b_bytes);
}

static bool has_window_rows(const ContractWriter *writer) {
  return writer->window && writer->window->side == WINDOW_ROWS;
}

static const char *a_place(const ContractWriter *writer) {
  if (has_window_rows(writer)) return "packed_a + (m - m_first) * A_WINDOW";
  const char *in_place = contract_rows_in_place(writer);
  if (!writer->grid.pack_a) return in_place;
  const char *packed = "packed_a + (m - m_first) / MR * A_GROUP";
  if (!writer->grid.reads_lines) return packed;
  return arena_printf(writer->arena,
                      "NNC_LEFT_IN_PLACE_bf16\n"
                      "    ? (const nnc_packed_bf16 *)(const void *)(%s)\n"
                      "    : %s",
                      in_place, packed);
}

/* Elements from a row of a to the next, as the tile's product reads them. */
static const char *a_row(const ContractWriter *writer) {
  const ContractGrid *grid = &writer->grid;
  if (has_window_rows(writer)) return "A_WINDOW";
  const char *packed =
      grid->on_unit ? arena_printf(writer->arena, "NNC_LEFT_ROW_%s(KB)", writer->unit) : "1";
  long long stride = contract_stride(writer->a, writer->a_slot);
  if (!grid->pack_a) return code_integer(writer->arena, stride);
  if (!grid->reads_lines) return packed;
  return arena_printf(writer->arena, "NNC_LEFT_IN_PLACE_bf16 ? %lld : %s", stride / 2, packed);
}

/* The same along k. */
static const char *a_k(const ContractWriter *writer) {
  if (has_window_rows(writer)) return "1";
  if (writer->grid.pack_a)
    return writer->unit ? arena_printf(writer->arena, "NNC_LEFT_STEP_%s", writer->unit) : "MR";
  return code_integer(writer->arena, contract_stride(&writer->kernel->contract.k, writer->a_slot));
}

void contract_prepare(ContractWriter *writer) {
  const Kernel *kernel = writer->kernel;
  const ContractSlots *slots = &kernel->contract;
  writer->m_axis = slots->batch.count;
  writer->n_axis = slots->batch.count + slots->m.count;
  CHECK(kernel->axis_count <= writer->n_axis + slots->n.count &&
        (kernel->axis_count > writer->n_axis) == (slots->n.count > 0));
  writer->grid = contract_grid(kernel, writer->window);
  writer->sum = kernel_sum_type(kernel);
  writer->unit = writer->grid.is_bf16 ? "bf16" : writer->grid.is_x3 ? "x3" : NULL;
  writer->packed = writer->grid.is_bf16 ? "bf16" : c_type_name(writer->sum);
  writer->a_slot = writer->grid.swap ? 1 : 0;
  writer->b_slot = 1 - writer->a_slot;
  writer->a = writer->grid.swap ? &slots->n : &slots->m;
  writer->b = writer->grid.swap ? &slots->m : &slots->n;
  writer->whole_block = contract_keeps_sums(&writer->grid);
  bool is_window = writer->window && writer->window->side != WINDOW_NONE;
  bool is_plain = !is_window && slots->batch.count == 0;
  writer->is_one_piece = !is_window && writer->grid.k_block >= writer->grid.k;
  writer->left = is_plain ? writer->function->operands[writer->a_slot] : "left";
  writer->right = is_plain ? writer->function->operands[writer->b_slot] : "right";
  int m_smooth = slots->m.count > 0 ? contract_smooth_accesses(writer, writer->n_axis - 1) : 0;
  int n_smooth = slots->n.count > 0 ? contract_smooth_accesses(writer, kernel->axis_count - 1) : 0;
  writer->rows_inner = writer->grid.swap ? n_smooth >= m_smooth : m_smooth > n_smooth;
}

/* Whether tiles of 6 rows by 2 vectors of 32 bytes take less time than 4 by 3: these would have one of a single vector,
 * whose sums wait for each other, or none of three. */
static bool has_narrow_panels(const ContractGrid *grid, int64_t vectors) {
  enum { LEAST_ROWS = 24 /* some tiles of either height */, MOST_VECTORS = 16, MOST_IN_PLACE = 4 };
  bool is_packed = grid->pack_b || grid->is_kept; /* else a block of more has some even panels */
  return grid->m_block >= LEAST_ROWS && vectors <= (is_packed ? MOST_VECTORS : MOST_IN_PLACE) &&
         (vectors % 3 == 1 || vectors == 2);
}

/* How a block's columns become panels: nnc_gemm.h. */
static const char *panels_text(const ContractWriter *writer) {
  const ContractGrid *grid = &writer->grid;
  int64_t bytes = grid->n_block * dtype_size(writer->sum);
  if (has_narrow_panels(grid, divide_up(bytes, 32))) return "NNC_NARROW_PANELS_32";
  if (!grid->pack_b && !grid->is_kept) return "NNC_EVEN_PANELS";
  return divide_up(bytes, 64) == 4 ? "NNC_NARROW_PANELS_64" : "NNC_WIDE_PANELS";
}

/* "NNC_FIXED_TILES(f32, NNC_TILE_ROWS, NNC_EVEN_PANELS, ": what tiles are made of. */
const char *contract_tiles(const ContractWriter *writer) {
  return arena_printf(writer->arena, "NNC_FIXED_TILES(%s, %s, %s, ", writer->packed,
                      tile_height_text(writer->arena, writer->grid.height), panels_text(writer));
}

/* Names of the tile: of a matrix unit, if there is one when the C is compiled, or of vectors. */
static void add_unit(TemplateHoles *holes, const ContractWriter *writer) {
  Arena *arena = writer->arena;
  const char *unit = writer->unit;
  template_add(holes, "TILES",
               unit ? arena_printf(arena, "NNC_TILES_%s(", unit) : contract_tiles(writer));
  template_add(holes, "MULTIPLY",
               unit ? arena_printf(arena, "NNC_MULTIPLY_%s", unit) : "NNC_MULTIPLY");
  template_add(holes, "TILES_END",
               unit ? arena_printf(arena, "NNC_TILES_END_%s(tiles);\n", unit) : "");
}

/* Packed groups of rows and of columns, no power of 2 apart; "" where none of `texts` mentions one. */
static const char *groups_text(const ContractWriter *writer, const char *texts) {
  Arena *arena = writer->arena;
  const char *unit = writer->unit;
  const char *a = unit ? arena_printf(arena, "A_GROUP = NNC_LEFT_GROUP_%s(KB)", unit)
                       : "A_GROUP = KB * MR + 16";
  const char *depth = unit                   ? arena_printf(arena, "NNC_PACKED_DEPTH_%s(KB)", unit)
                      : writer->grid.is_kept ? "K"
                                             : "KB";
  const char *b = arena_printf(arena, "B_GROUP = %s * NR + 16", depth);
  bool has_a = code_mentions(texts, "A_GROUP"), has_b = code_mentions(texts, "B_GROUP");
  if (!has_a && !has_b) return "";
  return arena_printf(arena, "NNC_EXTENTS(%s%s%s); /* packed groups, no power of 2 apart */\n",
                      has_a ? a : "", has_a && has_b ? ", " : "", has_b ? b : "");
}

static void add_extents(TemplateHoles *holes, const ContractGrid *grid) {
  template_add_integer(holes, "M", grid->m);
  template_add_integer(holes, "N", grid->n);
  template_add_integer(holes, "K", grid->k);
  template_add_integer(holes, "MB", grid->m_block);
  template_add_integer(holes, "NB", grid->n_block);
  template_add_integer(holes, "M_BLOCKS", grid->m_blocks);
  template_add_integer(holes, "N_BLOCKS", grid->n_blocks);
}

/* What a task does for a piece of the depth. */
const char *contract_piece(const ContractWriter *writer) {
  if (window_reads_runs(writer)) return window_lines_piece(writer, tile_done(writer));
  Text text = {0};
  const char *ahead = contract_ahead(writer);
  TemplateHoles holes = {.arena = writer->arena};
  add_unit(&holes, writer);
  template_add(&holes, "PACK_A", contract_pack_a(writer));
  template_add(&holes, "PACK_B", contract_pack_b(writer));
  template_add(&holes, "PANEL", contract_panel(writer));
  template_add(&holes, "PANEL_ROW", contract_panel_row(writer));
  template_add(&holes, "AHEAD", ahead);
  template_add(&holes, "FETCH", window_fetch(writer));
  template_add(&holes, "AHEAD_POINTER", contract_ahead_pointer(writer, ahead));
  template_add(&holes, "DEPTH", contract_depth(writer));
  template_add(&holes, "A", a_place(writer));
  template_add(&holes, "A_ROW", a_row(writer));
  template_add(&holes, "A_K", a_k(writer));
  template_add(&holes, "TILE", tile_text(writer));
  template_add(&holes, "TILE_NAME", tile_name(writer));
  template_add(&holes, "TILE_ROW", contract_tile_row(writer));
  template_add(&holes, "IS_FIRST", writer->is_one_piece ? "true" : "k == 0");
  template_add(&holes, "TILE_DONE", tile_done(writer));
  template_add(&holes, "PANEL_DONE", panel_done(writer));
  template_add(&holes, "STREAM_END", contract_stream_end(writer));
  bool holds = holds_whole_tiles(writer);
  if (holds) {
    template_add(&holes, "TYPE", c_value_type(writer->sum));
    template_add(&holes, "PACKED", writer->packed);
    template_add(&holes, "WHOLE_DONE", contract_epilogue_call(writer, "whole", "m", "MR", "NR"));
  }
  template_render(&text,
                  holds ? "codegen_templates/contract_piece_short.c"
                        : "codegen_templates/contract_piece.c",
                  &holes);
  return text_take(&text, writer->arena);
}

static void add_piece(TemplateHoles *holes, const ContractWriter *writer, const char *piece) {
  bool is_one = writer->is_one_piece;
  template_add(holes, "ONE_PIECE", is_one ? piece : "");
  template_add(holes, "PIECES_BEGIN",
               is_one ? ""
                      : arena_printf(writer->arena, "NNC_EACH_PIECE(%s, KB) {",
                                     contract_whole_depth(writer)));
  template_add(holes, "PIECES", is_one ? "" : piece);
  template_add(holes, "PIECES_END", is_one ? "" : "}");
}

/* "const float *const right = h1_w + batch * 784;", where the pointer has a name. */
static const char *side_text(const ContractWriter *writer, const char *name, int slot) {
  const char *side = slot == writer->a_slot ? writer->left : writer->right;
  if (strcmp(side, name) != 0) return "";
  return arena_printf(writer->arena, "const %s *const %s = %s;\n",
                      c_storage_type(writer->kernel->operands[slot].dtype), name,
                      side_pointer(writer, slot));
}

/* What is declared where something uses it: the piece, the epilogue, what fills panels that are kept. */
static void add_declarations(TemplateHoles *holes, const ContractWriter *writer,
                             const char *piece) {
  Arena *arena = writer->arena;
  const ContractGrid *grid = &writer->grid;
  const char *type = contract_packed_type(writer), *fill = contract_fill(writer);
  const char *left = side_text(writer, "left", writer->a_slot);
  const char *right = grid->is_kept ? "" : side_text(writer, "right", writer->b_slot);
  const char *result = result_pointer(writer), *depth = window_depth(writer);
  const char *windows = window_tables(writer);
  const char *groups = groups_text(writer, arena_printf(arena, "%s%s", piece, fill));
  const char *batch = has_phases(writer)
                          ? window_batch(writer)
                          : "const int64_t batch = task / ((int64_t)M_BLOCKS * N_BLOCKS);\n";
  bool has_batch =
      code_mentions(arena_printf(arena, "%s%s%s%s%s", piece, left, right, result, depth), "batch");
  bool has_kb = !writer->is_one_piece ||
                code_mentions(arena_printf(arena, "%s%s%s", piece, groups, windows), "KB");
  template_add(holes, "KB",
               has_kb ? arena_printf(arena, ", KB = %lld", (long long)grid->k_block) : "");
  template_add(holes, "GROUPS", groups);
  template_add(holes, "PACKED_A",
               code_mentions(piece, "packed_a") ? scratch_pointer(writer, type, "packed_a", 0)
                                                : "");
  template_add(holes, "PACKED_B",
               code_mentions(piece, "packed_b")
                   ? scratch_pointer(writer, type, "packed_b", writer->grid.a_bytes)
                   : "");
  template_add(holes, "SUMS", grid->stores_tiles ? "" : sums_text(writer));
  template_add(holes, "WINDOWS", windows);
  template_add(holes, "PACKED",
               grid->keeps_b ? "int64_t packed = -1; /* the columns that packed_b holds */\n" : "");
  template_add(holes, "FILL", fill);
  template_add(holes, "BATCH", has_batch ? batch : "");
  template_add(holes, "WINDOW_DEPTH", depth);
  template_add(holes, "LEFT", left);
  template_add(holes, "RIGHT", right);
  template_add(holes, "RESULT", result);
}

/* ---- all of it ---- */

void contract_write_product(Code *code, KernelFunction *function, const WindowProduct *window) {
  ContractWriter writer = {
      .arena = code->arena, .function = function, .kernel = function->kernel, .window = window};
  contract_prepare(&writer);
  bool is_thin = writer.grid.way != CONTRACT_TILES;
  writer.epilogue = writer.grid.stores_tiles ? "" : contract_epilogue(&writer);
  const char *piece = is_thin ? contract_thin(&writer) : contract_piece(&writer);
  TemplateHoles holes = function_holes(code->arena, function, writer.grid.tasks);
  if (!is_thin) add_unit(&holes, &writer);
  add_extents(&holes, &writer.grid);
  add_declarations(&holes, &writer, piece);
  if (is_thin) template_add(&holes, "PRODUCT", piece);
  else add_piece(&holes, &writer, piece);
  if (!writer.grid.stores_tiles) contract_write_epilogue(code, &writer);
  template_render(code->out,
                  is_thin ? "codegen_templates/contract_thin.c" : "codegen_templates/contract.c",
                  &holes);
}

static void contract_write(Code *code, KernelFunction *function) {
  contract_write_product(code, function, NULL);
}

int64_t contract_kept_bytes(const Kernel *kernel, const WindowProduct *window) {
  /* Fewer rows of a read what is in a cache hardly more often than packing it does. */
  enum { LEAST_ROWS = 16 };
  DType sum = kernel_sum_type(kernel);
  if (kernel->operands[1].dtype != sum) return 0;
  ContractGrid plain = contract_grid(kernel, window);
  bool is_row =
      plain.way == CONTRACT_AXPY && plain.m == 1; /* panels follow each other, lines do not */
  if (plain.way != CONTRACT_TILES && !is_row) return 0;
  Kernel keeping = *kernel;
  keeping.keeps_weights = true;
  ContractGrid grid = contract_grid(&keeping, window);
  bool is_one = grid.batch == 1 && kernel->contract.batch.count == 0;
  bool is_worth = grid.m >= LEAST_ROWS || grid.n * grid.k * dtype_size(sum) >= LEAST_KEPT_BYTES;
  return is_one && !grid.swap && !grid.on_unit && is_worth && grid.n > 0 && grid.k > 0
             ? grid.kept_bytes
             : 0;
}

bool contract_packs_weights(const Kernel *kernel, const WindowProduct *window) {
  enum {
    MOST_ROWS = 1024
  }; /* of the other side: packing for more takes less than a hundredth of the product's time */
  ContractGrid grid = contract_grid(kernel, window);
  bool is_elsewhere = grid.swap && !window; /* lest its weights be packed */
  return (is_elsewhere || grid.pack_b) && (grid.swap ? grid.n : grid.m) <= MOST_ROWS;
}

static int64_t contract_tasks(const Kernel *kernel) { return contract_grid(kernel, NULL).tasks; }

static int64_t contract_worker_bytes(const Kernel *kernel) {
  ContractGrid grid = contract_grid(kernel, NULL);
  return grid.a_bytes + grid.b_bytes + grid.tile_bytes;
}

static int64_t product_variants(const Kernel *kernel) { return contract_variants(kernel, NULL); }

static const char *product_text(Arena *arena, const Kernel *kernel) {
  return contract_text(arena, kernel, NULL);
}

const TargetKernel c_kernel_contract = {.tasks = contract_tasks,
                                        .worker_bytes = contract_worker_bytes,
                                        .variants = product_variants,
                                        .variant_text = product_text,
                                        .write = contract_write,
                                        .weight = 15,
                                        .header = "nnc_products.h"};
