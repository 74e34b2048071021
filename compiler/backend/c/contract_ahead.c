/* What contractions prefetch during the sum of a tile: see contract.h. */
#include "backend/c/contract.h"

#include <string.h>

#include "kernel/builder.h"
#include "support/panic.h"

enum { LARGE_BYTES = 256 << 10, MOST_PLACES = 6 /* NNC_AHEAD_PLACES of nnc_gemm.h */ };

typedef struct Place {
  int operand;
  int64_t base, row, column; /* element = base + row * m + column * n, in the tile's sense */
} Place;

static int64_t operand_bytes(const ContractWriter *writer, int operand) {
  const KernelOperand *slot = &writer->kernel->operands[operand];
  return slot->elements * dtype_size(slot->dtype);
}

static bool is_large(const ContractWriter *writer, int operand) {
  return operand_bytes(writer, operand) >= LARGE_BYTES;
}

/* Adds an access of the epilogue that goes along rows of a large operand, if there is room. */
static void add_place(const ContractWriter *writer, Place *places, int *count, int operand,
                      const Index *index) {
  const Kernel *kernel = writer->kernel;
  int64_t base, coefficient[KERNEL_MAX_AXES];
  if (*count == MOST_PLACES || !is_large(writer, operand)) return;
  if (!index_is_affine(index, kernel->axis_count, &base, coefficient)) return;
  int64_t m = kernel_flat_stride(kernel, coefficient, writer->m_axis, writer->n_axis);
  int64_t n = kernel_flat_stride(kernel, coefficient, writer->n_axis, kernel->axis_count);
  bool swap = writer->grid.swap;
  Place place = {operand, base, swap ? n : m, swap ? m : n};
  if (place.column != 1 || place.row == 0) return;
  for (int i = 0; i < *count; i++)
    if (places[i].operand == operand && places[i].base == base) return;
  places[(*count)++] = place;
}

/* Places of large operands that the epilogue reads. */
static int find_reads(const ContractWriter *writer, Place *places) {
  int count = 0;
  ExprList list = kernel_expressions(writer->arena, writer->kernel, 0);
  for (int i = 0; i < list.count; i++)
    if (list.items[i]->kind == EXPR_LOAD)
      add_place(writer, places, &count, list.items[i]->operand, list.items[i]->index);
  return count;
}

/* Adds those that it writes, where the sum is long enough for all to come: its stores would wait for one line after the
 * other. Vectors of AVX-512 are whole lines, which wait less: there a step of gpt.net took a hundredth longer so. */
static int add_results(const ContractWriter *writer, Place *places, int count) {
  enum { LONG_SUM = 64 };
  const Kernel *kernel = writer->kernel;
  const ContractGrid *grid = &writer->grid;
  if (!kernel->has_few_registers || grid->stores_tiles || grid->on_unit || grid->k_block < LONG_SUM)
    return count;
  for (int i = 0; i < kernel->epilogue_count; i++)
    add_place(writer, places, &count, kernel->epilogue[i].operand, kernel->epilogue[i].index);
  return count;
}

/* Where the epilogue of the next tile reads and writes: the next rows, or the next panel's first. */
static const char *ahead_of_epilogue(const ContractWriter *writer, const Place *places, int count) {
  Arena *arena = writer->arena;
  const char *bases = "", *steps = "";
  for (int i = 0; i < count; i++) {
    const KernelOperand *operand = &writer->kernel->operands[places[i].operand];
    const char *of = writer->function->operands[places[i].operand];
    if (places[i].base != 0) of = arena_printf(arena, "%s + %lld", of, (long long)places[i].base);
    bases = arena_printf(arena, "%s%sNNC_NEXT_TILE(%s, %lld)", bases, i ? ", " : "", of,
                         (long long)places[i].row);
    steps = arena_printf(arena, "%s%s%lld", steps, i ? ", " : "",
                         (long long)(places[i].row * dtype_size(operand->dtype)));
  }
  return arena_printf(arena, "const nnc_ahead ahead = {MR, %d, {%s}, {%s}};\n", count, bases,
                      steps);
}

/* A share of the next panel of b for each of the block's tiles. */
static const char *ahead_of_panel(const ContractWriter *writer) {
  long long row = contract_stride(&writer->kernel->contract.k, writer->b_slot);
  return arena_printf(writer->arena,
                      "const nnc_ahead ahead = NNC_NEXT_PANEL(%s, %s + cols, %lld);\n",
                      contract_depth(writer), contract_from(writer, writer->right, "n", row), row);
}

