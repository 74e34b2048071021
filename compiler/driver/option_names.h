/* Words of options and names of options that nobody knows: argp's own message would not say which were meant. */
#ifndef NNC_DRIVER_OPTION_NAMES_H
#define NNC_DRIVER_OPTION_NAMES_H

#include <argp.h>
#include "support/arena.h"

/* What an option's value may be; the last one of a list has no text. */
typedef struct Word {
  const char *text;
  int value;
} Word;

/* The value of a word, or an argp error that lists what there is. */
int option_word(struct argp_state *state, const Word *words, const char *text, const char *option);
/* The word that was probably meant; NULL. */
const char *option_nearest_word(const Word *words, const char *text);

/* The first word of the command line that is an option, but none of `table`, as a message that names the
 * nearest one; NULL: there is none.  Letters, ambiguous beginnings and missing values are left to argp. */
const char *option_names_mistake(Arena *arena, const struct argp_option *table, int argc,
                                 char **argv);

#endif
