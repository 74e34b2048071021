/* Types, graphs, the verifier and the textual form. */
#include "mutate.h"
#include "sample_module.h"

static int make_arena(void **state) {
  *state = arena_create();
  return 0;
}

static int drop_arena(void **state) {
  arena_destroy(*state);
  return 0;
}

/* ---- types -------------------------------------------------------------------------------- */

static void test_dtypes_have_names_and_sizes(void **state) {
  (void)state;
  for (int i = 0; i < DTYPE_COUNT; i++) {
    DType found;
    assert_true(dtype_parse(dtype_name((DType)i), &found));
    assert_int_equal(found, i);
  }
  DType found;
  assert_false(dtype_parse("f8", &found));
  assert_int_equal(dtype_size(DTYPE_BF16), 2);
  assert_true(dtype_is_float(DTYPE_F16) && !dtype_is_int(DTYPE_F16));
  assert_true(!dtype_is_float(DTYPE_BOOL) && !dtype_is_int(DTYPE_BOOL));
}

static void test_shapes_broadcast_like_numpy(void **state) {
  (void)state;
  Shape result;
  assert_true(shape_broadcast(SHAPE(4, 1, 3), SHAPE(5, 1), &result));
  assert_true(shape_equal(result, SHAPE(4, 5, 3)));
  assert_true(shape_broadcast(shape_scalar(), SHAPE(0), &result));
  assert_true(shape_equal(result, SHAPE(0)));
  assert_false(shape_broadcast(SHAPE(2, 3), SHAPE(2), &result));
  int64_t stride[MAX_RANK];
  shape_strides(SHAPE(4, 5, 3), stride);
  assert_int_equal(stride[0], 15);
  assert_int_equal(stride[2], 1);
}

static void test_shapes_that_overflow_are_not_representable(void **state) {
  (void)state;
  assert_true(shape_is_representable(SHAPE(1 << 20, 1 << 20)));
  assert_false(shape_is_representable(SHAPE(1 << 20, 1 << 20, 2)));
  assert_false(shape_is_representable(SHAPE(INT64_MAX, INT64_MAX, 0)));
  assert_false(shape_is_representable(SHAPE(INT64_MAX, 4)));
  assert_false(shape_is_representable(SHAPE(-1)));
}

/* ---- graphs ------------------------------------------------------------------------------- */

static void test_attributes_are_sorted_and_copied(void **state) {
  Graph *graph = graph_create(*state, "train");
  Maker maker = {graph, {0}, "x"};
  Node *x = make_constant(&maker, TYPE(F32, 4), 1);
  int64_t one[] = {1}, two[] = {2}, three[] = {3};
  Attribute attributes[] = {attr_make_ints(ATTR_STEP, 1, one), attr_make_ints(ATTR_STOP, 1, three),
                            attr_make_ints(ATTR_START, 1, two)};
  Node *slice = make_node(&(Maker){graph, maker.span, maker.path}, OP_SLICE, 1, &x, 3, attributes);
  two[0] = 0;
  assert_int_equal(node_ints(slice, ATTR_START)->ints[0], 2);
  assert_int_equal(slice->attributes[0].key, ATTR_START);
  assert_int_equal(slice->attributes[2].key, ATTR_STEP);
  assert_null(node_attribute(slice, ATTR_NAME));
  assert_true(type_equal(slice->type, TYPE(F32, 1)));
}

static void test_attributes_compare_by_bits(void **state) {
  Graph *graph = graph_create(*state, "train");
  Maker maker = {graph, {0}, "x"};
  Type type = type_scalar(DTYPE_F32);
  Node *nan = make_constant(&maker, type, NAN);
  assert_true(node_same_attributes(nan, make_constant(&maker, type, NAN)));
  assert_false(
      node_same_attributes(make_constant(&maker, type, 0.0), make_constant(&maker, type, -0.0)));
}

