/* Arguments of builtins: matched to the formals of the signature, which is data.
 *
 * A signature is text such as "sum(x: tensor, axis: axes = none, keep: bool = false)"; "...parts"
 * is variadic and comes first. What a kind accepts is the table below. */
#include <stdlib.h>
#include <string.h>
#include "elaborate/core/elaborator.h"
#include "elaborate/core/report.h"
#include "elaborate/eval/call.h"
#include "elaborate/eval/convert.h"
#include "support/names.h"
#include "support/panic.h"

/* ---- kinds -------------------------------------------------------------------------------- */

static bool is_scalar(Value v) { return value_is_number(v) || v.kind == VALUE_BOOL; }

static bool is_integer(Value v) { return v.kind == VALUE_INT; }

static bool is_bool(Value v) { return v.kind == VALUE_BOOL; }

/* What assert takes: it explains itself why a tensor cannot be checked. */
static bool is_truth(Value v) {
  return v.kind == VALUE_BOOL || (value_is_tensor(v) && v.tensor.node->type.dtype == DTYPE_BOOL);
}

static bool is_string(Value v) { return v.kind == VALUE_STRING; }

static bool is_dtype(Value v) { return v.kind == VALUE_DTYPE || v.kind == VALUE_NONE; }

static bool is_ints(Value v) { return v.kind == VALUE_INT || value_is_sequence(v); }

static bool is_axes(Value v) { return is_ints(v) || v.kind == VALUE_NONE; }

static bool is_anything(Value v) {
  (void)v;
  return true;
}

static const struct {
  const char *name;
  bool (*accepts)(Value value);
  const char *wanted;
} formal_kinds[] = {
    {"tensor", value_is_tensor_like, "a tensor or a number"},
    {"number", value_is_number, "a number"},
    {"option", is_anything, "a number or an option"}, /* which the builtin itself looks at */
    {"scalar", is_scalar, "a number or a truth value known at compile time"},
    {"int", is_integer, "an integer"},
    {"bool", is_bool, "true or false"},
    {"truth", is_truth, "true or false"},
    {"string", is_string, "a string"},
    {"type", is_dtype, "a type such as f32"},
    {"ints", is_ints, "an integer or a list of integers"},
    {"shape", is_ints, "a list of integers"},
    {"axes", is_axes, "an axis or a list of axes"},
    {"list", value_is_sequence, "a list"},
    {"any", is_anything, "a value"},
};
enum { FORMAL_KIND_COUNT = sizeof formal_kinds / sizeof formal_kinds[0] };

static int find_kind(const Builtin *builtin, const char *name) {
  for (int i = 0; i < FORMAL_KIND_COUNT; i++)
    if (!strcmp(formal_kinds[i].name, name)) return i;
  panic("the signature of %s names the kind '%s'", builtin->name, name);
}

/* ---- signatures --------------------------------------------------------------------------- */

/* The text between, without blanks around it. */
static const char *take_word(Arena *arena, const char *from, const char *end) {
  while (from < end && *from == ' ') from++;
  while (end > from && end[-1] == ' ') end--;
  return arena_strndup(arena, from, (size_t)(end - from));
}

typedef struct BuiltinFormal {
  const char *name; /* interned */
  int kind;         /* of formal_kinds */
  bool is_variadic, has_fallback, may_be_none;
  Value fallback;
} BuiltinFormal;

/* A signature, read once in an elaboration. */
struct Signature {
  int count;
  BuiltinFormal formals[MAX_FORMALS];
};

/* The end of the formal that begins at `at`: ',' or the last ')', outside brackets. */
static const char *formal_end(const char *at) {
  int depth = 0;
  for (; *at; at++) {
    if (depth == 0 && (*at == ',' || *at == ')')) break;
    if (*at == '(' || *at == '[') depth++;
    if (*at == ')' || *at == ']') depth--;
  }
  return at;
}

static Value fallback_value(const Builtin *builtin, const char *text) {
  if (!strcmp(text, "none")) return value_none();
  if (!strcmp(text, "true") || !strcmp(text, "false")) return value_bool(text[0] == 't');
  if (text[0] == '"') return value_string(name_intern_bytes(text + 1, strlen(text) - 2));
  char *end;
  bool has_point = strpbrk(text, ".e") != NULL;
  Value value = has_point ? value_float(strtod(text, &end)) : value_int(strtoll(text, &end, 10));
  if (*end) panic("the signature of %s has the default '%s'", builtin->name, text);
  return value;
}

/* The formal from `at` to `end`: "axis: axes = none". */
static BuiltinFormal read_formal(Arena *arena, const Builtin *builtin, const char *at,
                                 const char *end) {
  BuiltinFormal formal = {0};
  const char *equals = memchr(at, '=', (size_t)(end - at));
  const char *head_end = equals ? equals : end;
  const char *colon = memchr(at, ':', (size_t)(head_end - at));
  CHECK(colon != NULL);
  while (*at == ' ') at++;
  formal.is_variadic = !strncmp(at, "...", 3);
  if (formal.is_variadic) at += 3;
  formal.name = name_intern(take_word(arena, at, colon));
  formal.kind = find_kind(builtin, take_word(arena, colon + 1, head_end));
  formal.has_fallback = equals != NULL;
  if (equals) formal.fallback = fallback_value(builtin, take_word(arena, equals + 1, end));
  formal.may_be_none = equals && formal.fallback.kind == VALUE_NONE;
  return formal;
}

