/* Code templates: see template.h. */
#include "backend/common/template.h"

#include <stdbool.h>
#include <ctype.h>
#include <string.h>
#include "support/embedded.h"
#include "support/panic.h"

typedef struct Filling {
  const char *template_name;
  const TemplateHoles *holes;
} Filling;

/* The hole that begins at `at`, or NULL; *length includes both '@'. */
static const char *hole_at(const Filling *filling, const char *at, size_t *length) {
  const char *end = at + 1;
  while (isupper((unsigned char)*end) || isdigit((unsigned char)*end) || *end == '_') end++;
  if (*at != '@' || *end != '@' || end == at + 1) return NULL;
  *length = (size_t)(end + 1 - at);
  for (int i = 0; i < filling->holes->list.count; i++) {
    const TemplateHole *hole = &filling->holes->list.items[i];
    if (strlen(hole->name) == *length - 2 && strncmp(hole->name, at + 1, *length - 2) == 0)
      return hole->text;
  }
  panic("template %s: nothing fills %.*s", filling->template_name, (int)*length, at);
}

static void add_indented(Text *out, const char *text, size_t indent) {
  while (*text) {
    const char *end = strchr(text, '\n');
    size_t length = end ? (size_t)(end - text) : strlen(text);
    if (length > 0) text_pad(out, ' ', (int)indent);
    text_add_bytes(out, text, length);
    text_add_char(out, '\n');
    text += length + (end != NULL);
  }
}

static void render_line(const Filling *filling, Text *out, const char *line, size_t length) {
  size_t indent = strspn(line, " "), hole_length;
  if (indent < length && line[indent] == '@') {
    const char *text = hole_at(filling, line + indent, &hole_length);
    if (text != NULL && indent + hole_length == length) {
      add_indented(out, text, indent);
      return;
    }
  }
  for (size_t i = 0; i < length;) {
    const char *text = line[i] == '@' ? hole_at(filling, line + i, &hole_length) : NULL;
    if (text != NULL) {
      text_add(out, text);
      i += hole_length;
    } else {
      text_add_char(out, line[i++]);
    }
  }
  text_add_char(out, '\n');
}

void template_add(TemplateHoles *holes, const char *name, const char *text) {
  vec_push(holes->arena, &holes->list, ((TemplateHole){name, text}));
}

void template_add_integer(TemplateHoles *holes, const char *name, int64_t value) {
  template_add(holes, name, arena_printf(holes->arena, "%lld", (long long)value));
}

void template_add_axes(TemplateHoles *holes, const char *letter, const int64_t values[3]) {
  for (int i = 0; i < 3; i++)
    template_add_integer(holes, arena_printf(holes->arena, "%s%d", letter, i), values[i]);
}

void template_render(Text *out, const char *name, const TemplateHoles *holes) {
  const EmbeddedFile *file = embedded_find(name);
  if (file == NULL) panic("there is no template %s", name);
  Filling filling = {name, holes};
  const char *line = file->text;
  if (strncmp(line, "/*", 2) == 0) {
    const char *end = strstr(line, "*/\n");
    CHECK(end != NULL);
    line = end + 3;
  }
  while (*line) {
    const char *end = strchr(line, '\n');
    size_t length = end ? (size_t)(end - line) : strlen(line);
    render_line(&filling, out, line, length);
    line += length + (end != NULL);
  }
}
