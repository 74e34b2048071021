/* Attention as C: blocks of queries by blocks of keys, of which the scores stay in the cache
 * (codegen_templates/attention_rows.c, attention_grads.c, both after attention_epilogue.c).
 *
 * Operands of the products are in the type of sums. Queries and their adjoints are copied to the worker's
 * block, keys and values turned there for the products whose columns are keys; where rows of them are
 * read as vectors, in place if they can be. */
#include "kernel/attention.h"
#include "backend/c/kernels.h"
#include "backend/common/c.h"

#include <math.h>
#include "support/integers.h"

enum { Q, K, V, DY, ROWS_OF }; /* operands; ROWS_OF: the result of attention_rows */

/* How a head is cut. Rows in the worker's block are as long as the widest vectors need. */
typedef struct Blocks {
  int64_t depth_row, value_row;
  int64_t rows, block, line; /* queries and keys of a block of scores; elements between its rows */
  int64_t chunk, chunks;     /* queries of a task of the forward part */
} Blocks;

static Blocks head_blocks(const AttentionSlots *slots) {
  enum { VECTOR = 16, ROWS = 64, WHOLE_KEYS = 384, KEYS = 256, WHOLE_CHUNK = 512, CHUNK = 256 };
  Blocks blocks = {.depth_row = align_up(slots->depth, VECTOR),
                   .value_row = align_up(slots->value_depth, VECTOR),
                   .rows = least(greatest(slots->queries, 1), ROWS),
                   .block = slots->keys <= WHOLE_KEYS ? greatest(slots->keys, 1) : KEYS,
                   .chunk = slots->queries <= WHOLE_CHUNK ? greatest(slots->queries, 1) : CHUNK};
  /* no power of 2, and long enough for a query's y with its two numbers */
  blocks.line =
      greatest(align_up(blocks.block, VECTOR), align_up(slots->value_depth, VECTOR)) + VECTOR;
  blocks.chunks = divide_up(slots->queries, blocks.chunk);
  return blocks;
}

static DType sum_type(const Kernel *kernel) {
  return kernel->operands[Q].dtype == DTYPE_F64 ? DTYPE_F64 : DTYPE_F32;
}

/* ---- what is read in place ---- */

static int64_t depth_of(const Kernel *kernel, int operand) {
  return operand == Q || operand == K ? kernel->attention.depth : kernel->attention.value_depth;
}

/* Rows of the operand are whole vectors of the type of sums in memory. */
static bool is_in_place(const Kernel *kernel, int operand) {
  enum { VECTOR = 16 };
  return kernel->operands[operand].dtype == sum_type(kernel) &&
         kernel->attention.stride[3][operand] == 1 && depth_of(kernel, operand) % VECTOR == 0;
}

/* ---- the grid ---- */

static int64_t heads_of(const Kernel *kernel) {
  return extent_product((int64_t[]){kernel->attention.batch, kernel->attention.heads}, 2);
}

static int64_t rows_tasks(const Kernel *kernel) {
  return heads_of(kernel) * head_blocks(&kernel->attention).chunks;
}

enum { TILE = 8 /* rows of a register tile, at most: sums have so many more */ };

static int64_t rows_worker_bytes(const Kernel *kernel) {
  const AttentionSlots *slots = &kernel->attention;
  Blocks b = head_blocks(slots);
  int64_t elements = (b.chunk + TILE) * (b.depth_row + b.value_row) + slots->depth * b.line +
                     (b.rows + TILE) * b.line + 2 * b.chunk +
                     b.block * greatest(b.depth_row, b.value_row);
  return elements * dtype_size(sum_type(kernel));
}

static int64_t grads_worker_bytes(const Kernel *kernel) {
  const AttentionSlots *slots = &kernel->attention;
  Blocks b = head_blocks(slots);
  int64_t elements = (slots->queries + TILE) * (2 * b.depth_row + b.value_row) +
                     3 * slots->queries + (slots->depth + slots->value_depth) * b.line +
                     2 * (b.rows + TILE) * b.line + (b.block + TILE) * (b.depth_row + b.value_row) +
                     b.depth_row + b.value_row + b.block * greatest(b.depth_row, b.value_row);
  return elements * dtype_size(sum_type(kernel));
}

/* ---- texts ---- */

typedef struct Writer {
  Arena *arena;
  KernelFunction *function;
  const Kernel *kernel;
  const AttentionSlots *slots;
  Blocks blocks;
  const char *type, *type_name;
} Writer;

/* Where row `row` of the operand begins. */
static const char *row_place(const Writer *w, int operand, const char *row) {
  const int64_t(*stride)[7] = w->slots->stride;
  return arena_printf(w->arena, "%s + batch * %lld + head * %lld + (%s) * %lld",
                      w->function->operands[operand], (long long)stride[0][operand],
                      (long long)stride[1][operand], row, (long long)stride[2][operand]);
}

