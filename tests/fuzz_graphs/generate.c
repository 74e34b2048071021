/* The frame of the generator: draws, leaves, the pool, and taking back what is not sound. */
#include "generate.h"

#include <math.h>

#include "ops/scan.h"
#include "support/names.h"
#include "support/panic.h"

enum { SEED_OF_RANDOM = 11, USUAL_STEPS = 2 };

static const Sizes small_sizes = {4000, 2500, 1500, 800, 2500, 1 << 30, 5, 36, 0};
static const Sizes large_sizes = {100000, 40000, 20000, 10000, 30000, 2000000, 4, 14, 1e-4};

/* ---- draws ---- */

int64_t draw_below(Generator *g, int64_t bound) {
  uint64_t z = g->state += 0x9E3779B97F4A7C15u; /* splitmix64 */
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return (int64_t)((z ^ (z >> 31)) % (uint64_t)bound);
}

bool draw_chance(Generator *g, int percent) { return draw_below(g, 100) < percent; }

double draw_real(Generator *g, double least, double most) {
  return floor(least * 64) / 64 + (double)draw_below(g, (int64_t)((most - least) * 64) + 1) / 64;
}

int64_t draw_extent(Generator *g) {
  static const int64_t others[] = {1, 2, 3, 4, 5, 7, 8, 9, 11, 13, 16, 17};
  if (draw_chance(g, 80)) return g->extents[draw_below(g, 5)];
  return others[draw_below(g, sizeof others / sizeof *others)];
}

Shape draw_shape(Generator *g, int least_rank, int most_rank) {
  Shape shape = {.rank = least_rank + (int)draw_below(g, most_rank - least_rank + 1)};
  int64_t elements = 1;
  for (int i = 0; i < shape.rank; i++) {
    int64_t extent = draw_extent(g);
    shape.dim[i] = elements * extent > g->sizes->drawn ? 1 : extent;
    elements *= shape.dim[i];
  }
  if (shape.rank > 0 && draw_below(g, 150) == 0) shape.dim[draw_below(g, shape.rank)] = 0;
  return shape;
}

void draw_permutation(Generator *g, int count, int64_t *permutation) {
  for (int i = 0; i < count; i++) permutation[i] = i;
  for (int i = count - 1; i > 0; i--) {
    int64_t k = draw_below(g, i + 1), swap = permutation[i];
    permutation[i] = permutation[k];
    permutation[k] = swap;
  }
}

static bool is_of_kinds(const Node *node, int kinds) {
  DType dtype = node->type.dtype;
  int kind = dtype_is_float(dtype) ? KIND_FLOAT : dtype == DTYPE_BOOL ? KIND_BOOL : KIND_INT;
  if (!(kinds & kind)) return false;
  if ((kinds & KIND_AXES) && node->type.shape.rank == 0) return false;
  return !(kinds & KIND_ELEMENTS) || shape_elements(node->type.shape) > 0;
}

Node *draw_node(Generator *g, int kinds) {
  for (int tries = 0; tries < 30 && g->pool.count > 0; tries++) {
    int recent = g->pool.count > 10 && draw_chance(g, 60) ? 10 : g->pool.count;
    Node *node = g->pool.items[g->pool.count - 1 - draw_below(g, recent)];
    if (is_of_kinds(node, kinds)) return node;
  }
  return NULL;
}

/* ---- leaves ---- */

static void round_values(Tensor *tensor) {
  if (!dtype_is_float(tensor->type.dtype)) return;
  for (int64_t i = 0; i < shape_elements(tensor->type.shape); i++)
    tensor->data[i] = (float)tensor->data[i];
}

static Node *add_leaf(Generator *g, Op op, Type type, const char *name) {
  Attribute attribute = attr_make_string(ATTR_NAME, name);
  return make_leaf(&(Maker){g->graph_of_leaves, (Span){0}, name}, op, type, 1, &attribute);
}

Node *add_scan_argument(Generator *g, ArgumentKind kind, Node *outer, Type type) {
  Node *leaf = make_argument(&g->maker, type, 0); /* numbered at the end */
  vec_push(g->arena, &g->arguments, ((ScanArgument){kind, outer, leaf}));
  return leaf;
}

