/* Making a failing case small.
 *
 * Moves, each tried in turn until none helps: forget the metrics, the second step, the gradients
 * (the module as differentiated); drop an output; put an input with the node's own value, or an
 * operand, in the place of a node; give an extent a smaller value everywhere. What a move leaves
 * without use goes with it. The caller's test decides, so it must also refuse cases that are no
 * longer well-conditioned. */
#include <string.h>

#include "fuzz.h"
#include "ops/make.h"
#include "ops/op.h"
#include "passes/pass.h"
#include "support/names.h"

typedef struct Shrinker {
  Arena *arena;
  StillFails *still_fails;
  void *context;
  const Case *best;
} Shrinker;

static Case *case_copy(Arena *arena, const Case *test) {
  Case *copy = arena_copy(arena, test, sizeof *test);
  copy->arena = arena;
  copy->module = module_copy(arena, test->module);
  copy->inputs.items =
      arena_copy(arena, test->inputs.items, sizeof(Tensor *) * (size_t)test->inputs.count);
  copy->start.items =
      arena_copy(arena, test->start.items, sizeof(Tensor *) * (size_t)test->start.count);
  copy->inputs.capacity = copy->inputs.count;
  copy->start.capacity = copy->start.count;
  return copy;
}

/* ---- what nothing uses any more ---- */

static bool is_read(const Module *module, const char *name) {
  for (int entry = 0; entry < ENTRY_COUNT; entry++) {
    const Graph *graph = module->entries[entry];
    for (int i = 0; graph && i < graph->nodes.count; i++) {
      const Attribute *attribute = node_attribute(graph->nodes.items[i], ATTR_NAME);
      if (attribute && attribute->string == name) return true;
    }
  }
  Graph *train = module->entries[ENTRY_TRAIN];
  return graph_find_output(train, OUTPUT_STORE, name) != NULL;
}

static void drop_output(Graph *graph, int number) {
  for (int i = number; i + 1 < graph->outputs.count; i++)
    graph->outputs.items[i] = graph->outputs.items[i + 1];
  graph->outputs.count--;
}

static void drop_unused(Case *test) {
  Module *module = test->module;
  pass_find("dce")->run(module, diagnostics_create(test->arena));
  int kept = 0;
  for (int i = 0; i < module->inputs.count; i++) {
    if (!is_read(module, module->inputs.items[i].name)) continue;
    module->inputs.items[kept] = module->inputs.items[i];
    test->inputs.items[kept++] = test->inputs.items[i];
  }
  module->inputs.count = test->inputs.count = kept;
  kept = 0;
  Graph *init = module->entries[ENTRY_INIT];
  for (int i = 0; i < module->variables.count; i++) {
    const char *path = module->variables.items[i].path;
    if (is_read(module, path)) {
      module->variables.items[kept] = module->variables.items[i];
      test->start.items[kept++] = test->start.items[i];
      continue;
    }
    for (int k = init->outputs.count - 1; k >= 0; k--)
      if (init->outputs.items[k].name == path) drop_output(init, k);
  }
  module->variables.count = test->start.count = kept;
  pass_find("dce")->run(module, diagnostics_create(test->arena));
}

/* Keeps the case if it still fails. */
static bool offer(Shrinker *shrinker, Case *test) {
  if (test->module->entries[ENTRY_TRAIN]->outputs.count == 0) return false;
  drop_unused(test);
  if (!shrinker->still_fails(shrinker->context, test)) return false;
  shrinker->best = test;
  return true;
}

/* ---- moves ---- */

static bool forget_metrics(Shrinker *shrinker) {
  Case *test = case_copy(shrinker->arena, shrinker->best);
  Graph *train = test->module->entries[ENTRY_TRAIN];
  if (test->module->metrics.count == 0) return false;
  test->module->metrics.count = 0;
  test->module->entries[ENTRY_FINISH] = NULL;
  for (int i = train->outputs.count - 1; i >= 0; i--)
    if (train->outputs.items[i].kind == OUTPUT_ACCUMULATOR) drop_output(train, i);
  return offer(shrinker, test);
}

