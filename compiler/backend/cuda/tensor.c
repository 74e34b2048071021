/* Fills codegen_templates/cuda/product_tensor.cu: see tensor.h. The sides come to the block's
 * memory in one of two ways, each in one of two layouts (nnc_cuda_tile.h):
 *
 *   copied     A side that lies in memory as runs of 16 bytes at addresses of that alignment is
 *              copied by the machine while the threads multiply what has arrived: a matrix
 *              (tensor_copy.cu), or runs in places of their own (tensor_runs.cu).
 *   gathered   Any other, such as the patches of few channels, is read element by element before
 *              the threads multiply, and written to the block's memory after (tensor_gather.cu,
 *              tensor_keep.cu).
 *
 *   by rows    where neighbours along the depth are neighbours in memory,
 *   by depths  where neighbours along the other axis are. */
#include "backend/cuda/tensor.h"

#include "backend/common/c.h"
#include "support/integers.h"
#include "support/panic.h"

/* A block's part of the result, and what of it a warp has. Small tiles have several slices of
 * warps, which share the depth, so that enough of them run. `chunks` of the depth are held at a
 * time, in `stages` parts: together at most 48 KB, which every machine gives a block. `cost` is the
 * time for a piece of the depth, relative to others: smaller tiles read the sides more often. */
typedef struct TensorTile {
  int rows, columns, warp_rows, warp_columns, slices, chunks, stages, cost;
} TensorTile;

static const TensorTile tiles[] = {
    {128, 128, 64, 32, 1, 4, 3, 100}, {128, 64, 64, 32, 2, 4, 4, 56},
    {64, 128, 32, 64, 2, 4, 4, 56},   {64, 64, 32, 32, 2, 8, 3, 32},
    {32, 32, 16, 32, 4, 8, 4, 12},
};
enum {
  TILE_COUNT = sizeof tiles / sizeof *tiles,
  FEWEST = 8,       /* rows and columns */
  LEAST_DEPTH = 16, /* of one product of the machine's */
};

bool tensor_takes(const Kernel *kernel, const ProductExtents *extents) {
  DType left = kernel->operands[0].dtype, right = kernel->operands[1].dtype;
  bool has_units = dtype_is_half(left) || (left == DTYPE_F32 && kernel->is_tf32);
  return has_units && left == right && kernel_sum_type(kernel) == DTYPE_F32 &&
         extents->rows >= FEWEST && extents->columns >= FEWEST && extents->depth >= LEAST_DEPTH;
}

/* The one that is through first: the processors take blocks in turns. */
static const TensorTile *choose_tile(const ProductExtents *extents) {
  const TensorTile *best = NULL;
  double least = 0;
  for (int i = 0; i < TILE_COUNT; i++) {
    double turns =
        (double)divide_up(product_tiles(extents, tiles[i].rows, tiles[i].columns), PROCESSORS);
    if (best && turns * tiles[i].cost >= least) continue;
    best = &tiles[i];
    least = turns * tiles[i].cost;
  }
  return best;
}

double tensor_time(const ProductExtents *extents) {
  const TensorTile *tile = choose_tile(extents);
  return (double)divide_up(product_tiles(extents, tile->rows, tile->columns), PROCESSORS) *
         tile->cost;
}

static int tile_threads(const TensorTile *tile) {
  return tile->rows / tile->warp_rows * (tile->columns / tile->warp_columns) * tile->slices * WARP;
}

CudaGrid tensor_grid(const Kernel *kernel, const ProductExtents *extents) {
  CHECK(tensor_takes(kernel, extents));
  const TensorTile *tile = choose_tile(extents);
  return (CudaGrid){product_tiles(extents, tile->rows, tile->columns), tile_threads(tile)};
}

/* ---- what is written ---- */

/* A side: 0 the left one. */
typedef struct Side {
  int number;
  bool by_rows;
  int each;   /* elements of a chunk */
  int outer;  /* rows or columns of the tile */
  int chunks; /* of a row of its part */
} Side;

static Side side_of(const Kernel *kernel, const TensorTile *tile, const ProductText *text,
                    int number) {
  int each = TENSOR_CHUNK / (int)dtype_size(kernel->operands[number].dtype);
  int outer = number == 0 ? tile->rows : tile->columns;
  bool by_rows = text->depth_is_inner[number];
  return (Side){number, by_rows, each, outer, by_rows ? tile->chunks : outer / each};
}

/* Of numbers of 4 bytes that lie by depths, fragments are read one by one. */
static bool is_wide(const Side *side) { return side->each == 4 && !side->by_rows; }

/* How a side is fetched. */
typedef struct Fetch {
  const char *file;
  bool is_copied;
} Fetch;
enum { MATRIX, RUNS, GATHERED };
static const Fetch fetches[] = {
    [MATRIX] = {"tensor_copy", true},
    [RUNS] = {"tensor_runs", true},
    [GATHERED] = {"tensor_gather", false},
};

static int fetch_of(const ProductText *text, int number) {
  return text->matrices[number] ? MATRIX : text->runs[number] ? RUNS : GATHERED;
}

