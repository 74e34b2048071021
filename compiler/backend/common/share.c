/* One function for kernels that differ in numbers alone: see share.h.
 *
 * Functions are compared as they are written, token by token, so all who write kernels take part without
 * knowing. Of a group of equal ones the first stays. Where its members have different numbers it gets a
 * parameter, one for all places whose numbers agree in each member:
 *
 *   M                  an enumerator of that name has the number as its value
 *   i0_step, c_end     it is the factor of i0; c is below it
 *   tasks, bound       what NNC_TASKS runs; the last argument of nnc_least
 *   offset, factor     it is added to something; a float
 *   number             its places do not tell
 *
 * Enumerators whose values depend on parameters become variables; epilogues and other functions of the
 * kernel's own get the parameters that they mention. */
#include "backend/common/share.h"
#include "backend/common/naming.h"
#include "backend/common/share_text.h"

#include <string.h>
#include "support/names.h"
#include "support/panic.h"
#include "support/table.h"

enum { MOST_NUMBERS = 40 };

typedef struct Parameter {
  int token; /* its first place */
  const char *name;
} Parameter;

typedef struct Group {
  Arena *arena;
  int count;
  const ShareText **members; /* the first is written */
  VEC(Parameter) parameters;
  int *parameter_at; /* by token: the parameter in its place; -1: it stays */
} Group;

/* ---- parameters ---- */

static bool differs(const Group *group, int token) {
  for (int m = 1; m < group->count; m++)
    if (!share_text_same(&group->members[m]->tokens[token], &group->members[0]->tokens[token]))
      return true;
  return false;
}

/* Whether two places have the same number in each member. */
static bool agree(const Group *group, int a, int b) {
  for (int m = 0; m < group->count; m++)
    if (!share_text_same(&group->members[m]->tokens[a], &group->members[m]->tokens[b]))
      return false;
  return true;
}

static int find_parameters(Group *group) {
  const ShareText *first = group->members[0];
  group->parameter_at = ARENA_ARRAY(group->arena, int, first->count + 1);
  for (int i = 0; i < first->count; i++) {
    group->parameter_at[i] = -1;
    if (!share_text_is_number(&first->tokens[i]) || !differs(group, i)) continue;
    int p = 0;
    while (p < group->parameters.count && !agree(group, group->parameters.items[p].token, i)) p++;
    if (p == group->parameters.count) {
      Parameter parameter = {i, NULL};
      vec_push(group->arena, &group->parameters, parameter);
    }
    group->parameter_at[i] = p;
  }
  return group->parameters.count;
}

static bool is_alone(const Extent *extent) { return extent->end == extent->name + 3; }

/* Whether a token is a word that the first member has in its NNC_EXTENTS once, and in no other function. */
static bool is_own_enumerator(const Group *group, const Extent *extent) {
  const ShareText *first = group->members[0];
  const Token *name = &first->tokens[extent->name];
  int same = 0;
  for (int k = 0; k < first->extents.count; k++)
    same += share_text_same(&first->tokens[first->extents.items[k].name], name);
  for (int i = 0; i < first->count; i++)
    if (share_text_same(&first->tokens[i], name) &&
        first->tokens[i].function != first->tokens[extent->name].function)
      return false;
  return same == 1;
}

/* An enumerator that has the parameter as its value; NULL: none. */
static const Token *enumerator_of(const Group *group, int parameter) {
  const ShareText *first = group->members[0];
  for (int e = 0; e < first->extents.count; e++) {
    const Extent *extent = &first->extents.items[e];
    if (is_alone(extent) && group->parameter_at[extent->name + 2] == parameter &&
        is_own_enumerator(group, extent))
      return &first->tokens[extent->name];
  }
  return NULL;
}

/* Whether the number at a place is the last argument of nnc_least. */
static bool is_bound(const ShareText *text, int place) {
  int open = place, depth = 1;
  if (*text->tokens[place + 1].at != ')') return false;
  while (open > 1 && depth > 0) {
    char sign = *text->tokens[--open].at;
    depth += (sign == ')') - (sign == '(');
  }
  return share_text_is(&text->tokens[open - 1], "nnc_least");
}

