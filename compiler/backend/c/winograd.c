/* Winograd's minimal filtering as C: fills codegen_templates/winograd.c, of a convolution and its adjoint in
 * the input, which is a convolution with its taps turned, and winograd_weight.c. */
#include "backend/c/epilogue_stream.h"
#include "backend/c/winograd.h"
#include "backend/c/winograd_tile.h"

#include "backend/c/tiles.h"
#include "backend/c/window.h"
#include "backend/common/c.h"
#include "support/integers.h"

enum {
  VECTOR = WINOGRAD_VECTOR,
  SMALL_PRODUCTS = 16,  /* of a tile of 4 x 4 places, at most */
  MOST_TILES = 64,      /* of a task at a time: what it works on stays in the second-level cache */
  TILE_BYTES = 6 << 10, /* of one, for fewer of them where there are many channels */
  BLOCK_BYTES = MOST_TILES * TILE_BYTES,
  TIGHT_BYTES = 5 << 17 /* of places and weights of a kernel that must be tight */
};

typedef struct WinogradGrid {
  bool is_input, is_weight, has_slices;
  int64_t sum, result; /* channels summed over, and of the result */
  int64_t places[2],
      results[2]; /* extents of the plane that is read through windows, of the other */
  int64_t low[2]; /* zeros before the places */
  int64_t slice_taps, slice_places, slice_results, slice_low; /* along the axis of slices */
  WinogradTile tile;
  int64_t tile_rows, tile_columns;
  int64_t rows, blocks; /* rows of tiles at a time, and how many such blocks has an image */
  int64_t images;       /* at a time, where one block is an image; of slices, so many results */
  int64_t parts;        /* of the channels of the result, a task each */
  int64_t k_block, c_block, k_blocks, c_blocks; /* conv_weight: channels of a task ... */
  int64_t pieces, piece_images;                 /* ... which goes over so many images */
  int64_t tasks, bytes;
  int64_t kept_bytes; /* of the transformed weights */
} WinogradGrid;

/* Rows of tiles at a time, or whole images, for so many bytes a tile. */
static void cut_rows(WinogradGrid *grid, int64_t images, int64_t tile_bytes, int64_t most_bytes) {
  int64_t most = greatest(most_bytes / greatest(tile_bytes, TILE_BYTES), 8);
  grid->rows = greatest(1, least(grid->tile_rows, most / grid->tile_columns));
  grid->blocks = divide_up(grid->tile_rows, grid->rows);
  grid->rows = divide_up(grid->tile_rows, grid->blocks);
  grid->images = grid->blocks > 1 ? 1 : most / (grid->tile_rows * grid->tile_columns);
  grid->images = greatest(1, least(grid->images, images));
}

/* The slices of a block of so many rows of tiles: a part of an image's, as many as the bytes hold with those around them. */
static int64_t slices_of_block(const WinogradGrid *grid, int64_t rows, int64_t most,
                               int64_t images) {
  enum { TASKS = 8, LEAST = 2 };
  int64_t fitting = most / (rows * grid->tile_columns) - (grid->slice_taps - 1);
  int64_t blocks = images * divide_up(grid->tile_rows, rows);
  int64_t even = divide_up(grid->slice_results, divide_up(TASKS, greatest(blocks, 1)));
  int64_t slices = least(fitting, greatest(even, LEAST));
  slices = greatest(1, least(slices, grid->slice_results));
  while (grid->slice_results % slices != 0) slices--;
  return slices;
}

/* The same for slices: the more of them follow each other, the fewer are transformed again for the next ones. */
static void cut_slices(WinogradGrid *grid, int64_t images, int64_t tile_bytes) {
  enum { BYTES = 2 * BLOCK_BYTES };
  int64_t most = greatest(BYTES / greatest(tile_bytes, TILE_BYTES), 8);
  int64_t around = grid->slice_taps - 1, best = 1;
  grid->images = 0;
  for (int64_t blocks = 1; blocks <= grid->tile_rows; blocks++) {
    int64_t rows = divide_up(grid->tile_rows, blocks);
    int64_t slices = slices_of_block(grid, rows, most, images);
    if (grid->images > 0 && (slices + around) * grid->images >= (grid->images + around) * slices)
      continue;
    grid->images = slices;
    best = rows;
    if (around <= slices / 2) break;
  }
  grid->images = greatest(grid->images, 1);
  grid->rows = best;
  grid->blocks = divide_up(grid->tile_rows, best);
}

