/* Settings: see setting.h. */
#include "core/setting.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/json.h"
#include "os/message.h"

static const double most_whole = 0x1p53; /* whole numbers that a double holds */

static const nnc_program_option *option_at(int option) { return &nnc_the_model.options[option]; }

void nnc_settings_start(nnc_settings *settings) {
  *settings = (nnc_settings){0};
  for (int i = 0; i < nnc_the_model.option_count; i++) settings->values[i] = option_at(i)->start;
}

/* --- Texts ---------------------------------------------------------------------------------- */

static char dashed(char c) { return c == '_' ? '-' : c; }

int nnc_setting_find(const char *name, size_t length) {
  for (int i = 0; i < nnc_the_model.option_count; i++) {
    const char *own = option_at(i)->name;
    size_t same = 0;
    while (same < length && own[same] && dashed(own[same]) == dashed(name[same])) same++;
    if (same == length && own[same] == '\0') return i;
  }
  return -1;
}

const char *nnc_setting_flag(int option, char buffer[64]) {
  snprintf(buffer, 64, "%s", option_at(option)->name);
  for (char *c = buffer; *c; c++) *c = dashed(*c);
  return buffer;
}

const char *nnc_setting_text(double value, char buffer[40]) {
  if (value == floor(value) && fabs(value) < 1e15) {
    snprintf(buffer, 40, "%.0f", value);
    return buffer;
  }
  for (int digits = 1; digits <= 17; digits++) {
    snprintf(buffer, 40, "%.*g", digits, value);
    if (strtod(buffer, NULL) == value) break;
  }
  return buffer;
}

const char *nnc_setting_form(int option, char buffer[160]) {
  const nnc_program_option *own = option_at(option);
  char least[40], limit[40], start[40];
  size_t at = (size_t)snprintf(buffer, 160, "%s", own->is_whole ? "a whole number" : "a number");
  if (own->unit) at += (size_t)snprintf(buffer + at, 160 - at, " of %s", own->unit);
  if (isfinite(own->least))
    at += (size_t)snprintf(buffer + at, 160 - at, " from %s", nnc_setting_text(own->least, least));
  if (isfinite(own->limit))
    at += (size_t)snprintf(buffer + at, 160 - at, "%s less than %s",
                           isfinite(own->least) ? " and" : "", nnc_setting_text(own->limit, limit));
  snprintf(buffer + at, 160 - at, ", such as %s", nnc_setting_text(own->start, start));
  return buffer;
}

/* --- Values --------------------------------------------------------------------------------- */

static bool is_allowed(const nnc_program_option *option, double value) {
  bool is_whole = value == floor(value) && fabs(value) <= most_whole;
  return isfinite(value) && (is_whole || !option->is_whole) && value >= option->least &&
         value < option->limit;
}

bool nnc_setting_read(int option, const char *text, double *value) {
  char *end;
  char form[160], flag[64];
  *value = strtod(text, &end);
  bool is_decimal = strspn(text, "+-.0123456789eE") == strlen(text);
  if (is_decimal && end != text && *end == '\0' && is_allowed(option_at(option), *value))
    return true;
  nnc_error("--%s wants %s, not '%s'", nnc_setting_flag(option, flag),
            nnc_setting_form(option, form), text);
  return false;
}

/* --- Checkpoint and log --------------------------------------------------------------------- */

void nnc_settings_put(FILE *file, const nnc_settings *settings) {
  char text[40];
  fputc('{', file);
  for (int i = 0; i < nnc_the_model.option_count; i++) {
    if (i) fputc(',', file);
    nnc_json_put_string(file, option_at(i)->name);
    fprintf(file, ":%s", nnc_setting_text(settings->values[i], text));
  }
  fputc('}', file);
}

char *nnc_settings_format(const nnc_settings *settings) {
  char *text = NULL;
  size_t size;
  FILE *file = open_memstream(&text, &size);
  if (!file) return NULL;
  nnc_settings_put(file, settings);
  if (fclose(file) == 0) return text;
  free(text);
  return NULL;
}

/* The command line gives another value than the checkpoint has. */
static bool tell_other(const nnc_settings *settings, int i, const char *was, const char *path,
                       bool goes_on) {
  char now[40], flag[64];
  nnc_setting_flag(i, flag);
  nnc_setting_text(settings->values[i], now);
  if (!option_at(i)->sets_rows) nnc_note("--%s %s, where %s has %s", flag, now, path, was);
  else if (!goes_on)
    nnc_warning("--%s %s, where %s has %s: rows that it was trained on are among those of the sets",
                flag, now, path, was);
  else
    nnc_error("--%s %s, where %s has %s: --resume goes on with the rows that the run began with; "
              "with others it is another run, in a folder of its own (--out)",
              flag, now, path, was);
  return !option_at(i)->sets_rows || !goes_on;
}

static bool take_recorded(nnc_settings *settings, int i, double value, const char *path,
                          bool goes_on) {
  const nnc_program_option *option = option_at(i);
  char was[40], now[40], form[160], flag[64];
  nnc_setting_text(value, was);
  if (settings->given[i])
    return settings->values[i] == value || tell_other(settings, i, was, path, goes_on);
  if (!is_allowed(option, value)) {
    nnc_error("%s has %s = %s, but the program wants %s; --%s gives another", path, option->name,
              was, nnc_setting_form(i, form), nnc_setting_flag(i, flag));
    return false;
  }
  if (value != option->start)
    nnc_note("%s = %s, as in %s (by default %s)", option->name, was, path,
             nnc_setting_text(option->start, now));
  settings->values[i] = value;
  return true;
}

static bool read_recorded(nnc_settings *settings, const nnc_json_document *document,
                          const char *path, bool goes_on) {
  for (int i = 0; i < nnc_the_model.option_count; i++) {
    const nnc_json *member = nnc_json_member(document, document->values, option_at(i)->name);
    if (!member || member->kind != NNC_JSON_NUMBER) continue; /* the program has changed */
    if (!take_recorded(settings, i, strtod(member->text, NULL), path, goes_on)) return false;
  }
  return true;
}

bool nnc_settings_recorded(nnc_settings *settings, const char *text, const char *path,
                           bool goes_on) {
  nnc_json_document document;
  char message[128];
  if (!text || nnc_the_model.option_count == 0) return true;
  char *copy = strdup(text);
  strcpy(message, "out of memory");
  bool good = copy && nnc_json_parse(&document, copy, strlen(copy), message, sizeof message);
  if (good) {
    good = read_recorded(settings, &document, path, goes_on);
    nnc_json_free(&document);
  } else {
    nnc_error("%s: metadata 'options': %s", path, message);
  }
  free(copy);
  return good;
}

/* --- Keys of train, and data ----------------------------------------------------------------- */

static double applied[NNC_MAX_OPTIONS];

void nnc_settings_apply(const nnc_settings *settings) {
  nnc_model *model = &nnc_the_model;
  model->option_values = applied;
  for (int i = 0; i < model->option_count; i++) {
    const nnc_program_option *option = option_at(i);
    applied[i] = settings->values[i];
    int64_t whole = option->is_whole ? (int64_t)settings->values[i] : 0;
    if (option->sets_epochs) model->epochs = whole;
    if (option->sets_steps) model->steps = whole;
    if (option->sets_validate) model->validate_steps = whole;
    if (option->sets_seed) model->seed = (uint64_t)whole;
  }
}

bool nnc_settings_give_seed(const nnc_settings *settings) {
  for (int i = 0; i < nnc_the_model.option_count; i++)
    if (settings->given[i] && option_at(i)->sets_seed) return true;
  return false;
}
