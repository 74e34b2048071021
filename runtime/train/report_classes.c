/* Tables of classes in a page: see report_classes.h. */
#include "train/report_classes.h"

#include <math.h>

#include "report/page.h"

enum { MOST_CLASSES = 200 };

static int64_t count_of(const nnc_classes *classes, int64_t label, int64_t guess) {
  return classes->confusion[label * classes->count + guess];
}

static int64_t support_of(const nnc_classes *classes, int64_t label) {
  int64_t support = 0;
  for (int64_t guess = 0; guess < classes->count; guess++)
    support += count_of(classes, label, guess);
  return support;
}

static void put_name(FILE *file, const nnc_classes *classes, int64_t class, const char *scope) {
  char name[NNC_CLASS_NAME];
  fprintf(file, "<th scope=\"%s\">", scope);
  nnc_page_text(file, nnc_class_name(classes, class, name));
  fputs("</th>", file);
}

static void put_matrix(FILE *file, const nnc_classes *classes) {
  nnc_page_table(file, "heat", "True classes and what they were taken for");
  fputs("<caption>Rows: the true class; columns: what it was taken for; colour: the share of the "
        "row</caption>\n<tr><td></td>",
        file);
  for (int64_t guess = 0; guess < classes->count; guess++) put_name(file, classes, guess, "col");
  fputs("</tr>\n", file);
  for (int64_t label = 0; label < classes->count; label++) {
    int64_t support = support_of(classes, label);
    fputs("<tr>", file);
    put_name(file, classes, label, "row");
    for (int64_t guess = 0; guess < classes->count; guess++) {
      int64_t count = count_of(classes, label, guess);
      fprintf(file, "<td style=\"--v:%.3f\">%lld</td>",
              support > 0 ? (double)count / (double)support : 0, (long long)count);
    }
    fputs("</tr>\n", file);
  }
  fputs("</table></div>\n", file);
}

static void put_mistakes(FILE *file, const nnc_classes *classes) {
  static const char *const names[] = {">examples", "class", "taken for"};
  char name[NNC_CLASS_NAME];
  nnc_mistake mistake = {.count = INT64_MAX};
  nnc_page_head(file, "The most frequent mistakes", 3, names);
  for (int i = 0; i < NNC_MOST_MISTAKES; i++) {
    mistake = nnc_next_mistake(classes, mistake);
    if (mistake.count == 0) break;
    fprintf(file, "<tr><td class=\"n\">%lld</td>", (long long)mistake.count);
    nnc_page_cell(file, nnc_class_name(classes, mistake.label, name));
    nnc_page_cell(file, nnc_class_name(classes, mistake.guess, name));
    fputs("</tr>\n", file);
  }
  fputs("</table></div>\n", file);
}

typedef struct Table {
  FILE *file;
  const nnc_classes *classes;
} Table;

static void put_scores(void *context, int64_t class, const nnc_class_scores *scores) {
  const Table *table = context;
  char name[NNC_CLASS_NAME];
  if (class >= MOST_CLASSES) return;
  fputs("<tr>", table->file);
  nnc_page_cell(table->file, class == -1   ? "mean"
                             : class == -2 ? "by support"
                                           : nnc_class_name(table->classes, class, name));
  const double numbers[] = {scores->precision, scores->recall, scores->f1, scores->auc,
                            scores->average};
  for (int i = 0; i < 5; i++) {
    snprintf(name, sizeof name, "%.4f", numbers[i]);
    fprintf(table->file, "<td class=\"n\">%s</td>", isnan(numbers[i]) ? "NaN" : name);
  }
  fprintf(table->file, "<td class=\"n\">%lld</td></tr>\n", (long long)scores->support);
}

static void put_calibration(FILE *file, const nnc_classes *classes) {
  static const char *const names[] = {"probability", ">examples", ">mean", ">right"};
  nnc_page_head(file,
                classes->is_binary ? "How often class 1 is right, by its probability"
                                   : "How often a guess is right, by its probability",
                4, names);
  for (int i = 0; i < NNC_BINS; i++) {
    const nnc_bin *bin = &classes->bins[i];
    if (bin->examples == 0) continue;
    double count = (double)bin->examples;
    fprintf(file,
            "<tr><td>%.3f to %.3f</td><td class=\"n\">%lld</td><td class=\"n\">%.4f</td>"
            "<td class=\"n\">%.4f</td></tr>\n",
            (double)i / NNC_BINS, (double)(i + 1) / NNC_BINS, (long long)bin->examples,
            bin->probability / count, (double)bin->right / count);
  }
  fprintf(file, "</table></div>\n<p>The mean distance of the two is %.4f.</p>\n",
          nnc_classes_calibration(classes));
}

void nnc_report_put_classes(FILE *file, const nnc_classes *classes, const char *set) {
  static const char *const names[] = {"class", ">precision",      ">recall", ">F1",
                                      ">AUC",  ">avg. precision", ">support"};
  nnc_page_section(file, "Classes");
  fprintf(file, "<p>%.6g %% of %lld examples of <b>", 100 * nnc_classes_accuracy(classes),
          (long long)classes->examples);
  nnc_page_text(file, set);
  fputs("</b> are right.</p>\n", file);
  if (classes->count <= NNC_WIDEST_MATRIX) put_matrix(file, classes);
  else put_mistakes(file, classes);
  nnc_page_head(file, classes->count > MOST_CLASSES ? "Each of the first classes" : "Each class", 7,
                names);
  Table table = {file, classes};
  nnc_visit_scores(classes, put_scores, &table);
  fputs("</table></div>\n", file);
  put_calibration(file, classes);
}
