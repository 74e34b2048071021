/* Convolutions of small planes, tap by tap: see taps.h. */
#include "backend/c/taps.h"

#include "backend/c/epilogue_stream.h"
#include "backend/c/tiles.h"
#include "backend/c/window.h"
#include "backend/c/winograd.h"
#include "backend/common/c.h"
#include "support/integers.h"
#include "support/vec.h"

enum { VECTOR = 16 /* channels of the result come in whole vectors of any instruction set */ };

/* Rows of places that see each other under a tap: so many from one of the source on, and from one of the result on. */
typedef struct Run {
  int64_t tap, from, to, count;
} Run;

typedef VEC(Run) Runs;

/* Three axes, the first ones of which a convolution may not have. A row is a place of an image; the images of a place follow
 * each other. */
typedef struct TapGrid {
  bool is_input;
  int64_t images, blocks; /* images of a block */
  int64_t taps;
  int64_t sum, result; /* channels summed over, and of the result */
  int64_t source[3], results[3], kernel[3], dilation[3], low[3];
  int64_t part, parts; /* channels of the result of a task, which makes them of a block */
  int64_t packed;      /* weights of a task's tap, with what fills up the last panel */
} TapGrid;

static int64_t rows_of(const TapGrid *grid, const int64_t places[3]) {
  return grid->images * extent_product(places, 3);
}

/* Channels of a task, for an even share of two workers, and of more. */
static void cut_parts(TapGrid *grid) {
  int64_t all = grid->result / VECTOR, best = INT64_MAX;
  for (int64_t vectors = 3; vectors > 0; vectors--) {
    int64_t parts = divide_up(all, vectors), cost = 0;
    for (int64_t workers = 2; workers <= 8; workers *= 2)
      cost += divide_up(grid->blocks * parts, workers) * workers * vectors;
    if (vectors == 1) cost += cost / 4; /* tiles of one vector load more than they multiply */
    if (cost >= best) continue;
    best = cost;
    grid->part = vectors * VECTOR;
    grid->parts = parts;
  }
}

/* As many images at a time as stay in the second-level cache; 0: none does. */
static void cut_images(TapGrid *grid, int64_t images) {
  enum { MOST_ELEMENTS = 1 << 17, MOST_ROWS = 512 };
  int64_t places = greatest(extent_product(grid->source, 3), extent_product(grid->results, 3));
  int64_t most =
      least(MOST_ELEMENTS / greatest(places * grid->sum, 1), MOST_ROWS / greatest(places, 1));
  grid->images = least(images, most);
  while (grid->images > 1 && images % grid->images != 0) grid->images--;
  grid->blocks = grid->images > 0 ? images / grid->images : 0;
}

static TapGrid grid_of(const ConvSlots *conv, bool is_input) {
  TapGrid grid = {.is_input = is_input};
  grid.sum = grid.is_input ? conv->k : conv->c;
  grid.result = grid.is_input ? conv->c : conv->k;
  const int64_t *source = grid.is_input ? conv->out : conv->in;
  const int64_t *results = grid.is_input ? conv->in : conv->out;
  for (int i = 0, at = conv->spatial - 3; i < 3; i++, at++) {
    bool is_there = at >= 0;
    grid.source[i] = is_there ? source[at] : 1;
    grid.results[i] = is_there ? results[at] : 1;
    grid.kernel[i] = is_there ? conv->kernel[at] : 1;
    grid.dilation[i] = is_there ? conv->dilation[at] : 1;
    grid.low[i] = is_there ? conv->low[at] : 0;
  }
  grid.taps = extent_product(grid.kernel, 3);
  cut_images(&grid, conv->n);
  cut_parts(&grid);
  grid.packed = grid.sum * (grid.part + VECTOR);
  return grid;
}

static TapGrid grid_of_kernel(const Kernel *kernel) {
  return grid_of(&kernel->conv, kernel->kind == KERNEL_CONV_INPUT);
}

/* From a place of the result to that of the source under a tap, along an axis. */
static int64_t shift_of(const TapGrid *grid, int axis, int64_t tap) {
  int64_t seen = tap * grid->dilation[axis] - grid->low[axis];
  return grid->is_input ? -seen : seen;
}

/* The tap's place along each axis. */
static void find_tap(const TapGrid *grid, int64_t number, int64_t at[3]) {
  for (int i = 2; i >= 0; i--) {
    at[i] = number % grid->kernel[i];
    number /= grid->kernel[i];
  }
}

/* Adds a line of places, or lengthens the run before it. */
static void add_run(Arena *arena, Runs *runs, Run run) {
  Run *last = runs->count > 0 ? &runs->items[runs->count - 1] : NULL;
  bool follows = last && last->tap == run.tap && last->from + last->count == run.from &&
                 last->to + last->count == run.to;
  if (follows) last->count += run.count;
  else vec_push(arena, runs, run);
}

