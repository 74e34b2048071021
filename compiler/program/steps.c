/* Single steps: kernels shared by structure, operands bound to buffers, costs. */
#include "program/steps.h"
#include "program/variants.h"

#include <stdlib.h>
#include <string.h>
#include "kernel/block.h"
#include "kernel/class.h"
#include "ops/op.h"
#include "program/buffers.h"
#include "support/hash.h"
#include "support/panic.h"

static const char *const family_name[] = {
    [FAMILY_LEAF] = "constant",           [FAMILY_ELEMENTWISE] = "elementwise",
    [FAMILY_REDUCTION] = "reduction",     [FAMILY_MOVEMENT] = "movement",
    [FAMILY_CONTRACTION] = "contraction", [FAMILY_CONVOLUTION] = "convolution",
    [FAMILY_POOLING] = "pooling",         [FAMILY_INDEXING] = "indexing",
    [FAMILY_RANDOM] = "random",           [FAMILY_SPECIAL] = "special",
    [FAMILY_EXTERN] = "extern",           [FAMILY_ATTENTION] = "attention",
};

/* How characteristic a family is of a kernel that computes several nodes; the greatest names
 * it. */
static const int family_weight[] = {
    [FAMILY_LEAF] = 0,        [FAMILY_MOVEMENT] = 1,    [FAMILY_ELEMENTWISE] = 2,
    [FAMILY_RANDOM] = 3,      [FAMILY_INDEXING] = 4,    [FAMILY_REDUCTION] = 5,
    [FAMILY_POOLING] = 6,     [FAMILY_SPECIAL] = 6,     [FAMILY_EXTERN] = 7,
    [FAMILY_CONTRACTION] = 7, [FAMILY_CONVOLUTION] = 7, [FAMILY_ATTENTION] = 7,
};

static OpFamily node_family(const Node *node) { return op_info(node->op)->class->family; }

/* The computed node that stands for the kernel in names and reports. */
static const Node *main_node(const Group *group) {
  const Node *named = group->template_node ? group->template_node : group->members.items[0];
  for (int i = 0; i < group->computed.count; i++) {
    const Node *node = group->computed.items[i];
    if (family_weight[node_family(node)] > family_weight[node_family(named)]) named = node;
  }
  return named;
}

/* ---- names --------------------------------------------------------------------------------- */

static const char *identifier(Arena *arena, const char *path) {
  char *name = arena_strdup(arena, *path ? path : "value");
  for (char *c = name; *c; c++) {
    bool is_letter = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || *c == '_';
    if (!is_letter && !(*c >= '0' && *c <= '9')) *c = '_';
  }
  return *name >= '0' && *name <= '9' ? arena_printf(arena, "v%s", name) : name;
}

static bool operand_name_is_taken(const Kernel *kernel, int count, const char *name) {
  for (int i = 0; i < count; i++)
    if (strcmp(kernel->operands[i].name, name) == 0) return true;
  return false;
}

static void name_operands(Arena *arena, Kernel *kernel, const BuiltKernel *built) {
  for (int i = 0; i < kernel->operand_count; i++) {
    const char *base = identifier(arena, built->nodes[i]->path), *name = base;
    for (int k = 2; operand_name_is_taken(kernel, i, name); k++)
      name = arena_printf(arena, "%s_%d", base, k);
    kernel->operands[i].name = name;
  }
}

static bool kernel_name_is_taken(const Program *program, const char *name) {
  for (int i = 0; i < program->kernels.count; i++)
    if (strcmp(program->kernels.items[i]->name, name) == 0) return true;
  return false;
}

static const char *kernel_new_name(const Program *program, const Node *node, EntryKind entry) {
  const char *base = identifier(program->arena, node->path);
  if (entry != ENTRY_TRAIN) base = arena_printf(program->arena, "%s_%s", entry_name(entry), base);
  const char *name = base;
  for (int k = 2; kernel_name_is_taken(program, name); k++)
    name = arena_printf(program->arena, "%s_%d", base, k);
  return name;
}

/* Whether a node's value is that of its operand but for its shape, or repeats it. */
static bool is_same_value(const Node *node) {
  const OpClass *class = op_info(node->op)->class;
  return class->keeps_order ||
         (class->moves_values &&
          shape_elements(node->type.shape) > shape_elements(node->operands[0]->type.shape));
}

