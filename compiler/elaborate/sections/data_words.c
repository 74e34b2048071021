/* The vocabulary of data blocks: tables of sources and stages, and how a word of them is found. */
#include "elaborate/sections/data_words.h"

#include <ctype.h>
#include <string.h>
#include "elaborate/core/report.h"
#include "support/names.h"

/* ---- tables --------------------------------------------------------------------------------- */

#define ANY(name, kinds)                                                                           \
  { name, kinds, 0, 0, {0}, NULL }
#define WITHIN(name, kinds, least, most)                                                           \
  { name, NUMBER | (kinds), least, most, {0}, NULL }
#define SEED WITHIN("seed", WHOLE, 0, 0x1p53)
#define WORKERS WITHIN("workers", WHOLE, 0, 256)
#define WINDOWS                                                                                    \
  ANY("file", STRING | NEEDED), WITHIN("length", WHOLE | NEEDED, 1, 0x1p31),                       \
      WITHIN("stride", WHOLE, 1, 0x1p31), ANY("from", NUMBER), ANY("to", NUMBER)
#define NUMBER_TYPES                                                                               \
  "u8", "i8", "u16", "i16", "u32", "i32", "i64", "bf16", "f16", "f32", "f64", "bool"
#define RATE WITHIN("rate", WHOLE | NEEDED, 1, INT32_MAX)
#define FIT                                                                                        \
  {                                                                                                \
    "fit", STRING, 0, 0, {"exact", "start", "middle", "random"},                                   \
        "\"exact\", \"start\", \"middle\" or \"random\""                                           \
  }
#define ON_ERROR                                                                                   \
  { "on_error", STRING, 0, 0, {"stop", "skip"}, "\"stop\" or \"skip\"" }
#define PALETTE                                                                                    \
  { "palette", STRING, 0, 0, {"color", "index"}, "\"color\" or \"index\"" }
#define SIZE WITHIN("height", WHOLE | NEEDED, 1, 1 << 15), WITHIN("width", WHOLE, 1, 1 << 15)

static const DataWord sources[] = {
    {"idx", {ANY("file", STRING | NEEDED | REPEATED)}, {0}},
    {"csv",
     {ANY("file", STRING | NEEDED), ANY("columns", LIST), ANY("header", BOOL),
      ANY("separator", STRING), ANY("missing", LIST)},
     {0}},
    {"npy", {ANY("file", STRING | NEEDED | REPEATED)}, {0}},
    {"npz", {ANY("file", STRING | NEEDED), ANY("arrays", LIST)}, {0}},
    {"raw",
     {ANY("file", STRING | NEEDED | REPEATED),
      {"type", STRING, 0, 0, {NUMBER_TYPES}, "the name of a number type"},
      WITHIN("offset", WHOLE, 0, 0x1p53),
      ANY("big_endian", BOOL)},
     {0}},
    {"cifar",
     {ANY("file", STRING | NEEDED | REPEATED), WITHIN("classes", WHOLE, 10, 100)},
     {1, 3, "a picture, its class and, of CIFAR-100, its group"}},
    {"text",
     {WINDOWS,
      {"unit", STRING, 0, 0, {"character", "byte", "word"}, "\"character\", \"byte\" or \"word\""},
      ANY("vocabulary", STRING | LIST)},
     {1, 2, "a window and what follows it"}},
    {"token_stream",
     {WINDOWS, {"type", STRING, 0, 0, {"u16", "u32"}, "\"u16\" or \"u32\""}},
     {1, 2, "a window and what follows it"}},
    {"image_folder",
     {ANY("folder", STRING | NEEDED), WORKERS, ON_ERROR, PALETTE},
     {1, 2, "a picture and its class"}},
    {"image_list",
     {ANY("file", STRING | NEEDED), ANY("columns", LIST), ANY("header", BOOL),
      ANY("separator", STRING), ANY("missing", LIST), ANY("folder", STRING), WORKERS, ON_ERROR,
      PALETTE},
     {0}},
    {"wav_folder",
     {ANY("folder", STRING | NEEDED), RATE, FIT, WORKERS, ON_ERROR},
     {1, 2, "a sound and its class"}},
    {"wav_list",
     {ANY("file", STRING | NEEDED), ANY("columns", LIST), ANY("header", BOOL),
      ANY("separator", STRING), ANY("missing", LIST), ANY("folder", STRING), RATE, FIT, WORKERS,
      ON_ERROR},
     {0}},
    {"shards",
     {ANY("files", STRING | LIST | NEEDED), ANY("members", LIST),
      WITHIN("rate", WHOLE, 1, INT32_MAX), FIT, WORKERS, ON_ERROR, PALETTE},
     {0}},
    {"files", {WORKERS, PALETTE}, {1, 1, "a picture"}},
    {"copy_task",
     {WITHIN("words", WHOLE | NEEDED, 1, 1 << 20), WITHIN("bits", WHOLE | NEEDED, 1, 1 << 20),
      WITHIN("count", WHOLE, 1, UINT32_MAX), WITHIN("least", WHOLE, 1, 1 << 20), SEED},
     {3, 3, "source, target and mask"}},
    {"counter", {{0}}, {1, 1, "the number of the row"}},
    {"constant", {ANY("value", NUMBER | BOOL | LIST | NEEDED)}, {1, 1, "its value"}},
};
enum { SOURCE_COUNT = sizeof sources / sizeof sources[0] };

