/* Stages `mixup(alpha = 0.2, probability = 1)` and `cutmix(alpha = 1, probability = 1)`: in training, mixtures of
 * two examples of a minibatch, with their labels (Zhang et al. 2018, "mixup"; Yun et al. 2019, "CutMix").
 *
 * An example is mixed with the next one of its minibatch as that was read, the last with the first. The share of
 * each is drawn from Beta(alpha, alpha) by seed, epoch and row, so the bits depend on nothing else. */
#include "data/mixing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/convert.h"
#include "core/number.h"
#include "data/call.h"
#include "data/class.h"
#include "data/rows.h"
#include "data/set.h"
#include "data/table.h"
#include "os/assert.h"
#include "nnc_data.h"

static const char *const formals[] = {"alpha", "probability", NULL};

enum { MOST_STAGES = 2, STREAM = 1 << 20, CHANCE = 0, MIDDLE = 1, SHARE = 16 };

typedef struct MixingStage {
  bool cuts;
  double alpha, probability;
} MixingStage;

/* Of one line. */
typedef struct Mixing {
  DataMixing mixing; /* the first: what the set knows */
  const DataTable *table;
  int count;
  MixingStage stages[MOST_STAGES];
  char *first; /* room for a row: the first of a batch, as it was read */
} Mixing;

/* How one example is mixed: `share` of it and the rest of the next; cut: the part of the picture that is the
 * next one's. */
typedef struct Mixture {
  bool is_mixed, cuts;
  double share;
  int64_t top, left, height, width;
} Mixture;

/* --- draws ------------------------------------------------------------------------------------ */

/* What a stage draws for an example: above 0, up to 1. */
typedef struct Draws {
  const DataVisit *visit;
  uint64_t stream, next;
} Draws;

static double draw(Draws *draws) {
  uint64_t bits = data_random_bits(draws->visit, draws->stream, draws->next++);
  return (double)((bits >> 11) + 1) * 0x1p-53;
}

/* The logarithm of a number of the gamma distribution (Marsaglia and Tsang 2000, section 6: one of shape + 1,
 * times the root of a uniform one), since that itself may be too small for a double. */
static double draw_log_gamma(Draws *draws, double shape) {
  double d = shape + 2.0 / 3, c = 1 / sqrt(9 * d);
  for (;;) {
    double radius = sqrt(-2 * log(draw(draws)));
    double normal = radius * cos(6.283185307179586 * draw(draws));
    double root = 1 + c * normal, chance = log(draw(draws));
    if (root <= 0) continue;
    double v = root * root * root;
    if (chance < 0.5 * normal * normal + d * (1 - v + log(v)))
      return log(d * v) + log(draw(draws)) / shape;
  }
}

/* Of Beta(alpha, alpha). */
static double draw_share(Draws *draws, double alpha) {
  double one = draw_log_gamma(draws, alpha), other = draw_log_gamma(draws, alpha);
  return 1 / (1 + exp(other - one));
}

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

/* The part lies about a place anywhere in the picture, so a part of it may lie outside; what is left of its area
 * is the share of the next example. */
static void cut_part(const Draws *draws, const int64_t *side, Mixture *mixture) {
  double half = 0.5 * sqrt(1 - mixture->share);
  int64_t high = (int64_t)(half * (double)side[0]), wide = (int64_t)(half * (double)side[1]);
  int64_t y = data_random_below(draws->visit, draws->stream, MIDDLE, side[0]);
  int64_t x = data_random_below(draws->visit, draws->stream, MIDDLE + 1, side[1]);
  mixture->top = y < high ? 0 : y - high;
  mixture->left = x < wide ? 0 : x - wide;
  mixture->height = least(y + high, side[0]) - mixture->top;
  mixture->width = least(x + wide, side[1]) - mixture->left;
  mixture->share = 1 - (double)(mixture->height * mixture->width) / (double)(side[0] * side[1]);
}

/* Height and width of the line's pictures. */
static const int64_t *sides(const nnc_tensor *input) { return input->dim + input->rank - 2; }

