/* textDocument/formatting: what `nnc fmt` writes, as one edit of the lines that change. */
#include <string.h>
#include "server/client.h"
#include "syntax/format.h"

json_t *answer_formatting(const Server *server, const Document *document, const json_t *params) {
  Arena *arena = arena_create();
  const char *old = document->text.data ? document->text.data : "";
  size_t length = document->text.length;
  const SourceFile *source = source_from_text(arena, document->path, old, length);
  const char *new = format_program(arena, diagnostics_create(arena), source);
  if (!new) return json_null(); /* the mistakes are told already */
  const Lines *lines = document_lines(arena, document, server->encoding);
  size_t new_length = strlen(new), first = 0, last = 0;
  while (first < length && first < new_length && old[first] == new[first]) first++;
  if (first == length && first == new_length) return json_array();
  while (first > 0 && old[first - 1] != '\n') first--;
  while (last < length - first && last < new_length - first &&
         old[length - 1 - last] == new[new_length - 1 - last])
    last++;
  while (last > 0 && last < length && old[length - last - 1] != '\n') last--;
  Range range = {lines_place(lines, first), lines_place(lines, length - last)};
  const char *text = arena_strndup(arena, new + first, new_length - last - first);
  return json_pack("[{s:o, s:o}]", "range", json_of_range(range), "newText", json_of_text(text));
}
