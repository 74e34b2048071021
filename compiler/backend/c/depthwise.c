/* Depthwise convolutions as C: fills codegen_templates/depthwise.c and depthwise_weight.c. What windows see
 * is described by the product that the convolution would be (window.h). */
#include "backend/c/epilogue_stream.h"
#include "backend/c/depthwise.h"

#include "backend/c/feed.h"
#include "backend/c/tiles.h"
#include "backend/c/window.h"
#include "backend/common/c.h"
#include "support/integers.h"

enum { VECTOR = 16, MOST_CHANNELS = 256, TASKS = 16 };

bool kernel_is_depthwise(const Kernel *kernel) {
  const ConvSlots *conv = &kernel->conv;
  bool is_weight = kernel->kind == KERNEL_CONV_WEIGHT;
  return conv_has_last(kernel, 0) && (!is_weight || conv_has_last(kernel, 1)) &&
         conv->c == conv->groups && conv->k == conv->groups && conv->groups >= VECTOR;
}

/* Taps that differ in the last axis alone: `count` of them from number `first` of the window's on. */
typedef struct TapRow {
  int64_t at[2], first, step; /* places along the first two axes; of numbers */
  int count;
} TapRow;

typedef struct DepthwiseGrid {
  WindowProduct window;
  DType sum;
  bool copies[2];                  /* operands of another type, line by line */
  int64_t channels, block, blocks; /* of channels */
  int64_t lines, line_blocks;      /* along the second axis of positions */
  int64_t width, parts;            /* along the last */
  int64_t at_once;                 /* positions */
  VEC(TapRow) rows;
  int64_t *first_row, *first_at; /* of each phase: its first row; the place of its first tap */
  int64_t most_rows, most_taps;  /* of a phase; of a row */
  int64_t at_step;               /* places from a tap to the next of its row */
  int64_t slots[2],
      length; /* of lines that are held as copies, along the first axes; places of each */
  int64_t pieces, images; /* of conv_weight */
  bool is_fed;            /* a feeder makes the lines, which are never in memory as a whole */
  FeedRing ring;
  FeedText feed;
  int64_t bytes, tasks;
} DepthwiseGrid;

/* ---- taps ---------------------------------------------------------------------------------- */

static bool same_row(const ProductTap *a, const ProductTap *b) {
  return a->at[0] == b->at[0] && a->at[1] == b->at[1];
}

/* Adds a row of the taps [begin, end), whose places may go down: they are taken the other way then. */
static void add_row(Arena *arena, DepthwiseGrid *grid, int phase, int begin, int end) {
  const ProductTap *taps = grid->window.taps.items;
  bool is_weight = grid->pieces > 0;
  int64_t step = end - begin > 1 ? taps[begin + 1].at[2] - taps[begin].at[2] : 0;
  int64_t numbers[] = {is_weight ? begin : taps[begin].weight,
                       is_weight ? end - 1 : taps[end - 1].weight};
  TapRow row = {{taps[begin].at[0], taps[begin].at[1]}, numbers[step < 0], 0, end - begin};
  if (row.count > 1) row.step = (numbers[step >= 0] - row.first) / (row.count - 1);
  if (step != 0) grid->at_step = step < 0 ? -step : step;
  grid->first_at[phase] = taps[step < 0 ? end - 1 : begin].at[2];
  grid->most_taps = greatest(grid->most_taps, row.count);
  vec_push(arena, &grid->rows, row);
}

static void find_rows(Arena *arena, DepthwiseGrid *grid) {
  const WindowProduct *window = &grid->window;
  grid->first_row = ARENA_ARRAY(arena, int64_t, window->phases + 1);
  grid->first_at = ARENA_ARRAY(arena, int64_t, window->phases);
  grid->at_step = grid->most_taps = grid->most_rows = 1;
  for (int phase = 0; phase < window->phases; phase++) {
    int last = (int)window->first_tap[phase + 1];
    for (int begin = (int)window->first_tap[phase], end; begin < last; begin = end) {
      for (end = begin + 1; end < last; end++)
        if (!same_row(&window->taps.items[begin], &window->taps.items[end])) break;
      add_row(arena, grid, phase, begin, end);
    }
    grid->first_row[phase + 1] = grid->rows.count;
    grid->most_rows = greatest(grid->most_rows, grid->rows.count - grid->first_row[phase]);
  }
}