static const char *row_pointer(const Writer *w, int operand, const char *name, const char *row) {
  return arena_printf(w->arena, "const %s *const %s = %s;",
                      c_storage_type(w->kernel->operands[operand].dtype), name,
                      row_place(w, operand, row));
}

/* The element `place` of the row `from`. */
static const char *element(const Writer *w, int operand, const char *from, const char *place) {
  return arena_printf(w->arena, "(%s)%s(%s[(%s) * %lld])", w->type,
                      c_loader(w->arena, w->kernel->operands[operand].dtype), from, place,
                      (long long)w->slots->stride[3][operand]);
}

/* Copies rows [first, first + rows) of the operand, filled up with zeros. */
static const char *pack(const Writer *w, int operand, const char *to, int64_t row,
                        const char *first, const char *rows) {
  return arena_printf(
      w->arena,
      "for (int64_t r = 0; r < %s; r++) {\n"
      "  %s\n"
      "  for (int64_t c = 0; c < %lld; c++) %s[r * %lld + c] = %s;\n"
      "  for (int64_t c = %lld; c < %lld; c++) %s[r * %lld + c] = 0;\n"
      "}\n",
      rows, row_pointer(w, operand, "from", arena_printf(w->arena, "%s + r", first)),
      (long long)depth_of(w->kernel, operand), to, (long long)row, element(w, operand, "from", "c"),
      (long long)depth_of(w->kernel, operand), (long long)row, to, (long long)row);
}

static int64_t row_of(const Writer *w, int operand) {
  return operand == Q || operand == K ? w->blocks.depth_row : w->blocks.value_row;
}

/* The block's rows of keys or values in memory that holds them as vectors: "rows, elements of a row". */
static const char *vector_rows(const Writer *w, int operand) {
  if (!is_in_place(w->kernel, operand))
    return arena_printf(w->arena, "packed, %lld", (long long)row_of(w, operand));
  return arena_printf(w->arena, "%s, %lld", row_place(w, operand, "k_first"),
                      (long long)w->slots->stride[2][operand]);
}

static const char *pack_block(const Writer *w, int operand) {
  if (is_in_place(w->kernel, operand)) return "";
  return pack(w, operand, "packed", row_of(w, operand), "k_first", "keys");
}

static const char *turn(const Writer *w, int operand, const char *to) {
  return arena_printf(w->arena, "%snnc_attention_turn_%s(%s, LINE, %s, keys, %lld);\n",
                      pack_block(w, operand), w->type_name, to, vector_rows(w, operand),
                      (long long)depth_of(w->kernel, operand));
}

/* The mask of the scores `line` of a query. */
static const char *mask_text(const Writer *w, const char *query) {
  int mask = attention_operands(w->kernel->kind) - 1;
  if (w->slots->count <= mask) return "";
  const char *scale = c_literal(w->arena, sum_type(w->kernel), w->slots->scale);
  bool is_bool = w->kernel->operands[mask].dtype == DTYPE_BOOL;
  const char *value = element(w, mask, "shown", "k_first + j");
  const char *score =
      is_bool ? arena_printf(w->arena, "%s != 0 ? line[j] * %s : -INFINITY", value, scale)
              : arena_printf(w->arena, "line[j] * %s + %s", scale, value);
  return arena_printf(w->arena, "%s\nfor (int64_t j = 0; j < count; j++) line[j] = %s;\n",
                      row_pointer(w, mask, "shown", query), score);
}

/* By what the scores are multiplied when the mask has been there. */
static const char *factor_text(const Writer *w) {
  bool has_mask = w->slots->count == attention_operands(w->kernel->kind);
  return c_literal(w->arena, sum_type(w->kernel), has_mask ? 1 : w->slots->scale);
}

static const char *epilogue_text(const Writer *w, const char *const *axes) {
  Text text = {0};
  Code code = {.arena = w->arena, .out = &text};
  for (int i = 0; i < w->kernel->axis_count; i++)
    function_declare_axis(&code, w->function, i, axes[i]);
  return function_end_epilogue(&code, w->function, "line[c]", sum_type(w->kernel));
}

/* Both kinds' holes; `first`: the first query of the task. */
static TemplateHoles common_holes(const Writer *w, int64_t tasks, const char *first) {
  Arena *arena = w->arena;
  const AttentionSlots *slots = w->slots;
  TemplateHoles holes = function_holes(arena, w->function, tasks);
  template_add(&holes, "TYPE", w->type);
  template_add(&holes, "T", w->type_name);
  template_add_integer(&holes, "HEADS", slots->heads);
  template_add_integer(&holes, "QUERIES", slots->queries);
  template_add_integer(&holes, "DEPTH", slots->depth);
  template_add_integer(&holes, "VALUES", slots->value_depth);
  template_add_integer(&holes, "DEPTH_ROW", w->blocks.depth_row);
  template_add_integer(&holes, "VALUE_ROW", w->blocks.value_row);
  template_add_integer(&holes, "ROWS", w->blocks.rows);
  template_add_integer(&holes, "BLOCK", w->blocks.block);
  template_add_integer(&holes, "LINE", w->blocks.line);
  template_add(&holes, "SEEN",
               slots->causal ? arena_printf(arena, "%s + q - k_first + 1", first) : "KEYS");
  template_add(&holes, "MASK", mask_text(w, arena_printf(arena, "%s + q + r", first)));
  template_add(&holes, "FACTOR", factor_text(w));
  template_add(&holes, "SCALE", c_literal(arena, sum_type(w->kernel), slots->scale));
  template_add_integer(&holes, "KEY_COUNT", slots->keys);
  return holes;
}

