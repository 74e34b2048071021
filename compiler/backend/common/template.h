/* Code templates: files of codegen_templates/ with holes such as @NAME@. */
#ifndef NNC_BACKEND_COMMON_TEMPLATE_H
#define NNC_BACKEND_COMMON_TEMPLATE_H

#include "support/text.h"
#include "support/vec.h"

typedef struct TemplateHole {
  const char *name; /* upper-case letters, digits and _ */
  const char *text;
} TemplateHole;

/* What fills them; a name that stands twice is filled by the first. */
typedef struct TemplateHoles {
  Arena *arena;
  VEC(TemplateHole) list;
} TemplateHoles;

void template_add(TemplateHoles *holes, const char *name, const char *text);
void template_add_integer(TemplateHoles *holes, const char *name, int64_t value);
/* By the names D0, D1 and D2 for "D". */
void template_add_axes(TemplateHoles *holes, const char *letter, const int64_t values[3]);

/* Adds the template with its holes filled; its first comment (about the template itself) is left
 * out. A hole alone on its line takes its text with the line's indentation, or no line when it is
 * empty. Panics on an unknown hole: a template is part of the compiler. */
void template_render(Text *out, const char *name, const TemplateHoles *holes);

#endif
