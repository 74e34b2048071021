/* The verifier: tells whether a module obeys every rule that the rest of the compiler relies on.
 *
 * It goes through the module once: variables and inputs, then each entry's nodes in order (so that
 * operands must precede users), then its outputs.  What an entry may read and give is two tables
 * of masks. The first violation is described in a sentence that names the entry, the node and the
 * rule.
 *
 * It must survive any damage: a dump may hold anything, so nothing is trusted before it was
 * checked. */
#include "ops/verify.h"

#include <string.h>

#include "graph/dump_words.h"
#include "ops/op.h"
#include "support/names.h"
#include "support/table.h"

typedef struct Check {
  Arena *arena;
  const Module *module;
  PointerTable variables, inputs;                       /* indices in the module's tables */
  PointerTable outputs[ENTRY_COUNT][OUTPUT_KIND_COUNT]; /* indices in the entry's outputs */
  EntryKind kind;
  const Graph *graph;
  const Node **by_id;   /* nodes seen so far, by id */
  int depth;            /* of bodies in bodies */
  int64_t batch;        /* first extent of the batched inputs of this entry; -1 before any */
  const Node *scan;     /* the outermost scan whose body is checked; NULL in the entry itself */
  const Node *node;     /* being looked at; NULL: something else */
  const Output *output; /* likewise */
  const Node *culprit;
  const char *message;
} Check;

#define LEAF_BIT(kind) (1u << (kind))
#define OUTPUT_BIT(kind) (1u << (kind))

typedef struct EntryRules {
  unsigned leaves;          /* LEAF_BIT of those that may be read */
  unsigned outputs;         /* OUTPUT_BIT of those that may be given */
  bool stores_streams_only; /* stores may name nothing else */
  bool is_host;             /* scalars of f64 (and bool for their comparisons) alone */
} EntryRules;

enum {
  LEAVES_HOST = LEAF_BIT(LEAF_NONE) | LEAF_BIT(LEAF_SCALAR) | LEAF_BIT(LEAF_CONSTANT),
  LEAVES_DEVICE = LEAVES_HOST | LEAF_BIT(LEAF_INPUT) | LEAF_BIT(LEAF_PARAM) | LEAF_BIT(LEAF_STATE),
  OUTPUTS_TRAIN = OUTPUT_BIT(OUTPUT_STORE) | OUTPUT_BIT(OUTPUT_ACCUMULATOR),
  OUTPUTS_EVAL = OUTPUTS_TRAIN | OUTPUT_BIT(OUTPUT_RESULT),
};

static const EntryRules entry_rules[ENTRY_COUNT] = {
    [ENTRY_INIT] = {.leaves = LEAVES_HOST, .outputs = OUTPUT_BIT(OUTPUT_STORE)},
    [ENTRY_HOST] = {.leaves = LEAVES_HOST, .outputs = OUTPUT_BIT(OUTPUT_SCALAR), .is_host = true},
    [ENTRY_TRAIN] = {.leaves = LEAVES_DEVICE, .outputs = OUTPUTS_TRAIN},
    [ENTRY_ACCUMULATE] = {.leaves = LEAVES_DEVICE, .outputs = OUTPUTS_TRAIN},
    [ENTRY_EVAL] = {.leaves = LEAVES_DEVICE, .outputs = OUTPUTS_EVAL, .stores_streams_only = true},
    [ENTRY_EVAL_ONE] = {.leaves = LEAVES_DEVICE,
                        .outputs = OUTPUTS_EVAL,
                        .stores_streams_only = true},
    [ENTRY_PREDICT] = {.leaves = LEAVES_DEVICE, .outputs = OUTPUT_BIT(OUTPUT_RESULT)},
    [ENTRY_PREDICT_BATCH] = {.leaves = LEAVES_DEVICE, .outputs = OUTPUT_BIT(OUTPUT_RESULT)},
    [ENTRY_GENERATE] = {.leaves = LEAVES_DEVICE, .outputs = OUTPUT_BIT(OUTPUT_RESULT)},
    [ENTRY_FINISH] = {.leaves = LEAVES_HOST, .outputs = OUTPUT_BIT(OUTPUT_SCALAR), .is_host = true},
};