/* Renders one of the templates for the fetching of a side. */
static const char *side_text(Arena *arena, const KernelFunction *function, const Side *side,
                             const ProductText *text, const char *name) {
  const Fetch *fetch = &fetches[fetch_of(text, side->number)];
  bool is_left = side->number == 0;
  const char *along = fetch->is_copied ? "at * EACH" : "at + e";
  TemplateHoles holes = {.arena = arena};
  template_add(&holes, "SIDE", is_left ? "left" : "right");
  template_add(&holes, "INDEX", text->index_type);
  template_add(&holes, "TYPE",
               c_storage_type(function->kernel->operands[text->operands[side->number]].dtype));
  template_add(&holes, "OUTER", is_left ? "ROWS" : "COLUMNS");
  template_add(&holes, "OUTER_EXTENT", is_left ? "M" : "N");
  template_add(&holes, "FIRST_OUTER", is_left ? "first_row" : "first_column");
  template_add(&holes, "OUTER_PLACE", side->by_rows ? "line" : along);
  template_add(&holes, "DEPTH_PLACE", side->by_rows ? along : "line");
  template_add(&holes, "ACROSS_IS_INSIDE",
               !side->by_rows ? "depth < K"
               : is_left      ? "outer < M"
                              : "outer < N");
  template_add(&holes, "ALONG_LEFT",
               side->by_rows ? "K - depth"
               : is_left     ? "M - outer"
                             : "N - outer");
  template_add(&holes, "PLACE", is_wide(side) ? "nnc_place_wide" : "nnc_place");
  template_add_integer(&holes, "CHUNKS", side->chunks);
  template_add(&holes, "OPERAND", function->operands[text->operands[side->number]]);
  const char *const elements[] = {text->matrices[side->number], text->runs[side->number],
                                  text->sides[side->number]};
  template_add(&holes, "ELEMENT", elements[fetch_of(text, side->number)]);
  Text out = {0};
  template_render(&out, arena_printf(arena, "codegen_templates/cuda/%s.cu", name), &holes);
  return text_take(&out, arena);
}

static void add_side(TemplateHoles *holes, const KernelFunction *function, const Side *side,
                     const ProductText *text) {
  static const char *const layouts[] = {"by_depths", "by_depths_wide", "by_rows"};
  Arena *arena = holes->arena;
  bool is_left = side->number == 0;
  const char *name = is_left ? "LEFT" : "RIGHT";
  const Fetch *way = &fetches[fetch_of(text, side->number)];
  const char *fetch = side_text(arena, function, side, text, way->file);
  const char *keep = way->is_copied ? "" : side_text(arena, function, side, text, "tensor_keep");
  template_add(holes, arena_printf(arena, "%s_FETCH", name), fetch);
  template_add(holes, arena_printf(arena, "%s_KEEP", name), keep);
  template_add(holes, arena_printf(arena, "%s_LAYOUT", name),
               layouts[side->by_rows ? 2 : is_wide(side)]);
  template_add_integer(holes, arena_printf(arena, "%s_STEP", name),
                       side->by_rows ? 2 : 2 * side->each);
  template_add_integer(holes, arena_printf(arena, "%s_CHUNKS", name), side->chunks);
  const char *round = is_left ? "nnc_round_tf32(a[r]);" : "nnc_round_tf32(b[c]);";
  template_add(holes, arena_printf(arena, "%s_ROUND", name), side->each == 4 ? round : "");
}

/* The slices of a page meet after a barrier of the block. */
static void add_slices(TemplateHoles *holes, const TensorTile *tile) {
  static const char add[] =
      "for (int s = 1; s < SLICES; s++) sum += pages[s * WARPS * PAGE + place];";
  template_add_integer(holes, "SLICES", tile->slices);
  template_add(holes, "PAGE_BARRIER", tile->slices > 1 ? "nnc_sync();" : "nnc_sync_warp();");
  template_add(holes, "ADD_SLICES", tile->slices > 1 ? add : "");
}

const char *tensor_mma_name(DType dtype) {
  return dtype == DTYPE_BF16 ? "bf16" : dtype == DTYPE_F16 ? "f16" : "tf32";
}

void tensor_write(Code *code, KernelFunction *function, const ProductExtents *extents,
                  const ProductText *text) {
  const Kernel *kernel = function->kernel;
  const TensorTile *tile = choose_tile(extents);
  TemplateHoles holes = {.arena = code->arena};
  int each = 0;
  for (int number = 0; number < 2; number++) {
    Side side = side_of(kernel, tile, text, number);
    add_side(&holes, function, &side, text);
    each = side.each;
  }
  template_add(&holes, "INDEX", text->index_type);
  template_add_integer(&holes, "M", extents->rows);
  template_add_integer(&holes, "N", extents->columns);
  template_add_integer(&holes, "K", extents->depth);
  template_add_integer(&holes, "ROWS", tile->rows);
  template_add_integer(&holes, "COLUMNS", tile->columns);
  template_add_integer(&holes, "DEPTH", tile->chunks * each);
  template_add_integer(&holes, "WARP_ROWS", tile->warp_rows);
  template_add_integer(&holes, "WARP_COLUMNS", tile->warp_columns);
  template_add_integer(&holes, "STAGES", tile->stages);
  add_slices(&holes, tile);
  template_add_integer(&holes, "EACH", each);
  template_add(&holes, "MMA", tensor_mma_name(kernel->operands[0].dtype));
  template_add(&holes, "EPILOGUE", text->epilogue);
  template_render(code->out, "codegen_templates/cuda/product_tensor.cu", &holes);
}
