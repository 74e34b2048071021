/* Files of vocabularies: bpe_file.h. What a file asks for and is not done here is refused by its name. */
#include "text/bpe_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/json.h"

static const char gpt2_special[] = "<|endoftext|>";

/* The patterns, as files write them. */
static const char *const patterns[NNC_BPE_PATTERN_COUNT] = {
    [NNC_BPE_GPT2] = "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|"
                     "\\s+(?!\\S)|\\s+",
    [NNC_BPE_LLAMA3] = "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}|"
                       " ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+",
    [NNC_BPE_QWEN2] = "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}|"
                      " ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"};

typedef struct Reader {
  nnc_bpe_rules *rules;
  nnc_json_document document;
  const nnc_json *root, *model, *vocabulary, *merges, *added; /* NULL: there is none */
  const nnc_bpe_text *merge_file;                             /* NULL: they are in the document */
  char *message;
} Reader;

#define fail(reader, ...) nnc_bpe_fail((reader)->message, __VA_ARGS__)

/* ---- what tokenizer.json says ---- */

static const nnc_json *member(const Reader *reader, const nnc_json *object, const char *key) {
  const nnc_json *found = nnc_json_member(&reader->document, object, key);
  return found && found->kind == NNC_JSON_NULL ? NULL : found;
}

static bool is_true(const Reader *reader, const nnc_json *object, const char *key) {
  const nnc_json *value = member(reader, object, key);
  return value && value->kind == NNC_JSON_TRUE;
}

static const char *string_of(const Reader *reader, const nnc_json *object, const char *key) {
  const nnc_json *value = member(reader, object, key);
  return value && value->kind == NNC_JSON_STRING ? value->text : "";
}

/* What must be absent, null, false, 0 or empty. */
static bool refuse(Reader *reader, const nnc_json *object, const char *of, const char *key) {
  const nnc_json *value = member(reader, object, key);
  if (!value || value->kind == NNC_JSON_FALSE) return true;
  if (value->kind == NNC_JSON_STRING && value->length == 0) return true;
  if (value->kind == NNC_JSON_NUMBER && strtod(value->text, NULL) == 0) return true;
  return fail(reader, "'%s' of %s is not supported", key, of);
}

static bool read_model(Reader *reader) {
  static const char *const refused[] = {"dropout", "continuing_subword_prefix",
                                        "end_of_word_suffix", "byte_fallback"};
  reader->model = member(reader, reader->root, "model");
  if (!reader->model)
    return fail(reader,
                "this is no tokenizer.json: it has no 'model'; a vocab.json stands beside its "
                "merges, vocabulary = [\"vocab.json\", \"merges.txt\"]");
  const char *type = string_of(reader, reader->model, "type");
  if (*type && strcmp(type, "BPE") != 0)
    return fail(reader,
                "the model is %.40s; BPE of bytes is supported, as GPT-2 and Llama 3 have it",
                type);
  for (int i = 0; i < 4; i++)
    if (!refuse(reader, reader->model, "'model'", refused[i])) return false;
  reader->rules->takes_whole = is_true(reader, reader->model, "ignore_merges");
  reader->vocabulary = member(reader, reader->model, "vocab");
  reader->merges = member(reader, reader->model, "merges");
  if (reader->merges && reader->merges->kind == NNC_JSON_ARRAY) return true;
  return fail(reader, "'model' has no list 'merges'");
}

static bool read_normalizer(Reader *reader) {
  const nnc_json *normalizer = member(reader, reader->root, "normalizer");
  if (!normalizer) return true;
  return fail(reader, "the normalizer %.40s is not supported: texts are taken as they are",
              string_of(reader, normalizer, "type"));
}

