/* The epilogues of a convolution's function. */
#include "backend/c/conv.h"
#include "backend/common/c.h"

/* Opens the loop over the positions of axis `i` and declares the kernel's axis. */
static void open_position(const ConvWriter *writer, Code *code, int i) {
  const ConvGrid *grid = &writer->grid;
  bool blocked = i == grid->block_axis;
  const char *begin = blocked ? "first" : "0";
  const char *end = blocked ? "first + count" : code_integer(code->arena, grid->grid[i]);
  const char *axis = arena_printf(code->arena, "i%d", 2 + i - writer->absent);
  bool used = expression_uses_axis(code->arena, writer->kernel, 2 + i - writer->absent);
  if (grid->output_phases[i] == 1) {
    code_open(code, "%sfor (int64_t g%d = %s; g%d < %s; g%d++)", i < 2 ? "NNC_AROUND " : "", i,
              begin, i, end, i);
    if (used) code_line(code, "const int64_t %s = g%d;", axis, i);
    return;
  }
  long long stride = (long long)grid->stride[i];
  code_line(code, "const int64_t begin_%d = nnc_greatest(%s, shift[%d] < 0);", i, begin, i);
  code_line(code, "const int64_t end_%d = nnc_least(%s, (%lld - shift[%d]) / %lld);", i, end,
            (long long)grid->extent_in[i] + stride - 1, i, stride);
  code_open(code, "%sfor (int64_t g%d = begin_%d; g%d < end_%d; g%d++)", i < 2 ? "NNC_AROUND " : "",
            i, i, i, i, i);
  if (used) code_line(code, "const int64_t %s = %lld * g%d + shift[%d];", axis, stride, i, i);
}

/* Opens the loop over the last axis where each phase of it has a tile: a row of the result is put
 * together first, so that what the epilogue reads and writes is contiguous. Returns its element. */
static const char *open_interleaved(const ConvWriter *writer, Code *code, const char *place) {
  const ConvGrid *grid = &writer->grid;
  Arena *arena = code->arena;
  long long stride = (long long)grid->stride[2];
  long long origin = stride * (long long)grid->least[2] - (long long)grid->low[2];
  bool blocked = grid->block_axis == 2;
  const char *count = blocked ? "count" : code_integer(arena, grid->grid[2]);
  const char *begin =
      arena_printf(arena, "%lld * %s - %lld", stride, blocked ? "first" : "0", -origin);
  code_line(code, "for (int64_t phase = 0; phase < %lld; phase++)", stride);
  code_line(code, "  for (int64_t g = 0; g < %s; g++)", count);
  code_line(
      code,
      "    row[g * %lld + phase] = tile[(phase * NNC_TILE_ROWS + r) * %lld + (%s) * %lld + g];",
      stride, (long long)(grid->raster + RASTER_SLACK), place, (long long)grid->length[2]);
  code_line(code, "const int64_t begin = %s;", begin);
  code_line(code, "const int64_t end = nnc_least(begin + %lld * %s, %lld);", stride, count,
            (long long)grid->extent_in[2]);
  const char *axis = arena_printf(arena, "i%d", 4 - writer->absent);
  code_open(code, "for (int64_t %s = nnc_greatest(begin, 0); %s < end; %s++)", axis, axis, axis);
  return arena_printf(arena, "row[%s - begin]", axis);
}

static const char *map_epilogue(const ConvWriter *writer) {
  const ConvGrid *grid = &writer->grid;
  bool interleaves = grid->output_phases[2] > 1;
  Text text = {0};
  Code code = {.arena = writer->arena, .out = &text};
  function_declare_axis(&code, writer->function, 0, "image");
  code_open(&code, "for (int64_t r = 0; r < rows; r++)");
  function_declare_axis(&code, writer->function, 1, "channel + r");
  const char *place = "0", *result = NULL;
  for (int i = writer->absent; i < (interleaves ? 2 : 3); i++) {
    open_position(writer, &code, i);
    const char *own = arena_printf(code.arena, i == grid->block_axis ? "(g%d - first)" : "g%d", i);
    place = i == writer->absent ? own
                                : arena_printf(code.arena, "(%s) * %lld + %s", place,
                                               (long long)grid->length[i], own);
  }
  if (interleaves) result = open_interleaved(writer, &code, place);
  else
    result = arena_printf(code.arena, "tile[r * %lld + %s]",
                          (long long)(grid->raster + RASTER_SLACK), place);
  return function_end_epilogue(&code, writer->function, result, writer->sum);
}

/* Of whole planes of one image; `plane` elements from one to the next. */
static const char *planes_epilogue(const ConvWriter *writer, const int64_t *extent, int64_t plane) {
  Text text = {0};
  Code code = {.arena = writer->arena, .out = &text};
  function_declare_axis(&code, writer->function, 0, "image");
  code_open(&code, "for (int64_t r = 0; r < channels; r++)");
  function_declare_axis(&code, writer->function, 1, "channel + r");
  const char *place = function_open_plane(&code, 2, 3 - writer->absent, extent + writer->absent);
  const char *result = arena_printf(code.arena, "planes[r * %lld + %s]", (long long)plane, place);
  return function_end_epilogue(&code, writer->function, result, writer->sum);
}

static const char *weight_epilogue(const ConvWriter *writer) {
  const ConvGrid *grid = &writer->grid;
  long long taps = (long long)(grid->kernel[0] * grid->kernel[1] * grid->kernel[2]);
  Text text = {0};
  Code code = {.arena = writer->arena, .out = &text};
  code_open(&code, "for (int64_t r = 0; r < rows; r++)");
  function_declare_axis(&code, writer->function, 0, "row + r");
  code_open(&code, "for (int64_t c = 0; c < channels; c++)");
  function_declare_axis(&code, writer->function, 1, "channel + c");
  code_line(&code, "%s own[%lld];", c_value_type(writer->sum), taps);
  code_line(&code, "NNC_ROLLED for (int64_t t = 0; t < %lld; t++)", taps);
  const char *sum = arena_printf(writer->arena, "(r * %lld + c) * %lld + t",
                                 (long long)grid->channel_block, taps);
  if (grid->is_one_sum) code_line(&code, "  own[t] = sums[%s];", sum);
  else code_line(&code, "  own[t] = nnc_lane_sum_%s(sums + %s);", c_type_name(writer->sum), sum);
  const char *tap =
      function_open_plane(&code, 2, 3 - writer->absent, grid->kernel + writer->absent);
  const char *result = arena_printf(code.arena, "own[%s]", tap);
  return function_end_epilogue(&code, writer->function, result, writer->sum);
}

const char *conv_epilogue(const ConvWriter *writer) {
  const ConvGrid *grid = &writer->grid;
  if (writer->is_weight) return weight_epilogue(writer);
  if (grid->by_columns)
    return planes_epilogue(writer, grid->extent_in,
                           grid->extent_in[0] * grid->extent_in[1] * grid->extent_in[2]);
  if (grid->by_patches) return planes_epilogue(writer, grid->extent_out, grid->padded);
  return map_epilogue(writer);
}