static const DataWord stages[] = {
    {"split",
     {ANY("from", NUMBER | NEEDED), ANY("to", NUMBER | NEEDED), SEED, ANY("by", FIELD),
      ANY("group", FIELD)},
     {0}},
    {"fold",
     {WITHIN("number", WHOLE | NEEDED | OPTION, 0, 999), WITHIN("of", WHOLE, 2, 1000), SEED,
      ANY("by", FIELD), ANY("group", FIELD)},
     {0}},
    {"balance", {ANY("field", FIELD | NEEDED)}, {0}},
    {"weigh", {ANY("field", FIELD | NEEDED)}, {0}},
    {"shuffle", {SEED}, {0}},
    {"standardize", {ANY("field", FIELD | REPEATED)}, {0}},
    {"impute",
     {ANY("field", FIELD | NEEDED | REPEATED),
      {"with", NUMBER | STRING, 0, 0, {"mean", "median"}, "\"mean\", \"median\" or a number"}},
     {0}},
    {"categories", {ANY("field", FIELD | NEEDED | REPEATED), ANY("unknown", BOOL)}, {0}},
    {"hash",
     {ANY("field", FIELD | NEEDED | REPEATED), WITHIN("buckets", WHOLE | NEEDED, 1, INT32_MAX)},
     {0}},
    {"one_hot", {ANY("field", FIELD | NEEDED | REPEATED)}, {0}},
    {"boxes",
     {ANY("field", FIELD | NEEDED), ANY("classes", FIELD), WITHIN("least", RANGED, 0, 1)},
     {0}},
    {"mixup",
     {WITHIN("alpha", RANGED, 0, DATA_MOST_ALPHA), WITHIN("probability", RANGED, 0, 1)},
     {0}},
    {"cutmix",
     {WITHIN("alpha", RANGED, 0, DATA_MOST_ALPHA), WITHIN("probability", RANGED, 0, 1)},
     {0}},
    {"batch", {WITHIN("size", WHOLE | NEEDED, 1, 0x1p53)}, {0}},
    {"prefetch", {WITHIN("count", WHOLE, 0, 1024)}, {0}},
    {"on_disk", {{0}}, {0}},
    {"window",
     {WITHIN("past", WHOLE | NEEDED, 1, INT32_MAX), WITHIN("future", WHOLE, 0, INT32_MAX),
      WITHIN("stride", WHOLE, 1, INT32_MAX), ANY("from", NUMBER), ANY("to", NUMBER)},
     {0}},
    {"resize", {SIZE}, {0}},
    {"center_crop", {SIZE}, {0}},
    {"random_crop", {SIZE}, {0}},
    {"random_resized_crop", {SIZE, ANY("scale", LIST), ANY("ratio", LIST)}, {0}},
    {"pad",
     {WITHIN("height", WHOLE | NEEDED, 0, 1 << 15), WITHIN("width", WHOLE, 0, 1 << 15),
      WITHIN("value", WHOLE, 0, 255)},
     {0}},
    {"color_jitter",
     {WITHIN("brightness", RANGED, 0, 10), WITHIN("contrast", RANGED, 0, 10),
      WITHIN("saturation", RANGED, 0, 10), WITHIN("hue", RANGED, 0, 0.5)},
     {0}},
    {"random_affine",
     {WITHIN("degrees", RANGED, 0, 180), WITHIN("translate", RANGED, 0, 1), ANY("scale", LIST),
      WITHIN("shear", RANGED, 0, 89), WITHIN("value", WHOLE, 0, 255)},
     {0}},
    {"random_erase",
     {WITHIN("probability", RANGED, 0, 1), ANY("scale", LIST), ANY("ratio", LIST),
      WITHIN("value", WHOLE, 0, 255)},
     {0}},
    {"random_flip", {WITHIN("probability", RANGED, 0, 1)}, {0}},
    {"with", {ANY("field", FIELD | NEEDED | ELSEWHERE), WITHIN("value", WHOLE, 0, 255)}, {0}},
};
enum { STAGE_COUNT = sizeof stages / sizeof stages[0] };

