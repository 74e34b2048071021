/* Convolutions as products: see window.h. */
#include "backend/c/window.h"
#include "backend/c/winograd.h"

#include "kernel/builder.h"
#include "support/integers.h"
#include "support/panic.h"

/* The channels of an operand. */
static int64_t operand_channels(const Kernel *kernel, int operand) {
  const ConvSlots *conv = &kernel->conv;
  bool is_weight = kernel->kind == KERNEL_CONV_WEIGHT;
  if (operand == 1) return is_weight ? conv->k : conv->c / conv->groups;
  return kernel->kind == KERNEL_CONV_INPUT ? conv->k : conv->c;
}

/* One channel lies first as well as last. */
bool conv_has_last(const Kernel *kernel, int operand) {
  return (kernel->conv.last >> operand & 1) != 0 && operand_channels(kernel, operand) > 1;
}

bool conv_has_some_last(const Kernel *kernel) {
  return conv_has_last(kernel, 0) || conv_has_last(kernel, 1);
}

/* Whether the results of one channel's convolution have theirs last: planes would be scattered to them. */
static bool spreads_channel(const Kernel *kernel) {
  enum { CHANNELS = 1 /* the axis */, LEAST = 16 };
  const ConvSlots *conv = &kernel->conv;
  if (kernel->kind != KERNEL_CONV || conv->c != 1 || conv->groups != 1 || conv->k < LEAST ||
      (conv->last & 1) == 0 || kernel->epilogue_count == 0)
    return false;
  int64_t base, coefficient[KERNEL_MAX_AXES];
  return index_is_affine(kernel->epilogue[0].index, kernel->axis_count, &base, coefficient) &&
         coefficient[CHANNELS] == 1;
}

bool conv_is_product(const Kernel *kernel) {
  bool is_in_pieces = kernel->kind == KERNEL_CONV_WEIGHT && kernel->conv.pieces > 0;
  return conv_has_some_last(kernel) || is_in_pieces || spreads_channel(kernel);
}

/* How x, dy or w lies in memory: elements between neighbours. */
typedef struct Strides {
  int64_t outer, place, channel; /* images, or rows of w; places, or taps; channels */
} Strides;

static Strides strides_of(bool is_last, int64_t channels, int64_t places) {
  if (is_last) return (Strides){channels * places, channels, 1};
  return (Strides){channels * places, 1, places};
}

typedef struct Maker {
  Arena *arena;
  const Kernel *from;
  const ConvSlots *conv;
  Kernel *kernel;
  int64_t own_c, own_k, out, taps;
  Index *by[KERNEL_MAX_AXES]; /* the axes of `from` by those of the product */
  WindowProduct product;
} Maker;

/* The extent along one of three axes, the first of which a convolution may not have. */
static int64_t at_axis(const Maker *maker, const int64_t *values, int axis, int64_t absent) {
  int spatial = axis - (3 - maker->conv->spatial);
  return spatial < 0 ? absent : values[spatial];
}

/* ---- axes ---------------------------------------------------------------------------------- */

/* Adds an axis to a group of the slots and to the domain. */
static Index *add_axis(Maker *maker, AxisGroup *group, int64_t extent, int64_t left,
                       int64_t right) {
  Kernel *kernel = maker->kernel;
  CHECK(group->count < MAX_RANK && kernel->axis_count < KERNEL_MAX_AXES);
  group->extent[group->count] = extent;
  group->stride[0][group->count] = left;
  group->stride[1][group->count++] = right;
  kernel->extent[kernel->axis_count] = extent;
  return index_axis(maker->arena, kernel->axis_count++);
}

static void add_depth(Maker *maker, int64_t extent, int64_t left, int64_t right) {
  AxisGroup *k = &maker->kernel->contract.k;
  k->extent[k->count] = extent;
  k->stride[0][k->count] = left;
  k->stride[1][k->count++] = right;
}

/* Axes of positions: of m, with the strides of operand 0 where there is no window. */
static void add_positions(Maker *maker, const int64_t *extent) {
  WindowProduct *product = &maker->product;
  ContractSlots *slots = &maker->kernel->contract;
  int spatial = maker->conv->spatial;
  bool is_plain = product->side == WINDOW_NONE;
  maker->by[0] = add_axis(maker, &slots->m, maker->conv->n, is_plain ? product->image : 0, 0);
  for (int i = 0; i < spatial; i++) {
    int64_t below = product->place;
    for (int k = i + 1; k < spatial; k++) below *= extent[k];
    Index *own =
        add_axis(maker, &slots->m, product->grid[3 - spatial + i], is_plain ? below : 0, 0);
    maker->by[2 + i] = own;
  }
}

