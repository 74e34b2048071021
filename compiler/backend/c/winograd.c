/* Winograd's minimal filtering as C: fills codegen_templates/winograd.c, of a convolution and its adjoint in
 * the input, which is a convolution with its taps turned, and winograd_weight.c. */
#include "backend/c/epilogue_stream.h"
#include "backend/c/winograd.h"

#include "backend/c/tiles.h"
#include "backend/c/window.h"
#include "backend/common/c.h"
#include "support/integers.h"

enum {
  VECTOR = 16,          /* channels come in whole vectors of any instruction set */
  LEAST_CHANNELS = 16,  /* fewer: transforming takes as long as multiplying */
  MOST_TILES = 64,      /* of a task at a time: what it works on stays in the second-level cache */
  TILE_BYTES = 6 << 10, /* of one, for fewer of them where there are many channels */
  BLOCK_BYTES = MOST_TILES * TILE_BYTES,
  TIGHT_BYTES = 5 << 17 /* of places and weights of a kernel that must be tight */
};

/* ---- tiles ---- */

/* Two axes, the second of which a convolution along one axis does not have: its places follow each other as lines. */
static void two_axes(const ConvSlots *slots, const int64_t *extents, int64_t absent,
                     int64_t to[2]) {
  to[0] = extents[0];
  to[1] = slots->spatial > 1 ? extents[1] : absent;
}

/* Along both axes the taps, the results of a tile, and the places that these see. */
typedef struct Tile {
  int64_t taps[2], size[2], products;
} Tile;

static Tile tile_of(const ConvSlots *slots, bool is_large) {
  Tile tile = {.products = 1};
  two_axes(slots, slots->kernel, 1, tile.taps);
  for (int i = 0; i < 2; i++) {
    tile.size[i] = tile.taps[i] == 1 ? 1 : tile.taps[i] == 3 && is_large ? 4 : 2;
    tile.products *= tile.taps[i] + tile.size[i] - 1;
  }
  return tile;
}

static int64_t tiles_of(const Tile *tile, const int64_t results[2]) {
  return divide_up(results[0], tile->size[0]) * divide_up(results[1], tile->size[1]);
}

/* The products that the tiles of a plane leave out, for a channel of the sum and one of the result, without those that
 * transforming a tile takes as long as. */
static int64_t saved_by(const Tile *tile, const int64_t results[2]) {
  enum { TRANSFORMING = 2 };
  int64_t direct = tile->taps[0] * tile->taps[1] * results[0] * results[1];
  return direct - (tile->products + TRANSFORMING) * tiles_of(tile, results);
}

/* What transforming the weights costs in products: many are transformed from and to memory. */
static int64_t cost_of_weights(const ConvSlots *slots, const Tile *tile) {
  enum { NUMBER = 15, FEW_WEIGHTS = 256 * 256, FEW = 180, MANY = 700, OF_PLANE = 16 };
  int64_t numbers = tile->taps[0] * tile->taps[1] + tile->products;
  int64_t more = slots->c * slots->k <= FEW_WEIGHTS ? FEW : MANY;
  return NUMBER * numbers + more * least(tile->products, OF_PLANE) / OF_PLANE;
}

/* The tile for sums whose weights are not transformed. Of 3 x 3 taps those of 4 x 4 results have 2.25 products a result,
 * those of 2 x 2 have 4, but more of a large tile lies outside of a small plane, and it takes longer to transform. */
static Tile tile_by_products(const ConvSlots *slots, const int64_t results[2]) {
  Tile small = tile_of(slots, false), large = tile_of(slots, true);
  int64_t few = large.products * tiles_of(&large, results),
          many = small.products * tiles_of(&small, results);
  return 5 * few <= 4 * many ? large : small;
}

/* The tile that gains the most where each launch transforms the weights. */
static Tile best_tile(const ConvSlots *slots, const int64_t results[2], int64_t *gain) {
  Tile small = tile_of(slots, false), large = tile_by_products(slots, results);
  int64_t by_small = slots->n * saved_by(&small, results) - cost_of_weights(slots, &small);
  int64_t by_large = slots->n * saved_by(&large, results) - cost_of_weights(slots, &large);
  *gain = greatest(by_small, by_large);
  return by_large > by_small ? large : small;
}