/* ---- failing ------------------------------------------------------------------------------ */

/* "entry train: node %3 (add, "h1"): ", of what is being looked at. */
static const char *subject_text(const Check *check) {
  if (check->kind == ENTRY_COUNT) return "";
  const char *entry = arena_printf(check->arena, "entry %s: ", entry_name(check->kind));
  const Output *output = check->output;
  const Node *node = check->node;
  if (output)
    return arena_printf(check->arena, "%s%s \"%s\" = %%%d: ", entry,
                        dump_output_words[output->kind], output->name, output->node->id);
  if (!node) return entry;
  const char *op = (unsigned)node->op < OP_COUNT ? op_info(node->op)->name : "?";
  return arena_printf(check->arena, "%s%snode %%%d (%s, \"%s\"): ", entry,
                      check->scan ? "in the body of a scan: " : "", node->id, op,
                      node->path ? node->path : "");
}

/* Always false, so that a check can return it. */
__attribute__((format(printf, 2, 3))) static bool fail(Check *check, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const char *rule = arena_vprintf(check->arena, format, arguments);
  va_end(arguments);
  check->message = arena_printf(check->arena, "%s%s", subject_text(check), rule);
  if (!check->output) check->culprit = check->scan ? check->scan : check->node;
  return false;
}

/* ---- the module's tables ------------------------------------------------------------------ */

static bool type_is_sound(Type type) {
  return (unsigned)type.dtype < DTYPE_COUNT && shape_is_representable(type.shape);
}

static bool span_is_sound(Span span) { return span.line == 0 || span.file != NULL; }

static const Variable *find_variable(const Check *check, const char *path) {
  int index = table_find(&check->variables, path);
  return index < 0 ? NULL : &check->module->variables.items[index];
}

static const InputInfo *find_input(const Check *check, const char *name) {
  int index = table_find(&check->inputs, name);
  return index < 0 ? NULL : &check->module->inputs.items[index];
}

static bool gives(const Check *check, EntryKind entry, OutputKind kind, const char *name) {
  return check->module->entries[entry] && table_find(&check->outputs[entry][kind], name) >= 0;
}

static bool check_variables(Check *check) {
  const Module *module = check->module;
  for (int i = 0; i < module->variables.count; i++) {
    const Variable *variable = &module->variables.items[i];
    if (!variable->path) return fail(check, "variable %d has no path", i);
    if ((unsigned)variable->kind >= VARIABLE_KIND_COUNT)
      return fail(check, "variable \"%s\": its kind does not exist", variable->path);
    if (!type_is_sound(variable->type))
      return fail(check, "variable \"%s\": its type is too large or malformed", variable->path);
    if (!span_is_sound(variable->span))
      return fail(check, "variable \"%s\": its place has no file", variable->path);
    if (!table_add(check->arena, &check->variables, variable->path, i))
      return fail(check, "variable \"%s\": there are two of this path", variable->path);
  }
  return true;
}

static bool check_inputs(Check *check) {
  const Module *module = check->module;
  for (int i = 0; i < module->inputs.count; i++) {
    const InputInfo *input = &module->inputs.items[i];
    if (!input->name) return fail(check, "input %d has no name", i);
    if (!type_is_sound(input->type))
      return fail(check, "input \"%s\": its type is too large or malformed", input->name);
    if (input->is_batched && input->type.shape.rank == 0)
      return fail(check, "input \"%s\": it is batched but has no axes", input->name);
    if (!span_is_sound(input->span))
      return fail(check, "input \"%s\": its place has no file", input->name);
    if (!table_add(check->arena, &check->inputs, input->name, i))
      return fail(check, "input \"%s\": there are two of this name", input->name);
  }
  return true;
}

static bool check_run(Check *check) {
  const RunConfig *run = &check->module->run;
  if (run->accumulate < 1) return fail(check, "run: accumulate is less than 1");
  if (run->batch < 0 || run->epochs < 0 || run->steps < 0 || run->validate_steps < 0)
    return fail(check, "run: a count is negative");
  if (run->keep < 0 || run->save_steps < 0 || run->save_epochs < 0 || run->save_minutes < 0)
    return fail(check, "run: a count of saves is negative");
  if ((unsigned)run->precision >= DTYPE_COUNT || !dtype_is_float(run->precision))
    return fail(check, "run: the precision is not a float");
  if ((unsigned)run->scans >= SCAN_CHOICE_COUNT)
    return fail(check, "run: this choice for scans does not exist");
  return true;
}