/* The epilogue, then the kernel that calls it. */
static void render(const Writer *w, Text *out, TemplateHoles *holes, const char *const *axes,
                   const char *name) {
  function_add_epilogue(holes, w->function, epilogue_text(w, axes));
  template_render(out, "codegen_templates/attention_epilogue.c", holes);
  template_render(out, name, holes);
}

static Writer writer_of(Code *code, KernelFunction *function) {
  const Kernel *kernel = function->kernel;
  DType type = sum_type(kernel);
  return (Writer){.arena = code->arena,
                  .function = function,
                  .kernel = kernel,
                  .slots = &kernel->attention,
                  .blocks = head_blocks(&kernel->attention),
                  .type = c_value_type(type),
                  .type_name = dtype_name(type)};
}

/* ---- the kinds ---- */

static void rows_write(Code *code, KernelFunction *function) {
  static const char *const axes[] = {"batch", "head", "place", "c"};
  Writer w = writer_of(code, function);
  if (function_write_empty(code, function)) return;
  TemplateHoles holes = common_holes(&w, rows_tasks(w.kernel), "q_first");
  template_add_integer(&holes, "CHUNK", w.blocks.chunk);
  template_add_integer(&holes, "CHUNKS", w.blocks.chunks);
  template_add(&holes, "KEYS_END", w.slots->causal ? "nnc_least(KEYS, q_first + q_count)" : "KEYS");
  template_add(&holes, "PACK_QUERIES",
               pack(&w, Q, "queries", w.blocks.depth_row, "q_first", "q_count"));
  template_add(&holes, "TURN_KEYS", turn(&w, K, "turned"));
  template_add(&holes, "PACK_VALUES", pack_block(&w, V));
  template_add(&holes, "VALUE_ROWS", vector_rows(&w, V));
  render(&w, code->out, &holes, axes, "codegen_templates/attention_rows.c");
}

/* What attention_rows has of query q: y, and two numbers. */
static const char *load_row(const Writer *w) {
  const char *depth = arena_printf(w->arena, "%lld", (long long)w->slots->value_depth);
  const char *next = arena_printf(w->arena, "%lld", (long long)w->slots->value_depth + 1);
  return arena_printf(w->arena,
                      "%s\n"
                      "for (int64_t c = 0; c < VALUES; c++) both[c] = %s;\n"
                      "tops[q] = %s;\n"
                      "logs[q] = %s;\n",
                      row_pointer(w, ROWS_OF, "from", "q"), element(w, ROWS_OF, "from", "c"),
                      element(w, ROWS_OF, "from", depth), element(w, ROWS_OF, "from", next));
}

static void grads_write(Code *code, KernelFunction *function) {
  static const char *const axes[] = {"batch", "head", "place + c"};
  Writer w = writer_of(code, function);
  if (function_write_empty(code, function)) return;
  TemplateHoles holes = common_holes(&w, heads_of(w.kernel), "0");
  /* the values first: what is packed of the keys is read as rows afterwards */
  template_add(
      &holes, "TURN_BOTH",
      arena_printf(w.arena, "%s%s", turn(&w, V, "turned_values"), turn(&w, K, "turned_keys")));
  template_add(&holes, "PACK_QUERIES", pack(&w, Q, "queries", w.blocks.depth_row, "0", "QUERIES"));
  template_add(&holes, "PACK_ADJOINTS",
               pack(&w, DY, "adjoints", w.blocks.value_row, "0", "QUERIES"));
  template_add(&holes, "LOAD_ROW", load_row(&w));
  template_add(&holes, "KEY_ROWS", vector_rows(&w, K));
  render(&w, code->out, &holes, axes, "codegen_templates/attention_grads.c");
}

const TargetKernel c_kernel_attention_rows = {.tasks = rows_tasks,
                                              .worker_bytes = rows_worker_bytes,
                                              .write = rows_write,
                                              .header = "nnc_products.h"};
const TargetKernel c_kernel_attention_grads = {.tasks = heads_of,
                                               .worker_bytes = grads_worker_bytes,
                                               .write = grads_write,
                                               .header = "nnc_products.h"};
