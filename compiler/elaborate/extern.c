/* Operators of one's own in C: extern f(x : f32[...]) : f32[x.shape] { c = "f.c" }.
 *
 * A call evaluates the declared types with the arguments in place, as a def does, and makes one
 * node. Tensors and numbers become its operands, in the order of the arguments; a file is looked
 * for beside the program's. */
#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include "elaborate/elaborator.h"
#include "ops/extern.h"
#include "support/names.h"

typedef struct External {
  const char *function, *file;
  Span file_at;
} External;

static bool read_text(Elaborator *e, const AstEntry *entry, const char **text) {
  Value value = evaluate(e, entry->value);
  if (value.kind == VALUE_STRING && value.string[0]) {
    *text = value.string;
    return true;
  }
  report_kind(e, entry->value->span, entry->names.items[0].text, "a string", value);
  return false;
}

/* "models/net.net" and "f.c" give "models/f.c". */
static const char *beside_program(Elaborator *e, const char *file) {
  const char *program = e->program->file->name, *slash = strrchr(program, '/');
  if (file[0] == '/' || !slash) return name_intern(file);
  return name_printf("%.*s%s", (int)(slash - program) + 1, program, file);
}

static bool is_identifier(const char *name) {
  for (const char *at = name; *at; at++)
    if (!isalnum((unsigned char)*at) && *at != '_') return false;
  return name[0] && !isdigit((unsigned char)name[0]);
}

static bool read_entries(Elaborator *e, const Function *function, External *external) {
  static const char *const known[] = {"c", "function", "cuda"};
  const AstEntries *entries = &function->stmt->function.entries;
  *external = (External){.function = function->name};
  for (int i = 0; i < entries->count; i++) {
    const AstEntry *entry = &entries->items[i];
    const char *key =
        entry->kind == AST_ENTRY_SET && entry->names.count == 1 ? entry->names.items[0].text : "";
    const char *ignored = NULL;
    const char **text = !strcmp(key, known[0])   ? &external->file
                        : !strcmp(key, known[1]) ? &external->function
                        : !strcmp(key, known[2]) ? &ignored
                                                 : NULL;
    if (!text) {
      Diagnostic *d = report_error(e, entry->span, "an extern operator has no key '%s'", key);
      report_suggest(d, key, known, 3);
      diag_help(d,
                "c = \"file.c\", and function = \"name\" where the function is called otherwise");
      return false;
    }
    if (!read_text(e, entry, text)) return false;
    if (text == &external->file) external->file_at = entry->value->span;
  }
  if (!external->file) {
    report_error(e, function->stmt->function.name.span,
                 "the extern operator '%s' needs a file: "
                 "c = \"%s.c\"",
                 function->name, function->name);
    return false;
  }
  if (!is_identifier(external->function) || !strncmp(external->function, "nnc_", 4)) {
    report_error(e, function->stmt->function.name.span,
                 "'%s' is no name of a C function of your own", external->function);
    return false;
  }
  return true;
}

static bool find_file(Elaborator *e, External *external) {
  size_t length = strlen(external->file);
  if (length < 3 || strcmp(external->file + length - 2, ".c") != 0) {
    report_error(e, external->file_at, "'%s' is no C file: its name must end in .c",
                 external->file);
    return false;
  }
  external->file = beside_program(e, external->file);
  if (access(external->file, R_OK) == 0) return true;
  report_error(e, external->file_at, "cannot read %s: %s", external->file, strerror(errno));
  return false;
}

/* A number comes as a tensor without axes. */
static Node *take_operand(Elaborator *e, const Function *function, int i, Value value, Span at) {
  value = convert_plain(e, value, at);
  e->at = at;
  if (value.kind == VALUE_INT) return convert_tensor(e, value, DTYPE_I32, at);
  if (value.kind == VALUE_FLOAT) return convert_tensor(e, value, e->default_float, at);
  if (value.kind == VALUE_BOOL) return convert_tensor(e, value, DTYPE_BOOL, at);
  if (value_is_tensor(value) && value.tensor.is_host)
    return emit_cast(e, convert_any_tensor(e, value, at), e->default_float);
  if (value_is_tensor(value)) return convert_any_tensor(e, value, at);
  report_kind(e, at,
              arena_printf(e->arena, "the argument '%s' of an extern operator",
                           function->stmt->function.formals.items[i].name.text),
              "a tensor or a number", value);
  return NULL;
}

Value evaluate_extern(Elaborator *e, const Function *function, Span call, const Value *values) {
  const AstFormals *formals = &function->stmt->function.formals;
  Node *operands[MAX_FORMALS];
  External external;
  Type type;
  if (e->room->is_host_only) {
    report_error(e, call, "a schedule is computed by the host and cannot call an extern operator");
    return value_error();
  }
  if (formals->count == 0) {
    report_error(e, function->stmt->function.name.span, "an extern operator needs an argument");
    return value_error();
  }
  if (!read_entries(e, function, &external) || !find_file(e, &external)) return value_error();
  for (int i = 0; i < formals->count; i++) {
    operands[i] = take_operand(e, function, i, values[i], call);
    if (!operands[i]) return value_error();
  }
  if (!evaluate_type(e, function->stmt->function.result, &type)) return value_error();
  if (shape_elements(type.shape) == 0) {
    report_error(e, function->stmt->function.result->span,
                 "the result of '%s' is %s: it has no "
                 "elements",
                 function->name, type_text(e->arena, type));
    return value_error();
  }
  Attribute attributes[] = {attr_make_string(ATTR_NAME, name_intern(external.function)),
                            attr_make_int(ATTR_DTYPE, type.dtype),
                            attr_make_ints(ATTR_SHAPE, type.shape.rank, type.shape.dim),
                            attr_make_string(ATTR_FILE, external.file)};
  e->at = call;
  return value_tensor(e, emit(e, OP_EXTERN, formals->count, operands, 4, attributes));
}
