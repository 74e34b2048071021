/* nnc doc [NAME...]: what the language offers; an entry with its source. */
#include <stdio.h>
#include "driver/commands.h"
#include "elaborate/elaborate.h"

int command_doc(Arena *arena, const Options *options)
{
  Text text = {0};
  int status = 0;
  if (options->files.count == 0) doc_list(&text);
  for (int i = 0; i < options->files.count; i++) {
    if (i > 0) text_add_char(&text, '\n');
    if (!doc_print(&text, options->files.items[i])) status = EXIT_MISTAKES;
  }
  if (text.length > 0 && !driver_write(options->output, &text)) status = EXIT_MACHINE;
  text_free(&text);
  return status;
}
