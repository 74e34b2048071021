/* Attention on tensor cores: fills codegen_templates/cuda/attention_tensor*.cu.
 *
 * A warp has 16 rows of a head, or twice as many. The products of these with the rows of a part of
 * the other side are in its registers, become weights there, and are the left side of the next
 * product without a way through memory: queries by keys in the forward kinds and attention_grad_q,
 * keys by queries in attention_grad_kv. Scores, weights and sums are f32; weights and what scores
 * receive are rounded to the operands' type as the left side of that product.
 *
 * The gradients take seven products of matrices: queries compute three, keys four, so that each sum
 * is made by one warp in one order. One kernel for both would take five, but a tile of keys would then
 * read and write the sums of all its queries in memory, in turn. By the documented rates that takes
 * longer than the two products where tiles have fewer than some two hundred keys.
 *
 * The exponents of weights, which are powers of two, are differences of scores times the logarithm of
 * e. Scores have the same bits in all kernels, so they are rounded before something is subtracted; a
 * scale that is a power of two rounds nothing, and waits until after it. */
#include "backend/cuda/attention.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "backend/common/c.h"
#include "backend/cuda/tensor.h"
#include "support/integers.h"
#include "support/panic.h"

enum {
  LEAST_DEPTH = 16,
  MOST_DEPTH = 128,
  MOST_WIDE_DEPTH = 64,    /* of numbers of 4 bytes */
  UNIT = 8,                /* depths are multiples of it */
  FRAGMENT = 16,           /* rows of one, and columns of two products */
  MOST_REGISTERS = 150,    /* of a thread for sums and fragments; as many as 100 go elsewhere */
  BLOCK_BYTES = 48 * 1024, /* of memory that a block has without asking for more */
  FEW_COLUMNS = 32,        /* with fewer, sums are scaled too often */
  SPAN = 32,               /* columns of sums that change lanes at a time */
  MOST_EXPONENT = 16       /* of a power of two by which no product overflows or vanishes */
};

/* How a block is cut. `is_kept`: fragments of its own rows stay in registers. */
typedef struct Cut {
  int warps, groups, columns;
  bool is_kept;
} Cut;

static const Cut cuts[] = {{.warps = 4, .groups = 2},
                           {.warps = 4, .groups = 1},
                           {.warps = 2, .groups = 1},
                           {.warps = 1, .groups = 1}};
enum { CUT_COUNT = sizeof cuts / sizeof *cuts };

/* Of a block's own. */
static int64_t rows_of(const Cut *cut) { return cut->warps * cut->groups * FRAGMENT; }

static bool is_gradient(const Kernel *kernel) {
  return kernel->kind == KERNEL_ATTENTION_GRAD_Q || kernel->kind == KERNEL_ATTENTION_GRAD_KV;
}

static bool is_by_keys(const Kernel *kernel) { return kernel->kind == KERNEL_ATTENTION_GRAD_KV; }

/* ---- what there are kernels for ---- */

static int bytes_of(DType dtype) { return (int)dtype_size(dtype); }

/* The depth as it is multiplied; zeros follow the last element. */
static int64_t width_of(int64_t depth) { return divide_up(depth, FRAGMENT) * FRAGMENT; }

/* Chunks of a row, and from row to row in the block's memory (nnc_place). */
static int64_t chunks_of(DType dtype, int64_t depth) {
  return width_of(depth) * bytes_of(dtype) / TENSOR_CHUNK;
}
static int64_t pitch_of(DType dtype, int64_t depth) {
  int64_t chunks = chunks_of(dtype, depth);
  return chunks <= 4 ? (chunks == 0 ? 0 : 4) : divide_up(chunks, 8) * 8;
}