/* The same of panels that are kept: of a block of one panel whose depth is cut the next piece, else the next panel. */
static const char *ahead_of_kept(const ContractWriter *writer) {
  const ContractGrid *grid = &writer->grid;
  bool goes_deeper = grid->n_block <= TILE_COLUMNS && grid->k > grid->k_block;
  return arena_printf(writer->arena,
                      "const nnc_ahead ahead = NNC_NEXT_PANEL(%s, panel + %s, NR);\n",
                      contract_depth(writer), goes_deeper ? "KB * NR" : "B_GROUP");
}

/* The next tile's rows of a, where a is large and used for few columns. */
static const char *ahead_of_rows(const ContractWriter *writer) {
  return arena_printf(writer->arena, "const nnc_ahead ahead = NNC_NEXT_ROWS(%s, %s, %lld);\n",
                      contract_depth(writer), contract_rows_in_place(writer),
                      contract_stride(writer->a, writer->a_slot));
}

static bool reads_rows_once(const ContractWriter *writer) {
  enum { FEW_COLUMNS = 128, LONG_ROW = 1024 };
  const ContractGrid *grid = &writer->grid;
  return !grid->pack_a && is_large(writer, writer->a_slot) && grid->n <= FEW_COLUMNS &&
         grid->k * dtype_size(writer->sum) <= LONG_ROW && grid->k >= 8 &&
         contract_stride(&writer->kernel->contract.k, writer->a_slot) == 1;
}

/* The tile's own rows of a large result, which it writes at its end, where the sum is long enough for them to come. */
static const char *ahead_of_result(const ContractWriter *writer) {
  enum { LONG_SUM = 128 };
  const ContractGrid *grid = &writer->grid;
  int operand = writer->kernel->epilogue[0].operand;
  if (!grid->stores_tiles || grid->on_unit || grid->k_block < LONG_SUM ||
      !is_large(writer, operand))
    return "";
  return arena_printf(writer->arena,
                      "const nnc_ahead ahead = {MR, 1, {(uintptr_t)tile}, {%lld}};\n",
                      (long long)(grid->result_row * dtype_size(writer->sum)));
}

static const char *ahead_of_tile(const ContractWriter *writer) {
  const Kernel *kernel = writer->kernel;
  Place places[MOST_PLACES];
  /* Panels are read from afar, and a few times alone. A single row reads all of them one after the other, which come by
   * themselves. */
  enum { FEW_ROWS = 128 };
  if (writer->grid.is_kept && is_large(writer, writer->b_slot) && writer->grid.m > 1 &&
      writer->grid.m <= FEW_ROWS && writer->grid.k >= 64)
    return ahead_of_kept(writer);
  bool has_batches = writer->m_axis > 0, has_rows = writer->n_axis > writer->m_axis;
  if (has_batches || !has_rows || kernel->axis_count == writer->n_axis)
    return reads_rows_once(writer) ? ahead_of_rows(writer) : ahead_of_result(writer);
  /* With few tiles to a panel it would be asked for at nearly every step of k. Where b stays in the last cache
   * that takes longer than what the processor fetches by itself. */
  enum { LEAST_ROWS = 48 };
  bool streams = !writer->grid.pack_b && !writer->grid.is_kept &&
                 (writer->grid.m_block >= LEAST_ROWS ||
                  operand_bytes(writer, writer->b_slot) > LAST_CACHE_BYTES) &&
                 is_large(writer, writer->b_slot) && writer->grid.k >= 64;
  int count = find_reads(writer, places);
  if (count > 0 || !streams) count = add_results(writer, places, count);
  if (count > 0 && !writer->rows_inner && writer->grid.k >= 8)
    return ahead_of_epilogue(writer, places, count);
  if (streams) return ahead_of_panel(writer);
  return reads_rows_once(writer) ? ahead_of_rows(writer) : ahead_of_result(writer);
}

/* ---- what is packed next ---- */

/* A side that a task packs. */
typedef struct PackedSide {
  int slot;
  const AxisGroup *outer;
  const char *matrix; /* where the side begins */
  char letter, all;   /* "m" of its rows' names, "M" of how many there are */
  bool is_new;        /* each task has another block of them */
} PackedSide;