static bool is_metric(const Module *module, const char *name) {
  for (int i = 0; i < module->metrics.count; i++)
    if (strcmp(module->metrics.items[i].name, name) == 0) return true;
  return false;
}

static bool check_watches(Check *check) {
  const Module *module = check->module;
  for (int i = 0; i < module->watches.count; i++) {
    const Watch *watch = &module->watches.items[i];
    if (!watch->metric || !watch->set) return fail(check, "watch %d lacks a name", i);
    if (!is_metric(module, watch->metric))
      return fail(check, "watch %d: there is no metric \"%s\"", i, watch->metric);
    if ((unsigned)watch->kind >= WATCH_KIND_COUNT || watch->count < 1 || !(watch->threshold >= 0))
      return fail(check, "watch %d: its numbers make no sense", i);
    for (int k = 0; k < i; k++)
      if (module->watches.items[k].kind == watch->kind)
        return fail(check, "watch %d: there are two of this kind", i);
  }
  return true;
}

/* The runtime finds the metric by its number. */
static bool check_plateaus(Check *check) {
  const Module *module = check->module;
  for (int i = 0; i < module->plateaus.count; i++) {
    const Plateau *plateau = &module->plateaus.items[i];
    if (!plateau->name || !plateau->metric || !plateau->set)
      return fail(check, "plateau %d lacks a name", i);
    if (!is_metric(module, plateau->metric))
      return fail(check, "plateau \"%s\": there is no metric \"%s\"", plateau->name,
                  plateau->metric);
    for (int k = 0; k < i; k++)
      if (strcmp(module->plateaus.items[k].name, plateau->name) == 0)
        return fail(check, "plateau \"%s\": there are two of this name", plateau->name);
    for (int k = 0; k < PLATEAU_PART_COUNT; k++) {
      const char *scalar = plateau->numbers[k].scalar;
      if (scalar && !gives(check, ENTRY_HOST, OUTPUT_SCALAR, scalar))
        return fail(check, "plateau \"%s\": entry host does not compute \"%s\"", plateau->name,
                    scalar);
    }
  }
  return true;
}

/* The executable reads them by name. */
static bool check_options(Check *check) {
  const Module *module = check->module;
  for (int i = 0; i < module->options.count; i++) {
    const RunOption *option = &module->options.items[i];
    if (!option->name) return fail(check, "option %d lacks a name", i);
    if (!(option->start >= option->least && option->start < option->limit))
      return fail(check, "option \"%s\": its default lies outside of its limits", option->name);
    for (int k = 0; k < i; k++)
      if (strcmp(module->options.items[k].name, option->name) == 0)
        return fail(check, "option \"%s\": there are two of this name", option->name);
  }
  return true;
}

/* The log has each under a name of its own. */
static bool check_rates(Check *check) {
  const Module *module = check->module;
  for (int i = 0; i < module->rates.count; i++) {
    const Rate *rate = &module->rates.items[i];
    if (!rate->name || !rate->scalar) return fail(check, "rate %d lacks a name", i);
    if (!gives(check, ENTRY_HOST, OUTPUT_SCALAR, rate->scalar))
      return fail(check, "rate \"%s\": entry host does not compute \"%s\"", rate->name,
                  rate->scalar);
    for (int k = 0; k < i; k++)
      if (strcmp(module->rates.items[k].name, rate->name) == 0)
        return fail(check, "rate \"%s\": there are two of this name", rate->name);
  }
  return true;
}

static bool check_metrics(Check *check) {
  const Module *module = check->module;
  PointerTable names = {0};
  for (int i = 0; i < module->metrics.count; i++) {
    const char *name = module->metrics.items[i].name;
    if (!name) return fail(check, "metric %d has no name", i);
    if (!table_add(check->arena, &names, name, i))
      return fail(check, "metric \"%s\": there are two of this name", name);
    if (module->entries[ENTRY_FINISH] && !gives(check, ENTRY_FINISH, OUTPUT_SCALAR, name))
      return fail(check, "metric \"%s\": entry finish does not compute it", name);
  }
  return true;
}

