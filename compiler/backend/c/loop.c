/* Loop kernels as C.
 *
 * A function runs its worker's tasks; a task is a piece of the domain (backend/c/tiles.h). Four
 * shapes:
 *
 *   points   no reductions: a plain loop over the last axis of the domain, which the compiler
 *            vectorizes; where conditions cut the rows into cases (kernel/cases.h), a loop for
 *            each case
 *   rows     each point of the domain runs the stages one after the other; their inner loops are
 *            the ones that vectorize (loop_rows.c)
 *   columns  points of the last domain axis run together, as many as accumulators fit the cache, the
 *            stages' results are small arrays, and the loop over those points is the innermost: for
 *            sums over a strided axis such as the gradient of a bias
 *   windows  points of the last domain axis whose windows lie side by side, two wide, run a span at
 *            a time (loop_windows.c): pooling on planes
 *
 * The choice between rows and columns counts which of the two makes more accesses contiguous. Stores of
 * points and rows may go past the caches (loop_stream.c). */
#include "backend/c/loop.h"

#include <string.h>
#include "nnc_block.h"
#include "backend/common/loops.h"
#include "backend/common/reduction.h"
#include "backend/common/c.h"
#include "kernel/builder.h"
#include "kernel/cases.h"
#include "backend/c/tiles.h"
#include "support/integers.h"
#include "support/panic.h"

enum {
  COLUMN_UNIT = 64,
  MOST_COLUMNS = 1024, /* whose accumulators are half of a first-level cache at most */
  COLUMN_ROWS = 4,     /* added in one pass */
  LONG_SUM = 4096      /* more floats than this are summed in double */
};

/* ---- axes ---- */

void loop_stage_axes(LoopWriter *writer, const Stage *stage) {
  ExprScope *scope = &writer->scope;
  scope->axis_count = writer->kernel->axis_count + stage->axis_count;
  for (int i = 0; i < stage->axis_count; i++) {
    int axis = writer->kernel->axis_count + i;
    scope->axes[axis] = arena_printf(scope->arena, "j%d", i);
    scope->extents[axis] = stage->extent[i];
  }
}

void loop_open_axes(LoopWriter *writer, const Stage *stage, int from, int end) {
  for (int i = from; i < end; i++)
    code_open(writer->code, "for (int64_t j%d = 0; j%d < %lld; j%d++)", i, i,
              (long long)stage->extent[i], i);
}

void loop_close(LoopWriter *writer, int count) {
  for (int i = 0; i < count; i++) code_close(writer->code);
}

DType loop_accumulator(const Stage *stage) {
  DType dtype = stage->value->dtype;
  return dtype_is_half(dtype) ? DTYPE_F32 : dtype;
}

bool loop_write_hint(LoopWriter *writer, int number, int64_t points) {
  enum { MANY = 512, INTERLEAVED = 32 }; /* double values of four of the widest vectors */
  bool suits = points >= MANY || points % INTERLEAVED == 0;
  if (!suits || !expression_is_costly(&writer->scope, number)) return false;
  code_line(writer->code, "NNC_COSTLY");
  return true;
}

/* ---- columns ---- */

static const char columns_begin[] = "for (int64_t l = 0", columns_next[] = "; l < count; l++";

static void open_columns(LoopWriter *writer) {
  writer->column_mark = code_mark(writer->code) + 2 * (size_t)writer->code->indent;
  code_open(writer->code, "%s%s)", columns_begin, columns_next);
}

/* The columns' axis, where it is mentioned, goes with the loop. */
static void close_columns(LoopWriter *writer) {
  Arena *arena = writer->code->arena;
  Text *out = writer->code->out;
  const char *axis = arena_printf(arena, "i%d", writer->kernel->axis_count - 1);
  size_t begin = writer->column_mark + strlen(columns_begin), next = begin + strlen(columns_next);
  if (code_mentions(out->data + next, axis)) {
    text_insert(out, next, arena_printf(arena, ", %s++", axis));
    text_insert(out, begin, arena_printf(arena, ", %s = first", axis));
  }
  code_close(writer->code);
}

