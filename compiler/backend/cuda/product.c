/* Fills codegen_templates/cuda/product*.cu: see product.h.
 *
 *   tiles    A block computes a tile of the result. It copies a part of both sides along the depth to the
 *            block's memory, from where each thread takes what its own rows and columns need. The tile is
 *            the largest of those with which every processor still has a block.
 *   points   Where there are few rows or columns, as in a depthwise convolution, a thread computes one
 *            element,
 *   sums     or a block does, where the depth is long.
 *
 * What tensor cores can do is theirs (tensor.h). */
#include "backend/cuda/product.h"

#include "backend/common/c.h"
#include "backend/cuda/tensor.h"
#include "support/integers.h"

typedef struct Tile {
  int rows, columns, depth; /* of the block, and of the part of the depth that it holds at a time */
  int thread_rows, thread_columns; /* of a thread */
} Tile;

static const Tile tiles[] = {
    {128, 128, 8, 8, 8}, {64, 64, 16, 4, 4}, {32, 32, 32, 2, 2}, {16, 16, 32, 1, 1}};
enum {
  TILE_COUNT = sizeof tiles / sizeof *tiles,
  ENOUGH_BLOCKS = PROCESSORS * 3 / 4,
  LONG_SUM = 1024 /* products of floats that are added up one after the other */
};

typedef enum Way { TILES, POINTS, SUMS, TENSOR } Way;

static Way choose_way(const Kernel *kernel, const ProductExtents *extents) {
  if (tensor_takes(kernel, extents)) return TENSOR;
  if (extents->rows >= PRODUCT_FEW && extents->columns >= PRODUCT_FEW) return TILES;
  return extents->depth >= PRODUCT_LONG_DEPTH ? SUMS : POINTS;
}

const char *product_loaded(Arena *arena, const KernelFunction *function,
                           const ProductExtents *extents, int operand, const char *at) {
  if (tensor_takes(function->kernel, extents))
    return arena_printf(arena, "%s[%s]", function->operands[operand], at);
  return cuda_loaded(arena, function, operand, at);
}

static int64_t results(const ProductExtents *extents) {
  return extent_product((int64_t[]){extents->batches, extents->rows, extents->columns}, 3);
}

int64_t product_tiles(const ProductExtents *extents, int rows, int columns) {
  int64_t down = divide_up(extents->rows, rows), across = divide_up(extents->columns, columns);
  return extent_product((int64_t[]){extents->batches, down, across}, 3);
}

/* Values of 8 bytes need twice the registers and memory; long sums, which are added up in parts,
 * twice the registers. */
static const Tile *choose_tile(const Kernel *kernel, const ProductExtents *extents) {
  int first = dtype_size(kernel_sum_type(kernel)) > 4 || extents->depth > LONG_SUM ? 1 : 0;
  for (int i = first; i < TILE_COUNT - 1; i++)
    if (product_tiles(extents, tiles[i].rows, tiles[i].columns) >= ENOUGH_BLOCKS) return &tiles[i];
  return &tiles[TILE_COUNT - 1];
}

CudaGrid product_grid(const Kernel *kernel, const ProductExtents *extents) {
  Way way = choose_way(kernel, extents);
  if (way == TENSOR) return tensor_grid(kernel, extents);
  if (way == POINTS) return cuda_grid_of_points(results(extents), 1);
  if (way == SUMS) return (CudaGrid){results(extents), USUAL_THREADS};
  const Tile *tile = choose_tile(kernel, extents);
  int threads = tile->rows / tile->thread_rows * (tile->columns / tile->thread_columns);
  return (CudaGrid){product_tiles(extents, tile->rows, tile->columns), threads};
}

/* "sums[r][c] += a[r] * b[c]"; integers wrap. */
static const char *add_text(Arena *arena, DType sum) {
  if (dtype_is_float(sum)) return "sums[r][c] += a[r] * b[c]";
  const char *type = c_type_name(sum);
  return arena_printf(arena, "sums[r][c] = nnc_add_%s(sums[r][c], nnc_mul_%s(a[r], b[c]))", type,
                      type);
}

