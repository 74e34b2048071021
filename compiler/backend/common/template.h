/* Code templates: files of codegen_templates/ with holes such as @NAME@. */
#ifndef NNC_BACKEND_COMMON_TEMPLATE_H
#define NNC_BACKEND_COMMON_TEMPLATE_H

#include "support/text.h"

typedef struct TemplateHole {
  const char *name; /* upper-case letters, digits and _ */
  const char *text;
} TemplateHole;

/* Adds the template with its holes filled; its first comment (about the template itself) is left
 * out. A hole alone on its line takes its text with the line's indentation, or no line when it is
 * empty. Panics on an unknown hole: a template is part of the compiler. */
void template_render(Text *out, const char *name, int count, const TemplateHole *holes);

#endif