/* The channel of the result from its group and its number in it. */
static Index *whole_channel(Maker *maker, Index *group, int64_t own, Index *channel) {
  if (!group) return channel;
  return index_add(maker->arena, index_mul(maker->arena, group, own), channel);
}

/* An axis of groups, if there are any. */
static Index *add_groups(Maker *maker, int64_t left, int64_t right) {
  if (maker->conv->groups == 1) return NULL;
  return add_axis(maker, &maker->kernel->contract.batch, maker->conv->groups, left, right);
}

/* ---- taps ---------------------------------------------------------------------------------- */

static void add_tap(Maker *maker, const int64_t tap[3], const int64_t at[3], int64_t step) {
  const ConvSlots *conv = maker->conv;
  int64_t flat = 0;
  for (int i = 0; i < 3; i++) flat = flat * at_axis(maker, conv->kernel, i, 1) + tap[i];
  ProductTap own = {{at[0], at[1], at[2]}, 1, flat * step};
  vec_push(maker->arena, &maker->product.taps, own);
}

/* All taps of conv and conv_weight. */
static void add_all_taps(Maker *maker, int64_t step) {
  const ConvSlots *conv = maker->conv;
  int64_t kernel[3];
  for (int i = 0; i < 3; i++) kernel[i] = at_axis(maker, conv->kernel, i, 1);
  for (int64_t flat = 0; flat < maker->taps; flat++) {
    int64_t tap[3] = {flat / (kernel[1] * kernel[2]), flat / kernel[2] % kernel[1],
                      flat % kernel[2]};
    int64_t at[3];
    for (int i = 0; i < 3; i++)
      at[i] = tap[i] * at_axis(maker, conv->dilation, i, 1) - at_axis(maker, conv->low, i, 0);
    add_tap(maker, tap, at, step);
  }
}

/* Joins the taps along the last axis where their places and channels follow each other, and runs of
 * single taps would be short. */
static void join_taps(Maker *maker) {
  enum { SHORT_RUN = 16 };
  WindowProduct *product = &maker->product;
  const ConvSlots *conv = maker->conv;
  int64_t last = at_axis(maker, conv->kernel, 2, 1);
  if (product->channel != 1 || product->place != product->tap_channels || last == 1 ||
      product->tap_channels >= SHORT_RUN || conv->dilation[conv->spatial - 1] != 1)
    return;
  int count = 0;
  for (int i = 0; i < product->taps.count; i += (int)last) {
    product->taps.items[count] = product->taps.items[i];
    product->taps.items[count++].span = last;
  }
  product->taps.count = count;
  product->tap_channels *= last;
}

/* Those of conv_input that meet the residues of a phase. */
static void add_phase_taps(Maker *maker, const int64_t residue[3], int64_t step) {
  const ConvSlots *conv = maker->conv;
  int64_t kernel[3], tap[3], at[3];
  for (int i = 0; i < 3; i++) kernel[i] = at_axis(maker, conv->kernel, i, 1);
  for (tap[0] = 0; tap[0] < kernel[0]; tap[0]++)
    for (tap[1] = 0; tap[1] < kernel[1]; tap[1]++)
      for (tap[2] = 0; tap[2] < kernel[2]; tap[2]++) {
        bool meets = true;
        for (int i = 0; i < 3; i++) {
          int64_t stride = maker->product.stride[i], low = at_axis(maker, conv->low, i, 0);
          int64_t way = residue[i] + low - tap[i] * at_axis(maker, conv->dilation, i, 1);
          meets = meets && way % stride == 0;
          at[i] = way / stride;
        }
        if (meets) add_tap(maker, tap, at, step);
      }
}

static void add_phases(Maker *maker, int64_t step) {
  WindowProduct *product = &maker->product;
  const int64_t *stride = product->stride;
  product->phases = (int)extent_product(stride, 3);
  product->first_tap = ARENA_ARRAY(maker->arena, int64_t, product->phases + 1);
  for (int phase = 0; phase < product->phases; phase++) {
    int64_t residue[3] = {phase / (stride[1] * stride[2]), phase / stride[2] % stride[1],
                          phase % stride[2]};
    add_phase_taps(maker, residue, step);
    product->first_tap[phase + 1] = product->taps.count;
  }
}

/* ---- the three directions ------------------------------------------------------------------ */

/* Windows of one place, which is the position's own. */
static bool is_pointwise(const ConvSlots *conv) {
  bool is_one = true;
  for (int i = 0; i < conv->spatial; i++)
    is_one = is_one && conv->kernel[i] == 1 && conv->stride[i] == 1 && conv->low[i] == 0 &&
             conv->high[i] == 0;
  return is_one;
}