/* How tight a sign binds; 0: the operator is written as a function. */
static int sign_binds(const Node *node) {
  const char *sign = op_sign(node->op);
  return sign == NULL ? 0 : strchr("*/", *sign) ? 3 : strchr("+-", *sign) ? 2 : 1;
}

typedef struct Description {
  const Lowering *lowering;
  const Group *group;
  Text text;
  size_t most; /* from that length on what is computed here is left out */
} Description;

static void describe_node(Description *to, const Node *node, int binds);

/* "a + b * c", in brackets where what is around it binds tighter. */
static void describe_sign(Description *to, const Node *node, int around) {
  int binds = sign_binds(node);
  if (binds < around) text_add_char(&to->text, '(');
  describe_node(to, node->operands[0], binds);
  text_printf(&to->text, " %s ", op_sign(node->op));
  describe_node(to, node->operands[1], binds + 1);
  if (binds < around) text_add_char(&to->text, ')');
}

/* An operator on its operands. */
static void describe_operator(Description *to, const Node *node, int around) {
  if (is_same_value(node)) {
    describe_node(to, node->operands[0], around);
    return;
  }
  if (sign_binds(node) > 0) {
    describe_sign(to, node, around);
    return;
  }
  text_printf(&to->text, "%s(", op_info(node->op)->name);
  for (int i = 0; i < node->operand_count; i++) {
    if (i > 0) text_add(&to->text, ", ");
    describe_node(to, node->operands[i], 0);
  }
  text_add_char(&to->text, ')');
}

/* A value by its name, or as it is computed here. */
static void describe_node(Description *to, const Node *node, int around) {
  const Place *place = &to->lowering->places[node->id];
  bool is_computed = place->kind == PLACE_INLINE || place->is_shared ||
                     (place->kind == PLACE_GROUP && place->group == to->group->id);
  if (node->op == OP_CONSTANT) text_printf(&to->text, "%g", node_float(node, ATTR_VALUE));
  else if (node->op == OP_SCALAR) text_add(&to->text, node_string(node, ATTR_NAME));
  else if (!is_computed) text_add(&to->text, *node->path ? node->path : "value");
  else if (to->text.length > to->most) text_add(&to->text, "...");
  else describe_operator(to, node, around);
}

/* "h1.y = contract(x, h1.w) + h1.b; ..., mnist.net:13" */
static const char *kernel_new_comment(const Lowering *lowering, const Group *group) {
  enum { LONG_VALUE = 120, LONG_COMMENT = 300 };
  Description to = {lowering, group, {0}, 0};
  Text *text = &to.text;
  size_t last = 0; /* where the last value's description begins */
  for (int i = 0; i < group->members.count; i++) {
    const Node *node = group->members.items[i];
    if (!lowering->places[node->id].is_stored) continue;
    if (text->length > LONG_COMMENT) {
      text_add(text, "; ...");
      break;
    }
    size_t begin = text->length;
    if (begin > 0) text_add(text, "; ");
    to.most = begin + LONG_VALUE;
    if (*node->path) text_printf(text, "%s = ", node->path);
    describe_node(&to, node, 0);
    size_t length = begin > 0 ? text->length - begin - 2 : 0;
    if (begin > 0 && length == begin - last &&
        strncmp(text->data + begin + 2, text->data + last, length) == 0) {
      text->length = begin; /* another variable that begins alike */
      text->data[begin] = 0;
    } else {
      last = begin > 0 ? begin + 2 : 0;
    }
  }
  Span span = main_node(group)->span;
  if (span.file && span.line > 0) text_printf(text, ", %s:%d", span.file->name, span.line);
  const char *comment = arena_strndup(lowering->program->arena, text->data, text->length);
  text_free(text);
  return comment;
}

/* ---- steps --------------------------------------------------------------------------------- */

