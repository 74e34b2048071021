/* The tables of a convolution's function: where rasters begin, and where taps lie in them. */
#include "backend/c/conv.h"

const char *conv_begin_table(const ConvWriter *writer) {
  const ConvGrid *grid = &writer->grid;
  Text text = {0};
  text_add(&text, "{");
  for (int64_t f0 = 0; f0 < grid->source_phases[0]; f0++)
    for (int64_t f1 = 0; f1 < grid->source_phases[1]; f1++)
      for (int64_t f2 = 0; f2 < grid->source_phases[2]; f2++) {
        int64_t phase[3] = {f0, f1, f2};
        text_add(&text, text.length > 1 ? ", {" : "{");
        for (int i = 0; i < 3; i++) {
          int64_t begin = writer->is_input ? grid->least[i] - grid->extra[i]
                                           : conv_phase_begin(grid, i, phase[i]) - grid->low[i];
          text_printf(&text, "%s%lld", i ? ", " : "", (long long)begin);
        }
        text_add(&text, "}");
      }
  text_add(&text, "}");
  return text_take(&text, writer->arena);
}

/* Where the element under a tap lies in the channel's rasters, from the output's place. */
static int64_t tap_offset(const ConvWriter *writer, const int64_t *tap) {
  const ConvGrid *grid = &writer->grid;
  int64_t place = 0, phase = 0;
  for (int i = 0; i < 3; i++) {
    if (grid->shifted && i == 2) {
      place *= grid->length[i];
      phase = phase * grid->source_phases[i] + tap[i];
      continue;
    }
    int64_t reach = tap[i] * grid->dilation[i], steps = reach / grid->stride[i];
    place = place * grid->length[i] + (writer->is_input ? grid->extra[i] - steps : steps);
    if (!writer->is_input)
      phase = phase * grid->source_phases[i] + tap[i] % conv_tap_period(grid, i);
  }
  return phase * grid->phase + place;
}

/* The taps of an axis that meet an output phase: the first, and how far the next one is. */
typedef struct PhaseTaps {
  int64_t first, period; /* first: at least `kernel` where there is none */
} PhaseTaps;

/* For conv_input, those whose place is the residue modulo the stride; else all. */
static PhaseTaps phase_taps(const ConvWriter *writer, int axis, int64_t residue) {
  const ConvGrid *grid = &writer->grid;
  PhaseTaps taps = {0, 1};
  if (!writer->is_input) return taps;
  taps.period = conv_tap_period(grid, axis);
  while (taps.first < taps.period &&
         taps.first * grid->dilation[axis] % grid->stride[axis] != residue)
    taps.first++;
  if (taps.first == taps.period) taps.first = grid->kernel[axis]; /* no place is that residue */
  return taps;
}

/* Adds the taps of an output phase; returns how many. */
static int add_taps(const ConvWriter *writer, Text *table, const PhaseTaps of[3]) {
  const int64_t *kernel = writer->grid.kernel;
  int count = 0;
  for (int64_t t0 = of[0].first; t0 < kernel[0]; t0 += of[0].period)
    for (int64_t t1 = of[1].first; t1 < kernel[1]; t1 += of[1].period)
      for (int64_t t2 = of[2].first; t2 < kernel[2]; t2 += of[2].period) {
        int64_t tap[3] = {t0, t1, t2};
        text_printf(table, "%s{%lld, %lld}", table->length > 1 ? ", " : "",
                    (long long)((t0 * kernel[1] + t1) * kernel[2] + t2),
                    (long long)tap_offset(writer, tap));
        count++;
      }
  return count;
}

/* Of each residue along an axis, since phases are triples of them. */
static const PhaseTaps *axis_taps(const ConvWriter *writer, int axis) {
  int64_t count = writer->grid.output_phases[axis];
  PhaseTaps *taps = ARENA_ARRAY(writer->arena, PhaseTaps, count + 1);
  for (int64_t i = 0; i < count; i++) taps[i] = phase_taps(writer, axis, i);
  return taps;
}

void conv_tap_tables(const ConvWriter *writer, const char **taps, const char **phases) {
  const ConvGrid *grid = &writer->grid;
  Text tap_table = {0}, phase_table = {0};
  text_add(&tap_table, "{");
  text_add(&phase_table, "{");
  const PhaseTaps *by_axis[3];
  for (int i = 0; i < 3; i++) by_axis[i] = axis_taps(writer, i);
  int total = 0;
  for (int64_t f0 = 0; f0 < grid->output_phases[0]; f0++)
    for (int64_t f1 = 0; f1 < grid->output_phases[1]; f1++)
      for (int64_t f2 = 0; f2 < grid->output_phases[2]; f2++) {
        int64_t residue[3] = {f0, f1, f2};
        PhaseTaps of[3] = {by_axis[0][f0], by_axis[1][f1], by_axis[2][f2]};
        int count = add_taps(writer, &tap_table, of);
        text_printf(&phase_table, "%s{%d, %d", phase_table.length > 1 ? ", " : "", total, count);
        for (int i = 0; i < 3; i++)
          text_printf(&phase_table, ", %lld",
                      (long long)(grid->stride[i] * grid->least[i] + residue[i] - grid->low[i]));
        text_add(&phase_table, "}");
        total += count;
      }
  text_add(&tap_table, total ? "}" : "{0, 0}}");
  text_add(&phase_table, "}");
  *taps = arena_strdup(writer->arena, tap_table.data);
  *phases = arena_strdup(writer->arena, phase_table.data);
  text_free(&tap_table);
  text_free(&phase_table);
}
