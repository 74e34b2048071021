/* What tree-sitter makes of programs: parse [--tree] FILE... prints a line for each place that it cannot read, with --tree the tree; parse
 * --query QUERY FILE... the captures, "LINE:COLUMN CAPTURE TEXT". Status 1 where something cannot be read. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tree_sitter/api.h>

const TSLanguage *tree_sitter_nnc(void);

static char *read_file(const char *path, size_t *length) {
  FILE *file = fopen(path, "rb");
  char *text = NULL;
  *length = 0;
  if (!file) {
    perror(path);
    exit(2);
  }
  for (size_t got = 1; got > 0; *length += got) {
    text = realloc(text, *length + 65536);
    if (!text) exit(2);
    got = fread(text + *length, 1, 65535, file);
  }
  fclose(file);
  text[*length] = 0;
  return text;
}

/* A line for each place that was skipped or made up. */
static bool print_mistakes(const char *path, TSNode node) {
  bool found = ts_node_is_missing(node) || strcmp(ts_node_type(node), "ERROR") == 0;
  TSPoint at = ts_node_start_point(node);
  if (found)
    printf("%s:%u:%u: %s%s\n", path, at.row + 1, at.column + 1,
           ts_node_is_missing(node) ? "missing " : "", ts_node_type(node));
  for (uint32_t i = 0; !found && i < ts_node_child_count(node); i++)
    if (print_mistakes(path, ts_node_child(node, i))) found = true;
  return found;
}

static void print_captures(const TSQuery *query, TSNode root, const char *text) {
  TSQueryCursor *cursor = ts_query_cursor_new();
  TSQueryMatch match;
  uint32_t index, length;
  ts_query_cursor_exec(cursor, query, root);
  while (ts_query_cursor_next_capture(cursor, &match, &index)) {
    TSQueryCapture capture = match.captures[index];
    uint32_t from = ts_node_start_byte(capture.node), to = ts_node_end_byte(capture.node);
    TSPoint at = ts_node_start_point(capture.node);
    printf("%u:%u %s %.*s\n", at.row + 1, at.column + 1,
           ts_query_capture_name_for_id(query, capture.index, &length), (int)(to - from),
           text + from);
  }
  ts_query_cursor_delete(cursor);
}

static TSQuery *read_query(const char *path) {
  size_t length;
  uint32_t at;
  TSQueryError error;
  char *text = read_file(path, &length);
  TSQuery *query = ts_query_new(tree_sitter_nnc(), text, (uint32_t)length, &at, &error);
  if (!query) {
    fprintf(stderr, "%s: byte %u: no query: %.40s\n", path, at, text + at);
    exit(2);
  }
  free(text);
  return query;
}

int main(int argc, char **argv) {
  bool prints_tree = argc > 1 && strcmp(argv[1], "--tree") == 0, failed = false;
  bool has_query = argc > 2 && strcmp(argv[1], "--query") == 0;
  TSQuery *query = has_query ? read_query(argv[2]) : NULL;
  TSParser *parser = ts_parser_new();
  if (!ts_parser_set_language(parser, tree_sitter_nnc())) return 2;
  for (int i = prints_tree ? 2 : has_query ? 3 : 1; i < argc; i++) {
    size_t length;
    char *text = read_file(argv[i], &length);
    TSTree *tree = ts_parser_parse_string(parser, NULL, text, (uint32_t)length);
    TSNode root = ts_tree_root_node(tree);
    if (print_mistakes(argv[i], root)) failed = true;
    if (prints_tree) {
      char *printed = ts_node_string(root);
      puts(printed);
      free(printed);
    }
    if (query) print_captures(query, root, text);
    ts_tree_delete(tree);
    free(text);
  }
  if (query) ts_query_delete(query);
  ts_parser_delete(parser);
  return failed;
}