/* Registers of a thread for the sums of a row of fragments, and for the fragments of its own rows. */
static int64_t registers_of(const Kernel *kernel, const Cut *cut) {
  const AttentionSlots *slots = &kernel->attention;
  DType dtype = kernel->operands[Q].dtype;
  int64_t q = width_of(slots->depth), v = width_of(slots->value_depth), sums = 0, kept = 0;
  switch (kernel->kind) {
  case KERNEL_ATTENTION_LSE: sums = cut->columns; break;
  case KERNEL_ATTENTION: sums = cut->columns + v; break;
  case KERNEL_ATTENTION_GRAD_Q: sums = 2 * cut->columns + q; break;
  default: sums = 2 * cut->columns + q + v; break;
  }
  if (cut->is_kept) kept = (q + (is_gradient(kernel) ? v : 0)) * bytes_of(dtype) / 4;
  return cut->groups * (sums / 2 + kept / 2);
}

/* Chunks of a row of the tile, and of one of a part. */
static int64_t row_chunks(const Kernel *kernel, bool is_own) {
  const AttentionSlots *slots = &kernel->attention;
  DType dtype = kernel->operands[Q].dtype;
  bool has_values = is_gradient(kernel) || (!is_own && kernel->kind == KERNEL_ATTENTION);
  return pitch_of(dtype, slots->depth) + (has_values ? pitch_of(dtype, slots->value_depth) : 0);
}

/* Rows that stay in the block's memory lie before the two parts; those that do not, in their place. */
static int64_t memory_chunks(const Kernel *kernel, const Cut *cut) {
  int64_t own = rows_of(cut) * row_chunks(kernel, true);
  int64_t parts = 2 * cut->columns * row_chunks(kernel, false);
  int64_t pages = cut->warps * FRAGMENT * (SPAN + 8) * 4 / TENSOR_CHUNK;
  return greatest(cut->is_kept ? greatest(own, parts) : own + parts, pages);
}

static bool cut_fits(const Kernel *kernel, const Cut *cut) {
  int64_t numbers = is_by_keys(kernel) ? 6 * cut->columns * 4 : 0;
  return memory_chunks(kernel, cut) * TENSOR_CHUNK + numbers <= BLOCK_BYTES &&
         registers_of(kernel, cut) <= MOST_REGISTERS;
}

/* With as many columns as fit. */
static bool complete_cut(const Kernel *kernel, Cut *cut) {
  bool is_wide = kernel->operands[Q].dtype == DTYPE_F32;
  for (cut->columns = is_wide ? 32 : 64; cut->columns >= FRAGMENT; cut->columns /= 2)
    for (int kept = 1; kept >= 0; kept--) {
      cut->is_kept = kept;
      if (cut_fits(kernel, cut)) return true;
    }
  return false;
}

/* The first that gives every processor a block, of rows that are not mostly beyond the end. */
static Cut choose_cut(const Kernel *kernel) {
  Cut best = {0};
  for (int i = 0; i < CUT_COUNT; i++) {
    Cut cut = cuts[i];
    int64_t rows = rows_of(&cut);
    if (cut.groups > 1 && kernel->kind != KERNEL_ATTENTION) continue;
    if (!complete_cut(kernel, &cut) || (cut.groups > 1 && cut.columns < FEW_COLUMNS)) continue;
    best = cut;
    if (attention_blocks(kernel, rows) >= PROCESSORS && rows < 2 * attention_rows(kernel)) break;
  }
  CHECK(best.warps > 0);
  return best;
}

bool attention_tensor_fits(DType dtype, int64_t depth, int64_t value_depth) {
  int64_t most = dtype == DTYPE_F32 ? MOST_WIDE_DEPTH : MOST_DEPTH;
  bool is_narrow = least(depth, value_depth) < LEAST_DEPTH;
  return (dtype_is_half(dtype) || dtype == DTYPE_F32) && !is_narrow &&
         greatest(depth, value_depth) <= most && depth % UNIT == 0 && value_depth % UNIT == 0;
}

bool attention_tensor_takes(const Kernel *kernel) {
  const AttentionSlots *slots = &kernel->attention;
  DType dtype = kernel->operands[Q].dtype;
  bool is_lse = kernel->kind == KERNEL_ATTENTION_LSE;
  int matrices = is_lse ? 2 : is_gradient(kernel) ? 4 : 3;
  for (int i = 0; i < matrices; i++)
    if (kernel->operands[i].dtype != dtype) return false;
  return (dtype != DTYPE_F32 || kernel->is_tf32) && kernel_sum_type(kernel) == DTYPE_F32 &&
         slots->scale > 0 &&
         attention_tensor_fits(dtype, slots->depth, is_lse ? slots->depth : slots->value_depth);
}

