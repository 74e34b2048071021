/* Breaking long lines of C: see code_wrap in code.h. */
#include "backend/common/code.h"

#include <stdbool.h>
#include <string.h>

enum {
  WIDTH = 100,
  CONTINUATION = 4,  /* columns that a line's rest is indented by */
  NESTING_COST = 24, /* columns that a break is worth which is a level less deep */
  AFTER_LITERAL = 2  /* what closes a list after its last literal, as "}," */
};

/* The end of the literal that begins at `at`. */
static const char *end_of_literal(const char *at, const char *end) {
  const char quote = *at++;
  while (at < end && *at != quote) at += *at == '\\' ? 2 : 1;
  return at < end ? at + 1 : end;
}

/* The end of the comment that begins at `at`. */
static const char *end_of_comment(const char *at, const char *end) {
  for (at += 2; at + 1 < end; at++)
    if (at[0] == '*' && at[1] == '/') return at + 2;
  return end;
}

/* Whether an operator of two operands stands here, with blanks around it, before which a line may end. */
static bool is_operator(const char *at, const char *end) {
  static const char *const operators[] = {"+ ", "- ", "* ", "/ ", "? ", ": ", "&& ", "|| ", "| "};
  for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
    size_t length = strlen(operators[i]);
    if ((size_t)(end - at) > length && strncmp(at, operators[i], length) == 0) return true;
  }
  return false;
}

/* Where to break a line that is too long. */
typedef struct Break {
  const char *at; /* the blank; NULL: there is none */
  bool in_literal;
  long worth;
} Break;

static void consider(Break *best, const char *at, bool in_literal, long worth) {
  if (best->at == NULL || worth >= best->worth) *best = (Break){at, in_literal, worth};
}

/* The last item, or word, that a literal too long for the line can end with. */
static void consider_literal(Break *best, const char *begin, const char *at, const char *end,
                             int depth) {
  for (const char *c = at + 1; c + 2 < end && c + 2 - begin < WIDTH; c++)
    if (*c == ' ')
      consider(best, c, true, c - begin - NESTING_COST * (depth + (c[-1] == ',' ? 1L : 2L)));
}

static Break find_break(const char *begin, const char *end) {
  Break best = {0};
  int depth = 0;
  for (const char *at = begin; at < end && (at - begin <= WIDTH || best.at == NULL);) {
    bool is_comment = at + 1 < end && at[0] == '/' && at[1] == '*';
    if (*at == ' ' && at > begin && at + 1 < end) {
      bool may = at[-1] == ',' || at[-1] == ';' || (at[-1] != ' ' && is_operator(at + 1, end)) ||
                 (at + 2 < end && at[1] == '/' && at[2] == '*');
      if (may) consider(&best, at, false, at - begin - (long)NESTING_COST * depth);
    }
    if (is_comment) {
      at = end_of_comment(at, end);
    } else if (*at == '"' || *at == '\'') {
      const char *after = end_of_literal(at, end);
      if (*at == '"' && after - begin + AFTER_LITERAL > WIDTH)
        consider_literal(&best, begin, at, after, depth);
      at = after;
    } else {
      depth += (*at == '(' || *at == '[' || *at == '{') - (*at == ')' || *at == ']' || *at == '}');
      at++;
    }
  }
  return best;
}

static size_t indent_of(const char *begin, const char *end) {
  const char *at = begin;
  while (at < end && *at == ' ') at++;
  return (size_t)(at - begin);
}

/* Where a line has no place to break in its width, behind the bracket of a long name's list, if its rest, indented so
 * far, is shorter then; else `length`. */
static size_t after_bracket(const char *line, size_t length, size_t indent) {
  for (size_t i = indent; i < WIDTH && line[i] != '"' && line[i] != '\''; i++)
    if (line[i] == '(') return i + 1;
  return length;
}