/* Pointers to what positions see along a row of taps: the places from the first to the last, or with
 * distance between taps those of each tap. */
static int64_t seen_places(const DepthwiseGrid *grid) {
  if (grid->at_step > 1) return grid->most_taps * grid->at_once;
  return (grid->at_once - 1) * grid->window.step[2] + grid->most_taps;
}

/* Places along axis `axis` from the first to the last that a tap of any phase meets from one position. */
static int64_t reach(const DepthwiseGrid *grid, int axis, int64_t *first) {
  int64_t low = INT64_MAX, high = INT64_MIN;
  for (int i = 0; i < grid->window.taps.count; i++) {
    low = least(low, grid->window.taps.items[i].at[axis]);
    high = greatest(high, grid->window.taps.items[i].at[axis]);
  }
  *first = low <= high ? low : 0;
  return low <= high ? high - low + 1 : 1;
}

/* ---- how the work is cut ------------------------------------------------------------------- */

/* As many neighbouring positions as there are sums in registers: a number that leaves few over. */
static int64_t good_at_once(int64_t positions) {
  enum { MOST = 8, LEAST = 4 };
  if (positions <= MOST) return greatest(positions, 1);
  int64_t best = MOST;
  for (int64_t count = MOST; count >= LEAST; count--)
    if (align_up(positions, count) < align_up(positions, best)) best = count;
  return best;
}

/* Blocks are of whole vectors, the last one of at least one. */
static void cut_channels(DepthwiseGrid *grid, int64_t most) {
  int64_t count = divide_up(grid->channels, most);
  grid->block = align_up(divide_up(grid->channels, count), VECTOR);
  while (grid->channels > grid->block && grid->channels % grid->block > 0 &&
         grid->channels % grid->block < VECTOR)
    grid->block += VECTOR;
  grid->blocks = divide_up(grid->channels, grid->block);
}

/* Lines that are held as copies: those that one position's window meets, where that is dense. */
static void hold_lines(DepthwiseGrid *grid) {
  int64_t first, span = 1;
  for (int i = 0; i < 2; i++) {
    grid->slots[i] = reach(grid, i, &first);
    span *= grid->slots[i];
  }
  if (span > grid->most_rows * grid->window.phases) grid->slots[0] = grid->slots[1] = 0;
  grid->length = (grid->width - 1) * grid->window.step[2] + reach(grid, 2, &first);
}

static int64_t held_lines(const DepthwiseGrid *grid) {
  return grid->slots[0] > 0 ? grid->slots[0] * grid->slots[1] : grid->rows.count;
}

/* Halves the lines of a task, then their length, until there are enough tasks. */
static void cut_lines(DepthwiseGrid *grid, int64_t others, int64_t wanted) {
  enum { LEAST_WIDTH = 64 };
  const int64_t *positions = grid->window.grid;
  for (;;) {
    grid->line_blocks = greatest(divide_up(positions[1], grid->lines), 1);
    grid->parts = greatest(divide_up(positions[2], grid->width), 1);
    grid->tasks = others * grid->line_blocks * grid->parts;
    if (grid->tasks >= wanted) return;
    if (grid->lines > 1) grid->lines = divide_up(grid->lines, 2);
    else if (!grid->is_fed && grid->width > LEAST_WIDTH)
      grid->width = align_up(divide_up(grid->width, 2), grid->at_once);
    else return;
  }
}

static void cut(DepthwiseGrid *grid, const Kernel *kernel) {
  enum { LONG_LINE = 512, FEW_CHANNELS = 64 };
  int64_t wanted = kernel->is_serial ? 1 : TASKS, most = MOST_CHANNELS;
  bool is_weight = grid->pieces > 0;
  int64_t others = is_weight ? grid->pieces : kernel->conv.n;
  cut_channels(grid, most);
  while (is_weight && others * grid->blocks < wanted / 2 && most > FEW_CHANNELS)
    cut_channels(grid, most /= 2);
  grid->at_once = good_at_once(grid->window.grid[2]);
  grid->lines = greatest(grid->window.grid[1], 1);
  grid->width = align_up(greatest(grid->window.grid[2], 1), grid->at_once);
  if (is_weight || grid->copies[0])
    grid->width = least(grid->width, align_up(LONG_LINE, grid->at_once));
  if (is_weight) grid->tasks = others * grid->blocks;
  else cut_lines(grid, others * grid->blocks, wanted);
}