/* Whether a stage reads memory that is in no cache. */
static bool reads_streams(const LoopWriter *writer, int number) {
  ExprList list = kernel_expressions(writer->code->arena, writer->kernel, number);
  for (int i = 0; i < list.count; i++) {
    if (list.items[i]->kind != EXPR_LOAD) continue;
    const KernelOperand *memory = &writer->kernel->operands[list.items[i]->operand];
    if (memory->elements >= STREAM_BYTES / dtype_size(memory->dtype)) return true;
  }
  return false;
}

/* Whether several rows are added in one pass over the columns; their bits are the same. */
static bool takes_rows(const LoopWriter *writer, int number) {
  enum { MOST_EXPRESSIONS = 8 };
  const Stage *stage = &writer->kernel->stages[number];
  ExprList list = kernel_expressions(writer->code->arena, writer->kernel, number);
  return stage->axis_count > 0 && stage->extent[stage->axis_count - 1] >= 2 * COLUMN_ROWS &&
         list.count <= MOST_EXPRESSIONS;
}

/* One or more rows of the reductions [first, end), sums, products or extrema, with `axis` as their last axis, joined with
 * the accumulators of that name. */
static void write_column_joins(LoopWriter *writer, char name_of, int first, int end,
                               const DType *dtypes, int rows) {
  Code *code = writer->code;
  ExprScope *scope = &writer->scope;
  const char **axis = &scope->axes[scope->axis_count - 1], *name = *axis;
  bool is_streamed = false;
  for (int i = first; i < end; i++) is_streamed |= reads_streams(writer, i);
  /* written out, each load would step over several lines, and the processor fetches less ahead */
  if (is_streamed) code_line(code, "NNC_ROLLED");
  open_columns(writer);
  for (int row = 0; row < rows; row++) {
    if (row > 0) *axis = arena_printf(code->arena, "(%s + %d)", name, row);
    for (int i = first; i < end; i++) {
      const char *value = expression_render(code, scope, i)[0];
      reduction_write_join(code, &dialect_c, &writer->kernel->stages[i], dtypes[i - first],
                           arena_printf(code->arena, "%c%d[l]", name_of, i), value);
    }
  }
  *axis = name;
  close_columns(writer);
}

/* Some rows of a stage's last axis. */
typedef struct ColumnRows {
  char name; /* of the accumulators */
  const char *begin, *end;
  const char *fours_end; /* COLUMN_ROWS at a time up to here; NULL: the last ones are as many */
} ColumnRows;

static void open_rows_of(LoopWriter *writer, int last, const char *begin, const char *end,
                         int step) {
  const char *next = step == 1 ? arena_printf(writer->code->arena, "j%d++", last)
                               : arena_printf(writer->code->arena, "j%d += %d", last, step);
  code_open(writer->code, "for (int64_t j%d = %s; j%d < %s; %s)", last, begin, last, end, next);
}

static void write_column_rows(LoopWriter *writer, int number, DType dtype, const ColumnRows *rows) {
  int last = writer->kernel->stages[number].axis_count - 1;
  bool has_fours = takes_rows(writer, number);
  if (has_fours) {
    open_rows_of(writer, last, rows->begin, rows->fours_end ? rows->fours_end : rows->end,
                 COLUMN_ROWS);
    write_column_joins(writer, rows->name, number, number + 1, &dtype, COLUMN_ROWS);
    code_close(writer->code);
    if (rows->fours_end == NULL) return;
  }
  open_rows_of(writer, last, has_fours ? rows->fours_end : rows->begin, rows->end, 1);
  write_column_joins(writer, rows->name, number, number + 1, &dtype, 1);
  code_close(writer->code);
}

/* Whether a sum of floats goes by chains, as those of products (NNC_TILE_CHAIN): its errors are a fraction, and a product
 * of one row has the bits of a tile's. */
static bool goes_by_chains(const Stage *stage, DType dtype) {
  bool is_plain = dtype == DTYPE_F32 || stage->value->dtype == DTYPE_F64; /* not in double */
  return is_plain && stage->reduce == OP_REDUCE_SUM && stage->axis_count > 0 &&
         stage->extent[stage->axis_count - 1] > TILE_CHAIN;
}

/* Opens a loop over the chains of the last axis, [chain, chain_end), of the reductions [first, end), with accumulators of
 * their own. */
