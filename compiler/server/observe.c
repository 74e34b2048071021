/* What names and calls stood for: see observe.h. */
#include "server/observe.h"

#include "elaborate/core/elaborator.h"
#include "support/names.h"

enum { MOST_VARIANTS = 64 };

/* NULL where a trace before this one has been. */
static Sight *sight_of(Sights *sights, const Elaborator *e, const void *key) {
  int i = table_find(&sights->table, key);
  if (i >= 0) {
    Sight *sight = sights->items.items[i];
    return sight->entry == e->trace->entry ? sight : NULL;
  }
  Sight *sight = ARENA_NEW(sights->arena, Sight);
  sight->entry = e->trace->entry;
  table_add(sights->arena, &sights->table, key, sights->items.count);
  vec_push(sights->arena, &sights->items, sight);
  return sight;
}

/* What a value of compile time is, in a few words; interned. */
static const char *describe(Arena *arena, Value value) {
  bool is_short = value_is_number(value) || value_is_sequence(value) || value.kind == VALUE_BOOL ||
                  value.kind == VALUE_STRING || value.kind == VALUE_DTYPE ||
                  value.kind == VALUE_QUANTITY;
  if (!is_short) return name_intern(value_describe(arena, value));
  Text text = {0};
  value_add_text(&text, value);
  const char *name = name_intern_bytes(text.data, text.length < 200 ? text.length : 200);
  text_free(&text);
  return name;
}

static bool is_same(const Variant *a, const Variant *b) {
  if (a->is_tensor != b->is_tensor) return false;
  return a->is_tensor ? type_equal(a->type, b->type) : a->text == b->text;
}

static void add_variant(Sights *sights, const Elaborator *e, Sight *sight, Variant variant) {
  sight->count++;
  sights->seen++;
  for (int i = 0; i < sight->variants.count; i++) {
    if (!is_same(&sight->variants.items[i], &variant)) continue;
    sight->variants.items[i].count++;
    return;
  }
  if (sight->variants.count == MOST_VARIANTS) return;
  variant.path = e->frame->path;
  variant.count = 1;
  vec_push(sights->arena, &sight->variants, variant);
}

static void see_type(Sights *sights, const Elaborator *e, Sight *sight, Type type) {
  if (sight) add_variant(sights, e, sight, (Variant){.is_tensor = true, .type = type});
}

static void see(Sights *sights, const Elaborator *e, Sight *sight, Value value) {
  if (value_is_tensor(value)) see_type(sights, e, sight, value.tensor.node->type);
  else if (sight && !value_is_error(value))
    add_variant(sights, e, sight, (Variant){.text = describe(sights->arena, value)});
}

static void see_slots(Sights *sights, const Elaborator *e, Sight *sight, int first) {
  for (int i = first; sight && i < e->trace->slots.count; i++)
    vec_push(sights->arena, &sight->slots, e->trace->slots.items[i]);
}

static void see_name(void *context, Elaborator *e, const AstExpr *expr, Value value) {
  Sights *sights = context;
  see(sights, e, sight_of(sights, e, expr), value);
}

static void see_call(void *context, Elaborator *e, const AstExpr *expr, Value value,
                     int first_slot) {
  Sights *sights = context;
  Sight *sight = sight_of(sights, e, expr);
  see(sights, e, sight, value);
  see_slots(sights, e, sight, first_slot);
}

static void see_binding(Sights *sights, Elaborator *e, const AstName *name, int first_slot) {
  const Symbol *symbol = name->text ? scope_find_own(e->frame->scope, name->text) : NULL;
  if (!symbol) return;
  Sight *sight = sight_of(sights, e, name);
  if (symbol->slot) see_type(sights, e, sight, symbol->slot->type);
  else see(sights, e, sight, symbol->value);
  see_slots(sights, e, sight, first_slot);
}

static void see_bindings(Sights *sights, Elaborator *e, const AstNames *names, int first_slot) {
  for (int i = 0; i < names->count; i++) see_binding(sights, e, &names->items[i], first_slot);
}

static void see_statement(void *context, Elaborator *e, const AstStmt *stmt, int first_slot) {
  Sights *sights = context;
  switch (stmt->kind) {
  case AST_CONST:
    for (int i = 0; i < stmt->constants.count; i++)
      see_binding(sights, e, &stmt->constants.items[i].name, first_slot);
    return;
  case AST_OPTION: see_binding(sights, e, &stmt->option.name, first_slot); return;
  case AST_INPUT:
  case AST_PARAM:
  case AST_STATE:
  case AST_STREAM: see_binding(sights, e, &stmt->variable.name, first_slot); return;
  case AST_ASSIGN: see_bindings(sights, e, &stmt->assignment.names, first_slot); return;
  case AST_FOR: see_bindings(sights, e, &stmt->loop.pattern, e->trace->slots.count); return;
  default: return; /* bind nothing */
  }
}

static void end_trace(void *context, Elaborator *e) {
  Sights *sights = context;
  if (e->trace->entry != ENTRY_TRAIN) return;
  for (int i = 0; i < e->trace->slots.count; i++)
    vec_push(sights->arena, &sights->slots, e->trace->slots.items[i]);
  sights->after_training(sights->context);
}

Sights *observe_create(Arena *arena) {
  Sights *sights = ARENA_NEW(arena, Sights);
  sights->arena = arena;
  sights->observer = (Observer){.context = sights,
                                .name = see_name,
                                .call = see_call,
                                .statement = see_statement,
                                .trace = end_trace};
  return sights;
}

const Sight *observe_find(const Sights *sights, const void *key) {
  int i = sights ? table_find(&sights->table, key) : -1;
  return i < 0 ? NULL : sights->items.items[i];
}
