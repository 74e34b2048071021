/* Operators of one's own: extern f(x : f32[...]) : f32[x.shape] { c = "f.c", cuda = "f.cu" }.
 *
 * A call evaluates the declared types with the arguments in place, as a def does, and makes one
 * node. Tensors and numbers become its operands, in the order of the arguments. Files of C, objects,
 * archives and files of CUDA are looked for beside the program's; the module knows them by the function's
 * name. Which of them a program needs its target says (driver/executable.c). */
#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include "elaborate/core/elaborator.h"
#include "elaborate/core/emit.h"
#include "elaborate/core/report.h"
#include "elaborate/eval/convert.h"
#include "elaborate/eval/evaluate.h"
#include "ops/extern.h"
#include "support/names.h"

enum { MOST_FILES = 64 };

typedef struct External {
  const char *function;
  int file_count;
  const char *files[MOST_FILES];
  Span files_at;
  const char *cuda; /* NULL: there is none */
  Span cuda_at;
  bool is_rowwise; /* row i of the result follows from row i of each argument that has axes */
  Span rowwise_at;
} External;

/* What a key of the declaration does. */
typedef struct ExternKey {
  const char *name;
  bool (*read)(Elaborator *e, const AstEntry *entry, External *external);
} ExternKey;

static bool read_text(Elaborator *e, const AstEntry *entry, const char **text) {
  Value value = evaluate_expr(e, entry->value);
  if (value.kind == VALUE_STRING && value.string[0]) {
    *text = value.string;
    return true;
  }
  return report_wrong_kind(e, entry->value->span, entry->names.items[0].text, "a string", value);
}

static bool read_function(Elaborator *e, const AstEntry *entry, External *external) {
  return read_text(e, entry, &external->function);
}

/* One file: it is a part of the text that the kernels' compiler sees. */
static bool read_cuda(Elaborator *e, const AstEntry *entry, External *external) {
  external->cuda_at = entry->value->span;
  return read_text(e, entry, &external->cuda);
}

static bool read_rowwise(Elaborator *e, const AstEntry *entry, External *external) {
  Value value = evaluate_expr(e, entry->value);
  external->rowwise_at = entry->value->span;
  external->is_rowwise = value.kind == VALUE_BOOL && value.boolean;
  if (value.kind == VALUE_BOOL) return true;
  return report_wrong_kind(e, entry->value->span, "rowwise", "true or false", value);
}