static bool forget_second_step(Shrinker *shrinker) {
  if (shrinker->best->steps == 1) return false;
  Case *test = case_copy(shrinker->arena, shrinker->best);
  test->steps = 1;
  return offer(shrinker, test);
}

static bool has_gradients(const Graph *graph) {
  for (int i = 0; i < graph->nodes.count; i++)
    if (graph->nodes.items[i]->op == OP_GRADIENT) return true;
  return false;
}

static bool forget_gradients(Shrinker *shrinker) {
  if (!has_gradients(shrinker->best->module->entries[ENTRY_TRAIN])) return false;
  Case *test = case_copy(shrinker->arena, shrinker->best);
  pass_find("differentiate")->run(test->module, diagnostics_create(shrinker->arena));
  return offer(shrinker, test);
}

static bool drop_outputs(Shrinker *shrinker) {
  bool progress = false;
  for (int i = shrinker->best->module->entries[ENTRY_TRAIN]->outputs.count - 1; i >= 0; i--) {
    Case *test = case_copy(shrinker->arena, shrinker->best);
    if (i >= test->module->entries[ENTRY_TRAIN]->outputs.count) continue;
    drop_output(test->module->entries[ENTRY_TRAIN], i);
    progress = offer(shrinker, test) || progress;
  }
  return progress;
}

/* Puts `by` (in the new graph) in the place of node number `number`. */
typedef Node *Replacement(Case *test, Graph *into, const Node *node, const NodeMap *map,
                          void *context);

static bool replace_node(Shrinker *shrinker, int number, Replacement *replacement, void *context) {
  Case *test = case_copy(shrinker->arena, shrinker->best);
  const Graph *graph = test->module->entries[ENTRY_TRAIN];
  Graph *into = graph_create(test->arena, graph->name);
  NodeMap map = node_map_create(test->arena, graph);
  for (int i = 0; i < graph->nodes.count; i++) {
    const Node *node = graph->nodes.items[i];
    Node *copy = i == number ? replacement(test, into, node, &map, context)
                             : graph_copy_node(into, node, &map);
    if (!copy) return false;
    node_map_set(&map, node, copy);
  }
  for (int i = 0; i < graph->outputs.count; i++) {
    Output output = graph->outputs.items[i];
    output.node = node_map_get(&map, output.node);
    graph_add_output(into, output);
  }
  test->module->entries[ENTRY_TRAIN] = into;
  return offer(shrinker, test);
}

static Node *as_input(Case *test, Graph *into, const Node *node, const NodeMap *map,
                      void *context) {
  (void)map;
  Tensor *value = context;
  const char *name = name_printf("cut%d", node->id);
  for (int i = 0; i < test->module->inputs.count; i++)
    if (test->module->inputs.items[i].name == name) name = name_printf("%s_", name);
  vec_push(test->arena, &test->module->inputs, ((InputInfo){.name = name, .type = node->type}));
  vec_push(test->arena, &test->inputs, value);
  Attribute attribute = attr_make_string(ATTR_NAME, name);
  return make_leaf(&(Maker){into, (Span){0}, name}, OP_INPUT, node->type, 1, &attribute);
}

static Node *as_operand(Case *test, Graph *into, const Node *node, const NodeMap *map,
                        void *context) {
  (void)test, (void)into;
  return node_map_get(map, node->operands[*(int *)context]);
}

