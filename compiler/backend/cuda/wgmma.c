/* Fills codegen_templates/cuda/product_wgmma.cu: see wgmma.h. */
#include "backend/cuda/wgmma.h"

#include "backend/cuda/images.h"
#include "backend/cuda/tensor.h"
#include "support/integers.h"
#include "support/panic.h"

/* A block's part of the result, with the names of the template. `cost`: as in tensor.c, where the
 * largest tile has 100; `tail`: the depth that takes as long as the epilogue, where nobody multiplies
 * meanwhile. Without a GPU they are guesses from what is known of others' kernels. */
typedef struct WgmmaTile {
  int rows, columns, turns, stages, cost, tail;
} WgmmaTile;

static const WgmmaTile tiles[] = {{128, 256, 1, 4, 72, 480}, {128, 128, 2, 6, 40, 0}};

enum {
  TILE_COUNT = sizeof tiles / sizeof *tiles,
  THREADS = 3 * 128,
  ROW = 128, /* bytes of a box's row */
  BOX = 64,  /* rows or columns of a box by depths, and of half a tile */
  PAGES = 8 * 16 * (32 + 8) * 4,
  BARRIER = 8,
  ROWS_AHEAD = 4, /* rows whose epilogues wait for memory side by side, where none is outside */
  FEWEST = 64     /* rows, columns, depths: less fills no tile */
};

/* ---- the sides ---- */

typedef struct Axis {
  int64_t extent, stride;
  int64_t below;  /* digits of the group's number that come after */
  const char *at; /* in the tensor, as text; NULL: of the batch */
  int64_t box;    /* 0: the tile */
} Axis;

typedef struct Axes {
  int count;
  Axis items[MAX_RANK];
} Axes;

typedef struct Side {
  bool by_rows;
  int rank;
  Axis axes[CUDA_MAP_AXES]; /* the one whose elements lie together first, then by strides */
} Side;

/* The axes of a group in an operand, the last first, those that lie as one joined; without those
 * along which it does not move. */
static Axes join_axes(const AxisGroup *group, int slot) {
  Axes axes = {0};
  int64_t below = 1;
  for (int i = group->count - 1; i >= 0; i--) {
    Axis axis = {.extent = group->extent[i], .stride = group->stride[slot][i], .below = below};
    Axis *last = axes.count ? &axes.items[axes.count - 1] : NULL;
    below *= axis.extent;
    if (axis.extent == 1 || axis.stride == 0) continue;
    if (last && last->below * last->extent == axis.below &&
        last->stride * last->extent == axis.stride)
      last->extent *= axis.extent;
    else axes.items[axes.count++] = axis;
  }
  return axes;
}

static bool insert(Side *side, Axis axis) {
  int at = side->rank;
  if (at == CUDA_MAP_AXES) return false;
  for (; at > 1 && side->axes[at - 1].stride > axis.stride; at--)
    side->axes[at] = side->axes[at - 1];
  side->axes[at] = axis;
  side->rank++;
  return true;
}

/* What the driver's manual wants of a map's strides and extents (cuTensorMapEncodeTiled). */
static bool can_be_mapped(const Side *side, int64_t size) {
  for (int i = 0; i < side->rank; i++) {
    const Axis *axis = &side->axes[i], *before = axis - 1;
    if (axis->extent > INT32_MAX) return false;
    if (i == 0) continue;
    bool is_row = i == 1; /* whose rows may have bytes between them */
    if (axis->stride * size % 16 != 0 || axis->stride * size >= (int64_t)1 << 40 ||
        axis->stride < before->stride * before->extent ||
        (!is_row && axis->stride % before->stride != 0))
      return false;
  }
  return true;
}

