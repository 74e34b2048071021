/* Frozen layers: nothing under a pattern with `frozen = true` moves, its states included.
 *
 * The train block usually stands after the network, but `training` must be false in a frozen layer
 * while that is built (batch norm then uses its running statistics). So the groups are looked up
 * ahead, in the syntax tree, when a trace first asks; when the trace reaches the block, a group that
 * could not be decided by then and holds for a state is a mistake. */
#include "elaborate/core/path.h"
#include "elaborate/core/report.h"
#include "elaborate/eval/evaluate.h"
#include "elaborate/variables/frozen.h"
#include "support/names.h"

/* ---- looking ahead ------------------------------------------------------------------------ */

/* The value of an expression at the top level, without a word when it has none yet. */
static Value evaluate_ahead(Elaborator *e, const AstExpr *expr) {
  Diagnostics *diagnostics = e->diagnostics;
  Context outer = region_enter(e, &e->trace->region);
  int errors = e->errors;
  e->diagnostics = diagnostics_create(e->arena);
  while (e->frame->parent) e->frame = e->frame->parent;
  Value value = evaluate_expr(e, expr);
  if (diagnostics_error_count(e->diagnostics) > 0) value = value_error();
  e->diagnostics = diagnostics;
  region_leave(e, outer);
  e->errors = errors;
  return value;
}

static const AstExpr *find_frozen(const AstEntry *group) {
  const AstExpr *expr = NULL;
  for (int i = 0; i < group->entries.count; i++) {
    const AstEntry *line = &group->entries.items[i];
    if (line->kind != AST_ENTRY_PARAMS && line->names.items[0].text == name_intern("frozen"))
      expr = line->value;
  }
  return expr;
}

static void add_groups(Elaborator *e, const AstStmt *train) {
  for (int i = 0; i < train->section.entries.count; i++) {
    const AstEntry *entry = &train->section.entries.items[i];
    const AstExpr *expr = entry->kind == AST_ENTRY_PARAMS ? find_frozen(entry) : NULL;
    if (!expr) continue;
    Value value = evaluate_ahead(e, expr);
    FrozenGroup group = {.entry = entry, .frozen = value.kind == VALUE_BOOL && value.boolean};
    vec_push(e->arena, &e->trace->frozen_groups, group);
  }
}

static void look_ahead(Elaborator *e, const AstStmts *stmts) {
  for (int i = 0; i < stmts->count; i++) {
    const AstStmt *stmt = stmts->items[i];
    if (stmt->kind == AST_TRAIN) add_groups(e, stmt);
    if (stmt->kind != AST_IF) continue;
    Value condition = evaluate_ahead(e, stmt->branch.condition);
    if (condition.kind != VALUE_BOOL) continue;
    if (condition.boolean) look_ahead(e, &stmt->branch.then->stmts);
    else if (stmt->branch.otherwise) look_ahead(e, &stmt->branch.otherwise->stmts);
  }
}

static void know_groups(Elaborator *e) {
  if (e->trace->knows_frozen) return;
  e->trace->knows_frozen = true;
  look_ahead(e, &e->program->stmts);
}

bool frozen_path(Elaborator *e, const char *path) {
  bool frozen = false;
  know_groups(e);
  for (int i = 0; i < e->trace->frozen_groups.count; i++) {
    FrozenGroup *group = &e->trace->frozen_groups.items[i];
    if (path_matches_group(group->entry, path)) frozen = group->frozen;
  }
  return frozen;
}

void frozen_check(Elaborator *e, const AstEntry *entry, const AstExpr *expr, bool frozen) {
  bool foreseen = false;
  if (!e->trace->knows_frozen) return;
  for (int i = 0; i < e->trace->frozen_groups.count; i++) {
    FrozenGroup *group = &e->trace->frozen_groups.items[i];
    if (group->entry == entry) foreseen = group->frozen;
  }
  for (int i = 0; i < e->trace->slots.count && foreseen != frozen; i++) {
    const Slot *slot = e->trace->slots.items[i];
    if (slot->kind != VARIABLE_STATE || !path_matches_group(entry, slot->path)) continue;
    Diagnostic *d =
        report_error(e, expr->span,
                     "whether '%s' is frozen must be known before its layer is built", slot->path);
    diag_help(d, "a constant at the top of the file may tell: const frozen_trunk = true");
    return;
  }
}

/* ---- layers ------------------------------------------------------------------------------- */

typedef struct States {
  int all, frozen;
} States;

static void count_states(Elaborator *e, const Frame *frame, const AstStmts *stmts, States *states) {
  for (int i = 0; i < stmts->count; i++) {
    const AstStmt *stmt = stmts->items[i];
    if (stmt->kind == AST_STATE) {
      states->all++;
      states->frozen += frozen_path(e, path_join(frame->path, stmt->variable.name.text));
    } else if (stmt->kind == AST_FOR) {
      count_states(e, frame, &stmt->loop.body->stmts, states);
    } else if (stmt->kind == AST_IF) {
      count_states(e, frame, &stmt->branch.then->stmts, states);
      if (stmt->branch.otherwise) count_states(e, frame, &stmt->branch.otherwise->stmts, states);
    }
  }
}

/* Whether the current frame is inside a layer whose states are all frozen. */
static bool frame_is_frozen(Elaborator *e) {
  know_groups(e);
  if (e->trace->frozen_groups.count == 0) return false;
  for (const Frame *frame = e->frame; frame; frame = frame->parent) {
    States states = {0};
    bool counts = frame->parent || frame == e->frame; /* the top level is no layer around others */
    if (counts && frame->stmts && !frame->state_prefix)
      count_states(e, frame, frame->stmts, &states);
    if (states.all > 0) return states.frozen == states.all;
  }
  return false;
}

Value frozen_training(Elaborator *e, const Symbol *symbol) {
  bool is_still = e->frame->is_evaluated || (symbol->value.boolean && frame_is_frozen(e));
  return is_still ? value_bool(false) : symbol->value;
}
