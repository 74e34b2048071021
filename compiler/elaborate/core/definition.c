/* Definitions of the command line: -D name=value. */
#include <string.h>
#include "elaborate/core/definition.h"
#include "elaborate/elaborate.h"
#include "syntax/parse.h"

AstExpr *definition_find(Elaborator *e, const char *name) {
  for (int i = e->options->definition_count - 1; i >= 0; i--) {
    if (strcmp(e->options->definitions[i].name, name) != 0) continue;
    e->definition_used[i] = true;
    return e->definition_exprs[i];
  }
  return NULL;
}

void definition_parse(Elaborator *e) {
  int count = e->options->definition_count;
  e->definition_used = ARENA_ARRAY(e->arena, bool, count);
  e->definition_exprs = ARENA_ARRAY(e->arena, AstExpr *, count);
  for (int i = 0; i < count; i++) {
    const Definition *definition = &e->options->definitions[i];
    SourceFile *source =
        source_from_text(e->arena, arena_printf(e->arena, "-D %s", definition->name),
                         definition->value, strlen(definition->value));
    e->definition_exprs[i] = parse_expression(e->arena, e->diagnostics, source);
  }
}
