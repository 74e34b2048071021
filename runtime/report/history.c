/* Reading logs: see history.h. */
#include "report/history.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/json_numbers.h"
#include "os/message.h"

const nnc_series *nnc_history_find(const nnc_history *history, const char *name) {
  for (int i = 0; i < history->series_count; i++)
    if (strcmp(history->series[i].name, name) == 0) return &history->series[i];
  return NULL;
}

double nnc_history_value(const nnc_history *history, const char *name, int64_t report) {
  const nnc_series *series = nnc_history_find(history, name);
  return series && report >= 0 && report < history->count && series->has[report]
             ? series->values[report]
             : NAN;
}

void nnc_history_free(nnc_history *history) {
  for (int i = 0; i < history->series_count; i++) {
    free(history->series[i].name);
    free(history->series[i].values);
    free(history->series[i].has);
  }
  for (int i = 0; i < history->command_count; i++) free(history->commands[i]);
  if (history->classes) nnc_history_free(history->classes);
  free(history->classes);
  free(history->commands);
  free(history->series);
  *history = (nnc_history){0};
}

/* ---- growing --------------------------------------------------------------------------------- */

static bool resize(nnc_series *series, int64_t from, int64_t to) {
  double *values = realloc(series->values, (size_t)to * sizeof *values);
  if (values) series->values = values;
  bool *has = realloc(series->has, (size_t)to * sizeof *has);
  if (has) series->has = has;
  if (!values || !has) return false;
  memset(has + from, 0, (size_t)(to - from) * sizeof *has);
  return true;
}

static bool make_room(nnc_history *history) {
  if (history->count < history->room) return true;
  int64_t room = history->room > 0 ? 2 * history->room : 64;
  for (int i = 0; i < history->series_count; i++)
    if (!resize(&history->series[i], history->room, room)) return false;
  history->room = room;
  return true;
}

static nnc_series *find_or_add(nnc_history *history, const char *name) {
  const nnc_series *found = nnc_history_find(history, name);
  if (found) return &history->series[found - history->series];
  nnc_series *all =
      realloc(history->series, ((size_t)history->series_count + 1) * sizeof *history->series);
  if (!all) return NULL;
  history->series = all;
  nnc_series *added = &all[history->series_count++];
  *added = (nnc_series){.name = strdup(name)};
  return added->name && resize(added, 0, history->room) ? added : NULL;
}

/* Tables by class are no columns: those of history->classes are. */
static bool add_number(void *context, const char *name, double number) {
  nnc_history *history = context;
  if (strncmp(name, "tables/", 7) == 0) return true;
  nnc_series *series = find_or_add(history, name);
  if (!series) return false;
  series->values[history->count] = number;
  series->has[history->count] = true;
  return true;
}

/* ---- lines ----------------------------------------------------------------------------------- */

/* One word of a command line as a shell reads it. */
static void put_word(FILE *file, const char *word) {
  bool is_plain = *word && !word[strcspn(word, " \t\n'\"\\$&|;<>()*?[]#~!`")];
  if (!is_plain) fputc('\'', file);
  for (const char *c = word; *c; c++) fputs(*c == '\'' ? "'\\''" : (char[]){*c, '\0'}, file);
  if (!is_plain) fputc('\'', file);
}

static bool add_command(nnc_history *history, const nnc_json_document *document) {
  const nnc_json *words = nnc_json_member(document, document->values, "command"), *word = NULL;
  if (!words || words->kind != NNC_JSON_ARRAY) return true;
  char **all =
      realloc(history->commands, ((size_t)history->command_count + 1) * sizeof *history->commands);
  if (!all) return false;
  history->commands = all;
  size_t size;
  FILE *file = open_memstream(&all[history->command_count], &size);
  if (!file) return false;
  for (bool is_first = true; (word = nnc_json_next(document, words, word)); is_first = false) {
    if (!is_first) fputc(' ', file);
    if (word->kind == NNC_JSON_STRING) put_word(file, word->text);
  }
  if (fclose(file) != 0) return false;
  history->command_count++;
  return true;
}

/* ---- tables by class ------------------------------------------------------------------------- */

/* What a class has under a key. Classes come in one order in every line, so the next column is likely `*at`. */
static bool add_score(nnc_history *classes, const nnc_json_document *document,
                      const nnc_json *score, const char *key, const char *set, int *at) {
  char name[NNC_JSON_NAME];
  double number;
  const nnc_json *value = nnc_json_member(document, score, key);
  const nnc_json *class = nnc_json_member(document, score, "class");
  if (!value || !class || !nnc_json_number(value, &number)) return true;
  snprintf(name, sizeof name, "%s/%.*s in %s", key, class->length, class->text, set);
  if (*at < classes->series_count && strcmp(classes->series[*at].name, name) == 0) {
    nnc_series *series = &classes->series[(*at)++];
    series->values[classes->count] = number;
    return series->has[classes->count] = true;
  }
  const nnc_series *found = nnc_history_find(classes, name);
  *at = (int)(found ? found - classes->series : classes->series_count) + 1;
  return add_number(classes, name, number);
}