/* ---- leaves ------------------------------------------------------------------------------- */

static bool check_input_leaf(Check *check, const Node *node, const char *name) {
  const InputInfo *input = find_input(check, name);
  if (!input) return fail(check, "the module has no input \"%s\"", name);
  Shape expected = input->type.shape;
  if (input->is_batched && node->type.shape.rank > 0) {
    expected.dim[0] = node->type.shape.dim[0];
    if (check->batch >= 0 && check->batch != expected.dim[0])
      return fail(check, "its batch of %lld differs from another input's %lld",
                  (long long)expected.dim[0], (long long)check->batch);
    check->batch = expected.dim[0];
  }
  if (input->type.dtype != node->type.dtype || !shape_equal(expected, node->type.shape))
    return fail(check, "input \"%s\" is declared %s but read as %s", name,
                type_text(check->arena, input->type), type_text(check->arena, node->type));
  return true;
}

static bool check_variable_leaf(Check *check, const Node *node, const char *name, bool is_param) {
  const Variable *variable = find_variable(check, name);
  if (!variable) return fail(check, "the module has no variable \"%s\"", name);
  if ((variable->kind == VARIABLE_PARAM) != is_param)
    return fail(check, "variable \"%s\" is %sa parameter", name, is_param ? "not " : "");
  if (!type_equal(variable->type, node->type))
    return fail(check, "variable \"%s\" is %s but read as %s", name,
                type_text(check->arena, variable->type), type_text(check->arena, node->type));
  return true;
}

/* What the host knows without computing it; see module.h. */
static bool is_builtin_scalar(const char *name) {
  static const char *const builtins[] = {"t", "epoch", "steps", "steps_per_epoch"};
  for (size_t i = 0; i < sizeof builtins / sizeof *builtins; i++)
    if (name_intern(builtins[i]) == name) return true;
  return false;
}

/* finish reads accumulators alone; which entries have them is check_accumulators' matter. */
static bool scalar_is_known(Check *check, const char *name) {
  if (check->kind == ENTRY_FINISH) {
    for (EntryKind entry = 0; entry < ENTRY_COUNT; entry++)
      if (gives(check, entry, OUTPUT_ACCUMULATOR, name)) return true;
    return module_is_ranking(name) && gives(check, ENTRY_EVAL, OUTPUT_RESULT, name);
  }
  if (is_builtin_scalar(name)) return true;
  for (int i = 0; i < check->module->plateaus.count; i++)
    if (check->module->plateaus.items[i].name == name) return true;
  const char *option = module_option_name(name);
  for (int i = 0; option && i < check->module->options.count; i++)
    if (strcmp(check->module->options.items[i].name, option) == 0) return true;
  return check->kind != ENTRY_HOST && gives(check, ENTRY_HOST, OUTPUT_SCALAR, name);
}

static bool check_scalar_leaf(Check *check, const Node *node, const char *name) {
  if (!type_equal(node->type, type_scalar(DTYPE_F64)))
    return fail(check, "a host scalar is f64[] but this is %s",
                type_text(check->arena, node->type));
  if (!scalar_is_known(check, name))
    return fail(check, "no host scalar \"%s\" is known here", name);
  return true;
}

static bool check_leaf(Check *check, const Node *node) {
  LeafKind leaf = op_info(node->op)->class->leaf;
  if (leaf == LEAF_NONE) return true;
  if (check->scan) {
    if (leaf == LEAF_CONSTANT || leaf == LEAF_ARGUMENT) return true;
    return fail(check, "a body reads what is around it by arguments alone");
  }
  if (!(entry_rules[check->kind].leaves & LEAF_BIT(leaf)))
    return fail(check, "this entry cannot read such a leaf");
  if (leaf == LEAF_CONSTANT) return true;
  const Attribute *name = node_attribute(node, ATTR_NAME);
  if (!name || !name->string) return fail(check, "the leaf has no name");
  if (leaf == LEAF_INPUT) return check_input_leaf(check, node, name->string);
  if (leaf == LEAF_SCALAR) return check_scalar_leaf(check, node, name->string);
  return check_variable_leaf(check, node, name->string, leaf == LEAF_PARAM);
}

