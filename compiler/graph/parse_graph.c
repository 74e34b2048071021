/* Reading an entry of the textual form: its nodes, then its outputs.
 *
 *     entry train {
 *       %12 : f32[100, 1000] = add(%10, %11) {axis = 1} "h1" @14:10-14:30
 *       store "h1.w" = %12 @1/3:1-3:9
 *     }
 *
 * The body of a scan, and the rule of a gradient of one's own, stands in braces after its node, in the same form.
 *
 * Only the form is checked here; whether a node obeys its operator's rule, the verifier tells. */
#include "graph/dump_reader.h"
#include "graph/dump_words.h"

enum { DEEPEST_BODY = 16 }; /* of scans in scans; bounds the recursion */

typedef VEC(Node *) NodeList;
typedef VEC(Attribute) AttributeList;
typedef VEC(int64_t) IntList;

/* Ids increase, so a node is found by halving. */
static Node *find_node(const Graph *graph, int id) {
  int low = 0, high = graph->nodes.count;
  while (low < high) {
    int middle = low + (high - low) / 2;
    if (graph->nodes.items[middle]->id < id) low = middle + 1;
    else high = middle;
  }
  if (low == graph->nodes.count || graph->nodes.items[low]->id != id) return NULL;
  return graph->nodes.items[low];
}

static bool read_reference(Reader *reader, const Graph *graph, Node **node) {
  Span span = reader->token.span;
  int id;
  if (!reader_node_id(reader, &id)) return false;
  *node = find_node(graph, id);
  if (*node) return true;
  return reader_fail_at(reader, span, "there is no node %%%d before this", id);
}

static bool read_operands(Reader *reader, const Graph *graph, NodeList *operands) {
  if (!reader_expect_mark(reader, '(')) return false;
  while (!reader_sees_mark(reader, ')')) {
    Node *operand;
    if (operands->count > 0 && !reader_expect_mark(reader, ',')) return false;
    if (!read_reference(reader, graph, &operand)) return false;
    vec_push(reader->arena, operands, operand);
  }
  return reader_expect_mark(reader, ')');
}

/* ---- attributes --------------------------------------------------------------------------- */

static bool read_ints(Reader *reader, IntList *list) {
  if (!reader_expect_mark(reader, '[')) return false;
  while (!reader_sees_mark(reader, ']')) {
    int64_t value;
    if (list->count > 0 && !reader_expect_mark(reader, ',')) return false;
    if (!reader_integer(reader, INT64_MIN, INT64_MAX, &value)) return false;
    vec_push(reader->arena, list, value);
  }
  return reader_expect_mark(reader, ']');
}

/* An element type is written by its name. */
static bool read_int_attribute(Reader *reader, AttributeKey key, Attribute *attribute) {
  int64_t value;
  DType dtype;
  if (key == ATTR_DTYPE && reader->token.kind == TOKEN_WORD) {
    if (!reader_dtype(reader, &dtype)) return false;
    value = dtype;
  } else if (!reader_integer(reader, INT64_MIN, INT64_MAX, &value)) {
    return false;
  }
  *attribute = attr_make_int(key, value);
  return true;
}

static bool read_attribute_value(Reader *reader, AttributeKey key, Attribute *attribute) {
  const char *string;
  double real;
  IntList list = {0};
  switch (attribute_kind(key)) {
  case ATTRIBUTE_INT: return read_int_attribute(reader, key, attribute);
  case ATTRIBUTE_FLOAT:
    if (!reader_double(reader, &real)) return false;
    *attribute = attr_make_float(key, real);
    return true;
  case ATTRIBUTE_STRING:
    if (!reader_string(reader, &string)) return false;
    *attribute = attr_make_string(key, string);
    return true;
  case ATTRIBUTE_INTS:
    if (!read_ints(reader, &list)) return false;
    *attribute = attr_make_ints(key, list.count, list.items);
    return true;
  }
  return false;
}

static bool read_attribute(Reader *reader, AttributeList *attributes) {
  static const char *names[ATTR_COUNT];
  for (int i = 0; i < ATTR_COUNT; i++) names[i] = attribute_name((AttributeKey)i);
  Span span = reader->token.span;
  int key;
  if (!reader_choice(reader, names, ATTR_COUNT, "the name of an attribute", &key)) return false;
  for (int i = 0; i < attributes->count; i++)
    if ((int)attributes->items[i].key == key)
      return reader_fail_at(reader, span, "attribute %s is given twice", names[key]);
  Attribute attribute;
  if (!reader_expect_mark(reader, '=') ||
      !read_attribute_value(reader, (AttributeKey)key, &attribute))
    return false;
  vec_push(reader->arena, attributes, attribute);
  return true;
}