/* From memory or the last cache, by one call. */
static bool comes_from_afar(const ContractWriter *writer, const PackedSide *side) {
  const AxisGroup *k = &writer->kernel->contract.k;
  return operand_bytes(writer, side->slot) > FAR_SIDE_BYTES &&
         writer->kernel->operands[side->slot].dtype == writer->sum && k->count > 0 &&
         side->outer->count > 0 && axis_group_is_linear(k, side->slot) &&
         axis_group_is_linear(side->outer, side->slot) &&
         (contract_stride(k, side->slot) == 1 || contract_stride(side->outer, side->slot) == 1);
}

/* The next piece of the depth; where there is none, what the next task begins with, if it is next to this. */
static const char *then_packs(const ContractWriter *writer, const PackedSide *side) {
  Arena *arena = writer->arena;
  const AxisGroup *k = &writer->kernel->contract.k;
  bool is_one = writer->is_one_piece;
  if (!comes_from_afar(writer, side) || (is_one && !side->is_new)) return "";
  long long outer = contract_stride(side->outer, side->slot), deep = contract_stride(k, side->slot);
  const char *end = arena_printf(arena, "%c_end", side->letter);
  const char *first = arena_printf(arena, "%c_first", side->letter);
  const char *count = arena_printf(arena, "%s - %s", end, first), *depth = contract_depth(writer);
  const char *from =
      is_one
          ? arena_printf(arena, "%s + %s", side->matrix, contract_place(arena, end, outer))
          : arena_printf(arena, "%s + %s + %s", side->matrix, contract_place(arena, first, outer),
                         contract_place(arena, "(k + KB)", deep));
  bool has_columns = outer == 1;
  return arena_printf(arena, "if (%s < %c) NNC_THEN_PACKS(%s, %s, %lld, %s);\n",
                      is_one ? end : "k + KB", is_one ? side->all : 'K', from,
                      has_columns ? depth : count, has_columns ? deep : outer,
                      has_columns ? count : depth);
}

/* Whether rows are read in place piece by piece of the depth, by so few panels that the first of them, which waits for
 * memory, is a good part. Lines that the first tile reads one after the other come by themselves. */
static bool reads_pieces(const ContractWriter *writer) {
  enum { FEW_PANELS = 6, LINE_BYTES = 64 };
  const ContractGrid *grid = &writer->grid;
  return !writer->is_one_piece && grid->n_block <= FEW_PANELS * TILE_COLUMNS &&
         grid->m_block * dtype_size(writer->sum) > LINE_BYTES;
}

static const char *ahead_of_packing(const ContractWriter *writer) {
  const ContractGrid *grid = &writer->grid;
  bool is_window = writer->window && writer->window->side != WINDOW_NONE;
  if (is_window || grid->on_unit) return "";
  PackedSide a = {writer->a_slot, writer->a, writer->left, 'm', 'M', true};
  PackedSide b = {writer->b_slot, writer->b, writer->right, 'n', 'N', grid->m_blocks == 1};
  bool packs_b = grid->pack_b && !grid->is_kept && !grid->keeps_b;
  bool reads_a = grid->pack_a || reads_pieces(writer);
  return arena_printf(writer->arena, "%s%s", packs_b ? then_packs(writer, &b) : "",
                      reads_a ? then_packs(writer, &a) : "");
}

const char *contract_ahead(const ContractWriter *writer) {
  const char *tile = ahead_of_tile(writer), *packing = ahead_of_packing(writer);
  static const char constant[] = "const nnc_ahead ahead = ";
  if (*packing == 0 || code_mentions(tile, "NNC_NEXT_ROWS")) return tile;
  if (*tile == 0)
    return arena_printf(writer->arena, "nnc_ahead ahead = {.rows = MR};\n%s", packing);
  CHECK(strncmp(tile, constant, strlen(constant)) == 0);
  return arena_printf(writer->arena, "%s%s", tile + strlen("const "), packing);
}

const char *contract_ahead_pointer(const ContractWriter *writer, const char *ahead) {
  if (code_mentions(ahead, "NNC_NEXT_ROWS") &&
      operand_bytes(writer, writer->a_slot) <= FAR_SIDE_BYTES)
    return "NNC_NEAR_ROWS_AHEAD(&ahead)";
  return *ahead ? "&ahead" : "NULL";
}
