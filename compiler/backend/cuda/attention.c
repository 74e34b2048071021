/* Attention of CUDA: a block has a tile of queries, or of keys, and goes through the others,
 * whose scores are never in the GPU's memory. Sums are made by threads, in a fixed order: there
 * are no atomic additions. What tensor cores can do is theirs (attention_tensor.c).
 *
 * Sixteen neighbouring lanes share some rows of the tile, so a row's softmax is theirs, and what
 * one of them writes to the block's memory for the others needs the warp alone. The bodies are
 * made of parts, which the files attention_*.cu of codegen_templates/cuda describe. */
#include "backend/cuda/attention.h"

#include <math.h>
#include "backend/common/c.h"
#include "support/integers.h"
#include "support/panic.h"

enum {
  ACROSS = 16,           /* lanes of a row */
  BLOCK_BYTES = 48 << 10 /* of memory that a block has without asking for more */
};

typedef struct Tile {
  int rows, columns, threads;
} Tile;

/* From the best on. */
static const Tile tiles[] = {{64, 64, 256}, {64, 32, 256}, {32, 64, 256}, {32, 32, 256},
                             {16, 16, 256}, {8, 16, 128},  {4, 16, 64},   {2, 16, 32}};
enum { TILE_COUNT = sizeof tiles / sizeof *tiles, SMALL = 4 /* the first for few queries */ };

/* ---- tiles ---- */

/* Neighbouring elements of a row that a thread has. */
static int64_t group_of(int64_t depth) {
  return depth % (4 * ACROSS) == 0 ? 4 : depth % (2 * ACROSS) == 0 ? 2 : 1;
}

/* The depth, such that each lane has as many elements. */
static int64_t width_of(int64_t depth) {
  int64_t share = ACROSS * group_of(depth);
  return greatest(divide_up(depth, share), 1) * share;
}

typedef struct Heads {
  KernelKind kind;
  int64_t depth, value_depth, size; /* bytes of an element in the block's memory */
} Heads;

static int64_t heads_bytes(const Heads *heads, const Tile *tile) {
  int64_t padding = 16 / heads->size;
  int64_t q = width_of(heads->depth) + padding, v = width_of(heads->value_depth) + padding;
  int64_t weights = tile->rows * (tile->columns + padding), widest = greatest(q, v), parts = 0;
  switch (heads->kind) {
  case KERNEL_ATTENTION: parts = tile->rows * q + tile->columns * widest + weights; break;
  case KERNEL_ATTENTION_LSE: parts = (tile->rows + tile->columns) * q; break;
  case KERNEL_ATTENTION_GRAD_Q:
    parts = tile->rows * (q + v) + tile->columns * widest + weights;
    break;
  default: parts = (tile->rows + tile->columns) * (q + v) + weights + 3 * tile->columns; break;
  }
  return parts * heads->size;
}

static int64_t tile_bytes(const Kernel *kernel, const Tile *tile) {
  const AttentionSlots *slots = &kernel->attention;
  Heads heads = {kernel->kind, slots->depth, slots->value_depth,
                 dtype_size(attention_value_type(kernel))};
  return heads_bytes(&heads, tile);
}

bool attention_fits(DType dtype, int64_t depth, int64_t value_depth) {
  Heads heads = {KERNEL_ATTENTION_GRAD_KV, depth, value_depth, dtype == DTYPE_F64 ? 8 : 4};
  return heads_bytes(&heads, &tiles[TILE_COUNT - 1]) <= BLOCK_BYTES;
}

static int64_t tile_blocks(const Kernel *kernel, const Tile *tile) {
  return attention_blocks(kernel, tile->rows);
}

/* The first that fits the memory and gives every processor a block. */
static const Tile *choose_tile(const Kernel *kernel) {
  const Tile *fitting = NULL;
  for (int i = 0; i < TILE_COUNT; i++) {
    if (tile_bytes(kernel, &tiles[i]) > BLOCK_BYTES) continue;
    fitting = &tiles[i];
    if (i >= SMALL || tile_blocks(kernel, fitting) >= PROCESSORS) break;
  }
  if (!fitting) panic("%s: heads that are too deep for a block's memory", kernel->name);
  return fitting;
}

