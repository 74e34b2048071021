/* Source `text(file, length, stride = length, from = 0, to = 1, unit = "character", vocabulary)`: a
 * text as one stream of class numbers.
 *
 *     character   code points of UTF-8
 *     byte        the bytes themselves, 0 to 255: no vocabulary
 *     word        what blanks separate; the end of a line is the word <eos> (as in the language
 *                 models of T. Mikolov et al., "Recurrent neural network based language model",
 *                 2010)
 *
 * A `vocabulary` is one of files, and says itself what its tokens are (tokenizer.h).
 *
 * Else the vocabulary is that of the whole training file, sorted; it is a fitted value like the classes
 * of a `categories` stage.  What does not occur in it is an error, or <unk> where that is a
 * word. */
#include <stdlib.h>
#include <string.h>

#include "core/convert.h"
#include "core/number.h"
#include "core/dictionary.h"
#include "core/fitted.h"
#include "data/call.h"
#include "data/class.h"
#include "data/file.h"
#include "data/table.h"
#include "data/tokenizer.h"
#include "data/windows.h"
#include "os/assert.h"
#include "nnc_data.h"
#include "os/printable.h"

static const char *const formals[] = {"file", "length", "stride",     "from",
                                      "to",   "unit",   "vocabulary", NULL};

static const char end_of_line[] = "<eos>", unknown[] = "<unk>";

/* The units of a text in their order: each as an index of the dictionary. */
typedef struct Units {
  const char *name; /* of the file */
  const char *text; /* its bytes */
  int64_t size;
  bool are_words;
  nnc_dictionary dictionary;
  int32_t *codes;
  int64_t count;
} Units;

/* --- cutting ---------------------------------------------------------------------------------- */

static bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\v' || c == '\f';
}

static int add_unit(const DataContext *context, Units *units, const char *word, int64_t length,
                    int64_t line) {
  int32_t code = nnc_dictionary_add(&units->dictionary, word, length, line);
  if (code < 0) return data_fail_memory(context, "the vocabulary", units->dictionary.count);
  NNC_ASSERT(units->count <= units->size); /* no unit without a byte of its own */
  units->codes[units->count++] = code;
  return 0;
}

/* A text's bytes hold no zero: a word ends there, and so would a vocabulary's string. */
static int cut_characters(const DataContext *context, Units *units) {
  const char *text = units->text;
  int64_t size = units->size, line = 1;
  for (int64_t i = 0; i < size;) {
    int length = text[i] ? nnc_utf8_length(text + i, text + size) : 0;
    if (length == 0)
      return data_fail(
          context,
          "%s: byte %lld (0x%02x, line %lld) is no UTF-8 text; unit = \"byte\" reads any "
          "file",
          units->name, (long long)i, (unsigned char)text[i], (long long)line);
    if (add_unit(context, units, text + i, length, line) < 0) return -1;
    line += text[i] == '\n';
    i += length;
  }
  return 0;
}

static int cut_words(const DataContext *context, Units *units) {
  const char *text = units->text;
  int64_t size = units->size, line = 1;
  for (int64_t i = 0; i < size;) {
    int64_t end = i;
    while (end < size && !is_blank(text[end]) && text[end]) end++;
    if (end < size && !text[end])
      return data_fail(context, "%s: byte %lld is 0: this is no text", units->name, (long long)end);
    if (end > i && add_unit(context, units, text + i, end - i, line) < 0) return -1;
    i = end + 1;
    if (end == size || text[end] != '\n') continue;
    if (add_unit(context, units, end_of_line, (int64_t)strlen(end_of_line), line++) < 0) return -1;
  }
  return 0;
}

/* --- vocabulary ------------------------------------------------------------------------------- */

