/* Random graphs, and what judges them: the parts of the fuzzer.
 *
 *   generate.c   a valid module from a seed: recipes (recipes.def, recipes_*.c) grow a train entry, then
 *                train.c adds losses, gradients, updates and outputs
 *   numeric.c    values of nodes, whether they are well-conditioned, and how far rounding moves them
 *   play.c       steps of training on a case's values: the reference
 *   judge.c      the stages that need no C compiler: passes, text, programs
 *   judge_c.c    the stage that compiles and runs an executable
 *   shrink.c     a smaller module that still fails
 *   fuzz.c       the command
 *
 * A Case carries values as well as a module, so that it can be cut anywhere: a node is replaced by an
 * input that has its value. */
#ifndef NNC_TESTS_FUZZ_GRAPHS_FUZZ_H
#define NNC_TESTS_FUZZ_GRAPHS_FUZZ_H

#include <stdbool.h>
#include <stdint.h>

#include "interpret/interpret.h"

typedef struct Case {
  Arena *arena;
  uint64_t seed;
  Module *module;           /* gradient nodes still in place */
  VEC(Tensor *) inputs;     /* parallel to the module's inputs; the same in every step */
  VEC(Tensor *) start;      /* parallel to the module's variables: their values before step 1 */
  int steps;                /* 1 or 2 */
} Case;

/* ---- generate.c ---- */

/* Adds the graph of `seed` to `test`, all names prefixed by "g<seed>."; the module exists already.  The
 * graph is the same whatever else the module holds. */
void generate_into(Case *test, uint64_t seed);
/* One graph alone. */
Case *generate_case(Arena *arena, uint64_t seed);
/* Several in one module. */
Case *generate_cases(Arena *arena, int count, const uint64_t *seeds);

/* ---- numeric.c ---- */

typedef struct Numbers {      /* by node id */
  Arena *arena;
  int room;
  Tensor **values;
  bool *exact;                /* the same bits in every sound evaluation, in float too */
  bool variables_moved;       /* they are results of a step, not given */
} Numbers;

typedef struct Noise {        /* rounding, imitated by random errors */
  uint64_t state;
  double unit[DTYPE_COUNT];   /* relative error of one operation in each type; all 0: none */
} Noise;

Numbers numbers_create(Arena *arena);
/* Computes one node whose operands are there. `binding`: of leaves that need one, or NULL. */
void numbers_compute(Numbers *numbers, const Node *node, const Tensor *binding,
                     const EvaluateContext *context, Noise *noise);
/* Whether the node's value moves smoothly with its operands': far from jumps, poles and ties. */
bool numbers_are_steady(const Numbers *numbers, const Node *node);
/* The first unsteady node of a graph without gradients, or NULL. */
const Node *numbers_find_unsteady(const Numbers *numbers, const Graph *graph);
/* The value of a leaf that needs one; NULL of other nodes. */
const Tensor *find_binding(const Node *node, int count, const Binding *bindings);
/* Everything that an output needs. */
Numbers numbers_of_graph(Arena *arena, const Graph *graph, int binding_count,
                         const Binding *bindings, const EvaluateContext *context, Noise *noise);
double tensor_magnitude(const Tensor *tensor); /* max |x|; inf when an element is not finite */

/* ---- play.c ---- */

/* How many steps of the case are steady: 0, 1 or more; at most test->steps. */
int case_find_steps(const Case *test);

typedef struct Expected {
  const char *name;
  const Tensor *value;
  double spread[2];         /* how far rounding moves it: in double, and in the module's own types */
} Expected;

/* What every implementation must give. */
typedef struct Reference {
  Module *module;           /* differentiated */
  int output_count;         /* of the train entry */
  Expected *init;           /* by variable */
  Expected *variables[2];   /* [step][variable] */
  Expected *outputs[2];     /* [step][output of the train entry] */
} Reference;
Reference *reference_create(Arena *arena, const Case *test);

typedef enum Precision { PRECISION_DOUBLE, PRECISION_OWN } Precision;
/* NULL, or where `given` differs. */
const char *expected_differs(Arena *arena, const Expected *expected, const double *given,
                             Precision precision);

/* A copy through the textual form; panics where print -> parse -> print changes anything. */
Module *module_copy(Arena *arena, const Module *module);
/* Bindings of the inputs by name, as interpreter_run wants them. */
Binding *case_bind_inputs(Arena *arena, const Case *test);
void case_set_start(const Case *test, Interpreter *interpreter);

/* ---- judge.c: NULL when all agree, or the stage and what differs; a broken compiler may panic ---- */

const char *judge_case(const Case *test, Arena *arena);

/* ---- judge_c.c ---- */

typedef struct CStage {
  const char *build;      /* build directory: include/nnc and lib/nnc */
  const char *work;       /* a directory for files */
  const char *optimize;   /* "-O1", for the C compiler */
} CStage;
const char *judge_case_c(const Case *test, Arena *arena, const CStage *stage);

/* ---- shrink.c ---- */

typedef bool StillFails(void *context, const Case *test);
/* A case as small as the moves make it, for which still_fails holds. */
Case *shrink_case(Arena *arena, const Case *test, StillFails *still_fails, void *context);

#endif