static bool add_classes(nnc_history *history, const nnc_json_document *document) {
  static const char *const across[] = {"epoch", "step"};
  const nnc_json *root = document->values, *set = NULL, *score = NULL;
  nnc_history *classes = history->classes;
  if (!classes) classes = history->classes = calloc(1, sizeof *classes);
  if (!classes || !make_room(classes)) return false;
  for (int i = 0; i < 2; i++) {
    const nnc_json *member = nnc_json_member(document, root, across[i]);
    double number;
    if (member && nnc_json_number(member, &number) && !add_number(classes, across[i], number))
      return false;
  }
  const nnc_json *tables = nnc_json_member(document, root, "tables");
  bool has_tables = tables && tables->kind == NNC_JSON_OBJECT;
  for (int at = 0; has_tables && (set = nnc_json_next(document, tables, set));) {
    const nnc_json *scores =
        set->kind == NNC_JSON_OBJECT ? nnc_json_member(document, set, "per_class") : NULL;
    if (!scores || scores->kind != NNC_JSON_ARRAY) continue;
    while ((score = nnc_json_next(document, scores, score)))
      if (score->kind == NNC_JSON_OBJECT &&
          (!add_score(classes, document, score, "recall", set->key, &at) ||
           !add_score(classes, document, score, "precision", set->key, &at)))
        return false;
  }
  classes->count++;
  return true;
}

/* ---- a report -------------------------------------------------------------------------------- */

/* A step that is not above the one before begins another run: several may have appended to one file. */
static bool add_line(nnc_history *history, const nnc_json_document *document) {
  double step = -1;
  const nnc_json *member = nnc_json_member(document, document->values, "step");
  if (!member || !nnc_json_number(member, &step) || !(step >= 0)) return false;
  if (history->count > 0 && step <= nnc_history_value(history, "step", history->count - 1))
    nnc_history_free(history);
  if (!make_room(history) || !nnc_json_numbers(document, add_number, history) ||
      !add_classes(history, document) || !add_command(history, document))
    return false;
  history->is_stopped = nnc_json_member(document, document->values, "stopped") != NULL;
  history->count++;
  return true;
}

static bool read_line(nnc_history *history, const char *path, long long number, char *line,
                      size_t length) {
  nnc_json_document document;
  char message[256] = "it has no step";
  bool good = nnc_json_parse(&document, line, length, message, sizeof message);
  if (good) {
    good = add_line(history, &document);
    nnc_json_free(&document);
  }
  if (!good) nnc_error("%s:%lld: no line of a log: %s", path, number, message);
  return good;
}

bool nnc_history_read(nnc_history *history, const char *path) {
  *history = (nnc_history){0};
  FILE *file = fopen(path, "re");
  if (!file && errno == ENOENT) return true;
  char *line = NULL;
  size_t room = 0;
  ssize_t length = 0;
  bool good = file != NULL;
  for (long long number = 1; good && (length = getline(&line, &room, file)) > 0; number++)
    if (line[length - 1] == '\n') good = read_line(history, path, number, line, (size_t)length - 1);
  if (!file || ferror(file)) {
    nnc_error_system("read", path);
    good = false;
  }
  free(line);
  if (file) fclose(file); /* only read from */
  if (!good) nnc_history_free(history);
  return good;
}

/* ---- of which program ------------------------------------------------------------------------ */

static bool has_metric(const nnc_model *model, const char *name) {
  for (int i = 0; i < model->metric_count; i++)
    if (strcmp(model->metric_names[i], name) == 0) return true;
  return false;
}

static bool has_set(const nnc_model *model, const char *name, size_t length) {
  for (int i = 0; i < model->data_set_count; i++)
    if (strncmp(model->data_sets[i].name, name, length) == 0 &&
        model->data_sets[i].name[length] == '\0')
      return true;
  return length == 5 && strncmp(name, "train", length) == 0;
}

/* "rate/head.*", of a group of parameters. */
static bool is_rate(const nnc_model *model, const char *name) {
  for (int i = 0; i < model->rate_count; i++)
    if (strcmp(model->rates[i].name, name) == 0) return true;
  return false;
}

bool nnc_history_fits(const nnc_history *history, const nnc_model *model, const char *path) {
  bool has_own = history->count == 0 || model->metric_count == 0;
  for (int i = 0; i < history->series_count; i++) {
    const char *name = history->series[i].name, *slash = strchr(name, '/');
    bool is_metric =
        slash && strncmp(name, "options/", 8) != 0 && strncmp(name, "skipped/", 8) != 0;
    if (!is_metric || is_rate(model, name)) continue;
    has_own = true;
    if (has_metric(model, slash + 1) && has_set(model, name, (size_t)(slash - name))) continue;
    nnc_error("%s is the log of another program: it has '%s', which %s does not compute", path,
              name, model->file);
    return false;
  }
  if (!has_own) nnc_error("%s is the log of another program: it has no metrics", path);
  return has_own;
}
