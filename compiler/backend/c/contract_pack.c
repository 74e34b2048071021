/* How contractions copy what their tiles read: see contract.h. */
#include "backend/c/contract.h"

#include "backend/common/c.h"
#include <string.h>

const char *contract_offset(Arena *arena, const AxisGroup *group, int slot, const char *flat) {
  const char *text = expression_group_offset(arena, group, slot, flat);
  return text ? text : "0";
}

const char *contract_place(Arena *arena, const char *index, long long stride) {
  return stride == 0 ? "0" : stride == 1 ? index : arena_printf(arena, "%s * %lld", index, stride);
}

const char *contract_depth(const ContractWriter *writer) {
  return writer->is_one_piece ? "K" : "depth";
}

const char *contract_from(const ContractWriter *writer, const char *matrix, const char *place,
                          long long depth_stride) {
  bool is_first = strcmp(place, "0") == 0;
  const char *from = is_first ? matrix : arena_printf(writer->arena, "%s + %s", matrix, place);
  if (writer->is_one_piece) return from;
  return arena_printf(writer->arena, "%s + %s", from,
                      contract_place(writer->arena, "k", depth_stride));
}

long long contract_stride(const AxisGroup *group, int slot) {
  return group->count == 0 ? 0 : (long long)group->stride[slot][group->count - 1];
}

static const char *converted(const ContractWriter *writer, int slot, const char *element) {
  DType dtype = writer->kernel->operands[slot].dtype;
  if (dtype_is_half(dtype))
    return arena_printf(writer->arena, "nnc_from_%s(%s)", dtype_name(dtype), element);
  return arena_printf(writer->arena, "(%s)%s", c_value_type(writer->sum), element);
}

const char *contract_indented(Arena *arena, const char *lines) {
  Text text = {0};
  while (*lines) {
    int length = (int)strcspn(lines, "\n");
    text_printf(&text, "  %.*s\n", length, lines);
    lines += length + (lines[length] != 0);
  }
  return text_take(&text, arena);
}

typedef struct Packing {
  int slot;
  const AxisGroup *outer;
  const char *from, *to;     /* pointers: the operand, the block's first group of columns */
  const char *width, *group; /* columns of a group, elements from one group to the next */
  const char *first, *count; /* the block's first column, and how many it has */
  bool is_left;              /* rows of the tile: a */
} Packing;

/* Elements from the flat number `at` on whose offsets grow by the innermost stride. */
static const char *run_length(Arena *arena, const AxisGroup *group, const char *at,
                              const char *left) {
  long long extent = (long long)group->extent[group->count - 1];
  return arena_printf(arena, "nnc_least(%lld - (%s) %% %lld, %s)", extent, at, extent, left);
}

/* The offset of a flat number of an axis group. */
static const char *offset_of(Arena *arena, const AxisGroup *group, int slot, const char *flat) {
  if (group->count == 0 || !axis_group_is_linear(group, slot))
    return contract_offset(arena, group, slot, flat);
  return contract_place(arena, flat, contract_stride(group, slot));
}

const char *contract_left_end(const ContractWriter *writer, const char *row) {
  return arena_printf(writer->arena, "nnc_pack_left_%s_%s(packed_a, %s, %s, m_end - m_first);\n",
                      writer->grid.is_bf16 ? "zeros" : "end", writer->unit, row,
                      contract_depth(writer));
}

static const char *block_zeros(const ContractWriter *writer, const Packing *pack) {
  if (pack->is_left && writer->unit)
    return contract_left_end(writer,
                             arena_printf(writer->arena, "NNC_LEFT_ROW_%s(KB)", writer->unit));
  if (writer->grid.is_x3)
    return arena_printf(writer->arena, "nnc_pack_right_end_x3(%s, %s, %s, %s, %s);\n", pack->to,
                        pack->width, pack->group, contract_depth(writer), pack->count);
  return arena_printf(writer->arena, "nnc_pack_zeros_%s(%s, %s, %s, %s, %s);\n", writer->packed,
                      pack->to, pack->width, pack->group, contract_depth(writer), pack->count);
}