CudaGrid attention_tensor_grid(const Kernel *kernel) {
  Cut cut = choose_cut(kernel);
  return (CudaGrid){attention_blocks(kernel, rows_of(&cut)), cut.warps * WARP};
}

/* ---- texts ---- */

typedef struct Writer {
  AttentionText text;
  Cut cut;
  DType dtype;
} Writer;

#define RENDER(w, name, ...) RENDER_ATTENTION(&(w)->text, name, __VA_ARGS__)

static const char *number(const Writer *w, int64_t value) {
  return arena_printf(w->text.arena, "%lld", (long long)value);
}

static const char *literal(const Writer *w, double value) {
  return c_literal(w->text.arena, DTYPE_F32, value);
}

static int64_t depth_of(const Writer *w, int operand) {
  return attention_depth(w->text.kernel, operand);
}

static const char *pitch(const Writer *w, int operand) {
  return number(w, pitch_of(w->dtype, depth_of(w, operand)));
}

/* Of 32 bytes each, which a product takes of the depth. */
static const char *steps(const Writer *w, int operand) {
  return number(w, chunks_of(w->dtype, depth_of(w, operand)) / 2);
}

/* The statement that rounds the fragment of this name. */
static const char *rounded(const Writer *w, const char *fragment) {
  if (w->dtype != DTYPE_F32) return "";
  return arena_printf(w->text.arena, "nnc_round_tf32(%s);", fragment);
}

static bool is_of_queries(int operand) { return operand == Q || operand == DY; }

/* Where an operand's rows lie: after those of the other one, if they are the second. */
static const char *part_of(const Writer *w, int operand) {
  bool is_own = is_by_keys(w->text.kernel) != is_of_queries(operand);
  const char *part = is_own ? "memory" : "column_part";
  if (operand == Q || operand == K) return part;
  return arena_printf(w->text.arena, "(%s + %s * %s)", part, is_own ? "ROWS" : "COLUMNS",
                      pitch(w, Q));
}

/* Rows of 16 bytes that lie together, at multiples of 16. */
static bool is_copied(const Writer *w, int operand) {
  const int64_t(*stride)[7] = w->text.slots->stride;
  int each = TENSOR_CHUNK / bytes_of(w->dtype);
  for (int axis = 0; axis < 3; axis++)
    if (stride[axis][operand] % each != 0) return false;
  return stride[3][operand] == 1 && w->text.function->alignments[operand] >= TENSOR_CHUNK;
}

/* Which row and chunk of it a thread copies: the same of each row, where the rows allow it. */
static const char *places_text(const Writer *w, int64_t chunks) {
  const char *text =
      "const int at = NNC_THREAD + i * THREADS, own = at / %lld, chunk = at %% %lld;";
  if (w->cut.warps * WARP % chunks == 0)
    text = "const int own = NNC_THREAD / %lld + i * (THREADS / %lld), chunk = NNC_THREAD %% %lld;";
  return arena_printf(w->text.arena, text, (long long)chunks, (long long)chunks, (long long)chunks);
}

/* Fetches an operand's rows: the tile's own, or those of the next part. */
static const char *fetch(const Writer *w, int operand) {
  bool is_own = is_by_keys(w->text.kernel) != is_of_queries(operand);
  const char *name = w->text.function->operands[operand];
  const char *place = attention_place(&w->text, operand, "row", "depth");
  int64_t depth = depth_of(w, operand), chunks = chunks_of(w->dtype, depth);
  int64_t count = is_own ? rows_of(&w->cut) : w->cut.columns;
  bool is_even = count * chunks % (w->cut.warps * WARP) == 0;
  return RENDER(
      w, is_copied(w, operand) ? "attention_tensor_copy" : "attention_tensor_gather",
      {"COUNT", number(w, count)}, {"FROM", is_own ? "first_row" : "next"},
      {"CHUNKS", number(w, chunks)}, {"PLACES", places_text(w, chunks)},
      {"IF_NEEDED",
       is_even ? "" : arena_printf(w->text.arena, "if (own < %lld)", (long long)count)},
      {"END", is_of_queries(operand) ? "QUERIES" : "KEYS"},
      {"DEPTH_IS_INSIDE", width_of(depth) == depth
                              ? ""
                              : arena_printf(w->text.arena, " && depth < %lld", (long long)depth)},
      {"PART", part_of(w, operand)}, {"PITCH", pitch(w, operand)}, {"OPERAND", name},
      {"ELEMENT", arena_printf(w->text.arena, "%s[%s]", name, place)});
}