/* Llama 3 and Qwen 2 split by a pattern, and ByteLevel has nothing to split after that. */
static bool read_split(Reader *reader, const nnc_json *split, const nnc_json *level) {
  const char *pattern = string_of(reader, member(reader, split, "pattern"), "Regex");
  if (strcmp(string_of(reader, split, "behavior"), "Isolated") != 0 ||
      is_true(reader, split, "invert"))
    return fail(reader, "a Split of pre_tokenizer that is not \"Isolated\" is not supported");
  if (is_true(reader, level, "add_prefix_space"))
    return fail(reader, "add_prefix_space after a Split is not supported");
  const nnc_json *use = member(reader, level, "use_regex");
  if (!use || use->kind != NNC_JSON_FALSE)
    return fail(reader, "ByteLevel with use_regex after a Split is not supported");
  for (int i = 0; i < NNC_BPE_PATTERN_COUNT; i++) {
    reader->rules->pattern = i;
    if (strcmp(pattern, patterns[i]) == 0) return true;
  }
  return fail(reader,
              "the pattern of pre_tokenizer is none of those of GPT-2, Llama 3 and Qwen 2: %.200s",
              pattern);
}

/* ByteLevel by itself, or the steps of a Sequence: ByteLevel, or Split and ByteLevel. */
static bool read_cutting(Reader *reader) {
  const nnc_json *steps[2] = {member(reader, reader->root, "pre_tokenizer")}, *step = NULL;
  int count = 1;
  if (!steps[0]) return fail(reader, "there is no pre_tokenizer: BPE of bytes needs ByteLevel");
  if (strcmp(string_of(reader, steps[0], "type"), "Sequence") == 0) {
    const nnc_json *list = member(reader, steps[0], "pretokenizers");
    count = list && list->kind == NNC_JSON_ARRAY ? list->count : 0;
    if (count < 1 || count > 2)
      return fail(reader, "a pre_tokenizer of %d steps is not supported", count);
    for (int i = 0; i < count; i++) steps[i] = step = nnc_json_next(&reader->document, list, step);
  }
  for (int i = 0; i < count; i++) {
    const char *type = string_of(reader, steps[i], "type");
    const char *wanted = i == count - 1 ? "ByteLevel" : "Split";
    if (strcmp(type, wanted) != 0)
      return fail(reader,
                  "the pre_tokenizer %.40s is not supported here: ByteLevel is, by itself or after "
                  "one Split",
                  *type ? type : "without a type");
  }
  if (count == 2) return read_split(reader, steps[0], steps[1]);
  const nnc_json *use = member(reader, steps[0], "use_regex");
  if (use && use->kind == NNC_JSON_FALSE)
    return fail(reader, "ByteLevel without use_regex, and no Split, is not supported");
  reader->rules->adds_blank = is_true(reader, steps[0], "add_prefix_space");
  return true;
}

static bool read_added(Reader *reader) {
  static const char *const refused[] = {"single_word", "lstrip", "rstrip"};
  reader->added = member(reader, reader->root, "added_tokens");
  if (!reader->added) return true;
  if (reader->added->kind != NNC_JSON_ARRAY) return fail(reader, "'added_tokens' is no list");
  const nnc_json *token = NULL;
  while ((token = nnc_json_next(&reader->document, reader->added, token))) {
    const nnc_json *content = member(reader, token, "content");
    if (!content || content->kind != NNC_JSON_STRING || content->length == 0)
      return fail(reader, "one of 'added_tokens' has no 'content'");
    for (int i = 0; i < 3; i++)
      if (!refuse(reader, token, "an added token", refused[i])) return false;
  }
  return true;
}

/* ---- tokens ---- */

/* The id that a value says; -1 after a message. */
static int64_t id_of(Reader *reader, const nnc_json *value, const char *token) {
  uint64_t id;
  if (value && nnc_json_unsigned(value, &id) && id < NNC_BPE_MOST_IDS) return (int64_t)id;
  fail(reader, "the id of '%.40s' is no whole number below %d", token, NNC_BPE_MOST_IDS);
  return -1;
}

