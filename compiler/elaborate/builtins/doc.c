/* `nnc doc`: what the language knows, from where it is defined.
 *
 * Builtins and words (words.c) carry signature, text and an example in their tables. For the prelude
 * both are read from its source: the text is the comment directly above a definition, the signature its head up to the
 * brace. What begins its text with "Internal: " is a part that the library is made of: it is told when it is asked for by its
 * name, and offered nowhere. */
#include <ctype.h>
#include <string.h>
#include "elaborate/builtins/builtins.h"
#include "elaborate/builtins/doc.h"
#include "elaborate/core/report.h"
#include "support/embedded.h"
#include "support/names.h"

/* A definition found in the prelude. */
typedef struct Entry {
  const char *name;
  size_t name_length;
  const char *comment, *head, *body; /* comment lines, then the head, then '{' */
  const EmbeddedFile *file;
  bool is_internal;
} Entry;

static const char *next_line(const char *at) {
  const char *end = strchr(at, '\n');
  return end ? end + 1 : at + strlen(at);
}

static bool read_head(const char *line, Entry *entry) {
  static const char *const words[] = {"def ", "optimizer ", "init ", "schedule "};
  for (int i = 0; i < 4; i++) {
    size_t length = strlen(words[i]);
    if (strncmp(line, words[i], length) != 0) continue;
    entry->head = line;
    entry->name = line + length;
    entry->name_length = strcspn(entry->name, "( \n");
    entry->body = strchr(line, '{');
    return entry->body != NULL;
  }
  return false;
}

/* The definition at or after *at, which moves on; false at the end. */
static bool next_entry(const char **at, Entry *entry) {
  const char *comment = NULL;
  for (const char *line = *at; *line; line = next_line(line)) {
    if (*line == '#') {
      if (!comment) comment = line;
      continue;
    }
    entry->comment = comment ? comment : line;
    if (read_head(line, entry)) {
      entry->is_internal = comment && function_doc_is_internal(comment + strspn(comment, "# "));
      *at = next_line(line);
      return true;
    }
    comment = NULL;
  }
  return false;
}

/* A comment without its marks, one line a line, each indented by `indent`. */
static void add_comment(Text *out, const Entry *entry, const char *indent, bool first_only) {
  for (const char *line = entry->comment; line < entry->head; line = next_line(line)) {
    const char *text = line + 1 + (line[1] == ' ');
    text_add(out, indent);
    text_add_bytes(out, text, strcspn(text, "\n"));
    text_add_char(out, '\n');
    if (first_only) return;
  }
}

static void print_entry(Text *out, const Entry *entry) {
  text_printf(out, "%.*s\n\n", (int)(entry->body - entry->head - 1), entry->head);
  add_comment(out, entry, "    ", false);
  text_printf(out, "\n    from the standard library, %s:\n\n", entry->file->name);
  int depth = 0;
  const char *line = entry->head;
  do {
    size_t length = strcspn(line, "\n");
    text_printf(out, "    %.*s\n", (int)length, line);
    for (size_t i = 0; i < length && line[i] != '#'; i++)
      depth += (line[i] == '{') - (line[i] == '}');
    line = next_line(line);
  } while (*line && (depth > 0 || line <= entry->body));
}

/* Text broken at spaces before the 96th column. */
static void add_wrapped(Text *out, const char *text, size_t rest) {
  enum { WIDTH = 92 };
  while (rest > 0) {
    size_t length = rest;
    if (length > WIDTH) {
      length = WIDTH;
      while (length > 0 && text[length] != ' ') length--;
      if (length == 0) length = WIDTH;
    }
    text_printf(out, "    %.*s\n", (int)length, text);
    while (length < rest && text[length] == ' ') length++;
    text += length;
    rest -= length;
  }
}

/* Tables that carry their texts: of functions, then of other words; NULL at the end. */
static const Builtin *documented(int i) {
  int functions = 0;
  while (builtins_table(functions)) functions++;
  return i < functions ? builtins_table(i) : i == functions ? builtins_words : NULL;
}

static bool print_builtin(Text *out, const char *name) {
  bool found = false;
  for (int i = 0; documented(i); i++)
    for (const Builtin *builtin = documented(i); builtin->name; builtin++) {
      if (strcmp(builtin->name, name) != 0) continue;
      const char *example = strstr(builtin->doc, " Example: ");
      size_t length = example ? (size_t)(example - builtin->doc) : strlen(builtin->doc);
      text_printf(out, "%s%s\n\n", found ? "\n" : "", builtin->signature);
      add_wrapped(out, builtin->doc, length);
      if (example) text_printf(out, "    %s\n", example + 1);
      text_add(out, "\n    built into the language\n");
      found = true;
    }
  return found;
}

static bool is_prelude(const EmbeddedFile *file) { return !strncmp(file->name, "prelude/", 8); }

