/* What a task of a product does that reads or writes one large side once (nnc_thin.h): see contract.h. */
#include "backend/common/c.h"
#include "backend/c/contract.h"

/* Columns at a time, so that their sums stay near: a multiple of a group's 3 and 2, at most TILE_MAX_COLUMNS. */
enum { THIN_PANEL = 48 };

/* With more rows than a group has, the next columns of a far side can come while the other groups are multiplied. */
static const char *dots_text(const ContractWriter *writer) {
  Arena *arena = writer->arena;
  const KernelOperand *large = &writer->kernel->operands[writer->b_slot];
  bool is_far = large->elements * dtype_size(large->dtype) > LAST_CACHE_BYTES;
  const char *call = arena_printf(
      arena, "nnc_dots_%s(%lld, cols, %s, %lld, %s, %lld, %s + %s, %lld, %s, %s);\n",
      c_type_name(writer->sum), (long long)writer->grid.m,
      is_far && writer->grid.m > DOT_GROUP_ROWS ? "true" : "false", (long long)writer->grid.k,
      writer->left, contract_stride(writer->a, writer->a_slot), writer->right,
      contract_place(arena, "n", contract_stride(writer->b, writer->b_slot)),
      contract_stride(writer->b, writer->b_slot), writer->grid.stores_tiles ? "result + n" : "sums",
      contract_tile_row(writer));
  return arena_printf(
      arena,
      "for (int64_t n = n_first; n < n_end; n += %d) {\n"
      "  const int64_t cols = nnc_least(%d, n_end - n);\n"
      "  %s"
      "%s"
      "}\n",
      THIN_PANEL, THIN_PANEL, call,
      writer->grid.stores_tiles ? "" : contract_epilogue_call(writer, "sums", "0", "M", "cols"));
}

/* All columns of a task together, so that its piece of each line is read at once. */
static const char *axpy_text(const ContractWriter *writer) {
  Arena *arena = writer->arena;
  const AxisGroup *k = &writer->kernel->contract.k;
  return arena_printf(
      arena,
      "const int64_t n = n_first, cols = n_end - n_first;\n"
      "nnc_axpy_%s(%lld, cols, %lld, %s, %lld, %lld, %s + %s, %lld, %s, %s);\n"
      "%s",
      c_type_name(writer->sum), (long long)writer->grid.m, (long long)writer->grid.k, writer->left,
      contract_stride(writer->a, writer->a_slot), contract_stride(k, writer->a_slot), writer->right,
      contract_place(arena, "n", contract_stride(writer->b, writer->b_slot)),
      contract_stride(k, writer->b_slot), "sums", contract_tile_row(writer),
      contract_epilogue_call(writer, "sums", "0", "M", "cols"));
}

static const char *lines_text(const ContractWriter *writer) {
  Arena *arena = writer->arena;
  const AxisGroup *k = &writer->kernel->contract.k;
  const char *name = c_type_name(writer->sum);
  const char *result = writer->grid.stores_tiles ? contract_tile_place(writer) : "sums";
  const char *rest = arena_printf(
      arena, "%lld, n_end - n, %s + %s, %lld, %lld, %s + n, %lld, %s, %s);\n",
      (long long)writer->grid.k, writer->left,
      contract_place(arena, "m", contract_stride(writer->a, writer->a_slot)),
      contract_stride(writer->a, writer->a_slot), contract_stride(k, writer->a_slot), writer->right,
      contract_stride(k, writer->b_slot), result, contract_tile_row(writer));
  return arena_printf(
      arena,
      "const int64_t m_first = task %% M_BLOCKS * MB, m_end = nnc_least(m_first + MB, M), "
      "n = n_first;\n"
      "for (int64_t m = m_first, rows; m < m_end; m += rows) {\n"
      "  rows = m + NNC_LINES <= m_end ? NNC_LINES : 1;\n"
      "  if (rows == NNC_LINES)\n"
      "    nnc_lines_%s(NNC_LINES, %s"
      "  else\n"
      "    nnc_lines_%s(1, %s"
      "%s"
      "}\n",
      name, rest, name, rest,
      writer->grid.stores_tiles ? ""
                                : contract_epilogue_call(writer, "sums", "m", "rows", "n_end - n"));
}

const char *contract_thin(const ContractWriter *writer) {
  switch (writer->grid.way) {
  case CONTRACT_DOTS: return dots_text(writer);
  case CONTRACT_AXPY: return axpy_text(writer);
  default: return lines_text(writer);
  }
}