/* How many ids there are: the greatest and one. -1 after a message. */
static int64_t count_ids(Reader *reader) {
  int64_t count = 0;
  const nnc_json *token = NULL;
  if (!reader->vocabulary || reader->vocabulary->kind != NNC_JSON_OBJECT ||
      reader->vocabulary->count == 0) {
    fail(reader, "there are no tokens: they are an object of texts and their ids");
    return -1;
  }
  while ((token = nnc_json_next(&reader->document, reader->vocabulary, token))) {
    int64_t id = id_of(reader, token, token->key);
    if (id < 0) return -1;
    if (id >= count) count = id + 1;
  }
  while (reader->added && (token = nnc_json_next(&reader->document, reader->added, token))) {
    int64_t id = id_of(reader, member(reader, token, "id"), string_of(reader, token, "content"));
    if (id < 0) return -1;
    if (id >= count) count = id + 1;
  }
  return count;
}

/* An added token may be one of the vocabulary, with the same id. */
static bool add_special(Reader *reader, int64_t id, const char *content) {
  nnc_bpe_rules *rules = reader->rules;
  char *letters = nnc_bpe_letters(content, strlen(content));
  if (!letters) return fail(reader, "no memory for a token of %zu bytes", strlen(content));
  bool good = nnc_bpe_find(rules, letters, strlen(letters)) == (int32_t)id ||
              nnc_bpe_name(rules, id, letters, reader->message);
  rules->specials[rules->special_count++] = (int32_t)id;
  free(letters);
  return good;
}

static bool read_tokens(Reader *reader) {
  const nnc_json *token = NULL;
  uint64_t id;
  while ((token = nnc_json_next(&reader->document, reader->vocabulary, token)))
    if (!nnc_json_unsigned(token, &id) ||
        !nnc_bpe_name(reader->rules, (int64_t)id, token->key, reader->message))
      return false;
  while (reader->added && (token = nnc_json_next(&reader->document, reader->added, token)))
    if (!nnc_json_unsigned(member(reader, token, "id"), &id) ||
        !add_special(reader, (int64_t)id, string_of(reader, token, "content")))
      return false;
  return true;
}

/* ---- merges ---- */

static bool add_merge(Reader *reader, const char *const texts[2], const size_t lengths[2]) {
  nnc_bpe_rules *rules = reader->rules;
  for (int side = 0; side < 2; side++) {
    int32_t id = nnc_bpe_find(rules, texts[side], lengths[side]);
    if (id < 0)
      return fail(reader, "merge %d names '%.*s', which is no token", rules->merge_count + 1,
                  lengths[side] < 40 ? (int)lengths[side] : 40, texts[side]);
    rules->merges[rules->merge_count][side] = id;
  }
  rules->merge_count++;
  return true;
}

/* "Ġ the" */
static bool add_merge_text(Reader *reader, const char *text, size_t length) {
  const char *blank = memchr(text, ' ', length);
  size_t left = blank ? (size_t)(blank - text) : 0, right = blank ? length - left - 1 : 0;
  if (left == 0 || right == 0 || memchr(blank + 1, ' ', right))
    return fail(reader, "merge %d, '%.*s', is no two tokens with a blank between them",
                reader->rules->merge_count + 1, length < 40 ? (int)length : 40, text);
  return add_merge(reader, (const char *[]){text, blank + 1}, (size_t[]){left, right});
}

static bool read_merges(Reader *reader) {
  const nnc_json *merge = NULL;
  while ((merge = nnc_json_next(&reader->document, reader->merges, merge))) {
    bool good = false;
    if (merge->kind == NNC_JSON_STRING) {
      good = add_merge_text(reader, merge->text, (size_t)merge->length);
    } else {
      const nnc_json *left = merge->kind == NNC_JSON_ARRAY && merge->count == 2
                                 ? nnc_json_next(&reader->document, merge, NULL)
                                 : NULL;
      const nnc_json *right = left ? nnc_json_next(&reader->document, merge, left) : NULL;
      if (!left || left->kind != NNC_JSON_STRING || right->kind != NNC_JSON_STRING)
        return fail(reader, "merge %d is no pair of tokens", reader->rules->merge_count + 1);
      good = add_merge(reader, (const char *[]){left->text, right->text},
                       (size_t[]){(size_t)left->length, (size_t)right->length});
    }
    if (!good) return false;
  }
  return true;
}

