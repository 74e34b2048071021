/* Counting of classes.h. Probabilities are the softmax of the scores, or of one score an example its sigmoid. They are kept as
 * log-odds, which have their order and do not become equal near 0 and 1. */
#include "train/classes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/number.h"
#include "os/assert.h"
#include "os/message.h"

enum { SCORES, LABEL };

/* A result of an eval entry; those of rankings come first. */
static const nnc_tensor *result_of(const nnc_model *model, const nnc_entry *entry, int which) {
  NNC_ASSERT(entry->result_count == 2 * model->ranking_count + 2);
  return &entry->results[2 * model->ranking_count + which];
}

static bool explain(const nnc_model *model) {
  if (model->class_losses == 0)
    nnc_error("%s does not say which scores rate the classes of an example: it has no "
              "cross_entropy(scores, label) "
              "with scores [batch, classes] and labels [batch]; '_ = classified(scores, label)' in "
              "the program says it. Of several labels for an example there is a metric for each: "
              "metrics = [[f1(p[:, 0], truth[:, 0]), f1(p[:, 1], truth[:, 1])]]",
              model->file);
  else
    nnc_error("%s has %lld losses with scores of classes; '_ = classified(scores, label)' in the "
              "program says which "
              "are meant",
              model->file, (long long)model->class_losses);
  return false;
}

bool nnc_wants_classes(const nnc_class_tables *wanted) {
  return wanted->confusion || wanted->per_class || wanted->calibration || wanted->wrong > 0;
}

bool nnc_classes_open(nnc_classes *classes, nnc_session *session, const nnc_class_tables *wanted) {
  const nnc_model *model = session->model;
  *classes = (nnc_classes){.session = session, .wanted = *wanted};
  if (model->class_losses != 1 || !model->eval_one.run) return explain(model);
  const nnc_tensor *scores = result_of(model, &model->eval, SCORES);
  const nnc_tensor *label = result_of(model, &model->eval, LABEL);
  classes->is_binary = scores->rank == 1;
  classes->count = classes->is_binary ? 2 : scores->dim[1];
  classes->places = label->dim[0] / model->eval.batch;
  if (classes->count > NNC_MOST_CLASSES) {
    nnc_error("%s has %lld classes; the tables of classes have up to %d", model->file,
              (long long)classes->count, NNC_MOST_CLASSES);
    return false;
  }
  size_t count = (size_t)classes->count;
  classes->rows = malloc((size_t)(nnc_tensor_bytes(scores) + nnc_tensor_bytes(label)) + 1);
  classes->odds = calloc(count, sizeof *classes->odds);
  classes->confusion = calloc(count * count, sizeof *classes->confusion);
  classes->wrong =
      calloc((size_t)(wanted->wrong > 0 ? wanted->wrong : 0) + 1, sizeof *classes->wrong);
  if (classes->rows && classes->odds && classes->confusion && classes->wrong) return true;
  nnc_error("cannot allocate the table of %lld classes", (long long)classes->count);
  nnc_classes_close(classes);
  return false;
}

void nnc_classes_close(nnc_classes *classes) {
  free(classes->rows);
  free(classes->odds);
  free(classes->confusion);
  free(classes->kept);
  free(classes->labels);
  free(classes->order);
  free(classes->wrong);
  *classes = (nnc_classes){0};
}

/* What the rankings need of a set. */
static bool make_room(nnc_classes *classes, int64_t labels) {
  size_t count = (size_t)classes->count, rows = (size_t)labels + 1;
  if (classes->kept && labels <= classes->room) return true;
  free(classes->kept);
  free(classes->labels);
  free(classes->order);
  classes->kept = calloc(rows * count, sizeof *classes->kept);
  classes->labels = calloc(rows, sizeof *classes->labels);
  classes->order = calloc(rows, sizeof *classes->order);
  classes->room = labels;
  if (classes->kept && classes->labels && classes->order) return true;
  nnc_error("cannot allocate the scores of %zu classes for %lld labels", count, (long long)labels);
  return false;
}

bool nnc_classes_start(nnc_classes *classes, const nnc_data *data) {
  size_t count = (size_t)classes->count;
  memset(classes->confusion, 0, count * count * sizeof *classes->confusion);
  classes->examples = classes->ignored = classes->wrong_count = 0;
  memset(classes->bins, 0, sizeof classes->bins);
  return !classes->wanted.per_class ||
         make_room(classes, nnc_data_examples(data) * classes->places);
}

/* ---- one example ----------------------------------------------------------------------------- */