/* Values in step 1 of all nodes that depend on no gradient; NULL of the others. */
static Numbers forward_values(Arena *arena, const Case *test) {
  const Module *module = test->module;
  const Graph *graph = module->entries[ENTRY_TRAIN];
  Numbers numbers = numbers_create(arena);
  numbers.standard = test->standard;
  Interpreter *interpreter = interpreter_create(arena, module, (uint64_t)module->run.seed);
  case_set_start(test, interpreter);
  Binding *bindings, *inputs = case_bind_inputs(arena, test);
  int count = interpreter_bind(interpreter, arena, test->inputs.count, inputs,
                               (RunTime){1, 0, test->steps, test->steps}, &bindings);
  EvaluateContext context = {.seed = (uint64_t)module->run.seed, .step = 1};
  numbers_make_room(&numbers, graph->next_id);
  for (int i = 0; i < graph->nodes.count; i++) {
    const Node *node = graph->nodes.items[i];
    bool known = node->op != OP_GRADIENT;
    for (int k = 0; k < node->operand_count; k++)
      known = known && numbers.values[node->operands[k]->id];
    if (known) numbers_compute(&numbers, node, find_binding(node, count, bindings), &context, NULL);
  }
  interpreter_destroy(interpreter);
  return numbers;
}

static bool cut_nodes(Shrinker *shrinker) {
  bool progress = false;
  for (int i = shrinker->best->module->entries[ENTRY_TRAIN]->nodes.count - 1; i >= 0; i--) {
    const Graph *graph = shrinker->best->module->entries[ENTRY_TRAIN];
    if (i >= graph->nodes.count || graph->nodes.items[i]->operand_count == 0) continue;
    const Node *node = graph->nodes.items[i];
    if (node->body) continue; /* its results can be cut */
    bool moved = false;
    for (int k = 0; k < node->operand_count && !moved; k++)
      moved = type_equal(node->operands[k]->type, node->type) &&
              replace_node(shrinker, i, as_operand, &k);
    Numbers numbers = moved ? (Numbers){0} : forward_values(shrinker->arena, shrinker->best);
    if (!moved && numbers.values[node->id])
      moved = replace_node(shrinker, i, as_input, numbers.values[node->id]);
    progress = progress || moved;
  }
  return progress;
}

/* ---- extents ---- */

typedef struct Extents {
  int64_t from, to;
} Extents;

static void replace_dims(Shape *shape, Extents extents) {
  for (int i = 0; i < shape->rank; i++)
    if (shape->dim[i] == extents.from) shape->dim[i] = extents.to;
}

/* The leading part of every axis. */
static Tensor *part_of(Arena *arena, const Tensor *tensor, Extents extents) {
  Type type = tensor->type;
  replace_dims(&type.shape, extents);
  Tensor *part = tensor_create(arena, type);
  int64_t stride[MAX_RANK], at[MAX_RANK] = {0};
  shape_strides(tensor->type.shape, stride);
  for (int64_t i = 0; i < shape_elements(type.shape); i++) {
    int64_t from = 0;
    for (int k = 0; k < type.shape.rank; k++) from += at[k] * stride[k];
    part->data[i] = tensor->data[from];
    for (int k = type.shape.rank - 1; k >= 0 && ++at[k] == type.shape.dim[k]; k--) at[k] = 0;
  }
  return part;
}

static Attribute *replace_attributes(Arena *arena, const Node *node, Extents extents) {
  Attribute *attributes =
      arena_copy(arena, node->attributes, sizeof(Attribute) * (size_t)node->attribute_count);
  for (int i = 0; i < node->attribute_count; i++) {
    Attribute *attribute = &attributes[i];
    if (attribute->key == ATTR_LENGTH && attribute->integer == extents.from)
      attribute->integer = extents.to;
    bool is_extent = attribute->key == ATTR_SHAPE || attribute->key == ATTR_STOP;
    if (!is_extent && attribute->key != ATTR_START) continue;
    attribute->ints =
        arena_copy(arena, attribute->ints, sizeof(int64_t) * (size_t)attribute->count);
    for (int k = 0; k < attribute->count; k++) {
      if (is_extent && attribute->ints[k] == extents.from) attribute->ints[k] = extents.to;
      if (attribute->key == ATTR_START && attribute->ints[k] == extents.from - 1)
        attribute->ints[k] = extents.to - 1;
    }
  }
  return attributes;
}