/* Channels of a task at most: it transforms all that it reads, and its sums are half of the second-level cache. */
enum { WEIGHT_ROWS = 64, WEIGHT_TASKS = 8 };

static int64_t weight_columns(const WinogradTile *tile) {
  return tile->products > SMALL_PRODUCTS ? 64 : 128;
}

static int64_t even_block(int64_t channels, int64_t most) {
  return align_up(divide_up(channels, greatest(divide_up(channels, most), 1)), VECTOR);
}

/* Channels of a task: halves the most until there are enough tasks. */
static void cut_weights(WinogradGrid *grid, const ConvSlots *conv) {
  enum { LEAST = 32 };
  grid->pieces = greatest(conv->pieces, 1);
  grid->piece_images = conv->n / grid->pieces * grid->slice_results;
  grid->k_block = even_block(conv->k, WEIGHT_ROWS);
  grid->c_block = even_block(conv->c, weight_columns(&grid->tile));
  for (;;) {
    grid->k_blocks = divide_up(conv->k, grid->k_block);
    grid->c_blocks = divide_up(conv->c, grid->c_block);
    grid->tasks = grid->pieces * grid->slice_taps * grid->k_blocks * grid->c_blocks;
    int64_t *most = grid->c_block >= grid->k_block ? &grid->c_block : &grid->k_block;
    if (grid->tasks >= WEIGHT_TASKS || *most <= LEAST) break;
    *most = align_up(divide_up(*most, 2), VECTOR);
  }
  cut_rows(grid, grid->piece_images,
           (int64_t)sizeof(float) * grid->tile.products * (grid->c_block + grid->k_block),
           BLOCK_BYTES);
  int64_t count = grid->images * grid->rows * grid->tile_columns;
  int64_t own = grid->k_block * grid->c_block;
  int64_t floats =
      grid->tile.products * (count * (grid->c_block + grid->k_block + 2 * VECTOR) + own);
  floats += grid->tile.taps[0] * grid->tile.taps[1] * own;
  grid->bytes = align_64(floats * (int64_t)sizeof(float));
}

int64_t winograd_pieces(const ConvSlots *slots) {
  enum { LEAST_RESULTS = 2048 /* of a piece: it takes time to write and to add up */ };
  int64_t out[2];
  winograd_axes(slots, slots->out, 1, out);
  WinogradTile tile = winograd_tile(slots, out);
  int64_t blocks = winograd_slices(slots, slots->kernel, 1) * divide_up(slots->k, WEIGHT_ROWS) *
                   divide_up(slots->c, weight_columns(&tile));
  int64_t results =
      winograd_planes(slots) * tile.size[0] * tile.size[1] * winograd_tiles(&tile, out);
  int64_t pieces = divide_up(WEIGHT_TASKS, blocks);
  while (pieces < slots->n && slots->n % pieces != 0) pieces++;
  return pieces <= slots->n && results / pieces >= LEAST_RESULTS ? pieces : 1;
}

/* Columns of so many channels in panels, of all instruction sets the most. */
static int64_t panel_columns(int64_t channels) {
  static const struct {
    int64_t lanes, vectors; /* NNC_LANES_f32, NNC_TILE_VECTORS */
  } sets[] = {{16, 3}, {8, 3}, {4, 2}};
  int64_t most = 0;
  for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
    int64_t vectors = channels / sets[i].lanes, panels = divide_up(vectors, sets[i].vectors);
    most = greatest(most, panels * divide_up(vectors, greatest(panels, 1)) * sets[i].lanes);
  }
  return most;
}

/* Divides the channels of the result. An image that has few blocks gives more tasks: each reads some of the weights, and
 * a worker still transforms a block once, where weights are kept. Where each worker transforms weights, it does so for
 * a part of them and goes through the blocks with it, so that the part stays in the second-level cache and a worker
 * needs no memory for more; the places of a block are transformed for each part. */
