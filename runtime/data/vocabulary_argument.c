/* Whether a call names a vocabulary: tokenizer.h. Apart from what reads one, which most programs lack. */
#include <string.h>

#include "data/tokenizer.h"

const nnc_value *data_vocabulary(const nnc_call *call) {
  for (int i = 0; i < call->argument_count; i++)
    if (strcmp(call->arguments[i].name, "vocabulary") == 0) return &call->arguments[i].value;
  return NULL;
}