/* ---- nodes -------------------------------------------------------------------------------- */

static bool check_identity(Check *check, const Node *node, int previous_id) {
  if (node->id <= previous_id)
    return fail(check, "its id does not exceed %d, that of the node before it", previous_id);
  if (node->id >= check->graph->next_id)
    return fail(check, "its id is not below the graph's next id %d", check->graph->next_id);
  if ((unsigned)node->op >= OP_COUNT) return fail(check, "its operator does not exist");
  if (!node->path) return fail(check, "it has no path");
  if (!span_is_sound(node->span)) return fail(check, "its place has no file");
  return true;
}

static bool check_operands(Check *check, const Node *node) {
  const OpInfo *info = op_info(node->op);
  if (node->operand_count < info->least_operands ||
      (info->most_operands >= 0 && node->operand_count > info->most_operands))
    return fail(check, "it has %d operands", node->operand_count);
  for (int i = 0; i < node->operand_count; i++) {
    const Node *operand = node->operands[i];
    if (!operand) return fail(check, "operand %d is missing", i);
    if (operand->id < 0 || operand->id >= check->graph->next_id ||
        check->by_id[operand->id] != operand)
      return fail(check, "operand %d (%%%d) is not a node of this graph before it", i, operand->id);
  }
  return true;
}

static bool check_attributes(Check *check, const Node *node) {
  if (check->scan && op_info(node->op)->class->draw)
    return fail(check, "random numbers come to a body as a sequence");
  if (check->scan && op_info(node->op)->class->family == FAMILY_SPECIAL)
    return fail(check, "a body holds no gradients");
  for (int i = 0; i < node->attribute_count; i++) {
    const Attribute *attribute = &node->attributes[i];
    if ((unsigned)attribute->key >= ATTR_COUNT)
      return fail(check, "attribute %d has a key that does not exist", i);
    if (i > 0 && attribute[-1].key >= attribute->key)
      return fail(check, "attribute %s is double or out of order", attribute_name(attribute->key));
    AttributeKind kind = attribute_kind(attribute->key);
    if (kind == ATTRIBUTE_STRING && !attribute->string)
      return fail(check, "attribute %s has no text", attribute_name(attribute->key));
    if (kind == ATTRIBUTE_INTS &&
        (attribute->count < 0 || (attribute->count > 0 && !attribute->ints)))
      return fail(check, "attribute %s has no elements", attribute_name(attribute->key));
  }
  return true;
}

static bool check_type(Check *check, const Node *node) {
  if (!type_is_sound(node->type)) return fail(check, "its type is too large or malformed");
  Type inferred;
  const char *reason;
  if (!node_infer(check->arena, node, &inferred, &reason)) return fail(check, "%s", reason);
  if (!type_is_sound(inferred))
    return fail(check, "the type it should have is too large or malformed");
  if (!type_equal(inferred, node->type))
    return fail(check, "its type is %s but its rule gives %s", type_text(check->arena, node->type),
                type_text(check->arena, inferred));
  if (!entry_rules[check->kind].is_host) return true;
  if (node->type.shape.rank != 0 ||
      (node->type.dtype != DTYPE_F64 && node->type.dtype != DTYPE_BOOL))
    return fail(check, "this entry computes with f64 scalars, not with %s",
                type_text(check->arena, node->type));
  return true;
}

static bool check_nodes(Check *check);

/* A step's results; what they must be, the scan's own rule tells. */
static bool check_body_outputs(Check *check, const Node *scan) {
  const Graph *body = node_inner(scan);
  for (int i = 0; i < body->outputs.count; i++) {
    const Output *output = &body->outputs.items[i];
    const Node *node = output->node;
    if (output->kind != OUTPUT_RESULT || !output->name || !span_is_sound(output->span))
      return fail(check, "result %d of its body is malformed", i);
    if (!node || node->id < 0 || node->id >= body->next_id || check->by_id[node->id] != node)
      return fail(check, "result %d of its body is no node of it", i);
  }
  return true;
}

