/* The geometry of sliding windows: output extents, padding, and the runs that evaluation loops
 * over.
 *
 * Which outputs a tap serves is computed once per axis as a range; the runs of a tap are the
 * product of its ranges, one run for each row, joined where rows follow each other in input and
 * output. So the inner loops of convolution and pooling have neither tests nor divisions. */
#include "ops/window.h"

#include "support/integers.h"
#include "support/panic.h"
#include "support/vec.h"

/* Output extent along one axis, or -1 when the window is larger than the padded input. */
static int64_t window_extent(const Window *w, int axis) {
  int64_t padded = w->in[axis] + w->low[axis] + w->high[axis];
  int64_t reach = w->dilation[axis] * (w->kernel[axis] - 1) + 1;
  return padded < reach ? -1 : (padded - reach) / w->stride[axis] + 1;
}

Window window_read(const Node *node, int rank, const int64_t *in, const int64_t *kernel) {
  Window window = {.rank = rank};
  for (int i = 0; i < rank; i++) {
    window.in[i] = in[i];
    window.kernel[i] = kernel[i];
    window.stride[i] = node_ints(node, ATTR_STRIDE)->ints[i];
    window.low[i] = node_ints(node, ATTR_LOW)->ints[i];
    window.high[i] = node_ints(node, ATTR_HIGH)->ints[i];
    window.dilation[i] = node_ints(node, ATTR_DILATION)->ints[i];
    window.out[i] = window_extent(&window, i);
  }
  return window;
}

bool window_infer(Inference *in, Sliding sliding, Window *window) {
  const int64_t *kernel = sliding.kernel, least = sliding.least_padding;
  int rank = sliding.rank;
  const struct {
    AttributeKey key;
    int64_t least;
  } lists[] = {{ATTR_STRIDE, 1}, {ATTR_DILATION, 1}, {ATTR_LOW, least}, {ATTR_HIGH, least}};
  for (int i = 0; i < 4; i++) {
    const Attribute *list = infer_ints(in, lists[i].key, rank, lists[i].least);
    if (!list) return false;
    for (int k = 0; k < rank; k++)
      if (list->ints[k] > INT32_MAX)
        return infer_fail(in, "entry %d of '%s' is too large", k, attribute_name(lists[i].key));
  }
  for (int i = 0; i < rank; i++)
    if (kernel[i] < 1 || kernel[i] > INT32_MAX)
      return infer_fail(in, "the window has extent %lld along spatial axis %d",
                        (long long)kernel[i], i);
  *window = window_read(in->node, rank, sliding.in, kernel);
  for (int i = 0; i < rank; i++)
    if (window->out[i] < 0)
      return infer_fail(in,
                        "a window of %lld (dilation %lld) does not fit into %lld elements with "
                        "padding %lld and %lld along spatial axis %d",
                        (long long)kernel[i], (long long)window->dilation[i],
                        (long long)sliding.in[i], (long long)window->low[i],
                        (long long)window->high[i], i);
  return true;
}

static bool touches_input(const Window *w, int axis, int64_t position) {
  for (int64_t t = 0; t < w->kernel[axis]; t++) {
    int64_t at = position * w->stride[axis] - w->low[axis] + t * w->dilation[axis];
    if (at >= 0 && at < w->in[axis]) return true;
  }
  return false;
}

/* The windows that begin inside, most of them, are not looked at. */
bool window_touches_input(const Window *w, int *axis, int64_t *position) {
  for (int i = 0; i < w->rank; i++) {
    int64_t stride = w->stride[i], low = w->low[i] > 0 ? w->low[i] : 0;
    int64_t inside = (low + stride - 1) / stride;
    int64_t after = (w->in[i] + w->low[i] + stride - 1) / stride;
    for (int64_t o = 0; o < w->out[i]; o++) {
      if (o == inside && o < after) o = after;
      if (o >= w->out[i] || touches_input(w, i, o)) continue;
      *axis = i;
      *position = o;
      return false;
    }
  }
  return true;
}

/* Output positions [first, end) along `axis` whose tap `t` is inside the input. */
static void tap_range(const Window *w, int axis, int64_t t, int64_t *first, int64_t *end) {
  int64_t shift = t * w->dilation[axis] - w->low[axis], stride = w->stride[axis];
  *first = shift >= 0 ? 0 : (-shift + stride - 1) / stride;
  int64_t room = w->in[axis] - shift; /* o * stride < room */
  *end = room <= 0 ? 0 : (room + stride - 1) / stride;
  if (*end > w->out[axis]) *end = w->out[axis];
  if (*first > *end) *first = *end;
}

typedef VEC(WindowRun) WindowRuns;

static void push_run(Arena *arena, WindowRuns *runs, int64_t step, WindowRun run) {
  WindowRun *last = runs->count > 0 ? &runs->items[runs->count - 1] : NULL;
  if (last && step == 1 && last->out + last->length == run.out &&
      last->in + last->length == run.in) {
    last->length += run.length;
    return;
  }
  vec_push(arena, runs, run);
}

static WindowTap tap_runs(Arena *arena, const Window *w, const int64_t *tap) {
  int64_t first[MAX_RANK], end[MAX_RANK], at[MAX_RANK];
  for (int i = 0; i < w->rank; i++) {
    tap_range(w, i, tap[i], &first[i], &end[i]);
    if (first[i] == end[i]) return (WindowTap){0};
    at[i] = first[i];
  }
  WindowRuns runs = {0};
  int last = w->rank - 1;
  for (;;) {
    WindowRun run = {.length = end[last] - first[last]};
    for (int i = 0; i < w->rank; i++) {
      run.out = run.out * w->out[i] + at[i];
      run.in = run.in * w->in[i] + at[i] * w->stride[i] + tap[i] * w->dilation[i] - w->low[i];
    }
    push_run(arena, &runs, w->stride[last], run);
    int axis = last - 1;
    for (; axis >= 0; axis--) {
      if (++at[axis] < end[axis]) break;
      at[axis] = first[axis];
    }
    if (axis < 0) return (WindowTap){runs.count, runs.items};
  }
}

WindowTaps window_taps(Arena *arena, const Window *w) {
  WindowTaps taps = {.count = extent_product(w->kernel, w->rank),
                     .step = w->stride[w->rank - 1],
                     .in_size = extent_product(w->in, w->rank),
                     .out_size = extent_product(w->out, w->rank)};
  taps.taps = ARENA_ARRAY(arena, WindowTap, taps.count);
  int64_t tap[MAX_RANK] = {0};
  for (int64_t i = 0; i < taps.count; i++) {
    taps.taps[i] = tap_runs(arena, w, tap);
    for (int axis = w->rank - 1; axis >= 0; axis--) {
      if (++tap[axis] < w->kernel[axis]) break;
      tap[axis] = 0;
    }
  }
  return taps;
}
