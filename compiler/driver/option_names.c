/* Finds an unknown option as argp walks the command line: values that follow an option are no options. */
#include "driver/option_names.h"

#include <stdbool.h>
#include <string.h>

#include "core/flags.h"
#include "support/names.h"
#include "support/panic.h"
#include "support/text.h"

/* --- names ---------------------------------------------------------------------------------- */

enum { MOST_NAMES = 80 };

/* argp adds these. */
static const struct argp_option own_options[] = {
    {"help", '?', 0, 0, 0, 0}, {"usage", 0, 0, 0, 0, 0}, {"version", 'V', 0, 0, 0, 0}, {0}};

/* Options of other compilers, and how nnc says it. */
static const struct {
  const char *name, *ours;
} foreign[] = {{"precision", "-D train.precision=bf16' or '--float"},
               {"dtype", "-D train.precision=bf16' or '--float"},
               {"device", "--target"},
               {"backend", "--target"},
               {"march", "--arch"}};

typedef struct Names {
  int count;
  const struct argp_option *items[MOST_NAMES];
} Names;

static void add_names(Names *names, const struct argp_option *table) {
  for (; table->name || table->key || table->doc; table++)
    if (table->name && names->count < MOST_NAMES) names->items[names->count++] = table;
}

static bool takes_next(const struct argp_option *option) {
  return option->arg && !(option->flags & OPTION_ARG_OPTIONAL);
}

/* The option that "--word" or a beginning of it is; NULL: there is none. */
static const struct argp_option *find_name(const Names *names, const char *word, size_t length) {
  const struct argp_option *found = NULL;
  for (int i = 0; i < names->count; i++) {
    const struct argp_option *option = names->items[i];
    if (strncmp(option->name, word, length) != 0) continue;
    if (!option->name[length]) return option;
    found = option;
  }
  return found;
}

/* Whether the last of the letters takes the next word: -o FILE, -gv, -O1. */
static bool letters_take_next(const Names *names, const char *letters) {
  for (; *letters; letters++)
    for (int i = 0; i < names->count; i++) {
      if (names->items[i]->key != *letters) continue;
      if (takes_next(names->items[i])) return !letters[1];
    }
  return false;
}

static bool is_flag_of_executable(const char *word) {
  static const char *const flags[] = {NNC_FLAG_NAMES};
  for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
    if (strcmp(flags[i], word) == 0) return true;
  return false;
}

static const char *describe(Arena *arena, const Names *names, const char *word) {
  if (is_flag_of_executable(word))
    return arena_printf(arena, "'--%s' is an option of the executable; './OUT --help' lists those",
                        word);
  const char *candidates[MOST_NAMES + sizeof foreign / sizeof *foreign];
  int count = 0;
  for (; count < names->count; count++) candidates[count] = names->items[count]->name;
  for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
    candidates[count++] = foreign[i].name;
  const char *nearest = name_nearest(word, candidates, count), *dashes = "--";
  for (size_t i = 0; nearest && i < sizeof foreign / sizeof *foreign; i++)
    if (strcmp(foreign[i].name, nearest) == 0) nearest = foreign[i].ours, dashes = "";
  return nearest ? arena_printf(arena, "unknown option '--%s'; did you mean '%s%s'?", word, dashes,
                                nearest)
                 : arena_printf(arena, "unknown option '--%s'; nnc --help lists all", word);
}

const char *option_names_mistake(Arena *arena, const struct argp_option *table, int argc,
                                 char **argv) {
  Names names = {0};
  add_names(&names, table);
  add_names(&names, own_options);
  for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
    const char *word = argv[i];
    if (word[0] != '-') continue;
    if (word[1] != '-') {
      i += letters_take_next(&names, word + 1);
      continue;
    }
    size_t length = strcspn(word + 2, "=");
    const struct argp_option *option = find_name(&names, word + 2, length);
    if (!option) return describe(arena, &names, arena_strndup(arena, word + 2, length));
    i += takes_next(option) && !word[2 + length];
  }
  return NULL;
}

/* --- words ---------------------------------------------------------------------------------- */

enum { MOST_WORDS = 8 };

/* One letter is as near to any other; a word of one letter is near to two that begin with it. */
const char *option_nearest_word(const Word *words, const char *text) {
  const char *names[MOST_WORDS], *begun = NULL;
  int count = 0;
  size_t length = strlen(text);
  for (; words->text; words++) {
    CHECK(count < MOST_WORDS);
    names[count++] = words->text;
    size_t other = strlen(words->text), common = other < length ? other : length;
    bool begins = strncmp(words->text, text, common) == 0 && length <= other + 1;
    if (begins && !begun) begun = words->text;
  }
  const char *nearest = length > 1 ? name_nearest(text, names, count) : NULL;
  return nearest || length < 2 ? nearest : begun;
}

int option_word(struct argp_state *state, const Word *words, const char *text, const char *option) {
  Text list = {0};
  for (const Word *word = words; word->text; word++)
    if (!strcmp(word->text, text)) return word->value;
  for (const Word *word = words; word->text; word++)
    text_printf(&list, "%s%s", list.length ? ", " : "", word->text);
  const char *nearest = option_nearest_word(words, text);
  argp_error(state, "%s takes one of %s, not \"%s\"%s", option, list.data, text,
             nearest ? name_printf("; did you mean \"%s\"?", nearest) : "");
  return 0;
}
