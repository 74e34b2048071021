/* Gradients against central differences, in double: `nnc FILE --check-gradients`. */
#ifndef NNC_INTERPRET_CHECK_GRADIENTS_H
#define NNC_INTERPRET_CHECK_GRADIENTS_H

#include "interpret/interpret.h"
#include "support/diagnostics.h"

typedef struct GradientCheck {
  uint64_t seed;    /* of initial values, inputs and the sample */
  int samples;      /* elements checked of each parameter at most */
  double tolerance; /* of the difference, relative to the parameter's largest gradient */
} GradientCheck;

static const GradientCheck gradient_check_default = {.seed = 1, .samples = 8, .tolerance = 1e-5};

/* What is being judged: the pass "differentiate". */
typedef void DifferentiatePass(Module *module, Diagnostics *diagnostics);

/* Checks every parameter that the train entry differentiates by, on random inputs. The module is
 * as elaborated, its gradient nodes still in place, and stays so. Adds a table of the results to
 * `table`, and where a gradient is NaN or infinite a warning that names the line. True when every
 * parameter passes. */
bool check_gradients(Arena *arena, const Module *module, DifferentiatePass *differentiate,
                     const GradientCheck *check, Text *table, Diagnostics *diagnostics);

#endif