static void open_chains(LoopWriter *writer, int first, int end, DType dtype) {
  Code *code = writer->code;
  const Stage *stage = &writer->kernel->stages[first];
  long long extent = (long long)stage->extent[stage->axis_count - 1];
  code_open(code, "for (int64_t chain = 0; chain < %lld; chain += %d)", extent, TILE_CHAIN);
  code_line(code, "const int64_t chain_end = nnc_least(chain + %d, %lld);", TILE_CHAIN, extent);
  for (int i = first; i < end; i++)
    code_line(code, "%s c%d[%d] NNC_ALIGNED = {0};", c_value_type(dtype), i, writer->column_block);
}

static void close_chains(LoopWriter *writer, int first, int end) {
  for (int i = first; i < end; i++)
    code_line(writer->code, "for (int64_t l = 0; l < count; l++) a%d[l] += c%d[l];", i, i);
  code_close(writer->code);
}

/* All rows of the last axis, a chain at a time. */
static void write_column_chains(LoopWriter *writer, int number, DType dtype) {
  Code *code = writer->code;
  const Stage *stage = &writer->kernel->stages[number];
  ColumnRows rows = {.name = 'c', .begin = "chain", .end = "chain_end"};
  if (stage->extent[stage->axis_count - 1] % COLUMN_ROWS != 0) rows.fours_end = "fours";
  open_chains(writer, number, number + 1, dtype);
  size_t mark = code_mark(code);
  write_column_rows(writer, number, dtype, &rows);
  code_declare(code, mark, "fours",
               arena_printf(code->arena,
                            "const int64_t fours = chain + (chain_end - chain) / %d * %d;",
                            COLUMN_ROWS, COLUMN_ROWS));
  close_chains(writer, number, number + 1);
}

/* All rows. */
static void write_columns_of(LoopWriter *writer, int number, DType dtype) {
  Arena *arena = writer->code->arena;
  const Stage *stage = &writer->kernel->stages[number];
  int last = stage->axis_count - 1;
  if (last < 0) {
    write_column_joins(writer, 'a', number, number + 1, &dtype, 1);
    return;
  }
  loop_open_axes(writer, stage, 0, last);
  int64_t extent = stage->extent[last], whole = extent / COLUMN_ROWS * COLUMN_ROWS;
  ColumnRows rows = {.name = 'a', .begin = "0", .end = code_integer(arena, extent)};
  if (whole < extent) rows.fours_end = code_integer(arena, whole);
  if (goes_by_chains(stage, dtype)) write_column_chains(writer, number, dtype);
  else write_column_rows(writer, number, dtype, &rows);
  loop_close(writer, last);
}

static void write_column_search(LoopWriter *writer, int number, DType dtype) {
  Code *code = writer->code;
  const Stage *stage = &writer->kernel->stages[number];
  const char *place = arena_printf(code->arena, "s%d[l]", number);
  code_line(code, "int32_t s%d[%d] NNC_ALIGNED;", number, writer->column_block);
  code_line(code, "for (int64_t l = 0; l < %d; l++) %s = 0;", writer->column_block, place);
  loop_open_axes(writer, stage, 0, stage->axis_count);
  open_columns(writer);
  const char *value = expression_render(code, &writer->scope, number)[0];
  const char *accumulator = arena_printf(code->arena, "a%d[l]", number);
  reduction_write_search(code, &dialect_c, &(Search){stage->reduce, dtype, accumulator, place},
                         value, "j0");
  close_columns(writer);
  loop_close(writer, stage->axis_count);
  writer->scope.stages[number] = place;
}

/* Declares a reduction's accumulators; of what type they are. */
static DType declare_columns(LoopWriter *writer, int number) {
  Code *code = writer->code;
  const Stage *stage = &writer->kernel->stages[number];
  DType dtype = loop_accumulator(stage);
  bool is_long = loops_stage_extent(stage) > LONG_SUM && stage->reduce == OP_REDUCE_SUM;
  if (dtype == DTYPE_F32 && is_long) dtype = DTYPE_F64;
  const char *start = dialect_c.reduction_start(stage->reduce, dtype);
  int block = writer->column_block;
  bool is_zero = strcmp(start, "0") == 0;
  code_line(code, "%s a%d[%d] NNC_ALIGNED%s;", c_value_type(dtype), number, block,
            is_zero ? " = {0}" : "");
  if (!is_zero)
    code_line(code, "for (int64_t l = 0; l < %d; l++) a%d[l] = %s;", block, number, start);
  return dtype;
}