static void test_copying_a_tree_shares_what_is_mapped(void **state) {
  Arena *arena = *state;
  Graph *from = graph_create(arena, "train"), *into = graph_create(arena, "eval");
  Maker maker = {from, {0}, "x"};
  Node *x = leaf(&maker, OP_SCALAR, type_scalar(DTYPE_F64), "t");
  Node *root = make_unary(&maker, OP_EXP, x);
  for (int i = 0; i < 100000; i++) root = make_binary(&maker, OP_ADD, root, x);
  NodeMap map = node_map_create(arena, from);
  Node *copy = graph_copy_tree(into, root, &map);
  assert_int_equal(into->nodes.count, from->nodes.count);
  assert_ptr_equal(copy, into->nodes.items[into->nodes.count - 1]);
  assert_ptr_equal(graph_copy_tree(into, root, &map), copy);
  assert_int_equal(into->nodes.count, from->nodes.count);
}

static void test_dead_nodes_do_not_count_as_users(void **state) {
  Arena *arena = *state;
  Graph *graph = graph_create(arena, "train");
  Maker maker = {graph, {0}, "x"};
  Node *x = leaf(&maker, OP_SCALAR, type_scalar(DTYPE_F64), "t");
  Node *dead = make_unary(&maker, OP_EXP, x);
  Node *square = make_binary(&maker, OP_MUL, x, x);
  output(graph, OUTPUT_SCALAR, "a", square);
  output(graph, OUTPUT_SCALAR, "b", square);
  const bool *live = graph_live_nodes(arena, graph);
  const int *uses = graph_use_counts(arena, graph);
  assert_true(live[x->id] && live[square->id] && !live[dead->id]);
  assert_int_equal(uses[x->id], 2);
  assert_int_equal(uses[square->id], 2);
  assert_int_equal(uses[dead->id], 0);
  assert_non_null(graph_find_output(graph, OUTPUT_SCALAR, "b"));
  assert_null(graph_find_output(graph, OUTPUT_STORE, "b"));
}

/* ---- the textual form --------------------------------------------------------------------- */

static void test_a_graph_prints_as_ssa(void **state) {
  Sample sample = sample_create(*state);
  assert_string_equal(print_graph(*state, sample.module->entries[ENTRY_HOST]),
                      "entry host {\n"
                      "  %0 : f64[] = scalar() {name = \"t\"} \"schedule\"\n"
                      "  %1 : f64[] = constant() {value = 0.001} \"schedule\"\n"
                      "  %2 : f64[] = mul(%0, %1) \"schedule\"\n"
                      "  scalar \"lr\" = %2\n"
                      "}\n");
}

static void test_a_module_reads_back_byte_for_byte(void **state) {
  Sample sample = sample_create(*state);
  assert_verified(*state, sample.module);
  char *errors, *printed = print_module(*state, sample.module);
  Module *read = parse_text(*state, printed, strlen(printed), &errors);
  assert_string_equal(errors, "");
  assert_string_equal(print_module(*state, read), printed);
  assert_string_equal(read->source->text, SAMPLE_SOURCE);
  assert_int_equal(read->variables.items[0].span.file->is_prelude, 1);
  assert_int_equal(read->run.seed, -3);
  const DataCall *call = &read->data_sets.items[0].pipelines[0].calls[0];
  assert_true(call->arguments[1].value.items[2].number == 1);
}

static void test_doubles_read_back_exactly(void **state) {
  static const double values[] = {0.1,
                                  -0.0,
                                  1e-320,
                                  1.7976931348623157e308,
                                  1.0 / 3,
                                  -2.5,
                                  123456789012345680.0,
                                  INFINITY,
                                  -INFINITY,
                                  NAN,
                                  5};
  Arena *arena = *state;
  Module *module = module_create(arena, "m", NULL);
  Maker maker = entry_maker(module, ENTRY_PREDICT, "");
  for (size_t i = 0; i < sizeof values / sizeof *values; i++)
    output(maker.graph, OUTPUT_RESULT, arena_printf(arena, "r%zu", i),
           make_constant(&maker, TYPE(F64, 2), values[i]));
  char *errors, *printed = print_module(arena, module);
  Module *read = parse_text(arena, printed, strlen(printed), &errors);
  assert_string_equal(errors, "");
  assert_string_equal(print_module(arena, read), printed);
  for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
    double found = node_float(read->entries[ENTRY_PREDICT]->nodes.items[i], ATTR_VALUE);
    assert_memory_equal(&found, &values[i], sizeof found);
  }
}

