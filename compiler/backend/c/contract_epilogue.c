/* Epilogues of contractions: see contract.h. The inner loop runs over the axis along which the accesses are contiguous:
 * the tile's columns, or its rows (then a panel at a time). */
#include "backend/c/contract.h"
#include "backend/c/epilogue_stream.h"
#include "backend/common/c.h"

#include "kernel/builder.h"

/* Accesses of the epilogue that are contiguous along an axis of the kernel. */
int contract_smooth_accesses(const ContractWriter *writer, int axis) {
  const Kernel *kernel = writer->kernel;
  int64_t base, coefficient[KERNEL_MAX_AXES];
  int smooth = 0;
  ExprList list = kernel_expressions(writer->arena, kernel, 0);
  for (int i = 0; i < list.count; i++)
    if (list.items[i]->kind == EXPR_LOAD &&
        index_is_affine(list.items[i]->index, kernel->axis_count, &base, coefficient))
      smooth += coefficient[axis] == 1;
  for (int i = 0; i < kernel->epilogue_count; i++)
    if (index_is_affine(kernel->epilogue[i].index, kernel->axis_count, &base, coefficient))
      smooth += 2 * (coefficient[axis] == 1);
  return smooth;
}

/* Declares the kernel's axes from `first` to `end`, those of a group, from the flat number. */
static void declare_axes(const ContractWriter *writer, Code *code, const ExprScope *scope,
                         int first, int end, const char *flat) {
  int64_t below = 1;
  for (int i = end - 1; i >= first; i--) {
    int64_t extent = writer->kernel->extent[i];
    const char *text = flat;
    if (below > 1) text = arena_printf(code->arena, "(%s) / %lld", text, (long long)below);
    else if (i > first) text = arena_printf(code->arena, "(%s)", text);
    if (i > first) text = arena_printf(code->arena, "%s %% %lld", text, (long long)extent);
    if (!scope->asks || expression_asks_for_axis(scope, 0, i))
      function_declare_axis(code, writer->function, i, text);
    below *= extent;
  }
}

/* The loops over a tile's rows and columns. */
typedef struct TileLoop {
  ContractWriter *writer;
  Code *code;
  ExprScope *scope;
} TileLoop;

/* How the loop over rows, or columns, is compiled. clang writes a short inner loop out and would vectorize the loop around
 * it instead, by gathers and scatters, which take several times as long; next to an inner loop of a few it may. */
static const char *tile_loop_hint(const ContractWriter *writer, bool is_row) {
  enum { FEW = 4 };
  if (is_row == writer->rows_inner) return "NNC_SINGLE";
  return (is_row ? writer->grid.n : writer->grid.m) < FEW ? "NNC_ROLLED" : "NNC_SHORT";
}

/* "for (int64_t r = 0, i0 = m; r < rows; r++, i0++)": with the axis of the kernel that the rows, or columns, are along.
 * Where they are along several, or a window's, these are declared in the loop. */
static void open_tile_loop(const TileLoop *loop, bool is_row) {
  const ContractWriter *writer = loop->writer;
  const char *name = is_row ? "r" : "c", *count = is_row ? "rows" : "cols";
  const char *from = is_row ? "m" : "n";
  bool is_m = is_row != writer->grid.swap;
  int first = is_m ? writer->m_axis : writer->n_axis;
  int end = is_m ? writer->n_axis : writer->kernel->axis_count;
  bool is_asked = !loop->scope->asks || expression_asks_for_axis(loop->scope, 0, first);
  const char *how = tile_loop_hint(writer, is_row);
  if (end == first + 1 && is_asked && expression_uses_axis(writer->arena, writer->kernel, first)) {
    code_open(loop->code, "%s for (int64_t %s = 0, i%d = %s; %s < %s; %s++, i%d++)", how, name,
              first, from, name, count, name, first);
  } else {
    code_open(loop->code, "%s for (int64_t %s = 0; %s < %s; %s++)", how, name, name, count, name);
    declare_axes(writer, loop->code, loop->scope, first, end,
                 arena_printf(writer->arena, "%s + %s", from, name));
  }
  if (is_row) window_write_guard(writer, loop->code);
}

static void open_inner_loop(void *context) {
  const TileLoop *loop = context;
  open_tile_loop(loop, loop->writer->rows_inner);
}