static Runs runs_of(Arena *arena, const TapGrid *grid) {
  Runs runs = {0};
  const int64_t *results = grid->results, *source = grid->source;
  for (int64_t tap = 0; tap < grid->taps; tap++) {
    int64_t at[3], shift[3];
    find_tap(grid, tap, at);
    for (int i = 0; i < 3; i++) shift[i] = shift_of(grid, i, at[i]);
    int64_t begin = greatest(0, -shift[2]), end = least(results[2], source[2] - shift[2]);
    for (int64_t line = 0; line < results[0] * results[1] && begin < end; line++) {
      int64_t plane = line / results[1] + shift[0], row = line % results[1] + shift[1];
      if (plane < 0 || plane >= source[0] || row < 0 || row >= source[1]) continue;
      int64_t seen = (plane * source[1] + row) * source[2] + begin + shift[2];
      add_run(arena, &runs,
              (Run){tap, seen * grid->images, (line * results[2] + begin) * grid->images,
                    (end - begin) * grid->images});
    }
  }
  return runs;
}

/* Rows that tiles multiply for all taps of a block. */
static int64_t rows_multiplied(const TapGrid *grid) {
  Arena *arena = arena_create();
  Runs runs = runs_of(arena, grid);
  int64_t rows = 0;
  for (int i = 0; i < runs.count; i++) rows += align_up(runs.items[i].count, TILE_ROWS);
  arena_destroy(arena);
  return rows;
}

int64_t taps_products(const ConvSlots *conv, bool is_input) {
  enum { LEAST_SUM = 32, MOST = 85 /* of a hundred */ };
  if (conv->groups != 1) return 0;
  for (int i = 0; i < conv->spatial; i++)
    if (conv->stride[i] != 1) return 0;
  TapGrid grid = grid_of(conv, is_input);
  if (grid.blocks == 0 || grid.sum < LEAST_SUM || grid.result == 0 || grid.result % VECTOR != 0)
    return 0;
  int64_t all = grid.taps * align_up(rows_of(&grid, grid.results), TILE_ROWS);
  int64_t own = rows_multiplied(&grid);
  return 100 * own <= MOST * all ? grid.blocks * own : 0;
}

bool kernel_goes_by_taps(const Kernel *kernel) {
  bool is_input = kernel->kind == KERNEL_CONV_INPUT;
  if (kernel->kind != KERNEL_CONV && !is_input) return false;
  DType sum = kernel_sum_type(kernel);
  if (kernel->is_x3 || kernel->is_serial || !conv_has_last(kernel, 0) ||
      (sum != DTYPE_F32 && sum != DTYPE_F64) || kernel->operands[0].dtype != sum ||
      kernel->operands[1].dtype != sum || kernel_gains_by_winograd(kernel))
    return false;
  return taps_products(&kernel->conv, is_input) > 0;
}

int64_t taps_tasks(const Kernel *kernel) {
  TapGrid grid = grid_of_kernel(kernel);
  return grid.blocks * grid.parts;
}

int64_t taps_worker_bytes(const Kernel *kernel) {
  TapGrid grid = grid_of_kernel(kernel);
  int64_t elements =
      rows_of(&grid, grid.source) * (grid.sum + VECTOR) + rows_of(&grid, grid.results) * grid.part;
  if (!kernel->keeps_weights) elements += grid.packed;
  return align_64(elements * dtype_size(kernel_sum_type(kernel)));
}

int64_t taps_kept_bytes(const Kernel *kernel) {
  TapGrid grid = grid_of_kernel(kernel);
  return align_64(grid.parts * grid.taps * grid.packed * dtype_size(kernel_sum_type(kernel)));
}

/* Kinds of runs: by their number of rows. */
static int kind_of(const Runs *kinds, int64_t count) {
  int kind = 0;
  while (kind < kinds->count && kinds->items[kind].count != count) kind++;
  return kind;
}

static void add_runs(const Runs *runs, DType dtype, TemplateHoles *holes) {
  Arena *arena = holes->arena;
  Text list = {0}, products = {0};
  Runs kinds = {0};
  const char *type = c_type_name(dtype);
  static const char *const widths[] = {"OWN", "VECTORS_1", "VECTORS_2"};
  for (int i = 0; i < runs->count; i++) {
    const Run *run = &runs->items[i];
    int kind = kind_of(&kinds, run->count);
    if (kind == kinds.count) vec_push(arena, &kinds, *run);
    text_printf(&list, "%s{%lld, %lld, %lld, %lld, %d}", i > 0 ? ", " : "", (long long)run->tap,
                (long long)run->from, (long long)run->to, (long long)run->count, 1 + kind);
  }
  for (int i = 0; i <= kinds.count; i++) {
    const char *rows =
        i == 0 ? "MR" : arena_printf(arena, "%lld %% MR", (long long)kinds.items[i - 1].count);
    for (int j = 0; j < 3; j++)
      text_printf(&products, "%s%sNNC_TILE(%s, %s, %s)%s", i + j > 0 ? ", " : "", j == 0 ? "{" : "",
                  type, rows, widths[j], j == 2 ? "}" : "");
  }
  template_add_integer(holes, "RUNS", runs->count);
  template_add(holes, "RUN_LIST", text_take(&list, arena));
  template_add(holes, "PRODUCTS", text_take(&products, arena));
}