/* The first stage that the draw meets mixes the example. */
static Mixture draw_mixture(const Mixing *mixing, const DataVisit *visit) {
  for (int s = 0; s < mixing->count; s++) {
    const MixingStage *stage = &mixing->stages[s];
    Draws draws = {visit, STREAM + (uint64_t)stage->cuts, CHANCE};
    if (draw(&draws) > stage->probability) continue;
    draws.next = SHARE;
    Mixture mixture = {true, stage->cuts, draw_share(&draws, stage->alpha), 0, 0, 0, 0};
    if (stage->cuts) cut_part(&draws, sides(mixing->table->fields[0].input), &mixture);
    return mixture;
  }
  return (Mixture){.is_mixed = false};
}

/* --- rows ------------------------------------------------------------------------------------- */

static void mix_floats(float *restrict row, const float *restrict other, int64_t count,
                       float share) {
  for (int64_t i = 0; i < count; i++) row[i] = share * row[i] + (1 - share) * other[i];
}

/* Bytes of pictures are rounded. */
static void mix_bytes(unsigned char *restrict row, const unsigned char *restrict other,
                      int64_t count, float share) {
  for (int64_t i = 0; i < count; i++)
    row[i] = (unsigned char)(share * (float)row[i] + (1 - share) * (float)other[i] + 0.5f);
}

static void mix_values(int dtype, char *row, const char *other, int64_t count, double share) {
  if (dtype == NNC_F32) {
    mix_floats((float *)row, (const float *)other, count, (float)share);
  } else if (dtype == NNC_U8) {
    mix_bytes((unsigned char *)row, (const unsigned char *)other, count, (float)share);
  } else {
    int64_t size = nnc_dtype_size(dtype);
    for (int64_t i = 0; i < count; i++) {
      double value =
          share * nnc_number_get(dtype, row, i) + (1 - share) * nnc_number_get(dtype, other, i);
      nnc_store_double(value, dtype, row + i * size);
    }
  }
}

static bool is_picture(const nnc_tensor *input) { return input->rank >= 3; }

static void mix_row(const nnc_tensor *input, char *row, const char *other, int64_t count,
                    const Mixture *mixture) {
  if (!mixture->cuts || !is_picture(input)) {
    mix_values(input->dtype, row, other, count, mixture->share);
    return;
  }
  int64_t height = sides(input)[0], width = sides(input)[1], size = nnc_dtype_size(input->dtype);
  for (int64_t plane = 0; plane < count / (height * width); plane++)
    for (int64_t y = mixture->top; y < mixture->top + mixture->height; y++) {
      int64_t at = ((plane * height + y) * width + mixture->left) * size;
      memcpy(row + at, other + at, (size_t)(mixture->width * size));
    }
}

static void mix_field(const Mixing *mixing, const DataField *field, const DataExamples *examples,
                      const DataVisit *visit, char *rows) {
  int64_t bytes = field->width * nnc_dtype_size(field->input->dtype);
  memcpy(mixing->first, rows, (size_t)bytes);
  for (int64_t i = 0; i < examples->count; i++) {
    DataVisit own = *visit;
    own.number = data_row_number(mixing->table, data_row_of(mixing->table, examples, i));
    Mixture mixture = draw_mixture(mixing, &own);
    if (!mixture.is_mixed) continue;
    const char *next = i + 1 < examples->count ? rows + (i + 1) * bytes : mixing->first;
    mix_row(field->input, rows + i * bytes, next, field->width, &mixture);
  }
}

static void mix(const DataMixing *of_line, const nnc_data *data, const DataExamples *examples,
                const DataVisit *visit, void *const *inputs) {
  const Mixing *mixing = (const Mixing *)of_line;
  const DataTable *table = mixing->table;
  for (int i = 0; i < data->entry->input_count; i++) {
    const DataField *field = data->fields[i];
    bool is_its = field >= table->fields && field < table->fields + table->field_count;
    if (is_its && field->batched) mix_field(mixing, field, examples, visit, inputs[i]);
  }
}

/* --- calls ------------------------------------------------------------------------------------ */

static void close_mixing(DataMixing *closed) {
  free(((Mixing *)closed)->first);
  free(closed);
}

