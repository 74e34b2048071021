/* Scopes: names to symbols, hashed by the interned name.  Nothing iterates in hash order. */
#include <stdint.h>
#include "elaborate/core/scope.h"
#include "elaborate/core/value.h"

Scope *scope_create(Arena *arena, Scope *parent, bool is_body) {
  Scope *scope = ARENA_NEW(arena, Scope);
  scope->parent = parent;
  scope->is_body = is_body;
  return scope;
}

static Symbol **scope_place(Symbol **table, int capacity, const char *name) {
  size_t hash = (size_t)((uintptr_t)name >> 3) * 0x9E3779B97F4A7C15u;
  for (size_t i = (hash >> 20) & (size_t)(capacity - 1);; i = (i + 1) & (size_t)(capacity - 1))
    if (!table[i] || table[i]->name == name) return &table[i];
}

Symbol *scope_find_own(const Scope *scope, const char *name) {
  return scope->capacity ? *scope_place(scope->table, scope->capacity, name) : NULL;
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

static void scope_grow(Arena *arena, Scope *scope) {
  int capacity = scope->capacity ? scope->capacity * 2 : 16;
  Symbol **table = ARENA_ARRAY(arena, Symbol *, capacity);
  for (int i = 0; i < scope->symbols.count; i++)
    *scope_place(table, capacity, scope->symbols.items[i]->name) = scope->symbols.items[i];
  scope->table = table;
  scope->capacity = capacity;
}

Symbol *scope_bind(Arena *arena, Scope *scope, SymbolKind kind, const char *name, Value value,
                   Span span) {
  Symbol *symbol = scope_find_own(scope, name);
  if (!symbol) {
    if (scope->symbols.count * 2 >= scope->capacity) scope_grow(arena, scope);
    symbol = ARENA_NEW(arena, Symbol);
    symbol->name = name;
    vec_push(arena, &scope->symbols, symbol);
    *scope_place(scope->table, scope->capacity, name) = symbol;
  }
  symbol->kind = kind;
  symbol->value = value;
  symbol->span = span;
  symbol->slot = NULL;
  symbol->usage = NULL;
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