Node *capture(Generator *g, Node *node) {
  if (!g->outer) return node;
  Node *outer = capture(g->outer, node);
  for (int i = 0; i < g->arguments.count; i++)
    if (g->arguments.items[i].kind == ARGUMENT_INVARIANT && g->arguments.items[i].outer == outer)
      return g->arguments.items[i].leaf;
  return add_scan_argument(g, ARGUMENT_INVARIANT, outer, outer->type);
}

static Generator *outermost(Generator *g) {
  while (g->outer) g = g->outer;
  return g;
}

static Node *random_value(const Maker *maker, Op op, Type type, int64_t stream) {
  Attribute attributes[] = {attr_make_string(ATTR_KEY, maker->path),
                            attr_make_int(ATTR_STREAM, stream)};
  return make_leaf(maker, op, type, 2, attributes);
}

/* Values that f32 holds exactly, but for normal ones: only parameters and states may have these,
 * since --init gives them to an executable rounded. */
static Node *init_value(Generator *g, const Maker *maker, VariableKind kind, Type type) {
  if (!dtype_is_float(type.dtype)) {
    if (type.shape.rank == 0 || type.dtype == DTYPE_BOOL || type.dtype == DTYPE_U8)
      return make_constant(maker, type, (double)draw_below(g, 2));
    return make_iota(maker, type, (int)draw_below(g, type.shape.rank));
  }
  if (kind == VARIABLE_OPTIMIZER) {
    if (draw_chance(g, 50)) return make_constant(maker, type, draw_real(g, 0.5, 2));
    Node *uniform = random_value(maker, OP_RANDOM_UNIFORM, type, 0);
    return make_binary_value(maker, OP_MAX, uniform, 0.5); /* exact, as uniform + 1 is not */
  }
  if (draw_chance(g, 15) && type.shape.rank > 0)
    return make_iota(maker, type, (int)draw_below(g, type.shape.rank));
  if (draw_chance(g, 10)) return make_constant(maker, type, draw_real(g, -2, 2));
  if (draw_chance(g, 50)) return random_value(maker, OP_RANDOM_NORMAL, type, 0);
  Node *uniform = random_value(maker, OP_RANDOM_UNIFORM, type, 0);
  return make_binary_value(maker, OP_SUB, make_binary_value(maker, OP_MUL, uniform, 4), 2);
}

/* Some leaves stay near 1; of the others the elements are of one size, or of any. */
static void draw_far_elements(Generator *g, Tensor *tensor) {
  if (!dtype_is_float(tensor->type.dtype) || draw_chance(g, 20)) return;
  double first = draw_real(g, -30, 30), second = draw_chance(g, 50) ? first : draw_real(g, -30, 30);
  FarScale scale = {fmin(first, second), fmax(first, second),
                    g->has_specials && draw_chance(g, 60)};
  for (int64_t i = 0; i < shape_elements(tensor->type.shape); i++)
    tensor->data[i] = far_element(scale, (uint64_t)draw_below(g, INT64_MAX));
}

static void add_variable(Generator *g, VariableKind kind, Type type, const char *path) {
  Module *module = g->test->module;
  vec_push(g->arena, &module->variables, ((Variable){.kind = kind, .path = path, .type = type}));
  Graph *init = module->entries[ENTRY_INIT];
  Maker maker = {init, {0}, path};
  int before = init->nodes.count;
  Node *value = init_value(g, &maker, kind, type);
  graph_add_output(init, (Output){.kind = OUTPUT_STORE, .name = path, .node = value});
  EvaluateContext context = {.seed = (uint64_t)module->run.seed};
  for (int i = before; i < init->nodes.count; i++)
    numbers_compute(&g->init_numbers, init->nodes.items[i], NULL, &context, NULL);
  round_values(g->init_numbers.values[value->id]);
  Tensor *start = g->init_numbers.values[value->id];
  if (g->far && (kind == VARIABLE_PARAM || kind == VARIABLE_STATE)) draw_far_elements(g, start);
  vec_push(g->arena, &g->test->start, start);
}