/* What the reduction's value is called from now on. */
static void name_columns(LoopWriter *writer, int number, DType dtype) {
  bool narrow = dtype == DTYPE_F64 && writer->kernel->stages[number].value->dtype != DTYPE_F64;
  writer->scope.stages[number] =
      arena_printf(writer->code->arena, "%sa%d[l]", narrow ? "(float)" : "", number);
}

static void write_column_reduction(LoopWriter *writer, int number) {
  DType dtype = declare_columns(writer, number);
  if (reduction_is_search(writer->kernel->stages[number].reduce)) {
    write_column_search(writer, number, dtype);
    return;
  }
  write_columns_of(writer, number, dtype);
  name_columns(writer, number, dtype);
}

/* ---- reductions side by side ---- */

/* Rows of a reduction that stay in the first-level cache until the next one has read them; so many columns are together. */
static int64_t near_rows(const LoopWriter *writer) {
  enum { NEAR_ELEMENTS = 4096 };
  return greatest(NEAR_ELEMENTS / writer->column_block / COLUMN_ROWS, 1) * COLUMN_ROWS;
}

static bool reads_stage(const LoopWriter *writer, int number, int from) {
  ExprList list = kernel_expressions(writer->code->arena, writer->kernel, number);
  for (int i = 0; i < list.count; i++)
    if (list.items[i]->kind == EXPR_STAGE && list.items[i]->operand >= from) return true;
  return false;
}

/* Whether a reduction goes over the same rows as the one at `first`, and needs none that begin there or after it. */
static bool goes_beside(const LoopWriter *writer, int number, int first) {
  const Stage *own = &writer->kernel->stages[number], *other = &writer->kernel->stages[first];
  if (own->kind != STAGE_REDUCE || own->axis_count == 0 || reduction_is_search(own->reduce) ||
      own->axis_count != other->axis_count || reads_stage(writer, number, first))
    return false;
  for (int i = 0; i < own->axis_count; i++)
    if (own->extent[i] != other->extent[i]) return false;
  return own->extent[own->axis_count - 1] > near_rows(writer);
}

/* The stages from `first` on up to the returned one go over the same rows: the first of them alone, or several. */
static int beside_end(const LoopWriter *writer, int first) {
  int end = first;
  while (end < writer->kernel->stage_count && goes_beside(writer, end, first)) end++;
  return greatest(end, first + 1);
}

/* How many rows all these reductions take together, in one pass over the columns: memory is read evenly then. 0: they have
 * too much to compute. */
static int rows_together(const LoopWriter *writer, int first, int end) {
  enum { MOST_EXPRESSIONS = 40 };
  int expressions = 0;
  for (int i = first; i < end; i++)
    expressions += kernel_expressions(writer->code->arena, writer->kernel, i).count;
  return expressions > MOST_EXPRESSIONS ? 0 : end - first == 2 ? 2 : 1;
}

/* All of these reductions, so many rows at a time, and what rows are left one by one. */
static void write_columns_together(LoopWriter *writer, const ColumnRows *all, int first, int end,
                                   const DType *dtypes, int rows) {
  const Stage *stage = &writer->kernel->stages[first];
  int last = stage->axis_count - 1;
  const char *whole = stage->extent[last] % rows == 0 ? all->end : all->fours_end;
  open_rows_of(writer, last, all->begin, whole, rows);
  write_column_joins(writer, all->name, first, end, dtypes, rows);
  code_close(writer->code);
  if (whole == all->end) return;
  open_rows_of(writer, last, whole, all->end, 1);
  write_column_joins(writer, all->name, first, end, dtypes, 1);
  code_close(writer->code);
}

/* All reductions over some rows, then over the next ones: what the first of them reads is near for the others. */
static void write_columns_in_turn(LoopWriter *writer, const ColumnRows *all, int first, int end,
                                  const DType *dtypes) {
  Code *code = writer->code;
  const Stage *stage = &writer->kernel->stages[first];
  long long extent = (long long)stage->extent[stage->axis_count - 1];
  long long step = (long long)near_rows(writer);
  code_open(code, "for (int64_t near = %s; near < %s; near += %lld)", all->begin, all->end, step);
  code_line(code, "const int64_t beyond = nnc_least(near + %lld, %s);", step, all->end);
  ColumnRows rows = {.name = all->name,
                     .begin = "near",
                     .end = "beyond",
                     .fours_end = extent % COLUMN_ROWS != 0 ? "fours" : NULL};
  size_t mark = code_mark(code);
  for (int i = first; i < end; i++) write_column_rows(writer, i, dtypes[i - first], &rows);
  code_declare(code, mark, "fours",
               arena_printf(code->arena, "const int64_t fours = near + (beyond - near) / %d * %d;",
                            COLUMN_ROWS, COLUMN_ROWS));
  code_close(code);
}