/* "f.c", or a list of such. */
static bool read_files(Elaborator *e, const AstEntry *entry, External *external) {
  Value value = evaluate_expr(e, entry->value);
  bool is_list = value_is_sequence(value) && value.kind != VALUE_RANGE;
  int64_t count = is_list ? value_sequence_length(value) : 1;
  external->files_at = entry->value->span;
  for (int64_t i = 0; i < count && i < MOST_FILES; i++) {
    Value file = is_list ? value_sequence_item(value, i) : value;
    if (file.kind != VALUE_STRING || !file.string[0])
      return report_wrong_kind(e, entry->value->span, "c", "a string or a list of strings", file);
    external->files[external->file_count++] = file.string;
  }
  if (count > 0 && count <= MOST_FILES) return true;
  return report_failure(e, entry->value->span, "an extern operator has 1 to %d files, found %lld",
                        MOST_FILES, (long long)count);
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

static const ExternKey extern_keys[] = {
    {"c", read_files},
    {"function", read_function},
    {"rowwise", read_rowwise},
    {"cuda", read_cuda},
};
enum { EXTERN_KEYS = sizeof extern_keys / sizeof *extern_keys };

static bool read_entry(Elaborator *e, const AstEntry *entry, External *external) {
  const char *known[EXTERN_KEYS];
  const char *key =
      entry->kind == AST_ENTRY_SET && entry->names.count == 1 ? entry->names.items[0].text : "";
  for (int i = 0; i < EXTERN_KEYS; i++) {
    known[i] = extern_keys[i].name;
    if (!strcmp(key, known[i])) return extern_keys[i].read(e, entry, external);
  }
  Diagnostic *d = report_error(e, entry->span, "an extern operator has no key '%s'", key);
  report_suggest(d, key, known, EXTERN_KEYS);
  return diag_help(
      d, "c = \"file.c\", cuda = \"file.cu\", function = \"name\" where the function is called "
         "otherwise, and rowwise = true where row i of the result follows from row i of the "
         "arguments");
}

static bool is_word(const char *const *words, size_t count, const char *name) {
  for (size_t i = 0; i < count; i++)
    if (!strcmp(words[i], name)) return true;
  return false;
}

static bool is_word_of_c(const char *name) {
  static const char *const words[] = {
      "auto",      "break",   "case",     "char",          "const",
      "continue",  "default", "do",       "double",        "else",
      "enum",      "extern",  "float",    "for",           "goto",
      "if",        "inline",  "int",      "long",          "register",
      "restrict",  "return",  "short",    "signed",        "sizeof",
      "static",    "struct",  "switch",   "typedef",       "union",
      "unsigned",  "void",    "volatile", "while",         "asm",
      "typeof",    "bool",    "true",     "false",         "nullptr",
      "constexpr", "alignas", "alignof",  "static_assert", "thread_local",
      "linux",     "unix"};
  return is_word(words, sizeof words / sizeof *words, name);
}

/* CUDA is C++. */
static bool is_word_of_cuda(const char *name) {
  static const char *const words[] = {
      "and",      "and_eq",   "bitand", "bitor",    "catch",   "class",   "compl",     "delete",
      "dim3",     "explicit", "export", "false",    "friend",  "mutable", "namespace", "new",
      "noexcept", "not",      "not_eq", "operator", "or",      "or_eq",   "private",   "protected",
      "public",   "template", "this",   "throw",    "try",     "typeid",  "typename",  "using",
      "virtual",  "wchar_t",  "xor",    "xor_eq",   "decltype"};
  return is_word(words, sizeof words / sizeof *words, name);
}

/* Why no function of the user's can have the name; NULL: it can. */
static const char *find_objection(const char *name, bool is_of_cuda) {
  if (!is_identifier(name)) return "is no name of a C function";
  if (is_word_of_c(name)) return "is a word of C";
  if (is_of_cuda && is_word_of_cuda(name)) return "is a word of CUDA";
  if (!strncmp(name, "nnc_", 4)) return "begins with nnc_, as the runtime's functions do";
  if (name[0] == '_') return "begins with '_': such names are the C library's";
  /* The program would call the user's where it means the other. */
  if (!strcmp(name, "main") || dlsym(RTLD_DEFAULT, name)) return "is a function of the C library";
  return NULL;
}

static bool check_function(Elaborator *e, const External *external, Span at) {
  const char *name = external->function;
  const char *objection = find_objection(name, external->cuda != NULL);
  if (!objection) return true;
  return diag_help(
      report_error(e, at, "a function of your own cannot be called '%s': it %s", name, objection),
      "function = \"my_%s\" in the operator's block names another one", name);
}

static bool read_entries(Elaborator *e, const Function *function, External *external) {
  const AstEntries *entries = &function->stmt->function.entries;
  *external = (External){.function = function->name};
  for (int i = 0; i < entries->count; i++)
    if (!read_entry(e, &entries->items[i], external)) return false;
  if (external->file_count == 0 && !external->cuda)
    return report_failure(e, function->stmt->function.name.span,
                          "the extern operator '%s' needs a file: c = \"%s.c\", or for "
                          "--target=cuda cuda = \"%s.cu\"",
                          function->name, function->name, function->name);
  return check_function(e, external, function->stmt->function.name.span);
}

static bool ends_with(const char *name, const char *end) {
  size_t length = strlen(name), rest = strlen(end);
  return length > rest && !strcmp(name + length - rest, end);
}

static bool find_file(Elaborator *e, Span at, const char **file) {
  *file = beside_program(e, *file);
  if (access(*file, R_OK) == 0) return true;
  return report_failure(e, at, "cannot read %s: %s", *file, strerror(errno));
}

static bool find_c(Elaborator *e, const External *external, const char **file) {
  Span at = external->files_at;
  if (ends_with(*file, ".c") || ends_with(*file, ".o") || ends_with(*file, ".a"))
    return find_file(e, at, file);
  if (!ends_with(*file, ".cu"))
    return report_failure(
        e, at, "'%s' is no C file, object or archive: its name must end in .c, .o or .a", *file);
  return diag_help(report_error(e, at, "'%s' is a file of CUDA, not of C", *file), "cuda = \"%s\"",
                   *file);
}

static bool find_files(Elaborator *e, External *external) {
  for (int i = 0; i < external->file_count; i++)
    if (!find_c(e, external, &external->files[i])) return false;
  if (!external->cuda) return true;
  if (ends_with(external->cuda, ".cu")) return find_file(e, external->cuda_at, &external->cuda);
  return report_failure(e, external->cuda_at, "'%s' is no file of CUDA: its name must end in .cu",
                        external->cuda);
}

static bool same_files(const ExternInfo *known, const External *external) {
  bool same = known->file_count == external->file_count && known->cuda == external->cuda;
  for (int i = 0; same && i < known->file_count; i++)
    same = known->files[i] == external->files[i]; /* interned */
  return same;
}

/* Two operators may share a function, but then it must be the same. */
static bool enter(Elaborator *e, const Function *function, const External *external) {
  const char *name = name_intern(external->function);
  Span at = function->stmt->function.name.span;
  const ExternInfo *known = module_find_extern(e->module, name);
  if (known && !same_files(known, external))
    return diag_note(
        report_error(e, at, "the function '%s' is taken from other files elsewhere", name),
        known->span, "here");
  if (known) return true;
  ExternInfo info = {.function = name,
                     .file_count = external->file_count,
                     .cuda = external->cuda,
                     .span = at,
                     .files = ARENA_ARRAY(e->arena, const char *, external->file_count)};
  for (int i = 0; i < info.file_count; i++) info.files[i] = external->files[i];
  vec_push(e->arena, &e->module->externs, info);
  return true;
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
  return report_wrong_kind(e, at,
                           arena_printf(e->arena, "the argument '%s' of an extern operator",
                                        function->stmt->function.formals.items[i].name.text),
                           "a tensor or a number", value);
}

static bool check_rows(Elaborator *e, const Function *function, const External *external,
                       Node *const *operands, Shape result) {
  const AstFormals *formals = &function->stmt->function.formals;
  if (!external->is_rowwise) return true;
  if (result.rank == 0)
    return report_failure(e, external->rowwise_at, "the result of '%s' is a scalar: it has no rows",
                          function->name);
  for (int i = 0; i < formals->count; i++) {
    Shape x = operands[i]->type.shape;
    if (x.rank == 0 || x.dim[0] == result.dim[0]) continue;
    return report_failure(e, external->rowwise_at,
                          "'%s' is not computed row by row: '%s' has %lld rows and the result %lld",
                          function->name, formals->items[i].name.text, (long long)x.dim[0],
                          (long long)result.dim[0]);
  }
  return true;
}

Value evaluate_extern(Elaborator *e, const Function *function, Span call, const Value *values) {
  const AstFormals *formals = &function->stmt->function.formals;
  Node *operands[MAX_FORMALS];
  External external;
  Type type;
  if (e->region->is_host_only)
    return report_error_value(
        e, call, "a schedule is computed by the host and cannot call an extern operator");
  if (formals->count == 0)
    return report_error_value(e, function->stmt->function.name.span,
                              "an extern operator needs an argument");
  if (!read_entries(e, function, &external)) return value_error();
  if (!find_files(e, &external)) return value_error();
  for (int i = 0; i < formals->count; i++) {
    operands[i] = take_operand(e, function, i, values[i], call);
    if (!operands[i]) return value_error();
  }
  if (!evaluate_type(e, function->stmt->function.result, &type)) return value_error();
  if (shape_elements(type.shape) == 0)
    return report_error_value(e, function->stmt->function.result->span,
                              "the result of '%s' is %s: it has no elements", function->name,
                              type_text(e->arena, type));
  if (!check_rows(e, function, &external, operands, type.shape)) return value_error();
  Attribute attributes[] = {attr_make_string(ATTR_NAME, name_intern(external.function)),
                            attr_make_int(ATTR_DTYPE, type.dtype),
                            attr_make_ints(ATTR_SHAPE, type.shape.rank, type.shape.dim),
                            attr_make_int(ATTR_ROWWISE, 1)};
  if (!enter(e, function, &external)) return value_error();
  e->at = call;
  int count = external.is_rowwise ? 4 : 3;
  return value_tensor(e, emit_node(e, OP_EXTERN, formals->count, operands, count, attributes));
}