/* The axes in the order of the map. False where TMA does not take them. */
static bool find_side(const KernelFunction *function, const ProductExtents *extents, int number,
                      Side *side) {
  const ContractSlots *slots = &function->kernel->contract;
  int64_t size = dtype_size(function->kernel->operands[number].dtype), each = ROW / size;
  Axes depth = join_axes(&slots->k, number);
  Axes outer = join_axes(number == 0 ? &slots->m : &slots->n, number);
  Axes batch = join_axes(&slots->batch, number);
  if (depth.count != 1 || depth.items[0].extent != extents->depth || outer.count != 1 ||
      outer.items[0].extent != (number == 0 ? extents->rows : extents->columns) ||
      function->alignments[number] < TENSOR_CHUNK)
    return false;
  Axis along = depth.items[0], across = outer.items[0];
  along.at = "depth";
  across.at = number == 0 ? "first_row" : "first_column";
  *side = (Side){.by_rows = along.stride == 1, .rank = 1};
  along.box = each;
  across.box = side->by_rows ? 0 : BOX;
  side->axes[0] = side->by_rows ? along : across;
  bool fits = side->axes[0].stride == 1 && insert(side, side->by_rows ? across : along);
  for (int i = 0; i < batch.count && fits; i++) {
    batch.items[i].box = 1;
    fits = insert(side, batch.items[i]);
  }
  return fits && can_be_mapped(side, size);
}

/* ---- the plan ---- */

typedef struct Plan {
  const WgmmaTile *tile;
  int64_t tiles;
  Side sides[2];
} Plan;

/* A tile that beats the best of those of tensor.h; NULL: none does. */
static const WgmmaTile *choose_tile(const ProductExtents *extents) {
  const WgmmaTile *best = NULL;
  double least = tensor_time(extents);
  for (int i = 0; i < TILE_COUNT; i++) {
    double turns =
        (double)divide_up(product_tiles(extents, tiles[i].rows, tiles[i].columns), PROCESSORS);
    double time = turns * tiles[i].cost * (1 + (double)tiles[i].tail / (double)extents->depth);
    if (time >= least) continue;
    best = &tiles[i];
    least = time;
  }
  return best;
}

static bool find_plan(const KernelFunction *function, const ProductExtents *extents, Plan *plan) {
  if (!cuda_has_architecture(function->options, "sm_90a") ||
      !tensor_takes(function->kernel, extents) || extents->rows < FEWEST ||
      extents->columns < FEWEST || extents->depth < FEWEST || extents->batches > INT32_MAX)
    return false;
  for (int i = 0; i < 2; i++)
    if (!find_side(function, extents, i, &plan->sides[i])) return false;
  bool is_wide = dtype_size(function->kernel->operands[0].dtype) == 4;
  if (is_wide && !(plan->sides[0].by_rows && plan->sides[1].by_rows)) return false;
  plan->tile = choose_tile(extents);
  if (plan->tile) plan->tiles = product_tiles(extents, plan->tile->rows, plan->tile->columns);
  return plan->tile != NULL;
}

static int tile_outer(const WgmmaTile *tile, int number) {
  return number == 0 ? tile->rows : tile->columns;
}

bool wgmma_find_form(const KernelFunction *function, const ProductExtents *extents,
                     CudaForm *form) {
  Plan plan;
  if (!find_plan(function, extents, &plan)) return false;
  const WgmmaTile *tile = plan.tile;
  *form = (CudaForm){.tiles = plan.tiles, .threads = THREADS};
  form->shared = tile->stages * ((int64_t)(tile->rows + tile->columns) * ROW + 2 * BARRIER) +
                 PAGES + 2 * BARRIER;
  for (int number = 0; number < 2; number++) {
    CudaMap *map = &form->maps[number];
    map->rank = plan.sides[number].rank;
    for (int i = 0; i < map->rank; i++) {
      const Axis *axis = &plan.sides[number].axes[i];
      map->extent[i] = axis->extent;
      map->stride[i] = axis->stride;
      map->box[i] = axis->box ? axis->box : tile_outer(tile, number);
    }
  }
  return true;
}

/* ---- what is written ---- */