/* What the number at a place is, by the tokens around it; NULL: they do not tell. */
static const char *wished_name(const Group *group, int place) {
  const ShareText *first = group->members[0];
  const Token *token = &first->tokens[place], *sign = token - 1, *word = token - 2;
  if (token->kind != TOKEN_INTEGER) return "factor";
  if (place < 2) return NULL;
  if (word->kind == TOKEN_WORD && *sign->at == '*')
    return arena_printf(group->arena, "%.*s_step", word->length, word->at);
  if (word->kind == TOKEN_WORD && *sign->at == '<')
    return arena_printf(group->arena, "%.*s_end", word->length, word->at);
  if (*sign->at == ',' && share_text_is(word, "worker")) return "tasks";
  if (*sign->at == ',' && is_bound(first, place)) return "bound";
  return *sign->at == '+' || *sign->at == '-' ? "offset" : NULL;
}

/* What the first place that tells it says. */
static const char *parameter_wish(const Group *group, int parameter) {
  for (int i = 0; i < group->members[0]->count; i++) {
    const char *wish = group->parameter_at[i] == parameter ? wished_name(group, i) : NULL;
    if (wish) return wish;
  }
  return "number";
}

static void name_parameters(Group *group) {
  const ShareText *first = group->members[0];
  NameScope names = {.arena = group->arena};
  for (int i = 0; i < first->count; i++)
    if (first->tokens[i].kind == TOKEN_WORD)
      naming_take(&names, arena_strndup(group->arena, first->tokens[i].at,
                                        (size_t)first->tokens[i].length));
  for (int p = 0; p < group->parameters.count; p++) {
    Parameter *parameter = &group->parameters.items[p];
    const Token *name = enumerator_of(group, p);
    parameter->name = name ? arena_strndup(group->arena, name->at, (size_t)name->length)
                           : naming_make(&names, parameter_wish(group, p));
  }
}

static const char *type_of(const Group *group, int parameter) {
  static const char *const types[] = {
      [TOKEN_INTEGER] = "int64_t", [TOKEN_FLOAT] = "float", [TOKEN_DOUBLE] = "double"};
  return types[group->members[0]->tokens[group->parameters.items[parameter].token].kind];
}

/* ---- writing ---- */

typedef struct Rewriter {
  const Group *group;
  const ShareText *text;
  Text out;
  const char *done;   /* up to where it is written */
  VEC(int) variables; /* tokens: names of enumerators of this function that became variables */
} Rewriter;

static void copy_to(Rewriter *rewriter, const char *end) {
  if (end > rewriter->done)
    text_add_bytes(&rewriter->out, rewriter->done, (size_t)(end - rewriter->done));
  rewriter->done = end;
}

/* Writes a token, or the parameter in its place. */
static void write_token(Rewriter *rewriter, int i) {
  const Token *token = &rewriter->text->tokens[i];
  int parameter = rewriter->group->parameter_at[i];
  if (parameter < 0) return;
  copy_to(rewriter, token->at);
  text_add(&rewriter->out, rewriter->group->parameters.items[parameter].name);
  rewriter->done = token->at + token->length;
}

static bool is_variable(const Rewriter *rewriter, const Token *token) {
  for (int i = 0; i < rewriter->variables.count; i++)
    if (share_text_same(&rewriter->text->tokens[rewriter->variables.items[i]], token)) return true;
  return false;
}

/* Whether what stands in [first, end) is known only when it runs. */
static bool varies(const Rewriter *rewriter, int first, int end) {
  for (int i = first; i < end; i++)
    if (rewriter->group->parameter_at[i] >= 0 || is_variable(rewriter, &rewriter->text->tokens[i]))
      return true;
  return false;
}

/* An enumerator: from the token `name`, with the comment that follows it. */
static void write_extent(Rewriter *rewriter, const Extent *extent, const char *before) {
  const Token *tokens = rewriter->text->tokens;
  text_add(&rewriter->out, before);
  rewriter->done = tokens[extent->name].at;
  for (int i = extent->name; i < extent->end; i++) write_token(rewriter, i);
  const char *end = tokens[extent->end].at;
  while (end[-1] == ' ' || end[-1] == '\n') end--;
  copy_to(rewriter, end);
}

/* Whether an enumerator is a parameter of the same name. */
static bool is_parameter(const Rewriter *rewriter, const Extent *extent) {
  int parameter = is_alone(extent) ? rewriter->group->parameter_at[extent->name + 2] : -1;
  return parameter >= 0 && share_text_is(&rewriter->text->tokens[extent->name],
                                         rewriter->group->parameters.items[parameter].name);
}

/* Whether an enumerator is mentioned, but by those that are not. */
static bool is_used(const ShareText *text, const Extent *extent) {
  const Token *name = &text->tokens[extent->name];
  for (int i = 0; i < text->count; i++) {
    const Token *token = &text->tokens[i];
    if (i == extent->name || token->function != name->function || !share_text_same(token, name))
      continue;
    const Extent *within = share_text_extent(text, i);
    if (within == NULL || (within != extent && is_used(text, within))) return true;
  }
  return false;
}

