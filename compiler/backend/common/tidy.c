/* Loops around one statement, without braces: see code_tidy in code.h. */
#include "backend/common/code.h"

#include <string.h>

enum { WIDTH = 100 };

/* A line without its indent. */
typedef struct Line {
  const char *at, *end; /* of what stands in it */
  const char *next;     /* the line after it; NULL: it is the last */
  int indent;
} Line;

static Line line_at(const char *at, const char *end) {
  Line line = {.at = at};
  while (line.at < end && *line.at == ' ') line.at++;
  line.indent = (int)(line.at - at);
  const char *stop = memchr(line.at, '\n', (size_t)(end - line.at));
  line.end = stop ? stop : end;
  line.next = stop && stop + 1 < end ? stop + 1 : NULL;
  return line;
}

static bool begins(const Line *line, const char *word) {
  size_t length = strlen(word);
  return (size_t)(line->end - line->at) >= length && strncmp(line->at, word, length) == 0;
}

/* "for (...) {", perhaps with a hint to the compiler before it. */
static bool opens_loop(const Line *line) {
  static const char *const words[] = {"for (", "NNC_ROLLED for (", "NNC_UNROLL for (",
                                      "NNC_SHORT for ("};
  if (line->end - line->at < 3 || line->end[-1] != '{' || line->end[-2] != ' ') return false;
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (begins(line, words[i])) return true;
  return false;
}

/* One statement, and no declaration. */
static bool is_statement(const Line *line) {
  static const char *const words[] = {"const ", "if (", "for (", "else", "/*", "#", "}", "case "};
  if (line->end == line->at || line->end[-1] != ';') return false;
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (begins(line, words[i])) return false;
  return true;
}

static void add(Text *text, const Line *line) {
  text_add_bytes(text, line->at, (size_t)(line->end - line->at));
}

void code_tidy(Text *text) {
  if (text->length == 0) return;
  Text tidy = {0};
  const char *end = text->data + text->length;
  for (const char *at = text->data; at != NULL;) {
    Line head = line_at(at, end);
    Line body = head.next ? line_at(head.next, end) : (Line){0};
    Line last = body.next ? line_at(body.next, end) : (Line){0};
    bool is_closed = last.at && last.end == last.at + 1 && *last.at == '}';
    if (body.at && is_closed && last.indent == head.indent && opens_loop(&head) &&
        is_statement(&body)) {
      head.end -= 2;
      bool fits = head.indent + (head.end - head.at) + 1 + (body.end - body.at) <= WIDTH;
      text_pad(&tidy, ' ', head.indent);
      add(&tidy, &head);
      if (fits) text_add_char(&tidy, ' ');
      else {
        text_add_char(&tidy, '\n');
        text_pad(&tidy, ' ', body.indent);
      }
      add(&tidy, &body);
      text_add_char(&tidy, '\n');
      at = last.next;
    } else {
      text_pad(&tidy, ' ', head.indent);
      add(&tidy, &head);
      text_add_char(&tidy, '\n');
      at = head.next;
    }
  }
  text_free(text);
  *text = tidy;
}
