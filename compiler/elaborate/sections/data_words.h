/* The vocabulary of docs/data.md: sources and stages with their arguments. */
#ifndef NNC_ELABORATE_SECTIONS_DATA_WORDS_H
#define NNC_ELABORATE_SECTIONS_DATA_WORDS_H

#include "elaborate/sections/data.h"

enum {
  NUMBER = 1 << DATA_NUMBER,
  STRING = 1 << DATA_STRING,
  BOOL = 1 << DATA_BOOL,
  LIST = 1 << DATA_LIST,
  FIELD = 1 << DATA_NAME,
  OPTION = 1 << DATA_OPTION, /* the executable may take it as a flag */
  KINDS = NUMBER | STRING | BOOL | LIST | FIELD | OPTION,
  NEEDED = KINDS + 1,          /* it must be given */
  REPEATED = NEEDED * 2,       /* any number of positional ones, named "" */
  RANGED = NEEDED * 4,         /* numbers have a range; */
  WHOLE = RANGED | NEEDED * 8, /* and are whole */
  ELSEWHERE = NEEDED * 16      /* a field of another line */
};

/* Ranges are those that the runtime takes, so that a program with another number is refused before it is
 * compiled. Fractions of a data set have a rule of their own, and so does what replaces a missing
 * value. */
typedef struct DataFormal {
  const char *name;
  int kinds; /* and what else is said above */
  double least, most;
  const char *words[12]; /* the strings that make sense, if not all do; */
  const char *text;      /* how they are listed */
} DataFormal;

enum { MOST_FORMALS = 10 };

typedef struct DataWord {
  const char *name;
  DataFormal formals[MOST_FORMALS];
  struct {
    int least, most;
    const char *text;
  } fields; /* where they have a meaning by their place */
} DataWord;

/* "a number or a string" */
const char *data_words_kinds_text(int kinds);
int data_words_formal_count(const DataWord *word);
/* NULL: the word has none of the name. */
const DataFormal *data_words_find_formal(const DataWord *word, const char *name);
/* "file, columns, header" */
const char *data_words_join_names(Arena *arena, const char *const *names, int count);
/* NULL where there is no such word, which is reported with those that there are. */
const DataWord *data_words_find(Elaborator *e, const AstExpr *callee, bool is_source);

#endif