static void test_gaps_between_ids_survive(void **state) {
  Arena *arena = *state;
  Module *module = module_create(arena, "m", NULL);
  Maker maker = entry_maker(module, ENTRY_PREDICT, "p");
  Node *x = make_constant(&maker, TYPE(I64, 2, 0), -7);
  maker.graph->next_id = 40;
  output(maker.graph, OUTPUT_RESULT, "r", make_unary(&maker, OP_NEG, x));
  char *errors, *printed = print_module(arena, module);
  assert_contains(printed, "%40 : i64[2, 0] = neg(%0)");
  Module *read = parse_text(arena, printed, strlen(printed), &errors);
  assert_string_equal(errors, "");
  assert_string_equal(print_module(arena, read), printed);
}

static void test_comments_are_passed_over(void **state) {
  static const char dump[] = "# a \"title\n  # more\nnnc_dump 1 # version\nmodule \"m#\"#end";
  char *errors;
  Module *module = parse_text(*state, dump, sizeof dump - 1, &errors);
  assert_string_equal(errors, "");
  assert_string_equal(module->name, "m#");
}

static void test_a_drawing_has_a_cluster_an_entry(void **state) {
  Sample sample = sample_create(*state);
  Text text = {0};
  module_print_dot(&text, sample.module);
  assert_contains(text.data, "subgraph cluster_train {");
  assert_contains(text.data, "host_0 -> host_2;");
  assert_contains(text.data, "[label=\"contract\\nf32[4, 2]\\nh.linear\", shape=box];");
  text_free(&text);
}

/* ---- reading what is wrong ---------------------------------------------------------------- */

typedef struct Misprint {
  const char *was, *is; /* the first `was` in the sample's dump becomes `is` */
  const char *place;    /* "a.dump:LINE:COLUMN" may be NULL */
  const char *message;
} Misprint;

static const Misprint misprints[] = {
    {"nnc_dump 1", "nnc_dump 2", "a.dump:1:10", "this integer is not between 1 and 1"},
    {"nnc_dump", "dump", "a.dump:1:1", "expected 'nnc_dump' but found 'dump'"},
    {"source ", "sourse ", NULL, "expected an item of a dump"},
    {"file 1", "file 2", NULL, "this integer is not between 1 and 1"},
    {"no newline", "no \\q newline", NULL, "this string has an unknown escape"},
    {"no newline", "no \\u0000newline", NULL, "this string has an unknown escape"},
    {"at the end\"", "at the end", NULL, "this string does not end on its line"},
    {"f32[4, 3]", "f32[4, -3]", NULL, "this integer is not between 0"},
    {"f32[4, 3]", "f33[4, 3]", NULL, "'f33' is not an element type"},
    {"f32[4, 3]", "f32[1,1,1,1,1,1,1,1,1]", NULL, "a shape has at most 8 axes"},
    {"f32[4, 3]", "f32[1099511627776, 3]", NULL, "this tensor is too large"},
    {"f32[4, 3]", "f32[99999999999999999999999]", NULL, "this integer is not between 0"},
    {"reduce_mean(%2)", "reduce_mean(%9)", NULL, "there is no node %9 before this"},
    {"reduce_mean(%2)", "reduce_meen(%2)", NULL, "'reduce_meen' is not an operator"},
    {"reduce_mean(%2)", "reduce_mean(%2, %2)", NULL, "it has 2 operands"},
    {"%3 : ", "%2 : ", NULL, "the ids of nodes increase"},
    {"%3 : ", "%99999999 : ", NULL, "node ids end at"},
    {"axes = [0, 1]", "axes = [0, 1], axes = [0]", NULL, "attribute axes is given twice"},
    {"axes = [0, 1]", "axis = [0, 1]", NULL, "expected an integer but found '['"},
    {"axes = [0, 1]", "axes = [0, 2]", NULL, "names axis 2"},
    {"axes = [0, 1]", "axles = [0, 1]", NULL, "expected the name of an attribute"},
    {" {axes = [0, 1]}", "", NULL, "the attribute 'axes' is missing"},
    {"accumulator mean", "accumulator mode", NULL, "expected how to combine it"},
    {"entry host", "entry train", NULL, "entry train stands twice"},
    {"entry host", "entry guest", NULL, "expected the name of an entry"},
    {"@1/14:1", "@2/14:1", NULL, "this place lies in a file that is not listed"},
    {"accumulator sum \"loss\" = %3", "store \"h.w\" = %1", NULL,
     "this entry may store streams only"},
    {"label\" = csv", "label\" = 3", NULL, "expected a name but found '3'"},
    {"[0.1,", "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[0.1,", NULL, "nested too deeply"},
    {"epochs = 5", "epochs = 5.5", NULL, "expected an integer but found '5.5'"},
    {"accumulate = 2", "accumulate = 0", "a.dump:1:1", "accumulate is less than 1"},
};