/* Elements of a worker's block besides copies: weights that are not kept and a tile, or sums twice. */
static int64_t own_elements(const DepthwiseGrid *grid, bool keeps_weights) {
  int64_t taps = grid->rows.count * grid->most_taps;
  if (grid->pieces > 0) return 2 * taps * grid->block;
  return ((keeps_weights ? 0 : taps) + grid->at_once) * grid->block;
}

static int64_t source_elements(const DepthwiseGrid *grid) {
  if (grid->is_fed)
    return feed_sums_elements() + grid->ring.lines * grid->window.extent[2] * grid->channels;
  return grid->copies[0] ? held_lines(grid) * grid->length * grid->block : 0;
}

/* Of the weights that the kernel keeps by taps. */
static int64_t own_kept_bytes(const DepthwiseGrid *grid) {
  int64_t taps = grid->rows.count * grid->most_taps;
  return align_64(grid->blocks * taps * grid->block * dtype_size(grid->sum));
}

static DepthwiseGrid depthwise_grid(Arena *arena, const Kernel *kernel) {
  const ConvSlots *conv = &kernel->conv;
  DepthwiseGrid grid = {
      .window = window_product(arena, kernel), .sum = kernel_sum_type(kernel), .channels = conv->c};
  bool is_weight = kernel->kind == KERNEL_CONV_WEIGHT;
  grid.pieces = is_weight ? greatest(conv->pieces, 1) : 0;
  grid.images = conv->n / greatest(grid.pieces, 1);
  for (int i = 0; i < 2; i++)
    grid.copies[i] = (i == 0 || is_weight) && kernel->operands[i].dtype != grid.sum;
  grid.is_fed = kernel->feeder != NULL;
  find_rows(arena, &grid);
  cut(&grid, kernel);
  hold_lines(&grid);
  grid.ring.lines = reach(&grid, 1, &grid.ring.first);
  grid.ring.at = own_elements(&grid, kernel->keeps_weights);
  grid.ring.kept = own_kept_bytes(&grid) / dtype_size(grid.sum);
  int64_t given = grid.copies[1] ? grid.width * grid.block : 0;
  grid.bytes =
      align_64((own_elements(&grid, kernel->keeps_weights) + source_elements(&grid) + given) *
               dtype_size(grid.sum));
  return grid;
}

int64_t depthwise_tasks(const Kernel *kernel) {
  Arena *arena = arena_create();
  int64_t tasks = depthwise_grid(arena, kernel).tasks;
  arena_destroy(arena);
  return tasks;
}

int64_t depthwise_worker_bytes(const Kernel *kernel) {
  Arena *arena = arena_create();
  int64_t bytes = depthwise_grid(arena, kernel).bytes;
  arena_destroy(arena);
  return bytes;
}

int64_t depthwise_kept_bytes(const Kernel *kernel) {
  if (kernel->operands[1].dtype != kernel_sum_type(kernel)) return 0;
  Arena *arena = arena_create();
  DepthwiseGrid grid = depthwise_grid(arena, kernel);
  int64_t bytes = own_kept_bytes(&grid);
  if (kernel->feeder) bytes += feed_kept_bytes(kernel->feeder);
  arena_destroy(arena);
  return bytes;
}

bool kernel_can_feed_lines(const Kernel *kernel, const Kernel *feeder) {
  enum { MOST_RING_BYTES = 256 << 10 }; /* half of a second-level cache */
  if (kernel->kind != KERNEL_CONV || !kernel_is_depthwise(kernel)) return false;
  Arena *arena = arena_create();
  DepthwiseGrid grid = depthwise_grid(arena, kernel);
  int64_t ring = grid.ring.lines * grid.window.extent[2] * grid.channels * dtype_size(grid.sum);
  bool can = !grid.copies[0] && kernel->operands[1].dtype == grid.sum && ring <= MOST_RING_BYTES &&
             feed_makes_lines(kernel, feeder, grid.block);
  arena_destroy(arena);
  return can;
}