static void write_tile_stores(void *context) {
  const TileLoop *loop = context;
  expression_write_stores(loop->code, loop->scope, 0);
}

/* ---- stores past the caches ---- */

/* The kernel's axes of the tile's columns. */
static void column_axes(const ContractWriter *writer, int *first, int *end) {
  bool is_n = !writer->grid.swap;
  *first = is_n ? writer->n_axis : writer->m_axis;
  *end = is_n ? writer->kernel->axis_count : writer->n_axis;
}

static bool streams_rows(const ContractWriter *writer) {
  int first, end;
  column_axes(writer, &first, &end);
  return !writer->rows_inner && !writer->grid.stores_tiles && writer->grid.way == CONTRACT_TILES &&
         epilogue_streams_any(writer->kernel, first, end);
}

static void declare_rows(const TileLoop *loop) {
  int first, end;
  column_axes(loop->writer, &first, &end);
  if (streams_rows(loop->writer))
    epilogue_declare_rows(loop->code, loop->scope, first, end, TILE_MAX_COLUMNS);
}

static void send_rows(const TileLoop *loop) {
  int first, end;
  column_axes(loop->writer, &first, &end);
  if (!streams_rows(loop->writer)) return;
  ExprScope scope = *loop->scope;
  scope.asks = false;
  code_block(loop->code);
  declare_axes(loop->writer, loop->code, &scope, first, end, "n");
  epilogue_send_rows(loop->code, &scope, first, end, "cols");
  code_close(loop->code);
}

const char *contract_epilogue(ContractWriter *writer) {
  Text text = {0};
  Code code = {.arena = writer->arena, .out = &text};
  ExprScope scope = function_scope(writer->arena, writer->function);
  scope.result = "tile[r * tile_row + c]";
  scope.result_dtype = writer->sum;
  declare_axes(writer, &code, &scope, 0, writer->m_axis, "batch");
  TileLoop loop = {writer, &code, &scope};
  open_tile_loop(&loop, !writer->rows_inner);
  declare_rows(&loop);
  expression_write_loop(&code, &scope, 0,
                        &(LoopParts){open_inner_loop, write_tile_stores, NULL, &loop});
  send_rows(&loop);
  code_close(&code);
  return text_take(&text, writer->arena);
}

const char *contract_tile_row(const ContractWriter *writer) {
  const ContractGrid *grid = &writer->grid;
  if (grid->stores_tiles) return code_integer(writer->arena, grid->result_row);
  if (grid->way != CONTRACT_TILES) return code_integer(writer->arena, grid->sums_row);
  return writer->whole_block ? code_integer(writer->arena, writer->grid.sums_row) : "NR";
}

/* What the epilogue is told besides the tile, where its text mentions it. */
static const char *epilogue_worker(const ContractWriter *writer) {
  return code_mentions(writer->epilogue, "worker") ? "const nnc_worker *worker, " : "";
}

static const char *epilogue_batch(const ContractWriter *writer) {
  return code_mentions(writer->epilogue, "batch") ? "const int64_t batch, " : "";
}

const char *contract_epilogue_call(const ContractWriter *writer, const char *tile, const char *m,
                                   const char *rows, const char *cols) {
  return arena_printf(
      writer->arena, "%s_epilogue(%s%s%s, %s, n, %s, %s, %s%s);", writer->function->name,
      *epilogue_worker(writer) ? "worker, " : "", *epilogue_batch(writer) ? "batch, " : "", m, rows,
      cols, tile, contract_tile_row(writer),
      function_epilogue_arguments(writer->arena, writer->function, writer->epilogue));
}

const char *contract_stream_end(const ContractWriter *writer) {
  return streams_rows(writer) ? "nnc_stream_end();\n" : "";
}

void contract_write_epilogue(Code *code, const ContractWriter *writer) {
  TemplateHoles holes = {.arena = writer->arena};
  template_add(&holes, "NAME", writer->function->name);
  template_add(&holes, "TYPE", c_value_type(writer->sum));
  template_add(&holes, "WORKER", epilogue_worker(writer));
  template_add(&holes, "BATCH_NUMBER", epilogue_batch(writer));
  function_add_epilogue(&holes, writer->function, writer->epilogue);
  template_render(code->out, "codegen_templates/contract_epilogue.c", &holes);
}
