/* Unused names: a warning for what the user's file defines and nothing reads.
 *
 * A name's identity is its place in the tree, so the traces share one record. What only training or
 * only predict reads counts as read. */
#include <stdlib.h>
#include "elaborate/core/elaborator.h"

Usage *scope_usage(Elaborator *e, const AstName *name, const char *what) {
  int i = table_find(&e->usage_table, name);
  if (i >= 0) return e->usages.items[i];
  Usage *usage = ARENA_NEW(e->arena, Usage);
  usage->name = name;
  usage->what = what;
  table_add(e->arena, &e->usage_table, name, e->usages.count);
  vec_push(e->arena, &e->usages, usage);
  return usage;
}

static int compare_places(const void *a, const void *b) {
  const Span *x = &(*(Usage *const *)a)->name->span, *y = &(*(Usage *const *)b)->name->span;
  return x->line != y->line ? x->line - y->line : x->column - y->column;
}

/* In the order of the file. */
void scope_warn_unused(Elaborator *e) {
  if (e->usages.count > 0)
    qsort(e->usages.items, (size_t)e->usages.count, sizeof(Usage *), compare_places);
  for (int i = 0; i < e->usages.count; i++) {
    const Usage *usage = e->usages.items[i];
    if (usage->used || usage->name->text[0] == '_') continue;
    diag_warning(e->diagnostics, usage->name->span, "the %s '%s' is never used", usage->what,
                 usage->name->text);
  }
}