/* Both, in lines of their own. */
static const char *two(const Writer *w, const char *first, const char *second) {
  size_t length = strlen(first);
  bool is_ended = length == 0 || first[length - 1] == '\n';
  return arena_printf(w->text.arena, "%s%s%s", first, is_ended ? "" : "\n", second);
}

static const char *keep(const Writer *w, int operand, const char *name) {
  const char *fragment = arena_printf(w->text.arena, "%s[r][k]", name);
  return RENDER(w, "attention_tensor_keep", {"KEPT", name}, {"STEPS", steps(w, operand)},
                {"PART", part_of(w, operand)}, {"PITCH", pitch(w, operand)},
                {"ROUND", rounded(w, fragment)});
}

/* Products of the rows of `own`, kept as `name`, with those of `other`. */
static const char *products(const Writer *w, int own, const char *name, int other,
                            const char *result) {
  const char *take = "", *left = arena_printf(w->text.arena, "%s[r][k]", name);
  if (!w->cut.is_kept) {
    take = RENDER(w, "attention_tensor_take", {"PART", part_of(w, own)}, {"PITCH", pitch(w, own)},
                  {"ROUND", rounded(w, "a[r]")});
    left = "a[r]";
  }
  return RENDER(w, "attention_tensor_products", {"RESULT", result}, {"STEPS", steps(w, own)},
                {"TAKE", take}, {"LEFT", left}, {"PART", part_of(w, other)},
                {"PITCH", pitch(w, other)}, {"ROUND", rounded(w, "b")});
}

static const char *add_up(const Writer *w, int operand, const char *sums) {
  return RENDER(w, "attention_tensor_sums", {"SUMS", sums},
                {"WIDTH", number(w, width_of(depth_of(w, operand)))},
                {"LAYOUT", w->dtype == DTYPE_F32 ? "pairs" : "depths"},
                {"PART", part_of(w, operand)}, {"PITCH", pitch(w, operand)},
                {"ROUND", rounded(w, "b")});
}

static const char *results(const Writer *w, int operand, const char *sums, double scale) {
  bool is_second = is_by_keys(w->text.kernel) && operand == V;
  const char *scaled = arena_printf(w->text.arena, " * %s", literal(w, scale));
  return RENDER(w, "attention_tensor_results", {"SUMS", sums},
                {"WIDTH", number(w, width_of(depth_of(w, operand)))},
                {"SPAN", number(w, width_of(depth_of(w, operand)) % SPAN == 0 ? SPAN : FRAGMENT)},
                {"DEPTH", number(w, depth_of(w, operand))},
                {"END", is_of_queries(operand) || !is_by_keys(w->text.kernel) ? "QUERIES" : "KEYS"},
                {"FIRST", number(w, is_second ? depth_of(w, K) : 0)},
                {"SCALED", scale == 1 ? "" : scaled}, {"EPILOGUE", attention_epilogue(&w->text)});
}

static const char *declare_sums(const Writer *w, int operand, const char *name) {
  return RENDER(w, "attention_tensor_zeros", {"SUMS", name},
                {"EIGHTS", number(w, width_of(depth_of(w, operand)) / 8)});
}

/* ---- scores ---- */

/* Whether the mask is added to the scores: then these have their scale already. */
static bool has_added_mask(const Kernel *kernel) {
  int mask = attention_mask_of(kernel);
  return mask >= 0 && kernel->operands[mask].dtype != DTYPE_BOOL;
}