/* ---- epilogues ----------------------------------------------------------------------------- */

/* Declares the axis of the result's places along `axis` of three, at position `position`; whether it must
 * be tested: a phase may have positions beyond the result. */
static void open_place(const DepthwiseGrid *grid, Code *code, KernelFunction *function, int axis,
                       const char *position) {
  const WindowProduct *window = &grid->window;
  const ConvSlots *conv = &function->kernel->conv;
  int own = axis - (3 - conv->spatial);
  if (own < 0) return;
  if (window->phases == 1) {
    function_declare_axis(code, function, 2 + own, position);
    return;
  }
  int64_t below = 1;
  for (int i = axis + 1; i < 3; i++) below *= window->stride[i];
  code_line(code, "const int64_t i%d = %s * %lld + phase / %lld %% %lld;", 2 + own, position,
            (long long)window->stride[axis], (long long)below, (long long)window->stride[axis]);
  if (conv->in[own] % window->stride[axis] != 0)
    code_line(code, "if (i%d >= %lld) %s;", 2 + own, (long long)conv->in[own],
              axis == 2 ? "continue" : "return");
}

static const char *line_epilogue(const DepthwiseGrid *grid, Arena *arena,
                                 KernelFunction *function) {
  Text text = {0};
  Code code = {.arena = arena, .out = &text};
  function_declare_axis(&code, function, 0, "image");
  open_place(grid, &code, function, 0, "p0");
  open_place(grid, &code, function, 1, "p1");
  code_open(&code, "for (int64_t p = begin; p < end; p++)");
  open_place(grid, &code, function, 2, "p");
  return epilogue_end_channels(
      &code, function, arena_printf(arena, "tile[(p - begin) * %lld + c]", (long long)grid->block),
      grid->sum, grid->block);
}

/* A weight's axes: the piece, if there are any, the channel, none of its own, the taps. */
static const char *weight_epilogue(const DepthwiseGrid *grid, Arena *arena,
                                   KernelFunction *function) {
  const ConvSlots *conv = &function->kernel->conv;
  int before = conv->pieces > 0;
  Text text = {0};
  Code code = {.arena = arena, .out = &text};
  if (before) function_declare_axis(&code, function, 0, "piece");
  function_declare_axis(&code, function, before + 1, "0");
  code_open(&code, "for (int64_t c = 0; c < channels; c++)");
  function_declare_axis(&code, function, before, "channel + c");
  const char *tap = "0";
  for (int i = 0; i < conv->spatial; i++) {
    const char *axis = arena_printf(arena, "i%d", before + 2 + i);
    long long extent = (long long)conv->kernel[i];
    code_open(&code, "for (int64_t %s = 0; %s < %lld; %s++)", axis, axis, extent, axis);
    tap = i == 0 ? axis : arena_printf(arena, "(%s) * %lld + %s", tap, extent, axis);
  }
  const char *result = arena_printf(arena, "sums[(%s) * CB + c + (c < whole ? 0 : again)]", tap);
  return function_end_epilogue(&code, function, result, grid->sum);
}

/* ---- lines --------------------------------------------------------------------------------- */

/* Declares `line_of_x`, from which places of line (x0, x1) are counted. Copies are made where another
 * line has been held, or another part of it. */
