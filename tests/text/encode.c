/* Encodes texts by a vocabulary: encode TOKENIZER.json, or encode VOCAB.json MERGES.txt. Standard input is texts, each after
 * its number of bytes and an end of line; of each a line of ids is written, or of a text that cannot be encoded "error: ...".
 * With NNC_QUIET set it writes how many ids and seconds there were. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "text/bpe_file.h"

static nnc_bpe_text read_file(const char *name) {
  FILE *file = fopen(name, "rb");
  if (!file || fseek(file, 0, SEEK_END) != 0) exit(2);
  nnc_bpe_text text = {.name = name, .size = (size_t)ftell(file)};
  rewind(file);
  text.text = malloc(text.size + 1);
  if (!text.text || fread(text.text, 1, text.size, file) != text.size) exit(2);
  fclose(file);
  return text;
}

int main(int count, char **names) {
  nnc_bpe_text files[2];
  char message[NNC_MESSAGE];
  nnc_bpe_ids ids = {0};
  long size;
  if (count < 2 || count > 3) return 2;
  for (int i = 1; i < count; i++) files[i - 1] = read_file(names[i]);
  nnc_bpe *bpe = nnc_bpe_read(files, count - 1, message);
  for (int i = 1; i < count; i++) free(files[i - 1].text);
  if (!bpe) {
    printf("refused: %s\n", message);
    return 1;
  }
  while (scanf("%ld", &size) == 1 && getchar() == '\n') {
    char *text = malloc((size_t)size + 1); /* a byte more is never looked at */
    if (!text || fread(text, 1, (size_t)size, stdin) != (size_t)size) return 2;
    ids.count = 0;
    clock_t start = clock();
    bool good = nnc_bpe_encode(bpe, text, size, &ids, message);
    if (getenv("NNC_QUIET"))
      printf("%lld %g", (long long)ids.count, (double)(clock() - start) / CLOCKS_PER_SEC);
    else if (!good) printf("error: %s", message);
    else
      for (int64_t i = 0; i < ids.count; i++) printf(i ? " %d" : "%d", ids.ids[i]);
    putchar('\n');
    free(text);
  }
  free(ids.ids);
  nnc_bpe_free(bpe);
  return 0;
}