/* The kernel's number; a new one unless an equal one is there. Sets its variant. */
static int kernel_share(Lowering *lowering, const Group *group, Kernel *kernel) {
  Program *program = lowering->program;
  Arena *scratch = arena_create();
  const char *key = kernel_key(scratch, kernel);
  int found = -1;
  for (int i = 0; i < program->kernels.count && found < 0; i++)
    if (strcmp(program->kernel_keys.items[i], key) == 0) found = i;
  if (found < 0) {
    kernel->variant = variants_find(lowering->variants, program->target, kernel, key);
    kernel->name = kernel_new_name(program, main_node(group), lowering->entry);
    kernel->comment = kernel_new_comment(lowering, group);
    vec_push(program->arena, &program->kernel_keys, arena_strdup(program->arena, key));
    vec_push(program->arena, &program->kernels, kernel);
    found = program->kernels.count - 1;
    const char *wrong = kernel_verify(scratch, kernel);
    if (wrong) {
      Text text = {0};
      kernel_print(&text, kernel);
      panic("kernel %s: %s\n%s", kernel->name, wrong, text.data);
    }
  }
  kernel->variant = program->kernels.items[found]->variant;
  arena_destroy(scratch);
  return found;
}

static int scalar_number(Program *program, const char *name) {
  for (int i = 0; i < program->scalar_names.count; i++)
    if (program->scalar_names.items[i] == name) return i;
  vec_push(program->arena, &program->scalar_names, name);
  return program->scalar_names.count - 1;
}

static int *operand_buffers(const Lowering *lowering, const BuiltKernel *built) {
  int *buffers = ARENA_ARRAY(lowering->arena, int, built->kernel->operand_count);
  for (int i = 0; i < built->kernel->operand_count; i++) {
    buffers[i] = lowering->places[built->nodes[i]->id].buffer;
    CHECK(buffers[i] >= 0);
    if (built->starts[i] > 0)
      buffers[i] = buffer_view(lowering->program, buffers[i], built->starts[i],
                               built->kernel->operands[i].elements);
  }
  return buffers;
}

/* An output in the memory of an operand is one operand with it. */
static void unify_in_place(Lowering *lowering, BuiltKernel *built, int *buffers) {
  Kernel *kernel = built->kernel;
  for (int out = 0; out < kernel->operand_count; out++) {
    if (!kernel->operands[out].is_output) continue;
    for (int in = 0; in < kernel->operand_count; in++) {
      if (in == out || kernel->operands[in].is_output ||
          buffer_root(lowering->program, buffers[in]) !=
              buffer_root(lowering->program, buffers[out]) ||
          buffers_are_apart(lowering->program, buffers[in], buffers[out]))
        continue;
      CHECK(kernel_can_unify(kernel, in, out));
      kernel_unify(lowering->program->arena, kernel, in, out);
      buffers[in] = buffers[out];
      built->nodes[in] = built->nodes[out];
      for (int i = out; i < kernel->operand_count; i++) {
        buffers[i] = buffers[i + 1];
        built->nodes[i] = built->nodes[i + 1];
      }
      out--;
      break;
    }
  }
}

/* What differs by the part of a buffer that it reads is one kernel. */
static void trim_operands(Program *program, Kernel *kernel, int *buffers) {
  int64_t *first = ARENA_ARRAY(program->arena, int64_t, kernel->operand_count);
  kernel_trim_operands(program->arena, kernel, first);
  for (int i = 0; i < kernel->operand_count; i++)
    buffers[i] = buffer_view(program, buffers[i], first[i], kernel->operands[i].elements);
}

/* The main node's operator and how many more the kernel computes. */
static const char *operator_name(Arena *arena, const Group *group) {
  const Node *named = main_node(group);
  int fused = 0;
  for (int i = 0; i < group->computed.count; i++) {
    const Node *node = group->computed.items[i];
    fused +=
        node != named && node_family(node) != FAMILY_LEAF && node_family(node) != FAMILY_MOVEMENT;
  }
  const char *name = op_info(named->op)->name;
  return fused > 0 ? arena_printf(arena, "%s+%d", name, fused) : name;
}

static int compare_nodes(const void *a, const void *b) {
  const Node *first = *(const Node *const *)a, *second = *(const Node *const *)b;
  return (first->id > second->id) - (first->id < second->id);
}

enum { MOST_NODES = 24 }; /* that are told */

/* The operators that the kernel computes with their lines, in the order in which each can be computed:
 * where one of them makes a number that is not finite, this is where to look. */