static const char *line_text(const DepthwiseGrid *grid, Arena *arena,
                             const KernelFunction *function) {
  const char *source = function->operands[0], *type = c_value_type(grid->sum);
  const char *place = "((image * X0 + x0) * X1 + x1) * X2";
  if (!grid->copies[0])
    return arena_printf(arena, "const %s *const line_of_x = %s + %s * CHANNELS + channel;", type,
                        source, place);
  const char *slot =
      grid->slots[0] > 0
          ? arena_printf(arena, "x0 %% %lld * %lld + x1 %% %lld", (long long)grid->slots[0],
                         (long long)grid->slots[1], (long long)grid->slots[1])
          : "r";
  return arena_printf(
      arena,
      "const int64_t slot = %s, place = %s, edge = %s;\n"
      "%s *const line_of_x = copies + slot * (LENGTH * CB);\n"
      "for (int64_t x2 = nnc_greatest(edge, 0); x2 < (copied[slot] == place + begin ? 0 : "
      "nnc_least(edge + LENGTH, X2)); x2++)\n"
      "  NNC_ROLLED for (int64_t c = 0; c < channels; c++)\n"
      "    line_of_x[(x2 - edge) * CB + c] = %s(%s[(place + x2) * CHANNELS + channel + c]);\n"
      "copied[slot] = place + begin;",
      slot, place, "begin * S2 + EDGE", type, c_loader(arena, function->kernel->operands[0].dtype),
      source);
}

static const char *given_text(const DepthwiseGrid *grid, Arena *arena,
                              const KernelFunction *function) {
  const char *given = function->operands[1], *type = c_value_type(grid->sum);
  const char *from = "((image * P0 + p0) * P1 + p1) * P2";
  if (!grid->copies[1])
    return arena_printf(arena, "const %s *const line_of_y = %s + %s * CHANNELS + channel;", type,
                        given, from);
  return arena_printf(
      arena,
      "const int64_t first_y = %s;\n"
      "%s *const line_of_y = part + TAPS * CB;\n"
      "for (int64_t p = begin; p < end; p++)\n"
      "  NNC_ROLLED for (int64_t c = 0; c < channels; c++)\n"
      "    line_of_y[(p - begin) * CB + c] = %s(%s[(first_y + p) * CHANNELS + channel + c]);",
      from, type, c_loader(arena, function->kernel->operands[1].dtype), given);
}

/* ---- templates ----------------------------------------------------------------------------- */

static void add_rows(const DepthwiseGrid *grid, TemplateHoles *holes) {
  Arena *arena = holes->arena;
  int count = (int)greatest(grid->rows.count, 1), most = (int)grid->most_taps;
  int64_t *numbers = ARENA_ARRAY(arena, int64_t, count * most);
  Text places = {0};
  for (int r = 0; r < grid->rows.count; r++) {
    const TapRow *row = &grid->rows.items[r];
    text_printf(&places, "%s{%lld, %lld}", r ? ", " : "", (long long)row->at[0],
                (long long)row->at[1]);
    for (int t = 0; t < most; t++)
      numbers[r * most + t] = t < row->count ? row->first + t * row->step : -1;
  }
  template_add(holes, "ROW_PLACES", text_take(&places, arena));
  template_add(holes, "TAP_NUMBERS", code_integers(arena, count * most, numbers));
  template_add(holes, "FIRST_ROWS", code_integers(arena, grid->window.phases + 1, grid->first_row));
  template_add(holes, "FIRST_PLACES", code_integers(arena, grid->window.phases, grid->first_at));
  template_add_integer(holes, "FIRST_PLACE", grid->first_at[0]);
  template_add_integer(holes, "ROWS", count);
  template_add_integer(holes, "MOST_ROWS", grid->most_rows);
  template_add_integer(holes, "MOST", most);
}

/* What positions see: numbers of the places, and where these are. */
static void add_seen(const DepthwiseGrid *grid, TemplateHoles *holes) {
  Arena *arena = holes->arena;
  bool is_dense = grid->at_step == 1;
  template_add_integer(holes, "AT_ONCE", grid->at_once);
  template_add_integer(holes, "SEEN", seen_places(grid));
  template_add_integer(holes, "SEEN_Q", is_dense ? grid->window.step[2] : 1);
  template_add_integer(holes, "SEEN_T", is_dense ? 1 : grid->at_once);
  template_add(holes, "SEEN_PLACE",
               is_dense ? "s"
                        : arena_printf(arena, "s %% AT_ONCE * S2 + s / AT_ONCE * %lld",
                                       (long long)grid->at_step));
  template_add(holes, "PLACE",
               grid->copies[0] ? "(x2 - (begin * S2 + EDGE)) * CB" : "x2 * CHANNELS");
  template_add(holes, "GIVEN_PLACE",
               grid->copies[1] ? "(p + q - begin) * CB" : "(p + q) * CHANNELS");
}

