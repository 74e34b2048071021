/* Random graphs, and what judges them: the parts of the fuzzer.
 *
 *   generate.c   a valid module from a seed: recipes (recipes.def, recipes_*.c) grow a train entry,
 *                then train.c adds losses, gradients, updates and outputs
 *   merge.c      several cases as one module, for one executable
 *   numeric.c    values of nodes, and how far rounding moves them
 *   steady.c     whether they are well-conditioned
 *   halves.c     a case with all floats in 16 bits
 *   far.c        cases whose values are far from 1
 *   play.c       steps of training on a case's values: the reference
 *   judge.c      the stages that need no C compiler: passes, text, programs
 *   judge_c.c    the stage that compiles and runs an executable
 *   faults.c     small mistakes, which the judges must notice
 *   shrink.c     a smaller module that still fails
 *   coverage.c   which operators occurred, and had gradients flow through them
 *   run.c        many seeds, in processes of their own
 *   fuzz.c       the command
 *
 * A Case carries values as well as a module, so that it can be cut anywhere: a node is replaced by
 * an input that has its value. */
#ifndef NNC_TESTS_FUZZ_GRAPHS_FUZZ_H
#define NNC_TESTS_FUZZ_GRAPHS_FUZZ_H

#include <stdbool.h>
#include <stdint.h>

#include "interpret/interpret.h"
#include "target/target.h"

enum { MOST_STEPS = 4 };

/* By what the values of a case are judged. */
typedef struct Standard {
  double gap;  /* how near to a jump a value may be; 0: the usual gap (steady.c) */
  bool is_far; /* values may have any size, and be infinite or NaN (far.c) */
} Standard;

typedef struct Case {
  Arena *arena;
  uint64_t seed;
  Module *module;       /* gradient nodes still in place */
  VEC(Tensor *) inputs; /* parallel to the module's inputs; the same in every step */
  VEC(Tensor *) start;  /* parallel to the module's variables: their values before step 1 */
  int steps;            /* 1 to MOST_STEPS */
  Standard standard;
} Case;

/* ---- generate.c ---- */

/* Cases whose values are far from 1, and the type that most of their floats have. */
typedef enum Far { FAR_NOT, FAR_F32, FAR_F64 } Far;

/* The graph of a seed; all its names begin with "g<seed>.", so that cases can be merged. */
Case *generate_case(Arena *arena, uint64_t seed, Far far);

/* ---- numeric.c ---- */

typedef struct Numbers { /* by node id */
  Arena *arena;
  int room;
  Tensor **values;
  bool *exact;          /* the same bits in every sound evaluation, in float too */
  Tensor ***results;    /* of scans */
  bool *jumps;          /* of scans: some value inside of some step is not steady or not sound */
  bool *strays;         /* of far cases: some value is where the range of its type ends */
  bool variables_moved; /* they are results of a step, not given */
  Standard standard;
} Numbers;

typedef struct Noise { /* rounding, imitated by random errors */
  uint64_t state;
  double unit[DTYPE_COUNT]; /* relative error of one operation in each type; all 0: none */
} Noise;

Numbers numbers_create(Arena *arena);
/* Room for nodes with smaller ids, whose values are NULL then. */
void numbers_make_room(Numbers *numbers, int ids);
/* Computes one node whose operands are there. `binding`: of leaves that need one, or NULL. */
void numbers_compute(Numbers *numbers, const Node *node, const Tensor *binding,
                     const EvaluateContext *context, Noise *noise);

/* ---- steady.c ---- */

/* Whether the node's value moves smoothly with its operands': far from jumps, poles and ties. */
bool numbers_are_steady(const Numbers *numbers, const Node *node);
/* The first unsteady node of a graph without gradients, or NULL. */
const Node *numbers_find_unsteady(const Numbers *numbers, const Graph *graph);
/* The value of a leaf that needs one; NULL of other nodes. */
const Tensor *find_binding(const Node *node, int count, const Binding *bindings);
/* Everything that an output needs; the steps of scans are judged by the standard. */
Numbers numbers_of_graph(Arena *arena, const Graph *graph, Standard standard, int binding_count,
                         const Binding *bindings, const EvaluateContext *context, Noise *noise);
double tensor_magnitude(const Tensor *tensor); /* max |x|; inf when an element is not finite */
/* Whether the node's value is of a size that its case may have: at most `most` of a float, in far
 * cases any but those near the ends of its type's range. */
bool numbers_have_size(const Numbers *numbers, const Node *node, double most, double most_whole);

/* ---- play.c ---- */

/* How many steps of the case are steady: 0, 1 or more; at most test->steps. */
int case_find_steps(const Case *test);

typedef enum Precision { PRECISION_DOUBLE, PRECISION_OWN } Precision;

typedef struct Expected {
  const char *name;
  const Tensor *value;
  double spread[2]; /* how far rounding moves it: in double, and in the module's own types */
  Tensor *spreads;  /* of far cases, instead: how far it moves each element */
} Expected;

/* What every implementation must give. */
typedef struct Reference {
  Module *module;                  /* differentiated */
  int output_count;                /* of the train entry */
  Expected *init;                  /* by variable */
  Expected *variables[MOST_STEPS]; /* [step][variable] */
  Expected *outputs[MOST_STEPS];   /* [step][output of the train entry] */
  bool is_steady_in_own;           /* no comparison turns over under the module's own rounding */
} Reference;
Reference *reference_create(Arena *arena, const Case *test);
/* Elements of the outputs of all steps. */
typedef struct Counts {
  int64_t judged;
  int64_t noise; /* rounding moves them by a large part of their magnitude: hardly judged */
  int64_t floats;
  int64_t far;     /* floats beyond 1e-3 to 1e3 */
  int64_t special; /* infinite or NaN */
} Counts;
Counts reference_count(const Reference *reference, const Case *test);