static const char *node_lines(Arena *arena, const Group *group) {
  int count = group->computed.count, told = 0, line = -1;
  const Node **nodes = ARENA_ARRAY(arena, const Node *, count);
  Text text = {0};
  for (int i = 0; i < count; i++) nodes[i] = group->computed.items[i];
  qsort(nodes, (size_t)count, sizeof(const Node *), compare_nodes);
  for (int i = 0; i < count && told < MOST_NODES; i++) {
    const Node *node = nodes[i];
    bool is_work = node_family(node) != FAMILY_LEAF && node_family(node) != FAMILY_MOVEMENT;
    if (!is_work && count > 1) continue;
    if (node->span.line != line) text_printf(&text, "%s%d", told ? ", " : "", node->span.line);
    text_printf(&text, " %s", op_info(node->op)->name);
    line = node->span.line;
    told++;
  }
  const char *lines = arena_strndup(arena, text.data ? text.data : "", text.length);
  text_free(&text);
  return lines;
}

static bool is_product(const Node *node) {
  OpFamily family = node_family(node);
  return family == FAMILY_CONTRACTION || family == FAMILY_CONVOLUTION || family == FAMILY_ATTENTION;
}

static void launch_costs(const Group *group, const Kernel *kernel, double rounds, Step *step) {
  for (int i = 0; i < group->computed.count; i++) {
    const Node *node = group->computed.items[i];
    double flops = rounds * node_cost(node).flops;
    step->flops += flops;
    if (is_product(node)) step->product_flops += flops;
  }
  for (int i = 0; i < kernel->operand_count; i++) {
    int64_t parts = step->block_bytes && step->block_bytes[i] > 0 ? step->task_count : 1;
    step->bytes += rounds * (double)(parts * kernel->operands[i].elements *
                                     dtype_size(kernel->operands[i].dtype));
  }
}

/* The kernel of one block of the launch's loop; by operand the bytes from block to block. */
static int64_t *cut_kernel(const Lowering *lowering, const Launch *launch, Kernel *kernel) {
  Program *program = lowering->program;
  const ProgramEntry *entry = &program->entries[lowering->entry];
  BlockCut cut = {entry->loops.items[launch->loop].blocks, entry->batch};
  bool *parts = ARENA_ARRAY(lowering->arena, bool, kernel->operand_count);
  CHECK(kernel_can_block(kernel, cut, parts));
  kernel_block(program->arena, kernel, cut, parts);
  int64_t *bytes = ARENA_ARRAY(program->arena, int64_t, kernel->operand_count);
  for (int i = 0; i < kernel->operand_count; i++)
    if (parts[i]) bytes[i] = kernel->operands[i].elements * dtype_size(kernel->operands[i].dtype);
  return bytes;
}

/* Notes the step that comes next as one of its loop. */
static void extend_loop(ProgramEntry *entry, int loop) {
  TaskLoop *own = &entry->loops.items[loop];
  if (own->first_step < 0) own->first_step = entry->steps.count;
  CHECK(own->last_step < 0 || own->last_step == entry->steps.count - 1);
  own->last_step = entry->steps.count;
}

/* Whether the buffer is a parameter, which the entry leaves as it is. */
static bool is_constant(const Lowering *lowering, int buffer) {
  const Program *program = lowering->program;
  const Buffer *own = &program->buffers.items[buffer];
  if (own->kind != BUFFER_VARIABLE || own->view_of >= 0) return false;
  for (int i = 0; i < lowering->graph->outputs.count; i++)
    if (lowering->graph->outputs.items[i].kind == OUTPUT_STORE &&
        lowering->graph->outputs.items[i].name == own->name)
      return false;
  return program->module->variables.items[buffer].kind == VARIABLE_PARAM;
}

/* The buffer for weights that the kernel packs once and keeps; -1: it reads them where they are. All blocks of a task
 * loop read the same. In a batch most kernels are evaluation's, so one of its own must be worth it. */