static const char *mask_text(const Writer *w) {
  const Kernel *kernel = w->text.kernel;
  int mask = attention_mask_of(kernel);
  if (mask < 0) return "";
  const char *value = attention_element(&w->text, mask, "query", "key");
  if (!has_added_mask(kernel))
    return arena_printf(w->text.arena, "if (is_seen) score = %s ? score : %s;", value,
                        literal(w, -INFINITY));
  return arena_printf(w->text.arena, "if (is_seen) score = nnc_times_f32(score, %s) + (float)%s;",
                      literal(w, w->text.slots->scale), value);
}

/* What a score is a multiple of in registers: the scale, where it rounds nothing. */
static double unit_of(const Writer *w) {
  double scale = w->text.slots->scale;
  int exponent;
  bool is_power = frexp(scale, &exponent) == 0.5 && abs(exponent) <= MOST_EXPONENT;
  return is_power && !has_added_mask(w->text.kernel) ? scale : 1;
}

/* Products times the scale, unless it waits, or the mask's part does it. */
static const char *scales(const Writer *w) {
  if (unit_of(w) != 1 || w->text.slots->scale == 1 || has_added_mask(w->text.kernel)) return "";
  return RENDER(w, "attention_tensor_times", {"SCALE", literal(w, w->text.slots->scale)});
}

/* "if (...)": where a part has keys after a query of the warp, or after the last one. */
static const char *when_masked(const Writer *w) {
  const AttentionSlots *slots = w->text.slots;
  bool by_keys = is_by_keys(w->text.kernel);
  const char *late = "first + COLUMNS - 1 > own_row", *beyond = "first + COLUMNS > KEYS";
  if (by_keys) late = "own_row + GROUPS * 16 - 1 > first";
  bool has_end = !by_keys && slots->keys % w->cut.columns != 0;
  if (attention_mask_of(w->text.kernel) >= 0) return "";
  if (slots->causal && has_end) return arena_printf(w->text.arena, "if (%s || %s)", late, beyond);
  return arena_printf(w->text.arena, "if (%s)", slots->causal ? late : beyond);
}

static const char *masks(const Writer *w) {
  const AttentionSlots *slots = w->text.slots;
  bool by_keys = is_by_keys(w->text.kernel);
  bool has_end = !by_keys && slots->keys % w->cut.columns != 0;
  if (!slots->causal && !has_end && attention_mask_of(w->text.kernel) < 0) return "";
  return RENDER(w, "attention_tensor_mask", {"IF_NEEDED", when_masked(w)},
                {"ROW_NAME", by_keys ? "key" : "query"}, {"COLUMN_NAME", by_keys ? "query" : "key"},
                {"CAUSAL", slots->causal ? " && key <= query" : ""}, {"MASK", mask_text(w)});
}

/* ---- the body ---- */

static const char *extents_text(const Writer *w) {
  const AttentionSlots *s = w->text.slots;
  const Kernel *kernel = w->text.kernel;
  const Cut *cut = &w->cut;
  int64_t rows = rows_of(cut), own = rows * row_chunks(kernel, true);
  return arena_printf(
      w->text.arena,
      "NNC_EXTENTS(QUERIES = %lld, KEYS = %lld, HEADS = %lld, TILES = %lld);\n"
      "NNC_EXTENTS(WARPS = %d, GROUPS = %d, ROWS = WARPS * GROUPS * 16, COLUMNS = %d);\n"
      "NNC_EXTENTS(THREADS = WARPS * 32, EACH = %d, DEPTH = EACH * 2, OWN = (COLUMNS + THREADS - "
      "1) / THREADS);\n"
      "NNC_EXTENTS(FIXED = %lld, STAGE = %lld, MEMORY = %lld);",
      (long long)s->queries, (long long)s->keys, (long long)s->heads,
      (long long)divide_up(attention_rows(kernel), rows), cut->warps, cut->groups, cut->columns,
      TENSOR_CHUNK / bytes_of(w->dtype), (long long)(cut->is_kept ? 0 : own),
      (long long)(cut->columns * row_chunks(kernel, false)), (long long)memory_chunks(kernel, cut));
}