/* NULL, or where `given` differs by more than rounding may move it. */
const char *expected_differs(Arena *arena, const Expected *expected, const double *given,
                             Precision precision);

/* A copy through the textual form; panics where print -> parse -> print changes anything. */
Module *module_copy(Arena *arena, const Module *module);
/* Bindings of the inputs by name, as interpreter_run wants them. */
Binding *case_bind_inputs(Arena *arena, const Case *test);
void case_set_start(const Case *test, Interpreter *interpreter);

/* ---- halves.c ---- */

/* All floats of the case in bf16 or f16; steps that are not steady any more are cut off. Without
 * steps when nothing is left, or the case is one in f64. */
void case_retype(Case *test, DType dtype);
/* All floats of a far case in f64. */
void case_retype_far(Case *test);
bool case_has_halves(const Case *test);
/* Judged in its own types alone: of 16 bits, or far with floats in f32. */
bool case_is_in_own_types(const Case *test);
/* False where 16 bits or far values leave nothing to compare: rounding turns a comparison over. */
bool case_is_judged(const Case *test, const Reference *reference);

/* ---- far.c ---- */

/* An element of a leaf. */
typedef struct FarScale {
  double least, most; /* decimal exponents */
  bool has_specials;  /* zeros, infinities and NaNs among them */
} FarScale;
double far_element(FarScale scale, uint64_t bits);
/* Rounds to the type, or only to infinities and 0; false where some element lies near the ends of its
 * range, where executables may differ: whether it becomes infinite, 0 or a subnormal number. */
bool far_round(Tensor *value, bool keeps_digits);
/* What the magnitudes of a sum's terms may be together. */
double far_sum_limit(DType dtype);
/* Whether any part of the product of all elements is within the range. */
bool far_product_fits(const Tensor *factors);

/* ---- merge.c: cases of equal steps as one, and their references ---- */

Case *cases_merge(Arena *arena, int count, Case *const *cases);
Reference *references_merge(Arena *arena, const Case *merged, int count,
                            Reference *const *references);

/* ---- judge.c: NULL when all agree, or the stage and what differs; a broken compiler may panic
 * ---- */

const char *judge_case(const Case *test, const Reference *reference, Arena *arena);

/* ---- judge_c.c ---- */

typedef enum Looks {
  LOOKS_F64,   /* all floats in f64, -O1 */
  LOOKS_TYPES, /* also in the module's own types */
  LOOKS_ALL    /* both, also at -O0 */
} Looks;

/* A target that executables are made for, by its name in targets.def. */
const Target *find_target(const char *name); /* NULL: there is none */

typedef struct CStage {
  const Target *target;
  const char *build;    /* build directory: include/nnc and lib/nnc */
  const char *work;     /* a directory for files */
  const char *optimize; /* "-O1", for the C compiler; NULL: by the batch */
  Looks looks;
  int blocks;   /* of task loops, wherever they are possible; 0: none, as there is no batch */
  bool keeps_c; /* the C file stays in `work` */
} CStage;
const char *judge_case_c(const Case *test, const Reference *reference, Arena *arena,
                         const CStage *stage);

/* ---- faults.c ---- */

/* A case whose graph has a small mistake. */
typedef struct Fault {
  Case test;         /* its module is differentiated, and wrong */
  Reference *values; /* what it computes */
  const char *text;
} Fault;
/* False where no mistake that was tried changes any result. */
bool fault_create(Arena *arena, const Case *test, const Reference *reference, Fault *fault);
/* Where the values of `given` differ from what they should be, or NULL. */
const char *judge_values(Arena *arena, const Case *test, const Reference *reference,
                         const Reference *given);

/* ---- shrink.c ---- */

typedef bool StillFails(void *context, const Case *test);
/* A case as small as the moves make it, for which still_fails holds. */
Case *shrink_case(Arena *arena, const Case *test, StillFails *still_fails, void *context);

/* ---- coverage.c ---- */

typedef struct Coverage { /* by operator */
  int64_t generated[OP_COUNT];
  int64_t differentiated[OP_COUNT]; /* on a way from a parameter to a loss */
} Coverage;
void coverage_add(Coverage *coverage, const Module *module);
void coverage_join(Coverage *into, const Coverage *coverage);
/* A table; then how many operators never occurred, or have a gradient that nothing asked for. */
int coverage_print(const Coverage *coverage);

/* ---- run.c ---- */

typedef struct Options {
  uint64_t from, count;
  uint64_t batch; /* seeds that share an executable */
  int jobs;       /* processes that judge at the same time */
  bool in_c, dumps, covers, shrinks, progress, faults;
  const char *kept; /* the folder that shrunk cases go to; NULL: standard output */
  DType half;       /* bf16 or f16: what the cases of seeds are retyped to; else they stay */
  Far far;
  int looks; /* a Looks, or -1: by the batch */
  int scans; /* a ScanChoice, or -1: by the batch */
  CStage stage;
  int file_count;
  char **files; /* dumps instead of seeds */
} Options;
/* The exit status. */
int run_all(const Options *options);

#endif