/* Operand 0, which is read through the windows. */
static void set_source(Maker *maker, int64_t channels, const int64_t *extent) {
  WindowProduct *product = &maker->product;
  const ConvSlots *conv = maker->conv;
  int64_t places = greatest(extent_product(extent, conv->spatial), 0);
  Strides strides = strides_of(conv->last & 1, channels, places);
  product->image = strides.outer;
  product->place = strides.place;
  product->channel = strides.channel;
  for (int i = 0; i < 3; i++) {
    product->extent[i] = at_axis(maker, extent, i, 1);
    product->stride[i] = product->step[i] = 1;
  }
}

static void set_weights(Maker *maker, bool from_columns) {
  Strides strides = strides_of(maker->conv->last >> 1 & 1, maker->own_c, maker->taps);
  maker->product.weight_row = from_columns ? strides.outer : strides.channel;
  maker->product.weight_channel = from_columns ? strides.channel : strides.outer;
}

static int64_t most_taps(const WindowProduct *product) {
  int64_t most = 0;
  for (int i = 0; i < product->phases; i++)
    most = greatest(most, product->first_tap[i + 1] - product->first_tap[i]);
  return most;
}

static void make_conv(Maker *maker) {
  WindowProduct *product = &maker->product;
  const ConvSlots *conv = maker->conv;
  ContractSlots *slots = &maker->kernel->contract;
  set_source(maker, conv->c, conv->in);
  set_weights(maker, true);
  for (int i = 0; i < 3; i++) {
    product->grid[i] = at_axis(maker, conv->out, i, 1);
    product->step[i] = at_axis(maker, conv->stride, i, 1);
  }
  product->side = is_pointwise(conv) ? WINDOW_NONE : WINDOW_ROWS;
  product->tap_channels = product->place_channels = maker->own_c;
  add_all_taps(maker, conv->last >> 1 & 1 ? maker->own_c : 1);
  if (conv->last >> 1 & 1) join_taps(maker);
  product->first_tap[1] = product->taps.count;
  Index *group =
      add_groups(maker, maker->own_c * product->channel, maker->own_k * maker->own_c * maker->taps);
  add_positions(maker, conv->in);
  Index *k = add_axis(maker, &slots->n, maker->own_k, 0, product->weight_row);
  maker->by[1] = whole_channel(maker, group, maker->own_k, k);
  add_depth(maker, product->taps.count * product->tap_channels, product->channel,
            product->weight_channel);
}

static void make_conv_input(Maker *maker) {
  WindowProduct *product = &maker->product;
  const ConvSlots *conv = maker->conv;
  ContractSlots *slots = &maker->kernel->contract;
  Arena *arena = maker->arena;
  set_source(maker, conv->k, conv->out);
  set_weights(maker, false);
  for (int i = 0; i < 3; i++) {
    product->stride[i] = at_axis(maker, conv->stride, i, 1);
    product->grid[i] = divide_up(at_axis(maker, conv->in, i, 1), product->stride[i]);
  }
  product->side = is_pointwise(conv) ? WINDOW_NONE : WINDOW_ROWS;
  product->tap_channels = product->place_channels = maker->own_k;
  add_phases(maker, conv->last >> 1 & 1 ? maker->own_c : 1);
  Index *group =
      add_groups(maker, maker->own_k * product->channel, maker->own_k * maker->own_c * maker->taps);
  Index *residue[3] = {NULL};
  for (int i = 0; i < conv->spatial && product->phases > 1; i++)
    residue[i] = add_axis(maker, &slots->batch, conv->stride[i], 0, 0);
  add_positions(maker, conv->out);
  for (int i = 0; i < conv->spatial && product->phases > 1; i++) {
    Index *begin = index_mul(arena, maker->by[2 + i], conv->stride[i]);
    maker->by[2 + i] = index_add(arena, begin, residue[i]);
  }
  Index *c = add_axis(maker, &slots->n, maker->own_c, 0, product->weight_row);
  maker->by[1] = whole_channel(maker, group, maker->own_c, c);
  add_depth(maker, most_taps(product) * product->tap_channels, product->channel,
            product->weight_channel);
}