/* Of the gradients: the greatest score of each query, the logarithm of its sum, and its delta. */
static const char *numbers(const Writer *w, const char *name) {
  return RENDER(w, name, {"TOP", attention_element(&w->text, LSE, "row", "0")},
                {"LSE", attention_element(&w->text, LSE, "row", "1")},
                {"INVERSE_UNIT", literal(w, 1 / unit_of(w))},
                {"DELTA", attention_element(&w->text, DELTA, "row", "")});
}

/* Which parts of the other side the block goes through. */
static const char *parts_text(const Writer *w) {
  bool causal = w->text.slots->causal;
  if (is_by_keys(w->text.kernel))
    return causal ? "const int first_part = (int)(first_row / COLUMNS);\n"
                    "const int parts = (QUERIES + COLUMNS - 1) / COLUMNS;"
                  : "const int first_part = 0, parts = (QUERIES + COLUMNS - 1) / COLUMNS;";
  if (!causal) return "const int first_part = 0, parts = (KEYS + COLUMNS - 1) / COLUMNS;";
  return arena_printf(w->text.arena,
                      "const %s last = first_row + ROWS < KEYS ? first_row + ROWS : KEYS;\n"
                      "const int first_part = 0, parts = (int)((last + COLUMNS - 1) / COLUMNS);",
                      w->text.index_type);
}

/* What all parts have. */
static void add_common(Writer *w) {
  const AttentionSlots *slots = w->text.slots;
  TemplateHoles *holes = &w->text.holes;
  bool by_keys = is_by_keys(w->text.kernel);
  const char *concerned = by_keys ? " && next > own_row" : " && first < own_row + GROUPS * 16";
  template_add(holes, "MMA", tensor_mma_name(w->dtype));
  template_add(holes, "EXTENTS", extents_text(w));
  template_add(holes, "NOTHING", literal(w, -INFINITY));
  template_add(holes, "LOG2_E", literal(w, M_LOG2E));
  template_add(holes, "FACTOR", literal(w, unit_of(w) * M_LOG2E));
  template_add(holes, "TILE",
               slots->causal && !by_keys ? "TILES - 1 - NNC_BLOCK % TILES" : "NNC_BLOCK % TILES");
  template_add(holes, "ALL_PARTS", parts_text(w));
  template_add(holes, "IS_CONCERNED", slots->causal ? concerned : "");
  template_add(
      holes, "MEMORIES",
      by_keys ? "NNC_BLOCK_MEMORY float top[2][COLUMNS], lse[2][COLUMNS], delta[2][COLUMNS];" : "");
  template_add(holes, "BEGIN_NUMBERS", by_keys ? numbers(w, "attention_tensor_numbers") : "");
  template_add(holes, "KEEP_NUMBERS", by_keys ? numbers(w, "attention_tensor_keep_numbers") : "");
  template_add(holes, "SCALES", scales(w));
  template_add(holes, "MASKS", masks(w));
}

/* The rows of the tile, of one operand or two. */
static void add_rows(Writer *w, int first, int second) {
  const char *fetched = fetch(w, first), *kept = "";
  if (second >= 0) fetched = two(w, fetched, fetch(w, second));
  if (w->cut.is_kept) {
    kept = keep(w, first, "row_kept");
    if (second >= 0) kept = two(w, kept, keep(w, second, "other_kept"));
    kept = two(w, kept, "nnc_sync();");
    kept = two(w, "nnc_copy_group();\nnnc_copy_wait<0>();\nnnc_sync();", kept);
  }
  template_add(&w->text.holes, "ROWS_FETCH", fetched);
  template_add(&w->text.holes, "ROWS_KEEP", kept);
}

static void finish(Code *code, Writer *w, const char *compute, const char *last) {
  template_add(&w->text.holes, "COMPUTE", RENDER(w, compute, {"", ""}));
  template_add(&w->text.holes, "FINISH", last);
  template_render(code->out, "codegen_templates/cuda/attention_tensor.cu", &w->text.holes);
}

