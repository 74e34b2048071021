/* Vocabularies that a source names: tokenizer.h.
 *
 * Fitted values, FIELD the first of the line:
 *
 *     FIELD.text     for each field of the line: the tokens by their ids, in letters; "": there is none
 *     FIELD.merges   pairs of ids, the earliest first
 *     FIELD.tokens   pattern, adds_blank, takes_whole, then the ids of special tokens */
#include "data/tokenizer.h"

#include <stdlib.h>
#include <string.h>

#include "data/file.h"
#include "text/bpe_file.h"

enum { SETTINGS = 3, MOST_FILES = 2 };

/* ---- fitted values ---- */

static const nnc_fitted_value *find(const DataContext *context, const char *field,
                                    const char *what) {
  char name[256];
  nnc_fitted_name(name, sizeof name, field, what, -1);
  return nnc_fitted_find(context->fitted, name);
}

/* A whole number from 0 to 2^30; else -1. */
static int32_t whole(double number) {
  return number >= 0 && number <= 1 << 30 && number == (double)(int32_t)number ? (int32_t)number
                                                                               : -1;
}

static bool put_fitted(nnc_bpe_rules *rules, const nnc_fitted_value *tokens,
                       const nnc_fitted_value *merges, const nnc_fitted_value *settings,
                       char message[NNC_MESSAGE]) {
  rules->merge_count = (int32_t)(merges->count / 2);
  rules->special_count = (int32_t)(settings->count - SETTINGS);
  rules->pattern = whole(settings->numbers[0]);
  rules->adds_blank = settings->numbers[1] != 0;
  rules->takes_whole = settings->numbers[2] != 0;
  for (int64_t i = 0; i < merges->count; i++)
    rules->merges[i / 2][i % 2] = whole(merges->numbers[i]);
  for (int i = 0; i < rules->special_count; i++)
    rules->specials[i] = whole(settings->numbers[SETTINGS + i]);
  if (rules->pattern < 0 || rules->pattern >= NNC_BPE_PATTERN_COUNT) return false;
  for (int64_t i = 0; i < tokens->count; i++)
    if (*tokens->strings[i] && !nnc_bpe_name(rules, i, tokens->strings[i], message)) return false;
  return true;
}

static nnc_bpe *open_fitted(const DataContext *context, const char *field,
                            const nnc_fitted_value *tokens) {
  const nnc_fitted_value *merges = find(context, field, "merges");
  const nnc_fitted_value *settings = find(context, field, "tokens");
  nnc_bpe_rules rules = {0};
  nnc_bpe *bpe = NULL;
  char what[NNC_MESSAGE] = "its parts do not belong together";
  bool fits = tokens->strings && merges && merges->numbers && merges->count % 2 == 0 && settings &&
              settings->numbers && settings->count >= SETTINGS &&
              tokens->count <= NNC_BPE_MOST_IDS && merges->count <= INT32_MAX &&
              settings->count <= NNC_BPE_MOST_IDS;
  if (fits && !nnc_bpe_allocate(&rules, tokens->count, merges->count / 2, settings->count)) {
    nnc_bpe_rules_free(&rules);
    data_fail_memory(context, "the vocabulary", tokens->count * 8);
    return NULL;
  }
  if (fits && put_fitted(&rules, tokens, merges, settings, what)) bpe = nnc_bpe_make(&rules, what);
  else nnc_bpe_rules_free(&rules);
  if (!bpe) data_fail(context, "the vocabulary of %s in the checkpoint: %.800s", field, what);
  return bpe;
}

static int fit_numbers(const DataContext *context, const char *field, const char *what,
                       int64_t count, const double *numbers) {
  char name[256];
  nnc_fitted_name(name, sizeof name, field, what, -1);
  return nnc_fitted_add_numbers(context->learns, name, count, numbers);
}

static int fit_tokens(const DataContext *context, const char *field, const nnc_bpe_rules *rules) {
  char name[256];
  const char **tokens = calloc((size_t)rules->count + 1, sizeof *tokens);
  for (int32_t i = 0; tokens && i < rules->count; i++)
    tokens[i] = rules->tokens[i] ? rules->tokens[i] : "";
  nnc_fitted_name(name, sizeof name, field, "text", -1);
  int result = tokens ? nnc_fitted_add_strings(context->learns, name, rules->count, tokens) : -1;
  free(tokens);
  return result;
}

