/* Which parameters are updated where their gradient is computed, and why the others are not: it is read off the steps
 * as planned, from what the update reads and who wrote that. */
#include "program/updates.h"

#include <string.h>
#include "ops/op.h"
#include "program/buffers.h"

static bool step_stores(const Program *program, const Step *step, int buffer) {
  if (step->kind == STEP_COPY) return step->copy_to == buffer;
  if (step->kind != STEP_LAUNCH) return false;
  const Kernel *kernel = program->kernels.items[step->kernel];
  for (int i = 0; i < step->operand_count; i++)
    if (step->operands[i] == buffer && kernel->operands[i].is_output) return true;
  return false;
}

/* A launch that computes a contraction or convolution, by a template or by a loop. */
static bool is_product(const Program *program, const Step *step) {
  return step->kind == STEP_LAUNCH && (kernel_is_template(program->kernels.items[step->kernel]) ||
                                       strcmp(step->class_name, "contraction") == 0 ||
                                       strcmp(step->class_name, "convolution") == 0);
}

/* The last step before the update that writes the buffer; NULL: none does. */
static const Step *find_writer(const Program *program, int update, int buffer) {
  const ProgramEntry *entry = &program->entries[ENTRY_TRAIN];
  for (int s = update - 1; s >= 0; s--)
    if (step_stores(program, &entry->steps.items[s], buffer)) return &entry->steps.items[s];
  return NULL;
}

/* Why a gradient that is a product is not updated where it is computed, by what the update reads. */
static const char *product_note(const Program *program, int update, int64_t elements) {
  const Step *step = &program->entries[ENTRY_TRAIN].steps.items[update];
  const Kernel *kernel = program->kernels.items[step->kernel];
  bool has_number = false, has_parts = false, has_blocks = false;
  int wholes = 0;
  for (int i = 0; i < step->operand_count; i++) {
    const Buffer *buffer = &program->buffers.items[step->operands[i]];
    bool is_computed = buffer->kind == BUFFER_ACTIVATION || buffer->kind == BUFFER_WORKER;
    const Step *writer = kernel->operands[i].is_output || !is_computed
                             ? NULL
                             : find_writer(program, update, step->operands[i]);
    if (!writer) continue;
    bool is_parts = is_product(program, writer) && shape_elements(buffer->type.shape) > elements;
    has_number = has_number || (shape_elements(buffer->type.shape) == 1 && elements > 1);
    has_parts = has_parts || is_parts;
    has_blocks = has_blocks || (is_parts && writer->loop >= 0);
    wholes += shape_elements(buffer->type.shape) == elements;
  }
  if (has_number) return "a number of whole gradients is needed first, as their norm (clip)";
  if (has_blocks)
    return "blocks of a task loop compute parts of the gradient, which are added up first";
  if (has_parts) return "tasks compute parts of the gradient, which are added up first";
  if (wholes > 1) return "the gradient has several contributions";
  return "another kernel computes the gradient";
}

/* True when some contraction or convolution of the entry gives a tensor of the variable's type. */
static bool has_matrix_gradient(const Program *program, const Buffer *buffer) {
  const Graph *graph = program->module->entries[ENTRY_TRAIN];
  for (int i = 0; i < graph->nodes.count; i++) {
    const Node *node = graph->nodes.items[i];
    OpFamily family = op_info(node->op)->class->family;
    if ((family == FAMILY_CONTRACTION || family == FAMILY_CONVOLUTION) &&
        type_equal(node->type, buffer->type) && strstr(node->path, ".grad"))
      return true;
  }
  return false;
}

/* Of the step with number `update`, which stores the parameter; NULL: it computes the gradient as well. */
static const char *find_reason(const Program *program, int update, const Buffer *parameter) {
  const Step *step = &program->entries[ENTRY_TRAIN].steps.items[update];
  if (step->kind != STEP_LAUNCH)
    return "copied at the end, since the old value is read after the new is known";
  if (is_product(program, step)) return NULL;
  return has_matrix_gradient(program, parameter)
             ? product_note(program, update, shape_elements(parameter->type.shape))
             : "the gradient is no contraction or convolution";
}

UpdateList updates_find(Arena *arena, const Program *program) {
  UpdateList list = {0};
  const ProgramEntry *entry = &program->entries[ENTRY_TRAIN];
  for (int b = 0; b < program->buffers.count && entry->present; b++) {
    const Buffer *buffer = &program->buffers.items[b];
    if (buffer->kind != BUFFER_VARIABLE ||
        program->module->variables.items[b].kind != VARIABLE_PARAM)
      continue;
    for (int s = 0; s < entry->steps.count; s++) {
      if (!step_stores(program, &entry->steps.items[s], b)) continue;
      Update update = {.variable = buffer->name, .reason = find_reason(program, s, buffer)};
      vec_push(arena, &list, update);
    }
  }
  return list;
}