const char *contract_pack_name(const ContractWriter *writer, DType from) {
  if (writer->grid.is_bf16 || from == writer->sum) return writer->packed;
  return arena_printf(writer->arena, "%s_%s", writer->packed, dtype_name(from));
}

const char *contract_packed_type(const ContractWriter *writer) {
  return writer->grid.is_bf16 ? "nnc_packed_bf16" : c_value_type(writer->sum);
}

/* The call that packs `columns` columns from `column` on, `steps` of the depth from `i` on. */
static const char *pack_call(const ContractWriter *writer, const Packing *pack, const char *i,
                             const char *column, const char *steps, const char *columns) {
  Arena *arena = writer->arena;
  if (pack->is_left && writer->unit)
    return arena_printf(arena, "nnc_pack_left_%s(%s, NNC_LEFT_ROW_%s(KB), %s, %s, %s, %s, %s,\n",
                        writer->unit, pack->to, writer->unit, pack->group, i, column, steps,
                        columns);
  const char *part = contract_pack_name(writer, writer->kernel->operands[pack->slot].dtype);
  const char *to = strcmp(i, "0") == 0
                       ? pack->to
                       : arena_printf(arena, "%s + %s%s * %s", pack->to, i,
                                      writer->grid.is_bf16 ? " / NNC_DEPTH_bf16" : "", pack->width);
  return arena_printf(arena, "nnc_pack_block_%s(%s, %s, %s, %s, %s, %s,\n", part, to, pack->width,
                      pack->group, column, steps, columns);
}

/* Whether the function that packs fills up with zeros, too: NNC_PACK. */
static bool packs_at_once(const ContractWriter *writer, const Packing *pack) {
  const char *part = contract_pack_name(writer, writer->kernel->operands[pack->slot].dtype);
  return !(pack->is_left && writer->unit) && !writer->grid.is_x3 &&
         strcmp(part, writer->packed) == 0;
}

/* The depth's number `i` of the piece. */
static const char *depth_number(const ContractWriter *writer) {
  return writer->is_one_piece ? "i" : "(k + i)";
}

/* By runs along both axes: of the sum's type, so that pieces are only copied, or of 16 bits. */
static const char *pack_runs(const ContractWriter *writer, const Packing *pack) {
  Arena *arena = writer->arena;
  const AxisGroup *k = &writer->kernel->contract.k, *outer = pack->outer;
  int slot = pack->slot;
  const char *depth = contract_depth(writer);
  const char *strides =
      arena_printf(arena, "%lld, %lld", contract_stride(k, slot), contract_stride(outer, slot));
  bool is_deep = !axis_group_is_linear(k, slot), is_broad = !axis_group_is_linear(outer, slot);
  const char *column = is_broad ? arena_printf(arena, "(%s + c)", pack->first) : pack->first;
  const char *from =
      arena_printf(arena, "%s + %s", pack->from, offset_of(arena, outer, slot, column));
  if (is_deep || !writer->is_one_piece)
    from = arena_printf(arena, "%s + %s", from,
                        offset_of(arena, k, slot, is_deep ? depth_number(writer) : "k"));
  if (!is_deep && !is_broad && packs_at_once(writer, pack))
    return arena_printf(arena, "NNC_PACK(%s, %s, %s, %s, %s, %s, %s, %s);\n", writer->packed,
                        pack->to, pack->width, pack->group, depth, pack->count, from, strides);
  if (!is_deep && !is_broad && writer->grid.is_x3)
    return arena_printf(arena, "NNC_PACK_%s_x3(%s, %s, %s, %s, %s, %s, %s);\n",
                        pack->is_left ? "LEFT" : "RIGHT", pack->to,
                        pack->is_left ? "NNC_LEFT_ROW_x3(KB)" : pack->width, pack->group, depth,
                        pack->count, from, strides);
  const char *call =
      arena_printf(arena, "%s    %s, %s);\n",
                   pack_call(writer, pack, is_deep ? "i" : "0", is_broad ? "c" : "0",
                             is_deep ? "steps" : depth, is_broad ? "columns" : pack->count),
                   from, strides);
  if (is_deep)
    call = arena_printf(arena,
                        "for (int64_t i = 0, steps; i < %s; i += steps) {\n"
                        "  steps = %s;\n"
                        "%s"
                        "}\n",
                        depth,
                        run_length(arena, k, writer->is_one_piece ? "i" : "k + i",
                                   arena_printf(arena, "%s - i", depth)),
                        contract_indented(arena, call));
  if (is_broad)
    call = arena_printf(
        arena,
        "for (int64_t c = 0, columns; c < %s; c += columns) {\n"
        "  columns = %s;\n"
        "%s"
        "}\n",
        pack->count, run_length(arena, outer, column, arena_printf(arena, "%s - c", pack->count)),
        contract_indented(arena, call));
  return arena_printf(arena, "%s%s", call, block_zeros(writer, pack));
}