/* The lines' copies and which they are. */
static void add_copies(const DepthwiseGrid *grid, TemplateHoles *holes, KernelFunction *function) {
  Arena *arena = holes->arena;
  int64_t edge, lines = held_lines(grid);
  reach(grid, 2, &edge);
  const char *begin = "";
  if (grid->copies[0])
    begin = arena_printf(arena,
                         "NNC_EXTENTS(LENGTH = %lld, EDGE = %lld); /* places of a copied line; the "
                         "first one that position 0 sees */\n"
                         "%s *const copies = (%s *)worker->scratch + %lld;\n"
                         "int64_t copied[%lld];\n"
                         "for (int64_t i = 0; i < %lld; i++) copied[i] = -1;",
                         (long long)grid->length, (long long)edge, c_value_type(grid->sum),
                         c_value_type(grid->sum),
                         (long long)(grid->bytes / dtype_size(grid->sum) - source_elements(grid)),
                         (long long)lines, (long long)lines);
  template_add(holes, "BEGIN_TASK", begin);
  template_add(holes, "LINE", grid->is_fed ? grid->feed.line : line_text(grid, arena, function));
  template_add(holes, "FEED_BEGIN", grid->is_fed ? grid->feed.begin : "");
  template_add(holes, "FEED_LINES", grid->is_fed ? grid->feed.lines : "");
}

/* Calls with the number of taps that rows of a phase have, which depends on its residue along the last axis
 * and is known when they are compiled. */
static const char *sums_text(const DepthwiseGrid *grid, Arena *arena, const char *name) {
  int64_t stride = grid->window.stride[2];
  Text text = {0};
  for (int64_t residue = 0; residue < stride; residue++) {
    int64_t taps = 0;
    for (int64_t phase = residue; phase < grid->window.phases; phase += stride)
      for (int64_t r = grid->first_row[phase]; r < grid->first_row[phase + 1]; r++)
        taps = grid->rows.items[r].count;
    if (residue > 0) text_add(&text, "\n");
    if (stride > 1)
      text_printf(&text, "if (phase %% %lld == %lld) ", (long long)stride, (long long)residue);
    text_printf(&text, "%s_sums(rows, %lld, see, row_weights, channels, to, to_row);", name,
                (long long)taps);
  }
  return text_take(&text, arena);
}

/* The result's element of image 0, channel 0 and place 0, from which elements are counted, and elements from
 * each to the next; false: the sums are not simply stored, channel by channel. */
static bool find_result(const Kernel *kernel, int64_t *base, int64_t coefficient[]) {
  const Store *store = &kernel->epilogue[0];
  return kernel->epilogue_count == 1 && store->value->kind == EXPR_RESULT &&
         !epilogue_streams(kernel, store, 1, 2) &&
         kernel->operands[store->operand].dtype == kernel_sum_type(kernel) &&
         kernel->axis_count == 2 + kernel->conv.spatial &&
         index_is_affine(store->index, kernel->axis_count, base, coefficient) &&
         coefficient[1] == 1;
}

