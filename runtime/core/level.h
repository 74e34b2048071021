/* Which of a program's instruction sets is used. */
#ifndef NNC_LEVEL_H
#define NNC_LEVEL_H

#include "nnc_model.h"

/* Chooses the code that nnc_the_model runs: the level called `asked` ("x86-64-v3" or "v3"), or with
 * NULL the last that this processor can run, or the first when it can run none. An nnc_exit other
 * than NNC_EXIT_OK after a message: there is no such level, or the processor lacks it. */
int nnc_level_choose(const char *asked);

/* The level in use. */
const nnc_level *nnc_level_used(void);

/* An extension that the level needs and this processor (or its system) has not; NULL: it runs. The
 * word is good until the next call. */
const char *nnc_level_lacks(const nnc_level *level);

#endif