static void cut_channels(WinogradGrid *grid, int64_t blocks, const Kernel *kernel) {
  enum { TASKS = 16, LEAST = 32, PART_BYTES = 3 << 18 };
  bool keeps_weights = kernel->keeps_weights;
  grid->parts = 1;
  while ((keeps_weights || blocks == 1) && blocks * grid->parts * 2 <= TASKS &&
         grid->result % (grid->parts * 2 * LEAST) == 0)
    grid->parts *= 2;
  if (keeps_weights) return;
  int64_t most = grid->result / (kernel->is_tight ? VECTOR : LEAST),
          channel = (int64_t)sizeof(float) * grid->tile.products * grid->slice_taps * grid->sum;
  for (int64_t parts = grid->parts + 1;
       parts <= most && grid->result / grid->parts * channel > PART_BYTES; parts++)
    if (grid->result % (parts * VECTOR) == 0) grid->parts = parts;
}

/* Of the transformed places at a time. Each block reads all weights: where they are kept and larger than the
 * second-level cache, places may fill that, so that an image is one block and reads them once. */
static int64_t block_bytes(const WinogradGrid *grid, bool keeps_weights) {
  enum { LARGE_WEIGHTS = 2 << 20, CACHE_BYTES = 1 << 20 };
  int64_t weights = (int64_t)sizeof(float) * grid->tile.products * grid->sum * grid->result;
  return keeps_weights && weights >= LARGE_WEIGHTS ? CACHE_BYTES : BLOCK_BYTES;
}

static WinogradGrid winograd_grid(const Kernel *kernel) {
  const ConvSlots *conv = &kernel->conv;
  WinogradGrid grid = {.is_input = kernel->kind == KERNEL_CONV_INPUT,
                       .is_weight = kernel->kind == KERNEL_CONV_WEIGHT,
                       .has_slices = conv->spatial > 2};
  grid.sum = grid.is_input ? conv->k : conv->c;
  grid.result = grid.is_input ? conv->c : conv->k;
  winograd_axes(conv, grid.is_input ? conv->out : conv->in, 1, grid.places);
  winograd_axes(conv, grid.is_input ? conv->in : conv->out, 1, grid.results);
  winograd_axes(conv, conv->low, 0, grid.low);
  grid.tile = winograd_tile_of(kernel, grid.results);
  for (int i = 0; i < 2 && grid.is_input; i++) grid.low[i] = grid.tile.taps[i] - 1 - grid.low[i];
  bool is_input = grid.is_input;
  grid.slice_taps = winograd_slices(conv, conv->kernel, 1);
  grid.slice_places = winograd_slices(conv, is_input ? conv->out : conv->in, 1);
  grid.slice_results = winograd_slices(conv, is_input ? conv->in : conv->out, 1);
  grid.slice_low = winograd_slices(conv, conv->low, 0);
  if (is_input) grid.slice_low = grid.slice_taps - 1 - grid.slice_low;
  grid.tile_rows = divide_up(grid.results[0], grid.tile.size[0]);
  grid.tile_columns = divide_up(grid.results[1], grid.tile.size[1]);
  if (grid.is_weight) {
    cut_weights(&grid, conv);
    return grid;
  }
  enum { TASKS = 8, WIDTH = 3 * VECTOR /* of a panel at most */ };
  int64_t element = (int64_t)sizeof(float);
  bool keeps = kernel->keeps_weights, has_slices = grid.has_slices;
  int64_t planes = conv->n * grid.slice_results, images = greatest(planes / TASKS, 1);
  int64_t tile_bytes = element * grid.tile.products * grid.sum;
  if (has_slices) cut_slices(&grid, conv->n, tile_bytes);
  else cut_rows(&grid, images, tile_bytes, block_bytes(&grid, keeps));
  cut_channels(&grid, divide_up(planes, grid.images) * grid.blocks, kernel);
  int64_t part = grid.tile.products * panel_columns(grid.result / grid.parts) * grid.sum;
  part *= grid.slice_taps;
  if (kernel->is_tight && !keeps && !has_slices) {
    /* Of large tiles of few channels sums take more than places. */
    bool is_large = grid.tile.products > SMALL_PRODUCTS;
    int64_t bytes =
        is_large ? element * grid.tile.products * (grid.sum + VECTOR + WIDTH) : tile_bytes;
    cut_rows(&grid, images, bytes, least(BLOCK_BYTES, TIGHT_BYTES - part * element));
  }
  grid.tasks = divide_up(planes, grid.images) * grid.blocks * grid.parts;
  grid.kept_bytes = align_64(grid.parts * part * element);
  int64_t of_plane = grid.rows * grid.tile_columns, count = grid.images * of_plane;
  int64_t seen = (grid.images + grid.slice_taps - 1) * of_plane;
  int64_t floats = grid.tile.products * (seen * (grid.sum + VECTOR) + count * WIDTH);
  if (!keeps) floats += part;
  floats += grid.tile.size[0] * grid.tile.size[1] * grid.tile_columns * WIDTH;
  grid.bytes = align_64(floats * element);
  return grid;
}