Node *leaf_state(Generator *g, VariableKind kind, Type type, const char *name) {
  add_variable(g, kind, type, name);
  Node *leaf = add_leaf(g, kind == VARIABLE_PARAM ? OP_PARAM : OP_STATE, type, name);
  Generator *all = outermost(g);
  if (kind == VARIABLE_PARAM) vec_push(all->arena, &all->params, leaf);
  return capture(g, leaf);
}

Node *leaf_param(Generator *g, Type type) {
  const char *name = name_printf("%sw%d", g->prefix, outermost(g)->leaf_count++);
  return leaf_state(g, VARIABLE_PARAM, type, name);
}

static double input_element(Generator *g, DType dtype, int64_t bound) {
  if (bound > 0) return (double)draw_below(g, bound);
  switch (dtype) {
  case DTYPE_BOOL: return (double)draw_below(g, 2);
  case DTYPE_U8: return (double)draw_below(g, 256);
  case DTYPE_I32:
  case DTYPE_I64: return (double)(draw_below(g, 41) - 20);
  default: break;
  }
  double magnitude = 0.05 + (double)draw_below(g, 1 << 20) * 0x1p-19;
  return (float)(draw_chance(g, 50) ? magnitude : -magnitude);
}

Node *leaf_input(Generator *g, Type type, int64_t bound) {
  CHECK(type.dtype != DTYPE_U8 || bound <= 256);
  const char *name = name_printf("%sx%d", g->prefix, outermost(g)->leaf_count++);
  vec_push(g->arena, &g->test->module->inputs, ((InputInfo){.name = name, .type = type}));
  Tensor *value = tensor_create(g->arena, type);
  for (int64_t i = 0; i < shape_elements(type.shape); i++)
    value->data[i] = input_element(g, type.dtype, bound);
  if (g->far) draw_far_elements(g, value);
  vec_push(g->arena, &g->test->inputs, value);
  return capture(g, add_leaf(g, OP_INPUT, type, name));
}

Node *add_scalar_leaf(Generator *g, const char *name) {
  return capture(g, add_leaf(g, OP_SCALAR, type_scalar(DTYPE_F64), name_intern(name)));
}

Node *leaf_host(Generator *g) {
  const char *names[] = {"t", "epoch", g->rate_name};
  return add_scalar_leaf(g, names[draw_below(g, 3)]);
}

/* rate = 0.05 (1 + cos(0.7 t)), an output of the host entry. */
static void add_rate(Generator *g) {
  Graph *host = g->test->module->entries[ENTRY_HOST];
  g->rate_name = name_printf("%srate", g->prefix);
  Maker maker = {host, {0}, g->rate_name};
  Graph *leaves = g->graph_of_leaves;
  g->graph_of_leaves = host;
  Node *t = add_scalar_leaf(g, "t");
  g->graph_of_leaves = leaves;
  Node *angle = make_binary_value(&maker, OP_MUL, t, 0.7);
  Node *wave = make_binary_value(&maker, OP_ADD, make_unary(&maker, OP_COS, angle), 1);
  Node *rate = make_binary_value(&maker, OP_MUL, wave, 0.05);
  graph_add_output(host, (Output){.kind = OUTPUT_SCALAR, .name = g->rate_name, .node = rate});
}

/* What a host scalar is in the first step. */
static double host_number(const char *name) {
  if (name == name_intern("t")) return 1;
  if (name == name_intern("epoch")) return 0;
  return 0.05 * (1 + cos(0.7));
}

/* In a body: what the first step reads. */
static const Tensor *argument_value(Generator *g, const Node *leaf) {
  const ScanArgument *argument = g->arguments.items;
  while (argument->leaf != leaf) argument++;
  const Tensor *value = value_of(g->outer, argument->outer);
  if (argument->kind != ARGUMENT_SEQUENCE) return value;
  Tensor *element = ARENA_NEW(g->arena, Tensor);
  *element = (Tensor){leaf->type, value->data};
  return element;
}

