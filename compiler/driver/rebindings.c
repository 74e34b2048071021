/* Names that are bound more than once: what nnc check --parameters and nnc diff-parameters say of their layers, which are
 * numbered, and so change their paths with statements that are added or removed elsewhere. */
#include <string.h>
#include "driver/parameters.h"

enum { MOST_LAYERS = 4 }; /* that are listed; the rest is counted */

/* "linear.0, linear.1 and 3 more" of all that one body makes, in whatever calls. */
static void add_layers(Text *text, const Rebindings *all, const Rebinding *of) {
  int count = 0;
  for (int i = 0; i < all->count; i++) {
    const Rebinding *other = &all->items[i];
    if (other->body != of->body || other->name != of->name) continue;
    for (int k = 0; k < other->layers.count; k++, count++)
      if (count < MOST_LAYERS)
        text_printf(text, "%s%s", count > 0 ? ", " : "", other->layers.items[k]);
  }
  if (count > MOST_LAYERS) text_printf(text, " and %d more", count - MOST_LAYERS);
}

static bool is_first(const Rebindings *all, int i) {
  for (int k = 0; k < i; k++)
    if (all->items[k].body == all->items[i].body && all->items[k].name == all->items[i].name)
      return false;
  return true;
}

static const char *place(Arena *arena, const Rebinding *rebinding) {
  return arena_printf(arena, "%s:%d", rebinding->at.file->name, rebinding->at.line);
}

void rebindings_print(Text *text, Arena *arena, const Rebindings *rebindings) {
  for (int i = 0; i < rebindings->count; i++) {
    const Rebinding *rebinding = &rebindings->items[i];
    if (!is_first(rebindings, i)) continue;
    text_printf(text, "note: %s: '%s' is bound more than once, so its layers are numbered: ",
                place(arena, rebinding), rebinding->name);
    add_layers(text, rebindings, rebinding);
    text_add_char(text, '\n');
  }
  if (rebindings->count > 0)
    text_add(text,
             "help: numbers change when such a statement is added or removed; name = \"...\" in "
             "a call gives its layer a path that stays\n");
}

/* ---- side by side ---- */

static const Rebinding *find(const Parameters *parameters, const char *path) {
  for (int i = 0; i < parameters->rebindings.count; i++)
    if (strcmp(parameters->rebindings.items[i].path, path) == 0)
      return &parameters->rebindings.items[i];
  return NULL;
}

/* Whether a parameter lies in the layer of this path. */
static bool has_layer(const Parameters *parameters, const char *path) {
  size_t length = strlen(path);
  for (int i = 0; i < parameters->items.count; i++) {
    const char *other = parameters->items.items[i].path;
    if (strncmp(other, path, length) == 0 && other[length] == '.') return true;
  }
  return false;
}

static void put_layers(Text *text, const Rebinding *rebinding) {
  for (int k = 0; k < rebinding->layers.count && k < MOST_LAYERS; k++)
    text_printf(text, "%s%s", k > 0 ? ", " : "", rebinding->layers.items[k]);
  if (rebinding->layers.count > MOST_LAYERS)
    text_printf(text, " and %d more", rebinding->layers.count - MOST_LAYERS);
}

/* A name that is bound once in `single`, where it is a path, and more than once in `several`. */
static int put_renamed(Text *text, Arena *arena, const Parameters *several,
                       const Parameters *single) {
  int notes = 0;
  for (int i = 0; i < several->rebindings.count; i++) {
    const Rebinding *rebinding = &several->rebindings.items[i];
    if (!has_layer(single, rebinding->path) || has_layer(several, rebinding->path)) continue;
    text_printf(text, "note: %s: '%s' is bound more than once, so its layers are ",
                place(arena, rebinding), rebinding->name);
    put_layers(text, rebinding);
    text_printf(text, "; in %s it is the path %s\n", single->file, rebinding->path);
    notes++;
  }
  return notes;
}

/* A name that is bound more than once in both, but for more or fewer layers. */
static int put_shifted(Text *text, Arena *arena, const Parameters *old, const Parameters *new) {
  int notes = 0;
  for (int i = 0; i < new->rebindings.count; i++) {
    const Rebinding *rebinding = &new->rebindings.items[i];
    const Rebinding *before = find(old, rebinding->path);
    if (!before || before->layers.count == rebinding->layers.count) continue;
    text_printf(
        text,
        "note: %s: '%s' has %d layers, which are numbered, and in %s %d: a number that both "
        "have may be of another layer\n",
        place(arena, rebinding), rebinding->name, rebinding->layers.count, old->file,
        before->layers.count);
    notes++;
  }
  return notes;
}

void rebindings_compare(Text *text, Arena *arena, const Parameters *old, const Parameters *new) {
  int notes = put_renamed(text, arena, new, old) + put_renamed(text, arena, old, new) +
              put_shifted(text, arena, old, new);
  if (notes > 0)
    text_add(text, "help: name = \"...\" in a call gives its layer the path that the other has\n");
}