/* ---- the kinds ---- */

/* attention, and without values attention_lse. */
static void forward_write(Code *code, Writer *w) {
  TemplateHoles *holes = &w->text.holes;
  bool has_values = w->text.kernel->kind == KERNEL_ATTENTION;
  const char *fetched = fetch(w, K);
  const char *inverse = "1 / (total[r][k] == 0 ? 1 : total[r][k])";
  add_rows(w, Q, -1);
  template_add(holes, "FETCH", has_values ? two(w, fetched, fetch(w, V)) : fetched);
  template_add(holes, "SCORES", products(w, Q, "row_kept", K, "scores"));
  template_add(holes, "V_EIGHTHS", has_values ? number(w, width_of(depth_of(w, V)) / 8) : "0");
  template_add(holes, "RESCALE",
               has_values ? RENDER(w, "attention_tensor_scale", {"BY", "factor"}) : "");
  template_add(holes, "ADD_VALUES", has_values ? add_up(w, V, "sums") : "");
  const char *begin = RENDER(w, "attention_tensor_begin", {"", ""});
  template_add(holes, "DECLARATIONS",
               has_values ? two(w, begin, declare_sums(w, V, "sums")) : begin);
  const char *row = has_values ? RENDER(w, "attention_tensor_scale", {"BY", inverse})
                               : RENDER(w, "attention_tensor_lse", {"UNIT", literal(w, unit_of(w))},
                                        {"EPILOGUE", attention_epilogue(&w->text)});
  const char *last = RENDER(w, "attention_tensor_totals", {"FINISH_ROW", row});
  if (has_values) last = two(w, two(w, last, "nnc_sync();"), results(w, V, "sums", 1));
  finish(code, w, "attention_tensor_softmax", last);
}

static void grad_q_write(Code *code, Writer *w) {
  TemplateHoles *holes = &w->text.holes;
  add_rows(w, Q, DY);
  template_add(holes, "FETCH", two(w, fetch(w, K), fetch(w, V)));
  template_add(holes, "SCORES", products(w, Q, "row_kept", K, "scores"));
  template_add(holes, "RECEIVED", products(w, DY, "other_kept", V, "received"));
  template_add(holes, "ADD_KEYS", add_up(w, K, "sums"));
  template_add(holes, "DECLARATIONS",
               two(w, numbers(w, "attention_tensor_row_numbers"), declare_sums(w, Q, "sums")));
  finish(code, w, "attention_tensor_grad_q",
         two(w, "nnc_sync();", results(w, Q, "sums", w->text.slots->scale)));
}

static void grad_kv_write(Code *code, Writer *w) {
  TemplateHoles *holes = &w->text.holes;
  add_rows(w, K, V);
  template_add(holes, "FETCH", two(w, fetch(w, Q), fetch(w, DY)));
  template_add(holes, "SCORES", products(w, K, "row_kept", Q, "scores"));
  template_add(holes, "RECEIVED", products(w, V, "other_kept", DY, "received"));
  template_add(holes, "ADD_QUERIES", add_up(w, Q, "sums"));
  template_add(holes, "ADD_ADJOINTS", add_up(w, DY, "value_sums"));
  template_add(holes, "DECLARATIONS",
               two(w, declare_sums(w, K, "sums"), declare_sums(w, V, "value_sums")));
  const char *keys = results(w, K, "sums", w->text.slots->scale);
  const char *values = results(w, V, "value_sums", 1);
  finish(code, w, "attention_tensor_grad_kv", two(w, "nnc_sync();", two(w, keys, values)));
}

void attention_tensor_write(Code *code, KernelFunction *function) {
  Writer w = {.text = attention_text(code, function),
              .cut = choose_cut(function->kernel),
              .dtype = function->kernel->operands[Q].dtype};
  add_common(&w);
  switch (function->kernel->kind) {
  case KERNEL_ATTENTION_GRAD_Q: grad_q_write(code, &w); break;
  case KERNEL_ATTENTION_GRAD_KV: grad_kv_write(code, &w); break;
  default: forward_write(code, &w); break;
  }
}
