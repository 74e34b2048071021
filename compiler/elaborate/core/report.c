/* Messages: errors with the chain of calls that led to them.
 *
 * The caret of a mistake inside the standard library goes to the user's call; the line of the
 * library follows as a note, then each call of a user's def from the inside out. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "elaborate/core/elaborator.h"
#include "elaborate/core/report.h"
#include "support/names.h"

enum { CHAIN_SHOWN = 6 };

/* The frame whose call is the innermost that stands in the user's file. */
static const Frame *report_user_frame(const Elaborator *e) {
  const Frame *frame = e->frame;
  while (frame && frame->parent && frame->call.file && frame->call.file->is_prelude)
    frame = frame->parent;
  return frame;
}

Span report_user_span(const Elaborator *e, Span at) {
  if (!at.file || !at.file->is_prelude || !e->frame) return at;
  const Frame *frame = report_user_frame(e);
  return frame && frame->parent ? frame->call : at;
}

static bool span_is_same(Span a, Span b) {
  return a.file == b.file && a.line == b.line && a.column == b.column && a.end_line == b.end_line &&
         a.end_column == b.end_column;
}

static void report_chain(Elaborator *e, Diagnostic *diagnostic, Span at, Span place) {
  bool in_prelude = at.file && at.file->is_prelude;
  const Frame *frame = e->frame;
  if (in_prelude && frame && frame->function)
    diag_note(diagnostic, at, "in '%s' of the standard library", frame->function);
  if (in_prelude) {
    frame = report_user_frame(e);
    if (frame) frame = frame->parent; /* its call has the caret */
  }
  int shown = 0;
  for (; frame && frame->parent; frame = frame->parent) {
    if (!frame->function || (frame->call.file && frame->call.file->is_prelude)) continue;
    if (span_is_same(frame->call, place)) continue; /* it has the caret */
    if (++shown > CHAIN_SHOWN) {
      diag_note(diagnostic, frame->call, "... and further calls around it");
      break;
    }
    diag_note(diagnostic, frame->call, "in this call of '%s'", frame->function);
  }
  if (e->trace && e->trace->single)
    diag_help(diagnostic,
              "this is the program with %s = 1: evaluation of single examples and "
              "`predict` need it",
              e->batch_name ? e->batch_name : "the batch");
}

static Diagnostic *report(Elaborator *e, bool is_error, Span at, const char *format,
                          va_list arguments) {
  const char *message = arena_vprintf(e->arena, format, arguments);
  Span place = report_user_span(e, at);
  Diagnostic *diagnostic = is_error ? diag_error(e->diagnostics, place, "%s", message)
                                    : diag_warning(e->diagnostics, place, "%s", message);
  e->errors += is_error;
  report_chain(e, diagnostic, at, place);
  return diagnostic;
}

/* The arguments of a variadic function, which follow `format`, as a message. */
#define REPORT_ARGUMENTS(is_error)                                                                 \
  va_list arguments;                                                                               \
  va_start(arguments, format);                                                                     \
  Diagnostic *diagnostic = report(e, is_error, at, format, arguments);                             \
  va_end(arguments);                                                                               \
  (void)diagnostic

Diagnostic *report_error(Elaborator *e, Span at, const char *format, ...) {
  REPORT_ARGUMENTS(true);
  return diagnostic;
}

Diagnostic *report_warning(Elaborator *e, Span at, const char *format, ...) {
  REPORT_ARGUMENTS(false);
  return diagnostic;
}

void *report_failure(Elaborator *e, Span at, const char *format, ...) {
  REPORT_ARGUMENTS(true);
  return NULL;
}

Value report_error_value(Elaborator *e, Span at, const char *format, ...) {
  REPORT_ARGUMENTS(true);
  return value_error();
}

void *report_note_tensor(Elaborator *e, Diagnostic *diagnostic, const char *what,
                         const Node *node) {
  return diag_note(diagnostic, node->span, "%s is %s", what, type_text(e->arena, node->type));
}

const char *report_meant(const char *name, const char *const *candidates, int count) {
  const char *meant = report_synonym(name, candidates, count);
  return meant ? meant : name_nearest(name, candidates, count);
}

const char *report_list(Arena *arena, const char *const *names, int count) {
  const char *list = count > 0 ? names[0] : "nothing";
  for (int i = 1; i < count; i++)
    list = arena_printf(arena, "%s%s%s", list, i + 1 < count ? ", " : " and ", names[i]);
  return list;
}

void report_suggest(Diagnostic *diagnostic, const char *name, const char *const *candidates,
                    int count) {
  const char *nearest = report_meant(name, candidates, count);
  if (nearest) diag_help(diagnostic, "did you mean '%s'?", nearest);
}

/* The name of an option that the host scalar is computed of; NULL: of none. */
static const char *find_option(Elaborator *e, Value scalar) {
  const Graph *graph = scalar.tensor.graph;
  bool *is_used = ARENA_ARRAY(e->arena, bool, graph->next_id);
  is_used[scalar.tensor.node->id] = true;
  region_mark_needed(graph, is_used);
  for (int i = 0; i < graph->nodes.count; i++) {
    const Node *node = graph->nodes.items[i];
    if (!is_used[node->id] || node->op != OP_SCALAR) continue;
    const char *name = module_option_name(node_string(node, ATTR_NAME));
    if (name) return name;
  }
  return NULL;
}

bool report_option(Elaborator *e, Diagnostic *diagnostic, Value value) {
  const char *name = NULL;
  if (value_is_tensor(value) && value.tensor.is_host) name = find_option(e, value);
  for (int i = 0; name && i < e->module->options.count; i++) {
    const RunOption *option = &e->module->options.items[i];
    if (strcmp(option->name, name) != 0) continue;
    diag_note(diagnostic, option->span, "the option has its value when the program runs");
    diag_help(diagnostic,
              "what is compiled needs a constant, 'const %s = ...', which -D %s=... changes", name,
              name);
    return true;
  }
  return false;
}

void *report_wrong_kind(Elaborator *e, Span at, const char *what, const char *wanted, Value found) {
  if (value_is_error(found)) return NULL;
  Diagnostic *d =
      report_error(e, at, "%s must be %s, found %s", what, wanted, value_describe(e->arena, found));
  report_option(e, d, found);
  return NULL;
}

Value report_kind(Elaborator *e, Span at, const char *what, const char *wanted, Value found) {
  report_wrong_kind(e, at, what, wanted, found);
  return value_error();
}
