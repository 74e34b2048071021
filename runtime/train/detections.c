/* Detections: see detections.h. What is computed is COCO's average precision (Lin et al. 2014; cocodataset.org, "Detection
 * Evaluate") of all sizes and at most 100 boxes of a class in an image.
 *
 * Image by image the boxes of a class, the greatest score first, each take the true box that they overlap most and that
 * none before has taken, if intersection over union reaches a threshold; this is done for ten thresholds. At the end
 * the boxes of a class are put in the order of their scores. Precision at a recall is the greatest at this recall or a higher one; its
 * mean over 101 recalls, and over the classes that have true boxes, is the result. */
#include "train/detections.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/convert.h"
#include "core/number.h"
#include "os/assert.h"

enum { FOUND_NUMBERS = 6, TRUTH_NUMBERS = 5, MOST_OF_CLASS = 100, THRESHOLDS = 10, RECALLS = 101 };
enum { SCORE = 4, FOUND_CLASS = 5, TRUTH_CLASS = 4 };

/* A box of the set; hits: bit t for threshold t. */
typedef struct Found {
  double score, label;
  int64_t order;
  unsigned hits;
} Found;

typedef struct Detections {
  int64_t found_width, truth_width; /* boxes of an image */
  Found *found;
  double *truths; /* classes */
  int64_t found_count, truth_count;
  bool has_nan;
  double *found_rows, *truth_rows; /* of a batch */
  char *raw;                       /* as the device has them */
  unsigned *taken;                 /* of the true boxes of an image: bits as in hits */
  double *precision;
} Detections;

/* ---- memory ---------------------------------------------------------------------------------- */

static void close_detections(void *state) {
  Detections *all = state;
  free(all->found);
  free(all->truths);
  free(all->found_rows);
  free(all->truth_rows);
  free(all->raw);
  free(all->taken);
  free(all->precision);
  free(all);
}

static void *open_detections(int64_t images, const nnc_tensor *found, const nnc_tensor *truth) {
  Detections *all = calloc(1, sizeof *all);
  if (!all) return NULL;
  all->found_width = found->dim[1];
  all->truth_width = truth->dim[1];
  size_t most = (size_t)(images * all->found_width) + 1;
  all->found = calloc(most, sizeof *all->found);
  all->truths = calloc((size_t)(images * all->truth_width) + 1, sizeof *all->truths);
  all->found_rows = calloc((size_t)nnc_tensor_elements(found) + 1, sizeof *all->found_rows);
  all->truth_rows = calloc((size_t)nnc_tensor_elements(truth) + 1, sizeof *all->truth_rows);
  all->raw = malloc((size_t)(nnc_tensor_bytes(found) + nnc_tensor_bytes(truth)) + 1);
  all->taken = calloc((size_t)all->truth_width + 1, sizeof *all->taken);
  all->precision = calloc(most, sizeof *all->precision);
  if (all->found && all->truths && all->found_rows && all->truth_rows && all->raw && all->taken &&
      all->precision)
    return all;
  close_detections(all);
  return NULL;
}

static void reset_detections(void *state) {
  Detections *all = state;
  all->found_count = all->truth_count = 0;
  all->has_nan = false;
}

/* ---- an image -------------------------------------------------------------------------------- */

/* By class, then from the greatest score, equal ones as they came. */
static int compare_found(const void *a, const void *b) {
  const Found *x = a, *y = b;
  if (x->label != y->label) return x->label < y->label ? -1 : 1;
  if (x->score != y->score) return x->score > y->score ? -1 : 1;
  return x->order < y->order ? -1 : 1;
}

static double threshold(int t) { return t == THRESHOLDS - 1 ? 0.95 : 0.5 + t * ((0.95 - 0.5) / 9); }

/* Intersection over union. */
static double overlap_of(const double *a, const double *b) {
  double width = fmin(a[2], b[2]) - fmax(a[0], b[0]), height = fmin(a[3], b[3]) - fmax(a[1], b[1]);
  if (!(width > 0 && height > 0)) return 0;
  double both = width * height;
  double areas = (a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]);
  return both / (areas - both);
}

/* The box takes a true one of its class for each threshold; of equal overlaps the last. */
static unsigned match(const Detections *all, const double *box, double label,
                      const double *truths) {
  unsigned hits = 0;
  for (int t = 0; t < THRESHOLDS; t++) {
    double most = threshold(t);
    int64_t best = -1;
    for (int64_t k = 0; k < all->truth_width; k++) {
      const double *truth = truths + k * TRUTH_NUMBERS;
      if (truth[TRUTH_CLASS] != label || (all->taken[k] & 1u << t)) continue;
      double overlap = overlap_of(box, truth);
      if (overlap >= most) most = overlap, best = k;
    }
    if (best < 0) continue;
    all->taken[best] |= 1u << t;
    hits |= 1u << t;
  }
  return hits;
}