static bool saves_products(const ConvSlots *slots) {
  int64_t results[2], gain;
  two_axes(slots, slots->out, 1, results);
  best_tile(slots, results, &gain);
  return gain > 0;
}

/* Whether the gradient in the weights gains: its sums are over all tiles, and are transformed once. */
static bool sums_many_tiles(const ConvSlots *slots) {
  enum { NUMBER = 12 /* products */ };
  int64_t results[2];
  two_axes(slots, slots->out, 1, results);
  Tile tile = tile_by_products(slots, results);
  int64_t numbers = tile.taps[0] * tile.taps[1] + tile.products;
  return slots->n * saved_by(&tile, results) >= NUMBER * numbers;
}

/* Whether it gains where they are kept: one picture then reads of each as much as of a tap. */
static bool gains_if_kept(const ConvSlots *slots) {
  enum { LEAST_TILES = 16, MOST_WEIGHTS = 512 * 512 };
  int64_t results[2];
  two_axes(slots, slots->out, 1, results);
  Tile tile = tile_of(slots, false);
  return slots->c * slots->k <= MOST_WEIGHTS && slots->n == 1 &&
         tiles_of(&tile, results) >= LEAST_TILES;
}

/* Three or five taps along an axis, or one. */
static bool has_such_taps(const ConvSlots *slots) {
  if (slots->spatial > 2 || slots->groups != 1) return false;
  for (int i = 0; i < slots->spatial; i++)
    if (slots->stride[i] != 1 || (slots->kernel[i] > 1 && slots->dilation[i] != 1) ||
        (slots->kernel[i] != 1 && slots->kernel[i] != 3 && slots->kernel[i] != 5))
      return false;
  return extent_product(slots->kernel, slots->spatial) > 1;
}

bool winograd_gains(const ConvSlots *slots, bool is_weight) {
  enum { LEAST_OF_IMAGE = 4 /* tiles */ };
  if (!has_such_taps(slots) || slots->c % VECTOR != 0 || slots->k % VECTOR != 0) return false;
  if (slots->c < LEAST_CHANNELS || slots->k < LEAST_CHANNELS) return false;
  Tile tile = tile_of(slots, false);
  int64_t results[2];
  two_axes(slots, slots->out, 1, results);
  return tiles_of(&tile, results) >= LEAST_OF_IMAGE &&
         (is_weight ? sums_many_tiles(slots) : saves_products(slots) || gains_if_kept(slots));
}

/* One picture reads more transformed weights by large tiles, where they are kept. */
static Tile tile_of_kernel(const Kernel *kernel, const int64_t results[2]) {
  enum { MOST_KEPT = 128 * 128, LEAST_TILES = 16 };
  const ConvSlots *slots = &kernel->conv;
  Tile large = tile_by_products(slots, results);
  if (kernel->kind == KERNEL_CONV_WEIGHT) return large;
  if (!kernel->keeps_weights || slots->n > 1) return best_tile(slots, results, &(int64_t){0});
  bool gains = slots->c * slots->k <= MOST_KEPT && tiles_of(&large, results) >= LEAST_TILES;
  return gains ? large : tile_of(slots, false);
}

bool kernel_gains_by_winograd(const Kernel *kernel) {
  const ConvSlots *slots = &kernel->conv;
  bool is_weight = kernel->kind == KERNEL_CONV_WEIGHT;
  if (!slots->may_be_winograd || kernel->is_x3 || !conv_has_last(kernel, 0)) return false;
  if (kernel->operands[0].dtype != DTYPE_F32 || kernel->operands[1].dtype != DTYPE_F32 ||
      kernel_sum_type(kernel) != DTYPE_F32)
    return false;
  /* A block of a task loop, of few examples, makes the weights, or their sums, each time. */
  bool saves = saves_products(slots);
  if (kernel->is_serial && !saves) return false;
  if (!is_weight && !kernel->keeps_weights && gains_if_kept(slots) && !saves) return false;
  return !is_weight || conv_has_last(kernel, 1);
}

/* The other variants compute it directly. */
bool kernel_is_winograd(const Kernel *kernel) {
  return kernel->variant == 0 && kernel_gains_by_winograd(kernel);
}

