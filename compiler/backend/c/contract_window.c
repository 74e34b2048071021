/* What convolutions read through their windows, packed for the tiles of contractions: see contract.h. */
#include "backend/c/contract.h"

#include "backend/common/c.h"
#include "support/integers.h"

static const char *three(Arena *arena, const int64_t *values) {
  return code_integers(arena, 3, values);
}

static const char *packed_depth(const ContractWriter *writer) {
  return writer->grid.is_bf16 ? " / NNC_DEPTH_bf16" : "";
}

const char *window_tables(const ContractWriter *writer) {
  const WindowProduct *window = writer->window;
  Arena *arena = writer->arena;
  Text text = {0};
  if (!window || window->side == WINDOW_NONE) return "";
  if (window_reads_runs(writer)) {
    long long step = (long long)(window->step[2] * window->place);
    long long span = (long long)(window->taps.items[0].span * window->place);
    int64_t positions = least(writer->grid.m_block, window->grid[2]);
    text_printf(
        &text,
        "NNC_EXTENTS(RUNS = %d, RUN = %lld, A_STEP = %lld, A_LINE = %lld + (MR - 1) * A_STEP); /* "
        "what a position sees, how far the next one is, and lines */\n",
        window->taps.count, span, step, (long long)((positions - 1) * step + span));
  } else if (window->side == WINDOW_ROWS)
    text_printf(&text, "NNC_EXTENTS(A_WINDOW = %s + 16); /* of a row of what windows see */\n",
                writer->unit ? arena_printf(arena, "NNC_PACKED_DEPTH_%s(KB)", writer->unit) : "KB");
  text_printf(&text, "static const nnc_window window = {{%s}, {%s}, {%s}, %lld, %lld, %lld};\n",
              three(arena, window->grid), three(arena, window->step), three(arena, window->extent),
              (long long)window->place, (long long)window->channel, (long long)window->image);
  text_add(&text, "static const nnc_window_tap taps[] = {\n");
  for (int i = 0; i < window->taps.count; i++) {
    const ProductTap *tap = &window->taps.items[i];
    text_printf(&text, "    {{%s}, %lld, %lld},\n", three(arena, tap->at), (long long)tap->span,
                (long long)tap->weight);
  }
  text_add(&text, window->taps.count > 0 ? "};\n" : "    {{0}, 0, 0}};\n");
  if (window->phases > 1)
    text_printf(&text, "static const int64_t first_tap[] = {%s};\n",
                code_integers(arena, window->phases + 1, window->first_tap));
  return text_take(&text, arena);
}

bool window_reads_runs(const ContractWriter *writer) {
  return writer->grid.reads_runs && !writer->rows_inner;
}

const char *window_lines_piece(const ContractWriter *writer, const char *tile_done) {
  const WindowProduct *window = writer->window;
  Text text = {0};
  TemplateHoles holes = {.arena = writer->arena};
  template_add(&holes, "T", c_type_name(writer->sum));
  template_add(&holes, "PACK_B", contract_pack_b(writer));
  template_add(&holes, "PANEL", contract_panel(writer));
  template_add_integer(&holes, "POSITIONS", window->grid[2]);
  template_add_integer(&holes, "STRIDE", window->step[2]);
  template_add(&holes, "TILE_DONE", tile_done);
  template_add(&holes, "STREAM_END", contract_stream_end(writer));
  template_render(&text, "codegen_templates/contract_seen.c", &holes);
  return text_take(&text, writer->arena);
}

/* The phases, that with most taps first and that with fewest after it, so that the halves of all tasks have
 * about as much work. */
static int64_t *phase_order(const WindowProduct *window, Arena *arena) {
  int64_t *order = ARENA_ARRAY(arena, int64_t, window->phases);
  const int64_t *first = window->first_tap;
  for (int i = 0; i < window->phases; i++) {
    int to = i;
    int64_t taps = first[i + 1] - first[i];
    for (; to > 0 && first[order[to - 1] + 1] - first[order[to - 1]] < taps; to--)
      order[to] = order[to - 1];
    order[to] = i;
  }
  if (window->phases < 3) return order;
  int64_t fewest = order[window->phases - 1];
  for (int i = window->phases - 1; i > 1; i--) order[i] = order[i - 1];
  order[1] = fewest;
  return order;
}