/* Declares where the sums go: to the tile, or at once to the result where that has all positions. */
static const char *to_text(const DepthwiseGrid *grid, Arena *arena,
                           const KernelFunction *function) {
  static const char *const positions[] = {"p0", "p1", "p"};
  const WindowProduct *window = &grid->window;
  const Kernel *kernel = function->kernel;
  const char *type = c_value_type(grid->sum);
  int64_t base, coefficient[KERNEL_MAX_AXES], below = 1, row = 0;
  int spatial = kernel->conv.spatial;
  if (!find_result(kernel, &base, coefficient))
    return arena_printf(arena, "%s *const to = tile;\nconst int64_t to_row = CB;", type);
  Text place = {0}, inside = {0};
  text_printf(&place, "image * %lld + channel", (long long)coefficient[0]);
  if (base != 0) text_printf(&place, " + %lld", (long long)base);
  text_add(&inside, "p + AT_ONCE <= end");
  for (int i = 2; i >= 3 - spatial; below *= window->stride[i--]) {
    int own = i - (3 - spatial);
    const char *at = positions[i];
    if (window->phases > 1)
      at = arena_printf(arena, "(%s * %lld + phase / %lld %% %lld)", positions[i],
                        (long long)window->stride[i], (long long)below,
                        (long long)window->stride[i]);
    text_printf(&place, " + %s * %lld", at, (long long)coefficient[2 + own]);
    if (i == 2) row = coefficient[2 + own] * window->stride[i];
    if (window->phases == 1) continue;
    long long extent = (long long)kernel->conv.in[own];
    if (extent % window->stride[i] == 0) continue;
    text_printf(&inside, " && %s < %lld", at, extent);
    if (i == 2)
      text_printf(&inside, " && %s + (AT_ONCE - 1) * %lld < %lld", at, (long long)window->stride[i],
                  extent);
  }
  return arena_printf(arena,
                      "const bool is_whole = %s;\n"
                      "%s *const to = is_whole ? %s + (%s) : tile;\n"
                      "const int64_t to_row = is_whole ? %lld : CB;",
                      text_take(&inside, arena), type,
                      function->operands[kernel->epilogue[0].operand], text_take(&place, arena),
                      (long long)row);
}

/* Asks for what the next positions see, and for their gradients, where that comes from memory: vectors meet lines of the
 * cache place by place, which no processor foresees. */
static const char *fetch_text(const DepthwiseGrid *grid, Arena *arena, const Kernel *kernel) {
  bool fetches[2];
  for (int i = 0; i < 2; i++) {
    const KernelOperand *operand = &kernel->operands[i];
    fetches[i] = !grid->copies[i] && !grid->is_fed &&
                 operand->elements * dtype_size(operand->dtype) > LAST_CACHE_BYTES;
  }
  const char *seen = "for (int64_t r = 0; r < rows; r++)\n"
                     "  nnc_fetch_places(from[r] + (left + SEEN) * CHANNELS, AT_ONCE * S2, STEP, "
                     "channels * LENGTH);\n";
  const char *given = "nnc_fetch_places(line_of_y + (p + AT_ONCE) * CHANNELS, AT_ONCE, STEP, "
                      "channels * LENGTH);\n";
  bool has_given = grid->pieces > 0 && fetches[1];
  if (!fetches[0] && !has_given) return "";
  const char *type = c_value_type(grid->sum);
  return arena_printf(arena,
                      "NNC_EXTENTS(LENGTH = sizeof(%s), STEP = CHANNELS * LENGTH); /* bytes */\n"
                      "%s%s",
                      type, fetches[0] ? seen : "", has_given ? given : "");
}

/* Where the operands and the axes are that all three directions have. */
static void add_extents(const DepthwiseGrid *grid, TemplateHoles *holes, const Kernel *kernel) {
  template_add(holes, "FETCH", fetch_text(grid, holes->arena, kernel));
  template_add(holes, "TYPE", c_value_type(grid->sum));
  template_add(holes, "T", c_type_name(grid->sum));
  template_add_integer(holes, "CHANNELS", grid->channels);
  template_add_integer(holes, "CB", grid->block);
  template_add_integer(holes, "BLOCKS", grid->blocks);
  template_add_integer(holes, "WIDTH", grid->width);
  template_add_axes(holes, "P", grid->window.grid);
  template_add_axes(holes, "X", grid->window.extent);
  template_add_axes(holes, "S", grid->window.step);
}

static void add_weight(const DepthwiseGrid *grid, TemplateHoles *holes, KernelFunction *function) {
  enum { SUMMED_TOGETHER = 256 }; /* positions */
  int64_t line = greatest(grid->window.grid[2], 1);
  template_add_integer(holes, "IMAGES", grid->images);
  template_add_integer(holes, "TOGETHER", greatest(SUMMED_TOGETHER / line, 1));
  template_add(holes, "GIVEN_LINE", given_text(grid, holes->arena, function));
  function_add_epilogue(holes, function, weight_epilogue(grid, holes->arena, function));
}

/* The weights by taps, in each of which channels follow each other: kept, or made for the blocks of channels that a
 * worker's tasks have, one at a time. */
