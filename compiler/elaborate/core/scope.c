/* Scopes: names to symbols, by the interned name; a warning for what the user's file defines and nothing
 * reads. What only training or only predict reads counts as read. */
#include <stdlib.h>
#include <string.h>
#include "elaborate/core/elaborator.h"

Scope *scope_create(Arena *arena, Scope *parent, bool is_body) {
  Scope *scope = ARENA_NEW(arena, Scope);
  scope->parent = parent;
  scope->is_body = is_body;
  return scope;
}

Symbol *scope_find_own(const Scope *scope, const char *name) {
  int i = table_find(&scope->table, name);
  return i < 0 ? NULL : scope->symbols.items[i];
}

/* A def sees constants, defs, parameters, states and inputs of the program, and shared layers; the
 * values of the program around it come as arguments. */
static bool symbol_visible_in_def(const Symbol *symbol) {
  bool is_value = symbol->kind == SYMBOL_LOCAL || symbol->kind == SYMBOL_LOOP;
  return !is_value || symbol->value.kind == VALUE_LAYER || value_is_error(symbol->value);
}

Symbol *scope_find(const Scope *scope, const char *name, Symbol **hidden) {
  bool inside_def = false;
  for (; scope; scope = scope->parent) {
    Symbol *symbol = scope_find_own(scope, name);
    if (symbol && inside_def && !symbol_visible_in_def(symbol)) {
      if (hidden && !*hidden) *hidden = symbol;
      symbol = NULL;
    }
    if (symbol) return symbol;
    inside_def = inside_def || scope->is_body;
  }
  return NULL;
}

void scope_note_outer(Arena *arena, Scope *scope, const char *name) {
  for (; scope->is_scan && !scope_find_own(scope, name); scope = scope->parent)
    table_add(arena, &scope->outer, name, 0);
}

Symbol *scope_bind(Arena *arena, Scope *scope, SymbolKind kind, const char *name, Value value,
                   Span span) {
  Symbol *symbol = scope_find_own(scope, name);
  if (!symbol) {
    symbol = ARENA_NEW(arena, Symbol);
    table_add(arena, &scope->table, name, scope->symbols.count);
    vec_push(arena, &scope->symbols, symbol);
  }
  *symbol = (Symbol){.name = name, .kind = kind, .value = value, .span = span};
  return symbol;
}

const char *scope_kind_text(SymbolKind kind) {
  static const char *const texts[SYMBOL_KIND_COUNT] = {
      [SYMBOL_BUILTIN] = "part of the language",
      [SYMBOL_CONST] = "a constant",
      [SYMBOL_OPTION] = "an option",
      [SYMBOL_DEF] = "a function",
      [SYMBOL_INPUT] = "an input",
      [SYMBOL_PARAM] = "a parameter",
      [SYMBOL_STATE] = "a state",
      [SYMBOL_LOCAL] = "a value",
      [SYMBOL_LOOP] = "a loop variable",
      [SYMBOL_FORMAL] = "an argument",
      [SYMBOL_AMBIENT] = "given to every definer",
  };
  return texts[kind];
}

/* ---- names that nothing reads --------------------------------------------------------------- */

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

void scope_mark_input(Elaborator *e, const char *name) {
  for (int i = 0; i < e->usages.count; i++) {
    Usage *usage = e->usages.items[i];
    if (usage->name->text == name && strcmp(usage->what, "input") == 0) usage->used = true;
  }
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
