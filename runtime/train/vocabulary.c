/* Tokens as text: vocabulary.h. The words of a text's source are its fitted values (data/text.c). */
#include "train/vocabulary.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/fitted.h"
#include "core/options.h"
#include "data/tokenizer.h"
#include "os/message.h"
#include "os/printable.h"

static const char end_of_line[] = "<eos>", unknown[] = "<unk>";

/* ---- what the program says ---- */

/* The line of a field in some data set, training's if it has it; NULL: none. */
static const nnc_pipeline *find_line(const nnc_model *model, const char *field) {
  const nnc_pipeline *found = NULL;
  for (int s = 0; s < model->data_set_count; s++)
    for (int p = 0; p < model->data_sets[s].pipeline_count; p++) {
      const nnc_pipeline *pipeline = &model->data_sets[s].pipelines[p];
      for (int f = 0; f < pipeline->field_count; f++) {
        if (strcmp(pipeline->fields[f], field) != 0 || pipeline->call_count == 0) continue;
        if (!found || strcmp(model->data_sets[s].name, "train") == 0) found = pipeline;
      }
    }
  return found;
}

static enum nnc_unit_of_text unit_of(const nnc_call *source) {
  if (source && data_vocabulary(source)) return NNC_UNIT_TOKENS;
  if (!source || strcmp(source->function, "text") != 0) return NNC_UNIT_NUMBERS;
  for (int i = 0; i < source->argument_count; i++) {
    const nnc_argument *argument = &source->arguments[i];
    if (strcmp(argument->name, "unit") != 0 || argument->value.kind != NNC_STRING) continue;
    if (strcmp(argument->value.string, "byte") == 0) return NNC_UNIT_BYTES;
    if (strcmp(argument->value.string, "word") == 0) return NNC_UNIT_WORDS;
  }
  return NNC_UNIT_CHARACTERS;
}

static bool open_tokens(nnc_vocabulary *vocabulary, const nnc_session *session,
                        const nnc_pipeline *line) {
  char message[NNC_MESSAGE];
  DataContext context = {.model = session->model,
                         .directory = session->options->data,
                         .call = &line->calls[0],
                         .fitted = &session->fitted,
                         .message = message};
  vocabulary->tokenizer = session->model->tokenizer;
  vocabulary->bpe = vocabulary->tokenizer->open(&context, line->field_count, line->fields);
  if (vocabulary->bpe) vocabulary->count = vocabulary->tokenizer->count(vocabulary->bpe);
  else nnc_error("%s", message);
  return vocabulary->bpe != NULL;
}

bool nnc_vocabulary_open(nnc_vocabulary *vocabulary, const nnc_session *session,
                         const char *field) {
  const nnc_fitted_value *words = nnc_fitted_class_names(&session->fitted, field);
  const nnc_pipeline *line = find_line(session->model, field);
  *vocabulary = (nnc_vocabulary){.unit = unit_of(line ? &line->calls[0] : NULL)};
  if (vocabulary->unit == NNC_UNIT_TOKENS) return open_tokens(vocabulary, session, line);
  if (vocabulary->unit == NNC_UNIT_BYTES) vocabulary->count = 256;
  if (vocabulary->unit == NNC_UNIT_BYTES || vocabulary->unit == NNC_UNIT_NUMBERS) return true;
  if (!words || !words->strings) {
    nnc_error("the checkpoint has no vocabulary of '%s': it is of no run of this program's data",
              field);
    return false;
  }
  vocabulary->count = words->count;
  vocabulary->words = words->strings; /* the session's */
  return true;
}

void nnc_vocabulary_close(nnc_vocabulary *vocabulary) {
  if (vocabulary->bpe) vocabulary->tokenizer->close(vocabulary->bpe);
  *vocabulary = (nnc_vocabulary){0};
}

/* ---- from text ---- */

static int64_t find(const nnc_vocabulary *vocabulary, const char *word, size_t length) {
  for (int64_t i = 0; i < vocabulary->count; i++)
    if (strlen(vocabulary->words[i]) == length && memcmp(vocabulary->words[i], word, length) == 0)
      return i;
  return -1;
}

/* -1 after a message. */
static int64_t find_known(const nnc_vocabulary *vocabulary, const char *word, size_t length) {
  int64_t found = find(vocabulary, word, length);
  if (found < 0) found = find(vocabulary, unknown, sizeof unknown - 1);
  if (found < 0)
    nnc_error("--prompt: '%.*s' does not occur in the training set", length < 40 ? (int)length : 40,
              word);
  return found;
}

static bool is_blank(char c) { return c && strchr(" \t\r\v\f", c); }