/* The tile's columns are m: operand 0 is x. */
static void make_conv_weight(Maker *maker) {
  WindowProduct *product = &maker->product;
  const ConvSlots *conv = maker->conv;
  ContractSlots *slots = &maker->kernel->contract;
  bool in_pieces = conv->pieces > 0;
  int64_t images = conv->n / greatest(conv->pieces, 1);
  Strides y = strides_of(conv->last >> 1 & 1, conv->k, maker->out);
  set_source(maker, conv->c, conv->in);
  for (int i = 0; i < 3; i++) {
    product->grid[i] = at_axis(maker, conv->out, i, 1);
    product->step[i] = at_axis(maker, conv->stride, i, 1);
  }
  product->side = is_pointwise(conv) && conv->last == 3 ? WINDOW_NONE : WINDOW_COLUMNS;
  product->swap = true;
  product->tap_channels = product->place_channels = maker->own_c;
  add_all_taps(maker, 0);
  join_taps(maker);
  product->first_tap[1] = product->taps.count;
  if (in_pieces)
    maker->by[0] =
        add_axis(maker, &slots->batch, conv->pieces, images * product->image, images * y.outer);
  Index *group = add_groups(maker, maker->own_c * product->channel, maker->own_k * y.channel);
  bool is_plain = product->side == WINDOW_NONE;
  for (int i = 0; i < conv->spatial; i++)
    maker->by[in_pieces + 2 + i] =
        add_axis(maker, &slots->m, conv->kernel[i], is_plain ? maker->own_c : 0, 0);
  maker->by[in_pieces + 1] = add_axis(maker, &slots->m, maker->own_c, is_plain, 0);
  Index *k = add_axis(maker, &slots->n, maker->own_k, 0, y.channel);
  maker->by[in_pieces] = whole_channel(maker, group, maker->own_k, k);
  add_depth(maker, images, is_plain ? product->image : 0, y.outer);
  add_depth(maker, maker->out, is_plain ? product->place : 0, y.place);
}

/* ---- the epilogue -------------------------------------------------------------------------- */

static Index *moved(const Maker *maker, Index *index) {
  if (index == NULL) return NULL;
  return index_substitute_in(maker->arena, index, maker->by, maker->from->axis_count,
                             maker->kernel->extent, maker->kernel->axis_count);
}

/* A copy of an expression over the axes of the product; copies of its operands are before it. */
static Expr *moved_expr(const Maker *maker, const Expr *expr, const ExprList *from,
                        Expr *const *copies, int count) {
  Expr *copy = arena_copy(maker->arena, expr, sizeof *expr);
  copy->index = moved(maker, expr->index);
  if (expr->guard_count > 0)
    copy->guards =
        arena_copy(maker->arena, expr->guards, sizeof *expr->guards * (size_t)expr->guard_count);
  for (int i = 0; i < expr->guard_count; i++)
    copy->guards[i].index = moved(maker, expr->guards[i].index);
  for (int i = 0; i < expr->arg_count; i++)
    for (int k = 0; k < count; k++)
      if (from->items[k] == expr->args[i]) copy->args[i] = copies[k];
  return copy;
}

static void move_epilogue(Maker *maker) {
  Kernel *kernel = maker->kernel;
  ExprList list = kernel_expressions(maker->arena, maker->from, 0);
  Expr **copies = ARENA_ARRAY(maker->arena, Expr *, list.count + 1);
  for (int i = 0; i < list.count; i++)
    copies[i] = moved_expr(maker, list.items[i], &list, copies, i);
  kernel->epilogue = arena_copy(maker->arena, kernel->epilogue,
                                sizeof *kernel->epilogue * (size_t)kernel->epilogue_count);
  for (int i = 0; i < kernel->epilogue_count; i++) {
    Store *store = &kernel->epilogue[i];
    store->index = moved(maker, store->index);
    for (int k = 0; k < list.count; k++)
      if (list.items[k] == maker->from->epilogue[i].value) store->value = copies[k];
  }
}

WindowProduct window_product(Arena *arena, const Kernel *kernel) {
  const ConvSlots *conv = &kernel->conv;
  Maker maker = {.arena = arena, .from = kernel, .conv = conv};
  maker.own_c = conv->c / conv->groups;
  maker.own_k = conv->k / conv->groups;
  maker.out = extent_product(conv->out, conv->spatial);
  maker.taps = extent_product(conv->kernel, conv->spatial);
  maker.kernel = arena_copy(arena, kernel, sizeof *kernel);
  maker.kernel->kind = KERNEL_CONTRACT;
  if (kernel->variant > 0) maker.kernel->variant -= kernel_gains_by_winograd(kernel);
  maker.kernel->axis_count = 0;
  maker.kernel->contract = (ContractSlots){0};
  maker.product.phases = 1;
  maker.product.first_tap = ARENA_ARRAY(arena, int64_t, 2);
  if (kernel->kind == KERNEL_CONV) make_conv(&maker);
  else if (kernel->kind == KERNEL_CONV_INPUT) make_conv_input(&maker);
  else make_conv_weight(&maker);
  move_epilogue(&maker);
  kernel_collapse(arena, maker.kernel);
  maker.product.kernel = maker.kernel;
  return maker.product;
}

bool window_weights_follow(const WindowProduct *window) {
  if (window->side != WINDOW_ROWS || window->phases != 1) return false;
  for (int i = 0; i < window->taps.count; i++)
    if (window->taps.items[i].weight != i * window->tap_channels * window->weight_channel)
      return false;
  return true;
}
