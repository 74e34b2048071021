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

static void put_padded(FILE *file, const char *text, int width, bool is_left) {
  int rest = width - nnc_progress_width(text);
  fprintf(file, "%s%*s", is_left ? text : "", rest > 0 ? rest : 0, "");
  if (!is_left) fputs(text, file);
}

/* ---- tables ---------------------------------------------------------------------------------- */

static void print_matrix(FILE *file, const nnc_classes *classes) {
  char name[NNC_CLASS_NAME];
  int first = name_width(classes, 4), width = name_width(classes, 6);
  fputs("\ntrue class, and what it was taken for:\n", file);
  fprintf(file, "%*s", first, "");
  for (int64_t guess = 0; guess < classes->count; guess++) {
    fputc(' ', file);
    put_padded(file, nnc_class_name(classes, guess, name), width, false);
  }
  fputc('\n', file);
  for (int64_t label = 0; label < classes->count; label++) {
    put_padded(file, nnc_class_name(classes, label, name), first, true);
    for (int64_t guess = 0; guess < classes->count; guess++)
      fprintf(file, " %*lld", width, (long long)count_of(classes, label, guess));
    fputc('\n', file);
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
static void print_mistakes(FILE *file, const nnc_classes *classes) {
  char label[NNC_CLASS_NAME], guess[NNC_CLASS_NAME];
  nnc_mistake mistake = {.count = INT64_MAX};
  fprintf(file,
          "\nthe most frequent mistakes of %lld classes (--json and logs have the whole table):\n",
          (long long)classes->count);
  for (int i = 0; i < NNC_MOST_MISTAKES; i++) {
    mistake = nnc_next_mistake(classes, mistake);
    if (mistake.count == 0) break;
    fprintf(file, "%8lld  %s taken for %s\n", (long long)mistake.count,
            nnc_class_name(classes, mistake.label, label),
            nnc_class_name(classes, mistake.guess, guess));
  }
}

static void print_scores(FILE *file, const char *name, int width, const nnc_class_scores *scores) {
  put_padded(file, name, width, true);
  fprintf(file, " %9.4f %9.4f %9.4f %9.4f %14.4f %9lld\n", scores->precision, scores->recall,
          scores->f1, scores->auc, scores->average, (long long)scores->support);
}

typedef struct Means {
  nnc_class_scores sum;
  double weights, auc_weights, average_weights; /* of what is in the sum */
} Means;

static void add_ranking(double *sum, double *weights, double value, double weight) {
  if (isnan(value)) return;
  *sum += weight * value;
  *weights += weight;
}

static void add_scores(Means *means, const nnc_class_scores *scores, double weight) {
  means->weights += weight;
  means->sum.precision += weight * scores->precision;
  means->sum.recall += weight * scores->recall;
  means->sum.f1 += weight * scores->f1;
  means->sum.support += scores->support;
  means->sum.guessed += scores->guessed;
  if (weight == 0) return;
  add_ranking(&means->sum.auc, &means->auc_weights, scores->auc, weight);
  add_ranking(&means->sum.average, &means->average_weights, scores->average, weight);
}

static nnc_class_scores mean_of(const Means *means) {
  nnc_class_scores mean = means->sum;
  double weights = means->weights > 0 ? means->weights : 1;
  mean.precision /= weights;
  mean.recall /= weights;
  mean.f1 /= weights;
  mean.auc = means->auc_weights > 0 ? mean.auc / means->auc_weights : NAN;
  mean.average = means->average_weights > 0 ? mean.average / means->average_weights : NAN;
  return mean;
}

void nnc_visit_scores(const nnc_classes *classes, nnc_scores_sink *sink, void *context) {
  Means plain = {0}, weighted = {0};
  for (int64_t i = 0; i < classes->count; i++) {
    nnc_class_scores scores = nnc_classes_of(classes, i);
    sink(context, i, &scores);
    add_scores(&plain, &scores, scores.support + scores.guessed > 0);
    add_scores(&weighted, &scores, (double)scores.support);
  }
  nnc_class_scores mean = mean_of(&plain), by_support = mean_of(&weighted);
  sink(context, -1, &mean);
  sink(context, -2, &by_support);
}

typedef struct Table {
  FILE *file;
  const nnc_classes *classes;
  int width; /* of the names */
} Table;

static void print_class(void *context, int64_t class, const nnc_class_scores *scores) {
  const Table *table = context;
  char name[NNC_CLASS_NAME];
  print_scores(table->file,
               class == -1   ? "mean"
               : class == -2 ? "by support"
                             : nnc_class_name(table->classes, class, name),
               table->width, scores);
}

static void print_per_class(FILE *file, const nnc_classes *classes) {
  Table table = {file, classes, name_width(classes, 10)};
  fprintf(file, "\n%*s %9s %9s %9s %9s %14s %9s\n", -table.width, "class", "precision", "recall",
          "f1", "auc", "avg. precision", "support");
  nnc_visit_scores(classes, print_class, &table);
}

static void print_calibration(FILE *file, const nnc_classes *classes) {
  fprintf(file,
          "\nhow often %s is right, by its probability; mean distance %.4f:\n%-13s %9s %11s %9s\n",
          classes->is_binary ? "class 1" : "a guess", nnc_classes_calibration(classes),
          "probability", "examples", "mean", "right");
  for (int i = 0; i < NNC_BINS; i++) {
    const nnc_bin *bin = &classes->bins[i];
    if (bin->examples == 0) continue;
    double count = (double)bin->examples;
    fprintf(file, "%.3f - %.3f %9lld %11.4f %9.4f\n", (double)i / NNC_BINS,
            (double)(i + 1) / NNC_BINS, (long long)bin->examples, bin->probability / count,
            (double)bin->right / count);
  }
}

static void print_wrong(FILE *file, const nnc_classes *classes, const nnc_data *data) {
  char label[NNC_CLASS_NAME], guess[NNC_CLASS_NAME];
  fprintf(file, "\nthe most confidently wrong:\n%10s %10s  class, and what it was taken for\n",
          "number", "confidence");
  for (int64_t i = 0; i < classes->wrong_count; i++) {
    const nnc_wrong *wrong = &classes->wrong[i];
    const char *path = nnc_data_row_name(data, wrong->number);
    fprintf(file, "%10lld %10.6f  %s -> %s", (long long)wrong->number, wrong->confidence,
            nnc_class_name(classes, wrong->label, label),
            nnc_class_name(classes, wrong->guess, guess));
    if (path) fprintf(file, "  %s", nnc_printable(path));
    fputc('\n', file);
  }
}

void nnc_classes_print(FILE *file, const nnc_classes *classes, const nnc_data *data) {
  const nnc_class_tables *wanted = &classes->wanted;
  if (wanted->confusion && classes->count <= NNC_WIDEST_MATRIX) print_matrix(file, classes);
  else if (wanted->confusion) print_mistakes(file, classes);
  if (wanted->per_class) print_per_class(file, classes);
  if (wanted->calibration) print_calibration(file, classes);
  if (wanted->wrong > 0) print_wrong(file, classes, data);
  fprintf(file, "\n%lld examples, %.6g of them right", (long long)classes->examples,
          nnc_classes_accuracy(classes));
  if (classes->ignored > 0)
    fprintf(file, "; %lld others have no class that counts", (long long)classes->ignored);
  fputs("\n\n", file);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void put_class(FILE *file, const nnc_classes *classes, int64_t class) {
  const char *name = given_name(classes, class);
  if (name) nnc_json_put_string(file, name);
  else fprintf(file, "%lld", (long long)class);
}

static void put_number(FILE *file, const char *name, double value) {
  fprintf(file, ",\"%s\":", name);
  nnc_json_put_number(file, value);
}

static void put_scores(void *context, int64_t class, const nnc_class_scores *scores) {
  const Table *table = context;
  const nnc_classes *classes = table->classes;
  FILE *file = table->file;
  if (class >= 0) {
    fputs(class ? ",{\"class\":" : "{\"class\":", file);
    put_class(file, classes, class);
  } else {
    fputs(class == -1 ? "],\"mean\":{\"classes\":" : ",\"by_support\":{\"classes\":", file);
    fprintf(file, "%lld", (long long)classes->count);
  }
  put_number(file, "precision", scores->precision);
  put_number(file, "recall", scores->recall);
  put_number(file, "f1", scores->f1);
  put_number(file, "auc", scores->auc);
  put_number(file, "average_precision", scores->average);
  fprintf(file, ",\"support\":%lld}", (long long)scores->support);
}

static void put_matrix(FILE *file, const nnc_classes *classes) {
  fputs(",\"confusion\":[", file);
  for (int64_t label = 0; label < classes->count; label++) {
    fputs(label ? ",[" : "[", file);
    for (int64_t guess = 0; guess < classes->count; guess++)
      fprintf(file, "%s%lld", guess ? "," : "", (long long)count_of(classes, label, guess));
    fputc(']', file);
  }
  fputc(']', file);
}

static void put_calibration(FILE *file, const nnc_classes *classes) {
  bool is_first = true;
  fputs(",\"calibration\":{\"distance\":", file);
  nnc_json_put_number(file, nnc_classes_calibration(classes));
  fputs(",\"bins\":[", file);
  for (int i = 0; i < NNC_BINS; i++) {
    const nnc_bin *bin = &classes->bins[i];
    if (bin->examples == 0) continue;
    fputs(is_first ? "{\"from\":" : ",{\"from\":", file);
    is_first = false;
    nnc_json_put_number(file, (double)i / NNC_BINS);
    put_number(file, "to", (double)(i + 1) / NNC_BINS);
    fprintf(file, ",\"examples\":%lld", (long long)bin->examples);
    put_number(file, "probability", bin->probability / (double)bin->examples);
    put_number(file, "right", (double)bin->right / (double)bin->examples);
    fputc('}', file);
  }
  fputs("]}", file);
}

static void put_wrong(FILE *file, const nnc_classes *classes, const nnc_data *data) {
  fputs(",\"wrong\":[", file);
  for (int64_t i = 0; i < classes->wrong_count; i++) {
    const nnc_wrong *wrong = &classes->wrong[i];
    const char *path = nnc_data_row_name(data, wrong->number);
    fprintf(file, "%s{\"number\":%lld", i ? "," : "", (long long)wrong->number);
    if (path) {
      fputs(",\"file\":", file);
      nnc_json_put_string(file, path);
    }
    fputs(",\"class\":", file);
    put_class(file, classes, wrong->label);
    fputs(",\"taken_for\":", file);
    put_class(file, classes, wrong->guess);
    put_number(file, "confidence", wrong->confidence);
    fputc('}', file);
  }
  fputc(']', file);
}

void nnc_classes_put_json(FILE *file, const nnc_classes *classes, const nnc_data *data) {
  const nnc_class_tables *wanted = &classes->wanted;
  fputs(",\"classes\":[", file);
  for (int64_t i = 0; i < classes->count; i++) {
    if (i) fputc(',', file);
    put_class(file, classes, i);
  }
  fprintf(file, "],\"counted\":%lld,\"ignored\":%lld", (long long)classes->examples,
          (long long)classes->ignored);
  put_number(file, "right", nnc_classes_accuracy(classes));
  if (wanted->confusion) put_matrix(file, classes);
  if (wanted->per_class) {
    Table table = {file, classes, 0};
    fputs(",\"per_class\":[", file);
    nnc_visit_scores(classes, put_scores, &table);
  }
  if (wanted->calibration) put_calibration(file, classes);
  if (wanted->wrong > 0) put_wrong(file, classes, data);
}