static char *replace_first(Arena *arena, const char *text, const char *was, const char *is) {
  const char *at = strstr(text, was);
  if (!at) fail_msg("'%s' is not in the dump", was);
  return arena_printf(arena, "%.*s%s%s", (int)(at - text), text, is, at + strlen(was));
}

static void test_misprints_are_diagnosed(void **state) {
  Sample sample = sample_create(*state);
  const char *printed = print_module(*state, sample.module);
  for (size_t i = 0; i < sizeof misprints / sizeof *misprints; i++) {
    const Misprint *misprint = &misprints[i];
    char *errors, *dump = replace_first(*state, printed, misprint->was, misprint->is);
    if (parse_text(*state, dump, strlen(dump), &errors))
      fail_msg("'%s' for '%s' was not noticed", misprint->is, misprint->was);
    assert_contains(errors, misprint->message);
    assert_contains(errors, misprint->place ? misprint->place : "a.dump:");
  }
}

/* The verifier's complaint about a node stands at the node's line in the dump. */
static void test_a_broken_rule_is_shown_at_its_line(void **state) {
  static const char dump[] = "nnc_dump 1\nmodule \"m\"\n"
                             "entry predict {\n"
                             "  %0 : f32[2] = constant() {value = 1.0} \"a\"\n"
                             "  %1 : f32[3] = exp(%0) \"a\"\n"
                             "  result \"r\" = %1\n"
                             "}\n";
  char *errors;
  assert_null(parse_text(*state, dump, sizeof dump - 1, &errors));
  assert_contains(errors, "a.dump:5:3: error: entry predict: node %1 (exp, \"a\"): its type is "
                          "f32[3] but its rule gives f32[2]");
}

/* The number of attempts that a build for debugging raises: NNC_MUTATIONS=100000. */
static int mutation_count(void) {
  const char *wanted = getenv("NNC_MUTATIONS");
  return wanted ? atoi(wanted) : 2000;
}

typedef size_t Mutation(char *text, size_t length, size_t capacity, uint64_t *seed);

/* Reads mutated copies of `dump`; those that are still modules must read back.  Their number. */
static int survive_mutations(Arena *scratch, const char *dump, Mutation *mutation) {
  size_t length = strlen(dump), capacity = 2 * length;
  char *text = arena_alloc(scratch, capacity + 1);
  uint64_t seed = 1;
  int read_back = 0;
  for (int i = 0; i < mutation_count(); i++) {
    Arena *arena = arena_create();
    char *errors;
    memcpy(text, dump, length);
    size_t mutated = mutation(text, length, capacity, &seed);
    Module *module = parse_text(arena, text, mutated, &errors);
    if (module) {
      char *once = print_module(arena, module);
      Module *again = parse_text(arena, once, strlen(once), &errors);
      assert_non_null(again);
      assert_string_equal(print_module(arena, again), once);
      read_back++;
    }
    arena_destroy(arena);
  }
  return read_back;
}