static bool print_definition(Text *out, const char *name) {
  for (int i = 0; i < embedded_file_count; i++) {
    if (!is_prelude(&embedded_files[i])) continue;
    const char *at = embedded_files[i].text;
    Entry entry = {.file = &embedded_files[i]};
    while (next_entry(&at, &entry)) {
      if (strlen(name) != entry.name_length || strncmp(entry.name, name, entry.name_length) != 0)
        continue;
      print_entry(out, &entry);
      return true;
    }
  }
  return false;
}

/* A name may be both: `constant` is an initializer and a source of data. */
bool doc_print(Text *out, const char *name) {
  bool is_defined = print_definition(out, name);
  Text more = {0};
  bool is_built_in = print_builtin(&more, name);
  if (is_built_in) text_printf(out, "%s%s", is_defined ? "\n" : "", more.data);
  text_free(&more);
  return is_defined || is_built_in;
}

typedef struct Owners {
  Text *out;
  const char *name;
  int count;
} Owners;

/* Whether `name` is an argument in the signature: a word after '(' or ',' that '=', ':', ',' or ')' follows. */
static bool has_argument(const char *signature, const char *name) {
  const char *at = strchr(signature, '(');
  size_t length = strlen(name);
  for (; at; at = strpbrk(at, "(,")) {
    at++;
    at += strspn(at, " \n");
    const char *end = at + length;
    if (strncmp(at, name, length) == 0 && (strchr(",:)", *end) || strncmp(end, " =", 2) == 0))
      return *end != 0;
  }
  return false;
}

static void add_owner(void *context, const DocEntry *entry) {
  Owners *owners = context;
  if (entry->is_internal || !has_argument(entry->signature, owners->name)) return;
  text_printf(owners->out, "%s%s", owners->count++ > 0 ? ", " : "", entry->name);
}

bool doc_print_argument(Arena *arena, Text *out, const char *name) {
  Text list = {0};
  Owners owners = {.out = &list, .name = name};
  doc_each(arena, add_owner, &owners);
  if (owners.count > 0) {
    text_printf(out, "%s: an argument, which `nnc doc NAME` explains, of\n\n", name);
    add_wrapped(out, list.data, list.length);
  }
  text_free(&list);
  return owners.count > 0;
}

typedef struct Offers {
  Arena *arena;
  VEC(const char *) names;
} Offers;

static void add_offer(void *context, const DocEntry *entry) {
  Offers *offers = context;
  if (!entry->is_internal) vec_push(offers->arena, &offers->names, entry->name);
}

const char *doc_nearest(Arena *arena, const char *name) {
  Offers offers = {.arena = arena};
  doc_each(arena, add_offer, &offers);
  return report_meant(name, offers.names.items, offers.names.count);
}

/* ---- the list ----------------------------------------------------------------------------- */

static void list_line(Text *out, const char *name, size_t length, const char *text,
                      size_t text_length) {
  enum { COLUMN = 20 };
  text_printf(out, "  %.*s", (int)length, name);
  text_pad(out, ' ', length < COLUMN ? (int)(COLUMN - length) : 1);
  text_printf(out, "%.*s\n", (int)text_length, text);
}

/* Of the comment's first line, without the point. */
static const char *first_sentence(const Entry *entry, size_t *length) {
  const char *text = entry->comment < entry->head ? entry->comment + 1 : "";
  while (*text == ' ') text++;
  *length = strcspn(text, "\n");
  const char *sentence = strstr(text, ".  ");
  if (sentence && sentence < text + *length) *length = (size_t)(sentence - text);
  return text;
}

static void list_file(Text *out, const EmbeddedFile *file, bool with_internal) {
  const char *base = file->name + strlen("prelude/"), *at = file->text;
  text_printf(out, "%.*s\n", (int)strcspn(base, "."), base);
  Entry entry = {.file = file};
  while (next_entry(&at, &entry)) {
    if (entry.is_internal && !with_internal) continue;
    size_t length;
    const char *text = first_sentence(&entry, &length);
    list_line(out, entry.name, entry.name_length, text, length);
  }
  text_add_char(out, '\n');
}

static bool is_listed_before(const char *family, const Builtin *end) {
  for (int i = 0; documented(i); i++)
    for (const Builtin *builtin = documented(i); builtin->name; builtin++) {
      if (builtin == end) return false;
      if (!strcmp(builtin->family, family)) return true;
    }
  return false;
}

/* Up to a ';', or a '.' or ':' that a space or the end follows. */
static size_t first_clause(const char *text) {
  size_t length = function_doc_is_internal(text) ? sizeof INTERNAL_MARK - 1 : 0;
  for (;; length++) {
    length += strcspn(text + length, ".;:");
    char next = text[length] ? text[length + 1] : 0;
    if (!text[length] || text[length] == ';' || !next || next == ' ') return length;
  }
}

static void list_family(Text *out, const char *family, bool with_internal) {
  text_printf(out, "%s\n", family);
  for (int i = 0; documented(i); i++)
    for (const Builtin *builtin = documented(i); builtin->name; builtin++) {
      if (strcmp(builtin->family, family) != 0 ||
          (function_doc_is_internal(builtin->doc) && !with_internal))
        continue;
      size_t length = first_clause(builtin->doc);
      list_line(out, builtin->name, strlen(builtin->name), builtin->doc, length);
    }
  text_add_char(out, '\n');
}

