/* The names of operators. */
#include <string.h>
#include "graph/graph.h"
#include "support/panic.h"

static const char *const names[OP_COUNT] = {
#define OP(identifier, name, ...) [OP_##identifier] = name,
#include "ops/ops.def"
#undef OP
};

const char *op_name(Op op) {
  if ((unsigned)op >= OP_COUNT) panic("there is no operator number %d", (int)op);
  return names[op];
}

bool op_parse(const char *name, Op *op) {
  for (int i = 0; i < OP_COUNT; i++) {
    if (strcmp(names[i], name) != 0) continue;
    *op = (Op)i;
    return true;
  }
  return false;
}
