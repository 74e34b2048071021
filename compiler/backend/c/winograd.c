/* Winograd's minimal filtering as C: fills codegen_templates/winograd.c, of a convolution and its adjoint in
 * the input, which is a convolution with its taps turned, and winograd_weight.c. */
#include "backend/c/winograd.h"

#include "backend/c/tiles.h"
#include "backend/c/window.h"
#include "backend/common/c.h"
#include "support/integers.h"

enum {
  VECTOR = 16,          /* channels come in whole vectors of any instruction set */
  LEAST_CHANNELS = 32,  /* fewer: transforming takes as long as multiplying */
  MOST_TILES = 64,      /* of a task at a time: what it works on stays in the second-level cache */
  TILE_BYTES = 6 << 10, /* of one, for fewer of them where there are many channels */
  PRODUCTS = 16,
  TAPS = 9
};

bool winograd_gains(const ConvSlots *slots) {
  enum { LEAST_TILES = 48, LEAST_OF_IMAGE = 4, MOST_WEIGHTS = 256 * 256 };
  if (slots->spatial != 2 || slots->groups != 1 || slots->pieces != 0) return false;
  for (int i = 0; i < 2; i++)
    if (slots->kernel[i] != 3 || slots->stride[i] != 1 || slots->dilation[i] != 1) return false;
  if (slots->c % VECTOR != 0 || slots->k % VECTOR != 0) return false;
  int64_t tiles = divide_up(slots->out[0], 2) * divide_up(slots->out[1], 2);
  return slots->c >= LEAST_CHANNELS && slots->k >= LEAST_CHANNELS &&
         slots->c * slots->k <= MOST_WEIGHTS && tiles >= LEAST_OF_IMAGE &&
         slots->n * tiles >= LEAST_TILES;
}

bool kernel_is_winograd(const Kernel *kernel) {
  bool is_weight = kernel->kind == KERNEL_CONV_WEIGHT;
  if (!kernel->conv.may_be_winograd || kernel->is_serial || kernel->is_x3 ||
      !conv_has_last(kernel, 0))
    return false;
  if (kernel->operands[0].dtype != DTYPE_F32 || kernel->operands[1].dtype != DTYPE_F32 ||
      kernel_sum_type(kernel) != DTYPE_F32)
    return false;
  return !is_weight || conv_has_last(kernel, 1);
}

typedef struct WinogradGrid {
  bool is_input, is_weight;
  int64_t sum, result; /* channels summed over, and of the result */
  const int64_t *places,
      *results; /* extents of the plane that is read through windows, of the other */
  int64_t tile_rows, tile_columns;
  int64_t rows, blocks; /* rows of tiles at a time, and how many such blocks has an image */
  int64_t images;       /* at a time, where one block is an image */
  int64_t k_block, c_block, k_blocks, c_blocks; /* conv_weight: channels of a task */
  int64_t tasks, bytes;
  int64_t kept_bytes; /* of the transformed weights */
} WinogradGrid;

/* Rows of tiles at a time, or whole images, for so many bytes a tile. */
static void cut_rows(WinogradGrid *grid, int64_t images, int64_t tile_bytes) {
  int64_t most = greatest(MOST_TILES * TILE_BYTES / greatest(tile_bytes, TILE_BYTES), 8);
  grid->rows = greatest(1, least(grid->tile_rows, most / grid->tile_columns));
  grid->blocks = divide_up(grid->tile_rows, grid->rows);
  grid->rows = divide_up(grid->tile_rows, grid->blocks);
  grid->images = grid->blocks > 1 ? 1 : most / (grid->tile_rows * grid->tile_columns);
  grid->images = greatest(1, least(grid->images, images));
}

/* Halves the channels of a task until there are enough tasks. */
static void cut_weights(WinogradGrid *grid, const ConvSlots *conv) {
  enum { ROWS = 32, LEAST = 32, TASKS = 8 };
  grid->k_block = least(conv->k, ROWS);
  grid->k_blocks = divide_up(conv->k, grid->k_block);
  grid->c_blocks = 1;
  grid->c_block = conv->c;
  while (grid->k_blocks * grid->c_blocks < TASKS && grid->c_block > LEAST) {
    grid->c_block = align_up(divide_up(grid->c_block, 2), VECTOR);
    grid->c_blocks = divide_up(conv->c, grid->c_block);
  }
  cut_rows(grid, conv->n, (int64_t)sizeof(float) * PRODUCTS * (grid->c_block + grid->k_block));
  int64_t count = grid->images * grid->rows * grid->tile_columns;
  int64_t own = grid->k_block * grid->c_block;
  int64_t floats = PRODUCTS * (count * (grid->c_block + grid->k_block + 2 * VECTOR) + own);
  grid->bytes = align_64((floats + TAPS * own) * (int64_t)sizeof(float));
  grid->tasks = grid->k_blocks * grid->c_blocks;
}

