/* What numbers of optimizers and schedules may be: one builtin of the prelude a range.
 *
 * The message names the argument as the user's call has it, and its caret is at the value there.  Of what is no number,
 * a schedule or an option, nothing is known when a program is compiled. */
#include <float.h>
#include "elaborate/builtins/builtins.h"
#include "elaborate/core/report.h"
#include "elaborate/eval/convert.h"

enum {
  RANGE_FINITE,
  RANGE_FROM_0,
  RANGE_ABOVE_0,
  RANGE_FROM_1,
  RANGE_BELOW_1,
  RANGE_TO_1,
  RANGE_INSIDE_1
};

static const struct {
  double least, most; /* both included */
  const char *text;
} ranges[] = {[RANGE_FINITE] = {-DBL_MAX, DBL_MAX, "a finite number"},
              [RANGE_FROM_0] = {0, DBL_MAX, "a finite number from 0"},
              [RANGE_ABOVE_0] = {DBL_TRUE_MIN, DBL_MAX, "a finite number above 0"},
              [RANGE_FROM_1] = {1, DBL_MAX, "a finite number from 1"},
              [RANGE_BELOW_1] = {0, 1 - DBL_EPSILON / 2, "from 0 and below 1"},
              [RANGE_TO_1] = {0, 1, "from 0 to 1"},
              [RANGE_INSIDE_1] = {DBL_TRUE_MIN, 1 - DBL_EPSILON / 2, "between 0 and 1"}};

static bool contains(Span outer, Span inner) {
  bool begins =
      outer.line < inner.line || (outer.line == inner.line && outer.column <= inner.column);
  bool ends = inner.end_line < outer.end_line ||
              (inner.end_line == outer.end_line && inner.end_column <= outer.end_column);
  return outer.file == inner.file && begins && ends;
}

/* What a call gave for a formal; of a number that is written in the builtin's call that number. */
static Span place_of(const Elaborator *e, const Bound *bound, int i, const Symbol *formal) {
  if (formal && formal->given.file) return formal->given;
  Span at = bound->rest_spans[i];
  return at.file && at.file->is_prelude ? e->frame->user_call : at;
}

/* An argument is the user's: the error belongs to none of the calls that it stands in. */
static void report_range(Elaborator *e, const Bound *bound, int i, Value value) {
  const AstExpr *argument = bound->expr ? bound->expr->call.arguments.items[i].value : NULL;
  const Symbol *formal = argument && argument->kind == AST_NAME
                             ? scope_find_own(e->frame->scope, argument->name)
                             : NULL;
  Frame *frame = e->frame, *inner = e->frame;
  Span at = place_of(e, bound, i, formal);
  while (frame->parent && frame->call.file && frame->call.file->is_prelude) frame = frame->parent;
  const char *function = formal && frame->function ? frame->function : bound->builtin->name;
  while (frame->parent && contains(frame->call, at)) frame = frame->parent;
  Text found = {0};
  value_add_text(&found, value);
  e->frame = frame;
  report_error(e, at, "'%s' of '%s' must be %s, found %s", formal ? formal->name : "values",
               function, ranges[bound->builtin->data].text, found.data);
  e->frame = inner;
  text_free(&found);
}

/* Of so many epochs the sign is known, not how many steps they are. */
static bool is_in_range(Value value, int range) {
  double least = ranges[range].least, most = ranges[range].most, number;
  bool is_length = value.kind == VALUE_QUANTITY;
  if (!is_length && !value_is_number(value)) return true;
  number = is_length ? value.quantity.number : value_number(value);
  if (is_length && least > 0) least = DBL_TRUE_MIN;
  if (is_length && most <= 1) most = DBL_MAX;
  return number >= least && number <= most; /* NaN is not */
}

static Value apply_range(Elaborator *e, const Bound *bound) {
  bool holds = true;
  for (int i = 0; i < bound->rest_count; i++) {
    if (is_in_range(bound->rest[i], bound->builtin->data)) continue;
    report_range(e, bound, i, bound->rest[i]);
    holds = false;
  }
  Frame *frame = e->frame;
  if (!holds && frame->parent && !frame->has_returned) { /* the rest would complain again */
    frame->has_returned = true;
    vec_push(e->arena, &frame->returned, value_error());
  }
  return holds ? value_none() : value_error();
}

#define RANGE(range, name, text, example)                                                          \
  BUILTIN("compile time", apply_range, range, name, "...values: any",                              \
          "Internal: refuses values that are numbers, but not " text                               \
          "; they are arguments of what "                                                          \
          "runs. Example: _ = " name "(" example ")")

const Builtin builtins_ranges[] = {
    RANGE(RANGE_FINITE, "need_finite", "finite", "-1e30, 1e30"),
    RANGE(RANGE_FROM_0, "need_from_0", "finite and 0 or more", "0, 1e-3"),
    RANGE(RANGE_ABOVE_0, "need_above_0", "finite and above 0", "1e-300, 3"),
    RANGE(RANGE_FROM_1, "need_from_1", "finite and 1 or more", "1, 2.5"),
    RANGE(RANGE_BELOW_1, "need_below_1", "from 0 and below 1", "0, 0.999"),
    RANGE(RANGE_TO_1, "need_to_1", "from 0 to 1", "0, 1"),
    RANGE(RANGE_INSIDE_1, "need_inside_1", "between 0 and 1", "0.5, 0.999"),
    {0},
};