static const Signature *signature_of(Elaborator *e, const Builtin *builtin) {
  int known = table_find(&e->signature_table, builtin);
  if (known >= 0) return e->signatures.items[known];
  Signature *signature = ARENA_NEW(e->arena, Signature);
  const char *at = strchr(builtin->signature, '(');
  CHECK(at != NULL);
  do {
    const char *end = formal_end(++at);
    if (end == at) break; /* no formals */
    CHECK(signature->count < MAX_FORMALS);
    signature->formals[signature->count++] = read_formal(e->arena, builtin, at, end);
    at = end;
  } while (*at == ',');
  table_add(e->arena, &e->signature_table, builtin, e->signatures.count);
  vec_push(e->arena, &e->signatures, signature);
  return signature;
}

/* ---- matching ----------------------------------------------------------------------------- */

static Diagnostic *note_signature(Diagnostic *d, const Builtin *builtin) {
  diag_help(d, "the call is %s", builtin->signature);
  return d;
}

static void report_unknown(Elaborator *e, const Builtin *builtin, AstName name) {
  const Signature *signature = signature_of(e, builtin);
  const char *names[MAX_FORMALS];
  for (int i = 0; i < signature->count; i++) names[i] = signature->formals[i].name;
  Diagnostic *d = report_error(e, name.span, "'%s' has no argument '%s'", builtin->name, name.text);
  report_suggest(d, name.text, names, signature->count);
  note_signature(d, builtin);
}

/* The formal that argument `i` goes to; -1: the variadic rest; -2: a mistake, reported. */
static int place_argument(Elaborator *e, const Builtin *builtin, const Argument *argument, int i,
                          int count) {
  const Signature *signature = signature_of(e, builtin);
  if (!argument->name.text) {
    if (signature->count > 0 && signature->formals[0].is_variadic) return -1;
    if (i < signature->count) return i;
    note_signature(report_error(e, argument->span, "'%s' takes %d argument%s, %d given",
                                builtin->name, signature->count, signature->count == 1 ? "" : "s",
                                count),
                   builtin);
    return -2;
  }
  for (int k = 0; k < signature->count; k++)
    if (!signature->formals[k].is_variadic && signature->formals[k].name == argument->name.text)
      return k;
  report_unknown(e, builtin, argument->name);
  return -2;
}

static bool check_kind(Elaborator *e, const Builtin *builtin, const BuiltinFormal *formal,
                       Value *value, Span at) {
  if (formal_kinds[formal->kind].accepts != is_anything) *value = convert_plain(e, *value, at);
  if (value_is_error(*value)) return false;
  if (formal->may_be_none && value->kind == VALUE_NONE) return true;
  if (formal_kinds[formal->kind].accepts(*value)) return true;
  Diagnostic *d = report_error(e, at, "the argument '%s' of '%s' must be %s, found %s",
                               formal->name, builtin->name, formal_kinds[formal->kind].wanted,
                               value_describe(e->arena, *value));
  note_signature(d, builtin);
  report_option(e, d, *value);
  return false;
}

static bool bind_rest(Elaborator *e, const Builtin *builtin, const BuiltinFormal *formal,
                      const Arguments *arguments, Bound *bound) {
  bound->rest = ARENA_ARRAY(e->arena, Value, arguments->count);
  bound->rest_spans = ARENA_ARRAY(e->arena, Span, arguments->count);
  bool fits = true;
  for (int i = 0; i < arguments->count; i++) {
    const Argument *argument = &arguments->items[i];
    if (argument->name.text) continue;
    Value value = argument->value;
    fits = check_kind(e, builtin, formal, &value, argument->span) && fits;
    bound->rest[bound->rest_count] = value;
    bound->rest_spans[bound->rest_count++] = argument->span;
  }
  if (bound->rest_count > 0) return fits;
  note_signature(report_error(e, arguments->call, "'%s' needs an argument", builtin->name),
                 builtin);
  return false;
}

bool call_bind(Elaborator *e, const Builtin *builtin, const Arguments *arguments, Bound *bound) {
  *bound = (Bound){.builtin = builtin, .call = arguments->call, .expr = arguments->expr};
  const Signature *signature = signature_of(e, builtin);
  bool fits = true;
  for (int i = 0; i < arguments->count; i++) {
    const Argument *argument = &arguments->items[i];
    int at = place_argument(e, builtin, argument, i, arguments->count);
    if (at == -2) return false;
    if (at < 0) continue;
    if (bound->given[at]) {
      report_error(e, argument->span, "the argument '%s' of '%s' is given twice",
                   signature->formals[at].name, builtin->name);
      fits = false;
    }
    bound->given[at] = true;
    bound->values[at] = argument->value;
    bound->spans[at] = argument->span;
  }
  for (int i = 0; i < signature->count; i++) {
    const BuiltinFormal *formal = &signature->formals[i];
    if (formal->is_variadic) {
      fits = bind_rest(e, builtin, formal, arguments, bound) && fits;
    } else if (bound->given[i]) {
      fits = check_kind(e, builtin, formal, &bound->values[i], bound->spans[i]) && fits;
    } else if (formal->has_fallback) {
      bound->values[i] = formal->fallback;
      bound->spans[i] = arguments->call;
    } else {
      note_signature(report_error(e, arguments->call, "'%s' needs the argument '%s'", builtin->name,
                                  formal->name),
                     builtin);
      fits = false;
    }
  }
  return fits;
}