static const Tensor *leaf_value(Generator *g, const Node *node) {
  LeafKind leaf = op_info(node->op)->class->leaf;
  if (leaf == LEAF_ARGUMENT) return argument_value(g, node);
  if (leaf == LEAF_NONE || leaf == LEAF_CONSTANT) return NULL;
  const char *name = node_string(node, ATTR_NAME);
  const Module *module = g->test->module;
  for (int i = 0; leaf == LEAF_INPUT && i < module->inputs.count; i++)
    if (module->inputs.items[i].name == name) return g->test->inputs.items[i];
  for (int i = 0; i < module->variables.count; i++)
    if (module->variables.items[i].path == name) return g->test->start.items[i];
  CHECK(leaf == LEAF_SCALAR);
  Tensor *value = tensor_create(g->arena, node->type);
  value->data[0] = host_number(name);
  return value;
}

/* ---- nodes ---- */

int mark_now(const Generator *g) { return g->maker.graph->nodes.count; }

static void compute_next(Generator *g) {
  EvaluateContext context = {.seed = (uint64_t)g->test->module->run.seed, .step = 1};
  const Node *node = g->maker.graph->nodes.items[g->computed++];
  numbers_compute(&g->numbers, node, leaf_value(g, node), &context, NULL);
}

static bool is_sound(const Generator *g, const Node *node) {
  return numbers_have_size(&g->numbers, node, 1e3, 0x1p45) && numbers_are_steady(&g->numbers, node);
}

void take_back(Generator *g, int mark) {
  Graph *graph = g->maker.graph;
  graph->nodes.count = mark;
  graph->next_id = mark;
  if (g->computed > mark) g->computed = mark;
  while (g->arguments.count > 0 && g->arguments.items[g->arguments.count - 1].leaf->id >= mark)
    g->arguments.count--;
  while (g->params.count > 0 && g->params.items[g->params.count - 1]->id >= mark) g->params.count--;
}

bool settle(Generator *g, int mark) {
  Graph *graph = g->maker.graph;
  for (int i = mark; i < graph->nodes.count; i++) {
    const Node *node = graph->nodes.items[i];
    bool sound = shape_elements(node->type.shape) <= g->sizes->node;
    if (sound && i >= g->computed) compute_next(g);
    if (sound && is_sound(g, node)) continue;
    take_back(g, mark);
    return false;
  }
  return true;
}

const Tensor *value_of(Generator *g, Node *node) {
  while (g->computed <= node->id) compute_next(g);
  return g->numbers.values[node->id];
}

bool value_range(Generator *g, Node *node, double *least, double *most) {
  const Tensor *value = value_of(g, node);
  *least = INFINITY;
  *most = -INFINITY;
  for (int64_t i = 0; i < shape_elements(node->type.shape); i++) {
    *least = fmin(*least, value->data[i]);
    *most = fmax(*most, value->data[i]);
  }
  return *least <= *most;
}

Node *constant_of(Generator *g, Type type, double value) {
  return make_constant(&g->maker, type, value);
}

Node *try_add(Generator *g, Op op, int operand_count, Node *const *operands, int attribute_count,
              const Attribute *attributes) {
  const Attribute *sorted[8];
  for (int i = 0; i < attribute_count; i++) {
    int at = i;
    for (; at > 0 && sorted[at - 1]->key > attributes[i].key; at--) sorted[at] = sorted[at - 1];
    sorted[at] = &attributes[i];
  }
  Attribute ordered[8];
  for (int i = 0; i < attribute_count; i++) ordered[i] = *sorted[i];
  Node node = {.op = op,
               .operand_count = operand_count,
               .operands = (Node **)operands,
               .attribute_count = attribute_count,
               .attributes = ordered,
               .path = g->maker.path};
  const char *reason = NULL;
  if (!node_infer(g->arena, &node, &node.type, &reason)) return NULL;
  if (!shape_is_representable(node.type.shape)) return NULL;
  return make_node(&(Maker){g->maker.graph, (Span){0}, g->maker.path}, op, operand_count, operands,
                   attribute_count, ordered);
}

Node *try_unary(Generator *g, Op op, Node *a) { return try_add(g, op, 1, &a, 0, NULL); }

Node *try_binary(Generator *g, Op op, Node *a, Node *b) {
  return a && b ? try_add(g, op, 2, (Node *[]){a, b}, 0, NULL) : NULL;
}