static void test_no_mutation_of_a_dump_does_harm(void **state) {
  Sample sample = sample_create(*state);
  const char *printed = print_module(*state, sample.module);
  assert_true(survive_mutations(*state, printed, mutate) > 0);
  assert_true(survive_mutations(*state, printed, mutate_number) > 0);
}

static void test_no_number_in_an_operator_does_harm(void **state) {
  const char *reason, *path = SOURCE_DIR "/tests/unit/data/operators.dump";
  SourceFile *file = source_read(*state, path, &reason);
  assert_non_null(file);
  char *errors;
  Module *module = parse_text(*state, file->text, file->length, &errors);
  assert_string_equal(errors, "");
  assert_string_equal(print_module(*state, module), file->text);
  assert_true(survive_mutations(*state, file->text, mutate_number) > 0);
}

/* ---- the verifier ------------------------------------------------------------------------- */

typedef struct Damage {
  void (*inflict)(Module *module);
  const char *message;
} Damage;

static Node *train_node(Module *module, Op op) {
  Graph *graph = module->entries[ENTRY_TRAIN];
  for (int i = 0; i < graph->nodes.count; i++)
    if (graph->nodes.items[i]->op == op) return graph->nodes.items[i];
  fail_msg("the sample has no %s", op_info(op)->name);
  return NULL;
}

#define DAMAGE(name, statement)                                                                    \
  static void name(Module *module) {                                                               \
    Graph *train = module->entries[ENTRY_TRAIN];                                                   \
    (void)train;                                                                                   \
    statement;                                                                                     \
  }

DAMAGE(order, train_node(module, OP_CONTRACT)->operands[0] = train_node(module, OP_MUL))
DAMAGE(stranger,
       train_node(module, OP_CONTRACT)->operands[0] = module->entries[ENTRY_EVAL]->nodes.items[0])
DAMAGE(no_operand, train_node(module, OP_MUL)->operands[1] = NULL)
DAMAGE(wrong_type, train_node(module, OP_MUL)->type.dtype = DTYPE_F64)
DAMAGE(huge_type, train_node(module, OP_MUL)->type.shape.dim[0] = INT64_MAX)
DAMAGE(no_attribute, train_node(module, OP_REDUCE_MEAN)->attribute_count = 0)
DAMAGE(bad_order, train_node(module, OP_BROADCAST)->attributes[1].key = ATTR_AXES)
DAMAGE(bad_key, train_node(module, OP_CAST)->attributes[0].key = ATTR_COUNT)
DAMAGE(double_id, train->nodes.items[3]->id = train->nodes.items[2]->id)
DAMAGE(large_id, train->next_id--)
DAMAGE(no_path, train_node(module, OP_MUL)->path = NULL)
DAMAGE(no_op, train_node(module, OP_MUL)->op = OP_COUNT)
DAMAGE(no_file, train_node(module, OP_MUL)->span.file = NULL)
DAMAGE(param_name, train_node(module, OP_PARAM)->attributes[0].string = name_intern("h.v"))
DAMAGE(param_kind, module->variables.items[0].kind = VARIABLE_STATE)
DAMAGE(param_type, train_node(module, OP_PARAM)->type = TYPE(F32, 3, 3))
DAMAGE(input_name, module->inputs.items[0].name = name_intern("z"))
DAMAGE(input_dtype, module->inputs.items[0].type.dtype = DTYPE_F64)
DAMAGE(input_shape, module->inputs.items[0].type.shape.dim[1] = 5)
DAMAGE(input_fixed,
       (module->inputs.items[0].is_batched = false, module->inputs.items[0].type.shape.dim[0] = 5))