/* Adds a line, broken where it is too long; its rest is indented by `more` columns. */
static void add_line(Text *out, const char *begin, const char *end, size_t more) {
  size_t indent = indent_of(begin, end) + more;
  Text rest = {0};
  text_add_bytes(&rest, begin, (size_t)(end - begin));
  while (rest.length > WIDTH) {
    Break cut = find_break(rest.data, rest.data + rest.length);
    size_t length = cut.at ? (size_t)(cut.at - rest.data) : 0;
    if (length > WIDTH) length = after_bracket(rest.data, length, indent);
    if (length <= indent) break;
    text_add_bytes(out, rest.data, length + cut.in_literal);
    text_add(out, cut.in_literal ? "\"\n" : "\n");
    Text next = {0};
    text_pad(&next, ' ', (int)indent);
    if (cut.in_literal) text_add_char(&next, '"');
    size_t done = length + (rest.data[length] == ' ');
    text_add_bytes(&next, rest.data + done, rest.length - done);
    text_free(&rest);
    rest = next;
  }
  size_t spare = indent_of(rest.data, rest.data + rest.length);
  spare = rest.length > WIDTH && spare > CONTINUATION ? spare - CONTINUATION : 0;
  text_add_bytes(out, rest.data + spare, rest.length - spare);
  text_free(&rest);
}

/* How many brackets of the one kind there are more than of the other, comments and literals left out. */
static int nesting(const char *begin, const char *end, const char *opening, const char *closing) {
  int depth = 0;
  for (const char *at = begin; at < end;) {
    if (at + 1 < end && at[0] == '/' && at[1] == '*') at = end_of_comment(at, end);
    else if (*at == '"' || *at == '\'') at = end_of_literal(at, end);
    else {
      depth += (strchr(opening, *at) != NULL) - (strchr(closing, *at) != NULL);
      at++;
    }
  }
  return depth;
}

/* How many brackets a line leaves open, but one at its end, which opens a block or table, or its first, which closes it. */
static int opened(const char *begin, const char *end) {
  const char *first = begin + indent_of(begin, end);
  if (first < end && strchr(")]}", *first)) first++;
  if (first < end && end[-1] == '{') end--;
  return nesting(first, end, "([{", ")]}");
}

/* Round brackets that a line leaves open. */
static int open_lists(const char *begin, const char *end) { return nesting(begin, end, "(", ")"); }

static bool is_own_line(const char *first, const char *stop) {
  return first == stop || *first == '#' ||
         (stop - first >= 2 && first[0] == '/' && first[1] == '*');
}

/* The line at `at` with those that its round brackets go on in; where the next line begins. */
static const char *join_list(Text *line, const char *at, const char *end) {
  const char *stop = memchr(at, '\n', (size_t)(end - at));
  if (stop == NULL) stop = end;
  text_add_bytes(line, at, (size_t)(stop - at));
  int depth = open_lists(at, stop);
  while (depth > 0 && stop < end && stop[-1] != '\\') {
    const char *next = stop + 1, *after = memchr(next, '\n', (size_t)(end - next));
    if (after == NULL) after = end;
    const char *first = next + indent_of(next, after);
    if (is_own_line(first, after)) break;
    if (line->data[line->length - 1] != '(') text_add_char(line, ' ');
    text_add_bytes(line, first, (size_t)(after - first));
    depth += open_lists(first, after);
    stop = after;
  }
  return stop;
}

void code_wrap(Text *text) {
  if (text->length == 0) return;
  Text wrapped = {0};
  /* The line before ended inside of a comment, with a backslash; the line is within so many brackets. */
  bool in_comment = false, continues = false;
  int depth = 0;
  const char *end = text->data + text->length;
  for (const char *at = text->data; at < end;) {
    const char *stop = memchr(at, '\n', (size_t)(end - at));
    if (stop == NULL) stop = end;
    const char *first = at + indent_of(at, stop);
    bool opens = stop - first >= 2 && first[0] == '/' && first[1] == '*';
    bool is_fixed = in_comment || continues || opens || (first < stop && *first == '#');
    if (in_comment || opens)
      in_comment = end_of_comment(opens ? first : at - 2, stop) == stop &&
                   !(stop - at >= 2 && stop[-2] == '*' && stop[-1] == '/');
    continues = stop > at && stop[-1] == '\\';
    if (is_fixed) {
      text_add_bytes(&wrapped, at, (size_t)(stop - at));
    } else {
      Text line = {0};
      stop = join_list(&line, at, end);
      const char *line_end = line.data + line.length;
      if (line.length <= WIDTH) text_add_bytes(&wrapped, line.data, line.length);
      else add_line(&wrapped, line.data, line_end, depth > 0 ? 0 : CONTINUATION);
      if (line.length > 0) depth += opened(line.data, line_end);
      text_free(&line);
    }
    if (depth < 0) depth = 0;
    if (stop < end) text_add_char(&wrapped, '\n');
    at = stop < end ? stop + 1 : end;
  }
  text_free(text);
  *text = wrapped;
}
