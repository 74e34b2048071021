/* From a group of nodes to its kernel: the members are anchored at their points, the operators'
 * rules give the expressions, and what is read elsewhere is stored. */
#include "program/group.h"
#include "program/place.h"
#include "program/scan.h"
#include "program/stages.h"

#include "ops/op.h"
#include "support/panic.h"

typedef struct GroupHost {
  Lowering *lowering;
  Group *group;
} GroupHost;

static void note_computed(GroupHost *host, const Node *node) {
  for (int i = host->group->computed.count - 1; i >= 0; i--)
    if (host->group->computed.items[i] == node) return;
  vec_push(host->lowering->arena, &host->group->computed, node);
}

static bool is_computed(void *context, const Node *node) {
  GroupHost *host = context;
  const Place *place = &host->lowering->places[node->id];
  bool is_own = place->kind == PLACE_GROUP && place->group == host->group->id;
  if (place->kind != PLACE_INLINE && !is_own && !place->is_shared) return false;
  note_computed(host, node);
  return true;
}

static const Layout *layout_of(void *context, const Node *node) {
  return ((GroupHost *)context)->lowering->places[node->id].layout;
}

static void run_rule(KernelBuilder *builder, const Node *node) {
  op_info(node->op)->class->lower(builder, node);
}

static bool is_inner_member(const Group *group, const Node *node) {
  return group->has_inner && !shape_equal(node->type.shape, group->domain);
}

/* The point of a member: domain axes, and inner ones numbered after them. */
static void member_point(Arena *arena, const Group *group, const Node *node, Index **at) {
  bool is_inner = is_inner_member(group, node);
  int kept = 0, inner = group->domain.rank;
  for (int i = 0; i < node->type.shape.rank; i++)
    at[i] = index_axis(arena, is_inner && group->reduced >> i & 1 ? inner++ : kept++);
}

static void store_members(Lowering *lowering, Group *group, KernelBuilder *builder, bool inner) {
  int64_t extents[MAX_RANK];
  int count = 0;
  for (int i = 0; inner && i < group->full.rank; i++)
    if (group->reduced >> i & 1) extents[count++] = group->full.dim[i];
  builder_begin_stores(builder, count, extents);
  for (int i = 0; i < group->members.count; i++) {
    const Node *node = group->members.items[i];
    if (!lowering->places[node->id].is_stored || is_inner_member(group, node) != inner) continue;
    Index *at[MAX_RANK];
    member_point(lowering->arena, group, node, at);
    builder_store(builder, node, at);
  }
  builder_end_stores(builder);
}

/* Whether an operand does not lie row-major. */
static bool touches_layouts(const Lowering *lowering, const BuiltKernel *built) {
  for (int i = 0; i < built->kernel->operand_count; i++)
    if (lowering->places[built->nodes[i]->id].layout) return true;
  return false;
}

const char *group_build(Lowering *lowering, Group *group, const Node **blame) {
  Arena *arena = lowering->arena;
  if (group->scan) {
    scan_build(lowering, group);
    return NULL;
  }
  GroupHost *context = ARENA_NEW(arena, GroupHost);
  *context = (GroupHost){lowering, group};
  BuilderHost *host = ARENA_NEW(arena, BuilderHost);
  *host = (BuilderHost){context,   is_computed,         run_rule, lowering->program->target,
                        layout_of, lowering->keeps_rows};
  group->computed.count = 0;
  KernelBuilder *builder = builder_create(arena, host, group->domain.rank, group->domain.dim);
  for (int i = 0; i < group->members.count; i++) {
    Index *at[MAX_RANK];
    member_point(arena, group, group->members.items[i], at);
    builder_anchor(builder, group->members.items[i], at);
  }
  if (group->template_node) builder_template(builder, group->template_node);
  /* Rows last: what the loops read of a row may be updated in place then (gamma of a norm). */
  if (group->has_inner) store_members(lowering, group, builder, true);
  store_members(lowering, group, builder, false);
  const char *failure = builder_failure(builder, blame);
  if (failure != NULL) return failure;
  group->built = builder_finish(builder);
  if (touches_layouts(lowering, &group->built)) kernel_order_axes(arena, group->built.kernel);
  if (lowering->module->run.allows_tf32 && lowering->entry != ENTRY_INIT)
    kernel_allow_tf32(group->built.kernel);
  if (lowering->module->run.splits_products && lowering->entry != ENTRY_INIT)
    kernel_split_products(group->built.kernel);
  return NULL;
}

void group_build_surely(Lowering *lowering, Group *group) {
  for (;;) {
    const Node *blame;
    const char *failure = group_build(lowering, group, &blame);
    if (failure == NULL) return;
    Place *place = &lowering->places[blame->id];
    if (place->kind != PLACE_INLINE && !place->is_shared)
      panic("%s: the kernel of %s cannot be built: %s (%%%d %s)", lowering->graph->name,
            group->members.items[0]->path, failure, blame->id, op_info(blame->op)->name);
    if (place->kind == PLACE_INLINE) place_in_own_group(lowering, blame);
    place->is_shared = false; /* a constant that a template reads is in memory for all */
    place->is_stored = true;
  }
}

/* ---- what is stored ------------------------------------------------------------------------ */

/* Marks the nodes in other groups that `node`'s expression reads, through inline nodes. */
static void mark_read(Lowering *lowering, const Node *node, int group, int *seen) {
  if (seen[node->id] == group + 1) return;
  seen[node->id] = group + 1;
  Place *place = &lowering->places[node->id];
  if (place->is_shared || place->kind == PLACE_LOAD) return;
  if (place->kind == PLACE_GROUP && place->group != group) {
    place->is_stored = true;
    return;
  }
  for (int i = 0; i < node->operand_count; i++) mark_read(lowering, node->operands[i], group, seen);
}

static void mark_stored(Lowering *lowering) {
  int *seen = ARENA_ARRAY(lowering->arena, int, lowering->graph->next_id);
  for (int i = 0; i < lowering->graph->nodes.count; i++) {
    Place *place = &lowering->places[lowering->graph->nodes.items[i]->id];
    place->is_stored = place->is_kept && place->kind == PLACE_GROUP;
  }
  for (int i = 0; i < lowering->groups.count; i++) {
    const Group *group = lowering->groups.items[i];
    for (int k = 0; !group->is_merged_away && k < group->members.count; k++)
      mark_read(lowering, group->members.items[k], i, seen);
  }
}

void stage_build(Lowering *lowering) {
  mark_stored(lowering);
  for (int i = 0; i < lowering->groups.count; i++) /* more may come on the way */
    if (!lowering->groups.items[i]->is_merged_away)
      group_build_surely(lowering, lowering->groups.items[i]);
}

bool group_takes_few(const Lowering *lowering, const Node *node) {
  enum { MANY = 4 };
  if (op_info(node->op)->class->family != FAMILY_INDEXING || lowering->entry != ENTRY_TRAIN)
    return false;
  const Node *from = node->operands[0];
  while (op_info(from->op)->class->family == FAMILY_MOVEMENT && from->operand_count == 1)
    from = from->operands[0];
  return lowering->places[from->id].kind == PLACE_GROUP &&
         MANY * shape_elements(node->type.shape) <= shape_elements(from->type.shape);
}
