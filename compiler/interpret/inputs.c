/* Made-up inputs: see inputs.h.
 *
 * What an integer input indexes is found in all entries by ops/limits.h. */
#include "interpret/inputs.h"

#include "ops/limits.h"
#include "ops/op.h"
#include "ops/philox.h"
#include "support/hash.h"

enum { INPUT_STREAM = 0x494E5055 }; /* apart from those of the programs themselves */

/* The least limit of any entry, else what the type suggests. */
static int64_t value_count(const Module *module, const InputInfo *input) {
  int64_t count = input->type.dtype == DTYPE_U8 ? 256 : 10, least = 0;
  Arena *scratch = arena_create();
  for (int i = 0; i < ENTRY_COUNT; i++) {
    const Graph *graph = module->entries[i];
    int64_t limit = graph ? graph_input_limit(scratch, graph, input->name).bound : 0;
    if (limit > 0 && (least == 0 || limit < least)) least = limit;
  }
  arena_destroy(scratch);
  if (least == 0) return count;
  int64_t most = input->type.dtype == DTYPE_U8 ? 256 : INT32_MAX;
  return least < most ? least : most;
}

Tensor *random_input(Arena *arena, const Module *module, const InputInfo *input, uint64_t seed) {
  Tensor *tensor = tensor_create(arena, input->type);
  DType dtype = input->type.dtype;
  uint64_t key = philox_key(seed, hash_text(input->name));
  int64_t count = dtype == DTYPE_BOOL ? 2 : dtype_is_int(dtype) ? value_count(module, input) : 0;
  for (int64_t i = 0; i < shape_elements(input->type.shape); i++) {
    PhiloxBlock block = philox_block(key, (uint64_t)i, 0, INPUT_STREAM);
    uint64_t word = block.word[i % 4];
    tensor->data[i] =
        count == 0 ? philox_normal(block, (uint64_t)i) : (double)(word * (uint64_t)count >> 32);
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
