/* The table of rules and what they share. */
#include "passes/rules/rules.h"

const Rule rule_table[] = {
#define RULE(op, function, text) {#function, OP_##op, rule_##function, text},
#include "passes/rules/rules.def"
#undef RULE
};
const int rule_count = sizeof rule_table / sizeof *rule_table;

Node *rules_apply(const Rewrite *rewrite, Node *node) {
  for (int i = 0; i < rule_count; i++) {
    const Rule *rule = &rule_table[i];
    if (rule->op != OP_COUNT && rule->op != node->op) continue;
    Node *replacement = rule->apply(rewrite, node);
    if (replacement && replacement != node) return replacement;
  }
  return NULL;
}

bool rules_need_stops(const Graph *graph) {
  for (int i = 0; i < graph->nodes.count; i++)
    if (graph->nodes.items[i]->op == OP_GRADIENT) return true;
  return false;
}

Node *rules_make_scalar(const Maker *maker, const char *name) {
  Attribute attribute = attr_make_string(ATTR_NAME, name);
  return make_leaf(maker, OP_SCALAR, type_scalar(DTYPE_F64), 1, &attribute);
}

bool match_constant(const Node *node, double *value) {
  if (node->op != OP_CONSTANT) return false;
  *value = node_float(node, ATTR_VALUE);
  return true;
}

bool match_value(const Node *node, double value) {
  double found;
  return match_constant(node, &found) && found == value;
}
