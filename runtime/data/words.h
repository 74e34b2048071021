/* The words of data blocks: what each source gives and what each stage acts on.
 *
 * The compiler refuses a stage after a source that does not give what it acts on, and so does the
 * runtime: both read these lists, so they cannot disagree.  A class of a source or stage takes its
 * line by name (DATA_GIVES_idx, DATA_ACTS_ON_split), and the compiler panics when one of its words
 * is missing here. */
#ifndef NNC_DATA_WORDS_H
#define NNC_DATA_WORDS_H

#include <stdbool.h>
#include <string.h>
#include <strings.h>

/* KIND(bit, in messages) */
#define DATA_KINDS(KIND)                                                                           \
  KIND(1, GIVES_ROWS, "rows of its own")                                                           \
  KIND(2, GIVES_NUMBERS, "tables of numbers")                                                      \
  KIND(4, GIVES_TEXT, "columns of text")                                                           \
  KIND(8, GIVES_PICTURES, "pictures")                                                              \
  KIND(16, GIVES_FILES, "numbers in binary files")                                                 \
  KIND(32, GIVES_SERIES, "rows of numbers that may follow each other")                             \
  KIND(64, GIVES_CLASSES, "class numbers")                                                         \
  KIND(128, GIVES_BOXES, "boxes beside pictures")

/* SOURCE(name, what it gives) */
#define DATA_SOURCES(SOURCE)                                                                       \
  SOURCE(idx, GIVES_ROWS | GIVES_NUMBERS | GIVES_PICTURES | GIVES_FILES | GIVES_SERIES |           \
                  GIVES_CLASSES | GIVES_BOXES)                                                     \
  SOURCE(npy, GIVES_ROWS | GIVES_NUMBERS | GIVES_PICTURES | GIVES_FILES | GIVES_SERIES |           \
                  GIVES_CLASSES | GIVES_BOXES)                                                     \
  SOURCE(npz, GIVES_ROWS | GIVES_NUMBERS | GIVES_PICTURES | GIVES_FILES | GIVES_SERIES |           \
                  GIVES_CLASSES | GIVES_BOXES)                                                     \
  SOURCE(raw, GIVES_ROWS | GIVES_NUMBERS | GIVES_PICTURES | GIVES_FILES | GIVES_SERIES |           \
                  GIVES_CLASSES | GIVES_BOXES)                                                     \
  SOURCE(cifar,                                                                                    \
         GIVES_ROWS | GIVES_NUMBERS | GIVES_PICTURES | GIVES_FILES | GIVES_SERIES | GIVES_CLASSES) \
  SOURCE(csv, GIVES_ROWS | GIVES_NUMBERS | GIVES_TEXT | GIVES_SERIES | GIVES_CLASSES)              \
  SOURCE(text, GIVES_ROWS) /* windows may overlap */                                               \
  SOURCE(token_stream, GIVES_ROWS | GIVES_FILES)                                                   \
  SOURCE(copy_task, GIVES_ROWS)                                                                    \
  SOURCE(image_folder, GIVES_ROWS | GIVES_PICTURES | GIVES_CLASSES)                                \
  SOURCE(image_list,                                                                               \
         GIVES_ROWS | GIVES_PICTURES | GIVES_NUMBERS | GIVES_TEXT | GIVES_CLASSES | GIVES_BOXES)   \
  SOURCE(wav_folder, GIVES_ROWS | GIVES_CLASSES)                                                   \
  SOURCE(wav_list, GIVES_ROWS | GIVES_NUMBERS | GIVES_TEXT | GIVES_CLASSES)                        \
  SOURCE(shards, GIVES_ROWS | GIVES_PICTURES | GIVES_CLASSES | GIVES_BOXES)                        \
  SOURCE(files, GIVES_ROWS | GIVES_PICTURES)                                                       \
  SOURCE(counter, 0) /* the rows of the other lines */                                             \
  SOURCE(constant, 0)

/* STAGE(name, what it acts on: one of the kinds) */
#define DATA_STAGES(STAGE)                                                                         \
  STAGE(split, GIVES_ROWS)                                                                         \
  STAGE(fold, GIVES_ROWS)                                                                          \
  STAGE(shuffle, GIVES_ROWS)                                                                       \
  STAGE(balance, GIVES_ROWS)                                                                       \
  STAGE(weigh, GIVES_ROWS)                                                                         \
  STAGE(mixup, GIVES_ROWS)                                                                         \
  STAGE(cutmix, GIVES_ROWS)                                                                        \
  STAGE(one_hot, GIVES_CLASSES)                                                                    \
  STAGE(boxes, GIVES_BOXES)                                                                        \
  STAGE(batch, GIVES_ROWS)                                                                         \
  STAGE(prefetch, GIVES_ROWS)                                                                      \
  STAGE(window, GIVES_SERIES)                                                                      \
  STAGE(on_disk, GIVES_FILES)                                                                      \
  STAGE(standardize, GIVES_NUMBERS)                                                                \
  STAGE(impute, GIVES_NUMBERS)                                                                     \
  STAGE(categories, GIVES_TEXT)                                                                    \
  STAGE(hash, GIVES_TEXT)                                                                          \
  STAGE(resize, GIVES_PICTURES)                                                                    \
  STAGE(center_crop, GIVES_PICTURES)                                                               \
  STAGE(random_crop, GIVES_PICTURES)                                                               \
  STAGE(random_resized_crop, GIVES_PICTURES)                                                       \
  STAGE(color_jitter, GIVES_PICTURES)                                                              \
  STAGE(pad, GIVES_PICTURES)                                                                       \
  STAGE(random_affine, GIVES_PICTURES)                                                             \
  STAGE(random_erase, GIVES_PICTURES)                                                              \
  STAGE(random_flip, GIVES_PICTURES)                                                               \
  STAGE(with, GIVES_PICTURES) /* those of another line */