static int fit(const DataContext *context, int field_count, const char *const *fields,
               const nnc_bpe_rules *rules) {
  size_t pairs = (size_t)rules->merge_count * 2, specials = (size_t)rules->special_count;
  double *numbers = malloc((pairs + specials + SETTINGS) * sizeof *numbers);
  int result = numbers ? 0 : -1;
  for (size_t i = 0; numbers && i < pairs; i++) numbers[i] = rules->merges[i / 2][i % 2];
  if (result == 0) result = fit_numbers(context, fields[0], "merges", (int64_t)pairs, numbers);
  for (size_t i = 0; numbers && i < specials; i++) numbers[SETTINGS + i] = rules->specials[i];
  if (result == 0) {
    numbers[0] = rules->pattern;
    numbers[1] = rules->adds_blank;
    numbers[2] = rules->takes_whole;
    result = fit_numbers(context, fields[0], "tokens", (int64_t)specials + SETTINGS, numbers);
  }
  free(numbers);
  for (int f = 0; f < field_count && result == 0; f++)
    result = fit_tokens(context, fields[f], rules);
  return result < 0 ? data_fail_memory(context, "the vocabulary", rules->count * 8) : 0;
}

/* ---- files ---- */

/* Reads a file whole, from the data directory. */
static bool read_file(const DataContext *context, const nnc_value *value, char **name,
                      nnc_bpe_text *text) {
  if (value->kind != NNC_STRING) {
    data_fail_call(context, "vocabulary is the name of a file in quotes, or a list of two");
    return false;
  }
  DataFile *file = data_file_open(context, value->string);
  if (!file) return false;
  int64_t size;
  text->text = data_file_read_all(context, file, &size);
  text->size = text->text ? (size_t)size : 0;
  *name = strdup(data_file_name(file));
  text->name = *name;
  data_file_close(file);
  if (text->text && !*name) data_fail_memory(context, value->string, size);
  return text->text && *name;
}

static nnc_bpe *read_files(const DataContext *context, const nnc_value *value) {
  bool is_list = value->kind == NNC_LIST;
  int count = is_list ? value->count : 1;
  char *names[MOST_FILES] = {NULL};
  nnc_bpe_text texts[MOST_FILES] = {{0}};
  if (is_list && count != MOST_FILES) {
    data_fail_call(
        context,
        "vocabulary is one file, tokenizer.json, or a list of two, vocab.json and merges.txt");
    return NULL;
  }
  bool good = true;
  for (int i = 0; i < count && good; i++)
    good = read_file(context, is_list ? &value->items[i] : value, &names[i], &texts[i]);
  char what[NNC_MESSAGE];
  nnc_bpe *bpe = good ? nnc_bpe_read(texts, count, what) : NULL;
  if (good && !bpe) data_fail(context, "%s", what);
  for (int i = 0; i < count; i++) {
    free(names[i]);
    free(texts[i].text);
  }
  return bpe;
}

/* ---- the class ---- */

static nnc_bpe *open(const DataContext *context, int field_count, const char *const *fields) {
  const nnc_fitted_value *tokens = find(context, fields[0], "text");
  if (tokens) return open_fitted(context, fields[0], tokens);
  nnc_bpe *bpe = read_files(context, data_vocabulary(context->call));
  if (!bpe || !context->learns) return bpe;
  if (fit(context, field_count, fields, nnc_bpe_rules_of(bpe)) == 0) return bpe;
  nnc_bpe_free(bpe);
  return NULL;
}

static int64_t count(const nnc_bpe *bpe) { return nnc_bpe_rules_of(bpe)->count; }

const struct nnc_tokenizer_class nnc_tokenizer = {.open = open,
                                                  .encode = nnc_bpe_encode,
                                                  .count = count,
                                                  .bytes = nnc_bpe_bytes,
                                                  .close = nnc_bpe_free};