/* NNC_EXTENTS, the token `list`: what stays constant, then the variables. Returns the token after it. */
static int write_extents(Rewriter *rewriter, int list) {
  const ShareText *text = rewriter->text;
  int after = share_text_after(text, list + 1);
  copy_to(rewriter, text->tokens[list].at);
  VEC(const Extent *) variables = {0};
  const char *before = "NNC_EXTENTS(";
  for (int e = 0; e < text->extents.count; e++) {
    const Extent *extent = &text->extents.items[e];
    if (extent->list != list) continue;
    if (varies(rewriter, extent->name + 2, extent->end)) {
      vec_push(rewriter->group->arena, &rewriter->variables, extent->name);
      if (!is_parameter(rewriter, extent) && is_used(text, extent))
        vec_push(rewriter->group->arena, &variables, extent);
    } else {
      write_extent(rewriter, extent, before);
      before = ", ";
    }
  }
  bool has_constants = *before == ',';
  if (has_constants) text_add(&rewriter->out, variables.count > 0 ? ");\n  " : ");");
  for (int i = 0; i < variables.count; i++)
    write_extent(rewriter, variables.items[i], i == 0 ? "const int64_t " : ", ");
  if (variables.count > 0) text_add_char(&rewriter->out, ';');
  CHECK(share_text_is(&text->tokens[after], ";"));
  rewriter->done = text->tokens[after].at + 1;
  return after + 1;
}

/* ---- functions ---- */

/* The functions of the text: their heads, which end before the token `body`, a brace. */
typedef struct Part {
  int name, body, end;
  bool *mentions; /* by parameter */
} Part;

typedef VEC(Part) PartList;

/* What no head of a function has. */
static bool is_end(const Token *token) { return strchr(";={", *token->at) != NULL; }

/* False: not only functions are in the text, but a prototype or a table outside of them. */
static bool find_parts(const Group *group, PartList *parts) {
  const ShareText *text = group->members[0];
  for (int name = 0, end; name < text->count; name = end) {
    while (name + 1 < text->count && *text->tokens[name + 1].at != '(' &&
           !is_end(&text->tokens[name]))
      name++;
    int body = name + 1 < text->count ? share_text_after(text, name + 1) : text->count;
    if (body >= text->count || is_end(&text->tokens[name]) || *text->tokens[body].at != '{')
      return false;
    end = share_text_after(text, body);
    Part part = {name, body, end, ARENA_ARRAY(group->arena, bool, group->parameters.count + 1)};
    for (int t = body; t < end; t++)
      if (group->parameter_at[t] >= 0) part.mentions[group->parameter_at[t]] = true;
    vec_push(group->arena, parts, part);
  }
  return parts->count > 0;
}

/* The kernel is the last; what calls another function hands on its parameters. */
static void spread_mentions(const Group *group, const PartList *parts) {
  const ShareText *text = group->members[0];
  for (int p = 0; p < parts->count; p++)
    for (int t = parts->items[p].body; t < parts->items[p].end; t++)
      for (int q = 0; q < p; q++)
        for (int k = 0; k < group->parameters.count; k++)
          if (share_text_same(&text->tokens[t], &text->tokens[parts->items[q].name]))
            parts->items[p].mentions[k] |= parts->items[q].mentions[k];
  for (int k = 0; k < group->parameters.count; k++)
    parts->items[parts->count - 1].mentions[k] = true;
}

/* Before the parenthesis that closes the one after the token `name`. */
static void write_list_end(Rewriter *rewriter, int name, const Part *part, bool declares) {
  const Group *group = rewriter->group;
  copy_to(rewriter, rewriter->text->tokens[share_text_after(rewriter->text, name + 1) - 1].at);
  for (int k = 0; k < group->parameters.count; k++)
    if (part->mentions[k])
      text_printf(&rewriter->out, ", %s%s%s%s", declares ? "const " : "",
                  declares ? type_of(group, k) : "", declares ? " " : "",
                  group->parameters.items[k].name);
}

/* The token at which a call ends that begins here; -1: none does. */
static int find_call(const Rewriter *rewriter, const PartList *parts, int token,
                     const Part **part) {
  for (int q = 0; q < parts->count; q++) {
    *part = &parts->items[q];
    if (share_text_same(&rewriter->text->tokens[token], &rewriter->text->tokens[(*part)->name]))
      return share_text_after(rewriter->text, token + 1) - 1;
  }
  return -1;
}