int64_t winograd_tasks(const Kernel *kernel) { return winograd_grid(kernel).tasks; }
int64_t winograd_kept_bytes(const Kernel *kernel) { return winograd_grid(kernel).kept_bytes; }
int64_t winograd_worker_bytes(const Kernel *kernel) { return winograd_grid(kernel).bytes; }

/* Of slices `image` counts the planes of the results. */
static const char *line_epilogue(Arena *arena, KernelFunction *function, const WinogradGrid *grid) {
  Text text = {0};
  Code code = {.arena = arena, .out = &text};
  int spatial = function->kernel->conv.spatial, line = 2 + (spatial > 2);
  long long slices = (long long)grid->slice_results;
  const char *image = spatial > 2 ? arena_printf(arena, "image / %lld", slices) : "image";
  function_declare_axis(&code, function, 0, image);
  if (spatial > 2)
    function_declare_axis(&code, function, 2, arena_printf(arena, "image %% %lld", slices));
  function_declare_axis(&code, function, line, "line");
  code_open(&code, "for (int64_t p = 0; p < %lld; p++)", (long long)grid->results[1]);
  if (spatial > 1) function_declare_axis(&code, function, line + 1, "p");
  return epilogue_end_channels(&code, function, "row[p * width + c]", DTYPE_F32, TILE_COLUMNS);
}

/* A weight's axes: the piece, if there are any, the channels, the taps; of slices `piece` counts planes of taps, too. */
static const char *taps_epilogue(Arena *arena, KernelFunction *function) {
  Text text = {0};
  Code code = {.arena = arena, .out = &text};
  const ConvSlots *conv = &function->kernel->conv;
  int before = conv->pieces > 0, slices = conv->spatial > 2;
  long long taps = (long long)conv->kernel[0];
  if (before)
    function_declare_axis(&code, function, 0,
                          slices ? arena_printf(arena, "piece / %lld", taps) : "piece");
  if (slices)
    function_declare_axis(&code, function, before + 2,
                          before ? arena_printf(arena, "piece %% %lld", taps) : "piece");
  code_open(&code, "for (int64_t r = 0; r < rows; r++)");
  function_declare_axis(&code, function, before, "row + r");
  const char *tap = function_open_plane(&code, before + 2 + slices, conv->spatial - slices,
                                        conv->kernel + slices);
  code_open(&code, "NNC_ROLLED for (int64_t c = 0; c < channels; c++)");
  function_declare_axis(&code, function, before + 1, "channel + c");
  const char *result = arena_printf(arena, "sums[((%s) * height + r) * width + c]", tap);
  return function_end_epilogue(&code, function, result, DTYPE_F32);
}

/* How the functions of a tile are called: the large tiles that many kernels have are part of a name, that of what reads
 * memory with the type; others are an argument. */
typedef struct TileText {
  const char *reader, *kind, *argument, *declared;
} TileText;

