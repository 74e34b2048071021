/* What an editor shows about a name: see describe.h.
 *
 *     h1 : f32[100, 1000]                                    fenced
 *     value · 100,000 numbers, 390.6 KiB
 *     parameters: 785,000 numbers, 3.0 MiB
 *     - h1.w : f32[784, 1000]
 */
#include "server/describe.h"

#include <string.h>
#include "elaborate/builtins/doc.h"
#include "support/names.h"

enum { MOST_SLOTS = 12, MOST_OTHERS = 4 };

/* ---- types ---- */

static Type real_type(const Sights *sights, Type type) {
  if (sights->is_f64 && type.dtype == DTYPE_F32) type.dtype = DTYPE_F64;
  return type;
}

static void add_variant(Text *out, const Sights *sights, const Variant *variant) {
  if (variant->is_tensor) text_add_type(out, real_type(sights, variant->type));
  else text_add(out, variant->text);
}

const char *describe_short(const Sights *sights, const Sight *sight) {
  if (!sight || sight->variants.count == 0) return NULL;
  Text text = {0};
  add_variant(&text, sights, &sight->variants.items[0]);
  if (sight->variants.count > 1) text_add(&text, ", ...");
  return text_take(&text, sights->arena);
}

static void add_size(Text *out, int64_t numbers, double bytes) {
  text_add_grouped(out, numbers);
  text_add(out, numbers == 1 ? " number, " : " numbers, ");
  text_add_grouped(out, (int64_t)bytes);
  text_add(out, bytes == 1 ? " byte" : " bytes");
  if (bytes < 1024) return;
  text_add(out, " (");
  text_add_bytes_size(out, bytes);
  text_add_char(out, ')');
}

static void add_type_size(Text *out, const Sights *sights, Type type) {
  add_size(out, shape_elements(type.shape), (double)type_bytes(real_type(sights, type)));
}

/* ---- variables ---- */

static const char *const slot_titles[] = {
    [VARIABLE_PARAM] = "Parameters", [VARIABLE_STATE] = "States", [VARIABLE_STREAM] = "Streams"};

static void add_slots(Text *out, const Sights *sights, const Sight *sight, VariableKind kind) {
  int64_t numbers = 0;
  double bytes = 0;
  int count = 0;
  for (int i = 0; i < sight->slots.count; i++) {
    const Slot *slot = sight->slots.items[i];
    if (slot->kind != kind) continue;
    numbers += shape_elements(slot->type.shape);
    bytes += (double)type_bytes(real_type(sights, slot->type));
    count++;
  }
  if (count == 0) return;
  text_printf(out, "\n%s: ", slot_titles[kind]);
  add_size(out, numbers, bytes);
  text_add(out, "\n\n");
  for (int i = 0, shown = 0; i < sight->slots.count && shown < MOST_SLOTS; i++) {
    const Slot *slot = sight->slots.items[i];
    if (slot->kind != kind) continue;
    text_printf(out, "- `%s : ", slot->path);
    text_add_type(out, real_type(sights, slot->type));
    text_add(out, "`\n");
    shown++;
  }
  if (count > MOST_SLOTS) text_printf(out, "- and %d more\n", count - MOST_SLOTS);
}

static void add_all_slots(Text *out, const Sights *sights, const Sight *sight) {
  for (int kind = VARIABLE_PARAM; kind <= VARIABLE_STREAM; kind++)
    add_slots(out, sights, sight, (VariableKind)kind);
}

/* The other types that a place had in other calls and rounds. */
static void add_others(Text *out, const Sights *sights, const Sight *sight) {
  if (sight->variants.count < 2) return;
  text_printf(out, "\nThe first of %d values; others: ", sight->count);
  for (int i = 1; i < sight->variants.count && i <= MOST_OTHERS; i++) {
    const Variant *variant = &sight->variants.items[i];
    text_add(out, i > 1 ? ", `" : "`");
    add_variant(out, sights, variant);
    text_add_char(out, '`');
    if (*variant->path) text_printf(out, " in `%s`", variant->path);
  }
  text_add(out, sight->variants.count > MOST_OTHERS + 1 ? ", ...\n" : "\n");
}

/* ---- names of the program ---- */

