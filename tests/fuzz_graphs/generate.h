/* What recipes are written in: a pool of nodes with known values, and draws.
 *
 * A recipe adds nodes and returns one, or NULL when it cannot. Then every new node is computed;
 * where one is not steady (numeric.c), not finite or too large, all of it is taken back. So recipes
 * need not prove anything: they draw, and rejection keeps inputs of operators in their domains,
 * exactly. */
#ifndef NNC_TESTS_FUZZ_GRAPHS_GENERATE_H
#define NNC_TESTS_FUZZ_GRAPHS_GENERATE_H

#include "fuzz.h"
#include "ops/make.h"
#include "ops/op.h"

/* Bounds of one graph, in elements. Most graphs are small, so that many are judged; large ones have
 * kernels of several tasks. */
typedef struct Sizes {
  int64_t node;                /* any node */
  int64_t pooled;              /* a node that others are made from */
  int64_t drawn;               /* a leaf of drawn shape */
  int64_t fresh;               /* a leaf made to fit */
  int64_t operand;             /* of a contraction or convolution */
  int64_t products;            /* of a contraction or convolution */
  int least_nodes, more_nodes; /* recipes that succeed: least + below more */
  double gap;                  /* of the standard: among many values some are near to a jump */
} Sizes;

/* What the body of a scan reads from outside. */
typedef enum ArgumentKind { ARGUMENT_CARRY, ARGUMENT_SEQUENCE, ARGUMENT_INVARIANT } ArgumentKind;
typedef struct ScanArgument {
  ArgumentKind kind;
  Node *outer, *leaf;
} ScanArgument;

typedef struct Generator Generator;
struct Generator {
  Arena *arena;
  Case *test;
  uint64_t state;     /* of the draws */
  const char *prefix; /* "g12." */
  bool is_large;
  Far far;
  bool has_specials; /* zeros, infinities and NaNs among the values of a far case */
  const Sizes *sizes;
  Maker maker; /* into the train entry */
  Graph *graph_of_leaves;
  const char *rate_name;
  Numbers numbers, init_numbers;
  int computed; /* nodes of the train entry that have values */
  VEC(Node *) pool;
  VEC(Node *) params;
  int64_t extents[5]; /* from which shapes are drawn, so that axes match */
  DType real;         /* f32, or now and then f64 */
  int leaf_count;
  Generator *outer; /* of a generator of a body: the one around it */
  VEC(ScanArgument) arguments;
};

typedef Node *RecipeRule(Generator *g);
typedef struct Recipe {
  const char *name;
  RecipeRule *grow;
  int weight, weight_in_large;
} Recipe;

#define RECIPE(name, weight, in_large) RecipeRule grow_##name;
#include "recipes.def"
#undef RECIPE

/* One recipe, drawn; false when it has not succeeded. */
bool grow_once(Generator *g);

/* Adds the losses, gradients, updates and outputs (train.c). */
void train_finish(Generator *g);

/* ---- draws ---- */

int64_t draw_below(Generator *g, int64_t bound);
bool draw_chance(Generator *g, int percent);
double draw_real(Generator *g, double least, double most); /* a multiple of 1/64 */
Shape draw_shape(Generator *g, int least_rank, int most_rank);
int64_t draw_extent(Generator *g);
void draw_permutation(Generator *g, int count, int64_t *permutation);

enum {
  KIND_FLOAT = 1,
  KIND_INT = 2,
  KIND_BOOL = 4,
  KIND_ANY = 7,
  KIND_AXES = 8,     /* of rank at least 1 */
  KIND_ELEMENTS = 16 /* not empty */
};
/* A node of the pool, recent ones more often; NULL when none fits. */
Node *draw_node(Generator *g, int kinds);
/* A node of the type, made from whatever fits. */
Node *draw_like(Generator *g, Type type);
/* Index values in [0, bound), now and then beyond; i32, i64 or u8. */
Node *draw_index(Generator *g, Shape shape, int64_t bound);

/* ---- nodes ---- */

/* `node` of the train entry, in a body as an argument of it. */
Node *capture(Generator *g, Node *node);
Node *add_scan_argument(Generator *g, ArgumentKind kind, Node *outer, Type type);
/* x with values near 1, so that errors show. */
Node *tame(Generator *g, Node *x);

/* Leaves of the module, with values. */
Node *leaf_param(Generator *g, Type type);
Node *leaf_state(Generator *g, VariableKind kind, Type type, const char *name);
Node *leaf_input(Generator *g, Type type, int64_t bound); /* bound 0: not an index */
Node *add_scalar_leaf(Generator *g, const char *name);    /* a host scalar, f64[] */
Node *leaf_host(Generator *g);                            /* some of them */
Node *constant_of(Generator *g, Type type, double value);

/* NULL where the operator's rule refuses. */
Node *try_add(Generator *g, Op op, int operand_count, Node *const *operands, int attribute_count,
              const Attribute *attributes);
Node *try_unary(Generator *g, Op op, Node *a);
Node *try_binary(Generator *g, Op op, Node *a, Node *b);
/* x, moved into [least, most] if it is not there. */
Node *fit_range(Generator *g, Node *x, double least, double most);
/* `of` along the axes that `axes` does not name, the extents of `shape`. */
Node *broadcast_over(Generator *g, Node *of, Shape shape, int count, const int64_t *axes);
const Tensor *value_of(Generator *g, Node *node);
bool value_range(Generator *g, Node *node, double *least, double *most);
/* Computes what is new; false, and takes it back to `mark`, when some of it is not sound. */
bool settle(Generator *g, int mark);
void take_back(Generator *g, int mark);
int mark_now(const Generator *g);

#endif