static WinogradGrid winograd_grid(const Kernel *kernel) {
  const ConvSlots *conv = &kernel->conv;
  WinogradGrid grid = {.is_input = kernel->kind == KERNEL_CONV_INPUT,
                       .is_weight = kernel->kind == KERNEL_CONV_WEIGHT};
  grid.sum = grid.is_input ? conv->k : conv->c;
  grid.result = grid.is_input ? conv->c : conv->k;
  grid.places = grid.is_input ? conv->out : conv->in;
  grid.results = grid.is_input ? conv->in : conv->out;
  grid.tile_rows = divide_up(grid.results[0], 2);
  grid.tile_columns = divide_up(grid.results[1], 2);
  if (grid.is_weight) {
    cut_weights(&grid, conv);
    return grid;
  }
  enum { TASKS = 8 }; /* at least so many, if there are so many images */
  int64_t tile_bytes = (int64_t)sizeof(float) * PRODUCTS * grid.sum;
  cut_rows(&grid, greatest(conv->n / TASKS, 1), tile_bytes);
  /* Panels are of at most 3 vectors of 16, and rounded up by less than a vector each. */
  int64_t count = grid.images * grid.rows * grid.tile_columns, width = 3 * VECTOR;
  int64_t columns = grid.result + grid.result / 2 + 4 * VECTOR;
  grid.kept_bytes = align_64(PRODUCTS * columns * grid.sum * (int64_t)sizeof(float));
  int64_t floats = PRODUCTS * count * (grid.sum + VECTOR + width);
  if (!kernel->keeps_weights) floats += PRODUCTS * columns * grid.sum;
  floats += 4 * grid.tile_columns * width;
  grid.bytes = align_64(floats * (int64_t)sizeof(float));
  grid.tasks = divide_up(conv->n, grid.images) * grid.blocks;
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
  function_declare_axis(&code, function, 3, "p");
  code_open(&code, "NNC_ROLLED for (int64_t c = 0; c < channels; c++)");
  function_declare_axis(&code, function, 1, "channel + c");
  return function_end_epilogue(&code, function, "row[p * width + c]", DTYPE_F32);
}

static const char *taps_epilogue(Arena *arena, KernelFunction *function) {
  Text text = {0};
  Code code = {.arena = arena, .out = &text};
  code_open(&code, "for (int64_t r = 0; r < rows; r++)");
  function_declare_axis(&code, function, 0, "row + r");
  const char *tap = function_open_plane(&code, 2, (int64_t[]){3, 3});
  code_open(&code, "NNC_ROLLED for (int64_t c = 0; c < channels; c++)");
  function_declare_axis(&code, function, 1, "channel + c");
  const char *result = arena_printf(arena, "sums[((%s) * height + r) * width + c]", tap);
  return function_end_epilogue(&code, function, result, DTYPE_F32);
}

/* Statements that transform the weights that are kept, a task a panel, and return, where the worker is told to. */
static const char *fill_text(Arena *arena, const char *weights, long long column, const char *lie) {
  return arena_printf(
      arena,
      "if (worker->fills) {\n"
      "  NNC_TASKS(worker, PANELS, panel)\n"
      "    nnc_winograd_pack(&(nnc_winograd_weights){\n"
      "        %s + panel * WIDTH * %lld, %s, nnc_least(WIDTH, K - panel * WIDTH),\n"
      "        C, WIDTH, packed + panel * ((int64_t)16 * C * WIDTH)});\n"
      "  return;\n"
      "}\n",
      weights, column, lie);
}

/* How the weights lie, from the result's channel to the next, along the sum, from tap to tap. */
static void add_weights(const WinogradGrid *grid, const Kernel *kernel, const char *weights,
                        TemplateHoles *holes) {
  const ConvSlots *conv = &kernel->conv;
  bool is_last = conv_has_last(kernel, 1);
  int64_t row = conv->c * TAPS, channel = is_last ? 1 : TAPS;
  Arena *arena = holes->arena;
  long long column = (long long)(grid->is_input ? channel : row);
  const char *lie = arena_printf(
      arena, "%lld, %lld, %lld, %s", column, (long long)(grid->is_input ? row : channel),
      (long long)(is_last ? conv->c : 1), grid->is_input ? "true" : "false");
  bool is_kept = kernel->keeps_weights;
  template_add(holes, "PACKED_PLACE", is_kept ? "kept" : "(float *)worker->scratch");
  template_add(holes, "SOURCE_PLACE",
               is_kept ? "(float *)worker->scratch" : "packed + (int64_t)PANELS * 16 * C * WIDTH");
  template_add(holes, "IS_PACKED", is_kept ? "" : "bool is_packed = false;\n");
  template_add(
      holes, "PACK",
      is_kept ? ""
              : arena_printf(
                    arena,
                    "if (!is_packed)\n"
                    "  nnc_winograd_pack(&(nnc_winograd_weights){%s, %s, K, C, WIDTH, packed});\n"
                    "is_packed = true;\n",
                    weights, lie));
  template_add(holes, "FILL", is_kept ? fill_text(arena, weights, column, lie) : "");
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
    int64_t low = grid.is_input ? 2 - conv->low[i] : conv->low[i];
    template_add_integer(&holes, arena_printf(code->arena, "LOW_%d", i), low);
    template_add_integer(&holes, arena_printf(code->arena, "X%d", i), grid.places[i]);
    template_add_integer(&holes, arena_printf(code->arena, "P%d", i), grid.results[i]);
  }
  if (grid.is_weight) {
    template_add(&holes, "GRADIENT", function->operands[1]);
    template_add_integer(&holes, "KB", grid.k_block);
    template_add_integer(&holes, "CB", grid.c_block);
    template_add_integer(&holes, "K_BLOCKS", grid.k_blocks);
    template_add_integer(&holes, "C_BLOCKS", grid.c_blocks);
    function_add_epilogue(&holes, function, taps_epilogue(code->arena, function));
    template_render(code->out, "codegen_templates/winograd_weight.c", &holes);
    return;
  }
  add_weights(&grid, kernel, function->operands[1], &holes);
  template_add_integer(&holes, "BLOCKS", grid.blocks);
  function_add_epilogue(&holes, function, line_epilogue(code->arena, function, &grid));
  template_render(code->out, "codegen_templates/winograd.c", &holes);
}