DAMAGE(scalar_name, train_node(module, OP_SCALAR)->attributes[0].string = name_intern("rate"))
DAMAGE(host_cycle,
       module->entries[ENTRY_HOST]->nodes.items[0]->attributes[0].string = name_intern("lr"))
DAMAGE(host_type, {
  Maker maker = entry_maker(module, ENTRY_HOST, "h");
  (void)make_constant(&maker, type_scalar(DTYPE_F32), 1);
})
DAMAGE(host_reads, {
  Maker maker = entry_maker(module, ENTRY_HOST, "h");
  (void)leaf(&maker, OP_STATE, type_scalar(DTYPE_F64), "h.mean");
})
DAMAGE(store_name, train->outputs.items[0].name = name_intern("h.variance"))
DAMAGE(store_type, train->outputs.items[0].node = train_node(module, OP_PARAM))
DAMAGE(store_twice, output(train, OUTPUT_STORE, "h.mean", train_node(module, OP_MUL)))
DAMAGE(store_init, module->entries[ENTRY_INIT]->outputs.count--)
DAMAGE(store_eval, output(module->entries[ENTRY_EVAL], OUTPUT_STORE, "h.w",
                          module->entries[ENTRY_EVAL]->nodes.items[1]))
DAMAGE(vector_metric, train->outputs.items[1].node = train_node(module, OP_MUL))
DAMAGE(output_kind, train->outputs.items[1].kind = OUTPUT_RESULT)
DAMAGE(output_stranger,
       train->outputs.items[0].node = module->entries[ENTRY_EVAL]->outputs.items[0].node)
DAMAGE(output_unkind, train->outputs.items[1].kind = OUTPUT_KIND_COUNT)
DAMAGE(output_nameless, train->outputs.items[1].name = NULL)
DAMAGE(output_nodeless, train->outputs.items[1].node = NULL)
DAMAGE(combine, train->outputs.items[1].combine = COMBINE_COUNT)
DAMAGE(accumulator, module->entries[ENTRY_EVAL]->outputs.items[0].name = name_intern("error"))
DAMAGE(finish_reads,
       module->entries[ENTRY_FINISH]->nodes.items[0]->attributes[0].string = name_intern("lr"))
DAMAGE(plateau,
       vec_push(module->arena, &module->plateaus,
                ((Plateau){.name = name_intern("plateau:0"), .metric = "nothing", .set = "test"})))
DAMAGE(watch, vec_push(module->arena, &module->watches,
                       ((Watch){.metric = "nothing", .set = "test", .count = 1})))
DAMAGE(watch_count,
       vec_push(module->arena, &module->watches,
                ((Watch){.metric = module->metrics.items[0].name, .set = "test", .count = 0})))
DAMAGE(saves, module->run.save_steps = -1)
DAMAGE(two_metrics, vec_push(module->arena, &module->metrics, module->metrics.items[0]))
DAMAGE(metric, module->entries[ENTRY_FINISH]->outputs.count = 0)
DAMAGE(two_variables, module->variables.items[1].path = module->variables.items[2].path)
DAMAGE(two_inputs, module->inputs.items[1].name = module->inputs.items[0].name)
DAMAGE(graph_name, train->name = name_intern("tran"))
DAMAGE(precision, module->run.precision = DTYPE_I32)

