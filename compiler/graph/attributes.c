/* Attributes of nodes: the table of keys and their kinds, constructors, lookup, comparison. */
#include <string.h>
#include "graph/graph.h"
#include "support/names.h"
#include "support/panic.h"

typedef struct AttributeInfo {
  const char *name;
  AttributeKind kind;
} AttributeInfo;

static const AttributeInfo attribute_info[ATTR_COUNT] = {
#define ATTRIBUTE(identifier, name, kind) [ATTR_##identifier] = {name, kind},
#include "graph/attributes.def"
#undef ATTRIBUTE
};

static const AttributeInfo *attribute_find(AttributeKey key) {
  if ((unsigned)key >= ATTR_COUNT) panic("attribute key %d does not exist", (int)key);
  return &attribute_info[key];
}

AttributeKind attribute_kind(AttributeKey key) { return attribute_find(key)->kind; }

const char *attribute_name(AttributeKey key) { return attribute_find(key)->name; }

/* The key, whose attribute has a value of this kind. */
static AttributeKey key_of(AttributeKey key, AttributeKind kind) {
  if (attribute_kind(key) != kind)
    panic("attribute %s is made with a value of another kind", attribute_name(key));
  return key;
}

Attribute attr_make_int(AttributeKey key, int64_t value) {
  return (Attribute){.key = key_of(key, ATTRIBUTE_INT), .integer = value};
}

Attribute attr_make_float(AttributeKey key, double value) {
  return (Attribute){.key = key_of(key, ATTRIBUTE_FLOAT), .real = value};
}

Attribute attr_make_string(AttributeKey key, const char *value) {
  return (Attribute){.key = key_of(key, ATTRIBUTE_STRING), .string = name_intern(value)};
}

/* The array stays the caller's until the attribute is given to a node, which copies it. */
Attribute attr_make_ints(AttributeKey key, int count, const int64_t *values) {
  CHECK(count >= 0);
  return (Attribute){.key = key_of(key, ATTRIBUTE_INTS), .count = count, .ints = (int64_t *)values};
}

const Attribute *node_attribute(const Node *node, AttributeKey key) {
  for (int i = 0; i < node->attribute_count; i++)
    if (node->attributes[i].key == key) return &node->attributes[i];
  return NULL;
}

static const Attribute *node_require(const Node *node, AttributeKey key, AttributeKind kind) {
  const Attribute *attribute = node_attribute(node, key);
  if (!attribute || attribute_kind(key) != kind)
    panic("node %%%d (%s, %s) lacks the attribute %s", node->id, op_name(node->op), node->path,
          attribute_name(key));
  return attribute;
}

int64_t node_int(const Node *node, AttributeKey key) {
  return node_require(node, key, ATTRIBUTE_INT)->integer;
}

double node_float(const Node *node, AttributeKey key) {
  return node_require(node, key, ATTRIBUTE_FLOAT)->real;
}

const char *node_string(const Node *node, AttributeKey key) {
  return node_require(node, key, ATTRIBUTE_STRING)->string;
}

const Attribute *node_ints(const Node *node, AttributeKey key) {
  return node_require(node, key, ATTRIBUTE_INTS);
}

/* Doubles by their bits: 0.0 and -0.0 differ, a NaN equals itself. */
static bool attribute_same(const Attribute *a, const Attribute *b) {
  if (a->key != b->key) return false;
  switch (attribute_kind(a->key)) {
  case ATTRIBUTE_INT: return a->integer == b->integer;
  case ATTRIBUTE_FLOAT: return memcmp(&a->real, &b->real, sizeof a->real) == 0;
  case ATTRIBUTE_STRING: return a->string == b->string;
  case ATTRIBUTE_INTS:
    for (int i = 0; i < a->count && i < b->count; i++)
      if (a->ints[i] != b->ints[i]) return false;
    return a->count == b->count;
  }
  return false;
}

bool node_is_scan_result(const Node *node) {
  return node->operand_count == 1 && node->operands[0]->body != NULL;
}

bool graph_has_scans(const Graph *graph) {
  for (int i = 0; i < graph->nodes.count; i++)
    if (graph->nodes.items[i]->body) return true;
  return false;
}

const Graph *node_inner(const Node *node) { return node->body ? node->body : node->rule; }

bool node_same_attributes(const Node *a, const Node *b) {
  if (a->attribute_count != b->attribute_count) return false;
  for (int i = 0; i < a->attribute_count; i++)
    if (!attribute_same(&a->attributes[i], &b->attributes[i])) return false;
  return true;
}