static bool read_attributes(Reader *reader, AttributeList *attributes) {
  if (!reader_accept_mark(reader, '{')) return !reader->failed;
  do {
    if (!read_attribute(reader, attributes)) return false;
  } while (reader_accept_mark(reader, ','));
  return reader_expect_mark(reader, '}');
}

/* ---- nodes and outputs -------------------------------------------------------------------- */

static bool read_op(Reader *reader, Op *op) {
  Span span = reader->token.span;
  const char *word;
  if (!reader_word(reader, &word)) return false;
  if (op_parse(word, op)) return true;
  return reader_fail_at(reader, span, "'%.40s' is not an operator", word);
}

static bool read_graph(Reader *reader, Graph *graph, int depth, Spans *places);

/* { nodes and outputs } after a scan or a gradient of one's own. */
static bool read_body(Reader *reader, Node *node, int depth) {
  if (!reader_accept_mark(reader, '{')) return !reader->failed;
  if (depth == DEEPEST_BODY) return reader_fail(reader, "scans are nested too deeply");
  Graph *body = graph_create(reader->arena, "body");
  if (node->op == OP_OWN_GRADIENT) node->rule = body;
  else node->body = body;
  return read_graph(reader, body, depth + 1, NULL) && reader_expect_mark(reader, '}');
}

static bool read_node(Reader *reader, Graph *graph, int depth, Spans *places) {
  Span start = reader->token.span;
  int id;
  Op op;
  Type type;
  NodeList operands = {0};
  AttributeList attributes = {0};
  const char *path;
  Span span;
  if (!reader_node_id(reader, &id)) return false;
  if (id < graph->next_id)
    return reader_fail_at(reader, start, "the ids of nodes increase, but %%%d stands before %%%d",
                          graph->next_id - 1, id);
  if (!reader_expect_mark(reader, ':') || !reader_type(reader, &type) ||
      !reader_expect_mark(reader, '=') || !read_op(reader, &op) ||
      !read_operands(reader, graph, &operands) || !read_attributes(reader, &attributes))
    return false;
  Span end = reader->token.span;
  if (!reader_string(reader, &path) || !reader_optional_place(reader, &span)) return false;
  graph->next_id = id;
  Node *node = graph_add(graph, &(Node){.op = op,
                                        .type = type,
                                        .operand_count = operands.count,
                                        .operands = operands.items,
                                        .attribute_count = attributes.count,
                                        .attributes = attributes.items,
                                        .span = span,
                                        .path = path});
  if (places) vec_push(reader->arena, places, span_join(start, end));
  return read_body(reader, node, depth);
}

static bool read_output(Reader *reader, Graph *graph) {
  Output output = {0};
  int kind, combine = 0;
  if (!reader_choice(reader, dump_output_words, OUTPUT_KIND_COUNT, "a node, an output or '}'",
                     &kind))
    return false;
  if (kind == OUTPUT_ACCUMULATOR &&
      !reader_choice(reader, dump_combine_words, COMBINE_COUNT,
                     "how to combine it (mean, sum, max, min, last)", &combine))
    return false;
  output.kind = (OutputKind)kind;
  output.combine = (Combine)combine;
  if (!reader_string(reader, &output.name) || !reader_expect_mark(reader, '=') ||
      !read_reference(reader, graph, &output.node) || !reader_optional_place(reader, &output.span))
    return false;
  graph_add_output(graph, output);
  return true;
}

static bool read_graph(Reader *reader, Graph *graph, int depth, Spans *places) {
  while (reader->token.kind == TOKEN_NODE && !reader->failed)
    if (!read_node(reader, graph, depth, places)) return false;
  while (!reader_sees_mark(reader, '}'))
    if (!read_output(reader, graph)) return false;
  return true;
}

bool reader_entry(Reader *reader) {
  const char *names[ENTRY_COUNT];
  for (int i = 0; i < ENTRY_COUNT; i++) names[i] = entry_name((EntryKind)i);
  Span span = reader->token.span;
  int entry;
  if (!reader_choice(reader, names, ENTRY_COUNT, "the name of an entry", &entry)) return false;
  if (reader->module->entries[entry])
    return reader_fail_at(reader, span, "entry %s stands twice", names[entry]);
  Graph *graph = graph_create(reader->arena, names[entry]);
  reader->module->entries[entry] = graph;
  return reader_expect_mark(reader, '{') &&
         read_graph(reader, graph, 0, &reader->node_places[entry]) &&
         reader_expect_mark(reader, '}');
}
