/* Vocabularies that a source names: `vocabulary = "tokenizer.json"`, or of GPT-2 `["vocab.json", "merges.txt"]`.
 *
 * What is read is a fitted value of the source's line, so checkpoints have it, and the files are needed no more. */
#ifndef NNC_DATA_TOKENIZER_H
#define NNC_DATA_TOKENIZER_H

#include "data/call.h"
#include "text/bpe.h"

/* Linked only where the model names it (nnc_model.tokenizer). */
struct nnc_tokenizer_class {
  /* The vocabulary of the call, which reads these fields: of the fitted values, else of its files; where the set
   * learns, it becomes a fitted value. NULL after a message. */
  nnc_bpe *(*open)(const DataContext *context, int field_count, const char *const *fields);
  bool (*encode)(nnc_bpe *bpe, const char *text, int64_t size, nnc_bpe_ids *ids,
                 char message[NNC_MESSAGE]);
  int64_t (*count)(const nnc_bpe *bpe); /* of ids */
  const char *(*bytes)(const nnc_bpe *bpe, int64_t id, size_t *length);
  void (*close)(nnc_bpe *bpe);
};

/* The call's argument `vocabulary`; NULL: it has none. */
const nnc_value *data_vocabulary(const nnc_call *call);

#endif
