/* Cuts a text into the pieces whose bytes are merged. */
#ifndef NNC_TEXT_BPE_CUT_H
#define NNC_TEXT_BPE_CUT_H

#include "text/bpe_rules.h"

/* Where the piece that begins at `at` ends, of a text that is not empty there; `pattern`: enum nnc_bpe_pattern. */
const char *nnc_bpe_cut(int pattern, const char *at, const char *end);

#endif