/* Whether all of these go by chains, and by accumulators of the same type. */
static bool go_by_chains(const LoopWriter *writer, int first, int end, const DType *dtypes) {
  for (int i = first; i < end; i++)
    if (dtypes[i - first] != dtypes[0] ||
        !goes_by_chains(&writer->kernel->stages[i], dtypes[i - first]))
      return false;
  return true;
}

/* Reductions that go over the same rows. */
static void write_columns_beside(LoopWriter *writer, int first, int end) {
  Code *code = writer->code;
  const Stage *stage = &writer->kernel->stages[first];
  int last = stage->axis_count - 1;
  DType *dtypes = ARENA_ARRAY(code->arena, DType, writer->kernel->stage_count);
  loop_stage_axes(writer, stage);
  for (int i = first; i < end; i++) dtypes[i - first] = declare_columns(writer, i);
  loop_open_axes(writer, stage, 0, last);
  int rows = rows_together(writer, first, end);
  int64_t extent = stage->extent[last], whole = extent / greatest(rows, 1) * greatest(rows, 1);
  ColumnRows all = {.name = 'a',
                    .begin = "0",
                    .end = code_integer(code->arena, extent),
                    .fours_end = code_integer(code->arena, whole)};
  bool has_chains = go_by_chains(writer, first, end, dtypes);
  if (has_chains) {
    all = (ColumnRows){.name = 'c', .begin = "chain", .end = "chain_end"};
    all.fours_end = arena_printf(code->arena, "chain + (chain_end - chain) / %d * %d",
                                 (int)greatest(rows, 1), (int)greatest(rows, 1));
    open_chains(writer, first, end, dtypes[0]);
  }
  if (rows > 0) write_columns_together(writer, &all, first, end, dtypes, rows);
  else write_columns_in_turn(writer, &all, first, end, dtypes);
  if (has_chains) close_chains(writer, first, end);
  loop_close(writer, last);
  for (int i = first; i < end; i++) name_columns(writer, i, dtypes[i - first]);
}

static void write_column_stage(LoopWriter *writer, int number) {
  const Stage *stage = &writer->kernel->stages[number];
  loop_stage_axes(writer, stage);
  if (stage->kind == STAGE_REDUCE) {
    write_column_reduction(writer, number);
    return;
  }
  loop_open_axes(writer, stage, 0, stage->axis_count);
  open_columns(writer);
  expression_write_stores(writer->code, &writer->scope, number);
  close_columns(writer);
  loop_close(writer, stage->axis_count);
}

static void write_column_stages(LoopWriter *writer) {
  for (int i = 0, end; i < writer->kernel->stage_count; i = end) {
    end = beside_end(writer, i);
    if (end > i + 1) write_columns_beside(writer, i, end);
    else write_column_stage(writer, i);
  }
}

/* ---- the function ---- */

/* Rows of no more points than this are written out (short_row_hint). */
enum { WRITTEN_ROW = 4 };

/* How many of such rows follow each other along the axis before the last; 0: it is the first axis, or rows are longer. */
static int64_t rows_of_line(const Kernel *kernel) {
  int last = kernel->axis_count - 1;
  bool is_short = last >= 2 && loops_are_points(kernel) && kernel->extent[last] <= WRITTEN_ROW;
  return is_short && kernel->extent[last - 1] > 1 ? kernel->extent[last - 1] : 0;
}

/* The domain's axes but the last, from the number of the row, for what was written after the
 * mark; of a line of rows the one before the last, too, is that of a loop. */