static Mixing *find_mixing(nnc_data *data, const DataTable *table) {
  for (DataMixing *at = data->mixing; at; at = at->next)
    if (((Mixing *)at)->table == table) return (Mixing *)at;
  Mixing *mixing = calloc(1, sizeof *mixing);
  int64_t most = 0;
  for (int f = 0; f < table->field_count; f++) {
    const DataField *field = &table->fields[f];
    int64_t bytes = field->input ? field->width * nnc_dtype_size(field->input->dtype) : 0;
    if (bytes > most) most = bytes;
  }
  if (!mixing || !(mixing->first = malloc((size_t)most + 1))) {
    free(mixing);
    return NULL;
  }
  mixing->mixing = (DataMixing){data->mixing, mix, close_mixing};
  mixing->table = table;
  data->mixing = &mixing->mixing;
  return mixing;
}

/* Whether all fields of the line can be mixed. */
static int check_fields(const DataContext *context, const nnc_data *data, const DataTable *table,
                        bool cuts) {
  const char *stage = context->call->function;
  const nnc_tensor *first = table->fields[0].input;
  if (cuts && (!first || !is_picture(first)))
    return data_fail_call(context, "cutmix cuts the pictures of the line's first field");
  for (int i = 0; i < data->entry->input_count; i++) {
    const DataField *field = data->fields[i];
    const nnc_tensor *input = field->input;
    if (field < table->fields || field >= table->fields + table->field_count) continue;
    bool is_cut = cuts && is_picture(input);
    bool is_index = data->entry->input_limits && data->entry->input_limits[i] > 0;
    bool is_measure = nnc_dtype_is_float(input->dtype) ||
                      (input->dtype == NNC_U8 && is_picture(input) && !is_index);
    if (is_cut && memcmp(sides(input), sides(first), 2 * sizeof *first->dim) != 0)
      return data_fail_call(context, "cutmix: '%s' is not as high and wide as '%s'", field->name,
                            table->fields[0].name);
    if (!is_cut && !is_measure)
      return data_fail_call(context,
                            "%s makes numbers between those of two examples, but the model takes "
                            "'%s' as class numbers",
                            stage, field->name);
  }
  return 0;
}

static int add_stage(const DataContext *context, nnc_data *data, DataTable *table,
                     MixingStage stage) {
  if (strcmp(data->name, "train") != 0)
    return data_fail_call(context, "%s stands in data train alone", context->call->function);
  if (data_argument_number(context, formals, "alpha", 0, DATA_MOST_ALPHA, &stage.alpha) < 0 ||
      data_argument_number(context, formals, "probability", 0, 1, &stage.probability) < 0 ||
      check_fields(context, data, table, stage.cuts) < 0)
    return -1;
  if (!(stage.alpha > 0)) return data_fail_call(context, "alpha must be above 0");
  Mixing *mixing = find_mixing(data, table);
  if (!mixing) return data_fail_memory(context, context->call->function, sizeof *mixing);
  if (mixing->count == MOST_STAGES)
    return data_fail_call(context, "more than %d stages that mix", MOST_STAGES);
  mixing->stages[mixing->count++] = stage;
  return 0;
}

/* Rows keep their numbers, from which stages draw: another line of the set may keep its rows. */
static int expect(const DataContext *context, DataTable *table) {
  (void)context;
  table->keeps_rows = true;
  return 0;
}

static int mixup(const DataContext *context, nnc_data *data, DataTable *table) {
  return add_stage(context, data, table, (MixingStage){false, 0.2, 1});
}

static int cutmix(const DataContext *context, nnc_data *data, DataTable *table) {
  return add_stage(context, data, table, (MixingStage){true, 1, 1});
}

const struct nnc_stage_class nnc_stage_mixup = {.name = "mixup",
                                                .acts_on = DATA_ACTS_ON_mixup,
                                                .formals = formals,
                                                .expect = expect,
                                                .sample = mixup};
const struct nnc_stage_class nnc_stage_cutmix = {.name = "cutmix",
                                                 .acts_on = DATA_ACTS_ON_cutmix,
                                                 .formals = formals,
                                                 .expect = expect,
                                                 .sample = cutmix};