const char *describe_head(Arena *arena, const AstStmt *stmt) {
  const SourceFile *file = stmt->span.file;
  size_t length;
  const char *line = source_line(file, stmt->span.line, &length);
  const char *brace = memchr(line, '{', (size_t)(file->text + file->length - line));
  if (!brace) return stmt->function.name.text;
  while (brace > line && (brace[-1] == ' ' || brace[-1] == '\n')) brace--;
  return arena_strndup(arena, line, (size_t)(brace - line));
}

/* The comment lines directly above a statement. */
static void add_comment_above(Text *out, const AstStmt *stmt) {
  int first = stmt->span.line;
  size_t length;
  for (; first > 1; first--) {
    const char *line = source_line(stmt->span.file, first - 1, &length);
    if (length == 0 || *line != '#') break;
  }
  for (int i = first; i < stmt->span.line; i++) {
    const char *line = source_line(stmt->span.file, i, &length);
    size_t skip = length > 1 && line[1] == ' ' ? 2 : 1;
    text_add_bytes(out, line + skip, length - skip);
    text_add_char(out, '\n');
  }
}

static void add_value(Text *out, const Sights *sights, const Thing *thing, const Sight *sight) {
  text_printf(out, "```nnc\n%s", thing->name);
  const Variant *variant = sight && sight->variants.count ? &sight->variants.items[0] : NULL;
  if (variant) {
    text_add(out, variant->is_tensor ? " : " : " = ");
    add_variant(out, sights, variant);
  }
  text_printf(out, "\n```\n%s", thing_words[thing->kind]);
  if (variant && variant->is_tensor) {
    text_add(out, " · ");
    add_type_size(out, sights, variant->type);
  }
  if (variant && *variant->path) text_printf(out, ", in `%s`", variant->path);
  text_add_char(out, '\n');
  if (!sight) return;
  add_others(out, sights, sight);
  bool is_variable = thing->kind == THING_PARAM || thing->kind == THING_STATE;
  if (!is_variable || sight->slots.count > 1) add_all_slots(out, sights, sight);
}

/* ---- calls ---- */

/* What a call gives here. */
static void add_call(Text *out, const Sights *sights, const AstExpr *call) {
  const Sight *sight = observe_find(sights, call);
  if (!sight || sight->variants.count == 0) return;
  const Variant *variant = &sight->variants.items[0];
  if (!variant->is_tensor && sight->slots.count == 0) return;
  text_add(out, "\n---\n\nHere: `");
  add_variant(out, sights, variant);
  text_add_char(out, '`');
  if (variant->is_tensor) {
    text_add(out, " · ");
    add_type_size(out, sights, variant->type);
  }
  text_add_char(out, '\n');
  add_others(out, sights, sight);
  add_all_slots(out, sights, sight);
}

static void add_function(Text *out, const Sights *sights, const Thing *thing) {
  text_printf(out, "```nnc\n%s\n```\n\n", describe_head(sights->arena, thing->stmt));
  add_comment_above(out, thing->stmt);
}

/* What the language's own documentation says of a name, looked for once; NULL: nothing. */
static const char *documentation(Sights *sights, const char *name) {
  const char *key = name_intern(name);
  int known = table_find(&sights->documented, key);
  if (known >= 0) return sights->documentation.items[known];
  Text text = {0};
  const char *found = doc_markdown(&text, name) ? arena_strdup(sights->arena, text.data) : NULL;
  text_free(&text);
  table_add(sights->arena, &sights->documented, key, sights->documentation.count);
  vec_push(sights->arena, &sights->documentation, found);
  return found;
}

/* An argument of a function of the library or of the program. */
static bool add_argument(Text *out, Sights *sights, const Mention *mention) {
  const char *about = documentation(sights, mention->callee);
  text_printf(out, "argument `%s` of `%s`\n\n", mention->name, mention->callee);
  if (about) text_add(out, about);
  return true;
}

bool describe_mention(Text *out, Sights *sights, const Mention *mention) {
  const Thing *thing = mention->thing;
  if (mention->callee) return add_argument(out, sights, mention);
  if (!thing) {
    const char *about = documentation(sights, mention->name);
    if (about) text_add(out, about);
    if (about && mention->call) add_call(out, sights, mention->call);
    return about;
  }
  if (thing->kind == THING_FUNCTION) {
    add_function(out, sights, thing);
    if (mention->call) add_call(out, sights, mention->call);
    return true;
  }
  add_value(out, sights, thing, observe_find(sights, mention->key));
  if (mention->call) add_call(out, sights, mention->call);
  return true;
}