/* Element by element, converted to the sum's type. */
static const char *pack_elements(const ContractWriter *writer, const Packing *pack) {
  Arena *arena = writer->arena;
  const char *element = arena_printf(
      arena, "%s[%s + %s]", pack->from,
      contract_offset(arena, pack->outer, pack->slot, arena_printf(arena, "(%s + c)", pack->first)),
      contract_offset(arena, &writer->kernel->contract.k, pack->slot, depth_number(writer)));
  return arena_printf(arena,
                      "for (int64_t i = 0; i < %s; i++)\n"
                      "  for (int64_t c = 0; c < %s; c++)\n"
                      "    (%s)[c / %s * %s + i * %s + c %% %s] = %s;\n"
                      "%s",
                      contract_depth(writer), pack->count, pack->to, pack->width, pack->group,
                      pack->width, pack->width, converted(writer, pack->slot, element),
                      block_zeros(writer, pack));
}

static const char *pack_text(const ContractWriter *writer, const Packing *pack) {
  DType from = writer->kernel->operands[pack->slot].dtype;
  bool widens = dtype_is_half(from) && writer->sum == DTYPE_F32;
  return from == writer->sum || widens ? pack_runs(writer, pack) : pack_elements(writer, pack);
}

static WindowSide window_side(const ContractWriter *writer) {
  return writer->window ? writer->window->side : WINDOW_NONE;
}

/* Groups of MR rows: [depth][MR] each. */
const char *contract_pack_a(const ContractWriter *writer) {
  if (!writer->grid.pack_a) return "";
  if (window_side(writer) == WINDOW_ROWS) return window_pack_rows(writer);
  Packing pack = {.slot = writer->a_slot,
                  .outer = writer->a,
                  .from = writer->left,
                  .to = "packed_a",
                  .width = "MR",
                  .group = "A_GROUP",
                  .first = "m_first",
                  .count = "m_end - m_first",
                  .is_left = true};
  const char *text = pack_text(writer, &pack);
  if (!writer->grid.reads_lines) return text;
  return arena_printf(writer->arena, "if (!NNC_LEFT_IN_PLACE_bf16) {\n%s}\n",
                      contract_indented(writer->arena, text));
}

/* What the packed panels of a piece are called: where all pieces are kept, or panels for good, `panels`. */
static const char *panels_name(const ContractWriter *writer) {
  bool is_window = writer->window && writer->window->side != WINDOW_NONE;
  return writer->grid.is_kept || writer->grid.b_piece > 0 || is_window ? "panels" : "packed_b";
}

