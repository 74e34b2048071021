/* Lists of GPUs: see architectures.h. */
#include "backend/cuda/architectures.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "support/text.h"

const char default_architectures[] = "sm_80,sm_90a";

/* A word of the list; false when it is none. */
static bool parse_word(Architecture *architecture, const char *word) {
  static const char machine[] = "sm_", text[] = "compute_";
  architecture->is_text = strncmp(word, text, sizeof text - 1) == 0;
  if (!architecture->is_text && strncmp(word, machine, sizeof machine - 1) != 0) return false;
  const char *at = word + (architecture->is_text ? sizeof text : sizeof machine) - 1;
  size_t digits = strspn(at, "0123456789");
  if (digits < 2 || digits > 3) return false;
  architecture->name = word;
  architecture->number = atoi(at);
  architecture->feature = at[digits];
  if (at[digits] == 0) return true;
  return strchr("af", at[digits]) != NULL && at[digits + 1] == 0 && !architecture->is_text;
}

static int compare(const Architecture *a, const Architecture *b) {
  if (a->is_text != b->is_text) return a->is_text - b->is_text;
  if (a->number != b->number) return a->number - b->number;
  return a->feature - b->feature;
}

/* At its place in the order, if it is not there; false when there are too many. */
static bool insert(Architectures *architectures, Architecture added) {
  int at = 0;
  while (at < architectures->count && compare(&architectures->items[at], &added) < 0) at++;
  if (at < architectures->count && compare(&architectures->items[at], &added) == 0) return true;
  if (architectures->count == MOST_ARCHITECTURES) return false;
  Architecture *place = &architectures->items[at];
  memmove(place + 1, place, sizeof *place * (size_t)(architectures->count - at));
  *place = added;
  architectures->count++;
  return true;
}

static bool has_text(const Architectures *architectures) {
  return architectures->items[architectures->count - 1].is_text;
}

const char *architectures_parse(Arena *arena, Architectures *architectures, const char *list) {
  *architectures = (Architectures){0};
  for (const char *at = list;;) {
    size_t length = strcspn(at, ",");
    const char *word = arena_strndup(arena, at, length);
    Architecture one;
    if (!parse_word(&one, word))
      return arena_printf(arena,
                          "--arch: in a list for CUDA stand sm_80, sm_90a, sm_100f or compute_90, "
                          "not '%s'",
                          word);
    if (one.number < OLDEST_ARCHITECTURE)
      return arena_printf(arena, "--arch: '%s' is too old, the oldest is sm_%d", word,
                          OLDEST_ARCHITECTURE);
    /* One place is left for the text. */
    if (architectures->count == MOST_ARCHITECTURES - 1 || !insert(architectures, one))
      return arena_printf(arena, "--arch: more than %d architectures", MOST_ARCHITECTURES - 1);
    if (at[length] == 0) break;
    at += length + 1;
  }
  if (!has_text(architectures)) {
    int number = architectures->items[architectures->count - 1].number;
    insert(architectures, (Architecture){.name = arena_printf(arena, "compute_%d", number),
                                         .number = number,
                                         .is_text = true});
  }
  return NULL;
}

/* ---- what NVRTC knows ---- */

/* Families came with NVRTC 12.9. */
static bool is_known(const Architecture *architecture, const Nvrtc *nvrtc) {
  bool is_there = false;
  for (int i = 0; i < nvrtc->architecture_count; i++)
    is_there = is_there || nvrtc->architectures[i] == architecture->number;
  if (architecture->feature == 'a') return is_there && architecture->number >= 90;
  if (architecture->feature == 'f')
    return is_there && architecture->number >= 100 &&
           (nvrtc->major > 12 || (nvrtc->major == 12 && nvrtc->minor >= 9));
  return is_there;
}

/* "sm_80, sm_90, sm_90a": those that a list may name. */
static const char *list_known(Arena *arena, const Nvrtc *nvrtc) {
  static const char features[] = {0, 'a', 'f'};
  Text text = {0};
  for (int i = 0; i < nvrtc->architecture_count; i++)
    for (size_t f = 0; f < sizeof features; f++) {
      Architecture one = {.number = nvrtc->architectures[i], .feature = features[f]};
      if (one.number < OLDEST_ARCHITECTURE || !is_known(&one, nvrtc)) continue;
      text_printf(&text, "%ssm_%d", text.length > 0 ? ", " : "", one.number);
      if (one.feature) text_add_char(&text, one.feature);
    }
  return text.data ? text_take(&text, arena) : "none";
}

bool architectures_check(Arena *arena, const Architectures *architectures, const Nvrtc *nvrtc) {
  for (int i = 0; i < architectures->count; i++) {
    const Architecture *one = &architectures->items[i];
    if (is_known(one, nvrtc)) continue;
    fprintf(stderr, "nnc: error: --arch: NVRTC %d.%d (%s) does not compile for %s; it knows %s\n",
            nvrtc->major, nvrtc->minor, nvrtc->path, one->name, list_known(arena, nvrtc));
    return false;
  }
  return true;
}