static TileText tile_text(const WinogradTile *tile, bool is_half) {
  static const struct {
    int64_t taps, size;
    const char *readers[2], *kind;
  } shared[] = {{3, 4, {"_4x4_3x3_f32", "_4x4_3x3_bf16"}, "_4x4_3x3"},
                {5, 2, {"_2x2_5x5_f32", "_2x2_5x5_bf16"}, "_2x2_5x5"}};
  static const char *const declared[] = {
      "const nnc_winograd_tile tile = {{{TAPS_0, SIZE_0}, {TAPS_1, SIZE_1}}, false};\n",
      "const nnc_winograd_tile tile = {{{TAPS_0, SIZE_0}, {TAPS_1, SIZE_1}}, true /* bf16 */};\n"};
  for (size_t i = 0; i < sizeof shared / sizeof *shared; i++)
    if (tile->taps[0] == shared[i].taps && tile->taps[1] == shared[i].taps &&
        tile->size[0] == shared[i].size && tile->size[1] == shared[i].size)
      return (TileText){shared[i].readers[is_half], shared[i].kind, "", ""};
  return (TileText){"", "", ", tile", declared[is_half]};
}

static bool is_of_halves(const Kernel *kernel) { return kernel->operands[0].dtype == DTYPE_BF16; }

/* Statements that transform the weights that are kept, a task a panel, and return, where the worker is told to. */
static const char *fill_text(Arena *arena, const TileText *tile, const char *weights,
                             long long column, const char *lie, const char *sum) {
  return arena_printf(
      arena,
      "if (worker->fills) {\n"
      "  NNC_TASKS(worker, PARTS * PANELS, panel) {\n"
      "    const int64_t of_part = panel %% PANELS * WIDTH, channel = panel / PANELS * PART + "
      "of_part;\n"
      "    nnc_winograd_pack%s(&(nnc_winograd_weights){\n"
      "        %s + channel * %lld, %s, nnc_least(WIDTH, PART - of_part), C, WIDTH,\n"
      "        packed + panel * ((int64_t)PRODUCTS * %s * WIDTH)}%s);\n"
      "  }\n"
      "  return;\n"
      "}\n",
      tile->reader, weights, column, lie, sum, tile->argument);
}

/* How the weights lie, from the result's channel to the next, along the sum, from tap to tap. */
static void add_weights(const WinogradGrid *grid, const Kernel *kernel, const char *weights,
                        TemplateHoles *holes) {
  const ConvSlots *conv = &kernel->conv;
  TileText tile = tile_text(&grid->tile, is_of_halves(kernel));
  bool is_last = conv_has_last(kernel, 1);
  int64_t taps = extent_product(conv->kernel, conv->spatial);
  int64_t row = conv->c * taps, channel = is_last ? 1 : taps;
  Arena *arena = holes->arena;
  long long column = (long long)(grid->is_input ? channel : row);
  const char *lie =
      arena_printf(arena, "%lld, %lld, %lld, %s, %lld", column,
                   (long long)(grid->is_input ? row : channel), (long long)(is_last ? conv->c : 1),
                   grid->is_input ? "true" : "false", (long long)grid->slice_taps);
  bool is_kept = kernel->keeps_weights;
  const char *sum = conv->spatial > 2 ? "SUM" : "C";
  template_add(holes, "PACKED_PLACE", is_kept ? "kept" : "(float *)worker->scratch");
  template_add(holes, "PACKED_PARTS", is_kept && grid->parts > 1 ? "PARTS][" : "");
  template_add(holes, "PACKED_AT",
               is_kept && grid->parts > 1 ? "(part * PANELS + panel)" : "panel");
  template_add(holes, "SOURCE_PLACE",
               is_kept
                   ? "(float *)worker->scratch"
                   : arena_printf(arena, "packed + (int64_t)PANELS * PRODUCTS * %s * WIDTH", sum));
  template_add(holes, "PACKED_PART",
               is_kept ? "" : "int64_t packed_part = -1; /* whose weights are transformed */\n");
  template_add(holes, "PACK",
               is_kept
                   ? ""
                   : arena_printf(arena,
                                  "if (part != packed_part)\n"
                                  "  nnc_winograd_pack%s(&(nnc_winograd_weights){\n"
                                  "      %s + part * PART * %lld, %s, PART, C, WIDTH, packed}%s);\n"
                                  "packed_part = part;\n",
                                  tile.reader, weights, column, lie, tile.argument));
  template_add(holes, "FILL", is_kept ? fill_text(arena, &tile, weights, column, lie, sum) : "");
}