static void declare_row_axes(LoopWriter *writer, size_t mark, bool has_lines) {
  const Kernel *kernel = writer->kernel;
  int64_t below = has_lines ? rows_of_line(kernel) : 1;
  for (int i = kernel->axis_count - (has_lines ? 3 : 2); i >= 0; i--) {
    int64_t extent = kernel->extent[i];
    Arena *arena = writer->code->arena;
    const char *text = below == 1 ? "row" : arena_printf(arena, "row / %lld", (long long)below);
    if (i > 0) text = arena_printf(arena, "%s %% %lld", text, (long long)extent);
    const char *axis = arena_printf(arena, "i%d", i);
    code_declare(writer->code, mark, axis,
                 arena_printf(arena, "const int64_t %s = %s;", axis, text));
    below *= extent;
  }
}

/* The loop over points of a row. */
typedef struct PointLoop {
  LoopWriter *writer;
  int number;
  const char *begin, *end;
} PointLoop;

/* What a compiler is told of the loop over the points of a short row. Rows of few vectors it would else write out
 * element by element. Rows shorter than a vector, such as the channels of a place in a picture, are written out, and
 * the rows are what makes vectors. */
static const char *short_row_hint(const Kernel *kernel, const char *begin) {
  enum { FEW = 64 };
  int last = kernel->axis_count - 1;
  if (last < 1 || kernel->extent[last] > FEW) return "";
  return kernel->extent[last] <= WRITTEN_ROW && strcmp(begin, "0") == 0 ? "NNC_UNROLL "
                                                                        : "NNC_ROLLED ";
}

static void open_points(void *context) {
  const PointLoop *loop = context;
  int last = loop->writer->kernel->axis_count - 1;
  bool is_block = strcmp(loop->begin, "first") == 0;
  bool has_hint =
      loop_write_hint(loop->writer, loop->number, is_block ? NNC_BLOCK : loop->writer->points);
  code_open(loop->writer->code, "%sfor (int64_t i%d = %s; i%d < %s; i%d++)",
            has_hint ? "" : short_row_hint(loop->writer->kernel, loop->begin), last, loop->begin,
            last, loop->end, last);
}

static void write_point(void *context) {
  const PointLoop *loop = context;
  expression_write_stores(loop->writer->code, &loop->writer->scope, loop->number);
}

/* A stage's stores for the points of a row. */
static void write_row_points(LoopWriter *writer, int number, const char *begin, const char *end) {
  Code *code = writer->code;
  PointLoop loop = {writer, number, begin, end};
  loop_stage_axes(writer, &writer->kernel->stages[number]);
  if (writer->kernel->axis_count == 0) {
    expression_write_stores(code, &writer->scope, number);
    return;
  }
  if (loop_streams(writer, number)) {
    int64_t extent = writer->kernel->extent[writer->kernel->axis_count - 1];
    bool are_whole = writer->points % NNC_BLOCK == 0; /* those of a task */
    loop_write_streamed(writer, number, begin, end, are_whole ? extent : 1, NNC_BLOCK);
    return;
  }
  bool has_near = expression_has_near(&writer->scope, number);
  if (has_near) {
    code_open(code, "for (int64_t first = %s; first < %s; first += NNC_BLOCK)", begin, end);
    code_line(code, "const int64_t beyond = nnc_least(first + NNC_BLOCK, %s);", end);
    loop.begin = "first";
    loop.end = "beyond";
  }
  expression_write_loop(code, &writer->scope, number,
                        &(LoopParts){open_points, write_point, NULL, &loop});
  if (has_near) code_close(code);
}

/* The same of a whole row in parts whose elements lie together, each a loop of its own. */
static void write_row_parts(LoopWriter *writer, int number, int64_t length) {
  Code *code = writer->code;
  const Kernel *whole = writer->kernel;
  ExprScope *scope = &writer->scope;
  int last = whole->axis_count - 1;
  writer->kernel = scope->kernel = kernel_in_row_parts(code->arena, whole, number, length);
  for (int i = last; i <= last + 1; i++) {
    scope->axes[i] = arena_printf(code->arena, "i%d", i);
    scope->extents[i] = writer->kernel->extent[i];
  }
  code_open(code, "for (int64_t i%d = 0; i%d < %lld; i%d++)", last, last,
            (long long)writer->kernel->extent[last], last);
  write_row_points(writer, number, "0", code_integer(code->arena, length));
  code_close(code);
  writer->kernel = scope->kernel = whole;
  scope->extents[last] = whole->extent[last];
}

