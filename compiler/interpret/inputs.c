/* Made-up inputs: see inputs.h.
 *
 * What an integer input indexes is found by following it through casts, reshapes and the like to
 * operators that say that an operand of theirs is an index (OpClass.index_extent). */
#include "interpret/inputs.h"

#include <string.h>

#include "ops/op.h"
#include "ops/philox.h"
#include "support/panic.h"

enum { INPUT_STREAM = 0x494E5055 }; /* apart from those of the programs themselves */

static bool is_input(const Node *node, const char *name) {
  return op_info(node->op)->class->leaf == LEAF_INPUT &&
         strcmp(node_string(node, ATTR_NAME), name) == 0;
}

/* The least extent that the input indexes in `graph`, or `least` if none is less; 0: none known. */
static int64_t indexed_extent(const Graph *graph, const char *name, int64_t least) {
  Arena *scratch = arena_create();
  bool *holds_input = ARENA_ARRAY(scratch, bool, graph->next_id);
  for (int i = 0; i < graph->nodes.count; i++) {
    const Node *node = graph->nodes.items[i];
    const OpClass *class = op_info(node->op)->class;
    holds_input[node->id] =
        is_input(node, name) || (class->moves_values && holds_input[node->operands[0]->id]);
    for (int k = 0; class->index_extent && k < node->operand_count; k++) {
      int64_t extent = holds_input[node->operands[k]->id] ? class->index_extent(node, k) : 0;
      if (extent > 0 && (least == 0 || extent < least)) least = extent;
    }
  }
  arena_destroy(scratch);
  return least;
}

static int64_t value_count(const Module *module, const InputInfo *input) {
  int64_t extent = 0;
  for (int i = 0; i < ENTRY_COUNT; i++)
    if (module->entries[i]) extent = indexed_extent(module->entries[i], input->name, extent);
  int64_t most = input->type.dtype == DTYPE_U8 ? 256 : INT32_MAX;
  if (extent > 0) return extent < most ? extent : most;
  return input->type.dtype == DTYPE_U8 ? 256 : 10;
}

Tensor *random_input(Arena *arena, const Module *module, const InputInfo *input, uint64_t seed) {
  Tensor *tensor = tensor_create(arena, input->type);
  DType dtype = input->type.dtype;
  uint64_t key = philox_key(seed, philox_hash(input->name));
  int64_t count = dtype == DTYPE_BOOL ? 2 : dtype_is_int(dtype) ? value_count(module, input) : 0;
  for (int64_t i = 0; i < shape_elements(input->type.shape); i++) {
    PhiloxBlock block = philox_block(key, (uint64_t)i, 0, INPUT_STREAM);
    uint64_t word = block.word[i % 4];
    tensor->data[i] = count == 0 ? philox_normal(block, (uint64_t)i)
                                 : (double)(word * (uint64_t)count >> 32);
  }
  return tensor;
}

Binding *random_inputs(Arena *arena, const Module *module, uint64_t seed) {
  Binding *bindings = ARENA_ARRAY(arena, Binding, module->inputs.count);
  for (int i = 0; i < module->inputs.count; i++) {
    const InputInfo *input = &module->inputs.items[i];
    bindings[i] = (Binding){OP_INPUT, input->name, random_input(arena, module, input, seed)};
  }
  return bindings;
}
