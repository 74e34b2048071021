/* Tables and JSON of classes.h. Classes have the names of the data's categories or folders, else their numbers. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/json.h"
#include "os/message.h"
#include "os/printable.h"
#include "train/classes.h"

/* NULL: it has none. */
static const char *given_name(const nnc_classes *classes, int64_t class) {
  const nnc_session *session = classes->session;
  const char *input = session->model->class_input;
  const nnc_fitted_value *names = input ? nnc_fitted_class_names(&session->fitted, input) : NULL;
  return names && names->strings && class < names->count ? names->strings[class] : NULL;
}

const char *nnc_class_name(const nnc_classes *classes, int64_t class, char name[NNC_CLASS_NAME]) {
  const char *given = given_name(classes, class);
  if (given) snprintf(name, NNC_CLASS_NAME, "%s", nnc_printable(given));
  else snprintf(name, NNC_CLASS_NAME, "%lld", (long long)class);
  return name;
}

static int64_t count_of(const nnc_classes *classes, int64_t label, int64_t guess) {
  return classes->confusion[label * classes->count + guess];
}

/* Columns that the longest name takes, and the largest number. */
static int name_width(const nnc_classes *classes, int least) {
  char name[NNC_CLASS_NAME];
  for (int64_t i = 0; i < classes->count; i++) {
    int width = nnc_progress_width(nnc_class_name(classes, i, name));
    if (width > least) least = width;
  }
  return least;
}

static void put_padded(const char *text, int width, bool is_left) {
  int rest = width - nnc_progress_width(text);
  printf("%s%*s", is_left ? text : "", rest > 0 ? rest : 0, "");
  if (!is_left) fputs(text, stdout);
}

/* ---- tables ---------------------------------------------------------------------------------- */

static void print_matrix(const nnc_classes *classes) {
  char name[NNC_CLASS_NAME];
  int first = name_width(classes, 4), width = name_width(classes, 6);
  puts("\ntrue class, and what it was taken for:");
  printf("%*s", first, "");
  for (int64_t guess = 0; guess < classes->count; guess++) {
    putchar(' ');
    put_padded(nnc_class_name(classes, guess, name), width, false);
  }
  putchar('\n');
  for (int64_t label = 0; label < classes->count; label++) {
    put_padded(nnc_class_name(classes, label, name), first, true);
    for (int64_t guess = 0; guess < classes->count; guess++)
      printf(" %*lld", width, (long long)count_of(classes, label, guess));
    putchar('\n');
  }
}

nnc_mistake nnc_next_mistake(const nnc_classes *classes, nnc_mistake last) {
  nnc_mistake best = {.count = 0};
  for (int64_t label = 0; label < classes->count; label++)
    for (int64_t guess = 0; guess < classes->count; guess++) {
      int64_t count = count_of(classes, label, guess);
      bool is_later = count < last.count ||
                      (count == last.count &&
                       (label > last.label || (label == last.label && guess > last.guess)));
      if (label != guess && is_later && count > best.count)
        best = (nnc_mistake){label, guess, count};
    }
  return best;
}

/* Of a matrix that is too wide to be read. */
static void print_mistakes(const nnc_classes *classes) {
  char label[NNC_CLASS_NAME], guess[NNC_CLASS_NAME];
  nnc_mistake mistake = {.count = INT64_MAX};
  printf("\nthe most frequent mistakes of %lld classes (--json has the whole table):\n",
         (long long)classes->count);
  for (int i = 0; i < NNC_MOST_MISTAKES; i++) {
    mistake = nnc_next_mistake(classes, mistake);
    if (mistake.count == 0) break;
    printf("%8lld  %s taken for %s\n", (long long)mistake.count,
           nnc_class_name(classes, mistake.label, label),
           nnc_class_name(classes, mistake.guess, guess));
  }
}

static void print_scores(const char *name, int width, const nnc_class_scores *scores) {
  put_padded(name, width, true);
  printf(" %9.4f %9.4f %9.4f %9.4f %9.4f %9lld\n", scores->precision, scores->recall, scores->f1,
         scores->auc, scores->average, (long long)scores->support);
}

