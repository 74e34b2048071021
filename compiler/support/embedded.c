/* The look-up of embedded files; the table itself is written by tools/embed.c at build time. */
#include "support/embedded.h"

#include <string.h>

const EmbeddedFile *embedded_find(const char *name) {
  for (int i = 0; i < embedded_file_count; i++)
    if (!strcmp(embedded_files[i].name, name)) return &embedded_files[i];
  return NULL;
}