static Graph *replace_graph(Arena *arena, const Graph *graph, Extents extents) {
  Graph *into = graph_create(arena, graph->name);
  NodeMap map = node_map_create(arena, graph);
  for (int i = 0; i < graph->nodes.count; i++) {
    const Node *node = graph->nodes.items[i];
    Node copy = *node;
    copy.attributes = replace_attributes(arena, node, extents);
    copy.operands = ARENA_ARRAY(arena, Node *, node->operand_count + 1);
    for (int k = 0; k < node->operand_count; k++)
      copy.operands[k] = node_map_get(&map, node->operands[k]);
    const char *reason;
    if (node->operand_count == 0) replace_dims(&copy.type.shape, extents);
    if (node->body) copy.body = replace_graph(arena, node->body, extents);
    if (node->body && !copy.body) return NULL;
    if (!node_infer(arena, &copy, &copy.type, &reason)) return NULL;
    node_map_set(&map, node, graph_add(into, &copy));
  }
  for (int i = 0; i < graph->outputs.count; i++) {
    Output output = graph->outputs.items[i];
    output.node = node_map_get(&map, output.node);
    graph_add_output(into, output);
  }
  return into;
}

static int64_t count_elements(const Graph *graph) {
  int64_t count = 0;
  for (int i = 0; i < graph->nodes.count; i++)
    count += shape_elements(graph->nodes.items[i]->type.shape);
  return count;
}

static bool try_extent(Shrinker *shrinker, Extents extents) {
  Case *test = case_copy(shrinker->arena, shrinker->best);
  Module *module = test->module;
  for (int entry = 0; entry < ENTRY_COUNT; entry++) {
    if (!module->entries[entry]) continue;
    module->entries[entry] = replace_graph(test->arena, module->entries[entry], extents);
    if (!module->entries[entry]) return false;
  }
  if (count_elements(module->entries[ENTRY_TRAIN]) >=
      count_elements(shrinker->best->module->entries[ENTRY_TRAIN]))
    return false;
  for (int i = 0; i < module->inputs.count; i++) {
    replace_dims(&module->inputs.items[i].type.shape, extents);
    test->inputs.items[i] = part_of(test->arena, test->inputs.items[i], extents);
  }
  for (int i = 0; i < module->variables.count; i++) {
    replace_dims(&module->variables.items[i].type.shape, extents);
    test->start.items[i] = part_of(test->arena, test->start.items[i], extents);
  }
  return offer(shrinker, test);
}

static bool shrink_extents(Shrinker *shrinker) {
  bool progress = false;
  for (int64_t from = 150; from > 1; from--) {
    bool occurs = false;
    const Graph *graph = shrinker->best->module->entries[ENTRY_TRAIN];
    for (int i = 0; i < graph->nodes.count && !occurs; i++)
      for (int k = 0; k < graph->nodes.items[i]->type.shape.rank; k++)
        occurs = occurs || graph->nodes.items[i]->type.shape.dim[k] == from;
    static const int64_t smaller[] = {1, 2, 3, 5, 8, 16};
    for (int i = 0; i < 6 && occurs && smaller[i] < from; i++)
      if (try_extent(shrinker, (Extents){from, smaller[i]})) {
        progress = true;
        break;
      }
  }
  return progress;
}

Case *shrink_case(Arena *arena, const Case *test, StillFails *still_fails, void *context) {
  Shrinker shrinker = {
      .arena = arena, .still_fails = still_fails, .context = context, .best = test};
  typedef bool Move(Shrinker * shrinker);
  static Move *const moves[] = {forget_metrics, forget_second_step, forget_gradients,
                                drop_outputs,   cut_nodes,          shrink_extents};
  for (bool progress = true; progress;) {
    progress = false;
    for (size_t i = 0; i < sizeof moves / sizeof *moves; i++)
      progress = moves[i](&shrinker) || progress;
  }
  return case_copy(arena, shrinker.best);
}