static void add_tile(TemplateHoles *holes, const Tile *tile, const ProductText *text) {
  template_add_integer(holes, "ROWS", tile->rows);
  template_add_integer(holes, "COLUMNS", tile->columns);
  template_add_integer(holes, "DEPTH", tile->depth);
  template_add_integer(holes, "THREAD_ROWS", tile->thread_rows);
  template_add_integer(holes, "THREAD_COLUMNS", tile->thread_columns);
  template_add(holes, "LEFT_PLACE",
               text->depth_is_inner[0] ? "r = i / DEPTH, k = i % DEPTH"
                                       : "r = i % ROWS, k = i / ROWS");
  template_add(holes, "RIGHT_PLACE",
               text->depth_is_inner[1] ? "c = i / DEPTH, k = i % DEPTH"
                                       : "c = i % COLUMNS, k = i / COLUMNS");
  template_add_integer(holes, "GROUP", least(least(tile->thread_rows, tile->thread_columns), 4));
}

/* Long sums of floats: in tiles the parts of LONG_SUM products are added up apart. */
static void add_parts(TemplateHoles *holes, bool is_long) {
  static const char take[] = "sums[r][c] += totals[r][c];";
  static const char add[] = "if ((first + DEPTH) % LONG_SUM == 0)\n"
                            "  NNC_UNROLL for (int r = 0; r < MINE_ROWS; r++)\n"
                            "    NNC_UNROLL for (int c = 0; c < MINE_COLUMNS; c++) {\n"
                            "      totals[r][c] += sums[r][c];\n"
                            "      sums[r][c] = 0;\n"
                            "    }";
  template_add(holes, "TAKE_TOTALS", is_long ? take : "");
  template_add(holes, "BEGIN_TOTALS", is_long ? "totals[r][c] = 0;" : "");
  template_add(holes, "DECLARE_TOTALS", is_long ? ", totals[MINE_ROWS][MINE_COLUMNS]" : "");
  template_add(holes, "ADD_TOTALS", is_long ? add : "");
  template_add(holes, "LONG_SUM",
               is_long ? arena_printf(holes->arena, ", LONG_SUM = %d", LONG_SUM) : "");
}

void product_write(Code *code, KernelFunction *function, const ProductExtents *extents,
                   const ProductText *text) {
  static const char *const templates[] = {[TILES] = "codegen_templates/cuda/product.cu",
                                          [POINTS] = "codegen_templates/cuda/product_points.cu",
                                          [SUMS] = "codegen_templates/cuda/product_sums.cu"};
  Way way = choose_way(function->kernel, extents);
  if (way == TENSOR) {
    tensor_write(code, function, extents, text);
    return;
  }
  DType sum = kernel_sum_type(function->kernel);
  TemplateHoles holes = {.arena = code->arena};
  template_add(&holes, "TYPE", c_value_type(sum));
  template_add(&holes, "INDEX", text->index_type);
  template_add_integer(&holes, "M", extents->rows);
  template_add_integer(&holes, "N", extents->columns);
  template_add_integer(&holes, "K", extents->depth);
  template_add_integer(&holes, "POINTS", results(extents));
  template_add_integer(&holes, "THREADS", USUAL_THREADS);
  template_add(&holes, "LEFT", text->sides[0]);
  template_add(&holes, "RIGHT", text->sides[1]);
  template_add(&holes, "ADD", add_text(code->arena, sum));
  template_add(&holes, "WIDE", sum == DTYPE_F32 ? "double" : c_value_type(sum));
  template_add(&holes, "WIDE_NAME", sum == DTYPE_F32 ? "f64" : c_type_name(sum));
  template_add(&holes, "EPILOGUE", text->epilogue);
  Text element = {0};
  if (way != TILES) template_render(&element, "codegen_templates/cuda/product_element.cu", &holes);
  template_add(&holes, "ADD_ELEMENT", text_take(&element, code->arena));
  if (way == TILES) add_tile(&holes, choose_tile(function->kernel, extents), text);
  add_parts(&holes, dtype_is_float(sum) && extents->depth > LONG_SUM);
  template_render(code->out, templates[way], &holes);
}