/* The lines of merges.txt; those that begin with #version say nothing. */
static bool read_merge_lines(Reader *reader) {
  static const char version[] = "#version";
  const char *at = reader->merge_file->text, *end = at + reader->merge_file->size;
  for (int64_t line = 1; at < end; line++) {
    const char *stop = memchr(at, '\n', (size_t)(end - at));
    if (!stop) stop = end;
    size_t length = (size_t)(stop - at);
    if (length > 0 && stop[-1] == '\r') length--;
    if (memchr(at, 0, length))
      return fail(reader, "%.200s:%lld: a zero byte, which no token has", reader->merge_file->name,
                  (long long)line);
    bool is_version = length >= sizeof version - 1 && !memcmp(at, version, sizeof version - 1);
    if (!is_version && !add_merge_text(reader, at, length)) {
      char what[NNC_MESSAGE];
      memcpy(what, reader->message, sizeof what);
      return fail(reader, "%.200s:%lld: %.700s", reader->merge_file->name, (long long)line, what);
    }
    at = stop + 1;
  }
  return true;
}

static int64_t count_lines(const nnc_bpe_text *file) {
  int64_t count = 1;
  for (size_t i = 0; i < file->size; i++) count += file->text[i] == '\n';
  return count;
}

/* ---- a vocabulary ---- */

static bool read_settings(Reader *reader) {
  if (!reader->merge_file)
    return read_model(reader) && read_normalizer(reader) && read_cutting(reader) &&
           read_added(reader);
  reader->vocabulary = reader->root;
  return true;
}

/* <|endoftext|>, where the vocabulary has it, as GPT-2 takes it. */
static void find_special(Reader *reader) {
  nnc_bpe_rules *rules = reader->rules;
  int32_t id = nnc_bpe_find(rules, gpt2_special, sizeof gpt2_special - 1);
  if (id >= 0) rules->specials[rules->special_count++] = id;
}

static bool read_rules(Reader *reader) {
  nnc_bpe_rules settings = {0};
  nnc_bpe_rules *rules = reader->rules;
  reader->rules = &settings;
  if (!read_settings(reader)) return false;
  reader->rules = rules;
  int64_t count = count_ids(reader);
  int64_t merges = reader->merge_file ? count_lines(reader->merge_file) : reader->merges->count;
  if (count < 0) return false;
  if (merges > INT32_MAX / 2) return fail(reader, "%lld merges are too many", (long long)merges);
  if (!nnc_bpe_allocate(rules, count, merges, reader->added ? reader->added->count : 1))
    return fail(reader, "no memory for %lld tokens", (long long)count);
  rules->pattern = settings.pattern;
  rules->adds_blank = settings.adds_blank;
  rules->takes_whole = settings.takes_whole;
  if (!read_tokens(reader)) return false;
  if (!reader->merge_file) return read_merges(reader);
  find_special(reader);
  return read_merge_lines(reader);
}

/* A message begins with the name of a file, of two with that of the first unless it has one. */
static nnc_bpe *refused(const nnc_bpe_text *files, int count, const char *what,
                        char message[NNC_MESSAGE]) {
  const char *second = files[count - 1].name;
  bool is_named = count > 1 && strncmp(what, second, strlen(second)) == 0;
  if (is_named) nnc_bpe_fail(message, "%s", what);
  else nnc_bpe_fail(message, "%.200s: %.700s", files[0].name, what);
  return NULL;
}

nnc_bpe *nnc_bpe_read(const nnc_bpe_text *files, int count, char message[NNC_MESSAGE]) {
  char what[NNC_MESSAGE] = "";
  nnc_bpe_rules rules = {0};
  Reader reader = {.rules = &rules, .merge_file = count > 1 ? &files[1] : NULL, .message = what};
  bool good = nnc_json_parse(&reader.document, files[0].text, files[0].size, what, sizeof what);
  if (good) {
    reader.root = reader.document.values;
    good = read_rules(&reader);
    nnc_json_free(&reader.document);
  }
  nnc_bpe *bpe = good ? nnc_bpe_make(&rules, what) : NULL;
  nnc_bpe_rules_free(&rules);
  return bpe ? bpe : refused(files, count, what, message);
}
