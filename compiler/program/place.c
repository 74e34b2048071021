/* Where the value of each node comes from: memory, a kernel of its own, or any kernel that needs
 * it.
 *
 * What form an operator takes (an expression, a reduction, a template) is learned from its rule by
 * running it once with all operands loaded; nothing here names an operator. */
#include "program/place.h"
#include "program/scan.h"
#include "program/stages.h"

#include "ops/op.h"
#include "ops/window.h"
#include "support/panic.h"

static bool nothing_is_computed(void *context, const Node *node) { return node == context; }

static void run_rule(KernelBuilder *builder, const Node *node) {
  const OpClass *class = op_info(node->op)->class;
  if (class->lower == NULL) panic("%s (%s) cannot be lowered", op_info(node->op)->name, node->path);
  class->lower(builder, node);
}

static NodeForm node_form(const Lowering *lowering, const Node *node, double *reads) {
  Arena *scratch = arena_create();
  BuilderHost host = {.context = (void *)node,
                      .is_computed = nothing_is_computed,
                      .lower = run_rule,
                      .target = lowering->program->target,
                      .keeps_weights = lowering->keeps_rows};
  KernelBuilder *builder =
      builder_create(scratch, &host, node->type.shape.rank, node->type.shape.dim);
  NodeForm form = builder_probe(builder, node) ? FORM_TEMPLATE : FORM_MAP;
  const Kernel *kernel = builder_finish(builder).kernel;
  if (form == FORM_MAP && kernel->stage_count > 0) form = FORM_REDUCE;
  *reads = (double)shape_elements(node->type.shape);
  for (int i = 0; form == FORM_REDUCE && i < kernel->stages[0].axis_count; i++)
    *reads *= (double)kernel->stages[0].extent[i];
  arena_destroy(scratch);
  return form;
}

Group *place_in_own_group(Lowering *lowering, const Node *node) {
  Place *place = &lowering->places[node->id];
  Group *group = ARENA_NEW(lowering->arena, Group);
  group->id = lowering->groups.count;
  group->phase = lowering->phases[node->id];
  group->domain = node->type.shape;
  if (place->form == FORM_TEMPLATE) group->template_node = node;
  vec_push(lowering->arena, &group->members, node);
  vec_push(lowering->arena, &lowering->groups, group);
  place->kind = PLACE_GROUP;
  place->group = group->id;
  return group;
}

/* A node cannot be computed before its operands, so a pass marks only where a phase begins. */
static void find_phase(Lowering *lowering, const Node *node) {
  const Attribute *own = node_attribute(node, ATTR_PHASE);
  int phase = own ? (int)own->integer : 0;
  for (int i = 0; i < node->operand_count; i++)
    if (lowering->phases[node->operands[i]->id] > phase)
      phase = lowering->phases[node->operands[i]->id];
  lowering->phases[node->id] = phase;
}

static void place_scan(Lowering *lowering, const Node *node) {
  lowering->places[node->id].form = FORM_SCAN;
  place_in_own_group(lowering, node)->scan = node;
}

static void place_scan_result(Lowering *lowering, const Node *node) {
  Place *place = &lowering->places[node->id];
  place->kind = PLACE_GROUP;
  place->form = FORM_SCAN;
  place->group = lowering->places[node->operands[0]->id].group;
  vec_push(lowering->arena, &lowering->groups.items[place->group]->members, node);
}

static void place_node(Lowering *lowering, const Node *node) {
  Place *place = &lowering->places[node->id];
  LeafKind leaf = op_info(node->op)->class->leaf;
  place->buffer = -1;
  if (!lowering->live[node->id]) return;
  if (node->body) {
    place_scan(lowering, node);
    return;
  }
  if (node_is_scan_result(node)) {
    place_scan_result(lowering, node);
    return;
  }
  if (leaf == LEAF_INPUT || leaf == LEAF_PARAM || leaf == LEAF_STATE || leaf == LEAF_ARGUMENT) {
    place->kind = PLACE_LOAD;
    return;
  }
  place->form = node_form(lowering, node, &place->reads);
  place->is_shared = (leaf == LEAF_SCALAR || leaf == LEAF_CONSTANT) && !place->is_looped;
  /* A reshape is only another way to count, so even -O0 reads through it. */
  bool keeps_order = op_info(node->op)->class->keeps_order;
  bool has_kernel = place->is_kept || place->is_copy;
  if (!has_kernel && (place->is_shared || keeps_order)) place->kind = PLACE_INLINE;
  else place_in_own_group(lowering, node);
}

/* A reshape to the same shape that a convolution reads is a copy for it (ops/conv_copies.c): row-major, but where its channels
 * had better lie last. */
static void keep_copies(Lowering *lowering) {
  for (int i = 0; i < lowering->graph->nodes.count; i++) {
    const Node *node = lowering->graph->nodes.items[i];
    bool is_seen = op_info(node->op)->class->family == FAMILY_CONVOLUTION;
    for (int k = 0; is_seen && k < node->operand_count; k++) {
      const Node *operand = node->operands[k];
      if (!op_info(operand->op)->class->keeps_order ||
          !shape_equal(operand->type.shape, operand->operands[0]->type.shape))
        continue;
      Place *place = &lowering->places[operand->id];
      if (conv_keeps_channels_last(lowering->program->target, node)) place->is_copy = true;
      else place->is_kept = true;
    }
  }
}

void stage_place(Lowering *lowering) {
  const Graph *graph = lowering->graph;
  lowering->live = graph_live_nodes(lowering->arena, graph);
  lowering->uses = graph_use_counts(lowering->arena, graph);
  lowering->phases = ARENA_ARRAY(lowering->arena, int, graph->next_id);
  lowering->places = ARENA_ARRAY(lowering->arena, Place, graph->next_id);
  lowering->node_of = ARENA_ARRAY(lowering->arena, const Node *, graph->next_id);
  for (int i = 0; i < graph->outputs.count; i++)
    lowering->places[graph->outputs.items[i].node->id].is_kept = true;
  scans_keep_operands(lowering);
  keep_copies(lowering);
  for (int i = 0; i < graph->nodes.count; i++) {
    lowering->node_of[graph->nodes.items[i]->id] = graph->nodes.items[i];
    find_phase(lowering, graph->nodes.items[i]);
    place_node(lowering, graph->nodes.items[i]);
  }
}