/* A share of the next product's weights for each tile of this one. */
static const char ahead_of_weights[] =
    "const nnc_ahead ahead = nnc_ahead_of_panel(\n"
    "    (uintptr_t)(weights + (p + 1) * ((int64_t)C * WIDTH)), NNC_AHEAD_BYTES,\n"
    "    (int64_t)sizeof(float) * C * WIDTH / NNC_AHEAD_BYTES, m / MR, GROUPS);\n";

/* Whether an operand lies so far away that asking for it early saves more than it costs. */
static bool is_far(const Kernel *kernel, int operand) {
  const KernelOperand *of = &kernel->operands[operand];
  return of->elements * dtype_size(of->dtype) > 2 * FAR_SIDE_BYTES;
}

/* What is transformed next, and that each tile asks for a share of it (nnc_winograd_next). */
static void add_next(TemplateHoles *holes, const char *next, const char *fetch) {
  template_add(holes, "NEXT", next);
  template_add(holes, "FETCH", fetch);
}

/* Places that are read again for another part of the channels are near then. */
static void add_next_places(const WinogradGrid *grid, const KernelFunction *function,
                            TemplateHoles *holes) {
  static const char next[] =
      "const nnc_winograd_block done = {image, images, N, SIZE_0 * (first + rows),\n"
      "                                 SIZE_0 * IMAGES * ROWS, (int64_t)PRODUCTS * PANELS * "
      "GROUPS};\n"
      "const nnc_winograd_ahead next =\n"
      "    nnc_winograd_next(&done, &(nnc_winograd_planes){%s, sizeof *%s, {X0, X1}, C, C}, "
      "%lld);\n";
  static const char fetch[] =
      "nnc_winograd_fetch(&next, (panel * PRODUCTS + p) * GROUPS + m / MR);\n";
  const Kernel *kernel = function->kernel;
  bool fetches =
      is_far(kernel, 0) && grid->parts == 1 && !kernel->keeps_weights && !grid->has_slices;
  const char *source = function->operands[0];
  const char *text = arena_printf(holes->arena, next, source, source,
                                  (long long)(grid->tile.taps[0] - 1 - grid->low[0]));
  add_next(holes, fetches ? text : "", fetches ? fetch : "");
}

static void add_next_of_piece(const WinogradGrid *grid, const KernelFunction *function,
                              TemplateHoles *holes) {
  static const char next[] =
      "const nnc_winograd_block done = {image, images, end, SIZE_0 * (first + own),\n"
      "                                 SIZE_0 * IMAGES * ROWS, (int64_t)PRODUCTS * PANELS * "
      "GROUPS};\n"
      "const nnc_winograd_ahead next_source = nnc_winograd_next(\n"
      "    &done, &(nnc_winograd_planes){%s + channel, sizeof *%s, {X0, X1}, C, CB}, %lld);\n"
      "const nnc_winograd_ahead next_gradient = nnc_winograd_next(\n"
      "    &done, &(nnc_winograd_planes){%s + row, sizeof *%s, {P0, P1}, K, KB}, 0);\n";
  static const char fetch[] = "const int64_t share = (p * PANELS + c / WIDTH) * GROUPS + m / MR;\n"
                              "nnc_winograd_fetch(&next_source, share);\n"
                              "nnc_winograd_fetch(&next_gradient, share);\n";
  const Kernel *kernel = function->kernel;
  bool fetches = (is_far(kernel, 0) || is_far(kernel, 1)) && !grid->has_slices;
  const char *source = function->operands[0], *gradient = function->operands[1];
  const char *text =
      arena_printf(holes->arena, next, source, source,
                   (long long)(grid->tile.taps[0] - 1 - grid->low[0]), gradient, gradient);
  add_next(holes, fetches ? text : "", fetches ? fetch : "");
}