typedef struct WinogradGrid {
  bool is_input, is_weight;
  int64_t sum, result; /* channels summed over, and of the result */
  int64_t places[2],
      results[2]; /* extents of the plane that is read through windows, of the other */
  int64_t low[2]; /* zeros before the places */
  Tile tile;
  int64_t tile_rows, tile_columns;
  int64_t rows, blocks; /* rows of tiles at a time, and how many such blocks has an image */
  int64_t images;       /* at a time, where one block is an image */
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

/* Channels of a task at most: it transforms all that it reads, and its sums are half of the second-level cache. */
enum { WEIGHT_ROWS = 64, WEIGHT_TASKS = 8 };

static int64_t weight_columns(const Tile *tile) { return tile->products > 16 ? 64 : 128; }

static int64_t even_block(int64_t channels, int64_t most) {
  return align_up(divide_up(channels, greatest(divide_up(channels, most), 1)), VECTOR);
}

/* Channels of a task: halves the most until there are enough tasks. */
static void cut_weights(WinogradGrid *grid, const ConvSlots *conv) {
  enum { LEAST = 32 };
  grid->pieces = greatest(conv->pieces, 1);
  grid->piece_images = conv->n / grid->pieces;
  grid->k_block = even_block(conv->k, WEIGHT_ROWS);
  grid->c_block = even_block(conv->c, weight_columns(&grid->tile));
  for (;;) {
    grid->k_blocks = divide_up(conv->k, grid->k_block);
    grid->c_blocks = divide_up(conv->c, grid->c_block);
    grid->tasks = grid->pieces * grid->k_blocks * grid->c_blocks;
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
  two_axes(slots, slots->out, 1, out);
  Tile tile = tile_by_products(slots, out);
  int64_t blocks = divide_up(slots->k, WEIGHT_ROWS) * divide_up(slots->c, weight_columns(&tile));
  int64_t results = slots->n * tile.size[0] * tile.size[1] * tiles_of(&tile, out);
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
static void cut_channels(WinogradGrid *grid, int64_t blocks, bool keeps_weights) {
  enum { TASKS = 16, LEAST = 32, PART_BYTES = 3 << 18 };
  grid->parts = 1;
  while ((keeps_weights || blocks == 1) && blocks * grid->parts * 2 <= TASKS &&
         grid->result % (grid->parts * 2 * LEAST) == 0)
    grid->parts *= 2;
  if (keeps_weights) return;
  int64_t most = grid->result / LEAST,
          channel = (int64_t)sizeof(float) * grid->tile.products * grid->sum;
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
                       .is_weight = kernel->kind == KERNEL_CONV_WEIGHT};
  grid.sum = grid.is_input ? conv->k : conv->c;
  grid.result = grid.is_input ? conv->c : conv->k;
  two_axes(conv, grid.is_input ? conv->out : conv->in, 1, grid.places);
  two_axes(conv, grid.is_input ? conv->in : conv->out, 1, grid.results);
  two_axes(conv, conv->low, 0, grid.low);
  grid.tile = tile_of_kernel(kernel, grid.results);
  for (int i = 0; i < 2 && grid.is_input; i++) grid.low[i] = grid.tile.taps[i] - 1 - grid.low[i];
  grid.tile_rows = divide_up(grid.results[0], grid.tile.size[0]);
  grid.tile_columns = divide_up(grid.results[1], grid.tile.size[1]);
  if (grid.is_weight) {
    cut_weights(&grid, conv);
    return grid;
  }
  enum { TASKS = 8, WIDTH = 3 * VECTOR /* of a panel at most */ };
  int64_t element = (int64_t)sizeof(float);
  int64_t images = greatest(conv->n / TASKS, 1),
          tile_bytes = element * grid.tile.products * grid.sum;
  cut_rows(&grid, images, tile_bytes, block_bytes(&grid, kernel->keeps_weights));
  cut_channels(&grid, divide_up(conv->n, grid.images) * grid.blocks, kernel->keeps_weights);
  int64_t part = grid.tile.products * panel_columns(grid.result / grid.parts) * grid.sum;
  if (kernel->is_tight && !kernel->keeps_weights)
    cut_rows(&grid, images, tile_bytes, least(BLOCK_BYTES, TIGHT_BYTES - part * element));
  grid.tasks = divide_up(conv->n, grid.images) * grid.blocks * grid.parts;
  grid.kept_bytes = align_64(grid.parts * part * element);
  int64_t count = grid.images * grid.rows * grid.tile_columns;
  int64_t floats = grid.tile.products * count * (grid.sum + VECTOR + WIDTH);
  if (!kernel->keeps_weights) floats += part;
  floats += grid.tile.size[0] * grid.tile.size[1] * grid.tile_columns * WIDTH;
  grid.bytes = align_64(floats * element);
  return grid;
}

int64_t winograd_tasks(const Kernel *kernel) { return winograd_grid(kernel).tasks; }
int64_t winograd_kept_bytes(const Kernel *kernel) { return winograd_grid(kernel).kept_bytes; }
int64_t winograd_worker_bytes(const Kernel *kernel) { return winograd_grid(kernel).bytes; }

static const char *line_epilogue(Arena *arena, KernelFunction *function, const WinogradGrid *grid) {
  Text text = {0};
  Code code = {.arena = arena, .out = &text};
  function_declare_axis(&code, function, 0, "image");
  function_declare_axis(&code, function, 2, "line");
  code_open(&code, "for (int64_t p = 0; p < %lld; p++)", (long long)grid->results[1]);
  if (function->kernel->conv.spatial > 1) function_declare_axis(&code, function, 3, "p");
  return epilogue_end_channels(&code, function, "row[p * width + c]", DTYPE_F32, TILE_COLUMNS);
}

/* A weight's axes: the piece, if there are any, the channels, the taps. */
static const char *taps_epilogue(Arena *arena, KernelFunction *function) {
  Text text = {0};
  Code code = {.arena = arena, .out = &text};
  int before = function->kernel->conv.pieces > 0;
  if (before) function_declare_axis(&code, function, 0, "piece");
  code_open(&code, "for (int64_t r = 0; r < rows; r++)");
  function_declare_axis(&code, function, before, "row + r");
  const ConvSlots *conv = &function->kernel->conv;
  const char *tap = function_open_plane(&code, before + 2, conv->spatial, conv->kernel);
  code_open(&code, "NNC_ROLLED for (int64_t c = 0; c < channels; c++)");
  function_declare_axis(&code, function, before + 1, "channel + c");
  const char *result = arena_printf(arena, "sums[((%s) * height + r) * width + c]", tap);
  return function_end_epilogue(&code, function, result, DTYPE_F32);
}

/* Statements that transform the weights that are kept, a task a panel, and return, where the worker is told to. */
static const char *fill_text(Arena *arena, const char *weights, long long column, const char *lie) {
  return arena_printf(
      arena,
      "if (worker->fills) {\n"
      "  NNC_TASKS(worker, PARTS * PANELS, panel) {\n"
      "    const int64_t of_part = panel %% PANELS * WIDTH, channel = panel / PANELS * PART + "
      "of_part;\n"
      "    nnc_winograd_pack(&(nnc_winograd_weights){\n"
      "        %s + channel * %lld, %s, nnc_least(WIDTH, PART - of_part), C, WIDTH,\n"
      "        packed + panel * ((int64_t)PRODUCTS * C * WIDTH)}, tile);\n"
      "  }\n"
      "  return;\n"
      "}\n",
      weights, column, lie);
}

/* How the weights lie, from the result's channel to the next, along the sum, from tap to tap. */
static void add_weights(const WinogradGrid *grid, const Kernel *kernel, const char *weights,
                        TemplateHoles *holes) {
  const ConvSlots *conv = &kernel->conv;
  bool is_last = conv_has_last(kernel, 1);
  int64_t taps = extent_product(conv->kernel, conv->spatial);
  int64_t row = conv->c * taps, channel = is_last ? 1 : taps;
  Arena *arena = holes->arena;
  long long column = (long long)(grid->is_input ? channel : row);
  const char *lie = arena_printf(
      arena, "%lld, %lld, %lld, %s", column, (long long)(grid->is_input ? row : channel),
      (long long)(is_last ? conv->c : 1), grid->is_input ? "true" : "false");
  bool is_kept = kernel->keeps_weights;
  template_add(holes, "PACKED_PLACE", is_kept ? "kept" : "(float *)worker->scratch");
  template_add(holes, "PACKED_PARTS", is_kept && grid->parts > 1 ? "PARTS][" : "");
  template_add(holes, "PACKED_AT",
               is_kept && grid->parts > 1 ? "(part * PANELS + panel)" : "panel");
  template_add(holes, "SOURCE_PLACE",
               is_kept ? "(float *)worker->scratch"
                       : "packed + (int64_t)PANELS * PRODUCTS * C * WIDTH");
  template_add(holes, "PACKED_PART",
               is_kept ? "" : "int64_t packed_part = -1; /* whose weights are transformed */\n");
  template_add(
      holes, "PACK",
      is_kept ? ""
              : arena_printf(arena,
                             "if (part != packed_part)\n"
                             "  nnc_winograd_pack(&(nnc_winograd_weights){\n"
                             "      %s + part * PART * %lld, %s, PART, C, WIDTH, packed}, tile);\n"
                             "packed_part = part;\n",
                             weights, column, lie));
  template_add(holes, "FILL", is_kept ? fill_text(arena, weights, column, lie) : "");
}

/* A share of the next product's weights for each tile of this one. */
static const char ahead_of_weights[] =
    "const nnc_ahead ahead = nnc_ahead_of_panel(\n"
    "    (uintptr_t)(weights + (p + 1) * ((int64_t)C * WIDTH)), NNC_AHEAD_BYTES,\n"
    "    (int64_t)sizeof(float) * C * WIDTH / NNC_AHEAD_BYTES, m / MR, GROUPS);\n";

/* Whether an operand lies so far away that asking for it early saves more than it costs. */
static bool is_far(const Kernel *kernel, int operand) {
  return kernel->operands[operand].elements * (int64_t)sizeof(float) > 2 * FAR_SIDE_BYTES;
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
      "    nnc_winograd_next(&done, %s, (int64_t[]){X0, X1}, C, C, %lld);\n";
  static const char fetch[] =
      "nnc_winograd_fetch(&next, (panel * PRODUCTS + p) * GROUPS + m / MR);\n";
  const Kernel *kernel = function->kernel;
  bool fetches = is_far(kernel, 0) && grid->parts == 1 && !kernel->keeps_weights;
  const char *text = arena_printf(holes->arena, next, function->operands[0],
                                  (long long)(grid->tile.taps[0] - 1 - grid->low[0]));
  add_next(holes, fetches ? text : "", fetches ? fetch : "");
}

static void add_next_of_piece(const WinogradGrid *grid, const KernelFunction *function,
                              TemplateHoles *holes) {
  static const char next[] =
      "const nnc_winograd_block done = {image, images, end, SIZE_0 * (first + own),\n"
      "                                 SIZE_0 * IMAGES * ROWS, (int64_t)PRODUCTS * PANELS * "
      "GROUPS};\n"
      "const nnc_winograd_ahead next_source =\n"
      "    nnc_winograd_next(&done, %s + channel, (int64_t[]){X0, X1}, C, CB, %lld);\n"
      "const nnc_winograd_ahead next_gradient =\n"
      "    nnc_winograd_next(&done, %s + row, (int64_t[]){P0, P1}, K, KB, 0);\n";
  static const char fetch[] = "const int64_t share = (p * PANELS + c / WIDTH) * GROUPS + m / MR;\n"
                              "nnc_winograd_fetch(&next_source, share);\n"
                              "nnc_winograd_fetch(&next_gradient, share);\n";
  const Kernel *kernel = function->kernel;
  bool fetches = is_far(kernel, 0) || is_far(kernel, 1);
  const char *text =
      arena_printf(holes->arena, next, function->operands[0],
                   (long long)(grid->tile.taps[0] - 1 - grid->low[0]), function->operands[1]);
  add_next(holes, fetches ? text : "", fetches ? fetch : "");
}

/* Channels that are summed at a time. What six points lose of the digits is half as much where pieces of a sum are
 * added up apart, which takes 1 to 4 % of the time. */
static int64_t piece_of_sum(const WinogradGrid *grid) {
  enum { MOST = 48, POINTS = 6 };
  bool has_many = false;
  for (int i = 0; i < 2; i++)
    has_many = has_many || grid->tile.taps[i] + grid->tile.size[i] - 1 == POINTS;
  return has_many ? divide_up(grid->sum, divide_up(grid->sum, MOST)) : grid->sum;
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
  template_add_integer(&holes, "N", conv->n);
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
  add_next_places(&grid, function, &holes);
  template_add_integer(&holes, "BLOCKS", grid.blocks);
  template_add_integer(&holes, "PARTS", grid.parts);
  template_add_integer(&holes, "PIECE", piece_of_sum(&grid));
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
