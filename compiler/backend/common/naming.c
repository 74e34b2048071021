/* Identifiers of generated code: see naming.h. */
#include "backend/common/naming.h"

#include <ctype.h>
#include <string.h>
#include "support/names.h"

/* Words of C, and what entries and tables of generated code call their own. */
static const char *const reserved[] = {
    "auto",  "bool",     "break",  "case",     "char",   "const",    "continue", "default",
    "do",    "double",   "else",   "enum",     "extern", "false",    "float",    "for",
    "goto",  "if",       "inline", "int",      "long",   "register", "restrict", "return",
    "short", "signed",   "sizeof", "static",   "struct", "switch",   "true",     "typedef",
    "union", "unsigned", "void",   "volatile", "while",  "asm",      "typeof",   "main",
    "linux", "unix",     "worker", "arena",    "task",   "host",     "finish",   "source",
    "errno", "stdin",    "stdout", "stderr",   "NULL",   "INFINITY", "NAN",      "far",
    "end",
};

/* What begins so is the runtime's, or the address of a buffer; what would begin so with a number after it, too. */
static bool has_own_beginning(const char *name) {
  bool is_own = strncmp(name, "nnc", 3) == 0 || strncmp(name, "mem", 3) == 0;
  return is_own && (name[3] == '_' || name[3] == 0);
}

/* Names such as i0, t12, a1 belong to the generated code. */
static bool is_generated_name(const char *name) {
  if (strchr("abcijklmnrstvx", name[0]) == NULL) return false;
  if (name[1] == 0) return true;
  for (const char *c = name + 1; *c; c++)
    if (!isdigit((unsigned char)*c)) return false;
  return true;
}

static bool is_reserved(const NameScope *scope, const char *name) {
  for (size_t i = 0; i < sizeof reserved / sizeof *reserved; i++)
    if (strcmp(reserved[i], name) == 0) return true;
  while (scope->outer != NULL) scope = scope->outer;
  for (const char *const *word = scope->words; word != NULL && *word != NULL; word++)
    if (strcmp(*word, name) == 0) return true;
  return is_generated_name(name) || has_own_beginning(name) || name[0] == '_';
}

/* "", "_12": what may follow the name of a table or function. */
static bool is_number(const char *end) {
  if (end[0] == '_' && isdigit((unsigned char)end[1]))
    for (end++; isdigit((unsigned char)*end);) end++;
  return *end == 0;
}

/* "train_run", "train_run_2", "data_0_1_calls": the emitted tables and functions of one file. */
static bool is_table(const char *name) {
  static const char *const tables[] = {
      "rates",     "metric_is_of_steps", "host",     "finish",  "levels",
      "variables", "initials",           "plateaus", "options", "watches",
      "rankings",  "metric_is_ranked",   "source",   "worker",  "data_sets",
      "task",      "scalar_names",       "inputs",   "result",  "metric_names"};
  static const char *const entries[] = {"init",     "train",   "accumulate",    "eval",
                                        "eval_one", "predict", "predict_batch", "generate"};
  static const char *const ends[] = {"run",        "steps",   "inputs",       "batched", "limits",
                                     "exceptions", "results", "accumulators", "repeats"};
  for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
    if (strcmp(tables[i], name) == 0) return true;
  for (size_t i = 0; i < sizeof entries / sizeof *entries; i++)
    for (size_t k = 0; k < sizeof ends / sizeof *ends; k++) {
      size_t length = strlen(entries[i]);
      if (strncmp(name, entries[i], length) == 0 && name[length] == '_' &&
          strncmp(name + length + 1, ends[k], strlen(ends[k])) == 0 &&
          is_number(name + length + 1 + strlen(ends[k])))
        return true;
    }
  return strncmp(name, "data_", 5) == 0 && isdigit((unsigned char)name[5]);
}

bool naming_is_emitted(const char *name) {
  return is_table(name) || strncmp(name, "net_", 4) == 0 || strncmp(name, "mem_", 4) == 0;
}

/* In this scope alone; NULL when it is free. */
static TakenName *find_taken(const NameScope *scope, const char *name) {
  int place = table_find(&scope->places, name);
  return place < 0 ? NULL : &scope->taken.items[place];
}

void naming_take(NameScope *scope, const char *name) {
  name = name_intern(name);
  if (table_add(scope->arena, &scope->places, name, scope->taken.count))
    vec_push(scope->arena, &scope->taken, ((TakenName){name, 2}));
}

static bool is_taken(const NameScope *scope, const char *name) {
  name = name_intern(name);
  for (; scope != NULL; scope = scope->outer)
    if (find_taken(scope, name)) return true;
  return false;
}

const char *naming_make(NameScope *scope, const char *wish) {
  char *base = arena_strdup(scope->arena, wish);
  for (char *c = base; *c; c++)
    if (!isalnum((unsigned char)*c)) *c = '_';
  while (*base == '_') base++;
  if (*base == 0) base = arena_strdup(scope->arena, "value"); /* a name of signs alone */
  if (isdigit((unsigned char)*base)) base = arena_printf(scope->arena, "n%s", base);
  /* Names without small letters are the templates' constants. */
  if (strpbrk(base, "abcdefghijklmnopqrstuvwxyz") == NULL || has_own_beginning(base))
    base = arena_printf(scope->arena, "v_%s", base);
  const char *name = base;
  if (is_reserved(scope, name)) name = base = arena_printf(scope->arena, "%s_", base);
  TakenName *same = find_taken(scope, name_intern(base));
  int number = same ? same->next : 2;
  while (is_reserved(scope, name) || is_taken(scope, name))
    name = arena_printf(scope->arena, "%s_%d", base, number++);
  if (same) same->next = number;
  naming_take(scope, name);
  return name;
}

const char *naming_function(NameScope *scope, const char *wish) {
  return naming_make(scope, arena_printf(scope->arena, "net_%s", wish));
}