/* What is called outside must be known, so that it can be linked. */
static bool check_extern(Check *check, const Node *node) {
  if (op_info(node->op)->class->family != FAMILY_EXTERN) return true;
  const char *function = node_string(node, ATTR_NAME);
  return module_find_extern(check->module, function) ||
         fail(check, "there is no extern \"%s\"", function);
}

static bool check_body(Check *check, const Node *node) {
  enum { DEEPEST = 16 };
  const Graph *inner = node_inner(node);
  bool owns_body = op_info(node->op)->class->owns_body;
  bool owns_rule = op_info(node->op)->class->owns_rule;
  if (!node->body && owns_body) return fail(check, "it has no body");
  if (!node->rule && owns_rule) return fail(check, "it has no rule");
  if (!inner) return true;
  if (node->body && !owns_body) return fail(check, "only a scan has a body");
  if (node->rule && !owns_rule) return fail(check, "only an own gradient has a rule");
  if (entry_rules[check->kind].is_host) return fail(check, "the host knows no scans");
  if (check->depth == DEEPEST) return fail(check, "scans are nested too deeply");
  const Check outer = *check;
  if (!check->scan) check->scan = node;
  check->depth++;
  check->graph = inner;
  check->by_id = ARENA_ARRAY(check->arena, const Node *, inner->next_id);
  if (!check_nodes(check)) return false;
  check->node = node;
  if (!check_body_outputs(check, node)) return false;
  *check = outer;
  return true;
}

static bool check_nodes(Check *check) {
  int previous_id = -1;
  for (int i = 0; i < check->graph->nodes.count; i++) {
    const Node *node = check->node = check->graph->nodes.items[i];
    if (!node) return fail(check, "node number %d is missing", i);
    if (!check_identity(check, node, previous_id) || !check_operands(check, node) ||
        !check_attributes(check, node) || !check_body(check, node) || !check_type(check, node) ||
        !check_leaf(check, node) || !check_extern(check, node))
      return false;
    previous_id = node->id;
    check->by_id[node->id] = node;
  }
  return true;
}

/* ---- outputs ------------------------------------------------------------------------------ */

static bool check_store(Check *check, const Output *output) {
  const Variable *variable = find_variable(check, output->name);
  if (!variable) return fail(check, "the module has no variable of this name");
  if (!type_equal(variable->type, output->node->type))
    return fail(check, "the variable is %s but the value %s",
                type_text(check->arena, variable->type),
                type_text(check->arena, output->node->type));
  if (entry_rules[check->kind].stores_streams_only && variable->kind != VARIABLE_STREAM)
    return fail(check, "this entry may store streams only");
  return true;
}

static bool check_output_value(Check *check, const Output *output) {
  Type type = output->node->type;
  switch (output->kind) {
  case OUTPUT_STORE: return check_store(check, output);
  case OUTPUT_ACCUMULATOR:
    if ((unsigned)output->combine >= COMBINE_COUNT)
      return fail(check, "its way to combine does not exist");
    if (type.shape.rank == 0) return true;
    return fail(check, "an accumulator is a scalar but this is %s", type_text(check->arena, type));
  case OUTPUT_SCALAR:
    if (type_equal(type, type_scalar(DTYPE_F64))) return true;
    return fail(check, "a host scalar is f64[] but this is %s", type_text(check->arena, type));
  case OUTPUT_RESULT:
  case OUTPUT_KIND_COUNT: break;
  }
  return true;
}

static bool check_output(Check *check, int index) {
  const Output *output = check->output = &check->graph->outputs.items[index];
  int id = output->node->id;
  if (id < 0 || id >= check->graph->next_id || check->by_id[id] != output->node)
    return fail(check, "its node does not belong to the graph");
  if (!span_is_sound(output->span)) return fail(check, "its place has no file");
  if (!(entry_rules[check->kind].outputs & OUTPUT_BIT(output->kind)))
    return fail(check, "this entry cannot have such an output");
  if (table_find(&check->outputs[check->kind][output->kind], output->name) != index)
    return fail(check, "there are two of this name");
  return check_output_value(check, output);
}

