/* Made-up inputs: see inputs.h.
 *
 * What an integer input means is read off its uses in all entries by ops/values.h. */
#include "interpret/inputs.h"

#include "ops/op.h"
#include "ops/philox.h"
#include "ops/values.h"
#include "support/hash.h"

enum { INPUT_STREAM = 0x494E5055 }; /* apart from those of the programs themselves */

/* What the program tells, else what the type suggests: pictures, or counts, which are no divisor of 0. */
static InputValues values_of(const Module *module, const InputInfo *input) {
  DType dtype = input->type.dtype;
  if (dtype == DTYPE_BOOL) return (InputValues){0, 1};
  Arena *scratch = arena_create();
  InputValues values = module_input_values(scratch, module, input->name);
  arena_destroy(scratch);
  int64_t most = dtype == DTYPE_U8 ? 255 : INT32_MAX - 1;
  if (values.last < values.first)
    return dtype == DTYPE_U8 ? (InputValues){0, most} : (InputValues){1, 10};
  if (dtype == DTYPE_U8 && values.first < 0) values.first = 0;
  if (values.last > most) values.last = most;
  if (values.last < values.first) values.last = values.first;
  return values;
}

Tensor *random_input(Arena *arena, const Module *module, const InputInfo *input, uint64_t seed) {
  Tensor *tensor = tensor_create(arena, input->type);
  uint64_t key = philox_key(seed, hash_text(input->name));
  bool is_float = dtype_is_float(input->type.dtype);
  InputValues values = is_float ? (InputValues){0} : values_of(module, input);
  uint64_t count = (uint64_t)(values.last - values.first + 1);
  for (int64_t i = 0; i < shape_elements(input->type.shape); i++) {
    PhiloxBlock block = philox_block(key, (uint64_t)i, 0, INPUT_STREAM);
    uint64_t word = block.word[i % 4];
    tensor->data[i] = is_float ? philox_normal(block, (uint64_t)i)
                               : (double)(values.first + (int64_t)(word * count >> 32));
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
