/* Scopes: names to symbols, by the interned name. */
#include "elaborate/core/scope.h"
#include "elaborate/core/value.h"

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