/* The length of the token at `text`, which is not empty; 0 after a message. */
static size_t token_length(const nnc_vocabulary *vocabulary, const char *text) {
  if (vocabulary->unit == NNC_UNIT_BYTES || *text == '\n') return 1;
  if (vocabulary->unit != NNC_UNIT_CHARACTERS) return strcspn(text, " \t\r\v\f\n");
  int length = nnc_utf8_length(text, text + strlen(text));
  if (length == 0) nnc_error("--prompt is no UTF-8 text");
  return (size_t)length;
}

/* -1 after a message. */
static int64_t token_at(const nnc_vocabulary *vocabulary, const char *text, size_t length) {
  if (vocabulary->unit == NNC_UNIT_BYTES) return (unsigned char)*text;
  if (vocabulary->unit == NNC_UNIT_CHARACTERS) return find_known(vocabulary, text, length);
  if (vocabulary->unit == NNC_UNIT_WORDS)
    return *text == '\n' ? find_known(vocabulary, end_of_line, sizeof end_of_line - 1)
                         : find_known(vocabulary, text, length);
  char *end;
  long long number = strtoll(text, &end, 10);
  if (end == text + length && number >= 0) return number;
  nnc_error("--prompt: '%.*s' is no token: they are numbers here, as the tokenizer has them",
            length < 40 ? (int)length : 40, text);
  return -1;
}

/* All tokens of a text at once: they are cut by its whole. */
static int64_t *read_tokens(const nnc_vocabulary *vocabulary, const char *text, int64_t more,
                            int64_t *count) {
  nnc_bpe_ids ids = {0};
  char message[NNC_MESSAGE];
  int64_t *tokens = NULL, room;
  if (!vocabulary->tokenizer->encode(vocabulary->bpe, text, (int64_t)strlen(text), &ids, message))
    nnc_error("--prompt: %s", message);
  else if (__builtin_add_overflow(ids.count, more, &room) || room > INT64_MAX / 16 ||
           !(tokens = malloc(((size_t)room + 1) * sizeof *tokens)))
    nnc_error("cannot allocate %lld tokens", (long long)more);
  for (int64_t i = 0; tokens && i < ids.count; i++) tokens[i] = ids.ids[i];
  *count = ids.count;
  free(ids.ids);
  return tokens;
}

int64_t *nnc_vocabulary_read(const nnc_vocabulary *vocabulary, const char *text, int64_t more,
                             int64_t *count) {
  int64_t *tokens = NULL, bytes;
  *count = 0;
  if (vocabulary->unit == NNC_UNIT_TOKENS) return read_tokens(vocabulary, text, more, count);
  if (!__builtin_add_overflow((int64_t)strlen(text), more, &bytes) && bytes < INT64_MAX / 16)
    tokens = malloc(((size_t)bytes + 1) * sizeof *tokens);
  if (!tokens) nnc_error("cannot allocate %lld tokens", (long long)more);
  for (size_t length; tokens && *text; text += length) {
    length = 1;
    bool is_end = vocabulary->unit == NNC_UNIT_NUMBERS && *text == '\n';
    if (nnc_vocabulary_has_blanks(vocabulary) && (is_blank(*text) || is_end)) continue;
    length = token_length(vocabulary, text);
    int64_t token = length > 0 ? token_at(vocabulary, text, length) : -1;
    if (token < 0) {
      free(tokens);
      return NULL;
    }
    tokens[(*count)++] = token;
  }
  return tokens;
}

/* ---- to text ---- */

bool nnc_vocabulary_has_blanks(const nnc_vocabulary *vocabulary) {
  return vocabulary->unit == NNC_UNIT_WORDS || vocabulary->unit == NNC_UNIT_NUMBERS;
}

const char *nnc_vocabulary_text(const nnc_vocabulary *vocabulary, int64_t token,
                                char buffer[NNC_VOCABULARY_TEXT], size_t *length) {
  if (token < 0 || (vocabulary->count > 0 && token >= vocabulary->count)) return NULL;
  if (vocabulary->unit == NNC_UNIT_BYTES) {
    *buffer = (char)token;
    *length = 1;
    return buffer;
  }
  if (vocabulary->unit == NNC_UNIT_TOKENS)
    return vocabulary->tokenizer->bytes(vocabulary->bpe, token, length);
  if (vocabulary->unit == NNC_UNIT_NUMBERS) {
    *length = (size_t)snprintf(buffer, NNC_VOCABULARY_TEXT, "%lld", (long long)token);
    return buffer;
  }
  const char *word = vocabulary->words[token];
  if (vocabulary->unit == NNC_UNIT_WORDS && strcmp(word, end_of_line) == 0) word = "\n";
  *length = strlen(word);
  return word;
}