Node *fit_range(Generator *g, Node *x, double least, double most) {
  double low, high;
  if (g->far && draw_chance(g, 85)) return x;
  if (!value_range(g, x, &low, &high)) return x;
  if (low >= least && high <= most && !draw_chance(g, 15)) return x;
  double from = fmax(least, -4), to = fmin(most, from + 6);
  const Maker *m = &g->maker;
  if (isinf(most) && low > -6 && high < 6 && draw_chance(g, 40))
    return make_binary_value(m, OP_ADD, make_binary(m, OP_MUL, x, x), ceil(from * 64) / 64 + 0.25);
  Node *unit = make_unary(m, OP_SIGMOID, x); /* strictly inside (0, 1) */
  Node *wide = make_binary_value(m, OP_MUL, unit, floor((to - from) * 64) / 64);
  return make_binary_value(m, OP_ADD, wide, ceil(from * 64) / 64);
}

Node *broadcast_over(Generator *g, Node *of, Shape shape, int count, const int64_t *axes) {
  int64_t kept[MAX_RANK];
  int rank = 0;
  for (int i = 0; i < shape.rank; i++) {
    bool is_gone = false;
    for (int k = 0; k < count; k++) is_gone = is_gone || axes[k] == i;
    if (!is_gone) kept[rank++] = i;
  }
  return make_broadcast(&g->maker, of, shape, kept);
}

/* ---- a node of a given type ---- */

/* Increasing axes of `into` with the extents of `from`, from the right now and then. */
static bool match_axes(Generator *g, Shape from, Shape into, int64_t *axes) {
  bool right = draw_chance(g, 50);
  int at = right ? from.rank - 1 : 0;
  for (int k = 0; k < into.rank; k++) {
    int i = right ? into.rank - 1 - k : k;
    if (at < 0 || at >= from.rank || from.dim[at] != into.dim[i]) continue;
    axes[at] = i;
    at += right ? -1 : 1;
  }
  return right ? at < 0 : at == from.rank;
}

static Node *as_dtype(Generator *g, Node *x, DType dtype) {
  if (x->type.dtype == dtype) return x;
  if (dtype_is_float(x->type.dtype) != dtype_is_float(dtype) || dtype == DTYPE_BOOL) return NULL;
  return make_cast(&g->maker, x, dtype);
}

static Node *fresh_like(Generator *g, Type type) {
  bool is_float = dtype_is_float(type.dtype);
  int choice = (int)draw_below(g, 4);
  if (choice == 0 || shape_elements(type.shape) > g->sizes->fresh)
    return constant_of(g, type, is_float ? draw_real(g, -2, 2) : (double)draw_below(g, 2));
  if (choice == 1 && is_float) return leaf_param(g, type);
  bool has_iota = is_float || type.dtype == DTYPE_I32 || type.dtype == DTYPE_I64;
  if (choice == 2 && type.shape.rank > 0 && has_iota)
    return make_iota(&g->maker, type, (int)draw_below(g, type.shape.rank));
  return leaf_input(g, type, 0);
}

Node *draw_like(Generator *g, Type type) {
  for (int tries = 0; tries < 20 && g->pool.count > 0; tries++) {
    Node *x = g->pool.items[draw_below(g, g->pool.count)];
    if (shape_elements(x->type.shape) == shape_elements(type.shape) && draw_chance(g, 40)) {
      Node *same = as_dtype(g, x, type.dtype);
      if (same) return make_reshape(&g->maker, same, type.shape);
    }
    if (!shape_equal(x->type.shape, type.shape)) continue;
    Node *same = as_dtype(g, x, type.dtype);
    if (same) return same;
  }
  for (int tries = 0; tries < 10 && g->pool.count > 0; tries++) {
    Node *x = g->pool.items[draw_below(g, g->pool.count)];
    int64_t axes[MAX_RANK];
    if (x->type.shape.rank >= type.shape.rank || !match_axes(g, x->type.shape, type.shape, axes))
      continue;
    Node *same = as_dtype(g, x, type.dtype);
    if (same) return make_broadcast(&g->maker, same, type.shape, axes);
  }
  return fresh_like(g, type);
}