static void write_body(Rewriter *rewriter, const PartList *parts, const Part *part) {
  const ShareText *text = rewriter->text;
  rewriter->variables.count = 0;
  for (int t = part->body; t < part->end; t++) {
    const Part *called;
    if (share_text_is(&text->tokens[t], "NNC_EXTENTS")) {
      t = write_extents(rewriter, t) - 1;
      continue;
    }
    if (share_text_is(&text->tokens[t], "NNC_FIXED_TILES") &&
        varies(rewriter, t, share_text_after(text, t + 1))) {
      copy_to(rewriter, text->tokens[t].at);
      text_add(&rewriter->out, "NNC_FOUND_TILES");
      rewriter->done = text->tokens[t].at + text->tokens[t].length;
    }
    int end = find_call(rewriter, parts, t, &called);
    if (end >= 0) {
      for (int k = t; k < end; k++) write_token(rewriter, k);
      write_list_end(rewriter, t, called, false);
      t = end;
    } else {
      write_token(rewriter, t);
    }
  }
}

static void write_group(const Group *group, const PartList *parts, Text *text) {
  Rewriter rewriter = {.group = group, .text = group->members[0], .done = text->data};
  for (int p = 0; p < parts->count; p++) {
    write_list_end(&rewriter, parts->items[p].name, &parts->items[p], true);
    write_body(&rewriter, parts, &parts->items[p]);
  }
  copy_to(&rewriter, text->data + text->length);
  text_free(text);
  *text = rewriter.out;
}

/* ---- groups ---- */

static const char **member_numbers(const Group *group, int member) {
  const char **numbers = ARENA_ARRAY(group->arena, const char *, group->parameters.count + 1);
  for (int p = 0; p < group->parameters.count; p++) {
    const Token *token = &group->members[member]->tokens[group->parameters.items[p].token];
    numbers[p] = arena_strndup(group->arena, token->at, (size_t)token->length);
  }
  return numbers;
}

static void share_group(Group *group, KernelFunction *functions, KernelPart *parts) {
  PartList bodies = {0};
  int count = find_parameters(group);
  if (count > MOST_NUMBERS || !find_parts(group, &bodies)) return;
  spread_mentions(group, &bodies);
  name_parameters(group);
  KernelFunction *first = &functions[group->members[0]->function->number];
  for (int m = 0; m < group->count; m++) {
    KernelFunction *function = &functions[group->members[m]->function->number];
    function->shared = m > 0 ? first : NULL;
    function->number_count = count;
    function->numbers = member_numbers(group, m);
  }
  first->number_types = ARENA_ARRAY(group->arena, const char *, count + 1);
  first->number_names = ARENA_ARRAY(group->arena, const char *, count + 1);
  for (int p = 0; p < count; p++) {
    first->number_types[p] = type_of(group, p);
    first->number_names[p] = group->parameters.items[p].name;
  }
  write_group(group, &bodies, &parts[first->number].text);
  for (int m = 1; m < group->count; m++)
    text_free(&parts[group->members[m]->function->number].text);
}

void share_functions(Arena *arena, KernelFunction *functions, KernelPart *parts, int count) {
  ShareText *texts = ARENA_ARRAY(arena, ShareText, count + 1);
  int *next = ARENA_ARRAY(arena, int, count + 1), *last = ARENA_ARRAY(arena, int, count + 1);
  PointerTable firsts = {0};
  for (int i = 0; i < count; i++) {
    texts[i] = share_text_read(arena, &functions[i], &parts[i].text);
    const char *key = name_intern(share_text_key(arena, &texts[i]));
    next[i] = -1;
    last[i] = i;
    if (table_add(arena, &firsts, key, i)) continue;
    int first = table_find(&firsts, key);
    next[last[first]] = i;
    last[first] = i;
  }
  bool *is_taken = ARENA_ARRAY(arena, bool, count + 1);
  for (int i = 0; i < count; i++) {
    if (is_taken[i] || next[i] < 0) continue;
    Group group = {.arena = arena};
    for (int k = i; k >= 0; k = next[k]) group.count++;
    group.members = ARENA_ARRAY(arena, const ShareText *, group.count);
    for (int k = i, m = 0; k >= 0; k = next[k]) {
      group.members[m++] = &texts[k];
      is_taken[k] = true;
    }
    share_group(&group, functions, parts);
  }
}