static bool check_outputs(Check *check) {
  check->node = NULL;
  for (int i = 0; i < check->graph->outputs.count; i++)
    if (!check_output(check, i)) return false;
  check->output = NULL;
  if (check->kind != ENTRY_INIT) return true;
  for (int i = 0; i < check->module->variables.count; i++) {
    const char *path = check->module->variables.items[i].path;
    if (!gives(check, ENTRY_INIT, OUTPUT_STORE, path))
      return fail(check, "variable \"%s\" gets no value", path);
  }
  return true;
}

static bool check_entry(Check *check, EntryKind kind) {
  check->kind = kind;
  check->graph = check->module->entries[kind];
  check->batch = -1;
  if (!check->graph) return true;
  if (check->graph->name != name_intern(entry_name(kind)))
    return fail(check, "its graph is named \"%s\"", check->graph->name);
  check->by_id = ARENA_ARRAY(check->arena, const Node *, check->graph->next_id);
  return check_nodes(check) && check_outputs(check);
}

/* The names of an entry's outputs, which other entries may read. */
static bool collect_outputs(Check *check, EntryKind kind) {
  const Graph *graph = check->module->entries[kind];
  if (!graph) return true;
  check->kind = kind;
  for (int i = 0; i < graph->outputs.count; i++) {
    const Output *output = &graph->outputs.items[i];
    if ((unsigned)output->kind >= OUTPUT_KIND_COUNT)
      return fail(check, "output %d: its kind does not exist", i);
    if (!output->name) return fail(check, "output %d has no name", i);
    if (!output->node) return fail(check, "output \"%s\" has no node", output->name);
    (void)table_add(check->arena, &check->outputs[kind][output->kind], output->name, i);
  }
  return true;
}

/* The next accumulator of an entry from output *at on; NULL after the last. */
static const Output *next_accumulator(const Graph *graph, int *at) {
  while (*at < graph->outputs.count) {
    const Output *output = &graph->outputs.items[(*at)++];
    if (output->kind == OUTPUT_ACCUMULATOR) return output;
  }
  return NULL;
}

/* The host adds accumulators up by their number, so all entries list the same ones; earlier
 * minibatches of a step may add nothing. */
static bool check_accumulators(Check *check) {
  EntryKind first = ENTRY_COUNT;
  for (EntryKind kind = ENTRY_TRAIN; kind <= ENTRY_EVAL_ONE; kind++) {
    const Graph *graph = check->module->entries[kind];
    const Output *a, *b;
    int i = 0, j = 0, none = 0;
    if (!graph || (kind == ENTRY_ACCUMULATE && !next_accumulator(graph, &none))) continue;
    if (first == ENTRY_COUNT) first = kind;
    do {
      a = next_accumulator(check->module->entries[first], &i);
      b = next_accumulator(graph, &j);
      if (!a != !b || (a && a->name != b->name))
        return fail(check, "entries %s and %s do not have the same accumulators", entry_name(first),
                    entry_name(kind));
    } while (a);
  }
  return true;
}

static bool check_module(Check *check) {
  for (EntryKind kind = 0; kind < ENTRY_COUNT; kind++)
    if (!collect_outputs(check, kind)) return false;
  check->kind = ENTRY_COUNT;
  if (!check_run(check) || !check_variables(check) || !check_inputs(check) ||
      !check_metrics(check) || !check_plateaus(check) || !check_options(check) ||
      !check_rates(check) || !check_watches(check))
    return false;
  for (EntryKind kind = 0; kind < ENTRY_COUNT; kind++)
    if (!check_entry(check, kind)) return false;
  check->kind = ENTRY_COUNT;
  return check_accumulators(check);
}

bool module_find_violation(Arena *arena, const Module *module, Violation *violation) {
  Check check = {.arena = arena, .module = module, .kind = ENTRY_COUNT};
  if (check_module(&check)) return false;
  *violation = (Violation){check.message, check.kind, check.culprit};
  return true;
}

const char *module_verify(Arena *arena, const Module *module) {
  Violation violation;
  return module_find_violation(arena, module, &violation) ? violation.message : NULL;
}