/* "batch / 12 % 4" */
static const char *batch_text(Arena *arena, const Axis *axis, int64_t batches) {
  const char *text = "batch";
  if (axis->below > 1) text = arena_printf(arena, "%s / %lld", text, (long long)axis->below);
  if (axis->below * axis->extent < batches)
    text = arena_printf(arena, "%s %% %lld", text, (long long)axis->extent);
  return text;
}

/* The statements that begin to copy a side's part of a stage. */
static const char *boxes_text(Arena *arena, const Side *side, int number, int64_t batches) {
  const char *name = number == 0 ? "left" : "right", *at = "";
  for (int i = 0; i < side->rank; i++) {
    const Axis *axis = &side->axes[i];
    const char *place = axis->at ? axis->at : batch_text(arena, axis, batches);
    if (i == 0 && !side->by_rows) place = arena_printf(arena, "%s + b * 64", place);
    at = arena_printf(arena, "%s%s%s", at, i ? ", " : "", place);
  }
  at = arena_printf(arena, "nnc_box_place<%d>{{%s}}", side->rank, at);
  if (side->by_rows)
    return arena_printf(arena, "nnc_box_begin(%s, &%s_map, arrived, %s);", name, name, at);
  return arena_printf(arena,
                      "NNC_UNROLL for (int b = 0; b < %s / 64; b++)\n"
                      "  nnc_box_begin(%s + b * BOX, &%s_map, arrived,\n"
                      "                %s);",
                      number == 0 ? "ROWS" : "COLUMNS", name, name, at);
}

static void add_sides(TemplateHoles *holes, const Plan *plan, int64_t batches) {
  enum { STEP_BY_ROWS = 32, STEP_BY_DEPTHS = 16 * ROW };
  static const char *const names[] = {"LEFT", "RIGHT"};
  for (int i = 0; i < 2; i++) {
    const Side *side = &plan->sides[i];
    template_add(holes, arena_printf(holes->arena, "%s_BOXES", names[i]),
                 boxes_text(holes->arena, side, i, batches));
    template_add(holes, arena_printf(holes->arena, "%s_BY_DEPTHS", names[i]),
                 side->by_rows ? "false" : "true");
    template_add_integer(holes, arena_printf(holes->arena, "%s_STEP", names[i]),
                         side->by_rows ? STEP_BY_ROWS : STEP_BY_DEPTHS);
  }
}

void wgmma_write(Code *code, KernelFunction *function, const ProductExtents *extents,
                 const ProductText *text) {
  DType dtype = function->kernel->operands[0].dtype;
  Plan plan;
  bool has_plan = find_plan(function, extents, &plan);
  CHECK(has_plan);
  TemplateHoles holes = {.arena = code->arena};
  add_sides(&holes, &plan, extents->batches);
  template_add(&holes, "INDEX", text->index_type);
  template_add_integer(&holes, "M", extents->rows);
  template_add_integer(&holes, "N", extents->columns);
  template_add_integer(&holes, "K", extents->depth);
  template_add_integer(&holes, "BATCHES", extents->batches);
  template_add_integer(&holes, "ROWS", plan.tile->rows);
  template_add_integer(&holes, "COLUMNS", plan.tile->columns);
  template_add_integer(&holes, "DEPTH", ROW / dtype_size(dtype));
  template_add_integer(&holes, "TURNS", plan.tile->turns);
  template_add_integer(&holes, "STAGES", plan.tile->stages);
  bool is_whole =
      extents->rows % plan.tile->rows == 0 && extents->columns % plan.tile->columns == 0;
  template_add_integer(&holes, "ROWS_AHEAD", is_whole ? ROWS_AHEAD : 1);
  template_add(&holes, "MMA", tensor_mma_name(dtype));
  template_add(&holes, "EPILOGUE", text->epilogue);
  template_render(code->out, "codegen_templates/cuda/product_wgmma.cu", &holes);
}