static int keep_weights(const Lowering *lowering, const int64_t *block_bytes, Kernel *kernel,
                        const int *buffers) {
  enum { WEIGHTS = 1 };
  Program *program = lowering->program;
  if (!lowering->keeps_weights || lowering->scan >= 0 ||
      kernel_template_operands(kernel) <= WEIGHTS || !is_constant(lowering, buffers[WEIGHTS]) ||
      (kernel->feeder && !is_constant(lowering, buffers[kernel->feed[WEIGHTS]])) ||
      (block_bytes && block_bytes[WEIGHTS] > 0))
    return -1;
  if (lowering->entry == ENTRY_PREDICT_BATCH && !target_packs_weights(program->target, kernel))
    return -1;
  kernel->keeps_weights = true;
  int64_t bytes = target_kept_bytes(program->target, kernel);
  kernel->keeps_weights = bytes > 0;
  CHECK(bytes > 0 || !kernel->feeder);
  if (bytes == 0) return -1;
  const Buffer *weights = &program->buffers.items[buffers[WEIGHTS]];
  int kept = buffer_add(program, BUFFER_KEPT, weights->type, weights->name, lowering->entry);
  program->buffers.items[kept].bytes = bytes;
  return kept;
}

void launch_step_add(Lowering *lowering, const Launch *launch) {
  Program *program = lowering->program;
  ProgramEntry *entry = &program->entries[lowering->entry];
  Group *group = lowering->groups.items[launch->group];
  BuiltKernel *built = &group->built;
  int *buffers = operand_buffers(lowering, built);
  unify_in_place(lowering, built, buffers);
  int64_t *block_bytes = NULL;
  int64_t blocks = 1;
  if (launch->loop >= 0) {
    extend_loop(entry, launch->loop);
    block_bytes = cut_kernel(lowering, launch, built->kernel);
    blocks = entry->loops.items[launch->loop].blocks;
  }
  kernel_collapse(program->arena, built->kernel);
  if (program->target->parts_turned_rows) kernel_part_turned_rows(built->kernel);
  if (lowering->level > 0 && launch->loop < 0) trim_operands(program, built->kernel, buffers);
  if (lowering->level > 0) kernel_multiply_by_reciprocals(program->arena, built->kernel);
  name_operands(program->arena, built->kernel, built);
  Kernel *kernel = built->kernel;
  const Node *named = main_node(group);
  int kept = keep_weights(lowering, block_bytes, kernel, buffers);
  int number = kernel_share(lowering, group, kernel);
  Step step = {
      .kind = STEP_LAUNCH,
      .kept = kept,
      .kernel = number,
      .operand_count = kernel->operand_count,
      .operands =
          arena_copy(program->arena, buffers, sizeof *buffers * (size_t)kernel->operand_count),
      .scalar_count = kernel->scalar_count,
      .scalars = ARENA_ARRAY(program->arena, int, kernel->scalar_count),
      .key_count = kernel->key_count,
      .keys = ARENA_ARRAY(program->arena, uint64_t, kernel->key_count),
      .task_count = launch->loop >= 0 ? blocks : target_task_count(program->target, kernel),
      .loop = launch->loop,
      .scan = lowering->scan,
      .block_bytes = block_bytes,
      .path = named->path,
      .class_name = family_name[node_family(named)],
      .operator_name = operator_name(program->arena, group),
      .nodes = node_lines(program->arena, group),
      .span = named->span};
  for (int i = 0; i < kernel->scalar_count; i++)
    step.scalars[i] = scalar_number(program, built->scalars[i]);
  for (int i = 0; i < kernel->key_count; i++) step.keys[i] = hash_text(built->keys[i]);
  launch_costs(group, kernel, lowering->rounds, &step);
  vec_push(program->arena, &entry->steps, step);
}

void copy_step_add(Lowering *lowering, const Node *node, int from, int to) {
  Program *program = lowering->program;
  Step step = {.kind = STEP_COPY,
               .kernel = -1,
               .kept = -1,
               .copy_from = from,
               .copy_to = to,
               .task_count = 1,
               .loop = -1,
               .scan = lowering->scan,
               .bytes =
                   2 * lowering->rounds * (double)type_bytes(program->buffers.items[from].type),
               .path = node->path,
               .class_name = "copy",
               .operator_name = "copy",
               .span = node->span};
  vec_push(program->arena, &program->entries[lowering->entry].steps, step);
}