static CudaGrid attention_grid(const Kernel *kernel) {
  if (attention_tensor_takes(kernel)) return attention_tensor_grid(kernel);
  const Tile *tile = choose_tile(kernel);
  return (CudaGrid){tile_blocks(kernel, tile), tile->threads};
}

/* ---- texts ---- */

typedef struct Writer {
  AttentionText text;
  const Tile *tile;
} Writer;

#define RENDER(w, name, ...) RENDER_ATTENTION(&(w)->text, name, __VA_ARGS__)

static const char *number(const Writer *w, int64_t value) {
  return arena_printf(w->text.arena, "%lld", (long long)value);
}

static const char *element(const Writer *w, int operand, const char *row, const char *column) {
  return attention_element(&w->text, operand, row, column);
}

static int64_t depth_of(const Writer *w, int operand) {
  return attention_depth(w->text.kernel, operand);
}

/* Copies an operand's rows to the part of this name, which is of the tile's rows or of its
 * columns. */
static const char *load(const Writer *w, int operand, const char *part, bool is_own) {
  return RENDER(w, "attention_load", {"ROWS", is_own ? "ROWS" : "COLUMNS"},
                {"FROM", is_own ? "first_row" : "first"},
                {"END", operand == Q || operand == DY ? "QUERIES" : "KEYS"},
                {"WIDTH", number(w, width_of(depth_of(w, operand)))},
                {"DEPTH", number(w, depth_of(w, operand))},
                {"LOAD", element(w, operand, "row", "d")}, {"PART", part});
}

static const char *products(const Writer *w, int operand, const char *result, const char *rows,
                            const char *columns) {
  return RENDER(w, "attention_products", {"RESULT", result},
                {"WIDTH", number(w, width_of(depth_of(w, operand)))}, {"ROW_PART", rows},
                {"COLUMN_PART", columns});
}

static const char *add_up(const Writer *w, int operand, const char *sums, const char *part) {
  int64_t depth = depth_of(w, operand);
  return RENDER(w, "attention_sums", {"EACH", number(w, width_of(depth) / ACROSS)},
                {"GROUP", number(w, group_of(depth))}, {"SUMS", sums}, {"PART", part});
}

static const char *results(const Writer *w, int operand, const char *end, const char *first,
                           const char *result) {
  int64_t depth = depth_of(w, operand);
  return RENDER(w, "attention_results", {"EACH", number(w, width_of(depth) / ACROSS)},
                {"GROUP", number(w, group_of(depth))}, {"DEPTH", number(w, depth)}, {"END", end},
                {"FIRST", first}, {"RESULT", result}, {"EPILOGUE", attention_epilogue(&w->text)});
}

static const char *mask_text(const Writer *w) {
  int mask = attention_mask_of(w->text.kernel);
  if (mask < 0) return "";
  const char *value = element(w, mask, "query", "key");
  DType dtype = w->text.kernel->operands[mask].dtype;
  if (dtype == DTYPE_BOOL)
    return arena_printf(w->text.arena, "if (is_seen) score = %s ? score : %s;", value,
                        c_literal(w->text.arena, attention_value_type(w->text.kernel), -INFINITY));
  return arena_printf(w->text.arena, "if (is_seen) score += (%s)%s;",
                      c_value_type(attention_value_type(w->text.kernel)), value);
}

static const char *extents_text(const Writer *w) {
  const char *index_type = w->text.index_type;
  const AttentionSlots *s = w->text.slots;
  bool is_reversed = s->causal && w->text.kernel->kind != KERNEL_ATTENTION_GRAD_KV;
  return arena_printf(
      w->text.arena,
      "NNC_EXTENTS(QUERIES = %lld, KEYS = %lld, HEADS = %lld, TILES = %lld);\n"
      "NNC_EXTENTS(ROWS = %d, COLUMNS = %d, THREADS = %d, ACROSS = %d);\n"
      "NNC_EXTENTS(MINE_ROWS = ROWS * ACROSS / THREADS, MINE_COLUMNS = COLUMNS / ACROSS);\n"
      "NNC_EXTENTS(PADDING = 16 / sizeof(%s));\n"
      "const %s batch = (%s)(NNC_BLOCK / TILES / HEADS), head = (%s)(NNC_BLOCK / TILES %% HEADS);\n"
      "const %s first_row = (%s)(%sNNC_BLOCK %% TILES) * ROWS;\n"
      "const int down = NNC_THREAD / ACROSS, across = NNC_THREAD %% ACROSS;",
      (long long)s->queries, (long long)s->keys, (long long)s->heads,
      (long long)divide_up(attention_rows(w->text.kernel), w->tile->rows), w->tile->rows,
      w->tile->columns, w->tile->threads, ACROSS,
      c_value_type(attention_value_type(w->text.kernel)), index_type, index_type, index_type,
      index_type, index_type, is_reversed ? "TILES - 1 - " : "");
}