/* As --check-indices writes it; of an index that lies inside. */
static Node *checked(Generator *g, Node *index, int64_t bound) {
  Shape shape = index->type.shape;
  int64_t count = shape_elements(shape);
  if (count == 0 || !draw_chance(g, 12)) return index;
  Node *numbers = make_iota(&g->maker, type_make(DTYPE_I64, shape_make(1, &count)), 0);
  Attribute attributes[] = {attr_make_string(ATTR_NAME, "gather"), attr_make_int(ATTR_AXIS, 0),
                            attr_make_int(ATTR_LENGTH, bound), attr_make_int(ATTR_INDEX, index->id),
                            attr_make_ints(ATTR_EXTENTS, shape.rank, shape.dim)};
  Node *operands[] = {index, make_reshape(&g->maker, numbers, shape)};
  return try_add(g, OP_CHECK_INDEX, 2, operands, 5, attributes);
}

Node *draw_index(Generator *g, Shape shape, int64_t bound) {
  static const DType dtypes[] = {DTYPE_I32, DTYPE_I64, DTYPE_U8};
  const Maker *m = &g->maker;
  if (bound < 1 && shape_elements(shape) > 0) return NULL;
  DType dtype = dtypes[draw_below(g, 3)];
  if (draw_chance(g, 50) || bound < 1) {
    int64_t most = dtype == DTYPE_U8 && bound > 256 ? 256 : bound;
    return checked(g, leaf_input(g, type_make(dtype, shape), most < 1 ? 1 : most), bound);
  }
  if (dtype == DTYPE_U8) dtype = DTYPE_I32;
  Node *raw = draw_like(g, type_make(dtype, shape));
  Node *index = make_binary(m, OP_MOD, raw, constant_of(g, raw->type, (double)bound));
  if (draw_chance(g, 12)) /* some beyond the ends: clamped, or left out */
    return make_binary_value(m, OP_SUB, make_binary_value(m, OP_MUL, index, 2),
                             (double)(bound / 2));
  return checked(g, index, bound);
}

/* ---- growing ---- */

static const Recipe recipes[] = {
#define RECIPE(name, weight, in_large) {#name, grow_##name, weight, in_large},
#include "recipes.def"
#undef RECIPE
};
enum { RECIPE_COUNT = sizeof recipes / sizeof *recipes };

static int weight_of(const Generator *g, const Recipe *recipe) {
  return g->is_large ? recipe->weight_in_large : recipe->weight;
}

static const Recipe *draw_recipe(Generator *g) {
  int64_t total = 0;
  for (int i = 0; i < RECIPE_COUNT; i++) total += weight_of(g, &recipes[i]);
  int64_t at = draw_below(g, total);
  for (int i = 0;; i++) {
    if (at < weight_of(g, &recipes[i])) return &recipes[i];
    at -= weight_of(g, &recipes[i]);
  }
}

Node *tame(Generator *g, Node *x) {
  double least, most;
  if (g->far && draw_chance(g, 95)) return x;
  if (!dtype_is_float(x->type.dtype) || !value_range(g, x, &least, &most)) return x;
  double magnitude = fmax(fabs(least), fabs(most));
  if (magnitude <= 16 || !isfinite(magnitude)) return x;
  if (magnitude < 60 && draw_chance(g, 40)) return make_unary(&g->maker, OP_TANH, x);
  return make_binary_value(&g->maker, OP_MUL, x, exp2(-ceil(log2(magnitude / 8))));
}

bool grow_once(Generator *g) {
  const Recipe *recipe = draw_recipe(g);
  int mark = mark_now(g);
  g->maker.path = name_printf("%s%s.%d", g->prefix, recipe->name, mark);
  Node *node = recipe->grow(g);
  bool fits =
      node && shape_elements(node->type.shape) <= g->sizes->pooled && node->type.shape.rank <= 6;
  if (fits) {
    bool small = true;
    for (int i = mark; i < mark_now(g) && small; i++)
      small = shape_elements(g->maker.graph->nodes.items[i]->type.shape) <= g->sizes->node;
    if (small) node = tame(g, node);
  }
  if (!fits) take_back(g, mark);
  if (!fits || !settle(g, mark)) return false;
  vec_push(g->arena, &g->pool, node);
  return true;
}