/* Results that see zeros alone are 0: by so many places they would be rounding errors. */
static void add_blank(const WinogradGrid *grid, const TileText *tile, TemplateHoles *holes) {
  static const char declared[] =
      "const int64_t results[2] = {P0, P1};\n"
      "uint8_t seen[X1];\n"
      "uint16_t blank[%s]; /* of each tile, the results that see zeros alone */\n";
  static const char join[] = "for (int64_t t = 0; t < count && block != held; t++)\n"
                             "  for (int64_t tap = 1; tap < TAPS_D; tap++)\n"
                             "    blank[t] &= blank[t + tap * rows * TILE_COLUMNS];\n";
  const char *const seen = grid->has_slices ? "SEEN" : "COUNT";
  enum { EXACT_PLACES = 4 };
  bool is_exact = true;
  for (int i = 0; i < 2; i++)
    is_exact = is_exact && grid->tile.taps[i] + grid->tile.size[i] - 1 <= EXACT_PLACES;
  template_add(holes, "BLANK", is_exact ? "" : arena_printf(holes->arena, declared, seen));
  template_add(holes, "FIND_BLANK",
               is_exact ? ""
                        : arena_printf(holes->arena,
                                       "nnc_winograd_blanks%s(&tiles%s, results, seen, blank + i * "
                                       "(rows * TILE_COLUMNS));\n",
                                       tile->reader, tile->argument));
  template_add(holes, "JOIN_BLANK", is_exact || !grid->has_slices ? "" : join);
  template_add(holes, "BLANK_ROW", is_exact ? "NULL" : "blank + r * TILE_COLUMNS");
}

/* What reads slices: those before a block's first one, in it, and after it, are transformed together, zeros where there are
 * none. */
static void add_slices(const WinogradGrid *grid, TemplateHoles *holes) {
  static const char extents[] =
      "\n"
      "TAPS_D = %lld, X_D = %lld, P_D = %lld /* slices */, SUM = TAPS_D * C,\n"
      "SEEN = (IMAGES + TAPS_D - 1) * OF_IMAGE,";
  static const char of_taps[] = "TAPS_D = %lld, X_D = %lld, P_D = %lld /* slices */,\n";
  Arena *arena = holes->arena;
  bool has_slices = grid->has_slices;
  long long low = (long long)grid->slice_low;
  const char *declared =
      arena_printf(arena, grid->is_weight ? of_taps : extents, (long long)grid->slice_taps,
                   (long long)grid->slice_places, (long long)grid->slice_results);
  const char *slice =
      arena_printf(arena,
                   grid->is_weight ? "const int64_t slice = (image + i) %% P_D + tap - %lld;\n"
                                   : "const int64_t slice = image %% P_D + i - %lld;\n",
                   low);
  const char *plane = grid->is_weight
                          ? "(image + i) / P_D * X_D + (nnc_within(slice, X_D) ? slice : 0)"
                          : "image / P_D * X_D + (nnc_within(slice, X_D) ? slice : 0)";
  template_add(holes, "DEEP_EXTENTS", has_slices ? declared : "");
  template_add(holes, "SUM", has_slices ? "SUM" : "C");
  template_add(holes, "SEEN", has_slices ? "SEEN" : "COUNT");
  template_add(holes, "PLANES", has_slices ? "images + TAPS_D - 1" : "images");
  template_add(holes, "SLICE", has_slices ? slice : "");
  template_add(holes, "SOURCE_PLANE", has_slices ? plane : "image + i");
  template_add(holes, "EXTENT", has_slices ? "nnc_within(slice, X_D) ? X0 : 0" : "X0");
  template_add(holes, "EACH_TAP", has_slices ? "for (int64_t t = 0; t < TAPS_D; t++)\n" : "");
  template_add(holes, "TAP_TILES", has_slices ? " + t * rows * TILE_COLUMNS" : "");
  template_add(holes, "TAP_CHANNELS", has_slices ? " + t * C" : "");
  template_add(holes, "BEGINS", has_slices ? "t == 0 ? NNC_BEGINS : NNC_JOINS" : "NNC_BEGINS");
  template_add(holes, "TASKS_OF_PIECE",
               has_slices ? "(int64_t)TAPS_D * K_BLOCKS * C_BLOCKS"
                          : "(int64_t)K_BLOCKS * C_BLOCKS");
  template_add(holes, "TAP",
               has_slices ? "const int64_t tap = task / ((int64_t)K_BLOCKS * C_BLOCKS) % TAPS_D;\n"
                          : "");
  template_add(holes, "PIECE", has_slices ? "piece * TAPS_D + tap" : "piece");
}