static void add_weights(const DepthwiseGrid *grid, TemplateHoles *holes,
                        const KernelFunction *function) {
  Arena *arena = holes->arena;
  const Kernel *kernel = function->kernel;
  const char *type = c_value_type(grid->sum);
  bool is_kept = kernel->keeps_weights;
  const char *indent = is_kept ? "    " : "";
  const char *by_taps =
      arena_printf(arena,
                   "%sfor (int64_t t = 0; t < %s; t++)\n"
                   "%s  for (int64_t c = 0; c < (tap_of[t] < 0 ? 0 : channels); c++)\n"
                   "%s    %s[t * CB + c] = %s(%s[(channel + c) * TAPS + tap_of[t]]);\n",
                   indent, is_kept ? "ROWS * MOST" : "(held == channel ? 0 : ROWS * MOST)", indent,
                   indent, is_kept ? "own" : "weights", c_loader(arena, kernel->operands[1].dtype),
                   function->operands[1]);
  template_add(holes, "WEIGHT_BLOCKS", is_kept ? "BLOCKS][" : "");
  if (!is_kept) {
    template_add(
        holes, "WEIGHTS",
        arena_printf(
            arena,
            "%s *const weights = (%s *)worker->scratch, *const tile = weights + ROWS * MOST "
            "* CB;\n"
            "int64_t held = -1; /* the channel with which the weights begin */\n",
            type, type));
    template_add(holes, "FILL", "");
    template_add(holes, "TASK_WEIGHTS", arena_printf(arena, "%sheld = channel;\n", by_taps));
    return;
  }
  template_add(holes, "WEIGHTS",
               arena_printf(arena, "%s *const tile = (%s *)worker->scratch;\n", type, type));
  template_add(holes, "FILL",
               arena_printf(arena,
                            "if (worker->fills) {\n"
                            "  NNC_TASKS(worker, BLOCKS, block) {\n"
                            "    const int64_t channel = block * CB;\n"
                            "    const int64_t channels = nnc_least(CB, CHANNELS - channel);\n"
                            "    %s *const own = kept + block * (ROWS * MOST * CB);\n"
                            "%s"
                            "%s"
                            "  }\n"
                            "  return;\n"
                            "}\n",
                            type, by_taps, grid->is_fed ? grid->feed.fill : ""));
  template_add(
      holes, "TASK_WEIGHTS",
      arena_printf(arena, "const %s *const weights = kept + channel * (ROWS * MOST);\n", type));
}

static void add_map(const DepthwiseGrid *grid, TemplateHoles *holes, KernelFunction *function) {
  const Kernel *kernel = function->kernel;
  add_weights(grid, holes, function);
  template_add_integer(holes, "LINES", grid->lines);
  template_add_integer(holes, "LINE_BLOCKS", grid->line_blocks);
  template_add_integer(holes, "PARTS", grid->parts);
  template_add_integer(holes, "PHASES", grid->window.phases);
  template_add_integer(holes, "TAPS", extent_product(kernel->conv.kernel, kernel->conv.spatial));
  template_add(holes, "TO", to_text(grid, holes->arena, function));
  template_add(holes, "SUMS", sums_text(grid, holes->arena, function->name));
  function_add_epilogue(holes, function, line_epilogue(grid, holes->arena, function));
  template_add(holes, "STREAM_END", epilogue_stream_end(kernel));
}

void depthwise_write(Code *code, KernelFunction *function) {
  Arena *arena = code->arena;
  DepthwiseGrid grid = depthwise_grid(arena, function->kernel);
  if (function_write_empty(code, function)) return;
  TemplateHoles holes = function_holes(arena, function, grid.tasks);
  bool is_weight = grid.pieces > 0;
  if (grid.is_fed) grid.feed = feed_write(code, function, &grid.ring);
  add_extents(&grid, &holes, function->kernel);
  add_rows(&grid, &holes);
  add_seen(&grid, &holes);
  add_copies(&grid, &holes, function);
  if (is_weight) add_weight(&grid, &holes, function);
  else add_map(&grid, &holes, function);
  template_render(
      code->out,
      is_weight ? "codegen_templates/depthwise_weight.c" : "codegen_templates/depthwise.c", &holes);
}
