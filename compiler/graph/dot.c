/* Graphviz: one cluster an entry, a box a node labelled with operator, type and path, an ellipse
 * an output. Names of Graphviz nodes begin with that of the entry, since they must differ between
 * clusters. `nnc dump --dot | dot -Tsvg` draws it. */
#include "graph/dump_words.h"
#include "graph/textual.h"

/* A quoted label: Graphviz knows \" and \n in it and keeps any other backslash, so a path's own
 * backslashes and control characters are shown as '?'. */
static void add_label(Text *text, const char *const *lines, int count) {
  text_add(text, "[label=\"");
  for (int i = 0; i < count; i++) {
    if (i > 0) text_add(text, "\\n");
    for (const char *c = lines[i]; *c; c++) {
      if (*c == '"') text_add_char(text, '\\');
      text_add_char(text, *c == '\\' || (unsigned char)*c < ' ' ? '?' : *c);
    }
  }
  text_add_char(text, '"');
}

static void add_node(Text *text, const Graph *graph, const Node *node) {
  Text type = {0};
  text_add_type(&type, node->type);
  bool is_leaf = node->operand_count == 0;
  const Attribute *name = node_attribute(node, ATTR_NAME);
  const char *lines[] = {op_name(node->op), type.data, name ? name->string : node->path};
  text_printf(text, "    %s_%d ", graph->name, node->id);
  add_label(text, lines, 3);
  text_printf(text, ", shape=box%s];\n", is_leaf ? ", style=filled, fillcolor=lightgrey" : "");
  text_free(&type);
  for (int i = 0; i < node->operand_count; i++)
    text_printf(text, "    %s_%d -> %s_%d;\n", graph->name, node->operands[i]->id, graph->name,
                node->id);
}

static void add_output(Text *text, const Graph *graph, int index) {
  const Output *output = &graph->outputs.items[index];
  const char *lines[] = {dump_output_words[output->kind], output->name};
  text_printf(text, "    %s_out%d ", graph->name, index);
  add_label(text, lines, 2);
  text_printf(text, ", shape=ellipse];\n    %s_%d -> %s_out%d;\n", graph->name, output->node->id,
              graph->name, index);
}

void module_print_dot(Text *text, const Module *module) {
  text_add(text, "digraph ");
  text_add_quoted(text, module->name);
  text_add(text, " {\n  node [fontname=\"monospace\", fontsize=10];\n");
  for (int i = 0; i < ENTRY_COUNT; i++) {
    const Graph *graph = module->entries[i];
    if (!graph) continue;
    text_printf(text, "  subgraph cluster_%s {\n    label=\"%s\";\n", graph->name, graph->name);
    for (int k = 0; k < graph->nodes.count; k++) add_node(text, graph, graph->nodes.items[k]);
    for (int k = 0; k < graph->outputs.count; k++) add_output(text, graph, k);
    text_add(text, "  }\n");
  }
  text_add(text, "}\n");
}
