/* What each stage of lowering leaves, as text: --dump-after=STAGE. */
#include "graph/textual.h"
#include "program/print.h"
#include "program/stages.h"

void print_graph(Text *text, const Lowering *lowering) { graph_print(text, lowering->graph); }

/* ---- groups -------------------------------------------------------------------------------- */

static void print_node(Text *text, const Lowering *lowering, const Node *node) {
  const Place *place = &lowering->places[node->id];
  text_printf(text, " %%%d %s%s%s", node->id, node->path, place->is_kept ? " kept" : "",
              place->is_stored ? " stored" : "");
  for (int i = 0; place->layout && i < place->layout->rank; i++)
    text_printf(text, i == 0 ? " in order %d" : " %d", place->layout->axis[i]);
}

static void print_group(Text *text, const Lowering *lowering, const Group *group) {
  text_printf(text, "group %d phase %d over ", group->id, group->phase);
  text_add_shape(text, group->domain);
  if (group->has_inner) {
    text_add(text, " rows of ");
    text_add_shape(text, group->full);
  }
  text_add(text, group->scan ? " scan:" : group->template_node ? " template:" : ":");
  for (int i = 0; i < group->members.count; i++) {
    if (i > 0) text_add_char(text, ',');
    print_node(text, lowering, group->members.items[i]);
  }
  text_add_char(text, '\n');
}

void print_groups(Text *text, const Lowering *lowering) {
  static const char *const words[] = {[PLACE_LOAD] = "load", [PLACE_INLINE] = "inline"};
  for (int i = 0; i < lowering->graph->nodes.count; i++) {
    const Node *node = lowering->graph->nodes.items[i];
    PlaceKind kind = lowering->places[node->id].kind;
    if (kind != PLACE_LOAD && kind != PLACE_INLINE) continue;
    text_add(text, words[kind]);
    print_node(text, lowering, node);
    text_add_char(text, '\n');
  }
  for (int g = 0; g < lowering->groups.count; g++)
    if (!lowering->groups.items[g]->is_merged_away)
      print_group(text, lowering, lowering->groups.items[g]);
}

void print_kernels(Text *text, const Lowering *lowering) {
  for (int g = 0; g < lowering->groups.count; g++) {
    const Group *group = lowering->groups.items[g];
    if (group->is_merged_away) continue;
    print_group(text, lowering, group);
    for (int i = 0; i < group->built.kernel->operand_count; i++)
      text_printf(text, "  @%d %s %%%d\n", i,
                  group->built.kernel->operands[i].is_output ? "stores" : "reads",
                  group->built.nodes[i]->id);
    if (!group->scan) text_add(text, kernel_key(lowering->arena, group->built.kernel));
  }
}

/* ---- launches ------------------------------------------------------------------------------ */

static void print_launch(Text *text, const Lowering *lowering, int number) {
  const Launch *launch = &lowering->launches.items[number];
  text_printf(text, "launch %d phase %d", number, launch->phase);
  if (launch->loop >= 0) text_printf(text, " loop %d", launch->loop);
  if (launch->group < 0) text_printf(text, " copy #%d to #%d", launch->from, launch->to);
  else text_printf(text, " group %d", launch->group);
  for (int i = 0; launch->group >= 0; i++) {
    const BuiltKernel *built = &lowering->groups.items[launch->group]->built;
    if (i == built->kernel->operand_count) break;
    text_printf(text, "%s%s#%d", i > 0 ? ", " : " ",
                built->kernel->operands[i].is_output ? ">" : "",
                lowering->places[built->nodes[i]->id].buffer);
  }
  for (int i = 0; i < launch->before.count; i++)
    text_printf(text, "%s%d", i == 0 ? " after " : ", ", launch->before.items[i]);
  text_printf(text, "  %s\n", launch->node->path);
}

void print_launches(Text *text, const Lowering *lowering) {
  program_print_buffers(text, lowering->program);
  for (int i = 0; i < lowering->order.count; i++)
    print_launch(text, lowering, lowering->order.items[i]);
}

void print_steps(Text *text, const Lowering *lowering) {
  program_print_buffers(text, lowering->program);
  program_print_entry(text, lowering->program, lowering->entry);
}

void print_entry(Text *text, const Lowering *lowering) { print_steps(text, lowering); }

void print_program(Text *text, const Lowering *lowering) {
  program_print_whole(text, lowering->program);
}