/* Fills `odds`; the class of the greatest score, the first of equals. NaN is greater than all, as in argmax. */
static int32_t rate(nnc_classes *classes, int dtype, const void *scores, int64_t row) {
  double *odds = classes->odds;
  long double others = 0; /* so exact that its order does not matter: equal odds are equal */
  if (classes->is_binary) {
    odds[1] = nnc_number_get(dtype, scores, row);
    odds[0] = -odds[1];
    return odds[1] > 0 || isnan(odds[1]);
  }
  int32_t best = 0;
  for (int64_t i = 0; i < classes->count; i++) {
    odds[i] = nnc_number_get(dtype, scores, row * classes->count + i);
    if (!isnan(odds[best]) && (odds[i] > odds[best] || isnan(odds[i]))) best = (int32_t)i;
  }
  double greatest = odds[best];
  for (int64_t i = 0; i < classes->count; i++)
    if (i != best) others += exp(odds[i] -= greatest);
  for (int64_t i = 0; i < classes->count; i++)
    if (i != best) odds[i] -= log((double)(1 + others - exp(odds[i])));
  odds[best] = -log((double)others);
  return best;
}

/* Of equally confident ones the first example stays first. */
static void note_wrong(nnc_classes *classes, nnc_wrong wrong) {
  int64_t most = classes->wanted.wrong, at = classes->wrong_count;
  while (at > 0 && !(wrong.confidence <= classes->wrong[at - 1].confidence)) at--;
  if (at >= most) return;
  if (classes->wrong_count < most) classes->wrong_count++;
  for (int64_t i = classes->wrong_count - 1; i > at; i--) classes->wrong[i] = classes->wrong[i - 1];
  classes->wrong[at] = wrong;
}

/* What is no number is in no bin. */
static void count_bin(nnc_classes *classes, int32_t label, int32_t guess) {
  int32_t rated = classes->is_binary ? 1 : guess;
  double probability = 1 / (1 + exp(-classes->odds[rated]));
  if (isnan(probability)) return;
  double place = ceil(probability * NNC_BINS) - 1;
  nnc_bin *bin = &classes->bins[place > 0 ? (int)place : 0];
  bin->examples++;
  bin->right += label == rated;
  bin->probability += probability;
}

static void count_example(nnc_classes *classes, int32_t label, int32_t guess, int64_t number) {
  classes->confusion[label * classes->count + guess]++;
  if (classes->kept) {
    memcpy(classes->kept + classes->examples * classes->count, classes->odds,
           (size_t)classes->count * sizeof *classes->odds);
    classes->labels[classes->examples] = label;
  }
  classes->examples++;
  count_bin(classes, label, guess);
  if (label != guess)
    note_wrong(classes, (nnc_wrong){number, label, guess, 1 / (1 + exp(-classes->odds[guess]))});
}

void nnc_classes_look(void *context, const nnc_entry *entry, int64_t first) {
  nnc_classes *classes = context;
  const nnc_model *model = classes->session->model;
  const nnc_tensor *scores = result_of(model, entry, SCORES);
  const nnc_tensor *label = result_of(model, entry, LABEL);
  const nnc_device *device = classes->session->device;
  char *labels = classes->rows + nnc_tensor_bytes(scores);
  nnc_device_read(device, scores, 0, nnc_tensor_elements(scores), classes->rows);
  nnc_device_read(device, label, 0, nnc_tensor_elements(label), labels);
  for (int64_t i = 0; i < label->dim[0]; i++) {
    double number = nnc_number_get(label->dtype, labels, i);
    if (number >= 0 && number < (double)classes->count)
      count_example(classes, (int32_t)number, rate(classes, scores->dtype, classes->rows, i),
                    first + i / classes->places);
    else classes->ignored++;
  }
}

/* ---- of a class ------------------------------------------------------------------------------ */

static double share(int64_t part, int64_t whole) {
  return whole > 0 ? (double)part / (double)whole : 0;
}

nnc_class_scores nnc_classes_of(const nnc_classes *classes, int64_t class) {
  int64_t count = classes->count, guessed = 0, support = 0;
  int64_t hits = classes->confusion[class * count + class];
  for (int64_t i = 0; i < count; i++) {
    guessed += classes->confusion[i * count + class];
    support += classes->confusion[class * count + i];
  }
  for (int64_t i = 0; i < classes->examples; i++)
    classes->order[i] = (nnc_ranked){classes->kept[i * count + class], classes->labels[i] == class};
  nnc_ranking ranking = nnc_rank(classes->order, classes->examples);
  return (nnc_class_scores){.precision = share(hits, guessed),
                            .recall = share(hits, support),
                            .f1 = share(2 * hits, guessed + support),
                            .auc = ranking.auc,
                            .average = ranking.average,
                            .support = support,
                            .guessed = guessed};
}

double nnc_classes_calibration(const nnc_classes *classes) {
  double sum = 0;
  for (int i = 0; i < NNC_BINS; i++)
    sum += fabs((double)classes->bins[i].right - classes->bins[i].probability);
  return classes->examples > 0 ? sum / (double)classes->examples : 0;
}

double nnc_classes_accuracy(const nnc_classes *classes) {
  int64_t hits = 0;
  for (int64_t i = 0; i < classes->count; i++) hits += classes->confusion[i * classes->count + i];
  return share(hits, classes->examples);
}