/* What all parts and bodies have. */
static void add_common(Writer *w) {
  const Kernel *kernel = w->text.kernel;
  TemplateHoles *holes = &w->text.holes;
  DType type = attention_value_type(kernel);
  bool is_causal = w->text.slots->causal;
  template_add(holes, "TYPE", c_value_type(type));
  template_add(holes, "TYPE_NAME", c_type_name(type));
  template_add(holes, "EXTENTS", extents_text(w));
  template_add(holes, "SCALE", c_literal(w->text.arena, type, w->text.slots->scale));
  template_add(holes, "NOTHING", c_literal(w->text.arena, type, -INFINITY));
  template_add(holes, "CAUSAL", is_causal ? " && key <= query" : "");
  template_add(holes, "MASK", mask_text(w));
  template_add(holes, "LAST_KEY",
               is_causal ? "(first_row + ROWS < KEYS ? first_row + ROWS : KEYS)" : "KEYS");
  template_add(holes, "FIRST_QUERY", is_causal ? "first_row / COLUMNS * COLUMNS" : "0");
  int64_t q = width_of(w->text.slots->depth), v = width_of(w->text.slots->value_depth);
  template_add_integer(holes, "Q_WIDTH", q);
  template_add_integer(holes, "V_WIDTH", v);
  template_add_integer(holes, "WIDEST", greatest(q, v));
  template_add_integer(holes, "Q_EACH", q / ACROSS);
  template_add_integer(holes, "V_EACH", v / ACROSS);
  template_add(holes, "SCORE", RENDER(w, "attention_score", {"", ""}));
}

static Writer begin(Code *code, KernelFunction *function) {
  const Kernel *kernel = function->kernel;
  Writer w = {.text = attention_text(code, function), .tile = choose_tile(kernel)};
  add_common(&w);
  return w;
}

static void finish(Code *code, Writer *w, const char *name) {
  template_render(code->out, arena_printf(w->text.arena, "codegen_templates/cuda/%s.cu", name),
                  &w->text.holes);
}

/* ---- the kinds ---- */

static void attention_write(Code *code, KernelFunction *function) {
  Writer w = begin(code, function);
  TemplateHoles *holes = &w.text.holes;
  template_add(holes, "LOAD_Q", load(&w, Q, "row_part", true));
  template_add(holes, "LOAD_K", load(&w, K, "column_part", false));
  template_add(holes, "LOAD_V", load(&w, V, "column_part", false));
  template_add(holes, "SCORES", products(&w, Q, "scores", "row_part", "column_part"));
  template_add(holes, "STORE_WEIGHT",
               "weights[down * MINE_ROWS + r][across + c * ACROSS] = weight;");
  template_add(holes, "RESCALE",
               arena_printf(w.text.arena,
                            "NNC_UNROLL for (int c = 0; c < %lld; c++) sums[r][c] *= factor;",
                            (long long)(width_of(w.text.slots->value_depth) / ACROSS)));
  template_add(holes, "SOFTMAX", RENDER(&w, "attention_softmax", {"", ""}));
  template_add(holes, "ADD_VALUES", add_up(&w, V, "sums", "column_part"));
  template_add(holes, "RESULTS", results(&w, V, "QUERIES", "0", "sums[r][c] / total[r]"));
  finish(code, &w, "attention");
}