const char *contract_pack_columns(const ContractWriter *writer) {
  Packing pack = {.slot = writer->b_slot,
                  .outer = writer->b,
                  .from = writer->right,
                  .to = panels_name(writer),
                  .width = "NR",
                  .group = "B_GROUP",
                  .first = "n_first",
                  .count = "n_end - n_first"};
  WindowSide side = window_side(writer);
  if (side == WINDOW_NONE) return pack_text(writer, &pack);
  return arena_printf(writer->arena, "%s%s",
                      side == WINDOW_ROWS ? window_pack_weights(writer)
                                          : window_pack_columns(writer),
                      block_zeros(writer, &pack));
}

const char *contract_fill(const ContractWriter *writer) {
  if (!writer->grid.is_kept) return "";
  bool is_window = window_side(writer) != WINDOW_NONE;
  const char *right = arena_printf(writer->arena, "  const %s *const right = %s;\n",
                                   c_storage_type(writer->kernel->operands[writer->b_slot].dtype),
                                   writer->function->operands[writer->b_slot]);
  const char *declared = arena_printf(
      writer->arena, "%s%s%s%s", is_window && *window_depth(writer) ? "  " : "",
      is_window ? window_depth(writer) : "", is_window ? right : "",
      writer->is_one_piece ? "" : "  const int64_t k = 0, depth = K; /* all pieces at once */\n");
  return arena_printf(
      writer->arena,
      "if (worker->fills) {\n"
      "%s"
      "  NNC_TASKS(worker, (N + NR - 1) / NR, panel) {\n"
      "    const int64_t n_first = panel * NR, n_end = nnc_least(n_first + NR, N);\n"
      "    %s *const panels = kept + panel * B_GROUP;\n"
      "%s"
      "  }\n"
      "  return;\n"
      "}\n",
      declared, c_value_type(writer->sum),
      contract_indented(writer->arena,
                        contract_indented(writer->arena, contract_pack_columns(writer))));
}

/* Groups of NR columns: [depth][NR] each, whole vectors filled with 0. */
const char *contract_pack_b(const ContractWriter *writer) {
  if (!writer->grid.pack_b) return "";
  const ContractGrid *grid = &writer->grid;
  const char *packing = contract_pack_columns(writer);
  const char *panels = grid->b_piece > 0
                           ? arena_printf(writer->arena, "packed_b + k / KB * (int64_t)%lld",
                                          (long long)grid->b_piece)
                           : "packed_b";
  const char *declared = strcmp(panels_name(writer), "panels") != 0
                             ? ""
                             : arena_printf(writer->arena, "%s *const panels = %s;\n",
                                            contract_packed_type(writer), panels);
  Arena *arena = writer->arena;
  if (!grid->keeps_b) return arena_printf(arena, "%s%s", declared, packing);
  return arena_printf(arena,
                      "%s"
                      "if (packed != task / M_BLOCKS) {\n"
                      "%s"
                      "  %spacked = task / M_BLOCKS;\n"
                      "}\n",
                      declared, contract_indented(arena, packing),
                      writer->is_one_piece ? ""
                                           : arena_printf(arena, "if (k + KB >= %s) ",
                                                          contract_whole_depth(writer)));
}

const char *contract_panel(const ContractWriter *writer) {
  Arena *arena = writer->arena;
  const char *type = contract_packed_type(writer);
  if (writer->grid.is_kept)
    return arena_printf(arena, "const %s *const panel = kept + n / NR * B_GROUP%s;\n", type,
                        writer->is_one_piece ? "" : " + k * NR");
  if (writer->grid.pack_b)
    return arena_printf(arena, "const %s *const panel = %s + (n - n_first) / NR * B_GROUP;\n", type,
                        panels_name(writer));
  long long row = contract_stride(&writer->kernel->contract.k, writer->b_slot);
  return arena_printf(arena, "NNC_PANEL_IN_PLACE(%s, %s, %s, %lld, packed_b);\n",
                      c_type_name(writer->sum), contract_depth(writer),
                      contract_from(writer, writer->right, "n", row), row);
}

const char *contract_panel_row(const ContractWriter *writer) {
  return writer->grid.is_kept || writer->grid.pack_b ? "NR" : "panel_row";
}