void winograd_write(Code *code, KernelFunction *function) {
  const Kernel *kernel = function->kernel;
  const ConvSlots *conv = &kernel->conv;
  WinogradGrid grid = winograd_grid(kernel);
  if (function_write_empty(code, function)) return;
  TemplateHoles holes = function_holes(code->arena, function, grid.tasks);
  template_add(&holes, "SOURCE", function->operands[0]);
  template_add_integer(&holes, "C", grid.is_weight ? conv->c : grid.sum);
  template_add_integer(&holes, "K", grid.is_weight ? conv->k : grid.result);
  template_add_integer(&holes, "ROWS", grid.rows);
  template_add_integer(&holes, "IMAGES", grid.images);
  template_add_integer(&holes, "N", conv->n * grid.slice_results);
  add_slices(&grid, &holes);
  TileText tile = tile_text(&grid.tile, is_of_halves(kernel));
  template_add(&holes, "READER", tile.reader);
  template_add(&holes, "KIND", tile.kind);
  template_add(&holes, "TILE", tile.argument);
  template_add(&holes, "DECLARED_TILE", tile.declared);
  for (int i = 0; i < 2; i++) {
    template_add_integer(&holes, arena_printf(code->arena, "LOW_%d", i), grid.low[i]);
    template_add_integer(&holes, arena_printf(code->arena, "X%d", i), grid.places[i]);
    template_add_integer(&holes, arena_printf(code->arena, "P%d", i), grid.results[i]);
    template_add_integer(&holes, arena_printf(code->arena, "TAPS_%d", i), grid.tile.taps[i]);
    template_add_integer(&holes, arena_printf(code->arena, "SIZE_%d", i), grid.tile.size[i]);
  }
  if (grid.is_weight) {
    add_next_of_piece(&grid, function, &holes);
    template_add(&holes, "GRADIENT", function->operands[1]);
    template_add_integer(&holes, "KB", grid.k_block);
    template_add_integer(&holes, "CB", grid.c_block);
    template_add_integer(&holes, "K_BLOCKS", grid.k_blocks);
    template_add_integer(&holes, "C_BLOCKS", grid.c_blocks);
    template_add_integer(&holes, "OF_PIECE", grid.piece_images);
    function_add_epilogue(&holes, function, taps_epilogue(code->arena, function));
    template_render(code->out, "codegen_templates/winograd_weight.c", &holes);
    return;
  }
  add_weights(&grid, kernel, function->operands[1], &holes);
  add_blank(&grid, &tile, &holes);
  add_next_places(&grid, function, &holes);
  template_add_integer(&holes, "BLOCKS", grid.blocks);
  template_add_integer(&holes, "PARTS", grid.parts);
  bool is_kept = kernel->keeps_weights;
  template_add(&holes, "BLOCK", is_kept ? "task / PARTS" : "task % (TASKS / PARTS)");
  template_add(&holes, "PART", is_kept ? "task % PARTS" : "task / (TASKS / PARTS)");
  template_add(
      &holes, "HEIGHT",
      tile_height_text(code->arena, even_tile_height(grid.images * grid.rows * grid.tile_columns)));
  template_add(&holes, "AHEAD", kernel->keeps_weights ? ahead_of_weights : "");
  template_add(&holes, "AHEAD_POINTER", kernel->keeps_weights ? "&ahead" : "NULL");
  function_add_epilogue(&holes, function, line_epilogue(code->arena, function, &grid));
  template_add(&holes, "STREAM_END", epilogue_stream_end(kernel));
  template_render(code->out, "codegen_templates/winograd.c", &holes);
}