static const Damage damages[] = {
    {order, "entry train: node %2 (contract, \"h.linear\"): operand 0 (%8) is not a node of this "
            "graph before it"},
    {stranger, "operand 0 (%0) is not a node of this graph before it"},
    {no_operand, "node %8 (mul, \"loss\"): operand 1 is missing"},
    {wrong_type, "its type is f64[2] but its rule gives f32[2]"},
    {huge_type, "its type is too large or malformed"},
    {no_attribute, "(reduce_mean, \"loss\"): the attribute 'axes' is missing"},
    {bad_order, "attribute axes is double or out of order"},
    {bad_key, "attribute 0 has a key that does not exist"},
    {double_id, "its id does not exceed 2"},
    {large_id, "its id is not below the graph's next id 8"},
    {no_path, "it has no path"},
    {no_op, "its operator does not exist"},
    {no_file, "its place has no file"},
    {param_name, "the module has no variable \"h.v\""},
    {param_kind, "variable \"h.w\" is not a parameter"},
    {param_type, "variable \"h.w\" is f32[3, 2] but read as f32[3, 3]"},
    {input_name, "the module has no input \"x\""},
    {input_dtype, "input \"x\" is declared f64[4, 3] but read as f32[4, 3]"},
    {input_shape, "input \"x\" is declared f32[4, 5] but read as f32[4, 3]"},
    {input_fixed, "input \"x\" is declared f32[5, 3] but read as f32[4, 3]"},
    {scalar_name, "no host scalar \"rate\" is known here"},
    {host_cycle, "entry host: node %0 (scalar, \"schedule\"): no host scalar \"lr\" is known here"},
    {host_type, "this entry computes with f64 scalars, not with f32[]"},
    {host_reads, "this entry cannot read such a leaf"},
    {store_name, "store \"h.variance\" = %8: the module has no variable of this name"},
    {store_type, "the variable is f32[2] but the value f32[3, 2]"},
    {store_twice, "there are two of this name"},
    {store_init, "entry init: variable \"h.w:m\" gets no value"},
    {store_eval, "this entry may store streams only"},
    {vector_metric, "an accumulator is a scalar but this is f32[2]"},
    {output_kind, "this entry cannot have such an output"},
    {output_stranger, "its node does not belong to the graph"},
    {output_unkind, "entry train: output 1: its kind does not exist"},
    {output_nameless, "entry train: output 1 has no name"},
    {output_nodeless, "entry train: output \"loss\" has no node"},
    {combine, "accumulator \"loss\" = %3: its way to combine does not exist"},
    {accumulator, "entries train and eval do not have the same accumulators"},
    {finish_reads, "entry finish: node %0 (scalar, \"loss\"): no host scalar \"lr\" is known here"},
    {plateau, "plateau \"plateau:0\": there is no metric \"nothing\""},
    {watch, "watch 0: there is no metric \"nothing\""},
    {watch_count, "watch 0: its numbers make no sense"},
    {saves, "run: a count of saves is negative"},
    {two_metrics, "metric \"loss\": there are two of this name"},
    {metric, "metric \"loss\": entry finish does not compute it"},
    {two_variables, "variable \"memory\": there are two of this path"},
    {two_inputs, "input \"x\": there are two of this name"},
    {graph_name, "entry train: its graph is named \"tran\""},
    {precision, "run: the precision is not a float"},
};

static void test_the_verifier_names_each_damage(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
    Arena *arena = arena_create();
    Sample sample = sample_create(arena);
    damages[i].inflict(sample.module);
    const char *message = module_verify(arena, sample.module);
    if (!message) fail_msg("damage %zu (%s) was not noticed", i, damages[i].message);
    assert_contains(message, damages[i].message);
    arena_destroy(arena);
  }
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, make_arena, drop_arena)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(test_dtypes_have_names_and_sizes),
      TEST(test_shapes_broadcast_like_numpy),
      TEST(test_shapes_that_overflow_are_not_representable),
      TEST(test_attributes_are_sorted_and_copied),
      TEST(test_attributes_compare_by_bits),
      TEST(test_copying_a_tree_shares_what_is_mapped),
      TEST(test_dead_nodes_do_not_count_as_users),
      TEST(test_a_graph_prints_as_ssa),
      TEST(test_a_module_reads_back_byte_for_byte),
      TEST(test_doubles_read_back_exactly),
      TEST(test_gaps_between_ids_survive),
      TEST(test_comments_are_passed_over),
      TEST(test_a_drawing_has_a_cluster_an_entry),
      TEST(test_misprints_are_diagnosed),
      TEST(test_a_broken_rule_is_shown_at_its_line),
      TEST(test_no_mutation_of_a_dump_does_harm),
      TEST(test_no_number_in_an_operator_does_harm),
      TEST(test_the_verifier_names_each_damage),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