static void lse_write(Code *code, KernelFunction *function) {
  Writer w = begin(code, function);
  TemplateHoles *holes = &w.text.holes;
  template_add(holes, "LOAD_Q", load(&w, Q, "row_part", true));
  template_add(holes, "LOAD_K", load(&w, K, "column_part", false));
  template_add(holes, "SCORES", products(&w, Q, "scores", "row_part", "column_part"));
  template_add(holes, "STORE_WEIGHT", "");
  template_add(holes, "RESCALE", "");
  template_add(holes, "SOFTMAX", RENDER(&w, "attention_softmax", {"", ""}));
  template_add(holes, "EPILOGUE", attention_epilogue(&w.text));
  finish(code, &w, "attention_lse");
}

static void add_numbers(Writer *w) {
  template_add(&w->text.holes, "TOP", element(w, LSE, "row", "0"));
  template_add(&w->text.holes, "LSE", element(w, LSE, "row", "1"));
  template_add(&w->text.holes, "DELTA", element(w, DELTA, "row", ""));
}

static void grad_q_write(Code *code, KernelFunction *function) {
  Writer w = begin(code, function);
  TemplateHoles *holes = &w.text.holes;
  add_numbers(&w);
  template_add(holes, "LOAD_Q", load(&w, Q, "row_part", true));
  template_add(holes, "LOAD_DY", load(&w, DY, "adjoint_part", true));
  template_add(holes, "LOAD_K", load(&w, K, "column_part", false));
  template_add(holes, "LOAD_V", load(&w, V, "column_part", false));
  template_add(holes, "SCORES", products(&w, Q, "scores", "row_part", "column_part"));
  template_add(holes, "RECEIVED", products(&w, V, "received", "adjoint_part", "column_part"));
  template_add(holes, "ADD_KEYS", add_up(&w, K, "sums", "column_part"));
  const char *scaled = arena_printf(
      w.text.arena, "sums[r][c] * %s",
      c_literal(w.text.arena, attention_value_type(w.text.kernel), w.text.slots->scale));
  template_add(holes, "RESULTS", results(&w, Q, "QUERIES", "0", scaled));
  finish(code, &w, "attention_grad_q");
}

static void grad_kv_write(Code *code, KernelFunction *function) {
  Writer w = begin(code, function);
  TemplateHoles *holes = &w.text.holes;
  add_numbers(&w);
  template_add(holes, "LOAD_K", load(&w, K, "row_part", true));
  template_add(holes, "LOAD_V", load(&w, V, "value_part", true));
  template_add(holes, "LOAD_Q", load(&w, Q, "column_part", false));
  template_add(holes, "LOAD_DY", load(&w, DY, "adjoint_part", false));
  template_add(holes, "SCORES", products(&w, Q, "scores", "row_part", "column_part"));
  template_add(holes, "RECEIVED", products(&w, V, "received", "value_part", "adjoint_part"));
  template_add(holes, "ADD_QUERIES", add_up(&w, Q, "sums", "column_part"));
  template_add(holes, "ADD_ADJOINTS", add_up(&w, DY, "value_sums", "adjoint_part"));
  const char *scaled = arena_printf(
      w.text.arena, "sums[r][c] * %s",
      c_literal(w.text.arena, attention_value_type(w.text.kernel), w.text.slots->scale));
  const char *depth = number(&w, w.text.slots->depth);
  template_add(holes, "RESULTS", results(&w, K, "KEYS", "0", scaled));
  template_add(holes, "VALUE_RESULTS", results(&w, V, "KEYS", depth, "value_sums[r][c]"));
  finish(code, &w, "attention_grad_kv");
}

/* ---- the records ---- */

#define ATTENTION_KERNEL(name, rule)                                                               \
  static void name##_dispatch(Code *code, KernelFunction *function) {                              \
    if (attention_tensor_takes(function->kernel)) attention_tensor_write(code, function);          \
    else rule(code, function);                                                                     \
  }                                                                                                \
  const CudaKernel cuda_kernel_##name = {.grid = attention_grid, .write = name##_dispatch};

ATTENTION_KERNEL(attention, attention_write)
ATTENTION_KERNEL(attention_lse, lse_write)
ATTENTION_KERNEL(attention_grad_q, grad_q_write)
ATTENTION_KERNEL(attention_grad_kv, grad_kv_write)
