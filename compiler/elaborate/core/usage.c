/* Unused names: a warning for what the user's file defines and nothing reads.
 *
 * A name's identity is its place in the tree, so the traces share one record. What only training or
 * only predict reads counts as read. */
#include <stdint.h>
#include <stdlib.h>
#include "elaborate/core/elaborator.h"

static Usage **usage_place(Usage **table, int capacity, const AstName *name) {
  size_t hash = ((size_t)(uintptr_t)name >> 4) * 0x9E3779B97F4A7C15u;
  for (size_t i = (hash >> 20) & (size_t)(capacity - 1);; i = (i + 1) & (size_t)(capacity - 1))
    if (!table[i] || table[i]->name == name) return &table[i];
}

static void usage_grow(Elaborator *e) {
  int capacity = e->usage_capacity ? e->usage_capacity * 2 : 64;
  Usage **table = ARENA_ARRAY(e->arena, Usage *, capacity);
  for (int i = 0; i < e->usages.count; i++)
    *usage_place(table, capacity, e->usages.items[i]->name) = e->usages.items[i];
  e->usage_table = table;
  e->usage_capacity = capacity;
}

Usage *scope_usage(Elaborator *e, const AstName *name, const char *what) {
  if (e->usages.count * 2 >= e->usage_capacity) usage_grow(e);
  Usage **place = usage_place(e->usage_table, e->usage_capacity, name);
  if (*place) return *place;
  Usage *usage = ARENA_NEW(e->arena, Usage);
  usage->name = name;
  usage->what = what;
  vec_push(e->arena, &e->usages, usage);
  *place = usage;
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