/* `order` of an image's boxes is their number until they are matched. */
static void take_image(Detections *all, const double *boxes, const double *truths) {
  Found *first = all->found + all->found_count;
  int64_t count = 0, kept = 0, of_class = 0;
  for (int64_t i = 0; i < all->found_width; i++) {
    const double *box = boxes + i * FOUND_NUMBERS;
    if (!(box[FOUND_CLASS] >= 0)) continue;
    all->has_nan = all->has_nan || isnan(box[SCORE]);
    first[count++] = (Found){.score = box[SCORE], .label = box[FOUND_CLASS], .order = i};
  }
  for (int64_t k = 0; k < all->truth_width; k++) {
    double label = truths[k * TRUTH_NUMBERS + TRUTH_CLASS];
    if (label >= 0) all->truths[all->truth_count++] = label;
    all->taken[k] = 0;
  }
  qsort(first, (size_t)count, sizeof *first, compare_found);
  for (int64_t i = 0; i < count; i++) {
    Found found = first[i];
    bool is_next = i > 0 && kept > 0 && first[kept - 1].label == found.label;
    of_class = is_next ? of_class + 1 : 1;
    if (of_class > MOST_OF_CLASS) continue;
    found.hits = match(all, boxes + found.order * FOUND_NUMBERS, found.label, truths);
    found.order = all->found_count + kept;
    first[kept++] = found;
  }
  all->found_count += kept;
}

static void read_rows(Detections *all, const nnc_device *device, const nnc_tensor *tensor,
                      double *rows) {
  int64_t elements = nnc_tensor_elements(tensor);
  nnc_device_read(device, tensor, 0, elements, all->raw);
  nnc_load_doubles(tensor->dtype, all->raw, elements, rows);
}

static void take_detections(void *state, const nnc_device *device, const nnc_tensor *found,
                            const nnc_tensor *truth) {
  Detections *all = state;
  NNC_ASSERT(found->dim[1] == all->found_width && truth->dim[1] == all->truth_width);
  read_rows(all, device, found, all->found_rows);
  read_rows(all, device, truth, all->truth_rows);
  for (int64_t i = 0; i < found->dim[0]; i++)
    take_image(all, all->found_rows + i * all->found_width * FOUND_NUMBERS,
               all->truth_rows + i * all->truth_width * TRUTH_NUMBERS);
}

/* ---- the set --------------------------------------------------------------------------------- */

static int compare_classes(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}

static int hit_of(const Found *found, int t) { return (int)(found->hits >> t & 1); }

/* The sum over the recalls of the precision of `count` boxes, in the order of their scores, of a class with so many true ones. */
static double sum_precision(const Detections *all, const Found *found, int64_t count, double truths,
                            int t) {
  double hits = 0, sum = 0;
  for (int64_t i = 0; i < count; i++) {
    hits += hit_of(&found[i], t);
    all->precision[i] = hits / (double)(i + 1);
  }
  for (int64_t i = count - 1; i > 0; i--)
    all->precision[i - 1] = fmax(all->precision[i - 1], all->precision[i]);
  hits = 0;
  int64_t taken = 0; /* boxes, until they have the recall */
  for (int recall = 0; recall < RECALLS; recall++) {
    for (; taken == 0 || hits / truths < recall * 0.01; taken++) {
      if (taken == count) return sum;
      hits += hit_of(&found[taken], t);
    }
    sum += all->precision[taken - 1];
  }
  return sum;
}

/* Of one threshold, or of all. */
static double finish_detections(void *state, int ranking) {
  Detections *all = state;
  bool is_mean = ranking == NNC_RANKING_BOXES;
  int first_t = is_mean ? 0 : (ranking - 50) / 5, last_t = is_mean ? THRESHOLDS - 1 : first_t;
  double sum = 0, classes = 0;
  if (all->has_nan) return NAN;
  qsort(all->found, (size_t)all->found_count, sizeof *all->found, compare_found);
  qsort(all->truths, (size_t)all->truth_count, sizeof *all->truths, compare_classes);
  for (int64_t at = 0, box = 0; at < all->truth_count; classes++) {
    double label = all->truths[at];
    int64_t first = at, count = 0;
    while (at < all->truth_count && all->truths[at] == label) at++;
    while (box < all->found_count && all->found[box].label < label) box++;
    while (box + count < all->found_count && all->found[box + count].label == label) count++;
    for (int t = first_t; t <= last_t; t++)
      sum += sum_precision(all, all->found + box, count, (double)(at - first), t);
  }
  return classes > 0 ? sum / (classes * (last_t - first_t + 1) * RECALLS) : NAN;
}

const struct nnc_detection_class nnc_detections = {
    open_detections, reset_detections, take_detections, finish_detections, close_detections};
