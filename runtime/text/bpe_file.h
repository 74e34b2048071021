/* Reads vocabularies: `tokenizer.json` of Hugging Face's tokenizers, or `vocab.json` and `merges.txt` of GPT-2. */
#ifndef NNC_TEXT_BPE_FILE_H
#define NNC_TEXT_BPE_FILE_H

#include "text/bpe.h"

typedef struct nnc_bpe_text {
  const char *name; /* of the file */
  char *text;       /* is changed; text[size] is writable */
  size_t size;
} nnc_bpe_text;

/* One file, or two. NULL after a message, which begins with a file's name. */
nnc_bpe *nnc_bpe_read(const nnc_bpe_text *files, int count, char message[NNC_MESSAGE]);

#endif