/* What adds up to a mean over the classes, each with its weight. */
static void add_scores(nnc_class_scores *sum, const nnc_class_scores *scores, double weight) {
  sum->precision += weight * scores->precision;
  sum->recall += weight * scores->recall;
  sum->f1 += weight * scores->f1;
  sum->auc += weight * scores->auc;
  sum->average += weight * scores->average;
  sum->support += scores->support;
}

bool nnc_visit_scores(const nnc_classes *classes, nnc_scores_sink *sink, void *context) {
  nnc_ranked *room = malloc((size_t)classes->examples * sizeof *room + 1);
  nnc_class_scores macro = {0}, weighted = {0};
  if (!room) {
    nnc_error("cannot allocate the ranking of %lld examples", (long long)classes->examples);
    return false;
  }
  double examples = classes->examples > 0 ? (double)classes->examples : 1;
  for (int64_t i = 0; i < classes->count; i++) {
    nnc_class_scores scores = nnc_classes_of(classes, i, room);
    sink(context, i, &scores);
    add_scores(&macro, &scores, 1 / (double)classes->count);
    add_scores(&weighted, &scores, (double)scores.support / examples);
  }
  free(room);
  sink(context, -1, &macro);
  sink(context, -2, &weighted);
  return true;
}

typedef struct Table {
  const nnc_classes *classes;
  int width;
} Table;

static void print_class(void *context, int64_t class, const nnc_class_scores *scores) {
  const Table *table = context;
  char name[NNC_CLASS_NAME];
  print_scores(class == -1   ? "mean"
               : class == -2 ? "by support"
                             : nnc_class_name(table->classes, class, name),
               table->width, scores);
}

static bool print_per_class(const nnc_classes *classes) {
  Table table = {classes, name_width(classes, 10)};
  printf("\n%*s %9s %9s %9s %9s %9s %9s\n", -table.width, "class", "precision", "recall", "f1",
         "auc", "average", "support");
  return nnc_visit_scores(classes, print_class, &table);
}

static void print_calibration(const nnc_classes *classes) {
  printf("\nhow often %s is right, by its probability; mean distance %.4f:\n%-13s %9s %11s %9s\n",
         classes->is_binary ? "class 1" : "a guess", nnc_classes_calibration(classes),
         "probability", "examples", "mean", "right");
  for (int i = 0; i < NNC_BINS; i++) {
    const nnc_bin *bin = &classes->bins[i];
    if (bin->examples == 0) continue;
    double count = (double)bin->examples;
    printf("%.3f - %.3f %9lld %11.4f %9.4f\n", (double)i / NNC_BINS, (double)(i + 1) / NNC_BINS,
           (long long)bin->examples, bin->probability / count, (double)bin->right / count);
  }
}

static void print_wrong(const nnc_classes *classes, const nnc_data *data) {
  char label[NNC_CLASS_NAME], guess[NNC_CLASS_NAME];
  printf("\nthe most confidently wrong:\n%10s %10s  class, and what it was taken for\n", "number",
         "confidence");
  for (int64_t i = 0; i < classes->wrong_count; i++) {
    const nnc_wrong *wrong = &classes->wrong[i];
    const char *file = nnc_data_row_name(data, wrong->number);
    printf("%10lld %10.6f  %s -> %s", (long long)wrong->number, wrong->confidence,
           nnc_class_name(classes, wrong->label, label),
           nnc_class_name(classes, wrong->guess, guess));
    if (file) printf("  %s", nnc_printable(file));
    putchar('\n');
  }
}