const char *data_words_kinds_text(int kinds) {
  if (kinds == NUMBER) return "a number";
  if (kinds == STRING) return "a string";
  if (kinds == BOOL) return "true or false";
  if (kinds == LIST) return "a list";
  if (kinds == FIELD) return "the name of a field of this line";
  if (kinds == (STRING | LIST)) return "a string or a list of strings";
  if (kinds == (NUMBER | OPTION)) return "a number or an option of the program";
  if (kinds & LIST) return "a number, true or false, or a list of them";
  return "a number or a string";
}

int data_words_formal_count(const DataWord *word) {
  int count = 0;
  while (count < MOST_FORMALS && word->formals[count].name) count++;
  return count;
}

const DataFormal *data_words_find_formal(const DataWord *word, const char *name) {
  for (int i = 0; i < data_words_formal_count(word); i++)
    if (!(word->formals[i].kinds & REPEATED) && !strcmp(word->formals[i].name, name))
      return &word->formals[i];
  return NULL;
}

/* ---- finding a word ------------------------------------------------------------------------- */

const char *data_words_join_names(Arena *arena, const char *const *names, int count) {
  const char *text = names[0];
  for (int i = 1; i < count; i++) text = arena_printf(arena, "%s, %s", text, names[i]);
  return text;
}

/* Small letters and digits alone, so that RandomVerticalFlip is random_vertical_flip. */
static void plain_name(char text[40], const char *name) {
  size_t length = 0;
  for (; *name && length < 39; name++)
    if (isalnum((unsigned char)*name)) text[length++] = (char)tolower((unsigned char)*name);
  text[length] = 0;
}

/* What other libraries have as a transform, and is something else here, or nothing. */
static const char *elsewhere(const char *name) {
  static const struct {
    const char *word, *answer;
  } words[] = {
      {"totensor",
       "pictures are read as numbers from 0 to 255; in the model f32(image) / 255 scales them"},
      {"normalize",
       "pictures: normalize(image, mean = [...], std = [...]) is a function of the model; "
       "standardize is for tables"},
      {"rescale", "in the model: f32(image) / 255"},
      {"grayscale", "an input of one channel, u8[batch, 1, height, width], reads pictures as grey"},
      {"togray", "an input of one channel, u8[batch, 1, height, width], reads pictures as grey"},
      {"randomverticalflip", "pictures are mirrored left and right alone, by random_flip"},
      {"vflip", "pictures are mirrored left and right alone, by random_flip"},
      {"gaussianblur", "no stage blurs pictures"},
      {"map", "stages do what is known; any other computation stands in the model, after input"},
      {"lambda", "stages do what is known; any other computation stands in the model, after input"},
      {"compose", "stages stand one after the other, each after |"},
      {"repeat", "an epoch goes through all examples once; train { epochs = N } repeats it"},
      {"cache", "data sets are kept in memory; pictures are kept decoded by ./PROGRAM --cache 4G"},
      {"minmaxscaler",
       "standardize scales columns to mean 0 and deviation 1; other scales stand in the model"},
  };
  char plain[40];
  plain_name(plain, name);
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (strcmp(plain, words[i].word) == 0) return words[i].answer;
  return NULL;
}

const DataWord *data_words_find(Elaborator *e, const AstExpr *callee, bool is_source) {
  const DataWord *words = is_source ? sources : stages, *others = is_source ? stages : sources;
  int count = is_source ? SOURCE_COUNT : STAGE_COUNT;
  int other_count = SOURCE_COUNT + STAGE_COUNT - count;
  const char *name = callee->name;
  Span at = callee->span;
  const char *names[SOURCE_COUNT + STAGE_COUNT];
  for (int i = 0; i < count; i++) {
    names[i] = words[i].name;
    if (name == name_intern(words[i].name)) return &words[i];
  }
  for (int i = 0; i < other_count; i++) {
    if (name != name_intern(others[i].name)) continue;
    return report_failure(e, at,
                          is_source ? "'%s' is a stage; a line begins with a source"
                                    : "'%s' is a source; stages stand after |",
                          name);
  }
  Diagnostic *d = report_error(e, at, "unknown %s '%s'", is_source ? "source" : "stage", name);
  const char *answer = is_source ? NULL : elsewhere(name);
  if (answer) diag_help(d, "%s", answer);
  else report_suggest(d, name, names, count);
  diag_help(d, "the %s are %s", is_source ? "sources" : "stages",
            data_words_join_names(e->arena, names, count));
  return NULL;
}