/* A row's points from `begin` on. */
static void write_row(LoopWriter *writer, int number, const char *begin, const char *end) {
  Arena *arena = writer->code->arena;
  const Kernel *kernel = writer->kernel;
  bool is_whole = kernel->axis_count > 0 && strcmp(begin, "0") == 0 &&
                  strcmp(end, code_integer(arena, kernel->extent[kernel->axis_count - 1])) == 0;
  int64_t length = is_whole ? kernel_row_part(arena, kernel, number) : 0;
  if (length > 0 && !loop_streams(writer, number)) write_row_parts(writer, number, length);
  else write_row_points(writer, number, begin, end);
}

/* The same, case by case of the row. */
static void write_row_cases(LoopWriter *writer, int number, const char *begin, const char *end) {
  Code *code = writer->code;
  Arena *arena = code->arena;
  const Kernel *whole = writer->kernel;
  int last = whole->axis_count - 1;
  KernelCases cases = kernel_row_cases(arena, whole, number);
  if (cases.count == 1 || loop_streams(writer, number)) {
    write_row(writer, number, begin, end);
    return;
  }
  bool is_whole = strcmp(begin, "0") == 0;
  for (int i = 0; i < cases.count; i++) {
    long long from = (long long)cases.begin[i], length = (long long)cases.begin[i + 1] - from;
    Kernel *part = kernel_in_row_case(arena, whole, number, &cases, i);
    writer->kernel = writer->scope.kernel = part;
    writer->scope.extents[last] = length;
    const char *first = "0", *beyond = code_integer(arena, length);
    if (!is_whole) {
      first = arena_printf(arena, "nnc_greatest(%s - %lld, 0)", begin, from);
      beyond = arena_printf(arena, "nnc_least(%s - %lld, %lld)", end, from, length);
    }
    write_row(writer, number, first, beyond);
  }
  writer->kernel = writer->scope.kernel = whole;
  writer->scope.extents[last] = whole->extent[last];
}

/* The cases of a stage, and the points of the row that each of them is written for. */
typedef struct CaseLoop {
  int number;
  KernelCases cases;
  const char *begin, *end;
} CaseLoop;

/* A choice by halves between the cases from `first` to before `beyond`; in a half, what is the same
 * in all of its cases is decided. */
static void write_cases(LoopWriter *writer, const CaseLoop *loop, int first, int beyond) {
  Code *code = writer->code;
  if (beyond - first == 1) {
    write_row_cases(writer, loop->number, loop->begin, loop->end);
    return;
  }
  const Kernel *whole = writer->kernel;
  int middle = (first + beyond) / 2;
  for (int half = 0; half < 2; half++) {
    int from = half == 0 ? first : middle, to = half == 0 ? middle : beyond;
    if (half == 0)
      code_open(code, "if (i%d < %lld)", loop->cases.axis, (long long)loop->cases.begin[middle]);
    else code_open(code, "else");
    writer->kernel = writer->scope.kernel =
        kernel_in_cases(code->arena, whole, loop->number, &loop->cases, from, to);
    write_cases(writer, loop, from, to);
    writer->kernel = writer->scope.kernel = whole;
    code_close(code);
  }
}

static void write_points(LoopWriter *writer, const char *begin, const char *end) {
  Code *code = writer->code;
  const Kernel *kernel = writer->kernel;
  int last = kernel->axis_count - 1;
  if (loops_are_points(kernel)) {
    for (int i = 0; i < kernel->stage_count; i++) {
      CaseLoop loop = {i, kernel_cases(code->arena, kernel, i), begin, end};
      write_cases(writer, &loop, 0, loop.cases.count);
    }
  } else if (writer->windows) {
    loop_write_windows(writer);
  } else if (writer->columns) {
    int block = writer->column_block;
    code_open(code, "for (int64_t first = %s; first < %s; first += %d)", begin, end, block);
    code_line(code, "const int64_t count = nnc_least(%d, %s - first);", block, end);
    write_column_stages(writer);
    code_close(code);
  } else {
    bool has_loop =
        last >= 0 && kernel->extent[last] > 1; /* an axis of one point is in few indices */
    const char *axis = arena_printf(code->arena, "i%d", last);
    if (has_loop)
      code_open(code, "for (int64_t %s = %s; %s < %s; %s++)", axis, begin, axis, end, axis);
    size_t mark = code_mark(code);
    for (int i = 0; i < kernel->stage_count; i++) loop_write_row_stage(writer, i);
    if (has_loop) code_close(code);
    else if (last >= 0)
      code_declare(code, mark, axis, arena_printf(code->arena, "const int64_t %s = 0;", axis));
  }
}