void doc_list(Text *out, bool with_internal) {
  for (int i = 0; i < embedded_file_count; i++)
    if (is_prelude(&embedded_files[i])) list_file(out, &embedded_files[i], with_internal);
  for (int i = 0; documented(i); i++)
    for (const Builtin *builtin = documented(i); builtin->name; builtin++)
      if (!is_listed_before(builtin->family, builtin))
        list_family(out, builtin->family, with_internal);
}

/* ---- for editors -------------------------------------------------------------------------- */

/* What markdown would read as more than a character. */
static void add_escaped(Text *out, const char *text, size_t length) {
  for (size_t i = 0; i < length; i++) {
    bool is_tag = text[i] == '<' && i + 1 < length && isalpha((unsigned char)text[i + 1]);
    if (text[i] == '*' || is_tag) text_add_char(out, '\\');
    text_add_char(out, text[i]);
  }
}

static void add_fenced(Text *out, const char *code, size_t length) {
  text_printf(out, "```nnc\n%.*s\n```\n", (int)length, code);
}

/* The example that ends a comment goes into a fence. */
static void markdown_comment(Text *out, const Entry *entry) {
  static const char mark[] = "Example: ";
  Text example = {0};
  for (const char *line = entry->comment; line < entry->head; line = next_line(line)) {
    const char *text = line + 1 + (line[1] == ' ');
    size_t length = strcspn(text, "\n");
    if (strncmp(text, mark, strlen(mark)) == 0) {
      text_add_bytes(&example, text + strlen(mark), length - strlen(mark));
    } else if (example.length > 0) {
      text_printf(&example, "\n%.*s", (int)length, text);
    } else {
      add_escaped(out, text, length);
      text_add_char(out, '\n');
    }
  }
  if (example.length > 0) {
    text_add_char(out, '\n');
    add_fenced(out, example.data, example.length);
  }
  text_free(&example);
}

static void markdown_builtin(Text *out, const Builtin *builtin) {
  const char *example = strstr(builtin->doc, " Example: ");
  add_fenced(out, builtin->signature, strlen(builtin->signature));
  text_add_char(out, '\n');
  add_escaped(out, builtin->doc, example ? (size_t)(example - builtin->doc) : strlen(builtin->doc));
  text_add(out, "\n\n");
  if (example) add_fenced(out, example + 10, strlen(example + 10));
}

bool doc_markdown(Text *out, const char *name) {
  size_t before = out->length;
  for (int i = 0; i < embedded_file_count; i++) {
    const char *at = embedded_files[i].text;
    Entry entry = {.file = &embedded_files[i]};
    while (is_prelude(&embedded_files[i]) && next_entry(&at, &entry)) {
      if (strlen(name) != entry.name_length || strncmp(entry.name, name, entry.name_length) != 0)
        continue;
      add_fenced(out, entry.head, (size_t)(entry.body - entry.head - 1));
      text_add_char(out, '\n');
      markdown_comment(out, &entry);
    }
  }
  for (int i = 0; documented(i); i++)
    for (const Builtin *builtin = documented(i); builtin->name; builtin++) {
      if (strcmp(builtin->name, name) != 0) continue;
      text_add(out, out->length > before ? "\n---\n\n" : "");
      markdown_builtin(out, builtin);
    }
  return out->length > before;
}

static void visit_file(Arena *arena, const EmbeddedFile *file,
                       void (*visit)(void *context, const DocEntry *entry), void *context) {
  const char *base = file->name + strlen("prelude/"), *at = file->text;
  const char *family = arena_strndup(arena, base, strcspn(base, "."));
  Entry entry = {.file = file};
  while (next_entry(&at, &entry)) {
    size_t length;
    const char *text = first_sentence(&entry, &length);
    size_t head = (size_t)(entry.body - entry.head - 1);
    DocEntry found = {.name = arena_strndup(arena, entry.name, entry.name_length),
                      .signature = arena_strndup(arena, entry.head, head),
                      .summary = arena_strndup(arena, text, length),
                      .family = family,
                      .is_library = true,
                      .is_internal = entry.is_internal};
    visit(context, &found);
  }
}

void doc_each(Arena *arena, void (*visit)(void *context, const DocEntry *entry), void *context) {
  for (int i = 0; i < embedded_file_count; i++)
    if (is_prelude(&embedded_files[i])) visit_file(arena, &embedded_files[i], visit, context);
  for (int i = 0; documented(i); i++)
    for (const Builtin *builtin = documented(i); builtin->name; builtin++) {
      DocEntry found = {.name = builtin->name,
                        .signature = builtin->signature,
                        .summary = arena_strndup(arena, builtin->doc, first_clause(builtin->doc)),
                        .family = builtin->family,
                        .is_internal = function_doc_is_internal(builtin->doc)};
      visit(context, &found);
    }
}