static const char *places_epilogue(Arena *arena, KernelFunction *function, const TapGrid *grid) {
  Text text = {0};
  Code code = {.arena = arena, .out = &text};
  const ConvSlots *conv = &function->kernel->conv;
  const int64_t *extent = grid->is_input ? conv->in : conv->out;
  code_open(&code, "for (int64_t image = 0; image < %lld; image++)", (long long)grid->images);
  function_declare_axis(&code, function, 0, "first + image");
  const char *place = function_open_plane(&code, 2, conv->spatial, extent);
  const char *result = arena_printf(arena, "sums[((%s) * %lld + image) * %lld + c]", place,
                                    (long long)grid->images, (long long)grid->part);
  return epilogue_end_channels(&code, function, result, kernel_sum_type(function->kernel),
                               TILE_COLUMNS);
}

/* The weights of a tap, which are packed when it begins, or kept. */
static void add_weights(const TapGrid *grid, const Kernel *kernel, const char *weights,
                        TemplateHoles *holes) {
  Arena *arena = holes->arena;
  bool is_last = conv_has_last(kernel, 1), is_kept = kernel->keeps_weights;
  long long tap = (long long)(is_last ? kernel->conv.c : 1);
  long long channel = (long long)(is_last ? 1 : grid->taps);
  long long row = (long long)(kernel->conv.c * grid->taps);
  long long column = grid->is_input ? channel : row, depth = grid->is_input ? row : channel;
  const char *type = c_type_name(kernel_sum_type(kernel));
  const char *source = arena_printf(arena, "%s + tap * %lld + channel * %lld, %lld, %lld", weights,
                                    tap, column, depth, column);
  const char *fill = arena_printf(
      arena,
      "if (worker->fills) {\n"
      "  NNC_TASKS(worker, PARTS * TAPS, number) {\n"
      "    const int64_t channel = number / TAPS * PART, tap = number %% TAPS;\n"
      "    nnc_pack_block_%s(kept + number * OF_TAP, WIDTH, (int64_t)C * WIDTH, 0, C,\n"
      "        nnc_least(PART, K - channel), %s);\n"
      "  }\n"
      "  return;\n"
      "}\n",
      type, source);
  const char *pack =
      arena_printf(arena,
                   "if (r == 0 || tap != runs[r - 1][0])\n"
                   "  nnc_pack_block_%s(packed, WIDTH, (int64_t)C * WIDTH, 0, C, channels,\n"
                   "      %s);\n",
                   type, source);
  const char *packed = arena_printf(
      arena,
      "%s *const packed = sums + (int64_t)RESULTS * IMAGES * PART; /* [PANELS][C][WIDTH] */\n",
      c_value_type(kernel_sum_type(kernel)));
  template_add(holes, "PACKED", is_kept ? "" : packed);
  template_add(holes, "FILL", is_kept ? fill : "");
  template_add(holes, "PACK", is_kept ? "" : pack);
  template_add(holes, "WEIGHTS_OF_TAP", is_kept ? "kept + (part * TAPS + tap) * OF_TAP" : "packed");
}

void taps_write(Code *code, KernelFunction *function) {
  const Kernel *kernel = function->kernel;
  TapGrid grid = grid_of_kernel(kernel);
  if (function_write_empty(code, function)) return;
  Runs runs = runs_of(code->arena, &grid);
  TemplateHoles holes = function_holes(code->arena, function, grid.blocks * grid.parts);
  template_add(&holes, "TYPE", c_value_type(kernel_sum_type(kernel)));
  template_add(&holes, "T", c_type_name(kernel_sum_type(kernel)));
  template_add(&holes, "SOURCE", function->operands[0]);
  template_add_integer(&holes, "IMAGES", grid.images);
  template_add_integer(&holes, "PLACES", extent_product(grid.source, 3));
  template_add_integer(&holes, "RESULTS", extent_product(grid.results, 3));
  template_add_integer(&holes, "C", grid.sum);
  template_add_integer(&holes, "K", grid.result);
  template_add_integer(&holes, "TAPS", grid.taps);
  template_add_integer(&holes, "PART", grid.part);
  template_add_integer(&holes, "PARTS", grid.parts);
  add_runs(&runs, kernel_sum_type(kernel), &holes);
  add_weights(&grid, kernel, function->operands[1], &holes);
  function_add_epilogue(&holes, function, places_epilogue(code->arena, function, &grid));
  template_add(&holes, "STREAM_END", epilogue_stream_end(kernel));
  template_render(code->out, "codegen_templates/conv_taps.c", &holes);
}