/* The loops over the rows of a task, from `piece` pieces on: all of them, or line by line. */
static void open_rows(LoopWriter *writer, const LoopGrid *grid, const char *piece) {
  Code *code = writer->code;
  long long chunk = (long long)grid->row_chunk, line = (long long)rows_of_line(writer->kernel);
  const char *begin = grid->blocks == 1 ? piece : arena_printf(code->arena, "(%s)", piece);
  code_line(code, "const int64_t rows = nnc_least((%s + 1) * %lld, %lld);", piece, chunk,
            (long long)grid->rows);
  if (line == 0) {
    code_open(code, "for (int64_t row = %s * %lld; row < rows; row++)", begin, chunk);
    return;
  }
  code_open(code, "for (int64_t row = %s * %lld, count; row < rows; row += count)", begin, chunk);
  code_line(code, "const int64_t first = row %% %lld; /* of a line */", line);
  code_line(code, "count = nnc_least(rows - row, %lld - first);", line);
}

static void write_task(LoopWriter *writer, const LoopGrid *grid) {
  Code *code = writer->code;
  Arena *arena = code->arena;
  const char *piece =
      grid->blocks == 1 ? "task" : arena_printf(arena, "task / %lld", (long long)grid->blocks);
  const char *begin = "0", *end = code_integer(arena, grid->last);
  if (grid->blocks > 1) {
    const char *number =
        grid->rows == 1 ? "task" : arena_printf(arena, "task %% %lld", (long long)grid->blocks);
    code_line(code, "const int64_t begin = %s * %lld, end = nnc_least(begin + %lld, %lld);", number,
              (long long)grid->block, (long long)grid->block, (long long)grid->last);
    begin = "begin";
    end = "end";
  }
  bool has_rows = writer->kernel->axis_count > 1, are_many = has_rows && grid->row_chunk != 1;
  bool has_lines = are_many && rows_of_line(writer->kernel) > 0;
  if (are_many) open_rows(writer, grid, piece);
  else if (has_rows) code_line(code, "const int64_t row = %s;", piece);
  size_t mark = code_mark(code);
  int before = writer->kernel->axis_count - 2;
  if (has_lines)
    code_open(code, "for (int64_t i%d = first; i%d < first + count; i%d++)", before, before,
              before);
  write_points(writer, begin, end);
  if (has_lines) code_close(code);
  if (has_rows) declare_row_axes(writer, mark, has_lines);
  if (are_many) code_close(code);
  if (writer->has_streamed) code_line(code, "nnc_stream_end();");
}

/* Columns that run together, of so many of a task. */
static int column_block(const Kernel *kernel, int64_t columns) {
  int reductions = 0;
  for (int i = 0; i < kernel->stage_count; i++)
    reductions += kernel->stages[i].kind == STAGE_REDUCE;
  int64_t most = greatest(MOST_COLUMNS / greatest(reductions, 1) / COLUMN_UNIT, 1) * COLUMN_UNIT;
  return (int)least(most, align_up(columns, COLUMN_UNIT));
}

static void loop_write(Code *code, KernelFunction *function) {
  if (function_write_empty(code, function)) return;
  LoopWriter writer = {.code = code,
                       .function = function,
                       .kernel = function->kernel,
                       .scope = function_scope(code->arena, function)};
  LoopGrid grid = loop_grid(function->kernel);
  writer.points = grid.block;
  writer.column_block = column_block(function->kernel, grid.block);
  writer.windows = grid.blocks == 1 && loop_has_windows(code->arena, function->kernel);
  writer.columns =
      !loops_are_points(function->kernel) && loops_prefer_columns(function->kernel, SHORT_ROW);
  function_write_head(code, function);
  function_keys(code, function);
  code_open(code, "NNC_TASKS(worker, %lld, task)", (long long)grid.tasks);
  write_task(&writer, &grid);
  code_close(code);
  code_close(code);
}

static int64_t loop_tasks(const Kernel *kernel) { return loop_grid(kernel).tasks; }

const TargetKernel c_kernel_loop = {.tasks = loop_tasks, .write = loop_write, .weight = 10};