const char *window_batch(const ContractWriter *writer) {
  const WindowProduct *window = writer->window;
  return arena_printf(
      writer->arena,
      "static const int64_t order[] = {%s};\n"
      "const int64_t flat = task / ((int64_t)M_BLOCKS * N_BLOCKS);\n"
      "const int64_t batch = flat - flat %% %d + order[flat %% %d];\n",
      code_integers(writer->arena, window->phases, phase_order(window, writer->arena)),
      window->phases, window->phases);
}

const char *window_depth(const ContractWriter *writer) {
  const WindowProduct *window = writer->window;
  if (!window || window->side != WINDOW_ROWS) return "";
  if (window->phases == 1) return "const nnc_window_tap *const met = taps;\n";
  return arena_printf(writer->arena,
                      "const int64_t phase = batch %% %d;\n"
                      "const int64_t whole = (first_tap[phase + 1] - first_tap[phase]) * %lld;\n"
                      "const nnc_window_tap *const met = taps + first_tap[phase];\n",
                      window->phases, (long long)window->tap_channels);
}

static const char *rows_name(const ContractWriter *writer) {
  return contract_pack_name(writer, writer->kernel->operands[0].dtype);
}

/* Opens the loop over the parts of the depth that are of one tap: `i` in the piece, `channel` of the tap. */
static const char *depth_loop(const ContractWriter *writer, const char *body) {
  long long channels = (long long)writer->window->tap_channels;
  return arena_printf(writer->arena,
                      "for (int64_t i = 0, steps; i < depth; i += steps) {\n"
                      "  const int64_t tap = (k + i) / %lld, channel = (k + i) %% %lld;\n"
                      "  steps = nnc_least(%lld - channel, depth - i);\n"
                      "%s"
                      "}\n",
                      channels, channels, channels, body);
}

/* Whether the last of a tap's elements makes a pair with the first of the next. */
static bool has_pairs_of_taps(const ContractWriter *writer) {
  return writer->grid.is_bf16 && writer->window->tap_channels % 2 != 0;
}

const char *window_pack_rows(const ContractWriter *writer) {
  Arena *arena = writer->arena;
  const char *loop = depth_loop(
      writer,
      arena_printf(arena,
                   "  nnc_window_rows_%s(packed_a%s i, A_WINDOW, &window, &met[tap], channel,\n"
                   "                     steps, left, m_first, m_end - m_first);\n",
                   rows_name(writer), writer->grid.is_bf16 ? "," : " +"));
  if (!writer->unit) return loop;
  return arena_printf(arena, "%s%s%s", loop,
                      has_pairs_of_taps(writer)
                          ? "nnc_window_end_bf16(packed_a, A_WINDOW, depth, m_end - m_first);\n"
                          : "",
                      contract_left_end(writer, "A_WINDOW"));
}

const char *window_pack_columns(const ContractWriter *writer) {
  long long channels = (long long)writer->window->tap_channels;
  const char *copy = writer->grid.is_bf16
                         ? "columns_bf16"
                         : arena_printf(writer->arena, "rows_%s", rows_name(writer));
  return arena_printf(
      writer->arena,
      "for (int64_t c = 0, columns; c < n_end - n_first; c += columns) {\n"
      "  const int64_t tap = (n_first + c) / %lld, channel = (n_first + c) %% %lld;\n"
      "  columns = nnc_least(nnc_least(%lld - channel, NR - c %% NR), n_end - n_first - c);\n"
      "  nnc_window_%s(panels + c / NR * B_GROUP + c %% NR, NR, &window, &taps[tap], channel,\n"
      "                     columns, right, k, depth);\n"
      "}\n",
      channels, channels, channels, copy);
}