bool nnc_classes_print(const nnc_classes *classes, const nnc_data *data) {
  const nnc_options *options = classes->options;
  bool good = true;
  if (options->confusion && classes->count <= NNC_WIDEST_MATRIX) print_matrix(classes);
  else if (options->confusion) print_mistakes(classes);
  if (options->per_class) good = print_per_class(classes);
  if (options->calibration) print_calibration(classes);
  if (options->wrong > 0) print_wrong(classes, data);
  printf("\n%lld examples, %.6g of them right", (long long)classes->examples,
         nnc_classes_accuracy(classes));
  if (classes->ignored > 0)
    printf("; %lld others have no class that counts", (long long)classes->ignored);
  puts("\n");
  return good;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void put_class(const nnc_classes *classes, int64_t class) {
  const char *name = given_name(classes, class);
  if (name) nnc_json_put_string(stdout, name);
  else printf("%lld", (long long)class);
}

static void put_number(const char *name, double value) {
  printf(",\"%s\":", name);
  nnc_json_put_number(stdout, value);
}

static void put_scores(void *context, int64_t class, const nnc_class_scores *scores) {
  const nnc_classes *classes = context;
  if (class >= 0) {
    fputs(class ? ",{\"class\":" : "{\"class\":", stdout);
    put_class(classes, class);
  } else {
    fputs(class == -1 ? "],\"mean\":{\"classes\":" : ",\"by_support\":{\"classes\":", stdout);
    printf("%lld", (long long)classes->count);
  }
  put_number("precision", scores->precision);
  put_number("recall", scores->recall);
  put_number("f1", scores->f1);
  put_number("auc", scores->auc);
  put_number("average_precision", scores->average);
  printf(",\"support\":%lld}", (long long)scores->support);
}

static void put_matrix(const nnc_classes *classes) {
  fputs(",\"confusion\":[", stdout);
  for (int64_t label = 0; label < classes->count; label++) {
    fputs(label ? ",[" : "[", stdout);
    for (int64_t guess = 0; guess < classes->count; guess++)
      printf("%s%lld", guess ? "," : "", (long long)count_of(classes, label, guess));
    putchar(']');
  }
  putchar(']');
}

static void put_calibration(const nnc_classes *classes) {
  bool is_first = true;
  fputs(",\"calibration\":{\"distance\":", stdout);
  nnc_json_put_number(stdout, nnc_classes_calibration(classes));
  fputs(",\"bins\":[", stdout);
  for (int i = 0; i < NNC_BINS; i++) {
    const nnc_bin *bin = &classes->bins[i];
    if (bin->examples == 0) continue;
    fputs(is_first ? "{\"from\":" : ",{\"from\":", stdout);
    is_first = false;
    nnc_json_put_number(stdout, (double)i / NNC_BINS);
    put_number("to", (double)(i + 1) / NNC_BINS);
    printf(",\"examples\":%lld", (long long)bin->examples);
    put_number("probability", bin->probability / (double)bin->examples);
    put_number("right", (double)bin->right / (double)bin->examples);
    putchar('}');
  }
  fputs("]}", stdout);
}

static void put_wrong(const nnc_classes *classes, const nnc_data *data) {
  fputs(",\"wrong\":[", stdout);
  for (int64_t i = 0; i < classes->wrong_count; i++) {
    const nnc_wrong *wrong = &classes->wrong[i];
    const char *file = nnc_data_row_name(data, wrong->number);
    printf("%s{\"number\":%lld", i ? "," : "", (long long)wrong->number);
    if (file) {
      fputs(",\"file\":", stdout);
      nnc_json_put_string(stdout, file);
    }
    fputs(",\"class\":", stdout);
    put_class(classes, wrong->label);
    fputs(",\"taken_for\":", stdout);
    put_class(classes, wrong->guess);
    put_number("confidence", wrong->confidence);
    putchar('}');
  }
  putchar(']');
}

bool nnc_classes_put_json(const nnc_classes *classes, const nnc_data *data) {
  const nnc_options *options = classes->options;
  fputs(",\"classes\":[", stdout);
  for (int64_t i = 0; i < classes->count; i++) {
    if (i) putchar(',');
    put_class(classes, i);
  }
  printf("],\"counted\":%lld,\"ignored\":%lld", (long long)classes->examples,
         (long long)classes->ignored);
  put_number("right", nnc_classes_accuracy(classes));
  if (options->confusion) put_matrix(classes);
  if (options->per_class) {
    fputs(",\"per_class\":[", stdout);
    if (!nnc_visit_scores(classes, put_scores, (void *)classes)) return false;
  }
  if (options->calibration) put_calibration(classes);
  if (options->wrong > 0) put_wrong(classes, data);
  return true;
}
