/* nnc doc [NAME...]: what the language offers; an entry with its source, or who has such an argument. */
#include <stdio.h>
#include "driver/commands.h"
#include "elaborate/builtins/doc.h"

int command_doc(Arena *arena, const Options *options) {
  Text text = {0};
  InputFiles inputs = {0};
  int status = 0;
  if (options->files.count == 0) doc_list(&text, options->internal);
  for (int i = 0; i < options->files.count; i++) {
    if (i > 0) text_add_char(&text, '\n');
    const char *name = options->files.items[i];
    if (doc_print(&text, name) || doc_print_argument(arena, &text, name)) continue;
    const char *nearest = doc_nearest(arena, name);
    fprintf(stderr, "nnc: there is no '%s' in the language%s%s%s\n", name,
            nearest ? "; did you mean '" : "", nearest ? nearest : "", nearest ? "'?" : "");
    status = EXIT_MISTAKES;
  }
  if (text.length > 0 && !driver_write(arena, &inputs, options->output, MADE_TEXT, &text))
    status = EXIT_MACHINE;
  text_free(&text);
  return status;
}