static void add_first_leaves(Generator *g) {
  static const DType dtypes[] = {DTYPE_I32, DTYPE_I64, DTYPE_U8, DTYPE_BOOL};
  int params = 1 + (int)draw_below(g, 3), inputs = 1 + (int)draw_below(g, 2);
  for (int i = 0; i < params; i++)
    vec_push(g->arena, &g->pool, leaf_param(g, type_make(g->real, draw_shape(g, 0, 4))));
  for (int i = 0; i < inputs; i++)
    vec_push(g->arena, &g->pool, leaf_input(g, type_make(g->real, draw_shape(g, 0, 4)), 0));
  Type whole = type_make(dtypes[draw_below(g, 4)], draw_shape(g, 0, 3));
  vec_push(g->arena, &g->pool, leaf_input(g, whole, 0));
  if (draw_chance(g, 50)) {
    const char *name = name_printf("%sstate", g->prefix);
    Type type = type_make(draw_chance(g, 70) ? g->real : DTYPE_I32, draw_shape(g, 0, 3));
    vec_push(g->arena, &g->pool, leaf_state(g, VARIABLE_STATE, type, name));
  }
}

/* Extents from which shapes are drawn, so that axes match. */
static void draw_extents(Generator *g) {
  static const int64_t small[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 13, 15, 16, 17};
  static const int64_t large[] = {24, 31, 32, 33, 48, 50, 64, 65, 80, 96, 100, 128, 130, 150};
  enum { LARGE = sizeof large / sizeof *large, SMALL = sizeof small / sizeof *small };
  for (int i = 0; i < 5; i++)
    g->extents[i] =
        g->is_large && i < 3 ? large[draw_below(g, LARGE)] : small[draw_below(g, SMALL)];
}

static void generate(Case *test, Far far) {
  Module *module = test->module;
  Generator *g = ARENA_NEW(test->arena, Generator);
  *g = (Generator){.arena = test->arena, .test = test, .far = far};
  g->state = test->seed * 0x2545F4914F6CDD1Du + 99;
  g->prefix = name_printf("g%llu.", (unsigned long long)test->seed);
  g->maker = (Maker){module->entries[ENTRY_TRAIN], {0}, g->prefix};
  g->graph_of_leaves = g->maker.graph;
  g->numbers = numbers_create(test->arena);
  g->init_numbers = numbers_create(test->arena);
  g->is_large = draw_chance(g, 12);
  g->sizes = g->is_large ? &large_sizes : &small_sizes;
  test->standard = (Standard){.gap = g->sizes->gap, .is_far = g->far != FAR_NOT};
  g->numbers.standard = g->init_numbers.standard = test->standard;
  if (draw_chance(g, 15)) test->steps = MOST_STEPS;
  draw_extents(g);
  g->real = draw_chance(g, 90) ? DTYPE_F32 : DTYPE_F64;
  if (g->far == FAR_F64) g->real = DTYPE_F64;
  g->has_specials = g->far && draw_chance(g, 25);
  add_rate(g);
  add_first_leaves(g);
  if (!settle(g, g->computed)) panic("%s the leaves are not sound", g->prefix);
  int wanted = g->sizes->least_nodes + (int)draw_below(g, g->sizes->more_nodes);
  for (int tries = 0; wanted > 0 && tries < 400; tries++) wanted -= grow_once(g);
  g->maker.path = g->prefix;
  train_finish(g);
}

Case *generate_case(Arena *arena, uint64_t seed, Far far) {
  Case *test = ARENA_NEW(arena, Case);
  *test = (Case){.arena = arena, .seed = seed, .steps = USUAL_STEPS};
  test->module = module_create(arena, "fuzz", NULL);
  test->module->run = (RunConfig){.batch = 1,
                                  .steps = MOST_STEPS,
                                  .accumulate = 1,
                                  .seed = SEED_OF_RANDOM,
                                  .precision = DTYPE_F32};
  static const EntryKind entries[] = {ENTRY_INIT, ENTRY_HOST, ENTRY_TRAIN, ENTRY_FINISH};
  for (int i = 0; i < 4; i++)
    test->module->entries[entries[i]] = graph_create(arena, entry_name(entries[i]));
  generate(test, far);
  if (far == FAR_F64) case_retype_far(test);
  return test;
}