/* Element by element, where the sum is of another type. */
static const char *weights_by_element(const ContractWriter *writer) {
  const WindowProduct *window = writer->window;
  return arena_printf(
      writer->arena,
      "  for (int64_t s = 0; s < steps; s++)\n"
      "    for (int64_t c = 0; c < n_end - n_first; c++)\n"
      "      panels[c / NR * B_GROUP + (i + s) * NR + c %% NR] =\n"
      "          (%s)right[met[tap].weight + (channel + s) * %lld + (n_first + c) * %lld];\n",
      c_value_type(writer->sum), (long long)window->weight_channel, (long long)window->weight_row);
}

const char *window_pack_weights(const ContractWriter *writer) {
  const WindowProduct *window = writer->window;
  DType from = writer->kernel->operands[1].dtype;
  if (from != writer->sum && !dtype_is_half(from))
    return depth_loop(writer, weights_by_element(writer));
  long long depth = (long long)window->weight_channel, row = (long long)window->weight_row;
  if (has_pairs_of_taps(writer))
    return arena_printf(writer->arena,
                        "nnc_pack_block_%s(panels, NR, B_GROUP, 0, depth, n_end - n_first,\n"
                        "                     right + %s + %s, %lld, %lld);\n",
                        contract_pack_name(writer, from), contract_place(writer->arena, "k", depth),
                        contract_place(writer->arena, "n_first", row), depth, row);
  return depth_loop(
      writer,
      arena_printf(
          writer->arena,
          "  nnc_pack_block_%s(panels + i%s * NR, NR, B_GROUP, 0, steps, n_end - n_first,\n"
          "                     right + met[tap].weight + channel * %lld + n_first * %lld,\n"
          "                     %lld, %lld);\n",
          contract_pack_name(writer, from), packed_depth(writer), depth, row, depth, row));
}

/* Where the places follow each other in memory, as those that phases see, a processor foresees them, and what lies in the
 * second-level cache comes as soon as it is read. Few tiles to a panel of columns would do little else than ask. */
const char *window_fetch(const ContractWriter *writer) {
  enum { LEAST_ROWS = 192 };
  const WindowProduct *window = writer->window;
  const ContractGrid *grid = &writer->grid;
  if (!window || window->side == WINDOW_NONE || window->channel != 1 || window->step[2] == 1 ||
      window->phases > 1 || grid->on_unit || grid->reads_runs)
    return "";
  bool is_rows = window->side == WINDOW_ROWS;
  const KernelOperand *seen = &writer->kernel->operands[is_rows ? writer->a_slot : writer->b_slot];
  bool has_next = grid->k > grid->k_block || (is_rows ? grid->m_blocks : grid->n_blocks) > 1;
  if (!has_next || (!is_rows && grid->m_block < LEAST_ROWS) ||
      seen->elements * dtype_size(seen->dtype) <= FAR_SIDE_BYTES)
    return "";
  return arena_printf(writer->arena, "NNC_FETCH_WINDOW_%s(%s, %lld);\n",
                      is_rows ? "ROWS" : "COLUMNS", is_rows ? writer->left : writer->right,
                      (long long)window->tap_channels);
}

void window_write_guard(const ContractWriter *writer, Code *code) {
  const WindowProduct *window = writer->window;
  if (!window || window->phases == 1) return;
  const ConvSlots *conv = &writer->kernel->conv;
  const char *inside = NULL;
  int64_t positions = 1, residues = 1;
  for (int i = 2; i >= 3 - conv->spatial; i--) {
    long long stride = (long long)window->stride[i];
    long long extent = (long long)conv->in[i - (3 - conv->spatial)];
    if (extent % stride != 0)
      inside = arena_printf(
          code->arena, "%s%s(m + r) / %lld %% %lld * %lld + batch / %lld %% %lld >= %lld",
          inside ? inside : "", inside ? " ||\n    " : "", (long long)positions,
          (long long)window->grid[i], stride, (long long)residues, stride, extent);
    positions *= window->grid[i];
    residues *= window->stride[i];
  }
  if (inside) code_line(code, "if (%s) continue;", inside);
}