/* Bytes of UTF-8 sort as the code points do. */
static int compare_words(const void *a, const void *b) {
  return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Under the name of each field, so that results called like one are printed as what they mean. */
static int fit(const DataContext *context, const DataTable *table, const Units *units) {
  int64_t count = units->dictionary.count;
  const char **words = malloc(((size_t)count + 1) * sizeof *words);
  if (!words) return data_fail_memory(context, "the vocabulary", count * 8);
  if (count > 0) memcpy(words, units->dictionary.words, (size_t)count * sizeof *words);
  qsort(words, (size_t)count, sizeof *words, compare_words);
  int result = 0;
  for (int f = 0; f < table->field_count && result == 0; f++) {
    char name[256];
    nnc_fitted_name(name, sizeof name, table->fields[f].name, "text", -1);
    result = nnc_fitted_add_strings(context->learns, name, count, words);
  }
  free(words);
  return result < 0 ? data_fail_memory(context, "the vocabulary", count * 8) : 0;
}

static int64_t find_word(const nnc_fitted_value *vocabulary, const char *word) {
  const char *const *found =
      bsearch(&word, vocabulary->strings, (size_t)vocabulary->count, sizeof word, compare_words);
  return found ? found - (const char *const *)vocabulary->strings : -1;
}

static const nnc_fitted_value *find_vocabulary(const DataContext *context, const DataTable *table,
                                               const Units *units) {
  char name[256];
  nnc_fitted_name(name, sizeof name, table->fields[0].name, "text", -1);
  const nnc_fitted_value *value = nnc_fitted_find(context->fitted, name);
  if (!value && context->learns) {
    if (fit(context, table, units) < 0) return NULL;
    value = nnc_fitted_find(context->fitted, name);
  }
  if (value && value->strings) return value;
  data_fail_call(context,
                 "the vocabulary of %s comes from data train, when a run begins, or from a "
                 "checkpoint: the weights here have none, or data train has no text of that name. "
                 "'--init FILE --epochs 0 --out RUN' makes a checkpoint of weights and vocabulary, "
                 "which 'eval --out RUN' takes",
                 table->fields[0].name);
  return NULL;
}

/* class_of[code]: the class of the dictionary's word. */
static int find_classes(const DataContext *context, const Units *units,
                        const nnc_fitted_value *vocabulary, int32_t *class_of) {
  int64_t other = find_word(vocabulary, unknown);
  for (int32_t i = 0; i < units->dictionary.count; i++) {
    int64_t found = find_word(vocabulary, units->dictionary.words[i]);
    if (found < 0) found = other;
    if (found < 0)
      return data_fail(context, "%s:%lld: '%.40s' does not occur in the training set", units->name,
                       (long long)units->dictionary.lines[i], units->dictionary.words[i]);
    class_of[i] = (int32_t)found;
  }
  return 0;
}

/* The classes as a stream, in the shortest type that holds them; without `class_of` the codes are classes. */
static int store_classes(const DataContext *context, const Units *units, const int32_t *class_of,
                         int64_t classes, DataStream *stream) {
  stream->dtype = classes <= 256 ? NNC_U8 : classes <= 65536 ? NNC_U16 : NNC_I32;
  stream->count = units->count;
  stream->most = (double)(classes - 1);
  int64_t bytes = units->count * nnc_dtype_size(stream->dtype);
  void *values = stream->values = malloc((size_t)bytes + 1);
  if (!values) return data_fail_memory(context, units->name, bytes);
  for (int64_t i = 0; i < units->count; i++) {
    int32_t class = class_of ? class_of[units->codes[i]] : units->codes[i];
    if (stream->dtype == NNC_U8) ((uint8_t *)values)[i] = (uint8_t) class;
    else if (stream->dtype == NNC_U16) ((uint16_t *)values)[i] = (uint16_t) class;
    else ((int32_t *)values)[i] = class;
  }
  return 0;
}

/* --- the source ------------------------------------------------------------------------------- */

static int code_units(const DataContext *context, const DataTable *table, Units *units,
                      DataStream *stream) {
  units->codes = malloc(((size_t)units->size + 1) * sizeof *units->codes);
  if (!units->codes) return data_fail_memory(context, units->name, units->size * 4);
  int result = units->are_words ? cut_words(context, units) : cut_characters(context, units);
  if (result < 0) return -1;
  const nnc_fitted_value *vocabulary = find_vocabulary(context, table, units);
  if (!vocabulary) return -1;
  int32_t *class_of = malloc(((size_t)units->dictionary.count + 1) * sizeof *class_of);
  if (!class_of) return data_fail_memory(context, units->name, units->dictionary.count * 4);
  result = find_classes(context, units, vocabulary, class_of);
  if (result == 0) result = store_classes(context, units, class_of, vocabulary->count, stream);
  free(class_of);
  return result;
}

/* By the vocabulary that the call names. */
static int code_tokens(const DataContext *context, const DataTable *table, Units *units,
                       DataStream *stream) {
  const struct nnc_tokenizer_class *class = context->model->tokenizer;
  const char **fields = calloc((size_t)table->field_count + 1, sizeof *fields);
  if (!fields) return data_fail_memory(context, units->name, table->field_count * 8);
  for (int f = 0; f < table->field_count; f++) fields[f] = table->fields[f].name;
  nnc_bpe *bpe = class->open(context, table->field_count, fields);
  free(fields);
  if (!bpe) return -1;
  nnc_bpe_ids ids = {0};
  char what[NNC_MESSAGE];
  int result = class->encode(bpe, units->text, units->size, &ids, what) ? 0 : -1;
  units->codes = ids.ids;
  units->count = ids.count;
  if (result < 0) data_fail(context, "%s: %.800s", units->name, what);
  else result = store_classes(context, units, NULL, class->count(bpe), stream);
  class->close(bpe);
  return result;
}

typedef enum Unit { UNIT_CHARACTER, UNIT_BYTE, UNIT_WORD, UNIT_COUNT } Unit;

static int unit_argument(const DataContext *context) {
  static const char *const words[UNIT_COUNT] = {"character", "byte", "word"};
  const nnc_value *value = data_argument(context->call, formals, "unit");
  if (!value) return UNIT_CHARACTER;
  for (int i = 0; i < UNIT_COUNT && value->kind == NNC_STRING; i++)
    if (strcmp(value->string, words[i]) == 0) return i;
  return data_fail_call(context, "unit of text must be \"character\", \"byte\" or \"word\"");
}

/* The bytes of all files, one after the other, allocated; NULL with a message. Names become those that were opened. */
static char *read_files(const DataContext *context, const DataNames *names, int64_t *size) {
  char *text = NULL;
  *size = 0;
  for (int64_t i = 0; i < names->count; i++) {
    DataFile *file = data_file_open(context, names->items[i]);
    int64_t more;
    char *bytes = file ? data_file_read_all(context, file, &more) : NULL;
    char *grown = bytes && text ? realloc(text, (size_t)(*size + more) + 1) : bytes;
    char *opened = file ? strdup(data_file_name(file)) : NULL;
    if (opened) {
      free(names->items[i]);
      names->items[i] = opened;
    }
    data_file_close(file);
    if (!grown) {
      if (bytes) data_fail_memory(context, names->items[i], *size + more);
      free(bytes);
      free(text);
      return NULL;
    }
    if (grown != bytes) {
      memcpy(grown + *size, bytes, (size_t)more + 1); /* and the zero byte behind */
      free(bytes);
    }
    text = grown;
    *size += more;
  }
  return text;
}

static int load_text(const DataContext *context, DataTable *table, const DataNames *names) {
  DataWindows windows;
  DataStream stream = {0};
  int unit = unit_argument(context);
  if (unit < 0 || data_window_arguments(context, formals, &windows) < 0) return -1;
  const nnc_value *stated = data_argument(context->call, formals, "file");
  Units units = {.are_words = unit == UNIT_WORD};
  char *text = read_files(context, names, &units.size);
  units.name = names->count > 1 ? stated->string : names->items[0];
  units.text = text;
  int result = text ? 0 : -1;
  if (result == 0 && unit == UNIT_BYTE) {
    stream = (DataStream){.values = text, .dtype = NNC_U8, .count = units.size, .most = 255};
    text = NULL;
  } else if (result == 0) {
    bool is_named = data_vocabulary(context->call) != NULL;
    result = (is_named ? code_tokens : code_units)(context, table, &units, &stream);
  }
  free(text);
  free(units.codes);
  nnc_dictionary_free(&units.dictionary);
  if (result == 0) return data_window_stream(context, table, units.name, stream, &windows);
  free(stream.values);
  return -1;
}

static int load(const DataContext *context, DataTable *table) {
  DataNames names;
  int result = data_file_argument_names(context, formals, &names);
  if (result == 0) result = load_text(context, table, &names);
  data_names_free(&names);
  return result;
}

const struct nnc_source_class nnc_source_text = {.name = "text",
                                                 .gives = DATA_GIVES_text,
                                                 .formals = formals,
                                                 .has_file_each = false,
                                                 .load = load,
                                                 .learns = true};