/* Whether a name of files is a pattern: * stands for any characters of a name but /, ? for one, ** for any folders. */
static inline bool data_is_pattern(const char *name) { return strpbrk(name, "*?") != NULL; }

#define DATA_KIND_ENUMERATOR(bit, name, text) name = bit,
#define DATA_SOURCE_ENUMERATOR(name, gives) DATA_GIVES_##name = (gives),
#define DATA_STAGE_ENUMERATOR(name, kind) DATA_ACTS_ON_##name = (kind),
enum DataKind { DATA_KINDS(DATA_KIND_ENUMERATOR) };
enum DataGives { DATA_SOURCES(DATA_SOURCE_ENUMERATOR) };
enum DataActsOn { DATA_STAGES(DATA_STAGE_ENUMERATOR) };
#undef DATA_KIND_ENUMERATOR
#undef DATA_SOURCE_ENUMERATOR
#undef DATA_STAGE_ENUMERATOR

enum { DATA_PICTURE_STAGES = 16 }; /* at most, after one source */
enum { DATA_MOST_RATIO = 1000 };   /* of the width of a part of a picture to its height */
enum { DATA_MOST_FACTOR = 100 };   /* of an affine map */
enum { DATA_MOST_ALPHA = 1000 };   /* of the shares of a mixture */

static inline const char *data_kind_text(int kind) {
#define DATA_KIND_TEXT(bit, name, text)                                                            \
  if (kind == (bit)) return text;
  DATA_KINDS(DATA_KIND_TEXT)
#undef DATA_KIND_TEXT
  return "";
}

/* Whether a source gives pictures that are files, to be decoded; others have them in rows of numbers. */
static inline bool data_decodes_pictures(int gives) {
  return (gives & GIVES_PICTURES) && !(gives & GIVES_FILES);
}

/* What the source gives; -1: there is none of this name. */
static inline int data_source_gives(const char *source) {
#define DATA_SOURCE_GIVES(name, gives)                                                             \
  if (!strcmp(source, #name)) return DATA_GIVES_##name;
  DATA_SOURCES(DATA_SOURCE_GIVES)
#undef DATA_SOURCE_GIVES
  return -1;
}

/* --- members of shards: what one holds, by its name --------------------------------------------- */

enum ShardKind { SHARD_NONE, SHARD_PICTURE, SHARD_SOUND, SHARD_CLASS, SHARD_ARRAY };

#define SHARD_RULE                                                                                 \
  "the first may be a picture (\"jpg;jpeg;png\" or some of these) or a sound (\"wav\"), all "      \
  "others "                                                                                        \
  "are \"NAME.npy\", \"npy\" or \"cls\", a whole number"

/* What the first member of an example alone may be. */
static inline bool shard_is_first(enum ShardKind kind) {
  return kind == SHARD_PICTURE || kind == SHARD_SOUND;
}

/* What a field takes where no members are stated. */
static inline const char *shard_default(int field) { return field == 0 ? "jpg;jpeg;png" : "cls"; }

/* Whether one of `names`, which semicolons separate, is the name, in any case. */
static inline bool shard_member_is(const char *names, const char *name) {
  size_t length = strlen(name);
  for (const char *at = names;; at++) {
    size_t one = strcspn(at, ";");
    if (one == length && strncasecmp(at, name, one) == 0) return true;
    at += one;
    if (!*at) return false;
  }
}

static inline enum ShardKind shard_kind_of_one(const char *name, size_t length) {
  static const char *const pictures[] = {"jpg", "jpeg", "png"};
  for (int i = 0; i < 3; i++)
    if (length == strlen(pictures[i]) && strncasecmp(name, pictures[i], length) == 0)
      return SHARD_PICTURE;
  if (length == 3 && strncasecmp(name, "wav", 3) == 0) return SHARD_SOUND;
  if (length == 3 && strncasecmp(name, "cls", 3) == 0) return SHARD_CLASS;
  bool is_array = length >= 3 && strncasecmp(name + length - 3, "npy", 3) == 0;
  return is_array && (length == 3 || name[length - 4] == '.') ? SHARD_ARRAY : SHARD_NONE;
}

/* What all of them hold; SHARD_NONE where they do not agree. */
static inline enum ShardKind shard_kind(const char *names) {
  enum ShardKind kind = SHARD_NONE;
  for (const char *at = names;; at++) {
    size_t one = strcspn(at, ";");
    enum ShardKind its = shard_kind_of_one(at, one);
    if (its == SHARD_NONE || (at != names && its != kind)) return SHARD_NONE;
    kind = its;
    at += one;
    if (!*at) return kind;
  }
}

#endif
